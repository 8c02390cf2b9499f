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
#include "base/work.h"

/* ---- distributions ---- */

#define DRAW_LIMIT 1e15

static const struct key draw_keys[] = {
    K_REAL_OR(struct trace_draw, from, "from", "", 1, -DRAW_LIMIT, DRAW_LIMIT, NAN,
              "lowest value of a range"),
    K_REAL_OR(struct trace_draw, to, "to", "", 1, -DRAW_LIMIT, DRAW_LIMIT, NAN, "highest value of a range"),
    K_BOOL(struct trace_draw, log, "log", false,
           "true: every factor of two is as likely as any other (default: false)"),
    K_ELSEWHERE("values", "in place of a range: list of values", .form = "list of numbers"),
    K_ELSEWHERE("weights", "list of the weights of these values (default: all alike)",
                .form = "list of numbers"),
};

K_SECTION(trace_profile_draw_section, struct trace_draw, "profile.draw", draw_keys,
          "a distribution; a number alone is always that number");

static int profile_check_value(double x, const struct key *rule, const struct yaml_doc *doc, yaml_id id,
                               struct err *e)
{
    if (x >= rule->min && x <= rule->max && (!rule->whole || x == trunc(x)))
        return 0;
    return yaml_fail(doc, id, e, ERR_RANGE, "is %g, expected a %snumber from %g to %g", x,
                     rule->whole ? "whole " : "", rule->min, rule->max);
}

/* A list of numbers; @p rule NULL: weights, at least 0. */
static int profile_read_list(double *out, int32_t *n, const struct key *rule, const struct yaml_doc *doc,
                             yaml_id list, struct err *e)
{
    static const struct key weights = { .max = 1e9, .scale = 1 };
    int rc = yaml_need_list(doc, list, TRACE_DRAW_MAX, NULL, e);
    if (rc)
        return rc;
    *n = doc->nodes[list].n;
    yaml_each (id, doc, list) {
        double x;
        rc = yaml_real(doc, id, &x, e);
        if (rc || (rc = profile_check_value(x, rule ? rule : &weights, doc, id, e)))
            return rc;
        out[doc->nodes[id].index] = x * (rule ? rule->scale : 1);
    }
    return 0;
}

/* Weights to shares, each with those before it; the last is 1 whatever rounding does. */
static int profile_sum_weights(double *upto, int32_t n, const struct yaml_doc *doc, yaml_id at, struct err *e)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        upto[i] = sum += upto[i];
    if (!(sum > 0))
        return yaml_fail(doc, at, e, ERR_RANGE, "has no weight above 0");
    for (int32_t i = 0; i < n; i++)
        upto[i] = upto[i] < sum ? upto[i] / sum : 1;
    return 0;
}

/* A list with weights, which become cumulative shares. */
static int profile_read_values(struct trace_draw *d, const struct key *rule, const struct yaml_doc *doc,
                               yaml_id map, struct err *e)
{
    yaml_id weights = yaml_get(doc, map, "weights");
    int32_t n_weights = 0;
    d->kind = TRACE_DRAW_LIST;
    if (!isnan(d->from) || !isnan(d->to) || d->log)
        return yaml_fail(doc, map, e, ERR_PARSE, "has values and a range; give one of them");
    int rc = profile_read_list(d->values, &d->n, rule, doc, yaml_get(doc, map, "values"), e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < d->n; i++)
        d->upto[i] = 1;
    if (weights >= 0 && (rc = profile_read_list(d->upto, &n_weights, NULL, doc, weights, e)))
        return rc;
    if (weights >= 0 && n_weights != d->n)
        return yaml_fail(doc, weights, e, ERR_RANGE, "has %d entries, expected %d, one per value",
                         (int)n_weights, (int)d->n);
    return profile_sum_weights(d->upto, d->n, doc, weights >= 0 ? weights : map, e);
}

/* Both ends are checked against the rule of the column that is drawn, then scaled to SI. */
static int profile_check_range(struct trace_draw *d, const struct key *rule, const struct yaml_doc *doc,
                               yaml_id map, struct err *e)
{
    int rc;
    if (isnan(d->from) || isnan(d->to) || yaml_get(doc, map, "weights") >= 0)
        return yaml_fail(doc, map, e, ERR_PARSE, "is no distribution; give from and to, or values");
    if ((rc = profile_check_value(d->from, rule, doc, yaml_get(doc, map, "from"), e)) ||
        (rc = profile_check_value(d->to, rule, doc, yaml_get(doc, map, "to"), e)))
        return rc;
    if (!(d->from <= d->to))
        return yaml_fail(doc, map, e, ERR_RANGE, "is from %g to %g, expected from at most to", d->from,
                         d->to);
    if (d->log && !(d->from > 0))
        return yaml_fail(doc, map, e, ERR_RANGE, "is from %g with log, expected more than 0", d->from);
    d->kind = TRACE_DRAW_RANGE;
    d->from *= rule->scale;
    d->to *= rule->scale;
    return 0;
}

/* What values may be, in the unit of the file, is what the key says. */
static int read_draw(void *field, const struct key *rule, const struct yaml_doc *doc, yaml_id id,
                     struct err *e)
{
    struct trace_draw *d = field;
    *d = (struct trace_draw){ .kind = TRACE_DRAW_NONE, .whole = rule->whole };
    if (id < 0)
        return 0;
    if (doc->nodes[id].kind == YAML_SCALAR) {
        double x;
        int rc = yaml_real(doc, id, &x, e);
        if (rc || (rc = profile_check_value(x, rule, doc, id, e)))
            return rc;
        d->kind = TRACE_DRAW_RANGE;
        d->from = d->to = x * rule->scale;
        return 0;
    }
    int rc = schema_read(d, &trace_profile_draw_section, doc, id, e);
    if (rc)
        return rc;
    return yaml_get(doc, id, "values") >= 0 ? profile_read_values(d, rule, doc, id, e)
                                            : profile_check_range(d, rule, doc, id, e);
}

