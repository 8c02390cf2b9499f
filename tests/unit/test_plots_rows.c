#include "tests/support.h"

#include "plots/rows.h"

static const char *const columns[] = { "curve", "bytes", "bw#_GBps", NULL };
static const struct plot_figure figure = { "demo", "", columns, NULL, "weft demo --of csv", NULL };
static const struct plot_options no_options = { 0 };

/* Columns curve (text), bytes (real), ranks (count), odd (text) and one row. */
static struct rows rows_of(struct table *t, const char *curve, double bytes, int64_t ranks, const char *odd)
{
    *t = (struct table){ 0 };
    table_column(t, "curve", TABLE_TEXT);
    table_column(t, "bytes", TABLE_REAL);
    table_column(t, "ranks", TABLE_COUNT);
    table_column(t, "odd", TABLE_TEXT);
    table_row(t);
    table_put_text(t, curve);
    table_put_real(t, bytes);
    table_put_count(t, ranks);
    if (odd)
        table_put_text(t, odd);
    else
        table_put_none(t);
    return (struct rows){ .t = t, .figure = &figure, .opt = &no_options };
}

enum { CURVE, BYTES, RANKS, ODD };

static void a_missing_column_is_named_with_the_command_that_writes_it(void **state)
{
    struct table t;
    struct err e = { 0 };
    struct rows r = rows_of(&t, "a", 1, 8, NULL);
    (void)state;
    assert_ok(rows_check(&r, &e), &e);
    t.names[BYTES][0] = '?';
    assert_fails(rows_check(&r, &e), &e, ERR_PARSE,
                 "figure demo: column bytes: is missing, need it in the CSV of weft demo --of csv");
    table_free(&t);
}

static void a_filter_on_no_column_is_refused(void **state)
{
    static const struct plot_where where[] = { { "curv", "a" } };
    static const struct plot_options opt = { .where = where, .n_where = 1 };
    struct table t;
    struct err e = { 0 };
    struct rows r = rows_of(&t, "a", 1, 8, NULL);
    (void)state;
    r.opt = &opt;
    assert_fails(rows_check(&r, &e), &e, ERR_USAGE,
                 "figure demo: filter: is on column \"curv\", need one of the CSV, nearest is curve");
    table_free(&t);
}

static void filters_of_one_column_are_alternatives(void **state)
{
    static const struct {
        struct plot_where where[3];
        int32_t n;
        bool want;
    } cases[] = {
        { { { "curve", "a" } }, 1, true },
        { { { "curve", "b" } }, 1, false },
        { { { "curve", "b" }, { "curve", "a" } }, 2, true },
        { { { "curve", "a" }, { "ranks", "8.0" } }, 2, true },
        { { { "curve", "a" }, { "ranks", "9" } }, 2, false },
        { { { "bytes", "1024" }, { "ranks", "9" }, { "ranks", "8" } }, 3, true },
        { { { "bytes", "many" } }, 1, false },
        { { { "odd", "" } }, 1, true },
    };
    struct table t;
    struct rows r = rows_of(&t, "a", 1024, 8, NULL);
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plot_options opt = { .where = cases[i].where, .n_where = cases[i].n };
        r.opt = &opt;
        assert_int_equal(rows_pass(&r), cases[i].want);
    }
    table_free(&t);
}

static void cells_read_as_text_whatever_their_kind(void **state)
{
    static const char *const want[] = { "a", "1.5", "8", "" };
    struct table t;
    struct rows r = rows_of(&t, "a", 1.5, 8, NULL);
    struct names names = { 0 };
    struct text s = { 0 };
    struct err e = { 0 };
    int32_t at;
    (void)state;
    for (int32_t i = 0; i < 4; i++) {
        assert_ok(rows_text(&s, &r, i, &e), &e);
        assert_string_equal(text_str(&s), want[i]);
        assert_ok(rows_name(&at, &names, &r, i, &e), &e);
        assert_int_equal(at, i);
        assert_string_equal(names.list[i], want[i]);
    }
    names_free_copies(&names);
    text_free(&s);
    table_free(&t);
}

static void a_blank_number_is_nan_and_a_wrong_one_is_placed(void **state)
{
    static const struct {
        const char *odd, *want;
    } cases[] = {
        { "fast", "figure demo: row 1, column odd: is \"fast\", need a number" },
        { "-2", "figure demo: row 1, column odd: is -2, need above 0" },
        { "0", "figure demo: row 1, column odd: is 0, need above 0" },
    };
    struct err e = { 0 };
    struct table t;
    double x;
    (void)state;
    struct rows r = rows_of(&t, "a", 1, 8, NULL);
    assert_ok(rows_above_zero(&x, &r, ODD, &e), &e);
    assert_true(isnan(x));
    assert_ok(rows_number(&x, &r, RANKS, &e), &e);
    assert_close(x, 8, 0);
    table_free(&t);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        r = rows_of(&t, "a", 1, 8, cases[i].odd);
        assert_fails(rows_above_zero(&x, &r, ODD, &e), &e, ERR_PARSE, cases[i].want);
        table_free(&t);
    }
}

static void a_count_is_whole_and_in_range(void **state)
{
    static const struct {
        double bytes;
        const char *want;
    } cases[] = {
        { 9, "figure demo: row 1, column bytes: is 9, need a whole number, 0 to 8" },
        { 1.5, "is 1.5, need a whole number, 0 to 8" },
        { (double)NAN, "need a whole number, 0 to 8" },
        { -1, "is -1, need at least 0" },
    };
    struct err e = { 0 };
    struct table t;
    int32_t n;
    (void)state;
    struct rows r = rows_of(&t, "a", 8, 8, NULL);
    assert_ok(rows_count(&n, &r, BYTES, 8, &e), &e);
    assert_int_equal(n, 8);
    table_free(&t);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        r = rows_of(&t, "a", cases[i].bytes, 8, NULL);
        assert_fails(rows_count(&n, &r, BYTES, 8, &e), &e, ERR_PARSE, cases[i].want);
        table_free(&t);
    }
}

static void without_rows_the_message_counts_where_they_went(void **state)
{
    struct table t;
    struct err e = { 0 };
    struct rows r = rows_of(&t, "a", 1, 8, NULL);
    (void)state;
    assert_fails(rows_none_left(&r, 5, 3, "", &e), &e, ERR_PARSE,
                 "figure demo: rows to draw: is 0 of 1 (5 pass the filter, 3 of those lack a value), need at "
                 "least 1");
    table_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_column_is_named_with_the_command_that_writes_it),
        cmocka_unit_test(a_filter_on_no_column_is_refused),
        cmocka_unit_test(filters_of_one_column_are_alternatives),
        cmocka_unit_test(cells_read_as_text_whatever_their_kind),
        cmocka_unit_test(a_blank_number_is_nan_and_a_wrong_one_is_placed),
        cmocka_unit_test(a_count_is_whole_and_in_range),
        cmocka_unit_test(without_rows_the_message_counts_where_they_went),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
