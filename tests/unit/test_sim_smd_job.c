#include "sim/interval/interval.h"
#include "tests/support.h"
#include "tests/unit/smd_random.h"

static struct smd_job small_job(bool sync)
{
    return (struct smd_job){
        .iterations = 100,
        .batch = 1000,
        .mini_batch = 10,
        .model_B = 1e8,
        .ps_Bps = 1e9,
        .forward_s = 0.01,
        .backward_s = 0.2,
        .shares = { 1, 0.5, 0.25 },
        .per_worker_s = 0.1,
        .per_ps_s = 0.02,
        .meet_frac = 0.5,
        .sync = sync,
        .worker = { 2, 1 },
        .ps = { 1, 0 },
        .limit = { 20, 5 },
        .utility = { 80, 0.01, 1000 },
    };
}

/* 250 samples of 10 ms, 0.1 s, 0.5 GB over 250 MB/s a quarter shown twice, 0.44 s; asynchronous: 10 samples,
 * half of the workers at a server. */
TEST(four_workers_and_two_servers_run_as_fast_as_by_hand)
{
    const struct smd_job sync = small_job(true), async = small_job(false);
    const struct smd_cost sync_cost = smd_find_cost(&sync), async_cost = smd_find_cost(&async);
    assert_close(smd_jct_s(&sync_cost, 4, 2), sync.iterations * 3.14, 1e-14);
    assert_close(smd_jct_s(&async_cost, 4, 2), async.iterations * 0.69 / 4, 1e-14);
}

TEST(the_sum_of_ratios_is_iterations_over_speed)
{
    RNG(rng, 1, 0);
    for (int i = 0; i < 2000; i++) {
        struct smd_job job = smd_random_job(rng, i % 2 == 0, 40);
        const struct smd_cost cost = smd_find_cost(&job);
        double w = rng_log_range(rng, 1, 1000), p = rng_log_range(rng, 1, 1000);
        double want_s = smd_written_jct_s(&job, w, p);
        assert_close(smd_jct_s(&cost, w, p), want_s, 1e-12);
    }
}

TEST(worth_is_half_when_due_and_never_rises)
{
    const struct smd_utility u = { 80, 0.01, 1000 };
    double last = INFINITY;
    assert_close(smd_worth(&u, 1000), 40, 1e-15);
    assert_close(smd_worth(&u, 900), 80 / (1 + exp(-1)), 1e-14);
    for (double t = 0; t < 1e6; t = t * 1.1 + 1) {
        assert_true(smd_worth(&u, t) <= last);
        last = smd_worth(&u, t);
    }
    assert_true(smd_worth(&u, 1e9) == 0);
}

TEST(limits_hold_but_for_rounding)
{
    struct smd_job job = small_job(true);
    assert_true(smd_fits(&job, 2, 5, 10));
    assert_false(smd_fits(&job, 2, 5, 11));
    assert_false(smd_fits(&job, 2, 6, 1));
    assert_false(smd_fits(&job, 2, NAN, 1));
    assert_close(smd_most_workers(&job, 2, 12), 4, 1e-8);
    assert_close(smd_most_workers(&job, 2, 1), 5, 1e-8);
    assert_close(smd_most_servers(&job, 2, 5), 10, 1e-8);
    job.worker[0] = 0.1;
    job.ps[0] = 0.1;
    job.limit[0] = 0.3; /* 0.1 * 3 is above 0.3 in doubles */
    assert_true(smd_fits(&job, 2, 1, 2));
    assert_true(floor(smd_most_servers(&job, 2, 1)) == 2);
}

TEST(layers_become_sums_or_means)
{
    const double b[] = { 3, 2, 1, 4 }, f[] = { 2, 2, 2, 6 }, r[] = { 2, 3, 1, 2 };
    const struct overlap_layers layers = { b, f, r, 4 };
    struct smd_job job = small_job(true);
    smd_set_layers(&job, &layers, OVERLAP_SEQUENTIAL, SMD_LAYERS_SUM);
    assert_true(job.forward_s == 12 && job.backward_s == 10 && job.shares.comm == 1);
    smd_set_layers(&job, &layers, OVERLAP_WAIT_FREE, SMD_LAYERS_MEAN);
    assert_true(job.forward_s == 3 && job.backward_s == 2.5);
    assert_close(job.shares.backward, 0.4, 1e-15);
}

TEST(a_limit_for_too_many_tasks_is_named)
{
    struct smd_job job = small_job(true);
    OK(smd_check_job(&job, 2, e));
    job.ps[0] = 1e-9;
    FAILS(smd_check_job(&job, 2, e), ERR_RANGE, "ps: is so small that the limit has room for 2e+10");
}

TEST(a_limit_without_room_is_no_error)
{
    struct smd_job job = small_job(true);
    job.limit[0] = 0;
    OK(smd_check_job(&job, 2, e));
    assert_false(smd_fits(&job, 2, 1, 1));
}
