#include "tests/unit/step_oracle.h"

#include <stdlib.h>

#include "workloads/step.h"

/* Two dimensions of 4: at 1 GB/s each an all-reduce of 1 MB over "all" takes 2 * 3/4 ms = 1.5 ms,
 * an all-to-all 0.75 ms. */
#define LAYERS                                                                                               \
    "layers:\n"                                                                                              \
    "  - name: first\n"                                                                                      \
    "    forward: { compute_ms: 1, collectives: [ { kind: all-reduce, size_MB: 1, group: all } ] }\n"        \
    "    input_grad: { compute_ms: 2, collectives: [ { kind: all-to-all, size_MB: 1, times: 2, group: all "  \
    "} ] }\n"                                                                                                \
    "    weight_grad: { compute_ms: 4, collectives: [ { kind: all-reduce, size_MB: 2, group: all } ] }\n"    \
    "  - name: second\n"                                                                                     \
    "    times: 10\n"                                                                                        \
    "    forward: { compute_ms: 8 }\n"                                                                       \
    "    input_grad: { compute_ms: 16, collectives: [ { kind: all-reduce, size_MB: 64, group: all, name: "   \
    "big } ] }\n"                                                                                            \
    "    weight_grad: { compute_ms: 32 }\n"

static const int32_t two_of_4[] = { 4, 4 };
static const double GBps[TOPO_MAX_DIMS] = { 1e9, 1e9, 1e9, 1e9 };

