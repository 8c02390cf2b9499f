#include "sim/hetero/profile.h"
#include "tests/unit/training_fixture.h"

/* A socket's share: 50 GFLOP/s and 4 GB/s, all of it reached. */
static struct topo_npu cpu_core(void)
{
    struct topo_npu npu;
    topo_npu_defaults(&npu);
    npu.peak_flops = 5e10;
    npu.mem_Bps = 4e9;
    return npu;
}

static struct hetero_type type_named(const char *name)
{
    struct hetero_type t = {
        .compute_par = 0.9, .comm_par = 0.8, .max_units = 64, .usd_per_h = 1, .host = -1, .nic_Bps = 1e9
    };
    snprintf(t.name, sizeof t.name, "%s", name);
    return t;
}

/* On one type. */
static void build(struct hetero_profile *p, const struct model *m, double batch, const struct topo_npu *npu,
                  double net_Bps)
{
    const struct hetero_type type = type_named("unit");
    MUST(hetero_profile_of_model(p, m, batch, 1, &type, npu, &net_Bps, e));
}

/* A profile that is released where the block ends. */
#define PROFILE(v, ...)                                                                                      \
    KEEP(struct hetero_profile, v, hetero_profile_free);                                                     \
    build(&v, __VA_ARGS__)

static void read_model(struct model *m, const char *text)
{
    struct err e = { 0 };
    assert_ok(fixture_read_model(m, text, &e), &e);
}

static const char *const presets[] = {
    "gpt3-175b",     "megatron-22b",    "megatron-530b", "megatron-1t",  "turing-nlg-17b", "llama3.2-3b",
    "llama3-8b",     "llama3-70b",      "llama3-405b",   "mixtral-8x7b", "deepseek-v3",    "dlrm-dcnv2",
    "resnet50",      "deepseek-v3-mtp", "gemma3-27b",    "gpt-oss-120b", "gpt-oss-20b",    "kimi-k2",
    "mixtral-8x22b", "qwen3-235b-a22b", "qwen3-30b-a3b"
};

/* ---- all presets ---- */

TEST(no_preset_is_left_out)
{
    DIR *d = opendir("configs/models");
    int n = 0;
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));)
        n += entry->d_name[0] != '.';
    closedir(d);
    assert_int_equal(n, COUNT_OF(presets));
}

TEST(every_preset_has_a_profile_on_a_GPU_and_a_core)
{
    const struct hetero_type types[] = { type_named("core"), type_named("gpu") };
    const double net_Bps[] = { 1e9, 5e10 };
    struct topo_npu npus[2] = { cpu_core() };
    npus[1] = fixture_npu("h100-80gb");
    for (size_t i = 0; i < COUNT_OF(presets); i++) {
        KEEP(struct hetero_profile, p, hetero_profile_free);
        struct model m = fixture_model(presets[i]);
        OK(hetero_profile_of_model(&p, &m, 1024, 2, types, npus, net_Bps, e));
        OK(hetero_profile_check(&p, e));
        assert_string_equal(p.name, m.name);
        assert_string_equal(p.types[1].name, "gpu");
        assert_true(p.types[1].usd_per_h == 1 && p.types[1].nic_Bps == 1e9 && p.types[1].host == -1);
        assert_int_equal(p.layers[0].kind, m.family == MODEL_CNN ? (int)HETERO_BLOCK : (int)HETERO_EMBEDDING);
        assert_int_equal(p.layers[p.n_layers - 1].kind, HETERO_FC);
        for (int32_t l = 0; l < p.n_layers; l++) {
            /* In a large batch, where the gaps before a GPU's kernels do not decide. */
            size_t core = 2 * (size_t)l, gpu = core + 1;
            assert_true(p.compute_s[core] > p.compute_s[gpu] && p.compute_s[gpu] > 0);
            assert_close(p.sync_s[core], 50 * p.sync_s[gpu], 1e-15);
            assert_close(p.handover_s[core], 1024 * p.layers[l].out_B / 1e9, 1e-15);
            for (int32_t k = 0; k < l; k++)
                assert_string_not_equal(p.layers[l].name, p.layers[k].name);
        }
    }
}

