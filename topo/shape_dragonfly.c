/*
 * Dragonfly. Level 0 has the p members of a router, level 1 the a routers of a group, level 2 the g groups.
 * Class 0 is the injection, class 1 the local links (a full mesh of the routers of a group), class 2 the
 * global ones. All ports have the rate of an NPU's: B_local = B (a-1)/p, B_global = B c (g-1)/(a p) of one
 * NPU, with c = floor(a h / (g-1)) cables between each pair of groups, h global ports at a router.
 *
 * Cables are dealt out to routers round robin (struct shape_mesh); a message between two groups takes one of
 * their cables, and loads count it as spread over them evenly. Ways are minimal: local, global, local. (A
 * search for fewest links also finds global-global ways through a third group, which overload those links.)
 *
 * Loads, all groups of members at work. Direct: from router u to v of a group p q / n (same + r (e_u + e_v) /
 * c) of S, where same = 1 if both are in one group of members (q, r, s of levels 0, 1, 2; n = q r s) and e
 * are their cables to groups of theirs; the two routers with most cables decide, which are all where a
 * divides c (s - 1). Global: (g-1)/s. Ring: a link carries what p/q rings pass on, from router to router of a
 * group, or between two groups from a last router to the cables and from those to a first one, which may be
 * the same link; global (g-1)/(q r): one pair of groups has it all, so a ring across groups takes c (g-1)/a
 * times what direct takes.
 *
 * J. Kim, W. Dally, S. Scott, D. Abts, ISCA 2008 (structure, minimal routes); coefficients by counting
 * messages on links, ours.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "topo/bill.h"
#include "topo/shape.h"

enum { LOCAL = 1, GLOBAL = 2 };

static int64_t fly_cables(const struct topo_dim *dim)
{
    return (int64_t)dim[1].size * dim->fabric.links / (dim[2].size - 1);
}

static struct shape_mesh fly_mesh(const struct topo_dim *dim)
{
    return (struct shape_mesh){ .groups = dim[2].size, .gates = dim[1].size, .cables = fly_cables(dim) };
}

/* Links on the way along a level, each of half the latency. */
static const double fly_reach[] = { 1, 1.5, 2.5 };

static int fly_settle(struct topo_dim *dim, int32_t room, struct err *e)
{
    static const char *const classes[] = { "", "local", "global" };
    const struct topo_fabric f = dim->fabric;
    int64_t p = f.sizes[0], a = f.sizes[1], g = f.sizes[2], h = f.links;
    if (f.n_sizes != 3 || p < 1 || a < 2 || g < 2)
        return err_set(e, ERR_RANGE,
                       "is a dragonfly; give 3 sizes: NPUs of a router, routers of a group (2 or more), "
                       "groups (2 or more)");
    if (h < 1)
        return err_set(e, ERR_RANGE,
                       "is a dragonfly without links; give links, those of a router to other groups");
    int64_t most = a * h + 1; /* groups: each global port to another */
    if (g > most)
        return err_set(e, ERR_RANGE,
                       "has %lld groups, expected at most %lld: %lld routers with %lld links to other groups",
                       (long long)g, (long long)most, (long long)a, (long long)h);
    if (p + a - 1 + h > SHAPE_MAX_GATES)
        return err_set(e, ERR_RANGE, "has routers of %lld ports, expected at most %d",
                       (long long)p + a - 1 + h, SHAPE_MAX_GATES);
    int rc = topo_levels_init(dim, room, 3, classes, f.sizes, e);
    if (rc)
        return rc;
    for (int32_t k = 1; k < 3; k++)
        dim[k].lat_s = fly_reach[k] * dim->lat_s;
    int64_t cables = a * h / (g - 1);
    double local = ((double)a - 1) / (double)p;
    dim[LOCAL].tie = local;
    dim[GLOBAL].tie = (double)cables * ((double)g - 1) / (double)(a * p) / local;
    return 0;
}

/* The router of group @p i where its cable @p m towards group @p j ends. */
static int64_t fly_gate(const struct topo_dim *dim, int64_t i, int64_t j, int64_t m)
{
    struct shape_mesh mesh = fly_mesh(dim);
    return shape_mesh_gate(&mesh, i, j, m);
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
        .hub_degree_min = p * a * g < p + a - 1 + used / a ? p * a * g : p + a - 1 + used / a,
        .degree_max = 1,
        .degree_min = 1,
        .connectivity = 1,
        .ports = p + a - 1 + (used + a - 1) / a,
        .spare = g * (a * dim->fabric.links - used),
    };
}

/* A router of the group in the middle: what it costs to have it on the low side, beyond the high one. */
struct fly_side {
    int64_t more, low_members, low_cables, high_cables;
};

