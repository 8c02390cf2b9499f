/* What a plan runs in and on: precision, kernels of attention, software classes, recomputation by operation,
 * offload, the state of the optimiser. */
#include "tests/unit/plan_shares.h"
#include "tests/unit/training_fixture.h"

enum { SEED = 20261122 };

static struct block_cost cost_of(const struct model *m, const struct plan *p, enum block_kind kind,
                                 const struct topo_npu *npu)
{
    struct block_cost c;
    block_cost(&c, kind, m, p, npu);
    return c;
}

/* ---- precision ---- */

/* The four products of NVIDIA/TransformerEngine docs/examples/gemm_profiling: queries, keys and values,
 * output, both of the MLP, for 15,872 tokens. */
static struct model layer_of_te(void)
{
    struct model m = {
        .family = MODEL_TRANSFORMER, .layers = 1, .hidden = 4096, .heads = 32, .kv_heads = 32
    };
    m.head_dim = 128;
    m.ffn = 16384;
    m.seq = 15872;
    m.vocab = 1024;
    m.attention = MODEL_FLASH;
    m.causal = true;
    return m;
}

/*
 * B300, forward and both backward passes of one layer [ms]: products alone, and with both operands of each of
 * the three passes cast on their own, as that table has it. Training casts each tensor once, and weights once
 * a step.
 */
TEST(a_layer_takes_what_transformer_engine_measured_at_any_precision)
{
    CASES(enum topo_precision q; double products_ms, cast_ms) = {
        { TOPO_BF16, 12.758, 12.758 },
        { TOPO_FP8, 6.812, 9.147 },
        { TOPO_MXFP8, 7.162, 8.984 },
        { TOPO_NVFP4, 3.764, 6.452 },
    };
    const struct model m = layer_of_te();
    struct topo_npu npu = fixture_npu("b300");
    npu.kernel_s = 0;
    npu.step_share = npu.step_share_8bit = 1; /* a loop of products, not a step */
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.software = PLAN_MEGATRON, p.grad_B = 2,
             p.precision = (int32_t)cases[i].q, p.elementwise = 0);
        struct block_cost c = cost_of(&m, &p, BLOCK_DENSE, &npu);
        const double T = 15872, widths_in = 3 * 4096 + 16384, widths_out = 12288 + 4096 + 16384 + 4096;
        const double weights = 4096.0 * (12288 + 4096 + 2 * 16384);
        const double per_B[N_TOPO_PRECISIONS] = { 0, 5.5, 4.1, 6.1 };
        double s_per = per_B[cases[i].q] / (npu.mem_Bps * npu.mem_efficiency);
        double products_s = c.forward_s + c.input_s + c.weight_s - s_per * T * widths_in;
        assert_close(c.rest_s, s_per * T * widths_out, 1e-9);
        assert_close(1e3 * products_s, cases[i].products_ms, 0.03);
        double cast_s = 2 * s_per * (T * (widths_in + widths_out) + weights);
        assert_close(1e3 * (products_s + cast_s), cases[i].cast_ms, 0.03);
    }
}

/* What a step loses of its products' rates is lost by those that arithmetic binds, in 16 and in 8 bits. */
TEST(products_of_a_step_sustain_a_share_of_their_rates)
{
    const struct model m = layer_of_te();
    for (int32_t q = TOPO_BF16; q < N_TOPO_PRECISIONS; q++) {
        struct topo_npu npu = fixture_npu("b300");
        const double want[N_TOPO_PRECISIONS] = { 0.8, 0.6, 0.6, 1 };
        WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.precision = q);
        npu.kernel_s = 0;
        npu.mem_Bps = 1e30;
        npu.step_share = npu.step_share_8bit = 1;
        struct block_cost all = cost_of(&m, &p, BLOCK_DENSE, &npu);
        npu.step_share = 0.8;
        npu.step_share_8bit = 0.6;
        assert_close(cost_of(&m, &p, BLOCK_DENSE, &npu).input_s, all.input_s / want[q], 1e-12);
        assert_close(cost_of(&m, &p, BLOCK_DENSE, &npu).core_s, all.core_s, 1e-12);
    }
}

