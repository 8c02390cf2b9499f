/** @file The work of a training step over time: compute beside collectives that share the network. */
#ifndef SIM_TRAIN_H
#define SIM_TRAIN_H

#include "sim/engine.h"
#include "workloads/step.h"

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
