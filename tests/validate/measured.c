/*
 * Measured steps as studies. A row names shape, machine, plan and software of a run in columns; each column
 * becomes a key of model, network or parallel. Nothing depends on a row's identity: what a family's software
 * did beyond its columns is one line of `softwares`, by source, with where that stands. What no key can say
 * is left out and counted (enum measured_gap), so that the page says what it could not honour.
 */
#include "tests/validate/measured.h"

#include "base/table.h"
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/solve.h"
#include "workloads/plan.h"

#define STUDY "tests/validate/training.yaml"

const char *const measured_gap_words[N_GAPS] = {
    [GAP_PRECISION] = "scales of fp8 by row (bf16 taken)",
    [GAP_OFFLOAD] = "offload of what are no activations",
    [GAP_NETWORK] = "NIC not stated (50 GB/s taken)",
    [GAP_UNSTATED] = "plan partly not stated (as its source's others)",
};

/* ---- fields of the table ---- */

struct reader {
    const struct table *t;
    int64_t row;
    struct measured *m;
};

static const char *field(char out[256], const struct reader *r, const char *column)
{
    KEEP(struct text, x, text_free) = { 0 };
    int32_t col = table_find(r->t, column);
    if (col >= 0)
        table_cell_text(&x, r->t, r->row, col);
    snprintf(out, 256, "%s", text_str(&x));
    return out;
}

/* Layouts are longer than a field. */
static void long_field(struct text *out, const struct reader *r, const char *column)
{
    int32_t col = table_find(r->t, column);
    if (col >= 0)
        table_cell_text(out, r->t, r->row, col);
}

static double number(const struct reader *r, const char *column)
{
    char text[256], *end;
    field(text, r, column);
    double x = strtod(text, &end);
    return end == text ? NAN : x;
}

static int64_t row_count(const struct reader *r, const char *column, int64_t absent)
{
    double x = number(r, column);
    return isnan(x) ? absent : (int64_t)x;
}

static bool is(const struct reader *r, const char *column, const char *text)
{
    char is_text[256];
    return strcmp(field(is_text, r, column), text) == 0;
}

static bool has(const struct reader *r, const char *column, const char *word)
{
    char text[256];
    return strstr(field(text, r, column), word) != NULL;
}

static bool is_unstated(const struct reader *r, const char *column)
{
    if (!is(r, column, "unknown"))
        return false;
    r->m->ignored |= 1U << GAP_UNSTATED;
    return true;
}

/* ---- maps ---- */

static void put(char *map, size_t room, const char *key, const char *fmt, ...) ERR_PRINTF(4, 5);

static void put(char *map, size_t room, const char *key, const char *fmt, ...)
{
    size_t n = strlen(map);
    va_list ap;
    n += (size_t)snprintf(map + n, room - n, "%s%s: ", n ? ", " : "{ ", key);
    assert_true(n < room);
    va_start(ap, fmt);
    n += (size_t)vsnprintf(map + n, room - n, fmt, ap);
    va_end(ap);
    assert_true(n < room);
}

static void close_map(char *map, size_t room)
{
    size_t n = strlen(map);
    assert_true(n + 3 < room);
    memcpy(map + n, " }", 3);
}

#define PUT(map, key, ...) put(map, sizeof(map), key, __VA_ARGS__)

#define PUT_PLAN(r, key, ...) PUT((r)->m->parallel_map, key, __VA_ARGS__)

/* ---- what the columns do not say: the software of a source ---- */

struct software {
    const char *source, *class; /**< class NULL: as before classes, the A100 under Megatron-LM of 2021 */
    const char *kernel;         /**< of attention; NULL: the NPU's first */
    int grad_B;
    const char *context; /**< how cp exchanges */
    bool split_tp;       /**< column `tp` in overlap means forward too */
    bool fill_vocab;     /**< up to a multiple of 128 tp (Megatron) */
    const char *why;
};

