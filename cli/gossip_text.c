#include "cli/gossip_text.h"

#include <math.h>
#include <string.h>

#include "cli/points.h"
#include "base/sheet.h"

enum { DIGITS = 5, FEW_DIGITS = 3, PERCENT_DIGITS = 4 };

/* What bytes are shown in. */
struct unit {
    const char *name;
    double per_MB;
};

/* That in which @p most_MB, the largest, is 1 or more, and at least MB. */
static struct unit unit_for(double most_MB)
{
    static const struct unit units[] = { { "PB", 1e-9 }, { "TB", 1e-6 }, { "GB", 1e-3 } };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (most_MB * units[i].per_MB >= 1)
            return units[i];
    return (struct unit){ "MB", 1 };
}

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

static bool has_status(const struct table *t, int64_t row, const char *status)
{
    return strcmp(word(t, row, "status"), status) == 0;
}

/* One after the last row of the point of row @p first. */
static int64_t end_of_point(const struct table *t, int64_t first)
{
    int64_t end = first;
    while (end < t->n_rows && !(number(t, end, "point") > number(t, first, "point")))
        end++;
    return end;
}

/* ---- heads ---- */

/* "4 workers on switch:4@1, closed rung", then "each worker: 24 steps of 10 ms, 0.4 MB a model", with what it
 * stands for, of the point of row @p row. */
static void put_where(struct text *out, const struct table *t, int64_t row)
{
    const char *replica = word(t, row, "replica");
    double missing_GB = number(t, row, "missing_GB"), MB = number(t, row, "wire_MB");
    double step_s = number(t, row, "step_s"), per_s;
    const char *step_unit = show_time_unit(step_s, &per_s);
    struct unit unit = MB < 1 ? (struct unit){ "kB", 1e3 } : unit_for(MB);
    char a[SHOW], b[SHOW], c[SHOW], d[SHOW];
    text_printf(out, "%s\neach worker: %s%s%s steps of %s %s, %s %s a model", word(t, row, "on"), replica,
                *replica ? ", " : "", show_count(a, (int64_t)number(t, row, "steps")),
                show_real(b, step_s * per_s, FEW_DIGITS), step_unit,
                show_real(c, MB * unit.per_MB, FEW_DIGITS), unit.name);
    if (missing_GB > 0)
        text_printf(out, "; lacks %s GB of memory", show_real(d, missing_GB, FEW_DIGITS));
    text_puts(out, "\n");
}

/* Is it that of a point that could not be read? */
static bool is_unread(const struct table *t, int64_t row)
{
    return !*word(t, row, "on");
}

/* The first row at or after @p row of a point that could be read; n_rows: none. */
static int64_t next_read(const struct table *t, int64_t row)
{
    while (row < t->n_rows && is_unread(t, row))
        row++;
    return row;
}

/* Is that the same at all points? Then it is told once. */
static bool is_one_place(const struct table *t)
{
    struct text one = { 0 }, other = { 0 };
    bool same = true;
    int64_t first = next_read(t, 0);
    if (first < t->n_rows)
        put_where(&one, t, first);
    for (int64_t row = first; row < t->n_rows && same; row = next_read(t, row + 1)) {
        text_clear(&other);
        put_where(&other, t, row);
        same = strcmp(text_str(&one), text_str(&other)) == 0;
    }
    text_free(&one);
    text_free(&other);
    return same;
}

static void put_seeds(struct text *out, const struct gossip_study *s)
{
    char a[SHOW];
    if (s->seeds > 1)
        text_printf(out, "means of %s seeds, %lld to %lld; +-: half of the 95 %% interval\n",
                    show_count(a, s->seeds), (long long)s->seed, (long long)(s->seed + s->seeds - 1));
    else
        text_printf(out, "seed: %lld\n", (long long)s->seed);
}

/* What is different at a point: its axes, and where it runs unless that is @p one at all points. */
static void put_axes(struct text *out, const struct table *t, int64_t row, const struct gossip_study *s,
                     bool one)
{
    char value[POINTS_VALUE], a[SHOW];
    if (!s->sweep.n_keys)
        return;
    text_printf(out, "point %s:", show_count(a, (int64_t)number(t, row, "point")));
    for (int32_t k = 0; k < s->sweep.n_keys; k++)
        text_printf(out, "%s %s %s", k ? "," : "", points_axis_title(s->sweep.keys[k].path),
                    points_unquote(value, word(t, row, s->sweep.keys[k].path)));
    text_puts(out, "\n");
    if (!one && !is_unread(t, row))
        put_where(out, t, row);
    text_puts(out, "\n");
}

