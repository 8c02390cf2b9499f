/* Orders that stop jobs for others: the walk that they share, and shortest remaining time first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/events/events.h"

/* What is left of a resource is a difference of sums: so much of rounding is forgiven. */
#define SLACK 1e-9

/* Keys of those that run change with time, but seldom their order. By insertion, nearly linear then. */
static void srtf_sort_running(struct events_state *x)
{
    for (int32_t i = 0; i < x->n_running; i++)
        x->kind->find_key(&x->live[x->running[i]].key, x, x->running[i]);
    for (int32_t i = 1; i < x->n_running; i++) {
        int32_t job = x->running[i], at = i;
        for (; at > 0 && order_before(x->live, job, x->running[at - 1]); at--) {
            x->running[at] = x->running[at - 1];
            x->live[x->running[at]].at = at;
        }
        x->running[at] = job;
        x->live[job].at = at;
    }
}

/* Jobs that this walk begins and ends; both in the order of the walk. */
struct srtf_choice {
    double left[CLUSTER_MAX_TYPES][CLUSTER_MAX_RESOURCES];
    int32_t *start, *on, *stop; /* on: the type that a job starts on */
    int32_t n_start, n_stop;
};

/* Is there room for a job on one type? In sums over all servers: a job may get room here and no place there
 * (choice_carry_out()). */
static bool choice_has(const struct srtf_choice *c, const struct events_state *x, const struct job *job,
                       int32_t type)
{
    const double *left = c->left[type];
    if (job->gpus > left[0])
        return false;
    for (int32_t r = 1; r < x->p->cluster->n_resources; r++)
        if (!(job->gpus * job->demand[r] <= left[r] + SLACK * x->of_type[type][r]))
            return false;
    return true;
}

/* Take it on type @p own, if there is room, else on the fastest that has some; -1: none has. */
static int32_t choice_take(struct srtf_choice *c, const struct events_state *x, int32_t number, int32_t own)
{
    const struct job *job = &x->p->jobs[number];
    int32_t best = own >= 0 && choice_has(c, x, job, own) ? own : -1;
    double best_s = best < 0 ? (double)INFINITY : 0;
    for (int32_t t = 0; t < x->n_types; t++)
        if (events_type_s(x, number, t) < best_s && choice_has(c, x, job, t)) {
            best = t;
            best_s = events_type_s(x, number, t);
        }
    if (best < 0)
        return -1;
    c->left[best][0] -= job->gpus;
    for (int32_t r = 1; r < x->p->cluster->n_resources; r++)
        c->left[best][r] -= job->gpus * job->demand[r];
    return best;
}

static void choice_start(struct srtf_choice *c, int32_t job, int32_t type)
{
    c->on[c->n_start] = type;
    c->start[c->n_start++] = job;
}

static bool choice_may_start(const struct srtf_choice *c, const struct events_state *x, int32_t smallest)
{
    bool may = false;
    for (int32_t t = 0; t < x->n_types; t++)
        may = may || c->left[t][0] >= smallest;
    return may;
}

/* Both lists are in order, so they are merged. Those that wait are left when not even the smallest of them
 * has room; those that run are walked to the end, for whoever finds no room must stop. */
static void choice_walk(struct srtf_choice *c, const struct events_state *x)
{
    int32_t smallest = order_smallest(x), i = 0, k = 0;
    memcpy(c->left, x->of_type, sizeof c->left);
    for (;;) {
        bool waits = i < x->waiting.n && choice_may_start(c, x, smallest);
        if (!waits && k == x->n_running)
            break;
        if (waits &&
            (k == x->n_running || order_before(x->live, order_list_at(&x->waiting, i), x->running[k]))) {
            int32_t job = order_list_at(&x->waiting, i++), type = choice_take(c, x, job, -1);
            if (type >= 0)
                choice_start(c, job, type);
        } else {
            int32_t job = x->running[k++], own = x->live[job].type, type = choice_take(c, x, job, own);
            if (type != own)
                c->stop[c->n_stop++] = job;
            if (type != own && type >= 0)
                choice_start(c, job, type);
        }
    }
}

/* Stops first: they make the room. */
static int choice_carry_out(struct events_state *x, const struct srtf_choice *c, struct err *e)
{
    bool all = true, started;
    int rc = 0;
    for (int32_t i = 0; i < c->n_stop && !rc; i++)
        rc = events_stop(x, c->stop[i], e);
    for (int32_t i = 0; i < c->n_start && !rc; i++) {
        rc = events_start_on(x, c->start[i], c->on[i], &started, e);
        all = all && started;
    }
    /* Somebody found no place: those that were stopped for it may. */
    for (int32_t i = 0; i < c->n_stop && !all && !rc; i++)
        if (x->live[c->stop[i]].phase == LIVE_WAITS)
            rc = events_start(x, c->stop[i], &started, e);
    return rc;
}

int order_choose_all(struct events_state *x, struct err *e)
{
    struct srtf_choice c = { .n_start = 0 };
    int rc = 0;
    if (x->waiting.n == 0)
        return 0;
    srtf_sort_running(x);
    size_t n = (size_t)x->waiting.n + (size_t)x->n_running;
    c.start = malloc(n * sizeof *c.start);
    c.on = malloc(n * sizeof *c.on);
    c.stop = malloc(n * sizeof *c.stop);
    if (!c.start || !c.on || !c.stop) {
        rc = err_nomem(e, "waiting jobs");
    } else {
        choice_walk(&c, x);
        rc = choice_carry_out(x, &c, e);
    }
    free(c.start);
    free(c.on);
    free(c.stop);
    return rc;
}

static void srtf_key(struct order_key *out, const struct events_state *x, int32_t job)
{
    const struct live_job *live = &x->live[job];
    *out = (struct order_key){ order_time_key((live->work - events_done(x, job)) * live->ideal_s),
                               x->p->jobs[job].submit_s };
}

const struct order_kind order_srtf = { .name = "srtf",
                                       .help = "least ideal time left first; stops others",
                                       .reads = ORDER_STOPS,
                                       .find_key = srtf_key,
                                       .choose = order_choose_all };
