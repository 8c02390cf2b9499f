#include "tests/unit/test_plots_sample.h"

#include "plots/design.h"

static const struct plot_options no_options = { 0 };

static int no_build(struct canvas *c, const struct plot_data *d, struct err *e)
{
    (void)c, (void)d, (void)e;
    return 0;
}

static const char *const all_columns[] = {
    "network", "workload",           "objective", "total_GBps",   "n_dims",   "dims",
    "time_s",  "compute_s",          "comm_s",    "equal_time_s", "cost_usd", "equal_cost_usd",
    "speedup", "perf_per_cost_gain", "nic_GBps",  "bw#_GBps",     "util#",    "exposed#_s",
    NULL
};
static const struct plot_figure all = { "all", "", all_columns, no_build, NULL, NULL };

static void solved_rows_are_read_in_order(void **state)
{
    struct table t;
    struct plot_data d;
    struct err e = { 0 };
    (void)state;
    sample_table(&t, sample_rows, COUNT_OF(sample_rows));
    assert_ok(plot_data_read(&d, &t, &all, &no_options, &e), &e);
    assert_int_equal(d.n_designs, 6);
    assert_int_equal(d.n_blank, 0);
    const struct plot_design *g = &d.designs[4]; /* row 6: row 4 is infeasible */
    assert_int_equal(g->row, 6);
    assert_string_equal(g->network, "deep");
    assert_string_equal(g->workload, "GPT-3");
    assert_string_equal(g->objective, "time");
    assert_int_equal(g->n_dims, 3);
    assert_string_equal(g->dim_names[0], "chip");
    assert_string_equal(g->dim_names[1], "node");
    assert_string_equal(g->dim_names[2], "pod");
    assert_close(g->total_GBps, 100, 0);
    assert_close(g->time_s, 0.25, 0);
    assert_close(g->comm_s, 0.05, 1e-12);
    assert_close(g->speedup, 4, 0);
    assert_close(g->perf_per_cost_gain, 24, 1e-12);
    assert_close(g->bw_GBps[1], 38, 0);
    assert_close(g->util[2], 0.05, 0);
    assert_close(g->exposed_s[0], 0.05, 0);
    plot_data_free(&d);
    table_free(&t);
}

static void columns_that_a_figure_does_not_need_may_be_missing_or_wrong(void **state)
{
    static const char *const columns[] = { "network", "speedup", NULL };
    static const struct plot_figure f = { "small", "", columns, no_build, NULL, NULL };
    struct table t = { 0 };
    struct plot_data d;
    struct err e = { 0 };
    (void)state;
    table_column(&t, "network", TABLE_COUNT);
    table_column(&t, "status", TABLE_TEXT);
    table_column(&t, "speedup", TABLE_COUNT);
    table_column(&t, "time_s", TABLE_TEXT);
    table_row(&t);
    table_put_count(&t, 4);
    table_put_text(&t, "solved");
    table_put_count(&t, 2);
    table_put_text(&t, "nonsense");
    assert_ok(plot_data_read(&d, &t, &f, &no_options, &e), &e);
    assert_string_equal(d.designs[0].network, "4");
    assert_close(d.designs[0].speedup, 2, 0);
    assert_true(isnan(d.designs[0].time_s));
    plot_data_free(&d);
    table_free(&t);
}

static void filters_on_one_column_are_alternatives_and_on_several_all_hold(void **state)
{
    static const struct {
        struct plot_where where[3];
        int32_t n_where;
        int64_t want;
    } cases[] = {
        { { { "network", "deep" } }, 1, 2 },
        { { { "network", "deep" }, { "network", "flat" } }, 2, 6 },
        { { { "network", "flat" }, { "workload", "MSFT-1T" } }, 2, 1 },
        { { { "total_GBps", "200.0" } }, 1, 2 },
        { { { "point", "1" }, { "point", "7" }, { "workload", "GPT-3" } }, 3, 1 },
        { { { "status", "solved" } }, 1, 6 },
    };
    struct table t;
    struct err e = { 0 };
    (void)state;
    sample_table(&t, sample_rows, COUNT_OF(sample_rows));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plot_options opt = { .where = cases[i].where, .n_where = cases[i].n_where };
        struct plot_data d;
        assert_ok(plot_data_read(&d, &t, &all, &opt, &e), &e);
        assert_int_equal(d.n_designs, cases[i].want);
        plot_data_free(&d);
    }
    table_free(&t);
}

