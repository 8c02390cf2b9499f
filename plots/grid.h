/** @file Grids of line panels with shared axes: a column per workload, rows by network and quantity. */
#ifndef PLOTS_GRID_H
#define PLOTS_GRID_H

#include "plots/axis.h"
#include "plots/canvas.h"
#include "plots/design.h"

/** What a row of panels shows on its y axis. */
struct grid_metric {
    const char *label;        /**< without unit */
    const char *unit;         /**< used when `units` is NULL */
    const struct unit *units; /**< pick one of these by size; NULL = values are in `unit` */
    double (*value)(const struct plot_design *g);
    double (*equal)(const struct plot_design *g); /**< the equal split's value; NULL = draw no such series */
    bool low_is_better;
};

struct grid_spec {
    const char *x_label;
    double (*x)(const struct plot_design *g);
    bool x_integers;
    bool by_network;                   /**< a row of panels per network; else all networks in one */
    const struct grid_metric *metrics; /**< shape [n_metrics]; a row each (per network) */
    int32_t n_metrics;
};

/**
 * Draw @p d: a series per objective, joined along x. Where several designs of a
 * series share an x, the best is shown and a note says so. At most 5 workloads
 * and 6 networks are drawn; a note says how many were left out.
 * Time O(panels * n_designs), plus sorting.
 */
int grid_build(struct canvas *c, const struct plot_data *d, const struct grid_spec *spec, struct err *e);

/** "optimised for time", ...: the legend's words for an objective; an unknown one stands for itself. */
const char *grid_objective_label(const char *objective);

#endif
