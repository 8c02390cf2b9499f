/** @file Bisection of a described network: halves of its NPUs that little bandwidth joins, and what joins any
 * two halves at least. */
#ifndef TOPO_HALVES_H
#define TOPO_HALVES_H

#include "topo/network.h"

/** Two halves: the first floor(N/2) NPUs, and the others, when addresses are read in some order. */
struct topo_halves {
    double cut_Bps;               /**< between them, one direction, switches on the better side */
    int32_t order[TOPO_MAX_DIMS]; /**< shape [n_dims]: dimensions, the most significant first */
    int32_t dim;                  /**< halved: the innermost of those that are cut first together */
    bool counted;                 /**< exactly that; else at most */
};

/**
 * The best halves that begin with each axis of @p net (see topo/halves.c), axes from the innermost on; every
 * dimension has its bandwidth. Returns how many there are. O(2^n_dims), and what the shapes' cuts take.
 */
int32_t topo_find_halves(struct topo_halves out[TOPO_MAX_DIMS], const struct topo_network *net);

/** What joins any floor(N/2) NPUs to the others, at least [B/s]. */
double topo_halves_floor(const struct topo_network *net);

/** Is NPU @p npu in the first half? */
bool topo_in_first_half(const struct topo_halves *h, const struct topo_network *net, int64_t npu);

/** A cut this little above the floor is the least: rounding. */
#define TOPO_HALVES_REL 1e-9

#endif
