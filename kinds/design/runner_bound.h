/** @file Private to this folder: points of a sweep held against the front of their group before they are
 * solved.
 */
#ifndef KINDS_DESIGN_RUNNER_BOUND_H
#define KINDS_DESIGN_RUNNER_BOUND_H

#include "kinds/design/bound.h"
#include "study/kind.h"
#include "kinds/design/sweep_row.h"

/** One a thread. Zero-initialise; release with runner_bound_free(). */
struct runner_bound {
    const struct front_set *known; /**< borrowed; NULL: nothing is beaten */
    const struct study *study;     /**< borrowed */
    struct bound bound;
    struct keep *keep;         /**< owned: knows the columns that rows are held apart by */
    struct table row;          /**< what of a row is known before it is solved */
    struct text group;         /**< of the last point */
    bool possible;             /**< rows are held apart by what is known before they are solved */
    bool by_total;             /**< by the total among others */
    bool quick_group;          /**< points of one unit can be of several groups */
    bool prepared;             /**< for the study that is held */
    const struct front *front; /**< of `group`, borrowed from `known`; NULL = none */
};

/** ERR_NOMEM; ERR_PARSE: the rule names a column that rows lack; safe to free after failure. */
int runner_bound_build(struct runner_bound *b, const struct block_job *job, struct err *e);
void runner_bound_free(struct runner_bound *b);

/** Another study was read, or another unit begins: what is beaten depends on its points alone, not on those
 * before. */
void runner_bound_forget(struct runner_bound *b);

/** Is the point, whose study was read, proved to be worse than a design that is known? ERR_NOMEM. */
int runner_bound_ask(bool *beaten, struct runner_bound *b, const struct design_point *s,
                     const struct sweep_words *words, const struct sweep_point *p, int64_t point,
                     struct err *e);

#endif
