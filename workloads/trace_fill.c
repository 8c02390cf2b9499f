#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/rng.h"
#include "workloads/trace_profile.h"

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

static void mark(struct trace_job *job, enum trace_column_id k)
{
    job->synthetic |= 1u << k;
}

static void fill_small(struct trace_job *job, enum trace_column_id k, int32_t *field, double x)
{
    if (*field >= 0 || isnan(x))
        return;
    *field = (int32_t)x;
    mark(job, k);
}

static void fill_count(struct trace_job *job, enum trace_column_id k, int64_t *field, double x)
{
    if (*field >= 0 || isnan(x))
        return;
    *field = (int64_t)x;
    mark(job, k);
}

static void fill_real(struct trace_job *job, enum trace_column_id k, double *field, double x)
{
    if (!isnan(*field) || isnan(x))
        return;
    *field = x;
    mark(job, k);
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

static int fill_job(struct trace_job *job, const struct trace_profile *p, const double u[N_U],
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
        mark(job, TRACE_MODEL);
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
            rc = fill_job(&t->jobs[i], p, u, counts, e);
    }
    return rc;
}
