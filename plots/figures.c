/*
 * The figures: each a row of a table, with the columns it needs and what draws it. A figure of any columns
 * needs no code of its own: fig_xy with a struct plot_xy. Those of sweeps and of schedulers are declarations,
 * too: plots/fig.h.
 *
 * A row of the table gives the name for the command line, the title, the columns that must be there (checked
 * before any of them is read, so that a table of the wrong kind gets one message that names the right one),
 * the command that writes such tables, the function and the declaration it draws by. The order is that of the
 * list in help. To add a figure: a row here, and its function in plots/fig.h when no declaration will do.
 */
#include "plots/columns.h"
#include "plots/figure.h"

#include <string.h>

#include "plots/fig.h"
#include "plots/gnuplot.h"
#include "plots/xy.h"

const char *const plot_format_names[] = { "svg", "pdf", "png", "gp", NULL };

/* ---- designs: the columns of a sweep ---- */

#define SERIES "status", "network", "workload", "objective", COL_TOTAL_GBPS
/* Compound literals at file scope live as long as the program. */
#define COLUMNS(...)                                                                                         \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }

/* A ratio to the equal split, which itself is the line at 1. */
#define OVER_EQUAL(words, column)                                                                            \
    {                                                                                                        \
        column, words, "×", .equal_column = "1"                                                              \
    }

static const struct fig_panels speedup = { .x = COL_TOTAL_GBPS,
                                           .x_label = "network bandwidth [GB/s per NPU]",
                                           .by_network = true,
                                           .metrics = { OVER_EQUAL("speedup over the equal split",
                                                                   "speedup") },
                                           .n_metrics = 1 };
static const struct fig_panels cost = {
    .x = COL_TOTAL_GBPS,
    .x_label = "network bandwidth [GB/s per NPU]",
    .by_network = true,
    .note = "perf/cost: performance per network cost, relative to the equal split of the same bandwidth",
    .metrics = { { COL_COST_USD, "cost", .low_is_better = true, .equal_column = COL_EQUAL_COST_USD },
                 OVER_EQUAL("perf/cost", COL_PERF_PER_COST_GAIN) },
    .n_metrics = 2
};
static const struct fig_panels perf_per_cost = { .x = COL_TOTAL_GBPS,
                                                 .x_label = "bandwidth budget [GB/s per NPU]",
                                                 .by_network = true,
                                                 .metrics = { OVER_EQUAL("perf per cost over the equal split",
                                                                         COL_PERF_PER_COST_GAIN) },
                                                 .n_metrics = 1 };
static const struct fig_panels nic = { .x = COL_N_DIMS,
                                       .x_label = "number of dimensions",
                                       .common_total = true,
                                       .metrics = { { COL_NIC_GBPS, "NIC bandwidth", "GB/s per NPU",
                                                      .low_is_better = true } },
                                       .n_metrics = 1 };

static const struct fig_bars split = { .axis_label = "bandwidth",
                                       .unit = "GB/s per NPU",
                                       .dim_prefix = "",
                                       .end_label = "GB/s: innermost | … | outermost",
                                       .per_dim = "bw#_GBps",
                                       .times = 1,
                                       .stacked = true };
static const struct fig_bars utilization = { .axis_label = "share of the step that the dimension is busy",
                                             .unit = "%",
                                             .dim_prefix = "",
                                             .per_dim = "util#",
                                             .times = 100,
                                             .axis_max = 100 };
static const struct fig_bars time_parts = {
    .axis_label = "time of a training step",
    .dim_prefix = "exposed: ",
    .end_label = "step",
    .per_dim = "exposed#_s",
    .times = 1,
    .own =
        (const struct sweep_part[]){ { COL_COMPUTE_S, "compute", FILL_WHITE }, { NULL, "other", FILL_REST } },
    .n_own = 2,
    .least = -1, /* without compute, too */
    .stacked = true
};
/* White and greys: the NPUs compute, or wait for others that do. Hues: communication that nothing hides. */
static const struct fig_bars breakdown = { .axis_label = "time of a training step",
                                           .end_label = "step",
                                           .own =
                                               (const struct sweep_part[]){
                                                   { COL_COMPUTE_S, "compute", FILL_WHITE },
                                                   { COL_RECOMPUTE_S, "recomputation", FILL_LIGHT },
                                                   { COL_OPTIMIZER_S, "optimizer", FILL_MIDDLE },
                                                   { COL_OVERHEAD_S, "overhead", FILL_DIM },
                                                   { COL_BUBBLE_S, "pipeline bubble", FILL_DARK },
                                                   { COL_TP_S, "exposed: tp", FILL_FIRST },
                                                   { COL_CP_S, "exposed: cp", FILL_FIRST + 1 },
                                                   { COL_EP_S, "exposed: ep", FILL_FIRST + 2 },
                                                   { COL_DP_S, "exposed: dp", FILL_FIRST + 3 },
                                                   { COL_PP_S, "exposed: pp", FILL_FIRST + 4 },
                                                   { NULL, "other", FILL_REST },
                                               },
                                           .n_own = 11,
                                           .least = 1e-3, /* what cannot be seen is left to the rest */
                                           .stacked = true,
                                           .exposed = true };

