/*
 * Torus of two to four axes with one link rate, twisted or not. Level k is axis k; class k its links. An NPU
 * has two links of b along an axis of more than two members, one along an axis of two: B_k = ways_k b.
 *
 * Twisted: k x 2k, k x k x 2k or k x 2k x 2k members, where the wrap of a short axis leads k further along
 * the long ones. These are the quotients of the grid by k times the vectors of even sum (k x 2k, k x k x 2k)
 * or of equal parity (k x 2k x 2k), so that all axes are alike: hops between all pairs load every class the
 * same.
 *
 * Ways are of least length, axis by axis; at half the way round the parity of addresses decides which way, so
 * that exchanges of all members load both directions alike. Of several in a twisted torus the address of the
 * sender picks one in turn.
 *
 * Loads: along one axis a whole line is a ring, evenly spread members are a ring whose steps pass several
 * links, any other part is a line, and so is a short axis of a twisted torus, whose wrap leads elsewhere.
 * All-to-all asks each axis for the mean distance along it, n/4 S of an even one; of a whole twisted torus a
 * third (in two dimensions half) of the mean distance. Reductions over several axes: workloads/order_mix.h;
 * over a whole twisted torus: waves (workloads/algorithm.c).
 *
 * With `ocs`, cubes of 4 x 4 x 4 are wired in copper and joined by optical circuit switches: 144 copper and
 * 48 optical links of each cube, two switch ports for each optical link, whatever the shape and twist of the
 * slice.
 *
 * J. Cámara et al., Twisted Torus Topologies, IEEE TPDS 21(12), 2010; N. Jouppi et al., TPU v4, ISCA 2023
 * (OCS; which wraps are twisted is ours: the best of those by whole cubes). Mean distances: by counting,
 * ours.
 */
#include <math.h>
#include <stdlib.h>

#include "topo/bill.h"
#include "topo/shape.h"

enum { OCS_CUBE = 4 };

/* How far the wrap of axis @p k leads along a later axis @p to. */
static int32_t torus_shift(const struct topo_dim *dim, int32_t k, int32_t to)
{
    bool twisted = dim->fabric.twist && to > k && dim[to].size == 2 * dim[k].size;
    return twisted ? dim[k].size : 0;
}

static bool torus_is_twisted(const struct topo_dim *dim, int32_t k)
{
    return torus_shift(dim, k, dim->n_levels - 1) > 0;
}

/* Links of an NPU along axis @p k. */
static int32_t torus_ways(const struct topo_dim *dim, int32_t k)
{
    return dim[k].size == 2 && !torus_is_twisted(dim, k) ? 1 : 2;
}

static int64_t torus_span(const struct topo_dim *dim, int32_t k)
{
    int64_t span = 1;
    for (int32_t i = 0; i < k; i++)
        span *= dim[i].size;
    return span;
}

static int torus_check_twist(const struct topo_fabric *f, struct err *e)
{
    const int32_t *n = f->sizes;
    int32_t k = n[0], top = f->n_sizes - 1;
    if (k > SHAPE_SPHERES / 2)
        return err_set(e, ERR_RANGE, "has a twist of %d, expected at most %d", k, SHAPE_SPHERES / 2);
    bool fits = top > 0 && top < 3 && n[top] == 2 * k && (top == 1 || n[1] == k || n[1] == 2 * k);
    return fits ? 0
                : err_set(e, ERR_RANGE,
                          "has a twist, expected sizes k x 2k, k x k x 2k or k x 2k x 2k, as in [4, 4, 8]");
}

