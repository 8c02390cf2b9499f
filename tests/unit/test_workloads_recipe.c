/* Recipes of other programs as settings: what the readers of TOML and shell text make of them. */
#include "tests/support.h"
#include "workloads/readers/recipe.h"

static const char *value_of(const struct recipe_settings *s, const char *name)
{
    for (int32_t i = 0; i < s->n; i++)
        if (strcmp(s->items[i].name, name) == 0)
            return s->items[i].value;
    return NULL;
}

TEST(toml_has_tables_lists_and_texts)
{
    static const char text[] = "# head\n"
                               "a = 1\n"
                               "[x.y] # table\n"
                               "b.c = \"two # \\\"words\\\"\"\n"
                               "'d e' = 'C:\\n'\n"
                               "list = [ 1,\n  2.5, # comment\n \"three\", ]\n"
                               "[z]\nf = -1e3\n";
    struct recipe_settings s = { .path = "t" };
    OK(recipe_read_toml(&s, text, sizeof text - 1, e));
    assert_int_equal(s.n, 7);
    assert_string_equal(value_of(&s, "a"), "1");
    assert_string_equal(value_of(&s, "x.y.b.c"), "two # \"words\"");
    assert_string_equal(value_of(&s, "x.y.d e"), "C:\\n");
    assert_string_equal(value_of(&s, "x.y.list[0]"), "1");
    assert_string_equal(value_of(&s, "x.y.list[1]"), "2.5");
    assert_string_equal(value_of(&s, "x.y.list[2]"), "three");
    assert_string_equal(value_of(&s, "z.f"), "-1e3");
    assert_int_equal(s.items[1].line, 4);
    assert_int_equal(s.items[1].col, 1);
    recipe_settings_free(&s);
}

TEST(shell_has_variables_arrays_and_comments)
{
    static const char text[] = "N=4 # four\n"
                               "A=( --num-layers $N --x ${M:-7}\n   --y \"a b\" ) # --z 1\n"
                               "run --w=${N} \\\n  --v 1 2 'three $N'\n"
                               "echo --u $UNKNOWN ${ALSO}\n"
                               "not an option\n";
    static const char *const wanted[][2] = { { "num_layers", "4" },   { "x", "7" },
                                             { "y", "a b" },          { "w", "4" },
                                             { "v", "1 2 three $N" }, { "u", "$UNKNOWN ${ALSO}" } };
    struct recipe_settings s = { .path = "t" };
    OK(recipe_read_shell(&s, text, sizeof text - 1, e));
    assert_int_equal(s.n, 6);
    for (size_t i = 0; i < COUNT_OF(wanted); i++) {
        assert_string_equal(s.items[i].name, wanted[i][0]);
        assert_string_equal(s.items[i].value, wanted[i][1]);
    }
    assert_int_equal(s.items[2].line, 3);
    recipe_settings_free(&s);
}

/* Whatever the bytes, reading ends, with settings or with a place. */
TEST(any_bytes_end_well)
{
    static const char alphabet[] = "ab=[]{}()\"'\\\n #$-.:,1\0*";
    KEEP(struct rng *, r, rng_free_at) = NULL;
    OK(rng_build(&r, 5, 1, e));
    for (int k = 0; k < repeats(4000); k++) {
        char text[40];
        size_t n = (size_t)rng_below(r, sizeof text);
        for (size_t i = 0; i < n; i++)
            text[i] = alphabet[rng_below(r, sizeof alphabet - 1)];
        for (int shell = 0; shell < 2; shell++) {
            struct recipe_settings s = { .path = "t" };
            int rc = shell ? recipe_read_shell(&s, text, n, e) : recipe_read_toml(&s, text, n, e);
            assert_true(rc == 0 || rc == ERR_PARSE || rc == ERR_UNSUP);
            if (rc)
                assert_int_equal(strncmp(e->msg, "t:", 2), 0);
            recipe_settings_free(&s);
        }
    }
}

/* ---- drawn recipes ---- */

/* What a recipe of Megatron or NeMo says of the plan; 0 or NULL: nothing. */
struct drawn_plan {
    int32_t tp, cp, pp, ep, expert_tp, experts, batch, micro, chunks, layers, first_layers, last_layers,
        n_again;
    bool seq_parallel, overlap_dp, overlap_tp, overlap_ep, overlap_shared, flex, deepep, distributed, narrow;
    const char *recompute, *method, *ops, *fsdp, *fp8, *fp8_recipe;
};

static int32_t pick(struct rng *rng, const int32_t *from, int32_t n)
{
    return from[rng_below(rng, n)];
}
#define PICK(...) pick(rng, (const int32_t[]){ __VA_ARGS__ }, COUNT_OF(((const int32_t[]){ __VA_ARGS__ })))
#define PICK_WORD(...)                                                                                       \
    ((const char *const[]){ __VA_ARGS__ })[rng_below(rng, COUNT_OF(((const char *const[]){ __VA_ARGS__ })))]

