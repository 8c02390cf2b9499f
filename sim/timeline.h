/** @file A training step over time: a recording of the walk that times it, bar by bar. */
#ifndef SIM_TIMELINE_H
#define SIM_TIMELINE_H

#include "sim/step.h"

enum {
    TIMELINE_MAX_BARS = 50000, /**< of one run: repeats beyond the first few of each are folded */
    TIMELINE_MAX_RUNS = 4,
    TIMELINE_COMPUTE = -1, /**< in place of a dimension */
    TIMELINE_HOST = -2,
};

/** One interval on one lane: compute, or what a collective (a stage of a chunk of it) sends over one class of
 * links; or repeats folded into one. */
struct timeline_bar {
    int32_t run;
    int32_t lane;  /**< from 0: by stage, then compute, host and the dimensions */
    int32_t stage; /**< index into timeline.stages */
    int32_t dim;   /**< class of links; TIMELINE_COMPUTE, TIMELINE_HOST */
    int32_t cell;  /**< class of NPUs, 0 unless some are slow */
    int32_t slot;  /**< bars of one run, lane, cell and slot do not overlap */
    step_id node;  /**< of folded repeats what is repeated */
    int32_t job;   /**< number of the collective within the run; -1: compute, or folded */
    int32_t chunk; /**< -1: of no single one */
    enum pass pass;
    bool lead;            /**< of the classes that a stage of a chunk loads, the one that it is named after */
    bool counts;          /**< in the report's busy time: of the slowest stage, and not of its bubble */
    double events;        /**< bars that it stands for: 1, or more of what is folded */
    double bytes, busy_s; /**< busy: of compute its length */
    double ready_s, start_s, end_s;
};

/** The step once, from beginning to end. */
struct timeline_run {
    enum sim_order order; /**< GUARD: each collective in the order that was best for it */
    double time_s;
    double util_frac[TOPO_MAX_DIMS]; /**< as reports say it */
    double n_folded;                 /**< bars that are not drawn one by one */
    int32_t n_drawn;                 /**< of each repeat so many are, where some are folded */
    bool chosen;                     /**< the one that sim_step_build() reports */
};

/** Release with timeline_free(). */
struct timeline {
    struct timeline_bar *bars; /**< shape [n_bars], owned; by run, then by start, then by lane and slot */
    int32_t n_bars, cap_bars;
    struct timeline_run runs[TIMELINE_MAX_RUNS];
    int32_t n_runs;
    char (*stages)[TOPO_NAME]; /**< shape [n_stages], owned: names; [0]: of what belongs to no one, "" if
                                  there is no other */
    int32_t n_stages;
};

/**
 * Time the step as sim_step_build() does, and draw what it found: every node lasts as long as there, children
 * of a sum follow each other, those of a maximum begin together. A repeat of 2.5 is two that are as much
 * longer, one of 0.4 is one that is shorter. Bars of chunks are what was simulated; in closed forms and of
 * flows they are sim_events_of().
 *
 * Model chunk under GUARD: also with all collectives in each of the orders that it compares, where that is
 * not the same bar by bar.
 *
 * @return 0; ERR_NOMEM; ERR_RANGE: more than TIMELINE_MAX_BARS with one of each repeat, or as
 * sim_step_build(); ERR_UNSUP: the step never ends.
 */
int timeline_build(struct timeline *out, const struct step_tree *t, const struct sim_way *way, struct err *e);
void timeline_free(struct timeline *t);

#endif
