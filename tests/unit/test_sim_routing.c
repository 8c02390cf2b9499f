/*
 * Routing of fabrics: minimal routes, routes by drawn routers (Valiant), and the best mix of both. Loads
 * against bytes on links, times against the flow simulation, and both ends of what may come out: no better
 * than any paths (a linear programme), no worse than minimal routes.
 */
#include "tests/unit/flow_plant.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "topo/theta.h"

static const char *const fabrics[] = {
    "dragonfly:2x4x9^2@10",    "dragonfly:1x4x4^3@10",    "dragonfly:4x2x4^2@10", "dragonfly:4x3x6^4@10",
    "dragonfly+:2x2x5^2^2@10", "dragonfly+:4x2x4^2^3@10", "slim-fly:2x18@10",     "slim-fly:3x50@10",
    "hyperx:4x4@10",           "hyperx:2x3x4@10",         "hyperx:4x4^2@10",      "hyperx:6^3@10",
};

/* A network that routes so. */
static void network(struct topo_network *net, const char *word, enum topo_routing routing)
{
    char text[96];
    const char *at = strchr(word, '@');
    snprintf(text, sizeof text, "%.*s+%s%s", (int)(at - word), word, topo_routing_words[routing], at);
    MUST(topo_parse_spec(net, text, e));
}

/* Members of each dimension and strides that divide it; how many members. */
static int32_t draw_group(struct flow_group_spec *spec, const struct topo_network *net, struct rng *rng)
{
    int32_t n = 1;
    *spec = (struct flow_group_spec){ .order = NULL };
    for (int32_t d = 0; d < net->n_dims; d++) {
        do
            spec->members[d] = 1 + (int32_t)rng_below(rng, net->dims[d].size);
        while (net->dims[d].size % spec->members[d]);
        do
            spec->stride[d] = 1 + (int32_t)rng_below(rng, net->dims[d].size / spec->members[d]);
        while (net->dims[d].size % (spec->members[d] * spec->stride[d]));
        n *= spec->members[d];
    }
    return n;
}

/* Seconds of the pattern alone, without latency, all members of all levels at once. */
static double flat_time(const struct topo_network *net, enum shape_pattern pattern,
                        const struct flow_group_spec *spec, struct shape_load *l)
{
    struct shape_group g = { .flat = true, .n = 1, .routing = net->dims[0].fabric.routing };
    double time_s = 0;
    for (int32_t d = 0; d < net->n_dims; d++) {
        g.n *= g.members[d] = spec->members[d];
        g.stride[d] = spec->stride[d];
    }
    topo_load(l, pattern, net->dims, &g);
    for (int32_t d = 0; d < net->n_dims; d++)
        time_s = fmax(time_s, l->load[d] / net->dims[d].bw_Bps);
    return time_s;
}

/* The same by any paths. */
static double ideal_time(const struct topo_network *net, enum shape_pattern pattern,
                         const struct flow_group_spec *spec)
{
    KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
    struct topo_graph *g;
    struct theta *t;
    struct theta_answer found;
    struct theta_demand d = { .n_axes = net->n_dims, .n_parts = 1 };
    const double one_Bps = 1e9;
    double n = 1;
    MUST(topo_build_graph(&g, net, NULL, e));
    int rc;
    MUST((rc = topo_wires_build(&w, g, e)));
    topo_graph_free(g);
    for (int32_t k = 0; k < net->n_dims; k++) {
        d.sizes[k] = net->dims[k].size;
        n *= d.parts[0].members[k] = spec->members[k];
        d.parts[0].stride[k] = spec->stride[k];
    }
    d.parts[0].kind = pattern == SHAPE_DIRECT ? THETA_DIRECT
                      : pattern == SHAPE_NEXT ? THETA_NEXT
                                              : THETA_CHAIN;
    d.parts[0].share = pattern == SHAPE_SEND ? 1 : (n - 1) / n;
    int32_t *classes = calloc((size_t)w.n_links, sizeof *classes);
    double *weight = calloc((size_t)w.n_links, sizeof *weight);
    assert_true(classes && weight);
    for (int32_t l = 0; l < w.n_links; l++)
        weight[l] = w.links[l].bw_Bps / 1e9;
    MUST(theta_build(&t, &w, classes, 1, weight, &d, e));
    MUST(theta_solve(&found, t, &one_Bps, e));
    theta_free(t);
    free(classes);
    free(weight);
    return 1 / found.rate;
}

