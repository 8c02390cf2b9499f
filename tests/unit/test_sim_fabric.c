/*
 * Fabrics, and groups that are part of a plain dimension: what the closed forms say that a collective puts on
 * each class of links is what the messages of its flow plan put there, routed over the graph.
 */
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/flow/flow_collective.h"
#include "topo/graph.h"
#include "topo/network.h"
#include "topo/route.h"
#include "topo/shape.h"
#include "topo/theta.h"
#include "workloads/algorithm.h"
#include "workloads/collective.h"
#include "workloads/dispatch.h"

struct bench {
    struct topo_network net;
    struct topo_graph *graph;
    struct topo_routes routes;
    double *bytes; /* on each arc */
};

/* What other routing makes of these loads is in test_sim_routing.c. */
static int read_minimal(struct topo_network *net, const char *word, struct err *e)
{
    int rc = topo_parse_spec(net, word, e);
    for (int32_t d = 0; d < net->n_dims; d++)
        net->dims[d].fabric.routing = TOPO_ROUTING_MINIMAL;
    return rc;
}

static void bench_open(struct bench *b, const char *word)
{
    MUST(read_minimal(&b->net, word, e));
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

/* Send channels begin .. end-1 of a stage's plan on all its lines. */
static void lay_channels(struct bench *b, const struct flow_group *g, const struct stage *s,
                         const struct message_plan *plan, int32_t begin, int32_t end)
{
    int32_t set = flow_line_set(s);
    struct topo_path path = { 0 };
    for (int32_t line = 0; line < g->lines[set].n_lines; line++)
        for (int32_t c = begin; c < end; c++) {
            const struct message_channel *channel = &plan->channels[c];
            struct topo_trip trip = { .src = flow_group_npu(g, set, line, channel->src),
                                      .dst = flow_group_npu(g, set, line, channel->dst),
                                      .other = message_way(channel) };
            path.n = 0;
            if (channel->via >= 0) {
                struct topo_trip first = trip;
                trip.src = first.dst = flow_group_outside(g, &b->routes, set, line, channel->via);
                MUST(topo_find_path(&path, &b->routes, &first, e));
            }
            MUST(topo_find_path(&path, &b->routes, &trip, e));
            for (int32_t i = 0; i < path.n; i++)
                b->bytes[path.arcs[i]] += channel->n * channel->share * s->full_B;
        }
    topo_path_free(&path);
}

static void plan_stage(struct message_plan *plan, const struct bench *b, const struct flow_group *g,
                       const struct stage *s)
{
    struct shape_group who = flow_stage_group(g, s);
    who.detour = b->net.dims[s->dim].detour;
    MUST(message_plan_build(plan, s->pass, &s->choice, &b->net.dims[s->entry], &who, e));
}

/* Send the messages of a stage on all its lines. */
static void lay_stage(struct bench *b, const struct flow_group *g, const struct stage *s)
{
    KEEP(struct message_plan, plan, message_plan_free);
    plan_stage(&plan, b, g, s);
    lay_channels(b, g, s, &plan, 0, plan.n_channels);
}

/* Bytes over the links of a class, as a share of what they can carry, times the class's bandwidth: of all
 * together, and of the busiest. */
static double laid_on_class(const struct bench *b, int32_t d, double *busiest)
{
    double sum_B = 0, carry_Bps = 0;
    *busiest = 0;
    for (int32_t a = 0; a < b->routes.n_arcs; a++)
        if (topo_link_dim(&b->routes, a / 2) == d) {
            sum_B += b->bytes[a];
            carry_Bps += topo_arc_bw(&b->routes, a);
            *busiest = fmax(*busiest, b->bytes[a] / topo_arc_bw(&b->routes, a) * b->net.dims[d].bw_Bps);
        }
    return carry_Bps > 0 ? sum_B / carry_Bps * b->net.dims[d].bw_Bps : 0; /* a class may have no links */
}

/* @p copies above 0: an all-to-all that is dispatch of tokens to so many experts each, with copies merged. */
static void compare_collective(const char *word, enum topo_algorithm a, enum collective_kind kind,
                               const int32_t *members, const int32_t *stride, int32_t copies)
{
    struct bench b = { 0 };
    struct flow_group g;
    struct flow_group_spec spec = { .order = NULL };
    struct stage stages[STAGE_MAX];
    double want_B[TOPO_MAX_DIMS], bw_Bps[TOPO_MAX_DIMS], enters_B = 1e6;
    double mean_B[TOPO_MAX_DIMS] = { 0 }, busiest_B[TOPO_MAX_DIMS] = { 0 };
    bench_open(&b, word);
    for (int32_t d = 0; d < b.net.n_dims; d++) {
        spec.members[d] = members[d];
        spec.stride[d] = stride[d];
        bw_Bps[d] = b.net.dims[d].bw_Bps;
        struct err none = { 0 };
        const struct topo_dim *entry = &b.net.dims[d - b.net.dims[d].level];
        if (topo_is_fabric(entry) && !topo_check_algorithm(entry, a, &none))
            b.net.dims[d].algorithm = a;
    }
    if (copies)
        dispatch_share(spec.share, &(struct dispatch){ 2 * (double)b.net.n_npus, copies, 0, 0 }, members,
                       &b.net);
    MUST(flow_group_build(&g, &spec, &b.routes, e));
    collective_loads(want_B, kind, enters_B, members, stride, spec.share, &b.net);
    int32_t n = stage_list(stages, kind, enters_B, members, stride, g.share, NULL,
                           &(struct collective_way){ &b.net, &stage_rules_plain, bw_Bps });
    for (int32_t s = 0; s < n; s++) {
        memset(b.bytes, 0, (size_t)b.routes.n_arcs * sizeof *b.bytes);
        lay_stage(&b, &g, &stages[s]);
        for (int32_t d = 0; d < b.net.n_dims; d++) {
            double stage_B;
            mean_B[d] += laid_on_class(&b, d, &stage_B);
            busiest_B[d] += stage_B;
        }
    }
    for (int32_t d = 0; d < b.net.n_dims; d++) {
        double off_B = fabs(mean_B[d] - want_B[d]);
        /* Of a class that is loaded unevenly the form has its busiest link in each stage; of exchanges, whose
         * steps use one link after the other, the sum of these. */
        bool steps = a == TOPO_ALGORITHM_HALVING || a == TOPO_ALGORITHM_FAR;
        if (!(off_B <= 1e-9 * enters_B ||
              (want_B[d] > mean_B[d] && (steps || want_B[d] <= busiest_B[d] * (1 + 1e-9))))) {
            print_error("%s, %s by %s, class %s: messages %.17g to %.17g, closed form %.17g\n", word,
                        collective_names[kind], topo_algorithm_words[a], b.net.dims[d].name, mean_B[d],
                        busiest_B[d], want_B[d]);
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
    static const char *const fabrics[] = {
        "fat-tree:8x4/2@100",
        "fat-tree:4x2x4/2/1.5@100",
        "fat-tree:4x4x2/1/2@100",
        "full:2@300 fat-tree:4x4/2@50",
        "dragonfly:2x4x8^2@10",
        "dragonfly:1x4x4^3@10",
        "dragonfly:4x2x4^2@10",
        "dragonfly:2x4x9^2@10",
        "dragonfly:4x3x6^4@10",
        "dragonfly+:2x2x5^2^2@10",
        "dragonfly+:4x2x4^2^3@10",
        "dragonfly+:3x4x6^3^2@10",
        "slim-fly:2x18@10",
        "slim-fly:4x32@10",
        "slim-fly:2x50@10",
        "slim-fly:3x98@10",
        "slim-fly:1x128@10",
        "switch:4@450 fat-tree:4x2/2+shared@50",
        "full:2@300 switch:2@90 fat-tree:4x4+shared@50",
        "switch:4@450 fat-tree:2x2x2/2/2+shared@50",
        "switch:4@450 fat-tree:4x2/2+forward@50",
        "full:4@450 fat-tree:8x1+shared*2@50",
        "fat-tree:2x2/2@300 fat-tree:4x2/2+rails2@50",
        "fat-tree:2x3/2@300 fat-tree:4x2/2+shared@50",
        "fat-tree:2x2x2@300 switch:2@100 fat-tree:2x3/2+rails4@50",
        "switch:8@450 fat-tree:4x2/2+rails2@50",
        "switch:12@450 fat-tree:2x2/2+rails4@50",
        "switch:6@450 fat-tree:4x4/2+rails1@50",
        "full:4@300 switch:2@90 fat-tree:4x2x2/2/2+rails2@50",
        "full:2@300 switch:4@90 fat-tree:4x2+rails4@50",
        "switch:8@450 fat-tree:4x2/2+forward+rails4@50",
        "fat-tree:4x4/4*4@50 switch:2*2@50",
    };
    RNG(rng, 18, 0);
    for (int i = 0; i < repeats(5000); i++) {
        const char *word = fabrics[rng_below(rng, COUNT_OF(fabrics))];
        struct topo_network net;
        int32_t members[TOPO_MAX_DIMS] = { 1, 1, 1, 1, 1, 1, 1, 1 }, n = 1;
        int32_t stride[TOPO_MAX_DIMS] = { 1, 1, 1, 1, 1, 1, 1, 1 };
        OK(topo_parse_spec(&net, word, e));
        for (int32_t d = 0; d < net.n_dims; d++) {
            do
                members[d] = 1 + (int32_t)rng_below(rng, net.dims[d].size);
            while (net.dims[d].size % members[d]);
            do
                stride[d] = 1 + (int32_t)rng_below(rng, net.dims[d].size / members[d]);
            while (net.dims[d].size % (members[d] * stride[d]));
            n *= members[d];
        }
        enum topo_algorithm a = algorithms[rng_below(rng, COUNT_OF(algorithms))];
        enum collective_kind kind = kinds[rng_below(rng, COUNT_OF(kinds))];
        if (n > 1)
            compare_collective(word, a, kind, members, stride, 0);
        if (n > 1 && kind == COLLECTIVE_ALL_TO_ALL)
            compare_collective(word, a, kind, members, stride, 1 + i % 8);
    }
}

/* Model bandwidth asks no class for more than the algorithm that is timed puts there. */
TEST(broadcasts_in_closed_form_are_the_least_that_any_algorithm_takes)
{
    static const enum topo_algorithm algorithms[] = { TOPO_ALGORITHM_SHAPE,  TOPO_ALGORITHM_RING,
                                                      TOPO_ALGORITHM_DIRECT, TOPO_ALGORITHM_HALVING,
                                                      TOPO_ALGORITHM_FAR,    TOPO_ALGORITHM_MIXED };
    static const char *const fabrics[] = {
        "fat-tree:8x4/2@100",
        "fat-tree:4x2x4/2/1.5@100",
        "full:2@300 fat-tree:4x4/2@50",
        "dragonfly:2x4x8^2@10",
        "dragonfly:4x3x6^4@10",
        "dragonfly+:4x2x4^2^3@10",
        "dragonfly+:3x4x6^3^2@10",
        "slim-fly:2x18@10",
        "slim-fly:3x98@10",
        "hyperx:4x3x6@33.333333333333336",
        "torus:4x3x6@30",
        "hammingmesh:2x3x4x2@20",
    };
    RNG(rng, 18, 1);
    for (int i = 0; i < repeats(5000); i++) {
        const char *word = fabrics[rng_below(rng, COUNT_OF(fabrics))];
        struct topo_network net;
        struct stage stages[STAGE_MAX];
        struct err none = { 0 };
        int32_t members[TOPO_MAX_DIMS] = { 0 }, stride[TOPO_MAX_DIMS] = { 0 };
        double want_B[TOPO_MAX_DIMS], bw_Bps[TOPO_MAX_DIMS], least_s = 0, time_s = 0;
        enum topo_algorithm a = algorithms[rng_below(rng, COUNT_OF(algorithms))];
        OK(topo_parse_spec(&net, word, e));
        for (int32_t d = 0; d < net.n_dims; d++) {
            const struct topo_dim *entry = &net.dims[d - net.dims[d].level];
            do
                members[d] = 1 + (int32_t)rng_below(rng, net.dims[d].size);
            while (net.dims[d].size % members[d]);
            do
                stride[d] = 1 + (int32_t)rng_below(rng, net.dims[d].size / members[d]);
            while (net.dims[d].size % (members[d] * stride[d]));
            if (topo_is_fabric(entry) && !topo_check_algorithm(entry, a, &none))
                net.dims[d].algorithm = a;
            bw_Bps[d] = net.dims[d].bw_Bps;
        }
        collective_loads(want_B, COLLECTIVE_BROADCAST, 1e6, members, stride, NULL, &net);
        int32_t n = stage_list(stages, COLLECTIVE_BROADCAST, 1e6, members, stride, NULL, NULL,
                               &(struct collective_way){ &net, &stage_rules_plain, bw_Bps });
        for (int32_t d = 0; d < net.n_dims; d++)
            least_s = fmax(least_s, want_B[d] / bw_Bps[d]);
        for (int32_t s = 0; s < n; s++)
            time_s += stage_transfer_s(&stages[s], bw_Bps);
        if (!(least_s <= time_s * (1 + 1e-9)))
            print_error("%s by %s: %.17g s at least, %.17g s\n", word, topo_algorithm_words[a], least_s,
                        time_s);
        assert_true(least_s <= time_s * (1 + 1e-9));
    }
}

/* ---- part of a plain dimension ---- */

/* Bytes over the bandwidth of the dimension that the busiest links of a stage take: of exchanges, whose steps
 * follow each other, the sum over steps. */
static double busiest_of_stage(struct bench *b, const struct flow_group *g, const struct stage *s)
{
    KEEP(struct message_plan, plan, message_plan_free);
    bool exchange =
        s->choice.algorithm == TOPO_ALGORITHM_HALVING || s->choice.algorithm == TOPO_ALGORITHM_BRUCK;
    double sum_B = 0, busiest_B;
    plan_stage(&plan, b, g, s);
    int32_t step = exchange ? g->lines[s->dim].n_members : plan.n_channels;
    for (int32_t c = 0; c < plan.n_channels; c += step) {
        memset(b->bytes, 0, (size_t)b->routes.n_arcs * sizeof *b->bytes);
        lay_channels(b, g, s, &plan, c, c + step);
        laid_on_class(b, s->dim, &busiest_B);
        sum_B += busiest_B;
    }
    return sum_B;
}

static void compare_part(const char *word, int32_t d, bool detour, enum topo_algorithm a,
                         enum collective_kind kind, const struct flow_group_spec *spec)
{
    struct bench b = { 0 };
    struct flow_group g;
    struct stage stages[STAGE_MAX];
    double loads_B[TOPO_MAX_DIMS], laid_B = 0, enters_B = 1e6;
    bench_open(&b, word);
    b.net.dims[d].detour = detour;
    b.net.dims[d].algorithm = a;
    MUST(flow_group_build(&g, spec, &b.routes, e));
    collective_loads(loads_B, kind, enters_B, spec->members, spec->stride, spec->share, &b.net);
    double asked_B = loads_B[d] / collective_share(&b.net.dims[d]);
    int32_t n = stage_list(stages, kind, enters_B, spec->members, spec->stride, spec->share, NULL,
                           &(struct collective_way){ &b.net, &stage_rules_plain, NULL });
    for (int32_t s = 0; s < n; s++) {
        if (stages[s].dim != d)
            continue;
        double busiest_B = busiest_of_stage(&b, &g, &stages[s]);
        laid_B += busiest_B;
        if (!(fabs(busiest_B - stages[s].load_B) <= 1e-9 * busiest_B)) {
            print_error("%s, dimension %d: %d with stride %d, %s by %s%s: messages %.17g, stage %.17g\n",
                        word, (int)d, (int)spec->members[d], (int)spec->stride[d], collective_names[kind],
                        topo_algorithm_words[a], detour ? " with detours" : "", busiest_B, stages[s].load_B);
            fail();
        }
    }
    /* Model bandwidth knows the default algorithm only. */
    if (a == TOPO_ALGORITHM_SHAPE && !(fabs(laid_B - asked_B) <= 1e-9 * laid_B)) {
        print_error("%s, dimension %d: %d with stride %d, %s%s: messages %.17g, model bandwidth %.17g\n",
                    word, (int)d, (int)spec->members[d], (int)spec->stride[d], collective_names[kind],
                    detour ? " with detours" : "", laid_B, asked_B);
        fail();
    }
    flow_group_free(&g);
    bench_close(&b);
}

TEST(part_of_a_plain_dimension_gets_what_its_links_give)
{
    static const enum topo_algorithm algorithms[] = { TOPO_ALGORITHM_SHAPE, TOPO_ALGORITHM_SHAPE,
                                                      TOPO_ALGORITHM_RING, TOPO_ALGORITHM_DIRECT,
                                                      TOPO_ALGORITHM_HALVING };
    static const enum collective_kind kinds[] = { COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_ALL_GATHER,
                                                  COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_TO_ALL,
                                                  COLLECTIVE_SEND };
    static const char *const around[] = { "%s:%d@100", "full:2@300 %s:%d@100", "%s:%d@100 switch:3@50" };
    RNG(rng, 18, 1);
    for (int i = 0; i < 2500; i++) {
        struct flow_group_spec spec = { .order = NULL };
        size_t where = (size_t)rng_below(rng, COUNT_OF(around));
        int32_t d = where == 1, size = 2 + (int32_t)rng_below(rng, 23), members, stride;
        char form[64], word[96];
        do {
            members = 2 + (int32_t)rng_below(rng, size - 1);
            stride = 1 + (int32_t)rng_below(rng, size / members);
        } while (size % (members * stride));
        enum topo_shape shape = (enum topo_shape)rng_below(rng, N_TOPO_PLAIN);
        snprintf(form, sizeof form, "%s", around[where]);
        char *hole = strstr(form, "%s");
        assert_non_null(hole);
        snprintf(word, sizeof word, "%.*s%s:%d%s", (int)(hole - form), form, topo_shape_name(shape),
                 (int)size, hole + strlen("%s:%d"));
        spec.members[d] = members;
        spec.stride[d] = stride;
        for (int32_t k = 0; k < TOPO_MAX_DIMS; k++) {
            spec.members[k] = k == d ? members : 1;
            spec.stride[k] = k == d ? stride : 1;
        }
        compare_part(word, d, shape == TOPO_FULL && rng_below(rng, 2),
                     algorithms[rng_below(rng, COUNT_OF(algorithms))], kinds[rng_below(rng, COUNT_OF(kinds))],
                     &spec);
    }
}

/* What a user meets: m (n-1)/(k-1) of k in a full mesh of n, 2(n-1)/(n+k-2) with detours; a line of
 * neighbours on a ring has half of its bandwidth, members spread over it share every link with n/k - 1 other
 * groups. */
TEST(factors_of_parts_are_those_of_the_table)
{
    static const struct {
        const char *word;
        int32_t members, stride;
        bool detour;
        double times;
    } cases[] = {
        { "full:8@1", 2, 1, false, 7 }, { "full:8@1", 4, 2, false, 7 / 3. },
        { "full:8@1", 8, 1, false, 1 }, { "full:8@1", 2, 1, true, 7 / 4. },
        { "full:8@1", 8, 1, true, 1 },  { "ring:8@1", 4, 1, false, 2 },
        { "ring:8@1", 4, 2, false, 2 }, { "ring:8@1", 2, 4, false, 4 },
        { "ring:8@1", 2, 2, false, 4 }, { "switch:8@1", 2, 4, false, 1 },
        { "line:8@1", 2, 4, false, 4 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        double links_B, port_B;
        OK(topo_parse_spec(&net, cases[i].word, e));
        net.dims[0].detour = cases[i].detour;
        collective_loads(&links_B, COLLECTIVE_ALL_REDUCE, 1, &cases[i].members, &cases[i].stride, NULL, &net);
        net.whole_parts = true;
        collective_loads(&port_B, COLLECTIVE_ALL_REDUCE, 1, &cases[i].members, &cases[i].stride, NULL, &net);
        assert_close(links_B / port_B, cases[i].times, 1e-14);
    }
}

/* ---- axes: tori and meshes ---- */

/* What a stage asks of class @p d. */
static double stage_asks(const struct stage *s, int32_t d)
{
    for (int32_t i = 0; i < s->n_more; i++)
        if (s->more[i].dim == d)
            return s->more[i].sent_B;
    return s->dim == d ? s->sent_B : 0;
}

/* The busiest link of every class, stage by stage. All-to-all over several axes is even only where messages
 * to the other side of an axis come in pairs; a twisted torus is asked for what an even split over all
 * shortest ways would be, which messages in one piece come near. Of a send the slowest class counts. */
static void compare_axes(const char *word, enum topo_algorithm a, enum collective_kind kind, bool detour,
                         const struct flow_group_spec *spec)
{
    struct bench b = { 0 };
    struct flow_group g;
    struct stage stages[STAGE_MAX];
    double enters_B = 1e6;
    bench_open(&b, word);
    if (topo_ops(&b.net.dims[0])->algorithms >> a & 1)
        b.net.dims[0].algorithm = a;
    for (int32_t d = 0; d < b.net.n_dims; d++)
        b.net.dims[d].detour = detour && b.net.dims[0].fabric.hosts == 0;
    MUST(flow_group_build(&g, spec, &b.routes, e));
    int32_t n = stage_list(stages, kind, enters_B, spec->members, spec->stride, spec->share, NULL,
                           &(struct collective_way){ &b.net, &stage_rules_plain, NULL });
    for (int32_t s = 0; s < n; s++) {
        bool free = stages[s].flat && kind == COLLECTIVE_ALL_TO_ALL;
        bool twist = free && b.net.dims[0].fabric.twist && g.n_groups == 1;
        bool send = kind == COLLECTIVE_SEND;
        double asked_B = 0, laid_B = 0, asked_s = 0, laid_s = 0;
        memset(b.bytes, 0, (size_t)b.routes.n_arcs * sizeof *b.bytes);
        lay_stage(&b, &g, &stages[s]);
        for (int32_t d = 0; d < b.net.n_dims; d++) {
            double busiest_B, mean_B = laid_on_class(&b, d, &busiest_B), want_B = stage_asks(&stages[s], d);
            bool equal = free ? mean_B <= want_B * (1 + 1e-9) && busiest_B >= want_B * (1 - 1e-9)
                              : fabs(busiest_B - want_B) <= 1e-9 * enters_B;
            asked_B += want_B;
            laid_B += mean_B;
            asked_s = fmax(asked_s, want_B / b.net.dims[d].bw_Bps);
            laid_s = fmax(laid_s, busiest_B / b.net.dims[d].bw_Bps);
            if (!send && (twist ? fabs(mean_B - want_B) > 0.05 * want_B : !equal)) {
                print_error("%s, %s by %s, members %d %d %d %d stride %d %d %d %d, class %s: messages %.17g "
                            "to %.17g, "
                            "stage %.17g\n",
                            word, collective_names[kind], topo_algorithm_words[a], (int)spec->members[0],
                            (int)spec->members[1], (int)spec->members[2], (int)spec->members[3],
                            (int)spec->stride[0], (int)spec->stride[1], (int)spec->stride[2],
                            (int)spec->stride[3], b.net.dims[d].name, mean_B, busiest_B, want_B);
                fail();
            }
        }
        if (twist)
            assert_close(laid_B, asked_B, 1e-12);
        if (send)
            assert_close(asked_s, laid_s, 1e-9);
    }
    flow_group_free(&g);
    bench_close(&b);
}

TEST(axes_are_asked_for_what_messages_put_on_their_busiest_links)
{
    static const enum topo_algorithm algorithms[] = { TOPO_ALGORITHM_SHAPE, TOPO_ALGORITHM_MIXED,
                                                      TOPO_ALGORITHM_FIXED };
    static const enum collective_kind kinds[] = { COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_ALL_GATHER,
                                                  COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_TO_ALL,
                                                  COLLECTIVE_SEND };
    static const struct {
        const char *word;
        int32_t sizes[4];
    } fabrics[] = {
        { "torus:4x4@200", { 4, 4, 1, 1 } },          { "torus:4x8@200", { 4, 8, 1, 1 } },
        { "torus:3x6@200", { 3, 6, 1, 1 } },          { "torus:2x4x3@500", { 2, 4, 3, 1 } },
        { "torus:4x4x8@300", { 4, 4, 8, 1 } },        { "torus:4x8+twist@200", { 4, 8, 1, 1 } },
        { "torus:4x4x8+twist@21", { 4, 4, 8, 1 } },   { "torus:4x8x8+twist@21", { 4, 8, 8, 1 } },
        { "torus:3x3x6+twist@21", { 3, 3, 6, 1 } },   { "hyperx:4x4@60", { 4, 4, 1, 1 } },
        { "hyperx:2x6x4@270", { 2, 6, 4, 1 } },       { "hyperx:8x2x3x2@47.14285714285714", { 8, 2, 3, 2 } },
        { "hyperx:4x6^2@30", { 2, 4, 6, 1 } },        { "hyperx:5^4@30", { 4, 5, 1, 1 } },
        { "hammingmesh:1x1x4x4@60", { 1, 1, 4, 4 } }, { "hammingmesh:2x2x2x4@60", { 2, 2, 2, 4 } },
        { "hammingmesh:2x2x3x3@60", { 2, 2, 3, 3 } }, { "hammingmesh:4x4x2x2@60", { 4, 4, 2, 2 } },
        { "hammingmesh:3x2x2x2@60", { 3, 2, 2, 2 } },
    };
    RNG(rng, 18, 2);
    for (int i = 0; i < repeats(1200); i++) {
        size_t f = (size_t)rng_below(rng, COUNT_OF(fabrics));
        struct flow_group_spec spec = { .order = NULL };
        const int32_t *sizes = fabrics[f].sizes;
        enum collective_kind kind = kinds[rng_below(rng, COUNT_OF(kinds))];
        bool twist = strstr(fabrics[f].word, "twist") != NULL;
        int32_t n = 1, n_used = 0;
        bool whole = rng_below(rng, 2);
        for (int32_t d = 0; d < TOPO_MAX_DIMS; d++) {
            int32_t size = d < 4 ? sizes[d] : 1;
            spec.members[d] = size;
            spec.stride[d] = 1;
            while (!whole && size > 1) {
                spec.members[d] = 1 + (int32_t)rng_below(rng, size);
                spec.stride[d] = 1 + (int32_t)rng_below(rng, size / spec.members[d]);
                if (size % (spec.members[d] * spec.stride[d]) == 0)
                    break;
            }
            n *= spec.members[d];
            n_used += spec.members[d] > 1;
        }
        /* Parts of a twisted torus over several axes have ways that no line of them sees. */
        if (n > 1 && !(twist && !whole && n_used > 1 && kind == COLLECTIVE_ALL_TO_ALL))
            compare_axes(fabrics[f].word, algorithms[rng_below(rng, COUNT_OF(algorithms))], kind,
                         strstr(fabrics[f].word, "hyperx") && rng_below(rng, 2), &spec);
    }
}

/* Links on the longest way between two members of a line of the group. */
static int32_t longest_way(struct bench *b, const struct flow_group_spec *spec, int32_t set, int32_t n)
{
    struct flow_group g;
    struct topo_path path = { 0 };
    int32_t longest = 0;
    MUST(flow_group_build(&g, spec, &b->routes, e));
    for (int32_t line = 0; line < g.lines[set].n_lines; line++)
        for (int32_t k = 0; k < n * n; k++) {
            struct topo_trip trip = { .src = flow_group_npu(&g, set, line, k / n),
                                      .dst = flow_group_npu(&g, set, line, k % n) };
            path.n = 0;
            MUST(topo_find_path(&path, &b->routes, &trip, e));
            longest = path.n > longest ? path.n : longest;
        }
    flow_group_free(&g);
    topo_path_free(&path);
    return longest;
}

/* Steps over all levels at once, in units of the latency of the first: 1/2 for each link of the longest way;
 * of groups that are not the whole network no less. */
TEST(steps_over_all_levels_take_the_longest_way)
{
    static const char *const fabrics[] = { "fat-tree:4x4/2@100",      "fat-tree:4x2x4/2/1.5@100",
                                           "dragonfly:2x4x9^2@10",    "dragonfly+:2x2x5^2^2@10",
                                           "dragonfly+:3x4x6^3^2@10", "slim-fly:2x18@10" };
    RNG(rng, 18, 3);
    for (int i = 0; i < 200; i++) {
        struct bench b = { 0 };
        struct flow_group_spec spec = { .order = NULL };
        struct shape_group group = { .flat = true, .n = 1 };
        struct shape_load l;
        bool whole = i % 4 == 0;
        bench_open(&b, fabrics[rng_below(rng, COUNT_OF(fabrics))]);
        for (int32_t d = 0; d < b.net.n_dims; d++) {
            int32_t size = b.net.dims[d].size;
            do
                spec.members[d] = whole ? size : 1 + (int32_t)rng_below(rng, size);
            while (size % spec.members[d]);
            group.members[d] = spec.members[d];
            group.n *= spec.members[d];
        }
        if (group.n > 1) {
            double links = longest_way(&b, &spec, TOPO_MAX_DIMS, group.n);
            topo_ops(b.net.dims)->load(&l, SHAPE_DIRECT, b.net.dims, &group);
            assert_true(whole ? l.hops == links / 2 : l.hops >= links / 2);
        }
        bench_close(&b);
    }
}

/* ---- slim flies: messages spread evenly over all shortest ways, on their adjacency ---- */

enum { MAX_ROUTERS = 98 };
struct slim {
    int n, q;
    bool joined[MAX_ROUTERS][MAX_ROUTERS];
    double carried[MAX_ROUTERS][MAX_ROUTERS];
};

static void take_slim_link(void *x, int64_t a, int64_t b)
{
    struct slim *s = x;
    if (a < s->n || b < s->n) /* an NPU's */
        return;
    assert_false(s->joined[a - s->n][b - s->n]);
    s->joined[a - s->n][b - s->n] = s->joined[b - s->n][a - s->n] = true;
}

static void send_evenly(struct slim *s, int a, int b)
{
    int ways = 0;
    s->carried[a][b] += s->joined[a][b];
    for (int via = 0; via < s->n && !s->joined[a][b]; via++)
        ways += s->joined[a][via] && s->joined[via][b];
    assert_true(ways > 0 || s->joined[a][b]); /* any two are at most two links apart */
    for (int via = 0; via < s->n && !s->joined[a][b]; via++)
        if (s->joined[a][via] && s->joined[via][b]) {
            s->carried[a][via] += 1.0 / ways;
            s->carried[via][b] += 1.0 / ways;
        }
}

static void compare_slim(struct slim *s, const struct topo_dim *dim, enum shape_pattern pattern, int members,
                         int stride)
{
    struct shape_group g = {
        .level = 1, .n = members, .members = { 1, members, 1 }, .stride = { 1, stride, 1 }
    };
    struct shape_load l;
    double most[2] = { 0 };
    memset(s->carried, 0, sizeof s->carried);
    for (int a = 0; a < s->n; a++)
        for (int k = 0; k < members; k++) {
            int place = a / stride % members, b = a + (k - place) * stride;
            bool next = k == (pattern == SHAPE_SEND ? place + 1 : (place + 1) % members);
            if (b != a && (pattern == SHAPE_DIRECT || next))
                send_evenly(s, a, b);
        }
    for (int a = 0; a < s->n; a++)
        for (int b = 0; b < s->n; b++) {
            int cross = a / s->q / s->q != b / s->q / s->q;
            most[cross] = fmax(most[cross], s->carried[a][b]);
        }
    topo_ops(dim)->load(&l, pattern, dim, &g);
    double each = pattern == SHAPE_DIRECT ? 1.0 / members
                  : pattern == SHAPE_NEXT ? (members - 1.0) / members
                                          : 1;
    for (int cross = 0; cross < 2; cross++)
        assert_close(l.load[1 + cross], each * most[cross] / topo_ops(dim)->link_Bps(dim, 1 + cross, 1),
                     1e-12);
}

TEST(loads_of_slim_flies_spread_messages_evenly)
{
    static const int qs[] = { 3, 4, 5, 7 };
    static const enum shape_pattern patterns[] = { SHAPE_DIRECT, SHAPE_NEXT, SHAPE_SEND };
    for (size_t i = 0; i < COUNT_OF(qs); i++) {
        struct topo_network net;
        struct slim s = { .n = 2 * qs[i] * qs[i], .q = qs[i] };
        char word[32];
        snprintf(word, sizeof word, "slim-fly:1x%d@1", s.n);
        OK(topo_parse_spec(&net, word, e));
        topo_ops(net.dims)->edges(net.dims, &s, take_slim_link);
        for (int members = 2; members <= s.n; members++)
            for (int stride = 1; stride * members <= s.n; stride++)
                for (size_t k = 0; k < COUNT_OF(patterns) && s.n % (members * stride) == 0; k++)
                    compare_slim(&s, net.dims, patterns[k], members, stride);
    }
}

/* Where links are not counted: what is asked is no less than their mean. */
TEST(slim_flies_without_a_field_or_too_large_to_count_have_means_and_bounds)
{
    struct topo_network net;
    struct shape_load l;
    struct shape_group all = { .flat = true, .n = 1152, .members = { 4, 288, 1 } };
    OK(topo_parse_spec(&net, "slim-fly:4x288@1", e)); /* q 12 */
    topo_ops(net.dims)->load(&l, SHAPE_DIRECT, net.dims, &all);
    assert_close(l.load[2], 34 / 24.0, 1e-14);
    assert_close(l.load[1], (144 + 12 - 2 - 6) / 288.0, 1e-14);
    assert_true(l.load[1] == l.mean[1]);
    struct shape_group pairs = { .level = 1, .n = 2, .members = { 1, 2, 1 } };
    OK(topo_parse_spec(&net, "slim-fly:1x10082@1", e)); /* q 71: 36 column links; two have one link at most */
    topo_ops(net.dims)->load(&l, SHAPE_DIRECT, net.dims, &pairs);
    assert_close(l.load[1], 36 / 2.0, 1e-14);
    topo_ops(net.dims)->load(&l, SHAPE_SEND, net.dims, &pairs);
    assert_close(l.load[1], 36 * 2.0, 1e-14);
}

/* ---- tables from outside: tests/reference/topo_alpha.csv, topo_counts.csv ---- */

/* The number behind "name=" in "a=1; b=2". */
static int32_t parameter(const char *text, const char *name)
{
    char key[32];
    snprintf(key, sizeof key, "%s=", name);
    const char *at = strstr(text, key);
    assert_non_null(at);
    return (int32_t)strtol(at + strlen(key), NULL, 10);
}

/* The sizes of "sizes=[4 4 8]; ..." behind "SHAPE:"; the first of them. */
static int32_t sizes_word(char word[96], const char *shape, const char *p)
{
    const char *at = strchr(p, '[');
    assert_non_null(at);
    size_t n = (size_t)snprintf(word, 96, "%s:%.*s", shape, (int)strcspn(at + 1, "]"), at + 1);
    for (size_t i = 0; i < n; i++)
        word[i] = word[i] == ' ' ? 'x' : word[i];
    return (int32_t)strtol(at + 1, NULL, 10);
}

/* "sizes=[4 4 8]; x_wrap=[0 0 4]; ..."; twists that are not of the standard form have no word. */
/* Links of an NPU, by the sizes of a word: two along an axis of a torus, of a full mesh one to each other. */
static int links_of_word(const char *word, bool mesh)
{
    int links = 0;
    for (const char *at = strchr(word, ':'); at && (*at == ':' || *at == 'x');) {
        char *end;
        long n = strtol(at + 1, &end, 10);
        links += mesh ? (int)n - 1 : n > 2 ? 2 : 1;
        at = end;
    }
    return links;
}

static bool torus_word(char word[96], const char *p)
{
    sizes_word(word, "torus", p);
    size_t n = strlen(word);
    snprintf(word + n, 96 - n, "%s@%d", strstr(p, "_wrap") ? "+twist" : "", links_of_word(word, false));
    return !strstr(p, "x_wrap=[0 4 0]");
}

/* Links of 1 between members. */
static bool mesh_word(char word[96], const char *p)
{
    sizes_word(word, "hyperx", p);
    size_t n = strlen(word);
    snprintf(word + n, 96 - n, "@%d", links_of_word(word, true));
    return true;
}

/* "board=2x2; boards=4x4; ..." */
static bool hamming_word(char word[96], const char *p)
{
    const char *board = strchr(p, '='), *boards = strstr(p, "boards=");
    assert_true(board && boards);
    snprintf(word, 96, "hammingmesh:%.*sx%.*s@4", (int)strcspn(board + 1, ";"), board + 1,
             (int)strcspn(boards + 7, ";"), boards + 7);
    return true;
}

/* The word of a network of the tables; false: a shape that there is not (yet). */
static bool word_of(char word[96], const char *topology, const char *p)
{
    const char *tapers = strstr(p, "tapers_"); /* tapers_2=1: 2, then 1 */
    if (strcmp(topology, "fat-tree-3") == 0 && tapers)
        snprintf(word, 96, "fat-tree:%dx%dx%d/%ld/%ld@1", parameter(p, "ends_per_leaf"),
                 parameter(p, "leaves_per_pod"), parameter(p, "pods"), strtol(tapers + 7, NULL, 10),
                 strtol(strchr(tapers, '=') + 1, NULL, 10));
    else if (strcmp(topology, "fat-tree-3") == 0 && !strstr(p, "taper"))
        snprintf(word, 96, "fat-tree:%dx%dx%d/1/1^2^2@1", parameter(p, "ends_per_leaf"),
                 parameter(p, "leaves_per_pod"), parameter(p, "pods"));
    else if (strcmp(topology, "fat-tree-2") == 0 && strstr(p, "fat link"))
        snprintf(word, 96, "fat-tree:%dx%d/%d^%d@1", parameter(p, "ends_per_leaf"), parameter(p, "leaves"),
                 parameter(p, "taper"), parameter(p, "spines"));
    else if (strcmp(topology, "fat-tree-2") == 0 && !strstr(p, "radix"))
        snprintf(word, 96, "fat-tree:%dx%d/%d@1", parameter(p, "ends_per_leaf"), parameter(p, "leaves"),
                 parameter(p, "taper"));
    else if (strcmp(topology, "rail-only") == 0)
        snprintf(word, 96, "switch:%d@9 switch:%d@1", parameter(p, "GPUs_per_node"), parameter(p, "nodes"));
    else if (strcmp(topology, "rail-optimised") == 0) /* a leaf for all nodes; spines where they are named */
        snprintf(word, 96, "switch:%d@9 fat-tree:%dx1/1^%d+shared@1", parameter(p, "GPUs_per_node"),
                 parameter(p, "nodes"), strstr(p, "4 spines") ? 4 : parameter(p, "nodes"));
    else if (strcmp(topology, "nvl72") == 0)
        snprintf(word, 96, "switch:72*18@900");
    else if (strcmp(topology, "dragonfly") == 0)
        snprintf(word, 96, "dragonfly:%dx%dx%d^%d@1", parameter(p, "p"), parameter(p, "a"), parameter(p, "g"),
                 parameter(p, "h"));
    else if (strcmp(topology, "torus") == 0 || strcmp(topology, "twisted-torus") == 0)
        return torus_word(word, p);
    else if (strcmp(topology, "dragonfly+") == 0)
        snprintf(word, 96, "dragonfly+:%dx%dx%d^%d^%d@1", parameter(p, "p"), parameter(p, "leaves"),
                 parameter(p, "g"), parameter(p, "spines"), parameter(p, "; h"));
    else if (strcmp(topology, "slim-fly") == 0)
        snprintf(word, 96, "slim-fly:%dx%d@1", parameter(p, "p"), 2 * parameter(p, "q") * parameter(p, "q"));
    else if (strcmp(topology, "full-mesh-product") == 0)
        return mesh_word(word, p);
    else if (strcmp(topology, "hammingmesh") == 0)
        return hamming_word(word, p);
    else
        return false;
    return true;
}

static bool is_of_routers(const char *topology)
{
    return strncmp(topology, "dragonfly", 9) == 0 || strcmp(topology, "slim-fly") == 0;
}

/* What the tables call the class of links that dimension @p d brings. */
static const char *class_name(const struct topo_network *net, int32_t d)
{
    int32_t shared = topo_shared_spine(net);
    if (shared >= 0)
        return d < shared ? "scale-up" : d == shared ? "net" : "spine";
    return net->dims[d].level ? strrchr(net->dims[d].name, '.') + 1 : "inj";
}

/* So many members, so far apart, along the levels. */
static void fill_group(int32_t *members, const struct topo_network *net, int64_t n, int64_t stride)
{
    for (int32_t d = 0; d < net->n_dims; d++) {
        int64_t size = net->dims[d].size, skip = stride < size ? stride : size, most = size / skip;
        members[d] = (int32_t)(n < most ? n : most);
        n /= members[d];
        stride /= skip;
    }
    assert_true(n == 1);
}

static bool algorithm_of(enum topo_algorithm *a, const char *word, bool routers)
{
    static const struct {
        const char *word;
        enum topo_algorithm a;
    } words[] = {
        { "hierarchical", TOPO_ALGORITHM_SHAPE },
        { "direct", TOPO_ALGORITHM_DIRECT },
        { "ring", TOPO_ALGORITHM_RING },
        { "halving, near first", TOPO_ALGORITHM_HALVING },
        { "direct, no forwarding in the node", TOPO_ALGORITHM_SHAPE },
        { "halving, far first", TOPO_ALGORITHM_FAR },
    };
    for (size_t i = 0; i < COUNT_OF(words) - (routers ? 3 : 0); i++)
        if (strcmp(words[i].word, word) == 0) {
            *a = words[i].a;
            return true;
        }
    return false;
}

/* Fields of a CSV line without line breaks in quotes; changed in place. */
static int split_line(char *line, char *fields[], int most)
{
    int n = 0;
    for (char *at = line; n < most;) {
        bool quoted = *at == '"';
        fields[n++] = at += quoted;
        at += strcspn(at, quoted ? "\"" : ",\r\n");
        bool more = quoted ? at[1] == ',' : *at == ',';
        *at = '\0';
        if (!more)
            return n;
        at += 1 + quoted;
    }
    return n;
}

/* A table of tests/reference, row by row; fields that quotes or commas end. */
struct reference {
    FILE *file;
    char line[512], *fields[9];
    int n; /* fields of the row */
};

static void reference_open(struct reference *r, const char *path)
{
    *r = (struct reference){ .file = fopen(path, "r") };
    assert_non_null(r->file);
}

/* False, and closed, behind the last row. */
static bool reference_row(struct reference *r)
{
    if (fgets(r->line, sizeof r->line, r->file)) {
        r->n = split_line(r->line, r->fields, 9);
        return true;
    }
    fclose(r->file);
    return false;
}

TEST(loads_are_those_of_the_table)
{
    struct reference r;
    char **f = r.fields, word[96];
    int n_checked = 0;
    reference_open(&r, "tests/reference/topo_alpha.csv");
    while (reference_row(&r)) {
        struct topo_network net;
        enum topo_algorithm a;
        int32_t members[TOPO_MAX_DIMS], level = 0;
        double load[TOPO_MAX_DIMS];
        if (r.n < 8 || !word_of(word, f[0], f[1]) || !algorithm_of(&a, f[3], is_of_routers(f[0])))
            continue;
        OK(read_minimal(&net, word, e));
        fill_group(members, &net, strtol(f[4], NULL, 10), strtol(f[5], NULL, 10));
        net.dims[0].algorithm = a;
        collective_loads(load,
                         strcmp(f[2], "all-to-all") == 0 ? COLLECTIVE_ALL_TO_ALL : COLLECTIVE_REDUCE_SCATTER,
                         1, members, NULL, NULL, &net);
        while (level < net.n_dims && strcmp(f[6], class_name(&net, level)) != 0)
            level++;
        assert_in_range(level, 0, net.n_dims - 1);
        double table = strtod(f[7], NULL); /* nine digits */
        if (!(fabs(load[level] - table) <= (table < 10 ? 5e-9 : 5e-8))) {
            print_error("%s, %s, group %s stride %s, %s: %.9g, table %s\n", word, f[3], f[4], f[5], f[6],
                        load[level], f[7]);
            fail();
        }
        n_checked++;
    }
    assert_in_range(n_checked, 180, 300);
}

/* Also the counts of networks that only a formula has. */
TEST(counts_are_those_of_the_table)
{
    struct reference r;
    char **f = r.fields, word[96];
    int n_checked = 0;
    reference_open(&r, "tests/reference/topo_counts.csv");
    while (reference_row(&r)) {
        struct topo_network net;
        struct topo_metrics m;
        if (r.n < 9)
            continue;
        bool computed = strncmp(f[8], "computed", 8) == 0;
        if ((!computed && strncmp(f[0], "fat", 3) == 0) || !word_of(word, f[0], f[1]))
            continue;
        OK(topo_parse_spec(&net, word, e));
        topo_metrics(&m, &net);
        assert_int_equal(m.n_npus, strtol(f[2], NULL, 10));
        assert_int_equal(m.n_switches, strtol(f[3], NULL, 10));
        /* DeepSeek's dragonfly counts every global port, also those without a group to lead to. */
        int64_t every = strstr(f[8], "DeepSeek") ? m.n_spare_ports / 2 : 0;
        assert_int_equal(m.n_links + every, strtol(f[4], NULL, 10) + strtol(f[5], NULL, 10));
        assert_true(!strstr(f[1], "g=511") || every == 511);
        if (*f[6])
            assert_int_equal(m.diameter_hops, strtol(f[6], NULL, 10));
        double hops = strtod(f[7], NULL); /* six digits */
        assert_true(!*f[7] || fabs(m.mean_hops - hops) <= 0.5000001 * pow(10, floor(log10(hops)) - 5));
        n_checked++;
    }
    assert_in_range(n_checked, 40, 130);
}

/* Patterns other than uniform traffic, in links of an NPU: groups of a full mesh, which exchange by their own
 * links or by all, and what every group of a dragonfly sends to the next one. */
static bool pattern_links(double *links, char *const *f)
{
    struct topo_network net;
    int32_t members[TOPO_MAX_DIMS] = { 1, 1, 1 };
    double load[TOPO_MAX_DIMS];
    char word[96];
    bool any = strcmp(f[3], "any paths") == 0;
    if (strcmp(f[2], "all-to-all in the group") == 0) {
        int32_t n = parameter(f[1], "size"), k = members[0] = parameter(f[1], "groups_of");
        snprintf(word, sizeof word, "full:%d@1", n);
        MUST(topo_parse_spec(&net, word, e));
        net.dims[0].detour = any;
        collective_loads(load, COLLECTIVE_ALL_TO_ALL, 1, members, NULL, NULL, &net);
        *links = (k - 1.0) / k / load[0] * (n - 1);
        return true;
    }
    if (strcmp(f[0], "dragonfly") != 0 || strcmp(f[2], "group i to group i+1") != 0 || any)
        return false;
    int32_t p = parameter(f[1], "p"), a = parameter(f[1], "a"), g = parameter(f[1], "g");
    MUST(word_of(word, f[0], f[1]) ? read_minimal(&net, word, e) : ERR_RANGE);
    members[2] = g;
    collective_loads(load, COLLECTIVE_SEND, 1, members, NULL, NULL, &net);
    *links = (double)(a * parameter(f[1], "h") / (g - 1)) * (g - 1) / (a * p) / load[2];
    return true;
}

/* Groups of full meshes, and a dragonfly's adversary by minimal routes (topologies 2.6: 0.125 of N = 72). */
TEST(other_patterns_are_carried_as_the_table_has_them)
{
    char *fly[] = { "dragonfly", "p=2; a=4; h=2; g=9", "group i to group i+1", "local-global-local" };
    struct reference r;
    char **f = r.fields;
    int n_checked = 0;
    double links;
    assert_true(pattern_links(&links, fly));
    assert_close(links, 0.125, 1e-14);
    reference_open(&r, "tests/reference/topo_throughput.csv");
    while (reference_row(&r)) {
        if (r.n < 8 || strcmp(f[2], "uniform") == 0 || !pattern_links(&links, f))
            continue;
        double want = strtod(f[4], NULL);
        if (!(fabs(links - want) <= (want < 1 ? 5.0000001e-7 : 5.0000001e-6)))
            fail_msg("%s, %s, %s: %.9g, table %s", f[1], f[2], f[3], links, f[4]);
        n_checked++;
    }
    assert_in_range(n_checked, 7, 60);
}

/*
 * Rows by any paths, by the linear programme on the network's own graph; of networks of routers the NPUs'
 * links are so wide that others decide. A dragonfly's adversary sends from each NPU to its like in the next
 * group.
 */
TEST(any_paths_carry_what_the_table_has)
{
    struct reference r;
    char **f = r.fields, word[96];
    int n_checked = 0;
    reference_open(&r, "tests/reference/topo_throughput.csv");
    while (reference_row(&r)) {
        struct topo_network net;
        KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
        struct topo_graph *g;
        struct theta *t;
        struct theta_answer found;
        const double one_Bps = 1e9;
        if (r.n < 8 || strcmp(f[3], "any paths") != 0 || strncmp(f[2], "all-to-all", 10) == 0 ||
            !word_of(word, f[0], f[1]))
            continue;
        bool next = strcmp(f[2], "uniform") != 0;
        OK(topo_parse_spec(&net, word, e));
        if (net.n_npus > 1024)
            continue;
        OK(topo_build_graph(&g, &net, NULL, e));
        int rc = topo_wires_build(&w, g, e);
        topo_graph_free(g);
        OK(rc);
        struct theta_demand d = { .n_axes = net.n_dims, .n_parts = 1 };
        d.parts[0] = (struct theta_part){ .kind = next ? THETA_NEXT : THETA_DIRECT, .share = 1 };
        for (int32_t k = 0; k < net.n_dims; k++) {
            d.sizes[k] = net.dims[k].size;
            d.parts[0].members[k] = next && k < net.n_dims - 1 ? 1 : net.dims[k].size;
            d.parts[0].stride[k] = 1;
        }
        int32_t *classes = calloc((size_t)w.n_links, sizeof *classes);
        double *weight = calloc((size_t)w.n_links, sizeof *weight);
        assert_true(classes && weight);
        for (int32_t l = 0; l < w.n_links; l++)
            weight[l] = w.links[l].bw_Bps / 1e9 * (is_of_routers(f[0]) && w.links[l].src < w.n_npus ? 64 : 1);
        OK(theta_build(&t, &w, classes, 1, weight, &d, e));
        OK(theta_solve(&found, t, &one_Bps, e));
        double links = found.rate / 1e9, want = strtod(f[4], NULL);
        if (!(fabs(links - want) <= (want < 1 ? 5.0000001e-7 : 5.0000001e-6)))
            fail_msg("%s, %s, %s: %.9g, table %s", f[1], f[2], word, links, f[4]);
        theta_free(t);
        free(classes);
        free(weight);
        n_checked++;
    }
    assert_in_range(n_checked, 15, 60);
}

/* Uniform traffic at full rate. Of dragonflies and the like the table leaves the NPUs' own links out, but not
 * in shares of injection. */
TEST(throughputs_are_those_of_the_table)
{
    struct reference r;
    char **f = r.fields, word[96];
    int n_checked = 0;
    reference_open(&r, "tests/reference/topo_throughput.csv");
    while (reference_row(&r)) {
        struct topo_network net;
        struct collective_uniform u;
        if (r.n < 8 || strcmp(f[2], "uniform") != 0)
            continue;
        bool routers = is_of_routers(f[0]), any = strcmp(f[3], "any paths") == 0;
        if ((strcmp(f[0], "dragonfly") == 0 && any) || !word_of(word, f[0], f[1]))
            continue;
        /* On larger boards ways that stay on the board beat those of fewest links. */
        if (strncmp(f[1], "board=", 6) == 0 && strtol(f[1] + 6, NULL, 10) > 2 &&
            strcmp(f[3], "any paths") != 0)
            continue;
        OK(topo_parse_spec(&net, word, e));
        collective_find_uniform(&u, &net);
        double links = (routers ? u.fabric_Bps : u.rate_Bps) / 1e9, want = strtod(f[4], NULL);
        if (!(fabs(links - want) <= (want < 1 ? 5.0000001e-7 : 5.0000001e-6))) {
            print_error("%s, %s: %.9g, table %s\n", word, f[3], links, f[4]);
            fail();
        }
        if (routers)
            assert_true(fabs(u.rate_Bps / 1e9 - strtod(f[6], NULL)) <= 5.0000001e-7);
        n_checked++;
    }
    assert_in_range(n_checked, 40, 130);
}
