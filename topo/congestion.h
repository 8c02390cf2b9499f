/** @file Least congestion of flows over paths, by an interior-point method that takes in paths as it goes. */
#ifndef TOPO_CONGESTION_H
#define TOPO_CONGESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/**
 * Minimise theta so that every flow k carries demand_k over its paths and link l at most theta * capacity_l.
 * Dual: lengths y >= 0 of links, sum of capacity * y one, that make the sum of demand_k times the length of
 * the shortest path of k greatest. Opaque; one thread at a time. Release with congestion_free().
 *
 *     congestion_build(), congestion_add() for each flow, congestion_begin(), then in turns
 *     congestion_step() and congestion_add() of paths shorter than those that are known.
 */
struct congestion;

/** @p demand: shape [n_flows], > 0, copied. ERR_NOMEM. Memory: 8 n_links^2 bytes, 100 a path, 4 a hop. */
int congestion_build(struct congestion **out, int32_t n_links, int32_t n_flows, const double *demand,
                     struct err *e);
void congestion_free(struct congestion *x); /**< NULL is fine */

/**
 * One more path of @p flow, over @p n links; a link that is named twice is loaded twice. During steps it
 * begins with a small share of its flow. ERR_NOMEM, ERR_RANGE (2^31 hops in all). O(paths of the flow).
 */
int congestion_add(struct congestion *x, int32_t flow, int32_t n, const int32_t *links, struct err *e);

/** Begin at lengths @p y > 0 with @p capacity, both of shape [n_links]. A link of capacity 0 is closed: paths
 * over it are dropped, of its length nothing is said. Every flow has a path that is open. */
void congestion_begin(struct congestion *x, const double *capacity, const double *y);

/**
 * One step towards the optimum over the paths that are known; forgets paths that carry next to nothing.
 * False: rounding allows no further step, nothing has changed. O(n_links^3 + hops * hops of a path).
 */
bool congestion_step(struct congestion *x);

/** Lengths as they are now, shape [n_links], capacity . y = 1; borrowed, changed by the next step. */
const double *congestion_lengths(const struct congestion *x);

/** Length of the shortest known path of a flow at lengths @p y, shape [n_links]; INFINITY without one. O(hops
 * of its paths). */
double congestion_shortest(const struct congestion *x, int32_t flow, const double *y);

/** Loads by a sharing that carries every demand, shape [n_links], borrowed. @p worst: the greatest load over
 * capacity, no less than the least theta over any paths. */
const double *congestion_loads(double *worst, struct congestion *x);

#endif
