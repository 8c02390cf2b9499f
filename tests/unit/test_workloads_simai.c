#include "workloads/readers/readers.h"

#include "tests/unit/step_oracle.h"

static const int32_t two_dims[] = { 4, 8 };
static const double GBps[TOPO_MAX_DIMS] = { 1e9, 1e9, 1e9, 1e9 };
static const struct astra_rule as_written = { -1, -1, -1 };

static int read_text(struct step_tree *t, const char *text, struct astra_rule rule, struct err *e)
{
    struct topo_network net = oracle_network(two_dims, 2);
    return simai_read(t, "w.txt", text, strlen(text), &net, rule, e);
}

/* A tree that is released where the block ends. */
#define STEP_TEXT(v, ...)                                                                                    \
    KEEP(struct step_tree, v, step_free);                                                                    \
    OK(read_text(&v, __VA_ARGS__, e))

#define POLICY "HYBRID_TRANSFORMER_FWD_IN_BCKWD "
#define SPLIT                                                                                                \
    POLICY "model_parallel_NPU_group: 4 ep: 2 pp: 2 vpp: 12 ga: 8 all_gpus: 32 checkpoints: 0 "              \
           "checkpoint_initiates: 0 pp_comm: 1000000.0\n"
#define PLAIN POLICY "model_parallel_NPU_group: 4 ep: 2 pp: 1 ga: 1 all_gpus: 32\n"
/* 1, 2 and 4 ms of compute; tails are collective and size of each phase. */
#define ROW(f, i, w) "n\t-1\t1000000\t" f "\t2000000\t" i "\t4000000\t" w "\t100\n"
#define QUIET        "NONE\t0"

TEST(keys_stand_in_any_order_with_or_without_a_colon)
{
    static const char *const headers[] = {
        SPLIT,
        POLICY "pp_comm 1000000 all_gpus 32 ga: 8 pp: 2 expert_parallel_npu_group: 2 "
               "model_parallel_NPU_group 4 checkpoint_initiates: 0 checkpoints: 0\n",
        "HYBRID_TRANSFORMER\tmodel_parallel_NPU_group: 4 \t ep: 2 pp: 2  ga: 8 pp_comm: 1e6\n",
    };
    for (size_t i = 0; i < COUNT_OF(headers); i++) {
        TABLE_OF(want, const char *name; int32_t members[2], stride[2]) = {
            { "tp", { 4, 1 }, { 1, 1 } }, { "ep", { 1, 2 }, { 4, 1 } }, { "dp_ep", { 1, 2 }, { 4, 2 } },
            { "dp", { 1, 4 }, { 4, 1 } }, { "pp", { 1, 2 }, { 4, 4 } },
        };
        char text[1024];
        snprintf(text, sizeof text, "%s1\n" ROW(QUIET, QUIET, QUIET), headers[i]);
        STEP_TEXT(t, text, as_written);
        for (size_t k = 0; k < COUNT_OF(want); k++) {
            int32_t g = step_find_group(&t, want[k].name);
            assert_true(g >= 0);
            for (int d = 0; d < 2; d++) {
                assert_int_equal(t.groups[g].members[d], want[k].members[d]);
                assert_int_equal(t.groups[g].stride[d], want[k].stride[d]);
            }
        }
        /* 7 ms of eight microbatches, an eighth of it as bubble; 16 + 2 sends of 1 ms. */
        assert_close(oracle_time(&t, t.root, GBps), 7e-3 * 9 / 8 + 18e-3, 1e-14);
    }
}

TEST(what_is_not_given_has_its_default)
{
    STEP_TEXT(t,
              POLICY "model_parallel_NPU_group: 4 checkpoints: 0 checkpoint_initiates: 0\n1\n" ROW(
                  "ALLREDUCE\t1000000", QUIET, "ALLREDUCE\t4000000"),
              as_written);
    /* tp is the first dimension, dp the second: 2 * 3/4 MB and 2 * 7/8 of 4 MB. */
    assert_close(oracle_time(&t, t.root, GBps), 7e-3 + 1.5e-3 + 7e-3, 1e-14);
}

