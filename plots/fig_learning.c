#include "plots/fig.h"

#include <math.h>

#include "plots/curves.h"

enum {
    PANEL_PX = 236,
    LEAST_PANEL_PX = 90,
    Y_TICS_PX = 42,
    GAP_PX = 12,
    DOT_PX = 60,   /* from marker to marker of a line, at least */
    MAX_BANDS = 6, /* of a panel: more hide each other */
};

struct learning {
    struct canvas *c;
    struct curves data;
    struct axis x, y;
    struct unit unit;
    bool bands, any_seeds, any_fail; /* any_fail: a seed without a plan while others have one */
    int32_t n_columns, n_rows;       /* of panels */
    struct canvas_box body;
};

/* Lines come in the colours and dashes that fig_place has for schedulers: the first of all is for references.
 */
static int32_t style_of(const struct learning *f, const struct curves_line *line)
{
    return 1 + f->data.styles[line->scheduler];
}

/* ---- axes ---- */

/* The most schedulers of a panel that have several seeds. */
static int32_t count_bands(const struct learning *f)
{
    int32_t n[CURVES_MAX_POINTS] = { 0 }, most = 0;

    for (int32_t i = 0; i < f->data.n_lines; i++) {
        const struct curves_line *line = &f->data.lines[i];
        n[line->point] += line->n_seeds > 1;
        most = n[line->point] > most ? n[line->point] : most;
    }
    return most;
}

static void survey(struct learning *f)
{
    double lo = HUGE_VAL, hi = 0, end = 1;

    for (int32_t i = 0; i < f->data.n_lines; i++) {
        const struct curves_line *line = &f->data.lines[i];
        end = fmax(end, line->end);
        for (int64_t k = 0; k < line->n_steps; k++) {
            const struct curves_step *s = &line->steps[k];
            f->any_fail = f->any_fail || !isfinite(s->hi);
            lo = fmin(lo, s->lo);
            hi = fmax(hi, isfinite(s->hi) ? s->hi : s->lo);
            hi = fmax(hi, isfinite(s->middle) ? s->middle : s->lo);
        }
    }
    f->any_seeds = count_bands(f) > 0;
    f->bands = f->any_seeds && count_bands(f) <= MAX_BANDS;
    f->x = axis_log(1, fmax(end, 10));
    f->x.lo = pow(f->x.hi, -0.02);
    f->x.hi = fmax(end, 10) / f->x.lo; /* ends where the runs do, and as far beyond */
    f->unit = f->data.in_usd ? unit_pick(unit_usd, hi) : (struct unit){ 1, "" };
    f->y = f->data.in_usd ? axis_fit(lo / f->unit.scale, hi / f->unit.scale) : axis_ratio(lo, hi);
    f->n_columns = f->data.points.n > 1 ? 2 : 1;
    f->n_rows = (f->data.points.n + f->n_columns - 1) / f->n_columns;
}

/* In the units of the panel: what is infinite is out of it. */
static double height_of(const struct learning *f, double cost)
{
    return fmin(cost / f->unit.scale, f->y.hi);
}

/* ---- lines ---- */

static double end_of(const struct curves_line *line, int64_t k)
{
    return k + 1 < line->n_steps ? line->steps[k + 1].evaluations : line->end;
}

/* Between the best and the worst seed: there along the worst, back along the best. */
static void put_band(struct learning *f, const struct curves_line *line)
{
    if (!f->bands || line->n_seeds < 2 || !(line->end > line->steps[0].evaluations))
        return;
    for (int64_t k = 0; k < line->n_steps; k++) {
        canvas_point(f->c, line->steps[k].evaluations, height_of(f, line->steps[k].hi));
        canvas_point(f->c, end_of(line, k), height_of(f, line->steps[k].hi));
    }
    for (int64_t k = line->n_steps - 1; k >= 0; k--) {
        canvas_point(f->c, end_of(line, k), height_of(f, line->steps[k].lo));
        canvas_point(f->c, line->steps[k].evaluations, height_of(f, line->steps[k].lo));
    }
    canvas_block_end(f->c, (struct mark){ MARK_BAND, style_of(f, line) });
}

