/*
 * A batch of gang jobs on one cluster, arXiv 2207.07817. From top to bottom: what is given, checked and laid
 * out in arrays (gang); the crew, which runs jobs by the clock of a struct pace; queues of GPUs, which carry
 * out a plan; loads of GPUs, by which plans are made; the schedulers FF, LS and RAND; the paper's model of
 * speed; SJF-BCO; its random batches. The crew's arithmetic (iterations left, in ticks) is its own: in slots
 * whole iterations count, so that a job's progress is not the one of sim/events.
 */
#include "sim/batch/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/rng.h"
#include "base/work.h"

/* Far beyond any job, and sums and products of them are still numbers. */
#define MOST 1e15

/* ---- what is given ---- */

static int batch_check_cluster(int64_t *n_gpus, const struct batch_cluster *c, struct err *e)
{
    if (c->n_servers < 1)
        return err_set(e, ERR_RANGE, "servers: are %d, expected 1 or more", (int)c->n_servers);
    *n_gpus = 0;
    for (int32_t s = 0; s < c->n_servers; s++) {
        if (c->gpus[s] < 1)
            return err_set(e, ERR_RANGE, "servers[%d].gpus: is %d, expected 1 or more", (int)s,
                           (int)c->gpus[s]);
        *n_gpus += c->gpus[s];
        if (*n_gpus > BATCH_MAX_GPUS)
            return err_set(e, ERR_RANGE, "servers: have more than %d GPUs", (int)BATCH_MAX_GPUS);
    }
    return 0;
}

static int batch_check_job(const struct job *job, int32_t number, int64_t n_gpus, struct err *e)
{
    const struct {
        const char *name;
        double x;
        bool above; /* 0 is not allowed */
    } reals[] = {
        { "arrival_s", job->submit_s, false }, { "expected_s", job->expected_s, true },
        { "compute_s", job->compute_s, true }, { "gradient_B", job->gradient_B, false },
        { "server_s", job->server_s, false },
    };
    if (job->gpus < 1 || job->gpus > n_gpus)
        return err_set(e, ERR_RANGE, "jobs[%d].gpus: is %d, expected 1 to %lld, all of the cluster",
                       (int)number, (int)job->gpus, (long long)n_gpus);
    if (!(job->iterations >= 1 && job->iterations <= MOST))
        return err_set(e, ERR_RANGE, "jobs[%d].iterations: is %.0f, expected 1 to %g", (int)number,
                       job->iterations, MOST);
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (!((reals[i].above ? reals[i].x > 0 : reals[i].x >= 0) && reals[i].x <= MOST))
            return err_set(e, ERR_RANGE, "jobs[%d].%s: is %g, expected %s, at most %g", (int)number,
                           reals[i].name, reals[i].x, reals[i].above ? "above 0" : "0 or more", MOST);
    return 0;
}

int batch_check(const struct batch_problem *p, struct err *e)
{
    int64_t n_gpus = 0, seats = 0;
    int rc = batch_check_cluster(&n_gpus, &p->cluster, e);
    if (rc)
        return rc;
    if (p->n_jobs < 1 || p->n_jobs > BATCH_MAX_JOBS)
        return err_set(e, ERR_RANGE, "jobs: are %d, expected 1 to %d", (int)p->n_jobs, (int)BATCH_MAX_JOBS);
    for (int32_t i = 0; i < p->n_jobs; i++) {
        rc = batch_check_job(&p->jobs[i], i, n_gpus, e);
        if (rc)
            return rc;
        seats += p->jobs[i].gpus;
    }
    if (seats > BATCH_MAX_SEATS)
        return err_set(e, ERR_RANGE, "jobs: ask for %lld GPUs in all, expected at most %d", (long long)seats,
                       (int)BATCH_MAX_SEATS);
    return 0;
}

/* ---- a batch laid out in arrays ---- */

static void gang_build(struct gang *g, const struct batch_problem *p)
{
    *g = (struct gang){ .p = p };
    const struct batch_cluster *c = &p->cluster;
    for (int32_t s = 0; s < c->n_servers; s++)
        g->n_gpus += c->gpus[s];
    g->server_gpu = ARENA_TAKE(&g->arena, c->n_servers + 1, *g->server_gpu);
    g->gpu_server = ARENA_TAKE(&g->arena, g->n_gpus, *g->gpu_server);
    g->seat = ARENA_TAKE(&g->arena, p->n_jobs + 1, *g->seat);
    if (g->arena.failed)
        return;

    int32_t gpu = 0, seat = 0;
    for (int32_t s = 0; s < c->n_servers; s++) {
        g->server_gpu[s] = gpu;
        for (int32_t i = 0; i < c->gpus[s]; i++)
            g->gpu_server[gpu++] = s;
    }
    g->server_gpu[c->n_servers] = gpu;
    for (int32_t i = 0; i < p->n_jobs; i++) {
        g->seat[i] = seat;
        seat += p->jobs[i].gpus;
        if (p->jobs[i].gpus > g->most_gpus)
            g->most_gpus = p->jobs[i].gpus;
    }
    g->seat[p->n_jobs] = g->n_seats = seat;
}

static void gang_free(struct gang *g)
{
    arena_free(&g->arena);
    *g = (struct gang){ 0 };
}

/* A plan of g, whose arena->failed says if there was room. */
static void gang_plan_build(struct gang_plan *plan, struct gang *g)
{
    plan->order = ARENA_TAKE(&g->arena, g->p->n_jobs, *plan->order);
    plan->gpus = ARENA_TAKE(&g->arena, g->n_seats, *plan->gpus);
}

struct crew_job {
    bool running;
    double left;  /* iterations to do, at `since` */
    double since; /* [ticks] */
    double rate;  /* iterations a tick */
    double iteration_s;
};

static void crew_build(struct crew *c, struct gang *g, struct pace *pace, const struct batch_settings *s)
{
    *c = (struct crew){ .g = g, .pace = pace };
    c->slots = s->slot_s > 0;
    c->whole = c->slots && s->whole_iterations;
    c->tick_s = c->slots ? s->slot_s : 1;
    c->jobs = ARENA_TAKE(&g->arena, g->p->n_jobs, *c->jobs);
    c->spans = ARENA_TAKE(&g->arena, g->p->n_jobs, *c->spans);
    c->servers = ARENA_TAKE(&g->arena, g->n_seats, *c->servers);
    c->gpus = ARENA_TAKE(&g->arena, g->n_seats, *c->gpus);
    c->ended = ARENA_TAKE(&g->arena, g->p->n_jobs, *c->ended);
}

