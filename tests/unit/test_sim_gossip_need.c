/* Bandwidth that methods need, against closed forms. Latency is 0 but where it is said. */
#include "sim/gossip/replay.h"
#include "tests/gossip_fixture.h"

/* Train on the network as it is and ask what of it was needed. */
static struct gossip_need need_of(const struct gossip_fixture *f, const struct gossip_settings *s,
                                  double wait_frac)
{
    KEEP(struct gossip_log, log, gossip_log_free) = { 0 };
    const struct gossip_wish wish = { .log = &log };
    KEEP(struct gossip_result, r, gossip_result_free);
    struct gossip_need need;
    MUST(gossip_run(&r, &f->setup, s, 1, &wish, e));
    MUST(gossip_need(&need, &log, &f->setup, wait_frac, e));
    return need;
}

/* Just above what is exact, by less than the width of the search. */
static void assert_need(const struct gossip_need *need, double exact_Bps)
{
    assert_true(need->bw_Bps >= exact_Bps * (1 - 1e-9) && need->bw_Bps <= exact_Bps * 1.0101);
    assert_true(need->time_s <= need->limit_s);
}

/* A step s and 2 (N - 1) / N S / B, every H steps: B = 2 (N - 1) / N S / (wait H s). */
TEST(an_all_reduce_needs_its_bytes_over_the_wait_that_is_allowed)
{
    const double waits[] = { 0.05, 0.5 };
    for (int32_t n = 2; n <= 8; n *= 2)
        for (int64_t period = 1; period <= 10; period += 9)
            for (size_t k = 0; k < COUNT_OF(waits); k++) {
                struct gossip_settings s = gossip_fixture_settings("local");
                GOSSIP_FIXTURE_WITH(f, n, GOSSIP_IID, clock->jitter = 0);
                f.setup.model_B = 14e6;
                s.period = period;
                struct gossip_need need = need_of(&f, &s, waits[k]);
                double bytes = 2 * (n - 1.0) / n * 14e6;
                assert_need(&need, bytes / (waits[k] * (double)period * FIXTURE_STEP_S));
                assert_close(need.free_s, FIXTURE_STEPS * FIXTURE_STEP_S, 1e-3);
            }
}

TEST(synchronous_sgd_needs_what_local_sgd_of_period_1_does)
{
    struct gossip_settings s = gossip_fixture_settings("all-reduce");
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, clock->jitter = 0);
    struct gossip_need need = need_of(&f, &s, GOSSIP_NEED_WAIT);
    assert_need(&need, 1.5 * gossip_fixture_model_B(&f) / (0.05 * FIXTURE_STEP_S));
}

/* Each exchange X once a step, and once more where the second queues behind the first: 40 (s + X) + X. */
TEST(two_that_exchange_every_step_need_a_little_more_than_a_model_each)
{
    struct gossip_settings s = gossip_fixture_settings("pair");
    GOSSIP_FIXTURE_WITH(f, 2, GOSSIP_IID, clock->jitter = 0);
    struct gossip_need need = need_of(&f, &s, GOSSIP_NEED_WAIT);
    double exchange_s = 0.05 * FIXTURE_STEPS * FIXTURE_STEP_S / (FIXTURE_STEPS + 1);
    assert_need(&need, gossip_fixture_model_B(&f) / exchange_s);
}

/* Latency of half a step s is there at any bandwidth: 40 (s + s/2 + X) + s/2 + X. */
TEST(latency_is_no_matter_of_bandwidth)
{
    struct gossip_settings s = gossip_fixture_settings("pair");
    GOSSIP_FIXTURE(f, 2, GOSSIP_IID);
    topo_graph_free(f.graph);
    f.fabric.net.dims[0].lat_s = FIXTURE_STEP_S / 2;
    OK(topo_build_graph(&f.graph, &f.fabric.net, NULL, e));
    f.fabric.graph = f.graph;
    f.setup.clock.jitter = 0;
    struct gossip_need need = need_of(&f, &s, GOSSIP_NEED_WAIT);
    double free_s = (1.5 * FIXTURE_STEPS + 0.5) * FIXTURE_STEP_S;
    assert_close(need.free_s, free_s, 1e-6);
    assert_need(&need, gossip_fixture_model_B(&f) / (0.05 * free_s / (FIXTURE_STEPS + 1)));
}

/* Eight workers in two boxes of four on switches, without a server. */
static void put_into_boxes(struct gossip_fixture *f, double within_Bps, double between_Bps)
{
    struct topo_network *net = &f->fabric.net;
    topo_graph_free(f->graph);
    MUST(topo_parse_spec(net, "switch:4@1 switch:2@1", e));
    for (int32_t d = 0; d < 2; d++)
        net->dims[d].lat_s = 0;
    net->dims[0].bw_Bps = within_Bps;
    net->dims[1].bw_Bps = between_Bps;
    f->fabric.server = 0;
    f->fabric.members[0] = 4;
    f->fabric.members[1] = 2;
    MUST(topo_build_graph(&f->graph, net, NULL, e));
    f->fabric.graph = f->graph;
}

/* An all-reduce of S is 2 3/4 S in boxes and 2 1/2 S/4 between them. The time of the other dimension is there
 * at any bandwidth of the one: B = bytes / (0.05 (s + time of the other)). */
