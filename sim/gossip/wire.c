/* A network in use: built, asked, and moved on from event to event. */
#include "sim/gossip/wire.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "sim/gossip/wire_model.h"
#include "workloads/collective_time.h"

const char *const gossip_rung_words[] = { "closed-form", "flow", NULL };

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

static int open_arcs(struct gossip_wire *w, struct err *e)
{
    const struct topo_routes *r = &w->routes;
    size_t n = (size_t)r->n_arcs + 1;
    w->s_per_B = calloc(n, sizeof *w->s_per_B);
    w->arc_B = calloc(n, sizeof *w->arc_B);
    w->free_s = calloc(n, sizeof *w->free_s);
    w->dims = calloc(n, sizeof *w->dims);
    w->is_between = calloc(n, sizeof *w->is_between);
    if (!w->s_per_B || !w->arc_B || !w->free_s || !w->dims || !w->is_between)
        return err_nomem(e, "links in use");
    for (int32_t a = 0; a < r->n_arcs; a++) {
        int32_t d = topo_link_dim(r, a / 2), from = r->to[a ^ 1], to = r->to[a];
        w->dims[a] = (uint8_t)d;
        w->s_per_B[a] = 1 / (r->bw_Bps[a] * w->net.dims[d].efficiency);
        w->is_between[a] = may_collect(w, from) && may_collect(w, to);
        w->n_between[d] += w->is_between[a] && from < r->n_npus;
    }
    return 0;
}

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
    if (!rc && f->rung == GOSSIP_FLOW)
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
    free(w->s_per_B);
    free(w->arc_B);
    free(w->dims);
    free(w->is_between);
    free(w->parcels);
    free(w->events);
    free(w->signals);
    free(w->free_s);
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
    double dim_B[TOPO_MAX_DIMS];
    collective_traffic(dim_B, p->kind, p->there_B, f->members, f->net.n_dims);
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

int32_t gossip_wire_arc_dim(const struct gossip_wire *w, int32_t arc)
{
    return w->dims[arc];
}

double gossip_wire_arc_B(const struct gossip_wire *w, int32_t arc)
{
    int32_t d = w->dims[arc];
    return w->arc_B[arc] + (w->is_between[arc] ? w->spread_B[d] / w->n_between[d] : 0);
}

const char *gossip_wire_arc_name(char buf[GOSSIP_ARC_TEXT], const struct gossip_wire *w, int32_t arc)
{
    return topo_arc_name(buf, &w->routes, arc);
}

/* ---- asking ---- */

static int reserve(struct gossip_wire *w, int32_t tag, struct err *e)
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

bool wire_is_sent(const struct wire_parcel *p)
{
    return p->collective ? p->time_s > 0 : p->there.n + p->back.n > 0;
}

int wire_begin(struct gossip_wire *w, int32_t tag, double now_s, struct err *e)
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

static int ask(struct gossip_wire *w, int32_t tag, double now_s, bool *begins, struct err *e)
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

int gossip_wire_send(struct gossip_wire *w, int64_t from, int64_t to, double there_B, double back_B,
                     int32_t tag, double now_s, bool *begins, struct err *e)
{
    *begins = false;
    int rc = reserve(w, tag, e);
    if (rc)
        return rc;
    struct wire_parcel *p = &w->parcels[tag];
    p->collective = false;
    p->there_B = there_B;
    p->back_B = back_B;
    rc = find_way(&p->there, w, from, to, there_B, e);
    if (!rc)
        rc = find_way(&p->back, w, to, from, back_B, e);
    return rc ? rc : ask(w, tag, now_s, begins, e);
}

int gossip_wire_collect(struct gossip_wire *w, enum collective_kind kind, double bytes, int32_t tag,
                        double now_s, bool *begins, struct err *e)
{
    double time_s = 0;
    *begins = false;
    int rc = gossip_wire_collective_s(&time_s, w, kind, bytes, e);
    if (!rc)
        rc = reserve(w, tag, e);
    if (rc)
        return rc;
    struct wire_parcel *p = &w->parcels[tag];
    p->collective = true;
    p->kind = kind;
    p->there_B = bytes;
    p->back_B = 0;
    p->there.n = p->back.n = 0;
    p->time_s = time_s;
    return ask(w, tag, now_s, begins, e);
}

/* ---- what a collective takes ---- */

static double closed_s(const struct gossip_wire *w, enum collective_kind kind, double bytes)
{
    double bw_Bps[TOPO_MAX_DIMS];
    struct collective_time t;
    for (int32_t d = 0; d < w->net.n_dims; d++)
        bw_Bps[d] = w->net.dims[d].bw_Bps;
    collective_time(&t, kind, bytes, w->fabric->members,
                    &(struct collective_way){ .net = &w->net, .rules = &w->fabric->rules, .bw_Bps = bw_Bps });
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
    struct wire_price *grown = array_grow(w->prices, w->n_prices, &w->cap_prices, sizeof *grown);
    if (!grown)
        return err_nomem(e, "times of collectives");
    w->prices = grown;
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
    struct wire_event *events = realloc(w->events, (size_t)w->cap * sizeof *events);
    if (events)
        w->events = events;
    struct gossip_signal *signals = realloc(w->signals, (size_t)w->cap * sizeof *signals);
    if (signals)
        w->signals = signals;
    if (!events || !signals)
        return err_nomem(e, "exchanges");
    w->cap_events = w->cap;
    return 0;
}

void wire_note(struct gossip_wire *w, int32_t tag, bool ends)
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
