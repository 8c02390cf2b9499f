/*
 * What a network costs: the bill of its parts at given bandwidths, and prices per B/s for the split. Items
 * are the whole parts of a dimension (links, switches of a Clos, NICs); relaxed they give a price per B/s.
 *
 * Shapes that count parts in a way of their own (Clos, fabrics) do it in shape_ops.parts; rings, lines and
 * full meshes are counted here from the number of links and the degree of members. Counts are doubles: a
 * million NPUs with a million links each are still whole numbers below 2^53.
 */
#include "topo/bill.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/wires.h"

/* Links of one NPU in one dimension: beyond any machine, and keeps every count within 2^53. */
#define MAX_LINKS 1e6

static const double B_per_GB = 1e9;

/* ---- links, and the ports at their ends ---- */

/* Is any level of the entry joined by boxes? The first of a HammingMesh is not, and is bought with the rest.
 */
static bool has_boxes(const struct topo_dim *dim)
{
    const struct topo_dim *first = dim - dim->level;
    bool boxes = first->fabric.ocs;
    for (int32_t k = 0; k < first->n_levels && !boxes; k++)
        boxes = topo_link_ports(&first[k]) > 0;
    return boxes;
}

double topo_site_link_Bps(const struct topo_site *at)
{
    const struct topo_recipe *r = at->recipe;
    const struct topo_part *parts = at->parts->parts;
    if (r->product >= 0 || has_boxes(&at->net->dims[at->d]))
        return topo_recipe_link_Bps(at->parts, r);
    return fmin(parts[r->end_link].bw_Bps, r->nic >= 0 ? parts[r->nic].bw_Bps : (double)INFINITY);
}

double topo_site_up_Bps(const struct topo_site *at)
{
    return topo_site_link_Bps(at) * (double)at->recipe->breakout;
}

double topo_site_port_Bps(const struct topo_site *at)
{
    double link_Bps = topo_site_link_Bps(at);
    return link_Bps * floor(at->parts->parts[at->recipe->nic].bw_Bps / link_Bps * (1 + 1e-9));
}

int topo_recipe_clos(struct topo_clos *c, const struct topo_recipe *r, int64_t ends, int64_t radix,
                     int64_t rails, struct err *e)
{
    return r->even_spread ? topo_count_even_clos(c, ends, radix, 1, rails, e)
                          : topo_count_clos(c, ends, radix, 1, rails, e);
}

void topo_add_failing(struct topo_items *out, int32_t part, const char *where, double count,
                      const struct topo_loss *loss)
{
    if (part >= 0 && count > 0)
        out->items[out->n++] = (struct topo_item){ part, where, count, *loss };
}

void topo_add_item(struct topo_items *out, int32_t part, const char *where, double count)
{
    topo_add_failing(out, part, where, count, &(struct topo_loss){ 1, 1, 0, false, TOPO_NO_WAY });
}

struct topo_loss topo_plane_loss(double planes, double npus, double columns)
{
    return (struct topo_loss){ npus, columns, 1 - 1 / fmax(planes, 1), false,
                               planes > 1 ? TOPO_BY_PLANES : TOPO_NO_WAY };
}

struct topo_loss topo_path_loss(double ways, double npus, double columns)
{
    return (struct topo_loss){ npus, columns, 1 - 1 / fmax(ways, 1), false,
                               ways > 1 ? TOPO_BY_PATHS : TOPO_NO_WAY };
}

/* Several NICs share out the planes; without planes nothing takes over. A NIC may serve several NPUs. */
static struct topo_loss nic_loss(double nics, double planes)
{
    double lost = nics <= planes ? ceil(planes / nics) / planes : 1 / nics;
    return topo_plane_loss(planes > 1 && nics > 1 ? 1 / lost : 1, fmax(1 / nics, 1), 1);
}

/* Ports are rounded up in each plane, as a port hangs on one plane; NICs over all ports of an NPU. */
void topo_add_nics(struct topo_items *out, const struct topo_site *at)
{
    if (at->recipe->nic < 0)
        return;
    const struct topo_dim *dim = &at->net->dims[at->d];
    const struct topo_part *nic = &at->parts->parts[at->recipe->nic];
    double planes = topo_planes(dim),
           ports = planes * topo_whole_parts(topo_site_bw_Bps(at) / planes / topo_site_port_Bps(at));
    double each = dim->fabric.nics > 0 ? dim->fabric.nics : ceil(ports / (double)nic->ports);
    struct topo_loss loss = nic_loss(dim->fabric.nics > 0 ? dim->fabric.nics_least : each, planes);
    topo_add_failing(out, at->recipe->nic, NULL, (double)at->net->n_npus * each, &loss);
}

/* NICs of an NPU that have ports in one plane: several have planes of their own as far as these go, and then
 * share them out; fewer than planes are in several each. */
static double nics_of_plane(const struct topo_fabric *f)
{
    double planes = f->planes > 1 ? f->planes : 1;
    return f->nics_least >= planes ? f->nics_least / planes : fmin(f->nics_least, 1);
}

/* Planes that one NIC has ports in. */
static double planes_of_nic(const struct topo_fabric *f)
{
    double planes = f->planes > 1 ? f->planes : 1;
    return f->nics_least >= planes ? 1 : planes / fmax(f->nics_least, 1);
}

/* A NIC that is given has links of its own: rounded up for each, and not for each NPU. */
double topo_end_links(const struct topo_site *at)
{
    const struct topo_fabric *f = &at->net->dims[at->d].fabric;
    double plane_Bps = topo_site_bw_Bps(at) / topo_planes(&at->net->dims[at->d]),
           link_Bps = topo_site_link_Bps(at), on_plane = nics_of_plane(f);
    return f->nics > 0 ? topo_nic_surplus(&at->net->dims[at->d]) * on_plane *
                             topo_whole_parts(plane_Bps / on_plane / link_Bps)
                       : topo_whole_parts(plane_Bps / link_Bps);
}

