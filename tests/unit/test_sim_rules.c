#include "tests/support.h"

#include "sim/rules.h"

#define NET                                                                                                  \
    "network: { npu: { mem_GBps: 2000 }, dims: [ { name: a, shape: ring, size: 6 }, { name: b, shape: "      \
    "switch, size: 8 } ] }\n"

static int read_rules(struct sim_rules *r, struct topo_network *net, const char *text, struct err *e)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    char whole[2048];
    snprintf(whole, sizeof whole, "%s%s", NET, text);
    assert_ok(yaml_read_text(&doc, "study.yaml", whole, strlen(whole), e), e);
    assert_ok(topo_read_network(net, &doc, yaml_get(&doc, doc.root, "network"), e), e);
    return sim_rules_read(r, net, &doc, yaml_get(&doc, doc.root, "simulation"), e);
}

TEST(a_map_fills_every_field)
{
    struct topo_network net;
    struct sim_rules r;
    OK(read_rules(
        &r, &net,
        "simulation: { chunks: 64, algorithms: [direct, ring], endpoint_ns: 10, reduction: memory,\n"
        "  order: given, dims_order: [b, a], queue: lifo, active_chunks: 2, semantics: physical,\n"
        "  route: ecmp, slow: [ { at: [5, \"*\"], dim: b, share: 0.5, late_us: 3 } ] }\n",
        e));
    assert_int_equal(r.stage.chunks, 64);
    assert_close(r.stage.endpoint_s, 10e-9, 1e-15);
    assert_close(r.stage.mem_Bps, 2000e9, 1e-15);
    assert_int_equal(net.dims[0].algorithm, TOPO_ALGORITHM_DIRECT);
    assert_int_equal(net.dims[1].algorithm, TOPO_ALGORITHM_RING);
    assert_true(r.order == SIM_ORDER_GIVEN && r.dims_order[0] == 1 && r.dims_order[1] == 0);
    assert_true(r.queue == SIM_QUEUE_LIFO && r.active == 2 && r.semantics == SIM_PHYSICAL &&
                r.route == SIM_ROUTE_ECMP);
    assert_int_equal(r.n_slow, 1);
    assert_true(r.slow[0].at[0] == 5 && r.slow[0].at[1] == -1 && r.slow[0].dim == 1 &&
                r.slow[0].share == 0.5);
    assert_close(r.slow[0].late_s, 3e-6, 1e-15);
}

TEST(libra_counts_for_the_network)
{
    struct topo_network net;
    struct sim_rules r;
    OK(read_rules(&r, &net, "simulation: { semantics: libra }\n", e));
    assert_true(r.semantics == SIM_LIBRA && net.whole_parts && !sim_is_astra(&r));
    OK(read_rules(&r, &net, "simulation: { semantics: physical }\n", e));
    assert_false(net.whole_parts);
}

/* A graph of its own has no dimensions to go along; it goes the shortest way unless it is told another. */
TEST(a_graph_of_its_own_has_routes_of_its_own)
{
    static const char wires[] = "src,dst,bw_GBps,latency_ns\na,b,10,500\n";
    CASES(const char *route; enum sim_route want; const char *refused) = {
        { "", SIM_ROUTE_SHORTEST, NULL },
        { ", route: shortest", SIM_ROUTE_SHORTEST, NULL },
        { ", route: ecmp", SIM_ROUTE_ECMP, NULL },
        { ", route: dimension", 0, "simulation.route is dimension on a graph of its own" },
        { ", route: detour", 0, "simulation.route is detour on a graph of its own" },
    };
    char path[SUPPORT_PATH], text[SUPPORT_PATH + 64];
    SCRATCH(dir);
    scratch_file(path, dir, "wires.csv", wires, sizeof wires - 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        struct sim_rules r;
        snprintf(text, sizeof text, "simulation: { graph: %s%s }\n", path, cases[i].route);
        if (cases[i].refused) {
            FAILS(read_rules(&r, &net, text, e), ERR_RANGE, cases[i].refused);
        } else {
            OK(read_rules(&r, &net, text, e));
            assert_int_equal(r.route, cases[i].want);
            assert_string_equal(r.graph, path);
        }
        sim_rules_free(&r);
    }
    struct topo_network net;
    struct sim_rules r;
    OK(read_rules(&r, &net, "simulation: { route: detour }\n", e));
    assert_int_equal(r.route, SIM_ROUTE_DETOUR);
}

