/*
 * Dragonfly+ (Megafly). Level 0 has the p members of a leaf, level 1 the l leaves of a group, level 2 the g
 * groups. Each of the s spines of a group is joined to all its leaves and has h links to other groups. Class
 * 0 is the injection, class 1 the links between leaves and spines, class 2 the global ones. All ports have
 * the rate of an NPU's: B_local = B s/p (up, and as much down), B_global = B c (g-1)/(l p) of one NPU, with c
 * = floor(s h / (g-1)) cables between each pair of groups, dealt out to the spines round robin (struct
 * shape_mesh).
 *
 * Ways have fewest links: leaf, spine, leaf within a group; leaf, spine, spine, leaf between two, over one of
 * their cables. Messages that have a choice of spine or cable are counted as spread over them evenly.
 *
 * Loads, all groups of members at work (q, r, s of levels 0, 1, 2; n = q r s). Direct: a link to spine v
 * carries q (r-1)/n + s_spines q r e_v / (n c) of S, e_v the spine's cables to groups of theirs; the spine
 * with most decides. Global: (g-1)/s. Ring: 1/q within a group; between two, from a last leaf to the spines
 * with the cables, and from those to a first leaf; global (g-1)/(q r).
 *
 * A. Shpiner et al., Dragonfly+: low cost topology for scaling datacenters, HiPINEB 2017 (structure); M.
 * Flajslik et al., Megafly, ISC 2018; coefficients by counting messages on links, ours.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "topo/bill.h"
#include "topo/shape.h"

enum { LOCAL = 1, GLOBAL = 2 };

/* Links on the way along a level, each of half the latency. */
static const double plus_reach[] = { 1, 2, 2.5 };

static struct shape_mesh plus_mesh(const struct topo_dim *dim)
{
    const struct topo_fabric *f = &dim->fabric;
    return (struct shape_mesh){ .groups = dim[2].size,
                                .gates = f->spines,
                                .cables = (int64_t)f->spines * f->links / (dim[2].size - 1) };
}

static int plus_settle(struct topo_dim *dim, int32_t room, struct err *e)
{
    static const char *const classes[] = { "", "local", "global" };
    const struct topo_fabric f = dim->fabric;
    int64_t p = f.sizes[0], l = f.sizes[1], g = f.sizes[2], s = f.spines, h = f.links;
    if (f.n_sizes != 3 || p < 1 || l < 1 || g < 2)
        return err_set(
            e, ERR_RANGE,
            "is a dragonfly+; give 3 sizes: NPUs of a leaf, leaves of a group, groups (2 or more)");
    if (s < 1 || h < 1)
        return err_set(e, ERR_RANGE, "has no %s",
                       s < 1 ? "spines; give those of a group"
                             : "links; give the links of a spine to other groups");
    if (g > s * h + 1)
        return err_set(e, ERR_RANGE,
                       "has %lld groups, expected at most %lld: %lld spines with %lld links to other groups",
                       (long long)g, (long long)s * h + 1, (long long)s, (long long)h);
    if (p + s > SHAPE_MAX_GATES || l + h > SHAPE_MAX_GATES)
        return err_set(e, ERR_RANGE, "has %s of %lld ports, expected at most %d",
                       p + s > l + h ? "leaves" : "spines", (long long)(p + s > l + h ? p + s : l + h),
                       SHAPE_MAX_GATES);
    int rc = topo_levels_init(dim, room, 3, classes, f.sizes, e);
    if (rc)
        return rc;
    for (int32_t k = 1; k < 3; k++)
        dim[k].lat_s = plus_reach[k] * dim->lat_s;
    dim[LOCAL].tie = (double)s / (double)p;
    int64_t cables = s * h / (g - 1); /* of a pair of groups */
    dim[GLOBAL].tie = (double)cables * ((double)g - 1) / (double)(l * s);
    return 0;
}

static void plus_counts(struct shape_counts *c, const struct topo_dim *dim)
{
    struct shape_mesh w = plus_mesh(dim);
    int64_t p = dim[0].size, l = dim[1].size, g = dim[2].size, s = dim->fabric.spines;
    int64_t used = w.cables * (g - 1); /* global ports of a group, of which a spine has used/s or one more */
    int64_t leaf = p + s, least = l + used / s, most = l + (used + s - 1) / s;
    if (l * s * g < least) /* all spines together */
        least = l * s * g;
    *c = (struct shape_counts){
        .n_classes = 3,
        .links = { p * l * g, g * l * s, w.cables * g * (g - 1) / 2 },
        .hubs = (l + s) * g,
        .hub_degree_min = leaf < least ? leaf : least,
        .degree_max = 1,
        .degree_min = 1,
        .connectivity = 1,
        .ports = leaf > most ? leaf : most,
        .spare = g * (s * dim->fabric.links - used),
    };
}

