#include "tests/unit/training_fixture.h"

static struct block_cost cost_of(const struct model *m, const struct plan *p, enum block_kind kind,
                                 const struct topo_npu *npu)
{
    struct block_cost c;
    block_cost(&c, kind, m, p, npu);
    return c;
}

static double flop_of(const struct model *m, enum block_kind kind)
{
    const struct topo_npu npu = fixture_counter(false);
    const struct plan p = fixture_plan(1, 1, 1, 1, 1);
    return cost_of(m, &p, kind, &npu).flop;
}

/* arXiv 2104.04473 eq. 3: forward 24 B s h^2 L (1 + s/6h) + 2 B s h V. */
TEST(gpt_forward_counts_as_published)
{
    static const char *const names[] = { "gpt3-175b", "megatron-22b", "megatron-530b", "megatron-1t" };
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct model m = fixture_model(names[i]);
        double h = (double)m.hidden, s = (double)m.seq;
        assert_close(flop_of(&m, BLOCK_DENSE), 24 * s * h * h * (1 + s / (6 * h)), 1e-14);
        assert_close(flop_of(&m, BLOCK_HEAD), 2 * s * h * (double)m.vocab, 1e-14);
        assert_true(flop_of(&m, BLOCK_EMBED) == 0);
    }
}

/* Operator by operator: projections of grouped heads, gated MLP, router and experts, low-rank attention. */
TEST(other_layers_count_operator_by_operator)
{
    double s, h, attention;
    struct model m = fixture_model("llama3-70b");
    s = 8192, h = 8192;
    attention = 2 * s * h * (64 + 2 * 8) * 128 + 4 * s * s * 64 * 128 + 2 * s * 64 * 128 * h;
    assert_close(flop_of(&m, BLOCK_DENSE), attention + 6 * s * h * 28672, 1e-14);
    m = fixture_model("mixtral-8x7b");
    s = 32768, h = 4096;
    attention = 2 * s * h * (32 + 2 * 8) * 128 + 4 * s * s * 32 * 128 + 2 * s * 32 * 128 * h;
    assert_close(flop_of(&m, BLOCK_EXPERTS), attention + 2 * s * h * 8 + 6 * s * 2 * h * 14336, 1e-14);
    m = fixture_model("deepseek-v3");
    s = 4096, h = 7168;
    attention = 2 * s * (h * 1536 + 1536 * 128 * 192.0 + h * (512 + 64) + 512 * 128 * 256.0 + 128 * 128 * h) +
                2 * s * s * 128 * (192 + 128);
    assert_close(flop_of(&m, BLOCK_DENSE), attention + 6 * s * h * 18432, 1e-14);
    assert_close(flop_of(&m, BLOCK_EXPERTS), attention + 2 * s * h * 256 + 6 * s * (8 + 1) * h * 2048, 1e-14);
    m.attention = MODEL_UNFUSED; /* the same products, with scores in memory */
    assert_close(flop_of(&m, BLOCK_DENSE), attention + 6 * s * h * 18432, 1e-14);
}

/* Query by query: the i-th looks at min(i, w) keys, half of the layers at all. */
TEST(a_window_counts_the_keys_that_its_queries_see)
{
    CASES(int64_t window, every) = { { 128, 0 }, { 128, 2 }, { 1024, 6 }, { 4000, 2 } };
    const struct topo_npu counter = fixture_counter(false);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct model m = fixture_model("gpt-oss-120b");
        const struct plan p = fixture_plan(1, 1, 1, 1, 1);
        struct block_cost all, some;
        m.window = 0, m.window_every = 0;
        block_cost(&all, BLOCK_EXPERTS, &m, &p, &counter);
        m.window = cases[i].window, m.window_every = cases[i].every;
        block_cost(&some, BLOCK_EXPERTS, &m, &p, &counter);
        double s = (double)m.seq, seen = 0, full = cases[i].every ? 1.0 / (double)cases[i].every : 0;
        for (int64_t q = 1; q <= m.seq; q++)
            seen += (double)(q < m.window ? q : m.window);
        double share =
            full + (1 - full) * seen / (s * (s + 1) / 2); /* the diagonal counts half in the closed form */
        assert_near(some.core_s / all.core_s, share, 1 / s);
        assert_near(some.core_back_s / all.core_back_s, share, 1 / s);
        assert_close(some.forward_s, all.forward_s, 1e-15);
    }
}

