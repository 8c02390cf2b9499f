/*
 * Methods of communication in training: accuracy over traffic and time (`weft gossip`), loss and exchanges
 * over time (--curves), and the bandwidth that each needs. A row of two panels is a point of the study.
 *
 * Fixed periods of a family of methods (every step, every 2nd, 4th..) are a curve with the period beside each
 * point; all other methods are markers, with a letter where shapes would repeat. Colours and shapes belong to
 * methods by their place in the whole table, so --where changes none.
 */
#include <math.h>
#include <string.h>

#include "base/sheet.h"
#include "plots/columns.h"
#include "plots/fig.h"
#include "plots/lanes.h"
#include "plots/page.h"
#include "plots/xy.h"

/* ---- methods ---- */

enum { POINT, METHOD, STATUS, SEEDS, VALUES };

/*
 * What each method came to: rows that are ok. Methods and families are those of the whole table, so that a
 * filter changes no colour. Indices of methods and families are into the names below, not into those of
 * `data`.
 */
struct trained {
    struct canvas *c;
    struct data data;
    struct points points;
    struct names methods, families; /* family "" where the table has none */
    int32_t *method, *family;       /* by row of `data` */
    double *period;                 /* by row: steps between exchanges; NaN = the method is no fixed period */
    int32_t *curves; /* by family: number of its curve, -1 = it has no two fixed periods in the table */
    int32_t n_curves;
    int32_t *marks; /* by method: position among those of which a row is on no curve, -1 = all are */
};

/* All rows of the table, be they drawn or not: which methods are fixed periods of a family with several of
 * them. `first` holds the period plus 1, as 0 stands for none. Time O(rows). */
static int survey_methods(struct trained *t, const struct rows *rows, double *periods, struct err *e)
{
    int32_t method = table_find(rows->t, "method"), family = table_find(rows->t, "family"), n_marks = 0;
    int32_t period = table_find(rows->t, "period");
    int64_t n = rows->t->n_rows;
    double *first =
        canvas_new(t->c, n, sizeof *first, e); /* the first fixed period of each family; 0 = none so far */
    bool *several = canvas_new(t->c, n, sizeof *several, e), *apart = canvas_new(t->c, n, sizeof *apart, e);
    int32_t *method_of = canvas_new(t->c, n, sizeof *method_of, e); /* by row, as the next */
    int32_t *family_of = canvas_new(t->c, n, sizeof *family_of, e);
    struct rows r = *rows;
    char buf[NUM_TEXT];

    t->curves = canvas_new(t->c, n, sizeof *t->curves, e);
    t->marks = canvas_new(t->c, n, sizeof *t->marks, e);
    if (!first || !several || !apart || !method_of || !family_of || !t->curves || !t->marks)
        return ERR_NOMEM;
    for (r.row = 0; r.row < n; r.row++) {
        int32_t f = names_add(t->c, &t->families, rows_text(buf, &r, family));
        method_of[r.row] = names_add(t->c, &t->methods, rows_text(buf, &r, method));
        family_of[r.row] = f;
        int rc = rows_number(&periods[r.row], &r, period, e);
        if (rc)
            return rc;
        if (isnan(periods[r.row]))
            continue;
        several[f] = several[f] || (first[f] > 0 && periods[r.row] != first[f] - 1);
        first[f] = first[f] > 0 ? first[f] : periods[r.row] + 1;
    }
    for (int32_t f = 0; f < t->families.n; f++)
        t->curves[f] = several[f] ? t->n_curves++ : -1;
    /* A method whose rows know no period at some points is on the curve at the others alone. */
    for (int64_t i = 0; i < n; i++)
        apart[method_of[i]] = apart[method_of[i]] || isnan(periods[i]) || t->curves[family_of[i]] < 0;
    for (int32_t m = 0; m < t->methods.n; m++)
        t->marks[m] = apart[m] ? n_marks++ : -1;
    return 0;
}

/* Read the rows that pass, at the first @p most_points points, and of each the @p n columns; rows in which
 * one of those that are FILLED is blank are left out. Their binds follow from VALUES on. 0 points = all. */
static int read_trained(struct trained *t, struct canvas *c, const struct rows *r, const struct bind *columns,
                        int32_t n, int32_t most_points, struct err *e)
{
    struct bind binds[DATA_MAX] = { [POINT] = { .column = "point", AS_WORD, NEED, .most = most_points },
                                    [METHOD] = { .column = "method", AS_WORD, NEED },
                                    [STATUS] = { .column = "status", AS_STATUS, NEED, .word = "ok" },
                                    [SEEDS] = { .column = "seeds", AS_NUMBER, MAY_MISS } };
    double *periods = canvas_new(c, r->t->n_rows, sizeof *periods, e);
    const struct data *d = &t->data;
    char buf[NUM_TEXT];

    t->c = c;
    if (!periods)
        return ERR_NOMEM;
    memcpy(binds + VALUES, columns, (size_t)n * sizeof *binds);
    int rc = survey_methods(t, r, periods, e);
    if (!rc)
        rc = data_read(&t->data, c, r, binds, VALUES + n, e);
    if (!rc)
        rc = points_describe(&t->points, d, POINT, e);
    t->method = canvas_new(c, d->n, sizeof *t->method, e);
    t->family = canvas_new(c, d->n, sizeof *t->family, e);
    t->period = canvas_new(c, d->n, sizeof *t->period, e);
    if (rc || !t->method || !t->family || !t->period)
        return rc ? rc : ERR_NOMEM;
    for (int64_t i = 0; i < d->n; i++) {
        t->method[i] = names_find(&t->methods, data_text(buf, d, i, d->col[METHOD]));
        t->family[i] = names_find(&t->families, data_text(buf, d, i, table_find(r->t, "family")));
        t->period[i] = periods[d->row[i]];
    }
    return 0;
}