static int torus_settle(struct topo_dim *dim, int32_t room, struct err *e)
{
    static const char *const classes[TOPO_LEVELS] = { "", "y", "z", "w" };
    const struct topo_fabric f = dim->fabric;
    if (f.n_sizes < 2)
        return err_set(e, ERR_RANGE, "has %d size%s, expected 2 to %d of a torus", f.n_sizes,
                       f.n_sizes == 1 ? "" : "s", TOPO_LEVELS);
    if (f.n_sizes > room)
        return err_set(e, ERR_RANGE, "has %d levels, expected at most %d: a network has %d dimensions",
                       f.n_sizes, room, TOPO_MAX_DIMS);
    for (int32_t k = 0; k < f.n_sizes; k++) {
        if (f.sizes[k] < TOPO_MIN_SIZE)
            return err_set(e, ERR_RANGE, "has an axis of %d, expected %d or more members", f.sizes[k],
                           TOPO_MIN_SIZE);
        if (f.ocs && (f.sizes[k] % OCS_CUBE || f.n_sizes != 3))
            return err_set(
                e, ERR_RANGE,
                "is joined by ocs, expected three sizes that are multiples of %d: cubes of %d x %d x %d",
                OCS_CUBE, OCS_CUBE, OCS_CUBE, OCS_CUBE);
    }
    int rc = f.twist ? torus_check_twist(&f, e) : 0;
    if (rc)
        return rc;
    dim->n_levels = f.n_sizes;
    dim->size = f.sizes[0];
    for (int32_t k = 1; k < f.n_sizes; k++) {
        topo_level_init(dim, k, classes[k]);
        dim[k].size = f.sizes[k];
        dim[k].own_links = true;
    }
    for (int32_t k = 1; k < f.n_sizes; k++)
        dim[k].tie = (double)torus_ways(dim, k) / torus_ways(dim, k - 1);
    return 0;
}

static void torus_counts(struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t n = topo_group_size(dim);
    *c = (struct shape_counts){ .n_classes = dim->n_levels };
    for (int32_t k = 0; k < dim->n_levels; k++) {
        c->links[k] = n * torus_ways(dim, k) / 2;
        c->degree_max += torus_ways(dim, k);
    }
    c->degree_min = c->connectivity = c->ports = c->degree_max;
}

/*
 * Links between the halves of axis @p k of a twisted torus, in a slice of @p n members: its own, and the
 * wraps that lead half the way round it. Of an odd axis, where none do, the slice in the middle is cut along
 * the last axis, which is even. Axis @p done has been cut already; -1: none.
 */
static int64_t torus_cut_twisted(int64_t *cut, const struct topo_dim *dim, int32_t k, int64_t n, int32_t done)
{
    int64_t sum = cut[k] = n / dim[k].size * torus_ways(dim, k);
    for (int32_t i = 0; i < k; i++)
        if (i != done && torus_shift(dim, i, k))
            sum += cut[i] = n / dim[i].size;
    if (dim[k].size % 2)
        sum += torus_cut_twisted(cut, dim, dim->n_levels - 1, n / dim[k].size, k);
    return sum;
}

/* Rings; a twisted torus is no product. */
static int32_t torus_axes(struct shape_axis *out, const struct topo_dim *dim)
{
    int32_t n = dim->n_levels;
    int64_t best = INT64_MAX;
    for (int32_t k = 0; k < n && !dim->fabric.twist; k++) {
        out[k] = (struct shape_axis){ .levels = { k }, .n_levels = 1 };
        out[k].cut[k] = torus_ways(dim, k);
    }
    if (!dim->fabric.twist)
        return n;
    for (int32_t k = n - 1; k >= 0; k--) {
        struct shape_axis a = { .levels = { k }, .n_levels = 1 };
        int64_t sum = torus_cut_twisted(a.cut, dim, k, topo_group_size(dim), -1);
        for (int32_t i = n - 1; i >= 0; i--)
            if (i != k)
                a.levels[a.n_levels++] = i;
        if (sum < best)
            *out = a;
        best = sum < best ? sum : best;
    }
    return 1;
}

/* Members whose distance along an axis of @p n is @p u, of those on one side or the other. */
static double torus_at(int32_t n, int32_t u)
{
    return u == 0 || 2 * u == n ? 1 : 2;
}

/*
 * From one member of a twisted torus to all: their distances' sum, and the longest. Along each axis let u be
 * how far the nearest multiple of k is, so that the next nearest costs g = k - 2u more. Multiples may be
 * chosen freely but for their parity: of even sum, so half of the members pay the least g; or all alike, so
 * each quarter of them pays the least way to get there.
 */
