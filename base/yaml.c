/*
 * libyaml's events become a tree of nodes in one array, linked by indices: children form a list (first, next,
 * last), so that appending is O(1) and a copy of the whole document is one memcpy(). Texts lie in chunks that
 * never move; copies share them. A node that is replaced stays in the array, unreachable, until yaml_prune()
 * or yaml_free(): ids stay valid through any number of overrides.
 *
 * What a study must not depend on is refused at its place: anchors and aliases (a value would mean something
 * elsewhere), tags, merge keys, duplicate keys, several documents. Limits on depth, nodes and bytes bound
 * what a hostile file costs; %TAG, on which libyaml itself takes quadratic time, is refused before it sees
 * the text.
 *
 * Parsed files are put into many documents (one for each point of a study) by
 * copying nodes, with indices moved by the number of nodes that are there.
 */

#include "base/yaml.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "base/vec.h"
#include "base/num.h"
#include "base/text.h"
#include "base/yaml_doc.h"

struct yaml_map_key {
    const char *key;
    yaml_id id;
};

/* Turns libyaml's events into nodes. Its document API would follow aliases and nest without limit. */
struct yaml_builder {
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
    struct yaml_map_key *sorted; /* room for the keys of the largest map so far */
    size_t cap_sorted;
    yaml_parser_t parser;
};

static int fail_at(const struct yaml_builder *b, yaml_mark_t place, struct err *e, enum err_code code,
                   const char *fmt, ...) ERR_PRINTF(5, 6);