/* Whether the row is one of the fixed periods that its family's curve joins. */
static bool is_on_curve(const struct trained *t, int64_t i)
{
    return t->curves[t->family[i]] >= 0 && !isnan(t->period[i]);
}

/*
 * Style of the MARK_LINE of a method: of the eight of round r without the dark grey, near the black of
 * another with its dash and marker, for which style + r is a multiple of 8: plots/marks.c. So 56 look
 * different. Seven of each round of eight; after eight rounds of seven styles repeat.
 */
static int32_t line_style(int32_t method)
{
    int32_t round = method / 7, at = method % 7, grey = (8 - round % 8) % 8;

    return 8 * round + at + (at >= grey);
}

/* ---- accuracy over traffic and time ---- */

enum { ACCURACY = VALUES, TRAFFIC, TIME, HALF };

/* Of the accuracy that the study compares: intervals are of its differences to the baseline. */
static const struct accuracy {
    const char *column, *label;
} workers = { "accuracy_pct", "accuracy of workers [%]" },
  averaged = { "average_pct", "accuracy of averaged model [%]" };

/* So many methods that are no fixed period have markers that differ in grey; of more each has a letter too.
 */
enum { PLAIN_METHODS = 7 };

enum { MAX_PLACES = 4096 };

struct gossip {
    struct canvas *c;
    struct trained t;
    struct axis x[2];          /* that all points share */
    struct axis y[PAIRS_MOST]; /* that both panels of a point share */
    bool *drawn, *curve_drawn; /* by method, by family */
    int64_t *order;            /* rows of one curve */
    struct places places;
    const char *x_labels[2];
    bool letters, any_zero, any_half, any_cut;
    struct panel on;       /* the panel at hand: */
    int32_t point, column; /* over traffic (column 0) or over time */
};

static double gossip_value_of(const struct gossip *f, int k, int64_t i)
{
    return f->t.data.x[k][i];
}

static double half_of(const struct gossip *f, int64_t i)
{
    double half = gossip_value_of(f, HALF, i);
    return isnan(half) ? 0 : half;
}

static int choose_marks(struct gossip *f, struct err *e)
{
    const struct trained *t = &f->t;
    int32_t n_drawn = 0;

    f->drawn = canvas_new(f->c, t->methods.n, sizeof *f->drawn, e);
    f->curve_drawn = canvas_new(f->c, t->families.n, sizeof *f->curve_drawn, e);
    f->order = canvas_new(f->c, t->data.n, sizeof *f->order, e);
    if (!f->drawn || !f->curve_drawn || !f->order)
        return ERR_NOMEM;
    for (int64_t i = 0; i < t->data.n; i++)
        if (is_on_curve(t, i))
            f->curve_drawn[t->family[i]] = true;
        else
            f->drawn[t->method[i]] = true;
    for (int32_t k = 0; k < t->methods.n; k++)
        n_drawn += f->drawn[k];
    f->letters = n_drawn > PLAIN_METHODS;
    return places_begin(&f->places, f->c, MAX_PLACES, e);
}

/* Filled, then hollow, in other colours each round. Markers go on where those of the curves end; the first
 * curve's is none of theirs. */
static struct mark gossip_mark_of(const struct gossip *f, int32_t method)
{
    int32_t style = f->t.marks[method] + (f->t.n_curves > 0 ? f->t.n_curves - 1 : 0);
    return (struct mark){ style / MARKS_SHAPES % 2 ? MARK_HOLLOW : MARK_POINT, style };
}

/* By position among the drawn ones. */
static void put_method_letter(struct text *out, const struct gossip *f, int32_t method)
{
    int32_t k = 0;

    for (int32_t i = 0; i < method; i++)
        k += f->drawn[i];
    places_put_letter(out, k);
}

/* Values are divided in place by the unit of their axis: from here on they are what is drawn. Zero, which a
 * log axis has no place for, is drawn at the left end: row_at(). */
static void gossip_fit_x(struct gossip *f)
{
    static const int columns[] = { TRAFFIC, TIME };

    for (int k = 0; k < 2; k++) {
        double *x = f->t.data.x[columns[k]], lo = HUGE_VAL, hi = 0;
        for (int64_t i = 0; i < f->t.data.n; i++) {
            lo = x[i] > 0 ? fmin(lo, x[i]) : lo;
            hi = fmax(hi, x[i]);
            f->any_zero = f->any_zero || x[i] == 0;
        }
        if (!(lo <= hi))
            lo = hi = 1;
        struct unit unit = data_unit(&f->t.data, columns[k], hi, &f->x_labels[k]);
        for (int64_t i = 0; i < f->t.data.n; i++)
            x[i] /= unit.scale;
        lo /= unit.scale;
        hi /= unit.scale;
        f->x[k] = hi / lo > AXIS_LOG_RATIO ? axis_log(lo, hi) : axis_around(lo, hi);
    }
}

/* Intervals go on at most as far beyond the values as these are apart, or a point: with few seeds they are
 * wide, and what is compared would be one line. */
