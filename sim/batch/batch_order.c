#include "sim/batch/batch_order.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "sim/batch/batch_load.h"

/* Streams of the seed: the order is the same for all schedulers. */
/* Apart from those that jobs and servers are drawn from with the same seed (sjf_draw.c). */
enum { STREAM_ORDER = 16, STREAM_GPUS };

static int order_at_random(struct gang_plan *plan, int32_t n_jobs, uint64_t seed, struct err *e)
{
    struct rng *r;
    int rc = rng_build(&r, seed, STREAM_ORDER, e);
    if (rc)
        return rc;
    /* Fisher and Yates, from the inside out. */
    for (int32_t i = 0; i < n_jobs; i++) {
        int32_t at = (int32_t)rng_below(r, i + 1);
        plan->order[i] = plan->order[at];
        plan->order[at] = i;
    }
    rng_free(r);
    return 0;
}

static double mean_load_s(const struct gang *g)
{
    double sum_s = 0;
    for (int32_t i = 0; i < g->p->n_jobs; i++)
        sum_s += g->p->jobs[i].gpus * g->p->jobs[i].expected_s;
    return sum_s / g->n_gpus;
}

int batch_order_plan(struct gang_plan *plan, bool first, struct crew *crew, struct queues *q,
                     const struct batch_settings *s, struct err *e)
{
    const struct gang *g = crew->g;
    const double limit_s = s->ff_limit * mean_load_s(g);
    struct batch_load load;
    int rc = batch_load_build(&load, g, !s->literal_load, e);
    if (!rc)
        rc = order_at_random(plan, g->p->n_jobs, s->seed, e);
    for (int32_t i = 0; !rc && i < g->p->n_jobs; i++) {
        int32_t number = plan->order[i], *gpus = plan->gpus + g->seat[number];
        const struct batch_job *job = &g->p->jobs[number];
        const struct batch_load_ask low = { job->gpus, job->expected_s / s->under, limit_s },
                                    any = { job->gpus, job->expected_s / s->under, INFINITY };
        if (!first || !batch_load_take_first(&load, gpus, &low))
            batch_load_take_least(&load, gpus, &any);
    }
    batch_load_free(&load);
    return rc ? rc : queues_run(q, plan, crew, e);
}

/* ---- RAND ---- */

struct lottery {
    struct gang_plan *plan;
    struct crew *crew;
    struct rng *rng;
    int32_t *idle; /* shape [n_idle], owned */
    int32_t n_idle;
    int32_t next; /* place in the order of the first job that has not started */
};

static int compare_gpus(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Start from the head of the order what can start now. */
static int start_some(struct lottery *l, struct err *e)
{
    const struct gang *g = l->crew->g;
    int rc = 0;
    for (; !rc && l->next < g->p->n_jobs; l->next++) {
        int32_t job = l->plan->order[l->next], n = g->p->jobs[job].gpus;
        int32_t *gpus = l->plan->gpus + g->seat[job];
        if (n > l->n_idle || crew_tick(l->crew, g->p->jobs[job].arrival_s) > l->crew->now)
            break;
        for (int32_t i = 0; i < n; i++) {
            int32_t at = (int32_t)rng_below(l->rng, l->n_idle);
            gpus[i] = l->idle[at];
            l->idle[at] = l->idle[--l->n_idle];
        }
        qsort(gpus, (size_t)n, sizeof *gpus, compare_gpus);
        rc = crew_start(l->crew, job, gpus, e);
    }
    return rc ? rc : crew_settle(l->crew, e);
}

/* Go to when something happens; GPUs of jobs that end are idle again. */
static int go_on(struct lottery *l, struct err *e)
{
    const struct gang *g = l->crew->g;
    double tick = crew_next(l->crew);
    if (l->next < g->p->n_jobs) {
        double arrival = crew_tick(l->crew, g->p->jobs[l->plan->order[l->next]].arrival_s);
        if (arrival > l->crew->now)
            tick = fmin(tick, arrival);
    }
    if (tick == INFINITY)
        return crew_stuck(l->crew, e);
    crew_advance(l->crew, tick);
    for (int32_t i = 0; i < l->crew->n_ended; i++)
        for (int32_t seat = g->seat[l->crew->ended[i]]; seat < g->seat[l->crew->ended[i] + 1]; seat++)
            l->idle[l->n_idle++] = l->plan->gpus[seat];
    return start_some(l, e);
}

int batch_order_rand(struct gang_plan *plan, struct crew *crew, const struct batch_settings *s, struct err *e)
{
    const struct gang *g = crew->g;
    struct lottery l = { .plan = plan, .crew = crew, .n_idle = g->n_gpus };
    int rc = 0;
    l.idle = malloc((size_t)g->n_gpus * sizeof *l.idle);
    if (!l.idle)
        rc = err_nomem(e, "idle GPUs");
    for (int32_t i = 0; l.idle && i < g->n_gpus; i++)
        l.idle[i] = i;
    if (!rc)
        rc = order_at_random(plan, g->p->n_jobs, s->seed, e);
    if (!rc)
        rc = rng_build(&l.rng, s->seed, STREAM_GPUS, e);
    if (!rc) {
        crew_reset(crew);
        rc = start_some(&l, e);
    }
    while (!rc && (crew->n_running > 0 || l.next < g->p->n_jobs))
        rc = go_on(&l, e);
    rng_free(l.rng);
    free(l.idle);
    return rc;
}
