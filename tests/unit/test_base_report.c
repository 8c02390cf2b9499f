/* One report in its three forms, each expected by eye. */
#include "base/report.h"
#include "tests/support.h"

/* Facts, a map, a list, a table with a member of a map, and a line; what is of one form alone, and blanks. */
static void tell(struct report *r)
{
    static const struct report_column columns[] = {
        { .in = IN_ALL, .key = "name", .title = "name", .kind = TABLE_TEXT },
        { .in = IN_ALL,
          .key = "time_s",
          .title = "time",
          .unit = "ms",
          .show = 4,
          .times = 1e3,
          .kind = TABLE_REAL },
        { .in = IN_ALL,
          .key = "usd.low",
          .title = "price",
          .unit = "k$",
          .show = 3,
          .per = 1e3,
          .kind = TABLE_REAL },
        { .in = IN_DATA, .key = "usd.n", .kind = TABLE_COUNT },
        { .in = IN_TEXT, .title = "n", .show = REPORT_COUNT },
        { .in = IN_JSON, .key = "good", .kind = TABLE_TEXT },
    };
    report_word(r, IN_ALL, "study", "study", "pod");
    report_count(r, IN_TEXT | IN_JSON, "npus", "NPUs", 4096, NULL);
    report_count(r, IN_JSON, "none", "none", -1, NULL);
    report_real(r, IN_TEXT | IN_JSON, "bw", "bandwidth", 12.5, 3, "GB/s");
    report_flag(r, IN_TEXT | IN_JSON, "proved", "proved", true);
    report_shown(r, "shown", "%d of %d", 2, 3);
    report_open(r, "map", '{');
    report_json_real(r, "x", NAN);
    report_json_word(r, "w", NULL);
    report_json_count(r, "n", 7);
    report_json_flag(r, "f", false);
    report_reals(r, "list", (const double[]){ 2e9, 3e9 }, 2, 1e9);
    report_close(r, '}');
    report_line(r, "%s\n", "a line");
    report_table(r, "rows", columns, REPORT_COLUMNS(columns));
    for (int i = 0; i < 2; i++) {
        report_put_word(r, i ? NULL : "a");
        report_put_real(r, i ? NAN : 0.25);
        report_put_real(r, i ? 2500 : NAN);
        report_put_count(r, i ? -1 : 5);
        report_put_count(r, 1000 * (i + 1));
        report_put_flag(r, i == 1);
    }
    report_table_end(r);
}

TEST(one_report_has_three_forms)
{
    CASES(enum table_format format; const char *want) = {
        { TABLE_AS_TEXT, "  study       pod\n"
                         "  NPUs        4,096\n"
                         "  bandwidth   12.5 GB/s\n"
                         "  proved      yes\n"
                         "  shown       2 of 3\n"
                         "a line\n"
                         "name  time  price      n\n"
                         "        ms     k$\n"
                         "a      250    -    1,000\n"
                         "-        -    2.5  2,000\n" },
        { TABLE_AS_JSON,
          "{\"study\": \"pod\", \"npus\": 4096, \"none\": null, \"bw\": 12.5, \"proved\": true, "
          "\"map\": {\"x\": null, \"w\": null, \"n\": 7, \"f\": false, \"list\": [2, 3]}, "
          "\"rows\": [{\"name\": \"a\", \"time_s\": 0.25, \"usd\": {\"low\": null, \"n\": 5}, \"good\": "
          "false}, {\"name\": null, \"time_s\": null, \"usd\": {\"low\": 2500, \"n\": null}, "
          "\"good\": true}]}\n" },
        { TABLE_AS_CSV, "# head\nname,time_s,usd.low,usd.n\na,0.25,,5\n,,2500,\n" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct report, r, report_free) = { .format = cases[i].format, .indent = "  ", .width = 12 };
        report_page(&r);
        tell(&r);
        report_page_end(&r);
        OK(report_end(&r, "head\n", e));
        assert_string_equal(text_str(&r.out), cases[i].want);
    }
}

/* Without a table CSV has one row, of the facts. */
TEST(facts_alone_are_rows_of_csv)
{
    KEEP(struct report, r, report_free) = { .format = TABLE_AS_CSV };
    report_page(&r);
    report_word(&r, IN_ALL, "study", "study", "pod");
    report_real(&r, IN_ALL, "bw", "bandwidth", 12.5, 3, "GB/s");
    report_count(&r, IN_ALL, "n", "n", 7, NULL);
    report_page_end(&r);
    OK(report_end(&r, "head\n", e));
    assert_string_equal(text_str(&r.out), "# head\nstudy,bw,n\npod,12.5,7\n");
}
