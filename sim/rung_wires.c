/* The graph that flows run on, with what has failed or is slow, and which of its links are hot. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "sim/rung_state.h"

static bool is_csv(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".csv") == 0;
}

static int open_graph(struct rung *x, struct err *e)
{
    struct topo_network net = *x->net;
    struct rung_wires *w = &x->wires;
    const char *path = x->rules->graph;
    if (path[0])
        return is_csv(path) ? topo_read_edges(&w->graph, path, e) : topo_read_graphml(&w->graph, path, e);
    for (int32_t d = 0; d < net.n_dims; d++) {
        /* A dimension without bandwidth has links all the same; what would use them is known never to end. */
        net.dims[d].bw_Bps = x->bw_Bps[d] > 0 ? x->bw_Bps[d] : 1;
    }
    return topo_build_graph(&w->graph, &net, NULL, e);
}

static int reduce(struct rung_wires *w, int32_t link, double share, struct err *e)
{
    return topo_routes_set_share(&w->routes, link, fmin(share, w->routes.share[link]), e);
}

static int32_t find_vertex(const struct rung_wires *w, const char *name)
{
    char buf[TOPO_VERTEX_TEXT];
    for (int32_t v = 0; v < w->routes.n_vertices; v++)
        if (strcmp(topo_vertex_name(buf, w->graph, v), name) == 0)
            return v;
    return -1;
}

/* All links between two vertices, or of a dimension. */
static int apply_links(struct rung_wires *w, const struct sim_links *l, struct err *e)
{
    int32_t from = l->dim < 0 ? find_vertex(w, l->from) : -1, to = l->dim < 0 ? find_vertex(w, l->to) : -1;
    int32_t found = 0;
    int rc = 0;
    if (l->dim < 0 && (from < 0 || to < 0))
        return err_set(e, ERR_RANGE,
                       "\"%s\" is no vertex of the graph, need a name as weft topo "
                       "--graphml gives",
                       from < 0 ? l->from : l->to);
    for (int32_t link = 0; l->dim >= 0 && link < w->routes.n_arcs / 2 && !rc; link++)
        if (topo_link_dim(&w->routes, link) == l->dim) {
            rc = reduce(w, link, l->share, e);
            found++;
        }
    for (int32_t i = from < 0 ? 0 : w->routes.first[from]; from >= 0 && i < w->routes.first[from + 1] && !rc;
         i++)
        if (w->routes.to[w->routes.out[i]] == to) {
            rc = reduce(w, w->routes.out[i] / 2, l->share, e);
            found++;
        }
    if (!rc && !found)
        return err_set(e, ERR_RANGE, "no link %s%s%s, need one of the graph",
                       l->dim < 0 ? l->from : "of that dimension", l->dim < 0 ? " - " : "", l->to);
    return rc;
}

bool rung_is_slow(const struct topo_routes *r, const struct sim_slow *s, int32_t npu)
{
    for (int32_t d = 0; d < r->net.n_dims; d++)
        if (s->at[d] >= 0 && npu / r->stride[d] % r->net.dims[d].size != s->at[d])
            return false;
    return true;
}

static int apply_slow(struct rung_wires *w, const struct sim_slow *s, struct err *e)
{
    int32_t d = w->routes.described ? s->dim : -1;
    int rc = 0;
    if (s->dim >= 0 && d < 0)
        return err_set(e, ERR_UNSUP, "names a dimension, need none on a graph of its own");
    for (int32_t npu = 0; npu < w->routes.n_npus && s->share < 1 && !rc; npu++)
        if (rung_is_slow(&w->routes, s, npu))
            rc = topo_routes_slow_npu(&w->routes, npu, d, s->share, e);
    return rc;
}

static void close_wires(struct rung *x)
{
    if (x->wires.has_routes)
        topo_routes_free(&x->wires.routes);
    topo_graph_free(x->wires.graph);
    x->wires = (struct rung_wires){ 0 };
}

static int open_wires(struct rung *x, struct err *e)
{
    struct rung_wires *w = &x->wires;
    if (w->has_routes)
        return 0;
    int rc = open_graph(x, e);
    if (!rc)
        rc = topo_routes_build(&w->routes, w->graph, e);
    if (rc) {
        close_wires(x);
        return rc;
    }
    w->routes.seed = x->rules->seed;
    if (x->rules->graph[0])
        rc = topo_routes_lay(&w->routes, x->net, e);
    for (int32_t i = 0; i < x->rules->n_links && !rc; i++)
        if ((rc = apply_links(w, &x->rules->links[i], e)))
            err_wrap(e, "links[%d]", (int)i);
    for (int32_t i = 0; i < x->rules->n_slow && !rc; i++)
        if ((rc = apply_slow(w, &x->rules->slow[i], e)))
            err_wrap(e, "slow[%d]", (int)i);
    if (rc) {
        topo_routes_free(&w->routes);
        close_wires(x);
    }
    w->has_routes = rc == 0;
    return rc;
}

