/*
 * Overrides: a path names a node, and its value is parsed as a small document, checked for where it goes, and
 * linked last, so that a failure leaves the document as it was.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/yaml.h"
#include "base/yaml_doc.h"

/* One component of a path. */
struct yaml_part {
    const char *name; /* not terminated; NULL for an index */
    size_t n;
    int32_t index;
    const char *end; /* past it, before the dot */
};

/* An override under way. */
struct edit {
    struct yaml_doc *doc;
    const char *path;
    const char *source; /* "--set PATH=VALUE", what messages name as the file */
    yaml_id at;         /* as far as the path exists */
    const char *rest;   /* of the path: keys to be made below `at` */
};

/* "[123]", at most nine digits. Nine fit in 32 bits. */
static const char *scan_index(const char *s, struct yaml_part *out)
{
    const char *digits = ++s;
    out->name = NULL;
    out->index = 0;
    while (*s >= '0' && *s <= '9' && s - digits < 9)
        out->index = 10 * out->index + (*s++ - '0');
    return s == digits || *s != ']' ? NULL : s + 1;
}

static const char *scan_name(const char *s, struct yaml_part *out)
{
    out->name = s;
    out->n = strcspn(s, ".[]");
    return out->n ? s + out->n : NULL;
}

/* Take one component off the front of *path, which is not empty; false when there is none. */
static bool next_part(const char **path, struct yaml_part *out)
{
    const char *s = **path == '[' ? scan_index(*path, out) : scan_name(*path, out);
    if (!s)
        return false;
    out->end = s;
    bool dot = *s == '.';
    s += dot;
    /* "a." and "a.[0]" are no paths, nor is "a[0]b". */
    if (dot ? *s == '\0' || *s == '[' : *s != '\0' && *s != '[')
        return false;
    *path = s;
    return true;
}

static bool same(const char *s, const struct yaml_part *p)
{
    return strncmp(s, p->name, p->n) == 0 && s[p->n] == '\0';
}

/* Lists of maps with a `name` are reached by it: "dims.pod" rather than "dims[1]". */
static const char *member_name(const struct yaml_doc *doc, yaml_id member)
{
    yaml_id name = yaml_get(doc, member, "name");
    return name >= 0 && doc->nodes[name].text ? doc->nodes[name].text : "";
}

/* The child of `at` that p means, or -1; *n_found tells "none" from "several". */
static yaml_id find_child(const struct yaml_doc *doc, yaml_id at, const struct yaml_part *p, int32_t *n_found)
{
    yaml_id found = -1;
    enum yaml_kind kind = doc->nodes[at].kind;
    *n_found = 0;
    yaml_each (id, doc, at) {
        bool hit;
        if (!p->name)
            hit = kind == YAML_SEQ && doc->nodes[id].index == p->index;
        else
            hit = same(kind == YAML_MAP ? doc->nodes[id].key : member_name(doc, id), p);
        if (hit) {
            found = id;
            (*n_found)++;
        }
    }
    return *n_found == 1 ? found : -1;
}

/* -1: it is not there, is no path, or names several members. */
yaml_id yaml_find(const struct yaml_doc *doc, const char *path)
{
    yaml_id at = doc->root;
    while (*path && at >= 0) {
        struct yaml_part p;
        int32_t n_found;
        if (!next_part(&path, &p))
            return -1;
        at = find_child(doc, at, &p, &n_found);
    }
    return at;
}

/* Bytes of the path to show. */
static int upto(const struct edit *ed, const char *end)
{
    return end - ed->path < 100 ? (int)(end - ed->path) : 100;
}

static int fail_path(const struct edit *ed, struct err *e)
{
    return err_set(e, ERR_PARSE,
                   "%s:1:1: path is \"%.80s\", expected keys and indices such as network.dims[0].size",
                   ed->source, ed->path);
}

static int fail_index(const struct edit *ed, const char *end, struct err *e)
{
    int32_t n = ed->doc->nodes[ed->at].n;
    if (n == 0)
        return err_set(e, ERR_RANGE,
                       "%s:1:1: %.*s is an entry of an empty list, expected a list with entries", ed->source,
                       upto(ed, end), ed->path);
    return err_set(e, ERR_RANGE, "%s:1:1: %.*s is past the end, expected 0 to %d (the list has %d %s)",
                   ed->source, upto(ed, end), ed->path, (int)n - 1, (int)n, n == 1 ? "entry" : "entries");
}

/* "node, rail": the names of the entries of a list, to choose from; "a name" where they are many or have
 * none. */
