/** @file What is chosen for an answer: plans, algorithms, cuts of a graph, rows. The point itself is const.
 */
#ifndef KINDS_DESIGN_ANSWER_CHOICE_H
#define KINDS_DESIGN_ANSWER_CHOICE_H

#include "kinds/design/answer/plans.h"
#include "kinds/design/ask/point.h"

/**
 * The point that an answer is about. Until something is chosen it is the point that was asked. The first
 * choice copies that point, and the copy shares everything that is not chosen. So any number of answers, on
 * any threads, share one point and the steps that were compiled when it was read; one on a graph stays on its
 * thread (base/simplex.h). Release with choice_free() before the point that was asked, unless an answer took
 * it over (kinds/design/answer/design.h).
 */
struct design_choice {
    const struct design_point *asked; /**< borrowed */
    const struct design_point *point; /**< `asked`, or `own` */
    struct design_point *own;         /**< owned, with what is not that of `asked`; NULL: nothing is chosen */
    struct search_result
        *plans;              /**< shape [n_workloads], owned: how plans were found; NULL: none was searched */
    struct text notes;       /**< warnings about the plans that were found, a line each */
    struct alloc_kept *kept; /**< borrowed, for the splits of several answers; NULL: each is solved afresh */
};

/** Nothing is chosen yet. An answer on a graph finds its own cuts. ERR_NOMEM; safe to free after failure. */
int choice_begin(struct design_choice *c, const struct design_point *asked, struct err *e);
void choice_free(struct design_choice *c);

/** How the plan of workload @p i was found; NULL: it was not searched. */
struct search_result *choice_plans(const struct design_choice *c, int32_t i);

/** Make workload @p i, which trains a model, from another legal plan. ERR_RANGE (the plan does not lie along
 * the dimensions), ERR_NOMEM; after failure the choice can only be freed. */
int choice_take_plan(struct design_choice *c, int32_t i, const struct plan *plan, struct err *e);

/** Take the plans that an answer to the same workloads found. Errors as choice_take_plan(). */
int choice_take_plans(struct design_choice *c, const struct design_choice *from, struct err *e);

/**
 * Choose algorithms and regimes for @p bw_Bps, shape [n_dims], and compile the workloads with them.
 * ERR_NOMEM, and errors of ideal_learn(); after failure the choice can only be freed.
 */
int choice_take(struct design_choice *c, const double *bw_Bps, struct err *e);

/** Find the cuts of a graph at @p bw_Bps, shape [n_dims]; choice_take() sees them next. Nothing without one.
 */
int choice_learn(struct design_choice *c, const double *bw_Bps, struct err *e);

/** Add the row that no bandwidth is above what the key bw_GBps can say. ERR_NOMEM. */
int choice_add_most(struct design_choice *c, struct err *e);

#endif
