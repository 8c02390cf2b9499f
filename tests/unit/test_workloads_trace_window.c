#include "tests/unit/trace_sample.h"

#include "workloads/traces/trace.h"

/* Jobs "0", "1", .. at the squares of their numbers, job i with i + 1 GPUs. */
static void make_trace(struct trace *t, int n)
{
    char id[16];
    *t = (struct trace){ .origin_s = 1000 };
    for (int i = 0; i < n; i++) {
        struct trace_job job = trace_job_unknown(i);
        snprintf(id, sizeof id, "%d", i);
        job.id = strdup(id);
        job.submit_s = 5 + (double)i * i;
        job.gpus = i + 1;
        job.status = i % 3 == 0 ? TRACE_PASSED : i % 3 == 1 ? TRACE_KILLED : TRACE_STATUS_UNKNOWN;
        MUST(trace_add(t, &job, e));
    }
}

/* A trace that is released where the block ends. */
#define TRACE_OF(v, ...)                                                                                     \
    KEEP(struct trace, v, trace_free);                                                                       \
    make_trace(&v, __VA_ARGS__)

/* Jobs 3 to 6 of the list come at 9, 16, 25, 36 after its first: 0, 7/27, 16/27 and 1 of the horizon. */
TEST(a_window_is_mapped_onto_its_horizon)
{
    WITH(struct trace_window, w, trace_window_default(), w.n = 4, w.start = 3, w.horizon_s = 270);
    TRACE_OF(t, 10);
    OK(trace_cut(&t, &w, e));
    assert_true(t.n == 4 && t.jobs[0].submit_s == 0 && t.jobs[3].submit_s == 270);
    assert_close(t.jobs[1].submit_s, 70, 1e-12);
    assert_close(t.jobs[2].submit_s, 160, 1e-12);
    assert_string_equal(t.jobs[0].id, "3");
    assert_true(t.jobs[3].index == 6 && t.origin_s == 1014);
    assert_has(text_str(&t.notes), "jobs 4 to 7 of 10 that fit are kept\n");
}

TEST(a_rate_draws_jobs_together)
{
    WITH(struct trace_window, w, trace_window_default(), w.rate = 4);
    TRACE_OF(t, 4);
    OK(trace_cut(&t, &w, e));
    for (int i = 0; i < 4; i++)
        assert_true(t.jobs[i].submit_s == i * i / 4.0);
    assert_string_equal(text_str(&t.notes), "");
}

TEST(jobs_that_come_at_once_stay_at_0)
{
    struct trace_window w = trace_window_default();
    TRACE_OF(t, 3);
    for (int i = 0; i < 3; i++)
        t.jobs[i].submit_s = 7;
    w.horizon_s = 100;
    OK(trace_cut(&t, &w, e));
    for (int i = 0; i < 3; i++)
        assert_true(t.jobs[i].submit_s == 0);
}

/* Of 12 jobs: 4 of unknown status go; of the other 8 those with 1, 2, 4, 5, 7, 8, 10, 11 GPUs three are too
 * large. */
TEST(what_does_not_fit_is_left_out_first)
{
    static const char *const want[] = { "0", "1", "3", "4", "6" };
    WITH(struct trace_window, w, trace_window_default(),
         w.statuses = 1u << (TRACE_PASSED + 1) | 1u << (TRACE_KILLED + 1), w.max_gpus = 7, w.n = 5);
    TRACE_OF(t, 12);
    OK(trace_cut(&t, &w, e));
    assert_int_equal(t.n, 5);
    for (int i = 0; i < 5; i++)
        assert_string_equal(t.jobs[i].id, want[i]);
    assert_has(text_str(&t.notes), "4 jobs are left out: of another status than asked for\n");
    assert_has(text_str(&t.notes), "3 jobs are left out: more GPUs than allowed\n");
}

/* Of 10 jobs, windows of 3 can begin at 8 places: 400 seeds find every one of them, and none more than 100
 * times (that would be 7 standard deviations above 50). */
