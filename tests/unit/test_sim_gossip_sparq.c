/* SPARQ-SGD: what estimates make of models, what is sent of a correction, and when. */
#include "sim/gossip/floats.h"
#include "tests/gossip_fixture.h"

/* In step, and messages that arrive within a step. */
static void build(struct gossip_fixture *f, int32_t n_workers)
{
    gossip_fixture_build(f, n_workers, GOSSIP_SKEW);
    f->setup.learning.rate = 0;
    f->setup.clock = (struct gossip_clock){ .step_s = 1, .slowdown = 1, .pause_factor = 1, .overlap = true };
}

static struct gossip_settings settings(double gamma, double keep)
{
    GOSSIP_SETTINGS(s, "sparq", s.sparq_c = 0, s.gamma = gamma, s.keep = keep);
    return s;
}

/* Estimates of all are first equal, so the first of five rounds moves nothing and then estimates are the
 * models: (I + gamma (W - I))^4. */
TEST(whole_corrections_are_gossip_of_models)
{
    enum { N = 5, ROUNDS = 5 };
    for (int kind = 0; kind < 4; kind++) {
        KEEP(struct gossip_fixture, f, gossip_fixture_free);
        double gamma = kind % 2 ? 0.5 : 1, x[N], y[N];
        struct gossip_settings s = settings(gamma, 1);
        build(&f, N);
        f.setup.learning.epochs = 0.5;
        f.setup.clock.stale = kind / 2;
        GOSSIP_SCATTERED(c, &f, &s);
        for (int32_t i = 0; i < N; i++)
            x[i] = (double)c.workers[i].x[7];
        gossip_fixture_finish(&c);
        for (int32_t round = 1; round < ROUNDS; round++) {
            for (int32_t i = 0; i < N; i++)
                y[i] = x[i] + gamma * (x[(i + 1) % N] + x[(i + N - 1) % N] - 2 * x[i]) / 3;
            memcpy(x, y, sizeof x);
        }
        for (int32_t i = 0; i < N; i++)
            assert_near(c.workers[i].x[7], x[i], 1e-6);
    }
}

/* As long as all are in step, whatever is left out of corrections. */
TEST(the_mean_of_models_stays)
{
    enum { N = 5 };
    for (int kind = 0; kind < 4; kind++) {
        KEEP(struct gossip_fixture, f, gossip_fixture_free);
        struct gossip_settings s = settings(0.3, 0.2);
        double before = 0, sum = 0, spread = 0, spread_before = 0;
        build(&f, N);
        f.setup.clock.stale = kind % 2;
        s.period = 1 + kind / 2;
        GOSSIP_SCATTERED(c, &f, &s);
        for (int32_t i = 0; i < N; i++) {
            before += (double)c.workers[i].x[7];
            spread_before += floats_distance2(c.workers[i].x, c.workers[0].x, c.n_params);
        }
        gossip_fixture_finish(&c);
        for (int32_t i = 0; i < N; i++) {
            sum += (double)c.workers[i].x[7];
            spread += floats_distance2(c.workers[i].x, c.workers[0].x, c.n_params);
        }
        assert_near(sum, before, 1e-5);
        assert_true(spread < 0.2 * spread_before);
    }
}

/* The model is the estimate plus 1 everywhere but at four places: three that are more, one that is less but
 * large. Of seven that are kept the other three are the first ones of those that are equal. */
