#include "sim/batch/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/batch/sjf_bco.h"

const char *const batch_scheduler_words[N_BATCH_SCHEDULERS + 1] = { "sjf-bco", "ff", "ls", "rand" };

/* Far beyond any job, and sums and products of them are still numbers. */
#define MOST 1e15

struct batch_settings batch_settings_default(void)
{
    return (struct batch_settings){
        .more_limits = 16, .lambda = 1, .under = 1.15, .over = 1, .ff_limit = 2.25, .seed = 1
    };
}

/* ---- what is given ---- */

static int batch_check_cluster(int64_t *n_gpus, const struct batch_cluster *c, struct err *e)
{
    if (c->n_servers < 1)
        return err_set(e, ERR_RANGE, "servers: are %d, need 1 or more", (int)c->n_servers);
    *n_gpus = 0;
    for (int32_t s = 0; s < c->n_servers; s++) {
        if (c->gpus[s] < 1)
            return err_set(e, ERR_RANGE, "servers[%d].gpus: is %d, need 1 or more", (int)s, (int)c->gpus[s]);
        *n_gpus += c->gpus[s];
        if (*n_gpus > BATCH_MAX_GPUS)
            return err_set(e, ERR_RANGE, "servers: have more than %d GPUs", (int)BATCH_MAX_GPUS);
    }
    return 0;
}

