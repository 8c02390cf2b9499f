#include "workloads/chakra.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/num.h"
#include "workloads/chakra_leaf.h"
#include "workloads/compact.h"
#include "workloads/step_keys.h"

struct chakra_conf {
    const char *prefix, *comm_groups;
    yaml_id ranks;
};

static const struct key chakra_keys[] = {
    { .name = "prefix",
      .help = "files are PREFIX.RANK.et; path from the folder of the YAML file",
      .kind = KEY_TEXT,
      .offset = offsetof(struct chakra_conf, prefix),
      .unit = "",
      .required = true },
    NODE_KEY(chakra_conf, "ranks", ranks, "how many traces, from rank 0 on, or a list of ranks; absent: 1"),
    TEXT_KEY(chakra_conf, "comm_groups", comm_groups,
             "JSON file {\"id\": [ranks]} of the process groups that pg_name names"),
};

SECTION(step_chakra_section, "chakra", "Chakra execution traces, one file per NPU", chakra_keys);

/* What all ranks share. */
struct reader {
    struct step_tree *tree;
    const struct topo_network *net;
    const struct yaml_doc *groups;
    struct compact compact;
    compact_id *roots; /* shape [n_roots], owned: the ranks' different expressions */
    int32_t n_roots, cap_roots;
    int64_t n_joins, n_receives;
};

/* ---- from ids to numbers ---- */

struct numbered {
    uint64_t id;
    int32_t node;
};

