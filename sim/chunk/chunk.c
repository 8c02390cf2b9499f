#include "sim/chunk/chunk.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/chunk/chunk_state.h"

/* Slots in a word of the map of those that are taken. */
enum { SLOT_BITS = 64 };

static const struct stage *stage_of(const struct chunk_sim *x, const struct waiting *w)
{
    const struct chunk_entry *entry = &x->jobs[w->job];
    return &entry->plans[entry->plan_of[w->chunk]].stages[w->stage];
}

static int32_t stages_of(const struct chunk_sim *x, const struct waiting *w)
{
    const struct chunk_entry *entry = &x->jobs[w->job];
    return entry->plans[entry->plan_of[w->chunk]].n;
}

/* ---- life ---- */

int chunk_open(struct chunk_sim **out, const struct topo_network *net, const double *bw_Bps,
               const struct sim_rules *rules, unsigned split_dims, bool keep, struct err *e)
{
    struct chunk_sim *x = *out = calloc(1, sizeof *x);
    if (!x)
        return err_nomem(e, "a simulation");
    x->net = *net;
    x->rules = *rules;
    x->keep = keep;
    x->last_issue_s = NAN;
    x->first_free = -1;
    memcpy(x->bw_Bps, bw_Bps, (size_t)net->n_dims * sizeof *bw_Bps);
    int rc = cells_build(&x->cells, net, rules, split_dims, e);
    if (!rc) {
        x->busy = calloc((size_t)net->n_dims * (size_t)x->cells.n, sizeof *x->busy);
        x->sending = calloc((size_t)net->n_dims * (size_t)x->cells.n, sizeof *x->sending);
        if (rules->active > 1 && keep) {
            x->slot_words = (rules->active - 1) / SLOT_BITS + 1;
            x->slots =
                calloc((size_t)net->n_dims * (size_t)x->cells.n, (size_t)x->slot_words * sizeof *x->slots);
        }
        if (!x->busy || !x->sending || (x->slot_words && !x->slots))
            rc = err_nomem(e, "a simulation");
    }
    if (rc) {
        chunk_free(x);
        *out = NULL;
    }
    return rc;
}

void chunk_free(struct chunk_sim *x)
{
    if (!x)
        return;
    for (int32_t j = 0; j < x->n_jobs; j++) {
        free(x->jobs[j].plans);
        free(x->jobs[j].plan_of);
        free(x->jobs[j].arrived);
    }
    chunk_servers_free(x);
    cells_free(&x->cells);
    event_heap_free(&x->events);
    event_heap_free(&x->late);
    free(x->busy);
    free(x->sending);
    free(x->slots);
    free(x->actives);
    free(x->arrivals);
    free(x->jobs);
    free(x->ended);
    free(x->slices);
    free(x->batch);
    free(x);
}

/* ---- what becomes ready ---- */

static double queue_key(const struct chunk_sim *x, const struct stage *s, int64_t seq)
{
    switch (x->rules.queue) {
    case SIM_QUEUE_LIFO:
        return -(double)seq;
    case SIM_QUEUE_SMALLEST:
        return s->full_B;
    case SIM_QUEUE_FIFO:
    case N_SIM_QUEUES:
        break;
    }
    return 0;
}

/* One cell has come to a stage; when it is the last of its team, the stage waits for the dimension. */
static int arrive(struct chunk_sim *x, int32_t job, int32_t chunk, int32_t stage, int32_t cell, struct err *e)
{
    struct waiting w = { .job = job, .chunk = chunk, .stage = stage, .cell = cell, .ready_s = x->now_s };
    struct chunk_entry *entry = &x->jobs[job];
    const struct stage *s = stage_of(x, &w);
    w.shape = entry->shape[s->dim];
    if (entry->arrived) {
        struct team team = chunk_team(x, s->dim, w.shape, cell);
        int32_t *there =
            &entry->arrived[((size_t)chunk * (size_t)entry->n_stages + (size_t)stage) * (size_t)x->cells.n +
                            (size_t)team.first];
        if (++*there < team.n)
            return 0;
        w.cell = team.first;
    }
    w.priority = entry->job.priority;
    w.seq = x->seq++;
    w.key = queue_key(x, s, w.seq);
    return chunk_wait(x, s->dim, &w, e);
}

static int arrive_all(struct chunk_sim *x, int32_t job, int32_t cell, struct err *e)
{
    int rc = 0;
    for (int32_t c = 0; c < x->rules.stage.chunks && !rc; c++)
        rc = arrive(x, job, c, 0, cell, e);
    return rc;
}

