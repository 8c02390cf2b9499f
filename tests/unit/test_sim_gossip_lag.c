/* LAG: the conditions by hand, what it is the same as, and what it sends. */
#include "sim/gossip/method.h"
#include "sim/gossip/floats.h"
#include "tests/gossip_fixture.h"

/* As of means of models, see test_sim_gossip_sync.c: here gradients are averaged in both. */
#define ROUNDING 1e-5

/* Changes of 1, 2, 3 and 4 at rates 0.5, 1, 1 and 2; a ring of 3 keeps 4, 9 and 16 / 4. */
TEST(the_bound_sums_the_last_changes_over_their_rates)
{
    double change2[3];
    struct gossip_lag_past p = { .change2 = change2, .depth = 3 };
    assert_true(gossip_lag_bound(&p, 0.1) == 0);
    gossip_lag_note(&p, 1, 0.5);
    assert_close(gossip_lag_bound(&p, 0.1), 0.4, 1e-15);
    gossip_lag_note(&p, 4, 1);
    gossip_lag_note(&p, 9, 1);
    assert_close(gossip_lag_bound(&p, 0.1), 1.7, 1e-15);
    gossip_lag_note(&p, 16, 2);
    assert_close(gossip_lag_bound(&p, 0.1), 1.7, 1e-15);
    gossip_lag_note(&p, 0, 2);
    assert_close(gossip_lag_bound(&p, 1), 13, 1e-15);
}

TEST(who_moved_more_than_the_bound_sends)
{
    double change2[2];
    struct gossip_lag_past p = { .change2 = change2, .depth = 2 };
    assert_true(gossip_lag_is_due(&p, 0, 1));
    gossip_lag_note(&p, 4, 1);
    assert_true(gossip_lag_is_due(&p, 0, 1)); /* not yet as many changes as are remembered */
    gossip_lag_note(&p, 4, 1);
    assert_true(!gossip_lag_is_due(&p, 0, 1) && !gossip_lag_is_due(&p, 8, 1));
    assert_true(gossip_lag_is_due(&p, 8.001, 1) && !gossip_lag_is_due(&p, 0.8, 0.1));
    assert_true(gossip_lag_is_due(&p, 0.801, 0.1));
    assert_false(gossip_lag_is_due(&p, 0, 0)); /* what has not changed at all is no news */
    assert_true(gossip_lag_is_due(&p, 1e-30, 0) && gossip_lag_is_due(&p, NAN, 1));
}

/* A gradient of each goes up, theta comes down to each. */
TEST(lag_that_always_sends_is_synchronous_sgd)
{
    static const char *const names[] = { "lag-wk", "lag-ps" };
    struct gossip_settings all_reduce = gossip_fixture_settings("all-reduce");
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, learning->schedule = GOSSIP_RATE_STEPS,
                        learning->weight_decay = 1e-3);
    for (int kind = 0; kind < 8; kind++) {
        GOSSIP_SETTINGS(lag, names[kind % 2], lag.lag_xi = 0);
        f.setup.clock.stale = kind / 2 % 2;
        f.setup.clock.overlap = kind / 4;
        GOSSIP_RUN(a, &f, &lag);
        GOSSIP_RUN(b, &f, &all_reduce);
        assert_true(gossip_fixture_apart(&a, &b, &f) <= ROUNDING);
        assert_int_equal(a.exchanges, 2 * 4 * FIXTURE_STEPS);
        assert_true(a.sent_B == (double)a.exchanges * gossip_fixture_model_B(&f));
    }
}

/* Up and down one after the other, through the one port of the server. */
TEST(an_iteration_takes_as_long_as_its_messages)
{
    GOSSIP_SETTINGS(s, "lag-wk", s.lag_xi = 0);
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, clock->jitter = 0);
    struct gossip_result r = gossip_fixture_numbers(&f, &s);
    assert_true(r.time_s > FIXTURE_STEPS * (FIXTURE_STEP_S + 5 * FIXTURE_MODEL_S));
    assert_true(r.time_s <= FIXTURE_STEPS * (FIXTURE_STEP_S + 8 * FIXTURE_MODEL_S) + 1e-9);
}

