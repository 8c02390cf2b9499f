/** @file How many workers and parameter servers finish a job soonest within its limit. */
#ifndef SIM_INTERVAL_SMD_INNER_H
#define SIM_INTERVAL_SMD_INNER_H

#include "sim/interval/smd_job.h"

struct smd_point {
    double w, p;  /**< >= 1 */
    double jct_s; /**< smd_jct_s() there */
};

struct smd_grid {
    struct smd_point point;
    double bound_s; /**< no point of the limit, whole or not, is faster: point.jct_s / (1 + eps) or more */
    int64_t cells;  /**< linear programmes looked at */
};

/**
 * Least JCT over real w, p >= 1 within the limit, to a factor of 1 + eps: the grid over linear-fractional
 * programmes of arXiv 2105.13855, Alg. 1. Each ratio but the widest (greatest max/min) is held below a bound
 * from a geometric sequence with factor 1 + eps; under these half-planes the least of the last ratio
 * lies at a vertex, as least and greatest of any ratio of linear functions over a polygon do. So there is
 * no LP solver here: a polygon is clipped and its vertices are looked at.
 *
 * Where this is not the paper: w, p >= 1 in place of >= 0, where ratios have no bound. The sequence of a
 * ratio starts at its least value over the polygon that the bounds so far leave, and ends with its greatest:
 * fewer bounds, and no point above the last. Each bound stands for the slab between it and the one before.
 * Runs of bounds are left together when bounds and least values in their slab add up to no less than the best
 * true sum found. A grid of eps 0.3 goes first to find one. None of this gives up the factor.
 *
 * @param job  smd_check_job() found nothing, and (1, 1) fits
 * @param eps  1e-4 to 1
 * @return 0; ERR_RANGE: eps.
 *
 * Without the pruning the grid has prod log(max/min)/log(1+eps) points: some 4e7 for a synchronous job at eps
 * 0.01. With it some dozens are looked at: 0.1 ms for a job of smd_draw.h at eps 0.05, 0.4 ms at 0.01.
 */
int smd_inner_grid(struct smd_grid *out, const struct smd_job *job, int32_t n_resources, double eps,
                   struct err *e);

/**
 * Least JCT over whole w, p within the limit. For given w the cost is p*(b + d/w) + (c*w + f)/p + ..., convex
 * in p: its least is next to sqrt((c*w + f)/(b + d/w)). Ties go to fewer workers, then to fewer servers.
 * (Times and limits are posynomials, so over real numbers all is convex in log w and log p: the sum of ratios
 * is not as hard as a general one, and numbers of tasks are found exactly in less time than by the grid.)
 * @param job  as above. Time O(most workers).
 */
struct smd_point smd_inner_exact(const struct smd_job *job, int32_t n_resources);

#endif