/* Half a tile of 128 rows is lost: 64 rows reach half of what many reach, also where they are summed up over.
 */
TEST(grouped_products_lose_rows_of_their_own)
{
    struct model m = { .family = MODEL_TRANSFORMER,
                       .layers = 1,
                       .hidden = 1 << 20,
                       .heads = 1,
                       .kv_heads = 1,
                       .head_dim = 1,
                       .ffn = 1,
                       .vocab = 1,
                       .seq = 64,
                       .activation = MODEL_GELU,
                       .moe = { .experts = 16, .top_k = 16, .ffn = 1 << 20, .every = 1, .capacity = 1 } };
    struct topo_npu npu = fixture_counter(false);
    struct plan p = fixture_plan(1, 1, 1, 1, 1);
    double flop = 16 * 2 * 2 * 64.0 * (1 << 20) * (1 << 20);
    npu.half_out = npu.group_half_out = 0;
    struct block_cost whole = cost_of(&m, &p, BLOCK_EXPERTS, &npu), half;
    npu.group_half_out = 64;
    half = cost_of(&m, &p, BLOCK_EXPERTS, &npu);
    assert_close(half.forward_s - whole.forward_s, flop, 1e-9);
    assert_close(half.input_s - whole.input_s, flop, 1e-9);
    assert_close(half.weight_s - whole.weight_s, flop, 1e-9);
}

/* Separate kernels of Megatron-Core: twice 6 f + 12 h bytes per routed token forward, 10 f + 12 h backward;
 * in the products' own 0.9 of them. Without a class of software 6 f + 8 h once. */
TEST(kernels_around_experts_move_what_their_software_moves)
{
    CASES(int32_t software, ep_fused; double forward, back /* per routed token: of f, h as below */) = {
        { PLAN_SOFTWARE_NONE, PLAN_EP_BY_SOFTWARE, 6 * 768 + 8 * 2048, 10 * 768 + 8 * 2048 },
        { PLAN_SOFTWARE_NONE, PLAN_EP_APART, 2 * (6 * 768 + 12 * 2048), 2 * (10 * 768 + 12 * 2048) },
        { PLAN_MEGATRON, PLAN_EP_BY_SOFTWARE, 2 * (6 * 768 + 12 * 2048), 2 * (10 * 768 + 12 * 2048) },
        { PLAN_MEGATRON, PLAN_EP_APART, 2 * (6 * 768 + 12 * 2048), 2 * (10 * 768 + 12 * 2048) },
        { PLAN_MEGATRON, PLAN_EP_FUSED, 0.9 * (6 * 768 + 12 * 2048), 0.9 * (10 * 768 + 12 * 2048) },
    };
    const struct topo_npu npu = fixture_counter(true);
    struct model m = fixture_model("qwen3-30b-a3b"), less = m;
    less.moe.top_k = 4;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.software = cases[i].software,
             p.ep_fused = cases[i].ep_fused);
        struct block_cost all = cost_of(&m, &p, BLOCK_EXPERTS, &npu),
                          half = cost_of(&less, &p, BLOCK_EXPERTS, &npu);
        /* Forward products move their rows too: 2 h + 4 f and 2 f + 2 h bytes. */
        double routed = 4 * 4096.0, products = 4 * 2048 + 6 * 768;
        assert_close(all.forward_s - half.forward_s, routed * (cases[i].forward + products), 1e-12);
        assert_close(all.rest_s - half.rest_s, routed * cases[i].back, 1e-12);
    }
}

/* With one expert an NPU has no order to put tokens in, and with expert_tp it permutes its own alone: 6 h
 * bytes of either, twice. */