static const char *put_names(char out[128], const struct yaml_doc *doc, yaml_id list)
{
    int used = 0;
    yaml_each (id, doc, list) {
        yaml_id name = doc->nodes[id].kind == YAML_MAP ? yaml_get(doc, id, "name") : -1;
        bool is_word = name >= 0 && doc->nodes[name].kind == YAML_SCALAR;
        used += is_word ? snprintf(out + used, 128 - (size_t)used, "%s%s", used ? ", " : "",
                                   doc->nodes[name].text)
                        : 128;
        if (used >= 128)
            return "a name";
    }
    return used ? out : "a name";
}

static int fail_member(const struct edit *ed, const struct yaml_part *p, int32_t n_found, struct err *e)
{
    if (n_found > 1)
        return err_set(e, ERR_PARSE, "%s:1:1: %.*s is the name of %d entries, expected an index", ed->source,
                       upto(ed, p->end), ed->path, (int)n_found);
    char index[128] = "", names[128];
    if (p->name > ed->path && p->n < 10 && strspn(p->name, "0123456789") >= p->n)
        snprintf(index, sizeof index, " as in %.*s[%.*s]", upto(ed, p->name - 1), ed->path, (int)p->n,
                 p->name);
    return err_set(e, ERR_PARSE,
                   "%s:1:1: %.*s is no entry's name, expected %s or an index%s (the list has %d %s)",
                   ed->source, upto(ed, p->end), ed->path, put_names(names, ed->doc, ed->at), index,
                   (int)ed->doc->nodes[ed->at].n, ed->doc->nodes[ed->at].n == 1 ? "entry" : "entries");
}

/* Why the path does not go on at ed->at with component p. */
static int fail_child(const struct edit *ed, const struct yaml_part *p, int32_t n_found, struct err *e)
{
    char at[256], shown[YAML_SHOWN];
    enum yaml_kind kind = ed->doc->nodes[ed->at].kind;
    if (kind == YAML_SEQ)
        return p->name ? fail_member(ed, p, n_found, e) : fail_index(ed, p->end, e);
    yaml_path(ed->doc, ed->at, at, sizeof at);
    return err_set(e, ERR_PARSE, "%s:1:1: %s is %s, expected a %s to reach \"%.80s\"", ed->source,
                   *at ? at : "document", yaml_show(ed->doc, ed->at, shown), p->name ? "map" : "list",
                   ed->path);
}

/* Follow the path as far as it exists; what is missing must be keys below a map. */
static int walk(struct edit *ed, struct err *e)
{
    ed->at = ed->doc->root;
    ed->rest = ed->path;
    if (!*ed->path)
        return fail_path(ed, e);
    while (*ed->rest) {
        const char *rest = ed->rest;
        struct yaml_part p;
        int32_t n_found;
        if (!next_part(&rest, &p))
            return fail_path(ed, e);
        yaml_id child = find_child(ed->doc, ed->at, &p, &n_found);
        /* A key that a map does not have is made there; whether it is known is for the reader of the map to
         * say. */
        if (child < 0 && ed->doc->nodes[ed->at].kind == YAML_MAP && p.name)
            return 0;
        if (child < 0)
            return fail_child(ed, &p, n_found, e);
        ed->at = child;
        ed->rest = rest;
    }
    return 0;
}

static int count_missing(const struct edit *ed, int32_t *n, struct err *e)
{
    *n = 0;
    for (const char *s = ed->rest; *s; (*n)++) {
        struct yaml_part p;
        if (!next_part(&s, &p))
            return fail_path(ed, e);
        if (!p.name)
            return err_set(e, ERR_RANGE,
                           "%s:1:1: %.*s is an entry of a list that is not there, expected a list",
                           ed->source, upto(ed, p.end), ed->path);
    }
    /* yaml_path() has room for as many, and no more. */
    int32_t depth = yaml_doc_depth(ed->doc, ed->at) + *n;
    if (depth > YAML_MAX_DEPTH + 1)
        return err_set(e, ERR_RANGE, "%s:1:1: path is at depth %d, expected at most %d", ed->source,
                       (int)depth, YAML_MAX_DEPTH + 1);
    return 0;
}

/* A key per component of ed->rest, the last one holding `value`. Linked to the tree when all are there. Then
 * ed->at is the last one. */