static void torus_twisted(const struct topo_dim *dim, double *sum, int64_t *longest, double *count)
{
    int32_t k = dim[0].size, n = dim->n_levels, last = n == 3 ? k / 2 : 0;
    bool alike = n == 3 && dim[1].size == 2 * k;
    *sum = 0;
    *longest = 0;
    for (int32_t u = 0; u <= k / 2; u++)
        for (int32_t v = 0; v <= k / 2; v++)
            for (int32_t w = 0; w <= last; w++) {
                int64_t near = u + v + w, a = k - 2 * u, b = k - 2 * v, c = n == 3 ? k - 2 * w : INT32_MAX;
                double times = torus_at(k, u) * torus_at(k, v) * (n == 3 ? torus_at(k, w) : 1);
                int64_t more[4] = { 0, a < b + c ? a : b + c, b < a + c ? b : a + c, c < a + b ? c : a + b };
                if (!alike)
                    more[1] = a < b ? a < c ? a : c : b < c ? b : c;
                for (int32_t i = 0; i < (alike ? 4 : 2); i++) {
                    *sum += times * (double)(near + more[i]);
                    if (count)
                        count[near + more[i]] += times;
                    *longest = near + more[i] > *longest ? near + more[i] : *longest;
                }
            }
}

static int32_t torus_spheres(double *count, const struct topo_dim *dim)
{
    double sum;
    int64_t longest;
    if (!dim->fabric.twist)
        return 0;
    for (int32_t h = 0; h < SHAPE_SPHERES; h++)
        count[h] = 0;
    torus_twisted(dim, &sum, &longest, count);
    return (int32_t)longest;
}

static void torus_distances(const struct topo_dim *dim, double *sum, int64_t *longest)
{
    double n = (double)topo_group_size(dim);
    *sum = 0;
    *longest = 0;
    if (dim->fabric.twist) {
        torus_twisted(dim, sum, longest, NULL);
        *sum *= n;
        return;
    }
    for (int32_t k = 0; k < dim->n_levels; k++) {
        double x = dim[k].size;
        *sum += n * n / x * floor(x * x / 4);
        *longest += dim[k].size / 2;
    }
}

static double torus_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    return bw_Bps / torus_ways(dim, cls);
}

/* The member behind @p i along axis @p k, or before it. */
static int64_t torus_next(const struct topo_dim *dim, int64_t i, int32_t k, bool ahead)
{
    int64_t span = torus_span(dim, k), n = dim[k].size, at = i / span % n;
    int64_t to = ahead ? (at + 1) % n : (at + n - 1) % n, next = i + (to - at) * span;
    bool wraps = ahead ? to == 0 : at == 0;
    for (int32_t j = k + 1; j < dim->n_levels && wraps; j++) {
        int64_t outer = torus_span(dim, j), m = dim[j].size, old = next / outer % m;
        int64_t shift = torus_shift(dim, k, j); /* half of m: ahead and back are the same */
        next += ((old + shift) % m - old) * outer;
    }
    return next;
}

static int64_t torus_first_link(const struct topo_dim *dim, int32_t k)
{
    int64_t first = 0, n = topo_group_size(dim);
    for (int32_t i = 0; i < k; i++)
        first += torus_ways(dim, i) == 2 ? n : n / 2;
    return first;
}

/* The link from @p i ahead along axis @p k: one per member, or one for both where there are two. */
static int64_t torus_link(const struct topo_dim *dim, int64_t i, int32_t k)
{
    int64_t span = torus_span(dim, k);
    return torus_first_link(dim, k) + (torus_ways(dim, k) == 2 ? i : i / (2 * span) * span + i % span);
}

static void torus_edges(const struct topo_dim *dim, void *x, void (*link)(void *x, int64_t a, int64_t b))
{
    int64_t n = topo_group_size(dim);
    for (int32_t k = 0; k < dim->n_levels; k++)
        for (int64_t i = 0; i < n; i++)
            if (torus_ways(dim, k) == 2 || i / torus_span(dim, k) % 2 == 0)
                link(x, i, torus_next(dim, i, k, true));
}

