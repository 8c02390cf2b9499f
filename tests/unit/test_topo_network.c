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
        { "full:2@1 torus:4x4@1", true, true },
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
        { "dgx-h100-pod", "switch:8@450 switch:32@50", "pod", "InterRail" },
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