/* Ways to cut the group in the middle, of whose NPUs the first half are on the low side, with so many of its
 * leaves on that side: each spine goes where it costs less, or @p high: all to the high side. */
static void plus_cut_middle(int64_t cut[3], const struct topo_dim *dim, int64_t leaves, bool high)
{
    struct shape_mesh w = plus_mesh(dim);
    int64_t p = dim[0].size, l = dim[1].size, g = dim[2].size, mid = g / 2, half = p * l / 2;
    int64_t to_low[SHAPE_MAX_GATES] = { 0 }, to_high[SHAPE_MAX_GATES] = { 0 };
    for (int64_t j = 0; j < g; j++)
        for (int64_t m = 0; m < w.cables && j != mid && !high; m++)
            (j < mid ? to_low : to_high)[shape_mesh_gate(&w, mid, j, m)]++;
    cut[0] = half < p * leaves ? p * leaves - half : half - p * leaves;
    cut[LOCAL] = cut[GLOBAL] = 0;
    for (int64_t v = 0; v < w.gates; v++) {
        bool is_low = !high && l - leaves + to_high[v] < leaves + to_low[v];
        cut[LOCAL] += is_low ? l - leaves : leaves;
        cut[GLOBAL] += is_low ? to_high[v] : to_low[v];
    }
}

/* Keep the cut of the groups on either side, @p sides, and of the best one of the middle, if it is less. */
static void plus_keep_cut(struct shape_counts *c, const int64_t sides[3], const struct topo_dim *dim,
                          bool high)
{
    int64_t cut[3] = { 0 };
    for (int64_t leaves = 0; leaves <= (dim[2].size % 2 ? dim[1].size : 0); leaves++) {
        if (dim[2].size % 2)
            plus_cut_middle(cut, dim, leaves, high);
        for (int32_t k = 0; k < 3; k++)
            cut[k] += sides[k];
        if (cut[0] + cut[1] + cut[2] < c->cut[0] + c->cut[1] + c->cut[2])
            memcpy(c->cut, cut, sizeof cut);
    }
}

/* The NPUs of one half cut off; groups that keep together; all spines on one side. Links are alike. Where a
 * spine has more links to groups than to leaves a mix of these can be less: then it is a bound. */
static void plus_cut(struct shape_counts *c, const struct topo_dim *dim)
{
    struct shape_mesh w = plus_mesh(dim);
    int64_t p = dim[0].size, l = dim[1].size, g = dim[2].size, s = w.gates, half = g / 2;
    memset(c->cut, 0, sizeof c->cut);
    c->cut[0] = p * l * g / 2;
    plus_keep_cut(c, (int64_t[]){ 0, 0, w.cables * half * half }, dim, false);
    plus_keep_cut(c, (int64_t[]){ 0, half * l * s, 0 }, dim, true);
    c->cut_is_bound = l < (w.cables * (g - 1) + s - 1) / s;
}

/* Leaves of one group are two links apart, of two groups three: each leaf has all spines, each two groups
 * have a cable. NPUs are two more. */
static void plus_distances(const struct topo_dim *dim, double *sum, int64_t *longest)
{
    double p = dim[0].size, l = dim[1].size, g = dim[2].size;
    *sum = p * l * g * (2 * (p - 1) + 4 * p * (l - 1) + 5 * p * l * (g - 1));
    *longest = 5;
}

static double plus_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    double p = dim[0].size, l = dim[1].size, g = dim[2].size;
    if (cls == LOCAL)
        return bw_Bps * p / dim->fabric.spines;
    return cls == GLOBAL ? bw_Bps * l * p / ((double)plus_mesh(dim).cables * (g - 1)) : bw_Bps;
}

/* Hubs: leaves of all groups, then spines. */
static void plus_edges(const struct topo_dim *dim, void *x, void (*link)(void *x, int64_t a, int64_t b))
{
    struct shape_mesh w = plus_mesh(dim);
    int64_t n = topo_group_size(dim), l = dim[1].size, g = dim[2].size, s = w.gates, spine = n + l * g;
    for (int64_t i = 0; i < n; i++)
        link(x, i, n + i / dim[0].size);
    for (int64_t leaf = 0; leaf < l * g; leaf++)
        for (int64_t v = 0; v < s; v++)
            link(x, n + leaf, spine + leaf / l * s + v);
    shape_mesh_edges(&w, spine, x, link);
}

