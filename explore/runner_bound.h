/** @file Private to explore/: which points of a sweep need not be solved, for what is known of the others. */
#ifndef EXPLORE_RUNNER_BOUND_H
#define EXPLORE_RUNNER_BOUND_H

#include "explore/bound.h"
#include "explore/runner.h"
#include "explore/sweep_row.h"

/** One a thread. Zero-initialise; release with runner_bound_free(). */
struct runner_bound {
    const struct front_set *known; /**< borrowed; NULL = nothing is asked */
    const struct sweep *sweep;     /**< borrowed */
    struct bound bound;
    struct keep *keep; /**< knows the columns that rows are held apart by; no row is offered to it */
    bool prepared;     /**< bound is of the unit under way */
    bool total;        /**< a point's total holds it apart */
    bool possible;     /**< rows are held apart by what is known before they are solved */
    struct table row;  /**< what is known of one point */
    struct text group;
};

/** For job->known by job->rule; without known, nothing. ERR_NOMEM. */
int runner_bound_begin(struct runner_bound *b, const struct runner_job *job, struct err *e);
void runner_bound_free(struct runner_bound *b);

/** Another unit begins: what is beaten depends on its points alone, not on those before. */
void runner_bound_unit(struct runner_bound *b);

/** Is the point, whose study is @p s, proved to be worse than one that is known? ERR_NOMEM. */
int runner_bound_ask(bool *beaten, struct runner_bound *b, const struct study *s,
                     const struct sweep_words *words, const struct sweep_point *p, struct err *e);

#endif
