/*
 * A tornado: a bar for each input from the answer at its low to that at its high, around the answer with all
 * as it is; widest on top. One answer a figure, as each has a unit and an order of its own: the first that
 * some input moves, as the table begins with the one that was asked for.
 */
#include <math.h>
#include <string.h>

#include "plots/fig.h"
#include "plots/lanes.h"

enum { ANSWER, UNIT, INPUT, NAME, LOW, HIGH, AT_LOW, AT_AS_IS, AT_HIGH, SWING, DECISION, N_BINDS };

enum {
    MAX_BARS = 25,
    LABEL_CHARS = 35,
    LEAST_CHARS = 8,
    LOW_STYLE = FILL_FIRST,
    HIGH_STYLE = FILL_FIRST + 1
};

#define BAR_SHARE 0.64 /* of a row's height */
#define LEAST     0.01 /* of the widest bar: less is no bar to see */

struct tornado_figure {
    struct canvas *c;
    struct data data;
    double *swing; /* shape [data.n]: of a row with a blank end without bound */
    struct unit unit;
    const char *title;      /* of the answer, without unit */
    int64_t rows[MAX_BARS]; /* shape [n], of the figure's data: widest first */
    int32_t n, answer;      /* answer: a word of ANSWER */
    double head;            /* share of a row that its label takes */
    bool changes;           /* some bar has another decision at an end */
};

static int read_tornado(struct tornado_figure *f, const struct rows *r, struct err *e)
{
    static const struct bind binds[N_BINDS] = {
        [ANSWER] = { .column = "answer", AS_WORD, FILLED, .most = 64 },
        [UNIT] = { .column = "unit", AS_WORD, MAY_MISS, .most = 64 },
        [INPUT] = { .column = "input", AS_WORD, FILLED, .most = 100000 },
        [NAME] = { .column = "name", AS_WORD, MAY_MISS, .most = 100000 },
        [LOW] = { .column = "low", AS_ANY, MAY_MISS },
        [HIGH] = { .column = "high", AS_ANY, MAY_MISS },
        [AT_LOW] = { .column = "at_low", AS_ANY, NEED },
        [AT_AS_IS] = { .column = "at_as_is", AS_ANY, FILLED },
        [AT_HIGH] = { .column = "at_high", AS_ANY, NEED },
        [SWING] = { .column = "swing", AS_NUMBER, NEED },
        [DECISION] = { .column = "decision", AS_WORD, MAY_MISS, .most = 100000 },
    };
    return data_read(&f->data, f->c, r, binds, N_BINDS, e);
}

static bool is_other(const struct tornado_figure *f, int64_t row)
{
    const struct data *d = &f->data;
    int32_t word = d->word[DECISION] ? d->word[DECISION][row] : -1;
    return word >= 0 && d->words[DECISION].list[word][0] &&
           strcmp(d->words[DECISION].list[word], "stays") != 0;
}

static bool is_still(const struct tornado_figure *f, int64_t row, double widest)
{
    return (!(f->swing[row] > 0) || f->swing[row] < LEAST * widest) && !is_other(f, row);
}

/* The first answer that an input moves, or whose decision it changes; the first of all where there is none.
 */
static void choose_answer(struct tornado_figure *f)
{
    const struct data *d = &f->data;
    int32_t best = d->words[ANSWER].n;

    for (int64_t i = 0; i < d->n; i++)
        if (!is_still(f, i, 0) && d->word[ANSWER][i] < best)
            best = d->word[ANSWER][i];
    f->answer = best < d->words[ANSWER].n ? best : 0;
}

