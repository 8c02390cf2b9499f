/*
 * A plan of parallelism: degrees of TP, CP, DP, PP and EP, microbatches, schedule, recomputation, sharing,
 * overlap. Its keys, what makes one legal (with the nearest legal values in messages), its stages, and its
 * place in the network: axes fill the dimensions in the plan's order, innermost first, and groups follow from
 * axes.
 */
#include "workloads/plan.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "workloads/dispatch.h"
#include "workloads/step.h"

const char *const plan_axis_words[N_PLAN_AXES + 1] = { "tp", "cp", "dp", "pp" };
const char *const plan_group_words[N_PLAN_GROUPS + 1] = { "tp", "cp",    "ep",     "dp",       "experts",
                                                          "pp", "shard", "copies", "ep merged" };
const char *const plan_recompute_words[N_PLAN_RECOMPUTES + 1] = { "none", "selective", "full", "sac" };
const char *const plan_schedule_words[N_PLAN_SCHEDULES + 1] = { "1f1b", "gpipe", "zb1p", "dualpipe",
                                                                "dualpipev" };
const char *const plan_ends_words[N_PLAN_ENDS + 1] = { "equal", "short" };
const char *const plan_dispatcher_words[N_PLAN_DISPATCHERS + 1] = { "all-to-all", "merged" };
const char *const plan_ep_overlap_words[N_PLAN_EP_OVERLAPS + 1] = { "none", "shared", "batch" };
static const char *const sink_words[N_PLAN_SINKS + 1] = { "default", "apart", "fused" };
static const char *const ep_fused_words[] = { "default", "false", "true", NULL };
const char *const plan_context_words[N_PLAN_CONTEXTS + 1] = { "ring", "all-gather", "ulysses" };
const char *const plan_overlap_words[N_PLAN_OVERLAPS + 1] = { "none", "backward", "split" };
const char *const plan_op_words[N_PLAN_OPS + 1] = { "core",   "norm",   "activation", "mlp",
                                                    "mla_up", "shared", "experts" };
const char *const plan_kernel_words[N_PLAN_KERNELS + 1] = { "fused", "unfused", "fa1",   "fa2",
                                                            "fa3",   "cudnn",   "aiter", "splash" };
const char *const plan_graph_words[N_PLAN_GRAPHS + 1] = { "none", "attention", "step" };

/* Adam in mixed precision: mean and variance, and an fp32 master weight. Megatron-LM
 * theoretical_memory_usage.py. */
#define MOMENTS_B 8.0
#define MASTER_B  4.0

/* No parallelism, one sample, fp32 gradients; overlap as Megatron-LM has it. */
void plan_defaults(struct plan *p)
{
    *p = (struct plan){ .degree = { 1, 1, 1, 1 },
                        .ep = 1,
                        .batch = 1,
                        .batch_tokens = NAN,
                        .micro = 1,
                        .recompute_unit = 1,
                        .interleave = 1,
                        .overlap_tp = PLAN_OVERLAP_BACKWARD,
                        .overlap_dp = true,
                        .scatter_gather = true,
                        .reshard = true,
                        .sends = 2,
                        .grad_B = 4,
                        .dispatch_bits = 16,
                        .traffic = 1,
                        .kernel = PLAN_KERNEL_MODEL,
                        .software = PLAN_SOFTWARE_NONE,
                        .moments_B = MOMENTS_B,
                        .master_B = MASTER_B,
                        .elementwise = NAN,
                        .loss_B = NAN,
                        .loss_peak_B = NAN,
                        .launch_s = NAN,
                        .optimizer_B = NAN,
                        .jitter = NAN,
                        .order = { PLAN_TP, PLAN_CP, PLAN_DP, PLAN_PP } };
}

int64_t plan_microbatches(const struct plan *p)
{
    return p->batch / (p->degree[PLAN_DP] * p->micro);
}

/* ---- software ---- */

/* Kernels that are not compiled pass RMSNorm, SwiGLU and rotary positions in fp32 pieces, more of them than
 * LayerNorm and GELU. */
#define EAGER_GPT 2.6
/* Counted kernel by kernel in fp32 pieces, bytes an element forward and backward over fused ones: RMSNorm 40
 * and 80 (4 and 6), SwiGLU 10 and 18 (6 and 10), rotation 20 and 20 (4 and 4), sums alike; by Llama 3 8B's
 * widths, with the forward pass done again. */
#define EAGER_LLAMA 3.7

/* The slowest of N sets the step. 20 pairs of equal plans on more and fewer NPUs (8 to 2,304, three sources)
 * grow by 0.015 to 0.05 of sqrt(2 ln N), exchange of gradients that the model hides among it; levels ask for
 * less. Chosen on steps. */
#define JITTER 0.006

/* What a graph around the attention of every layer leaves of the launches: 1.6 of 4.0 ms. */
#define GRAPH_LEAVES 0.4

/* An optimiser that is not fused passes what FSDP shares out twice. */
#define EAGER_TWICE 2.0

/* The fused loss counts 8 bytes a logit, at 0.30 of memory's bandwidth: SimuMax measured 0.280 of 8000 GiB/s
 * with Transformer Engine's on B200. Streams reach 0.70 there, so it takes as long as these of them. */
#define LOSS_FUSED_B (8 * 0.70 / 0.30)

/*
 * Elementwise factors: compiled recomputes norms and rotary positions in fp32. Loss: bytes of fused, compiled
 * and eager kernels with fp32 copies; at its peak logits (2), fp32 copy (4), log-softmax (4) and gradient
 * (4): torch.compile of 2024 left the loss out (14), today it compiles it (5). Launches of a layer: chosen on
 * step times, weakly, as no dense run of these classes is bound by them. Optimiser: gradient and weight (10),
 * master weight and moments (30). MaxText is XLA's compiled kernels without launches from the host, as the
 * whole step is one program; Primus is Megatron-Core. The first row is Megatron-LM of 2021 to 2023 on A100,
 * whose loss goes by the model's attention: fused kernels, or fp32 copies.
 */
bool plan_is_2021(const struct plan *p)
{
    return p->software == PLAN_SOFTWARE_NONE || p->software == PLAN_MEGATRON_2021;
}

struct plan_class plan_class(const struct plan *p, const struct model *m)
{
    static const struct plan_class classes[N_PLAN_SOFTWARE] = {
        [PLAN_MEGATRON_2021] = { 1, 8, 4, 0, 0, 0, 44, 0 },
        [PLAN_MEGATRON] = { 1, LOSS_FUSED_B, 4, 0.9e-3, 4e-3, 10, 30, JITTER },
        [PLAN_COMPILED] = { 2.1, 20, 5, 0.7e-3, 4e-3, 10, 30, JITTER },
        [PLAN_EAGER] = { EAGER_LLAMA, 36, 14, 0.9e-3, 4e-3, 10, 30, JITTER },
        [PLAN_MAXTEXT] = { 2.1, 20, 5, 0, 0, 10, 30, 0 },
        [PLAN_PRIMUS] = { 1, LOSS_FUSED_B, 4, 0.9e-3, 4e-3, 10, 30, JITTER },
    };
    struct plan_class c = classes[plan_is_2021(p) ? (int32_t)PLAN_MEGATRON_2021 : p->software];
    if (p->software == PLAN_EAGER && m->norm == MODEL_LAYER_NORM)
        c.elementwise = EAGER_GPT;
    if (p->software == PLAN_EAGER && p->zero == 3)
        c.shared_B *= EAGER_TWICE;
    if (plan_is_2021(p) && m->attention == MODEL_UNFUSED)
        c.loss_B = 24;
    if (!isnan(p->elementwise))
        c.elementwise = p->elementwise;
    if (!isnan(p->loss_B))
        c.loss_B = p->loss_B;
    if (!isnan(p->loss_peak_B))
        c.loss_peak_B = p->loss_peak_B;
    if (!isnan(p->launch_s))
        c.launch_s = c.expert_launch_s = p->launch_s;
    if (!isnan(p->jitter))
        c.jitter = p->jitter;
    if (!isnan(p->optimizer_B)) {
        c.local_B = 0;
        c.shared_B = p->optimizer_B;
    }
    double started = p->graph == PLAN_GRAPH_STEP ? 0 : p->graph == PLAN_GRAPH_ATTENTION ? GRAPH_LEAVES : 1;
    c.launch_s *= started;
    c.expert_launch_s *= started;
    return c;
}

bool plan_sink_is_apart(const struct plan *p, const struct model *m)
{
    return m->sink && plan_is_fused(p, m) &&
           (p->sink == PLAN_SINK_APART || (p->sink == PLAN_SINK_BY_SOFTWARE && p->software == PLAN_MEGATRON));
}

bool plan_is_fused(const struct plan *p, const struct model *m)
{
    return p->kernel == PLAN_KERNEL_MODEL ? m->attention == MODEL_FLASH : p->kernel != PLAN_UNFUSED;
}

unsigned plan_ops(const struct plan *p, const struct model *m)
{
    if (p->recompute != PLAN_RECOMPUTE_SELECTIVE)
        return 0;
    if (p->recompute_ops)
        return p->recompute_ops;
    return plan_is_fused(p, m) ? 0 : 1U << PLAN_OP_CORE; /* fused attention keeps nothing to do again */
}

bool plan_is_partly_again(const struct plan *p)
{
    return p->recompute == PLAN_RECOMPUTE_FULL && p->recompute_layers > 0;
}