static struct drawn_plan draw_plan(struct rng *rng)
{
    struct drawn_plan p = { .tp = PICK(0, 1, 2, 4), .cp = PICK(0, 1, 2), .pp = PICK(0, 1, 2, 4) };
    int32_t stages = p.pp ? p.pp : 1;
    p.ep = PICK(0, 1, 2, 8);
    p.expert_tp = PICK(0, 1, 2);
    p.experts = PICK(0, 8);
    p.batch = PICK(64, 96);
    p.micro = PICK(0, 1, 2);
    p.chunks = stages > 1 ? PICK(0, 2, 3) : 0;
    p.layers = stages * (p.chunks ? p.chunks : 1) * PICK(2, 3) + PICK(0, 0, 1);
    p.first_layers = PICK(0, 0, 0, 3);
    p.last_layers = PICK(0, 0, 0, 5);
    p.seq_parallel = PICK(0, 1);
    p.overlap_dp = PICK(0, 1);
    p.overlap_tp = PICK(0, 1);
    p.overlap_ep = PICK(0, 0, 1);
    p.overlap_shared = PICK(0, 1);
    p.flex = PICK(0, 0, 1);
    p.deepep = PICK(0, 0, 1);
    p.distributed = PICK(0, 1);
    p.narrow = PICK(0, 1);
    p.recompute = PICK_WORD(NULL, "full", "full", "selective");
    p.method = PICK_WORD(NULL, "uniform", "block");
    p.n_again = PICK(0, 1, 2);
    p.ops = PICK_WORD(NULL, "core_attn", "moe_act mlp");
    p.fsdp = PICK_WORD(NULL, "no_shard", "optim", "optim_grads", "optim_grads_params");
    p.fp8 = PICK_WORD(NULL, "hybrid");
    p.fp8_recipe = PICK_WORD(NULL, "tensorwise", "mxfp8");
    return p;
}

/* One setting of a drawn recipe: a count, a flag that is set, or a word. */
static void say_one(struct text *out, bool megatron, const char *megatron_name, const char *nemo_name,
                    int64_t n, const char *value)
{
    if (!n && !value)
        return;
    text_printf(out, megatron ? " --%s" : "  %s:", megatron ? megatron_name : nemo_name);
    if (value && strchr(value, ' ') && !megatron)
        text_printf(out, " [%.*s, %s]\n", (int)strcspn(value, " "), value, strchr(value, ' ') + 1);
    else if (value)
        text_printf(out, " %s%s", value, megatron ? "" : "\n");
    else
        text_printf(out, " %lld%s", (long long)n, megatron ? "" : "\n");
}

static void say_flag(struct text *out, bool megatron, const char *megatron_name, const char *nemo_name,
                     bool set)
{
    if (megatron && set)
        text_printf(out, " --%s", megatron_name);
    else if (!megatron && set)
        text_printf(out, "  %s: true\n", nemo_name);
}

static void say_plan(struct text *out, const struct drawn_plan *p, bool megatron)
{
    text_puts(out, megatron ? "train" : "model:\n");
    const struct {
        const char *megatron, *nemo;
        int32_t n;
        const char *value;
    } settings[] = {
        { "num-layers", "num_layers", p->layers, NULL },
        { "hidden-size", "hidden_size", 1024, NULL },
        { "num-attention-heads", "num_attention_heads", 8, NULL },
        { "seq-length", "seq_length", 512, NULL },
        { "vocab-size", "vocab_size", 1000, NULL },
        { "num-experts", "num_moe_experts", p->experts, NULL },
        { "moe-router-topk", "moe_router_topk", p->experts ? 2 : 0, NULL },
        { "ffn-hidden-size", "ffn_hidden_size", 4096, NULL },
        { "tensor-model-parallel-size", "tensor_model_parallel_size", p->tp, NULL },
        { "context-parallel-size", "context_parallel_size", p->cp, NULL },
        { "pipeline-model-parallel-size", "pipeline_model_parallel_size", p->pp, NULL },
        { "expert-model-parallel-size", "expert_model_parallel_size", p->ep, NULL },
        { "expert-tensor-parallel-size", "expert_tensor_parallel_size", p->expert_tp, NULL },
        { "global-batch-size", "global_batch_size", p->batch, NULL },
        { "micro-batch-size", "micro_batch_size", p->micro, NULL },
        { "num-virtual-stages-per-pipeline-rank", "virtual_pipeline_model_parallel_size", p->chunks, NULL },
        { "decoder-first-pipeline-num-layers", "num_layers_in_first_pipeline_stage", p->first_layers, NULL },
        { "decoder-last-pipeline-num-layers", "num_layers_in_last_pipeline_stage", p->last_layers, NULL },
        { "recompute-granularity", "recompute_granularity", 0, p->recompute },
        { "recompute-method", "recompute_method", 0, p->method },
        { "recompute-num-layers", "recompute_num_layers", p->n_again, NULL },
        { "recompute-modules", "recompute_modules", 0, p->ops },
        { "data-parallel-sharding-strategy", "data_parallel_sharding_strategy", 0, p->fsdp },
        { "fp8-format", "fp8", 0, p->fp8 },
        { "fp8-recipe", "fp8_recipe", 0, p->fp8_recipe },
        { "moe-token-dispatcher-type", "moe_token_dispatcher_type", 0, p->flex ? "flex" : "alltoall" },
    };
    for (size_t i = 0; i < COUNT_OF(settings); i++)
        say_one(out, megatron, settings[i].megatron, settings[i].nemo, settings[i].n, settings[i].value);
    say_flag(out, megatron, "sequence-parallel", "sequence_parallel", p->seq_parallel);
    say_flag(out, megatron, "overlap-grad-reduce", "overlap_grad_reduce", p->overlap_dp);
    say_flag(out, megatron, "tp-comm-overlap", "tp_comm_overlap", p->overlap_tp);
    say_flag(out, megatron, "overlap-moe-expert-parallel-comm", "overlap_moe_expert_parallel_comm",
             p->overlap_ep);
    say_flag(out, megatron, "moe-shared-expert-overlap", "moe_shared_expert_overlap", p->overlap_shared);
    say_flag(out, megatron, "moe-enable-deepep", "moe_enable_deepep", p->deepep);
    say_flag(out, megatron, "use-distributed-optimizer", "use_distributed_optimizer", p->distributed);
    if (megatron)
        say_flag(out, megatron, "grad-reduce-in-bf16", NULL, p->narrow);
    else
        text_printf(out, "  grad_reduce_in_fp32: %s\n", p->narrow ? "false" : "true");
    text_puts(out, "\n");
}

