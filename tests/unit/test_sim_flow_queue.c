#include "tests/unit/flow_plant.h"

TEST(collectives_of_one_group_queue_and_of_two_share)
{
    PLANT(p, "ring:8@50", 0);
    double one_s = 14 / 8. * S_B / 50e9;
    int32_t g = group(&p, &p.all), other = group(&p, &p.all);
    int32_t a = issue(&p, g, COLLECTIVE_ALL_REDUCE, S_B, 0),
            b = issue(&p, g, COLLECTIVE_REDUCE_SCATTER, S_B, 0);
    run(&p);
    /* a's all-gather joins the queue when its reduce-scatter is over: b is before it. */
    assert_close(flow_sim_finish_s(p.sim, b), one_s, 1e-12);
    assert_close(flow_sim_finish_s(p.sim, a), 1.5 * one_s, 1e-12);
    a = issue(&p, g, COLLECTIVE_ALL_REDUCE, S_B, 2 * one_s);
    b = issue(&p, other, COLLECTIVE_ALL_REDUCE, S_B, 2 * one_s);
    run(&p);
    assert_close(flow_sim_finish_s(p.sim, a), 4 * one_s, 1e-12);
    assert_close(flow_sim_finish_s(p.sim, b), 4 * one_s, 1e-12);
}

/* The first has the line; of those that wait the last has the highest priority, then equals as they came. */
TEST(higher_priority_is_served_first)
{
    static const int32_t priorities[] = { 0, 1, 1, -3, 7 }, turns[] = { 1, 3, 4, 5, 2 };
    PLANT(p, "ring:8@50", 0);
    double one_s = 7 / 8. * S_B / 50e9;
    int32_t g = group(&p, &p.all), ids[COUNT_OF(priorities)];
    for (size_t i = 0; i < COUNT_OF(priorities); i++) {
        OK(flow_sim_issue(p.sim, g, COLLECTIVE_REDUCE_SCATTER, S_B, 1e-3 * (double)i, priorities[i], &ids[i],
                          e));
    }
    run(&p);
    for (size_t i = 0; i < COUNT_OF(priorities); i++)
        assert_close(flow_sim_finish_s(p.sim, ids[i]), turns[i] * one_s, 1e-12);
}

TEST(messages_are_counted_before_they_are_sent)
{
    static const char *const net_words[] = { "ring:8@50", "switch:6@50 ring:4@50", "line:4@50 full:3@50" };
    for (size_t w = 0; w < COUNT_OF(net_words); w++)
        for (int kind = 0; kind < N_COLLECTIVES; kind++) {
            KEEP(struct plant, p, plant_close);
            plant_word(&p, net_words[w], 1e-6);
            p.rules.stage.chunks = 3;
            plant_open(&p);
            int32_t g = group(&p, &p.all);
            double messages = flow_messages(&p.net, &p.all, &p.rules, (enum collective_kind)kind, S_B);
            issue(&p, g, (enum collective_kind)kind, S_B, 0);
            run(&p);
            /* One is the clock. */
            assert_true(messages > 0 && messages == (double)flow_count(flow_sim_net(p.sim)).done - 1);
        }
}

TEST(collectives_may_follow_each_other_as_they_end)
{
    int n_done = 0;
    PLANT(p, "switch:4@50", 1e-6);
    int32_t g = group(&p, &p.all);
    issue(&p, g, COLLECTIVE_ALL_REDUCE, S_B, 0.5);
    assert_true(isnan(flow_sim_finish_s(p.sim, 0)));
    while (flow_sim_next_s(p.sim) < INFINITY) {
        int32_t n;
        double next_s = flow_sim_next_s(p.sim);
        OK(flow_sim_advance(p.sim, e));
        assert_true(flow_now_s(flow_sim_net(p.sim)) == next_s);
        const int32_t *ended = flow_sim_ended(p.sim, &n);
        for (int32_t i = 0; i < n; i++) {
            assert_int_equal(ended[i], n_done);
            if (++n_done < 3)
                issue(&p, g, COLLECTIVE_ALL_REDUCE, S_B, 0);
        }
    }
    assert_int_equal(n_done, 3);
    assert_close(flow_sim_finish_s(p.sim, 2), 0.5 + 3 * (4e-6 + 1.5 * S_B / 50e9), 1e-12);
}

