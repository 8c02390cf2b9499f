/** @file The step compiled to T(B): merged, flat, fast to evaluate, ready for a convex solver. */
#ifndef WORKLOADS_STEP_FN_H
#define WORKLOADS_STEP_FN_H

#include "base/arena.h"
#include "workloads/step.h"

/**
 * T(B) in normal form. A term is a sum: const_s + its leaves + its maxima; a
 * maximum is over its terms; term 0 is the whole step. A maximum whose terms share links has a term more: one
 * leaf of all that they send, for they take no less time than any class of links is busy with all of it. A
 * leaf is one collective or several, or one of its stages: max_d traffic_d/B_d. All factors (repeat, times,
 * collective_share()) are folded into constants and traffic. Within one term, leaves with collinear traffic
 * are one: reduce-scatter, all-gather and all-reduce over one group always are, so a step without overlap has
 * one leaf per group. Terms of a maximum that another term of it always exceeds are gone. Children come after
 * parents, and all children of one parent are neighbours.
 */
struct step_fn {
    int32_t n_dims, n_terms, n_leaves, n_maxima;
    struct arena arena;  /**< of all arrays */
    double *const_s;     /**< shape [n_terms], [s] */
    int32_t *leaf_begin; /**< shape [n_terms+1]: leaves of term k are leaf_begin[k]..leaf_begin[k+1]-1 */
    int32_t *max_begin;  /**< shape [n_terms+1]: maxima of term k, likewise */
    int32_t *term_begin; /**< shape [n_maxima+1]: terms of maximum j, likewise */
    double *traffic_B;   /**< shape [n_leaves][TOPO_MAX_DIMS], zero beyond n_dims; bytes over share */
    int32_t *leaf_of; /**< shape [n_nodes]: leaf a tree node was merged into, of a maximum the one of all that
                         its children send; -1 = none, or dominated */
    int32_t n_nodes;  /**< nodes of the tree; of all trees in order, after step_fn_join() */
};

/**
 * Compile; release with step_fn_free(). A collective takes max_d m_d/B_d: endlessly many chunks and no
 * latency; for anything else lower the tree first, step_lower(). ERR_NOMEM. O(nodes * leaves of a term).
 */
int step_compile(struct step_fn *f, const struct step_tree *t, const struct topo_network *net, struct err *e);
void step_fn_free(struct step_fn *f);

/** How step_fn_join() puts functions together. */
struct step_join {
    bool take_max;   /**< the largest of scale[i]*f[i], not their sum */
    bool drop_const; /**< leave compute out: communication alone */
};

/** sum_i or max_i of scale[i]*f[i] as one function of the same dimensions; scale > 0, n >= 1. */
int step_fn_join(struct step_fn *out, const struct step_fn *const *f, const double *scale, int32_t n,
                 struct step_join how, struct err *e);

/**
 * T(B) [s]. @p bw_Bps shape [n_dims], >= 0; infinity when a dimension that
 * carries traffic has none. Reciprocals are taken once per dimension.
 */
double step_time(const struct step_fn *f, const double *bw_Bps);

/** T(B) and one subgradient, shape [n_dims] [s per B/s]; where dimensions tie, the innermost one's. */
double step_time_grad(const struct step_fn *f, const double *bw_Bps, double *grad);

/** T at n points, @p bw_Bps[d] of shape [n]. Bit for bit what step_time() returns. */
void step_time_batch(const struct step_fn *f, const double *const *bw_Bps, int64_t n, double *out_s);

/** Its whole blocks, by vectors of 2 numbers and of 4 (AVX2). Returns how many were done: the rest is less
 * than a block. */
int64_t step_batch_2(const struct step_fn *f, const double *const *bw_Bps, int64_t n, double *out_s);
int64_t step_batch_4(const struct step_fn *f, const double *const *bw_Bps, int64_t n, double *out_s);

#endif
