/*
 * Layers on types of resources in words: rows and the cheapest plan as sheets, what a study comes to, and
 * what schedulers there are.
 */
#include <math.h>
#include <string.h>

#include "base/sheet.h"
#include "kinds/hetero/hetero.h"
#include "study/say.h"

enum { DIGITS = 5, RATIO_DIGITS = 4 };

/* ---- head of a point ---- */

/* What the point is, and what was proved about it, above its table. */
static void hetero_say_point(struct text *out, const struct study_report *r, int64_t row)
{
    const struct table *t = r->rows;
    char a[SHOW], b[SHOW], value[SHOW_VALUE];
    double need_per_s = say_number(t, row, "need_per_s"), oracle_usd = say_number(t, row, "oracle_usd");
    say_axes(out, r, row);
    if (isfinite(say_number(t, row, "layers")))
        text_printf(out, "model: %s, %.0f layers on %.0f types\n",
                    show_unquoted(value, say_word(t, row, "model")), say_number(t, row, "layers"),
                    say_number(t, row, "types"));
    if (isfinite(need_per_s))
        text_printf(out, "throughput: %s examples/s required; no plan exceeds %s\n",
                    show_real(a, need_per_s, DIGITS), show_real(b, say_number(t, row, "most_per_s"), DIGITS));
    if (strcmp(say_word(t, row, "oracle_proof"), "optimal") == 0)
        text_printf(out, "cheapest plan: %s USD (proved)\n", show_usd(a, oracle_usd));
    else if (strcmp(say_word(t, row, "oracle_proof"), "no plan") == 0)
        text_puts(out, "no plan exists (proved)\n");
    else if (isfinite(oracle_usd))
        text_printf(out, "no plan costs less than %s USD (a bound; no plan is proved to be the cheapest)\n",
                    show_usd(a, oracle_usd));
}

/* ---- the cheapest plan ---- */

/* First row of it; -1: there is none. */
static int64_t cheapest_plan(const struct table *t)
{
    int64_t best = -1;
    for (int64_t row = 0; row < t->n_rows; row++)
        if (best < 0 || say_number(t, row, "usd") < say_number(t, best, "usd"))
            best = row;
    return best;
}

/* Rows of the plan that begins at @p first: the next one begins with stage 1 again. */
static int64_t end_of_plan(const struct table *t, int64_t first)
{
    int64_t end = first + 1;
    while (end < t->n_rows && say_number(t, end, "stage") > say_number(t, end - 1, "stage"))
        end++;
    return end;
}

/* One stage of the cheapest plan. */
static void hetero_say_stage(struct sheet *s, const struct table *t, int64_t row, double slowest_per_s)
{
    char a[SHOW];
    double first = say_number(t, row, "first"), last = say_number(t, row, "last");
    double servers = say_number(t, row, "servers"), per_s = say_number(t, row, "examples_per_s");
    if (last > first)
        sheet_put(s, "%.0f-%.0f %s..%s", first, last, say_word(t, row, "first_name"),
                  say_word(t, row, "last_name"));
    else
        sheet_put(s, "%.0f %s", first, say_word(t, row, "first_name"));
    sheet_put(s, "%s x %s", show_real(a, say_number(t, row, "units"), 9), say_word(t, row, "type"));
    sheet_real(s, servers > 0 ? servers : (double)NAN, 9);
    sheet_real(s, say_number(t, row, "compute_us"), RATIO_DIGITS);
    sheet_real(s, say_number(t, row, "comm_us"), RATIO_DIGITS);
    sheet_real(s, per_s, DIGITS);
    sheet_usd(s, say_number(t, row, "usd_per_h"));
    sheet_put(s, "%s%s", say_word(t, row, "limit"), per_s <= slowest_per_s ? ", the slowest" : "");
}