TEST(nothing_to_send_ends_at_once)
{
    PLANT(p, "switch:4@50", 1e-6);
    int32_t none = issue(&p, group(&p, &p.all), COLLECTIVE_ALL_REDUCE, 0, 0.25);
    int32_t alone =
        issue(&p, group(&p, &(struct flow_group_spec){ .members = { 1 } }), COLLECTIVE_ALL_REDUCE, S_B, 0);
    run(&p);
    assert_true(flow_sim_finish_s(p.sim, none) == 0.25 && flow_sim_finish_s(p.sim, alone) == 0);
}

/* ---- failed and slow links ---- */

/* All that goes around the ring passes the slow link, at half of the speed. */
TEST(slow_link_slows_the_whole_ring)
{
    PLANT(p, "ring:8@50", 0);
    flow_sim_free(p.sim);
    OK(topo_routes_set_share(&p.routes, 3, 0.5, e));
    OK(flow_sim_build(&p.sim, &p.routes, &p.rules, e));
    int32_t id = issue(&p, group(&p, &p.all), COLLECTIVE_ALL_REDUCE, S_B, 0);
    run(&p);
    assert_close(flow_sim_finish_s(p.sim, id), 2 * 14 / 8. * S_B / 50e9, 1e-12);
    for (int32_t a = 0; a < p.routes.n_arcs; a++)
        assert_close(flow_arc_use(flow_sim_net(p.sim), a).util_frac, a / 2 == 3 ? 1 : 0.5, 1e-12);
}

/* Time of a collective on switch:n@50 with what @p share says of the ports of NPUs 0 and 3. */
static double finish_with_slow_ports(int32_t n, enum topo_algorithm a, enum collective_kind kind,
                                     const double share[2])
{
    char word[32];
    snprintf(word, sizeof word, "switch:%d@50", (int)n);
    KEEP(struct plant, p, plant_close);
    plant_word(&p, word, 0);
    p.net.dims[0].algorithm = a;
    plant_open(&p);
    flow_sim_free(p.sim);
    MUST(topo_routes_slow_npu(&p.routes, 0, -1, share[0], e));
    MUST(topo_routes_slow_npu(&p.routes, n > 3 ? 3 : 1, -1, share[1], e));
    MUST(flow_sim_build(&p.sim, &p.routes, &p.rules, e));
    int32_t id = issue(&p, group(&p, &p.all), kind, S_B, 0);
    run(&p);
    return flow_sim_finish_s(p.sim, id);
}

/* The slowest member sends and receives (n-1)/n of S without a pause, whatever the algorithm: the time is
 * that of a switch whose ports are all as slow, never more. */
TEST(slow_port_costs_what_all_ports_slow_would)
{
    static const enum topo_algorithm how[] = { TOPO_ALGORITHM_SHAPE /* halving or Bruck */,
                                               TOPO_ALGORITHM_RING, TOPO_ALGORITHM_DIRECT };
    static const double shares[][2] = { { 1, 1 }, { 0.5, 1 }, { 1, 0.5 }, { 0.2, 0.7 }, { 0.9, 0.35 } };
    for (int32_t n = 2; n <= 17; n++)
        for (size_t a = 0; a < COUNT_OF(how); a++)
            for (size_t i = 0; i < COUNT_OF(shares); i++) {
                double least = fmin(shares[i][0], shares[i][1]), pass_s = (n - 1.0) / n * S_B / 50e9 / least;
                assert_close(finish_with_slow_ports(n, how[a], COLLECTIVE_REDUCE_SCATTER, shares[i]), pass_s,
                             1e-12);
                assert_close(finish_with_slow_ports(n, how[a], COLLECTIVE_ALL_GATHER, shares[i]), n * pass_s,
                             1e-12);
                assert_close(finish_with_slow_ports(n, how[a], COLLECTIVE_ALL_REDUCE, shares[i]), 2 * pass_s,
                             1e-12);
            }
}

