/*
 * Names, choice and copying of columns as base/column.h describes them. A row is a struct of the caller's,
 * known here only by offsets, so that the field of a kind (study/kind.h) is written once by whoever computes
 * it and everything else (CSV, JSON, the store's tables, text, figures) is driven by the list.
 *
 * Blanks are in-band: NULL, NaN and -1 in a struct; NULL, a number that is not finite and INT64_MIN in a
 * table. column_cell() and row_get() are inverse to each other over those, which is what lets a row go
 * through a store and come back as it was (negative counts are no values anywhere in the program).
 */

#include "base/column.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

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

enum table_kind column_kind(const struct column *c)
{
    return c->show == COLUMN_YES_NO || c->words ? TABLE_TEXT : c->kind;
}

bool column_is_in(const struct column *c, unsigned in)
{
    return ((c->in ? c->in : (unsigned)IN_ALL) & in) != 0;
}

/* ---- for people ---- */

const char *column_unit(const struct column *c)
{
    size_t n;
    return c->unit ? c->unit : table_unit_of_name(c->name, &n);
}

const char *column_title(char buf[COLUMN_NAME], const struct column *c, int32_t i)
{
    char name[COLUMN_NAME];
    size_t n;
    if (c->title) {
        const struct column titled = { .name = c->title };
        return column_name(buf, &titled, i);
    }
    table_unit_of_name(column_name(name, c, i), &n);
    snprintf(buf, COLUMN_NAME, "%.*s", (int)n, column_name(name, c, i));
    for (char *at = buf; (at = strchr(at, '_')) != NULL;)
        *at = ' ';
    return buf;
}

/* Of multiples by 1000 the largest in which @p most is 1 or more; the unit itself where it is none of these,
 * or all is 0. */
static struct column_scale fit(const char *unit, double most)
{
    static const char *const families[][7] = { { "B", "kB", "MB", "GB", "TB", "PB" },
                                               { "W", "kW", "MW", "GW" } };
    struct column_scale scale = { 1, unit };
    if (strcmp(unit, "s") == 0 && most >= 36000)
        return (struct column_scale){ 1.0 / 3600, "h" };
    if (strcmp(unit, "s") == 0)
        scale.unit = show_time_unit(most, &scale.times);
    for (size_t i = 0; i < sizeof families / sizeof *families && most > 0; i++) {
        const char *const *family = families[i];
        int own = 0;
        while (family[own] && strcmp(family[own], unit) != 0)
            own++;
        for (int k = 0; family[own] && family[k]; k++)
            if (k == 0 || most * pow(1e3, own - k) >= 1)
                scale = (struct column_scale){ pow(1e3, own - k), family[k] };
    }
    return scale;
}

struct column_scale column_scale(const struct column *c, double most)
{
    const char *unit = c->as ? c->as : column_unit(c);
    double times = c->times != 0 ? c->times : 1;
    if (c->show != COLUMN_FITTED)
        return (struct column_scale){ times, unit };
    struct column_scale scale = fit(unit, most * times);
    scale.times *= times;
    return scale;
}

/* A change that is more has its sign too. */
static const char *show_signed(char buf[SHOW], const struct column *c, double x, int digits)
{
    char number[SHOW];
    snprintf(buf, SHOW, "%s%.46s", (c->flags & COLUMN_SIGNED) && x > 0 ? "+" : "",
             show_real(number, x, digits));
    return buf;
}

static double cell_number(enum table_kind kind, struct table_cell cell)
{
    if (kind == TABLE_REAL)
        return cell.real;
    return kind == TABLE_TEXT || cell.count == INT64_MIN ? (double)NAN : (double)cell.count;
}

const char *column_shown(char buf[SHOW], const struct column *c, enum table_kind kind, struct table_cell cell,
                         struct column_scale scale)
{
    double x = cell_number(kind, cell) * scale.times;
    if (kind == TABLE_TEXT)
        return !cell.text ? "-" : c->usual && strcmp(cell.text, c->usual) == 0 ? "" : cell.text;
    if (c->zero && x == 0)
        return c->zero;
    /* Whole, however large. */
    if (kind == TABLE_COUNT && c->digits == 0 && scale.times == 1)
        return show_count(buf, cell.count);
    if (c->digits == 0 && strncmp(scale.unit, "USD", 3) == 0)
        return show_usd(buf, x);
    return show_signed(buf, c, x, c->digits ? c->digits : COLUMN_DIGITS);
}

/* A mean with its half width, as many digits of each as this leaves sure: "535.2 +- 4.1", "146 +- 297". False
 * where there is none: NaN of a single seed, and what is the rounding of equal values. */