static void want_count(struct text *out, const char *key, int64_t n)
{
    if (n)
        text_printf(out, "  %s: %lld\n", key, (long long)n);
}

static void want_if(struct text *out, bool is, const char *line)
{
    if (is)
        text_printf(out, "  %s\n", line);
}

static void want_again(struct text *out, const struct drawn_plan *p)
{
    bool full = p->recompute && strcmp(p->recompute, "full") == 0;
    text_printf(out, "  recompute: %s\n", p->recompute ? p->recompute : "none");
    if (full && p->method && strcmp(p->method, "uniform") == 0)
        want_count(out, "recompute_unit", p->n_again > 1 ? p->n_again : 0);
    else if (full)
        want_count(out, "recompute_layers", p->n_again);
    if (p->ops && !full)
        want_if(out, true,
                strchr(p->ops, ' ') ? "recompute_ops: [activation, mlp]" : "recompute_ops: [core]");
}

/* What docs/formats.md has for each setting, as lines of a plan. */
static void want_plan(struct text *out, const struct drawn_plan *p, bool megatron)
{
    int32_t tp = p->tp ? p->tp : 1, pp = p->pp ? p->pp : 1, expert_tp = p->expert_tp ? p->expert_tp : tp;
    bool spread = p->ep > 1, apart = p->layers % (pp * (p->chunks ? p->chunks : 1)) != 0;
    want_count(out, "batch", p->batch);
    want_count(out, "micro_batch", p->micro);
    want_count(out, "tp", p->tp);
    want_count(out, "cp", p->cp);
    want_count(out, "pp", p->pp);
    want_count(out, "ep", p->ep);
    want_if(out, p->experts && tp > 1 && expert_tp > 1, "expert_tp: true");
    want_if(out, spread && (p->flex || p->deepep), "dispatcher: merged");
    want_if(out, spread && p->overlap_ep, "ep_overlap: batch");
    want_if(out, spread && !p->overlap_ep && p->overlap_shared, "ep_overlap: shared");
    want_count(out, "interleave", p->chunks);
    want_if(out, apart && !p->first_layers && !p->last_layers, "ends: short");
    want_count(out, "first_stage_layers", p->first_layers);
    want_count(out, "last_stage_layers", p->last_layers);
    want_if(out, p->seq_parallel, "seq_parallel: true");
    want_again(out, p);
    text_printf(out, "  zero: %d\n",
                p->fsdp && strcmp(p->fsdp, "optim_grads_params") == 0 ? 3
                : p->fsdp && strcmp(p->fsdp, "optim_grads") == 0      ? 2
                                                                      : p->distributed);
    text_printf(out, "  precision: %s\n",
                p->fp8_recipe && strcmp(p->fp8_recipe, "mxfp8") == 0 ? "mxfp8"
                : p->fp8                                             ? "fp8"
                                                                     : "bf16");
    want_if(out, p->narrow, "grad_B: 2");
    want_if(out, p->overlap_tp && tp > 1, "overlap_tp: split");
    want_if(out, true, "software: megatron");
    want_if(out, p->overlap_dp, "overlap_dp: true");
    want_if(out, !p->overlap_dp && megatron, "overlap_dp: false");
}

/* A recipe becomes a workload that has the lines of @p want one after another, up to the next section or the
 * end. */
static void assert_section(enum recipe_format format, const struct text *recipe, int64_t n_npus,
                           const struct text *want)
{
    SCRATCH(dir);
    char path[SUPPORT_PATH];
    struct text out = { 0 }, notes = { 0 };
    scratch_file(path, dir, "recipe", text_str(recipe), recipe->n);
    MUST(recipe_format_workload(&out, &notes, format, path, n_npus, "", e));
    const char *at = strstr(text_str(&out), text_str(want));
    if (!at || strncmp(at + want->n, "  ", 2) == 0)
        fail_msg("%s\nbecomes\n%sexpected\n%s", text_str(recipe), text_str(&out), text_str(want));
    text_free(&out);
    text_free(&notes);
}

