#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/load.h"
#include "cli/output.h"
#include "cli/sim_notes.h"
#include "cli/sim_text.h"
#include "cli/timeline.h"
#include "cli/training.h"

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
    { .name = "links",
      .value = "FILE",
      .help = "model flow: write what each direction of every link carries to FILE, as CSV",
      .kind = OPTION_TEXT,
      .offset = offsetof(struct options, links) },
};

static const struct option_group sim_options = { "Simulation", sim_rows, sizeof sim_rows / sizeof *sim_rows };

static void simulation_free(struct simulation *x)
{
    for (int32_t i = 0; i < x->n_others; i++) {
        design_free(&x->others[i].design);
        study_free(&x->others[i].study);
    }
    load_design_free(&x->first);
    *x = (struct simulation){ 0 };
}

static void add_column(struct simulation *x, const struct design_point *s, const struct design *d)
{
    x->studies[x->n] = s;
    x->designs[x->n++] = d;
}

/* One more column: the study again under `model`, at the bandwidths of the first design. What cannot be
 * simulated is left out with the reason; the other models stand all the same. */
static int add_model(struct simulation *x, struct run *run, enum sim_model model, struct err *e)
{
    struct load_overrides o;
    struct design_point *s = &x->others[x->n_others].study;
    struct design *d = &x->others[x->n_others].design;
    unsigned needs = STUDY_NEEDS_WORKLOAD | (x->first.solved ? STUDY_FOR_SPLIT : 0U);
    int rc = load_overrides(&o, run, e);
    if (!rc)
        rc = load_add(&o, "model", sim_model_words[model], e);
    if (!rc)
        rc = study_load(s, run->opt.operands[0], o.list, o.n, needs, e);
    load_free(&o);
    if (!rc)
        rc = study_take_plans(s, &x->first.study, e);
    if (rc)
        return rc;
    rc = design_evaluate(d, s, x->first.design.bw_Bps, e);
    if (rc == 0) {
        x->n_others++;
        add_column(x, s, d);
        return 0;
    }
    study_free(s);
    bool simulated = model == SIM_CHUNK || model == SIM_FLOW;
    if (!simulated || rc == ERR_NOMEM)
        return rc;
    output_warn(run, "model %s is left out: %s", sim_model_words[model], e->msg);
    return 0;
}

/* What has no effect under any of the models. */
static void put_common_notes(const struct simulation *x, struct run *run)
{
    struct text common = { 0 };
    for (const char *line = text_str(&x->studies[0]->notes); *line;) {
        size_t n = strcspn(line, "\n");
        char *copy = strndup(line, n + 1);
        bool everywhere = copy != NULL;
        for (int32_t i = 1; i < x->n && everywhere; i++)
            everywhere = strstr(text_str(&x->studies[i]->notes), copy) != NULL;
        if (everywhere)
            text_puts(&common, copy);
        free(copy);
        line += n + (line[n] == '\n');
    }
    output_notes(run, &common);
    text_free(&common);
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
    for (int i = 0; i < N_SIM_MODELS && !rc; i++) {
        if ((int)x->first.study.model == i)
            add_column(x, &x->first.study, &x->first.design);
        else if (model == MODEL_ALL)
            rc = add_model(x, run, (enum sim_model)i, e);
    }
    if (!rc)
        put_common_notes(x, run);
    return rc;
}

/* ---- data ---- */

static void put_reals(struct json *j, const char *key, const struct design_point *s, const struct design *d,
                      double (*value)(const struct design_point *s, const struct design *d, int32_t dim))
{
    json_open(j, key, '[');
    for (int32_t i = 0; i < d->n_dims; i++)
        json_real(j, NULL, value(s, d, i));
    json_close(j, ']');
}

