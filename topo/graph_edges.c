/*
 * Custom graphs from CSV edge lists: a row a link, named by its ends. Nodes are numbered by first mention and
 * what kind they are is said in any row, or by their name. Columns that are not known are refused: a
 * misspelt one would lose what it says.
 */
#include "topo/graph_draft.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hash.h"
#include "base/num.h"
#include "base/schema.h"
#include "base/table.h"
#include "topo/graph.h"

enum column {
    COL_SRC,
    COL_DST,
    COL_BW,
    COL_LAT,
    COL_SRC_KIND,
    COL_DST_KIND,
    COL_USD,
    COL_WATT,
    COL_CLASS,
    N_COLUMNS
};
/* What files say, for the manual too. GraphML calls the same attributes so, but for ends and kinds. */
static const struct key edge_keys[N_COLUMNS] = {
    [COL_SRC] = K_REMARK("src", "CSV: name of the node at one end, which may be a number", .required = true),
    [COL_DST] = K_REMARK("dst", "CSV: name of the node at the other end", .required = true),
    [COL_BW] = K_REAL(struct topo_link, bw_Bps, "bw_GBps", "GB/s", 1e9, 0, INFINITY, SCHEMA_NONE,
                      "bandwidth of the link, each way; above 0", .required = true),
    [COL_LAT] = K_REAL(struct topo_link, lat_s, "latency_ns", "ns", 1e-9, 0, INFINITY, SCHEMA_NONE,
                       "latency of the link alone (also called lat_ns)", .required = true),
    [COL_SRC_KIND] = K_REMARK("src_kind", "CSV: kind of src, npu or switch (also called kind); once is "
                                          "enough for a node. GraphML: kind, of the node"),
    [COL_DST_KIND] = K_REMARK("dst_kind", "CSV: kind of dst, npu or switch"),
    [COL_USD] = K_REAL(struct topo_link, usd, "usd", "USD", 1, 0, INFINITY, SCHEMA_NONE,
                       "price of the link; all edges have one or none. GraphML: of nodes too"),
    [COL_WATT] = K_REAL(struct topo_link, watt, "watt", "W", 1, 0, INFINITY, SCHEMA_NONE,
                        "power of the link; all edges have one or none. GraphML: of nodes too"),
    [COL_CLASS] = K_REMARK("class", "which links are alike: a dimension of studies and a line of the bill"),
};

K_SECTION(topo_edge_section, struct topo_link, "graph", edge_keys,
          "a link of a custom graph: a column of a CSV edge list, an attribute of a GraphML edge");

/* Other names of two of them. */
static const struct {
    const char *name;
    enum column is;
} other_names[] = { { "kind", COL_SRC_KIND }, { "lat_ns", COL_LAT } };
enum { N_OTHER = sizeof other_names / sizeof *other_names };

enum node_kind { KIND_OPEN, KIND_NPU, KIND_SWITCH };

/* Node names met so far, numbered in order of first mention. */
struct nodes {
    struct hash by_name;
    char **names;         /* shape [room], owned by the draft */
    unsigned char *kinds; /* shape [room], enum node_kind */
    int32_t n;
};

/* Two new nodes a row at most, so names and kinds do not grow later. */
static int reserve_nodes(struct nodes *nodes, char **names, int64_t n_links, struct err *e)
{
    nodes->kinds = calloc(2 * (size_t)n_links + 1, 1);
    nodes->names = names;
    return nodes->kinds ? 0 : err_nomem(e, "graph");
}

/* Number of the node called @p name, a new one if need be; -1 = no memory. */
static int64_t find_node(struct nodes *nodes, const char *name)
{
    uint64_t hash = hash_text(name);
    hash_each (node, &nodes->by_name, hash)
        if (strcmp(nodes->names[node], name) == 0)
            return node;
    char *copy = strdup(name);
    if (!copy || !hash_add(&nodes->by_name, hash, nodes->n)) {
        free(copy);
        return -1;
    }
    nodes->names[nodes->n] = copy;
    return nodes->n++;
}

/* Names go into GraphML, which is XML: without control characters, and in one encoding. */
static bool is_utf8_text(const char *s)
{
    while (*s) {
        unsigned char c = (unsigned char)*s++;
        int more = c < 0x80                ? 0
                   : c >= 0xc2 && c < 0xe0 ? 1
                   : c >= 0xe0 && c < 0xf0 ? 2
                   : c >= 0xf0 && c < 0xf5 ? 3
                                           : -1;
        if (more < 0 || c < 0x20 || c == 0x7f)
            return false;
        for (; more > 0; more--, s++)
            if (((unsigned char)*s & 0xc0) != 0x80)
                return false;
    }
    return true;
}

/* One CSV file on its way into a draft. */
struct edges_reader {
    const struct table *table;
    int32_t cols[N_COLUMNS]; /* -1 = absent */
    struct nodes nodes;
    struct topo_draft *draft;
};

