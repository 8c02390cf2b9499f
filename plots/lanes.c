/*
 * Rows of spans over one axis. An SVG of a million spans would be unreadable and huge: spans shorter than a
 * tolerance are folded to one per colour, in place, with the sum of lengths of each colour kept; the
 * tolerance doubles until few are left.
 *
 * What the eye takes from lanes of a million spans is how much of each colour there is and where; so lengths
 * are kept and positions are not, by less than a tolerance of a quarter of a pixel at first. Folding by
 * sampling (the colour at each pixel) would lose what is short and frequent.
 */
#include "plots/lanes.h"

#include <math.h>

enum {
    PANEL_GAP_PX = 8,
    LABEL_PX = 11, /* a label's height: rows that are lower have one for several */
    RIGHT_PX = 14, /* half of the last number below the axis */
    FEW_ROWS = 30, /* of all panels together: as many are higher */
    HIGH_PX = 21,
    LOW_PX = 16,
    LEAST_PX = 11,
    ABOVE_PX = 14,       /* of a label above its row */
    LEAST_LABEL_PX = 150 /* "stages 2-15: compute", also on a narrow page */
};

/* ---- the page ---- */

struct strips_page {
    struct canvas *c;
    const struct strips *spec;
    double label_px, end_px, around_px; /* around_px: height of what stands around the panels */
    bool above;                         /* labels stand above their rows */
    struct canvas_box body;
};

static struct canvas_box strips_box(const struct strips_page *s, int32_t panel)
{
    double height = (s->body.bottom - s->body.top - s->around_px) / s->spec->n_panels;
    double top = s->body.top + panel * (height + CANVAS_STRIP_PX + PANEL_GAP_PX) + CANVAS_STRIP_PX;

    return (struct canvas_box){ s->body.left + s->label_px + 8, top,
                                s->body.right - fmax(s->end_px + 8, RIGHT_PX), top + height };
}

/* Where a row begins in y; the one after the last is the end. */
static double top_of(const struct strips *spec, int32_t row)
{
    return spec->tops ? spec->tops[row] : row;
}

static const char *end_of_row(const struct strips *spec, int32_t panel, int32_t row)
{
    return spec->ends[(int64_t)panel * spec->n_rows + row];
}

static void fit_sides(struct strips_page *s)
{
    const struct strips *spec = s->spec;

    s->around_px = spec->n_panels * CANVAS_STRIP_PX + (spec->n_panels - 1) * PANEL_GAP_PX + CANVAS_X_TICS_PX +
                   CANVAS_X_LABEL_PX;
    s->end_px = spec->plain ? spec->end_px : canvas_width(spec->end_label, CANVAS_SMALL_PX);
    for (int32_t i = 0; i < spec->n_rows; i++) {
        s->label_px = fmax(s->label_px, canvas_width(spec->labels[i], CANVAS_SMALL_PX));
        for (int32_t k = 0; k < spec->n_panels; k++)
            if (end_of_row(spec, k, i))
                s->end_px = fmax(s->end_px, canvas_width(end_of_row(spec, k, i), CANVAS_SMALL_PX));
    }
    double share = spec->label_share > 0 ? spec->label_share : spec->plain ? 1 / 4.0 : 1 / 3.5;
    double most_px = fmax(share * s->c->width_px, fmin(LEAST_LABEL_PX, s->c->width_px / 2));
    s->above = spec->head && CANVAS_LEAST_SHRINK * s->label_px > most_px;
    s->label_px = s->above ? 0 : fmin(s->label_px, most_px);
}

static void strips_put_head(struct strips_page *s, int32_t k, const struct canvas_box *box)
{
    struct canvas_label at = { .x_px = box->left,
                               .y_px = box->top - CANVAS_STRIP_PX * 0.5,
                               .room_px = box->right - box->left - (s->spec->plain ? 0 : s->end_px) };

    /* From the edge of the page where it would be cut. */
    if (CANVAS_LEAST_SHRINK * canvas_width(s->spec->names[k], CANVAS_FONT_PX) > at.room_px) {
        at.room_px += at.x_px - s->body.left;
        at.x_px = s->body.left;
    }
    canvas_text(s->c, &at, s->spec->names[k]);
    at = (struct canvas_label){ .x_px = s->body.right,
                                .y_px = at.y_px,
                                .align = ALIGN_RIGHT,
                                .size_px = CANVAS_SMALL_PX,
                                .color = CANVAS_GREY };
    if (k == 0)
        canvas_text(s->c, &at, s->spec->end_label);
}