static const struct plot_xy pareto = {
    .x = COL_COST_USD,
    .y = { COL_TIME_S },
    .y_times = 1,
    .y_inverse = true,
    .axis_label = { "network cost", "performance [steps/s]" },
    .color = "network",
    .facet = "workload",
    .status = "solved",
    .front = "min,max",
    .equal = { COL_EQUAL_COST_USD, COL_EQUAL_TIME_S },
    .hollow = "equal split of the same bandwidth, constraints aside",
};
static const struct plot_xy mfu = {
    .x = COL_COST_USD,
    .y = { "mfu" },
    .y_times = 100,
    .axis_label = { "network cost", "model FLOP/s utilisation [%]" },
    .color = "network",
    .facet = "workload",
    .status = "solved",
    .front = "min,max",
    .label = "front",
    .text = "plan",
};
/* In grey, too: marks differ in shape, lines in width and dash. */
static const struct plot_xy front = {
    .x = COL_COST_USD,
    .y = { COL_TIME_S },
    .axis_label = { "network cost", "time of a training step" },
    .color = "front",
    .facet = "workload",
    .front = "no",
    .label = "knee",
    .text = "",
    .looks =
        (const struct plot_xy_look[]){
            { "behind", "designs behind the front", { MARK_CLOUD, 0 }, .steps = false },
            { "within", "front within the limits", { MARK_TRACE, 2 }, .steps = true },
            { "all", "front", { MARK_FRONT, 0 }, .steps = true },
            { "design", "the design", { MARK_POINT, 2 }, .steps = false },
        },
    .n_looks = 4,
};

/* ---- what schedulers of jobs came to ---- */

#define SEEDS_INTERVAL "95 % interval over seeds"

static const struct plot_xy optimum = { .y = { "optimum_frac", "used_frac" },
                                        .axis_label = { NULL, "of the optimum [%]", "used of reserved [%]" },
                                        .y_times = 100,
                                        .y_most = 100,
                                        .y_better = { 1, 1 },
                                        .whiskers = SEEDS_INTERVAL };
static const struct plot_xy embedded = { .y = { "embedded_frac" },
                                         .axis_label = { NULL, "active jobs that run, mean over slots [%]" },
                                         .y_times = 100,
                                         .y_most = 100,
                                         .y_better = { 1 },
                                         .whiskers = SEEDS_INTERVAL };
static const struct plot_xy makespan = { .y = { "makespan_s", "jct_s" },
                                         .axis_label = { NULL, "makespan", "mean completion" },
                                         .y_better = { -1, -1 },
                                         .bars = true,
                                         .whiskers = SEEDS_INTERVAL };
static const struct plot_xy place_diff = { .y = { "vs_base_pct" },
                                           .axis_label = { NULL, "difference to the baseline [%]" },
                                           .y_times = 1,
                                           .y_signed = true,
                                           .y_better = { 1 },
                                           .whiskers = SEEDS_INTERVAL };

/* Its table has a plan of parallelism, what it needs and what it takes. */
#define TRAINING_SOURCE "weft sweep of a trained model"

/* Tables of placements: what schedulers come to, and what happened over time. */
#define PLACE_SOURCE "weft place"
#define OUTCOMES     "point", "network", "scheduler", "status"
#define STRETCH      "point", "seed", "scheduler", "from", "to", "unit"

/* Tables of methods of communication; of schedulers of layers, by seed. */
#define TRAINED       "point", "method"
#define GOSSIP_SOURCE "weft gossip"
#define PLANNED       "point", "scheduler", "seed"