static int batch_check_job(const struct batch_job *job, int32_t number, int64_t n_gpus, struct err *e)
{
    const struct {
        const char *name;
        double x;
        bool above; /* 0 is not allowed */
    } reals[] = {
        { "arrival_s", job->arrival_s, false }, { "expected_s", job->expected_s, true },
        { "compute_s", job->compute_s, true },  { "gradient_B", job->gradient_B, false },
        { "server_s", job->server_s, false },
    };
    if (job->gpus < 1 || job->gpus > n_gpus)
        return err_set(e, ERR_RANGE, "jobs[%d].gpus: is %d, need 1 to %lld, all of the cluster", (int)number,
                       (int)job->gpus, (long long)n_gpus);
    if (job->iterations < 1 || (double)job->iterations > MOST)
        return err_set(e, ERR_RANGE, "jobs[%d].iterations: is %lld, need 1 to %g", (int)number,
                       (long long)job->iterations, MOST);
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (!((reals[i].above ? reals[i].x > 0 : reals[i].x >= 0) && reals[i].x <= MOST))
            return err_set(e, ERR_RANGE, "jobs[%d].%s: is %g, need %s, at most %g", (int)number,
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
        return err_set(e, ERR_RANGE, "jobs: are %d, need 1 to %d", (int)p->n_jobs, (int)BATCH_MAX_JOBS);
    for (int32_t i = 0; i < p->n_jobs; i++) {
        rc = batch_check_job(&p->jobs[i], i, n_gpus, e);
        if (rc)
            return rc;
        seats += p->jobs[i].gpus;
    }
    if (seats > BATCH_MAX_SEATS)
        return err_set(e, ERR_RANGE, "jobs: ask for %lld GPUs in all, need at most %d", (long long)seats,
                       (int)BATCH_MAX_SEATS);
    return 0;
}

static int batch_check_settings(const struct batch_settings *s, struct err *e)
{
    const struct {
        const char *name;
        double x, least, most;
    } reals[] = {
        { "lambda", s->lambda, 1, MOST },
        { "under", s->under, 1, MOST },
        { "over", s->over, 1e-9, 1 },
        { "ff_limit", s->ff_limit, 1e-9, MOST },
        { "slot_s", s->slot_s, 0, MOST },
        { "theta_max", (double)s->theta_max, 0, MOST },
        { "more_limits", s->more_limits, 0, 10000 },
    };
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (!(reals[i].x >= reals[i].least && reals[i].x <= reals[i].most))
            return err_set(e, ERR_RANGE, "%s: is %g, need %g to %g", reals[i].name, reals[i].x,
                           reals[i].least, reals[i].most);
    if (s->kappa < 0)
        return err_set(e, ERR_RANGE, "kappa: is %d, need 0 (all) or more", (int)s->kappa);
    if (!(s->phi == 0 || (s->phi >= 1 && s->phi <= MOST)))
        return err_set(e, ERR_RANGE, "phi: is %g, need 0 (not known), or 1 or more", s->phi);
    return 0;
}

/* ---- what comes out ---- */

/* Everything that follows from the spans of the jobs. */
static void batch_sum_up(struct batch_result *out, const struct gang *g)
{
    double jct_s = 0, busy_s = 0;
    out->makespan_s = 0;
    for (int32_t i = 0; i < out->n_jobs; i++) {
        const struct batch_span *span = &out->jobs[i];
        out->makespan_s = fmax(out->makespan_s, span->end_s);
        jct_s += span->end_s - g->p->jobs[i].arrival_s;
        busy_s += (span->end_s - span->start_s) * g->p->jobs[i].gpus;
    }
    out->mean_jct_s = jct_s / out->n_jobs;
    out->busy_frac = busy_s / (out->makespan_s * g->n_gpus);
}

static int batch_carry_out(struct batch_result *out, enum batch_scheduler scheduler, struct gang_plan *plan,
                           struct crew *crew, const struct batch_settings *s, struct err *e)
{
    struct queues q;
    int rc = queues_build(&q, crew->g, e);
    if (!rc && scheduler == BATCH_SJF_BCO)
        rc = sjf_bco_run(out, plan, crew, &q, s, e);
    else if (!rc && scheduler == BATCH_RAND)
        rc = batch_order_rand(plan, crew, s, e);
    else if (!rc)
        rc = batch_order_plan(plan, scheduler == BATCH_FF, crew, &q, s, e);
    if (!rc && scheduler != BATCH_SJF_BCO)
        memcpy(out->jobs, crew->spans, (size_t)out->n_jobs * sizeof *out->jobs);
    queues_free(&q);
    return rc;
}

static int batch_reserve(struct batch_result *out, struct gang_plan *plan, const struct gang *g,
                         struct err *e)
{
    int rc = gang_plan_build(plan, g, e);
    if (rc)
        return rc;
    out->n_jobs = g->p->n_jobs;
    out->n_gpus = g->n_gpus;
    out->jobs = calloc((size_t)out->n_jobs, sizeof *out->jobs);
    out->gpu_server = malloc((size_t)out->n_gpus * sizeof *out->gpu_server);
    if (!out->jobs || !out->gpu_server)
        return err_nomem(e, "a schedule");
    memcpy(out->gpu_server, g->gpu_server, (size_t)out->n_gpus * sizeof *out->gpu_server);
    return 0;
}

int batch_run(struct batch_result *out, enum batch_scheduler scheduler, const struct batch_problem *p,
              struct pace *pace, const struct batch_settings *s, struct err *e)
{
    struct gang g = { 0 };
    struct gang_plan plan = { 0 };
    struct crew crew = { 0 };
    *out = (struct batch_result){ .guarantee = NAN };
    int rc = batch_check(p, e);
    if (!rc)
        rc = batch_check_settings(s, e);
    if (!rc)
        rc = gang_build(&g, p, e);
    if (!rc)
        rc = batch_reserve(out, &plan, &g, e);
    if (!rc)
        rc = crew_build(&crew, &g, pace, s, e);
    if (!rc)
        rc = batch_carry_out(out, scheduler, &plan, &crew, s, e);
    if (!rc && out->status == BATCH_DONE) {
        batch_sum_up(out, &g);
        out->gpus = plan.gpus;
        plan.gpus = NULL;
        if (scheduler == BATCH_SJF_BCO && s->phi > 0)
            out->guarantee = g.most_gpus * s->phi * s->under / s->over;
    }
    crew_free(&crew);
    gang_plan_free(&plan);
    gang_free(&g);
    return rc;
}

void batch_result_free(struct batch_result *r)
{
    free(r->jobs);
    free(r->gpus);
    free(r->gpu_server);
    free(r->kappa_makespan_s);
    *r = (struct batch_result){ 0 };
}

int gang_build(struct gang *g, const struct batch_problem *p, struct err *e)
{
    *g = (struct gang){ .p = p };
    const struct batch_cluster *c = &p->cluster;
    for (int32_t s = 0; s < c->n_servers; s++)
        g->n_gpus += c->gpus[s];
    g->server_gpu = malloc(((size_t)c->n_servers + 1) * sizeof *g->server_gpu);
    g->gpu_server = malloc((size_t)g->n_gpus * sizeof *g->gpu_server);
    g->seat = malloc(((size_t)p->n_jobs + 1) * sizeof *g->seat);
    if (!g->server_gpu || !g->gpu_server || !g->seat)
        return err_nomem(e, "a batch of jobs");

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
    g->seat[p->n_jobs] = seat;
    return 0;
}

void gang_free(struct gang *g)
{
    free(g->server_gpu);
    free(g->gpu_server);
    free(g->seat);
    *g = (struct gang){ 0 };
}

int gang_plan_build(struct gang_plan *plan, const struct gang *g, struct err *e)
{
    plan->order = malloc((size_t)g->p->n_jobs * sizeof *plan->order);
    plan->gpus = malloc((size_t)g->seat[g->p->n_jobs] * sizeof *plan->gpus);
    return plan->order && plan->gpus ? 0 : err_nomem(e, "a plan of jobs");
}

void gang_plan_free(struct gang_plan *plan)
{
    free(plan->order);
    free(plan->gpus);
    *plan = (struct gang_plan){ 0 };
}

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
        return event_heap_set(&c->ends, job, crew_end_tick(c, j), e);
    event_heap_remove(&c->ends, job);
    return 0;
}

