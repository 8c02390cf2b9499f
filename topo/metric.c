/*
 * Metrics in closed form: a described network is the product of its dimensions, so counts and distances are
 * sums over them. A spine that rails share joins the dimensions before it too, so that these together
 * are no product: distances, bisection and connectivity have a case for it.
 */
#include "topo/metric.h"

#include <math.h>

#include "topo/clos.h"
#include "topo/halves.h"
#include "topo/shape.h"

static int64_t min_count(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int64_t topo_spare_ports(const struct topo_network *net)
{
    int64_t spare = 0;
    for (int32_t d = 0; d < net->n_dims; d = topo_after_entry(net->dims, d)) {
        struct shape_counts c;
        topo_ops(&net->dims[d])->counts(&c, &net->dims[d]);
        spare += topo_link_groups(net, d) * c.spare;
    }
    return spare;
}

static void count_parts(struct topo_metrics *m, const struct topo_network *net)
{
    for (int32_t d = 0; d < net->n_dims; d = topo_after_entry(net->dims, d)) {
        const struct topo_dim *dim = &net->dims[d];
        int64_t groups = topo_link_groups(net, d);
        struct shape_counts c;
        topo_ops(dim)->counts(&c, dim);
        m->n_links += groups * topo_dim_links(dim); /* at most 2^30 * 2^23 */
        m->n_switches += groups * c.hubs;
        m->npu_degree_min += c.degree_min * topo_planes(dim);
        m->npu_degree_max += c.degree_max * topo_planes(dim);
    }
}

/* Links between two members of a node that differ in the dimensions of @p differ, bits: dimensions of their
 * own add up, of a tree (the one fabric that a node may have) the highest level counts. */
static int64_t hops_in_node(const struct topo_network *net, int32_t shared, uint32_t differ)
{
    int64_t hops = 0;
    for (int32_t d = 0; d < shared; d = topo_after_entry(net->dims, d)) {
        const struct topo_dim *dim = &net->dims[d];
        double sum;
        int64_t far = 0;
        for (int32_t k = 0; k < topo_after_entry(net->dims, d) - d; k++)
            if (differ >> (d + k) & 1 && topo_is_fabric(dim))
                far = 2 * ((int64_t)k + 1);
            else if (differ >> (d + k) & 1)
                topo_ops(dim)->distances(dim, &sum, &far);
        hops += far;
    }
    return hops;
}

/*
 * Mean distance over all ordered pairs up to the entry at @p shared, an NPU with itself included. A pair is
 * told by the dimensions of the node in which it differs, D links in all, A links in those of them that tell
 * its rails apart, and the level of the tree at which its nodes meet: in a node min(D, A + 2, 4) links, for a
 * leaf joins the NPUs of a rail, and a spine the rails; below one leaf min(A + 2, 4); else up to the level.
 * Members of a dimension are equally far from each other (settle_rails()).
 */
static double hops_over_rails(const struct topo_network *net, int32_t shared, int64_t *longest)
{
    const struct topo_dim *tree = &net->dims[shared];
    double mean = 0, nodes = (double)topo_group_size(tree);
    for (uint32_t differ = 0; differ < 1u << shared; differ++)
        /* Of them those in which the rails differ too. */
        for (uint32_t rails = differ;; rails = (rails - 1) & differ) {
            double share = 1;
            for (int32_t d = 0; d < shared; d++) {
                double n = net->dims[d].size, mates = n / topo_rails_along(net, shared, d);
                share *= (rails >> d & 1 ? n - mates : differ >> d & 1 ? mates - 1 : 1) / n;
            }
            int64_t inside = hops_in_node(net, shared, differ), apart = hops_in_node(net, shared, rails);
            for (int32_t k = -1; k < tree->n_levels && share > 0; k++) {
                double pairs =
                    topo_tree_pairs(tree, k + 1) / nodes - (k < 0 ? 0 : topo_tree_pairs(tree, k) / nodes);
                int64_t hops = 2 * ((int64_t)k + 1);
                if (k < 1)
                    hops = min_count(min_count(apart + 2, 4), k < 0 ? inside : INT64_MAX);
                mean += share * (pairs / nodes) * (double)hops;
                if (pairs > 0 && hops > *longest)
                    *longest = hops;
            }
            if (!rails)
                break;
        }
    return mean;
}

static void measure_hops(struct topo_metrics *m, const struct topo_network *net)
{
    double n = (double)net->n_npus;
    double with_self = 0; /* mean over all ordered pairs, an NPU with itself included: there entries add up */
    int32_t shared = topo_shared_spine(net);
    if (shared >= 0)
        with_self = hops_over_rails(net, shared, &m->diameter_hops);
    for (int32_t d = shared < 0 ? 0 : topo_after_entry(net->dims, shared); d < net->n_dims;
         d = topo_after_entry(net->dims, d)) {
        const struct topo_dim *dim = &net->dims[d];
        double size = (double)topo_group_size(dim);
        double sum;
        int64_t longest;
        topo_ops(dim)->distances(dim, &sum, &longest);
        m->diameter_hops += longest;
        with_self += sum / (size * size);
    }
    m->mean_hops = with_self * (n / (n - 1));
}

static void bisect(struct topo_metrics *m, const struct topo_network *net)
{
    struct topo_halves halves[TOPO_MAX_DIMS];
    m->bisection_Bps = (double)NAN;
    m->bisection_dim = -1;
    if (!topo_has_bandwidths(net))
        return;
    int32_t n = topo_find_halves(halves, net);
    for (int32_t i = 0; i < n; i++) {
        if (i > 0 && halves[i].cut_Bps >= m->bisection_Bps)
            continue;
        m->bisection_Bps = halves[i].cut_Bps;
        m->bisection_dim = halves[i].dim;
    }
    m->bisection_is_bound = n > 0 && m->bisection_Bps > topo_halves_floor(net) * (1 + TOPO_HALVES_REL);
}

/* Is each member of the entry at @p d, in a node, on rails that no other of its members is on? */
static bool has_own_rails(const struct topo_network *net, int32_t shared, int32_t d)
{
    bool own = true;
    for (int32_t k = d; k < topo_after_entry(net->dims, d); k++)
        own = own && topo_rails_along(net, shared, k) == net->dims[k].size;
    return own;
}

static int64_t edge_connectivity(const struct topo_network *net, int64_t npu_degree_min)
{
    int64_t least = npu_degree_min, spine = 0;
    int32_t shared = topo_shared_spine(net);
    if (shared >= 0)
        spine = min_count(topo_class_links(net, shared), topo_class_links(net, shared + 1));
    for (int32_t d = 0; d < net->n_dims; d = topo_after_entry(net->dims, d)) {
        const struct topo_dim *dim = &net->dims[d];
        struct shape_counts c;
        topo_ops(dim)->counts(&c, dim);
        if (c.hubs)
            least = min_count(least, c.hub_degree_min);
        int64_t parts_one = net->n_npus / topo_group_size(dim) * c.connectivity * topo_planes(dim);
        if (d < shared) /* the spine still joins what the dimension does not */
            parts_one += (has_own_rails(net, shared, d) ? spine : topo_class_links(net, shared)) /
                         topo_group_size(dim);
        least = min_count(least, parts_one);
    }
    return least;
}

void topo_metrics(struct topo_metrics *m, const struct topo_network *net)
{
    *m = (struct topo_metrics){ .n_npus = net->n_npus, .connected = true };
    count_parts(m, net);
    m->n_spare_ports = topo_spare_ports(net);
    measure_hops(m, net);
    bisect(m, net);
    m->edge_connectivity = edge_connectivity(net, m->npu_degree_min);
}
