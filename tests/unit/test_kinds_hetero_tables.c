/* Tables beside the rows of studies of layers on types of resources. */
#include "tests/unit/hetero_tables.h"

/* Rows of @p t that follow @p from and are of the same plan. */
static int64_t end_of_plan(const struct table *t, int64_t from, const char *counter)
{
    int64_t end = from + 1;
    while (end < t->n_rows && number(t, end, counter) > number(t, end - 1, counter))
        end++;
    return end;
}

static int64_t find_run(const struct tables *t, const struct table *other, int64_t at)
{
    double seed = number(other, at, "seed");
    for (int64_t b = 0; b < t->runs.n_rows; b++)
        if (is_of(other, at, &t->runs, b) && (isnan(seed) || number(&t->runs, b, "seed") == seed))
            return b;
    fail_msg("a plan without a run");
    return -1;
}

TEST_WITH(stages_of_a_plan_add_up_to_its_run, make_folder, remove_folder)
{
    int64_t plans = 0;
    TABLES(t, 2,
           "model: ctrdnn\ndraw: { types: 5, seed: 3 }\njob: { examples_M: 100 }\n"
           "schedulers: [greedy, anneal, heuristic]\nevaluations: 100\nseeds: 2\n"
           "vary: { throughput.share: [0.2, 0.4], overlap: [true, false] }\n");
    for (int64_t at = 0, end; at < t.stages.n_rows; at = end) {
        double usd_per_h = 0, slowest_per_s = INFINITY, next = 1;
        int64_t run = find_run(&t, &t.stages, at);
        end = end_of_plan(&t.stages, at, "stage");
        for (int64_t i = at; i < end; i++) {
            double both_us = number(&t.stages, i, "compute_us") + number(&t.stages, i, "comm_us");
            double most_us = fmax(number(&t.stages, i, "compute_us"), number(&t.stages, i, "comm_us"));
            bool overlap = strcmp(word(&t.stages, i, "overlap"), "true") == 0;
            assert_close(number(&t.stages, i, "examples_per_s"), 1e6 / (overlap ? most_us : both_us), 1e-12);
            assert_true(number(&t.stages, i, "first") == next);
            next = number(&t.stages, i, "last") + 1;
            usd_per_h += number(&t.stages, i, "usd_per_h");
            slowest_per_s = fmin(slowest_per_s, number(&t.stages, i, "examples_per_s"));
        }
        assert_true(next == 17); /* ctrdnn has 16 layers */
        assert_close(usd_per_h, number(&t.runs, run, "usd_per_h"), 1e-12);
        assert_close(slowest_per_s, number(&t.runs, run, "examples_per_s"), 1e-12);
        assert_true(number(&t.runs, run, "stages") == (double)(end - at));
        assert_true(number(&t.stages, at, "usd") == number(&t.runs, run, "usd"));
        /* Training of 1e8 examples at that speed and price. */
        assert_close(number(&t.stages, at, "usd"), 1e8 / slowest_per_s / 3600 * usd_per_h, 1e-12);
        plans++;
    }
    assert_true(plans >= 8);
}

TEST_WITH(plans_say_of_each_layer_what_their_stages_say, make_folder, remove_folder)
{
    int64_t stage = -1;
    TABLES(t, 1, WIDE);
    assert_true(t.plans.n_rows > 0 && t.plans.n_rows % 16 == 0);
    for (int64_t i = 0; i < t.plans.n_rows; i++) {
        assert_true((int64_t)number(&t.plans, i, "layer") == i % 16 + 1);
        stage += i % 16 == 0 || number(&t.plans, i, "stage") > number(&t.plans, i - 1, "stage");
        assert_true(is_of(&t.plans, i, &t.stages, stage));
        assert_string_equal(word(&t.plans, i, "type"), word(&t.stages, stage, "type"));
        assert_true(number(&t.plans, i, "units") == number(&t.stages, stage, "units"));
        assert_true(number(&t.plans, i, "layer") >= number(&t.stages, stage, "first"));
        assert_true(number(&t.plans, i, "layer") <= number(&t.stages, stage, "last"));
    }
    assert_string_equal(word(&t.plans, 0, "kind"), "embedding");
}

TEST_WITH(curves_fall_and_end_where_their_run_ends, make_folder, remove_folder)
{
    TABLES(t, 1,
           "model: nce\njob: { examples_M: 100 }\nschedulers: [random, genetic, gpu-only]\n"
           "evaluations: 200\nseeds: 3\n");
    int64_t runs = 0;
    for (int64_t at = 0, end; at < t.curves.n_rows; at = end, runs++) {
        int64_t run = find_run(&t, &t.curves, at);
        end = end_of_plan(&t.curves, at, "evaluations");
        for (int64_t i = at; i + 1 < end; i++)
            assert_true(number(&t.curves, i, "usd") >= number(&t.curves, i + 1, "usd"));
        assert_true(number(&t.curves, end - 1, "evaluations") == number(&t.runs, run, "plans_tried"));
        if (isnan(number(&t.runs, run, "usd"))) {
            assert_true(end == at + 1);
            assert_true(isnan(number(&t.curves, at, "usd")));
        } else {
            assert_true(number(&t.curves, end - 1, "usd") == number(&t.runs, run, "usd"));
            assert_true(number(&t.curves, end - 1, "over_oracle") == number(&t.runs, run, "over_oracle"));
        }
    }
    assert_int_equal(runs, t.runs.n_rows);
}
