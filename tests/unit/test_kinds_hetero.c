/* Rows of studies of layers on types of resources. */
#include "sim/hetero/search.h"
#include "tests/unit/hetero_tables.h"

/*
 * Two layers that share all their work: time(k) = seconds / (1000 k) of an example. On the types (a, b):
 *     (cpu, gpu)  10 and 10 us: 1 + 1 units at any speed, 1.1 USD/h * 10 us = 11
 *     (gpu, gpu)  30 us, 30;  (cpu, cpu)  410 us, 41;  (gpu, cpu)  20 and 400 us: 1 + 20 units, 60
 * in USD/h us, 1/3600 USD for a million examples. Units there are reach: (cpu, gpu) 1e6/s, (gpu, gpu)
 * 10 / 30 us, (cpu, cpu) 100 / 410 us, (gpu, cpu) 100 / 400 us.
 */
#define TWO                                                                                                  \
    "name: two\n"                                                                                            \
    "layers:\n"                                                                                              \
    "  - { name: a, kind: embedding, compute_ms: { cpu: 10, gpu: 20 } }\n"                                   \
    "  - { name: b, kind: fc, compute_ms: { cpu: 400, gpu: 10 } }\n"                                         \
    "types:\n"                                                                                               \
    "  - { name: cpu, cpu: true, usd_per_h: 0.1, max_units: 100, compute_parallel: 1, comm_parallel: 1 }\n"  \
    "  - { name: gpu, usd_per_h: 1, max_units: 10, compute_parallel: 1, comm_parallel: 1 }\n"                \
    "batch: 1000\n"                                                                                          \
    "job: { examples_M: 1 }\n"

/* ---- known answers ---- */

TEST_WITH(costs_are_those_worked_out_by_hand, make_folder, remove_folder)
{
    static const struct {
        const char *scheduler;
        double usd;
    } want[] = { { "greedy", 11.0 / 3600 },
                 { "heuristic", 11.0 / 3600 },
                 { "gpu-only", 30.0 / 3600 },
                 { "cpu-only", 41.0 / 3600 },
                 { "random", 11.0 / 3600 } };
    TABLES(t, 1,
           TWO "throughput: { per_s: 50000 }\n"
               "schedulers: [greedy, heuristic, gpu-only, cpu-only, random]\n");
    assert_int_equal(t.rows.n_rows, COUNT_OF(want));
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        double over = want[i].usd * 3600 / 11;
        assert_row(&t.rows, (int64_t)i,
                   "scheduler=%s usd=%.17g over_oracle=%.17g over_best=%.17g oracle_usd=%.17g",
                   want[i].scheduler, want[i].usd, over, over, 11.0 / 3600);
        assert_row(&t.rows, (int64_t)i,
                   "oracle_proof=optimal status=done model=two most_per_s=1e6~1e-9 need_per_s=50000~0 "
                   "layers=2 types=2 seeds=%d over_rl= reach_per_s=",
                   i == 4 ? 5 : 1);
    }
    assert_row(&t.rows, 1, "scheduler=heuristic examples_per_s=1e5 usd_per_h=1.1 stages=2 units=2");
}

