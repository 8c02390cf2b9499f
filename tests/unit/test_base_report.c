/* One report in its three forms, each expected by eye. */
#include "base/report.h"
#include "tests/support.h"

struct tell_facts {
    const char *study;
    int64_t npus, none;
    double bw_GBps;
    bool proved;
};

struct tell_row {
    const char *name;
    double time_s, low_usd;
    int64_t n;
};

/* Facts, a map, a list, a table with a member of a map, and a line; what is of one form alone, and blanks. */
static void tell(struct report *r)
{
    static const struct column facts[] = {
        COLUMN_WORD(struct tell_facts, study, "its name"),
        COLUMN_COUNT(struct tell_facts, npus, "of it", .title = "NPUs", .in = IN_TEXT | IN_JSON),
        COLUMN_COUNT(struct tell_facts, none, "blank", .in = IN_JSON),
        COLUMN_REAL(struct tell_facts, bw_GBps, "of it", .title = "bandwidth", .digits = 3,
                    .as = "GB/s each way", .in = IN_TEXT | IN_JSON),
        COLUMN_FLAG(struct tell_facts, proved, "is it?", .in = IN_TEXT | IN_JSON),
        COLUMNS_END,
    };
    static const struct column columns[] = {
        COLUMN_WORD(struct tell_row, name, "of the row"),
        COLUMN_REAL(struct tell_row, time_s, "in ms", .times = 1e3, .as = "ms"),
        COLUMN_AT(struct tell_row, low_usd, "usd.low", TABLE_REAL, "price", .unit = "", .in = IN_DATA),
        COLUMN_AT(struct tell_row, n, "usd.n", TABLE_COUNT, "how many", .in = IN_JSON),
        COLUMN_COUNT(struct tell_row, n, "how many", .in = IN_TEXT),
        COLUMNS_END,
    };
    static const struct tell_row rows[] = { { "a", 0.25, NAN, 1000 }, { NULL, NAN, 2500, -1 } };
    report_facts(r, facts, &(struct tell_facts){ "pod", 4096, -1, 12.5, true });
    report_shown(r, "shown", "%d of %d", 2, 3);
    report_open(r, "map", '{');
    report_json_real(r, "x", NAN);
    report_json_word(r, "w", NULL);
    report_json_count(r, "n", 7);
    report_json_count(r, "none", -1);
    report_json_flag(r, "f", false);
    report_reals(r, "list", (const double[]){ 2e9, 3e9 }, 2, 1e9);
    report_close(r, '}');
    report_line(r, "%s\n", "a line");
    report_array(r, "rows", columns, rows, 2, sizeof *rows);
}

