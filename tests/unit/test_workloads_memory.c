#include "tests/unit/training_fixture.h"

static const char *const megatron[] = { "megatron-22b", "gpt3-175b", "megatron-530b", "megatron-1t" };

static struct plan with(int64_t t, bool seq, int32_t recompute)
{
    WITH(struct plan, p, fixture_plan(t, 1, 1, 1, 4), p.micro = 4, p.seq_parallel = seq,
         p.recompute = recompute);
    return p;
}

/* Llama 3 8B under PyTorch's selective checkpointing: input, queries, values, attention's output and the
 * first product of the MLP; without torch.compile the last product as well, which nothing needs. */
TEST(compiled_layers_keep_no_product_that_no_gradient_needs)
{
    struct model m = fixture_model("llama3-8b");
    struct plan p = with(1, false, PLAN_RECOMPUTE_SAC);
    double tokens = 4 * (double)m.seq, kept = 2 * (3 * 4096 + 1024 + 14336);
    p.software = PLAN_COMPILED;
    assert_close(memory_layer_B(&m, &p, false), tokens * kept, 1e-14);
    p.software = PLAN_EAGER;
    assert_close(memory_layer_B(&m, &p, false), tokens * (kept + 2 * 4096), 1e-14);
}

/* arXiv 2205.05198 table 2, all rows. */
TEST(a_layer_keeps_what_the_paper_says_with_every_technique)
{
    for (size_t i = 0; i < COUNT_OF(megatron); i++) {
        struct model m = fixture_model(megatron[i]);
        const double s = (double)m.seq, h = (double)m.hidden, sbh = 4 * s * h, t = 8;
        const double scores = 5 * (double)m.heads * s / h;
        const struct {
            int64_t t;
            bool seq;
            int32_t recompute;
            double bytes;
        } cases[] = {
            { 1, false, PLAN_RECOMPUTE_NONE, sbh * (34 + scores) },
            { 8, false, PLAN_RECOMPUTE_NONE, sbh * (10 + 24 / t + scores / t) },
            { 8, true, PLAN_RECOMPUTE_NONE, sbh / t * (34 + scores) },
            { 8, false, PLAN_RECOMPUTE_SELECTIVE, sbh * (10 + 24 / t) },
            { 8, true, PLAN_RECOMPUTE_SELECTIVE, 34 * sbh / t },
            { 1, false, PLAN_RECOMPUTE_FULL, 2 * sbh },
            { 8, false, PLAN_RECOMPUTE_FULL, 2 * sbh },
            { 8, true, PLAN_RECOMPUTE_FULL, 2 * sbh / t },
        };
        for (size_t k = 0; k < COUNT_OF(cases); k++) {
            struct plan p = with(cases[k].t, cases[k].seq, cases[k].recompute);
            assert_close(memory_layer_B(&m, &p, false), cases[k].bytes, 1e-14);
        }
    }
}

/* The same paper's figure 7, per cent of tensor parallelism alone, as Calculon carries it: within 0.3 %, full
 * recomputation 1.1 %. Columns: sequence parallel, selective, both, full with its input kept in parts. */
TEST(savings_are_those_of_the_published_figure)
{
    static const double printed[][4] = { { 66.84, 49.42, 16.18, 7.64 },
                                         { 62.04, 56.53, 18.49, 8.71 },
                                         { 58.31, 62.04, 20.27, 9.42 },
                                         { 58.31, 62.04, 20.27, 9.42 } };
    static const double computed[][4] = { { 66.77, 49.37, 16.14, 7.59 },
                                          { 61.96, 56.52, 18.48, 8.70 },
                                          { 58.33, 61.90, 20.24, 9.52 },
                                          { 58.33, 61.90, 20.24, 9.52 } };
    const struct plan tp = with(8, false, PLAN_RECOMPUTE_NONE);
    for (size_t i = 0; i < COUNT_OF(megatron); i++) {
        const struct plan saved[] = { with(8, true, PLAN_RECOMPUTE_NONE),
                                      with(8, false, PLAN_RECOMPUTE_SELECTIVE),
                                      with(8, true, PLAN_RECOMPUTE_SELECTIVE),
                                      with(8, false, PLAN_RECOMPUTE_FULL) };
        struct model m = fixture_model(megatron[i]);
        for (int k = 0; k < 4; k++) {
            double got = 100 * memory_layer_B(&m, &saved[k], false) / memory_layer_B(&m, &tp, false);
            assert_near(got, computed[i][k], 0.005);
            assert_close(got, printed[i][k], k < 3 ? 0.003 : 0.011);
        }
    }
}

