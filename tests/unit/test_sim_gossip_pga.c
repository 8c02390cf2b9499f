/* Gossip-PGA and Gossip-AGA: what they keep, what they are equal to, what they send and when. */
#include "sim/gossip/floats.h"
#include "tests/gossip_fixture.h"

enum { NEVER = 1000000 };

static void scattered_run(struct gossip_cluster *c, const struct gossip_fixture *f,
                          const struct gossip_settings *s, double *x)
{
    gossip_fixture_start(c, f, s);
    gossip_fixture_scatter(c);
    for (int32_t i = 0; i < c->n_workers; i++)
        for (int32_t k = 0; k < c->n_params; k++)
            x[i * c->n_params + k] = (double)c->workers[i].x[k];
    gossip_fixture_finish(c);
}

/* x <- W x with thirds on a ring. */
static void mix_ring(double *x, int32_t n, int32_t n_params)
{
    KEEP(double *, y, free_at) = malloc((size_t)n * (size_t)n_params * sizeof *y);
    assert_non_null(y);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n_params; k++)
            y[i * n_params + k] =
                (x[(i + n - 1) % n * n_params + k] + x[i * n_params + k] + x[(i + 1) % n * n_params + k]) / 3;
    memcpy(x, y, (size_t)n * (size_t)n_params * sizeof *y);
}

/* Without learning five steps are W^5, whatever the clock. */
TEST(gossip_on_a_ring_is_its_matrix)
{
    enum { N = 5, STEPS = 5 };
    GOSSIP_SETTINGS(s, "gossip-pga", s.period = NEVER);
    GOSSIP_FIXTURE_WITH(f, N, GOSSIP_IID, learning->rate = 0, learning->epochs = 0.5);
    KEEP(double *, x, free_at) = malloc((size_t)N * (size_t)f.net.n_params * sizeof *x);
    assert_non_null(x);
    for (int kind = 0; kind < 4; kind++) {
        KEEP(struct gossip_cluster, c, gossip_cluster_free);
        f.setup.clock.stale = kind % 2;
        f.setup.clock.overlap = kind / 2;
        f.setup.clock.jitter = 1;
        scattered_run(&c, &f, &s, x);
        assert_int_equal(c.n_steps, STEPS);
        for (int32_t k = 0; k < STEPS; k++)
            mix_ring(x, N, c.n_params);
        for (int32_t i = 0; i < N; i++)
            for (int32_t k = 0; k < c.n_params; k++)
                assert_near(c.workers[i].x[k], x[i * c.n_params + k], 1e-6);
    }
}

/* Five workers on an exponential graph, one of them slow: a graph on which others run ahead. */
TEST(gossip_keeps_the_mean_of_models)
{
    enum { N = 5 };
    struct gossip_settings s = gossip_fixture_settings("gossip-pga");
    GOSSIP_FIXTURE_WITH(f, N, GOSSIP_SKEW, learning->rate = 0, clock->jitter = 1, clock->n_slow = 1,
                        clock->slowdown = 3);
    KEEP(double *, x, free_at) = malloc((size_t)N * (size_t)f.net.n_params * sizeof *x);
    assert_non_null(x);
    for (int kind = 0; kind < 16; kind++) {
        KEEP(struct gossip_cluster, c, gossip_cluster_free);
        f.setup.clock.stale = kind & 1;
        f.setup.clock.overlap = kind & 2;
        s.graph = kind & 4 ? GOSSIP_EXPONENTIAL : GOSSIP_RING;
        s.period = kind & 8 ? 7 : NEVER;
        scattered_run(&c, &f, &s, x);
        for (int32_t k = 0; k < c.n_params; k++) {
            double sum = 0, before = 0;
            for (int32_t i = 0; i < N; i++) {
                sum += (double)c.workers[i].x[k];
                before += x[i * c.n_params + k];
            }
            assert_near(sum, before, 1e-5);
            assert_near(c.workers[1].x[k], before / N, 1e-3);
        }
    }
}

/* Then all meet after each step, and nobody gossips. */
TEST(period_1_is_local_sgd_of_period_1)
{
    static const char *const names[] = { "gossip-pga", "gossip-aga" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        GOSSIP_SETTINGS(pga, names[i], pga.cap = 1);
        struct gossip_settings local = gossip_fixture_settings("local");
        GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
        gossip_fixture_assert_same_run(&f, &pga, &local);
    }
    (void)state;
}

