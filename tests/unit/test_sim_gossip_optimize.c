/* Optimisers against their formulas. */
#include "sim/gossip/learner.h"
#include "tests/support.h"

/* A gradient that stays: v is -rate g (1 - momentum^t) / (1 - momentum), and x the sum of all v. */
TEST(sgd_moves_as_a_sum_of_powers_says)
{
    enum { N = 37, STEPS = 30 };
    const struct gossip_update u = { .kind = GOSSIP_SGD, .rate = 0.125, .momentum = 0.5 };
    float x[N] = { 0 }, g[N], v[N] = { 0 };
    struct gossip_memory m = { .v = v };
    double moved = 0;
    for (int32_t i = 0; i < N; i++)
        g[i] = (float)i;
    for (int32_t t = 1; t <= STEPS; t++) {
        gossip_optimize(x, g, &m, &u, N);
        moved += 0.125 * 2 * (1 - pow(0.5, t));
        for (int32_t i = 0; i < N; i++) {
            assert_close(v[i], -0.25 * i * (1 - pow(0.5, t)), 1e-6);
            assert_close(x[i], -moved * i, 1e-6);
        }
    }
    assert_int_equal(m.steps, STEPS);
}

/* Without a gradient, weight decay alone: x times 1 - rate * decay each step, of both. */
TEST(weight_decay_shrinks_by_one_factor)
{
    for (int kind = 0; kind < N_GOSSIP_OPTIMIZERS; kind++) {
        const struct gossip_update u = { .kind = (enum gossip_optimizer)kind,
                                         .rate = 0.25,
                                         .weight_decay = 0.5 };
        float x[5] = { 1, 2, 3, 4, 5 }, g[5] = { 0 }, v[5] = { 0 }, s[5] = { 0 };
        struct gossip_memory m = { .v = v, .s = s };
        for (int t = 0; t < 8; t++)
            gossip_optimize(x, g, &m, &u, 5);
        for (int i = 0; i < 5; i++)
            assert_close(x[i], pow(0.875, 8) * (i + 1), 1e-6);
    }
}

/* arXiv 1711.05101, algorithm 2, line by line in double; schedule multiplier 1. */
TEST(adamw_is_what_its_paper_says)
{
    enum { N = 21, STEPS = 300 };
    const struct gossip_update u = { .kind = GOSSIP_ADAMW, .rate = 0.01, .weight_decay = 0.1 };
    float x[N], g[N], v[N] = { 0 }, s[N] = { 0 };
    double want[N], mean[N] = { 0 }, square[N] = { 0 };
    struct gossip_memory m = { .v = v, .s = s };
    RNG(r, 5, 0);
    for (int32_t i = 0; i < N; i++) {
        x[i] = (float)rng_normal(r);
        want[i] = (double)x[i];
    }
    for (int32_t t = 1; t <= STEPS; t++) {
        for (int32_t i = 0; i < N; i++) {
            g[i] = (float)(rng_normal(r) + 0.1 * i);
            mean[i] = 0.9 * mean[i] + 0.1 * (double)g[i];
            square[i] = 0.999 * square[i] + 0.001 * (double)g[i] * (double)g[i];
            double m_hat = mean[i] / (1 - pow(0.9, t)), v_hat = square[i] / (1 - pow(0.999, t));
            want[i] -= 0.01 * m_hat / (sqrt(v_hat) + 1e-8) + 0.01 * 0.1 * want[i];
        }
        gossip_optimize(x, g, &m, &u, N);
        /* Roundings to float32, each at most 2^-24 of numbers below 4: they add up at worst. */
        for (int32_t i = 0; i < N; i++)
            assert_near(x[i], want[i], t * 4 * 0x1p-23);
    }
}

/* At first each number moves by the rate, whatever the size of its slope; also after a fresh start. */
TEST(the_first_step_of_adamw_is_as_long_as_the_rate)
{
    const struct gossip_update u = { .kind = GOSSIP_ADAMW, .rate = 0.5 };
    const float g[3] = { 1e-3F, -1, 1e6F };
    float v[3], s[3];
    struct gossip_memory m = { .v = v, .s = s };
    for (int again = 0; again < 2; again++) {
        float x[3] = { 0 };
        memset(v, 0, sizeof v);
        memset(s, 0, sizeof s);
        m.steps = 0;
        gossip_optimize(x, g, &m, &u, 3);
        assert_close(x[0], -0.5, 2e-5); /* epsilon beside 1e-3 */
        assert_close(x[1], 0.5, 1e-6);
        assert_close(x[2], -0.5, 1e-6);
    }
}