static void gossip_fit_y(struct gossip *f, int32_t point)
{
    double lo = HUGE_VAL, hi = 0, low_end = HUGE_VAL, high_end = 0;

    for (int64_t i = 0; i < f->t.data.n; i++) {
        double at = gossip_value_of(f, ACCURACY, i), half = half_of(f, i);
        if (f->t.data.word[POINT][i] != point)
            continue;
        lo = fmin(lo, at);
        hi = fmax(hi, at);
        low_end = fmin(low_end, at - half);
        high_end = fmax(high_end, at + half);
        f->any_half = f->any_half || half > 0;
    }
    lo = fmin(lo, hi);
    double room = fmax(1, hi - lo);
    f->y[point] = axis_around(fmax(0, fmax(low_end, lo - room)), fmin(high_end, hi + room));
    f->any_cut = f->any_cut || low_end < f->y[point].lo || high_end > f->y[point].hi;
}

static struct canvas_xy row_at(struct gossip *f, int64_t i)
{
    return (struct canvas_xy){ fmax(gossip_value_of(f, f->column ? TIME : TRAFFIC, i), f->on.x.lo),
                               gossip_value_of(f, ACCURACY, i) };
}

static bool is_here(struct gossip *f, int64_t i)
{
    return f->t.data.word[POINT][i] == f->point;
}

/* Thin, for many overlap. */
static void gossip_put_whiskers(struct gossip *f)
{
    for (int64_t i = 0; i < f->t.data.n; i++) {
        struct canvas_xy at = row_at(f, i);
        struct canvas_xy lo = { at.x, fmax(at.y - half_of(f, i), f->on.y.lo) },
                         hi = { at.x, fmin(at.y + half_of(f, i), f->on.y.hi) };
        if (!is_here(f, i) || !(half_of(f, i) > 0))
            continue;
        canvas_break(f->c);
        canvas_point(f->c, lo.x, lo.y);
        canvas_point(f->c, hi.x, hi.y);
        places_take_line(&f->places, panel_px(&f->on, lo), panel_px(&f->on, hi));
    }
    canvas_block_end(f->c, (struct mark){ MARK_RULE, 0 });
}

/* The fixed periods of a family, by period. */
static int gossip_put_curve(struct gossip *f, int32_t family, struct err *e)
{
    const struct sort_key key = { .x = f->t.period };
    int64_t n = 0;

    for (int64_t i = 0; i < f->t.data.n; i++)
        if (is_here(f, i) && f->t.family[i] == family && is_on_curve(&f->t, i))
            f->order[n++] = i;
    int rc = data_sort(f->order, n, &key, 1, e);
    for (int64_t k = 0; k < n; k++) {
        struct canvas_xy at = row_at(f, f->order[k]);
        canvas_mark_row(f->c, f->t.data.row[f->order[k]]);
        canvas_point(f->c, at.x, at.y);
        if (k > 0)
            places_take_line(&f->places, panel_px(&f->on, row_at(f, f->order[k - 1])), panel_px(&f->on, at));
    }
    canvas_block_end(f->c, (struct mark){ MARK_LINE, f->t.curves[family] });
    return rc;
}

static void gossip_put_points(struct gossip *f, int32_t method)
{
    for (int64_t i = 0; i < f->t.data.n; i++) {
        struct canvas_xy at = row_at(f, i);
        canvas_mark_row(f->c, f->t.data.row[i]);
        if (is_here(f, i) && f->t.method[i] == method && !is_on_curve(&f->t, i))
            canvas_point(f->c, at.x, at.y);
    }
    canvas_block_end(f->c, gossip_mark_of(f, method));
}

/* Periods beside the points of curves; letters beside the others, when they are many: these find room first,
 * for periods can be counted along their curve. */
static void gossip_put_texts(struct gossip *f, bool fixed)
{
    for (int64_t i = 0; i < f->t.data.n; i++) {
        struct text label = { 0 };
        if (!is_here(f, i) || is_on_curve(&f->t, i) != fixed || (!fixed && !f->letters))
            continue;
        if (fixed)
            text_printf(&label, "%.6g", f->t.period[i]);
        else
            put_method_letter(&label, f, f->t.method[i]);
        places_put(&f->places, f->c, panel_px(&f->on, row_at(f, i)), canvas_keep_text(f->c, &label),
                   fixed ? CANVAS_GREY : CANVAS_BLACK);
    }
}

static void paint_gossip(struct canvas *c, const struct canvas_box *box, int32_t point, int32_t column,
                         void *of)
{
    struct gossip *f = of;
    struct err e;

    f->on = (struct panel){ *box, f->x[column], f->y[point] };
    f->point = point;
    f->column = column;
    f->places.inside = (struct canvas_box){ box->left + 2, box->top + 1, box->right - 2, box->bottom - 1 };
    f->places.n = 0;
    canvas_panel(c, box, &f->on.x, &f->on.y);
    for (int64_t i = 0; i < f->t.data.n; i++)
        if (is_here(f, i))
            places_take_marker(&f->places, panel_px(&f->on, row_at(f, i)));
    gossip_put_whiskers(f);
    for (int32_t k = 0; k < f->t.families.n; k++)
        /* paint() returns nothing; a failed text is reported as ERR_NOMEM when the script is taken. */
        c->image.failed = gossip_put_curve(f, k, &e) || c->image.failed;
    for (int32_t k = 0; k < f->t.methods.n; k++)
        gossip_put_points(f, k);
    gossip_put_texts(f, false);
    gossip_put_texts(f, true);
}

