/*
 * Dragonfly. Level 0 has the p members of a router, level 1 the a routers of a group, level 2 the g groups.
 * Class 0 is the injection, class 1 the local links (a full mesh of the routers of a group), class 2 the
 * global ones. All ports have the rate of an NPU's: B_local = B (a-1)/p, B_global = B c (g-1)/(a p) of one
 * NPU, with c = floor(a h / (g-1)) cables between each pair of groups, h global ports at a router.
 *
 * Cable m of group i towards group j is the k-th global port of i, k = ((j - i - 1) mod g) c + m, at router k
 * mod a: ports are dealt out round robin, so spare ones are spread over the routers.
 *
 * Ways are minimal: local, global, local. (A search for fewest links also finds global-global ways through a
 * third group, which overload those links.) Loads, all groups of members at work: along level 1 one local
 * link each; along level 2 a global link and 2 (a-1)/a local ones, since the router with the cable is as
 * likely any. A ring uses one link of a router, or the cables of one pair of groups, alone: that link
 * decides, the others idle.
 *
 * J. Kim, W. Dally, S. Scott, D. Abts, ISCA 2008 (structure, minimal routes); coefficients by counting
 * messages on links, ours.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/num.h"
#include "topo/bill.h"
#include "topo/shape.h"

/* Ports: twice those of the largest switches of 2026 (512); it bounds the search for distances. */
enum { LOCAL = 1, GLOBAL = 2, MOST_PORTS = 1024 };

static int64_t fly_cables(const struct topo_dim *dim)
{
    return (int64_t)dim[1].size * dim->fabric.up[0] / (dim[2].size - 1);
}

static int fly_settle(struct topo_dim *dim, int32_t room, struct err *e)
{
    static const char *const classes[] = { "", "local", "global" };
    const struct topo_fabric f = dim->fabric;
    const double reach[] = { 1, 1.5, 2.5 }; /* links of half the latency on the way, over those of level 0 */
    int64_t p = f.sizes[0], a = f.sizes[1], g = f.sizes[2], h = f.up[0];
    if (f.n_sizes != 3 || p < 1 || a < 2 || g < 2)
        return err_set(e, ERR_RANGE,
                       "is a dragonfly; give 3 sizes: NPUs of a router, routers of a group (2 or more), "
                       "groups (2 or more)");
    if (f.n_up != 1)
        return err_set(e, ERR_RANGE, "has no links; give the links of a router to other groups");
    int64_t most = a * h + 1; /* groups: each global port to another */
    if (g > most)
        return err_set(e, ERR_RANGE,
                       "has %lld groups, expected at most %lld: %lld routers with %lld links to other groups",
                       (long long)g, (long long)most, (long long)a, (long long)h);
    if (p + a - 1 + h > MOST_PORTS)
        return err_set(e, ERR_RANGE, "has routers of %lld ports, expected at most %d",
                       (long long)(p + a - 1 + h), MOST_PORTS);
    if (room < 3)
        return err_set(e, ERR_RANGE, "has 3 levels, expected at most %d: a network has %d dimensions", room,
                       TOPO_MAX_DIMS);
    int64_t cables = a * h / (g - 1);
    double local = ((double)a - 1) / (double)p;
    dim->n_levels = 3;
    for (int32_t k = 2; k >= 0; k--) {
        if (k > 0) {
            topo_level_init(dim, k, classes[k]);
            dim[k].lat_s = reach[k] * dim->lat_s;
        }
        dim[k].size = f.sizes[k];
    }
    dim[LOCAL].tie = local;
    dim[GLOBAL].tie = (double)cables * ((double)g - 1) / (double)(a * p) / local;
    return 0;
}

/* The router of group @p i where its cable @p m towards group @p j ends. */
static int64_t fly_gate(const struct topo_dim *dim, int64_t i, int64_t j, int64_t m)
{
    int64_t g = dim[2].size, turn = (j - i - 1 + g) % g;
    return (turn * fly_cables(dim) + m) % dim[1].size;
}