/* The widest of the answer; those that move next to nothing are left out. */
static int choose_rows(struct tornado_figure *f, struct err *e)
{
    const struct data *d = &f->data;
    double widest_swing = 0;

    f->swing = canvas_new(f->c, d->n + 1, sizeof *f->swing, e);
    if (!f->swing)
        return ERR_NOMEM;
    for (int64_t i = 0; i < d->n; i++)
        f->swing[i] = isnan(d->x[SWING][i]) ? HUGE_VAL : d->x[SWING][i];
    const struct sort_key widest = { .x = f->swing, .falls = true };
    const int64_t *order = data_order(d, &widest, 1, e);
    if (!order)
        return ERR_NOMEM;
    choose_answer(f);
    for (int64_t k = 0; k < d->n; k++) {
        int64_t row = order[k];
        if (d->word[ANSWER][row] != f->answer) {
            data_leave_out(d, row, is_still(f, row, 0) ? "that move nothing" : "of other answers");
            continue;
        }
        if (isfinite(f->swing[row]))
            widest_swing = fmax(widest_swing, f->swing[row]);
        if (is_still(f, row, widest_swing)) {
            data_leave_out(d, row,
                           f->swing[row] > 0 ? "that move less than 1 % of the widest" : "that move nothing");
        } else if (f->n == MAX_BARS) {
            data_leave_out(d, row, "narrower");
        } else {
            f->rows[f->n++] = row;
            f->changes = f->changes || is_other(f, row);
        }
    }
    return f->n ? 0 : data_none_left(d, e);
}

/* What the row says, or (of a file without it) the name of the answer; with the name less its unit. */
static const char *answer_unit(const struct tornado_figure *f, const char **title)
{
    const struct data *d = &f->data;
    const char *name = d->words[ANSWER].list[f->answer], *by_name;
    struct text short_name = { 0 };
    size_t n;

    by_name = table_unit_of_name(name, &n);
    const char *unit = d->col[UNIT] < 0 ? by_name : d->words[UNIT].list[d->word[UNIT][f->rows[0]]];
    n = strcmp(unit, by_name) == 0 ? n : strlen(name); /* "usd_per_h" ends in no unit of its own */
    text_add(&short_name, name, n);
    *title = canvas_keep_text(f->c, &short_name);
    return unit;
}

static struct axis fit_axis(struct tornado_figure *f)
{
    const struct data *d = &f->data;
    double least = d->x[AT_AS_IS][f->rows[0]], most = least;
    for (int32_t i = 0; i < f->n; i++) {
        const double at[] = { d->x[AT_LOW][f->rows[i]], d->x[AT_HIGH][f->rows[i]] };
        for (int k = 0; k < 2; k++) {
            least = fmin(least, at[k]); /* NaN is left out */
            most = fmax(most, at[k]);
        }
    }
    f->unit = unit_for(answer_unit(f, &f->title), fmax(fabs(least), fabs(most)), false);
    /* Not from zero: what counts is how far bars reach from their middle. */
    double lo = least / f->unit.scale, hi = most / f->unit.scale, room = (hi - lo) * 0.05;
    if (!(room > 0))
        room = fabs(hi) * 0.05 + 1e-12;
    return (struct axis){ .lo = lo - room, .hi = hi + room };
}

static void paint_bars(struct canvas *c, const struct canvas_box *box, int32_t panel, void *of)
{
    const struct tornado_figure *f = of;
    const struct data *d = &f->data;
    const int32_t at[] = { AT_LOW, AT_HIGH }, styles[] = { LOW_STYLE, HIGH_STYLE };
    double as_is = d->x[AT_AS_IS][f->rows[0]] / f->unit.scale;
    (void)box;
    (void)panel;
    for (int k = 0; k < 2; k++) {
        for (int32_t i = 0; i < f->n; i++) {
            double x = d->x[at[k]][f->rows[i]] / f->unit.scale, y = i + (1 + f->head) / 2;
            /* Where both ends lie on one side each has half of the height. */
            double other = d->x[at[1 - k]][f->rows[i]] / f->unit.scale;
            bool both = (x - as_is) * (other - as_is) > 0;
            double half = BAR_SHARE * (1 - f->head) / 2;
            double top = y - half + (both && k ? half : 0);
            double low = y + half - (both && !k ? half : 0);
            canvas_mark_row(c, d->row[f->rows[i]]);
            if (isfinite(x) && x != as_is)
                canvas_bar(c, fmin(x, as_is), low, fmax(x, as_is), top);
        }
        canvas_block_end(c, (struct mark){ MARK_FILL, styles[k] });
    }
    for (int32_t i = 0; i < f->n && f->head > 0; i++) { /* not through the labels */
        canvas_break(c);
        canvas_point(c, as_is, i + f->head);
        canvas_point(c, as_is, i + 1);
    }
    canvas_block_end(c, (struct mark){ MARK_FRONT, 0 });
    if (f->head == 0)
        canvas_line(c, (struct mark){ MARK_FRONT, 0 }, as_is, 0, as_is, f->n);
}