static void put_gossip_notes(struct gossip *f)
{
    const double *seeds = f->t.data.x[SEEDS];
    bool any = false;
    double most = 0;

    points_put_notes(f->c, &f->t.points);
    for (int64_t i = 0; i < f->t.data.n; i++)
        most = fmax(most, seeds[i]);
    for (int32_t k = 0; k < f->t.families.n; k++)
        any = any || f->curve_drawn[k];
    if (any)
        canvas_note(f->c, "numbers: steps between exchanges");
    const char *cut = f->any_cut ? ", cut at the frame" : "";
    if (f->any_half && most > 1)
        canvas_note(f->c, "upright lines: 95 %% interval of the difference to the baseline, %.0f seeds%s",
                    most, cut);
    else if (f->any_half)
        canvas_note(f->c, "upright lines: 95 %% interval of the difference to the baseline%s", cut);
    if (f->any_zero)
        canvas_note(f->c, "no traffic stands at the left end");
}

static void put_gossip_legend(struct gossip *f)
{
    const struct trained *t = &f->t;

    for (int32_t k = 0; k < t->families.n; k++)
        if (f->curve_drawn[k])
            canvas_legend(f->c, (struct mark){ MARK_LINE, t->curves[k] },
                          canvas_keep(f->c, "%s%sfixed period", t->families.list[k],
                                      t->families.list[k][0] ? ", " : ""));
    for (int32_t k = 0; k < t->methods.n; k++) {
        struct text label = { 0 };
        if (!f->drawn[k])
            continue;
        if (f->letters)
            put_method_letter(&label, f, k);
        text_printf(&label, "%s%s", f->letters ? "  " : "", t->methods.list[k]);
        canvas_legend(f->c, gossip_mark_of(f, k), canvas_keep_text(f->c, &label));
    }
}

/* One table compares one accuracy; the workers' where it does not say which. By the first row that passes. */
static const struct accuracy *find_accuracy(const struct rows *rows)
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
    const struct accuracy *accuracy = find_accuracy(r);
    const struct bind columns[] = { { .column = accuracy->column, AS_NUMBER, FILLED },
                                    { .column = "traffic_MB", AS_NUMBER, FILLED },
                                    { .column = COL_TIME_S, AS_NUMBER, FILLED },
                                    { .column = "accuracy_vs_base_half", AS_NUMBER, NEED } };
    struct gossip f = { .c = c };
    int rc = read_trained(&f.t, c, r, columns, 4, PAIRS_MOST, e);

    if (!rc)
        rc = choose_marks(&f, e);
    if (rc)
        return rc;
    gossip_fit_x(&f);
    for (int32_t k = 0; k < f.t.points.n; k++)
        gossip_fit_y(&f, k);
    put_gossip_notes(&f);
    put_gossip_legend(&f);
    const struct pairs spec = { .points = &f.t.points,
                                .x_labels = { f.x_labels[0], f.x_labels[1] },
                                .y_labels = { accuracy->label, accuracy->label },
                                .paint = paint_gossip,
                                .of = &f };
    return pairs_build(c, &spec, e);
}

/* ---- loss and exchanges over time ---- */

enum {
    DOT_PX = 60, /* from marker to marker of a line, at least */
    BIT_PX = 10, /* of a line that letters stay clear of: straight so far */
    SHAPES = 8,  /* dashes and markers of MARK_LINE: plots/canvas.h */
};

enum { LOSS_METHOD, LOSS_SEED, STEPS, LOSS_TIME, LOSS, EXCHANGES, LOSS_POINT, N_LOSS_BINDS };
static const struct bind loss_binds[N_LOSS_BINDS] = {
    [LOSS_METHOD] = { .column = "method", AS_WORD, NEED, .numbered = OF_TABLE },
    [LOSS_SEED] = { .column = "seed", AS_WORD, NEED },
    [STEPS] = { .column = "steps", AS_COUNT, NEED, .most = INT32_MAX },
    [LOSS_TIME] = { .column = COL_TIME_S, AS_NUMBER, NEED },
    [LOSS] = { .column = "loss", AS_NUMBER, NEED },
    [EXCHANGES] = { .column = "exchanges", AS_NUMBER, NEED },
    [LOSS_POINT] = { .column = "point", AS_WORD, NEED, .most = PAIRS_MOST },
};

/* After so many steps; means of the seeds. */
struct loss_step {
    double time_s, y[2]; /* loss, exchanges */
};

/* The seeds of one method at one point. */
struct loss_line {
    int32_t point, method, n_seeds;
    struct loss_step *list; /* shape [n >= 1], by steps: those that every seed has */
    int64_t n;
};

struct loss_fig {
    struct canvas *c;
    struct data data;
    struct points points;
    struct loss_line *lines; /* by point and method */
    int32_t n_lines;
    int64_t *ends, n_short; /* ends: of one line, the last row of each seed; -1 = not its seed */
    bool smoothed;
    struct axis x, y[2]; /* of all points; y by column; x in `time` */
    struct unit time;
    const char *x_label;
    int32_t *letters; /* by method: position among the drawn ones, -1 = not drawn */
    struct places places;
    bool lettered;
    struct panel on; /* the panel at hand */
    int32_t column;
};

/* A row without a time, a loss or exchanges does not count: that run has diverged. */
static bool gossip_is_whole(const struct data *d, int64_t i)
{
    return !isnan(d->x[LOSS_TIME][i]) && !isnan(d->x[LOSS][i]) && !isnan(d->x[EXCHANGES][i]);
}

/*
 * Mean of n rows of the same number of steps; false unless each seed of the line has one. Of several rows of
 * a seed the last counts. The rows are sorted by seed, so repeated ones are neighbours. The sum is divided at
 * the end; without whole rows it is NaN and the step is not taken.
 */