static int fly_by_cost(const void *a, const void *b)
{
    int64_t x = ((const struct fly_side *)a)->more, y = ((const struct fly_side *)b)->more;
    return (x > y) - (x < y);
}

/* Of an odd number of groups the one in the middle is cut in two: each number of routers on the low side is
 * tried, those first that are cheapest there. */
static void fly_cut_middle(struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t p = dim[0].size, a = dim[1].size, g = dim[2].size, mid = g / 2, half = p * a / 2;
    struct fly_side side[SHAPE_MAX_GATES] = { { 0 } };
    int64_t sum[3] = { 0 }, best[3] = { 0 };
    for (int64_t j = 0; j < g; j++)
        for (int64_t m = 0; m < fly_cables(dim) && j != mid; m++)
            *(j < mid ? &side[fly_gate(dim, mid, j, m)].low_cables
                      : &side[fly_gate(dim, mid, j, m)].high_cables) += 1;
    for (int64_t u = 0; u < a; u++) {
        struct fly_side *s = &side[u];
        s->low_members = half - u * p < 0 ? 0 : half - u * p < p ? half - u * p : p;
        s->more = p - 2 * s->low_members + s->high_cables - s->low_cables;
        sum[0] += s->low_members;
        sum[GLOBAL] += s->low_cables;
    }
    qsort(side, (size_t)a, sizeof *side, fly_by_cost);
    memcpy(best, sum, sizeof best);
    for (int64_t u = 0; u < a; u++) {
        sum[0] += p - 2 * side[u].low_members;
        sum[LOCAL] += a - 1 - 2 * u;
        sum[GLOBAL] += side[u].high_cables - side[u].low_cables;
        if (sum[0] + sum[1] + sum[2] < best[0] + best[1] + best[2])
            memcpy(best, sum, sizeof best);
    }
    for (int32_t k = 0; k < 3; k++)
        c->cut[k] += best[k];
}