static void without_a_row_to_draw_the_message_says_why(void **state)
{
    static const struct plot_where nobody[] = { { "workload", "DLRM" } },
                                   words[] = { { "total_GBps", "much" } };
    static const struct {
        struct plot_options opt;
        size_t n_rows;
        const char *want;
    } cases[] = {
        { { 0 },
          0,
          "figure all: rows to draw: is 0 of 0 (0 pass the filter, 0 of those are solved but lack a value)" },
        { { .where = nobody, .n_where = 1 }, 8, "is 0 of 7 (0 pass the filter" },
        { { .where = words, .n_where = 1 }, 8, "is 0 of 7 (0 pass the filter" },
    };
    struct err e = { 0 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct table t;
        struct plot_data d;
        sample_table(&t, sample_rows, cases[i].n_rows ? COUNT_OF(sample_rows) : 0);
        assert_fails(plot_data_read(&d, &t, &all, &cases[i].opt, &e), &e, ERR_PARSE, cases[i].want);
        plot_data_free(&d);
        table_free(&t);
    }
}

static void a_solved_row_with_a_blank_is_counted_and_left_out(void **state)
{
    struct sample rows[2] = { sample_rows[0], sample_rows[1] };
    struct table t;
    struct plot_data d;
    struct err e = { 0 };
    (void)state;
    rows[0].cost_usd = (double)NAN;
    sample_table(&t, rows, 2);
    assert_ok(plot_data_read(&d, &t, &all, &no_options, &e), &e);
    assert_int_equal(d.n_designs, 1);
    assert_int_equal(d.n_blank, 1);
    assert_close(d.designs[0].total_GBps, 200, 0);
    plot_data_free(&d);
    table_free(&t);
}

static void a_filter_on_an_unknown_column_names_the_nearest(void **state)
{
    static const struct plot_where where[] = { { "worklod", "GPT-3" } };
    static const struct plot_options opt = { .where = where, .n_where = 1 };
    struct table t;
    struct plot_data d;
    struct err e = { 0 };
    (void)state;
    sample_table(&t, sample_rows, COUNT_OF(sample_rows));
    assert_fails(plot_data_read(&d, &t, &all, &opt, &e), &e, ERR_USAGE,
                 "figure all: filter: is on column \"worklod\", need one of the CSV, nearest is workload");
    plot_data_free(&d);
    table_free(&t);
}

static void a_missing_column_is_named_with_the_figure(void **state)
{
    static const struct {
        const char *gone, *want;
    } cases[] = {
        { "status", "figure all: column status: is missing, need it in the CSV" },
        { "speedup", "figure all: column speedup: is missing" },
        { "dims", "figure all: column dims: is missing" },
        { "n_dims", "figure all: column n_dims: is missing" },
        { "util2", "figure all: column util2: is missing" },
        { "bw3_GBps", "figure all: column bw3_GBps: is missing" },
    };
    struct err e = { 0 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct table t;
        struct plot_data d;
        sample_table(&t, sample_rows, COUNT_OF(sample_rows));
        t.names[table_find(&t, cases[i].gone)][0] = '?';
        assert_fails(plot_data_read(&d, &t, &all, &no_options, &e), &e, ERR_PARSE, cases[i].want);
        plot_data_free(&d);
        table_free(&t);
    }
}

static void columns_of_dimensions_no_network_has_may_be_missing(void **state)
{
    struct table t;
    struct plot_data d;
    struct err e = { 0 };
    (void)state;
    sample_table(&t, sample_rows, 2);
    t.names[table_find(&t, "bw3_GBps")][0] = '?';
    assert_ok(plot_data_read(&d, &t, &all, &no_options, &e), &e);
    assert_int_equal(d.n_designs, 2);
    plot_data_free(&d);
    table_free(&t);
}

