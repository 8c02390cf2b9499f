/** @file What schedulers of jobs came to, in grids: struct plot_figure.look of those figures. */
#ifndef PLOTS_FIG_PLACE_H
#define PLOTS_FIG_PLACE_H

#include "plots/fig.h"
#include "plots/grid.h"

struct place_grid {
    struct place_metric {
        const char *column, *label, *unit;
        const struct unit *units; /**< pick one of these by size */
        bool per_cent;            /**< a share in the table; no more than 100 */
        bool low_is_better;
    } metrics[GRID_MAX_METRICS];
    int32_t n_metrics;
    bool bars;
    const char *title; /**< NULL: the figure's help */
};

int place_grid(struct canvas *c, const struct rows *r, struct err *e);

#endif
