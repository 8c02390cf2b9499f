#include "tests/unit/training_fixture.h"

/* tp, cp, dp, pp, batch and what else a case sets; NPUs are their product unless given. */
struct check_case {
    int64_t degree[N_PLAN_AXES], batch;
    int64_t micro, interleave, first, last, ep;
    int32_t context, schedule, ends, dispatcher, ep_overlap, ep_fused, graph, kernel, sink;
    int64_t node_limit, dispatch_bits;
    bool seq_parallel, expert_tp;
    int64_t n_npus;
    const char *key, *why; /* NULL: legal */
};

#define REFUSED(key_, why_, ...)                                                                             \
    {                                                                                                        \
        .key = key_, .why = why_, __VA_ARGS__                                                                \
    }

static void check(const struct model *m, const struct check_case *x)
{
    WITH(struct plan, p, fixture_plan(x->degree[0], x->degree[1], x->degree[2], x->degree[3], x->batch),
         p.micro = x->micro ? x->micro : 1, p.interleave = x->interleave ? x->interleave : 1,
         p.ep = x->ep ? x->ep : 1, p.first = x->first, p.last = x->last, p.context = x->context,
         p.schedule = x->schedule, p.ends = x->ends, p.seq_parallel = x->seq_parallel,
         p.expert_tp = x->expert_tp, p.dispatcher = x->dispatcher, p.ep_fused = x->ep_fused, p.sink = x->sink,
         p.graph = x->graph, p.kernel = x->kernel ? x->kernel : PLAN_KERNEL_MODEL,
         p.ep_overlap = x->ep_overlap, p.node_limit = x->node_limit,
         p.dispatch_bits = x->dispatch_bits ? x->dispatch_bits : 16);
    struct plan_fault fault = { .key = "" };
    int64_t n = x->n_npus ? x->n_npus : x->degree[0] * x->degree[1] * x->degree[2] * x->degree[3];
    bool ok = plan_check(&p, m, n, &fault);
    assert_int_equal(ok, plan_check(&p, m, n, NULL));
    if (ok != !x->key || (x->key && (strcmp(fault.key, x->key) != 0 || strcmp(fault.why, x->why) != 0)))
        print_error("got: %s %s\nwant: %s %s\n", ok ? "legal" : fault.key, fault.why,
                    x->key ? x->key : "legal", x->why ? x->why : "");
    assert_int_equal(ok, !x->key);
    if (x->key) {
        assert_string_equal(fault.key, x->key);
        assert_string_equal(fault.why, x->why);
    }
}

