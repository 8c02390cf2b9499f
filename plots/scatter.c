#include "plots/scatter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/axis.h"

enum {
    MAX_PANELS = 9,
    MAX_IN_ROW = 3,
    PANEL_PX = 240,
    LEAST_PANEL_PX = 110,
    Y_TICS_PX = 44,
    MAX_LABELS = 12, /* of one front */
    MARKER_PX = 5,   /* half a marker with some air */
    LABEL_PX = 15,   /* height */
};

struct scatter {
    struct canvas *c;
    const struct scatter_point *all; /* shape [n_all] */
    int64_t n_all;
    const struct scatter_spec *spec;
    int32_t n_panels, n_columns, n_rows;
    struct unit usd;
    struct scatter_point *points; /* shape [n_all], owned: one panel's [unit of usd, y] */
    struct scatter_point *front;  /* shape [n_all], owned: one panel's, by rising cost */
    struct canvas_box body;
    bool any_hollow;
};

/* A panel while it is drawn: what its labels must keep clear of. */
struct panel {
    struct canvas_box box;
    struct axis x, y;
    struct canvas_box labels[MAX_LABELS];
    enum canvas_align align[MAX_LABELS];
    int32_t n_labels;
    int64_t n_front, n_points;
};

static void survey(struct scatter *s)
{
    double most_usd = 0;

    for (int64_t i = 0; i < s->n_all; i++) {
        most_usd = fmax(most_usd, s->all[i].at.x);
        s->any_hollow = s->any_hollow || s->all[i].hollow;
    }
    s->usd = unit_pick(unit_usd, most_usd);
    s->n_panels = s->spec->n_panels < MAX_PANELS ? s->spec->n_panels : MAX_PANELS;
    s->n_rows = (s->n_panels + MAX_IN_ROW - 1) / MAX_IN_ROW;
    s->n_columns = (s->n_panels + s->n_rows - 1) / s->n_rows; /* rows as even as can be: four are 2 x 2 */
}

/* Points of one panel, filled and hollow or of one kind, of one series or (series = -1) all. */
static int64_t gather_points(struct scatter *s, int32_t panel, int32_t series, bool filled, bool hollow)
{
    int64_t n = 0;

    for (int64_t i = 0; i < s->n_all; i++) {
        const struct scatter_point *p = &s->all[i];
        if (p->panel != panel || (series >= 0 && p->series != series) || !(p->hollow ? hollow : filled))
            continue;
        s->points[n] = *p;
        s->points[n++].at.x /= s->usd.scale;
    }
    return n;
}

