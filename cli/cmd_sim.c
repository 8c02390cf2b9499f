#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/load.h"
#include "cli/output.h"
#include "cli/sheet.h"
#include "cli/sim_notes.h"
#include "cli/timeline.h"

enum { MODEL_ALL = N_SIM_MODELS };

/* Those of the study's key `model`, and all of them side by side. */
static const char *const model_words[] = { "bandwidth", "alpha-beta", "chunk", "flow", "all", NULL };

static const struct option sim_rows[] = {
    { .name = "model",
      .value = "MODEL",
      .help =
          "bandwidth, alpha-beta (latency, chunks), chunk, flow (simulated), or all side by side; without it "
          "the study's",
      .kind = OPTION_WORD,
      .offset = offsetof(struct options, model),
      .words = model_words },
    { .name = "split",
      .help = "choose the bandwidths first, as weft alloc does",
      .kind = OPTION_FLAG,
      .offset = offsetof(struct options, split) },
    { .name = "timeline",
      .value = "FILE",
      .help =
          "model chunk: write what is where when to FILE, .json for Chrome and Perfetto, .csv for weft plot",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, timeline) },
};

static const struct option_group sim_options = { "Simulation", sim_rows, sizeof sim_rows / sizeof *sim_rows };

/* The same bandwidths under one model or under all. */
struct simulation {
    struct load_design first; /* where the bandwidths come from; evaluated under its own model */
    struct study studies[N_SIM_MODELS];
    struct design designs[N_SIM_MODELS];
    int32_t n;
};

static void simulation_free(struct simulation *x)
{
    for (int32_t i = 0; i < x->n; i++) {
        design_free(&x->designs[i]);
        study_free(&x->studies[i]);
    }
    load_design_free(&x->first);
    *x = (struct simulation){ 0 };
}

/* One more column: the study again under `model`, at the bandwidths of the first design. */
static int add_model(struct simulation *x, struct run *run, const char *model, struct err *e)
{
    struct load_overrides o;
    struct study *s = &x->studies[x->n];
    unsigned needs = STUDY_NEEDS_WORKLOAD | (x->first.solved ? STUDY_FOR_SPLIT : 0U);
    int rc = load_overrides(&o, run, e);
    if (!rc)
        rc = load_add(&o, "model", model, e);
    if (!rc)
        rc = study_load(s, run->opt.operands[0], o.list, o.n, needs, e);
    if (!rc)
        rc = design_evaluate(&x->designs[x->n], s, x->first.design.bw_Bps, e);
    if (rc)
        study_free(s);
    else
        x->n++;
    load_free(&o);
    return rc;
}

static int simulate(struct simulation *x, struct run *run, struct err *e)
{
    struct load_overrides o;
    *x = (struct simulation){ 0 };
    int32_t model = run->opt.model;
    int rc = load_overrides(&o, run, e);
    if (!rc && model >= 0 && model != MODEL_ALL)
        rc = load_add(&o, "model", model_words[model], e);
    if (!rc)
        rc = load_design(&x->first, run, &o, run->opt.split ? LOAD_SOLVED : LOAD_GIVEN, STUDY_NEEDS_WORKLOAD,
                         e);
    load_free(&o);
    if (rc || run->exit_code)
        return rc;
    if (model != MODEL_ALL)
        rc = add_model(x, run, sim_model_words[x->first.study.model], e);
    for (int32_t i = 0; model == MODEL_ALL && sim_model_words[i] && !rc; i++)
        rc = add_model(x, run, sim_model_words[i], e);
    /* The last model is the one that uses most. */
    if (!rc)
        output_notes(run, &x->studies[x->n - 1].notes);
    return rc;
}

/* ---- text ---- */

/* Times under every model in one unit. */
struct comparison {
    const struct simulation *x;
    struct sheet sheet;
    double per_s;
};

static void put_quantity(struct comparison *c, const char *name,
                         double (*value)(const struct design *d, int32_t dim), int32_t dim)
{
    const struct simulation *x = c->x;
    sheet_put(&c->sheet, "%s", name);
    for (int32_t i = 0; i < x->n; i++)
        sheet_real(&c->sheet, value(&x->designs[i], dim) * c->per_s, 6);
}

