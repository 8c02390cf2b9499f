#include "plots/fig.h"

#include "plots/design_scatter.h"

static bool optimised(const struct plot_design *g, struct canvas_xy *at)
{
    *at = (struct canvas_xy){ g->cost_usd, 1 / g->time_s };
    return true;
}

/* It may break the study's constraints: a mark to measure by, never on the front. */
static bool equal_split(const struct plot_design *g, struct canvas_xy *at)
{
    *at = (struct canvas_xy){ g->equal_cost_usd, 1 / g->equal_time_s };
    return true;
}

int fig_pareto(struct canvas *c, const struct plot_data *d, struct err *e)
{
    static const struct design_scatter_spec spec = {
        .y_label = "performance [steps/s]",
        .filled = optimised,
        .hollow = equal_split,
        .note = "filled: optimised split; hollow: equal split of the same bandwidth, constraints aside",
    };
    return design_scatter_build(c, d, &spec, e);
}