static const struct software softwares[] = {
    { "llm-foundry", "eager", "fa1", 4, NULL, false, false,
      "eager PyTorch FSDP, attention of FlashAttention 1 or Triton, 2023" },
    { "torchtitan", "compiled", "fa2", 4, "ring", true, false,
      "FSDP2, fp32 reduction, attention of PyTorch (FlashAttention 2)" },
    { "Megatron-Bridge", "megatron", "cudnn", 2, "ring", true, true,
      "Megatron-Core with Transformer Engine and cuDNN, grad_reduce_in_fp32: false" },
    { "mlcommons", "megatron", "cudnn", 2, "ring", true, true,
      "NeMo on Megatron-Core with Transformer Engine and cuDNN" },
    { "dgxc-benchmarking", "megatron", "cudnn", 2, "ring", true, true,
      "NeMo on Megatron-Core with Transformer Engine and cuDNN, as Megatron-Bridge after it" },
    { "SimuMax", "megatron", "cudnn", 4, "ulysses", false, true,
      "Megatron-Core with Transformer Engine; fp32 gradients (note of each row)" },
    { "vTrain", NULL, NULL, 2, NULL, false, true, "Megatron-LM of 2021, unfused attention, fp16 gradients" },
    { "", "megatron", NULL, 4, "ring", true, true, "not known: as Megatron-Core" },
};

static const struct software *software_of(const struct reader *r)
{
    char source[256];
    const struct software *s = softwares;
    field(source, r, "source");
    while (!strstr(source, s->source))
        s++;
    return s;
}

/* ---- model ---- */

static void map_model(const struct reader *r, const struct software *w)
{
    struct measured *m = r->m;
    bool gelu = is(r, "activation", "gelu"), vtrain = w->class == NULL;
    int64_t heads = row_count(r, "heads", 1), kv = row_count(r, "kv_heads", heads),
            experts = row_count(r, "experts", 0);
    PUT(m->model_map, "layers", "%lld", (long long)row_count(r, "layers", 1));
    PUT(m->model_map, "hidden", "%lld", (long long)row_count(r, "hidden", 1));
    PUT(m->model_map, "heads", "%lld", (long long)heads);
    PUT(m->model_map, "ffn", "%lld", (long long)row_count(r, "ffn", 1));
    PUT(m->model_map, "vocab", "%lld", (long long)row_count(r, "vocab", 1));
    PUT(m->model_map, "seq", "%lld", (long long)row_count(r, "seq", 1));
    PUT(m->model_map, "tied", "%s", is(r, "tied_embeddings", "1") ? "true" : "false");
    PUT(m->model_map, "activation", "%s", gelu ? "gelu" : "swiglu");
    if (!w->fill_vocab)
        PUT(m->model_map, "vocab_multiple", "0");
    if (!gelu) {
        PUT(m->model_map, "norm", "rms-norm");
        PUT(m->model_map, "positions", "rotary");
    } else if (w->fill_vocab) { /* GPT-3 of Megatron; MPT has no biases */
        PUT(m->model_map, "biases", "true");
    }
    if (vtrain) {
        PUT(m->model_map, "attention", "unfused");
        PUT(m->model_map, "dropout", "true");
    }
    if (row_count(r, "kv_lora", 0) > 0) {
        PUT(m->model_map, "mla",
            "{ q_rank: %lld, kv_rank: %lld, nope_dim: %lld, rope_dim: %lld, v_dim: %lld }",
            (long long)row_count(r, "q_lora", 1), (long long)row_count(r, "kv_lora", 1),
            (long long)row_count(r, "qk_nope", 1), (long long)row_count(r, "qk_rope", 1),
            (long long)row_count(r, "v_head", 1));
    } else {
        PUT(m->model_map, "kv_heads", "%lld", (long long)kv);
        PUT(m->model_map, "head_dim", "%lld", (long long)row_count(r, "head_dim", 1));
    }
    if (experts > 0)
        PUT(m->model_map, "moe",
            "{ experts: %lld, top_k: %lld, ffn: %lld, shared: %lld, dense_layers: %lld%s }",
            (long long)experts, (long long)row_count(r, "topk", 1), (long long)row_count(r, "expert_ffn", 1),
            (long long)row_count(r, "shared_experts", 0), (long long)row_count(r, "dense_layers", 0),
            /* n_group and topk_group of its config.json, also where the router is forced to be even. */
            strncmp(m->model, "deepseek", 8) == 0 ? ", groups: 8, group_limit: 4" : "");
    if (row_count(r, "mtp", 0) > 0) {
        PUT(m->model_map, "mtp", "%lld", (long long)row_count(r, "mtp", 0));
    }
    if (strncmp(m->model, "gpt-oss", 7) == 0) {
        /* Windows of 128 alternate with full attention, a sink in each (openai/gpt-oss, config.json). */
        PUT(m->model_map, "window", "128");
        PUT(m->model_map, "window_every", "2");
        PUT(m->model_map, "sink", "true");
    }
    close_map(m->model_map, sizeof m->model_map);
}

