#include "workloads/memory.h"

#include <math.h>

#include "workloads/roofline.h"

const char *const memory_term_words[N_MEMORY_TERMS + 1] = { "weights", "gradients", "optimizer",
                                                            "activations", "buffers" };

/* Adam in mixed precision: fp32 master weight, mean, variance. Megatron-LM theoretical_memory_usage.py. */
#define OPTIMIZER_B 12.0

/* Layers whose parameters are gathered at once under ZeRO 3: one runs, one is fetched. */
#define GATHERED 2.0

/* Kept by attention: input; queries and projection input; keys and values; scores. */
static double attention_B(const struct model *m, const struct plan *p, double tokens, double wide)
{
    double tp = (double)p->degree[PLAN_TP], d = (double)m->head_dim, a = (double)m->heads;
    double kv = fmax((double)m->kv_heads, tp);
    double mask = m->dropout ? wide : 0;
    if (m->mla.q_rank) {
        const struct model_mla *x = &m->mla;
        double key = (double)(x->nope_dim + x->rope_dim), v = (double)x->v_dim;
        double low = (double)(x->q_rank + x->kv_rank + x->rope_dim);
        return 2 * wide + mask + 2 * tokens * low + 2 * tokens * a * (2 * key + 2 * v) / tp;
    }
    return 2 * wide + mask + 2 * tokens * (2 * a * d + 2 * kv * d) / tp;
}

/* Softmax's output, dropout's output and mask; nothing of fused attention but a log-sum-exp per row. */
static double scores_B(const struct model *m, const struct plan *p, double tokens)
{
    double a = (double)m->heads / (double)p->degree[PLAN_TP];
    if (m->attention == MODEL_FLASH)
        return 4 * a * tokens;
    return (m->dropout ? 5.0 : 2.0) * a * tokens * (double)m->seq;
}

static double mlp_B(const struct model *m, double rows, double ffn)
{
    return rows * ffn * (m->activation == MODEL_SWIGLU ? 6.0 : 4.0);
}

/* What comes to the experts, passes them and goes back; the router's fp32 scores. */
static double experts_B(const struct model *m, const struct plan *p, double tokens)
{
    double tp = (double)p->degree[PLAN_TP], own = p->seq_parallel ? tokens / tp : tokens;
    double split = p->expert_tp ? tp : 1;
    double routed = own * split * (double)m->moe.top_k * m->moe.capacity, h = (double)m->hidden;
    return 4 * routed * h + mlp_B(m, routed, (double)m->moe.ffn / split) + 4 * own * (double)m->moe.experts +
           mlp_B(m, tokens, (double)(m->moe.shared * m->moe.ffn) / tp);
}

double memory_layer_B(const struct model *m, const struct plan *p, bool experts)
{
    double tp = (double)p->degree[PLAN_TP], tokens = block_tokens(p, m);
    /* One byte per token and hidden element, where only sequence parallelism shares them. */
    double wide = tokens * (double)m->hidden / (p->seq_parallel ? tp : 1);
    if (p->recompute == PLAN_RECOMPUTE_FULL)
        return 2 * wide;
    double bytes = attention_B(m, p, tokens, wide) + 4 * wide; /* inputs of two norms */
    /* Fused attention has nothing that selective recomputation could do again. */
    if (p->recompute != PLAN_RECOMPUTE_SELECTIVE || m->attention == MODEL_FLASH)
        bytes += scores_B(m, p, tokens);
    bytes += 2 * wide + (m->dropout ? wide : 0);
    return bytes + (experts ? experts_B(m, p, tokens) : mlp_B(m, tokens, (double)m->ffn / tp));
}

double memory_in_flight(const struct plan *p, int64_t stage)
{
    double pp = (double)p->degree[PLAN_PP], v = (double)p->interleave, i = (double)stage;
    double m = (double)plan_microbatches(p);
    if (p->schedule == PLAN_GPIPE)
        return m;
    if (p->interleave == 1)
        return fmin(m, pp - i);
    /* Chunks of its warm-up and the one under way. */
    return fmin(m * v, v * pp + pp - 2 * i - 1) / v;
}

/* Beyond the layers: the embedding's dropout mask; the last norm, the logits and their fp32 copy. */
static double ends_B(const struct model *m, const struct plan *p, const struct plan_stage *s)
{
    double tp = (double)p->degree[PLAN_TP], tokens = block_tokens(p, m), bytes = 0;
    double wide = tokens * (double)m->hidden / (p->seq_parallel ? tp : 1);
    if (s->embed && m->dropout)
        bytes += wide * memory_in_flight(p, s->at);
    if (s->head)
        bytes += 4 * wide + 4 * tokens * model_vocab(m, tp) / tp;
    return bytes;
}

/* Parameters of one NPU in a stage. */
static struct model_share stage_params(const struct model *m, const struct plan *p,
                                       const struct plan_stage *s)
{
    double tp = (double)p->degree[PLAN_TP], ep = (double)p->ep, etp = p->expert_tp ? tp : 1;
    struct model_share dense = model_layer_params(m, false, tp, ep, etp), sum = { 0, 0 };
    sum.dense = (double)s->dense * dense.dense;
    if (s->experts) {
        struct model_share experts = model_layer_params(m, true, tp, ep, etp);
        sum.dense += (double)s->experts * experts.dense;
        sum.expert += (double)s->experts * experts.expert;
    }
    if (s->embed)
        sum.dense += model_embed_params(m, tp);
    if (s->head)
        sum.dense += model_head_params(m, tp);
    /* A tied embedding is held at both ends. */
    if (s->head && !s->embed && m->tied)
        sum.dense += model_vocab(m, tp) / tp * (double)m->hidden;
    return sum;
}

