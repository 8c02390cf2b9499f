/*
 * Keys set in the text of a YAML file. Text is cut between two places that the tree knows: where a value
 * begins, and where it ends, which is told by the text for values in brackets and quotes, and by the next
 * node for those in lines below one another. What was written is read again: the tree must be that of
 * yaml_set().
 */
#include "cli/edit.h"

#include <stdlib.h>
#include <string.h>

/** A file's text and what it says. */
struct edited {
    const char *s;
    struct yaml_doc doc;
};

/* Offset of line and column, which count from 1; a column is a character, not a byte. */
static size_t offset_of(const char *s, int32_t line, int32_t col)
{
    const char *at = s;
    for (int32_t l = 1; l < line && *at; l++)
        at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
    for (int32_t c = 1; c < col && *at && *at != '\n'; c++)
        do
            at++;
        while (((unsigned char)*at & 0xc0) == 0x80);
    return (size_t)(at - s);
}

static size_t value_offset(const struct edited *f, yaml_id id)
{
    const struct yaml_node *n = &f->doc.nodes[id];
    return offset_of(f->s, n->text_line, n->text_col);
}

/* Behind the quotes that begin at @p at. */
static size_t skip_quotes(const char *s, size_t at)
{
    char quote = s[at++];
    while (s[at] && (s[at] != quote || (quote == '\'' && s[at + 1] == quote)))
        at += s[at + 1] && (quote == '\'' ? s[at] == quote : s[at] == '\\') ? 2 : 1;
    return at + (s[at] != '\0');
}

/* The bracket that closes the one at @p at. */
static size_t closing(const char *s, size_t at)
{
    int depth = 0;
    for (; s[at]; at++) {
        if ((s[at] == '\'' || s[at] == '"') && strchr(" [{,:", s[at - 1])) {
            at = skip_quotes(s, at) - 1;
        } else if (s[at] == '#' && strchr(" \t\n", s[at - 1])) {
            at += strcspn(s + at, "\n");
        } else if (strchr("[{", s[at])) {
            depth++;
        } else if (strchr("]}", s[at]) && --depth == 0) {
            break;
        }
        if (!s[at])
            break;
    }
    return at;
}

static bool is_in_brackets(const struct edited *f, yaml_id id)
{
    return f->doc.nodes[id].kind != YAML_SCALAR && strchr("[{", f->s[value_offset(f, id)]);
}

/* The next node that is not below @p id; -1: there is none. */
static yaml_id node_after(const struct yaml_doc *doc, yaml_id id)
{
    while (id >= 0 && doc->nodes[id].next < 0)
        id = doc->nodes[id].parent;
    return id < 0 ? -1 : doc->nodes[id].next;
}

/* The end of the last line of a value in lines, comments as deep as its keys among them; what stands below
 * belongs to what comes next. */
static size_t end_of_lines(const struct edited *f, yaml_id id)
{
    yaml_id after = node_after(&f->doc, id), first = f->doc.nodes[id].first;
    size_t deep = (size_t)f->doc.nodes[first >= 0 ? first : id].col - 1;
    size_t end = after < 0 ? strlen(f->s) : offset_of(f->s, f->doc.nodes[after].line, 1);
    for (;;) {
        size_t line = end > 0 ? end - 1 : 0;
        while (line > 0 && f->s[line - 1] != '\n')
            line--;
        size_t blank = strspn(f->s + line, " \t");
        bool passed = f->s[line + blank] == '\n' || (f->s[line + blank] == '#' && blank < deep);
        if (end == 0 || !passed)
            return end - (end > 0 && f->s[end - 1] == '\n');
        end = line;
    }
}

static size_t end_of_value(const struct edited *f, yaml_id id)
{
    const struct yaml_node *n = &f->doc.nodes[id];
    size_t at = value_offset(f, id);
    if (is_in_brackets(f, id))
        return closing(f->s, at) + 1;
    if (n->kind != YAML_SCALAR)
        return end_of_lines(f, id);
    return strchr("'\"", f->s[at]) ? skip_quotes(f->s, at) : at + strlen(n->text);
}

