/* Models that travel with weights: how many, and what is kept. */
#include "sim/gossip/floats.h"
#include "tests/gossip_fixture.h"

static double weight_of(const struct gossip_worker *w)
{
    return *(const double *)w->state;
}

/* Transfers that have taken a model with its weight and not brought it yet. */
static bool on_its_way(const struct gossip_transfer *t)
{
    return t && t->there && !t->mixed;
}

static double sum_of_weights(const struct gossip_cluster *c)
{
    double sum = 0;
    for (int32_t i = 0; i < c->n_workers; i++)
        sum += weight_of(&c->workers[i]);
    for (int32_t i = 0; i < c->engine->cap_slots; i++)
        sum += on_its_way(c->engine->slots[i].transfer) ? c->engine->slots[i].transfer->number : 0;
    return sum;
}

/* Number k of every model, times its weight. */
static double weighted_sum(const struct gossip_cluster *c, int32_t k)
{
    double sum = 0;
    for (int32_t i = 0; i < c->n_workers; i++)
        sum += weight_of(&c->workers[i]) * (double)c->workers[i].x[k];
    for (int32_t i = 0; i < c->engine->cap_slots; i++) {
        const struct gossip_transfer *t = c->engine->slots[i].transfer;
        sum += on_its_way(t) ? t->number * (double)t->there[k] : 0;
    }
    return sum;
}

/* Who only mixes keeps the weighted sum of models, whatever is on its way. */
TEST(weights_sum_to_1_and_the_weighted_sum_of_models_stays)
{
    GOSSIP_SETTINGS(s, "gosgd", s.prob = 0.5);
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, learning->rate = 0);
    for (int kind = 0; kind < 4; kind++) {
        bool flew = false;
        f.setup.clock.stale = kind % 2;
        f.setup.clock.overlap = kind / 2;
        GOSSIP_SCATTERED(c, &f, &s);
        double before = weighted_sum(&c, 0);
        while (gossip_fixture_turn(&c)) {
            double at_rest = 0;
            for (int32_t i = 0; i < 4; i++)
                at_rest += weight_of(&c.workers[i]);
            flew = flew || at_rest < 0.99;
            assert_near(sum_of_weights(&c), 1, 1e-12);
            assert_near(weighted_sum(&c, 0), before, 1e-5);
        }
        assert_int_equal(flew, f.setup.clock.stale);
        assert_true(floats_distance2(c.workers[0].x, c.workers[1].x, c.n_params) < 1e-3);
    }
}

/* Two workers of weight 1/2: the sender keeps 1/4, the other's model becomes 2/3 own and 1/3 sent. */
TEST(a_message_is_mixed_in_by_its_weight)
{
    GOSSIP_SETTINGS(s, "gosgd", s.prob = 1);
    GOSSIP_FIXTURE_WITH(f, 2, GOSSIP_IID, learning->rate = 0, clock->jitter = 0);
    GOSSIP_SCATTERED(c, &f, &s);
    double sent = (double)c.workers[0].x[3], own = (double)c.workers[1].x[3];
    assert_true(gossip_fixture_turn(&c) && weight_of(&c.workers[0]) == 0.25);
    assert_true(weight_of(&c.workers[1]) == 0.75 && (double)c.workers[0].x[3] == sent);
    assert_near((double)c.workers[1].x[3], 2 * own / 3 + sent / 3, 1e-6);
}

/* 160 steps; the number of messages within five deviations of its mean. */
TEST(messages_are_sent_by_chance_one_model_each)
{
    GOSSIP_FIXTURE(f, 4, GOSSIP_IID);
    for (double prob = 0; prob <= 1; prob += 0.25) {
        GOSSIP_SETTINGS(s, "gosgd", s.prob = prob);
        double steps = 4 * FIXTURE_STEPS;
        struct gossip_result r = gossip_fixture_numbers(&f, &s);
        assert_near((double)r.exchanges, steps * prob, 5 * sqrt(steps * prob * (1 - prob)));
        assert_true(r.sent_B == (double)r.exchanges * gossip_fixture_model_B(&f));
    }
}

/* Two that step together and send every time: messages cross, nobody waits for the other's. */
TEST(a_sender_waits_for_its_own_message_alone)
{
    GOSSIP_SETTINGS(s, "gosgd", s.prob = 1);
    GOSSIP_FIXTURE_WITH(f, 2, GOSSIP_IID, clock->jitter = 0);
    struct gossip_result r = gossip_fixture_numbers(&f, &s);
    assert_close(r.time_s, FIXTURE_STEPS * (FIXTURE_STEP_S + FIXTURE_MODEL_S), 1e-9);
}

TEST(one_worker_alone_learns_and_sends_nothing)
{
    struct gossip_settings s = gossip_fixture_settings("gosgd"), never = gossip_fixture_settings("local");
    s.prob = 1;
    never.period = 2 * FIXTURE_STEPS;
    GOSSIP_FIXTURE(f, 1, GOSSIP_IID);
    assert_int_equal(gossip_fixture_assert_same_run(&f, &s, &never).exchanges, 0);
}