int topo_check_nics(const struct topo_site *at, double n_npus, struct err *e)
{
    const struct topo_dim *dim = &at->net->dims[at->d];
    const struct topo_fabric *f = &dim->fabric;
    if (!(f->nics > 0))
        return 0;
    if (at->recipe->nic < 0)
        return err_set(e, ERR_RANGE,
                       "nics is %g, but tier \"%s\" is built without any; give nic in its recipe", f->nics,
                       at->recipe->tier);
    const struct topo_part *nic = &at->parts->parts[at->recipe->nic];
    double bw_Bps = topo_site_bw_Bps(at);
    double on_plane = nics_of_plane(f), each_Bps = bw_Bps / f->nics_least, port_Bps = topo_site_port_Bps(at),
           ports = planes_of_nic(f) * topo_whole_parts(bw_Bps / topo_planes(dim) / on_plane / port_Bps);
    if (ports > (double)nic->ports) {
        char idle[64] = "";
        if (port_Bps < nic->bw_Bps * (1 - 1e-9))
            snprintf(idle, sizeof idle, " (%g, but its links are of %g)", nic->bw_Bps / 1e9,
                     topo_site_link_Bps(at) / 1e9);
        return err_set(
            e, ERR_RANGE,
            "a NIC must carry %g GB/s on %g port%s of %g GB/s%s, expected at most %lld: more nics, or less "
            "bandwidth",
            each_Bps / 1e9, ports, ports == 1 ? "" : "s", port_Bps / 1e9, idle, (long long)nic->ports);
    }
    double there = n_npus * f->nics, links = n_npus * on_plane * topo_nic_surplus(dim);
    if (fabs(there - round(there)) > 1e-6 || fabs(links - round(links)) > 1e-6)
        return err_set(e, ERR_RANGE,
                       "%g NPUs of a node or leaf with %g NICs each have %g, expected whole ones", n_npus,
                       f->nics, there);
    return 0;
}

/* Asked of bandwidths that the user fixed; one that is an answer is rounded by whoever chose it. */
int topo_check_planes(const struct topo_site *at, struct err *e)
{
    const struct topo_dim *dim = &at->net->dims[at->d];
    double bw_Bps = topo_site_bw_Bps(at), link_Bps = topo_site_link_Bps(at),
           links = topo_whole_parts(bw_Bps / link_Bps);
    if (isnan(dim->bw_Bps) || dim->fabric.nics > 0 || fmod(links, topo_planes(dim)) == 0)
        return 0;
    return err_set(e, ERR_RANGE, "%g GB/s are %g link%s of %g GB/s, expected a multiple of the %d planes",
                   bw_Bps / 1e9, links, links == 1 ? "" : "s", link_Bps / 1e9, (int)topo_planes(dim));
}

/* ---- links between members ---- */

void topo_add_axis_nics(struct topo_items *out, const struct topo_site *at, double before, double ports)
{
    double each = (double)at->parts->parts[at->recipe->nic].ports;
    topo_add_item(out, at->recipe->nic, NULL,
                  (double)at->net->n_npus * (ceil((before + ports) / each) - ceil(before / each)));
}

/* NIC ports of one NPU on axis @p k of a fabric of links between members. */
static double axis_ports(const struct topo_site *at, const struct topo_dim *dim, const struct shape_counts *c,
                         int32_t k)
{
    double link_Bps = topo_ops(dim)->link_Bps(dim, k, at->bw_Bps[at->d - at->net->dims[at->d].level + k]);
    return 2.0 * (double)c->links[k] / (double)topo_group_size(dim) *
           topo_whole_parts(link_Bps / topo_site_port_Bps(at));
}

/*
 * Each link is rounded up by itself: a cable and a port serve one link. NICs are rounded per member over all
 * its links, of a fabric over those of all axes.
 */
static void count_direct(struct topo_items *out, const struct topo_site *at)
{
    int32_t cls = at->net->dims[at->d].level;
    const struct topo_dim *dim = &at->net->dims[at->d - cls];
    const struct topo_parts *p = at->parts;
    const struct topo_recipe *r = at->recipe;
    struct shape_counts c;
    int64_t n = topo_group_size(dim);
    topo_ops(dim)->counts(&c, dim);
    double groups = (double)at->net->n_npus / (double)n,
           link_Bps = topo_ops(dim)->link_Bps(dim, cls, topo_site_bw_Bps(at));

    if (r->nic >= 0 && topo_is_fabric(dim)) {
        double before = 0;
        for (int32_t k = 0; k < cls; k++)
            before += axis_ports(at, dim, &c, k);
        topo_add_axis_nics(out, at, before, axis_ports(at, dim, &c, cls));
    } else if (r->nic >= 0) {
        const struct topo_part *nic = &p->parts[r->nic];
        double ports = topo_whole_parts(link_Bps / topo_site_port_Bps(at));
        int64_t most = c.degree_max, least = c.degree_min;
        /* The ends of a line have one link less; elsewhere all members are alike. */
        int64_t ends = most == least ? 0 : n * most - 2 * c.links[0];
        double per_group = (double)(n - ends) * ceil((double)most * ports / (double)nic->ports) +
                           (double)ends * ceil((double)least * ports / (double)nic->ports);
        topo_add_item(out, r->nic, NULL, groups * per_group);
    }
    double cables = topo_whole_parts(link_Bps / topo_site_link_Bps(at));
    double degree = 2.0 * (double)c.links[cls] / (double)n;
    /* A line falls in two where any other shape has a way round. */
    struct topo_loss loss = topo_path_loss(dim->shape == TOPO_LINE ? 1 : degree, 2, 1);
    loss.by = loss.left > 0 ? TOPO_BY_DETOURS : TOPO_NO_WAY;
    topo_add_failing(out, r->end_link, "direct link", groups * (double)c.links[cls] * cables, &loss);
}

