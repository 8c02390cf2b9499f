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