static int end_job(struct chunk_sim *x, int32_t job, double end_s, struct err *e)
{
    int32_t *grown = array_grow(x->ended, x->n_ended, &x->cap_ended, sizeof *grown);
    if (!grown)
        return err_nomem(e, "collectives");
    x->ended = grown;
    x->ended[x->n_ended++] = job;
    struct chunk_entry *entry = &x->jobs[job];
    entry->result.end_s = end_s;
    free(entry->arrived);
    entry->arrived = NULL;
    if (!x->keep) {
        free(entry->plans);
        free(entry->plan_of);
        entry->plans = NULL;
        entry->plan_of = NULL;
    }
    return 0;
}

/* ---- service ---- */

static int record(struct chunk_sim *x, const struct active *a, struct err *e)
{
    const struct waiting *w = &a->item;
    struct chunk_slice *grown = array_grow(x->slices, x->n_slices, &x->cap_slices, sizeof *grown);
    if (!grown)
        return err_nomem(e, "a timeline");
    x->slices = grown;
    x->slices[x->n_slices++] = (struct chunk_slice){ .job = w->job,
                                                     .chunk = w->chunk,
                                                     .stage = *stage_of(x, w),
                                                     .cell = w->cell,
                                                     .slot = a->slot,
                                                     .ready_s = w->ready_s,
                                                     .start_s = a->start_s,
                                                     .end_s = a->end_s };
    return 0;
}

/* Slowest share among the team, and the most that share one of its ports. */
static double team_rate(const struct chunk_sim *x, const struct active *a)
{
    struct team team = a->team;
    double least = INFINITY;
    for (int32_t i = 0, cell = team.first; i < team.n; i++, cell += team.step) {
        int32_t sharing = x->sending[a->dim * x->cells.n + cell];
        least = fmin(least, cells_share(&x->cells, a->dim, cell) / (sharing > 1 ? sharing : 1));
    }
    return least * x->bw_Bps[a->dim];
}

/* A stage that sends goes on at the rate that the number of those beside it gives. */
static void share_again(const struct chunk_sim *x, struct active *a)
{
    a->left_B = fmax(a->left_B - a->rate_Bps * (x->now_s - a->since_s), 0);
    a->since_s = x->now_s;
    a->rate_Bps = team_rate(x, a);
    a->end_s = x->now_s + a->left_B / a->rate_Bps;
}

/* Once for all that began or ended at this instant. */
static int share_all(struct chunk_sim *x, struct err *e)
{
    int rc = 0;
    for (int32_t d = 0; d < x->net.n_dims && !rc; d++) {
        struct server *server = &x->servers[d];
        for (int32_t k = 0; server->shares_anew && k < server->n_sending && !rc; k++) {
            struct active *a = &x->actives[server->sending[k]];
            share_again(x, a);
            rc = event_heap_set(&x->events, server->sending[k], a->end_s, e);
        }
        server->shares_anew = false;
    }
    return rc;
}

static void count_team(int32_t *count, const struct chunk_sim *x, const struct active *a, int32_t more)
{
    struct team team = a->team;
    for (int32_t i = 0, cell = team.first; i < team.n; i++, cell += team.step)
        count[a->dim * x->cells.n + cell] += more;
}

static uint64_t *slots_of(const struct chunk_sim *x, int32_t dim, int32_t cell)
{
    return &x->slots[((size_t)dim * (size_t)x->cells.n + (size_t)cell) * (size_t)x->slot_words];
}

/* The lowest that is free: each that is taken is one of fewer than rules->active stages at this cell. */
static int32_t take_slot(const struct chunk_sim *x, int32_t dim, int32_t cell)
{
    if (!x->slots)
        return 0;
    uint64_t *words = slots_of(x, dim, cell);
    int32_t k = 0, bit = 0;
    while (words[k] == UINT64_MAX)
        k++;
    while (words[k] >> bit & 1)
        bit++;
    words[k] |= UINT64_C(1) << bit;
    return k * SLOT_BITS + bit;
}

static void give_slot(const struct chunk_sim *x, const struct active *a)
{
    if (x->slots)
        slots_of(x, a->dim, a->item.cell)[a->slot / SLOT_BITS] &= ~(UINT64_C(1) << a->slot % SLOT_BITS);
}

static int32_t new_active(struct chunk_sim *x)
{
    int32_t i = x->first_free;
    if (i >= 0) {
        x->first_free = x->actives[i].next_free;
        return i;
    }
    struct active *grown = array_grow(x->actives, x->n_actives, &x->cap_actives, sizeof *grown);
    if (!grown)
        return -1;
    x->actives = grown;
    return x->n_actives++;
}

