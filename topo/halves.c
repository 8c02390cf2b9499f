/*
 * Bisection: the least bandwidth between any floor(N/2) NPUs and the others.
 *
 * Cuts. A network is a product of axes: a dimension, an axis of a torus, a row of a HyperX, a whole fabric
 * where it is no product. An axis of n places consists of N/n lines. Its lines are cut between their first
 * floor(n/2) places and the others; where n is odd the slice in the middle is cut in two along another axis,
 * and so on: a staircase that ends at the first even axis. What a step costs depends on the axes before it
 * only by their product, so the best order is found over sets of axes.
 *
 * Floor. Let u_k be what each member of axis k can send evenly to all n_k of a line at once (from the loads
 * of a direct exchange, topo/shape.h), and h = floor(N/2).
 *
 *     (1) min over k of u_k h (N - h) / N. An all-to-all among the N that passes axis after axis sends u_k/N
 *         at most from each to each; h (N - h) pairs cross.
 *     (2) Let one axis pass any traffic of s for each member (a switch, a folded Clos): min of s h and of (1)
 *         over the other axes. A line with a members on the first side has s min(a, n - a) across. Move the
 *         minority of every line over: what (1) says of each layer is concave in its members, so that the
 *         extremes decide, where either all lines or all layers are whole.
 *     (3) With e_k = u_k floor(n_k^2/4) / n_k: min e_k times the staircase of steps of 1 along axes from the
 *         longest to the shortest. J. Arjona Aroca, A. Fernandez Anta, Bisection (Band)Width of Product
 *         Networks with Application to Data Centers, TAMC 2012: exact of products of full meshes whose halves
 *         have 1 across, and a line has e_k a (n - a) / floor(n^2/4) or more.
 *
 * A cut that meets the floor is the bisection. So it is with an even axis whose lines no other axis betters
 * per place, and with tori, grids and HyperX of rows alike whatever their sizes. Of fabrics of routers, of
 * several switch dimensions alike, and of some odd sizes it stays a bound. (2) and its proof: ours.
 */
#include "topo/halves.h"

#include <math.h>
#include <string.h>

#include "topo/shape.h"

struct halves_axis {
    int32_t dim; /* that is named when it is halved */
    int32_t dims[TOPO_MAX_DIMS],
        n_dims; /* whose addresses give the place on it, the most significant first */
    int64_t size;
    double cut_Bps;  /* of one line, its first floor(n/2) places and the others */
    double more_Bps; /* that it costs at most to have the middle place of an odd line on the first side */
    bool bound;      /* cut_Bps may be less */
    double even_Bps; /* u */
    double any_Bps;  /* s; 0: there is none */
};

struct axes {
    struct halves_axis at[TOPO_MAX_DIMS];
    int32_t n;
    int64_t n_npus; /* product of all sizes */
};

/* ---- the axes of a network ---- */

static double sum_links(const struct topo_dim *dim, const int64_t *links)
{
    double sum_Bps = 0;
    for (int32_t k = 0; k < SHAPE_CLASSES; k++)
        if (links[k] > 0)
            sum_Bps += topo_planes(dim) * (double)links[k] * topo_link_Bps(dim, k, dim[k].bw_Bps);
    return sum_Bps;
}

/* Of an all-to-all among the members of a line; the whole fabric is full of such lines. */
static double axis_even_Bps(const struct shape_axis *s, const struct topo_dim *dim)
{
    struct shape_group all = { .flat = true, .n = 1, .members = { 1, 1, 1, 1 } };
    struct shape_load l;
    double even_Bps = INFINITY;
    for (int32_t i = 0; i < s->n_levels; i++)
        all.n *= all.members[s->levels[i]] = dim[s->levels[i]].size;
    topo_ops(dim)->load(&l, SHAPE_DIRECT, dim, &all);
    for (int32_t k = 0; k < SHAPE_CLASSES; k++)
        if (l.load[k] > 0)
            even_Bps = fmin(even_Bps, dim[k].bw_Bps * (all.n > 2 ? topo_ops(dim)->reach : 1) / l.load[k]);
    return even_Bps;
}