static int add_missing(struct edit *ed, yaml_id value, struct err *e)
{
    struct yaml_doc *doc = ed->doc;
    yaml_id first = -1, above = -1, id = -1;
    for (const char *s = ed->rest; *s; above = id) {
        struct yaml_part p;
        struct yaml_node node = { .kind = YAML_MAP, .source = doc->nodes[value].source };
        node.key_source = node.source;
        node.line = node.col = node.text_line = node.text_col = 1;
        next_part(&s, &p);
        int rc = yaml_doc_keep(doc, p.name, p.n, &node.key, e);
        if (!rc)
            rc = yaml_doc_node(doc, &node, &id, e);
        if (rc)
            return rc;
        if (above >= 0)
            yaml_doc_link(doc, above, id);
        else
            first = id;
    }
    /* Only now does the tree lead to any of it: a failure above left it as it was. */
    yaml_doc_splice(doc, id, value);
    yaml_doc_link(doc, ed->at, first);
    ed->at = id;
    return 0;
}

/* The key keeps its name and gets the override's place: messages then name the command line. */
static void replace(const struct edit *ed, yaml_id value)
{
    struct yaml_node *at = &ed->doc->nodes[ed->at];
    yaml_doc_splice(ed->doc, ed->at, value);
    at->key_source = at->source;
    if (at->key)
        at->line = at->col = 1;
}

/* What messages call the file of such a value; long ones and those of several lines are cut, and end in
 * "...". */
static const char *name_source(char *buf, size_t n, const char *path, const char *value)
{
    size_t line = strcspn(value, "\n");
    int need = snprintf(buf, n, "--set %s=%.*s%s", path, (int)line, value, value[line] ? "..." : "");
    if (need < 0 || (size_t)need >= n)
        strcpy(buf + n - 4, "...");
    return buf;
}

/* Find where the value goes; *n_missing keys are to be made. */
static int edit_begin(struct edit *ed, int32_t *n_missing, struct err *e)
{
    assert(ed->doc->root >= 0);
    int rc = walk(ed, e);
    return rc ? rc : count_missing(ed, n_missing, e);
}

/* Put node `top`, the last of the document, where it goes; the document had n_nodes and n_sources before. */
static int yaml_put(struct edit *ed, yaml_id top, int32_t n_nodes, int32_t n_sources, struct err *e)
{
    if (!*ed->rest) {
        replace(ed, top);
        return 0;
    }
    int rc = add_missing(ed, top, e);
    if (rc) {
        ed->doc->n_nodes = n_nodes;
        ed->doc->n_sources = n_sources;
    }
    return rc;
}

int yaml_set(struct yaml_doc *doc, const char *path, const char *value, struct err *e)
{
    char source[200];
    struct edit ed = { .doc = doc, .path = path };
    ed.source = name_source(source, sizeof source, path, value);

    int32_t n_missing;
    int rc = edit_begin(&ed, &n_missing, e);
    if (rc)
        return rc;
    int32_t n_nodes = doc->n_nodes, n_sources = doc->n_sources;
    yaml_id top;
    /* Parsed at the depth where it will stand, so that limits hold there. */
    rc = yaml_doc_parse(doc, source, value, strlen(value), path, yaml_doc_depth(doc, ed.at) + n_missing, &top,
                        e);
    return rc ? rc : yaml_put(&ed, top, n_nodes, n_sources, e);
}

/* All of the copy below and at ed->at, nodes from `first` on, as if it were read from `source`. */
static void rename_source(const struct edit *ed, yaml_id first, int32_t source)
{
    struct yaml_node *at = &ed->doc->nodes[ed->at];
    at->source = at->key_source = source;
    for (yaml_id id = first; id < ed->doc->n_nodes; id++)
        ed->doc->nodes[id].source = ed->doc->nodes[id].key_source = source;
}

int yaml_set_copy(struct yaml_doc *doc, const char *path, const char *value, const struct yaml_doc *from,
                  struct err *e)
{
    char source[200];
    struct edit ed = { .doc = doc, .path = path };
    ed.source = name_source(source, sizeof source, path, value);

    int32_t n_missing, n_nodes = doc->n_nodes, n_sources = doc->n_sources;
    /* Stands in until the copy is put in its place: yaml_graft_copy() needs somewhere to put it. */
    struct yaml_node blank = { .kind = YAML_SCALAR, .text = "", .line = 1, .col = 1 };
    yaml_id top = -1;
    int rc = edit_begin(&ed, &n_missing, e);
    if (!rc)
        rc = yaml_doc_source(doc, source, &blank.source, e);
    blank.key_source = blank.source;
    if (!rc)
        rc = yaml_doc_node(doc, &blank, &top, e);
    if (!rc)
        rc = yaml_put(&ed, top, n_nodes, n_sources, e);
    yaml_id first = doc->n_nodes;
    if (!rc)
        rc = yaml_graft_copy(doc, ed.at, from, e);
    /* "dims.pod" with a value that renames the member: messages about it cannot go by the path any more. */
    if (!rc && yaml_find(doc, path) != ed.at)
        rename_source(&ed, first, blank.source);
    return rc;
}
