/*
 * Exchanges: what methods ask for, what the wire tells of it, and messages to neighbours.
 *
 * A transfer is asked for, begins when its links allow, carries copies of models, is mixed into the models of
 * those who get it, and ends. A worker that it holds computes again when nothing holds it any more.
 */
#include <assert.h>
#include <stdlib.h>

#include "sim/gossip/method.h"
#include "base/vec.h"
#include "sim/gossip/run.h"
#include "sim/gossip/floats.h"

/* What a method asks for goes into the log; what follows from it in the engine does not. */
static void log_ask(struct gossip_cluster *c, const struct gossip_ask *ask)
{
    const struct gossip_cause *why = &c->engine->cause;
    struct gossip_ask a = *ask;
    if (!c->engine->log)
        return;
    /* After its step a worker asks for itself alone. */
    assert(why->kind != GOSSIP_AT_STEP || a.from < 0 || a.from == why->id);
    if (a.from >= 0 && why->kind != GOSSIP_AT_STEP) {
        const struct gossip_worker *w = &c->workers[a.from];
        /* A hold stops what comes after the step under way; one that is held asks for what its step leads to.
         */
        if (a.kind == GOSSIP_ASK_HOLD)
            a.done = w->steps + w->computes;
        else if (w->held > 0 && !w->computes)
            a.done = w->steps;
    }
    gossip_log_add(c->engine->log, why, &a);
}

/* ---- waiting ---- */

static void worker_hold(struct gossip_cluster *c, struct gossip_worker *w)
{
    /* One that has gone through all its steps waits from now on only. */
    if (w->holds++ == 0 && !w->computes && !w->ready)
        w->idle_s = c->now_s;
}

/* In a replay it may come before what it releases: then that does not hold. */
static void worker_release(struct gossip_cluster *c, struct gossip_worker *w)
{
    if (--w->holds == 0)
        gossip_ready(c, w);
}

void gossip_hold(struct gossip_cluster *c, struct gossip_worker *w)
{
    log_ask(c, &(struct gossip_ask){ .kind = GOSSIP_ASK_HOLD, .from = w->id });
    w->held++;
    worker_hold(c, w);
}

void gossip_release(struct gossip_cluster *c, struct gossip_worker *w)
{
    log_ask(c, &(struct gossip_ask){ .kind = GOSSIP_ASK_RELEASE, .from = w->id });
    w->held--;
    worker_release(c, w);
}

void gossip_skip(struct gossip_cluster *c, struct gossip_worker *w)
{
    log_ask(c, &(struct gossip_ask){ .kind = GOSSIP_ASK_SKIP, .from = w->id });
    w->steps++;
    c->engine->steps_done++;
}

/* ---- room ---- */

float *gossip_room(struct gossip_cluster *c)
{
    struct gossip_engine *g = c->engine;
    if (g->n_rooms > 0)
        return g->rooms[--g->n_rooms];
    return ARENA_TAKE(&c->arena, c->n_params, float);
}

/* Keep it for the next who asks. */
static void give_back(struct gossip_cluster *c, float *room)
{
    struct gossip_engine *g = c->engine;
    if (!room)
        return;
    if (g->n_rooms == g->cap_rooms) {
        int32_t cap = 2 * g->cap_rooms + 16;
        if (!vec_resize(g->rooms, cap))
            return;
        g->cap_rooms = cap;
    }
    g->rooms[g->n_rooms++] = room;
}

/* Free slots are a stack with the lowest number on top, so that reruns use the same numbers. */
static int slots_grow(struct gossip_engine *g, struct err *e)
{
    int32_t cap = 2 * g->cap_slots + 16;
    struct gossip_slot *slots = realloc(g->slots, (size_t)cap * sizeof *slots);
    if (!slots)
        return err_nomem(e, "exchanges");
    for (int32_t i = cap - 1; i >= g->cap_slots; i--) {
        slots[i].transfer = NULL;
        slots[g->n_unused++].unused = i;
    }
    g->slots = slots;
    g->cap_slots = cap;
    return 0;
}

