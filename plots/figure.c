#include "plots/figure.h"

#include <string.h>

#include "plots/canvas.h"
#include "plots/design.h"
#include "plots/fig.h"
#include "plots/gnuplot.h"
#include "plots/rows.h"

const char *const plot_format_names[] = { "svg", "pdf", "png", NULL };

#define SERIES "network", "workload", "objective", "total_GBps"

/* Its table has a plan of parallelism, what it needs and what it takes. */
#define TRAINING_SOURCE "weft sweep of a trained model"

/* Tables of placements: what schedulers come to, and what happened over time. */
#define PLACE_SOURCE "weft place"
#define OUTCOMES     "point", "network", "scheduler", "status"
#define STRETCH      "point", "seed", "scheduler", "from", "to", "unit"

/* Tables of methods of communication. */
#define TRAINED       "point", "method"
#define GOSSIP_SOURCE "weft gossip"

/* Tables of schedulers of layers, by seed. */
#define PLANNED "point", "scheduler", "seed"

const struct plot_figure plot_figures[] = {
    { "speedup", "Speedup over the equal split", (const char *const[]){ SERIES, "speedup", NULL },
      fig_speedup, NULL, NULL },
    { "cost", "Network cost and performance per cost",
      (const char *const[]){ SERIES, "cost_usd", "equal_cost_usd", "perf_per_cost_gain", NULL }, fig_cost,
      NULL, NULL },
    { "perf_per_cost", "Performance per cost against the bandwidth budget",
      (const char *const[]){ SERIES, "perf_per_cost_gain", NULL }, fig_perf_per_cost, NULL, NULL },
    { "split", "Bandwidth split over the dimensions",
      (const char *const[]){ SERIES, "n_dims", "dims", "bw#_GBps", NULL }, fig_split, NULL, NULL },
    { "time", "Time of a training step: compute and exposed communication",
      (const char *const[]){ SERIES, "n_dims", "dims", "time_s", "compute_s", "exposed#_s", NULL }, fig_time,
      NULL, NULL },
    { "utilization", "Utilisation of the dimensions",
      (const char *const[]){ SERIES, "n_dims", "dims", "util#", NULL }, fig_utilization, NULL, NULL },
    { "pareto", "Performance against network cost",
      (const char *const[]){ "network", "workload", "time_s", "cost_usd", "equal_time_s", "equal_cost_usd",
                             NULL },
      fig_pareto, NULL, NULL },
    { "nic", "NIC bandwidth against the number of dimensions",
      (const char *const[]){ "workload", "objective", "total_GBps", "n_dims", "dims", "nic_GBps", NULL },
      fig_nic, NULL, NULL },
    { "front", "Pareto front of step time and network cost",
      (const char *const[]){ "workload", "time_s", "cost_usd", "front", "knee", NULL }, NULL,
      "weft front --of csv", fig_front },
    { "breakdown", "Where the time of a training step goes",
      (const char *const[]){ SERIES, "plan", "fits", "time_s", "useful_s", "recompute_s", "optimizer_s",
                             "bubble_s", "tp_s", "cp_s", "ep_s", "dp_s", "pp_s", NULL },
      fig_breakdown, TRAINING_SOURCE, NULL },
    { "mfu", "Model FLOP/s utilisation against network cost",
      (const char *const[]){ "network", "workload", "plan", "fits", "cost_usd", "mfu", NULL }, fig_mfu,
      TRAINING_SOURCE, NULL },
    { "plans", "Step time by degrees of parallelism",
      (const char *const[]){ SERIES, "status", "time_s", "tp", "cp", "dp", "pp", "ep", "memory_GB", "fits",
                             "mfu", NULL },
      NULL, TRAINING_SOURCE, fig_plans },
    { "timeline", "A training step over time",
      (const char *const[]){ "workload", "order", "chosen", "time_s", "row", "dim", "util", "npu_class",
                             "slot", "name", "pass", "start_s", "end_s", NULL },
      NULL, "weft sim --timeline FILE.csv", fig_timeline },
    { "calibrate", "Measured collectives and the fitted model",
      (const char *const[]){ "curve", "bytes", "time_us", "model_us", NULL }, NULL, "weft calibrate --of csv",
      fig_calibrate },
    { "place", "Utility, or mean completion time, by scheduler", (const char *const[]){ OUTCOMES, NULL },
      NULL, PLACE_SOURCE, fig_place },
    { "embedded", "Share of active jobs that run, by scheduler",
      (const char *const[]){ OUTCOMES, "embedded_frac", NULL }, NULL, PLACE_SOURCE " of model slots",
      fig_embedded },
    { "optimum", "Utility over the exact optimum, and reserved resources in use",
      (const char *const[]){ OUTCOMES, "optimum_frac", NULL }, NULL, PLACE_SOURCE " of model interval",
      fig_optimum },
    { "makespan", "Makespan and mean completion time by scheduler",
      (const char *const[]){ OUTCOMES, "makespan_s", NULL }, NULL, PLACE_SOURCE " of model batch or events",
      fig_makespan },
    { "place_cost", "Mean completion time against network cost",
      (const char *const[]){ OUTCOMES, "network_usd", NULL }, NULL, PLACE_SOURCE, fig_place_cost },
    { "gantt", "Who ran where and when",
      (const char *const[]){ STRETCH, "job", "server", "server_name", "gpus", NULL }, NULL,
      "weft place --places FILE.csv", fig_gantt },
    { "links", "Load of the links over time", (const char *const[]){ STRETCH, "link", "load_frac", NULL },
      NULL, "weft place --links FILE.csv", fig_links },
    { "hetero", "Cost of the plans of schedulers of layers",
      (const char *const[]){ "point", "scheduler", "status", NULL }, NULL, "weft hetero", fig_hetero },
    { "learning", "Cost of the best plan so far against evaluations",
      (const char *const[]){ PLANNED, "evaluations", "usd", NULL }, NULL, "weft hetero --curves FILE.csv",
      fig_learning },
    { "strip", "Which type of resource has which layer",
      (const char *const[]){ PLANNED, "layer", "name", "kind", "type", "stage", "units", NULL }, NULL,
      "weft hetero --plans FILE.csv", fig_strip },
    { "gossip", "Accuracy against traffic and time",
      (const char *const[]){ TRAINED, "family", "period", "status", "accuracy_pct", "accuracy_vs_base_half",
                             "traffic_MB", "time_s", NULL },
      NULL, GOSSIP_SOURCE, fig_gossip },
    { "gossip_loss", "Loss and exchanges over time",
      (const char *const[]){ TRAINED, "seed", "time_s", "steps", "loss", "exchanges", NULL }, NULL,
      GOSSIP_SOURCE " --curves FILE.csv", fig_gossip_loss },
    { "gossip_need", "Bandwidth per NPU that methods of communication need",
      (const char *const[]){ TRAINED, "status", "need_GBps", NULL }, NULL, GOSSIP_SOURCE, fig_gossip_need },
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
    const char *near = text_nearest(name, names, (size_t)plot_n_figures);
    return err_set(e, ERR_USAGE, "figure: is \"%s\", need one of the list%s%s", name,
                   near ? ", nearest is " : "", near ? near : "");
}

