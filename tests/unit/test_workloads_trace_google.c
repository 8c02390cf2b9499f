#include "tests/unit/trace_sample.h"

/* Of the two parts in tests/traces/google: SUBMIT at 600, 601, 700 twice and 1000.000001 s; one before the
 * trace and one behind it have no time. */
TEST(arrivals_of_a_folder_come_in_one_order)
{
    static const struct want_job want[] = {
        { "3418314", 0, -1, NAN, TRACE_STATUS_UNKNOWN },
        { "3418319", 1, -1, NAN, TRACE_STATUS_UNKNOWN },
        { "3418320", 100, -1, NAN, TRACE_STATUS_UNKNOWN },
        { "3418321", 100, -1, NAN, TRACE_STATUS_UNKNOWN },
    };
    TRACE_SAMPLE(t, "google", "google");
    assert_int_equal(t.n, 5);
    assert_string_equal(t.jobs[4].id, "3418323");
    assert_near(t.jobs[4].submit_s, 400.000001, 1e-9);
    assert_true(t.origin_s == 600 && t.n_left_out == 2);
    assert_has(text_str(&t.notes), "2 jobs were submitted outside the time of the trace");
    assert_has(text_str(&t.notes), "1 submission was not recorded but filled in by the trace");
    trace_job_free(&t.jobs[--t.n]);
    assert_jobs(&t, want, COUNT_OF(want));
}

TEST(a_part_is_read_alone)
{
    TRACE_SAMPLE(t, "google", "google/part-00001-of-00500.csv");
    assert_true(t.n == 3 && t.jobs[1].submit_s == 0);
}

TEST(what_is_no_event_is_refused)
{
    static const struct bad_text cases[] = {
        { "1,,2,0,u,1,j\n", ERR_PARSE, "jobs:1: has 7 fields, expected 8" },
        { "1,,2,9,u,1,j,l\n", ERR_RANGE, "jobs:1: event type is \"9\", expected a whole number from 0 to 8" },
        { "1,,2,,u,1,j,l\n", ERR_PARSE, "jobs:1: event type is \"\", expected a whole number" },
        { "x,,2,0,u,1,j,l\n", ERR_PARSE, "jobs:1: time is \"x\", expected a whole number" },
        { "1,,2,0,u,1,j,l\n-1,,2,0,u,1,j,l\n", ERR_RANGE, "jobs:2: time is \"-1\"" },
        { "9223372036854775808,,2,0,u,1,j,l\n", ERR_RANGE, "jobs:1: time is \"9223372036854775808\"" },
        { "9223372036854775806,,2,0,u,1,j,l\n", ERR_RANGE,
          "jobs:1: time is \"9223372036854775806\", expected at most" },
        { "1,,,0,u,1,j,l\n", ERR_PARSE, "jobs:1: job ID has 0 bytes" },
        { "1,,2,4,u,1,j,l\n", ERR_RANGE, "jobs:1: no job is left of 1 records" },
    };
    assert_refused("google", cases, COUNT_OF(cases));
}

TEST(a_folder_needs_a_part)
{
    struct trace t;
    SCRATCH(dir);
    FAILS(trace_read(&t, format_of("google"), dir, &strict, e), ERR_PARSE,
          "folder has no file *.csv; give parts of job_events");
}