TEST(drawn_recipes_become_the_plan_that_their_settings_say)
{
    RNG(rng, 71, 0);
    for (int i = 0; i < 300; i++) {
        struct text recipe = { 0 }, want = { 0 };
        struct drawn_plan p = draw_plan(rng);
        bool megatron = i % 2;
        say_plan(&recipe, &p, megatron);
        text_puts(&want, "parallel:\n");
        want_plan(&want, &p, megatron);
        assert_section(megatron ? RECIPE_MEGATRON : RECIPE_NEMO, &recipe, 64, &want);
        text_free(&recipe);
        text_free(&want);
    }
}

/* ---- drawn jobs of torchtitan, of Llama 3 8B with its 32 layers on 64 NPUs ---- */

struct drawn_job {
    int32_t tp, cp, pp, ep, expert_tp, local, global, each, copies, every;
    const char *mode, *converter, *reshard, *schedule, *reduce;
    bool compiled, early, loss, parts, alone, gather_8, overlap_tp;
};

static struct drawn_job draw_job(struct rng *rng)
{
    struct drawn_job j = { .tp = PICK(0, 1, 2, 4), .cp = PICK(0, 1, 2), .pp = PICK(0, 1, 2, 4) };
    j.ep = PICK(0, 1, 2);
    j.expert_tp = PICK(0, 1, 2);
    j.local = PICK(1, 2, 8);
    j.global = PICK(0, 0, 128);
    j.each = j.pp > 1 ? PICK(0, 2, 4, 8, 5) : 0;
    j.copies = PICK(0, 1, 2);
    j.every = PICK(0, 1, 2, 3, 40);
    j.mode = PICK_WORD(NULL, "none", "full", "selective", "selective");
    j.converter = PICK_WORD(NULL, "float8", "mx");
    j.reshard = PICK_WORD(NULL, "default", "always", "never");
    j.schedule = PICK_WORD(NULL, "1F1B", "GPipe");
    j.reduce = PICK_WORD(NULL, "float32", "bfloat16");
    j.compiled = PICK(0, 1);
    j.early = PICK(0, 0, 1);
    j.parts = PICK(0, 1);
    j.loss = PICK(0, 1);
    j.alone = PICK(0, 0, 1);
    j.gather_8 = PICK(0, 1);
    j.overlap_tp = PICK(0, 1);
    return j;
}

static void job_count(struct text *out, const char *name, int64_t n)
{
    if (n)
        text_printf(out, "%s = %lld\n", name, (long long)n);
}

static void job_word(struct text *out, const char *name, const char *value)
{
    if (value)
        text_printf(out, "%s = \"%s\"\n", name, value);
}

static void say_job(struct text *out, const struct drawn_job *j)
{
    text_puts(out, "[model]\nname = \"llama3\"\nflavor = \"8B\"\n");
    if (j->converter)
        text_printf(out, "converters = [ \"%s\" ]\n", j->converter);
    text_puts(out, "[training]\nseq_len = 4096\n");
    job_count(out, "local_batch_size", j->local);
    job_count(out, "global_batch_size", j->global);
    job_word(out, "mixed_precision_reduce", j->reduce);
    text_printf(out, j->early ? "compile = %s\n" : "[compile]\nenable = %s\n",
                j->compiled ? "true" : "false");
    if (j->parts && !j->early)
        text_printf(out, "components = [ \"model\"%s ]\n", j->loss ? ", \"loss\"" : "");
    text_puts(out, "[parallelism]\n");
    job_count(out, "tensor_parallel_degree", j->tp);
    job_count(out, "context_parallel_degree", j->cp);
    job_count(out, "pipeline_parallel_degree", j->pp);
    job_count(out, "expert_parallel_degree", j->ep);
    job_count(out, "expert_tensor_parallel_degree", j->expert_tp);
    job_count(out, "pipeline_parallel_layers_per_stage", j->each);
    job_count(out, "data_parallel_replicate_degree", j->copies);
    text_printf(out, "data_parallel_shard_degree = %d\n", j->alone ? 1 : -1);
    job_word(out, "fsdp_reshard_after_forward", j->reshard);
    job_word(out, "pipeline_parallel_schedule", j->schedule);
    text_printf(out, "enable_async_tensor_parallel = %s\n", j->overlap_tp ? "true" : "false");
    text_puts(out, "[activation_checkpoint]\n");
    job_word(out, "mode", j->mode);
    text_printf(out, j->every ? "selective_ac_option = \"%d\"\n" : "selective_ac_option = \"op\"\n",
                (int)j->every);
    text_printf(out, "[float8]\nenable_fsdp_float8_all_gather = %s\n", j->gather_8 ? "true" : "false");
}

