/*
 * The front of points over cost is found by one pass over them by rising cost: a point is on it that is
 * better in y than all before. Texts lie beside points of the front where markers, steps and lines leave
 * room.
 *
 * The staircase is not a line from point to point: no design lies between two of them, and a straight line
 * would promise one. Hollow points (misfits, equal splits beyond the limits) are never on the front.
 */
#include "plots/scatter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_LABELS = 12, /* of one front */
    CELL_PX = 3,     /* of a cloud one point is drawn in a square so wide */
};

static const struct wrap_look scatter_page = { .most = 9,
                                               .in_row = 3,
                                               .panel_px = 240,
                                               .least_px = 110,
                                               .alone = 1.4,
                                               .y_tics_px = 44,
                                               .gap_px = 8,
                                               .name_px = 44,
                                               .strip_px = 6 };

struct scatter {
    struct canvas *c;
    const struct scatter_point *all; /* shape [n_all] */
    int64_t n_all;
    const struct scatter_spec *spec;
    struct unit usd;
    struct wrap page;
    struct scatter_point *points; /* shape [n_all]: one panel's [unit of usd, y] */
    struct scatter_point *front;  /* shape [n_all]: one panel's, by rising cost */
    int64_t n_points, n_front;
    struct places places;
};

/* Points of one panel, filled and hollow or of one kind, of one series or (series = -1) all. In s->points
 * until the next call; callers that need two sets at once keep the count of the first no longer. */
static int64_t scatter_gather_points(struct scatter *s, int32_t panel, int32_t series, bool filled,
                                     bool hollow)
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
    return (p->item > q->item) - (p->item < q->item);
}

/* As compare_cost(), but of equal costs the lowest first. */
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

static void mark_row(const struct scatter *s, const struct scatter_point *p)
{
    canvas_mark_row(s->c, s->spec->data->row[p->item]);
}

/* The band of measured steps around a point of a front; a block of its own. */
static void put_whiskers(const struct scatter *s, const struct scatter_point *points, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (points[i].high > points[i].low)
            canvas_bar(s->c, points[i].at.x, points[i].at.y, points[i].low, points[i].high);
    canvas_block_end(s->c, (struct mark){ MARK_WHISKER, 0 });
}

/* ---- series with looks ---- */

/* Of the n points one in each square. The first in the order of the cost stands for its square; what is seen
 * is where points are, not how many. */
static int64_t thin_cloud(struct scatter *s, int64_t n, const struct panel *p, struct err *e)
{
    int64_t width = (int64_t)((p->box.right - p->box.left) / CELL_PX) + 1, kept = 0;
    int64_t height = (int64_t)((p->box.bottom - p->box.top) / CELL_PX) + 1;
    bool *taken = canvas_new(s->c, width * height, sizeof *taken, e);

    for (int64_t i = 0; i < n && taken; i++) {
        int64_t column = (int64_t)(axis_share(&p->x, s->points[i].at.x) * (double)(width - 1));
        int64_t row = (int64_t)(axis_share(&p->y, s->points[i].at.y) * (double)(height - 1));
        if (!taken[row * width + column])
            s->points[kept++] = s->points[i];
        taken[row * width + column] = true;
    }
    return taken ? kept : -1;
}

static int put_look(struct scatter *s, const struct panel *p, int32_t panel, int32_t series, struct err *e)
{
    struct scatter_look look = s->spec->looks[series];
    int64_t n = scatter_gather_points(s, panel, series, true, true);

    qsort(s->points, (size_t)n, sizeof *s->points, compare_low);
    bool steps = look.as == SCATTER_STEPS;
    for (int64_t i = 1; i < n; i++) /* a front over other columns too is no staircase in these two */
        steps = steps && s->points[i].at.y <= s->points[i - 1].at.y;
    if (look.as == SCATTER_CLOUD && (n = thin_cloud(s, n, p, e)) < 0)
        return ERR_NOMEM;
    if (steps && n > 0)
        canvas_point(s->c, s->points[0].at.x, p->y.hi);
    for (int64_t i = 0; i < n; i++) {
        struct canvas_xy at = s->points[i].at;
        if (look.as != SCATTER_CLOUD) /* which is a ground for the others */
            mark_row(s, &s->points[i]);
        canvas_point(s->c, at.x, at.y);
        if (steps)
            canvas_point(s->c, i + 1 < n ? s->points[i + 1].at.x : p->x.hi, at.y);
    }
    if (look.as == SCATTER_STEPS && !steps)
        look.mark.kind = MARK_DOT;
    canvas_block_end(s->c, look.mark);
    if (look.as == SCATTER_STEPS)
        put_whiskers(s, s->points, n);
    return 0;
}

/* ---- the front ---- */