/* A copy of *from under a number that names nothing else. */
static int new_transfer(struct gossip_transfer **out, struct gossip_cluster *c,
                        const struct gossip_transfer *from, struct err *e)
{
    struct gossip_engine *g = c->engine;
    int rc = g->n_unused ? 0 : slots_grow(g, e);
    if (rc)
        return rc;
    int32_t id = g->slots[g->n_unused - 1].unused;
    struct gossip_slot *slot = &g->slots[id];
    if (!slot->transfer && !(slot->transfer = ARENA_TAKE(&c->arena, 1, *slot->transfer)))
        return err_nomem(e, "an exchange");
    g->n_unused--;
    *out = slot->transfer;
    **out = *from;
    (*out)->id = id;
    (*out)->there = (*out)->back = NULL;
    (*out)->mixed = (*out)->beside = false;
    return 0;
}

/* ---- meetings ---- */

/* Let @p w in; the last one calls the meeting. */
static int meeting_come(struct gossip_cluster *c, struct gossip_worker *w, struct err *e)
{
    struct gossip_engine *g = c->engine;
    const struct gossip_cause outer = g->cause;
    if (!c->method->clock_only)
        floats_copy(w->given, w->x, c->n_params);
    w->met = true;
    if (++c->n_met < c->n_workers)
        return 0;
    c->n_met = 0;
    g->cause = (struct gossip_cause){ .kind = GOSSIP_AT_MEETING, .id = g->log ? g->log->n_meetings++ : 0 };
    int rc = c->method->meet(c, e);
    g->cause = outer;
    return rc;
}

/* Everyone leaves the meeting; workers that came early for the next one join it at once. */
static int meeting_part(struct gossip_cluster *c, struct err *e)
{
    int rc = 0;
    for (int32_t i = 0; i < c->n_workers; i++) {
        struct gossip_worker *w = &c->workers[i];
        if (w->waits)
            worker_release(c, w);
        w->waits = w->met = false;
    }
    for (int32_t i = 0; i < c->n_workers && !rc; i++) {
        struct gossip_worker *w = &c->workers[i];
        if (w->early == GOSSIP_NOT_EARLY)
            continue;
        w->waits = w->early == GOSSIP_EARLY_WAITS;
        if (!w->waits)
            worker_release(c, w);
        w->early = GOSSIP_NOT_EARLY;
        rc = meeting_come(c, w, e);
    }
    return rc;
}

/* ---- beginning and end ---- */

int gossip_carry(struct gossip_cluster *c, float **room, const float *x, struct err *e)
{
    *room = gossip_room(c);
    if (!*room)
        return err_nomem(e, "a model on its way");
    floats_copy(*room, x, c->n_params);
    return 0;
}

static const float *model_of(const struct gossip_cluster *c, int32_t worker)
{
    return worker == GOSSIP_SERVER ? c->shared[0] : c->workers[worker].x;
}

/* The mean of what all brought. */
static int take_mean(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    float **given = malloc((size_t)c->n_workers * sizeof *given);
    t->there = gossip_room(c);
    if (given && t->there) {
        for (int32_t i = 0; i < c->n_workers; i++)
            given[i] = c->workers[i].given;
        floats_mean(t->there, given, c->n_workers, c->n_params);
    }
    int rc = given && t->there ? 0 : err_nomem(e, "a mean of models");
    free(given);
    return rc;
}

int gossip_take(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    if (t->to == GOSSIP_ALL)
        return take_mean(c, t, e);
    int rc = t->there_B > 0 ? gossip_carry(c, &t->there, model_of(c, t->from), e) : 0;
    return rc || t->back_B <= 0 ? rc : gossip_carry(c, &t->back, model_of(c, t->to), e);
}