/* ---- rows ---- */

/* A percentage with @p decimals; a change has a sign unless it rounds to none. */
static void put_percent(struct sheet *s, double pct, int decimals, bool change)
{
    bool none = fabs(pct) * pow(10, decimals) < 0.5;
    if (isfinite(pct))
        sheet_put(s, change && !none ? "%+.*f" : "%.*f", decimals, none ? 0.0 : pct);
    else
        sheet_put(s, "-");
}

static void put_need(struct sheet *s, double need_GBps)
{
    if (need_GBps > 0)
        sheet_real(s, need_GBps, DIGITS);
    else
        sheet_put(s, isnan(need_GBps) ? "-" : "any");
}

static void put_row(struct sheet *s, const struct table *t, int64_t row, struct unit unit)
{
    sheet_put(s, "%s", word(t, row, "method"));
    put_percent(s, number(t, row, "accuracy_pct"), 2, false);
    put_percent(s, number(t, row, "accuracy_half_pct"), 2, false);
    put_percent(s, number(t, row, "average_pct"), 2, false);
    put_percent(s, number(t, row, "average_half_pct"), 2, false);
    sheet_real(s, number(t, row, "traffic_MB") * unit.per_MB, DIGITS);
    sheet_real(s, number(t, row, "time_s"), DIGITS);
    put_percent(s, number(t, row, "wait_pct"), 1, false);
    put_percent(s, number(t, row, "traffic_vs_base_pct"), 1, true);
    put_percent(s, number(t, row, "time_vs_base_pct"), 1, true);
    put_percent(s, number(t, row, "accuracy_vs_base_points"), 2, true);
    put_percent(s, number(t, row, "accuracy_vs_base_half"), 2, false);
    put_percent(s, number(t, row, "traffic_vs_fixed_pct"), 1, true);
    sheet_put(s, "%s", word(t, row, "fixed"));
    put_percent(s, number(t, row, "time_vs_fixed_pct"), 1, true);
    sheet_put(s, "%s", word(t, row, "fixed_for_time"));
    put_need(s, number(t, row, "need_GBps"));
    sheet_put(s, "%s", has_status(t, row, "ok") ? "" : word(t, row, "status"));
    sheet_put(s, "%s", word(t, row, "message"));
}

static double largest(const struct table *t, const char *column)
{
    double most = 0;
    for (int64_t row = 0; row < t->n_rows; row++)
        most = fmax(most, number(t, row, column)); /* fmax() passes over NaN */
    return most;
}

/* Bytes of all points are in one unit. */
static int put_rows(struct text *out, const struct table *t, int64_t first, int64_t end, struct err *e)
{
    const struct unit unit = unit_for(largest(t, "traffic_MB"));
    const struct sheet_column columns[] = {
        { "method", "", SHEET_LEFT },
        { "accuracy", "%", SHEET_POINT },
        { "accuracy", "+-", SHEET_POINT },
        { "averaged", "%", SHEET_POINT },
        { "averaged", "+-", SHEET_POINT },
        { "traffic", unit.name, SHEET_POINT },
        { "time", "s", SHEET_POINT },
        { "waiting", "%", SHEET_POINT },
        { "traffic vs", "base %", SHEET_POINT },
        { "time vs", "base %", SHEET_POINT },
        { "accuracy", "vs base", SHEET_POINT },
        { "vs base", "+-", SHEET_POINT },
        { "traffic vs", "fixed %", SHEET_POINT },
        { "fixed that", "sends least", SHEET_LEFT },
        { "time vs", "fixed %", SHEET_POINT },
        { "fixed that", "is fastest", SHEET_LEFT },
        { "needs", "GB/s", SHEET_POINT },
        { "status", "", SHEET_LEFT },
        { "message", "", SHEET_LEFT },
    };
    struct sheet s = { 0 };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        sheet_column(&s, columns[i].title, columns[i].unit, columns[i].align);
    for (int64_t row = first; row < end; row++)
        put_row(&s, t, row, unit);
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}

/* ---- what they mean ---- */

/* First row of the point that has a word in @p column; -1: none. */
static int64_t first_with(const struct table *t, int64_t first, int64_t end, const char *column)
{
    for (int64_t row = first; row < end; row++)
        if (*word(t, row, column))
            return row;
    return -1;
}