/* Time 0 and nothing runs; what still ran is ended without a trace. */
static void crew_reset(struct crew *c)
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

static void crew_free(struct crew *c)
{
    if (c->n_running > 0)
        crew_reset(c);
    event_heap_free(&c->ends);
    *c = (struct crew){ 0 };
}

/* The first tick in which a job that arrives at time_s can start. */
static double crew_tick(const struct crew *c, double time_s)
{
    return c->slots ? ceil(time_s / c->tick_s) : time_s;
}

/* Start a job now on idle GPUs, ascending, as many as it asks for. What pace says. When all that start now
 * have started, crew_settle(). */
static int crew_start(struct crew *c, int32_t job, const int32_t *gpus, struct err *e)
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
    c->jobs[job] = (struct crew_job){ .running = true, .left = g->p->jobs[job].iterations, .since = c->now };
    c->spans[job] = (struct batch_span){
        .start_s = c->now * c->tick_s, .fastest_s = INFINITY, .n_servers = n, .first_gpu = g->seat[job]
    };
    c->n_running++;
    return 0;
}

/* When the job is done if nothing changes. In slots that is at the end of one; a number of slots that is
 * whole but for rounding must not become one more. */
static double crew_end_tick(const struct crew *c, const struct crew_job *j)
{
    const double rounding = 1e-12;
    double ticks = j->left / j->rate;
    return c->now + (c->slots ? ceil(ticks * (1 - rounding)) : ticks);
}

