#include "plots/fig.h"

#include <math.h>

#include "plots/costs.h"
#include "plots/strips.h"

enum {
    MAX_ENDS = COSTS_MAX_POINTS * COSTS_MAX_SCHEDULERS,
    FEW_ROWS = 30, /* of all panels together: as many are higher */
    HIGH_PX = 21,
    LOW_PX = 16,
    LEAST_PX = 11,
    NAME = 46, /* characters of a point's name: as many of what its ratios are to beside it */
};

/* Of a row's height, what is left free above its bar; and how far the end of a whisker is from its middle. */
#define BAR_GAP   0.16
#define WHISKER_Y 0.2

struct hetero_fig {
    struct canvas *c;
    struct costs data;
    struct axis x;
    bool any_worst;
    struct text names[COSTS_MAX_POINTS], ends[MAX_ENDS]; /* owned; ends: shape [points.n][n_schedulers] */
};

/* ---- texts ---- */

/* Four digits or so: 1.004 is not the optimum. */
static void put_ratio(struct text *out, double x)
{
    if (x < 1e6)
        text_printf(out, "%.*f", x < 10 ? 3 : x < 1000 ? 1 : 0, x);
    else
        text_printf(out, "%.3g", x);
}

/* A blank is of a scheduler that did not run. What costs nothing has no ratio. */
static void put_end(struct text *out, const struct cost *c)
{
    if (!c->there)
        return;
    if (!(c->ratio > 0)) {
        text_puts(out, !c->has_plan ? "–" : c->is_free ? "0 USD" : "no ratio");
        return;
    }
    put_ratio(out, c->ratio);
    if (c->feasible < c->seeds) {
        text_printf(out, " (%.0f of %.0f fail)", c->seeds - c->feasible, c->seeds);
    } else if (costs_has_worst(c)) {
        text_puts(out, " (");
        put_ratio(out, c->worst);
        text_puts(out, ")");
    }
}

/* The point, and what its ratios are to. */
static void put_name(struct text *out, const struct costs *d, int32_t point)
{
    const struct costs_oracle *o = &d->oracle[point];

    points_put_name(out, &d->points, point, NAME);
    if (d->over_best || !(o->usd > 0))
        return;
    struct unit unit = unit_pick(unit_usd, o->usd);
    text_printf(out, "%s%s %.4g %s", out->n ? ": " : "", costs_proof_words[o->proof], o->usd / unit.scale,
                unit.name);
}

static int put_texts(struct hetero_fig *f, struct err *e)
{
    const struct costs *d = &f->data;
    int rc = 0;

    for (int32_t k = 0; k < d->points.n && !rc; k++) {
        put_name(&f->names[k], d, k);
        rc = text_check(&f->names[k], e);
        for (int32_t i = 0; i < d->n_schedulers && !rc; i++) {
            struct text *end = &f->ends[k * d->n_schedulers + i];
            put_end(end, costs_at(d, k, i));
            rc = text_check(end, e);
        }
    }
    return rc;
}

static void fit_axis(struct hetero_fig *f)
{
    const struct costs *d = &f->data;
    double lo = 1, hi = 1;

    for (int32_t k = 0; k < d->points.n; k++)
        for (int32_t i = 0; i < d->n_schedulers; i++) {
            const struct cost *c = costs_at(d, k, i);
            lo = fmin(lo, c->ratio > 0 ? c->ratio : 1);
            hi = fmax(hi, c->ratio > 0 ? fmax(c->ratio, c->worst) : 1); /* fmax() passes over a NaN */
            f->any_worst = f->any_worst || costs_has_worst(c);
        }
    f->x = axis_ratio(lo, hi);
}

static void put_notes(struct hetero_fig *f)
{
    const struct costs *d = &f->data;

    points_put_notes(f->c, &d->points);
    if (f->any_worst)
        canvas_note(f->c, "whiskers: worst of %.0f seeds", d->most_seeds);
    if (d->schedulers.n > d->n_schedulers)
        canvas_note(f->c, "first %d of %d schedulers", (int)d->n_schedulers, (int)d->schedulers.n);
    if (d->n_again > 0)
        canvas_note(f->c, "%lld rows repeat a point and a scheduler and are left out", (long long)d->n_again);
    if (d->n_blank > 0)
        canvas_note(f->c, "%lld rows have a plan but no ratio", (long long)d->n_blank);
}

static void put_legend(struct hetero_fig *f)
{
    if (f->data.any_ratio) {
        canvas_legend(f->c, (struct mark){ MARK_FILL, FILL_FIRST }, "cost");
        canvas_legend(f->c, (struct mark){ MARK_FRONT, 0 }, costs_reference(&f->data));
    }
    if (f->data.any_state)
        canvas_legend(f->c, (struct mark){ MARK_AREA, BAR_OVER }, "no plan");
}

/* ---- panels ---- */