/* ---- network ---- */

/* One file for each GPU. Networks as the files of
 * configs/networks have them (selene-a100, hgx-*, gb200-nvl72): bandwidth one way, efficiency, latency of a
 * round, measured curves; sizes are the row's. */
static const struct machine {
    const char *gpu, *label, *npu;
    double nvlink_GBps, node_share, pod_share;
    int node_ns, pod_ns;
    const char *nvls; /**< curves of a node whose switches reduce, and the members that they need */
    int nvls_least;
} machines[] = {
    { "a100-80gb", "A100 80 GB", "a100-80gb", 300, 0.757, 0.8, 5643, 20000, NULL, 0 },
    { "a100-40gb", "A100 40 GB", "a100-40gb", 300, 0.757, 0.8, 5643, 20000, NULL, 0 },
    { "h100", "H100", "h100-80gb", 450, 0.81, 0.85, 18700, 25000, "hgx-h100-node", 5 },
    { "h100-96gb-hbm2e-500w", "H100 500 W", "h100-96gb-500w", 450, 0.81, 0.85, 18700, 25000, "hgx-h100-node",
      5 },
    { "h200", "H200", "h200", 450, 0.81, 0.85, 18700, 25000, "hgx-h100-node", 5 },
    { "h800", "H800", "h800", 200, 0.81, 0.85, 18700, 25000, NULL, 0 },
    { "b200", "B200", "b200", 900, 0.75, 0.85, 18700, 25000, "hgx-b200-node", 6 },
    { "b300", "B300", "b300", 900, 0.75, 0.85, 18700, 25000, "hgx-b200-node", 6 },
    { "gb200", "GB200", "gb200", 900, 0.75, 0.85, 18700, 25000, NULL, 0 },
    { "gb300", "GB300", "gb300", 900, 0.75, 0.85, 18700, 25000, NULL, 0 },
};

static const struct machine *machine_of(const char *gpu)
{
    for (size_t i = 0; i < COUNT_OF(machines); i++)
        if (strcmp(machines[i].gpu, gpu) == 0)
            return &machines[i];
    return NULL;
}

/* Do the axes lie along a node of so many GPUs: each inside what is left of it, or filling that? */
static bool fits_node(const struct reader *r, int64_t n)
{
    const char *const axes[] = { "tp", "cp", "dp", "pp" };
    for (size_t i = 0; i < COUNT_OF(axes); i++) {
        int64_t degree = row_count(r, axes[i], 1);
        if (n % degree && degree % n)
            return false;
        n = n % degree ? 1 : n / degree;
    }
    return true;
}

/* GPUs of a job that share NVLink: the largest part of the domain that divides the job and that its axes
 * fill; 64 of the 72 of a rack where degrees are powers of two. */
static int64_t inside(const struct reader *r, int64_t domain)
{
    int64_t gpus = r->m->gpus, n = domain < gpus ? domain : gpus;
    while (n > 1 && (gpus % n || !fits_node(r, n)))
        n--;
    return n;
}

