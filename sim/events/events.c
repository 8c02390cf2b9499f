/*
 * Gang jobs from event to event: what happens to one job (it waits, starts, changes its pace, stops, ends),
 * what a run begins and ends with, and the loop. Who runs next is said by an order (order_*.c), where by
 * pack.c, how fast by a struct pace. Work done is counted from the last change of a job's pace, (now - since)
 * / iteration time, so that a run does not depend on events of others that left its pace as it was.
 */
#include "sim/events/events.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/stat.h"
#include "base/work.h"

#define ORDER_POINTER(NAME, name, word) [EVENTS_##NAME] = &order_##name,
const struct order_kind *const events_orders[N_EVENTS_ORDERS] = { EVENTS_ORDERS(ORDER_POINTER) };

/* ---- lists of jobs ---- */

double order_time_key(double s)
{
    enum { BITS = 32 };
    int exponent;
    double fraction = frexp(s, &exponent);
    return ldexp(nearbyint(ldexp(fraction, BITS)), exponent - BITS);
}

bool order_before(const struct live_job *live, int32_t a, int32_t b)
{
    const struct order_key *x = &live[a].key, *y = &live[b].key;
    if (x->first < y->first || x->first > y->first)
        return x->first < y->first;
    if (x->second < y->second || x->second > y->second)
        return x->second < y->second;
    return a < b;
}

