/** @file The best plan of parallelism for a model on a network, over every legal one. */
#ifndef KINDS_DESIGN_EXPLORE_SEARCH_H
#define KINDS_DESIGN_EXPLORE_SEARCH_H

#include "kinds/design/explore/pairs.h"

/**
 * Search @p book for the training step of a model at bandwidths @p bw_Bps. What its space does not name is as
 * in its base's plan. Deterministic for any number of threads; ties go to less memory,
 * then to the candidate that comes first.
 * @return 0; ERR_NOMEM.
 *
 * Candidates are timed in closed form by the study's model (simulated models: alpha-beta).
 */
int search_given(struct search_result *out, const struct search_book *book, const double *bw_Bps,
                 struct err *e);

/**
 * The same with the bandwidths to choose too (DESIGN_FOR_SPLIT): the best pair of plan and split. A candidate
 * is split on its own unless a lower bound on any split shows that it cannot be among the best: so, where
 * out->proved, the first is optimal over all plans and all splits, to ALLOC_GAP. In whole parts (pricing
 * whole) each candidate whose split may be best is built, and what is found and proved are whole designs.
 */
int search_split(struct search_result *out, const struct search_book *book, struct err *e);
/** The same, with splits that are for a row kept in @p kept, or taken from there. */
int search_split_kept(struct search_result *out, const struct search_book *book, struct alloc_kept *kept,
                      struct err *e);

/**
 * The same in whole parts: the best pair of plan and whole design. Where there are at most WHOLE_LIST_MAX
 * designs that may be best, every candidate that a bound does not rule out is timed on each; of more
 * designs search_split() builds each candidate on its own. The first is proved, but for lack of work.
 */
int search_whole(struct search_result *out, const struct search_book *book, struct err *e);

/** The same of several workloads that share the network, into @p c: the best mix of their plans, of those
 * that are given and those that are searched. Of each workload that is searched the k-th that is found is the
 * plan that it has in the k-th best mix. Errors as search_plans(). */
int search_mix(struct design_choice *c, struct search_shelf *shelf, struct err *e);

/**
 * Find the plans of the workloads that ask for it, and take the best: at bandwidths @p bw_Bps, shape
 * [n_dims], or where that is NULL together with the split; books are those of @p shelf, which may be NULL.
 * ERR_NO_DESIGN where there is none; ERR_PARSE and ERR_RANGE of what is to be searched; ERR_NOMEM.
 */
int search_plans(struct design_choice *c, const double *bw_Bps, struct search_shelf *shelf, struct err *e);

/** The least time of a step of workload @p i, whose plan is searched, in closed form: at bandwidths @p
 * bw_Bps, and @p most_s where no plan takes less than that; or where they are NULL with exchange free.
 * INFINITY: no plan fits. Errors as search_plans(). */
int search_least(double *least_s, const struct design_point *s, int32_t i, const double *bw_Bps,
                 double most_s, struct search_shelf *shelf, struct err *e);

/** What is asked about all pairs of plan and split of a study, and what is known of them. */
struct search_bounded {
    double most;                      /**< what takes longer is of no use [s], weighted as the next two */
    const struct search_known *known; /**< shape [n_known], borrowed: to begin with */
    int32_t n_known;
    double least;              /**< no pair takes less; INFINITY: there is none */
    struct search_known found; /**< a pair that is split, or none */
};

/** The least time over all pairs of plan and split of a study of one workload, whose plan is searched, and of
 * objective time; parts may be of any size. As sharp as is of use. What is known changes how sharp it is. Not
 * where algorithms depend on bandwidths (design_point_has_choice()). Errors as search_plans(). */
int search_split_least(struct search_bounded *b, const struct design_point *s, struct search_shelf *shelf,
                       struct err *e);

/** Find them for a study as for search_split_least(), without a split. @p out: zero but for what is asked.
 * Errors as search_plans(). */
int search_find_rivals(struct search_rivals *out, const struct design_point *s, struct search_shelf *shelf,
                       struct err *e);

/** No plan of workload @p i, which is searched, takes less, from its compute alone [s]. Errors as
 * search_plans(). */
int search_work(double *least_s, const struct design_point *s, int32_t i, struct search_shelf *shelf,
                struct err *e);

/* ---- for its parts ---- */

/** What can be searched at @p at; @p given: at bandwidths that are. ERR_PARSE, ERR_RANGE. */
int search_read_space(struct search_space *space, const struct design_point *s, yaml_id at, bool given,
                      struct err *e);

/** Whether what was found is proved, from the bounds of what was solved and what was not. */
void search_say_proof(struct search_result *out, const struct design_point *s);

/** Of a search that finds nothing, why: a book counts no more than it needs to. ERR_NOMEM. */
int search_count_plans(struct search_result *out, const struct search_book *book, struct search_shelf *shelf,
                       struct err *e);

/** Say so. Returns ERR_NO_DESIGN. */
int search_fail(const struct design_point *s, yaml_id at, const struct search_result *r, struct err *e);

#endif
