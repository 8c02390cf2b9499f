/** @file The catalogue parts that one dimension takes: whole parts at a bandwidth, or their share per B/s. */
#ifndef TOPO_ITEMS_H
#define TOPO_ITEMS_H

#include "topo/clos.h"
#include "topo/parts.h"

/** What an item of a bill is for. */
enum topo_bill_role { BILL_NIC, BILL_SWITCH, BILL_LINK };

enum { TOPO_MAX_ITEMS = TOPO_CLOS_TIERS + 3 };

/** Some of one part. */
struct topo_item {
    int32_t part;      /**< index into topo_parts.parts */
    const char *where; /**< "leaf", "up link"...; a literal; NULL for NICs */
    double count;      /**< in the whole cluster; exact below 2^53 */
};

struct topo_items {
    struct topo_item items[TOPO_MAX_ITEMS];
    int32_t n;
    int64_t boxes; /**< switch boxes among them; -1 when switches are sold by the port */
};

/**
 * Whole parts of dimension @p d of @p net at @p bw_Bps > 0, built by recipe @p r.
 *
 * Switch: all NPUs below one value of the outer addresses hang on one fabric; each NPU
 * has ceil(bw/u) links to it, u = topo_recipe_link_Bps(). A column is one link of each member
 * of a group; columns are dealt out to the rails as evenly as they go, and to as many rails
 * as there are columns when the recipe asks for more. Ring, line, full: ceil(b/part) link
 * parts for each full-duplex link of b B/s. No part is bought for the last 1e-9 of a bandwidth.
 * @return 0 or ERR_RANGE: a part the shape needs is not in the recipe, Clos out of reach,
 *         more than 1e6 links per NPU. Time O(1).
 */
int topo_count_items(struct topo_items *out, const struct topo_network *net, int32_t d,
                     const struct topo_parts *p, const struct topo_recipe *r, double bw_Bps, struct err *e);

/**
 * Parts per (B/s of one NPU), all rounding dropped: at any bandwidth at most what
 * topo_count_items() counts (to 1e-9 relative). The tiers of a Clos are those of one link per NPU.
 */
int topo_relax_items(struct topo_items *out, const struct topo_network *net, int32_t d,
                     const struct topo_parts *p, const struct topo_recipe *r, struct err *e);

/** Role of an item by the kind of its part. */
enum topo_bill_role topo_item_role(const struct topo_parts *p, const struct topo_item *item);

#endif