/* Nodes of @p n GPUs by their NVLink, @p nodes of them by NICs. */
static void put_network(struct measured *m, int64_t n, int64_t nodes, double nic_GBps)
{
    const struct machine *x = machine_of(m->gpu);
    KEEP(struct text, net, text_free) = { 0 };
    bool a100 = strncmp(x->gpu, "a100", 4) == 0, is_h800 = strcmp(x->gpu, "h800") == 0;
    text_printf(&net, "{ npu: configs/npus/%s.yaml, dims: [ ", x->npu);
    if (n > 1)
        text_printf(&net,
                    "{ name: node, shape: switch, size: %lld, bw_GBps: %g, efficiency: %g, latency_ns: %d",
                    (long long)n, x->nvlink_GBps, x->node_share, x->node_ns);
    if (n > 1 && a100)
        text_puts(&net, ", algorithm: ring");
    if (n > 1 && !a100) /* NCCL's all-to-all; DeepEP and HybridEP */
        text_printf(&net, ", all_to_all_efficiency: 0.6, dispatch_efficiency: %s%s",
                    is_h800 ? "0.775" : "0.72", n & (n - 1) ? ", algorithm: bruck" : "");
    if (n == 8 && x->nvls)
        text_printf(&net, ", in_switch: nvls, in_switch_min: %d, curves: configs/curves/%s.yaml",
                    x->nvls_least, x->nvls);
    text_printf(&net, "%s", n > 1 ? nodes > 1 ? " }, " : " }" : "");
    if (nodes > 1)
        text_printf(
            &net, "{ name: pod, shape: switch, size: %lld, bw_GBps: %g, efficiency: %g, latency_ns: %d%s%s }",
            (long long)nodes, nic_GBps, x->pod_share, x->pod_ns,
            a100 || nodes & (nodes - 1) ? ", algorithm: ring" : "",
            a100 ? "" : ", all_to_all_efficiency: 0.75, dispatch_efficiency: 0.89");
    text_puts(&net, " ] }");
    snprintf(m->network_map, sizeof m->network_map, "%s", text_str(&net));
}

static bool map_network(const struct reader *r)
{
    struct measured *m = r->m;
    if (!machine_of(m->gpu)) {
        snprintf(m->fault, sizeof m->fault, "gpu is %s, which no file describes", m->gpu);
        return false;
    }
    if (m->gpus < 2) {
        snprintf(m->fault, sizeof m->fault, "one GPU alone, expected several");
        return false;
    }
    int64_t n = inside(r, row_count(r, "nvlink_domain", 8)), nodes = m->gpus / n;
    double nic_GBps = number(r, "scale_out_GBps_per_gpu");
    if (isnan(nic_GBps) && nodes > 1) {
        nic_GBps = 50;
        m->ignored |= 1U << GAP_NETWORK;
    }
    put_network(m, n, nodes, nic_GBps);
    return true;
}

/* ---- plan ---- */

enum { MOST_CHUNKS = 1024 };

/* Layers of each chunk in the model's order: "4,4,1+mtp+loss". */
static int32_t read_layout(int64_t out[MOST_CHUNKS], const char *text)
{
    int32_t n = 0;
    while (*text && n < MOST_CHUNKS) {
        char *end;
        out[n++] = strtoll(text, &end, 10);
        end += strcspn(end, ",");
        text = *end ? end + 1 : end;
    }
    return n;
}

static bool is_even(const int64_t *layers, int32_t n)
{
    for (int32_t i = 1; i < n; i++)
        if (layers[i] != layers[0])
            return false;
    return true;
}

static void put_stages(struct measured *m, const int64_t *layers, int32_t n)
{
    KEEP(struct text, list, text_free) = { 0 };
    for (int32_t i = 0; i < n; i++)
        text_printf(&list, "%s%lld", i ? ", " : "", (long long)layers[i]);
    PUT(m->parallel_map, "stages", "[ %s ]", text_str(&list));
}

/* Chunks as the row lists them. Where it does not and they are not equal: short ends, as Megatron-Core has
 * them, or, where that leaves the last without a layer, spread evenly. */
