/**
 * @file Grids of panels with shared axes, of lines or of grouped bars: columns and rows of panels, a row each
 * per quantity. Designs over bandwidth or depth, and what schedulers of jobs came to.
 *
 * The caller reads the table and says by arrays over its rows in which column, row of panels, series and
 * place each one is; what lies on each other, axes, room and notes are decided here.
 */
#ifndef PLOTS_GRID_H
#define PLOTS_GRID_H

#include "plots/data.h"

enum { GRID_MAX_METRICS = 2, GRID_MAX_COLUMNS = 5, GRID_MAX_ROWS = 8, GRID_MAX_CATEGORIES = 24 };

/** What a row of panels shows on its y axis: declared by columns of the table, then read. */
struct grid_metric {
    const char *column; /**< NULL = `y` is set by hand */
    const char *label;  /**< without unit */
    const char *unit;   /**< "" = none; NULL = that of the column, in the multiple that fits */
    bool low_is_better;
    bool change;   /**< may be below 0 */
    bool per_cent; /**< a share in the table: no value can be more than 100 % */
    const char
        *equal_column; /**< the equal split's value; "1" = `reference` is 1 for all; NULL = not drawn */
    const double *y,
        *half; /**< by row of the figure, NaN = none; half the interval around y, NULL = none has one */
    const double *equal;    /**< NULL: `reference` for all, which is not drawn when 0 */
    double reference, most; /**< most: the axis ends there; 0 = no limit */
};

/** All borrowed. */
struct grid_spec {
    const struct data *data; /**< whose rows these are */
    const int64_t *order;    /**< shape [n], rows of the figure that are drawn; NULL = the first n */
    int64_t n;
    const double *x;               /**< by row; with categories the position of one */
    const char *x_label;           /**< "" = none */
    bool x_integers, x_tight;      /**< a tic at each whole number; an axis from the least x, not from zero */
    bool high;                     /**< panels are higher than they need be where many are below each other */
    const char *const *categories; /**< shape [n_categories], below groups of bars; NULL = lines over x */
    int32_t n_categories;
    const struct facet *columns, *rows,
        *series;                       /**< panels beside and (NULL = one row) below each other; lines */
    const char *const *series_labels;  /**< NULL: the names of `series` */
    const int32_t *styles;             /**< of MARK_LINE; with categories of MARK_FILL */
    const struct grid_metric *metrics; /**< shape [n_metrics]; a row of panels each (per row) */
    int32_t n_metrics;
    const char *column_word, *row_word; /**< in notes: "workloads", "networks" */
};

/**
 * Draw the rows, n > 0. Where several of a series share an x, the best is shown, by each quantity. At most
 * GRID_MAX_COLUMNS columns, GRID_MAX_ROWS rows and GRID_MAX_CATEGORIES categories are drawn; a note says how
 * many there are. Time O(panels * n), plus sorting.
 *
 * Points whose y is NaN are not drawn. Rows of which nothing is drawn are left out by canvas_leave_out().
 * ERR_RANGE when the page is too low for the rows, ERR_NOMEM.
 */
int fig_draw_grid(struct canvas *c, const struct grid_spec *spec, struct err *e);

#endif
