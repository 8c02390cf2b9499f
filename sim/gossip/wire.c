/*
 * A network in use: what is under way on it; built, asked, and moved on from event to event. wire.h says what
 * its two fidelities, the closed form and flows, make of an exchange.
 */
#include "sim/gossip/wire.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/vec.h"
#include "sim/event_heap.h"
#include "sim/flow/flow.h"
#include "sim/flow/flow_collective.h"
#include "workloads/collective.h"

/** What goes by one tag: an exchange or a collective. */
struct wire_parcel {
    struct topo_path there, back; /**< links that bytes cross, owned */
    double there_B, back_B;       /**< of a collective there_B alone */
    double time_s;                /**< of a collective: its seconds alone */
    double end_s;                 /**< as soon as it is known */
    int64_t order;                /**< as asked for */
    enum collective_kind kind;
    bool collective, begun;
    int32_t left; /**< flow: directions that are still moving */
    int32_t next; /**< flow: waits behind it, -1: none */
};

/** A collective and its seconds, so that it is priced once. */
struct wire_price {
    enum collective_kind kind;
    double bytes, time_s;
};

/** What happens, and where it stands among what happens at the same time. */
struct wire_event {
    int64_t order;
    struct gossip_signal signal;
};

/** The fidelity of flows. */
struct wire_flows {
    struct flow_net *net;
    int32_t n_moving;   /**< exchanges under way */
    bool collects;      /**< a collective is under way */
    int32_t head, tail; /**< queue of what waits, tags; -1: none */
};

struct gossip_wire {
    struct arena arena; /**< of the arrays that have an item per arc */
    const struct gossip_fabric *fabric;
    struct topo_network net;  /**< of the fabric, at the share of its bandwidths */
    struct topo_graph *graph; /**< of net where the share is not 1, owned; else NULL */
    struct topo_routes routes;
    double *s_per_B;                  /**< shape [n_arcs], of a message, efficiency included */
    double *arc_B;                    /**< shape [n_arcs], of messages */
    uint8_t *dims;                    /**< shape [n_arcs] */
    bool *is_between;                 /**< shape [n_arcs]: both ends are workers, or one and a switch */
    int32_t n_between[TOPO_MAX_DIMS]; /**< such arcs, of a switch those up to it */
    double sent_B, dim_B[TOPO_MAX_DIMS];
    double spread_B[TOPO_MAX_DIMS]; /**< of collectives */

    struct wire_parcel *parcels; /**< shape [cap], owned; by tag */
    int32_t cap;
    int64_t n_asked;
    struct event_heap queue;       /**< by tag: when it ends, or begins if it has not; flow: not what flows */
    struct wire_event *events;     /**< shape [cap_events], owned */
    struct gossip_signal *signals; /**< shape [cap_events], owned */
    int32_t n_events, cap_events;

    double *free_s; /**< closed form: shape [n_arcs], until when an arc is held */
    double all_s;   /**< all arcs are held until then */
    double last_s;  /**< all messages are there, and no arc is held after that */

    struct wire_flows flows;
    struct wire_price *prices; /**< shape [cap_prices], owned */
    int32_t n_prices, cap_prices;
};

/** Does it cross a link? What does not takes no time, and waits for nothing. */
static bool wire_is_sent(const struct wire_parcel *p);
/** It begins now: counted, and dated or set off. */
static int wire_begin(struct gossip_wire *w, int32_t tag, double now_s, struct err *e);
/** Note that it begins or ends now; there is room. */
static void wire_note(struct gossip_wire *w, int32_t tag, bool ends);

/** Closed form: hold what @p p needs from the moment all of it is free, and return that moment. O(links). */
static double wire_book(struct gossip_wire *w, struct wire_parcel *p, double now_s);