TEST(one_expert_alone_needs_no_order_of_experts)
{
    CASES(int32_t ep; bool expert_tp; double sent, come /* tokens of 512 */) = {
        { 4, false, 1, 1 },
        { 8, false, 1, 0 },
        { 4, true, 1, 4 },
        { 8, true, 1, 0 },
    };
    const struct topo_npu npu = fixture_counter(true);
    struct model m = fixture_model("mixtral-8x7b"), less = m;
    m.seq = less.seq = 2048;
    less.hidden /= 2; /* what is left beside products: f counts alike, h half */
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct plan, p, fixture_plan(4, 1, 8, 1, 1), p.software = PLAN_MEGATRON, p.seq_parallel = true,
             p.ep = cases[i].ep, p.expert_tp = cases[i].expert_tp);
        struct block_cost all = cost_of(&m, &p, BLOCK_EXPERTS, &npu),
                          dense = cost_of(&m, &p, BLOCK_DENSE, &npu);
        struct block_cost half = cost_of(&less, &p, BLOCK_EXPERTS, &npu),
                          half_dense = cost_of(&less, &p, BLOCK_DENSE, &npu);
        double h_B = (all.rest_s - dense.rest_s) - (half.rest_s - half_dense.rest_s);
        double tokens = 512 * (double)m.moe.top_k, h = (double)m.hidden / 2;
        assert_close(h_B, 2 * 6 * h * tokens * (cases[i].sent + cases[i].come), 1e-9);
    }
}

/* A memory that gathers rows at a quarter of what it streams moves the 8 h bytes of a routed token, either
 * way, four times as long; nothing else. */
TEST(rows_of_tokens_are_gathered_at_a_rate_of_their_own)
{
    const struct topo_npu npu = fixture_counter(true);
    struct topo_npu slow = npu;
    struct model m = fixture_model("qwen3-30b-a3b"), dense = fixture_model("llama3-8b");
    struct plan p = fixture_plan(1, 1, 1, 1, 1);
    double more = 3 * 8 * 2048 * 4096.0 * 8;
    slow.gather = slow.mem_efficiency / 4;
    struct block_cost plain = cost_of(&m, &p, BLOCK_EXPERTS, &npu),
                      gathered = cost_of(&m, &p, BLOCK_EXPERTS, &slow);
    assert_close(gathered.forward_s - plain.forward_s, more, 1e-9);
    assert_close(gathered.rest_s - plain.rest_s, more, 1e-9);
    assert_close(cost_of(&dense, &p, BLOCK_DENSE, &slow).forward_s,
                 cost_of(&dense, &p, BLOCK_DENSE, &npu).forward_s, 1e-15);
}

/* 4.089 G multiply-adds at 224 x 224, known from the list of its layers. */
TEST(an_image_passes_resnet_50_in_8_18_GFLOP)
{
    struct model m = fixture_model("resnet50");
    assert_near(flop_of(&m, BLOCK_HEAD), 2 * 4.089e9, 2 * 0.0005e9);
}

/* Layers of widths a, b: 2ab; three cross layers of 3456 through 512. */
TEST(a_sample_passes_a_dlrm_layer_by_layer)
{
    const double bottom = 2 * (13 * 512.0 + 512 * 256 + 256 * 128), cross = 3 * 2 * 2 * 3456 * 512.0;
    const double top = 2 * (3456 * 1024.0 + 1024 * 1024 + 1024 * 512 + 512 * 256 + 256);
    struct model m = fixture_model("dlrm-dcnv2");
    assert_close(flop_of(&m, BLOCK_EMBED), bottom, 1e-15);
    assert_close(flop_of(&m, BLOCK_HEAD), cross + top, 1e-15);
    /* Pairs of 26 tables and the bottom's output, by their dot product of 128, and that output beside them.
     */
    const double pairs = 27 * 26 / 2.0, dots = 27 * 27 * 128.0;
    m.dlrm.interaction = MODEL_DOT;
    assert_close(flop_of(&m, BLOCK_HEAD), dots + top - 2 * (3456 - 128 - pairs) * 1024, 1e-15);
}

/* Everything an NPU does is divided by TP, CP and EP so that together they do it once. */
TEST(parallel_npus_share_the_products)
{
    CASES(int64_t tp, cp, ep; bool expert_tp) = {
        { 2, 1, 1, false }, { 1, 2, 1, false }, { 4, 2, 8, false }, { 8, 1, 4, false }, { 4, 2, 2, true }
    };
    const struct topo_npu npu = fixture_counter(false);
    struct model dense = fixture_model("llama3-70b");
    struct model experts = fixture_model("mixtral-8x7b");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct plan, p, fixture_plan(cases[i].tp, cases[i].cp, 1, 1, 1), p.seq_parallel = true,
             p.ep = cases[i].ep, p.expert_tp = cases[i].expert_tp);
        double all = (double)(cases[i].tp * cases[i].cp);
        assert_close(all * cost_of(&dense, &p, BLOCK_DENSE, &npu).flop, flop_of(&dense, BLOCK_DENSE), 1e-14);
        assert_close(all * cost_of(&dense, &p, BLOCK_HEAD, &npu).flop, flop_of(&dense, BLOCK_HEAD), 1e-14);
        assert_close(all * cost_of(&experts, &p, BLOCK_EXPERTS, &npu).flop, flop_of(&experts, BLOCK_EXPERTS),
                     1e-14);
    }
}

