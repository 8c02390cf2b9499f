/* How long the best of a great many machines takes, each with its plan searched, with the proof that no other
 * is better. */
#include "bench/bench.h"

#include <stdio.h>

#include "kinds/design/explore/best.h"
#include "kinds/design/explore/runner.h"

/* What is asked of a study, and in what time. */
struct hunted {
    const char *title, *study, *limits[2], *by, *unit;
    bool front; /* over the columns of by */
    double limit_s;
};

static void hunt(struct bench *b, const struct hunted *x)
{
    const struct study_ask asked = { .kind = &design_kind, .from = { .path = x->study } };
    struct study s;
    struct table columns = { 0 };
    struct keep_rule rule = { .kind = &design_kind };
    struct best_ask ask = { .study = &s, .columns = &columns, .rule = &rule, .top = 3, .threads = 2 };
    struct best_answer a;
    struct err e = { 0 };
    char need[BENCH_CELL], wall[BENCH_CELL], cpu[BENCH_CELL];
    if (study_open(&s, &asked, &e))
        bench_stop("%s", e.msg);
    study_put_columns(&columns, &s, TABLE_ROWS);
    for (int i = 0; i < 2 && x->limits[i]; i++)
        if (keep_take_limit(&rule, x->limits[i], &columns, &e))
            bench_stop("%s", e.msg);
    ask.top = x->front ? 0 : ask.top;
    if (x->front ? keep_take_list(&rule, x->by, keep_take_front, &columns, &e)
                 : best_take_by(&ask.by, &rule, x->by, &columns, &e))
        bench_stop("%s", e.msg);
    struct bench_time before = bench_now();
    if (best_find(&a, &ask, &e))
        bench_stop("%s", e.msg);
    struct bench_time after = bench_now();
    snprintf(need, sizeof need, "<= %.0f s", x->limit_s);
    snprintf(wall, sizeof wall, "%.1f s", after.wall_s - before.wall_s);
    snprintf(cpu, sizeof cpu, "%.1f s", after.cpu_s - before.cpu_s);
    bench_head(b, x->title);
    bench_print(b, &(struct bench_line){ "proved, two threads", need, wall, NULL, cpu, NULL },
                a.proved && after.wall_s - before.wall_s <= x->limit_s ? BENCH_MET : BENCH_MISSED);
    printf("   %lld points, %lld of them solved; %.6g %s\n", (long long)a.n_points, (long long)a.n_solved,
           x->front ? (double)a.rows.n_rows : a.values[0], x->unit);
    best_free(&a);
    keep_rule_free(&rule);
    table_free(&columns);
    study_close(&s);
}

void bench_best(struct bench *b)
{
    hunt(b, &(struct hunted){ .title = "the best of a million machines, plans searched",
                              .study = "configs/studies/best-million.yaml",
                              .limits = { "watt_site <= 20e6", "usd_year <= 400e6" },
                              .by = "usd_per_Mtoken",
                              .unit = "USD per million tokens",
                              .limit_s = 60 });
    hunt(b, &(struct hunted){ .title = "the best of a hundred million machines, plans searched",
                              .study = "configs/studies/best-hundred-million.yaml",
                              .limits = { "watt_site <= 20e6", "usd_year <= 400e6" },
                              .by = "usd_per_Mtoken",
                              .unit = "USD per million tokens",
                              .limit_s = 1800 });
    hunt(b, &(struct hunted){ .title = "the best of 62,370 factorings at 10 totals, plan and split",
                              .study = "configs/studies/factor-4096-plans.yaml",
                              .by = "time_s",
                              .unit = "s",
                              .limit_s = 300 });
    hunt(b, &(struct hunted){ .title = "the front of 62,370 factorings at 10 totals, plan and split",
                              .study = "configs/studies/factor-4096-plans.yaml",
                              .by = "time_s,cost_usd",
                              .unit = "on the front",
                              .front = true,
                              .limit_s = 300 });
    hunt(b, &(struct hunted){ .title = "the front of 2,368 machines, plans of two models searched",
                              .study = "configs/studies/best-20MW.yaml",
                              .limits = { "watt_site <= 20e6", "usd_year <= 400e6" },
                              .by = "tokens_per_s,usd_year",
                              .unit = "on the front",
                              .front = true,
                              .limit_s = 60 });
}
