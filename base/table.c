/*
 * A table is one array of 8-byte cells, row by row, and two arrays that describe columns. Cells carry no
 * type: that of the column says which member of the union holds, and blanks are values of their own (NULL,
 * NaN, INT64_MIN), so that millions of rows cost 8 bytes a cell and the texts.
 *
 * Filling never fails half-way: lack of memory is kept in `failed` and told by whoever writes or hands over
 * the table. A row that is begun is blank everywhere, so that it can be freed or written at any moment.
 *
 * CSV is read by cutting the file's own text into fields in place; then each column gets the narrowest kind
 * that holds all its values. Reals are written with as many digits as read back, no more.
 */

#include "base/table.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/num.h"
#include "base/sheet.h"
#include "base/vec.h"

static struct table_cell no_value(enum table_kind kind)
{
    struct table_cell none = { .text = NULL };
    if (kind == TABLE_COUNT)
        none.count = INT64_MIN;
    else if (kind == TABLE_REAL)
        none.real = NAN;
    return none;
}

bool table_row_is_open(const struct table *t)
{
    return t->n_rows > 0 && t->col < t->n_cols;
}

void table_column(struct table *t, const char *name, enum table_kind kind)
{
    assert(t->n_rows == 0);
    if (t->failed)
        return;
    int32_t n = t->n_cols + 1;
    char *copy = strdup(name);
    if (!copy || !vec_resize(t->names, n) || !vec_resize(t->kinds, n) || !vec_resize(t->better, n) ||
        !vec_resize(t->units, n) || !vec_resize(t->titles, n)) {
        free(copy);
        t->failed = true;
        return;
    }
    t->names[t->n_cols] = copy;
    t->kinds[t->n_cols] = kind;
    t->better[t->n_cols] = 0;
    t->units[t->n_cols] = NULL;
    t->titles[t->n_cols] = NULL;
    t->n_cols++;
}

void table_better(struct table *t, int32_t col, int better)
{
    if (t->failed)
        return;
    assert(col >= 0 && col < t->n_cols && better >= -1 && better <= 1);
    t->better[col] = (signed char)better;
}

void table_set_unit(struct table *t, int32_t col, const char *unit)
{
    size_t n;
    if (t->failed)
        return;
    assert(col >= 0 && col < t->n_cols && table_unit_known(unit));
    bool said = strcmp(table_unit_of_name(t->names[col], &n), unit) == 0;
    t->units[col] = said ? NULL : table_unit_known(unit);
}

/* Titles that say no more than the name are not kept: heads of files stay short. */
void table_set_title(struct table *t, int32_t col, const char *title)
{
    struct text usual = { 0 };
    if (t->failed)
        return;
    assert(col >= 0 && col < t->n_cols);
    free(t->titles[col]);
    t->titles[col] = NULL;
    table_put_title(&usual, t, col);
    if (strcmp(text_str(&usual), title) != 0) {
        t->titles[col] = strdup(title);
        t->failed = !t->titles[col];
    }
    text_free(&usual);
}

void table_put_title(struct text *out, const struct table *t, int32_t col)
{
    char buf[SHOW_VALUE];
    size_t n;
    table_unit(t, col, &n);
    if (t->titles[col])
        text_puts(out, t->titles[col]);
    else
        for (const char *s = show_path(buf, t->names[col], n); *s; s++)
            text_printf(out, "%c", *s == '_' ? ' ' : *s);
}

const char *table_unit(const struct table *t, int32_t col, size_t *n)
{
    const char *unit = table_unit_of_name(t->names[col], n);
    if (!t->units[col])
        return unit;
    /* "usd_per_h": what it ends in is no unit of its own. */
    *n = strlen(t->names[col]);
    return t->units[col];
}

/* The first ending that fits is taken, "_per_s" before the "_s" in which it ends. */
const char *table_unit_of_name(const char *name, size_t *n)
{
    static const char *const endings[][2] = { { "_GBps", "GB/s" }, { "_Bps", "B/s" }, { "_per_h", "1/h" },
                                              { "_per_s", "1/s" }, { "_usd", "USD" }, { "_pct", "%" },
                                              { "_ns", "ns" },     { "_us", "us" },   { "_ms", "ms" },
                                              { "_s", "s" },       { "_GB", "GB" },   { "_MB", "MB" },
                                              { "_B", "B" } };
    *n = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t end = strlen(endings[i][0]);
        if (*n <= end || strcmp(name + *n - end, endings[i][0]) != 0)
            continue;
        *n -= end;
        return endings[i][1];
    }
    return "";
}

