/*
 * Schedulers of layers: what their plans cost (`weft hetero`), what the best plan so far costs over
 * evaluations (--curves), and which type of resource has which layer (--plans). A panel is a point of the
 * study.
 *
 * Ratios, not USD, as costs of points differ by orders of magnitude: 1 is the cheapest plan that is known,
 * and bars run from 1, on a logarithmic axis unless all are close to it. What it is, an optimum, a lower
 * bound or the best of a search, stands in the legend. Schedulers without a plan say why in place of a bar.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/stat.h"
#include "plots/fig.h"
#include "plots/lanes.h"
#include "plots/page.h"

/* ---- costs ---- */

enum {
    MAX_POINTS = 6,
    MAX_SCHEDULERS = 24,
    POINT_NAME = 46, /* characters: as many of what its ratios are to beside it */
    MESSAGE = 70,    /* characters of an error that are shown */
};

/* Of a row's height, what is left free above its bar; and how far the end of a whisker is from its middle. */
#define BAR_GAP   0.16
#define WHISKER_Y 0.2

enum { SCHEDULER, POINT, STATUS, SEEDS, FEASIBLE, RATIO, WORST, USD, ORACLE_USD, N_COST_BINDS };

/* What a scheduler came to at a point. Read by `there` first: of a scheduler that the point lacks all else is
 * 0. */
struct cost {
    bool there;             /* the table has it */
    bool has_plan;          /* else `state` says why not */
    bool is_free;           /* the plan costs 0 USD */
    const char *state;      /* "infeasible: reaches 1.2 M of 2 M examples/s" */
    double ratio;           /* median over seeds, to what `oracle` is; NaN = blank */
    double worst;           /* of the dearest seed; NaN = not known */
    double seeds, feasible; /* how many, and how many have a plan; NaN = not known */
};

/* What is known of the cheapest plan of a point. */
enum proof { UNPROVED, OPTIMAL, LOWER_BOUND, N_PROOFS };
static const char *const proof_words[N_PROOFS] = { "oracle", "optimum", "lower bound" };

struct hetero {
    struct canvas *c;
    struct data data;
    struct points points;
    int32_t n_schedulers;
    struct cost list[MAX_POINTS][MAX_SCHEDULERS];
    double oracle_usd[MAX_POINTS]; /* NaN = not known */
    enum proof proof[MAX_POINTS];
    bool over_best; /* the table has no ratios to the oracle: they are to the cheapest of the schedulers */
    double most_seeds;
    int64_t n_blank; /* rows that are done, but have no ratio */
    bool any_ratio, any_state, any_worst;
    struct axis x;
};

/*
 * Ratios are to the oracle; of a table that knows none in a row that is done, to the cheapest of the
 * schedulers. Decided once for the table, not by point: ratios to different things in one figure would not
 * compare.
 */
static bool knows_oracle(const struct rows *r)
{
    int32_t status = table_find(r->t, "status"), over = table_find(r->t, "over_oracle"),
            best = table_find(r->t, "over_best");

    return rows_know(r, over, status, "done") || (over >= 0 && !rows_know(r, best, status, "done"));
}

static void put_examples(struct text *out, double per_s)
{
    struct unit unit = unit_pick(unit_counts, per_s);

    text_printf(out, "%.3g%s%s", per_s / unit.scale, unit.name[0] ? " " : "", unit.name);
}

