/*
 * Simulation in chunks: each dimension of a group is a server that works on one chunk at a time, a collective
 * is C chunks that pass its stages in order. A stage takes const_s + load_B / bandwidth
 * (workloads/collective.c); of what waits at a server the highest priority goes first, and of equals the one
 * that came first. Groups that take part of a dimension are told apart (split_dims), and so are classes of
 * NPUs where some are slow (cells).
 *
 * Levels of a fabric are servers too, but a stage loads several classes of links, and stages at different
 * levels may load the same. What is in flight then shares every class max-min fair in bytes per second, as
 * flows do (sim/flow/maxmin.c): sum_i rate_i load_ic / most_i <= B_c, most_i the largest load of stage i. A
 * stage that runs alone takes max_c load_c / B_c, so one chunk takes what model alpha-beta says, and many
 * chunks keep the class busy that has most to carry. Networks without fabrics never come here.
 */
#include "sim/chunk/chunk.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/work.h"
#include "base/heap.h"
#include "sim/chunk/order.h"
#include "sim/event_heap.h"

/** Events closer than this are one instant: sums of the same terms in another order. */
#define INSTANT_REL 1e-12

/** The stages of all chunks that go in one order. */
struct chunk_plan {
    uint8_t order[TOPO_MAX_DIMS];
    struct stage stages[STAGE_MAX];
    int32_t n;
};

struct chunk_entry {
    struct sim_job job;
    struct sim_job_result result;
    struct chunk_plan *plans; /**< shape [n_plans], owned; NULL when it has ended and no slices are kept */
    int32_t n_plans, cap_plans;
    int32_t *plan_of;             /**< shape [chunks], owned; likewise */
    int32_t shape[TOPO_MAX_DIMS]; /**< of its teams at each server, in server.shapes */
    int32_t n_stages;             /**< the most of any plan */
    int64_t left;                 /**< chunks times cells that are still under way */
    /** Members that are there for a stage: shape [chunks][n_stages][cells], owned; NULL while there is one
     * cell, and when it has ended. */
    int32_t *arrived;
};

/** A stage of a chunk that waits for its dimension. */
struct waiting {
    int32_t priority;
    double key; /**< smaller goes first; then the smaller seq */
    int64_t seq;
    int32_t job, chunk, stage, cell; /**< cell: the lowest of the team */
    int32_t shape;                   /**< of the team */
    double ready_s;
};

/** One that is being served. */
struct active {
    struct waiting item;
    int32_t dim;
    double start_s, end_s;
    double left_B, rate_Bps, since_s; /**< while sending, with others beside it */
    double share_Bps;                 /**< the rate that is being found; -1: not yet */
    bool sending;
    int32_t place;     /**< in server.sending, while sending */
    int32_t next_free; /**< while free; -1: the last */
};

/** The stages that wait for one team. */
struct queue {
    struct waiting *items; /**< shape [n], owned; a binary heap */
    int32_t n, cap;
    bool touched; /**< listed in server.touched */
};

/** Teams of one form: those of jobs with equal members and stride. Of two forms, teams may overlap. */
struct shape {
    int32_t n;
    int32_t *offset;      /**< shape [n], owned; members of a team behind its lowest cell, ascending */
    int32_t *first;       /**< shape [cells], behind offset; the lowest cell of the team that a cell is in */
    struct queue *queues; /**< shape [cells], owned; by the lowest cell of the team */
};

/** A dimension. */
struct server {
    struct shape *shapes;
    int32_t n_shapes, cap_shapes;
    struct queue_at {
        int32_t shape, cell;
    } * touched; /**< shape [n_touched], owned; not empty, and something came or a member came free */
    int32_t n_touched, cap_touched;
    struct queue fronts; /**< while it chooses: the first of each queue */
    int32_t *sending;    /**< shape [n_sending], owned; actives past their latency */
    int32_t n_sending, cap_sending;
    bool shares_anew; /**< the stages that send changed at this instant */
};

/** One that has come to its end, in the order of processing. */
struct ending {
    int32_t job, chunk, stage, cell, active;
};

