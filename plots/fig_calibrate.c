#include "plots/fig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plots/axis.h"

enum {
    MAX_CURVES = 12,
    PANEL_PX = 270,
    ERROR_PX = 130,
    LEAST_PANEL_PX = 110,
    LEAST_ERROR_PX = 60,
    GAP_PX = 12,
    Y_TICS_PX = 46,
};

/* What tells one curve from another. */
enum part { PART_CURVE, PART_COLLECTIVE, PART_RANKS, PART_FILE, N_PARTS };

struct curve_point {
    int32_t curve;
    double bytes, measured, model, error_frac;
    int32_t regime; /* the model may jump from one to the next; 0 where the table does not say */
};

struct calibrate {
    struct canvas *c;
    bool bus;                    /* bus bandwidth is drawn, else time */
    struct names parts[N_PARTS]; /* owned texts */
    struct names curves;         /* owned: the parts of a curve as one text, which is unique */
    int32_t (*ids)[N_PARTS];     /* shape [curves.n], owned: index into `parts` */
    int32_t cap_ids;
    struct curve_point *points; /* shape [n], owned; by curve, then by size */
    int64_t n, n_blank;
    struct axis x, y, error;
};

/* Columns by position; those that the table need not have are -1. */
struct columns {
    int32_t part[N_PARTS], bytes, time_us, model_us, busbw, model_busbw, regime;
};

static void find_columns(struct columns *at, const struct table *t)
{
    static const char *const parts[N_PARTS] = { "curve", "collective", "ranks", "file" };

    for (int i = 0; i < N_PARTS; i++)
        at->part[i] = table_find(t, parts[i]);
    at->bytes = table_find(t, "bytes");
    at->time_us = table_find(t, "time_us");
    at->model_us = table_find(t, "model_us");
    at->busbw = table_find(t, "busbw_GBps");
    at->model_busbw = table_find(t, "model_busbw_GBps");
    at->regime = table_find(t, "regime");
}

static int read_curve(struct calibrate *f, int32_t *curve, const struct rows *r, const struct columns *at,
                      struct err *e)
{
    int32_t id[N_PARTS] = { -1, -1, -1, -1 };
    struct text key = { 0 };
    int rc = 0;

    for (int i = 0; i < N_PARTS && !rc; i++) {
        if (at->part[i] >= 0)
            rc = rows_name(&id[i], &f->parts[i], r, at->part[i], e);
        text_printf(&key, "%d ", (int)id[i]);
    }
    if (!rc)
        rc = text_check(&key, e);
    if (!rc) {
        int32_t before = f->curves.n;
        int32_t(*ids)[N_PARTS] = array_grow(f->ids, before, &f->cap_ids, sizeof *ids);
        f->ids = ids ? ids : f->ids;
        *curve = ids ? names_add_copy(&f->curves, text_str(&key)) : -1;
        rc = *curve < 0 ? err_nomem(e, "the figure's curves") : 0;
        if (!rc && f->curves.n > before)
            memcpy(f->ids[before], id, sizeof id);
    }
    text_free(&key);
    return rc;
}

/* One row that passes the filters. */
static int read_point(struct calibrate *f, const struct rows *r, const struct columns *at, struct err *e)
{
    struct curve_point *p = &f->points[f->n];
    double time_us, model_us;
    int rc = rows_above_zero(&p->bytes, r, at->bytes, e);

    if (!rc)
        rc = rows_above_zero(&time_us, r, at->time_us, e);
    if (!rc)
        rc = rows_above_zero(&model_us, r, at->model_us, e);
    if (rc)
        return rc;
    p->measured = time_us;
    p->model = model_us;
    p->error_frac = model_us / time_us - 1;
    if (f->bus)
        rc = rows_above_zero(&p->measured, r, at->busbw, e);
    if (!rc && f->bus)
        rc = rows_above_zero(&p->model, r, at->model_busbw, e);
    if (!rc && at->regime >= 0)
        rc = rows_count(&p->regime, r, at->regime, INT32_MAX, e);
    if (rc)
        return rc;
    if (!isfinite(p->bytes) || !isfinite(p->error_frac) || !isfinite(p->measured) || !isfinite(p->model)) {
        f->n_blank++;
        return 0;
    }
    rc = read_curve(f, &p->curve, r, at, e);
    f->n += !rc && p->curve < MAX_CURVES;
    return rc;
}