/* By how much each model is above the first. */
static void put_differences(struct comparison *c)
{
    const struct simulation *x = c->x;
    double first_s = x->designs[0].time_s;
    sheet_put(&c->sheet, "above %s, %%", sim_model_words[x->studies[0].model]);
    for (int32_t i = 0; i < x->n; i++)
        sheet_real(&c->sheet, i ? 100 * (x->designs[i].time_s - first_s) / first_s : NAN, 3);
}

static double time_of(const struct design *d, int32_t dim)
{
    (void)dim;
    return d->time_s;
}

static double compute_of(const struct design *d, int32_t dim)
{
    (void)dim;
    return d->compute_s;
}

static double latency_of(const struct design *d, int32_t dim)
{
    (void)dim;
    return d->latency_s;
}

static double exposed_of(const struct design *d, int32_t dim)
{
    return d->exposed_s[dim];
}

static double load_of(const struct design *d, int32_t load)
{
    return d->loads[load].time_s;
}

static int put_quantities(const struct simulation *x, struct text *out, struct err *e)
{
    const struct study *s = &x->studies[0];
    struct comparison c = { .x = x };
    char name[TOPO_NAME + 32];
    const char *unit = show_time_unit(x->designs[0].time_s, &c.per_s);
    sheet_column(&c.sheet, "one step", "", SHEET_LEFT);
    for (int32_t i = 0; i < x->n; i++)
        sheet_column(&c.sheet, sim_model_words[x->studies[i].model], unit, SHEET_POINT);
    put_quantity(&c, s->n_workloads > 1 ? "time, weighted sum" : "time", time_of, 0);
    put_quantity(&c, "  compute", compute_of, 0);
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        snprintf(name, sizeof name, "  waiting for %s", s->net.dims[d].name);
        put_quantity(&c, name, exposed_of, d);
    }
    snprintf(name, sizeof name, "  %s", sim_latency_word(x->studies[x->n - 1].model));
    put_quantity(&c, name, latency_of, 0);
    for (int32_t i = 0; s->n_workloads > 1 && i < s->n_workloads; i++)
        put_quantity(&c, s->workloads[i].tree.name, load_of, i);
    if (x->n > 1)
        put_differences(&c);
    int rc = sheet_write(&c.sheet, out, e);
    sheet_free(&c.sheet);
    return rc;
}

/* Weighted sums over workloads, as those of the design. */
static double sum_traffic(const struct study *s, const struct design *d, int32_t dim)
{
    double sum = 0;
    for (int32_t i = 0; i < d->n_loads; i++)
        sum += s->workloads[i].weight * d->loads[i].step.traffic_B[dim];
    return sum;
}

static double sum_busy(const struct study *s, const struct design *d, int32_t dim)
{
    double sum = 0;
    for (int32_t i = 0; i < d->n_loads; i++)
        sum += s->workloads[i].weight * d->loads[i].step.busy_s[dim];
    return sum;
}

static int put_dims(const struct simulation *x, struct text *out, struct err *e)
{
    const struct study *s = &x->studies[0];
    const struct design *d = &x->designs[0];
    struct sheet sheet = { 0 };
    double per_s;
    const char *unit = show_time_unit(d->time_s, &per_s);
    sheet_column(&sheet, "dimension", "", SHEET_LEFT);
    sheet_column(&sheet, "shape", "", SHEET_LEFT);
    sheet_column(&sheet, "bandwidth", "GB/s", SHEET_POINT);
    sheet_column(&sheet, "sent per NPU", "GB", SHEET_POINT);
    sheet_column(&sheet, "busy", unit, SHEET_POINT);
    sheet_column(&sheet, "busy", "%", SHEET_POINT);
    for (int32_t i = 0; i < d->n_dims; i++) {
        sheet_put(&sheet, "%s", s->net.dims[i].name);
        sheet_put(&sheet, "%s:%d", topo_shape_name(s->net.dims[i].shape), (int)s->net.dims[i].size);
        sheet_real(&sheet, d->bw_Bps[i] / 1e9, 6);
        sheet_real(&sheet, sum_traffic(s, d, i) / 1e9, 5);
        sheet_real(&sheet, sum_busy(s, d, i) * per_s, 5);
        sheet_real(&sheet, 100 * d->util_frac[i], 3);
    }
    int rc = sheet_write(&sheet, out, e);
    sheet_free(&sheet);
    return rc;
}