/* 96 layers, 96 heads, hidden 12288, sequences of 2048. */
TEST(a_dense_plan_is_refused_for_one_stated_reason)
{
    static const struct check_case cases[] = {
        { .degree = { 8, 1, 16, 8 }, .batch = 1536 },
        { .degree = { 8, 2, 8, 8 }, .batch = 1536, .micro = 2, .interleave = 3, .seq_parallel = true },
        { .degree = { 1, 1, 1, 96 }, .batch = 1 },
        { .degree = { 8, 1, 2, 10 }, .batch = 64, .first = 8, .last = 8 },
        { .degree = { 8, 1, 2, 2 }, .batch = 64, .first = 40, .last = 56 },
        { .degree = { 8, 1, 2, 3 }, .batch = 64, .last = 46 },
        REFUSED("dp", "is 16, expected 32, so that tp 8, cp 1, dp and pp 8 make 2048 NPUs",
                .degree = { 8, 1, 16, 8 }, .batch = 1536, .n_npus = 2048),
        REFUSED("tp", "is 6, which does not divide the 64 of 64 NPUs that are left (nearest: 4 or 8)",
                .degree = { 6, 1, 1, 1 }, .batch = 8, .n_npus = 64),
        REFUSED("pp", "is 12, which does not divide the 8 of 64 NPUs that are left (nearest: 8)",
                .degree = { 8, 1, 1, 12 }, .batch = 8, .n_npus = 64),
        REFUSED("cp", "is 16, which does not divide the 8 of 64 NPUs that are left (nearest: 8)",
                .degree = { 8, 16, 1, 1 }, .batch = 8, .n_npus = 64),
        REFUSED("tp", "is 64, expected a divisor of heads, 96 (nearest: 48 or 96)", .degree = { 64, 1, 1, 1 },
                .batch = 1),
        REFUSED("tp", "is 5, expected a divisor of heads, 96 (nearest: 4 or 6)", .degree = { 5, 1, 1, 1 },
                .batch = 1),
        REFUSED("tp", "is 192, expected a divisor of heads, 96 (nearest: 96)", .degree = { 192, 1, 1, 1 },
                .batch = 1),
        REFUSED("cp", "is 3, expected a divisor of seq, 2048 (nearest: 2 or 4)", .degree = { 1, 3, 1, 1 },
                .batch = 1),
        REFUSED("seq_parallel", "is true, expected tokens of a sequence, 32, that divide by tp 48",
                .degree = { 48, 64, 1, 1 }, .batch = 1, .seq_parallel = true),
        REFUSED("cp", "is 8, expected a divisor of heads of one NPU, 3 (nearest: 3)",
                .degree = { 32, 8, 1, 1 }, .batch = 1, .context = PLAN_CP_ULYSSES),
        REFUSED("pp",
                "is 7, expected a divisor of layers, 96 (nearest: 6 or 8); or give ends: short, or stages",
                .degree = { 1, 1, 1, 7 }, .batch = 1),
        REFUSED("pp",
                "is 100, expected a divisor of layers, 96 (nearest: 96); or give ends: short, or stages",
                .degree = { 1, 1, 1, 100 }, .batch = 1),
        REFUSED("first_stage_layers", "is given with pp 1, expected several stages", .degree = { 1, 1, 1, 1 },
                .batch = 1, .first = 3),
        REFUSED("last_stage_layers", "is given with pp 1, expected several stages", .degree = { 1, 1, 1, 1 },
                .batch = 1, .last = 3),
        REFUSED("pp", "leaves 86 layers to 3 stages, expected a multiple", .degree = { 1, 1, 1, 4 },
                .batch = 4, .first = 10),
        REFUSED("first_stage_layers", "leaves -1 layers to 3 stages, expected as many as there are",
                .degree = { 1, 1, 1, 4 }, .batch = 4, .first = 97),
        REFUSED("first_stage_layers", "leaves 16 layers to 0 stages, expected as many as there are",
                .degree = { 1, 1, 1, 2 }, .batch = 4, .first = 40, .last = 40),
        REFUSED("pp", "leaves 0 layers to 3 stages, expected a multiple", .degree = { 1, 1, 1, 4 },
                .batch = 4, .last = 96),
        REFUSED("interleave", "is 2 with pp 1, expected 1 or several stages", .degree = { 1, 1, 1, 1 },
                .batch = 4, .interleave = 2),
        REFUSED("interleave", "is 2, expected schedule 1f1b, and stages or ends for unequal chunks",
                .degree = { 1, 1, 1, 8 }, .batch = 8, .interleave = 2, .schedule = PLAN_GPIPE),
        REFUSED("interleave", "is 2, expected schedule 1f1b, and stages or ends for unequal chunks",
                .degree = { 1, 1, 1, 2 }, .batch = 8, .interleave = 2, .first = 40, .last = 56),
        REFUSED("interleave", "is 5, expected a divisor of layers of a stage, 12 (nearest: 4 or 6)",
                .degree = { 1, 1, 1, 8 }, .batch = 8, .interleave = 5),
        REFUSED("interleave", "is 2 with 12 microbatches, expected a multiple of pp 8 of them",
                .degree = { 1, 1, 1, 8 }, .batch = 12, .interleave = 2),
        REFUSED("interleave", "is 4 with pp 1, expected 1 or several stages", .degree = { 1, 1, 2, 1 },
                .batch = 8, .interleave = 4),
        REFUSED("pp",
                "makes 64 chunks of 96 layers, of which the last would have -30; expected fewer, or stages",
                .degree = { 1, 1, 1, 64 }, .batch = 64, .ends = PLAN_ENDS_SHORT),
        REFUSED("schedule", "is zb1p with 4 microbatches, expected at least pp, 8", .degree = { 1, 1, 1, 8 },
                .batch = 4, .schedule = PLAN_ZB1P),
        REFUSED("schedule", "is dualpipe with pp 3 and 8 microbatches, expected even numbers",
                .degree = { 1, 1, 1, 3 }, .batch = 8, .schedule = PLAN_DUALPIPE),
        REFUSED("schedule", "is dualpipev with 8 microbatches, expected at least 2 pp, 16",
                .degree = { 1, 1, 1, 8 }, .batch = 8, .schedule = PLAN_DUALPIPEV),
        REFUSED("batch", "is 40, expected a multiple of dp, 16 (nearest: 32 or 48)",
                .degree = { 1, 1, 16, 1 }, .batch = 40),
        REFUSED("batch", "is 8, expected a multiple of dp, 16", .degree = { 1, 1, 16, 1 }, .batch = 8),
        REFUSED("micro_batch", "is 4, expected a divisor of batch / dp, 10 (nearest: 2 or 5)",
                .degree = { 1, 1, 4, 1 }, .batch = 40, .micro = 4),
        REFUSED("ep", "is 2 for a model without experts, expected 1", .degree = { 1, 1, 4, 1 }, .batch = 4,
                .ep = 2),
        REFUSED("dispatcher", "is merged for a model without experts, expected all-to-all",
                .degree = { 1, 1, 4, 1 }, .batch = 4, .dispatcher = PLAN_MERGED),
        REFUSED("node_limit", "is 4 for a model without experts, expected 0", .degree = { 1, 1, 4, 1 },
                .batch = 4, .node_limit = 4),
        REFUSED("dispatch_bits", "is 8 for a model without experts, expected 16", .degree = { 1, 1, 4, 1 },
                .batch = 4, .dispatch_bits = 8),
        REFUSED("ep_fused", "is true for a model without experts, expected default", .degree = { 1, 1, 4, 1 },
                .batch = 4, .ep_fused = PLAN_EP_FUSED),
        REFUSED("ep_overlap", "is batch for a model without experts, expected none", .degree = { 1, 1, 4, 1 },
                .batch = 4, .ep_overlap = PLAN_EP_OVERLAP_BATCH),
    };
    struct model m = fixture_model("gpt3-175b");
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check(&m, &cases[i]);
}

