#include "sim/batch/sjf_bco.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/batch/batch_load.h"

struct search {
    const struct gang *g;
    const struct batch_settings *s;
    struct crew *crew;
    struct queues *queues;
    struct batch_load load;
    struct gang_plan trial; /* its order is the best one's: all plans have the same */
    struct gang_plan *best;
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

int64_t sjf_bco_theta_max(const struct batch_problem *p, const struct batch_settings *s)
{
    double sum_s = 0;
    for (int32_t i = 0; i < p->n_jobs; i++)
        sum_s += p->jobs[i].expected_s / s->under;
    const double most = 4e18;                    /* fits int64_t; no batch takes so long */
    return (int64_t)fmin(ceil(sum_s) + 1, most); /* one more: loads are not added up in this order */
}

/* A plan in which no load is above theta; false when there is none. */
static bool make_plan(struct search *x, int64_t theta, int32_t kappa)
{
    batch_load_reset(&x->load);
    for (int32_t i = 0; i < x->g->p->n_jobs; i++) {
        int32_t number = x->trial.order[i], *gpus = x->trial.gpus + x->g->seat[number];
        const struct batch_job *job = &x->g->p->jobs[number];
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
static int try_plan(struct search *x, int64_t theta, int32_t kappa, double *makespan_s, struct err *e)
{
    struct batch_result *out = x->out;
    *makespan_s = INFINITY;
    if (!make_plan(x, theta, kappa))
        return 0;
    int rc = queues_run(x->queues, &x->trial, x->crew, e);
    if (rc)
        return rc;
    out->n_plans++;
    *makespan_s = last_end(x->crew);
    if (!(*makespan_s < out->makespan_s))
        return 0;
    out->makespan_s = *makespan_s;
    out->theta = theta;
    out->kappa = kappa;
    memcpy(x->best->gpus, x->trial.gpus, (size_t)x->g->seat[out->n_jobs] * sizeof *x->best->gpus);
    memcpy(out->jobs, x->crew->spans, (size_t)out->n_jobs * sizeof *out->jobs);
    return 0;
}

/* The least number above kappa that is the size of a job, else one above all. */
static int32_t next_size(const struct search *x, int32_t kappa)
{
    for (int32_t i = 0; i < x->g->p->n_jobs; i++) {
        int32_t gpus = x->g->p->jobs[x->trial.order[i]].gpus;
        if (gpus > kappa)
            return gpus;
    }
    return x->g->most_gpus + 1;
}

/* Every kappa, or the one asked for. */
static int try_theta(struct search *x, int64_t theta, struct err *e)
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
static int64_t lowest_limit(const struct search *x)
{
    const double most = 4e18; /* fits int64_t */
    double sum_s = 0, longest_s = 0;
    for (int32_t i = 0; i < x->g->p->n_jobs; i++) {
        const struct batch_job *job = &x->g->p->jobs[i];
        sum_s += job->gpus * job->expected_s / x->s->under;
        longest_s = fmax(longest_s, job->expected_s / x->s->under);
    }
    /* One lower: rounding may have put a sum just above a whole number. */
    return (int64_t)fmin(fmax(ceil(fmax(sum_s / x->g->n_gpus, longest_s)) - 1, 1), most);
}

/* Twice the limit until one gives a plan: *theta; 0 when none up to `most` does. */
static int double_up(struct search *x, int64_t low, int64_t most, int64_t *theta, struct err *e)
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
static int bisect(struct search *x, int64_t left, int64_t right, int64_t *least, struct err *e)
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
static int try_above(struct search *x, int64_t least, int64_t most, struct err *e)
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

static int search(struct search *x, struct err *e)
{
    int64_t most = x->s->theta_max > 0 ? x->s->theta_max : sjf_bco_theta_max(x->g->p, x->s), least = most;
    int rc;
    if (x->s->literal_bisect) {
        rc = bisect(x, 1, most, &least, e);
    } else {
        int64_t low = lowest_limit(x);
        rc = double_up(x, low, most, &least, e);
        if (!rc && least > 0)
            rc = bisect(x, least / 2 + 1 > low ? least / 2 + 1 : low, least - 1, &least, e);
    }
    return rc || x->out->n_plans == 0 ? rc : try_above(x, least, most, e);
}

int sjf_bco_run(struct batch_result *out, struct gang_plan *plan, struct crew *crew, struct queues *q,
                const struct batch_settings *s, struct err *e)
{
    struct search x = { .g = crew->g, .s = s, .crew = crew, .queues = q, .best = plan, .out = out };
    out->makespan_s = INFINITY;
    out->n_kappas = x.g->most_gpus;
    out->kappa_makespan_s = malloc((size_t)out->n_kappas * sizeof *out->kappa_makespan_s);
    for (int32_t i = 0; out->kappa_makespan_s && i < out->n_kappas; i++)
        out->kappa_makespan_s[i] = INFINITY;
    int rc = out->kappa_makespan_s ? 0 : err_nomem(e, "makespans");
    if (!rc)
        rc = batch_load_build(&x.load, x.g, !s->literal_load, e);
    if (!rc)
        rc = gang_plan_build(&x.trial, x.g, e);
    if (!rc)
        rc = order_by_size(x.trial.order, x.g->p, e);
    if (!rc)
        rc = search(&x, e);
    if (!rc) {
        memcpy(plan->order, x.trial.order, (size_t)out->n_jobs * sizeof *plan->order);
        out->status = out->makespan_s < INFINITY ? BATCH_DONE : BATCH_NO_PLAN;
    }
    batch_load_free(&x.load);
    gang_plan_free(&x.trial);
    return rc;
}