/* A NIC port at both ends of each link. */
static void relax_direct(struct topo_items *out, const struct topo_site *at)
{
    int32_t cls = at->net->dims[at->d].level;
    const struct topo_dim *dim = &at->net->dims[at->d - cls];
    const struct topo_part *parts = at->parts->parts;
    const struct topo_recipe *r = at->recipe;
    struct shape_counts c;
    topo_ops(dim)->counts(&c, dim);
    double links = (double)at->net->n_npus / (double)topo_group_size(dim) * (double)c.links[cls];
    double carried = links * topo_ops(dim)->link_Bps(dim, cls, 1);

    if (r->nic >= 0) {
        const struct topo_part *nic = &parts[r->nic];
        topo_add_item(out, r->nic, NULL, 2 * carried / topo_site_port_Bps(at) / (double)nic->ports);
    }
    topo_add_item(out, r->end_link, "direct link", carried / topo_site_link_Bps(at));
}

double topo_npu_links(const struct topo_site *at)
{
    const struct topo_dim *dim = &at->net->dims[at->d], *first = dim - dim->level;
    struct shape_counts c;
    if (at->recipe->product >= 0 || (has_boxes(dim) && dim->level > 0))
        return 0;
    if (has_boxes(dim))
        return topo_planes(dim) * topo_end_links(at);
    topo_ops(first)->counts(&c, first);
    double link_Bps = topo_ops(first)->link_Bps(first, dim->level, topo_site_bw_Bps(at));
    return 2.0 * (double)c.links[dim->level] / (double)topo_group_size(first) *
           topo_whole_parts(link_Bps / topo_site_link_Bps(at));
}

void topo_add_direct(struct topo_items *out, const struct topo_site *at)
{
    if (at->bw_Bps)
        count_direct(out, at);
    else
        relax_direct(out, at);
}

/* ---- fabrics of routers ---- */

static int check_router(const struct topo_site *at, const struct topo_dim *dim, double ports, struct err *e)
{
    const struct topo_recipe *r = at->recipe;
    const struct topo_part *sw = &at->parts->parts[r->sw];
    const char *shape = topo_shape_name(dim->shape);
    if (r->up_link < 0)
        return err_set(e, ERR_RANGE, "tier \"%s\" is built without up_link, expected one: a %s", r->tier,
                       shape);
    if (sw->ports < 2)
        return err_set(e, ERR_RANGE,
                       "tier \"%s\" is built of switches sold by the port, expected boxes for a %s", r->tier,
                       shape);
    if (ports > (double)sw->ports)
        return err_set(e, ERR_RANGE, "a router needs %g ports, expected at most the %lld of a switch", ports,
                       (long long)sw->ports);
    return 0;
}

/* As many links as carry 1 B/s of every NPU, with the ports at their ends. */
static void relax_router(struct topo_items *out, const struct topo_site *at, const struct topo_dim *dim,
                         const struct shape_counts *c)
{
    const struct topo_part *parts = at->parts->parts;
    const struct topo_recipe *r = at->recipe;
    int32_t level = at->net->dims[at->d].level;
    double npus = (double)at->net->n_npus, fabrics = npus / (double)topo_group_size(dim);
    double cables =
        fabrics * (double)c->links[level] * topo_ops(dim)->link_Bps(dim, level, 1) / topo_site_link_Bps(at);
    if (level == 0 && r->nic >= 0)
        topo_add_item(out, r->nic, NULL, npus / topo_site_port_Bps(at) / (double)parts[r->nic].ports);
    topo_add_item(out, level ? r->up_link : r->end_link, topo_ops(dim)->links[level], cables);
    topo_add_item(out, r->sw, "router", (level ? 2 : 1) * cables / (double)parts[r->sw].ports);
}

/* Links of class @p level at one router; of a dragonfly+ at a leaf, and its global ones at a spine. */
static double router_links(const struct topo_dim *dim, const struct shape_counts *c, int32_t level)
{
    double boxes = (double)c->hubs, spines = dim->fabric.spines;
    if (dim->shape == TOPO_DRAGONFLY_PLUS && level == 1)
        return spines;
    if (dim->shape == TOPO_DRAGONFLY_PLUS)
        boxes = spines * dim[2].size;
    return 2 * (double)c->links[level] / boxes;
}

int topo_router_parts(struct topo_items *out, const struct topo_site *at, struct err *e)
{
    int32_t level = at->net->dims[at->d].level;
    const struct topo_dim *dim = &at->net->dims[at->d - level];
    const struct topo_recipe *r = at->recipe;
    struct shape_counts c;
    topo_ops(dim)->counts(&c, dim);
    int rc = check_router(at, dim, (double)c.ports, e);
    if (rc)
        return rc;
    if (!at->bw_Bps) {
        relax_router(out, at, dim, &c);
        return 0;
    }
    double npus = (double)at->net->n_npus, fabrics = npus / (double)topo_group_size(dim);
    double planes = topo_whole_parts(at->bw_Bps[at->d - level] / topo_site_link_Bps(at));
    struct topo_loss end = topo_plane_loss(planes, 1, 1), router = topo_plane_loss(planes, dim->size, 1),
                     path = topo_path_loss(planes * router_links(dim, &c, level), 2 * dim->size, 1);
    if (level == 0 && r->nic >= 0) {
        const struct topo_part *nic = &at->parts->parts[r->nic];
        double nics =
            ceil(topo_whole_parts(topo_site_bw_Bps(at) / topo_site_port_Bps(at)) / (double)nic->ports);
        struct topo_loss loss = nic_loss(nics, planes);
        topo_add_failing(out, r->nic, NULL, npus * nics, &loss);
    }
    topo_add_failing(out, level ? r->up_link : r->end_link, topo_ops(dim)->links[level],
                     fabrics * planes * (double)c.links[level], level ? &path : &end);
    if (level > 0)
        return 0;
    router.above = dim->n_levels > 1; /* a spine of a dragonfly+ counts as a leaf: they are one line */
    topo_add_failing(out, r->sw, "router", fabrics * planes * (double)c.hubs, &router);
    out->boxes = (int64_t)(fabrics * planes * (double)c.hubs);
    return 0;
}

