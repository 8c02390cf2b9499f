#include "plots/fig.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plots/outcomes.h"
#include "plots/points.h"
#include "plots/strips.h"

enum {
    MAX_POINTS = 6,
    MAX_ROWS = 24, /* schedulers */
    FEW_ROWS = 30, /* of all panels together: as many are higher */
    HIGH_PX = 21,
    LOW_PX = 16,
    LEAST_PX = 11,
    MESSAGE = 70, /* characters of an error that are shown */
    NAME = 36,    /* and of a point's name */
};

/* Of a row's height, what is left free above its bar; and how far the end of a whisker is from its middle. */
#define BAR_GAP   0.16
#define WHISKER_Y 0.2

/* What a scheduler came to at a point. */
struct outcome_bar {
    bool there, has_plan;
    struct text state;      /* owned: why there is no plan */
    double ratio, worst;    /* NaN = none */
    double seeds, feasible; /* NaN = not known */
};

struct columns {
    int32_t scheduler, status, ratio, worst, usd, seeds, feasible, proof, reach, message;
};

struct hetero_fig {
    struct canvas *c;
    struct points points;
    struct names schedulers;  /* owned texts */
    struct outcome_bar *bars; /* shape [points.n][MAX_ROWS], owned */
    struct columns at;
    bool best;                      /* ratios are to the cheapest of the schedulers, not to the oracle */
    double optimum_usd[MAX_POINTS]; /* proved; NaN = not known */
    bool bound[MAX_POINTS];         /* the oracle has but a lower bound */
    int32_t n_rows;
    int64_t n_blank, n_again;
    double most_seeds;
    bool any_bar, any_whisker, any_state;
    struct axis x;
    struct text names[MAX_POINTS], *ends; /* ends: shape [points.n][n_rows]; owned */
};

static struct outcome_bar *bar_at(const struct hetero_fig *f, int32_t point, int32_t row)
{
    return &f->bars[(int64_t)point * MAX_ROWS + row];
}

/* ---- the table ---- */

static int find_columns(struct hetero_fig *f, const struct rows *r, struct err *e)
{
    static const char *const choices[] = { "over_oracle", "over_best", NULL };
    const char *name = outcomes_pick(r, choices);
    struct columns *at = &f->at;

    if (!name)
        name = table_find(r->t, choices[0]) < 0 ? choices[1] : choices[0];
    f->best = strcmp(name, choices[1]) == 0;
    int rc = rows_column(&at->ratio, r, name, e);
    if (!rc)
        rc = rows_column(&at->scheduler, r, "scheduler", e);
    if (!rc)
        rc = rows_column(&at->status, r, "status", e);
    at->worst = f->best ? -1 : table_find(r->t, "over_oracle_worst");
    at->usd = table_find(r->t, "usd");
    at->seeds = table_find(r->t, "seeds");
    at->feasible = table_find(r->t, "feasible");
    at->proof = table_find(r->t, "proof");
    at->reach = table_find(r->t, "reach_per_s");
    at->message = table_find(r->t, "message");
    return rc;
}

/* NaN for a column that is not there. */
static int read_number(double *out, const struct rows *r, int32_t col, struct err *e)
{
    *out = (double)NAN;
    return col < 0 ? 0 : rows_number(out, r, col, e);
}

/* "infeasible: reaches at most 1.2 M examples/s", "error: the first words". */
static int read_state(struct text *out, const struct hetero_fig *f, const struct rows *r, struct err *e)
{
    static const struct unit units[] = {
        { 1e9, "G " }, { 1e6, "M " }, { 1e3, "k " }, { 1, "" }, { 0, NULL }
    };
    struct text message = { 0 };
    double reach;
    int rc = rows_text(out, r, f->at.status, e);

    if (!rc)
        rc = read_number(&reach, r, f->at.reach, e);
    if (!rc && f->at.message >= 0)
        rc = rows_text(&message, r, f->at.message, e);
    if (!rc && reach > 0) {
        struct unit unit = unit_pick(units, reach);
        text_printf(out, ": reaches at most %.3g %sexamples/s", reach / unit.scale, unit.name);
    } else if (!rc && message.n > 0) {
        text_puts(out, ": ");
        canvas_put_short(out, text_str(&message), MESSAGE);
    }
    text_free(&message);
    return rc ? rc : text_check(out, e);
}