static bool average(struct loss_step *out, const struct data *d, const int64_t *order, int64_t n,
                    int32_t n_seeds)
{
    double n_whole = 0;

    *out = (struct loss_step){ 0 };
    for (int64_t k = 0; k < n; k++) {
        int64_t i = order[k];
        if ((k + 1 < n && d->word[LOSS_SEED][order[k + 1]] == d->word[LOSS_SEED][i]) ||
            !gossip_is_whole(d, i))
            continue;
        n_whole++;
        out->time_s += d->x[LOSS_TIME][i];
        out->y[0] += d->x[LOSS][i];
        out->y[1] += d->x[EXCHANGES][i];
    }
    out->time_s /= n_whole;
    out->y[0] /= n_whole;
    out->y[1] /= n_whole;
    return n_whole == n_seeds;
}

/* How many seeds the rows have, and whether one ends before another. A mean over fewer seeds from some step
 * on would jump: the line ends with the first seed that does. */
static int32_t count_seeds(struct loss_fig *f, const int64_t *order, int64_t n, bool *differ)
{
    const struct data *d = &f->data;
    int32_t n_all = d->words[LOSS_SEED].n, n_seeds = 0;

    for (int32_t i = 0; i < n_all; i++)
        f->ends[i] = -1;
    for (int64_t k = 0; k < n; k++) {
        int64_t *end = &f->ends[d->word[LOSS_SEED][order[k]]];
        n_seeds += *end < 0;
        if (gossip_is_whole(d, order[k]) || *end < 0)
            *end = order[k];
    }
    *differ = false;
    for (int32_t i = 0; i < n_all; i++)
        *differ = *differ || (f->ends[i] >= 0 && d->x[STEPS][f->ends[i]] < d->x[STEPS][order[n - 1]]);
    return n_seeds;
}

/*
 * Losses of single batches scatter: in lines of 40 steps and more each becomes the mean of those around it, 5
 * % of the line in all. At the ends the window shrinks on both sides alike, so that the mean is not shifted
 * along a slope. Whether anything was changed. Time O(n²/20), with lines of at most some thousand steps.
 */
static bool smooth(struct loss_step *list, int64_t n, double *loss)
{
    int64_t half = n / 40;

    for (int64_t i = 0; i < n; i++)
        loss[i] = list[i].y[0];
    for (int64_t i = 0; i < n; i++) {
        int64_t reach = i < half ? i : half;
        reach = n - 1 - i < reach ? n - 1 - i : reach;
        list[i].y[0] = 0;
        for (int64_t k = i - reach; k <= i + reach; k++)
            list[i].y[0] += loss[k] / (double)(2 * reach + 1);
    }
    return half > 0;
}

/* The line of n sorted rows, its steps from `out` on. */
static struct loss_line join_line(struct loss_fig *f, const int64_t *order, int64_t n, struct loss_step *out,
                                  double *loss)
{
    const struct data *d = &f->data;
    struct loss_line line = { .point = d->word[LOSS_POINT][order[0]],
                              .method = d->word[LOSS_METHOD][order[0]],
                              .list = out };
    bool differ;

    line.n_seeds = count_seeds(f, order, n, &differ);
    for (int64_t i = 0, next; i < n; i = next) {
        for (next = i; next < n && d->x[STEPS][order[next]] == d->x[STEPS][order[i]];)
            next++;
        bool all = average(&out[line.n], d, order + i, next - i, line.n_seeds);
        line.n += all;
        for (int64_t k = i; k < next && !all; k++)
            data_leave_out(d, order[k], "at a step that not all seeds have");
    }
    f->smoothed = smooth(out, line.n, loss) || f->smoothed;
    f->n_short += differ && line.n > 0;
    return line;
}

static int join_lines(struct loss_fig *f, struct err *e)
{
    const struct data *d = &f->data;
    const struct sort_key keys[] = { { .word = d->word[LOSS_POINT] },
                                     { .word = d->word[LOSS_METHOD] },
                                     { .x = d->x[STEPS] },
                                     { .word = d->word[LOSS_SEED] } };
    int64_t *order = data_order(d, keys, 4, e);
    double *loss = canvas_new(f->c, d->n, sizeof *loss, e);
    struct loss_step *steps = canvas_new(f->c, d->n, sizeof *steps, e);

    f->lines = canvas_new(f->c, d->n, sizeof *f->lines, e);
    f->ends = canvas_new(f->c, d->words[LOSS_SEED].n, sizeof *f->ends, e);
    if (!order || !loss || !steps || !f->lines || !f->ends)
        return ERR_NOMEM;
    for (int64_t first = 0, end; first < d->n; first = end) {
        end = data_group_end(order, first, d->n, keys, 2);
        struct loss_line *line = &f->lines[f->n_lines];
        *line = join_line(f, order + first, end - first, steps, loss);
        steps += line->n;
        f->n_lines += line->n > 0;
    }
    return f->n_lines > 0 ? 0 : data_none_left(d, e);
}

static int read_losses(struct loss_fig *f, const struct rows *r, struct err *e)
{
    int rc = data_read(&f->data, f->c, r, loss_binds, N_LOSS_BINDS, e);

    if (!rc)
        rc = points_describe(&f->points, &f->data, LOSS_POINT, e);
    return rc ? rc : join_lines(f, e);
}

/* Where two of the drawn methods have the same dash and marker, which is all that grey shows, each has a
 * letter. */
