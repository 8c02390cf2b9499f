/** @file What schedulers came to, in a grid of panels: lines over the first axis, or bars. */
#ifndef PLOTS_OUTCOMES_GRID_H
#define PLOTS_OUTCOMES_GRID_H

#include <stdbool.h>

#include "plots/axis.h"
#include "plots/canvas.h"
#include "plots/outcomes.h"

struct outcomes_metric {
    const char *label;        /**< without unit */
    const char *unit;         /**< of the values drawn, used when `units` is NULL; "" = none */
    const struct unit *units; /**< pick one of these by size */
    double scale;             /**< what the table's values are multiplied by: 100 for per cent */
    bool low_is_better;
    double most; /**< no value drawn can be more; 0 = no limit */
};

/**
 * Draw the metrics of @p o, shape [n_metrics] of them as outcomes_read() was asked for, below each other: a
 * line per scheduler over the first axis, or with @p bars, and where there is no axis, bars: grouped by the
 * axis, without one a bar per scheduler. What else varies makes panels beside each other; under one scheduler
 * alone it makes the lines and bars. Metrics without any value are left out.
 * @return 0, ERR_RANGE (the page is too low) or ERR_NOMEM.
 */
int outcomes_grid_build(struct canvas *c, const struct outcomes *o, const struct outcomes_metric *metrics,
                        int32_t n_metrics, bool bars, struct err *e);

#endif
