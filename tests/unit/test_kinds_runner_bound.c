/* Points that are bounded away: never one of the front that all points make. */
#include "study/keep.h"
#include "study/blocks.h"
#include "kinds/design/designs.h"
#include "tests/unit/designs.h"
#include "tests/unit/folder.h"
#include "tests/unit/table_cells.h"

KEEPS(struct runner, runner_free)
KEEPS(struct keep, keep_free)

static const struct file files[] = {
    { "two.yaml", "name: two\nparts: prices.yaml\ndims:\n  - { name: node, shape: ring, size: 4, tier: A }\n"
                  "  - { name: pod, shape: switch, size: 8, tier: B, max_GBps: 100 }\n" },
    { "prices.yaml",
      "name: prices\nrates:\n  - { tier: A, link_usd_per_GBps: 4 }\n"
      "  - { tier: B, link_usd_per_GBps: 8, switch_usd_per_GBps: 18, nic_usd_per_GBps: 32 }\n" },
    { "a.yaml", "name: A\nstep: { all-reduce: { size_MB: 8, group: all } }\n" },
    { "b.yaml",
      "name: B\nstep: { sum: [ { compute_ms: 1 }, { max: [ { compute_ms: 0.2 },\n"
      "  { all-reduce: { size_MB: 80, group: all } } ] }, { all-to-all: { size_MB: 8, group: all } } ] }\n" },
};

FOLDER_OF(files)

/* Units from one end to the other, or back, each `every`-th of them; rows sorted by point. */
static void run_units(struct table *rows, struct sweep_counts *n, const struct block_job *job, int64_t every,
                      bool back)
{
    KEEP(struct runner *, r, runner_free_at);
    KEEP(struct table, mixed, table_free) = { 0 };
    MUST(runner_build(&r, job, e));
    study_put_columns(&mixed, job->study, TABLE_ROWS);
    study_put_columns(rows, job->study, TABLE_ROWS);
    for (int64_t u = 0; u < job->order->n_units; u += every) {
        struct order_unit unit;
        order_find(&unit, job->order, back ? job->order->n_units - 1 - u : u);
        MUST(runner_unit(r, &unit, &mixed, n, e));
    }
    for (int64_t point = 0; point < job->study->sweep.n_points; point++)
        for (int64_t i = 0; i < mixed.n_rows; i++)
            if (table_cell(&mixed, i, 0)->count == point)
                table_take_row(rows, &mixed, i);
}

static const struct keep_rule cheap_and_fast = {
    .kind = &design_kind,
    .front = { { "time_s", false }, { "cost_usd", false } },
    .n_front = 2,
    .per = { "workload" },
    .n_per = 1,
    .prune = true,
};

/* The points of all fronts, one after another. */
static void front_of_rows(struct text *out, const struct table *const *rows, int n)
{
    KEEP(struct keep *, k, keep_free_at);
    KEEP(struct table, fresh, table_free);
    KEEP(struct table, columns, table_free) = { 0 };
    const int64_t *gone;
    int64_t n_gone;
    for (int32_t i = 0; i < rows[0]->n_cols; i++)
        table_column(&columns, rows[0]->names[i], rows[0]->kinds[i]);
    MUST(keep_build(&k, &cheap_and_fast, &columns, e));
    for (int i = 0; i < n; i++)
        MUST(keep_offer(k, rows[i], e));
    MUST(keep_changes(k, &fresh, &gone, &n_gone, e));
    MUST(keep_sort_fronts(k, e));
    const struct front_set *s = keep_fronts(k);
    for (int32_t f = 0; f < s->n; f++)
        for (int64_t i = 0; i < s->fronts[f].n_sorted; i++)
            text_printf(out, "%s: %lld\n", s->groups[f], (long long)s->fronts[f].id[i]);
}