static int choose_letters(struct loss_fig *f, struct err *e)
{
    const struct names *methods = &f->data.words[LOSS_METHOD];
    bool used[SHAPES] = { false };
    int32_t n = 0;

    f->letters = canvas_new(f->c, methods->n, sizeof *f->letters, e);
    if (!f->letters)
        return ERR_NOMEM;
    for (int32_t k = 0; k < methods->n; k++)
        f->letters[k] = -1;
    for (int32_t i = 0; i < f->n_lines; i++)
        f->letters[f->lines[i].method] = 0;
    for (int32_t k = 0; k < methods->n; k++) {
        if (f->letters[k] < 0)
            continue;
        bool *shape = &used[line_style(k) % SHAPES];
        f->lettered = f->lettered || *shape;
        *shape = true;
        f->letters[k] = n++;
    }
    return places_begin(&f->places, f->c, MAX_PLACES, e);
}

/* Linear from zero, or log where what lines end with (so that all of them are seen) is far apart. Losses that
 * fall from 7 to 2 stay linear; exchanges that end at 10 and at 10,000 are log. */
static struct axis fit_loss_y(const struct loss_fig *f, int column)
{
    double lo = HUGE_VAL, hi = 0, least = HUGE_VAL;

    for (int32_t i = 0; i < f->n_lines; i++) {
        const struct loss_line *line = &f->lines[i];
        double end = line->list[line->n - 1].y[column];
        lo = end > 0 ? fmin(lo, end) : lo;
        for (int64_t k = 0; k < line->n; k++) {
            double y = line->list[k].y[column];
            hi = fmax(hi, y);
            least = y > 0 ? fmin(least, y) : least;
        }
    }
    return lo < hi && hi / lo > AXIS_LOG_RATIO ? axis_log(least, hi) : axis_bars(hi);
}

static void fit_loss(struct loss_fig *f)
{
    double end = 0;

    for (int32_t i = 0; i < f->n_lines; i++)
        for (int64_t k = 0; k < f->lines[i].n; k++)
            end = fmax(end, f->lines[i].list[k].time_s);
    f->time = data_unit(&f->data, LOSS_TIME, end, &f->x_label);
    f->x = axis_bars(end / f->time.scale);
    f->y[0] = fit_loss_y(f, 0);
    f->y[1] = fit_loss_y(f, 1);
}

/* What a log axis does not show is left out. */
static bool gossip_is_shown(struct loss_fig *f, const struct loss_step *s)
{
    return !f->on.y.log || s->y[f->column] > 0;
}

static struct canvas_xy step_at(struct loss_fig *f, const struct loss_step *s)
{
    return (struct canvas_xy){ s->time_s / f->time.scale, s->y[f->column] };
}

static void put_loss_line(struct loss_fig *f, const struct loss_line *line)
{
    struct canvas_xy last = { 0, 0 };

    for (int64_t k = 0; k < line->n; k++) {
        if (!gossip_is_shown(f, &line->list[k]))
            continue;
        struct canvas_xy at = step_at(f, &line->list[k]), px = panel_px(&f->on, at);
        if (f->c->n_items == 0)
            last = px;
        canvas_point(f->c, at.x, at.y);
        if (hypot(px.x - last.x, px.y - last.y) < BIT_PX)
            continue;
        /* In bits of some pixels: a line of thousands of steps would fill all places. */
        places_take_line(&f->places, last, px);
        last = px;
    }
    canvas_block_end(f->c, (struct mark){ MARK_TRACE, line_style(line->method) });
}

/* Markers, far enough apart; of each line elsewhere, so that lines close to each other keep theirs. The first
 * stands an eighth of the distance further right for each method. */
static void put_loss_dots(struct loss_fig *f, const struct loss_line *line)
{
    double last = DOT_PX * (line->method % 8 / 8.0 - 1);

    for (int64_t k = 0; k < line->n; k++) {
        if (!gossip_is_shown(f, &line->list[k]))
            continue;
        struct canvas_xy at = step_at(f, &line->list[k]), px = panel_px(&f->on, at);
        if (px.x - f->on.box.left < last + DOT_PX && line->n > 1)
            continue;
        canvas_point(f->c, at.x, at.y);
        places_take_marker(&f->places, px);
        last = px.x - f->on.box.left;
    }
    canvas_block_end(f->c, (struct mark){ MARK_DOT, line_style(line->method) });
}

/* At the end of the line or, where there is no room, at the last step before it where there is. */
static void put_loss_letter(struct loss_fig *f, const struct loss_line *line)
{
    struct text made = { 0 };
    double last = HUGE_VAL;

    places_put_letter(&made, f->letters[line->method]);
    const char *letter = canvas_keep_text(f->c, &made);
    for (int64_t k = line->n - 1; k >= 0; k--) {
        struct canvas_xy px = panel_px(&f->on, step_at(f, &line->list[k]));
        if (!gossip_is_shown(f, &line->list[k]) || px.x > last - BIT_PX)
            continue;
        last = px.x;
        if (places_put(&f->places, f->c, px, letter, CANVAS_BLACK))
            break;
    }
}

static void paint_loss(struct canvas *c, const struct canvas_box *box, int32_t point, int32_t column,
                       void *of)
{
    void (*const puts[])(struct loss_fig *, const struct loss_line *) = { put_loss_line, put_loss_dots,
                                                                          put_loss_letter };
    struct loss_fig *f = of;

    f->on = (struct panel){ *box, f->x, f->y[column] };
    f->column = column;
    f->places.inside = (struct canvas_box){ box->left + 2, box->top + 1, box->right - 2, box->bottom - 1 };
    f->places.n = 0;
    canvas_panel(c, box, &f->on.x, &f->on.y);
    for (int k = 0; k < (f->lettered ? 3 : 2); k++)
        for (int32_t i = 0; i < f->n_lines; i++)
            if (f->lines[i].point == point)
                puts[k](f, &f->lines[i]);
}