/* Layers and no ends: casts are all that lower precision adds; products, gathers and weights shrink. */
TEST(lower_precision_costs_no_more_than_its_casts)
{
    static struct random_training x;
    RNG(r, SEED, 0);
    for (int i = 0; i < 300; i++) {
        fixture_random(&x, r);
        struct plan p = x.plan;
        struct topo_npu npu = fixture_npu(i % 2 ? "gb200" : "h100-80gb");
        p.software = (int32_t)rng_below(r, N_PLAN_SOFTWARE);
        enum block_kind kind = x.model.moe.experts ? BLOCK_EXPERTS : BLOCK_DENSE;
        struct block_cost before = cost_of(&x.model, &p, kind, &npu);
        for (p.precision = 1; p.precision < (i % 2 ? N_TOPO_PRECISIONS : TOPO_MXFP8); p.precision++) {
            struct block_cost now = cost_of(&x.model, &p, kind, &npu);
            struct topo_npu no_cast = npu;
            no_cast.mem_Bps = 1e30; /* products alone: only arithmetic is left */
            assert_true(now.input_s <= before.input_s && now.weight_s <= before.weight_s);
            double added_s = now.forward_s - before.forward_s;
            assert_true(cost_of(&x.model, &p, kind, &no_cast).forward_s <= before.forward_s);
            assert_true(added_s <= 6.1 * now.flop / (npu.mem_Bps * npu.mem_efficiency)); /* k <= flop */
            assert_close(now.flop, before.flop, 1e-15);
        }
    }
}

/* Gathered inputs are cast before; parameters of layers likewise, embedding and head stay in 16 bits. */
TEST(tensors_are_gathered_in_the_precision_of_the_layers)
{
    CASES(int32_t precision; int64_t bits; double element_B, gather_B) = {
        { TOPO_BF16, 0, 2, 2 },
        { TOPO_FP8, 0, 1, 1 },
        { TOPO_MXFP8, 0, 1.03125, 1.03125 },
        { TOPO_NVFP4, 0, 0.5625, 2 },
        { TOPO_NVFP4, 4, 0.5625, 0.5625 },
        { TOPO_FP8, 16, 1, 2 },
    };
    static struct plan_cost c;
    struct model m = fixture_model("llama3-8b");
    const struct topo_npu npu = fixture_npu("gb200");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct plan, p, fixture_plan(8, 1, 2, 1, 2), p.seq_parallel = true, p.zero = 3,
             p.precision = cases[i].precision, p.gather_bits = cases[i].bits);
        double gathers_B = 0, params_B = 0, W = 2 * 8192.0 * 4096;
        plan_cost(&c, &m, &p, &npu);
        const struct plan_pass *pass = &c.blocks[BLOCK_DENSE].forward;
        for (int32_t k = 0; k < c.n_collectives; k++) {
            const struct plan_collective *x = &c.collectives[k];
            bool forward = x->phase == STEP_FORWARD && k < c.parts[pass->first + pass->n - 1].sent.first + 8;
            if (forward && strcmp(x->name, "tp gather") == 0)
                gathers_B = x->bytes;
            if (k >= pass->beside.first && k < pass->beside.first + pass->beside.n)
                params_B = x->bytes;
        }
        assert_close(gathers_B, W / 8 * cases[i].element_B / 2, 1e-12);
        assert_close(params_B, cases[i].gather_B * model_layer_params(&m, false, 8, 1, 1).dense / 2, 1e-12);
    }
}

/* ---- attention ---- */

/* cuDNN on H100, heads of 128: its rates times u/(u + u0) and 1/(1 + s0/s); backward 2.5 times the FLOP. */
TEST(attention_takes_what_its_kernel_and_its_shape_allow)
{
    const struct topo_npu npu = fixture_npu("h100-80gb");
    struct model m = fixture_model("llama3-8b");
    WITH(struct plan, p, fixture_plan(4, 1, 1, 1, 1), p.kernel = PLAN_CUDNN);
    double s = 8192, a = 8, done = 2 * s * s * a * 2 * 128 / 2, u = a * s / (256 * 132);
    struct block_cost c = cost_of(&m, &p, BLOCK_DENSE, &npu);
    struct topo_npu_attention row;
    assert_true(topo_npu_find_kernel(&row, &npu, TOPO_CUDNN) && npu.kernels[0].kernel == TOPO_CUDNN);
    double seen = 1 + row.half_seq / s, busy = u / (u + row.half_tiles[TOPO_FORWARD]);
    assert_close(c.core_s, done / (row.flops[TOPO_FORWARD] * busy / seen) + 4e-6, 1e-12);
    busy = u / (u + row.half_tiles[TOPO_BACKWARD]);
    assert_close(c.core_back_s, 2.5 * done / (row.flops[TOPO_BACKWARD] * busy / seen) + 8e-6, 1e-12);
    p.kernel = PLAN_FUSED; /* the first of the file */
    assert_close(cost_of(&m, &p, BLOCK_DENSE, &npu).core_s, c.core_s, 1e-15);
    p.attention_fp8 = true;
    assert_close(cost_of(&m, &p, BLOCK_DENSE, &npu).core_s - 4e-6, (c.core_s - 4e-6) / row.fp8_forward,
                 1e-12);
    p.attention_fp8 = false;
    p.kernel = PLAN_FA1; /* no row: 0.6 of the second generation */
    double fa1_s = cost_of(&m, &p, BLOCK_DENSE, &npu).core_s;
    p.kernel = PLAN_FA2;
    assert_close(cost_of(&m, &p, BLOCK_DENSE, &npu).core_s - 4e-6, 0.6 * (fa1_s - 4e-6), 1e-9);
}