TEST_WITH(bounded_points_are_not_on_the_front, make_folder, remove_folder)
{
    struct folder *f = *state;
    KEEP(struct study, w, study_close);
    KEEP(struct order, o, order_free);
    struct table rest[2] = { { 0 }, { 0 } };
    KEEP(struct table, all, table_free) = { 0 };
    KEEP(struct table, sample, table_free) = { 0 };
    KEEP(struct table, columns, table_free) = { 0 };
    struct sweep_counts ignored = { 0 }, n[2] = { { 0 }, { 0 } };
    KEEP(struct text, want, text_free) = { 0 };
    KEEP(struct text, got, text_free) = { 0 };
    struct keep *k;
    put(f, "study.yaml",
        "network: two.yaml\nparts: prices.yaml\nvary:\n  workload: [ a.yaml, b.yaml ]\n"
        "  network.dims.pod.size: [ 4, 8, 16 ]\n  network.dims.node.shape: [ ring, full, line ]\n"
        "  total_GBps: { from: 5, to: 100, points: 20 }\n  objective: [ time, perf_per_cost ]\n");
    OK(designs_open(&w, f->path, NULL, 0, e));
    OK(order_build(&o, &w.sweep, 8, design_is_quick, e));
    struct block_job job = { .study = &w, .order = &o };
    run_units(&all, &ignored, &job, 1, false);
    run_units(&sample, &ignored, &job, 5, false);

    study_put_columns(&columns, &w, TABLE_ROWS);
    OK(keep_build(&k, &cheap_and_fast, &columns, e));
    OK(keep_offer(k, &sample, e));
    job.known = keep_fronts(k);
    job.rule = &cheap_and_fast;
    for (int i = 0; i < 2; i++) {
        run_units(&rest[i], &n[i], &job, 1, i == 1);
        assert_true(n[i].seen == w.sweep.n_points && n[i].solved == rest[i].n_rows && n[i].filtered == 0);
        assert_true(n[i].bounded == n[i].seen - n[i].solved);
    }
    /* Many points lie far from the front. */
    assert_in_range(n[0].bounded, w.sweep.n_points / 8, w.sweep.n_points - 1);
    assert_same_csv(&rest[0], &rest[1]);
    const struct table *const whole[] = { &all }, *const parts[] = { &sample, &rest[0] };
    front_of_rows(&want, whole, 1);
    front_of_rows(&got, parts, 2);
    assert_string_equal(text_str(&got), text_str(&want));

    keep_free(k);
    table_free(&rest[0]);
    table_free(&rest[1]);
}

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
        KEEP(struct order, o, order_free);
        KEEP(struct table, rows, table_free) = { 0 };
        struct sweep_counts n = { 0 };
        KEEP(struct front_set, known, front_set_free) = { .n_cols = 2 };
        struct front *front;
        bool on;
        OK(front_set_offer(&known, "", (const double[]){ 0, 0 }, 7, &on, &front, e));
        snprintf(rule.per[0], sizeof rule.per[0], "%s", per[i]);
        OK(designs_open(&w, f->path, NULL, 0, e));
        OK(order_build(&o, &w.sweep, 8, design_is_quick, e));
        run_units(&rows, &n, &(struct block_job){ &w, &o, &rule, &known }, 1, false);
        assert_true(n.solved == 3 && n.bounded == 0);
    }
}

TEST(a_rule_over_columns_that_are_not_there_is_refused)
{
    struct keep_rule rule = cheap_and_fast;
    KEEP(struct study, w, study_close);
    KEEP(struct order, o, order_free);
    struct runner *r;
    struct front_set known = { .n_cols = 2 };
    const struct study_ask ask = { .kind = &design_kind, .from = { .path = "none.yaml" } };
    snprintf(rule.front[0].name, sizeof rule.front[0].name, "tme_s");
    OK(study_open_point(&w, &ask, e));
    OK(order_build(&o, &w.sweep, 1, design_is_quick, e));
    FAILS(runner_build(&r, &(struct block_job){ &w, &o, &rule, &known }, e), ERR_PARSE, "tme_s");
    assert_null(r);
}
