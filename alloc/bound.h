/** @file Lower bounds from multipliers, by weak duality. */
#ifndef ALLOC_BOUND_H
#define ALLOC_BOUND_H

#include "alloc/problem.h"

/** Arrays for @p p's sizes, zeroed; release with alloc_bound_free(). */
int alloc_bound_build(struct alloc_bound *b, const struct alloc_problem *p, struct err *e);
int alloc_bound_copy(struct alloc_bound *out, const struct alloc_bound *b, const struct alloc_problem *p,
                     struct err *e);
void alloc_bound_free(struct alloc_bound *b);
/** The same inequality times @p by > 0. */
void alloc_bound_scale(struct alloc_bound *b, const struct alloc_problem *p, double by);

/**
 * Scale term weights and leaf multipliers from the top down so that every leaf's
 * sum to its term's weight and every maximum's to its parent's: what weak duality
 * asks for. Term 0 takes time_weight.
 */
void alloc_bound_balance(struct alloc_bound *b, const struct alloc_problem *p);

/** A lower bound of a step whatever its bandwidths: T(B) >= const_s + sum_d pull_B[d]/B_d. The one form in
 * which all that bounds designs holds it. */
struct alloc_cut {
    double const_s, pull_B[TOPO_MAX_DIMS];
};

/** From multipliers with time_weight > 0. ERR_NOMEM. */
int alloc_cut_of_bound(struct alloc_cut *cut, const struct alloc_bound *given, const struct alloc_problem *p,
                       struct err *e);
/** The cut that touches T at @p bw_Bps, shape [n_dims]. */
struct alloc_cut alloc_cut_touching(const struct step_fn *f, const double *bw_Bps);
/** What it says at @p bw_Bps, shape [n_dims], all > 0 [s]. */
double alloc_cut_at(const struct alloc_cut *cut, const double *bw_Bps, int32_t n_dims);
/** (1 - share) a + share b: of a step that both are cuts of. */
struct alloc_cut alloc_cut_mean(const struct alloc_cut *a, const struct alloc_cut *b, double share);
/** sum_d sqrt(pull_B[d] price[d]), those below 0 left out: no bandwidths make (T - const_s) sum_d price[d]
 * B_d less than its square, by Cauchy and Schwarz. */
double alloc_cut_root(const struct alloc_cut *cut, const double *price, int32_t n_dims);

/** Does any collective send into dimension @p d? */
bool alloc_carries_traffic(const struct step_fn *f, int32_t d);

/** Bandwidths that satisfy the rows lie in these: floor 0 and cap INFINITY where nothing is known. */
struct alloc_ranges {
    double floor_Bps[TOPO_MAX_DIMS], cap_Bps[TOPO_MAX_DIMS];
};

/** What each row on its own implies, one after the other, with the ranges of other dimensions. Of @p p the
 * rows and the number of dimensions count. O(dims^3 * rows). */
struct alloc_ranges alloc_find_ranges(const struct alloc_problem *p);

/** Their caps alone, shape [n_dims]. */
void alloc_find_caps(double *cap_Bps, const struct alloc_problem *p);

/** A lower bound of time_weight*T + cost_weight*X by how it changes when prices and row multipliers all grow.
 */
struct alloc_bound_parts {
    double constant; /**< does not change: compute, and what caps of bandwidths prove */
    double root;     /**< sum_d 2 sqrt(a_d q_d): grows by the root of the factor */
    double rent;     /**< sum_i dual_i rhs_i: grows by the factor */
};

/**
 * What the multipliers prove: constant + root - rent, that is
 *   sum_k weight_k const_k + sum_d 2 sqrt(a_d q_d) - sum_i dual_i rhs_i,
 * a_d = sum_l leaf_dual_ld traffic_ld, q_d = cost_weight usd_d + sum_i dual_i coef_id.
 * (From t_l >= traffic_ld/B_d and min_B a/B + q B = 2 sqrt(a q).) Where q_d is below zero
 * the cap of B_d is used; rent is INFINITY if it has none. Holds for every B that satisfies the rows to
 * ALLOC_FEASIBLE_REL, and however the sums round.
 */
struct alloc_bound_parts alloc_bound_split(const struct alloc_bound *b, const struct alloc_problem *p);

/** Their sum. */
double alloc_bound_value(const struct alloc_bound *b, const struct alloc_problem *p);

#endif
