/*
 * What a trace does not tell of its jobs, drawn from named distributions: models, GPUs, iterations, times.
 * Every draw depends on the seed, the job's number and what is drawn only, so that a part of a trace draws
 * the same.
 */
#include "workloads/traces/profile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/rng.h"
#include "workloads/step_keys.h"

/* ---- keys ---- */

/* As written: distributions are read by read_draw(). */
struct profile_conf {
    const char *name, *source;
    int64_t gpus_per_worker;
    yaml_id gpus, ps, batch, iters, iter_ms, grad_MB, priority, models;
};

static const struct key profile_keys[] = {
    TEXT_KEY(profile_conf, "name", name, "what reports call the profile"),
    TEXT_KEY(profile_conf, "source", source, "where the figures come from"),
    NODE_KEY(profile_conf, "models", models, "list of models, see profile.models; absent: none is drawn"),
    NODE_KEY(profile_conf, "gpus", gpus, "GPUs of a job, a whole number from 1, see profile.draw"),
    COUNT_KEY(profile_conf, "gpus_per_worker", gpus_per_worker, 1, TRACE_MAX_GPUS, 1,
              "workers are GPUs over this, rounded up"),
    NODE_KEY(profile_conf, "ps", ps, "parameter servers, a whole number from 0, see profile.draw"),
    NODE_KEY(profile_conf, "batch", batch, "samples of an iteration, where the model has none of its own"),
    NODE_KEY(profile_conf, "iters", iters, "iterations of a job, where runtime over iter_ms does not say"),
    NODE_KEY(profile_conf, "iter_ms", iter_ms, "time of an iteration, where the model has none of its own"),
    NODE_KEY(profile_conf, "grad_MB", grad_MB, "gradients of a worker, where the model has none of its own"),
    NODE_KEY(profile_conf, "priority", priority, "larger comes first, see profile.draw"),
};

SECTION(trace_profile_section, "profile", "what a job trace does not tell, drawn (weft import --profile)",
        profile_keys);

struct model_conf {
    const char *name;
    double weight;
    yaml_id grad_MB, batch, iter_ms;
};

static const struct key model_keys[] = {
    { .name = "name",
      .help = "as traces call it, upper or lower case",
      .kind = KEY_TEXT,
      .offset = offsetof(struct model_conf, name),
      .unit = "",
      .required = true },
    { .name = "weight",
      .help = "its share of the jobs without a model",
      .kind = KEY_REAL,
      .offset = offsetof(struct model_conf, weight),
      .unit = "",
      .scale = 1,
      .min = 0,
      .max = 1e9,
      .dflt = 1 },
    NODE_KEY(model_conf, "grad_MB", grad_MB, "gradients of a worker, see profile.draw"),
    NODE_KEY(model_conf, "batch", batch, "samples of an iteration, see profile.draw"),
    NODE_KEY(model_conf, "iter_ms", iter_ms, "time of an iteration, see profile.draw"),
};

SECTION(trace_profile_model_section, "profile.models", "a model that jobs train", model_keys);

struct draw_conf {
    double from, to;
    bool log;
    yaml_id values, weights;
};

#define DRAW_LIMIT 1e15

static const struct key draw_keys[] = {
    { .name = "from",
      .help = "a range: its least value",
      .kind = KEY_REAL,
      .offset = offsetof(struct draw_conf, from),
      .unit = "",
      .scale = 1,
      .min = -DRAW_LIMIT,
      .max = DRAW_LIMIT,
      .dflt = SCHEMA_NONE },
    { .name = "to",
      .help = "and its largest",
      .kind = KEY_REAL,
      .offset = offsetof(struct draw_conf, to),
      .unit = "",
      .scale = 1,
      .min = -DRAW_LIMIT,
      .max = DRAW_LIMIT,
      .dflt = SCHEMA_NONE },
    { .name = "log",
      .help = "true: every factor of two is as likely as any other; absent: false",
      .kind = KEY_BOOL,
      .offset = offsetof(struct draw_conf, log),
      .unit = "" },
    NODE_KEY(draw_conf, "values", values, "in place of a range: list of values"),
    NODE_KEY(draw_conf, "weights", weights, "list of their weights; absent: all alike"),
};

