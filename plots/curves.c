#include "plots/curves.h"

#include <math.h>
#include <stdlib.h>

struct curves_row {
    int32_t point, scheduler, seed; /* seed: position among all seeds of the table */
    double evaluations, cost;       /* cost: infinite without a plan */
    int64_t row;
};

struct reader {
    struct curves *x;
    struct rows r;
    int32_t scheduler, seed, evaluations, cost;
    struct names schedulers, seeds; /* owned texts: of the whole table */
    double *best, *sorted; /* shape [seeds.n], owned: of one line, best by seed; NaN = not its seed */
};

/* ---- rows ---- */

/* Costs are over the oracle's where any row that passes knows it, else in USD. */
static int find_cost(struct reader *y, struct err *e)
{
    struct rows r = y->r;
    int32_t over = table_find(r.t, "over_oracle");
    bool any = false;
    int rc = 0;

    for (r.row = 0; over >= 0 && r.row < r.t->n_rows && !any && !rc; r.row++) {
        double x = (double)NAN;
        if (rows_pass(&r))
            rc = rows_number(&x, &r, over, e);
        any = !isnan(x);
    }
    y->x->in_usd = !any;
    if (!rc)
        rc = rows_column(&y->cost, &r, any ? "over_oracle" : "usd", e);
    return rc;
}

static int find_columns(struct reader *y, struct err *e)
{
    int rc = rows_column(&y->scheduler, &y->r, "scheduler", e);

    if (!rc)
        rc = rows_column(&y->seed, &y->r, "seed", e);
    if (!rc)
        rc = rows_column(&y->evaluations, &y->r, "evaluations", e);
    return rc ? rc : find_cost(y, e);
}