/* Halves of the groups, or the NPUs of one half cut off, where they have fewer links. Links are alike. */
static void fly_cut(struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t p = dim[0].size, a = dim[1].size, g = dim[2].size;
    c->cut[GLOBAL] = fly_cables(dim) * (g / 2) * (g / 2);
    if (g % 2)
        fly_cut_middle(c, dim);
    if (p * a * g / 2 < c->cut[0] + c->cut[LOCAL] + c->cut[GLOBAL]) {
        c->cut[0] = p * a * g / 2;
        c->cut[LOCAL] = c->cut[GLOBAL] = 0;
    }
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
    struct shape_mesh mesh = fly_mesh(dim);
    int64_t n = topo_group_size(dim), a = dim[1].size, g = dim[2].size;
    for (int64_t i = 0; i < n; i++)
        link(x, i, n + i / dim[0].size);
    for (int64_t group = 0; group < g; group++)
        for (int64_t u = 0; u < a; u++)
            for (int64_t v = u + 1; v < a; v++)
                link(x, n + group * a + u, n + group * a + v);
    shape_mesh_edges(&mesh, n, x, link);
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

static int fly_way(const struct topo_dim *dim, int64_t from, int64_t to, int32_t other, void *x,
                   fly_step *step, struct err *e)
{
    int64_t p = dim[0].size, a = dim[1].size, g = dim[2].size;
    struct shape_mesh mesh = fly_mesh(dim);
    int64_t u = from / p % a, v = to / p % a, i = from / p / a, j = to / p / a;
    (void)other;
    if (from == to)
        return 0;
    int rc = step(x, from, false, e);
    if (!rc && i == j)
        rc = fly_local(dim, i, u, v, x, step, e);
    if (!rc && i != j) {
        /* All cables of the pair in turn: by who sends and who receives. */
        int64_t m = shape_spread(mesh.cables, p * a, from % (p * a), to % (p * a));
        int64_t first = topo_group_size(dim) + g * a * (a - 1) / 2, gate = fly_gate(dim, i, j, m);
        rc = fly_local(dim, i, u, gate, x, step, e);
        /* Arcs lead from the lower number to the higher. */
        if (!rc)
            rc = step(x, first + shape_mesh_cable(&mesh, i, j, m), i > j, e);
        if (!rc)
            rc = fly_local(dim, j, fly_gate(dim, j, i, m), v, x, step, e);
    }
    return rc ? rc : step(x, to, true, e);
}

/* Members of levels 0, 1 and 2 among which messages go, and from one router or group to the next. */
struct fly_part {
    int32_t q, r, s, router_stride, group_stride;
};

static struct fly_part fly_part_of(const struct shape_group *g)
{
    struct fly_part t = { 1, 1, 1, shape_stride(g, 1), shape_stride(g, 2) };
    if (g->flat || g->level == 0)
        t.q = g->members[0];
    if (g->flat || g->level == 1)
        t.r = g->members[1];
    if (g->flat || g->level == 2)
        t.s = g->members[2];
    return t;
}

/* Place of router @p u among those of its group of members, and a number for that group. */
static int64_t fly_place(const struct fly_part *t, int64_t u)
{
    return u / t->router_stride % t->r;
}

static int64_t fly_member_group(const struct fly_part *t, int64_t u)
{
    int64_t span = (int64_t)t->r * t->router_stride;
    return u / span * t->router_stride + u % t->router_stride;
}

static void fly_direct(struct shape_load *out, const struct topo_dim *dim, const struct fly_part *t)
{
    struct shape_mesh mesh = fly_mesh(dim);
    int32_t uses[SHAPE_MAX_GATES];
    int64_t a = dim[1].size, g = dim[2].size;
    double n = (double)t->q * t->r * t->s, unit = ((double)a - 1) * t->q / n, most = 0;
    double share = t->r / (double)mesh.cables;
    for (int32_t j = 0; j < (t->s == g ? 1 : t->s); j++) {
        shape_mesh_uses(uses, &mesh, t->s, t->group_stride, j);
        for (int64_t u = 0; u < a; u++)
            for (int64_t v = u + 1; v < a; v++) {
                double same = fly_member_group(t, u) == fly_member_group(t, v);
                most = fmax(most, same + share * (uses[u] + uses[v]));
            }
    }
    out->load[LOCAL] = unit * most;
    out->mean[LOCAL] = unit * ((t->r - 1) / ((double)a - 1) + 2.0 * t->r * (t->s - 1) / (double)a);
    out->load[GLOBAL] = t->s > 1 ? ((double)g - 1) / t->s : 0;
    out->mean[GLOBAL] = (t->s - 1.0) / t->s;
}

/* Links from last routers to cables, and from cables to first routers. */
static double fly_ring_gates(const struct topo_dim *dim, const struct fly_part *t, bool round)
{
    struct shape_mesh mesh = fly_mesh(dim);
    int32_t out[SHAPE_MAX_GATES], in[SHAPE_MAX_GATES];
    int64_t a = dim[1].size;
    double most = 0;
    for (int place = 0; place < 3; place += t->s == 2 ? 2 : 1) {
        shape_mesh_ring(out, in, &mesh, t->s, t->group_stride, round, place);
        for (int64_t u = 0; u < a; u++)
            for (int64_t v = 0; v < a; v++) {
                double from_last = u != v && fly_place(t, u) == t->r - 1 ? out[v] : 0;
                double to_first = u != v && fly_place(t, v) == 0 ? in[u] : 0;
                most = fmax(most, from_last + to_first);
            }
    }
    return most / (double)mesh.cables;
}

static void fly_ring(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                     const struct fly_part *t)
{
    double passed = shape_passed(pattern, t->q * t->r * t->s), most = t->r > 1 ? 1 : 0;
    if (t->s > 1)
        most = fmax(most, fly_ring_gates(dim, t, pattern == SHAPE_NEXT));
    out->load[LOCAL] = passed * (dim[1].size - 1.0) / t->q * most;
    out->load[GLOBAL] = t->s > 1 ? passed * (dim[2].size - 1.0) / ((double)t->q * t->r) : 0;
}

static void fly_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                     const struct shape_group *g)
{
    struct fly_part t = fly_part_of(g);
    shape_port_load(out, pattern, g->n);
    if (g->flat) /* in units of the latency of a router's members */
        out->hops *= fly_reach[t.s > 1 ? GLOBAL : t.r > 1];
    if (pattern == SHAPE_DIRECT)
        fly_direct(out, dim, &t);
    else
        fly_ring(out, pattern, dim, &t);
}

const struct shape_ops shape_dragonfly = {
    .algorithms = 1u << TOPO_ALGORITHM_RING | 1u << TOPO_ALGORITHM_DIRECT,
    .switched = true,
    .one_port = true,
    .lanes = SHAPE_ONE,
    .reach = 1,
    .hop_share = 0.5,
    .own_keys = SHAPE_KEY_SIZES | SHAPE_KEY_LINKS | SHAPE_KEY_HOSTS | SHAPE_KEY_ROUTERS | SHAPE_KEY_GROUPS |
                SHAPE_KEY_ROUTING,
    .settle = fly_settle,
    .counts = fly_counts,
    .cut = fly_cut,
    .distances = fly_distances,
    .link_Bps = fly_link_Bps,
    .edges = fly_edges,
    .way = fly_way,
    .usual = TOPO_ALGORITHM_DIRECT,
    .load = fly_load,
    .parts = topo_router_parts,
    .links = { "end link", "local link", "global link" },
};
