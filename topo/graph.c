/*
 * Networks as graphs: built from dimensions or read from GraphML and CSV, measured, written. This file is
 * igraph's home, with graph_call.c and graph_orbits.c. NPUs are vertices 0 .. n-1, switches follow dimension
 * by dimension; links follow dimension by dimension too, in the order in which the shape lists its edges:
 * numbers of arcs follow from it (arc 2 l and 2 l + 1 of link l), and equal-cost routes hash them. Metrics by
 * search stand beside the formulas of metric.c, tests hold them equal.
 *
 * igraph is kept apart from all else: no header of it is seen outside, its vectors are freed where they are
 * made, and the code of each call that can fail goes through topo_from_igraph(). Its attributes are columns
 * by name, numbers as doubles, so numbers of links are exact below 2^53.
 */
/* fopencookie(): a stream into a text. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "topo/graph.h"

#include <assert.h>
#include <igraph.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "topo/cut.h"
#include "topo/halves.h"
#include "topo/graph_call.h"
#include "topo/graph_draft.h"

/** Attribute names in the model and in files. */
#define ATTR_BW    "bw_GBps"
#define ATTR_LAT   "latency_ns"
#define ATTR_LAT_2 "lat_ns" /**< in files that are read: the same */
#define ATTR_DIM   "dim"
#define ATTR_USD   "usd" /**< of edges in the model; of vertices too in files */
#define ATTR_WATT  "watt"
#define ATTR_CLASS "class" /**< files only; in memory a number beside the model */
#define ATTR_KIND  "kind"  /**< boolean in the model: is an NPU; "npu" or "switch" in files */
#define ATTR_NAME  "name"  /**< in the model of a custom graph only; exports of others make it up */
#define ATTR_COORD "coord" /**< exports only */

struct topo_graph {
    igraph_t model;
    bool has_model;
    int64_t n_npus, n_vertices, n_links;
    struct topo_network net; /**< n_dims 0: custom */
    /* Of a custom graph alone, owned; NULL of others. */
    char (*classes)[TOPO_NAME];
    int32_t n_classes;
    int32_t *cls;       /**< shape [n_links] */
    double *usd, *watt; /**< shape [n_vertices] */
    bool no_kinds;      /**< the file says of no vertex what it is */
};

void topo_graph_init(void)
{
    topo_igraph_init();
}

/* Nearest number of 15 significant digits: what igraph writes into files. So a graph that was built and one
 * that was written and read again agree in each bit. */
static double topo_fifteen_digits(double x)
{
    char text[NUM_TEXT];
    snprintf(text, sizeof text, "%.15g", x);
    return strtod(text, NULL);
}

/* Sizes of a graph before any of it is there. */
struct graph_plan {
    int64_t n_vertices, n_links;
    int64_t dim_links[TOPO_MAX_DIMS];
    int64_t first_switch[TOPO_MAX_DIMS]; /* vertex of the dimension's first switch */
    struct shape_counts counts[TOPO_MAX_DIMS];
};

static int graph_make_plan(struct graph_plan *plan, const struct topo_network *net, struct err *e)
{
    /* No overflow: at most 2^30 + 8 * 2^29 vertices and 2^30 * 8 * 2^23 links. */
    *plan = (struct graph_plan){ .n_vertices = net->n_npus };
    for (int32_t d = 0; d < net->n_dims; d = topo_after_entry(net->dims, d)) {
        const struct topo_dim *dim = &net->dims[d];
        int64_t groups = topo_link_groups(net, d);
        if (topo_ops(dim)->check_graph && topo_ops(dim)->check_graph(dim, e))
            return err_wrap(e, "graph: dimension \"%s\"", dim->name);
        topo_ops(dim)->counts(&plan->counts[d], dim);
        plan->dim_links[d] = groups * topo_dim_links(dim);
        plan->n_links += plan->dim_links[d];
        plan->first_switch[d] = plan->n_vertices;
        plan->n_vertices += groups * plan->counts[d].hubs;
    }
    if (plan->n_vertices + plan->n_links > TOPO_MAX_GRAPH)
        return err_set(e, ERR_RANGE,
                       "graph: has %lld vertices and %lld links, expected at most %lld together",
                       (long long)plan->n_vertices, (long long)plan->n_links, (long long)TOPO_MAX_GRAPH);
    return 0;
}

/* Where the links of one group go: its members are base, base + stride, ...; its hubs from hub on. */
struct group_links {
    igraph_integer_t *at;
    int64_t base, stride, hub, n;
};

static void graph_put_link(void *x, int64_t a, int64_t b)
{
    struct group_links *to = x;
    to->at[0] = a < to->n ? to->base + a * to->stride : to->hub + a - to->n;
    to->at[1] = b < to->n ? to->base + b * to->stride : to->hub + b - to->n;
    to->at += 2;
}

/* Written in place: at a million NPUs every copy of this list is 100 MB. The order is part of the program's
 * promises: numbers of arcs, and with them results of ECMP, follow from it. */
static void graph_put_links(igraph_vector_int_t *ends, const struct topo_network *net,
                            const struct graph_plan *plan)
{
    struct group_links to = { .at = VECTOR(*ends), .stride = 1 };
    for (int32_t d = 0; d < net->n_dims; d = topo_after_entry(net->dims, d)) {
        const struct topo_dim *dim = &net->dims[d];
        int64_t before = to.stride, span = before * topo_group_size(dim), planes = topo_planes(dim);
        to.n = topo_span(dim);
        to.stride = before / topo_node(dim);
        to.hub = plan->first_switch[d];
        for (int64_t block = 0; block < net->n_npus; block += span)
            for (int64_t i = 0; i < to.stride * planes; i++, to.hub += plan->counts[d].hubs) {
                to.base = block + i / planes;
                topo_ops(dim)->edges(dim, &to, graph_put_link);
            }
        to.stride = span;
    }
    assert(to.at == VECTOR(*ends) + 2 * plan->n_links);
}

/* The list of links and igraph's own copy of it exist together for a moment: the peak of memory. */
static int graph_create_model(struct topo_graph *g, const struct graph_plan *plan, struct err *e)
{
    igraph_vector_int_t ends;
    int rc = topo_from_igraph(igraph_vector_int_init(&ends, 2 * plan->n_links), "graph: list of links", e);
    if (rc)
        return rc;
    graph_put_links(&ends, &g->net, plan);
    rc = topo_from_igraph(igraph_create(&g->model, &ends, plan->n_vertices, IGRAPH_UNDIRECTED), "graph", e);
    g->has_model = rc == 0;
    igraph_vector_int_destroy(&ends);
    return rc;
}

/* One numeric edge attribute; @p value has one for the links of each class, the dimension's that brings it.
 * Groups come one after the other, in each class by class. @p room has shape [n_links]. */
static int set_by_class(struct topo_graph *g, const char *name, const double *value,
                        const struct graph_plan *plan, igraph_vector_t *room, struct err *e)
{
    double *at = VECTOR(*room);
    for (int32_t d = 0; d < g->net.n_dims; d = topo_after_entry(g->net.dims, d)) {
        const struct shape_counts *c = &plan->counts[d];
        int64_t n_groups = topo_link_groups(&g->net, d);
        double x[SHAPE_CLASSES];
        for (int32_t k = 0; k < c->n_classes; k++)
            x[k] = topo_fifteen_digits(value[d + k]);
        for (int64_t group = 0; group < n_groups; group++)
            for (int32_t k = 0; k < c->n_classes; k++)
                for (int64_t i = 0; i < c->links[k]; i++)
                    *at++ = x[k];
    }
    return topo_from_igraph(SETEANV(&g->model, name, room), "graph: link attribute", e);
}

