#include "sim/batch/sjf_bco.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/batch/batch.h"

int contention_check(const struct contention *c, struct err *e)
{
    if (!(c->outer_Bps > 0 && isfinite(c->outer_Bps)))
        return err_set(e, ERR_RANGE, "outer_Bps: is %g, need above 0 and finite", c->outer_Bps);
    if (!(c->inner_Bps >= c->outer_Bps))
        return err_set(e, ERR_RANGE, "inner_Bps: is %g, need at least outer_Bps, %g", c->inner_Bps,
                       c->outer_Bps);
    if (!(c->reduce_Bps > 0))
        return err_set(e, ERR_RANGE, "reduce_Bps: is %g, need above 0", c->reduce_Bps);
    if (!(c->share_frac > 0 && c->share_frac <= 1))
        return err_set(e, ERR_RANGE, "share_frac: is %g, need above 0, at most 1", c->share_frac);
    if (!(c->alpha >= 0 && isfinite(c->alpha)))
        return err_set(e, ERR_RANGE, "alpha: is %g, need 0 or more", c->alpha);
    return 0;
}

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
static int32_t fewest_servers(const struct batch_cluster *cluster, int32_t gpus)
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
        int32_t least = fewest_servers(&p->cluster, job->gpus);
        phi =
            fmax(phi, contention_iteration_s(c, job, most, crowd) / contention_iteration_s(c, job, least, 1));
    }
    return phi;
}

/* One job; place.n == 0: it does not run. */
struct runner {
    struct pace_place place;
    double iteration_s; /* 0: not known yet */
    bool touched;       /* in `touched` */
};

/* The jobs on one server that are on others as well. */
struct meeting {
    int32_t *jobs; /* shape [n], borrowed from `met` */
    int32_t n;
};

struct paper {
    struct arena arena; /* of all arrays */
    struct contention c;
    const struct job *jobs;
    struct runner *runners;   /* shape [n_jobs] */
    struct meeting *meetings; /* shape [n_servers] */
    int32_t *met;             /* room for as many jobs on a server as it has GPUs */
    int32_t *touched;         /* shape [n_jobs]; jobs whom a start or an end may have changed */
    int32_t *changed;         /* shape [n_jobs] */
    int32_t n_touched;
};

static void paper_touch(struct paper *m, int32_t job)
{
    if (m->runners[job].touched)
        return;
    m->runners[job].touched = true;
    m->touched[m->n_touched++] = job;
}

static void paper_touch_meeting(struct paper *m, const struct meeting *on)
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
        struct meeting *on = &m->meetings[place->servers[i]];
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
        struct meeting *on = &m->meetings[place->servers[i]];
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
        struct runner *r = &m->runners[m->touched[i]];
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
    int rc = contention_check(c, e);
    if (!rc)
        rc = batch_check(p, e);
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

struct sjf_search {
    struct batch_work *w;
    const struct gang *g;
    const struct batch_settings *s;
    struct batch_load load;
    struct gang_plan trial; /* its order is the best one's: all plans have the same */
    struct batch_result *out;
};

struct size {
    int32_t gpus, job;
};

static int compare_sizes(const void *a, const void *b)
{
    const struct size *x = a, *y = b;
    if (x->gpus != y->gpus)
        return x->gpus < y->gpus ? -1 : 1;
    return (x->job > y->job) - (x->job < y->job);
}

static int order_by_size(int32_t *order, const struct batch_problem *p, struct err *e)
{
    struct size *sizes = malloc((size_t)p->n_jobs * sizeof *sizes);
    if (!sizes)
        return err_nomem(e, "sizes of jobs");
    for (int32_t i = 0; i < p->n_jobs; i++)
        sizes[i] = (struct size){ p->jobs[i].gpus, i };
    qsort(sizes, (size_t)p->n_jobs, sizeof *sizes, compare_sizes);
    for (int32_t i = 0; i < p->n_jobs; i++)
        order[i] = sizes[i].job;
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
    batch_load_reset(&x->load);
    for (int32_t i = 0; i < x->g->p->n_jobs; i++) {
        int32_t number = x->trial.order[i], *gpus = x->trial.gpus + x->g->seat[number];
        const struct job *job = &x->g->p->jobs[number];
        const struct batch_load_ask ask = { job->gpus, job->expected_s / x->s->under, (double)theta };
        bool found;
        if (job->gpus > kappa)
            found = batch_load_take_balanced(&x->load, gpus, &ask, x->s->lambda);
        else if (x->s->literal_pack)
            found = batch_load_take_least(&x->load, gpus, &ask);
        else
            found = batch_load_take_packed(&x->load, gpus, &ask);
        if (!found)
            return false;
    }
    return true;
}