/* What a unit would do that has the whole model, by the functions that plan training. */
static double whole_s(const struct model *m, int64_t batch, const struct topo_npu *npu)
{
    WITH(struct plan, plan, fixture_plan(1, 1, 1, 1, batch), plan.micro = batch);
    double sum_s = 0;
    for (int64_t i = -2; i < m->layers; i++) {
        struct block_cost c;
        enum block_kind kind = i == -2                   ? BLOCK_EMBED
                               : i == -1                 ? BLOCK_HEAD
                               : model_has_experts(m, i) ? BLOCK_EXPERTS
                                                         : BLOCK_DENSE;
        block_cost(&c, kind, m, &plan, npu);
        sum_s += c.forward_s + c.core_s + c.core_back_s + c.input_s + c.weight_s + c.rest_s;
    }
    return sum_s;
}

TEST(layers_together_take_what_the_whole_model_takes)
{
    struct topo_npu npus[2] = { cpu_core() };
    npus[1] = fixture_npu("a100-80gb");
    for (size_t i = 0; i < 2 * COUNT_OF(presets); i++) {
        double sum_s = 0;
        struct model m = fixture_model(presets[i / 2]);
        PROFILE(p, &m, 16, &npus[i % 2], 1e9);
        for (int32_t l = 0; l < p.n_layers; l++)
            sum_s += p.compute_s[l];
        assert_close(sum_s, whole_s(&m, 16, &npus[i % 2]), 1e-11);
    }
}

/* Two bytes for each parameter; rows of a DLRM four. A vocabulary that is filled up, a tied one that both
 * ends hold, and the joint of each predicted token (two vectors to one, three norms) come on top of the
 * parameters that papers count. */
TEST(layers_together_weigh_what_the_whole_model_weighs)
{
    const struct topo_npu npu = cpu_core();
    for (size_t i = 0; i < COUNT_OF(presets); i++) {
        double sum_B = 0;
        struct model m = fixture_model(presets[i]);
        PROFILE(p, &m, 1, &npu, 1e9);
        for (int32_t l = 0; l < p.n_layers; l++)
            sum_B += p.layers[l].weight_B;
        double want_B = 2 * model_params(&m), h = (double)m.hidden;
        if (m.family == MODEL_DLRM)
            want_B += 2 * m.dlrm.rows * (double)m.dlrm.dim;
        if (m.family == MODEL_TRANSFORMER)
            want_B += 4 * h * (model_vocab(&m, 1) - (double)m.vocab) +
                      (m.tied ? 2 * h * (double)m.vocab : 0) + 2 * (double)m.mtp * (2 * h * h + 3 * h);
        assert_close(sum_B, want_B, 1e-13);
    }
}

/* ---- work, in closed form ---- */

/* arXiv 2104.04473: forward 24 B s h^2 (1 + s/6h) a layer and 2 B s h V of logits, backward twice that. */
TEST(a_layer_of_GPT_computes_three_times_its_forward_pass)
{
    const struct topo_npu npu = fixture_counter(false);
    const double s = 2048, h = 12288, batch = 8;
    struct model m = fixture_model("gpt3-175b");
    PROFILE(p, &m, batch, &npu, 1e9);
    assert_true(p.n_layers == 98 && p.compute_s[0] == 0);
    for (int32_t l = 1; l <= 96; l++)
        assert_close(p.compute_s[l], 3 * 24 * batch * s * h * h * (1 + s / (6 * h)), 1e-14);
    assert_close(p.compute_s[97], 3 * 2 * batch * s * h * 50304, 1e-14);
}