static int compare_points(const void *a, const void *b)
{
    const struct curve_point *x = a, *y = b;

    if (x->curve != y->curve)
        return x->curve < y->curve ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int read_points(struct calibrate *f, const struct rows *rows, struct err *e)
{
    struct rows r = *rows;
    struct columns at;
    int64_t n_passed = 0;
    int rc = 0;

    find_columns(&at, r.t);
    f->bus = at.busbw >= 0 && at.model_busbw >= 0;
    f->points = calloc((size_t)r.t->n_rows + 1, sizeof *f->points);
    if (!f->points)
        return err_nomem(e, "the figure's points");
    for (r.row = 0; r.row < r.t->n_rows && !rc; r.row++) {
        if (!rows_pass(&r))
            continue;
        n_passed++;
        rc = read_point(f, &r, &at, e);
    }
    if (!rc && f->n == 0)
        rc = rows_none_left(&r, n_passed, f->n_blank, "", e);
    if (!rc)
        qsort(f->points, (size_t)f->n, sizeof *f->points, compare_points);
    return rc;
}

static void fit_axes(struct calibrate *f)
{
    struct canvas_xy lo = { HUGE_VAL, HUGE_VAL }, hi = { 0, 0 };
    double worst = 0;

    for (int64_t i = 0; i < f->n; i++) {
        const struct curve_point *p = &f->points[i];
        lo = (struct canvas_xy){ fmin(lo.x, p->bytes), fmin(lo.y, fmin(p->measured, p->model)) };
        hi = (struct canvas_xy){ fmax(hi.x, p->bytes), fmax(hi.y, fmax(p->measured, p->model)) };
        worst = fmax(worst, 100 * fabs(p->error_frac));
    }
    f->x = axis_bytes(lo.x, hi.x);
    f->y = axis_log(lo.y, hi.y);
    /* Below a percent measurements themselves do not repeat. */
    f->error = axis_around_zero(fmax(worst, 1));
}

/* A part of a curve in words; false when there is nothing to say. */
static bool put_part(struct text *out, const struct calibrate *f, int32_t curve, enum part part)
{
    int32_t id = f->ids[curve][part];
    const char *words = id < 0 ? "" : f->parts[part].list[id];

    if (!*words)
        return false;
    text_printf(out, "%s%s%s", out->n ? " · " : "", words, part == PART_RANKS ? " ranks" : "");
    return true;
}

/* What tells the curve from the others, or (varying = false) what all have in common. */
static void describe(struct text *out, const struct calibrate *f, int32_t curve, bool varying)
{
    for (int part = 0; part < N_PARTS; part++)
        if ((f->parts[part].n > 1) == varying)
            put_part(out, f, curve, (enum part)part);
}

static void put_notes(struct calibrate *f)
{
    struct text common = { 0 };

    describe(&common, f, 0, false);
    if (common.n)
        canvas_note(f->c, "%s", text_str(&common));
    text_free(&common);
    if (f->curves.n > 1)
        canvas_note(f->c, "markers: measured, lines: model");
    if (f->curves.n > MAX_CURVES)
        canvas_note(f->c, "first %d of %d curves", MAX_CURVES, (int)f->curves.n);
    if (f->n_blank > 0)
        canvas_note(f->c, "%lld rows lack a value and are left out", (long long)f->n_blank);
}

static void put_legend(struct calibrate *f)
{
    if (f->curves.n == 1) {
        canvas_legend(f->c, (struct mark){ MARK_POINT, 0 }, "measured");
        canvas_legend(f->c, (struct mark){ MARK_CURVE, 0 }, "model");
    }
    for (int32_t i = 0; f->curves.n > 1 && i < f->curves.n && i < MAX_CURVES; i++) {
        struct text label = { 0 };
        describe(&label, f, i, true);
        canvas_legend(f->c, (struct mark){ MARK_POINT, i }, text_str(&label));
        text_free(&label);
    }
}

/* The points of a curve from `first` on as a block: measured, model, or (kind = MARK_HOLLOW) the error.
 * The line of the model is broken between regimes. Returns where the next curve begins. */
static int64_t put_curve(struct calibrate *f, int64_t first, enum mark_kind kind)
{
    int32_t curve = f->points[first].curve;
    int64_t i = first;

    for (; i < f->n && f->points[i].curve == curve; i++) {
        const struct curve_point *p = &f->points[i];
        if (kind == MARK_CURVE && i > first && p->regime != p[-1].regime) {
            canvas_block_end(f->c, (struct mark){ kind, curve });
        }
        double y = kind == MARK_POINT ? p->measured : kind == MARK_CURVE ? p->model : 100 * p->error_frac;
        canvas_point(f->c, p->bytes, y);
    }
    canvas_block_end(f->c, (struct mark){ kind, curve });
    return i;
}

static void put_label(struct calibrate *f, const struct canvas_box *box, const char *label)
{
    struct canvas_label at = { .x_px = box->left - Y_TICS_PX - CANVAS_Y_LABEL_PX * 0.5,
                               .y_px = (box->top + box->bottom) / 2,
                               .align = ALIGN_CENTER,
                               .rotate = 90,
                               .size_px = CANVAS_FONT_PX,
                               .color = CANVAS_BLACK };
    canvas_text(f->c, &at, label);
}

static void put_curves(struct calibrate *f, const struct canvas_box *box)
{
    struct axis x = f->x;

    x.hide = true;
    canvas_panel(f->c, box, &x, &f->y);
    put_label(f, box, f->bus ? "bus bandwidth [GB/s]" : "time [µs]");
    for (int64_t i = 0; i < f->n;)
        i = put_curve(f, i, MARK_CURVE);
    for (int64_t i = 0; i < f->n;)
        i = put_curve(f, i, MARK_POINT);
    canvas_draw(f->c);
}

static void put_errors(struct calibrate *f, const struct canvas_box *box)
{
    struct canvas_label at = { .x_px = (box->left + box->right) / 2,
                               .y_px = box->bottom + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .color = CANVAS_BLACK };

    canvas_panel(f->c, box, &f->x, &f->error);
    put_label(f, box, "time error [%]");
    canvas_text(f->c, &at, "size");
    canvas_point(f->c, f->x.lo, 0);
    canvas_point(f->c, f->x.hi, 0);
    canvas_block_end(f->c, (struct mark){ MARK_RULE, 0 });
    for (int64_t i = 0; i < f->n;)
        i = put_curve(f, i, MARK_HOLLOW);
    canvas_draw(f->c);
}

static int draw(struct calibrate *f, struct err *e)
{
    double around = CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX + GAP_PX;
    struct canvas_box body;

    fit_axes(f);
    put_notes(f);
    put_legend(f);
    int rc =
        canvas_open(f->c, &body, PANEL_PX + ERROR_PX + around, LEAST_PANEL_PX + LEAST_ERROR_PX + around, e);
    if (rc)
        return rc;
    double room = body.bottom - body.top - around;
    double error_px = fmax(LEAST_ERROR_PX, room * ERROR_PX / (PANEL_PX + ERROR_PX));
    struct canvas_box top = { body.left + CANVAS_Y_LABEL_PX + Y_TICS_PX, body.top, body.right - 14,
                              body.top + room - error_px },
                      low = { top.left, top.bottom + GAP_PX, top.right, top.bottom + GAP_PX + error_px };
    put_curves(f, &top);
    put_errors(f, &low);
    canvas_close(f->c);
    return 0;
}

int fig_calibrate(struct canvas *c, const struct rows *r, struct err *e)
{
    struct calibrate f = { .c = c };
    int rc = read_points(&f, r, e);

    if (!rc)
        rc = draw(&f, e);
    for (int i = 0; i < N_PARTS; i++)
        names_free_copies(&f.parts[i]);
    names_free_copies(&f.curves);
    free(f.ids);
    free(f.points);
    return rc;
}