struct plan plan_once(const struct plan *p)
{
    struct plan once = *p;
    once.recompute = PLAN_RECOMPUTE_NONE;
    return once;
}

unsigned plan_model_ops(const struct model *m)
{
    unsigned ops = 1U << PLAN_OP_CORE | 1U << PLAN_OP_NORM | 1U << PLAN_OP_ACTIVATION;
    if (m->moe.experts == 0 || m->moe.dense_layers > 0 || m->moe.every > 1)
        ops |= 1U << PLAN_OP_MLP;
    if (m->mla.q_rank)
        ops |= 1U << PLAN_OP_MLA_UP;
    if (m->moe.experts)
        ops |= 1U << PLAN_OP_EXPERTS;
    return m->moe.experts && m->moe.shared ? ops | 1U << PLAN_OP_SHARED : ops;
}

double plan_reserve(const struct plan *p)
{
    return isnan(p->mem_margin) && p->software != PLAN_MAXTEXT ? PLAN_RESERVED : 0;
}

bool plan_is_pytorch(const struct plan *p)
{
    return p->software == PLAN_COMPILED || p->software == PLAN_EAGER;
}

bool plan_ends_early(const struct plan *p)
{
    bool compiled = p->software == PLAN_COMPILED || p->software == PLAN_MAXTEXT;
    return compiled && p->recompute == PLAN_RECOMPUTE_FULL;
}

/* DualPipe holds two stages twice without ZeRO, PyTorch's FSDP2 has kernels and copies of its own. */
bool plan_zero_is_idle(const struct plan *p, const struct model *m)
{
    int64_t shared = p->degree[PLAN_CP] * p->degree[PLAN_DP];
    int64_t experts = m->moe.experts ? shared * (p->expert_tp ? 1 : p->degree[PLAN_TP]) / p->ep : 1;
    return shared == 1 && experts == 1 && p->schedule != PLAN_DUALPIPE && !plan_is_pytorch(p);
}

double plan_peak(const struct plan *p, const struct topo_npu *npu)
{
    if (p->precision == TOPO_BF16)
        return npu->peak_flops;
    return p->precision == TOPO_NVFP4 ? npu->peak_4bit_flops : npu->peak_8bit_flops;
}

/* Scales of blocks of 32 and 16 elements are bytes. */
double plan_element_B(const struct plan *p)
{
    return topo_precision_B[p->precision];
}

/* nvfp4 keeps bf16 weights as well and gathers these: parameters are not gathered in 4 bits unless asked
 * (Megatron-Bridge). Blocks have scales. */
double plan_gather_B(const struct plan *p)
{
    static const double by_precision[N_TOPO_PRECISIONS] = { 2, 1, 1 + 1 / 32.0, 2 };
    if (p->gather_bits == 0)
        return by_precision[p->precision];
    return p->gather_bits == 4 ? 0.5 + 1 / 16.0 : (double)p->gather_bits / 8;
}

/* ---- stages ---- */

/*
 * Chunks whose ends are short. Where embedding and loss fill up the chunks evenly as a layer each, first and
 * last chunk have one layer less (Llama 3 405B: 126 + 2); else the last chunk has what the others leave
 * (DeepSeek-V3: 61 layers in 15 chunks of 4 and one of 1, beside its loss). Where that is less than nothing,
 * layers of multi-token prediction count too (the same in 32 chunks: 1, then 30 of 2, then none). All as in
 * Megatron-Bridge's recipes.
 */
static int64_t plan_short_chunk(const struct model *m, int64_t chunks, int64_t chunk)
{
    int64_t layers = m->layers, most = (layers + chunks - 1) / chunks, mtp = m->mtp;
    bool last = chunk == chunks - 1, left = layers >= most * (chunks - 1);
    if ((layers + 2) % chunks == 0)
        return (layers + 2) / chunks - (chunk == 0) - last;
    if (!left && (layers + 2 + mtp) % chunks == 0)
        return (layers + 2 + mtp) / chunks - (chunk == 0) - last * (1 + mtp);
    return last ? layers - most * (chunks - 1) : most;
}

int64_t plan_chunk_layers(const struct plan *p, const struct model *m, int64_t chunk)
{
    int64_t pp = p->degree[PLAN_PP], chunks = pp * p->interleave;
    if (p->layout.n)
        return p->layout.layers[chunk];
    if (p->ends == PLAN_ENDS_SHORT)
        return plan_short_chunk(m, chunks, chunk);
    if (chunk == 0 && p->first)
        return p->first;
    if (chunk == pp - 1 && p->last)
        return p->last;
    return (m->layers - p->first - p->last) / (chunks - (p->first > 0) - (p->last > 0));
}

/* Only the ends differ, unless the chunks are listed. */
static int64_t plan_layers_before(const struct plan *p, const struct model *m, int64_t chunk)
{
    int64_t sum = 0;
    if (p->layout.n)
        for (int64_t i = 0; i < chunk; i++)
            sum += p->layout.layers[i];
    else if (chunk)
        sum = plan_chunk_layers(p, m, 0) + (chunk > 1 ? (chunk - 1) * plan_chunk_layers(p, m, 1) : 0);
    return sum;
}

/* Layers of a stage. Only the first and last chunk of all differ, unless they are listed. */
static int64_t plan_stage_layers(const struct plan *p, const struct model *m, int64_t stage)
{
    int64_t pp = p->degree[PLAN_PP], v = p->interleave, sum = plan_chunk_layers(p, m, stage);
    if (v > 1)
        sum += plan_chunk_layers(p, m, (v - 1) * pp + stage);
    if (v > 2 && !p->layout.n)
        return sum + (v - 2) * plan_chunk_layers(p, m, pp + stage);
    for (int64_t row = 1; row < v - 1; row++)
        sum += plan_chunk_layers(p, m, row * pp + stage);
    return sum;
}

/* Of every chunk of the stage the first layers, and all of multi-token prediction, which Megatron-Core does
 * again apart. */
static void fill_again(struct plan_stage *s, const struct plan *p, const struct model *m)
{
    int64_t pp = p->degree[PLAN_PP], all = s->head ? m->mtp : 0, experts = m->moe.experts ? all : 0;
    for (int64_t chunk = s->at; chunk < pp * p->interleave; chunk += pp) {
        int64_t layers = plan_chunk_layers(p, m, chunk), begin = 0;
        int64_t again = layers < p->recompute_layers ? layers : p->recompute_layers;
        if (m->moe.experts)
            begin = plan_layers_before(p, m, chunk);
        experts += model_experts_before(m, begin + again) - model_experts_before(m, begin);
        all += again;
    }
    s->dense_again = all - experts;
    s->experts_again = experts;
}

/* Layers of a stage with and without experts; chunks of an interleaved pipeline go round the stages. */
static struct plan_stage fill_stage(const struct plan *p, const struct model *m, int64_t stage)
{
    int64_t pp = p->degree[PLAN_PP];
    struct plan_stage s = { .at = stage, .count = 1, .embed = stage == 0, .head = stage == pp - 1 };
    s.dense = plan_stage_layers(p, m, stage);
    for (int64_t chunk = stage; chunk < pp * p->interleave && m->moe.experts; chunk += pp) {
        int64_t begin = plan_layers_before(p, m, chunk), end = begin + plan_chunk_layers(p, m, chunk);
        s.experts += model_experts_before(m, end) - model_experts_before(m, begin);
    }
    s.dense -= s.experts;
    if (s.head) {
        s.mtp = m->mtp;
        *(m->moe.experts ? &s.experts : &s.dense) += m->mtp;
    }
    if (plan_is_partly_again(p))
        fill_again(&s, p, m);
    return s;
}

static bool is_alike(const struct plan_stage *a, const struct plan_stage *b)
{
    return a->dense == b->dense && a->experts == b->experts && a->embed == b->embed && a->head == b->head &&
           a->dense_again == b->dense_again && a->experts_again == b->experts_again;
}

/* Stages that are alike are kept once with a count. Beyond PLAN_MAX_STAGES kinds the last one takes the
 * larger numbers, so that times are not too short. */
static int32_t plan_add_stage(struct plan_stage *out, int32_t n, struct plan_stage s)
{
    for (int32_t i = 0; i < n; i++)
        if (is_alike(&out[i], &s)) {
            out[i].count += s.count;
            return n;
        }
    if (n < PLAN_MAX_STAGES) {
        out[n] = s;
        return n + 1;
    }
    struct plan_stage *last = &out[n - 1];
    last->count += s.count;
    last->dense = s.dense > last->dense ? s.dense : last->dense;
    last->experts = s.experts > last->experts ? s.experts : last->experts;
    last->dense_again = s.dense_again > last->dense_again ? s.dense_again : last->dense_again;
    last->experts_again = s.experts_again > last->experts_again ? s.experts_again : last->experts_again;
    last->head = last->head || s.head;
    last->mtp = s.mtp > last->mtp ? s.mtp : last->mtp;
    return n;
}

/* A pipeline of equal layers has at most three kinds of stages, found without going through all of them. */
int32_t plan_stages(struct plan_stage out[PLAN_MAX_STAGES], const struct plan *p, const struct model *m)
{
    int64_t pp = p->degree[PLAN_PP];
    int32_t n = 0;
    if (m->family != MODEL_TRANSFORMER) {
        out[0] = (struct plan_stage){ .count = 1, .embed = m->family == MODEL_DLRM, .head = true };
        return 1;
    }
    for (int64_t s = 0; s < pp; s++) {
        struct plan_stage stage = fill_stage(p, m, s);
        if (s == 1 && !m->moe.experts && !p->layout.n) { /* all up to the last are alike */
            stage.count = pp > 2 ? pp - 2 : 1;
            s += stage.count - 1;
        }
        n = plan_add_stage(out, n, stage);
    }
    return n;
}