/* `every` of selective: as many layers of each chunk are done again as it divides. */
static void want_job_again(struct text *out, const struct drawn_job *j, int32_t chunk)
{
    bool selective = j->mode && strcmp(j->mode, "selective") == 0;
    if (!selective)
        want_if(out, true, j->mode && strcmp(j->mode, "full") == 0 ? "recompute: full" : "recompute: none");
    else if (!j->every)
        want_if(out, true, "recompute: sac");
    else
        want_if(out, true, j->every > chunk ? "recompute: none" : "recompute: full");
    if (selective && j->every > 1)
        want_count(out, "recompute_layers", chunk / j->every);
}

static void want_job(struct text *out, const struct drawn_job *j)
{
    int32_t tp = j->tp ? j->tp : 1, cp = j->cp ? j->cp : 1, pp = j->pp ? j->pp : 1;
    int32_t chunks = j->each ? 32 / (pp * j->each) : 1;
    bool wide = !j->converter, never = j->reshard && strcmp(j->reshard, "never") == 0,
         always = j->reshard && strcmp(j->reshard, "always") == 0;
    want_count(out, "batch", j->global ? j->global : j->local * (64 / (tp * cp * pp)));
    want_count(out, "micro_batch", pp == 1 ? j->local : 0);
    want_count(out, "tp", j->tp);
    want_count(out, "cp", j->cp);
    want_count(out, "pp", j->pp);
    want_count(out, "ep", j->ep);
    want_if(out, tp > 1 && j->expert_tp > 1, "expert_tp: true");
    want_count(out, "interleave", chunks > 1 ? chunks : 0);
    want_if(out, 32 % (pp * chunks) != 0, "ends: short");
    want_job_again(out, j, 32 / (pp * chunks));
    want_if(out, true, j->alone ? "zero: 0" : "zero: 3");
    text_printf(out, "  precision: %s\n", wide ? "bf16" : strcmp(j->converter, "mx") == 0 ? "mxfp8" : "fp8");
    want_count(out, "gather_bits", wide || j->alone ? 0 : j->gather_8 ? 8 : 16);
    want_if(out, j->reduce && strcmp(j->reduce, "bfloat16") == 0, "grad_B: 2");
    want_if(out, j->overlap_tp && tp > 1, "overlap_tp: split");
    want_if(out, true, j->compiled ? "software: compiled" : "software: eager");
    want_if(out, j->compiled && (j->early || (j->parts && !j->loss)), "loss_peak_B: 14");
    want_if(out, tp > 1, "seq_parallel: true");
    want_count(out, "shard", j->alone || j->copies < 2 ? 0 : 64 / (tp * pp * j->copies));
    want_if(out, !j->alone && (never || (!always && pp > 1)), "reshard: false");
    want_if(out, j->schedule && strcmp(j->schedule, "GPipe") == 0, "schedule: gpipe");
}

TEST(drawn_jobs_of_torchtitan_become_the_plan_that_their_settings_say)
{
    RNG(rng, 72, 0);
    for (int i = 0; i < 300; i++) {
        struct text recipe = { 0 }, want = { 0 };
        struct drawn_job j = draw_job(rng);
        say_job(&recipe, &j);
        text_puts(&want, "parallel:\n");
        want_job(&want, &j);
        assert_section(RECIPE_TORCHTITAN, &recipe, 64, &want);
        text_free(&recipe);
        text_free(&want);
    }
}

/* ---- drawn models ---- */

/* What a recipe of Megatron or NeMo says of the model; 0 or NULL: nothing. */
struct drawn_model {
    int32_t kv_heads, head_dim, vocab_multiple, mtp, q_rank, experts, top_k, expert_ffn, shared_ffn, groups,
        group_limit, dense;
    bool gated, rms, rotary, tied, biases, qkv_bias, router_bias, llama, silent;
    const char *attention_dropout, *hidden_dropout, *capacity;
};

static struct drawn_model draw_model(struct rng *rng)
{
    struct drawn_model m = { .kv_heads = PICK(0, 2, 8), .head_dim = PICK(0, 64), .mtp = PICK(0, 1) };
    m.vocab_multiple = PICK(0, 128);
    m.q_rank = PICK(0, 0, 0, 512);
    m.experts = PICK(0, 1, 8);
    m.top_k = PICK(1, 2);
    m.expert_ffn = PICK(0, 512);
    m.shared_ffn = PICK(0, 0, 1024);
    m.groups = PICK(0, 4);
    m.group_limit = m.groups ? 2 : 0;
    m.dense = PICK(0, 0, 2);
    m.gated = PICK(0, 1);
    m.rms = PICK(0, 1);
    m.rotary = PICK(0, 1);
    m.tied = PICK(0, 1);
    m.biases = PICK(0, 1);
    m.qkv_bias = PICK(0, 1);
    m.router_bias = PICK(0, 1);
    m.llama = PICK(0, 1);
    m.silent = PICK(0, 0, 1);
    m.attention_dropout = PICK_WORD(NULL, "0.0", "0.1");
    m.hidden_dropout = PICK_WORD(NULL, "0.0", "0.0", "0.1");
    m.capacity = PICK_WORD(NULL, "1.25");
    return m;
}

