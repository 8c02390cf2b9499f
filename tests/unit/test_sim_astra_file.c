#include "tests/support.h"

#include "sim/astra/astra_file.h"

#define THREE_DIMS                                                                                           \
    "topology: [ Ring, FullyConnected, Switch ]\n"                                                           \
    "npus_count: [ 16, 8, 32 ]\n"                                                                            \
    "bandwidth: [ 200.0, 100.0, 50.0 ]  # GB/s\n"                                                            \
    "latency: [ 50, 500, 2000 ]\n"
#define ONE_DIM(shape, n)                                                                                    \
    "topology: [ " shape " ]\nnpus_count: [ " #n " ]\nbandwidth: [ 50 ]\nlatency: [ 500 ]\n"
#define LISTS "\"all-reduce-implementation\": [\"ring\", \"direct\", \"halvingDoubling\"]"

static int read_network(struct sim_astra_file *f, const char *text, struct err *e)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    *f = (struct sim_astra_file){ 0 };
    int rc = yaml_read_text(&doc, "n.yml", text, strlen(text), e);
    if (!rc)
        rc = sim_astra_read_network(f, &doc, e);
    return rc;
}

static int read_both(struct sim_astra_file *f, const char *network, const char *system, struct err *e)
{
    struct yaml_doc doc;
    int rc = read_network(f, network, e);
    if (rc)
        return rc;
    rc = yaml_read_text(&doc, "s.json", system, strlen(system), e);
    if (!rc)
        rc = sim_astra_read_system(f, &doc, e);
    yaml_free(&doc);
    return rc;
}

/* What both files say, that is released where the block ends. */
#define BOTH(v, ...)                                                                                         \
    KEEP(struct sim_astra_file, v, sim_astra_file_free);                                                     \
    OK(read_both(&v, __VA_ARGS__, e))

/* The study that @p f is, as weft reads it. */
static void read_study(struct topo_network *net, struct sim_rules *rules, const struct sim_astra_file *f)
{
    KEEP(struct text, study, text_free) = { 0 };
    KEEP(struct yaml_doc, doc, yaml_free);
    struct err e = { 0 };
    sim_astra_format_study(&study, f);
    assert_ok(yaml_read_text(&doc, "study", text_str(&study), study.n, &e), &e);
    assert_ok(topo_read_network(net, &doc, yaml_get(&doc, doc.root, "network"), &e), &e);
    sim_rules_default(rules);
    yaml_id simulation = yaml_get(&doc, doc.root, "simulation");
    if (simulation >= 0)
        assert_ok(sim_rules_read(rules, net, &doc, simulation, &e), &e);
}

TEST(a_link_becomes_what_an_npu_sends)
{
    CASES(const char *text; double links, latencies) = {
        { ONE_DIM("Ring", 8), 2, 1 },           { ONE_DIM("Ring", 2), 1, 1 },
        { ONE_DIM("FullyConnected", 8), 7, 1 }, { ONE_DIM("Switch", 8), 1, 2 },
        { ONE_DIM("Switch", 2), 1, 2 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct sim_astra_file, f, sim_astra_file_free);
        struct topo_network net;
        struct sim_rules rules;
        OK(read_network(&f, cases[i].text, e));
        read_study(&net, &rules, &f);
        assert_close(net.dims[0].bw_Bps, cases[i].links * 50 * 1073741824.0, 1e-15);
        assert_close(net.dims[0].lat_s, cases[i].latencies * 500e-9, 1e-15);
        assert_int_equal(net.dims[0].algorithm, TOPO_ALGORITHM_SHAPE);
    }
}

TEST(a_system_becomes_a_simulation)
{
    struct topo_network net;
    struct sim_rules rules;
    BOTH(f, THREE_DIMS,
         "{\n\t\"scheduling-policy\": \"LIFO\",\n\t\"endpoint-delay\":10,\n" LISTS
         ",\"preferred-dataset-splits\": 64, \"active-chunks-per-dimension\": 2,\n"
         "\"collective-optimization\": \"localBWAware\", \"local-mem-bw\": 1600}");
    assert_string_equal(text_str(&f.notes), "");
    read_study(&net, &rules, &f);
    assert_true(net.n_npus == 4096 && net.dims[0].algorithm == TOPO_ALGORITHM_RING);
    assert_int_equal(net.dims[1].algorithm, TOPO_ALGORITHM_DIRECT);
    assert_int_equal(net.dims[2].algorithm, TOPO_ALGORITHM_HALVING);
    assert_close(net.npu.mem_Bps, 1.6e12, 1e-15);
    assert_close(rules.stage.mem_Bps, 1.6e12, 1e-15);
    assert_close(rules.stage.endpoint_s, 1e-8, 1e-15);
    assert_true(rules.stage.chunks == 64 && rules.active == 2 && rules.queue == SIM_QUEUE_LIFO);
    assert_true(rules.order == SIM_ORDER_FIXED && rules.semantics == SIM_PHYSICAL);
}

