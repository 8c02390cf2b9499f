#include "topo/graph.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <igraph.h>

#include "base/num.h"
#include "topo/graph_model.h"
#include "topo/shape.h"

/* igraph hands its reasons to a handler only; they wait here for the code to be returned. */
static _Thread_local char igraph_reason[512], igraph_warned[512];

/* One failure passes every level of igraph's calls, mostly with an empty text: the first one says why. */
static void keep_reason(const char *reason, const char *file, int line, igraph_error_t code)
{
    (void)file, (void)line, (void)code;
    if (!igraph_reason[0])
        snprintf(igraph_reason, sizeof igraph_reason, "%s", reason);
    IGRAPH_FINALLY_FREE();
}

static void keep_warning(const char *reason, const char *file, int line)
{
    (void)file, (void)line;
    if (!igraph_warned[0])
        snprintf(igraph_warned, sizeof igraph_warned, "%s", reason);
}

void topo_graph_init(void)
{
    igraph_set_error_handler(keep_reason);
    igraph_set_warning_handler(keep_warning);
    igraph_set_attribute_table(&igraph_cattribute_table);
}

int topo_from_igraph(igraph_error_t code, const char *doing, struct err *e)
{
    if (code == IGRAPH_SUCCESS)
        return 0;
    char reason[sizeof igraph_reason];
    snprintf(reason, sizeof reason, "%s", igraph_reason[0] ? igraph_reason : igraph_strerror(code));
    igraph_reason[0] = '\0';
    return err_set(e, code == IGRAPH_ENOMEM ? ERR_NOMEM : ERR_LIB, "%s: %s", doing, reason);
}

void topo_take_warning(char *buf, size_t n)
{
    snprintf(buf, n, "%s", igraph_warned);
    igraph_warned[0] = '\0';
}

double topo_fifteen_digits(double x)
{
    char text[NUM_TEXT];
    snprintf(text, sizeof text, "%.15g", x);
    return strtod(text, NULL);
}

/* Sizes of a graph before any of it is there. */
struct plan {
    int64_t n_vertices, n_links;
    int64_t dim_links[TOPO_MAX_DIMS];
    int64_t first_switch[TOPO_MAX_DIMS]; /* vertex of the dimension's first switch */
};

static int make_plan(struct plan *plan, const struct topo_network *net, struct err *e)
{
    /* No overflow: at most 2^30 + 8 * 2^29 vertices and 2^30 * 8 * 2^23 links. */
    *plan = (struct plan){ .n_vertices = net->n_npus };
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        int64_t groups = net->n_npus / dim->size;
        plan->dim_links[d] = groups * topo_shape_links(dim->shape, dim->size);
        plan->n_links += plan->dim_links[d];
        plan->first_switch[d] = plan->n_vertices;
        plan->n_vertices += dim->shape == TOPO_SWITCH ? groups : 0;
    }
    if (plan->n_vertices + plan->n_links > TOPO_MAX_GRAPH)
        return err_set(e, ERR_RANGE, "graph: has %lld vertices and %lld links, need at most %lld together",
                       (long long)plan->n_vertices, (long long)plan->n_links, (long long)TOPO_MAX_GRAPH);
    return 0;
}

static igraph_integer_t *put_link(igraph_integer_t *at, int64_t src, int64_t dst)
{
    at[0] = src;
    at[1] = dst;
    return at + 2;
}

/* Links of one group: its members are base, base + stride, ...; its switch, if it has one, is hub. */
static igraph_integer_t *put_group(igraph_integer_t *at, const struct topo_dim *dim, int64_t base,
                                   int64_t stride, int64_t hub)
{
    int64_t end = base + stride * dim->size;
    if (dim->shape == TOPO_SWITCH) {
        for (int64_t a = base; a < end; a += stride)
            at = put_link(at, a, hub);
    } else if (dim->shape == TOPO_FULL) {
        for (int64_t a = base; a < end; a += stride)
            for (int64_t b = a + stride; b < end; b += stride)
                at = put_link(at, a, b);
    } else {
        for (int64_t a = base; a + stride < end; a += stride)
            at = put_link(at, a, a + stride);
        if (dim->shape == TOPO_RING && dim->size > 2) /* of two members the wrap would double the link */
            at = put_link(at, end - stride, base);
    }
    return at;
}

