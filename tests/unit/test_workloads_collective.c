#include "tests/support.h"

#include "workloads/collective.h"

static const int32_t groups[][4] = {
    { 4, 8, 4, 32 }, { 16, 8, 32, 1 }, { 4, 4, 1, 1 }, { 1, 2, 4, 32 },
    { 1, 1, 1, 1 },  { 3, 1, 5, 7 },   { 2, 1, 1, 2 },
};

static double product(const int32_t *members)
{
    double n = 1;
    for (int d = 0; d < 4; d++)
        n *= members[d];
    return n;
}

static double sum_of(enum collective_kind kind, double bytes, const int32_t *members)
{
    double out[4], sum = 0;
    collective_traffic(out, kind, bytes, members, 4);
    for (int d = 0; d < 4; d++)
        sum += out[d];
    return sum;
}

TEST(an_all_reduce_is_a_reduce_scatter_and_an_all_gather_of_the_shards)
{
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        double both[4], scatter[4], gather[4], S = 12345678;
        collective_traffic(both, COLLECTIVE_ALL_REDUCE, S, groups[i], 4);
        collective_traffic(scatter, COLLECTIVE_REDUCE_SCATTER, S, groups[i], 4);
        collective_traffic(gather, COLLECTIVE_ALL_GATHER, S / product(groups[i]), groups[i], 4);
        for (int d = 0; d < 4; d++)
            assert_close(both[d], scatter[d] + gather[d], 1e-14);
    }
}

/* Whatever the order of dimensions: of S bytes an NPU keeps S/P, of P shards it brings in one. */
TEST(no_byte_is_sent_twice_or_lost)
{
    for (size_t i = 0; i < COUNT_OF(groups); i++) {
        double P = product(groups[i]);
        assert_close(sum_of(COLLECTIVE_REDUCE_SCATTER, 1e9, groups[i]), 1e9 * (P - 1) / P, 1e-14);
        assert_close(sum_of(COLLECTIVE_ALL_GATHER, 1e6, groups[i]), 1e6 * (P - 1), 1e-14);
    }
}

/* Message from NPU a to NPU b, S/P bytes, goes dimension by dimension; count those that move in each. */
TEST(an_all_to_all_moves_what_counting_messages_gives)
{
    static const int32_t members[] = { 3, 1, 4 };
    double out[3], counted[3] = { 0 }, S = 1.2e6;
    collective_traffic(out, COLLECTIVE_ALL_TO_ALL, S, members, 3);
    for (int from = 0; from < 12; from++)
        for (int to = 0; to < 12; to++) {
            counted[0] += from % 3 != to % 3;
            counted[2] += from / 3 != to / 3;
        }
    for (int d = 0; d < 3; d++)
        assert_close(out[d], counted[d] / 12 * S / 12, 1e-14);
}

/* Blocks are numbered like NPUs; in dimension d an NPU sends the blocks that agree with it before d and not
 * in d. */
TEST(a_reduce_scatter_moves_what_counting_blocks_gives)
{
    static const int32_t members[] = { 3, 2, 4 };
    double out[3], counted[3] = { 0 }, S = 2.4e6;
    collective_traffic(out, COLLECTIVE_REDUCE_SCATTER, S, members, 3);
    for (int block = 1; block < 24; block++)
        counted[block % 3 ? 0 : block / 3 % 2 ? 1 : 2] += S / 24;
    for (int d = 0; d < 3; d++)
        assert_close(out[d], counted[d], 1e-14);
}