/** The net of flows at the efficiency of every dimension. ERR_NOMEM. */
static int wire_flows_build(struct gossip_wire *w, struct err *e);
/** May @p p begin? Otherwise wire_flows_wait(). */
static bool wire_flows_may_begin(const struct gossip_wire *w, const struct wire_parcel *p);
static void wire_flows_wait(struct gossip_wire *w, int32_t tag);
/** Set an exchange off. */
static int wire_flows_send(struct gossip_wire *w, int32_t tag, double now_s, struct err *e);
/** The next event of the flows; notes what ends. */
static void wire_flows_advance(struct gossip_wire *w);
/** Begin, and note, what need not wait any more. */
static int wire_flows_go_on(struct gossip_wire *w, double now_s, struct err *e);
/** Seconds of a collective of all workers, simulated alone. */
static int wire_flows_collective_s(double *time_s, struct gossip_wire *w, enum collective_kind kind,
                                   double bytes, struct err *e);

const char *const gossip_fidelity_words[] = { "closed-form", "flow", NULL };

/* ---- building ---- */

bool gossip_fabric_shares(const struct gossip_fabric *f, int32_t d)
{
    return f->share_dim == 0 || f->share_dim == d + 1;
}

static void scale_network(struct gossip_wire *w)
{
    const struct gossip_fabric *f = w->fabric;
    assert(f->share > 0 && isfinite(f->share) && f->share_dim >= 0 && f->share_dim <= f->net.n_dims);
    w->net = f->net;
    for (int32_t d = 0; d < w->net.n_dims; d++) {
        if (gossip_fabric_shares(f, d))
            w->net.dims[d].bw_Bps *= f->share;
        assert(w->net.dims[d].bw_Bps > 0);
    }
}

/* A graph of its own where bandwidths differ from those of the fabric. */
static int open_routes(struct gossip_wire *w, struct err *e)
{
    const struct gossip_fabric *f = w->fabric;
    bool same = f->share >= 1 && f->share <= 1;
    int rc = same ? 0 : topo_build_graph(&w->graph, &w->net, NULL, e);
    return rc ? rc : topo_routes_build(&w->routes, same ? f->graph : w->graph, e);
}

/* A worker or a switch. */
static bool may_collect(const struct gossip_wire *w, int32_t vertex)
{
    return vertex < w->fabric->n_workers || vertex >= w->routes.n_npus;
}

/* What a message needs to know of each directed link: seconds per byte, dimension, and whether it lies
 * between two that take part in collectives. */
static int open_arcs(struct gossip_wire *w, struct err *e)
{
    const struct topo_routes *r = &w->routes;
    size_t n = (size_t)r->n_arcs + 1;
    w->s_per_B = ARENA_TAKE(&w->arena, n, *w->s_per_B);
    w->arc_B = ARENA_TAKE(&w->arena, n, *w->arc_B);
    w->free_s = ARENA_TAKE(&w->arena, n, *w->free_s);
    w->dims = ARENA_TAKE(&w->arena, n, *w->dims);
    w->is_between = ARENA_TAKE(&w->arena, n, *w->is_between);
    int rc = arena_check(&w->arena, "links in use", e);
    if (rc)
        return rc;
    for (int32_t a = 0; a < r->n_arcs; a++) {
        int32_t d = topo_link_dim(r, a / 2), from = r->to[a ^ 1], to = r->to[a];
        w->dims[a] = (uint8_t)d;
        w->s_per_B[a] = 1 / (r->bw_Bps[a] * w->net.dims[d].efficiency);
        w->is_between[a] = may_collect(w, from) && may_collect(w, to);
        w->n_between[d] += w->is_between[a] && from < r->n_npus;
    }
    return 0;
}

