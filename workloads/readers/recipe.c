/*
 * What the settings of a training recipe say as a workload of weft. One table (`rows`) names each fact and
 * the settings of every program that state it; `idle` lists settings with no part in the time of a step. All
 * others are notes. Families of Hugging Face models differ in what their code has and their config.json does
 * not say: `families`; torchtitan names a model by its flavor: `flavors`.
 *
 * Sources: transformers' configuration classes, Megatron-LM's arguments.py, Megatron-Bridge's
 * ConfigContainer, torchtitan's job_config.py (read 2026-11), restated.
 */
#include "workloads/readers/recipe.h"

#include <stdio.h>
#include <string.h>

#include "base/catalogue.h"
#include "base/json.h"
#include "base/num.h"
#include "base/yaml.h"
#include "workloads/model.h"

const char *const recipe_format_words[N_RECIPE_FORMATS + 1] = { "hf", "megatron", "nemo", "torchtitan" };
const char *const recipe_format_help[N_RECIPE_FORMATS] = {
    "config.json of a model on Hugging Face: Llama, Mistral, Qwen, Mixtral, DeepSeek, Kimi, GPT-OSS, Gemma",
    "options of Megatron-LM: a command line in a file, or the shell script that holds it",
    "recipe of NeMo 2 or Megatron-Bridge (YAML)",
    "job of torchtitan (TOML)",
};

/* ---- facts ---- */

enum fact {
    /* of the model, written as they are: keys[] */
    LAYERS,
    HIDDEN,
    HEADS,
    KV_HEADS,
    HEAD_DIM,
    FFN,
    VOCAB,
    VOCAB_MULTIPLE,
    SEQ,
    MTP,
    /* of low-rank attention */
    Q_RANK,
    KV_RANK,
    NOPE_DIM,
    ROPE_DIM,
    V_DIM,
    /* of experts */
    EXPERTS,
    TOP_K,
    EXPERT_FFN,
    SHARED,
    DENSE_LAYERS,
    EVERY,
    GROUPS,
    GROUP_LIMIT,
    CAPACITY,
    /* of the plan, written as they are */
    TP,
    CP,
    PP,
    EP,
    MICRO,
    BATCH,
    CHUNKS,
    FIRST_LAYERS,
    LAST_LAYERS,
    SEQ_PARALLEL,
    OVERLAP_DP,
    /* what the others mean takes more than one of them */
    MOST_SEQ,
    TIED,
    UNTIED,
    BIAS,
    NO_BIAS,
    QKV_BIAS,
    ACTIVATION,
    GATED,
    NORM,
    ROTARY,
    POSITIONS,
    DROPOUT,
    HIDDEN_DROPOUT,
    FAMILY,
    WINDOW,
    WINDOW_ON,
    WINDOW_EVERY,
    SHARED_FFN,
    EXPERT_FREQ,
    ROUTER_BIAS,
    MODEL,
    FLAVOR,
    EXPERT_TP,
    CHUNK_LAYERS,
    LOCAL_BATCH,
    RECOMPUTE,
    RECOMPUTE_ON,
    RECOMPUTE_LAYERS,
    RECOMPUTE_METHOD,
    RECOMPUTE_OPS,
    SHARED_OPTIMIZER,
    FSDP,
    FSDP_STRATEGY,
    OVERLAP_TP,
    OVERLAP_EP,
    OVERLAP_SHARED,
    FP8,
    FP8_RECIPE,
    FP4,
    PRECISION,
    GRAD_FP32,
    GRAD_BF16,
    GRAD_TYPE,
    DISPATCHER,
    DEEPEP,
    DP_SHARD,
    DP_COPIES,
    SCHEDULE,
    SAC_OPTION,
    COMPILE,
    COMPILED_PARTS,
    CONVERTERS,
    GATHER_8,
    RESHARD,
    N_FACTS
};

enum fact_kind { COUNT, FLAG, REAL, WORD };

/* By program the names of the fact's setting, blanks between; of NeMo the last part of a name. `key` is
 * weft's, of facts that are written as they are. */
