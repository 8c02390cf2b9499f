#include "plots/fig.h"

#include <math.h>
#include <stdlib.h>

#include "plots/duo.h"
#include "plots/places.h"
#include "plots/trained.h"

enum { ACCURACY, TRAFFIC, TIME, N_NEEDED, HALF = N_NEEDED };

/* Of the accuracy that the study compares: intervals are of its differences to the baseline. */
static const struct accuracy_kind {
    const char *columns[5], *label;
} workers = { { "accuracy_pct", "traffic_MB", "time_s", "accuracy_vs_base_half", NULL },
              "accuracy of workers [%]" },
  averaged = { { "average_pct", "traffic_MB", "time_s", "accuracy_vs_base_half", NULL },
               "accuracy of averaged model [%]" };

/* So many methods that are no fixed period have markers that differ in grey; of more each has a letter too.
 */
enum { PLAIN_METHODS = 7 };

/* So many times more must a log axis show: numbers along a linear one are easier to read. */
#define LOG_GAIN 1.5

struct gossip_fig {
    struct canvas *c;
    const struct accuracy_kind *kind;
    struct trained data;
    struct axis x[2];              /* that all points share */
    struct axis y[DUO_MAX_POINTS]; /* that both panels of a point share */
    bool *drawn, *curve_drawn;     /* shapes [methods.n], [families.n], owned */
    struct trained_row *order;     /* shape [data.n], owned: of one curve */
    struct places *places;         /* owned */
    struct text x_labels[2];       /* owned */
    bool letters, any_zero, any_half, any_cut;
};

/* ---- what is drawn how ---- */

static int choose_marks(struct gossip_fig *f, struct err *e)
{
    const struct trained *d = &f->data;
    int32_t n_drawn = 0;

    f->drawn = calloc((size_t)d->methods.n + 1, sizeof *f->drawn);
    f->curve_drawn = calloc((size_t)d->families.n + 1, sizeof *f->curve_drawn);
    f->order = calloc((size_t)d->n + 1, sizeof *f->order);
    f->places = malloc(sizeof *f->places);
    if (!f->drawn || !f->curve_drawn || !f->order || !f->places)
        return err_nomem(e, "the figure's series");
    for (int64_t i = 0; i < d->n; i++)
        if (trained_is_on_curve(d, &d->list[i]))
            f->curve_drawn[d->list[i].family] = true;
        else
            f->drawn[d->list[i].method] = true;
    for (int32_t k = 0; k < d->methods.n; k++)
        n_drawn += f->drawn[k];
    f->letters = n_drawn > PLAIN_METHODS;
    return 0;
}

/* Filled, then hollow, in other colours each round. Markers go on where those of the curves end; the first
 * curve's is none of theirs. */
static struct mark mark_of(const struct gossip_fig *f, int32_t method)
{
    int32_t style = f->data.marks[method] + (f->data.n_curves > 0 ? f->data.n_curves - 1 : 0);
    return (struct mark){ style / 7 % 2 ? MARK_HOLLOW : MARK_POINT, style };
}

/* By position among the drawn ones. */
static void put_letter(struct text *out, const struct gossip_fig *f, int32_t method)
{
    int32_t k = 0;

    for (int32_t i = 0; i < method; i++)
        k += f->drawn[i];
    places_put_letter(out, k);
}

/* ---- axes ---- */

static double half_of(const struct trained_row *row)
{
    return isnan(row->value[HALF]) ? 0 : row->value[HALF];
}

/* Linear around the values, which need not begin at zero: points have no length. */
static struct axis around(double lo, double hi, double share)
{
    double least = fmax(hi, 1e-300) * 0.01; /* values that are all alike still need an axis */
    double room = fmax(0, least - (hi - lo)) / 2;
    return trained_widen((struct axis){ .lo = fmax(0, lo - room), .hi = hi + room }, share);
}

/* Traffic is read in MB. */
static const struct unit traffic_units[] = { { 1e9, "PB" }, { 1e6, "TB" },  { 1e3, "GB" },
                                             { 1, "MB" },   { 1e-3, "kB" }, { 0, NULL } };

/* The largest unit in which the largest is at least 1, but the next where the least is below 0.001 of it and
 * the largest then has no more than five digits. */