static bool put_mean(struct sheet *s, const struct column *c, double mean, double half)
{
    char a[SHOW], b[SHOW];
    if (!(isfinite(half) && half > 1e-9 * fabs(mean)))
        return false;
    /* Two digits of the half width, and the mean to the same place; at least one, and not too many. */
    double digits = mean != 0 ? floor(log10(fabs(mean))) - floor(log10(half)) + 2 : 1;
    sheet_put(s, "%s \302\261 %s", show_signed(a, c, mean, (int)fmin(fmax(digits, 1), COLUMN_DIGITS)),
              show_real(b, half, 2));
    return true;
}

static void put_shown(struct sheet *s, const struct table *t, int64_t row, const struct column_place *p,
                      struct column_scale scale)
{
    char buf[SHOW], value[SHOW_VALUE];
    enum table_kind kind = t->kinds[p->at];
    struct table_cell cell = *table_cell(t, row, p->at);
    if (p->half > 0 && put_mean(s, p->column, cell_number(kind, cell) * scale.times,
                                table_number(t, row, p->half) * scale.times))
        return;
    const char *shown = column_shown(buf, p->column, kind, cell, scale);
    sheet_put(s, "%s", p->column->flags & COLUMN_AXIS ? show_unquoted(value, shown) : shown);
}

/* The largest size in the columns that share a unit with @p of, 0 where there is none: fmax() passes over
 * NaN. */
static double largest(const struct table *t, int64_t first, int64_t end, const struct column_place *places,
                      int32_t n, const struct column *of)
{
    double most = 0;
    for (int32_t k = 0; k < n && of->show == COLUMN_FITTED; k++) {
        const struct column *c = places[k].column;
        bool same = c->show == COLUMN_FITTED && strcmp(column_unit(c), column_unit(of)) == 0;
        for (int64_t row = first; row < end && same; row++)
            most = fmax(most, fabs(table_number(t, row, places[k].at)));
    }
    return most;
}

static enum sheet_align alignment(const struct table *t, int64_t first, int64_t end,
                                  const struct column_place *p)
{
    double x;
    bool numbers = t->kinds[p->at] != TABLE_TEXT || (p->column->flags & COLUMN_AXIS);
    for (int64_t row = first; row < end && numbers && t->kinds[p->at] == TABLE_TEXT; row++)
        numbers = !table_text(t, row, p->at) || num_parse_real(table_text(t, row, p->at), &x);
    return numbers ? SHEET_POINT : SHEET_LEFT;
}

