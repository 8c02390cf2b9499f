/**
 * @file Grids of panels with shared axes: columns and rows of panels, a row each per quantity. Designs over
 * bandwidth or depth.
 *
 * The caller reads the table and says by arrays over its rows in which column, row of panels, series and
 * place each one is; what lies on each other, axes, room and notes are decided here.
 */
#ifndef PLOTS_GRID_H
#define PLOTS_GRID_H

#include "plots/data.h"

enum { GRID_MAX_METRICS = 2, GRID_MAX_COLUMNS = 5, GRID_MAX_ROWS = 8 };

/** What a row of panels shows on its y axis: declared by columns of the table, then read. */
struct grid_metric {
    const char *column; /**< NULL = `y` is set by hand */
    const char *label;  /**< without unit */
    const char *unit;   /**< "" = none; NULL = that of the column, in the multiple that fits */
    bool low_is_better;
    const char
        *equal_column;   /**< the equal split's value; "1" = `reference` is 1 for all; NULL = not drawn */
    const double *y;     /**< by row of the figure, NaN = none */
    const double *equal; /**< NULL: `reference` for all, which is not drawn when 0 */
    double reference;
};

/** All borrowed. */
struct grid_spec {
    const struct data *data; /**< whose rows these are */
    const int64_t *order;    /**< shape [n], rows of the figure that are drawn; NULL = the first n */
    int64_t n;
    const double *x;     /**< by row */
    const char *x_label; /**< "" = none */
    bool x_integers;     /**< a tic at each whole number */
    const struct facet *columns, *rows,
        *series; /**< panels beside and (NULL = one row) below each other; lines */
    const char *const *series_labels;
    const int32_t *styles;             /**< of MARK_LINE */
    const struct grid_metric *metrics; /**< shape [n_metrics]; a row of panels each (per row) */
    int32_t n_metrics;
    const char *column_word, *row_word; /**< in notes: "workloads", "networks" */
};

/**
 * Draw the rows, n > 0. Where several of a series share an x, the best is shown, by each quantity. At most
 * GRID_MAX_COLUMNS columns and GRID_MAX_ROWS rows are drawn; a note says how many there are. Time O(panels *
 * n), plus sorting.
 *
 * Points whose y is NaN are not drawn. Rows of which nothing is drawn are left out by canvas_leave_out().
 * ERR_RANGE when the page is too low for the rows, ERR_NOMEM.
 */
int fig_draw_grid(struct canvas *c, const struct grid_spec *spec, struct err *e);

#endif
