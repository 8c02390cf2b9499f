/*
 * Placement studies in words: a row a scheduler, what is the same in every row above them, what a study comes
 * to, and what each model knows. Metrics are found by the names of their columns, so that rows of a store or
 * of a CSV read the same.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sheet.h"
#include "kinds/place/place.h"
#include "study/say.h"

enum { DIGITS = 5 };

/* A mean with its half width, as many digits of each as this leaves sure: "535.2 +- 4.1", "146 +- 297"; times
 * what makes its unit of the table's. A half width that is the rounding of equal values is none. */
static void say_place_mean(struct sheet *s, double mean, double half, double times)
{
    char a[SHOW], b[SHOW];
    /* NaN of a single seed has no half width either. */
    if (!(isfinite(half) && half > 1e-9 * fabs(mean))) {
        sheet_put(s, "%s", show_real(a, mean * times, DIGITS));
        return;
    }
    /*
     * Two digits of the half width, and the mean to the same place; never less than one nor more than DIGITS.
     */
    double digits = mean != 0 ? floor(log10(fabs(mean))) - floor(log10(half)) + 2 : 1;
    sheet_put(s, "%s \302\261 %s", show_real(a, mean * times, (int)fmin(fmax(digits, 1), DIGITS)),
              show_real(b, half * times, 2));
}

/* Which metric column `c` of the table is; -1 = none. The names of all models are looked through: rows that
 * were read from a file do not say here which model they are of. */
static int say_place_metric_of(const struct table *t, int32_t c)
{
    for (int m = 0; m < N_PLACE_METRICS; m++)
        for (int k = 0; k < N_PLACE_MODELS; k++)
            if (place_metrics[m].names[k] && strcmp(place_metrics[m].names[k], t->names[c]) == 0)
                return m;
    return -1;
}

static bool say_place_is_seconds(const char *column)
{
    size_t n = strlen(column);
    return n > 2 && strcmp(column + n - 2, "_s") == 0;
}

/* In all columns of time the same, so that they can be compared: hours from ten hours on. */
static bool say_place_in_hours(const struct table *t)
{
    double most_s = 0;
    for (int32_t c = 0; c < t->n_cols; c++)
        for (int64_t row = 0; row < t->n_rows && say_place_is_seconds(t->names[c]); row++)
            most_s = fmax(most_s, table_number(t, row, c));
    return most_s >= 36000;
}

/* Unit of a column for people, and how many of it are one of the table's. "jct" and "makespan" are counted in
 * slots. */
static const char *say_place_unit(double *times, const struct table *t, int32_t c, int m, bool hours)
{
    *times = 1;
    if (place_metrics[m].percent) {
        *times = 100;
        return "%";
    }
    if (say_place_is_seconds(t->names[c])) {
        *times = hours ? 1.0 / 3600 : 1;
        return hours ? "h" : "s";
    }
    return m == PLACE_JCT || m == PLACE_MAKESPAN ? "slots" : "";
}

static const char *say_place_cell(char buf[SHOW], const struct table *t, int64_t row, int32_t c)
{
    /* A column that the table lacks (a store of an older form, a CSV cut by hand) reads as blank. */
    if (c < 0)
        return "-";
    if (t->kinds[c] == TABLE_TEXT) {
        const char *text = table_text(t, row, c);
        return text ? text : "-";
    }
    return show_real(buf, table_number(t, row, c), 6);
}

/* By what people would read: values that are shown alike are alike here. */
static bool say_place_differs(const struct table *t, int32_t c)
{
    char a[SHOW], b[SHOW];
    for (int64_t row = 1; row < t->n_rows; row++)
        if (strcmp(say_place_cell(a, t, row, c), say_place_cell(b, t, 0, c)) != 0)
            return true;
    return false;
}

/* Said once above the table where it is the same in all rows. */
static void say_place_common(struct text *out, const struct table *t, const char *column, const char *title)
{
    char a[SHOW];
    int32_t c = table_find(t, column);
    const char *value = say_place_cell(a, t, 0, c);
    if (!say_place_differs(t, c) && strcmp(value, "-") != 0)
        text_printf(out, "%s: %s\n", title, value);
}

