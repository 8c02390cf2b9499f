/*
 * Recipes as a flat list of settings: YAML and JSON through base/yaml.c, TOML and shell text by the readers
 * of this file. Neither needs more of its language than recipes use, and what is outside of that is an error
 * with its place, never a guess. Debian 12 has no TOML library for C.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/yaml.h"
#include "workloads/readers/recipe.h"

void recipe_settings_free(struct recipe_settings *s)
{
    free(s->items);
    arena_free(&s->arena);
    *s = (struct recipe_settings){ .path = s->path };
}

static const char *keep_text(struct recipe_settings *s, const char *text, size_t n)
{
    char *copy = ARENA_TAKE(&s->arena, n + 1, char);
    if (copy)
        memcpy(copy, text, n);
    return copy;
}

int recipe_fail(const struct recipe_settings *s, const struct recipe_setting *at, struct err *e,
                enum err_code code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    err_vset(e, code, fmt, ap);
    va_end(ap);
    return err_wrap(e, "%s:%d:%d", s->path, (int)at->line, (int)at->col);
}

int recipe_add(struct recipe_settings *s, const char *name, const char *value, int32_t line, int32_t col,
               struct err *e)
{
    struct recipe_setting x = { .line = line, .col = col };
    x.name = keep_text(s, name, strlen(name));
    x.value = keep_text(s, value, strlen(value));
    int rc = arena_check(&s->arena, "settings of a recipe", e);
    if (rc)
        return rc;
    if (!vec_reserve(s->items, s->cap, s->n + 1))
        return err_nomem(e, "settings of a recipe");
    s->items[s->n++] = x;
    return 0;
}

/* ---- YAML and JSON ---- */

static int flatten(struct recipe_settings *s, const struct yaml_doc *doc, yaml_id id, struct text *path,
                   struct err *e)
{
    const struct yaml_node *node = &doc->nodes[id];
    size_t n = path->n;
    int rc = 0;
    if (node->key)
        text_printf(path, "%s%s", n ? "." : "", node->key);
    else if (node->parent >= 0)
        text_printf(path, "[%d]", (int)node->index);
    if (node->kind == YAML_SCALAR)
        rc = text_check(path, e);
    if (!rc && node->kind == YAML_SCALAR && !yaml_is_null(doc, id))
        rc = recipe_add(s, text_str(path), node->text, node->line, node->col, e);
    if (node->kind != YAML_SCALAR)
        for (yaml_id child = node->first; child >= 0 && !rc; child = doc->nodes[child].next)
            rc = flatten(s, doc, child, path, e);
    if (path->s)
        path->s[path->n = n] = '\0';
    return rc;
}

static int read_yaml(struct recipe_settings *s, const struct text *file, struct err *e)
{
    struct yaml_doc doc;
    struct text path = { 0 };
    int rc = yaml_read_text(&doc, s->path, text_str(file), file->n, e);
    rc = rc ? rc : yaml_need(&doc, doc.root, YAML_MAP, e);
    rc = rc ? rc : flatten(s, &doc, doc.root, &path, e);
    text_free(&path);
    yaml_free(&doc);
    return rc;
}

/* ---- a text that is read byte by byte ---- */

struct cursor {
    struct recipe_settings *s;
    const char *at, *end, *line_start;
    int32_t line;
    struct text name, value; /* of the setting being read */
};

static int32_t column(const struct cursor *c)
{
    return (int32_t)(c->at - c->line_start) + 1;
}

static bool is_at(const struct cursor *c, char wanted)
{
    return c->at < c->end && *c->at == wanted;
}

static void step(struct cursor *c)
{
    if (*c->at++ == '\n') {
        c->line++;
        c->line_start = c->at;
    }
}

/* The rest of a comment, if one begins here. */
static void skip_comment(struct cursor *c)
{
    if (is_at(c, '#'))
        while (c->at < c->end && *c->at != '\n')
            c->at++;
}

/* @p lines: over line ends and comments too. */
static void skip_blanks(struct cursor *c, bool lines)
{
    while (c->at < c->end) {
        if (lines)
            skip_comment(c);
        if (!(is_at(c, ' ') || is_at(c, '\t') || is_at(c, '\r') || (lines && is_at(c, '\n'))))
            return;
        step(c);
    }
}

static int fail_here(const struct cursor *c, struct err *e, enum err_code code, const char *what)
{
    const struct recipe_setting here = { .line = c->line, .col = column(c) };
    return recipe_fail(c->s, &here, e, code, "%s", what);
}

/* ---- TOML (v1.0.0, restated; toml.io) ---- */

static bool is_bare(char x)
{
    return isalnum((unsigned char)x) || x == '_' || x == '-';
}

