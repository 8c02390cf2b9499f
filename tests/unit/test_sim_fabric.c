/*
 * Fabrics: what the closed forms say that a collective puts on each class of links is what the messages of
 * its flow plan put there, routed over the graph.
 */
#include "tests/support.h"

#include <stdlib.h>

#include "base/rng.h"
#include "sim/flow/flow_collective.h"
#include "topo/graph.h"
#include "topo/route.h"

struct bench {
    struct topo_network net;
    struct topo_graph *graph;
    struct topo_routes routes;
    double *bytes; /* on each arc */
};

static void bench_open(struct bench *b, const char *word)
{
    MUST(topo_parse_spec(&b->net, word, e));
    MUST(topo_build_graph(&b->graph, &b->net, NULL, e));
    MUST(topo_routes_build(&b->routes, b->graph, e));
    b->bytes = calloc((size_t)b->routes.n_arcs, sizeof *b->bytes);
    assert_non_null(b->bytes);
}

static void bench_close(struct bench *b)
{
    free(b->bytes);
    topo_routes_free(&b->routes);
    topo_graph_free(b->graph);
}

/* Send the messages of a stage on all its lines. */
static void lay_stage(struct bench *b, const struct flow_group *g, const struct stage *s)
{
    int32_t set = s->flat ? TOPO_MAX_DIMS + s->dim : s->dim;
    const struct flow_lines *l = &g->lines[set];
    struct message_plan plan;
    struct topo_path path = { 0 };
    MUST(message_plan_build(&plan, s->pass, &s->choice, &b->net.dims[s->dim], l->n_members, e));
    for (int32_t line = 0; line < l->n_lines; line++)
        for (int32_t c = 0; c < plan.n_channels; c++) {
            const struct message_channel *channel = &plan.channels[c];
            struct topo_trip trip = { .src = flow_group_npu(g, set, line, channel->src),
                                      .dst = flow_group_npu(g, set, line, channel->dst),
                                      .mirror = channel->mirror };
            path.n = 0;
            MUST(topo_find_path(&path, &b->routes, &trip, e));
            for (int32_t i = 0; i < path.n; i++)
                b->bytes[path.arcs[i]] += channel->n * channel->share * s->full_B;
        }
    topo_path_free(&path);
    message_plan_free(&plan);
}

/* Bytes over the links of a class as a share of what they can carry, times the class's bandwidth. */
static double laid_on_class(const struct bench *b, int32_t d)
{
    double sum_B = 0, carry_Bps = 0;
    for (int32_t a = 0; a < b->routes.n_arcs; a++)
        if (topo_link_dim(&b->routes, a / 2) == d) {
            sum_B += b->bytes[a];
            carry_Bps += topo_arc_bw(&b->routes, a);
        }
    return sum_B / carry_Bps * b->net.dims[d].bw_Bps;
}

static void compare_collective(const char *word, enum topo_algorithm a, enum collective_kind kind,
                               const int32_t *members)
{
    struct bench b = { 0 };
    struct flow_group g;
    struct flow_group_spec spec = { .first = NULL };
    struct stage stages[STAGE_MAX];
    double want_B[TOPO_MAX_DIMS], bw_Bps[TOPO_MAX_DIMS], enters_B = 1e6;
    bench_open(&b, word);
    for (int32_t d = 0; d < b.net.n_dims; d++) {
        spec.members[d] = members[d];
        bw_Bps[d] = b.net.dims[d].bw_Bps;
        if (b.net.dims[d].level > 0 || topo_is_fabric(&b.net.dims[d]))
            b.net.dims[d].algorithm = a;
    }
    MUST(flow_group_build(&g, &spec, &b.routes, e));
    collective_loads(want_B, kind, enters_B, members, &b.net);
    int32_t n = stage_list(stages, kind, enters_B, members, NULL, &b.net, &stage_rules_plain, bw_Bps);
    for (int32_t s = 0; s < n; s++)
        lay_stage(&b, &g, &stages[s]);
    for (int32_t d = 0; d < b.net.n_dims; d++) {
        double got_B = laid_on_class(&b, d);
        if (!(fabs(got_B - want_B[d]) <= 1e-9 * enters_B)) {
            print_error("%s, %s by %s, class %s: messages %.17g, closed form %.17g\n", word,
                        collective_names[kind], topo_algorithm_words[a], b.net.dims[d].name, got_B,
                        want_B[d]);
            fail();
        }
    }
    flow_group_free(&g);
    bench_close(&b);
}

TEST(closed_forms_count_what_messages_put_on_each_class)
{
    static const enum topo_algorithm algorithms[] = { TOPO_ALGORITHM_SHAPE, TOPO_ALGORITHM_RING,
                                                      TOPO_ALGORITHM_DIRECT, TOPO_ALGORITHM_HALVING,
                                                      TOPO_ALGORITHM_FAR };
    static const enum collective_kind kinds[] = { COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_ALL_GATHER,
                                                  COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_TO_ALL };
    static const struct {
        const char *word;
        int32_t sizes[4];
    } fabrics[] = {
        { "fat-tree:8x4/2@100", { 8, 4 } },
        { "fat-tree:4x2x4/2/1.5@100", { 4, 2, 4 } },
        { "fat-tree:4x4x2/1/2@100", { 4, 4, 2 } },
        { "full:2@300 fat-tree:4x4/2@50", { 2, 4, 4 } },
    };
    RNG(rng, 18, 0);
    for (int i = 0; i < 400; i++) {
        size_t f = (size_t)rng_below(rng, COUNT_OF(fabrics));
        int32_t members[TOPO_MAX_DIMS] = { 1, 1, 1, 1, 1, 1, 1, 1 }, n = 1;
        for (int d = 0; d < 4; d++) {
            int32_t size = fabrics[f].sizes[d] > 1 ? fabrics[f].sizes[d] : 1;
            do
                members[d] = 1 << rng_below(rng, 4);
            while (members[d] > size);
            n *= members[d];
        }
        if (n > 1)
            compare_collective(fabrics[f].word, algorithms[rng_below(rng, COUNT_OF(algorithms))],
                               kinds[rng_below(rng, COUNT_OF(kinds))], members);
    }
}
