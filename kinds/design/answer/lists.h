/**
 * @file What a design consists of, as tables: dimensions, bill, constraints, steps of whole parts, evidence,
 * what is owned and what fails. Each row is a flat struct with a list of columns.
 */
#ifndef KINDS_DESIGN_ANSWER_LISTS_H
#define KINDS_DESIGN_ANSWER_LISTS_H

#include "base/column.h"
#include "kinds/design/answer/explain.h"
#include "kinds/design/ask/system.h"

/** One dimension; design_dim_columns describes it. */
struct design_dim {
    const char *dim, *shape;
    int64_t size;
    double bw_GBps, least_GBps, most_GBps, sent_B, busy_s, utilization, usd_per_GBps, cost_usd;
};
extern const struct column design_dim_columns[];
struct design_dim design_dim(const struct design_point *s, const struct design *d, int32_t k);

/** One line of the bill; design_bill_columns describes it. */
struct design_bill_line {
    const char *dimension;
    struct topo_bill_line of;
    int32_t watt_grade;           /**< -1: its power is not known */
    double shown_low, shown_high; /**< NaN: the price itself */
};
extern const struct column design_bill_columns[];
struct design_bill_line design_bill_line(const char *dimension, const struct topo_bill_line *of);

/** What lists are of; borrowed. */
struct design_view {
    const struct design_point *study;
    const struct design *design;   /**< it has bandwidths */
    const struct system *system;   /**< NULL: none; with its `racks` not known: as none */
    const struct explain *explain; /**< NULL: lists that `explains` have no rows */
};

/** A design with all that its lists show. */
struct design_shown {
    struct design_view view;
    struct system machine; /**< of view.system */
    struct explain explain;
};
/**
 * Work out what the lists of @p d, which design_for_row() solved, show: its bill, which goes into @p d, the
 * machine it is part of, and with @p explains what limits it. Errors as system_build(), explain_build().
 * @param[out] shown  uninitialised; design_shown_free(), also after failure.
 */
int design_shown_build(struct design_shown *shown, struct design *d, bool explains, struct err *e);
void design_shown_free(struct design_shown *shown);

struct design_list_rows;

/** One list of rows that a design has. */
struct design_list {
    const char *name; /**< "bill", "shadow_prices", ... */
    const struct column *columns;
    /* private */
    int (*put)(const struct design_list_rows *x);
    bool owns, explains; /**< it is of view.system, of view.explain */
};
/** All of them; the last one's name is NULL. */
extern const struct design_list design_lists[];

/** The rows; of what the design does not have, none. @p out is zero. ERR_NOMEM. */
int design_list_build(struct table *out, const struct design_list *list, const struct design_view *v,
                      struct err *e);

#endif