static void map_stages(const struct reader *r)
{
    KEEP(struct text, text, text_free) = { 0 };
    struct measured *m = r->m;
    int64_t pp = row_count(r, "pp", 1), vp = row_count(r, "vp", 1), all = row_count(r, "layers", 1);
    int64_t layers[MOST_CHUNKS], chunks = pp * vp;
    long_field(&text, r, "pipeline_layout");
    int32_t n = read_layout(layers, text_str(&text));
    PUT(m->parallel_map, "pp", "%lld", (long long)pp);
    if (pp == 1)
        return;
    if (vp > 1)
        PUT(m->parallel_map, "interleave", "%lld", (long long)vp);
    if (n == chunks ? is_even(layers, n) : all % chunks == 0)
        return;
    bool short_ends = (all + 2) % chunks == 0 || (all + chunks - 1) / chunks * (chunks - 1) < all;
    if (n != chunks && short_ends) {
        PUT(m->parallel_map, "ends", "short");
        return;
    }
    for (int32_t i = 0; i < chunks && i < MOST_CHUNKS && n != chunks; i++)
        layers[i] = (i + 1) * all / chunks - i * all / chunks;
    put_stages(m, layers, (int32_t)chunks);
}

/* Names of Megatron-Core's modules, and those of `recompute_ops`. */
static const char *const modules[][2] = {
    { "mla_up_proj", "mla_up" }, { "core_attn", "core" },        { "moe_act", "activation" },
    { "layernorm", "norm" },     { "shared_experts", "shared" }, { "mlp", "mlp" },
    { "moe", "experts" },
};

static void map_recompute(const struct reader *r)
{
    struct measured *m = r->m;
    char text[256], ops[128] = "";
    field(text, r, "recompute");
    if (is_unstated(r, "recompute") || strcmp(text, "none") == 0 || !*text)
        return;
    if (strncmp(text, "full", 4) == 0) {
        PUT(m->parallel_map, "recompute", "full");
        int64_t layers = strtoll(text + strcspn(text, "0123456789"), NULL, 10);
        if (layers > 0)
            PUT(m->parallel_map, "recompute_layers", "%lld", (long long)layers);
        return;
    }
    if (strstr(text, "per-op")) {
        PUT(m->parallel_map, "recompute", "sac");
        return;
    }
    for (const char *at = text + strcspn(text, " "); *at;) {
        at += strspn(at, " ");
        size_t n = strcspn(at, " ");
        for (size_t i = 0; i < COUNT_OF(modules) && n; i++)
            if (strlen(modules[i][0]) == n && strncmp(at, modules[i][0], n) == 0) {
                size_t used = strlen(ops);
                snprintf(ops + used, sizeof ops - used, "%s%s", used ? ", " : "", modules[i][1]);
            }
        at += n;
    }
    PUT_PLAN(r, "recompute_ops", "[ %s ]", ops);
}

static void map_precision(const struct reader *r)
{
    struct measured *m = r->m;
    m->precision = TOPO_BF16;
    if (is(r, "precision", "bf16") || is(r, "precision", "fp16"))
        return;
    is_unstated(r, "recipe");
    /* PyTorch's products with a scale a row are other kernels, of which no table has rates: left in bf16. */
    if (is(r, "recipe", "rowwise")) {
        m->ignored |= 1U << GAP_PRECISION;
        return;
    }
    m->precision = is(r, "recipe", "mxfp8") ? TOPO_MXFP8 : is(r, "precision", "fp4") ? TOPO_NVFP4 : TOPO_FP8;
    PUT_PLAN(r, "precision", "%s", topo_precision_words[m->precision]);
    if (is(r, "attention_precision", "fp8"))
        PUT_PLAN(r, "attention_precision", "fp8");
    /* torchtitan's commands do not ask for enable_fsdp_float8_all_gather, which is off by default. */
    int64_t bits = row_count(r, "gather_bits", has(r, "source", "torchtitan") ? 16 : 0);
    if (bits > 0 && row_count(r, "zero", 0) > 0)
        PUT_PLAN(r, "gather_bits", "%lld", (long long)bits);
}

static void map_experts(const struct reader *r)
{
    struct measured *m = r->m;
    if (row_count(r, "experts", 0) == 0)
        return;
    PUT(m->parallel_map, "ep", "%lld", (long long)row_count(r, "ep", 1));
    if (row_count(r, "etp", 1) > 1)
        PUT(m->parallel_map, "expert_tp", "true");
    is_unstated(r, "dispatcher");
    PUT_PLAN(r, "dispatcher", "%s", is(r, "dispatcher", "all-to-all") ? "all-to-all" : "merged");
    if (has(r, "overlap", "moe-a2a"))
        PUT_PLAN(r, "ep_overlap", "batch");
    /* Megatron-Bridge from 26.06 on Grace: epilogues hold permutation and casts. */
    if (strncmp(m->gpu, "gb", 2) == 0 && has(r, "source", "Bridge") && strcmp(m->release, "26.06") >= 0)
        PUT_PLAN(r, "ep_fused", "true");
}