/* The paper's 5 a s / h are softmax's output 2, dropout's output 2 and mask 1, of which the first is left; so
 * are the masks of the two joints, 2 of its 34, and nothing of the rest. */
TEST(without_dropout_neither_output_nor_masks_are_kept)
{
    struct plan p = with(1, false, PLAN_RECOMPUTE_NONE);
    WITH(struct model, m, fixture_model("gpt3-175b"), m.dropout = false);
    const double s = (double)m.seq, h = (double)m.hidden, sbh = 4 * s * h;
    assert_close(memory_layer_B(&m, &p, false), sbh * (32 + 2 * (double)m.heads * s / h), 1e-14);
    p.recompute = PLAN_RECOMPUTE_SELECTIVE;
    assert_close(memory_layer_B(&m, &p, false), sbh * 32, 1e-14);
}

/* Of the paper's 34: 2 + 2 are outputs of norms, 8 that of the activation, 16 all that the MLP keeps. Any of
 * recompute_ops, together too; the MLP holds its activation. */
TEST(what_is_done_again_is_not_kept)
{
    struct model m = fixture_model("gpt3-175b");
    const double s = (double)m.seq, h = (double)m.hidden, part = 4 * s * h / 8;
    const double scores = 5 * (double)m.heads * s / h;
    for (unsigned ops = 1; ops < 16; ops++) {
        struct plan p = with(8, true, PLAN_RECOMPUTE_SELECTIVE);
        bool core = ops & 1, norm = ops & 2, activation = ops & 4, mlp = ops & 8;
        p.recompute_ops = (unsigned)core << PLAN_OP_CORE | (unsigned)norm << PLAN_OP_NORM |
                          (unsigned)activation << PLAN_OP_ACTIVATION | (unsigned)mlp << PLAN_OP_MLP;
        double kept = 34 - (norm ? 4 : 0) - (mlp ? 16 : activation ? 8 : 0) + (core ? 0 : scores);
        assert_close(memory_layer_B(&m, &p, false), kept * part, 1e-14);
    }
}

/* Keys and values of all heads come back from the low ranks; of an MLP of experts nothing is left, as of a
 * dense one. */
TEST(what_is_done_again_of_experts_and_low_ranks_is_not_kept)
{
    struct model m = fixture_model("deepseek-v3");
    const double tokens = 4 * (double)m.seq, heads = (double)m.heads / 8, v = (double)m.mla.v_dim;
    const double key = (double)(m.mla.nope_dim + m.mla.rope_dim);
    const double ffn = (double)(m.moe.shared * m.moe.ffn) / 8;
    struct plan p = with(8, true, PLAN_RECOMPUTE_NONE), again = with(8, true, PLAN_RECOMPUTE_SELECTIVE);
    const double all = memory_layer_B(&m, &p, true);
    again.recompute_ops = 1U << PLAN_OP_MLA_UP;
    assert_close(all - memory_layer_B(&m, &again, true), tokens * heads * (4 * (key + v) - 2 * v), 1e-12);
    again.recompute_ops = 1U << PLAN_OP_SHARED;
    assert_close(all - memory_layer_B(&m, &again, true), 6 * tokens * ffn, 1e-12);
    struct plan dense = again;
    again.recompute_ops = 1U << PLAN_OP_EXPERTS;
    dense.recompute_ops = 1U << PLAN_OP_MLP;
    assert_close(memory_layer_B(&m, &again, true), memory_layer_B(&m, &dense, false), 1e-14);
}