/* Of a silent recipe of NeMo the provider says what kind of model it is. */
static void say_kinds(struct text *out, const struct drawn_model *m, bool megatron)
{
    if (!megatron && m->llama)
        text_puts(out, "  _target_: nemo.collections.llm.LlamaModel\n");
    if (megatron) {
        say_flag(out, true, "swiglu", NULL, m->gated);
        say_flag(out, true, "use-rotary-position-embeddings", NULL, m->rotary);
        say_flag(out, true, "untie-embeddings-and-output-weights", NULL, !m->tied);
        say_flag(out, true, "disable-bias-linear", NULL, !m->biases);
        say_one(out, true, "normalization", NULL, 0, m->rms ? "RMSNorm" : "LayerNorm");
    } else if (!m->silent) {
        text_printf(out, "  gated_linear_unit: %s\n  share_embeddings_and_output_weights: %s\n",
                    m->gated ? "true" : "false", m->tied ? "true" : "false");
        text_printf(out, "  add_bias_linear: %s\n  position_embedding_type: %s\n",
                    m->biases ? "true" : "false", m->rotary ? "rope" : "learned_absolute");
        text_printf(out, "  normalization: %s\n", m->rms ? "RMSNorm" : "LayerNorm");
    }
    say_flag(out, megatron, "add-qkv-bias", "add_qkv_bias", m->qkv_bias);
    say_flag(out, megatron, "moe-router-enable-expert-bias", "moe_router_enable_expert_bias", m->router_bias);
}

static void say_model(struct text *out, const struct drawn_model *m, bool megatron)
{
    text_puts(out, megatron ? "train" : "model:\n");
    char rhythm[32];
    snprintf(rhythm, sizeof rhythm, megatron ? "([0]*%d+[1]*%d)" : "\"([0]*%d+[1]*%d)\"", (int)m->dense,
             6 - (int)m->dense);
    const struct {
        const char *megatron, *nemo;
        int32_t n;
        const char *value;
    } settings[] = {
        { "num-layers", "num_layers", 6, NULL },
        { "hidden-size", "hidden_size", 1024, NULL },
        { "num-attention-heads", "num_attention_heads", 8, NULL },
        { "num-query-groups", "num_query_groups", m->kv_heads, NULL },
        { "kv-channels", "kv_channels", m->head_dim, NULL },
        { "ffn-hidden-size", "ffn_hidden_size", 4096, NULL },
        { "vocab-size", "vocab_size", 1000, NULL },
        { "make-vocab-size-divisible-by", "make_vocab_size_divisible_by", m->vocab_multiple, NULL },
        { "seq-length", "seq_length", 512, NULL },
        { "mtp-num-layers", "mtp_num_layers", m->mtp, NULL },
        { "q-lora-rank", "q_lora_rank", m->q_rank, NULL },
        { "kv-lora-rank", "kv_lora_rank", m->q_rank ? 256 : 0, NULL },
        { "qk-head-dim", "qk_head_dim", m->q_rank ? 32 : 0, NULL },
        { "qk-pos-emb-head-dim", "qk_pos_emb_head_dim", m->q_rank ? 16 : 0, NULL },
        { "v-head-dim", "v_head_dim", m->q_rank ? 24 : 0, NULL },
        { "num-experts", "num_moe_experts", m->experts, NULL },
        { "moe-router-topk", "moe_router_topk", m->top_k, NULL },
        { "moe-ffn-hidden-size", "moe_ffn_hidden_size", m->expert_ffn, NULL },
        { "moe-shared-expert-intermediate-size", "moe_shared_expert_intermediate_size", m->shared_ffn, NULL },
        { "moe-router-num-groups", "moe_router_num_groups", m->groups, NULL },
        { "moe-router-group-topk", "moe_router_group_topk", m->group_limit, NULL },
        { "moe-expert-capacity-factor", "moe_expert_capacity_factor", 0, m->capacity },
        { "moe-layer-freq", "moe_layer_freq", 0, m->dense ? rhythm : "1" },
        { "attention-dropout", "attention_dropout", 0, m->attention_dropout },
        { "hidden-dropout", "hidden_dropout", 0, m->hidden_dropout },
        { "global-batch-size", "global_batch_size", 64, NULL },
    };
    for (size_t i = 0; i < COUNT_OF(settings); i++)
        say_one(out, megatron, settings[i].megatron, settings[i].nemo, settings[i].n, settings[i].value);
    say_kinds(out, m, megatron);
    text_puts(out, "\n");
}

static void want_moe(struct text *out, const struct drawn_model *m)
{
    int32_t ffn = m->expert_ffn ? m->expert_ffn : 4096;
    if (m->experts < 2)
        return;
    text_printf(out, "  moe:\n    experts: %d\n    top_k: %d\n    ffn: %d\n", (int)m->experts, (int)m->top_k,
                (int)ffn);
    if (m->groups)
        text_printf(out, "    groups: %d\n    group_limit: %d\n", (int)m->groups, (int)m->group_limit);
    if (m->capacity)
        text_printf(out, "    capacity: %s\n", m->capacity);
    want_if(out, m->router_bias, "  router_bias: true");
    if (m->shared_ffn)
        text_printf(out, "    shared: %d\n", (int)(m->shared_ffn / ffn));
    if (m->dense)
        text_printf(out, "    dense_layers: %d\n", (int)m->dense);
}

