/* Numbers and tables as people read them: each expected by eye. */
#include "base/sheet.h"
#include "tests/support.h"

TEST(reals_have_their_digits_and_no_exponent)
{
    CASES(double x; int digits; const char *want) = {
        { 5926093, 7, "5,926,093" },
        { 53.912, 5, "53.912" },
        { 0.0912, 3, "0.0912" },
        { 0, 5, "0" },
        { -0.0, 5, "0" },
        { 1, 5, "1" },
        { 100, 5, "100" },
        { 999, 5, "999" },
        { 1000, 5, "1,000" },
        { -1000, 5, "-1,000" },
        { -999, 5, "-999" },
        { 123456, 3, "123,456" },
        { 1234567, 9, "1,234,567" },
        { 12.5, 5, "12.5" },
        { 12.30, 4, "12.3" },
        { 999.994, 5, "999.99" },
        { 999.996, 5, "1,000" }, /* rounding gives another digit before the point */
        { 0.99999, 3, "1" },
        { 1e15, 5, "1e+15" },
        { 9.99e14, 3, "999,000,000,000,000" },
        { 1e-9, 5, "0.000000001" },
        { 9.9e-10, 5, "9.9e-10" },
        { -2e-10, 5, "-2e-10" },
        { INFINITY, 5, "-" },
        { NAN, 5, "-" },
    };
    char buf[SHOW];
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(show_real(buf, cases[i].x, cases[i].digits), cases[i].want);
}

TEST(dollars_counts_and_times_have_their_own_form)
{
    CASES(double x; const char *usd, *time) = {
        { 0, "0", "0 s" },
        { 1, "1", "1 s" },
        { 0.5, "0.5", "500 ms" },
        { 1.23454, "1.2345", "1.2345 s" },
        { 1e-3, "0.001", "1 ms" },
        { 0.32145, "0.32145", "321.45 ms" },
        { 1e-6, "0.000001", "1 us" },
        { 1.23e-5, "0.0000123", "12.3 us" },
        { 9.99e-7, "0.000000999", "999 ns" },
        { 999.99, "999.99", "999.99 s" },
        { 1000.4, "1,000", "1,000.4 s" },
        { 1234567.5, "1,234,568", "1,234,568 s" },
        { -1500.25, "-1,500", "-1,500.2 s" },
        { -0.002, "-0.002", "-2 ms" },
        { NAN, "-", "-" },
    };
    char buf[SHOW];
    double per_s;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_string_equal(show_usd(buf, cases[i].x), cases[i].usd);
        assert_string_equal(show_time(buf, cases[i].x), cases[i].time);
    }
    assert_string_equal(show_count(buf, 0), "0");
    assert_string_equal(show_count(buf, 999), "999");
    assert_string_equal(show_count(buf, 123456), "123,456");
    assert_string_equal(show_count(buf, INT64_C(1234567890123)), "1,234,567,890,123");
    assert_string_equal(show_count(buf, -1), "-");
    assert_string_equal(show_time_unit(5e-9, &per_s), "ns");
    assert_true(per_s == 1e9);
    assert_string_equal(show_time_unit(0, &per_s), "s");
    assert_true(per_s == 1);
}

/* Points under points, units under titles, both to the right over numbers; what has no value is left out; no
 * blank ends a line, and an umlaut is one character. */
TEST(columns_are_as_wide_as_what_they_hold)
{
    KEEP(struct sheet, s, sheet_free) = { 0 };
    KEEP(struct text, t, text_free) = { 0 };
    sheet_column(&s, "name", "", SHEET_LEFT);
    sheet_column(&s, "time", "ms", SHEET_POINT);
    sheet_column(&s, "none", "kg", SHEET_LEFT);
    sheet_column(&s, "n", "packets", SHEET_POINT);
    sheet_column(&s, "why", "", SHEET_LEFT);
    sheet_put(&s, "%s", "r\xc3\xb6hre");
    sheet_real(&s, 1234.5, 5);
    sheet_put(&s, "-");
    sheet_count(&s, 12);
    sheet_put(&s, "because");
    sheet_put(&s, "%s", "");
    sheet_put(&s, "20 +- 7.2");
    sheet_put(&s, "%s", "");
    sheet_usd(&s, 3.25);
    sheet_put(&s, "%s", "");
    sheet_put(&s, "b");
    sheet_put(&s, "-");
    sheet_put(&s, "-");
    sheet_count(&s, -1);
    sheet_put(&s, "-");
    OK(sheet_write(&s, &t, e));
    assert_string_equal(text_str(&t), "name           time        n  why\n"
                                      "                 ms  packets\n"
                                      "r\xc3\xb6hre  1,234.5         12     because\n"
                                      "          20 +- 7.2     3.25\n"
                                      "b          -            -     -\n");
}

TEST(long_cells_are_cut_and_marked)
{
    KEEP(struct sheet, s, sheet_free) = { 0 };
    KEEP(struct text, t, text_free) = { 0 };
    char full[512], more[513];
    memset(full, 'x', 511);
    memset(more, 'x', 512);
    full[511] = more[512] = '\0';
    sheet_column(&s, "", "", SHEET_LEFT);
    sheet_put(&s, "%s", full);
    sheet_put(&s, "%s", more);
    assert_string_equal(s.cells[0], full);
    assert_int_equal(strlen(s.cells[1]), 511);
    assert_memory_equal(s.cells[1], full, 508);
    assert_string_equal(s.cells[1] + 508, "...");
    OK(sheet_write(&s, &t, e)); /* no units: one line of heads */
    assert_int_equal(t.n, 1 + 512 + 512);
}