/*
 * igraph's stack of what to clean up is one for the whole program (Debian builds it without thread safety),
 * and the points of a sweep run side by side: one at a time builds, reads or frees a graph.
 */
int rung_open_wires(struct rung *x, struct err *e)
{
    int rc;
#pragma omp critical(igraph)
    rc = open_wires(x, e);
    return rc;
}

void rung_close_wires(struct rung *x)
{
#pragma omp critical(igraph)
    close_wires(x);
}

/* ---- what links carry ---- */

/* What links carried is kept in single precision. */
#define ALIKE_REL 1e-6

/* Keep the hottest, of equals the first. */
static void place(struct rung_links *out, const struct rung_hot *hot)
{
    int32_t at = out->n_hot;
    while (at > 0 && out->hot[at - 1].util_frac < hot->util_frac)
        at--;
    if (at >= RUNG_HOTTEST)
        return;
    out->n_hot += out->n_hot < RUNG_HOTTEST;
    for (int32_t i = out->n_hot - 1; i > at; i--)
        out->hot[i] = out->hot[i - 1];
    out->hot[at] = *hot;
}

static void add_bytes(double *bytes, const struct rung *x, const struct rung_weight *w, int32_t n_weights)
{
    for (int32_t i = 0; i < n_weights; i++) {
        const float *own = x->known[w[i].known].bytes;
        for (int32_t a = 0; a < x->wires.routes.n_arcs; a++)
            bytes[a] += w[i].times * (double)own[a];
    }
}

static int keep_all(struct rung_links *out, int32_t n, struct err *e)
{
    if (n > RUNG_MAX_LINKS)
        return err_set(e, ERR_RANGE, "links: are %d, need at most %d to list them all", (int)n,
                       RUNG_MAX_LINKS);
    out->all = calloc((size_t)n + 1, sizeof *out->all);
    return out->all ? 0 : err_nomem(e, "use of links");
}

int rung_find_links(struct rung_links *out, const struct rung *x, const struct rung_weight *weights,
                    int32_t n, double time_s, struct err *e)
{
    const struct topo_routes *r = &x->wires.routes;
    *out = (struct rung_links){ 0 };
    for (int32_t i = 0; i < n; i++)
        if (!x->known[weights[i].known].bytes)
            return 0;
    if (!x->wires.has_routes || !(time_s > 0) || !isfinite(time_s) || n == 0)
        return 0;
    double *bytes = calloc((size_t)r->n_arcs + 1, sizeof *bytes), sum = 0;
    if (!bytes)
        return err_nomem(e, "use of links");
    add_bytes(bytes, x, weights, n);
    out->n_arcs = r->n_arcs;
    int rc = x->rules->keep_links ? keep_all(out, r->n_arcs, e) : 0;
    for (int32_t a = 0; a < r->n_arcs && !rc; a++) {
        struct rung_hot hot = { .bytes = bytes[a],
                                .bw_Bps = topo_arc_bw(r, a),
                                .dim = topo_link_dim(r, a / 2) };
        hot.util_frac = hot.bw_Bps > 0 ? hot.bytes / hot.bw_Bps / time_s : 0;
        sum += hot.util_frac;
        out->n_used += hot.bytes > 0;
        bool is_hot = hot.bytes > 0 &&
                      (out->n_hot < RUNG_HOTTEST || hot.util_frac > out->hot[RUNG_HOTTEST - 1].util_frac);
        if (is_hot || out->all)
            topo_arc_name(hot.name, r, a);
        if (is_hot)
            place(out, &hot);
        if (out->all)
            out->all[a] = hot;
    }
    out->mean_frac = sum / r->n_arcs;
    for (int32_t a = 0; out->n_hot > 0 && a < r->n_arcs; a++)
        out->n_alike +=
            bytes[a] > 0 && bytes[a] / topo_arc_bw(r, a) / time_s >= out->hot[0].util_frac * (1 - ALIKE_REL);
    free(bytes);
    return rc;
}

void rung_links_free(struct rung_links *l)
{
    free(l->all);
    *l = (struct rung_links){ 0 };
}