static void want_model(struct text *out, const struct drawn_model *m, bool megatron)
{
    bool provider = !megatron && m->silent, drops = false;
    bool gated = provider ? m->llama : m->gated, biases = provider ? !m->llama : m->biases;
    const char *const dropouts[] = { m->attention_dropout, m->hidden_dropout };
    for (int i = 0; i < 2; i++) /* Megatron-LM's default is 0.1 */
        drops = drops || (dropouts[i] ? strcmp(dropouts[i], "0.0") != 0 : megatron);
    want_count(out, "layers", 6);
    want_count(out, "hidden", 1024);
    want_count(out, "heads", 8);
    want_count(out, "kv_heads", m->q_rank ? 0 : m->kv_heads);
    want_count(out, "head_dim", m->q_rank ? 0 : m->head_dim);
    want_count(out, "ffn", 4096);
    want_count(out, "vocab", 1000);
    want_count(out, "vocab_multiple", m->vocab_multiple);
    want_count(out, "seq", 512);
    want_count(out, "mtp", m->mtp);
    want_if(out, true, gated ? "activation: swiglu" : "activation: gelu");
    want_if(out, true, (provider ? m->llama : m->rms) ? "norm: rms-norm" : "norm: layer-norm");
    want_if(out, true, (provider ? m->llama : m->rotary) ? "positions: rotary" : "positions: learned");
    want_if(out, true, !provider && m->tied ? "tied: true" : "tied: false");
    want_if(out, biases || m->qkv_bias, "biases: true");
    want_if(out, drops, "dropout: true");
    if (m->q_rank)
        text_puts(out, "  mla:\n    q_rank: 512\n    kv_rank: 256\n    nope_dim: 32\n    rope_dim: 16\n"
                       "    v_dim: 24\n");
    want_moe(out, m);
}

TEST(drawn_recipes_become_the_model_that_their_settings_say)
{
    RNG(rng, 73, 0);
    for (int i = 0; i < 300; i++) {
        struct text recipe = { 0 }, want = { 0 };
        struct drawn_model m = draw_model(rng);
        bool megatron = i % 2;
        if (m.shared_ffn && !m.expert_ffn)
            m.shared_ffn = 8192; /* a multiple of the width of an expert */
        say_model(&recipe, &m, megatron);
        text_puts(&want, "model:\n");
        want_model(&want, &m, megatron);
        assert_section(megatron ? RECIPE_MEGATRON : RECIPE_NEMO, &recipe, 64, &want);
        text_free(&recipe);
        text_free(&want);
    }
}

/* ---- drawn cards of Hugging Face ---- */

/* What the classes of transformers have by themselves, read from them once more. */
static const struct card_family {
    const char *name;
    bool tied, biases, sink, router_bias, wide;
    int32_t vocab, head_dim, window_every;
} card_families[] = {
    { .name = "llama" },
    { .name = "mixtral", .wide = true },
    { .name = "qwen2", .biases = true },
    { .name = "qwen2_moe", .biases = true },
    { .name = "qwen3_moe" },
    { .name = "deepseek_v3", .router_bias = true },
    { .name = "kimi_k2", .router_bias = true },
    { .name = "gpt_oss", .biases = true, .sink = true, .router_bias = true, .wide = true },
    { .name = "gemma", .tied = true, .vocab = 256000, .head_dim = 256 },
    { .name = "gemma2", .tied = true, .vocab = 256000, .head_dim = 256, .window_every = 2 },
    { .name = "gemma3_text", .tied = true, .vocab = 262208, .head_dim = 256, .window_every = 6 },
    { .name = "novel" },
};

struct drawn_card {
    const struct card_family *family;
    int32_t kv_heads, head_dim, vocab, most_seq, tied, bias, window, window_on, pattern, period;
    int32_t experts, expert_ffn, shared, dense, groups, mtp;
    bool inside; /* a model that sees images holds it */
};

static struct drawn_card draw_card(struct rng *rng)
{
    struct drawn_card c = { .family = &card_families[rng_below(rng, COUNT_OF(card_families))] };
    c.kv_heads = PICK(0, 2);
    c.head_dim = PICK(0, 32);
    c.vocab = c.family->vocab ? PICK(0, 5000) : 5000;
    c.most_seq = PICK(0, 1024, 131072);
    c.tied = PICK(-1, 0, 1);
    c.bias = PICK(-1, 0, 1);
    c.window = PICK(0, 128);
    c.window_on = PICK(-1, -1, 0, 1);
    c.pattern = PICK(0, 0, 3);
    c.period = PICK(-1, -1, 0, 1, 2, 3); /* every n-th layer has all tokens; 0: none, -1: it is not said */
    c.experts = PICK(0, 1, 16);
    c.expert_ffn = c.family->wide ? PICK(0, 256) : 256;
    c.shared = PICK(0, 2);
    c.dense = PICK(0, 3);
    c.groups = PICK(0, 4);
    c.mtp = PICK(0, 1);
    c.inside = PICK(0, 1);
    return c;
}

