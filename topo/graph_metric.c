#include "topo/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <igraph.h>

#include "topo/graph_model.h"

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
struct flow {
    igraph_t graph;
    igraph_vector_t capacity; /* shape [links + NPUs] [GB/s] */
    igraph_vector_int_t ends;
};

/* Tie NPU v to the half it is in; @p stride and @p size: by its place in a dimension, first half of it. */
static void tie_halves(struct flow *f, const struct topo_graph *g, int64_t stride, int64_t size)
{
    double unlimited = 0;
    for (int64_t i = 0; i < g->n_links; i++)
        unlimited += VECTOR(f->capacity)[i];
    for (int64_t v = 0; v < g->n_npus; v++) {
        bool first_half = v / stride % size < size / 2;
        VECTOR(f->ends)[2 * (g->n_links + v)] = v;
        VECTOR(f->ends)[2 * (g->n_links + v) + 1] = g->n_vertices + (first_half ? 0 : 1);
        VECTOR(f->capacity)[g->n_links + v] = unlimited;
    }
}

static int run_flow(double *cut_GBps, struct flow *f, const struct topo_graph *g, struct err *e)
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

/* Least cut between the halves of the NPUs' places (v / stride % size). */
static int cut_halves(double *cut_GBps, const struct topo_graph *g, int64_t stride, int64_t size,
                      struct err *e)
{
    struct flow f;
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
        tie_halves(&f, g, stride, size);
        rc = run_flow(cut_GBps, &f, g, e);
    }
    igraph_vector_int_destroy(&f.ends);
out:
    igraph_vector_destroy(&f.capacity);
    return rc;
}

static int bisect_by_dim(struct topo_metrics *m, const struct topo_graph *g, struct err *e)
{
    const struct topo_network *net = &g->net;
    bool even_only = false, known = true;
    for (int32_t d = 0; d < net->n_dims; d++) {
        even_only = even_only || net->dims[d].size % 2 == 0;
        known = known && !isnan(net->dims[d].bw_Bps);
    }
    if (!known) /* a flow has no capacity to count with, even if the least cut would not need it */
        return 0;
    int64_t stride = 1;
    for (int32_t d = 0; d < net->n_dims; d++) {
        double cut_GBps = NAN;
        int64_t size = net->dims[d].size;
        if (size % 2 == 0 || !even_only) {
            int rc = cut_halves(&cut_GBps, g, stride, size, e);
            if (rc)
                return rc;
            if (!(cut_GBps * 1e9 >= m->bisection_Bps)) {
                m->bisection_Bps = cut_GBps * 1e9;
                m->bisection_dim = d;
            }
        }
        stride *= size;
    }
    return 0;
}

static int bisect(struct topo_metrics *m, const struct topo_graph *g, struct err *e)
{
    m->bisection_Bps = NAN;
    m->bisection_dim = -1;
    m->bisection_is_bound = g->net.n_dims == 0;
    if (g->n_vertices > TOPO_BISECTION_VERTICES)
        return 0;
    if (!m->bisection_is_bound)
        return bisect_by_dim(m, g, e);
    double cut_GBps = NAN;
    int rc = cut_halves(&cut_GBps, g, 1, g->n_npus, e);
    m->bisection_Bps = cut_GBps * 1e9;
    return rc;
}

static int measure_connectivity(struct topo_metrics *m, const struct topo_graph *g, struct err *e)
{
    if (m->edge_connectivity >= 0 || g->n_vertices > TOPO_CONNECTIVITY_VERTICES)
        return 0;
    igraph_integer_t links = 0;
    int rc =
        topo_from_igraph(igraph_edge_connectivity(&g->model, &links, true), "graph: edge connectivity", e);
    m->edge_connectivity = links;
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
        rc = bisect(m, g, e);
    return rc ? rc : measure_connectivity(m, g, e);
}
