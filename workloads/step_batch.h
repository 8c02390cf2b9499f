/** @file Private to workloads: T(B) at some points together, by vectors. */
#ifndef WORKLOADS_STEP_BATCH_H
#define WORKLOADS_STEP_BATCH_H

#include "workloads/step_fn.h"

/** T at whole blocks of points, those of step_time_batch(); by vectors of 4 numbers (AVX2) and of 2. Returns
 * how many were done: the rest is less than a block. */
int64_t step_batch_4(const struct step_fn *f, const double *const *bw_Bps, int64_t n, double *out_s);
int64_t step_batch_2(const struct step_fn *f, const double *const *bw_Bps, int64_t n, double *out_s);

#endif
