/** @file Private to search*.c: every candidate of a search, by several threads. */
#ifndef KINDS_DESIGN_SEARCH_RUN_H
#define KINDS_DESIGN_SEARCH_RUN_H

#include "kinds/design/search_best.h"
#include "kinds/design/search_time.h"

/** A candidate that fits: a plan, and one of its places. */
struct search_candidate {
    const struct plan *plan; /**< its order is not that of the place */
    const struct plan_cost *cost;
    double memory_B;
    int64_t rank;
    struct search_clock *clocks; /**< shape [SEARCH_PLACES]: of each of the run's ways, at this place */
    const enum plan_axis *order; /**< shape [N_PLAN_AXES] */
};

enum { SEARCH_WAYS = 2 /**< sets of bandwidths that a run may time a candidate at */ };

/** What a thread does with a candidate; @p mine is its own. It cannot fail: it notes lack of memory in mine.
 */
typedef void (*search_take)(void *mine, const struct search_candidate *c);

struct search_run {
    const struct search_space *space;
    const struct design_point *study;
    const struct training *base;
    struct collective_way ways[SEARCH_WAYS];
    int32_t n_ways;
    search_take take;
    void **mine; /**< shape [n_threads] */
    int32_t n_threads;
};

/** How many threads a run has. */
int32_t search_threads(void);

/**
 * Visit every legal plan at every place that fits the NPU's memory; counts into @p out. Which thread gets
 * what is not determined, ranks are. ERR_NOMEM.
 */
int search_run(struct search_result *out, const struct search_run *r, struct err *e);

/** How the study times collectives at bandwidths @p bw_Bps, in closed form. */
struct collective_way search_way(const struct design_point *s, const double *bw_Bps);

/** search_given() for another number of the best. */
int search_fastest(struct search_result *out, const struct search_space *space, const struct design_point *s,
                   const struct training *base, const double *bw_Bps, int32_t most, struct err *e);

/** A candidate as it is kept. */
struct search_found search_found_of(const struct search_candidate *c);

#endif
