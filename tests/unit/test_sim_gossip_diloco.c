/* DiLoCo: what it is equal to, what the outer step makes, and what goes beside steps. */
#include "sim/gossip/floats.h"
#include "tests/gossip_fixture.h"

/* An outer step that takes the mean as it is. */
static struct gossip_settings plain(int64_t period)
{
    GOSSIP_SETTINGS(s, "diloco", s.period = period, s.outer_rate = 1, s.outer_momentum = 0);
    return s;
}

static void assert_alike(const struct gossip_settings *a, const struct gossip_settings *b)
{
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    GOSSIP_RUN(ra, &f, a);
    GOSSIP_RUN(rb, &f, b);
    assert_true(ra.time_s == rb.time_s && ra.sent_B == rb.sent_B && ra.exchanges == rb.exchanges);
    for (int32_t k = 0; k < 4 * f.net.n_params; k++)
        assert_near(ra.models[k], rb.models[k], 1e-4);
}

/* To rounding. */
TEST(taking_the_mean_is_local_sgd)
{
    struct gossip_settings a = plain(8), b = gossip_fixture_settings("local");
    b.period = 8;
    assert_alike(&a, &b);
}

TEST(taking_the_mean_every_step_is_all_reduce)
{
    struct gossip_settings a = plain(1), b = gossip_fixture_settings("all-reduce");
    assert_alike(&a, &b);
}

/* By hand: G = z - mean, m = G, z - 0.7 (0.9 G + G) = z - 1.33 G; then all are equal, G = 0, m = 0.9 G, and
 * 0.7 * 0.9 * 0.9 = 0.567 more. With a share of its own, half of what a worker had stays each time, and the
 * mean that the second one sees is that of halves. */
TEST(two_outer_steps_are_nesterovs)
{
    enum { N = 4, K = 7 };
    for (int own = 0; own < 2; own++) {
        GOSSIP_SETTINGS(s, "diloco", s.period = FIXTURE_STEPS / 2, s.outer_mix = 0.5 * own);
        double x[N], mean = 0;
        GOSSIP_FIXTURE_WITH(f, N, GOSSIP_IID, learning->rate = 0);
        GOSSIP_START(c, &f, &s);
        double z = (double)c.workers[0].x[K];
        gossip_fixture_scatter(&c);
        for (int32_t i = 0; i < N; i++) {
            x[i] = (double)c.workers[i].x[K];
            mean += x[i] / N;
        }
        gossip_fixture_finish(&c);
        double g = z - mean, theta = z - 1.33 * g;
        double again = own ? theta - (theta + mean) / 2 : 0;
        double last = theta - 0.7 * (0.9 * (0.9 * g + again) + again);
        for (int32_t i = 0; i < N; i++)
            assert_near(c.workers[i].x[K], own ? last / 2 + theta / 4 + x[i] / 4 : last, 1e-5);
    }
}

/* Four fragments in a period of 8: after step 2 the last one, after step 4 the one before it, and so on; at
 * the end of a period each has been exchanged once. */
TEST(fragments_are_exchanged_in_turn)
{
    enum { N = 3, F = 4, PERIOD = 8 };
    WITH(struct gossip_settings, s, plain(PERIOD), s.fragments = F);
    GOSSIP_FIXTURE_WITH(f, N, GOSSIP_IID, learning->rate = 0);
    GOSSIP_SCATTERED(c, &f, &s);
    double *mean = calloc((size_t)c.n_params, sizeof *mean);
    assert_non_null(mean);
    for (int32_t k = 0; k < c.n_params; k++)
        for (int32_t i = 0; i < N; i++)
            mean[k] += (double)c.workers[i].x[k] / N;
    for (int32_t step = 1; step <= PERIOD; step++) {
        while (c.engine->steps_done < N * step)
            assert_true(gossip_fixture_turn(&c));
        while (c.workers[0].waits)
            assert_true(gossip_fixture_turn(&c));
        for (int32_t fragment = 0; fragment < F; fragment++) {
            int32_t first = fragment * c.n_params / F, behind = (fragment + 1) * c.n_params / F;
            bool equal =
                floats_distance2(c.workers[0].x + first, c.workers[1].x + first, behind - first) <= 0;
            assert_int_equal(equal, fragment >= F - step / 2);
        }
    }
    for (int32_t k = 0; k < c.n_params; k++)
        assert_near(c.workers[1].x[k], mean[k], 1e-5);
    free(mean);
}

/* Each is a part of the model: the same bytes in all, a fraction at a time. */
TEST(fragments_divide_the_bytes_of_an_exchange)
{
    static const int32_t sizes[] = { 1, 2, 5 };
    for (size_t i = 0; i < 2 * COUNT_OF(sizes); i++) {
        struct gossip_settings s = plain(8);
        int32_t n = sizes[i / 2];
        s.fragments = i % 2 ? 4 : 1;
        GOSSIP_FIXTURE(f, n, GOSSIP_SKEW);
        struct gossip_result r = gossip_fixture_assert_same_run(&f, &s, &s);
        assert_int_equal(r.exchanges, FIXTURE_STEPS / 8 * s.fragments);
        assert_close(r.sent_B, FIXTURE_STEPS / 8 * 2 * (n - 1) * gossip_fixture_model_B(&f), 1e-12);
    }
}

