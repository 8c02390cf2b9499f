/** @file Tables of designs that train a model, for the tests of plots/: made in memory, as a sweep writes
 * them. */
#ifndef TESTS_UNIT_TEST_PLOTS_TRAINING_H
#define TESTS_UNIT_TEST_PLOTS_TRAINING_H

#include "tests/unit/test_plots_sample.h"

#include "plots/figure.h"

/** One row. tp and pp stand on axes of the sweep too, as batch does; all results are blank unless the status
 * is "solved". */
struct trained {
    const char *network, *workload, *status, *plan, *fits;
    int32_t batch, tp, cp, dp, pp, ep;
    double total_GBps, time_s, cost_usd, mfu, memory_GB;
    double useful_s, recompute_s, optimizer_s, bubble_s, tp_s, cp_s, ep_s, dp_s, pp_s;
};

static const char *const trained_axes[] = { "workload.parallel.tp", "workload.parallel.pp",
                                            "workload.parallel.batch" };
static const char *const trained_counts[] = { "tp", "cp", "dp", "pp", "ep" };
static const char *const trained_reals[] = { "time_s",   "cost_usd",    "mfu",      "memory_GB",
                                             "useful_s", "recompute_s", "bubble_s", "optimizer_s",
                                             "tp_s",     "cp_s",        "ep_s",     "dp_s",
                                             "pp_s" };

static inline void trained_columns(struct table *t)
{
    table_column(t, "point", TABLE_COUNT);
    for (size_t i = 0; i < COUNT_OF(trained_axes); i++)
        table_column(t, trained_axes[i], TABLE_COUNT);
    table_column(t, "network", TABLE_TEXT);
    table_column(t, "workload", TABLE_TEXT);
    table_column(t, "objective", TABLE_TEXT);
    table_column(t, "total_GBps", TABLE_REAL);
    table_column(t, "status", TABLE_TEXT);
    table_column(t, "plan", TABLE_TEXT);
    for (size_t i = 0; i < COUNT_OF(trained_counts); i++)
        table_column(t, trained_counts[i], TABLE_COUNT);
    table_column(t, "fits", TABLE_TEXT);
    for (size_t i = 0; i < COUNT_OF(trained_reals); i++)
        table_column(t, trained_reals[i], TABLE_REAL);
}

static inline void trained_row(struct table *t, const struct trained *s)
{
    bool solved = strcmp(s->status, "solved") == 0, error = strcmp(s->status, "error") == 0;
    const int32_t counts[] = { s->tp, s->cp, s->dp, s->pp, s->ep };
    const double reals[] = { s->time_s,      s->cost_usd, s->mfu,         s->memory_GB, s->useful_s,
                             s->recompute_s, s->bubble_s, s->optimizer_s, s->tp_s,      s->cp_s,
                             s->ep_s,        s->dp_s,     s->pp_s };

    table_row(t);
    table_put_count(t, t->n_rows);
    table_put_count(t, s->tp);
    table_put_count(t, s->pp);
    table_put_count(t, s->batch);
    table_put_text(t, error ? "" : s->network);
    table_put_text(t, error ? "" : s->workload);
    table_put_text(t, error ? "" : "time");
    table_put_real(t, error ? (double)NAN : s->total_GBps);
    table_put_text(t, s->status);
    table_put_text(t, solved ? s->plan : "");
    for (size_t i = 0; i < COUNT_OF(counts); i++)
        table_put_count(t, solved ? counts[i] : INT64_MIN);
    table_put_text(t, solved ? s->fits : "");
    for (size_t i = 0; i < COUNT_OF(reals); i++)
        table_put_real(t, solved ? reals[i] : (double)NAN);
}

/** Release with table_free(). */
static inline void trained_table(struct table *t, const struct trained *rows, size_t n)
{
    *t = (struct table){ 0 };
    trained_columns(t);
    for (size_t i = 0; i < n; i++)
        trained_row(t, &rows[i]);
}

static inline void trained_script(struct text *out, const char *figure, const struct trained *rows, size_t n)
{
    struct plot_options opt = { 0 };
    struct table t;
    struct err e = { 0 };
    text_clear(out);
    trained_table(&t, rows, n);
    assert_ok(plot_script(figure, &t, &opt, out, &e), &e);
    table_free(&t);
}

static inline void assert_lacks(const char *script, const char *words)
{
    if (strstr(script, words))
        print_error("\"%s\" is in\n%s\n", words, script);
    assert_null(strstr(script, words));
}

/** Round numbers, not physics: a step of 8 s whose parts leave 0.5 s, one of 10 s, one of 5 s that does not
 * fit, and a point that could not be read. */
static const struct trained trained_rows[] = {
    { .network = "flat",
      .workload = "GPT-3",
      .status = "solved",
      .fits = "yes",
      .plan = "tp 2, dp 16, pp 2, microbatch 1 of 8, selective recompute",
      .batch = 128,
      .tp = 2,
      .cp = 1,
      .dp = 16,
      .pp = 2,
      .ep = 1,
      .total_GBps = 100,
      .time_s = 8,
      .cost_usd = 2e6,
      .mfu = 0.4,
      .memory_GB = 60,
      .useful_s = 4,
      .recompute_s = 0.5,
      .optimizer_s = 0.25,
      .bubble_s = 1,
      .tp_s = 1,
      .dp_s = 0.5,
      .pp_s = 0.25 },
    { .network = "flat",
      .workload = "GPT-3",
      .status = "solved",
      .fits = "yes",
      .plan = "tp 4, dp 16, microbatch 2 of 4, selective recompute",
      .batch = 128,
      .tp = 4,
      .cp = 1,
      .dp = 16,
      .pp = 1,
      .ep = 1,
      .total_GBps = 100,
      .time_s = 10,
      .cost_usd = 1e6,
      .mfu = 0.32,
      .memory_GB = 70,
      .useful_s = 4,
      .recompute_s = 0.5,
      .tp_s = 5.5 },
    { .network = "deep",
      .workload = "GPT-3",
      .status = "solved",
      .fits = "no",
      .plan = "tp 2, dp 32, microbatch 1 of 4, selective recompute",
      .batch = 128,
      .tp = 2,
      .cp = 1,
      .dp = 32,
      .pp = 1,
      .ep = 1,
      .total_GBps = 100,
      .time_s = 5,
      .cost_usd = 3e6,
      .mfu = 0.64,
      .memory_GB = 110,
      .useful_s = 4,
      .recompute_s = 0.5,
      .dp_s = 0.5 },
    { .status = "error", .batch = 128, .tp = 4, .pp = 2 },
};

#endif