const struct plot_figure plot_figures[] = {
    { "speedup", "Speedup over the equal split", COLUMNS(SERIES, "speedup"), NULL, fig_panels, &speedup },
    { "cost", "Network cost and performance per cost",
      COLUMNS(SERIES, COL_COST_USD, COL_EQUAL_COST_USD, COL_PERF_PER_COST_GAIN), NULL, fig_panels, &cost },
    { "perf_per_cost", "Performance per cost against the bandwidth budget",
      COLUMNS(SERIES, COL_PERF_PER_COST_GAIN), NULL, fig_panels, &perf_per_cost },
    { "split", "Bandwidth split over the dimensions", COLUMNS(SERIES, COL_N_DIMS, "dims", "bw#_GBps"), NULL,
      fig_bars, &split },
    { "time", "Time of a training step: compute and exposed communication",
      COLUMNS(SERIES, COL_N_DIMS, "dims", COL_TIME_S, COL_COMPUTE_S, "exposed#_s"), NULL, fig_bars,
      &time_parts },
    { "utilization", "Utilisation of the dimensions", COLUMNS(SERIES, COL_N_DIMS, "dims", "util#"), NULL,
      fig_bars, &utilization },
    { "pareto", "Performance against network cost",
      COLUMNS("status", "network", "workload", COL_TIME_S, COL_COST_USD, COL_EQUAL_TIME_S,
              COL_EQUAL_COST_USD),
      NULL, fig_xy, &pareto },
    { "nic", "NIC bandwidth against the number of dimensions",
      COLUMNS("status", "workload", "objective", COL_TOTAL_GBPS, COL_N_DIMS, "dims", COL_NIC_GBPS), NULL,
      fig_panels, &nic },
    { "front", "Pareto front of step time and network cost",
      COLUMNS("workload", COL_TIME_S, COL_COST_USD, "front", "knee"), "weft front --of csv", fig_xy, &front },
    { "tornado", "What an answer becomes with each input at its low and high",
      COLUMNS("answer", "input", "at_low", "at_as_is", "at_high", "swing"), "weft tornado --of csv",
      fig_tornado, NULL },
    { "breakdown", "Where the time of a training step goes",
      COLUMNS(SERIES, "plan", "fits", COL_TIME_S, COL_COMPUTE_S, COL_RECOMPUTE_S, COL_OPTIMIZER_S,
              COL_OVERHEAD_S, COL_BUBBLE_S, COL_TP_S, COL_CP_S, COL_EP_S, COL_DP_S, COL_PP_S),
      TRAINING_SOURCE, fig_bars, &breakdown },
    { "mfu", "Model FLOP/s utilisation against network cost",
      COLUMNS("status", "network", "workload", "plan", "fits", COL_COST_USD, "mfu"), TRAINING_SOURCE, fig_xy,
      &mfu },
    { "plans", "Step time by degrees of parallelism",
      COLUMNS("network", "workload", "objective", COL_TOTAL_GBPS, "status", COL_TIME_S, "tp", "cp", "dp",
              "pp", "ep", COL_MEMORY_GB, "fits", "mfu"),
      TRAINING_SOURCE, fig_plans, NULL },
    { "timeline", "A training step over time",
      COLUMNS("workload", "model", "order", "chosen", COL_TIME_S, "lane", "stage", "row", "dim", "npu_class",
              "slot", "name", "pass", "events", "busy_s", "start_s", "end_s"),
      "weft sim --timeline FILE.csv", fig_timeline, NULL },
    { "calibrate", "Measured collectives and the fitted model",
      COLUMNS("curve", "bytes", "time_us", "model_us"), "weft calibrate --of csv", fig_calibrate, NULL },
    { "place", "Utility, or mean completion time, by scheduler", COLUMNS(OUTCOMES), PLACE_SOURCE, fig_place,
      NULL },
    { "embedded", "Share of active jobs that run, by scheduler", COLUMNS(OUTCOMES, "embedded_frac"),
      PLACE_SOURCE " of model slots", fig_outcomes, &embedded },
    { "optimum", "Utility over the exact optimum, and reserved resources in use",
      COLUMNS(OUTCOMES, "optimum_frac"), PLACE_SOURCE " of model interval", fig_outcomes, &optimum },
    { "makespan", "Makespan and mean completion time by scheduler", COLUMNS(OUTCOMES, "makespan_s"),
      PLACE_SOURCE " of model batch or events", fig_outcomes, &makespan },
    { "place_diff", "Completion, makespan or utility against the baseline, seed by seed",
      COLUMNS(OUTCOMES, "vs_base_pct"), PLACE_SOURCE " of several networks or schedulers", fig_outcomes,
      &place_diff },
    { "place_cost", "Mean completion time against network cost", COLUMNS(OUTCOMES, "network_usd"),
      PLACE_SOURCE, fig_place_cost, NULL },
    { "gantt", "Who ran where and when", COLUMNS(STRETCH, "job", "server", "server_name", "gpus"),
      "weft place --places FILE.csv", fig_gantt, NULL },
    { "links", "Load of the links over time", COLUMNS(STRETCH, "link", "load_frac"),
      "weft place --links FILE.csv", fig_links, NULL },
    { "hetero", "Cost of the plans of schedulers of layers", COLUMNS("point", "scheduler", "status"),
      "weft hetero", fig_hetero, NULL },
    { "learning", "Cost of the best plan so far against evaluations", COLUMNS(PLANNED, "evaluations", "usd"),
      "weft hetero --curves FILE.csv", fig_learning, NULL },
    { "strip", "Which type of resource has which layer",
      COLUMNS(PLANNED, "layer", "name", "kind", "type", "stage", "units"), "weft hetero --plans FILE.csv",
      fig_strip, NULL },
    { "gossip", "Accuracy against traffic and time",
      COLUMNS(TRAINED, "family", "period", "status", "accuracy_pct", "accuracy_vs_base_half", "traffic_MB",
              COL_TIME_S),
      GOSSIP_SOURCE, fig_gossip, NULL },
    { "gossip_loss", "Loss and exchanges over time",
      COLUMNS(TRAINED, "seed", COL_TIME_S, "steps", "loss", "exchanges"), GOSSIP_SOURCE " --curves FILE.csv",
      fig_gossip_loss, NULL },
    { "gossip_need", "Bandwidth per NPU that methods of communication need",
      COLUMNS(TRAINED, "status", "need_GBps"), GOSSIP_SOURCE, fig_gossip_need, NULL },
};

