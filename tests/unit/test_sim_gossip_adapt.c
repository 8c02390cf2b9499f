/* Local SGD that changes its period: the rules by hand, and when they are asked. */
#include "sim/gossip/method.h"
#include "tests/gossip_fixture.h"

/* A root of 16 * 16 / 4 = 8, and so on, by hand. */
TEST(adacomm_follows_the_root_of_the_loss)
{
    CASES(double rate_before, rate, loss; int64_t period, want) = {
        { 0.1, 0.1, 1, 16, 8 },    /* 16 sqrt(1 / 4) */
        { 0.1, 0.1, 0.8, 16, 8 },  /* 7.2 is rounded up */
        { 0.1, 0.1, 3.9, 16, 8 },  /* 15.8 is 16 again: half of what is in force */
        { 0.1, 0.1, 1, 5, 3 },     /* 8 is more than 5: half of 5, rounded up */
        { 0.1, 0.1, 1, 1, 1 },     /* never below 1 */
        { 0.1, 0.1, 0, 2, 1 },     /* nor with a loss of 0 */
        { 0.1, 0.025, 1, 8, 16 },  /* a quarter of the rate, of the loss: as in the beginning */
        { 0.025, 0.025, 1, 8, 4 }, /* the same rate as before does not raise it */
        { 0.1, 0.001, 1, 8, 64 },  /* 80 is above the cap */
        { 0.1, 0, 1, 8, 64 },      { 0.1, 0.1, INFINITY, 8, 4 }, { 0.1, 0.1, NAN, 8, 4 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct gossip_adacomm a = { .period_0 = 16,
                                          .period = cases[i].period,
                                          .rate_0 = 0.1,
                                          .rate_before = cases[i].rate_before,
                                          .rate = cases[i].rate,
                                          .loss_0 = 4,
                                          .loss = cases[i].loss };
        assert_int_equal(gossip_adacomm_period(&a, 64), cases[i].want);
    }
}

TEST(variance_moves_the_period_by_one_outside_of_its_band)
{
    CASES(double spread; int64_t period, want) = {
        { 1.39, 4, 5 }, { 1.41, 4, 4 }, { 2, 4, 4 }, { 2.59, 4, 4 },  { 2.61, 4, 3 },
        { 0, 64, 64 },  { 9, 1, 1 },    { 0, 1, 2 }, { NAN, 12, 12 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(gossip_variance_period(cases[i].period, cases[i].spread, 2, 64), cases[i].want);
}

TEST(periods_beyond_all_steps_stay_in_range)
{
    assert_true(gossip_cut_period(0, 5) == 1 && gossip_cut_period(4, 5) == 4);
    assert_true(gossip_cut_period(1e300, INT64_MAX) == INT64_MAX && gossip_step_after(3, 4) == 7);
    assert_int_equal(gossip_step_after(INT64_MAX - 1, 1), INT64_MAX);
    assert_int_equal(gossip_step_after(INT64_MAX - 1, INT64_MAX), INT64_MAX);
}

/* No interval is ever over, or warm-up never: the period stays. */
TEST(a_period_that_never_changes_is_local_sgd)
{
    struct gossip_settings local = gossip_fixture_settings("local");
    struct gossip_settings other[2] = { gossip_fixture_settings("adacomm"),
                                        gossip_fixture_settings("variance") };
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, clock->n_slow = 1, clock->slowdown = 3);
    local.period = other[0].period = other[1].period = 3;
    other[0].interval_s = INFINITY;
    other[1].switch_frac = 1;
    for (int kind = 0; kind < 4; kind++) {
        f.setup.clock.overlap = kind / 2;
        gossip_fixture_assert_same_run(&f, &local, &other[kind % 2]);
    }
}

/* Steps after which workers meet; returns how many. All of them meet after the same. */
static int32_t meetings(int64_t at[FIXTURE_STEPS], const struct gossip_fixture *f,
                        const struct gossip_settings *s)
{
    int32_t n = 0;
    GOSSIP_START(c, f, s);
    while (gossip_fixture_turn(&c)) {
        if (c.engine->exchanges == n)
            continue;
        assert_in_range(n, 0, FIXTURE_STEPS - 1);
        at[n] = c.workers[0].steps;
        for (int32_t i = 1; i < c.n_workers; i++)
            assert_int_equal(c.workers[i].steps, at[n]);
        n++;
    }
    assert_int_equal(c.engine->steps_done, c.engine->steps_all);
    return n;
}

/* At a constant rate every choice lowers the period: to less, or to half. */
TEST(adacomm_meets_ever_more_often)
{
    struct gossip_settings s = gossip_fixture_settings("adacomm");
    int64_t at[FIXTURE_STEPS], period = 8;
    GOSSIP_FIXTURE(f, 4, GOSSIP_IID);
    s.period = period;
    s.interval_s = 1e-9;
    int32_t n = meetings(at, &f, &s);
    assert_true(n > 3 && at[0] == 8);
    for (int32_t i = 1; i < n; i++) {
        int64_t gap = at[i] - at[i - 1];
        assert_true(period == 1 ? gap == 1 : gap < period);
        period = gap;
    }
    assert_int_equal(period, 1);
}

/* 40 steps of 10 ms are 20 intervals of 20 ms. */
TEST(adacomm_has_20_intervals_unless_told_otherwise)
{
    GOSSIP_SETTINGS(s, "adacomm", s.period = 4);
    GOSSIP_FIXTURE(f, 4, GOSSIP_IID);
    GOSSIP_RUN(a, &f, &s);
    s.interval_s = FIXTURE_STEPS * FIXTURE_STEP_S / 20;
    GOSSIP_RUN(b, &f, &s);
    s.interval_s = 0.3;
    GOSSIP_RUN(c, &f, &s);
    gossip_fixture_assert_same(&a, &b, &f);
    assert_true(c.exchanges < a.exchanges);
}

/* Without momentum models part by what is proportional to the rate and the period: |x - mean|^2 / rate is
 * proportional to the rate and the square of the period. A rate
 * that falls to 1/1000 after 20 steps makes every later choice "one more", one that grows hundredfold "one
 * less".
 */
TEST(variance_follows_the_rate_of_learning)
{
    static const int64_t longer[] = { 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 25, 29, 34, 40 };
    static const int64_t shorter[] = { 4,  8,  12, 16, 20, 24, 27, 29, 30, 31,
                                       32, 33, 34, 35, 36, 37, 38, 39, 40 };
    GOSSIP_SETTINGS(s, "variance", s.switch_frac = 0.5, s.period = 2);
    int64_t at[FIXTURE_STEPS];
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, learning->momentum = 0, learning->schedule = GOSSIP_RATE_STEPS,
                        learning->n_decays = 1, learning->decay = 1e-3);
    assert_int_equal(meetings(at, &f, &s), COUNT_OF(longer));
    assert_memory_equal(at, longer, sizeof longer);
    f.setup.learning.rate = 0.0005;
    f.setup.learning.decay = 100;
    s.period = 4;
    assert_int_equal(meetings(at, &f, &s), COUNT_OF(shorter));
    assert_memory_equal(at, shorter, sizeof shorter);
}

/* Models part by the rate and the period, |x - mean|^2 / rate by its square over it. The rate changes after
 * step
 * 20. What met then was spread by the rate before; after a step of three at 1.5 times the rate it is (2
 * + 1.5)^2 / 9 / 1.5 = 0.9 of what is usual, at 1.2 or 0.8 times the rate that much: the period stays. */
TEST(variance_divides_by_the_rate_that_spread_the_models)
{
    CASES(double decay; int64_t period; int stays) = {
        { 1e-3, 4, 6 }, { 1000, 4, 6 }, { 0.6, 3, 8 }, { 1.2, 4, 7 }, { 0.8, 4, 7 },
    };
    GOSSIP_SETTINGS(s, "variance", s.switch_frac = 0.45);
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, learning->momentum = 0, learning->schedule = GOSSIP_RATE_STEPS,
                        learning->n_decays = 1, learning->rate = 1e-5);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t at[FIXTURE_STEPS];
        s.period = cases[i].period;
        f.setup.learning.decay = cases[i].decay;
        assert_true(meetings(at, &f, &s) >= cases[i].stays);
        for (int k = 0; k < cases[i].stays; k++)
            assert_int_equal(at[k], s.period * (k + 1));
    }
}

/* A slow worker, and others that go on: all make all steps, and all meet as often. */
TEST(periods_that_change_beside_steps_leave_nobody_behind)
{
    static const char *const names[] = { "adacomm", "variance" };
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, clock->overlap = true, clock->n_slow = 1);
    for (int kind = 0; kind < 8; kind++) {
        GOSSIP_SETTINGS(s, names[kind % 2], s.period = kind / 4 ? 8 : 1, s.switch_frac = 0.2);
        f.setup.clock.slowdown = kind / 2 % 2 ? 20 : 1;
        GOSSIP_START(c, &f, &s);
        gossip_fixture_finish(&c);
        assert_int_equal(c.engine->steps_done, c.engine->steps_all);
        assert_true(c.n_met == 0 && c.engine->exchanges >= FIXTURE_STEPS / 16);
    }
}

TEST(impossible_numbers_are_refused)
{
    GOSSIP_FIXTURE(f, 2, GOSSIP_IID);
    GOSSIP_REFUSED(f, "adacomm", "period is 9, expected at most the cap, 8", s.period = 9, s.cap = 8);
    GOSSIP_REFUSED(f, "variance", "period is 9, expected at most the cap, 8", s.period = 9, s.cap = 8);
}
