/** @file A network with a simulation of flows on it, for the tests of collectives. */
#ifndef TESTS_UNIT_FLOW_PLANT_H
#define TESTS_UNIT_FLOW_PLANT_H

#include "tests/support.h"

#include "sim/flow/flow_collective.h"

#define S_B 4e9 /* bytes per NPU */

struct plant {
    struct topo_network net;
    struct topo_graph *graph;
    struct topo_routes routes;
    struct flow_sim *sim;
    struct flow_rules rules;
    struct flow_group_spec all; /* the whole network as one group */
};

/* The network with its latency; set up further, then plant_open(). */
static inline void plant_word(struct plant *p, const char *word, double lat_s)
{
    struct err e = { 0 };
    *p = (struct plant){ .rules = { stage_rules_plain, TOPO_ROUTE_DIMENSION, 1, 0 } };
    assert_ok(topo_parse_spec(&p->net, word, &e), &e);
    for (int32_t d = 0; d < p->net.n_dims; d++) {
        p->net.dims[d].lat_s = lat_s;
        p->all.members[d] = p->net.dims[d].size;
    }
}

static inline void plant_open(struct plant *p)
{
    if (!p->graph)
        MUST(topo_build_graph(&p->graph, &p->net, NULL, e));
    MUST(topo_routes_build(&p->routes, p->graph, e));
    MUST(flow_sim_build(&p->sim, &p->routes, &p->rules, e));
}

static inline void plant_close(struct plant *p)
{
    flow_sim_free(p->sim);
    topo_routes_free(&p->routes);
    topo_graph_free(p->graph);
}

/* One that is open, and closes where the block ends. */
#define PLANT(p, word, lat_s)                                                                                \
    KEEP(struct plant, p, plant_close);                                                                      \
    plant_word(&p, word, lat_s);                                                                             \
    plant_open(&p)

static inline int32_t group(struct plant *p, const struct flow_group_spec *spec)
{
    int32_t g;
    MUST(flow_sim_group(p->sim, spec, &g, e));
    return g;
}

static inline int32_t issue(struct plant *p, int32_t g, enum collective_kind kind, double bytes,
                            double start_s)
{
    int32_t id;
    MUST(flow_sim_issue(p->sim, g, kind, bytes, start_s, 0, &id, e));
    return id;
}

static inline void run(struct plant *p)
{
    MUST(flow_sim_run(p->sim, e));
}

/* One collective on the whole network. */
static inline double time_of(struct plant *p, enum collective_kind kind)
{
    plant_open(p);
    int32_t id = issue(p, group(p, &p->all), kind, S_B, 0);
    run(p);
    double end_s = flow_sim_finish_s(p->sim, id);
    plant_close(p);
    return end_s;
}

#endif