/* GPT-3 of the public LIBRA inputs on ring 4, full 8, ring 4, switch 32; fractions by hand. */
TEST(gpt3_traffic_is_what_libra_has)
{
    CASES(enum collective_kind kind; double bytes; int32_t members[4]; double want[4]) = {
        { COLLECTIVE_ALL_REDUCE, 805306368, { 4, 4, 1, 1 }, { 1207959552, 301989888, 0, 0 } },
        { COLLECTIVE_ALL_GATHER, 50331648, { 4, 4, 1, 1 }, { 603979776, 150994944, 0, 0 } },
        { COLLECTIVE_ALL_REDUCE, 452984832, { 1, 2, 4, 32 }, { 0, 452984832, 339738624, 109707264 } },
        { COLLECTIVE_ALL_TO_ALL, 4194304, { 4, 8, 4, 32 }, { 3145728, 3670016, 3145728, 4063232 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double out[4];
        collective_traffic(out, cases[i].kind, cases[i].bytes, cases[i].members, 4);
        for (int d = 0; d < 4; d++)
            assert_close(out[d], cases[i].want[d], 1e-15);
    }
}

/* Counting what must pass the one link of the end member: all-reduce of S on a line of n at B takes
 * 2 S (n-1)/n over B/2; a ring takes half of it, and so does a line of two, with one link of B. */
TEST(a_line_is_as_slow_as_its_end)
{
    CASES(enum topo_shape shape; int32_t size; double share) = {
        { TOPO_LINE, 4, 0.4 }, { TOPO_LINE, 3, 0.4 },   { TOPO_LINE, 2, 0.8 },
        { TOPO_RING, 4, 0.8 }, { TOPO_SWITCH, 4, 0.8 }, { TOPO_FULL, 4, 0.8 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct topo_dim dim = { .shape = cases[i].shape, .size = cases[i].size, .efficiency = 0.8 };
        assert_close(collective_share(&dim), cases[i].share, 1e-15);
    }
}

/*
 * Of a dimension's bandwidth a group has the links between its members alone. By hand, S = 1, a port of B =
 * 1: in full:8 each of 7 links has 1/7, and n members send 1/n of S over each of theirs in either pass; in
 * ring:8 two neighbours share one link of half. A switch gives a part all there is. In whole parts nothing is
 * counted by links.
 */
TEST(a_part_of_a_dimension_has_its_own_links)
{
    CASES(enum topo_shape shape; int32_t size, members; double links_B, port_B) = {
        { TOPO_FULL, 8, 2, 7, 1 },           { TOPO_FULL, 8, 4, 7. / 2, 3. / 2 },
        { TOPO_FULL, 8, 8, 7. / 4, 7. / 4 }, { TOPO_RING, 8, 2, 2, 1 },
        { TOPO_RING, 8, 8, 7. / 4, 7. / 4 }, { TOPO_RING, 2, 2, 1, 1 },
        { TOPO_SWITCH, 8, 2, 1, 1 },         { TOPO_SWITCH, 8, 8, 7. / 4, 7. / 4 },
        { TOPO_FULL, 8, 1, 0, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net = { .n_dims = 1, .n_npus = cases[i].size };
        double load_B;
        topo_dim_defaults(&net.dims[0], 0);
        net.dims[0].shape = cases[i].shape;
        net.dims[0].size = cases[i].size;
        collective_loads(&load_B, COLLECTIVE_ALL_REDUCE, 1, &cases[i].members, NULL, NULL, &net);
        assert_close(load_B, cases[i].links_B, 1e-14);
        net.whole_parts = true;
        collective_loads(&load_B, COLLECTIVE_ALL_REDUCE, 1, &cases[i].members, NULL, NULL, &net);
        assert_close(load_B, cases[i].port_B, 1e-14);
    }
}

/* The most of a port that a collective may reach: in whichever regime or measured curve that is. */
TEST(the_best_share_is_that_of_any_regime_or_curve)
{
    struct topo_dim dim;
    topo_dim_defaults(&dim, 0);
    dim.shape = TOPO_RING;
    dim.size = 4;
    dim.efficiency = 0.5;
    assert_close(collective_best_share(&dim), 0.5, 1e-15);
    dim.regimes[dim.n_regimes++] = (struct topo_regime){ 0, 0.7, 1e6 };
    assert_close(collective_best_share(&dim), 0.7, 1e-15);
    dim.regimes[dim.n_regimes++] = (struct topo_regime){ 0, 0.6, INFINITY };
    assert_close(collective_best_share(&dim), 0.7, 1e-15);
    dim.shape = TOPO_LINE; /* half of a port, as a_line_is_as_slow_as_its_end counts */
    assert_close(collective_best_share(&dim), 0.35, 1e-15);
}

TEST(every_collective_has_its_own_name)
{
    for (int i = 0; i < N_COLLECTIVES; i++)
        for (int k = 0; k < i; k++)
            assert_string_not_equal(collective_names[i], collective_names[k]);
    assert_null(collective_names[N_COLLECTIVES]);
}