/* A sheet of `n` rows: a word, `numbers` numbers of 13 characters each, and a text. */
static void fill_wide(struct sheet *s, int rows, int numbers, const char *text)
{
    static const char *const titles[] = { "one", "two", "three", "four", "five", "six", "seven", "eight" };
    sheet_column(s, "row", "", SHEET_LEFT);
    for (int i = 0; i < numbers; i++)
        sheet_column(s, titles[i], "GB/s", SHEET_POINT);
    sheet_column(s, "why", "", SHEET_LEFT);
    for (int row = 0; row < rows; row++) {
        sheet_put(s, "r%d", row);
        for (int i = 0; i < numbers; i++)
            sheet_real(s, 1234567890 + i, 10);
        sheet_put(s, "%s", row ? "" : text);
    }
}

TEST(texts_are_folded_to_a_page)
{
    KEEP(struct sheet, s, sheet_free) = { 0 };
    KEEP(struct text, t, text_free) = { 0 };
    fill_wide(&s, 2, 5, "r\xc3\xb6hren and wires take part of a line, and then the next one");
    OK(sheet_write(&s, &t, e));
    assert_string_equal(
        text_str(&t), "row            one            two          three           four           five  why\n"
                      "              GB/s           GB/s           GB/s           GB/s           GB/s\n"
                      "r0   1,234,567,890  1,234,567,891  1,234,567,892  1,234,567,893  1,234,567,894  "
                      "r\xc3\xb6hren and wires take "
                      "part of a line,\n"
                      "                                                                                and "
                      "then the next one\n"
                      "r1   1,234,567,890  1,234,567,891  1,234,567,892  1,234,567,893  1,234,567,894\n");
}

TEST(columns_that_do_not_fit_go_on_below)
{
    KEEP(struct sheet, s, sheet_free) = { 0 };
    KEEP(struct text, t, text_free) = { 0 };
    fill_wide(&s, 1, 8, "none");
    OK(sheet_write(&s, &t, e));
    assert_string_equal(text_str(&t), "row            one            two          three           four       "
                                      "    five            six          seven\n"
                                      "              GB/s           GB/s           GB/s           GB/s       "
                                      "    GB/s           GB/s           GB/s\n"
                                      "r0   1,234,567,890  1,234,567,891  1,234,567,892  1,234,567,893  "
                                      "1,234,567,894  1,234,567,895  1,234,567,896\n"
                                      "\n"
                                      "row          eight  why\n"
                                      "              GB/s\n"
                                      "r0   1,234,567,897  none\n");
}

TEST(a_wide_text_takes_all_columns)
{
    KEEP(struct sheet, s, sheet_free) = { 0 };
    KEEP(struct text, t, text_free) = { .wide = true };
    fill_wide(&s, 1, 8, "none");
    OK(sheet_write(&s, &t, e));
    assert_non_null(strstr(text_str(&t), "          seven          eight  why\n"));
    assert_non_null(strstr(text_str(&t), "1,234,567,897  none\n"));
}

TEST(left_columns_and_long_words_stay_whole)
{
    KEEP(struct sheet, s, sheet_free) = { .n_left = 2 };
    KEEP(struct text, t, text_free) = { 0 };
    char word[111];
    memset(word, 'x', 110);
    word[110] = '\0';
    sheet_column(&s, "row", "", SHEET_LEFT);
    sheet_column(&s, "kind", "", SHEET_LEFT);
    sheet_column(&s, "a", "", SHEET_LEFT);
    sheet_column(&s, "b", "", SHEET_LEFT);
    sheet_put(&s, "1");
    sheet_put(&s, "new road");
    sheet_put(&s, "%s", word);
    sheet_put(&s, "%s y", word);
    OK(sheet_write(&s, &t, e));
    const char *block = strstr(text_str(&t), "\n\nrow  kind      b\n1    new road  xxx");
    assert_non_null(block);
    assert_non_null(strstr(block, "x\n               y\n"));
}

TEST(paths_are_shown_as_people_say_them)
{
    static const char *const cases[][2] = {
        { "network.dims.rail.taper", "taper of rail" },
        { "network.dims[0].size", "size of dims[0]" },
        { "workload.parallel.batch", "batch" },
        { "network.npu.mem_GB", "mem_GB of npu" },
        { "jobs.count", "count of jobs" },
        { "objective", "objective" },
        { "network.npu", "npu" },
        { "", "" },
        { "a.", " of a" },
        { ".a", "a" },
        { "workloads[1].workload.parallel.batch", "batch of workloads[1]" },
        { "network.workload", "workload" },
    };
    char buf[SHOW_VALUE], longest[2 * SHOW_VALUE];
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_string_equal(show_path(buf, cases[i][0], strlen(cases[i][0])), cases[i][1]);
    /* What stands in front of a unit alone. */
    assert_string_equal(show_path(buf, "network.dims.pod.bw_GBps", strlen("network.dims.pod.bw")),
                        "bw of pod");
    memset(longest, 'x', sizeof longest);
    assert_int_equal(strlen(show_path(buf, longest, sizeof longest)), SHOW_VALUE - 1);
}
