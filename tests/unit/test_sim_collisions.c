/*
 * Flows that are hashed: how full the fullest link is, against all ways to throw balls, against the flow
 * simulation with its hashed routes, and what a fat tree's loads make of it.
 */
#include "tests/unit/flow_plant.h"

#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "topo/collisions.h"

/* Mean over all links^flows throws. */
static double thrown(int flows, int links)
{
    double sum = 0, n = pow(links, flows);
    for (int64_t i = 0; i < (int64_t)n; i++) {
        int count[8] = { 0 }, most = 0;
        int64_t rest = i;
        for (int f = 0; f < flows; f++, rest /= links)
            most = ++count[rest % links] > most ? count[rest % links] : most;
        sum += most;
    }
    return sum / n;
}

TEST(fullest_links_are_counted_exactly_for_few_flows)
{
    for (int links = 1; links <= 6; links++)
        for (int flows = 1; flows <= 7; flows++)
            assert_close(topo_fullest(flows, links, 1), thrown(flows, links), 1e-12);
    assert_close(topo_fullest(16, 16, 1), 3.0782, 2e-5); /* M. Raab, A. Steger: about log n / log log n */
    assert_true(topo_fullest(3, 1000000, 1) < 1 + 4e-6);
    assert_true(topo_fullest(1, 8, 100) == 1);
}

/* Drawn, where there are too many to try. */
static double drawn(struct rng *rng, int flows, int links, int sets, int times)
{
    double sum = 0;
    int *count = calloc((size_t)links, sizeof *count);
    assert_non_null(count);
    for (int t = 0; t < times; t++) {
        int most = 0;
        for (int s = 0; s < sets; s++) {
            for (int i = 0; i < links; i++)
                count[i] = 0;
            for (int f = 0; f < flows; f++) {
                int *at = &count[rng_below(rng, links)];
                most = ++*at > most ? *at : most;
            }
        }
        sum += most;
    }
    free(count);
    return sum / times;
}

TEST(fullest_links_of_many_flows_are_near_what_is_drawn)
{
    static const int flows[] = { 24, 33, 48, 100, 400, 2000 }, links[] = { 2, 3, 6, 16, 64 };
    static const int sets[] = { 1, 2, 4, 16 };
    static const double within[] = { 0.045, 0.025, 0.015, 0.015 }; /* 0.5 % of it is the draw */
    RNG(rng, 33, 3);
    for (int32_t f = 0; f < repeats(COUNT_OF(flows)); f++)
        for (size_t u = 0; u < COUNT_OF(links); u++)
            for (size_t s = 0; s < COUNT_OF(sets); s++) {
                int times = 2000000 / (flows[f] * sets[s]); /* of many flows one draw says more */
                times = times < 200 ? 200 : times > 2000 ? 2000 : times;
                double want = drawn(rng, flows[f], links[u], sets[s], times);
                double got = topo_fullest(flows[f], links[u], sets[s]);
                if (!(fabs(got / want - 1) <= within[s]))
                    fail_msg("%d flows, %d links, %d sets: %.6g, drawn %.6g", flows[f], links[u], sets[s],
                             got, want);
            }
    /* Nothing jumps where the formula changes. */
    assert_close(topo_fullest(32, 8, 16) / topo_fullest(33, 8, 16), 32 / 33.0, 0.02);
    assert_close(topo_fullest(INT64_C(1999999), 2, 4), topo_fullest(INT64_C(2000001), 2, 4), 2e-3);
}

/* A collective over a tree: seconds of the closed form, of flows the mean of 20 seeds, and of as many as
 * leave it a standard error of 3 %: a few flows fall anyhow, and 20 seeds leave theirs 6. */
struct compared {
    double closed_s, flow_20_s, flow_s;
    int seeds;
};