/* ---- products ---- */

int64_t topo_site_members(const struct topo_site *at)
{
    int64_t n = 1;
    for (int32_t d = 0; d <= at->d; d++)
        n *= at->net->dims[d].size;
    return n;
}

/* Is the dimension what the product is? @p bw_Bps NaN: not chosen yet. */
static int check_product_dim(const struct topo_site *at, double bw_Bps, struct err *e)
{
    const struct topo_dim *dim = &at->net->dims[at->d];
    const struct topo_part *part = &at->parts->parts[at->recipe->product];
    double most_Bps = dim->min_Bps > part->bw_Bps ? dim->min_Bps : dim->max_Bps,
           asked_Bps = isnan(bw_Bps) ? most_Bps : bw_Bps;
    if (topo_is_fabric(dim) || dim->fabric.nics > 0)
        return err_set(e, ERR_RANGE, "dimension \"%s\": tier \"%s\" is \"%s\", expected a plain %s",
                       dim->name, dim->tier, part->name,
                       topo_is_fabric(dim) ? "dimension, not a fabric" : "dimension without nics");
    if (topo_site_members(at) > part->ports)
        return err_set(e, ERR_RANGE,
                       "dimension \"%s\": %lld NPUs are joined, expected at most the %lld of \"%s\"",
                       dim->name, (long long)topo_site_members(at), (long long)part->ports, part->name);
    if (!(fabs(bw_Bps - part->bw_Bps) > 1e-9 * part->bw_Bps) && dim->min_Bps <= part->bw_Bps &&
        part->bw_Bps <= dim->max_Bps)
        return 0;
    return err_set(
        e, ERR_RANGE,
        "dimension \"%s\": bandwidth is %g GB/s, expected the %g of \"%s\", which is not sold by the GB/s",
        dim->name, asked_Bps / B_per_GB, part->bw_Bps / B_per_GB, part->name);
}

/* One for all NPUs that it joins, be they fewer than could be. */
static int count_product(struct topo_items *out, const struct topo_site *at, double bw_Bps, struct err *e)
{
    int rc = check_product_dim(at, bw_Bps, e);
    if (!rc)
        topo_add_item(out, at->recipe->product, NULL,
                      (double)at->net->n_npus / (double)topo_site_members(at));
    return rc;
}

/* By the B/s, at the only bandwidth that there is. */
static int relax_product(struct topo_items *out, const struct topo_site *at, struct err *e)
{
    int rc = count_product(out, at, at->net->dims[at->d].bw_Bps, e);
    if (!rc)
        out->items[0].count /= at->parts->parts[at->recipe->product].bw_Bps;
    return rc;
}

bool topo_take_products(struct topo_network *net, const struct topo_parts *p)
{
    bool any = false;
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_recipe *r = topo_find_recipe(p, net->dims[d].tier);
        if (!r || r->product < 0)
            continue;
        any = true;
        if (isnan(net->dims[d].bw_Bps))
            net->dims[d].bw_Bps = p->parts[r->product].bw_Bps;
    }
    return any;
}

/* ---- items of a dimension ---- */

/* Asked when used, not when read: the same tier may build rings, which need no switch. */
static int check_recipe(const struct topo_site *at, struct err *e)
{
    const struct topo_dim *dim = &at->net->dims[at->d];
    if (topo_link_ports(dim) > 0 && at->recipe->sw < 0)
        return err_set(e, ERR_RANGE, "dimension \"%s\": tier \"%s\" is built without a switch", dim->name,
                       at->recipe->tier);
    if (at->recipe->breakout > 1 && dim->shape != TOPO_SWITCH && dim->shape != TOPO_FAT_TREE)
        return err_set(e, ERR_RANGE,
                       "dimension \"%s\": tier \"%s\" has breakout: %lld, but a %s has no leaves whose ports "
                       "break out; expected a switch or a fat-tree, or a tier of its own",
                       dim->name, at->recipe->tier, (long long)at->recipe->breakout,
                       topo_shape_name(dim->shape));
    return 0;
}

/*
 * Whole parts of a dimension at a bandwidth > 0: what its shape asks for, or ceil(b/part) link parts for each
 * full-duplex link of b B/s. No part is bought for the last 1e-9 of a bandwidth. Relaxed: parts per (B/s of
 * one NPU), all rounding dropped: at any bandwidth at most what is counted (to 1e-9 relative). The tiers of a
 * Clos are those of one link per NPU.
 * @return 0 or ERR_RANGE: a part the shape needs is not in the recipe, Clos out of reach,
 *         more than 1e6 links per NPU. Time O(1).
 */
static int topo_list_items(struct topo_items *out, const struct topo_site *at, struct err *e)
{
    const struct topo_dim *dim = &at->net->dims[at->d];
    *out = (struct topo_items){ 0 };
    double bw_Bps = topo_site_bw_Bps(at);
    if (at->recipe->product >= 0)
        return at->bw_Bps ? count_product(out, at, bw_Bps, e) : relax_product(out, at, e);
    int rc = check_recipe(at, e);
    if (rc)
        return rc;
    double links = bw_Bps / topo_site_link_Bps(at);
    if (at->bw_Bps && !(links > 0 && links <= MAX_LINKS))
        return err_set(e, ERR_RANGE,
                       "dimension \"%s\": bandwidth is %g GB/s, %g links per NPU, expected at most %g",
                       dim->name, bw_Bps / 1e9, links, MAX_LINKS);
    if (topo_ops(dim)->parts)
        return topo_ops(dim)->parts(out, at, e) ? err_wrap(e, "dimension \"%s\"", dim->name) : 0;
    topo_add_direct(out, at);
    return 0;
}

/* Role of an item by the kind of its part. */
static enum topo_bill_role topo_item_role(const struct topo_parts *p, const struct topo_item *item)
{
    switch (p->parts[item->part].kind) {
    case PART_NIC:
        return BILL_NIC;
    case PART_SWITCH:
    case PART_PRODUCT:
        return BILL_SWITCH;
    default:
        return BILL_LINK;
    }
}

