#include "workloads/readers/readers.h"

#include "tests/unit/chakra_writer.h"
#include "tests/unit/step_oracle.h"

static const int32_t two_dims[] = { 4, 8 };

struct fixture {
    struct topo_network net;
    struct step_tree tree;
    struct chakra_trace trace;
};

/* The leaf of a node, read as that of rank 9 of 4 x 8. */
static int leaf_of(struct step_node *leaf, struct fixture *f, struct text *node, struct err *e)
{
    KEEP(struct text, trace, text_free) = { 0 };
    struct chakra_context x = {
        .tree = &f->tree,
        .net = &f->net,
        .trace = &f->trace,
        .name = "t.et",
        .rank = 9,
    };
    begin_trace(&trace);
    put_record(&trace, node);
    assert_ok(chakra_read_trace(&f->trace, "t.et", text_str(&trace), trace.n, e), e);
    step_begin(&f->tree, "t.et", &f->net);
    int rc = chakra_leaf(leaf, &x, 0, e);
    free(x.known);
    return rc;
}

static void release(struct fixture *f)
{
    step_free(&f->tree);
    chakra_trace_free(&f->trace);
}

static struct fixture begin(void)
{
    struct fixture f = { .net = oracle_network(two_dims, 2) };
    f.net.npu = (struct topo_npu){ .peak_flops = 1e12, .mem_Bps = 1e9, .mem_B = NAN };
    return f;
}

static const uint64_t NONE = UINT64_MAX;

static struct text computation(int type, uint64_t duration_us, uint64_t num_ops, uint64_t tensor_size)
{
    struct text node = begin_node(1, "n", type, NULL);
    put_count(&node, 7, duration_us);
    if (num_ops != NONE)
        put_number(&node, "num_ops", W_INT64, num_ops);
    if (tensor_size != NONE)
        put_number(&node, "tensor_size", W_UINT64, tensor_size);
    return node;
}

TEST(a_computation_takes_its_duration_or_its_roofline)
{
    CASES(int type; uint64_t duration_us, num_ops, tensor_size; double want_s; bool uses_npu) = {
        { W_COMP, 25, 4096, 512, 25e-6, false },
        { W_COMP, 0, UINT64_MAX, UINT64_MAX, 1e-9, false },
        { W_COMP, 0, 2000000000, 1000, 2e-3, true },
        { W_COMP, 0, 1000, 2000000, 2e-3, true },
        { W_COMP, 0, 1000, 0, 0, false },
        { W_LOAD, 0, UINT64_MAX, 3000000, 3e-3, true },
        { W_STORE, 7, UINT64_MAX, 3000000, 7e-6, false },
        { W_STORE, 0, UINT64_MAX, 0, 0, true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct fixture, f, release) = begin();
        struct step_node leaf;
        struct text node =
            computation(cases[i].type, cases[i].duration_us, cases[i].num_ops, cases[i].tensor_size);
        OK(leaf_of(&leaf, &f, &node, e));
        assert_int_equal(leaf.kind, cases[i].want_s > 0 ? STEP_COMPUTE : STEP_SUM);
        assert_close(leaf.seconds, cases[i].want_s, 1e-15);
        assert_int_equal(f.tree.uses_npu, cases[i].uses_npu);
    }
}

