/** @file The answer of weft alloc as an object and as a page to read. */
#ifndef CLI_ALLOC_REPORT_H
#define CLI_ALLOC_REPORT_H

#include "cli/load.h"
#include "cli/output.h"
#include "kinds/design/answer/price.h"
#include "study/axes.h"

/** One design and where in a sweep it stands. All borrowed. */
struct alloc_page {
    const struct design_point *study; /**< NULL: the point cannot be read, or solved: */
    const char *reason;               /**< why */
    const struct design *design;
    const struct sweep *sweep;       /**< its axes; NULL or without axes: one design */
    const struct study_override *at; /**< shape [n_at]: the value of each key that varies at the point */
    int32_t n_at;
    struct design_price *prices; /**< shape [n_prices]: set by alloc_report_page() */
    int32_t n_prices;
};

/** A page of text, or the members of an object of JSON. */
void alloc_report_page(struct report *r, const struct alloc_page *p);

#endif