static void say_card(struct text *out, const struct drawn_card *c)
{
    const struct {
        const char *name;
        int32_t n;
    } settings[] = {
        { "num_hidden_layers", 6 },
        { "hidden_size", 512 },
        { "num_attention_heads", 8 },
        { "num_key_value_heads", c->kv_heads },
        { "head_dim", c->head_dim },
        { "intermediate_size", 2048 },
        { "vocab_size", c->vocab },
        { "max_position_embeddings", c->most_seq },
        { "num_nextn_predict_layers", c->mtp },
        { "sliding_window", c->window },
        { "sliding_window_pattern", c->pattern },
        { "num_local_experts", c->experts },
        { "num_experts_per_tok", 2 },
        { "moe_intermediate_size", c->expert_ffn },
        { "n_shared_experts", c->shared },
        { "first_k_dense_replace", c->dense },
        { "n_group", c->groups },
        { "topk_group", c->groups / 2 },
    };
    const struct {
        const char *name;
        int32_t is;
    } flags[] = { { "tie_word_embeddings", c->tied },
                  { "attention_bias", c->bias },
                  { "use_sliding_window", c->window_on } };
    text_puts(out, c->inside ? "{ \"model_type\": \"seer\", \"text_config\": " : "");
    text_printf(out, "{ \"model_type\": \"%s\"", c->family->name);
    for (size_t i = 0; i < COUNT_OF(settings); i++)
        if (settings[i].n)
            text_printf(out, ", \"%s\": %d", settings[i].name, (int)settings[i].n);
    for (size_t i = 0; i < COUNT_OF(flags); i++)
        if (flags[i].is >= 0)
            text_printf(out, ", \"%s\": %s", flags[i].name, flags[i].is ? "true" : "false");
    for (int32_t layer = 1; layer <= 6 && c->period >= 0; layer++)
        text_printf(out, "%s\"%s_attention\"", layer > 1 ? ", " : ", \"layer_types\": [ ",
                    c->period && layer % c->period == 0 ? "full" : "sliding");
    text_puts(out, c->period >= 0 ? " ] }" : " }");
    text_puts(out, c->inside ? " }\n" : "\n");
}

static void want_card(struct text *out, const struct drawn_card *c, int32_t n_npus)
{
    const struct card_family *family = c->family;
    int32_t seq = c->most_seq == 1024 ? 1024 : 4096, ffn = c->expert_ffn ? c->expert_ffn : 2048;
    int32_t every = c->period >= 0 ? c->period : c->pattern ? c->pattern : family->window_every;
    int32_t enough = 4194304 / seq; /* 4 million tokens, and as many sequences for each NPU */
    want_count(out, "layers", 6);
    want_count(out, "hidden", 512);
    want_count(out, "heads", 8);
    want_count(out, "kv_heads", c->kv_heads);
    want_count(out, "head_dim", c->head_dim ? c->head_dim : family->head_dim);
    want_count(out, "ffn", 2048);
    want_count(out, "vocab", c->vocab ? c->vocab : family->vocab);
    want_count(out, "seq", seq);
    want_count(out, "mtp", c->mtp);
    text_puts(out, "  activation: swiglu\n  norm: rms-norm\n  positions: rotary\n");
    want_if(out, true, (c->tied >= 0 ? c->tied : family->tied) ? "tied: true" : "tied: false");
    want_if(out, family->biases || c->bias == 1, "biases: true");
    want_if(out, family->sink, "sink: true");
    if (c->window && c->window_on && every != 1) {
        want_count(out, "window", c->window);
        want_count(out, "window_every", every);
    }
    if (c->experts > 1) {
        text_printf(out, "  moe:\n    experts: %d\n    top_k: 2\n    ffn: %d\n", (int)c->experts, (int)ffn);
        if (c->shared)
            text_printf(out, "    shared: %d\n", (int)c->shared);
        if (c->dense)
            text_printf(out, "    dense_layers: %d\n", (int)c->dense);
        if (c->groups)
            text_printf(out, "    groups: %d\n    group_limit: %d\n", (int)c->groups, (int)c->groups / 2);
        want_if(out, family->router_bias, "  router_bias: true");
    }
    while (enough % n_npus)
        enough++;
    text_printf(out, "parallel:\n  batch: %d\n  software: megatron\nsearch: { top: 3 }\n", (int)enough);
}

TEST(drawn_cards_become_the_model_that_they_say)
{
    RNG(rng, 74, 0);
    for (int i = 0; i < 400; i++) {
        struct text card = { 0 }, want = { 0 };
        struct drawn_card c = draw_card(rng);
        int32_t n_npus = PICK(1, 48, 512);
        say_card(&card, &c);
        text_puts(&want, "model:\n");
        want_card(&want, &c, n_npus);
        assert_section(RECIPE_HF, &card, n_npus, &want);
        text_free(&card);
        text_free(&want);
    }
}