/* A fabric is one entry of several dimensions: its first one has the counts of all classes of links. */
static int graph_set_link_attributes(struct topo_graph *g, const struct graph_plan *plan,
                                     const double *usd_per_Bps, struct err *e)
{
    double bw_GBps[TOPO_MAX_DIMS], lat_ns[TOPO_MAX_DIMS], index[TOPO_MAX_DIMS], usd[TOPO_MAX_DIMS] = { 0 };
    int32_t first = 0;
    for (int32_t d = 0; d < g->net.n_dims; d++) {
        const struct topo_dim *dim = &g->net.dims[d];
        first = dim->level ? first : d;
        const struct topo_dim *entry = &g->net.dims[first];
        const struct shape_counts *c = &plan->counts[first];
        bw_GBps[d] = topo_link_Bps(entry, dim->level, dim->bw_Bps) / 1e9;
        lat_ns[d] = topo_dim_link_s(dim, entry->lat_s) * 1e9;
        index[d] = d;
        int64_t links = topo_link_groups(&g->net, first) * c->links[dim->level];
        if (usd_per_Bps)
            usd[d] = usd_per_Bps[d] * dim->bw_Bps / (double)links;
    }
    igraph_vector_t room;
    int rc = topo_from_igraph(igraph_vector_init(&room, plan->n_links), "graph: link attribute", e);
    if (rc)
        return rc;
    rc = set_by_class(g, ATTR_BW, bw_GBps, plan, &room, e);
    if (!rc)
        rc = set_by_class(g, ATTR_LAT, lat_ns, plan, &room, e);
    if (!rc)
        rc = set_by_class(g, ATTR_DIM, index, plan, &room, e);
    if (!rc && usd_per_Bps)
        rc = set_by_class(g, ATTR_USD, usd, plan, &room, e);
    igraph_vector_destroy(&room);
    return rc;
}

/* Mark vertices 0..n_npus-1 of the model as NPUs. */
static int topo_graph_set_kinds(struct topo_graph *g, struct err *e)
{
    igraph_vector_bool_t is_npu;
    int rc = topo_from_igraph(igraph_vector_bool_init(&is_npu, g->n_vertices), "graph: kinds", e);
    if (rc)
        return rc;
    for (int64_t v = 0; v < g->n_npus; v++)
        VECTOR(is_npu)[v] = true;
    rc = topo_from_igraph(SETVABV(&g->model, ATTR_KIND, &is_npu), "graph: kinds", e);
    igraph_vector_bool_destroy(&is_npu);
    return rc;
}

int topo_build_graph(struct topo_graph **out, const struct topo_network *net, const double *usd_per_Bps,
                     struct err *e)
{
    struct graph_plan plan;
    *out = NULL;
    topo_graph_init();
    int rc = graph_make_plan(&plan, net, e);
    if (rc)
        return rc;
    struct topo_graph *g = calloc(1, sizeof *g);
    if (!g)
        return err_nomem(e, "graph");
    g->net = *net;
    g->n_npus = net->n_npus;
    g->n_vertices = plan.n_vertices;
    g->n_links = plan.n_links;
    rc = graph_create_model(g, &plan, e);
    if (!rc)
        rc = graph_set_link_attributes(g, &plan, usd_per_Bps, e);
    if (!rc)
        rc = topo_graph_set_kinds(g, e);
    if (rc) {
        topo_graph_free(g);
        return rc;
    }
    *out = g;
    return 0;
}

void topo_graph_free(struct topo_graph *g)
{
    if (g && g->has_model)
        igraph_destroy(&g->model);
    if (g) {
        free(g->classes);
        free(g->cls);
        free(g->usd);
        free(g->watt);
    }
    free(g);
}

bool topo_graph_lacks_kinds(const struct topo_graph *g)
{
    return g->no_kinds;
}

int64_t topo_graph_npus(const struct topo_graph *g)
{
    return g->n_npus;
}

int64_t topo_graph_vertices(const struct topo_graph *g)
{
    return g->n_vertices;
}

int64_t topo_graph_links(const struct topo_graph *g)
{
    return g->n_links;
}

int32_t topo_graph_classes(const struct topo_graph *g)
{
    return g->net.n_dims ? g->net.n_dims : g->n_classes;
}

const char *topo_graph_class(const struct topo_graph *g, int32_t cls)
{
    return g->net.n_dims ? g->net.dims[cls].name : g->classes[cls];
}

double topo_vertex_usd(const struct topo_graph *g, int64_t v)
{
    return g->usd ? g->usd[v] : (double)NAN;
}

double topo_vertex_watt(const struct topo_graph *g, int64_t v)
{
    return g->watt ? g->watt[v] : (double)NAN;
}

const struct topo_network *topo_graph_network(const struct topo_graph *g)
{
    return g->net.n_dims ? &g->net : NULL;
}

static int measure_degree(struct topo_metrics *m, const struct topo_graph *g, struct err *e)
{
    igraph_vector_int_t degree;
    int rc = topo_from_igraph(igraph_vector_int_init(&degree, g->n_vertices), "graph: degree", e);
    if (rc)
        return rc;
    rc = topo_from_igraph(igraph_degree(&g->model, &degree, igraph_vss_all(), IGRAPH_ALL, IGRAPH_LOOPS),
                          "graph: degree", e);
    int64_t least = INT64_MAX; /* of all vertices */
    m->npu_degree_min = INT64_MAX;
    for (int64_t v = 0; v < g->n_vertices && !rc; v++) {
        int64_t links = VECTOR(degree)[v];
        least = links < least ? links : least;
        if (v >= g->n_npus)
            continue;
        m->npu_degree_min = links < m->npu_degree_min ? links : m->npu_degree_min;
        m->npu_degree_max = links > m->npu_degree_max ? links : m->npu_degree_max;
    }
    if (!m->connected || least <= 1) /* known without a search */
        m->edge_connectivity = m->connected ? least : 0;
    igraph_vector_int_destroy(&degree);
    return rc;
}

/* Distances of all NPUs from some sources, added up. */
struct hops {
    int64_t longest;
    double sum, pairs;
    bool connected;
};

/* Rows of the matrix are sources first_row.. of the sources in use. */
static void add_rows(struct hops *h, const igraph_matrix_t *dist)
{
    for (igraph_integer_t row = 0; row < igraph_matrix_nrow(dist); row++) {
        for (igraph_integer_t col = 0; col < igraph_matrix_ncol(dist); col++) {
            double hops = MATRIX(*dist, row, col);
            if (!isfinite(hops)) {
                h->connected = false;
                continue;
            }
            h->sum += hops;
            h->longest = (int64_t)hops > h->longest ? (int64_t)hops : h->longest;
        }
    }
    h->pairs += (double)igraph_matrix_nrow(dist) * (double)(igraph_matrix_ncol(dist) - 1);
}

/* Sources i * n_npus / n_sources; some dozens in one call share igraph's adjacency lists. */
static int add_hops(struct hops *h, const struct topo_graph *g, int64_t n_sources, struct err *e)
{
    enum { BATCH = 64 };
    igraph_vector_int_t sources;
    igraph_matrix_t dist;
    int rc = topo_from_igraph(igraph_matrix_init(&dist, 0, 0), "graph: hops", e);
    if (rc)
        return rc;
    rc = topo_from_igraph(igraph_vector_int_init(&sources, 0), "graph: hops", e);
    if (rc)
        goto out;
    for (int64_t first = 0; first < n_sources && !rc; first += BATCH) {
        int64_t n = n_sources - first < BATCH ? n_sources - first : BATCH;
        rc = topo_from_igraph(igraph_vector_int_resize(&sources, n), "graph: hops", e);
        for (int64_t i = 0; i < n && !rc; i++)
            VECTOR(sources)[i] = (first + i) * g->n_npus / n_sources;
        if (!rc)
            rc = topo_from_igraph(igraph_distances(&g->model, &dist, igraph_vss_vector(&sources),
                                                   igraph_vss_range(0, g->n_npus), IGRAPH_ALL),
                                  "graph: hops", e);
        if (!rc)
            add_rows(h, &dist);
    }
    igraph_vector_int_destroy(&sources);
out:
    igraph_matrix_destroy(&dist);
    return rc;
}