/* "220", "2.34k", "1.3M": short beside a name. */
static void put_axis_number(struct text *out, double x)
{
    struct unit unit = unit_pick(unit_counts, fabs(x));
    text_printf(out, "%.3g%s", x / unit.scale, unit.name);
}

/* "pue  1.1 … 1.4": keys of `system` without that word, which most of them would begin with. */
static const char *label_of(struct tornado_figure *f, int64_t row)
{
    static const char system[] = "system.";
    const struct data *d = &f->data;
    struct text label = { 0 }, range = { 0 };
    double low = d->x[LOW][row], high = d->x[HIGH][row];
    const char *path = d->words[INPUT].list[d->word[INPUT][row]];
    const char *name = d->word[NAME] ? d->words[NAME].list[d->word[NAME][row]] : "";
    name = name[0] ? name : path;
    if (isfinite(low) && isfinite(high)) {
        text_puts(&range, "  ");
        put_axis_number(&range, low);
        text_puts(&range, " … ");
        put_axis_number(&range, high);
    }
    size_t taken = range.n + LEAST_CHARS; /* "…" has three bytes */
    canvas_put_short(&label, name + (strncmp(name, system, sizeof system - 1) == 0 ? sizeof system - 1 : 0),
                     taken < LABEL_CHARS ? LABEL_CHARS - range.n : LEAST_CHARS);
    text_puts(&label, text_str(&range));
    label.failed = label.failed || range.failed;
    text_free(&range);
    return canvas_keep_text(f->c, &label);
}

static int draw(struct tornado_figure *f, struct err *e)
{
    const struct data *d = &f->data;
    const char *labels[MAX_BARS], *ends[MAX_BARS];
    struct axis x = fit_axis(f);
    double as_is = d->x[AT_AS_IS][f->rows[0]];
    const char *unit = f->unit.name;
    for (int32_t i = 0; i < f->n; i++) {
        labels[i] = label_of(f, f->rows[i]);
        const char *star = is_other(f, f->rows[i]) ? " *" : "";
        double share = 100 * f->swing[f->rows[i]] / fabs(as_is);
        ends[i] = isfinite(share) ? canvas_keep(f->c, "%.3g %%%s", share, star)
                                  : canvas_keep(f->c, "no end%s", star);
    }
    const char *head =
        canvas_keep(f->c, "%s: %.6g%s%s", f->title, as_is / f->unit.scale, *unit ? " " : "", unit);
    canvas_note(f->c, "line: all as the study has it");
    for (int32_t i = 0; i < f->answer; i++)
        canvas_note(f->c, "no input moves %s", d->words[ANSWER].list[i]);
    if (d->words[ANSWER].n > 1)
        canvas_note(f->c, "1 of %d answers; others by --where answer=%s", (int)d->words[ANSWER].n,
                    d->words[ANSWER].list[f->answer + 1 < d->words[ANSWER].n ? f->answer + 1 : 0]);
    if (f->changes)
        canvas_note(f->c, "*: another point is best at an end");
    canvas_legend(f->c, (struct mark){ MARK_FILL, LOW_STYLE }, "input at its low");
    canvas_legend(f->c, (struct mark){ MARK_FILL, HIGH_STYLE }, "at its high");
    const struct strips spec = {
        .names = &head,
        .n_panels = 1,
        .n_rows = f->n,
        .labels = labels,
        .head = &f->head,
        .ends = ends,
        .end_label = "swing",
        .x = x,
        .x_label = canvas_keep(f->c, "%s%s%s%s", f->title, *unit ? " [" : "", unit, *unit ? "]" : ""),
        .paint = paint_bars,
        .of = f,
    };
    return strips_build(f->c, &spec, e);
}

int fig_tornado(struct canvas *c, const struct rows *r, struct err *e)
{
    struct tornado_figure f = { .c = c };
    int rc = read_tornado(&f, r, e);
    if (!rc)
        rc = choose_rows(&f, e);
    return rc ? rc : draw(&f, e);
}