/* ---- what divides what ---- */

/* Nearest divisors of `of` around value: "8 or 12". */
static void nearest_divisors(char out[64], int64_t value, int64_t of)
{
    int64_t below = value < of ? value : of, above = value;
    while (below > 1 && of % below)
        below--;
    while (above < of && of % above)
        above++;
    if (below < 1 || of % below)
        below = 1;
    if (above > of || below == above || above == value)
        snprintf(out, 64, "%lld", (long long)below);
    else
        snprintf(out, 64, "%lld or %lld", (long long)below, (long long)above);
}

static bool plan_fail(struct plan_fault *f, const char *key)
{
    if (f)
        f->key = key;
    return false;
}

#define FAULT(f, name, ...)                                                                                  \
    (((f) && !(f)->brief ? snprintf((f)->why, sizeof(f)->why, __VA_ARGS__) : 0), plan_fail(f, name))

/* value must divide `of`, which is `what`. */
static bool need_divisor(struct plan_fault *f, const char *key, int64_t value, int64_t of, const char *what)
{
    char near[64];
    if (of % value == 0)
        return true;
    if (!f || f->brief)
        return plan_fail(f, key);
    nearest_divisors(near, value, of);
    return FAULT(f, key, "is %lld, expected a divisor of %s, %lld (nearest: %s)", (long long)value, what,
                 (long long)of, near);
}

int64_t plan_inner(const struct plan *p, int64_t most)
{
    static const enum plan_axis axes[] = { PLAN_TP, PLAN_CP, PLAN_PP };
    int64_t product = 1;
    for (int i = 0; i < 3 && product <= most; i++)
        product *= p->degree[axes[i]];
    return product;
}

/* dp is what tp, cp and pp leave. The message names the first degree that does not divide. */
static bool check_degrees(const struct plan *p, int64_t n_npus, struct plan_fault *f)
{
    int64_t inner = plan_inner(p, n_npus);
    char near[64];
    if (n_npus % inner == 0 && p->degree[PLAN_DP] == n_npus / inner)
        return true;
    if (!f || f->brief)
        return plan_fail(f, "dp");
    if (n_npus % inner == 0)
        return FAULT(
            f, "dp", "is %lld, expected %lld, so that tp %lld, cp %lld, dp and pp %lld make %lld NPUs",
            (long long)p->degree[PLAN_DP], (long long)(n_npus / inner), (long long)p->degree[PLAN_TP],
            (long long)p->degree[PLAN_CP], (long long)p->degree[PLAN_PP], (long long)n_npus);
    /* Blame the first that does not divide what those before it leave. */
    int64_t left = n_npus;
    static const enum plan_axis axes[] = { PLAN_TP, PLAN_CP, PLAN_PP };
    for (int i = 0; i < 3; i++) {
        int64_t degree = p->degree[axes[i]];
        if (left % degree == 0) {
            left /= degree;
            continue;
        }
        nearest_divisors(near, degree, left);
        return FAULT(f, plan_axis_words[axes[i]],
                     "is %lld, which does not divide the %lld of %lld NPUs that are left (nearest: %s)",
                     (long long)degree, (long long)left, (long long)n_npus, near);
    }
    return plan_fail(f, "dp");
}

/* What tensor and context parallelism divide: heads, ffn, hidden, the sequence. */
static bool check_widths(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    int64_t tp = p->degree[PLAN_TP], cp = p->degree[PLAN_CP];
    if (!need_divisor(f, "tp", tp, m->heads, "heads"))
        return false;
    if (m->sink && (p->kernel == PLAN_FA1 || p->kernel == PLAN_FA2))
        return FAULT(f, "attention_kernel",
                     "is %s, which has no sinks; give unfused, fused, fa3, cudnn, aiter or splash",
                     plan_kernel_words[p->kernel]);
    if (p->sink && !(m->sink && plan_is_fused(p, m)))
        return FAULT(f, "sink", "is %s without fused attention that has sinks, expected default",
                     sink_words[p->sink]);
    if (m->kv_heads % tp && tp % m->kv_heads)
        return FAULT(f, "tp", "is %lld, expected a divisor or a multiple of kv_heads, %lld", (long long)tp,
                     (long long)m->kv_heads);
    if (!need_divisor(f, "tp", tp, m->ffn, "ffn") || !need_divisor(f, "tp", tp, m->hidden, "hidden") ||
        !need_divisor(f, "cp", cp, m->seq, "seq"))
        return false;
    if (m->moe.experts && m->moe.shared &&
        !need_divisor(f, "tp", tp, m->moe.shared * m->moe.ffn, "ffn of shared experts"))
        return false;
    return !m->moe.experts || !p->expert_tp || need_divisor(f, "tp", tp, m->moe.ffn, "ffn of experts");
}

/* What the ways of splitting a sequence ask for. */
static bool check_tokens(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    int64_t tp = p->degree[PLAN_TP], cp = p->degree[PLAN_CP];
    if (p->seq_parallel && m->seq / cp % tp)
        return FAULT(f, "seq_parallel",
                     "is true, expected tokens of a sequence, %lld, that divide by tp %lld",
                     (long long)(m->seq / cp), (long long)tp);
    if (p->context == PLAN_CP_ULYSSES && m->heads / tp % cp)
        return need_divisor(f, "cp", cp, m->heads / tp, "heads of one NPU");
    return true;
}

/* A list of chunks fills the stages and holds every layer once. */
static bool check_layout(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    int64_t pp = p->degree[PLAN_PP], sum = 0;
    if (p->layout.n != pp * p->interleave)
        return FAULT(f, "stages", "lists %d chunks, expected pp %lld times interleave %lld", (int)p->layout.n,
                     (long long)pp, (long long)p->interleave);
    for (int32_t i = 0; i < p->layout.n; i++)
        sum += p->layout.layers[i];
    return sum == m->layers || FAULT(f, "stages", "sums to %lld layers, expected the model's %lld",
                                     (long long)sum, (long long)m->layers);
}

static bool check_short(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    int64_t chunks = p->degree[PLAN_PP] * p->interleave;
    if (p->degree[PLAN_PP] == 1)
        return FAULT(f, "ends", "is short with pp 1, expected several stages");
    if (plan_chunk_layers(p, m, 0) >= 0 && plan_chunk_layers(p, m, chunks - 1) >= 0)
        return true;
    return FAULT(f, p->interleave > 1 ? "interleave" : "pp",
                 "makes %lld chunks of %lld layers, of which the last would have %lld; expected fewer, or "
                 "stages",
                 (long long)chunks, (long long)m->layers, (long long)plan_chunk_layers(p, m, chunks - 1));
}

/* First and last stage may have layers of their own (they also hold the embedding and the head); the other
 * stages share the rest evenly. */
static bool check_ends(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    int64_t pp = p->degree[PLAN_PP], others = pp - (p->first > 0) - (p->last > 0);
    int64_t rest = m->layers - p->first - p->last;
    const char *key = p->first ? "first_stage_layers" : "last_stage_layers";
    if (pp == 1 && p->first + p->last > 0)
        return FAULT(f, key, "is given with pp 1, expected several stages");
    if (others < 0 || rest < 0 || (others == 0 && rest > 0))
        return FAULT(f, key, "leaves %lld layers to %lld stages, expected as many as there are",
                     (long long)rest, (long long)others);
    if (others == 0 || (rest % others == 0 && rest > 0))
        return true;
    if (p->first + p->last > 0)
        return FAULT(f, "pp", "leaves %lld layers to %lld stages, expected a multiple", (long long)rest,
                     (long long)others);
    need_divisor(f, "pp", pp, m->layers, "layers");
    if (f && !f->brief) {
        size_t n = strlen(f->why);
        snprintf(f->why + n, sizeof f->why - n, "; or give ends: short, or stages");
    }
    return false;
}

/* Both directions of DualPipe have as many microbatches, and enough of them to fill every stage. */
static bool check_schedule(const struct plan *p, struct plan_fault *f)
{
    int64_t pp = p->degree[PLAN_PP], m = plan_microbatches(p);
    if (p->schedule <= PLAN_GPIPE)
        return true;
    const char *word = plan_schedule_words[p->schedule];
    if (pp == 1)
        return FAULT(f, "schedule", "is %s with pp 1, expected several stages", word);
    if (p->schedule == PLAN_ZB1P)
        return m >= pp || FAULT(f, "schedule", "is zb1p with %lld microbatches, expected at least pp, %lld",
                                (long long)m, (long long)pp);
    if (p->schedule == PLAN_DUALPIPE && (pp % 2 || m % 2))
        return FAULT(f, "schedule", "is dualpipe with pp %lld and %lld microbatches, expected even numbers",
                     (long long)pp, (long long)m);
    return m >= 2 * pp || FAULT(f, "schedule", "is %s with %lld microbatches, expected at least 2 pp, %lld",
                                word, (long long)m, (long long)(2 * pp));
}

/* DLRM and CNN are not cut into stages. */
static bool check_no_stages(const struct plan *p, struct plan_fault *f)
{
    const char *key = p->interleave > 1 ? "interleave"
                      : p->ends         ? "ends"
                      : p->layout.n     ? "stages"
                      : p->first        ? "first_stage_layers"
                      : p->last         ? "last_stage_layers"
                                        : NULL;
    return !key || FAULT(f, key, "is of transformers, which this model is not");
}