/* Steps along each axis from @p a to @p b, of a torus without twist. */
static void torus_offset(const struct topo_dim *dim, int64_t a, int64_t b, bool mirror, int64_t *steps)
{
    /* Addresses that a line along axis k does not fix: of the sender before it, of the receiver behind it. */
    int64_t behind = 0, free = 0;
    for (int32_t k = 0; k < dim->n_levels; k++)
        behind += b / torus_span(dim, k) % dim[k].size;
    for (int32_t k = 0; k < dim->n_levels; k++) {
        int64_t n = dim[k].size, from = a / torus_span(dim, k) % n, to = b / torus_span(dim, k) % n;
        behind -= to;
        free += from;
        steps[k] = (to - from + n) % n;
        bool tie = 2 * steps[k] == n && n > 2, other = mirror != ((free + behind) % 2 != 0);
        if (2 * steps[k] > n || (tie && other))
            steps[k] -= n;
    }
}

/* The same in a twisted torus: all short ways round are tried, and one of the shortest is taken; between
 * members of one line one that stays on it. The straightest wraps least often. */
static void torus_twisted_offset(const struct topo_dim *dim, int64_t a, int64_t b, int32_t other,
                                 int64_t *steps)
{
    enum { TURNS = 5, WRAPS = 2 * TOPO_LEVELS + 1 }; /* no way wraps as often */
    int64_t best = INT64_MAX, n_best = 0, found[TURNS * TURNS * TURNS][TOPO_LEVELS];
    int64_t pick = other < 0 ? 0 : other, per_wrap = other == SHAPE_STRAIGHT ? 1 : other < 0 ? -1 : 0;
    int32_t n = dim->n_levels;
    for (int32_t k = 0; k < n && other >= 0; k++)
        pick += a / torus_span(dim, k) % dim[k].size;
    for (int32_t t = 0; t < (n == 3 ? TURNS : 1) * TURNS * TURNS; t++) {
        int64_t turns[] = { t % TURNS - 2, t / TURNS % TURNS - 2, t / TURNS / TURNS - 2 }, way[TOPO_LEVELS];
        int64_t length = 0, apart = 0,
                aside = 0; /* axes along which they differ, and that a way takes beside them */
        for (int32_t k = 0; k < n; k++) {
            int64_t span = torus_span(dim, k), m = dim[k].size;
            way[k] = b / span % m - a / span % m + turns[k] * m;
            for (int32_t i = 0; i < k; i++)
                way[k] -= turns[i] * torus_shift(dim, i, k);
            length += WRAPS * llabs(way[k]) + per_wrap * llabs(turns[k]);
            apart += b / span % m != a / span % m;
            aside += b / span % m == a / span % m && way[k] != 0;
        }
        if (apart == 1 && aside)
            continue;
        n_best = length < best ? 0 : n_best;
        best = length < best ? length : best;
        for (int32_t k = 0; k < n && length == best; k++)
            found[n_best][k] = way[k];
        n_best += length == best;
    }
    for (int32_t k = 0; k < n; k++)
        steps[k] = found[pick % n_best][k];
}

static int torus_walk(const struct topo_dim *dim, int64_t a, const int64_t *steps, void *x,
                      int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e)
{
    int rc = 0;
    /* Arcs lead from the lower number to the higher. */
    for (int32_t k = 0; k < dim->n_levels; k++)
        for (int64_t left = steps[k]; left != 0 && !rc; left += left > 0 ? -1 : 1) {
            int64_t next = torus_next(dim, a, k, left > 0);
            rc = step(x, torus_link(dim, left > 0 ? a : next, k), next < a, e);
            a = next;
        }
    return rc;
}

static int torus_way(const struct topo_dim *dim, int64_t a, int64_t b, int32_t other, void *x,
                     int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e)
{
    int64_t steps[TOPO_LEVELS] = { 0 };
    if (dim->fabric.twist)
        torus_twisted_offset(dim, a, b, other, steps);
    else
        torus_offset(dim, a, b, other > 0, steps);
    return torus_walk(dim, a, steps, x, step, e);
}

static enum shape_lanes torus_lanes(const struct topo_dim *level)
{
    return torus_is_twisted(level - level->level, level->level) ? SHAPE_SWEEP : SHAPE_BOTH;
}

