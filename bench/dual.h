/** @file The plain method that certified splits are compared with: a multiplicative update of the dual. */
#ifndef BENCH_DUAL_H
#define BENCH_DUAL_H

#include "workloads/step_fn.h"

struct dual_result {
    double bw_Bps[TOPO_MAX_DIMS];
    double time_s, bound_s; /**< T at bw_Bps; no split is faster than the bound */
    int32_t iterations;
};

/**
 * Fastest split of @p total_Bps for a step that is a sum (n_terms 1), until the gap is below
 * @p gap of the time or after 100,000 iterations.
 *
 * With weights l_gd >= 0, sum_d l_gd = 1, and a_d = sum_g l_gd m_gd, communication takes at least
 * (sum_d sqrt a_d)^2 / total, and B_d ~ sqrt a_d is the split that goes with it. Every update multiplies
 * l_gd by m_gd / sqrt(a_d), what its dimension is short of, and restores the sums.
 */
void dual_solve(struct dual_result *out, const struct step_fn *f, double total_Bps, double gap);

#endif