/* s b (8h + 4 a d + 4 kv d + 6 f) and a log-sum-exp per row and head; Llama 3 70B: 33.5 h. */
TEST(fused_gated_layers_keep_less)
{
    struct plan p = with(8, true, PLAN_RECOMPUTE_NONE);
    struct model m = fixture_model("llama3-70b");
    double T = 4 * 8192, h = 8192, rows = 4 * 64 * T;
    assert_close(memory_layer_B(&m, &p, false), (T * 33.5 * h + rows) / 8, 1e-14);
    p.recompute = PLAN_RECOMPUTE_SELECTIVE; /* nothing left to do again */
    assert_close(memory_layer_B(&m, &p, false), (T * 33.5 * h + rows) / 8, 1e-14);
}

/* Tokens to k experts, through them and back: e T k (h + 3 f + h), router 4 T E; all over t. */
TEST(experts_keep_their_tokens_too)
{
    WITH(struct plan, p, with(2, true, PLAN_RECOMPUTE_NONE), p.ep = 2);
    struct model m = fixture_model("mixtral-8x7b");
    double T = 4 * 32768, h = 4096, f = 14336, ad = 4096, kvd = 1024;
    double attention = T * (8 * h + 4 * ad + 4 * kvd) + 4 * 32 * T;
    double routed = 2 * T * 2 * (h + 3 * f + h) + 4 * T * 8;
    assert_close(memory_layer_B(&m, &p, true), (attention + routed) / 2, 1e-14);
}

/* A shared expert is an MLP beside them: inputs of its activation, its output, 3 f of 2 bytes for each token.
 */
TEST(shared_experts_keep_what_an_mlp_does)
{
    WITH(struct plan, p, with(2, true, PLAN_RECOMPUTE_NONE), p.ep = 2);
    struct model m = fixture_model("mixtral-8x7b");
    double without_B = memory_layer_B(&m, &p, true), T = 4 * 32768, f = 14336;
    m.moe.shared = 2;
    assert_close(memory_layer_B(&m, &p, true) - without_B, 2 * 6 * T * f / 2, 1e-12);
}

/* 1F1B: min(m, p - i). GPipe: all. Interleaved, first stage: p (1 + (p-1)/(p v)). */
TEST(stages_keep_as_many_microbatches_as_the_schedule_has_under_way)
{
    CASES(int32_t schedule; int64_t pp, v, m, stage; double count) = {
        { PLAN_1F1B, 1, 1, 16, 0, 1 },
        { PLAN_1F1B, 4, 1, 16, 0, 4 },
        { PLAN_1F1B, 4, 1, 16, 3, 1 },
        { PLAN_1F1B, 4, 1, 2, 0, 2 },
        { PLAN_1F1B, 4, 1, 2, 3, 1 },
        { PLAN_GPIPE, 4, 1, 16, 0, 16 },
        { PLAN_GPIPE, 4, 1, 16, 3, 16 },
        { PLAN_1F1B, 4, 2, 16, 0, 5.5 },
        { PLAN_1F1B, 8, 3, 64, 0, 8 + 7 / 3.0 },
        { PLAN_1F1B, 4, 2, 4, 0, 4 },
        { PLAN_1F1B, 4, 2, 16, 3, 2.5 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct plan, p, fixture_plan(1, 1, 1, cases[i].pp, cases[i].m), p.schedule = cases[i].schedule,
             p.interleave = cases[i].v);
        assert_close(memory_in_flight(&p, cases[i].stage), cases[i].count, 1e-15);
    }
}

static struct memory memory_of(const struct model *m, const struct plan *p)
{
    struct memory x;
    memory_plan(&x, m, p);
    return x;
}

static double state_B(const struct memory *x)
{
    return x->term_B[MEMORY_WEIGHTS] + x->term_B[MEMORY_GRADIENTS] + x->term_B[MEMORY_OPTIMIZER];
}

/* ZeRO paper, rows of its table with fp16 gradients; Megatron: 18, with its distributed optimiser 6 + 12/dp.
 */