static const struct unit *traffic_unit(double lo, double hi)
{
    const struct unit *u = traffic_units;

    while (u[1].name && !(hi >= u->scale))
        u++;
    return u[1].name && lo < 1e-3 * u->scale && hi < 1e5 * u[1].scale ? u + 1 : u;
}

static int compare_numbers(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return (p > q) - (p < q);
}

/* Of the axis, how much the middle half of n sorted values takes. */
static double middle_share(const struct axis *a, const double *sorted, int64_t n)
{
    return axis_share(a, sorted[n - 1 - n / 4]) - axis_share(a, sorted[n / 4]);
}

/* Linear, or log where this shows more of the difference between most rows: one that is slow would squeeze
 * all others. */
static int fit_time(struct gossip_fig *f, double lo, double hi, struct err *e)
{
    int64_t n = f->data.n;
    double *sorted = malloc((size_t)n * sizeof *sorted);

    if (!sorted)
        return err_nomem(e, "the figure's axis");
    for (int64_t i = 0; i < n; i++)
        sorted[i] = fmax(lo, f->data.list[i].value[TIME]);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_numbers);
    struct axis log = trained_log_axis(lo, hi), linear = around(lo, hi, 0.07);
    bool better = middle_share(&log, sorted, n) > LOG_GAIN * middle_share(&linear, sorted, n);
    f->x[1] = better || hi / lo > AXIS_LOG_RATIO ? log : linear;
    free(sorted);
    return 0;
}

static void scale_values(struct gossip_fig *f, int value, double unit)
{
    for (int64_t i = 0; i < f->data.n; i++)
        f->data.list[i].value[value] /= unit;
}

static int fit_x(struct gossip_fig *f, struct err *e)
{
    double lo[2] = { HUGE_VAL, HUGE_VAL }, hi[2] = { 0, 0 };

    for (int64_t i = 0; i < f->data.n; i++) {
        const double x[] = { f->data.list[i].value[TRAFFIC], f->data.list[i].value[TIME] };
        for (int k = 0; k < 2; k++) {
            lo[k] = x[k] > 0 ? fmin(lo[k], x[k]) : lo[k];
            hi[k] = fmax(hi[k], x[k]);
        }
        f->any_zero = f->any_zero || x[0] == 0;
    }
    for (int k = 0; k < 2; k++)
        if (!(lo[k] <= hi[k]))
            lo[k] = hi[k] = 1;
    const struct unit units[] = { *traffic_unit(lo[0], hi[0]), duo_time_unit(hi[1]) };
    scale_values(f, TRAFFIC, units[0].scale);
    scale_values(f, TIME, units[1].scale);
    text_printf(&f->x_labels[0], "traffic [%s]", units[0].name);
    text_printf(&f->x_labels[1], "simulated time [%s]", units[1].name);
    f->x[0] = trained_log_axis(lo[0] / units[0].scale, hi[0] / units[0].scale);
    return fit_time(f, lo[1] / units[1].scale, hi[1] / units[1].scale, e);
}

/* Intervals go on at most as far beyond the values as these are apart, or a point: with few seeds they are
 * wide, and what is compared would be one line. */
static void fit_y(struct gossip_fig *f, int32_t point)
{
    double lo = HUGE_VAL, hi = 0, low_end = HUGE_VAL, high_end = 0;

    for (int64_t i = 0; i < f->data.n; i++) {
        const struct trained_row *row = &f->data.list[i];
        if (row->point != point)
            continue;
        lo = fmin(lo, row->value[ACCURACY]);
        hi = fmax(hi, row->value[ACCURACY]);
        low_end = fmin(low_end, row->value[ACCURACY] - half_of(row));
        high_end = fmax(high_end, row->value[ACCURACY] + half_of(row));
        f->any_half = f->any_half || half_of(row) > 0;
    }
    lo = fmin(lo, hi);
    double room = fmax(1, hi - lo);
    f->y[point] = around(fmax(0, fmax(low_end, lo - room)), fmin(high_end, hi + room), 0.09);
    f->any_cut = f->any_cut || low_end < f->y[point].lo || high_end > f->y[point].hi;
}

/* ---- one panel ---- */

struct panel {
    struct gossip_fig *f;
    const struct canvas_box *box;
    int32_t point, column; /* 0 = over traffic, 1 = over time */
};

