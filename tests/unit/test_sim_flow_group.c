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
    const int32_t first[] = { 1, 3, 2 };
    const struct flow_group_spec spec = { .members = { 3, 2, 1 }, .stride = { 2, 4, 1 }, .first = first };
    PLANT(p, "ring:6@1 switch:8@1 full:4@1");
    GROUP(g, &spec, &p.routes);
    assert_true(g.n_groups == 1);
    check_lines(&g, &p.routes, 6);
    assert_true(flow_group_npu(&g, 0, 0, 0) == 1 + 6 * (3 + 8 * 2));
    assert_true(flow_group_npu(&g, 1, 0, 1) == 1 + 6 * (7 + 8 * 2) && g.lines[0].line_of[0] == -1);
}

TEST(list_keeps_its_order)
{
    const int64_t npus[] = { 9, 2, 5 };
    const struct flow_group_spec spec = { .npus = npus, .n_npus = 3 };
    PLANT(p, "ring:4@1 switch:4@1");
    GROUP(g, &spec, &p.routes);
    for (int32_t i = 0; i < 3; i++) {
        assert_true(flow_group_npu(&g, 0, 0, i) == npus[i] && g.lines[0].line_of[npus[i]] == 0);
    }
    assert_int_equal(g.lines[0].line_of[0], -1);
}

TEST(wrong_groups_are_refused)
{
    const int64_t twice[] = { 0, 1, 0 }, far[] = { 0, 16 }, three[] = { 0, 1, 2 };
    const int32_t first[] = { 2, 0 }, order[] = { 1, 1 };
    const struct {
        struct flow_group_spec spec;
        const char *text;
    } wrong[] = {
        { { .members = { 3 } },
          "3 members of dimension dim1 with stride 1, expected a product that divides 4" },
        { { .members = { 4 }, .stride = { 2 } }, "with stride 2, expected a product that divides 4" },
        { { .members = { 3 }, .first = first }, "dimension dim1 from 2 on, 3 members with stride 1" },
        { { .members = { 4 }, .order = order }, "order of dimensions has 1, expected each of 0 to 1 once" },
        { { .members = { -1 } }, "expected 1 or more" },
        { { .npus = twice, .n_npus = 3 }, "NPU 0 comes twice" },
        { { .npus = far, .n_npus = 2 }, "NPU is 16, expected 0 to 15" },
        { { .npus = far, .n_npus = 1 }, "has 1 NPUs, expected 2 or more" },
        { { .npus = three, .n_npus = 3, .algorithm = TOPO_ALGORITHM_HALVING }, "expected a power of two" },
        { { .npus = three, .n_npus = 3, .algorithm = TOPO_ALGORITHM_TREE },
          "is double-binary-tree, expected ring" },
    };
    PLANT(p, "ring:4@1 switch:4@1");
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        KEEP(struct flow_group, g, flow_group_free);
        FAILS(flow_group_build(&g, &wrong[i].spec, &p.routes, e), ERR_RANGE, wrong[i].text);
    }
}