/* O(sources * (vertices + links)). With samples the longest distance is a lower bound. */
static int measure_hops(struct topo_metrics *m, const struct topo_graph *g, struct err *e)
{
    struct hops h = { .connected = true };
    m->hops_sampled = g->n_vertices > TOPO_HOPS_VERTICES;
    int rc = add_hops(&h, g, m->hops_sampled ? TOPO_HOPS_SOURCES : g->n_npus, e);
    m->diameter_hops = h.connected ? h.longest : -1;
    m->mean_hops = h.connected ? h.sum / h.pairs : INFINITY;
    return rc;
}

/* The graph with a source tied to one half of the NPUs and a sink tied to the other. */
struct graph_flow {
    igraph_t graph;
    igraph_vector_t capacity; /* shape [links + NPUs] [GB/s] */
    igraph_vector_int_t ends;
};

/* Tie NPU v to the half it is in; @p halves NULL: by its number. Ties have the capacity of all links
 * together, so the least cut never goes through one. */
static void tie_halves(struct graph_flow *f, const struct topo_graph *g, const struct topo_halves *halves)
{
    double unlimited = 0;
    for (int64_t i = 0; i < g->n_links; i++)
        unlimited += VECTOR(f->capacity)[i];
    for (int64_t v = 0; v < g->n_npus; v++) {
        bool first_half = halves ? topo_in_first_half(halves, &g->net, v) : v < g->n_npus / 2;
        VECTOR(f->ends)[2 * (g->n_links + v)] = v;
        VECTOR(f->ends)[2 * (g->n_links + v) + 1] = g->n_vertices + (first_half ? 0 : 1);
        VECTOR(f->capacity)[g->n_links + v] = unlimited;
    }
}

static int run_flow(double *cut_GBps, struct graph_flow *f, const struct topo_graph *g, struct err *e)
{
    int rc = topo_from_igraph(igraph_create(&f->graph, &f->ends, g->n_vertices + 2, IGRAPH_UNDIRECTED),
                              "graph: bisection", e);
    if (rc)
        return rc;
    rc = topo_from_igraph(
        igraph_maxflow_value(&f->graph, cut_GBps, g->n_vertices, g->n_vertices + 1, &f->capacity, NULL),
        "graph: bisection", e);
    igraph_destroy(&f->graph);
    return rc;
}

/* Least cut between these halves of the NPUs. */
static int cut_halves(double *cut_GBps, const struct topo_graph *g, const struct topo_halves *halves,
                      struct err *e)
{
    struct graph_flow f;
    int rc = topo_from_igraph(igraph_vector_init(&f.capacity, 0), "graph: bisection", e);
    if (rc)
        return rc;
    rc = topo_from_igraph(igraph_vector_int_init(&f.ends, 0), "graph: bisection", e);
    if (rc)
        goto out;
    rc = topo_from_igraph(EANV(&g->model, ATTR_BW, &f.capacity), "graph: bisection", e);
    if (!rc)
        rc = topo_from_igraph(igraph_get_edgelist(&g->model, &f.ends, false), "graph: bisection", e);
    if (!rc)
        rc = topo_from_igraph(igraph_vector_resize(&f.capacity, g->n_links + g->n_npus), "graph: bisection",
                              e);
    if (!rc)
        rc = topo_from_igraph(igraph_vector_int_resize(&f.ends, 2 * (g->n_links + g->n_npus)),
                              "graph: bisection", e);
    if (!rc) {
        tie_halves(&f, g, halves);
        rc = run_flow(cut_GBps, &f, g, e);
    }
    igraph_vector_int_destroy(&f.ends);
out:
    igraph_vector_destroy(&f.capacity);
    return rc;
}

/* The halves that formulas find best along each axis; the least of those cuts. */
static int bisect_by_axis(struct topo_metrics *m, const struct topo_graph *g, struct err *e)
{
    const struct topo_network *net = &g->net;
    struct topo_halves halves[TOPO_MAX_DIMS];
    if (!topo_has_bandwidths(net)) /* a flow has no capacity to count with */
        return 0;
    int32_t n = topo_find_halves(halves, net);
    for (int32_t i = 0; i < n; i++) {
        double cut_GBps = NAN;
        int rc = cut_halves(&cut_GBps, g, &halves[i], e);
        if (rc)
            return rc;
        /* Of equals, but for rounding, the innermost stays. */
        if (i > 0 && cut_GBps * 1e9 >= m->bisection_Bps * (1 - TOPO_HALVES_REL))
            continue;
        m->bisection_Bps = cut_GBps * 1e9;
        m->bisection_dim = halves[i].dim;
    }
    m->bisection_is_bound = m->bisection_Bps > topo_halves_floor(net) * (1 + TOPO_HALVES_REL);
    return 0;
}

static int graph_bisect(struct topo_metrics *m, const struct topo_graph *g, struct err *e)
{
    m->bisection_Bps = NAN;
    m->bisection_dim = -1;
    m->bisection_is_bound = g->net.n_dims == 0;
    if (g->n_vertices > TOPO_BISECTION_VERTICES)
        return 0;
    if (g->net.n_dims > 0)
        return bisect_by_axis(m, g, e);
    double cut_GBps = NAN;
    int rc = cut_halves(&cut_GBps, g, NULL, e);
    m->bisection_Bps = cut_GBps * 1e9;
    return rc;
}

static int measure_connectivity(struct topo_metrics *m, const struct topo_graph *g, struct err *e)
{
    if (m->edge_connectivity >= 0 || g->n_vertices > TOPO_CONNECTIVITY_VERTICES)
        return 0;
    igraph_vector_int_t ends;
    int rc = topo_from_igraph(igraph_vector_int_init(&ends, 0), "graph: edge connectivity", e);
    if (rc)
        return rc;
    rc = topo_from_igraph(igraph_get_edgelist(&g->model, &ends, false), "graph: edge connectivity", e);
    /* Not igraph_edge_connectivity(): igraph 0.10.2 crashes in it when memory is short. */
    if (!rc)
        rc = topo_least_cut(&m->edge_connectivity, g->n_vertices, VECTOR(ends), g->n_links, e);
    igraph_vector_int_destroy(&ends);
    return rc;
}

int topo_graph_metrics(struct topo_metrics *m, const struct topo_graph *g, struct err *e)
{
    *m = (struct topo_metrics){
        .n_npus = g->n_npus,
        .n_switches = g->n_vertices - g->n_npus,
        .n_links = g->n_links,
        .edge_connectivity = -1,
    };
    igraph_bool_t connected = false;
    int rc =
        topo_from_igraph(igraph_is_connected(&g->model, &connected, IGRAPH_WEAK), "graph: connectivity", e);
    m->connected = connected;
    if (!rc)
        rc = measure_degree(m, g, e);
    if (!rc)
        rc = measure_hops(m, g, e);
    if (!rc)
        rc = graph_bisect(m, g, e);
    return rc ? rc : measure_connectivity(m, g, e);
}