static void transfer_mix(struct gossip_cluster *c, struct gossip_transfer *t)
{
    t->mixed = true;
    if (c->method->mix)
        c->method->mix(c, t);
    else if (t->to == GOSSIP_ALL)
        gossip_land(c, t->there);
}

static int transfer_begin(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    const struct gossip_cause outer = c->engine->cause;
    c->engine->cause = (struct gossip_cause){ .kind = GOSSIP_AT_BEGIN, .id = t->serial };
    c->engine->exchanges++;
    int rc = c->method->begin ? c->method->begin(c, t, e) : gossip_take(c, t, e);
    if (!rc && !c->setup->clock.stale && t->to != GOSSIP_ALL)
        transfer_mix(c, t);
    c->engine->cause = outer;
    return rc;
}

/* A transfer that @p worker waits for begins. With overlap it may compute beside one, and waits while two are
 * under way. */
static void hold_for(struct gossip_cluster *c, int32_t worker, bool beside)
{
    struct gossip_worker *w = &c->workers[worker];
    if (!beside || w->flying++ > 0)
        worker_hold(c, w);
}

/* It has ended. */
static void unhold(struct gossip_cluster *c, int32_t worker, bool beside)
{
    struct gossip_worker *w = &c->workers[worker];
    if (!beside || --w->flying > 0)
        worker_release(c, w);
}

/* What the exchange held is released before the method's hook runs, as the hook may start the next one. */
static int transfer_end(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e)
{
    c->engine->cause = (struct gossip_cause){ .kind = GOSSIP_AT_END, .id = t->serial };
    /* It is over: what follows from it is not a second one beside it. */
    if (t->holds_from)
        unhold(c, t->from, t->beside);
    if (t->holds_to)
        unhold(c, t->to, t->beside);
    int rc = c->method->end ? c->method->end(c, t, e) : 0;
    give_back(c, t->there);
    give_back(c, t->back);
    t->there = t->back = NULL;
    c->engine->slots[c->engine->n_unused++].unused = t->id;
    return rc || t->to != GOSSIP_ALL ? rc : meeting_part(c, e);
}

/* All that ends at one instant is mixed before any hook runs: results do not depend on the order of hooks. */
int gossip_wire_turn(struct gossip_cluster *c, struct err *e)
{
    const struct gossip_signal *signals;
    int32_t n;
    struct gossip_engine *g = c->engine;
    int rc = gossip_wire_advance(c->wire, &signals, &n, e);
    /* Hooks send, and then the wire's own are gone. */
    for (int32_t i = 0; i < n && !rc; i++)
        g->slots[i].signal = signals[i];
    /* All that arrives at one time is there before anything follows from it. */
    for (int32_t i = 0; i < n && !rc; i++) {
        struct gossip_transfer *t = g->slots[g->slots[i].signal.tag].transfer;
        if (g->slots[i].signal.ends && !t->mixed)
            transfer_mix(c, t);
    }
    for (int32_t i = 0; i < n && !rc; i++) {
        struct gossip_signal s = g->slots[i].signal;
        struct gossip_transfer *t = g->slots[s.tag].transfer;
        rc = s.ends ? transfer_end(c, t, e) : transfer_begin(c, t, e);
    }
    return rc;
}

/* ---- sending ---- */

static int64_t npu_of(const struct gossip_cluster *c, int32_t worker)
{
    return worker == GOSSIP_SERVER ? c->setup->fabric->server : worker;
}

/* Of the exchanges that are logged. */
static int32_t next_serial(struct gossip_cluster *c)
{
    return c->engine->log ? c->engine->log->n_exchanges++ : 0;
}

/* Logs the request (for replays at other bandwidths), holds the workers that wait for it, and hands it to the
 * network. */