TEST(state_takes_the_published_bytes_per_parameter)
{
    CASES(int32_t zero; int64_t grad_B; double whole, shared /* bytes: whole + shared / dp */) = {
        { 0, 4, 18, 0 }, { 1, 4, 6, 12 }, { 0, 2, 16, 0 }, { 1, 2, 4, 12 }, { 2, 2, 2, 14 }, { 3, 2, 0, 16 }
    };
    struct model m = fixture_model("megatron-22b");
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int64_t dp = 1; dp <= 64; dp *= 4) {
            WITH(struct plan, p, fixture_plan(1, 1, dp, 1, dp), p.zero = cases[i].zero,
                 p.grad_B = cases[i].grad_B);
            struct memory got = memory_of(&m, &p);
            assert_close(state_B(&got), model_params(&m) * (cases[i].whole + cases[i].shared / (double)dp),
                         1e-14);
        }
}

/* Transformer Engine keeps a layer's weights by row and by column, in blocks of 32 with a scale of a byte
 * each, of 16 beside a copy in 16 bits; the two ends are in 16 bits. ZeRO 3 shares all of it out. */
TEST(weights_have_the_scales_of_their_blocks)
{
    CASES(int32_t precision; double layer_B) = { { TOPO_BF16, 2 },
                                                 { TOPO_FP8, 2 },
                                                 { TOPO_MXFP8, 2 * (1 + 1 / 32.) },
                                                 { TOPO_NVFP4, 2 + 2 * (0.5 + 1 / 16.) } };
    struct model m = fixture_model("llama3-8b");
    double layers = 32 * model_layer_params(&m, false, 1, 1, 1).dense, ends = model_params(&m) - layers;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int32_t zero = 0; zero <= 3; zero += 3) {
            WITH(struct plan, p, fixture_plan(1, 1, 8, 1, 8), p.zero = zero,
                 p.precision = (int32_t)cases[i].precision);
            struct memory got = memory_of(&m, &p);
            assert_close(got.term_B[MEMORY_WEIGHTS], (cases[i].layer_B * layers + 2 * ends) / (zero ? 8 : 1),
                         1e-13);
        }
}

/* Context parallelism shares state as data parallelism does; experts are shared by dp t c / ep. */
TEST(experts_are_shared_out_by_those_who_have_the_same)
{
    CASES(int64_t tp, cp, dp, ep; bool expert_tp) = {
        { 1, 1, 8, 8, false },
        { 2, 2, 4, 4, false },
        { 2, 1, 8, 4, true },
    };
    struct model m = fixture_model("mixtral-8x7b");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double tp = (double)cases[i].tp, cp = (double)cases[i].cp, dp = (double)cases[i].dp;
        double ep = (double)cases[i].ep, etp = cases[i].expert_tp ? tp : 1;
        double experts = 32 * 8 * 3 * 4096.0 * 14336;
        double norms = (2 * 32 + 1) * 4096.0, routers = 32 * 4096 * 8.0;
        double matrices = model_params(&m) - experts - norms - routers;
        double dense = matrices / tp + norms + routers, local = experts / (ep * etp);
        WITH(struct plan, p, fixture_plan(cases[i].tp, cases[i].cp, cases[i].dp, 1, 8), p.ep = cases[i].ep,
             p.expert_tp = cases[i].expert_tp, p.seq_parallel = true, p.zero = 1);
        m.vocab_multiple = 0;
        struct memory got = memory_of(&m, &p);
        assert_close(got.term_B[MEMORY_WEIGHTS], 2 * (dense + local), 1e-13);
        assert_close(got.term_B[MEMORY_GRADIENTS], 4 * (dense + local), 1e-13);
        assert_close(got.term_B[MEMORY_OPTIMIZER],
                     12 * (dense / (dp * cp) + local / (dp * tp * cp / (ep * etp))), 1e-13);
    }
}