TEST(a_dense_layer_of_a_DLRM_computes_six_products_of_its_widths)
{
    CASES(int32_t layer; const char *name; double in, out) = {
        { 1, "bottom1", 13, 512 }, { 2, "bottom2", 512, 256 }, { 3, "bottom3", 256, 128 },
        { 5, "top1", 3456, 1024 }, { 6, "top2", 1024, 1024 },  { 7, "top3", 1024, 512 },
        { 8, "top4", 512, 256 },   { 9, "top5", 256, 1 },
    };
    const struct topo_npu npu = fixture_counter(false);
    struct model m = fixture_model("dlrm-dcnv2");
    PROFILE(p, &m, 100, &npu, 1e9);
    assert_int_equal(p.n_layers, 10);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const struct hetero_layer *l = &p.layers[cases[i].layer];
        assert_string_equal(l->name, cases[i].name);
        assert_int_equal(l->kind, HETERO_FC);
        assert_close(p.compute_s[cases[i].layer], 6 * 100 * cases[i].in * cases[i].out, 1e-14);
        assert_close(l->weight_B, 2 * (cases[i].in + 1) * cases[i].out, 1e-15);
        assert_close(p.sync_s[cases[i].layer], 2 * l->weight_B / 1e9, 1e-15);
    }
    /* Three cross layers through rank 512, of which the weights have one bias. */
    assert_string_equal(p.layers[4].name, "interaction");
    assert_int_equal(p.layers[4].kind, HETERO_BLOCK);
    assert_close(p.compute_s[4], 6 * 100 * 3 * 2 * 3456 * 512.0, 1e-14);
    assert_close(p.layers[4].weight_B, 2 * 3 * (2 * 3456 * 512.0 + 3456), 1e-15);
}

/* 214 rows of 128 for a sample, read as random access, written 2.5 times in the update: docs/training.md. */
TEST(tables_take_memory_alone)
{
    const struct topo_npu mem = fixture_counter(true), flop = fixture_counter(false);
    const double rows_B = 4 * 214 * 128.0;
    struct model m = fixture_model("dlrm-dcnv2");
    PROFILE(p, &m, 100, &flop, 1e9);
    assert_true(p.compute_s[0] == 0);
    hetero_profile_free(&p);
    build(&p, &m, 100, &mem, 1e9);
    assert_string_equal(p.layers[0].name, "tables");
    assert_close(p.compute_s[0], 100 * rows_B * 1.33 * 3.5, 1e-14);
    assert_true(p.layers[0].sparse_B == 2 * rows_B);
    assert_close(p.sync_s[0], 100 * 2 * rows_B / 1e9, 1e-15);
}

TEST(a_convolution_computes_six_products_of_its_pixels)
{
    const struct topo_npu npu = fixture_counter(false);
    double sum = 0;
    struct model m = fixture_model("resnet50");
    PROFILE(p, &m, 2, &npu, 1e9);
    /* 53 convolutions; the first is 7 x 7 of 3 to 64 channels at 112 x 112. */
    assert_int_equal(p.n_layers, 54);
    assert_string_equal(p.layers[0].name, "conv1");
    assert_close(p.compute_s[0], 6 * 2 * 112 * 112 * 64.0 * 3 * 49, 1e-12);
    assert_true(p.layers[0].out_B == 2 * 112 * 112 * 64.0);
    assert_true(p.layers[0].weight_B == 2 * (64 * 3 * 49 + 2 * 64));
    assert_string_equal(p.layers[53].name, "linear");
    assert_close(p.compute_s[53], 6 * 2 * 2048 * 1000.0, 1e-14);
    for (int32_t l = 0; l < p.n_layers; l++)
        sum += p.compute_s[l];
    assert_near(sum, 2 * 3 * 2 * 4.089e9, 2 * 3 * 2 * 0.0005e9); /* 4.089 G multiply-adds an image */
}

/* ---- communication, by hand ---- */

#define SMALL                                                                                                \
    "layers: 2\nhidden: 8\nheads: 2\nffn: 16\nvocab: 10\nseq: 4\nactivation: gelu\nnorm: layer-norm\n"       \
    "positions: learned\nattention: unfused\nbiases: false\nvocab_multiple: 0\n"

