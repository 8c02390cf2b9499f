/* Rows of studies of training with little communication. */
#include "sim/gossip/gossip.h"
#include "tests/unit/gossip_tables.h"

#define METHODS                                                                                              \
    "methods:\n"                                                                                             \
    "  - { method: pair, period: [1, 4, 8] }\n"                                                              \
    "  - { method: pair, rule: drift, theta: 0.02, cap: 16 }\n"                                              \
    "  - all-reduce\n"                                                                                       \
    "  - { method: local, period: 6, name: every sixth }\n"

/* ---- known answers ---- */

/* Of S = 4 bytes a parameter: an all-reduce sends 2 (N - 1) S, a pair 2 S, each worker one every period. */
TEST_WITH(traffic_is_that_of_the_exchanges, make_folder, remove_folder)
{
    const double model_MB = 4e-6 * PARAMS;
    const struct {
        const char *method;
        double exchanges, each_MB;
    } want[] = { { "pair 1", WORKERS * STEPS, 2 * model_MB },
                 { "pair 4", WORKERS * STEPS / 4, 2 * model_MB },
                 { "pair 8", WORKERS * STEPS / 8, 2 * model_MB },
                 { "all-reduce", STEPS, 2 * (WORKERS - 1) * model_MB },
                 { "every sixth", STEPS / 6, 2 * (WORKERS - 1) * model_MB } };
    TABLES(t, 2, SMALL METHODS);
    assert_int_equal(t.rows.n_rows, 6);
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        int64_t row = row_of(&t.rows, 0, want[i].method);
        double sent_MB = want[i].exchanges * want[i].each_MB;
        assert_row(
            &t.rows, row,
            "status=ok exchanges=%.17g~0 traffic_MB=%.17g dim1_MB=%.17g steps=%d seeds=3 average_MB=%.17g",
            want[i].exchanges, sent_MB, sent_MB, STEPS, 2 * (WORKERS - 1) * model_MB);
    }
}

/* Steps all of 10 ms, then an all-reduce of S bytes at B: 2 (N - 1) / N * S / B, here 0.648 ms; what the wire
 * counts is model_MB where it is given. */
