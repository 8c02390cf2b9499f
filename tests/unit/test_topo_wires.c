/* Custom graphs with prices and classes: bills add up, files carry them, and what is half priced is refused.
 */
#include "tests/support.h"
#include "topo/bill.h"
#include "topo/wires.h"

KEEPS(struct topo_graph, topo_graph_free)

#define HEAD "src,dst,bw_GBps,latency_ns,class,usd,watt\n"

static int read_as(struct topo_graph **out, const char *name, const char *text, size_t n, struct err *e)
{
    char dir[SUPPORT_PATH], path[SUPPORT_PATH];
    scratch_make(dir);
    scratch_file(path, dir, name, text, n);
    int rc = strstr(name, ".csv") ? topo_read_edges(out, path, e) : topo_read_graphml(out, path, e);
    scratch_remove(dir);
    return rc;
}

static int read_wires(struct topo_wires *w, const char *csv, struct err *e)
{
    struct topo_graph *g;
    int rc = read_as(&g, "net.csv", csv, strlen(csv), e);
    if (!rc)
        rc = topo_wires_build(w, g, e);
    topo_graph_free(g);
    return rc;
}

TEST(bill_is_the_sum_of_the_links_of_each_class)
{
    KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
    KEEP(struct topo_bill, b, topo_bill_free) = { 0 };
    OK(read_wires(&w, HEAD "a,switch0,50,1,leaf,100,8\nb,switch0,50,1,leaf,130,8\nswitch0,c,10,1,up,300,14\n",
                  e));
    assert_int_equal(w.n_classes, 2);
    assert_string_equal(w.classes[1], "up");
    assert_true(w.unpriced_switches);
    OK(topo_bill_wires(&b, &w, "net.csv", e));
    assert_int_equal(b.n_lines, 2);
    assert_string_equal(b.lines[0].tier, "leaf");
    assert_true(b.lines[0].count == 2 && b.lines[0].usd.typ == 230 && b.lines[0].watt == 16);
    assert_true(b.lines[1].count == 1 && b.lines[1].usd.typ == 300);
    assert_true(b.usd.typ == 530 && b.watt == 30 && b.n_watt_unknown == 0);
}

TEST(a_graph_without_prices_has_no_bill)
{
    KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
    struct topo_bill b;
    OK(read_wires(&w, "src,dst,bw_GBps,latency_ns\na,b,1,1\n", e));
    assert_false(topo_wires_priced(&w));
    assert_int_equal(w.n_classes, 0);
    FAILS(topo_bill_wires(&b, &w, "", e), ERR_RANGE, "has no prices; give its edges usd");
}

TEST(what_is_half_priced_is_an_error)
{
    static const struct {
        const char *csv, *text;
    } cases[] = {
        { HEAD "a,b,1,1,x,5,1\nb,c,1,1,x,,1\n", "edge 2: usd is missing, which other edges have" },
        { HEAD "a,b,1,1,x,5,\nb,c,1,1,x,5,1\n", "edge 1: watt is missing, which other edges have" },
        { HEAD "a,b,1,1,x,-5,1\n", "edge 1: usd is -5, expected a number >= 0" },
        { HEAD "a,b,1,1,x,5,-1\n", "edge 1: watt is -1, expected a number >= 0" },
        { HEAD "a,b,1,1,0.5,5,1\n", "column class holds fractions" },
        { HEAD "a,b,1,1,aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeee,5,1\n",
          "expected at most 47 bytes" },
    };
    struct topo_wires w;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        FAILS(read_wires(&w, cases[i].csv, e), i < 2 || i > 3 ? ERR_PARSE : ERR_RANGE, cases[i].text);
}

/* Classes, prices and powers of links and nodes pass through GraphML. */
TEST(graphml_carries_prices_and_classes)
{
    static const char head[] =
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
        "<key id=\"b\" for=\"edge\" attr.name=\"bw_GBps\" attr.type=\"double\"/>"
        "<key id=\"l\" for=\"edge\" attr.name=\"lat_ns\" attr.type=\"double\"/>"
        "<key id=\"c\" for=\"edge\" attr.name=\"class\" attr.type=\"string\"/>"
        "<key id=\"u\" for=\"node\" attr.name=\"usd\" attr.type=\"double\"/>"
        "<key id=\"w\" for=\"node\" attr.name=\"watt\" attr.type=\"double\"/>"
        "<key id=\"k\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>"
        "<graph id=\"G\" edgedefault=\"undirected\"><node id=\"hub\"><data key=\"k\">switch</data>"
        "<data key=\"u\">9000</data><data key=\"w\">500</data></node><node id=\"x\"/><node id=\"y\"/>"
        "<edge source=\"x\" target=\"hub\"><data key=\"b\">5</data><data key=\"l\">1</data>"
        "<data key=\"c\">down</data></edge>"
        "<edge source=\"y\" target=\"hub\"><data key=\"b\">5</data><data key=\"l\">1</data></edge>"
        "</graph></graphml>";
    struct text out = { 0 };
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    OK(read_as(&g, "net.graphml", head, strlen(head), e));
    for (int round = 0; round < 2; round++) {
        KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
        KEEP(struct topo_bill, b, topo_bill_free) = { 0 };
        OK(topo_wires_build(&w, g, e));
        assert_int_equal(w.n_classes, 1);
        assert_true(w.links[0].cls == 0 && w.links[1].cls == -1);
        assert_true(isnan(w.link_usd) && w.node_usd == 9000 && !w.unpriced_switches);
        OK(topo_bill_wires(&b, &w, "", e));
        assert_true(b.n_lines == 1 && b.usd.typ == 9000 && b.watt == 500);
        text_clear(&out);
        OK(topo_format_graphml(&out, g, e));
        topo_graph_free(g);
        OK(read_as(&g, "again.graphml", out.s, out.n, e));
    }
    text_free(&out);
}