/* A sink apart reads and writes every score, 4 bytes forward and 6 backward, half of it in 8 bits, and looks
 * past windows; useful work is that of the windows either way, and nothing more is kept. */
TEST(a_sink_apart_passes_all_scores_and_keeps_none)
{
    struct topo_npu npu = fixture_npu("gb200");
    struct model m = fixture_model("gpt-oss-20b"), whole = m;
    npu.kernel_s = 0;
    whole.window = 0;
    whole.window_every = 1;
    for (int bits = 8; bits <= 16; bits += 8) {
        WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.software = PLAN_MEGATRON,
             p.attention_fp8 = bits == 8);
        struct block_cost apart = cost_of(&m, &p, BLOCK_EXPERTS, &npu), fused;
        double kept_B = memory_layer_B(&m, &p, true);
        p.sink = PLAN_SINK_FUSED;
        fused = cost_of(&whole, &p, BLOCK_EXPERTS, &npu);
        double s = (double)m.seq, scores_B = s * s * (double)m.heads * bits / 16;
        double mem_Bps = npu.mem_Bps * npu.mem_efficiency;
        assert_close(apart.core_s, fused.core_s + 4 * scores_B / mem_Bps, 1e-9);
        assert_close(apart.core_back_s, fused.core_back_s + 6 * scores_B / mem_Bps, 1e-9);
        assert_close(apart.core_flop, cost_of(&m, &p, BLOCK_EXPERTS, &npu).core_flop, 1e-12);
        assert_close(memory_layer_B(&m, &p, true), kept_B, 1e-15);
        p.sink = PLAN_SINK_APART;
        p.software = PLAN_SOFTWARE_NONE;
        assert_close(cost_of(&m, &p, BLOCK_EXPERTS, &npu).core_s, apart.core_s, 1e-12);
    }
}

/* Scores in memory: a head of 64 loses no more of the rate than one of 128, one of 96 does. */
TEST(narrow_heads_fill_tiles_of_their_own)
{
    struct topo_npu npu = fixture_npu("a100-80gb");
    CASES(int64_t width; double share /* of the rate of 128 */) = { { 128, 1 }, { 64, 1 }, { 96, 0.0 } };
    npu.kernel_s = 0;
    npu.mem_Bps = 1e30;
    npu.half_out = 0;
    double per_flop[COUNT_OF(cases)];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct model m = layer_of_te();
        WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.kernel = PLAN_UNFUSED);
        m.seq = 4096;
        m.head_dim = cases[i].width;
        struct block_cost c = cost_of(&m, &p, BLOCK_DENSE, &npu);
        per_flop[i] = c.core_back_s / c.core_back_done_flop;
        if (cases[i].share > 0)
            assert_close(per_flop[i], per_flop[0] / cases[i].share, 0.05);
        else
            assert_true(per_flop[i] > 1.02 * per_flop[0]);
    }
}

/* PyTorch's ring of cp runs at 0.68 of the rate; Megatron's ways do not. */
TEST(a_ring_of_pytorch_slows_attention)
{
    const struct topo_npu npu = fixture_npu("h100-80gb");
    struct model m = fixture_model("llama3-8b");
    for (int64_t cp = 1; cp <= 4; cp++) {
        WITH(struct plan, p, fixture_plan(1, cp, 1, 1, 1), p.software = PLAN_MEGATRON);
        struct block_cost plain = cost_of(&m, &p, BLOCK_DENSE, &npu), slow;
        p.software = PLAN_COMPILED;
        slow = cost_of(&m, &p, BLOCK_DENSE, &npu);
        assert_close(slow.core_s, plain.core_s / (cp > 1 ? 0.68 : 1), 1e-12);
        assert_close(slow.core_back_s, plain.core_back_s / (cp > 1 ? 0.68 : 1), 1e-12);
        p.context = PLAN_CP_GATHER;
        assert_close(cost_of(&m, &p, BLOCK_DENSE, &npu).core_s, plain.core_s, 1e-12);
    }
}