/* Between quotes on one line; of escapes those that stand for one byte. */
static int read_string(struct text *out, struct cursor *c, struct err *e)
{
    char quote = *c->at;
    if (c->end - c->at >= 3 && c->at[1] == quote && c->at[2] == quote)
        return fail_here(c, e, ERR_UNSUP, "strings of several lines are not read; use one line");
    for (step(c); c->at < c->end && *c->at != quote && *c->at != '\n'; step(c)) {
        char x = *c->at;
        if (x == '\\' && quote == '"' && c->at + 1 < c->end) {
            static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
            const char *which = c->at[1] ? strchr(from, c->at[1]) : NULL;
            if (!which)
                return fail_here(c, e, ERR_UNSUP,
                                 "this escape is not read; expected one of \\b \\t \\n \\f \\r \\\" \\\\");
            step(c);
            x = to[which - from];
        }
        if (x == '\0')
            return fail_here(c, e, ERR_PARSE, "a NUL byte in a text");
        text_add(out, &x, 1);
    }
    if (!is_at(c, quote))
        return fail_here(c, e, ERR_PARSE, "the text ends without its closing quote");
    step(c);
    return 0;
}

/* a.b."c d", appended with dots. */
static int read_key(struct text *out, struct cursor *c, struct err *e)
{
    for (;; step(c)) {
        skip_blanks(c, false);
        if (out->n)
            text_puts(out, ".");
        size_t before = out->n;
        if (is_at(c, '"') || is_at(c, '\'')) {
            int rc = read_string(out, c, e);
            if (rc)
                return rc;
        }
        while (c->at < c->end && is_bare(*c->at)) {
            text_add(out, c->at, 1);
            step(c);
        }
        if (out->n == before)
            return fail_here(c, e, ERR_PARSE, "expected a key");
        skip_blanks(c, false);
        if (!is_at(c, '.'))
            return 0;
    }
}

static int add_value(struct cursor *c, const char *name, int32_t line, int32_t col, struct err *e)
{
    const struct recipe_setting here = { .line = line, .col = col };
    for (int32_t i = 0; i < c->s->n; i++)
        if (strcmp(c->s->items[i].name, name) == 0)
            return recipe_fail(c->s, &here, e, ERR_PARSE, "%s is given twice, in line %d first", name,
                               (int)c->s->items[i].line);
    int rc = text_check(&c->value, e);
    return rc ? rc : recipe_add(c->s, name, text_str(&c->value), line, col, e);
}

static int read_bare(struct cursor *c, struct err *e)
{
    while (c->at < c->end && (is_bare(*c->at) || strchr("+.:", *c->at)) && *c->at) {
        text_add(&c->value, c->at, 1);
        step(c);
    }
    return c->value.n
               ? 0
               : fail_here(c, e, ERR_PARSE, "expected a value: a number, true, false, a text or a list");
}

static int read_scalar(struct cursor *c, const char *name, int32_t line, int32_t col, struct err *e)
{
    text_clear(&c->value);
    if (is_at(c, '{'))
        return fail_here(c, e, ERR_UNSUP, "inline tables are not read; use a [table]");
    bool quoted = is_at(c, '"') || is_at(c, '\'');
    int rc = quoted ? read_string(&c->value, c, e) : read_bare(c, e);
    return rc ? rc : add_value(c, name, line, col, e);
}

static int read_list(struct cursor *c, const char *name, int32_t line, int32_t col, struct err *e)
{
    struct text entry = { 0 };
    int rc = 0;
    step(c);
    for (int i = 0; !rc; i++) {
        skip_blanks(c, true);
        if (is_at(c, ']'))
            break;
        text_clear(&entry);
        text_printf(&entry, "%s[%d]", name, i);
        rc = is_at(c, '[') ? fail_here(c, e, ERR_UNSUP, "lists in lists are not read")
                           : read_scalar(c, text_str(&entry), line, col, e);
        skip_blanks(c, true);
        if (!rc && is_at(c, ','))
            step(c);
        else if (!rc && !is_at(c, ']'))
            rc = fail_here(c, e, ERR_PARSE, "expected , or ] in a list");
    }
    text_free(&entry);
    if (!rc)
        step(c);
    return rc;
}

static int read_table_name(struct text *table, struct cursor *c, struct err *e)
{
    text_clear(table);
    step(c);
    if (is_at(c, '['))
        return fail_here(c, e, ERR_UNSUP, "arrays of tables are not read");
    int rc = read_key(table, c, e);
    if (!rc && !is_at(c, ']'))
        rc = fail_here(c, e, ERR_PARSE, "expected ] behind the name of a table");
    if (!rc)
        step(c);
    return rc;
}

