#include "tests/unit/step_oracle.h"

#include "workloads/readers/astra.h"

static const int32_t two_dims[] = { 4, 8 };
static const double GBps[TOPO_MAX_DIMS] = { 1e9, 1e9, 1e9, 1e9 };
static const struct astra_rule as_written = { -1, -1, -1 };

static int read_text(struct step_tree *t, const char *text, struct astra_rule rule, struct err *e)
{
    struct topo_network net = oracle_network(two_dims, 2);
    return astra_read(t, "w.txt", text, strlen(text), &net, rule, e);
}

/* A tree that is released where the block ends. */
#define STEP_TEXT(v, ...)                                                                                    \
    KEEP(struct step_tree, v, step_free);                                                                    \
    OK(read_text(&v, __VA_ARGS__, e))

/* Three layers whose forward, input-gradient and weight-gradient collectives are all-reduces of 1, 2 and 4
 * MB, with computes of 1, 2 and 4 ms. */
#define ROW(name, tail)                                                                                      \
    name " -1 1000000 ALLREDUCE 1000000 2000000 ALLREDUCE 2000000 4000000 ALLREDUCE 4000000 99000000" tail   \
         "\n"
#define ROWS "3\n" ROW("a", "") ROW("b", "") ROW("c", "")

/* Bytes an all-reduce of @p MB puts on each dimension of 4 x 8, by group. */
enum { OVER_NONE, OVER_ALL, OVER_INNER, OVER_OUTER, OVER_2, OVER_REST_OF_2 };
static const double share[][2] = {
    [OVER_NONE] = { 0, 0 },    [OVER_ALL] = { 1.5, 7 / 16.0 },
    [OVER_INNER] = { 1.5, 0 }, [OVER_OUTER] = { 0, 1.75 },
    [OVER_2] = { 1, 0 },       [OVER_REST_OF_2] = { 1, 7 / 8.0 },
};