TEST(switches_without_a_price_beside_those_with_one_are_an_error)
{
    struct topo_wires w;
    KEEP(struct topo_graph *, g, topo_graph_free_at);
    static const char xml[] =
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">"
        "<key id=\"b\" for=\"edge\" attr.name=\"bw_GBps\" attr.type=\"double\"/>"
        "<key id=\"l\" for=\"edge\" attr.name=\"lat_ns\" attr.type=\"double\"/>"
        "<key id=\"u\" for=\"node\" attr.name=\"usd\" attr.type=\"double\"/>"
        "<graph id=\"G\" edgedefault=\"undirected\"><node id=\"x\"><data key=\"u\">1</data></node>"
        "<node id=\"y\"/><edge source=\"x\" target=\"y\"><data key=\"b\">5</data><data key=\"l\">1</data>"
        "</edge></graph></graphml>";
    OK(read_as(&g, "net.graphml", xml, strlen(xml), e));
    FAILS(topo_wires_build(&w, g, e), ERR_PARSE, "node \"y\": usd is missing, which others of its kind have");
}

/* A ring of four: all vertices are alike; with a chord two pairs are; a colour sets one apart. */
TEST(orbits_are_what_automorphisms_leave)
{
    static const int32_t ring[] = { 0, 1, 1, 2, 2, 3, 3, 0, 0, 2 };
    int32_t orbit[4], colors[4] = { 0 };
    OK(topo_find_orbits(orbit, 4, colors, ring, 4, e));
    for (int v = 0; v < 4; v++)
        assert_int_equal(orbit[v], 0);
    OK(topo_find_orbits(orbit, 4, colors, ring, 5, e));
    assert_true(orbit[0] == 0 && orbit[2] == 0 && orbit[1] == 1 && orbit[3] == 1);
    colors[0] = 1;
    OK(topo_find_orbits(orbit, 4, colors, ring, 4, e));
    assert_true(orbit[0] == 0 && orbit[1] == 1 && orbit[3] == 1 && orbit[2] == 2);
}

/* ---- classes as dimensions ---- */

/* Classes of the file, innermost first, with so many members each; 0: what is left. */
static int bind_wires(struct topo_wires *w, struct topo_network *net, const char *csv, const char *classes,
                      const int32_t *sizes, int32_t *at, struct err *e)
{
    topo_network_defaults(net);
    for (const char *c = classes; *c; c += strcspn(c, " "), c += *c == ' ') {
        struct topo_dim *dim = &net->dims[net->n_dims];
        topo_dim_defaults(dim, net->n_dims);
        snprintf(dim->name, sizeof dim->name, "%.*s", (int)strcspn(c, " "), c);
        dim->size = sizes[net->n_dims++];
    }
    *at = -2;
    int rc = read_wires(w, csv, e);
    return rc ? rc : topo_wires_bind(w, net, at, e);
}

#define LEAVES                                                                                               \
    "a,switch0,10,1,leaf,100,8\nb,switch0,10,1,leaf,100,8\nc,switch1,10,1,leaf,100,8\n"                      \
    "d,switch1,30,1,leaf,150,9\n"

/* B is what one NPU has of all links of a class: of those that lead away from the NPUs one way, of those
 * between vertices as far from them both ways. */