/* Figure 1 of arXiv 2205.05198 as Calculon carries it [GiB]: a stage's even share of all parameters. */
TEST(state_of_the_four_models_is_as_published)
{
    CASES(int64_t pp; double GiB) = { { 1, 45.6 }, { 8, 45.6 }, { 35, 31.6 }, { 64, 33.0 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plan p = fixture_plan(8, 1, 1, cases[i].pp, 512);
        struct model m = fixture_model(megatron[i]);
        struct memory got = memory_of(&m, &p);
        /* Here: of the fullest stage, which has the embedding to itself. */
        double more = 18 * model_embed_params(&m, 8) * (1 - 1 / (double)cases[i].pp);
        assert_int_equal(got.stage, 0);
        assert_close((state_B(&got) - more) / 1073741824.0, cases[i].GiB, 0.02);
    }
}

/* One stage, all of the paper's section 4: L layers, the embedding's mask, norm, logits and their copy. */
TEST(a_whole_model_keeps_its_layers_and_both_ends)
{
    struct plan p = with(8, true, PLAN_RECOMPUTE_SELECTIVE);
    struct model m = fixture_model("megatron-22b");
    struct memory got = memory_of(&m, &p);
    double part = 4 * 2048 * 6144.0 / 8, V = 51200;
    assert_close(got.term_B[MEMORY_ACTIVATIONS], part * (48 * 34 + 1 + 4 * (1 + V / 6144)), 1e-14);
    assert_true(got.term_B[MEMORY_BUFFERS] == 0);
    double sum = 0;
    for (int i = 0; i < N_MEMORY_TERMS; i++)
        sum += got.term_B[i];
    assert_close(got.total_B, sum, 1e-15);
}

/* With 1F1B the first stage keeps p microbatches of L/p layers: L layers' worth, whatever p is. */
TEST(the_first_stage_keeps_a_whole_model_of_activations)
{
    struct model m = fixture_model("gpt3-175b");
    for (int64_t pp = 2; pp <= 32; pp *= 2) {
        WITH(struct plan, p, fixture_plan(8, 1, 1, pp, 512), p.seq_parallel = true);
        struct memory got = memory_of(&m, &p);
        double mask = 2048 * 12288.0 / 8 * (double)pp;
        assert_int_equal(got.stage, 0);
        assert_close(got.term_B[MEMORY_ACTIVATIONS], 96 * memory_layer_B(&m, &p, false) + mask, 1e-13);
        /* A message in, one out, each an NPU's eighth of an activation. */
        assert_close(got.term_B[MEMORY_BUFFERS], 2 * 2 * 2048.0 * 12288 / 8, 1e-14);
    }
}

TEST(tables_and_images_take_what_they_need)
{
    struct plan p = fixture_plan(1, 1, 64, 1, 65536);
    struct model m = fixture_model("dlrm-dcnv2");
    struct memory got = memory_of(&m, &p);
    /* fp32 rows and a state per row over 64 NPUs; 18 bytes per dense parameter on each. */
    double dense = model_dlrm_dense_params(&m), rows = 204184588.0 / 64;
    assert_close(state_B(&got), 18 * dense + 4 * rows * 129, 1e-14);
    /* 1,024 samples in 16 bits: widths of both stacks, and of the crosses of 27 vectors, their input with
     * them. Vectors in 32 bits come and go. */
    p.micro = 1024;
    got = memory_of(&m, &p);
    double kept = 13 + 512 + 256 + 128 + 1024 + 1024 + 512 + 256 + 1 + 4 * 27 * 128;
    assert_close(got.term_B[MEMORY_ACTIVATIONS], 2 * 1024 * kept, 1e-14);
    assert_close(got.term_B[MEMORY_BUFFERS], 2 * 4 * 1024.0 * 26 * 128, 1e-14);
    m = fixture_model("resnet50");
    p.micro = 256;
    got = memory_of(&m, &p);
    assert_close(state_B(&got), 18 * 25557032.0, 1e-14);
    /* 11.1 M outputs of convolutions per image, two copies of 2 bytes. */
    assert_close(got.term_B[MEMORY_ACTIVATIONS], 256 * 11.1e6 * 4, 0.005);
}

/* Of 8 layers n keep their input alone, of arXiv 2205.05198's table. A layer that is done again needs room of
 * its own only where no other was freed before; units of u keep one input and need the room of u. */
TEST(layers_that_are_done_again_keep_their_input)
{
    WITH(struct model, m, fixture_model("gpt3-175b"), m.layers = 8);
    struct plan none = with(8, true, PLAN_RECOMPUTE_NONE), all = with(8, true, PLAN_RECOMPUTE_FULL);
    const double layer_B = memory_layer_B(&m, &none, false), input_B = memory_layer_B(&m, &all, false);
    struct memory kept = memory_of(&m, &none), full = memory_of(&m, &all), got;
    assert_close(full.term_B[MEMORY_BUFFERS] - kept.term_B[MEMORY_BUFFERS], layer_B - input_B, 1e-12);
    for (int64_t n = 1; n <= 8; n++) {
        WITH(struct plan, p, all, p.recompute_layers = n);
        got = memory_of(&m, &p);
        assert_close(kept.term_B[MEMORY_ACTIVATIONS] - got.term_B[MEMORY_ACTIVATIONS],
                     (double)n * (layer_B - input_B), 1e-12);
        assert_close(got.term_B[MEMORY_BUFFERS],
                     n < 8 ? kept.term_B[MEMORY_BUFFERS] : full.term_B[MEMORY_BUFFERS], 1e-12);
        p.recompute_layers = 0, p.recompute_unit = n;
        got = memory_of(&m, &p);
        assert_close(full.term_B[MEMORY_ACTIVATIONS] - got.term_B[MEMORY_ACTIVATIONS],
                     (8 - ceil(8. / (double)n)) * input_B, 1e-12);
        assert_close(got.term_B[MEMORY_BUFFERS] - kept.term_B[MEMORY_BUFFERS], (double)n * layer_B - input_B,
                     1e-12);
    }
}

TEST(recomputing_and_sharing_never_keep_more)
{
    struct random_training x;
    RNG(r, 7, 0);
    for (int i = 0; i < 300; i++) {
        struct memory less, more;
        struct plan p;
        fixture_random(&x, r);
        p = x.plan;
        p.recompute_layers = 0;
        p.recompute = PLAN_RECOMPUTE_NONE;
        more = memory_of(&x.model, &p);
        for (p.recompute++; p.recompute <= PLAN_RECOMPUTE_FULL; p.recompute++, more = less) {
            less = memory_of(&x.model, &p);
            assert_true(less.term_B[MEMORY_ACTIVATIONS] <= more.term_B[MEMORY_ACTIVATIONS]);
        }
        p = x.plan;
        p.zero = 0;
        more = memory_of(&x.model, &p);
        for (p.zero++; p.zero <= 3; p.zero++, more = less) {
            less = memory_of(&x.model, &p);
            assert_true(state_B(&less) <= state_B(&more));
            /* Gathered parameters of two layers want a stage of some. */
            assert_true(less.total_B <= more.total_B ||
                        (p.zero == 3 && x.model.layers < 6 * p.degree[PLAN_PP]));
        }
    }
}

TEST(nothing_is_gathered_where_nothing_is_shared_out)
{
    WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.zero = 3);
    struct model m = fixture_model("llama3-8b");
    struct memory got = memory_of(&m, &p);
    assert_true(got.term_B[MEMORY_BUFFERS] == 0);
    p.degree[PLAN_DP] = p.batch = 2;
    got = memory_of(&m, &p);
    double layer = 2 * 4096.0 * 4096 + 2 * 4096.0 * 1024 + 3 * 4096.0 * 14336 + 2 * 4096;
    assert_close(got.term_B[MEMORY_BUFFERS], 2 * 2 * layer, 1e-15);
}

