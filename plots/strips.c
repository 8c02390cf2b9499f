#include "plots/strips.h"

#include <math.h>

enum {
    PANEL_GAP_PX = 8,
    LABEL_PX = 11, /* a label's height: rows that are lower have one for several */
    RIGHT_PX = 14, /* half of the last number below the axis */
};

struct strips {
    struct canvas *c;
    const struct strips_spec *spec;
    double label_px, end_px;
    struct canvas_box body;
};

static double around_px(const struct strips *s)
{
    int32_t n = s->spec->n_panels;
    return n * CANVAS_STRIP_PX + (n - 1) * PANEL_GAP_PX + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX;
}

static struct canvas_box panel_box(const struct strips *s, int32_t k)
{
    double height = (s->body.bottom - s->body.top - around_px(s)) / s->spec->n_panels;
    double top = s->body.top + k * (height + CANVAS_STRIP_PX + PANEL_GAP_PX) + CANVAS_STRIP_PX;

    return (struct canvas_box){ s->body.left + s->label_px + 8, top,
                                s->body.right - fmax(s->end_px + 8, RIGHT_PX), top + height };
}

/* Where a row begins in y; the one after the last is the end. */
static double top_of(const struct strips *s, int32_t row)
{
    return s->spec->tops ? s->spec->tops[row] : row;
}

static void fit_sides(struct strips *s)
{
    int64_t n = (int64_t)s->spec->n_panels * s->spec->n_rows;

    for (int32_t i = 0; i < s->spec->n_rows; i++)
        s->label_px = fmax(s->label_px, canvas_width(s->spec->labels[i], CANVAS_SMALL_PX));
    for (int64_t i = 0; i < n; i++)
        s->end_px = fmax(s->end_px, canvas_width(s->spec->ends[i], CANVAS_SMALL_PX));
    s->end_px = fmax(s->end_px, canvas_width(s->spec->end_label, CANVAS_SMALL_PX));
    s->label_px = fmin(s->label_px, canvas_page_width(s->c) / 3.5);
}

static void put_head(struct strips *s, int32_t k, const struct canvas_box *box)
{
    struct canvas_label at = { .x_px = box->left,
                               .y_px = box->top - CANVAS_STRIP_PX * 0.5,
                               .size_px = CANVAS_FONT_PX,
                               .room_px = box->right - box->left - s->end_px,
                               .color = CANVAS_BLACK };

    canvas_text(s->c, &at, s->spec->names[k]);
    at.x_px = s->body.right;
    at.align = ALIGN_RIGHT;
    at.size_px = CANVAS_SMALL_PX;
    at.room_px = 0;
    at.color = CANVAS_GREY;
    if (k == 0)
        canvas_text(s->c, &at, s->spec->end_label);
}

static void put_sides(struct strips *s, int32_t k, const struct canvas_box *box)
{
    double unit_px = (box->bottom - box->top) / top_of(s, s->spec->n_rows), last_px = -HUGE_VAL;
    struct canvas_label at = { .size_px = CANVAS_SMALL_PX, .color = CANVAS_BLACK };

    for (int32_t i = 0; i < s->spec->n_rows; i++) {
        at.x_px = box->left - 6;
        at.y_px = box->top + (top_of(s, i) + top_of(s, i + 1)) / 2 * unit_px;
        if (at.y_px < last_px + LABEL_PX - 1e-9)
            continue;
        last_px = at.y_px;
        at.align = ALIGN_RIGHT;
        at.room_px = s->label_px + 1;
        canvas_text(s->c, &at, s->spec->labels[i]);
        at.x_px = s->body.right;
        at.room_px = 0;
        canvas_text(s->c, &at, s->spec->ends[(int64_t)k * s->spec->n_rows + i]);
    }
}

/* Lines between rows, where they do not fill the panel. */
static void put_rules(struct strips *s, const struct canvas_box *box)
{

    if ((box->bottom - box->top) / s->spec->n_rows < LABEL_PX)
        return;
    for (int32_t i = 1; i < s->spec->n_rows; i++) {
        canvas_break(s->c);
        canvas_point(s->c, s->spec->x.lo, top_of(s, i));
        canvas_point(s->c, s->spec->x.hi, top_of(s, i));
    }
    canvas_block_end(s->c, (struct mark){ MARK_RULE, 0 });
}