const char *table_unit_known(const char *unit)
{
    static const char *const known[] = { "s",         "ms",         "us",       "ns",  "h",  "USD", "USD/h",
                                         "USD/NPU/h", "USD/Mtoken", "USD/GB/s", "B",   "kB", "MB",  "GB",
                                         "GB/s",      "B/s",        "1/s",      "1/h", "%",  "W",   "slots" };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], unit) == 0)
            return known[i];
    return NULL;
}

void table_column_of(struct table *t, const struct table *from, int32_t col)
{
    table_column(t, from->names[col], from->kinds[col]);
    if (!t->failed)
        table_better(t, t->n_cols - 1, from->better[col]);
    if (!t->failed)
        t->units[t->n_cols - 1] = from->units[col];
    if (from->titles[col])
        table_set_title(t, t->n_cols - 1, from->titles[col]);
}

void table_columns_of(struct table *t, const struct table *from)
{
    for (int32_t col = t->n_cols; col < from->n_cols; col++)
        table_column_of(t, from, col);
}

/* Doubling, with products checked: a table may have more cells than 32 bits count. */
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
    assert(!table_row_is_open(t));
    if (!reserve_rows(t, t->n_rows + 1)) {
        t->failed = true;
        return;
    }
    for (int32_t col = 0; col < t->n_cols; col++)
        t->cells[t->n_rows * t->n_cols + col] = no_value(t->kinds[col]);
    t->n_rows++;
    t->col = 0;
}

