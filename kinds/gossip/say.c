/*
 * Training with little communication in words: rows as sheets with what they mean, what a study comes to, and
 * what methods there are.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sheet.h"
#include "kinds/gossip/gossip.h"
#include "study/say.h"

enum { DIGITS = 5, FEW_DIGITS = 3, PERCENT_DIGITS = 4 };

/* "1.5 GB": in the multiple that fits. */
static const char *show_MB(char buf[SHOW], double MB, int digits)
{
    const struct column fitted = { .name = "", .unit = "MB", .show = COLUMN_FITTED };
    const struct column_scale scale = column_scale(&fitted, MB);
    char number[SHOW];
    snprintf(buf, SHOW, "%.40s %s", show_real(number, MB * scale.times, digits), scale.unit);
    return buf;
}

/* ---- heads ---- */

/* "4 workers on switch:4@1, closed rung", then "each worker: 24 steps of 10 ms, 0.4 MB a model", with what it
 * stands for, of the point of row @p row. */
static void put_where(struct text *out, const struct table *t, int64_t row)
{
    const char *replica = say_word(t, row, "replica");
    double missing_GB = say_number(t, row, "missing_GB"), MB = say_number(t, row, "wire_MB");
    double step_s = say_number(t, row, "step_s"), per_s;
    const char *step_unit = show_time_unit(step_s, &per_s);
    char a[SHOW], b[SHOW], c[SHOW], d[SHOW];
    text_printf(out, "%s\neach worker: %s%s%s steps of %s %s, %s a model", say_word(t, row, "on"), replica,
                *replica ? ", " : "", show_count(a, (int64_t)say_number(t, row, "steps")),
                show_real(b, step_s * per_s, FEW_DIGITS), step_unit, show_MB(c, MB, FEW_DIGITS));
    if (missing_GB > 0)
        text_printf(out, "; lacks %s GB of memory", show_real(d, missing_GB, FEW_DIGITS));
    text_puts(out, "\n");
}