/* ---- the row of the price table ---- */

bool topo_is_catalogue(const struct topo_parts *p)
{
    return p->n_recipes > 0;
}

static const char *tier_name(const struct topo_parts *p, int32_t i)
{
    return topo_is_catalogue(p) ? p->recipes[i].tier : p->rates[i].tier;
}

static int fail_tier(const struct topo_dim *dim, const struct topo_parts *p, struct err *e)
{
    int32_t n = topo_is_catalogue(p) ? p->n_recipes : p->n_rates;
    struct text known = { 0 };
    for (int32_t i = 0; i < n; i++)
        text_printf(&known, "%s%s", i ? ", " : "", tier_name(p, i));
    if (dim->tier[0] == '\0')
        err_set(e, ERR_RANGE, "dimension \"%s\": tier is not given, expected one priced by %s: %s", dim->name,
                p->name, text_str(&known));
    else
        err_set(e, ERR_RANGE, "dimension \"%s\": tier is \"%s\", expected one priced by %s: %s", dim->name,
                dim->tier, p->name, text_str(&known));
    text_free(&known);
    return ERR_RANGE;
}

/* ---- rates ---- */

/* What one GB/s of one NPU in a dimension is made of. */
struct rate_share {
    const char *item;
    enum topo_bill_role role;
    const struct topo_band *price; /* borrowed */
    double count;                  /* per B/s: 1, or 1/2 for a direct link counted one way */
};

enum { MAX_SHARES = 3 };

static int need_rate(double usd_per_Bps, const char *what, const struct topo_dim *dim,
                     const struct topo_parts *p, struct err *e)
{
    if (isnan(usd_per_Bps))
        return err_set(e, ERR_RANGE,
                       "dimension \"%s\": tier \"%s\" has no %s price in %s, expected one for a %s",
                       dim->name, dim->tier, what, p->name, topo_shape_name(dim->shape));
    return 0;
}

/* Of a class of a graph's links: what its links, switch ports and NICs come to for its bandwidth. */
static int32_t list_wires(struct rate_share out[MAX_SHARES], const struct topo_rate *r,
                          const struct topo_wire_class *k, const struct topo_parts *p)
{
    int32_t n = 0;
    bool direct = k->ports_per == 0;
    double ways = direct && p->counting == COUNT_ONE_WAY ? 0.5 : 1;
    out[n++] = (struct rate_share){ "link", BILL_LINK, &r->link, ways * k->links_per };
    if (!direct && r->port.typ > 0)
        out[n++] = (struct rate_share){ "switch", BILL_SWITCH, &r->port, k->ports_per };
    if (k->nics_per > 0 && !isnan(r->nic.typ))
        out[n++] = (struct rate_share){ "NIC", BILL_NIC, &r->nic, k->nics_per };
    return n;
}

/* Shares of dimension `dim`; a tier without a NIC price takes none. */
static int list_shares(struct rate_share out[MAX_SHARES], int32_t *n, const struct topo_rate **row,
                       const struct topo_network *net, int32_t d, const struct topo_parts *p, struct err *e)
{
    const struct topo_dim *dim = &net->dims[d];
    const struct topo_rate *r = topo_find_rate(p, dim->tier);
    bool switched = net->wires ? net->wires->kinds[d].ports_per > 0 : topo_link_ports(dim) > 0;
    *n = 0;
    *row = r;
    if (!r)
        return fail_tier(dim, p, e);
    int rc = need_rate(r->link.typ, "link", dim, p, e);
    if (!rc && switched)
        rc = need_rate(r->port.typ, "switch", dim, p, e);
    if (rc)
        return rc;
    if (net->wires) {
        *n = list_wires(out, r, &net->wires->kinds[d], p);
        return 0;
    }

    double ways = !switched && p->counting == COUNT_ONE_WAY ? 0.5 : 1;
    /* A link between switches has a port at both ends, and no NIC. */
    double ports = topo_link_ports(dim), nics = topo_nic_surplus(dim);
    out[(*n)++] = (struct rate_share){ "link", BILL_LINK, &r->link, ways * nics };
    if (switched)
        out[(*n)++] = (struct rate_share){ "switch", BILL_SWITCH, &r->port, ports * nics };
    if (switched && dim->level == 0 && !isnan(r->nic.typ))
        out[(*n)++] = (struct rate_share){ "NIC", BILL_NIC, &r->nic, nics };
    return 0;
}

/* Linear already: the price is exact, not a bound. */
static int price_by_rates(struct topo_dim_price *out, const struct topo_network *net, int32_t d,
                          const struct topo_parts *p, struct err *e)
{
    struct rate_share shares[MAX_SHARES];
    const struct topo_rate *row;
    int32_t n;
    int rc = list_shares(shares, &n, &row, net, d, p, e);
    if (rc)
        return rc;
    double npus = (double)net->n_npus;
    for (int32_t i = 0; i < n; i++) {
        out->usd_per_Bps += shares[i].count * shares[i].price->typ;
        if (shares[i].role == BILL_NIC) {
            out->nic_share = net->wires ? net->wires->kinds[d].nic_share : 1;
            out->nic_usd_per_Bps = npus * shares[i].price->typ * shares[i].count;
        }
    }
    out->usd_per_Bps *= npus;
    return 0;
}

/* ---- a graph's own prices ---- */

/* Of links alone: nodes cost the same at any bandwidth. The file does not say which links end at a NIC, so
 * all of an NPU's count. */
static void price_by_file(struct topo_dim_price *out, const struct topo_wire_class *k)
{
    out->usd_per_Bps = isnan(k->usd_per_Bps) ? 0 : k->usd_per_Bps;
    out->nic_share = k->npu_share;
}

/* ---- catalogue ---- */

