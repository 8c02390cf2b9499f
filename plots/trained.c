#include "plots/trained.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct trained *t;
    struct rows r;
    int32_t method, family, period, status, seeds, values[TRAINED_MAX_VALUES];
    int32_t n_values, n_needed;
    int64_t n_passed;
};

static int find_columns(struct reader *y, const char *const *columns, struct err *e)
{
    int rc = rows_column(&y->method, &y->r, "method", e);

    if (!rc)
        rc = rows_column(&y->status, &y->r, "status", e);
    for (; columns[y->n_values] && !rc; y->n_values++)
        rc = rows_column(&y->values[y->n_values], &y->r, columns[y->n_values], e);
    y->family = table_find(y->r.t, "family");
    y->period = table_find(y->r.t, "period");
    y->seeds = table_find(y->r.t, "seeds");
    return rc;
}

/* NaN, and no name, for a column that is not there. */
static int read_number(double *out, const struct rows *r, int32_t col, struct err *e)
{
    *out = (double)NAN;
    return col < 0 ? 0 : rows_number(out, r, col, e);
}

/* Names are those of all rows, be they drawn or not. */
static int read_names(struct trained_row *out, struct reader *y, struct err *e)
{
    struct trained *t = y->t;
    int rc = rows_name(&out->method, &t->methods, &y->r, y->method, e);

    if (!rc && y->family >= 0)
        rc = rows_name(&out->family, &t->families, &y->r, y->family, e);
    if (!rc && y->family < 0 && (out->family = names_add_copy(&t->families, "")) < 0)
        rc = err_nomem(e, "the figure's names");
    if (!rc)
        rc = read_number(&out->period, &y->r, y->period, e);
    if (!rc && !isnan(out->period))
        t->fixed[out->method] = t->family_fixed[out->family] = true;
    return rc;
}

/* Whether the row of a drawn point is ok; else it is counted. */
static bool is_ok(struct reader *y)
{
    if (rows_equal(&y->r, y->status, "ok"))
        return true;
    if (rows_equal(&y->r, y->status, "diverged"))
        y->t->n_diverged++;
    else
        y->t->n_failed++;
    return false;
}

static int read_values(struct trained_row *out, struct reader *y, struct err *e)
{
    double seeds;
    bool blank = false;
    int rc = read_number(&seeds, &y->r, y->seeds, e);

    for (int32_t k = 0; k < y->n_values && !rc; k++) {
        rc = rows_number(&out->value[k], &y->r, y->values[k], e);
        blank = blank || (k < y->n_needed && isnan(out->value[k]));
    }
    if (rc)
        return rc;
    y->t->most_seeds = fmax(y->t->most_seeds, seeds);
    y->t->n_blank += blank;
    y->t->n += !blank;
    return 0;
}

static int read_row(struct reader *y, struct err *e)
{
    struct trained_row *out = &y->t->list[y->t->n];
    int rc = read_names(out, y, e);

    if (rc || !rows_pass(&y->r))
        return rc;
    y->n_passed++;
    out->row = y->r.row;
    rc = points_find(&out->point, &y->t->points, &y->r, e);
    return rc || out->point < 0 || !is_ok(y) ? rc : read_values(out, y, e);
}

int trained_read(struct trained *t, const struct rows *r, const char *const *columns, int32_t n_needed,
                 int32_t max_points, struct err *e)
{
    struct reader y = { .t = t, .r = *r, .n_needed = n_needed };
    int rc = points_read(&t->points, r, max_points, e);

    if (!rc)
        rc = find_columns(&y, columns, e);
    if (rc)
        return rc;
    t->list = calloc((size_t)r->t->n_rows + 1, sizeof *t->list);
    t->fixed = calloc((size_t)r->t->n_rows + 1, sizeof *t->fixed);
    t->family_fixed = calloc((size_t)r->t->n_rows + 1, sizeof *t->family_fixed);
    if (!t->list || !t->fixed || !t->family_fixed)
        return err_nomem(e, "the figure's rows");
    for (y.r.row = 0; y.r.row < r->t->n_rows && !rc; y.r.row++)
        rc = read_row(&y, e);
    if (!rc && t->n == 0)
        rc = rows_none_left(&y.r, y.n_passed, y.n_passed, "are not ok or ", e);
    return rc;
}

void trained_free(struct trained *t)
{
    points_free(&t->points);
    names_free_copies(&t->methods);
    names_free_copies(&t->families);
    free(t->fixed);
    free(t->family_fixed);
    free(t->list);
    *t = (struct trained){ 0 };
}

static void put_count(struct text *out, int64_t n, const char *what)
{
    if (n > 0)
        text_printf(out, "%s%lld %s", out->n ? ", " : "", (long long)n, what);
}

void trained_put_notes(struct canvas *c, const struct trained *t)
{
    struct text out = { 0 };

    points_put_notes(c, &t->points);
    put_count(&out, t->n_diverged, "diverged");
    put_count(&out, t->n_failed, "failed");
    put_count(&out, t->n_blank, "without a value");
    if (out.n)
        canvas_note(c, "left out of the rows: %s", text_str(&out));
    c->script.failed = c->script.failed || out.failed;
    text_free(&out);
}