/* The place of the next value; NULL when memory ran out before. */
static struct table_cell *next_cell(struct table *t)
{
    if (t->failed)
        return NULL;
    assert(table_row_is_open(t));
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
    /* NULL once memory was short: the value is dropped, and the failure is told at the end. */
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

/* The row was blank from the start: only the place moves on. */
void table_put_none(struct table *t)
{
    next_cell(t);
}

/* Texts change hands, which leaves blanks behind: no copies, and both tables can be freed. */
void table_take_row(struct table *t, struct table *from, int64_t row)
{
    /* A table that failed may lack columns. */
    if (t->failed)
        return;
    assert(t->n_cols == from->n_cols && row >= 0 && row < from->n_rows);
    table_row(t);
    if (t->failed)
        return;
    struct table_cell *to = &t->cells[(t->n_rows - 1) * t->n_cols], *cells = &from->cells[row * t->n_cols];
    for (; t->col < t->n_cols; t->col++) {
        to[t->col] = cells[t->col];
        if (from->kinds[t->col] == TABLE_TEXT)
            cells[t->col].text = NULL;
    }
}

void table_take_rows(struct table *t, struct table *from)
{
    /* An empty table takes the array whole: batches of a study arrive in tables, and mostly one by one. */
    if (t->n_rows == 0 && from->n_rows > 0 && !t->failed) {
        struct table_cell *cells = t->cells;
        int64_t cap = t->cap_rows;
        t->cells = from->cells;
        t->cap_rows = from->cap_rows;
        t->n_rows = from->n_rows;
        t->col = from->col;
        from->cells = cells;
        from->cap_rows = cap;
        from->n_rows = 0;
    }
    for (int64_t row = 0; row < from->n_rows; row++)
        table_take_row(t, from, row);
    t->failed = t->failed || from->failed;
    table_clear(from);
}

/* The texts of a row. */
static void free_row(struct table *t, int64_t row)
{
    for (int32_t col = 0; col < t->n_cols; col++)
        if (t->kinds[col] == TABLE_TEXT)
            free(t->cells[row * t->n_cols + col].text);
}

void table_keep_rows(struct table *t, table_row_test *stays, const void *data)
{
    int64_t n = 0;
    for (int64_t row = 0; row < t->n_rows; row++) {
        if (!stays(data, t, row))
            free_row(t, row);
        else if (n++ < row)
            memcpy(t->cells + (n - 1) * t->n_cols, t->cells + row * t->n_cols,
                   (size_t)t->n_cols * sizeof *t->cells);
    }
    t->n_rows = n;
}

void table_keep_columns(struct table *t, const bool *keep)
{
    int64_t n = 0;
    int32_t n_cols = 0;
    assert(!table_row_is_open(t));
    for (int64_t i = 0; i < t->n_rows * t->n_cols; i++) {
        if (keep[i % t->n_cols])
            t->cells[n++] = t->cells[i];
        else if (t->kinds[i % t->n_cols] == TABLE_TEXT)
            free(t->cells[i].text);
    }
    for (int32_t col = 0; col < t->n_cols; col++) {
        if (!keep[col]) {
            free(t->names[col]);
            free(t->titles[col]);
            continue;
        }
        t->names[n_cols] = t->names[col];
        t->titles[n_cols] = t->titles[col];
        t->better[n_cols] = t->better[col];
        t->units[n_cols] = t->units[col];
        t->kinds[n_cols++] = t->kinds[col];
    }
    /* Rows that come later need room for fewer cells. */
    t->n_cols = t->col = n_cols;
}

void table_put_cell(struct table *t, const struct table *from, int64_t row, int32_t col)
{
    const struct table_cell *c = table_cell(from, row, col);
    switch (from->kinds[col]) {
    case TABLE_TEXT:
        table_put_text(t, c->text);
        break;
    case TABLE_REAL:
        table_put_real(t, c->real);
        break;
    case TABLE_COUNT:
        table_put_count(t, c->count);
        break;
    }
}

void table_copy_row(struct table *t, const struct table *from, int64_t row)
{
    table_row(t);
    for (int32_t col = 0; col < from->n_cols; col++)
        table_put_cell(t, from, row, col);
}

/* Columns and room stay. */
void table_cut(struct table *t, int64_t n)
{
    assert(n >= 0 && n <= t->n_rows);
    /* Where there are no rows it may be columns that there was no memory for. */
    t->failed = t->failed && n == 0;
    for (int64_t row = n; row < t->n_rows; row++)
        free_row(t, row);
    t->n_rows = n;
    t->col = n ? t->n_cols : 0;
}

void table_clear(struct table *t)
{
    table_cut(t, 0);
}

void table_free(struct table *t)
{
    table_clear(t);
    for (int32_t i = 0; i < t->n_cols; i++) {
        free(t->names[i]);
        free(t->titles[i]);
    }
    free(t->cells);
    free(t->names);
    free(t->titles);
    free(t->kinds);
    free(t->better);
    free(t->units);
    text_free(&t->notes);
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

/* Counts above 2^53 lose digits here: for axes and limits, not for ids. */
double table_number(const struct table *t, int64_t row, int32_t col)
{
    const struct table_cell *c = table_cell(t, row, col);
    if (t->kinds[col] == TABLE_COUNT)
        return c->count == INT64_MIN ? NAN : (double)c->count;
    return t->kinds[col] == TABLE_REAL && isfinite(c->real) ? c->real : NAN;
}

const char *table_text(const struct table *t, int64_t row, int32_t col)
{
    return col >= 0 && t->kinds[col] == TABLE_TEXT ? table_cell(t, row, col)->text : NULL;
}

int64_t table_count(const struct table *t, int64_t row, int32_t col)
{
    return col >= 0 && t->kinds[col] == TABLE_COUNT ? table_cell(t, row, col)->count : INT64_MIN;
}

int64_t table_point(const struct table *t, int64_t row)
{
    return table_count(t, row, table_find(t, "point"));
}

static int by_point(const void *a, const void *b)
{
    const struct table_place *x = a, *y = b;
    if (x->point != y->point)
        return x->point < y->point ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

struct table_place *table_places(const struct table *t)
{
    struct table_place *places = malloc(((size_t)t->n_rows + 1) * sizeof *places);
    for (int64_t i = 0; i < t->n_rows && places; i++)
        places[i] = (struct table_place){ table_point(t, i), i };
    if (places)
        qsort(places, (size_t)t->n_rows, sizeof *places, by_point);
    return places;
}

int64_t table_find_place(const struct table_place *places, int64_t n, int64_t point)
{
    int64_t at = vec_find(places, n, sizeof *places, offsetof(struct table_place, point), point);
    return at < n && places[at].point == point ? places[at].row : -1;
}

const char *table_row_name(char buf[TABLE_ROW_NAME], const struct table *t, int64_t row)
{
    int32_t col = table_find(t, "point");
    struct text point = { 0 };
    if (col >= 0)
        table_cell_text(&point, t, row, col);
    snprintf(buf, TABLE_ROW_NAME, "row %lld%s%.40s%s", (long long)row + 1, point.n ? " (point " : "",
             text_str(&point), point.n ? ")" : "");
    text_free(&point);
    return buf;
}

int table_need_numbers(const struct table *t, int32_t col, struct err *e)
{
    int64_t word = -1, n_numbers = 0;
    double x;
    for (int64_t row = 0; row < t->n_rows && t->kinds[col] == TABLE_TEXT; row++) {
        const char *s = table_text(t, row, col);
        if (!s || !*s)
            continue;
        bool is_number = num_parse_real(s, &x);
        n_numbers += is_number;
        word = word < 0 && !is_number ? row : word;
    }
    if (word < 0)
        return 0;
    if (n_numbers == 0)
        return err_set(e, ERR_RANGE, "%s holds words, expected numbers", t->names[col]);
    char name[TABLE_ROW_NAME];
    return err_set(e, ERR_PARSE, "%s: %s is \"%.64s\", expected a number or nothing",
                   table_row_name(name, t, word), t->names[col], table_text(t, word, col));
}

/* A file is held whole while it is cut; more is refused rather than swapped. */
#define CSV_MAX_BYTES ((size_t)1 << 30)
/* At the start of a file, as spreadsheets write it. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* What a head says of columns, a line each: "# best=min:time_s,max:speedup". */
enum { SAYS_BEST, SAYS_UNITS, SAYS_TITLES, N_SAYS };
static const char *const says[N_SAYS] = { "best", "units", "titles" };

/* A file being cut into fields, which stay where they are in its text. */
struct csv {
    const char *path;
    char *at;      /* next character; the text is terminated and has no NUL inside */
    int64_t line;  /* of `at`, 1-based */
    char **fields; /* owned array of borrowed strings; NULL = no value */
    int64_t n_fields, cap_fields;
    int32_t n_cols;
    const char *said[N_SAYS]; /* behind "# best=" and so on; NULL: there is none */
    char unnamed[1];          /* "", the name of a column without one */
    struct err *e;
};

static int fail_csv(struct csv *c, int64_t line, const char *what)
{
    return err_set(c->e, ERR_PARSE, "%s:%lld: %s", c->path, (long long)line, what);
}

static int push_field(struct csv *c, char *field)
{
    if (!vec_reserve(c->fields, c->cap_fields, c->n_fields + 1))
        return err_nomem(c->e, c->path);
    c->fields[c->n_fields++] = field ? text_unguard(field) : NULL;
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
            return fail_csv(c, start, "quote is not closed");
        /* Within quotes commas and line ends are text, and a quote is written twice. */
        if (*c->at == '"' && c->at[1] != '"')
            break;
        c->at += *c->at == '"';
        c->line += *c->at == '\n';
        *to++ = *c->at;
    }
    c->at++;
    if (!at_field_end(c->at))
        return fail_csv(c, c->line, "text after a closing quote, expected a comma or the end of the line");
    *more = end_field(c);
    *to = '\0';
    return push_field(c, field);
}

static int read_plain(struct csv *c, bool *more)
{
    char *field = c->at;
    while (!at_field_end(c->at)) {
        if (*c->at == '"')
            return fail_csv(c, c->line, "quote inside a field; quote the whole field");
        c->at++;
    }
    /* Before end_field(), which writes a terminator over the separator, and may write it to where the field
     * begins. */
    bool blank = c->at == field;
    *more = end_field(c);
    return push_field(c, blank ? NULL : field);
}

static int table_read_row(struct csv *c)
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

/* Sorted: files can have thousands of columns. */
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
            rc = err_set(c->e, ERR_PARSE, "%s:%lld: column \"%s\" is there twice; names must differ", c->path,
                         (long long)line, sorted[i]);
    free(sorted);
    return rc;
}

/* Comments and empty lines may stand before the header. */
static int read_header(struct csv *c)
{
    if (strncmp(c->at, BYTE_ORDER_MARK, 3) == 0)
        c->at += 3;
    while (*c->at == '#' || line_end(c->at)) {
        for (int k = 0; k < N_SAYS; k++) {
            size_t n = strlen(says[k]);
            if (strncmp(c->at, "# ", 2) == 0 && strncmp(c->at + 2, says[k], n) == 0 && c->at[2 + n] == '=')
                c->said[k] = c->at + 2 + n + 1;
        }
        skip_line(c);
    }
    if (!*c->at)
        return fail_csv(c, c->line, "file is empty, expected a line of column names");
    int64_t line = c->line;
    int rc = table_read_row(c);
    if (rc)
        return rc;
    if (c->n_fields > INT32_MAX)
        return fail_csv(c, line, "too many columns");
    c->n_cols = (int32_t)c->n_fields;
    for (int32_t i = 0; i < c->n_cols; i++)
        if (!c->fields[i])
            c->fields[i] = c->unnamed;
    return check_names(c, line);
}

static int table_read_rows(struct csv *c)
{
    while (*c->at) {
        /* With one column an empty line is a row without value, as table_write() writes it. */
        if (c->n_cols > 1 && line_end(c->at)) {
            skip_line(c);
            continue;
        }
        int64_t before = c->n_fields, line = c->line;
        int rc = table_read_row(c);
        if (rc)
            return rc;
        long long got = c->n_fields - before;
        /* A row cut short is more likely a damaged file than blanks at its end. */
        if (got != c->n_cols)
            return err_set(c->e, ERR_PARSE, "%s:%lld: has %lld field%s, expected %d", c->path,
                           (long long)line, got, got == 1 ? "" : "s", c->n_cols);
    }
    return 0;
}

/* The fields of one column, below the header. */
struct table_column {
    char *const *fields;      /* first one */
    struct table_cell *cells; /* first one */
    int64_t n_rows, step, cell_step;
};

/*
 * All values are counts: true. Blank columns are none: they become reals. What was written before a value
 * that does not fit is written over by the next kind that is tried. Leading zeros and signs are no counts
 * (base/num.h), so such ids become reals or stay texts.
 */
static bool fill_counts(const struct table_column *c)
{
    bool any = false;
    for (int64_t i = 0; i < c->n_rows; i++) {
        const char *s = c->fields[i * c->step];
        struct table_cell *cell = &c->cells[i * c->cell_step];
        *cell = no_value(TABLE_COUNT);
        if (s && !num_parse_count(s, &cell->count))
            return false;
        any = any || s;
    }
    return any;
}

static bool fill_reals(const struct table_column *c)
{
    for (int64_t i = 0; i < c->n_rows; i++) {
        const char *s = c->fields[i * c->step];
        struct table_cell *cell = &c->cells[i * c->cell_step];
        *cell = no_value(TABLE_REAL);
        if (s && !num_parse_real(s, &cell->real))
            return false;
    }
    return true;
}

/* All blank first: after a failure half way table_free() meets no pointer that is none. */
static bool fill_texts(const struct table_column *c)
{
    for (int64_t i = 0; i < c->n_rows; i++)
        c->cells[i * c->cell_step] = no_value(TABLE_TEXT);
    for (int64_t i = 0; i < c->n_rows; i++) {
        const char *s = c->fields[i * c->step];
        struct table_cell *cell = &c->cells[i * c->cell_step];
        if (s && !(cell->text = strdup(s)))
            return false;
    }
    return true;
}

/* "min" and "max"; false: neither. */
static bool take_direction(struct table *t, int32_t col, const char *word)
{
    bool more = strcmp(word, "max") == 0;
    if (!more && strcmp(word, "min") != 0)
        return false;
    table_better(t, col, more ? 1 : -1);
    return true;
}

static bool take_unit(struct table *t, int32_t col, const char *word)
{
    if (!table_unit_known(word))
        return false;
    table_set_unit(t, col, word);
    return true;
}

static bool take_title(struct table *t, int32_t col, const char *word)
{
    table_set_title(t, col, word);
    return true;
}

/* What put_known() wrote, "WORD:COLUMN,.."; columns that are there no more are passed over, as
 * the rows may have been edited. */
static int find_words(struct table *t, const char *line, const char *what,
                      bool (*take)(struct table *, int32_t, const char *), const struct csv *c)
{
    char *list = line ? strndup(line, strcspn(line, "\r\n")) : NULL;
    if (line && !list)
        return err_nomem(c->e, "table");
    for (char *at = list; at;) {
        char *comma = strchr(at, ','), *colon = strchr(at, ':');
        if (comma)
            *comma = '\0';
        colon = colon && (!comma || colon < comma) ? colon : NULL;
        if (colon)
            *colon = '\0';
        int32_t col = colon ? table_find(t, colon + 1) : -1;
        if (col >= 0 && !take(t, col, at))
            text_printf(&t->notes,
                        "%s: %s column %s is \"%s\", which is not known: taken as if it had none\n", c->path,
                        what, colon + 1, at);
        at = comma ? comma + 1 : NULL;
    }
    free(list);
    return t->failed ? err_nomem(c->e, "table") : text_check(&t->notes, c->e);
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
    /* All room at once: the number of rows is known. */
    t->cells = calloc((size_t)(n_rows * t->n_cols) + 1, sizeof *t->cells);
    if (!t->cells)
        return err_nomem(c->e, c->path);
    t->n_rows = t->cap_rows = n_rows;
    for (int32_t col = 0; col < t->n_cols; col++) {
        struct table_column column = { c->fields + t->n_cols + col, t->cells + col, n_rows, t->n_cols,
                                       t->n_cols };
        if (fill_counts(&column))
            t->kinds[col] = TABLE_COUNT;
        else if (fill_reals(&column))
            t->kinds[col] = TABLE_REAL;
        else if (!fill_texts(&column))
            return err_nomem(c->e, c->path);
    }
    return 0;
}

/* As of a CSV, so that a store's texts and its export draw the same figures. */
static void find_kind(struct table *t, int32_t col, char **texts)
{
    struct table_cell *cells = t->cells + col;
    const struct table_column column = { texts, cells, t->n_rows, 1, t->n_cols };
    for (int64_t row = 0; row < t->n_rows; row++)
        /* The cells are written over while kinds are tried; the texts are held here until it is known who
         * keeps them. */
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

/* Everything after it goes by terminated strings, which would end there. */
static int check_no_nul(struct csv *c, const struct text *file)
{
    const char *nul = file->n ? memchr(file->s, '\0', file->n) : NULL;
    if (!nul)
        return 0;
    int64_t line = 1;
    for (const char *s = file->s; s < nul; s++)
        line += *s == '\n';
    return fail_csv(c, line, "has a NUL byte: not a text file");
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
        rc = table_read_rows(&c);
    if (!rc)
        rc = fill_table(t, &c);
    if (!rc)
        rc = find_words(t, c.said[SAYS_BEST], "what is better in", take_direction, &c);
    if (!rc)
        rc = find_words(t, c.said[SAYS_UNITS], "the unit of", take_unit, &c);
    if (!rc)
        rc = find_words(t, c.said[SAYS_TITLES], "the title of", take_title, &c);
    if (rc)
        table_free(t);
    free(c.fields);
    text_free(&file);
    return rc;
}

static bool cell_has_value(enum table_kind kind, const struct table_cell *c)
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
    if (cell_has_value(t->kinds[col], c))
        text_puts(out, cell_words(buf, t->kinds[col], c, true));
}

/* What stands at a row of a text table; row -1 is the header. */
static const char *text_words(char buf[NUM_TEXT], const struct table *t, int64_t row, int32_t col)
{
    if (row < 0)
        return t->names[col];
    const struct table_cell *c = table_cell(t, row, col);
    return cell_has_value(t->kinds[col], c) ? cell_words(buf, t->kinds[col], c, false) : "-";
}

/* Characters, not bytes: UTF-8 continuation bytes take no room. */
static size_t width_of(const char *s)
{
    size_t n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
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
        /* Numbers stand at the right, words at the left. */
        size_t pad = widths[col] - width_of(s);
        bool right = t->kinds[col] != TABLE_TEXT;
        if (*s)
            put_spaces(out, owed + (right ? pad : 0));
        text_add_shown(out, s, strlen(s), "");
        owed = *s ? (right ? 2 : pad + 2) : owed + pad + 2;
    }
    text_puts(out, "\n");
}

