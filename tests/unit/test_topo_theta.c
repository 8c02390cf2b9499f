/* Throughput by any paths: closed forms of tori, trees and meshes, published rates, cuts by class, groups. */
#include "tests/support.h"
#include "topo/theta.h"

KEEPS(struct topo_graph, topo_graph_free)
KEEPS(struct theta, theta_free)

/* Wires of a described network, its dimensions the classes. */
static void wires_of(struct topo_wires *w, const char *word)
{
    struct topo_network net;
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    MUST(topo_parse_spec(&net, word, e));
    MUST(topo_build_graph(&g, &net, NULL, e));
    MUST(topo_wires_build(w, g, e));
}

/* Published and counted rates of links of 1 GB/s (topologies: 2.1, 2.4, 2.5), in GB/s of an NPU. */
TEST(uniform_traffic_is_what_closed_forms_and_tables_give)
{
    static const struct {
        const char *word;
        double rate_GBps;
    } cases[] = {
        { "ring:4@2 ring:8@2", 0.96875 }, /* (N-1)/N min 2b/f */
        { "ring:3@2 ring:5@2", 14.0 / 15 * 2 / (6.0 / 5) },
        { "ring:4@2 ring:4@2 ring:8@2", 0.992187500 },
        { "full:4@3 full:4@3", 3.75 },
        { "full:4@3 full:8@7", 3.875 },
        { "fat-tree:8x4/2@1", 31.0 / 24 / 2 }, /* (N-1)/((N-m) t) */
        { "fat-tree:8x4/3@1", 31.0 / 24 / 3 },
        { "fat-tree:4x2x4/1/2@1", 31.0 / 24 / 2 },
        { "fat-tree:4x2x4/2/1@1", 31.0 / 28 / 2 },
        { "switch:7@3", 3 },
        { "line:2@5", 5 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
        double rate_Bps;
        wires_of(&w, cases[i].word);
        OK(theta_uniform(&rate_Bps, &w, e));
        assert_close(rate_Bps, cases[i].rate_GBps * 1e9, 1e-9);
    }
}

/* Rates of tests/reference/topo_throughput.csv by any paths, and one of topologies 2.6: links of NPUs are
 * made so wide that those between routers decide. */
TEST(fabrics_carry_what_other_programmes_found)
{
    static const struct {
        const char *word;
        double rate_GBps;
    } cases[] = {
        { "dragonfly:2x4x5^2@1", 1.14706 },
        { "dragonfly:2x4x9^2@1", 1.0718 },
        { "slim-fly:4x50@1", 0.956731 },
        { "slim-fly:6x98@1", 0.858187 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
        double rate_Bps;
        wires_of(&w, cases[i].word);
        for (int32_t l = 0; l < w.n_links; l++)
            w.links[l].bw_Bps *= w.links[l].src < w.n_npus ? 8 : 1;
        OK(theta_uniform(&rate_Bps, &w, e));
        assert_close(rate_Bps, cases[i].rate_GBps * 1e9, 5e-6);
    }
}

/* x wraps shift y by half its length where @p twist: a torus of 4 x 8 and its twisted sister. */
static void torus_4x8(struct topo_wires *w, bool twist)
{
    struct topo_link links[64];
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    for (int v = 0; v < 32; v++) {
        int x = v % 4, y = v / 4, up = x == 3 && twist ? (y + 4) % 8 : y;
        links[2 * v] = (struct topo_link){ .src = v, .dst = (x + 1) % 4 + 4 * up, .bw_Bps = 1 };
        links[2 * v + 1] = (struct topo_link){ .src = v, .dst = x + 4 * ((y + 1) % 8), .bw_Bps = 1 };
    }
    MUST(topo_build_links(&g, 32, 0, "npu", links, 64, e));
    MUST(topo_wires_build(w, g, e));
}

/* Links of two classes with rates b1 and b2: the formulas of torus and twisted torus, one programme for all
 * ratios, and each cut holds at all of them. */
TEST(classes_bound_the_rate_by_cuts)
{
    for (int twist = 0; twist < 2; twist++) {
        KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
        KEEP(struct theta *, t, theta_free_at);
        struct theta_demand d = { .n_axes = 1, .sizes = { 32 }, .n_parts = 1 };
        struct theta_answer found[40];
        int32_t classes[64];
        double weight[64], b[40][2];
        int n = 0;
        d.parts[0] = (struct theta_part){ THETA_DIRECT, 1, { 32 }, { 1 } };
        torus_4x8(&w, twist);
        for (int l = 0; l < 64; l++) {
            classes[l] = l % 2;
            weight[l] = 1;
        }
        OK(theta_build(&t, &w, classes, 2, weight, &d, e));
        for (double ratio = 0.2; ratio < 6; ratio *= 1.1, n++) {
            b[n][0] = ratio * 3e9;
            b[n][1] = 3e9;
            OK(theta_solve(&found[n], t, b[n], e));
            double want = fmin(1.9375 * b[n][0], (twist ? 1.9375 : 0.96875) * b[n][1]);
            /* By symmetry one length a class: 31 (2 a b1 + 2 (1-a) b2) / distances(a), least at these a. */
            if (twist)
                want = fmin(want, fmin(31.0 / 42 * (b[n][0] + b[n][1]),
                                       31.0 / 60 * (b[n][0] + b[n][1] + fmin(b[n][0], b[n][1]))));
            assert_close(found[n].rate, want, 1e-9);
            assert_close(found[n].reached, found[n].rate, 2e-9);
        }
        struct theta_answer none;
        OK(theta_solve(&none, t, (const double[]){ 0, 0 }, e));
        assert_true(none.rate == 0 && none.reached == 0 && none.busy[0] == 0 && none.busy[1] == 0);
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++)
                assert_true(found[i].cut[0] * b[k][0] + found[i].cut[1] * b[k][1] >=
                            found[k].rate * (1 - 1e-9));
    }
}

/* Contiguous pairs stay under their leaf, strided ones cross: a tree of 4 leaves of 4 with taper 2. */
TEST(groups_load_what_lies_between_their_members)
{
    KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
    static const struct {
        int32_t members[2], stride[2];
        enum theta_kind kind;
        double rate;
    } cases[] = {
        { { 4, 1 }, { 1, 1 }, THETA_DIRECT, 1 },   /* a leaf each */
        { { 1, 4 }, { 1, 1 }, THETA_DIRECT, 0.5 }, /* one NPU of each leaf: all goes up */
        { { 4, 4 }, { 1, 1 }, THETA_DIRECT, 15.0 / 24 },
        { { 4, 4 }, { 1, 1 }, THETA_NEXT, 1 },    /* one crossing for four NPUs */
        { { 1, 2 }, { 1, 2 }, THETA_NEXT, 0.5 },  /* leaves two apart */
        { { 1, 2 }, { 1, 2 }, THETA_CHAIN, 0.5 }, /* one way alone */
    };
    wires_of(&w, "fat-tree:4x4/2@1");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct theta *, t, theta_free_at);
        struct theta_demand d = { .n_axes = 2, .sizes = { 4, 4 }, .n_parts = 1 };
        struct theta_answer found;
        int32_t classes[64] = { 0 };
        double weight[64];
        const double one = 1;
        d.parts[0] = (struct theta_part){ .kind = cases[i].kind, .share = 1 };
        for (int k = 0; k < 2; k++) {
            d.parts[0].members[k] = cases[i].members[k];
            d.parts[0].stride[k] = cases[i].stride[k];
        }
        for (int32_t l = 0; l < w.n_links; l++)
            weight[l] = w.links[l].bw_Bps / 1e9;
        OK(theta_build(&t, &w, classes, 1, weight, &d, e));
        OK(theta_solve(&found, t, &one, e));
        assert_close(found.rate, cases[i].rate, 1e-9);
    }
}