/* ---- software ---- */

/* Elementwise bytes of a Llama layer: norms and residuals 2 (4 + 6) h, SwiGLU 6 f, rotary 4 (a + k) d. */
TEST(software_scales_elementwise_work_and_the_loss)
{
    CASES(int32_t software; double factor, loss_B) = { { PLAN_MEGATRON, 1, 8 * 0.7 / 0.3 },
                                                       { PLAN_COMPILED, 2.1, 20 },
                                                       { PLAN_EAGER, 3.7, 36 },
                                                       { PLAN_MAXTEXT, 2.1, 20 },
                                                       { PLAN_PRIMUS, 1, 8 * 0.7 / 0.3 } };
    const struct topo_npu npu = fixture_counter(true);
    struct model m = fixture_model("llama3-8b");
    double T = 8192, h = 4096, f = 14336, kv = 1024, V = model_vocab(&m, 1);
    double elements = T * (20 * h + 6 * f + 4 * (h + kv));
    double products = 2 * (2 * T * h + (h + 2 * kv) * h + T * (h + 2 * kv) + h * h + T * h + 3 * T * f +
                           3 * h * f + 2 * T * h);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.software = cases[i].software);
        struct block_cost c = cost_of(&m, &p, BLOCK_DENSE, &npu);
        assert_close(c.forward_s, products + cases[i].factor * elements, 1e-12);
        struct block_cost head = cost_of(&m, &p, BLOCK_HEAD, &npu);
        assert_close(head.rest_s, cases[i].loss_B / 2 * T * V + 6 * T * h, 1e-12);
    }
    WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.software = PLAN_EAGER, p.elementwise = 3,
         p.loss_B = 10);
    assert_close(cost_of(&m, &p, BLOCK_DENSE, &npu).forward_s, products + 3 * elements, 1e-12);
    assert_close(cost_of(&m, &p, BLOCK_HEAD, &npu).rest_s, 5 * T * V + 6 * T * h, 1e-12);
    m.norm = MODEL_LAYER_NORM; /* GPT's kernels are fewer */
    p.elementwise = NAN;
    assert_close(plan_class(&p, &m).elementwise, 2.6, 1e-15);
}

/* Bytes per parameter of the NPU, and per parameter that it updates; twice for an eager optimiser of FSDP. */
TEST(the_optimizer_passes_what_is_local_and_what_is_shared)
{
    static struct plan_cost c;
    const struct topo_npu npu = fixture_counter(true);
    struct model m = fixture_model("llama3-8b");
    double params = model_params(&m);
    CASES(int32_t software, zero; double bytes) = {
        { PLAN_SOFTWARE_NONE, 1, 44 / 8.0 }, { PLAN_MEGATRON, 0, 40 },
        { PLAN_MEGATRON, 1, 10 + 30 / 8.0 }, { PLAN_COMPILED, 3, 40 / 8.0 },
        { PLAN_EAGER, 3, (10 + 60) / 8.0 },  { PLAN_EAGER, 1, 10 + 30 / 8.0 },
    };
    m.vocab_multiple = 0;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct plan, p, fixture_plan(1, 1, 8, 1, 8), p.software = cases[i].software,
             p.zero = cases[i].zero, p.jitter = 0);
        plan_cost(&c, &m, &p, &npu);
        assert_close(c.optimizer_s, cases[i].bytes * params, 1e-12);
        p.optimizer_B = 16;
        plan_cost(&c, &m, &p, &npu);
        assert_close(c.optimizer_s, 16 * params / (p.zero ? 8 : 1), 1e-12);
    }
}

