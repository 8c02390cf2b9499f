#include "plots/fig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
};

/* An axis label longer than this share of the page is cut short: the title says that it is of needs. */
#define LABEL_SHARE 0.7

static const char *const columns[] = { "need_GBps", NULL };

struct need_fig {
    struct canvas *c;
    struct trained data;
    struct names methods; /* texts of `data`: those of rows */
    int32_t n_methods;    /* how many are drawn */
    struct axis x;
    struct text need, label; /* owned: of the axis, without and with unit */
    struct text names[MAX_POINTS],
        ends[MAX_POINTS * MAX_METHODS]; /* owned; ends: shape [points.n][n_methods] */
};

/* ---- what was asked ---- */

static bool is_one(const struct names *dims)
{
    return dims->n == 1 && dims->list[0][0];
}

static void put_need(struct text *out, const struct names *dims)
{
    text_puts(out, "bandwidth ");
    if (is_one(dims))
        text_printf(out, "of dimension %s ", dims->list[0]);
    else if (dims->n > 1 && names_find(dims, "") < 0)
        text_puts(out, "of one dimension ");
    text_puts(out, "needed per NPU");
}

/* The axis says which bandwidth is meant: of all dimensions together, or of one, by its name if it is the
 * same in all rows. */
static int put_label(struct need_fig *f, const struct rows *rows, struct err *e)
{
    struct rows r = *rows;
    struct names dims = { 0 };
    int32_t col = table_find(r.t, "need_dim"), at = 0;
    int rc = 0;

    for (int64_t i = 0; i < f->data.n && col >= 0 && !rc; i++) {
        r.row = f->data.list[i].row;
        rc = rows_name(&at, &dims, &r, col, e);
    }
    put_need(&f->need, &dims);
    text_printf(&f->label, "%s [GB/s]", text_str(&f->need));
    if (canvas_width(text_str(&f->label), CANVAS_FONT_PX) > LABEL_SHARE * canvas_page_width(f->c)) {
        text_clear(&f->label);
        text_printf(&f->label, "per NPU%s%s [GB/s]", is_one(&dims) ? ", dimension " : "",
                    is_one(&dims) ? dims.list[0] : "");
    }
    names_free_copies(&dims);
    rc = rc ? rc : text_check(&f->need, e);
    return rc ? rc : text_check(&f->label, e);
}

/* By how much bandwidth may delay a run, where the table says so. */
static int put_delay(struct need_fig *f, const struct rows *rows, struct err *e)
{
    struct rows r = *rows;
    int32_t col = table_find(r.t, "need_wait_pct");
    double lo = HUGE_VAL, hi = -HUGE_VAL, pct;

    for (int64_t i = 0; i < f->data.n && col >= 0; i++) {
        r.row = f->data.list[i].row;
        int rc = rows_number(&pct, &r, col, e);
        if (rc)
            return rc;
        lo = fmin(lo, pct);
        hi = fmax(hi, pct);
    }
    if (lo == hi)
        canvas_note(f->c, "bandwidth at which a run takes %g %% longer than with endless bandwidth", lo);
    else if (lo < hi)
        canvas_note(f->c, "bandwidth at which a run takes %g to %g %% longer than with endless bandwidth", lo,
                    hi);
    return 0;
}

/* ---- points ---- */

/* Three digits, none as a power of ten: "0.0000123", "6.9", "1,660". */
static void put_plain(struct text *out, double x)
{
    char rounded[32], digits[400];

    snprintf(rounded, sizeof rounded, "%.2e", x);
    x = strtod(rounded, NULL);
    int exponent = (int)strtol(strchr(rounded, 'e') + 1, NULL, 10);
    snprintf(digits, sizeof digits, "%.*f", exponent < 2 ? 2 - exponent : 0, x);
    size_t n = strlen(digits), whole = strcspn(digits, ".");
    if (whole < n) {
        while (digits[n - 1] == '0')
            n--;
        n -= digits[n - 1] == '.';
    }
    for (size_t i = 0; i < n; i++)
        text_printf(out, "%s%c", i > 0 && i < whole && (whole - i) % 3 == 0 ? "," : "", digits[i]);
}

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