/* Parts whose wattage is not known count as none, so watts are a lower bound as well. */
static int price_by_parts(struct topo_dim_price *out, const struct topo_network *net, int32_t d,
                          const struct topo_parts *p, struct err *e)
{
    const struct topo_recipe *r = topo_find_recipe(p, net->dims[d].tier);
    struct topo_items items;
    if (!r)
        return fail_tier(&net->dims[d], p, e);
    int rc = topo_list_items(&items, &(struct topo_site){ net, d, NULL, p, r }, e);
    if (rc)
        return rc;
    out->watt_known = true;
    out->in_server = r->product >= 0;
    for (int32_t i = 0; i < items.n; i++) {
        const struct topo_part *part = &p->parts[items.items[i].part];
        double usd = items.items[i].count * part->usd.typ;
        out->usd_per_Bps += usd;
        if (isnan(part->watt)) {
            out->dark = out->watt_known ? part->name : out->dark;
            out->watt_known = false;
        } else {
            out->watt_per_Bps += items.items[i].count * part->watt;
        }
        if (topo_item_role(p, &items.items[i]) == BILL_NIC) {
            out->nic_share = 1;
            out->nic_usd_per_Bps += usd;
        }
    }
    return 0;
}

int topo_prices(struct topo_dim_price *out, const struct topo_network *net, const struct topo_parts *p,
                struct err *e)
{
    if (net->wires && topo_is_catalogue(p))
        return err_set(e, ERR_UNSUP,
                       "a catalogue counts parts of shapes, not of a graph; give rates by tier, or "
                       "usd in its file");
    for (int32_t d = 0; d < net->n_dims; d++) {
        out[d] = (struct topo_dim_price){ 0 };
        if (net->wires && net->wires->own_prices) {
            price_by_file(&out[d], &net->wires->kinds[d]);
            continue;
        }
        int rc = topo_is_catalogue(p) ? price_by_parts(&out[d], net, d, p, e)
                                      : price_by_rates(&out[d], net, d, p, e);
        if (rc)
            return rc;
    }
    return 0;
}

double topo_nic_limit_Bps(const struct topo_network *net, int32_t d, const struct topo_parts *p)
{
    const struct topo_dim *dim = &net->dims[d];
    const struct topo_recipe *r = topo_is_catalogue(p) ? topo_find_recipe(p, dim->tier) : NULL;
    if (!r || r->nic < 0 || !(dim->fabric.nics > 0))
        return INFINITY;
    double ports = (double)p->parts[r->nic].ports;
    return dim->fabric.nics_least * topo_site_port_Bps(&(struct topo_site){ net, d, NULL, p, r }) *
           (ports - fmod(ports, planes_of_nic(&dim->fabric)));
}

/* ---- whole parts ---- */

double topo_port_step_Bps(const struct topo_network *net, int32_t d, const struct topo_parts *p)
{
    const struct topo_dim *dim = &net->dims[d], *first = dim - dim->level;
    const struct topo_site at = { net, d, NULL, p, topo_find_recipe(p, dim->tier) };
    double below = 1;
    if (dim->level == 0)
        return topo_site_link_Bps(&at) / topo_link_Bps(dim, 0, 1) *
               (dim->fabric.nics > 0 ? nics_of_plane(&dim->fabric) : 1);
    if (dim->tie > 0)
        return 0;
    if (!(topo_ops(first)->own_keys & SHAPE_KEY_TAPER))
        return NAN;
    for (int32_t k = 0; k < dim->level; k++)
        below *= (double)topo_tree_size(first, k);
    return topo_site_up_Bps(&at) * topo_planes(first) / below;
}

int topo_spend(struct topo_spent *out, const struct topo_network *net, const struct topo_parts *p,
               int32_t first, int32_t n, const double *bw_Bps, struct err *e)
{
    for (int32_t d = first; d < first + n; d++) {
        const struct topo_recipe *r = topo_find_recipe(p, net->dims[d].tier);
        struct topo_items items;
        if (bw_Bps[d] == 0)
            continue;
        if (!r)
            return fail_tier(&net->dims[d], p, e);
        int rc = topo_list_items(&items, &(struct topo_site){ net, d, bw_Bps, p, r }, e);
        if (rc)
            return rc;
        struct topo_spent spent = { 0 };
        for (int32_t i = 0; i < items.n; i++) {
            const struct topo_part *part = &p->parts[items.items[i].part];
            double usd = items.items[i].count * part->usd.typ;
            spent.usd += usd;
            spent.watt += items.items[i].count * part->watt;
            if (topo_item_role(p, &items.items[i]) == BILL_NIC)
                spent.nic_usd += usd;
        }
        /* Dimension by dimension: a sum of prices that are known of each has the same bits. */
        out->usd += spent.usd;
        out->watt += spent.watt;
        out->nic_usd += spent.nic_usd;
    }
    return 0;
}

/* ---- the bill ---- */

/* low and high fall back to typ: a sum must not lose an item. */
static struct topo_band times(const struct topo_band *price, double count)
{
    double low = isnan(price->low) ? price->typ : price->low,
           high = isnan(price->high) ? price->typ : price->high;
    return (struct topo_band){ count * low, count * price->typ, count * high };
}

static enum topo_grade worse(enum topo_grade a, enum topo_grade b)
{
    return a > b ? a : b;
}

/* Next line of the bill, room for which was reserved, for the dimension. */
static struct topo_bill_line *begin_line(struct topo_bill *b, const struct topo_site *at)
{
    struct topo_bill_line *line = &b->lines[b->n_lines++];
    *line = (struct topo_bill_line){ .dim = at->d, .mtbf_s = NAN };
    memcpy(line->tier, at->net->dims[at->d].tier, sizeof line->tier);
    return line;
}