/* Count a router as within two links of the one at hand, once: its stamp is @p mark then. */
static int64_t fly_meet(uint16_t *stamps, int64_t router, uint16_t mark)
{
    bool known = stamps[router] == mark;
    stamps[router] = mark;
    return !known;
}

/*
 * Routers of other groups at one link and at two from router @p u of group 0. The groups it has a cable to
 * are within two links as a whole. Of the others those are where a cable of its own group ends, or a cable of
 * a router that it is joined to: O(a h + h^2).
 */
static void fly_near(const struct topo_dim *dim, int64_t u, uint16_t *stamps, uint16_t *joined,
                     int64_t near[2])
{
    int64_t a = dim[1].size, g = dim[2].size, c = fly_cables(dim), ports = c * (g - 1);
    uint16_t mark = (uint16_t)(u + 1);
    near[0] = near[1] = 0;
    for (int64_t k = u; k < ports; k += a) {
        int64_t j = k / c + 1;
        near[1] += joined[j] == mark ? 0 : a;
        joined[j] = mark;
        near[0] += fly_meet(stamps, j * a + fly_gate(dim, j, 0, k % c), mark);
    }
    near[1] -= near[0];
    for (int64_t k = 0; k < ports; k++)
        if (joined[k / c + 1] != mark)
            near[1] += fly_meet(stamps, (k / c + 1) * a + fly_gate(dim, k / c + 1, 0, k % c), mark);
    for (int64_t k = u; k < ports; k += a) {
        int64_t j = k / c + 1;
        for (int64_t i = fly_gate(dim, j, 0, k % c); i < ports; i += a) {
            int64_t t = (j + i / c + 1) % g;
            if (t != 0 && joined[t] != mark)
                near[1] += fly_meet(stamps, t * a + fly_gate(dim, t, j, i % c), mark);
        }
    }
}

/* Every group sees the same: turning all of them maps cables on cables. From router to router are at most
 * three links, since each two groups are joined. NaN for lack of memory. */
static void fly_distances(const struct topo_dim *dim, double *sum, int64_t *longest)
{
    double p = dim[0].size, n = (double)topo_group_size(dim), routers = 0;
    int64_t a = dim[1].size, g = dim[2].size;
    uint16_t *stamps = calloc((size_t)(a * g), sizeof *stamps), *joined = calloc((size_t)g, sizeof *joined);
    *longest = stamps && joined ? 1 : 3;
    for (int64_t u = 0; u < a && stamps && joined; u++) {
        int64_t near[2];
        fly_near(dim, u, stamps, joined, near);
        int64_t far = a * (g - 1) - near[0] - near[1];
        routers += (double)(a - 1 + near[0] + 2 * near[1] + 3 * far);
        int64_t most = far > 0 ? 3 : near[1] > 0 ? 2 : 1;
        *longest = most > *longest ? most : *longest;
    }
    /* From NPU to NPU two links more, between those of one router too. */
    *sum = stamps && joined ? p * p * (double)g * routers + 2 * n * (n - 1) : (double)NAN;
    *longest += 2;
    free(stamps);
    free(joined);
}

static void fly_counts(struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t p = dim[0].size, a = dim[1].size, g = dim[2].size, cables = fly_cables(dim);
    int64_t used = cables * (g - 1); /* global ports of a group, of which a router has used/a or one more */
    *c = (struct shape_counts){
        .n_classes = 3,
        .links = { p * a * g, g * a * (a - 1) / 2, cables * g * (g - 1) / 2 },
        .hubs = a * g,
        .hub_degree_min = p + a - 1 + used / a,
        .degree_max = 1,
        .degree_min = 1,
        .connectivity = 1,
        .ports = p + a - 1 + (used + a - 1) / a,
    };
    /* Halves of the groups; of an odd number the group in the middle is cut in two. */
    int64_t low = g / 2, high = g - low;
    c->cut[GLOBAL] = cables * low * high;
    if (g % 2)
        c->cut[LOCAL] = (a / 2) * (a - a / 2);
}

