/* Methods in which all workers meet: what they are the same as, and what a meeting beside steps keeps. */
#include "sim/gossip/floats.h"
#include "tests/gossip_fixture.h"

/* A mean of models is rounded to float32 where a mean of gradients is, but at other numbers: 2^-24 of about 1
 * in each of 40 steps, times 10 by momentum 0.9, is 2e-5. Ten times that for what learning makes of it. */
#define ROUNDING 2e-4

/* Momentum is linear, so the mean of velocities is the velocity of the mean. */
TEST(local_sgd_with_period_1_is_synchronous_sgd)
{
    for (int kind = 0; kind < 4; kind++) {
        struct gossip_settings all_reduce = gossip_fixture_settings("all-reduce");
        struct gossip_settings local = gossip_fixture_settings("local");
        GOSSIP_FIXTURE_WITH(f, 4, kind / 2 ? GOSSIP_SKEW : GOSSIP_IID, clock->stale = kind % 2,
                            learning->weight_decay = 1e-3);
        GOSSIP_RUN(a, &f, &all_reduce);
        GOSSIP_RUN(b, &f, &local);
        local.period = 2;
        GOSSIP_RUN(other, &f, &local);
        assert_true(gossip_fixture_apart(&a, &b, &f) < ROUNDING);
        assert_true(gossip_fixture_apart(&a, &other, &f) > 10 * ROUNDING && a.time_s == b.time_s);
        assert_int_equal(a.exchanges, b.exchanges);
        assert_true(a.sent_B == b.sent_B);
    }
}

/* Nothing changes a model between the beginning and the end of a step. */
TEST(synchronous_sgd_does_not_ask_when_the_gradient_is_taken)
{
    struct gossip_settings s = gossip_fixture_settings("all-reduce");
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    GOSSIP_RUN(a, &f, &s);
    f.setup.clock.stale = true;
    GOSSIP_RUN(b, &f, &s);
    gossip_fixture_assert_same(&a, &b, &f);
}

/* The first step has no velocity yet: x - rate (g_1 + .. + g_N) / N, to a few roundings. */
TEST(the_first_synchronous_step_goes_along_the_mean_of_gradients)
{
    struct gossip_settings s = gossip_fixture_settings("all-reduce");
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, clock->stale = true);
    GOSSIP_START(c, &f, &s);
    KEEP(double *, want, free_at) = malloc((size_t)c.n_params * sizeof *want);
    assert_non_null(want);
    for (int32_t k = 0; k < c.n_params; k++) {
        double sum = 0;
        for (int32_t i = 0; i < 4; i++)
            sum += (double)c.workers[i].g[k];
        want[k] = (double)c.workers[0].x[k] - 0.05 * sum / 4;
    }
    while (c.engine->exchanges < 1 || c.workers[0].holds)
        assert_true(gossip_fixture_turn(&c));
    for (int32_t i = 0; i < 4; i++)
        for (int32_t k = 0; k < c.n_params; k++)
            assert_near(c.workers[i].x[k], want[k], 1e-6);
}

TEST(post_local_is_local_on_both_sides_of_its_switch)
{
    struct gossip_settings local = gossip_fixture_settings("local");
    GOSSIP_SETTINGS(post, "post-local", post.period = 7);
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (int kind = 0; kind < 4; kind++) {
        f.setup.clock.overlap = kind / 2;
        post.switch_frac = kind % 2;
        local.period = kind % 2 ? 1 : 7;
        gossip_fixture_assert_same_run(&f, &local, &post);
    }
    post.switch_frac = 0.5;
    assert_int_equal(gossip_fixture_numbers(&f, &post).exchanges, FIXTURE_STEPS / 2 + FIXTURE_STEPS / 2 / 7);
}

/* An all-reduce among N sends 2 (N - 1) models in all; the last steps stay a worker's own. */
TEST(meetings_are_as_many_as_whole_periods)
{
    struct gossip_settings s = gossip_fixture_settings("local");
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (s.period = 1; s.period <= 64; s.period += 9) {
        struct gossip_result r = gossip_fixture_numbers(&f, &s);
        assert_int_equal(r.exchanges, FIXTURE_STEPS / s.period);
        assert_close(r.sent_B, (double)r.exchanges * 2 * 3 * gossip_fixture_model_B(&f), 1e-12);
    }
}

TEST(meetings_beside_steps_take_no_longer_and_send_the_same)
{
    struct gossip_settings s = gossip_fixture_settings("local");
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (int kind = 0; kind < 8; kind++) {
        s.period = kind % 4 + 1;
        f.setup.clock.stale = kind / 4;
        f.setup.clock.overlap = false;
        GOSSIP_RUN(waits, &f, &s);
        f.setup.clock.overlap = true;
        GOSSIP_RUN(goes_on, &f, &s);
        assert_true(goes_on.time_s < waits.time_s && goes_on.sent_B == waits.sent_B);
        assert_int_equal(goes_on.exchanges, waits.exchanges);
        assert_true(isfinite(goes_on.loss) && goes_on.average_accuracy >= 0.25);
    }
}

/* Who is back for the next meeting before the last is over waits for it: two periods at most. */
TEST(a_fast_worker_is_no_more_than_two_periods_ahead)
{
    GOSSIP_SETTINGS(s, "local", s.period = 3);
    int64_t most = 0;
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, clock->overlap = true, clock->n_slow = 1, clock->slowdown = 10);
    GOSSIP_START(c, &f, &s);
    while (gossip_fixture_turn(&c))
        for (int32_t i = 0; i < 3; i++) {
            int64_t ahead = c.workers[i].steps - c.workers[3].steps;
            most = ahead > most ? ahead : most;
        }
    assert_int_equal(most, 2 * s.period);
    assert_int_equal(c.engine->exchanges, FIXTURE_STEPS / s.period);
    assert_int_equal(c.engine->steps_done, c.engine->steps_all);
}

static double mean_of(const struct gossip_cluster *c, int32_t k, bool of_given)
{
    double sum = 0;
    for (int32_t i = 0; i < c->n_workers; i++)
        sum += (double)(of_given ? c->workers[i].given : c->workers[i].x)[k];
    return sum / c->n_workers;
}

/* Mean of models = mean of what was given + mean of what has been learned since, to rounding. */
TEST(a_mean_that_lands_late_keeps_what_was_learned_since)
{
    struct gossip_settings s = gossip_fixture_settings("local");
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    GOSSIP_SCATTERED(c, &f, &s);
    KEEP(double *, before, free_at) = malloc((size_t)c.n_params * sizeof *before);
    KEEP(float *, mean, free_at) = malloc((size_t)c.n_params * sizeof *mean);
    assert_true(before && mean);
    for (int32_t k = 0; k < c.n_params; k++) {
        for (int32_t i = 0; i < 4; i++)
            c.workers[i].given[k] = (float)(k % 7 - i) / 8;
        mean[k] = (float)mean_of(&c, k, true);
    }
    c.workers[1].waits = true;
    floats_copy(c.workers[1].x, c.workers[1].given, c.n_params);
    for (int32_t k = 0; k < c.n_params; k++)
        before[k] = mean_of(&c, k, false);
    gossip_land(&c, mean);
    for (int32_t k = 0; k < c.n_params; k++) {
        assert_near(mean_of(&c, k, false), before[k], 1e-6);
        assert_true(c.workers[1].x[k] == mean[k]);
    }
}