/* The iteration time of a running job is new: count what was done, and find its end. */
static int crew_change_rate(struct crew *c, int32_t job, struct err *e)
{
    struct crew_job *j = &c->jobs[job];
    struct batch_span *span = &c->spans[job];
    double iteration_s = c->pace->iteration_s(c->pace->x, job);
    if (!(iteration_s > 0))
        return err_set(e, ERR_RANGE, "jobs[%d]: an iteration takes %g s, expected above 0", (int)job,
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
        return event_heap_set(&c->ends, job, crew_end_tick(c, j), e);
    event_heap_remove(&c->ends, job);
    return 0;
}

/* Find when running jobs end, now that some started or ended. ERR_RANGE: a time that is not above 0; what
 * pace says. */
static int crew_settle(struct crew *c, struct err *e)
{
    const int32_t *changed;
    int32_t n;
    int rc = c->pace->changed(c->pace->x, &changed, &n, e);
    for (int32_t i = 0; !rc && i < n; i++)
        rc = crew_change_rate(c, changed[i], e);
    return rc;
}

/* When the next job ends [ticks]; INFINITY when none does. */
static double crew_next(const struct crew *c)
{
    return event_heap_time(&c->ends);
}

/* Go to tick, at or before crew_next(), and end the jobs that end then: c->ended. */
static void crew_advance(struct crew *c, double tick)
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

/* Jobs wait and nothing ever happens: say why. Returns ERR_RANGE. */
static int crew_stuck(const struct crew *c, struct err *e)
{
    int32_t job = 0;
    while (job + 1 < c->g->p->n_jobs && !c->jobs[job].running)
        job++;
    double iteration_s = c->jobs[job].iteration_s;
    if (isfinite(iteration_s))
        return err_set(e, ERR_RANGE, "jobs[%d]: an iteration takes %g s, expected at most a slot, %g s",
                       (int)job, iteration_s, c->tick_s);
    return err_set(e, ERR_RANGE, "jobs[%d]: stands still, expected a network that carries it", (int)job);
}

static void queues_build(struct queues *q, struct gang *g)
{
    *q = (struct queues){ 0 };
    q->next = ARENA_TAKE(&g->arena, g->n_seats, *q->next);
    q->last = ARENA_TAKE(&g->arena, g->n_gpus, *q->last);
    q->waits = ARENA_TAKE(&g->arena, g->p->n_jobs, *q->waits);
}

static void queues_free(struct queues *q)
{
    event_heap_free(&q->arrivals);
    *q = (struct queues){ 0 };
}

static void queues_line_up(struct queues *q, const struct gang_plan *plan, const struct gang *g)
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
static int queues_start_job(struct queues *q, const struct gang_plan *plan, struct crew *crew, int32_t job,
                            struct err *e)
{
    double arrival = crew_tick(crew, crew->g->p->jobs[job].submit_s);
    if (arrival > crew->now)
        return event_heap_set(&q->arrivals, job, arrival, e);
    return crew_start(crew, job, plan->gpus + crew->g->seat[job], e);
}

/* Those behind a job that ended move up. */
static int queues_move_up(struct queues *q, const struct gang_plan *plan, struct crew *crew, int32_t job,
                          struct err *e)
{
    const struct gang *g = crew->g;
    int rc = 0;
    for (int32_t seat = g->seat[job]; !rc && seat < g->seat[job + 1]; seat++) {
        int32_t next = q->next[seat];
        if (next >= 0 && --q->waits[next] == 0)
            rc = queues_start_job(q, plan, crew, next, e);
    }
    return rc;
}

/* Go to when something happens, and start what can start then. */
static int queues_go_on(struct queues *q, const struct gang_plan *plan, struct crew *crew, struct err *e)
{
    double tick = fmin(crew_next(crew), event_heap_time(&q->arrivals));
    int rc = 0;
    if (tick == INFINITY)
        return crew_stuck(crew, e);
    crew_advance(crew, tick);
    for (int32_t i = 0; !rc && i < crew->n_ended; i++)
        rc = queues_move_up(q, plan, crew, crew->ended[i], e);
    while (!rc && event_heap_time(&q->arrivals) <= tick) {
        int32_t job = event_heap_first(&q->arrivals);
        event_heap_remove(&q->arrivals, job);
        rc = queues_start_job(q, plan, crew, job, e);
    }
    return rc ? rc : crew_settle(crew, e);
}

int queues_run(struct queues *q, const struct gang_plan *plan, struct crew *crew, struct err *e)
{
    const struct gang *g = crew->g;
    struct work work;
    int rc = 0;
    crew_reset(crew);
    while (event_heap_first(&q->arrivals) >= 0) /* of a run that failed */
        event_heap_remove(&q->arrivals, event_heap_first(&q->arrivals));
    queues_line_up(q, plan, g);
    for (int32_t i = 0; !rc && i < g->p->n_jobs; i++)
        if (q->waits[plan->order[i]] == 0)
            rc = queues_start_job(q, plan, crew, plan->order[i], e);
    if (!rc)
        rc = crew_settle(crew, e);
    work_begin(&work, "jobs", g->p->n_jobs);
    while (!rc && (crew->n_running > 0 || event_heap_first(&q->arrivals) >= 0)) {
        rc = queues_go_on(q, plan, crew, e);
        work_step(&work, crew->n_ended);
        if (!rc)
            rc = work_check(e);
    }
    work_end(&work);
    return rc;
}

/* ---- loads of GPUs ---- */

/* A GPU that may be picked. */
struct batch_load_pick {
    double load_s;
    int32_t gpu;
    bool shut; /* servers with jobs go first, and its has none */
};

void batch_load_build(struct batch_load *l, struct gang *g, bool gang)
{
    int32_t n_servers = g->p->cluster.n_servers;
    *l = (struct batch_load){ .g = g, .gang = gang };
    l->gpu_s = ARENA_TAKE(&g->arena, g->n_gpus, *l->gpu_s);
    l->server_s = ARENA_TAKE(&g->arena, n_servers, *l->server_s);
    l->open = ARENA_TAKE(&g->arena, n_servers, *l->open);
    l->ranks = ARENA_TAKE(&g->arena, n_servers, *l->ranks);
    l->picks = ARENA_TAKE(&g->arena, g->n_gpus, *l->picks);
}

void batch_load_reset(struct batch_load *l)
{
    size_t n_servers = (size_t)l->g->p->cluster.n_servers;
    memset(l->gpu_s, 0, (size_t)l->g->n_gpus * sizeof *l->gpu_s);
    memset(l->server_s, 0, n_servers * sizeof *l->server_s);
    memset(l->open, 0, n_servers * sizeof *l->open);
}

/* The worst on top: what comes later has to beat that one. Without ties, so that the choice does not depend
 * on how it was found. */
static bool load_pick_after(const struct batch_load_pick *a, const struct batch_load_pick *b)
{
    if (a->shut != b->shut)
        return a->shut;
    if (a->load_s != b->load_s)
        return a->load_s > b->load_s;
    return a->gpu > b->gpu;
}

HEAP(picks, struct batch_load_pick, load_pick_after)

/* The best of those offered so far are l->picks, n of them. */
static int32_t load_offer_server(struct batch_load *l, int32_t n, const struct batch_load_ask *ask,
                                 int32_t server, bool packed)
{
    const struct gang *g = l->g;
    for (int32_t gpu = g->server_gpu[server]; gpu < g->server_gpu[server + 1]; gpu++) {
        const struct batch_load_pick pick = { l->gpu_s[gpu], gpu, packed && !l->open[server] };
        if (!(l->gpu_s[gpu] + ask->add_s <= ask->limit_s))
            continue;
        if (n < ask->gpus)
            picks_push(l->picks, n++, pick);
        else if (load_pick_after(&l->picks[0], &pick))
            picks_replace(l->picks, n, pick);
    }
    return n;
}

/* The job is planned on these GPUs, if they are enough. */
static bool load_settle(struct batch_load *l, int32_t *gpus, int32_t n, const struct batch_load_ask *ask)
{
    double free_s = 0;
    if (n < ask->gpus)
        return false;
    stat_sort_numbers(gpus, n);
    for (int32_t i = 0; l->gang && i < n; i++)
        free_s = l->gpu_s[gpus[i]] > free_s ? l->gpu_s[gpus[i]] : free_s;
    for (int32_t i = 0; i < n; i++) {
        int32_t server = l->g->gpu_server[gpus[i]];
        double *gpu_s = &l->gpu_s[gpus[i]], from_s = l->gang ? free_s : *gpu_s;
        l->server_s[server] += from_s + ask->add_s - *gpu_s;
        *gpu_s = from_s + ask->add_s;
        l->open[server] = true;
    }
    return true;
}

/* Offer the servers that are loaded least per GPU, until they have room for lambda times the job. */
static int32_t load_offer_balanced(struct batch_load *l, const struct batch_load_ask *ask)
{
    const struct batch_cluster *c = &l->g->p->cluster;
    double room = 0;
    int32_t n = 0;
    for (int32_t s = 0; s < c->n_servers; s++)
        l->ranks[s] = (struct stat_rank){ l->server_s[s] / c->gpus[s], s };
    stat_sort_ranks(l->ranks, c->n_servers);
    for (int32_t i = 0; i < c->n_servers && room < ask->lambda * ask->gpus; i++) {
        int32_t server = (int32_t)l->ranks[i].at;
        room += c->gpus[server];
        n = load_offer_server(l, n, ask, server, false);
    }
    return n;
}

bool batch_load_take(struct batch_load *l, int32_t *out, enum batch_load_way way,
                     const struct batch_load_ask *ask)
{
    int32_t n = 0;
    if (way == BATCH_LOAD_FIRST) {
        for (int32_t gpu = 0; gpu < l->g->n_gpus && n < ask->gpus; gpu++)
            if (l->gpu_s[gpu] + ask->add_s <= ask->limit_s)
                out[n++] = gpu;
        return load_settle(l, out, n, ask);
    }
    if (way == BATCH_LOAD_BALANCED)
        n = load_offer_balanced(l, ask);
    else
        for (int32_t s = 0; s < l->g->p->cluster.n_servers; s++)
            n = load_offer_server(l, n, ask, s, way == BATCH_LOAD_PACKED);
    for (int32_t i = 0; i < n; i++)
        out[i] = l->picks[i].gpu;
    return load_settle(l, out, n, ask);
}

/* Streams of the seed: the order is the same for all schedulers. Apart from those that jobs and servers are
 * drawn from with the same seed: STREAM_JOBS and STREAM_SERVERS. */
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

static double order_mean_load_s(const struct gang *g)
{
    double sum_s = 0;
    for (int32_t i = 0; i < g->p->n_jobs; i++)
        sum_s += g->p->jobs[i].gpus * g->p->jobs[i].expected_s;
    return sum_s / g->n_gpus;
}

/* Plan on the GPUs with the lowest numbers whose loads stay low, or on those loaded least; then carry out. */
static int order_run(struct batch_work *w, bool first, struct err *e)
{
    const struct gang *g = &w->g;
    const struct batch_settings *s = w->s;
    const double limit_s = s->ff_limit * order_mean_load_s(g);
    struct batch_load load;
    batch_load_build(&load, &w->g, !s->literal_load);
    int rc = arena_check(&g->arena, "loads of GPUs", e);
    if (!rc)
        rc = order_at_random(&w->plan, g->p->n_jobs, s->seed, e);
    for (int32_t i = 0; !rc && i < g->p->n_jobs; i++) {
        int32_t number = w->plan.order[i], *gpus = w->plan.gpus + g->seat[number];
        const struct job *job = &g->p->jobs[number];
        struct batch_load_ask ask = { job->gpus, job->expected_s / s->under, .limit_s = limit_s };
        if (first && batch_load_take(&load, gpus, BATCH_LOAD_FIRST, &ask))
            continue;
        ask.limit_s = INFINITY;
        batch_load_take(&load, gpus, BATCH_LOAD_LEAST, &ask);
    }
    return rc ? rc : queues_run(&w->queues, &w->plan, &w->crew, e);
}

static int batch_run_ff(struct batch_work *w, struct err *e)
{
    return order_run(w, true, e);
}

static int batch_run_ls(struct batch_work *w, struct err *e)
{
    return order_run(w, false, e);
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

/* Start from the head of the order what can start now. */
static int lottery_start(struct lottery *l, struct err *e)
{
    const struct gang *g = l->crew->g;
    int rc = 0;
    for (; !rc && l->next < g->p->n_jobs; l->next++) {
        int32_t job = l->plan->order[l->next], n = g->p->jobs[job].gpus;
        int32_t *gpus = l->plan->gpus + g->seat[job];
        if (n > l->n_idle || crew_tick(l->crew, g->p->jobs[job].submit_s) > l->crew->now)
            break;
        for (int32_t i = 0; i < n; i++) {
            int32_t at = (int32_t)rng_below(l->rng, l->n_idle);
            gpus[i] = l->idle[at];
            l->idle[at] = l->idle[--l->n_idle];
        }
        stat_sort_numbers(gpus, n);
        rc = crew_start(l->crew, job, gpus, e);
    }
    return rc ? rc : crew_settle(l->crew, e);
}

/* Go to when something happens; GPUs of jobs that end are idle again. */
static int lottery_go_on(struct lottery *l, struct err *e)
{
    const struct gang *g = l->crew->g;
    double tick = crew_next(l->crew);
    if (l->next < g->p->n_jobs) {
        double arrival = crew_tick(l->crew, g->p->jobs[l->plan->order[l->next]].submit_s);
        if (arrival > l->crew->now)
            tick = fmin(tick, arrival);
    }
    if (tick == INFINITY)
        return crew_stuck(l->crew, e);
    crew_advance(l->crew, tick);
    for (int32_t i = 0; i < l->crew->n_ended; i++)
        for (int32_t seat = g->seat[l->crew->ended[i]]; seat < g->seat[l->crew->ended[i] + 1]; seat++)
            l->idle[l->n_idle++] = l->plan->gpus[seat];
    return lottery_start(l, e);
}

static int batch_run_rand(struct batch_work *w, struct err *e)
{
    const struct gang *g = &w->g;
    struct lottery l = { .plan = &w->plan, .crew = &w->crew, .n_idle = g->n_gpus };
    struct work work;
    l.idle = ARENA_TAKE(&w->g.arena, g->n_gpus, *l.idle);
    int rc = arena_check(&g->arena, "idle GPUs", e);
    for (int32_t i = 0; i < g->n_gpus && !rc; i++)
        l.idle[i] = i;
    if (!rc)
        rc = order_at_random(&w->plan, g->p->n_jobs, w->s->seed, e);
    if (!rc)
        rc = rng_build(&l.rng, w->s->seed, STREAM_GPUS, e);
    if (!rc) {
        crew_reset(l.crew);
        rc = lottery_start(&l, e);
    }
    work_begin(&work, "jobs", g->p->n_jobs);
    while (!rc && (l.crew->n_running > 0 || l.next < g->p->n_jobs)) {
        rc = lottery_go_on(&l, e);
        work_step(&work, l.crew->n_ended);
        if (!rc)
            rc = work_check(e);
    }
    work_end(&work);
    rng_free(l.rng);
    return rc;
}

/* ---- the paper's model of speed ---- */

/*
 * Contending jobs k = max(1, xi1 p), where p is the largest number of jobs that spread over several servers,
 * this one included, on any server of this job. The paper has k = xi1 p, which would make a link faster than
 * it is.
 */
static double contention_jobs(const struct contention *c, int32_t p)
{
    return fmax(1, c->share_frac * p);
}

/* How many times slower than alone: f(k) = k + alpha (k - 1), the paper's example. k >= 1. */
static double contention_slowdown(const struct contention *c, double k)
{
    return k + c->alpha * (k - 1);
}

double contention_iteration_s(const struct contention *c, const struct job *job, int32_t n_servers, int32_t p)
{
    double bw_Bps = c->inner_Bps;
    if (n_servers > 1)
        bw_Bps = c->outer_Bps / contention_slowdown(c, contention_jobs(c, p));
    /* Each worker sends 2 (w-1) messages of m/w and adds up w-1 of them. */
    double sent_B = job->gradient_B * (job->gpus - 1) / job->gpus;
    return sent_B * (2 / bw_Bps + 1 / c->reduce_Bps) + job->server_s * (n_servers - 1) + job->compute_s;
}

/* Fewest servers that hold so many GPUs: the largest first. No array of them is sorted: sizes are few, so the
 * next size down is looked for. */
static int32_t contention_fewest_servers(const struct batch_cluster *cluster, int32_t gpus)
{
    int32_t n = 0, size = INT32_MAX;
    while (gpus > 0) {
        int32_t below = 0, count = 0;
        for (int32_t s = 0; s < cluster->n_servers; s++)
            if (cluster->gpus[s] < size && cluster->gpus[s] > below)
                below = cluster->gpus[s];
        if (below == 0)
            break;
        size = below;
        for (int32_t s = 0; s < cluster->n_servers; s++)
            count += cluster->gpus[s] == size;
        int32_t need = (gpus - 1) / size + 1, taken = need < count ? need : count;
        n += taken;
        gpus -= taken < need ? taken * size : gpus;
    }
    return n;
}

double contention_phi(const struct contention *c, const struct batch_problem *p)
{
    int32_t crowd = 1;
    double phi = 1;
    for (int32_t s = 0; s < p->cluster.n_servers; s++)
        if (p->cluster.gpus[s] > crowd)
            crowd = p->cluster.gpus[s];
    for (int32_t i = 0; i < p->n_jobs; i++) {
        const struct job *job = &p->jobs[i];
        int32_t most = job->gpus < p->cluster.n_servers ? job->gpus : p->cluster.n_servers;
        int32_t least = contention_fewest_servers(&p->cluster, job->gpus);
        phi =
            fmax(phi, contention_iteration_s(c, job, most, crowd) / contention_iteration_s(c, job, least, 1));
    }
    return phi;
}

/* One job; place.n == 0: it does not run. */
struct paper_job {
    struct pace_place place;
    double iteration_s; /* 0: not known yet */
    bool touched;       /* in `touched` */
};

/* The jobs on one server that are on others as well. */
struct paper_meeting {
    int32_t *jobs; /* shape [n], borrowed from `met` */
    int32_t n;
};

struct paper {
    struct arena arena; /* of all arrays */
    struct contention c;
    const struct job *jobs;
    struct paper_job *runners;      /* shape [n_jobs] */
    struct paper_meeting *meetings; /* shape [n_servers] */
    int32_t *met;                   /* room for as many jobs on a server as it has GPUs */
    int32_t *touched;               /* shape [n_jobs]; jobs whom a start or an end may have changed */
    int32_t *changed;               /* shape [n_jobs] */
    int32_t n_touched;
};

static void paper_touch(struct paper *m, int32_t job)
{
    if (m->runners[job].touched)
        return;
    m->runners[job].touched = true;
    m->touched[m->n_touched++] = job;
}

static void paper_touch_meeting(struct paper *m, const struct paper_meeting *on)
{
    for (int32_t i = 0; i < on->n; i++)
        paper_touch(m, on->jobs[i]);
}

static int paper_begin(void *x, int32_t job, const struct pace_place *place, struct err *e)
{
    struct paper *m = x;
    (void)e;
    m->runners[job].place = *place;
    m->runners[job].iteration_s = 0;
    paper_touch(m, job);
    for (int32_t i = 0; place->n > 1 && i < place->n; i++) {
        struct paper_meeting *on = &m->meetings[place->servers[i]];
        paper_touch_meeting(m, on);
        on->jobs[on->n++] = job;
    }
    return 0;
}

static void paper_end(void *x, int32_t job)
{
    struct paper *m = x;
    struct pace_place *place = &m->runners[job].place;
    for (int32_t i = 0; place->n > 1 && i < place->n; i++) {
        struct paper_meeting *on = &m->meetings[place->servers[i]];
        int32_t at = 0;
        while (on->jobs[at] != job)
            at++;
        on->jobs[at] = on->jobs[--on->n];
        paper_touch_meeting(m, on);
    }
    place->n = 0;
}

static double paper_time_now(const struct paper *m, int32_t job)
{
    const struct pace_place *place = &m->runners[job].place;
    int32_t p = 0;
    for (int32_t i = 0; place->n > 1 && i < place->n; i++) {
        int32_t here = m->meetings[place->servers[i]].n;
        p = here > p ? here : p;
    }
    return contention_iteration_s(&m->c, &m->jobs[job], place->n, p);
}

static int paper_changed(void *x, const int32_t **jobs, int32_t *n, struct err *e)
{
    struct paper *m = x;
    (void)e;
    *n = 0;
    for (int32_t i = 0; i < m->n_touched; i++) {
        struct paper_job *r = &m->runners[m->touched[i]];
        r->touched = false;
        if (r->place.n == 0)
            continue;
        double iteration_s = paper_time_now(m, m->touched[i]);
        if (iteration_s != r->iteration_s)
            m->changed[(*n)++] = m->touched[i];
        r->iteration_s = iteration_s;
    }
    m->n_touched = 0;
    *jobs = m->changed;
    return 0;
}

static double paper_iteration_s(const void *x, int32_t job)
{
    return ((const struct paper *)x)->runners[job].iteration_s;
}

static void paper_free(void *x)
{
    struct paper *m = x;
    if (!m)
        return;
    arena_free(&m->arena);
    free(m);
}

int pace_paper_build(struct pace *out, const struct contention *c, const struct batch_problem *p,
                     struct err *e)
{
    *out = (struct pace){ NULL, paper_begin, paper_end, paper_changed, paper_iteration_s, paper_free };
    int rc = batch_check(p, e);
    if (rc)
        return rc;

    struct paper *m = calloc(1, sizeof *m);
    if (!m)
        return err_nomem(e, "speeds of jobs");
    int32_t n_gpus = 0;
    for (int32_t s = 0; s < p->cluster.n_servers; s++)
        n_gpus += p->cluster.gpus[s];
    m->c = *c;
    m->jobs = p->jobs;
    m->runners = ARENA_TAKE(&m->arena, p->n_jobs, *m->runners);
    m->meetings = ARENA_TAKE(&m->arena, p->cluster.n_servers, *m->meetings);
    m->met = ARENA_TAKE(&m->arena, n_gpus, *m->met);
    m->touched = ARENA_TAKE(&m->arena, p->n_jobs, *m->touched);
    m->changed = ARENA_TAKE(&m->arena, p->n_jobs, *m->changed);
    rc = arena_check(&m->arena, "speeds of jobs", e);
    if (rc) {
        paper_free(m);
        return rc;
    }
    for (int32_t s = 0, at = 0; s < p->cluster.n_servers; at += p->cluster.gpus[s], s++)
        m->meetings[s].jobs = m->met + at;
    out->x = m;
    return 0;
}

/* ---- SJF-BCO ---- */

struct sjf_search {
    struct batch_work *w;
    const struct gang *g;
    const struct batch_settings *s;
    struct batch_load load;
    struct gang_plan trial; /* its order is the best one's: all plans have the same */
    struct batch_result *out;
    struct work work; /* counts plans */
};

static int sjf_order_by_size(int32_t *order, const struct batch_problem *p, struct err *e)
{
    struct stat_rank *sizes = malloc((size_t)p->n_jobs * sizeof *sizes);
    if (!sizes)
        return err_nomem(e, "sizes of jobs");
    for (int32_t i = 0; i < p->n_jobs; i++)
        sizes[i] = (struct stat_rank){ p->jobs[i].gpus, i };
    stat_sort_ranks(sizes, p->n_jobs);
    for (int32_t i = 0; i < p->n_jobs; i++)
        order[i] = (int32_t)sizes[i].at;
    free(sizes);
    return 0;
}

/* Loads that always suffice: all jobs one after the other, rounded up [s]. */
static int64_t sjf_bco_theta_max(const struct batch_problem *p, const struct batch_settings *s)
{
    double sum_s = 0;
    for (int32_t i = 0; i < p->n_jobs; i++)
        sum_s += p->jobs[i].expected_s / s->under;
    const double most = 4e18;                    /* fits int64_t; no batch takes so long */
    return (int64_t)fmin(ceil(sum_s) + 1, most); /* one more: loads are not added up in this order */
}

/* A plan in which no load is above theta; false when there is none. */
static bool sjf_make_plan(struct sjf_search *x, int64_t theta, int32_t kappa)
{
    const enum batch_load_way small = x->s->literal_pack ? BATCH_LOAD_LEAST : BATCH_LOAD_PACKED;
    batch_load_reset(&x->load);
    for (int32_t i = 0; i < x->g->p->n_jobs; i++) {
        int32_t number = x->trial.order[i], *gpus = x->trial.gpus + x->g->seat[number];
        const struct job *job = &x->g->p->jobs[number];
        const struct batch_load_ask ask = { job->gpus, job->expected_s / x->s->under, (double)theta,
                                            x->s->lambda };
        enum batch_load_way way = job->gpus > kappa ? BATCH_LOAD_BALANCED : small;
        if (!batch_load_take(&x->load, gpus, way, &ask))
            return false;
    }
    return true;
}

static double crew_last_end(const struct crew *crew)
{
    double end_s = 0;
    for (int32_t i = 0; i < crew->g->p->n_jobs; i++)
        end_s = fmax(end_s, crew->spans[i].end_s);
    return end_s;
}

/* Makespan of the plan for theta and kappa, INFINITY when there is none; kept when it is the best so far. */
static int sjf_try_plan(struct sjf_search *x, int64_t theta, int32_t kappa, double *makespan_s, struct err *e)
{
    struct batch_result *out = x->out;
    *makespan_s = INFINITY;
    work_step(&x->work, 1);
    if (!sjf_make_plan(x, theta, kappa))
        return 0;
    int rc = queues_run(&x->w->queues, &x->trial, &x->w->crew, e);
    if (rc)
        return rc;
    out->n_plans++;
    *makespan_s = crew_last_end(&x->w->crew);
    if (!(*makespan_s < out->makespan_s))
        return 0;
    out->makespan_s = *makespan_s;
    out->theta = theta;
    out->kappa = kappa;
    memcpy(x->w->plan.gpus, x->trial.gpus, (size_t)x->g->n_seats * sizeof *x->trial.gpus);
    memcpy(out->jobs, x->w->crew.spans, (size_t)out->n_jobs * sizeof *out->jobs);
    return 0;
}

/* The least number above kappa that is the size of a job, else one above all. */
static int32_t sjf_next_size(const struct sjf_search *x, int32_t kappa)
{
    for (int32_t i = 0; i < x->g->p->n_jobs; i++) {
        int32_t gpus = x->g->p->jobs[x->trial.order[i]].gpus;
        if (gpus > kappa)
            return gpus;
    }
    return x->g->most_gpus + 1;
}

/* Every kappa, or the one asked for. */
static int sjf_try_theta(struct sjf_search *x, int64_t theta, struct err *e)
{
    double *by_kappa_s = x->out->kappa_makespan_s, makespan_s;
    int32_t most = x->g->most_gpus;
    int rc = 0;
    if (x->s->kappa > 0) {
        int32_t kappa = x->s->kappa < most ? x->s->kappa : most;
        rc = sjf_try_plan(x, theta, kappa, &makespan_s, e);
        by_kappa_s[kappa - 1] = fmin(by_kappa_s[kappa - 1], makespan_s);
        return rc;
    }
    for (int32_t kappa = 1, next; !rc && kappa <= most; kappa = next) {
        next = sjf_next_size(x, kappa);
        rc = sjf_try_plan(x, theta, kappa, &makespan_s, e);
        for (int32_t same = kappa; same < next; same++)
            by_kappa_s[same - 1] = fmin(by_kappa_s[same - 1], makespan_s);
    }
    return rc;
}

/* No plan has all loads below the mean of them, or below the longest job. */
static int64_t sjf_lowest_limit(const struct sjf_search *x)
{
    const double most = 4e18; /* fits int64_t */
    double sum_s = 0, longest_s = 0;
    for (int32_t i = 0; i < x->g->p->n_jobs; i++) {
        const struct job *job = &x->g->p->jobs[i];
        sum_s += job->gpus * job->expected_s / x->s->under;
        longest_s = fmax(longest_s, job->expected_s / x->s->under);
    }
    /* One lower: rounding may have put a sum just above a whole number. */
    return (int64_t)fmin(fmax(ceil(fmax(sum_s / x->g->n_gpus, longest_s)) - 1, 1), most);
}

/* Twice the limit until one gives a plan: *theta; 0 when none up to `most` does. */
static int sjf_double_up(struct sjf_search *x, int64_t low, int64_t most, int64_t *theta, struct err *e)
{
    *theta = low;
    while (*theta <= most) {
        int rc = sjf_try_theta(x, *theta, e);
        if (rc || x->out->n_plans > 0)
            return rc;
        if (*theta == most)
            break;
        *theta = *theta > most / 2 ? most : 2 * *theta;
    }
    *theta = 0;
    return 0;
}

/* Smaller limits after one that gave a plan (literally: a better plan), larger ones after one that did not.
 * *least becomes the least limit that gave a plan. */
static int sjf_bisect(struct sjf_search *x, int64_t left, int64_t right, int64_t *least, struct err *e)
{
    while (left <= right) {
        int64_t theta = left + (right - left) / 2;
        int32_t plans_before = x->out->n_plans;
        double before_s = x->out->makespan_s;
        int rc = sjf_try_theta(x, theta, e);
        if (rc)
            return rc;
        bool found = x->out->n_plans > plans_before;
        if (found && theta < *least)
            *least = theta;
        if (x->s->literal_bisect ? x->out->makespan_s < before_s : found)
            right = theta - 1;
        else
            left = theta + 1;
    }
    return 0;
}

/* Limits above the least one, a fiftieth of it apart: how good a plan is depends on its limit by chance as
 * well. */
static int sjf_try_above(struct sjf_search *x, int64_t least, int64_t most, struct err *e)
{
    double last = (double)least;
    int rc = 0;
    for (int32_t i = 1; !rc && i <= x->s->more_limits; i++) {
        double theta = ceil((double)least * (1 + i / 50.0));
        if (theta > (double)most)
            break;
        if (theta > last)
            rc = sjf_try_theta(x, (int64_t)theta, e);
        last = theta;
    }
    return rc;
}

/* At most: limits are doubled and bisected, once each, and each is tried with every size. */
static int64_t sjf_count_plans(const struct sjf_search *x, int64_t low, int64_t most)
{
    int64_t sizes = 0, bits = (int64_t)fmax(log2((double)most / (double)low), 0) + 2;
    for (int32_t kappa = 1; kappa <= x->g->most_gpus && x->s->kappa == 0; kappa = sjf_next_size(x, kappa))
        sizes++;
    return (sizes ? sizes : 1) * (2 * bits + x->s->more_limits);
}

static int sjf_search_limits(struct sjf_search *x, struct err *e)
{
    int64_t most = x->s->theta_max > 0 ? x->s->theta_max : sjf_bco_theta_max(x->g->p, x->s), least = most;
    int rc;
    work_begin(&x->work, "plans, at most",
               sjf_count_plans(x, x->s->literal_bisect ? 1 : sjf_lowest_limit(x), most));
    if (x->s->literal_bisect) {
        rc = sjf_bisect(x, 1, most, &least, e);
    } else {
        int64_t low = sjf_lowest_limit(x);
        rc = sjf_double_up(x, low, most, &least, e);
        if (!rc && least > 0)
            rc = sjf_bisect(x, least / 2 + 1 > low ? least / 2 + 1 : low, least - 1, &least, e);
    }
    if (!rc && x->out->n_plans > 0)
        rc = sjf_try_above(x, least, most, e);
    work_end(&x->work);
    return rc;
}

/*
 * Find the best plan (Algorithm 1): a search over whole load limits theta [s], and for each every size kappa
 * up to which jobs are packed (Algorithm 2, FA-FFP) while larger ones are balanced (Algorithm 3, LBSGF). Jobs
 * take their turn by GPUs, of equals by number. Every plan is carried out, and the least makespan counts.
 *
 * Where this departs from the paper, and why:
 * - A plan that does not fit under theta is given up at once. The paper waits for a job to exit and
 *   tries again; but loads never fall, so that cannot help.
 * - Packing prefers servers that have jobs. As printed Algorithm 2 takes the least loaded GPUs of the
 *   cluster, which spreads jobs, against its own prose; settings->literal_pack does that.
 * - A gang waits for the last of its GPUs: all of them are then loaded until it ends. The paper adds to
 *   each GPU's own load, which makes plans look shorter than they are; settings->literal_load does
 *   that.
 * - Limits are doubled from the least that could have a plan until one has, then bisected downwards by
 *   whether there is a plan. The paper bisects 1..T and goes down only from a limit whose plan was
 *   better than all before; from a wide T, where many limits give about the same plan, that turns away
 *   from the good ones. settings->literal_bisect does that.
 * - Some limits above the least one with a plan are tried as well: the makespan is not monotone in
 *   theta. On the batches of sjf_draw_build() 16 of them take off 2 % for three times the time.
 *   settings->more_limits says how many.
 * - kappa matters only by which sizes of jobs it parts, so there are only so many plans for a theta.
 *
 * The best plan and its spans go into w->plan and w->out, whose part under "SJF-BCO only" and status are set.
 * ERR_NOMEM; what queues_run() says.
 */
static int batch_run_sjf_bco(struct batch_work *w, struct err *e)
{
    struct batch_result *out = w->out;
    struct sjf_search x = { .w = w, .g = &w->g, .s = w->s, .out = out };
    out->makespan_s = INFINITY;
    out->n_kappas = x.g->most_gpus;
    out->kappa_makespan_s = ARENA_TAKE(&out->arena, out->n_kappas, *out->kappa_makespan_s);
    batch_load_build(&x.load, &w->g, !w->s->literal_load);
    gang_plan_build(&x.trial, &w->g);
    int rc = arena_check(&out->arena, "makespans", e);
    if (!rc)
        rc = arena_check(&w->g.arena, "plans of jobs", e);
    for (int32_t i = 0; i < out->n_kappas && !rc; i++)
        out->kappa_makespan_s[i] = INFINITY;
    if (!rc)
        rc = sjf_order_by_size(x.trial.order, x.g->p, e);
    if (!rc)
        rc = sjf_search_limits(&x, e);
    if (!rc) {
        memcpy(w->plan.order, x.trial.order, (size_t)out->n_jobs * sizeof *w->plan.order);
        out->status = out->makespan_s < INFINITY ? BATCH_DONE : BATCH_NO_PLAN;
    }
    return rc;
}

/* ---- random batches ---- */

enum { STREAM_SERVERS, STREAM_JOBS, MAX_DRAWS = 100000 };

/* b_e. Only ratios to it matter, since the gradients are drawn to take a share of an iteration. 10 Gbit/s. */
#define OUTER_Bps 1.25e9

/* How many jobs that are. */
static int sjf_draw_count(int32_t *n_jobs, const struct sjf_draw_settings *s, struct err *e)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < s->n_kinds; i++)
        sum += s->kinds[i].n_jobs;
    if (sum < 1 || sum > BATCH_MAX_JOBS)
        return err_set(e, ERR_RANGE, "kinds: are %lld jobs, expected 1 to %d", (long long)sum,
                       BATCH_MAX_JOBS);
    *n_jobs = (int32_t)sum;
    return 0;
}