/* The innermost node on the way to @p path, and how much of the path leads to it. */
static yaml_id find_inner(const struct yaml_doc *doc, const char *path, size_t *n)
{
    char *prefix = strdup(path);
    yaml_id id = -1;
    *n = strlen(path);
    while (prefix && (id = yaml_find(doc, prefix)) < 0) {
        while (*n > 0 && prefix[--*n] != '.')
            ;
        prefix[*n] = '\0';
    }
    free(prefix);
    return id;
}

/* "a.b: 1" as "a: { b: 1 }" */
static void put_keys(struct text *out, const char *keys, const char *value)
{
    int depth = 0;
    size_t n;
    for (const char *key; (key = text_next(&keys, '.', &n));) {
        text_add(out, key, n);
        text_puts(out, key[n] ? ": { " : ": ");
        depth += key[n] != '\0';
    }
    text_puts(out, value);
    while (depth-- > 0)
        text_puts(out, " }");
}

/* A new key at the end of a map. */
static size_t put_new(struct text *out, const struct edited *f, yaml_id map, const char *keys,
                      const char *value)
{
    const struct yaml_node *n = &f->doc.nodes[map];
    size_t at;
    if (is_in_brackets(f, map)) {
        at = closing(f->s, value_offset(f, map));
        while (strchr(" \n", f->s[at - 1]))
            at--;
        text_add(out, f->s, at);
        text_puts(out, n->n ? ", " : " ");
        put_keys(out, keys, value);
        text_puts(out, n->n || strchr(" \n", f->s[at]) ? "" : " ");
        return at;
    }
    at = end_of_lines(f, map);
    text_add(out, f->s, at);
    text_puts(out, at > 0 ? "\n" : "");
    for (int32_t c = n->first >= 0 ? f->doc.nodes[n->first].col : 1; c > 1; c--)
        text_puts(out, " ");
    put_keys(out, keys, value);
    return at;
}

/* Over what stands there. Where that are lines below a key, the value goes behind the key. */
static size_t put_over(struct text *out, const struct edited *f, yaml_id id, const char *value)
{
    const struct yaml_node *n = &f->doc.nodes[id];
    size_t from = value_offset(f, id), end = end_of_value(f, id);
    bool lines = n->kind != YAML_SCALAR && !is_in_brackets(f, id);
    bool nothing = n->kind == YAML_SCALAR && !n->quoted && *n->text == '\0';
    if ((lines || nothing) && n->key) {
        from = offset_of(f->s, n->line, n->col) + strlen(n->key) + 1;
        end = lines ? end : from;
        text_add(out, f->s, from);
        text_puts(out, " ");
    } else {
        text_add(out, f->s, from);
    }
    text_puts(out, value);
    return end;
}

/* Does the new text say what yaml_set() makes of the old one? */
static int check_edit(const struct text *out, struct edited *f, const char *name, const char *path,
                      const char *value, struct err *e)
{
    struct yaml_doc now = { .root = -1 };
    struct err ignored = { 0 };
    int rc = text_check(out, e);
    bool same = !rc && yaml_read_text(&now, name, text_str(out), out->n, &ignored) == 0 &&
                yaml_hash(&now, now.root) == yaml_hash(&f->doc, f->doc.root);
    if (!rc && !same)
        rc = err_set(e, ERR_RANGE,
                     "%s: \"%.100s\" cannot be set to \"%.100s\" in its text; write the file without it and "
                     "change it there",
                     name, path, value);
    yaml_free(&now);
    return rc;
}

int edit_set(struct text *file, const char *name, const char *path, const char *value, struct err *e)
{
    struct edited f = { .s = text_str(file) };
    struct text out = { 0 };
    int rc = yaml_read_text(&f.doc, name, text_str(file), file->n, e);
    if (rc)
        return rc;
    size_t known, end;
    yaml_id id = find_inner(&f.doc, path, &known);
    if (!path[known])
        end = put_over(&out, &f, id, value);
    else
        end = put_new(&out, &f, id < 0 ? f.doc.root : id, path + known + (known > 0), value);
    text_puts(&out, f.s + end);
    rc = yaml_set(&f.doc, path, value, e);
    if (!rc)
        rc = check_edit(&out, &f, name, path, value, e);
    if (!rc) {
        struct text old = *file;
        *file = out;
        out = old;
    }
    yaml_free(&f.doc);
    text_free(&out);
    return rc;
}
