#include "tests/unit/training_fixture.h"

static const int32_t sizes[] = { 8, 64 };

static int read_on(struct plan *p, const char *model, const struct topo_network *net, const char *text,
                   struct err *e)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    struct model m = fixture_model(model);
    int rc = yaml_read_text(&doc, "p.yaml", text, strlen(text), e);
    if (!rc)
        rc = plan_read(p, &m, net, true, &doc, doc.root, e);
    return rc;
}

static int read_text(struct plan *p, const char *model, const char *text, struct err *e)
{
    const struct topo_network net = fixture_network(sizes, 2);
    return read_on(p, model, &net, text, e);
}

TEST(every_key_reaches_the_plan)
{
    struct plan p;
    OK(read_text(&p, "gpt3-175b",
                 "tp: 8\ncp: 2\ndp: 8\npp: 4\nbatch: 512\nmicro_batch: 2\nschedule: 1f1b\n"
                 "interleave: 4\nseq_parallel: true\nrecompute: selective\nzero: 2\n"
                 "context: ulysses\noverlap_tp: split\noverlap_dp: false\noverlap_pp: true\n"
                 "scatter_gather: false\nsends: 4\ngrad_B: 2\nstep_overhead_s: 0.5\n"
                 "order: [tp, dp, cp, pp]\n",
                 e));
    assert_true(p.degree[PLAN_TP] == 8 && p.degree[PLAN_CP] == 2 && p.degree[PLAN_DP] == 8 &&
                p.degree[PLAN_PP] == 4);
    assert_true(p.batch == 512 && p.micro == 2 && p.interleave == 4 && p.schedule == PLAN_1F1B);
    assert_true(p.seq_parallel && p.recompute == PLAN_RECOMPUTE_SELECTIVE && p.zero == 2);
    assert_true(p.context == PLAN_CP_ULYSSES && p.overlap_tp == PLAN_OVERLAP_SPLIT);
    assert_true(!p.overlap_dp && p.overlap_pp && !p.scatter_gather && p.sends == 4 && p.grad_B == 2);
    assert_true(p.overhead_s == 0.5);
    assert_true(p.order[0] == PLAN_TP && p.order[1] == PLAN_DP && p.order[2] == PLAN_CP &&
                p.order[3] == PLAN_PP);
    OK(read_text(&p, "gpt3-175b",
                 "{ batch: 512, pp: 4, first_stage_layers: 20, last_stage_layers: 22, schedule: gpipe }", e));
    assert_true(p.first == 20 && p.last == 22 && p.schedule == PLAN_GPIPE);
    /* 1,048,576 tokens are 512 sequences of 2,048: the nearest of 511.8 and 512.2. */
    OK(read_text(&p, "gpt3-175b", "batch_Mtokens: 1.0482", e));
    assert_true(p.batch == 512 && isnan(p.batch_tokens));
    OK(read_text(&p, "gpt3-175b", "batch_Mtokens: 1.049", e));
    assert_true(p.batch == 512);
    OK(read_text(&p, "mixtral-8x7b", "{ batch: 512, ep: 8, expert_tp: true }", e));
    assert_true(p.ep == 8 && p.expert_tp);
}