SECTION(trace_profile_draw_section, "profile.draw", "a distribution; a number alone is always that number",
        draw_keys);

/* ---- reading ---- */

/* What the values of a key may be, in the unit of the file. */
struct draw_rule {
    double min, max, to_SI;
    bool whole;
};

static const struct draw_rule gpus_rule = { 1, TRACE_MAX_GPUS, 1, true };
static const struct draw_rule ps_rule = { 0, TRACE_MAX_GPUS, 1, true };
static const struct draw_rule count_rule = { 1, 1e15, 1, true };
static const struct draw_rule iter_ms_rule = { 1e-6, 1e12, 1e-3, false };
static const struct draw_rule grad_MB_rule = { 1e-6, 1e12, 1e6, false };
static const struct draw_rule priority_rule = { -1e9, 1e9, 1, false };

static int check_value(double x, const struct draw_rule *rule, const struct yaml_doc *doc, yaml_id id,
                       struct err *e)
{
    if (x >= rule->min && x <= rule->max && (!rule->whole || x == trunc(x)))
        return 0;
    return yaml_fail(doc, id, e, ERR_RANGE, "is %g, need a %snumber from %g to %g", x,
                     rule->whole ? "whole " : "", rule->min, rule->max);
}

/* A list of numbers; @p rule NULL: weights, at least 0. */
static int profile_read_list(double *out, int32_t *n, const struct draw_rule *rule,
                             const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    static const struct draw_rule weights = { 0, 1e9, 1, false };
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    *n = doc->nodes[list].n;
    if (*n < 1 || *n > TRACE_DRAW_MAX)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, need 1 to %d", (int)*n, TRACE_DRAW_MAX);
    yaml_each (id, doc, list) {
        double x;
        rc = yaml_real(doc, id, &x, e);
        if (rc || (rc = check_value(x, rule ? rule : &weights, doc, id, e)))
            return rc;
        out[doc->nodes[id].index] = x * (rule ? rule->to_SI : 1);
    }
    return 0;
}

/* Weights to shares, each with those before it; the last is 1 whatever rounding does. */
static int sum_weights(double *upto, int32_t n, const struct yaml_doc *doc, yaml_id at, struct err *e)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        upto[i] = sum += upto[i];
    if (!(sum > 0))
        return yaml_fail(doc, at, e, ERR_RANGE, "has no weight above 0, need one");
    for (int32_t i = 0; i < n; i++)
        upto[i] = upto[i] < sum ? upto[i] / sum : 1;
    return 0;
}

static int profile_read_values(struct trace_draw *d, const struct draw_conf *conf,
                               const struct draw_rule *rule, const struct yaml_doc *doc, yaml_id id,
                               struct err *e)
{
    int32_t n_weights = 0;
    d->kind = TRACE_DRAW_LIST;
    if (!isnan(conf->from) || !isnan(conf->to) || conf->log)
        return yaml_fail(doc, id, e, ERR_PARSE, "has values and a range, need one of them");
    int rc = profile_read_list(d->values, &d->n, rule, doc, conf->values, e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < d->n; i++)
        d->upto[i] = 1;
    if (conf->weights >= 0 && (rc = profile_read_list(d->upto, &n_weights, NULL, doc, conf->weights, e)))
        return rc;
    if (conf->weights >= 0 && n_weights != d->n)
        return yaml_fail(doc, conf->weights, e, ERR_RANGE, "has %d entries, need %d, one per value",
                         (int)n_weights, (int)d->n);
    return sum_weights(d->upto, d->n, doc, conf->weights >= 0 ? conf->weights : id, e);
}