static void say_place_head(struct text *out, const struct study_report *r)
{
    char a[SHOW];
    text_printf(out, "%s%sjobs in model %s\n", r->name, r->name[0] ? ": " : "",
                say_word(r->rows, 0, "model"));
    say_place_common(out, r->rows, "network", "network");
    if (r->seeds > 1)
        text_printf(out, "means of %s seeds, %lld to %lld, \302\261 half of the 95 %% interval\n",
                    show_count(a, r->seeds), (long long)r->seed, (long long)(r->seed + r->seeds - 1));
    else
        text_printf(out, "seed: %lld\n", (long long)r->seed);
    text_puts(out, "\n");
}

/* Columns in the order of the table; metrics with their half widths in one. */
struct place_layout {
    /** of the table, by column of the sheet */
    int32_t columns[SHEET_MAX_COLUMNS];
    /** -1 = no metric */
    int metrics[SHEET_MAX_COLUMNS];
    double times[SHEET_MAX_COLUMNS]; /* what metrics are multiplied by for their unit */
    int32_t n;
};

/* Nothing where the table has no such column, or the sheet is full. */
static void say_place_column(struct place_layout *l, struct sheet *s, int32_t column, int m,
                             const char *title, const char *unit, enum sheet_align align)
{
    if (column < 0 || l->n == SHEET_MAX_COLUMNS)
        return;
    sheet_column(s, title, unit, align);
    l->columns[l->n] = column;
    l->metrics[l->n++] = m;
}

static void say_place_metric(struct place_layout *l, struct sheet *s, const struct table *t, int32_t column,
                             int m, bool hours)
{
    double times;
    const char *unit = say_place_unit(&times, t, column, m, hours);
    int32_t before = l->n;
    say_place_column(l, s, column, m, place_metrics[m].title, unit, SHEET_POINT);
    if (l->n > before)
        l->times[before] = times;
}

/* A load over capacity is worth a column only where there is one. */
static bool say_place_is_shown(const struct table *t, int32_t c, int m)
{
    if (m != PLACE_NODE_OVER && m != PLACE_LINK_OVER)
        return true;
    for (int64_t row = 0; row < t->n_rows; row++)
        if (table_number(t, row, c) > 1 + 1e-9)
            return true;
    return false;
}

/* From left to right: what was varied, what was compared, what came of it, what it costs, what went wrong. */
static void say_place_choose(struct place_layout *l, struct sheet *s, const struct study_report *r)
{
    const struct table *t = r->rows;
    for (int32_t k = 0; k < r->n_axes; k++)
        say_place_column(l, s, table_find(t, r->axes[k]), -1, say_axis_title(r->axes[k]), "", SHEET_POINT);
    int32_t network = table_find(t, "network"), usd = table_find(t, "network_usd");
    if (say_place_differs(t, network))
        say_place_column(l, s, network, -1, "network", "", SHEET_LEFT);
    say_place_column(l, s, table_find(t, "scheduler"), -1, "scheduler", "", SHEET_LEFT);
    bool hours = say_place_in_hours(t);
    /* Where the number of jobs is an axis it stands there already. */
    if (table_find(t, "jobs.count") < 0)
        say_place_column(l, s, table_find(t, "jobs"), -1, "jobs", "", SHEET_POINT);
    for (int32_t c = 0; c < t->n_cols; c++) {
        int m = say_place_metric_of(t, c);
        if (m >= 0 && say_place_is_shown(t, c, m))
            say_place_metric(l, s, t, c, m, hours);
    }
    if (r->seeds > 1)
        say_place_column(l, s, table_find(t, "beats_next"), -1, "beats next", "seeds", SHEET_POINT);
    say_place_column(l, s, usd, -1, "network cost", "USD", SHEET_POINT);
    say_place_column(l, s, table_find(t, "message"), -1, "message", "", SHEET_LEFT);
}