static double fly_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    double p = dim[0].size, a = dim[1].size, g = dim[2].size;
    if (cls == LOCAL)
        return bw_Bps * p / (a - 1);
    return cls == GLOBAL ? bw_Bps * a * p / ((double)fly_cables(dim) * (g - 1)) : bw_Bps;
}

static void fly_edges(const struct topo_dim *dim, void *x, void (*link)(void *x, int64_t a, int64_t b))
{
    int64_t n = topo_group_size(dim), a = dim[1].size, g = dim[2].size, cables = fly_cables(dim);
    for (int64_t i = 0; i < n; i++)
        link(x, i, n + i / dim[0].size);
    for (int64_t group = 0; group < g; group++)
        for (int64_t u = 0; u < a; u++)
            for (int64_t v = u + 1; v < a; v++)
                link(x, n + group * a + u, n + group * a + v);
    for (int64_t i = 0; i < g; i++)
        for (int64_t j = i + 1; j < g; j++)
            for (int64_t m = 0; m < cables; m++)
                link(x, n + i * a + fly_gate(dim, i, j, m), n + j * a + fly_gate(dim, j, i, m));
}

/* One link of a way: what step() takes. */
typedef int fly_step(void *x, int64_t link, bool back, struct err *e);

/* From router @p u to @p v of one group. */
static int fly_local(const struct topo_dim *dim, int64_t group, int64_t u, int64_t v, void *x, fly_step *step,
                     struct err *e)
{
    int64_t a = dim[1].size, low = u < v ? u : v, high = u < v ? v : u;
    int64_t first = topo_group_size(dim) + group * a * (a - 1) / 2;
    return u == v ? 0 : step(x, first + low * (2 * a - low - 1) / 2 + high - low - 1, u > v, e);
}

static int64_t fly_pair(int64_t g, int64_t i, int64_t j)
{
    int64_t low = i < j ? i : j, high = i < j ? j : i;
    return low * (2 * g - low - 1) / 2 + high - low - 1;
}

static int fly_way(const struct topo_dim *dim, int64_t from, int64_t to, bool mirror, void *x, fly_step *step,
                   struct err *e)
{
    int64_t p = dim[0].size, a = dim[1].size, g = dim[2].size, cables = fly_cables(dim);
    int64_t u = from / p % a, v = to / p % a, i = from / p / a, j = to / p / a;
    (void)mirror;
    if (from == to)
        return 0;
    int rc = step(x, from, false, e);
    if (!rc && i == j)
        rc = fly_local(dim, i, u, v, x, step, e);
    if (!rc && i != j) {
        /* All cables of the pair in turn: by who sends and who receives. */
        int64_t m = (from % (p * a) + to % (p * a)) % cables;
        int64_t first = topo_group_size(dim) + g * a * (a - 1) / 2, gate = fly_gate(dim, i, j, m);
        rc = fly_local(dim, i, u, gate, x, step, e);
        /* Arcs lead from the lower number to the higher. */
        if (!rc)
            rc = step(x, first + fly_pair(g, i, j) * cables + m, i > j, e);
        if (!rc)
            rc = fly_local(dim, j, fly_gate(dim, j, i, m), v, x, step, e);
    }
    return rc ? rc : step(x, to, true, e);
}

static enum topo_algorithm fly_usual(int32_t n)
{
    (void)n;
    return TOPO_ALGORITHM_DIRECT;
}

static void fly_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                     const struct shape_group *g)
{
    double n = g->n, a = dim[1].size, groups = dim[2].size;
    double near = 0, far = 0, r = g->flat ? g->members[1] : n, s = g->flat ? g->members[2] : n;
    bool one = pattern == SHAPE_SEND || pattern == SHAPE_PASS; /* to one other: over one of the links alone */
    shape_port_load(out, pattern, g->n);
    if (g->flat) {
        far = shape_beyond(pattern, g, 2);
        near = shape_beyond(pattern, g, 1) - far;
    } else if (g->level == 1) {
        near = out->load[0];
    } else if (g->level == 2) {
        far = out->load[0];
    }
    /* Part of the routers or of the groups: r - 1 of a - 1 local links carry all of it, s - 1 of g - 1
     * cables. */
    near *= near > 0 ? (a - 1) / (one ? 1 : r - 1) : 0;
    out->load[LOCAL] = near + far * 2 * (a - 1) / a;
    out->load[GLOBAL] = far > 0 ? far * (groups - 1) / (one ? 1 : s - 1) : 0;
}