/* Level until the next improvement. It begins when half of the seeds have a plan. */
static void put_median(struct learning *f, const struct curves_line *line)
{

    for (int64_t k = 0; k < line->n_steps; k++) {
        const struct curves_step *s = &line->steps[k];
        if (!isfinite(s->middle))
            continue;
        canvas_point(f->c, s->evaluations, height_of(f, s->middle));
        canvas_point(f->c, end_of(line, k), height_of(f, s->middle));
    }
    canvas_block_end(f->c, (struct mark){ MARK_TRACE, style_of(f, line) });
}

/* Markers at improvements that are far enough apart, and at the end. */
static void put_dots(struct learning *f, const struct curves_line *line, const struct canvas_box *box)
{
    double width = box->right - box->left, last = -HUGE_VAL, end = axis_share(&f->x, line->end) * width;
    const struct curves_step *final = &line->steps[line->n_steps - 1];

    if (!isfinite(final->middle))
        return;
    for (int64_t k = 0; k < line->n_steps; k++) {
        const struct curves_step *s = &line->steps[k];
        double at = axis_share(&f->x, s->evaluations) * width;
        if (!isfinite(s->middle) || at < last + DOT_PX || at > end - DOT_PX)
            continue;
        canvas_point(f->c, s->evaluations, height_of(f, s->middle));
        last = at;
    }
    canvas_point(f->c, line->end, height_of(f, final->middle));
    canvas_block_end(f->c, (struct mark){ MARK_DOT, style_of(f, line) });
}

/* ---- panels ---- */

static struct canvas_box panel_box(const struct learning *f, int32_t k)
{
    double left = f->body.left + CANVAS_Y_LABEL_PX, bottom = f->body.bottom - CANVAS_X_LABEL_PX;
    double width = (f->body.right - left) / f->n_columns, height = (bottom - f->body.top) / f->n_rows;
    double strip_px = f->data.points.n > 1 ? CANVAS_STRIP_PX : 6;

    int32_t column = k % f->n_columns, row = k / f->n_columns;
    left += column * width;
    double top = f->body.top + row * height;
    return (struct canvas_box){ left + Y_TICS_PX, top + strip_px, left + width - GAP_PX,
                                top + height - CANVAS_X_TICS_PX };
}

static void put_panel(struct learning *f, int32_t k)
{
    struct canvas_box box = panel_box(f, k);
    struct canvas_label at = { .x_px = (box.left + box.right) / 2,
                               .y_px = box.top - CANVAS_STRIP_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .room_px = box.right - box.left,
                               .color = CANVAS_BLACK };
    const struct curves *d = &f->data;
    struct text name = { 0 };

    canvas_panel(f->c, &box, &f->x, &f->y);
    points_put_name(&name, &d->points, k, (size_t)(at.room_px / (CANVAS_FONT_PX * CANVAS_CHAR)));
    if (d->points.n > 1)
        canvas_text(f->c, &at, text_str(&name));
    for (int32_t i = 0; i < d->n_lines; i++)
        if (d->lines[i].point == k)
            put_band(f, &d->lines[i]);
    if (!d->in_usd) {
        canvas_point(f->c, f->x.lo, 1);
        canvas_point(f->c, f->x.hi, 1);
        canvas_block_end(f->c, (struct mark){ MARK_FRONT, 0 });
    }
    for (int32_t i = 0; i < d->n_lines; i++)
        if (d->lines[i].point == k)
            put_median(f, &d->lines[i]);
    for (int32_t i = 0; i < d->n_lines; i++)
        if (d->lines[i].point == k)
            put_dots(f, &d->lines[i], &box);
    f->c->script.failed = f->c->script.failed || name.failed;
    text_free(&name);
    canvas_draw(f->c);
}