/* igraph is not safe for threads (one error stack), so graphs are built one at a time. */
int gossip_wire_build(struct gossip_wire **out, const struct gossip_fabric *f, struct err *e)
{
    struct gossip_wire *w = calloc(1, sizeof *w);
    int rc;
    *out = NULL;
    if (!w)
        return err_nomem(e, "a network in use");
    w->fabric = f;
    scale_network(w);
#pragma omp critical(igraph)
    rc = open_routes(w, e);
    if (!rc)
        rc = open_arcs(w, e);
    if (!rc && f->fidelity == GOSSIP_FLOW)
        rc = wire_flows_build(w, e);
    if (rc)
        gossip_wire_free(w);
    else
        *out = w;
    return rc;
}

static void free_graph(struct topo_graph *g)
{
#pragma omp critical(igraph)
    topo_graph_free(g);
}

/* Safe after a failed build. */
void gossip_wire_free(struct gossip_wire *w)
{
    if (!w)
        return;
    for (int32_t i = 0; i < w->cap; i++) {
        topo_path_free(&w->parcels[i].there);
        topo_path_free(&w->parcels[i].back);
    }
    topo_routes_free(&w->routes);
    if (w->graph)
        free_graph(w->graph);
    flow_net_free(w->flows.net);
    event_heap_free(&w->queue);
    arena_free(&w->arena);
    free(w->parcels);
    free(w->events);
    free(w->signals);
    free(w->prices);
    free(w);
}

/* ---- what is counted ---- */

static void count_message(struct gossip_wire *w, const struct topo_path *path, double bytes)
{
    int32_t last = -1;
    for (int32_t i = 0; i < path->n; i++) {
        int32_t a = path->arcs[i], d = w->dims[a];
        w->arc_B[a] += bytes;
        w->dim_B[d] += d == last ? 0 : bytes; /* links of a dimension follow each other */
        last = d;
    }
    w->sent_B += path->n ? bytes : 0;
}

/* What all members send: the bytes of one, that many times. */
static void count_collective(struct gossip_wire *w, const struct wire_parcel *p)
{
    const struct gossip_fabric *f = w->fabric;
    struct topo_network net = f->net;
    double dim_B[TOPO_MAX_DIMS];
    net.whole_parts = true; /* bytes sent, not what the links need for them */
    collective_loads(dim_B, p->kind, p->there_B, f->members, NULL, NULL, &net);
    for (int32_t d = 0; d < f->net.n_dims; d++) {
        double bytes = dim_B[d] * f->n_workers;
        w->dim_B[d] += bytes;
        w->spread_B[d] += bytes;
        w->sent_B += bytes;
    }
}

double gossip_wire_sent_B(const struct gossip_wire *w)
{
    return w->sent_B;
}

double gossip_wire_dim_B(const struct gossip_wire *w, int32_t d)
{
    return w->dim_B[d];
}

int32_t gossip_wire_n_arcs(const struct gossip_wire *w)
{
    return w->routes.n_arcs;
}

double gossip_wire_arc_B(const struct gossip_wire *w, int32_t arc)
{
    int32_t d = w->dims[arc];
    return w->arc_B[arc] + (w->is_between[arc] ? w->spread_B[d] / w->n_between[d] : 0);
}

/* ---- asking ---- */

/* Parcels are found by their tag, which the caller hands out densely. */
static int wire_reserve(struct gossip_wire *w, int32_t tag, struct err *e)
{
    if (tag < w->cap)
        return 0;
    int32_t cap = 2 * tag + 16;
    struct wire_parcel *grown = realloc(w->parcels, (size_t)cap * sizeof *grown);
    if (!grown)
        return err_nomem(e, "exchanges");
    for (; w->cap < cap; w->cap++)
        grown[w->cap] = (struct wire_parcel){ 0 };
    w->parcels = grown;
    return 0;
}

static bool wire_is_sent(const struct wire_parcel *p)
{
    return p->collective ? p->time_s > 0 : p->there.n + p->back.n > 0;
}

/* From here on the bytes count. A collective among flows blocks the network for its own time, found
 * beforehand. */