TEST_WITH(time_of_an_all_reduce_is_the_closed_form, make_folder, remove_folder)
{
    static const struct {
        const char *text;
        double model_MB;
    } cases[] = { { SMALL "clock: { jitter: 0 }\nmethods: [all-reduce]\n", 4e-6 * PARAMS },
                  { SMALL "clock: { jitter: 0 }\nmethods: [all-reduce]\nmodel_MB: 0.1\n", 0.1 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double comm_s = 2 * (WORKERS - 1.0) / WORKERS * cases[i].model_MB / 1;
        TABLES(t, 1, cases[i].text);
        assert_row(&t.rows, 0, "time_s=%.17g~1e-9 wait_pct=%.17g~1e-9 average_s=%.17g~1e-9 time_half_s=0",
                   STEPS * (0.01 + comm_s), 100 * comm_s / (0.01 + comm_s), comm_s);
    }
}

/* An all-reduce of S bytes beside steps of 10 ms may take a share w of the steps before it: the bandwidth is
 * 2 (N - 1) / N * S / (w * 10 ms * period), found to within 1 %. */
TEST_WITH(bandwidth_that_is_needed_is_the_closed_form, make_folder, remove_folder)
{
    static const struct {
        const char *method;
        double period;
    } want[] = { { "all-reduce", 1 }, { "local 6", 6 } };
    TABLES(t, 2,
           SMALL "clock: { jitter: 0 }\nmodel_MB: 10\nneed_pct: 20\n"
                 "methods: [all-reduce, { method: local, period: 6 }]\n");
    for (int64_t row = 0; row < 2; row++) {
        double need_GBps = 2 * 3.0 / 4 * 10e-3 / (0.2 * 0.01 * want[row].period);
        assert_string_equal(word(&t.rows, row, "method"), want[row].method);
        assert_row(&t.rows, row, "need_GBps=%.17g~0.01 need_wait_pct=20~0", need_GBps);
    }
    TABLES(other, 2, SMALL "methods: [all-reduce]\n");
    assert_row(&other.rows, 0, "need_GBps= need_wait_pct="); /* not asked for */
}

/* ---- rows and runs ---- */

/* Values of the three seeds of a row. */
static void values_of(double x[3], const struct tables *t, const char *method, const char *column)
{
    int64_t row = row_of(&t->runs, 0, method);
    for (int k = 0; k < 3; k++) {
        assert_string_equal(word(&t->runs, row + k, "method"), method);
        assert_true(number(&t->runs, row + k, "seed") == 11 + k);
        x[k] = number(&t->runs, row + k, column);
    }
}

static double mean_of(const double x[3])
{
    return (x[0] + x[1] + x[2]) / 3;
}

/* Student's t of two degrees of freedom has a closed form, (2 p - 1) / sqrt(2 p (1 - p)) at a share p. */
static double half_of(const double x[3])
{
    double mean = mean_of(x), squares = 0;
    for (int k = 0; k < 3; k++)
        squares += (x[k] - mean) * (x[k] - mean);
    return 0.95 / sqrt(2 * 0.975 * 0.025) * sqrt(squares / 2 / 3);
}

TEST_WITH(rows_are_means_of_their_runs, make_folder, remove_folder)
{
    static const struct {
        const char *mean, *half, *run;
    } columns[] = { { "accuracy_pct", "accuracy_half_pct", "accuracy_pct" },
                    { "average_pct", "average_half_pct", "average_pct" },
                    { "traffic_MB", "traffic_half_MB", "traffic_MB" },
                    { "time_s", "time_half_s", "time_s" },
                    { "exchanges", NULL, "exchanges" },
                    { "loss", NULL, "loss" } };
    TABLES(t, 2, SMALL METHODS);
    assert_int_equal(t.runs.n_rows, 3 * t.rows.n_rows);
    for (int64_t row = 0; row < t.rows.n_rows; row++)
        for (size_t i = 0; i < COUNT_OF(columns); i++) {
            double x[3];
            values_of(x, &t, word(&t.rows, row, "method"), columns[i].run);
            assert_close(number(&t.rows, row, columns[i].mean), mean_of(x), 1e-9);
            if (columns[i].half)
                assert_near(number(&t.rows, row, columns[i].half), half_of(x), 1e-9 * fmax(1, half_of(x)));
        }
}

static void compare_with(const struct tables *t, const char *base)
{
    double base_pct[3], base_MB[3], base_s[3];
    values_of(base_pct, t, base, "accuracy_pct");
    values_of(base_MB, t, base, "traffic_MB");
    values_of(base_s, t, base, "time_s");
    for (int64_t row = 0; row < t->rows.n_rows; row++) {
        const char *method = word(&t->rows, row, "method");
        double x[3];
        values_of(x, t, method, "traffic_MB");
        assert_near(number(&t->rows, row, "traffic_vs_base_pct"),
                    100 * (mean_of(x) - mean_of(base_MB)) / mean_of(base_MB), 1e-9);
        values_of(x, t, method, "time_s");
        assert_near(number(&t->rows, row, "time_vs_base_pct"),
                    100 * (mean_of(x) - mean_of(base_s)) / mean_of(base_s), 1e-9);
        values_of(x, t, method, "accuracy_pct");
        for (int k = 0; k < 3; k++)
            x[k] -= base_pct[k];
        assert_near(number(&t->rows, row, "accuracy_vs_base_points"), mean_of(x), 1e-9);
        assert_near(number(&t->rows, row, "accuracy_vs_base_half"), half_of(x), 1e-9 * fmax(1, half_of(x)));
        assert_string_equal(word(&t->rows, row, "base"), base);
    }
}

TEST_WITH(changes_are_against_the_baseline_and_accuracy_by_seed, make_folder, remove_folder)
{
    static const struct {
        const char *text, *base;
    } cases[] = { { SMALL METHODS, "pair 1" },
                  { SMALL METHODS "baseline: every sixth\n", "every sixth" },
                  { SMALL "methods: [all-reduce, { method: pair, period: [2, 1] }]\n", "pair 1" },
                  { SMALL "methods: [all-reduce, { method: pair, period: 2 }]\n", "all-reduce" } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TABLES(t, 2, cases[i].text);
        compare_with(&t, cases[i].base);
    }
}

/* With any accuracy equal the longest period sends least; of those of a row's own accuracy or above, of the
 * workers or of their average as asked for, one that sends less than all others is named. */
TEST_WITH(the_best_fixed_period_is_the_least_traffic_of_equal_accuracy, make_folder, remove_folder)
{
    static const struct {
        const char *text, *column;
        double equal_points;
    } cases[] = { { SMALL METHODS "equal_points: 100\n", "accuracy_pct", 100 },
                  { SMALL METHODS "equal_points: 0\n", "accuracy_pct", 0 },
                  { SMALL METHODS "equal_points: 0\nshards: label-skew\ncompare: averaged\n", "average_pct",
                    0 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        static const char *const fixed[] = { "pair 1", "pair 4", "pair 8" };
        TABLES(t, 2, cases[i].text);
        for (int64_t row = 0; row < t.rows.n_rows; row++) {
            double least_MB = INFINITY, own_pct = number(&t.rows, row, cases[i].column);
            const char *best = "";
            for (size_t k = 0; k < COUNT_OF(fixed); k++) {
                int64_t other = row_of(&t.rows, 0, fixed[k]);
                double MB = number(&t.rows, other, "traffic_MB");
                if (number(&t.rows, other, cases[i].column) >= own_pct - cases[i].equal_points &&
                    MB < least_MB) {
                    least_MB = MB;
                    best = fixed[k];
                }
            }
            assert_string_equal(word(&t.rows, row, "fixed"), best);
            if (*best)
                assert_near(number(&t.rows, row, "traffic_vs_fixed_pct"),
                            100 * (number(&t.rows, row, "traffic_MB") / least_MB - 1), 1e-9);
            if (cases[i].equal_points == 100)
                assert_string_equal(best, "pair 8");
        }
    }
}

TEST_WITH(a_row_says_its_family_rule_and_fixed_period, make_folder, remove_folder)
{
    static const struct {
        const char *method, *family, *rule;
        double period; /* 0: blank */
    } want[] = { { "pair 4", "pair", "fixed", 4 },
                 { "pair drift 0.02/16", "pair", "drift", 0 },
                 { "all-reduce", "all-reduce", "", 0 },
                 { "every sixth", "local", "", 6 } };
    TABLES(t, 2, SMALL METHODS);
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        int64_t row = row_of(&t.rows, 0, want[i].method);
        double period = number(&t.rows, row, "period");
        assert_string_equal(word(&t.rows, row, "family"), want[i].family);
        assert_string_equal(word(&t.rows, row, "rule"), want[i].rule);
        assert_true(want[i].period > 0 ? period == want[i].period : isnan(period));
    }
}

/* Where steps are so long that numbers run out, there is nothing to tell but when. */
TEST_WITH(what_diverged_has_no_accuracy_but_a_step, make_folder, remove_folder)
{
    TABLES(t, 2,
           SMALL "methods: [{ method: pair, period: 1 }, all-reduce]\nvary: { learner.rate: [0.05, 1e9] }\n");
    assert_int_equal(t.rows.n_rows, 4);
    for (int64_t row = 0; row < 4; row++) {
        static const char *const filled[] = { "accuracy_pct", "traffic_MB", "traffic_vs_base_pct" };
        bool wild = row >= 2;
        assert_row(&t.rows, row, "status=%s", wild ? "diverged" : "ok");
        for (size_t i = 0; i < COUNT_OF(filled); i++)
            assert_int_equal(is_blank(&t.rows, row, filled[i]), wild);
        assert_int_equal(is_blank(&t.rows, row, "diverged_step"), !wild);
        assert_true(!wild || number(&t.rows, row, "diverged_step") <= STEPS);
    }
    for (int64_t row = 0; row < t.runs.n_rows; row++)
        assert_string_equal(word(&t.runs, row, "status"),
                            number(&t.runs, row, "point") > 0 ? "diverged" : "ok");
}

/* ---- beside the rows ---- */

/* In one switch every byte that is sent goes up one link and down another. */
TEST_WITH(links_carry_what_is_sent, make_folder, remove_folder)
{
    TABLES(t, 2, SMALL "methods: [{ method: pair, period: [1, 4] }]\n");
    for (int64_t row = 0; row < t.rows.n_rows; row++) {
        const char *method = word(&t.rows, row, "method");
        double up_MB = 0, down_MB = 0, sent_MB[3];
        values_of(sent_MB, &t, method, "traffic_MB");
        for (int64_t i = 0; i < t.links.n_rows; i++) {
            if (strcmp(word(&t.links, i, "method"), method) != 0)
                continue;
            bool up = strncmp(word(&t.links, i, "link"), "npu", 3) == 0;
            *(up ? &up_MB : &down_MB) += number(&t.links, i, "MB");
            assert_string_equal(word(&t.links, i, "dim"), "dim1");
        }
        assert_close(up_MB, sent_MB[0], 1e-9);
        assert_close(down_MB, sent_MB[0], 1e-9);
    }
    assert_int_equal(t.links.n_rows, 2 * 2 * WORKERS);
}

TEST_WITH(curves_end_with_what_the_runs_came_to, make_folder, remove_folder)
{
    int64_t n = 0;
    TABLES(t, 2, SMALL METHODS);
    for (int64_t i = 0; i < t.curves.n_rows; i++) {
        bool last =
            i + 1 == t.curves.n_rows || number(&t.curves, i + 1, "epoch") < number(&t.curves, i, "epoch");
        if (!last)
            continue;
        int64_t run = row_of(&t.runs, 0, word(&t.curves, i, "method"));
        run += (int64_t)(number(&t.curves, i, "seed") - 11);
        static const char *const same[] = { "time_s", "exchanges", "traffic_MB", "average_pct" };
        assert_row(&t.curves, i, "steps=%d epoch=4", STEPS);
        for (size_t k = 0; k < COUNT_OF(same); k++)
            assert_true(number(&t.curves, i, same[k]) == number(&t.runs, run, same[k]));
        n++;
    }
    assert_int_equal(n, t.runs.n_rows);
}

/* ---- points ---- */

TEST_WITH(points_are_in_order_and_a_wrong_one_is_a_row, make_folder, remove_folder)
{
    TABLES(t, 2, SMALL "methods: [all-reduce, pair]\nvary: { workers: [4, 3, 2] }\n");
    assert_int_equal(t.rows.n_rows, 5);
    for (int64_t row = 0; row < 5; row++) {
        static const int workers[] = { 4, 4, 3, 2, 2 };
        assert_row(&t.rows, row, "workers=%d status=%s", workers[row], row == 2 ? "error" : "ok");
    }
    assert_row(&t.rows, 2, "method=");
    assert_has(word(&t.rows, 2, "message"), "workers: is 3, expected a size that divides");
}

/* Dimensions of the widest network; a narrower one leaves the rest blank. */
TEST_WITH(each_dimension_has_its_bytes, make_folder, remove_folder)
{
    TABLES(t, 1, SMALL "methods: [all-reduce]\nvary: { network: ['switch:4@1', 'ring:2@1 ring:2@1'] }\n");
    double model_MB = 4e-6 * PARAMS;
    assert_row(&t.rows, 0, "dim2_MB=");
    /* Reduce-scatter halves what the outer dimension carries: S each way and NPU within, S/2 without. */
    assert_row(&t.rows, 1, "dim1_MB=%.17g dim2_MB=%.17g", STEPS * WORKERS * model_MB,
               STEPS * WORKERS * model_MB / 2);
    double sum_MB[2] = { 0 }; /* links of NPUs 0-1 and 2-3, and of 0-2 and 1-3 */
    for (int64_t i = 0; i < t.links.n_rows; i++)
        if (number(&t.links, i, "point") > 0)
            sum_MB[strcmp(word(&t.links, i, "dim"), "dim2") == 0] += number(&t.links, i, "MB");
    assert_row(&t.rows, 1, "dim1_MB=%.17g dim2_MB=%.17g", sum_MB[0], sum_MB[1]);
}

/* Two classes that one number tells apart, and one that says nothing. */
TEST_WITH(own_examples_are_learned, make_folder, remove_folder)
{
    struct folder *f = *state;
    KEEP(struct tables, t, tables_free);
    TEXT(csv, "side,x,noise\n");
    for (int i = 0; i < 200; i++)
        text_printf(&csv, "%s,%d,%d\n", i % 2 ? "left" : "right", i % 2 ? -5 - i % 7 : 5 + i % 7,
                    i * 37 % 11);
    put(f, "examples.csv", text_str(&csv));
    run_text(&t, f,
             "network: switch:4@1\n"
             "learner: { hidden: [], batch: 10, epochs: 5 }\n"
             "data: { train_csv: examples.csv, test_csv: examples.csv, label: side }\n"
             "methods: [all-reduce, { method: pair, period: 1 }]\nseeds: 2\nshards: label-skew\n",
             2);
    for (int64_t row = 0; row < 2; row++) {
        /* 50 examples, 5 batches of 10; two features and two classes. */
        assert_row(&t.rows, row, "status=ok average_pct=100~0 steps=25 average_MB=%.17g",
                   2 * 3 * 4e-6 * (2 * 2 + 2));
    }
}

static unsigned long long hash_with(struct folder *f, const char *csv)
{
    KEEP(struct study, s, study_close);
    put(f, "own.csv", csv);
    put(f, "study.yaml",
        "network: switch:2@1\ndata: { train_csv: own.csv, test_csv: own.csv }\nmethods: [pair]\n");
    const struct study_ask ask = { .from = { .path = f->path }, .kind = &gossip_kind };
    MUST(study_open(&s, &ask, e));
    MUST(study_find_hash(&s, e));
    return s.hash;
}

TEST_WITH(the_hash_of_a_study_is_of_its_own_examples_too, make_folder, remove_folder)
{
    unsigned long long hash = hash_with(*state, "x,class\n1,a\n2,b\n4,a\n");
    assert_true(hash_with(*state, "x,class\n1,a\n2,b\n4,a\n") == hash);
    assert_true(hash_with(*state, "x,class\n1,a\n3,b\n4,a\n") != hash);
    assert_true(hash_with(*state, "x,class\n1,a\n2,a\n4,b\n") != hash);
}

/* ---- what is told ---- */

TEST_WITH(warnings_are_those_of_every_point, make_folder, remove_folder)
{
    TABLES(t, 1,
           SMALL "server: 1\nmethods: [all-reduce, { method: local, theta: 1 }]\n"
                 "clock: { slowdown: 3 }\nvary: { clock.slow_workers: [0, 1] }\n");
    assert_has(text_str(&t.notes), "server has no effect here, it is used only by methods with a server\n");
    assert_has(text_str(&t.notes),
               "methods[1].theta has no effect here, it is used only by rules other than");
    assert_null(strstr(text_str(&t.notes), "slowdown"));
}

TEST(every_method_and_column_is_explained)
{
    for (int32_t i = 0; i < gossip_n_methods; i++)
        assert_true(strlen(gossip_method_help(i)) > 10 && gossip_find_method(gossip_method_name(i)) == i);
    for (int32_t i = 0; i < gossip_kind.n_tables; i++)
        for (const struct column *c = gossip_kind.tables[i].columns; c->name; c++)
            assert_true((c->flags & COLUMN_HIDDEN) || strlen(c->help) > 2);
}
