/*
 * Switch: a port of B of each member into a switch of n ports, the group's hub. A message passes two links,
 * each of half the latency. Link i joins member i to the hub. Bought as a folded Clos of catalogue switches
 * (topo/clos.h).
 */
#include <math.h>

#include "topo/bill.h"
#include "topo/clos.h"
#include "topo/shape.h"

static void switch_counts(struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t n = dim->size;
    *c = (struct shape_counts){
        .n_classes = 1,
        .links = { n },
        .hubs = 1,
        .hub_degree_min = n,
        .degree_max = 1,
        .degree_min = 1,
        .cut = { n / 2 },
        .connectivity = 1,
        .ports = n,
    };
}

static void switch_distances(const struct topo_dim *dim, double *sum, int64_t *longest)
{
    double x = dim->size;
    *sum = 2 * x * (x - 1);
    *longest = 2;
}

static double switch_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    (void)dim, (void)cls;
    return bw_Bps;
}

static void switch_edges(const struct topo_dim *dim, void *x, void (*link)(void *x, int64_t a, int64_t b))
{
    int64_t n = dim->size;
    for (int64_t a = 0; a < n; a++)
        link(x, a, n);
}

static int switch_way(const struct topo_dim *dim, int64_t a, int64_t b, int32_t other, void *x,
                      int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e)
{
    (void)dim, (void)other;
    int rc = a == b ? 0 : step(x, a, false, e);
    return rc || a == b ? rc : step(x, b, true, e);
}

/* A member's port is the only link that its messages share with others of its own. */
static void switch_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                        const struct shape_group *g)
{
    int32_t n = g->n;
    (void)dim;
    shape_port_load(out, pattern, n);
}

/* ---- parts ---- */

/* Where a switch stands, by the number of tiers of its Clos. */
static const char *const tier_names[TOPO_CLOS_TIERS + 1][TOPO_CLOS_TIERS] = {
    { NULL },
    { "switch" },
    { "leaf", "spine" },
    { "leaf", "spine", "core" },
    { "leaf", "spine", "core", "top" },
};

static bool is_sold_by_port(const struct topo_site *at)
{
    return at->parts->parts[at->recipe->sw].ports == 1;
}

static int need_up_link(const struct topo_site *at, const struct topo_clos *c, struct err *e)
{
    if (c->tiers > 1 && at->recipe->up_link < 0)
        return err_set(e, ERR_RANGE, "tier \"%s\" is built without up_link, expected one: a Clos of %d tiers",
                       at->recipe->tier, (int)c->tiers);
    return 0;
}

/* Ports of leaves that so many ends of one rail take. */
static int64_t leaf_ports(const struct topo_site *at, int64_t ends)
{
    int64_t each = at->recipe->breakout;
    return (ends + each - 1) / each;
}

/* Add `rails` equal rails of `columns` columns each to what one fabric takes. */
static int add_rails(struct topo_clos *sum, int64_t columns, int64_t rails, const struct topo_site *at,
                     struct err *e)
{
    struct topo_clos c;
    if (rails == 0)
        return 0;
    int rc = topo_recipe_clos(&c, at->recipe, leaf_ports(at, columns * at->net->dims[at->d].size) * rails,
                              at->parts->parts[at->recipe->sw].ports, rails, e);
    if (!rc)
        rc = need_up_link(at, &c, e);
    if (rc)
        return rc;
    sum->tiers = c.tiers > sum->tiers ? c.tiers : sum->tiers;
    sum->switches += c.switches;
    sum->up_links += c.up_links;
    for (int32_t i = 0; i < c.tiers; i++)
        sum->per_tier[i] += c.per_tier[i];
    return 0;
}

/*
 * What a box of tier i takes, of one rail of `ends` ends of `columns` places before the dimension. A leaf has
 * half of its ports for ends, as many to a port as break out. Above it the boxes of a pod share the links up
 * from each leaf, higher up those from each pod; a box of one tier may hold several rails.
 */
static struct topo_loss box_loss(const struct topo_site *at, const struct topo_clos *sum, int32_t i,
                                 int64_t rails, double columns, double ends)
{
    double radix = (double)at->parts->parts[at->recipe->sw].ports,
           planes = topo_planes(&at->net->dims[at->d]);
    double each = (double)at->recipe->breakout,
           down = fmin((double)topo_clos_leaf_ends((int64_t)radix, 1) * each, ends), up = ceil(down / each);
    if (i == 0 && sum->tiers == 1) {
        double held = fmin(fmax(floor(radix / ceil(ends / each)), 1), (double)rails);
        return topo_plane_loss(planes, held * ends, held * columns);
    }
    if (i == 0)
        return topo_plane_loss(planes, down, columns);
    double leaves = ceil(ends / down), pods = i == sum->tiers - 1 ? 1 : ceil(leaves / pow(radix / 2, i));
    double boxes = fmax((double)sum->per_tier[i] / (double)rails / pods, 1);
    return topo_path_loss(planes * (i == 1 ? up / ceil(up / boxes) : boxes), ends, columns);
}

