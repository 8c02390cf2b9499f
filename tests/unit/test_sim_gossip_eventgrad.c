/* EventGraD: when a tensor is sent, what that comes to, and what is mixed. */
#include "sim/gossip/method.h"
#include "sim/gossip/floats.h"
#include "tests/gossip_fixture.h"
#include "tests/settings.h"

/* By hand from the rule of arXiv 2103.07454; all numbers are exact. Horizon 1/2, one step of warm-up. */
TEST(a_tensor_is_sent_when_its_norm_has_changed_enough)
{
    TABLE_OF(steps, double norm; bool fires; double threshold /* after */) = {
        { 12, true, 1 },         /* warm-up: slope 2, before it 0 */
        { 12.25, false, 0.5 },   /* 0.25 < 1/2 */
        { 12.25, true, 1.0625 }, /* 0.25 >= 1/4: slope 1/8 */
        { 13, true, 0.4375 },    /* 0.75 >= 0.53: slope 3/4 */
        { 12.9375, false, 0.21875 },
    };
    WITH(struct gossip_settings, s, gossip_settings_default(), s.horizon = 0.5, s.warmup = 1);
    struct gossip_event v = { .norm = 10 };
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        assert_true(gossip_event_fires(&v, steps[i].norm, (int64_t)i + 1, &s) == steps[i].fires);
        assert_true(v.threshold == steps[i].threshold);
    }
    assert_true(v.norm == 13 && v.step == 4);
}

/* To one neighbour of two workers, to both of five, to none of one. */
TEST(horizon_0_sends_all_like_a_warm_up_without_end)
{
    static const int32_t sizes[] = { 1, 2, 5 }, neighbours[] = { 0, 1, 2 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct gossip_settings s = gossip_fixture_settings("eventgrad"), warm = s;
        int32_t messages = sizes[i] * neighbours[i] * FIXTURE_STEPS;
        GOSSIP_FIXTURE(f, sizes[i], GOSSIP_SKEW);
        s.horizon = 0;
        s.warmup = 0;
        warm.horizon = 1;
        warm.warmup = FIXTURE_STEPS;
        struct gossip_result r = gossip_fixture_assert_same_run(&f, &s, &warm);
        assert_int_equal(r.exchanges, messages);
        assert_close(r.sent_B, messages * gossip_fixture_model_B(&f), 1e-12);
    }
}

/* The threshold grows by so much that nothing follows the warm-up. */
TEST(a_far_horizon_sends_in_the_warm_up_alone)
{
    GOSSIP_SETTINGS(s, "eventgrad", s.horizon = 1e6, s.warmup = 3);
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    struct gossip_result r = gossip_fixture_numbers(&f, &s);
    assert_int_equal(r.exchanges, 4 * 2 * 3);
    assert_close(r.sent_B, 4 * 2 * 3 * gossip_fixture_model_B(&f), 1e-12);
}

/* Tensors, not models: then a message is a part of one, and some are not sent. */
TEST(default_horizon_saves_bytes_and_messages)
{
    struct gossip_settings s = gossip_fixture_settings("eventgrad");
    double model_B;
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    model_B = gossip_fixture_model_B(&f);
    struct gossip_result r = gossip_fixture_numbers(&f, &s);
    assert_true(r.exchanges > 4 * 2 * s.warmup && r.exchanges <= 4 * 2 * FIXTURE_STEPS);
    assert_true(r.sent_B > (double)(4 * 2 * s.warmup) * model_B);
    assert_true(r.sent_B < (double)r.exchanges * model_B);
}

TEST(without_jitter_horizon_0_is_gossip_with_the_ring)
{
    GOSSIP_SETTINGS(event, "eventgrad", event.horizon = 0);
    GOSSIP_SETTINGS(ring, "gossip-pga", ring.period = 1000000);
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, clock->jitter = 0);
    for (int stale = 0; stale < 2; stale++) {
        f.setup.clock.stale = stale;
        GOSSIP_RUN(a, &f, &event);
        GOSSIP_RUN(b, &f, &ring);
        assert_close(a.time_s, b.time_s, 1e-12);
        for (int32_t k = 0; k < 4 * f.net.n_params; k++)
            assert_near(a.models[k], b.models[k], 1e-4);
    }
}

/* In step, with overlap and messages that take less than a step: x <- (x + those of the step before) / 3,
 * where what was sent is x before it was averaged, and at first all have the models of the beginning. */
TEST(with_overlap_models_of_the_step_before_are_mixed)
{
    enum { N = 4, STEPS = 5 };
    GOSSIP_SETTINGS(s, "eventgrad", s.horizon = 0);
    GOSSIP_FIXTURE_WITH(f, N, GOSSIP_IID, learning->rate = 0, learning->epochs = 0.5);
    f.setup.clock = (struct gossip_clock){
        .step_s = 1, .slowdown = 1, .pause_factor = 1, .stale = true, .overlap = true
    };
    GOSSIP_START(c, &f, &s);
    int32_t p = c.n_params;
    KEEP(double *, x, free_at) = calloc((size_t)(3 * N * p), sizeof *x);
    double *heard = x + N * p, *sent = heard + N * p;
    assert_non_null(x);
    for (int32_t i = 0; i < N * p; i++)
        heard[i] = (double)c.workers[i / p].x[i % p];
    gossip_fixture_scatter(&c);
    for (int32_t i = 0; i < N * p; i++)
        x[i] = (double)c.workers[i / p].x[i % p];
    gossip_fixture_finish(&c);
    for (int32_t step = 0; step < STEPS; step++) {
        memcpy(sent, x, (size_t)(N * p) * sizeof *x);
        for (int32_t i = 0; i < N; i++)
            for (int32_t k = 0; k < p; k++)
                x[i * p + k] =
                    (sent[i * p + k] + heard[(i + 1) % N * p + k] + heard[(i + 3) % N * p + k]) / 3;
        memcpy(heard, sent, (size_t)(N * p) * sizeof *x);
    }
    for (int32_t i = 0; i < N * p; i++)
        assert_near(c.workers[i / p].x[i % p], x[i], 1e-6);
}

/* Messages of a step take 12 ms in sum, a step 10 ms: with overlap messages are what takes time. */
TEST(overlap_hides_steps_behind_messages)
{
    struct gossip_result r;
    GOSSIP_SETTINGS(s, "eventgrad", s.horizon = 0);
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, clock->jitter = 0);
    r = gossip_fixture_numbers(&f, &s);
    assert_close(r.time_s, FIXTURE_STEPS * (FIXTURE_STEP_S + 2 * FIXTURE_MODEL_S), 1e-9);
    f.setup.clock.overlap = true;
    r = gossip_fixture_numbers(&f, &s);
    assert_close(r.time_s, FIXTURE_STEP_S + FIXTURE_STEPS * 2 * FIXTURE_MODEL_S, 1e-9);
}
