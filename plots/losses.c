#include "plots/losses.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { STEPS, TIME, LOSS, EXCHANGES, N_VALUES };

static const char *const columns[N_VALUES] = { "steps", "time_s", "loss", "exchanges" };

struct losses_row {
    int32_t point, method, seed; /* seed: position among all seeds of the table */
    double value[N_VALUES];
    int64_t row;
};

struct reader {
    struct losses *x;
    struct rows r;
    int32_t method, seed, values[N_VALUES];
    struct names seeds; /* owned texts: of the whole table */
    int64_t *ends; /* shape [seeds.n], owned: of one line, the last row of each seed; -1 = not its seed */
    double *loss;  /* shape [read.n], owned */
    int64_t n_passed;
};

static int find_columns(struct reader *y, struct err *e)
{
    int rc = rows_column(&y->method, &y->r, "method", e);

    if (!rc)
        rc = rows_column(&y->seed, &y->r, "seed", e);
    for (int k = 0; k < N_VALUES && !rc; k++)
        rc = rows_column(&y->values[k], &y->r, columns[k], e);
    return rc;
}

static int read_row(struct reader *y, struct err *e)
{
    struct losses *x = y->x;
    struct losses_row *out = &x->read[x->n_read];
    int rc = rows_name(&out->method, &x->methods, &y->r, y->method, e);

    if (rc || !rows_pass(&y->r))
        return rc;
    y->n_passed++;
    out->row = y->r.row;
    rc = points_find(&out->point, &x->points, &y->r, e);
    if (!rc)
        rc = rows_name(&out->seed, &y->seeds, &y->r, y->seed, e);
    for (int k = 0; k < N_VALUES && !rc; k++)
        rc = rows_number(&out->value[k], &y->r, y->values[k], e);
    if (rc || out->point < 0)
        return rc;
    if (isnan(out->value[STEPS]))
        return err_set(e, ERR_PARSE, "figure %s: row %lld, column steps: is blank, need a number",
                       y->r.figure->name, (long long)y->r.row + 1);
    x->n_read++;
    return 0;
}