static void put_sides(struct strips_page *s, int32_t k, const struct canvas_box *box)
{
    double unit_px = (box->bottom - box->top) / top_of(s->spec, s->spec->n_rows), last_px = -HUGE_VAL;
    double head_px = s->above ? *s->spec->head * unit_px : 0;
    struct canvas_label at = { .size_px = CANVAS_SMALL_PX };

    for (int32_t i = 0; i < s->spec->n_rows; i++) {
        const char *end = end_of_row(s->spec, k, i);
        double y_px = box->top + (top_of(s->spec, i) + top_of(s->spec, i + 1)) / 2 * unit_px;
        at.x_px = s->above ? box->left + 3 : box->left - 6;
        at.y_px = s->above ? box->top + i * unit_px + head_px * 0.6 : y_px;
        at.align = s->above ? ALIGN_LEFT : ALIGN_RIGHT;
        /* A label for each row that is far enough below the last one that has a label; its number at the
         * right goes with it. */
        if (!s->spec->plain && y_px < last_px + LABEL_PX - 1e-9)
            continue;
        last_px = y_px;
        /* Within the panel, if that is enough when set small; else up to the edge of the page. */
        bool inside =
            CANVAS_LEAST_SHRINK * canvas_width(s->spec->labels[i], CANVAS_SMALL_PX) <= box->right - at.x_px;
        at.room_px = !s->above ? s->label_px + 1 : (inside ? box->right : s->body.right) - at.x_px;
        canvas_text(s->c, &at, s->spec->labels[i]);
        at.x_px = s->body.right;
        at.y_px = y_px + head_px / 2;
        at.align = ALIGN_RIGHT;
        at.room_px = 0;
        if (end)
            canvas_text(s->c, &at, end);
    }
}

/* Lines between rows, where they do not fill the panel. */
static void strips_put_rules(struct strips_page *s, const struct canvas_box *box)
{
    if (s->spec->plain || (box->bottom - box->top) / s->spec->n_rows < LABEL_PX)
        return;
    for (int32_t i = 1; i < s->spec->n_rows; i++) {
        canvas_break(s->c);
        canvas_point(s->c, s->spec->x.lo, top_of(s->spec, i));
        canvas_point(s->c, s->spec->x.hi, top_of(s->spec, i));
    }
    canvas_block_end(s->c, (struct mark){ MARK_RULE, 0 });
}

int strips_build(struct canvas *c, const struct strips *spec, struct err *e)
{
    struct strips_page s = { .c = c, .spec = spec };
    int32_t n = spec->n_panels;
    /* "Units" of y: rows of height 1 where `tops` is NULL, else whatever `tops` counts in, often pixels. */
    double units = n * top_of(spec, spec->n_rows), unit_px = spec->unit_px, least_px = spec->least_unit_px;

    if (unit_px <= 0) {
        unit_px = n * spec->n_rows <= FEW_ROWS ? HIGH_PX : LOW_PX;
        least_px = LEAST_PX;
    }
    fit_sides(&s);
    if (spec->head)
        *spec->head = s.above ? ABOVE_PX / (unit_px + ABOVE_PX) : 0;
    unit_px += s.above ? ABOVE_PX : 0;
    least_px += s.above ? ABOVE_PX : 0;
    int rc = canvas_open(c, &s.body, units * unit_px + s.around_px, units * least_px + s.around_px, e);
    if (rc)
        return rc;
    struct canvas_box last = strips_box(&s, n - 1);
    canvas_x_label(c, last.left, last.right, last.bottom + CANVAS_X_TICS_PX + CANVAS_X_LABEL_PX * 0.5, 0,
                   spec->x_label);
    for (int32_t k = 0; k < n; k++) {
        struct canvas_box box = strips_box(&s, k);
        const struct axis y = { .lo = top_of(spec, spec->n_rows), .bare = true };
        struct axis x = spec->xs ? spec->xs[k] : spec->x;
        x.hide = k + 1 < n;
        canvas_panel(c, &box, &x, &y);
        strips_put_head(&s, k, &box);
        put_sides(&s, k, &box);
        strips_put_rules(&s, &box);
        spec->paint(c, &box, k, spec->of);
        canvas_draw(c);
    }
    canvas_close(c);
    return 0;
}

/* ---- folding ---- */

/*
 * Spans i..end-1 of less than a tolerance together, as one per colour in place at out; how many. The colour
 * that stands before them comes first, so that it goes on. Never more spans than there were, so it is safe in
 * place: out <= i. The idle time between them is pushed to the end of the stretch.
 */
