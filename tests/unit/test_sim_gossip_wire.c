/* Messages and collectives alone, against times by hand; bytes on links. */
#include "tests/unit/wire_yard.h"
#include "workloads/collective.h"

/* ---- one message ---- */

/* Links are crossed one after the other in no time but their latency; the narrowest decides. */
TABLE_OF(messages, const char *word; int64_t from, to;
         double lat_s[2], efficiency[2], want_lat_s, want_Bps) = {
    { "switch:4@50", 0, 3, { 1e-3 }, { 0.8 }, 1e-3, 40e9 },
    { "ring:8@50", 0, 3, { 1e-3 }, { 1 }, 3e-3, 25e9 },
    { "ring:8@50", 1, 7, { 1e-3 }, { 1 }, 2e-3, 25e9 },
    { "ring:2@50", 1, 0, { 1e-3 }, { 1 }, 1e-3, 50e9 },
    { "full:5@40", 4, 1, { 1e-3 }, { 0.9 }, 1e-3, 9e9 },
    { "line:4@50", 3, 0, { 1e-3 }, { 1 }, 3e-3, 25e9 },
    { "line:2@50", 0, 1, { 0 }, { 1 }, 0, 50e9 },
    /* (0, 0) to (1, 1): a link of 50 at half, then the switch's 50 at 0.8; and within one dimension. */
    { "ring:4@100 switch:2@50", 0, 5, { 1e-3, 2e-3 }, { 0.5, 0.8 }, 3e-3, 25e9 },
    { "ring:4@100 switch:2@50", 0, 5, { 1e-3, 2e-3 }, { 1, 0.8 }, 3e-3, 40e9 },
    { "ring:4@100 switch:2@50", 0, 4, { 1e-3, 2e-3 }, { 0.5, 0.8 }, 2e-3, 40e9 },
    { "ring:4@100 switch:2@50", 7, 6, { 1e-3, 2e-3 }, { 0.5, 0.8 }, 1e-3, 25e9 },
};

static void open_message(struct yard *y, size_t i, int fidelity, double share)
{
    yard_word(y, messages[i].word);
    y->fabric.fidelity = (enum gossip_fidelity)fidelity;
    y->fabric.share = share;
    for (int32_t d = 0; d < y->fabric.net.n_dims; d++) {
        y->fabric.net.dims[d].lat_s = messages[i].lat_s[d];
        y->fabric.net.dims[d].efficiency = messages[i].efficiency[d];
    }
    yard_open(y);
}

TEST(a_message_alone_takes_its_latency_and_its_bytes_over_the_narrowest_link)
{
    for (size_t i = 0; i < COUNT_OF(messages); i++)
        for (int fidelity = 0; fidelity < N_GOSSIP_FIDELITYS; fidelity++) {
            KEEP(struct yard, y, yard_close);
            open_message(&y, i, fidelity, 1);
            assert_true(send(&y, messages[i].from, messages[i].to, S_B, 0, 0));
            assert_next(&y, 0, true, messages[i].want_lat_s + S_B / messages[i].want_Bps);
            assert_idle(&y);
        }
}

TEST(share_is_of_bandwidths_and_not_of_latencies)
{
    static const double shares[] = { 0.25, 0.7, 3 };
    for (size_t i = 0; i < COUNT_OF(messages); i++)
        for (int k = 0; k < 2 * (int)COUNT_OF(shares); k++) {
            KEEP(struct yard, y, yard_close);
            double share = shares[k / 2];
            open_message(&y, i, k % 2, share);
            send(&y, messages[i].from, messages[i].to, S_B, S_B, 0);
            assert_next(&y, 0, true, messages[i].want_lat_s + S_B / (share * messages[i].want_Bps));
        }
}