static int wire_begin(struct gossip_wire *w, int32_t tag, double now_s, struct err *e)
{
    struct wire_parcel *p = &w->parcels[tag];
    bool flows = w->flows.net && wire_is_sent(p);
    p->begun = true;
    if (p->collective)
        count_collective(w, p);
    count_message(w, &p->there, p->there_B);
    count_message(w, &p->back, p->back_B);
    if (flows && !p->collective)
        return wire_flows_send(w, tag, now_s, e);
    if (flows) {
        w->flows.collects = true;
        p->end_s = now_s + p->time_s;
    }
    return event_heap_set(&w->queue, tag, p->end_s, e);
}

/* With links one after another the time of the start is known at once; with flows a parcel begins unless a
 * collective is in the way. */
static int wire_ask(struct gossip_wire *w, int32_t tag, double now_s, bool *begins, struct err *e)
{
    struct wire_parcel *p = &w->parcels[tag];
    double begin_s = now_s;
    p->order = w->n_asked++;
    p->begun = false;
    p->end_s = now_s;
    if (wire_is_sent(p) && !w->flows.net)
        begin_s = wire_book(w, p, now_s);
    *begins = begin_s <= now_s;
    if (wire_is_sent(p) && w->flows.net)
        *begins = wire_flows_may_begin(w, p);
    if (*begins)
        return wire_begin(w, tag, now_s, e);
    if (!w->flows.net)
        return event_heap_set(&w->queue, tag, begin_s, e);
    wire_flows_wait(w, tag);
    return 0;
}

static int find_way(struct topo_path *path, struct gossip_wire *w, int64_t from, int64_t to, double bytes,
                    struct err *e)
{
    assert(bytes >= 0 && isfinite(bytes));
    path->n = 0;
    return bytes > 0 ? topo_find_path(path, &w->routes, &(struct topo_trip){ .src = from, .dst = to }, e) : 0;
}

/* Both directions of an exchange are one parcel: it ends when both are done. */
int gossip_wire_send(struct gossip_wire *w, int64_t from, int64_t to, double there_B, double back_B,
                     int32_t tag, double now_s, bool *begins, struct err *e)
{
    *begins = false;
    int rc = wire_reserve(w, tag, e);
    if (rc)
        return rc;
    struct wire_parcel *p = &w->parcels[tag];
    p->collective = false;
    p->there_B = there_B;
    p->back_B = back_B;
    rc = find_way(&p->there, w, from, to, there_B, e);
    if (!rc)
        rc = find_way(&p->back, w, to, from, back_B, e);
    return rc ? rc : wire_ask(w, tag, now_s, begins, e);
}

/* A collective takes the time it would take alone; nothing else moves meanwhile. */
int gossip_wire_collect(struct gossip_wire *w, enum collective_kind kind, double bytes, int32_t tag,
                        double now_s, bool *begins, struct err *e)
{
    double time_s = 0;
    *begins = false;
    int rc = gossip_wire_collective_s(&time_s, w, kind, bytes, e);
    if (!rc)
        rc = wire_reserve(w, tag, e);
    if (rc)
        return rc;
    struct wire_parcel *p = &w->parcels[tag];
    p->collective = true;
    p->kind = kind;
    p->there_B = bytes;
    p->back_B = 0;
    p->there.n = p->back.n = 0;
    p->time_s = time_s;
    return wire_ask(w, tag, now_s, begins, e);
}

/* ---- what a collective takes ---- */

static double closed_s(const struct gossip_wire *w, enum collective_kind kind, double bytes)
{
    double bw_Bps[TOPO_MAX_DIMS];
    struct collective_time t;
    const struct collective_way way = { &w->net, &w->fabric->rules, topo_get_bandwidths(bw_Bps, &w->net) };
    collective_time(&t, kind, bytes, w->fabric->members, NULL, NULL, &way);
    return t.time_s;
}