/* Of equal points the first of the table comes first. */
static int compare_cost(const void *a, const void *b)
{
    const struct scatter_point *p = a, *q = b;

    if (p->at.x != q->at.x)
        return p->at.x < q->at.x ? -1 : 1;
    if (p->at.y != q->at.y)
        return p->at.y > q->at.y ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

static int compare_low(const void *a, const void *b)
{
    const struct scatter_point *p = a, *q = b;

    if (p->at.x == q->at.x && p->at.y != q->at.y)
        return p->at.y < q->at.y ? -1 : 1;
    return compare_cost(a, b);
}

static int compare_series(const void *a, const void *b)
{
    const struct scatter_point *p = a, *q = b;

    if (p->series != q->series)
        return p->series < q->series ? -1 : 1;
    return compare_cost(a, b);
}

/* The points that no other beats in both, by rising cost. */
static int64_t find_front(struct scatter *s, int32_t w)
{
    int64_t n = gather_points(s, w, -1, true, false), kept = 0;

    bool low = s->spec->low_is_better;
    qsort(s->points, (size_t)n, sizeof *s->points, low ? compare_low : compare_cost);
    for (int64_t i = 0; i < n; i++) {
        struct canvas_xy at = s->points[i].at;
        if (kept > 0 && !(low ? at.y < s->front[kept - 1].at.y : at.y > s->front[kept - 1].at.y))
            continue;
        /* Costs that differ by rounding only are one. */
        kept -= kept > 0 && at.x - s->front[kept - 1].at.x < AXIS_SAME * at.x;
        s->front[kept++] = s->points[i];
    }
    return kept;
}

/* What one gets for a given cost: a staircase, level until the next design can be paid. */
static void put_front(struct scatter *s, const struct panel *p)
{
    if (p->n_front == 0)
        return;
    for (int64_t i = 0; i < p->n_front; i++) {
        canvas_point(s->c, s->front[i].at.x, s->front[i].at.y);
        canvas_point(s->c, i + 1 < p->n_front ? s->front[i + 1].at.x : p->x.hi, s->front[i].at.y);
    }
    canvas_block_end(s->c, (struct mark){ MARK_FRONT, 0 });
}

static void put_points(struct scatter *s, int32_t panel, int32_t series, enum mark_kind kind)
{
    int64_t n = gather_points(s, panel, series, kind != MARK_HOLLOW, kind == MARK_HOLLOW);

    if (n == 0)
        return;
    if (kind == MARK_LINE)
        qsort(s->points, (size_t)n, sizeof *s->points, compare_cost);
    for (int64_t i = 0; i < n; i++)
        canvas_point(s->c, s->points[i].at.x, s->points[i].at.y);
    canvas_block_end(s->c, (struct mark){ kind, s->spec->styles ? s->spec->styles[series] : series });
}

static void fit_axes(const struct scatter *s, struct panel *p)
{
    struct canvas_xy lo = { HUGE_VAL, HUGE_VAL }, hi = { 0, 0 };

    for (int64_t i = 0; i < p->n_points; i++) {
        struct canvas_xy at = s->points[i].at;
        lo = (struct canvas_xy){ fmin(lo.x, at.x), fmin(lo.y, at.y) };
        hi = (struct canvas_xy){ fmax(hi.x, at.x), fmax(hi.y, at.y) };
    }
    p->x = axis_fit(lo.x, hi.x);
    p->y = axis_fit(lo.y, hi.y);
    if (s->spec->label && !p->y.log) { /* room for labels at the best and the worst */
        double room = 0.1 * (p->y.hi - p->y.lo);
        p->y.hi += room;
        p->y.lo -= p->y.lo > room ? room : 0;
    }
}

static struct canvas_xy to_px(const struct panel *p, struct canvas_xy at)
{
    return (struct canvas_xy){ p->box.left + axis_share(&p->x, at.x) * (p->box.right - p->box.left),
                               p->box.bottom - axis_share(&p->y, at.y) * (p->box.bottom - p->box.top) };
}

static bool overlap(const struct canvas_box *a, const struct canvas_box *b)
{
    return a->left < b->right && b->left < a->right && a->top < b->bottom && b->top < a->bottom;
}

/* Whether a step of the front, level from point i and up to point i + 1, runs through the box. */
static bool crosses_front(const struct scatter *s, const struct panel *p, const struct canvas_box *box)
{
    for (int64_t i = 0; i < p->n_front; i++) {
        struct canvas_xy from = to_px(p, s->front[i].at), to = { p->box.right, from.y };
        if (i + 1 < p->n_front)
            to = to_px(p, s->front[i + 1].at);
        struct canvas_box level = { from.x, from.y - 1, to.x, from.y + 1 },
                          rise = { to.x - 1, fmin(to.y, from.y), to.x + 1, fmax(to.y, from.y) };
        if (overlap(box, &level) || overlap(box, &rise))
            return true;
    }
    return false;
}

/* Whether the way from a to b runs through the box: what is left of it between the box's sides, in shares. */
static bool crosses(const struct canvas_box *box, struct canvas_xy a, struct canvas_xy b)
{
    const double from[] = { a.x, a.y }, way[] = { b.x - a.x, b.y - a.y };
    const double low[] = { box->left, box->top }, high[] = { box->right, box->bottom };
    double first = 0, last = 1;

    for (int k = 0; k < 2; k++) {
        if (fabs(way[k]) < 1e-9) {
            if (from[k] < low[k] || from[k] > high[k])
                return false;
            continue;
        }
        double in = (low[k] - from[k]) / way[k], out = (high[k] - from[k]) / way[k];
        first = fmax(first, fmin(in, out));
        last = fmin(last, fmax(in, out));
    }
    return first <= last;
}

/* The points lie by series and cost when they are joined. */
static bool crosses_line(const struct scatter *s, const struct panel *p, const struct canvas_box *box)
{
    for (int64_t i = 1; i < p->n_points && s->spec->lines; i++)
        if (s->points[i].series == s->points[i - 1].series &&
            crosses(box, to_px(p, s->points[i - 1].at), to_px(p, s->points[i].at)))
            return true;
    return false;
}

static bool is_free(const struct scatter *s, const struct panel *p, const struct canvas_box *box)
{
    if (box->left < p->box.left + 2 || box->right > p->box.right - 2 || box->top < p->box.top + 1 ||
        box->bottom > p->box.bottom - 2)
        return false;
    for (int32_t i = 0; i < p->n_labels; i++)
        if (overlap(box, &p->labels[i]))
            return false;
    for (int64_t i = 0; i < p->n_points; i++) {
        struct canvas_xy at = to_px(p, s->points[i].at);
        struct canvas_box marker = { at.x - MARKER_PX, at.y - MARKER_PX, at.x + MARKER_PX, at.y + MARKER_PX };
        if (overlap(box, &marker))
            return false;
    }
    return !crosses_front(s, p, box) && !crosses_line(s, p, box);
}

/* Room for a label beside a point. Above to the left nothing filled can be, else it would be on the front;
 * then above, and below to the right. Where low is better the same holds upside down. */
static bool place_label(const struct scatter *s, struct panel *p, struct canvas_xy at, double width)
{
    bool low = s->spec->low_is_better;
    double beyond = low ? MARKER_PX : -MARKER_PX - LABEL_PX, back = low ? -MARKER_PX - LABEL_PX : MARKER_PX;
    const struct canvas_xy corners[] = { { at.x - 3 - width, at.y + beyond },
                                         { at.x - MARKER_PX - 2 - width, at.y - LABEL_PX * 0.5 },
                                         { at.x + 3, at.y + beyond },
                                         { at.x + MARKER_PX, at.y + back } };

    for (size_t i = 0; i < sizeof corners / sizeof *corners; i++) {
        struct canvas_box box = { corners[i].x, corners[i].y, corners[i].x + width, corners[i].y + LABEL_PX };
        if (!is_free(s, p, &box))
            continue;
        p->align[p->n_labels] = i < 2 ? ALIGN_RIGHT : ALIGN_LEFT;
        p->labels[p->n_labels++] = box;
        return true;
    }
    return false;
}

/* False when there is no room. */
static bool put_label(struct scatter *s, struct panel *p, struct canvas_xy at, const char *label)
{
    if (!place_label(s, p, at, canvas_width(label, CANVAS_SMALL_PX)))
        return false;
    const struct canvas_box *box = &p->labels[p->n_labels - 1];
    enum canvas_align align = p->align[p->n_labels - 1];
    struct canvas_label where = { .x_px = align == ALIGN_LEFT ? box->left : box->right,
                                  .y_px = (box->top + box->bottom) / 2,
                                  .align = align,
                                  .size_px = CANVAS_SMALL_PX,
                                  .color = CANVAS_GREY };
    canvas_text(s->c, &where, label);
    return true;
}

static bool is_new(struct text *last, const struct text *label)
{
    if (label->n == 0 || strcmp(text_str(label), text_str(last)) == 0)
        return false;
    text_clear(last);
    text_puts(last, text_str(label));
    return true;
}

/* Where the text changes along the front: all of it, else the short form, where there is room. */
static void put_labels(struct scatter *s, struct panel *p)
{
    struct text label = { 0 }, last[2] = { { 0 }, { 0 } };

    for (int64_t i = 0; i < p->n_front && p->n_labels < MAX_LABELS; i++) {
        struct canvas_xy at = to_px(p, s->front[i].at);
        for (int k = 0; k < 2; k++) {
            text_clear(&label);
            s->spec->label(&label, s->spec->of, s->front[i].item, k == 1);
            if (!is_new(&last[k], &label) || put_label(s, p, at, text_str(&label)))
                break;
        }
    }
    s->c->script.failed = s->c->script.failed || label.failed || last[0].failed || last[1].failed;
    text_free(&label);
    text_free(&last[0]);
    text_free(&last[1]);
}

static void put_name(struct scatter *s, const struct panel *p, int32_t panel)
{
    struct canvas_label at = { .x_px = (p->box.left + p->box.right) / 2,
                               .y_px = p->box.top - CANVAS_STRIP_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .room_px = p->box.right - p->box.left + Y_TICS_PX,
                               .color = CANVAS_BLACK };
    if (s->spec->panels[panel][0])
        canvas_text(s->c, &at, s->spec->panels[panel]);
}

static void put_panel(struct scatter *s, int32_t w)
{
    double width = (s->body.right - s->body.left - CANVAS_Y_LABEL_PX) / s->n_columns;
    double height = (s->body.bottom - s->body.top - CANVAS_X_LABEL_PX) / s->n_rows;
    int32_t column = w % s->n_columns, row = w / s->n_columns;
    double left = s->body.left + CANVAS_Y_LABEL_PX + column * width, top = s->body.top + row * height;
    double strip_px = s->n_panels > 1 || s->spec->panels[0][0] ? CANVAS_STRIP_PX : 6;
    struct panel p = { .box = { left + Y_TICS_PX, top + strip_px, left + width - 8,
                                top + height - CANVAS_X_TICS_PX } };

    p.n_front = find_front(s, w);
    p.n_points = gather_points(s, w, -1, true, true);
    if (s->spec->lines)
        qsort(s->points, (size_t)p.n_points, sizeof *s->points, compare_series);
    fit_axes(s, &p);
    canvas_panel(s->c, &p.box, &p.x, &p.y);
    put_name(s, &p, w);
    if (s->spec->label)
        put_labels(s, &p);
    for (int32_t k = 0; k < s->spec->n_series && s->spec->lines; k++)
        put_points(s, w, k, MARK_LINE);
    put_front(s, &p);
    for (int32_t k = 0; k < s->spec->n_series && !s->spec->lines; k++) {
        put_points(s, w, k, MARK_HOLLOW);
        put_points(s, w, k, MARK_POINT);
    }
    canvas_draw(s->c);
}

static void put_axis_labels(struct scatter *s)
{
    struct text label = { 0 };
    text_printf(&label, "network cost [%s]", s->usd.name);
    canvas_axis_labels(s->c, &s->body, text_str(&label), s->spec->y_label);
    text_free(&label);
}

static void put_notes(struct scatter *s)
{
    if (s->any_hollow && s->spec->hollow_note)
        canvas_note(s->c, "%s", s->spec->hollow_note);
    if (s->spec->n_panels > s->n_panels)
        canvas_note(s->c, "first %d of %d %s", (int)s->n_panels, (int)s->spec->n_panels, s->spec->panel_word);
}

static int draw(struct scatter *s, struct err *e)
{
    double panel_px = s->n_panels == 1 ? 1.4 * PANEL_PX : PANEL_PX;

    canvas_legend(s->c, (struct mark){ MARK_FRONT, 0 }, "Pareto front");
    for (int32_t k = 0; k < s->spec->n_series; k++)
        canvas_legend(s->c,
                      (struct mark){ s->spec->lines ? MARK_LINE : MARK_POINT,
                                     s->spec->styles ? s->spec->styles[k] : k },
                      s->spec->series[k]);
    put_notes(s);
    int rc = canvas_open(s->c, &s->body, s->n_rows * panel_px + CANVAS_X_LABEL_PX,
                         s->n_rows * LEAST_PANEL_PX + CANVAS_X_LABEL_PX, e);
    if (rc)
        return rc;
    put_axis_labels(s);
    for (int32_t w = 0; w < s->n_panels; w++)
        put_panel(s, w);
    canvas_close(s->c);
    return 0;
}

int scatter_build(struct canvas *c, const struct scatter_point *points, int64_t n,
                  const struct scatter_spec *spec, struct err *e)
{
    struct scatter s = { .c = c, .all = points, .n_all = n, .spec = spec };
    size_t room = n > 0 ? (size_t)n : 1;

    s.points = calloc(room, sizeof *s.points);
    s.front = calloc(room, sizeof *s.front);
    int rc = s.points && s.front ? 0 : err_nomem(e, "the figure's points");
    if (!rc) {
        survey(&s);
        rc = draw(&s, e);
    }
    free(s.points);
    free(s.front);
    return rc;
}
