#include "cli/hetero_text.h"

#include <math.h>
#include <string.h>

#include "cli/points.h"
#include "base/sheet.h"

enum { DIGITS = 5, RATIO_DIGITS = 4 };

static double number(const struct table *t, int64_t row, const char *column)
{
    int32_t c = table_find(t, column);
    return c < 0 ? (double)NAN : table_number(t, row, c);
}

static const char *word(const struct table *t, int64_t row, const char *column)
{
    int32_t c = table_find(t, column);
    const char *text = c < 0 || t->kinds[c] != TABLE_TEXT ? NULL : table_cell(t, row, c)->text;
    return text ? text : "";
}

/* One after the last row of the point of row @p first. */
static int64_t end_of_point(const struct table *t, int64_t first)
{
    int64_t end = first;
    while (end < t->n_rows && !(number(t, end, "point") > number(t, first, "point")))
        end++;
    return end;
}

/* ---- head of a point ---- */

static void put_axes(struct text *out, const struct table *t, int64_t row, const struct hetero_study *s)
{
    char value[POINTS_VALUE], a[SHOW];
    if (!s->sweep.n_keys)
        return;
    text_printf(out, "point %s:", show_count(a, (int64_t)number(t, row, "point")));
    for (int32_t k = 0; k < s->sweep.n_keys; k++)
        text_printf(out, "%s %s %s", k ? "," : "", points_axis_title(s->sweep.keys[k].path),
                    points_unquote(value, word(t, row, s->sweep.keys[k].path)));
    text_puts(out, "\n");
}

static void put_point(struct text *out, const struct table *t, int64_t row, const struct hetero_study *s)
{
    char a[SHOW], b[SHOW], value[POINTS_VALUE];
    double need_per_s = number(t, row, "need_per_s"), oracle_usd = number(t, row, "oracle_usd");
    put_axes(out, t, row, s);
    if (isfinite(number(t, row, "layers")))
        text_printf(out, "model: %s, %.0f layers on %.0f types\n",
                    points_unquote(value, word(t, row, "model")), number(t, row, "layers"),
                    number(t, row, "types"));
    if (isfinite(need_per_s))
        text_printf(out, "throughput: %s examples/s asked for, no plan reaches more than %s\n",
                    show_real(a, need_per_s, DIGITS), show_real(b, number(t, row, "most_per_s"), DIGITS));
    if (strcmp(word(t, row, "oracle_proof"), "optimal") == 0)
        text_printf(out, "cheapest plan: %s USD, proved\n", show_usd(a, oracle_usd));
    else if (strcmp(word(t, row, "oracle_proof"), "no plan") == 0)
        text_puts(out, "there is no plan: proved\n");
    else if (isfinite(oracle_usd))
        text_printf(out, "no plan costs less than %s USD: a bound, none is proved to be the cheapest here\n",
                    show_usd(a, oracle_usd));
}

/* ---- rows ---- */

static void put_cost(struct sheet *s, const struct table *t, int64_t row)
{
    double usd = number(t, row, "usd");
    bool wrong = strcmp(word(t, row, "status"), "error") == 0;
    if (isfinite(usd))
        sheet_usd(s, usd);
    else
        sheet_put(s, "%s", wrong ? "error" : "infeasible");
}

static void put_row(struct sheet *s, const struct table *t, int64_t row)
{
    static const char *const ratios[] = { "over_best", "over_rl" };
    bool many = number(t, row, "seeds") > 1;
    sheet_put(s, "%s", word(t, row, "scheduler"));
    put_cost(s, t, row);
    sheet_usd(s, many ? number(t, row, "usd_worst") : (double)NAN);
    sheet_real(s, number(t, row, "over_oracle"), RATIO_DIGITS);
    sheet_real(s, many ? number(t, row, "over_oracle_worst") : (double)NAN, RATIO_DIGITS);
    for (int i = 0; i < 2; i++)
        sheet_real(s, number(t, row, ratios[i]), RATIO_DIGITS);
    if (many)
        sheet_put(s, "%.0f of %.0f", number(t, row, "feasible"), number(t, row, "seeds"));
    else
        sheet_put(s, "-");
    sheet_real(s, number(t, row, "examples_per_s"), DIGITS);
    sheet_usd(s, number(t, row, "usd_per_h"));
    sheet_real(s, number(t, row, "stages"), DIGITS);
    sheet_real(s, number(t, row, "units"), 9);
    sheet_real(s, number(t, row, "plans_tried"), 12);
    sheet_real(s, number(t, row, "schedule_s"), 3);
    sheet_put(s, "%s", word(t, row, "proof"));
    sheet_put(s, "%s", word(t, row, "message"));
}