static void put_end(struct text *out, const struct trained_row *row)
{
    if (!row)
        text_puts(out, "–");
    else if (row->value[0] > 0)
        put_plain(out, row->value[0]);
    else
        text_puts(out, "next to none");
}

/* Characters above a panel, which has the methods left and the numbers right of it: plots/strips.c. */
static size_t name_chars(const struct need_fig *f)
{
    double label_px = 0, end_px = 0, page_px = canvas_page_width(f->c);

    for (int32_t i = 0; i < f->n_methods; i++)
        label_px = fmax(label_px, canvas_width(f->methods.list[i], CANVAS_SMALL_PX));
    for (int32_t i = 0; i < f->data.points.n * f->n_methods; i++)
        end_px = fmax(end_px, canvas_width(text_str(&f->ends[i]), CANVAS_SMALL_PX));
    double room_px = page_px - fmin(label_px, page_px / 3.5) - 2 * end_px - 40;
    return (size_t)fmax(3, room_px / (CANVAS_FONT_PX * CANVAS_LEAST_SHRINK * CANVAS_CHAR));
}

static int put_texts(struct need_fig *f, struct err *e)
{
    int rc = 0;

    for (int32_t k = 0; k < f->data.points.n; k++)
        for (int32_t i = 0; i < f->n_methods && !rc; i++) {
            struct text *end = &f->ends[k * f->n_methods + i];
            put_end(end, find_row(f, k, i));
            rc = text_check(end, e);
        }
    for (int32_t k = 0; k < f->data.points.n && !rc; k++) {
        points_put_name(&f->names[k], &f->data.points, k, name_chars(f));
        rc = text_check(&f->names[k], e);
    }
    return rc;
}

/* Log: methods differ by orders of magnitude. */
static struct axis fit_axis(const struct need_fig *f)
{
    double lo = HUGE_VAL, hi = 0;

    for (int64_t i = 0; i < f->data.n; i++) {
        double x = f->data.list[i].value[0];
        lo = x > 0 ? fmin(lo, x) : lo;
        hi = fmax(hi, x);
    }
    return hi > 0 ? trained_widen(axis_log(lo, hi), 0.03) : axis_bars(hi);
}

/* Points, for on a log axis bars would have lengths that mean nothing. */
static void paint(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct need_fig *f = of;

    (void)box;
    for (int32_t i = 0; i < f->n_methods; i++) {
        const struct trained_row *row = find_row(f, panel, i);
        if (!row || !(row->value[0] > 0))
            continue;
        canvas_point(c, row->value[0], i + 0.5);
    }
    canvas_block_end(c, (struct mark){ MARK_POINT, 0 });
}

static int draw_points(struct need_fig *f, struct err *e)
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
                                .x_label = text_str(&f->label),
                                .paint = paint,
                                .of = f };
    if (f->methods.n > f->n_methods)
        canvas_note(f->c, "first %d of %d methods", (int)f->n_methods, (int)f->methods.n);
    return strips_build(f->c, &spec, e);
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
    const struct grid_metric metric = { .label = text_str(&f->need), .unit = "GB/s", .low_is_better = true };
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
        series[k] = (struct grid_series){ name, trained_line_style(row->method) };
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
        trained_put_notes(c, &f.data);
        rc = put_label(&f, r, e);
    }
    if (!rc)
        rc = put_delay(&f, r, e);
    if (!rc)
        rc = axis < 0 ? draw_points(&f, e) : draw_lines(&f, r, axis, e);
    text_free(&f.need);
    text_free(&f.label);
    for (int32_t k = 0; k < MAX_POINTS; k++)
        text_free(&f.names[k]);
    for (int32_t i = 0; i < MAX_POINTS * MAX_METHODS; i++)
        text_free(&f.ends[i]);
    names_free(&f.methods);
    trained_free(&f.data);
    return rc;
}
