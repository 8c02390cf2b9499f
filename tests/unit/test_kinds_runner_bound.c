/* Points that may not be bounded away. That those which are never lie on the front: test_study_campaign.c. */
#include "kinds/design/ask/load.h"
#include "study/keep.h"
#include "study/blocks.h"
#include "kinds/design/explore/runner.h"
#include "tests/unit/designs.h"
#include "tests/unit/folder.h"

KEEPS(struct runner, runner_free)

static const struct file files[] = {
    { "two.yaml", "name: two\nparts: prices.yaml\ndims:\n  - { name: node, shape: ring, size: 4, tier: A }\n"
                  "  - { name: pod, shape: switch, size: 8, tier: B, max_GBps: 100 }\n" },
    { "prices.yaml",
      "name: prices\nrates:\n  - { tier: A, link_usd_per_GBps: 4 }\n"
      "  - { tier: B, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }\n" },
    { "a.yaml", "name: A\nstep: { all-reduce: { size_MB: 8, group: all } }\n" },
};

FOLDER_OF(files)

static const struct keep_rule cheap_and_fast = {
    .kind = &design_kind,
    .front = { { .name = "time_s" }, { .name = "cost_usd" } },
    .n_front = 2,
    .per = { "workload" },
    .n_per = 1,
    .prune = true,
};

/* What a point's NIC will be is not known before: no front is its own, not even that of rows without one, on
 * which stands what beats everything. */
TEST_WITH(rows_held_apart_by_results_are_all_solved, make_folder, remove_folder)
{
    static const char *const per[] = { "nic_GBps", "bw1_GBps", "status" };
    struct folder *f = *state;
    put(f, "study.yaml", "network: two.yaml\nworkload: a.yaml\nvary: { total_GBps: [ 60, 70, 80 ] }\n");
    for (size_t i = 0; i < COUNT_OF(per); i++) {
        struct keep_rule rule = cheap_and_fast;
        KEEP(struct study, w, study_close);
        KEEP(struct units, o, units_free);
        KEEP(struct table, rows, table_free) = { 0 };
        struct sweep_counts n = { 0 };
        KEEP(struct front_set, known, front_set_free) = { .n_cols = 2 };
        KEEP(struct runner *, r, runner_free_at);
        struct front *front;
        bool on;
        OK(front_set_offer(&known, "", (const double[]){ 0, 0 }, 7, &on, &front, e));
        snprintf(rule.per[0], sizeof rule.per[0], "%s", per[i]);
        OK(designs_open(&w, f->path, NULL, 0, e));
        OK(units_build(&o, &w.sweep, 8, design_is_quick, e));
        OK(runner_build(&r, &(struct block_job){ &w, &o, &rule, &known }, e));
        study_put_columns(&rows, &w, TABLE_ROWS);
        for (int64_t u = 0; u < o.n_units; u++) {
            struct sweep_unit unit;
            units_find(&unit, &o, u);
            OK(runner_unit(r, &unit, &rows, &n, e));
        }
        assert_true(n.solved == 3 && n.bounded == 0);
    }
}

TEST(a_rule_over_columns_that_are_not_there_is_refused)
{
    struct keep_rule rule = cheap_and_fast;
    KEEP(struct study, w, study_close);
    KEEP(struct units, o, units_free);
    struct runner *r;
    struct front_set known = { .n_cols = 2 };
    const struct study_ask ask = { .kind = &design_kind, .from = { .path = "none.yaml" } };
    snprintf(rule.front[0].name, sizeof rule.front[0].name, "tme_s");
    OK(study_open_point(&w, &ask, e));
    OK(units_build(&o, &w.sweep, 1, design_is_quick, e));
    FAILS(runner_build(&r, &(struct block_job){ &w, &o, &rule, &known }, e), ERR_PARSE, "tme_s");
    assert_null(r);
}
