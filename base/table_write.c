#include "base/table.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"

static bool has_value(enum table_kind kind, const struct table_cell *c)
{
    switch (kind) {
    case TABLE_REAL:
        return isfinite(c->real);
    case TABLE_COUNT:
        return c->count != INT64_MIN;
    default:
        return c->text != NULL;
    }
}

/* A value as words: reals in full or in 6 digits. Borrowed from buf or from the cell. */
static const char *cell_words(char buf[NUM_TEXT], enum table_kind kind, const struct table_cell *c, bool full)
{
    if (kind == TABLE_TEXT)
        return c->text;
    if (kind == TABLE_REAL && full)
        return num_format(buf, c->real);
    if (kind == TABLE_REAL)
        snprintf(buf, NUM_TEXT, "%.6g", c->real + 0.0); /* -0 becomes 0 */
    else
        snprintf(buf, NUM_TEXT, "%lld", (long long)c->count);
    return buf;
}

void table_cell_text(struct text *out, const struct table *t, int64_t row, int32_t col)
{
    char buf[NUM_TEXT];
    const struct table_cell *c = table_cell(t, row, col);
    if (has_value(t->kinds[col], c))
        text_puts(out, cell_words(buf, t->kinds[col], c, true));
}

/* What stands at a row of a text table; row -1 is the header. */
static const char *text_words(char buf[NUM_TEXT], const struct table *t, int64_t row, int32_t col)
{
    if (row < 0)
        return t->names[col];
    const struct table_cell *c = table_cell(t, row, col);
    return has_value(t->kinds[col], c) ? cell_words(buf, t->kinds[col], c, false) : "-";
}

/* Characters, not bytes: UTF-8 continuation bytes take no room. */
static size_t width_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

/* A control character would break the line or speak to the terminal. */
static void put_visible(struct text *out, const char *s)
{
    for (; *s; s++) {
        bool control = (unsigned char)*s < 0x20 || *s == 0x7f;
        text_add(out, control ? "?" : s, 1);
    }
}

static void put_spaces(struct text *out, size_t n)
{
    for (; n > 0; n--)
        text_add(out, " ", 1);
}

static void write_text_row(struct text *out, const struct table *t, int64_t row, const size_t *widths)
{
    size_t owed = 0; /* spaces that are only written when something follows them */
    for (int32_t col = 0; col < t->n_cols; col++) {
        char buf[NUM_TEXT];
        const char *s = text_words(buf, t, row, col);
        size_t pad = widths[col] - width_of(s);
        bool right = t->kinds[col] != TABLE_TEXT;
        if (*s)
            put_spaces(out, owed + (right ? pad : 0));
        put_visible(out, s);
        owed = *s ? (right ? 2 : pad + 2) : owed + pad + 2;
    }
    text_puts(out, "\n");
}

/* RFC 4180, section 2. An empty text is quoted too, which tells it from no value, and
 * so is a '#', which at the start of a line would make it a comment. */