/* ---- parts ---- */

static int fly_need_parts(const struct topo_site *at, double ports, struct err *e)
{
    const struct topo_recipe *r = at->recipe;
    const struct topo_part *sw = &at->parts->parts[r->sw];
    if (r->up_link < 0)
        return err_set(e, ERR_RANGE, "tier \"%s\" is built without up_link, expected one: a dragonfly",
                       r->tier);
    if (sw->ports < 2)
        return err_set(e, ERR_RANGE,
                       "tier \"%s\" is built of switches sold by the port, expected boxes for a dragonfly",
                       r->tier);
    if (ports > (double)sw->ports)
        return err_set(e, ERR_RANGE, "a router needs %g ports, expected at most the %lld of a switch", ports,
                       (long long)sw->ports);
    return 0;
}

/*
 * The first level buys NICs, end links and routers, the others their cables. An NPU with l links has l
 * planes: as many dragonflies side by side. Relaxed: a port is a share of its box.
 */
static int fly_parts(struct topo_items *out, const struct topo_site *at, double bw_Bps, struct err *e)
{
    int32_t level = at->net->dims[at->d].level;
    const struct topo_dim *dim = &at->net->dims[at->d - level];
    const struct topo_part *parts = at->parts->parts;
    const struct topo_recipe *r = at->recipe;
    struct shape_counts c;
    fly_counts(&c, dim);
    int rc = fly_need_parts(at, (double)c.ports, e);
    if (rc)
        return rc;
    double npus = (double)at->net->n_npus, fabrics = npus / (double)topo_group_size(dim);
    double link_Bps = topo_recipe_link_Bps(at->parts, r),
           first_Bps = at->bw_Bps ? at->bw_Bps[at->d - level] : NAN;
    bool whole = !isnan(bw_Bps);
    if (!whole) {
        double ends_per_Bps = npus / link_Bps;
        if (level == 0 && r->nic >= 0)
            topo_add_item(out, r->nic, NULL, npus / parts[r->nic].bw_Bps / (double)parts[r->nic].ports);
        /* An end of a link between routers is one port, and every NPU's share of it both its ends. */
        topo_add_item(out, level ? r->up_link : r->end_link, level ? "router link" : "end link",
                      ends_per_Bps / (level ? 2 : 1));
        topo_add_item(out, r->sw, "router", ends_per_Bps / (double)parts[r->sw].ports);
        return 0;
    }
    double planes = topo_whole_parts(first_Bps / link_Bps);
    if (level > 0) {
        topo_add_item(out, r->up_link, level == LOCAL ? "local link" : "global link",
                      fabrics * planes * (double)c.links[level]);
        return 0;
    }
    if (r->nic >= 0) {
        const struct topo_part *nic = &parts[r->nic];
        topo_add_item(out, r->nic, NULL,
                      npus * ceil(topo_whole_parts(bw_Bps / nic->bw_Bps) / (double)nic->ports));
    }
    topo_add_item(out, r->end_link, "end link", npus * planes);
    topo_add_item(out, r->sw, "router", fabrics * planes * (double)c.hubs);
    out->boxes = (int64_t)(fabrics * planes * (double)c.hubs);
    return 0;
}

const struct shape_ops shape_dragonfly = {
    .algorithms = 1u << TOPO_ALGORITHM_DIRECT,
    .switched = true,
    .one_port = true,
    .lanes = SHAPE_ONE,
    .reach = 1,
    .hop_share = 0.5,
    .own_keys = SHAPE_KEY_SIZES | SHAPE_KEY_LINKS,
    .settle = fly_settle,
    .counts = fly_counts,
    .distances = fly_distances,
    .link_Bps = fly_link_Bps,
    .edges = fly_edges,
    .way = fly_way,
    .usual = fly_usual,
    .load = fly_load,
    .parts = fly_parts,
};
