#include "plots/fig.h"

#include "plots/design_grid.h"

static double total(const struct plot_design *g)
{
    return g->total_GBps;
}

static double cost(const struct plot_design *g)
{
    return g->cost_usd;
}

static double equal_cost(const struct plot_design *g)
{
    return g->equal_cost_usd;
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

int fig_cost(struct canvas *c, const struct plot_data *d, struct err *e)
{
    static const struct design_metric metrics[] = {
        { .label = "cost", .units = unit_usd, .value = cost, .equal = equal_cost, .low_is_better = true },
        { .label = "perf/cost", .unit = "×", .value = gain, .equal = one },
    };
    static const struct design_grid_spec spec = { .x_label = "network bandwidth [GB/s per NPU]",
                                                  .x = total,
                                                  .by_network = true,
                                                  .metrics = metrics,
                                                  .n_metrics = 2 };
    canvas_note(c,
                "perf/cost: performance per network cost, relative to the equal split of the same bandwidth");
    return design_grid_build(c, d, &spec, e);
}