static int read_range(struct trace_draw *d, const struct draw_conf *conf, const struct draw_rule *rule,
                      const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    int rc;
    if (isnan(conf->from) || isnan(conf->to) || conf->weights >= 0)
        return yaml_fail(doc, id, e, ERR_PARSE, "is no distribution, need from and to, or values");
    if ((rc = check_value(conf->from, rule, doc, yaml_get(doc, id, "from"), e)) ||
        (rc = check_value(conf->to, rule, doc, yaml_get(doc, id, "to"), e)))
        return rc;
    if (!(conf->from <= conf->to))
        return yaml_fail(doc, id, e, ERR_RANGE, "is from %g to %g, need from at most to", conf->from,
                         conf->to);
    if (conf->log && !(conf->from > 0))
        return yaml_fail(doc, id, e, ERR_RANGE, "is from %g with log, need more than 0", conf->from);
    d->kind = conf->log ? TRACE_DRAW_LOG : TRACE_DRAW_RANGE;
    d->from = conf->from * rule->to_SI;
    d->to = conf->to * rule->to_SI;
    return 0;
}

/* @p id -1 gives no distribution. */
static int read_draw(struct trace_draw *d, const struct draw_rule *rule, const struct yaml_doc *doc,
                     yaml_id id, struct err *e)
{
    struct draw_conf conf;
    *d = (struct trace_draw){ .kind = TRACE_DRAW_NONE, .whole = rule->whole };
    if (id < 0)
        return 0;
    if (doc->nodes[id].kind == YAML_SCALAR) {
        double x;
        int rc = yaml_real(doc, id, &x, e);
        if (rc || (rc = check_value(x, rule, doc, id, e)))
            return rc;
        d->kind = TRACE_DRAW_RANGE;
        d->from = d->to = x * rule->to_SI;
        return 0;
    }
    int rc = schema_read(&conf, &trace_profile_draw_section, doc, id, e);
    if (rc)
        return rc;
    return conf.values >= 0 ? profile_read_values(d, &conf, rule, doc, id, e)
                            : read_range(d, &conf, rule, doc, id, e);
}

static int profile_read_model(struct trace_model *m, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    struct model_conf conf;
    int rc = schema_read(&conf, &trace_profile_model_section, doc, id, e);
    if (rc)
        return rc;
    if (strlen(conf.name) >= sizeof m->name)
        return yaml_fail(doc, yaml_get(doc, id, "name"), e, ERR_RANGE, "has %zu bytes, need at most %zu",
                         strlen(conf.name), sizeof m->name - 1);
    snprintf(m->name, sizeof m->name, "%s", conf.name);
    m->upto = conf.weight;
    if ((rc = read_draw(&m->grad_B, &grad_MB_rule, doc, conf.grad_MB, e)) ||
        (rc = read_draw(&m->batch, &count_rule, doc, conf.batch, e)))
        return rc;
    return read_draw(&m->iter_s, &iter_ms_rule, doc, conf.iter_ms, e);
}

static int read_models(struct trace_profile *p, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    double upto[TRACE_PROFILE_MODELS];
    if (list < 0)
        return 0;
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    if (doc->nodes[list].n < 1 || doc->nodes[list].n > TRACE_PROFILE_MODELS)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, need 1 to %d", (int)doc->nodes[list].n,
                         TRACE_PROFILE_MODELS);
    yaml_each (id, doc, list) {
        if ((rc = profile_read_model(&p->models[p->n_models], doc, id, e)))
            return rc;
        upto[p->n_models] = p->models[p->n_models].upto;
        p->n_models++;
    }
    rc = sum_weights(upto, p->n_models, doc, list, e);
    for (int32_t i = 0; i < p->n_models; i++)
        p->models[i].upto = upto[i];
    return rc;
}

static int read_root(struct trace_profile *p, const struct yaml_doc *doc, struct err *e)
{
    struct profile_conf conf;
    int rc = schema_read(&conf, &trace_profile_section, doc, doc->root, e);
    if (rc)
        return rc;
    snprintf(p->name, sizeof p->name, "%s", conf.name ? conf.name : "profile");
    p->gpus_per_worker = conf.gpus_per_worker;
    if ((rc = read_draw(&p->gpus, &gpus_rule, doc, conf.gpus, e)) ||
        (rc = read_draw(&p->ps, &ps_rule, doc, conf.ps, e)) ||
        (rc = read_draw(&p->batch, &count_rule, doc, conf.batch, e)) ||
        (rc = read_draw(&p->iters, &count_rule, doc, conf.iters, e)) ||
        (rc = read_draw(&p->iter_s, &iter_ms_rule, doc, conf.iter_ms, e)) ||
        (rc = read_draw(&p->grad_B, &grad_MB_rule, doc, conf.grad_MB, e)) ||
        (rc = read_draw(&p->priority, &priority_rule, doc, conf.priority, e)))
        return rc;
    return read_models(p, doc, conf.models, e);
}

