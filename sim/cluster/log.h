/** @file Bytes on links over time, in bins that widen as time goes on: no end need be known. */
#ifndef SIM_CLUSTER_LOG_H
#define SIM_CLUSTER_LOG_H

#include <stdint.h>

#include "base/err.h"

/** Release with link_bins_free(). */
struct link_bins {
    int32_t n_arcs, n_bins;
    double from_s, width_s; /**< bin k is from_s + k * width_s to from_s + (k + 1) * width_s */
    double *bytes;          /**< shape [n_bins][n_arcs], owned */
};

/** Empty bins from @p from_s on, of a width that is doubled, two bins becoming one, whenever time goes beyond
 * the last. @p n_bins even, @p width_s > 0. ERR_NOMEM. */
int link_bins_build(struct link_bins *b, int32_t n_arcs, int32_t n_bins, double from_s, double width_s,
                    struct err *e);
void link_bins_free(struct link_bins *b);

/** @p bytes pass @p arc between @p from_s and @p to_s, evenly; from_s >= b->from_s. O(bins between). */
void link_bins_add(struct link_bins *b, int32_t arc, double bytes, double from_s, double to_s);

#endif