static int read_pair(struct cursor *c, const struct text *table, struct err *e)
{
    int32_t line = c->line, col = column(c);
    text_clear(&c->name);
    text_puts(&c->name, text_str(table));
    int rc = read_key(&c->name, c, e);
    if (!rc && !is_at(c, '='))
        return fail_here(c, e, ERR_PARSE, "expected = behind a key");
    if (rc)
        return rc;
    step(c);
    skip_blanks(c, false);
    const char *name = text_str(&c->name);
    return is_at(c, '[') ? read_list(c, name, line, col, e) : read_scalar(c, name, line, col, e);
}

static struct cursor cursor_begin(struct recipe_settings *s, const char *text, size_t n)
{
    return (struct cursor){ .s = s, .at = text, .end = text + n, .line_start = text, .line = 1 };
}

static int end_reading(struct cursor *c, int rc, struct err *e)
{
    rc = rc ? rc : text_check(&c->name, e);
    rc = rc ? rc : text_check(&c->value, e);
    text_free(&c->name);
    text_free(&c->value);
    return rc;
}

int recipe_read_toml(struct recipe_settings *s, const char *text, size_t n, struct err *e)
{
    struct cursor c = cursor_begin(s, text, n);
    struct text table = { 0 };
    int rc = 0;
    for (skip_blanks(&c, true); c.at < c.end && !rc; skip_blanks(&c, true)) {
        rc = is_at(&c, '[') ? read_table_name(&table, &c, e) : read_pair(&c, &table, e);
        skip_blanks(&c, false);
        skip_comment(&c);
        if (!rc && c.at < c.end && *c.at != '\n')
            rc = fail_here(&c, e, ERR_PARSE, "expected the end of the line");
    }
    rc = rc ? rc : text_check(&table, e);
    text_free(&table);
    return end_reading(&c, rc, e);
}

/* ---- shell text ---- */

/* The value that NAME=value gave to the @p n bytes at @p name, or NULL. Assignments are kept among the
 * settings under "$NAME" until the end of the file. */
static const char *find_variable(const struct recipe_settings *s, const char *name, size_t n)
{
    for (int32_t i = s->n - 1; i >= 0; i--)
        if (s->items[i].name[0] == '$' && strncmp(s->items[i].name + 1, name, n) == 0 &&
            s->items[i].name[n + 1] == '\0')
            return s->items[i].value;
    return NULL;
}

static size_t name_length(const char *s, const char *end)
{
    size_t n = 0;
    while (s + n < end && (isalnum((unsigned char)s[n]) || s[n] == '_'))
        n++;
    return n;
}

/* `$NAME`, `${NAME}`, `${NAME:-other}` at c->at; anything else of a shell stays as it is written. */
static void put_variable(struct cursor *c)
{
    const char *s = c->at + 1;
    bool braces = s < c->end && *s == '{';
    s += braces;
    size_t n = name_length(s, c->end);
    const char *value = n ? find_variable(c->s, s, n) : NULL, *close = s + n;
    if (braces) {
        while (close < c->end && *close != '}' && *close != '\n')
            close++;
        const char *other = s + n;
        if (!value && close - other >= 2 && other[0] == ':' && other[1] == '-') {
            text_add(&c->value, other + 2, (size_t)(close - other - 2));
            value = "";
        }
        close += close < c->end && *close == '}';
    }
    if (value)
        text_puts(&c->value, value);
    else
        text_add(&c->value, c->at, (size_t)(close > c->at ? close - c->at : 1));
    c->at = close > c->at ? close : c->at + 1;
}

/* One word, quotes taken off; "" where none is left. Parentheses of arrays part words. */
static int read_word(struct cursor *c, bool *quoted, struct err *e)
{
    char quote = '\0';
    text_clear(&c->value);
    *quoted = false;
    while (c->at < c->end && (quote || *c->at == '\0' || !strchr(" \t\r\n()", *c->at))) {
        char x = *c->at;
        if (x == '\0')
            return fail_here(c, e, ERR_PARSE, "a NUL byte in the text");
        if (x == '\\' && quote != '\'' && c->at + 1 < c->end) {
            step(c);
            if (*c->at != '\n' && *c->at != '\r')
                text_add(&c->value, c->at, 1);
            step(c);
        } else if (x == '$' && quote != '\'') {
            put_variable(c);
        } else if (quote ? x == quote : x == '"' || x == '\'') {
            quote = quote ? '\0' : x;
            *quoted = true;
            step(c);
        } else {
            text_add(&c->value, c->at, 1);
            step(c);
        }
    }
    return quote ? fail_here(c, e, ERR_PARSE, "the file ends inside quotes") : 0;
}

/* Over blanks, comments and continued lines to the next word. Did a command or an array end on the way? In an
 * array the end of a line is a blank. */
