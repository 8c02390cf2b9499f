#include "base/table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

#define CSV_MAX_BYTES ((size_t)1 << 30)

/* A file being cut into fields, which stay where they are in its text. */
struct csv {
    const char *path;
    char *at;      /* next character; the text is terminated and has no NUL inside */
    int64_t line;  /* of `at`, 1-based */
    char **fields; /* owned array of borrowed strings; NULL = no value */
    int64_t n_fields, cap_fields;
    int32_t n_cols;
    char unnamed[1]; /* "", the name of a column without one */
    struct err *e;
};

static int fail_at(struct csv *c, int64_t line, const char *what)
{
    return err_set(c->e, ERR_PARSE, "%s:%lld: %s", c->path, (long long)line, what);
}

static int push_field(struct csv *c, char *field)
{
    if (c->n_fields == c->cap_fields) {
        int64_t cap = c->cap_fields ? 2 * c->cap_fields : 64;
        char **fields = realloc(c->fields, (size_t)cap * sizeof *fields);
        if (!fields)
            return err_nomem(c->e, c->path);
        c->fields = fields;
        c->cap_fields = cap;
    }
    c->fields[c->n_fields++] = field;
    return 0;
}

/* Length of the end of a line at s: LF, CR LF, or a CR that ends the file. */
static size_t line_end(const char *s)
{
    if (s[0] == '\r' && (s[1] == '\n' || s[1] == '\0'))
        return s[1] == '\n' ? 2 : 1;
    return s[0] == '\n';
}

/* Step over what ends a field; true when the row goes on. */
static bool end_field(struct csv *c)
{
    char *end = c->at;
    if (*end == ',') {
        c->at++;
        *end = '\0';
        return true;
    }
    size_t n = line_end(end);
    c->at += n;
    c->line += n > 0;
    *end = '\0';
    return false;
}

static bool at_field_end(const char *s)
{
    return *s == ',' || *s == '\0' || line_end(s) > 0;
}

/* Closes the gaps that doubled quotes leave; the field moves one place left at least. */
static int read_quoted(struct csv *c, bool *more)
{
    int64_t start = c->line;
    char *field = c->at, *to = field;
    for (c->at++;; c->at++) {
        if (*c->at == '\0')
            return fail_at(c, start, "quote is not closed, need \"");
        if (*c->at == '"' && c->at[1] != '"')
            break;
        c->at += *c->at == '"';
        c->line += *c->at == '\n';
        *to++ = *c->at;
    }
    c->at++;
    if (!at_field_end(c->at))
        return fail_at(c, c->line, "text after a closing quote, need a comma or the end of the line");
    *more = end_field(c);
    *to = '\0';
    return push_field(c, field);
}

static int read_plain(struct csv *c, bool *more)
{
    char *field = c->at;
    while (!at_field_end(c->at)) {
        if (*c->at == '"')
            return fail_at(c, c->line, "quote inside a field, need the whole field in quotes");
        c->at++;
    }
    bool blank = c->at == field;
    *more = end_field(c);
    return push_field(c, blank ? NULL : field);
}

static int read_row(struct csv *c)
{
    bool more = true;
    while (more) {
        int rc = *c->at == '"' ? read_quoted(c, &more) : read_plain(c, &more);
        if (rc)
            return rc;
    }
    return 0;
}

