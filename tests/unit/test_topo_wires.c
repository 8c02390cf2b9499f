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
