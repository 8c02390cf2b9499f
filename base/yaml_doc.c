#include "base/yaml_doc.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Room a copy gets for a few overrides, so that a sweep point costs no second allocation. */
enum { COPY_SLACK = 32, FIRST_CHUNK = 1 << 10, LARGEST_CHUNK = 1 << 20 };

struct yaml_chunk {
    struct yaml_chunk *next;
    size_t used, cap;
    char bytes[];
};

static struct yaml_chunk *add_chunk(struct yaml_doc *doc, size_t need)
{
    size_t cap = doc->chunks ? 2 * doc->chunks->cap : FIRST_CHUNK;
    if (cap > LARGEST_CHUNK)
        cap = LARGEST_CHUNK;
    if (cap < need)
        cap = need;
    struct yaml_chunk *c = malloc(sizeof *c + cap);
    if (!c)
        return NULL;
    c->next = doc->chunks;
    c->used = 0;
    c->cap = cap;
    doc->chunks = c;
    return c;
}

int yaml_doc_keep(struct yaml_doc *doc, const char *s, size_t n, const char **out, struct err *e)
{
    struct yaml_chunk *c = doc->chunks;
    if (!c || c->cap - c->used < n + 1)
        c = add_chunk(doc, n + 1);
    if (!c)
        return err_nomem(e, "text of a YAML file");
    char *to = c->bytes + c->used;
    memcpy(to, s, n);
    to[n] = '\0';
    c->used += n + 1;
    *out = to;
    return 0;
}

int yaml_doc_source(struct yaml_doc *doc, const char *name, int32_t *out, struct err *e)
{
    const char *kept;
    int rc = yaml_doc_keep(doc, name, strlen(name), &kept, e);
    if (rc)
        return rc;
    const char **grown = realloc(doc->sources, ((size_t)doc->n_sources + 1) * sizeof *grown);
    if (!grown)
        return err_nomem(e, "names of YAML files");
    doc->sources = grown;
    *out = doc->n_sources++;
    doc->sources[*out] = kept;
    return 0;
}

int yaml_doc_node(struct yaml_doc *doc, const struct yaml_node *node, yaml_id *out, struct err *e)
{
    struct yaml_node *grown = array_grow(doc->nodes, doc->n_nodes, &doc->cap_nodes, sizeof *grown);
    if (!grown)
        return err_nomem(e, "nodes of a YAML file");
    doc->nodes = grown;
    *out = doc->n_nodes++;
    struct yaml_node *to = &doc->nodes[*out];
    *to = *node;
    to->parent = to->first = to->next = to->last = -1;
    to->n = to->index = 0;
    return 0;
}

void yaml_doc_link(struct yaml_doc *doc, yaml_id parent, yaml_id id)
{
    struct yaml_node *p = &doc->nodes[parent];
    if (p->last >= 0)
        doc->nodes[p->last].next = id;
    else
        p->first = id;
    p->last = id;
    doc->nodes[id].parent = parent;
    doc->nodes[id].index = p->n++;
}

void yaml_doc_splice(struct yaml_doc *doc, yaml_id at, yaml_id from)
{
    struct yaml_node *to = &doc->nodes[at];
    const struct yaml_node *new = &doc->nodes[from];

    to->kind = new->kind;
    to->quoted = new->quoted;
    to->text = new->text;
    to->source = new->source;
    to->text_line = new->text_line;
    to->text_col = new->text_col;
    to->first = new->first;
    to->last = new->last;
    to->n = new->n;
    if (!to->key) {
        to->key_source = new->source;
        to->line = new->text_line;
        to->col = new->text_col;
    }
    yaml_each (id, doc, at)
        doc->nodes[id].parent = at;
}

int32_t yaml_doc_depth(const struct yaml_doc *doc, yaml_id id)
{
    int32_t depth = 0;
    for (; id >= 0; id = doc->nodes[id].parent)
        depth++;
    return depth;
}

const char *yaml_doc_tail(const char *name)
{
    size_t n = strlen(name);
    return n > 300 ? name + n - 300 : name;
}

int yaml_copy(struct yaml_doc *out, const struct yaml_doc *doc, struct err *e)
{
    *out = (struct yaml_doc){ .root = -1 };
    int32_t cap = doc->n_nodes + COPY_SLACK;
    struct yaml_node *nodes = malloc((size_t)cap * sizeof *nodes);
    const char **sources = malloc(((size_t)doc->n_sources + 1) * sizeof *sources);
    if (!nodes || !sources) {
        free(nodes);
        free(sources);
        return err_nomem(e, "a copy of a YAML file");
    }
    if (doc->n_nodes)
        memcpy(nodes, doc->nodes, (size_t)doc->n_nodes * sizeof *nodes);
    if (doc->n_sources)
        memcpy(sources, doc->sources, (size_t)doc->n_sources * sizeof *sources);
    *out = *doc;
    out->nodes = nodes;
    out->cap_nodes = cap;
    out->sources = sources;
    out->chunks = NULL;
    return 0;
}