static void skip_line(struct csv *c)
{
    c->at += strcspn(c->at, "\n");
    c->line += *c->at == '\n';
    c->at += *c->at == '\n';
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int check_names(struct csv *c, int64_t line)
{
    size_t n = (size_t)c->n_cols;
    char **sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return err_nomem(c->e, c->path);
    memcpy(sorted, c->fields, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, compare_names);
    int rc = 0;
    for (size_t i = 1; i < n && !rc; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0)
            rc = err_set(c->e, ERR_PARSE, "%s:%lld: column \"%s\" is there twice, need different names",
                         c->path, (long long)line, sorted[i]);
    free(sorted);
    return rc;
}

/* Comments and empty lines may stand before the header. */
static int read_header(struct csv *c)
{
    if (strncmp(c->at, "\xef\xbb\xbf", 3) == 0) /* byte order mark, as spreadsheets write it */
        c->at += 3;
    while (*c->at == '#' || line_end(c->at))
        skip_line(c);
    if (!*c->at)
        return fail_at(c, c->line, "file is empty, need a line of column names");
    int64_t line = c->line;
    int rc = read_row(c);
    if (rc)
        return rc;
    if (c->n_fields > INT32_MAX)
        return fail_at(c, line, "too many columns");
    c->n_cols = (int32_t)c->n_fields;
    for (int32_t i = 0; i < c->n_cols; i++)
        if (!c->fields[i])
            c->fields[i] = c->unnamed;
    return check_names(c, line);
}

static int read_rows(struct csv *c)
{
    while (*c->at) {
        /* With one column an empty line is a row without value, as table_write() writes it. */
        if (c->n_cols > 1 && line_end(c->at)) {
            skip_line(c);
            continue;
        }
        int64_t before = c->n_fields, line = c->line;
        int rc = read_row(c);
        if (rc)
            return rc;
        long long got = c->n_fields - before;
        if (got != c->n_cols)
            return err_set(c->e, ERR_PARSE, "%s:%lld: has %lld field%s, need %d", c->path, (long long)line,
                           got, got == 1 ? "" : "s", c->n_cols);
    }
    return 0;
}

/* The fields of one column, below the header. */
struct column {
    char *const *fields;      /* first one */
    struct table_cell *cells; /* first one */
    int64_t n_rows, step, cell_step;
};

static bool fill_counts(const struct column *c)
{
    bool any = false;
    for (int64_t i = 0; i < c->n_rows; i++) {
        const char *s = c->fields[i * c->step];
        struct table_cell *cell = &c->cells[i * c->cell_step];
        *cell = (struct table_cell){ .real = NAN, .count = INT64_MIN };
        if (s && !num_parse_count(s, &cell->count))
            return false;
        any = any || s;
    }
    return any;
}

static bool fill_reals(const struct column *c)
{
    for (int64_t i = 0; i < c->n_rows; i++) {
        const char *s = c->fields[i * c->step];
        struct table_cell *cell = &c->cells[i * c->cell_step];
        *cell = (struct table_cell){ .real = NAN, .count = INT64_MIN };
        if (s && !num_parse_real(s, &cell->real))
            return false;
    }
    return true;
}

static bool fill_texts(const struct column *c)
{
    for (int64_t i = 0; i < c->n_rows; i++)
        c->cells[i * c->cell_step] = (struct table_cell){ .real = NAN, .count = INT64_MIN };
    for (int64_t i = 0; i < c->n_rows; i++) {
        const char *s = c->fields[i * c->step];
        struct table_cell *cell = &c->cells[i * c->cell_step];
        if (s && !(cell->text = strdup(s)))
            return false;
    }
    return true;
}

/* All cells start without text, so that table_free() is safe at any time. */
static int fill_table(struct table *t, const struct csv *c)
{
    for (int32_t col = 0; col < c->n_cols; col++)
        table_column(t, c->fields[col], TABLE_TEXT);
    if (t->failed)
        return err_nomem(c->e, c->path);
    int64_t n_rows = c->n_fields / c->n_cols - 1;
    t->col = t->n_cols;
    t->cells = calloc((size_t)(n_rows * t->n_cols) + 1, sizeof *t->cells);
    if (!t->cells)
        return err_nomem(c->e, c->path);
    t->n_rows = t->cap_rows = n_rows;
    for (int32_t col = 0; col < t->n_cols; col++) {
        struct column column = { c->fields + t->n_cols + col, t->cells + col, n_rows, t->n_cols, t->n_cols };
        if (fill_counts(&column))
            t->kinds[col] = TABLE_COUNT;
        else if (fill_reals(&column))
            t->kinds[col] = TABLE_REAL;
        else if (!fill_texts(&column))
            return err_nomem(c->e, c->path);
    }
    return 0;
}

static void find_kind(struct table *t, int32_t col, char **texts)
{
    struct table_cell *cells = t->cells + col;
    const struct column column = { texts, cells, t->n_rows, 1, t->n_cols };
    for (int64_t row = 0; row < t->n_rows; row++)
        texts[row] = cells[row * t->n_cols].text;
    if (fill_counts(&column))
        t->kinds[col] = TABLE_COUNT;
    else if (fill_reals(&column))
        t->kinds[col] = TABLE_REAL;
    for (int64_t row = 0; row < t->n_rows; row++)
        if (t->kinds[col] == TABLE_TEXT)
            cells[row * t->n_cols].text = texts[row];
        else
            free(texts[row]);
}

int table_find_numbers(struct table *t, struct err *e)
{
    char **texts = malloc(((size_t)t->n_rows + 1) * sizeof *texts);
    if (!texts)
        return err_nomem(e, "table");
    for (int32_t col = 0; col < t->n_cols; col++)
        if (t->kinds[col] == TABLE_TEXT)
            find_kind(t, col, texts);
    free(texts);
    return 0;
}

static int check_no_nul(struct csv *c, const struct text *file)
{
    const char *nul = file->n ? memchr(file->s, '\0', file->n) : NULL;
    if (!nul)
        return 0;
    int64_t line = 1;
    for (const char *s = file->s; s < nul; s++)
        line += *s == '\n';
    return fail_at(c, line, "has a NUL byte, need text");
}

int table_read_csv(struct table *t, const char *path, struct err *e)
{
    *t = (struct table){ 0 };
    struct text file = { 0 };
    int rc = text_read_file(&file, path, CSV_MAX_BYTES, e);
    struct csv c = { .path = path, .line = 1, .e = e };
    c.at = file.n ? file.s : c.unnamed;
    if (!rc)
        rc = check_no_nul(&c, &file);
    if (!rc)
        rc = read_header(&c);
    if (!rc)
        rc = read_rows(&c);
    if (!rc)
        rc = fill_table(t, &c);
    if (rc)
        table_free(t);
    free(c.fields);
    text_free(&file);
    return rc;
}