static int sim_text(const struct simulation *x, struct text *out, struct err *e)
{
    const struct study *s = &x->studies[0];
    const struct design *d = &x->designs[0];
    char word[TOPO_SPEC], n[SHOW];
    load_workload_names(out, s);
    text_printf(out, " on %s (%s NPUs)%s\n\n", load_network_name(word, &s->net), show_count(n, s->net.n_npus),
                x->first.solved ? ", bandwidths as weft alloc chooses them" : "");
    int rc = put_quantities(x, out, e);
    text_puts(out, "\n");
    if (!rc)
        rc = put_dims(x, out, e);
    for (int32_t i = 0; i < x->n && !rc; i++)
        rc = sim_notes_text(&x->studies[i], &x->designs[i], out, e);
    if (isfinite(d->cost_usd))
        text_printf(out, "\ncost %s USD\n", show_usd(n, d->cost_usd));
    return rc;
}

/* ---- data ---- */

static void put_reals(struct json *j, const char *key, const struct study *s, const struct design *d,
                      double (*value)(const struct study *s, const struct design *d, int32_t dim))
{
    json_open(j, key, '[');
    for (int32_t i = 0; i < d->n_dims; i++)
        json_real(j, NULL, value(s, d, i));
    json_close(j, ']');
}

static void put_model(const struct simulation *x, int32_t i, struct json *j)
{
    const struct study *s = &x->studies[i];
    const struct design *d = &x->designs[i];
    json_open(j, NULL, '{');
    json_text(j, "model", sim_model_words[s->model]);
    json_real(j, "time_s", d->time_s);
    json_real(j, "compute_s", d->compute_s);
    json_real(j, "comm_s", d->comm_s);
    json_real(j, "latency_s", d->latency_s);
    json_reals(j, "exposed_s", d->exposed_s, d->n_dims);
    json_reals(j, "utilization", d->util_frac, d->n_dims);
    put_reals(j, "busy_s", s, d, sum_busy);
    put_reals(j, "traffic_B", s, d, sum_traffic);
    sim_notes_json(s, d, j);
    json_open(j, "workloads", '[');
    for (int32_t k = 0; k < d->n_loads; k++) {
        json_open(j, NULL, '{');
        json_text(j, "name", s->workloads[k].tree.name);
        json_real(j, "weight", s->workloads[k].weight);
        json_real(j, "time_s", d->loads[k].time_s);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void sim_json(const struct run *run, const struct simulation *x, struct text *out)
{
    const struct study *s = &x->studies[0];
    const struct design *d = &x->designs[0];
    struct json j = { .out = out };
    struct text names = { 0 };
    char word[TOPO_SPEC];
    load_workload_names(&names, s);
    json_open(&j, NULL, '{');
    output_json_head(&j, run, output_origin(&x->first.study));
    json_text(&j, "network", load_network_name(word, &s->net));
    json_text(&j, "workload", text_str(&names));
    json_open(&j, "dims", '[');
    for (int32_t i = 0; i < s->net.n_dims; i++)
        json_text(&j, NULL, s->net.dims[i].name);
    json_close(&j, ']');
    json_open(&j, "bw_GBps", '[');
    for (int32_t i = 0; i < d->n_dims; i++)
        json_real(&j, NULL, d->bw_Bps[i] / 1e9);
    json_close(&j, ']');
    json_real(&j, "cost_usd", d->cost_usd);
    json_real(&j, "nic_GBps", d->nic_Bps / 1e9);
    json_open(&j, "models", '[');
    for (int32_t i = 0; i < x->n; i++)
        put_model(x, i, &j);
    json_close(&j, ']');
    if (x->n > 1)
        json_real(&j, "difference", x->designs[x->n - 1].time_s / d->time_s - 1);
    json_close(&j, '}');
    text_puts(out, "\n");
    text_free(&names);
}

static void sim_table(const struct simulation *x, struct table *t)
{
    static const char *const texts[] = { "network", "workload", "model" };
    static const char *const reals[] = { "time_s", "compute_s", "comm_s", "latency_s", "cost_usd" };
    static const char *const per_dim[] = { "bw%d_GBps", "util%d", "exposed%d_s" };
    char name[32], word[TOPO_SPEC];
    int32_t n_dims = x->studies[0].net.n_dims;
    struct text names = { 0 };
    load_workload_names(&names, &x->studies[0]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        table_column(t, texts[i], TABLE_TEXT);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        table_column(t, reals[i], TABLE_REAL);
    for (size_t i = 0; i < sizeof per_dim / sizeof *per_dim; i++)
        for (int32_t d = 0; d < n_dims; d++) {
            snprintf(name, sizeof name, per_dim[i], (int)d + 1);
            table_column(t, name, TABLE_REAL);
        }
    for (int32_t i = 0; i < x->n; i++) {
        const struct design *d = &x->designs[i];
        const double *lists[] = { d->bw_Bps, d->util_frac, d->exposed_s };
        table_row(t);
        table_put_text(t, load_network_name(word, &x->studies[i].net));
        table_put_text(t, text_str(&names));
        table_put_text(t, sim_model_words[x->studies[i].model]);
        const double values[] = { d->time_s, d->compute_s, d->comm_s, d->latency_s, d->cost_usd };
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            table_put_real(t, values[k]);
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
            for (int32_t m = 0; m < n_dims; m++)
                table_put_real(t, lists[k][m] * (k == 0 ? 1e-9 : 1));
    }
    text_free(&names);
}

static int write_result(const struct run *run, const struct simulation *x, struct err *e)
{
    struct text out = { 0 };
    struct table t = { 0 };
    int rc = 0;
    switch (output_format(run)) {
    case TABLE_AS_TEXT:
        rc = sim_text(x, &out, e);
        break;
    case TABLE_AS_JSON:
        sim_json(run, x, &out);
        break;
    case TABLE_AS_CSV:
        sim_table(x, &t);
        rc = output_table(run, &t, output_origin(&x->first.study), e);
        table_free(&t);
        return rc;
    }
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

/* The simulated model is the one that has a timeline. */
static int write_timeline(const struct run *run, const struct simulation *x, struct err *e)
{
    for (int32_t i = 0; i < x->n; i++)
        if (x->studies[i].model == SIM_CHUNK)
            return timeline_write(run, &x->studies[i], &x->designs[i], run->opt.timeline, e);
    return err_set(e, ERR_USAGE, "option --timeline is given with model %s, need chunk or all",
                   sim_model_words[x->studies[0].model]);
}

static int run_sim(struct run *run, struct err *e)
{
    struct simulation x;
    int rc = output_check(run, NULL, e);
    if (!rc && run->opt.timeline)
        rc = timeline_check(run, run->opt.timeline, e);
    if (rc)
        return rc;
    rc = simulate(&x, run, e);
    if (!rc && x.n > 0 && run->opt.timeline)
        rc = write_timeline(run, &x, e);
    if (!rc)
        rc = x.n > 0 ? write_result(run, &x, e) : load_write_status(run, &x.first, false, e);
    simulation_free(&x);
    return rc;
}

const struct command cmd_sim = {
    .group = "One design",
    .name = "sim",
    .help = "time of a training step at given bandwidths",
    .about = "Time a training step on the network of STUDY, whose dimensions all have bw_GBps (or with\n"
             "--split, at the bandwidths that weft alloc chooses): in closed form, or simulated.\n",
    .scope = SCOPE(1, 1, "STUDY", &sim_options, &options_study, &options_format, &options_files),
    .run = run_sim,
};