/* Room for n more nodes. */
static int reserve_nodes(struct yaml_doc *doc, int32_t n, struct err *e)
{
    if (n <= doc->cap_nodes - doc->n_nodes)
        return 0;
    int32_t cap = doc->n_nodes + n + COPY_SLACK;
    struct yaml_node *nodes = realloc(doc->nodes, (size_t)cap * sizeof *nodes);
    if (!nodes)
        return err_nomem(e, "nodes of a YAML file");
    doc->nodes = nodes;
    doc->cap_nodes = cap;
    return 0;
}

/* All of `from` behind the nodes that are there; nothing links to it yet. */
static void append_nodes(struct yaml_doc *doc, const struct yaml_doc *from)
{
    const int32_t id = doc->n_nodes, source = doc->n_sources - from->n_sources;
    for (int32_t i = 0; i < from->n_nodes; i++) {
        struct yaml_node *to = &doc->nodes[id + i];
        *to = from->nodes[i];
        to->source += source;
        to->key_source += source;
        to->parent += to->parent < 0 ? 0 : id;
        to->first += to->first < 0 ? 0 : id;
        to->next += to->next < 0 ? 0 : id;
        to->last += to->last < 0 ? 0 : id;
    }
    doc->n_nodes += from->n_nodes;
}

int yaml_graft_copy(struct yaml_doc *doc, yaml_id at, const struct yaml_doc *from, struct err *e)
{
    assert(at >= 0 && at < doc->n_nodes && from->root >= 0);
    if (from->n_nodes > YAML_MAX_NODES - doc->n_nodes || from->n_bytes > YAML_MAX_BYTES - doc->n_bytes)
        return err_set(e, ERR_RANGE, "%s: is too much after other files", yaml_doc_tail(from->sources[0]));
    int rc = reserve_nodes(doc, from->n_nodes, e);
    if (rc)
        return rc;
    size_t n_sources = (size_t)doc->n_sources + (size_t)from->n_sources;
    const char **sources = realloc(doc->sources, n_sources * sizeof *sources);
    if (!sources)
        return err_nomem(e, "names of YAML files");
    doc->sources = sources;
    memcpy(sources + doc->n_sources, from->sources, (size_t)from->n_sources * sizeof *sources);
    doc->n_sources += from->n_sources;
    doc->n_bytes += from->n_bytes;
    yaml_id top = doc->n_nodes + from->root;
    append_nodes(doc, from);
    yaml_doc_splice(doc, at, top);
    return 0;
}

/* Copy what `id` of nodes leads to behind out->nodes, in the order of reading. */
static void keep_below(struct yaml_doc *out, const struct yaml_node *nodes, yaml_id id, yaml_id parent)
{
    const yaml_id to = out->n_nodes++;
    out->nodes[to] = nodes[id];
    out->nodes[to].first = out->nodes[to].last = out->nodes[to].next = -1;
    out->nodes[to].n = 0;
    if (parent >= 0)
        yaml_doc_link(out, parent, to);
    for (yaml_id child = nodes[id].first; child >= 0; child = nodes[child].next)
        keep_below(out, nodes, child, to);
}

int yaml_prune(struct yaml_doc *doc, yaml_id at, struct err *e)
{
    assert(at >= 0 && at < doc->n_nodes);
    struct yaml_node *old = doc->nodes, *cut = &old[at];
    struct yaml_node *nodes = malloc((size_t)doc->n_nodes * sizeof *nodes);
    if (!nodes)
        return err_nomem(e, "nodes of a YAML file");
    cut->kind = YAML_MAP;
    cut->text = NULL;
    cut->quoted = false;
    cut->first = cut->last = -1;
    cut->n = 0;
    doc->nodes = nodes;
    doc->cap_nodes = doc->n_nodes;
    doc->n_nodes = 0;
    keep_below(doc, old, doc->root, -1);
    doc->root = 0;
    free(old);
    return 0;
}

void yaml_free(struct yaml_doc *doc)
{
    while (doc->chunks) {
        struct yaml_chunk *next = doc->chunks->next;
        free(doc->chunks);
        doc->chunks = next;
    }
    free(doc->nodes);
    free(doc->sources);
    *doc = (struct yaml_doc){ .root = -1 };
}
