/**
 * @file Any columns of any table as points, lines or bars: `weft plot xy`.
 *
 * The one figure that needs no table of a known kind; what it chooses by itself, by names of columns, is
 * listed in docs of `weft plot` and in xy.c. The spec is borrowed for the call.
 */
#ifndef PLOTS_XY_H
#define PLOTS_XY_H

#include <stdbool.h>

#include "plots/figure.h"
#include "plots/marks.h"

enum plot_xy_scale { PLOT_XY_FIT, PLOT_XY_LINEAR, PLOT_XY_LOG };

/** How the rows with one word of `color` are drawn. */
struct plot_xy_look {
    const char *word, *label; /**< label: in the legend */
    struct mark mark;
    bool steps; /**< a staircase from the top down; where it rises again, markers of the line */
};

/** What is drawn how. All borrowed; NULL and 0 are the defaults. */
/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order that tables are written in */
struct plot_xy {
    const char *x, *y[2]; /**< columns; of y a row of panels each. NULL: those that are mostly compared */
    const char *color, *shape;      /**< columns that tell series apart; "" = none */
    const char *facet, *facet_rows; /**< columns that make panels, several with commas between; "" = none */
    bool shared;                    /**< one scale for all panels; always so in a grid */
    enum plot_xy_scale scale[2];    /**< of x, of y */
    const char *range[2];           /**< "LO:HI", either may be blank */
    const char *axis_label[3]; /**< in place of title and unit by the column's name, of x and of each y */
    bool join, bars;           /**< lines by x, the best y of equal x; bars over words */
    const char *front;         /**< "min,max": what is better in x and y (and the second y); "no": no front */
    const char *label;         /**< "knee", "front", "top", or a column: rows that fill it have a text */
    const char *text;          /**< columns that texts show, with commas between; "" = none, a ring alone */
    int64_t top;               /**< so many best rows of each facet; 0 = all */
    const char *by;            /**< column by which they are best: y */
    bool behind;               /**< other rows stay as a grey cloud */

    /* For the figures of plots/figures.c alone: their axis_label gets the unit of the axis. */

    const char *status; /**< rows of another one are left out; NULL: of none */
    double
        y_times; /**< what is drawn of y is so many times its column; 0: its column, in the unit that fits */
    bool y_inverse;       /**< or so many over it, which must be above 0 */
    const char *equal[2]; /**< columns of x and y of a second, hollow point of each row, never on the front */
    double y_better[2];   /**< -1 less, 1 more is better, where the table knows no direction */
    bool y_signed;        /**< y may be below 0, and so may whiskers of what is not */
    double y_most;        /**< whiskers end there; 0: nowhere */
    const char *whiskers; /**< what they are, and they are seen whole; NULL: the name of their column */
    bool plain;           /**< without whiskers */
    const char *hollow;   /**< what hollow points are; NULL: designs that do not fit the memory */
    const struct plot_xy_look *looks; /**< shape [n_looks], drawn in turn: of the words of `color`, other rows
                                           are left out */
    int32_t n_looks;
};

/** As plot_draw(); ERR_USAGE: a column that is not there, words where numbers are needed, a range that is
 * none.
 */
int plot_xy_draw(const struct plot_xy *spec, const struct table *t, const struct plot_options *opt,
                 struct text *out_image, struct err *e);
/**
 * The columns of @p t: kind, values, how many are distinct, least, most, what is better. ERR_NOMEM
 *
 * Time O(cells). A column with one cell that is no number is one of words.
 */
int plot_xy_list(const struct table *t, struct text *out, struct err *e);

#endif
