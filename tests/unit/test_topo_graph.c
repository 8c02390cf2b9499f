/* Networks as graphs: links by hand, prices, names, and files that read back the same. */
#include "base/outfile.h"
#include "tests/support.h"
#include "topo/graph.h"

KEEPS(struct topo_graph, topo_graph_free)

static struct topo_graph *build_word(const char *word)
{
    struct topo_network net;
    struct topo_graph *g;
    MUST(topo_parse_spec(&net, word, e));
    MUST(topo_build_graph(&g, &net, NULL, e));
    return g;
}

/* Links of @p g, to be freed. */
static struct topo_link *links_of(const struct topo_graph *g)
{
    struct topo_link *links = calloc((size_t)topo_graph_links(g) + 1, sizeof *links);
    assert_non_null(links);
    MUST(topo_list_links(links, g, e));
    return links;
}

/* Enumerated by hand: NPU a1 + 3 a2, then one switch per column. */
TEST(small_network_has_the_links_of_its_definition)
{
    static const struct {
        int64_t src, dst;
        int dim;
        double bw_GBps;
    } want[] = {
        { 0, 1, 0, 20 }, { 1, 2, 0, 20 }, { 0, 2, 0, 20 }, { 3, 4, 0, 20 }, { 4, 5, 0, 20 }, { 3, 5, 0, 20 },
        { 0, 6, 1, 7 },  { 3, 6, 1, 7 },  { 1, 7, 1, 7 },  { 4, 7, 1, 7 },  { 2, 8, 1, 7 },  { 5, 8, 1, 7 },
    };
    struct topo_network net;
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    OK(topo_parse_spec(&net, "ring:3@40 switch:2@7", e));
    net.dims[0].lat_s = 25e-9;
    net.dims[1].lat_s = 2e-6;
    OK(topo_build_graph(&g, &net, NULL, e));
    assert_true(topo_graph_npus(g) == 6 && topo_graph_vertices(g) == 9);
    assert_true(topo_graph_links(g) == COUNT_OF(want));
    KEEP(struct topo_link *, links, free_at) = links_of(g);
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_true(links[i].src == want[i].src && links[i].dst == want[i].dst);
        assert_int_equal(links[i].dim, want[i].dim);
        assert_close(links[i].bw_Bps, want[i].bw_GBps * 1e9, 1e-15);
        assert_close(links[i].lat_s, want[i].dim == 0 ? 25e-9 : 1e-6, 1e-15); /* two links through a switch */
        assert_true(isnan(links[i].usd));
    }
}

TEST(shapes_have_their_links)
{
    static const struct {
        const char *word;
        int n_links;
        int64_t ends[6][2];
    } cases[] = {
        { "ring:2", 1, { { 0, 1 } } },
        { "line:2", 1, { { 0, 1 } } },
        { "line:4", 3, { { 0, 1 }, { 1, 2 }, { 2, 3 } } },
        { "ring:4", 4, { { 0, 1 }, { 1, 2 }, { 2, 3 }, { 0, 3 } } },
        { "full:4", 6, { { 0, 1 }, { 0, 2 }, { 0, 3 }, { 1, 2 }, { 1, 3 }, { 2, 3 } } },
        { "switch:3", 3, { { 0, 3 }, { 1, 3 }, { 2, 3 } } },
        { "ring:2 ring:2", 4, { { 0, 1 }, { 2, 3 }, { 0, 2 }, { 1, 3 } } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct topo_graph *, g, topo_graph_free_at) = build_word(cases[i].word);
        assert_true(topo_graph_links(g) == cases[i].n_links);
        KEEP(struct topo_link *, links, free_at) = links_of(g);
        for (int k = 0; k < cases[i].n_links; k++)
            assert_true(links[k].src == cases[i].ends[k][0] && links[k].dst == cases[i].ends[k][1]);
        assert_true(isnan(links[0].bw_Bps));
    }
}

TEST(link_prices_add_up_to_the_dimensions_price)
{
    const double usd_per_Bps[] = { 3e-6, NAN, 7e-6 };
    struct topo_network net;
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    double usd[3] = { 0 };
    OK(topo_parse_spec(&net, "line:5@10 full:4@30 switch:6@20", e));
    OK(topo_build_graph(&g, &net, usd_per_Bps, e));
    KEEP(struct topo_link *, links, free_at) = links_of(g);
    for (int64_t i = 0; i < topo_graph_links(g); i++)
        usd[links[i].dim] += links[i].usd;
    assert_close(usd[0], 3e-6 * 10e9, 1e-12);
    assert_true(isnan(usd[1]));
    assert_close(usd[2], 7e-6 * 20e9, 1e-12);
}