static const struct row {
    enum fact_kind kind;
    const char *key, *names[N_RECIPE_FORMATS];
} rows[N_FACTS] = {
#define ROW(fact, kind, key, ...) [fact] = { kind, key, { __VA_ARGS__ } }
#define MEGATRON(name)            NULL, name, name, NULL
    ROW(LAYERS, COUNT, "layers", "num_hidden_layers", "num_layers", "num_layers", NULL),
    ROW(HIDDEN, COUNT, "hidden", "hidden_size", "hidden_size", "hidden_size", NULL),
    ROW(HEADS, COUNT, "heads", "num_attention_heads", "num_attention_heads", "num_attention_heads", NULL),
    ROW(KV_HEADS, COUNT, "kv_heads", "num_key_value_heads", "num_query_groups", "num_query_groups", NULL),
    ROW(HEAD_DIM, COUNT, "head_dim", "head_dim", "kv_channels", "kv_channels", NULL),
    ROW(FFN, COUNT, "ffn", "intermediate_size", "ffn_hidden_size", "ffn_hidden_size", NULL),
    ROW(VOCAB, COUNT, "vocab", "vocab_size", "vocab_size padded_vocab_size", "vocab_size padded_vocab_size",
        NULL),
    ROW(VOCAB_MULTIPLE, COUNT, "vocab_multiple", MEGATRON("make_vocab_size_divisible_by")),
    ROW(SEQ, COUNT, "seq", NULL, "seq_length encoder_seq_length", "seq_length sequence_length",
        "training.seq_len"),
    ROW(MTP, COUNT, "mtp", "num_nextn_predict_layers", "mtp_num_layers", "mtp_num_layers", NULL),
    ROW(Q_RANK, COUNT, "q_rank", "q_lora_rank", "q_lora_rank", "q_lora_rank", NULL),
    ROW(KV_RANK, COUNT, "kv_rank", "kv_lora_rank", "kv_lora_rank", "kv_lora_rank", NULL),
    ROW(NOPE_DIM, COUNT, "nope_dim", "qk_nope_head_dim", "qk_head_dim", "qk_head_dim", NULL),
    ROW(ROPE_DIM, COUNT, "rope_dim", "qk_rope_head_dim", "qk_pos_emb_head_dim", "qk_pos_emb_head_dim", NULL),
    ROW(V_DIM, COUNT, "v_dim", "v_head_dim", "v_head_dim", "v_head_dim", NULL),
    ROW(EXPERTS, COUNT, "experts", "num_local_experts num_experts n_routed_experts", "num_experts",
        "num_moe_experts num_experts", NULL),
    ROW(TOP_K, COUNT, "top_k", "num_experts_per_tok experts_per_token", "moe_router_topk", "moe_router_topk",
        NULL),
    ROW(EXPERT_FFN, COUNT, "ffn", "moe_intermediate_size", "moe_ffn_hidden_size", "moe_ffn_hidden_size",
        NULL),
    ROW(SHARED, COUNT, "shared", "n_shared_experts", NULL, NULL, NULL),
    ROW(DENSE_LAYERS, COUNT, "dense_layers", "first_k_dense_replace", NULL, NULL, NULL),
    ROW(EVERY, COUNT, "every", "decoder_sparse_step moe_layer_freq", NULL, NULL, NULL),
    ROW(GROUPS, COUNT, "groups", "n_group", "moe_router_num_groups", "moe_router_num_groups", NULL),
    ROW(GROUP_LIMIT, COUNT, "group_limit", "topk_group", "moe_router_group_topk", "moe_router_group_topk",
        NULL),
    ROW(CAPACITY, REAL, "capacity", MEGATRON("moe_expert_capacity_factor")),
    ROW(TP, COUNT, "tp", NULL, "tensor_model_parallel_size", "tensor_model_parallel_size",
        "parallelism.tensor_parallel_degree training.tensor_parallel_degree"),
    ROW(CP, COUNT, "cp", NULL, "context_parallel_size", "context_parallel_size",
        "parallelism.context_parallel_degree experimental.context_parallel_degree"),
    ROW(PP, COUNT, "pp", NULL, "pipeline_model_parallel_size", "pipeline_model_parallel_size",
        "parallelism.pipeline_parallel_degree experimental.pipeline_parallel_degree"),
    ROW(EP, COUNT, "ep", NULL, "expert_model_parallel_size", "expert_model_parallel_size",
        "parallelism.expert_parallel_degree"),
    ROW(MICRO, COUNT, "micro_batch", MEGATRON("micro_batch_size")),
    ROW(BATCH, COUNT, "batch", NULL, "global_batch_size", "global_batch_size", "training.global_batch_size"),
    ROW(CHUNKS, COUNT, "interleave", NULL, "num_virtual_stages_per_pipeline_rank",
        "virtual_pipeline_model_parallel_size", NULL),
    ROW(FIRST_LAYERS, COUNT, "first_stage_layers", NULL, "decoder_first_pipeline_num_layers",
        "num_layers_in_first_pipeline_stage", NULL),
    ROW(LAST_LAYERS, COUNT, "last_stage_layers", NULL, "decoder_last_pipeline_num_layers",
        "num_layers_in_last_pipeline_stage", NULL),
    ROW(SEQ_PARALLEL, FLAG, "seq_parallel", MEGATRON("sequence_parallel")),
    ROW(OVERLAP_DP, FLAG, "overlap_dp", MEGATRON("overlap_grad_reduce")),
    ROW(MOST_SEQ, COUNT, NULL, "max_position_embeddings", NULL, NULL, NULL),
    ROW(TIED, FLAG, NULL, "tie_word_embeddings", NULL, "share_embeddings_and_output_weights", NULL),
    ROW(UNTIED, FLAG, NULL, NULL, "untie_embeddings_and_output_weights", NULL, NULL),
    ROW(BIAS, FLAG, NULL, NULL, NULL, "add_bias_linear", NULL),
    ROW(NO_BIAS, FLAG, NULL, NULL, "disable_bias_linear", NULL, NULL),
    ROW(QKV_BIAS, FLAG, NULL, "attention_bias", "add_qkv_bias", "add_qkv_bias", NULL),
    ROW(ACTIVATION, WORD, NULL, "hidden_act hidden_activation", NULL, "activation_func", NULL),
    ROW(GATED, FLAG, NULL, NULL, "swiglu", "gated_linear_unit", NULL),
    ROW(NORM, WORD, NULL, MEGATRON("normalization")),
    ROW(ROTARY, FLAG, NULL, NULL, "use_rotary_position_embeddings", NULL, NULL),
    ROW(POSITIONS, WORD, NULL, MEGATRON("position_embedding_type")),
    ROW(DROPOUT, REAL, NULL, MEGATRON("attention_dropout")),
    ROW(HIDDEN_DROPOUT, REAL, NULL, MEGATRON("hidden_dropout")),
    ROW(FAMILY, WORD, NULL, "model_type", NULL, NULL, NULL),
    ROW(WINDOW, COUNT, NULL, "sliding_window", NULL, NULL, NULL),
    ROW(WINDOW_ON, FLAG, NULL, "use_sliding_window", NULL, NULL, NULL),
    ROW(WINDOW_EVERY, COUNT, NULL, "sliding_window_pattern _sliding_window_pattern", NULL, NULL, NULL),
    ROW(SHARED_FFN, COUNT, NULL, "shared_expert_intermediate_size", "moe_shared_expert_intermediate_size",
        "moe_shared_expert_intermediate_size", NULL),
    ROW(EXPERT_FREQ, WORD, NULL, MEGATRON("moe_layer_freq")),
    ROW(ROUTER_BIAS, FLAG, NULL, MEGATRON("moe_router_enable_expert_bias")),
    ROW(MODEL, WORD, NULL, NULL, NULL, NULL, "model.name"),
    ROW(FLAVOR, WORD, NULL, NULL, NULL, NULL, "model.flavor"),
    ROW(EXPERT_TP, COUNT, NULL, NULL, "expert_tensor_parallel_size", "expert_tensor_parallel_size",
        "parallelism.expert_tensor_parallel_degree"),
    ROW(CHUNK_LAYERS, COUNT, NULL, NULL, "num_layers_per_virtual_pipeline_stage", NULL,
        "parallelism.pipeline_parallel_layers_per_stage"),
    ROW(LOCAL_BATCH, COUNT, NULL, NULL, NULL, NULL, "training.local_batch_size training.batch_size"),
    ROW(RECOMPUTE, WORD, NULL, NULL, "recompute_granularity", "recompute_granularity",
        "activation_checkpoint.mode"),
    ROW(RECOMPUTE_ON, FLAG, NULL, NULL, "recompute_activations", NULL, NULL),
    ROW(RECOMPUTE_LAYERS, COUNT, NULL, MEGATRON("recompute_num_layers")),
    ROW(RECOMPUTE_METHOD, WORD, NULL, MEGATRON("recompute_method")),
    ROW(RECOMPUTE_OPS, WORD, NULL, MEGATRON("recompute_modules")),
    ROW(SHARED_OPTIMIZER, FLAG, NULL, MEGATRON("use_distributed_optimizer")),
    ROW(FSDP, FLAG, NULL, NULL, "use_megatron_fsdp use_custom_fsdp use_torch_fsdp2",
        "use_megatron_fsdp use_custom_fsdp", NULL),
    ROW(FSDP_STRATEGY, WORD, NULL, MEGATRON("data_parallel_sharding_strategy")),
    ROW(OVERLAP_TP, FLAG, NULL, NULL, "tp_comm_overlap", "tp_comm_overlap",
        "parallelism.enable_async_tensor_parallel experimental.enable_async_tensor_parallel"),
    ROW(OVERLAP_EP, FLAG, NULL, MEGATRON("overlap_moe_expert_parallel_comm")),
    ROW(OVERLAP_SHARED, FLAG, NULL, MEGATRON("moe_shared_expert_overlap")),
    ROW(FP8, WORD, NULL, NULL, "fp8_format", "fp8", NULL),
    ROW(FP8_RECIPE, WORD, NULL, NULL, "fp8_recipe", "fp8_recipe",
        "float8.recipe_name quantize.linear.float8.recipe_name"),
    ROW(FP4, WORD, NULL, NULL, "fp4_format", "fp4", NULL),
    ROW(PRECISION, WORD, NULL, NULL, NULL, "mixed_precision precision", NULL),
    ROW(GRAD_FP32, FLAG, NULL, NULL, "accumulate_allreduce_grads_in_fp32", "grad_reduce_in_fp32", NULL),
    ROW(GRAD_BF16, FLAG, NULL, NULL, "grad_reduce_in_bf16", NULL, NULL),
    ROW(GRAD_TYPE, WORD, NULL, NULL, NULL, NULL, "training.mixed_precision_reduce"),
    ROW(DISPATCHER, WORD, NULL, MEGATRON("moe_token_dispatcher_type")),
    ROW(DEEPEP, FLAG, NULL, MEGATRON("moe_enable_deepep")),
    ROW(DP_SHARD, WORD, NULL, NULL, NULL, NULL,
        "parallelism.data_parallel_shard_degree training.data_parallel_shard_degree"),
    ROW(DP_COPIES, COUNT, NULL, NULL, NULL, NULL,
        "parallelism.data_parallel_replicate_degree training.data_parallel_replicate_degree"),
    ROW(SCHEDULE, WORD, NULL, NULL, NULL, NULL,
        "parallelism.pipeline_parallel_schedule experimental.pipeline_parallel_schedule"),
    ROW(SAC_OPTION, WORD, NULL, NULL, NULL, NULL, "activation_checkpoint.selective_ac_option"),
    ROW(COMPILE, FLAG, NULL, NULL, NULL, NULL, "compile.enable training.compile"),
    ROW(COMPILED_PARTS, WORD, NULL, NULL, NULL, NULL, "compile.components"),
    ROW(CONVERTERS, WORD, NULL, NULL, NULL, NULL, "model.converters"),
    ROW(GATHER_8, FLAG, NULL, NULL, NULL, NULL,
        "float8.enable_fsdp_float8_all_gather quantize.linear.float8.enable_fsdp_float8_all_gather"),
    ROW(RESHARD, WORD, NULL, NULL, NULL, NULL, "parallelism.fsdp_reshard_after_forward"),
};

