#include "topo/graph.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <igraph.h>

#include "topo/graph_model.h"

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

/* s is behind '<' of a start tag. */
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
        return err_set(e, ERR_UNSUP, "holds %lld graphs, need one", (long long)tags->graphs);
    if (igraph_is_directed(model) || tags->directed)
        return err_set(e, ERR_UNSUP, "is directed, need an undirected graph: every link goes both ways");
    if (tags->hyperedges)
        return err_set(e, ERR_UNSUP, "has %lld hyperedges, need edges only", (long long)tags->hyperedges);
    if (found > declared)
        return err_set(e, ERR_PARSE, "edges name %lld nodes that are not declared", found - declared);
    if (found < declared)
        return err_set(e, ERR_PARSE, "has %lld nodes with the id of another", declared - found);
    if (igraph_ecount(model) != tags->edges)
        return err_set(e, ERR_PARSE, "has %lld edges, of which %lld could be read", (long long)tags->edges,
                       (long long)igraph_ecount(model));
    return 0;
}

/* Parse into igraph's graph; what it warns of, it leaves out, so a warning is an error here. */
static int parse_graphml(igraph_t *model, const struct text *xml, struct err *e)
{
    char warning[256];
    FILE *file = fmemopen(xml->s, xml->n, "r");
    if (!file)
        return err_nomem(e, "GraphML");
    topo_take_warning(warning, sizeof warning);
    int rc = topo_from_igraph(igraph_read_graph_graphml(model, file, 0), "GraphML", e);
    fclose(file);
    topo_take_warning(warning, sizeof warning);
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

/* Which text attributes the vertices have; asking igraph for a text that is a number would abort. */
static int list_texts(bool *has_kind, bool *has_name, const igraph_t *model, struct err *e)
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
        int kind = find_text(ATTR_KIND, &names[1], &types[1]);
        *has_kind = kind >= 0;
        *has_name = find_text(ATTR_NAME, &names[1], &types[1]) >= 0;
        if (kind == -2)
            rc = err_set(e, ERR_PARSE, "nodes: kind is not text, need attr.type \"string\"");
    }
    while (n_names > 0)
        igraph_strvector_destroy(&names[--n_names]);
    while (n_types > 0)
        igraph_vector_int_destroy(&types[--n_types]);
    return rc;
}

static int set_kind(bool *is_npu, const char *kind, const char *name, struct err *e)
{
    *is_npu = strcmp(kind, "switch") != 0;
    if (*is_npu && kind[0] && strcmp(kind, "npu") != 0)
        return err_set(e, ERR_PARSE, "node \"%.64s\": kind is \"%.64s\", need npu or switch", name, kind);
    return 0;
}

static int copy_vertices(struct topo_draft *draft, const igraph_t *model, struct err *e)
{
    bool has_kind = false, has_name = false;
    int rc = list_texts(&has_kind, &has_name, model, e);
    for (int64_t v = 0; v < draft->n_vertices && !rc; v++) {
        /* igraph keeps the id of every node as attribute "id". */
        const char *name = has_name ? VAS(model, ATTR_NAME, v) : "";
        if (!name[0])
            name = VAS(model, "id", v);
        draft->names[v] = strdup(name);
        if (!draft->names[v])
            return err_nomem(e, "graph");
        rc = set_kind(&draft->is_npu[v], has_kind ? VAS(model, ATTR_KIND, v) : "", draft->names[v], e);
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
    return rc == ERR_LIB ? err_set(e, ERR_PARSE, "edges: %s is not a number, need attr.type \"double\"", name)
                         : rc;
}

static int32_t to_dim(double x)
{
    return x >= 0 && x < TOPO_MAX_DIMS && x == floor(x) ? (int32_t)x : -1;
}

static int copy_links(struct topo_draft *draft, const igraph_t *model, struct err *e)
{
    igraph_vector_t values;
    bool exists;
    int rc = topo_from_igraph(igraph_vector_init(&values, draft->n_links), "GraphML", e);
    if (rc)
        return rc;
    const double *x = VECTOR(values);
    struct topo_link *links = draft->links;
    rc = edge_values(&values, &exists, model, ATTR_BW, e);
    for (int64_t i = 0; i < draft->n_links && !rc; i++)
        links[i] = (struct topo_link){ .src = IGRAPH_FROM(model, i),
                                       .dst = IGRAPH_TO(model, i),
                                       .bw_Bps = x[i] * 1e9 };
    if (!rc)
        rc = edge_values(&values, &exists, model, ATTR_LAT, e);
    for (int64_t i = 0; i < draft->n_links && !rc; i++)
        links[i].lat_s = x[i] * 1e-9;
    if (!rc)
        rc = edge_values(&values, &draft->has_dim, model, ATTR_DIM, e);
    for (int64_t i = 0; i < draft->n_links && !rc; i++)
        links[i].dim = to_dim(x[i]);
    if (!rc)
        rc = edge_values(&values, &draft->has_usd, model, ATTR_USD, e);
    for (int64_t i = 0; i < draft->n_links && !rc; i++)
        links[i].usd = x[i];
    igraph_vector_destroy(&values);
    return rc;
}

static int build_from_model(struct topo_graph **out, const igraph_t *model, struct err *e)
{
    struct topo_draft draft = { .lat_key = ATTR_LAT };
    int rc = topo_draft_reserve(&draft, igraph_vcount(model), igraph_ecount(model), e);
    if (!rc)
        rc = copy_vertices(&draft, model, e);
    if (!rc)
        rc = copy_links(&draft, model, e);
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
        return err_set(e, ERR_PARSE, "is %s, need GraphML in UTF-8",
                       xml->n ? "no text (it has a NUL byte)" : "empty");
    count_tags(&tags, xml->s);
    if (tags.nodes + tags.edges > TOPO_MAX_GRAPH)
        return err_set(e, ERR_RANGE, "has %lld nodes and edges, need at most %lld",
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