/* What schedulers prove, those too that the filters leave out: it says what the others are held against. */
static int read_proof(struct hetero_fig *f, const struct rows *r, struct err *e)
{
    struct text proof = { 0 };
    int32_t point;
    double usd;
    int rc = points_find(&point, &f->points, r, e);

    if (rc || point < 0 || f->at.proof < 0)
        return rc;
    rc = rows_text(&proof, r, f->at.proof, e);
    if (!rc)
        rc = read_number(&usd, r, f->at.usd, e);
    if (!rc && strcmp(text_str(&proof), "optimal") == 0 && usd > 0)
        f->optimum_usd[point] = usd;
    f->bound[point] = f->bound[point] || strcmp(text_str(&proof), "bound") == 0;
    text_free(&proof);
    return rc;
}

static int read_bar(struct outcome_bar *b, const struct hetero_fig *f, const struct rows *r, struct err *e)
{
    int rc = read_number(&b->seeds, r, f->at.seeds, e);

    b->ratio = b->worst = (double)NAN;
    b->has_plan = rows_equal(r, f->at.status, "done");
    if (!rc)
        rc = read_number(&b->feasible, r, f->at.feasible, e);
    if (!rc && !b->has_plan)
        return read_state(&b->state, f, r, e);
    if (!rc)
        rc = rows_above_zero(&b->ratio, r, f->at.ratio, e);
    if (!rc && f->at.worst >= 0)
        rc = rows_above_zero(&b->worst, r, f->at.worst, e);
    return rc;
}

static int read_row(struct hetero_fig *f, const struct rows *r, struct err *e)
{
    int32_t point, row;
    int rc = points_find(&point, &f->points, r, e);

    if (!rc)
        rc = rows_name(&row, &f->schedulers, r, f->at.scheduler, e);
    if (rc || point < 0 || row >= MAX_ROWS)
        return rc;
    struct outcome_bar *b = bar_at(f, point, row);
    if (b->there) {
        f->n_again++;
        return 0;
    }
    b->there = true;
    rc = read_bar(b, f, r, e);
    f->most_seeds = fmax(f->most_seeds, b->seeds);
    f->n_blank += b->has_plan && isnan(b->ratio);
    f->any_bar = f->any_bar || b->ratio > 0;
    f->any_whisker = f->any_whisker || b->worst > b->ratio * (1 + AXIS_SAME);
    f->any_state = f->any_state || !b->has_plan;
    return rc;
}

static int read_rows(struct hetero_fig *f, const struct rows *rows, struct err *e)
{
    struct rows r = *rows;
    int64_t n_passed = 0;
    int rc = 0;

    f->bars = calloc((size_t)f->points.n * MAX_ROWS, sizeof *f->bars);
    if (!f->bars)
        return err_nomem(e, "the figure's bars");
    for (int32_t k = 0; k < MAX_POINTS; k++)
        f->optimum_usd[k] = (double)NAN;
    for (r.row = 0; r.row < r.t->n_rows && !rc; r.row++) {
        rc = read_proof(f, &r, e);
        if (rc || !rows_pass(&r))
            continue;
        n_passed++;
        rc = read_row(f, &r, e);
    }
    if (!rc && !f->any_bar && !f->any_state)
        rc = rows_none_left(&r, n_passed, f->n_blank, "", e);
    f->n_rows = f->schedulers.n < MAX_ROWS ? f->schedulers.n : MAX_ROWS;
    return rc;
}

/* ---- texts ---- */

/* Four digits or so: 1.004 is not the optimum. */
static void put_ratio(struct text *out, double x)
{
    text_printf(out, "%.*f", x < 10 ? 3 : x < 1000 ? 1 : 0, x);
}

static void put_end(struct text *out, const struct outcome_bar *b)
{
    if (!b->has_plan || isnan(b->ratio)) {
        text_puts(out, "–");
        return;
    }
    put_ratio(out, b->ratio);
    if (b->feasible < b->seeds)
        text_printf(out, " (%.0f of %.0f fail)", b->seeds - b->feasible, b->seeds);
    else if (b->worst > b->ratio * (1 + AXIS_SAME)) {
        text_puts(out, " (");
        put_ratio(out, b->worst);
        text_puts(out, ")");
    }
}