int gossip_send(struct gossip_cluster *c, const struct gossip_transfer *what, struct err *e)
{
    struct gossip_transfer *t;
    bool begins;
    int rc = new_transfer(&t, c, what, e);
    if (rc)
        return rc;
    t->serial = next_serial(c);
    log_ask(c, &(struct gossip_ask){ .kind = GOSSIP_ASK_SEND,
                                     .from = t->from,
                                     .to = t->to,
                                     .there_B = t->there_B,
                                     .back_B = t->back_B,
                                     .holds_from = t->holds_from,
                                     .holds_to = t->holds_to,
                                     .always_holds = t->always_holds,
                                     .serial = t->serial });
    t->beside = c->setup->clock.overlap && !t->always_holds;
    if (t->holds_from)
        hold_for(c, t->from, t->beside);
    if (t->holds_to)
        hold_for(c, t->to, t->beside);
    rc = gossip_wire_send(c->wire, npu_of(c, t->from), npu_of(c, t->to), t->there_B, t->back_B, t->id,
                          c->now_s, &begins, e);
    return rc || !begins ? rc : transfer_begin(c, t, e);
}

int32_t gossip_peer(struct gossip_cluster *c, struct gossip_worker *w)
{
    int32_t peer = (int32_t)rng_below(w->draws[GOSSIP_DRAW_PEERS], c->n_workers - 1);
    return peer + (peer >= w->id);
}

/* ---- all together ---- */

/* A meeting starts when all workers have come. One that comes a second time before the others have come at
 * all is remembered as early. */
int gossip_meet(struct gossip_cluster *c, struct gossip_worker *w, bool waits, struct err *e)
{
    log_ask(c, &(struct gossip_ask){ .kind = GOSSIP_ASK_MEET, .from = w->id, .waits = waits });
    /* A fast worker may be back before a slow one has come at all: it counts once. */
    if (waits || w->met)
        worker_hold(c, w);
    if (w->met) {
        w->early = waits ? GOSSIP_EARLY_WAITS : GOSSIP_EARLY;
        return 0;
    }
    w->waits = waits;
    return meeting_come(c, w, e);
}

/* An all-reduce of @p n numbers among all workers, outside of a meeting. */
int gossip_gather(struct gossip_cluster *c, double n, int32_t tag, struct err *e)
{
    struct gossip_transfer *t;
    bool begins;
    int rc =
        new_transfer(&t, c,
                     &(struct gossip_transfer){
                         .from = GOSSIP_ALL, .to = GOSSIP_ALL, .there_B = gossip_model_B(c, n), .tag = tag },
                     e);
    if (rc)
        return rc;
    t->serial = next_serial(c);
    log_ask(c, &(struct gossip_ask){
                   .kind = GOSSIP_ASK_GATHER, .from = GOSSIP_SERVER, .there_B = n, .serial = t->serial });
    rc = gossip_wire_collect(c->wire, COLLECTIVE_ALL_REDUCE, t->there_B, t->id, c->now_s, &begins, e);
    return rc || !begins ? rc : transfer_begin(c, t, e);
}

int gossip_part(struct gossip_cluster *c, struct err *e)
{
    log_ask(c, &(struct gossip_ask){ .kind = GOSSIP_ASK_PART, .from = GOSSIP_SERVER });
    return meeting_part(c, e);
}

void gossip_land(struct gossip_cluster *c, const float *mean)
{
    for (int32_t i = 0; i < c->n_workers; i++) {
        struct gossip_worker *w = &c->workers[i];
        if (w->waits)
            floats_copy(w->x, mean, c->n_params);
        else
            floats_add_difference(w->x, 1, mean, w->given, c->n_params);
    }
}

/* ---- graphs ---- */

int32_t gossip_rounds(enum gossip_graph graph, int32_t n_workers)
{
    int32_t rounds = 1;
    if (graph == GOSSIP_RING)
        return 1;
    while ((int64_t)1 << rounds < n_workers)
        rounds++;
    return rounds;
}

/* The two beside it, even workers serving the next one first and odd ones the one before, so that messages
 * pair up. */
