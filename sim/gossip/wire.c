#include "sim/gossip/wire.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/event_heap.h"
#include "topo/route.h"
#include "workloads/collective_time.h"

const char *const gossip_rung_words[] = { "closed-form", "flow", NULL };

/* What goes by one tag. */
struct parcel {
    int64_t order; /* as asked for */
    double end_s;
    bool begun;
};

struct gossip_wire {
    const struct gossip_fabric *fabric;
    struct topo_routes routes;
    double *free_s; /* shape [n_arcs], owned: until when an arc is held */
    double *arc_B;  /* shape [n_arcs], owned */
    double all_s;   /* all arcs are held until then */
    double last_s;  /* no arc is held after that */
    double sent_B, dim_B[TOPO_MAX_DIMS], spread_B[TOPO_MAX_DIMS];
    struct parcel *parcels; /* shape [cap], owned; by tag */
    struct gossip_signal *signals;
    int32_t cap;
    int64_t n_asked;
    struct event_heap events; /* by tag */
    struct topo_path there, back;
};

int gossip_wire_build(struct gossip_wire **out, const struct gossip_fabric *f, struct err *e)
{
    struct gossip_wire *w = calloc(1, sizeof *w);
    int rc;
    *out = NULL;
    if (!w)
        return err_nomem(e, "a network in use");
    w->fabric = f;
#pragma omp critical(igraph)
    rc = topo_routes_build(&w->routes, f->graph, e);
    if (!rc) {
        w->free_s = calloc((size_t)w->routes.n_arcs + 1, sizeof *w->free_s);
        w->arc_B = calloc((size_t)w->routes.n_arcs + 1, sizeof *w->arc_B);
        rc = w->free_s && w->arc_B ? 0 : err_nomem(e, "links in use");
    }
    if (rc)
        gossip_wire_free(w);
    else
        *out = w;
    return rc;
}

void gossip_wire_free(struct gossip_wire *w)
{
    if (!w)
        return;
    topo_routes_free(&w->routes);
    topo_path_free(&w->there);
    topo_path_free(&w->back);
    event_heap_free(&w->events);
    free(w->free_s);
    free(w->arc_B);
    free(w->parcels);
    free(w->signals);
    free(w);
}

static int reserve(struct gossip_wire *w, int32_t tag, struct err *e)
{
    if (tag < w->cap)
        return 0;
    int32_t cap = 2 * tag + 16;
    struct parcel *parcels = realloc(w->parcels, (size_t)cap * sizeof *parcels);
    if (parcels)
        w->parcels = parcels;
    struct gossip_signal *signals = realloc(w->signals, (size_t)cap * sizeof *signals);
    if (signals)
        w->signals = signals;
    if (!parcels || !signals)
        return err_nomem(e, "exchanges");
    w->cap = cap;
    return 0;
}

/* Latency plus bytes over the least bandwidth of the way; *free_s: when all of it is free. */
static double way_s(double *free_s, const struct gossip_wire *w, const struct topo_path *p, double bytes)
{
    double lat_s = 0, s_per_B = 0;
    if (bytes <= 0)
        return 0;
    for (int32_t i = 0; i < p->n; i++) {
        int32_t a = p->arcs[i];
        const struct topo_dim *d = &w->fabric->net.dims[topo_link_dim(&w->routes, a / 2)];
        lat_s += w->routes.lat_s[a];
        s_per_B = fmax(s_per_B, 1 / (w->routes.bw_Bps[a] * d->efficiency * w->fabric->share));
        *free_s = fmax(*free_s, w->free_s[a]);
    }
    return lat_s + bytes * s_per_B;
}

static void hold(struct gossip_wire *w, const struct topo_path *p, double bytes, double end_s)
{
    bool crossed[TOPO_MAX_DIMS] = { false };
    for (int32_t i = 0; i < p->n && bytes > 0; i++) {
        int32_t a = p->arcs[i], d = topo_link_dim(&w->routes, a / 2);
        w->free_s[a] = end_s;
        w->arc_B[a] += bytes;
        if (!crossed[d])
            w->dim_B[d] += bytes;
        crossed[d] = true;
    }
    if (p->n)
        w->sent_B += bytes;
}

static int book(struct gossip_wire *w, int32_t tag, double now_s, double begin_s, double end_s, bool *begins,
                struct err *e)
{
    *begins = begin_s <= now_s;
    w->parcels[tag] = (struct parcel){ .order = w->n_asked++, .end_s = end_s, .begun = *begins };
    return event_heap_set(&w->events, tag, *begins ? end_s : begin_s, e);
}