/* Along axis @p k alone, as a ring of that size has it. */
static double torus_axis_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                              int32_t k, int32_t members, int32_t stride)
{
    struct topo_dim ring = { .shape = TOPO_RING, .size = dim[k].size, .n_levels = 1 };
    struct shape_group g = { .n = members, .members = { members }, .stride = { stride } };
    if (torus_is_twisted(dim, k)) {
        shape_line_load(out, pattern, members, stride);
        return 2 * out->load[0];
    }
    topo_shapes[TOPO_RING]->load(out, pattern, &ring, &g);
    return out->load[0];
}

static bool torus_is_whole(const struct topo_dim *dim, const struct shape_group *g)
{
    for (int32_t k = 0; k < dim->n_levels; k++)
        if (g->members[k] != dim[k].size)
            return false;
    return true;
}

/* The axis along which member @p i of its group sends to the next, back at the first members of those before;
 * -1: it is the last. */
static int32_t torus_send_axis(const struct topo_dim *dim, const struct shape_group *g, int64_t i)
{
    for (int32_t k = 0; k < dim->n_levels; k++) {
        int64_t at = i / torus_span(dim, k) % dim[k].size;
        if (at / shape_stride(g, k) % g->members[k] < g->members[k] - 1)
            return k;
    }
    return -1;
}

static int torus_count_step(void *x, int64_t link, bool back, struct err *e)
{
    double *passes = x;
    (void)e;
    passes[2 * link + back]++;
    return 0;
}

/* Sends to the next over a twisted torus, whose wraps shorten some ways, are counted. All that go on along
 * one axis go as far, and so the same way. For lack of memory loads are those of the axes. */
static void torus_count_sends(struct shape_load *out, const struct topo_dim *dim, const struct shape_group *g)
{
    int64_t n = topo_group_size(dim), last = 0, steps[TOPO_LEVELS][2][TOPO_LEVELS] = { 0 };
    int32_t halves = shape_has_two_ways(dim, g) ? 2 : 1;
    double *sent = calloc(2 * (size_t)torus_first_link(dim, dim->n_levels), sizeof *sent);
    out->hops = sent ? 0 : out->hops;
    for (int32_t k = 0; k < dim->n_levels && sent; k++) {
        int64_t next = shape_stride(g, k) * torus_span(dim, k);
        for (int32_t h = 0; h < halves && g->members[k] > 1; h++) {
            double hops = 0;
            torus_twisted_offset(dim, last, next, h ? SHAPE_WOUND : SHAPE_STRAIGHT, steps[k][h]);
            for (int32_t i = 0; i < dim->n_levels; i++)
                hops += (double)llabs(steps[k][h][i]);
            out->hops = hops > out->hops ? hops : out->hops;
        }
        last += (g->members[k] - 1) * next;
    }
    for (int64_t i = 0; i < n && sent; i++) {
        int32_t axis = torus_send_axis(dim, g, i);
        for (int32_t h = 0; h < halves && axis >= 0; h++)
            torus_walk(dim, i, steps[axis][h], sent, torus_count_step, NULL);
    }
    for (int32_t k = 0; k < dim->n_levels && sent; k++) {
        out->load[k] = 0;
        for (int64_t i = 2 * torus_first_link(dim, k); i < 2 * torus_first_link(dim, k + 1); i++)
            out->load[k] = fmax(out->load[k], sent[i] / halves * torus_ways(dim, k));
    }
    free(sent);
}

static void torus_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                       const struct shape_group *g)
{
    struct shape_load axis;
    *out = (struct shape_load){ 0 };
    for (int32_t k = 0; k < dim->n_levels; k++) {
        int32_t members = g->flat ? g->members[k] : k == g->level ? g->n : 1;
        if (members < 2)
            continue;
        out->load[k] = torus_axis_load(&axis, pattern, dim, k, members, shape_stride(g, k));
        out->hops += axis.hops;
    }
    if (g->flat && dim->fabric.twist && pattern == SHAPE_SEND)
        torus_count_sends(out, dim, g);
    if (g->flat && dim->fabric.twist && pattern == SHAPE_DIRECT && torus_is_whole(dim, g)) {
        double sum;
        int64_t longest;
        torus_twisted(dim, &sum, &longest, NULL);
        out->hops = (double)longest;
        for (int32_t k = 0; k < dim->n_levels; k++) /* two links of B/2 */
            out->load[k] = sum / (double)topo_group_size(dim) / dim->n_levels;
    }
}