/* A pass of a layer takes what the host needs to start it, backward 1.3 times, with all recomputed 2.3. */
TEST(no_pass_is_shorter_than_its_launches)
{
    static struct plan_cost c;
    const struct topo_npu npu = fixture_npu("b200");
    const double none_s[PLAN_MAX_COLLECTIVES] = { 0 };
    struct model m = fixture_model("llama3-8b");
    m.seq = 64; /* next to nothing to compute */
    WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.launch_s = 0);
    plan_cost(&c, &m, &p, &npu);
    double ends_s = plan_cost_time(&c, none_s, NULL);
    struct plan_shares shares;
    plan_cost_shares(&shares, &c, none_s, NULL);
    for (int b = 0; b < N_BLOCKS; b++)
        if (b == BLOCK_DENSE)
            for (int32_t i = c.blocks[b].forward.first;
                 i < c.blocks[b].backward.first + c.blocks[b].backward.n; i++)
                ends_s -= 32 * c.parts[i].compute_s;
    CASES(double launch_s; int32_t graph, recompute; double pass_s) = {
        { 1e-2, PLAN_GRAPH_NONE, PLAN_RECOMPUTE_NONE, 2.3e-2 },
        { 1e-2, PLAN_GRAPH_NONE, PLAN_RECOMPUTE_FULL, 3.3e-2 },
        { 1e-2, PLAN_GRAPH_ATTENTION, PLAN_RECOMPUTE_NONE, 0.92e-2 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        p.launch_s = cases[i].launch_s;
        p.graph = cases[i].graph;
        p.recompute = cases[i].recompute;
        plan_cost(&c, &m, &p, &npu);
        double time_s = plan_cost_time(&c, none_s, NULL);
        assert_close(time_s, ends_s + 32 * cases[i].pass_s, 1e-9);
        plan_cost_shares(&shares, &c, none_s, NULL);
        assert_close(shares.time_s, time_s, 1e-12);
        assert_true(shares.compute_s[STEP_OVERHEAD] > 0.5 * time_s);
    }
    p.graph = PLAN_GRAPH_STEP;
    plan_cost(&c, &m, &p, &npu);
    assert_true(plan_cost_time(&c, none_s, NULL) < 2 * ends_s + 32e-3);
}

/* Without what the network takes. */
static double compute_of(struct plan_cost *c, const struct model *m, const struct plan *p,
                         const struct topo_network *net, const double *none_s)
{
    plan_cost(c, m, p, &net->npu);
    return plan_cost_time(c, none_s, NULL);
}

/* The expected largest of N draws of spread sigma, to first order, of what is computed. */
TEST(jitter_waits_for_the_slowest_NPU)
{
    struct model m = fixture_model("llama3-8b");
    const int32_t sizes[] = { 8, 64 };
    const struct topo_network net = fixture_network(sizes, 2);
    static struct plan_cost c;
    const double none_s[PLAN_MAX_COLLECTIVES] = { 0 };
    WITH(struct plan, p, fixture_plan(8, 1, 64, 1, 512), p.seq_parallel = true);
    double before_s = compute_of(&c, &m, &p, &net, none_s), slowest = sqrt(2 * log(512));
    p.jitter = 0.01;
    assert_close(compute_of(&c, &m, &p, &net, none_s), before_s * (1 + 0.01 * slowest), 1e-12);
    for (p.software = 0; p.software < N_PLAN_SOFTWARE; p.software++) {
        double own = p.software == PLAN_MEGATRON_2021 || p.software == PLAN_MAXTEXT ? 0 : 0.006;
        p.jitter = 0;
        before_s = compute_of(&c, &m, &p, &net, none_s);
        p.jitter = NAN;
        assert_close(compute_of(&c, &m, &p, &net, none_s), before_s * (1 + own * slowest), 1e-12);
    }
}

/* ---- recomputation by operation ---- */

