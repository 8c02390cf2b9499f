/** @file Horizontal bars, a row per design: stacked parts, or one bar per part. */
#ifndef PLOTS_BARS_H
#define PLOTS_BARS_H

#include <stdbool.h>

#include "plots/axis.h"
#include "plots/canvas.h"
#include "plots/design.h"

enum { BARS_MAX_OWN = 10, BARS_MAX_PARTS = PLOT_MAX_DIMS + BARS_MAX_OWN };

/** A part that is no dimension. */
struct bars_own {
    const char *label;
    int32_t fill; /**< style of MARK_FILL */
};

/** One part of a design's bar: a dimension, or one of the figure's own parts. */
struct bars_part {
    int32_t dim; /**< index into the design's dimensions; -1 = one of the figure's own */
    int32_t own; /**< index into those, where dim = -1 */
    double value;
};

struct bars_spec {
    const char *axis_label;   /**< without unit */
    const char *unit;         /**< of the values, used when `units` is NULL */
    const struct unit *units; /**< pick by size; NULL = values are in `unit` */
    const char *dim_prefix;   /**< before a dimension's name in the legend: "exposed: " */
    const char *end_label;    /**< heading of the numbers at the right end; NULL = none */
    const struct bars_own
        *own;      /**< shape [n_own]; the legend has them in this order, dimensions after the first */
    int32_t n_own; /**< at most BARS_MAX_OWN */
    bool stacked;
    double axis_max; /**< 0 = fit */
    /** Fill @p parts (room for BARS_MAX_PARTS) for @p g and return how many. */
    int32_t (*parts)(const struct plot_design *g, struct bars_part *parts);
    /** Append the text at the right end of the bar; NULL when end_label is. */
    void (*end)(const struct plot_design *g, struct text *out);
};

/** Draw the first 24 designs of @p d (as many as make 96 bars when not stacked); a note says how many there
 * are. */
int bars_build(struct canvas *c, const struct plot_data *d, const struct bars_spec *spec, struct err *e);

/** Append @p seconds with three digits and its unit: "751 ms". */
void bars_put_time(struct text *out, double seconds);

#endif
