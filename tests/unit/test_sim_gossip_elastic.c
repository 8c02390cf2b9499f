/* Workers and a centre that draw each other closer. */
#include "sim/gossip/floats.h"
#include "tests/gossip_fixture.h"

static double sum_of(const float *x, int32_t n)
{
    double sum = 0;
    for (int32_t k = 0; k < n; k++)
        sum += (double)x[k];
    return sum;
}

static double sum_of_models_and_centre(const struct gossip_cluster *c)
{
    double sum = sum_of(c->shared[0], c->n_params);
    for (int32_t i = 0; i < c->n_workers; i++)
        sum += sum_of(c->workers[i].x, c->n_params);
    return sum;
}

/* A step of SGD moves a model by its velocity; the rest only goes from one to another. */
TEST(steps_alone_change_the_sum_of_models_and_centre)
{
    GOSSIP_SETTINGS(s, "elastic", s.period = 2);
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (int kind = 0; kind < 4; kind++) {
        int64_t steps[4] = { 0 };
        f.setup.clock.stale = kind % 2;
        f.setup.clock.overlap = kind / 2;
        GOSSIP_SCATTERED(c, &f, &s);
        double want = sum_of_models_and_centre(&c), begin = want;
        while (gossip_fixture_turn(&c))
            for (int32_t i = 0; i < 4; i++)
                if (c.workers[i].steps > steps[i]) {
                    steps[i]++;
                    want += sum_of(c.workers[i].memory.v, c.n_params);
                }
        assert_true(fabs(want - begin) > 0.01);
        assert_near(sum_of_models_and_centre(&c), want, 1e-4);
    }
}

/* With alpha 1 a worker takes the centre and leaves its model there. */
TEST(alpha_1_swaps_a_worker_and_the_centre)
{
    GOSSIP_SETTINGS(s, "elastic", s.alpha = 1, s.period = FIXTURE_STEPS);
    GOSSIP_FIXTURE_WITH(f, 1, GOSSIP_IID, learning->rate = 0);
    GOSSIP_START(c, &f, &s);
    double centre = (double)c.shared[0][5];
    gossip_fixture_scatter(&c);
    double model = (double)c.workers[0].x[5];
    gossip_fixture_finish(&c);
    assert_near((double)c.workers[0].x[5], centre, 1e-6);
    assert_near((double)c.shared[0][5], model, 1e-6);
}

/* One exchange of one worker that does not learn: e = alpha (x - c), x - e, c + e. */
TEST(an_exchange_draws_both_by_alpha)
{
    GOSSIP_SETTINGS(s, "elastic", s.period = FIXTURE_STEPS);
    GOSSIP_FIXTURE_WITH(f, 1, GOSSIP_IID, learning->rate = 0);
    for (int stale = 0; stale < 2; stale++) {
        f.setup.clock.stale = stale;
        GOSSIP_START(c, &f, &s);
        double centre = (double)c.shared[0][5];
        gossip_fixture_scatter(&c);
        double model = (double)c.workers[0].x[5], off = 0.9 * (model - centre);
        gossip_fixture_finish(&c);
        assert_near((double)c.workers[0].x[5], model - off, 1e-6);
        assert_near((double)c.shared[0][5], centre + off, 1e-6);
    }
}

TEST(alpha_is_nine_tenths_over_all_workers_unless_given)
{
    struct gossip_settings none = gossip_fixture_settings("elastic"), given = none, other = none;
    given.alpha = 0.225;
    other.alpha = 0.9;
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    GOSSIP_RUN(a, &f, &none);
    GOSSIP_RUN(b, &f, &given);
    GOSSIP_RUN(c, &f, &other);
    gossip_fixture_assert_same(&a, &b, &f);
    assert_memory_not_equal(a.models, c.models, (size_t)f.net.n_params * 4 * sizeof *a.models);
}

TEST(every_period_pulls_and_pushes_one_model)
{
    GOSSIP_FIXTURE(f, 4, GOSSIP_IID);
    for (int64_t period = 1; period <= 16; period *= 4) {
        GOSSIP_SETTINGS(s, "elastic", s.period = period);
        struct gossip_result r = gossip_fixture_numbers(&f, &s);
        assert_int_equal(r.exchanges, 2 * 4 * (FIXTURE_STEPS / period));
        assert_true(r.sent_B == (double)r.exchanges * gossip_fixture_model_B(&f));
    }
}

/* One worker: a step, a pull, a push. With overlap both hide under the two steps after them, but for the
 * last. A server on its own NPU takes no time. */
TEST(a_worker_waits_for_pull_and_push)
{
    GOSSIP_SETTINGS(s, "elastic", s.period = 2);
    struct gossip_result r;
    GOSSIP_FIXTURE_WITH(f, 1, GOSSIP_IID, clock->jitter = 0);
    r = gossip_fixture_numbers(&f, &s);
    assert_close(r.time_s, FIXTURE_STEPS * (FIXTURE_STEP_S + FIXTURE_MODEL_S), 1e-9);
    f.setup.clock.overlap = true;
    r = gossip_fixture_numbers(&f, &s);
    assert_close(r.time_s, FIXTURE_STEPS * FIXTURE_STEP_S + 2 * FIXTURE_MODEL_S, 1e-9);
    f.setup.clock.overlap = false;
    f.fabric.server = 0;
    r = gossip_fixture_numbers(&f, &s);
    assert_close(r.time_s, FIXTURE_STEPS * FIXTURE_STEP_S, 1e-9);
    assert_true(r.sent_B == 0);
}