TEST(vertices_have_names_and_coordinates)
{
    KEEP(struct topo_graph *, g, topo_graph_free_at) = build_word("ring:3 switch:2 switch:4");
    char buf[TOPO_VERTEX_TEXT];
    assert_string_equal(topo_vertex_name(buf, g, 17), "npu17");
    assert_string_equal(topo_vertex_coord(buf, g, 17), "2,1,2");
    assert_string_equal(topo_vertex_coord(buf, g, 0), "0,0,0");
    /* 24 NPUs, 12 switches of dimension 2 (groups a1 + 3 a3), 6 of dimension 3 (groups a1 + 3 a2). */
    assert_string_equal(topo_vertex_name(buf, g, 24 + 11), "switch-dim2-11");
    assert_string_equal(topo_vertex_coord(buf, g, 24 + 11), "2,*,3");
    assert_string_equal(topo_vertex_name(buf, g, 36), "switch-dim3-0");
    assert_string_equal(topo_vertex_coord(buf, g, 36 + 4), "1,1,*");
}

TEST(million_npus_are_built)
{
    KEEP(struct topo_graph *, g, topo_graph_free_at) =
        build_word("ring:16@400 full:8@280 ring:16@100 switch:512@50");
    assert_true(topo_graph_npus(g) == 1048576 && topo_graph_vertices(g) == 1048576 + 2048);
    assert_true(topo_graph_links(g) == 1048576 * 13 / 2);
}

TEST(graph_too_large_is_refused_before_it_is_built)
{
    static const char *const words[] = { "full:65536", "switch:16777216 ring:16", "full:16777216 switch:64" };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct topo_network net;
        KEEP(struct topo_graph *, g, topo_graph_free_at);
        OK(topo_parse_spec(&net, words[i], e));
        FAILS(topo_build_graph(&g, &net, NULL, e), ERR_RANGE, "expected at most 268435456 together");
        assert_null(g);
    }
}

TEST(search_in_a_large_graph_says_what_it_left_out)
{
    struct topo_network net;
    struct topo_metrics m, closed;
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    OK(topo_parse_spec(&net, "ring:32@2 ring:25@2 ring:27@2", e));
    topo_metrics(&closed, &net);
    OK(topo_build_graph(&g, &net, NULL, e));
    OK(topo_graph_metrics(&m, g, e));
    assert_true(m.hops_sampled);
    assert_true(m.diameter_hops == closed.diameter_hops); /* every NPU of a torus sees the same */
    assert_close(m.mean_hops, closed.mean_hops, 1e-12);
    assert_close(m.bisection_Bps, closed.bisection_Bps, 1e-9);
    assert_true(m.edge_connectivity == -1 && closed.edge_connectivity == 6);
}

/* A vertex of one link, or parts, are known where nothing is searched any more. */
TEST(connectivity_of_a_large_graph_is_known_where_one_link_decides)
{
    CASES(int64_t ends[4]; int n_links; int64_t want) = {
        { { 0, 1, 0, 1 }, 2, 0 }, /* two links, and others without any */
        { { 0, 1, 0, 0 }, 1, 0 },
    };
    struct topo_metrics m;
    KEEP(struct topo_graph *, star, topo_graph_free_at) = build_word("switch:6000@1");
    KEEP(struct topo_graph *, ring, topo_graph_free_at) = build_word("ring:6000@1");
    OK(topo_graph_metrics(&m, star, e));
    assert_true(m.edge_connectivity == 1 && m.npu_degree_min == 1 && m.npu_degree_max == 1 && m.connected);
    OK(topo_graph_metrics(&m, ring, e));
    assert_true(m.edge_connectivity == -1 && m.npu_degree_min == 2 && m.npu_degree_max == 2);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_link links[2];
        KEEP(struct topo_graph *, g, topo_graph_free_at);
        for (int k = 0; k < cases[i].n_links; k++)
            links[k] = (struct topo_link){ .src = cases[i].ends[2 * k],
                                           .dst = cases[i].ends[2 * k + 1],
                                           .bw_Bps = 1e9 };
        OK(topo_build_links(&g, 6000, 0, "npu", links, cases[i].n_links, e));
        OK(topo_graph_metrics(&m, g, e));
        assert_true(!m.connected && m.edge_connectivity == cases[i].want);
    }
}

static void assert_same_graph(const struct topo_graph *a, const struct topo_graph *b)
{
    char name_a[TOPO_VERTEX_TEXT], name_b[TOPO_VERTEX_TEXT];
    assert_true(topo_graph_npus(a) == topo_graph_npus(b) && topo_graph_vertices(a) == topo_graph_vertices(b));
    assert_true(topo_graph_links(a) == topo_graph_links(b));
    for (int64_t v = 0; v < topo_graph_vertices(a); v++)
        assert_string_equal(topo_vertex_name(name_a, a, v), topo_vertex_name(name_b, b, v));
    KEEP(struct topo_link *, x, free_at) = links_of(a);
    KEEP(struct topo_link *, y, free_at) = links_of(b);
    for (int64_t i = 0; i < topo_graph_links(a); i++) {
        assert_true(x[i].src == y[i].src && x[i].dst == y[i].dst && x[i].dim == y[i].dim);
        assert_true(x[i].bw_Bps == y[i].bw_Bps && x[i].lat_s == y[i].lat_s);
        assert_true(x[i].usd == y[i].usd || (isnan(x[i].usd) && isnan(y[i].usd)));
    }
}

