/* Exchanges as flows against sharing by hand; many at random, on both fidelitys. */
#include "base/rng.h"
#include "tests/unit/wire_yard.h"

/* ---- by hand ---- */

TEST(messages_that_share_a_port_each_take_twice_as_long)
{
    YARD(y, "switch:4@50", GOSSIP_FLOW);
    yard_play(&y, "0>1 1 0>2 1 = .04 -0 -1");
}

TEST(messages_on_other_ports_do_not_slow_each_other)
{
    YARD(y, "switch:4@50", GOSSIP_FLOW);
    yard_play(&y, "0>1 1/1 2>3 1/1 = .02 -0 -1");
}

/* At 25 each until the shorter has moved its 0.5; the other one has as much left, at 50. */
TEST(who_is_left_has_the_whole_port)
{
    YARD(y, "switch:4@50", GOSSIP_FLOW);
    yard_play(&y, "0>1 1 0>2 .5 = .02 -1 = .03 -0");
}

/* Half of the first message alone, then both at half: 0.01 + 0.02, and the second has half left. */
TEST(who_comes_later_shares_from_then_on)
{
    YARD(y, "switch:4@50", GOSSIP_FLOW);
    yard_play(&y, "0>1 1 @.01 2>1 1 = .03 -0 = .04 -1");
}

/* 0 -> 1 shares its way down with 2 -> 1, and its way back with nothing. */
TEST(an_exchange_ends_when_both_ways_have)
{
    YARD(y, "switch:4@50", GOSSIP_FLOW);
    yard_play(&y, "0>1 1/1 2>1 1 = .04 -0 -1");
}

/* What crosses the efficient dimension alone has all of it; 0 -> 3 is bound by the other one. */
TEST(every_dimension_has_its_own_efficiency)
{
    YARD_WORD(y, "switch:2@50 switch:2@50");
    y.fabric.fidelity = GOSSIP_FLOW;
    y.fabric.net.dims[1].efficiency = 0.2;
    yard_open(&y);
    yard_play(&y, "0>3 1 0>1 1 = .025 -1 = .1 -0"); /* 50 - 10, and 10 */
}

/* Times of these algorithms by hand (R. Thakur et al., IJHPCA 2005), with what the share leaves. */
TEST(collectives_are_simulated_on_the_links_of_the_workers)
{
    CASES(const char *word; int32_t members; double hops, load) = {
        { "switch:8@50", 8, 6, 14 / 8. },
        { "switch:8@50", 4, 4, 6 / 4. },
        { "ring:8@50", 8, 14, 14 / 8. },
        { "full:8@70", 8, 2, 14 / 8. },
        /* Links of 10 to the three others alone. */
        { "full:8@70", 4, 2, 7 * 2 / 4. },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int half = 0; half < 2; half++) {
            YARD_WORD(y, cases[i].word);
            y.fabric.fidelity = GOSSIP_FLOW;
            y.fabric.n_workers = y.fabric.members[0] = cases[i].members;
            y.fabric.share = half ? 0.5 : 1;
            y.fabric.net.dims[0].lat_s = 1e-3;
            y.fabric.net.dims[0].efficiency = 0.8;
            yard_open(&y);
            double bw_Bps = 0.8 * y.fabric.share * y.fabric.net.dims[0].bw_Bps;
            double want_s = cases[i].hops * 1e-3 + cases[i].load * S_B / bw_Bps;
            assert_close(all_reduce_s(&y, S_B), want_s, 1e-12);
            assert_true(collect(&y, S_B, 0));
            assert_next(&y, 0, true, want_s);
            assert_close(all_reduce_s(&y, S_B), want_s, 1e-12);
            assert_true(all_reduce_s(&y, 2 * S_B) > 1.5 * want_s - cases[i].hops * 1e-3);
        }
}

TEST(a_collective_waits_for_what_shares_links_and_then_all_begin)
{
    YARD(y, "switch:4@50", GOSSIP_FLOW);
    yard_play(&y, "0>1 1 0>2 1 all 1! 3>1 1! 3>2 1! = .04 -0 -1 +2 = .07 -2 +3 +4 = .11 -3 -4");
    assert_idle(&y);
}

/* ---- at random ---- */

enum { N_ASKED = 10000, N_TAGS = 64, N_FEW = 2000 };

/* Links of one dimension on one way, and how long bytes need there on the closed form. */
struct held {
    uint64_t links;
    double time_s;
};

/* What was asked for, and when it took place. */
struct asked {
    uint64_t links;      /* that it crosses */
    struct held held[4]; /* those of two ways through two dimensions */
    double asked_s, begin_s, end_s, there_B, back_B, alone_s;
    bool collective;
};

struct drive {
    struct yard y;
    struct topo_routes routes; /* of its own, to tell the links of a way */
    struct topo_path path;
    struct asked *all; /* shape [N_ASKED] */
    double sent_B, arc_B[64];
    int32_t n, n_ended, at[N_TAGS];
    bool under_way[N_TAGS];
};

/* Both have no more than 64 links. */
static const char *const words[] = { "ring:4@100 switch:4@50", "full:3@60 line:4@30" };