int trace_read_profile(struct trace_profile *p, const char *path, struct err *e)
{
    struct yaml_doc doc;
    memset(p, 0, sizeof *p);
    int rc = yaml_read_file(&doc, path, e);
    if (!rc)
        rc = read_root(p, &doc, e);
    yaml_free(&doc);
    return rc;
}

/* Streams of one seed, one a job: apart from those of trace_window.c, and from those below 2^32, which models
 * that run the jobs draw from. */
#define JOB_STREAM (UINT64_C(3) << 32)

/* A number per field, in this order; a new one goes to the end, so that the others stay. */
enum { U_MODEL, U_GPUS, U_GRAD, U_BATCH, U_ITER_S, U_ITERS, U_PS, U_PRIORITY, N_U };

double trace_draw_at(const struct trace_draw *d, double u)
{
    /* Whole numbers share [from, to + 1), each the part from itself to the next. */
    double end = d->whole ? d->to + 1 : d->to, x = NAN;
    int32_t i = 0;
    switch (d->kind) {
    case TRACE_DRAW_NONE:
        return NAN;
    case TRACE_DRAW_LIST:
        while (i < d->n - 1 && u >= d->upto[i])
            i++;
        return d->values[i];
    case TRACE_DRAW_RANGE:
        x = d->from + u * (end - d->from);
        break;
    case TRACE_DRAW_LOG:
        x = d->from * exp(u * log(end / d->from));
        break;
    }
    x = d->whole ? floor(x) : x;
    return fmin(fmax(x, d->from), d->to);
}

/* The profile's entry of a model; NULL if it has none. */
static const struct trace_model *find_model(const struct trace_profile *p, const char *name)
{
    for (int32_t i = 0; i < p->n_models; i++)
        if (strcasecmp(p->models[i].name, name) == 0)
            return &p->models[i];
    return NULL;
}

static const struct trace_model *draw_model(const struct trace_profile *p, double u)
{
    int32_t i = 0;
    while (i < p->n_models - 1 && u >= p->models[i].upto)
        i++;
    return p->n_models ? &p->models[i] : NULL;
}

/* The model's own distribution, else that of the profile. */
static const struct trace_draw *either(const struct trace_draw *own, const struct trace_draw *general)
{
    return own && own->kind != TRACE_DRAW_NONE ? own : general;
}

static void profile_mark(struct trace_job *job, enum trace_column_id k)
{
    job->synthetic |= 1u << k;
}

static void fill_small(struct trace_job *job, enum trace_column_id k, int32_t *field, double x)
{
    if (*field >= 0 || isnan(x))
        return;
    *field = (int32_t)x;
    profile_mark(job, k);
}

static void fill_count(struct trace_job *job, enum trace_column_id k, int64_t *field, double x)
{
    if (*field >= 0 || isnan(x))
        return;
    *field = (int64_t)x;
    profile_mark(job, k);
}

static void fill_real(struct trace_job *job, enum trace_column_id k, double *field, double x)
{
    if (!isnan(*field) || isnan(x))
        return;
    *field = x;
    profile_mark(job, k);
}

/* Iterations and runtime: what of the two is known says the other. */
static void fill_time(struct trace_job *job, double iter_s, double iters)
{
    double whole = round(job->runtime_s / iter_s); /* NaN if one of them is */
    if (!isnan(whole))
        iters = fmin(fmax(whole, 1), (double)TRACE_MAX_COUNT);
    fill_count(job, TRACE_ITERS, &job->iters, iters);
    if (job->iters < 0)
        return;
    double runtime_s = (double)job->iters * iter_s;
    fill_real(job, TRACE_RUNTIME, &job->runtime_s,
              runtime_s > TRACE_MAX_TIME_S ? TRACE_MAX_TIME_S : runtime_s);
}