/* Room for the given numbers, all zero. ERR_NOMEM, or ERR_RANGE above TOPO_MAX_GRAPH. */
int topo_draft_reserve(struct topo_draft *draft, int64_t n_vertices, int64_t n_links, struct err *e)
{
    if (n_vertices > TOPO_MAX_GRAPH || n_links > TOPO_MAX_GRAPH - n_vertices)
        return err_set(e, ERR_RANGE, "has %lld vertices and %lld links, expected at most %lld together",
                       (long long)n_vertices, (long long)n_links, (long long)TOPO_MAX_GRAPH);
    /* At least one entry each: calloc(0) may return NULL. */
    draft->links = calloc((size_t)n_links + 1, sizeof *draft->links);
    draft->names = calloc((size_t)n_vertices + 1, sizeof *draft->names);
    draft->is_npu = calloc((size_t)n_vertices + 1, sizeof *draft->is_npu);
    draft->is_told = calloc((size_t)n_vertices + 1, sizeof *draft->is_told);
    if (!draft->links || !draft->names || !draft->is_npu || !draft->is_told)
        return err_nomem(e, "graph");
    draft->n_vertices = n_vertices;
    draft->n_links = n_links;
    return 0;
}

void topo_draft_free(struct topo_draft *draft)
{
    for (int64_t v = 0; draft->names && v < draft->n_vertices; v++)
        free(draft->names[v]);
    free(draft->names);
    free(draft->is_npu);
    free(draft->is_told);
    free(draft->links);
    free(draft->usd);
    free(draft->watt);
    free(draft->classes);
    *draft = (struct topo_draft){ 0 };
}

/* Are both called alike, whatever their numbers: "n0" and "n15", but not "n0" and "leaf0"? @p none: what
 * names without numbers are. */
static bool is_named_alike(const char *a, const char *b, bool none)
{
    static const char digits[] = "0123456789";
    if (!strpbrk(a, digits) && !strpbrk(b, digits))
        return none;
    for (; *a && *b; a++, b++) {
        size_t n = strspn(a, digits), m = strspn(b, digits);
        if ((n == 0) != (m == 0) || (n == 0 && *a != *b))
            return false;
        a += n ? n - 1 : 0;
        b += m ? m - 1 : 0;
    }
    return *a == *b;
}

/* Linear: one vertex of which nothing is said stands for all of them. */
int topo_draft_check_kinds(struct topo_draft *draft, const char *how, struct err *e)
{
    int64_t open = -1, told = -1;
    for (int64_t v = 0; v < draft->n_vertices; v++) {
        open = open < 0 && !draft->is_told[v] ? v : open;
        told = told < 0 && draft->is_told[v] ? v : told;
    }
    draft->no_kinds = told < 0;
    for (int64_t v = 0; v < draft->n_vertices && open >= 0; v++)
        if (is_named_alike(draft->names[v], draft->names[open], draft->is_npu[v]) != draft->is_npu[v])
            return err_set(e, ERR_PARSE,
                           "kind of node \"%.64s\" is not given, and node \"%.64s\" is %s; give %s",
                           draft->names[open], draft->names[v],
                           draft->is_npu[v] ? "named differently" : "a switch that is named alike", how);
    return 0;
}

/* Number of the class called @p name, a new one if need be. ERR_PARSE of a name too long, ERR_NOMEM. */
int topo_draft_class(int32_t *cls, struct topo_draft *draft, const char *name, int64_t link, struct err *e)
{
    *cls = -1;
    if (!name[0])
        return 0;
    if (strlen(name) >= TOPO_NAME)
        return err_set(e, ERR_PARSE, "edge %lld: class is \"%.64s\", expected at most %d bytes",
                       (long long)link + 1, name, TOPO_NAME - 1);
    for (int32_t c = 0; c < draft->n_classes; c++)
        if (strcmp(draft->classes[c], name) == 0) {
            *cls = c;
            return 0;
        }
    if (!vec_reserve(draft->classes, draft->cap_classes, draft->n_classes + 1))
        return err_nomem(e, "graph");
    *cls = draft->n_classes++;
    strcpy(draft->classes[*cls], name);
    return 0;
}

/* Price and power of a vertex are each given or not. */
static int check_node(const double *values, const char *key, const struct topo_draft *draft, int64_t v,
                      struct err *e)
{
    char text[NUM_TEXT];
    if (!values || isnan(values[v]) || (isfinite(values[v]) && values[v] >= 0))
        return 0;
    return err_set(e, ERR_RANGE, "node \"%.64s\": %s is %s, expected a number >= 0", draft->names[v], key,
                   num_format(text, values[v]));
}

static int check_value(double x, double scale, bool zero_ok, const char *key, int64_t link, struct err *e)
{
    char text[NUM_TEXT];
    if (isnan(x))
        return err_set(e, ERR_PARSE, "edge %lld: %s is missing", (long long)link + 1, key);
    if (!(isfinite(x) && (x > 0 || (zero_ok && x >= 0))))
        return err_set(e, ERR_RANGE, "edge %lld: %s is %s, expected a number %s 0", (long long)link + 1, key,
                       num_format(text, x * scale), zero_ok ? ">=" : ">");
    return 0;
}

static int check_link(const struct topo_draft *draft, int64_t i, struct err *e)
{
    const struct topo_link *link = &draft->links[i];
    if (link->src == link->dst)
        return err_set(e, ERR_RANGE, "edge %lld: joins \"%.64s\" to itself, expected two vertices",
                       (long long)i + 1, draft->names[link->src]);
    int rc = check_value(link->bw_Bps, 1e-9, false, ATTR_BW, i, e);
    if (!rc)
        rc = check_value(link->lat_s, 1e9, true, draft->lat_key, i, e);
    if (!rc && !isnan(link->usd))
        rc = check_value(link->usd, 1, true, ATTR_USD, i, e);
    if (!rc && !isnan(link->watt))
        rc = check_value(link->watt, 1, true, ATTR_WATT, i, e);
    return rc;
}

/* Check everything and number NPUs first: number[v] for vertex v of the file. Two passes keep the order of
 * the file within NPUs and within switches. */
static int number_vertices(igraph_integer_t *number, int64_t *n_npus, const struct topo_draft *draft,
                           struct err *e)
{
    int64_t next = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t v = 0; v < draft->n_vertices; v++)
            if (draft->is_npu[v] == (pass == 0))
                number[v] = next++;
        if (pass == 0)
            *n_npus = next;
    }
    if (*n_npus < 2)
        return err_set(e, ERR_RANGE, "has %lld NPUs, expected at least 2", (long long)*n_npus);
    int rc = 0;
    for (int64_t i = 0; i < draft->n_links && !rc; i++)
        rc = check_link(draft, i, e);
    for (int64_t v = 0; v < draft->n_vertices && !rc; v++) {
        rc = check_node(draft->usd, ATTR_USD, draft, v, e);
        if (!rc)
            rc = check_node(draft->watt, ATTR_WATT, draft, v, e);
    }
    return rc;
}

static int custom_create_model(struct topo_graph *g, const struct topo_draft *draft,
                               const igraph_integer_t *number, struct err *e)
{
    igraph_vector_int_t ends;
    int rc = topo_from_igraph(igraph_vector_int_init(&ends, 2 * g->n_links), "graph: list of links", e);
    if (rc)
        return rc;
    for (int64_t i = 0; i < g->n_links; i++) {
        VECTOR(ends)[2 * i] = number[draft->links[i].src];
        VECTOR(ends)[2 * i + 1] = number[draft->links[i].dst];
    }
    rc = topo_from_igraph(igraph_create(&g->model, &ends, g->n_vertices, IGRAPH_UNDIRECTED), "graph", e);
    g->has_model = rc == 0;
    igraph_vector_int_destroy(&ends);
    return rc;
}

static double link_value(const struct topo_link *link, const char *attr)
{
    if (strcmp(attr, ATTR_BW) == 0)
        return topo_fifteen_digits(link->bw_Bps / 1e9);
    if (strcmp(attr, ATTR_LAT) == 0)
        return topo_fifteen_digits(link->lat_s * 1e9);
    if (strcmp(attr, ATTR_USD) == 0)
        return topo_fifteen_digits(link->usd);
    if (strcmp(attr, ATTR_WATT) == 0)
        return topo_fifteen_digits(link->watt);
    return link->dim >= 0 ? (double)link->dim : (double)NAN;
}