/* In the order of the lines, so that a bill has the same sum to the last bit wherever it is made. */
static void sum_line(struct topo_bill *b, const struct topo_bill_line *line)
{
    b->usd.low += line->usd.low;
    b->usd.typ += line->usd.typ;
    b->usd.high += line->usd.high;
    b->grade = worse(b->grade, line->grade);
    b->band_grade = worse(b->band_grade, line->band_grade);
    if (line->role == BILL_NIC)
        b->nic_usd += line->usd.typ;
    if (isnan(line->watt)) {
        b->n_watt_unknown++;
    } else {
        b->watt += line->watt;
        b->watt_grade = worse(b->watt_grade, line->watt_grade);
    }
}

/* NICs of nic_port_Bps that carry bw_Bps, in the whole cluster; the last 1e-9 is a solver's rounding. All
 * dimensions share nic_port_Bps, but each has NICs of its own. */
static int count_rate_nics(struct topo_bill *b, const struct topo_site *at, struct err *e)
{
    const struct topo_network *net = at->net;
    const struct topo_fabric *f = &net->dims[at->d].fabric;
    double bw_Bps = at->bw_Bps[at->d], port_Bps = at->parts->nic_port_Bps;
    int64_t n;
    b->nic_Bps += bw_Bps * (net->wires ? net->wires->kinds[at->d].nic_share : 1);
    if (isnan(port_Bps)) {
        b->nics = -1;
        return 0;
    }
    if (net->wires) {
        int rc = topo_wires_nics(&n, net->wires, at->d, bw_Bps, port_Bps, e);
        if (rc)
            return rc;
    } else if (f->nics > 0) {
        n = llround((double)net->n_npus * f->nics * topo_whole_parts(bw_Bps / f->nics_least / port_Bps));
    } else {
        n = net->n_npus * (int64_t)topo_whole_parts(bw_Bps / port_Bps);
    }
    b->nics += n;
    return 0;
}

static int bill_rates(struct topo_bill *b, const struct topo_site *at, struct err *e)
{
    struct rate_share shares[MAX_SHARES];
    const struct topo_rate *row;
    int32_t n;
    int rc = list_shares(shares, &n, &row, at->net, at->d, at->parts, e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < n; i++) {
        struct topo_bill_line *line = begin_line(b, at);
        double carried_Bps = (double)at->net->n_npus * at->bw_Bps[at->d] * shares[i].count;
        snprintf(line->item, sizeof line->item, "%s", shares[i].item);
        line->role = shares[i].role;
        line->count = carried_Bps / B_per_GB;
        line->count_unit = "GB/s";
        line->usd = times(shares[i].price, carried_Bps);
        line->watt = NAN;
        line->grade = line->band_grade = line->watt_grade = row->grade;
        line->source = row->source;
        line->date = row->date;
        sum_line(b, line);
        if (line->role == BILL_NIC)
            rc = count_rate_nics(b, at, e);
    }
    return rc;
}

static void bill_item(struct topo_bill *b, const struct topo_site *at, const struct topo_item *item)
{
    const struct topo_part *part = &at->parts->parts[item->part];
    struct topo_bill_line *line = begin_line(b, at);
    char run[48] = "";
    line->in_server = part->kind == PART_PRODUCT;
    if (line->in_server)
        snprintf(run, sizeof run, ", in the servers' price");
    if (!isnan(part->run_m))
        snprintf(run, sizeof run, ", %g m of %g", part->run_m, part->reach_m);
    snprintf(line->item, sizeof line->item, "%s%s%s%s", part->name, item->where ? ", " : "",
             item->where ? item->where : "", run);
    line->role = topo_item_role(at->parts, item);
    line->count = item->count;
    line->count_unit = "pcs";
    line->usd = times(&part->usd, item->count);
    line->watt = item->count * part->watt;
    line->mtbf_s = part->mtbf_s;
    line->has_pieces = line->in_server || !(part->bw_Bps <= B_per_GB);
    line->loss = item->loss;
    line->grade = part->grade;
    line->band_grade = part->band_grade;
    line->watt_grade = part->watt_grade;
    line->source = part->source;
    line->date = part->date;
    sum_line(b, line);
}

static int bill_parts(struct topo_bill *b, const struct topo_site *at, struct err *e)
{
    const struct topo_dim *dim = &at->net->dims[at->d];
    struct topo_items items;
    if (!at->recipe)
        return fail_tier(dim, at->parts, e);
    int rc = topo_list_items(&items, at, e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < items.n; i++) {
        bill_item(b, at, &items.items[i]);
        if (topo_item_role(at->parts, &items.items[i]) == BILL_NIC)
            b->nics += (int64_t)items.items[i].count;
    }
    /* Most levels of a fabric carry what came in through the NICs of its first; axes of a torus have ports of
     * their own, though one NIC may have those of several. */
    b->nic_Bps += at->recipe->nic >= 0 && topo_in_total(dim) ? at->bw_Bps[at->d] : 0;
    /* Unknown in one dimension is unknown in the sum. */
    b->switches = b->switches < 0 || items.boxes < 0 ? -1 : b->switches + items.boxes;
    return 0;
}

/* ---- of a graph with prices of its own ---- */

/* Add a line of @p count things; grade R, since the file names no source. */
static struct topo_bill_line *wires_add_line(struct topo_bill *b, const char *tier, const char *item,
                                             enum topo_bill_role role, const char *source)
{
    struct topo_bill_line *line = &b->lines[b->n_lines++];
    *line = (struct topo_bill_line){ .dim = -1,
                                     .mtbf_s = NAN,
                                     .role = role,
                                     .count_unit = "pcs",
                                     .grade = GRADE_RECALLED,
                                     .band_grade = GRADE_RECALLED,
                                     .watt_grade = GRADE_RECALLED,
                                     .source = source,
                                     .date = "" };
    snprintf(line->tier, sizeof line->tier, "%s", tier);
    snprintf(line->item, sizeof line->item, "%s", item);
    return line;
}

static void wires_add_price(struct topo_bill_line *line, double usd, double watt)
{
    line->count++;
    line->usd.typ += isnan(usd) ? 0 : usd;
    line->watt += watt; /* NaN where one does not say */
}