/* Measured: d3_16x8x32, s3 with 64 chunks, of the table in tests/reference. */
TEST(a_study_and_its_files_take_the_same_nanoseconds)
{
    struct topo_network net;
    struct sim_rules rules;
    struct sim_astra_setup setup;
    struct sim_astra_result r;
    const struct sim_astra_collective c = { COLLECTIVE_ALL_REDUCE, 1 << 30, { true, true, true } };
    KEEP(struct text, notes, text_free) = { 0 };
    BOTH(f, THREE_DIMS, "{ \"endpoint-delay\": 10, \"preferred-dataset-splits\": 64, " LISTS " }");
    read_study(&net, &rules, &f);
    OK(sim_astra_from_network(&setup, &net, &notes, e));
    OK(sim_astra_from_rules(&setup, &net, &rules, &notes, e));
    OK(sim_astra_run(&r, &setup, &c, e));
    assert_int_equal(r.time_ns, 9489920);
    OK(sim_astra_run(&r, &f.setup, &c, e));
    assert_int_equal(r.time_ns, 9489920);
}

static void equal_dims(const struct topo_network *a, const struct topo_network *b)
{
    assert_int_equal(a->n_dims, b->n_dims);
    for (int32_t d = 0; d < a->n_dims; d++) {
        assert_int_equal(a->dims[d].shape, b->dims[d].shape);
        assert_int_equal(a->dims[d].size, b->dims[d].size);
        assert_close(a->dims[d].bw_Bps, b->dims[d].bw_Bps, 1e-12);
        assert_close(a->dims[d].lat_s, b->dims[d].lat_s, 1e-12);
    }
}

TEST(what_is_exported_comes_back)
{
    static const char *const words[] = { "ring:4@250", "ring:2@12.5 full:7@33.3", "full:2@1 switch:32@50",
                                         "ring:3@0.1 ring:5@7e-3 switch:8@400 full:4@999.9" };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct topo_network net, back;
        struct sim_astra_setup setup;
        struct sim_rules rules, rules_back;
        KEEP(struct text, network, text_free) = { 0 };
        KEEP(struct text, system, text_free) = { 0 };
        KEEP(struct text, notes, text_free) = { 0 };
        OK(topo_parse_spec(&net, words[i], e));
        for (int32_t d = 0; d < net.n_dims; d++)
            net.dims[d].lat_s = 1e-7 / (d + 3);
        sim_rules_default(&rules);
        rules.order = SIM_ORDER_FIXED;
        rules.queue = SIM_QUEUE_FIFO;
        rules.stage.endpoint_s = 20e-9;
        OK(sim_astra_from_network(&setup, &net, &notes, e));
        OK(sim_astra_from_rules(&setup, &net, &rules, &notes, e));
        sim_astra_format_network(&network, &setup);
        sim_astra_format_system(&system, &setup, &notes);
        assert_string_equal(text_str(&notes), "");
        BOTH(f, text_str(&network), text_str(&system));
        assert_string_equal(text_str(&f.notes), "");
        read_study(&back, &rules_back, &f);
        equal_dims(&net, &back);
        assert_int_equal(rules_back.stage.chunks, rules.stage.chunks);
        assert_int_equal(rules_back.queue, rules.queue);
        assert_close(rules_back.stage.endpoint_s, 20e-9, 1e-12);
    }
}

TEST(keys_without_counterpart_are_noted_with_their_place)
{
    BOTH(f, THREE_DIMS "link-count: 2\n",
         "{ \"inter-dimension-scheduling\": \"themis\",\n"
         "  \"scheduling-policy\": \"EXPLICIT\", \"collective-optimization\": \"baseline\",\n"
         "  \"all-reduce-implementation\": [\"ring\", \"direct4\", \"ring\"],\n"
         "  \"all-gather-implementation\": [\"ring\", \"ring\", \"ring\"],\n"
         "  \"all-to-all-implementation\": [\"direct\", \"direct\", \"ring\"] }");
    assert_has(text_str(&f.notes), "n.yml:5:1: link-count has no counterpart and is left out\n");
    assert_has(text_str(&f.notes),
               "s.json:1:3: inter-dimension-scheduling has no counterpart and is left out\n");
    assert_has(text_str(&f.notes), "s.json:2:3: scheduling-policy EXPLICIT has no counterpart");
    assert_has(text_str(&f.notes), "collective-optimization baseline has no counterpart");
    assert_has(text_str(&f.notes), "s.json:3:41: all-reduce-implementation[1] limits the peers");
    assert_has(text_str(&f.notes), "s.json:4:3: all-gather-implementation is left out: a dimension has one");
    assert_has(text_str(&f.notes),
               "s.json:5:3: all-to-all-implementation is left out: an all-to-all is always");
    assert_int_equal(f.setup.algorithms[1], TOPO_ALGORITHM_DIRECT);
}