static int custom_set_link_attributes(struct topo_graph *g, const struct topo_draft *draft, struct err *e)
{
    const char *const attrs[] = { ATTR_BW, ATTR_LAT, draft->has_dim ? ATTR_DIM : NULL,
                                  draft->has_usd ? ATTR_USD : NULL, draft->has_watt ? ATTR_WATT : NULL };
    igraph_vector_t values;
    int rc = topo_from_igraph(igraph_vector_init(&values, g->n_links), "graph: link attribute", e);
    if (rc)
        return rc;
    for (size_t k = 0; k < sizeof attrs / sizeof attrs[0] && !rc; k++) {
        if (!attrs[k])
            continue;
        for (int64_t i = 0; i < g->n_links; i++)
            VECTOR(values)[i] = link_value(&draft->links[i], attrs[k]);
        rc = topo_from_igraph(SETEANV(&g->model, attrs[k], &values), "graph: link attribute", e);
    }
    igraph_vector_destroy(&values);
    return rc;
}

static int set_names(struct topo_graph *g, const struct topo_draft *draft, const igraph_integer_t *number,
                     struct err *e)
{
    igraph_strvector_t names;
    int rc = topo_from_igraph(igraph_strvector_init(&names, g->n_vertices), "graph: names", e);
    if (rc)
        return rc;
    for (int64_t v = 0; v < g->n_vertices && !rc; v++)
        rc = topo_from_igraph(igraph_strvector_set(&names, number[v], draft->names[v]), "graph: names", e);
    if (!rc)
        rc = topo_from_igraph(SETVASV(&g->model, ATTR_NAME, &names), "graph: names", e);
    igraph_strvector_destroy(&names);
    return rc;
}

/* What the file says beside the wires: classes move over, prices of vertices follow their numbers. */
static int take_details(struct topo_graph *g, struct topo_draft *draft, const igraph_integer_t *number,
                        struct err *e)
{
    const double *from[] = { draft->usd, draft->watt };
    double **to[] = { &g->usd, &g->watt };
    g->classes = draft->classes;
    g->n_classes = draft->n_classes;
    draft->classes = NULL;
    g->cls = calloc((size_t)g->n_links + 1, sizeof *g->cls);
    if (!g->cls)
        return err_nomem(e, "graph");
    for (int64_t i = 0; i < g->n_links; i++)
        g->cls[i] = draft->links[i].cls;
    for (int k = 0; k < 2; k++) {
        if (!from[k])
            continue;
        *to[k] = calloc((size_t)g->n_vertices + 1, sizeof **to[k]);
        if (!*to[k])
            return err_nomem(e, "graph");
        for (int64_t v = 0; v < g->n_vertices; v++)
            (*to[k])[number[v]] = topo_fifteen_digits(from[k][v]);
    }
    return 0;
}

/* Check links and number of NPUs, number NPUs first, and make a graph of it; classes are taken out of the
 * draft. Errors as topo_read_graphml().
 */
int topo_build_custom(struct topo_graph **out, struct topo_draft *draft, struct err *e)
{
    *out = NULL;
    topo_graph_init();
    struct topo_graph *g = calloc(1, sizeof *g);
    igraph_integer_t *number = calloc((size_t)draft->n_vertices + 1, sizeof *number);
    int rc = g && number ? 0 : err_nomem(e, "graph");
    if (rc)
        goto out;
    topo_network_defaults(&g->net);
    g->n_vertices = draft->n_vertices;
    g->n_links = draft->n_links;
    g->no_kinds = draft->no_kinds;
    rc = number_vertices(number, &g->n_npus, draft, e);
    if (!rc)
        rc = custom_create_model(g, draft, number, e);
    if (!rc)
        rc = custom_set_link_attributes(g, draft, e);
    if (!rc)
        rc = set_names(g, draft, number, e);
    if (!rc)
        rc = take_details(g, draft, number, e);
    if (!rc)
        rc = topo_graph_set_kinds(g, e);
    if (!rc) {
        *out = g;
        g = NULL;
    }
out:
    topo_graph_free(g);
    free(number);
    return rc;
}

int topo_build_links(struct topo_graph **out, int64_t n_npus, int64_t n_switches, const char *prefix,
                     const struct topo_link *links, int64_t n_links, struct err *e)
{
    struct topo_draft draft = { .lat_key = ATTR_LAT };
    char name[TOPO_VERTEX_TEXT];
    *out = NULL;
    int rc = topo_draft_reserve(&draft, n_npus + n_switches, n_links, e);
    for (int64_t v = 0; v < n_npus + n_switches && !rc; v++) {
        snprintf(name, sizeof name, "%s%lld", v < n_npus ? prefix : "switch",
                 (long long)(v < n_npus ? v : v - n_npus));
        draft.is_npu[v] = v < n_npus;
        draft.names[v] = strdup(name);
        rc = draft.names[v] ? 0 : err_nomem(e, "graph");
    }
    for (int64_t i = 0; i < n_links && !rc; i++) {
        int64_t lower = links[i].src < links[i].dst ? links[i].src : links[i].dst;
        /* No overflow is looked for here: ends beyond the vertices are refused below, and callers count in 32
         * bits. */
        int64_t higher = links[i].src + links[i].dst - lower;
        if (lower < 0 || higher >= n_npus + n_switches)
            rc = err_set(e, ERR_RANGE, "edge %lld: leads from %lld to %lld, expected vertices 0 to %lld",
                         (long long)i + 1, (long long)links[i].src, (long long)links[i].dst,
                         (long long)(n_npus + n_switches) - 1);
        draft.links[i] = links[i];
        draft.links[i].usd = draft.links[i].watt = (double)NAN;
        draft.links[i].dim = draft.links[i].cls = -1;
    }
    if (!rc)
        rc = topo_build_custom(out, &draft, e);
    topo_draft_free(&draft);
    return rc;
}

/*
 * igraph's reader lets some things pass that would make another network of the
 * file: an edge to an undeclared node makes that node, hyperedges and further
 * graphs are skipped, "directed" on an edge is not looked at. A count of tags finds them.
 */
struct tags {
    int64_t nodes, edges, graphs, hyperedges, directed;
};

static const char *skip_past(const char *s, const char *what)
{
    const char *end = strstr(s, what);
    return end ? end + strlen(what) : s + strlen(s);
}

/* s is behind '<' of a start tag. Prefixes of namespaces are passed over. Attributes of an edge are looked at
 * as text: a "directed=" inside a value would be taken for one, which only refuses the file. */
static void count_tag(struct tags *tags, const char *s)
{
    size_t n = strcspn(s, " \t\r\n/>");
    const char *colon = memchr(s, ':', n);
    const char *name = colon ? colon + 1 : s;
    size_t len = n - (size_t)(name - s);
    const struct {
        const char *name;
        int64_t *count;
    } known[] = { { "node", &tags->nodes },
                  { "edge", &tags->edges },
                  { "graph", &tags->graphs },
                  { "hyperedge", &tags->hyperedges } };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (len == strlen(known[i].name) && memcmp(name, known[i].name, len) == 0)
            ++*known[i].count;
    if (len == 4 && memcmp(name, "edge", 4) == 0)
        for (; *s && *s != '>'; s++)
            tags->directed += strncmp(s, "directed=", 9) == 0 && strncmp(s + 10, "true", 4) == 0;
}

static void count_tags(struct tags *tags, const char *xml)
{
    *tags = (struct tags){ 0 };
    for (const char *s = xml; (s = strchr(s, '<'));) {
        s++;
        if (strncmp(s, "!--", 3) == 0)
            s = skip_past(s, "-->");
        else if (strncmp(s, "![CDATA[", 8) == 0)
            s = skip_past(s, "]]>");
        else if (*s != '!' && *s != '?' && *s != '/')
            count_tag(tags, s);
    }
}