/* Written in place: at a million NPUs every copy of this list is 100 MB. */
static void put_links(igraph_vector_int_t *ends, const struct topo_network *net, const struct plan *plan)
{
    igraph_integer_t *at = VECTOR(*ends);
    int64_t stride = 1;
    for (int32_t d = 0; d < net->n_dims; d++) {
        const struct topo_dim *dim = &net->dims[d];
        int64_t hub = plan->first_switch[d], span = stride * dim->size;
        for (int64_t block = 0; block < net->n_npus; block += span)
            for (int64_t base = block; base < block + stride; base++)
                at = put_group(at, dim, base, stride, hub++);
        stride = span;
    }
    assert(at == VECTOR(*ends) + 2 * plan->n_links);
}

static int create_model(struct topo_graph *g, const struct plan *plan, struct err *e)
{
    igraph_vector_int_t ends;
    int rc = topo_from_igraph(igraph_vector_int_init(&ends, 2 * plan->n_links), "graph: list of links", e);
    if (rc)
        return rc;
    put_links(&ends, &g->net, plan);
    rc = topo_from_igraph(igraph_create(&g->model, &ends, plan->n_vertices, IGRAPH_UNDIRECTED), "graph", e);
    g->has_model = rc == 0;
    igraph_vector_int_destroy(&ends);
    return rc;
}

/* One numeric edge attribute that has one value per dimension; @p room has shape [n_links]. */
static int set_by_dim(struct topo_graph *g, const char *name, const double *value, const struct plan *plan,
                      igraph_vector_t *room, struct err *e)
{
    double *at = VECTOR(*room);
    for (int32_t d = 0; d < g->net.n_dims; d++) {
        double x = topo_fifteen_digits(value[d]);
        for (int64_t i = 0; i < plan->dim_links[d]; i++)
            *at++ = x;
    }
    return topo_from_igraph(SETEANV(&g->model, name, room), "graph: link attribute", e);
}

static int set_link_attributes(struct topo_graph *g, const struct plan *plan, const double *usd_per_Bps,
                               struct err *e)
{
    double bw_GBps[TOPO_MAX_DIMS], lat_ns[TOPO_MAX_DIMS], index[TOPO_MAX_DIMS], usd[TOPO_MAX_DIMS] = { 0 };
    for (int32_t d = 0; d < g->net.n_dims; d++) {
        const struct topo_dim *dim = &g->net.dims[d];
        bw_GBps[d] = topo_shape_link_bw(dim->shape, dim->size, dim->bw_Bps) / 1e9;
        lat_ns[d] = topo_shape_link_lat(dim->shape, dim->lat_s) * 1e9;
        index[d] = d;
        if (usd_per_Bps)
            usd[d] = usd_per_Bps[d] * dim->bw_Bps / (double)plan->dim_links[d];
    }
    igraph_vector_t room;
    int rc = topo_from_igraph(igraph_vector_init(&room, plan->n_links), "graph: link attribute", e);
    if (rc)
        return rc;
    rc = set_by_dim(g, ATTR_BW, bw_GBps, plan, &room, e);
    if (!rc)
        rc = set_by_dim(g, ATTR_LAT, lat_ns, plan, &room, e);
    if (!rc)
        rc = set_by_dim(g, ATTR_DIM, index, plan, &room, e);
    if (!rc && usd_per_Bps)
        rc = set_by_dim(g, ATTR_USD, usd, plan, &room, e);
    igraph_vector_destroy(&room);
    return rc;
}

int topo_graph_set_kinds(struct topo_graph *g, struct err *e)
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
    struct plan plan;
    *out = NULL;
    topo_graph_init();
    int rc = make_plan(&plan, net, e);
    if (rc)
        return rc;
    struct topo_graph *g = calloc(1, sizeof *g);
    if (!g)
        return err_nomem(e, "graph");
    g->net = *net;
    g->n_npus = net->n_npus;
    g->n_vertices = plan.n_vertices;
    g->n_links = plan.n_links;
    rc = create_model(g, &plan, e);
    if (!rc)
        rc = set_link_attributes(g, &plan, usd_per_Bps, e);
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
    free(g);
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

const struct topo_network *topo_graph_network(const struct topo_graph *g)
{
    return g->net.n_dims ? &g->net : NULL;
}