TEST(classes_have_the_bandwidth_of_one_npu)
{
    static const struct {
        const char *csv, *classes;
        int32_t sizes[2], want_sizes[2];
        struct topo_wire_class want[2];
    } cases[] = {
        /* 4 leaves, 2 links up to the third box */
        { HEAD LEAVES "switch0,switch2,20,1,up,300,14\nswitch1,switch2,20,1,up,300,14\n",
          "leaf up",
          { 2, 2 },
          { 2, 2 },
          { { 4, 2, 15e9, 1, 1, 1, 450 / 15e9, 33 / 15e9, 2, 2 },
            { 2, 2, 10e9, 1, 2, 0, 600 / 10e9, 28 / 10e9, 0, 0 } } },
        /* the same in the other order, between two boxes both ways */
        { HEAD LEAVES "switch0,switch1,20,1,up,300,14\n",
          "up leaf",
          { 0, 0 },
          { 4, 1 },
          { { 1, 2, 10e9, 0.5, 1, 0, 300 / 10e9, 14 / 10e9, 0, 0 },
            { 4, 2, 15e9, 1, 1, 1, 450 / 15e9, 33 / 15e9, 2, 2 } } },
        /* a line of NPUs with one box in it; three links above one another */
        { HEAD "a,b,10,1,x,1,1\nb,c,20,1,x,1,1\nc,switch0,6,1,x,1,1\nswitch0,switch1,8,1,y,1,1\n"
               "switch1,switch2,4,1,y,1,1\n",
          "x y",
          { 3, 0 },
          { 3, 1 },
          { { 3, 20 / 22., 22e9, 1, 1 / 11., 1 / 11., 3 / 22e9, 3 / 22e9, 30 / 22., 6 / 22. },
            { 2, 2, 4e9, 1, 2, 0, 2 / 4e9, 2 / 4e9, 0, 0 } } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
        struct topo_network net;
        int32_t at;
        OK(bind_wires(&w, &net, cases[i].csv, cases[i].classes, cases[i].sizes, &at, e));
        assert_true(at == -1 && net.n_npus == w.n_npus);
        double all[2] = { 0 };
        for (int32_t d = 0; d < 2; d++) {
            const struct topo_wire_class *k = &w.kinds[d], *want = &cases[i].want[d];
            assert_int_equal(net.dims[d].size, cases[i].want_sizes[d]);
            assert_int_equal(k->n_links, want->n_links);
            assert_close(k->link_share, want->link_share, 1e-14);
            assert_close(k->file_Bps, want->file_Bps, 1e-14);
            assert_close(k->links_per, want->links_per, 1e-14);
            assert_near(k->ports_per, want->ports_per, 1e-14);
            assert_near(k->nics_per, want->nics_per, 1e-14);
            assert_close(k->usd_per_Bps, want->usd_per_Bps, 1e-14);
            assert_close(k->watt_per_Bps, want->watt_per_Bps, 1e-14);
            assert_near(k->npu_share, want->npu_share, 1e-14);
            assert_near(k->nic_share, want->nic_share, 1e-14);
        }
        for (int32_t l = 0; l < w.n_links; l++) {
            int32_t d = w.links[l].cls;
            assert_close(w.weight[l] * w.kinds[d].file_Bps, w.links[l].bw_Bps, 1e-14);
            all[d] += w.links[l].usd;
        }
        for (int32_t d = 0; d < 2; d++)
            assert_close(all[d], w.kinds[d].usd_per_Bps * w.kinds[d].file_Bps, 1e-14);
    }
}

/* Ports of 8 GB/s: NPUs with a link of 10 take 2, that with one of 30 takes 4; at 0.8 of the bandwidth 1
 * and 3. */
TEST(nics_of_a_graph_are_whole_for_each_npu)
{
    static const int32_t sizes[2] = { 0, 0 };
    KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
    struct topo_network net;
    int32_t at;
    int64_t n;
    OK(bind_wires(&w, &net, HEAD LEAVES "switch0,switch1,20,1,up,300,14\n", "leaf up", sizes, &at, e));
    OK(topo_wires_nics(&n, &w, 0, 15e9, 8e9, e));
    assert_int_equal(n, 3 * 2 + 4);
    OK(topo_wires_nics(&n, &w, 0, 12e9, 8e9, e));
    assert_int_equal(n, 3 * 1 + 3);
    OK(topo_wires_nics(&n, &w, 1, 15e9, 8e9, e));
    assert_int_equal(n, 0);
}

TEST(classes_and_sizes_that_do_not_fit_are_refused)
{
    static const struct {
        const char *csv, *classes;
        int32_t sizes[2], at;
        const char *text;
    } cases[] = {
        { HEAD LEAVES, "leaf up", { 0, 0 }, 1, "is \"up\", of which the graph has no links" },
        { HEAD LEAVES, "up", { 0, 0 }, -1, "has links of class \"leaf\", expected it among the classes" },
        { HEAD LEAVES "switch0,switch1,20,1,,300,14\n", "leaf", { 0, 0 }, -1, "edge 5 has no class" },
        { HEAD LEAVES, "leaf", { 3 }, -1, "has 4 NPUs, expected the product of the sizes, 3" },
        { HEAD LEAVES "switch0,switch1,1,1,up,1,1\n",
          "leaf up",
          { 0, 3 },
          -1,
          "the product of the sizes, 3" },
        { HEAD LEAVES "switch0,switch1,1,1,up,1,1\n",
          "leaf up",
          { 2, 0 },
          -1,
          "the product of the sizes, 2" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct topo_wires, w, topo_wires_free) = { 0 };
        struct topo_network net;
        int32_t at;
        FAILS(bind_wires(&w, &net, cases[i].csv, cases[i].classes, cases[i].sizes, &at, e), ERR_RANGE,
              cases[i].text);
        assert_int_equal(at, cases[i].at);
    }
}