/* RFC 4180, section 2. An empty text is quoted too, which tells it from no value, and so is what is no text
 * at the start of a line or of the file: a '#', a byte order mark. An apostrophe stands before what a
 * spreadsheet would run. */
static void put_csv(struct text *out, const char *s)
{
    const char *guard = text_is_formula(s) ? "'" : "";
    if (*s && *s != '#' && strncmp(s, BYTE_ORDER_MARK, 3) != 0 && !strpbrk(s, ",\"\r\n")) {
        text_puts(out, guard);
        text_puts(out, s);
        return;
    }
    text_puts(out, "\"");
    text_puts(out, guard);
    for (; *s; s++)
        text_add(out, *s == '"' ? "\"\"" : s, *s == '"' ? 2 : 1);
    text_puts(out, "\"");
}

/* "min:time_s,max:speedup": of columns of which something is known that their names do not say. What has
 * one of the separators in it is left out. */
static void put_known(struct text *out, const struct table *t, int what)
{
    size_t before = out->n;
    for (int32_t col = 0; col < t->n_cols; col++) {
        static const char *const best[] = { "min", NULL, "max" };
        const char *word = what == SAYS_BEST    ? best[1 + t->better[col]]
                           : what == SAYS_UNITS ? t->units[col]
                                                : t->titles[col];
        if (word && !strpbrk(word, ",:\r\n") && !strpbrk(t->names[col], ",\r\n"))
            text_printf(out, "%s%s:%s", out->n > before ? "," : "", word, t->names[col]);
    }
}

