#include "tests/support.h"

#include "plots/phrases.h"

/* One row of a sweep over `paths`, whose network is `network`. */
static void sweep_table(struct table *t, const char *const *paths, const char *const *values, size_t n,
                        const char *network, const char *plan)
{
    *t = (struct table){ 0 };
    table_column(t, "point", TABLE_COUNT);
    for (size_t i = 0; i < n; i++)
        table_column(t, paths[i], TABLE_TEXT);
    table_column(t, "network", TABLE_TEXT);
    table_column(t, "plan", TABLE_TEXT);
    table_column(t, "tp", TABLE_COUNT);
    table_row(t);
    table_put_count(t, 0);
    for (size_t i = 0; i < n; i++)
        table_put_text(t, values[i]);
    table_put_text(t, network);
    table_put_text(t, plan);
    table_put_count(t, 8);
}

static void a_plan_is_cut_into_phrases_with_details_behind_a_tab(void **state)
{
    static const struct {
        const char *plan, *want;
    } cases[] = {
        { "tp 8, dp 16, pp 4, microbatch 1 of 64, interleave 2, selective recompute, zero 1, sequence "
          "parallel",
          "tp 8\ndp 16\npp 4\n\tmb 1×64\n\tinterleave 2\n\tselective recompute\n\tzero 1\n\tsp\n" },
        { "cp 2, ep 8, microbatch 1 of 1, gpipe, cp by ring",
          "cp 2\nep 8\n\tmb 1×1\n\tgpipe\n\tcp by ring\n" },
        { "", "" },
        { "one", "\tone\n" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct table t;
        struct text out = { 0 };
        struct err e = { 0 };
        sweep_table(&t, NULL, NULL, 0, "n", cases[i].plan);
        struct rows r = { .t = &t };
        assert_ok(phrases_put_plan(&out, &r, table_find(&t, "plan"), &e), &e);
        assert_string_equal(text_str(&out), cases[i].want);
        text_free(&out);
        table_free(&t);
    }
}

/* What another column or the network's word shows is not said twice. */
static void axes_are_the_last_word_of_the_key_and_the_value(void **state)
{
    static const char *const paths[] = { "workload.parallel.tp",     "workload.parallel.batch",
                                         "workload.model",           "network.dims.pod.size",
                                         "network.dims.pod.bw_GBps", "network.dims.pod.latency_ns" };
    static const char *const values[] = { "8", "1024", "../models/llama3-8b.yaml", "64", "25", "4" };
    struct table t;
    struct text out = { 0 };
    struct err e = { 0 };
    (void)state;
    sweep_table(&t, paths, values, COUNT_OF(paths), "switch:4@250 switch:64@25", "");
    struct rows r = { .t = &t };
    assert_ok(phrases_put_axes(&out, &r, &e), &e);
    /* The 4 in the network's word is a size, no latency. */
    assert_string_equal(text_str(&out), "batch 1024\nmodel llama3-8b\nlatency_ns 4\n");
    assert_false(phrases_is_axis(&t, table_find(&t, "point")));
    assert_false(phrases_is_axis(&t, table_find(&t, "workload.parallel.tp")));
    assert_false(phrases_is_axis(&t, table_find(&t, "plan")));
    assert_true(phrases_is_axis(&t, table_find(&t, "workload.model")));
    text_free(&out);
    table_free(&t);
}

static void a_named_network_shows_none_of_its_axes(void **state)
{
    static const char *const paths[] = { "network.dims.pod.size" }, *const values[] = { "64" };
    struct table t;
    struct text out = { 0 };
    struct err e = { 0 };
    (void)state;
    sweep_table(&t, paths, values, 1, "pod-64", "");
    struct rows r = { .t = &t };
    assert_ok(phrases_put_axes(&out, &r, &e), &e);
    assert_string_equal(text_str(&out), "size 64\n");
    text_free(&out);
    table_free(&t);
}

static void phrases_are_found_whole(void **state)
{
    static const char phrases[] = "tp 8\n\tzero 2\n";
    const char *at = phrases;
    size_t n;
    (void)state;
    assert_true(phrases_have(phrases, "tp 8", 4));
    assert_true(phrases_have(phrases, "\tzero 2", 7));
    assert_false(phrases_have(phrases, "tp", 2));
    assert_false(phrases_have(phrases, "zero 2", 6));
    assert_false(phrases_have("", "tp 8", 4));
    assert_ptr_equal(phrases_next(&at, &n), phrases);
    assert_int_equal(n, 4);
    assert_ptr_equal(phrases_next(&at, &n), phrases + 5);
    assert_int_equal(n, 7);
    assert_null(phrases_next(&at, &n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_cut_into_phrases_with_details_behind_a_tab),
        cmocka_unit_test(axes_are_the_last_word_of_the_key_and_the_value),
        cmocka_unit_test(a_named_network_shows_none_of_its_axes),
        cmocka_unit_test(phrases_are_found_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