const int32_t plot_n_figures = (int32_t)(sizeof plot_figures / sizeof plot_figures[0]);

static int find_figure(const struct plot_figure **out, const char *name, struct err *e)
{
    const char *names[sizeof plot_figures / sizeof plot_figures[0]];

    for (int32_t i = 0; i < plot_n_figures; i++) {
        *out = &plot_figures[i];
        if (strcmp(plot_figures[i].name, name) == 0)
            return 0;
        names[i] = plot_figures[i].name;
    }
    /* All names are gathered when the loop ends without a match. */
    err_set(e, ERR_USAGE, "figure: is \"%s\", expected one of the list", name);
    return err_suggest(e, text_nearest(name, names, (size_t)plot_n_figures));
}

/* Below, labels alone fill a page; above, a PNG, drawn at twice the size, nears the 32,767 pixels that Cairo
 * takes. */
static int check_size(const char *what, int32_t px, struct err *e)
{
    if (px != 0 && (px < 240 || px > 10000))
        return err_set(e, ERR_RANGE, "%s: is %d px, expected 240 to 10000", what, (int)px);
    return 0;
}

int figure_script(const struct plot_figure *figure, const struct table *t, const struct plot_options *opt,
                  struct text *script, struct err *e)
{
    const struct rows r = { .t = t, .figure = figure, .opt = opt };
    struct canvas c;

    /* It is gathered in the canvas and handed over whole: on an error the caller's text is as it was. */
    canvas_init(&c, opt, figure->help ? figure->help : "");
    int rc = check_size("width", opt->width_px, e);
    if (!rc)
        rc = check_size("height", opt->height_px, e);
    if (!rc)
        rc = rows_check(&r, e);
    if (!rc && rows_know(&r, table_find(t, "semantics"), -1, NULL))
        canvas_note(&c, "semantics libra: not what links carry");
    if (!rc)
        rc = figure->build(&c, &r, e);
    if (!rc)
        rc = text_check(&c.image, e);
    if (!rc) {
        text_add(script, text_str(&c.image), c.image.n);
        rc = text_check(script, e);
    }
    canvas_free(&c);
    return rc;
}

int figure_draw(const struct plot_figure *figure, const struct table *t, const struct plot_options *opt,
                struct text *out_image, struct err *e)
{
    struct text script = { 0 };

    if (opt->format != PLOT_PDF && opt->format != PLOT_PNG)
        return figure_script(figure, t, opt, out_image, e);
    int rc = figure_script(figure, t, opt, &script, e);
    if (!rc)
        rc = gnuplot_run(text_str(&script), out_image, e);
    text_free(&script);
    return rc;
}

int plot_draw(const char *figure, const struct table *t, const struct plot_options *opt,
              struct text *out_image, struct err *e)
{
    const struct plot_figure *found;
    int rc = find_figure(&found, figure, e);

    return rc ? rc : figure_draw(found, t, opt, out_image, e);
}
