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

/* A word on a fidelity, opened; YARD(y, word, fidelity) is one that closes where the block ends. */
static inline void yard_start(struct yard *y, const char *word, enum gossip_fidelity fidelity)
{
    yard_word(y, word);
    y->fabric.fidelity = fidelity;
    yard_open(y);
}

/* YARD_WORD(y, word) is one that is still to be changed and opened. */
#define YARD_WORD(y, word)                                                                                   \
    KEEP(struct yard, y, yard_close);                                                                        \
    yard_word(&y, word)

#define YARD(y, word, fidelity)                                                                              \
    KEEP(struct yard, y, yard_close);                                                                        \
    yard_start(&y, word, fidelity)

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

/**
 * Exchanges, numbered from 0 as they are asked for, and all that happens then:
 *     0>1 1       S from NPU 0 to NPU 1, which begins at once; 0>1 1/5: and 5 S back
 *     all 1       an all-reduce of S; with an exclamation mark behind (0>1 1! or all 1!) it has to wait
 *     @.01        what follows is asked for at 10 ms
 *     = .02 -0 +1 next, at 20 ms, 0 ends and 1 begins: in this order, and nothing else
 */
static inline void yard_play(struct yard *y, const char *script)
{
    const struct gossip_signal *s = NULL;
    int32_t tag = 0, n = 0, seen = 0;
    char words[512], *left = NULL;
    assert_in_range(snprintf(words, sizeof words, "%s", script), 1, sizeof words - 1);
    for (char *word = strtok_r(words, " ", &left); word; word = strtok_r(NULL, " ", &left)) {
        if (*word == '-' || *word == '+') {
            assert_true(seen < n && s[seen].tag == atoi(word + 1) && s[seen].ends == (*word == '-'));
            seen++;
            continue;
        }
        assert_int_equal(seen, n);
        if (*word == '@') {
            y->now_s = strtod(word + 1, NULL);
        } else if (*word == '=') {
            n = turn(y, &s), seen = 0;
            assert_close(y->now_s, strtod(strtok_r(NULL, " ", &left), NULL), 1e-12);
        } else {
            char *end, *size = strtok_r(NULL, " ", &left), *to = strchr(word, '>');
            double there_B = S_B * strtod(size, &end), back_B = *end == '/' ? S_B * strtod(end + 1, &end) : 0;
            bool begins =
                to ? send(y, atoi(word), atoi(to + 1), there_B, back_B, tag) : collect(y, there_B, tag);
            assert_int_equal(begins, *end != '!');
            tag++;
        }
    }
    assert_int_equal(seen, n);
}

#define assert_idle(y) assert_true(isinf(gossip_wire_next_s((y)->wire)))

#endif
