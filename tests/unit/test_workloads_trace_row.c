#include "tests/unit/trace_sample.h"

/* Rows are those of helios: every reader of rows goes the same way. */
#define HEAD      "state,job_id,gpu_num,submit_time,start_time,end_time\n"
#define GOOD(id)  "COMPLETED," id ",1,2020-01-01 00:00:00,2020-01-01 00:00:00,2020-01-01 00:00:01\n"
#define BAD(rest) HEAD GOOD("1") rest "\n"

TEST(what_is_no_row_is_refused)
{
    static const struct bad_text cases[] = {
        { "", ERR_PARSE, "jobs:1: file is empty, expected a line of column names" },
        { HEAD, ERR_RANGE, "jobs:1: no job is left of 0 records" },
        { "job_id,gpu_nums,state\n", ERR_PARSE, "jobs:1: has no column gpu_num; did you mean gpu_nums?" },
        { "a\n1\n", ERR_PARSE, "jobs:1: has no column job_id" },
        { "job_id,job_id,gpu_num\n", ERR_PARSE, "jobs:1: column job_id is there twice" },
        { BAD("COMPLETED,2"), ERR_PARSE, "jobs:3: has 2 fields, expected 6" },
        { BAD("COMPLETED,2,1,2020-01-01 00:00:00,,,7"), ERR_PARSE, "jobs:3: has 7 fields, expected 6" },
        { BAD("COMPLETED,2,-1,2020-01-01 00:00:00,,"), ERR_RANGE,
          "jobs:3: gpu_num is \"-1\", expected a whole number from 0 to 1000000" },
        { BAD("COMPLETED,2,1000001,2020-01-01 00:00:00,,"), ERR_RANGE, "jobs:3: gpu_num is \"1000001\"" },
        { BAD("COMPLETED,2,99999999999999999999,2020-01-01 00:00:00,,"), ERR_RANGE, "jobs:3: gpu_num is" },
        { BAD("COMPLETED,2,1.5,2020-01-01 00:00:00,,"), ERR_PARSE, "jobs:3: gpu_num is \"1.5\"" },
        { BAD("COMPLETED,2,eight,2020-01-01 00:00:00,,"), ERR_PARSE, "jobs:3: gpu_num is \"eight\"" },
        { BAD("COMPLETED,2,1,,,"), ERR_PARSE, "jobs:3: submit_time is \"\", expected a date" },
        { BAD("COMPLETED,2,1,yesterday,,"), ERR_PARSE,
          "jobs:3: submit_time is \"yesterday\", expected a date" },
        { BAD("COMPLETED,2,1,2020-01-01 00:00:00,2020-01-01 00:00:02,2020-01-01 00:00:01"), ERR_RANGE,
          "jobs:3: start_time is \"2020-01-01 00:00:02\" and end_time is \"2020-01-01 00:00:01\"; the end" },
        { BAD("COMPLETED,,1,2020-01-01 00:00:00,,"), ERR_PARSE,
          "jobs:3: job_id has 0 bytes, expected 1 to 255" },
        { BAD("COMPLETED,\"2,1,2020-01-01 00:00:00,,"), ERR_PARSE, "jobs:3: quote is not closed" },
        { BAD("COMPLETED,\"2\"x,1,2020-01-01 00:00:00,,"), ERR_PARSE, "jobs:3: text after a closing quote" },
    };
    assert_refused("helios", cases, COUNT_OF(cases));
}

/* Nine rows, of which seven are bad: five are told one by one. */
TEST(bad_rows_can_be_left_out)
{
    struct trace t;
    OK(read_text(&t, "helios", HEAD "a\nb\nc\n" GOOD("1") "d\ne\nf\ng\n" GOOD("2"), &lenient, e));
    assert_true(t.n == 2 && t.n_skipped == 7 && t.n_records == 9);
    assert_true(t.jobs[0].index == 3 && t.jobs[1].index == 8);
    assert_has(text_str(&t.notes), "jobs:7: has 1 field, expected 6; it is left out\n");
    assert_null(strstr(text_str(&t.notes), "jobs:8:"));
    trace_free(&t);
    /* A header that is wrong is no bad row. */
    FAILS(read_text(&t, "helios", "a,b\n" GOOD("1"), &lenient, e), ERR_PARSE, "has no column");
    FAILS(read_text(&t, "helios", HEAD "a\n", &lenient, e), ERR_RANGE,
          "jobs:1: no job is left of 1 records (1 bad, 0 without GPU, 0 left out)");
}

TEST(a_nul_and_a_line_without_end_are_bad_rows)
{
    static const char text[] = HEAD "x\0y\n" GOOD("1");
    enum { LONG = TRACE_MAX_LINE + 10 };
    KEEP(struct trace, t, trace_free);
    KEEP(char *, bytes, free_at) = malloc(LONG + sizeof text);
    assert_non_null(bytes);
    FAILS(read_bytes(&t, "helios", text, sizeof text - 1, &strict, e), ERR_PARSE,
          "jobs:2: has a NUL byte: not a text file");
    OK(read_bytes(&t, "helios", text, sizeof text - 1, &lenient, e));
    assert_true(t.n_skipped == 1 && t.jobs[0].index == 1);
    trace_free(&t);
    size_t n = sizeof HEAD - 1;
    memcpy(bytes, HEAD, n);
    memset(bytes + n, 'x', LONG);
    memcpy(bytes + n + LONG, "\n" GOOD("1"), sizeof("\n" GOOD("1")) - 1);
    n += LONG + sizeof("\n" GOOD("1")) - 1;
    FAILS(read_bytes(&t, "helios", bytes, n, &strict, e), ERR_PARSE,
          "jobs:2: line is longer than 1048576 bytes, the most allowed");
    OK(read_bytes(&t, "helios", bytes, n, &lenient, e));
    assert_int_equal(t.n, 1);
}

TEST(marks_line_ends_and_quotes_of_spreadsheets_are_read)
{
    TRACE_TEXT(t, "helios",
               "\xef\xbb\xbfstate,job_id,gpu_num,submit_time,start_time,end_time\r\n\r\n"
               "\"COMPLETED\",\"7 \"\"a\"\", b\", 1.0 ,\"2020-01-01 00:00:00\",NA,None\r\n",
               &strict);
    assert_int_equal(t.n, 1);
    assert_string_equal(t.jobs[0].id, "7 \"a\", b");
    assert_true(t.jobs[0].gpus == 1 && isnan(t.jobs[0].runtime_s));
}
