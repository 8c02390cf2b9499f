#include "tests/unit/chakra_writer.h"
#include "workloads/readers/readers.h"

/* COMP of 25 us before an all-reduce of 1 MiB on the first of two dimensions, written by hand. */
static const char sample_hex[] = "070a05302e302e343b0801120366776418043819520e0a0969735f6370755f6f70d80100520"
                                 "c0a076e756d5f6f707348802052100a"
                                 "0b74656e736f725f73697a65688004520802"
                                 "1202617218072a0101520e0a0969735f6370755f6f70d80100520d0a09636f6d6d5f7479706"
                                 "54800520f0a09636f6d6d5f73697a65"
                                 "4880804052150a0c696e766f6c7665645f64696de201040a020100";

enum { SAMPLE_BYTES = 151, SECOND = 68 };

static void sample(char bytes[SAMPLE_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    assert_int_equal(strlen(sample_hex), 2 * SAMPLE_BYTES);
    for (int i = 0; i < SAMPLE_BYTES; i++)
        bytes[i] = (char)((strchr(digits, sample_hex[2 * i]) - digits) * 16 +
                          (strchr(digits, sample_hex[2 * i + 1]) - digits));
}

static const char *name_of(const struct chakra_trace *t, int32_t node)
{
    return text_str(&t->names) + t->nodes[node].name;
}

TEST(a_trace_written_by_another_program_is_read)
{
    char bytes[SAMPLE_BYTES];
    KEEP(struct chakra_trace, t, chakra_trace_free);
    sample(bytes);
    OK(chakra_read_trace(&t, "t.et", bytes, sizeof bytes, e));
    assert_true(t.n_nodes == 2 && t.nodes[0].id == 1);
    assert_string_equal(name_of(&t, 0), "fwd");
    assert_true(t.nodes[0].type == CHAKRA_COMP && t.nodes[0].duration_us == 25 && t.nodes[0].n_deps == 0);
    assert_int_equal(t.nodes[0].has, 1 << CHAKRA_NUM_OPS | 1 << CHAKRA_TENSOR_SIZE);
    assert_true(t.nodes[0].counts[CHAKRA_NUM_OPS] == 4096 && t.nodes[0].counts[CHAKRA_TENSOR_SIZE] == 512);
    assert_int_equal(t.nodes[0].n_involved, -1);
    assert_string_equal(name_of(&t, 1), "ar");
    assert_true(t.nodes[1].type == CHAKRA_COLL && t.nodes[1].n_deps == 1);
    assert_int_equal(t.deps[t.nodes[1].first_dep], 1);
    assert_int_equal(t.nodes[1].counts[CHAKRA_COMM_SIZE], 1 << 20);
    assert_true(t.nodes[1].n_involved == 2 && t.nodes[1].involved == 1 && !t.nodes[1].is_cpu_op);
    chakra_trace_free(&t);
}

/* One change of the sample: these bytes at this offset; then cut to n bytes. */
TEST(a_damaged_trace_is_refused_at_its_place)
{
    CASES(size_t at, n; const char *bytes; size_t n_bytes; int code; const char *message) = {
        { 0, 146, "", 0, ERR_PARSE, "t.et: offset 68: record needs 82 bytes, file has 77 left" },
        { 8, 151, "\xff\xff\xff\xff\xff\xff", 6, ERR_PARSE,
          "t.et: offset 8: record length is not a 32-bit varint" },
        { 8, 151, "\xff\xff\xff\xff\x7f", 5, ERR_PARSE,
          "t.et: offset 8: record length is not a 32-bit varint" },
        { 8, 151, "\xff\xff\xff\xff\x0f", 5, ERR_PARSE,
          "t.et: offset 8: record needs 4294967295 bytes, file has 138 left" },
        { 150, 151, "\x80", 1, ERR_PARSE, "t.et: offset 68: record is not a node" },
        { 0, 151, "\x1f\x8b", 2, ERR_UNSUP, "t.et: is compressed with gzip; unpack it" },
        { 0, 151, "{ \"", 3, ERR_UNSUP, "t.et: is a trace in JSON; use the binary form (.et)" },
        { 1, 151, "\x08", 1, ERR_PARSE, "t.et: offset 0: record is not metadata" },
        { 9, 151, "\x0b", 1, ERR_PARSE, "t.et: offset 8: record is not a node" },
        { 0, 9, "", 0, ERR_PARSE, "t.et: offset 8: record needs 59 bytes, file has 0 left" },
        { 0, 8, "", 0, ERR_PARSE, "t.et: has no nodes, expected at least one" },
        { 0, 0, "", 0, ERR_PARSE, "t.et: is empty, expected metadata and nodes" },
        { 17, 151, "\x08", 1, ERR_PARSE, "t.et: node 1 \"fwd\": type is 8, expected 1 to 7" },
        { 17, 151, "\x00", 1, ERR_PARSE, "t.et: node 1 \"fwd\": type is 0, expected 1 to 7" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char bytes[SAMPLE_BYTES];
        KEEP(struct chakra_trace, t, chakra_trace_free);
        sample(bytes);
        memcpy(bytes + cases[i].at, cases[i].bytes, cases[i].n_bytes);
        FAILS(chakra_read_trace(&t, "t.et", bytes, cases[i].n, e), cases[i].code, cases[i].message);
        assert_true(!t.nodes && !t.deps);
    }
}

/* Every cut but those between records is noticed, and none reads beyond the bytes. */
TEST(a_cut_trace_is_refused)
{
    char bytes[SAMPLE_BYTES];
    sample(bytes);
    for (size_t n = 0; n < SAMPLE_BYTES; n++) {
        KEEP(struct chakra_trace, t, chakra_trace_free);
        KEEP(char *, exact, free_at) = malloc(n ? n : 1); /* ASan then sees a read past the end */
        assert_non_null(exact);
        memcpy(exact, bytes, n);
        int rc = chakra_read_trace(&t, "t.et", exact, n, e);
        assert_int_equal(rc, n == SECOND ? 0 : ERR_PARSE);
    }
}

/* Read one node that @p node becomes. */
static int read_one(struct chakra_trace *t, struct text *node, struct err *e)
{
    KEEP(struct text, trace, text_free) = { 0 };
    begin_trace(&trace);
    put_record(&trace, node);
    return chakra_read_trace(t, "t.et", text_str(&trace), trace.n, e);
}

TEST(whole_numbers_of_every_kind_are_counts)
{
    CASES(unsigned field; uint64_t wire; int64_t want) = {
        { W_INT32, 7, 7 },   { W_INT64, (uint64_t)1 << 40, (int64_t)1 << 40 },
        { 11, 7, 7 },        { W_UINT64, UINT64_MAX, INT64_MAX },
        { W_SINT32, 14, 7 }, { 17, 14, 7 },
        { W_INT64, 0, 0 },
    };
    KEEP(struct chakra_trace, t, chakra_trace_free);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text node = begin_node(1, "n", W_COMP, NULL);
        put_number(&node, "num_ops", cases[i].field, cases[i].wire);
        OK(read_one(&t, &node, e));
        assert_true(t.nodes[0].counts[CHAKRA_NUM_OPS] == cases[i].want);
        chakra_trace_free(&t);
    }
    struct text node = begin_node(1, "n", W_COMP, NULL), v = { 0 };
    put_fixed64(&v, W_FIXED64, 7);
    put_attribute(&node, "num_ops", &v);
    put_number(&node, "is_cpu_op", W_INT32, 1);
    put_number(&node, "somebody_else_s", W_INT32, 1);
    OK(read_one(&t, &node, e));
    assert_true(t.nodes[0].counts[CHAKRA_NUM_OPS] == 7 && t.nodes[0].is_cpu_op);
}

/* Attribute @p name with the field and wire type that @p tag says, and these bytes. */
static struct text node_with(const char *name, uint64_t tag, const char *bytes, size_t n)
{
    struct text node = begin_node(4, "n", W_COLL, NULL), v = { 0 };
    put_varint(&v, tag);
    text_add(&v, bytes, n);
    put_attribute(&node, name, &v);
    return node;
}

TEST(an_attribute_of_another_kind_is_refused)
{
    CASES(const char *name; unsigned field, wire; const char *bytes; size_t n; int code;
          const char *message) = {
        { "comm_size", W_DOUBLE, 1, "\0\0\0\0\0\0\0\0", 8, ERR_PARSE,
          "t.et: node 4 \"n\": comm_size is a real number, expected a whole number" },
        { "comm_size", W_FLOAT, 5, "\0\0\0\0", 4, ERR_PARSE, "comm_size is a real number" },
        { "comm_size", W_STRING, 2,
          "\1"
          "8",
          2, ERR_PARSE, "comm_size is a text, expected a whole number" },
        { "comm_size", W_BOOL, 0, "\1", 1, ERR_PARSE, "comm_size is true or false, expected a whole number" },
        { "comm_size", W_INT64 + 1, 2, "\3\x0a\1\7", 4, ERR_PARSE,
          "comm_size is a list, expected a whole number" },
        { "comm_size", W_BOOLS, 2, "\0", 1, ERR_PARSE, "comm_size is a list" },
        { "comm_size", 2, 2, "\0", 1, ERR_PARSE, "comm_size is empty, expected a whole number" },
        { "comm_size", W_INT64, 0, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 10, ERR_RANGE,
          "t.et: node 4 \"n\": comm_size is -1, expected at least 0" },
        { "is_cpu_op", W_STRING, 2, "\0", 1, ERR_PARSE, "is_cpu_op is a text, expected true or false" },
        { "pg_name", W_INT32, 0, "\1", 1, ERR_PARSE, "pg_name is a whole number, expected a text" },
        { "pg_name", W_STRING, 2,
          "\x20"
          "12345678901234567890123456789012",
          33, ERR_RANGE, "pg_name has 32 bytes, expected at most 31" },
        { "involved_dim", W_BOOL, 0, "\1", 1, ERR_PARSE,
          "involved_dim is true or false, expected a list of true and false" },
        { "involved_dim", W_BOOLS, 2, "\x13\x0a\x11\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1\1", 20, ERR_RANGE,
          "involved_dim has 17 entries, expected at most 16" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct chakra_trace t;
        struct text node =
            node_with(cases[i].name, cases[i].field << 3 | cases[i].wire, cases[i].bytes, cases[i].n);
        FAILS(read_one(&t, &node, e), cases[i].code, cases[i].message);
        assert_null(t.nodes);
    }
}

TEST(dependencies_may_be_packed_or_not_and_of_both_kinds)
{
    struct text node = begin_node(9, "n", W_COMP, DEPS(300, 2));
    KEEP(struct chakra_trace, t, chakra_trace_free);
    put_count(&node, 5, 3);
    put_count(&node, 4, 4);
    put_bytes(&node, 4, "\5\6", 2);
    put_bytes(&node, 12, "of a later schema", 17);
    OK(read_one(&t, &node, e));
    static const uint64_t want[] = { 4, 5, 6, 300, 2, 3 };
    assert_int_equal(t.nodes[0].n_deps, COUNT_OF(want));
    assert_memory_equal(t.deps, want, sizeof want);
}

TEST(an_empty_first_record_is_empty_metadata)
{
    static const char bytes[] = "\0\6\x08\1\x12\0\x18\4";
    KEEP(struct chakra_trace, t, chakra_trace_free);
    OK(chakra_read_trace(&t, "t.et", bytes, sizeof bytes - 1, e));
    assert_int_equal(t.n_nodes, 1);
}

/* Node of 2023-06: parent = 4, texts in 5 to 10, attribute = 11. */
TEST(an_old_schema_is_named)
{
    struct text node = { 0 };
    KEEP(struct text, trace, text_free) = { 0 };
    struct chakra_trace t;
    put_count(&node, 1, 1);
    put_bytes(&node, 2, "n", 1);
    put_count(&node, 3, 4);
    put_bytes(&node, 5, "text", 4);
    put_bytes(&node, 11, "\x0a\1a", 3);
    put_record(&trace, &node);
    FAILS(chakra_read_trace(&t, "t.et", text_str(&trace), trace.n, e), ERR_PARSE,
          "t.et: offset 0: pre-2023-10 Chakra schema (field 11)");
    node = begin_node(1, "n", W_COMP, NULL);
    put_bytes(&node, 11, "", 0);
    FAILS(read_one(&t, &node, e), ERR_PARSE, "t.et: offset 8: pre-2023-10 Chakra schema (field 11)");
}

TEST(bytes_a_terminal_would_act_on_are_not_printed)
{
    struct text node = begin_node(1, "\033[31m", 0, NULL);
    struct chakra_trace t;
    FAILS(read_one(&t, &node, e), ERR_PARSE, "node 1 \"?[31m\": type");
}