TEST(each_policy_uses_its_own_dimensions)
{
    static const struct {
        const char *policy;
        int forward, input_grad, weight_grad; /* group of each phase */
        int layers[3];                        /* how many of the three layers communicate in it */
    } cases[] = {
        { "DATA", OVER_NONE, OVER_NONE, OVER_ALL, { 0, 0, 3 } },
        { "MODEL", OVER_ALL, OVER_ALL, OVER_NONE, { 3, 2, 0 } },
        { "DISTRIBUTED_INFERENCE", OVER_ALL, OVER_NONE, OVER_NONE, { 3, 0, 0 } },
        { "MICRO", OVER_NONE, OVER_NONE, OVER_ALL, { 0, 0, 3 } },
        { "HYBRID_DATA_MODEL", OVER_INNER, OVER_INNER, OVER_OUTER, { 3, 2, 3 } },
        { "HYBRID_MODEL_DATA", OVER_OUTER, OVER_OUTER, OVER_INNER, { 3, 2, 3 } },
        { "HYBRID_TRANSFORMER model_parallel_NPU_group: 4", OVER_INNER, OVER_INNER, OVER_OUTER, { 3, 3, 3 } },
        { "HYBRID_TRANSFORMER model_parallel_NPU_group 2", OVER_2, OVER_2, OVER_REST_OF_2, { 3, 3, 3 } },
        { "HYBRID_TRANSFORMER model_parallel_NPU_group: 1", OVER_NONE, OVER_NONE, OVER_ALL, { 3, 3, 3 } },
        { "HYBRID_TRANSFORMER model_parallel_NPU_group: 32", OVER_ALL, OVER_ALL, OVER_NONE, { 3, 3, 3 } },
        { "HYBRID_DLRM 1", OVER_ALL, OVER_ALL, OVER_ALL, { 1, 1, 3 } },
        { "HYBRID_DLRM_ENHANCED 1", OVER_ALL, OVER_ALL, OVER_ALL, { 1, 1, 3 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s\n" ROWS, cases[i].policy);
        STEP_TEXT(t, text, as_written);
        for (int d = 0; d < 2; d++) {
            const int *n = cases[i].layers;
            assert_close(oracle_traffic(&t, t.root, STEP_FORWARD, d), 1e6 * n[0] * share[cases[i].forward][d],
                         1e-15);
            assert_close(oracle_traffic(&t, t.root, STEP_INPUT_GRAD, d),
                         2e6 * n[1] * share[cases[i].input_grad][d], 1e-15);
            assert_close(oracle_traffic(&t, t.root, STEP_WEIGHT_GRAD, d),
                         4e6 * n[2] * share[cases[i].weight_grad][d], 1e-15);
        }
    }
}

TEST(compute_counts_as_written_and_update_time_does_not)
{
    CASES(const char *policy; double want_s[3]) = {
        { "DATA", { 3e-3, 6e-3, 12e-3 } },
        { "HYBRID_TRANSFORMER model_parallel_NPU_group: 4", { 3e-3, 6e-3, 12e-3 } },
        { "MICRO", { 0, 0, 0 } },
        { "DISTRIBUTED_INFERENCE", { 3e-3, 0, 0 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s " ROWS, cases[i].policy);
        STEP_TEXT(t, text, as_written);
        for (int phase = 0; phase < 3; phase++)
            assert_close(oracle_compute(&t, t.root, (enum step_phase)phase), cases[i].want_s[phase], 1e-15);
        assert_true(oracle_compute(&t, t.root, STEP_OTHER) == 0);
    }
}

TEST(a_customized_file_takes_the_policy_of_each_layer)
{
    STEP_TEXT(t,
              "HYBRID_CUSTOMIZED\n3\n" ROW("a", " HYBRID_DATA_MODEL") ROW("b", " DATA")
                  ROW("c", " HYBRID_MODEL_DATA"),
              as_written);
    /* Forward: a inner, c outer. Input gradient: c outer (layer 0 has none). Weights: a outer, b all, c
     * inner. */
    assert_close(oracle_traffic(&t, t.root, STEP_FORWARD, 0), 1.5e6, 1e-15);
    assert_close(oracle_traffic(&t, t.root, STEP_FORWARD, 1), 1.75e6, 1e-15);
    assert_true(oracle_traffic(&t, t.root, STEP_INPUT_GRAD, 0) == 0);
    assert_close(oracle_traffic(&t, t.root, STEP_INPUT_GRAD, 1), 3.5e6, 1e-15);
    assert_close(oracle_traffic(&t, t.root, STEP_WEIGHT_GRAD, 0), 4e6 * (1.5 + 1.5), 1e-15);
    assert_close(oracle_traffic(&t, t.root, STEP_WEIGHT_GRAD, 1), 4e6 * (1.75 + 7 / 16.0), 1e-15);
}

TEST(every_collective_word_has_its_kind)
{
    static const char text[] =
        "MODEL 5 a -1 0 ALLREDUCE 8 0 NONE 0 0 NONE 0 0 b -1 0 ALLGATHER 8 0 NONE 0 0 NONE 0 0 "
        "c -1 0 REDUCESCATTER 8 0 NONE 0 0 NONE 0 0 d -1 0 ALLTOALL 8 0 NONE 0 0 NONE 0 0 "
        "e 0 0 NONE 8 0 NONE 0 0 NONE 0 0";
    static const enum collective_kind want[] = { COLLECTIVE_ALL_REDUCE, COLLECTIVE_ALL_GATHER,
                                                 COLLECTIVE_REDUCE_SCATTER, COLLECTIVE_ALL_TO_ALL };
    size_t found = 0;
    STEP_TEXT(t, text, as_written);
    for (step_id id = 0; id < t.n_nodes; id++)
        if (t.nodes[id].kind == STEP_COLLECTIVE) {
            assert_true(found < COUNT_OF(want));
            assert_int_equal(t.nodes[id].collective, want[found++]);
            assert_true(t.nodes[id].bytes == 8);
        }
    assert_int_equal(found, COUNT_OF(want));
}

/* ASTRA-sim: from initiating layer i down to the nearest checkpoint c, layers c..i-1 run again. */
TEST(checkpoints_say_which_layers_run_forward_again)
{
    CASES(const char *lists; double again_ms) = {
        { "checkpoints: 0 checkpoint_initiates: 0", 0 },
        { "checkpoints: 1 0 checkpoint_initiates: 1 2", 1 + 10 },
        { "checkpoints: 2 0 1 checkpoint_initiates: 1 3", 10 + 100 },
        { "checkpoints: 2 2 0 checkpoint_initiates: 2 3 1", 1 + 100 },
        { "checkpoints: 2 0 2 checkpoint_initiates: 0", 0 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 %s 4\n"
                 "a -1   1000000 ALLREDUCE   1000000 0 NONE 0 0 NONE 0 0\n"
                 "b -1  10000000 ALLREDUCE  10000000 0 NONE 0 0 NONE 0 0\n"
                 "c -1 100000000 ALLREDUCE 100000000 0 NONE 0 0 NONE 0 0\n"
                 "d -1 100000000 ALLREDUCE 100000000 0 NONE 0 0 NONE 0 0\n",
                 cases[i].lists);
        STEP_TEXT(t, text, as_written);
        assert_close(oracle_compute(&t, t.root, STEP_FORWARD), 211e-3, 1e-15);
        assert_close(oracle_compute(&t, t.root, STEP_RECOMPUTE), cases[i].again_ms / 1e3, 1e-15);
        assert_close(oracle_traffic(&t, t.root, STEP_RECOMPUTE, 0), cases[i].again_ms * 1.5e6, 1e-15);
    }
}

/* Per layer: forward 1 + 1.5, ig 2 + 3 (inner), wg 4 + 7 (4 MB over 8 outer: 2 * 7/8) in ms. */
TEST(loop_and_recomputation_can_be_asked_for)
{
    static const char text[] = "HYBRID_TRANSFORMER model_parallel_NPU_group: 4\n" ROWS;
    CASES(struct astra_rule rule; double want_ms) = {
        { { -1, -1, -1 }, 3 * (2.5 + 5 + 11) },
        { { LAYERS_NO_OVERLAP, LAYERS_RECOMPUTE_NONE, -1 }, 3 * (2.5 + 5 + 11) },
        { { LAYERS_OVERLAP, -1, -1 }, 3 * (2.5 + 2 + 11) },
        { { -1, LAYERS_RECOMPUTE_COLLECTIVES, -1 }, 3 * (2.5 + 5 + 11 + 1.5) },
        { { -1, LAYERS_RECOMPUTE_FORWARD, -1 }, 3 * (2.5 + 5 + 11 + 2.5) },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        STEP_TEXT(t, text, cases[i].rule);
        assert_close(oracle_time(&t, t.root, GBps), cases[i].want_ms / 1e3, 1e-14);
    }
}

#define TRANSFORMER "HYBRID_TRANSFORMER model_parallel_NPU_group: 4\n"
#define AGAIN       "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 "
#define Q_ROW       "Q -1 1000 ALLGATHER 4096 900 ALLREDUCE 4096 800 ALLREDUCE 65536 10\n"

TEST(a_bad_file_is_refused_at_its_place)
{
    CASES(const char *text; int code; const char *message) = {
        { "", ERR_PARSE, "w.txt:1:1: unknown policy end of file" },
        { "HYBRID_FOO 1\n", ERR_PARSE, "w.txt:1:1: unknown policy \"HYBRID_FOO\"" },
        { "\n  data 1\n", ERR_PARSE, "w.txt:2:3: unknown policy \"data\"" },
        { TRANSFORMER "3\n" Q_ROW "V -1 1000 NONE 0 900 NONE 0 800 ALLREDUCE 65536 10\n", ERR_PARSE,
          "w.txt:4:51: expected layer 3 of 3, found end of file" },
        { TRANSFORMER "1\nQ -1 1000 ALLREDUC 4096", ERR_PARSE,
          "w.txt:3:11: unknown collective \"ALLREDUC\"; did you mean ALLREDUCE?" },
        { TRANSFORMER "1\nQ -1 1000 X%\t 4096", ERR_PARSE, "w.txt:3:11: unknown collective \"X%\"" },
        { TRANSFORMER "1\nQ -1 1000 ALLREDUCEALLTOALL 4096", ERR_UNSUP,
          "w.txt:3:11: is ALLREDUCEALLTOALL, expected ALLREDUCE" },
        { "HYBRID_TRANSFORMER model_parallel_NPU_group: 3\n1\n" Q_ROW, ERR_RANGE,
          "w.txt:1:46: model_parallel_NPU_group: is 3, expected a size that divides along dimensions [4, "
          "8]" },
        { "HYBRID_TRANSFORMER model_parallel_NPU_group: 64\n1\n" Q_ROW, ERR_RANGE,
          "model_parallel_NPU_group: is 64, expected 1 to 32, the NPUs that are left" },
        { "HYBRID_TRANSFORMER model_parallel_NPU_group: x\n", ERR_PARSE,
          "w.txt:1:46: model_parallel_NPU_group: is \"x\", expected a whole number" },
        { "HYBRID_TRANSFORMER 4\n", ERR_PARSE, "w.txt:1:20: is \"4\", expected model_parallel_NPU_group:" },
        { AGAIN "ep: 1", ERR_PARSE, "is \"ep:\", expected checkpoints:" },
        { AGAIN "checkpoints: 2 0 checkpoint_initiates: 1 1", ERR_PARSE,
          "checkpoints: is \"checkpoint_initiates:\", expected a whole number" },
        { AGAIN "checkpoints: 1 0 checkpoint_initiates: 1 1\n1\n" Q_ROW, ERR_RANGE,
          "w.txt:1:102: layer is 1, expected 0 to 0" },
        { AGAIN "checkpoints: 0 checkpoint_initiates: 1 1\n2\n" Q_ROW Q_ROW, ERR_RANGE,
          "checkpoint_initiates: layer 1 has no checkpoint of its own below it" },
        { AGAIN "checkpoints: 1 1 checkpoint_initiates: 1 1\n2\n" Q_ROW Q_ROW, ERR_RANGE,
          "checkpoint_initiates: layer 1 has no checkpoint" },
        { AGAIN "checkpoints: 1 0 checkpoint_initiates: 2 1 2\n3\n" Q_ROW Q_ROW Q_ROW, ERR_RANGE,
          "checkpoint_initiates: layer 2 has no checkpoint" },
        { "DATA 0\n", ERR_RANGE, "w.txt:1:6: number of layers: is 0, expected at least 1" },
        { "DATA -1\n", ERR_PARSE, "number of layers: is \"-1\", expected a whole number" },
        { "DATA 1 Q x", ERR_PARSE, "w.txt:1:10: reserved column: is \"x\", expected a whole number" },
        { "DATA 1 Q -1 1.5", ERR_PARSE, "w.txt:1:13: forward time: is \"1.5\", expected a whole number" },
        { "DATA 1 Q -1 1 NONE -4", ERR_PARSE,
          "w.txt:1:20: forward bytes: is \"-4\", expected a whole number" },
        { "DATA 1 Q -1 1 NONE 0 99999999999999999999", ERR_PARSE,
          "input-gradient time: is \"99999999999999999999\"" },
        { "DATA 1 Q -1 1 NONE 0 1 NONE 0 1 NONE 0", ERR_PARSE,
          "w.txt:1:39: update time: is end of file, expected a whole" },
        { "DATA 1\n" Q_ROW "more", ERR_PARSE,
          "w.txt:3:1: expected end of file after layer 1, found \"more\"" },
        { "HYBRID_DLRM DATA", ERR_PARSE, "last bottom layer: is \"DATA\", expected a whole number" },
        { "HYBRID_CUSTOMIZED 1 Q -1 1 NONE 0 1 NONE 0 1 NONE 0 0 NONE", ERR_PARSE,
          "unknown policy \"NONE\"" },
        { "HYBRID_CUSTOMIZED 1 Q -1 1 NONE 0 1 NONE 0 1 NONE 0 0 HYBRID_TRANSFORMER", ERR_RANGE,
          "w.txt:1:55: is HYBRID_TRANSFORMER, which has no groups for one layer; choose another policy" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct step_tree, t, step_free);
        FAILS(read_text(&t, cases[i].text, as_written, e), cases[i].code, cases[i].message);
        assert_has(e->msg, "w.txt:");
        assert_true(!t.nodes && !t.groups);
    }
}

TEST(bytes_a_terminal_would_act_on_are_not_printed)
{
    struct topo_network net = oracle_network(two_dims, 2);
    static const char text[] = "\033[31m\0DATA";
    struct step_tree t;
    FAILS(astra_read(&t, "w.txt", text, sizeof text - 1, &net, as_written, e), ERR_PARSE,
          "unknown policy \"?[31m?DATA\"");
    static const char number[] = "DATA 1\0\n";
    FAILS(astra_read(&t, "w.txt", number, sizeof number - 1, &net, as_written, e), ERR_PARSE,
          "number of layers: is \"1?\", expected a whole number");
}

/* The same step, written once as rows of an ASTRA-sim file and once in YAML. */
TEST(a_file_named_in_yaml_gives_the_step_of_the_equal_yaml)
{
    static const int32_t sizes[] = { 4, 8, 4, 32 };
    static const double bw_Bps[] = { 300e9, 200e9, 50e9, 12.5e9 };
    struct topo_network net = oracle_network(sizes, 4);
    KEEP(struct yaml_doc, doc, yaml_free);
    KEEP(struct step_tree, rows, step_free);
    KEEP(struct step_tree, yaml, step_free);
    const char text[] = "name: rows\nastra: astra_transformer.txt\n";
    OK(yaml_read_text(&doc, "tests/data/rows.yaml", text, sizeof text - 1, e));
    OK(step_read(&rows, &doc, doc.root, &net, e));
    yaml_free(&doc);
    OK(yaml_read_file(&doc, "configs/workloads/gpt3.yaml", e));
    OK(step_read(&yaml, &doc, doc.root, &net, e));
    assert_string_equal(rows.name, "rows");
    assert_close(oracle_time(&rows, rows.root, bw_Bps), oracle_time(&yaml, yaml.root, bw_Bps), 1e-14);
    for (int d = 0; d < 4; d++)
        for (int phase = 0; phase < N_STEP_PHASES; phase++)
            assert_close(oracle_traffic(&rows, rows.root, (enum step_phase)phase, d),
                         oracle_traffic(&yaml, yaml.root, (enum step_phase)phase, d), 1e-14);
}