static bool skip_between_words(struct cursor *c, int *depth)
{
    bool ended = false;
    for (;;) {
        skip_blanks(c, false);
        skip_comment(c);
        if (c->end - c->at >= 2 && c->at[0] == '\\' && (c->at[1] == '\n' || c->at[1] == '\r')) {
            step(c);
        } else if (is_at(c, '(')) {
            ++*depth;
        } else if (is_at(c, ')')) {
            *depth -= *depth > 0;
            ended = true;
        } else if (is_at(c, '\n')) {
            ended = ended || *depth == 0;
        } else {
            return ended;
        }
        step(c);
    }
}

/* NAME=value, as a setting of its own. */
static bool is_assignment(const char *word, size_t *n)
{
    *n = name_length(word, word + strlen(word));
    return *n > 0 && !isdigit((unsigned char)word[0]) && word[*n] == '=';
}

static int add_assignment(struct cursor *c, size_t n, int32_t line, int32_t col, struct err *e)
{
    const char *word = text_str(&c->value);
    text_clear(&c->name);
    text_puts(&c->name, "$");
    text_add(&c->name, word, n);
    int rc = text_check(&c->name, e);
    return rc ? rc : recipe_add(c->s, text_str(&c->name), word + n + 1, line, col, e);
}

/* "--num-layers" or "--num-layers=4": the name, with "_" for "-"; what is behind "=" stays in c->value. */
static bool take_option(struct cursor *c)
{
    const char *word = text_str(&c->value);
    if (strncmp(word, "--", 2) != 0 || !isalpha((unsigned char)word[2]))
        return false;
    size_t n = strcspn(word, "=");
    text_clear(&c->name);
    for (size_t i = 2; i < n; i++)
        text_add(&c->name, word[i] == '-' ? "_" : word + i, 1);
    return true;
}

/* Words up to the next option are one value, blanks between. */
struct shell_option {
    bool open;
    struct text name, value;
    int32_t line, col;
};

static int close_option(struct recipe_settings *s, struct shell_option *p, struct err *e)
{
    int rc = text_check(&p->name, e);
    rc = rc ? rc : text_check(&p->value, e);
    if (!rc && p->open)
        rc = recipe_add(s, text_str(&p->name), text_str(&p->value), p->line, p->col, e);
    p->open = false;
    return rc;
}

static int take_word(struct cursor *c, struct shell_option *p, bool quoted, int32_t line, int32_t col,
                     struct err *e)
{
    size_t n;
    const char *word = text_str(&c->value);
    if (take_option(c)) {
        int rc = close_option(c->s, p, e);
        const char *value = strchr(word, '=');
        text_clear(&p->name);
        text_clear(&p->value);
        text_puts(&p->name, text_str(&c->name));
        text_puts(&p->value, value ? value + 1 : "");
        p->open = true;
        p->line = line;
        p->col = col;
        return rc;
    }
    if (!quoted && is_assignment(word, &n)) {
        int rc = close_option(c->s, p, e);
        return rc ? rc : add_assignment(c, n, line, col, e);
    }
    if (p->open && word[0])
        text_printf(&p->value, "%s%s", p->value.n ? " " : "", word);
    return 0;
}

int recipe_read_shell(struct recipe_settings *s, const char *text, size_t n, struct err *e)
{
    struct cursor c = cursor_begin(s, text, n);
    struct shell_option p = { .open = false };
    int rc = 0, depth = 0;
    while (!rc) {
        if (skip_between_words(&c, &depth))
            rc = close_option(s, &p, e);
        if (rc || c.at >= c.end)
            break;
        int32_t line = c.line, col = column(&c);
        bool quoted;
        rc = read_word(&c, &quoted, e);
        rc = rc ? rc : text_check(&c.value, e);
        rc = rc ? rc : take_word(&c, &p, quoted, line, col, e);
    }
    rc = rc ? rc : close_option(s, &p, e);
    text_free(&p.name);
    text_free(&p.value);
    /* Variables have done their work. */
    int32_t kept = 0;
    for (int32_t i = 0; i < s->n; i++)
        if (s->items[i].name[0] != '$')
            s->items[kept++] = s->items[i];
    s->n = kept;
    return end_reading(&c, rc, e);
}

int recipe_read_settings(struct recipe_settings *s, enum recipe_format format, const char *path,
                         struct err *e)
{
    struct text file = { 0 };
    *s = (struct recipe_settings){ .path = path };
    int rc = text_read_file(&file, path, RECIPE_MAX_BYTES, e);
    if (!rc && format == RECIPE_MEGATRON)
        rc = recipe_read_shell(s, text_str(&file), file.n, e);
    else if (!rc && format == RECIPE_TORCHTITAN)
        rc = recipe_read_toml(s, text_str(&file), file.n, e);
    else if (!rc)
        rc = read_yaml(s, &file, e);
    text_free(&file);
    return rc;
}