/* Interleaving needs 1F1B; its chunks need not be equal. */
bool plan_check_stages(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    int64_t pp = p->degree[PLAN_PP];
    if (m->family != MODEL_TRANSFORMER)
        return check_no_stages(p, f);
    if (p->interleave > 1 && pp == 1)
        return FAULT(f, "interleave", "is %lld with pp 1, expected 1 or several stages",
                     (long long)p->interleave);
    if (p->interleave > 1 && (p->schedule != PLAN_1F1B || p->first + p->last > 0))
        return FAULT(f, "interleave",
                     "is %lld, expected schedule 1f1b, and stages or ends for unequal chunks",
                     (long long)p->interleave);
    if (p->layout.n)
        return check_layout(p, m, f);
    if (p->ends == PLAN_ENDS_SHORT)
        return check_short(p, m, f);
    if (!check_ends(p, m, f))
        return false;
    return p->interleave == 1 ||
           need_divisor(f, "interleave", p->interleave, m->layers / pp, "layers of a stage");
}

/* What only experts have. */
static bool check_no_experts(const struct plan *p, struct plan_fault *f)
{
    static const char *const without = "for a model without experts, expected";
    if (p->ep != 1)
        return FAULT(f, "ep", "is %lld %s 1", (long long)p->ep, without);
    if (p->dispatcher)
        return FAULT(f, "dispatcher", "is merged %s all-to-all", without);
    if (p->node_limit)
        return FAULT(f, "node_limit", "is %lld %s 0", (long long)p->node_limit, without);
    if (p->dispatch_bits != 16)
        return FAULT(f, "dispatch_bits", "is %lld %s 16", (long long)p->dispatch_bits, without);
    if (p->ep_overlap)
        return FAULT(f, "ep_overlap", "is %s %s none", plan_ep_overlap_words[p->ep_overlap], without);
    if (p->ep_fused)
        return FAULT(f, "ep_fused", "is %s %s default", ep_fused_words[p->ep_fused], without);
    return true;
}

/* Experts are shared out over NPUs that hold different data. */
static bool check_groups(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    int64_t around = p->degree[PLAN_CP] * p->degree[PLAN_DP] * (p->expert_tp ? 1 : p->degree[PLAN_TP]);
    if (m->moe.experts == 0)
        return p->ep == 1 || check_no_experts(p, f);
    return need_divisor(f, "ep", p->ep, m->moe.experts, "experts") &&
           need_divisor(f, "ep", p->ep, around, p->expert_tp ? "cp * dp" : "tp * cp * dp");
}

/* Experts that stay where they are have nothing to dispatch. */
static bool check_no_dispatch(const struct plan *p, struct plan_fault *f)
{
    static const char *const without = "has no effect with ep 1; give ep, or leave it out";
    if (p->dispatcher)
        return FAULT(f, "dispatcher", "%s", without);
    if (p->ep_overlap)
        return FAULT(f, "ep_overlap", "%s", without);
    return p->dispatch_bits == 16 || FAULT(f, "dispatch_bits", "%s", without);
}

/* How tokens reach their experts. Without sequence parallelism every NPU of a tp group would send the same.
 */
static bool check_dispatch(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    if (m->moe.experts == 0)
        return check_no_experts(p, f);
    if (p->graph == PLAN_GRAPH_STEP && p->ep > 1 && p->dispatcher == PLAN_ALL_TO_ALL &&
        !(m->moe.capacity > 1))
        return FAULT(
            f, "graph",
            "is step, but dropless all-to-alls send counts of tokens through the host; give dispatcher "
            "merged, model.moe.capacity above 1, or graph attention");
    if (p->node_limit && p->dispatcher != PLAN_MERGED)
        return FAULT(f, "node_limit",
                     "has no effect on dispatcher all-to-all, which sends a copy for each expert");
    if (p->dispatch_bits != 16 && p->dispatch_bits != 8)
        return FAULT(f, "dispatch_bits", "is %lld, expected 16 or 8", (long long)p->dispatch_bits);
    if (p->ep_overlap == PLAN_EP_OVERLAP_SHARED && m->moe.shared == 0)
        return FAULT(f, "ep_overlap", "is shared for a model without shared experts, expected none or batch");
    if (p->degree[PLAN_TP] > 1 && !p->seq_parallel)
        return FAULT(f, "seq_parallel",
                     "is false with experts and tp %lld, expected true: else each token reaches its experts "
                     "%lld times",
                     (long long)p->degree[PLAN_TP], (long long)p->degree[PLAN_TP]);
    return p->ep > 1 || check_no_dispatch(p, f);
}

/* What is done again of some layers. */
static bool check_layers_again(const struct plan *p, struct plan_fault *f)
{
    const char *key = "recompute_layers";
    if (!plan_is_partly_again(p))
        return true;
    if (p->recompute_unit > 1)
        return FAULT(f, key, "is given together with recompute_unit; give one of them");
    if (p->schedule > PLAN_GPIPE)
        return FAULT(f, key, "is given with schedule %s, expected 1f1b or gpipe",
                     plan_schedule_words[p->schedule]);
    return p->ep_overlap != PLAN_EP_OVERLAP_BATCH ||
           FAULT(f, key,
                 "is given with ep_overlap batch, which Megatron-Core refuses; expected none or shared");
}

/* What ZeRO leaves to choose must have something to choose. */
bool plan_check_memory(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    if (m->family != MODEL_TRANSFORMER && p->recompute != PLAN_RECOMPUTE_NONE)
        return FAULT(f, "recompute", "is %s, expected none: this family is trained without",
                     plan_recompute_words[p->recompute]);
    int64_t all = p->degree[PLAN_CP] * p->degree[PLAN_DP];
    if (!check_layers_again(p, f))
        return false;
    if (!p->reshard && p->zero != 3)
        return FAULT(f, "reshard", "is false with zero %d, expected zero 3", (int)p->zero);
    if (p->no_sync && p->zero < 2)
        return FAULT(f, "no_sync", "is true with zero %d, expected zero 2 or 3", (int)p->zero);
    if (p->beside_share > 0 && (p->zero < 2 || !p->overlap_dp))
        return FAULT(f, "beside_share", "is %g with zero %d%s, expected zero 2 or 3 and overlap_dp",
                     p->beside_share, (int)p->zero, p->overlap_dp ? "" : " and no overlap_dp");
    if (p->gather_bits && !p->zero)
        return FAULT(f, "gather_bits", "is given with zero 0, where nothing is gathered");
    if (!p->shard)
        return true;
    if (p->zero == 0)
        return FAULT(f, "shard", "is %lld with zero 0, expected zero 1 to 3", (long long)p->shard);
    if (m->moe.experts)
        return FAULT(f, "shard", "is %lld for a model with experts, expected a dense one",
                     (long long)p->shard);
    return need_divisor(f, "shard", p->shard, all, "cp * dp");
}

/* Samples divide over dp. */
static bool check_batch(const struct plan *p, struct plan_fault *f)
{
    int64_t dp = p->degree[PLAN_DP];
    int64_t below = p->batch / dp * dp; /* the number of NPUs says what dp is: the batch has to give way */
    if (below == 0)
        return FAULT(f, "batch", "is %lld, expected a multiple of dp, %lld", (long long)p->batch,
                     (long long)dp);
    if (below != p->batch)
        return FAULT(f, "batch", "is %lld, expected a multiple of dp, %lld (nearest: %lld or %lld)",
                     (long long)p->batch, (long long)dp, (long long)below, (long long)(below + dp));
    return true;
}

/* Then into microbatches; an interleaved pipeline goes round in groups of pp of them. */
static bool check_micro(const struct plan *p, struct plan_fault *f)
{
    int64_t dp = p->degree[PLAN_DP], pp = p->degree[PLAN_PP];
    if (!need_divisor(f, "micro_batch", p->micro, p->batch / dp, "batch / dp"))
        return false;
    if (p->interleave > 1 && plan_microbatches(p) % pp)
        return FAULT(f, "interleave",
                     "is %lld with %lld microbatches, expected a multiple of pp %lld of them",
                     (long long)p->interleave, (long long)plan_microbatches(p), (long long)pp);
    return true;
}

/* DLRM and CNN are trained data-parallel here; embedding tables are spread, which is no key. */
static bool check_data_parallel(const struct plan *p, struct plan_fault *f)
{
    static const enum plan_axis others[] = { PLAN_TP, PLAN_CP, PLAN_PP };
    for (int i = 0; i < 3; i++)
        if (p->degree[others[i]] > 1)
            return FAULT(f, plan_axis_words[others[i]],
                         "is %lld, expected 1: this family is trained data-parallel",
                         (long long)p->degree[others[i]]);
    return p->ep == 1 || FAULT(f, "ep", "is %lld, expected 1: this family has no experts", (long long)p->ep);
}

bool plan_check_degrees(const struct plan *p, const struct model *m, int64_t n_npus, struct plan_fault *f)
{
    if (m->family != MODEL_TRANSFORMER && !check_data_parallel(p, f))
        return false;
    if (!check_degrees(p, n_npus, f))
        return false;
    if (m->family == MODEL_TRANSFORMER && (!check_widths(p, m, f) || !check_groups(p, m, f)))
        return false;
    return check_batch(p, f);
}

