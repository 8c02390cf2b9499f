#include "plots/fig.h"

#include "plots/bars.h"

enum { COMPUTE, OTHER };

static const struct bars_own own_parts[] = {
    [COMPUTE] = { "compute", FILL_WHITE }, [OTHER] = { "other", FILL_REST }
};

/* Communication is attributed to the dimension that binds it; what overlaps compute is not exposed. A rest
 * that belongs to neither is drawn, so that the bar is as long as the step. */
static int32_t parts(const struct plot_design *g, struct bars_part *out)
{
    int32_t n = 0;
    double rest = g->time_s - g->compute_s;

    out[n++] = (struct bars_part){ .dim = -1, .own = COMPUTE, .value = g->compute_s };
    for (int32_t i = 0; i < g->n_dims; i++) {
        out[n++] = (struct bars_part){ .dim = i, .value = g->exposed_s[i] };
        rest -= g->exposed_s[i];
    }
    if (rest > 1e-3 * g->time_s)
        out[n++] = (struct bars_part){ .dim = -1, .own = OTHER, .value = rest };
    return n;
}

static void step_time(const struct plot_design *g, struct text *out)
{
    bars_put_time(out, g->time_s);
}

int fig_time(struct canvas *c, const struct plot_data *d, struct err *e)
{
    static const struct bars_spec spec = { .axis_label = "time of a training step",
                                           .units = unit_seconds,
                                           .dim_prefix = "exposed: ",
                                           .end_label = "step",
                                           .own = own_parts,
                                           .n_own = 2,
                                           .stacked = true,
                                           .parts = parts,
                                           .end = step_time };
    int64_t n_longer = 0;

    for (int64_t i = 0; i < d->n_designs; i++) {
        const struct plot_design *g = &d->designs[i];
        double sum = g->compute_s;
        for (int32_t k = 0; k < g->n_dims; k++)
            sum += g->exposed_s[k];
        n_longer += sum > 1.001 * g->time_s;
    }
    if (n_longer > 0)
        canvas_note(c, "%lld bars are longer than the step, whose parts overlap", (long long)n_longer);
    return bars_build(c, d, &spec, e);
}
