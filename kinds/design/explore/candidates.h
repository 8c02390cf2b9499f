/** @file What the searches of plans share: candidates as they are visited, what they take, the best of them.
 */
#ifndef KINDS_DESIGN_EXPLORE_CANDIDATES_H
#define KINDS_DESIGN_EXPLORE_CANDIDATES_H

#include "kinds/design/explore/clock.h"
#include "kinds/design/answer/choice.h"

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

struct search_book;

/** A candidate that fits: a plan, and one of its places. */
struct search_candidate {
    const struct plan *plan; /**< its order is not that of the place */
    const struct plan_cost *cost;
    double memory_B;
    int64_t rank;
    struct search_clock *clocks; /**< shape [SEARCH_WAYS]: of each of the pass's ways, at this place */
    const enum plan_axis *order; /**< shape [N_PLAN_AXES] */
};

/** Its plan, memory and rank; the rest is zero. */
struct search_found search_found_of(const struct search_candidate *c);

/** Set out->unique from the lower bounds of those found, and of those left. */
void search_say_unique(struct search_result *out, int32_t n_dims);

/** How the study times collectives at bandwidths @p bw_Bps, in closed form. */
struct collective_way search_way(const struct design_point *s, const double *bw_Bps);

/** The best plans at bandwidths @p bw_Bps by their time in closed form, @p most of them. ERR_NOMEM; free @p
 * out in any case. */
int search_fastest(struct search_best *out, const struct search_book *book, const double *bw_Bps,
                   int32_t most, struct err *e);

/** The step of @p plan in closed form, times the weight of the study's workload, with algorithms for @p
 * bw_Bps. Release with step_fn_free(). ERR_NOMEM. */
int search_compile_plan(struct step_fn *fn, const struct plan *plan, const struct training *base,
                        const struct design_point *s, const double *bw_Bps, struct err *e);

#endif
