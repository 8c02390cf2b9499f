#include "tests/unit/trace_sample.h"

/* Of tests/traces/philly.json. Job 2 comes first, at 00:30:00. Job 1 runs 90 s and 86,410 s on 4 GPUs, job 5
 * 1 s on one and 10 s on two; job 8 comes 85 days and 23:29:59 after job 2. */
TEST(jobs_are_those_of_the_sample)
{
    static const struct want_job want[] = {
        { "application_1_0002", 0, -1, NAN, TRACE_KILLED },
        { "application_1_0003", 1799, 1, NAN, TRACE_FAILED },
        { "application_1_0001", 1800, 4, 86500, TRACE_PASSED },
        { "application_1_0004", 1801, 8, NAN, TRACE_PASSED },
        { "application_1_0005", 5400, 2, 11, TRACE_FAILED },
        { "application_1_0007", 5400, -1, 600, TRACE_PASSED },
        { "application_1_0008", 85 * 86400.0 + 84599, 1, 0, TRACE_STATUS_UNKNOWN },
    };
    TRACE_SAMPLE(t, "philly", "philly.json");
    assert_jobs(&t, want, COUNT_OF(want));
    assert_true(t.n_records == 8 && t.n_no_gpu == 1);
    assert_string_equal(t.jobs[2].tenant, "aa01");
    /* date -u -d '2017-10-07 00:30' +%s */
    assert_true(t.origin_s == 1507336200);
    assert_has(text_str(&t.notes), "2 jobs with an attempt that has no start or end");
    assert_has(text_str(&t.notes), "1 job with attempts on different numbers of GPUs");
    assert_has(text_str(&t.notes), "1 job with a status that is not Pass, Killed or Failed");
}

TEST(jobs_without_gpu_are_kept_where_asked_for)
{
    const struct trace_settings keep = { .keep_idle = true };
    KEEP(struct trace, t, trace_free);
    OK(trace_read(&t, format_of("philly"), "tests/traces/philly.json", &keep, e));
    assert_true(t.n == 8 && t.n_no_gpu == 0);
    assert_string_equal(t.jobs[5].id, "application_1_0006");
    assert_int_equal(t.jobs[5].gpus, 0);
}

#define JOB(id, submitted, attempts)                                                                         \
    "{\"jobid\": " id ", \"status\": \"Pass\", \"submitted_time\": " submitted ", \"attempts\": " attempts "}"
#define NOON "\"2017-10-07 12:00:00\""

TEST(what_is_no_job_is_refused)
{
    static const struct bad_text cases[] = {
        { "[]", ERR_RANGE, "jobs:1: no job is left of 0 records" },
        { "[\n" JOB("7", NOON, "[]") "]", ERR_PARSE, "jobs:2: jobid is \"not text\", expected text or null" },
        { "[" JOB("null", NOON, "[]") "]", ERR_PARSE, "jobid has 0 bytes, expected 1 to 255" },
        { "[" JOB("\"a\\nb\"", NOON, "[]") "]", ERR_PARSE, "expected text without control characters" },
        { "[" JOB("\"a\"", "\"None\"", "[]") "]", ERR_PARSE,
          "submitted_time is \"nothing\", expected a date" },
        { "[" JOB("\"a\"", "\"2017-13-07 12:00:00\"", "[]") "]", ERR_PARSE,
          "submitted_time is \"2017-13-07 12:00:00\", expected a date" },
        { "[" JOB("\"a\"", NOON, "null") "]", ERR_PARSE, "attempts is \"no list\", expected a list" },
        { "[" JOB("\"a\"", NOON, "[{\"detail\": 1}]") "]", ERR_PARSE,
          "detail is \"no list\", expected a list of machines" },
        { "[" JOB("\"a\"", NOON, "[{\"detail\": [{\"ip\": \"m\"}]}]") "]", ERR_PARSE,
          "gpus is \"no list\", expected a list" },
        { "[" JOB("\"a\"", NOON, "[{\"start_time\": " NOON ", \"end_time\": \"2017-10-07 11:59:59\"}]") "]",
          ERR_RANGE, "end_time is \"2017-10-07 11:59:59\", expected a time after start_time" },
        { "[" JOB("\"a\"", NOON, "[]") ",\n{\"jobid\": ]", ERR_PARSE, "jobs:2: is not JSON" },
    };
    assert_refused("philly", cases, COUNT_OF(cases));
}

TEST(bad_objects_can_be_left_out_but_not_broken_json)
{
    static const char objects[] =
        "[" JOB("7", NOON, "[]") ", " JOB("\"b\"", NOON, "[]") ",\n" JOB("\"c\"", "null", "[]") "]";
    struct trace t;
    OK(read_text(&t, "philly", objects, &lenient, e));
    assert_int_equal(t.n, 1);
    assert_string_equal(t.jobs[0].id, "b");
    assert_true(t.jobs[0].index == 1 && t.n_skipped == 2);
    assert_has(text_str(&t.notes), "jobs:1: jobid is \"not text\", expected text or null; it is left out\n");
    assert_has(text_str(&t.notes), "jobs:2: submitted_time is \"nothing\"");
    trace_free(&t);
    FAILS(read_text(&t, "philly", "[" JOB("\"b\"", NOON, "[]") ", {,", &lenient, e), ERR_PARSE,
          "is not JSON");
    assert_null(t.jobs);
}