static void put_loss_notes(struct loss_fig *f)
{
    int32_t least = INT32_MAX, most = 0;

    points_put_notes(f->c, &f->points);
    canvas_note(f->c, "loss: of each worker on its own shard, so low too where models have drifted apart");
    canvas_note(f->c, "exchanges: messages, pairs, collectives");
    for (int32_t i = 0; i < f->n_lines; i++) {
        least = f->lines[i].n_seeds < least ? f->lines[i].n_seeds : least;
        most = f->lines[i].n_seeds > most ? f->lines[i].n_seeds : most;
    }
    if (most > 1 && least < most)
        canvas_note(f->c, "means of %d to %d seeds", (int)least, (int)most);
    else if (most > 1)
        canvas_note(f->c, "means of %d seeds", (int)most);
    if (f->smoothed)
        canvas_note(f->c, "loss shown: running mean over 5 %% of the steps");
    if (f->n_short > 0)
        canvas_note(f->c, "%lld %s with the first seed that ends", (long long)f->n_short,
                    f->n_short == 1 ? "line ends" : "lines end");
}

int fig_gossip_loss(struct canvas *c, const struct rows *r, struct err *e)
{
    struct loss_fig f = { .c = c };
    int rc = read_losses(&f, r, e);

    if (!rc)
        rc = choose_letters(&f, e);
    if (rc)
        return rc;
    fit_loss(&f);
    put_loss_notes(&f);
    for (int32_t k = 0; k < f.data.words[LOSS_METHOD].n; k++) {
        struct text label = { 0 };
        if (f.letters[k] < 0)
            continue;
        if (f.lettered)
            places_put_letter(&label, f.letters[k]);
        text_printf(&label, "%s%s", f.lettered ? "  " : "", f.data.words[LOSS_METHOD].list[k]);
        canvas_legend(c, (struct mark){ MARK_LINE, line_style(k) }, canvas_keep_text(c, &label));
    }
    const struct pairs spec = { .points = &f.points,
                                .x_labels = { f.x_label, f.x_label },
                                .y_labels = { "loss on own shard [nats]", "exchanges so far" },
                                .paint = paint_loss,
                                .of = &f };
    return pairs_build(c, &spec, e);
}

/* ---- the bandwidth that methods need ---- */

enum {
    NEED_POINTS = 6,
    MAX_METHODS = 24,
};

/* An axis label longer than this share of the page is cut short: the title says that it is of needs. */
#define LABEL_SHARE 0.7

enum { NEED_GBPS = VALUES };

struct need {
    struct canvas *c;
    struct trained t;
    struct facet methods; /* of rows that are drawn */
    int32_t n_methods;    /* how many are drawn */
    const char *label;    /* of the axis, without unit */
};

/* The axis says which bandwidth is meant: of all dimensions together, or of one, by its name if it is the
 * same in all rows. With its unit into @p with_unit. */
static void name_axis(struct need *f, const char **with_unit)
{
    int32_t col = table_find(f->t.data.r.t, "need_dim");
    struct names dims = { 0 };
    char buf[NUM_TEXT];

    for (int64_t i = 0; i < f->t.data.n && col >= 0; i++)
        names_add(f->c, &dims, data_text(buf, &f->t.data, i, col));
    bool one = dims.n == 1 && dims.list[0][0], several = dims.n > 1 && names_find(&dims, "") < 0;
    const char *name = one ? dims.list[0] : "";
    f->label = canvas_keep(f->c, "bandwidth %s%s%s%sneeded per NPU", one ? "of dimension " : "", name,
                           one ? " " : "", several ? "of one dimension " : "");
    *with_unit = canvas_keep(f->c, "%s [GB/s]", f->label);
    if (canvas_width(*with_unit, CANVAS_FONT_PX) > LABEL_SHARE * f->c->width_px)
        *with_unit = canvas_keep(f->c, "per NPU%s%s [GB/s]", one ? ", dimension " : "", name);
}

/* By how much bandwidth may delay a run, where the table says so. */
static int put_delay(struct need *f, struct err *e)
{
    int32_t col = table_find(f->t.data.r.t, "need_wait_pct");
    double lo = HUGE_VAL, hi = -HUGE_VAL, pct;

    for (int64_t i = 0; i < f->t.data.n && col >= 0; i++) {
        struct rows r = data_at(&f->t.data, i);
        int rc = rows_number(&pct, &r, col, e);
        if (rc)
            return rc;
        lo = fmin(lo, pct);
        hi = fmax(hi, pct);
    }
    if (lo == hi)
        canvas_note(f->c, "bandwidth at which a run takes %g %% longer than with endless bandwidth", lo);
    else if (lo < hi)
        canvas_note(f->c, "bandwidth at which a run takes %g to %g %% longer than with endless bandwidth", lo,
                    hi);
    return 0;
}

/* What the method needs at the point, in the first of several rows; NaN when there is none. Time O(rows), for
 * at most 144 cells. */
static double gossip_find_need(const struct need *f, int32_t point, int32_t method)
{
    const struct data *d = &f->t.data;

    for (int64_t i = 0; i < d->n; i++)
        if (d->word[POINT][i] == point && f->methods.at[i] == method)
            return d->x[NEED_GBPS][i];
    return (double)NAN;
}