TEST(what_a_computation_lacks_is_named)
{
    CASES(int type; uint64_t duration_us, num_ops, tensor_size; double peak_flops, mem_Bps; int code;
          const char *message) = {
        { W_COMP, 0, 5, UINT64_MAX, 1, 1, ERR_PARSE, "t.et: node 1 \"n\": has no tensor_size" },
        { W_COMP, 0, UINT64_MAX, 5, 1, 1, ERR_PARSE, "node 1 \"n\": has no num_ops" },
        { W_COMP, 0, 5, 5, NAN, 1, ERR_RANGE,
          "has num_ops but no duration; give network.npu.peak_TFLOPS to make a time of it" },
        { W_COMP, 0, 5, 5, 1, NAN, ERR_RANGE,
          "has tensor_size but no duration; give network.npu.mem_GBps to make a time of it" },
        { W_LOAD, 0, UINT64_MAX, UINT64_MAX, 1, 1, ERR_PARSE, "has no tensor_size" },
        { W_LOAD, 0, UINT64_MAX, 5, 1, NAN, ERR_RANGE, "give network.npu.mem_GBps" },
        { W_COMP, 40000000000000, 5, 5, 1, 1, ERR_RANGE,
          "duration is 40000000000000 us, expected at most 3e+13" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct fixture, f, release) = begin();
        struct step_node leaf;
        f.net.npu.peak_flops = cases[i].peak_flops;
        f.net.npu.mem_Bps = cases[i].mem_Bps;
        struct text node =
            computation(cases[i].type, cases[i].duration_us, cases[i].num_ops, cases[i].tensor_size);
        FAILS(leaf_of(&leaf, &f, &node, e), cases[i].code, cases[i].message);
    }
}

