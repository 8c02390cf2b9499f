#include "base/table.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"

static const struct table_cell no_value = { .real = NAN, .count = INT64_MIN, .text = NULL };

static bool row_is_open(const struct table *t)
{
    return t->n_rows > 0 && t->col < t->n_cols;
}

void table_column(struct table *t, const char *name, enum table_kind kind)
{
    assert(t->n_rows == 0);
    if (t->failed)
        return;
    size_t n = (size_t)t->n_cols + 1;
    char *copy = strdup(name);
    char **names = realloc(t->names, n * sizeof *names);
    if (names)
        t->names = names;
    enum table_kind *kinds = realloc(t->kinds, n * sizeof *kinds);
    if (kinds)
        t->kinds = kinds;
    if (!copy || !names || !kinds) {
        free(copy);
        t->failed = true;
        return;
    }
    t->names[t->n_cols] = copy;
    t->kinds[t->n_cols] = kind;
    t->n_cols++;
}

static bool reserve_rows(struct table *t, int64_t n_rows)
{
    if (n_rows <= t->cap_rows)
        return true;
    int64_t cap = t->cap_rows ? t->cap_rows : 16, n_cells, n_bytes;
    while (cap < n_rows)
        cap *= 2;
    if (!num_mul(cap, t->n_cols, &n_cells) || !num_mul(n_cells, (int64_t)sizeof *t->cells, &n_bytes))
        return false;
    struct table_cell *cells = realloc(t->cells, (size_t)n_bytes);
    if (!cells)
        return false;
    t->cells = cells;
    t->cap_rows = cap;
    return true;
}

void table_row(struct table *t)
{
    if (t->failed)
        return;
    assert(t->n_cols > 0);
    assert(!row_is_open(t));
    if (!reserve_rows(t, t->n_rows + 1)) {
        t->failed = true;
        return;
    }
    for (int32_t col = 0; col < t->n_cols; col++)
        t->cells[t->n_rows * t->n_cols + col] = no_value;
    t->n_rows++;
    t->col = 0;
}

/* The place of the next value; NULL when memory ran out before. */
static struct table_cell *next_cell(struct table *t)
{
    if (t->failed)
        return NULL;
    assert(row_is_open(t));
    return &t->cells[(t->n_rows - 1) * t->n_cols + t->col++];
}

static struct table_cell *next_cell_of(struct table *t, enum table_kind kind)
{
    struct table_cell *c = next_cell(t);
    assert(!c || t->kinds[t->col - 1] == kind);
    return c;
}

void table_put_real(struct table *t, double x)
{
    struct table_cell *c = next_cell_of(t, TABLE_REAL);
    if (c)
        c->real = x;
}

void table_put_count(struct table *t, int64_t n)
{
    struct table_cell *c = next_cell_of(t, TABLE_COUNT);
    if (c)
        c->count = n;
}

void table_put_text(struct table *t, const char *s)
{
    struct table_cell *c = next_cell_of(t, TABLE_TEXT);
    if (!c || !s)
        return;
    c->text = strdup(s);
    t->failed = t->failed || !c->text;
}

void table_put_none(struct table *t)
{
    next_cell(t);
}

void table_take_row(struct table *t, struct table *from, int64_t row)
{
    assert(t->n_cols == from->n_cols && row >= 0 && row < from->n_rows);
    table_row(t);
    if (t->failed)
        return;
    struct table_cell *to = &t->cells[(t->n_rows - 1) * t->n_cols], *cells = &from->cells[row * t->n_cols];
    for (; t->col < t->n_cols; t->col++) {
        to[t->col] = cells[t->col];
        cells[t->col].text = NULL;
    }
}

void table_keep_columns(struct table *t, const bool *keep)
{
    int64_t n = 0;
    int32_t n_cols = 0;
    assert(!row_is_open(t));
    for (int64_t i = 0; i < t->n_rows * t->n_cols; i++) {
        if (keep[i % t->n_cols])
            t->cells[n++] = t->cells[i];
        else
            free(t->cells[i].text);
    }
    for (int32_t col = 0; col < t->n_cols; col++) {
        if (!keep[col]) {
            free(t->names[col]);
            continue;
        }
        t->names[n_cols] = t->names[col];
        t->kinds[n_cols++] = t->kinds[col];
    }
    /* Rows that come later need room for fewer cells. */
    t->n_cols = t->col = n_cols;
}