int place_say(struct text *out, const struct study_report *r, struct err *e)
{
    const struct table *t = r->rows;
    struct place_layout l = { .n = 0 };
    struct sheet s = { 0 };
    char value[SAY_VALUE], buf[SHOW];
    if (t->n_rows == 0)
        return 0;
    say_place_head(out, r);
    say_place_choose(&l, &s, r);
    for (int64_t row = 0; row < t->n_rows; row++)
        for (int32_t i = 0; i < l.n; i++) {
            int32_t c = l.columns[i];
            if (l.metrics[i] >= 0)
                /* Its half width, NAME_ci, is the column after each metric. */
                say_place_mean(&s, table_number(t, row, c), table_number(t, row, c + 1), l.times[i]);
            else if (strcmp(t->names[c], "network_usd") == 0)
                sheet_usd(&s, table_number(t, row, c));
            else
                sheet_put(&s, "%s", say_unquote(value, say_place_cell(buf, t, row, c)));
        }
    int rc = sheet_write(&s, out, e);
    sheet_free(&s);
    return rc;
}

/* ---- what a study comes to ---- */

/* A point that could not be run is a row; when none could, the exit code says so. */
int place_conclude(struct text *out, enum study_verdict *verdict, const struct study_report *r, struct err *e)
{
    const struct table *t = r->rows;
    int64_t n = 0, first = -1;
    bool wrong = false;
    (void)e;
    *verdict = VERDICT_FINE;
    for (int64_t row = 0; row < t->n_rows; row++) {
        if (say_has_status(t, row, "done"))
            continue;
        wrong = wrong || say_has_status(t, row, "error");
        first = first < 0 ? row : first;
        n++;
    }
    if (n == 0)
        return 0;
    text_printf(out, "%lld of %lld rows are not done; the first: %s\n", (long long)n, (long long)t->n_rows,
                say_word(t, first, "message"));
    if (n == t->n_rows)
        /* A scheduler without a plan is a result; only an error among them means that the input is wrong. */
        *verdict = wrong ? VERDICT_INPUT : VERDICT_NO_DESIGN;
    return 0;
}

/* The one point of a study that varies nothing: what is wrong with it is wrong with the command. */
int place_fail_alone(const struct study_report *r, struct err *e)
{
    const struct table *t = r->rows;
    if (t->n_rows == 0 || say_has_status(t, 0, "done"))
        return 0;
    return err_set(e, say_has_status(t, 0, "error") ? ERR_RANGE : ERR_NO_DESIGN, "%s",
                   say_word(t, 0, "message"));
}

/* ---- what there is ---- */

/* What a model knows: its schedulers, and what its columns mean; generated from the tables that runs use, so
 * it cannot name what there is not. */
static void say_place_list_model(struct text *out, struct sheet *s, enum place_model model)
{
    text_printf(out, "\nmodel %s: ", place_model_words[model]);
    const char *name;
    for (int32_t i = 0; (name = place_ops_of(model)->scheduler(i)) != NULL; i++)
        text_printf(out, "%s%s", i ? ", " : "", name);
    text_puts(out, "\n\n");
    sheet_column(s, "column", "", SHEET_LEFT);
    sheet_column(s, "of", "", SHEET_LEFT);
    sheet_column(s, "meaning", "", SHEET_LEFT);
    for (int m = 0; m < N_PLACE_METRICS; m++)
        if (place_metrics[m].names[model]) {
            sheet_put(s, "%s", place_metrics[m].names[model]);
            sheet_put(s, "%s", place_metrics[m].title);
            sheet_put(s, "%s", place_metrics[m].help);
        }
}

int place_list(struct text *out, struct err *e)
{
    int rc = 0;
    text_puts(out, "Times of model slots are counted in slots. A column NAME_ci is half of the 95 % "
                   "interval of NAME over seeds.\n");
    for (int model = 0; model < N_PLACE_MODELS && !rc; model++) {
        struct sheet s = { 0 };
        say_place_list_model(out, &s, (enum place_model)model);
        rc = sheet_write(&s, out, e);
        sheet_free(&s);
    }
    return rc;
}
