#include "topo/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <igraph.h>

#include "topo/graph_model.h"

/* Dimension of switch vertex v of a described network; @p group: which of its switches. */
static int32_t switch_dim(const struct topo_graph *g, int64_t v, int64_t *group)
{
    *group = v - g->n_npus;
    for (int32_t d = 0; d < g->net.n_dims; d++) {
        if (g->net.dims[d].shape != TOPO_SWITCH)
            continue;
        int64_t groups = g->n_npus / g->net.dims[d].size;
        if (*group < groups)
            return d;
        *group -= groups;
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
    size_t used = 0;
    buf[0] = '\0';
    for (int32_t d = 0; d < g->net.n_dims; d++) {
        const char *comma = d ? "," : "";
        if (d == hub) {
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

/* A copy of the model with the texts that files carry and memory does not. */
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
    if (rc)
        igraph_destroy(copy);
    return rc;
}

static igraph_error_t write_graphml(const igraph_t *model, FILE *file)
{
    return igraph_write_graph_graphml(model, file, true);
}

static int format_graph(struct text *out, const struct topo_graph *g,
                        igraph_error_t (*write)(const igraph_t *, FILE *), struct err *e)
{
    igraph_t copy;
    char *s = NULL;
    size_t n = 0;
    int rc = copy_for_export(&copy, g, e);
    if (rc)
        return rc;
    FILE *file = open_memstream(&s, &n);
    if (!file) {
        rc = err_nomem(e, "graph: export");
        goto out;
    }
    rc = topo_from_igraph(write(&copy, file), "graph: export", e);
    bool complete = !ferror(file);
    complete = fclose(file) == 0 && complete;
    if (!rc && !complete)
        rc = err_nomem(e, "graph: export");
    if (!rc) {
        text_add(out, s, n);
        rc = text_check(out, e);
    }
out:
    free(s);
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

/* Values of a numeric edge attribute, NaN where the model does not have it. */
static int list_values(igraph_vector_t *values, const struct topo_graph *g, const char *attr, struct err *e)
{
    if (igraph_cattribute_has_attr(&g->model, IGRAPH_ATTRIBUTE_EDGE, attr))
        return topo_from_igraph(EANV(&g->model, attr, values), "graph: links", e);
    igraph_vector_fill(values, NAN);
    return 0;
}

int topo_list_links(struct topo_link *out, const struct topo_graph *g, struct err *e)
{
    igraph_vector_t values;
    int rc = topo_from_igraph(igraph_vector_init(&values, g->n_links), "graph: links", e);
    if (rc)
        return rc;
    const double *x = VECTOR(values);
    rc = list_values(&values, g, ATTR_BW, e);
    for (int64_t i = 0; i < g->n_links && !rc; i++) {
        int64_t a = IGRAPH_FROM(&g->model, i), b = IGRAPH_TO(&g->model, i);
        out[i] = (struct topo_link){ .src = a < b ? a : b, .dst = a < b ? b : a, .bw_Bps = x[i] * 1e9 };
    }
    if (!rc)
        rc = list_values(&values, g, ATTR_LAT, e);
    for (int64_t i = 0; i < g->n_links && !rc; i++)
        out[i].lat_s = x[i] * 1e-9;
    if (!rc)
        rc = list_values(&values, g, ATTR_DIM, e);
    for (int64_t i = 0; i < g->n_links && !rc; i++)
        out[i].dim = isnan(x[i]) ? -1 : (int32_t)x[i];
    if (!rc)
        rc = list_values(&values, g, ATTR_USD, e);
    for (int64_t i = 0; i < g->n_links && !rc; i++)
        out[i].usd = x[i];
    igraph_vector_destroy(&values);
    return rc;
}