/* Settings without part in the time of a step; a name that ends with * is the beginning of several. */
static const char *const idle[N_RECIPE_FORMATS] = {
    [RECIPE_HF] =
        "architectures* auto_map.* *_token_id* initializer_* rope_* partial_rotary_factor torch_dtype dtype "
        "transformers_version use_cache rms_norm_eps layer_norm_eps pretraining_tp attention_dropout "
        "resid_pdrop embd_pdrop router_aux_loss_coef router_jitter_noise output_router_logits "
        "quantization_config.* scoring_func topk_method norm_topk_prob routed_scaling_factor aux_loss_alpha "
        "seq_aux ep_size mlp_bias query_pre_attn_scalar *_logit_softcapping swiglu_limit "
        "max_window_layers original_max_position_embeddings initial_context_length cache_implementation "
        "vision_config.* image_* boi_* eoi_* mm_tokens_* attention_type generation_config.* _name_or_path",
    [RECIPE_MEGATRON] =
        "lr* min_lr weight_decay* adam_* clip_grad init_method_std *seed *save* *load* log* eval_* train_* "
        "exit_* "
        "tensorboard* wandb* tokenizer_* data_* split mock_data num_workers vocab_file merge_file "
        "rotary_* norm_epsilon layernorm_epsilon no_position_embedding bf16 use_mcore_models "
        "transformer_impl "
        "distributed_* nproc_per_node nnodes node_rank master_* rdzv_* local_rank max_position_embeddings "
        "group_query_attention multi_latent_attention use_flash_attn attention_backend "
        "attention_softmax_in_fp32 "
        "overlap_param_gather bias_*_fusion no_bias_*_fusion no_masked_softmax_fusion no_rope_fusion "
        "no_gradient_accumulation_fusion cross_entropy_loss_fusion cross_entropy_fusion_impl "
        "moe_router_load* "
        "moe_aux* moe_z* moe_router_dtype moe_router_score* moe_router_topk_scaling_factor moe_router_bias* "
        "moe_router_pre* moe_grouped_gemm moe_permute_fusion moe_router_fusion mtp_loss* ckpt_* manual_gc* "
        "no_create* no_check* timing* profile* use_pytorch* dist_ckpt* async_save "
        "qk_layernorm mscale* apply_layernorm_1p moe_flex_dispatcher_backend first_last* fp8_amax* "
        "fp8_margin "
        "override_opt* calculate_per* rampup* start_weight* end_weight* sft* override_* finetune job_name "
        "num_dataset* no_mmap* use_cpu_init* hidden_dropout_* enable_experimental",
    [RECIPE_NEMO] =
        "ENV_VARS.* checkpoint.* logger.* log.* optimizer.* optim.* scheduler.* tokenizer.* dataset.* data.* "
        "profiling.* rerun_state_machine.* rng.* dist.* resume.* validation.* ft.* straggler.* "
        "nvrx_straggler.* "
        "*.train_iters *.train_samples *.eval_* *.exit_* *.manual_gc* *._target_ _target_ *.init_method* "
        "*.rotary_* *.layernorm_epsilon *.qk_layernorm *.mscale* *.attention_backend *.transformer_impl "
        "*.bf16 "
        "*.cross_entropy_* *.moe_router_load* *.moe_aux* *.moe_z* *.moe_router_dtype *.moe_router_score* "
        "*.moe_router_topk_scaling_factor *.moe_router_bias* *.moe_grouped_gemm *.moe_permute_fusion "
        "*.moe_router_fusion *.mtp_loss* *.overlap_param_gather *.average_in_collective *.check_for_* "
        "*.multi_latent_attention *.make_vocab* *.apply_rope_fusion *.bias_*_fusion "
        "*.moe_flex_dispatcher_backend "
        "*.num_nodes *.devices *.max_steps *.max_position_embeddings *.seed *.fp8_amax*",
    [RECIPE_TORCHTITAN] =
        "job.* metrics.* optimizer.* lr_scheduler.* profiling.* checkpoint.* validation.* comm.* "
        "fault_tolerance.* model.hf_assets_path model.tokenizer_path model.norm_type "
        "training.dataset* training.steps training.max_norm training.seed training.warmup_steps "
        "training.deterministic training.gc_freq training.dtype model.tokenizer* debug.* "
        "float8.filter_fqns float8.precompute* activation_checkpoint.per_op* "
        "training.mixed_precision_param",
};

/* What transformers' code of a family has and config.json need not say; all have RMSNorm, rotary positions
 * and a gated MLP. 0: config.json says it, or it has none. */
static const struct family {
    const char *name;
    bool tied, biases, sink, router_bias, wide_experts; /* experts as wide as `intermediate_size` */
    int64_t vocab, head_dim, window_every;
} families[] = {
    { .name = "llama" },
    { .name = "mistral" },
    { .name = "mixtral", .wide_experts = true },
    { .name = "qwen2", .biases = true },
    { .name = "qwen2_moe", .biases = true },
    { .name = "qwen3" },
    { .name = "qwen3_moe" },
    { .name = "deepseek_v3", .router_bias = true },
    { .name = "kimi_k2", .router_bias = true },
    { .name = "gpt_oss", .biases = true, .sink = true, .router_bias = true, .wide_experts = true },
    { .name = "gemma", .tied = true, .vocab = 256000, .head_dim = 256 },
    { .name = "gemma2", .tied = true, .vocab = 256000, .head_dim = 256, .window_every = 2 },
    { .name = "gemma3_text", .tied = true, .vocab = 262208, .head_dim = 256, .window_every = 6 },
    { .name = "gemma3", .tied = true, .vocab = 262208, .head_dim = 256, .window_every = 6 },
};

static const struct flavor {
    const char *model, *flavor, *file; /* of the catalogue's models */
} flavors[] = {
    { "llama3", "8B", "llama3-8b" },         { "llama3", "70B", "llama3-70b" },
    { "llama3", "405B", "llama3-405b" },     { "deepseek_v3", "671B", "deepseek-v3" },
    { "qwen3", "30B-A3B", "qwen3-30b-a3b" }, { "qwen3", "235B-A22B", "qwen3-235b-a22b" },
    { "gpt_oss", "20b", "gpt-oss-20b" },     { "gpt_oss", "120b", "gpt-oss-120b" },
};

enum {
    COUNT_OF_FAMILIES = sizeof families / sizeof *families,
    COUNT_OF_FLAVORS = sizeof flavors / sizeof *flavors
};

/* ---- a recipe that was read ---- */

struct recipe_said {
    struct recipe_settings settings;
    enum recipe_format format;
    const struct recipe_setting *at[N_FACTS]; /* where it is said; NULL: it is not */
    int64_t count[N_FACTS];                   /* COUNT; FLAG 0 or 1; 0 where not said */
    double real[N_FACTS];
    const struct family *family; /* of RECIPE_HF */
    int64_t n_npus;
    struct text *notes; /* borrowed */
};

static bool said(const struct recipe_said *r, enum fact f)
{
    return r->at[f] != NULL;
}

/* The value where it is said, else @p absent. */
static int64_t count_or(const struct recipe_said *r, enum fact f, int64_t absent)
{
    return said(r, f) ? r->count[f] : absent;
}

