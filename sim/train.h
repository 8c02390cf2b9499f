/** @file What runs collectives over time: a simulation in chunks, or of flows. */
#ifndef SIM_TRAIN_H
#define SIM_TRAIN_H

#include "sim/rules.h"
#include "workloads/step.h"

/** A collective to run; all groups of the network that look like it run at the same time. */
struct sim_job {
    enum collective_kind kind;
    double bytes; /**< per NPU, as step_node.bytes */
    int32_t members[TOPO_MAX_DIMS];
    int32_t stride[TOPO_MAX_DIMS]; /**< distance of neighbours of a group in each dimension, >= 1 */
    double share[TOPO_MAX_DIMS];   /**< of an all-to-all, as of collective_loads(); zero: whole */
    int32_t priority;              /**< higher goes first */
    enum sim_order order;          /**< not GUARD */
};

/** What one job did. */
struct sim_job_result {
    double issue_s, end_s;
    double busy_s[TOPO_MAX_DIMS]; /**< bytes over bandwidth of an NPU that is not slow */
    double sent_B[TOPO_MAX_DIMS]; /**< bytes that each dimension had to carry, per NPU */
    double queue_s; /**< sum over its chunks and stages of waiting while the dimension was taken */
};

/** Functions of one engine; @p x is its state. */
struct sim_engine {
    void *x; /**< borrowed */
    /** Issue a job at @p now_s, not before the last advance(). Jobs are numbered from 0. */
    int (*issue)(void *x, const struct sim_job *job, double now_s, struct err *e);
    /** When something happens next; INFINITY when nothing is left, or what is left never ends. */
    double (*next)(const void *x);
    /** Process all that happens at next(). */
    int (*advance)(void *x, struct err *e);
    /** Jobs that ended in the last advance(), or in issue() since: shape [*n], borrowed. */
    const int32_t *(*ended)(const void *x, int32_t *n);
    const struct sim_job_result *(*result)(const void *x, int32_t job);
};

/*
 * The work of a training step over time: compute beside collectives that share the network.
 */

enum { TRAIN_MAX_JOBS = 100000 /**< collectives in one run: a million chunks at the usual number */ };

/** What was done where. */
struct train_span {
    step_id node;
    int32_t job; /**< of a collective; -1: compute */
    double start_s, end_s;
};

/** Time of each node of the tree; release with train_free(). */
struct train {
    double *total_s; /**< shape [n_nodes], owned; all executions of a node together, 0 outside the subtree */
    double
        *count; /**< shape [n_nodes], owned; how often it ran; a last fraction of a repeat counts as that */
    struct train_span
        *spans; /**< shape [n_spans], owned: collectives, and compute if asked for, in the order they ended */
    int32_t n_spans, cap_spans;
    double time_s; /**< of the subtree */
};

/**
 * Run the subtree at @p root on @p engine, which has nothing to do yet, from time 0. Children of a maximum
 * start together and it ends with the last; members of a sum, and repeats, follow each other; a collective
 * with `times` is issued as often. A last fraction of a repeat does that part of its seconds and bytes.
 *
 * @param order_of  shape [n_nodes], order of the dimensions for each collective node; NULL: @p order for all.
 * A subtree that sends nothing is one interval: nodes below it have no count.
 *
 * @param keep_compute  spans of compute too, not of collectives alone.
 * @return 0, ERR_NOMEM, or ERR_RANGE: more than TRAIN_MAX_JOBS collectives.
 */
int train_run(struct train *out, const struct step_tree *t, step_id root, const struct sim_engine *engine,
              const enum sim_order *order_of, enum sim_order order, bool keep_compute, struct err *e);
void train_free(struct train *x);

#endif