/* What is named is done again and its output not kept; what each operator adds is its own. */
TEST(operators_named_are_done_again_and_not_kept)
{
    struct model m = fixture_model("deepseek-v3");
    const struct topo_npu npu = fixture_npu("h100-80gb");
    WITH(struct plan, p, fixture_plan(1, 1, 64, 1, 64), p.ep = 64, p.software = PLAN_MEGATRON);
    double sum_s = 0, saved_B = 0, T = 4096, h = 7168, f = 2048;
    struct block_cost plain = cost_of(&m, &p, BLOCK_EXPERTS, &npu);
    double kept_B = memory_layer_B(&m, &p, true);
    p.recompute = PLAN_RECOMPUTE_SELECTIVE;
    for (unsigned op = PLAN_OP_NORM; op < N_PLAN_OPS; op++) {
        p.recompute_ops = 1U << op;
        struct block_cost c = cost_of(&m, &p, BLOCK_EXPERTS, &npu);
        assert_close(c.forward_s, plain.forward_s, 1e-15);
        assert_true((c.again_s > 0) == (op != PLAN_OP_MLP)); /* these layers have none */
        double less_B = kept_B - memory_layer_B(&m, &p, true);
        assert_true((less_B > 0) == (op != PLAN_OP_MLP));
        if (op == PLAN_OP_NORM)
            assert_close(less_B, 4 * T * h, 1e-12);
        if (op == PLAN_OP_ACTIVATION)
            assert_close(less_B, 2 * T * f * 9, 1e-12);
        if (op == PLAN_OP_SHARED) {
            assert_close(less_B, 6 * T * f, 1e-12);
            assert_close(c.again_flop, 6 * T * h * f, 1e-12);
        }
        if (op == PLAN_OP_EXPERTS)
            assert_close(c.again_flop, 2 * T * h * 256 + 6 * T * h * f * 9, 1e-12);
        if (op != PLAN_OP_EXPERTS && op != PLAN_OP_SHARED) {
            sum_s += c.again_s;
            saved_B += less_B;
        }
    }
    p.recompute_ops = 1U << PLAN_OP_NORM | 1U << PLAN_OP_ACTIVATION | 1U << PLAN_OP_MLA_UP;
    assert_close(cost_of(&m, &p, BLOCK_EXPERTS, &npu).again_s, sum_s, 1e-12);
    assert_close(kept_B - memory_layer_B(&m, &p, true), saved_B, 1e-12);
    p.recompute_ops = 1U << PLAN_OP_EXPERTS | 1U << PLAN_OP_SHARED | 1U << PLAN_OP_ACTIVATION;
    double all_s = cost_of(&m, &p, BLOCK_EXPERTS, &npu).again_s;
    p.recompute_ops = 1U << PLAN_OP_EXPERTS; /* holds the others: nothing is done twice again */
    assert_close(cost_of(&m, &p, BLOCK_EXPERTS, &npu).again_s, all_s, 1e-12);
}

/* Every second product, 0.37 of their FLOP, and all elementwise work; attention not. */
TEST(sac_repeats_a_share_of_the_products)
{
    struct model m = fixture_model("llama3-8b");
    const struct topo_npu npu = fixture_counter(false);
    WITH(struct plan, p, fixture_plan(1, 1, 8, 1, 8), p.recompute = PLAN_RECOMPUTE_SAC);
    struct block_cost c = cost_of(&m, &p, BLOCK_DENSE, &npu);
    assert_close(c.again_s, 0.37 * c.forward_s, 1e-12);
    assert_close(c.again_flop, 0.37 * (c.flop - c.core_flop), 1e-12);
    assert_close(memory_layer_B(&m, &p, false), 8192 * (8 * 4096.0 + 2 * 1024 + 2 * 14336), 1e-12);
}

/* ---- memory ---- */

static struct memory memory_of(const struct model *m, const struct plan *p)
{
    struct memory out;
    memory_plan(&out, m, p);
    return out;
}

/* bf16 moments: 8 bytes of state; PyTorch's FSDP: fp32 shards of 16 bytes and no copy in 16 bits. */
TEST(state_has_the_bytes_of_its_precision_and_software)
{
    struct model m = fixture_model("llama3-8b");
    m.vocab_multiple = 0;
    double P = model_params(&m), ends = model_embed_params(&m, 1) + model_head_params(&m, 1);
    WITH(struct plan, p, fixture_plan(1, 1, 8, 1, 8), p.moments_B = 4);
    assert_close(memory_of(&m, &p).term_B[MEMORY_OPTIMIZER], 8 * P, 1e-12);
    p.precision = TOPO_NVFP4;
    assert_close(memory_of(&m, &p).term_B[MEMORY_WEIGHTS], 2 * P + 1.125 * (P - ends), 1e-12);
    p = fixture_plan(1, 1, 8, 1, 8);
    p.zero = 3;
    p.software = PLAN_COMPILED;
    struct memory fsdp = memory_of(&m, &p);
    assert_close(fsdp.term_B[MEMORY_WEIGHTS] + fsdp.term_B[MEMORY_GRADIENTS] + fsdp.term_B[MEMORY_OPTIMIZER],
                 16 * P / 8, 1e-12);
    double layer = model_layer_params(&m, false, 1, 1, 1).dense;
    double around = 6.0 * 8192 * 14336; /* gradients of SwiGLU's input and output */
    assert_close(fsdp.term_B[MEMORY_BUFFERS], 4 * layer + 2 * layer + 2 * ends + around, 1e-12);
    p.reshard = false;
    assert_close(memory_of(&m, &p).term_B[MEMORY_WEIGHTS], 4 * P / 8 + 2 * P, 1e-12);
}

