/** @file Designs in a grid of line panels: a column per workload, rows by network, a series per objective. */
#ifndef PLOTS_DESIGN_GRID_H
#define PLOTS_DESIGN_GRID_H

#include <stdbool.h>

#include "plots/axis.h"
#include "plots/canvas.h"
#include "plots/design.h"

/** What a row of panels shows on its y axis. */
struct design_metric {
    const char *label;        /**< without unit */
    const char *unit;         /**< used when `units` is NULL */
    const struct unit *units; /**< pick one of these by size; NULL = values are in `unit` */
    double (*value)(const struct plot_design *g);
    double (*equal)(const struct plot_design *g); /**< the equal split's value; NULL = draw no such series */
    bool low_is_better;
};

struct design_grid_spec {
    const char *x_label;
    double (*x)(const struct plot_design *g);
    bool x_integers;
    bool by_network;                     /**< a row of panels per network; else all networks in one */
    const struct design_metric *metrics; /**< shape [n_metrics]; a row each (per network) */
    int32_t n_metrics;                   /**< at most GRID_MAX_METRICS */
};

/** Draw @p d by grid_build(): a series per objective, joined along x. */
int design_grid_build(struct canvas *c, const struct plot_data *d, const struct design_grid_spec *spec,
                      struct err *e);

/** "optimised for time", ...: the legend's words for an objective; an unknown one stands for itself. */
const char *design_grid_objective_label(const char *objective);

#endif