struct chunk_sim {
    struct topo_network net;
    double bw_Bps[TOPO_MAX_DIMS];
    struct sim_rules rules;
    struct collective_way way; /**< of these three */
    int32_t keep;              /**< slices, at most */
    bool linked;               /**< levels of a fabric share links */
    bool in_parts;             /**< a stage is latency, then bytes at a rate that others may change */
    struct cells cells;
    struct server servers[TOPO_MAX_DIMS];
    int32_t *busy;    /**< shape [n_dims][cells], owned: stages at each NPU of a cell */
    int32_t *sending; /**< likewise, of them those past their latency */
    struct active *actives;
    int32_t n_actives, cap_actives, first_free; /**< -1: none */
    double *room_Bps, *weight; /**< shape [n_dims][cells], owned; of links that are being shared, else NULL */
    struct event_heap events;  /**< of actives: end, or end of the latency when several share */
    struct chunk_arrival {
        int32_t job, cell;
    } * arrivals; /**< shape [n_arrivals], owned; late cells */
    int32_t n_arrivals, cap_arrivals;
    struct event_heap late;
    struct chunk_entry *jobs;
    int32_t n_jobs, cap_jobs;
    struct order_load load;
    double last_issue_s, now_s;
    int64_t seq;
    bool pending; /**< issued at now_s and not dispatched yet */
    int32_t *ended;
    int32_t n_ended, cap_ended;
    struct chunk_slice *slices;
    int32_t n_slices, cap_slices;
    struct ending *batch; /**< what ends in one instant; shape [cap_batch], owned */
    int32_t cap_batch;
};

/*
 * What waits for a dimension: a queue for each team of NPUs, of which a dimension looks at those where
 * something changed.
 */

static bool waiting_before(const struct waiting *a, const struct waiting *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->key < b->key || b->key < a->key)
        return a->key < b->key;
    return a->seq < b->seq;
}

HEAP(waitings, struct waiting, waiting_before)

static int queue_push(struct queue *q, const struct waiting *w, struct err *e)
{
    if (!vec_reserve(q->items, q->cap, q->n + 1))
        return err_nomem(e, "a queue of chunks");
    waitings_push(q->items, q->n++, *w);
    return 0;
}

/* ---- teams ---- */

static void shape_free(struct shape *s)
{
    free(s->offset);
    free(s->queues);
}

/* Members that differ along the dimensions of @p along (bits), as @p job takes them. False: no memory. */
static bool shape_build(struct shape *s, const struct chunk_sim *x, unsigned along, const struct sim_job *job)
{
    const struct cells *c = &x->cells;
    *s = (struct shape){ .n = 1 };
    s->offset = calloc((size_t)c->n, 2 * sizeof *s->offset);
    s->queues = calloc((size_t)c->n, sizeof *s->queues);
    if (!s->offset || !s->queues) {
        shape_free(s);
        return false;
    }
    s->first = s->offset + c->n;
    for (int32_t cell = 0; cell < c->n; cell++)
        s->first[cell] = cell;
    for (int32_t d = 0; d < x->net.n_dims; d++) {
        if (!(along >> d & 1))
            continue;
        struct team line = cells_team(c, d, 0, job->members[d], job->stride[d]);
        for (int32_t i = line.n * s->n; i-- > 0;)
            s->offset[i] = s->offset[i % s->n] + i / s->n * line.step;
        s->n *= line.n;
        for (int32_t cell = 0; cell < c->n; cell++)
            s->first[cell] = cells_team(c, d, s->first[cell], job->members[d], job->stride[d]).first;
    }
    return true;
}

/* The shape of teams that differ along dimensions, at the server of dimension d; made if new. ERR_NOMEM. */
static int chunk_shape(struct chunk_sim *x, int32_t d, unsigned along, const struct sim_job *job,
                       int32_t *out, struct err *e)
{
    struct server *server = &x->servers[d];
    struct shape shape;
    *out = 0;
    if (x->cells.n == 1 && server->n_shapes) /* all teams are alike */
        return 0;
    if (!shape_build(&shape, x, along, job))
        return err_nomem(e, "queues of chunks");
    for (*out = 0; *out < server->n_shapes; ++*out)
        if (server->shapes[*out].n == shape.n &&
            memcmp(server->shapes[*out].offset, shape.offset, (size_t)shape.n * sizeof *shape.offset) == 0) {
            shape_free(&shape);
            return 0;
        }
    if (!vec_reserve(server->shapes, server->cap_shapes, server->n_shapes + 1)) {
        shape_free(&shape);
        return err_nomem(e, "queues of chunks");
    }
    server->shapes[server->n_shapes++] = shape;
    return 0;
}

