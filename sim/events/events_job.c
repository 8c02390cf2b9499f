/* What happens to one job: it waits, starts, changes its pace, stops, ends. */
#include <math.h>

#include "base/array.h"
#include "sim/events/events_state.h"

double events_done(const struct events_state *x, int32_t job)
{
    const struct live_job *live = &x->live[job];
    /* NaN pace: it began just now. */
    if (live->phase != LIVE_RUNS || !(x->now_s > live->since_s && isfinite(live->iteration_s)))
        return live->done;
    return fmin(live->work, live->done + (x->now_s - live->since_s) / live->iteration_s);
}

double events_gpu_s(const struct events_state *x, int32_t job)
{
    const struct live_job *live = &x->live[job];
    double held_s = live->phase == LIVE_RUNS ? x->now_s - live->from_s : 0;
    return live->gpu_s + x->p->jobs[job].gpus * held_s;
}

int events_wait(struct events_state *x, int32_t job, struct err *e)
{
    struct live_job *live = &x->live[job];
    int32_t gpus = x->p->jobs[job].gpus;
    live->phase = LIVE_WAITS;
    x->kind->find_key(&live->key, x, job);
    order_list_add(&x->waiting, x->live, job);
    if (x->size_count[gpus]++ == 0)
        bits_add(&x->sizes, gpus);
    return x->kind->wait ? x->kind->wait(x, job, e) : 0;
}

static void leave_queue(struct events_state *x, int32_t job)
{
    int32_t gpus = x->p->jobs[job].gpus;
    order_list_remove(&x->waiting, x->live, job);
    if (--x->size_count[gpus] == 0)
        bits_remove(&x->sizes, gpus);
}

static void note_start(struct events_state *x, int32_t job)
{
    struct events_job *r = &x->out->jobs[job];
    struct live_job *live = &x->live[job];
    if (isnan(r->start_s))
        r->start_s = x->now_s;
    if (live->place.n > r->servers)
        r->servers = live->place.n;
    live->phase = LIVE_RUNS;
    live->from_s = x->now_s;
    live->from_done = live->done;
    live->since_s = x->now_s + (r->stops > 0 ? x->s->overhead_s : 0);
    live->iteration_s = NAN;
    live->at = x->n_running;
    x->running[x->n_running++] = job;
    x->gpus_held += x->p->jobs[job].gpus;
}

int events_start(struct events_state *x, int32_t job, bool *started, struct err *e)
{
    const struct gang_job *spec = &x->p->jobs[job];
    struct live_job *live = &x->live[job];
    *started = pack_fits(x->pack, spec);
    if (!*started)
        return 0;
    int rc = pack_find(&live->place, x->pack, x->s->pack, spec, x->rng, e);
    if (rc)
        return rc;
    const struct pace_place place = { live->place.n, live->place.servers, live->place.gpus };
    rc = x->p->pace->begin(x->p->pace->x, job, &place, e);
    if (rc)
        return rc;
    pack_take(x->pack, spec, &live->place);
    leave_queue(x, job);
    note_start(x, job);
    return x->kind->begin ? x->kind->begin(x, job, e) : 0;
}

/* ---- progress ---- */

/* It has done so many iterations by now; their bytes go into the bins of links. Since since_s its pace is the
 * same. */
static void move_to(struct events_state *x, int32_t job, double done)
{
    struct live_job *live = &x->live[job];
    if (x->out->bins.bytes && done > live->done)
        pace_graph_spread(x->graph, job, done - live->done, &x->out->bins, live->since_s, x->now_s);
    live->done = done;
}

static int set_pace(struct events_state *x, int32_t job, double iteration_s, struct err *e)
{
    struct live_job *live = &x->live[job];
    if (iteration_s == live->iteration_s)
        return 0;
    move_to(x, job, events_done(x, job));
    live->since_s = fmax(live->since_s, x->now_s);
    live->iteration_s = iteration_s;
    double left = live->work - live->done;
    return event_heap_set(&x->ends, job, live->since_s + (left > 0 ? left * iteration_s : 0), e);
}

int events_pace(struct events_state *x, struct err *e)
{
    const struct pace *pace = x->p->pace;
    const int32_t *jobs;
    int32_t n;
    int rc = pace->changed(pace->x, &jobs, &n, e);
    for (int32_t i = 0; i < n && !rc; i++)
        rc = set_pace(x, jobs[i], pace->iteration_s(pace->x, jobs[i]), e);
    return rc;
}

static int note_spans(struct events_state *x, int32_t job, struct err *e)
{
    const struct live_job *live = &x->live[job];
    struct events_result *out = x->out;
    for (int32_t i = 0; i < live->place.n && x->s->keep_spans && x->now_s > live->from_s; i++) {
        struct events_span *grown = array_grow(out->spans, out->n_spans, &out->cap_spans, sizeof *grown);
        if (!grown)
            return err_nomem(e, "intervals of jobs");
        out->spans = grown;
        out->spans[out->n_spans++] =
            (struct events_span){ job, live->place.servers[i], live->place.gpus[i], live->from_s, x->now_s };
    }
    return 0;
}

/* All that counts up to now: time, progress, bytes. It still has its place. */
int events_leave(struct events_state *x, int32_t job, struct err *e)
{
    struct live_job *live = &x->live[job];
    struct events_job *r = &x->out->jobs[job];
    double held_s = x->now_s - live->from_s;
    double set_up_s = r->stops > 0 ? x->s->overhead_s : 0;
    move_to(x, job, events_done(x, job));
    live->gpu_s = events_gpu_s(x, job);
    r->run_s += held_s;
    r->iterations = live->done;
    if (x->graph) {
        double iterations = live->done - live->from_done;
        pace_graph_count(x->graph, job, iterations);
        live->moved_s += fmax(0, held_s - set_up_s);
        live->alone_s += iterations * pace_graph_alone_s(x->graph, job);
    }
    return note_spans(x, job, e);
}

static int vacate(struct events_state *x, int32_t job, struct err *e)
{
    struct live_job *live = &x->live[job];
    int rc = events_leave(x, job, e);
    x->p->pace->end(x->p->pace->x, job);
    pack_give(x->pack, &x->p->jobs[job], &live->place);
    event_heap_remove(&x->ends, job);
    x->gpus_held -= x->p->jobs[job].gpus;
    x->running[live->at] = x->running[--x->n_running];
    x->live[x->running[live->at]].at = live->at;
    live->phase = LIVE_DONE;
    if (x->kind->end)
        x->kind->end(x, job);
    pack_place_free(&live->place);
    return rc;
}

int events_stop(struct events_state *x, int32_t job, struct err *e)
{
    int rc = vacate(x, job, e);
    x->out->jobs[job].stops++;
    return rc ? rc : events_wait(x, job, e);
}

int events_finish(struct events_state *x, int32_t job, struct err *e)
{
    struct live_job *live = &x->live[job];
    struct events_job *r = &x->out->jobs[job];
    /* Its time has come: what rounding left of its work is done. */
    move_to(x, job, live->work);
    int rc = vacate(x, job, e);
    r->iterations = live->work;
    r->end = EVENTS_DONE;
    x->out->n_done++;
    r->end_s = x->now_s;
    r->jct_s = x->now_s - x->p->jobs[job].submit_s;
    r->wait_s = r->jct_s - r->run_s;
    r->slowdown = r->jct_s / r->ideal_s;
    return rc;
}