/* Is it that of a point that could not be read? */
static bool is_unread(const struct table *t, int64_t row)
{
    return !*say_word(t, row, "on");
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

/* What is different at a point: its axes, and where it runs unless that is @p one at all points. */
static void gossip_say_point(struct text *out, const struct study_report *r, int64_t row, bool one)
{
    if (!r->n_axes)
        return;
    say_axes(out, r, row);
    if (!one && !is_unread(r->rows, row))
        put_where(out, r->rows, row);
    text_puts(out, "\n");
}

/* ---- what they mean ---- */

/* First row of the point that has a word in @p column; -1: none. */
static int64_t first_with(const struct table *t, int64_t first, int64_t end, const char *column)
{
    for (int64_t row = first; row < end; row++)
        if (*say_word(t, row, column))
            return row;
    return -1;
}

/* Says below the table what the columns of comparison are relative to. */
static void put_compared(struct text *out, const struct table *t, int64_t first, int64_t end)
{
    int64_t base = first_with(t, first, end, "base"), fixed = first_with(t, first, end, "fixed");
    char a[SHOW];
    int64_t any = base >= 0 ? base : fixed >= 0 ? fixed : first;
    bool averaged = strcmp(say_word(t, any, "compared"), "averaged") == 0;
    const char *whose = averaged ? "the averaged model's" : "the workers'";
    if (base >= 0)
        text_printf(
            out,
            "vs base: against %s; changes of traffic and time in %%, of accuracy (%s) in points, seed by "
            "seed\n",
            say_word(t, base, "base"), whose);
    if (fixed >= 0)
        text_printf(
            out,
            "vs fixed: changes in %% against the fixed period that sends least, or is fastest, of those at "
            "most %s points less accurate (%s)\n",
            show_real(a, say_number(t, fixed, "equal_points"), PERCENT_DIGITS), whose);
}

/* The first row of the point in which @p column is a number; -1: none. */
static int64_t first_number(const struct table *t, int64_t first, int64_t end, const char *column)
{
    for (int64_t row = first; row < end; row++)
        if (isfinite(say_number(t, row, column)))
            return row;
    return -1;
}

static void put_needed(struct text *out, const struct table *t, int64_t first, int64_t end)
{
    int64_t row = first_number(t, first, end, "need_GBps");
    char a[SHOW];
    if (row < 0)
        return;
    const char *dim = say_word(t, row, "need_dim");
    text_printf(out,
                "needs: bandwidth of %s%s%s, at which it takes %s %% longer than with endless bandwidth%s\n",
                *dim ? "dimension " : "an NPU, all dimensions together", dim, *dim ? ", of an NPU" : "",
                show_real(a, say_number(t, row, "need_wait_pct"), PERCENT_DIGITS), *dim ? " there" : "");
}

static void put_diverged(struct text *out, const struct table *t, int64_t first, int64_t end)
{
    int64_t n = 0;
    for (int64_t row = first; row < end; row++) {
        if (isnan(say_number(t, row, "diverged_step")))
            continue;
        text_printf(out, "%s%s at step %.0f",
                    n++ ? ", " : "diverged, earliest seed: ", say_word(t, row, "method"),
                    say_number(t, row, "diverged_step"));
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
    double MB = say_number(t, row, "average_MB");
    text_printf(out,
                "averaged: accuracy of the mean of all models, which takes one more all-reduce: "
                "%s and %s, not in the table\n",
                show_MB(a, MB, DIGITS), show_time(b, say_number(t, row, "average_s")));
}

/* A point that cannot be read has nothing to explain. */
static void put_meaning(struct text *out, const struct table *t, int64_t first, int64_t end)
{
    struct text lines = { 0 };
    put_compared(&lines, t, first, end);
    put_needed(&lines, t, first, end);
    put_diverged(&lines, t, first, end);
    put_average(&lines, t, first, end);
    if (lines.n)
        text_printf(out, "\n%s", text_str(&lines));
    out->failed = out->failed || lines.failed;
    text_free(&lines);
}

/* A table per point, with what is the same for all points on top. */
int gossip_study_say(struct text *out, const struct study_report *r, struct err *e)
{
    const struct table *rows = r->rows;
    bool one = is_one_place(rows);
    int rc = 0;
    text_printf(out, "%s%straining with little communication\n", r->name, r->name[0] ? ": " : "");
    say_seeds(out, r);
    if (one && next_read(rows, 0) < rows->n_rows)
        put_where(out, rows, next_read(rows, 0));
    for (int64_t first = 0, end; first < rows->n_rows && !rc; first = end) {
        end = say_end_of_point(rows, first);
        text_puts(out, "\n");
        gossip_say_point(out, r, first, one);
        rc = say_rows(out, r, first, end, &(struct say_look){ 0 }, e);
        put_meaning(out, rows, first, end);
    }
    return rc;
}

/* ---- what a study comes to ---- */

/* Rows that diverged are an outcome; that no other is left is worth a line. */
int gossip_study_conclude(struct text *out, enum study_verdict *verdict, const struct study_report *r,
                          struct err *e)
{
    const struct table *t = r->rows;
    int64_t wrong = say_errors(out, t), diverged = 0;
    (void)e;
    for (int64_t row = 0; row < t->n_rows; row++)
        diverged += say_has_status(t, row, "diverged");
    if (diverged && wrong + diverged == t->n_rows)
        text_printf(out, "all %s%lld rows diverged: a lower learner.rate may help\n", wrong ? "other " : "",
                    (long long)diverged);
    *verdict = wrong && wrong == t->n_rows ? VERDICT_INPUT : VERDICT_FINE;
    return 0;
}

/* Where no row is one of a run, what is wrong is wrong with the command. */
int gossip_study_fail_alone(const struct study_report *r, struct err *e)
{
    for (int64_t row = 0; row < r->rows->n_rows; row++)
        if (!say_has_status(r->rows, row, "error"))
            return 0;
    return r->rows->n_rows ? err_set(e, ERR_RANGE, "%s", say_word(r->rows, 0, "message")) : 0;
}

/* ---- what there is ---- */

/* The period where a study says none. */
static void put_period(struct sheet *s, int32_t method)
{
    const struct gossip_settings x = { .method = method, .rule = GOSSIP_RULE_FIXED };
    if (gossip_method_uses(&x) & GOSSIP_FOR_PERIOD)
        sheet_count(s, gossip_method_period(method));
    else
        sheet_put(s, "-");
}

static void list_methods(struct sheet *s)
{
    sheet_column(s, "method", "", SHEET_LEFT);
    sheet_column(s, "period", "", SHEET_POINT);
    sheet_column(s, "exchanges", "", SHEET_LEFT);
    for (int32_t i = 0; i < gossip_n_methods; i++) {
        sheet_put(s, "%s", gossip_method_name(i));
        put_period(s, i);
        sheet_put(s, "%s", gossip_method_help(i));
    }
}

/* Methods with their usual periods. */
int gossip_study_list(struct text *out, struct err *e)
{
    struct sheet methods = { 0 };
    list_methods(&methods);
    int rc = sheet_write(&methods, out, e);
    text_puts(out, "\nPeriod: steps between exchanges where a study gives none. Settings: weft keys "
                   "\"methods of gossip\".\n");
    sheet_free(&methods);
    return rc;
}