/* The links of a way, what it takes, and who carries it. Links of a dimension are alike. */
static void go(struct drive *d, struct asked *a, struct held held[2], int64_t from, int64_t to, double bytes)
{
    double lat_s = 0;
    d->path.n = 0;
    if (bytes > 0)
        MUST(topo_find_path(&d->path, &d->routes, &(struct topo_trip){ .src = from, .dst = to }, e));
    for (int32_t i = 0; i < d->path.n; i++) {
        int32_t arc = d->path.arcs[i], k = topo_link_dim(&d->routes, arc / 2);
        held[k].links |= UINT64_C(1) << arc;
        held[k].time_s = bytes / (d->routes.bw_Bps[arc] * d->y.fabric.net.dims[k].efficiency);
        lat_s += d->routes.lat_s[arc];
        d->arc_B[arc] += bytes;
    }
    d->sent_B += d->path.n ? bytes : 0;
    for (int32_t k = 0; k < 2; k++) {
        held[k].time_s += lat_s;
        a->links |= held[k].links;
        a->alone_s = fmax(a->alone_s, held[k].time_s);
    }
}

/* Each of N NPUs sends 2 S (m - 1) / (product of sizes up to here), over all links of the dimension alike; a
 * switch has as many ways down. */
static void go_all(struct drive *d, double bytes)
{
    const struct topo_network *net = &d->y.fabric.net;
    double left_B = 2 * bytes * (double)net->n_npus;
    for (int32_t k = 0; k < net->n_dims; k++) {
        int32_t n = 0, ways = net->dims[k].shape == TOPO_SWITCH ? 2 : 1;
        left_B /= net->dims[k].size;
        for (int32_t a = 0; a < d->routes.n_arcs; a++)
            n += topo_link_dim(&d->routes, a / 2) == k;
        for (int32_t a = 0; a < d->routes.n_arcs; a++)
            if (topo_link_dim(&d->routes, a / 2) == k)
                d->arc_B[a] += left_B * (net->dims[k].size - 1) / n * ways;
        d->sent_B += left_B * (net->dims[k].size - 1);
    }
}

static void ask_at_random(struct drive *d, struct rng *r, int32_t tag)
{
    struct asked *a = &d->all[d->n];
    *a = (struct asked){ .asked_s = d->y.now_s, .begin_s = NAN, .end_s = NAN };
    bool begins;
    a->collective = rng_below(r, 200) == 0;
    if (a->collective) {
        a->links = UINT64_MAX;
        a->there_B = 0.1 * S_B;
        a->alone_s = all_reduce_s(&d->y, a->there_B);
        go_all(d, a->there_B);
        begins = collect(&d->y, a->there_B, tag);
    } else {
        int64_t n = d->y.fabric.net.n_npus, from = rng_below(r, n), to = rng_below(r, n);
        a->there_B = rng_below(r, 4) ? rng_uniform(r) * S_B : 0;
        a->back_B = rng_below(r, 2) ? rng_uniform(r) * S_B : 0;
        go(d, a, &a->held[0], from, to, a->there_B);
        go(d, a, &a->held[2], to, from, a->back_B);
        begins = send(&d->y, from, to, a->there_B, a->back_B, tag);
    }
    if (begins)
        a->begin_s = d->y.now_s;
    d->at[tag] = d->n++;
    d->under_way[tag] = true;
}

static void see(struct drive *d, const struct gossip_signal *s, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t at = d->at[s[i].tag];
        struct asked *a = &d->all[at];
        assert_true(d->under_way[s[i].tag]);
        /* Ends before beginnings, of each those first that were asked for first. */
        assert_true(i == 0 || s[i - 1].ends >= s[i].ends);
        assert_true(i == 0 || s[i - 1].ends != s[i].ends || d->at[s[i - 1].tag] < at);
        assert_true(isnan(s[i].ends ? a->end_s : a->begin_s));
        if (s[i].ends) {
            assert_true(a->begin_s <= d->y.now_s);
            a->end_s = d->y.now_s;
            d->under_way[s[i].tag] = false;
            d->n_ended++;
        } else {
            a->begin_s = d->y.now_s;
        }
    }
}

/* Ask as time goes on, at a load near what the links can carry; then wait for the end. */
static void drive(struct drive *d, const char *word, enum gossip_fidelity fidelity, int32_t n, uint64_t seed)
{
    double next_s = 0;
    *d = (struct drive){ .all = calloc(N_ASKED, sizeof *d->all) };
    assert_non_null(d->all);
    yard_word(&d->y, word);
    d->y.fabric.fidelity = fidelity;
    for (int32_t k = 0; k < 2; k++) {
        d->y.fabric.net.dims[k].lat_s = 1e-4 * (k + 1);
        d->y.fabric.net.dims[k].efficiency = 0.9 - 0.2 * k;
    }
    yard_open(&d->y);
    MUST(topo_routes_build(&d->routes, d->y.graph, e));
    assert_true(d->routes.n_arcs <= 64);
    RNG(r, seed, 0);
    while (d->n_ended < n) {
        int32_t tag = 0;
        while (tag < N_TAGS && d->under_way[tag])
            tag++;
        double wire_s = gossip_wire_next_s(d->y.wire);
        if (d->n < n && tag < N_TAGS && next_s <= wire_s) {
            d->y.now_s = next_s;
            ask_at_random(d, r, tag);
            next_s += rng_below(r, 3) ? rng_uniform(r) * 0.01 : 0;
        } else {
            const struct gossip_signal *s;
            int32_t k;
            d->y.now_s = wire_s;
            MUST(gossip_wire_advance(d->y.wire, &s, &k, e));
            see(d, s, k);
            next_s = fmax(next_s, wire_s);
        }
    }
    assert_idle(&d->y);
}

