#include "tests/support.h"

#include "sim/astra/astra.h"

/* Ring 4, full 4, switch 8, as ASTRA-sim would take them. */
static struct sim_astra_setup three_dims(void)
{
    struct sim_astra_setup c;
    sim_astra_defaults(&c);
    c.n_dims = c.n_algorithms = 3;
    c.dims[0] = (struct sim_astra_dim){ TOPO_RING, 4, 200, 50 };
    c.dims[1] = (struct sim_astra_dim){ TOPO_FULL, 4, 100, 500 };
    c.dims[2] = (struct sim_astra_dim){ TOPO_SWITCH, 8, 50, 2000 };
    c.algorithms[0] = TOPO_ALGORITHM_RING;
    c.algorithms[1] = TOPO_ALGORITHM_DIRECT;
    c.algorithms[2] = TOPO_ALGORITHM_HALVING;
    return c;
}

static void refused(const struct sim_astra_setup *setup, const struct sim_astra_collective *list, int32_t n,
                    enum err_code code, const char *text)
{
    struct sim_astra_result r;
    struct err e = { 0 };
    assert_fails(sim_astra_run(&r, setup, list, n, NULL, NULL, &e), &e, code, text);
}

static struct sim_astra_collective all_reduce(void)
{
    return (struct sim_astra_collective){ COLLECTIVE_ALL_REDUCE, 1 << 20, { true, true, true }, 0 };
}

/* What the rest makes of a good configuration setup and collective c is refused. */
#define REFUSED(code, text, ...)                                                                             \
    do {                                                                                                     \
        struct sim_astra_collective c = all_reduce();                                                        \
        struct sim_astra_setup setup = three_dims();                                                         \
        __VA_ARGS__;                                                                                         \
        refused(&setup, &c, 1, code, text);                                                                  \
    } while (0)

/* ASTRA-sim answers some of these without a word, and ends on a signal for others. */
TEST(what_astra_sim_gets_wrong_is_refused)
{
    REFUSED(ERR_RANGE, "algorithms: are 1 for 3 dimensions, expected one for each", setup.n_algorithms = 1);
    REFUSED(ERR_RANGE, "algorithms[2]: is halving-doubling of 6 members, expected 2^k of them",
            setup.dims[2].size = 6);
    REFUSED(ERR_RANGE, "splits: is 0, expected 1 to", setup.splits = 0);
    REFUSED(ERR_RANGE, "mem_GBps: is 0, expected a bandwidth above 0", setup.mem_GBps = 0);
    REFUSED(ERR_RANGE, "mem_GBps: is", setup.mem_GBps = NAN);
    REFUSED(ERR_RANGE, "dims[1].GiBps: is", setup.dims[1].GiBps = NAN);
    REFUSED(ERR_RANGE, "dims[1].GiBps: is 0, expected a bandwidth above 0", setup.dims[1].GiBps = 0);
    REFUSED(ERR_UNSUP, "algorithms[0]: is ring, expected direct for an all-to-all",
            c.kind = COLLECTIVE_ALL_TO_ALL);
}

TEST(values_out_of_range_are_refused)
{
    REFUSED(ERR_RANGE, "dims: are 9, expected 1 to 8", setup.n_dims = 9);
    REFUSED(ERR_RANGE, "dims[0].shape: is line, expected ring, full or switch",
            setup.dims[0].shape = TOPO_LINE);
    REFUSED(ERR_RANGE, "dims[0].size: is 1, expected 2 to", setup.dims[0].size = 1);
    REFUSED(ERR_RANGE, "NPUs or more, expected at most", setup.dims[0].size = setup.dims[1].size = 1 << 20);
    REFUSED(ERR_RANGE, "dims[0].lat_ns: is -1", setup.dims[0].lat_ns = -1);
    REFUSED(ERR_RANGE, "algorithms[0]: is bruck, expected ring", setup.algorithms[0] = TOPO_ALGORITHM_BRUCK);
    REFUSED(ERR_RANGE, "queues: is 65, expected 1 to 64", setup.queues = 65);
    REFUSED(ERR_RANGE, "active_chunks: is 0", setup.active_chunks = 0);
    REFUSED(ERR_RANGE, "endpoint_ns: is -1, expected 0 to 1e12", setup.endpoint_ns = -1);
}

