#include "tests/support.h"

#include "base/rng.h"
#include "workloads/collective.h"
#include "workloads/dispatch.h"

/* Next set of so many bits in the order of numbers; Gosper's hack. */
static unsigned next_set(unsigned set)
{
    unsigned low = set & (0U - set), carried = set + low;
    return carried | (((carried ^ set) / low) >> 2);
}

static unsigned bits_of(unsigned set)
{
    unsigned n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

/* Distinct places of every choice of nodes and of experts in them, in the mean. */
static double enumerate(unsigned experts, unsigned top_k, unsigned limit, unsigned nodes, unsigned places)
{
    double sum = 0, n = 0;
    unsigned of_node = experts / nodes, of_place = experts / places;
    for (unsigned drawn = (1U << limit) - 1; drawn < 1U << nodes; drawn = next_set(drawn))
        for (unsigned set = (1U << top_k) - 1; set < 1U << experts; set = next_set(set)) {
            unsigned hit = 0;
            bool inside = true;
            for (unsigned e = 0; e < experts; e++)
                if (set >> e & 1) {
                    hit |= 1U << e / of_place;
                    inside = inside && drawn >> e / of_node & 1;
                }
            sum += inside ? bits_of(hit) : 0;
            n += inside;
        }
    return sum / n;
}

TEST(distinct_places_are_those_of_all_choices)
{
    static const unsigned experts[] = { 4, 6, 8, 12 };
    int tried = 0;
    RNG(r, 19, 1);
    while (tried < 300) {
        unsigned n = experts[rng_below(r, COUNT_OF(experts))], nodes = 1 + (unsigned)rng_below(r, n);
        unsigned places = 1 + (unsigned)rng_below(r, n), limit = 1 + (unsigned)rng_below(r, nodes);
        unsigned k = 1 + (unsigned)rng_below(r, 4);
        const struct dispatch x = { n, k, limit, 0 };
        if (n % nodes || n % places || (nodes % places && places % nodes) || limit * (n / nodes) < k)
            continue;
        assert_near(dispatch_places(&x, nodes, places), enumerate(n, k, limit, nodes, places), 1e-9);
        tried++;
    }
}

/* 8 of DeepSeek-V3's 256 experts on 2, 4 and 8 nodes, and on 8 of which a token reaches 4: drawn at random
 * 1.995, 3.61, 5.31; 3.63. */
TEST(a_token_of_deepseek_reaches_so_many_nodes)
{
    CASES(double nodes, limit,
          want) = { { 2, 0, 1.995 }, { 4, 0, 3.614 }, { 8, 0, 5.31 }, { 8, 4, 3.63 }, { 1, 0, 1 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct dispatch x = { 256, 8, cases[i].limit, 0 };
        assert_near(dispatch_places(&x, cases[i].nodes, cases[i].nodes), cases[i].want, 0.02);
    }
    /* A limit that holds too few experts counts as the least that does. */
    const struct dispatch few = { 8, 4, 1, 0 }, least = { 8, 4, 4, 0 };
    assert_close(dispatch_places(&few, 8, 8), dispatch_places(&least, 8, 8), 1e-15);
}

/*
 * DeepEP V1 (deepseek-ai/DeepEP@dd758ca docs/legacy.md): 4,096 tokens of 7168 in 8 bits with a scale for each
 * 128, 8 of 256 experts, H800 with 160 GB/s inside a node and NICs of 50 GB/s, 0.89 of which dispatch
 * reaches. Its logical bandwidth counts the own node's copy. Published: 58 GB/s with EP 32, 51 with EP 64,
 * where four groups are reached at most; EP 8 is bound inside, 153 to 158 GB/s.
 */
TEST(dispatch_of_deepep_takes_as_long_as_published)
{
    CASES(int32_t nodes; double limit, logical_GBps) = { { 4, 0, 58 }, { 8, 4, 51 } };
    const double token_B = 4096 * 7168 * (1 + 4 / 128.0);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        struct collective_time t;
        double share[TOPO_MAX_DIMS], bw_Bps[] = { 160e9, 50e9 };
        int32_t members[TOPO_MAX_DIMS] = { 8, cases[i].nodes, 1, 1, 1, 1, 1, 1 };
        const struct dispatch x = { 256, 8, cases[i].limit, 0 };
        const struct collective_way way = { &net, NULL, bw_Bps };
        OK(topo_parse_spec(&net,
                           cases[i].nodes == 4 ? "switch:8@160 switch:4@50" : "switch:8@160 switch:8@50", e));
        net.dims[1].efficiency = 0.89;
        assert_int_equal(dispatch_share(share, &x, members, &net), cases[i].nodes);
        collective_time(&t, COLLECTIVE_ALL_TO_ALL, token_B * x.top_k, members, NULL, share, &way);
        double nodes = dispatch_places(&x, cases[i].nodes, cases[i].nodes);
        assert_close(token_B * nodes / t.time_s / 1e9, cases[i].logical_GBps, 0.03);
    }
}

/* Between nodes the copies of nodes, inside those of NPUs; levels of a fabric are one step; of three levels
 * the middle one tells apart what lies beyond it. */
TEST(each_level_carries_a_copy_for_each_place_behind_it)
{
    CASES(const char *word; int32_t members[4]; int64_t nodes; double places[4]) = {
        { "switch:8 switch:4", { 8, 4, 1, 1 }, 4, { 32, 4, 0, 0 } },
        { "switch:8 switch:4", { 8, 1, 1, 1 }, 1, { 8, 0, 0, 0 } },
        { "switch:8 switch:4", { 1, 4, 1, 1 }, 1, { 0, 4, 0, 0 } },
        { "switch:4 switch:4 switch:4", { 4, 4, 4, 1 }, 16, { 64, 16, 4, 0 } },
        { "switch:4 fat-tree:4x4/2", { 4, 4, 4, 1 }, 16, { 64, 16, 16, 0 } },
        { "fat-tree:8x4/2", { 8, 4, 1, 1 }, 1, { 32, 32, 0, 0 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        double share[TOPO_MAX_DIMS];
        int32_t members[TOPO_MAX_DIMS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
        const struct dispatch x = { 64, 6, 0, 0 };
        OK(topo_parse_spec(&net, cases[i].word, e));
        memcpy(members, cases[i].members, sizeof cases[i].members);
        assert_int_equal(dispatch_share(share, &x, members, &net), cases[i].nodes);
        for (int32_t d = 0; d < 4; d++)
            assert_close(share[d],
                         cases[i].places[d] > 0
                             ? dispatch_places(&x, (double)cases[i].nodes, cases[i].places[d]) / 6
                             : 1,
                         1e-15);
    }
}

/* Whatever is drawn: no fewer than one, no more than there are places or experts, and fewer nodes cost less.
 */
TEST(copies_are_between_one_and_those_of_every_expert)
{
    RNG(r, 19, 0);
    for (int i = 0; i < 2000; i++) {
        double nodes = (double)(1 << rng_below(r, 6)), inside = (double)(1 << rng_below(r, 4));
        double k = (double)(1 + rng_below(r, 8)), experts = nodes * inside * (double)(1 + rng_below(r, 4));
        struct dispatch x = { experts, fmin(k, experts), 0, 0 };
        double all = dispatch_places(&x, nodes, nodes * inside), some = dispatch_places(&x, nodes, nodes);
        assert_true(some >= 1 - 1e-12 && all >= some - 1e-12 && all <= fmin(nodes * inside, x.top_k) + 1e-12);
        x.limit = (double)(1 + rng_below(r, (int64_t)nodes));
        assert_true(dispatch_places(&x, nodes, nodes) <= some + 1e-12);
    }
}

/* DeepSeek-V3's 8 groups, of which a token reaches 4: on 8 nodes a limit of 4 nodes; on 4, 2 and one of two,
 * four and all groups; on 6 nodes, which 4 groups do not fill, no limit. */
TEST(groups_of_experts_lie_on_nodes_as_they_may)
{
    CASES(int32_t nodes;
          double limit, groups) = { { 8, 4, 0 }, { 8, 4, 8 }, { 4, 4, 8 }, { 2, 4, 8 }, { 1, 4, 8 } };
    struct topo_network net;
    double share[TOPO_MAX_DIMS], free[TOPO_MAX_DIMS];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char word[48];
        int32_t n = cases[i].nodes, members[TOPO_MAX_DIMS] = { 8, n, 1, 1, 1, 1, 1, 1 };
        const struct dispatch x = { 256, 8, cases[i].limit, cases[i].groups };
        snprintf(word, sizeof word, "switch:8 switch:%d", n > 1 ? (int)n : 2);
        OK(topo_parse_spec(&net, word, e));
        assert_int_equal(dispatch_share(share, &x, members, &net), n);
        assert_close(share[0], dispatch_places(&x, 8, 8 * n) / 8, 1e-15);
        assert_close(share[1], n > 1 ? dispatch_places(&x, 8, n) / 8 : 1, 1e-15);
    }
    const int32_t six[TOPO_MAX_DIMS] = { 1, 6, 1, 1, 1, 1, 1, 1 };
    OK(topo_parse_spec(&net, "switch:2 switch:6", e));
    dispatch_share(share, &(struct dispatch){ 60, 4, 2, 4 }, six, &net);
    dispatch_share(free, &(struct dispatch){ 60, 4, 0, 0 }, six, &net);
    assert_close(share[1], free[1], 1e-15);
}