/* Inputs of products are kept in their precision, by Transformer Engine and not by PyTorch; the loss at its
 * peak; what is offloaded is not kept; what is reserved is on top. */
TEST(activations_loss_offload_and_margin_count)
{
    struct model m = fixture_model("llama3-8b");
    WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.software = PLAN_MEGATRON);
    double T = 8192, h = 4096, f = 14336, bf16_B = memory_layer_B(&m, &p, false);
    p.precision = TOPO_FP8;
    /* qkv's and the MLP's input and SwiGLU's output halved; the projection's input a copy beside attention's.
     */
    assert_close(bf16_B - memory_layer_B(&m, &p, false), T * (2 * h + f - h), 1e-12);
    p.software = PLAN_EAGER;
    assert_close(memory_layer_B(&m, &p, false), bf16_B, 1e-15);
    double eager_B = memory_of(&m, &p).total_B;
    p.loss_peak_B = 5;
    assert_close(eager_B - memory_of(&m, &p).total_B, 9 * T * model_vocab(&m, 1), 1e-9);
    struct memory all = memory_of(&m, &p);
    p.offload = 0.5; /* half of 32 layers gone, one layer's worth of two halves on its way */
    assert_close(all.total_B - memory_of(&m, &p).total_B, 15 * bf16_B, 1e-9);
    p.offload = 0;
    p.mem_margin = 0.05;
    p.context_B = 2e9;
    assert_close(memory_of(&m, &p).total_B, 1.05 * all.total_B + 2e9, 1e-12);
    assert_close(memory_of(&m, &p).term_B[MEMORY_RESERVED], 0.05 * all.total_B + 2e9, 1e-12);
}

/* ---- at random ---- */

/* A legal plan with what this file is about, on one of today's NPUs. */
static void random_software(struct random_training *x, struct rng *r)
{
    static const char *const npus[] = { "a100-80gb", "h100-80gb", "h200", "b200", "b300", "gb200", "gb300" };
    static struct topo_npu read[7];
    static bool done;
    for (size_t i = 0; i < COUNT_OF(npus) && !done; i++)
        read[i] = fixture_npu(npus[i]);
    done = true;
    fixture_random(x, r);
    int64_t k = rng_below(r, COUNT_OF(npus));
    struct plan *p = &x->plan;
    x->net.npu = read[k];
    x->net.npu.host_Bps = 50e9;
    int64_t precisions = isnan(read[k].peak_8bit_flops) ? 1 : isnan(read[k].peak_4bit_flops) ? 2 : 4;
    p->precision = (int32_t)rng_below(r, precisions);
    p->software = (int32_t)rng_below(r, N_PLAN_SOFTWARE + 1) - 1;
    p->kernel = (int32_t)rng_below(r, N_PLAN_KERNELS + 1) - 1;
    p->graph = (int32_t)rng_below(r, N_PLAN_GRAPHS);
    p->attention_fp8 = rng_below(r, 2);
    p->recompute_ops = rng_below(r, 2) ? (unsigned)rng_below(r, 1 << N_PLAN_OPS) : 0;
    p->offload = rng_below(r, 3) ? 0 : rng_range(r, 0, 1);
    p->jitter = rng_below(r, 2) ? 0 : 0.004;
    p->launch_s = rng_below(r, 3) ? NAN : rng_log_range(r, 1e-6, 1e-2);
}

static double time_of(const struct random_training *x, bool tree)
{
    static struct plan_cost c;
    double once_s[PLAN_MAX_COLLECTIVES], bw_Bps[TOPO_MAX_DIMS];
    struct plan_busy busy;
    plan_cost(&c, &x->model, &x->plan, &x->net.npu);
    fixture_once(once_s, &busy, &c, &x->place, &x->net, false);
    double time_s = plan_cost_time(&c, once_s, &busy);
    if (!tree)
        return time_s;
    KEEP(struct step_tree, t, step_free);
    struct plan_shares shares;
    double sum_s = 0;
    MUST(plan_cost_tree(&t, &c, &x->place, "random", &x->net, e));
    for (int32_t d = 0; d < x->net.n_dims; d++)
        bw_Bps[d] = x->net.dims[d].bw_Bps * collective_share(&x->net.dims[d]);
    assert_close(oracle_time(&t, t.root, bw_Bps), time_s, 1e-12);
    plan_cost_shares(&shares, &c, once_s, &busy);
    for (int k = 0; k < N_STEP_PHASES; k++)
        sum_s += shares.compute_s[k];
    for (int32_t k = 0; k < c.n_collectives; k++)
        sum_s += shares.exposed_s[k];
    assert_close(shares.time_s, time_s, 1e-12);
    assert_close(sum_s + shares.bubble_s, time_s, 1e-12);
    return time_s;
}