static int sjf_draw_servers(struct sjf_draw *d, const struct sjf_draw_settings *s, struct err *e)
{
    struct rng *r;
    int rc = rng_build(&r, s->seed, STREAM_SERVERS, e);
    if (rc)
        return rc;
    for (int32_t i = 0; i < s->n_servers; i++)
        d->gpus[i] = s->server_gpus[rng_below(r, s->n_server_sizes)];
    rng_free(r);
    d->problem.cluster = (struct batch_cluster){ s->n_servers, d->gpus };
    return 0;
}

/* F and c until F c is in its range. */
static int sjf_draw_job(struct job *job, int32_t gpus, const struct sjf_draw_settings *s, struct rng *r,
                        struct err *e)
{
    int64_t least = (int64_t)ceil(s->iterations.lo), most = (int64_t)floor(s->iterations.hi);
    for (int32_t draw = 0; draw < MAX_DRAWS && least <= most; draw++) {
        int64_t iterations = least + rng_below(r, most - least + 1);
        double c_s = rng_range(r, s->iteration_s.lo, s->iteration_s.hi), run_s = (double)iterations * c_s;
        if (!(run_s >= s->run_s.lo && run_s <= s->run_s.hi))
            continue;
        *job = job_default();
        job->gpus = gpus;
        job->iterations = (double)iterations;
        job->expected_s = run_s;
        job->compute_s = c_s;
        /* m (w-1)/w 2/b_e is comm_frac c (w-1)/w. */
        job->gradient_B = s->comm_frac * c_s / 2 * OUTER_Bps;
        job->server_s = s->server_frac * c_s;
        return 0;
    }
    return err_set(e, ERR_RANGE,
                   "run_s: is %g to %g, expected times that iterations times iteration_s can come to",
                   s->run_s.lo, s->run_s.hi);
}