/* With endless memory bandwidth and full efficiency, times are products: backward twice forward. */
TEST(the_backward_pass_has_twice_the_products)
{
    const struct topo_npu npu = fixture_counter(false);
    const struct plan p = fixture_plan(1, 1, 1, 1, 1);
    struct model m = fixture_model("megatron-22b");
    struct block_cost c = cost_of(&m, &p, BLOCK_DENSE, &npu);
    assert_close(c.forward_s, c.flop - c.core_flop, 1e-14);
    assert_close(c.core_s, c.core_flop, 1e-14);
    assert_close(c.core_back_s, 2 * c.core_flop, 1e-14);
    assert_close(c.input_s, c.forward_s, 1e-14);
    assert_close(c.weight_s, c.forward_s, 1e-14);
    assert_true(c.rest_s == 0);
}

/* Causal kernels skip the upper triangle; backward computes scores again: five products after two. */
TEST(fused_attention_does_half_forward_and_five_halves_of_it_backward)
{
    const struct topo_npu npu = fixture_counter(false);
    const struct plan p = fixture_plan(1, 1, 1, 1, 1);
    struct model m = fixture_model("llama3-8b");
    double full = 4 * 8192.0 * 8192 * 4096;
    struct block_cost c = cost_of(&m, &p, BLOCK_DENSE, &npu);
    assert_close(c.core_s, full / 2, 1e-14);
    assert_close(c.core_back_s, 2.5 * full / 2, 1e-14);
    assert_close(c.core_flop, full, 1e-14);
    m.causal = false;
    assert_close(cost_of(&m, &p, BLOCK_DENSE, &npu).core_s, full, 1e-14);
}

/* e (mk + kn + mn) of a product of fp16. */
static double product_B(double m, double n, double k)
{
    return 2 * (m * k + k * n + m * n);
}

/*
 * Bytes of Megatron's fused kernels, operator by operator. T = b s: norms 8 Th, bias + dropout + residual 14
 * Th, bias + GeLU 16 Th/t, transposes 4 Th/t, softmax 4 and dropout 5 per score; backward 12, 10 + 12, 24,
 * 18, 6, 5. Sequence parallelism divides the h-wide ones.
 */
TEST(megatron_layers_move_the_bytes_of_their_kernels)
{
    CASES(double t; bool seq) = { { 1, false }, { 8, false }, { 8, true } };
    const struct topo_npu npu = fixture_counter(true);
    const double h = 6144, s = 2048, b = 4, T = b * s, a = 64, d = 96;
    struct model m = fixture_model("megatron-22b");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double t = cases[i].t, wide = T * h / (cases[i].seq ? t : 1), scores = b * a / t * s * s;
        WITH(struct plan, p, fixture_plan((int64_t)t, 1, 1, 1, 4), p.micro = 4,
             p.seq_parallel = cases[i].seq);
        struct block_cost c = cost_of(&m, &p, BLOCK_DENSE, &npu);
        double products = product_B(T, 3 * h / t, h) + product_B(T, h, h / t) + product_B(T, 4 * h / t, h) +
                          product_B(T, h, 4 * h / t);
        double attention = b * a / t * (product_B(s, s, d) + product_B(s, d, s));
        assert_close(c.forward_s, products + 22 * wide + 20 * T * h / t, 1e-14);
        assert_close(c.core_s, attention + 9 * scores, 1e-14);
        assert_close(c.core_back_s, 2 * attention + 11 * scores, 1e-14);
        assert_close(c.rest_s, 34 * wide + 42 * T * h / t, 1e-14);
        assert_close(c.input_s, products, 1e-14);
        assert_close(c.weight_s, products + 8 * 12 * h * h / t, 1e-14); /* fp32 main gradient */
        p.grad_B = 2;
        assert_close(cost_of(&m, &p, BLOCK_DENSE, &npu).weight_s, products + 6 * 12 * h * h / t, 1e-14);
        /* 24 TV/t for unfused logits and loss, both passes; 20 Th for the embedding. */
        c = cost_of(&m, &p, BLOCK_HEAD, &npu);
        double logits = product_B(T, 51200 / t, h);
        assert_close(c.forward_s + c.rest_s, logits + 24 * T * 51200 / t + 10 * wide, 1e-14);
        c = cost_of(&m, &p, BLOCK_EMBED, &npu);
        assert_close(c.forward_s + c.rest_s, 20 * T * h, 1e-14);
    }
}