bool plan_check_options(const struct plan *p, const struct model *m, struct plan_fault *f)
{
    if (m->family != MODEL_TRANSFORMER && !check_no_experts(p, f))
        return false;
    if (!plan_check_stages(p, m, f))
        return false;
    if (m->family == MODEL_TRANSFORMER && (!check_tokens(p, m, f) || !check_dispatch(p, m, f)))
        return false;
    return check_micro(p, f) && check_schedule(p, f);
}

bool plan_check(const struct plan *p, const struct model *m, int64_t n_npus, struct plan_fault *f)
{
    return plan_check_degrees(p, m, n_npus, f) && plan_check_options(p, m, f) && plan_check_memory(p, m, f);
}

/* ---- as text ---- */

/* What it runs in and on, where that is not the default. */
static void plan_format_software(struct text *out, const struct plan *p)
{
    if (p->precision)
        text_printf(out, " %s", topo_precision_words[p->precision]);
    if (p->attention_fp8)
        text_puts(out, " attention-fp8");
    if (p->kernel >= 0)
        text_printf(out, " attention-%s", plan_kernel_words[p->kernel]);
    if (p->sink)
        text_printf(out, " sink-%s", sink_words[p->sink]);
    if (p->software >= 0)
        text_printf(out, " %s", topo_software_words[p->software]);
    if (p->graph)
        text_printf(out, " graph-%s", plan_graph_words[p->graph]);
    if (p->offload > 0)
        text_printf(out, " offload%.3g%%", 100 * p->offload);
}

static void plan_format_recompute(struct text *out, const struct plan *p)
{
    unsigned ops = p->recompute == PLAN_RECOMPUTE_SELECTIVE ? p->recompute_ops : 0;
    if (p->recompute && !ops)
        text_printf(out, " recompute-%s", plan_recompute_words[p->recompute]);
    if (plan_is_partly_again(p))
        text_printf(out, "%lld", (long long)p->recompute_layers);
    if (p->recompute == PLAN_RECOMPUTE_FULL && p->recompute_unit > 1)
        text_printf(out, "-by%lld", (long long)p->recompute_unit);
    const char *joint = " recompute-";
    for (unsigned op = 0; op < N_PLAN_OPS; op++)
        if (ops & 1U << op) {
            text_printf(out, "%s%s", joint, plan_op_words[op]);
            joint = "+";
        }
}

static void plan_format_experts(struct text *out, const struct plan *p)
{
    if (p->dispatcher)
        text_puts(out, " dispatch-merged");
    if (p->node_limit)
        text_printf(out, " nodes%lld", (long long)p->node_limit);
    if (p->dispatch_bits != 16)
        text_printf(out, " dispatch-%lldbit", (long long)p->dispatch_bits);
    if (p->ep_fused)
        text_puts(out, p->ep_fused == PLAN_EP_FUSED ? " experts-fused" : " experts-apart");
    if (p->ep_overlap)
        text_printf(out, " ep-overlap-%s", plan_ep_overlap_words[p->ep_overlap]);
}

void plan_format(struct text *out, const struct plan *p, const struct model *m)
{
    for (int i = 0; i < N_PLAN_AXES; i++)
        if (p->degree[p->order[i]] > 1)
            text_printf(out, "%s%lld ", plan_axis_words[p->order[i]], (long long)p->degree[p->order[i]]);
    if (p->ep > 1)
        text_printf(out, "ep%lld ", (long long)p->ep);
    text_printf(out, "mb%lldx%lld", (long long)p->micro, (long long)plan_microbatches(p));
    if (p->interleave > 1)
        text_printf(out, " interleave%lld", (long long)p->interleave);
    if (p->zero)
        text_printf(out, " zero%d", (int)p->zero);
    if (m->family != MODEL_TRANSFORMER)
        return;
    if (p->layout.n || p->ends == PLAN_ENDS_SHORT)
        text_puts(out, p->layout.n ? " stages-listed" : " ends-short");
    if (p->schedule)
        text_printf(out, " %s", plan_schedule_words[p->schedule]);
    plan_format_recompute(out, p);
    if (p->degree[PLAN_CP] > 1 && p->context)
        text_printf(out, " cp-%s", plan_context_words[p->context]);
    if (p->seq_parallel)
        text_puts(out, " sp");
    plan_format_experts(out, p);
    plan_format_software(out, p);
}

#define P_COUNT(f, key, ...)    K_COUNT(struct plan, f, key, __VA_ARGS__)
#define P_WORD(f, key, ...)     K_WORD(struct plan, f, key, __VA_ARGS__)
#define P_COUNT_OR(f, key, ...) K_COUNT_OR(struct plan, f, key, __VA_ARGS__)
#define P_BOOL(f, key, ...)     K_BOOL(struct plan, f, key, __VA_ARGS__)

static const char *const attention_precision_words[] = { "bf16", "fp8", NULL };

/* A schema_read_own: words as bits. */
static int read_ops(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    unsigned *out = field;
    *out = 0;
    int rc = list < 0 ? 0 : yaml_need(doc, list, YAML_SEQ, e);
    if (rc || list < 0)
        return rc;
    if (doc->nodes[list].n == 0)
        return yaml_fail(doc, list, e, ERR_RANGE, "has no entries, expected operators to do again");
    yaml_each (id, doc, list) {
        const char *word;
        unsigned op = 0;
        if ((rc = yaml_text(doc, id, &word, e)))
            return rc;
        while (op < N_PLAN_OPS && strcmp(word, k->words[op]) != 0)
            op++;
        if (op == N_PLAN_OPS)
            return yaml_fail(doc, id, e, ERR_PARSE,
                             "is %.40s, expected core, norm, activation, mlp, mla_up, shared or experts",
                             word);
        *out |= 1U << op;
    }
    return 0;
}

/* A schema_write_own; no operators: the key is absent. */
static void write_ops(struct json *j, const struct key *k, const void *field, bool always)
{
    unsigned ops = *(const unsigned *)field;
    (void)always;
    if (!ops)
        return;
    json_open(j, k->name, '[');
    for (unsigned op = 0; op < N_PLAN_OPS; op++)
        if (ops & 1U << op)
            json_text(j, NULL, k->words[op]);
    json_close(j, ']');
}

/* A schema_read_own. */
static int read_layout(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id list,
                       struct err *e)
{
    struct plan_layout *out = field;
    (void)k;
    out->n = 0;
    if (list < 0)
        return 0;
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (!rc && (doc->nodes[list].n < 1 || doc->nodes[list].n > PLAN_MAX_CHUNKS))
        rc = yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, expected 1 to %d", (int)doc->nodes[list].n,
                       PLAN_MAX_CHUNKS);
    if (rc)
        return rc;
    yaml_each (id, doc, list) {
        int64_t layers;
        if ((rc = yaml_count(doc, id, &layers, e)))
            return rc;
        if (layers < 0 || layers > UINT8_MAX)
            return yaml_fail(doc, id, e, ERR_RANGE, "is %lld, expected 0 to %d layers", (long long)layers,
                             UINT8_MAX);
        out->layers[out->n++] = (uint8_t)layers;
    }
    return 0;
}

/* A schema_write_own. */
static void write_layout(struct json *j, const struct key *k, const void *field, bool always)
{
    const struct plan_layout *l = field;
    (void)always;
    if (!l->n)
        return;
    json_open(j, k->name, '[');
    for (int32_t i = 0; i < l->n; i++)
        json_count(j, NULL, l->layers[i]);
    json_close(j, ']');
}

/* A schema_read_own: a permutation of the four axes. */
static int read_order(void *field, const struct key *k, const struct yaml_doc *doc, yaml_id list,
                      struct err *e)
{
    enum plan_axis *order = field;
    bool seen[N_PLAN_AXES] = { 0 };
    for (int i = 0; i < N_PLAN_AXES; i++)
        order[i] = (enum plan_axis)i;
    int rc = list < 0 ? 0 : yaml_need(doc, list, YAML_SEQ, e);
    if (rc || list < 0)
        return rc;
    if (doc->nodes[list].n != N_PLAN_AXES)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, expected tp, cp, dp and pp in some order",
                         (int)doc->nodes[list].n);
    yaml_each (id, doc, list) {
        const char *word;
        int axis = 0;
        if ((rc = yaml_text(doc, id, &word, e)))
            return rc;
        while (axis < N_PLAN_AXES && strcmp(word, k->words[axis]) != 0)
            axis++;
        if (axis == N_PLAN_AXES || seen[axis])
            return yaml_fail(doc, id, e, ERR_PARSE, "is %s, expected %s", word,
                             axis == N_PLAN_AXES ? "tp, cp, dp or pp" : "each of tp, cp, dp and pp once");
        seen[axis] = true;
        order[doc->nodes[id].index] = (enum plan_axis)axis;
    }
    return 0;
}

/* A schema_write_own. */
static void write_order(struct json *j, const struct key *k, const void *field, bool always)
{
    const enum plan_axis *order = field;
    bool usual = true;
    for (int i = 0; i < N_PLAN_AXES; i++)
        usual = usual && order[i] == (enum plan_axis)i;
    if (usual && !always)
        return;
    json_open(j, k->name, '[');
    for (int i = 0; i < N_PLAN_AXES; i++)
        json_text(j, NULL, k->words[order[i]]);
    json_close(j, ']');
}