static int sjf_draw_jobs(struct sjf_draw *d, const struct sjf_draw_settings *s, struct err *e)
{
    struct rng *r;
    int rc = rng_build(&r, s->seed, STREAM_JOBS, e);
    for (int32_t k = 0, job = 0; !rc && k < s->n_kinds; k++)
        for (int32_t i = 0; !rc && i < s->kinds[k].n_jobs; i++)
            rc = sjf_draw_job(&d->jobs[job++], s->kinds[k].gpus, s, r, e);
    rng_free(r);
    return rc;
}

int sjf_draw_build(struct sjf_draw *d, const struct sjf_draw_settings *s, struct err *e)
{
    int32_t n_jobs = 0;
    *d = (struct sjf_draw){ 0 };
    int rc = sjf_draw_count(&n_jobs, s, e);
    if (rc)
        return rc;
    d->contention = (struct contention){ .outer_Bps = OUTER_Bps,
                                         .inner_Bps = s->inner_ratio * OUTER_Bps,
                                         .reduce_Bps = INFINITY, /* its time is part of c */
                                         .share_frac = s->share_frac,
                                         .alpha = s->alpha };
    d->jobs = ARENA_TAKE(&d->arena, n_jobs, *d->jobs);
    d->gpus = ARENA_TAKE(&d->arena, s->n_servers, *d->gpus);
    rc = arena_check(&d->arena, "a batch of jobs", e);
    if (!rc)
        rc = sjf_draw_servers(d, s, e);
    if (!rc)
        rc = sjf_draw_jobs(d, s, e);
    d->problem.jobs = d->jobs;
    d->problem.n_jobs = n_jobs;
    return rc ? rc : batch_check(&d->problem, e);
}