/* A line's price has no band in such a file. */
static void wires_sum_line(struct topo_bill *b, struct topo_bill_line *line)
{
    line->usd.low = line->usd.high = line->usd.typ;
    sum_line(b, line);
}

/* Links of class @p cls (-1: of none), if there are any. */
static void wires_bill_class(struct topo_bill *b, const struct topo_wires *w, int32_t cls, const char *source)
{
    struct topo_bill_line *line = NULL;
    for (int32_t i = 0; i < w->n_links; i++) {
        if (w->links[i].cls != cls)
            continue;
        if (!line)
            line = wires_add_line(b, cls < 0 ? "" : w->classes[cls], "link", BILL_LINK, source);
        wires_add_price(line, w->links[i].usd, w->links[i].watt);
    }
    if (line)
        wires_sum_line(b, line);
}

/* Vertices from..to, if they have a price or a power. NPUs that are free and whose power is not known are
 * none of the network's. */
static void wires_bill_nodes(struct topo_bill *b, const struct topo_wires *w, int32_t from, int32_t to,
                             const char *item, const char *source)
{
    if (from == to || (isnan(w->usd[from]) && isnan(w->watt[from])))
        return;
    struct topo_bill_line *line = wires_add_line(b, "", item, BILL_SWITCH, source);
    for (int32_t v = from; v < to; v++)
        wires_add_price(line, w->usd[v], w->watt[v]);
    if (from == 0 && line->usd.typ == 0 && isnan(line->watt))
        b->n_lines--;
    else
        wires_sum_line(b, line);
}

static void wires_bill_all_nodes(struct topo_bill *b, const struct topo_wires *w, const char *source)
{
    wires_bill_nodes(b, w, w->n_npus, w->n_vertices, "switch", source);
    wires_bill_nodes(b, w, 0, w->n_npus, "NPU", source);
}

/* Of a study: links as many as in the file, their price and power in proportion to bandwidth; no bandwidth
 * changes switches and NPUs. */
static void bill_own_prices(struct topo_bill *b, const struct topo_site *at)
{
    const struct topo_wires *w = at->net->wires;
    b->switches = w->n_vertices - w->n_npus;
    b->nics = -1;
    b->nic_Bps = NAN;
    for (int32_t d = 0; d < at->net->n_dims && !isnan(w->link_usd); d++) {
        if (at->bw_Bps[d] == 0)
            continue;
        struct topo_bill_line *line =
            wires_add_line(b, at->net->dims[d].tier, "link", BILL_LINK, at->parts->source);
        line->dim = d;
        line->count = w->kinds[d].n_links;
        line->usd.typ = w->kinds[d].usd_per_Bps * at->bw_Bps[d];
        line->watt = w->kinds[d].watt_per_Bps * at->bw_Bps[d];
        wires_sum_line(b, line);
    }
    wires_bill_all_nodes(b, w, at->parts->source);
}

/* A parts file can price 1e6 GB/s; more would overflow the count of NICs. */
static int check_bandwidths(const struct topo_site *all, struct err *e)
{
    for (int32_t d = 0; d < all->net->n_dims; d++)
        if (!(all->bw_Bps[d] >= 0 && all->bw_Bps[d] <= TOPO_MAX_BW_GBps * B_per_GB))
            return err_set(e, ERR_RANGE, "dimension \"%s\": bandwidth is %g GB/s, expected 0 to %g",
                           all->net->dims[d].name, all->bw_Bps[d] / B_per_GB, TOPO_MAX_BW_GBps);
    return 0;
}

int topo_build_bill(struct topo_bill *b, const struct topo_network *net, const struct topo_parts *p,
                    const double *bw_Bps, struct err *e)
{
    const bool catalogue = topo_is_catalogue(p);
    struct topo_site at = { net, 0, bw_Bps, p, NULL };
    *b = (struct topo_bill){
        .switches = catalogue ? 0 : -1,
        .npu_usd = (double)net->n_npus * net->npu.usd,
        .npu_watt = (double)net->n_npus * net->npu.power_W,
    };
    /* A graph with prices of its own has a line for its switches and one for its NPUs. */
    b->lines = calloc((size_t)net->n_dims * TOPO_MAX_ITEMS + 2, sizeof *b->lines);
    if (!b->lines)
        return err_nomem(e, "a bill");
    int rc = check_bandwidths(&at, e);
    const bool own_prices = net->wires && net->wires->own_prices;
    if (!rc && own_prices)
        bill_own_prices(b, &at);
    for (; at.d < net->n_dims && !own_prices && !rc; at.d++) {
        if (bw_Bps[at.d] == 0)
            continue;
        at.recipe = catalogue ? topo_find_recipe(p, net->dims[at.d].tier) : NULL;
        rc = catalogue ? bill_parts(b, &at, e) : bill_rates(b, &at, e);
    }
    if (rc)
        topo_bill_free(b);
    return rc;
}

void topo_bill_free(struct topo_bill *b)
{
    free(b->lines);
    *b = (struct topo_bill){ 0 };
}

int topo_bill_wires(struct topo_bill *b, const struct topo_wires *w, const char *source, struct err *e)
{
    *b = (struct topo_bill){ .nics = -1,
                             .nic_Bps = NAN,
                             .switches = w->n_vertices - w->n_npus,
                             .grade = GRADE_RECALLED,
                             .band_grade = GRADE_RECALLED,
                             .watt_grade = GRADE_RECALLED,
                             .npu_usd = NAN,
                             .npu_watt = NAN };
    if (!topo_wires_priced(w))
        return err_set(e, ERR_RANGE,
                       "has no prices; give its edges usd (and watt), its nodes too in GraphML");
    b->lines = calloc((size_t)w->n_classes + 3, sizeof *b->lines);
    if (!b->lines)
        return err_nomem(e, "a bill");
    for (int32_t c = isnan(w->link_usd) ? w->n_classes : -1; c < w->n_classes; c++)
        wires_bill_class(b, w, c, source);
    wires_bill_all_nodes(b, w, source);
    return 0;
}
