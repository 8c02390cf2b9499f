/** @file A training step over time: which chunk is on which dimension when, and compute beside it. */
#ifndef SIM_TIMELINE_H
#define SIM_TIMELINE_H

#include "sim/step.h"

enum { TIMELINE_MAX_BARS = 2000000, TIMELINE_MAX_RUNS = 4, TIMELINE_COMPUTE = -1 };

/** One interval: a stage of a chunk, or compute. */
struct timeline_bar {
    int32_t run;
    int32_t dim;  /**< TIMELINE_COMPUTE, or the dimension */
    int32_t cell; /**< class of NPUs, 0 unless some are slow */
    int32_t slot; /**< bars of one dimension, cell and slot do not overlap; of compute neither */
    step_id node;
    int32_t job, chunk; /**< job: number of the collective within the run; -1 for compute */
    enum pass pass;
    double bytes, ready_s, start_s, end_s;
};

/** The step once, from beginning to end. */
struct timeline_run {
    enum sim_order order; /**< GUARD: each collective in the order that was best for it */
    double time_s;
    double util_frac[TOPO_MAX_DIMS]; /**< share of the time that the dimension sends */
    bool chosen;                     /**< the one whose times sim_step_build() reports */
};

/** Release with timeline_free(). */
struct timeline {
    struct timeline_bar *bars; /**< shape [n_bars], owned; by run, then by start, then by row and slot */
    int32_t n_bars, cap_bars;
    struct timeline_run runs[TIMELINE_MAX_RUNS];
    int32_t n_runs;
};

/**
 * A repeat of 2.5 does half of its work the third time, where sim_step_build() counts two and a half times
 * what it does once.
 *
 * Simulate the whole step in chunks and keep what happened: under GUARD once per order it compares, and once
 * more with the orders of @p step when these differ among collectives.
 *
 * @param step  sim_step_build() of the same with SIM_CHUNK.
 * @return 0; ERR_NOMEM; ERR_RANGE: more than TIMELINE_MAX_BARS, or as train_run(); ERR_UNSUP: the step never
 * ends.
 */
int timeline_build(struct timeline *out, const struct step_tree *t, const struct topo_network *net,
                   const double *bw_Bps, const struct sim_rules *rules, const struct sim_step *step,
                   struct err *e);
void timeline_free(struct timeline *t);

#endif
