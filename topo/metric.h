/** @file The structure of a network in numbers: links, degree, hops, bisection, edge connectivity. */
#ifndef TOPO_METRIC_H
#define TOPO_METRIC_H

#include "topo/network.h"

/** Distances are between NPUs, in links passed: a step through a switch counts 2. */
struct topo_metrics {
    int64_t n_npus;
    int64_t n_switches;    /**< a switch vertex per group of a switch dimension */
    int64_t n_links;       /**< full-duplex */
    int64_t n_spare_ports; /**< for links between groups, without one: some published counts take them too */
    int64_t npu_degree_min, npu_degree_max; /**< links at one NPU */
    bool connected;                         /**< always, for a described network */
    int64_t diameter_hops;                  /**< -1 when not connected */
    double mean_hops;  /**< over ordered pairs of different NPUs; INFINITY when not connected */
    bool hops_sampled; /**< large graph, some sources: diameter a lower bound, mean an estimate */
    /**
     * Least capacity [B/s], one direction, between floor(N/2) NPUs and the others, every switch on the side
     * where that cuts less, of the halves that topo/halves.h finds. NaN when a bandwidth is not chosen, or
     * the graph is too large for it.
     */
    double bisection_Bps;
    int32_t bisection_dim;   /**< dimension halved (0-based, the innermost of equals), -1 = none known */
    bool bisection_is_bound; /**< an upper bound: other halves may have less between them. Always of a custom
                                  graph, whose halves are those by NPU order */
    int64_t edge_connectivity; /**< least number of links whose loss disconnects it; -1 = not computed */
};

/**
 * Metrics of @p net, at bandwidths that may be unknown, in closed form, O(n_dims) but for what distances,
 * cuts and loads of routers take.
 *
 * Distance: sum of the dimensions' distances. Bisection: topo/halves.h. Edge connectivity: the least of the
 * links at the NPU that has fewest, the members of the smallest switch, and N/n_d times the connectivity of
 * dimension d, for every d. For two factors without switches that is a theorem (J.-M. Xu, C. Yang,
 * Connectivity of Cartesian product graphs, Discrete Mathematics 306, 2006); the general case rests on tests
 * against igraph's minimum cut on random networks.
 */
void topo_metrics(struct topo_metrics *m, const struct topo_network *net);

/** topo_metrics.n_spare_ports of a described network; its graph does not show them. */
int64_t topo_spare_ports(const struct topo_network *net);

#endif