/* 8 experts of 14336, 32 heads over 8 of keys. */
TEST(a_plan_with_experts_is_refused_for_one_stated_reason)
{
    static const struct check_case cases[] = {
        { .degree = { 1, 1, 8, 1 }, .batch = 8, .ep = 8 },
        { .degree = { 2, 2, 2, 1 }, .batch = 8, .ep = 8, .seq_parallel = true },
        { .degree = { 16, 1, 1, 1 }, .batch = 8, .ep = 8, .seq_parallel = true },
        { .degree = { 2, 2, 2, 1 }, .batch = 8, .ep = 4, .seq_parallel = true, .expert_tp = true },
        REFUSED("ep", "is 16, expected a divisor of experts, 8 (nearest: 8)", .degree = { 1, 1, 16, 1 },
                .batch = 16, .ep = 16),
        REFUSED("ep", "is 8, expected a divisor of tp * cp * dp, 12 (nearest: 6 or 12)",
                .degree = { 1, 1, 12, 1 }, .batch = 12, .ep = 8),
        REFUSED("ep", "is 8, expected a divisor of cp * dp, 4 (nearest: 4)", .degree = { 2, 1, 4, 1 },
                .batch = 8, .ep = 8, .expert_tp = true, .seq_parallel = true),
        REFUSED("seq_parallel",
                "is false with experts and tp 2, expected true: else each token reaches its experts 2 times",
                .degree = { 2, 1, 4, 1 }, .batch = 8, .ep = 4),
        REFUSED("node_limit", "has no effect on dispatcher all-to-all, which sends a copy for each expert",
                .degree = { 1, 1, 8, 1 }, .batch = 8, .ep = 8, .node_limit = 2),
        REFUSED("dispatch_bits", "is 12, expected 16 or 8", .degree = { 1, 1, 8, 1 }, .batch = 8, .ep = 8,
                .dispatch_bits = 12),
        { .degree = { 1, 1, 8, 1 },
          .batch = 8,
          .ep = 8,
          .graph = PLAN_GRAPH_STEP,
          .dispatcher = PLAN_MERGED },
        REFUSED("graph",
                "is step, but dropless all-to-alls send counts of tokens through the host; give dispatcher "
                "merged, "
                "model.moe.capacity above 1, or graph attention",
                .degree = { 1, 1, 8, 1 }, .batch = 8, .ep = 8, .graph = PLAN_GRAPH_STEP),
        REFUSED("ep_overlap", "is shared for a model without shared experts, expected none or batch",
                .degree = { 1, 1, 8, 1 }, .batch = 8, .ep = 8, .ep_overlap = PLAN_EP_OVERLAP_SHARED),
    };
    struct model m = fixture_model("mixtral-8x7b");
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check(&m, &cases[i]);
    m.heads = 24, m.kv_heads = 8;
    check(&m, &(struct check_case){ .degree = { 12, 1, 1, 1 },
                                    .batch = 1,
                                    .key = "tp",
                                    .why = "is 12, expected a divisor or a multiple of kv_heads, 8" });
}

