/* Orders that stop nobody: first in, first out, and shortest or smallest job first. */
#include <math.h>
#include <stdlib.h>

#include "base/stat.h"
#include "sim/events/events.h"

static void fifo_key(struct order_key *out, const struct events_state *x, int32_t job)
{
    *out = (struct order_key){ x->p->jobs[job].submit_s, 0 };
}

/* ---- backfilling ---- */

/* What the first job in the queue waits for. */
struct reservation {
    int32_t type;  /* of NPU */
    double from_s; /* when enough of them is free */
    int64_t spare; /* GPUs that are free then beyond its own */
};

/* The jobs that began at this time have no end yet: they are counted by their ideal time. */
static double fifo_expected_end(const struct events_state *x, int32_t job)
{
    const struct live_job *live = &x->live[job];
    double pace_s = isnan(live->iteration_s) ? events_type_s(x, job, live->type) : live->iteration_s;
    return fmax(live->since_s, x->now_s) + (live->work - events_done(x, job)) * pace_s;
}

/* @p list: those that run, by their ends. */
static struct reservation fifo_reserve_on(const struct events_state *x, int32_t head, int32_t type,
                                          const struct stat_rank *list)
{
    struct reservation r = { type, x->now_s, pack_idle(x->packs[type]) - x->p->jobs[head].gpus };
    for (int32_t i = 0; i < x->n_running && r.spare < 0; i++)
        if (x->live[list[i].at].type == type) {
            r.spare += x->p->jobs[list[i].at].gpus;
            r.from_s = list[i].key;
        }
    return r;
}

/* Of the types on which it runs that where it starts first. */
static int fifo_reserve(struct reservation *out, const struct events_state *x, int32_t head, struct err *e)
{
    struct stat_rank *list = malloc((size_t)(x->n_running + 1) * sizeof *list);
    if (!list)
        return err_nomem(e, "running jobs");
    for (int32_t i = 0; i < x->n_running; i++) {
        int32_t job = x->running[i];
        list[i] = (struct stat_rank){ fifo_expected_end(x, job), job };
    }
    stat_sort_ranks(list, x->n_running);
    *out = (struct reservation){ -1, INFINITY, 0 };
    for (int32_t t = 0; t < x->n_types; t++) {
        if (isinf(events_type_s(x, head, t)))
            continue;
        struct reservation r = fifo_reserve_on(x, head, t, list);
        if (out->type < 0 || r.from_s < out->from_s)
            *out = r;
    }
    free(list);
    return 0;
}

/* Does it end before the head of the queue needs its GPUs? */
static bool fifo_ends_before(const struct events_state *x, int32_t job, const struct reservation *r)
{
    const struct live_job *live = &x->live[job];
    return x->now_s + (live->work - live->done) * events_type_s(x, job, r->type) <= r->from_s;
}

/* The fastest type with room for a job where it delays nobody; -1: none. */
static int32_t fifo_backfill_type(const struct events_state *x, int32_t job, const struct reservation *r)
{
    const struct job *spec = &x->p->jobs[job];
    double best_s = INFINITY;
    int32_t best = -1;
    for (int32_t t = 0; t < x->n_types; t++) {
        bool delays = t == r->type && spec->gpus > r->spare && !fifo_ends_before(x, job, r);
        if (!delays && events_type_s(x, job, t) < best_s && pack_fits(x->packs[t], spec)) {
            best = t;
            best_s = events_type_s(x, job, t);
        }
    }
    return best;
}

static int fifo_backfill(struct events_state *x, struct err *e)
{
    struct reservation r = { 0, 0, 0 };
    int rc = fifo_reserve(&r, x, order_list_at(&x->waiting, 0), e);
    for (int32_t i = 1; i < x->waiting.n && events_idle(x) >= order_smallest(x) && !rc;) {
        int32_t job = order_list_at(&x->waiting, i), type = fifo_backfill_type(x, job, &r);
        bool started = false;
        if (type >= 0)
            rc = events_start_on(x, job, type, &started, e);
        if (started && type == r.type && !fifo_ends_before(x, job, &r))
            r.spare -= x->p->jobs[job].gpus;
        i += started ? 0 : 1;
    }
    return rc;
}

static int fifo_choose(struct events_state *x, struct err *e)
{
    bool started = true;
    int rc = 0;
    while (x->waiting.n > 0 && started && !rc)
        rc = events_start(x, order_list_at(&x->waiting, 0), &started, e);
    if (rc || x->waiting.n < 2 || !x->s->backfill)
        return rc;
    return fifo_backfill(x, e);
}

const struct order_kind order_fifo = {
    .name = "fifo",
    .help = "first submitted, first started; who does not fit makes all behind wait",
    .reads = ORDER_BACKFILLS,
    .find_key = fifo_key,
    .choose = fifo_choose
};

/* ---- shortest and smallest job first ---- */

static void sjf_key(struct order_key *out, const struct events_state *x, int32_t job)
{
    const struct live_job *live = &x->live[job];
    *out = (struct order_key){ order_time_key(live->work * live->ideal_s), x->p->jobs[job].submit_s };
}

static void sjf_gpu_key(struct order_key *out, const struct events_state *x, int32_t job)
{
    const struct live_job *live = &x->live[job];
    *out = (struct order_key){ order_time_key(x->p->jobs[job].gpus * live->work * live->ideal_s),
                               x->p->jobs[job].submit_s };
}

int order_choose_waiting(struct events_state *x, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < x->waiting.n && events_idle(x) >= order_smallest(x) && !rc;) {
        bool started;
        rc = events_start(x, order_list_at(&x->waiting, i), &started, e);
        i += started ? 0 : 1;
    }
    return rc;
}

const struct order_kind order_sjf = {
    .name = "sjf", .help = "least ideal run time first", .find_key = sjf_key, .choose = order_choose_waiting
};

const struct order_kind order_sjf_gpu = { .name = "sjf-gpu",
                                          .help = "least GPUs times ideal run time first",
                                          .find_key = sjf_gpu_key,
                                          .choose = order_choose_waiting };
