/** @file A network in use by workers that exchange, for the tests of sim/gossip/wire. */
#ifndef TESTS_UNIT_WIRE_YARD_H
#define TESTS_UNIT_WIRE_YARD_H

#include "tests/support.h"

#include "sim/gossip/wire.h"
#include "topo/route.h"

#define S_B 1e9

struct yard {
    struct topo_graph *graph;
    struct gossip_fabric fabric;
    struct gossip_wire *wire;
    struct topo_routes routes; /* names and dimensions of its links */
    double now_s;
};

/* All NPUs are workers; change what else is wanted, then yard_open(). */
static inline void yard_word(struct yard *y, const char *word)
{
    struct err e = { 0 };
    *y = (struct yard){ .fabric = { .rules = stage_rules_plain, .share = 1 } };
    struct topo_network *net = &y->fabric.net;
    assert_ok(topo_parse_spec(net, word, &e), &e);
    y->fabric.n_workers = (int32_t)net->n_npus;
    for (int32_t d = 0; d < net->n_dims; d++)
        y->fabric.members[d] = net->dims[d].size;
}

static inline void yard_open(struct yard *y)
{
    MUST(topo_build_graph(&y->graph, &y->fabric.net, NULL, e));
    y->fabric.graph = y->graph;
    MUST(topo_routes_build(&y->routes, y->graph, e));
    MUST(gossip_wire_build(&y->wire, &y->fabric, e));
}

static inline void yard_close(struct yard *y)
{
    gossip_wire_free(y->wire);
    topo_routes_free(&y->routes);
    topo_graph_free(y->graph);
}

/* A network in one fidelity, opened. */
static inline void yard_start(struct yard *y, const char *word, enum gossip_fidelity fidelity)
{
    yard_word(y, word);
    y->fabric.fidelity = fidelity;
    yard_open(y);
}

static inline bool send(struct yard *y, int64_t from, int64_t to, double there_B, double back_B, int32_t tag)
{
    bool begins;
    MUST(gossip_wire_send(y->wire, from, to, there_B, back_B, tag, y->now_s, &begins, e));
    return begins;
}

static inline bool collect(struct yard *y, double bytes, int32_t tag)
{
    bool begins;
    MUST(gossip_wire_collect(y->wire, COLLECTIVE_ALL_REDUCE, bytes, tag, y->now_s, &begins, e));
    return begins;
}

static inline double all_reduce_s(struct yard *y, double bytes)
{
    double time_s;
    MUST(gossip_wire_collective_s(&time_s, y->wire, COLLECTIVE_ALL_REDUCE, bytes, e));
    return time_s;
}

/* The next signals; y->now_s is when. */
static inline int32_t turn(struct yard *y, const struct gossip_signal **signals)
{
    int32_t n = 0;
    while (n == 0) {
        y->now_s = gossip_wire_next_s(y->wire);
        assert_true(isfinite(y->now_s));
        MUST(gossip_wire_advance(y->wire, signals, &n, e));
    }
    return n;
}

/* The next thing that happens, and nothing else at that time, is that @p tag begins or ends at @p at_s. */
#define assert_next(y, tag_, ends_, at_s)                                                                    \
    do {                                                                                                     \
        const struct gossip_signal *next_;                                                                   \
        assert_int_equal(turn(y, &next_), 1);                                                                \
        assert_int_equal(next_[0].tag, tag_);                                                                \
        assert_int_equal(next_[0].ends, ends_);                                                              \
        assert_close((y)->now_s, at_s, 1e-12);                                                               \
    } while (0)

#define assert_idle(y) assert_true(isinf(gossip_wire_next_s((y)->wire)))

#endif