/* A model to each neighbour after each of 32 steps, and 8 all-reduces of 2 (N - 1) S. */
TEST(traffic_is_that_of_its_messages)
{
    CASES(int32_t n; enum gossip_graph graph; int32_t neighbours) = {
        { 1, GOSSIP_RING, 0 }, { 1, GOSSIP_EXPONENTIAL, 0 }, { 2, GOSSIP_RING, 1 },
        { 5, GOSSIP_RING, 2 }, { 5, GOSSIP_EXPONENTIAL, 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        GOSSIP_SETTINGS(s, "gossip-pga", s.period = 5);
        int32_t n = cases[i].n, messages = n * cases[i].neighbours * 32;
        GOSSIP_FIXTURE(f, n, GOSSIP_IID);
        s.graph = cases[i].graph;
        struct gossip_result r = gossip_fixture_assert_same_run(&f, &s, &s);
        assert_int_equal(r.exchanges, messages + 8);
        assert_close(r.sent_B, (messages + 8 * 2 * (n - 1)) * gossip_fixture_model_B(&f), 1e-12);
    }
}

TEST(two_neighbours_that_mix_are_equal)
{
    GOSSIP_SETTINGS(s, "gossip-pga", s.period = NEVER);
    GOSSIP_FIXTURE(f, 2, GOSSIP_SKEW);
    GOSSIP_RUN(r, &f, &s);
    assert_memory_equal(r.models, r.models + f.net.n_params, (size_t)f.net.n_params * sizeof *r.models);
}

/* In step, on one port: two models one after the other, or as flows both at half the rate. They take longer
 * than a step, so that with overlap only the first step is alone. */
TEST(two_models_share_a_port)
{
    GOSSIP_SETTINGS(s, "gossip-pga", s.period = NEVER);
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, clock->jitter = 0);
    for (int fidelity = 0; fidelity < N_GOSSIP_FIDELITYS; fidelity++) {
        struct gossip_result r;
        f.fabric.fidelity = (enum gossip_fidelity)fidelity;
        f.setup.clock.overlap = false;
        r = gossip_fixture_numbers(&f, &s);
        assert_close(r.time_s, FIXTURE_STEPS * (FIXTURE_STEP_S + 2 * FIXTURE_MODEL_S), 1e-9);
        f.setup.clock.overlap = true;
        r = gossip_fixture_numbers(&f, &s);
        assert_close(r.time_s, FIXTURE_STEP_S + FIXTURE_STEPS * 2 * FIXTURE_MODEL_S, 1e-9);
    }
}

/* No power, no room up to the cap, or a warm-up that never ends: the period stays. */
TEST(an_adaptive_period_that_cannot_change_is_fixed)
{
    GOSSIP_SETTINGS(pga, "gossip-pga", pga.period = 4);
    struct gossip_settings aga[3];
    for (int32_t i = 0; i < 3; i++) {
        aga[i] = gossip_fixture_settings("gossip-aga");
        aga[i].period = 4;
        aga[i].switch_frac = 0.1;
        aga[i].power = 1;
    }
    aga[0].power = 0;
    aga[1].cap = 4;
    aga[2].switch_frac = 1;
    GOSSIP_FIXTURE(f, 4, GOSSIP_IID);
    GOSSIP_RUN(a, &f, &pga);
    for (int32_t i = 0; i < 3; i++) {
        GOSSIP_RUN(b, &f, &aga[i]);
        gossip_fixture_assert_same(&a, &b, &f);
    }
}

/* An exchange of all is 1 of its step, gossip on a ring 8: fewer means of all are more exchanges. */
TEST(the_period_grows_as_the_loss_falls_and_with_the_power)
{
    static const double powers[] = { 0, 0.5, 1 };
    int64_t before = 0;
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, learning->epochs = 40);
    for (size_t i = 0; i < COUNT_OF(powers); i++) {
        GOSSIP_SETTINGS(s, "gossip-aga", s.period = 4, s.switch_frac = 0.05, s.power = powers[i]);
        struct gossip_result r = gossip_fixture_numbers(&f, &s);
        assert_true(r.exchanges > before);
        before = r.exchanges;
    }
}

TEST(settings_out_of_range_are_refused)
{
    GOSSIP_FIXTURE(f, 2, GOSSIP_IID);
    GOSSIP_REFUSED(f, "gossip-aga", "period is 4, expected at most the cap, 3", s.period = 4, s.cap = 3);
}