static int fail_at(const struct yaml_builder *b, yaml_mark_t place, struct err *e, enum err_code code,
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

/* Does the blank before @p place, at which no token starts, begin with a tab? */
static bool is_tab(const char *text, yaml_mark_t place)
{
    for (size_t line = 0; line < place.line; line++) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return text[strspn(text, " ")] == '\t';
}

static int fail_parser(const struct yaml_builder *b, struct err *e)
{
    const yaml_parser_t *p = &b->parser;
    if (p->error == YAML_MEMORY_ERROR)
        return err_nomem(e, "reading YAML");
    yaml_mark_t place = p->problem_mark;
    if (p->error == YAML_READER_ERROR)
        place = mark_of_offset(b->text, p->problem_offset);
    /* place.index counts characters; a tab is one byte wherever it is, so the line is looked for. */
    if (p->error == YAML_SCANNER_ERROR && is_tab(b->text, place))
        return fail_at(b, place, e, ERR_PARSE, "is a tab; YAML is indented with spaces");
    return fail_at(b, place, e, ERR_PARSE, "is not valid YAML (%s%s%s)",
                   p->problem ? p->problem : "no reason given", p->context ? " " : "",
                   p->context ? p->context : "");
}

static bool wants_key(const struct yaml_builder *b)
{
    return b->n_open && !b->key && b->doc->nodes[b->open[b->n_open - 1]].kind == YAML_MAP;
}

/* Anchors and tags change what a value means elsewhere in the file; here every value stands for itself. */
static int check_plain(const struct yaml_builder *b, yaml_mark_t place, const unsigned char *anchor,
                       const unsigned char *tag, struct err *e)
{
    if (anchor)
        return fail_at(b, place, e, ERR_PARSE, "anchor &%.40s is not supported; write the value out",
                       (const char *)anchor);
    if (tag) {
        static const char standard[] = "tag:yaml.org,2002:";
        const char *name = (const char *)tag;
        bool own = strncmp(name, standard, sizeof standard - 1) != 0;
        return fail_at(b, place, e, ERR_PARSE, "tag %s%.40s is not supported; write the value without it",
                       own ? "" : "!!", own ? name : name + sizeof standard - 1);
    }
    return 0;
}

/* A node has two places: that of its key, for messages about the key, and that of its value. */
static int add_node(struct yaml_builder *b, yaml_mark_t place, struct yaml_node node, yaml_id *id,
                    struct err *e)
{
    /* Unreachable nodes count too: the limit is on memory. */
    if (b->doc->n_nodes >= YAML_MAX_NODES)
        return fail_at(b, place, e, ERR_RANGE, "is value number %d, expected at most %d", YAML_MAX_NODES + 1,
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
    /* The key is used up; the next scalar of the map is a key again. */
    b->key = NULL;
    if (b->n_open)
        yaml_doc_link(b->doc, b->open[b->n_open - 1], *id);
    else
        b->top = *id;
    return 0;
}

static int take_key(struct yaml_builder *b, const yaml_event_t *ev, const char *text, size_t n, struct err *e)
{
    yaml_mark_t place = ev->start_mark;
    if (n == 0)
        return fail_at(b, place, e, ERR_PARSE, "key is empty, expected a name");
    if (ev->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && strcmp(text, "<<") == 0)
        return fail_at(b, place, e, ERR_PARSE, "merge key << is not supported; write the keys out");
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

static int take_scalar(struct yaml_builder *b, const yaml_event_t *ev, struct err *e)
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
        return fail_at(b, ev->start_mark, e, ERR_PARSE, "text holds a NUL byte");
    if (wants_key(b))
        return take_key(b, ev, text, n, e);

    struct yaml_node node = { .kind = YAML_SCALAR };
    node.quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    /* All spellings of nothing become the empty text, so that yaml_is_null() need know one alone. */
    if (!node.quoted && is_null(text))
        n = 0;
    rc = yaml_doc_keep(b->doc, text, n, &node.text, e);
    if (rc)
        return rc;
    yaml_id id;
    return add_node(b, ev->start_mark, node, &id, e);
}

static int open_node(struct yaml_builder *b, const yaml_event_t *ev, enum yaml_kind kind, struct err *e)
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
        return fail_at(b, ev->start_mark, e, ERR_PARSE, "key is a %s, expected a name", what);
    if (b->depth > YAML_MAX_DEPTH)
        return fail_at(b, ev->start_mark, e, ERR_RANGE, "%s is at depth %d, expected at most %d", what,
                       b->depth, YAML_MAX_DEPTH);
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
    const struct yaml_map_key *a = pa, *b = pb;
    int order = strcmp(a->key, b->key);
    return order ? order : (a->id > b->id) - (a->id < b->id);
}

static int reserve_sorted(struct yaml_builder *b, size_t n, struct err *e)
{
    if (n <= b->cap_sorted)
        return 0;
    if (!vec_resize(b->sorted, (int64_t)(2 * n)))
        return err_nomem(e, "keys of a YAML map");
    b->cap_sorted = 2 * n;
    return 0;
}

/* Sorted rather than compared in pairs: a map may have a million keys. */
static int check_keys(struct yaml_builder *b, yaml_id map, struct err *e)
{
    const struct yaml_doc *doc = b->doc;
    size_t n = (size_t)doc->nodes[map].n, i = 0;
    int rc = reserve_sorted(b, n, e);
    if (rc)
        return rc;
    yaml_each (id, doc, map)
        b->sorted[i++] = (struct yaml_map_key){ doc->nodes[id].key, id };
    if (n > 1)
        qsort(b->sorted, n, sizeof *b->sorted, by_key);

    yaml_id first = -1, again = -1;
    for (i = 1; i < n; i++) {
        const struct yaml_map_key *was = &b->sorted[i - 1], *is = &b->sorted[i];
        /* The first in the file of those that repeat another: what a reader from the top meets. */
        if (strcmp(was->key, is->key) == 0 && (again < 0 || is->id < again)) {
            first = was->id;
            again = is->id;
        }
    }
    if (again < 0)
        return 0;
    return yaml_fail_key(doc, again, e, ERR_PARSE, "is given twice, first on line %d",
                         doc->nodes[first].line);
}

static int close_node(struct yaml_builder *b, struct err *e)
{
    yaml_id id = b->open[--b->n_open];
    b->depth--;
    return b->doc->nodes[id].kind == YAML_MAP ? check_keys(b, id, e) : 0;
}

static int end_stream(const struct yaml_builder *b, struct err *e)
{
    /* "~" alone and comments alone are no document. */
    if (b->top < 0 || yaml_is_null(b->doc, b->top))
        return fail_at(b, (yaml_mark_t){ 0 }, e, ERR_PARSE, "is empty, expected keys or a value");
    return 0;
}

static int take_event(struct yaml_builder *b, const yaml_event_t *ev, struct err *e)
{
    switch (ev->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->top >= 0)
            return fail_at(b, ev->start_mark, e, ERR_PARSE,
                           "a second document starts here; use one per file");
        return 0;
    case YAML_ALIAS_EVENT:
        return fail_at(b, ev->start_mark, e, ERR_PARSE, "alias *%.40s is not supported; write the value out",
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

static int take_events(struct yaml_builder *b, struct err *e)
{
    for (bool done = false; !done;) {
        yaml_event_t ev;
        if (!yaml_parser_parse(&b->parser, &ev))
            return fail_parser(b, e);
        int rc = take_event(b, &ev, e);
        done = ev.type == YAML_STREAM_END_EVENT;
        /* Texts of the event are kept by now; it is freed also when it was refused. */
        yaml_event_delete(&ev);
        if (rc)
            return rc;
    }
    return 0;
}

/* ---- one line of flow ---- */

/*
 * Values of axes are mostly one line, such as "{name: a, dims: [{shape: ring, size: 4}]}", and a study may
 * have millions: on these libyaml takes longer than all else that reads a point. What follows knows maps,
 * lists and plain words of letters that mean nothing to YAML, and makes of them the events that libyaml
 * would. At anything else, and at whatever is wrong, it gives up, and libyaml reads the text from its start.
 */
struct flow_line {
    struct yaml_builder *b;
    const char *at, *end;
};

static bool is_flow_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_./+@-", c));
}

static void skip_blanks(struct flow_line *f)
{
    while (f->at < f->end && *f->at == ' ')
        f->at++;
}

static bool flow_is(const struct flow_line *f, char c)
{
    return f->at < f->end && *f->at == c;
}

/* May a word go on here? One blank or colon may stand between letters. */
static bool flow_goes_on(const struct flow_line *f)
{
    return f->at < f->end && (is_flow_letter(*f->at) || ((*f->at == ' ' || *f->at == ':') &&
                                                         f->at + 1 < f->end && is_flow_letter(f->at[1])));
}

static bool flow_event(struct flow_line *f, yaml_event_t *ev, const char *from)
{
    struct err ignored;
    size_t column = (size_t)(from - f->b->text);
    ev->start_mark = (yaml_mark_t){ .index = column, .column = column };
    ev->end_mark = (yaml_mark_t){ .index = column + ev->data.scalar.length };
    return take_event(f->b, ev, &ignored) == 0;
}

static bool flow_bracket(struct flow_line *f, yaml_event_type_t type)
{
    yaml_event_t ev = { .type = type };
    return flow_event(f, &ev, f->at++);
}

/* Begins with a letter or a digit, or with a sign or a point before a digit. */
static bool flow_word(struct flow_line *f)
{
    char word[256];
    const char *from = f->at;
    bool number = from + 1 < f->end && strchr("+-.", *from) && from[1] >= '0' && from[1] <= '9';
    if (from == f->end || !is_flow_letter(*from) || (strchr("+-.@/", *from) && !number))
        return false;
    while (flow_goes_on(f))
        f->at++;
    size_t n = (size_t)(f->at - from);
    if (n >= sizeof word)
        return false;
    memcpy(word, from, n);
    word[n] = '\0';
    yaml_event_t ev = { .type = YAML_SCALAR_EVENT };
    ev.data.scalar.value = (yaml_char_t *)word;
    ev.data.scalar.length = n;
    ev.data.scalar.plain_implicit = 1;
    ev.data.scalar.style = YAML_PLAIN_SCALAR_STYLE;
    return flow_event(f, &ev, from);
}

/* "key: ", of a map. */
static bool flow_key(struct flow_line *f)
{
    if (!flow_word(f) || !flow_is(f, ':') || f->at + 1 == f->end || f->at[1] != ' ')
        return false;
    f->at++;
    skip_blanks(f);
    return true;
}

static bool flow_value(struct flow_line *f)
{
    const bool map = flow_is(f, '{');
    const char close = map ? '}' : ']';
    if (!map && !flow_is(f, '['))
        return flow_word(f);
    bool ok = flow_bracket(f, map ? YAML_MAPPING_START_EVENT : YAML_SEQUENCE_START_EVENT);
    skip_blanks(f);
    for (bool more = ok && !flow_is(f, close); more;) {
        ok = (!map || flow_key(f)) && flow_value(f);
        skip_blanks(f);
        more = ok && flow_is(f, ',');
        f->at += more;
        skip_blanks(f);
    }
    return ok && flow_is(f, close) && flow_bracket(f, map ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT);
}

/* Is the whole text such a value? Then it has been taken; else nothing has. */
static bool take_flow(struct yaml_builder *b, size_t n)
{
    struct flow_line f = { .b = b, .at = b->text, .end = b->text + n };
    struct err ignored;
    const int32_t n_nodes = b->doc->n_nodes, depth = b->depth;
    if (flow_value(&f) && f.at == f.end && end_stream(b, &ignored) == 0)
        return true;
    b->doc->n_nodes = n_nodes;
    b->depth = depth;
    b->n_open = 0, b->top = -1, b->key = NULL;
    return false;
}

/* Without tags there is no use for %TAG, and libyaml compares each one with all before it: 2 MB take a
 * minute. */
static int check_directives(const struct yaml_builder *b, size_t n, struct err *e)
{
    static const char tag[] = "%TAG";
    const char *end = b->text + n, *s = b->text;
    for (; s < end && (s = memchr(s, '%', (size_t)(end - s))); s++) {
        /* After a byte that may end a line break of YAML: CR, LF, NEL, LS or PS. */
        bool starts_line = s == b->text || strchr("\n\r\x85\xa8\xa9", s[-1]);
        if (starts_line && (size_t)(end - s) >= sizeof tag - 1 && memcmp(s, tag, sizeof tag - 1) == 0)
            return fail_at(b, mark_of_offset(b->text, (size_t)(s - b->text)), e, ERR_PARSE,
                           "directive %%TAG is not supported; remove it");
    }
    return 0;
}

/* The parser is deleted after a failure too; what nodes were made is cut off by the caller. */
static int builder_run(struct yaml_builder *b, size_t n, const char *prefix, struct err *e)
{
    int rc = check_directives(b, n, e);
    if (!rc)
        rc = yaml_doc_source(b->doc, b->name, &b->source, e);
    if (!rc && prefix)
        rc = yaml_doc_keep(b->doc, prefix, strlen(prefix), &b->prefix, e);
    if (rc)
        return rc;
    if (take_flow(b, n)) {
        free(b->sorted);
        return 0;
    }
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
        return err_set(e, ERR_RANGE, "%s: is %zu bytes after %zu of other files, expected at most %d in all",
                       yaml_doc_tail(name), n, doc->n_bytes, YAML_MAX_BYTES);
    /* A byte order mark would count as a column. */
    size_t skip = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    int32_t n_nodes = doc->n_nodes, n_sources = doc->n_sources;
    struct yaml_builder b = { .doc = doc, .name = name, .text = text + skip, .depth = depth, .top = -1 };
    int rc = builder_run(&b, n - skip, prefix, e);
    if (rc) {
        /* Texts that were kept meanwhile stay in their chunks until yaml_free(): nothing points to them. */
        doc->n_nodes = n_nodes;
        doc->n_sources = n_sources;
        return rc;
    }
    /* Bytes count once they are in the document: a failed override leaves the limit as it was. */
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

/* A path in a file counts from that file's folder, one on the command line from the working directory. */
void yaml_beside(struct text *out, const struct yaml_doc *doc, yaml_id id)
{
    const char *source = yaml_source(doc, id), *path = doc->nodes[id].text;
    const char *slash = strrchr(source, '/');
    if (path[0] != '/' && slash && strncmp(source, "--set ", 6) != 0)
        text_add(out, source, (size_t)(slash - source) + 1);
    text_puts(out, path);
}

bool yaml_names_file(struct text *out, const struct yaml_doc *doc, yaml_id id)
{
    const struct yaml_node *node = &doc->nodes[id];
    struct stat st;
    double number;
    size_t before = out->n;
    if (node->kind != YAML_SCALAR || !node->text || !strpbrk(node->text, "./") ||
        num_parse_real(node->text, &number))
        return false;
    yaml_beside(out, doc, id);
    if (!out->failed && stat(out->s + before, &st) == 0 && S_ISREG(st.st_mode))
        return true;
    if (!out->failed)
        out->s[out->n = before] = '\0';
    return false;
}

static bool is_at(const char *path, const struct stat *file)
{
    struct stat st;
    return stat(path, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

/* YAML files that values name are looked into, as values of axes name networks that name parts; @p left of
 * them. */
static bool leads_to(const struct yaml_doc *doc, const struct stat *file, int depth, int *left)
{
    bool leads = false;
    for (int32_t i = 0; i < doc->n_sources && !leads; i++)
        leads = is_at(doc->sources[i], file);
    for (yaml_id id = 0; id < doc->n_nodes && !leads; id++) {
        struct text named = { 0 };
        struct yaml_doc inner;
        struct err ignored;
        if (yaml_names_file(&named, doc, id)) {
            const char *path = text_str(&named), *dot = strrchr(path, '.');
            leads = is_at(path, file);
            if (!leads && depth > 0 && dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0) &&
                (*left)-- > 0 && yaml_read_file(&inner, path, &ignored) == 0) {
                leads = leads_to(&inner, file, depth - 1, left);
                yaml_free(&inner);
            }
        }
        text_free(&named);
    }
    return leads;
}

bool yaml_has_file(const struct yaml_doc *doc, const char *path)
{
    enum { DEEPEST = 4, MOST_FILES = 1000 };
    int left = MOST_FILES;
    struct stat file;
    return stat(path, &file) == 0 && leads_to(doc, &file, DEEPEST, &left);
}

/* Room a copy gets for a few overrides, so that a sweep point costs no second allocation. */
enum { COPY_SLACK = 32, FIRST_CHUNK = 1 << 10, LARGEST_CHUNK = 1 << 20 };

struct yaml_chunk {
    struct yaml_chunk *next;
    size_t used, cap;
    char bytes[];
};

static struct yaml_chunk *add_chunk(struct yaml_doc *doc, size_t need)
{
    /* What is left of the chunk before is given up; texts are short against chunks. */
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
    if (!vec_resize(doc->sources, doc->n_sources + 1))
        return err_nomem(e, "names of YAML files");
    *out = doc->n_sources++;
    doc->sources[*out] = kept;
    return 0;
}

int yaml_doc_node(struct yaml_doc *doc, const struct yaml_node *node, yaml_id *out, struct err *e)
{
    if (!vec_reserve(doc->nodes, doc->cap_nodes, doc->n_nodes + 1))
        return err_nomem(e, "nodes of a YAML file");
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
    /*
     * A replaced map or list leaves its children behind, unreachable; those that come get the parent below.
     */
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

/* Two allocations, whatever the size. The copy must not outlive the original, whose texts it shares. */
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
    /* The texts stay the original's; the copy owns what it adds. */
    out->chunks = NULL;
    return 0;
}

/* Room for n more nodes. */
static int reserve_nodes(struct yaml_doc *doc, int32_t n, struct err *e)
{
    if (n <= doc->cap_nodes - doc->n_nodes)
        return 0;
    int32_t cap = doc->n_nodes + n + COPY_SLACK;
    if (!vec_resize(doc->nodes, cap))
        return err_nomem(e, "nodes of a YAML file");
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
        /* Indices of sources move like those of nodes. */
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
    /* The limits of a document hold for what is put into it, too. */
    if (from->n_nodes > YAML_MAX_NODES - doc->n_nodes || from->n_bytes > YAML_MAX_BYTES - doc->n_bytes)
        return err_set(e, ERR_RANGE, "%s: is too much after other files", yaml_doc_tail(from->sources[0]));
    int rc = reserve_nodes(doc, from->n_nodes, e);
    if (rc)
        return rc;
    if (!vec_resize(doc->sources, doc->n_sources + from->n_sources))
        return err_nomem(e, "names of YAML files");
    memcpy(doc->sources + doc->n_sources, from->sources, (size_t)from->n_sources * sizeof *from->sources);
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

/*
 * What stands below `at` goes as well: a study's axes, say, of which its points need nothing. All ids change.
 */
int yaml_prune(struct yaml_doc *doc, yaml_id at, struct err *e)
{
    assert(at >= 0 && at < doc->n_nodes);
    struct yaml_node *old = doc->nodes, *cut = &old[at];
    /* Into a new array in the order of reading, rather than in place: what is unreachable lies anywhere
     * between. */
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

static bool is_one_of(const char *key, const char *const *keys)
{
    while (*keys && strcmp(*keys, key) != 0)
        keys++;
    return *keys != NULL;
}

void yaml_keep(struct yaml_doc *doc, yaml_id map, const char *const *keys)
{
    struct yaml_node *nodes = doc->nodes, *m = &nodes[map];
    yaml_id last = -1, id = m->first;
    m->first = m->last = -1;
    m->n = 0;
    for (yaml_id next; id >= 0; id = next) {
        next = nodes[id].next;
        if (!is_one_of(nodes[id].key, keys))
            continue;
        *(last < 0 ? &m->first : &nodes[last].next) = id;
        nodes[id].next = -1;
        nodes[id].index = m->n++;
        m->last = last = id;
    }
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

enum { SHOWN_BYTES = 40 };

static const struct yaml_node *node_at(const struct yaml_doc *doc, yaml_id id)
{
    assert(id >= 0 && id < doc->n_nodes);
    return &doc->nodes[id];
}

yaml_id yaml_get(const struct yaml_doc *doc, yaml_id map, const char *key)
{
    if (map < 0 || node_at(doc, map)->kind != YAML_MAP)
        return -1;
    yaml_each (id, doc, map)
        if (text_same(doc->nodes[id].key, key))
            return id;
    return -1;
}

yaml_id yaml_get_any(const struct yaml_doc *doc, yaml_id map, const char *const *keys)
{
    yaml_id id = -1;
    for (; *keys && id < 0; keys++)
        id = yaml_get(doc, map, *keys);
    return id;
}

yaml_id yaml_get_part(const struct yaml_doc *doc, yaml_id map, const char *key, size_t n)
{
    if (map < 0 || node_at(doc, map)->kind != YAML_MAP)
        return -1;
    yaml_each (id, doc, map)
        if (strncmp(doc->nodes[id].key, key, n) == 0 && !doc->nodes[id].key[n])
            return id;
    return -1;
}

/* "" in quotes is a text, nothing at all is not. */
bool yaml_is_null(const struct yaml_doc *doc, yaml_id id)
{
    const struct yaml_node *node = node_at(doc, id);
    return node->kind == YAML_SCALAR && !node->quoted && !*node->text;
}

/* Bytes of s, at most max, that do not end inside a UTF-8 character. */
static size_t whole_prefix(const char *s, size_t max)
{
    size_t n = strnlen(s, max);
    /* The byte at n may continue a character: step back to where one begins. */
    if (n == max)
        while (n && ((unsigned char)s[n] & 0xc0) == 0x80)
            n--;
    return n;
}

/* The length it would have: beyond `room` the path is cut by the caller. */
static size_t add_step(const struct yaml_node *node, char *buf, size_t used, size_t room)
{
    int n;
    if (!node->key)
        n = node->parent < 0 ? 0 : snprintf(buf + used, room, "[%d]", (int)node->index);
    else
        n = snprintf(buf + used, room, "%s%.*s", used ? "." : "", (int)strnlen(node->key, room), node->key);
    return (size_t)n;
}

const char *yaml_path(const struct yaml_doc *doc, yaml_id id, char *buf, size_t n)
{
    yaml_id up[YAML_MAX_DEPTH + 1];
    int n_up = 0;
    for (; id >= 0; id = node_at(doc, id)->parent)
        up[n_up++] = id;

    assert(n > 3);
    size_t used = 0;
    buf[0] = '\0';
    while (n_up && used < n)
        used += add_step(&doc->nodes[up[--n_up]], buf, used, n - used);
    if (used >= n)
        strcpy(buf + whole_prefix(buf, n - 4), "...");
    return buf;
}

const char *yaml_source(const struct yaml_doc *doc, yaml_id id)
{
    return doc->sources[node_at(doc, id)->source];
}

const char *yaml_place(const struct yaml_doc *doc, yaml_id id, char *buf, size_t n)
{
    const struct yaml_node *node = node_at(doc, id);
    snprintf(buf, n, "%s:%d:%d", yaml_doc_tail(doc->sources[node->source]), (int)node->text_line,
             (int)node->text_col);
    return buf;
}

const char *yaml_key_place(const struct yaml_doc *doc, yaml_id id, char *buf, size_t n)
{
    const struct yaml_node *node = node_at(doc, id);
    snprintf(buf, n, "%s:%d:%d", yaml_doc_tail(doc->sources[node->key_source]), (int)node->line,
             (int)node->col);
    return buf;
}

static int fail_named(const struct yaml_doc *doc, yaml_id id, const char *place, struct err *e,
                      enum err_code code, const char *fmt, va_list ap)
{
    char path[256], what[512];
    yaml_path(doc, id, path, sizeof path);
    vsnprintf(what, sizeof what, fmt, ap);
    return err_set(e, code, "%s: %s %s", place, *path ? path : "document", what);
}

int yaml_fail(const struct yaml_doc *doc, yaml_id id, struct err *e, enum err_code code, const char *fmt, ...)
{
    char place[400];
    yaml_place(doc, id, place, sizeof place);
    va_list ap;
    va_start(ap, fmt);
    int rc = fail_named(doc, id, place, e, code, fmt, ap);
    va_end(ap);
    return rc;
}

int yaml_fail_key(const struct yaml_doc *doc, yaml_id id, struct err *e, enum err_code code, const char *fmt,
                  ...)
{
    char place[400];
    yaml_key_place(doc, id, place, sizeof place);
    va_list ap;
    va_start(ap, fmt);
    int rc = fail_named(doc, id, place, e, code, fmt, ap);
    va_end(ap);
    return rc;
}

int yaml_fail_unknown(const struct yaml_doc *doc, yaml_id id, struct err *e, const char *fmt, ...)
{
    char place[400], path[256], hint[512];
    va_list ap;
    yaml_key_place(doc, id, place, sizeof place);
    yaml_path(doc, id, path, sizeof path);
    va_start(ap, fmt);
    vsnprintf(hint, sizeof hint, fmt, ap);
    va_end(ap);
    return err_set(e, ERR_PARSE, "%s: unknown key \"%s\"%s", place, path, hint);
}

const char *yaml_show(const struct yaml_doc *doc, yaml_id id, char buf[YAML_SHOWN])
{
    const struct yaml_node *node = node_at(doc, id);
    if (node->kind != YAML_SCALAR)
        return strcpy(buf, node->kind == YAML_MAP ? "a map" : "a list");
    if (yaml_is_null(doc, id))
        return strcpy(buf, "empty");
    size_t n = whole_prefix(node->text, SHOWN_BYTES);
    snprintf(buf, YAML_SHOWN, node->quoted ? "the text \"%.*s%s\"" : "%.*s%s", (int)n, node->text,
             node->text[n] ? "..." : "");
    return buf;
}

static int fail_need(const struct yaml_doc *doc, yaml_id id, struct err *e, const char *need)
{
    char shown[YAML_SHOWN];
    return yaml_fail(doc, id, e, ERR_PARSE, "is %s, expected %s", yaml_show(doc, id, shown), need);
}

static bool is_plain(const struct yaml_doc *doc, yaml_id id)
{
    return node_at(doc, id)->kind == YAML_SCALAR && !doc->nodes[id].quoted;
}

/* "010" is 8 to some readers and 10 to others, so num refuses it; the message says what is the matter. */
static bool has_leading_zero(const char *s)
{
    if (*s == '+' || *s == '-')
        s++;
    return s[0] == '0' && s[1] >= '0' && s[1] <= '9';
}

static int fail_number(const struct yaml_doc *doc, yaml_id id, struct err *e, const char *need)
{
    if (is_plain(doc, id) && has_leading_zero(doc->nodes[id].text))
        return fail_need(doc, id, e, "a number without leading zeros");
    return fail_need(doc, id, e, need);
}

int yaml_real(const struct yaml_doc *doc, yaml_id id, double *out, struct err *e)
{
    if (is_plain(doc, id) && num_parse_real(doc->nodes[id].text, out))
        return 0;
    return fail_number(doc, id, e, "a number");
}

int yaml_count(const struct yaml_doc *doc, yaml_id id, int64_t *out, struct err *e)
{
    if (is_plain(doc, id) && num_parse_count(doc->nodes[id].text, out))
        return 0;
    return fail_number(doc, id, e, "a whole number, 0 to 9223372036854775807");
}

int yaml_bool(const struct yaml_doc *doc, yaml_id id, bool *out, struct err *e)
{
    if (is_plain(doc, id)) {
        const char *text = doc->nodes[id].text;
        *out = strcmp(text, "true") == 0;
        if (*out || strcmp(text, "false") == 0)
            return 0;
    }
    return fail_need(doc, id, e, "true or false");
}

int yaml_text(const struct yaml_doc *doc, yaml_id id, const char **out, struct err *e)
{
    if (node_at(doc, id)->kind != YAML_SCALAR || yaml_is_null(doc, id))
        return fail_need(doc, id, e, "text");
    *out = doc->nodes[id].text;
    return 0;
}

int yaml_need(const struct yaml_doc *doc, yaml_id id, enum yaml_kind kind, struct err *e)
{
    static const char *const names[] = {
        [YAML_SCALAR] = "a single value", [YAML_SEQ] = "a list", [YAML_MAP] = "a map"
    };
    if (node_at(doc, id)->kind == kind)
        return 0;
    return fail_need(doc, id, e, names[kind]);
}

int yaml_need_list(const struct yaml_doc *doc, yaml_id list, int32_t most, const char *what, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    int n = doc->nodes[list].n;
    if (rc || (n >= 1 && n <= most))
        return rc;
    if (most == INT32_MAX)
        return yaml_fail(doc, list, e, ERR_PARSE, "is empty, expected at least %s", what);
    if (what)
        return yaml_fail(doc, list, e, ERR_RANGE, "is a list of %d, expected 1 to %d %s", n, (int)most, what);
    return yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, expected 1 to %d", n, (int)most);
}

int yaml_find_word(int32_t *out, const char *name, const char *const *words, size_t n,
                   const struct yaml_doc *doc, yaml_id id, const char *what, struct err *e)
{
    struct text list = { 0 };
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i], name) == 0) {
            *out = (int32_t)i;
            return 0;
        }
    text_put_words(&list, words, n);
    yaml_fail(doc, id, e, ERR_PARSE, "is %.60s, expected %s %s", name, what, text_str(&list));
    text_free(&list);
    return err_suggest(e, text_nearest(name, words, n));
}

int yaml_read_words(int32_t *out, int32_t *n_out, int32_t most, const char *const *words, size_t n,
                    const struct yaml_doc *doc, yaml_id list, const char *what, const char *many,
                    struct err *e)
{
    int rc = yaml_need_list(doc, list, most, many, e);
    if (rc)
        return rc;
    yaml_each (id, doc, list) {
        const char *name;
        int32_t found = -1;
        rc = yaml_text(doc, id, &name, e);
        if (!rc)
            rc = yaml_find_word(&found, name, words, n, doc, id, what, e);
        for (int32_t i = 0; i < *n_out && !rc; i++)
            if (out[i] == found)
                rc = yaml_fail(doc, id, e, ERR_PARSE, "is in the list twice");
        if (rc)
            return rc;
        out[(*n_out)++] = found;
    }
    return 0;
}

/*
 * Kind, texts, keys and where each map and list ends, in the order of the file: comments, layout and the
 * names of files that nodes come from do not count, another order of keys does. Terminators are hashed as
 * well, so that "ab" "c" and "a" "bc" differ.
 */
static unsigned long long hash_node(const struct yaml_doc *doc, yaml_id id, unsigned long long h)
{
    const struct yaml_node *node = &doc->nodes[id];
    const char kind = (char)(node->quoted ? 'q' : "slm"[node->kind]);
    h = text_hash(h, &kind, 1);
    if (node->text)
        h = text_hash(h, node->text, strlen(node->text) + 1);
    yaml_each (child, doc, id) {
        const char *key = doc->nodes[child].key;
        if (key)
            h = text_hash(h, key, strlen(key) + 1);
        h = hash_node(doc, child, h);
    }
    return text_hash(h, ".", 1);
}

unsigned long long yaml_hash(const struct yaml_doc *doc, yaml_id id)
{
    assert(id >= 0 && id < doc->n_nodes);
    return hash_node(doc, id, TEXT_HASH_SEED);
}
