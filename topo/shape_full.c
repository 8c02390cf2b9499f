/*
 * Full mesh: every member is joined to every other, by links of B/(n-1). Links in the order of pairs (0,1),
 * (0,2), ..., (1,2), ...
 */
#include "topo/shape.h"

static void full_counts(struct shape_counts *c, const struct topo_dim *dim)
{
    int64_t n = dim->size;
    *c = (struct shape_counts){
        .n_classes = 1,
        .links = { n * (n - 1) / 2 },
        .degree_max = n - 1,
        .degree_min = n - 1,
        .cut = { (n / 2) * (n - n / 2) },
        .connectivity = n - 1,
        .ports = n - 1,
    };
}

static void full_distances(const struct topo_dim *dim, double *sum, int64_t *longest)
{
    double x = dim->size;
    *sum = x * (x - 1);
    *longest = 1;
}

static double full_link_Bps(const struct topo_dim *dim, int32_t cls, double bw_Bps)
{
    (void)cls;
    return bw_Bps / (double)(dim->size - 1);
}

static void full_edges(const struct topo_dim *dim, void *x, void (*link)(void *x, int64_t a, int64_t b))
{
    int64_t n = dim->size;
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = a + 1; b < n; b++)
            link(x, a, b);
}

static int full_way(const struct topo_dim *dim, int64_t a, int64_t b, int32_t other, void *x,
                    int (*step)(void *x, int64_t link, bool back, struct err *e), struct err *e)
{
    int64_t n = dim->size, low = a < b ? a : b, high = a < b ? b : a;
    (void)other;
    /* Before (low, low + 1) come low rows of n-1, n-2, ... */
    return a == b ? 0 : step(x, low * (2 * n - low - 1) / 2 + high - low - 1, a > b, e);
}

/*
 * k of n members. Direct: S/k to each of the others on a link of B/(n-1), (n-1)/(k-1) times what the whole
 * mesh would take. With detours each pair also uses the n-k members outside, by two links: of its bytes
 * 2(k-1)/(n+k-2) go by its own link and 1/(n+k-2) through each of those; then all links carry the same.
 * All but direct exchanges use one of the n-1 links that a member has at a time.
 */
static void full_load(struct shape_load *out, enum shape_pattern pattern, const struct topo_dim *dim,
                      const struct shape_group *g)
{
    double n = dim->size, k = g->n;
    shape_port_load(out, pattern, g->n);
    if (pattern != SHAPE_DIRECT) {
        out->load[0] *= n - 1;
    } else if (g->detour && k < n) {
        out->hops = 2;
        out->load[0] *= 2 * (n - 1) / (n + k - 2);
    } else {
        out->load[0] *= (n - 1) / (k - 1);
    }
}

const struct shape_ops shape_full = {
    .algorithms = 1u << TOPO_ALGORITHM_BRUCK,
    .factored = true,
    .own_keys = SHAPE_KEY_DETOUR,
    .lanes = SHAPE_ONE,
    .reach = 1,
    .hop_share = 1,
    .counts = full_counts,
    .distances = full_distances,
    .link_Bps = full_link_Bps,
    .edges = full_edges,
    .way = full_way,
    .usual = TOPO_ALGORITHM_DIRECT,
    .load = full_load,
};