/* One layer is all that one layer gathers. */
TEST(no_more_is_gathered_than_there_is)
{
    WITH(struct plan, p, fixture_plan(1, 1, 2, 1, 2), p.zero = 3);
    WITH(struct model, m, fixture_model("llama3-8b"), m.layers = 1);
    struct memory got = memory_of(&m, &p);
    assert_close(got.term_B[MEMORY_BUFFERS], 2 * model_layer_params(&m, false, 1, 1, 1).dense, 1e-15);
}

/* FSDP2: master weights in 32 bits are shared out, two layers and both ends gathered in 16 and one layer's
 * gradient held besides; with what stays gathered all is there in 16 bits too. Gradients around the
 * activation are three of f. */
TEST(fsdp2_gathers_its_ends_or_all)
{
    struct model m = fixture_model("llama3-8b");
    double all = model_params(&m), layer = model_layer_params(&m, false, 1, 1, 1).dense,
           ends = all - 32 * layer, gradients = 2 * 3 * 8192.0 * 14336;
    for (int reshard = 0; reshard < 2; reshard++) {
        WITH(struct plan, p, fixture_plan(1, 1, 2, 1, 2), p.zero = 3, p.software = PLAN_COMPILED,
             p.reshard = reshard);
        struct memory got = memory_of(&m, &p);
        assert_close(got.term_B[MEMORY_WEIGHTS], 4 * all / 2 + (reshard ? 0 : 2 * all), 1e-14);
        assert_close(got.term_B[MEMORY_BUFFERS],
                     2 * layer + (reshard ? 2 * 2 * layer + 2 * ends : 0) + gradients, 1e-14);
    }
}