/* The least over a fine grid of v, by the two routings that are mixed. */
static double grid_time(const struct topo_network *net, const double *minimal, const double *valiant)
{
    double best_s = INFINITY;
    for (int i = 0; i <= 4000; i++) {
        double v = i / 4000.0, time_s = 0;
        for (int32_t d = 0; d < net->n_dims; d++)
            time_s = fmax(time_s, ((1 - v) * minimal[d] + v * valiant[d]) / net->dims[d].bw_Bps);
        best_s = fmin(best_s, time_s);
    }
    return best_s;
}

TEST(adaptive_routes_are_between_any_paths_and_minimal_ones)
{
    static const enum shape_pattern patterns[] = { SHAPE_NEXT, SHAPE_SEND, SHAPE_DIRECT };
    RNG(rng, 33, 0);
    int n_mixed = 0, n_drawn = 0;
    for (int i = 0; i < repeats(200); i++) {
        struct topo_network net[3];
        struct shape_load l[3];
        struct flow_group_spec spec;
        double time_s[3];
        const char *word = fabrics[rng_below(rng, COUNT_OF(fabrics))];
        enum shape_pattern pattern = patterns[rng_below(rng, COUNT_OF(patterns))];
        for (int r = 0; r < 3; r++)
            network(&net[r], word, (enum topo_routing)r);
        bool ring = topo_ops(net[0].dims)->algorithms >> TOPO_ALGORITHM_RING & 1;
        if (draw_group(&spec, &net[0], rng) < 2 || (pattern == SHAPE_NEXT && !ring))
            continue;
        for (int r = 0; r < 3; r++)
            time_s[r] = flat_time(&net[r], pattern, &spec, &l[r]);
        double best_s = time_s[TOPO_ROUTING_ADAPTIVE];
        double grid_s = grid_time(&net[0], l[TOPO_ROUTING_MINIMAL].load, l[TOPO_ROUTING_VALIANT].load);
        double any_s = ideal_time(&net[0], pattern, &spec);
        bool good = best_s <= time_s[TOPO_ROUTING_MINIMAL] &&
                    best_s <= time_s[TOPO_ROUTING_VALIANT] * (1 + 1e-12) && best_s <= grid_s * (1 + 1e-12) &&
                    best_s >= grid_s * (1 - 1e-3) && best_s >= any_s * (1 - 1e-6);
        if (!good)
            fail_msg("%s, pattern %d, v %g: minimal %.9g, valiant %.9g, adaptive %.9g, grid %.9g, any %.9g",
                     word, (int)pattern, l[TOPO_ROUTING_ADAPTIVE].valiant, time_s[0], time_s[1], best_s,
                     grid_s, any_s);
        n_drawn += l[TOPO_ROUTING_ADAPTIVE].valiant > 0;
        n_mixed += l[TOPO_ROUTING_ADAPTIVE].valiant > 0 && l[TOPO_ROUTING_ADAPTIVE].valiant < 1;
    }
    assert_true(n_mixed > repeats(200) / 20 && n_drawn > repeats(200) / 10);
}

