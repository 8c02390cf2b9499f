#include "cli/gossip_text.h"

#include <math.h>
#include <string.h>

#include "cli/points.h"
#include "cli/sheet.h"

enum { DIGITS = 5, PERCENT_DIGITS = 4, HALF_DIGITS = 2 };

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

static void put_axes(struct text *out, const struct table *t, int64_t row, const struct gossip_study *s)
{
    char value[POINTS_VALUE], a[SHOW];
    if (!s->sweep.n_axes)
        return;
    text_printf(out, "point %s:", show_count(a, (int64_t)number(t, row, "point")));
    for (int32_t k = 0; k < s->sweep.n_axes; k++)
        text_printf(out, "%s %s %s", k ? "," : "", points_axis_title(s->sweep.axes[k].path),
                    points_unquote(value, word(t, row, s->sweep.axes[k].path)));
    text_puts(out, "\n\n");
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

static void put_row(struct sheet *s, const struct table *t, int64_t row)
{
    sheet_put(s, "%s", word(t, row, "method"));
    put_percent(s, number(t, row, "accuracy_pct"), 2, false);
    put_percent(s, number(t, row, "accuracy_half_pct"), 2, false);
    put_percent(s, number(t, row, "average_pct"), 2, false);
    put_percent(s, number(t, row, "average_half_pct"), 2, false);
    sheet_real(s, number(t, row, "traffic_MB"), DIGITS);
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
    sheet_real(s, number(t, row, "need_GBps"), DIGITS);
    sheet_put(s, "%s", has_status(t, row, "ok") ? "" : word(t, row, "status"));
    sheet_put(s, "%s", word(t, row, "message"));
}

static int put_rows(struct text *out, const struct table *t, int64_t first, int64_t end, struct err *e)
{
    static const struct sheet_column columns[] = {
        { "method", "", SHEET_LEFT },
        { "accuracy", "%", SHEET_POINT },
        { "+-", "%", SHEET_POINT },
        { "averaged", "%", SHEET_POINT },
        { "+-", "%", SHEET_POINT },
        { "traffic", "MB", SHEET_POINT },
        { "time", "s", SHEET_POINT },
        { "waiting", "%", SHEET_POINT },
        { "traffic", "% vs base", SHEET_POINT },
        { "time", "% vs base", SHEET_POINT },
        { "accuracy", "points", SHEET_POINT },
        { "+-", "points", SHEET_POINT },
        { "traffic", "% vs fixed", SHEET_POINT },
        { "that is", "", SHEET_LEFT },
        { "time", "% vs fixed", SHEET_POINT },
        { "that is", "", SHEET_LEFT },
        { "needs", "GB/s", SHEET_POINT },
        { "status", "", SHEET_LEFT },
        { "message", "", SHEET_LEFT },
    };
    struct sheet s = { 0 };
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
        sheet_column(&s, columns[i].title, columns[i].unit, columns[i].align);
    for (int64_t row = first; row < end; row++)
        put_row(&s, t, row);
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
    if (base >= 0)
        text_printf(out, "base: %s; changes of traffic and time, differences of accuracy seed by seed\n",
                    word(t, base, "base"));
    if (fixed >= 0)
        text_printf(
            out,
            "fixed: changes against the fixed period that sends least, or is fastest, of those at most %s "
            "points less accurate\n",
            show_real(a, s->equal_points, PERCENT_DIGITS));
}

static void put_need(struct text *out, const struct table *t, int64_t first, int64_t end,
                     const struct gossip_study *s)
{
    char a[SHOW];
    for (int64_t row = first; row < end; row++)
        if (isfinite(number(t, row, "need_GBps"))) {
            text_printf(
                out,
                "needs: bandwidth of an NPU, all dimensions together, at which it takes %s %% longer than "
                "with endless bandwidth\n",
                show_real(a, s->need_frac * 100, PERCENT_DIGITS));
            return;
        }
}

static void put_diverged(struct text *out, const struct table *t, int64_t first, int64_t end)
{
    int64_t n = 0;
    for (int64_t row = first; row < end; row++) {
        if (!has_status(t, row, "diverged"))
            continue;
        text_printf(out, "%s%s at step %.0f",
                    n++ ? ", " : "diverged, for some seed: ", word(t, row, "method"),
                    number(t, row, "diverged_step"));
    }
    text_puts(out, n ? "\n" : "");
}

/* One cost for all rows: all models are of one size. */
static void put_average(struct text *out, const struct table *t, int64_t first, int64_t end)
{
    char a[SHOW], b[SHOW];
    for (int64_t row = first; row < end; row++)
        if (isfinite(number(t, row, "average_MB"))) {
            text_printf(out,
                        "averaged: accuracy of the mean of all models, which takes one more all-reduce: "
                        "%s MB and %s, not in the table\n",
                        show_real(a, number(t, row, "average_MB"), DIGITS),
                        show_time(b, number(t, row, "average_s")));
            return;
        }
}

/* A point that cannot be read has nothing to explain. */
static void put_meaning(struct text *out, const struct table *t, int64_t first, int64_t end,
                        const struct gossip_study *s)
{
    struct text lines = { 0 };
    put_compared(&lines, t, first, end, s);
    put_need(&lines, t, first, end, s);
    put_diverged(&lines, t, first, end);
    put_average(&lines, t, first, end);
    if (lines.n)
        text_printf(out, "\n%s", text_str(&lines));
    out->failed = out->failed || lines.failed;
    text_free(&lines);
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

int gossip_text(const struct table *rows, const struct gossip_study *s, struct text *out, struct err *e)
{
    int rc = 0;
    text_printf(out, "%s%straining with little communication\n", s->name, s->name[0] ? ": " : "");
    put_seeds(out, s);
    for (int64_t first = 0, end; first < rows->n_rows && !rc; first = end) {
        end = end_of_point(rows, first);
        text_puts(out, "\n");
        put_axes(out, rows, first, s);
        rc = put_rows(out, rows, first, end, e);
        put_meaning(out, rows, first, end, s);
    }
    return rc;
}
