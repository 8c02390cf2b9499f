#include "sim/interval/interval.h"
#include "tests/support.h"
#include "tests/unit/smd_random.h"

static struct smd_rounding rounding(enum smd_scale scale, enum smd_keep keep)
{
    return (struct smd_rounding){ scale, keep, .delta = 0.5, .tries = 100 };
}

/* Room for 5 in the scarcest of 4 resources. */
static struct smd_job job_with_room(double room)
{
    return (struct smd_job){ .iterations = 1,
                             .batch = 1,
                             .mini_batch = 1,
                             .ps_Bps = 1,
                             .forward_s = 1,
                             .shares = { 1, 1, 1 },
                             .per_worker_s = 0.01,
                             .sync = true,
                             .worker = { 1, 2, 0, 1 },
                             .ps = { 1, 0, 1, 1 },
                             .limit = { room, 2 * room + 3, room + 1, 7 * room } };
}

/* 1 + A - sqrt(A^2 + 2A) with A = 3 ln(2R/delta) / (2W). */
TEST(the_scale_is_that_of_the_paper)
{
    const struct smd_job five = job_with_room(5), many = job_with_room(1e5), none = job_with_room(0);
    assert_near(smd_round_scale(&five, 4, 0.5), 0.2970, 5e-5);
    double A = 3 * log(8 / 0.1) / (2 * 1e5);
    assert_close(smd_round_scale(&many, 4, 0.1), 1 + A - sqrt(A * A + 2 * A), 1e-12);
    assert_true(smd_round_scale(&none, 4, 0.5) == 0);
}

TEST(each_number_is_rounded_up_as_often_as_its_fraction_says)
{
    const struct smd_job job = job_with_room(1e3);
    const struct smd_point x = { 3.25, 7.9, 0 };
    struct smd_rounding how = rounding(SMD_SCALE_ONE, SMD_KEEP_FIRST);
    int n_w = 0, n_p = 0, n_both = 0;
    const int n = 20000;
    RNG(rng, 1, 0);
    for (int i = 0; i < n; i++) {
        struct smd_point y = smd_round(&x, &job, 4, &how, rng);
        assert_true((y.w == 3 || y.w == 4) && (y.p == 7 || y.p == 8));
        n_w += y.w == 4;
        n_p += y.p == 8;
        n_both += y.w == 4 && y.p == 8;
    }
    /* 4 standard deviations */
    assert_near((double)n_w / n, 0.25, 0.0123);
    assert_near((double)n_p / n, 0.9, 0.0085);
    assert_near((double)n_both / n, 0.225, 0.012);
}

TEST(the_literal_scale_shrinks_before_it_rounds)
{
    const struct smd_job job = job_with_room(5);
    const struct smd_point x = { 4, 1, 0 };
    struct smd_rounding how = rounding(SMD_SCALE_LITERAL, SMD_KEEP_FIRST);
    int n_up = 0;
    const int n = 20000;
    RNG(rng, 2, 0);
    for (int i = 0; i < n; i++) {
        struct smd_point y = smd_round(&x, &job, 4, &how, rng);
        assert_true((y.w == 1 || y.w == 2) && y.p == 1);
        n_up += y.w == 2;
    }
    assert_near((double)n_up / n, 4 * 0.29702 - 1, 0.0112);
}

TEST(the_best_of_many_tries_is_the_best_of_the_corners)
{
    const struct smd_rounding how = rounding(SMD_SCALE_ONE, SMD_KEEP_BEST);
    RNG(rng, 3, 0);
    for (int i = 0; i < 500; i++) {
        const struct smd_job job = smd_random_job(rng, i % 2 == 0, 30);
        const struct smd_point x = { 1 + (double)rng_below(rng, 3) + 0.5, 1 + (double)rng_below(rng, 3) + 0.5,
                                     0 };
        double least_s = INFINITY;
        for (double w = floor(x.w); w <= ceil(x.w); w++)
            for (double p = floor(x.p); p <= ceil(x.p); p++)
                if (smd_fits(&job, 4, w, p))
                    least_s = fmin(least_s, smd_written_jct_s(&job, w, p));
        struct smd_point y = smd_round(&x, &job, 4, &how, rng);
        assert_true(smd_fits(&job, 4, y.w, y.p));
        if (isfinite(least_s))
            assert_close(y.jct_s, least_s, 1e-12);
        else
            assert_true(y.w == 1 && y.p == 1);
    }
}

/* Always up, and up never fits: tries end, and down is taken. */
TEST(when_no_try_fits_it_is_rounded_down)
{
    struct smd_rounding how = rounding(SMD_SCALE_ONE, SMD_KEEP_BEST);
    const struct smd_point x = { 4 - 1e-15, 1, 0 };
    struct smd_job job = job_with_room(4.5);
    how.tries = 3;
    RNG(rng, 4, 0);
    struct smd_point y = smd_round(&x, &job, 4, &how, rng);
    assert_true(y.w == 3 && y.p == 1);
    assert_close(y.jct_s, smd_written_jct_s(&job, 3, 1), 1e-12);
    const struct smd_point far = { 9, 9, 0 };
    y = smd_round(&far, &job, 4, &how, rng);
    assert_true(y.w == 1 && y.p == 1);
}
