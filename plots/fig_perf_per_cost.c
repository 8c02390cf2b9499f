#include "plots/fig.h"

#include "plots/design_grid.h"

static double total(const struct plot_design *g)
{
    return g->total_GBps;
}

static double gain(const struct plot_design *g)
{
    return g->perf_per_cost_gain;
}

static double one(const struct plot_design *g)
{
    (void)g;
    return 1;
}

int fig_perf_per_cost(struct canvas *c, const struct plot_data *d, struct err *e)
{
    static const struct design_metric metric = {
        .label = "perf per cost over the equal split", .unit = "×", .value = gain, .equal = one
    };
    static const struct design_grid_spec spec = { .x_label = "bandwidth budget [GB/s per NPU]",
                                                  .x = total,
                                                  .by_network = true,
                                                  .metrics = &metric,
                                                  .n_metrics = 1 };
    return design_grid_build(c, d, &spec, e);
}