/* The word of a state and what follows it: "reaches 1.2 M of 2 M examples/s", "2 of 5 seeds have a plan". */
static int read_state(struct cost *c, struct canvas *canvas, const struct rows *r, struct err *e)
{
    struct text out = { 0 };
    char buf[NUM_TEXT];
    double reach, need;
    const char *message = rows_text(buf, r, table_find(r->t, "message"));
    int rc = rows_number(&reach, r, table_find(r->t, "reach_per_s"), e);

    if (!rc)
        rc = rows_number(&need, r, table_find(r->t, "need_per_s"), e);
    if (rc)
        return rc;
    char status[NUM_TEXT];
    text_puts(&out, rows_text(status, r, table_find(r->t, "status")));
    if (c->feasible > 0) {
        text_printf(&out, ": %.0f of %.0f seeds have a plan", c->feasible, c->seeds);
    } else if (reach > 0) {
        text_puts(&out, ": reaches ");
        put_examples(&out, reach);
        text_puts(&out, need > 0 ? " of " : "");
        if (need > 0)
            put_examples(&out, need);
        text_puts(&out, " examples/s");
    } else if (message[0]) {
        text_puts(&out, ": ");
        canvas_put_short(&out, message, MESSAGE);
    }
    c->state = canvas_keep_text(canvas, &out);
    return 0;
}

/* False where either is not known, as comparisons with NaN are. */
static bool has_worst(const struct cost *c)
{
    return c->worst > c->ratio * (1 + AXIS_SAME);
}

/* A scheduler has a plan when it has a ratio, be it that some seeds have none. */
static int read_cost(struct hetero *f, int64_t i, struct err *e)
{
    const struct data *d = &f->data;
    int32_t point = d->word[POINT][i];
    struct cost *c = &f->list[point][d->word[SCHEDULER][i]];
    const struct rows r = data_at(d, i);
    char buf[NUM_TEXT];
    int rc = 0;

    if (c->there) {
        data_leave_out(d, i, "repeat a point and a scheduler");
        return 0;
    }
    *c = (struct cost){ .there = true,
                        .is_free = d->x[USD][i] <= 0,
                        .ratio = d->x[RATIO][i],
                        .worst = f->over_best ? (double)NAN : d->x[WORST][i],
                        .seeds = d->x[SEEDS][i],
                        .feasible = d->x[FEASIBLE][i] };
    c->has_plan = !isnan(c->ratio) || rows_equal(&r, d->col[STATUS], "done");
    if (!c->has_plan)
        rc = read_state(c, f->c, &r, e);
    /* Rows of a point agree, but for those of errors, which know nothing. */
    if (d->x[ORACLE_USD][i] > 0) {
        const char *proof = rows_text(buf, &r, table_find(r.t, "oracle_proof"));
        f->oracle_usd[point] = d->x[ORACLE_USD][i];
        f->proof[point] = strcmp(proof, "optimal") == 0       ? OPTIMAL
                          : strcmp(proof, "lower bound") == 0 ? LOWER_BOUND
                                                              : f->proof[point];
    }
    f->most_seeds = fmax(f->most_seeds, c->seeds);
    f->n_blank += c->has_plan && isnan(c->ratio);
    f->any_ratio = f->any_ratio || c->ratio > 0;
    f->any_state = f->any_state || !c->has_plan;
    f->any_worst = f->any_worst || has_worst(c);
    return rc;
}