/* (0, 0) to (1, 1): 50 each, one of them at a fifth or at ten times that. */
TEST(share_may_be_of_one_dimension)
{
    for (int k = 0; k < 2 * 2 * N_GOSSIP_FIDELITYS; k++) {
        double share = k / 2 % 2 ? 10 : 0.2;
        YARD_WORD(y, "switch:2@50 switch:2@50");
        y.fabric.fidelity = (enum gossip_fidelity)(k / 4);
        y.fabric.share = share;
        y.fabric.share_dim = 1 + k % 2;
        yard_open(&y);
        send(&y, 0, 3, S_B, 0, 0);
        assert_next(&y, 0, true, S_B / (fmin(share, 1) * 50e9));
        send(&y, 0, k % 2 ? 2 : 1, S_B, 0, 0);
        assert_next(&y, 0, true, S_B / (fmin(share, 1) * 50e9) + S_B / (share * 50e9));
        /* S in boxes of 2, half of it between them. */
        assert_close(all_reduce_s(&y, S_B),
                     (1 / (k % 2 ? 1 : share) + 0.5 / (k % 2 ? share : 1)) * S_B / 50e9, 1e-12);
    }
}

TEST(every_message_has_its_overhead)
{
    for (int fidelity = 0; fidelity < N_GOSSIP_FIDELITYS; fidelity++) {
        YARD_WORD(y, "ring:8@50");
        y.fabric.fidelity = (enum gossip_fidelity)fidelity;
        y.fabric.rules.endpoint_s = 5e-3;
        yard_open(&y);
        send(&y, 0, 2, S_B, S_B, 0);
        assert_next(&y, 0, true, 5e-3 + S_B / 25e9);
    }
}

TEST(there_and_back_are_at_once_and_the_longer_decides)
{
    for (int fidelity = 0; fidelity < N_GOSSIP_FIDELITYS; fidelity++) {
        YARD(y, "switch:4@50", (enum gossip_fidelity)fidelity);
        yard_play(&y, "0>1 1/1 = .02 -0 0>1 1/2 = .06 -1 0>1 0/1 = .08 -2");
        assert_close(gossip_wire_sent_B(y.wire), 6 * S_B, 0);
    }
}

TEST(what_crosses_no_link_takes_no_time_and_waits_for_nothing)
{
    for (int fidelity = 0; fidelity < N_GOSSIP_FIDELITYS; fidelity++) {
        YARD(y, "switch:4@50", (enum gossip_fidelity)fidelity);
        assert_true(collect(&y, S_B, 0));
        double sent_B = gossip_wire_sent_B(y.wire);
        assert_true(send(&y, 1, 1, S_B, S_B, 1));
        assert_next(&y, 1, true, 0);
        assert_true(send(&y, 1, 2, 0, 0, 1) && collect(&y, 0, 2));
        const struct gossip_signal *s;
        assert_true(turn(&y, &s) == 2 && s[0].tag == 1 && s[1].tag == 2);
        assert_true(s[0].ends && s[1].ends);
        assert_close(y.now_s, 0, 0);
        assert_close(gossip_wire_sent_B(y.wire), sent_B, 0);
        assert_next(&y, 0, true, 1.5 * S_B / 50e9);
    }
}

/* ---- collectives ---- */

TEST(a_collective_waits_for_all_links_and_holds_them)
{
    for (int fidelity = 0; fidelity < N_GOSSIP_FIDELITYS; fidelity++) {
        YARD(y, "switch:4@50", (enum gossip_fidelity)fidelity);
        assert_close(all_reduce_s(&y, S_B), 0.03, 1e-12); /* 2 (4 - 1) / 4 */
        /* 2 to 3 is idle, but after the collective. */
        yard_play(&y, "0>1 1/1 all 1! 2>3 1! all 1! = .02 -0 +1 0>1 1/1! "
                      "= .05 -1 +2 = .07 -2 +3 = .1 -3 +4 = .12 -4");
        assert_idle(&y);
    }
}

