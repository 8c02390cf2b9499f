#include "base/report.h"

#include "tests/support.h"

/* One report of everything there is, in the form asked for; owned by the caller. */
static char *build(enum table_format format, bool rows)
{
    static const struct report_column columns[] = {
        { IN_ALL, .key = "name", .title = "part" },
        { IN_TEXT | IN_JSON, .key = "usd.low", .title = "low", .unit = "USD", .show = REPORT_USD },
        { IN_JSON, .key = "usd.high" },
        { IN_CSV, .key = "usd_high", .kind = TABLE_REAL },
        { IN_ALL, .key = "time_s", .title = "time", .unit = "ms", .show = 4, .times = 1e3,
          .kind = TABLE_REAL },
        { IN_ALL, .key = "n", .title = "count", .show = REPORT_COUNT, .kind = TABLE_COUNT },
        { IN_DATA, .key = "ok" },
    };
    static const double bw_Bps[] = { 1e9, 2.5e9 };
    struct report r = { .format = format, .rows = rows, .indent = "  ", .width = 8 };
    struct err e = { 0 };
    report_page(&r);
    report_line(&r, "title\n");
    report_word(&r, IN_ALL, "word", "a word", "x");
    report_shown(&r, "shown", "%d of %d", 1, 2);
    report_reals(&r, "bw_GBps", bw_Bps, 2, 1e9);
    report_open(&r, "map", '{');
    report_json_flag(&r, "yes", true);
    report_none(&r, IN_JSON, "none");
    report_close(&r, '}');
    report_table(&r, "rows", columns, REPORT_COLUMNS(columns));
    for (int i = 0; i < 2; i++) {
        report_put_word(&r, i ? "b" : "a");
        report_put_real(&r, 1000 + i);
        report_put_real(&r, 2000);
        report_put_real(&r, 2000);
        report_put_real(&r, 0.25);
        report_put_count(&r, i ? -1 : 7);
        report_put_flag(&r, i == 0);
    }
    report_table_end(&r);
    report_page_end(&r);
    assert_ok(report_end(&r, NULL, &e), &e);
    char *s = strdup(text_str(&r.out));
    report_free(&r);
    return s;
}

static void one_report_has_three_forms(void **state)
{
    static const struct {
        enum table_format format;
        bool rows;
        const char *want;
    } cases[] = {
        { TABLE_AS_TEXT, false,
          "title\n"
          "  a word  x\n"
          "  shown   1 of 2\n"
          "part    low  time  count\n"
          "        USD    ms\n"
          "a     1,000   250      7\n"
          "b     1,001   250      -\n" },
        { TABLE_AS_JSON, false,
          "{\"word\": \"x\", \"bw_GBps\": [1, 2.5], \"map\": {\"yes\": true, \"none\": null}, \"rows\": ["
          "{\"name\": \"a\", \"usd\": {\"low\": 1000, \"high\": 2000}, \"time_s\": 0.25, \"n\": 7, \"ok\": "
          "true}, "
          "{\"name\": \"b\", \"usd\": {\"low\": 1001, \"high\": 2000}, \"time_s\": 0.25, \"n\": null, "
          "\"ok\": false}]}\n" },
        { TABLE_AS_CSV, false, "name,usd_high,time_s,n,ok\na,2000,0.25,7,yes\nb,2000,0.25,,no\n" },
        { TABLE_AS_JSON, true,
          "{\"weft\": {}, \"rows\": [\n"
          "{\"name\": \"a\", \"usd_high\": 2000, \"time_s\": 0.25, \"n\": 7, \"ok\": \"yes\"},\n"
          "{\"name\": \"b\", \"usd_high\": 2000, \"time_s\": 0.25, \"n\": null, \"ok\": \"no\"}\n"
          "]}\n" },
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char *got = build(cases[i].format, cases[i].rows);
        assert_string_equal(got, cases[i].want);
        free(got);
    }
}

/* Without a table the facts are the one row of CSV, blank where there is no value. */
static void facts_are_a_row_where_there_is_no_table(void **state)
{
    struct report r = { .format = TABLE_AS_CSV };
    struct err e = { 0 };
    (void)state;
    report_page(&r);
    report_word(&r, IN_DATA, "name", NULL, "a, b");
    report_count(&r, IN_ALL, "n", "count", -1, NULL);
    report_real(&r, IN_CSV, "x", NULL, 0.1, 0, NULL);
    report_real(&r, IN_TEXT, "only text", "only text", 1, 3, NULL);
    report_flag(&r, IN_ALL, "ok", "fine", false);
    report_page_end(&r);
    assert_ok(report_end(&r, "version=1\n", &e), &e);
    assert_string_equal(text_str(&r.out), "# version=1\nname,n,x,ok\n\"a, b\",,0.1,no\n");
    report_free(&r);
}

/* Pages are objects on lines of their own, or parted by a blank line. */
static void pages_follow_each_other(void **state)
{
    static const char *const want[] = {
        [TABLE_AS_TEXT] = "n 1\n\nn 2\n", [TABLE_AS_JSON] = "{\"n\": 1}\n{\"n\": 2}\n"
    };
    static const enum table_format forms[] = { TABLE_AS_TEXT, TABLE_AS_JSON };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        struct report r = { .format = forms[i], .width = 2 };
        for (int64_t n = 1; n <= 2; n++) {
            report_page(&r);
            report_count(&r, IN_ALL, "n", "n", n, NULL);
            report_page_end(&r);
        }
        assert_string_equal(text_str(&r.out), want[forms[i]]);
        report_free(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_report_has_three_forms),
        cmocka_unit_test(facts_are_a_row_where_there_is_no_table),
        cmocka_unit_test(pages_follow_each_other),
    };
    return cmocka_run_group_tests_name("base/report", tests, NULL, NULL);
}
