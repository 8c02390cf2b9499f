#include "plots/fig.h"

#include <math.h>
#include <string.h>

#include "plots/bars.h"

enum { USEFUL, RECOMPUTE, OPTIMIZER, BUBBLE, TP, CP, EP, DP, PP, OTHER, N_OWN };

/* White and greys: the NPUs compute, or wait for others that do. Hues: communication that nothing hides. */
static const struct bars_own own_parts[N_OWN] = {
    [USEFUL] = { "useful compute", FILL_WHITE }, [RECOMPUTE] = { "recomputation", FILL_LIGHT },
    [OPTIMIZER] = { "optimizer", FILL_MIDDLE },  [BUBBLE] = { "pipeline bubble", FILL_DARK },
    [TP] = { "exposed: tp", FILL_FIRST },        [CP] = { "exposed: cp", FILL_FIRST + 1 },
    [EP] = { "exposed: ep", FILL_FIRST + 2 },    [DP] = { "exposed: dp", FILL_FIRST + 3 },
    [PP] = { "exposed: pp", FILL_FIRST + 4 },    [OTHER] = { "other", FILL_REST },
};

/* Share of the step below which a part cannot be seen: it is left to the rest, so that the legend has what
 * the bars show. */
#define LEAST_SHARE 1e-3

static int32_t parts(const struct plot_design *g, struct bars_part *out)
{
    const double seconds[OTHER] = {
        [USEFUL] = g->useful_s,
        [RECOMPUTE] = g->recompute_s,
        [OPTIMIZER] = g->optimizer_s,
        [BUBBLE] = g->bubble_s,
        [TP] = g->tp_s,
        [CP] = g->cp_s,
        [EP] = g->ep_s,
        [DP] = g->dp_s,
        [PP] = g->pp_s,
    };
    double rest = g->time_s;
    int32_t n = 0;

    for (int32_t i = 0; i < OTHER; i++)
        if (seconds[i] > LEAST_SHARE * g->time_s) {
            out[n++] = (struct bars_part){ .dim = -1, .own = i, .value = seconds[i] };
            rest -= seconds[i];
        }
    if (rest > LEAST_SHARE * g->time_s)
        out[n++] = (struct bars_part){ .dim = -1, .own = OTHER, .value = rest };
    return n;
}

static bool is_misfit(const struct plot_design *g)
{
    return strcmp(g->fits, "no") == 0;
}

static void step_time(const struct plot_design *g, struct text *out)
{
    bars_put_time(out, g->time_s);
    text_puts(out, is_misfit(g) ? " *" : "");
}

int fig_breakdown(struct canvas *c, const struct plot_data *d, struct err *e)
{
    static const struct bars_spec spec = { .axis_label = "time of a training step",
                                           .units = unit_seconds,
                                           .dim_prefix = "",
                                           .end_label = "step",
                                           .own = own_parts,
                                           .n_own = N_OWN,
                                           .stacked = true,
                                           .parts = parts,
                                           .end = step_time };
    int64_t n_misfit = 0, n_longer = 0;

    for (int64_t i = 0; i < d->n_designs; i++) {
        struct bars_part of[BARS_MAX_PARTS];
        double sum = 0;
        for (int32_t k = 0, n = parts(&d->designs[i], of); k < n; k++)
            sum += of[k].value;
        n_misfit += is_misfit(&d->designs[i]);
        n_longer += sum > (1 + LEAST_SHARE) * d->designs[i].time_s;
    }
    canvas_note(c, "exposed: beyond the compute that runs beside it");
    if (n_misfit > 0)
        canvas_note(c, "*: needs more memory than an NPU has");
    if (n_longer > 0)
        canvas_note(c, "%lld bars are longer than the step, whose parts overlap", (long long)n_longer);
    return bars_build(c, d, &spec, e);
}
