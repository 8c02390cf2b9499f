#include "base/text.h"
#include "tests/unit/trace_sample.h"

/* Of tests/traces/canonical.csv. */
TEST(fields_are_taken_as_they_stand)
{
    const struct trace_settings keep = { .keep_idle = true };
    KEEP(struct trace, t, trace_free);
    OK(trace_read(&t, N_TRACE_FORMATS - 1, "tests/traces/canonical.csv", &keep, e));
    assert_true(t.n == 4 && t.origin_s == 0);
    assert_string_equal(t.jobs[0].model, "ResNet-50, wide");
    assert_true(t.jobs[0].grad_bytes == 102228128 && t.jobs[0].ps == 0 && t.jobs[0].priority == 1);
    assert_string_equal(t.jobs[1].id, "b\"1");
    assert_true(isnan(t.jobs[1].runtime_s) && t.jobs[1].iters == -1 && t.jobs[1].batch == -1);
    assert_string_equal(t.jobs[2].id, "#c");
    assert_int_equal(t.jobs[2].synthetic, 1u << TRACE_MODEL | 1u << TRACE_ITERS | 1u << TRACE_GRAD);
    assert_true(t.jobs[2].priority == 0.3333333333333333);
    assert_string_equal(t.jobs[3].id, "nan");
    assert_string_equal(t.jobs[3].model, "NA");
    assert_int_equal(t.jobs[3].status, TRACE_RUNNING);
    assert_true(t.jobs[3].runtime_s == 1e-9 && t.jobs[3].priority == -2);
    trace_free(&t);
    OK(trace_read(&t, N_TRACE_FORMATS - 1, "tests/traces/canonical.csv", &strict, e));
    assert_true(t.n == 3 && t.n_no_gpu == 1);
}

TEST(times_stay_and_rows_are_sorted)
{
    TRACE_TEXT(t, "csv", "submit_s,job_id,gpus\n70,a,1\n-5,b,2\n", &strict);
    assert_string_equal(t.jobs[0].id, "b");
    assert_true(t.jobs[0].submit_s == -5 && t.jobs[1].submit_s == 70 && t.jobs[0].index == 1);
}

TEST(a_column_that_is_not_known_is_noted)
{
    TRACE_TEXT(t, "csv", "# x\n\njob_id,submit_s,gpus,runtime,color\na,1,1,5,red\n", &strict);
    assert_true(isnan(t.jobs[0].runtime_s));
    assert_has(text_str(&t.notes),
               "jobs:3: column \"runtime\" is not known and left out; did you mean runtime_s?\n");
    assert_has(text_str(&t.notes), "jobs:3: column \"color\" is not known and left out\n");
}

#define HEAD                                                                                                 \
    "job_id,submit_s,gpus,runtime_s,status,model,iters,grad_bytes,batch,ps,workers,priority,synthetic\n"
#define AFTER(fields) HEAD "a,0,1," fields "\n"

TEST(what_is_no_row_is_refused)
{
    static const struct bad_text cases[] = {
        { "", ERR_PARSE, "jobs:1: file is empty, expected a line of column names" },
        { "# only a comment\n", ERR_PARSE, "jobs:1: file is empty" },
        { "job_id,submit,gpus\n", ERR_PARSE, "jobs:1: has no column submit_s; did you mean submit?" },
        { HEAD ",0,1,,,,,,,,,,\n", ERR_PARSE, "jobs:2: job_id has 0 bytes" },
        { HEAD "a\tb,0,1,,,,,,,,,,\n", ERR_PARSE,
          "jobs:2: job_id is \"a?b\", expected text without control characters" },
        { HEAD "a,,1,,,,,,,,,,\n", ERR_PARSE, "jobs:2: submit_s is \"\", expected a number" },
        { HEAD "a,1e12,1,,,,,,,,,,\n", ERR_RANGE, "jobs:2: submit_s is \"1e12\"" },
        { AFTER("-1,,,,,,,,,"), ERR_RANGE, "jobs:2: runtime_s is \"-1\", expected a number from 0" },
        { AFTER("inf,,,,,,,,,"), ERR_PARSE, "jobs:2: runtime_s is \"inf\"" },
        { AFTER(",passed,,,,,,,,"), ERR_PARSE, "jobs:2: status is \"passed\", expected pass, failed" },
        { AFTER(",,,1.5,,,,,,"), ERR_PARSE, "jobs:2: iters is \"1.5\", expected a whole number" },
        { AFTER(",,,,0,,,,,"), ERR_RANGE, "jobs:2: grad_bytes is \"0\", expected more than 0" },
        { AFTER(",,,,,0,,,,"), ERR_RANGE, "jobs:2: batch is \"0\", expected at least 1" },
        { AFTER(",,,,,,-1,,,"), ERR_RANGE, "jobs:2: ps is \"-1\"" },
        { AFTER(",,,,,,,,high,"), ERR_PARSE, "jobs:2: priority is \"high\"" },
        { AFTER(",,,,,,,,,gpu"), ERR_PARSE,
          "jobs:2: synthetic is \"gpu\", expected names of columns with ; between" },
        { AFTER(",,,,,,,,,\n# a comment below the header"), ERR_PARSE, "jobs:3: has 1 field, expected 13" },
    };
    assert_refused("csv", cases, COUNT_OF(cases));
}

/* 64 columns and names of 255 bytes are taken, one more is not. */
TEST(rows_and_names_have_limits)
{
    for (int over = 0; over < 3; over++) {
        KEEP(struct text, text, text_free) = { 0 };
        struct trace t = { 0 };
        text_puts(&text, "job_id,submit_s,gpus");
        for (int i = 0; i < (over == 1 ? 62 : 61); i++)
            text_puts(&text, ",x");
        text_printf(&text, "\n%0*d,0,1", over == 2 ? 256 : 255, 7);
        for (int i = 0; i < (over == 1 ? 62 : 61); i++)
            text_puts(&text, ",");
        text_puts(&text, "\n");
        int rc = read_text(&t, "csv", text_str(&text), &strict, e);
        if (over)
            assert_fails(rc, e, ERR_PARSE,
                         over == 1 ? "jobs:1: has more than 64 fields, expected at most 64"
                                   : "jobs:2: job_id has 256 bytes, expected 1 to 255");
        else
            assert_ok(rc, e);
        trace_free(&t);
    }
}