/* Boxes of workers in networks. */
TABLE_OF(boxes, const char *word; int32_t n_workers, members[3]) = {
    { "switch:8@50", 8, { 8 } },
    { "switch:8@50", 5, { 5 } },
    { "ring:6@50", 6, { 6 } },
    { "ring:6@50", 4, { 4 } },
    { "full:5@50", 5, { 5 } },
    { "full:5@50", 3, { 3 } },
    { "line:4@50", 4, { 4 } },
    { "ring:2@50", 2, { 2 } },
    { "ring:4@50 switch:3@20", 12, { 4, 3 } },
    { "ring:4@50 switch:3@20", 8, { 4, 2 } },
    { "ring:4@50 switch:3@20", 4, { 4, 1 } },
    { "full:3@50 ring:4@20 switch:2@10", 24, { 3, 4, 2 } },
    { "full:3@50 ring:4@20 switch:2@10", 12, { 3, 4, 1 } },
    { "switch:2@50", 1, { 1 } },
};

static void open_box(struct yard *y, size_t i, enum gossip_fidelity fidelity)
{
    yard_word(y, boxes[i].word);
    y->fabric.fidelity = fidelity;
    y->fabric.n_workers = boxes[i].n_workers;
    for (int32_t d = 0; d < y->fabric.net.n_dims; d++)
        y->fabric.members[d] = boxes[i].members[d];
    yard_open(y);
}

TEST(an_all_reduce_takes_what_the_model_of_collectives_says)
{
    for (size_t i = 0; i < COUNT_OF(boxes); i++) {
        KEEP(struct yard, y, yard_close);
        struct collective_time t;
        double bw_Bps[TOPO_MAX_DIMS];
        open_box(&y, i, GOSSIP_CLOSED);
        topo_get_bandwidths(bw_Bps, &y.fabric.net);
        collective_time(&t, COLLECTIVE_ALL_REDUCE, S_B, y.fabric.members, NULL, NULL,
                        &(struct collective_way){ &y.fabric.net, &stage_rules_plain, bw_Bps });
        assert_close(all_reduce_s(&y, S_B), t.time_s, 0);
        assert_true(collect(&y, S_B, 0));
        assert_next(&y, 0, true, t.time_s);
    }
}

/* All of a dimension: both ends of a link, of a switch the way up. */
static double sum_arcs(const struct yard *y, int32_t d, bool down)
{
    char name[TOPO_ARC_TEXT];
    double sum_B = 0;
    for (int32_t a = 0; a < gossip_wire_n_arcs(y->wire); a++) {
        bool is_down = strncmp(topo_arc_name(name, &y->routes, a), "switch", 6) == 0;
        if (topo_link_dim(&y->routes, a / 2) == d && is_down == down)
            sum_B += gossip_wire_arc_B(y->wire, a);
    }
    return sum_B;
}

/* Twice the rest of the members, however they are joined (R. Patarasuk, X. Yuan, JPDC 2009). */
TEST(an_all_reduce_of_s_bytes_sends_2_n_minus_1_s)
{
    for (size_t i = 0; i < COUNT_OF(boxes); i++)
        for (int fidelity = 0; fidelity < N_GOSSIP_FIDELITYS; fidelity++) {
            KEEP(struct yard, y, yard_close);
            double dims_B = 0;
            open_box(&y, i, (enum gossip_fidelity)fidelity);
            collect(&y, S_B, 0);
            assert_close(gossip_wire_sent_B(y.wire), 2 * (boxes[i].n_workers - 1) * S_B, 1e-12);
            for (int32_t d = 0; d < y.fabric.net.n_dims; d++) {
                double dim_B = gossip_wire_dim_B(y.wire, d);
                dims_B += dim_B;
                assert_close(sum_arcs(&y, d, false), dim_B, 1e-12);
                if (y.fabric.net.dims[d].shape == TOPO_SWITCH)
                    assert_close(sum_arcs(&y, d, true), dim_B, 1e-12);
            }
            assert_close(dims_B, gossip_wire_sent_B(y.wire), 1e-12);
        }
}

/* ---- accounts ---- */

TEST(links_between_workers_alone_carry_collectives_and_alike)
{
    YARD(y, "ring:4@50", GOSSIP_CLOSED);
    collect(&y, S_B, 0);
    for (int32_t a = 0; a < 8; a++) /* 2 * 3/4 S of each NPU, half each way round */
        assert_close(gossip_wire_arc_B(y.wire, a), 0.75 * S_B, 1e-12);
    yard_close(&y);
    yard_word(&y, "switch:4@50");
    y.fabric.n_workers = y.fabric.members[0] = 2;
    yard_open(&y);
    collect(&y, S_B, 0);
    for (int32_t a = 0; a < 8; a++)
        assert_close(gossip_wire_arc_B(y.wire, a), a < 4 ? S_B : 0, 1e-12);
}