static int check_tags(const struct tags *tags, const igraph_t *model, struct err *e)
{
    long long declared = tags->nodes, found = igraph_vcount(model);
    if (tags->graphs != 1)
        return err_set(e, ERR_UNSUP, "holds %lld graphs, expected one", (long long)tags->graphs);
    if (igraph_is_directed(model) || tags->directed)
        return err_set(e, ERR_UNSUP, "is directed, expected an undirected graph: every link goes both ways");
    if (tags->hyperedges)
        return err_set(e, ERR_UNSUP, "has %lld hyperedges, expected edges only", (long long)tags->hyperedges);
    if (found > declared)
        return err_set(e, ERR_PARSE, "edges name %lld nodes that are not declared", found - declared);
    if (found < declared)
        return err_set(e, ERR_PARSE, "has %lld nodes with the id of another", declared - found);
    if (igraph_ecount(model) != tags->edges)
        return err_set(e, ERR_PARSE, "has %lld edges, of which %lld could be read", (long long)tags->edges,
                       (long long)igraph_ecount(model));
    return 0;
}

/* Parse into igraph's graph; what it warns of, it leaves out, so a warning is an error here. From memory, as
 * the file was read for count_tags() already and must not be another one by now. */
static int parse_graphml(igraph_t *model, const struct text *xml, struct err *e)
{
    char warning[256];
    FILE *file = fmemopen(xml->s, xml->n, "r");
    if (!file)
        return err_nomem(e, "GraphML");
    topo_take_warning(warning, sizeof warning);
    int rc = topo_from_igraph(igraph_read_graph_graphml(model, file, 0), "GraphML", e);
    /* Where memory is short amid an element, igraph stops the parser, which then calls the text malformed. If
     * it is, it is the second time, too. */
    if (rc == ERR_LIB && fseek(file, 0, SEEK_SET) == 0)
        rc = topo_from_igraph(igraph_read_graph_graphml(model, file, 0), "GraphML", e);
    fclose(file);
    topo_take_warning(warning, sizeof warning);
    if (rc == ERR_LIB && strstr(e->msg, "Graph index")) /* of the first one, in XML that has none */
        return err_set(e, ERR_PARSE, "has no graph in it, expected GraphML with one");
    if (rc == ERR_LIB) /* the fault is in the file, not in the call */
        return e->code = ERR_PARSE;
    if (rc)
        return rc;
    if (warning[0]) {
        igraph_destroy(model);
        return err_set(e, ERR_PARSE, "GraphML: %s", warning);
    }
    return 0;
}

/* Index of @p name among the model's vertex attributes of text, -1 when there is none, -2 of another type. */
static int find_text(const char *name, const igraph_strvector_t *names, const igraph_vector_int_t *types)
{
    for (igraph_integer_t i = 0; i < igraph_strvector_size(names); i++)
        if (strcmp(igraph_strvector_get(names, i), name) == 0)
            return VECTOR(*types)[i] == IGRAPH_ATTRIBUTE_STRING ? (int)i : -2;
    return -1;
}

/* Which text attributes a model has. */
struct texts {
    bool kind, name; /* of vertices */
    bool cls;        /* of edges */
};

/* Asking igraph for a text that is a number would abort. */
static int list_texts(struct texts *has, const igraph_t *model, struct err *e)
{
    igraph_strvector_t names[3];
    igraph_vector_int_t types[3];
    int n_names = 0, n_types = 0, rc = 0;
    for (; n_names < 3 && !rc; n_names += rc == 0)
        rc = topo_from_igraph(igraph_strvector_init(&names[n_names], 0), "GraphML", e);
    for (; n_types < 3 && !rc; n_types += rc == 0)
        rc = topo_from_igraph(igraph_vector_int_init(&types[n_types], 0), "GraphML", e);
    if (!rc)
        rc = topo_from_igraph(
            igraph_cattribute_list(model, &names[0], &types[0], &names[1], &types[1], &names[2], &types[2]),
            "GraphML", e);
    if (!rc) {
        int kind = find_text(ATTR_KIND, &names[1], &types[1]),
            cls = find_text(ATTR_CLASS, &names[2], &types[2]);
        has->kind = kind >= 0;
        has->name = find_text(ATTR_NAME, &names[1], &types[1]) >= 0;
        has->cls = cls >= 0;
        if (kind == -2)
            rc = err_set(e, ERR_PARSE, "nodes: kind is not text, expected attr.type \"string\"");
        else if (cls == -2)
            rc = err_set(e, ERR_PARSE, "edges: class is not text, expected attr.type \"string\"");
    }
    while (n_names > 0)
        igraph_strvector_destroy(&names[--n_names]);
    while (n_types > 0)
        igraph_vector_int_destroy(&types[--n_types]);
    return rc;
}

static int set_kind(bool *is_npu, bool *is_told, const char *kind, const char *name, struct err *e)
{
    *is_npu = strcmp(kind, "switch") != 0;
    *is_told = kind[0] != '\0';
    if (*is_npu && kind[0] && strcmp(kind, "npu") != 0)
        return err_set(e, ERR_PARSE, "node \"%.64s\": kind is \"%.64s\", expected npu or switch", name, kind);
    return 0;
}

/* Names freed with the draft, also after a failure half way. */
/* Fill @p *values, shape [n_vertices], from a numeric vertex attribute; NULL where there is none. */
static int node_values(double **values, const igraph_t *model, const char *name, struct err *e)
{
    igraph_vector_t v;
    if (!igraph_cattribute_has_attr(model, IGRAPH_ATTRIBUTE_VERTEX, name))
        return 0;
    int rc = topo_from_igraph(igraph_vector_init(&v, igraph_vcount(model)), "GraphML", e);
    if (rc)
        return rc;
    rc = topo_from_igraph(VANV(model, name, &v), "", e);
    if (rc == ERR_LIB)
        rc = err_set(e, ERR_PARSE, "nodes: %s is not a number, expected attr.type \"double\"", name);
    *values = rc ? NULL : calloc((size_t)igraph_vcount(model) + 1, sizeof **values);
    if (!rc && !*values)
        rc = err_nomem(e, "graph");
    for (igraph_integer_t i = 0; i < igraph_vcount(model) && !rc; i++)
        (*values)[i] = VECTOR(v)[i];
    igraph_vector_destroy(&v);
    return rc;
}

static int copy_vertices(struct topo_draft *draft, const igraph_t *model, const struct texts *has,
                         struct err *e)
{
    int rc = node_values(&draft->usd, model, ATTR_USD, e);
    if (!rc)
        rc = node_values(&draft->watt, model, ATTR_WATT, e);
    for (int64_t v = 0; v < draft->n_vertices && !rc; v++) {
        /* igraph keeps the id of every node as attribute "id". */
        const char *name = has->name ? VAS(model, ATTR_NAME, v) : "";
        if (!name[0])
            name = VAS(model, "id", v);
        draft->names[v] = strdup(name);
        if (!draft->names[v])
            return err_nomem(e, "graph");
        rc = set_kind(&draft->is_npu[v], &draft->is_told[v], has->kind ? VAS(model, ATTR_KIND, v) : "",
                      draft->names[v], e);
    }
    return rc;
}

/* Fill @p values from a numeric edge attribute; NaN where the attribute does not exist. */
static int edge_values(igraph_vector_t *values, bool *exists, const igraph_t *model, const char *name,
                       struct err *e)
{
    *exists = igraph_cattribute_has_attr(model, IGRAPH_ATTRIBUTE_EDGE, name);
    if (!*exists) {
        igraph_vector_fill(values, NAN);
        return 0;
    }
    int rc = topo_from_igraph(EANV(model, name, values), "", e);
    return rc == ERR_LIB
               ? err_set(e, ERR_PARSE, "edges: %s is not a number, expected attr.type \"double\"", name)
               : rc;
}