int gossip_wire_send(struct gossip_wire *w, int64_t from, int64_t to, double there_B, double back_B,
                     int32_t tag, double now_s, bool *begins, struct err *e)
{
    int rc = reserve(w, tag, e);
    w->there.n = w->back.n = 0;
    if (!rc)
        rc = topo_find_path(&w->there, &w->routes, &(struct topo_trip){ .src = from, .dst = to }, e);
    if (!rc)
        rc = topo_find_path(&w->back, &w->routes, &(struct topo_trip){ .src = to, .dst = from }, e);
    if (rc)
        return rc;
    double begin_s = fmax(now_s, w->all_s);
    double there_s = way_s(&begin_s, w, &w->there, there_B), back_s = way_s(&begin_s, w, &w->back, back_B);
    double end_s = begin_s + fmax(there_s, back_s);
    hold(w, &w->there, there_B, end_s);
    hold(w, &w->back, back_B, end_s);
    w->last_s = fmax(w->last_s, end_s);
    return book(w, tag, now_s, begin_s, end_s, begins, e);
}

int gossip_wire_collective_s(double *time_s, struct gossip_wire *w, enum collective_kind kind, double bytes,
                             struct err *e)
{
    const struct gossip_fabric *f = w->fabric;
    double bw_Bps[TOPO_MAX_DIMS];
    struct collective_time t;
    (void)e;
    for (int32_t d = 0; d < f->net.n_dims; d++)
        bw_Bps[d] = f->net.dims[d].bw_Bps * f->share;
    collective_time(&t, kind, bytes, f->members,
                    &(struct collective_way){ .net = &f->net, .rules = &f->rules, .bw_Bps = bw_Bps });
    *time_s = t.time_s;
    return 0;
}

int gossip_wire_collect(struct gossip_wire *w, enum collective_kind kind, double bytes, int32_t tag,
                        double now_s, bool *begins, struct err *e)
{
    const struct gossip_fabric *f = w->fabric;
    double time_s, dim_B[TOPO_MAX_DIMS];
    int rc = reserve(w, tag, e);
    if (!rc)
        rc = gossip_wire_collective_s(&time_s, w, kind, bytes, e);
    if (rc)
        return rc;
    double begin_s = fmax(now_s, w->last_s), end_s = begin_s + time_s;
    w->all_s = w->last_s = end_s;
    collective_traffic(dim_B, kind, bytes, f->members, f->net.n_dims);
    for (int32_t d = 0; d < f->net.n_dims; d++) {
        w->dim_B[d] += dim_B[d] * f->n_workers;
        w->spread_B[d] += dim_B[d] * f->n_workers;
        w->sent_B += dim_B[d] * f->n_workers;
    }
    return book(w, tag, now_s, begin_s, end_s, begins, e);
}

double gossip_wire_next_s(struct gossip_wire *w)
{
    return event_heap_time(&w->events);
}

/* Ends before beginnings, each as asked for. */
static bool comes_before(const struct gossip_wire *w, struct gossip_signal a, struct gossip_signal b)
{
    if (a.ends != b.ends)
        return a.ends;
    return w->parcels[a.tag].order < w->parcels[b.tag].order;
}

int gossip_wire_advance(struct gossip_wire *w, const struct gossip_signal **signals, int32_t *n,
                        struct err *e)
{
    double now_s = event_heap_time(&w->events);
    int rc = 0;
    *n = 0;
    while (w->events.n && event_heap_time(&w->events) <= now_s) {
        struct gossip_signal s = { event_heap_first(&w->events), false };
        s.ends = w->parcels[s.tag].begun;
        event_heap_remove(&w->events, s.tag);
        int32_t at = (*n)++;
        for (; at > 0 && comes_before(w, s, w->signals[at - 1]); at--)
            w->signals[at] = w->signals[at - 1];
        w->signals[at] = s;
    }
    for (int32_t i = 0; i < *n && !rc; i++) {
        struct parcel *p = &w->parcels[w->signals[i].tag];
        if (!w->signals[i].ends) {
            p->begun = true;
            rc = event_heap_set(&w->events, w->signals[i].tag, p->end_s, e);
        }
    }
    *signals = w->signals;
    return rc;
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
    return w->arc_B[arc];
}

const char *gossip_wire_arc_name(char buf[GOSSIP_ARC_TEXT], const struct gossip_wire *w, int32_t arc)
{
    char name[TOPO_ARC_TEXT];
    topo_arc_name(name, &w->routes, arc);
    snprintf(buf, GOSSIP_ARC_TEXT, "%.250s", name);
    return buf;
}