/* NPUs that share parameters out: those of experts, and all others. */
static struct model_share sharers(const struct plan *p)
{
    double cp_dp = (double)p->degree[PLAN_CP] * (double)p->degree[PLAN_DP];
    return (struct model_share){ cp_dp,
                                 cp_dp * (p->expert_tp ? 1 : (double)p->degree[PLAN_TP]) / (double)p->ep };
}

/* What data parallelism leaves of it. */
static double shared_out(const struct plan *p, struct model_share params)
{
    struct model_share n = sharers(p);
    return params.dense / n.dense + params.expert / n.expert;
}

static double buffers_B(const struct model *m, const struct plan *p, const struct plan_stage *s)
{
    double tp = (double)p->degree[PLAN_TP], etp = p->expert_tp ? tp : 1, bytes = 0;
    bool experts = s->experts > 0;
    if (p->zero == 3) {
        struct model_share layer = model_layer_params(m, experts, tp, (double)p->ep, etp), n = sharers(p);
        bytes += fmin(GATHERED, (double)(s->dense + s->experts)) * ROOFLINE_ELEMENT_B *
                 ((n.dense > 1 ? layer.dense : 0) + (n.expert > 1 ? layer.expert : 0));
    }
    if (p->recompute == PLAN_RECOMPUTE_FULL) {
        struct plan kept = *p;
        kept.recompute = PLAN_RECOMPUTE_NONE;
        bytes += memory_layer_B(m, &kept, experts) - memory_layer_B(m, p, experts); /* its input is kept */
    }
    if (p->degree[PLAN_PP] > 1)
        bytes += 2 * ROOFLINE_ELEMENT_B * block_tokens(p, m) * (double)m->hidden / (p->seq_parallel ? tp : 1);
    return bytes;
}

static void add_state(struct memory *out, const struct plan *p, struct model_share params)
{
    double all = params.dense + params.expert, part = shared_out(p, params);
    out->term_B[MEMORY_WEIGHTS] = ROOFLINE_ELEMENT_B * (p->zero >= 3 ? part : all);
    out->term_B[MEMORY_GRADIENTS] = (double)p->grad_B * (p->zero >= 2 ? part : all);
    out->term_B[MEMORY_OPTIMIZER] = OPTIMIZER_B * (p->zero >= 1 ? part : all);
}

static void add_total(struct memory *out)
{
    for (int i = 0; i < N_MEMORY_TERMS; i++)
        out->total_B += out->term_B[i];
}

static struct memory of_stage(const struct model *m, const struct plan *p, const struct plan_stage *s)
{
    struct memory out = { .stage = s->at };
    add_state(&out, p, stage_params(m, p, s));
    double kept = 0;
    if (s->dense)
        kept += (double)s->dense * memory_layer_B(m, p, false);
    if (s->experts)
        kept += (double)s->experts * memory_layer_B(m, p, true);
    out.term_B[MEMORY_ACTIVATIONS] = kept * memory_in_flight(p, s->at) + ends_B(m, p, s);
    out.term_B[MEMORY_BUFFERS] = buffers_B(m, p, s);
    add_total(&out);
    return out;
}

/* ---- other families ---- */

/* Widths that a chain of layers keeps of a sample, their input included. */
static double widths(const int64_t *list, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += (double)list[i];
    return sum;
}

/* Tables (fp32, one optimiser state per row) are shared out over all NPUs. */
static struct memory of_dlrm(const struct model *m, const struct plan *p)
{
    const struct model_dlrm *r = &m->dlrm;
    struct memory out = { 0 };
    double npus = (double)p->degree[PLAN_DP], samples = (double)p->micro;
    double kept = widths(r->bottom, r->n_bottom) + widths(r->top, r->n_top) +
                  (double)(r->cross_layers + 1) * model_dlrm_top_input(m);
    add_state(&out, p, (struct model_share){ model_dlrm_dense_params(m), 0 });
    out.term_B[MEMORY_WEIGHTS] += 4 * r->rows * (double)r->dim / npus;
    out.term_B[MEMORY_OPTIMIZER] += 4 * r->rows / npus;
    out.term_B[MEMORY_ACTIVATIONS] = ROOFLINE_ELEMENT_B * samples * kept;
    out.term_B[MEMORY_BUFFERS] = 2 * 4 * samples * (double)(r->n_tables * r->dim);
    add_total(&out);
    return out;
}

/* Each convolution keeps its input's copy and what the normalisation needs: two copies of its output. */
static struct memory of_cnn(const struct model *m, const struct plan *p)
{
    struct memory out = { 0 };
    double pixels = 0;
    for (int32_t i = 0; i < m->cnn.n_convs; i++) {
        const struct model_conv *c = &m->cnn.convs[i];
        pixels += (double)(c->times * c->out) * (double)(c->size * c->size);
    }
    add_state(&out, p, (struct model_share){ model_params(m), 0 });
    out.term_B[MEMORY_ACTIVATIONS] = 2 * ROOFLINE_ELEMENT_B * pixels * (double)p->micro;
    add_total(&out);
    return out;
}

void memory_plan(struct memory *out, const struct model *m, const struct plan *p)
{
    struct plan_stage stages[PLAN_MAX_STAGES];
    *out = (struct memory){ 0 };
    if (m->family != MODEL_TRANSFORMER) {
        *out = m->family == MODEL_DLRM ? of_dlrm(m, p) : of_cnn(m, p);
        return;
    }
    int32_t n = plan_stages(stages, p, m);
    for (int32_t i = 0; i < n; i++) {
        struct memory one = of_stage(m, p, &stages[i]);
        if (one.total_B > out->total_B)
            *out = one;
    }
}
