/** @file A second opinion: optimality re-derived from the answer alone. */
#ifndef ALLOC_VERIFY_H
#define ALLOC_VERIFY_H

#include "alloc/problem.h"

/** The uncompiled problem: sum or maximum over workloads of scale times the time of its step. */
struct verify_steps {
    const struct step_tree *const
        *trees;          /**< shape [n], as compiled, in the order step_fn_join() was given them */
    const double *scale; /**< shape [n], > 0 */
    int32_t n;
    const struct topo_network *net;
    bool take_max, drop_const;
};

/** What the answer is found to be worth. */
struct verify_report {
    bool ok;            /**< feasible to 1e-12 and proved to ALLOC_GAP */
    double violation;   /**< largest excess of a row, relative to its largest part */
    double time_s, usd; /**< recomputed from the tree and the prices; of a product its other factor */
    double value;       /**< of the objective, recomputed */
    double lower_bound; /**< recomputed from out->bounds by weak duality on the unmerged tree */
    double gap;
};

/**
 * Check @p a against @p p: every row, the objective at a->bw_Bps, and the lower bound
 * that a->bounds prove. Uses the trees, prices and rows, never the solvers: what
 * the compiled step merged is taken apart again, and multipliers that are not quite
 * balanced are scaled down to what they do prove.
 *
 * For a product T*C, C any affine function of the bandwidths: each bound proves a curve T >= c + r^2/(4 (mu X
 * + s)), also the curves of neighbouring mu take turns over X >= X_min, and on each stretch the product has
 * its least in closed form. O(n_bounds * nodes).
 * @return 0 or ERR_NOMEM.
 */
int alloc_verify(struct verify_report *out, const struct alloc_answer *a, const struct alloc_problem *p,
                 const struct verify_steps *steps, struct err *e);

#endif
