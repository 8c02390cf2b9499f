/** @file How many copies of a token leave for its experts, where copies for one place travel merged. */
#ifndef WORKLOADS_DISPATCH_H
#define WORKLOADS_DISPATCH_H

#include "topo/network.h"

/** Who chooses what: @p top_k of the experts of so many nodes, or groups, both drawn evenly. */
struct dispatch {
    double experts, top_k; /**< whole; top_k <= experts */
    double limit;          /**< nodes that hold the experts of a token, at most; 0: all */
    double groups;         /**< parts of the experts that are limited in place of nodes; 0: nodes */
};

/**
 * Of @p places that hold experts / places experts each, how many a token's experts are in, in the mean. With
 * M = @p nodes, of which G = min(limit, M) are drawn, and then top_k of their G E/M experts,
 *
 *     places x P(a place is hit),   P = sum_j h(j) (1 - prod_{i<k} (1 - j e/(G E/M - i)))
 *
 * h(j): j of the nodes of a place are among the G drawn (hypergeometric), e experts of a node; of a place
 * inside a node j is 0 or 1 and e its own experts. Exact for even routing. A limit that holds fewer than
 * top_k experts counts as the least that does.
 *
 * @param nodes, places  >= 1, divisors of experts, one a multiple of the other.
 * @return 1 to min(places, top_k). O(top_k * nodes of a place).
 */
double dispatch_places(const struct dispatch *x, double nodes, double places);

/**
 * What each dimension carries of an all-to-all with a copy for each expert, over @p members (shape [n_dims]):
 * one copy goes to each place that a dimension tells apart, and is passed on from there. Dimensions of a
 * fabric are one step; what the first one with members joins is a node. Where groups and places do not divide
 * each other evenly, the limit is left out there.
 *
 * @param[out] share  shape [TOPO_MAX_DIMS], (0, 1]; 1 beyond the network's dimensions.
 * @return nodes of the group, 1 where it lies in one.
 */
int64_t dispatch_share(double *share, const struct dispatch *x, const int32_t *members,
                       const struct topo_network *net);

#endif
