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
    double from_s; /* when enough is free */
    int64_t spare; /* GPUs that are free then beyond its own */
};

/* The jobs that began at this time have no end yet: they are counted by their ideal time. */
static double fifo_expected_end(const struct events_state *x, int32_t job)
{
    const struct live_job *live = &x->live[job];
    double pace_s = isnan(live->iteration_s) ? live->ideal_s : live->iteration_s;
    return fmax(live->since_s, x->now_s) + (live->work - events_done(x, job)) * pace_s;
}

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
    int32_t need = x->p->jobs[head].gpus;
    *out = (struct reservation){ x->now_s, pack_idle(x->pack) - need };
    for (int32_t i = 0; i < x->n_running && out->spare < 0; i++) {
        out->spare += x->p->jobs[list[i].at].gpus;
        out->from_s = list[i].key;
    }
    free(list);
    return 0;
}

static int fifo_backfill(struct events_state *x, struct err *e)
{
    struct reservation r = { 0, 0 };
    int rc = fifo_reserve(&r, x, order_list_at(&x->waiting, 0), e);
    for (int32_t i = 1; i < x->waiting.n && pack_idle(x->pack) >= order_smallest(x) && !rc;) {
        int32_t job = order_list_at(&x->waiting, i);
        const struct live_job *live = &x->live[job];
        bool ends = x->now_s + (live->work - live->done) * live->ideal_s <= r.from_s;
        bool started = false;
        if (ends || x->p->jobs[job].gpus <= r.spare)
            rc = events_start(x, job, &started, e);
        if (started && !ends)
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
    for (int32_t i = 0; i < x->waiting.n && pack_idle(x->pack) >= order_smallest(x) && !rc;) {
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
