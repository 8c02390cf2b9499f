/**
 * @file Rows over an axis that panels share; spans of colours in lanes, folded where there are too many;
 * loads as shades.
 *
 * Used by schedules (fig_gantt.c), steps (fig_timeline.c), costs (fig_hetero.c) and plans (fig_strip.c).
 */
#ifndef PLOTS_LANES_H
#define PLOTS_LANES_H

#include "plots/data.h"

/** All borrowed. */
struct strips {
    const char *const *names; /**< shape [n_panels]: above each panel */
    int32_t n_panels, n_rows; /**< every panel has the same rows, from the top */
    const double *tops; /**< shape [n_rows+1]: where rows begin and the last ends, in y; NULL = 0, 1, 2.. */
    const char *const *labels; /**< shape [n_rows], at the left */
    double label_share;        /**< of the page, which they take at most; 0: as the other figures */
    /** Where they would be cut they stand above their rows, which grow: set to the share of a row's height
     * that a label takes, else 0. NULL: they are cut. Not with `tops`. */
    double *head;
    const char *const *ends; /**< shape [n_panels][n_rows], numbers at the right; NULL = none */
    double end_px;           /**< at least so wide */
    const char *end_label;   /**< above them */
    double unit_px,
        least_unit_px; /**< height of 1 of y: wanted, and the least; 0 = for rows of points or bars */
    bool plain; /**< a label for each row however low, no rules between, names as wide as their panel, and so
                     the heading of the ends */
    struct axis x;
    const struct axis *xs; /**< shape [n_panels]: of panels whose axes differ; NULL = all as x */
    const char *x_label;
    /** Draw what panel @p panel holds; @p box is where it is on the page. */
    void (*paint)(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of);
    void *of; /**< handed to `paint` */
};

/**
 * Draw the panels on a page whose notes and legend are set. ERR_RANGE when the page is too low.
 *
 * `paint` is called once per panel, from the first, between canvas_panel() and canvas_draw(): it may put
 * texts, and blocks after them. Rows count downwards: y of `tops` rises from the top of a panel.
 */
int strips_build(struct canvas *c, const struct strips *spec, struct err *e);

/* ---- spans ---- */

/**
 * A stretch of one colour in a lane.
 *
 * In units of the x axis, not of the table.
 */
struct lane_span {
    double start, end;
    int32_t paint; /**< 0..SPAN_PAINTS-1 */
    bool alone;    /**< one bar, long enough to be told from its neighbours */
};
enum { SPAN_PAINTS = 16 };

/** The spans of one lane. */
struct lane {
    int32_t panel;
    double top, low;         /**< in y */
    struct lane_span *spans; /**< shape [n], sorted, without overlap */
    int64_t n;
};

/**
 * Fold the spans of all lanes in place until at most @p most are left, for a picture whose pixels are @p px
 * of x long. Those not alone close up: within a tolerance each colour becomes one span, and gaps of one
 * colour close as long as this moves no bar further than a tolerance, which is doubled up to @p coarsest_px.
 * The sum of lengths of each colour stays what it was. Time O(n) for each tolerance.
 *
 * Lanes keep their array and get a smaller n. More than @p most may be left when all are alone, or when even
 * the coarsest tolerance does not do.
 */
void lanes_fold(struct lane *lanes, int64_t n, int64_t most, double px, double coarsest_px);
/** The spans of one paint in a panel, of one shape per lane: that keeps an SVG small. Viewers of PDF show the
 * edge of no height that joins its boxes, and a PDF is compressed: there each box is a shape of its own. */
void lanes_put(struct canvas *c, const struct lane *lanes, int64_t n, int32_t panel, int32_t paint,
               struct mark mark);

/* ---- loads ---- */

/** Loads by the fifth: paint 0 is none, which is white, then up to 20, 40, 60, 80 and 100 %, then overload.
 */
enum { LOAD_PAINTS = 7 };
/** NaN and what is not above zero: 0. */
int32_t lanes_load_paint(double load_frac);
/** Legend of the paints @p used, shape [LOAD_PAINTS]. */
void loads_put_legend(struct canvas *c, const bool *used);
/** Within strips.paint: the lanes of a panel, folded. */
void loads_put(struct canvas *c, struct lane *lanes, int64_t n, int32_t panel, double px);

#endif