/* SwiGLU 6 Tf/t and 10 Tf/t; flash e T (2ad + 2 kv d)/t, twice that backward; no dropout. */
TEST(llama_layers_move_the_bytes_of_their_kernels)
{
    const struct topo_npu npu = fixture_counter(true);
    const double T = 8192, h = 8192, f = 28672, t = 8, ad = 8192, kvd = 1024;
    WITH(struct plan, p, fixture_plan(8, 1, 1, 1, 1), p.seq_parallel = true);
    struct model m = fixture_model("llama3-70b");
    struct block_cost c = cost_of(&m, &p, BLOCK_DENSE, &npu);
    double products = product_B(T, (ad + 2 * kvd) / t, h) + product_B(T, h, ad / t) +
                      product_B(T, 2 * f / t, h) + product_B(T, h, f / t);
    double rotary = 4 * T * (ad + kvd) / t;
    assert_close(c.core_s, 2 * T * (2 * ad + 2 * kvd) / t, 1e-14);
    assert_close(c.core_back_s, 2 * c.core_s, 1e-14);
    assert_close(c.forward_s, products + 6 * T * f / t + (8 + 12) * T * h / t + rotary, 1e-14);
    assert_close(c.rest_s, 10 * T * f / t + (12 + 12) * T * h / t + rotary, 1e-14);
}

TEST(tokens_of_a_microbatch_are_shared_by_context_parallelism)
{
    CASES(int64_t cp, micro; double tokens) = {
        { 1, 1, 8192 },
        { 1, 4, 32768 },
        { 4, 1, 2048 },
        { 4, 2, 4096 },
    };
    struct model m = fixture_model("llama3-8b");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct plan, p, fixture_plan(1, cases[i].cp, 1, 1, 8), p.micro = cases[i].micro);
        assert_true(block_tokens(&p, &m) == cases[i].tokens);
    }
}

/* Each kernel waits once: what is left of a layer on an endlessly fast NPU. */
TEST(every_kernel_has_its_gap)
{
    WITH(struct topo_npu, npu, fixture_counter(false), npu.peak_flops = INFINITY, npu.kernel_s = 1);
    const struct plan p = fixture_plan(1, 1, 1, 1, 1);
    struct model m = fixture_model("megatron-22b");
    struct block_cost c = cost_of(&m, &p, BLOCK_DENSE, &npu);
    /* Four products, activation, two norms, two joints, two transposes; two products, softmax, dropout. */
    assert_true(c.forward_s == 4 + 1 + 2 + 2 + 2 && c.core_s == 4 && c.core_back_s == 6);
    assert_true(c.input_s == 4 && c.weight_s == 4 && c.rest_s == 1 + 2 + 2 + 2);
}

/* Around a layer's experts: the router's product and four kernels that put tokens into order, forward as
 * backward. */
TEST(kernels_of_experts_have_their_gaps)
{
    WITH(struct topo_npu, npu, fixture_counter(false), npu.peak_flops = INFINITY, npu.kernel_s = 1);
    const struct plan p = fixture_plan(1, 1, 1, 1, 1);
    struct model m = fixture_model("mixtral-8x7b");
    struct block_cost dense = cost_of(&m, &p, BLOCK_DENSE, &npu),
                      experts = cost_of(&m, &p, BLOCK_EXPERTS, &npu);
    assert_true(experts.forward_s - dense.forward_s == 1 + 4);
    assert_true(experts.rest_s - dense.rest_s == 4);
}