/* Shapes of the teams of a job at each server that it comes to: members of a line, or those of all levels
 * that a stage works on at once. */
static int chunk_shapes(struct chunk_sim *x, struct chunk_entry *entry, struct err *e)
{
    struct stage_unit units[TOPO_MAX_DIMS];
    const struct sim_job *job = &entry->job;
    int32_t n = stage_units(units, job->kind, job->members, job->stride, job->share, NULL, &x->net);
    int rc = 0;
    for (int32_t i = 0; i < n && !rc; i++) {
        int32_t d = units[i].dim, begin = units[i].node > 1 ? 0 : d,
                end = units[i].flat ? topo_after_entry(x->net.dims, d) : d + 1;
        unsigned along = 0;
        for (int32_t k = begin; k < end; k++)
            along |= job->members[k] > 1 ? 1U << k : 0;
        rc = chunk_shape(x, d, along, job, &entry->shape[d], e);
    }
    return rc;
}

static const struct shape *shape_of(const struct chunk_sim *x, int32_t d, const struct waiting *w)
{
    return &x->servers[d].shapes[w->shape];
}

/* Look at a queue in the next round. */
static int chunk_touch(struct server *server, int32_t shape, int32_t cell, struct err *e)
{
    struct queue *q = &server->shapes[shape].queues[cell];
    if (q->touched || q->n == 0)
        return 0;
    if (!vec_reserve(server->touched, server->cap_touched, server->n_touched + 1))
        return err_nomem(e, "queues of chunks");
    server->touched[server->n_touched++] = (struct queue_at){ shape, cell };
    q->touched = true;
    return 0;
}

/* The team of @p w has one stage less in dimension d. ERR_NOMEM. */
static int chunk_freed(struct chunk_sim *x, int32_t d, const struct waiting *w, struct err *e)
{
    struct server *server = &x->servers[d];
    const struct shape *own = shape_of(x, d, w);
    int rc = 0;
    for (int32_t s = 0; s < server->n_shapes && !rc; s++) {
        if (s == w->shape) {
            rc = chunk_touch(server, s, w->cell, e);
            continue;
        }
        for (int32_t i = 0; i < own->n && !rc; i++)
            rc = chunk_touch(server, s, server->shapes[s].first[w->cell + own->offset[i]], e);
    }
    return rc;
}

/* A stage waits for its team in dimension d. ERR_NOMEM. */
static int chunk_wait(struct chunk_sim *x, int32_t d, const struct waiting *w, struct err *e)
{
    struct server *server = &x->servers[d];
    int rc = queue_push(&server->shapes[w->shape].queues[w->cell], w, e);
    return rc ? rc : chunk_touch(server, w->shape, w->cell, e);
}

static bool chunk_is_free(const struct chunk_sim *x, int32_t d, const struct waiting *w)
{
    const struct shape *team = shape_of(x, d, w);
    for (int32_t i = 0; i < team->n; i++)
        if (x->busy[d * x->cells.n + w->cell + team->offset[i]] >= x->rules.active)
            return false;
    return true;
}

static int chunk_start(struct chunk_sim *x, const struct waiting *w, struct err *e);

/* Start what waits and can start, in order; what waits for a busy member lets others pass. ERR_NOMEM.
 * The first of each queue that was touched stands in `fronts`. One whose team is busy waits on, and all
 * behind it with it: nothing comes free while a dimension chooses. */