static void put_model(const struct simulation *x, int32_t i, struct json *j)
{
    const struct design_point *s = x->studies[i];
    const struct design *d = x->designs[i];
    json_open(j, NULL, '{');
    json_text(j, "model", sim_model_words[s->model]);
    json_real(j, "time_s", d->time_s);
    json_real(j, "above_first", x->n > 1 ? d->time_s / x->designs[0]->time_s - 1 : NAN);
    json_real(j, "compute_s", d->compute_s);
    json_real(j, "comm_s", d->comm_s);
    json_real(j, "latency_s", d->latency_s);
    json_reals(j, "exposed_s", d->exposed_s, d->n_dims);
    json_reals(j, "utilization", d->util_frac, d->n_dims);
    put_reals(j, "busy_s", s, d, sim_sum_busy);
    put_reals(j, "traffic_B", s, d, sim_sum_traffic);
    sim_notes_json(s, d, j);
    json_open(j, "workloads", '[');
    for (int32_t k = 0; k < d->n_loads; k++) {
        json_open(j, NULL, '{');
        json_text(j, "name", s->workloads[k].tree.name);
        json_real(j, "weight", s->workloads[k].weight);
        json_real(j, "time_s", d->loads[k].time_s);
        training_json(s, d, k, j);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_close(j, '}');
}

static void sim_json(const struct run *run, const struct simulation *x, struct text *out)
{
    const struct design_point *s = x->studies[0];
    const struct design *d = x->designs[0];
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
    json_close(&j, '}');
    text_puts(out, "\n");
    text_free(&names);
}

static int sim_table(const struct simulation *x, struct table *t, struct err *e)
{
    static const char *const texts[] = { "network", "workload", "model" };
    static const char *const reals[] = { "time_s", "compute_s", "comm_s", "latency_s", "cost_usd" };
    static const char *const per_dim[] = { "bw%d_GBps", "util%d", "exposed%d_s" };
    char name[32], word[TOPO_SPEC];
    int32_t n_dims = x->studies[0]->net.n_dims;
    struct text names = { 0 };
    int rc = 0;
    load_workload_names(&names, x->studies[0]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        table_column(t, texts[i], TABLE_TEXT);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        table_column(t, reals[i], TABLE_REAL);
    for (size_t i = 0; i < sizeof per_dim / sizeof *per_dim; i++)
        for (int32_t d = 0; d < n_dims; d++) {
            snprintf(name, sizeof name, per_dim[i], (int)d + 1);
            table_column(t, name, TABLE_REAL);
        }
    if (x->studies[0]->workloads[0].training)
        training_row_columns(t);
    for (int32_t i = 0; i < x->n; i++) {
        const struct design *d = x->designs[i];
        const double *lists[] = { d->bw_Bps, d->util_frac, d->exposed_s };
        struct training_row row = { .known = false };
        if (!rc)
            rc = training_row_fill(&row, x->studies[i], d, e);
        table_row(t);
        table_put_text(t, load_network_name(word, &x->studies[i]->net));
        table_put_text(t, text_str(&names));
        table_put_text(t, sim_model_words[x->studies[i]->model]);
        const double values[] = { d->time_s, d->compute_s, d->comm_s, d->latency_s, d->cost_usd };
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            table_put_real(t, values[k]);
        for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
            for (int32_t m = 0; m < n_dims; m++)
                table_put_real(t, lists[k][m] * (k == 0 ? 1e-9 : 1));
        if (x->studies[0]->workloads[0].training)
            training_row_put(t, &row);
    }
    text_free(&names);
    return rc;
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
        rc = sim_table(x, &t, e);
        if (!rc)
            rc = output_table(run, &t, output_origin(&x->first.study), e);
        table_free(&t);
        return rc;
    }
    if (!rc)
        rc = output_write(run, &out, e);
    text_free(&out);
    return rc;
}

/* Files that one of the models has beside its times. */
static int write_extra(const struct run *run, const struct simulation *x, enum sim_model model,
                       const char *option, const char *path,
                       int (*write)(const struct run *run, const struct design_point *s,
                                    const struct design *d, const char *path, struct err *e),
                       struct err *e)
{
    if (!path)
        return 0;
    for (int32_t i = 0; i < x->n; i++)
        if (x->studies[i]->model == model)
            return write(run, x->studies[i], x->designs[i], path, e);
    return err_set(e, ERR_USAGE, "option --%s is given with model %s, need %s or all", option,
                   sim_model_words[x->studies[0]->model], sim_model_words[model]);
}

static int write_extras(const struct run *run, const struct simulation *x, struct err *e)
{
    int rc = write_extra(run, x, SIM_CHUNK, "timeline", run->opt.timeline, timeline_write, e);
    return rc ? rc : write_extra(run, x, SIM_FLOW, "links", run->opt.links, sim_links_write, e);
}

/* Of two outputs under one name one would be lost. */
static int check_names(const struct run *run, struct err *e)
{
    const char *const names[] = { run->opt.out, run->opt.timeline, run->opt.links };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < i; k++)
            if (names[i] && names[k] && strcmp(names[i], names[k]) == 0)
                return err_set(e, ERR_USAGE, "two outputs are to go to %s, need a file for each", names[i]);
    return 0;
}

static int run_sim(struct run *run, struct err *e)
{
    struct simulation x;
    int rc = output_check(run, NULL, e);
    if (!rc)
        rc = check_names(run, e);
    if (!rc && run->opt.timeline)
        rc = timeline_check(run, run->opt.timeline, e);
    if (!rc && run->opt.links)
        rc = output_check(run, run->opt.links, e);
    if (rc)
        return rc;
    rc = simulate(&x, run, e);
    if (!rc && x.n > 0)
        rc = write_extras(run, &x, e);
    if (!rc)
        rc = x.n > 0 ? write_result(run, &x, e) : load_write_status(run, &x.first, false, e);
    if (!rc && x.n > 0)
        training_say_memory(run, x.studies[0]);
    simulation_free(&x);
    return rc;
}

const struct command cmd_sim = {
    .group = "One design",
    .name = "sim",
    .help = "time of a training step at given bandwidths",
    .about = "Time a training step on the network of STUDY, whose dimensions all have bw_GBps (or with\n"
             "--split, at the bandwidths that weft alloc chooses): in closed form, or simulated.\n",
    .scope =
        SCOPE(1, 1, "STUDY", &sim_options, &options_study, &options_search, &options_format, &options_files),
    .run = run_sim,
};