int crew_settle(struct crew *c, struct err *e)
{
    const int32_t *changed;
    int32_t n;
    int rc = c->pace->changed(c->pace->x, &changed, &n, e);
    for (int32_t i = 0; !rc && i < n; i++)
        rc = crew_change_rate(c, changed[i], e);
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
    double arrival = crew_tick(crew, crew->g->p->jobs[job].arrival_s);
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
    while (!rc && (crew->n_running > 0 || event_heap_first(&q->arrivals) >= 0))
        rc = queues_go_on(q, plan, crew, e);
    return rc;
}

struct batch_load_rank {
    double mean_s;
    int32_t server;
};

int batch_load_build(struct batch_load *l, const struct gang *g, bool gang, struct err *e)
{
    size_t n_servers = (size_t)g->p->cluster.n_servers;
    *l = (struct batch_load){ .g = g, .gang = gang };
    l->gpu_s = calloc((size_t)g->n_gpus, sizeof *l->gpu_s);
    l->server_s = calloc(n_servers, sizeof *l->server_s);
    l->open = calloc(n_servers, sizeof *l->open);
    l->ranks = calloc(n_servers, sizeof *l->ranks);
    if (!l->gpu_s || !l->server_s || !l->open || !l->ranks)
        return err_nomem(e, "loads of GPUs");
    return 0;
}

void batch_load_free(struct batch_load *l)
{
    free(l->gpu_s);
    free(l->server_s);
    free(l->open);
    free(l->ranks);
    *l = (struct batch_load){ 0 };
}

void batch_load_reset(struct batch_load *l)
{
    size_t n_servers = (size_t)l->g->p->cluster.n_servers;
    memset(l->gpu_s, 0, (size_t)l->g->n_gpus * sizeof *l->gpu_s);
    memset(l->server_s, 0, n_servers * sizeof *l->server_s);
    memset(l->open, 0, n_servers * sizeof *l->open);
}

/* ---- the best so many GPUs ---- */

/* A heap of the GPUs found so far, the worst on top: what comes later has to beat that one. */
struct pick {
    const struct batch_load *l;
    bool packed;
    int32_t *gpus; /* shape [n] */
    int32_t n, want;
};

/* An order without ties, so that the choice does not depend on how it was found. */
static bool pick_before(const struct pick *p, int32_t a, int32_t b)
{
    const struct batch_load *l = p->l;
    if (p->packed) {
        bool open_a = l->open[l->g->gpu_server[a]], open_b = l->open[l->g->gpu_server[b]];
        if (open_a != open_b)
            return open_a;
    }
    if (l->gpu_s[a] != l->gpu_s[b])
        return l->gpu_s[a] < l->gpu_s[b];
    return a < b;
}

static void pick_sink(struct pick *p)
{
    int32_t at = 0, gpu = p->gpus[0];
    for (;;) {
        int32_t child = 2 * at + 1;
        if (child + 1 < p->n && pick_before(p, p->gpus[child], p->gpus[child + 1]))
            child++;
        if (child >= p->n || !pick_before(p, gpu, p->gpus[child]))
            break;
        p->gpus[at] = p->gpus[child];
        at = child;
    }
    p->gpus[at] = gpu;
}