static int32_t to_dim(double x)
{
    return x >= 0 && x < TOPO_MAX_DIMS && x == floor(x) ? (int32_t)x : -1;
}

/* A latency under either name. */
static int find_latency(struct topo_draft *draft, const igraph_t *model, struct err *e)
{
    if (!igraph_cattribute_has_attr(model, IGRAPH_ATTRIBUTE_EDGE, ATTR_LAT_2))
        return 0;
    draft->lat_key = ATTR_LAT_2;
    return igraph_cattribute_has_attr(model, IGRAPH_ATTRIBUTE_EDGE, ATTR_LAT)
               ? err_set(e, ERR_PARSE, "edges: %s and %s are the same; give one", ATTR_LAT_2, ATTR_LAT)
               : 0;
}

/* Numbers of a link, and which of them edges have. */
enum { HAS_BW, HAS_LAT, HAS_USD, HAS_WATT, HAS_DIM, N_HAS };

/* Links but for their classes; latencies go by the name @p lat_key. */
static int read_wires(struct topo_link *links, bool has[N_HAS], const igraph_t *model, const char *lat_key,
                      struct err *e)
{
    const struct {
        const char *attr;
        size_t field;
        double times;
    } numbers[] = { [HAS_BW] = { ATTR_BW, offsetof(struct topo_link, bw_Bps), 1e9 },
                    [HAS_LAT] = { lat_key, offsetof(struct topo_link, lat_s), 1e-9 },
                    [HAS_USD] = { ATTR_USD, offsetof(struct topo_link, usd), 1 },
                    [HAS_WATT] = { ATTR_WATT, offsetof(struct topo_link, watt), 1 } };
    int64_t n = igraph_ecount(model);
    igraph_vector_t values;
    int rc = topo_from_igraph(igraph_vector_init(&values, n), "graph: links", e);
    if (rc)
        return rc;
    const double *x = VECTOR(values);
    for (int64_t i = 0; i < n; i++)
        links[i] = (struct topo_link){ .src = IGRAPH_FROM(model, i), .dst = IGRAPH_TO(model, i) };
    for (int k = 0; k < HAS_DIM && !rc; k++) {
        rc = edge_values(&values, &has[k], model, numbers[k].attr, e);
        for (int64_t i = 0; i < n && !rc; i++)
            *(double *)(void *)((char *)&links[i] + numbers[k].field) = x[i] * numbers[k].times;
    }
    if (!rc)
        rc = edge_values(&values, &has[HAS_DIM], model, ATTR_DIM, e);
    for (int64_t i = 0; i < n && !rc; i++)
        links[i].dim = to_dim(x[i]);
    igraph_vector_destroy(&values);
    return rc;
}

static int copy_links(struct topo_draft *draft, const igraph_t *model, const struct texts *texts,
                      struct err *e)
{
    bool has[N_HAS] = { false };
    int rc = find_latency(draft, model, e);
    if (!rc)
        rc = read_wires(draft->links, has, model, draft->lat_key, e);
    draft->has_dim = has[HAS_DIM];
    draft->has_usd = has[HAS_USD];
    draft->has_watt = has[HAS_WATT];
    for (int64_t i = 0; i < draft->n_links && !rc; i++)
        rc = topo_draft_class(&draft->links[i].cls, draft, texts->cls ? EAS(model, ATTR_CLASS, i) : "", i, e);
    return rc;
}

static int build_from_model(struct topo_graph **out, const igraph_t *model, struct err *e)
{
    struct topo_draft draft = { .lat_key = ATTR_LAT };
    struct texts has = { 0 };
    int rc = topo_draft_reserve(&draft, igraph_vcount(model), igraph_ecount(model), e);
    if (!rc)
        rc = list_texts(&has, model, e);
    if (!rc)
        rc = copy_vertices(&draft, model, &has, e);
    if (!rc)
        rc = copy_links(&draft, model, &has, e);
    if (!rc)
        rc = topo_draft_check_kinds(&draft, "every node kind npu or switch", e);
    if (!rc)
        rc = topo_build_custom(out, &draft, e);
    topo_draft_free(&draft);
    return rc;
}

static int read_xml(struct topo_graph **out, const struct text *xml, struct err *e)
{
    struct tags tags;
    igraph_t model;
    if (xml->n == 0 || strlen(xml->s) != xml->n)
        return err_set(e, ERR_PARSE, "is %s, expected GraphML in UTF-8",
                       xml->n ? "no text (it has a NUL byte)" : "empty");
    count_tags(&tags, xml->s);
    if (tags.nodes + tags.edges > TOPO_MAX_GRAPH)
        return err_set(e, ERR_RANGE, "has %lld nodes and edges, expected at most %lld",
                       (long long)tags.nodes + (long long)tags.edges, (long long)TOPO_MAX_GRAPH);
    int rc = parse_graphml(&model, xml, e);
    if (rc)
        return rc;
    rc = check_tags(&tags, &model, e);
    if (!rc)
        rc = build_from_model(out, &model, e);
    igraph_destroy(&model);
    return rc;
}

int topo_read_graphml(struct topo_graph **out, const char *path, struct err *e)
{
    struct text xml = { 0 };
    *out = NULL;
    topo_graph_init();
    int rc = text_read_file(&xml, path, TOPO_MAX_GRAPH_BYTES, e);
    if (!rc) {
        rc = read_xml(out, &xml, e);
        if (rc)
            err_wrap(e, "%s", path);
    }
    text_free(&xml);
    return rc;
}

/* Dimension of switch vertex v of a described network; @p group: which of its switches. */
static int32_t switch_dim(const struct topo_graph *g, int64_t v, int64_t *group)
{
    *group = v - g->n_npus;
    for (int32_t d = 0; d < g->net.n_dims; d = topo_after_entry(g->net.dims, d)) {
        struct shape_counts c;
        topo_ops(&g->net.dims[d])->counts(&c, &g->net.dims[d]);
        int64_t hubs = topo_link_groups(&g->net, d) * c.hubs;
        if (*group < hubs)
            return d;
        *group -= hubs;
    }
    return -1;
}

const char *topo_vertex_name(char buf[TOPO_VERTEX_TEXT], const struct topo_graph *g, int64_t v)
{
    int64_t group;
    if (g->net.n_dims == 0)
        snprintf(buf, TOPO_VERTEX_TEXT, "%s", VAS(&g->model, ATTR_NAME, v));
    else if (v < g->n_npus)
        snprintf(buf, TOPO_VERTEX_TEXT, "npu%lld", (long long)v);
    else {
        const char *dim = g->net.dims[switch_dim(g, v, &group)].name;
        snprintf(buf, TOPO_VERTEX_TEXT, "switch-%s-%lld", dim, (long long)group);
    }
    return buf;
}

const char *topo_vertex_coord(char buf[TOPO_VERTEX_TEXT], const struct topo_graph *g, int64_t v)
{
    int64_t rest = v;
    int32_t hub = v < g->n_npus ? -1 : switch_dim(g, v, &rest);
    int32_t end = hub;
    size_t used = 0;
    buf[0] = '\0';
    if (hub >= 0) { /* of a group: all levels of its entry, and with a shared spine what lies inside */
        struct shape_counts c;
        const struct topo_dim *entry = &g->net.dims[hub];
        topo_ops(entry)->counts(&c, entry);
        rest /= c.hubs * topo_planes(entry);
        end = topo_after_entry(g->net.dims, hub);
        hub = topo_node(entry) > 1 ? 0 : hub;
    }
    for (int32_t d = 0; d < g->net.n_dims; d++) {
        const char *comma = d ? "," : "";
        if (d >= hub && d < end) {
            used += (size_t)snprintf(buf + used, TOPO_VERTEX_TEXT - used, "%s*", comma);
            continue;
        }
        int64_t size = g->net.dims[d].size;
        used +=
            (size_t)snprintf(buf + used, TOPO_VERTEX_TEXT - used, "%s%lld", comma, (long long)(rest % size));
        rest /= size;
    }
    return buf;
}

