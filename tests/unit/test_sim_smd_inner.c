#include "sim/interval/interval.h"
#include "tests/support.h"
#include "tests/unit/smd_random.h"

enum { R = SMD_RANDOM_RESOURCES };

/* Limits as in interval.h, written down once more: the most q with each*q + other*n <= limit. */
static double most_of(const double *each, const double *other, double n, const double *limit)
{
    double most = INFINITY;
    for (int r = 0; r < R; r++)
        if (each[r] > 0)
            most = fmin(most, (limit[r] - other[r] * n) / each[r]);
    return most;
}

/* Least over p by golden section: the time is convex in p for given w. */
static double least_over_p_s(const struct smd_job *job, double w)
{
    const double golden = (sqrt(5) - 1) / 2;
    double lo = 1, hi = fmax(most_of(job->ps, job->worker, w, job->limit), 1);
    while (hi - lo > 1e-9 * hi) {
        double a = hi - golden * (hi - lo), b = lo + golden * (hi - lo);
        if (smd_written_jct_s(job, w, a) < smd_written_jct_s(job, w, b))
            hi = b;
        else
            lo = a;
    }
    return fmin(smd_written_jct_s(job, w, lo), smd_written_jct_s(job, w, hi));
}

/* Least over real numbers: w on a dense scale, and once more around the best. */
static double dense_least_s(const struct smd_job *job)
{
    double from = 1, to = most_of(job->worker, job->ps, 1, job->limit), least_s = INFINITY;
    for (int zoom = 0; zoom < 3; zoom++) {
        const double step = pow(to / from, 1 / 300.0), begin = from;
        int best = 0;
        for (int i = 0; i <= 300; i++) {
            double s = least_over_p_s(job, fmin(begin * pow(step, i), to));
            if (s < least_s) {
                least_s = s;
                best = i;
            }
        }
        from = fmax(begin * pow(step, best - 1), 1);
        to = fmin(begin * pow(step, best + 1), to);
    }
    return least_s;
}

TEST(the_grid_is_within_1_plus_eps_of_a_dense_search)
{
    int64_t cells[4] = { 0 };
    static const double eps[] = { 0.5, 0.1, 0.05, 0.01 };
    RNG(rng, 1, 0);
    for (int i = 0; i < 200; i++) {
        const struct smd_job job = smd_random_job(rng, i % 2 == 0, 100);
        double least_s = dense_least_s(&job);
        for (size_t k = 0; k < COUNT_OF(eps); k++) {
            struct smd_grid g;
            smd_inner_grid(&g, &job, R, eps[k]);
            cells[k] += g.cells;
            assert_true(g.point.jct_s <= (1 + eps[k]) * least_s * (1 + 1e-9));
            assert_true(g.point.jct_s >= least_s * (1 - 1e-4)); /* as dense as that */
            assert_true(g.bound_s <= least_s * (1 + 1e-9));
            assert_close(g.point.jct_s, smd_written_jct_s(&job, g.point.w, g.point.p), 1e-12);
            assert_true(g.point.w >= 1 && g.point.p >= 1);
            for (int r = 0; r < R; r++)
                assert_true(job.worker[r] * g.point.w + job.ps[r] * g.point.p <= job.limit[r] * (1 + 2e-9));
        }
    }
    /* 719, 1149, 1209 and 1689 of 200 jobs: what promises nothing is left. */
    static const int64_t most[] = { 750, 1200, 1250, 1750 };
    for (size_t k = 0; k < COUNT_OF(eps); k++)
        assert_true(cells[k] < most[k]);
}

TEST(exact_is_the_least_of_all_whole_numbers)
{
    RNG(rng, 2, 0);
    for (int i = 0; i < 2000; i++) {
        const struct smd_job job = smd_random_job(rng, i % 2 == 0, 60);
        double least_s = INFINITY;
        for (double w = 1; smd_fits(&job, R, w, 1); w++)
            for (double p = 1; smd_fits(&job, R, w, p); p++)
                least_s = fmin(least_s, smd_written_jct_s(&job, w, p));
        struct smd_point x = smd_inner_exact(&job, R);
        assert_true(smd_fits(&job, R, x.w, x.p) && x.w == floor(x.w) && x.p == floor(x.p));
        assert_close(x.jct_s, least_s, 1e-12);
        assert_close(x.jct_s, smd_written_jct_s(&job, x.w, x.p), 1e-12);
    }
}

TEST(a_finer_grid_proves_more)
{
    RNG(rng, 3, 0);
    for (int i = 0; i < 100; i++) {
        const struct smd_job job = smd_random_job(rng, i % 2 == 0, 40);
        struct smd_grid coarse, fine;
        struct smd_point exact = smd_inner_exact(&job, R);
        smd_inner_grid(&coarse, &job, R, 0.2);
        smd_inner_grid(&fine, &job, R, 0.02);
        assert_true(coarse.bound_s <= fine.point.jct_s && fine.bound_s <= coarse.point.jct_s);
        assert_true(coarse.bound_s <= exact.jct_s && fine.bound_s <= exact.jct_s);
    }
}

/* The limit holds (1, 1) and nothing else: polygons are points. */
TEST(a_job_with_room_for_two_tasks_gets_them)
{
    RNG(rng, 4, 0);
    for (int i = 0; i < 100; i++) {
        const struct smd_job job = smd_random_job(rng, i % 2 == 0, 0);
        struct smd_grid g;
        struct smd_point x = smd_inner_exact(&job, R);
        smd_inner_grid(&g, &job, R, 0.05);
        assert_true(x.w == 1 && x.p == 1);
        assert_close(g.point.w, 1, 1e-8);
        assert_close(g.point.jct_s, x.jct_s, 1e-7);
    }
}

/* Within a limit only by its slack, where a clip at the limit itself would leave nothing. */
TEST(what_fits_by_rounding_is_searched)
{
    struct smd_grid g;
    RNG(rng, 5, 0);
    struct smd_job job = smd_random_job(rng, true, 0);
    for (int r = 0; r < R; r++)
        job.limit[r] *= 1 - 5e-10;
    assert_true(smd_fits(&job, R, 1, 1));
    smd_inner_grid(&g, &job, R, 0.05);
    assert_close(g.point.jct_s, smd_written_jct_s(&job, 1, 1), 1e-7);
}

TEST(a_job_that_takes_no_time_is_done_at_once)
{
    struct smd_grid g;
    const struct smd_job job = { .iterations = 1,
                                 .batch = 1,
                                 .mini_batch = 1,
                                 .ps_Bps = 1,
                                 .sync = true,
                                 .worker = { 1 },
                                 .ps = { 1 },
                                 .limit = { 9 } };
    smd_inner_grid(&g, &job, 1, 0.05);
    const struct smd_point x = smd_inner_exact(&job, 1);
    assert_true(g.point.jct_s == 0 && x.jct_s == 0);
    assert_true(x.w == 1 && x.p == 1); /* of equal times the fewest tasks */
}
