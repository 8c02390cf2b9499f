/* Networks as files: every key in SI units, faults at their place, shipped files as published. */
#include "tests/support.h"
#include "topo/network.h"

/* Reads @p text as the file net.yaml; the network of its root. */
static int read_text(struct topo_network *net, const char *text, struct err *e)
{
    KEEP(struct yaml_doc, doc, yaml_free) = { 0 };
    int rc = yaml_read_text(&doc, "net.yaml", text, strlen(text), e);
    if (!rc)
        rc = topo_read_network(net, &doc, doc.root, e);
    return rc;
}

TEST(map_fills_every_field_in_SI_units)
{
    struct topo_network net;
    OK(read_text(&net,
                 "name: pod-4k\n"
                 "npu: { peak_TFLOPS: 312, mem_GB: 80, mem_GBps: 2039, usd: 12000, watt: 400 }\n"
                 "parts: prices.yaml\n"
                 "dims:\n"
                 "  - { name: chiplet, shape: ring, size: 4, latency_ns: 25, tier: InterChiplet }\n"
                 "  - { shape: switch, size: 32, bw_GBps: 50, min_GBps: 10, max_GBps: 100,\n"
                 "      efficiency: 0.85 }\n",
                 e));
    assert_string_equal(net.name, "pod-4k");
    assert_close(net.npu.peak_flops, 312e12, 1e-15);
    assert_close(net.npu.mem_B, 80e9, 1e-15);
    assert_close(net.npu.mem_Bps, 2039e9, 1e-15);
    assert_true(net.npu.usd == 12000 && net.npu.watt == 400 && net.parts >= 0 && net.n_dims == 2);
    assert_true(net.n_npus == 128);

    const struct topo_dim *chiplet = &net.dims[0], *pod = &net.dims[1];
    assert_string_equal(chiplet->name, "chiplet");
    assert_string_equal(chiplet->tier, "InterChiplet");
    assert_true(chiplet->shape == TOPO_RING && chiplet->size == 4);
    assert_close(chiplet->lat_s, 25e-9, 1e-15);
    assert_true(isnan(chiplet->bw_Bps) && chiplet->min_Bps == 0 && isinf(chiplet->max_Bps));
    assert_true(chiplet->efficiency == 1);
    assert_string_equal(pod->name, "dim2");
    assert_string_equal(pod->tier, "");
    assert_int_equal(pod->shape, TOPO_SWITCH);
    assert_true(pod->bw_Bps == 50e9 && pod->min_Bps == 10e9 && pod->max_Bps == 100e9);
    assert_true(pod->efficiency == 0.85 && pod->lat_s == 0);
    assert_int_equal(topo_find_dim(&net, "chiplet"), 0);
    assert_int_equal(topo_find_dim(&net, "dim2"), 1);
    assert_int_equal(topo_find_dim(&net, "dim1"), -1);
}

TEST(what_is_not_given_is_unknown)
{
    struct topo_network net;
    OK(read_text(&net, "dims: [{ shape: line, size: 2 }]", e));
    assert_string_equal(net.name, "");
    assert_int_equal(net.parts, -1);
    assert_true(isnan(net.npu.peak_flops) && isnan(net.npu.mem_B) && isnan(net.npu.mem_Bps));
    assert_true(isnan(net.npu.usd) && isnan(net.npu.watt));
}

/* 47.123 * 1e9 is one ulp away from 47123000000; both readers must give the same design. */
TEST(word_and_map_give_the_same_bandwidth)
{
    static const char *const numbers[] = { "50", "0.7", "47.123", "133.333", "1e-3", "0.30000000000000004" };
    for (size_t i = 0; i < COUNT_OF(numbers); i++) {
        struct topo_network by_word, by_map;
        char text[128];
        snprintf(text, sizeof text, "ring:4@%s", numbers[i]);
        OK(read_text(&by_word, text, e));
        snprintf(text, sizeof text, "dims: [{ shape: ring, size: 4, bw_GBps: %s, max_GBps: %s }]", numbers[i],
                 numbers[i]);
        OK(read_text(&by_map, text, e));
        assert_true(by_map.dims[0].bw_Bps == by_word.dims[0].bw_Bps);
    }
}