/* ---- parts ---- */

/* Of each axis three links of four are inside a cube. */
static int torus_parts(struct topo_items *out, const struct topo_site *at, struct err *e)
{
    int32_t level = at->net->dims[at->d].level;
    const struct topo_dim *dim = &at->net->dims[at->d - level];
    const struct topo_part *parts = at->parts->parts;
    const struct topo_recipe *r = at->recipe;
    if (!dim->fabric.ocs) {
        topo_add_direct(out, at);
        return 0;
    }
    if (r->up_link < 0 || r->sw < 0 || parts[r->sw].ports < 2)
        return err_set(e, ERR_RANGE,
                       "tier \"%s\" is built without %s, expected %s: a torus of cubes that ocs joins",
                       r->tier, r->up_link < 0 ? "up_link" : "boxes of a switch",
                       r->up_link < 0 ? "the optical link" : "the optical circuit switch");
    bool whole = at->bw_Bps;
    double link_Bps = torus_link_Bps(dim, level, whole ? topo_site_bw_Bps(at) : 1),
           npus = (double)at->net->n_npus;
    double cables = link_Bps / topo_site_link_Bps(at);
    cables = whole ? topo_whole_parts(cables) : cables;
    double optical_links = npus / OCS_CUBE * cables, boxes = 2 * optical_links / (double)parts[r->sw].ports;
    boxes = whole ? ceil(boxes) : boxes;
    if (r->nic >= 0) {
        double ports[TOPO_LEVELS + 1] = { 0 }; /* of the axes before each one */
        for (int32_t k = 0; k <= level && whole; k++)
            ports[k + 1] =
                ports[k] +
                torus_ways(dim, k) * topo_whole_parts(torus_link_Bps(dim, k, at->bw_Bps[at->d - level + k]) /
                                                      topo_site_port_Bps(at));
        if (whole)
            topo_add_axis_nics(out, at, ports[level], ports[level + 1] - ports[level]);
        else
            topo_add_item(out, r->nic, NULL,
                          npus * torus_ways(dim, level) * link_Bps / topo_site_port_Bps(at) /
                              (double)parts[r->nic].ports);
    }
    /* A ring that lost a link is a line, with half of its bandwidth; a switch joins the ends of many. */
    const struct topo_loss link = { 2, 1, 0.5, false, TOPO_BY_DETOURS },
                           ocs = { (double)parts[r->sw].ports, 1, 0.5, false, TOPO_BY_DETOURS };
    topo_add_failing(out, r->end_link, "copper link", npus * (OCS_CUBE - 1) / OCS_CUBE * cables, &link);
    topo_add_failing(out, r->up_link, "optical link", optical_links, &link);
    topo_add_failing(out, r->sw, "OCS", boxes, &ocs);
    out->boxes = whole ? (int64_t)boxes : 0;
    return 0;
}

const struct shape_ops shape_torus = {
    .algorithms = 1u << TOPO_ALGORITHM_MIXED | 1u << TOPO_ALGORITHM_FIXED,
    .mixed = true,
    .lanes = SHAPE_BOTH,
    .reach = 1,
    .hop_share = 1,
    .own_keys = SHAPE_KEY_SIZES | SHAPE_KEY_TWIST | SHAPE_KEY_OCS,
    .settle = torus_settle,
    .counts = torus_counts,
    .axes = torus_axes,
    .distances = torus_distances,
    .link_Bps = torus_link_Bps,
    .spheres = torus_spheres,
    .edges = torus_edges,
    .way = torus_way,
    .usual = TOPO_ALGORITHM_RING,
    .lanes_along = torus_lanes,
    .load = torus_load,
    .parts = torus_parts,
};
