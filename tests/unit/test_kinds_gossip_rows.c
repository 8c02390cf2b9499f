/* What rows of a study of training with little communication are compared by, and with what. */
#include "tests/unit/gossip_tables.h"

/* ---- the bandwidth of one dimension ---- */

/* Two dimensions of two: an all-reduce of S sends S through the inner one, at B1, and S / 2 through the outer
 * one, at B2. With endless bandwidth in one of them the step of 10 ms and the other are left; the bandwidth
 * that takes a share w longer follows, found to within 1 %. */
TEST_WITH(bandwidth_of_one_dimension_is_the_closed_form, make_folder, remove_folder)
{
    const double S = 10e-3, B1 = 1000, B2 = 10, step_s = 0.01, w = 0.2; /* S in GB, B in GB/s */
    const struct {
        const char *dim;
        double need_GBps;
    } want[] = { { "node", S / (w * (step_s + S / 2 / B2)) }, { "rack", S / 2 / (w * (step_s + S / B1)) } };
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "network: { dims: [{ name: node, shape: switch, size: 2, bw_GBps: %g },\n"
                 "  { name: rack, shape: switch, size: 2, bw_GBps: %g }] }\n"
                 "learner: { hidden: 8, batch: 16, epochs: 4 }\n"
                 "data: { train: 400, test: 100, features: 8, classes: 4, hidden: 8 }\n"
                 "clock: { jitter: 0 }\nmodel_MB: %g\nmethods: [all-reduce]\nseeds: 1\n"
                 "need_pct: %g\nneed_dim: %s\n",
                 B1, B2, S * 1e3, 100 * w, want[i].dim);
        TABLES(t, 1, text);
        assert_row(&t.rows, 0, "need_GBps=%.17g~0.011 need_dim=%s time_s=%.17g~1e-9", want[i].need_GBps,
                   want[i].dim, STEPS * (step_s + S / B1 + S / 2 / B2));
    }
}

/* The axis has the column, and there is no other of its name. */
TEST_WITH(an_axis_of_dimensions_is_the_column_that_says_which, make_folder, remove_folder)
{
    int64_t n = 0;
    TABLES(t, 1,
           SMALL "clock: { jitter: 0 }\nneed_pct: 20\nmethods: [all-reduce]\n"
                 "vary: { network: ['switch:4@1'], need_dim: [dim1] }\n");
    for (int32_t i = 0; i < t.rows.n_cols; i++)
        n += strcmp(t.rows.names[i], "need_dim") == 0;
    assert_int_equal(n, 1);
    assert_row(&t.rows, 0, "need_dim=dim1 need_wait_pct=20 status=ok");
}

/* ---- what it costs ---- */

/* An all-reduce of 10 MB among 4 NPUs, 10 ms a step, 20 % more: 7.5 GB/s, found to within 1 %. Links of 1
 * GB/s, two at a NIC, switches sold by the port: 8 links, 4 NICs. A method that never exchanges has a link
 * all the same. */
#define BOUGHT                                                                                               \
    "network: { dims: [ { name: pod, shape: switch, size: 4, bw_GBps: %s } ] }\n"                            \
    "learner: { hidden: 8, batch: 16, epochs: 4 }\nmodel_MB: 10\n"                                           \
    "data: { train: 400, test: 100, features: 8, classes: 4, hidden: 8 }\n"                                  \
    "clock: { jitter: 0 }\nseeds: 2\nseed: 11\nneed_pct: 20\n"                                               \
    "methods: [all-reduce, { method: local, period: 100 }]\n"                                                \
    "parts: { name: p, catalogue: [\n"                                                                       \
    "  { name: nic, kind: nic, ports: 2, bw_GBps: 1, usd: 100, watt: 5 },\n"                                 \
    "  { name: port, kind: switch, ports: 1, bw_GBps: 1, usd: 7, watt: 1 },\n"                               \
    "  { name: end, kind: link, bw_GBps: 1, usd: 10, watt: 2 },\n"                                           \
    "  { name: fabric, kind: product, bw_GBps: 5, ports: 4 } ], build: [\n"                                  \
    "  { tier: Pod, nic: nic, switch: port, end_link: end }, { tier: Server, product: fabric } ] }\n"

TEST_WITH(a_need_in_whole_parts_is_its_bill, make_folder, remove_folder)
{
    char text[2048];
    snprintf(text, sizeof text, BOUGHT, "1, tier: Pod");
    TABLES(t, 1, text);
    assert_row(&t.rows, 0, "need_GBps=7.5~0.011 need_ports=8 need_usd=%d need_W=%d", 4 * 100 + 8 * 10 + 8 * 7,
               4 * 5 + 8 * 2 + 8);
    assert_row(&t.rows, 1, "need_GBps=0 need_ports=1 need_usd=117 need_W=8");
}

TEST_WITH(a_need_that_no_part_meets_says_so, make_folder, remove_folder)
{
    char text[2048];
    snprintf(text, sizeof text, BOUGHT, "5, tier: Server");
    TABLES(t, 1, text);
    assert_row(&t.rows, 0, "status=ok need_GBps=7.5~0.011 need_ports= need_usd=");
    assert_has(word(&t.rows, 0, "message"), "GB/s are needed, fabric has 5");
    assert_row(&t.rows, 1, "need_ports=0 need_usd=0");
}

