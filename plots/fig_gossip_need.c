#include "plots/fig.h"

#include <math.h>
#include <stdlib.h>

#include "plots/grid.h"
#include "plots/strips.h"
#include "plots/trained.h"

enum {
    MAX_POINTS = 6,
    MAX_METHODS = 24,
    FEW_ROWS = 30, /* of all panels together: as many are higher */
    HIGH_PX = 21,
    LOW_PX = 16,
    LEAST_PX = 11,
    NAME = 80, /* characters of a point's name */
};

/* Of a row's height, what is left free above its bar. */
#define BAR_GAP 0.16

#define NEED "bandwidth needed per NPU"

static const char *const columns[] = { "need_GBps", NULL };

struct need_fig {
    struct canvas *c;
    struct trained data;
    struct names methods; /* texts of `data`: those of rows */
    int32_t n_methods;    /* how many are drawn */
    struct axis x;
    struct text names[MAX_POINTS],
        ends[MAX_POINTS * MAX_METHODS]; /* owned; ends: shape [points.n][n_methods] */
};

/* ---- bars ---- */

/* The row of the method at the point, the first of several; NULL when there is none. */
static const struct trained_row *find_row(const struct need_fig *f, int32_t point, int32_t method)
{
    for (int64_t i = 0; i < f->data.n; i++)
        if (f->data.list[i].point == point &&
            names_find(&f->methods, f->data.methods.list[f->data.list[i].method]) == method)
            return &f->data.list[i];
    return NULL;
}

static int gather_methods(struct need_fig *f, struct err *e)
{
    for (int64_t i = 0; i < f->data.n; i++)
        if (names_add(&f->methods, f->data.methods.list[f->data.list[i].method]) < 0)
            return err_nomem(e, "the figure's rows");
    f->n_methods = f->methods.n < MAX_METHODS ? f->methods.n : MAX_METHODS;
    return 0;
}

static int put_texts(struct need_fig *f, struct err *e)
{
    int rc = 0;

    for (int32_t k = 0; k < f->data.points.n && !rc; k++) {
        points_put_name(&f->names[k], &f->data.points, k, NAME);
        rc = text_check(&f->names[k], e);
        for (int32_t i = 0; i < f->n_methods && !rc; i++) {
            const struct trained_row *row = find_row(f, k, i);
            struct text *end = &f->ends[k * f->n_methods + i];
            if (row)
                text_printf(end, "%.3g", row->value[0]);
            else
                text_puts(end, "–");
            rc = text_check(end, e);
        }
    }
    return rc;
}

static struct axis fit_axis(const struct need_fig *f)
{
    double lo = HUGE_VAL, hi = 0;

    for (int64_t i = 0; i < f->data.n; i++) {
        double x = f->data.list[i].value[0];
        lo = x > 0 ? fmin(lo, x) : lo;
        hi = fmax(hi, x);
    }
    if (!(hi > 0))
        return axis_bars(hi);
    struct axis a = axis_log(lo, hi);
    a.lo *= 0.7; /* the least has a bar too */
    return a;
}

static void paint(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct need_fig *f = of;
    bool begun = false;

    (void)box;
    for (int32_t i = 0; i < f->n_methods; i++) {
        const struct trained_row *row = find_row(f, panel, i);
        if (!row || !(row->value[0] > 0))
            continue;
        if (!begun)
            canvas_block(c);
        begun = true;
        canvas_bar(c, f->x.lo, i + 1 - BAR_GAP, row->value[0], i + BAR_GAP);
    }
    if (begun)
        canvas_block_end(c, (struct mark){ MARK_FILL, FILL_FIRST });
}

static int draw_bars(struct need_fig *f, struct err *e)
{
    const char *names[MAX_POINTS], *ends[MAX_POINTS * MAX_METHODS];
    int32_t n = f->data.points.n * f->n_methods;
    int rc = put_texts(f, e);

    if (rc)
        return rc;
    for (int32_t k = 0; k < f->data.points.n; k++)
        names[k] = text_str(&f->names[k]);
    for (int32_t i = 0; i < n; i++)
        ends[i] = text_str(&f->ends[i]);
    f->x = fit_axis(f);
    struct strips_spec spec = { .names = names,
                                .n_panels = f->data.points.n,
                                .n_rows = f->n_methods,
                                .labels = f->methods.list,
                                .ends = ends,
                                .end_label = "GB/s",
                                .unit_px = n <= FEW_ROWS ? HIGH_PX : LOW_PX,
                                .least_unit_px = LEAST_PX,
                                .x = f->x,
                                .x_label = NEED " [GB/s]",
                                .paint = paint,
                                .of = f };
    if (f->methods.n > f->n_methods)
        canvas_note(f->c, "first %d of %d methods", (int)f->n_methods, (int)f->methods.n);
    return strips_build(f->c, &spec, e);
}