TEST(sinks_need_a_kernel_that_has_them)
{
    static const struct check_case cases[] = {
        { .degree = { 1, 1, 8, 1 }, .batch = 8, .kernel = PLAN_FA3 },
        { .degree = { 1, 1, 8, 1 }, .batch = 8, .kernel = PLAN_UNFUSED },
        REFUSED("attention_kernel",
                "is fa2, which has no sinks; give unfused, fused, fa3, cudnn, aiter or splash",
                .degree = { 1, 1, 8, 1 }, .batch = 8, .kernel = PLAN_FA2),
        REFUSED("sink", "is apart without fused attention that has sinks, expected default",
                .degree = { 1, 1, 8, 1 }, .batch = 8, .kernel = PLAN_UNFUSED, .sink = PLAN_SINK_APART),
    };
    struct model m = fixture_model("gpt-oss-20b");
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        check(&m, &cases[i]);
}

TEST(other_families_are_trained_data_parallel)
{
    static const struct check_case cases[] = {
        { .degree = { 1, 1, 64, 1 }, .batch = 65536, .micro = 1024 },
        REFUSED("tp", "is 2, expected 1: this family is trained data-parallel", .degree = { 2, 1, 4, 1 },
                .batch = 8),
        REFUSED("cp", "is 2, expected 1: this family is trained data-parallel", .degree = { 1, 2, 4, 1 },
                .batch = 8),
        REFUSED("pp", "is 2, expected 1: this family is trained data-parallel", .degree = { 1, 1, 4, 2 },
                .batch = 8),
        REFUSED("ep", "is 4, expected 1: this family has no experts", .degree = { 1, 1, 4, 1 }, .batch = 8,
                .ep = 4),
        REFUSED("interleave", "is of transformers, which this model is not", .degree = { 1, 1, 4, 1 },
                .batch = 8, .interleave = 2),
    };
    static const char *const names[] = { "dlrm-dcnv2", "resnet50" };
    for (size_t k = 0; k < COUNT_OF(names); k++) {
        struct plan_fault fault = { .key = "" };
        struct plan p = fixture_plan(1, 1, 4, 1, 4);
        struct model m = fixture_model(names[k]);
        for (size_t i = 0; i < COUNT_OF(cases); i++)
            check(&m, &cases[i]);
        p.recompute = PLAN_RECOMPUTE_FULL;
        assert_false(plan_check(&p, &m, 4, &fault));
        assert_string_equal(fault.key, "recompute");
        assert_string_equal(fault.why, "is full, expected none: this family is trained without");
    }
}

/* ---- stages ---- */

