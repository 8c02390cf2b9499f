/**
 * @file The linear relaxation of a knapsack with few rows, solved again and again with other items fixed.
 *
 * Own code: sim does not see GLPK's home (alloc/lp.c), and this is faster. Fixing one more of 200 items in 4
 * rows and solving again takes 6 us on average here, 21 us with GLPK 5.0's dual simplex from its last basis.
 * What makes it short: every variable has two bounds (a slack cannot exceed its row), so whatever is fixed,
 * the last basis is dual feasible once each other variable stands at the bound that its reduced cost asks
 * for. There is no first phase and nothing to save per node. And any multipliers y >= 0 give an upper bound,
 * y.capacity + sum max(0, value - y.weight): it is computed from them afresh and holds whatever rounding did
 * before.
 */
#ifndef SIM_INTERVAL_KNAPSACK_LP_H
#define SIM_INTERVAL_KNAPSACK_LP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { KNAPSACK_MAX_ROWS = 8 };

enum knapsack_fix { KNAPSACK_OUT, KNAPSACK_IN, KNAPSACK_FREE };

/**
 * max value.x, weight.x <= capacity in each row, 0 <= x <= 1, and x as fixed. Release with
 * knapsack_lp_free(). Values are scaled to at most 1 and rows to capacities of 1 by the caller, so that
 * tolerances are absolute.
 */
struct knapsack_lp {
    int32_t n, n_rows;
    double *value;  /**< shape [n], 0 to 1, owned; the caller fills it in */
    double *weight; /**< shape [n][n_rows], >= 0, owned; the caller fills it in */
    double capacity[KNAPSACK_MAX_ROWS];
    unsigned char *fix; /**< shape [n], enum knapsack_fix, owned; the caller sets it between solves */

    /* Answer of the last solve. */
    double *x;                           /**< shape [n], owned */
    double *reduced;                     /**< shape [n], owned: value - price.weight */
    double price[KNAPSACK_MAX_ROWS];     /**< y, >= 0 */
    double bound;                        /**< no x as fixed is worth more */
    int32_t fraction[KNAPSACK_MAX_ROWS]; /**< items strictly between 0 and 1 */
    int32_t n_fractions;                 /**< at most n_rows: x is a vertex */
    int64_t pivots;                      /**< of all solves */

    /* Basis: item j is variable j, the slack of row i is n + i. */
    unsigned char *at_upper; /**< shape [n + n_rows], owned */
    bool *basic;             /**< shape [n + n_rows], owned */
    double *slope;           /**< shape [n + n_rows], owned: row of the pivot */
    int32_t basis[KNAPSACK_MAX_ROWS];
    double inverse[KNAPSACK_MAX_ROWS][KNAPSACK_MAX_ROWS];
    double level[KNAPSACK_MAX_ROWS]; /**< values of the basic variables */
};

/** Items worth 0, nothing fixed, capacities 1, slacks basic. ERR_NOMEM, then empty and safe to free. */
int knapsack_lp_build(struct knapsack_lp *lp, int32_t n, int32_t n_rows, struct err *e);
void knapsack_lp_free(struct knapsack_lp *lp);

/** Weights of an item, shape [n_rows]. */
static inline const double *knapsack_lp_weight(const struct knapsack_lp *lp, int32_t item)
{
    return lp->weight + (size_t)item * (size_t)lp->n_rows;
}

/**
 * Solve for the items now fixed, from the last basis; the items that are in fit. Bounded dual simplex with
 * long steps; O(n * n_rows) a pivot.
 * @return false: the pivots went in circles (rounding); bound holds, x means nothing.
 */
bool knapsack_lp_solve(struct knapsack_lp *lp);

#endif