int chunk_start(struct chunk_sim *x, const struct waiting *w, struct err *e)
{
    const struct stage *s = stage_of(x, w);
    struct sim_job_result *result = &x->jobs[w->job].result;
    int32_t i = new_active(x);
    if (i < 0)
        return err_nomem(e, "a simulation");
    struct active *a = &x->actives[i];
    *a = (struct active){ .item = *w,
                          .team = chunk_team(x, s->dim, w->shape, w->cell),
                          .dim = s->dim,
                          .slot = take_slot(x, s->dim, w->cell),
                          .start_s = x->now_s };
    count_team(x->busy, x, a, 1);
    result->queue_s += x->now_s - w->ready_s;
    /* Alone, latency and bytes are one interval: one sum, one rounding. */
    if (x->rules.active == 1)
        a->end_s = x->now_s + (s->const_s + s->load_B / team_rate(x, a));
    else
        a->end_s = x->now_s + s->const_s;
    a->left_B = s->load_B;
    return event_heap_set(&x->events, i, a->end_s, e);
}

static int dispatch(struct chunk_sim *x, struct err *e)
{
    int rc = 0;
    for (int32_t d = 0; d < x->net.n_dims && !rc; d++)
        rc = chunk_serve(x, d, e);
    x->pending = false;
    return rc;
}

/* The latency of a stage is over: from now on it takes its part of the bandwidth. */
static int begin_sending(struct chunk_sim *x, int32_t i, struct err *e)
{
    struct active *a = &x->actives[i];
    struct server *server = &x->servers[a->dim];
    int32_t *grown = array_grow(server->sending, server->n_sending, &server->cap_sending, sizeof *grown);
    if (!grown)
        return err_nomem(e, "a simulation");
    server->sending = grown;
    a->sending = true;
    a->since_s = x->now_s;
    a->place = server->n_sending++;
    server->sending[a->place] = i;
    server->shares_anew = true;
    count_team(x->sending, x, a, 1);
    return 0;
}

static void end_sending(struct chunk_sim *x, const struct active *a)
{
    struct server *server = &x->servers[a->dim];
    int32_t last = server->sending[--server->n_sending];
    server->sending[a->place] = last;
    x->actives[last].place = a->place;
    server->shares_anew = true;
    count_team(x->sending, x, a, -1);
}

static int finish(struct chunk_sim *x, int32_t i, struct err *e)
{
    /* Those that began or ended before it at this instant may move it by a rounding. */
    if (x->actives[i].sending && x->servers[x->actives[i].dim].shares_anew)
        share_again(x, &x->actives[i]);
    struct active a = x->actives[i];
    const struct waiting *w = &a.item;
    bool last = w->stage + 1 == stages_of(x, w);
    int rc = x->keep ? record(x, &a, e) : 0;
    if (a.sending)
        end_sending(x, &a);
    give_slot(x, &a);
    x->actives[i].next_free = x->first_free;
    x->first_free = i;
    count_team(x->busy, x, &a, -1);
    rc = rc ? rc : chunk_freed(x, a.dim, &a.team, e);
    for (int32_t k = 0, cell = a.team.first; k < a.team.n && !rc; k++, cell += a.team.step) {
        if (!last)
            rc = arrive(x, w->job, w->chunk, w->stage + 1, cell, e);
        else if (--x->jobs[w->job].left == 0)
            rc = end_job(x, w->job, a.end_s, e);
    }
    return rc;
}

/* ---- time ---- */

double chunk_next(const struct chunk_sim *x)
{
    return x->pending ? x->now_s : fmin(event_heap_time(&x->events), event_heap_time(&x->late));
}

/* Chunk order: of job, then of chunk, then of cell. */
static int compare_endings(const void *a, const void *b)
{
    const struct ending *v = a, *w = b;
    if (v->job != w->job)
        return v->job < w->job ? -1 : 1;
    if (v->chunk != w->chunk)
        return v->chunk < w->chunk ? -1 : 1;
    if (v->stage != w->stage)
        return v->stage < w->stage ? -1 : 1;
    return (v->cell > w->cell) - (v->cell < w->cell);
}

/* Take out all that ends by `until_s`, sorted. Returns how many, -1 on lack of memory. */
static int32_t take_batch(struct chunk_sim *x, double until_s)
{
    int32_t n = 0;
    while (event_heap_time(&x->events) <= until_s) {
        struct ending *grown = array_grow(x->batch, n, &x->cap_batch, sizeof *grown);
        if (!grown)
            return -1;
        x->batch = grown;
        int32_t i = event_heap_first(&x->events);
        const struct waiting *w = &x->actives[i].item;
        event_heap_remove(&x->events, i);
        x->now_s = fmax(x->now_s, x->actives[i].end_s);
        x->batch[n++] = (struct ending){ w->job, w->chunk, w->stage, w->cell, i };
    }
    if (n > 1)
        qsort(x->batch, (size_t)n, sizeof *x->batch, compare_endings);
    return n;
}

