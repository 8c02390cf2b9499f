/**
 * @file Price of a network: its parts, whole or relaxed, and the bill they add up to.
 *
 * Two questions of the same counts: a bill at bandwidths that are known, in whole parts, and prices per B/s
 * for an optimiser, which need a function that is linear. The second never exceeds the first.
 */
#ifndef TOPO_BILL_H
#define TOPO_BILL_H

#include "topo/clos.h"
#include "topo/parts.h"

struct topo_wires;

/** What an item of a bill is for. */
enum topo_bill_role { BILL_NIC, BILL_SWITCH, BILL_LINK };

enum { TOPO_MAX_ITEMS = 8 };

/** How those that send through a part go on when it is gone. */
enum topo_way_on {
    TOPO_NO_WAY,     /**< they do not */
    TOPO_BY_PLANES,  /**< the same NPUs have ports into other planes */
    TOPO_BY_PATHS,   /**< other switches, and other links between switches */
    TOPO_BY_DETOURS, /**< other NPUs pass on what is not theirs */
};

/**
 * What the failure of one part takes (its blast radius). What is left is that of the NPU that loses most, for
 * which the others of a step wait, with traffic spread evenly over all that is left.
 */
struct topo_loss {
    double npus; /**< that send through it */
    double
        columns; /**< places before the dimension that it serves together: NPUs of one node that hang on it */
    double left; /**< share of their bandwidth in its class, < 1; 0: they are cut off */
    bool above;  /**< the same share of the next level's class: a box takes its links up with it */
    enum topo_way_on by;
};

/** Some of one part. */
struct topo_item {
    int32_t part;      /**< index into topo_parts.parts */
    const char *where; /**< "leaf", "up link"...; a literal; NULL for NICs */
    double count;      /**< in the whole cluster; exact below 2^53 */
    struct topo_loss loss;
};

/* Room is enough for any shape; topo_add_item() does not check it. */
struct topo_items {
    struct topo_item items[TOPO_MAX_ITEMS];
    int32_t n;
    int64_t boxes; /**< switch boxes among them; -1 when switches are sold by the port */
};

/** Where parts are counted: dimension @p d of a network, built by a recipe. Borrowed. */
struct topo_site {
    const struct topo_network *net;
    int32_t d;
    const double *bw_Bps; /**< shape [n_dims], of whole parts; NULL: relaxed */
    const struct topo_parts *parts;
    const struct topo_recipe *recipe;
};

/** What one NPU sends into the dimension [B/s]; NaN: relaxed. */
static inline double topo_site_bw_Bps(const struct topo_site *at)
{
    return at->bw_Bps ? at->bw_Bps[at->d] : (double)NAN;
}

/** For shapes that count parts of their own: nothing is added for a part < 0 or a count of 0. */
void topo_add_item(struct topo_items *out, int32_t part, const char *where, double count);

/** The same of a part whose failure takes @p loss; else it cuts off one NPU. */
void topo_add_failing(struct topo_items *out, int32_t part, const char *where, double count,
                      const struct topo_loss *loss);

/** Of @p planes equal planes one is lost to @p npus NPUs of @p columns columns: of one plane all there is. */
struct topo_loss topo_plane_loss(double planes, double npus, double columns);

/** Of @p ways equal ways one is lost. */
struct topo_loss topo_path_loss(double ways, double npus, double columns);

/**
 * u of docs/model.md section 14, the rate of one link [B/s]: that of the slowest part that the shape buys.
 * All cables of an entry run at it, links up of a recipe with a breakout at topo_site_up_Bps(); where NPUs
 * are joined without switches, only NIC and end link decide.
 *
 * A step of a free bandwidth (topo_port_step_Bps()) is so many links, so whatever is counted may change at
 * multiples of u alone.
 */
double topo_site_link_Bps(const struct topo_site *at);
/** NPUs that share the addresses beyond the dimension: those of one fabric, of one product. */
int64_t topo_site_members(const struct topo_site *at);

/** Rate of a link between boxes [B/s]: that of the end links that one port serves. */
double topo_site_up_Bps(const struct topo_site *at);

/**
 * What one port of the recipe's NIC carries [B/s]: links of topo_site_link_Bps(), as many as its rate has
 * room for. One of 100 GB/s has two cables of 50 (a breakout), and so has one of 112.5; no cable has two
 * ports.
 */
double topo_site_port_Bps(const struct topo_site *at);

/** The NICs of NPUs for the dimension: as many as are given, or a port or more for each of its planes. */
void topo_add_nics(struct topo_items *out, const struct topo_site *at);