static int64_t gather_colours(struct lane_span *spans, int64_t i, int64_t end, int64_t out)
{
    double sums[SPAN_PAINTS] = { 0 }, at = spans[i].start;
    int32_t order[SPAN_PAINTS], n = 0, before = out > 0 ? spans[out - 1].paint : -1;

    for (; i < end; i++) {
        int32_t paint = spans[i].paint;
        bool seen = false;
        for (int32_t k = 0; k < n; k++)
            seen = seen || order[k] == paint;
        sums[paint] += spans[i].end - spans[i].start;
        if (seen)
            continue;
        order[n++] = paint;
        if (paint == before) {
            order[n - 1] = order[0];
            order[0] = paint;
        }
    }
    for (int32_t k = 0; k < n; k++) {
        spans[out++] = (struct lane_span){ at, at + sums[order[k]], order[k], false };
        at += sums[order[k]];
    }
    return n;
}

/* A stretch begins with a span and takes those that end within a tolerance of its start; one span alone is
 * left as it is, be it short. */
static int64_t gather_close(struct lane_span *spans, int64_t n, double tolerance)
{
    int64_t out = 0;

    for (int64_t i = 0; i < n;) {
        int64_t end = i;
        while (end < n && !spans[end].alone && spans[end].end - spans[i].start <= tolerance)
            end++;
        if (end - i > 1) {
            out += gather_colours(spans, i, end, out);
            i = end;
        } else {
            spans[out++] = spans[i++];
        }
    }
    return out;
}

/* Neighbours of one colour become one. */
static int64_t close_gaps(struct lane_span *spans, int64_t n, double tolerance)
{
    int64_t out = 0;

    for (int64_t i = 0; i < n; i++) {
        struct lane_span *last = out > 0 ? &spans[out - 1] : NULL, s = spans[i];
        bool same = last && !s.alone && !last->alone && s.paint == last->paint;
        /* What was closed before lies in this gap too: it is how far s would move. */
        if (same && s.start - last->end <= tolerance)
            last->end += s.end - s.start;
        else
            spans[out++] = s;
    }
    return out;
}

#define FINEST_PX 0.25 /* first tolerance of folding */

void lanes_fold(struct lane *lanes, int64_t n, int64_t most, double px, double coarsest_px)
{
    int64_t left = INT64_MAX;

    /* NOLINTNEXTLINE(cert-flp30-c): powers of two are exact */
    for (double tolerance = FINEST_PX; left > most && tolerance <= coarsest_px; tolerance *= 2) {
        left = 0;
        for (int64_t k = 0; k < n; k++) {
            int64_t close = gather_close(lanes[k].spans, lanes[k].n, tolerance * px);
            left += lanes[k].n = close_gaps(lanes[k].spans, close, tolerance * px);
        }
    }
}

void lanes_put(struct canvas *c, const struct lane *lanes, int64_t n, int32_t panel, int32_t paint,
               struct mark mark)
{
    for (int64_t k = 0; k < n; k++) {
        bool any = false;
        for (int64_t i = 0; i < lanes[k].n && lanes[k].panel == panel; i++) {
            const struct lane_span *s = &lanes[k].spans[i];
            if (s->paint != paint)
                continue;
            if (!any || c->opt->format == PLOT_PDF)
                canvas_break(c);
            any = true;
            canvas_area(c, s->start, lanes[k].low, s->end, lanes[k].top);
        }
    }
    canvas_block_end(c, mark);
}

/* ---- loads as shades ---- */

/* Shades of five fifths, light to dark, with a step between that shows. */
static const int32_t shades[LOAD_PAINTS] = { 0, 6, 4, 3, 1, 0, SHADE_OVER };

/* The tolerance in ceil() is for fifths that are not exact in binary: 0.6 is up to 60 %. */
int32_t lanes_load_paint(double load_frac)
{
    if (!(load_frac > 0))
        return 0;
    /* Sums of reservations exceed a full link by rounding alone. */
    if (load_frac > 1 + AXIS_SAME)
        return LOAD_PAINTS - 1;
    return (int32_t)fmin(5, fmax(1, ceil(5 * load_frac - 1e-9)));
}

void loads_put_legend(struct canvas *c, const bool *used)
{
    static const char *const labels[LOAD_PAINTS] = { "",     "up to 20 %", "40 %",    "60 %",
                                                     "80 %", "100 %",      "overload" };

    for (int32_t i = 1; i < LOAD_PAINTS; i++)
        if (used[i])
            canvas_legend(c, (struct mark){ MARK_TINT, shades[i] }, labels[i]);
}

/* Of all rows of a panel together: an SVG stays below half a megabyte a panel. */
enum { MAX_SPANS = 4000, COARSEST_PX = 8 };

void loads_put(struct canvas *c, struct lane *lanes, int64_t n, int32_t panel, double px)
{
    lanes_fold(lanes, n, MAX_SPANS, px, COARSEST_PX);
    for (int32_t paint = 1; paint < LOAD_PAINTS; paint++)
        lanes_put(c, lanes, n, panel, paint, (struct mark){ MARK_TINT, shades[paint] });
}