/* What the ratios of a panel are to, and what that is. */
static void put_name(struct text *out, const struct hetero_fig *f, int32_t point)
{
    double usd = f->optimum_usd[point];

    canvas_put_short(out, text_str(&f->points.names[point]), NAME);
    if (f->best)
        return;
    if (usd > 0) {
        struct unit unit = unit_pick(unit_usd, usd);
        text_printf(out, "%soptimum %.4g %s", out->n ? ": " : "", usd / unit.scale, unit.name);
    } else if (f->bound[point]) {
        text_printf(out, "%sover a lower bound", out->n ? ": " : "");
    }
}

static int put_texts(struct hetero_fig *f, struct err *e)
{
    int rc = 0;

    f->ends = calloc((size_t)f->points.n * (size_t)f->n_rows, sizeof *f->ends);
    if (!f->ends)
        return err_nomem(e, "the figure's labels");
    for (int32_t k = 0; k < f->points.n && !rc; k++) {
        put_name(&f->names[k], f, k);
        rc = text_check(&f->names[k], e);
        for (int32_t i = 0; i < f->n_rows && !rc; i++) {
            struct text *end = &f->ends[(int64_t)k * f->n_rows + i];
            put_end(end, bar_at(f, k, i));
            rc = text_check(end, e);
        }
    }
    return rc;
}

static void fit_axis(struct hetero_fig *f)
{
    double lo = 1, hi = 1;

    for (int32_t k = 0; k < f->points.n; k++)
        for (int32_t i = 0; i < f->n_rows; i++) {
            const struct outcome_bar *b = bar_at(f, k, i);
            lo = fmin(lo, b->ratio > 0 ? b->ratio : 1);
            hi = fmax(hi, fmax(b->ratio, b->worst)); /* not what is NaN */
        }
    f->x = axis_ratio(lo, hi);
}

/* All panels are held against the proved optimum. */
static bool is_proved(const struct hetero_fig *f)
{
    for (int32_t k = 0; k < f->points.n; k++)
        if (isnan(f->optimum_usd[k]))
            return false;
    return true;
}

static const char *reference(const struct hetero_fig *f)
{
    return f->best ? "cheapest of the schedulers" : is_proved(f) ? "optimum" : "oracle";
}

static void put_notes(struct hetero_fig *f)
{
    points_put_notes(f->c, &f->points);
    if (f->any_whisker)
        canvas_note(f->c, "whiskers: worst of %.0f seeds", f->most_seeds);
    if (f->schedulers.n > f->n_rows)
        canvas_note(f->c, "first %d of %d schedulers", (int)f->n_rows, (int)f->schedulers.n);
    if (f->n_again > 0)
        canvas_note(f->c, "%lld rows repeat a point and a scheduler and are left out", (long long)f->n_again);
    if (f->n_blank > 0)
        canvas_note(f->c, "%lld rows lack a value and are left out", (long long)f->n_blank);
}

static void put_legend(struct hetero_fig *f)
{
    if (f->any_bar) {
        canvas_legend(f->c, (struct mark){ MARK_FILL, FILL_FIRST }, "cost");
        canvas_legend(f->c, (struct mark){ MARK_FRONT, 0 }, reference(f));
    }
    if (f->any_state)
        canvas_legend(f->c, (struct mark){ MARK_AREA, BAR_OVER }, "no plan");
}

/* ---- panels ---- */

/* A band as long as the axis, and on it in words why there is no bar: no number says how far off it is. */
static void put_state(struct hetero_fig *f, const struct canvas_box *box, int32_t row, const char *state)
{
    double width = box->right - box->left, height = (box->bottom - box->top) / f->n_rows;
    double one = f->x.log ? log(1 / f->x.lo) / log(f->x.hi / f->x.lo) : (1 - f->x.lo) / (f->x.hi - f->x.lo);
    struct canvas_label at = { .x_px = box->left + one * width + 6,
                               .y_px = box->top + (row + 0.5) * height,
                               .size_px = CANVAS_SMALL_PX,
                               .room_px = (1 - one) * width - 10,
                               .color = CANVAS_BLACK };
    canvas_text(f->c, &at, state);
}

