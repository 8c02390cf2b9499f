/** @file Grids of panels with shared axes, of lines or of grouped bars: columns and rows of panels, a row
 * each per quantity. */
#ifndef PLOTS_GRID_H
#define PLOTS_GRID_H

#include <stdbool.h>
#include <stdint.h>

#include "plots/axis.h"
#include "plots/canvas.h"

enum { GRID_MAX_METRICS = 2, GRID_MAX_COLUMNS = 5, GRID_MAX_ROWS = 6, GRID_MAX_CATEGORIES = 24 };

/** What is drawn at one x of one series. */
struct grid_point {
    int32_t column, row, series; /**< positions in the lists of struct grid_spec */
    double x;                    /**< with categories the position of one */
    double y[GRID_MAX_METRICS];
    double half[GRID_MAX_METRICS];  /**< half the interval around y; NaN = none */
    double equal[GRID_MAX_METRICS]; /**< the equal split's value, where the metric has one */
};

/** What a row of panels shows on its y axis. */
struct grid_metric {
    const char *label;        /**< without unit */
    const char *unit;         /**< used when `units` is NULL; "" = none */
    const struct unit *units; /**< pick one of these by size; NULL = values are in `unit` */
    bool equal;               /**< draw the equal split's series */
    bool low_is_better;
    double most; /**< no value can be more: the axis ends there; 0 = no limit */
};

struct grid_series {
    const char *label;
    int32_t style; /**< of MARK_LINE; with categories of MARK_FILL */
};

/** All borrowed. */
struct grid_spec {
    const char *x_label;           /**< "" = none */
    bool x_integers, x_tight;      /**< a tic at each whole number; an axis from the least x, not from zero */
    bool high;                     /**< panels are higher than they need be where many are below each other */
    const char *const *categories; /**< shape [n_categories], below groups of bars; NULL = lines over x */
    int32_t n_categories;
    const char *const *columns; /**< shape [n_columns], names of panels beside each other */
    int32_t n_columns;
    const char *const *rows; /**< shape [n_rows], names of panels below each other; NULL = one row */
    int32_t n_rows;
    const struct grid_series *series; /**< shape [n_series] */
    int32_t n_series;
    const struct grid_metric *metrics; /**< shape [n_metrics]; a row of panels each (per row) */
    int32_t n_metrics;
    const char *column_word, *row_word, *point_word; /**< in notes: "workloads", "networks", "designs" */
};

/**
 * Draw the @p n > 0 points. Where several points of a series share an x, the best is shown and a note says
 * so. At most GRID_MAX_COLUMNS columns, GRID_MAX_ROWS rows and GRID_MAX_CATEGORIES categories are drawn; a
 * note says how many there are. Time O(panels * n), plus sorting.
 */
int grid_build(struct canvas *c, const struct grid_point *points, int64_t n, const struct grid_spec *spec,
               struct err *e);

#endif