/* ---- the page ---- */

static void put_axis_labels(struct learning *f)
{
    struct canvas_label at = { .x_px = (f->body.left + CANVAS_Y_LABEL_PX + Y_TICS_PX + f->body.right) / 2,
                               .y_px = f->body.bottom - CANVAS_X_LABEL_PX * 0.5,
                               .align = ALIGN_CENTER,
                               .size_px = CANVAS_FONT_PX,
                               .color = CANVAS_BLACK };
    struct text label = { 0 };

    canvas_text(f->c, &at, "plans evaluated");
    if (f->data.in_usd)
        text_printf(&label, "cost [%s]", f->unit.name);
    else
        text_puts(&label, "cost over that of the oracle");
    at.x_px = f->body.left + CANVAS_Y_LABEL_PX * 0.5 - 4;
    at.y_px = (f->body.top + f->body.bottom - CANVAS_X_LABEL_PX) / 2;
    at.rotate = 90;
    canvas_text(f->c, &at, text_str(&label));
    f->c->script.failed = f->c->script.failed || label.failed;
    text_free(&label);
}

static void put_notes(struct learning *f)
{
    int32_t least = INT32_MAX, most = 0;

    points_put_notes(f->c, &f->data.points);
    for (int32_t i = 0; i < f->data.n_lines; i++) {
        int32_t n = f->data.lines[i].n_seeds;
        least = n > 1 && n < least ? n : least;
        most = n > most ? n : most;
    }
    if (f->any_seeds && least < most)
        canvas_note(f->c, "lines: median of %d to %d seeds", (int)least, (int)most);
    else if (f->any_seeds)
        canvas_note(f->c, "lines: median of %d seeds", (int)most);
    if (f->bands)
        canvas_note(f->c, "bands: the best to the worst%s",
                    f->any_fail ? ", to the top as long as one has no plan" : "");
    else if (f->any_seeds)
        canvas_note(f->c, "bands of seeds are drawn of up to %d schedulers: --where scheduler=NAME",
                    MAX_BANDS);
    if (f->data.any_zero)
        canvas_note(f->c, "no evaluations stand at 1");
    if (f->data.n_blank > 0)
        canvas_note(f->c,
                    f->data.points.n > 1   ? "left out: %lld lines of schedulers that found no plan"
                    : f->data.n_blank == 1 ? "left out: %lld scheduler that found no plan"
                                           : "left out: %lld schedulers that found no plan",
                    (long long)f->data.n_blank);
}

static void put_legend(struct learning *f)
{
    if (!f->data.in_usd)
        canvas_legend(f->c, (struct mark){ MARK_FRONT, 0 }, "oracle's cost");
    for (int32_t i = 0; i < f->data.schedulers.n; i++)
        canvas_legend(f->c, (struct mark){ MARK_LINE, 1 + f->data.styles[i] }, f->data.schedulers.list[i]);
}

static int draw(struct learning *f, struct err *e)
{
    survey(f);
    put_notes(f);
    put_legend(f);
    double panel_px = f->n_columns == 1 ? 1.5 * PANEL_PX : PANEL_PX;
    int rc = canvas_open(f->c, &f->body, f->n_rows * panel_px + CANVAS_X_LABEL_PX,
                         f->n_rows * LEAST_PANEL_PX + CANVAS_X_LABEL_PX, e);
    if (rc)
        return rc;
    put_axis_labels(f);
    for (int32_t k = 0; k < f->data.points.n; k++)
        put_panel(f, k);
    canvas_close(f->c);
    return 0;
}

int fig_learning(struct canvas *c, const struct rows *r, struct err *e)
{
    struct learning f = { .c = c };
    int rc = curves_read(&f.data, r, e);

    if (!rc)
        rc = draw(&f, e);
    curves_free(&f.data);
    return rc;
}
