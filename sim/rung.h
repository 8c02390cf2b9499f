/** @file Collectives and overlapping work timed by simulation: the rungs of the ladder above the closed
 * forms. */
#ifndef SIM_RUNG_H
#define SIM_RUNG_H

#include "sim/train.h"
#include "topo/route.h"

/** A collective that runs alone. */
struct rung_time {
    double time_s;
    double busy_s[TOPO_MAX_DIMS], sent_B[TOPO_MAX_DIMS];
    double queue_s;
    enum sim_order order; /**< used; of GUARD the one that was best */
    int32_t known;        /**< its number, for struct rung_weight */
};

/** A direction of a link, and what a step sends over it. */
struct rung_hot {
    char name[TOPO_ARC_TEXT]; /**< "npu3 -> switch-pod-0" */
    int32_t dim;              /**< -1: not known */
    double bw_Bps, bytes;     /**< of one step */
    double util_frac;         /**< bytes over bandwidth and time of the step */
};

enum { RUNG_HOTTEST = 10 };

/** Use of the links of model flow. */
struct rung_links {
    int64_t n_arcs, n_used; /**< both directions of every link; 0: not known (another model, or too many) */
    double mean_frac;       /**< mean utilisation over all */
    struct rung_hot hot[RUNG_HOTTEST]; /**< hottest first */
    int32_t n_hot;
    struct rung_hot *all; /**< shape [n_arcs], owned, by number; NULL unless rules.keep_links */
    int64_t n_alike;      /**< links as hot as the hottest, to 1e-6 */
};

/** Something timed, and how often a step does it. */
struct rung_weight {
    int32_t known; /**< as rung_alone() and rung_together() say */
    double times;
};

/** Opaque: a network at its bandwidths, and the collectives timed so far. */
struct rung;

/**
 * @param model       SIM_CHUNK or SIM_FLOW.
 * @param split_dims  as chunk_open(); rung_split_dims() finds it.
 * @param rules       borrowed, as @p net.
 * @return 0 or ERR_NOMEM.
 */
int rung_open(struct rung **out, enum sim_model model, const struct topo_network *net, const double *bw_Bps,
              const struct sim_rules *rules, unsigned split_dims, struct err *e);
void rung_free(struct rung *x); /**< NULL is fine */

/** Dimensions of which a group of @p t takes a part. */
unsigned rung_split_dims(const struct step_tree *t, const struct topo_network *net);

/** Time @p job (its order is not looked at) alone; the same job again costs nothing. ERR_NOMEM, ERR_RANGE. */
int rung_alone(struct rung *x, const struct sim_job *job, struct rung_time *out, struct err *e);

/** Work that shares the network. Release with rung_joint_free(). */
struct rung_joint {
    struct train train;
    struct rung_time
        *mean; /**< shape [n_nodes], owned: of each collective node the mean over its executions */
    enum sim_order order;
    int32_t known; /**< its number, for struct rung_weight */
};

/**
 * Run the subtree at @p root, every collective on the same dimensions; under GUARD three times, and the best
 * is kept.
 * @return as train_run().
 */
int rung_together(struct rung *x, const struct step_tree *t, step_id root, struct rung_joint *out,
                  struct err *e);
void rung_joint_free(struct rung_joint *x);

enum { RUNG_MAX_LINKS = 1000000 };

/**
 * What the links carry in a step of @p time_s that does @p weights, shape [n]. Release with
 * rung_links_free(). ERR_NOMEM; ERR_RANGE: all are to be kept, and are more than RUNG_MAX_LINKS. O(arcs * n).
 */
int rung_find_links(struct rung_links *out, const struct rung *x, const struct rung_weight *weights,
                    int32_t n, double time_s, struct err *e);

void rung_links_free(struct rung_links *l);

#endif