/* ---- models and the profile ---- */

#define DRAW(T, f, key, to_SI, least, most, integer, ...)                                                    \
    K_OWN(T, f, key, read_draw, __VA_ARGS__, .form = "number or list of numbers or <profile.draw>",          \
          .scale = to_SI, .min = least, .max = most, .whole = integer)
#define DRAW_GRAD(T, ...)  DRAW(T, grad_B, "grad_MB", 1e6, 1e-6, 1e12, false, __VA_ARGS__)
#define DRAW_BATCH(T, ...) DRAW(T, batch, "batch", 1, 1, 1e15, true, __VA_ARGS__)
#define DRAW_ITER(T, ...)  DRAW(T, iter_s, "iter_ms", 1e-3, 1e-6, 1e12, false, __VA_ARGS__)

static const struct key model_keys[] = {
    K_NAME(struct trace_model, name, "name", 0, "as traces call it, upper or lower case", .required = true),
    K_REAL(struct trace_model, upto, "weight", "", 1, 0, 1e9, 1, "its share of the jobs without a model"),
    DRAW_GRAD(struct trace_model, "gradients of a worker, see profile.draw"),
    DRAW_BATCH(struct trace_model, "samples of an iteration, see profile.draw"),
    DRAW_ITER(struct trace_model, "time of an iteration, see profile.draw"),
};

K_SECTION(trace_profile_model_section, struct trace_model, "profile.models", model_keys,
          "a model that jobs train");

static const struct key profile_keys[] = {
    K_REMARK("name", "what reports call the profile"),
    K_REMARK("source", "where the figures come from"),
    K_LIST(struct trace_profile, models, n_models, "models", 1, &trace_profile_model_section,
           "list of models, see profile.models (default: none is drawn)"),
    DRAW(struct trace_profile, gpus, "gpus", 1, 1, TRACE_MAX_GPUS, true,
         "GPUs of a job, a whole number from 1, see profile.draw"),
    K_COUNT(struct trace_profile, gpus_per_worker, "gpus_per_worker", 1, TRACE_MAX_GPUS, 1,
            "workers are GPUs over this, rounded up"),
    DRAW(struct trace_profile, ps, "ps", 1, 0, TRACE_MAX_GPUS, true,
         "parameter servers, a whole number from 0, see profile.draw"),
    DRAW_BATCH(struct trace_profile, "samples of an iteration, where the model has none of its own"),
    DRAW(struct trace_profile, iters, "iters", 1, 1, 1e15, true,
         "iterations of a job, where runtime over iter_ms does not say"),
    DRAW_ITER(struct trace_profile, "time of an iteration, where the model has none of its own"),
    DRAW_GRAD(struct trace_profile, "gradients of a worker, where the model has none of its own"),
    DRAW(struct trace_profile, priority, "priority", 1, -1e9, 1e9, false,
         "larger comes first, see profile.draw"),
};

/* Shares of models become cumulative, as draws are looked up that way. */
static int check_profile(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct trace_profile *p = base;
    yaml_id name = yaml_get(doc, map, "name");
    double upto[TRACE_PROFILE_MODELS];
    snprintf(p->name, sizeof p->name, "%s", name >= 0 ? doc->nodes[name].text : "profile");
    if (!p->n_models)
        return 0;
    for (int32_t i = 0; i < p->n_models; i++)
        upto[i] = p->models[i].upto;
    int rc = profile_sum_weights(upto, p->n_models, doc, yaml_get(doc, map, "models"), e);
    for (int32_t i = 0; i < p->n_models; i++)
        p->models[i].upto = upto[i];
    return rc;
}

K_SECTION(trace_profile_section, struct trace_profile, "profile", profile_keys,
          "what a job trace does not tell, drawn (weft import --profile)", .check = check_profile);

int trace_read_profile(struct trace_profile *p, const char *path, struct err *e)
{
    struct yaml_doc doc;
    memset(p, 0, sizeof *p);
    int rc = yaml_read_file(&doc, path, e);
    if (!rc)
        rc = schema_read(p, &trace_profile_section, &doc, doc.root, e);
    yaml_free(&doc);
    return rc;
}

/* Streams of one seed, one a job: apart from those of workloads/traces/trace.c, and from those below 2^32,
 * which models that run the jobs draw from. */
#define JOB_STREAM (UINT64_C(3) << 32)

/* A number per field, in this order; a new one goes to the end, so that the others stay. */
enum { U_MODEL, U_GPUS, U_GRAD, U_BATCH, U_ITER_S, U_ITERS, U_PS, U_PRIORITY, N_U };

/* The value at quantile @p u. Whole numbers are equally likely between both ends, the upper one included. */
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
        x = d->log ? d->from * exp(u * log(end / d->from)) : d->from + u * (end - d->from);
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

/* Only what is missing is drawn, and marked. All u are drawn beforehand, so that a column's draw does not
 * depend on which others were missing. */
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

/* A stream per job, by its number in the trace: a window of the trace draws what the whole trace would. */
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
        if (!rc)
            rc = work_check(e);
    }
    return rc;
}

/* ---- a part of a trace, filled ---- */

/* Window and profile in the order that costs least and gives the same. */
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

void trace_fill_iters(struct trace *t, double step_s)
{
    for (int32_t i = 0; i < t->n; i++) {
        struct trace_job *job = &t->jobs[i];
        if (job->runtime_s > 0)
            fill_count(job, TRACE_ITERS, &job->iters,
                       fmin(fmax(1, rint(job->runtime_s / step_s)), (double)TRACE_MAX_COUNT));
    }
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