static int read_row(struct reader *y, struct err *e)
{
    struct curves *x = y->x;
    struct curves_row *out = &x->read[x->n_read];
    int rc = rows_name(&out->scheduler, &y->schedulers, &y->r, y->scheduler, e);

    if (rc || !rows_pass(&y->r))
        return rc;
    out->row = y->r.row;
    rc = points_find(&out->point, &x->points, &y->r, e);
    if (!rc)
        rc = rows_name(&out->seed, &y->seeds, &y->r, y->seed, e);
    if (!rc)
        rc = rows_number(&out->evaluations, &y->r, y->evaluations, e);
    if (!rc)
        rc = rows_above_zero(&out->cost, &y->r, y->cost, e);
    if (rc || out->point < 0)
        return rc;
    if (isnan(out->evaluations))
        return err_set(e, ERR_PARSE, "figure %s: row %lld, column evaluations: is blank, need a number",
                       y->r.figure->name, (long long)y->r.row + 1);
    x->any_zero = x->any_zero || out->evaluations < 1;
    out->evaluations = fmax(1, out->evaluations);
    if (isnan(out->cost))
        out->cost = HUGE_VAL;
    x->n_read++;
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct curves_row *p = a, *q = b;

    if (p->point != q->point)
        return p->point < q->point ? -1 : 1;
    if (p->scheduler != q->scheduler)
        return p->scheduler < q->scheduler ? -1 : 1;
    if (p->evaluations != q->evaluations)
        return p->evaluations < q->evaluations ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static int read_rows(struct reader *y, struct err *e)
{
    struct curves *x = y->x;
    int rc = 0;

    x->read = calloc((size_t)y->r.t->n_rows + 1, sizeof *x->read);
    if (!x->read)
        return err_nomem(e, "the figure's rows");
    for (y->r.row = 0; y->r.row < y->r.t->n_rows && !rc; y->r.row++)
        rc = read_row(y, e);
    if (!rc)
        qsort(x->read, (size_t)x->n_read, sizeof *x->read, compare_rows);
    return rc;
}

/* ---- lines ---- */

static int compare_reals(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* What the seeds have come to. */
static struct curves_step step_of(struct reader *y, double evaluations)
{
    int32_t n = 0;

    for (int32_t i = 0; i < y->seeds.n; i++)
        if (!isnan(y->best[i]))
            y->sorted[n++] = y->best[i];
    qsort(y->sorted, (size_t)n, sizeof *y->sorted, compare_reals);
    double middle = n % 2 ? y->sorted[n / 2] : (y->sorted[n / 2 - 1] + y->sorted[n / 2]) / 2;
    return (struct curves_step){ evaluations, middle, y->sorted[0], y->sorted[n - 1] };
}

static bool is_same(const struct curves_step *a, const struct curves_step *b)
{
    return a->middle == b->middle && a->lo == b->lo && a->hi == b->hi;
}

/* The line of the rows [first, end), its steps from `steps` on. All its seeds count from the beginning. */
static void join_seeds(struct reader *y, struct curves_line *line, int64_t first, int64_t end,
                       struct curves_step *steps)
{
    const struct curves_row *rows = y->x->read;

    *line = (struct curves_line){ .point = rows[first].point,
                                  .scheduler = rows[first].scheduler,
                                  .steps = steps,
                                  .end = rows[end - 1].evaluations };
    for (int32_t i = 0; i < y->seeds.n; i++)
        y->best[i] = (double)NAN;
    for (int64_t i = first; i < end; i++) {
        line->n_seeds += isnan(y->best[rows[i].seed]);
        y->best[rows[i].seed] = HUGE_VAL;
    }
    for (int64_t i = first; i < end; i++) {
        const struct curves_row *r = &rows[i];
        y->best[r->seed] = fmin(y->best[r->seed], r->cost);
        if (i + 1 < end && rows[i + 1].evaluations == r->evaluations)
            continue;
        struct curves_step step = step_of(y, r->evaluations);
        if (step.lo < HUGE_VAL && (line->n_steps == 0 || !is_same(&step, &steps[line->n_steps - 1])))
            steps[line->n_steps++] = step;
    }
}

static int join_lines(struct reader *y, struct err *e)
{
    struct curves *x = y->x;
    int64_t n_steps = 0;

    x->steps = calloc((size_t)x->n_read + 1, sizeof *x->steps);
    x->lines = calloc((size_t)x->n_read + 1, sizeof *x->lines);
    y->best = calloc((size_t)y->seeds.n + 1, sizeof *y->best);
    y->sorted = calloc((size_t)y->seeds.n + 1, sizeof *y->sorted);
    if (!x->steps || !x->lines || !y->best || !y->sorted)
        return err_nomem(e, "the figure's lines");
    for (int64_t first = 0, end; first < x->n_read; first = end) {
        const struct curves_row *r = &x->read[first];
        for (end = first; end < x->n_read; end++)
            if (x->read[end].point != r->point || x->read[end].scheduler != r->scheduler)
                break;
        struct curves_line *line = &x->lines[x->n_lines];
        join_seeds(y, line, first, end, x->steps + n_steps);
        n_steps += line->n_steps;
        x->n_lines += line->n_steps > 0;
        x->n_blank += line->n_steps == 0;
    }
    if (x->n_lines == 0)
        return rows_none_left(&y->r, x->n_read, x->n_read, "", e);
    return 0;
}

/* Of the table's schedulers those that have lines. */
static int keep_schedulers(struct reader *y, struct err *e)
{
    struct curves *x = y->x;

    x->styles = calloc((size_t)y->schedulers.n + 1, sizeof *x->styles);
    if (!x->styles)
        return err_nomem(e, "the figure's series");
    for (int32_t k = 0; k < y->schedulers.n; k++)
        for (int32_t i = 0; i < x->n_lines; i++) {
            if (x->lines[i].scheduler != k)
                continue;
            int32_t at = names_add_copy(&x->schedulers, y->schedulers.list[k]);
            if (at < 0)
                return err_nomem(e, "the figure's series");
            x->styles[at] = k;
            break;
        }
    for (int32_t i = 0; i < x->n_lines; i++)
        x->lines[i].scheduler = names_find(&x->schedulers, y->schedulers.list[x->lines[i].scheduler]);
    return 0;
}

int curves_read(struct curves *x, const struct rows *r, struct err *e)
{
    struct reader y = { .x = x, .r = *r };
    int rc = points_read(&x->points, r, CURVES_MAX_POINTS, e);

    if (!rc)
        rc = find_columns(&y, e);
    if (!rc)
        rc = read_rows(&y, e);
    if (!rc)
        rc = join_lines(&y, e);
    if (!rc)
        rc = keep_schedulers(&y, e);
    free(y.best);
    free(y.sorted);
    names_free_copies(&y.schedulers);
    names_free_copies(&y.seeds);
    return rc;
}

void curves_free(struct curves *x)
{
    points_free(&x->points);
    names_free_copies(&x->schedulers);
    free(x->styles);
    free(x->lines);
    free(x->steps);
    free(x->read);
    *x = (struct curves){ 0 };
}