static double axis_any_Bps(const struct shape_axis *s, const struct topo_dim *dim)
{
    double any_Bps = s->any ? INFINITY : 0;
    for (int32_t k = 0; k < SHAPE_CLASSES; k++)
        if (s->any & 1u << k)
            any_Bps = fmin(any_Bps, dim[k].bw_Bps);
    return any_Bps;
}

/*
 * Between the halves of a line. A tree may have more links up than down: then the members of one half are cut
 * off where it is narrowest, if that is below whole subtrees of one half, or by their own links.
 */
static double axis_cut_Bps(bool *bound, const struct shape_axis *s, const struct topo_dim *dim)
{
    double cut_Bps = sum_links(dim, s->cut), any_Bps = axis_any_Bps(s, dim);
    *bound = s->bound;
    if (!topo_ops(dim)->any_traffic)
        return cut_Bps;
    bool whole = dim[s->levels[0]].size % 2 == 0;
    for (int32_t k = 0; k < SHAPE_CLASSES && !whole; k++)
        *bound = *bound || (s->any & 1u << k && k > 0 && dim[k].bw_Bps > dim[k - 1].bw_Bps);
    int64_t members = topo_group_size(dim) / 2 * topo_node(dim);
    double half = (double)members;
    return fmin(cut_Bps, half * (whole ? any_Bps : dim->bw_Bps));
}

/* A shape that does not tell its axes is one: all its levels in the order of addresses. */
static int32_t list_shape_axes(struct shape_axis *out, const struct topo_dim *dim)
{
    if (topo_ops(dim)->axes)
        return topo_ops(dim)->axes(out, dim);
    struct shape_counts c;
    topo_ops(dim)->counts(&c, dim);
    if (topo_ops(dim)->cut)
        topo_ops(dim)->cut(&c, dim);
    *out = (struct shape_axis){ .n_levels = dim->n_levels > 1 ? dim->n_levels : 1,
                                .bound = c.cut_is_bound,
                                .lopsided = topo_is_fabric(dim) };
    for (int32_t k = 0; k < out->n_levels; k++)
        out->levels[k] = out->n_levels - 1 - k;
    memcpy(out->cut, c.cut, sizeof out->cut);
    out->any = topo_ops(dim)->any_traffic ? (1u << c.n_classes) - 1 : 0;
    return 1;
}

static void add_axes(struct axes *x, const struct topo_network *net, int32_t d)
{
    const struct topo_dim *dim = &net->dims[d];
    struct shape_axis s[TOPO_LEVELS];
    int32_t n = list_shape_axes(s, dim);
    for (int32_t i = 0; i < n; i++) {
        struct halves_axis *a = &x->at[x->n++];
        *a = (struct halves_axis){ .dim = d + s[i].levels[0],
                                   .n_dims = s[i].n_levels,
                                   .size = 1,
                                   .more_Bps = s[i].lopsided ? dim->bw_Bps : 0,
                                   .even_Bps = axis_even_Bps(&s[i], dim),
                                   .any_Bps = axis_any_Bps(&s[i], dim) };
        for (int32_t k = 0; k < a->n_dims; k++) {
            a->dims[k] = d + s[i].levels[k];
            a->size *= net->dims[a->dims[k]].size;
        }
        a->cut_Bps = axis_cut_Bps(&a->bound, &s[i], dim);
        a->dim = n > 1 ? a->dim : d;
        x->n_npus *= a->size;
    }
}

/* ---- the best order ---- */

struct staircase {
    const struct axes *x;
    double cost_Bps[1 << TOPO_MAX_DIMS]; /* from a set of axes that are cut already on; NaN: not known yet */
    int32_t next[1 << TOPO_MAX_DIMS];    /* the axis to cut then, -1: none */
};

static void staircase_init(struct staircase *s, const struct axes *x)
{
    s->x = x;
    for (int32_t set = 0; set < 1 << x->n; set++)
        s->cost_Bps[set] = (double)NAN;
}

static double staircase_solve(struct staircase *s, unsigned set);

/* Axis @p k is cut next, then what is best. */
static double staircase_step(struct staircase *s, unsigned set, int32_t k)
{
    const struct halves_axis *a = &s->x->at[k];
    double lines = (double)s->x->n_npus / (double)a->size;
    for (int32_t i = 0; i < s->x->n; i++)
        lines /= set & 1u << i ? (double)s->x->at[i].size : 1;
    double cost_Bps = lines * a->cut_Bps;
    if (a->size % 2 == 0)
        return cost_Bps;
    return cost_Bps + floor(lines / 2) * a->more_Bps + staircase_solve(s, set | 1u << k);
}