TEST(one_report_has_three_forms)
{
    CASES(enum table_format format; const char *want) = {
        { TABLE_AS_TEXT, "  study       pod\n"
                         "  NPUs        4,096\n"
                         "  bandwidth   12.5 GB/s each way\n"
                         "  proved      yes\n"
                         "  shown       2 of 3\n"
                         "a line\n"
                         "name  time      n\n"
                         "        ms\n"
                         "a      250  1,000\n"
                         "-        -      -\n" },
        { TABLE_AS_JSON,
          "{\"study\": \"pod\", \"npus\": 4096, \"none\": null, \"bw_GBps\": 12.5, \"proved\": true, "
          "\"map\": {\"x\": null, \"w\": null, \"n\": 7, \"none\": null, \"f\": false, \"list\": [2, 3]}, "
          "\"rows\": [{\"name\": \"a\", \"time_s\": 0.25, \"usd\": {\"low\": null, \"n\": 1000}}, "
          "{\"name\": null, \"time_s\": null, \"usd\": {\"low\": 2500, \"n\": null}}]}\n" },
        { TABLE_AS_CSV, "# head\nname,time_s,usd.low\na,0.25,\n,,2500\n" },
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

struct place {
    const char *name, *note;
    double time_s, bw_Bps[3], low_usd, util_frac, missing;
    int32_t n_dims;
    int64_t npus;
    bool proved;
    int64_t unique;
};

static const struct column place_columns[] = {
    COLUMN_WORD(struct place, name, "of the place", .title = "place"),
    COLUMN_WORD(struct place, note, "only where there is one", .flags = COLUMN_IF_ANY),
    COLUMN_REAL(struct place, time_s, "of a step", .title = "step", .show = COLUMN_FITTED, .better = -1),
    COLUMN_AT(struct place, bw_Bps, "bw_GBps", TABLE_REAL, "bandwidths", .repeat = 3, .per = 1e9,
              .upto = "n_dims"),
    COLUMN_AT(struct place, bw_Bps, "bw#_GBps", TABLE_REAL, "of one", .repeat = 2, .per = 1e9,
              .title = "dim #", .in = IN_TEXT | IN_CSV),
    COLUMN_COUNT(struct place, n_dims, "how many", .in = IN_JSON),
    COLUMN_COUNT(struct place, npus, "of them", .title = "NPUs"),
    COLUMN_AT(struct place, low_usd, "usd.low", TABLE_REAL, "least price", .unit = "USD", .title = "price"),
    COLUMN_AT(struct place, missing, "usd.high", TABLE_REAL, "largest price", .in = IN_JSON),
    COLUMN_REAL(struct place, util_frac, "share", .times = 100, .as = "%", .digits = 3),
    COLUMN_FLAG(struct place, proved, "is it?"),
    COLUMN_AT(struct place, unique, "unique", TABLE_COUNT, "is it, if known", .show = COLUMN_YES_NO),
    COLUMNS_END,
};

static const struct place places[] = {
    { "a", NULL, 0.0125, { 2e9, 3.5e9, 9e9 }, 1234567.8, 0.12345, NAN, 2, 4096, true, -1 },
    { "b", "far", 0.0005, { 1e9, NAN, NAN }, NAN, NAN, NAN, 1, -1, false, 0 },
};

/* A list of columns tells facts and rows in each form, in the units of each. */
TEST(facts_of_a_struct_follow_from_its_columns)
{
    CASES(enum table_format format; const char *want) = {
        { TABLE_AS_TEXT, "place      a\n"
                         "step       12.5 ms\n"
                         "dim 1      2 GB/s\n"
                         "dim 2      3.5 GB/s\n"
                         "NPUs       4,096\n"
                         "price      1,234,568 USD\n"
                         "util frac  12.3 %\n"
                         "proved     yes\n"
                         "unique     -\n" },
        { TABLE_AS_JSON,
          "{\"name\": \"a\", \"time_s\": 0.0125, \"bw_GBps\": [2, 3.5], \"n_dims\": 2, \"npus\": 4096, "
          "\"usd\": {\"low\": 1234567.8, \"high\": null}, \"util_frac\": 0.12345, \"proved\": true, "
          "\"unique\": null}\n" },
        { TABLE_AS_CSV, "name,time_s,bw1_GBps,bw2_GBps,npus,usd.low,util_frac,proved,unique\n"
                        "a,0.0125,2,3.5,4096,1234567.8,0.12345,yes,\n" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct report, r, report_free) = { .format = cases[i].format, .width = 11 };
        report_page(&r);
        report_facts(&r, place_columns, &places[0]);
        report_page_end(&r);
        OK(report_end(&r, NULL, e));
        assert_string_equal(text_str(&r.out), cases[i].want);
    }
}

TEST(rows_of_structs_follow_from_their_columns)
{
    CASES(enum table_format format; const char *want) = {
        { TABLE_AS_TEXT, "place  note  step  dim 1  dim 2   NPUs      price  util frac  proved  unique\n"
                         "               ms   GB/s   GB/s               USD          %\n"
                         "a      -     12.5      2    3.5  4,096  1,234,568       12.3  yes     -\n"
                         "b      far    0.5      1    -        -          -        -    no      no\n" },
        { TABLE_AS_JSON,
          "{\"places\": [{\"name\": \"a\", \"time_s\": 0.0125, \"bw_GBps\": [2, 3.5], \"n_dims\": 2, "
          "\"npus\": 4096, \"usd\": {\"low\": 1234567.8, \"high\": null}, \"util_frac\": 0.12345, "
          "\"proved\": true, \"unique\": null}, {\"name\": \"b\", \"note\": \"far\", \"time_s\": 0.0005, "
          "\"bw_GBps\": [1], \"n_dims\": 1, \"npus\": null, \"usd\": {\"low\": null, \"high\": null}, "
          "\"util_frac\": null, \"proved\": false, \"unique\": false}]}\n" },
        { TABLE_AS_CSV, "# best=min:time_s\n# units=USD:usd.low\n"
                        "# titles=step:time_s,dim 1:bw1_GBps,dim 2:bw2_GBps,NPUs:npus,price:usd.low\n"
                        "name,note,time_s,bw1_GBps,bw2_GBps,npus,usd.low,util_frac,proved,unique\n"
                        "a,,0.0125,2,3.5,4096,1234567.8,0.12345,yes,\nb,far,0.0005,1,,,,,no,no\n" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct report, r, report_free) = { .format = cases[i].format };
        report_page(&r);
        report_array(&r, "places", place_columns, places, 2, sizeof *places);
        report_page_end(&r);
        OK(report_end(&r, NULL, e));
        assert_string_equal(text_str(&r.out), cases[i].want);
    }
}

/* Nothing stands for a list without columns in the form at hand: no member, no row. */
TEST(a_list_of_another_form_leaves_no_trace)
{
    static const struct column columns[] = { COLUMN_WORD(struct place, name, "x", .in = IN_TEXT),
                                             COLUMNS_END };
    KEEP(struct report, r, report_free) = { .format = TABLE_AS_JSON };
    report_page(&r);
    report_array(&r, "places", columns, places, 2, sizeof *places);
    report_page_end(&r);
    OK(report_end(&r, NULL, e));
    assert_string_equal(text_str(&r.out), "{}\n");
}

struct line {
    char said[16];
    int32_t n;
    const char *words[3];
};

/* A text that the row holds itself, and a list whose length stands in no form. */
TEST(texts_in_rows_and_hidden_lengths)
{
    static const struct column columns[] = {
        COLUMN_WORD(struct line, said, "its own", .flags = COLUMN_CHARS),
        COLUMN_COUNT(struct line, n, "how many", .in = IN_NONE),
        COLUMN_AT(struct line, words, "words", TABLE_TEXT, "a list", .repeat = 3, .upto = "n"),
        COLUMNS_END,
    };
    const struct line lines[] = { { "here", 2, { "a", NULL, "c" } }, { "", 0, { NULL, NULL, NULL } } };
    CASES(enum table_format format; const char *want) = {
        { TABLE_AS_TEXT, "said\nhere\n-\n" },
        { TABLE_AS_JSON, "{\"lines\": [{\"said\": \"here\", \"words\": [\"a\", null]}, {\"said\": null, "
                         "\"words\": []}]}\n" },
        { TABLE_AS_CSV, "said\nhere\n\n" },
    };
    struct line cleared = { "x", 1, { "y", NULL, NULL } };
    row_clear(&cleared, columns);
    assert_string_equal(cleared.said, "");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct report, r, report_free) = { .format = cases[i].format };
        report_page(&r);
        report_array(&r, "lines", columns, lines, 2, sizeof *lines);
        report_page_end(&r);
        OK(report_end(&r, NULL, e));
        assert_string_equal(text_str(&r.out), cases[i].want);
    }
}

