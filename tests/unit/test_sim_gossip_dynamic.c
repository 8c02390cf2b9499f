/* Dynamic averaging: what its bound promises, and who takes part in a round. */
#include "sim/gossip/floats.h"
#include "tests/gossip_fixture.h"

enum { REFERENCE = 1 /* of the vectors that workers share */ };

TEST(without_a_bound_nobody_sends)
{
    GOSSIP_SETTINGS(dynamic, "dynamic", dynamic.delta = INFINITY);
    GOSSIP_SETTINGS(apart, "local", apart.period = FIXTURE_STEPS + 1);
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    GOSSIP_RUN(a, &f, &dynamic);
    GOSSIP_RUN(b, &f, &apart);
    assert_true(a.exchanges == 0 && a.sent_B == 0);
    assert_memory_equal(a.models, b.models, 4 * (size_t)f.net.n_params * sizeof *a.models);
}

/* All violate at every look: a model of each goes up, and the mean comes down. */
TEST(a_bound_of_0_is_local_sgd_through_a_server)
{
    GOSSIP_SETTINGS(dynamic, "dynamic", dynamic.delta = 0);
    struct gossip_settings local = gossip_fixture_settings("local");
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (int64_t period = 1; period <= 9; period += 4) {
        dynamic.check = local.period = period;
        f.setup.clock.stale = period > 1;
        GOSSIP_RUN(a, &f, &dynamic);
        GOSSIP_RUN(b, &f, &local);
        assert_memory_equal(a.models, b.models, 4 * (size_t)f.net.n_params * sizeof *a.models);
        assert_int_equal(a.exchanges, 8 * (FIXTURE_STEPS / period));
        assert_true(a.sent_B == (double)a.exchanges * gossip_fixture_model_B(&f));
    }
}

/* Models go up one after the other, as the server has one port, and down likewise. */
TEST(a_round_of_all_takes_as_long_as_its_messages)
{
    GOSSIP_SETTINGS(s, "dynamic", s.delta = 0);
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, clock->jitter = 0);
    struct gossip_result r = gossip_fixture_numbers(&f, &s);
    assert_close(r.time_s, FIXTURE_STEPS * (FIXTURE_STEP_S + 8 * FIXTURE_MODEL_S), 1e-9);
}

/* All stand after the same number of steps, and compute the next one: no round is under way. */
static bool is_between_rounds(const struct gossip_cluster *c, int64_t check)
{
    bool done = c->workers[0].steps == c->n_steps;
    for (int32_t i = 0; i < c->n_workers; i++) {
        const struct gossip_worker *w = &c->workers[i];
        if (w->steps != c->workers[0].steps || w->steps % check || w->holds > 0 || w->computes == done)
            return false;
    }
    return true;
}

/* Mean over workers of |x - mean|^2. */
static double divergence(const struct gossip_cluster *c)
{
    float *models[4], *mean = malloc((size_t)c->n_params * sizeof *mean);
    double sum = 0;
    assert_non_null(mean);
    for (int32_t i = 0; i < 4; i++)
        models[i] = c->workers[i].x;
    floats_mean(mean, models, 4, c->n_params);
    for (int32_t i = 0; i < 4; i++)
        sum += floats_distance2(models[i], mean, c->n_params);
    free(mean);
    return sum / 4;
}

/* The mean is the point from which the sum of squared distances is least, so it is below that from the
 * reference, and each of those is below delta. */
TEST(models_are_no_further_apart_than_the_bound)
{
    struct gossip_settings s = gossip_fixture_settings("dynamic");
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (int kind = 0; kind < 4; kind++) {
        int64_t rounds = 0;
        s.delta = kind / 2 ? 1 : 0.3;
        s.check = kind % 2 ? 2 : 1;
        GOSSIP_START(c, &f, &s);
        while (gossip_fixture_turn(&c)) {
            if (!is_between_rounds(&c, s.check))
                continue;
            rounds++;
            for (int32_t i = 0; i < 4; i++)
                assert_true(floats_distance2(c.workers[i].x, c.shared[REFERENCE], c.n_params) <= s.delta);
            assert_true(divergence(&c) <= s.delta);
        }
        assert_int_equal(rounds, FIXTURE_STEPS / s.check);
        assert_true(c.engine->exchanges > 0 && c.engine->exchanges < 8 * rounds);
    }
}