TEST(a_key_with_line_breaks_stays_one_comment)
{
    struct topo_network net;
    struct sim_rules rules;
    BOTH(f, ONE_DIM("Ring", 8), "{ \"a\\n b: 1\\u2028\\rc\": 1 }");
    assert_string_equal(text_str(&f.notes), "s.json:1:3: a? b: 1????c has no counterpart and is left out\n");
    read_study(&net, &rules, &f);
    assert_int_equal(net.n_dims, 1);
}

TEST(faulty_networks_are_refused_with_the_place)
{
    CASES(const char *text, *message; enum err_code code) = {
        { "- 1\n", "n.yml:1:1: document is a list, expected a map", ERR_PARSE },
        { "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50 ]\n", "has no key latency, expected a list",
          ERR_PARSE },
        { "topology: Ring\n", "n.yml:1:11: topology is Ring, expected a list", ERR_PARSE },
        { "topology: []\n", "n.yml:1:11: topology has 0 entries, expected 1 to 8 dimensions", ERR_RANGE },
        { "topology: [ Ring, Ring ]\nnpus_count: [ 4 ]\n",
          "n.yml:2:13: npus_count has 1 entries, expected 2, one per dimension", ERR_RANGE },
        { ONE_DIM("Rings", 4),
          "n.yml:1:13: topology[0] is \"Rings\", expected Ring, FullyConnected or Switch", ERR_PARSE },
        { ONE_DIM("Ring", 1), "n.yml:2:15: npus_count[0] is 1, expected 2 to", ERR_RANGE },
        { ONE_DIM("Ring", 4.5), "n.yml:2:15: npus_count[0] is 4.5, expected a", ERR_PARSE },
        { "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 0 ]\nlatency: [ 1 ]\n",
          "n.yml:3:14: bandwidth[0] is 0 GB/s", ERR_RANGE },
        { "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 1 ]\nlatency: [ -1 ]\n",
          "n.yml:4:12: latency[0] is -1, expected 0 to 1e+09", ERR_RANGE },
        { "topology: [ Ring, Ring ]\nnpus_count: [ 1000000, 1000000 ]\nbandwidth: [ 1, 1 ]\nlatency: [ 1, 1 "
          "]\n",
          "n.yml:2:24: npus_count[1] makes 1000000000000 NPUs", ERR_RANGE },
        { "topology: [ Ring ]\ntopology: [ Ring ]\n", "n.yml:2:1: topology is given twice", ERR_PARSE },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct sim_astra_file, f, sim_astra_file_free);
        FAILS(read_network(&f, cases[i].text, e), cases[i].code, cases[i].message);
    }
}

TEST(faulty_systems_are_refused_with_the_place)
{
    CASES(const char *text, *message; enum err_code code) = {
        { "{ \"all-reduce-implementation\": [\"ring\"] }",
          "s.json:1:32: all-reduce-implementation has 1 entries, expected 3, one per dimension", ERR_RANGE },
        { "{ \"all-reduce-implementation\": [\"oneRing\"] }", "takes all dimensions for one", ERR_UNSUP },
        { "{ \"all-reduce-implementation\": [\"ring\", \"direct\", \"tree\"] }",
          "all-reduce-implementation[2] is \"tree\", expected ring, direct", ERR_PARSE },
        { "{ \"all-reduce-implementation\": [\"doubleBinaryTree\", \"direct\", \"ring\"] }",
          "all-reduce-implementation[0] is double-binary-tree on shape ring", ERR_RANGE },
        { "{ \"preferred-dataset-splits\": 0 }", "preferred-dataset-splits is 0, expected 1 to 1000000",
          ERR_RANGE },
        { "{ \"active-chunks-per-dimension\": \"1\" }", "active-chunks-per-dimension is the text \"1\"",
          ERR_PARSE },
        { "{ \"endpoint-delay\": -1 }", "endpoint-delay is -1", ERR_PARSE },
        { "{ \"local-mem-bw\": 0 }", "local-mem-bw is 0, expected 0.001 to 1e+09", ERR_RANGE },
        { "{ \"scheduling-policy\": \"SCF\" }", "scheduling-policy is the text \"SCF\", expected LIFO, FIFO",
          ERR_PARSE },
        { "{ \"collective-optimization\": \"best\" }", "expected localBWAware or baseline", ERR_PARSE },
        { "{\n\t\"endpoint-delay\": 1,\n\t\"endpoint-delay\": 1 }",
          "s.json:3:2: endpoint-delay is given twice", ERR_PARSE },
        { "[]", "document is a list, expected a map", ERR_PARSE },
        { "{ \"endpoint-delay\": 1", "is not valid YAML", ERR_PARSE },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct sim_astra_file, f, sim_astra_file_free);
        FAILS(read_both(&f, THREE_DIMS, cases[i].text, e), cases[i].code, cases[i].message);
    }
}