int chunk_advance(struct chunk_sim *x, struct err *e)
{
    double next_s = chunk_next(x), until_s = next_s + INSTANT_REL * fabs(next_s);
    int rc = 0;
    x->n_ended = 0;
    if (isinf(next_s))
        return 0;
    x->now_s = fmax(x->now_s, next_s);
    int32_t n = take_batch(x, until_s);
    if (n < 0)
        return err_nomem(e, "a simulation");
    for (int32_t k = 0; k < n && !rc; k++) {
        int32_t i = x->batch[k].active;
        bool begins = x->rules.active > 1 && !x->actives[i].sending;
        rc = begins ? begin_sending(x, i, e) : finish(x, i, e);
    }
    rc = rc ? rc : share_all(x, e);
    while (!rc && event_heap_time(&x->late) <= until_s) {
        int32_t i = event_heap_first(&x->late);
        event_heap_remove(&x->late, i);
        rc = arrive_all(x, x->arrivals[i].job, x->arrivals[i].cell, e);
    }
    return rc ? rc : dispatch(x, e);
}

/* ---- jobs ---- */

static int arrive_late(struct chunk_sim *x, int32_t job, int32_t cell, struct err *e)
{
    struct arrival *grown = array_grow(x->arrivals, x->n_arrivals, &x->cap_arrivals, sizeof *grown);
    if (!grown)
        return err_nomem(e, "a simulation");
    x->arrivals = grown;
    x->arrivals[x->n_arrivals] = (struct arrival){ job, cell };
    return event_heap_set(&x->late, x->n_arrivals++, x->now_s + cells_late(&x->cells, cell), e);
}

static int begin_job(struct chunk_sim *x, int32_t j, struct err *e)
{
    struct chunk_entry *entry = &x->jobs[j];
    int64_t chunks = x->rules.stage.chunks;
    int rc = chunk_plan_job(x, entry, e);
    if (rc)
        return rc;
    if (entry->plans[0].n == 0)
        return end_job(x, j, x->now_s, e);
    entry->left = chunks * x->cells.n;
    for (int32_t d = 0; d < x->net.n_dims && !rc; d++)
        if (entry->job.members[d] > 1)
            rc = chunk_shape(x, d, entry->job.members[d], entry->job.stride[d], &entry->shape[d], e);
    if (rc)
        return rc;
    for (int32_t p = 0; p < entry->n_plans; p++)
        if (entry->plans[p].n > entry->n_stages)
            entry->n_stages = entry->plans[p].n;
    if (x->cells.n > 1) {
        entry->arrived =
            calloc((size_t)chunks * (size_t)entry->n_stages * (size_t)x->cells.n, sizeof *entry->arrived);
        if (!entry->arrived)
            return err_nomem(e, "chunks");
    }
    for (int32_t c = 0; c < chunks; c++) {
        const struct chunk_plan *p = &entry->plans[entry->plan_of[c]];
        for (int32_t k = 0; k < p->n; k++) {
            int32_t d = p->stages[k].dim;
            entry->result.sent_B[d] += p->stages[k].sent_B;
            entry->result.busy_s[d] += p->stages[k].load_B / x->bw_Bps[d];
        }
    }
    x->pending = true;
    for (int32_t cell = 0; cell < x->cells.n && !rc; cell++)
        rc = cells_late(&x->cells, cell) > 0 ? arrive_late(x, j, cell, e) : arrive_all(x, j, cell, e);
    return rc;
}

int chunk_issue(struct chunk_sim *x, const struct sim_job *job, double now_s, struct err *e)
{
    struct chunk_entry *grown = array_grow(x->jobs, x->n_jobs, &x->cap_jobs, sizeof *grown);
    if (!grown)
        return err_nomem(e, "collectives");
    x->jobs = grown;
    assert(job->order != SIM_ORDER_GUARD);
    x->now_s = fmax(x->now_s, now_s);
    if (!(now_s <= x->last_issue_s + INSTANT_REL * fabs(x->last_issue_s))) {
        x->load = (struct order_load){ { 0 } };
        x->last_issue_s = now_s;
    }
    x->jobs[x->n_jobs] = (struct chunk_entry){ .job = *job, .result = { .issue_s = now_s, .end_s = NAN } };
    return begin_job(x, x->n_jobs++, e);
}
