#include "tests/unit/flow_plant.h"

/* Time = hops * latency + load * S / B, counted by hand: messages one after the other, and what the busiest
 * arc carries. */
CASES(const char *word; enum topo_algorithm algorithm; enum collective_kind kind; double hops, load) = {
    { "ring:2@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_REDUCE, 2, 1 },
    { "ring:3@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_REDUCE, 4, 4 / 3. },
    { "ring:8@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_REDUCE, 14, 14 / 8. },
    { "ring:8@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_REDUCE_SCATTER, 7, 7 / 8. },
    { "ring:8@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_GATHER, 7, 7 },
    /* Halving on a ring: 3 times S; distances 1, 2 and 4, and back. */
    { "ring:8@50", TOPO_ALGORITHM_HALVING, COLLECTIVE_ALL_REDUCE, 14, 6 },
    { "full:8@70", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_REDUCE, 2, 14 / 8. },
    { "full:5@70", TOPO_ALGORITHM_RING, COLLECTIVE_REDUCE_SCATTER, 4, 4 / 5. * 4 },
    { "full:5@70", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_TO_ALL, 1, 4 / 5. },
    { "switch:8@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_REDUCE, 6, 14 / 8. },
    { "switch:8@50", TOPO_ALGORITHM_RING, COLLECTIVE_ALL_REDUCE, 14, 14 / 8. },
    { "switch:8@50", TOPO_ALGORITHM_DIRECT, COLLECTIVE_ALL_REDUCE, 2, 14 / 8. },
    { "switch:5@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_REDUCE, 6, 8 / 5. },
    { "switch:13@50", TOPO_ALGORITHM_BRUCK, COLLECTIVE_ALL_GATHER, 4, 12 },
    { "switch:8@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_TO_ALL, 1, 7 / 8. },
    { "line:2@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_REDUCE, 2, 1 },
    /* Ends of a line have one link of B/2. */
    { "line:6@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_REDUCE, 10, 2 * 10 / 6. },
    { "line:3@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_REDUCE, 4, 2 * 4 / 3. },
    { "switch:8@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_SEND, 1, 1 },
    { "ring:8@50", TOPO_ALGORITHM_SHAPE, COLLECTIVE_SEND, 1, 2 },
    /* Scatter and all-gather. */
    { "full:4@60", TOPO_ALGORITHM_SHAPE, COLLECTIVE_BROADCAST, 2, 2 * 3 / 4. },
    { "switch:8@50", TOPO_ALGORITHM_HALVING, COLLECTIVE_BROADCAST, 6, 2 * 7 / 8. },
    { "switch:7@50", TOPO_ALGORITHM_DIRECT, COLLECTIVE_BROADCAST, 2, 2 * 6 / 7. },
    { "switch:6@50", TOPO_ALGORITHM_BRUCK, COLLECTIVE_BROADCAST, 4, 2 * 5 / 6. },
};

TEST(collectives_take_their_closed_forms)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int late = 0; late < 2; late++) {
            struct plant p;
            double lat_s = late ? 1e-4 : 0;
            plant_word(&p, cases[i].word, lat_s);
            p.net.dims[0].algorithm = cases[i].algorithm;
            assert_close(time_of(&p, cases[i].kind),
                         cases[i].hops * lat_s + cases[i].load * S_B / p.net.dims[0].bw_Bps, 1e-12);
        }
}

/* n^2/8 messages of S/n on each arc of B/2 (even n), (n^2-1)/8 (odd n): Dally and Towles, chapter 5. */
TEST(all_to_all_on_a_ring_loads_all_arcs_alike)
{
    for (int n = 2; n <= 9; n++) {
        struct plant p;
        char word[32];
        snprintf(word, sizeof word, "ring:%d@40", n);
        plant_word(&p, word, 0);
        double load = n == 2 ? 0.5 : n % 2 ? (n * n - 1) / (4. * n) : n / 4.;
        assert_close(time_of(&p, COLLECTIVE_ALL_TO_ALL), load * S_B / 40e9, 1e-12);
        snprintf(word, sizeof word, "line:%d@40", n);
        plant_word(&p, word, 0);
        /* The middle link, of B/2, has what one half sends to the other. */
        double middle = (double)(n / 2) * (n - n / 2) / n * (n == 2 ? 1 : 2);
        assert_close(time_of(&p, COLLECTIVE_ALL_TO_ALL), middle * S_B / 40e9, 1e-12);
    }
}

TEST(switch_that_reduces_needs_one_pass)
{
    TABLE_OF(ways, enum topo_in_switch how; double load) = {
        { TOPO_IN_SWITCH_SHARP, 1 },
        { TOPO_IN_SWITCH_NVLS, 9 / 8. },
    };
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        struct plant p;
        plant_word(&p, "switch:8@50", 1e-4);
        p.net.dims[0].in_switch = ways[i].how;
        p.net.dims[0].in_switch_min = 2;
        /* Up and down are half a message's latency each. */
        assert_close(time_of(&p, COLLECTIVE_ALL_REDUCE), 1e-4 + ways[i].load * S_B / 50e9, 1e-12);
    }
}

/* Along a chain of n-1 links in k pieces; on a ring halves both ways round. */
TEST(broadcast_is_pipelined_along_a_ring)
{
    struct plant p;
    struct stage s;
    plant_word(&p, "ring:6@50", 1e-5);
    const struct collective_way way = { &p.net, &stage_rules_plain, &p.net.dims[0].bw_Bps };
    stage_fill(&s, 0, PASS_BROADCAST, S_B, 6, 1, &way);
    int32_t k = s.choice.segments;
    assert_true(k > 1);
    assert_close(time_of(&p, COLLECTIVE_BROADCAST), (4. + k) * (1e-5 + S_B / k / 50e9), 1e-12);
}

/* In both trees together a port carries at most 2 S each way; the deepest way up and down bounds the rest. */
TEST(double_binary_tree_approaches_twice_the_bytes)
{
    for (int n = 2; n <= 33; n += n < 9 ? 1 : 6) {
        struct plant p;
        char word[32];
        struct stage s[STAGE_MAX];
        snprintf(word, sizeof word, "switch:%d@50", n);
        plant_word(&p, word, 1e-6);
        p.net.dims[0].algorithm = TOPO_ALGORITHM_TREE;
        const struct collective_way way = { &p.net, &stage_rules_plain, &p.net.dims[0].bw_Bps };
        assert_int_equal(stage_list(s, COLLECTIVE_ALL_REDUCE, S_B, &n, NULL, NULL, NULL, &way), 1);
        double k = s[0].choice.segments, depth = 2 * ceil(log2(n)) + 2;
        double end_s = time_of(&p, COLLECTIVE_ALL_REDUCE);
        assert_true(end_s >= 2 * (n - 1.) / n * S_B / 50e9 * (1 - 1e-12));
        assert_true(end_s <= (2 + 2 * depth / k) * S_B / 50e9 + (2 * depth + 2 * k) * 1e-6);
        p.graph = NULL;
        end_s = time_of(&p, COLLECTIVE_BROADCAST);
        assert_true(end_s >= S_B / 50e9 * (1 - 1e-12));
        assert_true(end_s <= (2 + 2 * depth / k) * S_B / 50e9 + (2 * depth + 2 * k) * 1e-6);
    }
}

/* Dimension d carries 2 (n_d - 1) / (n_1 ... n_d) S, one after the other. */
TEST(dimensions_take_turns_with_one_chunk)
{
    struct plant p;
    plant_word(&p, "ring:4@100 full:3@60 switch:4@25", 0);
    double want_s = S_B * (2 * 3 / 4. / 100e9 + 2 * 2 / 12. / 60e9 + 2 * 3 / 48. / 25e9);
    assert_close(time_of(&p, COLLECTIVE_ALL_REDUCE), want_s, 1e-12);
}

/* Two dimensions of equal time T/2 each in C chunks: T/2 (1 + 1/C), as one fills while the other drains. */
TEST(chunks_overlap_dimensions)
{
    static const int32_t chunks[] = { 1, 2, 4, 16, 64 };
    for (size_t i = 0; i < COUNT_OF(chunks); i++) {
        struct plant p;
        plant_word(&p, "ring:4@100 switch:4@25", 0);
        p.rules.stage.chunks = chunks[i];
        double half_s = 2 * 3 / 4. * S_B / 100e9;
        assert_close(time_of(&p, COLLECTIVE_ALL_REDUCE), half_s * (1 + 1. / chunks[i]), 1e-9);
    }
}

TEST(broadcast_goes_out_dimension_by_dimension)
{
    struct plant p;
    plant_word(&p, "full:4@60 switch:8@50", 1e-4);
    p.net.dims[1].algorithm = TOPO_ALGORITHM_HALVING;
    assert_close(time_of(&p, COLLECTIVE_BROADCAST), 8e-4 + S_B * (2 * 7 / 8. / 50e9 + 2 * 3 / 4. / 60e9),
                 1e-12);
}

TEST(overheads_delay_every_message)
{
    struct plant p;
    plant_word(&p, "switch:8@50", 1e-6);
    p.rules.stage.endpoint_s = 3e-6;
    p.rules.stage.mem_Bps = 1e12;
    assert_close(time_of(&p, COLLECTIVE_ALL_REDUCE),
                 6 * 4e-6 + 2 * 7 / 8. * S_B / 50e9 + 3 * 7 / 8. * S_B / 1e12, 1e-12);
}

/* Messages that a member sends at once it handles one after the other: all that section 4 counts where bytes
 * and links take no time, and no less for those that pass at the same time. */
TEST(members_handle_their_messages_in_turn)
{
    static const struct {
        const char *word;
        enum topo_algorithm algorithm;
        enum collective_kind kind;
        double messages;
    } ways[] = {
        { "switch:16@100", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_TO_ALL, 15 },
        { "full:5@100", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_TO_ALL, 4 },
        { "full:5@100", TOPO_ALGORITHM_DIRECT, COLLECTIVE_ALL_REDUCE, 8 },
        { "ring:8@100", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_TO_ALL, 7 }, /* the farthest both ways: one */
        { "line:6@100", TOPO_ALGORITHM_DIRECT, COLLECTIVE_REDUCE_SCATTER, 5 },
        { "torus:4x3@200", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_TO_ALL, 11 },
        { "ring:8@100", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_REDUCE, 14 },
        { "switch:8@100", TOPO_ALGORITHM_HALVING, COLLECTIVE_ALL_REDUCE, 6 },
        { "switch:7@100", TOPO_ALGORITHM_DIRECT, COLLECTIVE_BROADCAST, 12 },
        { "switch:11@100", TOPO_ALGORITHM_BRUCK, COLLECTIVE_BROADCAST, 8 }, /* as by a binomial tree */
        { "full:4@100 switch:6@100", TOPO_ALGORITHM_SHAPE, COLLECTIVE_ALL_TO_ALL, 8 },
    };
    static const double bytes[] = { 1e-3, 1e3, 1e5, 1e7, 1e9 };
    for (size_t i = 0; i < COUNT_OF(ways); i++)
        for (size_t b = 0; b < COUNT_OF(bytes); b++) {
            double end_s[4] = { 0 }, before_s = 0;
            for (int k = 0; k < 4; k++) {
                KEEP(struct plant, p, plant_close);
                plant_word(&p, ways[i].word, 0);
                p.net.dims[0].algorithm = ways[i].algorithm;
                p.rules.stage.endpoint_s = k * 3e-7;
                plant_open(&p);
                int32_t id = issue(&p, group(&p, &p.all), ways[i].kind, bytes[b], 0);
                run(&p);
                end_s[k] = flow_sim_finish_s(p.sim, id);
                double handled_s = ways[i].messages * p.rules.stage.endpoint_s;
                assert_true(end_s[k] >= before_s && end_s[k] >= handled_s * (1 - 1e-12));
                assert_true(end_s[k] <= (end_s[0] + handled_s) * (1 + 1e-12));
                if (b == 0)
                    assert_near(end_s[k], handled_s, 1e-13);
                before_s = end_s[k];
            }
        }
}

TEST(efficiency_and_protocols_count)
{
    struct plant p;
    plant_word(&p, "switch:8@50", 1e-3);
    p.net.dims[0].efficiency = 0.8;
    assert_close(time_of(&p, COLLECTIVE_ALL_REDUCE), 6e-3 + 2 * 7 / 8. * S_B / 40e9, 1e-12);
    p.net.dims[0].n_regimes = 1;
    p.net.dims[0].regimes[0] = (struct topo_regime){ 2e-3, 1, INFINITY };
    p.graph = NULL;
    assert_close(time_of(&p, COLLECTIVE_ALL_REDUCE), 12e-3 + 2 * 7 / 8. * S_B / 50e9, 1e-12);
}

/* Less latency than the dimension's own, as short messages have: up to the switch and down from it likewise.
 */
TEST(protocol_may_have_less_latency)
{
    static const enum topo_in_switch in_switch[] = { TOPO_IN_SWITCH_NONE, TOPO_IN_SWITCH_NVLS };
    static const double lat_s[] = { 5e-4, 0 };
    for (size_t i = 0; i < COUNT_OF(in_switch); i++)
        for (size_t k = 0; k < COUNT_OF(lat_s); k++) {
            struct plant p;
            plant_word(&p, "switch:8@50", 1e-3);
            p.net.dims[0].in_switch = in_switch[i];
            p.net.dims[0].algorithm = i ? TOPO_ALGORITHM_SWITCH : TOPO_ALGORITHM_HALVING;
            p.net.dims[0].n_regimes = 1;
            p.net.dims[0].regimes[0] = (struct topo_regime){ lat_s[k], 1, INFINITY };
            double hops = i ? 1 : 6, load = i ? 9 / 8. : 2 * 7 / 8.;
            assert_close(time_of(&p, COLLECTIVE_ALL_REDUCE), hops * lat_s[k] + load * S_B / 50e9, 1e-12);
        }
}

/* ---- groups ---- */

TEST(groups_with_a_stride_fill_the_network)
{
    struct plant p;
    plant_word(&p, "switch:16@50", 0);
    p.all.members[0] = 4;
    p.all.stride[0] = 4;
    assert_close(time_of(&p, COLLECTIVE_ALL_REDUCE), 2 * 3 / 4. * S_B / 50e9, 1e-12);
    /* On a ring neighbours are 2 apart: each arc carries two groups' messages. */
    plant_word(&p, "ring:8@50", 0);
    p.all.members[0] = 4;
    p.all.stride[0] = 2;
    assert_close(time_of(&p, COLLECTIVE_ALL_REDUCE), 2 * 2 * 3 / 4. * S_B / 50e9, 1e-12);
}

TEST(one_group_leaves_the_others_alone)
{
    PLANT(p, "ring:4@50 switch:8@50", 0);
    p.all = (struct flow_group_spec){ .members = { 1, 3 }, .stride = { 1, 2 }, .single = true };
    int32_t id = issue(&p, group(&p, &p.all), COLLECTIVE_ALL_REDUCE, S_B, 0);
    run(&p);
    assert_close(flow_sim_finish_s(p.sim, id), 2 * 2 / 3. * S_B / 50e9, 1e-12);
    for (int npu = 0; npu < 32; npu++) {
        bool inside = npu == 0 || npu == 8 || npu == 16;
        assert_true((flow_arc_use(flow_sim_net(p.sim), topo_switch_arc(&p.routes, 1, npu, 0, 0)).bytes > 0) ==
                    inside);
    }
}

TEST(wrong_collectives_are_refused)
{
    struct flow_sim *sim;
    int32_t id;
    PLANT(p, "ring:4@50 switch:4@50", 0);
    int32_t g = group(&p, &p.all);
    FAILS(flow_sim_issue(p.sim, g, COLLECTIVE_ALL_REDUCE, NAN, 0, 0, &id, e), ERR_RANGE, "has nan bytes");
    FAILS(flow_sim_issue(p.sim, g, COLLECTIVE_ALL_REDUCE, 1, NAN, 0, &id, e), ERR_RANGE, "finite times");
    p.rules.active = 0;
    FAILS(flow_sim_build(&sim, &p.routes, &p.rules, e), ERR_RANGE, "0 active at a time");
    assert_null(sim);
}