TEST(the_largest_are_sent_and_of_equal_ones_the_first)
{
    KEEP(struct gossip_fixture, f, gossip_fixture_free);
    build(&f, 3);
    double keep = 7.0 / f.net.n_params;
    struct gossip_settings s = settings(0.5, keep);
    GOSSIP_START(c, &f, &s);
    struct gossip_worker *w = &c.workers[0];
    float *estimate = w->own[0];
    memset(estimate, 0, (size_t)c.n_params * sizeof *estimate);
    for (int32_t i = 0; i < 2; i++)
        memset(w->own[1 + i], 0, (size_t)c.n_params * sizeof *estimate);
    for (int32_t k = 0; k < c.n_params; k++)
        w->x[k] = 1;
    w->x[50] = 3;
    w->x[51] = -4;
    w->x[20] = 2;
    w->x[70] = 1.5F;
    w->x[1] = 0.5F;
    while (w->steps < 1)
        assert_true(gossip_fixture_turn(&c));
    for (int32_t k = 0; k < c.n_params; k++) {
        bool sent = k == 50 || k == 51 || k == 20 || k == 70 || k == 0 || k == 2 || k == 3;
        assert_true(estimate[k] == (sent ? w->x[k] : 0));
    }
}

/* Beside a look through all for each: a number is sent if fewer than k are larger, or as large and before it.
 */
TEST(the_k_largest_are_sent_whatever_the_numbers)
{
    RNG(rng, 3, 0);
    for (int i = 0; i < 300; i++) {
        KEEP(struct gossip_fixture, f, gossip_fixture_free);
        build(&f, 3);
        int32_t n = f.net.n_params, k = 1 + (int32_t)rng_below(rng, n);
        struct gossip_settings s = settings(0.5, (k - 0.5) / n);
        GOSSIP_START(c, &f, &s);
        struct gossip_worker *w = &c.workers[0];
        float *estimate = w->own[0];
        for (int32_t j = 0; j < n; j++)
            w->x[j] = (float)(i % 3 == 0   ? rng_normal(rng)
                              : i % 3 == 1 ? (double)rng_below(rng, 5) - 2
                                           : (i % 2 ? j : n - j));
        for (int own = 0; own < 3; own++)
            memset(w->own[own], 0, (size_t)n * sizeof *estimate);
        while (w->steps < 1)
            assert_true(gossip_fixture_turn(&c));
        for (int32_t j = 0; j < n; j++) {
            int32_t before = 0;
            for (int32_t o = 0; o < n; o++)
                before += fabsf(w->x[o]) > fabsf(w->x[j]) || (o < j && fabsf(w->x[o]) == fabsf(w->x[j]));
            assert_true(estimate[j] == (before < k ? w->x[j] : 0));
        }
    }
}

/* Value and index of each number, 4 bytes each; all of them need no index. A round every period. */
TEST(traffic_is_that_of_its_messages)
{
    static const int32_t sizes[] = { 1, 2, 5 }, neighbours[] = { 0, 1, 2 };
    for (size_t i = 0; i < 2 * COUNT_OF(sizes); i++) {
        WITH(struct gossip_settings, s, settings(0.5, i % 2 ? 0.1 : 1), s.period = 4);
        int32_t messages = sizes[i / 2] * neighbours[i / 2] * (FIXTURE_STEPS / 4);
        GOSSIP_FIXTURE(f, sizes[i / 2], GOSSIP_SKEW);
        double message_B = i % 2 ? 8 * ceil(0.1 * f.net.n_params) : 4.0 * f.net.n_params;
        struct gossip_result r = gossip_fixture_assert_same_run(&f, &s, &s);
        assert_int_equal(r.exchanges, messages);
        assert_close(r.sent_B, messages * message_B, 1e-12);
    }
}

TEST(corrections_that_are_too_small_are_not_sent)
{
    struct gossip_settings local = gossip_fixture_settings("local"), s = settings(0.5, 1);
    local.period = 1000000;
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    GOSSIP_RUN(alone, &f, &local);
    GOSSIP_RUN(all, &f, &s);
    s.sparq_c = 1e300;
    GOSSIP_RUN(r, &f, &s);
    gossip_fixture_assert_same(&r, &alone, &f);
    gossip_result_free(&r);
    s.sparq_c = 30;
    GOSSIP_RUN(some, &f, &s);
    assert_in_range(some.exchanges, 1, all.exchanges - 1);
    /* c_t grows with the step. */
    s.sparq_power = 0.9;
    gossip_fixture_run(&r, &f, &s);
    assert_in_range(r.exchanges, 1, some.exchanges - 1);
}