/* Rows of methods beyond those drawn, and all but the first of a point and a method. */
static void account_needs(const struct need *f)
{
    const struct data *d = &f->t.data;

    for (int64_t i = 0; i < d->n; i++) {
        bool again = false;
        for (int64_t k = 0; k < i && !again; k++)
            again = d->word[POINT][k] == d->word[POINT][i] && f->methods.at[k] == f->methods.at[i];
        if (f->methods.at[i] >= f->n_methods)
            data_leave_out(d, i, "of other methods");
        else if (again)
            data_leave_out(d, i, "repeat a point and a method");
    }
}

/* Characters above a panel, which has the methods left and the numbers right of it: plots/lanes.c. */
static size_t name_chars(const struct need *f, const char *const *ends)
{
    double label_px = 0, end_px = 0, page_px = f->c->width_px;

    for (int32_t i = 0; i < f->n_methods; i++)
        label_px = fmax(label_px, canvas_width(f->methods.names.list[i], CANVAS_SMALL_PX));
    for (int32_t i = 0; i < f->t.points.n * f->n_methods; i++)
        end_px = fmax(end_px, canvas_width(ends[i], CANVAS_SMALL_PX));
    double room_px = page_px - fmin(label_px, page_px / 3.5) - 2 * end_px - 40;
    return (size_t)fmax(3, room_px / (CANVAS_FONT_PX * CANVAS_LEAST_SHRINK * CANVAS_CHAR));
}

/* Points, for on a log axis bars would have lengths that mean nothing. */
static void paint_needs(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    struct need *f = of;

    (void)box;
    for (int32_t i = 0; i < f->n_methods; i++)
        if (gossip_find_need(f, panel, i) > 0)
            canvas_point(c, gossip_find_need(f, panel, i), i + 0.5);
    canvas_block_end(c, (struct mark){ MARK_POINT, 0 });
}

static int draw_needs(struct need *f, const char *x_label, struct err *e)
{
    const char *names[NEED_POINTS], *ends[NEED_POINTS * MAX_METHODS];
    char buf[SHOW];
    int32_t n_points = f->t.points.n, n_all = f->methods.names.n;
    double lo = HUGE_VAL, hi = 0;

    f->n_methods = n_all < MAX_METHODS ? n_all : MAX_METHODS;
    for (int32_t k = 0; k < n_points; k++)
        for (int32_t i = 0; i < f->n_methods; i++) {
            double x = gossip_find_need(f, k, i);
            ends[k * f->n_methods + i] = isnan(x) ? "–"
                                         : x > 0  ? canvas_keep(f->c, "%s", show_real(buf, x, 3))
                                                  : "next to none";
        }
    for (int32_t k = 0; k < n_points; k++)
        names[k] = points_name(f->c, &f->t.points, k, name_chars(f, ends));
    account_needs(f);
    for (int64_t i = 0; i < f->t.data.n; i++) {
        double x = f->t.data.x[NEED_GBPS][i];
        lo = x > 0 ? fmin(lo, x) : lo;
        hi = fmax(hi, x);
    }
    const struct strips spec = { .names = names,
                                 .n_panels = n_points,
                                 .n_rows = f->n_methods,
                                 .labels = f->methods.names.list,
                                 .ends = ends,
                                 .end_label = "GB/s",
                                 /* Log: methods differ by orders of magnitude. */
                                 .x = hi > 0 ? axis_log(lo, hi) : axis_bars(hi),
                                 .x_label = x_label,
                                 .paint = paint_needs,
                                 .of = f };
    canvas_note_first(f->c, f->n_methods, n_all, "methods");
    return strips_build(f->c, &spec, e);
}

/* The only column between point and method that varies among the rows that pass, if it holds numbers; else
 * -1. With such an axis needs are lines over it, else points in strips. */
static int32_t find_need_axis(const struct rows *rows)
{
    int32_t point = table_find(rows->t, "point"), method = table_find(rows->t, "method"), axis = -1, n = 0;

    for (int32_t col = point + 1; col < method; col++)
        if (rows_vary(rows, col)) {
            axis = col;
            n++;
        }
    return n == 1 && rows->t->kinds[axis] != TABLE_TEXT ? axis : -1;
}

static int draw_lines(struct need *f, int32_t axis, struct err *e)
{
    const struct rows *r = &f->t.data.r;
    const struct plot_xy spec = { .x = r->t->names[axis],
                                  .y = { "need_GBps" },
                                  .axis_label = { NULL, f->label },
                                  .y_better = { -1 },
                                  .color = "method",
                                  .facet = "",
                                  .front = "no",
                                  .join = true,
                                  .status = "ok" };
    return xy_draw(f->c, r, &spec, e);
}

int fig_gossip_need(struct canvas *c, const struct rows *r, struct err *e)
{
    const struct bind column = { .column = "need_GBps", AS_NUMBER, FILLED };
    struct need f = { .c = c };
    int32_t axis = find_need_axis(r);
    const char *x_label = "";
    int rc = read_trained(&f.t, c, r, &column, 1, axis < 0 ? NEED_POINTS : 0, e);

    if (!rc)
        rc = data_facet(&f.methods, &f.t.data, METHOD, NULL, f.t.data.n, e);
    if (rc)
        return rc;
    points_put_notes(c, &f.t.points);
    name_axis(&f, &x_label);
    rc = put_delay(&f, e);
    if (rc)
        return rc;
    return axis < 0 ? draw_needs(&f, x_label, e) : draw_lines(&f, axis, e);
}