/** Links of an NPU into one plane, mean over all; a fraction where NPUs share NICs. */
double topo_end_links(const struct topo_site *at);

/** Links at one NPU into the dimension, of all planes, mean over all; 0 of a product, whose links are inside,
 * and of levels above the first one of switches. Needs bandwidths. */
double topo_npu_links(const struct topo_site *at);

/** Can the NICs that are given carry the bandwidth, and do those of @p n_npus make whole ones? ERR_RANGE if
 * not. */
int topo_check_nics(const struct topo_site *at, double n_npus, struct err *e);

/** Do the links that a given bandwidth takes divide among the planes? ERR_RANGE if not. A bandwidth that is
 * free is rounded up to links that do. */
int topo_check_planes(const struct topo_site *at, struct err *e);

/** NICs of every NPU for @p ports more, where the axes before this one take @p before: an adapter has room
 * for links of several axes. */
void topo_add_axis_nics(struct topo_items *out, const struct topo_site *at, double before, double ports);

/** Links between members, and their NICs: what shapes buy that count no parts of their own. */
void topo_add_direct(struct topo_items *out, const struct topo_site *at);

/** The Clos that recipe @p r builds: as few switches as ports allow, or links spread evenly. */
int topo_recipe_clos(struct topo_clos *c, const struct topo_recipe *r, int64_t ends, int64_t radix,
                     int64_t rails, struct err *e);

/**
 * Parts of a fabric of routers that are all bought as one switch each and joined by links of one rate, such
 * as a dragonfly: the first level buys NICs, end links and routers, the others their cables. An NPU with
 * several links has as many such fabrics side by side (planes). Relaxed: a port is a share of its box, and
 * every link between routers has two. A shape_ops.parts for shapes that name their links; ERR_RANGE: a recipe
 * without up_link, of switches by the port, or with too few ports.
 */
int topo_router_parts(struct topo_items *out, const struct topo_site *at, struct err *e);

/*
 * The bill of a network: items with count, USD and watt; NIC budgets; linear prices for the split.
 */

/*
 * Rates mode: cost = N * sum_d c_d * B_d over dimensions d, B_d the bandwidth of one NPU
 * (LIBRA, arXiv 2109.11762; public code astra-sim/libra@0044db0). c_d = link for ring, line
 * and full (half of it when counted one way), link + port + nic for a switch. A tier without
 * a NIC price (LIBRA's InterPackage and InterNode) takes link + port: the public code stops
 * there with an error, so its switch price of 13 USD per GB/s was never reachable.
 *
 * Catalogue mode: whole parts, counted by topo_list_items().
 */

/** Linear price of one dimension: cluster USD per (B/s of one NPU). */
struct topo_dim_price {
    double usd_per_Bps;     /**< everything, typical */
    double nic_usd_per_Bps; /**< the NIC part of it */
    double watt_per_Bps;    /**< of parts with a known wattage; 0 in rates mode */
    const char *dark; /**< the first part whose power is not known; borrowed; NULL: rates, or all is known */
    double nic_share; /**< bandwidth that passes NICs over that of the dimension: 0 none, 1; of a graph's
                         class as of the NPU with most; by its own prices, all links of an NPU */
    bool watt_known;  /**< catalogue: the power of all its parts */
    bool in_server;   /**< comes with a product: none is bought by the B/s, and its price is 0 */
};

/**
 * Linear prices of every dimension, shape [n_dims]. In catalogue mode the continuous
 * relaxation of whole parts, with the fewest tiers any bandwidth needs: times the bandwidth
 * it is a lower bound on the bill (to 1e-9 relative).
 * @return 0 or ERR_RANGE: dimension without a tier, tier without a price, recipe without a
 *         part that the shape needs, Clos out of reach, a dimension that is not what its product is.
 */
int topo_prices(struct topo_dim_price *out, const struct topo_network *net, const struct topo_parts *p,
                struct err *e);

/** Give each dimension that is free and comes with a product the product's bandwidth: there is no other to
 * buy.
 * @return does any come with one? */
bool topo_take_products(struct topo_network *net, const struct topo_parts *p);

/** The most that the NICs of one NPU carry into dimension @p d [B/s], of the nodes that have fewest; INFINITY
 * where they are not given, or not of a catalogue. */
double topo_nic_limit_Bps(const struct topo_network *net, int32_t d, const struct topo_parts *p);

/** Is the network priced by whole parts: a catalogue with recipes, not rates per GB/s? */
bool topo_is_catalogue(const struct topo_parts *p);