static int check_size(const char *what, int32_t px, struct err *e)
{
    if (px != 0 && (px < 240 || px > 10000))
        return err_set(e, ERR_RANGE, "%s: is %d px, need 240 to 10000", what, (int)px);
    return 0;
}

static int build_designs(struct canvas *c, const struct rows *r, struct err *e)
{
    struct plot_data d;
    int rc = plot_data_read(&d, r->t, r->figure, r->opt, e);

    if (!rc && d.n_blank > 0)
        canvas_note(c, "%lld solved designs lack a value and are left out", (long long)d.n_blank);
    if (!rc)
        rc = r->figure->build(c, &d, e);
    plot_data_free(&d);
    return rc;
}

static int build_rows(struct canvas *c, const struct rows *r, struct err *e)
{
    int rc = rows_check(r, e);
    return rc ? rc : r->figure->build_rows(c, r, e);
}

int plot_script(const char *figure, const struct table *t, const struct plot_options *opt,
                struct text *script, struct err *e)
{
    struct rows r = { .t = t, .opt = opt };
    struct canvas c;
    int rc = find_figure(&r.figure, figure, e);

    if (!rc)
        rc = check_size("width", opt->width_px, e);
    if (!rc)
        rc = check_size("height", opt->height_px, e);
    if (rc)
        return rc;
    canvas_init(&c, opt, r.figure->help);
    rc = r.figure->build ? build_designs(&c, &r, e) : build_rows(&c, &r, e);
    if (!rc)
        rc = text_check(&c.script, e);
    if (!rc) {
        text_add(script, text_str(&c.script), c.script.n);
        rc = text_check(script, e);
    }
    canvas_free(&c);
    return rc;
}

int plot_draw(const char *figure, const struct table *t, const struct plot_options *opt,
              struct text *out_image, struct err *e)
{
    struct text script = { 0 };
    int rc = plot_script(figure, t, opt, &script, e);

    if (!rc)
        rc = gnuplot_run(text_str(&script), out_image, e);
    text_free(&script);
    return rc;
}