static const struct key plan_keys[] = {
    P_COUNT(degree[PLAN_TP], "tp", 1, TOPO_MAX_NPUS, 1, "tensor parallelism: NPUs that share every matrix",
            .always = true),
    P_COUNT(degree[PLAN_CP], "cp", 1, TOPO_MAX_NPUS, 1, "context parallelism: NPUs that share a sequence",
            .always = true),
    K_COUNT_OR(struct plan, degree[PLAN_DP], "dp", 1, TOPO_MAX_NPUS, -1,
               "data parallelism (default: what is left)"),
    P_COUNT(degree[PLAN_PP], "pp", 1, TOPO_MAX_NPUS, 1, "pipeline parallelism: stages", .always = true),
    P_COUNT(ep, "ep", 1, TOPO_MAX_NPUS, 1, "expert parallelism, on NPUs of tp, cp and dp", .always = true),
    P_BOOL(expert_tp, "expert_tp", false, "true: experts are split over tp too, and ep has none of its NPUs"),
    P_WORD(dispatcher, "dispatcher", plan_dispatcher_words, PLAN_ALL_TO_ALL,
           "how tokens go to experts: a copy for each (NCCL), or one for each node and NPU (merged: DeepEP)"),
    P_WORD(ep_fused, "ep_fused", ep_fused_words, PLAN_EP_BY_SOFTWARE,
           "true: permutation, activation and casts of experts are in their products' kernels; false: "
           "kernels of their "
           "own (default: by software, which has their own; without it all are counted once)"),
    P_COUNT(node_limit, "node_limit", 0, TOPO_MAX_NPUS, 0,
            "dispatcher merged: nodes that hold the experts of a token, at most (default: 0, as "
            "model.moe.groups has it)"),
    P_COUNT(dispatch_bits, "dispatch_bits", 8, 16, 16,
            "bits of an element on its way to the experts, 16 or 8 (with scales); it has 16 on the way back"),
    P_WORD(ep_overlap, "ep_overlap", plan_ep_overlap_words, PLAN_EP_OVERLAP_NONE,
           "what overlaps the exchange of tokens: shared experts, or compute of another microbatch (batch)"),
    K_COUNT_OR(struct plan, batch, "batch", 1, 1e12, -1, "sequences (samples) of one step, over all NPUs"),
    K_REAL_OR(struct plan, batch_tokens, "batch_Mtokens", "Mtoken", 1e6, 1e-6, 1e12, NAN,
              "instead: millions of tokens of one step, to the nearest whole sequence of the model's seq"),
    P_COUNT(micro, "micro_batch", 1, 1e12, 1,
            "sequences of one microbatch (default: 1, of a DLRM or CNN all of batch / dp)", .always = true),
    P_WORD(schedule, "schedule", plan_schedule_words, PLAN_1F1B, "schedule of the pipeline (default: 1f1b)",
           .always = true),
    P_COUNT(interleave, "interleave", 1, 10000, 1, "chunks of layers per stage", .always = true),
    P_WORD(ends, "ends", plan_ends_words, PLAN_ENDS_EQUAL,
           "short: embedding and loss count as a layer each where that fills the chunks, else the last chunk "
           "has fewer",
           .always = true),
    K_OWN(struct plan, layout, "stages", read_layout,
          "list of the layers of every chunk in the model's order, chunk i on stage i mod pp",
          .write = write_layout, .form = "list of counts"),
    P_COUNT(first, "first_stage_layers", 1, MODEL_MAX_LAYERS, 0,
            "layers of the first stage (default: as many as other stages)"),
    P_COUNT(last, "last_stage_layers", 1, MODEL_MAX_LAYERS, 0,
            "layers of the last stage (default: as many as other stages)"),
    P_BOOL(seq_parallel, "seq_parallel", false, "true: norms and residuals are split over tp as well",
           .always = true),
    P_WORD(recompute, "recompute", plan_recompute_words, PLAN_RECOMPUTE_NONE,
           "what the backward pass computes again: attention scores or recompute_ops (selective), all of a "
           "layer (full), every second product and all elementwise kernels (sac: PyTorch)",
           .always = true),
    K_OWN(struct plan, recompute_ops, "recompute_ops", read_ops,
          "with recompute selective: list of core, norm, activation, mlp, mla_up, shared, experts",
          .words = plan_op_words, .write = write_ops, .form = "list of words"),
    P_COUNT(recompute_layers, "recompute_layers", 1, MODEL_MAX_LAYERS, 0,
            "with recompute full: number of layers of each chunk that are recomputed, the first ones "
            "(default: all)"),
    P_COUNT(recompute_unit, "recompute_unit", 1, MODEL_MAX_LAYERS, 1,
            "with recompute full: layers recomputed together, from one kept input"),
    K_REAL(struct plan, offload, "offload", "", 1, 0, 1, 0,
           "share of the kept activations that go to the host and come back, by npu.host_GBps"),
    P_COUNT(zero, "zero", 0, 3, 0,
            "what data parallelism shards: 1 optimiser states, 2 gradients too, 3 parameters too (FSDP)",
            .always = true),
    K_COUNT_OR(struct plan, shard, "shard", 2, TOPO_MAX_NPUS, 0,
               "neighbouring NPUs of cp and dp that zero shards over; other such groups hold copies (HSDP; "
               "default: all)"),
    P_BOOL(reshard, "reshard", true,
           "with zero 3; false: parameters stay gathered through a step, as zero 2 leaves them"),
    P_BOOL(no_sync, "no_sync", false,
           "with zero 2 and 3; true: gradients are summed up locally and exchanged once a step"),
    K_REAL(struct plan, beside_share, "beside_share", "", 1, 0, 1, 0,
           "overlapped exchange of zero 2 and 3: share of its time that slows the pass down"),
    P_WORD(context, "context", plan_context_words, PLAN_CP_RING, "how cp exchanges keys and values",
           .always = true),
    P_WORD(overlap_tp, "overlap_tp", plan_overlap_words, PLAN_OVERLAP_BACKWARD,
           "traffic of tp that overlaps computation: none, beside weight gradients, or forward too in 4 "
           "pieces (PyTorch: none, or asynchronous tp by split)"),
    P_BOOL(overlap_dp, "overlap_dp", true, "false: gradients wait for the end of the backward pass"),
    P_BOOL(overlap_pp, "overlap_pp", false, "true: sends of the pipeline run beside its passes"),
    P_BOOL(scatter_gather, "scatter_gather", true, "false: each of a tp group sends a stage's whole output"),
    P_COUNT(sends, "sends", 0, 16, 2, "exposed messages of a stage per microbatch, forward and backward"),
    P_COUNT(grad_B, "grad_B", 2, 4, 4, "bytes of a gradient, 4 or 2"),
    K_REAL(struct plan, overhead_s, "step_overhead_s", "s", 1, 0, 1e6, 0,
           "fixed time of a step, whatever its size (software)"),
    P_WORD(precision, "precision", topo_precision_words, TOPO_BF16,
           "precision of linear layers; logits, router and attention stay in 16 bits (default: bf16)",
           .always = true),
    P_WORD(attention_fp8, "attention_precision", attention_precision_words, 0,
           "fp8: forward products of fused attention in 8 bits (default: bf16)"),
    K_WORD_OR(struct plan, kernel, "attention_kernel", plan_kernel_words, PLAN_KERNEL_MODEL,
              "kernel that computes attention (default: as the model says; fused: the first of "
              "npu.attention_kernels)"),
    P_WORD(sink, "sink", sink_words, PLAN_SINK_BY_SOFTWARE,
           "of attention with sinks: a pass over all scores of its own (apart), or in the kernel (fused; "
           "default: by software, apart with megatron)"),
    K_WORD_OR(struct plan, software, "software", topo_software_words, PLAN_SOFTWARE_NONE,
              "class of elementwise kernels, loss, optimiser and launches (default: npu.software, else "
              "megatron-2021: Megatron-LM on A100, whose host never waits)"),
    K_REAL_OR(struct plan, elementwise, "elementwise", "", 1, 0.1, 100, NAN,
              "bytes of elementwise kernels of a layer over those of fused ones (default: by software)"),
    K_REAL_OR(struct plan, loss_B, "loss_B", "B", 1, 0, 1000, NAN,
              "bytes that the loss reads and writes per logit, both passes (default: by software)"),
    K_REAL_OR(struct plan, loss_peak_B, "loss_peak_B", "B", 1, 0, 1000, NAN,
              "bytes that the loss holds per logit at its peak, 14 where torch.compile leaves it out "
              "(default: by software)"),
    K_REAL_OR(struct plan, launch_s, "launch_us", "us", 1e-6, 0, 1e6, NAN,
              "least time of a forward pass of a layer, backward 1.3 times it (default: by software)"),
    K_REAL_OR(
        struct plan, optimizer_B, "optimizer_B", "B", 1, 0, 1000, NAN,
        "bytes that the optimiser reads and writes per parameter that it updates (default: by software)"),
    P_WORD(graph, "graph", plan_graph_words, PLAN_GRAPH_NONE,
           "what runs as one CUDA graph, without launches (default: none)"),
    P_COUNT_OR(gather_bits, "gather_bits", 4, 16, 0,
               "bits of the parameters that zero gathers: 16, 8 or 4 (default: by precision)"),
    K_REAL(struct plan, moments_B, "moments_B", "B", 1, 0, 16, MOMENTS_B,
           "bytes of both moments of the optimiser, per parameter"),
    K_REAL(struct plan, master_B, "master_B", "B", 1, 0, 8, MASTER_B,
           "bytes of the master weight, per parameter"),
    K_REAL_OR(struct plan, jitter, "jitter", "", 1, 0, 1, NAN,
              "relative spread of NPUs' compute: the slowest of N takes 1 + jitter sqrt(2 ln N) of it "
              "(default: by software)"),
    K_REAL_OR(struct plan, mem_margin, "mem_margin", "", 1, 0, 1, NAN,
              "memory reserved beyond what is allocated, a share of that (default: not counted, but a search "
              "leaves the 5 % that PyTorch reserves, and other plans without it are tight)"),
    K_REAL(struct plan, context_B, "context_GB", "GB", 1e9, 0, 1e3, 0,
           "memory of the driver's context and of communicators"),
    K_OWN(struct plan, order, "order", read_order,
          "list of tp, cp, dp and pp, the innermost first (default: in this order (Megatron))",
          .words = plan_axis_words, .write = write_order, .always = true, .form = "list of words"),
};