/* x - 40 rate times the mean of first gradients, once these are never replaced. */
static void straight_on(double *want, const struct gossip_fixture *f, const struct gossip_settings *s)
{
    GOSSIP_START(c, f, s);
    for (int32_t k = 0; k < c.n_params; k++) {
        double sum = 0;
        for (int32_t i = 0; i < 4; i++)
            sum += (double)c.workers[i].g[k];
        want[k] = (double)c.workers[0].x[k] - FIXTURE_STEPS * 0.05 * sum / 4;
    }
}

/* One iteration without a test, then no news is ever news: the first gradients stay. lag-wk computes and
 * tells all the same; lag-ps asks nobody, so all is done after one step, and tells theta in the end. */
TEST(the_server_goes_on_along_what_it_was_sent_last)
{
    CASES(const char *name; double xi, smooth; int64_t messages; double most_s) = {
        { "lag-wk", INFINITY, 1, 4 + 4 * FIXTURE_STEPS, INFINITY },
        { "lag-ps", 1, 0, 4 + 4, 2 * FIXTURE_STEP_S + 8 * FIXTURE_MODEL_S },
    };
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_SKEW, clock->stale = true, learning->momentum = 0);
    KEEP(double *, want, free_at) = malloc((size_t)f.net.n_params * sizeof *want);
    assert_non_null(want);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        GOSSIP_SETTINGS(s, cases[i].name, s.lag_depth = 1, s.lag_xi = cases[i].xi,
                        s.lag_smooth = cases[i].smooth);
        straight_on(want, &f, &s);
        GOSSIP_RUN(r, &f, &s);
        assert_int_equal(r.exchanges, cases[i].messages);
        assert_true(r.time_s <= cases[i].most_s);
        for (int32_t k = 0; k < 4 * f.net.n_params; k++)
            assert_near(r.models[k], want[k % f.net.n_params], ROUNDING);
    }
}

/* The setting of the source: gradients of all examples, no momentum. What it saves there is published as an
 * order of magnitude; a half is asked for here. */
TEST(with_whole_gradients_fewer_are_sent_and_as_much_is_learned)
{
    enum { STEPS = 100, LOUD = 4 * STEPS /* messages one way */ };
    /* lag-wk tells theta to all, whoever has sent. */
    CASES(const char *name; int64_t most) = { { "lag-wk", LOUD + LOUD / 2 }, { "lag-ps", 2 * LOUD / 2 } };
    struct gossip_settings all_reduce = gossip_fixture_settings("all-reduce");
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, learning->batch = 40, learning->epochs = STEPS,
                        learning->momentum = 0);
    GOSSIP_RUN(whole, &f, &all_reduce);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct gossip_settings s = gossip_fixture_settings(cases[i].name);
        GOSSIP_RUN(lazy, &f, &s);
        assert_true(lazy.exchanges < cases[i].most && lazy.loss < 1.05 * whole.loss);
    }
}

TEST(all_end_with_the_model_of_the_server)
{
    static const char *const names[] = { "lag-wk", "lag-ps" };
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (int kind = 0; kind < 2; kind++) {
        struct gossip_settings s = gossip_fixture_settings(names[kind]);
        size_t n = (size_t)f.net.n_params;
        GOSSIP_RUN(r, &f, &s);
        for (size_t i = 1; i < 4; i++)
            assert_memory_equal(r.models + i * n, r.models, n * sizeof *r.models);
        assert_int_equal(r.steps, FIXTURE_STEPS);
        assert_true(kind == 0 || r.exchanges < INT64_C(8) * FIXTURE_STEPS);
    }
}

TEST(numbers_that_say_nothing_are_those_of_the_source)
{
    CASES(const char *name; double xi, smooth) = {
        { "lag-wk", 0.1, NAN },
        { "lag-ps", 1, (1 - 0.9) / 0.05 },
    };
    GOSSIP_FIXTURE(f, 4, GOSSIP_SKEW);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct gossip_settings s = gossip_fixture_settings(cases[i].name), told = s;
        assert_true(isnan(s.lag_xi) && isnan(s.lag_smooth));
        told.lag_xi = cases[i].xi;
        told.lag_smooth = cases[i].smooth;
        gossip_fixture_assert_same_run(&f, &s, &told);
    }
}

TEST(impossible_numbers_are_refused)
{
    GOSSIP_FIXTURE(f, 2, GOSSIP_IID);
    f.setup.learning.optimizer = GOSSIP_ADAMW;
    GOSSIP_REFUSED(f, "lag-ps", "optimizer is adamw, expected sgd", s.lag_xi = s.lag_smooth = 1);
}
