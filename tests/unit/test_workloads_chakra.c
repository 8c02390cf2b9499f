#include "workloads/readers/readers.h"

#include "tests/unit/chakra_writer.h"
#include "tests/unit/step_oracle.h"

static const int32_t two_dims[] = { 4, 8 };
static const double GBps[TOPO_MAX_DIMS] = { 1e9, 1e9, 1e9, 1e9 };

/* Read a trace of rank 0 on 4 x 8, and release it. */
static int read_trace(struct step_tree *t, struct text *trace, struct err *e)
{
    struct topo_network net = oracle_network(two_dims, 2);
    int rc = chakra_read_bytes(t, "t.et", text_str(trace), trace->n, 0, NULL, &net, e);
    text_free(trace);
    return rc;
}

static double time_of(struct text *trace)
{
    KEEP(struct step_tree, t, step_free);
    MUST(read_trace(&t, trace, e));
    return oracle_time(&t, t.root, GBps);
}

/* An all-reduce of 1 MB over all 4 x 8: 1.5 MB on the first dimension, 1.5 ms at 1 GB/s. */
enum { MB = 1000000 };

TEST(computations_run_one_at_a_time_and_collectives_beside_them)
{
    struct text chain = { 0 }, beside = { 0 }, free_ones = { 0 };
    begin_trace(&chain);
    put_comp(&chain, 1, NULL, 1000);
    put_collective(&chain, 2, DEPS(1), W_ALL_REDUCE, MB);
    put_comp(&chain, 3, DEPS(2), 1000);
    assert_close(time_of(&chain), 3.5e-3, 1e-14);

    begin_trace(&beside);
    put_comp(&beside, 1, NULL, 1000);
    put_collective(&beside, 2, DEPS(1), W_ALL_REDUCE, MB);
    put_comp(&beside, 3, DEPS(1), 1000);
    put_comp(&beside, 4, DEPS(2, 3), 1000);
    assert_close(time_of(&beside), 3.5e-3, 1e-14);

    begin_trace(&free_ones);
    put_comp(&free_ones, 1, NULL, 1000);
    put_comp(&free_ones, 2, NULL, 2000);
    put_collective(&free_ones, 3, NULL, W_ALL_REDUCE, MB);
    assert_close(time_of(&free_ones), 3e-3, 1e-14);
}

TEST(the_cpu_runs_beside_the_accelerator)
{
    struct text trace = { 0 };
    begin_trace(&trace);
    for (uint64_t id = 1; id <= 4; id++) {
        struct text node = begin_node(id, "op", W_COMP, NULL);
        put_count(&node, 7, 1000 * id);
        put_number(&node, "is_cpu_op", W_BOOL, id % 2);
        put_record(&trace, &node);
    }
    assert_close(time_of(&trace), 6e-3, 1e-14);
}

TEST(both_kinds_of_dependencies_count)
{
    struct text trace = { 0 };
    begin_trace(&trace);
    put_comp(&trace, 1, NULL, 1000);
    struct text node = begin_collective(2, NULL, W_ALL_REDUCE, MB);
    put_count(&node, 4, 1);
    put_record(&trace, &node);
    assert_close(time_of(&trace), 2.5e-3, 1e-14);
}

/* 500 layers of two computations and a collective are a repeat of three leaves. */
TEST(equal_layers_become_a_repeat)
{
    struct text trace = { 0 };
    KEEP(struct step_tree, t, step_free);
    begin_trace(&trace);
    put_comp(&trace, 1, NULL, 77);
    for (uint64_t id = 2; id < 1502; id += 3) {
        put_comp(&trace, id, DEPS(id - 1), 1000);
        put_comp(&trace, id + 1, DEPS(id), 2000);
        put_collective(&trace, id + 2, DEPS(id + 1), W_ALL_REDUCE, MB);
    }
    OK(read_trace(&t, &trace, e));
    assert_true(t.n_nodes <= 8);
    assert_close(oracle_time(&t, t.root, GBps), 77e-6 + 500 * 4.5e-3, 1e-12);
    assert_close(oracle_traffic(&t, t.root, N_STEP_PHASES, 0), 500 * 1.5 * MB, 1e-12);
    assert_int_equal(t.notes.n, 0);
}

/* Two streams, k_i after c_i and k_(i-1), c_(i+1) after c_i: not series-parallel but for the last fidelity.
 */