/* The points that no other beats in both, by rising cost. */
static int64_t scatter_find_front(struct scatter *s, int32_t w)
{
    bool low = s->spec->low_is_better;
    int64_t n = scatter_gather_points(s, w, -1, true, false), kept = 0;

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

/* ---- one panel ---- */

/* What one gets for a given cost: a staircase, level until the next design can be paid. */
static void scatter_put_front(struct scatter *s, const struct panel *p)
{
    for (int64_t i = 0; i < s->n_front; i++) {
        canvas_point(s->c, s->front[i].at.x, s->front[i].at.y);
        canvas_point(s->c, i + 1 < s->n_front ? s->front[i + 1].at.x : p->x.hi, s->front[i].at.y);
    }
    canvas_block_end(s->c, (struct mark){ MARK_FRONT, 0 });
    put_whiskers(s, s->front, s->n_front);
}

static int32_t style_of(const struct scatter *s, int32_t series)
{
    return s->spec->styles ? s->spec->styles[series] : series;
}

static void scatter_put_points(struct scatter *s, int32_t panel, int32_t series, enum mark_kind kind)
{
    int64_t n = scatter_gather_points(s, panel, series, kind != MARK_HOLLOW, kind == MARK_HOLLOW);

    if (kind == MARK_LINE)
        qsort(s->points, (size_t)n, sizeof *s->points, compare_cost);
    for (int64_t i = 0; i < n; i++) {
        mark_row(s, &s->points[i]);
        canvas_point(s->c, s->points[i].at.x, s->points[i].at.y);
    }
    canvas_block_end(s->c, (struct mark){ kind, style_of(s, series) });
}

static void widen_by_whisker(struct panel_range *range, const struct scatter_point *p)
{
    if (!(p->high > p->low))
        return;
    panel_widen(range, (struct canvas_xy){ p->at.x, p->low });
    panel_widen(range, (struct canvas_xy){ p->at.x, p->high });
}

static void scatter_fit_axes(const struct scatter *s, struct panel *p)
{
    struct panel_range range = PANEL_RANGE;

    for (int64_t i = 0; i < s->n_points; i++)
        panel_widen(&range, s->points[i].at);
    for (int64_t i = 0; i < s->n_front; i++)
        widen_by_whisker(&range, &s->front[i]);
    for (int64_t i = 0; i < s->n_points && s->spec->looks; i++)
        if (s->spec->looks[s->points[i].series].as == SCATTER_STEPS)
            widen_by_whisker(&range, &s->points[i]);
    p->x = axis_fit(range.lo.x, range.hi.x);
    p->y = axis_fit(range.lo.y, range.hi.y);
    if (s->spec->label && !p->y.log) { /* room for labels at the best and the worst */
        double room = 0.1 * (p->y.hi - p->y.lo);
        p->y.hi += room;
        p->y.lo -= p->y.lo > room ? room : 0;
    }
}

/* What labels keep clear of: markers, the steps of the front, and lines, along which the points lie then.
 * s->points must hold all of the panel, sorted by series where they are joined. */
static int take_places(struct scatter *s, const struct panel *p, struct err *e)
{
    int rc = places_begin(&s->places, s->c, (int32_t)(2 * s->n_points + 2 * s->n_front) + MAX_LABELS, e);

    if (rc)
        return rc;
    s->places.inside =
        (struct canvas_box){ p->box.left + 2, p->box.top + 1, p->box.right - 2, p->box.bottom - 2 };
    for (int64_t i = 0; i < s->n_points; i++) {
        struct canvas_xy at = panel_px(p, s->points[i].at);
        places_take_marker(&s->places, at);
        if (!s->spec->lines || i == 0 || s->points[i].series != s->points[i - 1].series)
            continue;
        struct canvas_xy from = panel_px(p, s->points[i - 1].at);
        places_take(&s->places,
                    (struct place_taken){ .box = { from.x, from.y, at.x, at.y }, .segment = true });
    }
    for (int64_t i = 0; i < s->n_front; i++) {
        struct canvas_xy from = panel_px(p, s->front[i].at), to = { p->box.right, from.y };
        if (i + 1 < s->n_front)
            to = panel_px(p, s->front[i + 1].at);
        places_take(&s->places, (struct place_taken){ .box = { from.x, from.y - 1, to.x, from.y + 1 } });
        places_take(&s->places, (struct place_taken){
                                    .box = { to.x - 1, fmin(to.y, from.y), to.x + 1, fmax(to.y, from.y) } });
    }
    return 0;
}

/* Where the text changes along the front: all of it, else the short form, where there is room. */
static void put_labels(struct scatter *s, const struct panel *p)
{
    const char *last[2] = { "", "" };

    /* A text that found no place is remembered as well: the next point with the same one is not asked again,
     * which keeps labels where the plan changes rather than wherever there is room. */
    for (int64_t i = 0, n = 0; i < s->n_front && n < MAX_LABELS; i++)
        for (int k = 0; k < 2; k++) {
            struct text made = { 0 };
            s->spec->label(&made, s->spec->of, s->front[i].item, k == 1);
            const char *label = canvas_keep_text(s->c, &made);
            if (!label[0] || strcmp(label, last[k]) == 0)
                break;
            last[k] = label;
            if (places_put_beside(&s->places, s->c, panel_px(p, s->front[i].at), label, CANVAS_GREY, false)) {
                n++;
                break;
            }
        }
}

static int scatter_put_panel(struct scatter *s, int32_t w, struct err *e)
{
    struct panel p = { .box = wrap_box(&s->page, w) };
    const struct scatter_spec *spec = s->spec;
    int rc = 0;

    s->n_front = spec->looks ? 0 : scatter_find_front(s, w);
    s->n_points = scatter_gather_points(s, w, -1, true, true);
    if (spec->lines)
        qsort(s->points, (size_t)s->n_points, sizeof *s->points, compare_series);
    /* Needs all points of the panel in s->points: before the series are gathered one by one. */
    scatter_fit_axes(s, &p);
    wrap_panel(&s->page, &p, w);
    if (spec->label) {
        rc = take_places(s, &p, e);
        put_labels(s, &p);
    }
    for (int32_t k = 0; k < spec->series->n && spec->lines; k++)
        scatter_put_points(s, w, k, MARK_LINE);
    scatter_put_front(s, &p);
    for (int32_t k = 0; k < spec->series->n && !spec->lines && !rc; k++) {
        if (spec->looks) {
            rc = put_look(s, &p, w, k, e);
            continue;
        }
        scatter_put_points(s, w, k, MARK_HOLLOW);
        scatter_put_points(s, w, k, MARK_POINT);
    }
    canvas_draw(s->c);
    return rc;
}

/* ---- the page ---- */

/* Series with looks are in the legend where there is one of their points. */
static void scatter_put_legend(struct scatter *s)
{
    const struct scatter_spec *spec = s->spec;

    if (!spec->looks)
        canvas_legend(s->c, (struct mark){ MARK_FRONT, 0 }, "Pareto front");
    for (int32_t k = 0; k < spec->series->n; k++) {
        struct mark mark = { spec->lines ? MARK_LINE : MARK_POINT, style_of(s, k) };
        int64_t i = 0;
        while (spec->looks && i < s->n_all && s->all[i].series != k)
            i++;
        if (i < s->n_all)
            canvas_legend(s->c, spec->looks ? spec->looks[k].mark : mark, spec->series->list[k]);
    }
}

static int draw_scatter(struct scatter *s, struct err *e)
{
    const struct scatter_spec *spec = s->spec;
    bool any_hollow = false, any_band = false;
    double most_usd = 0;

    for (int64_t i = 0; i < s->n_all; i++) {
        most_usd = fmax(most_usd, s->all[i].at.x);
        any_hollow = any_hollow || s->all[i].hollow;
        any_band = any_band || s->all[i].high > s->all[i].low;
    }
    s->usd = unit_pick(unit_usd, most_usd);
    scatter_put_legend(s);
    wrap_fit(&s->page, s->c, &scatter_page, spec->panels->list, spec->panels->n);
    if (spec->looks) /* these pages have room for a name without one, too */
        s->page.strip_px = CANVAS_STRIP_PX;
    if (!spec->lines && !spec->looks && spec->series->n > MARKS_POINTS)
        canvas_note(s->c, "%d series, whose markers repeat", (int)spec->series->n);
    if (any_band)
        canvas_note(s->c, "whiskers of the front: " BAND_WORDS);
    if (any_hollow && spec->hollow_note)
        canvas_note(s->c, "%s", spec->hollow_note);
    canvas_note_first(s->c, s->page.n, spec->panels->n, spec->panel_word);
    for (int64_t i = 0; i < s->n_all; i++)
        if (s->all[i].panel >= s->page.n)
            data_leave_out(spec->data, s->all[i].item, canvas_keep(s->c, "of other %s", spec->panel_word));
    int rc = wrap_open(&s->page, e);
    if (rc)
        return rc;
    canvas_axis_labels(s->c, &s->page.body, canvas_keep(s->c, "network cost [%s]", s->usd.name),
                       spec->y_label);
    for (int32_t w = 0; w < s->page.n && !rc; w++)
        rc = scatter_put_panel(s, w, e);
    canvas_close(s->c);
    return rc;
}

int scatter_build(struct canvas *c, const struct scatter_point *points, int64_t n,
                  const struct scatter_spec *spec, struct err *e)
{
    struct scatter s = { .c = c, .all = points, .n_all = n, .spec = spec };

    s.points = canvas_new(c, n, sizeof *s.points, e);
    s.front = canvas_new(c, n, sizeof *s.front, e);
    return s.points && s.front ? draw_scatter(&s, e) : ERR_NOMEM;
}
