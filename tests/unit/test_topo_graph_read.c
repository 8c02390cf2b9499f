/* Graphs from GraphML and edge lists: what is read, where faults are, and no abort on damage. */
#include "tests/support.h"
#include "topo/graph.h"

KEEPS(struct topo_graph, topo_graph_free)

typedef int read_graph(struct topo_graph **out, const char *path, struct err *e);

/* Read @p n bytes as a file of that name. */
static int read_bytes(struct topo_graph **out, read_graph *read, const char *data, size_t n, struct err *e)
{
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    scratch_make(dir);
    int rc = read(out, scratch_file(path, dir, "net.file", data, n), e);
    scratch_remove(dir);
    return rc;
}

static int read_text(struct topo_graph **out, read_graph *read, const char *text, struct err *e)
{
    return read_bytes(out, read, text, strlen(text), e);
}

#define HEAD                                                                                                 \
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?><graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"    \
    "<key id=\"b\" for=\"edge\" attr.name=\"bw_GBps\" attr.type=\"double\"/>"                                \
    "<key id=\"l\" for=\"edge\" attr.name=\"lat_ns\" attr.type=\"double\"/>"                                 \
    "<key id=\"k\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>"
#define GRAPH "<graph id=\"G\" edgedefault=\"undirected\">"
#define TAIL  "</graph></graphml>"
#define EDGE(a, b, bw, l)                                                                                    \
    "<edge source=\"" a "\" target=\"" b "\"><data key=\"b\">" bw "</data><data key=\"l\">" l "</data></"    \
    "edge>"
#define NPU(id)    "<node id=\"" id "\"/>"
#define SWITCH(id) "<node id=\"" id "\"><data key=\"k\">switch</data></node>"
#define PAIR       HEAD GRAPH NPU("x") NPU("y")

/* The switch stands first in the file and last in the graph; links keep their order. */
TEST(graphml_numbers_npus_first)
{
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    struct topo_link links[4];
    char buf[TOPO_VERTEX_TEXT];
    OK(read_text(&g, topo_read_graphml,
                 HEAD GRAPH SWITCH("hub") NPU("x") NPU("y") EDGE("hub", "x", "50", "500") EDGE(
                     "y", "hub", "25", "0") EDGE("x", "y", "0.7", "12.5") EDGE("x", "y", "1e2", "1") TAIL,
                 e));
    assert_true(topo_graph_npus(g) == 2 && topo_graph_vertices(g) == 3 && topo_graph_links(g) == 4);
    assert_string_equal(topo_vertex_name(buf, g, 0), "x");
    assert_string_equal(topo_vertex_name(buf, g, 1), "y");
    assert_string_equal(topo_vertex_name(buf, g, 2), "hub");
    assert_string_equal(topo_vertex_coord(buf, g, 0), "");
    OK(topo_list_links(links, g, e));
    static const struct {
        int64_t src, dst;
        double bw_GBps, lat_ns;
    } want[] = { { 0, 2, 50, 500 }, { 1, 2, 25, 0 }, { 0, 1, 0.7, 12.5 }, { 0, 1, 100, 1 } };
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_true(links[i].src == want[i].src && links[i].dst == want[i].dst && links[i].dim == -1);
        assert_close(links[i].bw_Bps, want[i].bw_GBps * 1e9, 1e-15);
        assert_close(links[i].lat_s, want[i].lat_ns * 1e-9, 1e-15);
        assert_true(isnan(links[i].usd));
    }
}