static int compare_rows(const void *a, const void *b)
{
    const struct losses_row *p = a, *q = b;

    if (p->point != q->point)
        return p->point < q->point ? -1 : 1;
    if (p->method != q->method)
        return p->method < q->method ? -1 : 1;
    if (p->value[STEPS] != q->value[STEPS])
        return p->value[STEPS] < q->value[STEPS] ? -1 : 1;
    if (p->seed != q->seed)
        return p->seed < q->seed ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static int read_rows(struct reader *y, struct err *e)
{
    struct losses *x = y->x;
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

static bool is_whole(const struct losses_row *row)
{
    return !isnan(row->value[TIME]) && !isnan(row->value[LOSS]) && !isnan(row->value[EXCHANGES]);
}

/* Mean of the rows [first, end), which have the same number of steps; false unless each of @p n_seeds seeds
 * has one. Of several rows of a seed the last counts. */
static bool average(struct losses_step *out, const struct losses_row *rows, int64_t first, int64_t end,
                    int32_t n_seeds)
{
    double n = 0;

    *out = (struct losses_step){ .steps = rows[first].value[STEPS] };
    for (int64_t i = first; i < end; i++) {
        if ((i + 1 < end && rows[i + 1].seed == rows[i].seed) || !is_whole(&rows[i]))
            continue;
        n++;
        out->time_s += rows[i].value[TIME];
        out->loss += rows[i].value[LOSS];
        out->exchanges += rows[i].value[EXCHANGES];
    }
    out->time_s /= n;
    out->loss /= n;
    out->exchanges /= n;
    return n == n_seeds;
}

/* How many seeds the rows [first, end) have, and whether one ends before another. */
static int32_t count_seeds(struct reader *y, int64_t first, int64_t end, bool *differ)
{
    const struct losses_row *rows = y->x->read;
    int32_t n = 0;

    for (int32_t i = 0; i < y->seeds.n; i++)
        y->ends[i] = -1;
    for (int64_t i = first; i < end; i++) {
        n += y->ends[rows[i].seed] < 0;
        if (is_whole(&rows[i]) || y->ends[rows[i].seed] < 0)
            y->ends[rows[i].seed] = i;
    }
    *differ = false;
    for (int32_t i = 0; i < y->seeds.n; i++)
        *differ = *differ || (y->ends[i] >= 0 && rows[y->ends[i]].value[STEPS] < rows[end - 1].value[STEPS]);
    return n;
}

/* Losses of single batches scatter: each becomes the mean of those around it, 5 % of the line in all. */
static bool smooth(struct losses_step *list, int64_t n, double *loss)
{
    int64_t half = n / 40;

    for (int64_t i = 0; i < n; i++)
        loss[i] = list[i].loss;
    for (int64_t i = 0; i < n; i++) {
        int64_t reach = i < half ? i : half;
        reach = n - 1 - i < reach ? n - 1 - i : reach;
        list[i].loss = 0;
        for (int64_t k = i - reach; k <= i + reach; k++)
            list[i].loss += loss[k] / (double)(2 * reach + 1);
    }
    return half > 0;
}

/* The line of the rows [first, end), its steps from `out` on. */
static void join_seeds(struct reader *y, struct losses_line *line, int64_t first, int64_t end,
                       struct losses_step *out)
{
    struct losses *x = y->x;
    bool differ;

    *line =
        (struct losses_line){ .point = x->read[first].point, .method = x->read[first].method, .list = out };
    line->n_seeds = count_seeds(y, first, end, &differ);
    for (int64_t i = first, next; i < end; i = next) {
        for (next = i; next < end; next++)
            if (x->read[next].value[STEPS] != x->read[i].value[STEPS])
                break;
        if (average(&out[line->n], x->read, i, next, line->n_seeds))
            line->n++;
    }
    x->smoothed = smooth(out, line->n, y->loss) || x->smoothed;
    x->n_short += differ && line->n > 0;
    x->n_blank += line->n == 0;
}

static int join_lines(struct reader *y, struct err *e)
{
    struct losses *x = y->x;
    int64_t n_steps = 0;

    x->steps = calloc((size_t)x->n_read + 1, sizeof *x->steps);
    x->lines = calloc((size_t)x->n_read + 1, sizeof *x->lines);
    y->ends = calloc((size_t)y->seeds.n + 1, sizeof *y->ends);
    y->loss = calloc((size_t)x->n_read + 1, sizeof *y->loss);
    if (!x->steps || !x->lines || !y->ends || !y->loss)
        return err_nomem(e, "the figure's lines");
    for (int64_t first = 0, end; first < x->n_read; first = end) {
        for (end = first; end < x->n_read; end++)
            if (x->read[end].point != x->read[first].point || x->read[end].method != x->read[first].method)
                break;
        struct losses_line *line = &x->lines[x->n_lines];
        join_seeds(y, line, first, end, x->steps + n_steps);
        n_steps += line->n;
        x->n_lines += line->n > 0;
    }
    return x->n_lines > 0 ? 0 : rows_none_left(&y->r, y->n_passed, y->n_passed, "", e);
}

int losses_read(struct losses *x, const struct rows *r, int32_t max_points, struct err *e)
{
    struct reader y = { .x = x, .r = *r };
    int rc = points_read(&x->points, r, max_points, e);

    if (!rc)
        rc = find_columns(&y, e);
    if (!rc)
        rc = read_rows(&y, e);
    if (!rc)
        rc = join_lines(&y, e);
    free(y.ends);
    free(y.loss);
    names_free_copies(&y.seeds);
    return rc;
}

void losses_free(struct losses *x)
{
    points_free(&x->points);
    names_free_copies(&x->methods);
    free(x->lines);
    free(x->steps);
    free(x->read);
    *x = (struct losses){ 0 };
}
