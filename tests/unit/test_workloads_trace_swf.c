#include "tests/unit/trace_sample.h"

/* Of tests/traces/log.swf. Job 2 was cancelled before it had processors: those asked for. Job 4 has only
 * lines of its parts, job 5 no number at all, job 6 ran on none. */
TEST(jobs_are_those_of_the_sample)
{
    static const struct want_job want[] = {
        { "1", 0, 8, 3600, TRACE_PASSED },
        { "2", 60, 16, NAN, TRACE_KILLED },
        { "3", 120, 1, 0.5, TRACE_FAILED },
        { "5", 200, -1, 900, TRACE_STATUS_UNKNOWN },
    };
    TRACE_SAMPLE(t, "swf", "log.swf");
    assert_jobs(&t, want, COUNT_OF(want));
    assert_true(t.n_left_out == 2 && t.n_no_gpu == 1);
    assert_has(text_str(&t.notes), "processors of the trace are taken for GPUs");
}

#define ROW(id, submit, run, processors, status)                                                             \
    id " " submit " 0 " run " " processors " -1 -1 " processors " -1 -1 " status " 1 1 1 1 1 -1 -1\n"

TEST(what_is_no_line_is_refused)
{
    static const struct bad_text cases[] = {
        { "; only a comment\n", ERR_RANGE, "jobs:1: no job is left of 0 records" },
        { ";\n1 2 3\n", ERR_PARSE, "jobs:2: has 3 fields, expected 18" },
        { ROW("1", "-1", "5", "1", "1"), ERR_RANGE, "jobs:1: submit time is \"-1\"" },
        { ROW("1", "0", "-2", "1", "1"), ERR_RANGE, "jobs:1: run time is \"-2\"" },
        { ROW("1", "0", "5", "1.5", "1"), ERR_PARSE,
          "jobs:1: allocated processors is \"1.5\", expected a whole number" },
        { ROW("1", "0", "5", "2000000", "1"), ERR_RANGE, "allocated processors is \"2000000\"" },
        { ROW("1", "0", "5", "1", "6"), ERR_RANGE, "jobs:1: status is \"6\"" },
        { ROW("1", "x", "5", "1", "1"), ERR_PARSE, "jobs:1: submit time is \"x\"" },
    };
    assert_refused("swf", cases, COUNT_OF(cases));
}