void sjf_draw_free(struct sjf_draw *d)
{
    arena_free(&d->arena);
    *d = (struct sjf_draw){ 0 };
}

/* ---- what comes out ---- */

const struct batch_kind batch_kinds[N_BATCH_SCHEDULERS] = {
    [BATCH_SJF_BCO] = { "sjf-bco", batch_run_sjf_bco },
    [BATCH_FF] = { "ff", batch_run_ff },
    [BATCH_LS] = { "ls", batch_run_ls },
    [BATCH_RAND] = { "rand", batch_run_rand },
};

/* Everything that follows from the spans of the jobs. */
static void batch_sum_up(struct batch_result *out, const struct gang *g)
{
    double jct_s = 0, busy_s = 0;
    out->makespan_s = 0;
    for (int32_t i = 0; i < out->n_jobs; i++) {
        const struct batch_span *span = &out->jobs[i];
        out->makespan_s = fmax(out->makespan_s, span->end_s);
        jct_s += span->end_s - g->p->jobs[i].submit_s;
        busy_s += (span->end_s - span->start_s) * g->p->jobs[i].gpus;
    }
    out->mean_jct_s = jct_s / out->n_jobs;
    out->busy_frac = busy_s / (out->makespan_s * g->n_gpus);
}

/* Run the scheduler, and keep what it found. */
static int batch_carry_out(struct batch_work *w, enum batch_scheduler scheduler, struct err *e)
{
    struct batch_result *out = w->out;
    out->n_jobs = w->g.p->n_jobs;
    out->n_gpus = w->g.n_gpus;
    out->jobs = ARENA_TAKE(&out->arena, out->n_jobs, *out->jobs);
    out->gpu_server = ARENA_TAKE(&out->arena, out->n_gpus, *out->gpu_server);
    int rc = arena_check(&out->arena, "a schedule", e);
    if (!rc)
        rc = batch_kinds[scheduler].run(w, e);
    if (rc || out->status == BATCH_NO_PLAN)
        return rc;
    out->gpus = ARENA_TAKE(&out->arena, w->g.n_seats, *out->gpus);
    rc = arena_check(&out->arena, "a schedule", e);
    if (rc)
        return rc;
    if (scheduler != BATCH_SJF_BCO) /* which has the spans of its best plan, not of the last */
        memcpy(out->jobs, w->crew.spans, (size_t)out->n_jobs * sizeof *out->jobs);
    memcpy(out->gpus, w->plan.gpus, (size_t)w->g.n_seats * sizeof *out->gpus);
    memcpy(out->gpu_server, w->g.gpu_server, (size_t)out->n_gpus * sizeof *out->gpu_server);
    return 0;
}