TEST(fault_in_graphml_is_named)
{
    static const struct refusal cases[] = {
        { "", ERR_PARSE, "is empty, expected GraphML in UTF-8" },
        { "hello", ERR_PARSE, "GraphML: Line 1: " },
        { PAIR EDGE("x", "y", "1", "1") "</graphml>", ERR_PARSE,
          "GraphML: Line 1: Opening and ending tag mismatch" },
        { HEAD "</graphml>", ERR_PARSE, "net.file: has no graph in it, expected GraphML with one" },
        { "<html/>", ERR_PARSE, "net.file: has no graph in it" },
        { PAIR EDGE("x", "x", "1", "1") TAIL, ERR_RANGE,
          "edge 1: joins \"x\" to itself, expected two vertices" },
        { PAIR EDGE("x", "y", "1", "1") EDGE("x", "y", "0", "1") TAIL, ERR_RANGE,
          "edge 2: bw_GBps is 0, expected a number > 0" },
        { PAIR EDGE("x", "y", "-3", "1") TAIL, ERR_RANGE, "edge 1: bw_GBps is -3, expected a number > 0" },
        { PAIR EDGE("x", "y", "Inf", "1") TAIL, ERR_RANGE, "edge 1: bw_GBps is inf, expected a number > 0" },
        { PAIR EDGE("x", "y", "NaN", "1") TAIL, ERR_PARSE, "edge 1: bw_GBps is missing" },
        { PAIR EDGE("x", "y", "1", "-1") TAIL, ERR_RANGE, "edge 1: lat_ns is -1, expected a number >= 0" },
        { PAIR EDGE("x", "y", "1x", "1") TAIL, ERR_PARSE,
          "Unexpected character 'x' while parsing real number" },
        { PAIR "<edge source=\"x\" target=\"y\"><data key=\"b\">1</data></edge>" TAIL, ERR_PARSE,
          "edge 1: lat_ns is missing" },
        { PAIR EDGE("x", "y", "1", "1") "<edge source=\"x\" target=\"y\"/>" TAIL, ERR_PARSE,
          "edge 2: bw_GBps is missing" },
        { PAIR EDGE("x", "n7", "1", "1") TAIL, ERR_PARSE, "edges name 1 nodes that are not declared" },
        { HEAD GRAPH NPU("x") NPU("y") NPU("x") EDGE("x", "y", "1", "1") TAIL, ERR_PARSE,
          "has 1 nodes with the id of another" },
        { PAIR "<edge source=\"x\" target=\"y\"><data key=\"zz\">1</data></edge>" TAIL, ERR_PARSE,
          "GraphML: Unknown attribute key 'zz'" },
        { HEAD "<graph edgedefault=\"directed\">" NPU("x") NPU("y") EDGE("x", "y", "1", "1") TAIL, ERR_UNSUP,
          "is directed, expected an undirected graph" },
        { PAIR "<edge source=\"x\" target=\"y\" directed=\"true\"/>" TAIL, ERR_UNSUP, "is directed" },
        { PAIR EDGE("x", "y", "1", "1") "</graph>" GRAPH NPU("z") TAIL, ERR_UNSUP,
          "holds 2 graphs, expected one" },
        { PAIR EDGE("x", "y", "1", "1") "<hyperedge/>" TAIL, ERR_UNSUP,
          "has 1 hyperedges, expected edges only" },
        { HEAD GRAPH NPU("x") SWITCH("y") EDGE("x", "y", "1", "1") TAIL, ERR_RANGE,
          "has 1 NPUs, expected at least 2" },
        { HEAD GRAPH TAIL, ERR_RANGE, "has 0 NPUs, expected at least 2" },
        { HEAD GRAPH NPU("x") "<node id=\"y\"><data key=\"k\">router</data></node>" TAIL, ERR_PARSE,
          "node \"y\": kind is \"router\", expected npu or switch" },
        { "<graphml><key id=\"k\" for=\"node\" attr.name=\"kind\" attr.type=\"double\"/>" GRAPH NPU("x")
              NPU("y") TAIL,
          ERR_PARSE, "nodes: kind is not text" },
        { "<graphml><key id=\"b\" for=\"edge\" attr.name=\"bw_GBps\" attr.type=\"string\"/>" GRAPH NPU("x")
              NPU("y") "<edge source=\"x\" target=\"y\"><data key=\"b\">1</data></edge>" TAIL,
          ERR_PARSE, "edges: bw_GBps is not a number" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct topo_graph *, g, topo_graph_free_at);
        FAILS(read_text(&g, topo_read_graphml, cases[i].text, e), cases[i].code, cases[i].message);
        assert_has(e->msg, "net.file: ");
        assert_null(g);
    }
    struct topo_graph *g;
    FAILS(read_bytes(&g, topo_read_graphml, "<a>\0</a>", 8, e), ERR_PARSE, "it has a NUL byte");
    FAILS(topo_read_graphml(&g, "no-such-file.graphml", e), ERR_PARSE, "no-such-file.graphml");
    assert_null(g);
}

/* Bytes of a valid file changed at random: a graph or an error, never an abort or a leak. */
TEST(damaged_graphml_never_aborts)
{
    static const char valid[] = HEAD GRAPH SWITCH("hub") NPU("x") NPU("y") EDGE("hub", "x", "50", "500")
        EDGE("x", "y", "1e2", "1") TAIL;
    static const char spice[] = "<>\"'&/=!?-[] \n\xff\x01"
                                "09axEN";
    RNG(rng, 9, 0);
    for (int i = 0; i < 3000; i++) {
        char text[sizeof valid];
        KEEP(struct topo_graph *, g, topo_graph_free_at);
        memcpy(text, valid, sizeof valid);
        for (int64_t k = rng_below(rng, 4); k >= 0; k--)
            text[rng_below(rng, sizeof valid - 1)] = spice[rng_below(rng, sizeof spice - 1)];
        size_t n = rng_below(rng, 4) ? sizeof valid - 1 : (size_t)rng_below(rng, sizeof valid);
        int rc = read_bytes(&g, topo_read_graphml, text, n, e);
        assert_true((rc == 0) == (g != NULL));
    }
}

