#include "base/yaml.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/text.h"
#include "base/yaml_doc.h"

struct map_key {
    const char *key;
    yaml_id id;
};

/* Turns libyaml's events into nodes. Its document API would follow aliases and nest without limit. */
struct builder {
    struct yaml_doc *doc;
    const char *name, *text;
    int32_t source;
    int32_t depth;                /* depth of the next node */
    int32_t n_open;               /* maps and lists not ended yet */
    yaml_id open[YAML_MAX_DEPTH]; /* outermost first */
    yaml_id top;                  /* -1 until the first node */
    const char *prefix;           /* kept; path of the top node, NULL for a root */
    const char *key;              /* kept; read, its value not yet */
    int32_t key_line, key_col;
    struct map_key *sorted; /* room for the keys of the largest map so far */
    size_t cap_sorted;
    yaml_parser_t parser;
};

static int fail_at(const struct builder *b, yaml_mark_t place, struct err *e, enum err_code code,
                   const char *fmt, ...) ERR_PRINTF(5, 6);

static int fail_at(const struct builder *b, yaml_mark_t place, struct err *e, enum err_code code,
                   const char *fmt, ...)
{
    char what[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return err_set(e, code, "%s:%zu:%zu: %s", yaml_doc_tail(b->name), place.line + 1, place.column + 1, what);
}

/* The reader knows only a byte offset; lines and columns (of characters) are counted here. */
static yaml_mark_t mark_of_offset(const char *text, size_t offset)
{
    yaml_mark_t m = { 0 };
    for (size_t i = 0; i < offset; i++) {
        if (text[i] == '\n') {
            m.line++;
            m.column = 0;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) {
            m.column++;
        }
    }
    return m;
}

static int fail_parser(const struct builder *b, struct err *e)
{
    const yaml_parser_t *p = &b->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return err_nomem(e, "reading YAML");
    yaml_mark_t place = p->problem_mark;
    if (p->error == YAML_READER_ERROR)
        place = mark_of_offset(b->text, p->problem_offset);
    return fail_at(b, place, e, ERR_PARSE, "is not YAML (%s%s%s), need a well-formed file",
                   p->problem ? p->problem : "no reason given", p->context ? " " : "",
                   p->context ? p->context : "");
}

static bool wants_key(const struct builder *b)
{
    return b->n_open && !b->key && b->doc->nodes[b->open[b->n_open - 1]].kind == YAML_MAP;
}

/* Anchors and tags change what a value means elsewhere in the file; here every value stands for itself. */
static int check_plain(const struct builder *b, yaml_mark_t place, const unsigned char *anchor,
                       const unsigned char *tag, struct err *e)
{
    if (anchor)
        return fail_at(b, place, e, ERR_PARSE, "anchor &%.40s is used, need the value written out",
                       (const char *)anchor);
    if (tag) {
        static const char standard[] = "tag:yaml.org,2002:";
        const char *name = (const char *)tag;
        bool own = strncmp(name, standard, sizeof standard - 1) != 0;
        return fail_at(b, place, e, ERR_PARSE, "tag %s%.40s is used, need the value without a tag",
                       own ? "" : "!!", own ? name : name + sizeof standard - 1);
    }
    return 0;
}

static int add_node(struct builder *b, yaml_mark_t place, struct yaml_node node, yaml_id *id, struct err *e)
{
    if (b->doc->n_nodes >= YAML_MAX_NODES)
        return fail_at(b, place, e, ERR_RANGE, "is value number %d, need at most %d", YAML_MAX_NODES + 1,
                       YAML_MAX_NODES);
    node.source = node.key_source = b->source;
    node.text_line = (int32_t)place.line + 1;
    node.text_col = (int32_t)place.column + 1;
    node.key = b->key ? b->key : b->top < 0 ? b->prefix : NULL;
    node.line = b->key ? b->key_line : node.text_line;
    node.col = b->key ? b->key_col : node.text_col;
    int rc = yaml_doc_node(b->doc, &node, id, e);
    if (rc)
        return rc;
    b->key = NULL;
    if (b->n_open)
        yaml_doc_link(b->doc, b->open[b->n_open - 1], *id);
    else
        b->top = *id;
    return 0;
}

static int take_key(struct builder *b, const yaml_event_t *ev, const char *text, size_t n, struct err *e)
{
    yaml_mark_t place = ev->start_mark;
    if (n == 0)
        return fail_at(b, place, e, ERR_PARSE, "key is empty, need a name");
    if (ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(text, "<<") == 0)
        return fail_at(b, place, e, ERR_PARSE, "merge key << is used, need the keys written out");
    b->key_line = (int32_t)place.line + 1;
    b->key_col = (int32_t)place.column + 1;
    return yaml_doc_keep(b->doc, text, n, &b->key, e);
}

/* The tag `!` alone is not reported by libyaml for scalars. It makes a plain one
 * text and takes up room before it; it makes a quoted one look plain. */
static bool has_lone_tag(const yaml_event_t *ev)
{
    if (ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return ev->data.scalar.plain_implicit;
    return ev->start_mark.line == ev->end_mark.line &&
           ev->end_mark.index - ev->start_mark.index > ev->data.scalar.length;
}

static bool is_null(const char *s)
{
    return !*s || strcmp(s, "~") == 0 || strcmp(s, "null") == 0 || strcmp(s, "Null") == 0 ||
           strcmp(s, "NULL") == 0;
}

static int take_scalar(struct builder *b, const yaml_event_t *ev, struct err *e)
{
    const char *text = (const char *)ev->data.scalar.value;
    size_t n = ev->data.scalar.length;
    const unsigned char *tag = ev->data.scalar.tag;
    if (!tag && has_lone_tag(ev))
        tag = (const unsigned char *)"!";
    int rc = check_plain(b, ev->start_mark, ev->data.scalar.anchor, tag, e);
    if (rc)
        return rc;
    if (memchr(text, '\0', n))
        return fail_at(b, ev->start_mark, e, ERR_PARSE, "text holds a NUL byte, need text without one");
    if (wants_key(b))
        return take_key(b, ev, text, n, e);

    struct yaml_node node = { .kind = YAML_SCALAR };
    node.quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (!node.quoted && is_null(text))
        n = 0;
    rc = yaml_doc_keep(b->doc, text, n, &node.text, e);
    if (rc)
        return rc;
    yaml_id id;
    return add_node(b, ev->start_mark, node, &id, e);
}

static int open_node(struct builder *b, const yaml_event_t *ev, enum yaml_kind kind, struct err *e)
{
    const char *what = kind == YAML_MAP ? "map" : "list";
    const unsigned char *anchor = ev->data.sequence_start.anchor, *tag = ev->data.sequence_start.tag;
    if (kind == YAML_MAP) {
        anchor = ev->data.mapping_start.anchor;
        tag = ev->data.mapping_start.tag;
    }
    int rc = check_plain(b, ev->start_mark, anchor, tag, e);
    if (rc)
        return rc;
    if (wants_key(b))
        return fail_at(b, ev->start_mark, e, ERR_PARSE, "key is a %s, need a name", what);
    if (b->depth > YAML_MAX_DEPTH)
        return fail_at(b, ev->start_mark, e, ERR_RANGE, "%s is at depth %d, need at most %d", what, b->depth,
                       YAML_MAX_DEPTH);
    yaml_id id;
    rc = add_node(b, ev->start_mark, (struct yaml_node){ .kind = kind }, &id, e);
    if (rc)
        return rc;
    b->open[b->n_open++] = id;
    b->depth++;
    return 0;
}

static int by_key(const void *pa, const void *pb)
{
    const struct map_key *a = pa, *b = pb;
    int order = strcmp(a->key, b->key);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

static int reserve_sorted(struct builder *b, size_t n, struct err *e)
{
    if (n <= b->cap_sorted)
        return 0;
    struct map_key *grown = realloc(b->sorted, 2 * n * sizeof *grown);
    if (!grown)
        return err_nomem(e, "keys of a YAML map");
    b->sorted = grown;
    b->cap_sorted = 2 * n;
    return 0;
}

/* Sorted rather than compared in pairs: a map may have a million keys. */
static int check_keys(struct builder *b, yaml_id map, struct err *e)
{
    const struct yaml_doc *doc = b->doc;
    size_t n = (size_t)doc->nodes[map].n, i = 0;
    int rc = reserve_sorted(b, n, e);
    if (rc)
        return rc;
    yaml_each (id, doc, map)
        b->sorted[i++] = (struct map_key){ doc->nodes[id].key, id };
    if (n > 1)
        qsort(b->sorted, n, sizeof *b->sorted, by_key);

    yaml_id first = -1, again = -1;
    for (i = 1; i < n; i++) {
        const struct map_key *was = &b->sorted[i - 1], *is = &b->sorted[i];
        if (strcmp(was->key, is->key) == 0 && (again < 0 || is->id < again)) {
            first = was->id;
            again = is->id;
        }
    }
    if (again < 0)
        return 0;
    return yaml_fail_key(doc, again, e, ERR_PARSE, "is given again, first on line %d, need it once",
                         doc->nodes[first].line);
}

static int close_node(struct builder *b, struct err *e)
{
    yaml_id id = b->open[--b->n_open];
    b->depth--;
    return b->doc->nodes[id].kind == YAML_MAP ? check_keys(b, id, e) : 0;
}

static int end_stream(const struct builder *b, struct err *e)
{
    if (b->top < 0 || yaml_is_null(b->doc, b->top))
        return fail_at(b, (yaml_mark_t){ 0 }, e, ERR_PARSE, "is empty, need keys or a value");
    return 0;
}

static int take_event(struct builder *b, const yaml_event_t *ev, struct err *e)
{
    switch (ev->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->top >= 0)
            return fail_at(b, ev->start_mark, e, ERR_PARSE, "second document starts, need one per file");
        return 0;
    case YAML_ALIAS_EVENT:
        return fail_at(b, ev->start_mark, e, ERR_PARSE, "alias *%.40s is used, need the value written out",
                       (const char *)ev->data.alias.anchor);
    case YAML_SCALAR_EVENT:
        return take_scalar(b, ev, e);
    case YAML_SEQUENCE_START_EVENT:
        return open_node(b, ev, YAML_SEQ, e);
    case YAML_MAPPING_START_EVENT:
        return open_node(b, ev, YAML_MAP, e);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return close_node(b, e);
    case YAML_STREAM_END_EVENT:
        return end_stream(b, e);
    default:
        return 0;
    }
}

static int take_events(struct builder *b, struct err *e)
{
    for (bool done = false; !done;) {
        yaml_event_t ev;
        if (!yaml_parser_parse(&b->parser, &ev))
            return fail_parser(b, e);
        int rc = take_event(b, &ev, e);
        done = ev.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&ev);
        if (rc)
            return rc;
    }
    return 0;
}

/* Without tags there is no use for %TAG, and libyaml compares each one with all before it: 2 MB take a
 * minute. */
static int check_directives(const struct builder *b, size_t n, struct err *e)
{
    static const char tag[] = "%TAG";
    const char *end = b->text + n, *s = b->text;
    for (; s < end && (s = memchr(s, '%', (size_t)(end - s))); s++) {
        /* After a byte that may end a line break of YAML: CR, LF, NEL, LS or PS. */
        bool starts_line = s == b->text || strchr("\n\r\x85\xa8\xa9", s[-1]);
        if (starts_line && (size_t)(end - s) >= sizeof tag - 1 && memcmp(s, tag, sizeof tag - 1) == 0)
            return fail_at(b, mark_of_offset(b->text, (size_t)(s - b->text)), e, ERR_PARSE,
                           "directive %%TAG is used, need the file without it");
    }
    return 0;
}

static int build(struct builder *b, size_t n, const char *prefix, struct err *e)
{
    int rc = check_directives(b, n, e);
    if (!rc)
        rc = yaml_doc_source(b->doc, b->name, &b->source, e);
    if (!rc && prefix)
        rc = yaml_doc_keep(b->doc, prefix, strlen(prefix), &b->prefix, e);
    if (rc)
        return rc;
    if (!yaml_parser_initialize(&b->parser))
        return err_nomem(e, "reading YAML");
    /* Said, not guessed: UTF-16 would make columns and byte offsets disagree. */
    yaml_parser_set_encoding(&b->parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b->parser, (const unsigned char *)b->text, n);
    rc = take_events(b, e);
    yaml_parser_delete(&b->parser);
    free(b->sorted);
    return rc;
}

int yaml_doc_parse(struct yaml_doc *doc, const char *name, const char *text, size_t n, const char *prefix,
                   int32_t depth, yaml_id *top, struct err *e)
{
    if (n > YAML_MAX_BYTES - doc->n_bytes)
        return err_set(e, ERR_RANGE, "%s: is %zu bytes after %zu of other files, need at most %d in all",
                       yaml_doc_tail(name), n, doc->n_bytes, YAML_MAX_BYTES);
    /* A byte order mark would count as a column. */
    size_t skip = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    int32_t n_nodes = doc->n_nodes, n_sources = doc->n_sources;
    struct builder b = { .doc = doc, .name = name, .text = text + skip, .depth = depth, .top = -1 };
    int rc = build(&b, n - skip, prefix, e);
    if (rc) {
        doc->n_nodes = n_nodes;
        doc->n_sources = n_sources;
        return rc;
    }
    doc->n_bytes += n;
    *top = b.top;
    return 0;
}

int yaml_read_text(struct yaml_doc *doc, const char *name, const char *text, size_t n, struct err *e)
{
    *doc = (struct yaml_doc){ .root = -1 };
    int rc = yaml_doc_parse(doc, name, text, n, NULL, 1, &doc->root, e);
    if (rc)
        yaml_free(doc);
    return rc;
}

int yaml_read_file(struct yaml_doc *doc, const char *path, struct err *e)
{
    *doc = (struct yaml_doc){ .root = -1 };
    struct text file = { 0 };
    int rc = text_read_file(&file, path, YAML_MAX_BYTES, e);
    if (!rc)
        rc = yaml_read_text(doc, path, text_str(&file), file.n, e);
    text_free(&file);
    return rc;
}

int yaml_graft_text(struct yaml_doc *doc, yaml_id at, const char *name, const char *text, size_t n,
                    struct err *e)
{
    assert(at >= 0 && at < doc->n_nodes);
    char prefix[512];
    yaml_path(doc, at, prefix, sizeof prefix);
    yaml_id top;
    int rc = yaml_doc_parse(doc, name, text, n, *prefix ? prefix : NULL, yaml_doc_depth(doc, at), &top, e);
    if (!rc)
        yaml_doc_splice(doc, at, top);
    return rc;
}

int yaml_graft_file(struct yaml_doc *doc, yaml_id at, const char *path, struct err *e)
{
    struct text file = { 0 };
    int rc = text_read_file(&file, path, YAML_MAX_BYTES, e);
    if (!rc)
        rc = yaml_graft_text(doc, at, path, text_str(&file), file.n, e);
    text_free(&file);
    return rc;
}

void yaml_beside(struct text *out, const struct yaml_doc *doc, yaml_id id)
{
    const char *source = yaml_source(doc, id), *path = doc->nodes[id].text;
    const char *slash = strrchr(source, '/');
    if (path[0] != '/' && slash && strncmp(source, "--set ", 6) != 0)
        text_add(out, source, (size_t)(slash - source) + 1);
    text_puts(out, path);
}
