#include "tests/support.h"

#include "base/rng.h"
#include "workloads/collective.h"

enum { N_RANDOM = 300 };

/* A network of 1 to 4 dimensions, a group over parts of them, rules with chunks, memory and overhead. */
struct random_case {
    struct topo_network net;
    struct stage_rules rules;
    double bw_Bps[TOPO_MAX_DIMS];
    int32_t members[TOPO_MAX_DIMS];
    enum collective_kind kind;
};

static void draw(struct random_case *x, struct rng *r)
{
    static const enum topo_shape shapes[] = { TOPO_RING, TOPO_FULL, TOPO_SWITCH, TOPO_LINE };
    topo_network_defaults(&x->net);
    x->net.n_dims = 1 + (int32_t)rng_below(r, 4);
    for (int32_t d = 0; d < x->net.n_dims; d++) {
        struct topo_dim *dim = &x->net.dims[d];
        topo_dim_defaults(dim, d);
        dim->shape = shapes[rng_below(r, 4)];
        dim->size = 1 << (1 + (int)rng_below(r, 4));
        dim->lat_s = 1e-7 * (double)rng_below(r, 100);
        dim->efficiency = 0.5 + 0.5 * rng_uniform(r);
        x->bw_Bps[d] = 1e9 * (1 + 99 * rng_uniform(r));
        x->members[d] = rng_below(r, 3) ? dim->size : 1;
        x->net.n_npus *= dim->size;
    }
    x->net.whole_parts = true; /* bytes of collective_traffic() */
    x->rules = stage_rules_plain;
    x->rules.chunks = 1 + (int32_t)rng_below(r, 9);
    x->rules.endpoint_s = rng_below(r, 2) ? 1e-6 : 0;
    x->rules.mem_Bps = rng_below(r, 2) ? 2e12 : INFINITY;
    /* Segments of a broadcast depend on its size. */
    static const enum collective_kind kinds[] = { COLLECTIVE_ALL_REDUCE, COLLECTIVE_REDUCE_SCATTER,
                                                  COLLECTIVE_ALL_GATHER, COLLECTIVE_ALL_TO_ALL,
                                                  COLLECTIVE_SEND };
    x->kind = kinds[rng_below(r, COUNT_OF(kinds))];
}

static double by_lines(const struct collective_lines *l, double bytes)
{
    double time_s = 0;
    for (int32_t i = 0; i < l->n; i++)
        time_s = fmax(time_s, l->lines[i].const_s + l->lines[i].s_per_B * bytes);
    return time_s;
}

static void assert_none_below(const struct collective_lines *l)
{
    for (int32_t i = 0; i < l->n; i++)
        for (int32_t k = 0; k < l->n; k++)
            assert_true(i == k || l->lines[i].const_s > l->lines[k].const_s ||
                        l->lines[i].s_per_B > l->lines[k].s_per_B);
}

TEST(lines_give_the_time_at_every_size)
{
    RNG(r, 11, 0);
    for (int i = 0; i < N_RANDOM; i++) {
        struct random_case x;
        struct collective_lines lines;
        struct collective_time t;
        draw(&x, r);
        const struct collective_way ways[] = { { &x.net, &x.rules, x.bw_Bps }, { &x.net, NULL, x.bw_Bps } };
        for (int w = 0; w < 2; w++) {
            assert_true(collective_is_linear(x.kind, &ways[w]));
            collective_find_lines(&lines, x.kind, x.members, NULL, NULL, &ways[w]);
            assert_none_below(&lines);
            for (double bytes = 1; bytes < 1e12; bytes *= 37) {
                collective_time(&t, x.kind, bytes, x.members, NULL, NULL, &ways[w]);
                assert_near(by_lines(&lines, bytes), t.time_s, 1e-9 * t.time_s + 1e-15);
            }
        }
    }
}