/* Switches and links between them; `links` = links of one NPU in a plane. */
static int count_fabrics(struct topo_items *out, const struct topo_site *at, double links, struct err *e)
{
    const struct topo_dim *dim = &at->net->dims[at->d];
    int64_t fabric = topo_site_members(at), groups = fabric / dim->size;
    int64_t columns = llround((double)groups * links);
    int64_t rails = at->recipe->rails < columns ? at->recipe->rails : columns;
    int64_t fuller = columns % rails;
    struct topo_clos sum = { 0 };

    int rc = add_rails(&sum, columns / rails + 1, fuller, at, e);
    if (!rc)
        rc = add_rails(&sum, columns / rails, rails - fuller, at, e);
    if (rc)
        return rc;
    double fabrics = (double)at->net->n_npus / (double)fabric * topo_planes(dim);
    double in_rail = ceil((double)columns / (double)rails), ends = in_rail * dim->size;
    for (int32_t i = 0; i < sum.tiers; i++) {
        struct topo_loss loss = box_loss(at, &sum, i, rails, in_rail / links, ends);
        topo_add_failing(out, at->recipe->sw, tier_names[sum.tiers][i], fabrics * (double)sum.per_tier[i],
                         &loss);
    }
    double each = (double)at->recipe->breakout,
           down = fmin((double)topo_clos_leaf_ends(at->parts->parts[at->recipe->sw].ports, 1) * each, ends);
    struct topo_loss up = topo_path_loss(topo_planes(dim) * ceil(down / each), down, in_rail / links);
    topo_add_failing(out, at->recipe->up_link, "up link", fabrics * (double)sum.up_links, &up);
    out->boxes = at->net->n_npus / fabric * topo_planes(dim) * sum.switches;
    return 0;
}

static int count_switched(struct topo_items *out, const struct topo_site *at, struct err *e)
{
    const struct topo_dim *dim = &at->net->dims[at->d];
    double npus = (double)at->net->n_npus, planes = topo_planes(dim), links = topo_end_links(at);
    int64_t groups = topo_site_members(at) / dim->size;
    int rc = is_sold_by_port(at) ? 0 : topo_check_planes(at, e);
    if (!rc)
        rc = topo_check_nics(at, (double)groups, e);
    if (rc)
        return rc;
    struct topo_loss end = topo_plane_loss(planes, 1, 1);
    topo_add_nics(out, at);
    topo_add_failing(out, at->recipe->end_link, "end link", npus * planes * links, &end);
    if (!is_sold_by_port(at))
        return count_fabrics(out, at, links, e);
    topo_add_failing(out, at->recipe->sw, "port", npus * planes * links, &end);
    out->boxes = -1;
    return 0;
}

/*
 * Per end, with k ports, nothing rounded: 2/k leaves, 2/k switches of each middle tier, 1/k at the top:
 * (1 + 2 (tiers-1))/k in all, and a link up from every tier but the top. Each tier more adds to it, so the
 * tiers of the smallest rail bound those of any.
 */
static int relax_switched(struct topo_items *out, const struct topo_site *at, struct err *e)
{
    double npus = (double)at->net->n_npus * topo_nic_surplus(&at->net->dims[at->d]),
           ends_per_Bps = npus / topo_site_link_Bps(at), ports_per_Bps = npus / topo_site_up_Bps(at);

    if (at->recipe->nic >= 0) {
        const struct topo_part *nic = &at->parts->parts[at->recipe->nic];
        topo_add_item(out, at->recipe->nic, NULL, npus / topo_site_port_Bps(at) / (double)nic->ports);
    }
    topo_add_item(out, at->recipe->end_link, "end link", ends_per_Bps);
    if (is_sold_by_port(at)) {
        topo_add_item(out, at->recipe->sw, "port", ends_per_Bps);
        return 0;
    }

    struct topo_clos c;
    int64_t columns = topo_site_members(at) / at->net->dims[at->d].size;
    int64_t rail_columns = columns > at->recipe->rails ? columns / at->recipe->rails : 1;
    int rc = topo_count_clos(&c, leaf_ports(at, rail_columns * at->net->dims[at->d].size),
                             at->parts->parts[at->recipe->sw].ports, 1, 1, e);
    if (!rc)
        rc = need_up_link(at, &c, e);
    if (rc)
        return rc;
    double up_links = c.tiers - 1;
    topo_add_item(out, at->recipe->sw, "switch",
                  ports_per_Bps * (1 + 2 * up_links) / (double)at->parts->parts[at->recipe->sw].ports);
    topo_add_item(out, at->recipe->up_link, "up link", ports_per_Bps * up_links);
    return 0;
}

/*
 * All NPUs below one value of the outer addresses hang on one fabric; each has ceil(bw/u) links to it, u =
 * topo_site_link_Bps(). A column is one link of each member of a group; columns are dealt out to the rails
 * as evenly as they go, and to as many rails as there are columns when the recipe asks for more.
 */
static int switch_parts(struct topo_items *out, const struct topo_site *at, struct err *e)
{
    return at->bw_Bps ? count_switched(out, at, e) : relax_switched(out, at, e);
}

const struct shape_ops shape_switch = {
    .any_traffic = true,
    .algorithms = 1u << TOPO_ALGORITHM_BRUCK | 1u << TOPO_ALGORITHM_TREE | 1u << TOPO_ALGORITHM_SWITCH,
    .reduces = 1u << TOPO_IN_SWITCH_SHARP | 1u << TOPO_IN_SWITCH_NVLS,
    .switched = true,
    .one_port = true,
    .factored = true,
    .lanes = SHAPE_ONE,
    .reach = 1,
    .hop_share = 0.5,
    .own_keys = SHAPE_KEY_PLANES | SHAPE_KEY_NICS,
    .counts = switch_counts,
    .distances = switch_distances,
    .link_Bps = switch_link_Bps,
    .edges = switch_edges,
    .way = switch_way,
    .usual = TOPO_ALGORITHM_HALVING,
    .load = switch_load,
    .parts = switch_parts,
};