/* No plan is refused for its memory, so that a stage whose weights alone do not fit is said to be one. */
static void put_memory(struct text *out, const struct table *t, int64_t row)
{
    char a[SHOW], b[SHOW];
    double weight_GB = say_number(t, row, "weight_GB"), memory_GB = say_number(t, row, "memory_GB");
    if (weight_GB > memory_GB)
        text_printf(out, "stage %.0f: weights of %s GB do not fit into the %s GB of its units\n",
                    say_number(t, row, "stage"), show_real(a, weight_GB, DIGITS),
                    show_real(b, memory_GB, DIGITS));
}

/* With one point only: of many the plans would drown the rows. */
static int hetero_say_plan(struct text *out, const struct table *t, struct err *e)
{
    int64_t first = cheapest_plan(t);
    if (first < 0)
        return 0;
    int64_t end = end_of_plan(t, first);
    double slowest_per_s = INFINITY, seed = say_number(t, first, "seed");
    struct sheet s = { 0 };
    char a[SHOW];
    for (int64_t row = first; row < end; row++)
        slowest_per_s = fmin(slowest_per_s, say_number(t, row, "examples_per_s"));
    text_printf(out, "\nplan of %s", say_word(t, first, "scheduler"));
    if (isfinite(seed))
        text_printf(out, " with seed %.0f", seed);
    text_printf(out, ", %s USD:\n", show_usd(a, say_number(t, first, "usd")));
    sheet_column(&s, "layers", "", SHEET_LEFT);
    sheet_column(&s, "units", "", SHEET_LEFT);
    sheet_column(&s, "servers", "", SHEET_POINT);
    sheet_column(&s, "compute", "us/example", SHEET_POINT);
    sheet_column(&s, "communication", "us/example", SHEET_POINT);
    sheet_column(&s, "throughput", "1/s", SHEET_POINT);
    sheet_column(&s, "price", "USD/h", SHEET_POINT);
    sheet_column(&s, "limited by", "", SHEET_LEFT);
    for (int64_t row = first; row < end; row++)
        hetero_say_stage(&s, t, row, slowest_per_s);
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
        if (strcmp(say_word(t, row, "scheduler"), scheduler) == 0)
            return row;
    return -1;
}

static void fight(struct duel *d, const struct table *t, int64_t rl, int64_t other)
{
    double usd = say_number(t, other, "usd"), per_s = say_number(t, other, "examples_per_s");
    bool has_plan = isfinite(usd);
    if (!isfinite(say_number(t, rl, "usd")))
        return;
    if (!has_plan)
        per_s = say_number(t, other, "reach_per_s");
    d->infeasible += !has_plan;
    d->throughput = fmax(d->throughput, say_number(t, rl, "examples_per_s") / per_s);
    d->cost = fmax(d->cost, say_number(t, other, "over_rl"));
}

/* One scheduler against rl-lstm: ratios, and the saving as a share. */
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
    for (int32_t i = 0; i < n_hetero_schedulers; i++) {
        const char *name = hetero_schedulers[i].name;
        struct duel d = { 0 };
        bool met = false;
        for (int64_t first = 0, end; first < t->n_rows; first = end) {
            end = say_end_of_point(t, first);
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
                    say_end_of_point(t, 0) < t->n_rows ? ", the largest ratios of all points" : "");
    int rc = n ? sheet_write(&s, out, e) : 0;
    sheet_free(&s);
    return rc;
}

/* Seeds matter where some scheduler draws. */
static void hetero_say_seeds(struct text *out, const struct study_report *r)
{
    char a[SHOW];
    double most = 0;
    for (int64_t row = 0; row < r->rows->n_rows; row++)
        most = fmax(most, say_number(r->rows, row, "seeds"));
    if (most > 1)
        text_printf(out, "medians of %s seeds, %lld to %lld\n", show_count(a, r->seeds), (long long)r->seed,
                    (long long)(r->seed + r->seeds - 1));
    else if (r->seeds == 1)
        text_printf(out, "seed: %lld\n", (long long)r->seed);
}