/* ---- seeds that diverge ---- */

/* Of the first point. */
static int64_t count_diverged(const struct tables *t, const char *method, double *least)
{
    int64_t n = 0;
    for (int64_t row = 0; row < t->runs.n_rows; row++) {
        double step = number(&t->runs, row, "diverged_step");
        if (strcmp(word(&t->runs, row, "method"), method) != 0 || isnan(step))
            continue;
        *least = n++ ? fmin(*least, step) : step;
    }
    return n;
}

#define WILD                                                                                                 \
    SMALL "methods: [{ method: pair, period: [1, 2, 4, 8, 12] }, all-reduce]\nequal_points: 100\n"           \
          "vary: { learner.rate: [90] }\n"

/* A mean over the seeds that were lucky would flatter a method. */
TEST_WITH(a_row_of_which_a_seed_diverged_has_no_means, make_folder, remove_folder)
{
    static const char *const means[] = { "accuracy_pct",
                                         "average_pct",
                                         "traffic_MB",
                                         "time_s",
                                         "wait_pct",
                                         "exchanges",
                                         "loss",
                                         "average_MB",
                                         "dim1_MB",
                                         "accuracy_vs_base_points",
                                         "traffic_vs_base_pct",
                                         "time_vs_fixed_pct" };
    int64_t n_mixed = 0, n_whole = 0;
    TABLES(t, 2, WILD);
    for (int64_t row = 0; row < t.rows.n_rows; row++) {
        double least = -1;
        int64_t n = count_diverged(&t, word(&t.rows, row, "method"), &least);
        char says[64] = "";
        n_mixed += n > 0 && n < 3;
        n_whole += n == 0;
        if (n)
            snprintf(says, sizeof says, "%d of 3 seeds diverged", (int)n);
        assert_string_equal(word(&t.rows, row, "status"), n ? "diverged" : "ok");
        assert_string_equal(word(&t.rows, row, "message"), says);
        for (size_t i = 0; i < COUNT_OF(means); i++)
            assert_true(isnan(number(&t.rows, row, means[i])) == (n > 0));
        if (n)
            assert_true(number(&t.rows, row, "diverged_step") == least);
        assert_true(number(&t.rows, row, "steps") == STEPS);
    }
    assert_true(n_mixed > 0 && n_whole > 0);
}

/* With any accuracy equal the longest period would be the best one. */
TEST_WITH(nothing_is_compared_with_what_diverged, make_folder, remove_folder)
{
    double any;
    TABLES(t, 2, WILD "baseline: pair 4\n");
    assert_true(count_diverged(&t, "pair 4", &any) == 1);
    for (int64_t row = 0; row < t.rows.n_rows; row++) {
        bool ok = strcmp(word(&t.rows, row, "status"), "ok") == 0;
        assert_row(&t.rows, row, "base= accuracy_vs_base_points= accuracy_vs_base_half= fixed=%s",
                   ok ? "pair_2" : "");
    }
}

/* ---- whose accuracy counts ---- */

static double by_seed(const struct tables *t, const char *method, const char *column, int k)
{
    return number(&t->runs, row_of(&t->runs, 0, method) + k, column);
}

TEST_WITH(accuracy_that_is_compared_is_the_one_asked_for, make_folder, remove_folder)
{
    static const struct {
        const char *text, *word, *column;
    } cases[] = { { "", "workers", "accuracy_pct" },
                  { "compare: workers\n", "workers", "accuracy_pct" },
                  { "compare: averaged\n", "averaged", "average_pct" } };
    double differ = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s%s", SMALL,
                 "shards: label-skew\nmethods: [{ method: pair, period: [1, 12] }]\n", cases[i].text);
        TABLES(t, 2, text);
        int64_t row = row_of(&t.rows, 0, "pair 12");
        double gain = 0;
        for (int k = 0; k < 3; k++)
            gain +=
                (by_seed(&t, "pair 12", cases[i].column, k) - by_seed(&t, "pair 1", cases[i].column, k)) / 3;
        assert_near(number(&t.rows, row, "accuracy_vs_base_points"), gain, 1e-9);
        assert_string_equal(word(&t.rows, row, "compared"), cases[i].word);
        differ = i == 0 ? gain : differ - gain;
    }
    assert_true(differ != 0);
}

/* ---- periods that are never over ---- */

TEST_WITH(a_period_without_exchanges_is_no_candidate_and_told, make_folder, remove_folder)
{
    TABLES(t, 2,
           SMALL "equal_points: 100\nmethods: [{ method: pair, period: [1, 24, 25] }, "
                 "{ method: gossip-pga, period: 25 }]\n");
    assert_true(number(&t.rows, row_of(&t.rows, 0, "pair 24"), "exchanges") == WORKERS);
    assert_true(number(&t.rows, row_of(&t.rows, 0, "pair 25"), "exchanges") == 0);
    for (int64_t row = 0; row < t.rows.n_rows; row++)
        assert_string_equal(word(&t.rows, row, "fixed"), "pair 24");
    const char *note = strstr(text_str(&t.notes), "study.yaml: ");
    assert_non_null(note);
    assert_string_equal(note, "study.yaml: method pair 25: period 25 is more than the 24 steps of a worker: "
                              "nothing is exchanged\n");
}
