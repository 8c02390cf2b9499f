/* How fast points of a sweep become rows, on one core: study read, split solved and looked at again, equal
 * split, bill, a row in a table. Every row is looked at: one that is not solved breaks the promise. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "kinds/design/explore/runner.h"
#include "kinds/design/ask/load.h"

enum { N_TOTALS = 500, N_NETWORKS = 500, SEED = 20261121 };

/* 40,000 points a second with the store, which takes 8 us of the 25. */
#define LEAST_PER_S (1 / 17e-6)

enum { ROUTED_PER_S = 5000 };

/* A sweep of one axis that is not written in the study. */
struct points {
    struct sweep_axis axis;
    struct sweep_grid grid;
    struct study study;
    struct units order;
    struct runner *runner;
    struct table rows;
    struct sweep_counts counts;
};

static char *keep(const char *text)
{
    char *copy = bench_alloc(strlen(text) + 1);
    return strcpy(copy, text);
}

static void open_points(struct points *p, const char *study, const struct study_override *overrides,
                        int32_t n_overrides, const char *key, int64_t n)
{
    *p = (struct points){ .axis = { .n_keys = 1, .n = n }, .grid = { .n_axes = 1, .n_points = n } };
    p->axis.values = bench_alloc((size_t)n * sizeof *p->axis.values);
    p->study = (struct study){ .kind = &design_kind,
                               .from = { .path = study, .overrides = overrides, .n = n_overrides },
                               .sweep = { .keys = { { .path = keep(key) } },
                                          .n_keys = 1,
                                          .axes = &p->axis,
                                          .n_axes = 1,
                                          .grids = &p->grid,
                                          .n_grids = 1,
                                          .n_points = n } };
    struct err e = { 0 };
    if (study_set_columns(&p->study, TABLE_ROWS, design_columns, &e))
        bench_stop("%s", e.msg);
}

/* Values are there: one runner for all rounds, as a thread has one for all units. */
static void start_points(struct points *p)
{
    struct err e = { 0 };
    if (units_build(&p->order, &p->study.sweep, N_TOTALS, design_is_quick, &e))
        bench_stop("%s", e.msg);
    const struct block_job job = { .study = &p->study, .order = &p->order };
    if (runner_build(&p->runner, &job, &e))
        bench_stop("%s", e.msg);
}

static void close_points(struct points *p)
{
    runner_free(p->runner);
    units_free(&p->order);
    for (int64_t i = 0; i < p->axis.n; i++)
        free(p->axis.values[i]);
    free(p->axis.values);
    free(p->study.sweep.keys[0].path);
    columns_free(&p->study.tables[TABLE_ROWS].shown);
}

static void run_each(struct points *p, struct table *rows)
{
    struct err e = { 0 };
    for (int64_t u = 0; u < p->order.n_units; u++) {
        struct sweep_unit unit;
        units_find(&unit, &p->order, u);
        if (runner_unit(p->runner, &unit, rows, &p->counts, &e))
            bench_stop("%s", e.msg);
    }
}

/* All units; their rows are dropped, as they are when they have been written. */
static double run_units(void *data, int64_t n)
{
    struct points *p = data;
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        struct table rows = { 0 };
        study_put_columns(&rows, &p->study, TABLE_ROWS);
        run_each(p, &rows);
        for (int64_t i = 0; i < rows.n_rows; i++)
            sum += table_number(&rows, i, table_find(&rows, "time_s"));
        table_free(&rows);
    }
    return sum;
}

static bool all_solved(struct points *p)
{
    struct table rows = { 0 };
    int64_t n = 0;
    study_put_columns(&rows, &p->study, TABLE_ROWS);
    int32_t status = table_find(&rows, "status"), message = table_find(&rows, "message");
    run_each(p, &rows);
    for (int64_t i = 0; i < rows.n_rows; i++) {
        bool solved = strcmp(table_text(&rows, i, status), "solved") == 0;
        if (!solved && i - n == 0)
            printf("   row %lld: %s\n", (long long)i, table_text(&rows, i, message));
        n += solved;
    }
    bool all = n == rows.n_rows && n == p->study.sweep.n_points;
    table_free(&rows);
    return all;
}

static void add_totals(struct points *p)
{
    char value[32];
    for (int64_t i = 0; i < N_TOTALS; i++) {
        snprintf(value, sizeof value, "%d.5", (int)(100 + 2 * i));
        p->axis.values[i] = keep(value);
    }
    start_points(p);
}