/* Bytes on each dimension of 4 x 8 that an all-reduce of 1 byte sends; ep and dp_ep are two NPUs each. */
TEST(the_suffix_names_the_group)
{
    CASES(const char *mark; enum step_phase phase; double want[2]) = {
        { "ALLREDUCE\t1000000", STEP_FORWARD, { 1.5e6, 0 } },
        { "ALLREDUCE\t1000000", STEP_INPUT_GRAD, { 1.5e6, 0 } },
        { "ALLREDUCE\t1000000", STEP_WEIGHT_GRAD, { 0, 1.75e6 } },
        { "ALLREDUCE_EP\t1000000", STEP_FORWARD, { 0, 1e6 } },
        { "ALLREDUCE_EP\t1000000", STEP_WEIGHT_GRAD, { 0, 1e6 } },
        { "ALLREDUCE_DP_EP\t1000000", STEP_WEIGHT_GRAD, { 0, 1.5e6 } },
        { "ALLTOALL_EP\t1000000", STEP_INPUT_GRAD, { 0, 0.5e6 } },
        { "REDUCESCATTER\t1000000", STEP_WEIGHT_GRAD, { 0, 0.875e6 } },
        { "BROADCAST\t1000000", STEP_FORWARD, { 1e6, 0 } },
        { "NONE\t5", STEP_FORWARD, { 0, 0 } },
        { "ALLREDUCE\t5615517696", STEP_FORWARD, { 1.5 * 5615517696, 0 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        char text[1024];
        snprintf(text, sizeof text, PLAIN "1\n" ROW("%s", "%s", "%s"),
                 cases[i].phase == STEP_FORWARD ? cases[i].mark : QUIET,
                 cases[i].phase == STEP_INPUT_GRAD ? cases[i].mark : QUIET,
                 cases[i].phase == STEP_WEIGHT_GRAD ? cases[i].mark : QUIET);
        STEP_TEXT(t, text, as_written);
        for (int d = 0; d < 2; d++) {
            assert_close(oracle_traffic(&t, t.root, cases[i].phase, d), cases[i].want[d], 1e-14);
            assert_close(oracle_traffic(&t, t.root, N_STEP_PHASES, d), cases[i].want[d], 1e-14);
        }
    }
}

/* Full: 8 MB are the result of 8 shards of 1 MB. An all-gather sends 7 shards; so does a reduce-scatter of 8
 * MB. */
TEST(bytes_of_an_all_gather_are_its_result_or_its_shard)
{
    CASES(int32_t ag_size; double want) = { { -1, 7e6 }, { SIMAI_AG_FULL, 7e6 }, { SIMAI_AG_SHARD, 56e6 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct astra_rule rule = { -1, -1, cases[i].ag_size };
        STEP_TEXT(t,
                  PLAIN "2\n" ROW(QUIET, QUIET, "ALLGATHER\t8000000")
                      ROW(QUIET, QUIET, "REDUCESCATTER\t8000000"),
                  rule);
        assert_close(oracle_traffic(&t, t.root, STEP_WEIGHT_GRAD, 1), cases[i].want + 7e6, 1e-14);
    }
}

/*
 * pp 2, ga 8: forward 1 ms + tp 1.5 ms, backward 2 ms, then 4 ms and dp (4 NPUs, 2 * 3/4 of 4 MB = 6 ms), the
 * last one once in the step and not in the bubble; 16 sends of 1 ms.
 */
TEST(a_pipeline_fills_drains_and_exchanges_weights_once)
{
    static const char text[] = SPLIT "1\n" ROW("ALLREDUCE\t1000000", QUIET, "ALLREDUCE\t4000000");
    STEP_TEXT(t, text, as_written);
    double batches_s = 1e-3 + 1.5e-3 + 2e-3 + 4e-3 + 16e-3;
    assert_close(oracle_time(&t, t.root, GBps), batches_s * (1 + 1 / 8.0) + 6e-3, 1e-14);
    assert_close(oracle_traffic(&t, t.root, STEP_WEIGHT_GRAD, 1), 6e6, 1e-14);
    assert_close(oracle_traffic(&t, t.root, STEP_FORWARD, 0), 1.5e6 * 9 / 8, 1e-14);
    assert_close(oracle_traffic(&t, t.root, STEP_OTHER, 1), 18e6, 1e-14);
}

TEST(loop_and_recomputation_can_be_asked_for)
{
    static const char text[] =
        PLAIN "1\n" ROW("ALLREDUCE\t1000000", "ALLREDUCE\t2000000", "ALLREDUCE\t4000000");
    /* Forward 1 + 1.5; input gradient 2 + 3; weight gradient 4 + 7 ms. */
    CASES(struct astra_rule rule; double want_ms) = {
        { { -1, -1, -1 }, 2.5 + 5 + 11 },
        { { LAYERS_OVERLAP, -1, -1 }, 2.5 + 2 + 11 },
        { { -1, LAYERS_RECOMPUTE_FORWARD, -1 }, 2.5 + 5 + 11 + 2.5 },
        { { -1, LAYERS_RECOMPUTE_COLLECTIVES, -1 }, 2.5 + 5 + 11 + 1.5 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        STEP_TEXT(t, text, cases[i].rule);
        assert_close(oracle_time(&t, t.root, GBps), cases[i].want_ms / 1e3, 1e-14);
    }
}

TEST(checkpoints_say_which_layers_run_forward_again)
{
    STEP_TEXT(t,
              POLICY "checkpoints: 1 0 model_parallel_NPU_group: 4 checkpoint_initiates: 1 2\n3\n" ROW(
                  QUIET, QUIET, QUIET) ROW(QUIET, QUIET, QUIET) ROW(QUIET, QUIET, QUIET),
              as_written);
    assert_close(oracle_compute(&t, t.root, STEP_RECOMPUTE), 2e-3, 1e-14);
}

#define HEAD(tp, ep, pp, gpus)                                                                               \
    POLICY "model_parallel_NPU_group: " tp " ep: " ep " pp: " pp " vpp: 1 ga: 1 all_gpus: " gpus "\n1\n"
#define LINE ROW(QUIET, QUIET, QUIET)

TEST(a_bad_file_is_refused_at_its_place)
{
    CASES(const char *text; int code; const char *message) = {
        { "", ERR_PARSE, "w.txt:1:1: unknown policy end of file" },
        { "HYBRID_FOO 1\n", ERR_PARSE, "w.txt:1:1: unknown policy \"HYBRID_FOO\"" },
        { "MICRO\n1\n", ERR_UNSUP,
          "w.txt:1:1: is MICRO, expected HYBRID_TRANSFORMER or HYBRID_TRANSFORMER_FWD" },
        { POLICY "\n1\n", ERR_PARSE, "w.txt:1:1: has no model_parallel_NPU_group" },
        { POLICY "ep: 1\n1\n", ERR_PARSE, "has no model_parallel_NPU_group" },
        { POLICY "gaa: 1\n", ERR_PARSE, "w.txt:1:33: unknown key \"gaa:\"; did you mean ga?" },
        { POLICY "pp: 1 pp 2\n", ERR_PARSE, "w.txt:1:39: pp is given twice" },
        { POLICY "ep: 1 expert_parallel_npu_group: 1\n", ERR_PARSE,
          "expert_parallel_npu_group is given twice" },
        { POLICY "pp:\n1\n", ERR_PARSE, "w.txt:1:33: pp has no value, expected one on its line" },
        { POLICY "pp: x\n", ERR_PARSE, "w.txt:1:37: pp: is \"x\", expected a whole number" },
        { POLICY "pp_comm: -1\n", ERR_PARSE, "w.txt:1:42: pp_comm: is \"-1\", expected a number of bytes" },
        { POLICY "pp_comm: x\n", ERR_PARSE, "pp_comm: is \"x\", expected a number of bytes, 0 to 1e+18" },
        { HEAD("2", "1", "0", "32") LINE, ERR_RANGE, "w.txt:1:71: pp: is 0, expected 1 to 1073741824" },
        { HEAD("2", "1", "1", "7") LINE, ERR_RANGE, "w.txt:1:96: all_gpus 7 is not divisible by tp*pp = 2" },
        { HEAD("2", "1", "1", "8") LINE, ERR_RANGE,
          "w.txt:1:96: all_gpus: is 8, expected 32, the NPUs of the network" },
        { POLICY "model_parallel_NPU_group: 5\n1\n" LINE, ERR_RANGE,
          "w.txt:1:59: all_gpus 32 is not divisible by tp*pp = 5" },
        { HEAD("4", "3", "1", "32") LINE, ERR_RANGE,
          "w.txt:1:65: ep: is 3, expected a divisor of dp = all_gpus/(tp*pp) = 8" },
        { SPLIT "0\n", ERR_RANGE, "number of layers: is 0, expected at least 1" },
        { SPLIT "1 2\n" LINE, ERR_PARSE, "w.txt:2:3: is \"2\", expected the number of layers alone" },
        { SPLIT "1\n" ROW(QUIET, QUIET, "ALLTOALL_XX\t8192"), ERR_PARSE,
          "unknown group suffix \"_XX\", expected _EP, _DP_EP or none" },
        { SPLIT "1\n" ROW("ALLREDUC_EP\t1", QUIET, QUIET), ERR_PARSE,
          "w.txt:3:14: unknown collective \"ALLREDUC_EP\"; did you mean ALLREDUCE?" },
        { SPLIT "1\n" ROW("ALLREDUCEALLTOALL\t1", QUIET, QUIET), ERR_UNSUP,
          "is ALLREDUCEALLTOALL, expected" },
        { SPLIT "1\nattn\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tNONE\t0\n", ERR_PARSE,
          "w.txt:3:1: 12 columns expected, 11 found" },
        { SPLIT "2\n" LINE "attn\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tNONE\t0\t1\t2\n", ERR_PARSE,
          "w.txt:4:1: 12 columns expected, 13 found" },
        { SPLIT "2\n" LINE, ERR_PARSE, "expected layer 2 of 2, found end of file" },
        { SPLIT "1\n" LINE LINE, ERR_PARSE, "w.txt:4:1: expected end of file after layer 1, found \"n\"" },
        { SPLIT "1\nn\t-1\t1.5\tNONE\t0\t1\tNONE\t0\t1\tNONE\t0\t1\n", ERR_PARSE,
          "w.txt:3:6: forward time: is \"1.5\", expected a whole number" },
        { POLICY "model_parallel_NPU_group: 4 checkpoints: 1 7\n1\n" LINE, ERR_RANGE,
          "layer is 7, expected 0 to 0" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct step_tree, t, step_free);
        FAILS(read_text(&t, cases[i].text, as_written, e), cases[i].code, cases[i].message);
        assert_has(e->msg, "w.txt:");
        assert_true(!t.nodes && !t.groups);
    }
}

/* 6 x 4: 4 NPUs of 24 divide their number, but not the dimensions from the innermost outwards. */
TEST(groups_that_do_not_divide_along_the_dimensions_are_refused)
{
    static const int32_t sizes[] = { 6, 4 };
    struct topo_network net = oracle_network(sizes, 2);
    static const char text[] = POLICY "model_parallel_NPU_group: 4\n1\n" LINE;
    struct step_tree t;
    FAILS(simai_read(&t, "w.txt", text, sizeof text - 1, &net, as_written, e), ERR_RANGE,
          "w.txt:1:59: tp: is 4, expected a size that divides along dimensions [6, 4]");
    assert_null(t.nodes);
}

TEST(a_file_is_named_in_yaml)
{
    struct topo_network net = oracle_network(two_dims, 2);
    char path[SUPPORT_PATH], yaml[SUPPORT_PATH];
    static const char text[] = PLAIN "1\n" ROW(QUIET, QUIET, "ALLGATHER\t8000000");
    static const char study[] = "name: rows\nsimai: w.txt\nag_size: shard\nloop: overlap\n";
    KEEP(struct yaml_doc, doc, yaml_free);
    KEEP(struct step_tree, t, step_free);
    SCRATCH(dir);
    scratch_file(path, dir, "w.txt", text, sizeof text - 1);
    scratch_file(yaml, dir, "w.yaml", study, sizeof study - 1);
    OK(yaml_read_file(&doc, yaml, e));
    OK(step_read(&t, &doc, doc.root, &net, e));
    assert_string_equal(t.name, "rows");
    assert_close(oracle_traffic(&t, t.root, STEP_WEIGHT_GRAD, 1), 56e6, 1e-14);
}