static void put_panel(struct strips *s, int32_t k)
{
    struct canvas_box box = panel_box(s, k);
    struct axis x = s->spec->x;

    x.hide = k + 1 < s->spec->n_panels;
    canvas_panel(s->c, &box, &x, NULL);
    text_printf(&s->c->script, "set yrange [%.10g:0]\n", top_of(s, s->spec->n_rows));
    put_head(s, k, &box);
    put_sides(s, k, &box);
    put_rules(s, &box);
    s->spec->paint(s->c, &box, k, s->spec->of);
    canvas_draw(s->c);
}

int strips_build(struct canvas *c, const struct strips_spec *spec, struct err *e)
{
    struct strips s = { .c = c, .spec = spec };
    double n = spec->n_panels * top_of(&s, spec->n_rows), around = around_px(&s);

    fit_sides(&s);
    int rc = canvas_open(c, &s.body, n * spec->unit_px + around, n * spec->least_unit_px + around, e);
    if (rc)
        return rc;
    struct canvas_box last = panel_box(&s, spec->n_panels - 1);
    struct canvas_label at = { .x_px = (last.left + last.right) / 2,
                               .y_px = last.bottom + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .color = CANVAS_BLACK };
    canvas_text(c, &at, spec->x_label);
    for (int32_t k = 0; k < spec->n_panels; k++)
        put_panel(&s, k);
    canvas_close(c);
    return 0;
}

/* ---- loads as shades ---- */

/* Shades of five fifths, light to dark, with a step between that shows. */
static const int32_t shades[STRIPS_PAINTS] = { 0, 6, 4, 3, 1, 0, SHADE_OVER };

int32_t strips_paint(double load_frac)
{
    if (!(load_frac > 0))
        return 0;
    /* Sums of reservations exceed a full link by rounding alone. */
    if (load_frac > 1 + AXIS_SAME)
        return STRIPS_PAINTS - 1;
    return (int32_t)fmin(5, fmax(1, ceil(5 * load_frac - 1e-9)));
}

void strips_put_legend(struct canvas *c, const bool *used)
{
    static const char *const labels[STRIPS_PAINTS] = { "",     "up to 20 %", "40 %",    "60 %",
                                                       "80 %", "100 %",      "overload" };

    for (int32_t i = 1; i < STRIPS_PAINTS; i++)
        if (used[i])
            canvas_legend(c, (struct mark){ MARK_TINT, shades[i] }, labels[i]);
}

/* Of all rows of a panel together: an SVG stays below half a megabyte a panel. */
enum { MAX_SPANS = 4000 };

#define FINEST_PX   0.25 /* first tolerance of folding; doubled until the spans are few */
#define COARSEST_PX 8.0

static void fold(struct strips_row *rows, int64_t n, double px)
{
    double tolerance = FINEST_PX;
    int64_t left = INT64_MAX;

    while (left > MAX_SPANS && tolerance <= COARSEST_PX) {
        left = 0;
        for (int64_t k = 0; k < n; k++)
            left += rows[k].n = lanes_fold(rows[k].spans, rows[k].n, tolerance * px);
        tolerance *= 2;
    }
}

static void put_paint(struct canvas *c, const struct strips_row *rows, int64_t n, int32_t paint)
{
    /* One shape per row keeps an SVG small; for a PDF each box is one: fig_timeline. */
    bool apart = c->opt->format == PLOT_PDF;

    for (int64_t k = 0; k < n; k++) {
        bool any = false;
        for (int64_t i = 0; i < rows[k].n; i++) {
            const struct lanes_span *s = &rows[k].spans[i];
            if (s->paint != paint)
                continue;
            if (!any || apart)
                canvas_break(c);
            any = true;
            canvas_area(c, s->start, rows[k].row + 0.94, s->end, rows[k].row + 0.06);
        }
    }
    canvas_block_end(c, (struct mark){ MARK_TINT, shades[paint] });
}

void strips_put_rows(struct canvas *c, struct strips_row *rows, int64_t n, double px)
{
    fold(rows, n, px);
    for (int32_t paint = 1; paint < STRIPS_PAINTS; paint++)
        put_paint(c, rows, n, paint);
}