static double last_end(const struct crew *crew)
{
    double end_s = 0;
    for (int32_t i = 0; i < crew->g->p->n_jobs; i++)
        end_s = fmax(end_s, crew->spans[i].end_s);
    return end_s;
}

/* Makespan of the plan for theta and kappa, INFINITY when there is none; kept when it is the best so far. */
static int try_plan(struct sjf_search *x, int64_t theta, int32_t kappa, double *makespan_s, struct err *e)
{
    struct batch_result *out = x->out;
    *makespan_s = INFINITY;
    if (!sjf_make_plan(x, theta, kappa))
        return 0;
    int rc = queues_run(&x->w->queues, &x->trial, &x->w->crew, e);
    if (rc)
        return rc;
    out->n_plans++;
    *makespan_s = last_end(&x->w->crew);
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
static int32_t next_size(const struct sjf_search *x, int32_t kappa)
{
    for (int32_t i = 0; i < x->g->p->n_jobs; i++) {
        int32_t gpus = x->g->p->jobs[x->trial.order[i]].gpus;
        if (gpus > kappa)
            return gpus;
    }
    return x->g->most_gpus + 1;
}

/* Every kappa, or the one asked for. */
static int try_theta(struct sjf_search *x, int64_t theta, struct err *e)
{
    double *by_kappa_s = x->out->kappa_makespan_s, makespan_s;
    int32_t most = x->g->most_gpus;
    int rc = 0;
    if (x->s->kappa > 0) {
        int32_t kappa = x->s->kappa < most ? x->s->kappa : most;
        rc = try_plan(x, theta, kappa, &makespan_s, e);
        by_kappa_s[kappa - 1] = fmin(by_kappa_s[kappa - 1], makespan_s);
        return rc;
    }
    for (int32_t kappa = 1, next; !rc && kappa <= most; kappa = next) {
        next = next_size(x, kappa);
        rc = try_plan(x, theta, kappa, &makespan_s, e);
        for (int32_t same = kappa; same < next; same++)
            by_kappa_s[same - 1] = fmin(by_kappa_s[same - 1], makespan_s);
    }
    return rc;
}

/* No plan has all loads below the mean of them, or below the longest job. */
static int64_t lowest_limit(const struct sjf_search *x)
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
static int double_up(struct sjf_search *x, int64_t low, int64_t most, int64_t *theta, struct err *e)
{
    *theta = low;
    while (*theta <= most) {
        int rc = try_theta(x, *theta, e);
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
        int rc = try_theta(x, theta, e);
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
static int try_above(struct sjf_search *x, int64_t least, int64_t most, struct err *e)
{
    double last = (double)least;
    int rc = 0;
    for (int32_t i = 1; !rc && i <= x->s->more_limits; i++) {
        double theta = ceil((double)least * (1 + i / 50.0));
        if (theta > (double)most)
            break;
        if (theta > last)
            rc = try_theta(x, (int64_t)theta, e);
        last = theta;
    }
    return rc;
}

static int sjf_search_limits(struct sjf_search *x, struct err *e)
{
    int64_t most = x->s->theta_max > 0 ? x->s->theta_max : sjf_bco_theta_max(x->g->p, x->s), least = most;
    int rc;
    if (x->s->literal_bisect) {
        rc = sjf_bisect(x, 1, most, &least, e);
    } else {
        int64_t low = lowest_limit(x);
        rc = double_up(x, low, most, &least, e);
        if (!rc && least > 0)
            rc = sjf_bisect(x, least / 2 + 1 > low ? least / 2 + 1 : low, least - 1, &least, e);
    }
    return rc || x->out->n_plans == 0 ? rc : try_above(x, least, most, e);
}

int sjf_bco_run(struct batch_work *w, struct err *e)
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
        rc = order_by_size(x.trial.order, x.g->p, e);
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

struct sjf_draw_settings sjf_draw_default(void)
{
    return (struct sjf_draw_settings){
        .kinds = { { 1, 80 }, { 2, 14 }, { 4, 26 }, { 8, 30 }, { 16, 8 }, { 32, 2 } },
        .n_kinds = 6,
        .server_gpus = { 4, 8, 16, 32 },
        .n_server_sizes = 4,
        .n_servers = 20,
        .iterations = { 1000, 6000 },
        .iteration_s = { 0.01, 0.05 },
        .run_s = { 50, 300 },
        .comm_frac = 0.2,
        .server_frac = 0.01,
        .inner_ratio = 30,
        .share_frac = 0.5,
        .alpha = 0.5,
        .seed = 1,
    };
}

static int sjf_draw_check_reals(const struct sjf_draw_settings *s, struct err *e)
{
    const double most = 1e9;
    const struct {
        const char *name;
        double x, least;
    } reals[] = {
        { "iterations_min", s->iterations.lo, 1 },
        { "iterations_max", s->iterations.hi, s->iterations.lo },
        { "iteration_min_s", s->iteration_s.lo, 1 / most },
        { "iteration_max_s", s->iteration_s.hi, s->iteration_s.lo },
        { "run_min_s", s->run_s.lo, 0 },
        { "run_max_s", s->run_s.hi, s->run_s.lo },
        { "comm_frac", s->comm_frac, 0 },
        { "server_frac", s->server_frac, 0 },
        { "inner_ratio", s->inner_ratio, 1 },
    };
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (!(reals[i].x >= reals[i].least && reals[i].x <= most))
            return err_set(e, ERR_RANGE, "%s: is %g, need %g to %g", reals[i].name, reals[i].x,
                           reals[i].least, most);
    return 0;
}

static int sjf_draw_check(int32_t *n_jobs, const struct sjf_draw_settings *s, struct err *e)
{
    if (s->n_kinds < 1 || s->n_kinds > SJF_DRAW_MAX_KINDS)
        return err_set(e, ERR_RANGE, "n_kinds: is %d, need 1 to %d", (int)s->n_kinds, SJF_DRAW_MAX_KINDS);
    if (s->n_server_sizes < 1 || s->n_server_sizes > SJF_DRAW_MAX_KINDS)
        return err_set(e, ERR_RANGE, "n_server_sizes: is %d, need 1 to %d", (int)s->n_server_sizes,
                       SJF_DRAW_MAX_KINDS);
    if (s->n_servers < 1 || s->n_servers > BATCH_MAX_GPUS)
        return err_set(e, ERR_RANGE, "n_servers: is %d, need 1 to %d", (int)s->n_servers, BATCH_MAX_GPUS);
    int64_t sum = 0;
    for (int32_t i = 0; i < s->n_kinds; i++) {
        if (s->kinds[i].n_jobs < 0)
            return err_set(e, ERR_RANGE, "kinds[%d].n_jobs: is %d, need 0 or more", (int)i,
                           (int)s->kinds[i].n_jobs);
        sum += s->kinds[i].n_jobs;
    }
    if (sum < 1 || sum > BATCH_MAX_JOBS)
        return err_set(e, ERR_RANGE, "kinds: are %lld jobs, need 1 to %d", (long long)sum, BATCH_MAX_JOBS);
    *n_jobs = (int32_t)sum;
    return sjf_draw_check_reals(s, e);
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
                   "run_s: is %g to %g, need times that iterations times iteration_s can come to",
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
    int rc = sjf_draw_check(&n_jobs, s, e);
    if (rc)
        return rc;
    d->contention = (struct contention){ .outer_Bps = OUTER_Bps,
                                         .inner_Bps = s->inner_ratio * OUTER_Bps,
                                         .reduce_Bps = INFINITY, /* its time is part of c */
                                         .share_frac = s->share_frac,
                                         .alpha = s->alpha };
    d->jobs = calloc((size_t)n_jobs, sizeof *d->jobs);
    d->gpus = calloc((size_t)s->n_servers, sizeof *d->gpus);
    if (!d->jobs || !d->gpus)
        return err_nomem(e, "a batch of jobs");
    rc = sjf_draw_servers(d, s, e);
    if (!rc)
        rc = sjf_draw_jobs(d, s, e);
    d->problem.jobs = d->jobs;
    d->problem.n_jobs = n_jobs;
    if (!rc)
        rc = contention_check(&d->contention, e);
    return rc ? rc : batch_check(&d->problem, e);
}

void sjf_draw_free(struct sjf_draw *d)
{
    free(d->jobs);
    free(d->gpus);
    *d = (struct sjf_draw){ 0 };
}