TEST(equal_stages_are_told_once)
{
    CASES(int64_t pp, interleave, first, last; int32_t n; struct plan_stage want[4]) = {
        { 1, 1, 0, 0, 1, { { 0, 1, 96, 0, true, true, 0, 0, 0 } } },
        { 2, 1, 0, 0, 2, { { 0, 1, 48, 0, true, false, 0, 0, 0 }, { 1, 1, 48, 0, false, true, 0, 0, 0 } } },
        { 8,
          3,
          0,
          0,
          3,
          { { 0, 1, 12, 0, true, false, 0, 0, 0 },
            { 1, 6, 12, 0, false, false, 0, 0, 0 },
            { 7, 1, 12, 0, false, true, 0, 0, 0 } } },
        { 10,
          1,
          8,
          8,
          3,
          { { 0, 1, 8, 0, true, false, 0, 0, 0 },
            { 1, 8, 10, 0, false, false, 0, 0, 0 },
            { 9, 1, 8, 0, false, true, 0, 0, 0 } } },
        { 3,
          1,
          0,
          46,
          3,
          { { 0, 1, 25, 0, true, false, 0, 0, 0 },
            { 1, 1, 25, 0, false, false, 0, 0, 0 },
            { 2, 1, 46, 0, false, true, 0, 0, 0 } } },
        { 2, 1, 30, 66, 2, { { 0, 1, 30, 0, true, false, 0, 0, 0 }, { 1, 1, 66, 0, false, true, 0, 0, 0 } } },
    };
    struct model m = fixture_model("gpt3-175b");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plan_stage got[PLAN_MAX_STAGES];
        WITH(struct plan, p, fixture_plan(1, 1, 1, cases[i].pp, 96), p.interleave = cases[i].interleave,
             p.first = cases[i].first, p.last = cases[i].last);
        assert_int_equal(plan_stages(got, &p, &m), cases[i].n);
        for (int32_t k = 0; k < cases[i].n; k++) {
            const struct plan_stage *want = &cases[i].want[k];
            assert_true(got[k].at == want->at && got[k].count == want->count && got[k].dense == want->dense &&
                        got[k].experts == want->experts && got[k].embed == want->embed &&
                        got[k].head == want->head);
        }
    }
}

/* The stage of a layer where chunks are listed or have short ends: 0 takes layers, then 1, and round again.
 */
static int64_t stage_in_turn(const struct plan *p, const struct model *m, int64_t layer)
{
    int64_t chunks = p->degree[PLAN_PP] * p->interleave, chunk = 0, each = (m->layers + 2) / chunks;
    bool even = (m->layers + 2) % chunks == 0;
    for (int64_t left = layer;; chunk++) {
        int64_t has = p->layout.n ? p->layout.layers[chunk]
                      : even      ? each - (chunk == 0) - (chunk == chunks - 1)
                                  : (m->layers - 1) / chunks + 1;
        if (left < has)
            return chunk % p->degree[PLAN_PP];
        left -= has;
    }
}

/* Layer by layer: chunk c of stage i holds layers (c p + i) L/(p v) and on; uneven ends shift the rest. */
static int64_t stage_of_layer(const struct plan *p, const struct model *m, int64_t layer)
{
    int64_t pp = p->degree[PLAN_PP];
    if (p->layout.n || p->ends)
        return stage_in_turn(p, m, layer);
    if (p->interleave > 1)
        return layer / (m->layers / (pp * p->interleave)) % pp;
    int64_t ends = p->first + p->last, others = pp - (p->first > 0) - (p->last > 0);
    int64_t each = others ? (m->layers - ends) / others : 0;
    if (p->first && layer < p->first)
        return 0;
    if (p->last && layer >= m->layers - p->last)
        return pp - 1;
    return (layer - p->first) / each + (p->first > 0);
}

