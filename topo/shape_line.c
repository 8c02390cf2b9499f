/*
 * Line: a ring without the wrap. Links of half a member's bandwidth, so that at the ends half of it has no
 * link; of two members one link of all of it. Link i joins members i and i+1.
 */
#include "topo/shape.h"

static void line_counts(struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t n = dim->size;
    *c = (struct shape_counts){
        .n_classes = 1,
        .links = { n - 1 },
        .degree_max = n == 2 ? 1 : 2,
        .degree_min = 1,
        .cut = { 1 },
        .connectivity = 1,
        .ports = n == 2 ? 1 : 2,
    };
}

/* Distance k occurs 2(n-k) times. */
static void line_distances(const struct topo_dim *dim, double *sum, int64_t *longest)
{
    double x = dim->size;
    *sum = (x * x * x - x) / 3;
    *longest = dim->size - 1;
}

static double line_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    (void)cls;
    return bw_Bps / (dim->size == 2 ? 1 : 2);
}

static void line_edges(const struct topo_dim *dim, void *x, void (*link)(void *x, int64_t a, int64_t b))
{
    int64_t n = dim->size;
    for (int64_t a = 0; a + 1 < n; a++)
        link(x, a, a + 1);
}

static int line_way(const struct topo_dim *dim, int64_t a, int64_t b, int32_t other, void *x,
                    int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e)
{
    int rc = 0;
    (void)dim, (void)other;
    for (; a < b && !rc; a++)
        rc = step(x, a, false, e);
    for (; a > b && !rc; a--)
        rc = step(x, a - 1, true, e);
    return rc;
}

/* Loads count `reach`, the half of the bandwidth that a member at the end has a link for. */
static void line_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                      const struct shape_group *g)
{
    (void)dim;
    shape_line_load(out, pattern, g->n, shape_stride(g, 0));
}

const struct shape_ops shape_line = {
    .lanes = SHAPE_SWEEP,
    .reach = 0.5,
    .hop_share = 1,
    .counts = line_counts,
    .distances = line_distances,
    .link_Bps = line_link_Bps,
    .edges = line_edges,
    .way = line_way,
    .usual = TOPO_ALGORITHM_RING,
    .load = line_load,
};
