/* How long the best of a million machines takes, each with its plan searched, with the proof that no other is
 * better. */
#include "bench/bench.h"

#include <stdio.h>

#include "kinds/design/explore/best.h"
#include "kinds/design/explore/runner.h"

#define STUDY   "configs/studies/best-million.yaml"
#define LIMIT_S 60.0

void bench_best(struct bench *b)
{
    const struct study_ask asked = { .kind = &design_kind, .from = { .path = STUDY } };
    struct study s;
    struct table columns = { 0 };
    struct keep_rule rule = { .kind = &design_kind };
    struct best_ask ask = { .study = &s, .columns = &columns, .rule = &rule, .top = 3, .threads = 2 };
    struct best_answer a;
    struct err e = { 0 };
    char wall[BENCH_CELL], cpu[BENCH_CELL];
    if (study_open(&s, &asked, &e))
        bench_stop("%s", e.msg);
    study_put_columns(&columns, &s, TABLE_ROWS);
    if (keep_take_limit(&rule, "watt_site <= 20e6", &columns, &e) ||
        keep_take_limit(&rule, "usd_year <= 400e6", &columns, &e) ||
        best_take_by(&ask.by, &rule, "usd_per_Mtoken", &columns, &e))
        bench_stop("%s", e.msg);
    struct bench_time before = bench_now();
    if (best_find(&a, &ask, &e))
        bench_stop("%s", e.msg);
    struct bench_time after = bench_now();
    snprintf(wall, sizeof wall, "%.1f s", after.wall_s - before.wall_s);
    snprintf(cpu, sizeof cpu, "%.1f s", after.cpu_s - before.cpu_s);
    bench_head(b, "the best of a million machines, plans searched");
    bench_print(b, &(struct bench_line){ "proved, two threads", "<= 60 s", wall, NULL, cpu, NULL },
                a.proved && after.wall_s - before.wall_s <= LIMIT_S ? BENCH_MET : BENCH_MISSED);
    printf("   %lld points, %lld of them solved; %.6g USD per million tokens\n", (long long)a.n_points,
           (long long)a.n_solved, a.values[0]);
    best_free(&a);
    keep_rule_free(&rule);
    table_free(&columns);
    study_close(&s);
}
