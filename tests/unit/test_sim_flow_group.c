#include "tests/support.h"

#include "sim/flow/flow_collective.h"

struct plant {
    struct topo_graph *graph;
    struct topo_routes routes;
};

static void plant_open(struct plant *p, const char *word)
{
    struct topo_network net;
    MUST(topo_parse_spec(&net, word, e));
    MUST(topo_build_graph(&p->graph, &net, NULL, e));
    MUST(topo_routes_build(&p->routes, p->graph, e));
}

static void plant_close(struct plant *p)
{
    topo_routes_free(&p->routes);
    topo_graph_free(p->graph);
}

#define PLANT(p, word)                                                                                       \
    KEEP(struct plant, p, plant_close);                                                                      \
    plant_open(&p, word)

#define GROUP(g, ...)                                                                                        \
    KEEP(struct flow_group, g, flow_group_free);                                                             \
    OK(flow_group_build(&g, __VA_ARGS__, e))

/* Every NPU is in one line of each dimension in use, at the place that its position says. */
static void check_lines(const struct flow_group *g, const struct topo_routes *r, int64_t n_inside)
{
    for (int32_t d = 0; d < g->net.n_dims; d++) {
        const struct flow_lines *l = &g->lines[d];
        if (g->members[d] == 1)
            continue;
        assert_true((int64_t)l->n_lines * l->n_members == n_inside);
        for (int32_t line = 0; line < l->n_lines; line++)
            for (int32_t i = 0; i < l->n_members; i++) {
                int64_t npu = flow_group_npu(g, d, line, i);
                assert_int_equal(l->line_of[npu], line);
                assert_int_equal(flow_group_position(g, r, d, npu), i);
                for (int32_t k = 0; k < g->net.n_dims; k++)
                    if (k != d)
                        assert_int_equal(flow_group_position(g, r, k, npu),
                                         flow_group_position(g, r, k, l->first[line]));
            }
    }
}

TEST(groups_that_fill_the_network_have_every_npu_once)
{
    static const struct flow_group_spec specs[] = {
        { .members = { 6, 8, 4 } },
        { .members = { 3, 1, 4 }, .stride = { 2, 1, 1 } },
        { .members = { 2, 2, 2 }, .stride = { 3, 4, 2 } },
        { .members = { 1, 4 }, .stride = { 0, 2 } },
    };
    static const int64_t n_groups[] = { 1, 16, 24, 48 };
    PLANT(p, "ring:6@1 switch:8@1 full:4@1");
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        GROUP(g, &specs[i], &p.routes);
        assert_true(g.n_groups == n_groups[i]);
        check_lines(&g, &p.routes, 192);
    }
}

TEST(single_group_has_its_box_only)
{
    const struct flow_group_spec spec = { .members = { 3, 2, 1 }, .stride = { 2, 4, 1 }, .single = true };
    PLANT(p, "ring:6@1 switch:8@1 full:4@1");
    GROUP(g, &spec, &p.routes);
    assert_true(g.n_groups == 1);
    check_lines(&g, &p.routes, 6);
    assert_true(flow_group_npu(&g, 0, 0, 0) == 0 && flow_group_npu(&g, 1, 0, 1) == 6 * 4);
    assert_true(g.lines[0].line_of[0] == 0 && g.lines[0].line_of[1] == -1);
}

TEST(wrong_groups_are_refused)
{
    const int32_t order[] = { 1, 1 };
    const struct {
        struct flow_group_spec spec;
        const char *text;
    } wrong[] = {
        { { .members = { 3 } },
          "3 members of dimension dim1 with stride 1, expected a product that divides 4" },
        { { .members = { 4 }, .stride = { 2 } }, "with stride 2, expected a product that divides 4" },
        { { .members = { 3 }, .stride = { 2 }, .single = true },
          "3 members of dimension dim1 with stride 2" },
        { { .members = { 4 }, .order = order }, "order of dimensions has 1, expected each of 0 to 1 once" },
        { { .members = { -1 } }, "expected 1 or more" },
    };
    PLANT(p, "ring:4@1 switch:4@1");
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        KEEP(struct flow_group, g, flow_group_free);
        FAILS(flow_group_build(&g, &wrong[i].spec, &p.routes, e), ERR_RANGE, wrong[i].text);
    }
}