int batch_work_build(struct batch_work *w, const struct batch_problem *p, struct pace *pace,
                     const struct batch_settings *s, struct err *e)
{
    *w = (struct batch_work){ .s = s };
    gang_build(&w->g, p);
    gang_plan_build(&w->plan, &w->g);
    crew_build(&w->crew, &w->g, pace, s);
    queues_build(&w->queues, &w->g);
    return arena_check(&w->g.arena, "a batch of jobs", e);
}

void batch_work_free(struct batch_work *w)
{
    crew_free(&w->crew);
    queues_free(&w->queues);
    gang_free(&w->g);
}

int batch_run(struct batch_result *out, enum batch_scheduler scheduler, const struct batch_problem *p,
              struct pace *pace, const struct batch_settings *s, struct err *e)
{
    struct batch_work w;
    *out = (struct batch_result){ .guarantee = NAN };
    int rc = batch_check(p, e);
    if (rc)
        return rc;
    rc = batch_work_build(&w, p, pace, s, e);
    w.out = out;
    if (!rc)
        rc = batch_carry_out(&w, scheduler, e);
    if (!rc && out->status == BATCH_DONE) {
        batch_sum_up(out, &w.g);
        if (scheduler == BATCH_SJF_BCO && s->phi > 0)
            out->guarantee = w.g.most_gpus * s->phi * s->under / s->over;
    }
    batch_work_free(&w);
    return rc;
}

void batch_result_free(struct batch_result *r)
{
    arena_free(&r->arena);
    *r = (struct batch_result){ 0 };
}