/* In parts, as pages write them; a label keeps its column, and what is wide stays. */
TEST(long_lines_of_prose_are_folded_at_blanks)
{
    CASES(bool wide; const char *begin, *hang) = {
        { false, "", "" },
        { false, "failures          ", "                  " },
        { false, "  restart         ", "                  " },
        { true, "failures          ", NULL },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct report, r, report_free) = { .format = TABLE_AS_TEXT, .out = { .wide = cases[i].wide } };
        struct text want = { 0 };
        size_t width = strlen(cases[i].begin);
        report_line(&r, "before\n%s", cases[i].begin);
        text_printf(&want, "before\n%s", cases[i].begin);
        for (int k = 0; k < 30; k++) {
            bool fits = width + 6 + (k > 0) <= 120 || !cases[i].hang;
            report_line(&r, "%sword%02d", k ? " " : "", k);
            if (!fits)
                text_printf(&want, "\n%s", cases[i].hang);
            width = fits ? width : strlen(cases[i].hang);
            text_printf(&want, "%sword%02d", k && fits ? " " : "", k);
            width += 6 + (size_t)(k && fits);
        }
        report_line(&r, "\nafter\n");
        text_puts(&want, "\nafter\n");
        assert_string_equal(text_str(&r.out), text_str(&want));
        text_free(&want);
    }
}