/* On a ring of links of 1 each sends 1 to its neighbour, and what more it can by the long way of 3 hops,
 * whose four links the flows share: 1/3 with four and with three of them. One flow alone would have both
 * ways. */
TEST(a_chain_is_a_ring_without_its_last_member)
{
    static const enum theta_kind kinds[] = { THETA_NEXT, THETA_CHAIN };
    KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
    const double weight[] = { 1, 1, 1, 1 }, one = 1;
    const int32_t classes[] = { 0, 0, 0, 0 };
    wires_of(&w, "ring:4@2");
    assert_int_equal(w.n_links, 4);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        KEEP(struct theta *, t, theta_free_at);
        struct theta_demand d = { .n_axes = 1, .sizes = { 4 }, .n_parts = 1 };
        struct theta_answer found;
        d.parts[0] = (struct theta_part){ .kind = kinds[i], .share = 1, .members = { 4 }, .stride = { 1 } };
        OK(theta_build(&t, &w, classes, 1, weight, &d, e));
        OK(theta_solve(&found, t, &one, e));
        assert_close(found.rate, 4.0 / 3, 1e-9);
    }
}

/* A drawn graph of 12 NPUs, each link as @p parts in a row with switches between, all but the first wider.
 * With five of them it has too many links for rows and is solved by paths. */
