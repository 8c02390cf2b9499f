#include "tests/unit/trace_sample.h"

/* Of tests/traces/openb.csv; pod-7 comes first, at 50. Shares of .46, .32 and .22 add up to one GPU, but take
 * three. */
TEST(pods_are_those_of_the_sample)
{
    static const struct want_job want[] = {
        { "pod-7", 0, 4, 5, TRACE_FAILED },      { "pod-1", 50, 1, 12390, TRACE_RUNNING },
        { "pod-2", 150, 1, 600, TRACE_PASSED },  { "pod-3", 250, 8, 900, TRACE_PASSED },
        { "pod-5", 270, 1, NAN, TRACE_WAITING }, { "pod-6", 280, 1, 99, TRACE_FAILED },
    };
    TRACE_SAMPLE(t, "openb", "openb.csv");
    assert_jobs(&t, want, COUNT_OF(want));
    assert_true(t.origin_s == 50 && t.n_no_gpu == 1);
    assert_has(text_str(&t.notes), "3 jobs ask for parts of GPUs, rounded up: 1 asked for, 3 given");
}

#define HEAD "name,num_gpu,gpu_milli,pod_phase,creation_time,deletion_time,scheduled_time\n"

TEST(what_is_no_pod_is_refused)
{
    static const struct bad_text cases[] = {
        { "name,num_gpu\n", ERR_PARSE, "jobs:1: has no column gpu_milli" },
        { HEAD "a,1,1001,Running,0,1,0\n", ERR_RANGE,
          "jobs:2: gpu_milli is \"1001\", expected a whole number from 0 to 1000" },
        { HEAD "a,1,500,Running,,1,0\n", ERR_PARSE, "jobs:2: creation_time is \"\", expected a date" },
        { HEAD "a,1,500,Running,0,1,2\n", ERR_RANGE,
          "jobs:2: scheduled_time is \"2\" and deletion_time is \"1\"; the end must come after the start" },
    };
    assert_refused("openb", cases, COUNT_OF(cases));
}
