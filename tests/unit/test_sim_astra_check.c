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

static void refused(const struct sim_astra_setup *setup, const struct sim_astra_collective *c,
                    enum err_code code, const char *text)
{
    struct sim_astra_result r;
    struct err e = { 0 };
    assert_fails(sim_astra_run(&r, setup, c, &e), &e, code, text);
}

static struct sim_astra_collective all_reduce(void)
{
    return (struct sim_astra_collective){ COLLECTIVE_ALL_REDUCE, 1 << 20, { true, true, true } };
}

/* What the rest makes of a good configuration setup and collective c is refused. */
#define REFUSED(code, text, ...)                                                                             \
    do {                                                                                                     \
        struct sim_astra_collective c = all_reduce();                                                        \
        struct sim_astra_setup setup = three_dims();                                                         \
        __VA_ARGS__;                                                                                         \
        refused(&setup, &c, code, text);                                                                     \
    } while (0)

/* ASTRA-sim answers some of these without a word, and ends on a signal for others. */
TEST(what_astra_sim_gets_wrong_is_refused)
{
    REFUSED(ERR_RANGE, "algorithms[2]: is halving-doubling of 6 members, expected 2^k of them",
            setup.dims[2].size = 6);
    REFUSED(ERR_UNSUP, "algorithms[0]: is ring, expected direct for an all-to-all",
            c.kind = COLLECTIVE_ALL_TO_ALL);
    REFUSED(ERR_UNSUP, "kind: is broadcast, expected all-reduce", c.kind = COLLECTIVE_BROADCAST);
}

TEST(times_and_sizes_beyond_the_clock_are_refused)
{
    REFUSED(ERR_RANGE, "expected a product below 2^63", c.bytes = INT64_MAX / 4);
    REFUSED(ERR_RANGE, "dims[1]: a phase takes more than", setup.dims[1].lat_ns = 1e300);
    REFUSED(ERR_RANGE, "collective takes up to", setup.dims[1].lat_ns = 1e18, setup.splits = 100);
    REFUSED(ERR_RANGE, "collective takes up to", setup.dims[0].lat_ns = 1e17, setup.splits = 100,
            c.kind = COLLECTIVE_REDUCE_SCATTER, c.in[1] = c.in[2] = false);
    REFUSED(ERR_RANGE, "dims[0]: a phase takes more than", setup.mem_GBps = 1e-300);
}

TEST(a_tree_serves_one_chunk_in_one_dimension)
{
    struct sim_astra_collective c = all_reduce();
    WITH(struct sim_astra_setup, setup, three_dims(), setup.algorithms[2] = TOPO_ALGORITHM_TREE);
    refused(&setup, &c, ERR_UNSUP, "expected an all-reduce of one chunk in one dimension");
    setup.n_dims = setup.n_algorithms = 1;
    setup.algorithms[0] = TOPO_ALGORITHM_TREE;
    c = (struct sim_astra_collective){ COLLECTIVE_ALL_REDUCE, 1 << 20, { true } };
    refused(&setup, &c, ERR_UNSUP, "double-binary-tree on a ring, expected full or switch");
    setup.dims[0].shape = TOPO_SWITCH;
    setup.splits = 2;
    refused(&setup, &c, ERR_UNSUP, "expected an all-reduce of one chunk in one dimension");
    setup.splits = 1;
    c.kind = COLLECTIVE_ALL_GATHER;
    refused(&setup, &c, ERR_UNSUP, "expected an all-reduce of one chunk in one dimension");
}

TEST(contention_knows_one_dimension)
{
    const struct sim_astra_collective c = { COLLECTIVE_ALL_REDUCE, 1 << 20, { true } };
    WITH(struct sim_astra_setup, setup, three_dims(), setup.backend = SIM_ASTRA_AWARE);
    refused(&setup, &c, ERR_UNSUP, "dims: are 3 with contention, expected one");
    setup.n_dims = setup.n_algorithms = 1;
    setup.dims[0].size = 1 << 24;
    refused(&setup, &c, ERR_RANGE, "messages, expected at most");
    setup.dims[0] = (struct sim_astra_dim){ TOPO_FULL, 1 << 14, 50, 0 };
    setup.algorithms[0] = TOPO_ALGORITHM_HALVING;
    refused(&setup, &c, ERR_RANGE, "dims[0].size: is 16384 in 1 chunks");
    setup.dims[0] = (struct sim_astra_dim){ TOPO_RING, 64, 50, 1e15 };
    refused(&setup, &c, ERR_RANGE, "collective may take more than 4.6e18 ns");
}