static int chunk_serve(struct chunk_sim *x, int32_t d, struct err *e)
{
    struct server *server = &x->servers[d];
    int rc = 0;
    for (int32_t i = 0; i < server->n_touched && !rc; i++) {
        struct queue_at at = server->touched[i];
        struct queue *q = &server->shapes[at.shape].queues[at.cell];
        q->touched = false;
        rc = queue_push(&server->fronts, &q->items[0], e);
    }
    server->n_touched = 0;
    while (server->fronts.n && !rc) {
        struct waiting w = waitings_pop(server->fronts.items, server->fronts.n--);
        struct queue *q = &server->shapes[w.shape].queues[w.cell];
        if (!chunk_is_free(x, d, &w))
            continue;
        waitings_pop(q->items, q->n--);
        rc = chunk_start(x, &w, e);
        if (!rc && q->n)
            rc = queue_push(&server->fronts, &q->items[0], e);
    }
    return rc;
}

/* Queues of each dimension, shape by shape and cell by cell. */
static void chunk_servers_free(struct chunk_sim *x)
{
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
        struct server *server = &x->servers[d];
        for (int32_t s = 0; s < server->n_shapes; s++) {
            for (int32_t cell = 0; cell < x->cells.n; cell++)
                free(server->shapes[s].queues[cell].items);
            shape_free(&server->shapes[s]);
        }
        free(server->shapes);
        free(server->touched);
        free(server->fronts.items);
        free(server->sending);
    }
}

static int32_t chunk_find_plan(const struct chunk_entry *entry, const uint8_t *order)
{
    for (int32_t p = 0; p < entry->n_plans; p++)
        if (memcmp(entry->plans[p].order, order, TOPO_MAX_DIMS) == 0)
            return p;
    return -1;
}

/* The order of dimensions as a list of stages. Dimensions in which the group has one member come last:
 * stage_list() wants a full permutation and gives them no stage. */
static int32_t add_plan(struct chunk_sim *x, struct chunk_entry *entry, const struct order_job *job,
                        const uint8_t *order, int32_t n)
{
    int32_t wide[TOPO_MAX_DIMS], n_wide = n;
    if (!vec_reserve(entry->plans, entry->cap_plans, entry->n_plans + 1))
        return -1;
    struct chunk_plan *p = &entry->plans[entry->n_plans];
    *p = (struct chunk_plan){ 0 };
    memcpy(p->order, order, sizeof p->order);
    for (int32_t i = 0; i < n; i++)
        wide[i] = order[i];
    for (int32_t d = 0; d < x->net.n_dims; d++)
        if (job->members[d] < 2)
            wide[n_wide++] = d;
    p->n =
        stage_list(p->stages, job->kind, job->chunk_B, job->members, job->stride, job->share, wide, &x->way);
    return entry->n_plans++;
}

/* Fill plans and plan_of of a new entry. ERR_NOMEM. */
static int chunk_plan_job(struct chunk_sim *x, struct chunk_entry *entry, struct err *e)
{
    int32_t chunks = x->rules.stage.chunks;
    struct order_job job = { .kind = entry->job.kind,
                             .chunk_B = entry->job.bytes / chunks,
                             .members = entry->job.members,
                             .stride = entry->job.stride,
                             .share = entry->job.share,
                             .way = &x->way };
    entry->plan_of = malloc((size_t)chunks * sizeof *entry->plan_of);
    if (!entry->plan_of)
        return err_nomem(e, "chunks");
    bool by_load = entry->job.order == SIM_ORDER_THEMIS || entry->job.order == SIM_ORDER_MINMAX;
    for (int32_t c = 0; c < chunks; c++) {
        uint8_t order[TOPO_MAX_DIMS];
        if (c > 0 && !by_load) {
            entry->plan_of[c] = 0;
            continue;
        }
        int32_t n =
            order_next(order, &x->load, &job, &x->rules, entry->job.order, c == 0, by_load ? 1 : chunks);
        entry->plan_of[c] = chunk_find_plan(entry, order);
        if (entry->plan_of[c] < 0)
            entry->plan_of[c] = add_plan(x, entry, &job, order, n);
        if (entry->plan_of[c] < 0)
            return err_nomem(e, "chunks");
    }
    return 0;
}

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

/* Cells are classes of NPUs that behave alike (one without slow NPUs), so the cost of a run does not grow
 * with the network. */