/* Of two NPUs one is late: the other waits for its half; what both gather begins when both have reduced. */
TEST(late_npu_is_waited_for)
{
    PLANT(p, "ring:2@50", 0);
    OK(flow_sim_set_late(p.sim, 1, 0.25, e));
    int32_t id = issue(&p, group(&p, &p.all), COLLECTIVE_ALL_REDUCE, S_B, 1);
    run(&p);
    assert_close(flow_sim_finish_s(p.sim, id), 1.25 + S_B / 50e9, 1e-12);
    FAILS(flow_sim_set_late(p.sim, 2, 0, e), ERR_RANGE, "late NPU: is 2 by 0 s, expected 0 to 1");
}

/* However little the late one has to send: it takes in what is for it when it is there, and passes it on. */
TEST(late_receiver_is_waited_for)
{
    static const char *const net_words[] = {
        "ring:4@50",
        "line:4@50",
        "full:4@50",
        "switch:4@50",
        "ring:2@50 switch:3@50",
        "torus:3x4@100",
        "hammingmesh:2x2x2x2@100",
    };
    static const enum topo_in_switch in_switch[] = { TOPO_IN_SWITCH_NONE, TOPO_IN_SWITCH_SHARP };
    for (size_t w = 0; w < COUNT_OF(net_words); w++)
        for (int kind = 0; kind < N_COLLECTIVES; kind++)
            for (size_t s = 0; s < (w == 3 ? COUNT_OF(in_switch) : 1); s++) {
                double alone_s = 0;
                for (int64_t late = -1; late < 4; late++) {
                    KEEP(struct plant, p, plant_close);
                    plant_word(&p, net_words[w], 1e-6);
                    p.net.dims[0].in_switch = in_switch[s];
                    p.net.dims[0].in_switch_min = 2;
                    plant_open(&p);
                    if (late >= 0)
                        OK(flow_sim_set_late(p.sim, late, 10, e));
                    int32_t id = issue(&p, group(&p, &p.all), (enum collective_kind)kind, S_B, 1);
                    run(&p);
                    double end_s = flow_sim_finish_s(p.sim, id);
                    if (late < 0)
                        alone_s = end_s;
                    else /* orders that mix may meet on links otherwise than when all begin together */
                        assert_true(end_s > 11 + 1e-3 &&
                                    end_s <= 11 + (w < 5 ? 1 + 1e-9 : 1.25) * (alone_s - 1));
                }
            }
}

TEST(failed_link_stops_or_diverts)
{
    struct plant p;
    for (int kind = 0; kind < N_TOPO_ROUTES; kind++) {
        plant_word(&p, "ring:4@50", 0);
        p.rules.route = (enum topo_route_kind)kind;
        plant_open(&p);
        flow_sim_free(p.sim);
        OK(topo_routes_set_share(&p.routes, 1, 0, e));
        OK(flow_sim_build(&p.sim, &p.routes, &p.rules, e));
        int32_t id = issue(&p, group(&p, &p.all), COLLECTIVE_ALL_REDUCE, S_B, 0);
        if (kind == TOPO_ROUTE_DIMENSION) {
            FAILS(flow_sim_run(p.sim, e), ERR_RANGE, "link 1 (npu1 -> npu2) has failed");
        } else {
            /* Every arc carries S/8 of each of the two rings, six times: as a line, or twice the time of a
             * ring. */
            run(&p);
            assert_close(flow_sim_finish_s(p.sim, id), 2 * 6 / 4. * S_B / 50e9, 1e-12);
        }
        plant_close(&p);
    }
}