TEST(the_seed_finds_every_window)
{
    int counts[8] = { 0 };
    for (uint64_t seed = 1; seed <= 400; seed++) {
        WITH(struct trace_window, w, trace_window_default(), w.n = 3, w.seed = seed);
        int64_t first[2];
        for (int again = 0; again < 2; again++) {
            TRACE_OF(t, 10);
            OK(trace_cut(&t, &w, e));
            assert_int_equal(t.n, 3);
            first[again] = t.jobs[0].index;
            assert_int_equal(t.jobs[2].index, first[0] + 2);
        }
        assert_int_equal(first[0], first[1]);
        assert_in_range(first[0], 0, 7);
        counts[first[0]]++;
    }
    for (int i = 0; i < 8; i++)
        assert_in_range(counts[i], 1, 100);
}

/* Killed at once: 0 s. Not known is not 0. */
TEST(jobs_without_work_are_left_out_where_that_is_asked_for)
{
    struct trace_window w = trace_window_default();
    for (int asked = 0; asked < 2; asked++) {
        KEEP(struct trace, t, trace_free);
        make_trace(&t, 5);
        t.jobs[1].runtime_s = 0;
        t.jobs[2].iters = 0;
        t.jobs[3].runtime_s = 1e-9;
        w.with_work = asked;
        OK(trace_cut(&t, &w, e));
        assert_int_equal(t.n, asked ? 3 : 5);
        assert_string_equal(t.jobs[1].id, asked ? "3" : "1");
        assert_string_equal(text_str(&t.notes),
                            asked ? "2 jobs are left out: no run time or no iterations\n" : "");
    }
}

TEST(a_window_beyond_the_jobs_is_refused)
{
    CASES(int64_t n, start; int32_t max_gpus; const char *message) = {
        { 11, -1, 0, "window is 11 jobs from job 1 on, expected at most the 10 that fit" },
        { 2, 9, 0, "window is 2 jobs from job 10 on, expected at most the 10 that fit" },
        { 0, 10, 0, "window is 1 job from job 11 on" },
        { 4, -1, 3, "expected at most the 3 that fit" },
        { INT64_MAX, 1, 0, "expected at most the 10 that fit" },
        { 1, INT64_MAX, 0, "expected at most the 10 that fit" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct trace_window, w, trace_window_default(), w.n = cases[i].n, w.start = cases[i].start,
             w.max_gpus = cases[i].max_gpus);
        TRACE_OF(t, 10);
        FAILS(trace_cut(&t, &w, e), ERR_RANGE, cases[i].message);
    }
}

/* Gaps of a Poisson process are exponential: of n = 20,000 at 2 a second, the mean is .5 (1 +- 4/sqrt(n)) and
 * the share of gaps above .5 is e^-1 +- 4 sqrt(.37 .63/n). */
TEST(arrivals_are_a_poisson_process)
{
    enum { N = 20000 };
    double last_s = 0;
    int n_long = 0;
    TRACE_DRAW(t, N, 2, 7);
    assert_int_equal(t.n, N);
    for (int i = 0; i < N; i++) {
        assert_true(t.jobs[i].submit_s >= last_s);
        n_long += t.jobs[i].submit_s - last_s > 0.5;
        last_s = t.jobs[i].submit_s;
        assert_int_equal(t.jobs[i].synthetic, 1u << TRACE_SUBMIT);
        assert_int_equal(t.jobs[i].gpus, -1);
        assert_int_equal(t.jobs[i].index, i);
    }
    assert_near(last_s / N, 0.5, 0.5 * 4 / sqrt(N));
    assert_near((double)n_long / N, exp(-1), 4 * sqrt(0.37 * 0.63 / N));
    assert_string_equal(t.jobs[N - 1].id, "19999");
}

/* More jobs of one seed begin as fewer do. */
TEST(arrivals_depend_on_the_seed_alone)
{
    TRACE_DRAW(few, 10, 1, 3);
    TRACE_DRAW(many, 100, 1, 3);
    TRACE_DRAW(other, 10, 1, 4);
    for (int i = 0; i < 10; i++) {
        assert_true(few.jobs[i].submit_s == many.jobs[i].submit_s);
        assert_true(few.jobs[i].submit_s != other.jobs[i].submit_s);
    }
    trace_free(&few);
    FAILS(trace_draw_arrivals(&few, 0, 1, 3, e), ERR_RANGE, "arrivals: 0 jobs at 1 /s, expected 1 or more");
    FAILS(trace_draw_arrivals(&few, 1, NAN, 3, e), ERR_RANGE, "expected 1 or more at a rate above 0");
}
