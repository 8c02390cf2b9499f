/** @file Which items to take: a 0/1 knapsack with several rows, solved with proof. */
#ifndef SIM_INTERVAL_KNAPSACK_H
#define SIM_INTERVAL_KNAPSACK_H

#include "sim/interval/knapsack_lp.h"

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

/** The k with which the subset scheme is within eps of the optimum: min(n, ceil(n_rows (1 - eps) / eps)). */
int32_t knapsack_subset_for(int32_t n, int32_t n_rows, double eps);

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