TEST_WITH(a_share_is_one_of_the_largest_throughput, make_folder, remove_folder)
{
    static const struct {
        const char *throughput;
        double per_s;
    } cases[] = { { "", 5e5 },
                  { "throughput: { share: 0.25 }\n", 2.5e5 },
                  { "throughput: { share: 0.25, of: best }\n", 2.5e5 },
                  { "throughput: { share: 0.5, of: gpu-only }\n", 10 / 30e-6 / 2 },
                  { "throughput: { of: gpu-only }\n", 10 / 30e-6 / 2 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s%sschedulers: [heuristic]\n", TWO, cases[i].throughput);
        TABLES(t, 1, text);
        assert_close(number(&t.rows, 0, "need_per_s"), cases[i].per_s, 1e-6);
    }
}

TEST_WITH(what_has_no_plan_has_no_cost, make_folder, remove_folder)
{
    TABLES(t, 1, TWO "schedulers: [gpu-only, heuristic, cpu-only]\n"); /* 500,000 a second */
    for (int64_t row = 0; row < 3; row += 2) {
        assert_row(&t.rows, row, "status=infeasible feasible=0 usd= over_oracle= over_best= examples_per_s=");
        assert_has(word(&t.rows, row, "message"), "too few units: reaches at most ");
    }
    assert_row(&t.rows, 0, "reach_per_s=%.17g~1e-6", 10 / 30e-6);
    assert_row(&t.rows, 2, "reach_per_s=%.17g~1e-6", 100 / 410e-6);
    assert_row(&t.rows, 1, "usd_per_h=5.5 usd=%.17g", 11.0 / 3600); /* 5 of each: 2 us */
    /* No units, no plan to show. */
    assert_true(t.stages.n_rows == 2 && t.plans.n_rows == 2);
}

TEST_WITH(a_throughput_that_no_plan_reaches_is_a_row_with_the_largest, make_folder, remove_folder)
{
    TABLES(t, 1, TWO "vary: { throughput.per_s: [2e6, 1e5] }\nschedulers: [heuristic, greedy]\n");
    assert_int_equal(t.rows.n_rows, 3);
    assert_row(&t.rows, 0, "status=infeasible scheduler= throughput.per_s=2e6 most_per_s=1e6~1e-9");
    assert_has(word(&t.rows, 0, "message"), "throughput: is 2e+06 examples/s, a plan reaches at most 1e+06 "
                                            "examples/s, limits that stages share not counted");
    assert_row(&t.rows, 2, "point=1 status=done");
}

TEST_WITH(limits_that_stages_share_may_leave_no_plan, make_folder, remove_folder)
{
    /* One GPU for a and c, of which each alone needs one: (gpu, cpu, gpu) would need two. 1 us wants a single
     * unit of each; b on the GPU takes 9 us. */
    TABLES(t, 1,
           "layers:\n"
           "  - { name: a, compute_ms: { cpu: 90, gpu: 1 } }\n"
           "  - { name: b, compute_ms: { cpu: 1, gpu: 9 } }\n"
           "  - { name: c, compute_ms: { cpu: 90, gpu: 1 } }\n"
           "types:\n"
           "  - { name: cpu, cpu: true, usd_per_h: 1, max_units: 1, compute_parallel: 1, comm_parallel: 1 }\n"
           "  - { name: gpu, usd_per_h: 1, max_units: 1, compute_parallel: 1, comm_parallel: 1 }\n"
           "batch: 1000\n"
           "job: { examples_M: 1 }\n"
           "throughput: { per_s: 5e5 }\n"
           "schedulers: [gpu-only, greedy]\n");
    assert_row(&t.rows, 0, "most_per_s=1e6~1e-9"); /* limits not shared */
    assert_int_equal(t.rows.n_rows, 2);
    for (int64_t row = 0; row < 2; row++)
        assert_row(&t.rows, row, "status=infeasible oracle_proof=no_plan oracle_usd=");
    assert_row(&t.rows, 0, "reach_per_s=%.17g~1e-6", 1e6 / 11);
}

/* A unit pays a port at 8,760 USD for a year of 8,760 h and nothing else: 1 USD/h more than its own. */
TEST_WITH(the_network_between_pools_is_paid_for, make_folder, remove_folder)
{
    static const char network[] =
        "network: { dims: [ { name: pools, shape: switch, size: 4, bw_GBps: 0.7, tier: P } ] }\n"
        "parts: { name: p, catalogue: [ { name: port, kind: switch, ports: 1, bw_GBps: 1, usd: 760, watt: 0 "
        "}, { name: end, kind: link, bw_GBps: 1, usd: 8000, watt: 0 } ], build: [ { tier: P, switch: port, "
        "end_link: end } ] }\n"
        "system: { network_life_years: 1, capital_rate: 0, support: 0, npu_usd: 5 }\n"
        "throughput: { per_s: 50000 }\nschedulers: [heuristic, gpu-only]\n";
    char text[4096];
    snprintf(text, sizeof text, "%s%s", TWO, network);
    TABLES(t, 1, text);
    assert_row(&t.rows, 0, "usd_per_h=3.1 network_usd_per_h=2 units=2 usd=%.17g", 31.0 / 3600);
    assert_row(&t.rows, 1, "usd_per_h=4 network_usd_per_h=2 units=2 usd=%.17g", 60.0 / 3600);
    assert_row(&t.plans, 0, "type=cpu unit_usd_per_h=1.1");
    assert_has(text_str(&t.notes), "npu_usd has no effect on a network whose units are rented");
    TABLES(free, 1, TWO "throughput: { per_s: 50000 }\nschedulers: [heuristic]\n");
    assert_row(&free.rows, 0, "usd_per_h=1.1 network_usd_per_h=");
}

TEST_WITH(hosts_and_parameter_servers_are_paid_for, make_folder, remove_folder)
{
    /* (gpu, gpu) at 1e5/s: 3 GPUs, each with 2 cores; 1e5 * 1e4 B/s over 0.3 GB/s: 4 cores more. */
    TABLES(
        t, 1,
        "layers:\n"
        "  - { compute_ms: { cpu: 10, gpu: 20 }, sparse_B: 1e4 }\n"
        "  - { compute_ms: { cpu: 400, gpu: 10 } }\n"
        "types:\n"
        "  - { name: cpu, cpu: true, usd_per_h: 0.1, compute_parallel: 1, comm_parallel: 1 }\n"
        "  - { name: gpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1, host: cpu, host_units: 2 }\n"
        "batch: 1000\n"
        "job: { examples_M: 2, epochs: 3 }\n"
        "throughput: { per_s: 1e5 }\n"
        "servers: { type: cpu, GBps: 0.3 }\n"
        "provisioning: balance\n" /* the least units: more of them would cost less */
        "schedulers: [gpu-only]\n");
    assert_row(&t.rows, 0, "usd_per_h=%.17g usd=%.17g~1e-9 units=13", 3 * (1 + 2 * 0.1) + 4 * 0.1,
               4.0 * 6e6 / 1e5 / 3600);
    assert_row(
        &t.stages, 0,
        "units=3 servers=4 usd_per_h=4 first_name=layer1 last_name=layer2 compute_us=10 limit=compute");
    assert_row(&t.plans, 1, "unit_usd_per_h=1.2");
}

TEST_WITH(parameter_servers_may_be_what_limits_a_stage, make_folder, remove_folder)
{
    /* 29 us over 3 GPUs are 9.67 us, 39.9 us over the 4 servers there are 9.975 us. */
    TABLES(
        t, 1,
        "layers: [ { compute_ms: { cpu: 400, gpu: 29 }, sparse_B: 39900 } ]\n"
        "types:\n"
        "  - { name: cpu, cpu: true, usd_per_h: 0.1, max_units: 4, compute_parallel: 1, comm_parallel: 1 }\n"
        "  - { name: gpu, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1 }\n"
        "batch: 1000\n"
        "job: { examples_M: 1 }\n"
        "throughput: { per_s: 1e5 }\n"
        "servers: { type: cpu, GBps: 1 }\n"
        "schedulers: [gpu-only]\n");
    assert_row(&t.stages, 0, "units=3 servers=4 limit=servers examples_per_s=%.17g~1e-9", 4e6 / 39.9);
    assert_row(&t.rows, 0, "examples_per_s=%.17g~1e-9", 4e6 / 39.9);
}

TEST_WITH(what_is_as_cheap_as_the_proved_optimum_is_so_exactly, make_folder, remove_folder)
{
    int64_t n = 0;
    TABLES(t, 2,
           "job: { examples_M: 1 }\nevaluations: 2000\nseeds: 2\n"
           "schedulers: [oracle, brute-force, rl-lstm, greedy, genetic, anneal]\nrl: { rounds: 5 }\n"
           "vary: { model: [nce, 2emb], draw.types: [2, 3], throughput.share: [0.05, 0.1, 0.2] }\n");
    for (int64_t row = 0; row < t.rows.n_rows; row++) {
        static const char *const ratios[] = { "over_oracle", "over_oracle_worst", "over_best", "over_rl" };
        if (strcmp(word(&t.rows, row, "oracle_proof"), "optimal") != 0)
            continue;
        for (size_t i = 0; i < COUNT_OF(ratios); i++) {
            double over = number(&t.rows, row, ratios[i]);
            assert_true(isnan(over) || over == 1 || fabs(over - 1) > 1e-9);
            n += over == 1;
        }
    }
    assert_true(n > 40);
}

TEST_WITH(a_plan_beside_a_bound_is_not_proved, make_folder, remove_folder)
{
    /* Least units: more of them would cost less, which the oracle knows. */
    TABLES(t, 1,
           "model: ctrdnn\njob: { examples_M: 1 }\nthroughput: { share: 0.3 }\nprovisioning: balance\n"
           "schedulers: [oracle]\n");
    assert_row(&t.rows, 0, "oracle_proof=lower_bound proof=not_proved");
    assert_row(&t.runs, 0, "proof=not_proved status=done");
}

/* Where a limit binds a scheduler may know more than the oracle. */
TEST_WITH(what_a_scheduler_proves_the_oracle_has_too, make_folder, remove_folder)
{
    TABLES(t, 2,
           "job: { examples_M: 1 }\ndraw: { types: 4 }\nevaluations: 300\nseeds: 1\n"
           "vary: { model: [nce, 2emb], throughput.share: [0.3, 0.9], provisioning: [exact, balance] }\n");
    int64_t n = 0;
    for (int64_t row = 0; row < t.rows.n_rows; row++)
        if (strcmp(word(&t.rows, row, "proof"), "optimal") == 0) {
            assert_row(&t.rows, row, "oracle_proof=optimal oracle_usd=%.17g", number(&t.rows, row, "usd"));
            n++;
        }
    assert_true(n > 10);
}

TEST_WITH(a_budget_may_vary_beside_the_plans_tried, make_folder, remove_folder)
{
    TABLES(t, 1,
           TWO "throughput: { per_s: 50000 }\nvary: { evaluations: [3, 7] }\nschedulers: [random, "
               "gpu-only]\nseeds: 1\n");
    for (int64_t row = 0; row < 4; row++) {
        static const char *const want[] = { "evaluations=3 plans_tried=3", "evaluations=3 plans_tried=1",
                                            "evaluations=7 plans_tried=7", "evaluations=7 plans_tried=1" };
        assert_row(&t.rows, row, "%s", want[row]);
        assert_row(&t.runs, row, "%s", want[row]);
    }
    assert_row(&t.curves, 0, "evaluations=1 vary.evaluations=3");
}

/* ---- medians ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of the runs of a row: sorted costs, INFINITY without a plan. */
static int64_t gather(double *usd, const struct tables *t, int64_t row)
{
    int64_t n = 0;
    for (int64_t b = 0; b < t->runs.n_rows; b++)
        if (is_of(&t->rows, row, &t->runs, b)) {
            double x = number(&t->runs, b, "usd");
            usd[n++] = isnan(x) ? (double)INFINITY : x;
        }
    qsort(usd, (size_t)n, sizeof *usd, compare);
    return n;
}

TEST_WITH(rows_are_medians_of_their_runs, make_folder, remove_folder)
{
    int64_t partly = 0;
    TABLES(t, 2, WIDE "vary: { draw.seed: [1, 2, 3, 4, 5, 6] }\n");
    assert_true(t.rows.n_rows == 18 && t.runs.n_rows == 6 * (5 + 1 + 1));
    for (int64_t row = 0; row < t.rows.n_rows; row++) {
        double usd[8] = { 0 };
        int64_t n = gather(usd, &t, row), feasible = 0;
        for (int64_t i = 0; i < n; i++)
            feasible += isfinite(usd[i]);
        partly += feasible > 0 && feasible < n;
        assert_row(&t.rows, row, "seeds=%d feasible=%d status=%s", (int)n, (int)feasible,
                   feasible == n  ? "done"
                   : feasible > 0 ? "partly"
                                  : "infeasible");
        if (isfinite(usd[n / 2]))
            assert_true(number(&t.rows, row, "usd") == usd[n / 2]); /* n is odd */
        else
            assert_true(isnan(number(&t.rows, row, "usd")));
        if (isfinite(usd[n - 1]))
            assert_true(number(&t.rows, row, "usd_worst") == usd[n - 1]);
        else
            assert_true(isnan(number(&t.rows, row, "usd_worst")));
    }
    assert_true(partly > 0); /* else the case above was not met */
}

TEST_WITH(a_median_of_two_is_between_them, make_folder, remove_folder)
{
    double usd[8] = { 0 };
    TABLES(t, 1,
           "model: ctrdnn\njob: { examples_M: 100 }\nthroughput: { share: 0.01 }\n"
           "schedulers: [random]\nevaluations: 2\nseeds: 2\n");
    assert_true(gather(usd, &t, 0) == 2 && usd[0] < usd[1]);
    assert_close(number(&t.rows, 0, "usd"), (usd[0] + usd[1]) / 2, 1e-15);
    /* What has no mean is told of a run that happened: the cheaper of the two in the middle. */
    int64_t run = number(&t.runs, 0, "usd") > usd[0] ? 1 : 0;
    assert_true(number(&t.rows, 0, "examples_per_s") == number(&t.runs, run, "examples_per_s"));
}

/* ---- sweeps, threads, ends ---- */

TEST_WITH(points_and_axes_are_in_order_and_a_wrong_one_is_a_row, make_folder, remove_folder)
{
    static const char *const models[] = { "nce", "2emb", "foo" };
    TABLES(t, 2,
           "job: { examples_M: 1 }\nschedulers: [greedy]\nvary: { model: [nce, 2emb, foo], draw.types: [2, "
           "3] }\n");
    assert_int_equal(t.rows.n_rows, 6);
    for (int64_t row = 0; row < 6; row++) {
        assert_row(&t.rows, row, "point=%d model=%s draw.types=%d status=%s", (int)row, models[row / 2],
                   row % 2 ? 3 : 2, row < 4 ? "done" : "error");
    }
    assert_has(word(&t.rows, 4, "message"), "model is foo, expected ctrdnn");
    assert_true(number(&t.rows, 3, "layers") == 10);
}

TEST_WITH(schedulers_that_cannot_run_are_left_out_unless_listed, make_folder, remove_folder)
{
#define NO_GPU                                                                                               \
    "layers: [ { compute_ms: { a: 1 } } ]\n"                                                                 \
    "types: [ { name: a, cpu: true, usd_per_h: 1, compute_parallel: 1, comm_parallel: 1 } ]\n"               \
    "batch: 1\njob: { examples_M: 1 }\nthroughput: { per_s: 1000 }\nevaluations: 5\nseeds: 1\n"
    TABLES(t, 1, NO_GPU);
    for (int64_t row = 0; row < t.rows.n_rows; row++) {
        assert_string_not_equal(word(&t.rows, row, "scheduler"), "gpu-only");
        assert_row(&t.rows, row, "status=done");
    }
    assert_true(t.rows.n_rows > 3);
    TABLES(listed, 1, NO_GPU "schedulers: [gpu-only, cpu-only]\n");
    assert_int_equal(listed.rows.n_rows, 2);
    assert_row(&listed.rows, 0, "status=error");
    assert_has(word(&listed.rows, 0, "message"), "gpu-only: the study has no GPU type");
    assert_row(&listed.rows, 1, "status=done");
}

TEST_WITH(warnings_are_those_of_every_point, make_folder, remove_folder)
{
    TABLES(t, 1,
           WIDE "rl: { hidden: 8 }\nanneal: { hot: 2 }\n"
                "vary: { schedulers: [[random], [anneal]] }\n");
    assert_has(text_str(&t.notes), "rl has no effect here, it is used only by schedulers rl-lstm and rl-rnn");
    assert_null(strstr(text_str(&t.notes), "anneal has"));
}

TEST(every_scheduler_and_column_is_explained)
{
    assert_true(n_hetero_schedulers > 0);
    for (int32_t i = 0; i < n_hetero_schedulers; i++) {
        assert_true(*hetero_schedulers[i].name && *hetero_schedulers[i].help);
        for (int32_t k = 0; k < i; k++)
            assert_string_not_equal(hetero_schedulers[i].name, hetero_schedulers[k].name);
    }
    for (int32_t i = 0; i < hetero_kind.n_tables; i++)
        for (const struct column *c = hetero_kind.tables[i].columns; c->name; c++)
            assert_true((c->flags & COLUMN_HIDDEN) || *c->help);
}