static int put_rows(struct text *out, const struct table *t, int64_t first, int64_t end, struct err *e)
{
    static const struct sheet_column columns[] = {
        { "scheduler", "", SHEET_LEFT },      { "cost", "USD", SHEET_POINT },
        { "worst", "USD", SHEET_POINT },      { "over optimum", "", SHEET_POINT },
        { "worst", "", SHEET_POINT },         { "over best", "", SHEET_POINT },
        { "over rl-lstm", "", SHEET_POINT },  { "with a plan", "seeds", SHEET_LEFT },
        { "throughput", "1/s", SHEET_POINT }, { "price", "USD/h", SHEET_POINT },
        { "stages", "", SHEET_POINT },        { "units", "", SHEET_POINT },
        { "plans tried", "", SHEET_POINT },   { "took", "s", SHEET_POINT },
        { "it says", "", SHEET_LEFT },        { "message", "", SHEET_LEFT },
    };
    struct sheet s = { 0 };
    bool proved = strcmp(word(t, first, "oracle_proof"), "optimal") == 0;
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        sheet_column(&s, i == 3 && !proved ? "over bound" : columns[i].title, columns[i].unit,
                     columns[i].align);
    for (int64_t row = first; row < end; row++)
        put_row(&s, t, row);
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}

/* ---- the cheapest plan ---- */

/* First row of it; -1: there is none. */
static int64_t cheapest_plan(const struct table *t)
{
    int64_t best = -1;
    for (int64_t row = 0; row < t->n_rows; row++)
        if (best < 0 || number(t, row, "usd") < number(t, best, "usd"))
            best = row;
    return best;
}

/* Rows of the plan that begins at @p first: the next one begins with stage 1 again. */
static int64_t end_of_plan(const struct table *t, int64_t first)
{
    int64_t end = first + 1;
    while (end < t->n_rows && number(t, end, "stage") > number(t, end - 1, "stage"))
        end++;
    return end;
}

static void put_stage(struct sheet *s, const struct table *t, int64_t row, double slowest_per_s)
{
    char a[SHOW];
    double first = number(t, row, "first"), last = number(t, row, "last");
    double servers = number(t, row, "servers"), per_s = number(t, row, "examples_per_s");
    if (last > first)
        sheet_put(s, "%.0f-%.0f %s..%s", first, last, word(t, row, "first_name"), word(t, row, "last_name"));
    else
        sheet_put(s, "%.0f %s", first, word(t, row, "first_name"));
    sheet_put(s, "%s x %s", show_real(a, number(t, row, "units"), 9), word(t, row, "type"));
    sheet_real(s, servers > 0 ? servers : (double)NAN, 9);
    sheet_real(s, number(t, row, "compute_us"), RATIO_DIGITS);
    sheet_real(s, number(t, row, "comm_us"), RATIO_DIGITS);
    sheet_real(s, per_s, DIGITS);
    sheet_usd(s, number(t, row, "usd_per_h"));
    sheet_put(s, "%s%s", word(t, row, "limit"), per_s <= slowest_per_s ? ", the slowest" : "");
}

/* No plan is refused for its memory, so that a stage whose weights alone do not fit is said to be one. */
static void put_memory(struct text *out, const struct table *t, int64_t row)
{
    char a[SHOW], b[SHOW];
    double weight_GB = number(t, row, "weight_GB"), memory_GB = number(t, row, "memory_GB");
    if (weight_GB > memory_GB)
        text_printf(out, "stage %.0f: weights of %s GB do not fit into the %s GB of its units\n",
                    number(t, row, "stage"), show_real(a, weight_GB, DIGITS),
                    show_real(b, memory_GB, DIGITS));
}

static int put_plan(struct text *out, const struct table *t, struct err *e)
{
    int64_t first = cheapest_plan(t);
    if (first < 0)
        return 0;
    int64_t end = end_of_plan(t, first);
    double slowest_per_s = INFINITY, seed = number(t, first, "seed");
    struct sheet s = { 0 };
    char a[SHOW];
    for (int64_t row = first; row < end; row++)
        slowest_per_s = fmin(slowest_per_s, number(t, row, "examples_per_s"));
    text_printf(out, "\nplan of %s", word(t, first, "scheduler"));
    if (isfinite(seed))
        text_printf(out, " with seed %.0f", seed);
    text_printf(out, ", %s USD:\n", show_usd(a, number(t, first, "usd")));
    sheet_column(&s, "layers", "", SHEET_LEFT);
    sheet_column(&s, "units", "", SHEET_LEFT);
    sheet_column(&s, "servers", "", SHEET_POINT);
    sheet_column(&s, "compute", "us/example", SHEET_POINT);
    sheet_column(&s, "communication", "us/example", SHEET_POINT);
    sheet_column(&s, "throughput", "1/s", SHEET_POINT);
    sheet_column(&s, "price", "USD/h", SHEET_POINT);
    sheet_column(&s, "limited by", "", SHEET_LEFT);
    for (int64_t row = first; row < end; row++)
        put_stage(&s, t, row, slowest_per_s);
    int rc = sheet_write(&s, out, e);
    for (int64_t row = first; row < end; row++)
        put_memory(out, t, row);
    sheet_free(&s);
    return rc;
}