static void put_csv(struct text *out, const char *s)
{
    if (*s && *s != '#' && !strpbrk(s, ",\"\r\n")) {
        text_puts(out, s);
        return;
    }
    text_puts(out, "\"");
    for (; *s; s++)
        text_add(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    text_puts(out, "\"");
}

/* One line of head without its newline; NULL after the last. */
static const char *next_line(const char **head, size_t *n)
{
    const char *line = *head;
    if (!line || !*line)
        return NULL;
    *n = strcspn(line, "\n");
    *head = line + *n + (line[*n] == '\n');
    return line;
}

static void write_csv_head(const struct table *t, const char *head, struct text *out)
{
    size_t n;
    for (const char *line; (line = next_line(&head, &n));) {
        text_puts(out, "# ");
        text_add(out, line, n);
        text_puts(out, "\n");
    }
    for (int32_t col = 0; col < t->n_cols; col++) {
        text_puts(out, col ? "," : "");
        put_csv(out, t->names[col]);
    }
    text_puts(out, "\n");
}

static void write_csv_row(struct text *out, const struct table *t, int64_t row)
{
    char buf[NUM_TEXT];
    for (int32_t col = 0; col < t->n_cols; col++) {
        const struct table_cell *c = table_cell(t, row, col);
        text_add(out, ",", col > 0);
        if (!has_value(t->kinds[col], c))
            continue;
        if (t->kinds[col] == TABLE_TEXT)
            put_csv(out, c->text);
        else
            text_puts(out, cell_words(buf, t->kinds[col], c, true));
    }
    text_add(out, "\n", 1);
}

/* "key=value" lines as the members of an object. */
static void write_json_head(struct json *j, const char *head, struct err *e, int *rc)
{
    size_t n;
    for (const char *line; (line = next_line(&head, &n));) {
        const char *equals = memchr(line, '=', n);
        size_t n_key = equals ? (size_t)(equals - line) : n;
        char *key = strndup(line, n_key);
        char *value = equals ? strndup(equals + 1, n - n_key - 1) : strdup("");
        int64_t number;
        if (key && value && strcmp(key, "seed") == 0 && num_parse_count(value, &number))
            json_count(j, key, number);
        else if (key && value)
            json_text(j, key, value);
        else
            *rc = err_nomem(e, "table");
        free(key);
        free(value);
    }
}

static int write_json_begin(const char *head, struct text *out, struct err *e)
{
    struct json j = { .out = out };
    int rc = 0;
    json_open(&j, NULL, '{');
    json_open(&j, "weft", '{');
    write_json_head(&j, head, e, &rc);
    json_close(&j, '}');
    json_open(&j, "rows", '[');
    return rc;
}

static void write_json_row(struct text *out, const struct table *t, int64_t row, bool is_first)
{
    struct json line = { .out = out }, *j = &line; /* its own, for a newline between rows */
    text_puts(out, is_first ? "\n" : ",\n");
    json_open(j, NULL, '{');
    for (int32_t col = 0; col < t->n_cols; col++) {
        const struct table_cell *c = table_cell(t, row, col);
        if (!has_value(t->kinds[col], c))
            json_text(j, t->names[col], NULL);
        else if (t->kinds[col] == TABLE_REAL)
            json_real(j, t->names[col], c->real);
        else if (t->kinds[col] == TABLE_COUNT)
            json_count(j, t->names[col], c->count);
        else
            json_text(j, t->names[col], c->text);
    }
    json_close(j, '}');
}

/* ---- piece by piece ---- */

int table_write_measure(struct table_writer *w, const struct table *rows, struct err *e)
{
    if (w->format != TABLE_AS_TEXT)
        return 0;
    bool is_new = !w->widths;
    if (is_new)
        w->widths = calloc((size_t)rows->n_cols + 1, sizeof *w->widths);
    if (!w->widths)
        return err_nomem(e, "table");
    for (int64_t row = is_new ? -1 : 0; row < rows->n_rows; row++)
        for (int32_t col = 0; col < rows->n_cols; col++) {
            char buf[NUM_TEXT];
            size_t width = width_of(text_words(buf, rows, row, col));
            w->widths[col] = width > w->widths[col] ? width : w->widths[col];
        }
    return 0;
}

int table_write_begin(struct table_writer *w, const struct table *columns, const char *head, struct text *out,
                      struct err *e)
{
    int rc = columns->failed ? err_nomem(e, "table") : 0;
    if (!rc && w->format == TABLE_AS_TEXT) {
        assert(w->widths);
        write_text_row(out, columns, -1, w->widths);
    }
    if (!rc && w->format == TABLE_AS_CSV)
        write_csv_head(columns, head, out);
    if (!rc && w->format == TABLE_AS_JSON)
        rc = write_json_begin(head, out, e);
    return rc ? rc : text_check(out, e);
}

int table_write_rows(struct table_writer *w, const struct table *rows, struct text *out, struct err *e)
{
    if (rows->failed)
        return err_nomem(e, "table");
    assert(!table_row_is_open(rows));
    for (int64_t row = 0; row < rows->n_rows; row++, w->n_rows++)
        if (w->format == TABLE_AS_TEXT)
            write_text_row(out, rows, row, w->widths);
        else if (w->format == TABLE_AS_CSV)
            write_csv_row(out, rows, row);
        else
            write_json_row(out, rows, row, w->n_rows == 0);
    return text_check(out, e);
}

int table_write_end(struct table_writer *w, struct text *out, struct err *e)
{
    if (w->format == TABLE_AS_JSON)
        text_puts(out, w->n_rows ? "\n]}\n" : "]}\n");
    free(w->widths);
    w->widths = NULL;
    return text_check(out, e);
}

int table_write(const struct table *t, enum table_format format, const char *head, struct text *out,
                struct err *e)
{
    struct table_writer w = { .format = format };
    int rc = t->failed ? err_nomem(e, "table") : table_write_measure(&w, t, e);
    if (!rc)
        rc = table_write_begin(&w, t, head, out, e);
    if (!rc)
        rc = table_write_rows(&w, t, out, e);
    int second = table_write_end(&w, out, e);
    return rc ? rc : second;
}
