#include "tests/unit/trace_sample.h"

/* Columns of the four widths: one row each, of 8 GPUs, 9000 steps, arriving at 50. */
TEST(every_width_of_gavel_gives_the_same_job)
{
    CASES(const char *row; double priority) = {
        { "LM\tcmd\t--steps\t9000\t50\t8\n", NAN },
        { "LM\tcmd\t--steps\t1\t9000\t50\t8\n", NAN },
        { "LM\tcmd\t--steps\t1\t9000\t8\t2.5\t-1.0\t50.0\n", 2.5 },
        { "LM\tcmd\tfolder\t--steps\t1\t9000\t8\t2.5\t-1.0\t50.0\n", 2.5 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TRACE_TEXT(t, "gavel", cases[i].row, &strict);
        assert_int_equal(t.n, 1);
        assert_string_equal(t.jobs[0].id, "0");
        assert_string_equal(t.jobs[0].model, "LM");
        assert_true(t.jobs[0].iters == 9000 && t.jobs[0].gpus == 8 && t.jobs[0].workers == 8);
        assert_true(t.jobs[0].batch == -1 && same_real(t.jobs[0].priority, cases[i].priority));
        assert_true(t.origin_s == 50);
    }
}

TEST(jobs_of_gavel_are_numbered_as_they_stand)
{
    static const struct want_job want[] = {
        { "1", 0, 1, NAN, TRACE_STATUS_UNKNOWN },
        { "2", 2, 1, NAN, TRACE_STATUS_UNKNOWN },
        { "0", 20.5, 2, NAN, TRACE_STATUS_UNKNOWN },
    };
    TRACE_SAMPLE(t, "gavel", "gavel.trace");
    assert_jobs(&t, want, COUNT_OF(want));
    assert_string_equal(t.jobs[0].model, "LM");
    assert_true(t.jobs[0].batch == 20 && t.jobs[1].batch == -1);
    assert_string_equal(t.jobs[2].model, "ResNet-18");
    assert_int_equal(t.jobs[2].batch, 64);
}

TEST(samples_of_all_widths_are_read)
{
    TRACE_SAMPLE(t, "gavel", "gavel6.trace");
    assert_true(t.n == 2 && t.jobs[1].submit_s == 3 && t.jobs[1].iters == 0);
    trace_free(&t);
    read_sample(&t, "gavel", "gavel7.trace");
    assert_true(t.origin_s == 156 && t.jobs[0].gpus == 4);
    trace_free(&t);
    read_sample(&t, "gavel", "gavel10.trace");
    assert_true(t.origin_s == 3600.25 && t.jobs[0].batch == 128);
}

TEST(what_is_no_row_of_gavel_is_refused)
{
    static const struct bad_text cases[] = {
        { "LM\tcmd\t--steps\t9000\t50\n", ERR_PARSE,
          "jobs:1: has 5 fields, expected 6, 7, 9 or 10, with tabs" },
        { "LM cmd --steps 9000 50 8\n", ERR_PARSE, "jobs:1: has 1 field, expected 6" },
        { "LM\tcmd\t--steps\tmany\t50\t8\n", ERR_PARSE, "jobs:1: total_steps is \"many\"" },
        { "LM\tcmd\t--steps\t9000\t50\t-8\n", ERR_RANGE, "jobs:1: scale_factor is \"-8\"" },
        { "LM\tcmd\t--steps\t9000\t\t8\n", ERR_PARSE, "jobs:1: arrival_time is \"\"" },
        { "LM (batch size 0)\tcmd\t--steps\t1\t5\t8\n", ERR_PARSE, "expected NAME or NAME (batch size N)" },
        { "LM (batch size )\tcmd\t--steps\t1\t5\t8\n", ERR_PARSE, "expected NAME or NAME (batch size N)" },
        { "LM (batch size 8\tcmd\t--steps\t1\t5\t8\n", ERR_PARSE, "expected NAME or NAME (batch size N)" },
        { "\tcmd\t--steps\t1\t5\t8\n", ERR_PARSE, "jobs:1: job_type has 0 bytes" },
    };
    assert_refused("gavel", cases, COUNT_OF(cases));
}

TEST(jobs_of_tiresias_are_those_of_the_sample)
{
    static const struct want_job want[] = {
        { "0", 0, 1, 160, TRACE_STATUS_UNKNOWN },
        { "1", 30, 8, 150, TRACE_STATUS_UNKNOWN },
        { "2", 50, 2, 1200.5, TRACE_STATUS_UNKNOWN },
        { "3", 80, 4, 180, TRACE_STATUS_UNKNOWN },
    };
    struct trace t;
    read_sample(&t, "tiresias", "tiresias.csv");
    assert_jobs(&t, want, COUNT_OF(want));
    assert_string_equal(t.jobs[2].model, "resnet50");
    assert_int_equal(t.jobs[3].iters, 5000);
    trace_free(&t);
    FAILS(read_text(&t, "tiresias", "job_id,num_gpu,submit_time,duration\n1,2,3,-4\n", &strict, e), ERR_RANGE,
          "jobs:2: duration is \"-4\", expected a number from 0 to 100000000000");
}

TEST(jobs_of_pollux_are_those_of_the_sample)
{
    static const struct want_job want[] = {
        { "cifar10-0", 0, 1, NAN, TRACE_STATUS_UNKNOWN },
        { "bert-3", 3, 4, NAN, TRACE_STATUS_UNKNOWN },
        { "imagenet-1", 1497, 8, NAN, TRACE_STATUS_UNKNOWN },
        { "ncf-2", 2213.5, 1, NAN, TRACE_STATUS_UNKNOWN },
    };
    struct trace t;
    read_sample(&t, "pollux", "pollux.csv");
    assert_jobs(&t, want, COUNT_OF(want));
    assert_string_equal(t.jobs[2].model, "imagenet");
    assert_true(t.jobs[2].batch == 1600 && t.jobs[2].workers == 8);
    trace_free(&t);
    FAILS(read_text(&t, "pollux", "name,time,application,num_replicas,batch_size\na,1,b,1,0\n", &strict, e),
          ERR_RANGE, "jobs:2: batch_size is \"0\", expected at least 1");
}
