/**
 * @file The rows of `weft hetero --curves`: cost of the best plan so far over evaluations, a run per point,
 * scheduler and seed, joined over the seeds.
 */
#ifndef PLOTS_CURVES_H
#define PLOTS_CURVES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "plots/names.h"
#include "plots/points.h"
#include "plots/rows.h"

enum { CURVES_MAX_POINTS = 6 };

/** From these evaluations on. Seeds without a plan so far count as infinite. */
struct curves_step {
    double evaluations; /**< >= 1 */
    double middle;      /**< median over the seeds; of an even number the mean of the two in the middle */
    double lo, hi;      /**< of the best and the worst seed */
};

/** The seeds of one scheduler at one point. */
struct curves_line {
    int32_t point, scheduler; /**< panel; position in `schedulers` */
    int32_t n_seeds;
    const struct curves_step *steps; /**< shape [n_steps], rising; each differs from the one before */
    int64_t n_steps;
    double end; /**< evaluations of the longest run */
};

struct curves_row;

/** Zero-initialise; release with curves_free(). */
struct curves {
    struct points points;
    struct names schedulers; /**< owned texts: those of lines, in the order of the table */
    int32_t *styles; /**< shape [schedulers.n], owned: position among all of the table, so that a filter
                          changes no colour */
    struct curves_line *lines; /**< shape [n_lines], owned; by point and scheduler */
    int32_t n_lines;
    bool in_usd;               /**< no row knows the cost over the oracle's */
    bool any_zero;             /**< evaluations of 0 stand at 1 */
    int64_t n_blank;           /**< schedulers without any plan, counted at each point */
    struct curves_step *steps; /**< owned */
    struct curves_row *read;   /**< owned: rows as read */
    int64_t n_read;
};

/**
 * Read the rows of @p r that pass its filters, of the first CURVES_MAX_POINTS points. A row without a cost
 * says how far its seed went; costs that rise do not count. Time O(rows * (log rows + seeds log seeds)).
 * @return 0; ERR_PARSE: a cell holds what cannot be, or no row is left; ERR_NOMEM
 */
int curves_read(struct curves *x, const struct rows *r, struct err *e);
void curves_free(struct curves *x);

#endif
