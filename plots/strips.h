/** @file Rows over a time axis that panels share, and loads in them as shades: fig_gantt, fig_links. */
#ifndef PLOTS_STRIPS_H
#define PLOTS_STRIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "plots/axis.h"
#include "plots/canvas.h"
#include "plots/lanes.h"

/** All borrowed. */
struct strips_spec {
    const char *const *names; /**< shape [n_panels]: above each panel */
    int32_t n_panels, n_rows; /**< every panel has the same rows, from the top */
    const double *tops; /**< shape [n_rows+1]: where rows begin and the last ends, in y; NULL = 0, 1, 2.. */
    const char *const *labels;     /**< shape [n_rows], at the left */
    const char *const *ends;       /**< shape [n_panels][n_rows], numbers at the right */
    const char *end_label;         /**< above them */
    double unit_px, least_unit_px; /**< height of 1 of y: wanted, and the least */
    struct axis x;                 /**< from 0 */
    const char *x_label;
    /** Draw what panel @p panel holds; @p box is where it is on the page. */
    void (*paint)(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of);
    void *of; /**< handed to `paint` */
};

/** Draw the panels on a page whose notes and legend are set. ERR_RANGE when the page is too low. */
int strips_build(struct canvas *c, const struct strips_spec *spec, struct err *e);

/** Loads by the fifth: paint 0 is none, which is white, then up to 20, 40, 60, 80 and 100 %, then overload.
 */
enum { STRIPS_PAINTS = 7 };
int32_t strips_paint(double load_frac);
/** Legend of the paints @p used, shape [STRIPS_PAINTS]. */
void strips_put_legend(struct canvas *c, const bool *used);

/** The spans of one row. */
struct strips_row {
    int32_t row;
    struct lanes_span *spans; /**< shape [n], sorted, without overlap; paints of strips_paint() */
    int64_t n;
};

/** Within `paint`: the spans of @p n rows, of all paints but none, folded in place for pixels that are @p px
 * of x long. */
void strips_put_rows(struct canvas *c, struct strips_row *rows, int64_t n, double px);

#endif