static const char *word(const struct recipe_said *r, enum fact f)
{
    return said(r, f) ? r->at[f]->value : "";
}

static int fail_at(const struct recipe_said *r, const struct recipe_setting *s, struct err *e,
                   enum err_code code, const char *why)
{
    return recipe_fail(&r->settings, s, e, code, "%.80s is \"%.60s\", %s", s->name, s->value, why);
}

static void note_at(const struct recipe_said *r, const struct recipe_setting *s, const char *why)
{
    text_printf(r->notes, "%s:%d:%d: %.80s%s%.60s %s\n", r->settings.path, (int)s->line, (int)s->col, s->name,
                s->value[0] ? " " : "", s->value, why);
}

static void note(const struct recipe_said *r, const char *why)
{
    text_printf(r->notes, "%s: %s\n", r->settings.path, why);
}

/* Something that has to be said and is not. */
static int fail_missing(const struct recipe_said *r, enum fact f, const char *what, struct err *e)
{
    const char *names = rows[f].names[r->format];
    static const struct recipe_setting top = { .line = 1, .col = 1 };
    char why[96];
    snprintf(why, sizeof why, "expected %s", what);
    if (r->at[f])
        return fail_at(r, r->at[f], e, ERR_RANGE, why);
    return recipe_fail(&r->settings, &top, e, ERR_PARSE, "document has no %.*s, %s", (int)strcspn(names, " "),
                       names, why);
}

/* ---- which setting says what ---- */