/* Few sizes come up in a run. */
static bool is_known(double *time_s, const struct gossip_wire *w, enum collective_kind kind, double bytes)
{
    for (int32_t i = 0; i < w->n_prices; i++) {
        const struct wire_price *p = &w->prices[i];
        if (p->kind != kind || p->bytes < bytes || p->bytes > bytes)
            continue;
        *time_s = p->time_s;
        return true;
    }
    return false;
}

/* Closed form, or simulated once as flows and remembered: methods ask for few sizes again and again. */
int gossip_wire_collective_s(double *time_s, struct gossip_wire *w, enum collective_kind kind, double bytes,
                             struct err *e)
{
    assert(kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_REDUCE_SCATTER ||
           kind == COLLECTIVE_ALL_GATHER || kind == COLLECTIVE_ALL_TO_ALL);
    *time_s = 0;
    if (!w->flows.net || w->fabric->n_workers < 2 || !(bytes > 0)) {
        *time_s = closed_s(w, kind, bytes);
        return 0;
    }
    if (is_known(time_s, w, kind, bytes))
        return 0;
    if (!vec_reserve(w->prices, w->cap_prices, w->n_prices + 1))
        return err_nomem(e, "times of collectives");
    int rc = wire_flows_collective_s(time_s, w, kind, bytes, e);
    if (!rc)
        w->prices[w->n_prices++] = (struct wire_price){ kind, bytes, *time_s };
    return rc;
}

/* ---- time ---- */

double gossip_wire_next_s(struct gossip_wire *w)
{
    double next_s = event_heap_time(&w->queue);
    return w->flows.net ? fmin(next_s, flow_next_s(w->flows.net)) : next_s;
}

/* One event per tag at most. */
static int reserve_events(struct gossip_wire *w, struct err *e)
{
    if (w->cap_events >= w->cap)
        return 0;
    if (!vec_resize(w->events, w->cap) || !vec_resize(w->signals, w->cap))
        return err_nomem(e, "exchanges");
    w->cap_events = w->cap;
    return 0;
}

static void wire_note(struct gossip_wire *w, int32_t tag, bool ends)
{
    w->events[w->n_events++] = (struct wire_event){ w->parcels[tag].order, { tag, ends } };
}

