#include "tests/unit/trace_sample.h"

/* Of tests/traces/pai. job-a: 4 workers of a GPU, 2 ps of none, from 990 to 5010. job-c: 2 of 25 % and one of
 * 50 % make one GPU. job-g: 3 of 33.3 % too. Waiting job-f and job-h do not say how many instances they have.
 * job-e has no GPU, job-z no task. */
TEST(tasks_and_jobs_of_a_folder_go_together)
{
    static const struct want_job want[] = {
        { "job-g", 0, 1, 100, TRACE_PASSED },     { "job-a", 450, 4, 4020, TRACE_PASSED },
        { "job-b", 740, 1, 300, TRACE_PASSED },   { "job-c", 1450, 1, 600, TRACE_FAILED },
        { "job-d", 2540, 1, NAN, TRACE_RUNNING }, { "job-f", 3050, -1, NAN, TRACE_WAITING },
        { "job-h", 3540, -1, 1, TRACE_FAILED },
    };
    TRACE_SAMPLE(t, "pai", "pai");
    assert_jobs(&t, want, COUNT_OF(want));
    assert_true(t.origin_s == 450 && t.n_records == 8 && t.n_no_gpu == 1);
    assert_string_equal(t.jobs[1].tenant, "g7"); /* job-a is i1 */
    assert_string_equal(t.jobs[3].tenant, "g8");
    assert_null(t.jobs[2].tenant);
    assert_true(t.n_left_out == 1 && t.jobs[1].ps == 2 && t.jobs[1].workers == 4);
    assert_true(t.jobs[2].ps == -1 && t.jobs[2].workers == -1 && t.jobs[3].workers == 2);
    assert_true(t.jobs[1].index == 0 && t.jobs[0].index == 6);
    assert_has(text_str(&t.notes), "1 job asks for parts of GPUs, rounded up: 0.5 asked for, 1 given");
    assert_has(text_str(&t.notes), "2 jobs have a task with GPUs but no inst_num");
}

/* Then a job is submitted when its first task starts: job-a at 990, job-g at 500; job-f never. */
TEST(tasks_alone_are_jobs_too)
{
    static const struct want_job want[] = {
        { "job-g", 0, 1, 100, TRACE_PASSED },     { "job-a", 490, 4, 4020, TRACE_PASSED },
        { "job-b", 700, 1, 300, TRACE_PASSED },   { "job-c", 1500, 1, 600, TRACE_FAILED },
        { "job-d", 2500, 1, NAN, TRACE_RUNNING }, { "job-h", 3500, -1, 1, TRACE_FAILED },
    };
    TRACE_SAMPLE(t, "pai", "pai/pai_task_table.csv");
    assert_jobs(&t, want, COUNT_OF(want));
    assert_int_equal(t.n_left_out, 1);
    assert_has(text_str(&t.notes), "a job is taken as submitted when it starts");
    assert_has(text_str(&t.notes), "1 job has no time at all");
}

TEST(a_header_may_stand_in_the_table)
{
    TRACE_TEXT(t, "pai",
               "job_name,plan_gpu,task_name,inst_num,status,start_time,end_time\n"
               "a,200,worker,3,Terminated,10,20\n",
               &strict);
    assert_true(t.n == 1 && t.jobs[0].gpus == 6 && t.jobs[0].runtime_s == 10);
}

/* More jobs than the first table of names has room for; each of two tasks, far apart. */
TEST(tasks_find_their_job_among_many)
{
    enum { N = 5000 };
    KEEP(struct text, rows, text_free) = { 0 };
    for (int i = 0; i < N; i++)
        text_printf(&rows, "job-%d,worker,1.0,Terminated,%d.0,%d.0,1,1,100.0,T4\n", i, i, i + 10);
    for (int i = N; i-- > 0;)
        text_printf(&rows, "job-%d,ps,%d.0,Terminated,%d.0,%d.0,1,1,,T4\n", i, i % 7, i, i + 20);
    TRACE_TEXT(t, "pai", text_str(&rows), &strict);
    assert_int_equal(t.n, N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(t.jobs[i].index, i);
        assert_int_equal(t.jobs[i].gpus, 1);
        assert_int_equal(t.jobs[i].ps, i % 7);
        assert_true(t.jobs[i].runtime_s == 20);
    }
}

TEST(what_is_no_task_is_refused)
{
    static const struct bad_text cases[] = {
        { "", ERR_RANGE, "jobs:1: no job is left of 0 records" },
        { "a,worker,1.0\n", ERR_PARSE, "jobs:1: has 3 fields, expected 10" },
        { "a,worker,-1.0,Terminated,1,2,1,1,100,T4\n", ERR_RANGE, "jobs:1: inst_num is \"-1.0\"" },
        { "a,worker,1.5,Terminated,1,2,1,1,100,T4\n", ERR_PARSE, "jobs:1: inst_num is \"1.5\"" },
        { "a,worker,1.0,Terminated,1,2,1,1,-100,T4\n", ERR_RANGE, "jobs:1: plan_gpu is \"-100\"" },
        { "a,worker,1.0,Terminated,3,2,1,1,100,T4\n", ERR_RANGE, "the end must come after the start" },
        { "a,worker,1.0,Terminated,1e99,2,1,1,100,T4\n", ERR_PARSE, "start_time is \"1e99\"" },
        { ",worker,1.0,Terminated,1,2,1,1,100,T4\n", ERR_PARSE, "jobs:1: job_name has 0 bytes" },
    };
    assert_refused("pai", cases, COUNT_OF(cases));
}

TEST(bad_tasks_can_be_left_out)
{
    TRACE_TEXT(t, "pai",
               "a,worker,1.0,Terminated,1,2,1,1,100,T4\n"
               "b,worker,x,Terminated,1,2,1,1,100,T4\n"
               "a,ps,2.0,Terminated,1,3,1,1,,T4\n",
               &lenient);
    assert_true(t.n == 1 && t.n_records == 2 && t.n_skipped == 1);
    assert_int_equal(t.jobs[0].ps, 2);
}

TEST(a_folder_needs_the_table_of_tasks)
{
    struct trace t;
    FAILS(trace_read(&t, format_of("pai"), "tests/traces/google", &strict, e), ERR_PARSE,
          "tests/traces/google/pai_task_table.csv: no such file");
}