#define CSV "src,dst,bw_GBps,latency_ns\n"

/* What no row tells is an NPU only where no name speaks against it. */
TEST(nodes_without_a_kind_are_npus_or_asked_for)
{
#define EDGES "src,dst,bw_GBps,latency_ns,src_kind,dst_kind\n"
    static const struct {
        const char *csv, *fault; /* NULL: none */
        int64_t npus;
        bool no_kinds;
    } cases[] = {
        { EDGES "n0,n1,1,1,,\nn1,n12,1,1,,\n", NULL, 3, true },
        { EDGES "0,1,1,1,,\n1,2,1,1,,\n", NULL, 3, true },
        { EDGES "a,b,1,1,,\nb,hub,1,1,,switch\n", NULL, 2, false },
        { EDGES "r0n1,r0n2,1,1,,\nr0n2,r11n3,1,1,,\n", NULL, 3, true },
        { EDGES "npu0,npu1,1,1,,\nnpu1,switch0,1,1,,\n", NULL, 2, false },
        { EDGES "n0,leaf0,1,1,npu,switch\nn1,leaf0,1,1,,\n", NULL, 2, false },
        { EDGES "n0,leaf0,1,1,,\nn1,leaf0,1,1,,\n",
          "kind of node \"n0\" is not given, and node \"leaf0\" is named differently", 0, false },
        { EDGES "n0,leaf0,1,1,npu,\nn1,leaf0,1,1,npu,\n",
          "kind of node \"leaf0\" is not given, and node \"n0\" is named differently", 0, false },
        { EDGES "n0,n9,1,1,,switch\nn1,n9,1,1,,\n",
          "kind of node \"n0\" is not given, and node \"n9\" is a switch that is named alike", 0, false },
        { EDGES "n0,spine,1,1,,\nn1,spine,1,1,,\n",
          "and node \"spine\" is named differently; give npu or switch in src_kind", 0, false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct topo_graph *, g, topo_graph_free_at);
        int rc = read_text(&g, topo_read_edges, cases[i].csv, e);
        if (cases[i].fault) {
            FAILS(rc, ERR_PARSE, cases[i].fault);
            continue;
        }
        OK(rc);
        assert_int_equal(topo_graph_npus(g), cases[i].npus);
        assert_int_equal(topo_graph_lacks_kinds(g), cases[i].no_kinds);
    }
}

TEST(edge_list_tells_switches_by_name_or_kind)
{
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    struct topo_link links[4];
    char buf[TOPO_VERTEX_TEXT];
    OK(read_text(&g, topo_read_edges,
                 "# two racks\n"
                 "src,src_kind,dst,dst_kind,bw_GBps,latency_ns,usd\n"
                 "switch0,,\"gpu, 0\",,50,500,12.5\n"
                 "spine,switch,switch0,,100,250,\n"
                 "switchless,npu,spine,,50,500,1\n"
                 "\"gpu, 0\",npu,switchless,npu,0.7,1.5,2\n",
                 e));
    assert_true(topo_graph_npus(g) == 2 && topo_graph_vertices(g) == 4 && topo_graph_links(g) == 4);
    assert_string_equal(topo_vertex_name(buf, g, 0), "gpu, 0");
    assert_string_equal(topo_vertex_name(buf, g, 1), "switchless");
    assert_string_equal(topo_vertex_name(buf, g, 2), "switch0");
    assert_string_equal(topo_vertex_name(buf, g, 3), "spine");
    OK(topo_list_links(links, g, e));
    assert_true(links[0].src == 0 && links[0].dst == 2 && links[1].src == 2 && links[1].dst == 3);
    assert_true(links[2].src == 1 && links[2].dst == 3 && links[3].src == 0 && links[3].dst == 1);
    assert_close(links[3].bw_Bps, 0.7e9, 1e-15);
    assert_close(links[3].lat_s, 1.5e-9, 1e-15);
    assert_true(links[0].usd == 12.5 && isnan(links[1].usd));
}

TEST(whole_numbers_name_nodes_too)
{
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    char buf[TOPO_VERTEX_TEXT];
    /* src is a column of numbers, dst one of text: 10 is the same node in both. */
    OK(read_text(&g, topo_read_edges, CSV "10,switch,1,0\n20,10,1,0\n", e));
    assert_true(topo_graph_npus(g) == 2 && topo_graph_vertices(g) == 3);
    assert_string_equal(topo_vertex_name(buf, g, 0), "10");
    assert_string_equal(topo_vertex_name(buf, g, 1), "20");
}

