#include "workloads/model.h"

#include <math.h>

bool model_has_experts(const struct model *m, int64_t layer)
{
    int64_t i = layer - m->moe.dense_layers;
    return m->moe.experts > 0 && i >= 0 && i % m->moe.every == m->moe.every - 1;
}

static double norm_params(const struct model *m)
{
    return m->norm == MODEL_LAYER_NORM ? 2 * (double)m->hidden : (double)m->hidden;
}

/* Key and value heads that one NPU holds: where TP is larger, they are copied. */
static double local_kv_heads(const struct model *m, double tp)
{
    return fmax((double)m->kv_heads / tp, 1);
}

static double mla_params(const struct model *m, double tp)
{
    double h = (double)m->hidden, a = (double)m->heads / tp;
    double q = (double)m->mla.q_rank, kv = (double)m->mla.kv_rank, rope = (double)m->mla.rope_dim;
    double nope = (double)m->mla.nope_dim, v = (double)m->mla.v_dim;
    return h * q + q * a * (nope + rope) + h * (kv + rope) + kv * a * (nope + v) + a * v * h + q + kv;
}

static double attention_params(const struct model *m, double tp)
{
    double h = (double)m->hidden, d = (double)m->head_dim, a = (double)m->heads / tp;
    double kv = local_kv_heads(m, tp);
    if (m->mla.q_rank)
        return mla_params(m, tp);
    return 2 * h * a * d + 2 * h * kv * d + (m->biases ? a * d + 2 * kv * d + h : 0);
}

static double mlp_params(const struct model *m, double ffn, double tp)
{
    double h = (double)m->hidden;
    if (m->activation == MODEL_SWIGLU)
        return 3 * h * ffn / tp;
    return 2 * h * ffn / tp + (m->biases ? ffn / tp + h : 0);
}

struct model_share model_layer_params(const struct model *m, bool experts, double tp, double ep, double etp)
{
    struct model_share p = { attention_params(m, tp) + 2 * norm_params(m), 0 };
    if (!experts) {
        p.dense += mlp_params(m, (double)m->ffn, tp);
        return p;
    }
    const struct model_moe *moe = &m->moe;
    double n = (double)moe->experts;
    p.dense += (double)m->hidden * n + (moe->router_bias ? n : 0);
    p.dense += (double)moe->shared * mlp_params(m, (double)moe->ffn, tp);
    p.expert = n / ep * mlp_params(m, (double)moe->ffn, etp);
    return p;
}

double model_vocab(const struct model *m, double tp)
{
    double multiple = (double)m->vocab_multiple * tp;
    return multiple > 0 ? ceil((double)m->vocab / multiple) * multiple : (double)m->vocab;
}

double model_embed_params(const struct model *m, double tp)
{
    double positions = m->positions == MODEL_LEARNED ? (double)m->seq * (double)m->hidden : 0;
    return model_vocab(m, tp) / tp * (double)m->hidden + positions;
}

double model_head_params(const struct model *m, double tp)
{
    return norm_params(m) + (m->tied ? 0 : model_vocab(m, tp) / tp * (double)m->hidden);
}

/* ---- other families ---- */

static double widths_params(double in, const int64_t *widths, int32_t n)
{
    double params = 0;
    for (int32_t i = 0; i < n; i++) {
        params += (in + 1) * (double)widths[i];
        in = (double)widths[i];
    }
    return params;
}

double model_dlrm_top_input(const struct model *m)
{
    const struct model_dlrm *r = &m->dlrm;
    double n = (double)r->n_tables, dim = (double)r->dim;
    /* Every pair of the n tables and the bottom's output; or all of them side by side. */
    return r->interaction == MODEL_DOT ? n * (n + 1) / 2 + dim : (n + 1) * dim;
}

double model_dlrm_dense_params(const struct model *m)
{
    const struct model_dlrm *r = &m->dlrm;
    double in = model_dlrm_top_input(m), cross = 0;
    if (r->interaction == MODEL_CROSS)
        cross = (double)r->cross_layers * (2 * in * (double)r->cross_rank + in);
    return widths_params((double)r->bottom[0], r->bottom + 1, r->n_bottom - 1) + cross +
           widths_params(in, r->top, r->n_top);
}

double model_conv_params(const struct model_conv *c)
{
    double weights = (double)(c->in * c->out) * (double)(c->kernel * c->kernel);
    return weights + 2 * (double)c->out;
}

static double cnn_params(const struct model *m)
{
    double params = (double)(m->cnn.features + 1) * (double)m->cnn.classes;
    for (int32_t i = 0; i < m->cnn.n_convs; i++)
        params += (double)m->cnn.convs[i].times * model_conv_params(&m->cnn.convs[i]);
    return params;
}

/* ---- all of it ---- */

static double transformer_params(const struct model *m, double expert_share)
{
    struct model plain = *m;
    plain.vocab_multiple = 0;
    double params = model_embed_params(&plain, 1) + model_head_params(&plain, 1);
    for (int64_t i = 0; i < m->layers; i++) {
        struct model_share p = model_layer_params(m, model_has_experts(m, i), 1, 1, 1);
        params += p.dense + p.expert * expert_share;
    }
    return params;
}

double model_params(const struct model *m)
{
    if (m->family == MODEL_DLRM)
        return m->dlrm.rows * (double)m->dlrm.dim + model_dlrm_dense_params(m);
    return m->family == MODEL_CNN ? cnn_params(m) : transformer_params(m, 1);
}

double model_active_params(const struct model *m)
{
    if (m->family == MODEL_DLRM)
        return m->dlrm.lookups * (double)m->dlrm.dim + model_dlrm_dense_params(m);
    if (m->family == MODEL_CNN)
        return cnn_params(m);
    return transformer_params(m, m->moe.experts ? (double)m->moe.top_k / (double)m->moe.experts : 1);
}