/* How many of the list come before a job: where it stands, or would. */
static int32_t order_list_find(const struct order_list *list, const struct live_job *live, int32_t job)
{
    int32_t low = 0, high = list->n;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (order_before(live, order_list_at(list, middle), job))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The list slides through its array as jobs leave at the front; it is moved back only when it has come to the
 * end. The array holds all jobs, so there is always room then. */
static void order_list_add(struct order_list *list, const struct live_job *live, int32_t job)
{
    if (list->first + list->n == list->cap) {
        memmove(list->jobs, list->jobs + list->first, (size_t)list->n * sizeof *list->jobs);
        list->first = 0;
    }
    int32_t at = order_list_find(list, live, job), *slot = list->jobs + list->first + at;
    memmove(slot + 1, slot, (size_t)(list->n - at) * sizeof *slot);
    *slot = job;
    list->n++;
}

/*
 * Found by its key, which therefore must not change while the job waits: attained time and work stand still.
 */
static void order_list_remove(struct order_list *list, const struct live_job *live, int32_t job)
{
    int32_t at = order_list_find(list, live, job), *begin = list->jobs + list->first;
    assert(at < list->n && begin[at] == job);
    /* Jobs leave near the front. */
    memmove(begin + 1, begin, (size_t)at * sizeof *begin);
    list->first++;
    list->n--;
}

int32_t order_smallest(const struct events_state *x)
{
    int32_t gpus = bits_next(&x->sizes, 0);
    return gpus < 0 ? INT32_MAX : gpus;
}

/* ---- what happens to one job: it waits, starts, changes its pace, stops, ends ---- */

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

/* A job comes to wait. */
static int events_wait(struct events_state *x, int32_t job, struct err *e)
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

static void events_leave_queue(struct events_state *x, int32_t job)
{
    int32_t gpus = x->p->jobs[job].gpus;
    order_list_remove(&x->waiting, x->live, job);
    if (--x->size_count[gpus] == 0)
        bits_remove(&x->sizes, gpus);
}

/* A job that was stopped holds its GPUs without progress first: since_s lies ahead by so much. Its pace is
 * not known before events_pace() has asked the model, at the end of the event. */
static void events_note_start(struct events_state *x, int32_t job)
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

int64_t events_idle(const struct events_state *x)
{
    int64_t most = 0;
    for (int32_t t = 0; t < x->n_types; t++)
        most = pack_idle(x->packs[t]) > most ? pack_idle(x->packs[t]) : most;
    return most;
}

int events_start(struct events_state *x, int32_t job, bool *started, struct err *e)
{
    int32_t best = -1;
    double best_s = INFINITY;
    for (int32_t t = 0; t < x->n_types; t++)
        if (events_type_s(x, job, t) < best_s && pack_fits(x->packs[t], &x->p->jobs[job])) {
            best = t;
            best_s = events_type_s(x, job, t);
        }
    *started = false;
    return best < 0 ? 0 : events_start_on(x, job, best, started, e);
}

int events_start_on(struct events_state *x, int32_t job, int32_t type, bool *started, struct err *e)
{
    const struct job *spec = &x->p->jobs[job];
    struct live_job *live = &x->live[job];
    struct pack *pack = x->packs[type];
    *started = pack_fits(pack, spec);
    if (!*started)
        return 0;
    int rc = pack_find(&live->place, pack, x->s->pack, spec, x->rng, e);
    if (rc)
        return rc;
    /*
     * The model hears of the job before the servers give their GPUs: begin() may fail, pack_take() may not.
     */
    const struct pace_place place = { live->place.n, live->place.servers, live->place.gpus };
    rc = x->p->pace->begin(x->p->pace->x, job, &place, e);
    if (rc)
        return rc;
    pack_take(pack, spec, &live->place);
    live->type = type;
    events_leave_queue(x, job);
    events_note_start(x, job);
    return x->kind->begin ? x->kind->begin(x, job, e) : 0;
}

/* It has done so many iterations by now; their bytes go into the bins of links. Since since_s its pace is the
 * same. */
static void live_move_to(struct events_state *x, int32_t job, double done)
{
    struct live_job *live = &x->live[job];
    if (x->out->bins.bytes && done > live->done)
        pace_graph_spread(x->graph, job, done - live->done, &x->out->bins, live->since_s, x->now_s);
    live->done = done;
}

static int live_set_pace(struct events_state *x, int32_t job, double iteration_s, struct err *e)
{
    struct live_job *live = &x->live[job];
    /* Exactly the same pace: nothing is recounted, so that events of others leave no rounding in this job. */
    if (iteration_s == live->iteration_s)
        return 0;
    live_move_to(x, job, events_done(x, job));
    /* Not before the time that it is set up again. */
    live->since_s = fmax(live->since_s, x->now_s);
    live->iteration_s = iteration_s;
    double left = live->work - live->done;
    return event_heap_set(&x->ends, job, live->since_s + (left > 0 ? left * iteration_s : 0), e);
}

/* Learn the new speeds from the model. Once an event, after all that began and ended in it: a model of links
 * is solved once, not job by job. */
static int events_pace(struct events_state *x, struct err *e)
{
    const struct pace *pace = x->p->pace;
    const int32_t *jobs;
    int32_t n;
    int rc = pace->changed(pace->x, &jobs, &n, e);
    for (int32_t i = 0; i < n && !rc; i++)
        rc = live_set_pace(x, jobs[i], pace->iteration_s(pace->x, jobs[i]), e);
    return rc;
}

static int events_note_spans(struct events_state *x, int32_t job, struct err *e)
{
    const struct live_job *live = &x->live[job];
    struct events_result *out = x->out;
    for (int32_t i = 0; i < live->place.n && x->s->keep_spans && x->now_s > live->from_s; i++) {
        if (!vec_reserve(out->spans, out->cap_spans, out->n_spans + 1))
            return err_nomem(e, "intervals of jobs");
        out->spans[out->n_spans++] =
            (struct events_span){ job, live->place.servers[i], live->place.gpus[i], live->from_s, x->now_s };
    }
    return 0;
}

/* All that counts up to now: time, progress, bytes. It still has its place. */
static int events_leave(struct events_state *x, int32_t job, struct err *e)
{
    struct live_job *live = &x->live[job];
    struct events_job *r = &x->out->jobs[job];
    double held_s = x->now_s - live->from_s;
    double set_up_s = r->stops > 0 ? x->s->overhead_s : 0;
    live_move_to(x, job, events_done(x, job));
    live->gpu_s = events_gpu_s(x, job);
    x->out->gpu_s[live->type] += held_s * x->p->jobs[job].gpus;
    r->run_s += held_s;
    r->iterations = live->done;
    if (x->graph) {
        double iterations = live->done - live->from_done;
        pace_graph_count(x->graph, job, iterations);
        live->moved_s += fmax(0, held_s - set_up_s);
        live->alone_s += iterations * pace_graph_alone_s(x->graph, job);
    }
    return events_note_spans(x, job, e);
}

static int events_vacate(struct events_state *x, int32_t job, struct err *e)
{
    struct live_job *live = &x->live[job];
    int rc = events_leave(x, job, e);
    x->p->pace->end(x->p->pace->x, job);
    pack_give(x->packs[live->type], &x->p->jobs[job], &live->place);
    event_heap_remove(&x->ends, job);
    x->gpus_held -= x->p->jobs[job].gpus;
    /* The last takes its place: O(1), and orders that need one sort for themselves. */
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
    int rc = events_vacate(x, job, e);
    x->out->jobs[job].stops++;
    return rc ? rc : events_wait(x, job, e);
}

/* Ends this close (relative) are one event. */
#define SAME_TIME (1 + 0x1p-42)

/* A running job is done. It is the end that was due in the heap; sums are then set to what they must be,
 * where rounding is left. */
static int events_finish(struct events_state *x, int32_t job, struct err *e)
{
    struct live_job *live = &x->live[job];
    struct events_job *r = &x->out->jobs[job];
    /* Its time has come: what rounding left of its work is done. */
    live_move_to(x, job, live->work);
    int rc = events_vacate(x, job, e);
    r->iterations = live->work;
    r->end = EVENTS_DONE;
    x->out->n_done++;
    r->end_s = x->now_s;
    r->jct_s = x->now_s - x->p->jobs[job].submit_s;
    /* A job that went from place to place without waiting leaves rounding here. */
    double wait_s = r->jct_s - r->run_s;
    r->wait_s = wait_s > (SAME_TIME - 1) * x->now_s ? wait_s : 0;
    r->slowdown = r->jct_s / r->ideal_s;
    return rc;
}

/* ---- what a run begins with: settings and jobs checked, arrivals in order, ideal times ---- */

static int events_check(const struct events_problem *p, struct err *e)
{
    double gpus = cluster_total(p->cluster, 0);
    int rc = 0;
    if (p->n_jobs < 1 || p->n_jobs > JOB_MAX_JOBS)
        return err_set(e, ERR_RANGE, "queue has %d jobs, expected 1 to %d", (int)p->n_jobs,
                       (int)JOB_MAX_JOBS);
    for (int32_t i = 0; i < p->n_jobs && !rc; i++)
        rc = job_check(&p->jobs[i], i, p->cluster, gpus, e);
    return rc;
}

static int events_sort_arrivals(struct events_state *x, struct err *e)
{
    int32_t n = x->p->n_jobs;
    struct stat_rank *list = malloc((size_t)n * sizeof *list);
    if (!list)
        return err_nomem(e, "submissions");
    for (int32_t i = 0; i < n; i++)
        list[i] = (struct stat_rank){ x->p->jobs[i].submit_s, i };
    stat_sort_ranks(list, n);
    for (int32_t i = 0; i < n; i++)
        x->arrivals[i] = (int32_t)list[i].at;
    free(list);
    /* Time begins with the first one. */
    x->now_s = x->p->jobs[x->arrivals[0]].submit_s;
    x->out->first_s = x->now_s;
    return 0;
}

/* Iteration time of a job alone on one type of NPU, where topology puts it in the empty cluster. */
static int events_find_alone(double *out, struct events_state *x, int32_t job, int32_t type, struct err *e)
{
    const struct pace *pace = x->p->pace;
    const struct job *spec = &x->p->jobs[job];
    struct live_job *live = &x->live[job];
    const int32_t *changed;
    int32_t n;
    *out = INFINITY;
    if (!(spec->speed[type] > 0) || !pack_fits(x->packs[type], spec))
        return 0;
    int rc = pack_find(&live->place, x->packs[type], PACK_TOPOLOGY, spec, NULL, e);
    if (rc)
        return rc;
    const struct pace_place place = { live->place.n, live->place.servers, live->place.gpus };
    rc = pace->begin(pace->x, job, &place, e);
    if (rc)
        return rc;
    rc = pace->changed(pace->x, &changed, &n, e);
    *out = pace->iteration_s(pace->x, job);
    pace->end(pace->x, job);
    pack_place_free(&live->place);
    char name[JOB_NAME];
    if (!rc && !(*out > 0 && isfinite(*out)))
        return err_set(e, ERR_RANGE, "job %s: alone an iteration takes %g s, expected a number > 0",
                       job_name(name, spec, job), *out);
    return rc;
}

static int events_find_ideal(struct events_state *x, int32_t job, struct err *e)
{
    const struct job *spec = &x->p->jobs[job];
    struct live_job *live = &x->live[job];
    char name[JOB_NAME];
    int rc = 0;
    live->ideal_s = INFINITY;
    for (int32_t t = 0; t < x->n_types && !rc; t++) {
        double *type_s = &x->type_s[(int64_t)job * x->n_types + t];
        rc = events_find_alone(type_s, x, job, t, e);
        live->ideal_s = fmin(live->ideal_s, *type_s);
    }
    if (!rc && isinf(live->ideal_s))
        return err_set(
            e, ERR_RANGE,
            "job %s: runs on no type of NPU of the cluster, expected one that it fits with %d GPUs",
            job_name(name, spec, job), (int)spec->gpus);
    live->work = isnan(spec->iterations) ? spec->runtime_s / live->ideal_s : spec->iterations;
    x->out->jobs[job].ideal_s = live->work * live->ideal_s;
    return rc;
}

/* With the same model that the run uses, one job at a time on the empty cluster. The last call of changed()
 * takes note that all are gone, and counters of links begin anew. */
static int events_find_ideals(struct events_state *x, struct err *e)
{
    const struct pace *pace = x->p->pace;
    const int32_t *changed;
    int32_t n;
    int rc = 0;
    for (int32_t i = 0; i < x->p->n_jobs && !rc; i++)
        rc = events_find_ideal(x, i, e);
    if (!rc)
        rc = pace->changed(pace->x, &changed, &n, e);
    if (!rc && x->graph)
        pace_graph_reset(x->graph);
    return rc;
}

static int events_reserve(struct events_state *x, struct err *e)
{
    size_t n = (size_t)x->p->n_jobs;
    int32_t most = 0;
    for (int32_t i = 0; i < x->p->n_jobs; i++)
        most = x->p->jobs[i].gpus > most ? x->p->jobs[i].gpus : most;
    x->out->jobs = malloc(n * sizeof *x->out->jobs);
    x->live = ARENA_TAKE(&x->arena, n, *x->live);
    x->type_s = ARENA_TAKE(&x->arena, n * (size_t)x->n_types, *x->type_s);
    x->arrivals = ARENA_TAKE(&x->arena, n, *x->arrivals);
    x->running = ARENA_TAKE(&x->arena, n, *x->running);
    x->waiting.jobs = ARENA_TAKE(&x->arena, n, *x->waiting.jobs);
    x->waiting.cap = x->p->n_jobs;
    x->size_count = ARENA_TAKE(&x->arena, most + 1, *x->size_count);
    if (!x->out->jobs || x->arena.failed || !bits_build(&x->sizes, most + 1))
        return err_nomem(e, "jobs");
    for (size_t i = 0; i < n; i++)
        x->out->jobs[i] = (struct events_job){ .end = EVENTS_ABSENT,
                                               .start_s = NAN,
                                               .end_s = NAN,
                                               .jct_s = NAN,
                                               .wait_s = NAN,
                                               .slowdown = NAN,
                                               .stretch = NAN };
    return 0;
}

static void events_sum_cluster(struct events_state *x)
{
    const struct cluster *c = x->p->cluster;
    x->n_types = c->n_types;
    for (int32_t r = 0; r < c->n_resources; r++) {
        x->total[r] = cluster_total(c, r);
        for (int32_t s = 0; s < c->n_servers; s++)
            x->of_type[cluster_type(c, s)][r] += cluster_capacity(c, s, r);
    }
}

static int events_open(struct events_state *x, struct err *e)
{
    x->kind = events_orders[x->s->order];
    x->graph = pace_graph_of(x->p->pace);
    events_sum_cluster(x);
    int rc = events_reserve(x, e);
    if (!rc)
        rc = events_sort_arrivals(x, e);
    for (int32_t t = 0; t < x->n_types && !rc; t++)
        rc = pack_build(&x->packs[t], x->p->cluster, t, e);
    if (!rc && x->s->pack == PACK_RANDOM)
        rc = rng_build(&x->rng, x->s->seed, 0, e);
    if (!rc)
        rc = events_find_ideals(x, e);
    if (!rc && x->s->keep_bins && x->graph)
        rc = link_bins_build(&x->out->bins, x->p->cluster->n_arcs, EVENTS_BINS, x->out->first_s, 1, e);
    if (!rc && x->kind->build)
        rc = x->kind->build(x, e);
    return rc;
}

/* Gives the model back as it was: without jobs. */
static void events_close(struct events_state *x)
{
    const struct pace *pace = x->p->pace;
    const int32_t *changed;
    struct err ignored = { 0 };
    int32_t n;
    for (int32_t i = 0; i < x->n_running; i++)
        pace->end(pace->x, x->running[i]);
    if (x->n_running > 0)
        pace->changed(pace->x, &changed, &n, &ignored);
    if (x->kind->free)
        x->kind->free(x->own);
    for (int32_t i = 0; x->live && i < x->p->n_jobs; i++)
        pack_place_free(&x->live[i].place);
    arena_free(&x->arena);
    bits_free(&x->sizes);
    event_heap_free(&x->ends);
    for (int32_t t = 0; t < x->n_types; t++)
        pack_free(x->packs[t]);
    rng_free(x->rng);
}

/* ---- what a run ends with: jobs that did not, and means over all ---- */

/* 0/0 of no job that is done is NaN, as it is meant. */
static int events_sum_done(struct events_state *x, struct err *e)
{
    struct events_result *out = x->out;
    double *jct_s = malloc((size_t)out->n_jobs * sizeof *jct_s), wait_s = 0, sum_s = 0;
    int32_t n = 0;
    if (!jct_s)
        return err_nomem(e, "completion times");
    for (int32_t i = 0; i < out->n_jobs; i++)
        if (out->jobs[i].end == EVENTS_DONE) {
            jct_s[n++] = out->jobs[i].jct_s;
            sum_s += out->jobs[i].jct_s;
            wait_s += out->jobs[i].wait_s;
        }
    out->mean_jct_s = sum_s / n;
    out->mean_wait_s = wait_s / n;
    stat_sort(jct_s, n);
    out->median_jct_s = stat_quantile(jct_s, n, 0.5);
    out->p95_jct_s = stat_quantile(jct_s, n, 0.95);
    free(jct_s);
    return 0;
}

static void events_sum_wide(struct events_state *x)
{
    struct events_result *out = x->out;
    int32_t n_moved = 0;
    double sum = 0;
    for (int32_t i = 0; i < out->n_jobs; i++) {
        struct events_job *r = &out->jobs[i];
        r->stretch = x->live[i].alone_s > 0 ? x->live[i].moved_s / x->live[i].alone_s : (double)NAN;
        out->stops += r->stops;
        if (r->servers < 2)
            continue;
        out->n_wide++;
        if (!isnan(r->stretch)) {
            sum += r->stretch;
            n_moved++;
        }
    }
    out->mean_stretch = sum / n_moved;
}

static int events_sum_arcs(struct events_state *x, struct err *e)
{
    struct events_result *out = x->out;
    if (!x->graph)
        return 0;
    out->n_arcs = x->p->cluster->n_arcs;
    out->arcs = malloc((size_t)out->n_arcs * sizeof *out->arcs + 1);
    if (!out->arcs)
        return err_nomem(e, "links");
    for (int32_t a = 0; a < out->n_arcs; a++) {
        struct pace_graph_use use = pace_graph_arc(x->graph, a);
        double could_B = use.reach_Bps * out->makespan_s;
        out->arcs[a] =
            (struct events_arc){ use.bytes, use.bytes > 0 ? use.bytes / could_B : 0, use.peak_frac };
    }
    return 0;
}

static int events_sum_up(struct events_state *x, struct err *e)
{
    struct events_result *out = x->out;
    int rc = 0;
    /* Those that still run are counted up to now; they keep their places, which events_close() gives back. */
    for (int32_t i = 0; i < x->n_running && !rc; i++) {
        rc = events_leave(x, x->running[i], e);
        out->jobs[x->running[i]].end = EVENTS_RUNS;
    }
    for (int32_t i = 0; i < x->waiting.n; i++)
        out->jobs[order_list_at(&x->waiting, i)].end = EVENTS_WAITS;
    if (!rc)
        rc = events_sum_done(x, e);
    events_sum_wide(x);
    out->last_s = x->now_s;
    out->makespan_s = out->last_s - out->first_s;
    out->gpu_frac = out->makespan_s > 0 ? x->held_gpu_s / (x->total[0] * out->makespan_s) : 0;
    return rc ? rc : events_sum_arcs(x, e);
}

/* ---- from event to event ---- */

/* Times are sums of times: without the tolerance jobs that are equal by symmetry would end an ulp apart, and
 * the order would see a cluster that never was. */
static int events_finish_due(struct events_state *x, struct err *e)
{
    int rc = 0;
    while (event_heap_time(&x->ends) <= x->now_s * SAME_TIME && !rc)
        rc = events_finish(x, event_heap_first(&x->ends), e);
    return rc;
}

static double events_next_arrival(const struct events_state *x)
{
    return x->n_arrived < x->p->n_jobs ? x->p->jobs[x->arrivals[x->n_arrived]].submit_s : (double)INFINITY;
}

static int events_admit_due(struct events_state *x, struct err *e)
{
    int rc = 0;
    while (events_next_arrival(x) <= x->now_s && !rc)
        rc = events_wait(x, x->arrivals[x->n_arrived++], e);
    return rc;
}

static int events_note_point(struct events_state *x, struct err *e)
{
    struct events_result *out = x->out;
    if (!x->s->keep_points)
        return 0;
    if (!vec_reserve(out->points, out->cap_points, out->n_points + 1))
        return err_nomem(e, "points in time");
    out->points[out->n_points++] =
        (struct events_point){ x->now_s, x->gpus_held, x->n_running, x->waiting.n };
    return 0;
}

/* What happens at one time, in this order: GPUs are given back before anyone is admitted, all who came are in
 * the queue before the order chooses, and speeds are learned when it is known who runs. */
static int events_step(struct events_state *x, double wake_s, struct err *e)
{
    int rc = events_finish_due(x, e);
    if (!rc)
        rc = events_admit_due(x, e);
    if (!rc && wake_s <= x->now_s && x->kind->wake)
        rc = x->kind->wake(x, e);
    if (!rc)
        rc = x->kind->choose(x, e);
    if (!rc)
        rc = events_pace(x, e);
    if (!rc)
        rc = events_note_point(x, e);
    x->out->n_events++;
    return rc;
}

static void events_go_to(struct events_state *x, double time_s)
{
    x->held_gpu_s += (double)x->gpus_held * (time_s - x->now_s);
    x->now_s = time_s;
}

static int events_go_through(struct events_state *x, struct err *e)
{
    struct work work;
    int rc = 0;
    work_begin(&work, "jobs", x->p->n_jobs);
    while (!rc) {
        int64_t done = x->out->n_done;
        double wake_s = x->kind->next_s ? x->kind->next_s(x) : (double)INFINITY;
        double time_s = fmin(event_heap_time(&x->ends), fmin(events_next_arrival(x), wake_s));
        /* Past the horizon, or nothing more happens: all are done, or those that are left stand still for
         * good. */
        if (!(time_s <= x->s->horizon_s) || isinf(time_s))
            break;
        /* An end that was merged with what came before it may lie a rounding behind. */
        events_go_to(x, fmax(x->now_s, time_s));
        rc = events_step(x, wake_s, e);
        work_step(&work, x->out->n_done - done);
        if (!rc)
            rc = work_check(e);
    }
    work_end(&work);
    /* The rest until the horizon passes without events. */
    if (!rc && x->out->n_done < x->p->n_jobs && isfinite(x->s->horizon_s) && x->s->horizon_s > x->now_s)
        events_go_to(x, x->s->horizon_s);
    return rc;
}

int events_run(struct events_result *out, const struct events_problem *p, const struct events_settings *s,
               struct err *e)
{
    struct events_state x = { .p = p, .s = s, .out = out };
    *out = (struct events_result){ .n_jobs = p->n_jobs };
    int rc = events_check(p, e);
    if (rc)
        return rc;
    rc = events_open(&x, e);
    if (!rc)
        rc = events_go_through(&x, e);
    if (!rc)
        rc = events_sum_up(&x, e);
    events_close(&x);
    return rc;
}

void events_result_free(struct events_result *r)
{
    free(r->jobs);
    free(r->arcs);
    free(r->spans);
    free(r->points);
    link_bins_free(&r->bins);
    *r = (struct events_result){ 0 };
}