int chunk_open(struct chunk_sim **out, const struct sim_way *way, unsigned split_dims, int32_t keep,
               struct err *e)
{
    const struct topo_network *net = way->net;
    struct chunk_sim *x = *out = calloc(1, sizeof *x);
    if (!x)
        return err_nomem(e, "a simulation");
    x->net = *net;
    x->rules = *way->rules;
    x->way = (struct collective_way){ &x->net, &x->rules.stage, x->bw_Bps };
    x->keep = keep;
    x->last_issue_s = NAN;
    x->first_free = -1;
    memcpy(x->bw_Bps, way->bw_Bps, (size_t)net->n_dims * sizeof *x->bw_Bps);
    x->linked = topo_has_fabric(net);
    x->in_parts = x->linked || x->rules.active > 1;
    int rc = cells_build(&x->cells, net, &x->rules, split_dims, e);
    if (!rc) {
        size_t n = (size_t)net->n_dims * (size_t)x->cells.n;
        x->busy = calloc(n, sizeof *x->busy);
        x->sending = calloc(n, sizeof *x->sending);
        x->room_Bps = x->linked ? calloc(n, sizeof *x->room_Bps) : NULL;
        x->weight = x->linked ? calloc(n, sizeof *x->weight) : NULL;
        if (!x->busy || !x->sending || (x->linked && (!x->room_Bps || !x->weight)))
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
    free(x->room_Bps);
    free(x->weight);
    free(x->actives);
    free(x->arrivals);
    free(x->jobs);
    free(x->ended);
    free(x->slices);
    free(x->batch);
    free(x);
}

/* ---- what becomes ready ---- */

/* Key of the queue: smaller goes first. FIFO needs none, as equal keys go by arrival. */
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
        const struct shape *team = shape_of(x, s->dim, &w);
        w.cell = team->first[cell];
        int32_t *there =
            &entry->arrived[((size_t)chunk * (size_t)entry->n_stages + (size_t)stage) * (size_t)x->cells.n +
                            (size_t)w.cell];
        if (++*there < team->n)
            return 0;
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

/* Results stay; the working memory of the job is released, except what a timeline still reads. */
static int end_job(struct chunk_sim *x, int32_t job, double end_s, struct err *e)
{
    if (!vec_reserve(x->ended, x->cap_ended, x->n_ended + 1))
        return err_nomem(e, "collectives");
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

/* A chunk's pass over one dimension, in each cell that takes part. */
static int record(struct chunk_sim *x, const struct active *a, struct err *e)
{
    const struct waiting *w = &a->item;
    const struct shape *team = shape_of(x, a->dim, w);
    for (int32_t i = 0; i < team->n; i++) {
        if (x->n_slices >= x->keep)
            return err_set(
                e, ERR_RANGE,
                "timeline: more than %d stages of chunks run together, expected at most that many; "
                "use fewer chunks",
                (int)x->keep);
        if (!vec_reserve(x->slices, x->cap_slices, x->n_slices + 1))
            return err_nomem(e, "a timeline");
        x->slices[x->n_slices++] = (struct chunk_slice){ .job = w->job,
                                                         .chunk = w->chunk,
                                                         .stage = *stage_of(x, w),
                                                         .cell = w->cell + team->offset[i],
                                                         .ready_s = w->ready_s,
                                                         .start_s = a->start_s,
                                                         .end_s = a->end_s };
    }
    return 0;
}

/* Slowest share among the team, and the most that share one of its ports. */
static double team_rate(const struct chunk_sim *x, const struct active *a)
{
    const struct shape *team = shape_of(x, a->dim, &a->item);
    double least = INFINITY;
    for (int32_t i = 0; i < team->n; i++) {
        int32_t cell = a->item.cell + team->offset[i];
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

/* ---- links of fabrics ---- */

/* Class i of the links that a stage loads, its own first. */
static struct stage_class stage_use(const struct stage *s, int32_t i)
{
    return i ? s->more[i - 1] : (struct stage_class){ s->dim, s->sent_B, s->load_B };
}

/* Bytes on the class that a stage loads most: what its rate is counted in. */
static double stage_most_B(const struct stage *s)
{
    double most_B = 0;
    for (int32_t i = 0; i <= s->n_more; i++)
        most_B = fmax(most_B, stage_use(s, i).load_B);
    return most_B;
}

/* What a stage asks of its links at @p rate_Bps, added to @p out, shape [n_dims][cells]. */
static void link_add(double *out, const struct chunk_sim *x, const struct active *a, double rate_Bps)
{
    const struct stage *s = stage_of(x, &a->item);
    const struct shape *team = shape_of(x, a->dim, &a->item);
    double most_B = stage_most_B(s);
    for (int32_t i = 0; i <= s->n_more; i++) {
        struct stage_class use = stage_use(s, i);
        for (int32_t k = 0; k < team->n && use.load_B > 0; k++)
            out[use.dim * x->cells.n + a->item.cell + team->offset[k]] += rate_Bps * use.load_B / most_B;
    }
}

/* Is one of its links full when all that are not settled have @p rate_Bps? */
static bool link_binds(const struct chunk_sim *x, const struct active *a, double rate_Bps)
{
    const struct stage *s = stage_of(x, &a->item);
    const struct shape *team = shape_of(x, a->dim, &a->item);
    for (int32_t i = 0; i <= s->n_more; i++) {
        struct stage_class use = stage_use(s, i);
        for (int32_t k = 0; k < team->n && use.load_B > 0; k++) {
            int32_t at = use.dim * x->cells.n + a->item.cell + team->offset[k];
            if (x->room_Bps[at] <= rate_Bps * x->weight[at])
                return true;
        }
    }
    return false;
}

/* The rate at which the next links fill up: what those that are settled leave over, for all others alike. */
static double link_fill(struct chunk_sim *x)
{
    double least_Bps = INFINITY;
    for (int32_t d = 0; d < x->net.n_dims; d++)
        for (int32_t cell = 0; cell < x->cells.n; cell++) {
            /* Below zero by what is free, until uses are added. */
            x->room_Bps[d * x->cells.n + cell] = -x->bw_Bps[d] * cells_share(&x->cells, d, cell);
            x->weight[d * x->cells.n + cell] = 0;
        }
    for (int32_t d = 0; d < x->net.n_dims; d++)
        for (int32_t k = 0; k < x->servers[d].n_sending; k++) {
            const struct active *a = &x->actives[x->servers[d].sending[k]];
            link_add(a->share_Bps < 0 ? x->weight : x->room_Bps, x, a, a->share_Bps < 0 ? 1 : a->share_Bps);
        }
    for (int32_t at = 0; at < x->net.n_dims * x->cells.n; at++) {
        x->room_Bps[at] = fmax(-x->room_Bps[at], 0);
        if (x->weight[at] > 0)
            least_Bps = fmin(least_Bps, x->room_Bps[at] / x->weight[at]);
    }
    return least_Bps;
}

/* Max-min fair: all rates rise alike until a link is full, those on it are settled, the others rise on. As
 * many rounds as there are different rates. */
static void link_share(struct chunk_sim *x)
{
    int32_t left = 0;
    for (int32_t d = 0; d < x->net.n_dims; d++)
        for (int32_t k = 0; k < x->servers[d].n_sending; k++) {
            struct active *a = &x->actives[x->servers[d].sending[k]];
            a->share_Bps = stage_most_B(stage_of(x, &a->item)) > 0 ? -1 : (double)INFINITY;
            left += a->share_Bps < 0;
        }
    while (left > 0) {
        double rate_Bps = link_fill(x);
        for (int32_t d = 0; d < x->net.n_dims; d++)
            for (int32_t k = 0; k < x->servers[d].n_sending; k++) {
                struct active *a = &x->actives[x->servers[d].sending[k]];
                if (a->share_Bps < 0 && link_binds(x, a, rate_Bps * (1 + INSTANT_REL))) {
                    a->share_Bps = rate_Bps;
                    left--;
                }
            }
    }
}

/* Once for all that began or ended at this instant; a stage whose rate is as before keeps its end. */
static int share_links(struct chunk_sim *x, struct err *e)
{
    bool anew = false;
    int rc = 0;
    for (int32_t d = 0; d < x->net.n_dims; d++) {
        anew = anew || x->servers[d].shares_anew;
        x->servers[d].shares_anew = false;
    }
    if (!anew)
        return 0;
    link_share(x);
    for (int32_t d = 0; d < x->net.n_dims; d++)
        for (int32_t k = 0; k < x->servers[d].n_sending && !rc; k++) {
            struct active *a = &x->actives[x->servers[d].sending[k]];
            if (!(a->rate_Bps < a->share_Bps) && !(a->rate_Bps > a->share_Bps))
                continue;
            a->left_B = fmax(a->left_B - a->rate_Bps * (x->now_s - a->since_s), 0);
            a->since_s = x->now_s;
            a->rate_Bps = a->share_Bps;
            a->end_s = x->now_s + (a->left_B > 0 ? a->left_B / a->rate_Bps : 0);
            rc = event_heap_set(&x->events, x->servers[d].sending[k], a->end_s, e);
        }
    return rc;
}

/* Once for all that began or ended at this instant. */
static int share_all(struct chunk_sim *x, struct err *e)
{
    int rc = 0;
    if (x->linked)
        return share_links(x, e);
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
    const struct shape *team = shape_of(x, a->dim, &a->item);
    for (int32_t i = 0; i < team->n; i++)
        count[a->dim * x->cells.n + a->item.cell + team->offset[i]] += more;
}

/* Chunks in service, used again through a list of free ones. */
static int32_t new_active(struct chunk_sim *x)
{
    int32_t i = x->first_free;
    if (i >= 0) {
        x->first_free = x->actives[i].next_free;
        return i;
    }
    if (!vec_reserve(x->actives, x->cap_actives, x->n_actives + 1))
        return -1;
    return x->n_actives++;
}

/* Begin to serve a stage whose team is free. ERR_NOMEM. */
static int chunk_start(struct chunk_sim *x, const struct waiting *w, struct err *e)
{
    const struct stage *s = stage_of(x, w);
    struct sim_job_result *result = &x->jobs[w->job].result;
    int32_t i = new_active(x);
    if (i < 0)
        return err_nomem(e, "a simulation");
    struct active *a = &x->actives[i];
    *a = (struct active){ .item = *w, .dim = s->dim, .start_s = x->now_s };
    count_team(x->busy, x, a, 1);
    result->queue_s += x->now_s - w->ready_s;
    /* Alone, latency and bytes are one interval: one sum, one rounding. */
    if (!x->in_parts)
        a->end_s = x->now_s + (s->const_s + s->load_B / team_rate(x, a));
    else
        a->end_s = x->now_s + s->const_s;
    a->left_B = x->linked ? stage_most_B(s) : s->load_B;
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
    if (!vec_reserve(server->sending, server->cap_sending, server->n_sending + 1))
        return err_nomem(e, "a simulation");
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

/* A chunk has passed a dimension: free its place, let others in, and pass it to its next stage in every cell
 * of its team, or end the collective after its last. */
static int chunk_finish(struct chunk_sim *x, int32_t i, struct err *e)
{
    /* Those that began or ended before it at this instant may move it by a rounding. */
    if (x->actives[i].sending && !x->linked && x->servers[x->actives[i].dim].shares_anew)
        share_again(x, &x->actives[i]);
    struct active a = x->actives[i];
    const struct waiting *w = &a.item;
    bool last = w->stage + 1 == stages_of(x, w);
    int rc = x->keep ? record(x, &a, e) : 0;
    if (a.sending)
        end_sending(x, &a);
    x->actives[i].next_free = x->first_free;
    x->first_free = i;
    count_team(x->busy, x, &a, -1);
    rc = rc ? rc : chunk_freed(x, a.dim, w, e);
    const struct shape *team = shape_of(x, a.dim, w);
    for (int32_t k = 0; k < team->n && !rc; k++) {
        if (!last)
            rc = arrive(x, w->job, w->chunk, w->stage + 1, w->cell + team->offset[k], e);
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
        if (!vec_reserve(x->batch, x->cap_batch, n + 1))
            return -1;
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

/* Everything that happens at one instant, in a fixed order: chunks that begin to send or are done, then
 * bandwidth shared anew, late NPUs that join, and at last who is served next. Times closer than INSTANT_REL
 * are one instant, as they differ by rounding only. */
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
        bool begins = x->in_parts && !x->actives[i].sending;
        rc = begins ? begin_sending(x, i, e) : chunk_finish(x, i, e);
    }
    rc = rc ? rc : share_all(x, e);
    while (!rc && event_heap_time(&x->late) <= until_s) {
        int32_t i = event_heap_first(&x->late);
        event_heap_remove(&x->late, i);
        rc = arrive_all(x, x->arrivals[i].job, x->arrivals[i].cell, e);
    }
    rc = rc ? rc : dispatch(x, e);
    return rc ? rc : work_check(e);
}

/* ---- jobs ---- */

static int arrive_late(struct chunk_sim *x, int32_t job, int32_t cell, struct err *e)
{
    if (!vec_reserve(x->arrivals, x->cap_arrivals, x->n_arrivals + 1))
        return err_nomem(e, "a simulation");
    x->arrivals[x->n_arrivals] = (struct chunk_arrival){ job, cell };
    return event_heap_set(&x->late, x->n_arrivals++, x->now_s + cells_late(&x->cells, cell), e);
}

/* Plans the order of every chunk, sums up traffic and busy time (which no schedule changes), and lets the
 * chunks arrive in every cell, in late ones when these join. */
static int chunk_begin_job(struct chunk_sim *x, int32_t j, struct err *e)
{
    struct chunk_entry *entry = &x->jobs[j];
    int64_t chunks = x->rules.stage.chunks;
    int rc = chunk_plan_job(x, entry, e);
    if (rc)
        return rc;
    if (entry->plans[0].n == 0)
        return end_job(x, j, x->now_s, e);
    entry->left = chunks * x->cells.n;
    rc = chunk_shapes(x, entry, e);
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
        for (int32_t k = 0; k < p->n; k++)
            stage_tally(&p->stages[k], 1, x->bw_Bps, entry->result.sent_B, entry->result.busy_s);
    }
    x->pending = true;
    for (int32_t cell = 0; cell < x->cells.n && !rc; cell++)
        rc = cells_late(&x->cells, cell) > 0 ? arrive_late(x, j, cell, e) : arrive_all(x, j, cell, e);
    return rc;
}

/* Orders that balance load (Themis) count the load of collectives issued at the same instant together; at a
 * later instant the count begins anew. */
int chunk_issue(struct chunk_sim *x, const struct sim_job *job, double now_s, struct err *e)
{
    if (!vec_reserve(x->jobs, x->cap_jobs, x->n_jobs + 1))
        return err_nomem(e, "collectives");
    assert(job->order != SIM_ORDER_GUARD);
    x->now_s = fmax(x->now_s, now_s);
    if (!(now_s <= x->last_issue_s + INSTANT_REL * fabs(x->last_issue_s))) {
        x->load = (struct order_load){ { 0 } };
        x->last_issue_s = now_s;
    }
    x->jobs[x->n_jobs] = (struct chunk_entry){ .job = *job, .result = { .issue_s = now_s, .end_s = NAN } };
    return chunk_begin_job(x, x->n_jobs++, e);
}

/*
 * What a simulation in chunks tells, and the simulation as an engine.
 */

const int32_t *chunk_ended(const struct chunk_sim *x, int32_t *n)
{
    *n = x->n_ended;
    return x->ended;
}

const struct sim_job_result *chunk_result(const struct chunk_sim *x, int32_t job)
{
    return &x->jobs[job].result;
}

const struct chunk_slice *chunk_slices(const struct chunk_sim *x, int64_t *n)
{
    *n = x->n_slices;
    return x->slices;
}

/* ---- as an engine ---- */

static int engine_issue(void *x, const struct sim_job *job, double now_s, struct err *e)
{
    return chunk_issue(x, job, now_s, e);
}

static double engine_next(const void *x)
{
    return chunk_next(x);
}

static int engine_advance(void *x, struct err *e)
{
    return chunk_advance(x, e);
}

static const int32_t *engine_ended(const void *x, int32_t *n)
{
    return chunk_ended(x, n);
}

static const struct sim_job_result *engine_result(const void *x, int32_t job)
{
    return chunk_result(x, job);
}

struct sim_engine chunk_engine(struct chunk_sim *x)
{
    return (struct sim_engine){ x, engine_issue, engine_next, engine_advance, engine_ended, engine_result };
}