/* Parts of an expert layer in graphs end at the dispatcher, for which the host waits: only a Grace host is
 * quick enough that they help. A whole step with NCCL's all-to-all in one graph is refused,
 * where tokens are not dropped; that it launches nothing is said by its figure. */
static void map_graphs(const struct reader *r)
{
    bool is_grace = strncmp(r->m->gpu, "gb", 2) == 0, experts = row_count(r, "experts", 0) > 0;
    is_unstated(r, "graphs_or_compile");
    if (is(r, "graphs_or_compile", "full-iteration") && experts && is(r, "dispatcher", "all-to-all"))
        PUT(r->m->parallel_map, "launch_us", "0");
    else if (is(r, "graphs_or_compile", "full-iteration"))
        PUT(r->m->parallel_map, "graph", "step");
    else if (has(r, "graphs_or_compile", "attn") && (is_grace || !experts))
        PUT(r->m->parallel_map, "graph", "attention");
}

/* "... 40 layers": their share of the activations; other state on the host has no key. */
static void map_offload(const struct reader *r)
{
    char text[256];
    field(text, r, "offload");
    if (!*text || strcmp(text, "none") == 0 || is_unstated(r, "offload"))
        return;
    double n = strtod(text + strcspn(text, "0123456789"), NULL);
    if (n > 0 || strstr(text, "activation"))
        PUT(r->m->parallel_map, "offload", "%g", n > 0 ? fmin(n / number(r, "layers"), 1) : 1);
    else
        r->m->ignored |= 1U << GAP_OFFLOAD;
}

static void map_software(const struct reader *r, const struct software *w)
{
    struct measured *m = r->m;
    const char *class = w->class;
    if (!class) {
        /* Launch floor of Megatron-LM of 2021. */
        PUT_PLAN(r, "launch_us", "1050");
        return;
    }
    if (strcmp(class, "compiled") == 0 && is(r, "graphs_or_compile", "eager"))
        class = "eager";
    PUT_PLAN(r, "software", "%s", class);
    /* MPT's loss is FlashAttention's fused one: logits and their gradient in 16 bits. */
    if (has(r, "source", "llm-foundry"))
        PUT_PLAN(r, "loss_peak_B", "4");
    /* torchtitan compiles the loss since 2025. */
    if (has(r, "source", "torchtitan") && has(r, "date_or_release", "2024"))
        PUT_PLAN(r, "loss_peak_B", "14");
    /* Recipes of DeepSeek-V3 keep the optimiser's moments in 16 bits (recipes/deepseek, exp_avg_dtype). */
    if (has(r, "source", "Megatron-Bridge") && strncmp(m->model, "deepseek", 8) == 0)
        PUT_PLAN(r, "moments_B", "4");
    /* What PyTorch reserves is 3 to 10 % more than it allocates: the middle. */
    if (is(r, "mem_kind", "reserved"))
        PUT_PLAN(r, "mem_margin", "0.065");
    /* MLPerf's runs have kernels tuned for their one model. */
    if (strncmp(m->model, "gpt-oss", 7) == 0 && has(r, "source", "mlcommons"))
        PUT(m->parallel_map, "sink", "fused");
    if (w->kernel && strncmp(m->gpu, "a100", 4) != 0)
        PUT_PLAN(r, "attention_kernel", "%s", w->kernel);
    else if (w->kernel)
        PUT_PLAN(r, "attention_kernel", "%s", strcmp(w->kernel, "fa1") ? "fa2" : "fa1");
    map_graphs(r);
    map_offload(r);
}