TEST(fault_is_named_with_its_place)
{
#define DIM "dims:\n  - { shape: ring, size: 4, "
    static const struct {
        const char *text;
        enum err_code code;
        const char *place, *message;
    } cases[] = {
        { "ring:4 ringg:8", ERR_PARSE, "net.yaml:1:1", "col 8: is \"ringg:8\"" },
        { "ring:1", ERR_RANGE, "net.yaml:1:1", "col 6: size is 1" },
        { "pod.yaml", ERR_PARSE, "net.yaml:1:1",
          "is \"pod.yaml\", expected a map or a word like \"ring:4@250 switch:8\"" },
        { "[1, 2]", ERR_PARSE, "net.yaml:1:1", "" },
        { "name: x", ERR_PARSE, "net.yaml:1", "dims" },
        { "dims: []", ERR_RANGE, "net.yaml:1", "dims has 0 dimensions, expected 1 to 8" },
        { "dims: 4", ERR_PARSE, "net.yaml:1", "dims" },
        { "dims: [4]", ERR_PARSE, "net.yaml:1", "dims[0]" },
        { "dims: [{ shape: ring, size: 1 }]", ERR_RANGE, "net.yaml:1", "dims[0].size" },
        { "dims: [{ shape: ring, size: 16777217 }]", ERR_RANGE, "net.yaml:1", "dims[0].size" },
        { "dims: [{ shape: tarus, size: 4 }]", ERR_PARSE, "net.yaml:1", "dims[0].shape" },
        { "dims: [{ size: 4 }]", ERR_PARSE, "net.yaml:1", "shape" },
        { "dims: [{ shape: ring }]", ERR_PARSE, "net.yaml:1", "size" },
        { DIM "bandwidth: 4 }", ERR_PARSE, "net.yaml:2", "bandwidth" },
        { DIM "bw_GBps: 0 }", ERR_RANGE, "net.yaml:2", "dims[0].bw_GBps" },
        { DIM "bw_GBps: 2e6 }", ERR_RANGE, "net.yaml:2", "dims[0].bw_GBps" },
        { DIM "efficiency: 1.01 }", ERR_RANGE, "net.yaml:2", "dims[0].efficiency" },
        { DIM "latency_ns: -1 }", ERR_RANGE, "net.yaml:2", "dims[0].latency_ns" },
        { DIM "min_GBps: 5, max_GBps: 4 }", ERR_RANGE, "net.yaml:2",
          "dims[0].min_GBps is 5, above max_GBps 4 of the same dimension" },
        { DIM "bw_GBps: 3, min_GBps: 4 }", ERR_RANGE, "net.yaml:2",
          "dims[0].bw_GBps is 3, expected min_GBps 4 to max_GBps inf" },
        { DIM "bw_GBps: 9, max_GBps: 8 }", ERR_RANGE, "net.yaml:2",
          "dims[0].bw_GBps is 9, expected min_GBps 0 to max_GBps 8" },
        { DIM "name: 4x }", ERR_PARSE, "net.yaml:2",
          "dims[0].name is \"4x\", expected a letter or _ and then" },
        { DIM "name: \"a b\" }", ERR_PARSE, "net.yaml:2", "is \"a b\", expected a letter" },
        { DIM "name: \"\" }", ERR_RANGE, "net.yaml:2", "dims[0].name is 0 bytes long, expected 1 to 47" },
        { DIM "name: a23456789012345678901234567890123456789012345678 }", ERR_RANGE, "net.yaml:2",
          "is 48 bytes long, expected 1 to 47" },
        { DIM "tier: a23456789012345678901234567890123456789012345678 }", ERR_RANGE, "net.yaml:2",
          "dims[0].tier is 48 bytes long" },
        { DIM "name: total }", ERR_RANGE, "net.yaml:2", "is \"total\", which constraints use" },
        { DIM "name: usd }", ERR_RANGE, "net.yaml:2", "is \"usd\", which constraints use" },
        { DIM "name: nic_usd }", ERR_RANGE, "net.yaml:2", "is \"nic_usd\", which constraints use" },
        { DIM "name: a }\n  - { shape: full, size: 3, name: a }", ERR_RANGE, "net.yaml:3",
          "dims[1].name is \"a\", which is already the name of dimension 1" },
        { DIM "name: dim2 }\n  - { shape: full, size: 3 }", ERR_RANGE, "net.yaml:3",
          "is \"dim2\", which is already the name of dimension 1" },
        { "dims:\n  - { shape: ring, size: 65536 }\n  - { shape: ring, size: 32768 }", ERR_RANGE,
          "net.yaml:3", "dims[1].size is 32768, which makes 2147483648 NPUs, expected at most 1073741824" },
        { "npu: { peak_TFLOPS: 0 }\ndims: [{ shape: ring, size: 4 }]", ERR_RANGE, "net.yaml:1",
          "npu.peak_TFLOPS" },
        { "npu: 4\ndims: [{ shape: ring, size: 4 }]", ERR_PARSE, "net.yaml:1", "npu" },
        { "name: a2345678901234567890123456789012345678901234567890123456789012345\ndims: [{ shape: ring, "
          "size: 4 }]",
          ERR_RANGE, "net.yaml:1", "name is 65 bytes long, expected 1 to 63" },
    };
#undef DIM
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        FAILS(read_text(&net, cases[i].text, e), cases[i].code, cases[i].message);
        assert_has(e->msg, cases[i].place);
    }
}