static void write_csv_head(const struct table *t, const char *head, struct text *out)
{
    size_t n;
    for (const char *line; (line = text_next(&head, '\n', &n));) {
        text_puts(out, "# ");
        text_add(out, line, n);
        text_puts(out, "\n");
    }
    for (int k = 0; k < N_SAYS; k++) {
        struct text list = { 0 };
        put_known(&list, t, k);
        if (list.n)
            text_printf(out, "# %s=%s\n", says[k], text_str(&list));
        out->failed = out->failed || list.failed;
        text_free(&list);
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
        if (!cell_has_value(t->kinds[col], c))
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
    for (const char *line; (line = text_next(&head, '\n', &n));) {
        const char *equals = memchr(line, '=', n);
        size_t n_key = equals ? (size_t)(equals - line) : n;
        char *key = strndup(line, n_key);
        /* A line without "=" is a key without value. */
        char *value = equals ? strndup(equals + 1, n - n_key - 1) : strdup("");
        int64_t number;
        /* The seed is the one number of the head that programs compute with; a version or a hash of digits
         * stays a text. */
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

static int write_json_begin(const struct table *t, const char *head, struct text *out, struct err *e)
{
    struct json j = { .out = out };
    int rc = 0;
    json_open(&j, NULL, '{');
    json_open(&j, "weft", '{');
    write_json_head(&j, head, e, &rc);
    for (int k = 0; k < N_SAYS; k++) {
        struct text list = { 0 };
        put_known(&list, t, k);
        if (list.n)
            json_text(&j, says[k], text_str(&list));
        out->failed = out->failed || list.failed;
        text_free(&list);
    }
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
        if (!cell_has_value(t->kinds[col], c))
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
    /* Widths matter in text alone; others can be written as rows come. */
    if (w->format != TABLE_AS_TEXT)
        return 0;
    /* Row -1 is the header, which counts once, with the first rows. */
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
        rc = write_json_begin(columns, head, out, e);
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
    /* Also after a failure: it frees the widths. */
    int second = table_write_end(&w, out, e);
    return rc ? rc : second;
}
