#include "sim/batch/queues.h"

#include <math.h>
#include <stdlib.h>

int queues_build(struct queues *q, const struct gang *g, struct err *e)
{
    *q = (struct queues){ 0 };
    q->next = malloc((size_t)g->seat[g->p->n_jobs] * sizeof *q->next);
    q->last = malloc((size_t)g->n_gpus * sizeof *q->last);
    q->waits = malloc((size_t)g->p->n_jobs * sizeof *q->waits);
    return q->next && q->last && q->waits ? 0 : err_nomem(e, "queues of jobs");
}

void queues_free(struct queues *q)
{
    free(q->next);
    free(q->last);
    free(q->waits);
    event_heap_free(&q->arrivals);
    *q = (struct queues){ 0 };
}

static void line_up(struct queues *q, const struct gang_plan *plan, const struct gang *g)
{
    for (int32_t i = 0; i < g->n_gpus; i++)
        q->last[i] = -1;
    for (int32_t i = 0; i < g->p->n_jobs; i++) {
        int32_t job = plan->order[i];
        q->waits[job] = 0;
        for (int32_t seat = g->seat[job]; seat < g->seat[job + 1]; seat++) {
            int32_t *last = &q->last[plan->gpus[seat]];
            if (*last >= 0) {
                q->next[*last] = job;
                q->waits[job]++;
            }
            q->next[seat] = -1;
            *last = seat;
        }
    }
}

/* All GPUs of the job are idle and its own. */
static int start_or_await(struct queues *q, const struct gang_plan *plan, struct crew *crew, int32_t job,
                          struct err *e)
{
    double arrival = crew_tick(crew, crew->g->p->jobs[job].arrival_s);
    if (arrival > crew->now)
        return event_heap_set(&q->arrivals, job, arrival, e);
    return crew_start(crew, job, plan->gpus + crew->g->seat[job], e);
}

/* Those behind a job that ended move up. */
static int move_up(struct queues *q, const struct gang_plan *plan, struct crew *crew, int32_t job,
                   struct err *e)
{
    const struct gang *g = crew->g;
    int rc = 0;
    for (int32_t seat = g->seat[job]; !rc && seat < g->seat[job + 1]; seat++) {
        int32_t next = q->next[seat];
        if (next >= 0 && --q->waits[next] == 0)
            rc = start_or_await(q, plan, crew, next, e);
    }
    return rc;
}

/* Go to when something happens, and start what can start then. */
static int go_on(struct queues *q, const struct gang_plan *plan, struct crew *crew, struct err *e)
{
    double tick = fmin(crew_next(crew), event_heap_time(&q->arrivals));
    int rc = 0;
    if (tick == INFINITY)
        return crew_stuck(crew, e);
    crew_advance(crew, tick);
    for (int32_t i = 0; !rc && i < crew->n_ended; i++)
        rc = move_up(q, plan, crew, crew->ended[i], e);
    while (!rc && event_heap_time(&q->arrivals) <= tick) {
        int32_t job = event_heap_first(&q->arrivals);
        event_heap_remove(&q->arrivals, job);
        rc = start_or_await(q, plan, crew, job, e);
    }
    return rc ? rc : crew_settle(crew, e);
}

int queues_run(struct queues *q, const struct gang_plan *plan, struct crew *crew, struct err *e)
{
    const struct gang *g = crew->g;
    int rc = 0;
    crew_reset(crew);
    while (event_heap_first(&q->arrivals) >= 0) /* of a run that failed */
        event_heap_remove(&q->arrivals, event_heap_first(&q->arrivals));
    line_up(q, plan, g);
    for (int32_t i = 0; !rc && i < g->p->n_jobs; i++)
        if (q->waits[plan->order[i]] == 0)
            rc = start_or_await(q, plan, crew, plan->order[i], e);
    if (!rc)
        rc = crew_settle(crew, e);
    while (!rc && (crew->n_running > 0 || event_heap_first(&q->arrivals) >= 0))
        rc = go_on(q, plan, crew, e);
    return rc;
}