#define LINE         "latency_ns: 1, efficiency: 1"
#define TREE(keys)   "dims: [{ shape: fat-tree, sizes: [4, 2], " keys " }]"
#define SWITCH(keys) "dims: [{ shape: switch, size: 8, " keys " }]"

/* One number is all axes; of a list each axis has its own, rows of boards that of the boards' rows. */
TEST(links_of_each_axis_have_rates_of_their_own)
{
    CASES(const char *entry; double link_GBps[4]; int n) = {
        { "torus, sizes: [4, 4, 8], link_GBps: 50", { 50, 50, 50 }, 3 },
        { "torus, sizes: [4, 4, 8], link_GBps: [50, 12.5, 100]", { 50, 12.5, 100 }, 3 },
        { "torus, sizes: [2, 4], link_GBps: [0.1, 0.3]", { 0.1, 0.3 }, 2 },
        { "torus, sizes: [4, 8], twist: true, link_GBps: [10, 30]", { 10, 30 }, 2 },
        { "hyperx, sizes: [4, 3], link_GBps: [20, 70]", { 20, 70 }, 2 },
        { "hammingmesh, sizes: [2, 3, 4, 5], link_GBps: [20, 70]", { 20, 70, 20, 70 }, 4 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        char text[200];
        double all = 0;
        snprintf(text, sizeof text, "dims: [{ shape: %s }]", cases[i].entry);
        OK(read_text(&net, text, e));
        assert_int_equal(net.n_dims, cases[i].n);
        for (int k = 0; k < cases[i].n; k++) {
            assert_close(topo_link_Bps(net.dims, k, net.dims[k].bw_Bps), cases[i].link_GBps[k] * 1e9, 1e-14);
            all += topo_in_total(&net.dims[k]) ? net.dims[k].bw_Bps : 0;
        }
        assert_close(all, topo_all_links(net.dims) * net.dims[0].bw_Bps, 1e-14);
    }
    static const struct {
        const char *entry, *message;
    } bad[] = {
        { "torus, sizes: [4, 4, 8], link_GBps: [50, 12]",
          "net.yaml:1:53: dims[0].link_GBps has 2 numbers, expected 3, one of each axis, or one of all" },
        { "switch, size: 4, link_GBps: [50, 12]", "has 2 numbers, expected 1" },
        { "torus, sizes: [4, 8], bw_GBps: [4, 2]", "dims[0].bw_GBps is a list, expected one number, of all" },
        { "torus, sizes: [4, 8], link_GBps: []", "link_GBps is empty, expected at least one number" },
        { "torus, sizes: [4, 8], link_GBps: [1, -1]", "link_GBps[1] is -1, expected" },
        { "torus, sizes: [4, 8], bw_GBps: 4, link_GBps: [1, 2]", "link_GBps is given beside bw_GBps" },
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct topo_network net;
        char text[200];
        snprintf(text, sizeof text, "dims: [{ shape: %s }]", bad[i].entry);
        struct err why = { 0 };
        assert_true(read_text(&net, text, &why) != 0);
        assert_has(why.msg, bad[i].message);
    }
}

/* NULL: that may be written. */
TEST(keys_of_shapes_are_taken_up_to_their_limits)
{
    CASES(const char *text, *message) = {
        { TREE("taper: 65536"), NULL },
        { TREE("taper: 65536.5"), "net.yaml:1:49: dims[0].taper is 65536.5, expected 1 to 65536, or free" },
        { TREE("taper: 1"), NULL },
        { TREE("taper: 0.5"), "net.yaml:1:49: dims[0].taper is 0.5, expected 1 to 65536, or free" },
        { TREE("taper: free"), NULL },
        { TREE("taper: fre"), "net.yaml:1:49: dims[0].taper is fre, expected a number (2 for 2:1), or free" },
        { TREE("taper: []"), "net.yaml:1:49: dims[0].taper is empty, expected at least one number" },
        { TREE("taper: [2, 2]"),
          "net.yaml:1:8: dims[0] has more entries in taper than 1, one for each level above the leaf" },
        { TREE("taper: [2, 2, 2, 2]"),
          "net.yaml:1:49: dims[0].taper has more than 3 entries, expected one per level above the leaf" },
        { TREE("taper: [[2]]"),
          "net.yaml:1:50: dims[0].taper[0] is nested, expected a number (2 for 2:1), or free" },
        { TREE("up: []"), "net.yaml:1:46: dims[0].up has 0 entries, expected 1 to 4" },
        { TREE("up: [65536]"), NULL },
        { TREE("up: [65537]"), "net.yaml:1:47: dims[0].up[0] is 65537, expected 1 to 65536" },
        { TREE("up: [0]"), "net.yaml:1:47: dims[0].up[0] is 0, expected 1 to 65536" },
        { TREE("up: [1, 1]"),
          "net.yaml:1:8: dims[0] has more entries in up than 1, one for each level above the leaf" },
        { TREE("hosts: 4"), "net.yaml:1:42: dims[0].hosts is given on shape fat-tree, expected dragonfly or "
                            "dragonfly+ or slim-fly or hyperx" },
        { TREE("spine: shared"), "net.yaml:1:8: dims[0] has a spine shared across one rail, expected the "
                                 "dimensions of a node before it" },
        { TREE("spine: other"), "net.yaml:1:49: dims[0].spine is other, expected one of own, shared" },
        { TREE("forward: true"), "net.yaml:1:42: dims[0].forward is given without spine: shared, where all "
                                 "that changes rails is forwarded" },
        { TREE("planes: 1"), NULL },
        { TREE("planes: 1024"), NULL },
        { TREE("planes: 1025"), "net.yaml:1:50: dims[0].planes is 1025, expected 1 to 1024" },
        { TREE("planes: 0"), "net.yaml:1:50: dims[0].planes is 0, expected 1 to 1024" },
        { TREE("algorithm: in-switch"),
          "net.yaml:1:53: dims[0].algorithm is in-switch on a dimension whose switches do not reduce; give "
          "in_switch" },
        { TREE("algorithm: bruck"), NULL },
        { TREE("algorithm: double-binary-tree"),
          "net.yaml:1:53: dims[0].algorithm is double-binary-tree on shape fat-tree, expected default, auto, "
          "ring, direct, halving-doubling, bruck, in-switch, halving-farthest" },
        { TREE("in_switch: sharp"), NULL },
        { TREE("filled: 7"), NULL },
        { TREE("filled: 4"),
          "net.yaml:1:8: dims[0] has 4 members that are there, expected 5 to 8 of its sizes: other sizes" },
        { TREE("filled: 7, in_switch: sharp"),
          "dims[0] has in_switch and filled, whose loads are not known" },
        { SWITCH("filled: 7"), "dims[0].filled is given on shape switch, expected fat-tree" },
        { TREE("in_switch: nvls"),
          "net.yaml:1:53: dims[0].in_switch is nvls on shape fat-tree, expected sharp" },
        { TREE("curves: [{ collective: all-reduce, " LINE " }]"),
          "net.yaml:1:42: dims[0].curves is given on shape fat-tree, expected ring, full, switch or line" },
        { TREE("links: 3"),
          "net.yaml:1:42: dims[0].links is given on shape fat-tree, expected dragonfly or dragonfly+" },
        { TREE("radix: 8"), NULL },
        { TREE("radix: 7"), "net.yaml:1:8: dims[0] has boxes of 4 links down and 4 up in tier 1, expected at "
                            "most the 7 of radix: fewer members, or more taper" },
        { TREE("radix: 6, taper: 2"), NULL },
        { TREE("radix: 5, taper: 2"), "net.yaml:1:8: dims[0] has boxes of 4 links down and 2 up in tier 1, "
                                      "expected at most the 5 of radix: fewer members, or more taper" },
        { SWITCH("in_switch_min: 3"),
          "net.yaml:1:34: dims[0].in_switch_min is given where switches do not reduce; give in_switch" },
        { SWITCH("in_switch: sharp, in_switch_min: 2"), NULL },
        { SWITCH("in_switch: sharp, in_switch_min: 1"),
          "net.yaml:1:67: dims[0].in_switch_min is 1, expected 2 to 16777216" },
        { SWITCH("algorithm: in-switch"), "net.yaml:1:45: dims[0].algorithm is in-switch on a dimension "
                                          "whose switches do not reduce; give in_switch" },
        { SWITCH("algorithm: in-switch, in_switch: nvls"), NULL },
        { SWITCH("algorithm: mixed-orders"),
          "net.yaml:1:45: dims[0].algorithm is mixed-orders on shape switch, expected a fabric that has it" },
        { SWITCH("algorithm: halving-farthest"), "net.yaml:1:45: dims[0].algorithm is halving-farthest on "
                                                 "shape switch, expected a fabric that has it" },
        { SWITCH("algorithm: double-binary-tree"), NULL },
        { SWITCH("regimes: [{ " LINE ", up_to_KB: 4 }, { " LINE ", up_to_KB: 4 }]"),
          "net.yaml:1:133: dims[0].regimes[1].up_to_KB is 4, which is the limit of another regime; choose "
          "another" },
        { SWITCH("regimes: [{ " LINE ", up_to_KB: 4 }, { " LINE ", up_to_KB: 5 }]"), NULL },
        { SWITCH("regimes: [{ " LINE " }, { " LINE " }]"), NULL },
        { SWITCH("curves: [{ collective: all-reduce, " LINE " }]"), NULL },
        { SWITCH("curves: [{ collective: all-reduce, " LINE ", up_to_KB: 4 }]"),
          "net.yaml:1:43: dims[0].curves[0] is one of 0 rows of its collective and members without up_to_KB, "
          "expected one" },
        { SWITCH("curves: [{ collective: all-reduce, " LINE " }, { collective: all-reduce, " LINE " }]"),
          "net.yaml:1:43: dims[0].curves[0] is one of 2 rows of its collective and members without up_to_KB, "
          "expected one" },
        { SWITCH("curves: [{ collective: all-reduce, " LINE " }, { collective: all-gather, " LINE " }]"),
          NULL },
        { SWITCH("curves: [{ collective: all-reduce, " LINE ", up_to_KB: 4 }, { collective: all-reduce, " LINE
                 ", up_to_KB: 4 }, { collective: all-reduce, " LINE " }]"),
          "net.yaml:1:180: dims[0].curves[1].up_to_KB is 4, which is the limit of another row; choose "
          "another" },
        { SWITCH("curves: [{ collective: all-reduce, " LINE ", up_to_KB: 5 }, { collective: all-reduce, " LINE
                 ", up_to_KB: 4 }, { collective: all-reduce, " LINE " }]"),
          NULL },
        { SWITCH("curves: [{ collective: all-reduce, " LINE " }, { collective: all-reduce, members: 4, " LINE
                 ", up_to_KB: 4 }]"),
          "net.yaml:1:101: dims[0].curves[1] is one of 0 rows of its collective and members without "
          "up_to_KB, expected one" },
        { SWITCH("detour: true"),
          "net.yaml:1:34: dims[0].detour is given on shape switch, expected full or hyperx" },
        { SWITCH("sizes: [2, 2]"),
          "net.yaml:1:34: dims[0].sizes is given on shape switch, expected fat-tree or dragonfly or torus or "
          "dragonfly+ or slim-fly or hyperx or hammingmesh" },
        { SWITCH("taper: 2"), "net.yaml:1:34: dims[0].taper is given on shape switch, expected fat-tree" },
        { SWITCH("planes: 2"), NULL },
        { SWITCH("radix: 8"),
          "net.yaml:1:34: dims[0].radix is given on shape switch, expected fat-tree or hammingmesh" },
        { SWITCH("nics: 2"), NULL },
        { "classes: [{ name: a }]",
          "net.yaml:1:1: document has no dims (list of 1 to 8 dimensions, innermost first, see dims)" },
        { "graph: x.csv", "net.yaml:1:1: graph is given, which only studies of designs take" },
        { "graph: x.csv\ndims: [{ shape: ring, size: 3 }]",
          "net.yaml:2:1: dims is given together with graph; give classes instead" },
        { "graph: x.csv\nclasses: [{ name: a }, { name: a }]",
          "net.yaml:2:32: classes[1].name is \"a\", which is already the name of class 1; choose another" },
        { "graph: x.csv\nclasses: [{ name: a }, { name: b }]",
          "net.yaml:1:1: graph is given, which only studies of designs take" },
        { "dims: [{ shape: ring, size: 3 }]\nclasses: [{ name: a }]",
          "net.yaml:2:1: classes is given without graph; give the file of links" },
        { "name: x",
          "net.yaml:1:1: document has no dims (list of 1 to 8 dimensions, innermost first, see dims)" },
        { "dims: [{ shape: fat-tree, size: 8, sizes: [4, 2] }]",
          "net.yaml:1:27: dims[0].size is given on shape fat-tree, expected sizes: members of each level, or "
          "radix beside it" },
        { "dims: [{ shape: fat-tree, size: 8 }]",
          "net.yaml:1:27: dims[0].size is given on shape fat-tree, expected sizes: members of each level, or "
          "radix beside it" },
        { "dims: [{ shape: fat-tree, size: 64, radix: 16 }]", NULL },
        { "dims: [{ shape: fat-tree, size: 4, radix: 8 }]",
          "net.yaml:1:8: dims[0] has 4 members, which one box of 8 ports joins; give shape: switch" },
        { "dims: [{ shape: fat-tree, size: 22, radix: 8 }]",
          "net.yaml:1:8: dims[0] has 22 members, which boxes of 8 ports, at most 4 down, cannot share "
          "evenly; give a size such as 20 or 24, or sizes" },
        { "dims: [{ shape: fat-tree, size: 512, radix: 8 }]", NULL },
        { "dims: [{ shape: fat-tree, size: 1024, radix: 8 }]",
          "net.yaml:1:8: dims[0] has 1024 members, expected fewer: boxes of 8 ports need more than 4 "
          "levels" },
        { "dims: [{ shape: fat-tree, size: 12, radix: 2 }]",
          "net.yaml:1:8: dims[0] has boxes of 2 ports, expected more: they cannot join 2 below and carry "
          "links up at taper 1" },
        { "dims: [{ shape: dragonfly, hosts: 2, routers: 4, groups: 9, links: 2 }]", NULL },
        { "dims: [{ shape: dragonfly, sizes: [2, 4, 9], routers: 4, links: 2 }]",
          "net.yaml:1:8: dims[0] has sizes and counts of hosts or others; give one or the other" },
        { "dims: [{ shape: slim-fly, hosts: 3, q: 5 }]", NULL },
        { "dims: [{ shape: slim-fly, hosts: 3, q: 6 }]",
          "net.yaml:1:8: dims[0] has 72 routers, expected 2 q^2 with q = 4 w - 1, 4 w or 4 w + 1 (q 7: 98)" },
        { "dims: [{ shape: slim-fly, hosts: 3 }]",
          "net.yaml:1:8: dims[0] is a slim-fly; give 2 sizes, NPUs of a router and routers, or hosts and q" },
        { "dims: [{ shape: slim-fly, q: 5 }]",
          "net.yaml:1:8: dims[0] is a slim-fly; give 2 sizes, NPUs of a router and routers, or hosts and q" },
        { "dims: [{ shape: hyperx, sizes: [3, 3], hosts: 2, detour: true }]",
          "net.yaml:1:8: dims[0] has detour and hosts, expected no hosts: detours pass other NPUs" },
        { "dims: [{ shape: hyperx, sizes: [3, 3], detour: true }]", NULL },
        { "dims: [{ shape: hammingmesh, sizes: [2, 2, 4, 3], radix: 7 }]",
          "net.yaml:1:8: dims[0] has switches of 8 ports, two for each of a line's boards, expected at most "
          "the 7 of radix: fewer boards; without radix a bill makes trees of them" },
        { "dims: [{ shape: hammingmesh, sizes: [2, 2, 4, 3], radix: 8 }]", NULL },
        { "dims: [{ shape: hammingmesh, sizes: [2, 2, 3, 4], radix: 7 }]",
          "net.yaml:1:8: dims[0] has switches of 8 ports, two for each of a line's boards, expected at most "
          "the 7 of radix: fewer boards; without radix a bill makes trees of them" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        struct err why = { 0 };
        int rc = read_text(&net, cases[i].text, &why);
        if (cases[i].message)
            assert_fails(rc, &why, why.code, cases[i].message);
        else
            assert_ok(rc, &why);
    }
}

/* What keys say of a fabric is what a word says of it. */
TEST(keys_of_a_fabric_are_those_of_its_word)
{
    CASES(const char *keys, *word) = {
        { "shape: fat-tree, sizes: [4, 2]", "fat-tree:4x2" },
        { "shape: fat-tree, sizes: [4, 2], taper: 1.5", "fat-tree:4x2/1.5" },
        { "shape: fat-tree, sizes: [4, 2, 3], taper: [2, 1]", "fat-tree:4x2x3/2/1" },
        { "shape: fat-tree, sizes: [4, 2], taper: free", "fat-tree:4x2/free" },
        { "shape: fat-tree, sizes: [4, 2], up: [3], planes: 2", "fat-tree:4x2^3*2" },
        { "shape: fat-tree, size: 64, radix: 16", "fat-tree:8x8" },
        { "shape: torus, sizes: [4, 8], twist: true", "torus:4x8+twist" },
        { "shape: torus, sizes: [4, 4, 8], ocs: true", "torus:4x4x8+ocs" },
        { "shape: dragonfly, hosts: 2, routers: 4, groups: 9, links: 2", "dragonfly:2x4x9^2+adaptive" },
        { "shape: dragonfly+, hosts: 2, leaves: 4, groups: 5, spines: 3, links: 2",
          "dragonfly+:2x4x5^3^2+adaptive" },
        { "shape: slim-fly, hosts: 3, q: 5", "slim-fly:3x50+adaptive" },
        { "shape: hyperx, sizes: [4, 3], hosts: 2", "hyperx:4x3^2+adaptive" },
        { "shape: hyperx, sizes: [4, 3], detour: true", "hyperx:4x3+minimal" },
        { "shape: dragonfly, sizes: [2, 4, 9], links: 2, routing: valiant", "dragonfly:2x4x9^2+valiant" },
        { "shape: hammingmesh, sizes: [2, 2, 4, 3], planes: 4", "hammingmesh:2x2x4x3*4" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        char text[160], word[TOPO_SPEC];
        snprintf(text, sizeof text, "dims: [{ %s }]", cases[i].keys);
        OK(read_text(&net, text, e));
        assert_string_equal(topo_format_spec(word, &net), cases[i].word);
    }
}

TEST(nine_dimensions_are_refused)
{
    char text[512] = "dims:\n";
    struct topo_network net;
    for (int d = 0; d < 9; d++)
        strcat(text, "  - { shape: ring, size: 2 }\n");
    FAILS(read_text(&net, text, e), ERR_RANGE, "dims has 9 dimensions, expected 1 to 8");
}

TEST(what_a_network_has_is_asked_of_all_its_dimensions)
{
    CASES(const char *word; bool bandwidths, fabric) = {
        { "ring:4@1", true, false },
        { "ring:4@1 switch:2@3", true, false },
        { "ring:4 switch:2@3", false, false },
        { "ring:4@1 switch:2", false, false },
        { "full:2@1 torus:4x4@2", true, true },
        { "fat-tree:4x3*4@50 ring:4@3", true, true },
        { "ring:4@1 torus:2x4", false, true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        OK(topo_parse_spec(&net, cases[i].word, e));
        assert_int_equal(topo_has_bandwidths(&net), cases[i].bandwidths);
        assert_int_equal(topo_has_fabric(&net), cases[i].fabric);
    }
}

TEST(halving_needs_a_power_of_two)
{
    struct topo_dim dim;
    topo_dim_defaults(&dim, 0);
    dim.shape = TOPO_SWITCH;
    for (dim.size = 2; dim.size <= 33; dim.size++) {
        bool power = dim.size == 2 || dim.size == 4 || dim.size == 8 || dim.size == 16 || dim.size == 32;
        if (power)
            OK(topo_check_algorithm(&dim, TOPO_ALGORITHM_HALVING, e));
        else {
            FAILS(topo_check_algorithm(&dim, TOPO_ALGORITHM_HALVING, e), ERR_RANGE,
                  "expected a power of two");
            FAILS(topo_check_algorithm(&dim, TOPO_ALGORITHM_FAR, e), ERR_RANGE, "expected a power of two");
        }
    }
}

TEST(shapes_have_their_names)
{
    assert_string_equal(topo_shape_name(TOPO_RING), "ring");
    assert_string_equal(topo_shape_name(TOPO_FULL), "full");
    assert_string_equal(topo_shape_name(TOPO_SWITCH), "switch");
    assert_string_equal(topo_shape_name(TOPO_LINE), "line");
}

/* Sizes as published; see the sources in the files. */
TEST(shipped_networks_have_their_published_size)
{
    static const struct {
        const char *file, *word;
        const char *outer_name, *outer_tier;
    } cases[] = {
        { "libra-2d-4096", "ring:16 switch:256", "pod", "InterPod" },
        { "libra-3d-4096", "ring:16 full:8 switch:32", "pod", "InterPod" },
        { "libra-4d-4096", "ring:4 full:8 ring:4 switch:32", "pod", "InterPod" },
        { "v1-1024-2d", "ring:8 switch:128", "pod", "InterPod" },
        { "v1-1024-3d", "ring:8 full:8 switch:16", "pod", "InterPod" },
        { "v1-1024-4d", "ring:2 full:8 ring:8 switch:8", "pod", "InterPod" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct topo_network net;
        KEEP(struct yaml_doc, doc, yaml_free) = { 0 };
        char path[128], word[TOPO_SPEC];
        snprintf(path, sizeof path, "configs/networks/%s.yaml", cases[i].file);
        OK(yaml_read_file(&doc, path, e));
        OK(topo_read_network(&net, &doc, doc.root, e));
        assert_string_equal(topo_format_spec(word, &net), cases[i].word);
        assert_string_equal(net.name, cases[i].file);
        assert_string_equal(net.dims[net.n_dims - 1].name, cases[i].outer_name);
        assert_string_equal(net.dims[net.n_dims - 1].tier, cases[i].outer_tier);
        assert_true(net.parts >= 0);
    }
}
