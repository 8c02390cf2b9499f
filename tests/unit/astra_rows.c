#include "tests/unit/astra_rows.h"

#include "tests/support.h"

#define R TOPO_RING
#define F TOPO_FULL
#define S TOPO_SWITCH

/* The networks of the table; of one dimension: 50 GiB/s and 500 ns a link. */
TABLE_OF(networks, const char *name; int32_t n_dims; struct sim_astra_dim dims[4]) = {
    { "d2_16x8", 2, { { R, 16, 200, 50 }, { F, 8, 100, 500 } } },
    { "d2_8x32", 2, { { F, 8, 100, 500 }, { S, 32, 50, 2000 } } },
    { "d2_torus64x64", 2, { { R, 64, 100, 500 }, { R, 64, 100, 500 } } },
    { "d3_16x8x32", 3, { { R, 16, 200, 50 }, { F, 8, 100, 500 }, { S, 32, 50, 2000 } } },
    { "d4_4x8x4x32", 4, { { R, 4, 250, 25 }, { F, 8, 200, 500 }, { R, 4, 100, 700 }, { S, 32, 50, 2000 } } },
    { "s_64", 3, { { R, 2, 200, 50 }, { F, 8, 100, 500 }, { S, 4, 50, 2000 } } },
    { "s_512", 3, { { R, 8, 200, 50 }, { F, 8, 100, 500 }, { S, 8, 50, 2000 } } },
    { "s_4096", 3, { { R, 16, 200, 50 }, { F, 8, 100, 500 }, { S, 32, 50, 2000 } } },
    { "s_16384", 3, { { R, 32, 200, 50 }, { F, 16, 100, 500 }, { S, 32, 50, 2000 } } },
    { "s_32768", 3, { { R, 32, 200, 50 }, { F, 32, 100, 500 }, { S, 32, 50, 2000 } } },
};

struct sim_astra_setup astra_one_dim(enum topo_shape shape, int32_t size, enum topo_algorithm a)
{
    struct sim_astra_setup c;
    sim_astra_defaults(&c);
    c.n_dims = c.n_algorithms = 1;
    c.dims[0] = (struct sim_astra_dim){ shape, size, 50, 500 };
    c.algorithms[0] = a;
    c.endpoint_ns = 10;
    c.mem_GBps = 1e9;
    return c;
}

int64_t astra_run_kind(const struct sim_astra_setup *setup, enum collective_kind kind, int64_t bytes)
{
    struct sim_astra_collective c = { .kind = kind, .bytes = bytes };
    struct sim_astra_result r;
    for (int32_t d = 0; d < setup->n_dims; d++)
        c.in[d] = true;
    MUST(sim_astra_run(&r, setup, &c, e));
    return r.time_ns;
}

static void read_network(struct sim_astra_setup *setup, const char *name)
{
    *setup = astra_one_dim(R, 8, TOPO_ALGORITHM_RING);
    for (size_t i = 0; i < COUNT_OF(networks); i++) {
        if (strcmp(networks[i].name, name) != 0)
            continue;
        setup->n_dims = setup->n_algorithms = networks[i].n_dims;
        memcpy(setup->dims, networks[i].dims, sizeof networks[i].dims);
        return;
    }
    setup->dims[0].shape = *name == 'r' ? R : *name == 'f' ? F : S;
    setup->dims[0].size = (int32_t)strtol(name + strcspn(name, "0123456789"), NULL, 10);
}

/* s1_ALGORITHM, s2_rd, s2_dh, s2_rr, s3, s4; then any of cN (chunks), aN (active), base, mem1600, ring, fifo.
 */
static void read_system(struct sim_astra_setup *setup, const char *word)
{
    TABLE_OF(systems, const char *name; enum topo_algorithm a[4]) = {
        { "s1_ring", { TOPO_ALGORITHM_RING } },
        { "s1_direct", { TOPO_ALGORITHM_DIRECT } },
        { "s1_halvingDoubling", { TOPO_ALGORITHM_HALVING } },
        { "s1_doubleBinaryTree", { TOPO_ALGORITHM_TREE } },
        { "s2_rd", { TOPO_ALGORITHM_RING, TOPO_ALGORITHM_DIRECT } },
        { "s2_dh", { TOPO_ALGORITHM_DIRECT, TOPO_ALGORITHM_HALVING } },
        { "s2_rr", { TOPO_ALGORITHM_RING, TOPO_ALGORITHM_RING } },
        { "s3", { TOPO_ALGORITHM_RING, TOPO_ALGORITHM_DIRECT, TOPO_ALGORITHM_HALVING } },
        { "s4", { TOPO_ALGORITHM_RING, TOPO_ALGORITHM_DIRECT, TOPO_ALGORITHM_RING, TOPO_ALGORITHM_HALVING } },
    };
    const char *rest = NULL;
    for (size_t i = 0; i < COUNT_OF(systems) && !rest; i++) {
        size_t n = strlen(systems[i].name);
        if (strncmp(word, systems[i].name, n) != 0)
            continue;
        memcpy(setup->algorithms, systems[i].a, sizeof systems[i].a);
        rest = word + n;
    }
    assert_non_null(rest);
    for (const char *s = rest; *s; s += strcspn(s, "_")) {
        s++;
        if (strncmp(s, "base", 4) == 0)
            setup->baseline = true;
        else if (strncmp(s, "mem1600", 7) == 0)
            setup->mem_GBps = 1600;
        else if (strncmp(s, "fifo", 4) == 0)
            setup->lifo = false;
        else if (strncmp(s, "ring", 4) == 0)
            for (int32_t d = 0; d < setup->n_dims; d++)
                setup->algorithms[d] = TOPO_ALGORITHM_RING;
        else if (sscanf(s, "c%da%d", &setup->splits, &setup->active_chunks) < 1)
            fail_msg("system %s is not understood at %s", word, s);
    }
}

void astra_read_row(struct sim_astra_setup *setup, const char *backend, const char *network,
                    const char *system)
{
    read_network(setup, network);
    read_system(setup, system);
    setup->backend = strcmp(backend, "aware") == 0 ? SIM_ASTRA_AWARE : SIM_ASTRA_UNAWARE;
}
