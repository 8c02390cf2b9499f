#include "plots/fig.h"

#include <string.h>

#include "plots/design_scatter.h"

static bool at_percent(const struct plot_design *g, struct canvas_xy *at, bool misfit)
{
    *at = (struct canvas_xy){ g->cost_usd, 100 * g->mfu };
    return (strcmp(g->fits, "no") == 0) == misfit;
}

static bool fits(const struct plot_design *g, struct canvas_xy *at)
{
    return at_percent(g, at, false);
}

static bool does_not_fit(const struct plot_design *g, struct canvas_xy *at)
{
    return at_percent(g, at, true);
}

int fig_mfu(struct canvas *c, const struct plot_data *d, struct err *e)
{
    static const struct design_scatter_spec spec = {
        .y_label = "model FLOP/s utilisation [%]",
        .filled = fits,
        .hollow = does_not_fit,
        .note = "hollow: needs more memory than an NPU has",
        .plans = true,
    };
    return design_scatter_build(c, d, &spec, e);
}