/* Ends before beginnings, each as asked for. */
static int in_order(const void *a, const void *b)
{
    const struct wire_event *x = a, *y = b;
    if (x->signal.ends != y->signal.ends)
        return x->signal.ends ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/* All of the queue that is due. */
static int serve_queue(struct gossip_wire *w, double now_s, struct err *e)
{
    int32_t first = w->n_events;
    int rc = 0;
    while (w->queue.n && event_heap_time(&w->queue) <= now_s) {
        int32_t tag = event_heap_first(&w->queue);
        struct wire_parcel *p = &w->parcels[tag];
        event_heap_remove(&w->queue, tag);
        wire_note(w, tag, p->begun);
        if (p->collective && wire_is_sent(p))
            w->flows.collects = false;
    }
    /* What begins is dated only now: it may end at this very moment, but that is another event. */
    for (int32_t i = first; i < w->n_events && !rc; i++)
        if (!w->events[i].signal.ends)
            rc = wire_begin(w, w->events[i].signal.tag, now_s, e);
    return rc;
}

/* Everything that begins or ends at the next instant, sorted by order of request, so that nothing depends on
 * heaps. */
int gossip_wire_advance(struct gossip_wire *w, const struct gossip_signal **signals, int32_t *n,
                        struct err *e)
{
    double now_s = gossip_wire_next_s(w);
    *n = 0;
    *signals = NULL;
    w->n_events = 0;
    if (isinf(now_s))
        return 0;
    int rc = reserve_events(w, e);
    if (rc)
        return rc;
    if (w->flows.net && flow_next_s(w->flows.net) <= now_s)
        wire_flows_advance(w);
    rc = serve_queue(w, now_s, e);
    if (!rc && w->flows.net)
        rc = wire_flows_go_on(w, now_s, e);
    if (rc)
        return rc;
    qsort(w->events, (size_t)w->n_events, sizeof *w->events, in_order);
    for (int32_t i = 0; i < w->n_events; i++)
        w->signals[i] = w->events[i].signal;
    *n = w->n_events;
    *signals = w->signals;
    return 0;
}

/* ---- closed form: messages that hold their links ---- */

/* One direction of an exchange. */
struct wire_way {
    const struct topo_path *path;
    double lat_s, bytes; /* lat_s: of all its links, and the overhead of a message */
};

static struct wire_way way_of(const struct gossip_wire *w, const struct topo_path *p, double bytes)
{
    struct wire_way way = { .path = p, .bytes = bytes };
    way.lat_s = w->fabric->rules.endpoint_s;
    for (int32_t i = 0; i < p->n; i++)
        way.lat_s += w->routes.lat_s[p->arcs[i]];
    return way;
}

/* What the bytes need of one link, whatever the others can carry. */
static double link_s(const struct gossip_wire *w, const struct wire_way *way, int32_t i)
{
    return way->lat_s + way->bytes * w->s_per_B[way->path->arcs[i]];
}

/* Not before @p begin_s, nor before all links are free. */
static double all_free_s(const struct gossip_wire *w, const struct wire_way *way, double begin_s)
{
    for (int32_t i = 0; i < way->path->n; i++)
        begin_s = fmax(begin_s, w->free_s[way->path->arcs[i]]);
    return begin_s;
}

/* Returns when the last byte is there: when the narrowest link is free again. */
static double wire_hold(struct gossip_wire *w, const struct wire_way *way, double begin_s)
{
    double end_s = begin_s;
    for (int32_t i = 0; i < way->path->n; i++) {
        double free_s = begin_s + link_s(w, way, i);
        w->free_s[way->path->arcs[i]] = free_s;
        end_s = fmax(end_s, free_s);
    }
    return end_s;
}

/* Each link serves one message at a time: the message starts when all links of its way are free, and holds
 * each for its bytes. A collective waits for all and holds all. */
static double wire_book(struct gossip_wire *w, struct wire_parcel *p, double now_s)
{
    if (p->collective) {
        double begin_s = fmax(now_s, w->last_s);
        p->end_s = w->all_s = w->last_s = begin_s + p->time_s;
        return begin_s;
    }
    struct wire_way there = way_of(w, &p->there, p->there_B), back = way_of(w, &p->back, p->back_B);
    double begin_s = all_free_s(w, &back, all_free_s(w, &there, fmax(now_s, w->all_s)));
    p->end_s = fmax(wire_hold(w, &there, begin_s), wire_hold(w, &back, begin_s));
    w->last_s = fmax(w->last_s, p->end_s);
    return begin_s;
}

/* ---- messages as flows that share links, and collectives of flows, simulated alone ---- */

static int set_shares(struct gossip_wire *w, bool of_messages, struct err *e)
{
    int rc = 0;
    for (int32_t a = 0; a < w->routes.n_arcs && !rc; a += 2)
        rc =
            topo_routes_set_share(&w->routes, a / 2, of_messages ? w->net.dims[w->dims[a]].efficiency : 1, e);
    return rc;
}

/* A message crosses dimensions of different efficiency, so that it is taken from the links, not added to the
 * bytes. Collectives do the latter: their routes have whole links. */
static int wire_flows_build(struct gossip_wire *w, struct err *e)
{
    w->flows.head = w->flows.tail = -1;
    int rc = set_shares(w, true, e);
    if (!rc)
        rc = flow_net_build(&w->flows.net, &w->routes, e);
    return rc ? rc : set_shares(w, false, e);
}

/* ---- waiting ---- */

/* What waits is a collective and all that was asked for after it: nothing overtakes it. */
static bool wire_flows_may_begin(const struct gossip_wire *w, const struct wire_parcel *p)
{
    const struct wire_flows *f = &w->flows;
    return !f->collects && f->head < 0 && !(p->collective && f->n_moving > 0);
}

static void wire_flows_wait(struct gossip_wire *w, int32_t tag)
{
    struct wire_flows *f = &w->flows;
    w->parcels[tag].next = -1;
    if (f->tail >= 0)
        w->parcels[f->tail].next = tag;
    else
        f->head = tag;
    f->tail = tag;
}

/* Starts what waits, in order, until the next one is a collective that must wait for flows to end. */
static int wire_flows_go_on(struct gossip_wire *w, double now_s, struct err *e)
{
    struct wire_flows *f = &w->flows;
    int rc = 0;
    while (!rc && f->head >= 0 && !f->collects) {
        int32_t tag = f->head;
        if (w->parcels[tag].collective && f->n_moving > 0)
            break;
        f->head = w->parcels[tag].next;
        f->tail = f->head < 0 ? -1 : f->tail;
        wire_note(w, tag, false);
        rc = wire_begin(w, tag, now_s, e);
    }
    return rc;
}

/* ---- moving ---- */

/* A message to oneself uses no link and is done at once. */
static int add_flow(struct gossip_wire *w, int32_t tag, const struct topo_path *path, double bytes,
                    double now_s, struct err *e)
{
    if (path->n == 0)
        return 0;
    w->parcels[tag].left++;
    return flow_add(w->flows.net,
                    &(struct flow_spec){ .arcs = path->arcs,
                                         .n_arcs = path->n,
                                         .bytes = bytes,
                                         .start_s = now_s,
                                         .extra_s = w->fabric->rules.endpoint_s,
                                         .tag = tag },
                    e);
}

static int wire_flows_send(struct gossip_wire *w, int32_t tag, double now_s, struct err *e)
{
    struct wire_parcel *p = &w->parcels[tag];
    w->flows.n_moving++;
    p->left = 0;
    int rc = add_flow(w, tag, &p->there, p->there_B, now_s, e);
    return rc ? rc : add_flow(w, tag, &p->back, p->back_B, now_s, e);
}

/* A parcel is over when the last of its flows is. */
static void wire_flows_advance(struct gossip_wire *w)
{
    struct flow_net *net = w->flows.net;
    flow_advance(net);
    for (int32_t i = 0; i < flow_n_ended(net); i++) {
        int32_t tag = (int32_t)flow_ended(net, i);
        if (--w->parcels[tag].left > 0)
            continue;
        w->flows.n_moving--;
        wire_note(w, tag, true);
    }
}

/* ---- collectives ---- */

/* Times the collective on the idle network, as a group from the first NPU on. */
static int wire_run_alone(double *time_s, struct flow_sim *sim, const struct gossip_fabric *f,
                          enum collective_kind kind, double bytes, struct err *e)
{
    struct flow_group_spec spec = { .single = true };
    int32_t group, id;
    for (int32_t d = 0; d < f->net.n_dims; d++)
        spec.members[d] = f->members[d];
    int rc = flow_sim_group(sim, &spec, &group, e);
    if (!rc)
        rc = flow_sim_issue(sim, group, kind, bytes, 0, 0, &id, e);
    if (!rc)
        rc = flow_sim_run(sim, e);
    if (!rc)
        *time_s = flow_sim_finish_s(sim, id);
    return rc;
}

static int wire_flows_collective_s(double *time_s, struct gossip_wire *w, enum collective_kind kind,
                                   double bytes, struct err *e)
{
    struct flow_sim *sim;
    int rc = flow_sim_build(
        &sim, &w->routes,
        &(struct flow_rules){ .stage = w->fabric->rules, .route = TOPO_ROUTE_DIMENSION, .active = 1 }, e);
    if (!rc)
        rc = wire_run_alone(time_s, sim, w->fabric, kind, bytes, e);
    flow_sim_free(sim);
    return rc ? err_wrap(e, "collective of all workers") : 0;
}