TEST(what_is_absent_is_as_in_megatron_and_data_parallelism_is_what_is_left)
{
    CASES(const char *text; int64_t dp) = {
        { "batch: 512", 512 },
        { "{ batch: 512, tp: 8 }", 64 },
        { "{ batch: 512, tp: 8, pp: 16 }", 4 },
        { "{ batch: 512, tp: 8, cp: 2, pp: 32 }", 1 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plan p, defaults;
        plan_defaults(&defaults);
        OK(read_text(&p, "gpt3-175b", cases[i].text, e));
        assert_int_equal(p.degree[PLAN_DP], cases[i].dp);
        assert_true(p.micro == 1 && p.interleave == 1 && p.ep == 1 && p.first == 0 && p.last == 0);
        assert_true(p.zero == 0 && p.recompute == PLAN_RECOMPUTE_NONE && p.context == PLAN_CP_RING);
        assert_true(p.overlap_tp == defaults.overlap_tp && p.overlap_dp == defaults.overlap_dp &&
                    p.overlap_pp == defaults.overlap_pp && p.scatter_gather == defaults.scatter_gather);
        assert_true(p.sends == defaults.sends && p.grad_B == defaults.grad_B && p.overhead_s == 0);
        assert_memory_equal(p.order, defaults.order, sizeof p.order);
        assert_true(!p.seq_parallel && !p.expert_tp && p.schedule == defaults.schedule);
    }
}

/* 512 NPUs in two dimensions of 8 and 64; 96 layers and heads. */
TEST(a_fault_is_named_with_its_place)
{
    CASES(const char *text; enum err_code code; const char *message) = {
        { "tp: 8", ERR_PARSE, "p.yaml:1:1: document has no batch" },
        { "8", ERR_PARSE, "p.yaml:1:1: document is 8, expected a map" },
        { "batch: 512\nbatch_Mtokens: 1", ERR_RANGE,
          "p.yaml:2:16: batch_Mtokens is given together with batch; give one of them" },
        { "batch_Mtokens: 1e-4", ERR_RANGE, "batch_Mtokens is less than half a sequence of the model" },
        { "batch: 512\ntp: 0", ERR_RANGE, "p.yaml:2:5: tp is 0, expected 1 to" },
        { "batch: 512\ntpp: 2", ERR_PARSE, "p.yaml:2:1: unknown key \"tpp\"" },
        { "batch: 512\nzero: 4", ERR_RANGE, "p.yaml:2:7: zero is 4, expected 0 to 3" },
        { "batch: 512\ngrad_B: 3", ERR_RANGE, "p.yaml:2:9: grad_B is 3, expected 2 or 4" },
        { "batch: 512\nrecompute: some", ERR_PARSE,
          "p.yaml:2:12: recompute is some, expected one of none, selective, full" },
        { "batch: 512\nschedule: 1f2b", ERR_PARSE,
          "schedule is 1f2b, expected one of 1f1b, gpipe, zb1p, dual" },
        { "batch: 512\nschedule: dualpipe", ERR_RANGE,
          "p.yaml:2:11: schedule is dualpipe with pp 1, expected several stages" },
        { "batch: 512\npp: 8\nstages: [12, 12]", ERR_RANGE,
          "p.yaml:3:9: stages lists 2 chunks, expected pp 8 times interleave 1" },
        { "batch: 512\npp: 2\nstages: [48, 47]", ERR_RANGE,
          "p.yaml:3:9: stages sums to 95 layers, expected the model's 96" },
        { "batch: 512\npp: 2\nstages: [48, 256]", ERR_RANGE,
          "p.yaml:3:14: stages[1] is 256, expected 0 to 255 layers" },
        { "batch: 512\npp: 2\nstages: []", ERR_RANGE, "stages has 0 entries, expected 1 to 256" },
        { "batch: 512\npp: 2\nstages: 48", ERR_PARSE, "stages is 48, expected a list" },
        { "batch: 512\npp: 2\nstages: [48, 48]\nends: short", ERR_RANGE,
          "ends is given together with another layout of stages; give one of them" },
        { "batch: 512\npp: 2\nends: short\nlast_stage_layers: 40", ERR_RANGE,
          "ends is short beside first_stage_layers or last_stage_layers; give one of them" },
        { "batch: 512\nends: short", ERR_RANGE,
          "p.yaml:2:7: ends is short with pp 1, expected several stages" },
        { "batch: 512\nreshard: false", ERR_RANGE, "reshard is false with zero 0, expected zero 3" },
        { "batch: 512\nzero: 1\nno_sync: true", ERR_RANGE,
          "no_sync is true with zero 1, expected zero 2 or 3" },
        { "batch: 512\nbeside_share: 0.12", ERR_RANGE,
          "beside_share is 0.12 with zero 0, expected zero 2 or 3 and overlap_dp" },
        { "batch: 512\nshard: 8", ERR_RANGE, "shard is 8 with zero 0, expected zero 1 to 3" },
        { "batch: 512\nzero: 2\noverlap_dp: false\nbeside_share: 0.12", ERR_RANGE,
          "p.yaml:4:15: beside_share is 0.12 with zero 2 and no overlap_dp, expected zero 2 or 3" },
        { "batch: 512\nzero: 1\nbeside_share: 0.12", ERR_RANGE,
          "beside_share is 0.12 with zero 1, expected" },
        { "batch: 512\nzero: 3\nshard: 3", ERR_RANGE,
          "shard is 3, expected a divisor of cp * dp, 512 (nearest: 2 or 4)" },
        { "batch: 512\ncontext: tree", ERR_PARSE, "expected one of ring, all-gather, ulysses" },
        { "batch: 512\noverlap_tp: all", ERR_PARSE, "expected one of none, backward, split" },
        { "batch: 512\nsends: 17", ERR_RANGE, "sends is 17, expected 0 to 16" },
        { "batch: 512\nstep_overhead_s: -1", ERR_RANGE, "step_overhead_s is -1, expected 0 to" },
        { "batch: 512\norder: tp", ERR_PARSE, "p.yaml:2:8: order is" },
        { "batch: 512\norder: [tp, dp]", ERR_RANGE,
          "p.yaml:2:8: order has 2 entries, expected tp, cp, dp and pp in some order" },
        { "batch: 512\norder: [tp, dp, cp, ep]", ERR_PARSE,
          "p.yaml:2:21: order[3] is ep, expected tp, cp, dp or pp" },
        { "batch: 512\norder: [tp, dp, tp, pp]", ERR_PARSE,
          "p.yaml:2:17: order[2] is tp, expected each of tp, cp, dp and pp once" },
        { "batch: 512\ntp: 5", ERR_RANGE,
          "p.yaml:2:5: tp is 5, which does not divide the 512 of 512 NPUs that are left (nearest: 4 or 8)" },
        { "batch: 512\ntp: 6", ERR_RANGE,
          "p.yaml:2:5: tp is 6, which does not divide the 512 of 512 NPUs that are left (nearest: 4 or 8)" },
        { "batch: 512\ntp: 8\ndp: 32", ERR_RANGE,
          "p.yaml:3:5: dp is 32, expected 64, so that tp 8, cp 1, dp and pp 1 make 512 NPUs" },
        { "batch: 512\ntp: 32\npp: 32", ERR_RANGE,
          "p.yaml:3:5: pp is 32, which does not divide the 16 of 512 NPUs that are left (nearest: 16)" },
        { "batch: 512\npp: 64", ERR_RANGE,
          "p.yaml:2:5: pp is 64, expected a divisor of layers, 96 (nearest: 48 or 96)" },
        { "tp: 8\nbatch: 500", ERR_RANGE,
          "p.yaml:2:8: batch is 500, expected a multiple of dp, 64 (nearest: 448 or 512)" },
        { "tp: 8\nbatch: 60", ERR_RANGE, "p.yaml:2:8: batch is 60, expected a multiple of dp, 64" },
        { "batch: 512\ntp: 8\nmicro_batch: 3", ERR_RANGE,
          "p.yaml:3:14: micro_batch is 3, expected a divisor of batch / dp, 8 (nearest: 2 or 4)" },
        { "batch: 512\nep: 2", ERR_RANGE, "p.yaml:2:5: ep is 2 for a model without experts, expected 1" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plan p;
        FAILS(read_text(&p, "gpt3-175b", cases[i].text, e), cases[i].code, cases[i].message);
        assert_null(strchr(e->msg, '\n'));
    }
}

/* 256 experts over 64 nodes of 8. */
TEST(a_dispatch_that_the_nodes_do_not_allow_is_named_with_its_place)
{
    CASES(const char *text; const char *message) = {
        { "batch: 512\ndispatcher: merged",
          "p.yaml:2:13: dispatcher has no effect with ep 1; give ep, or leave it out" },
        { "batch: 512\ndispatch_bits: 8", "p.yaml:2:16: dispatch_bits has no effect with ep 1" },
        { "batch: 512\nep_overlap: shared", "p.yaml:2:13: ep_overlap has no effect with ep 1" },
        { "batch: 512\nep: 64\ndispatcher: merged\nnode_limit: 9",
          "p.yaml:4:13: node_limit is 9, expected at most the 8 nodes that ep 64 takes" },
        { "batch: 512\nep: 8\ndispatcher: merged\nnode_limit: 2",
          "p.yaml:4:13: node_limit is 2, expected at most the 1 nodes that ep 8 takes" },
        { "batch: 512\nep: 256\ndispatcher: merged\nnode_limit: 0", NULL },
        { "batch: 512\nep: 64\ndispatcher: merged\nnode_limit: 4\ndispatch_bits: 8\nep_overlap: shared",
          NULL },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plan p;
        if (cases[i].message)
            FAILS(read_text(&p, "deepseek-v3", cases[i].text, e), ERR_RANGE, cases[i].message);
        else
            OK(read_text(&p, "deepseek-v3", cases[i].text, e));
    }
    struct plan p;
    FAILS(read_text(&p, "kimi-k2", "batch: 512\nep: 384\n", e), ERR_RANGE, "ep is 384");
    FAILS(read_text(&p, "mixtral-8x7b", "batch: 512\nep: 8\nzero: 1\nshard: 2", e), ERR_RANGE,
          "p.yaml:4:8: shard is 2 for a model with experts, expected a dense one");
    FAILS(read_text(&p, "mixtral-8x7b", "batch: 512\nep: 8\norder: [dp, tp, cp, pp]\nnode_limit: 1", e),
          ERR_RANGE, "node_limit has no effect on dispatcher all-to-all");
}

/* What the model, the NPU (an A100 without lower precisions) or the rest of the plan does not have. */
TEST(software_that_cannot_be_is_named_with_its_place)
{
    CASES(const char *model, *text, *message) = {
        { "deepseek-v3", "batch: 512\nep: 64\nsoftware: megatron\ngraph: step",
          "p.yaml:4:8: graph is step, but dropless all-to-alls send counts of tokens through the host" },
        { "deepseek-v3", "batch: 512\nep: 64\ndispatcher: merged\nsoftware: megatron\ngraph: step", NULL },
        { "gpt3-175b", "batch: 512\ngraph: attention",
          "p.yaml:2:1: graph is attention, which saves launches" },
        { "gpt3-175b", "batch: 512\nlaunch_us: 900\ngraph: attention", NULL },
        { "gpt3-175b", "batch: 512\nprecision: fp8", "p.yaml:2:12: precision is of 8 bits, which the NPU" },
        { "gpt3-175b", "batch: 512\nprecision: nvfp4",
          "p.yaml:2:12: precision is nvfp4, which the NPU does not have; give network.npu.peak_4bit_TFLOPS" },
        { "gpt3-175b", "batch: 512\nattention_precision: fp8", "p.yaml:2:22: attention_precision is fp8" },
        { "gpt3-175b", "batch: 512\ngather_bits: 8", "p.yaml:2:14: gather_bits is given with zero 0" },
        { "gpt3-175b", "batch: 512\nzero: 1\ngather_bits: 5", "p.yaml:3:14: gather_bits is not a width" },
        { "gpt3-175b", "batch: 512\nrecompute_ops: [norm, mla_up]",
          "recompute_ops names mla_up, but the model has no low-rank attention" },
        { "kimi-k2", "batch: 512\nrecompute_ops: [shared, experts, mla_up]", NULL },
        { "gpt3-175b", "batch: 512\nrecompute_ops: []",
          "p.yaml:2:16: recompute_ops has no entries, expected operators to do again" },
        { "gpt3-175b", "batch: 512\noffload: 0.25", NULL },
        { "resnet50", "batch: 512\nsoftware: eager", "software is of transformers, which this model is not" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct plan p;
        if (cases[i].message)
            FAILS(read_text(&p, cases[i].model, cases[i].text, e),
                  strcmp(cases[i].model, "resnet50") ? ERR_RANGE : ERR_PARSE, cases[i].message);
        else
            OK(read_text(&p, cases[i].model, cases[i].text, e));
    }
    struct plan p;
    WITH(struct topo_network, net, fixture_network(sizes, 2), net.npu.host_Bps = NAN);
    FAILS(read_on(&p, "gpt3-175b", &net, "batch: 512\noffload: 0.25", e), ERR_RANGE,
          "p.yaml:2:10: offload needs network.npu.host_GBps, which is not given");
    OK(read_on(&p, "gpt3-175b", &net, "batch: 512\noffload: 0", e));
    FAILS(read_text(&p, "gpt3-175b", "batch: 512\nrecompute: full\nrecompute_ops: [norm]", e), ERR_PARSE,
          "p.yaml:3:1: recompute_ops is given with recompute full, expected selective");
    FAILS(read_text(&p, "gpt3-175b", "batch: 512\nrecompute: sac\nrecompute_unit: 2", e), ERR_PARSE,
          "p.yaml:3:1: recompute_unit is given with recompute sac, expected full");
    FAILS(read_text(&p, "gpt3-175b", "batch: 512\nrecompute_layers: 3\nrecompute_unit: 2", e), ERR_RANGE,
          "p.yaml:2:19: recompute_layers is given together with recompute_unit; give one of them");
    FAILS(read_text(&p, "gpt3-175b", "batch: 512\npp: 4\nschedule: zb1p\nrecompute_layers: 3", e), ERR_RANGE,
          "p.yaml:4:19: recompute_layers is given with schedule zb1p, expected 1f1b or gpipe");
    OK(read_text(&p, "gpt3-175b", "batch: 512\nrecompute_layers: 3", e));
    assert_true(p.recompute == PLAN_RECOMPUTE_FULL && p.recompute_layers == 3);
    OK(read_text(&p, "gpt3-175b", "batch: 512\nrecompute_ops: [norm, core]", e));
    assert_true(p.recompute == PLAN_RECOMPUTE_SELECTIVE && p.recompute_ops == (1U << PLAN_OP_NORM | 1U));
}

TEST(a_degree_that_does_not_lie_along_the_dimensions_is_named_with_its_place)
{
    static const char text[] = "batch: 8\ntp: 3\n";
    const struct topo_network net = fixture_network((const int32_t[]){ 4, 6 }, 2);
    KEEP(struct yaml_doc, doc, yaml_free);
    struct plan p;
    struct model m = fixture_model("gpt3-175b");
    OK(yaml_read_text(&doc, "p.yaml", text, strlen(text), e));
    FAILS(plan_read(&p, &m, &net, true, &doc, doc.root, e), ERR_RANGE,
          "p.yaml:2:5: tp is 3, expected a size that divides along dimensions [4, 6]");
}

/* ---- settings, written as a map ---- */

/* A value that the row of a key allows, as a file has it. */
static void put_any_value(struct text *out, const struct key *k, struct rng *r)
{
    int32_t n = 0, order[] = { 0, 1, 2, 3 };
    switch (k->kind) {
    case KEY_REAL:
        text_printf(out, "%.17g", rng_range(r, k->min, k->max));
        return;
    case KEY_I32:
    case KEY_I64:
        text_printf(out, "%.0f", floor(rng_range(r, k->min, k->max)));
        return;
    case KEY_BOOL:
        text_puts(out, rng_below(r, 2) ? "true" : "false");
        return;
    case KEY_WORD:
        while (k->words[n])
            n++;
        text_puts(out, k->words[rng_below(r, (uint32_t)n)]);
        return;
    default:
        break;
    }
    bool is_order = strcmp(k->name, "order") == 0, is_list = strcmp(k->name, "stages") == 0;
    n = is_order ? 4 : 1 + (int32_t)rng_below(r, is_list ? PLAN_MAX_CHUNKS : N_PLAN_OPS);
    for (int32_t i = 3; i > 0; i--) {
        int32_t j = (int32_t)rng_below(r, (uint32_t)i + 1), was = order[i];
        order[i] = order[j];
        order[j] = was;
    }
    for (int32_t i = 0; i < n; i++) {
        text_puts(out, i ? ", " : "[");
        if (is_list)
            text_printf(out, "%d", (int)rng_below(r, 256));
        else
            text_puts(out, k->words[is_order ? order[i] : i]);
    }
    text_puts(out, "]");
}

static void read_settings(struct plan *p, const struct text *map)
{
    KEEP(struct yaml_doc, doc, yaml_free);
    struct text copy = *map;
    MUST(yaml_read_text(&doc, "p.yaml", text_str(&copy), copy.n, e));
    plan_defaults(p);
    MUST(schema_read(p, &plan_section, &doc, doc.root, e));
}

/* Field by field, to the last bit. */
static void assert_same_settings(const struct plan *a, const struct plan *b)
{
    for (size_t i = 0; i < plan_section.n_keys; i++) {
        const struct key *k = &plan_section.keys[i];
        size_t size = k->kind == KEY_REAL || k->kind == KEY_I64 ? 8
                      : k->kind == KEY_BOOL                     ? sizeof(bool)
                      : k->kind == KEY_WORD                     ? k->room
                                                                : 4;
        if (strcmp(k->name, "order") == 0)
            size = sizeof a->order;
        if (strcmp(k->name, "stages") == 0)
            size = offsetof(struct plan_layout, layers) + (size_t)a->layout.n;
        if (memcmp((const char *)a + k->offset, (const char *)b + k->offset, size) != 0)
            fail_msg("%s is written as something else", k->name);
    }
}

TEST(what_is_written_of_a_plan_reads_as_the_same_plan)
{
    RNG(r, 31, 0);
    for (int32_t n = 0; n < repeats(2000); n++) {
        struct plan p, again;
        KEEP(struct text, asked, text_free) = { 0 };
        text_puts(&asked, "{ batch: 3");
        for (size_t i = 0; i < plan_section.n_keys; i++) {
            const struct key *k = &plan_section.keys[i];
            if (strcmp(k->name, "batch") == 0 || rng_below(r, 2))
                continue;
            text_printf(&asked, ", %s: ", k->name);
            put_any_value(&asked, k, r);
        }
        text_puts(&asked, " }");
        read_settings(&p, &asked);
        for (int way = 0; way < 4; way++) {
            KEEP(struct text, out, text_free) = { 0 };
            struct json j = { .out = &out, .plain = way & 1 };
            json_open(&j, NULL, '{');
            schema_write(&j, &plan_section, &p, way & 2);
            json_close(&j, '}');
            read_settings(&again, &out);
            assert_same_settings(&p, &again);
        }
    }
}