TEST(added_waits_are_told)
{
    struct text trace = { 0 };
    KEEP(struct step_tree, t, step_free);
    begin_trace(&trace);
    for (uint64_t i = 1; i <= 5; i++) {
        put_comp(&trace, i, i > 1 ? DEPS(i - 1) : NULL, 1000);
        put_collective(&trace, 10 + i, i > 1 ? DEPS(i, 9 + i) : DEPS(i), W_ALL_REDUCE, MB);
    }
    OK(read_trace(&t, &trace, e));
    assert_close(oracle_time(&t, t.root, GBps), 1e-3 + 5 * 1.5e-3, 1e-12);
    assert_string_equal(
        text_str(&t.notes),
        "t.et: waits added to write the trace in sums and maxima: 3; its time may be too long\n");
}

TEST(a_trace_of_nothing_takes_no_time)
{
    struct text trace = { 0 };
    begin_trace(&trace);
    struct text node = begin_node(1, "pg", W_METADATA, NULL);
    put_record(&trace, &node);
    put_collective(&trace, 2, DEPS(1), W_ALL_REDUCE, 0);
    assert_true(time_of(&trace) == 0);
}

TEST(a_receive_keeps_the_order_and_is_told)
{
    struct text trace = { 0 };
    KEEP(struct step_tree, t, step_free);
    begin_trace(&trace);
    put_collective(&trace, 1, NULL, W_ALL_REDUCE, MB);
    struct text node = begin_node(2, "recv", W_RECV, DEPS(1));
    put_record(&trace, &node);
    put_comp(&trace, 3, DEPS(2), 1000);
    OK(read_trace(&t, &trace, e));
    assert_close(oracle_time(&t, t.root, GBps), 2.5e-3, 1e-14);
    assert_string_equal(text_str(&t.notes),
                        "t.et: receives that do not wait for their senders: 1; its time may be too short\n");
}

TEST(broken_dependencies_are_refused)
{
    CASES(uint64_t first, second, first_dep, second_dep; const char *message) = {
        { 1, 2, 0, 9, "t.et: node 2 \"comp\" depends on node 9, not in this file" },
        { 1, 1, 0, 0, "t.et: duplicate node id 1" },
        { 1, 2, 2, 1, "t.et: node 1 \"comp\": waits for itself through others" },
        { 1, 2, 0, 2, "t.et: node 2 \"comp\": waits for itself" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct text trace = { 0 };
        KEEP(struct step_tree, t, step_free);
        begin_trace(&trace);
        put_comp(&trace, cases[i].first, DEPS(cases[i].first_dep), 1);
        put_comp(&trace, cases[i].second, DEPS(cases[i].second_dep), 1);
        FAILS(read_trace(&t, &trace, e), ERR_RANGE, cases[i].message);
        assert_true(!t.nodes && !t.groups);
    }
}

/* A folder with traces t.0.et .. t.3.et: ranks 0 and 2 are equal, 1 and 3 differ. */
struct folder {
    char dir[SUPPORT_PATH];
    struct yaml_doc doc;
};

static void write_traces(struct folder *f)
{
    scratch_make(f->dir);
    for (int rank = 0; rank < 4; rank++) {
        char path[SUPPORT_PATH], name[32];
        KEEP(struct text, trace, text_free) = { 0 };
        begin_trace(&trace);
        put_comp(&trace, 1, NULL, rank == 3 ? 9000 : 1000);
        struct text node = begin_collective(2, DEPS(1), W_ALL_REDUCE, rank == 1 ? 4 * MB : MB);
        put_string(&node, "pg_name", rank < 2 ? "7" : "");
        put_record(&trace, &node);
        snprintf(name, sizeof name, "t.%d.et", rank);
        scratch_file(path, f->dir, name, text_str(&trace), trace.n);
        if (rank == 2) { /* what stands before .et in these is no rank */
            scratch_file(path, f->dir, "t99.et", text_str(&trace), trace.n);
            scratch_file(path, f->dir, "t..et", text_str(&trace), trace.n);
            scratch_file(path, f->dir, "t.99.xt", text_str(&trace), trace.n);
        }
    }
    char path[SUPPORT_PATH];
    static const char groups[] = "{\"7\": [0, 1, 2, 3], \"8\": [1, 2, 4]}\n";
    scratch_file(path, f->dir, "groups.json", groups, sizeof groups - 1);
}

static int read_yaml(struct step_tree *t, struct folder *f, const char *yaml, struct err *e)
{
    struct topo_network net = oracle_network(two_dims, 2);
    char path[SUPPORT_PATH];
    scratch_file(path, f->dir, "w.yaml", yaml, strlen(yaml));
    assert_ok(yaml_read_file(&f->doc, path, e), e);
    int rc = step_read(t, &f->doc, f->doc.root, &net, e);
    yaml_free(&f->doc);
    return rc;
}

/* Group 7 is the first dimension: 1.5 MB per MB, as over all. */
TEST(ranks_that_differ_end_with_the_slowest)
{
    CASES(const char *yaml; double want_ms; int n_leaves) = {
        { "chakra: t.2.et\n", 2.5, 2 },
        { "chakra: t99.et\n", 2.5, 2 },
        { "chakra: t..et\n", 2.5, 2 },
        { "chakra: t.99.xt\n", 2.5, 2 },
        { "chakra: t.3.et\n", 10.5, 2 },
        { "chakra: { prefix: t, comm_groups: groups.json }\n", 2.5, 2 },
        { "chakra: { prefix: t, comm_groups: groups.json, ranks: 2 }\n", 7, 4 },
        { "chakra: { prefix: t, comm_groups: groups.json, ranks: [0] }\n", 2.5, 2 },
        { "chakra: { prefix: t, comm_groups: groups.json, ranks: [2, 2] }\n", 2.5, 2 },
        { "chakra: { prefix: t, comm_groups: groups.json, ranks: 4 }\n", 10.5, 8 },
    };
    struct folder f;
    write_traces(&f);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct step_tree, t, step_free);
        int n_leaves = 0;
        OK(read_yaml(&t, &f, cases[i].yaml, e));
        assert_close(oracle_time(&t, t.root, GBps), cases[i].want_ms / 1e3, 1e-14);
        for (step_id id = 0; id < t.n_nodes; id++)
            n_leaves += t.nodes[id].kind == STEP_COMPUTE || t.nodes[id].kind == STEP_COLLECTIVE;
        assert_int_equal(n_leaves, cases[i].n_leaves);
    }
    scratch_remove(f.dir);
}

