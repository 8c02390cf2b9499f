#include "plots/rows.h"

#include <math.h>
#include <string.h>

#include "base/num.h"

int rows_column(int32_t *col, const struct rows *r, const char *name, struct err *e)
{
    const char *source = r->figure->source;

    *col = table_find(r->t, name);
    if (*col < 0)
        return err_set(e, ERR_PARSE, "figure %s: column %s: is missing, need it in the CSV%s%s",
                       r->figure->name, name, source ? " of " : "", source ? source : "");
    return 0;
}

static int check_filters(const struct rows *r, struct err *e)
{
    for (int32_t i = 0; i < r->opt->n_where; i++) {
        const char *name = r->opt->where[i].column;
        if (table_find(r->t, name) >= 0)
            continue;
        const char *near = text_nearest(name, (const char *const *)r->t->names, (size_t)r->t->n_cols);
        return err_set(e, ERR_USAGE, "figure %s: filter: is on column \"%s\", need one of the CSV%s%s",
                       r->figure->name, name, near ? ", nearest is " : "", near ? near : "");
    }
    return 0;
}

int rows_check(const struct rows *r, struct err *e)
{
    int32_t col;

    for (const char *const *name = r->figure->columns; *name; name++) {
        int rc = strchr(*name, '#') ? 0 : rows_column(&col, r, *name, e);
        if (rc)
            return rc;
    }
    return check_filters(r, e);
}

bool rows_equal(const struct rows *r, int32_t col, const char *value)
{
    const struct table_cell *cell = table_cell(r->t, r->row, col);
    double x;

    if (r->t->kinds[col] == TABLE_TEXT)
        return strcmp(cell->text ? cell->text : "", value) == 0;
    if (!num_parse_real(value, &x))
        return false;
    return table_number(r->t, r->row, col) == x;
}

bool rows_pass(const struct rows *r)
{
    const struct plot_where *w = r->opt->where;

    for (int32_t i = 0; i < r->opt->n_where; i++) {
        bool any = false;
        for (int32_t k = 0; k < r->opt->n_where && !any; k++)
            any = strcmp(w[k].column, w[i].column) == 0 &&
                  rows_equal(r, table_find(r->t, w[k].column), w[k].value);
        if (!any)
            return false;
    }
    return true;
}

int rows_text(struct text *out, const struct rows *r, int32_t col, struct err *e)
{
    const struct table_cell *cell = table_cell(r->t, r->row, col);
    char buf[NUM_TEXT];

    text_clear(out);
    if (r->t->kinds[col] == TABLE_TEXT)
        text_puts(out, cell->text ? cell->text : "");
    else if (r->t->kinds[col] == TABLE_REAL && isfinite(cell->real))
        text_puts(out, num_format(buf, cell->real));
    else if (r->t->kinds[col] == TABLE_COUNT && cell->count != INT64_MIN)
        text_printf(out, "%lld", (long long)cell->count);
    return text_check(out, e);
}

int rows_name(int32_t *at, struct names *copies, const struct rows *r, int32_t col, struct err *e)
{
    struct text cell = { 0 };
    int rc = rows_text(&cell, r, col, e);

    if (!rc) {
        *at = names_add_copy(copies, text_str(&cell));
        rc = *at < 0 ? err_nomem(e, "the figure's names") : 0;
    }
    text_free(&cell);
    return rc;
}

static int read_number(double *out, const struct rows *r, int32_t col, bool above_zero, struct err *e)
{
    const struct table_cell *cell = table_cell(r->t, r->row, col);

    *out = table_number(r->t, r->row, col);
    if (r->t->kinds[col] == TABLE_TEXT && cell->text && cell->text[0] && !num_parse_real(cell->text, out))
        return err_set(e, ERR_PARSE, "figure %s: row %lld, column %s: is \"%s\", need a number",
                       r->figure->name, (long long)r->row + 1, r->t->names[col], cell->text);
    if (*out < 0 || (above_zero && *out == 0))
        return err_set(e, ERR_PARSE, "figure %s: row %lld, column %s: is %g, need %s 0", r->figure->name,
                       (long long)r->row + 1, r->t->names[col], *out, above_zero ? "above" : "at least");
    return 0;
}

int rows_number(double *out, const struct rows *r, int32_t col, struct err *e)
{
    return read_number(out, r, col, false, e);
}

int rows_above_zero(double *out, const struct rows *r, int32_t col, struct err *e)
{
    return read_number(out, r, col, true, e);
}

int rows_count(int32_t *out, const struct rows *r, int32_t col, int32_t max, struct err *e)
{
    double x;
    int rc = read_number(&x, r, col, false, e);

    if (rc)
        return rc;
    if (!(x <= max && x == floor(x)))
        return err_set(e, ERR_PARSE, "figure %s: row %lld, column %s: is %g, need a whole number, 0 to %d",
                       r->figure->name, (long long)r->row + 1, r->t->names[col], x, (int)max);
    *out = (int32_t)x;
    return 0;
}

int rows_none_left(const struct rows *r, int64_t n_passed, int64_t n_blank, const char *but, struct err *e)
{
    return err_set(e, ERR_PARSE,
                   "figure %s: rows to draw: is 0 of %lld (%lld pass the filter, %lld of those %s"
                   "lack a value), need at least 1",
                   r->figure->name, (long long)r->t->n_rows, (long long)n_passed, (long long)n_blank, but);
}
