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
    double *first;         /* shape [families.n], owned: the first fixed period of each; NaN = none so far */
    bool *several, *fixed; /* shapes [families.n], [methods.n], owned: has another one; has any */
    int32_t *family_of;    /* shape [methods.n], owned */
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
    if (rc || isnan(out->period))
        return rc;
    if (isnan(y->first[out->family]))
        y->first[out->family] = out->period;
    y->several[out->family] = y->several[out->family] || out->period != y->first[out->family];
    y->fixed[out->method] = true;
    y->family_of[out->method] = out->family;
    return 0;
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

/* There are no more names than rows. */
static int make_room(struct reader *y, size_t n, struct err *e)
{
    struct trained *t = y->t;

    t->list = calloc(n, sizeof *t->list);
    t->curves = calloc(n, sizeof *t->curves);
    t->marks = calloc(n, sizeof *t->marks);
    y->first = calloc(n, sizeof *y->first);
    y->several = calloc(n, sizeof *y->several);
    y->fixed = calloc(n, sizeof *y->fixed);
    y->family_of = calloc(n, sizeof *y->family_of);
    if (!t->list || !t->curves || !t->marks || !y->first || !y->several || !y->fixed || !y->family_of)
        return err_nomem(e, "the figure's rows");
    for (size_t i = 0; i < n; i++)
        y->first[i] = (double)NAN;
    return 0;
}

static void number_marks(struct reader *y)
{
    struct trained *t = y->t;
    int32_t n = 0;

    for (int32_t k = 0; k < t->families.n; k++)
        t->curves[k] = y->several[k] ? t->n_curves++ : -1;
    for (int32_t k = 0; k < t->methods.n; k++)
        t->marks[k] = y->fixed[k] && t->curves[y->family_of[k]] >= 0 ? -1 : n++;
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
    rc = make_room(&y, (size_t)r->t->n_rows + 1, e);
    for (y.r.row = 0; y.r.row < r->t->n_rows && !rc; y.r.row++)
        rc = read_row(&y, e);
    if (!rc && t->n == 0)
        rc = rows_none_left(&y.r, y.n_passed, y.n_passed, "are not ok or ", e);
    if (!rc)
        number_marks(&y);
    free(y.first);
    free(y.several);
    free(y.fixed);
    free(y.family_of);
    return rc;
}

void trained_free(struct trained *t)
{
    points_free(&t->points);
    names_free_copies(&t->methods);
    names_free_copies(&t->families);
    free(t->curves);
    free(t->marks);
    free(t->list);
    *t = (struct trained){ 0 };
}

bool trained_is_on_curve(const struct trained *t, const struct trained_row *row)
{
    return t->marks[row->method] < 0 && !isnan(row->period);
}

struct axis trained_widen(struct axis a, double share)
{
    if (a.log) {
        double factor = pow(a.hi / a.lo, share);
        a.lo /= factor;
        a.hi *= factor;
    } else {
        double room = share * (a.hi - a.lo);
        a.lo = a.lo > room ? a.lo - room : 0;
        a.hi += room;
    }
    return a;
}

struct axis trained_log_axis(double lo, double hi)
{
    struct axis a = { .lo = lo, .hi = hi, .log = true };
    return hi / lo < 5 ? trained_widen(axis_log(lo, hi), 0.03) : trained_widen(a, 0.06);
}

/* Of the eight styles of round r grey is the one for which style + r is a multiple of 8: plots/marks.c. */
int32_t trained_line_style(int32_t method)
{
    int32_t round = method / 7, at = method % 7, grey = (8 - round % 8) % 8;

    return 8 * round + at + (at >= grey);
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