TEST(every_layer_is_in_one_stage)
{
    struct random_training x;
    RNG(r, 11, 0);
    for (int i = 0; i < 400; i++) {
        struct plan_stage got[PLAN_MAX_STAGES];
        int64_t dense[64] = { 0 }, experts[64] = { 0 }, stages = 0;
        fixture_random(&x, r);
        int64_t pp = x.plan.degree[PLAN_PP];
        for (int64_t l = 0; l < x.model.layers; l++)
            (model_has_experts(&x.model, l) ? experts : dense)[stage_of_layer(&x.plan, &x.model, l)]++;
        if (x.model.moe.experts)
            experts[pp - 1] += x.model.mtp;
        else
            dense[pp - 1] += x.model.mtp;
        int32_t n = plan_stages(got, &x.plan, &x.model);
        assert_true(n >= 1 && got[0].at == 0 && got[0].embed);
        assert_int_equal(got[n - 1].mtp, x.model.mtp);
        for (int32_t k = 0; k < n; k++) {
            int64_t alike = 0;
            for (int64_t s = 0; s < pp; s++)
                alike += dense[s] == got[k].dense && experts[s] == got[k].experts &&
                         (s == 0) == got[k].embed && (s == pp - 1) == got[k].head;
            assert_int_equal(alike, got[k].count);
            stages += got[k].count;
        }
        assert_int_equal(stages, pp);
    }
}

/* ---- text ---- */

TEST(a_plan_reads_as_one_line)
{
    KEEP(struct text, out, text_free) = { 0 };
    struct plan p = fixture_plan(8, 1, 4, 16, 1536);
    struct model m = fixture_model("gpt3-175b");
    plan_format(&out, &p, &m);
    assert_string_equal(text_str(&out), "tp8 dp4 pp16 mb1x384");
    text_free(&out);
    p = fixture_plan(2, 4, 8, 2, 64);
    p.order[0] = PLAN_CP, p.order[1] = PLAN_TP;
    p.ep = 4, p.micro = 2, p.interleave = 2, p.recompute = PLAN_RECOMPUTE_SELECTIVE, p.zero = 2;
    p.context = PLAN_CP_ULYSSES, p.seq_parallel = true;
    out = (struct text){ 0 };
    plan_format(&out, &p, &m);
    assert_string_equal(text_str(&out),
                        "cp4 tp2 dp8 pp2 ep4 mb2x4 interleave2 zero2 recompute-selective cp-ulysses sp");
    text_free(&out);
    p = fixture_plan(1, 1, 1, 1, 8);
    p.recompute = PLAN_RECOMPUTE_FULL, p.recompute_layers = 5;
    out = (struct text){ 0 };
    plan_format(&out, &p, &m);
    assert_string_equal(text_str(&out), "mb1x8 recompute-full5");
    text_free(&out);
    m = fixture_model("resnet50");
    p = fixture_plan(1, 1, 1, 1, 256);
    out = (struct text){ 0 };
    plan_format(&out, &p, &m);
    assert_string_equal(text_str(&out), "mb1x256");
}

/* An element's bits, and a byte for each block of 32 or 16; what is gathered, in 16 bits where nvfp4 is not
 * asked to have its own. */
TEST(elements_have_their_blocks_scales)
{
    CASES(int32_t precision, gather_bits; double element_B, gathered_B) = {
        { TOPO_BF16, 0, 2, 2 },
        { TOPO_FP8, 0, 1, 1 },
        { TOPO_MXFP8, 0, 33 / 32., 33 / 32. },
        { TOPO_NVFP4, 0, 9 / 16., 2 },
        { TOPO_NVFP4, 4, 9 / 16., 9 / 16. },
        { TOPO_BF16, 8, 2, 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.gather_bits = cases[i].gather_bits,
             p.precision = (int32_t)cases[i].precision);
        assert_true(plan_element_B(&p) == cases[i].element_B);
        assert_true(plan_gather_B(&p) == cases[i].gathered_B);
    }
}

/* A graph of the whole step leaves nothing to start, one of attention two fifths. */
TEST(graphs_leave_fewer_kernels_to_start)
{
    CASES(int32_t graph;
          double left) = { { PLAN_GRAPH_NONE, 1 }, { PLAN_GRAPH_ATTENTION, 0.4 }, { PLAN_GRAPH_STEP, 0 } };
    struct model m = fixture_model("llama3-8b");
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        WITH(struct plan, p, fixture_plan(1, 1, 1, 1, 1), p.launch_s = 1e-3, p.graph = cases[i].graph);
        struct plan_class got = plan_class(&p, &m);
        assert_close(got.launch_s, cases[i].left * 1e-3, 1e-15);
        assert_close(got.expert_launch_s, cases[i].left * 1e-3, 1e-15);
    }
}
