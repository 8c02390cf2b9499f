/*
 * Ring: member i is joined to i+1, the last to the first; of two members there is one link. A member's two
 * links have half of its bandwidth each. Link i joins i and i+1, link n-1 the last member and member 0.
 */
#include <math.h>

#include "base/num.h"
#include "topo/shape.h"

static void ring_counts(struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t n = dim->size;
    int64_t ways = n == 2 ? 1 : 2;
    *c = (struct shape_counts){
        .n_classes = 1,
        .links = { n == 2 ? 1 : n },
        .degree_max = ways,
        .degree_min = ways,
        .cut = { ways },
        .connectivity = ways,
        .ports = ways,
    };
}

static void ring_distances(const struct topo_dim *dim, double *sum, int64_t *longest)
{
    double x = dim->size;
    *sum = x * floor(x * x / 4);
    *longest = dim->size / 2;
}

static double ring_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    (void)cls;
    return bw_Bps / (dim->size == 2 ? 1 : 2);
}

static void ring_edges(const struct topo_dim *dim, void *x, void (*link)(void *x, int64_t a, int64_t b))
{
    int64_t n = dim->size;
    for (int64_t a = 0; a + 1 < n; a++)
        link(x, a, a + 1);
    if (n > 2) /* of two members the wrap would double the link */
        link(x, n - 1, 0);
}

static int ring_way(const struct topo_dim *dim, int64_t a, int64_t b, int32_t other, void *x,
                    int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e)
{
    int64_t n = dim->size, ahead = b - a;
    int rc = 0;
    if (n > 2) {
        ahead = ahead < 0 ? ahead + n : ahead;
        if (2 * ahead > n || (2 * ahead == n && other))
            ahead -= n;
    }
    /* Arcs lead from the lower number to the higher: over the wrap they go against it. */
    for (; ahead > 0 && !rc; ahead--, a = a + 1 < n ? a + 1 : 0)
        rc = step(x, a, a == n - 1, e);
    for (; ahead < 0 && !rc; ahead++, a = a > 0 ? a - 1 : n - 1)
        rc = step(x, a > 0 ? a - 1 : n - 1, a != 0, e);
    return rc;
}

/*
 * k of n members, a stride of s apart. Where they lie evenly round the whole ring, k s = n, s groups share
 * each link and each goes both ways. Direct: k^2/8 (even k) or (k^2-1)/8 messages of S/k pass each link and
 * direction, of B/2. Halving: the 2^(i-1) messages that overlap on a link in step i make up S/2 each time.
 * Any other part is a line of links of B/2.
 */
static void ring_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                      const struct shape_group *g)
{
    int32_t k = g->n, s = shape_stride(g, 0);
    if ((int64_t)k * s < dim->size) {
        shape_line_load(out, pattern, k, s);
        out->load[0] *= 2;
        return;
    }
    shape_port_load(out, pattern, k);
    double x = k, whole = k % 2 ? x * x - 1 : x * x;
    if (dim->size == 2)
        return;
    if (pattern == SHAPE_SEND) { /* one of its links; half by each where both ways are as long */
        out->load[0] = k == 2 && s > 1 ? 1 : 2;
    } else if (pattern == SHAPE_DIRECT) {
        out->hops = k / 2; // NOLINT(bugprone-integer-division): whole hops
        out->load[0] = whole / (4 * x);
    } else if (pattern == SHAPE_HALVING) {
        out->load[0] = num_log2_up(k);
        out->hops = 0;
        for (int32_t far = 1; far < k; far *= 2)
            out->hops += far > k - far ? k - far : far;
    }
    out->hops *= s;
    out->load[0] *= s;
}

const struct shape_ops shape_ring = {
    .factored = true,
    .lanes = SHAPE_BOTH,
    .reach = 1,
    .hop_share = 1,
    .counts = ring_counts,
    .distances = ring_distances,
    .link_Bps = ring_link_Bps,
    .edges = ring_edges,
    .way = ring_way,
    .usual = TOPO_ALGORITHM_RING,
    .load = ring_load,
};