/* 2 to 5 dimensions of 4,096 NPUs, shapes at random, as a map in one line. */
static void add_networks(struct points *p)
{
    static const char *const shapes[] = { "ring", "full", "switch" };
    static const char *const tiers[] = { "InterChiplet", "InterPackage", "InterNode", "InterPod" };
    struct rng *rng = NULL;
    struct err e = { 0 };
    if (rng_build(&rng, SEED, 1, &e))
        bench_stop("%s", e.msg);
    for (int64_t i = 0; i < N_NETWORKS; i++) {
        struct text net = { 0 };
        int dims = 2 + (int)rng_below(rng, 4), left = 12; /* bits */
        text_printf(&net, "{name: net%lld, dims: [", (long long)i);
        for (int d = 0; d < dims; d++) {
            int most = left - (dims - 1 - d), bits = d + 1 == dims ? left : 1 + (int)rng_below(rng, most);
            int tier = d + 1 == dims ? 3 : d < 3 ? d : 2;
            /* LIBRA's prices of chiplets are for direct links. */
            const char *shape = shapes[rng_below(rng, tier == 0 ? 2 : 3)];
            text_printf(&net, "%s{name: d%d, shape: %s, size: %d, tier: %s}", d ? ", " : "", d + 1, shape,
                        1 << bits, tiers[tier]);
            left -= bits;
        }
        text_puts(&net, "]}");
        p->axis.values[i] = keep(text_str(&net));
        text_free(&net);
    }
    rng_free(rng);
    start_points(p);
}

void bench_sweep(struct bench *b)
{
    static const struct study_override product = { "objective", "perf_per_cost" };
    static const struct study_override of_networks[] = {
        { "workload", "configs/workloads/gpt3.yaml" },
        { "total_GBps", "500" },
    };
    static const struct study_override trained[] = {
        { "workload", "{ name: GPT-3 175B, model: configs/models/gpt3-175b.yaml, parallel: { tp: 32, pp: 8, "
                      "batch: 4096 } }" },
    };
    /* Flows that collide on the way up a tree, and a dragonfly with the best share of two ways. */
    static const char routed_step[] =
        "{ name: both, groups: { tp: { size: 8 }, dp: { after: tp } }, step: { sum: [ "
        "{ all-to-all: { size_MB: 200, group: all } }, { all-reduce: { size_MB: 800, group: dp } }, "
        "{ all-reduce: { size_MB: 80, group: tp } } ] } }";
    static const struct study_override routed[] = {
        { "network", "fat-tree:8x4/free+hash dragonfly:2x4x5^2" },
        { "model", "alpha-beta" },
        { "objective", "time" },
        { "workload", routed_step },
    };
    static const struct study_override priced[] = {
        { "network",
          "{ dims: [ { name: a, shape: fat-tree, sizes: [8, 4], load_balance: hash, tier: InterNode }, "
          "{ name: b, shape: dragonfly, sizes: [2, 4, 5], links: 2, tier: InterPod } ] }" },
        { "model", "alpha-beta" },
        { "objective", "perf_per_cost" },
        { "parts", "configs/parts/libra-2024.yaml" },
        { "workload", routed_step },
    };
    struct points total, ratio, network, model, fabrics, per_cost;
    open_points(&total, "configs/studies/libra/gpt3-4d.yaml", NULL, 0, "total_GBps", N_TOTALS);
    open_points(&ratio, "configs/studies/libra/gpt3-4d.yaml", &product, 1, "total_GBps", N_TOTALS);
    open_points(&network, "configs/studies/main.yaml", of_networks, 2, "network", N_NETWORKS);
    open_points(&model, "configs/studies/llm-gpt3-libra.yaml", trained, 1, "total_GBps", N_TOTALS);
    open_points(&fabrics, "configs/studies/three-switches.yaml", routed, 4, "total_GBps", N_TOTALS);
    open_points(&per_cost, "configs/studies/three-switches.yaml", priced, 5, "total_GBps", N_TOTALS);
    add_totals(&total);
    add_totals(&fabrics);
    add_totals(&per_cost);
    add_totals(&ratio);
    add_totals(&model);
    add_networks(&network);
    struct bench_runner runners[] = {
        { .what = "total varies",
          .run = run_units,
          .data = &total,
          .items = N_TOTALS,
          .floor_per_s = LEAST_PER_S,
          .mark = 'a' },
        { .what = "networks vary", .run = run_units, .data = &network, .items = N_NETWORKS },
        { .what = "total varies, objective perf_per_cost",
          .run = run_units,
          .data = &ratio,
          .items = N_TOTALS },
        { .what = "total varies, a trained model", .run = run_units, .data = &model, .items = N_TOTALS },
        { .what = "total varies, hashed flows, adaptive routes",
          .run = run_units,
          .data = &fabrics,
          .items = N_TOTALS,
          .floor_per_s = ROUTED_PER_S },
        { .what = "the same, objective perf_per_cost",
          .run = run_units,
          .data = &per_cost,
          .items = N_TOTALS },
    };
    enum { N = sizeof runners / sizeof runners[0] };
    for (int i = 0; i < N; i++)
        runners[i].broken = !all_solved(runners[i].data);
    bench_head(b, "Points of a sweep into rows, GPT-3, 4 dimensions");
    bench_race(b, runners, N);
    close_points(&total);
    close_points(&ratio);
    close_points(&network);
    close_points(&model);
    close_points(&fabrics);
    close_points(&per_cost);
}
