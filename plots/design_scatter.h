/** @file Designs as points over network cost: a panel per workload, a marker per network. */
#ifndef PLOTS_DESIGN_SCATTER_H
#define PLOTS_DESIGN_SCATTER_H

#include <stdbool.h>

#include "plots/canvas.h"
#include "plots/design.h"

struct design_scatter_spec {
    const char *y_label; /**< with unit; more is better */
    /** The design as a filled marker, and as a hollow one beside or instead: false = it has none. x in USD.
     */
    bool (*filled)(const struct plot_design *g, struct canvas_xy *at);
    bool (*hollow)(const struct plot_design *g, struct canvas_xy *at);
    const char *note; /**< what filled and hollow mean; shown where there are hollow ones */
    bool plans;       /**< write the plan to points on the front where there is room */
};

/** Draw @p d by scatter_build(). With plans a label takes O(designs). */
int design_scatter_build(struct canvas *c, const struct plot_data *d, const struct design_scatter_spec *spec,
                         struct err *e);

#endif