/* Unknown columns are refused: a misspelt one would lose what it says. */
static int edges_check_column(const struct edges_reader *r, int32_t c, struct err *e)
{
    const char *name = r->table->names[c], *known[N_COLUMNS];
    for (int k = 0; k < N_COLUMNS; k++) {
        if (r->cols[k] == c)
            return 0;
        known[k] = edge_keys[k].name;
    }
    const char *near = text_nearest(name, known, N_COLUMNS);
    return err_set(e, ERR_PARSE, "column \"%.64s\" is unknown; did you mean %s? See weft keys graph", name,
                   near ? near : known[COL_SRC]);
}

static int edges_find_columns(struct edges_reader *r, struct err *e)
{
    const struct table *t = r->table;
    for (int k = 0; k < N_COLUMNS; k++)
        r->cols[k] = table_find(t, edge_keys[k].name);
    for (int i = 0; i < N_OTHER; i++) {
        int32_t at = table_find(t, other_names[i].name), *col = &r->cols[other_names[i].is];
        if (at >= 0 && *col >= 0)
            return err_set(e, ERR_PARSE, "has columns %s and %s, which are the same; give one",
                           other_names[i].name, t->names[*col]);
        *col = at >= 0 ? at : *col;
    }
    for (int k = 0; k < N_COLUMNS; k++)
        if (edge_keys[k].required && r->cols[k] < 0)
            return err_set(e, ERR_PARSE, "has no column %s; give src, dst, bw_GBps and latency_ns",
                           edge_keys[k].name);
    for (int32_t c = 0; c < t->n_cols; c++) {
        int rc = edges_check_column(r, c, e);
        if (rc)
            return rc;
    }
    return 0;
}

static int edges_read_number(double *out, const struct edges_reader *r, int64_t row, enum column k,
                             struct err *e)
{
    *out = NAN;
    if (r->cols[k] < 0)
        return 0;
    const struct table_cell *cell = table_cell(r->table, row, r->cols[k]);
    switch (r->table->kinds[r->cols[k]]) {
    case TABLE_REAL:
        *out = cell->real;
        break;
    case TABLE_COUNT:
        *out = cell->count == INT64_MIN ? NAN : (double)cell->count;
        break;
    case TABLE_TEXT:
        if (cell->text && cell->text[0] && !num_parse_real(cell->text, out))
            return err_set(e, ERR_PARSE, "edge %lld: %s is \"%.64s\", expected a number", (long long)row + 1,
                           edge_keys[k].name, cell->text);
        break;
    }
    return 0;
}

static int read_node(int64_t *node, struct edges_reader *r, int64_t row, enum column k, struct err *e)
{
    const struct table_cell *cell = table_cell(r->table, row, r->cols[k]);
    /* Columns of whole numbers were read as such; they are names all the same. */
    enum table_kind kind = r->table->kinds[r->cols[k]];
    char number[NUM_TEXT] = "";
    const char *name = kind == TABLE_TEXT && cell->text ? cell->text : number;
    if (kind == TABLE_COUNT && cell->count != INT64_MIN)
        snprintf(number, sizeof number, "%lld", (long long)cell->count);
    /* 1.0 and 1 would be one node or two, depending on how they are printed. */
    if (kind == TABLE_REAL && isfinite(cell->real))
        return err_set(e, ERR_PARSE, "column %s holds fractions, expected names or whole numbers",
                       edge_keys[k].name);
    if (!name[0])
        return err_set(e, ERR_PARSE, "edge %lld: %s is missing", (long long)row + 1, edge_keys[k].name);
    if (!is_utf8_text(name))
        return err_set(e, ERR_PARSE, "edge %lld: %s is \"%.64s\", expected UTF-8 without control characters",
                       (long long)row + 1, edge_keys[k].name, name);
    *node = find_node(&r->nodes, name);
    return *node < 0 ? err_nomem(e, "graph") : 0;
}

static int edges_read_kind(struct edges_reader *r, int64_t row, int64_t node, enum column k, struct err *e)
{
    if (r->cols[k] < 0)
        return 0;
    const struct table_cell *cell = table_cell(r->table, row, r->cols[k]);
    bool is_text = r->table->kinds[r->cols[k]] == TABLE_TEXT;
    /* A column that is blank throughout is one of numbers. */
    if (is_text ? !cell->text || !cell->text[0] : isnan(table_number(r->table, row, r->cols[k])))
        return 0;
    enum node_kind kind = KIND_OPEN;
    if (is_text && strcmp(cell->text, "npu") == 0)
        kind = KIND_NPU;
    else if (is_text && strcmp(cell->text, "switch") == 0)
        kind = KIND_SWITCH;
    else
        return err_set(e, ERR_PARSE, "edge %lld: %s is \"%.64s\", expected npu, switch or nothing",
                       (long long)row + 1, r->table->names[r->cols[k]], is_text ? cell->text : "a number");
    unsigned char *known = &r->nodes.kinds[node];
    if (*known != KIND_OPEN && *known != kind)
        return err_set(e, ERR_RANGE, "edge %lld: %s of \"%.64s\" is %s, but %s in an edge before",
                       (long long)row + 1, edge_keys[k].name, r->nodes.names[node], cell->text,
                       *known == KIND_NPU ? "npu" : "switch");
    *known = (unsigned char)kind;
    return 0;
}