void table_free(struct table *t)
{
    for (int64_t i = 0; i < t->n_rows * t->n_cols; i++)
        free(t->cells[i].text);
    for (int32_t i = 0; i < t->n_cols; i++)
        free(t->names[i]);
    free(t->cells);
    free(t->names);
    free(t->kinds);
    *t = (struct table){ 0 };
}

int32_t table_find(const struct table *t, const char *name)
{
    for (int32_t i = 0; i < t->n_cols; i++)
        if (strcmp(t->names[i], name) == 0)
            return i;
    return -1;
}

const struct table_cell *table_cell(const struct table *t, int64_t row, int32_t col)
{
    assert(row >= 0 && row < t->n_rows && col >= 0 && col < t->n_cols);
    return &t->cells[row * t->n_cols + col];
}

double table_number(const struct table *t, int64_t row, int32_t col)
{
    const struct table_cell *c = table_cell(t, row, col);
    if (t->kinds[col] == TABLE_COUNT)
        return c->count == INT64_MIN ? NAN : (double)c->count;
    return t->kinds[col] == TABLE_REAL && isfinite(c->real) ? c->real : NAN;
}

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

static int write_text(const struct table *t, struct text *out, struct err *e)
{
    size_t *widths = calloc((size_t)t->n_cols + 1, sizeof *widths);
    if (!widths)
        return err_nomem(e, "table");
    for (int64_t row = -1; row < t->n_rows; row++)
        for (int32_t col = 0; col < t->n_cols; col++) {
            char buf[NUM_TEXT];
            size_t width = width_of(text_words(buf, t, row, col));
            widths[col] = width > widths[col] ? width : widths[col];
        }
    for (int64_t row = -1; row < t->n_rows; row++)
        write_text_row(out, t, row, widths);
    free(widths);
    return 0;
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

static void write_csv(const struct table *t, const char *head, struct text *out)
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
    for (int64_t row = 0; row < t->n_rows; row++) {
        for (int32_t col = 0; col < t->n_cols; col++) {
            char buf[NUM_TEXT];
            const struct table_cell *c = table_cell(t, row, col);
            text_puts(out, col ? "," : "");
            if (has_value(t->kinds[col], c))
                put_csv(out, cell_words(buf, t->kinds[col], c, true));
        }
        text_puts(out, "\n");
    }
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

static void write_json_row(struct json *j, const struct table *t, int64_t row)
{
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

static int write_json(const struct table *t, const char *head, struct text *out, struct err *e)
{
    struct json j = { .out = out };
    int rc = 0;
    json_open(&j, NULL, '{');
    json_open(&j, "weft", '{');
    write_json_head(&j, head, e, &rc);
    json_close(&j, '}');
    json_open(&j, "rows", '[');
    for (int64_t row = 0; row < t->n_rows; row++) {
        struct json line = { .out = out }; /* its own, for a newline between rows */
        text_puts(out, row ? ",\n" : "\n");
        write_json_row(&line, t, row);
    }
    text_puts(out, t->n_rows ? "\n" : "");
    json_close(&j, ']');
    json_close(&j, '}');
    text_puts(out, "\n");
    return rc;
}

int table_write(const struct table *t, enum table_format format, const char *head, struct text *out,
                struct err *e)
{
    if (t->failed)
        return err_nomem(e, "table");
    assert(!row_is_open(t));
    int rc = 0;
    switch (format) {
    case TABLE_AS_TEXT:
        rc = write_text(t, out, e);
        break;
    case TABLE_AS_CSV:
        write_csv(t, head, out);
        break;
    case TABLE_AS_JSON:
        rc = write_json(t, head, out, e);
        break;
    }
    return rc ? rc : text_check(out, e);
}