K_SECTION(plan_section, struct plan, "parallel", plan_keys, "how a model is spread over the NPUs");

/* Where a key is, or where the map is that does not have it. */
static int plan_fail_at(const struct yaml_doc *doc, yaml_id map, const char *key, const char *why,
                        struct err *e)
{
    yaml_id id = yaml_get(doc, map, key);
    return id >= 0 ? yaml_fail(doc, id, e, ERR_RANGE, "%s", why)
                   : yaml_fail(doc, map, e, ERR_RANGE, "%s %s", key, why);
}

bool plan_check_place(const struct plan_place *place, const struct plan *p, const struct model *m,
                      const struct topo_network *net, struct plan_fault *f)
{
    const struct dispatch x = { (double)m->moe.experts, (double)m->moe.top_k, 0, 0 };
    double ignored[TOPO_MAX_DIMS];
    if (p->dispatcher == PLAN_MERGED && net->ideal)
        return FAULT(f, "dispatcher",
                     "is merged on a graph of its own, which has no nodes; expected all-to-all");
    if (p->node_limit == 0)
        return true;
    int64_t nodes = dispatch_share(ignored, &x, place->members[PLAN_GROUP_MERGED], net);
    double reached = (double)p->node_limit * x.experts / (double)nodes;
    if (p->node_limit > nodes)
        return FAULT(f, "node_limit", "is %lld, expected at most the %lld nodes that ep %lld takes",
                     (long long)p->node_limit, (long long)nodes, (long long)p->ep);
    return reached >= x.top_k ||
           FAULT(f, "node_limit", "is %lld, whose %.0f experts are fewer than top_k, %.0f",
                 (long long)p->node_limit, reached, x.top_k);
}

/* Do the axes lie along the dimensions, and experts over the nodes that keys name? */
static int check_map(const struct plan *p, const struct model *m, const struct topo_network *net,
                     const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct plan_place place;
    struct plan_fault fault = { 0 };
    struct err inner = { 0 };
    char key[8] = "";
    if (!plan_map(&place, p, net, &inner))
        return plan_check_place(&place, p, m, net, &fault) ? 0
                                                           : plan_fail_at(doc, map, fault.key, fault.why, e);
    size_t n = strcspn(inner.msg, ":");
    if (n < sizeof key)
        memcpy(key, inner.msg, n);
    return plan_fail_at(doc, map, key, inner.msg + n + 2, e);
}

/* Operators that are named but are not in the model, or in a plan that does not do operators again. */
static int check_ops(struct plan *p, const struct model *m, const struct yaml_doc *doc, yaml_id map,
                     struct err *e)
{
    static const char *const what[N_PLAN_OPS] = { [PLAN_OP_MLP] = "dense layers",
                                                  [PLAN_OP_MLA_UP] = "low-rank attention",
                                                  [PLAN_OP_SHARED] = "shared experts",
                                                  [PLAN_OP_EXPERTS] = "experts" };
    if (!p->recompute_ops)
        return 0;
    if (yaml_get(doc, map, "recompute") < 0)
        p->recompute = PLAN_RECOMPUTE_SELECTIVE;
    if (p->recompute != PLAN_RECOMPUTE_SELECTIVE)
        return yaml_fail_key(doc, yaml_get(doc, map, "recompute_ops"), e, ERR_PARSE,
                             "is given with recompute %s, expected selective",
                             plan_recompute_words[p->recompute]);
    unsigned missing = p->recompute_ops & ~plan_model_ops(m);
    for (unsigned op = 0; op < N_PLAN_OPS; op++)
        if (missing & 1U << op)
            return yaml_fail_key(doc, yaml_get(doc, map, "recompute_ops"), e, ERR_RANGE,
                                 "names %s, but the model has no %s", plan_op_words[op], what[op]);
    return 0;
}

/* Layers that are named in a plan that does not do them again. */
static int settle_layers_again(struct plan *p, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    yaml_id at = yaml_get(doc, map, p->recompute_layers ? "recompute_layers" : "recompute_unit");
    if (at < 0)
        return 0;
    if (yaml_get(doc, map, "recompute") < 0)
        p->recompute = PLAN_RECOMPUTE_FULL;
    return p->recompute == PLAN_RECOMPUTE_FULL
               ? 0
               : yaml_fail_key(doc, at, e, ERR_PARSE, "is given with recompute %s, expected full",
                               plan_recompute_words[p->recompute]);
}

/* Keys that ask for what the NPU, the model or the rest of the plan does not have. */
static int check_software(const struct plan *p, const struct model *m, const struct topo_npu *npu,
                          const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const layers_only[] = {
        "attention_kernel", "attention_precision", "software", "loss_peak_B", "elementwise",
        "loss_B",           "launch_us",           "graph",    "offload",     "recompute_ops",
        "recompute_layers", "recompute_unit"
    };
    for (size_t i = 0; i < sizeof layers_only / sizeof *layers_only; i++)
        if (m->family != MODEL_TRANSFORMER && yaml_get(doc, map, layers_only[i]) >= 0)
            return yaml_fail_key(doc, yaml_get(doc, map, layers_only[i]), e, ERR_PARSE,
                                 "is of transformers, which this model is not");
    struct plan bare = *p;
    bare.graph = PLAN_GRAPH_NONE;
    if (p->graph != PLAN_GRAPH_NONE && !(plan_class(&bare, m).launch_s > 0))
        return yaml_fail_key(doc, yaml_get(doc, map, "graph"), e, ERR_RANGE,
                             "is %s, which saves launches; give software or launch_us",
                             plan_graph_words[p->graph]);
    if (p->precision != TOPO_BF16 && isnan(topo_npu_peak(npu, (enum topo_precision)p->precision)))
        return plan_fail_at(doc, map, "precision",
                            p->precision == TOPO_NVFP4
                                ? "is nvfp4, which the NPU does not have; give network.npu.peak_4bit_TFLOPS"
                            : isnan(npu->peak_8bit_flops) ? "is of 8 bits, which the NPU does not have; give "
                                                            "network.npu.peak_8bit_TFLOPS"
                            : p->precision == TOPO_FP8
                                ? "is fp8, which the NPU does not have: its network.npu.fp8_share is 0"
                                : "is mxfp8, which the NPU does not have: its network.npu.mxfp8_share is 0",
                            e);
    if (p->attention_fp8 && !plan_is_fused(p, m))
        return plan_fail_at(doc, map, "attention_precision",
                            "is fp8, expected bf16 where attention is not fused", e);
    if (p->offload > 0 && isnan(npu->host_Bps))
        return plan_fail_at(doc, map, "offload", "needs network.npu.host_GBps, which is not given", e);
    if (p->gather_bits && p->gather_bits != 4 && p->gather_bits != 8 && p->gather_bits != 16)
        return plan_fail_at(doc, map, "gather_bits", "is not a width that is gathered, expected 16, 8 or 4",
                            e);
    return 0;
}

/* Sequences of a step, given as such or by their tokens. */
static int settle_batch(struct plan *p, const struct model *m, const struct yaml_doc *doc, yaml_id map,
                        struct err *e)
{
    bool tokens = !isnan(p->batch_tokens);
    if (tokens && p->batch > 0)
        return plan_fail_at(doc, map, "batch_Mtokens", "is given together with batch; give one of them", e);
    if (tokens && m->family != MODEL_TRANSFORMER)
        return plan_fail_at(doc, map, "batch_Mtokens", "is for models of sequences; give batch", e);
    if (!tokens && p->batch < 0)
        return yaml_fail(doc, map, e, ERR_PARSE, "has no batch; give batch or batch_Mtokens");
    if (!tokens)
        return 0;
    p->batch = llround(p->batch_tokens / (double)m->seq);
    p->batch_tokens = NAN;
    return p->batch > 0
               ? 0
               : plan_fail_at(doc, map, "batch_Mtokens", "is less than half a sequence of the model", e);
}

