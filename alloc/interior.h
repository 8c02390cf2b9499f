/** @file Interior-point method for the convex core: least weighted time and cost under linear constraints. */
#ifndef ALLOC_INTERIOR_H
#define ALLOC_INTERIOR_H

#include "alloc/problem.h"

/** minimise time_weight*T(B) + cost_weight*(usd_per_Bps.B) subject to the rows and T(B) <= limit_s. */
struct interior_ask {
    double time_weight; /**< >= 0 */
    double cost_weight; /**< >= 0, [per USD] */
    double limit_s;     /**< INFINITY for none; with time_weight 0 only */
};

/** Work space for one problem, reused between solves. Opaque; one per thread. */
struct interior;

/** Size it for @p p (borrowed until interior_free()). */
int interior_build(struct interior **out, const struct alloc_problem *p, struct err *e);
void interior_free(struct interior *w);

/** What one solve found. */
struct interior_result {
    bool converged;               /**< gap below 1e-12 of the objective; else see value - bound */
    double bw_Bps[TOPO_MAX_DIMS]; /**< satisfies the rows to rounding */
    double time_s, cost_usd;      /**< at bw_Bps; cost without usd_fixed */
    double value, bound;          /**< of the asked objective; bound holds for every feasible B */
    int32_t iterations;
};

/**
 * Primal-dual method with predictor and corrector, started outside the feasible set. The leaves
 * and the tree of terms are eliminated one by one, so a step costs O((leaves + terms) * dims^2) and
 * one Cholesky factor of size dims. Where that does not get to a proof, again from a point well inside the
 * rows, by primal path following with a line search: slower, and hardly ever needed.
 * Never NaN: value is INFINITY when no split was found, bound -INFINITY when nothing was proved.
 */
void interior_solve(struct interior *w, struct interior_ask ask, struct interior_result *out);

/** Multipliers of the last solve, made exactly dual-feasible: copies into @p b (owned by the caller). */
int interior_bound(const struct interior *w, struct alloc_bound *b, struct err *e);

#endif