/* ---- what is asked ---- */

/* How much longer a run may take, where all drawn rows say the same; an older table says nothing. */
static void put_limit(struct need_fig *f, const struct table *t)
{
    int32_t col = table_find(t, "need_wait_pct");
    double pct = col < 0 || !f->data.n ? (double)NAN : table_number(t, f->data.list[0].row, col);
    bool one = !isnan(pct);

    for (int64_t i = 1; i < f->data.n && one; i++)
        one = table_number(t, f->data.list[i].row, col) == pct;
    if (one)
        canvas_note(f->c, "the network makes a run %g %% longer than endless bandwidth would", pct);
}

/* ---- lines over an axis ---- */

/* Whether the column differs among the rows that pass. */
static int find_varying(bool *varies, const struct rows *rows, int32_t col, struct err *e)
{
    struct rows r = *rows;
    struct names values = { 0 };
    int32_t at = 0;
    int rc = 0;

    for (r.row = 0; r.row < r.t->n_rows && !rc; r.row++)
        if (rows_pass(&r))
            rc = rows_name(&at, &values, &r, col, e);
    *varies = values.n > 1;
    names_free_copies(&values);
    return rc;
}

/* The only column between point and method that varies, if it holds numbers; else -1. */
static int find_axis(int32_t *axis, const struct rows *r, struct err *e)
{
    int32_t point = table_find(r->t, "point"), method = table_find(r->t, "method"), n = 0;
    int rc = 0;

    *axis = -1;
    for (int32_t col = point + 1; col < method && !rc; col++) {
        bool varies = false;
        rc = find_varying(&varies, r, col, e);
        *axis = varies ? col : *axis;
        n += varies;
    }
    if (n != 1 || r->t->kinds[*axis] == TABLE_TEXT)
        *axis = -1;
    return rc;
}

static int draw_lines(struct need_fig *f, const struct rows *r, int32_t axis, struct err *e)
{
    static const char *const no_name[] = { "" };
    static const struct grid_metric metric = { .label = NEED, .unit = "GB/s", .low_is_better = true };
    struct grid_point *points = calloc((size_t)f->data.n, sizeof *points);
    struct grid_series *series = calloc((size_t)f->methods.n, sizeof *series);
    struct grid_spec spec = { .x_label = r->t->names[axis],
                              .x_tight = true,
                              .columns = no_name,
                              .n_columns = 1,
                              .n_rows = 1,
                              .series = series,
                              .n_series = f->methods.n,
                              .metrics = &metric,
                              .n_metrics = 1,
                              .column_word = "panels",
                              .row_word = "panels",
                              .point_word = "rows" };
    int64_t n = 0;

    for (int64_t i = 0; points && series && i < f->data.n; i++) {
        const struct trained_row *row = &f->data.list[i];
        const char *name = f->data.methods.list[row->method];
        int32_t k = names_find(&f->methods, name);
        double x = table_number(r->t, row->row, axis);
        series[k] = (struct grid_series){ name, 1 + row->method };
        if (!isnan(x))
            points[n++] = (struct grid_point){
                .series = k, .x = x, .y = { row->value[0] }, .half = { (double)NAN }, .equal = { (double)NAN }
            };
    }
    int rc = !points || !series ? err_nomem(e, "the figure's points")
             : n > 0            ? grid_build(f->c, points, n, &spec, e)
                                : rows_none_left(r, f->data.n, f->data.n, "", e);
    free(points);
    free(series);
    return rc;
}

int fig_gossip_need(struct canvas *c, const struct rows *r, struct err *e)
{
    struct need_fig f = { .c = c };
    int32_t axis;
    int rc = find_axis(&axis, r, e);

    if (!rc)
        rc = trained_read(&f.data, r, columns, 1, axis < 0 ? MAX_POINTS : INT32_MAX, e);
    if (!rc)
        rc = gather_methods(&f, e);
    if (!rc) {
        put_limit(&f, r->t);
        trained_put_notes(c, &f.data);
        rc = axis < 0 ? draw_bars(&f, e) : draw_lines(&f, r, axis, e);
    }
    for (int32_t k = 0; k < MAX_POINTS; k++)
        text_free(&f.names[k]);
    for (int32_t i = 0; i < MAX_POINTS * MAX_METHODS; i++)
        text_free(&f.ends[i]);
    names_free(&f.methods);
    trained_free(&f.data);
    return rc;
}