static double staircase_solve(struct staircase *s, unsigned set)
{
    if (!isnan(s->cost_Bps[set]))
        return s->cost_Bps[set];
    double best_Bps = INFINITY;
    s->next[set] = -1;
    for (int32_t k = 0; k < s->x->n; k++) {
        double cost_Bps = set & 1u << k ? INFINITY : staircase_step(s, set, k);
        if (cost_Bps < best_Bps) {
            best_Bps = cost_Bps;
            s->next[set] = k;
        }
    }
    return s->cost_Bps[set] = s->next[set] < 0 ? 0 : best_Bps;
}

/* The dimensions of the axes in the order in which they are cut, @p k first, those that are not cut last. */
static void staircase_order(struct topo_halves *h, struct staircase *s, int32_t k)
{
    int64_t lines = s->x->n_npus;
    unsigned set = 0;
    int32_t n = 0;
    bool cuts = true; /* no even axis yet */
    h->counted = true;
    while (k >= 0) {
        const struct halves_axis *a = &s->x->at[k];
        lines /= a->size;
        if (cuts && (a->bound || (a->size % 2 && lines > 1 && a->more_Bps > 0)))
            h->counted = false;
        cuts = cuts && a->size % 2;
        for (int32_t i = 0; i < a->n_dims; i++)
            h->order[n++] = a->dims[i];
        set |= 1u << k;
        k = -1;
        if (cuts) {
            staircase_solve(s, set);
            k = s->next[set];
        }
        for (int32_t i = 0; i < s->x->n && !cuts && k < 0; i++)
            k = set & 1u << i ? -1 : i;
    }
}

/* ---- rails that share a spine ---- */

/*
 * Up to the entry at @p shared a network is no product: the spine joins the NPUs of a node too. It is one
 * axis: halves of the nodes, where the one in the middle of an odd number is cut along its dimensions; or
 * halves of an even dimension of the node, whose rails meet in the spine by the links of one half.
 */
static void add_rails(struct axes *x, const struct topo_network *net, int32_t shared)
{
    const struct topo_dim *tree = &net->dims[shared];
    int64_t rails = topo_node(tree), nodes = topo_group_size(tree), n_npus = rails * nodes;
    struct axes inside = { .n_npus = 1 };
    struct staircase s;
    struct topo_halves node = { .counted = true };
    struct shape_axis whole;
    struct halves_axis *a = &x->at[x->n++];
    for (int32_t d = 0; d < shared; d = topo_after_entry(net->dims, d))
        add_axes(&inside, net, d);
    staircase_init(&s, &inside);
    staircase_solve(&s, 0);
    staircase_order(&node, &s, s.next[0]);
    list_shape_axes(&whole, tree);
    *a = (struct halves_axis){ .dim = shared,
                               .n_dims = shared + whole.n_levels,
                               .size = n_npus,
                               .more_Bps = tree->bw_Bps,
                               .any_Bps = axis_any_Bps(&whole, tree) };
    a->even_Bps = a->any_Bps;
    a->cut_Bps = axis_cut_Bps(&a->bound, &whole, tree);
    a->bound = a->bound || nodes % 2;
    for (int32_t d = 0; d < shared; d = topo_after_entry(net->dims, d))
        a->more_Bps += net->dims[d].bw_Bps;
    for (int32_t k = 0; k < whole.n_levels; k++)
        a->dims[k] = shared + whole.levels[k];
    memcpy(a->dims + whole.n_levels, node.order, (size_t)shared * sizeof *a->dims);
    const int64_t pairs = rails / 2, half = n_npus / 2;
    if (nodes % 2)
        a->cut_Bps += s.cost_Bps[0] + (double)pairs * tree->bw_Bps;
    for (int32_t i = 0; i < inside.n; i++) {
        const struct halves_axis *in = &inside.at[i];
        int64_t groups = n_npus / in->size;
        int32_t along = topo_rails_along(net, shared, in->dims[0]);
        /* Halves that have no rail in common part in the spine, others at the NPUs. */
        double up_Bps = (double)half * (along % 2 ? tree->bw_Bps : fmin(tree->bw_Bps, tree[1].bw_Bps));
        double cut_Bps = (double)groups * in->cut_Bps + up_Bps;
        if (in->size % 2 || cut_Bps > a->cut_Bps || (cut_Bps == a->cut_Bps && a->dim != shared))
            continue;
        a->cut_Bps = cut_Bps;
        a->dim = in->dim;
        a->bound = in->bound || (along % 2 && along > 1);
        int32_t n = in->n_dims;
        memcpy(a->dims, in->dims, (size_t)n * sizeof *a->dims);
        for (int32_t j = 0; j < inside.n; j++)
            for (int32_t k = 0; k < inside.at[j].n_dims && j != i; k++)
                a->dims[n++] = inside.at[j].dims[k];
        for (int32_t k = 0; k < whole.n_levels; k++)
            a->dims[n++] = shared + whole.levels[k];
    }
    x->n_npus *= n_npus;
}