/* ---- rl-lstm against the others ---- */

/* Of one scheduler over all points at which rl-lstm has a plan. */
struct duel {
    double throughput, cost; /* largest ratios; 0 = none */
    int64_t infeasible;      /* points */
};

static int64_t find_row(const struct table *t, int64_t first, int64_t end, const char *scheduler)
{
    for (int64_t row = first; row < end; row++)
        if (strcmp(word(t, row, "scheduler"), scheduler) == 0)
            return row;
    return -1;
}

static void fight(struct duel *d, const struct table *t, int64_t rl, int64_t other)
{
    double usd = number(t, other, "usd"), per_s = number(t, other, "examples_per_s");
    bool has_plan = isfinite(usd);
    if (!isfinite(number(t, rl, "usd")))
        return;
    if (!has_plan)
        per_s = number(t, other, "reach_per_s");
    d->infeasible += !has_plan;
    d->throughput = fmax(d->throughput, number(t, rl, "examples_per_s") / per_s);
    d->cost = fmax(d->cost, number(t, other, "over_rl"));
}

static void put_duel(struct sheet *s, const char *name, const struct duel *d)
{
    char a[SHOW];
    sheet_put(s, "%s", name);
    sheet_real(s, d->throughput > 0 ? d->throughput : (double)NAN, RATIO_DIGITS);
    if (d->cost > 0) {
        sheet_real(s, d->cost, RATIO_DIGITS);
        sheet_real(s, (1 - 1 / d->cost) * 100, 3);
        sheet_put(s, "%s", show_real(a, (d->cost - 1) * 100, RATIO_DIGITS));
    } else {
        for (int i = 0; i < 3; i++)
            sheet_put(s, "infeasible");
    }
    sheet_put(s, "%s", d->infeasible ? show_count(a, d->infeasible) : "-");
}

/* Each scheduler of the first point that has rows of schedulers, in its order. */
static int put_duels(struct text *out, const struct table *t, struct err *e)
{
    struct sheet s = { 0 };
    int64_t n = 0;
    sheet_column(&s, "scheduler", "", SHEET_LEFT);
    sheet_column(&s, "throughput", "times", SHEET_POINT);
    sheet_column(&s, "its cost", "times", SHEET_POINT);
    sheet_column(&s, "rl-lstm saves", "%", SHEET_POINT);
    sheet_column(&s, "\"smaller by\"", "%", SHEET_POINT);
    sheet_column(&s, "infeasible", "points", SHEET_POINT);
    for (int32_t i = 0; i < hetero_study_n_schedulers(); i++) {
        const char *name = hetero_study_scheduler(i);
        struct duel d = { 0 };
        bool met = false;
        for (int64_t first = 0, end; first < t->n_rows; first = end) {
            end = end_of_point(t, first);
            int64_t rl = find_row(t, first, end, "rl-lstm"), other = find_row(t, first, end, name);
            if (rl < 0 || other < 0 || rl == other)
                continue;
            fight(&d, t, rl, other);
            met = true;
        }
        if (met && (d.cost > 0 || d.infeasible)) {
            put_duel(&s, name, &d);
            n++;
        }
    }
    if (n)
        text_printf(out, "\nrl-lstm against the others%s:\n",
                    end_of_point(t, 0) < t->n_rows ? ", the largest ratios of all points" : "");
    int rc = n ? sheet_write(&s, out, e) : 0;
    sheet_free(&s);
    return rc;
}

/* Seeds matter where some scheduler draws. */
static void put_seeds(struct text *out, const struct table *t, const struct hetero_study *s)
{
    char a[SHOW];
    double most = 0;
    for (int64_t row = 0; row < t->n_rows; row++)
        most = fmax(most, number(t, row, "seeds"));
    if (most > 1)
        text_printf(out, "medians of %s seeds, %lld to %lld\n", show_count(a, s->seeds), (long long)s->seed,
                    (long long)(s->seed + s->seeds - 1));
    else if (s->seeds == 1)
        text_printf(out, "seed: %lld\n", (long long)s->seed);
}

int hetero_text(const struct table *rows, const struct table *stages, const struct hetero_study *s,
                struct text *out, struct err *e)
{
    int rc = 0;
    text_printf(out, "%s%slayers on types of resources\n", s->name, s->name[0] ? ": " : "");
    put_seeds(out, rows, s);
    for (int64_t first = 0, end; first < rows->n_rows && !rc; first = end) {
        end = end_of_point(rows, first);
        text_puts(out, "\n");
        put_point(out, rows, first, s);
        text_puts(out, "\n");
        rc = put_rows(out, rows, first, end, e);
    }
    if (!rc && s->sweep.n_points == 1 && stages)
        rc = put_plan(out, stages, e);
    return rc ? rc : put_duels(out, rows, e);
}