/* What overlaps: words of column `overlap`. Where it is not stated, as the source's others have it. */
static void map_overlap(const struct reader *r, const struct software *w)
{
    struct measured *m = r->m;
    bool unstated = is_unstated(r, "overlap");
    bool megatron = w->class && strcmp(w->class, "megatron") == 0;
    bool tp = has(r, "overlap", "tp") || (unstated && !is(r, "precision", "fp4"));
    /* MLPerf up to v4.1 says of overlap only that of tp; gradients may have overlapped. */
    bool dp = unstated || has(r, "overlap", "grad") || has(r, "overlap", "fsdp") ||
              (has(r, "source", "mlcommons") && !is(r, "overlap", "none"));
    /* Without the pieces of `tp` Megatron-Core still sums input gradients beside weight gradients. SimuMax
     * turns all overlap off. */
    bool beside = megatron && !has(r, "source", "SimuMax");
    PUT(m->parallel_map, "overlap_tp", "%s", tp && w->split_tp ? "split" : beside ? "backward" : "none");
    PUT(m->parallel_map, "overlap_dp", "%s", dp ? "true" : "false");
    /* Megatron-Core sends between stages beside computation where stages have several chunks. */
    if (megatron && row_count(r, "vp", 1) > 1)
        PUT(m->parallel_map, "overlap_pp", "true");
}

static bool map_row(const struct reader *r)
{
    struct measured *m = r->m;
    const struct software *w = software_of(r);
    int64_t tp = row_count(r, "tp", 1), cp = row_count(r, "cp", 1), zero = row_count(r, "zero", 0);
    if (!map_network(r))
        return false;
    PUT(m->parallel_map, "batch", "%lld", (long long)row_count(r, "global_batch", 1));
    PUT(m->parallel_map, "micro_batch", "%lld", (long long)row_count(r, "microbatch", 1));
    PUT(m->parallel_map, "tp", "%lld", (long long)tp);
    PUT(m->parallel_map, "cp", "%lld", (long long)cp);
    map_stages(r);
    PUT(m->parallel_map, "zero", "%lld", (long long)zero);
    /* torchtitan: FSDP under a pipeline keeps weights and exchanges gradients after the last microbatch. */
    if (has(r, "source", "torchtitan") && zero == 3 && row_count(r, "pp", 1) > 1) {
        PUT_PLAN(r, "reshard", "false");
        PUT_PLAN(r, "no_sync", "true");
    }
    /* Experts and tp go with sequence parallelism in Megatron, stated or not. */
    if (tp > 1 && (is(r, "seq_parallel", "1") || row_count(r, "experts", 0) > 0))
        PUT(m->parallel_map, "seq_parallel", "true");
    if (cp > 1 && w->context)
        PUT(m->parallel_map, "context", "%s", w->context);
    /* llm-foundry's mode PURE reduces in 16 bits, DEFAULT in 32 (note). */
    PUT(m->parallel_map, "grad_B", "%d", has(r, "note", "mode PURE") ? 2 : w->grad_B);
    map_overlap(r, w);
    map_experts(r);
    map_recompute(r);
    map_precision(r);
    map_software(r, w);
    m->told = !(m->ignored >> GAP_PRECISION & 1U);
    close_map(m->parallel_map, sizeof m->parallel_map);
    map_model(r, w);
    return true;
}

static void copy_field(char *out, size_t room, const struct reader *r, const char *column)
{
    char text[256];
    snprintf(out, room, "%s", field(text, r, column));
}

void measured_read(struct measured_rows *out, const char *path)
{
    KEEP(struct table, t, table_free) = { 0 };
    MUST(table_read_csv(&t, path, e));
    out->rows = realloc(out->rows, (size_t)(out->n + t.n_rows + 1) * sizeof *out->rows);
    assert_non_null(out->rows);
    for (int32_t i = 0; i < t.n_rows; i++) {
        struct measured *m = &out->rows[out->n++];
        *m = (struct measured){ .got_s = NAN, .got_B = NAN, .left_s = NAN };
        struct reader r = { &t, i, m };
        const double GiB = 1024. * 1024 * 1024;
        copy_field(m->table, sizeof m->table, &r, "table");
        copy_field(m->family, sizeof m->family, &r, "family");
        copy_field(m->model, sizeof m->model, &r, "model");
        copy_field(m->gpu, sizeof m->gpu, &r, "gpu");
        copy_field(m->release, sizeof m->release, &r, "date_or_release");
        m->check = is(&r, "check", "1");
        m->step_s = number(&r, "step_time_s");
        m->memory_B = GiB * number(&r, "mem_GiB_measured");
        m->reserved_B = GiB * number(&r, "mem_GiB_reserved");
        m->allocated = is(&r, "mem_kind", "allocated");
        m->gpus = row_count(&r, "gpus", 1);
        map_row(&r);
    }
}

