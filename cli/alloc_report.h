/** @file The answer of weft alloc as an object and as a page to read. */
#ifndef CLI_ALLOC_REPORT_H
#define CLI_ALLOC_REPORT_H

#include "cli/load.h"
#include "cli/output.h"
#include "study/axes.h"

/** One design and where in a sweep it stands. All borrowed. */
struct alloc_page {
    const struct design_point *study; /**< NULL: the point cannot be read, or solved: */
    const char *reason;               /**< why */
    const struct design *design;
    const struct sweep *sweep;       /**< its axes; NULL or without axes: one design */
    const struct study_override *at; /**< shape [n_at]: the value of each key that varies at the point */
    int32_t n_at;
};

/** A page of text, or the members of an object of JSON. */
void alloc_report_page(struct report *r, const struct alloc_page *p);

/** Scaled unit of the objective and what a value in SI is multiplied with to get there. */
struct alloc_unit {
    const char *name; /**< "s", "ratio", "s*GB/s", "s*USD", "USD" */
    double per_SI;
};
/** By the study's objective; with least regret a ratio, whatever the objective. */
struct alloc_unit alloc_unit(const struct design_point *s);

/**
 * Fall of the objective per unit of the right-hand side as written (with its limit on the right and
 * positive), rows of one text added up. NaN for STUDY_REGRET: each workload's own best moves with the row.
 */
double alloc_shadow(const struct design_point *s, const struct design *d, int32_t row);
/** Has an earlier row the same text? */
bool alloc_is_repeated(const struct design_point *s, int32_t row);

#endif
