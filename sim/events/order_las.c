/* Least attained service: queues by GPU-seconds as in Tiresias (J. Gu et al., NSDI 2019), or continuous. */
#include <math.h>
#include <stdlib.h>

#include "sim/events/events.h"

/* When running jobs fall to the next queue. */
struct las {
    struct event_heap falls;
};

static int las_build(struct events_state *x, struct err *e)
{
    struct las *las = x->own = calloc(1, sizeof *las);
    return las ? 0 : err_nomem(e, "queues");
}

static void las_free(void *own)
{
    struct las *las = own;
    if (las)
        event_heap_free(&las->falls);
    free(las);
}

static void las_key(struct order_key *out, const struct events_state *x, int32_t job)
{
    double submit_s = x->p->jobs[job].submit_s;
    if (x->s->las_queues > 0)
        *out = (struct order_key){ x->live[job].queue, submit_s };
    else
        *out = (struct order_key){ events_gpu_s(x, job), submit_s };
}

/* Queue the fall of a running job, if there is a queue below its own. */
static int las_await_fall(struct events_state *x, int32_t job, struct err *e)
{
    struct las *las = x->own;
    const struct live_job *live = &x->live[job];
    if (live->queue >= x->s->las_queues - 1)
        return 0;
    /*
     * By what it has attained, on all its GPUs at once; time that it is set up again counts, for it holds
     * them.
     */
    double left_gpu_s = x->s->las_at[live->queue] - events_gpu_s(x, job);
    return event_heap_set(&las->falls, job, x->now_s + fmax(0, left_gpu_s) / x->p->jobs[job].gpus, e);
}

/* What it attained is kept; the fall is found anew when it runs again. */
static void las_end(struct events_state *x, int32_t job)
{
    struct las *las = x->own;
    event_heap_remove(&las->falls, job);
}

static double las_next_s(const struct events_state *x)
{
    const struct las *las = x->own;
    if (x->s->las_queues > 0)
        return event_heap_time(&las->falls);
    if (x->waiting.n == 0 || x->n_running == 0)
        return INFINITY;
    /* A round that is lost in rounding is the shortest there is, so that time goes on. */
    return fmax(x->now_s + x->s->round_s, nextafter(x->now_s, INFINITY));
}

/* Who is at its limit falls, whatever rounding says of the sum. */
static int las_wake(struct events_state *x, struct err *e)
{
    struct las *las = x->own;
    int rc = 0;
    while (event_heap_time(&las->falls) <= x->now_s && !rc) {
        int32_t job = event_heap_first(&las->falls);
        event_heap_remove(&las->falls, job);
        x->live[job].queue++;
        rc = las_await_fall(x, job, e);
    }
    return rc;
}

const struct order_kind order_las = { .name = "las",
                                      .help = "least GPU-seconds so far first, by queues; stops others",
                                      .reads = ORDER_STOPS | ORDER_ATTAINED,
                                      .build = las_build,
                                      .free = las_free,
                                      .find_key = las_key,
                                      .begin = las_await_fall,
                                      .end = las_end,
                                      .choose = order_choose_all,
                                      .next_s = las_next_s,
                                      .wake = las_wake };
