/* Gossip between two workers: what it sends, how long it takes, and what it keeps. */
#include "sim/gossip/vec.h"
#include "tests/gossip_fixture.h"

static double sum_of_models(const struct gossip_cluster *c)
{
    double sum = 0;
    for (int32_t i = 0; i < c->n_workers; i++)
        for (int32_t k = 0; k < c->n_params; k++)
            sum += (double)c->workers[i].x[k];
    return sum;
}

/* Greatest distance of a model from the first one. */
static double apart_of_models(const struct gossip_cluster *c)
{
    double most = 0;
    for (int32_t i = 1; i < c->n_workers; i++)
        most = fmax(most, sqrt(vec_distance2(c->workers[i].x, c->workers[0].x, c->n_params)));
    return most;
}

/* One exchange after every `period` steps of a worker, a model each way. */
static void a_fixed_period_sends_its_share(void **state)
{
    struct gossip_fixture f;
    struct gossip_result r;
    (void)state;
    gossip_fixture_build(&f, 4, GOSSIP_SKEW);
    for (int64_t period = 1; period <= 64; period *= 4) {
        struct gossip_settings s = gossip_fixture_settings("pair");
        s.period = period;
        gossip_fixture_run(&r, &f, &s);
        assert_int_equal(r.steps, FIXTURE_STEPS);
        assert_int_equal(r.exchanges, 4 * (FIXTURE_STEPS / period));
        assert_true(r.sent_B == (double)r.exchanges * 2 * gossip_fixture_model_B(&f));
        gossip_result_free(&r);
    }
    gossip_fixture_free(&f);
}

/* To rounding: sums in double of numbers of about 1. */
static void symmetric_pairs_keep_the_sum_of_models(void **state)
{
    struct gossip_fixture f;
    struct gossip_settings s = gossip_fixture_settings("pair");
    (void)state;
    gossip_fixture_build(&f, 4, GOSSIP_SKEW);
    f.setup.learning.rate = 0;
    for (int kind = 0; kind < 4; kind++) {
        struct gossip_cluster c;
        f.setup.clock.stale = kind % 2;
        f.setup.clock.overlap = kind / 2;
        gossip_fixture_start(&c, &f, &s);
        gossip_fixture_scatter(&c);
        double before = sum_of_models(&c), apart = apart_of_models(&c);
        while (gossip_fixture_turn(&c))
            assert_near(sum_of_models(&c), before, 1e-4);
        assert_true(apart_of_models(&c) < 1e-3 * apart);
        gossip_cluster_free(&c);
    }
    gossip_fixture_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fixed_period_sends_its_share),
        cmocka_unit_test(symmetric_pairs_keep_the_sum_of_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