enum { DRAWN = 24, MOST_PARTS = 5 };
static void draw_wires(struct topo_wires *w, uint64_t seed, int parts)
{
    struct topo_link links[DRAWN * MOST_PARTS];
    uint64_t x = seed * 0x9e3779b97f4a7c15u;
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    for (int i = 0; i < DRAWN; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        int to = (i + (i < 12 ? 1 : (int)(x % 11) + 1)) % 12, first = 12 + i * (parts - 1);
        for (int k = 0; k < parts; k++)
            links[i * parts + k] = (struct topo_link){ .src = k ? first + k - 1 : i % 12,
                                                       .dst = k + 1 < parts ? first + k : to,
                                                       .bw_Bps = 1e9 * (double)(1 + x / 64 % 5) * (1 + k) };
    }
    MUST(topo_build_links(&g, 12, DRAWN * (parts - 1), "npu", links, DRAWN * parts, e));
    MUST(topo_wires_build(w, g, e));
}

/* Both ways of solving agree, at all bandwidths of three classes: also where one of them is closed, and where
 * that cuts NPUs off. Cuts of either bound the other. */
TEST(paths_and_rows_find_the_same)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct theta_demand d = { .n_axes = 1, .sizes = { 12 }, .n_parts = 1 };
        struct theta *t[2];
        for (int k = 0; k < 2; k++) {
            KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
            int32_t classes[DRAWN * MOST_PARTS], parts = k ? MOST_PARTS : 1;
            double weight[DRAWN * MOST_PARTS];
            draw_wires(&w, seed, parts);
            for (int32_t l = 0; l < w.n_links; l++) {
                classes[l] = l / parts < 12 ? l / parts % 2 : 2;
                weight[l] = w.links[l].bw_Bps / 1e9;
            }
            d.parts[0] = (struct theta_part){ seed % 3 ? THETA_DIRECT : THETA_NEXT, 1, { 12 }, { 1 } };
            OK(theta_build(&t[k], &w, classes, 3, weight, &d, e));
        }
        static const double bw_GBps[][3] = { { 1, 1, 1 },    { 1, 3, 0.2 },  { 0.01, 1, 1 }, { 1, 1, 0 },
                                             { 0, 1, 0.03 }, { 1e-6, 1, 1 }, { 2, 1, 1 },    { 0, 0, 1 } };
        struct theta_answer found[2];
        for (size_t i = 0; i < COUNT_OF(bw_GBps); i++) {
            double bw_Bps[3];
            for (int c = 0; c < 3; c++)
                bw_Bps[c] = bw_GBps[i][c] * 1e9;
            for (int k = 0; k < 2; k++) {
                OK(theta_solve(&found[k], t[k], bw_Bps, e));
                assert_true(found[k].reached <= found[k].rate * (1 + 1e-12));
                assert_true(found[k].reached >= found[k].rate * (1 - 2e-9));
            }
            assert_true(fabs(found[0].rate - found[1].rate) <= 2e-9 * found[0].rate);
        }
        for (int k = 0; k < 2; k++)
            theta_free(t[k]);
    }
}