/* Transfers and latency make up the time; without rules it is the busiest dimension's. */
TEST(waits_are_part_of_the_time)
{
    RNG(r, 12, 0);
    for (int i = 0; i < N_RANDOM; i++) {
        struct random_case x;
        struct collective_time t;
        double wait_s = 0, traffic_B[TOPO_MAX_DIMS], most_s = 0;
        draw(&x, r);
        const struct collective_way timed = { &x.net, &x.rules, x.bw_Bps },
                                    plain = { &x.net, NULL, x.bw_Bps };
        collective_time(&t, x.kind, 1e8, x.members, NULL, NULL, &timed);
        for (int32_t d = 0; d < x.net.n_dims; d++)
            wait_s += t.wait_s[d];
        assert_true(wait_s <= t.time_s * (1 + 1e-12));
        collective_traffic(traffic_B, x.kind, 1e8, x.members, x.net.n_dims);
        for (int32_t d = 0; d < x.net.n_dims; d++)
            most_s = fmax(most_s, traffic_B[d] / collective_share(&x.net.dims[d]) / x.bw_Bps[d]);
        collective_time(&t, x.kind, 1e8, x.members, NULL, NULL, &plain);
        assert_near(t.time_s, most_s, 1e-12 * most_s);
    }
}

TEST(what_is_chosen_by_size_is_no_line)
{
    struct topo_network net;
    const double bw_Bps[] = { 1e9 };
    OK(topo_parse_spec(&net, "switch:8@1", e));
    const struct collective_way way = { &net, &stage_rules_plain, bw_Bps }, plain = { &net, NULL, bw_Bps };
    assert_true(collective_is_linear(COLLECTIVE_ALL_REDUCE, &way));
    assert_false(collective_is_linear(COLLECTIVE_BROADCAST, &way));
    net.dims[0].algorithm = TOPO_ALGORITHM_AUTO;
    assert_false(collective_is_linear(COLLECTIVE_ALL_REDUCE, &way));
    assert_true(collective_is_linear(COLLECTIVE_ALL_REDUCE, &plain));
}

TEST(a_group_of_one_takes_no_time)
{
    struct topo_network net;
    struct collective_time t;
    struct collective_lines lines;
    const double bw_Bps[] = { 1e9 };
    const int32_t one[] = { 1 };
    OK(topo_parse_spec(&net, "switch:8@1", e));
    const struct collective_way way = { &net, &stage_rules_plain, bw_Bps };
    collective_time(&t, COLLECTIVE_ALL_REDUCE, 1e9, one, NULL, NULL, &way);
    assert_true(t.time_s == 0);
    collective_find_lines(&lines, COLLECTIVE_ALL_REDUCE, one, NULL, NULL, &way);
    assert_int_equal(lines.n, 0);
}

/* What is kept for a network serves all of the same links. */
TEST(a_ring_of_two_is_a_full_mesh_of_two)
{
    RNG(r, 13, 0);
    int n_changed = 0;
    for (int i = 0; i < N_RANDOM; i++) {
        struct random_case x, y;
        struct collective_time t, other;
        draw(&x, r);
        for (int32_t d = 0; d < x.net.n_dims; d++)
            x.net.dims[d].size = rng_below(r, 2) ? 2 : x.net.dims[d].size;
        for (int32_t d = 0; d < x.net.n_dims; d++)
            x.members[d] = x.members[d] > x.net.dims[d].size ? 2 : x.members[d];
        y = x;
        for (int32_t d = 0; d < x.net.n_dims; d++)
            if (x.net.dims[d].size == 2 && x.net.dims[d].shape == TOPO_RING) {
                y.net.dims[d].shape = TOPO_FULL;
                n_changed++;
            }
        const struct collective_way ways[] = { { &x.net, &x.rules, x.bw_Bps }, { &x.net, NULL, x.bw_Bps } },
                                    others[] = { { &y.net, &y.rules, y.bw_Bps }, { &y.net, NULL, y.bw_Bps } };
        for (int w = 0; w < 2; w++) {
            collective_time(&t, x.kind, 12345678, x.members, NULL, NULL, &ways[w]);
            collective_time(&other, x.kind, 12345678, x.members, NULL, NULL, &others[w]);
            assert_close(other.time_s, t.time_s, 0);
            for (int32_t d = 0; d < x.net.n_dims; d++) {
                assert_close(other.wait_s[d], t.wait_s[d], 0);
                assert_close(other.busy_s[d], t.busy_s[d], 0);
            }
        }
    }
    assert_true(n_changed > N_RANDOM / 10);
}
