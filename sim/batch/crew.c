#include "sim/batch/crew.h"

#include <math.h>
#include <stdlib.h>

struct crew_job {
    bool running;
    double left;  /* iterations to do, at `since` */
    double since; /* [ticks] */
    double rate;  /* iterations a tick */
    double iteration_s;
};

int crew_build(struct crew *c, const struct gang *g, struct pace *pace, const struct batch_settings *s,
               struct err *e)
{
    *c = (struct crew){ .g = g, .pace = pace };
    c->slots = s->slot_s > 0;
    c->whole = c->slots && s->whole_iterations;
    c->tick_s = c->slots ? s->slot_s : 1;
    size_t n = (size_t)g->p->n_jobs, seats = (size_t)g->seat[g->p->n_jobs];
    c->jobs = calloc(n, sizeof *c->jobs);
    c->spans = calloc(n, sizeof *c->spans);
    c->servers = malloc(seats * sizeof *c->servers);
    c->gpus = malloc(seats * sizeof *c->gpus);
    c->ended = malloc(n * sizeof *c->ended);
    if (!c->jobs || !c->spans || !c->servers || !c->gpus || !c->ended)
        return err_nomem(e, "running jobs");
    return 0;
}

void crew_reset(struct crew *c)
{
    for (int32_t i = 0; c->n_running > 0 && i < c->g->p->n_jobs; i++) {
        if (!c->jobs[i].running)
            continue;
        c->pace->end(c->pace->x, i);
        c->jobs[i].running = false;
        event_heap_remove(&c->ends, i);
        c->n_running--;
    }
    c->now = 0;
    c->n_ended = 0;
}

void crew_free(struct crew *c)
{
    if (c->jobs)
        crew_reset(c);
    free(c->jobs);
    free(c->spans);
    free(c->servers);
    free(c->gpus);
    free(c->ended);
    event_heap_free(&c->ends);
    *c = (struct crew){ 0 };
}

double crew_tick(const struct crew *c, double time_s)
{
    return c->slots ? ceil(time_s / c->tick_s) : time_s;
}

int crew_start(struct crew *c, int32_t job, const int32_t *gpus, struct err *e)
{
    const struct gang *g = c->g;
    int32_t *servers = c->servers + g->seat[job], *counts = c->gpus + g->seat[job], n = 0;
    for (int32_t i = 0; i < g->p->jobs[job].gpus; i++) {
        int32_t server = g->gpu_server[gpus[i]];
        if (n == 0 || servers[n - 1] != server) {
            servers[n] = server;
            counts[n++] = 0;
        }
        counts[n - 1]++;
    }
    const struct pace_place place = { n, servers, counts };
    int rc = c->pace->begin(c->pace->x, job, &place, e);
    if (rc) {
        err_wrap(e, "jobs[%d]", (int)job);
        return rc;
    }
    c->jobs[job] =
        (struct crew_job){ .running = true, .left = (double)g->p->jobs[job].iterations, .since = c->now };
    c->spans[job] = (struct batch_span){
        .start_s = c->now * c->tick_s, .fastest_s = INFINITY, .n_servers = n, .first_gpu = g->seat[job]
    };
    c->n_running++;
    return 0;
}

/* When the job is done if nothing changes. In slots that is at the end of one; a number of slots that is
 * whole but for rounding must not become one more. */
static double end_tick(const struct crew *c, const struct crew_job *j)
{
    const double rounding = 1e-12;
    double ticks = j->left / j->rate;
    return c->now + (c->slots ? ceil(ticks * (1 - rounding)) : ticks);
}

/* The iteration time of a running job is new: count what was done, and find its end. */
static int change_rate(struct crew *c, int32_t job, struct err *e)
{
    struct crew_job *j = &c->jobs[job];
    struct batch_span *span = &c->spans[job];
    double iteration_s = c->pace->iteration_s(c->pace->x, job);
    if (!(iteration_s > 0))
        return err_set(e, ERR_RANGE, "jobs[%d]: an iteration takes %g s, need above 0", (int)job,
                       iteration_s);
    j->left = fmax(0, j->left - (c->now - j->since) * j->rate);
    j->since = c->now;
    j->rate = c->tick_s / iteration_s;
    j->iteration_s = iteration_s;
    if (c->whole)
        j->rate = floor(j->rate);
    span->fastest_s = fmin(span->fastest_s, iteration_s);
    span->slowest_s = fmax(span->slowest_s, iteration_s);
    if (j->rate > 0)
        return event_heap_set(&c->ends, job, end_tick(c, j), e);
    event_heap_remove(&c->ends, job);
    return 0;
}

int crew_settle(struct crew *c, struct err *e)
{
    const int32_t *changed;
    int32_t n;
    int rc = c->pace->changed(c->pace->x, &changed, &n, e);
    for (int32_t i = 0; !rc && i < n; i++)
        rc = change_rate(c, changed[i], e);
    return rc;
}

double crew_next(const struct crew *c)
{
    return event_heap_time(&c->ends);
}

void crew_advance(struct crew *c, double tick)
{
    c->now = tick;
    c->n_ended = 0;
    while (event_heap_time(&c->ends) <= tick) {
        int32_t job = event_heap_first(&c->ends);
        event_heap_remove(&c->ends, job);
        c->pace->end(c->pace->x, job);
        c->jobs[job].running = false;
        c->spans[job].end_s = tick * c->tick_s;
        c->ended[c->n_ended++] = job;
        c->n_running--;
    }
}

int crew_stuck(const struct crew *c, struct err *e)
{
    int32_t job = 0;
    while (job + 1 < c->g->p->n_jobs && !c->jobs[job].running)
        job++;
    double iteration_s = c->jobs[job].iteration_s;
    if (isfinite(iteration_s))
        return err_set(e, ERR_RANGE, "jobs[%d]: an iteration takes %g s, need at most a slot, %g s", (int)job,
                       iteration_s, c->tick_s);
    return err_set(e, ERR_RANGE, "jobs[%d]: stands still, need a network that carries it", (int)job);
}
