#include "tests/unit/trace_sample.h"

#include "workloads/traces/trace.h"

/* By GNU date -u -d ... +%s. */
TEST(dates_are_seconds_since_1970)
{
    CASES(const char *text; double time_s) = {
        { "1970-01-01 00:00:00", 0 },
        { "1969-12-31 23:59:59", -1 },
        { "2000-02-29 12:00:00", 951825600 },
        { "2000-03-01 00:00:00", 951868800 },
        { "1900-03-01 00:00:00", -2203891200 },
        { "2100-03-01 00:00:00", 4107542400 },
        { "2017-10-07 01:12:09", 1507338729 },
        { "2017-10-07T01:12:09Z", 1507338729 },
        { "2017-10-07 01:12:09 UTC", 1507338729 },
        { "2023-03-01 00:18:22+08:00", 1677601102 },
        { "2023-03-01 00:18:22+0800", 1677601102 },
        { "2023-03-01 00:18:22+08", 1677601102 },
        { "2023-02-28 11:18:22-05:00", 1677601102 },
        { "2023-02-28 21:48:22+05:30", 1677601102 },
        { "2023-02-28 16:18:22.250", 1677601102.25 },
        { "2023-02-28 16:18:22.5+00:00", 1677601102.5 },
        { "2016-12-31 23:59:60", 1483228800 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double got = NAN;
        assert_true(trace_parse_time(cases[i].text, &got) && got == cases[i].time_s);
    }
}

/* Every day of 400 years follows the one before. */
TEST(days_follow_one_another)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    double want_s = -2208988800.0; /* 1900-01-01 */
    char text[48];
    for (int year = 1900; year < 2300; year++)
        for (int month = 1; month <= 12; month++) {
            bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            int n = days[month - 1] + (leap && month == 2);
            for (int day = 1; day <= n; day++, want_s += 86400) {
                double got;
                snprintf(text, sizeof text, "%04d-%02d-%02d 00:00:00", year, month, day);
                assert_true(trace_parse_time(text, &got) && got == want_s);
            }
            double got;
            snprintf(text, sizeof text, "%04d-%02d-%02d 00:00:00", year, month, n + 1);
            assert_false(trace_parse_time(text, &got));
        }
}

TEST(what_is_no_date_is_seen)
{
    static const char *const cases[] = {
        "",
        "2017",
        "2017-10-07",
        "2017-10-07 01:12",
        "2017-10-07 01:12:9",
        "2017/10/07 01:12:09",
        "17-10-07 01:12:09",
        "2017-00-07 01:12:09",
        "2017-10-00 01:12:09",
        "2017-10-07 24:00:00",
        "2017-10-07 00:60:00",
        "2017-10-07 00:00:61",
        "2017-10-07 00:00:00 PDT",
        "2017-10-07 00:00:00+8",
        "2017-10-07 00:00:00+08:0",
        "2017-10-07 00:00:00+16:00",
        "2017-10-07 00:00:00+08:60",
        "2017-10-07 00:00:00x",
        "1899-12-31 00:00:00",
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double got = 7;
        assert_true(!trace_parse_time(cases[i], &got) && got == 7);
    }
}

TEST(the_first_word_of_a_status_counts)
{
    static const struct trace_status_word words[] = { { "CANCELLED", TRACE_KILLED }, { "OK", TRACE_PASSED } };
    assert_int_equal(trace_find_status(words, 2, "CANCELLED by 1003"), TRACE_KILLED);
    assert_int_equal(trace_find_status(words, 2, "ok"), TRACE_PASSED);
    assert_int_equal(trace_find_status(words, 2, "OKAY"), TRACE_STATUS_UNKNOWN);
    assert_int_equal(trace_find_status(words, 2, ""), TRACE_STATUS_UNKNOWN);
}
