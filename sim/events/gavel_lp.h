/** @file Gavel's policies as linear programmes: which part of the time each job has on each type of NPU. */
#ifndef SIM_EVENTS_GAVEL_LP_H
#define SIM_EVENTS_GAVEL_LP_H

#include <stdint.h>

#include "base/err.h"

/** Kinds of jobs; `count` of each are alike. All borrowed. */
struct gavel_lp {
    int32_t n, n_types;
    const double
        *gain; /**< shape [n][n_types]: of a job that has all the time there; 0: it does not run there */
    const double *gpus;  /**< shape [n], of a job, > 0 */
    const double *count; /**< shape [n], > 0 */
    const double *room;  /**< shape [n_types]: GPUs */
};

/**
 * Shares x, shape [n][n_types], with sum_j x[i][j] <= 1 of each job, sum_i count gpus x[i][j] <= room[j] of
 * each type, and the greatest *least = min_i sum_j gain[i][j] x[i][j]. Of these those with the most GPU-time,
 * that of each type counted by its gain over the job's best: a least alone leaves GPUs idle that others could
 * have.
 * @return 0; ERR_RANGE: a job without any gain; ERR_NOMEM, ERR_LIB.
 */
int gavel_lp_solve(double *x, double *least, const struct gavel_lp *p, struct err *e);

#endif
