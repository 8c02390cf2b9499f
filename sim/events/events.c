#include "sim/events/events.h"

#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "sim/events/events_state.h"

/* Ends this close (relative) are one event. */
#define SAME_TIME (1 + 0x1p-42)

static int finish_due(struct events_state *x, struct err *e)
{
    int rc = 0;
    while (event_heap_time(&x->ends) <= x->now_s * SAME_TIME && !rc)
        rc = events_finish(x, event_heap_first(&x->ends), e);
    return rc;
}

static double next_arrival(const struct events_state *x)
{
    return x->n_arrived < x->p->n_jobs ? x->p->jobs[x->arrivals[x->n_arrived]].submit_s : (double)INFINITY;
}

static int admit_due(struct events_state *x, struct err *e)
{
    int rc = 0;
    while (next_arrival(x) <= x->now_s && !rc)
        rc = events_wait(x, x->arrivals[x->n_arrived++], e);
    return rc;
}

static int note_point(struct events_state *x, struct err *e)
{
    struct events_result *out = x->out;
    if (!x->s->keep_points)
        return 0;
    struct events_point *grown = array_grow(out->points, out->n_points, &out->cap_points, sizeof *grown);
    if (!grown)
        return err_nomem(e, "points in time");
    out->points = grown;
    out->points[out->n_points++] =
        (struct events_point){ x->now_s, x->gpus_held, x->n_running, x->waiting.n };
    return 0;
}

static int step(struct events_state *x, double wake_s, struct err *e)
{
    int rc = finish_due(x, e);
    if (!rc)
        rc = admit_due(x, e);
    if (!rc && wake_s <= x->now_s && x->kind->wake)
        rc = x->kind->wake(x, e);
    if (!rc)
        rc = x->kind->choose(x, e);
    if (!rc)
        rc = events_pace(x, e);
    if (!rc)
        rc = note_point(x, e);
    x->out->n_events++;
    return rc;
}

static void go_to(struct events_state *x, double time_s)
{
    x->held_gpu_s += (double)x->gpus_held * (time_s - x->now_s);
    x->now_s = time_s;
}

static int run(struct events_state *x, struct err *e)
{
    int rc = 0;
    while (!rc) {
        double wake_s = x->kind->next_s ? x->kind->next_s(x) : (double)INFINITY;
        double time_s = fmin(event_heap_time(&x->ends), fmin(next_arrival(x), wake_s));
        if (!(time_s <= x->s->horizon_s) || isinf(time_s))
            break;
        /* An end that was merged with what came before it may lie a rounding behind. */
        go_to(x, fmax(x->now_s, time_s));
        rc = step(x, wake_s, e);
    }
    /* The rest until the horizon passes without events. */
    if (!rc && x->out->n_done < x->p->n_jobs && isfinite(x->s->horizon_s) && x->s->horizon_s > x->now_s)
        go_to(x, x->s->horizon_s);
    return rc;
}

int events_run(struct events_result *out, const struct events_problem *p, const struct events_settings *s,
               struct err *e)
{
    struct events_state x = { .p = p, .s = s, .out = out };
    *out = (struct events_result){ .n_jobs = p->n_jobs };
    int rc = events_check(p, s, e);
    if (rc)
        return rc;
    rc = events_open(&x, e);
    if (!rc)
        rc = run(&x, e);
    if (!rc)
        rc = events_sum_up(&x, e);
    events_close(&x);
    return rc;
}

void events_result_free(struct events_result *r)
{
    free(r->jobs);
    free(r->arcs);
    free(r->spans);
    free(r->points);
    link_bins_free(&r->bins);
    *r = (struct events_result){ 0 };
}
