/** @file What the searches of plans share: candidates as they are visited, what they take, the best of them.
 */
#ifndef KINDS_DESIGN_EXPLORE_CANDIDATES_H
#define KINDS_DESIGN_EXPLORE_CANDIDATES_H

#include "kinds/design/explore/clock.h"
#include "kinds/design/answer/choice.h"

struct search_space;

/** The best few so far. Reserve; release with search_best_free(). */
struct search_best {
    struct search_found *found; /**< shape [n], owned; best first */
    int32_t n, most;
    struct incumbent last; /**< the last of them, once they are as many as are asked for */
};

/** @p margin as in struct incumbent. */
int search_best_reserve(struct search_best *b, int32_t most, double margin, struct err *e);
void search_best_free(struct search_best *b);
/** Less value, then less memory, then earlier. */
bool search_is_better(const struct search_found *a, const struct search_found *b);
/** Sorted insertion, each rank once; plans of equal value keep the lower rank, whatever thread found them. */
void search_best_add(struct search_best *b, const struct search_found *f);

/** A candidate that fits: a plan, and one of its places. */
struct search_candidate {
    const struct plan *plan; /**< its order is not that of the place */
    const struct plan_cost *cost;
    double memory_B;
    int64_t rank;
    struct search_clock *clocks; /**< shape [SEARCH_WAYS]: of each of the run's ways, at this place */
    const enum plan_axis *order; /**< shape [N_PLAN_AXES] */
};

/** Its plan, memory and rank; the rest is zero. */
struct search_found search_found_of(const struct search_candidate *c);

enum { SEARCH_WAYS = 2 /**< sets of bandwidths that a run may time a candidate at */ };

/** What a thread does with a candidate; @p mine is its own. It cannot fail: it notes lack of memory in mine.
 */
typedef void (*search_take)(void *mine, const struct search_candidate *c);

/** Are all @p n places of a plan of no use, if none takes less than @p least_s at the first of the run's
 * ways? Then they were counted, and are not taken one by one. */
typedef bool (*search_skip)(void *mine, double least_s, int32_t n);

struct search_run {
    const struct search_space *space;
    const struct design_point *study;
    const struct training *base;
    struct collective_way ways[SEARCH_WAYS];
    int32_t n_ways;
    search_take take;
    search_skip skip;
    void **mine; /**< shape [n_threads] */
    int32_t n_threads;
};

/** Visits every legal plan of @p r at every place that fits the NPU's memory; ranks do not depend on
 * threads. Counts begin at zero: the search may be run twice. ERR_NOMEM. */
int search_run(struct search_result *out, const struct search_run *r, struct err *e);

int32_t search_threads(void);

/** Set out->unique from the lower bounds of those found, and of those left. */
void search_say_unique(struct search_result *out, int32_t n_dims);

/** How the study times collectives at bandwidths @p bw_Bps, in closed form. */
struct collective_way search_way(const struct design_point *s, const double *bw_Bps);

/** search_given() for another number of the best. */
int search_fastest(struct search_result *out, const struct search_space *space, const struct design_point *s,
                   const struct training *base, const double *bw_Bps, int32_t most, struct err *e);

/** The step of @p plan in closed form, times the weight of the study's workload, with algorithms for @p
 * bw_Bps. Release with step_fn_free(). ERR_NOMEM. */
int search_compile_plan(struct step_fn *fn, const struct plan *plan, const struct training *base,
                        const struct design_point *s, const double *bw_Bps, struct err *e);

#endif