TEST(halving_doubling_of_six_is_refused)
{
    KEEP(struct sim_astra_file, f, sim_astra_file_free);
    FAILS(read_both(&f, ONE_DIM("Switch", 6), "{ \"all-reduce-implementation\": [\"halvingDoubling\"] }", e),
          ERR_RANGE, "is halving-doubling on 6 members, expected a power of two");
    sim_astra_file_free(&f);
    OK(read_both(&f, ONE_DIM("Ring", 6), "{ \"all-gather-implementation\": [\"oneRing\"] }",
                 &(struct err){ 0 }));
    assert_int_equal(f.setup.algorithms[0], TOPO_ALGORITHM_RING);
}

TEST(exports_say_what_has_no_counterpart)
{
    struct topo_network net;
    struct sim_rules rules;
    struct sim_astra_setup setup;
    KEEP(struct text, out, text_free) = { 0 };
    KEEP(struct text, notes, text_free) = { 0 };
    OK(topo_parse_spec(&net, "switch:8@50", e));
    sim_rules_default(&rules);
    net.dims[0].efficiency = 0.5;
    net.dims[0].in_switch = TOPO_IN_SWITCH_SHARP;
    net.dims[0].in_switch_min = 2;
    net.dims[0].n_regimes = 1;
    rules.n_slow = 1;
    rules.stage.endpoint_s = 1.5e-9;
    OK(sim_astra_from_network(&setup, &net, &notes, e));
    OK(sim_astra_from_rules(&setup, &net, &rules, &notes, e));
    assert_close(setup.dims[0].GiBps, 25e9 / 1073741824.0, 1e-12);
    assert_int_equal(setup.algorithms[0], TOPO_ALGORITHM_HALVING);
    assert_has(text_str(&notes),
               "dim1: efficiency 0.5 has no counterpart, bandwidth is what remains of it\n");
    assert_has(text_str(&notes), "dim1: regimes have no counterpart");
    assert_has(text_str(&notes), "dim1: in_switch has no counterpart");
    assert_has(text_str(&notes), "simulation.order: guard has no counterpart, the order is fixed\n");
    assert_has(text_str(&notes), "simulation.queue: smallest-first has no counterpart, it is fifo\n");
    assert_has(text_str(&notes), "simulation.slow: has no counterpart");
    assert_has(text_str(&notes), "simulation.endpoint_ns: 1.5 is no whole number, it is 2\n");
    setup.endpoint_ns = 0;
    sim_astra_format_system(&out, &setup, &notes);
    assert_has(text_str(&out), "\"endpoint-delay\": 1,");
    assert_has(text_str(&notes), "simulation.endpoint_ns: is 0, which ASTRA-sim refuses, it is 1\n");
}

TEST(exports_refuse_what_cannot_be_said)
{
    struct topo_network net;
    struct sim_rules rules;
    struct sim_astra_setup setup;
    KEEP(struct text, notes, text_free) = { 0 };
    sim_rules_default(&rules);
    OK(topo_parse_spec(&net, "ring:4@1 line:4@50", e));
    FAILS(sim_astra_from_network(&setup, &net, &notes, e), ERR_RANGE, "dims[1].shape: is line, expected");
    OK(topo_parse_spec(&net, "ring:4", e));
    FAILS(sim_astra_from_network(&setup, &net, &notes, e), ERR_RANGE, "dims[0].bw_GBps: is missing");
    OK(topo_parse_spec(&net, "switch:6@50", e));
    OK(sim_astra_from_network(&setup, &net, &notes, e));
    FAILS(sim_astra_from_rules(&setup, &net, &rules, &notes, e), ERR_UNSUP,
          "dims[0].algorithm: is bruck of 6 members, which ASTRA-sim has not");
    net.dims[0].algorithm = TOPO_ALGORITHM_AUTO;
    FAILS(sim_astra_from_rules(&setup, &net, &rules, &notes, e), ERR_UNSUP, "is auto of 6 members");
}