static const char *kind_text(char buf[TOPO_VERTEX_TEXT], const struct topo_graph *g, int64_t v)
{
    return strcpy(buf, v < g->n_npus ? "npu" : "switch");
}

static int set_texts(igraph_t *model, const struct topo_graph *g, const char *attr,
                     const char *(*format)(char *, const struct topo_graph *, int64_t), struct err *e)
{
    char buf[TOPO_VERTEX_TEXT];
    igraph_strvector_t texts;
    int rc = topo_from_igraph(igraph_strvector_init(&texts, g->n_vertices), "graph: export", e);
    if (rc)
        return rc;
    for (int64_t v = 0; v < g->n_vertices && !rc; v++)
        rc = topo_from_igraph(igraph_strvector_set(&texts, v, format(buf, g, v)), "graph: export", e);
    if (!rc)
        rc = topo_from_igraph(SETVASV(model, attr, &texts), "graph: export", e);
    igraph_strvector_destroy(&texts);
    return rc;
}

static int export_classes(igraph_t *copy, const struct topo_graph *g, struct err *e)
{
    igraph_strvector_t texts;
    igraph_vector_t dims;
    if (topo_graph_classes(g) == 0)
        return 0;
    int rc = topo_from_igraph(igraph_strvector_init(&texts, g->n_links), "graph: export", e);
    if (rc)
        return rc;
    rc = topo_from_igraph(igraph_vector_init(&dims, g->n_links), "graph: export", e);
    if (!rc && g->net.n_dims)
        rc = topo_from_igraph(EANV(&g->model, ATTR_DIM, &dims), "graph: export", e);
    for (int64_t i = 0; i < g->n_links && !rc; i++) {
        int32_t cls = g->net.n_dims ? (int32_t)VECTOR(dims)[i] : g->cls[i];
        char name[TOPO_NAME] = "";
        if (cls >= 0)
            snprintf(name, sizeof name, "%s", topo_graph_class(g, cls));
        /* "pod.up1" is no name that a list of classes may have. */
        for (char *dot = name; g->net.n_dims && (dot = strchr(dot, '.'));)
            *dot = '-';
        rc = topo_from_igraph(igraph_strvector_set(&texts, i, name), "graph: export", e);
    }
    if (!rc)
        rc = topo_from_igraph(SETEASV(copy, ATTR_CLASS, &texts), "graph: export", e);
    igraph_vector_destroy(&dims);
    igraph_strvector_destroy(&texts);
    return rc;
}

/* Prices of vertices; a NaN is left out of the file. */
static int export_node_values(igraph_t *copy, const char *attr, const double *values, int64_t n,
                              struct err *e)
{
    igraph_vector_t v;
    if (!values)
        return 0;
    int rc = topo_from_igraph(igraph_vector_init_array(&v, values, n), "graph: export", e);
    if (rc)
        return rc;
    rc = topo_from_igraph(SETVANV(copy, attr, &v), "graph: export", e);
    igraph_vector_destroy(&v);
    return rc;
}

/* A copy of the model with the texts that files carry and memory does not. The boolean kind of the model is
 * taken out first, as the text of files has the same name. */
static int copy_for_export(igraph_t *copy, const struct topo_graph *g, struct err *e)
{
    int rc = topo_from_igraph(igraph_copy(copy, &g->model), "graph: export", e);
    if (rc)
        return rc;
    DELVA(copy, ATTR_KIND);
    if (g->net.n_dims > 0) {
        rc = set_texts(copy, g, ATTR_NAME, topo_vertex_name, e);
        if (!rc)
            rc = set_texts(copy, g, ATTR_COORD, topo_vertex_coord, e);
    }
    if (!rc)
        rc = set_texts(copy, g, ATTR_KIND, kind_text, e);
    if (!rc)
        rc = export_classes(copy, g, e);
    if (!rc)
        rc = export_node_values(copy, ATTR_USD, g->usd, g->n_vertices, e);
    if (!rc)
        rc = export_node_values(copy, ATTR_WATT, g->watt, g->n_vertices, e);
    if (rc)
        igraph_destroy(copy);
    return rc;
}

static igraph_error_t write_graphml(const igraph_t *model, FILE *file)
{
    return igraph_write_graph_graphml(model, file, true);
}

struct graph_writing {
    igraph_error_t (*write)(const igraph_t *model, FILE *file);
    const igraph_t *model;
    FILE *file;
};

static igraph_error_t write_model(void *data)
{
    const struct graph_writing *w = data;
    return w->write(w->model, w->file);
}

/* A stream of open_memstream() drops its end without a word where memory is short in fclose() (glibc 2.36); a
 * text knows what it dropped. */
static ssize_t add_written(void *cookie, const char *s, size_t n)
{
    struct text *out = cookie;
    text_add(out, s, n);
    return out->failed ? 0 : (ssize_t)n;
}

static int format_graph(struct text *out, const struct topo_graph *g,
                        igraph_error_t (*write)(const igraph_t *, FILE *), struct err *e)
{
    igraph_t copy;
    int rc = copy_for_export(&copy, g, e);
    if (rc)
        return rc;
    FILE *file = fopencookie(out, "w", (cookie_io_functions_t){ .write = add_written });
    if (!file) {
        rc = err_nomem(e, "graph: export");
        goto out;
    }
    rc = topo_from_igraph(topo_igraph_safely(write_model, &(struct graph_writing){ write, &copy, file }),
                          "graph: export", e);
    bool complete = !ferror(file);
    complete = fclose(file) == 0 && complete;
    if (!complete || out->failed) /* igraph knows but that a file could not be written */
        rc = err_nomem(e, "graph: export");
out:
    igraph_destroy(&copy);
    return rc;
}

int topo_format_graphml(struct text *out, const struct topo_graph *g, struct err *e)
{
    return format_graph(out, g, write_graphml, e);
}

int topo_format_dot(struct text *out, const struct topo_graph *g, struct err *e)
{
    return format_graph(out, g, igraph_write_graph_dot, e);
}

int topo_list_links(struct topo_link *out, const struct topo_graph *g, struct err *e)
{
    bool has[N_HAS];
    int rc = read_wires(out, has, &g->model, ATTR_LAT, e);
    for (int64_t i = 0; i < g->n_links && !rc; i++) {
        int64_t a = out[i].src, b = out[i].dst;
        out[i].src = a < b ? a : b;
        out[i].dst = a < b ? b : a;
        out[i].cls = g->net.n_dims ? out[i].dim : g->cls[i];
    }
    return rc;
}

int topo_graph_scale(struct topo_graph *g, const double *times, struct err *e)
{
    static const char *const attrs[] = { ATTR_BW, ATTR_USD, ATTR_WATT };
    igraph_vector_t values;
    int rc = topo_from_igraph(igraph_vector_init(&values, g->n_links), "graph: links", e);
    if (rc)
        return rc;
    for (size_t k = 0; k < sizeof attrs / sizeof *attrs && !rc; k++) {
        if (!igraph_cattribute_has_attr(&g->model, IGRAPH_ATTRIBUTE_EDGE, attrs[k]))
            continue;
        rc = topo_from_igraph(EANV(&g->model, attrs[k], &values), "graph: links", e);
        for (int64_t i = 0; i < g->n_links && !rc; i++)
            VECTOR(values)
        [i] = topo_fifteen_digits(VECTOR(values)[i] * (g->cls[i] < 0 ? times[0] : times[g->cls[i]]));
        if (!rc)
            rc = topo_from_igraph(SETEANV(&g->model, attrs[k], &values), "graph: links", e);
    }
    igraph_vector_destroy(&values);
    return rc;
}
