/** @file Lower bounds from multipliers, by weak duality. */
#ifndef ALLOC_BOUND_H
#define ALLOC_BOUND_H

#include "alloc/problem.h"

/** Arrays for @p p's sizes, zeroed; release with alloc_bound_free(). */
int alloc_bound_build(struct alloc_bound *b, const struct alloc_problem *p, struct err *e);
int alloc_bound_copy(struct alloc_bound *out, const struct alloc_bound *b, const struct alloc_problem *p,
                     struct err *e);
void alloc_bound_free(struct alloc_bound *b);

/**
 * Scale term weights and leaf multipliers from the top down so that every leaf's
 * sum to its term's weight and every maximum's to its parent's: what weak duality
 * asks for. Term 0 takes time_weight.
 */
void alloc_bound_balance(struct alloc_bound *b, const struct alloc_problem *p);

/**
 * Greatest value the multipliers prove:
 *   sum_k weight_k const_k + sum_d 2 sqrt(a_d q_d) - sum_i dual_i rhs_i,
 * a_d = sum_l leaf_dual_ld traffic_ld, q_d = cost_weight usd_d + sum_i dual_i coef_id.
 * (From t_l >= traffic_ld/B_d and min_B a/B + q B = 2 sqrt(a q).) Where rounding left
 * q_d below zero the upper bound of B_d that a row implies is used; -INFINITY if none does.
 */
double alloc_bound_value(const struct alloc_bound *b, const struct alloc_problem *p);

#endif