/* With @p check false the plan is a pattern for the search: degrees may not fit together yet. */
int plan_read(struct plan *p, const struct model *m, const struct topo_network *net, bool check,
              const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct plan_fault fault = { 0 };
    plan_defaults(p);
    int rc = schema_read(p, &plan_section, doc, map, e);
    rc = rc ? rc : settle_batch(p, m, doc, map, e);
    if (rc)
        return rc;
    if (p->software == PLAN_SOFTWARE_NONE && m->family == MODEL_TRANSFORMER)
        p->software = net->npu.software;
    if (p->layout.n && (p->first + p->last > 0 || p->ends == PLAN_ENDS_SHORT))
        return plan_fail_at(doc, map, p->ends == PLAN_ENDS_SHORT ? "ends" : "stages",
                            "is given together with another layout of stages; give one of them", e);
    if (p->ends == PLAN_ENDS_SHORT && p->first + p->last > 0)
        return plan_fail_at(doc, map, "ends",
                            "is short beside first_stage_layers or last_stage_layers; give one of them", e);
    rc = check_ops(p, m, doc, map, e);
    if (!rc)
        rc = settle_layers_again(p, doc, map, e);
    if (!rc)
        rc = check_software(p, m, &net->npu, doc, map, e);
    if (rc)
        return rc;
    if (p->grad_B == 3)
        return plan_fail_at(doc, map, "grad_B", "is 3, expected 2 or 4", e);
    if (p->degree[PLAN_DP] < 0) {
        int64_t inner = plan_inner(p, net->n_npus);
        p->degree[PLAN_DP] = net->n_npus >= inner ? net->n_npus / inner : 1;
    }
    if (p->layout.n && yaml_get(doc, map, "interleave") < 0 && p->layout.n % p->degree[PLAN_PP] == 0)
        p->interleave = p->layout.n / p->degree[PLAN_PP];
    int64_t samples = p->batch / p->degree[PLAN_DP];
    if (m->family != MODEL_TRANSFORMER && yaml_get(doc, map, "micro_batch") < 0 && samples > 0)
        p->micro = samples;
    if (!check)
        return 0;
    if (!plan_check(p, m, net->n_npus, &fault))
        return plan_fail_at(doc, map, fault.key, fault.why, e);
    return check_map(p, m, net, doc, map, e);
}

/* A part of a dimension that an axis takes. */
struct plan_cell {
    int32_t dim, members, stride;
};

/* What the axes in `wanted` take, innermost first. */
static int32_t list_cells(struct plan_cell *cells, const struct plan *p, const struct plan_place *place,
                          const int32_t (*stride)[TOPO_MAX_DIMS], int32_t n_dims, unsigned wanted)
{
    int32_t n = 0;
    for (int i = 0; i < N_PLAN_AXES; i++) {
        enum plan_axis axis = p->order[i];
        if (!(wanted & 1U << axis))
            continue;
        for (int32_t d = 0; d < n_dims; d++)
            if (place->axis[axis][d] > 1)
                cells[n++] = (struct plan_cell){ d, place->axis[axis][d], stride[axis][d] };
    }
    return n;
}

static void clear_group(struct plan_place *place, enum plan_group g)
{
    for (int32_t d = 0; d < TOPO_MAX_DIMS; d++)
        place->members[g][d] = place->stride[g][d] = 1;
}

/* A group takes what another cell of the same dimension leaves beside it; the distance is that of the inner.
 */
static void add_cell(struct plan_place *place, enum plan_group g, const struct plan_cell *c)
{
    if (c->members > 1 && place->members[g][c->dim] == 1)
        place->stride[g][c->dim] = c->stride;
    place->members[g][c->dim] *= c->members;
}

/* @p inside: @p members of the cells' NPUs, innermost first; @p around: those that have the same place in it.
 */
static int place_parted(struct plan_place *place, enum plan_group inside, enum plan_group around,
                        int64_t members, const struct plan_cell *cells, int32_t n, const char *key,
                        struct err *e)
{
    int32_t left[N_PLAN_AXES * TOPO_MAX_DIMS], taken[N_PLAN_AXES * TOPO_MAX_DIMS];
    for (int32_t i = 0; i < n; i++)
        left[i] = cells[i].members;
    int rc = n ? group_fill(taken, left, n, members, e) : 0;
    if (rc)
        return e ? err_wrap(e, "%s", key) : rc;
    for (int32_t i = 0; i < n; i++) {
        struct plan_cell inner = { cells[i].dim, taken[i], cells[i].stride };
        struct plan_cell outer = { cells[i].dim, left[i] / taken[i], cells[i].stride * taken[i] };
        add_cell(place, inside, &inner);
        add_cell(place, around, &outer);
    }
    return 0;
}

/* Each communicator as members and stride per dimension. Gradients are exchanged over cp and dp together,
 * experts over what surrounds them. */
static int place_groups(struct plan_place *place, const struct plan *p,
                        const int32_t (*stride)[TOPO_MAX_DIMS], int32_t n_dims, struct err *e)
{
    static const struct {
        enum plan_group group;
        unsigned axes;
    } rows[] = {
        { PLAN_GROUP_TP, 1U << PLAN_TP },
        { PLAN_GROUP_CP, 1U << PLAN_CP },
        { PLAN_GROUP_DP, 1U << PLAN_CP | 1U << PLAN_DP },
        { PLAN_GROUP_PP, 1U << PLAN_PP },
    };
    struct plan_cell cells[N_PLAN_AXES * TOPO_MAX_DIMS];
    for (int g = 0; g < N_PLAN_GROUPS; g++)
        clear_group(place, (enum plan_group)g);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int32_t n = list_cells(cells, p, place, stride, n_dims, rows[i].axes);
        for (int32_t k = 0; k < n; k++)
            add_cell(place, rows[i].group, &cells[k]);
    }
    unsigned data = 1U << PLAN_CP | 1U << PLAN_DP, around = data | (p->expert_tp ? 0 : 1U << PLAN_TP);
    int32_t n = list_cells(cells, p, place, stride, n_dims, around);
    int rc = place_parted(place, PLAN_GROUP_EP, PLAN_GROUP_EXPERTS, p->ep, cells, n, "ep", e);
    memcpy(place->members[PLAN_GROUP_MERGED], place->members[PLAN_GROUP_EP], sizeof place->members[0]);
    memcpy(place->stride[PLAN_GROUP_MERGED], place->stride[PLAN_GROUP_EP], sizeof place->stride[0]);
    if (rc || !p->shard)
        return rc;
    place->sharded = true;
    n = list_cells(cells, p, place, stride, n_dims, data);
    return place_parted(place, PLAN_GROUP_SHARD, PLAN_GROUP_COPIES, p->shard, cells, n, "shard", e);
}

/* Axes fill the dimensions in the plan's order, innermost first; the stride of an axis is what axes before it
 * have taken of the dimension. */
int plan_map(struct plan_place *place, const struct plan *p, const struct topo_network *net, struct err *e)
{
    int32_t left[TOPO_MAX_DIMS], stride[N_PLAN_AXES][TOPO_MAX_DIMS];
    *place = (struct plan_place){ 0 };
    for (int32_t d = 0; d < net->n_dims; d++)
        left[d] = net->dims[d].size;
    for (int i = 0; i < N_PLAN_AXES; i++) {
        enum plan_axis axis = p->order[i];
        int rc = group_fill(place->axis[axis], left, net->n_dims, p->degree[axis], e);
        if (rc)
            return e ? err_wrap(e, "%s", plan_axis_words[axis]) : rc;
        for (int32_t d = 0; d < net->n_dims; d++) {
            stride[axis][d] = net->dims[d].size / left[d];
            left[d] /= place->axis[axis][d];
        }
    }
    return place_groups(place, p, (const int32_t(*)[TOPO_MAX_DIMS])stride, net->n_dims, e);
}

void plan_merge(struct plan_place *place, const struct plan *p, const struct model *m,
                const struct topo_network *net)
{
    const struct model_moe *e = &m->moe;
    const struct dispatch x = { (double)e->experts, (double)e->top_k,
                                (double)(p->node_limit ? p->node_limit : e->group_limit),
                                p->node_limit ? 0 : (double)e->groups };
    if (p->ep > 1 && !net->ideal)
        dispatch_share(place->share[PLAN_GROUP_MERGED], &x, place->members[PLAN_GROUP_MERGED], net);
}

/* ---- the picture ---- */

/* Letters of a bar for each doubling of what it stands for. */
enum { BAR_PER_BIT = 5, BAR_LEAST = 8 };

/* A bar as long as the logarithm of the degree, with its name in the middle. */
static void draw_bar(struct text *out, const char *word, int64_t n)
{
    char label[32];
    int width = (int)lround(BAR_PER_BIT * log2((double)n)) - 1;
    int used = snprintf(label, sizeof label, " %s %lld ", word, (long long)n);
    width = width < BAR_LEAST ? BAR_LEAST : width;
    int before = (width - used) / 2;
    for (int i = 0; i < width; i++) {
        if (i == before) {
            text_puts(out, label);
            i += used - 1;
        } else {
            text_puts(out, "-");
        }
    }
    text_puts(out, "|");
}

/* The plan over the dimensions, outermost on top, for people to see what shares which links. */
void plan_draw(struct text *out, const struct plan *p, const struct plan_place *place,
               const struct topo_network *net)
{
    size_t widest = 0, widest_shape = 12;
    char shape[TOPO_DIM_LABEL];
    for (int32_t d = 0; d < net->n_dims; d++) {
        topo_dim_label(shape, &net->dims[d]);
        widest = strlen(net->dims[d].name) > widest ? strlen(net->dims[d].name) : widest;
        widest_shape = strlen(shape) > widest_shape ? strlen(shape) : widest_shape;
    }
    for (int32_t d = net->n_dims; d-- > 0;) {
        topo_dim_label(shape, &net->dims[d]);
        text_printf(out, "%-*s  %-*s |", (int)widest, net->dims[d].name, (int)widest_shape, shape);
        for (int i = 0; i < N_PLAN_AXES; i++)
            if (place->axis[p->order[i]][d] > 1)
                draw_bar(out, plan_axis_words[p->order[i]], place->axis[p->order[i]][d]);
        text_puts(out, "\n");
    }
}