int column_write(struct text *out, const struct table *t, int64_t first, int64_t end,
                 const struct column_place *places, int32_t n, struct err *e)
{
    struct sheet s = { 0 };
    struct column_scale scales[SHEET_MAX_COLUMNS];
    char titles[SHEET_MAX_COLUMNS][COLUMN_NAME];
    assert(n <= SHEET_MAX_COLUMNS);
    if (t->failed)
        return err_nomem(e, "table");
    for (int32_t k = 0; k < n; k++) {
        const struct column *c = places[k].column;
        scales[k] = column_scale(c, largest(t, first, end, places, n, c));
        sheet_column(&s, column_title(titles[k], c, places[k].number), scales[k].unit,
                     alignment(t, first, end, &places[k]));
    }
    for (int64_t row = first; row < end; row++)
        for (int32_t k = 0; k < n; k++)
            put_shown(&s, t, row, &places[k], scales[k]);
    int rc = n > 0 ? sheet_write(&s, out, e) : 0;
    sheet_free(&s);
    return rc;
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
           (choice->timing || !(c->flags & COLUMN_TIMING)) && (!choice->in || column_is_in(c, choice->in)) &&
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

void column_put_title(struct table *t, int32_t col, const struct column *c, const char *title)
{
    bool half = c->as && strchr(c->as, ' ');
    if (c->kind != TABLE_TEXT && c->title && *c->title && !half)
        table_set_title(t, col, title);
}

void columns_put(struct table *t, const struct columns *c)
{
    char buf[COLUMN_NAME];
    for (int32_t k = 0; k < c->n; k++)
        for (int32_t i = 0; i < column_count(c->of[k]); i++) {
            table_column(t, column_name(buf, c->of[k], i), column_kind(c->of[k]));
            if (!t->failed)
                table_better(t, t->n_cols - 1, c->of[k]->better);
            if (c->of[k]->unit && *c->of[k]->unit)
                table_set_unit(t, t->n_cols - 1, c->of[k]->unit);
            column_put_title(t, t->n_cols - 1, c->of[k], column_title(buf, c->of[k], i));
        }
}

/* ---- rows ---- */

static size_t element_size(const struct column *c)
{
    return c->size / (size_t)column_count(c);
}

/* A bool has no blank: it is no. */
static void set_count(const struct column *c, void *field, int32_t i, int64_t n)
{
    if (element_size(c) == sizeof(bool))
        ((bool *)field)[i] = n > 0;
    else if (element_size(c) == sizeof(int32_t))
        ((int32_t *)field)[i] = n < 0 ? -1 : (int32_t)n;
    else
        ((int64_t *)field)[i] = n < 0 ? -1 : n;
}

static int64_t get_count(const struct column *c, const void *field, int32_t i)
{
    if (element_size(c) == sizeof(bool))
        return ((const bool *)field)[i];
    return element_size(c) == sizeof(int32_t) ? ((const int32_t *)field)[i] : ((const int64_t *)field)[i];
}

void row_clear(void *row, const struct column *list)
{
    for (const struct column *c = list; c->name; c++) {
        void *field = (char *)row + c->offset;
        for (int32_t i = 0; i < column_count(c); i++)
            switch (c->kind) {
            case TABLE_TEXT:
                if (c->flags & COLUMN_CHARS)
                    *(char *)field = '\0';
                else
                    ((const char **)field)[i] = NULL;
                break;
            case TABLE_REAL:
                ((double *)field)[i] = NAN;
                break;
            case TABLE_COUNT:
                set_count(c, field, i, -1);
                break;
            }
    }
}

/* In a struct every count below 0 is blank, in a table INT64_MIN alone is. */
struct table_cell column_cell(const struct column *c, const void *row, int32_t i)
{
    const void *field = (const char *)row + c->offset;
    struct table_cell cell = { .text = NULL };
    if (c->kind == TABLE_REAL) {
        double x = ((const double *)field)[i];
        cell.real = c->per != 0 ? x / c->per : x;
        return cell;
    }
    const char *text = NULL;
    if (c->kind == TABLE_COUNT) {
        int64_t count = get_count(c, field, i);
        if (column_kind(c) == TABLE_COUNT) {
            cell.count = count < 0 ? INT64_MIN : count;
            return cell;
        }
        text = count < 0 ? NULL : c->words ? c->words[count] : count ? "yes" : "no";
    } else if (c->flags & COLUMN_CHARS) {
        text = *(const char *)field ? field : NULL;
    } else {
        text = ((const char *const *)field)[i];
    }
    if (!text && (c->flags & COLUMN_EMPTY))
        text = "";
    memcpy(&cell.text, &text, sizeof text); /* cells of rows are borrowed, and nobody writes to them */
    return cell;
}

int32_t column_n(const struct column *list, const struct column *c, const void *row)
{
    const struct column *upto = c->upto ? column_find(list, c->upto) : NULL;
    int64_t n = upto ? column_cell(upto, row, 0).count : column_count(c);
    return n < 0 ? 0 : n < column_count(c) ? (int32_t)n : column_count(c);
}

static void put_cell(struct table *t, enum table_kind kind, struct table_cell cell)
{
    if (kind == TABLE_TEXT)
        table_put_text(t, cell.text);
    else if (kind == TABLE_REAL)
        table_put_real(t, cell.real);
    else
        table_put_count(t, cell.count);
}

void row_put(struct table *t, const struct columns *c, const void *row)
{
    for (int32_t k = 0; k < c->n; k++)
        for (int32_t i = 0; i < column_count(c->of[k]); i++)
            put_cell(t, column_kind(c->of[k]), column_cell(c->of[k], row, i));
}

void row_get(void *row, const struct columns *c, const struct table *t, int64_t i, int32_t col)
{
    for (int32_t k = 0; k < c->n; k++) {
        void *field = (char *)row + c->of[k]->offset;
        for (int32_t j = 0; j < column_count(c->of[k]); j++, col++) {
            const struct table_cell *cell = table_cell(t, i, col);
            /* Rows that come back from a store are of columns whose fields are as data is. */
            assert(c->of[k]->per == 0 && column_kind(c->of[k]) == c->of[k]->kind);
            assert(t->kinds[col] == c->of[k]->kind);
            if (c->of[k]->kind == TABLE_TEXT)
                ((const char **)field)[j] = cell->text;
            else if (c->of[k]->kind == TABLE_REAL)
                ((double *)field)[j] = cell->real;
            else
                set_count(c->of[k], field, j, cell->count);
        }
    }
}