/* In words why there is no bar: no number says how far off a scheduler is that has no plan. */
static void put_state(struct hetero_fig *f, const struct canvas_box *box, int32_t row, const char *state)
{
    double width = box->right - box->left, height = (box->bottom - box->top) / f->data.n_schedulers;
    double one = axis_share(&f->x, 1);
    struct canvas_label at = { .x_px = box->left + one * width + 6,
                               .y_px = box->top + (row + 0.5) * height,
                               .size_px = CANVAS_SMALL_PX,
                               .room_px = (1 - one) * width - 10,
                               .color = CANVAS_BLACK };
    canvas_text(f->c, &at, state);
}

/* A band as long as the axis. Its words come first, for a label cannot stand in a block of data. */
static void put_states(struct hetero_fig *f, const struct canvas_box *box, int32_t panel)
{

    for (int32_t i = 0; i < f->data.n_schedulers; i++) {
        const struct cost *c = costs_at(&f->data, panel, i);
        if (c->there && !c->has_plan)
            put_state(f, box, i, text_str(&c->state));
    }
    for (int32_t i = 0; i < f->data.n_schedulers; i++) {
        const struct cost *c = costs_at(&f->data, panel, i);
        if (!c->there || c->has_plan)
            continue;
        canvas_break(f->c);
        canvas_area(f->c, f->x.lo, i + 1 - BAR_GAP, f->x.hi, i + BAR_GAP);
    }
    canvas_block_end(f->c, (struct mark){ MARK_AREA, BAR_OVER });
}

static void put_bars(struct hetero_fig *f, int32_t panel)
{

    for (int32_t i = 0; i < f->data.n_schedulers; i++) {
        const struct cost *c = costs_at(&f->data, panel, i);
        if (!(c->ratio > 0))
            continue;
        canvas_bar(f->c, fmin(1, c->ratio), i + 1 - BAR_GAP, fmax(1, c->ratio), i + BAR_GAP);
    }
    canvas_block_end(f->c, (struct mark){ MARK_FILL, FILL_FIRST });
}

/* From the middle of a bar's end to the worst seed, with a blunt end: a MARK_WHISKER is upright. */
static void put_whiskers(struct hetero_fig *f, int32_t panel)
{

    for (int32_t i = 0; i < f->data.n_schedulers; i++) {
        const struct cost *c = costs_at(&f->data, panel, i);
        double y = i + 0.5;
        if (!costs_has_worst(c))
            continue;
        canvas_break(f->c);
        canvas_point(f->c, c->ratio, y);
        canvas_point(f->c, c->worst, y);
        canvas_point(f->c, c->worst, y - WHISKER_Y);
        canvas_point(f->c, c->worst, y + WHISKER_Y);
    }
    canvas_block_end(f->c, (struct mark){ MARK_FRONT, 0 });
}

static void paint(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct hetero_fig *f = of;

    put_states(f, box, panel);
    put_bars(f, panel);
    put_whiskers(f, panel);
    if (!f->data.any_ratio)
        return;
    canvas_point(c, 1, 0);
    canvas_point(c, 1, f->data.n_schedulers);
    canvas_block_end(c, (struct mark){ MARK_FRONT, 0 });
}

static int draw(struct hetero_fig *f, struct err *e)
{
    const struct costs *d = &f->data;
    const char *names[COSTS_MAX_POINTS], *ends[MAX_ENDS];
    int32_t n = d->points.n * d->n_schedulers;
    struct text label = { 0 };

    for (int32_t k = 0; k < d->points.n; k++)
        names[k] = text_str(&f->names[k]);
    for (int32_t i = 0; i < n; i++)
        ends[i] = text_str(&f->ends[i]);
    text_printf(&label, "cost over that of the %s", costs_reference(d));
    struct strips_spec spec = { .names = names,
                                .n_panels = d->points.n,
                                .n_rows = d->n_schedulers,
                                .labels = d->schedulers.list,
                                .ends = ends,
                                .end_label = f->any_worst ? "median (worst)" : "",
                                .unit_px = n <= FEW_ROWS ? HIGH_PX : LOW_PX,
                                .least_unit_px = LEAST_PX,
                                .x = f->x,
                                .x_label = text_str(&label),
                                .paint = paint,
                                .of = f };
    put_notes(f);
    put_legend(f);
    int rc = text_check(&label, e);
    if (!rc)
        rc = strips_build(f->c, &spec, e);
    text_free(&label);
    return rc;
}

int fig_hetero(struct canvas *c, const struct rows *r, struct err *e)
{
    struct hetero_fig f = { .c = c };
    int rc = costs_read(&f.data, r, e);

    if (!rc)
        rc = put_texts(&f, e);
    if (!rc) {
        fit_axis(&f);
        rc = draw(&f, e);
    }
    for (int32_t k = 0; k < COSTS_MAX_POINTS; k++)
        text_free(&f.names[k]);
    for (int32_t i = 0; i < MAX_ENDS; i++)
        text_free(&f.ends[i]);
    costs_free(&f.data);
    return rc;
}