static void put_states(struct hetero_fig *f, const struct canvas_box *box, int32_t panel)
{
    bool begun = false;

    for (int32_t i = 0; i < f->n_rows; i++) {
        const struct outcome_bar *b = bar_at(f, panel, i);
        if (b->there && !b->has_plan)
            put_state(f, box, i, text_str(&b->state));
    }
    for (int32_t i = 0; i < f->n_rows; i++) {
        const struct outcome_bar *b = bar_at(f, panel, i);
        if (!b->there || b->has_plan)
            continue;
        canvas_next(f->c, &begun);
        canvas_area(f->c, f->x.lo, i + 1 - BAR_GAP, f->x.hi, i + BAR_GAP);
    }
    if (begun)
        canvas_block_end(f->c, (struct mark){ MARK_AREA, BAR_OVER });
}

/* From the middle of a bar's end to the worst seed, with a blunt end. */
static void put_whisker(struct hetero_fig *f, const struct outcome_bar *b, int32_t row)
{
    double y = row + 0.5;

    canvas_point(f->c, b->ratio, y);
    canvas_point(f->c, b->worst, y);
    canvas_point(f->c, b->worst, y - WHISKER_Y);
    canvas_point(f->c, b->worst, y + WHISKER_Y);
}

static void put_bars(struct hetero_fig *f, int32_t panel)
{
    bool begun = false;

    for (int32_t i = 0; i < f->n_rows; i++) {
        const struct outcome_bar *b = bar_at(f, panel, i);
        if (!(b->ratio > 0))
            continue;
        if (!begun)
            canvas_block(f->c);
        begun = true;
        canvas_bar(f->c, fmin(1, b->ratio), i + 1 - BAR_GAP, fmax(1, b->ratio), i + BAR_GAP);
    }
    if (begun)
        canvas_block_end(f->c, (struct mark){ MARK_FILL, FILL_FIRST });
    begun = false;
    for (int32_t i = 0; i < f->n_rows; i++) {
        const struct outcome_bar *b = bar_at(f, panel, i);
        if (!(b->worst > b->ratio * (1 + AXIS_SAME)))
            continue;
        canvas_next(f->c, &begun);
        put_whisker(f, b, i);
    }
    if (begun)
        canvas_block_end(f->c, (struct mark){ MARK_FRONT, 0 });
}

static void paint(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct hetero_fig *f = of;

    put_states(f, box, panel);
    put_bars(f, panel);
    if (!f->any_bar)
        return;
    canvas_block(c);
    canvas_point(c, 1, 0);
    canvas_point(c, 1, f->n_rows);
    canvas_block_end(c, (struct mark){ MARK_FRONT, 0 });
}

static int draw(struct hetero_fig *f, struct err *e)
{
    const char *names[MAX_POINTS], *labels[MAX_ROWS], *ends[MAX_POINTS * MAX_ROWS];
    int32_t n = f->points.n * f->n_rows;
    struct text label = { 0 };

    for (int32_t k = 0; k < f->points.n; k++)
        names[k] = text_str(&f->names[k]);
    for (int32_t i = 0; i < f->n_rows; i++)
        labels[i] = f->schedulers.list[i];
    for (int32_t i = 0; i < n; i++)
        ends[i] = text_str(&f->ends[i]);
    text_printf(&label, "cost over that of the %s", reference(f));
    struct strips_spec spec = { .names = names,
                                .n_panels = f->points.n,
                                .n_rows = f->n_rows,
                                .labels = labels,
                                .ends = ends,
                                .end_label = f->any_whisker ? "median (worst)" : "",
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

static void free_fig(struct hetero_fig *f)
{
    for (int32_t i = 0; i < f->points.n * MAX_ROWS && f->bars; i++)
        text_free(&f->bars[i].state);
    for (int32_t i = 0; i < f->points.n * f->n_rows && f->ends; i++)
        text_free(&f->ends[i]);
    for (int32_t k = 0; k < MAX_POINTS; k++)
        text_free(&f->names[k]);
    free(f->bars);
    free(f->ends);
    names_free_copies(&f->schedulers);
    points_free(&f->points);
}

int fig_hetero(struct canvas *c, const struct rows *r, struct err *e)
{
    struct hetero_fig f = { .c = c };
    int rc = points_read(&f.points, r, MAX_POINTS, e);

    if (!rc)
        rc = find_columns(&f, r, e);
    if (!rc)
        rc = read_rows(&f, r, e);
    if (!rc)
        rc = put_texts(&f, e);
    if (!rc) {
        fit_axis(&f);
        rc = draw(&f, e);
    }
    free_fig(&f);
    return rc;
}
