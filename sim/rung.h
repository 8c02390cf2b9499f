/** @file Collectives and overlapping work timed by simulation: the rungs of the ladder above the closed
 * forms. */
#ifndef SIM_RUNG_H
#define SIM_RUNG_H

#include "sim/train.h"

/** A collective that runs alone. */
struct rung_time {
    double time_s;
    double busy_s[TOPO_MAX_DIMS], sent_B[TOPO_MAX_DIMS];
    double queue_s;
    enum sim_order order; /**< used; of GUARD the one that was best */
};

/** Opaque: a network at its bandwidths, and the collectives timed so far. */
struct rung;

/**
 * @param model       SIM_CHUNK.
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
};

/**
 * Run the subtree at @p root, every collective on the same dimensions; under GUARD three times, and the best
 * is kept.
 * @return as train_run().
 */
int rung_together(struct rung *x, const struct step_tree *t, step_id root, struct rung_joint *out,
                  struct err *e);
void rung_joint_free(struct rung_joint *x);

#endif