TEST(one_dimension_needs_its_bytes_over_the_wait_that_is_allowed)
{
    static const double others_Bps[] = { 1e7, 1e9, 1e13 };
    static const double bytes[] = { 1.5 * 1e6, 0.25 * 1e6 };
    for (size_t i = 0; i < 2 * COUNT_OF(others_Bps) * N_GOSSIP_FIDELITYS; i++) {
        struct gossip_settings s = gossip_fixture_settings("all-reduce");
        int32_t d = i % 2;
        double other_Bps = others_Bps[i / 2 % COUNT_OF(others_Bps)], own_Bps = 1e8;
        GOSSIP_FIXTURE(f, 8, GOSSIP_IID);
        put_into_boxes(&f, d == 0 ? own_Bps : other_Bps, d == 1 ? own_Bps : other_Bps);
        f.fabric.fidelity = i / 2 < COUNT_OF(others_Bps) ? GOSSIP_CLOSED : GOSSIP_FLOW;
        f.fabric.share_dim = d + 1;
        f.setup.clock.jitter = 0;
        f.setup.model_B = 1e6;
        struct gossip_need need = need_of(&f, &s, GOSSIP_NEED_WAIT);
        double turn_s = FIXTURE_STEP_S + bytes[1 - d] / other_Bps;
        assert_close(need.free_s, FIXTURE_STEPS * turn_s, 1e-6);
        assert_need(&need, bytes[d] / (0.05 * turn_s));
        assert_close(need.bw_Bps, need.share * own_Bps, 1e-12);
    }
}

/* Also where exchanges queue and meet in any order; the search is 1 % wide. */
TEST(what_one_dimension_needs_does_not_depend_on_ample_bandwidth_elsewhere)
{
    double need_Bps[2];
    for (int k = 0; k < 2; k++) {
        struct gossip_settings s = gossip_fixture_settings("pair");
        GOSSIP_FIXTURE(f, 8, GOSSIP_IID);
        put_into_boxes(&f, k ? 1e15 : 1e12, 1e6);
        f.fabric.share_dim = 2;
        need_Bps[k] = need_of(&f, &s, GOSSIP_NEED_WAIT).bw_Bps;
    }
    assert_true(need_Bps[0] > 0 && isfinite(need_Bps[0]));
    assert_close(need_Bps[0], need_Bps[1], 0.0101);
}

/* Waiting for the slowest is in the time with endless bandwidth too. */
TEST(a_straggler_is_no_matter_of_bandwidth)
{
    struct gossip_settings s = gossip_fixture_settings("all-reduce");
    GOSSIP_FIXTURE_WITH(f, 4, GOSSIP_IID, clock->jitter = 0, clock->n_slow = 1, clock->slowdown = 5);
    struct gossip_need need = need_of(&f, &s, GOSSIP_NEED_WAIT);
    assert_need(&need, 1.5 * gossip_fixture_model_B(&f) / (0.05 * 5 * FIXTURE_STEP_S));
}

/* The network of the run does not matter, only what was asked of it. */
TEST(the_need_is_the_same_from_a_slow_run_and_a_fast_one)
{
    struct gossip_settings s = gossip_fixture_settings("pair");
    GOSSIP_FIXTURE(f, 4, GOSSIP_IID);
    f.fabric.share = 0.01;
    struct gossip_need slow = need_of(&f, &s, GOSSIP_NEED_WAIT);
    f.fabric.share = 100;
    struct gossip_need fast = need_of(&f, &s, GOSSIP_NEED_WAIT);
    assert_true(slow.share == fast.share && slow.time_s == fast.time_s);
}

/* Also where replays are not exact. */
TEST(a_run_at_the_share_found_takes_what_was_said_within_a_twentieth)
{
    const char *const methods[] = { "pair", "gosgd", "elastic", "gossip-pga", "eventgrad", "diloco" };
    const struct gossip_wish nothing = { 0 };
    GOSSIP_FIXTURE_WITH(f, 8, GOSSIP_SKEW, clock->jitter = 0.3);
    for (size_t i = 0; i < 2 * COUNT_OF(methods); i++) {
        GOSSIP_SETTINGS(s, methods[i / 2], s.period = 2, s.prob = 0.4);
        KEEP(struct gossip_result, r, gossip_result_free);
        f.setup.clock.overlap = i % 2;
        f.fabric.share = 1;
        struct gossip_need need = need_of(&f, &s, GOSSIP_NEED_WAIT);
        f.fabric.share = need.share;
        OK(gossip_run(&r, &f.setup, &s, 1, &nothing, e));
        assert_close(r.time_s, need.time_s, 0.05);
    }
}

TEST(who_sends_nothing_needs_nothing_and_some_never_have_enough)
{
    GOSSIP_SETTINGS(s, "local", s.period = INT64_MAX);
    GOSSIP_FIXTURE(f, 2, GOSSIP_IID);
    struct gossip_need need = need_of(&f, &s, GOSSIP_NEED_WAIT);
    assert_true(need.share == 0 && need.bw_Bps == 0 && need.time_s == need.free_s);
    s.period = 1;
    f.setup.model_B = 1e9 * f.fabric.net.dims[0].bw_Bps;
    need = need_of(&f, &s, GOSSIP_NEED_WAIT);
    assert_true(isinf(need.share) && isinf(need.bw_Bps) && need.time_s > need.limit_s);
}

TEST(a_wait_that_is_none_is_refused)
{
    struct gossip_log log = { 0 };
    struct gossip_need need;
    GOSSIP_FIXTURE(f, 2, GOSSIP_IID);
    FAILS(gossip_need(&need, &log, &f.setup, 0, e), ERR_RANGE, "wait_frac is 0, expected > 0");
    FAILS(gossip_need(&need, &log, &f.setup, NAN, e), ERR_RANGE, "wait_frac is nan, expected > 0");
    FAILS(gossip_need(&need, &log, &f.setup, 1, e), ERR_RANGE, "log: has no whole run");
}