/* A name, or a whole number that serves as one. */
static int edges_read_class(struct topo_link *link, struct edges_reader *r, int64_t row, struct err *e)
{
    char number[NUM_TEXT] = "";
    link->cls = -1;
    if (r->cols[COL_CLASS] < 0)
        return 0;
    const struct table_cell *cell = table_cell(r->table, row, r->cols[COL_CLASS]);
    enum table_kind kind = r->table->kinds[r->cols[COL_CLASS]];
    if (kind == TABLE_REAL && isfinite(cell->real))
        return err_set(e, ERR_PARSE, "column class holds fractions, expected names or whole numbers");
    if (kind == TABLE_COUNT && cell->count != INT64_MIN)
        snprintf(number, sizeof number, "%lld", (long long)cell->count);
    const char *name = kind == TABLE_TEXT && cell->text ? cell->text : number;
    if (!is_utf8_text(name))
        return err_set(e, ERR_PARSE,
                       "edge %lld: class is \"%.64s\", expected UTF-8 without control characters",
                       (long long)row + 1, name);
    return topo_draft_class(&link->cls, r->draft, name, row, e);
}

static int edges_read_row(struct edges_reader *r, int64_t row, struct err *e)
{
    struct topo_link *link = &r->draft->links[row];
    double bw_GBps = NAN, lat_ns = NAN;
    link->dim = -1;
    int rc = read_node(&link->src, r, row, COL_SRC, e);
    if (!rc)
        rc = read_node(&link->dst, r, row, COL_DST, e);
    if (!rc)
        rc = edges_read_number(&bw_GBps, r, row, COL_BW, e);
    if (!rc)
        rc = edges_read_number(&lat_ns, r, row, COL_LAT, e);
    if (!rc)
        rc = edges_read_number(&link->usd, r, row, COL_USD, e);
    if (!rc)
        rc = edges_read_number(&link->watt, r, row, COL_WATT, e);
    if (!rc)
        rc = edges_read_class(link, r, row, e);
    if (!rc)
        rc = edges_read_kind(r, row, link->src, COL_SRC_KIND, e);
    if (!rc)
        rc = edges_read_kind(r, row, link->dst, COL_DST_KIND, e);
    link->bw_Bps = bw_GBps * 1e9;
    link->lat_s = lat_ns * 1e-9;
    return rc;
}

static int fill_draft(struct topo_draft *draft, const struct table *t, struct err *e)
{
    struct edges_reader r = { .table = t, .draft = draft };
    int rc = edges_find_columns(&r, e);
    if (!rc) /* every row can name two new nodes */
        rc = topo_draft_reserve(draft, 2 * t->n_rows, t->n_rows, e);
    if (!rc)
        rc = reserve_nodes(&r.nodes, draft->names, t->n_rows, e);
    for (int64_t row = 0; row < t->n_rows && !rc; row++)
        rc = edges_read_row(&r, row, e);
    if (!rc) {
        draft->n_vertices = r.nodes.n;
        draft->has_usd = r.cols[COL_USD] >= 0;
        draft->has_watt = r.cols[COL_WATT] >= 0;
        for (int64_t v = 0; v < r.nodes.n; v++) {
            bool open = r.nodes.kinds[v] == KIND_OPEN, is_switch = strncmp(draft->names[v], "switch", 6) == 0;
            draft->is_npu[v] = r.nodes.kinds[v] == KIND_NPU || (open && !is_switch);
            draft->is_told[v] = !open || is_switch || strncmp(draft->names[v], "npu", 3) == 0;
        }
        rc = topo_draft_check_kinds(draft, "npu or switch in src_kind and dst_kind", e);
    }
    hash_free(&r.nodes.by_name);
    free(r.nodes.kinds);
    return rc;
}

int topo_read_graph(struct topo_graph **out, const char *path, struct err *e)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".csv") == 0 ? topo_read_edges(out, path, e)
                                               : topo_read_graphml(out, path, e);
}

int topo_read_edges(struct topo_graph **out, const char *path, struct err *e)
{
    struct table t = { 0 };
    struct topo_draft draft = { .lat_key = edge_keys[COL_LAT].name };
    *out = NULL;
    int rc = table_read_csv(&t, path, e);
    if (!rc) {
        rc = fill_draft(&draft, &t, e);
        if (!rc)
            rc = topo_build_custom(out, &draft, e);
        if (rc)
            err_wrap(e, "%s", path);
    }
    topo_draft_free(&draft);
    table_free(&t);
    return rc;
}
