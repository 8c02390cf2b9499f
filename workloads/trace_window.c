#include "workloads/trace_window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

/* Streams of one seed, times 2^32: what jobs draw comes after them (trace_fill.c). */
enum { WINDOW = 1, ARRIVALS = 2 };

static int build_rng(struct rng **r, uint64_t seed, int what, struct err *e)
{
    return rng_build(r, seed, (uint64_t)what << 32, e);
}

struct trace_window trace_window_default(void)
{
    return (struct trace_window){
        .start = -1, .seed = 1, .statuses = TRACE_ANY_STATUS, .horizon_s = NAN, .rate = 1
    };
}

/* Keep jobs @p from to @p to - 1. */
static void keep_range(struct trace *t, int32_t from, int32_t to)
{
    for (int32_t i = 0; i < t->n; i++)
        if (i < from || i >= to)
            trace_job_free(&t->jobs[i]);
    if (to > from && from > 0)
        memmove(t->jobs, t->jobs + from, (size_t)(to - from) * sizeof *t->jobs);
    t->n = to - from;
}

static void note_dropped(struct trace *t, int64_t n, const char *why)
{
    if (n)
        text_printf(&t->notes, "%lld job%s left out: %s\n", (long long)n, n == 1 ? " is" : "s are", why);
}

static void keep_fitting(struct trace *t, const struct trace_window *w)
{
    int64_t n_large = 0, n_status = 0, n_idle = 0;
    int32_t n = 0;
    for (int32_t i = 0; i < t->n; i++) {
        struct trace_job *job = &t->jobs[i];
        bool large = w->max_gpus > 0 && job->gpus > w->max_gpus;
        bool status = !((w->statuses >> (job->status + 1)) & 1);
        bool idle = w->with_work && (job->runtime_s == 0 || job->iters == 0);
        n_status += status;
        n_idle += !status && idle;
        n_large += !status && !idle && large;
        if (large || status || idle)
            trace_job_free(job);
        else
            t->jobs[n++] = *job;
    }
    t->n = n;
    note_dropped(t, n_status, "of another status than asked for");
    note_dropped(t, n_idle, "no run time or no iterations");
    note_dropped(t, n_large, "more GPUs than allowed");
}

static int choose_start(int32_t *start, const struct trace *t, const struct trace_window *w, int32_t n,
                        struct err *e)
{
    struct rng *r;
    int rc;
    *start = (int32_t)(w->start < 0 ? 0 : w->start);
    if (w->start >= 0 || n == t->n)
        return 0;
    if ((rc = build_rng(&r, w->seed, WINDOW, e)))
        return rc;
    *start = (int32_t)rng_below(r, (int64_t)t->n - n + 1);
    rng_free(r);
    return 0;
}

static void move_arrivals(struct trace *t, const struct trace_window *w)
{
    double first_s = t->jobs[0].submit_s, span_s = t->jobs[t->n - 1].submit_s - first_s;
    for (int32_t i = 0; i < t->n; i++) {
        double after_s = t->jobs[i].submit_s - first_s;
        /* Divided first, so that the last one comes at the horizon itself. */
        if (isnan(w->horizon_s))
            t->jobs[i].submit_s = after_s / w->rate;
        else
            t->jobs[i].submit_s = span_s > 0 ? after_s / span_s * w->horizon_s : 0;
    }
    t->origin_s += first_s;
}

int trace_cut(struct trace *t, const struct trace_window *w, struct err *e)
{
    int32_t start;
    keep_fitting(t, w);
    int64_t from = w->start < 0 ? 0 : w->start, least = w->n > 0 ? w->n : 1;
    if (t->n == 0)
        return err_set(e, ERR_RANGE, "no job fits what is asked for, need at least one");
    if (from > t->n || least > t->n - from)
        return err_set(e, ERR_RANGE, "window is %lld job%s from job %llu on, need at most the %d that fit",
                       (long long)least, least == 1 ? "" : "s", (unsigned long long)from + 1, (int)t->n);
    int32_t n = (int32_t)(w->n > 0 ? w->n : t->n - from);
    int rc = choose_start(&start, t, w, n, e);
    if (rc)
        return rc;
    if (n < t->n)
        text_printf(&t->notes, "jobs %d to %d of %d that fit are kept\n", (int)start + 1, (int)(start + n),
                    (int)t->n);
    keep_range(t, start, start + n);
    move_arrivals(t, w);
    return text_check(&t->notes, e);
}

int trace_draw_arrivals(struct trace *t, int32_t n, double rate_per_s, uint64_t seed, struct err *e)
{
    struct rng *r = NULL;
    double time_s = 0;
    char id[16];
    *t = (struct trace){ 0 };
    if (n < 1 || !(rate_per_s > 0))
        return err_set(e, ERR_RANGE, "arrivals: %d jobs at %g /s, need 1 or more at a rate above 0", (int)n,
                       rate_per_s);
    int rc = build_rng(&r, seed, ARRIVALS, e);
    for (int32_t i = 0; i < n && !rc; i++) {
        struct trace_job job = trace_job_unknown(t->n_records++);
        time_s -= log1p(-rng_uniform(r)) / rate_per_s;
        job.submit_s = time_s;
        job.synthetic = 1u << TRACE_SUBMIT;
        snprintf(id, sizeof id, "%d", (int)i);
        job.id = strdup(id);
        rc = job.id ? trace_add(t, &job, e) : err_nomem(e, "jobs of a trace");
    }
    rng_free(r);
    if (rc)
        trace_free(t);
    return rc;
}
