#include "base/table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

static const struct table_cell no_value = { .real = NAN, .count = INT64_MIN, .text = NULL };

bool table_row_is_open(const struct table *t)
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
    assert(!table_row_is_open(t));
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
    assert(!table_row_is_open(t));
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

void table_clear(struct table *t)
{
    for (int64_t i = 0; i < t->n_rows * t->n_cols; i++)
        free(t->cells[i].text);
    t->n_rows = 0;
    t->col = 0;
}

void table_free(struct table *t)
{
    table_clear(t);
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