/* The formula, its parts and the expression agree, and no bandwidth, memory or host makes a step slower. */
TEST(any_software_agrees_in_three_ways_and_gains_by_faster_parts)
{
    static struct random_training x, y;
    RNG(r, SEED, 1);
    for (int i = 0; i < 400; i++) {
        random_software(&x, r);
        double before_s = time_of(&x, true);
        assert_true(isfinite(before_s) && before_s > 0);
        y = x;
        y.net.dims[rng_below(r, y.net.n_dims)].bw_Bps *= 2;
        assert_true(time_of(&y, false) <= before_s * (1 + 1e-12));
        y = x;
        y.net.npu.mem_Bps *= 2;
        y.net.npu.host_Bps *= 2;
        /* Beside batches the exchange is split as the compute is, which memory shifts between the passes. */
        if (x.plan.ep_overlap != PLAN_EP_OVERLAP_BATCH)
            assert_true(time_of(&y, false) <= before_s * (1 + 1e-12));
        struct memory kept = memory_of(&x.model, &x.plan);
        y = x;
        y.plan.offload = fmin(1, x.plan.offload + 0.2);
        assert_true(memory_of(&y.model, &y.plan).total_B <= kept.total_B * (1 + 1e-12));
    }
}

/* Useful products never take less than the peak of their precision, even where communication is free. */
TEST(no_plan_of_a_preset_uses_more_than_the_peak)
{
    static struct random_training x;
    static struct plan_cost c;
    const double none_s[PLAN_MAX_COLLECTIVES] = { 0 };
    RNG(r, SEED, 2);
    for (int i = 0; i < repeats(100000); i++) {
        if (i % 20 == 0)
            random_software(&x, r);
        struct plan p = x.plan;
        p.software = (int32_t)rng_below(r, N_PLAN_SOFTWARE + 1) - 1;
        p.kernel = (int32_t)rng_below(r, N_PLAN_KERNELS + 1) - 1;
        p.recompute = (int32_t)rng_below(r, N_PLAN_RECOMPUTES);
        p.recompute_ops = (unsigned)rng_below(r, 1 << N_PLAN_OPS);
        p.attention_fp8 = rng_below(r, 2);
        plan_cost(&c, &x.model, &p, &x.net.npu);
        double most = (double)x.net.n_npus * plan_peak(&p, &x.net.npu) * plan_cost_time(&c, none_s, NULL);
        assert_true(c.model_flop <= most && c.hardware_flop <= most);
    }
}

/* torchao casts what it gathered in 16 bits, 5.5 bytes a weight in either pass; one gathered in 8 bits, and
 * Transformer Engine's, none. Of Llama 3 8B's layer all weights but those of the norms. */
TEST(weights_are_cast_in_each_pass_where_they_are_gathered_in_16_bits)
{
    struct model m = fixture_model("llama3-8b");
    struct topo_npu npu = fixture_npu("h100-80gb");
    WITH(struct plan, p, fixture_plan(1, 1, 8, 1, 8), p.zero = 3, p.precision = TOPO_FP8,
         p.software = PLAN_COMPILED, p.gather_bits = 16);
    struct block_cost cast = cost_of(&m, &p, BLOCK_DENSE, &npu), kept;
    double weights = model_layer_params(&m, false, 1, 1, 1).dense - 2 * 4096.0;
    double once_s = 5.5 * weights / (npu.mem_Bps * npu.mem_efficiency);
    p.gather_bits = 8;
    kept = cost_of(&m, &p, BLOCK_DENSE, &npu);
    assert_close(cast.forward_s - kept.forward_s, once_s, 1e-9);
    assert_close(cast.rest_s - kept.rest_s, once_s, 1e-9);
    p.software = PLAN_MEGATRON;
    kept = cost_of(&m, &p, BLOCK_DENSE, &npu);
    p.gather_bits = 16;
    cast = cost_of(&m, &p, BLOCK_DENSE, &npu);
    assert_close(cast.forward_s, kept.forward_s, 1e-15);
}