static int plus_way(const struct topo_dim *dim, int64_t from, int64_t to, int32_t other, void *x,
                    int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e)
{
    struct shape_mesh w = plus_mesh(dim);
    int64_t p = dim[0].size, l = dim[1].size, g = dim[2].size, s = w.gates, n = topo_group_size(dim);
    int64_t leaf = from / p, last = to / p, i = leaf / l, j = last / l;
    int64_t up = n, global = n + g * l * s; /* first links of classes 1 and 2 */
    (void)other;
    if (from == to)
        return 0;
    int rc = step(x, from, false, e);
    if (!rc && leaf != last) {
        int64_t m = shape_spread(i == j ? s : w.cables, p * l, from % (p * l), to % (p * l));
        rc = step(x, up + leaf * s + (i == j ? m : shape_mesh_gate(&w, i, j, m)), false, e);
        /* Arcs lead from the lower number to the higher. */
        if (!rc && i != j)
            rc = step(x, global + shape_mesh_cable(&w, i, j, m), i > j, e);
        if (!rc)
            rc = step(x, up + last * s + (i == j ? m : shape_mesh_gate(&w, j, i, m)), true, e);
    }
    return rc ? rc : step(x, to, true, e);
}

static int32_t plus_most(const int32_t *uses, int64_t n)
{
    int32_t most = 0;
    for (int64_t i = 0; i < n; i++)
        most = uses[i] > most ? uses[i] : most;
    return most;
}

static void plus_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                      const struct shape_group *group)
{
    struct shape_mesh w = plus_mesh(dim);
    int32_t level = group->level, uses[SHAPE_MAX_GATES], back[SHAPE_MAX_GATES];
    int32_t q = group->flat || level == 0 ? group->members[0] : 1;
    int32_t r = group->flat || level == 1 ? group->members[1] : 1;
    int32_t s = group->flat || level == 2 ? group->members[2] : 1;
    int32_t stride = shape_stride(group, 2);
    double n = (double)q * r * s, g = dim[2].size, gates = (double)w.gates, cables = (double)w.cables,
           most = 0;
    shape_port_load(out, pattern, group->n);
    if (group->flat) /* in units of the latency of a leaf's members */
        out->hops *= plus_reach[s > 1 ? GLOBAL : r > 1];
    if (pattern == SHAPE_DIRECT) {
        for (int32_t j = 0; j < (s == g ? 1 : s) && s > 1; j++) {
            shape_mesh_uses(uses, &w, s, stride, j);
            most = fmax(most, plus_most(uses, w.gates) / cables);
        }
        out->load[LOCAL] = (q * (r - 1.0) + gates * q * r * most) / n;
        out->mean[LOCAL] = (n - q) / n;
        out->load[GLOBAL] = s > 1 ? (g - 1) / s : 0;
        out->mean[GLOBAL] = (s - 1.0) / s;
        return;
    }
    double passed = shape_passed(pattern, group->n);
    most = r > 1 ? 1 / gates : 0;
    for (int place = 0; place < 3 && s > 1; place += s == 2 ? 2 : 1) {
        shape_mesh_ring(uses, back, &w, s, stride, pattern == SHAPE_NEXT, place);
        most = fmax(most, fmax(plus_most(uses, w.gates), plus_most(back, w.gates)) / cables);
    }
    out->load[LOCAL] = passed * gates / q * most;
    out->load[GLOBAL] = s > 1 ? passed * (g - 1) / ((double)q * r) : 0;
}

const struct shape_ops shape_dragonfly_plus = {
    .algorithms = 1u << TOPO_ALGORITHM_RING | 1u << TOPO_ALGORITHM_DIRECT,
    .switched = true,
    .one_port = true,
    .lanes = SHAPE_ONE,
    .reach = 1,
    .hop_share = 0.5,
    .own_keys = SHAPE_KEY_SIZES | SHAPE_KEY_LINKS | SHAPE_KEY_SPINES | SHAPE_KEY_HOSTS | SHAPE_KEY_LEAVES |
                SHAPE_KEY_GROUPS | SHAPE_KEY_ROUTING,
    .settle = plus_settle,
    .counts = plus_counts,
    .cut = plus_cut,
    .distances = plus_distances,
    .link_Bps = plus_link_Bps,
    .edges = plus_edges,
    .way = plus_way,
    .usual = TOPO_ALGORITHM_DIRECT,
    .load = plus_load,
    .parts = topo_router_parts,
    .links = { "end link", "local link", "global link" },
};