/* An all-reduce among 4 takes 2 * 3 / 4 of a model: 9 ms, less than a step; of a model four times as large
 * 36 ms, 26 more than a step. Five exchanges without delay, four with: the last one would come too late. */
TEST(delay_hides_exchanges_behind_steps)
{
    CASES(int64_t delay; double models; int64_t exchanges; double wait_s) = {
        { 0, 1, 5, 5 * 0.009 }, { 1, 1, 4, 0 }, { 0, 4, 5, 5 * 0.036 }, { 1, 4, 4, 4 * 0.026 }, { 4, 4, 4, 0 }
    };
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, clock->jitter = 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct gossip_settings, s, plain(8), s.delay = cases[i].delay);
        f.setup.model_B = cases[i].models * gossip_fixture_model_B(&f);
        struct gossip_result r = gossip_fixture_numbers(&f, &s);
        assert_int_equal(r.exchanges, cases[i].exchanges);
        assert_close(r.time_s, FIXTURE_STEPS * FIXTURE_STEP_S + cases[i].wait_s, 1e-9);
    }
}

/* A delay longer than from fragment to fragment, and a slow worker: they queue, and none is lost. Exchanges
 * after steps 2, 4, .. 32: later ones could not be taken after 7 more. */
TEST(fragments_queue_behind_each_other)
{
    WITH(struct gossip_settings, s, plain(8), s.fragments = 4, s.delay = 7);
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    f.setup.model_B = 50 * gossip_fixture_model_B(&f);
    f.setup.clock.jitter = 1;
    f.setup.clock.n_slow = 1;
    f.setup.clock.slowdown = 3;
    f.setup.clock.stale = true;
    struct gossip_result r = gossip_fixture_assert_same_run(&f, &s, &s);
    assert_int_equal(r.exchanges, 16);
    assert_close(r.sent_B, 16 / 4 * 2 * 3 * f.setup.model_B, 1e-12);
}

/* Unless told steps are those of all others: taking the mean is local SGD, whatever steps are. */
TEST(steps_are_by_default_those_of_the_learner)
{
    struct gossip_settings a = plain(8), b = gossip_fixture_settings("local");
    b.period = 8;
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, learning->optimizer = GOSSIP_ADAMW, learning->rate = 0.003);
    GOSSIP_RUN(ra, &f, &a);
    GOSSIP_RUN(rb, &f, &b);
    for (int32_t k = 0; k < 4 * f.net.n_params; k++)
        assert_near(ra.models[k], rb.models[k], 1e-4);
}

/* Of the learner's own optimizer its rate; of the other 0.05 for SGD and 0.001 for AdamW. */
TEST(the_inner_rate_has_a_default_for_each_optimizer)
{
    static const double rates[N_GOSSIP_OPTIMIZERS][N_GOSSIP_OPTIMIZERS] = { { 0.02, 0.001 }, { 0.05, 0.02 } };
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, learning->rate = 0.02);
    for (int kind = 0; kind < N_GOSSIP_OPTIMIZERS * N_GOSSIP_OPTIMIZERS; kind++) {
        int learner = kind / N_GOSSIP_OPTIMIZERS, inner = kind % N_GOSSIP_OPTIMIZERS;
        struct gossip_settings s = plain(8);
        f.setup.learning.optimizer = (enum gossip_optimizer)learner;
        s.inner = (enum gossip_optimizer)inner;
        GOSSIP_RUN(a, &f, &s);
        s.inner_rate = rates[learner][inner];
        GOSSIP_RUN(b, &f, &s);
        gossip_fixture_assert_same(&a, &b, &f);
        gossip_result_free(&b);
        s.inner_rate *= 2;
        gossip_fixture_run(&b, &f, &s);
        assert_true(a.models[0] != b.models[0]);
    }
}

#define REFUSED(text, ...) GOSSIP_REFUSED(f, "diloco", text, s = plain(8), __VA_ARGS__)

TEST(settings_out_of_range_are_refused)
{
    GOSSIP_FIXTURE(f, 2, GOSSIP_IID);
    REFUSED("fragments is 9, expected 1 to 8: at most", s.fragments = 9);
    REFUSED("fragments is 1000, expected 1 to 108", s.period = s.fragments = 1000);
    REFUSED("period is 4611686018427387903, expected at most 3074457345618258602 with 3 fragments",
            s.period = INT64_MAX / 2, s.fragments = 3);
    REFUSED("delay is 8, expected 0 to 7, less than the period", s.delay = 8);
}