struct gossip_neighbours gossip_ring(int32_t n_workers, int32_t worker)
{
    int32_t before = (worker - 1 + n_workers) % n_workers, behind = (worker + 1) % n_workers;
    int32_t first = worker % 2 ? before : behind, second = worker % 2 ? behind : before;
    return (struct gossip_neighbours){ .n = first == second ? n_workers - 1 : 2,
                                       .to = { first, second },
                                       .from = { first, second } };
}

/* One neighbour of an exponential graph, 2^k away in round k, so that information spreads in log2(n) rounds.
 */
struct gossip_neighbours gossip_neighbours(enum gossip_graph graph, int32_t n_workers, int32_t worker,
                                           int64_t round)
{
    if (graph == GOSSIP_RING || n_workers < 2)
        return gossip_ring(n_workers, worker);
    int64_t hop = (int64_t)1 << round % gossip_rounds(graph, n_workers);
    return (struct gossip_neighbours){ .n = 1,
                                       .to = { (int32_t)((worker - hop + n_workers) % n_workers) },
                                       .from = { (int32_t)((worker + hop) % n_workers) } };
}

int32_t gossip_neighbour_place(const struct gossip_neighbours *n, int32_t from)
{
    assert(n->n > 0);
    return n->n == 2 && n->from[1] == from;
}

/* ---- messages ---- */

static bool has_one_port(const struct gossip_cluster *c)
{
    const struct gossip_fabric *f = c->setup->fabric;
    return f->fidelity == GOSSIP_CLOSED && topo_ops(&f->net.dims[0])->one_port;
}

int gossip_mail_send(struct gossip_cluster *c, struct gossip_mail *m, struct err *e)
{
    m->sent = m->arrived = 0;
    m->what.holds_from = m->what.holds_to = false;
    int rc = 0;
    while (!rc && m->sent < m->near.n && !(m->sent > 0 && has_one_port(c))) {
        m->what.to = m->near.to[m->sent++];
        rc = gossip_send(c, &m->what, e);
    }
    return rc;
}

int gossip_mail_arrived(struct gossip_cluster *c, struct gossip_mail *m, struct err *e)
{
    if (++m->arrived < m->sent || m->sent == m->near.n)
        return 0;
    m->what.to = m->near.to[m->sent++];
    return gossip_send(c, &m->what, e);
}

static int mail_begin_round(struct gossip_cluster *c, struct gossip_outbox *out,
                            const struct gossip_transfer *what, struct err *e)
{
    out->mail.what = *what;
    out->mail.near = gossip_ring(c->n_workers, what->from);
    return gossip_mail_send(c, &out->mail, e);
}

/* A round with the neighbours, at most two under way: with overlap a worker computes beside the first and
 * waits for a second. */
int gossip_send_around(struct gossip_cluster *c, struct gossip_outbox *out,
                       const struct gossip_transfer *what, struct err *e)
{
    if (c->n_workers < 2)
        return 0;
    out->rounds++;
    assert(out->rounds <= 2 && !out->held);
    if (!c->setup->clock.overlap || out->rounds > 1) {
        gossip_hold(c, &c->workers[what->from]);
        out->held = true;
    }
    if (out->rounds == 1)
        return mail_begin_round(c, out, what, e);
    out->next = *what;
    return 0;
}

int gossip_sent_around(struct gossip_cluster *c, struct gossip_outbox *out, struct err *e)
{
    struct gossip_mail *m = &out->mail;
    int rc = gossip_mail_arrived(c, m, e);
    if (rc || m->arrived < m->near.n)
        return rc;
    if (out->held)
        gossip_release(c, &c->workers[m->what.from]);
    out->held = false;
    return --out->rounds > 0 ? mail_begin_round(c, out, &out->next, e) : 0;
}

/* ---- averages ---- */

void gossip_average(float *y, float *const others[], int32_t n, int32_t n_params)
{
    float *all[GOSSIP_MAX_NEIGHBOURS + 1] = { y };
    for (int32_t k = 0; k < n; k++)
        all[k + 1] = others[k];
    floats_mean(y, all, n + 1, n_params);
}