static int profile_fill_job(struct trace_job *job, const struct trace_profile *p, const double u[N_U],
                            struct trace_fill_counts *counts, struct err *e)
{
    const struct trace_model *m = job->model ? find_model(p, job->model) : NULL;
    if (!m) {
        m = draw_model(p, u[U_MODEL]);
        counts->n_unlike += m && job->model;
    }
    if (m && !job->model) {
        job->model = strdup(m->name);
        if (!job->model)
            return err_nomem(e, "name of a model");
        profile_mark(job, TRACE_MODEL);
    }
    const struct trace_draw *grad_B = either(m ? &m->grad_B : NULL, &p->grad_B);
    const struct trace_draw *batch = either(m ? &m->batch : NULL, &p->batch);
    const struct trace_draw *iter_s = either(m ? &m->iter_s : NULL, &p->iter_s);
    fill_small(job, TRACE_GPUS, &job->gpus, trace_draw_at(&p->gpus, u[U_GPUS]));
    if (job->gpus >= 0)
        fill_small(job, TRACE_WORKERS, &job->workers, ceil((double)job->gpus / (double)p->gpus_per_worker));
    fill_small(job, TRACE_PS, &job->ps, trace_draw_at(&p->ps, u[U_PS]));
    fill_real(job, TRACE_GRAD, &job->grad_bytes, trace_draw_at(grad_B, u[U_GRAD]));
    fill_count(job, TRACE_BATCH, &job->batch, trace_draw_at(batch, u[U_BATCH]));
    fill_time(job, trace_draw_at(iter_s, u[U_ITER_S]), trace_draw_at(&p->iters, u[U_ITERS]));
    fill_real(job, TRACE_PRIORITY, &job->priority, trace_draw_at(&p->priority, u[U_PRIORITY]));
    return 0;
}

int trace_fill(struct trace *t, const struct trace_profile *p, uint64_t seed,
               struct trace_fill_counts *counts, struct err *e)
{
    int rc = 0;
    *counts = (struct trace_fill_counts){ 0 };
    for (int32_t i = 0; i < t->n && !rc; i++) {
        struct rng *r;
        double u[N_U];
        rc = rng_build(&r, seed, JOB_STREAM + (uint64_t)t->jobs[i].index, e);
        for (int k = 0; k < N_U && !rc; k++)
            u[k] = rng_uniform(r);
        rng_free(r);
        if (!rc)
            rc = profile_fill_job(&t->jobs[i], p, u, counts, e);
    }
    return rc;
}

/* ---- a part of a trace, filled ---- */

int trace_prepare(struct trace *t, const struct trace_window *w, const struct trace_profile *p, uint64_t seed,
                  struct trace_fill_counts *counts, struct err *e)
{
    *counts = (struct trace_fill_counts){ 0 };
    /* What is drawn depends on the job alone, so a window may be cut first, and little be drawn; not where
     * the window asks for something that may be drawn. */
    bool draws_size = p && w && w->max_gpus > 0 && p->gpus.kind != TRACE_DRAW_NONE;
    int rc = 0;
    if (draws_size)
        rc = trace_fill(t, p, seed, counts, e);
    if (!rc && w)
        rc = trace_cut(t, w, e);
    if (!rc && p && !draws_size)
        rc = trace_fill(t, p, seed, counts, e);
    return rc;
}

void trace_list_synthetic(struct text *out, const struct trace *t)
{
    int64_t counts[N_TRACE_COLUMNS];
    bool any = false;
    trace_count_synthetic(t, counts);
    for (int k = 0; k < N_TRACE_COLUMNS; k++)
        if (counts[k]) {
            text_printf(out, "%s%s in %lld", any ? ", " : "", trace_column_names[k], (long long)counts[k]);
            any = true;
        }
}
