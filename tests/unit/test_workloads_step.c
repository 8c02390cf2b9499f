#include "tests/unit/step_oracle.h"

static const int32_t sizes_4d[] = { 4, 8, 4, 32 };

static int read_text(struct step_tree *t, const char *text, struct err *e)
{
    struct topo_network net = oracle_network(sizes_4d, 4);
    KEEP(struct yaml_doc, doc, yaml_free);
    int rc = yaml_read_text(&doc, "w.yaml", text, strlen(text), e);
    *t = (struct step_tree){ .root = -1 };
    if (!rc)
        rc = step_read(t, &doc, doc.root, &net, e);
    return rc;
}

/* A tree that is released where the block ends. */
#define STEP_TEXT(v, ...)                                                                                    \
    KEEP(struct step_tree, v, step_free);                                                                    \
    OK(read_text(&v, __VA_ARGS__, e))

#define ONE_STEP "step: { compute_ns: 1 }\n"

TEST(groups_fill_dimensions_from_the_inside)
{
    CASES(const char *groups, *name; int32_t members[4]) = {
        { "g: { size: 1 }", "g", { 1, 1, 1, 1 } },
        { "g: { size: 2 }", "g", { 2, 1, 1, 1 } },
        { "g: { size: 4 }", "g", { 4, 1, 1, 1 } },
        { "g: { size: 16 }", "g", { 4, 4, 1, 1 } },
        { "g: { size: 128 }", "g", { 4, 8, 4, 1 } },
        { "g: { size: 4096 }", "g", { 4, 8, 4, 32 } },
        { "g: {}", "g", { 4, 8, 4, 32 } },
        { "tp: { size: 16 }, dp: { after: tp }", "dp", { 1, 2, 4, 32 } },
        { "tp: { size: 128 }, dp: { after: tp }", "dp", { 1, 1, 1, 32 } },
        { "tp: { size: 16 }, dp: { after: tp, size: 8 }", "dp", { 1, 2, 4, 1 } },
        { "tp: { size: 2 }, pp: { size: 4, after: tp }, dp: { after: pp }", "pp", { 2, 2, 1, 1 } },
        { "tp: { size: 2 }, pp: { size: 4, after: tp }, dp: { after: pp }", "dp", { 1, 4, 4, 32 } },
        { "tp: { size: 2 }, pp: { size: 4, after: tp }, dp: { after: [tp, pp] }", "dp", { 1, 4, 4, 32 } },
        { "tp: { size: 4096 }, dp: { after: tp }", "dp", { 1, 1, 1, 1 } },
        { "x: { members: [2, 8, 1, 4] }", "x", { 2, 8, 1, 4 } },
        { "x: { members: [2, 8, 1, 4] }, y: { after: x }", "y", { 2, 1, 4, 8 } },
        { "x: { members: [4, 1, 1, 1] }, y: { members: [1, 8, 1, 1] }, z: { after: [x, y] }",
          "z",
          { 1, 1, 4, 32 } },
        { "x: { members: [2, 1, 1, 1] }, y: { members: [2, 8, 1, 1], after: x }", "y", { 2, 8, 1, 1 } },
        { "g: { size: 2 }", "all", { 4, 8, 4, 32 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[300];
        snprintf(text, sizeof text, "groups: { %s }\n" ONE_STEP, cases[i].groups);
        STEP_TEXT(t, text);
        for (int d = 0; d < 4; d++)
            assert_int_equal(oracle_members(&t, cases[i].name)[d], cases[i].members[d]);
    }
}

TEST(a_bad_group_is_refused_at_its_place)
{
    CASES(const char *groups; int code; const char *message) = {
        { "  g: { size: 3 }", ERR_RANGE,
          "w.yaml:2:14: groups.g.size is 3, expected a size that divides along dimensions [4, 8, 4, 32]" },
        { "  g: { size: 24 }", ERR_RANGE,
          "is 24, expected a size that divides along dimensions [4, 8, 4, 32]" },
        { "  g: { size: 8192 }", ERR_RANGE,
          "groups.g.size is 8192, expected 1 to 4096, the NPUs that are left" },
        { "  tp: { size: 16 }\n  dp: { size: 512, after: tp }", ERR_RANGE,
          "w.yaml:3:15: groups.dp.size is 512, expected 1 to 256, the NPUs that are left" },
        { "  tp: { size: 16 }\n  dp: { size: 6, after: tp }", ERR_RANGE,
          "is 6, expected a size that divides along dimensions [1, 2, 4, 32]" },
        { "  g: { size: 0 }", ERR_RANGE, "groups.g.size is 0, expected 1 to" },
        { "  g: { after: tp }", ERR_PARSE, "groups.g.after is \"tp\", expected a group defined above" },
        { "  g: { after: [all, g] }", ERR_PARSE,
          "groups.g.after[1] is \"g\", expected a group defined above" },
        { "  g: { size: 4, members: [4, 1, 1, 1] }", ERR_PARSE,
          "groups.g has size and members; give one of them" },
        { "  g: { members: [4, 8] }", ERR_RANGE,
          "groups.g.members has 2 entries, expected 4, one per dimension" },
        { "  g: { members: [4, 3, 1, 1] }", ERR_RANGE,
          "w.yaml:2:21: groups.g.members[1] is 3, expected a divisor of 8" },
        { "  g: { members: [4, 0, 1, 1] }", ERR_RANGE, "groups.g.members[1] is 0, expected a divisor of 8" },
        { "  g: { members: [8, 1, 1, 1] }", ERR_RANGE, "groups.g.members[0] is 8, expected a divisor of 4" },
        { "  x: { members: [2, 1, 1, 1] }\n  y: { members: [4, 1, 1, 1], after: x }", ERR_RANGE,
          "groups.y.members[0] is 4, expected a divisor of 2" },
        { "  x: { size: 2 }\n  y: { size: 4 }\n  z: { after: [x, y] }", ERR_RANGE,
          "groups.z.after has \"x\" and \"y\", which share dimension \"d1\", expected one after the other" },
        { "  x: { size: 2 }\n  z: { after: [all, x] }", ERR_RANGE,
          "groups.z.after has \"all\" and \"x\", which share dimension \"d1\", expected one after the "
          "other" },
        { "  all: { size: 2 }", ERR_PARSE, "groups.all is predefined (every NPU); choose another name" },
        { "  g: { sise: 2 }", ERR_PARSE, "unknown key \"groups.g.sise\"" },
        { "  a23456789b23456789c23456789d23456789e23456789f23: { size: 2 }", ERR_RANGE,
          "has a name of 48 bytes, expected at most 47" },
        { "  [1]", ERR_PARSE, "groups is a list" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[300];
        KEEP(struct step_tree, t, step_free);
        snprintf(text, sizeof text, "groups:\n%s\n" ONE_STEP, cases[i].groups);
        FAILS(read_text(&t, text, e), cases[i].code, cases[i].message);
        assert_null(t.nodes);
    }
}

TEST(more_groups_than_fit_are_refused)
{
    KEEP(struct text, text, text_free) = { 0 };
    struct step_tree t;
    text_puts(&text, ONE_STEP "groups:\n");
    for (int i = 0; i < 64; i++)
        text_printf(&text, "  g%d: { size: 2 }\n", i);
    FAILS(read_text(&t, text_str(&text), e), ERR_RANGE,
          "groups.g63 is one group too many, expected at most 64");
}

static const char everything[] =
    "name: all kinds\n"
    "source: this test\n"
    "groups: { tp: { size: 4 } }\n"
    "step:\n"
    "  sum:\n"
    "    - { compute_ms: 1.5, name: start, phase: forward }\n"
    "    - { all-reduce: { size_MB: 8, group: tp }, times: 4 }\n"
    "    - phase: weight-grad\n"
    "      max:\n"
    "        - { compute_ns: 3000, times: 2 }\n"
    "        - { reduce-scatter: { size_B: 4e6, group: all } }\n"
    "        - { phase: input-grad, all-to-all: { size_MB: 1, group: all } }\n"
    "    - repeat: { times: 2.5, of: { all-gather: { size_B: 1000, group: tp } } }\n";

TEST(an_expression_is_read_as_written)
{
    static const double bw_Bps[] = { 1e9, 1e9, 1e9, 1e9 };
    STEP_TEXT(t, everything);
    assert_string_equal(t.name, "all kinds");
    const struct step_node *root = &t.nodes[t.root], *start = &t.nodes[root->first];
    assert_int_equal(root->kind, STEP_SUM);
    assert_string_equal(start->name, "start");
    assert_int_equal(start->phase, STEP_FORWARD);
    assert_close(start->seconds, 1.5e-3, 0);
    /* 4 all-reduces of 2 * 8 MB * 3/4; max of 6 us, 3 MB (4 MB * 3/4) and 31/32 MB, which share a ring: 3.75
     * MB (with 1 MB * 3/4); 2.5 gathers of 3 kB. */
    assert_close(oracle_time(&t, t.root, bw_Bps), 1.5e-3 + 4 * 12e-3 + 3.75e-3 + 2.5 * 3e-6, 1e-14);
    assert_close(oracle_compute(&t, t.root, STEP_WEIGHT_GRAD), 6e-6, 1e-15);
    assert_close(oracle_traffic(&t, t.root, STEP_INPUT_GRAD, 3), 31e6 / 32, 1e-15);
    assert_close(oracle_traffic(&t, t.root, STEP_OTHER, 0), 4 * 12e6 + 2.5 * 3e3, 1e-15);
}

TEST(nanoseconds_and_bytes_are_exact)
{
    STEP_TEXT(t, "step: { compute_ns: 228149414 }\n");
    assert_true(t.nodes[t.root].seconds == 0.228149414);
    step_free(&t);
    OK(read_text(&t, "step: { compute_ms: 228.149414 }\n", e));
    assert_close(t.nodes[t.root].seconds, 0.228149414, 2.3e-16);
    step_free(&t);
    OK(read_text(&t, "step: { all-reduce: { size_B: 9007199254740991, group: all } }\n", e));
    assert_true(t.nodes[t.root].bytes == 9007199254740991.0);
}

TEST(a_bad_expression_is_refused_at_its_place)
{
    CASES(const char *text; int code; const char *message) = {
        { "name: x\n", ERR_PARSE, "has 0 of layers, step, astra, simai, chakra and model; give one of them" },
        { "step: { compute_ns: 1 }\nlayers: []\n", ERR_PARSE,
          "has 2 of layers, step, astra, simai, chakra and model" },
        { "step: { compute_ns: 1 }\nloop: overlap\n", ERR_PARSE,
          "w.yaml:2:7: loop has no effect on step, only with layers, astra or simai" },
        { "step: { compute_ns: 1 }\nrecompute: none\n", ERR_PARSE, "recompute has no effect on step" },
        { "astra: a.txt\ngroups: {}\n", ERR_PARSE, "groups has no effect on astra" },
        { "astra: no-such-file.txt\n", ERR_PARSE, "no-such-file.txt" },
        { "simai: no-such-file.txt\n", ERR_PARSE, "no-such-file.txt" },
        { "step: { compute_ns: 1 }\nparallel: { batch: 1 }\n", ERR_PARSE,
          "w.yaml:2:1: parallel has no effect on step, only with model" },
        { "step: { compute_ns: 1 }\nsearch: { batch: 1 }\n", ERR_PARSE,
          "w.yaml:2:1: search has no effect on step, only with model" },
        { "simai: a.txt\ngroups: {}\n", ERR_PARSE, "groups has no effect on simai" },
        { "astra: a.txt\nag_size: full\n", ERR_PARSE,
          "w.yaml:2:10: ag_size has no effect on astra, only with simai" },
        { "step: { name: x }\n", ERR_PARSE, "step has no work; give compute_ns" },
        { "step: { compute_ns: 1, compute_ms: 1 }\n", ERR_PARSE,
          "step has compute_ns and compute_ms; give one of them" },
        { "step: { compute_ns: 1, sum: [] }\n", ERR_PARSE, "step has compute_ns and sum; give one of them" },
        { "step: { sum: [] }\n", ERR_PARSE, "step.sum is empty, expected at least one expression" },
        { "step: { max: { compute_ns: 1 } }\n", ERR_PARSE, "step.max is a map" },
        { "step: { times: 3, sum: [ { compute_ns: 1 } ] }\n", ERR_PARSE,
          "step.times counts compute and collectives only, expected repeat here" },
        { "step: { repeat: { times: 0, of: { compute_ns: 1 } } }\n", ERR_RANGE,
          "step.repeat.times is 0, expected" },
        { "step: { repeat: { times: 2 } }\n", ERR_PARSE, "step.repeat has no of" },
        { "step: { compute_ns: -1 }\n", ERR_RANGE, "step.compute_ns is -1, expected 0 to" },
        { "step: { all-reduce: { group: all } }\n", ERR_PARSE,
          "step.all-reduce has no size, expected one of size_B and size_MB" },
        { "step: { all-reduce: { size_B: 1, size_MB: 1, group: all } }\n", ERR_PARSE, "has two sizes" },
        { "step: { all-reduce: { size_B: 1 } }\n", ERR_PARSE, "step.all-reduce has no group" },
        { "groups: { tensor: { size: 4 } }\nstep: { all-gather: { size_B: 1, group: tensr } }\n", ERR_PARSE,
          "w.yaml:2:41: step.all-gather.group is tensr, expected all or a name from groups; did you mean "
          "tensor?" },
        { "step: { all-reduce: 5 }\n", ERR_PARSE, "step.all-reduce is 5, expected a map" },
        { "step: { allreduce: { size_B: 1, group: all } }\n", ERR_PARSE,
          "unknown key \"step.allreduce\"; did you mean \"all-reduce\"" },
        { "step: { sum: [ { compute_ns: 1, phase: forwards } ] }\n", ERR_PARSE,
          "step.sum[0].phase is forwards, expected one of forward, input-grad, weight-grad, recompute, "
          "other" },
        { "- 1\n", ERR_PARSE, "expected a map" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct step_tree, t, step_free);
        FAILS(read_text(&t, cases[i].text, e), cases[i].code, cases[i].message);
        assert_has(e->msg, "w.yaml:");
        assert_null(t.nodes);
    }
}

TEST(a_collective_over_one_npu_is_allowed_and_free)
{
    static const double bw_Bps[] = { 1, 1, 1, 1 };
    STEP_TEXT(t, "groups: { g: { size: 1 } }\nstep: { all-reduce: { size_MB: 1, group: g } }\n");
    assert_true(oracle_time(&t, t.root, bw_Bps) == 0);
}

TEST(children_keep_the_order_they_were_added_in)
{
    struct topo_network net = oracle_network(sizes_4d, 4);
    STEP_BEGIN(t, "by hand", &net);
    step_id root = step_add(&t, -1, (struct step_node){ .kind = STEP_SUM });
    for (int i = 0; i < 1000; i++)
        assert_int_equal(step_add(&t, root, (struct step_node){ .kind = STEP_COMPUTE, .seconds = i }), i + 1);
    OK(step_check(&t, e));
    int next = 0;
    for (step_id id = t.nodes[root].first; id >= 0; id = t.nodes[id].next)
        assert_true(t.nodes[id].seconds == next++);
    assert_int_equal(next, 1000);
    assert_int_equal(step_find_group(&t, "all"), 0);
    assert_int_equal(step_find_group(&t, "none"), -1);
    step_free(&t);
}

TEST(a_tree_that_lacked_memory_says_so_and_takes_no_more)
{
    struct topo_network net = oracle_network(sizes_4d, 4);
    STEP_BEGIN(t, "short", &net);
    t.failed = true;
    assert_int_equal(step_add(&t, -1, (struct step_node){ .kind = STEP_SUM }), -1);
    assert_int_equal(step_add_group(&t, "g", sizes_4d), -1);
    FAILS(step_check(&t, e), ERR_NOMEM, "the training step");
}