/* A table per point, then the plan or the comparisons. */
int hetero_study_say(struct text *out, const struct study_report *r, struct err *e)
{
    const struct table *rows = r->rows, *stages = r->tables[HETERO_STAGES];
    int rc = 0;
    text_printf(out, "%s%slayers on types of resources\n", r->name, r->name[0] ? ": " : "");
    hetero_say_seeds(out, r);
    for (int64_t first = 0, end; first < rows->n_rows && !rc; first = end) {
        end = say_end_of_point(rows, first);
        text_puts(out, "\n");
        hetero_say_point(out, r, first);
        text_puts(out, "\n");
        rc = say_rows(out, r, first, end, &(struct say_look){ 0 }, e);
    }
    if (!rc && r->n_points == 1 && stages)
        rc = hetero_say_plan(out, stages, e);
    return rc ? rc : put_duels(out, rows, e);
}

/* ---- what a study comes to ---- */

/* The row whose @p column, a throughput, is the largest; -1: none has one. */
static int64_t fastest_row(const struct table *t, const char *column)
{
    int32_t reach = table_find(t, column);
    int64_t best = -1;
    for (int64_t row = 0; row < t->n_rows; row++) {
        double per_s = table_number(t, row, reach);
        if (per_s > 0 && (best < 0 || per_s > table_number(t, best, reach)))
            best = row;
    }
    return best;
}

static void say_infeasible(struct text *out, const struct table *t)
{
    int64_t best = fastest_row(t, "reach_per_s");
    if (best < 0) {
        best = fastest_row(t, "most_per_s"); /* no scheduler ran: out of reach of all */
        text_printf(out, "no plan: %s\n", say_word(t, best < 0 ? 0 : best, "message"));
    } else {
        text_printf(out, "no scheduler found a plan; %s came closest: %s\n", say_word(t, best, "scheduler"),
                    say_word(t, best, "message"));
    }
}

/* Schedulers without a plan are an outcome; that none has one is the command's. */
int hetero_study_conclude(struct text *out, enum study_verdict *verdict, const struct study_report *r,
                          struct err *e)
{
    const struct table *t = r->rows;
    int64_t wrong = say_errors(out, t), infeasible = 0;
    (void)e;
    for (int64_t row = 0; row < t->n_rows; row++)
        infeasible += say_has_status(t, row, "infeasible");
    *verdict = VERDICT_FINE;
    if (wrong + infeasible < t->n_rows || t->n_rows == 0)
        return 0;
    if (infeasible)
        say_infeasible(out, t);
    *verdict = infeasible ? VERDICT_NO_DESIGN : VERDICT_INPUT;
    return 0;
}

int hetero_study_fail_alone(const struct study_report *r, struct err *e)
{
    const struct table *t = r->rows;
    if (t->n_rows != 1 || *say_word(t, 0, "scheduler"))
        return 0;
    return err_set(e, say_has_status(t, 0, "error") ? ERR_RANGE : ERR_NO_DESIGN, "%s",
                   say_word(t, 0, "message"));
}

/* ---- what there is ---- */

static void list_schedulers(struct sheet *s)
{
    sheet_column(s, "scheduler", "", SHEET_LEFT);
    sheet_column(s, "makes plans by", "", SHEET_LEFT);
    for (int32_t i = 0; i < n_hetero_schedulers; i++) {
        sheet_put(s, "%s", hetero_schedulers[i].name);
        sheet_put(s, "%s", hetero_schedulers[i].help);
    }
}

/* Schedulers, and how the paper's claims are to be read. */
int hetero_study_list(struct text *out, struct err *e)
{
    struct sheet schedulers = { 0 };
    list_schedulers(&schedulers);
    int rc = sheet_write(&schedulers, out, e);
    text_puts(out,
              "\nThe abstract of arXiv 2111.10635 claims, for scheduling by an LSTM, up to 14.5 times the "
              "throughput of\nothers and a cost that is up to 312.3 % smaller. A cost cannot fall by more "
              "than 100 %: it is read here as\n(other - rl)/rl = 3.123, the other costs 4.123 times as much "
              "and rl-lstm saves 75.7 %. These are claims for\nthat paper's models and machines, whose "
              "numbers are not published; nothing here is made to meet them.\n");
    sheet_free(&schedulers);
    return rc;
}