TEST(collectives_out_of_range_are_refused)
{
    struct sim_astra_collective two[2] = { all_reduce(), all_reduce() };
    const struct sim_astra_setup three = three_dims();
    REFUSED(ERR_RANGE, "bytes: is 0, expected 1 or more", c.bytes = 0);
    REFUSED(ERR_RANGE, "in[3]: is set, expected one of 3 dimensions", c.in[3] = true);
    REFUSED(ERR_RANGE, "in: is set for no dimension", memset(c.in, 0, sizeof c.in));
    REFUSED(ERR_UNSUP, "kind: is broadcast, expected all-reduce", c.kind = COLLECTIVE_BROADCAST);
    two[0].issue_ns = 5;
    refused(&three, two, 2, ERR_RANGE, "collectives[1]: issue_ns: is 0 after 5; they must be in order");
    two[0].issue_ns = -5;
    refused(&three, two, 2, ERR_RANGE, "collectives[0]: issue_ns: is -5");
    refused(&three, two, 0, ERR_RANGE, "collectives: is 0, expected 1 to");
}

TEST(times_and_sizes_beyond_the_clock_are_refused)
{
    REFUSED(ERR_RANGE, "expected a product below 2^63", c.bytes = INT64_MAX / 4);
    REFUSED(ERR_RANGE, "dims[1]: a phase takes more than", setup.dims[1].lat_ns = 1e300);
    REFUSED(ERR_RANGE, "collectives take up to", setup.dims[1].lat_ns = 1e18, setup.splits = 100);
    REFUSED(ERR_RANGE, "collectives take up to", setup.dims[0].lat_ns = 1e17, setup.splits = 100,
            c.kind = COLLECTIVE_REDUCE_SCATTER, c.in[1] = c.in[2] = false);
    REFUSED(ERR_RANGE, "dims[0]: a phase takes more than", setup.mem_GBps = 1e-300);
}

TEST(a_tree_serves_one_chunk_in_one_dimension)
{
    struct sim_astra_collective c = all_reduce();
    WITH(struct sim_astra_setup, setup, three_dims(), setup.algorithms[2] = TOPO_ALGORITHM_TREE);
    refused(&setup, &c, 1, ERR_UNSUP, "expected an all-reduce of one chunk in one dimension");
    setup.n_dims = setup.n_algorithms = 1;
    setup.algorithms[0] = TOPO_ALGORITHM_TREE;
    c = (struct sim_astra_collective){ COLLECTIVE_ALL_REDUCE, 1 << 20, { true }, 0 };
    refused(&setup, &c, 1, ERR_UNSUP, "double-binary-tree on a ring, expected full or switch");
    setup.dims[0].shape = TOPO_SWITCH;
    setup.splits = 2;
    refused(&setup, &c, 1, ERR_UNSUP, "expected an all-reduce of one chunk in one dimension");
    setup.splits = 1;
    c.kind = COLLECTIVE_ALL_GATHER;
    refused(&setup, &c, 1, ERR_UNSUP, "expected an all-reduce of one chunk in one dimension");
}

TEST(contention_knows_one_dimension_and_one_collective)
{
    struct sim_astra_collective two[2] = { { COLLECTIVE_ALL_REDUCE, 1 << 20, { true }, 0 },
                                           { COLLECTIVE_ALL_REDUCE, 1 << 20, { true }, 0 } };
    WITH(struct sim_astra_setup, setup, three_dims(), setup.backend = SIM_ASTRA_AWARE);
    refused(&setup, two, 1, ERR_UNSUP, "dims: are 3 with contention, expected one");
    setup.n_dims = setup.n_algorithms = 1;
    refused(&setup, two, 2, ERR_UNSUP, "collectives: are 2 with contention, expected one");
    setup.dims[0].size = 1 << 24;
    refused(&setup, two, 1, ERR_RANGE, "messages, expected at most");
    setup.dims[0] = (struct sim_astra_dim){ TOPO_FULL, 1 << 14, 50, 0 };
    setup.algorithms[0] = TOPO_ALGORITHM_HALVING;
    refused(&setup, two, 1, ERR_RANGE, "dims[0].size: is 16384 in 1 chunks");
    setup.dims[0] = (struct sim_astra_dim){ TOPO_RING, 64, 50, 1e15 };
    refused(&setup, two, 1, ERR_RANGE, "collective may take more than 4.6e18 ns");
}