/* Bandwidths and prices of random bits: nothing is lost on the way. */
TEST(written_graphml_reads_back_as_the_same_graph)
{
    static const char *const words[] = { "ring:3@1 switch:2@1", "full:4@1 line:3@1 switch:5@1", "switch:7@1",
                                         "ring:4@1 full:8@1 ring:4@1 switch:8@1" };
    char dir[SUPPORT_PATH], path[SUPPORT_PATH + 16];
    scratch_make(dir);
    snprintf(path, sizeof path, "%s/net.graphml", dir);
    RNG(rng, 5, 0);
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct topo_network net;
        KEEP(struct topo_graph *, g, topo_graph_free_at);
        KEEP(struct topo_graph *, again, topo_graph_free_at);
        KEEP(struct topo_graph *, third, topo_graph_free_at);
        KEEP(struct text, xml, text_free) = { 0 };
        KEEP(struct text, xml_again, text_free) = { 0 };
        double usd_per_Bps[TOPO_MAX_DIMS];
        OK(topo_parse_spec(&net, words[i], e));
        for (int32_t d = 0; d < net.n_dims; d++) {
            net.dims[d].bw_Bps = rng_log_range(rng, 1e9, 1e12);
            net.dims[d].lat_s = rng_log_range(rng, 1e-9, 1e-5);
            usd_per_Bps[d] = rng_log_range(rng, 1e-9, 1e-3);
        }
        OK(topo_build_graph(&g, &net, i % 2 ? usd_per_Bps : NULL, e));
        OK(topo_format_graphml(&xml, g, e));
        OK(outfile_write_text(&xml, path, true, e));
        OK(topo_read_graphml(&again, path, e));
        assert_same_graph(g, again);
        OK(topo_format_graphml(&xml_again, again, e));
        OK(outfile_write_text(&xml_again, path, true, e));
        OK(topo_read_graphml(&third, path, e));
        assert_same_graph(g, third);
    }
    scratch_remove(dir);
}

TEST(exports_carry_names_kinds_and_links)
{
    static const char *const graphml[] = {
        "<graph id=\"G\" edgedefault=\"undirected\">",
        "<key id=\"v_name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>",
        "<data key=\"v_name\">npu2</data>",
        "<data key=\"v_coord\">2,0</data>",
        "<data key=\"v_kind\">npu</data>",
        "<data key=\"v_name\">switch-dim2-1</data>",
        "<data key=\"v_coord\">1,*</data>",
        "<data key=\"v_kind\">switch</data>",
        "<data key=\"e_bw_GBps\">20</data>",
        "<data key=\"e_dim\">1</data>",
        "<data key=\"e_latency_ns\">0</data>",
    };
    static const char *const dot[] = { "graph {",       "name=npu2",  "kind=switch",
                                       "coord=\"1,*\"", "bw_GBps=20", "1 -- 0 [" };
    KEEP(struct topo_graph *, g, topo_graph_free_at) = build_word("ring:3@40 switch:2");
    KEEP(struct text, out, text_free) = { 0 };
    OK(topo_format_graphml(&out, g, e));
    for (size_t i = 0; i < COUNT_OF(graphml); i++)
        assert_has(text_str(&out), graphml[i]);
    assert_null(strstr(text_str(&out), "usd"));
    assert_null(strstr(text_str(&out), "NaN"));
    text_clear(&out);
    OK(topo_format_dot(&out, g, e));
    for (size_t i = 0; i < COUNT_OF(dot); i++)
        assert_has(text_str(&out), dot[i]);
}

/* Not igraph's "cannot be written", nor half a file. */
TEST(exports_without_memory_say_so)
{
    KEEP(struct topo_graph *, g, topo_graph_free_at) = build_word("ring:3@40 switch:2");
    KEEP(struct text, out, text_free) = { .failed = true };
    FAILS(topo_format_graphml(&out, g, e), ERR_NOMEM, "out of memory");
    FAILS(topo_format_dot(&out, g, e), ERR_NOMEM, "out of memory");
    assert_int_equal(out.n, 0);
}

static int init_graphs(void **state)
{
    (void)state;
    topo_graph_init();
    return 0;
}

SUITE(init_graphs, NULL)
