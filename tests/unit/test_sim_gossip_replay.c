/* Replays: the run they follow, the same on other networks, and logs that cannot be followed. */
#include "sim/gossip/replay.h"
#include "tests/gossip_fixture.h"

static void run(struct gossip_result *r, struct gossip_log *log, const struct gossip_fixture *f,
                const struct gossip_settings *s)
{
    const struct gossip_wish wish = { .log = log };
    if (log)
        *log = (struct gossip_log){ 0 };
    MUST(gossip_run(r, &f->setup, s, 5, &wish, e));
    assert_int_equal(r->diverged_step, -1);
}

static void replay(struct gossip_result *r, const struct gossip_log *log, const struct gossip_fixture *f)
{
    MUST(gossip_replay(r, log, &f->setup, e));
    assert_true(isnan(r->accuracy) && isnan(r->loss));
}

/* Stragglers, pauses, and steps that differ. */
static void make_uneven(struct gossip_fixture *f)
{
    f->setup.clock.jitter = 0.4;
    f->setup.clock.n_slow = 1;
    f->setup.clock.slowdown = 1.5;
    f->setup.clock.pause_prob = 0.05;
    f->setup.clock.pause_factor = 4;
}

TEST(a_replay_on_the_same_network_is_the_run)
{
    GOSSIP_FIXTURE(f, 5, GOSSIP_SKEW);
    make_uneven(&f);
    for (int32_t m = 0; m < gossip_n_methods; m++)
        for (int kind = 0; kind < 4; kind++) {
            GOSSIP_SETTINGS(s, gossip_method_name(m), s.prob = 0.4, s.period = 2);
            KEEP(struct gossip_result, trained, gossip_result_free);
            KEEP(struct gossip_result, replayed, gossip_result_free);
            KEEP(struct gossip_log, log, gossip_log_free);
            f.setup.clock.stale = kind % 2;
            f.setup.clock.overlap = kind / 2;
            run(&trained, &log, &f, &s);
            replay(&replayed, &log, &f);
            gossip_fixture_assert_same_clock(&trained, &replayed);
        }
}

/* Logged on a network of share 1; trained and replayed on another one. */
static void assert_same_elsewhere(struct gossip_fixture *f, const struct gossip_settings *s, double share)
{
    KEEP(struct gossip_result, here, gossip_result_free);
    KEEP(struct gossip_result, there, gossip_result_free);
    KEEP(struct gossip_result, replayed, gossip_result_free);
    KEEP(struct gossip_log, log, gossip_log_free);
    f->fabric.share = 1;
    run(&here, &log, f, s);
    f->fabric.share = share;
    run(&there, NULL, f, s);
    replay(&replayed, &log, f);
    gossip_fixture_assert_same_clock(&there, &replayed);
    assert_true(share > 0.1 || there.time_s > 2 * here.time_s);
}

TEST(a_pattern_that_does_not_depend_on_time_is_exact_on_any_network)
{
    const char *const methods[] = { "all-reduce", "local", "post-local", "pair",   "pull",
                                    "push",       "gosgd", "elastic",    "lag-wk", "lag-ps" };
    const double shares[] = { 0.01, 0.3, 5 };
    GOSSIP_FIXTURE(f, 5, GOSSIP_SKEW);
    make_uneven(&f);
    for (size_t m = 0; m < COUNT_OF(methods); m++)
        for (size_t k = 0; k < COUNT_OF(shares); k++)
            for (int overlap = 0; overlap < 2; overlap++) {
                GOSSIP_SETTINGS(s, methods[m], s.prob = 0.4, s.period = 2);
                f.setup.clock.overlap = overlap;
                assert_same_elsewhere(&f, &s, shares[k]);
            }
}

/* The last of several messages may be another one than in the run. With overlap much is sent when a message
 * has come, but never before the step whose model it is. */