static int read_hetero(struct hetero *f, const struct rows *r, struct err *e)
{
    const struct data *d = &f->data;
    int32_t col;

    f->over_best = !knows_oracle(r);
    int rc = rows_column(&col, r, f->over_best ? "over_best" : "over_oracle", e);
    if (rc)
        return rc;
    const struct bind binds[N_COST_BINDS] = {
        [SCHEDULER] = { .column = "scheduler", AS_WORD, NEED },
        [POINT] = { .column = "point", AS_WORD, NEED, .most = MAX_POINTS },
        [STATUS] = { .column = "status", AS_WORD, NEED },
        [SEEDS] = { .column = "seeds", AS_NUMBER, MAY_MISS },
        [FEASIBLE] = { .column = "feasible", AS_NUMBER, MAY_MISS },
        [RATIO] = { .column = f->over_best ? "over_best" : "over_oracle", AS_ABOVE_ZERO, NEED },
        [WORST] = { .column = f->over_best ? "" : "over_oracle_worst", AS_ABOVE_ZERO, MAY_MISS },
        [USD] = { .column = "usd", AS_NUMBER, MAY_MISS },
        [ORACLE_USD] = { .column = "oracle_usd", AS_NUMBER, MAY_MISS },
    };
    rc = data_read(&f->data, f->c, r, binds, N_COST_BINDS, e);
    if (!rc)
        rc = points_describe(&f->points, d, POINT, e);
    for (int32_t k = 0; k < MAX_POINTS; k++)
        f->oracle_usd[k] = (double)NAN;
    for (int64_t i = 0; i < d->n && !rc; i++)
        if (d->word[SCHEDULER][i] < MAX_SCHEDULERS)
            rc = read_cost(f, i, e);
        else
            data_leave_out(d, i, "of other schedulers");
    for (int64_t i = 0; i < d->n && !rc && !f->any_ratio && !f->any_state; i++)
        data_leave_out(d, i, f->over_best ? "without over_best" : "without over_oracle");
    if (!rc && !f->any_ratio && !f->any_state)
        rc = data_none_left(d, e);
    f->n_schedulers = d->words[SCHEDULER].n < MAX_SCHEDULERS ? d->words[SCHEDULER].n : MAX_SCHEDULERS;
    return rc;
}

/* What the ratios are to: a word that is true of all points where it is known. Points of different proof
 * share the weakest word. */
static const char *reference_of(const struct hetero *f)
{
    enum proof proof = N_PROOFS;

    if (f->over_best)
        return "cheapest of the schedulers";
    for (int32_t k = 0; k < f->points.n; k++) {
        if (isnan(f->oracle_usd[k]))
            continue;
        if (proof != N_PROOFS && proof != f->proof[k])
            return proof_words[UNPROVED];
        proof = f->proof[k];
    }
    return proof_words[proof == N_PROOFS ? UNPROVED : proof];
}

/* Four digits or so: 1.004 is not the optimum. */
static const char *ratio_text(struct canvas *c, double x)
{
    return x < 1e6 ? canvas_keep(c, "%.*f", x < 10 ? 3 : x < 1000 ? 1 : 0, x) : canvas_keep(c, "%.3g", x);
}

/* A blank is of a scheduler that did not run. What costs nothing has no ratio. */
static const char *cost_end(struct canvas *canvas, const struct cost *c)
{
    if (!c->there)
        return "";
    if (!(c->ratio > 0))
        return !c->has_plan ? "–" : c->is_free ? "0 USD" : "no ratio";
    const char *ratio = ratio_text(canvas, c->ratio);
    if (c->feasible < c->seeds)
        return canvas_keep(canvas, "%s (%.0f of %.0f fail)", ratio, c->seeds - c->feasible, c->seeds);
    return has_worst(c) ? canvas_keep(canvas, "%s (%s)", ratio, ratio_text(canvas, c->worst)) : ratio;
}

/* The point, and what its ratios are to. */
static const char *cost_point(const struct hetero *f, int32_t point)
{
    const char *name = points_name(f->c, &f->points, point, POINT_NAME);
    double usd = f->oracle_usd[point];

    if (f->over_best || !(usd > 0))
        return name;
    struct unit unit = unit_pick(unit_usd, usd);
    return canvas_keep(f->c, "%s%s%s %.4g %s", name, name[0] ? ": " : "", proof_words[f->proof[point]],
                       usd / unit.scale, unit.name);
}

/* Words in a grey band as long as the axis where there is no bar: no number says how far off a scheduler is
 * that has no plan. They come first, for a label cannot stand in a block of data. */