static void stop(struct drive *d)
{
    topo_path_free(&d->path);
    topo_routes_free(&d->routes);
    yard_close(&d->y);
    free(d->all);
}

#define DRIVE(v, ...)                                                                                        \
    KEEP(struct drive, v, stop);                                                                             \
    drive(&v, __VA_ARGS__)

static void check_bytes(const struct drive *d)
{
    assert_close(gossip_wire_sent_B(d->y.wire), d->sent_B, 1e-9);
    for (int32_t a = 0; a < d->routes.n_arcs; a++)
        assert_close(gossip_wire_arc_B(d->y.wire, a), d->arc_B[a], 1e-9);
}

static void check_rates(const struct drive *d)
{
    for (int32_t a = 0; a < d->routes.n_arcs; a++)
        assert_true(gossip_wire_arc_B(d->y.wire, a) <= d->routes.bw_Bps[a] * d->y.now_s);
}

/* When @p b leaves the last of the links that @p a crosses too; collectives come after all and before all. */
static double leaves_s(const struct asked *b, const struct asked *a)
{
    double time_s = -INFINITY;
    if (a->collective || b->collective)
        return b->links && a->links ? b->end_s : -INFINITY;
    for (int32_t k = 0; k < 4; k++)
        if (b->held[k].links & a->links)
            time_s = fmax(time_s, b->begin_s + b->held[k].time_s);
    return time_s;
}

/* First come, first served, written down plainly: what was asked for begins when all that was asked for
 * before it has left the links that both cross. Then no link carries more than it can. */
TEST(links_are_held_for_as_long_as_bytes_need_there)
{
    for (size_t k = 0; k < COUNT_OF(words); k++) {
        DRIVE(d, words[k], GOSSIP_CLOSED, N_ASKED, 1);
        int64_t n_waited = 0, n_beside = 0;
        for (int32_t i = 0; i < d.n; i++) {
            const struct asked *a = &d.all[i];
            double begin_s = a->asked_s, over_s = 0;
            for (int32_t j = 0; j < i; j++)
                if (d.all[j].end_s > begin_s && (d.all[j].links & a->links)) {
                    begin_s = fmax(begin_s, leaves_s(&d.all[j], a));
                    over_s = fmax(over_s, d.all[j].end_s);
                }
            assert_near(a->begin_s, begin_s, 1e-9);
            assert_near(a->end_s, begin_s + a->alone_s, 1e-9);
            n_waited += a->begin_s > a->asked_s;
            n_beside += a->begin_s < over_s - 1e-6;
        }
        assert_true(n_waited > N_ASKED / 4 && n_beside > N_ASKED / 20);
        check_bytes(&d);
        check_rates(&d);
    }
}

TEST(flows_are_no_faster_than_their_links_and_collectives_alone)
{
    for (size_t k = 0; k < COUNT_OF(words); k++) {
        DRIVE(d, words[k], GOSSIP_FLOW, N_FEW, 1);
        int64_t n_slowed = 0;
        for (int32_t i = 0; i < d.n; i++) {
            const struct asked *a = &d.all[i];
            double took_s = a->end_s - a->begin_s;
            assert_true(took_s > a->alone_s - 1e-9);
            n_slowed += took_s > a->alone_s + 1e-6;
            for (int32_t j = 0; a->collective && j < d.n; j++)
                if (j != i && d.all[j].links)
                    assert_true(d.all[j].end_s <= a->begin_s || d.all[j].begin_s >= a->end_s);
            if (a->collective)
                assert_near(took_s, a->alone_s, 1e-9);
        }
        assert_true(n_slowed > N_FEW / 4);
        check_bytes(&d);
        check_rates(&d);
    }
}

TEST(the_same_seed_gives_the_same_signals)
{
    for (int fidelity = 0; fidelity < N_GOSSIP_FIDELITYS; fidelity++) {
        DRIVE(a, words[0], (enum gossip_fidelity)fidelity, N_FEW, 7);
        DRIVE(b, words[0], (enum gossip_fidelity)fidelity, N_FEW, 7);
        for (int32_t i = 0; i < N_FEW; i++) {
            assert_memory_equal(&a.all[i].begin_s, &b.all[i].begin_s, sizeof a.all[i].begin_s);
            assert_memory_equal(&a.all[i].end_s, &b.all[i].end_s, sizeof a.all[i].end_s);
        }
    }
}