static int read_text(struct step_tree *t, const char *text, struct err *e)
{
    struct topo_network net = oracle_network(two_of_4, 2);
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

static double time_of(const char *text)
{
    KEEP(struct step_tree, t, step_free);
    struct err e = { 0 };
    assert_ok(read_text(&t, text, &e), &e);
    return oracle_time(&t, t.root, GBps);
}

/* first: fwd 1 + 1.5, ig 2 + 1.5, wg 4 + 3; second (x10): fwd 8, ig 16 + 96, wg 32. In ms. */
TEST(each_loop_gives_the_time_of_its_definition)
{
    double in_turn = 2.5 + 3.5 + 7 + 10 * (8 + 112 + 32);
    assert_close(time_of(LAYERS), in_turn / 1e3, 1e-14);
    assert_close(time_of("loop: no-overlap\nrecompute: none\n" LAYERS), in_turn / 1e3, 1e-14);
    /* max(ig_c + ig_x, ig_c + wg_c + wg_x): first max(3.5, 9), second max(112, 48). */
    assert_close(time_of("loop: overlap\n" LAYERS), (2.5 + 9 + 10 * (8 + 112)) / 1e3, 1e-14);
}

TEST(recomputation_repeats_what_its_word_says)
{
    double in_turn = 2.5 + 3.5 + 7 + 10 * (8 + 112 + 32), overlap = 2.5 + 9 + 10 * (8 + 112);
    assert_close(time_of("recompute: collectives\n" LAYERS), (in_turn + 1.5) / 1e3, 1e-14);
    assert_close(time_of("recompute: forward\n" LAYERS), (in_turn + 2.5 + 10 * 8) / 1e3, 1e-14);
    assert_close(time_of("loop: overlap\nrecompute: forward\n" LAYERS), (overlap + 2.5 + 10 * 8) / 1e3,
                 1e-14);
}

TEST(leaves_carry_phase_and_name_and_are_counted_once)
{
    static const char *const loops[] = { "loop: no-overlap\nrecompute: forward\n" LAYERS,
                                         "loop: overlap\nrecompute: forward\n" LAYERS };
    for (size_t i = 0; i < COUNT_OF(loops); i++) {
        int big = 0;
        STEP_TEXT(t, loops[i]);
        assert_close(oracle_compute(&t, t.root, STEP_FORWARD), 81e-3, 1e-14);
        assert_close(oracle_compute(&t, t.root, STEP_RECOMPUTE), 81e-3, 1e-14);
        assert_close(oracle_compute(&t, t.root, STEP_INPUT_GRAD), 162e-3, 1e-14);
        assert_close(oracle_compute(&t, t.root, STEP_WEIGHT_GRAD), 324e-3, 1e-14);
        for (step_id id = 0; id < t.n_nodes; id++) {
            bool leaf = t.nodes[id].kind == STEP_COMPUTE || t.nodes[id].kind == STEP_COLLECTIVE;
            assert_true(!leaf || t.nodes[id].name[0]);
            big += strcmp(t.nodes[id].name, "big") == 0;
        }
        assert_int_equal(big, 1);
    }
}

TEST(backward_goes_from_the_last_layer_to_the_first)
{
    STEP_TEXT(t, LAYERS);
    const struct step_node *forward = &t.nodes[t.nodes[t.root].first], *backward = &t.nodes[forward->next];
    assert_string_equal(t.nodes[forward->first].name, "first");
    assert_string_equal(t.nodes[forward->last].name, "second");
    assert_string_equal(t.nodes[backward->first].name, "second");
    assert_string_equal(t.nodes[backward->last].name, "first");
}

TEST(a_bad_layer_is_refused_at_its_place)
{
    CASES(const char *text; int code; const char *message) = {
        { "layers: []\n", ERR_PARSE, "w.yaml:1:9: layers is empty, expected at least one layer" },
        { "layers: 3\n", ERR_PARSE, "layers is 3, expected a list" },
        { "layers:\n  - { name: x }\n", ERR_PARSE,
          "layers[0] has no work; give forward, input_grad or weight_grad" },
        { "layers:\n  - { times: 0, forward: {} }\n", ERR_RANGE, "layers[0].times is 0, expected 1 to" },
        { "layers:\n  - { forward: { compute_ns: 1, compute_ms: 1 } }\n", ERR_PARSE,
          "layers[0].forward has compute_ns and compute_ms; give one of them" },
        { "layers:\n  - { forward: { collectives: [ { kind: allreduce, size_B: 1, group: all } ] } }\n",
          ERR_PARSE, "layers[0].forward.collectives[0].kind is allreduce, expected one of all-reduce" },
        { "layers:\n  - { weight_grad: { collectives: [ { size_B: 1, group: all } ] } }\n", ERR_PARSE,
          "layers[0].weight_grad.collectives[0] has no kind" },
        { "layers:\n  - { forward: { collectives: [ { kind: all-gather, group: all } ] } }\n", ERR_PARSE,
          "layers[0].forward.collectives[0] has no size" },
        { "layers:\n  - { forward: { collectives: { kind: all-gather } } }\n", ERR_PARSE,
          "layers[0].forward.collectives is a map" },
        { "layers:\n  - { backward: {} }\n", ERR_PARSE, "unknown key \"layers[0].backward\"" },
        { "loop: overlapped\nlayers:\n  - { forward: {} }\n", ERR_PARSE,
          "loop is overlapped, expected one of no-overlap, overlap; did you mean overlap?" },
        { "recompute: all\nlayers:\n  - { forward: {} }\n", ERR_PARSE,
          "recompute is all, expected one of none, collectives, forward" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct step_tree, t, step_free);
        FAILS(read_text(&t, cases[i].text, e), cases[i].code, cases[i].message);
        assert_null(t.nodes);
    }
}

static const int32_t sizes_3d[] = { 16, 8, 32 }, sizes_4d[] = { 4, 8, 4, 32 };

static void read_config(struct step_tree *t, const char *path, const int32_t *sizes, int32_t n_dims)
{
    struct topo_network net = oracle_network(sizes, n_dims);
    KEEP(struct yaml_doc, doc, yaml_free);
    MUST(yaml_read_file(&doc, path, e));
    MUST(step_read(t, &doc, doc.root, &net, e));
}

#define CONFIG(v, ...)                                                                                       \
    KEEP(struct step_tree, v, step_free);                                                                    \
    read_config(&v, __VA_ARGS__)

static const char *config_of(const char *workload)
{
    static const char *const files[][2] = {
        { "GPT_3", "configs/workloads/gpt3.yaml" },
        { "MSFT_1T", "configs/workloads/msft1t.yaml" },
        { "Turing_NLG", "configs/workloads/turing-nlg.yaml" },
        { "ResNet_50", "configs/workloads/resnet50.yaml" },
        { "DLRM", "configs/workloads/dlrm.yaml" },
    };
    for (size_t i = 0; i < COUNT_OF(files); i++)
        if (strcmp(files[i][0], workload) == 0)
            return files[i][1];
    fail_msg("no file for %s", workload);
    return NULL;
}

/* Groups as the communicator files of the public inputs have them. */
TEST(one_file_gives_the_published_groups_on_every_network)
{
    CASES(const char *workload, *group; int32_t on_3d[3], on_4d[4]) = {
        { "GPT_3", "tp", { 16, 1, 1 }, { 4, 4, 1, 1 } },   { "GPT_3", "dp", { 1, 8, 32 }, { 1, 2, 4, 32 } },
        { "MSFT_1T", "tp", { 16, 8, 1 }, { 4, 8, 4, 1 } }, { "MSFT_1T", "dp", { 1, 1, 32 }, { 1, 1, 1, 32 } },
        { "DLRM", "all", { 16, 8, 32 }, { 4, 8, 4, 32 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CONFIG(t, config_of(cases[i].workload), sizes_3d, 3);
        for (int d = 0; d < 3; d++)
            assert_int_equal(oracle_members(&t, cases[i].group)[d], cases[i].on_3d[d]);
        step_free(&t);
        read_config(&t, config_of(cases[i].workload), sizes_4d, 4);
        for (int d = 0; d < 4; d++)
            assert_int_equal(oracle_members(&t, cases[i].group)[d], cases[i].on_4d[d]);
    }
}

/* Bytes per dimension of a whole step, from the published sizes and groups with the fractions worked out
 * by hand: GPT-3 tp 3D: 8 * 2 S 15/16 + 2 s 15; dp: 2 W 7/8, 2 W 31/256; and so on. */
TEST(traffic_per_dimension_is_what_the_published_inputs_give)
{
    const double S = 805306368, g = 50331648, W = 452984832, m = 6291456, V = 226492416, T = 869449728,
                 R = 51005824;
    const double A = 4194304, D = 114823168;
    const struct {
        const char *workload;
        double on_3d[3], on_4d[4];
    } cases[] = {
        { "GPT_3",
          { 8 * 2 * S * 15 / 16 + 2 * g * 15, 2 * W * 7 / 8, 2 * W * 31 / 256 },
          { 8 * 2 * S * 3 / 4 + 2 * g * 3 * 4, 8 * 2 * S * 3 / 16 + 2 * g * 3 + 2 * W / 2, 2 * W * 3 / 8,
            2 * W * 31 / 256 } },
        { "MSFT_1T",
          { 8 * 2 * S * 15 / 16 + 2 * m * 15 * 8, 8 * 2 * S * 7 / 128 + 2 * m * 7, 2 * V * 31 / 32 },
          { 8 * 2 * S * 3 / 4 + 2 * m * 3 * 32, 8 * 2 * S * 7 / 32 + 2 * m * 7 * 4,
            8 * 2 * S * 3 / 128 + 2 * m * 3, 2 * V * 31 / 32 } },
        { "Turing_NLG",
          { 2 * T * 15 / 16, 2 * T * 7 / 128, 2 * T * 31 / 4096 },
          { 2 * T * 3 / 4, 2 * T * 7 / 32, 2 * T * 3 / 128, 2 * T * 31 / 4096 } },
        { "ResNet_50",
          { 2 * R * 15 / 16, 2 * R * 7 / 128, 2 * R * 31 / 4096 },
          { 2 * R * 3 / 4, 2 * R * 7 / 32, 2 * R * 3 / 128, 2 * R * 31 / 4096 } },
        { "DLRM",
          { 2 * A * 15 / 16 + 2 * D * 15 / 16, 2 * A * 7 / 8 + 2 * D * 7 / 128,
            2 * A * 31 / 32 + 2 * D * 31 / 4096 },
          { 2 * A * 3 / 4 + 2 * D * 3 / 4, 2 * A * 7 / 8 + 2 * D * 7 / 32, 2 * A * 3 / 4 + 2 * D * 3 / 128,
            2 * A * 31 / 32 + 2 * D * 31 / 4096 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        CONFIG(t, config_of(cases[i].workload), sizes_3d, 3);
        for (int d = 0; d < 3; d++)
            assert_close(oracle_traffic(&t, t.root, N_STEP_PHASES, d), cases[i].on_3d[d], 1e-15);
        step_free(&t);
        read_config(&t, config_of(cases[i].workload), sizes_4d, 4);
        for (int d = 0; d < 4; d++)
            assert_close(oracle_traffic(&t, t.root, N_STEP_PHASES, d), cases[i].on_4d[d], 1e-15);
    }
}

/* Every row of the table of exact answers: compute time, time at the equal split, time at the optimal split.
 */
TEST(times_equal_the_reference_rows)
{
    FILE *f = fopen("tests/reference/libra_exact.csv", "r");
    char line[1024];
    int rows = 0;
    assert_true(f && fgets(line, sizeof line, f));
    while (fgets(line, sizeof line, f)) {
        char workload[32], split[128];
        double n_dims, total, compute_ns, equal_ns, best_ns, bw_Bps[4] = { 0 }, best_Bps[4] = { 0 };
        assert_int_equal(sscanf(line, "%31[^,],%lfd,%lf,%*[^,],%lf,%lf,%lf,%*f,%*f,%127[^,],", workload,
                                &n_dims, &total, &compute_ns, &equal_ns, &best_ns, split),
                         7);
        assert_true(sscanf(split, "%lf %lf %lf %lf", &best_Bps[0], &best_Bps[1], &best_Bps[2],
                           &best_Bps[3]) == (int)n_dims);
        CONFIG(t, config_of(workload), n_dims > 3 ? sizes_4d : sizes_3d, (int32_t)n_dims);
        for (int d = 0; d < 4; d++) {
            bw_Bps[d] = total * 1e9 / n_dims;
            best_Bps[d] *= 1e9;
        }
        assert_close(oracle_compute(&t, t.root, N_STEP_PHASES), compute_ns * 1e-9, 1e-15);
        assert_close(oracle_time(&t, t.root, bw_Bps), equal_ns * 1e-9, 1e-14);
        /* The split is printed to 1e-6 GB/s; its least entry is 0.757, hence 7e-7 of the communication. */
        assert_close(oracle_time(&t, t.root, best_Bps), best_ns * 1e-9, 7e-7);
        rows++;
    }
    fclose(f);
    assert_int_equal(rows, 30);
}

/* Communication time at 100 GB/s per NPU, in ms: split published by the authors, and equal split. Computed
 * from the artifact's inputs by a separate program; the splits are those of libra_v1_splits.csv. */
TEST(the_2022_workloads_take_the_known_times)
{
    CASES(const char *path; int32_t n_dims, sizes[4]; double split_GBps[4], published_ms, equal_ms) = {
        { "configs/workloads/v1-17b.yaml", 2, { 8, 128 }, { 87.58, 12.42 }, 17.373, 30.431 },
        { "configs/workloads/v1-175b.yaml", 2, { 8, 128 }, { 81.92, 18.08 }, 272.968, 384.251 },
        { "configs/workloads/v1-1t.yaml", 2, { 8, 128 }, { 87.18, 12.82 }, 241.066, 374.342 },
        { "configs/workloads/v1-17b.yaml", 3, { 8, 8, 16 }, { 87.55, 10.96, 1.49 }, 17.379, 45.646 },
        { "configs/workloads/v1-175b.yaml", 3, { 8, 8, 16 }, { 81.92, 13.77, 4.31 }, 272.986, 570.006 },
        { "configs/workloads/v1-1t.yaml", 3, { 8, 8, 16 }, { 78.06, 9.76, 12.18 }, 267.242, 561.512 },
        { "configs/workloads/v1-17b.yaml", 4, { 2, 8, 8, 8 }, { 50.03, 43.77, 5.49, 0.71 }, 17.381, 34.778 },
        { "configs/workloads/v1-175b.yaml",
          4,
          { 2, 8, 8, 8 },
          { 43.96, 38.47, 15.62, 1.95 },
          288.964,
          450.468 },
        { "configs/workloads/v1-1t.yaml",
          4,
          { 2, 8, 8, 8 },
          { 44.28, 38.74, 4.85, 12.14 },
          269.107,
          434.614 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double split_Bps[4], equal_Bps[4];
        for (int d = 0; d < 4; d++) {
            split_Bps[d] = cases[i].split_GBps[d] * 1e9;
            equal_Bps[d] = 100e9 / cases[i].n_dims;
        }
        CONFIG(t, cases[i].path, cases[i].sizes, cases[i].n_dims);
        double compute_s = oracle_compute(&t, t.root, N_STEP_PHASES);
        assert_near(1e3 * (oracle_time(&t, t.root, split_Bps) - compute_s), cases[i].published_ms, 5.1e-4);
        assert_near(1e3 * (oracle_time(&t, t.root, equal_Bps) - compute_s), cases[i].equal_ms, 5.1e-4);
    }
}
