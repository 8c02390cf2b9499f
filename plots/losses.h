/** @file The rows of `weft gossip --curves`: training over time, a run per point, method and seed; means of
 * the seeds. */
#ifndef PLOTS_LOSSES_H
#define PLOTS_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "plots/names.h"
#include "plots/points.h"
#include "plots/rows.h"

/** After so many steps; means of the seeds. */
struct losses_step {
    double steps, time_s, loss, exchanges;
};

/** The seeds of one method at one point. */
struct losses_line {
    int32_t point, method; /**< panel; position in `methods` */
    int32_t n_seeds;
    const struct losses_step *list; /**< shape [n], by steps: those that every seed has */
    int64_t n;                      /**< >= 1 */
};

struct losses_row;

/** Zero-initialise; release with losses_free(). */
struct losses {
    struct points points;
    struct names methods;      /**< owned texts: of the whole table, so that a filter changes no colour */
    struct losses_line *lines; /**< shape [n_lines], owned; by point and method */
    int32_t n_lines;
    int64_t n_short;           /**< lines of which a seed ends before another: they end with the first */
    int64_t n_blank;           /**< methods without a step that every seed has, counted at each point */
    bool smoothed;             /**< lines of 40 steps and more: loss is a running mean over 5 % of them */
    struct losses_step *steps; /**< owned */
    struct losses_row *read;   /**< owned: rows as read */
    int64_t n_read;
};

/**
 * Read the rows of @p r that pass its filters, of the first @p max_points points. A row without a time, a
 * loss or exchanges does not count: that run has diverged. Time O(rows * (log rows + columns)).
 * @return 0; ERR_PARSE: a cell holds what cannot be, or no row is left; ERR_NOMEM
 */
int losses_read(struct losses *x, const struct rows *r, int32_t max_points, struct err *e);
void losses_free(struct losses *x);

#endif
