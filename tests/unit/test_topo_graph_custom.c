/* Graphs from plain lists of links. */
#include "tests/support.h"
#include "topo/graph.h"

KEEPS(struct topo_graph, topo_graph_free)

/* Two NPUs and two switches, a doubled link. */
static const struct topo_link links[] = {
    { .src = 0, .dst = 2, .bw_Bps = 1.5e9, .lat_s = 3e-7 },
    { .src = 3, .dst = 1, .bw_Bps = 2e9, .lat_s = 0 },
    { .src = 2, .dst = 3, .bw_Bps = 1e9, .lat_s = 1e-6 },
    { .src = 2, .dst = 3, .bw_Bps = 4e9, .lat_s = 0 },
};

TEST(links_given_are_links_listed)
{
    static const char *const names[] = { "server0", "server1", "switch0", "switch1" };
    struct topo_link got[COUNT_OF(links)];
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    char buf[TOPO_VERTEX_TEXT];
    OK(topo_build_links(&g, 2, 2, "server", links, COUNT_OF(links), e));
    assert_true(topo_graph_npus(g) == 2 && topo_graph_vertices(g) == 4 && topo_graph_links(g) == 4);
    assert_null(topo_graph_network(g));
    for (int64_t v = 0; v < 4; v++)
        assert_string_equal(topo_vertex_name(buf, g, v), names[v]);
    OK(topo_list_links(got, g, e));
    for (size_t i = 0; i < COUNT_OF(links); i++) {
        int64_t a = links[i].src, b = links[i].dst;
        assert_int_equal(got[i].src, a < b ? a : b);
        assert_int_equal(got[i].dst, a < b ? b : a);
        assert_close(got[i].bw_Bps, links[i].bw_Bps, 1e-15);
        assert_close(got[i].lat_s, links[i].lat_s, 1e-15);
    }
}

TEST(links_that_cannot_be_are_errors)
{
    static const struct {
        struct topo_link link;
        int code;
        const char *text;
    } cases[] = {
        { { .src = 0, .dst = 1, .bw_Bps = 0 }, ERR_RANGE, "bw_GBps is 0" },
        { { .src = 0, .dst = 1, .bw_Bps = NAN }, ERR_PARSE, "edge 1: bw_GBps is missing" },
        { { .src = 0, .dst = 1, .bw_Bps = 1, .lat_s = -1e-9 }, ERR_RANGE, "lat" },
        { { .src = 1, .dst = 1, .bw_Bps = 1 }, ERR_RANGE, "itself" },
        { { .src = 1, .dst = 3, .bw_Bps = 1 },
          ERR_RANGE,
          "edge 1: leads from 1 to 3, expected vertices 0 to 2" },
        { { .src = -1, .dst = 2, .bw_Bps = 1 }, ERR_RANGE, "edge 1: leads from -1 to 2" },
    };
    struct topo_graph *g;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FAILS(topo_build_links(&g, 2, 1, "npu", &cases[i].link, 1, e), cases[i].code, cases[i].text);
        assert_null(g);
    }
    FAILS(topo_build_links(&g, 1, 1, "npu", NULL, 0, e), ERR_RANGE, "has 1 NPUs, expected at least 2");
}
