/**
 * @file Which of n items of most value together stay within a few rows of capacities: exactly, by branch and
 * bound, or by the scheme of subsets (Frieze and Clarke 1984).
 *
 * Both solve the linear relaxation again and again with other items fixed. Own code: sim does not see GLPK's
 * home (base/simplex.c), and this is faster. Fixing one more of 200 items in 4 rows and solving again takes
 * 6 us on average here, 21 us with GLPK 5.0's dual simplex from its last basis. What makes it short: every
 * variable has two bounds (a slack cannot exceed its row), so whatever is fixed, the last basis is dual
 * feasible once each other variable stands at the bound that its reduced cost asks for. There is no first
 * phase and nothing to save per node. And any multipliers y >= 0 give an upper bound, y.capacity + sum max(0,
 * value - y.weight): it is computed from them afresh and holds whatever rounding did before.
 */
#ifndef SIM_INTERVAL_KNAPSACK_H
#define SIM_INTERVAL_KNAPSACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

enum { KNAPSACK_MAX_ROWS = 8 };

enum knapsack_fix { KNAPSACK_OUT, KNAPSACK_IN, KNAPSACK_FREE };

/**
 * max value.x, weight.x <= capacity in each row, 0 <= x <= 1, and x as fixed. Release with
 * knapsack_lp_free(). Values are scaled to at most 1 and rows to capacities of 1 by the caller, so that
 * tolerances are absolute.
 */
struct knapsack_lp {
    struct arena arena; /**< of the arrays below */
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

/* ---- which items to take: a 0/1 knapsack with several rows, solved with proof ---- */

/** Share of a capacity by which a sum of weights may exceed it: 0.1 + 0.2 fits 0.3. */
#define KNAPSACK_SLACK 1e-9

/** max sum of values with sum of weights <= capacity in each row. Borrowed. */
struct knapsack {
    int32_t n, n_rows;      /**< >= 0; 1 to KNAPSACK_MAX_ROWS */
    const double *value;    /**< shape [n], >= 0 */
    const double *weight;   /**< shape [n][n_rows], >= 0 */
    const double *capacity; /**< shape [n_rows], >= 0 */
};

enum knapsack_method {
    KNAPSACK_EXACT,  /**< branch and bound on the LP */
    KNAPSACK_SUBSET, /**< every small set of items, the rest by LP and rounded down (Frieze and Clarke 1984)
                      */
    N_KNAPSACK_METHODS,
};

/** "exact", "subset"; NULL-terminated. */
extern const char *const knapsack_method_names[N_KNAPSACK_METHODS + 1];

struct knapsack_settings {
    enum knapsack_method method;
    int32_t subset;    /**< k, >= 0: sets of up to k items */
    int64_t max_nodes; /**< LPs after which the best so far is given, >= 1 */
};

/** Release with knapsack_answer_free(). */
struct knapsack_answer {
    bool *chosen; /**< shape [n], owned; an item worth 0 is not chosen */
    double value;
    double bound;    /**< no choice is worth more: proof of exact, LP bound of subset */
    double gap_frac; /**< (bound - value) / bound; 0 when both are 0 */
    double lp_bound; /**< of the relaxation with nothing fixed */
    /** Of the relaxation: value of one unit more of each capacity; 0 where the capacity is 0. */
    double price[KNAPSACK_MAX_ROWS];
    int64_t nodes; /**< LPs solved */
    bool complete; /**< false: max_nodes stopped it */
};

/** Exact, subset 2, 200,000 LPs: some 10 s at worst with 200 items and 4 rows; the gap is then below an item.
 */
struct knapsack_settings knapsack_settings_default(void);

/**
 * Solve. Deterministic.
 *
 * KNAPSACK_EXACT: depth-first. On the way items are fixed that no longer fit, whose reduced cost decides, or
 * that are better or worse in everything than one that is fixed. Bounds are rounded down to what values can
 * add up to. When complete, bound is above value by rounding only (1e-11 of the greatest value).
 *
 * KNAPSACK_SUBSET (arXiv 2105.13855, Alg. 3): for each set S of at most k items that fits, S in, out whatever
 * is worth more than the least of S, the LP over the rest rounded down. With z* the optimum, value >= z* k /
 * (k + n_rows), and value = z* when an optimal choice has at most k items. Sets that do not fit are passed
 * over, where the paper's listing returns. n choose k LPs: its eps of 0.01 would ask for all subsets of 50
 * jobs.
 *
 * @return 0; ERR_RANGE: a number out of its range; ERR_NOMEM. *out is then empty and safe to free.
 */
int knapsack_solve(struct knapsack_answer *out, const struct knapsack *k, const struct knapsack_settings *how,
                   struct err *e);
void knapsack_answer_free(struct knapsack_answer *a);

/** Does @p item fit when @p used of each row is taken? */
bool knapsack_fits(const struct knapsack *k, const double *used, int32_t item);

#endif