static int by_id(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

/* Nodes by ascending id: their numbers from here on. */
static int sort_nodes(struct numbered *order, const struct chakra_trace *trace, const char *name,
                      struct err *e)
{
    for (int32_t i = 0; i < trace->n_nodes; i++)
        order[i] = (struct numbered){ trace->nodes[i].id, i };
    qsort(order, (size_t)trace->n_nodes, sizeof *order, by_id);
    for (int32_t i = 1; i < trace->n_nodes; i++)
        if (order[i].id == order[i - 1].id)
            return err_set(e, ERR_RANGE, "%s: duplicate node id %" PRIu64, name, order[i].id);
    return 0;
}

/* What each number waits for. begin: shape [n_nodes + 1], waits: shape [n_deps]. */
static int number_waits(int32_t *begin, int32_t *waits, const struct numbered *order,
                        const struct chakra_trace *trace, const char *name, struct err *e)
{
    begin[0] = 0;
    for (int32_t i = 0; i < trace->n_nodes; i++) {
        const struct chakra_node *node = &trace->nodes[order[i].node];
        begin[i + 1] = begin[i] + node->n_deps;
        for (int32_t k = 0; k < node->n_deps; k++) {
            struct numbered wanted = { .id = trace->deps[node->first_dep + k] };
            const struct numbered *found =
                bsearch(&wanted, order, (size_t)trace->n_nodes, sizeof *order, by_id);
            if (!found)
                return err_set(e, ERR_RANGE,
                               "%s: node %" PRIu64 " \"%.64s\" depends on node %" PRIu64 ", not in this file",
                               name, node->id, text_str(&trace->names) + node->name, wanted.id);
            waits[begin[i] + k] = (int32_t)(found - order);
        }
    }
    return 0;
}

static signed char lane_of(const struct chakra_node *node)
{
    if (node->type != CHAKRA_COMP)
        return DAG_NO_LANE;
    return node->is_cpu_op ? 1 : 0;
}

/* The nodes of a trace in the order of issue; g->task are places in the file. */
static int order_nodes(struct dag *g, const struct chakra_trace *trace, const char *name, struct err *e)
{
    size_t n = (size_t)trace->n_nodes;
    int32_t cycle = 0;
    struct numbered *order = malloc(n * sizeof *order);
    int32_t *begin = malloc((n + 1) * sizeof *begin);
    int32_t *waits = malloc(((size_t)trace->n_deps + 1) * sizeof *waits);
    signed char *lane = malloc(n);
    int rc = order && begin && waits && lane ? 0 : err_nomem(e, "nodes");
    if (!rc && !(rc = sort_nodes(order, trace, name, e)) &&
        !(rc = number_waits(begin, waits, order, trace, name, e))) {
        for (size_t i = 0; i < n; i++)
            lane[i] = lane_of(&trace->nodes[order[i].node]);
        rc = dag_build(g, trace->n_nodes, begin, waits, lane, &cycle, e);
        if (rc == ERR_RANGE)
            rc = chakra_fail(trace, name, order[cycle].node, e, ERR_RANGE,
                             "waits for itself through others, need dependencies without a cycle");
        for (int32_t i = 0; i < g->n && !rc; i++)
            g->task[i] = order[g->task[i]].node;
    }
    free(order);
    free(begin);
    free(waits);
    free(lane);
    return rc;
}

/* ---- from nodes to an expression ---- */

/* The leaf of each task in the order of issue; -1 and false for what takes no time. */
static int make_leaves(compact_id *leaf_of, bool *takes_time, struct reader *r, struct chakra_context *x,
                       const struct dag *g, struct err *e)
{
    for (int32_t i = 0; i < g->n; i++) {
        struct step_node leaf;
        int rc = chakra_leaf(&leaf, x, g->task[i], e);
        if (rc)
            return rc;
        takes_time[i] = leaf.kind != STEP_SUM;
        leaf_of[i] = takes_time[i] ? compact_leaf(&r->compact, &leaf) : -1;
        if (takes_time[i] && leaf_of[i] < 0)
            return err_nomem(e, "the training step");
        r->n_receives += x->trace->nodes[g->task[i]].type == CHAKRA_RECV;
    }
    return 0;
}

static int fold_trace(compact_id *root, struct reader *r, struct chakra_context *x, const struct dag *g,
                      struct err *e)
{
    struct fold f = { .root = -1 };
    compact_id *leaf_of = malloc(((size_t)g->n + 1) * sizeof *leaf_of);
    bool *takes_time = malloc((size_t)g->n + 1);
    int rc = leaf_of && takes_time ? 0 : err_nomem(e, "nodes");
    if (!rc && !(rc = make_leaves(leaf_of, takes_time, r, x, g, e)) && !(rc = fold_dag(&f, g, takes_time, e)))
        rc = compact_fold(&r->compact, root, &f, leaf_of, e);
    r->n_joins += f.n_joins;
    fold_free(&f);
    free(leaf_of);
    free(takes_time);
    return rc;
}

static int keep_root(struct reader *r, compact_id root, struct err *e)
{
    for (int32_t i = 0; i < r->n_roots; i++)
        if (r->roots[i] == root)
            return 0;
    compact_id *grown = array_grow(r->roots, r->n_roots, &r->cap_roots, sizeof *grown);
    if (!grown)
        return err_nomem(e, "traces");
    r->roots = grown;
    if (root >= 0)
        r->roots[r->n_roots++] = root;
    return 0;
}

static int add_trace(struct reader *r, const char *name, const char *bytes, size_t n, int32_t rank,
                     struct err *e)
{
    struct chakra_trace trace = { 0 };
    struct dag g = { 0 };
    struct chakra_context x = {
        .tree = r->tree,
        .net = r->net,
        .trace = &trace,
        .name = name,
        .rank = rank,
        .groups = r->groups,
    };
    compact_id root = -1;
    int rc = chakra_read_trace(&trace, name, bytes, n, e);
    if (!rc && !(rc = order_nodes(&g, &trace, name, e)) && !(rc = fold_trace(&root, r, &x, &g, e)))
        rc = keep_root(r, root, e);
    free(x.known);
    dag_free(&g);
    chakra_trace_free(&trace);
    return rc;
}

static int write_step(struct reader *r, struct err *e)
{
    struct step_tree *t = r->tree;
    step_id step =
        step_add(t, -1, (struct step_node){ .kind = STEP_SUM, .phase = STEP_OTHER, .name = "step" });
    if (r->n_roots > 1)
        step =
            step_add(t, step, (struct step_node){ .kind = STEP_MAX, .phase = STEP_OTHER, .name = "ranks" });
    for (int32_t i = 0; i < r->n_roots; i++)
        compact_write(&r->compact, t, step, r->roots[i]);
    if (r->n_joins > 0)
        text_printf(&t->notes,
                    "%s: waits added to write the trace in sums and maxima: %" PRId64
                    "; its time may be too long\n",
                    t->name, r->n_joins);
    if (r->n_receives > 0)
        text_printf(&t->notes,
                    "%s: receives that do not wait for their senders: %" PRId64
                    "; its time may be too short\n",
                    t->name, r->n_receives);
    int rc = step_check(t, e);
    return rc ? rc : text_check(&t->notes, e);
}

static int end_read(struct reader *r, int rc, struct err *e)
{
    if (!rc)
        rc = write_step(r, e);
    compact_free(&r->compact);
    free(r->roots);
    if (rc)
        step_free(r->tree);
    return rc;
}

int chakra_read_bytes(struct step_tree *t, const char *name, const char *bytes, size_t n, int32_t rank,
                      const struct yaml_doc *groups, const struct topo_network *net, struct err *e)
{
    struct reader r = { .tree = t, .net = net, .groups = groups };
    assert(rank >= 0 && rank < net->n_npus);
    step_begin(t, name, net);
    int rc = step_check(t, e);
    if (!rc)
        rc = add_trace(&r, name, bytes, n, rank, e);
    return end_read(&r, rc, e);
}

/* ---- the files that YAML names ---- */

static int add_file(struct reader *r, const struct yaml_doc *doc, yaml_id id, const char *path, int64_t rank,
                    struct err *e)
{
    struct text content = { 0 };
    struct err inner = { 0 };
    int rc = 0;
    if (rank >= r->net->n_npus)
        return yaml_fail(doc, id, e, ERR_RANGE, "names rank %lld, need 0 to %lld, the NPUs of the network",
                         (long long)rank, (long long)r->net->n_npus - 1);
    if (text_read_file(&content, path, CHAKRA_MAX_BYTES, &inner))
        rc = yaml_fail(doc, id, e, inner.code, "%s", inner.msg);
    if (!rc)
        rc = add_trace(r, path, text_str(&content), content.n, (int32_t)rank, e);
    text_free(&content);
    return rc;
}

/* RANK of "PREFIX.RANK.et"; 0 when the name is another. */
static int64_t rank_of_path(const char *path)
{
    char digits[16];
    size_t n = strlen(path), end = n > 3 ? n - 3 : 0, begin = end;
    int64_t rank = 0;
    while (begin > 0 && path[begin - 1] >= '0' && path[begin - 1] <= '9')
        begin--;
    if (end == 0 || strcmp(path + end, ".et") != 0 || begin == 0 || path[begin - 1] != '.' ||
        end - begin >= sizeof digits)
        return 0;
    memcpy(digits, path + begin, end - begin);
    digits[end - begin] = '\0';
    return num_parse_count(digits, &rank) ? rank : 0;
}

static int add_rank(struct reader *r, const struct yaml_doc *doc, yaml_id at, const char *prefix,
                    int64_t rank, struct err *e)
{
    struct text path = { 0 };
    text_printf(&path, "%s.%lld.et", prefix, (long long)rank);
    int rc = text_check(&path, e);
    if (!rc)
        rc = add_file(r, doc, at, text_str(&path), rank, e);
    text_free(&path);
    return rc;
}

static int add_ranks(struct reader *r, const struct yaml_doc *doc, yaml_id at, yaml_id ranks,
                     const char *prefix, struct err *e)
{
    int64_t n = 1, rank;
    int rc = 0;
    bool list = ranks >= 0 && doc->nodes[ranks].kind == YAML_SEQ;
    if (list)
        n = doc->nodes[ranks].n;
    else if (ranks >= 0 && (rc = yaml_count(doc, ranks, &n, e)))
        return rc;
    if (n < 1 || n > CHAKRA_MAX_RANKS)
        return yaml_fail(doc, ranks, e, ERR_RANGE, "is %lld, need 1 to %d traces", (long long)n,
                         CHAKRA_MAX_RANKS);
    for (int64_t i = 0; !list && i < n && !rc; i++)
        rc = add_rank(r, doc, ranks >= 0 ? ranks : at, prefix, i, e);
    if (list)
        yaml_each (id, doc, ranks)
            if (!rc && !(rc = yaml_count(doc, id, &rank, e)))
                rc = add_rank(r, doc, id, prefix, rank, e);
    return rc;
}

static int read_groups(struct yaml_doc *groups, const struct yaml_doc *doc, yaml_id id, struct err *e)
{
    struct text path = { 0 };
    yaml_beside(&path, doc, id);
    int rc = text_check(&path, e);
    if (!rc)
        rc = yaml_read_file(groups, text_str(&path), e);
    if (!rc)
        rc = yaml_need(groups, groups->root, YAML_MAP, e);
    text_free(&path);
    return rc;
}

static int read_map(struct reader *r, const struct yaml_doc *doc, yaml_id node, struct text *path,
                    struct err *e)
{
    struct chakra_conf conf;
    struct yaml_doc groups = { .root = -1 };
    int rc = schema_read(&conf, &step_chakra_section, doc, node, e);
    if (!rc && conf.comm_groups)
        rc = read_groups(&groups, doc, yaml_get(doc, node, "comm_groups"), e);
    if (!rc) {
        yaml_id at = yaml_get(doc, node, "prefix");
        r->groups = conf.comm_groups ? &groups : NULL;
        yaml_beside(path, doc, at);
        step_begin(r->tree, text_str(path), r->net);
        rc = text_check(path, e);
        if (!rc)
            rc = add_ranks(r, doc, at, conf.ranks, text_str(path), e);
    }
    yaml_free(&groups);
    return rc;
}

int chakra_read(struct step_tree *t, const struct yaml_doc *doc, yaml_id node, const struct topo_network *net,
                struct err *e)
{
    struct reader r = { .tree = t, .net = net };
    struct text path = { 0 };
    int rc = 0;
    *t = (struct step_tree){ .root = -1 };
    if (doc->nodes[node].kind == YAML_MAP) {
        rc = read_map(&r, doc, node, &path, e);
    } else {
        const char *file;
        rc = yaml_text(doc, node, &file, e);
        if (!rc) {
            yaml_beside(&path, doc, node);
            step_begin(t, text_str(&path), net);
            rc = text_check(&path, e);
        }
        if (!rc)
            rc = add_file(&r, doc, node, text_str(&path), rank_of_path(text_str(&path)), e);
    }
    text_free(&path);
    return end_read(&r, rc, e);
}