TEST(messages_count_on_every_link_and_once_in_every_dimension)
{
    for (int fidelity = 0; fidelity < N_GOSSIP_FIDELITYS; fidelity++) {
        char name[TOPO_ARC_TEXT];
        YARD(y, "ring:4@100 switch:2@50", (enum gossip_fidelity)fidelity);
        send(&y, 0, 6, 3, 0, 0); /* (0, 0) to (2, 1): two links, up and down */
        send(&y, 1, 0, 5, 7, 1);
        for (const struct gossip_signal *s; isfinite(gossip_wire_next_s(y.wire));)
            turn(&y, &s);
        assert_close(gossip_wire_sent_B(y.wire), 15, 0);
        assert_close(gossip_wire_dim_B(y.wire, 0), 15, 0);
        assert_close(gossip_wire_dim_B(y.wire, 1), 3, 0);
        assert_close(sum_arcs(&y, 0, false), 2 * 3 + 5 + 7, 0);
        assert_close(sum_arcs(&y, 1, false), 3, 0);
        assert_close(sum_arcs(&y, 1, true), 3, 0);
        assert_int_equal(gossip_wire_n_arcs(y.wire), 2 * (8 + 8));
        for (int32_t a = 0; a < gossip_wire_n_arcs(y.wire); a++) {
            topo_arc_name(name, &y.routes, a);
            double want_B = strcmp(name, "npu0 -> npu1") == 0                                         ? 3 + 7
                            : strcmp(name, "npu1 -> npu2") == 0                                       ? 3
                            : strcmp(name, "npu1 -> npu0") == 0                                       ? 5
                            : strcmp(name, "npu2 -> switch-dim2-2") == 0 || strstr(name, "2 -> npu6") ? 3
                                                                                                      : 0;
            assert_close(gossip_wire_arc_B(y.wire, a), want_B, 0);
            assert_int_equal(topo_link_dim(&y.routes, a / 2), strstr(name, "switch") ? 1 : 0);
        }
    }
}

TEST(bytes_count_when_they_begin)
{
    YARD(y, "switch:4@50", GOSSIP_CLOSED);
    send(&y, 0, 1, S_B, 0, 0);
    assert_true(!send(&y, 0, 2, S_B, 0, 1) && !collect(&y, S_B, 2));
    const struct gossip_signal *s;
    assert_close(gossip_wire_sent_B(y.wire), S_B, 0);
    turn(&y, &s);
    assert_close(gossip_wire_sent_B(y.wire), 2 * S_B, 0);
    turn(&y, &s);
    assert_close(gossip_wire_sent_B(y.wire), 8 * S_B, 1e-12);
}

TEST(a_server_may_be_another_npu)
{
    YARD_WORD(y, "switch:5@50");
    y.fabric.n_workers = y.fabric.members[0] = 4;
    y.fabric.server = 4;
    yard_open(&y);
    assert_true(send(&y, 0, y.fabric.server, S_B, S_B, 0) && !send(&y, 1, y.fabric.server, S_B, S_B, 1));
}

TEST(what_is_no_npu_is_refused)
{
    bool begins = true;
    YARD(y, "switch:4@50", GOSSIP_CLOSED);
    FAILS(gossip_wire_send(y.wire, 0, 4, 1, 0, 0, 0, &begins, e), ERR_RANGE,
          "from vertex 0 to 4, expected NPUs (below 4)");
    FAILS(gossip_wire_send(y.wire, -1, 2, 1, 0, 0, 0, &begins, e), ERR_RANGE,
          "from vertex -1 to 2, expected 0 to 4");
    assert_false(begins);
    assert_idle(&y);
    assert_true(send(&y, 0, 3, S_B, 0, 0));
    assert_next(&y, 0, true, 0.02);
    gossip_wire_free(NULL);
}