static void a_value_that_cannot_be_is_placed(void **state)
{
    static const struct {
        struct sample row;
        const char *want;
    } cases[] = {
        { { "n", "a|b", "w", "time", "solved", 3, 1, 1, 1, 1, 1, 1, 1, { 1, 1, 1 }, { 0 }, { 0 } },
          "figure all: row 1, column dims: is 2 names, need 3 as n_dims says" },
        { { "n", "a|b|", "w", "time", "solved", 2, 1, 1, 1, 1, 1, 1, 1, { 1, 1, 1 }, { 0 }, { 0 } },
          "figure all: row 1, column dims: is 3 names, need 2" },
        { { "n", "", "w", "time", "solved", 0, 1, 1, 1, 1, 1, 1, 1, { 1 }, { 0 }, { 0 } },
          "figure all: row 1, column n_dims: is 0, need above 0" },
        { { "n", "a|b|c|d|e|f|g|h|i", "w", "time", "solved", 9, 1, 1, 1, 1, 1, 1, 1, { 1 }, { 0 }, { 0 } },
          "figure all: row 1, column n_dims: is 9, need a whole number, 1 to 8" },
        { { "n", "a", "w", "time", "solved", 1, 1, 0, 0, 1, 1, 1, 1, { 1 }, { 0 }, { 0 } },
          "figure all: row 1, column time_s: is 0, need above 0" },
        { { "n", "a", "w", "time", "solved", 1, 1, 1, 1, -5, 1, 1, 1, { 1 }, { 0 }, { 0 } },
          "figure all: row 1, column cost_usd: is -5, need at least 0" },
        { { "n", "a", "w", "time", "solved", 1, 1, 1, 1, 1, 1, 1, 1, { 1 }, { -0.5 }, { 0 } },
          "figure all: row 1, column util1: is -0.5, need at least 0" },
    };
    struct err e = { 0 };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct table t;
        struct plot_data d;
        sample_table(&t, &cases[i].row, 1);
        assert_fails(plot_data_read(&d, &t, &all, &no_options, &e), &e, ERR_PARSE, cases[i].want);
        plot_data_free(&d);
        table_free(&t);
    }
}

static void a_word_in_a_column_of_numbers_is_placed(void **state)
{
    static const char *const columns[] = { "speedup", NULL };
    static const struct plot_figure f = { "small", "", columns, no_build, NULL, NULL };
    struct table t = { 0 };
    struct plot_data d;
    struct err e = { 0 };
    (void)state;
    table_column(&t, "status", TABLE_TEXT);
    table_column(&t, "speedup", TABLE_TEXT);
    for (int i = 0; i < 2; i++) {
        table_row(&t);
        table_put_text(&t, "solved");
        table_put_text(&t, i ? "fast" : "1.5");
    }
    assert_fails(plot_data_read(&d, &t, &f, &no_options, &e), &e, ERR_PARSE,
                 "figure small: row 2, column speedup: is \"fast\", need a number");
    plot_data_free(&d);
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solved_rows_are_read_in_order),
        cmocka_unit_test(columns_that_a_figure_does_not_need_may_be_missing_or_wrong),
        cmocka_unit_test(filters_on_one_column_are_alternatives_and_on_several_all_hold),
        cmocka_unit_test(without_a_row_to_draw_the_message_says_why),
        cmocka_unit_test(a_solved_row_with_a_blank_is_counted_and_left_out),
        cmocka_unit_test(a_filter_on_an_unknown_column_names_the_nearest),
        cmocka_unit_test(a_missing_column_is_named_with_the_figure),
        cmocka_unit_test(columns_of_dimensions_no_network_has_may_be_missing),
        cmocka_unit_test(a_value_that_cannot_be_is_placed),
        cmocka_unit_test(a_word_in_a_column_of_numbers_is_placed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