TEST(workers_that_wait_for_neighbours_take_their_time_within_a_hundredth)
{
    const double shares[] = { 0.03, 0.3, 3 };
    GOSSIP_SETTINGS(s, "gossip-pga", s.period = 2);
    GOSSIP_FIXTURE_WITH(f, 8, GOSSIP_SKEW, clock->jitter = 0.3);
    for (int overlap = 0; overlap < 2; overlap++) {
        KEEP(struct gossip_result, here, gossip_result_free);
        KEEP(struct gossip_log, log, gossip_log_free);
        f.setup.clock.overlap = overlap;
        f.fabric.share = 1;
        run(&here, &log, &f, &s);
        for (size_t k = 0; k < COUNT_OF(shares); k++) {
            f.fabric.share = shares[k];
            KEEP(struct gossip_result, there, gossip_result_free);
            run(&there, NULL, &f, &s);
            KEEP(struct gossip_result, replayed, gossip_result_free);
            replay(&replayed, &log, &f);
            assert_close(replayed.time_s, there.time_s, 0.01);
            assert_int_equal(replayed.exchanges, there.exchanges);
        }
    }
}

/* Without latency a byte and a byte per second are the same. */
TEST(twice_the_model_on_twice_the_bandwidth_takes_as_long)
{
    const char *const methods[] = { "local", "pair", "elastic" };
    GOSSIP_FIXTURE(f, 4, GOSSIP_IID);
    for (size_t m = 0; m < COUNT_OF(methods); m++) {
        struct gossip_settings s = gossip_fixture_settings(methods[m]);
        KEEP(struct gossip_result, trained, gossip_result_free);
        KEEP(struct gossip_result, replayed, gossip_result_free);
        KEEP(struct gossip_log, log, gossip_log_free);
        f.fabric.share = 1;
        f.setup.model_B = 0;
        run(&trained, &log, &f, &s);
        f.fabric.share = 2;
        f.setup.model_B = 2 * gossip_fixture_model_B(&f);
        replay(&replayed, &log, &f);
        assert_close(replayed.time_s, trained.time_s, 1e-9);
        assert_close(replayed.sent_B, 2 * trained.sent_B, 1e-12);
    }
}

TEST(a_log_of_another_run_is_refused)
{
    struct gossip_settings s = gossip_fixture_settings("pair");
    struct gossip_result replayed;
    KEEP(struct gossip_result, r, gossip_result_free);
    KEEP(struct gossip_log, log, gossip_log_free) = { 0 };
    const struct gossip_wish wish = { .log = &log };
    GOSSIP_FIXTURE(f, 4, GOSSIP_IID);
    FAILS(gossip_replay(&replayed, &log, &f.setup, e), ERR_RANGE, "log: has no whole run");
    run(&r, &log, &f, &s);
    f.setup.learning.epochs = 2;
    FAILS(gossip_replay(&replayed, &log, &f.setup, e), ERR_RANGE,
          "log: is of 4 workers and 40 steps, expected 4 and 20");
    gossip_log_free(&log);
    gossip_result_free(&r);
    f.setup.learning.rate = 1e30;
    OK(gossip_run(&r, &f.setup, &s, 5, &wish, e));
    assert_true(r.diverged_step >= 0);
    FAILS(gossip_replay(&replayed, &log, &f.setup, e), ERR_RANGE, "log: has no whole run");
}

TEST(a_hold_that_nothing_releases_is_said)
{
    const struct gossip_cause third = { .kind = GOSSIP_AT_STEP, .id = 1, .step = 3 };
    KEEP(struct gossip_log, log, gossip_log_free) = { 0 };
    struct gossip_result r;
    GOSSIP_FIXTURE(f, 2, GOSSIP_IID);
    gossip_log_begin(&log, 1, 2, FIXTURE_STEPS, gossip_fixture_model_B(&f));
    gossip_log_add(&log, &third, &(struct gossip_ask){ .kind = GOSSIP_ASK_HOLD, .from = 1 });
    OK(gossip_log_end(&log, e));
    FAILS(gossip_replay(&r, &log, &f.setup, e), ERR_UNSUP,
          "replay: workers wait for each other after 43 of 80 steps");
}