static struct canvas_xy at_of(const struct panel *p, const struct trained_row *row)
{
    double x = row->value[p->column ? TIME : TRAFFIC];
    return (struct canvas_xy){ fmax(x, p->f->x[p->column].lo), row->value[ACCURACY] };
}

static struct canvas_xy to_px(const struct panel *p, struct canvas_xy at)
{
    double x = axis_share(&p->f->x[p->column], at.x), y = axis_share(&p->f->y[p->point], at.y);
    return (struct canvas_xy){ p->box->left + x * (p->box->right - p->box->left),
                               p->box->bottom - y * (p->box->bottom - p->box->top) };
}

/* Thin, for many overlap. */
static void put_whiskers(const struct panel *p)
{
    const struct trained *d = &p->f->data;
    const struct axis *y = &p->f->y[p->point];

    for (int64_t i = 0; i < d->n; i++) {
        const struct trained_row *row = &d->list[i];
        struct canvas_xy at = at_of(p, row);
        struct canvas_xy lo = { at.x, fmax(at.y - half_of(row), y->lo) },
                         hi = { at.x, fmin(at.y + half_of(row), y->hi) };
        if (row->point != p->point || !(half_of(row) > 0))
            continue;
        canvas_break(p->f->c);
        canvas_point(p->f->c, lo.x, lo.y);
        canvas_point(p->f->c, hi.x, hi.y);
        places_take_line(p->f->places, to_px(p, lo), to_px(p, hi));
    }
    canvas_block_end(p->f->c, (struct mark){ MARK_RULE, 0 });
}

static int compare_periods(const void *a, const void *b)
{
    const struct trained_row *p = a, *q = b;

    if (p->period != q->period)
        return p->period < q->period ? -1 : 1;
    return (p->row > q->row) - (p->row < q->row);
}

/* The fixed periods of a family, by period. */
static int64_t gather(const struct panel *p, int32_t family)
{
    const struct trained *d = &p->f->data;
    int64_t n = 0;

    for (int64_t i = 0; i < d->n; i++)
        if (d->list[i].point == p->point && d->list[i].family == family &&
            trained_is_on_curve(d, &d->list[i]))
            p->f->order[n++] = d->list[i];
    qsort(p->f->order, (size_t)n, sizeof *p->f->order, compare_periods);
    return n;
}

static void put_curve(const struct panel *p, int32_t family)
{
    int64_t n = gather(p, family);

    if (n == 0)
        return;
    for (int64_t i = 0; i < n; i++) {
        struct canvas_xy at = at_of(p, &p->f->order[i]);
        canvas_point(p->f->c, at.x, at.y);
        if (i > 0)
            places_take_line(p->f->places, to_px(p, at_of(p, &p->f->order[i - 1])), to_px(p, at));
    }
    canvas_block_end(p->f->c, (struct mark){ MARK_LINE, p->f->data.curves[family] });
}

static void put_points(const struct panel *p, int32_t method)
{
    const struct trained *d = &p->f->data;

    for (int64_t i = 0; i < d->n; i++) {
        const struct trained_row *row = &d->list[i];
        if (row->point != p->point || row->method != method || trained_is_on_curve(d, row))
            continue;
        struct canvas_xy at = at_of(p, row);
        canvas_point(p->f->c, at.x, at.y);
    }
    canvas_block_end(p->f->c, mark_of(p->f, method));
}

/* Periods beside the points of curves; letters beside the others, when they are many: these find room first,
 * for periods can be counted along their curve. */
static void put_texts(const struct panel *p, bool fixed)
{
    struct gossip_fig *f = p->f;
    struct text label = { 0 };

    for (int64_t i = 0; i < f->data.n; i++) {
        const struct trained_row *row = &f->data.list[i];
        if (row->point != p->point || trained_is_on_curve(&f->data, row) != fixed || (!fixed && !f->letters))
            continue;
        text_clear(&label);
        if (fixed)
            text_printf(&label, "%.6g", row->period);
        else
            put_letter(&label, f, row->method);
        places_put(f->places, f->c, to_px(p, at_of(p, row)), text_str(&label),
                   fixed ? CANVAS_GREY : CANVAS_BLACK);
    }
    f->c->script.failed = f->c->script.failed || label.failed;
    text_free(&label);
}