TEST(what_is_wrong_is_said_with_its_place)
{
    CASES(const char *text, *want) = {
        { "simulation: { chunks: 0 }\n", "study.yaml:2:23: simulation.chunks is 0, expected 1 to 1000000" },
        { "simulation: { algorithms: [ring] }\n", "has 1 entries, expected 2, one per dimension" },
        { "simulation: { algorithms: [halving-doubling, ring] }\n",
          "is halving-doubling on 6 members, expected a power" },
        { "simulation: { algorithms: [rng, ring] }\n",
          "is \"rng\", expected an algorithm as in dims.algorithm; did you mean ring?" },
        { "simulation: { algorithms: [ring, in-switch] }\n", "whose switches do not reduce; give in_switch" },
        { "simulation: { order: themes }\n", "themis" },
        { "simulation: { order: given }\n", "give order: given and dims_order together" },
        { "simulation: { dims_order: [a, b] }\n", "give order: given and dims_order together" },
        { "simulation: { order: given, dims_order: [a] }\n",
          "has 1 entries, expected 2, every dimension once" },
        { "simulation: { order: given, dims_order: [a, a] }\n", "expected every dimension once" },
        { "simulation: { order: given, dims_order: [a, c] }\n", "expected the name of a dimension" },
        { "simulation: { slow: [ { at: [6, 0], share: 0.5 } ] }\n", "is 6, expected 0 to 5, or \"*\"" },
        { "simulation: { slow: [ { at: [1], share: 0.5 } ] }\n", "has 1 entries, expected 2" },
        { "simulation: { slow: [ { at: [1, 1] } ] }\n", "is neither slow nor late" },
        { "simulation: { slow: [ { at: [1, 1], share: 0.5, dim: c } ] }\n",
          "expected the name of a dimension" },
        { "simulation: { semantics: astra-sim-2, order: themis }\n", "has the fixed order only" },
        { "simulation: { semantics: lirba }\n", "did you mean libra?" },
        { "simulation: { semantics: astra-sim-2, slow: [ { at: [1, 1], share: 0.5 } ] }\n",
          "simulation.slow is given with the semantics of ASTRA-sim 2, which has no slow NPUs" },
        { "simulation: { chunk: 4 }\n", "unknown key \"simulation.chunk\"" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        struct sim_rules r;
        assert_true(read_rules(&r, &net, cases[i].text, e) != 0);
        assert_has(e->msg, cases[i].want);
    }
}

TEST(algorithms_must_suit_their_dimension)
{
    CASES(const char *dim, *want) = {
        { "{ shape: switch, size: 6, algorithm: halving-doubling }", "expected a power of two, or bruck" },
        { "{ shape: ring, size: 8, algorithm: bruck }", "expected switch or full" },
        { "{ shape: full, size: 8, algorithm: double-binary-tree }", "expected a switch" },
        { "{ shape: ring, size: 8, in_switch: sharp }", "expected a switch" },
        { "{ shape: switch, size: 8, in_switch_min: 4 }", "give in_switch" },
        { "{ shape: switch, size: 8, algorithm: in-switch }", "give in_switch" },
        { "{ shape: switch, size: 8, regimes: [] }", "has 0 regimes, expected 1 to 8" },
        { "{ shape: switch, size: 8, regimes: [ { latency_ns: 5 } ] }", "has no efficiency" },
        { "{ shape: switch, size: 8, regimes: [ { latency_ns: 5, efficiency: 2 } ] }",
          "expected 0.001 to 1" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        KEEP(struct yaml_doc, doc, yaml_free);
        char text[256];
        snprintf(text, sizeof text, "dims: [ %s ]\n", cases[i].dim);
        OK(yaml_read_text(&doc, "net.yaml", text, strlen(text), e));
        assert_true(topo_read_network(&net, &doc, doc.root, e) != 0);
        assert_has(e->msg, cases[i].want);
        assert_has(e->msg, "net.yaml:1:");
    }
}