/* arXiv 2205.05198 table 5, of tests/reference: it holds the A100's constants where vTrain is left out. */
void measured_add_korthikanti(struct measured_rows *x)
{
    KEEP(struct table, t, table_free) = { 0 };
    MUST(table_read_csv(&t, "tests/reference/train_korthikanti_table5.csv", e));
    x->rows = realloc(x->rows, (size_t)(x->n + t.n_rows) * sizeof *x->rows);
    assert_non_null(x->rows);
    for (int64_t i = 0; i < t.n_rows; i++) {
        struct measured *m = &x->rows[x->n++];
        struct reader r = { &t, i, m };
        int64_t gpus = row_count(&r, "gpus", 8);
        *m = (struct measured){ .table = "korthikanti",
                                .gpu = "a100-80gb",
                                .gpus = gpus,
                                .told = true,
                                .memory_B = NAN,
                                .reserved_B = NAN,
                                .got_s = NAN,
                                .got_B = NAN,
                                .left_s = NAN };
        copy_field(m->model, sizeof m->model, &r, "model");
        m->step_s = number(&r, "measured_iter_s");
        put_network(m, 8, gpus / 8, 25);
        snprintf(m->model_map, sizeof m->model_map, "configs/models/%s.yaml",
                 strstr(m->model, "22B")   ? "megatron-22b"
                 : strstr(m->model, "175") ? "gpt3-175b"
                 : strstr(m->model, "530") ? "megatron-530b"
                                           : "megatron-1t");
        bool selective = has(&r, "mode", "selective");
        snprintf(m->parallel_map, sizeof m->parallel_map,
                 "{ batch: %lld, micro_batch: %lld, tp: %lld, pp: %lld, interleave: %lld, recompute: %s, "
                 "seq_parallel: %s }",
                 (long long)row_count(&r, "global_batch", 1), (long long)row_count(&r, "microbatch", 1),
                 (long long)row_count(&r, "tp", 1), (long long)row_count(&r, "pp", 1),
                 (long long)row_count(&r, "interleave", 1), selective ? "selective" : "full",
                 selective ? "true" : "false");
    }
}

void measured_free(struct measured_rows *x)
{
    for (int32_t i = 0; i < x->n; i++)
        account_free(&x->rows[i].account);
    free(x->rows);
    *x = (struct measured_rows){ 0 };
}

/* ---- prices ---- */

int measured_open(struct design_point *s, const struct measured *m, struct err *e)
{
    const struct study_override set[] = {
        { "network", m->network_map },
        { "workload.model", m->model_map },
        { "workload.parallel", m->parallel_map },
    };
    return design_point_load(s, STUDY, set, COUNT_OF(set), DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH, e);
}

static int price(struct measured *m, struct err *e)
{
    KEEP(struct design_point, study, design_point_free) = { 0 };
    KEEP(struct design, d, design_free) = { 0 };
    int rc = measured_open(&study, m, e);
    if (rc)
        return rc;
    if ((rc = design_evaluate(&d, &study, NULL, e)))
        return rc;
    design_training_report(&m->report, &study, &study.workloads[0], &d.loads[0]);
    m->account = d.loads[0].account;
    d.loads[0].account = (struct account){ 0 };
    m->kind = evidence_kind_of(study.workloads[0].training, &study.net.npu);
    m->kind.npu = machine_of(m->gpu)->label;
    m->got_s = d.time_s;
    m->got_B = m->report.memory_B;
    return 0;
}

void measured_price(struct measured_rows *x)
{
    for (int32_t i = 0; i < x->n; i++) {
        struct measured *m = &x->rows[i];
        struct err e = { 0 };
        if (!m->fault[0] && price(m, &e))
            snprintf(m->fault, sizeof m->fault, "%s", e.msg);
    }
}
