#include "topo/graph_draft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <igraph.h>

#include "base/num.h"
#include "topo/graph_model.h"

int topo_draft_reserve(struct topo_draft *draft, int64_t n_vertices, int64_t n_links, struct err *e)
{
    if (n_vertices > TOPO_MAX_GRAPH || n_links > TOPO_MAX_GRAPH - n_vertices)
        return err_set(e, ERR_RANGE, "has %lld vertices and %lld links, need at most %lld together",
                       (long long)n_vertices, (long long)n_links, (long long)TOPO_MAX_GRAPH);
    /* At least one entry each: calloc(0) may return NULL. */
    draft->links = calloc((size_t)n_links + 1, sizeof *draft->links);
    draft->names = calloc((size_t)n_vertices + 1, sizeof *draft->names);
    draft->is_npu = calloc((size_t)n_vertices + 1, sizeof *draft->is_npu);
    if (!draft->links || !draft->names || !draft->is_npu)
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
    free(draft->links);
    *draft = (struct topo_draft){ 0 };
}

static int check_value(double x, double scale, bool zero_ok, const char *key, int64_t link, struct err *e)
{
    char text[NUM_TEXT];
    if (isnan(x))
        return err_set(e, ERR_PARSE, "edge %lld: %s is missing", (long long)link + 1, key);
    if (!(isfinite(x) && (x > 0 || (zero_ok && x >= 0))))
        return err_set(e, ERR_RANGE, "edge %lld: %s is %s, need a number %s 0", (long long)link + 1, key,
                       num_format(text, x * scale), zero_ok ? ">=" : ">");
    return 0;
}

static int check_link(const struct topo_draft *draft, int64_t i, struct err *e)
{
    const struct topo_link *link = &draft->links[i];
    if (link->src == link->dst)
        return err_set(e, ERR_RANGE, "edge %lld: joins \"%.64s\" to itself, need two vertices",
                       (long long)i + 1, draft->names[link->src]);
    int rc = check_value(link->bw_Bps, 1e-9, false, ATTR_BW, i, e);
    if (!rc)
        rc = check_value(link->lat_s, 1e9, true, draft->lat_key, i, e);
    if (!rc && !isnan(link->usd))
        rc = check_value(link->usd, 1, true, ATTR_USD, i, e);
    return rc;
}

/* Check everything and number NPUs first: number[v] for vertex v of the file. */
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
        return err_set(e, ERR_RANGE, "has %lld NPUs, need at least 2", (long long)*n_npus);
    for (int64_t i = 0; i < draft->n_links; i++) {
        int rc = check_link(draft, i, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int create_model(struct topo_graph *g, const struct topo_draft *draft, const igraph_integer_t *number,
                        struct err *e)
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
    return link->dim >= 0 ? (double)link->dim : (double)NAN;
}

static int set_link_attributes(struct topo_graph *g, const struct topo_draft *draft, struct err *e)
{
    const char *const attrs[] = { ATTR_BW, ATTR_LAT, draft->has_dim ? ATTR_DIM : NULL,
                                  draft->has_usd ? ATTR_USD : NULL };
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

int topo_build_custom(struct topo_graph **out, const struct topo_draft *draft, struct err *e)
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
    rc = number_vertices(number, &g->n_npus, draft, e);
    if (!rc)
        rc = create_model(g, draft, number, e);
    if (!rc)
        rc = set_link_attributes(g, draft, e);
    if (!rc)
        rc = set_names(g, draft, number, e);
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
        int64_t higher = links[i].src + links[i].dst - lower;
        if (lower < 0 || higher >= n_npus + n_switches)
            rc = err_set(e, ERR_RANGE, "edge %lld: leads from %lld to %lld, need vertices 0 to %lld",
                         (long long)i + 1, (long long)links[i].src, (long long)links[i].dst,
                         (long long)(n_npus + n_switches) - 1);
        draft.links[i] = links[i];
        draft.links[i].usd = (double)NAN;
        draft.links[i].dim = -1;
    }
    if (!rc)
        rc = topo_build_custom(out, &draft, e);
    topo_draft_free(&draft);
    return rc;
}