static void put_states(struct hetero *f, const struct canvas_box *box, int32_t panel)
{
    double width = box->right - box->left, height = (box->bottom - box->top) / f->n_schedulers;
    double one = axis_share(&f->x, 1);

    for (int32_t i = 0; i < f->n_schedulers; i++) {
        const struct cost *c = &f->list[panel][i];
        struct canvas_label at = { .x_px = box->left + one * width + 6,
                                   .y_px = box->top + (i + 0.5) * height,
                                   .size_px = CANVAS_SMALL_PX,
                                   .room_px = (1 - one) * width - 10 };
        if (c->there && !c->has_plan)
            canvas_text(f->c, &at, c->state);
    }
    for (int32_t i = 0; i < f->n_schedulers; i++) {
        if (!f->list[panel][i].there || f->list[panel][i].has_plan)
            continue;
        canvas_break(f->c);
        canvas_area(f->c, f->x.lo, i + 1 - BAR_GAP, f->x.hi, i + BAR_GAP);
    }
    canvas_block_end(f->c, (struct mark){ MARK_AREA, BAR_OVER });
}

/* Whiskers run from the middle of a bar's end to the worst seed, with a blunt end: a MARK_WHISKER is upright.
 */
static void paint_costs(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct hetero *f = of;

    put_states(f, box, panel);
    for (int32_t i = 0; i < f->n_schedulers; i++) {
        double ratio = f->list[panel][i].ratio;
        if (f->list[panel][i].there && ratio > 0)
            canvas_bar(c, fmin(1, ratio), i + 1 - BAR_GAP, fmax(1, ratio), i + BAR_GAP);
    }
    canvas_block_end(c, (struct mark){ MARK_FILL, FILL_FIRST });
    for (int32_t i = 0; i < f->n_schedulers; i++) {
        const struct cost *cost = &f->list[panel][i];
        double y = i + 0.5;
        if (!has_worst(cost))
            continue;
        canvas_break(c);
        canvas_point(c, cost->ratio, y);
        canvas_point(c, cost->worst, y);
        canvas_point(c, cost->worst, y - WHISKER_Y);
        canvas_point(c, cost->worst, y + WHISKER_Y);
    }
    canvas_block_end(c, (struct mark){ MARK_FRONT, 0 });
    if (f->any_ratio)
        canvas_line(c, (struct mark){ MARK_FRONT, 0 }, 1, 0, 1, f->n_schedulers);
}

static void fit_ratios(struct hetero *f)
{
    double lo = 1, hi = 1;

    for (int32_t k = 0; k < f->points.n; k++)
        for (int32_t i = 0; i < f->n_schedulers; i++) {
            const struct cost *c = &f->list[k][i];
            lo = fmin(lo, c->ratio > 0 ? c->ratio : 1);
            hi = fmax(hi, c->ratio > 0 ? fmax(c->ratio, c->worst) : 1); /* fmax() passes over a NaN */
        }
    f->x = axis_ratio(lo, hi);
}

static void put_cost_notes(struct hetero *f)
{
    int32_t n_all = f->data.words[SCHEDULER].n;

    points_put_notes(f->c, &f->points);
    if (f->any_worst)
        canvas_note(f->c, "whiskers: worst of %.0f seeds", f->most_seeds);
    canvas_note_first(f->c, f->n_schedulers, n_all, "schedulers");
    if (f->n_blank > 0)
        canvas_note(f->c, "%lld rows have a plan but no ratio", (long long)f->n_blank);
}

int fig_hetero(struct canvas *c, const struct rows *r, struct err *e)
{
    struct hetero *f = canvas_new(c, 1, sizeof *f, e);
    const char *names[MAX_POINTS], *ends[MAX_POINTS * MAX_SCHEDULERS];

    if (!f)
        return ERR_NOMEM;
    f->c = c;
    int rc = read_hetero(f, r, e);
    if (rc)
        return rc;
    fit_ratios(f);
    for (int32_t k = 0; k < f->points.n; k++) {
        names[k] = cost_point(f, k);
        for (int32_t i = 0; i < f->n_schedulers; i++)
            ends[k * f->n_schedulers + i] = cost_end(c, &f->list[k][i]);
    }
    put_cost_notes(f);
    if (f->any_ratio) {
        canvas_legend(c, (struct mark){ MARK_FILL, FILL_FIRST }, "cost");
        canvas_legend(c, (struct mark){ MARK_FRONT, 0 }, reference_of(f));
    }
    if (f->any_state)
        canvas_legend(c, (struct mark){ MARK_AREA, BAR_OVER }, "no plan");
    const struct strips spec = { .names = names,
                                 .n_panels = f->points.n,
                                 .n_rows = f->n_schedulers,
                                 .labels = f->data.words[SCHEDULER].list,
                                 .ends = ends,
                                 .end_label = f->any_worst ? "median (worst)" : "",
                                 .x = f->x,
                                 .x_label = canvas_keep(c, "cost over that of the %s", reference_of(f)),
                                 .paint = paint_costs,
                                 .of = f };
    return strips_build(c, &spec, e);
}