/* A cluster that learns nothing, its models and reference all 0. */
static void start_at_rest(struct gossip_cluster *c, struct gossip_fixture *f, const struct gossip_settings *s)
{
    gossip_fixture_build(f, 4, GOSSIP_IID);
    f->setup.learning.rate = 0;
    gossip_fixture_start(c, f, s);
    memset(c->shared[REFERENCE], 0, (size_t)c->n_params * sizeof(float));
    for (int32_t i = 0; i < 4; i++)
        memset(c->workers[i].x, 0, (size_t)c->n_params * sizeof(float));
}

static void turn_round(struct gossip_cluster *c)
{
    int64_t steps = c->workers[0].steps;
    while (c->workers[0].steps == steps || !is_between_rounds(c, 1))
        assert_true(gossip_fixture_turn(c));
}

/* One is at 2, three at 0, and 1 is allowed: the mean with one other is at 1. */
TEST(the_server_asks_as_many_others_as_it_needs)
{
    GOSSIP_SETTINGS(s, "dynamic", s.delta = 1);
    KEEP(struct gossip_fixture, f, gossip_fixture_free);
    KEEP(struct gossip_cluster, c, gossip_cluster_free);
    int32_t moved = 0;
    start_at_rest(&c, &f, &s);
    c.workers[2].x[5] = 2;
    turn_round(&c);
    for (int32_t i = 0; i < 4; i++) {
        assert_true(c.workers[i].x[5] == 0 || c.workers[i].x[5] == 1);
        moved += c.workers[i].x[5] == 1;
    }
    assert_true(moved == 2 && c.workers[2].x[5] == 1 && c.shared[REFERENCE][5] == 0);
    assert_int_equal(c.engine->exchanges, 4);
    /* Now nobody violates. */
    gossip_fixture_finish(&c);
    assert_int_equal(c.engine->exchanges, 4);
}

/* One at 4 and three at 0 are at 1 together, and only together: a new reference. */
TEST(an_average_of_all_is_the_new_reference)
{
    GOSSIP_SETTINGS(s, "dynamic", s.delta = 1.5);
    KEEP(struct gossip_fixture, f, gossip_fixture_free);
    KEEP(struct gossip_cluster, c, gossip_cluster_free);
    start_at_rest(&c, &f, &s);
    c.workers[2].x[5] = 4;
    turn_round(&c);
    for (int32_t i = 0; i < 4; i++)
        assert_true(c.workers[i].x[5] == 1);
    assert_true(c.shared[REFERENCE][5] == 1);
    assert_int_equal(c.engine->exchanges, 8);
}

/* One violation a round, four workers: the fourth round is of all, the fifth is not. */
TEST(as_many_violations_as_workers_call_all)
{
    static const int64_t messages[] = { 4, 4, 4, 8, 4 };
    GOSSIP_SETTINGS(s, "dynamic", s.delta = 1);
    KEEP(struct gossip_fixture, f, gossip_fixture_free);
    KEEP(struct gossip_cluster, c, gossip_cluster_free);
    int64_t sum = 0;
    start_at_rest(&c, &f, &s);
    for (size_t round = 0; round < COUNT_OF(messages); round++) {
        float at = c.shared[REFERENCE][5];
        assert_true(at == (round < 4 ? 0.0F : 0.5F));
        for (int32_t i = 0; i < 4; i++)
            c.workers[i].x[5] = at + (i == 1 ? 2.0F : 0.0F);
        turn_round(&c);
        sum += messages[round];
        assert_int_equal(c.engine->exchanges, sum);
    }
}

/* Who takes part depends on models alone. The wire serves in the order that was asked for. */
TEST(a_replay_on_another_network_is_the_run_there)
{
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (int kind = 0; kind < 4; kind++) {
        GOSSIP_SETTINGS(s, "dynamic", s.delta = kind % 2 ? 0.3 : 0.03);
        gossip_fixture_assert_replays(&f, &s, kind / 2 ? 3.7 : 0.2);
    }
}