/* Whole collectives, whose stages are routed each for itself, in the model that adds up their loads. */
TEST(no_collective_is_slower_than_by_minimal_routes)
{
    RNG(rng, 33, 1);
    for (int i = 0; i < repeats(3000); i++) {
        struct flow_group_spec spec;
        const char *word = fabrics[rng_below(rng, COUNT_OF(fabrics))];
        enum collective_kind kind = (enum collective_kind)rng_below(rng, N_COLLECTIVES);
        enum topo_algorithm a = rng_below(rng, 2) ? TOPO_ALGORITHM_SHAPE : TOPO_ALGORITHM_RING;
        double time_s[3] = { 0 }, valiant[TOPO_MAX_DIMS];
        for (int r = 0; r < 3; r++) {
            struct topo_network net;
            double load[TOPO_MAX_DIMS];
            struct err none = { 0 };
            network(&net, word, (enum topo_routing)r);
            if (r == 0 && draw_group(&spec, &net, rng) < 2)
                break;
            for (int32_t d = 0; d < net.n_dims && !topo_check_algorithm(&net.dims[0], a, &none); d++)
                net.dims[d].algorithm = a;
            collective_loads(load, kind, 1e9, spec.members, spec.stride, NULL, &net);
            collective_valiant(valiant, kind, spec.members, spec.stride, NULL, &net);
            for (int32_t d = 0; d < net.n_dims; d++) {
                time_s[r] = fmax(time_s[r], load[d] / net.dims[d].bw_Bps);
                assert_true(valiant[d] >= 0 && valiant[d] <= (r == TOPO_ROUTING_MINIMAL ? 0 : 1));
            }
        }
        assert_true(time_s[TOPO_ROUTING_ADAPTIVE] <= time_s[TOPO_ROUTING_MINIMAL]);
    }
}