/* ---- learning ---- */

enum {
    DOT_PX = 60,   /* from marker to marker of a line, at least */
    MAX_BANDS = 6, /* of a panel: more hide each other */
};

/* From these evaluations on. Seeds without a plan so far count as infinite. */
struct step {
    double evaluations; /* >= 1 */
    double middle;      /* median over the seeds; of an even number the mean of the two in the middle */
    double lo, hi;      /* of the best and the worst seed */
};

/* The seeds of one scheduler at one point. */
struct fig_curve {
    int32_t point, scheduler, style;
    int32_t n_seeds;
    const struct step *steps; /* shape [n], rising; each differs from the one before */
    int64_t n;
    double end; /* evaluations of the longest run */
};

enum { CURVE_SCHEDULER, CURVE_SEED, EVALUATIONS, COST, CURVE_POINT, N_CURVE_BINDS };

struct learning {
    struct canvas *c;
    struct data data;
    struct points points;
    struct fig_curve *curves; /* by point and scheduler */
    int32_t n_curves;
    double *best, *sorted; /* shape [seeds]: of one curve, best by seed; NaN = not its seed */
    bool in_usd;           /* no row knows the cost over the oracle's */
    bool any_zero;         /* evaluations of 0 stand at 1 */
    int64_t n_blank;       /* schedulers without any plan, counted at each point */
    struct axis x, y;
    struct unit unit;
    bool bands, any_seeds, any_fail; /* any_fail: a seed without a plan while others have one */
    struct wrap page;
};

/* What the seeds have come to. Infinite costs sort to the end: while fewer than half of the seeds have a
 * plan, so is the median. */
static struct step hetero_step_of(const struct learning *f, double evaluations)
{
    int32_t n = 0;

    for (int32_t i = 0; i < f->data.words[CURVE_SEED].n; i++)
        if (!isnan(f->best[i]))
            f->sorted[n++] = f->best[i];
    stat_sort(f->sorted, n);
    double middle = n % 2 ? f->sorted[n / 2] : (f->sorted[n / 2 - 1] + f->sorted[n / 2]) / 2;
    return (struct step){ evaluations, middle, f->sorted[0], f->sorted[n - 1] };
}

/*
 * The curve of n sorted rows, its steps from `steps` on. All its seeds count from the beginning; costs that
 * rise do not. Time O(rows * seeds log seeds). Rows of several seeds at one number of evaluations make one
 * step.
 */
static struct fig_curve join_seeds(const struct learning *f, const int64_t *order, int64_t n,
                                   struct step *steps)
{
    const struct data *d = &f->data;
    const double *evaluations = d->x[EVALUATIONS];
    struct fig_curve out = { .point = d->word[CURVE_POINT][order[0]],
                             .scheduler = d->word[CURVE_SCHEDULER][order[0]],
                             .steps = steps,
                             .end = evaluations[order[n - 1]] };