/* Does @p name match the @p n bytes at @p pattern, in which a * stands for anything? O(name * n). */
static bool matches(const char *name, const char *pattern, size_t n)
{
    const char *end = pattern + n, *star = NULL, *from = NULL;
    while (*name) {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            from = name;
        } else if (pattern < end && *pattern == *name) {
            pattern++;
            name++;
        } else if (star) { /* let the last star take one byte more */
            pattern = star + 1;
            name = ++from;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}

static bool is_listed(const char *name, const char *list)
{
    size_t n;
    for (const char *word; (word = text_next(&list, ' ', &n));)
        if (matches(name, word, n))
            return true;
    return false;
}

/* A setting's name as the tables have it: without the map that holds all of a recipe, or the language model
 * of one that sees images; a list goes by its name. */
static void known_name(char out[128], enum recipe_format format, const char *name)
{
    static const char *const around[N_RECIPE_FORMATS] = {
        [RECIPE_HF] = "text_config.", [RECIPE_NEMO] = "ConfigContainer."
    };
    size_t n = around[format] ? strlen(around[format]) : 0;
    if (n && strncmp(name, around[format], n) == 0)
        name += n;
    snprintf(out, 128, "%s", name);
    char *entry = strchr(out, '[');
    if (entry)
        *entry = '\0';
}

/* NeMo's recipes nest in several ways: the last part of a name counts. */
static enum fact find_fact(enum recipe_format format, const char *name)
{
    char known[128];
    int f = 0;
    known_name(known, format, name);
    const char *last = format == RECIPE_NEMO ? strrchr(known, '.') : NULL;
    while (f < N_FACTS && !is_listed(last ? last + 1 : known, rows[f].names[format]))
        f++;
    return (enum fact)f;
}

static bool is_idle(enum recipe_format format, const char *name)
{
    char known[128];
    known_name(known, format, name);
    return is_listed(known, idle[format]);
}

static int take_count(struct recipe_said *r, enum fact f, const struct recipe_setting *s, struct err *e)
{
    /* torchtitan's -1 leaves it to the program, as does a setting that is not there. */
    if (strcmp(s->value, "-1") == 0) {
        r->at[f] = NULL;
        return 0;
    }
    if (!num_parse_count(s->value, &r->count[f]))
        return fail_at(r, s, e, ERR_PARSE, "expected a whole number");
    return 0;
}

static int take_flag(struct recipe_said *r, enum fact f, const struct recipe_setting *s, struct err *e)
{
    static const char *const words[] = { "false", "true", "False", "True", "0", "1" };
    if (!s->value[0]) { /* an option without value */
        r->count[f] = 1;
        return 0;
    }
    for (int i = 0; i < 6; i++)
        if (strcmp(s->value, words[i]) == 0) {
            r->count[f] = i % 2;
            return 0;
        }
    return fail_at(r, s, e, ERR_PARSE, "expected true or false");
}

static int take_fact(struct recipe_said *r, enum fact f, const struct recipe_setting *s, struct err *e)
{
    /* A model inside one that sees images has a family of its own. */
    const struct recipe_setting *before = f == FAMILY ? NULL : r->at[f];
    if (before && r->format != RECIPE_MEGATRON && strcmp(before->value, s->value) != 0 &&
        !strchr(s->name, '[')) {
        char why[96];
        snprintf(why, sizeof why, "but line %d says \"%.40s\"", (int)before->line, before->value);
        return fail_at(r, s, e, ERR_PARSE, why);
    }
    if (before && strchr(s->name, '[')) /* further entries of a list */
        return 0;
    r->at[f] = s;
    switch (rows[f].kind) {
    case COUNT:
        return take_count(r, f, s, e);
    case FLAG:
        return take_flag(r, f, s, e);
    case REAL:
        return num_parse_real(s->value, &r->real[f]) ? 0 : fail_at(r, s, e, ERR_PARSE, "expected a number");
    case WORD:
        break;
    }
    return 0;
}

/* layer_types of a Hugging Face model are read where windows are. */
static bool is_layer_type(const char *name)
{
    return strncmp(name, "layer_types[", 12) == 0 || strncmp(name, "text_config.layer_types[", 24) == 0;
}

static bool has_part(const struct recipe_said *r, enum fact f, const char *part);

/* Layers that are not attention of a kind known here are timed as if they were; told once. */
static void note_layer_type(const struct recipe_said *r, const struct recipe_setting *s, bool *told)
{
    if (*told || strcmp(s->value, "full_attention") == 0 || strcmp(s->value, "sliding_attention") == 0)
        return;
    note_at(r, s, "is not known here: such layers are timed as full attention");
    *told = true;
}

static int take_settings(struct recipe_said *r, struct err *e)
{
    int n_idle = 0;
    bool told = false;
    for (int32_t i = 0; i < r->settings.n; i++) {
        const struct recipe_setting *s = &r->settings.items[i];
        enum fact f = find_fact(r->format, s->name);
        int rc = f < N_FACTS ? take_fact(r, f, s, e) : 0;
        if (rc)
            return rc;
        if (is_layer_type(s->name))
            note_layer_type(r, s, &told);
        if (f < N_FACTS || is_layer_type(s->name))
            continue;
        if (is_idle(r->format, s->name))
            n_idle++;
        else
            note_at(r, s, "is not known here and is left out: the step is timed as without it");
    }
    if (n_idle)
        text_printf(r->notes, "%s: settings that leave the time of a step as it is: %d\n", r->settings.path,
                    n_idle);
    return 0;
}

/* Is @p part among the entries of a list, or inside of the text of a setting? */
static bool has_part(const struct recipe_said *r, enum fact f, const char *part)
{
    for (int32_t i = 0; i < r->settings.n && said(r, f); i++)
        if (find_fact(r->format, r->settings.items[i].name) == f && strstr(r->settings.items[i].value, part))
            return true;
    return false;
}

/* ---- writing ---- */

static void put(struct text *out, const char *indent, const char *key, const char *fmt, ...) ERR_PRINTF(4, 5);

static void put(struct text *out, const char *indent, const char *key, const char *fmt, ...)
{
    va_list ap;
    text_printf(out, "%s%s: ", indent, key);
    va_start(ap, fmt);
    text_vprintf(out, fmt, ap);
    va_end(ap);
    text_puts(out, "\n");
}

/* Facts from @p first to @p last that are said, as they are. */
static void put_facts(struct text *out, const struct recipe_said *r, const char *indent, enum fact first,
                      enum fact last)
{
    for (int f = (int)first; f <= (int)last; f++) {
        char number[NUM_TEXT];
        if (!said(r, (enum fact)f))
            continue;
        if (rows[f].kind == FLAG)
            put(out, indent, rows[f].key, "%s", r->count[f] ? "true" : "false");
        else if (rows[f].kind == REAL)
            put(out, indent, rows[f].key, "%s", num_format(number, r->real[f]));
        else
            put(out, indent, rows[f].key, "%lld", (long long)r->count[f]);
    }
}

/* ---- the model ---- */

static int find_family(struct recipe_said *r)
{
    int k = 0;
    while (k < COUNT_OF_FAMILIES && strcmp(families[k].name, word(r, FAMILY)) != 0)
        k++;
    r->family = &families[k < COUNT_OF_FAMILIES ? k : 0];
    return k;
}

/* The language model of a card with images names its own family. */
static void settle_family(struct recipe_said *r)
{
    if (r->format != RECIPE_HF)
        return;
    if (find_family(r) < COUNT_OF_FAMILIES)
        return;
    if (said(r, FAMILY))
        note_at(r, r->at[FAMILY],
                "is not known here: taken as Llama's family, with RMSNorm, rotary positions, gated MLP");
    else
        note(r,
             "model_type is not given: taken as Llama's family, with RMSNorm, rotary positions, gated MLP");
}

/* Is the model a provider of NeMo or Megatron-Bridge whose class sets what Llama has: RMSNorm, rotary
 * positions, a gated MLP, no biases? A recipe written out in full says these itself. */
static bool is_llama_provider(const struct recipe_said *r)
{
    static const char *const classes[] = { "Llama", "Mistral", "Mixtral", "Qwen", "DeepSeek", "Kimi" };
    for (int32_t i = 0; i < r->settings.n && r->format == RECIPE_NEMO; i++) {
        const char *own = strstr(r->settings.items[i].name, "model._target_");
        for (size_t k = 0; own && k < sizeof classes / sizeof *classes; k++)
            if (strstr(r->settings.items[i].value, classes[k]))
                return true;
    }
    return false;
}

/* What a recipe of NeMo leaves to its provider. */
static void note_provider(const struct recipe_said *r)
{
    if (r->format != RECIPE_NEMO || (said(r, NORM) && said(r, POSITIONS) && said(r, GATED) && said(r, BIAS)))
        return;
    note(r, is_llama_provider(r)
                ? "of normalization, position_embedding_type, gated_linear_unit and add_bias_linear what is "
                  "not given is as its provider has it: RMSNorm, rope, true, false"
                : "of normalization, position_embedding_type, gated_linear_unit and add_bias_linear what is "
                  "not given is as in Megatron-Core: LayerNorm, learned positions, false, true");
}

static bool is_gated(const struct recipe_said *r)
{
    return r->format == RECIPE_HF || count_or(r, GATED, is_llama_provider(r)) != 0;
}

/* SwiGLU counts for every gated MLP; without a gate the MLP has two matrices, whatever lies between. */
static void put_kinds(struct text *out, const struct recipe_said *r, const char *indent)
{
    bool hf = r->format == RECIPE_HF, llama = is_llama_provider(r);
    bool rms = hf || (said(r, NORM) ? strcmp(word(r, NORM), "RMSNorm") == 0 : llama);
    bool rotary =
        hf || r->count[ROTARY] || (said(r, POSITIONS) ? strstr(word(r, POSITIONS), "rope") != NULL : llama);
    bool tied = r->format == RECIPE_MEGATRON ? !r->count[UNTIED]
                                             : count_or(r, TIED, hf ? r->family->tied : false) != 0;
    bool biases = hf                             ? r->family->biases
                  : r->format == RECIPE_MEGATRON ? !r->count[NO_BIAS]
                                                 : count_or(r, BIAS, !llama) != 0;
    note_provider(r);
    if (hf && said(r, ACTIVATION) && strcmp(word(r, ACTIVATION), "silu") != 0)
        note_at(r, r->at[ACTIVATION], "is counted as SwiGLU: three matrices, another function between");
    put(out, indent, "activation", "%s", is_gated(r) ? "swiglu" : "gelu");
    put(out, indent, "norm", "%s", rms ? "rms-norm" : "layer-norm");
    put(out, indent, "positions", "%s", rotary ? "rotary" : "learned");
    put(out, indent, "tied", "%s", tied ? "true" : "false");
    if (biases || r->count[QKV_BIAS])
        put(out, indent, "biases", "true");
    if (hf && r->family->sink)
        put(out, indent, "sink", "true");
}

/* Megatron-LM drops out by 0.1 unless told otherwise. */
static void put_dropout(struct text *out, const struct recipe_said *r, const char *indent)
{
    bool megatron = r->format == RECIPE_MEGATRON, drops = r->real[DROPOUT] > 0 || r->real[HIDDEN_DROPOUT] > 0;
    if (megatron && (!said(r, DROPOUT) || !said(r, HIDDEN_DROPOUT))) {
        drops = true;
        note(r, "attention-dropout or hidden-dropout is not given: dropout, as Megatron-LM's default of 0.1");
    }
    if (drops)
        put(out, indent, "dropout", "true");
}

/* Layers with all tokens: each so many, by the list of layers; 0: none; -1: no rhythm that weft has. */
static int64_t read_layer_types(const struct recipe_said *r)
{
    int64_t layer = 0, every = 0;
    bool regular = true, any = false;
    for (int32_t i = 0; i < r->settings.n; i++) {
        const struct recipe_setting *s = &r->settings.items[i];
        if (!is_layer_type(s->name))
            continue;
        bool full = strcmp(s->value, "full_attention") == 0;
        layer++;
        any = true;
        if (full && !every)
            every = layer;
        regular = regular && full == (every > 0 && layer % every == 0);
    }
    return !any ? -2 : regular ? every : -1;
}

static int put_window(struct text *out, const struct recipe_said *r, const char *indent, struct err *e)
{
    int64_t every = read_layer_types(r), window = r->count[WINDOW];
    if (every == -2)
        every = count_or(r, WINDOW_EVERY, r->family ? r->family->window_every : 0);
    if (!window || !count_or(r, WINDOW_ON, 1) || every == 1)
        return 0;
    if (every < 0)
        return fail_at(r, r->at[WINDOW], e, ERR_UNSUP,
                       "but layer_types has no rhythm: expected every n-th layer with full attention");
    put(out, indent, "window", "%lld", (long long)window);
    if (every)
        put(out, indent, "window_every", "%lld", (long long)every);
    return 0;
}

static int put_mla(struct text *out, const struct recipe_said *r, const char *indent, struct err *e)
{
    char inner[32];
    if (!said(r, KV_RANK))
        return 0;
    for (int f = Q_RANK; f <= V_DIM; f++)
        if (!said(r, (enum fact)f))
            return fail_missing(r, (enum fact)f, "a width, for attention through low-rank projections", e);
    snprintf(inner, sizeof inner, "%.16s  ", indent);
    text_printf(out, "%smla:\n", indent);
    put_facts(out, r, inner, Q_RANK, V_DIM);
    return 0;
}

/* Behind @p prefix at *text digits, of which *text is then behind. */
static bool take_number(const char **text, const char *prefix, int64_t *n)
{
    char digits[16] = "";
    size_t skipped = strlen(prefix);
    if (strncmp(*text, prefix, skipped) != 0)
        return false;
    *text += skipped;
    size_t length = strspn(*text, "0123456789");
    snprintf(digits, sizeof digits, "%.*s", (int)(length < sizeof digits ? length : 0), *text);
    *text += length;
    return num_parse_count(digits, n);
}

/* Megatron's "([0]*3+[1]*58)": the first layers are dense; or a number, each such layer has experts. */
static int put_rhythm(struct text *out, const struct recipe_said *r, const char *indent, struct err *e)
{
    int64_t n = 0;
    int64_t dense = 0, moe = 0;
    const char *text = word(r, EXPERT_FREQ);
    text += strspn(text, "( ");
    if (!said(r, EXPERT_FREQ))
        return 0;
    if (num_parse_count(text, &n) && n > 0) {
        if (n > 1)
            put(out, indent, "every", "%lld", (long long)n);
        return 0;
    }
    if (!take_number(&text, "[0]*", &dense) || !take_number(&text, "+[1]*", &moe) ||
        text[strspn(text, ") ")] || dense + moe != r->count[LAYERS])
        return fail_at(r, r->at[EXPERT_FREQ], e, ERR_UNSUP,
                       "expected a number, or [0]*A+[1]*B with A + B layers");
    put(out, indent, "dense_layers", "%lld", (long long)dense);
    return 0;
}

/* Shared experts are stated by their number, or by the width of all of them. */
static int put_shared(struct text *out, const struct recipe_said *r, const char *indent, int64_t expert_ffn,
                      struct err *e)
{
    int64_t width = r->count[SHARED_FFN];
    if (!width)
        return 0;
    if (width % expert_ffn)
        return fail_at(r, r->at[SHARED_FFN], e, ERR_UNSUP, "expected a multiple of the width of an expert");
    put(out, indent, "shared", "%lld", (long long)(width / expert_ffn));
    return 0;
}

static int put_moe(struct text *out, const struct recipe_said *r, const char *indent, struct err *e)
{
    bool wide = (r->family && r->family->wide_experts) || r->format != RECIPE_HF;
    int64_t ffn = count_or(r, EXPERT_FFN, wide ? r->count[FFN] : 0);
    char inner[32];
    if (r->count[EXPERTS] < 2)
        return 0;
    snprintf(inner, sizeof inner, "%.16s  ", indent);
    if (!said(r, TOP_K))
        return fail_missing(r, TOP_K, "the experts that a token passes", e);
    if (!ffn)
        return fail_missing(r, EXPERT_FFN, "the width of an expert", e);
    text_printf(out, "%smoe:\n", indent);
    put_facts(out, r, inner, EXPERTS, TOP_K);
    put(out, inner, "ffn", "%lld", (long long)ffn);
    for (int f = SHARED; f <= GROUP_LIMIT; f++)
        if (r->count[f])
            put_facts(out, r, inner, (enum fact)f, (enum fact)f);
    put_facts(out, r, inner, CAPACITY, CAPACITY);
    if (r->count[ROUTER_BIAS] || (r->family && r->family->router_bias))
        put(out, inner, "router_bias", "true");
    int rc = put_shared(out, r, inner, ffn, e);
    return rc ? rc : put_rhythm(out, r, inner, e);
}

/* A card does not say how long the sequences of training are. */
static int settle_seq(struct recipe_said *r, struct err *e)
{
    enum { USUAL = 4096 };
    if (said(r, SEQ))
        return 0;
    if (r->format != RECIPE_HF)
        return fail_missing(r, SEQ, "the tokens of a sequence", e);
    int64_t most = count_or(r, MOST_SEQ, USUAL);
    r->count[SEQ] = most < USUAL ? most : USUAL;
    text_printf(r->notes, "%s: a card does not say how long sequences of training are: seq %lld is assumed\n",
                r->settings.path, (long long)r->count[SEQ]);
    return 0;
}

/* What a family's class has where config.json is silent. */
static void settle_defaults(struct recipe_said *r)
{
    static const enum fact facts[] = { VOCAB, HEAD_DIM };
    for (int i = 0; i < 2 && r->family; i++) {
        int64_t value = facts[i] == VOCAB ? r->family->vocab : r->family->head_dim;
        if (said(r, facts[i]) || !value)
            continue;
        r->count[facts[i]] = value;
        text_printf(r->notes, "%s: %s is not given: %lld, the default of %s in transformers\n",
                    r->settings.path, rows[facts[i]].names[RECIPE_HF], (long long)value, r->family->name);
    }
}

/* Families whose layers are no decoder's attention and MLP: timed as one they would only look right. "amba"
 * is in Mamba, Jamba, Bamba and Zamba. */
static int check_family(const struct recipe_said *r, struct err *e)
{
    static const char *const others[] = { "amba", "rwkv", "recurrent", "nemotron_h", "falcon_h1",
                                          "t5",   "bert", "whisper",   "clip",       "vit",
                                          "swin", "dino", "siglip",    "convnext" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (r->format == RECIPE_HF && said(r, FAMILY) && strstr(word(r, FAMILY), others[i]))
            return fail_at(r, r->at[FAMILY], e, ERR_UNSUP, "expected a decoder of attention and MLPs");
    return 0;
}

static int check_model(const struct recipe_said *r, struct err *e)
{
    static const struct {
        enum fact fact;
        const char *what;
    } needed[] = { { LAYERS, "the number of layers" },
                   { HIDDEN, "the width of a token" },
                   { HEADS, "the number of attention heads" },
                   { VOCAB, "the number of tokens in the vocabulary" } };
    int rc = check_family(r, e); /* what a card of another kind lacks tells less */
    for (size_t i = 0; i < sizeof needed / sizeof *needed && !rc; i++)
        if (!r->count[needed[i].fact])
            rc = fail_missing(r, needed[i].fact, needed[i].what, e);
    return rc;
}

static int put_model(struct text *out, struct recipe_said *r, const char *indent, struct err *e)
{
    settle_family(r);
    settle_defaults(r);
    int rc = check_model(r, e);
    rc = rc ? rc : settle_seq(r, e);
    if (rc)
        return rc;
    for (int f = LAYERS; f <= MTP; f++) {
        bool low_rank = said(r, KV_RANK) && (f == KV_HEADS || f == HEAD_DIM);
        if (r->count[f] && !low_rank)
            put(out, indent, rows[f].key, "%lld", (long long)r->count[f]);
    }
    put_kinds(out, r, indent);
    put_dropout(out, r, indent);
    rc = put_window(out, r, indent, e);
    rc = rc ? rc : put_mla(out, r, indent, e);
    return rc ? rc : put_moe(out, r, indent, e);
}

/* A model of the catalogue, without comments and with the job's sequence. */
static int put_flavor(struct text *out, struct recipe_said *r, const char *indent, struct err *e)
{
    struct text path = { 0 }, file = { 0 };
    int k = 0;
    while (k < COUNT_OF_FLAVORS &&
           (strcmp(flavors[k].model, word(r, MODEL)) != 0 || strcmp(flavors[k].flavor, word(r, FLAVOR)) != 0))
        k++;
    if (!said(r, FLAVOR))
        return fail_missing(r, FLAVOR, "the flavor of the model", e);
    if (k == COUNT_OF_FLAVORS)
        return fail_at(
            r, r->at[FLAVOR], e, ERR_UNSUP,
            "expected a model that weft has: llama3 8B, 70B, 405B, deepseek_v3 671B, qwen3 30B-A3B, "
            "235B-A22B, gpt_oss 20b, 120b");
    int rc = settle_seq(r, e);
    if (!rc && !catalogue_find(&path, "models", flavors[k].file))
        rc = err_set(e, ERR_PARSE, "%s: no such file among models", flavors[k].file);
    rc = rc ? rc : text_check(&path, e);
    rc = rc ? rc : text_read_file(&file, text_str(&path), YAML_MAX_BYTES, e);
    size_t n;
    for (const char *rest = text_str(&file), *s; !rc && (s = text_next(&rest, '\n', &n));)
        if (*s != '#' && n && strncmp(s, "seq:", 4) != 0)
            text_printf(out, "%s%.*s\n", indent, (int)n, s);
    if (!rc)
        put(out, indent, "seq", "%lld", (long long)r->count[SEQ]);
    text_free(&path);
    text_free(&file);
    return rc;
}

/* ---- the plan ---- */

static void put_precision(struct text *out, const struct recipe_said *r, const char *indent)
{
    const char *recipe = word(r, FP8_RECIPE), *mixed = word(r, PRECISION);
    bool titan = r->format == RECIPE_TORCHTITAN;
    bool fp8 = titan ? has_part(r, CONVERTERS, "float8") : said(r, FP8) || strstr(mixed, "fp8");
    bool blocks = strstr(recipe, "mx") || strstr(mixed, "mxfp8") || has_part(r, CONVERTERS, "mx");
    const char *precision = said(r, FP4) || strstr(mixed, "fp4") ? "nvfp4"
                            : blocks                             ? "mxfp8"
                            : fp8                                ? "fp8"
                                                                 : "bf16";
    put(out, indent, "precision", "%s", precision);
    if (said(r, FP8_RECIPE) && (strstr(recipe, "block") || strstr(recipe, "rowwise")))
        note_at(r, r->at[FP8_RECIPE], "is timed as fp8 with a scale per tensor");
    if (titan && strcmp(precision, "bf16") != 0 && strcmp(word(r, DP_SHARD), "1") != 0)
        put(out, indent, "gather_bits", r->count[GATHER_8] ? "8" : "16");
}

/* Chunks of layers that a stage has. */
static int64_t chunks_of(const struct recipe_said *r, int64_t layers)
{
    int64_t pp = count_or(r, PP, 1), each = r->count[CHUNK_LAYERS];
    return pp == 1 ? 1 : each ? layers / (pp * each) : count_or(r, CHUNKS, 1);
}

/* Megatron-Core's two methods: units of so many layers of which each keeps one input, or so many layers of
 * each chunk alone. */
static void put_layers_again(struct text *out, const struct recipe_said *r, const char *indent)
{
    int64_t n = count_or(r, RECOMPUTE_LAYERS, 1);
    if (strcmp(word(r, RECOMPUTE_METHOD), "uniform") == 0) {
        if (n > 1)
            put(out, indent, "recompute_unit", "%lld", (long long)n);
        return;
    }
    if (!said(r, RECOMPUTE_LAYERS))
        return;
    put(out, indent, "recompute_layers", "%lld", (long long)n);
    if (!said(r, RECOMPUTE_METHOD))
        note_at(r, r->at[RECOMPUTE_LAYERS], "is given without a method: block is assumed");
}

/* torchtitan's every n-th layer: as many of each chunk, where n does not divide it the fewer. Each sac keeps
 * every second product. */
static void put_titan_again(struct text *out, const struct recipe_said *r, const char *indent, int64_t layers)
{
    int64_t every = 0, chunk = layers / (count_or(r, PP, 1) * chunks_of(r, layers));
    const char *option = word(r, SAC_OPTION);
    if (!take_number(&option, "", &every) || every < 1) {
        put(out, indent, "recompute", "sac");
        return;
    }
    put(out, indent, "recompute", every > chunk ? "none" : "full");
    if (every > 1 && every <= chunk)
        put(out, indent, "recompute_layers", "%lld", (long long)(chunk / every));
    if (chunk % every)
        note_at(r, r->at[SAC_OPTION], "does not divide the layers of a chunk: the fewer are counted in each");
}

static void put_recompute(struct text *out, const struct recipe_said *r, const char *indent, int64_t layers)
{
    const char *how = word(r, RECOMPUTE);
    bool full = strcmp(how, "full") == 0;
    bool selective = strcmp(how, "selective") == 0 || r->count[RECOMPUTE_ON];
    if (r->format == RECIPE_TORCHTITAN && selective) {
        put_titan_again(out, r, indent, layers);
        return;
    }
    put(out, indent, "recompute", "%s", full ? "full" : selective ? "selective" : "none");
    if (full && r->format != RECIPE_TORCHTITAN)
        put_layers_again(out, r, indent);
}

/* Megatron-Core's modules under weft's names; those that weft has no counterpart for are noted. */
static void put_recompute_ops(struct text *out, const struct recipe_said *r, const char *indent)
{
    static const char *const ops[][2] = { { "core_attn", "core" }, { "moe_act", "activation" },
                                          { "layernorm", "norm" }, { "mla_up_proj", "mla_up" },
                                          { "mlp", "mlp" },        { "shared_experts", "shared" },
                                          { "moe", "experts" } };
    struct text list = { 0 };
    if (!said(r, RECOMPUTE_OPS) || strcmp(word(r, RECOMPUTE), "full") == 0)
        return;
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        bool has = false;
        for (int32_t k = 0; k < r->settings.n; k++) {
            const struct recipe_setting *s = &r->settings.items[k];
            if (find_fact(r->format, s->name) != RECOMPUTE_OPS)
                continue;
            has = has || is_listed(ops[i][0], s->value);
        }
        if (has)
            text_printf(&list, "%s%s", list.n ? ", " : "", ops[i][1]);
    }
    if (list.n)
        put(out, indent, "recompute_ops", "[%s]", text_str(&list));
    out->failed = out->failed || list.failed;
    text_free(&list);
}

/* What data parallelism shares out. */
static int put_zero(struct text *out, const struct recipe_said *r, const char *indent)
{
    const char *strategy = word(r, FSDP_STRATEGY);
    int zero = r->count[SHARED_OPTIMIZER] != 0;
    if (r->format == RECIPE_TORCHTITAN)
        zero = strcmp(word(r, DP_SHARD), "1") == 0 ? 0 : 3;
    else if (strcmp(strategy, "optim_grads_params") == 0 || (r->count[FSDP] && !strategy[0]))
        zero = 3;
    else if (strcmp(strategy, "optim_grads") == 0)
        zero = 2;
    put(out, indent, "zero", "%d", zero);
    return zero;
}

static void put_gradients(struct text *out, const struct recipe_said *r, const char *indent)
{
    bool narrow = r->count[GRAD_BF16] || strcmp(word(r, GRAD_TYPE), "bfloat16") == 0 ||
                  (said(r, GRAD_FP32) && !r->count[GRAD_FP32]);
    if (narrow)
        put(out, indent, "grad_B", "2");
}

static int put_chunks(struct text *out, const struct recipe_said *r, const char *indent, int64_t layers,
                      struct err *e)
{
    int64_t pp = count_or(r, PP, 1), each = r->count[CHUNK_LAYERS], chunks = chunks_of(r, layers);
    if (each && layers % (pp * each) && r->format == RECIPE_MEGATRON)
        return fail_at(r, r->at[CHUNK_LAYERS], e, ERR_PARSE, "expected what divides the layers of a stage");
    if (chunks > 1)
        put(out, indent, "interleave", "%lld", (long long)chunks);
    if (pp > 1 && layers % (pp * chunks) && !said(r, FIRST_LAYERS) && !said(r, LAST_LAYERS)) {
        put(out, indent, "ends", "short");
        note(r, "layers do not divide over the stages: ends short is assumed, embedding and loss count as a "
                "layer each");
    }
    return 0;
}

static void put_experts(struct text *out, const struct recipe_said *r, const char *indent)
{
    bool titan = r->format == RECIPE_TORCHTITAN;
    /* Megatron's experts follow tp unless told otherwise. */
    int64_t tp = count_or(r, TP, 1), expert_tp = count_or(r, EXPERT_TP, titan ? 1 : tp);
    if (said(r, EP))
        put(out, indent, "ep", "%lld", (long long)r->count[EP]);
    if ((titan || r->count[EXPERTS] > 1) && tp > 1 && expert_tp > 1)
        put(out, indent, "expert_tp", "true");
    if (count_or(r, EP, 1) == 1)
        return;
    if (strcmp(word(r, DISPATCHER), "flex") == 0 || r->count[DEEPEP])
        put(out, indent, "dispatcher", "merged");
    if (r->count[OVERLAP_EP])
        put(out, indent, "ep_overlap", "batch");
    else if (r->count[OVERLAP_SHARED])
        put(out, indent, "ep_overlap", "shared");
}

/* Sequences of a step. torchtitan states those of one NPU of data parallelism. */
static int find_batch(int64_t *batch, const struct recipe_said *r, struct err *e)
{
    enum { TOKENS = 1 << 22 };
    int64_t inner = count_or(r, TP, 1) * count_or(r, PP, 1) * count_or(r, CP, 1),
            npus = r->n_npus ? r->n_npus : 1;
    *batch = r->count[BATCH];
    if (*batch)
        return 0;
    if (r->format == RECIPE_HF) {
        *batch = npus * ((TOKENS / r->count[SEQ] + npus - 1) / npus);
        text_printf(r->notes,
                    "%s: a card says nothing about training: batch %lld, about 4 million tokens, and bf16 "
                    "are assumed\n",
                    r->settings.path, (long long)*batch);
        return 0;
    }
    if (r->format != RECIPE_TORCHTITAN)
        return fail_missing(r, BATCH, "the sequences of a step", e);
    if (!said(r, LOCAL_BATCH))
        return fail_missing(r, LOCAL_BATCH, "the sequences of one NPU", e);
    if (!r->n_npus)
        return fail_at(r, r->at[LOCAL_BATCH], e, ERR_PARSE,
                       "of one NPU; give --network, whose NPUs say how many sequences a step has");
    if (inner > r->n_npus || r->n_npus % inner)
        return fail_at(r, r->at[LOCAL_BATCH], e, ERR_RANGE,
                       "but the network's NPUs do not divide by tp * pp * cp");
    *batch = r->count[LOCAL_BATCH] * (r->n_npus / inner);
    return 0;
}

static int put_batch(struct text *out, const struct recipe_said *r, const char *indent, struct err *e)
{
    int64_t batch;
    int rc = find_batch(&batch, r, e);
    if (rc)
        return rc;
    put(out, indent, "batch", "%lld", (long long)batch);
    if (said(r, MICRO))
        put(out, indent, "micro_batch", "%lld", (long long)r->count[MICRO]);
    else if (r->format == RECIPE_TORCHTITAN && said(r, LOCAL_BATCH) && count_or(r, PP, 1) == 1)
        put(out, indent, "micro_batch", "%lld", (long long)r->count[LOCAL_BATCH]);
    return 0;
}

/* PyTorch's classes of software; a job of several stages cuts its local batch into as many microbatches as it
 * has stages unless told otherwise, which is micro_batch 1 for all usual ones. */
static void put_titan(struct text *out, const struct recipe_said *r, const char *indent, int zero)
{
    /* training.compile, of 2024, left the loss out. */
    bool compiled = r->count[COMPILE],
         early = compiled && strcmp(r->at[COMPILE]->name, "training.compile") == 0;
    put(out, indent, "software", "%s", compiled ? "compiled" : "eager");
    if (early || (compiled && said(r, COMPILED_PARTS) && !has_part(r, COMPILED_PARTS, "loss")))
        put(out, indent, "loss_peak_B", "14");
    if (count_or(r, TP, 1) > 1)
        put(out, indent, "seq_parallel", "true");
    if (zero == 3 && count_or(r, DP_COPIES, 1) > 1 && r->n_npus)
        put(out, indent, "shard", "%lld",
            (long long)(r->n_npus / (count_or(r, TP, 1) * count_or(r, PP, 1) * r->count[DP_COPIES])));
    if (zero == 3 && (strcmp(word(r, RESHARD), "never") == 0 ||
                      (strcmp(word(r, RESHARD), "always") != 0 && count_or(r, PP, 1) > 1)))
        put(out, indent, "reshard", "false");
    if (strstr(word(r, SCHEDULE), "GPipe"))
        put(out, indent, "schedule", "gpipe");
    else if (strstr(word(r, SCHEDULE), "ZeroBubble") || strstr(word(r, SCHEDULE), "DualPipe"))
        note_at(r, r->at[SCHEDULE], "is timed as 1f1b");
}

/* Layers as the model was written. */
static int64_t layers_of(const struct text *model)
{
    const char *at = strstr(text_str(model), "layers: ");
    int64_t n = 0;
    return at && take_number(&at, "layers: ", &n) ? n : 0;
}

static int put_plan(struct text *out, const struct recipe_said *r, const char *indent, int64_t layers,
                    struct err *e)
{
    int rc = put_batch(out, r, indent, e);
    if (rc)
        return rc;
    if (r->format == RECIPE_HF) {
        put(out, indent, "software", "megatron");
        return 0;
    }
    put_facts(out, r, indent, TP, PP);
    put_experts(out, r, indent);
    rc = put_chunks(out, r, indent, layers, e);
    if (rc)
        return rc;
    put_facts(out, r, indent, FIRST_LAYERS, SEQ_PARALLEL);
    put_recompute(out, r, indent, layers);
    put_recompute_ops(out, r, indent);
    int zero = put_zero(out, r, indent);
    put_precision(out, r, indent);
    put_gradients(out, r, indent);
    if (r->count[OVERLAP_TP] && count_or(r, TP, 1) > 1)
        put(out, indent, "overlap_tp", "split");
    if (r->format == RECIPE_TORCHTITAN) {
        put_titan(out, r, indent, zero);
        return 0;
    }
    put(out, indent, "software", "megatron");
    /* A recipe of NeMo that is silent overlaps; Megatron-LM does not. */
    if (said(r, OVERLAP_DP) || r->format == RECIPE_MEGATRON)
        put(out, indent, "overlap_dp", "%s", r->count[OVERLAP_DP] ? "true" : "false");
    return 0;
}

/* ---- all of it ---- */

static int put_workload(struct text *out, struct recipe_said *r, const char *indent, struct err *e)
{
    char inner[32];
    struct text model = { 0 }, plan = { 0 };
    snprintf(inner, sizeof inner, "%.16s  ", indent);
    int rc = take_settings(r, e);
    if (!rc)
        rc =
            r->format == RECIPE_TORCHTITAN ? put_flavor(&model, r, inner, e) : put_model(&model, r, inner, e);
    if (!rc)
        rc = put_plan(&plan, r, inner, layers_of(&model), e);
    if (!rc) {
        text_printf(out, "%smodel:\n%s%sparallel:\n%s", indent, text_str(&model), indent, text_str(&plan));
        if (r->format == RECIPE_HF)
            text_printf(out, "%ssearch: { top: 3 }\n", indent);
    }
    out->failed = out->failed || model.failed || plan.failed;
    text_free(&model);
    text_free(&plan);
    return rc ? rc : text_check(out, e);
}

int recipe_format_workload(struct text *out, struct text *notes, enum recipe_format format, const char *path,
                           int64_t n_npus, const char *indent, struct err *e)
{
    struct recipe_said r = { .format = format, .n_npus = n_npus, .notes = notes };
    int rc = recipe_read_settings(&r.settings, format, path, e);
    rc = rc ? rc : put_workload(out, &r, indent, e);
    recipe_settings_free(&r.settings);
    return rc ? rc : text_check(notes, e);
}

/* The folder's name, unless the path has none but . or .. */
void recipe_put_name(struct text *out, const char *path)
{
    struct text folder = { 0 };
    struct json j = { .out = out };
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    if (slash && strcmp(file, "config.json") == 0) {
        while (slash > path && slash[-1] == '/')
            slash--;
        text_printf(&folder, "%.*s", (int)(slash - path), path);
        const char *upper = strrchr(text_str(&folder), '/'), *name = upper ? upper + 1 : text_str(&folder);
        file = name[strspn(name, ".")] ? name : file;
    }
    json_text(&j, NULL, file);
    text_free(&folder);
}