static void paint(struct canvas *c, const struct canvas_box *box, int32_t point, int32_t column, void *of)
{
    struct gossip_fig *f = of;
    const struct panel p = { f, box, point, column };

    f->places->inside = *box;
    f->places->n = 0;
    canvas_panel(c, box, &f->x[column], &f->y[point]);
    for (int64_t i = 0; i < f->data.n; i++)
        if (f->data.list[i].point == point)
            places_take_marker(f->places, to_px(&p, at_of(&p, &f->data.list[i])));
    put_whiskers(&p);
    for (int32_t k = 0; k < f->data.families.n; k++)
        put_curve(&p, k);
    for (int32_t k = 0; k < f->data.methods.n; k++)
        put_points(&p, k);
    put_texts(&p, false);
    put_texts(&p, true);
}

/* ---- the page ---- */

static void put_notes(struct gossip_fig *f)
{
    bool any = false;

    trained_put_notes(f->c, &f->data);
    for (int32_t k = 0; k < f->data.families.n; k++)
        any = any || f->curve_drawn[k];
    if (any)
        canvas_note(f->c, "numbers: steps between exchanges");
    if (f->any_half && f->data.most_seeds > 1)
        canvas_note(f->c, "upright lines: 95 %% interval of the difference to the baseline, %.0f seeds%s",
                    f->data.most_seeds, f->any_cut ? ", cut at the frame" : "");
    else if (f->any_half)
        canvas_note(f->c, "upright lines: 95 %% interval of the difference to the baseline%s",
                    f->any_cut ? ", cut at the frame" : "");
    if (f->any_zero)
        canvas_note(f->c, "no traffic stands at the left end");
}

static void put_legend(struct gossip_fig *f)
{
    const struct trained *d = &f->data;
    struct text label = { 0 };

    for (int32_t k = 0; k < d->families.n; k++) {
        text_clear(&label);
        text_printf(&label, "%s%sfixed period", d->families.list[k], d->families.list[k][0] ? ", " : "");
        if (f->curve_drawn[k])
            canvas_legend(f->c, (struct mark){ MARK_LINE, f->data.curves[k] }, text_str(&label));
    }
    for (int32_t k = 0; k < d->methods.n; k++) {
        text_clear(&label);
        if (f->letters)
            put_letter(&label, f, k);
        text_printf(&label, "%s%s", f->letters ? "  " : "", d->methods.list[k]);
        if (f->drawn[k])
            canvas_legend(f->c, mark_of(f, k), text_str(&label));
    }
    f->c->script.failed = f->c->script.failed || label.failed;
    text_free(&label);
}

static int draw(struct gossip_fig *f, struct err *e)
{
    int rc = fit_x(f, e);

    for (int k = 0; k < 2 && !rc; k++)
        rc = text_check(&f->x_labels[k], e);
    if (rc)
        return rc;
    for (int32_t k = 0; k < f->data.points.n; k++)
        fit_y(f, k);
    put_notes(f);
    put_legend(f);
    const struct duo_spec spec = { .points = &f->data.points,
                                   .x_labels = { text_str(&f->x_labels[0]), text_str(&f->x_labels[1]) },
                                   .y_labels = { f->kind->label, f->kind->label },
                                   .paint = paint,
                                   .of = f };
    return duo_build(f->c, &spec, e);
}

/* One table compares one accuracy; the workers' where it does not say which. */
static const struct accuracy_kind *find_kind(const struct rows *rows)
{
    struct rows r = *rows;
    int32_t col = table_find(r.t, "compared");

    for (r.row = 0; r.row < r.t->n_rows && col >= 0; r.row++)
        if (rows_pass(&r))
            return rows_equal(&r, col, "averaged") ? &averaged : &workers;
    return &workers;
}

int fig_gossip(struct canvas *c, const struct rows *r, struct err *e)
{
    struct gossip_fig f = { .c = c, .kind = find_kind(r) };
    int rc = trained_read(&f.data, r, f.kind->columns, N_NEEDED, DUO_MAX_POINTS, e);

    if (!rc)
        rc = choose_marks(&f, e);
    if (!rc)
        rc = draw(&f, e);
    for (int k = 0; k < 2; k++)
        text_free(&f.x_labels[k]);
    free(f.drawn);
    free(f.curve_drawn);
    free(f.order);
    free(f.places);
    trained_free(&f.data);
    return rc;
}
