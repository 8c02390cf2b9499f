#include "plots/fig.h"

#include "plots/bars.h"

static int32_t parts(const struct plot_design *g, struct bars_part *out)
{
    for (int32_t i = 0; i < g->n_dims; i++)
        out[i] = (struct bars_part){ .dim = i, .value = g->bw_GBps[i] };
    return g->n_dims;
}

/* A narrow part of a long bar cannot be read off the axis. */
static void numbers(const struct plot_design *g, struct text *out)
{
    for (int32_t i = 0; i < g->n_dims; i++)
        text_printf(out, "%s%.3g", i ? " | " : "", g->bw_GBps[i]);
}

int fig_split(struct canvas *c, const struct plot_data *d, struct err *e)
{
    static const struct bars_spec spec = { .axis_label = "bandwidth",
                                           .unit = "GB/s per NPU",
                                           .dim_prefix = "",
                                           .end_label = "GB/s: innermost | … | outermost",
                                           .stacked = true,
                                           .parts = parts,
                                           .end = numbers };
    return bars_build(c, d, &spec, e);
}