static void put_compared(struct text *out, const struct table *t, int64_t first, int64_t end,
                         const struct gossip_study *s)
{
    int64_t base = first_with(t, first, end, "base"), fixed = first_with(t, first, end, "fixed");
    char a[SHOW];
    int64_t any = base >= 0 ? base : fixed >= 0 ? fixed : first;
    bool averaged = strcmp(word(t, any, "compared"), "averaged") == 0;
    const char *whose = averaged ? "the averaged model's" : "the workers'";
    if (base >= 0)
        text_printf(
            out,
            "vs base: against %s; changes of traffic and time in %%, of accuracy (%s) in points, seed by "
            "seed\n",
            word(t, base, "base"), whose);
    if (fixed >= 0)
        text_printf(
            out,
            "vs fixed: changes in %% against the fixed period that sends least, or is fastest, of those at "
            "most %s points less accurate (%s)\n",
            show_real(a, s->equal_points, PERCENT_DIGITS), whose);
}

/* The first row of the point in which @p column is a number; -1: none. */
static int64_t first_number(const struct table *t, int64_t first, int64_t end, const char *column)
{
    for (int64_t row = first; row < end; row++)
        if (isfinite(number(t, row, column)))
            return row;
    return -1;
}

static void put_needed(struct text *out, const struct table *t, int64_t first, int64_t end)
{
    int64_t row = first_number(t, first, end, "need_GBps");
    char a[SHOW];
    if (row < 0)
        return;
    const char *dim = word(t, row, "need_dim");
    text_printf(out,
                "needs: bandwidth of %s%s%s, at which it takes %s %% longer than with endless bandwidth%s\n",
                *dim ? "dimension " : "an NPU, all dimensions together", dim, *dim ? ", of an NPU" : "",
                show_real(a, number(t, row, "need_wait_pct"), PERCENT_DIGITS), *dim ? " there" : "");
}

static void put_diverged(struct text *out, const struct table *t, int64_t first, int64_t end)
{
    int64_t n = 0;
    for (int64_t row = first; row < end; row++) {
        if (isnan(number(t, row, "diverged_step")))
            continue;
        text_printf(out, "%s%s at step %.0f",
                    n++ ? ", " : "diverged, earliest seed: ", word(t, row, "method"),
                    number(t, row, "diverged_step"));
    }
    text_puts(out, n ? "\n" : "");
}

/* One cost for all rows: all models are of one size. */
static void put_average(struct text *out, const struct table *t, int64_t first, int64_t end)
{
    int64_t row = first_number(t, first, end, "average_MB");
    char a[SHOW], b[SHOW];
    if (row < 0)
        return;
    double MB = number(t, row, "average_MB");
    struct unit unit = unit_for(MB);
    text_printf(out,
                "averaged: accuracy of the mean of all models, which takes one more all-reduce: "
                "%s %s and %s, not in the table\n",
                show_real(a, MB * unit.per_MB, DIGITS), unit.name, show_time(b, number(t, row, "average_s")));
}

/* A point that cannot be read has nothing to explain. */
static void put_meaning(struct text *out, const struct table *t, int64_t first, int64_t end,
                        const struct gossip_study *s)
{
    struct text lines = { 0 };
    put_compared(&lines, t, first, end, s);
    put_needed(&lines, t, first, end);
    put_diverged(&lines, t, first, end);
    put_average(&lines, t, first, end);
    if (lines.n)
        text_printf(out, "\n%s", text_str(&lines));
    out->failed = out->failed || lines.failed;
    text_free(&lines);
}

int gossip_text(const struct table *rows, const struct gossip_study *s, struct text *out, struct err *e)
{
    bool one = is_one_place(rows);
    int rc = 0;
    text_printf(out, "%s%straining with little communication\n", s->name, s->name[0] ? ": " : "");
    put_seeds(out, s);
    if (one && next_read(rows, 0) < rows->n_rows)
        put_where(out, rows, next_read(rows, 0));
    for (int64_t first = 0, end; first < rows->n_rows && !rc; first = end) {
        end = end_of_point(rows, first);
        text_puts(out, "\n");
        put_axes(out, rows, first, s, one);
        rc = put_rows(out, rows, first, end, e);
        put_meaning(out, rows, first, end, s);
    }
    return rc;
}