static struct compared compare_tree(const char *word, enum collective_kind kind, enum topo_algorithm a,
                                    const struct flow_group_spec *spec)
{
    struct collective_time t = { 0 };
    struct compared x = { 0 };
    double bw_Bps[TOPO_MAX_DIMS], sum_s = 0, squares = 0, error = INFINITY;
    while (x.seeds < 20 || error > 0.03) {
        KEEP(struct plant, p, plant_close);
        plant_word(&p, word, 0);
        for (int32_t d = 0; d < p.net.n_dims; d++)
            p.net.dims[d].algorithm = a;
        plant_open(&p);
        p.routes.seed = (uint64_t)++x.seeds;
        int32_t g = group(&p, spec), id = issue(&p, g, kind, 1e9, 0);
        run(&p);
        double time_s = flow_sim_finish_s(p.sim, id), n = x.seeds;
        sum_s += time_s;
        squares += time_s * time_s;
        x.flow_s = sum_s / n;
        x.flow_20_s = n <= 20 ? x.flow_s : x.flow_20_s;
        error = n > 1 ? sqrt(fmax(squares / n - x.flow_s * x.flow_s, 0) / (n - 1)) / x.flow_s : INFINITY;
        const struct collective_way way = { &p.net, &stage_rules_plain, topo_get_bandwidths(bw_Bps, &p.net) };
        collective_time(&t, kind, 1e9, spec->members, spec->stride, NULL, &way);
    }
    x.closed_s = t.time_s;
    return x;
}

TEST(random_groups_take_what_hashed_flows_do_in_the_mean)
{
    static const char *const words[] = { "fat-tree:16x8+hash@50",    "fat-tree:8x8+hash@50",
                                         "fat-tree:8x4/2+hash@50",   "fat-tree:16x4+hash@50",
                                         "fat-tree:8x16+hash@50",    "fat-tree:8x8+hash4@50",
                                         "fat-tree:12x6/1.5+hash@50" };
    static const enum topo_algorithm algorithms[] = { TOPO_ALGORITHM_SHAPE, TOPO_ALGORITHM_RING,
                                                      TOPO_ALGORITHM_DIRECT };
    static const enum collective_kind kinds[] = { COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_ALL_TO_ALL,
                                                  COLLECTIVE_SEND, COLLECTIVE_ALL_REDUCE };
    RNG(rng, 33, 4);
    double sum = 0;
    int n_within = 0, n = repeats(100);
    for (int i = 0; i < n; i++) {
        struct topo_network net;
        struct flow_group_spec spec = { .order = NULL };
        const char *word = words[rng_below(rng, COUNT_OF(words))];
        enum topo_algorithm a = algorithms[rng_below(rng, COUNT_OF(algorithms))];
        enum collective_kind kind = kinds[rng_below(rng, COUNT_OF(kinds))];
        OK(topo_parse_spec(&net, word, e));
        for (int32_t d = 0; d < net.n_dims; d++) {
            do
                spec.members[d] = 1 + (int32_t)rng_below(rng, net.dims[d].size);
            while (net.dims[d].size % spec.members[d] || (d == 1 && spec.members[d] == 1));
            spec.stride[d] = 1;
        }
        struct compared x = compare_tree(word, kind, a, &spec);
        double off = fabs(x.closed_s / x.flow_s - 1);
        if (!(off <= 0.1))
            fail_msg("%s, %s by %s, %d x %d: closed form %.5g s, flows %.5g s over %d seeds", word,
                     collective_names[kind], topo_algorithm_words[a], (int)spec.members[0],
                     (int)spec.members[1], x.closed_s, x.flow_s, x.seeds);
        n_within += fabs(x.closed_s / x.flow_20_s - 1) <= 0.1;
        sum += off;
    }
    assert_true(n_within >= 97 * n / 100 && sum / n <= 0.02);
}

/* 1:1, one member a leaf: 35 ms by even loads in all models. */
TEST(one_member_a_leaf_pays_for_collisions_even_without_a_taper)
{
    struct topo_network net[2];
    const char *const words[] = { "fat-tree:16x8@50", "fat-tree:16x8+hash@50" };
    double time_s[2], bw_Bps[TOPO_MAX_DIMS];
    int32_t members[TOPO_MAX_DIMS] = { 1, 8 };
    for (int i = 0; i < 2; i++) {
        struct collective_time t;
        OK(topo_parse_spec(&net[i], words[i], e));
        const struct collective_way way = { &net[i], NULL, topo_get_bandwidths(bw_Bps, &net[i]) };
        collective_time(&t, COLLECTIVE_ALL_REDUCE, 1e9, members, NULL, NULL, &way);
        time_s[i] = t.time_s;
    }
    assert_close(time_s[0], 0.035, 1e-12);
    assert_close(time_s[1], 0.035 * topo_fullest(16, 16, 4), 1e-12);
    assert_in_range((int)(time_s[1] * 1e3), 108, 135);
}