    for (int32_t i = 0; i < d->words[CURVE_SEED].n; i++)
        f->best[i] = (double)NAN;
    for (int64_t k = 0; k < n; k++) {
        out.n_seeds += isnan(f->best[d->word[CURVE_SEED][order[k]]]);
        f->best[d->word[CURVE_SEED][order[k]]] = HUGE_VAL;
    }
    for (int64_t k = 0; k < n; k++) {
        double *best = &f->best[d->word[CURVE_SEED][order[k]]], at = evaluations[order[k]];
        *best = fmin(*best, d->x[COST][order[k]]);
        if (k + 1 < n && evaluations[order[k + 1]] == at)
            continue;
        struct step s = hetero_step_of(f, at), *last = out.n ? &steps[out.n - 1] : NULL;
        bool same = last && s.middle == last->middle && s.lo == last->lo && s.hi == last->hi;
        if (s.lo < HUGE_VAL && !same)
            steps[out.n++] = s;
    }
    return out;
}

/* `steps` is one array for all curves: none has more steps than rows. */
static int join_curves(struct learning *f, struct err *e)
{
    const struct data *d = &f->data;
    const struct sort_key keys[] = { { .word = d->word[CURVE_POINT] },
                                     { .word = d->word[CURVE_SCHEDULER] },
                                     { .x = d->x[EVALUATIONS] } };
    struct step *steps = canvas_new(f->c, d->n, sizeof *steps, e);

    f->curves = canvas_new(f->c, d->n, sizeof *f->curves, e);
    f->best = canvas_new(f->c, d->words[CURVE_SEED].n, sizeof *f->best, e);
    f->sorted = canvas_new(f->c, d->words[CURVE_SEED].n, sizeof *f->sorted, e);
    if (!steps || !f->curves || !f->best || !f->sorted)
        return ERR_NOMEM;
    for (int64_t i = 0; i < d->n; i++) {
        f->any_zero = f->any_zero || d->x[EVALUATIONS][i] < 1;
        d->x[EVALUATIONS][i] = fmax(1, d->x[EVALUATIONS][i]);
        if (isnan(d->x[COST][i])) /* says how far its seed went */
            d->x[COST][i] = HUGE_VAL;
    }
    int64_t *order = data_order(d, keys, 3, e);
    for (int64_t first = 0, end; order && first < d->n; first = end) {
        end = data_group_end(order, first, d->n, keys, 2);
        struct fig_curve *curve = &f->curves[f->n_curves];
        *curve = join_seeds(f, order + first, end - first, steps);
        curve->style = 1 + curve->scheduler; /* as fig_place has them: the first is for references */
        steps += curve->n;
        f->n_curves += curve->n > 0;
        f->n_blank += curve->n == 0;
        for (int64_t k = first; k < end && curve->n == 0; k++)
            data_leave_out(d, order[k], "of a scheduler that found no plan");
    }
    if (!order)
        return ERR_NOMEM;
    return f->n_curves > 0 ? 0 : data_none_left(d, e);
}

/* Costs are over the oracle's where any row that passes knows it, else in USD. */
static int read_curves(struct learning *f, const struct rows *rows, struct err *e)
{
    f->in_usd = !rows_know(rows, table_find(rows->t, "over_oracle"), -1, NULL);
    const struct bind binds[N_CURVE_BINDS] = {
        [CURVE_SCHEDULER] = { .column = "scheduler", AS_WORD, NEED, .numbered = OF_TABLE },
        [CURVE_POINT] = { .column = "point", AS_WORD, NEED, .most = MAX_POINTS },
        [CURVE_SEED] = { .column = "seed", AS_WORD, NEED },
        [EVALUATIONS] = { .column = "evaluations", AS_COUNT, NEED, .most = INT32_MAX },
        [COST] = { .column = f->in_usd ? "usd" : "over_oracle", AS_ABOVE_ZERO, NEED },
    };
    int rc = data_read(&f->data, f->c, rows, binds, N_CURVE_BINDS, e);
    if (!rc)
        rc = points_describe(&f->points, &f->data, CURVE_POINT, e);
    return rc ? rc : join_curves(f, e);
}

