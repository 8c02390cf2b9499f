/*
 * Names, choice and copying of columns as base/column.h describes them. A row is a struct of the caller's,
 * known here only by offsets, so that the field of a kind (study/kind.h) is written once by whoever computes
 * it and everything else (CSV, JSON, the store's tables, text, figures) is driven by the list.
 *
 * Blanks are in-band: NULL, NaN and -1 in a struct; NULL, a number that is not finite and INT64_MIN in a
 * table. put_field() and row_get() are inverse to each other over those, which is what lets a row go through
 * a store and come back as it was (negative counts are no values anywhere in the program).
 */

#include "base/column.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

int32_t column_count(const struct column *c)
{
    return c->repeat > 1 ? c->repeat : 1;
}

const char *column_name(char buf[COLUMN_NAME], const struct column *c, int32_t i)
{
    const char *number = strchr(c->name, '#');
    if (!number)
        return c->name;
    snprintf(buf, COLUMN_NAME, "%.*s%d%s", (int)(number - c->name), c->name, (int)i + 1, number + 1);
    return buf;
}

const struct column *column_find(const struct column *list, const char *name)
{
    char buf[COLUMN_NAME];
    for (const struct column *c = list; c && c->name; c++)
        for (int32_t i = 0; i < column_count(c); i++)
            if (strcmp(column_name(buf, c, i), name) == 0)
                return c;
    return NULL;
}

const char *column_axis(char buf[COLUMN_NAME + 8], const struct column *list, const char *axis)
{
    const struct column *c = column_find(list, axis);
    for (const struct column *other = list; !c && other && other->name; other++)
        if (other->axis && strcmp(other->axis, axis) == 0)
            c = other;
    /* A column found by its own name decides; a second name (`axis`) counts only where no column has the
     * first. */
    unsigned flags = c ? c->flags : 0;
    if (flags & COLUMN_REPLACES)
        return NULL;
    if (!(flags & COLUMN_RENAMES))
        return axis;
    snprintf(buf, COLUMN_NAME + 8, "vary.%s", axis);
    return buf;
}

/* ---- which columns a table has ---- */

static bool is_axis(const struct column_choice *choice, const struct column *c)
{
    for (int32_t i = 0; i < choice->n_axes; i++)
        if (strcmp(choice->axes[i], c->name) == 0 || (c->axis && strcmp(choice->axes[i], c->axis) == 0))
            return true;
    return false;
}

static bool is_chosen(const struct column *c, const struct column_choice *choice)
{
    return (choice->hidden || !(c->flags & COLUMN_HIDDEN)) &&
           (choice->timing || !(c->flags & COLUMN_TIMING)) &&
           !((c->flags & COLUMN_YIELDS) && is_axis(choice, c));
}

int column_choose(struct columns *out, const struct column *list, const struct column_choice *choice,
                  struct err *e)
{
    /* One more than the list has, so that an empty list is no zero-sized allocation. */
    size_t n = 0;
    while (list[n].name)
        n++;
    *out =
        (struct columns){ .of = malloc((n + 1) * sizeof *out->of) }; /* NOLINT(bugprone-sizeof-expression) */
    if (!out->of)
        return err_nomem(e, "columns");
    for (const struct column *c = list; c->name; c++)
        if (is_chosen(c, choice))
            out->of[out->n++] = c;
    return 0;
}

void columns_free(struct columns *c)
{
    free(c->of);
    *c = (struct columns){ 0 };
}

void columns_put(struct table *t, const struct columns *c)
{
    char buf[COLUMN_NAME];
    for (int32_t k = 0; k < c->n; k++)
        for (int32_t i = 0; i < column_count(c->of[k]); i++) {
            table_column(t, column_name(buf, c->of[k], i), c->of[k]->kind);
            if (!t->failed)
                table_better(t, t->n_cols - 1, c->of[k]->better);
        }
}

/* ---- rows ---- */

void row_clear(void *row, const struct column *list)
{
    for (const struct column *c = list; c->name; c++) {
        void *field = (char *)row + c->offset;
        for (int32_t i = 0; i < column_count(c); i++)
            switch (c->kind) {
            case TABLE_TEXT:
                ((const char **)field)[i] = NULL;
                break;
            case TABLE_REAL:
                ((double *)field)[i] = NAN;
                break;
            case TABLE_COUNT:
                ((int64_t *)field)[i] = -1;
                break;
            }
    }
}

/* One value into the open row; in a struct every count below 0 is blank, in a table INT64_MIN alone is. */
static void put_field(struct table *t, const struct column *c, const void *field, int32_t i)
{
    switch (c->kind) {
    case TABLE_TEXT: {
        const char *text = ((const char *const *)field)[i];
        table_put_text(t, !text && (c->flags & COLUMN_EMPTY) ? "" : text);
        break;
    }
    case TABLE_REAL:
        table_put_real(t, ((const double *)field)[i]);
        break;
    case TABLE_COUNT: {
        int64_t n = ((const int64_t *)field)[i];
        table_put_count(t, n < 0 ? INT64_MIN : n);
        break;
    }
    }
}

void row_put(struct table *t, const struct columns *c, const void *row)
{
    for (int32_t k = 0; k < c->n; k++)
        for (int32_t i = 0; i < column_count(c->of[k]); i++)
            put_field(t, c->of[k], (const char *)row + c->of[k]->offset, i);
}

void row_get(void *row, const struct columns *c, const struct table *t, int64_t i, int32_t col)
{
    for (int32_t k = 0; k < c->n; k++) {
        void *field = (char *)row + c->of[k]->offset;
        for (int32_t j = 0; j < column_count(c->of[k]); j++, col++) {
            const struct table_cell *cell = table_cell(t, i, col);
            assert(t->kinds[col] == c->of[k]->kind);
            if (c->of[k]->kind == TABLE_TEXT)
                ((const char **)field)[j] = cell->text;
            else if (c->of[k]->kind == TABLE_REAL)
                ((double *)field)[j] = cell->real;
            else
                ((int64_t *)field)[j] = cell->count < 0 ? -1 : cell->count;
        }
    }
}