TEST(a_transformer_moves_rows_weights_and_activations)
{
    CASES(const char *text; double head) = {
        { SMALL "tied: false\n", 10 * 8 + 16 },
        { SMALL "tied: true\n", 10 * 8 + 16 },
    };
    const struct topo_npu npu = fixture_counter(true);
    const double batch = 3, wide_B = 2 * 4 * 8, layer = 4 * 8 * 8 + 2 * 8 * 16 + 2 * 16;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct model m;
        read_model(&m, cases[i].text);
        PROFILE(p, &m, batch, &npu, 1);
        assert_int_equal(p.n_layers, 4);
        assert_string_equal(p.layers[0].name, "embedding");
        assert_true(p.layers[0].in_B == 8 * 4 && p.layers[0].out_B == wide_B);
        assert_true(p.layers[0].weight_B == 2 * (10 * 8 + 4 * 8) && p.layers[0].sparse_B == 2 * wide_B);
        /* Rows of each example; positions once. */
        assert_true(p.sync_s[0] == batch * 2 * wide_B + 2 * 2 * 4 * 8);
        for (int32_t l = 1; l <= 2; l++) {
            assert_true(p.layers[l].kind == HETERO_BLOCK && p.layers[l].weight_B == 2 * layer);
            assert_true(p.layers[l].in_B == wide_B && p.layers[l].sparse_B == 0);
            assert_true(p.sync_s[l] == 2 * 2 * layer && p.handover_s[l] == batch * wide_B);
        }
        assert_string_equal(p.layers[2].name, "layer2");
        assert_string_equal(p.layers[3].name, "head");
        assert_true(p.layers[3].weight_B == 2 * cases[i].head && p.sync_s[3] == 2 * 2 * cases[i].head);
        assert_true(p.handover_s[3] == batch * 2 * 4);
    }
}

/* 26 pooled vectors of 128 in 4 bytes go past the bottom layers; the 13 dense inputs past the tables. */
TEST(what_goes_past_a_layer_is_handed_over_with_it)
{
    const struct topo_npu npu = cpu_core();
    const double pooled_B = 26 * 128 * 4;
    const double out_B[] = { pooled_B + 2 * 13,
                             pooled_B + 2 * 512,
                             pooled_B + 2 * 256,
                             pooled_B + 2 * 128,
                             2 * 27 * 128,
                             2 * 1024,
                             2 * 1024,
                             2 * 512,
                             2 * 256,
                             2 };
    struct model m = fixture_model("dlrm-dcnv2");
    PROFILE(p, &m, 10, &npu, 1e9);
    assert_true(p.layers[0].in_B == 8 * 214 + 2 * 13);
    for (int32_t l = 0; l < p.n_layers; l++) {
        assert_true(p.layers[l].out_B == out_B[l]);
        assert_true(l == 0 || p.layers[l].in_B == out_B[l - 1]);
        assert_close(p.handover_s[l], 10 * out_B[l] / 1e9, 1e-15);
    }
}

TEST(a_batch_that_is_not_a_number_of_examples_is_refused)
{
    CASES(double batch; const char *text) = {
        { 0, "batch: is 0 examples, expected a whole number from 1 to 1e+09" },
        { 1.5, "batch: is 1.5 examples" },
        { 2e9, "batch: is 2e+09 examples" },
        { NAN, "batch: is nan examples" },
    };
    const struct hetero_type type = type_named("a");
    const struct topo_npu npu = cpu_core();
    const double net_Bps = 1e9;
    struct model m = fixture_model("resnet50");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct hetero_profile, p, hetero_profile_free);
        FAILS(hetero_profile_of_model(&p, &m, cases[i].batch, 1, &type, &npu, &net_Bps, e), ERR_RANGE,
              cases[i].text);
    }
}

TEST(a_model_of_too_many_layers_is_refused)
{
    const struct hetero_type type = type_named("a");
    const struct topo_npu npu = cpu_core();
    const double net_Bps = 1e9;
    struct hetero_profile p;
    struct model m;
    read_model(&m, SMALL);
    m.layers = 254;
    OK(hetero_profile_of_model(&p, &m, 1, 1, &type, &npu, &net_Bps, e));
    assert_int_equal(p.n_layers, 256);
    hetero_profile_free(&p);
    m.layers = 255;
    snprintf(m.name, sizeof m.name, "deep");
    FAILS(hetero_profile_of_model(&p, &m, 1, 1, &type, &npu, &net_Bps, e), ERR_RANGE,
          "model 'deep' has 257 layers, expected at most 256");
    assert_null(p.layers);
}