static void list_axes(struct axes *x, const struct topo_network *net)
{
    int32_t shared = topo_shared_spine(net), d = 0;
    *x = (struct axes){ .n_npus = 1 };
    if (shared >= 0) {
        add_rails(x, net, shared);
        d = topo_after_entry(net->dims, shared);
    }
    for (; d < net->n_dims; d = topo_after_entry(net->dims, d))
        add_axes(x, net, d);
}

/* ---- what is asked ---- */

int32_t topo_find_halves(struct topo_halves out[TOPO_MAX_DIMS], const struct topo_network *net)
{
    struct axes x;
    struct staircase s;
    list_axes(&x, net);
    staircase_init(&s, &x);
    for (int32_t k = 0; k < x.n; k++) {
        out[k] = (struct topo_halves){ .dim = x.at[k].dim, .cut_Bps = staircase_step(&s, 0, k) };
        staircase_order(&out[k], &s, k);
    }
    return x.n;
}

/* (3), of steps of 1. */
static double longest_first(const struct axes *x)
{
    double sum = 0, lines = (double)x->n_npus;
    for (unsigned left = (1u << x->n) - 1; left;) {
        int32_t longest = 0;
        for (int32_t k = 0; k < x->n; k++)
            if (left & 1u << k && (!(left & 1u << longest) || x->at[k].size > x->at[longest].size))
                longest = k;
        lines /= (double)x->at[longest].size;
        sum += lines;
        left = x->at[longest].size % 2 ? left & ~(1u << longest) : 0;
    }
    return sum;
}

double topo_halves_floor(const struct topo_network *net)
{
    struct axes x;
    list_axes(&x, net);
    double half = floor((double)x.n_npus / 2), pairs = half * ((double)x.n_npus - half) / (double)x.n_npus;
    double least_Bps = INFINITY, floor_Bps = 0;
    for (int32_t k = 0; k < x.n; k++) {
        double n = (double)x.at[k].size, any_Bps = x.at[k].any_Bps * half;
        least_Bps = fmin(least_Bps, x.at[k].even_Bps / n * floor(n * n / 4));
        for (int32_t i = 0; i < x.n; i++)
            any_Bps = i == k ? any_Bps : fmin(any_Bps, x.at[i].even_Bps * pairs);
        floor_Bps = fmax(floor_Bps, any_Bps);
    }
    floor_Bps = fmax(floor_Bps, least_Bps * longest_first(&x));
    double even_Bps = INFINITY;
    for (int32_t k = 0; k < x.n; k++)
        even_Bps = fmin(even_Bps, x.at[k].even_Bps * pairs);
    return fmax(floor_Bps, even_Bps);
}

bool topo_in_first_half(const struct topo_halves *h, const struct topo_network *net, int64_t npu)
{
    int64_t place[TOPO_MAX_DIMS], rank = 0;
    for (int32_t d = 0; d < net->n_dims; d++) {
        place[d] = npu % net->dims[d].size;
        npu /= net->dims[d].size;
    }
    for (int32_t i = 0; i < net->n_dims; i++)
        rank = rank * net->dims[h->order[i]].size + place[h->order[i]];
    return rank < net->n_npus / 2;
}
