/** @file What both methods of the knapsack work on. For knapsack*.c only. */
#ifndef SIM_INTERVAL_KNAPSACK_WORK_H
#define SIM_INTERVAL_KNAPSACK_WORK_H

#include "sim/interval/knapsack.h"

/** Numbers are scaled: greatest value 1, capacities 1. */
struct knapsack_work {
    int32_t n, n_rows;
    struct knapsack_lp lp; /**< the items; at the start, those are out that never come in */
    bool *chosen;          /**< shape [n], borrowed: best so far */
    double grain;          /**< every sum of values is a multiple of it; 0: not known */
    double best;           /**< its value */
    double bound;          /**< greatest bound of what was left unseen */
    int64_t nodes, max_nodes;
    bool complete;
};

/** Room taken by the items that @p take says, and its value. False: they do not fit. */
bool knapsack_fill(const struct knapsack_work *w, const bool *take, double used[KNAPSACK_MAX_ROWS],
                   double *value);

/** Branch and bound; the root LP is solved. ERR_NOMEM. */
int knapsack_branch(struct knapsack_work *w, struct err *e);

/** The subset scheme. ERR_NOMEM. */
int knapsack_subsets(struct knapsack_work *w, int32_t k, struct err *e);

#endif