TEST(a_collective_has_its_kind_size_and_dimensions)
{
    CASES(int type; enum collective_kind kind; const char *dims; /* NULL: not given */ const char *group;
          int32_t members[2]) = {
        { W_ALL_REDUCE, COLLECTIVE_ALL_REDUCE, NULL, "all", { 4, 8 } },
        { W_ALL_GATHER, COLLECTIVE_ALL_GATHER, "11", "all", { 4, 8 } },
        { W_REDUCE_SCATTER, COLLECTIVE_REDUCE_SCATTER, "10", "d1", { 4, 1 } },
        { W_ALL_TO_ALL, COLLECTIVE_ALL_TO_ALL, "01", "d2", { 1, 8 } },
        { W_BROADCAST, COLLECTIVE_BROADCAST, "1111", "all", { 4, 8 } },
        { W_ALL_REDUCE, COLLECTIVE_ALL_REDUCE, "1000", "d1", { 4, 1 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct fixture, f, release) = begin();
        struct step_node leaf;
        struct text node = begin_collective(1, NULL, cases[i].type, 77);
        put_number(&node, "comm_priority", W_INT32, 3);
        if (cases[i].dims)
            put_dims(&node, cases[i].dims);
        OK(leaf_of(&leaf, &f, &node, e));
        assert_int_equal(leaf.kind, STEP_COLLECTIVE);
        assert_int_equal(leaf.collective, cases[i].kind);
        assert_true(leaf.bytes == 77 && leaf.priority == 3);
        assert_string_equal(leaf.name, "coll");
        assert_string_equal(f.tree.groups[leaf.group].name, cases[i].group);
        for (int d = 0; d < 2; d++)
            assert_int_equal(f.tree.groups[leaf.group].members[d], cases[i].members[d]);
    }
}

TEST(a_collective_that_cannot_be_is_refused)
{
    CASES(uint64_t type, size_B, priority, cpu; const char *dims, *pg; int code; const char *message) = {
        { W_BARRIER, 1, 0, 0, NULL, NULL, ERR_UNSUP, "t.et: node 1 \"n\": collective BARRIER not supported" },
        { 1, 1, 0, 0, NULL, NULL, ERR_UNSUP, "collective REDUCE not supported" },
        { 10, 1, 0, 0, NULL, NULL, ERR_PARSE, "comm_type is 10, expected 0 to 9" },
        { UINT64_MAX, 1, 0, 0, NULL, NULL, ERR_PARSE, "has no comm_type" },
        { 0, UINT64_MAX, 0, 0, NULL, NULL, ERR_PARSE, "has no comm_size" },
        { 0, 2000000000000000000, 0, 0, NULL, NULL, ERR_RANGE,
          "comm_size is 2000000000000000000, expected at most 1e+18" },
        { 0, 1, 1000001, 0, NULL, NULL, ERR_RANGE, "comm_priority is 1000001, expected 0 to 1000000" },
        { 0, 1, 0, 1, NULL, NULL, ERR_UNSUP, "communication with is_cpu_op true, expected false" },
        { 0, 1, 0, 0, "1", NULL, ERR_RANGE, "involved_dim has 1 entries, expected 2, one per dimension" },
        { 0, 1, 0, 0, "101", NULL, ERR_RANGE, "involved_dim has 3 entries, expected 2" },
        { 0, 1, 0, 0, NULL, "5", ERR_PARSE, "pg_name is \"5\"; give comm_groups" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct fixture, f, release) = begin();
        struct step_node leaf;
        struct text node = begin_node(1, "n", W_COLL, NULL);
        if (cases[i].type != NONE)
            put_number(&node, "comm_type", W_INT64, cases[i].type);
        if (cases[i].size_B != NONE)
            put_number(&node, "comm_size", W_INT64, cases[i].size_B);
        put_number(&node, "comm_priority", W_INT32, cases[i].priority);
        put_number(&node, "is_cpu_op", W_BOOL, cases[i].cpu);
        if (cases[i].dims)
            put_dims(&node, cases[i].dims);
        if (cases[i].pg)
            put_string(&node, "pg_name", cases[i].pg);
        FAILS(leaf_of(&leaf, &f, &node, e), cases[i].code, cases[i].message);
    }
}

TEST(a_group_of_one_and_an_empty_collective_take_nothing)
{
    for (int i = 0; i < 2; i++) {
        KEEP(struct fixture, f, release) = begin();
        struct step_node leaf;
        struct text node = begin_collective(1, NULL, W_ALL_REDUCE, i == 0 ? 0 : 8);
        put_dims(&node, i == 0 ? "11" : "00");
        OK(leaf_of(&leaf, &f, &node, e));
        assert_int_equal(leaf.kind, STEP_SUM);
    }
}

static struct text message(int type, uint64_t src, uint64_t dst)
{
    struct text node = begin_node(1, "n", type, NULL);
    put_number(&node, "comm_size", W_INT64, 64);
    if (src != NONE)
        put_number(&node, "comm_src", W_INT32, src);
    if (dst != NONE)
        put_number(&node, "comm_dst", W_INT32, dst);
    return node;
}

/* Rank 9 is NPU 1 of dimension 1 and 2 of dimension 2. */
TEST(a_send_goes_along_the_dimensions_that_differ)
{
    CASES(uint64_t dst; int32_t members[2], stride[2]) = {
        { 10, { 4, 1 }, { 1, 1 } },     { 11, { 2, 1 }, { 2, 1 } }, { 13, { 1, 8 }, { 1, 1 } },
        { 9 + 16, { 1, 2 }, { 1, 4 } }, { 14, { 4, 8 }, { 1, 1 } }, { 9 + 12, { 1, 8 }, { 1, 1 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct fixture, f, release) = begin();
        struct step_node leaf;
        struct text node = message(W_SEND, i % 2 ? 9 : NONE, cases[i].dst);
        OK(leaf_of(&leaf, &f, &node, e));
        assert_true(leaf.kind == STEP_COLLECTIVE && leaf.collective == COLLECTIVE_SEND && leaf.bytes == 64);
        for (int d = 0; d < 2; d++) {
            assert_int_equal(f.tree.groups[leaf.group].members[d], cases[i].members[d]);
            assert_int_equal(f.tree.groups[leaf.group].stride[d], cases[i].stride[d]);
        }
    }
}

TEST(ranks_of_messages_are_checked)
{
    CASES(int type; uint64_t src, dst; int code; const char *message) = {
        { W_SEND, 3, 4, ERR_RANGE, "comm_src is 3, expected 9, the rank of the trace" },
        { W_SEND, 9, 9, ERR_RANGE, "comm_dst is 9; choose another rank, 0 to 31" },
        { W_SEND, 9, 32, ERR_RANGE, "comm_dst is 32; choose another rank, 0 to 31" },
        { W_SEND, 9, UINT64_MAX, ERR_PARSE, "has no comm_dst" },
        { W_RECV, 3, 4, ERR_RANGE, "comm_dst is 4, expected 9, the rank of the trace" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct fixture, f, release) = begin();
        struct step_node leaf;
        struct text node = message(cases[i].type, cases[i].src, cases[i].dst);
        FAILS(leaf_of(&leaf, &f, &node, e), cases[i].code, cases[i].message);
    }
}
