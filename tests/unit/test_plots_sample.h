/** @file Tables of designs for the tests of plots/: made in memory, with the columns that a sweep writes. */
#ifndef TESTS_UNIT_TEST_PLOTS_SAMPLE_H
#define TESTS_UNIT_TEST_PLOTS_SAMPLE_H

#include "tests/support.h"

#include "base/table.h"
#include "base/text.h"

enum { SAMPLE_DIMS = 3 };

/** One row; dimensions beyond n_dims are blank, as are all results unless the status is "solved". */
struct sample {
    const char *network, *dims, *workload, *objective, *status;
    int32_t n_dims;
    double total_GBps, time_s, compute_s, cost_usd, equal_time_s, equal_cost_usd, nic_GBps;
    double bw_GBps[SAMPLE_DIMS], util[SAMPLE_DIMS], exposed_s[SAMPLE_DIMS];
};

static inline void sample_columns(struct table *t)
{
    static const char *const texts[] = { "network", "dims", "workload", "objective", "status" };
    static const char *const reals[] = {
        "total_GBps",     "time_s",  "compute_s",          "comm_s",   "cost_usd", "equal_time_s",
        "equal_cost_usd", "speedup", "perf_per_cost_gain", "nic_GBps",
    };
    static const char *const per_dim[] = { "bw%d_GBps", "util%d", "exposed%d_s" };
    char name[32];

    table_column(t, "point", TABLE_COUNT);
    table_column(t, "n_dims", TABLE_COUNT);
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        table_column(t, texts[i], TABLE_TEXT);
    for (size_t i = 0; i < COUNT_OF(reals); i++)
        table_column(t, reals[i], TABLE_REAL);
    for (size_t k = 0; k < COUNT_OF(per_dim); k++)
        for (int i = 1; i <= SAMPLE_DIMS; i++) {
            const char *hole = strchr(per_dim[k], '%');
            snprintf(name, sizeof name, "%.*s%d%s", (int)(hole - per_dim[k]), per_dim[k], i, hole + 2);
            table_column(t, name, TABLE_REAL);
        }
}

static inline void sample_put_dims(struct table *t, const struct sample *s, const double *x, bool solved)
{
    for (int i = 0; i < SAMPLE_DIMS; i++)
        table_put_real(t, solved && i < s->n_dims ? x[i] : (double)NAN);
}

static inline void sample_row(struct table *t, const struct sample *s)
{
    bool solved = strcmp(s->status, "solved") == 0;
    const double results[] = {
        s->time_s,
        s->compute_s,
        s->time_s - s->compute_s,
        s->cost_usd,
        s->equal_time_s,
        s->equal_cost_usd,
        s->equal_time_s / s->time_s,
        s->equal_time_s * s->equal_cost_usd / (s->time_s * s->cost_usd),
        s->nic_GBps,
    };

    table_row(t);
    table_put_count(t, t->n_rows);
    table_put_count(t, s->n_dims);
    table_put_text(t, s->network);
    table_put_text(t, s->dims);
    table_put_text(t, s->workload);
    table_put_text(t, s->objective);
    table_put_text(t, s->status);
    table_put_real(t, s->total_GBps);
    for (size_t i = 0; i < COUNT_OF(results); i++)
        table_put_real(t, solved ? results[i] : (double)NAN);
    sample_put_dims(t, s, s->bw_GBps, solved);
    sample_put_dims(t, s, s->util, solved);
    sample_put_dims(t, s, s->exposed_s, solved);
}

/** Release with table_free(). */
static inline void sample_table(struct table *t, const struct sample *rows, size_t n)
{
    *t = (struct table){ 0 };
    sample_columns(t);
    for (size_t i = 0; i < n; i++)
        sample_row(t, &rows[i]);
}

/** Two networks, two workloads, two objectives, and a row that has no solution. Round numbers, not physics.
 */
static const struct sample sample_rows[] = {
    { "flat",
      "node|pod",
      "GPT-3",
      "time",
      "solved",
      2,
      100,
      0.5,
      0.3,
      2e6,
      1.0,
      4e6,
      20,
      { 80, 20 },
      { 0.4, 0.25 },
      { 0.15, 0.05 } },
    { "flat",
      "node|pod",
      "GPT-3",
      "time",
      "solved",
      2,
      200,
      0.4,
      0.3,
      4e6,
      0.5,
      8e6,
      40,
      { 160, 40 },
      { 0.25, 0.2 },
      { 0.1, 0 } },
    { "flat",
      "node|pod",
      "GPT-3",
      "perf_per_cost",
      "solved",
      2,
      100,
      0.8,
      0.3,
      1e6,
      1.0,
      4e6,
      5,
      { 95, 5 },
      { 0.1, 0.6 },
      { 0, 0.5 } },
    { "flat", "node|pod", "GPT-3", "time", "infeasible", 2, 300, 0, 0, 0, 0, 0, 0, { 0 }, { 0 }, { 0 } },
    { "flat",
      "node|pod",
      "MSFT-1T",
      "time",
      "solved",
      2,
      100,
      2,
      1,
      3e6,
      4,
      6e6,
      30,
      { 70, 30 },
      { 0.5, 0.3 },
      { 0.7, 0.3 } },
    { "deep",
      "chip|node|pod",
      "GPT-3",
      "time",
      "solved",
      3,
      100,
      0.25,
      0.2,
      5e5,
      1.0,
      3e6,
      2,
      { 60, 38, 2 },
      { 0.2, 0.1, 0.05 },
      { 0.05, 0, 0 } },
    { "deep",
      "chip|node|pod",
      "MSFT-1T",
      "time",
      "solved",
      3,
      200,
      1,
      0.5,
      2e6,
      2,
      5e6,
      8,
      { 150, 42, 8 },
      { 0.5, 0.4, 0.1 },
      { 0.25, 0.25, 0 } },
};

/** Some block of the script holds exactly @p data, and its first element of a plot command contains @p style.
 */
static inline void assert_drawn(const char *script, const char *data, const char *style)
{
    char block[64], drawn[300];
    struct text want = { 0 };

    text_printf(&want, " << EOD\n%sEOD\n", data);
    const char *at = strstr(script, text_str(&want));
    if (!at) {
        print_error("no block holds exactly\n%sin\n%s\n", data, script);
        text_free(&want);
        fail();
        return;
    }
    text_free(&want);
    const char *name = at;
    while (name > script && name[-1] != '\n')
        name--;
    snprintf(block, sizeof block, "%.*s using", (int)(at - name), name);
    const char *element = strstr(at, block);
    assert_non_null(element);
    snprintf(drawn, sizeof drawn, "%s", element);
    drawn[strcspn(drawn, ",\n")] = '\0';
    assert_has(drawn, style);
}

#endif