TEST(what_yaml_names_is_checked)
{
    CASES(const char *yaml; int code; const char *message) = {
        { "chakra: t.9.et\n", ERR_PARSE, "w.yaml:1:9: chakra" },
        { "chakra: t.2.et\nloop: overlap\n", ERR_PARSE,
          "w.yaml:2:7: loop has no effect on chakra, only with layers, astra or simai" },
        { "chakra: t.2.et\nrecompute: none\n", ERR_PARSE, "recompute has no effect on chakra" },
        { "chakra: t.2.et\ngroups: {}\n", ERR_PARSE, "groups has no effect on chakra, which brings its own" },
        { "chakra: [a]\n", ERR_PARSE, "chakra" },
        { "chakra: {}\n", ERR_PARSE, "prefix" },
        { "chakra: { prefix: t, ranks: 0 }\n", ERR_RANGE, "chakra.ranks is 0, expected 1 to 4096 traces" },
        { "chakra: { prefix: t, ranks: [] }\n", ERR_RANGE, "chakra.ranks is 0, expected 1 to 4096 traces" },
        { "chakra: { prefix: t, ranks: [32] }\n", ERR_RANGE,
          "chakra.ranks[0] names rank 32, expected 0 to 31, the NPUs of the network" },
        { "chakra: { prefix: t, ranks: [2, x] }\n", ERR_PARSE, "chakra.ranks[1]" },
        { "chakra: { prefix: t, ranks: 4 }\n", ERR_PARSE,
          "t.0.et: node 2 \"coll\": pg_name is \"7\"; give comm_groups" },
        { "chakra: { prefix: t, comm_groups: none.json }\n", ERR_PARSE, "none.json" },
        { "chakra: { prefix: t, comm_groups: w.yaml }\n", ERR_PARSE, "has no communicator group \"7\"" },
    };
    struct folder f;
    write_traces(&f);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct step_tree, t, step_free);
        FAILS(read_yaml(&t, &f, cases[i].yaml, e), cases[i].code, cases[i].message);
        assert_null(t.nodes);
    }
    scratch_remove(f.dir);
}
