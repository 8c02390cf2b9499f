#include "topo/metric.h"

#include <math.h>

static int64_t min_count(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void count_parts(struct topo_metrics *m, const struct topo_network *net)
{
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        int64_t groups = net->n_npus / dim->size;
        struct shape_counts c;
        topo_ops(dim)->counts(&c, dim->size);
        m->n_links += groups * topo_dim_links(dim); /* at most 2^30 * 2^23 */
        m->n_switches += groups * c.hubs;
        m->npu_degree_min += c.degree_min;
        m->npu_degree_max += c.degree_max;
    }
}

static void measure_hops(struct topo_metrics *m, const struct topo_network *net)
{
    double n = (double)net->n_npus;
    double with_self = 0; /* mean over all ordered pairs, an NPU with itself included: there dimensions add */
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        struct shape_counts c;
        topo_ops(dim)->counts(&c, dim->size);
        m->diameter_hops += c.diameter;
        with_self += topo_ops(dim)->distance_sum(dim->size) / ((double)dim->size * dim->size);
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
        struct shape_counts c;
        double cut_Bps = 0;
        topo_ops(dim)->counts(&c, dim->size);
        for (int32_t i = 0; i < c.n_classes; i++) {
            double links = (double)net->n_npus / dim->size * (double)c.cut[i];
            cut_Bps += links * topo_ops(dim)->link_Bps(dim->size, i, bw_Bps[d]);
        }
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
        struct shape_counts c;
        topo_ops(dim)->counts(&c, dim->size);
        if (c.hubs)
            least = min_count(least, c.hub_degree_min);
        least = min_count(least, net->n_npus / dim->size * c.connectivity);
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