static void pick_offer(struct pick *p, int32_t gpu)
{
    if (p->n == p->want) {
        if (!pick_before(p, gpu, p->gpus[0]))
            return;
        p->gpus[0] = gpu;
        pick_sink(p);
        return;
    }
    int32_t at = p->n++;
    for (; at > 0 && pick_before(p, p->gpus[(at - 1) / 2], gpu); at = (at - 1) / 2)
        p->gpus[at] = p->gpus[(at - 1) / 2];
    p->gpus[at] = gpu;
}

static void offer_server(struct pick *p, const struct batch_load_ask *ask, int32_t server)
{
    const struct gang *g = p->l->g;
    for (int32_t gpu = g->server_gpu[server]; gpu < g->server_gpu[server + 1]; gpu++)
        if (p->l->gpu_s[gpu] + ask->add_s <= ask->limit_s)
            pick_offer(p, gpu);
}

static int batch_load_compare_gpus(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The job is planned on these GPUs, if they are enough. */
static bool load_settle(struct batch_load *l, int32_t *gpus, int32_t n, const struct batch_load_ask *ask)
{
    double free_s = 0;
    if (n < ask->gpus)
        return false;
    qsort(gpus, (size_t)n, sizeof *gpus, batch_load_compare_gpus);
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

static bool load_take(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask, bool packed)
{
    struct pick p = { .l = l, .packed = packed, .gpus = out, .want = ask->gpus };
    for (int32_t s = 0; s < l->g->p->cluster.n_servers; s++)
        offer_server(&p, ask, s);
    return load_settle(l, out, p.n, ask);
}

bool batch_load_take_least(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask)
{
    return load_take(l, out, ask, false);
}

bool batch_load_take_packed(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask)
{
    return load_take(l, out, ask, true);
}

static int compare_ranks(const void *a, const void *b)
{
    const struct batch_load_rank *x = a, *y = b;
    if (x->mean_s != y->mean_s)
        return x->mean_s < y->mean_s ? -1 : 1;
    return (x->server > y->server) - (x->server < y->server);
}

bool batch_load_take_balanced(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask,
                              double lambda)
{
    const struct batch_cluster *c = &l->g->p->cluster;
    struct pick p = { .l = l, .gpus = out, .want = ask->gpus };
    double room = 0;
    for (int32_t s = 0; s < c->n_servers; s++)
        l->ranks[s] = (struct batch_load_rank){ l->server_s[s] / c->gpus[s], s };
    qsort(l->ranks, (size_t)c->n_servers, sizeof *l->ranks, compare_ranks);
    for (int32_t i = 0; i < c->n_servers && room < lambda * ask->gpus; i++) {
        room += c->gpus[l->ranks[i].server];
        offer_server(&p, ask, l->ranks[i].server);
    }
    return load_settle(l, out, p.n, ask);
}

bool batch_load_take_first(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask)
{
    int32_t n = 0;
    for (int32_t gpu = 0; gpu < l->g->n_gpus && n < ask->gpus; gpu++)
        if (l->gpu_s[gpu] + ask->add_s <= ask->limit_s)
            out[n++] = gpu;
    return load_settle(l, out, n, ask);
}

/* Streams of the seed: the order is the same for all schedulers. */
/* Apart from those that jobs and servers are drawn from with the same seed (sjf_bco.c). */
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

static int batch_order_compare_gpus(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Start from the head of the order what can start now. */
static int lottery_start(struct lottery *l, struct err *e)
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
        qsort(gpus, (size_t)n, sizeof *gpus, batch_order_compare_gpus);
        rc = crew_start(l->crew, job, gpus, e);
    }
    return rc ? rc : crew_settle(l->crew, e);
}

/* Go to when something happens; GPUs of jobs that end are idle again. */
static int batch_order_go_on(struct lottery *l, struct err *e)
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
    return lottery_start(l, e);
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
        rc = lottery_start(&l, e);
    }
    while (!rc && (crew->n_running > 0 || l.next < g->p->n_jobs))
        rc = batch_order_go_on(&l, e);
    rng_free(l.rng);
    free(l.idle);
    return rc;
}