/* The axis of costs is of what is finite; bands that are not go to the top of the frame. */
static void survey_curves(struct learning *f)
{
    double lo = HUGE_VAL, hi = 0, end = 1;
    int32_t n_bands[MAX_POINTS] = { 0 }, most = 0;

    for (int32_t i = 0; i < f->n_curves; i++) {
        const struct fig_curve *line = &f->curves[i];
        n_bands[line->point] += line->n_seeds > 1;
        most = n_bands[line->point] > most ? n_bands[line->point] : most;
        end = fmax(end, line->end);
        for (int64_t k = 0; k < line->n; k++) {
            const struct step *s = &line->steps[k];
            f->any_fail = f->any_fail || !isfinite(s->hi);
            lo = fmin(lo, s->lo);
            hi = fmax(hi, isfinite(s->hi) ? s->hi : s->lo);
            hi = fmax(hi, isfinite(s->middle) ? s->middle : s->lo);
        }
    }
    f->any_seeds = most > 0;
    f->bands = f->any_seeds && most <= MAX_BANDS;
    f->x = axis_log(1, fmax(end, 10));
    f->x.lo = pow(f->x.hi, -0.02);
    f->x.hi = fmax(end, 10) / f->x.lo; /* ends where the runs do, and as far beyond */
    f->unit = f->in_usd ? unit_pick(unit_usd, hi) : (struct unit){ 1, "" };
    f->y = f->in_usd ? axis_fit(lo / f->unit.scale, hi / f->unit.scale) : axis_ratio(lo, hi);
}

/* In the units of the panel: what is infinite is out of it. */
static double height_of(const struct learning *f, double cost)
{
    return fmin(cost / f->unit.scale, f->y.hi);
}

static double end_of(const struct fig_curve *line, int64_t k)
{
    return k + 1 < line->n ? line->steps[k + 1].evaluations : line->end;
}

/* Between the best and the worst seed: there along the worst, back along the best. */
static void hetero_put_band(const struct learning *f, const struct fig_curve *line)
{
    if (!f->bands || line->n_seeds < 2 || !(line->end > line->steps[0].evaluations))
        return;
    for (int64_t k = 0; k < line->n; k++) {
        canvas_point(f->c, line->steps[k].evaluations, height_of(f, line->steps[k].hi));
        canvas_point(f->c, end_of(line, k), height_of(f, line->steps[k].hi));
    }
    for (int64_t k = line->n - 1; k >= 0; k--) {
        canvas_point(f->c, end_of(line, k), height_of(f, line->steps[k].lo));
        canvas_point(f->c, line->steps[k].evaluations, height_of(f, line->steps[k].lo));
    }
    canvas_block_end(f->c, (struct mark){ MARK_BAND, line->style });
}

/* Level until the next improvement. It begins when half of the seeds have a plan. */
static void put_median(const struct learning *f, const struct fig_curve *line)
{
    for (int64_t k = 0; k < line->n; k++) {
        const struct step *s = &line->steps[k];
        if (!isfinite(s->middle))
            continue;
        canvas_point(f->c, s->evaluations, height_of(f, s->middle));
        canvas_point(f->c, end_of(line, k), height_of(f, s->middle));
    }
    canvas_block_end(f->c, (struct mark){ MARK_TRACE, line->style });
}

/* Markers at improvements that are far enough apart, and at the end. */
static void put_dots(const struct learning *f, const struct fig_curve *line, const struct canvas_box *box)
{
    double width = box->right - box->left, last = -HUGE_VAL, end = axis_share(&f->x, line->end) * width;
    const struct step *final = &line->steps[line->n - 1];

    if (!isfinite(final->middle))
        return;
    for (int64_t k = 0; k < line->n; k++) {
        const struct step *s = &line->steps[k];
        double at = axis_share(&f->x, s->evaluations) * width;
        if (!isfinite(s->middle) || at < last + DOT_PX || at > end - DOT_PX)
            continue;
        canvas_point(f->c, s->evaluations, height_of(f, s->middle));
        last = at;
    }
    canvas_point(f->c, line->end, height_of(f, final->middle));
    canvas_block_end(f->c, (struct mark){ MARK_DOT, line->style });
}