/* Gradients of a gated activation are three, of every expert's that a token goes to; under sequence
 * parallelism an input and a gradient are gathered. */
TEST(a_layer_under_way_holds_gradients)
{
    WITH(struct plan, p, with(2, true, PLAN_RECOMPUTE_NONE), p.software = PLAN_MEGATRON);
    struct model m = fixture_model("llama3-8b");
    struct memory got = memory_of(&m, &p);
    double T = 4 * 8192, f = 14336;
    assert_close(got.term_B[MEMORY_BUFFERS], 2 * (2 * T * 4096) + 2 * 3 * T * f / 2, 1e-14);
    m = fixture_model("mixtral-8x7b");
    T = 4 * 32768;
    got = memory_of(&m, &p);
    assert_close(got.term_B[MEMORY_BUFFERS], 2 * (2 * T * 4096) + 2 * 3 * T * 2 * f / 2, 1e-14);
}

/* A half of two layers is on its way. */
TEST(offloaded_layers_pass_through_buffers)
{
    struct model m = fixture_model("megatron-22b");
    WITH(struct plan, p, with(8, true, PLAN_RECOMPUTE_NONE), p.offload = 0.5);
    struct memory got = memory_of(&m, &p);
    assert_close(got.term_B[MEMORY_BUFFERS], 0.5 * 2 * memory_layer_B(&m, &p, false), 1e-14);
}

/* A tenth of all else, and the driver's. */
TEST(what_is_reserved_grows_with_the_rest)
{
    struct model m = fixture_model("megatron-22b");
    struct plan p = with(8, true, PLAN_RECOMPUTE_NONE);
    p.mem_margin = p.context_B = 0;
    struct memory none = memory_of(&m, &p), got;
    p.mem_margin = 0.1;
    p.context_B = 1e9;
    got = memory_of(&m, &p);
    assert_close(got.term_B[MEMORY_RESERVED], none.total_B / 10 + 1e9, 1e-14);
    assert_close(got.total_B, none.total_B * 1.1 + 1e9, 1e-14);
}

/* Every NPU of DualPipe holds a stage from either end, none of which ZeRO shares out here: 18 bytes a
 * parameter, of an embedding and a head too, which are alike but for a norm. */
TEST(dualpipe_holds_parameters_twice)
{
    WITH(struct plan, p, fixture_plan(1, 1, 2, 4, 32), p.schedule = PLAN_DUALPIPE);
    struct model m = fixture_model("llama3-8b");
    struct memory got = memory_of(&m, &p);
    double layers = 2 * 8 * model_layer_params(&m, false, 1, 1, 1).dense;
    assert_close(state_B(&got), 18 * (layers + model_embed_params(&m, 1) + model_head_params(&m, 1)), 1e-5);
}