/* Links that differ by 1e-12 have no symmetry, and the rates of tori, trees and dragonflies. */
TEST(paths_find_what_closed_forms_give)
{
    static const struct {
        const char *word;
        double rate_GBps;
    } cases[] = {
        { "ring:4@2 ring:8@2", 0.96875 },
        { "ring:8@2 ring:8@2", 63.0 / 64 },
        { "full:4@3 full:8@7", 3.875 },
        { "fat-tree:8x4/3@1", 31.0 / 24 / 3 },
        { "fat-tree:4x2x4/2/1@1", 31.0 / 28 / 2 },
        { "ring:4@2 ring:4@2 ring:8@2", 0.992187500 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
        double rate_Bps;
        wires_of(&w, cases[i].word);
        for (int32_t l = 0; l < w.n_links; l++)
            w.links[l].bw_Bps *= 1 + 1e-12 * l;
        OK(theta_uniform(&rate_Bps, &w, e));
        assert_close(rate_Bps, cases[i].rate_GBps * 1e9, 2e-9);
    }
}

/*
 * Rails with a shared spine, all-to-all among all n = g l NPUs, g a node, q nodes below the leaves of a pod.
 * With lengths a, b, c of node, injection and up1 a message to the own node costs min(a, b + c), to another
 * rail of the own pod b + min(a, c), to the own leaf b, to elsewhere b + c. The edges of the cones in which
 * that is linear are four cuts. Neither all that is forwarded in the node nor nothing attains them all.
 */
TEST(rails_take_node_and_spine_as_their_cuts_allow)
{
    int n_better = 0;
    for (int i = 0; i < 60; i++) {
        int g = 2 + i % 3, q = 2 + i / 3 % 2, r = 2 + i / 6 % 2, taper = 1 + i / 12 % 2, l = q * r, n = g * l;
        double node = 0.1 + 0.15 * (i % 7), up = 1.0 / taper, most = n - 1, rate_Bps;
        char word[96];
        KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
        snprintf(word, sizeof word, "switch:%d@%g fat-tree:%dx%d/%d+shared@1", g, node, q, r, taper);
        wires_of(&w, word);
        OK(theta_uniform(&rate_Bps, &w, e));
        double injection = most / (n - g);
        double want =
            fmin(fmin(injection, up * most / (n - g * q)), fmin(node + 1, (node + up) * most / (n - q)));
        assert_close(rate_Bps / 1e9, want, 1e-9);
        double forward = fmin(fmin(node * most / (n - l), injection), up * most / (n - g * q));
        double spine = fmin(fmin(node * most / (g - 1), injection), up * most / (n - g - q + 1));
        assert_true(want >= fmax(forward, spine) * (1 - 1e-9));
        n_better += want > 1.001 * fmax(forward, spine);
    }
    assert_in_range(n_better, 10, 60);
}

/* A cut and a routing that are not brought together still hold the rate between them, and are less work. */
TEST(a_wider_gap_still_holds_the_rate)
{
    enum { N = 40, LINKS = 3 * N };
    const struct theta_demand demand = {
        .n_axes = 1, .sizes = { N }, .n_parts = 1, .parts = { { THETA_DIRECT, 1, { N }, { 1 } } }
    };
    RNG(r, 36, 11);
    for (int round = 0; round < 4; round++) {
        KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
        KEEP(struct topo_graph *, g, topo_graph_free_at);
        struct topo_link links[LINKS];
        int32_t classes[LINKS];
        double weight[LINKS];
        const double bw_Bps[2] = { 1e9, 3e9 };
        for (int i = 0; i < LINKS; i++) {
            int further = i < N ? 1 : 2 + (int)rng_below(r, N - 3);
            links[i] = (struct topo_link){ .src = i % N, .dst = (i % N + further) % N, .bw_Bps = 1e9 };
            classes[i] = (int32_t)rng_below(r, 2);
            weight[i] = 1;
        }
        OK(topo_build_links(&g, N, 0, "npu", links, LINKS, e));
        OK(topo_wires_build(&w, g, e));
        KEEP(struct theta *, exact, theta_free_at);
        struct theta_answer want;
        OK(theta_build(&exact, &w, classes, 2, weight, &demand, e));
        OK(theta_solve(&want, exact, bw_Bps, e));
        assert_false(theta_is_large(exact));
        for (double gap = 0.1; gap > 1e-4; gap /= 10) {
            KEEP(struct theta *, t, theta_free_at);
            struct theta_answer found;
            OK(theta_build(&t, &w, classes, 2, weight, &demand, e));
            OK(theta_solve_within(&found, t, bw_Bps, gap, e));
            assert_true(found.reached <= want.rate * (1 + 1e-9) && found.rate >= want.reached * (1 - 1e-9));
            assert_true(found.rate - found.reached <= gap * found.rate);
            assert_true(found.rate - found.reached > 10 * THETA_GAP * found.rate);
            assert_close(found.cut[0] * bw_Bps[0] + found.cut[1] * bw_Bps[1], found.rate, 1e-12);
        }
    }
}

/* Random graphs have no symmetry: both bounds meet all the same, and a ring's cut is its narrowest. */
TEST(graphs_without_symmetry_are_solved_too)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
        KEEP(struct topo_graph *, g, topo_graph_free_at);
        struct topo_link links[30];
        uint64_t x = seed * 0x9e3779b97f4a7c15u;
        double rate_Bps, least = INFINITY;
        for (int i = 0; i < 24; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            int other = (int)(x % 11) + 1;
            links[i] = (struct topo_link){ .src = i % 12,
                                           .dst = i < 12 ? (i + 1) % 12 : (i + other) % 12,
                                           .bw_Bps = 1e9 * (double)(1 + x / 64 % 5) };
        }
        OK(topo_build_links(&g, 12, 0, "npu", links, 24, e));
        OK(topo_wires_build(&w, g, e));
        OK(theta_uniform(&rate_Bps, &w, e));
        /* No more than any NPU can send. */
        for (int v = 0; v < 12; v++) {
            double out = 0;
            for (int i = 0; i < 24; i++)
                out += links[i].src == v || links[i].dst == v ? links[i].bw_Bps : 0;
            least = fmin(least, out);
        }
        assert_true(rate_Bps > 0 && rate_Bps <= least * (1 + 1e-12));
    }
}

TEST(what_cannot_be_solved_is_said)
{
    KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    struct topo_link apart[] = { { .src = 0, .dst = 1, .bw_Bps = 1 }, { .src = 2, .dst = 3, .bw_Bps = 1 } };
    struct theta_demand d = { .n_axes = 1, .sizes = { 4 }, .n_parts = 1 };
    struct theta_answer found;
    struct theta *t;
    int32_t classes[2] = { 0 };
    double weight[2] = { 1, 1 }, rate_Bps;
    const double one = 1;
    OK(topo_build_links(&g, 4, 0, "npu", apart, 2, e));
    OK(topo_wires_build(&w, g, e));
    OK(theta_uniform(&rate_Bps, &w, e));
    assert_true(isnan(rate_Bps));
    d.parts[0] = (struct theta_part){ THETA_DIRECT, 1, { 4 }, { 1 } };
    OK(theta_build(&t, &w, classes, 1, weight, &d, e));
    FAILS(theta_solve(&found, t, &one, e), ERR_RANGE, "is not connected");
    theta_free(t);
    d.parts[0].members[0] = 3;
    FAILS(theta_build(&t, &w, classes, 1, weight, &d, e), ERR_RANGE, "takes 3 members with stride 1 of 4");
}