static void put_learning(struct learning *f, int32_t point)
{
    const struct panel p = { .box = wrap_box(&f->page, point), .x = f->x, .y = f->y };

    wrap_panel(&f->page, &p, point);
    for (int32_t i = 0; i < f->n_curves; i++)
        if (f->curves[i].point == point)
            hetero_put_band(f, &f->curves[i]);
    if (!f->in_usd)
        canvas_line(f->c, (struct mark){ MARK_FRONT, 0 }, f->x.lo, 1, f->x.hi, 1);
    for (int32_t i = 0; i < f->n_curves; i++)
        if (f->curves[i].point == point)
            put_median(f, &f->curves[i]);
    for (int32_t i = 0; i < f->n_curves; i++)
        if (f->curves[i].point == point)
            put_dots(f, &f->curves[i], &p.box);
    canvas_draw(f->c);
}

static void put_learning_notes(struct learning *f)
{
    int32_t least = INT32_MAX, most = 0;

    points_put_notes(f->c, &f->points);
    for (int32_t i = 0; i < f->n_curves; i++) {
        int32_t n = f->curves[i].n_seeds;
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
    if (f->any_zero)
        canvas_note(f->c, "no evaluations stand at 1");
    if (f->n_blank > 0)
        canvas_note(f->c,
                    f->points.n > 1   ? "left out: %lld lines of schedulers that found no plan"
                    : f->n_blank == 1 ? "left out: %lld scheduler that found no plan"
                                      : "left out: %lld schedulers that found no plan",
                    (long long)f->n_blank);
}

static int draw_learning(struct learning *f, struct err *e)
{
    static const struct wrap_look look = { .most = MAX_POINTS,
                                           .in_row = 2,
                                           .panel_px = 236,
                                           .least_px = 90,
                                           .alone = 1.5,
                                           .y_tics_px = 42,
                                           .gap_px = 12,
                                           .strip_px = 6 };
    const struct names *schedulers = &f->data.words[CURVE_SCHEDULER];
    const char *names[MAX_POINTS] = { "" };

    survey_curves(f);
    put_learning_notes(f);
    if (!f->in_usd)
        canvas_legend(f->c, (struct mark){ MARK_FRONT, 0 }, "oracle's cost");
    for (int32_t k = 0; k < schedulers->n; k++)
        for (int32_t i = 0; i < f->n_curves; i++)
            if (f->curves[i].scheduler == k) {
                canvas_legend(f->c, (struct mark){ MARK_LINE, 1 + k }, schedulers->list[k]);
                break;
            }
    /* Names are shortened to the width of a panel, which is known once the page is open; wrap_fit() keeps the
     * array. */
    wrap_fit(&f->page, f->c, &look, names, f->points.n);
    f->page.n_columns = f->points.n > 1 ? 2 : 1;
    int rc = wrap_open(&f->page, e);
    if (rc)
        return rc;
    struct canvas_box first = wrap_box(&f->page, 0);
    for (int32_t k = 0; k < f->points.n && f->points.n > 1; k++)
        names[k] = points_name(f->c, &f->points, k,
                               (size_t)((first.right - first.left) / (CANVAS_FONT_PX * CANVAS_CHAR)));
    canvas_axis_labels(f->c, &f->page.body, "plans evaluated",
                       f->in_usd ? canvas_keep(f->c, "cost [%s]", f->unit.name)
                                 : "cost over that of the oracle");
    for (int32_t k = 0; k < f->points.n; k++)
        put_learning(f, k);
    canvas_close(f->c);
    return 0;
}

int fig_learning(struct canvas *c, const struct rows *r, struct err *e)
{
    struct learning f = { .c = c };
    int rc = read_curves(&f, r, e);

    return rc ? rc : draw_learning(&f, e);
}
