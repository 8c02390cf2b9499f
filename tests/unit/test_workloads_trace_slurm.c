#include "tests/unit/trace_sample.h"

/* Of tests/traces/helios.csv; job 506 comes first, at 17:59:50. Job 505 never began, 508 has not ended. */
TEST(jobs_of_helios_are_those_of_the_sample)
{
    static const struct want_job want[] = {
        { "506", 0, 2, 14 * 86400, TRACE_FAILED },
        { "501", 10, 1, 3600, TRACE_PASSED },
        { "503", 20, 8, 30, TRACE_FAILED },
        { "504", 30, 16, 86400, TRACE_KILLED },
        { "505", 30, 4, 0, TRACE_KILLED },
        { "507", 6 * 3600 + 10, 2, 1, TRACE_FAILED },
        { "508", 6 * 3600 + 10, 1, NAN, TRACE_RUNNING },
        { "510", 6 * 3600 + 70, 1, 30, TRACE_STATUS_UNKNOWN },
    };
    TRACE_SAMPLE(t, "helios", "helios.csv");
    assert_jobs(&t, want, COUNT_OF(want));
    assert_true(t.n_records == 10 && t.n_no_gpu == 2 && t.jobs[0].index == 5);
    assert_string_equal(t.jobs[1].tenant, "vc1");
    /* date -u -d '2020-06-09 17:59:50' +%s */
    assert_true(t.origin_s == 1591725590);
    assert_has(text_str(&t.notes), "1 job has a status that is not known, such as \"REQUEUED\"");
}

/* 16:30 of Greenwich is 00:30 of Shanghai: job 73 comes ten minutes after 72. */
TEST(times_of_acme_are_those_of_one_clock)
{
    static const struct want_job want[] = {
        { "71", 0, 8, 120, TRACE_FAILED },
        { "72", 600, 256, 86400, TRACE_PASSED },
        { "73", 1200, 1, 60, TRACE_PASSED },
        { "75", 1800, 16, 600, TRACE_KILLED },
    };
    TRACE_SAMPLE(t, "acme", "acme_seren.csv");
    assert_jobs(&t, want, COUNT_OF(want));
    /* date -u -d '2023-03-01 00:10+08:00' +%s */
    assert_true(t.origin_s == 1677600600);
    assert_string_equal(text_str(&t.notes), "");
}

/* In Kalos' table, duration counts from the submission. */
TEST(runtime_is_from_start_to_end_whatever_duration_says)
{
    static const struct want_job want[] = {
        { "dlc01", 0, 64, 20, TRACE_FAILED },
        { "dlc02", 1800, 64, 60, TRACE_KILLED },
        { "dlc03", 3600, 8, 3600, TRACE_PASSED },
    };
    TRACE_SAMPLE(t, "acme", "acme_kalos.csv");
    assert_jobs(&t, want, COUNT_OF(want));
    assert_has(text_str(&t.notes),
               "duration is not end_time - start_time in 2 rows, first in line 2; the times are taken");
}

/* Of tests/traces/sacct.txt: ten lines are jobs that ran, two of them without a GPU. Job 1002_3 comes first,
 * at 07:59; it has GPUs of two types and no sum, 1009 has what it asked for alone. */
TEST(jobs_of_sacct_are_those_that_ran)
{
    static const struct want_job want[] = {
        { "1002_3", 0, 3, 30, TRACE_FAILED },         { "1001", 60, 16, 3600, TRACE_PASSED },
        { "1005", 21 * 60, 4, 300, TRACE_KILLED },    { "1006", 31 * 60, 1, NAN, TRACE_RUNNING },
        { "1008+0", 61 * 60, 8, 3600, TRACE_FAILED }, { "1009", 71 * 60, 2, 600, TRACE_PASSED },
    };
    TRACE_SAMPLE(t, "sacct", "sacct.txt");
    assert_jobs(&t, want, COUNT_OF(want));
    assert_true(t.n_records == 14 && t.n_no_gpu == 2 && t.n_left_out == 6);
    assert_string_equal(t.jobs[1].tenant, "physics");
    /* date -u -d '2026-10-01 07:59' +%s */
    assert_true(t.origin_s == 1790841540);
    assert_has(text_str(&t.notes), "sacct.txt: 3 lines are steps of jobs and left out\n");
    assert_has(text_str(&t.notes), "sacct.txt: 3 jobs never started and are left out\n");
    assert_has(text_str(&t.notes), "sacct.txt: 1 job has slices of GPUs, each counted as a GPU\n");
    assert_has(text_str(&t.notes), "sacct.txt: 1 part of a heterogeneous job is a job of its own here\n");
}

#define SACCT     "JobID|State|Submit|Start|End|AllocTRES\n"
#define RAN(tres) SACCT "7|COMPLETED|2026-10-01T08:00:00|2026-10-01T08:00:00|2026-10-01T08:01:00|" tres "\n"

TEST(what_sacct_does_not_print_is_refused_with_its_line)
{
    static const struct bad_text cases[] = {
        { "JobID|State|Submit|Start|End\n", ERR_PARSE, "jobs:1: has no column AllocTRES, TRES or ReqTRES" },
        { "JobID           State\n", ERR_PARSE,
          "jobs:1: has no column JobID; print it with sacct --parsable2 -o JobID,State,Submit,Start,End" },
        { RAN("gres/gpu=1.5"), ERR_PARSE,
          "jobs:2: AllocTRES is \"gres/gpu=1.5\", expected GPUs as gres/gpu=N" },
        { RAN("cpu=1,gres/gpu=-1"), ERR_PARSE, "jobs:2: AllocTRES is" },
        { RAN("gres/gpu"), ERR_RANGE, "jobs:1: no job is left of 1 records (0 bad, 1 without GPU" },
        { RAN("gres/gpu="), ERR_PARSE, "jobs:2: AllocTRES is" },
        { RAN("gres/gpu:h100"), ERR_PARSE, "jobs:2: AllocTRES is" },
        { RAN("gres/gpu=111111111111111111111111111111"), ERR_PARSE, "jobs:2: AllocTRES is" },
        { RAN("gres/gpu:a=999999,gres/gpu:b=999999"), ERR_RANGE, "expected at most 1000000 GPUs" },
        { RAN("gres/gpu=1|odd"), ERR_PARSE, "jobs:2: has 7 fields, expected 6" },
        { SACCT "7|COMPLETED|Unknown|2026-10-01T08:00:00|2026-10-01T08:01:00|gres/gpu=1\n", ERR_PARSE,
          "jobs:2: Submit is \"Unknown\", expected a date" },
        { SACCT "7|COMPLETED|2026-10-01T08:00:00|2026-10-01T08:02:00|2026-10-01T08:01:00|gres/gpu=1\n",
          ERR_RANGE, "jobs:2: Start is \"2026-10-01T08:02:00\" and End is" },
    };
    assert_refused("sacct", cases, COUNT_OF(cases));
}