/* 1 GB to the same place in the next group; the dragonfly of 72 NPUs in the table of throughputs. */
TEST(next_groups_of_a_dragonfly_get_what_is_published)
{
    static const struct {
        const char *word;
        enum topo_routing routing;
        double time_s;
    } cases[] = {
        { "dragonfly:16x32x33^16@50", TOPO_ROUTING_MINIMAL, 0.640 },
        { "dragonfly:16x32x33^16@50", TOPO_ROUTING_VALIANT, 2 * 31.0 * 65 / (32 * 33) * 16 / 31 / 50 },
        { "dragonfly:16x32x33^16@50", TOPO_ROUTING_ADAPTIVE, 2 * 31.0 * 65 / (32 * 33) * 16 / 31 / 50 },
        { "dragonfly:16x32x512^16@50", TOPO_ROUTING_MINIMAL, 10.240 },
        { "dragonfly:16x32x512^16@50", TOPO_ROUTING_VALIANT,
          2.001953125 / 50 }, /* 511 ports over 32 routers */
        { "dragonfly:2x4x9^2@1", TOPO_ROUTING_MINIMAL, 1 / 0.125 },
        { "dragonfly:2x4x9^2@1", TOPO_ROUTING_VALIANT, 2 * 3.0 * 17 / 36 / 1.5 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        struct collective_time t;
        int32_t members[TOPO_MAX_DIMS] = { 1, 1, 0 };
        double bw_Bps[TOPO_MAX_DIMS];
        network(&net, cases[i].word, cases[i].routing);
        members[2] = net.dims[2].size;
        for (int rules = 0; rules < 2; rules++) {
            const struct collective_way way = { &net, rules ? &stage_rules_plain : NULL,
                                                topo_get_bandwidths(bw_Bps, &net) };
            collective_time(&t, COLLECTIVE_SEND, 1e9, members, NULL, NULL, &way);
            assert_close(t.time_s, cases[i].time_s, 1e-12);
        }
    }
    /* What any paths carry of the last one is 0.5625 of injection. */
    struct topo_network net;
    struct shape_load l;
    struct flow_group_spec spec = { .members = { 1, 1, 9 }, .stride = { 1, 1, 1 } };
    network(&net, "dragonfly:2x4x9^2@1", TOPO_ROUTING_ADAPTIVE);
    double time_s = flat_time(&net, SHAPE_NEXT, &spec, &l) * 1e9 * 9 / 8;
    assert_true(1 / time_s > 0.529 && 1 / time_s <= 0.5625);
}

/* ---- bytes and times of flows ---- */

/* Bytes over the links of a class over what they carry of the class's bandwidth, in the mean. */
static double mean_on_class(const struct topo_routes *r, const double *bytes, int32_t d)
{
    double sum_B = 0, carry_Bps = 0;
    for (int32_t a = 0; a < r->n_arcs; a++)
        if (topo_link_dim(r, a / 2) == d) {
            sum_B += bytes[a];
            carry_Bps += topo_arc_bw(r, a);
        }
    return carry_Bps > 0 ? sum_B / carry_Bps * r->net.dims[d].bw_Bps : 0;
}

/* A message between members, straight and by each router once. */
static void lay_message(double *bytes, struct topo_routes *r, const struct topo_trip *trip, double sent_B,
                        double valiant)
{
    struct topo_path path = { 0 };
    int64_t members, routers = topo_routers(r->net.dims, &members);
    double drawn = trip->src / members == trip->dst / members ? 0 : valiant;
    for (int32_t k = -1; k < (drawn > 0 ? routers : 0); k++) {
        path.n = 0;
        if (k < 0)
            MUST(topo_find_path(&path, r, trip, e));
        else
            MUST(topo_find_drawn_path(&path, r, trip, 0, k, (int32_t)routers, e));
        for (int32_t i = 0; i < path.n; i++)
            bytes[path.arcs[i]] += k < 0 ? sent_B * (1 - drawn) : sent_B * drawn / (double)routers;
        /* It is one way, from end to end. */
        assert_int_equal(r->to[path.arcs[path.n - 1]], trip->dst);
        assert_int_equal(r->to[path.arcs[0] ^ 1], trip->src);
        for (int32_t i = 1; i < path.n; i++)
            assert_int_equal(r->to[path.arcs[i] ^ 1], r->to[path.arcs[i - 1]]);
    }
    topo_path_free(&path);
}

/* All messages of a stage. */
static void lay_stage(double *bytes, struct plant *p, const struct flow_group *g, const struct stage *s)
{
    KEEP(struct message_plan, plan, message_plan_free);
    struct shape_group who = flow_stage_group(g, s);
    int32_t set = flow_line_set(s);
    MUST(message_plan_build(&plan, s->pass, &s->choice, p->net.dims, &who, e));
    for (int32_t line = 0; line < g->lines[set].n_lines; line++)
        for (int32_t c = 0; c < plan.n_channels; c++)
            lay_message(bytes, &p->routes,
                        &(struct topo_trip){ .src = flow_group_npu(g, set, line, plan.channels[c].src),
                                             .dst = flow_group_npu(g, set, line, plan.channels[c].dst) },
                        plan.channels[c].n * plan.channels[c].share * s->full_B, s->valiant);
}

/* The stages of one collective: what they ask of each class, and what their messages put there. */
static void compare_loads(struct rng *rng, int *n_drawn)
{
    struct plant p;
    struct flow_group g;
    struct stage stages[STAGE_MAX];
    const char *word = fabrics[rng_below(rng, COUNT_OF(fabrics))];
    char text[96];
    const char *at = strchr(word, '@');
    snprintf(text, sizeof text, "%.*s+%s%s", (int)(at - word), word,
             rng_below(rng, 2) ? "valiant" : "adaptive", at);
    plant_word(&p, text, 0);
    bool ring = topo_ops(p.net.dims)->algorithms >> TOPO_ALGORITHM_RING & 1;
    for (int32_t d = 0; d < p.net.n_dims; d++)
        p.net.dims[d].algorithm = ring ? TOPO_ALGORITHM_RING : TOPO_ALGORITHM_DIRECT;
    plant_open(&p);
    int32_t n = draw_group(&p.all, &p.net, rng);
    MUST(flow_group_build(&g, &p.all, &p.routes, e));
    const struct collective_way way = { &p.net, &stage_rules_plain, NULL };
    enum collective_kind kind = rng_below(rng, 2) ? COLLECTIVE_REDUCE_SCATTER : COLLECTIVE_ALL_TO_ALL;
    int32_t n_stages =
        n > 1 ? stage_list(stages, kind, 1e6, p.all.members, p.all.stride, NULL, NULL, &way) : 0;
    double *bytes = calloc((size_t)p.routes.n_arcs, sizeof *bytes);
    assert_non_null(bytes);
    for (int32_t k = 0; k < n_stages; k++) {
        const struct stage *s = &stages[k];
        memset(bytes, 0, (size_t)p.routes.n_arcs * sizeof *bytes);
        lay_stage(bytes, &p, &g, s);
        for (int32_t d = 0; d < p.net.n_dims; d++) {
            double want_B = d == s->dim ? s->sent_B : 0, got_B = mean_on_class(&p.routes, bytes, d);
            for (int32_t m = 0; m < s->n_more; m++)
                want_B = s->more[m].dim == d ? s->more[m].sent_B : want_B;
            /* Of a class that is loaded unevenly, or a minimal part that is, the form has the busiest. */
            bool all =
                s->valiant == 1 && strncmp(word, "slim", 4) != 0 && strncmp(word, "dragonfly:4x3x6", 15) != 0;
            if (!(got_B <= want_B + 1e-3 && (!all || got_B >= want_B - 1e-3)))
                fail_msg("%s, %d members, class %d, v %g: %.9g on links, form %.9g", text, n, (int)d,
                         s->valiant, got_B, want_B);
        }
        *n_drawn += s->valiant > 0;
    }
    free(bytes);
    flow_group_free(&g);
    plant_close(&p);
}

TEST(mixed_loads_are_those_of_messages_on_links)
{
    RNG(rng, 33, 2);
    int n_drawn = 0;
    for (int i = 0; i < repeats(150); i++)
        compare_loads(rng, &n_drawn);
    assert_true(n_drawn > repeats(150) * 2 / 15);
}

/* Each link carries what messages put on it, of all members or those of one router, which stay in it. */
TEST(flows_by_drawn_routers_put_their_bytes_where_messages_do)
{
    static const char *const words[] = { "dragonfly:4x2x3^1+valiant@10", "dragonfly:2x3x7^2+valiant@10",
                                         "hyperx:3x4+valiant@10", "slim-fly:4x18+valiant@10" };
    RNG(rng, 33, 7);
    for (int i = 0; i < 2 * (int)COUNT_OF(words); i++) {
        struct plant p;
        struct flow_group g;
        struct stage stages[STAGE_MAX];
        plant_word(&p, words[i / 2], 0);
        p.net.dims[0].algorithm = TOPO_ALGORITHM_DIRECT;
        if (i % 2)
            while (draw_group(&p.all, &p.net, rng) < 2)
                continue;
        plant_open(&p);
        OK(flow_group_build(&g, &p.all, &p.routes, e));
        double *bytes = calloc((size_t)p.routes.n_arcs, sizeof *bytes);
        assert_non_null(bytes);
        const struct collective_way way = { &p.net, &stage_rules_plain, NULL };
        int32_t n =
            stage_list(stages, COLLECTIVE_ALL_TO_ALL, 1e6, p.all.members, p.all.stride, NULL, NULL, &way);
        for (int32_t k = 0; k < n; k++)
            lay_stage(bytes, &p, &g, &stages[k]);
        issue(&p, group(&p, &p.all), COLLECTIVE_ALL_TO_ALL, 1e6, 0);
        run(&p);
        for (int32_t a = 0; a < p.routes.n_arcs; a++)
            assert_near(flow_sim_arc_use(p.sim, a).bytes, bytes[a], 1e-3);
        free(bytes);
        flow_group_free(&g);
        plant_close(&p);
    }
}

/* Rings over the groups of dragonflies: what flows take by the same shares is near the closed form. */
TEST(flows_take_the_routes_of_the_closed_form)
{
    static const char *const words[] = { "dragonfly:2x4x9^2@10", "dragonfly:4x8x9^4@10",
                                         "dragonfly+:4x4x9^4^4@10", "slim-fly:4x50@10", "hyperx:8x8@10" };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        for (int r = 0; r < 3; r++) {
            struct plant p;
            struct collective_time t;
            double bw_Bps[TOPO_MAX_DIMS];
            char text[96];
            const char *at = strchr(words[i], '@');
            snprintf(text, sizeof text, "%.*s+%s%s", (int)(at - words[i]), words[i], topo_routing_words[r],
                     at);
            plant_word(&p, text, 0);
            int32_t top = p.net.dims[p.net.n_dims - 1].size > 1 ? p.net.n_dims - 1 : 1;
            for (int32_t d = 0; d < p.net.n_dims; d++)
                p.all.members[d] = d == top ? p.net.dims[d].size : 1;
            plant_open(&p);
            int32_t g = group(&p, &p.all), id = issue(&p, g, COLLECTIVE_SEND, 1e9, 0);
            run(&p);
            const struct collective_way way = { &p.net, &stage_rules_plain,
                                                topo_get_bandwidths(bw_Bps, &p.net) };
            collective_time(&t, COLLECTIVE_SEND, 1e9, p.all.members, NULL, NULL, &way);
            double flow_s = flow_sim_finish_s(p.sim, id);
            plant_close(&p);
            if (!(flow_s >= t.time_s * (1 - 1e-9) && flow_s <= t.time_s * 1.03))
                fail_msg("%s: flow %.6g s, closed form %.6g s", text, flow_s, t.time_s);
        }
}

/* One collective among drawn groups in model flow, over what it takes in closed form, stage by stage. */
static double flows_over_form(const char *word, enum topo_algorithm a, enum collective_kind kind,
                              struct rng *rng)
{
    struct plant p;
    struct collective_time t;
    double bw_Bps[TOPO_MAX_DIMS], flow_s = 1;
    plant_word(&p, word, 0);
    for (int32_t d = 0; d < p.net.n_dims; d++)
        p.net.dims[d].algorithm = a;
    plant_open(&p);
    int32_t n = draw_group(&p.all, &p.net, rng);
    const struct collective_way way = { &p.net, &stage_rules_plain, topo_get_bandwidths(bw_Bps, &p.net) };
    collective_time(&t, kind, 1e9, p.all.members, p.all.stride, NULL, &way);
    if (n > 1) {
        int32_t g = group(&p, &p.all), id = issue(&p, g, kind, 1e9, 0);
        run(&p);
        flow_s = flow_sim_finish_s(p.sim, id) / t.time_s;
    }
    plant_close(&p);
    return flow_s;
}

TEST(flows_keep_step_in_mixed_orders)
{
    static const char *const words[] = { "torus:4x4x8@300", "torus:2x8x3@300", "torus:6x3x4@300",
                                         "torus:2x4x8@500", "torus:8x6@200",   "torus:4x4x8+twist@300",
                                         "hyperx:4x2x3@60", "hyperx:2x6@60" };
    static const enum collective_kind kinds[] = { COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_ALL_GATHER,
                                                  COLLECTIVE_ALL_REDUCE };
    RNG(rng, 33, 5);
    for (int i = 0; i < repeats(200); i++) {
        const char *word = words[rng_below(rng, COUNT_OF(words))];
        enum collective_kind kind = kinds[rng_below(rng, COUNT_OF(kinds))];
        double over = flows_over_form(word, TOPO_ALGORITHM_MIXED, kind, rng);
        if (!(fabs(over - 1) <= 0.02))
            fail_msg("%s, %s: flows take %.4g times as long", word, collective_names[kind], over);
    }
}

TEST(flows_spray_what_goes_alone_as_the_closed_form_has_it)
{
    static const char *const words[] = {
        "fat-tree:6x8/2@50",
        "fat-tree:4x2x2/1/4@50",
        "fat-tree:3x4x3/2/4@50",
        "fat-tree:8x6x2/4/4@50",
        "torus:8x6x8@300",
        "torus:2x4x8@500",
        "torus:4x8+twist@200",
        "torus:4x4x8+twist@300",
        "torus:4x8x8+twist@300",
        "hyperx:3x6^2+minimal@50",
        "hammingmesh:2x4x4x3@60",
        "switch:4@450 fat-tree:4x4x2/2/4@50",
        "fat-tree:4x4/2@50 ring:3@50",
        "switch:2@300 fat-tree:4x2x2/1/4@50 switch:2@9",
    };
    RNG(rng, 33, 6);
    for (int i = 0; i < repeats(200); i++) {
        const char *word = words[rng_below(rng, COUNT_OF(words))];
        double over = flows_over_form(word, TOPO_ALGORITHM_SHAPE, COLLECTIVE_SEND, rng);
        if (!(fabs(over - 1) <= 0.02))
            fail_msg("%s: flows take %.4g times as long", word, over);
    }
}
