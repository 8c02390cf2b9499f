/**
 * @file Points over network cost in wrapped panels: a marker or a line per series with the front of the best,
 * or series that each have a look of their own. What one gets for a given cost is a staircase, level until
 * the next point can be paid.
 *
 * A page per workload or point would not compare: panels are wrapped, each with axes of its own, as costs of
 * clusters of different size have nothing in common.
 */
#ifndef PLOTS_SCATTER_H
#define PLOTS_SCATTER_H

#include "plots/page.h"

struct scatter_point {
    int32_t panel, series; /**< positions in the lists of struct scatter_spec */
    bool hollow;           /**< a hollow marker, never on the front */
    struct canvas_xy at;   /**< x in USD */
    double low, high;      /**< ends in y of the whisker of a point on a front; both 0: it has none */
    int64_t item;          /**< what `label` is asked about; of equal points the lowest is on the front */
};

/** How a series is drawn. */
struct scatter_look {
    struct mark mark;
    enum {
        SCATTER_POINTS,
        SCATTER_STEPS, /**< from the top down a staircase; where it rises again markers of the line */
        SCATTER_CLOUD, /**< one of those that would lie on each other */
    } as;
};

/** All borrowed. */
struct scatter_spec {
    const struct data *data; /**< whose rows are the items of points */
    const char *y_label;     /**< with unit */
    bool low_is_better;      /**< in y; else more is */
    bool lines;              /**< points of a series are joined by rising cost */
    const struct names *panels, *series;
    const struct scatter_look
        *looks;              /**< by series, drawn in turn, without a front; NULL = markers and the front */
    const int32_t *styles;   /**< by series, of the marks; NULL = the position */
    const char *panel_word;  /**< in notes: "workloads" */
    const char *hollow_note; /**< shown where there are hollow ones; may be NULL */
    /** Append the text for a point on the front, `brief` where room is short; NULL = no labels. */
    void (*label)(struct text *out, const void *of, int64_t item, bool brief);
    const void *of; /**< handed to `label` */
};

/**
 * Draw the @p n points, of the panels the first 9: a note says how many there are. The front is that of
 * filled points. Time O(panels * series * n log n), with labels O(front) calls of `label` more.
 *
 * ERR_RANGE when the page is too low for the rows of panels, ERR_NOMEM. @p points is not changed.
 */
int scatter_build(struct canvas *c, const struct scatter_point *points, int64_t n,
                  const struct scatter_spec *spec, struct err *e);

#endif
