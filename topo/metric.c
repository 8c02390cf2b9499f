#include "topo/metric.h"

#include <math.h>

#include "topo/shape.h"

static int64_t min_count(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void count_parts(struct topo_metrics *m, const struct topo_network *net)
{
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        int64_t groups = net->n_npus / dim->size;
        m->n_links += groups * topo_shape_links(dim->shape, dim->size); /* at most 2^30 * 2^23 */
        m->n_switches += dim->shape == TOPO_SWITCH ? groups : 0;
        m->npu_degree_min += topo_shape_degree_min(dim->shape, dim->size);
        m->npu_degree_max += topo_shape_degree_max(dim->shape, dim->size);
    }
}

static void measure_hops(struct topo_metrics *m, const struct topo_network *net)
{
    double n = (double)net->n_npus;
    double with_self = 0; /* mean over all ordered pairs, an NPU with itself included: there dimensions add */
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        m->diameter_hops += topo_shape_diameter(dim->shape, dim->size);
        with_self += topo_shape_distance_sum(dim->shape, dim->size) / ((double)dim->size * dim->size);
    }
    m->mean_hops = with_self * (n / (n - 1));
}

static void bisect(struct topo_metrics *m, const struct topo_network *net, const double *bw_Bps)
{
    bool even_only = false, known = true;
    for (int32_t d = 0; d < net->n_dims; d++) {
        even_only = even_only || net->dims[d].size % 2 == 0;
        known = known && !isnan(bw_Bps[d]);
    }
    m->bisection_Bps = known ? INFINITY : (double)NAN;
    m->bisection_dim = -1;
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        if (even_only && dim->size % 2)
            continue;
        double links =
            (double)net->n_npus / dim->size * (double)topo_shape_halving_links(dim->shape, dim->size);
        double cut_Bps = links * topo_shape_link_bw(dim->shape, dim->size, bw_Bps[d]);
        if (cut_Bps < m->bisection_Bps) {
            m->bisection_Bps = cut_Bps;
            m->bisection_dim = d;
        }
    }
}

static int64_t edge_connectivity(const struct topo_network *net, int64_t npu_degree_min)
{
    int64_t least = npu_degree_min;
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        if (dim->shape == TOPO_SWITCH)
            least = min_count(least, dim->size);
        least = min_count(least, net->n_npus / dim->size * topo_shape_connectivity(dim->shape, dim->size));
    }
    return least;
}

void topo_metrics(struct topo_metrics *m, const struct topo_network *net, const double *bw_Bps)
{
    *m = (struct topo_metrics){ .n_npus = net->n_npus, .connected = true };
    count_parts(m, net);
    measure_hops(m, net);
    bisect(m, net, bw_Bps);
    m->edge_connectivity = edge_connectivity(net, m->npu_degree_min);
}