TEST(fault_in_edge_list_is_named)
{
    static const struct refusal cases[] = {
        { "src,dst,bw_GBps\na,b,1\n", ERR_PARSE,
          "has no column latency_ns; give src, dst, bw_GBps and latency_ns" },
        { "src,dst,bw_GBps,latency_ns,prize\na,b,1,1,1\n", ERR_PARSE, "column \"prize\" is unknown" },
        { CSV "a,b,1,1\nb,b,1,1\n", ERR_RANGE, "edge 2: joins \"b\" to itself" },
        { CSV "a,b,1,1\na,c,0,1\n", ERR_RANGE, "edge 2: bw_GBps is 0, expected a number > 0" },
        { CSV "a,b,1,1\na,c,,1\n", ERR_PARSE, "edge 2: bw_GBps is missing" },
        { CSV "a,b,1,1\na,c,fast,1\n", ERR_PARSE, "edge 2: bw_GBps is \"fast\", expected a number" },
        { CSV "a,b,1,-0.5\n", ERR_RANGE, "edge 1: latency_ns is -0.5, expected a number >= 0" },
        { CSV "a,,1,1\n", ERR_PARSE, "edge 1: dst is missing" },
        { CSV "1.5,b,1,1\n", ERR_PARSE, "column src holds fractions, expected names or whole numbers" },
        { CSV "a,b\x01,1,1\n", ERR_PARSE, "edge 1: dst is " },
        { CSV "a,\xff,1,1\n", ERR_PARSE, "edge 1: dst is " },
        { CSV "a,switch,1,1\n", ERR_RANGE, "has 1 NPUs, expected at least 2" },
        { CSV, ERR_RANGE, "has 0 NPUs, expected at least 2" },
        { "src,dst,bw_GBps,latency_ns,src_kind\na,b,1,1,router\n", ERR_PARSE,
          "edge 1: src_kind is \"router\", expected npu, switch or nothing" },
        { "src,dst,bw_GBps,latency_ns,src_kind\na,b,1,1,npu\na,c,1,1,switch\n", ERR_RANGE,
          "edge 2: src_kind of \"a\" is switch, but npu in an edge before" },
        { "src,dst,bw_GBps,latency_ns,usd\na,b,1,1,-2\n", ERR_RANGE,
          "edge 1: usd is -2, expected a number >= 0" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_graph *g;
        FAILS(read_text(&g, topo_read_edges, cases[i].text, e), cases[i].code, cases[i].message);
        assert_null(g);
    }
}

/*
 * A dumbbell: NPUs a, b at switch0, c, d at switch1, one trunk of 3 GB/s and one of 4. By hand:
 * pairs inside a side are 2 hops apart, across 3 hops; both trunks must be cut.
 */
TEST(custom_graph_has_its_metrics_by_hand)
{
    struct topo_graph *g;
    struct topo_metrics m;
    OK(read_text(&g, topo_read_edges,
                 CSV "a,switch0,10,1\nb,switch0,10,1\nc,switch1,10,1\nd,switch1,10,1\n"
                     "switch0,switch1,3,1\nswitch0,switch1,4,1\n",
                 e));
    OK(topo_graph_metrics(&m, g, e));
    topo_graph_free(g);
    assert_true(m.n_npus == 4 && m.n_switches == 2 && m.n_links == 6 && m.connected);
    assert_true(m.npu_degree_min == 1 && m.npu_degree_max == 1 && m.diameter_hops == 3);
    assert_close(m.mean_hops, (4 * 2 + 8 * 3) / 12.0, 1e-15);
    assert_close(m.bisection_Bps, 7e9, 1e-12);
    assert_true(m.bisection_is_bound && m.bisection_dim == -1 && m.edge_connectivity == 1);
}

/* Two parallel links count twice in degree and connectivity. */
TEST(parallel_links_count)
{
    struct topo_graph *g;
    struct topo_metrics m;
    OK(read_text(&g, topo_read_edges, CSV "a,b,1,1\na,b,1,1\nb,c,1,1\nb,c,1,1\nc,a,1,1\nc,a,1,1\n", e));
    OK(topo_graph_metrics(&m, g, e));
    topo_graph_free(g);
    assert_true(m.npu_degree_min == 4 && m.edge_connectivity == 4);
    assert_close(m.bisection_Bps, 4e9, 1e-12);
}

TEST(graph_in_two_pieces_is_told)
{
    struct topo_graph *g;
    struct topo_metrics m;
    OK(read_text(&g, topo_read_edges, CSV "a,b,1,1\nb,c,1,1\nc,a,1,1\nd,e,1,1\n", e));
    OK(topo_graph_metrics(&m, g, e));
    topo_graph_free(g);
    assert_true(!m.connected && m.diameter_hops == -1 && isinf(m.mean_hops) && m.edge_connectivity == 0);
}

static int init_graphs(void **state)
{
    (void)state;
    topo_graph_init();
    return 0;
}

SUITE(init_graphs, NULL)
