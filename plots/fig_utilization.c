#include "plots/fig.h"

#include "plots/bars.h"

static int32_t parts(const struct plot_design *g, struct bars_part *out)
{
    for (int32_t i = 0; i < g->n_dims; i++)
        out[i] = (struct bars_part){ .dim = i, .value = 100 * g->util[i] };
    return g->n_dims;
}

int fig_utilization(struct canvas *c, const struct plot_data *d, struct err *e)
{
    static const struct bars_spec spec = { .axis_label = "share of the step that the dimension is busy",
                                           .unit = "%",
                                           .dim_prefix = "",
                                           .axis_max = 100,
                                           .parts = parts };
    return bars_build(c, d, &spec, e);
}