/**
 * Bandwidth of one NPU in dimension @p d [B/s] that one part more of each of its links gives, where a
 * catalogue builds it: what ports can give is its multiples, and a bandwidth in between costs what the next
 * one does (but a fixed taper's links up are rounded by themselves). Ring, full, switch, a fabric's
 * injection: a link (of each plane) more at every NPU. A level of a fat tree whose taper is free: a link up
 * more from every subtree below. 0: the level follows the one before (tie). NaN: not known of the shape.
 */
double topo_port_step_Bps(const struct topo_network *net, int32_t d, const struct topo_parts *p);

/** What is bought in all, of the whole cluster. */
struct topo_spent {
    double usd, nic_usd; /**< typical */
    double watt;         /**< NaN where some part's power is unknown */
};

/**
 * Whole parts of dimensions first .. first + n - 1, whole entries, at @p bw_Bps of shape [n_dims] of the
 * network: the sums of topo_build_bill() without its lines. Added to @p out. Errors as topo_build_bill().
 */
int topo_spend(struct topo_spent *out, const struct topo_network *net, const struct topo_parts *p,
               int32_t first, int32_t n, const double *bw_Bps, struct err *e);

struct topo_bill_line {
    int32_t dim; /**< dimension it is bought for */
    char tier[TOPO_NAME];
    char item[96]; /**< "NIC"; "QM9700 NDR 64x400G, leaf" */
    enum topo_bill_role role;
    double count;               /**< whole in catalogue mode; GB/s in rates mode */
    const char *count_unit;     /**< "pcs" or "GB/s" */
    struct topo_band usd;       /**< all of them; low and high equal typ where the part has no band */
    double watt;                /**< all of them; NaN unknown */
    double mtbf_s;              /**< of one of them; NaN: as of its kind */
    bool in_server;             /**< part of the servers' price, which are none of the bill's */
    bool has_pieces;            /**< things that can fail; false: sold by the GB/s */
    struct topo_loss loss;      /**< by the failure of one of them */
    enum topo_grade grade;      /**< of usd.typ */
    enum topo_grade band_grade; /**< of usd.low and usd.high */
    enum topo_grade watt_grade; /**< means nothing when watt is NaN */
    const char *source, *date;  /**< borrowed */
};

/** Release with topo_bill_free(). */
struct topo_bill {
    struct topo_bill_line *lines; /**< shape [n_lines], owned; by dimension, innermost first */
    int32_t n_lines;
    struct topo_band usd;   /**< network alone; low/high fall back to typ for items without a band */
    double watt;            /**< of lines that have one */
    int32_t n_watt_unknown; /**< lines without a wattage: the sum is then a lower bound */
    int64_t nics;           /**< whole NICs in the cluster; -1 unknown (rates without nic_port_GBps) */
    double nic_Bps;   /**< NIC bandwidth per NPU in use [B/s]: sum of bw_Bps over dimensions with NICs; NaN:
                       * a graph's own prices */
    double nic_usd;   /**< typical */
    int64_t switches; /**< switch boxes; -1 in rates mode and when one is sold by the port */
    enum topo_grade grade; /**< worst of the lines, of usd.typ: GRADE_RECALLED marks a sum on placeholders */
    enum topo_grade band_grade; /**< the same for usd.low and usd.high */
    enum topo_grade watt_grade; /**< the same for watt, over lines that have one */
    double npu_usd, npu_watt;   /**< all NPUs; NaN when the network gives no NPU price or power */
};

/**
 * Bill at bandwidths @p bw_Bps, shape [n_dims]; a dimension of 0 buys nothing.
 * @return 0, ERR_NOMEM or ERR_RANGE: as topo_prices(), a bandwidth out of range, more than 1e6 links per NPU
 *         and dimension. On failure @p b is empty and safe to free.
 *
 * Time O(n_dims). Texts of lines are borrowed from @p p, which must outlive the bill.
 */
int topo_build_bill(struct topo_bill *b, const struct topo_network *net, const struct topo_parts *p,
                    const double *bw_Bps, struct err *e);
void topo_bill_free(struct topo_bill *b);

/**
 * The bill of the graph as it stands in the file: a line per class of links, and one each for switches and
 * NPUs that have a price. @p source, where it was read from, is borrowed. ERR_NOMEM; ERR_RANGE: no prices.
 */
int topo_bill_wires(struct topo_bill *b, const struct topo_wires *w, const char *source, struct err *e);

#endif
