#include "base/yaml_doc.h"

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
