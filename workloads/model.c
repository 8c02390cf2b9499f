/*
 * Models by their hyperparameters: transformers (dense or with experts), DLRM, CNN. Their key tables, checks,
 * and how many parameters they have; what an operator of them costs is in block.c.
 */
#include "workloads/model.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The last of every `every` layers behind the dense ones has experts: the second, fourth, .. with every 2. */
bool model_has_experts(const struct model *m, int64_t layer)
{
    int64_t i = layer - m->moe.dense_layers;
    return m->moe.experts > 0 && i >= 0 && i % m->moe.every == m->moe.every - 1;
}

int64_t model_experts_before(const struct model *m, int64_t layer)
{
    int64_t behind = layer - m->moe.dense_layers;
    return m->moe.experts > 0 && behind > 0 ? behind / m->moe.every : 0;
}

/* Layer norm scales and shifts, RMS norm only scales. */
static double norm_params(const struct model *m)
{
    return m->norm == MODEL_LAYER_NORM ? 2 * (double)m->hidden : (double)m->hidden;
}

/* Key and value heads that one NPU holds: where TP is larger, they are copied. */
static double local_kv_heads(const struct model *m, double tp)
{
    return fmax((double)m->kv_heads / tp, 1);
}

/*
 * Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): queries go down to q_rank and up to the heads,
 * keys and values down to kv_rank and up, and one rotary part of the key is shared by all heads; then the
 * output, and a norm of each rank. Down-projections are whole on every NPU of TP.
 */
static double mla_params(const struct model *m, double tp)
{
    double h = (double)m->hidden, a = (double)m->heads / tp;
    double q = (double)m->mla.q_rank, kv = (double)m->mla.kv_rank, rope = (double)m->mla.rope_dim;
    double nope = (double)m->mla.nope_dim, v = (double)m->mla.v_dim;
    return h * q + q * a * (nope + rope) + h * (kv + rope) + kv * a * (nope + v) + a * v * h + q + kv;
}

/* Query and output of all heads, key and value of theirs; biases likewise. Biases of the output, as norms,
 * are not shared out by TP. */
static double attention_params(const struct model *m, double tp)
{
    double h = (double)m->hidden, d = (double)m->head_dim, a = (double)m->heads / tp;
    double kv = local_kv_heads(m, tp);
    if (m->mla.q_rank)
        return mla_params(m, tp);
    return 2 * h * a * d + 2 * h * kv * d + (m->biases ? a * d + 2 * kv * d + h : 0) + (m->sink ? a : 0);
}

/* SwiGLU has a third matrix, the gate, and no biases here, whatever `biases` says. */
static double mlp_params(const struct model *m, double ffn, double tp)
{
    double h = (double)m->hidden;
    if (m->activation == MODEL_SWIGLU)
        return 3 * h * ffn / tp;
    return 2 * h * ffn / tp + (m->biases ? ffn / tp + h : 0);
}

/* Parameters of one layer on one NPU, experts apart from the rest: they are shared out over other groups. The
 * router is whole on every NPU, since each decides for its own tokens. */
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

/* A vocabulary that TP does not divide evenly is filled up with rows that no token uses: they cost memory and
 * products all the same. */
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

/* A window as long as the sequence is none. */
double model_full_share(const struct model *m)
{
    if (m->window == 0 || m->window >= m->seq)
        return 1;
    return m->window_every ? 1 / (double)m->window_every : 0;
}

/* The norm behind the last layer, and the logits' matrix where it is not the embedding's. A layer of
 * multi-token prediction takes the last hidden state and the next token's embedding, each normalised, and
 * projects both to the hidden width (arXiv 2412.19437 section 2.2); logits and embedding are those of the
 * model. */
double model_head_params(const struct model *m, double tp)
{
    double h = (double)m->hidden, joints = (double)m->mtp * (2 * h * h / tp + 3 * norm_params(m));
    return norm_params(m) + (m->tied ? 0 : model_vocab(m, tp) / tp * h) + joints;
}

/* ---- other families ---- */

/* Fully connected layers one behind the other, each with biases. */
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
    /* Low-rank cross layers (DCN V2, arXiv 2008.13535): two matrices in x rank and a bias. */
    if (r->interaction == MODEL_CROSS)
        cross = (double)r->cross_layers * (2 * in * (double)r->cross_rank + in);
    return widths_params((double)r->bottom[0], r->bottom + 1, r->n_bottom - 1) + cross +
           widths_params(in, r->top, r->n_top);
}

/* No bias: the normalisation behind it shifts, and has a scale and a shift a channel. */
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

/* As published: on one NPU, with the vocabulary as it is and not filled up. O(layers). */
static double transformer_params(const struct model *m)
{
    struct model plain = *m;
    plain.vocab_multiple = plain.mtp = 0;
    double params = model_embed_params(&plain, 1) + model_head_params(&plain, 1);
    for (int64_t i = 0; i < m->layers; i++) {
        struct model_share p = model_layer_params(m, model_has_experts(m, i), 1, 1, 1);
        params += p.dense + p.expert;
    }
    return params;
}

double model_params(const struct model *m)
{
    if (m->family == MODEL_DLRM)
        return m->dlrm.rows * (double)m->dlrm.dim + model_dlrm_dense_params(m);
    return m->family == MODEL_CNN ? cnn_params(m) : transformer_params(m);
}

static const char *const family_words[] = { "transformer", "dlrm", "cnn", NULL };
static const char *const activation_words[] = { "gelu", "swiglu", NULL };
static const char *const norm_words[] = { "layer-norm", "rms-norm", NULL };
static const char *const position_words[] = { "learned", "rotary", NULL };
static const char *const attention_words[] = { "unfused", "flash", NULL };
static const char *const interaction_words[] = { "dot", "cross", NULL };

enum { WIDEST = 1000000000 };

#define M(f, key, ...)      K_COUNT_OR(struct model, f, key, 1, WIDEST, -1, __VA_ARGS__)
#define M_WORD(f, key, ...) K_WORD(struct model, f, key, __VA_ARGS__)

/* A count that is absent is -1 until model_read() has settled it. */
static const struct key model_keys[] = {
    K_REMARK("name", "what reports call the model"),
    K_REMARK("source", "where the figures come from"),
    M_WORD(family, "family", family_words, MODEL_TRANSFORMER, "what kind of model (default: transformer)"),
    K_REAL_OR(struct model, params, "params_B", "1e9", 1e9, 1e-6, 1e6, NAN,
              "parameters as published; hyperparameters that miss it by more than 0.5 % are an error"),
    K_COUNT_OR(struct model, layers, "layers", 1, MODEL_MAX_LAYERS, -1, "transformer layers"),
    M(hidden, "hidden", "width of a token"),
    M(heads, "heads", "attention heads"),
    M(kv_heads, "kv_heads", "heads of keys and values, 1: multi-query (default: as many as heads)"),
    M(head_dim, "head_dim", "width of a head (default: hidden / heads)"),
    M(ffn, "ffn", "width between the two linear layers (default: 4 * hidden)"),
    M(vocab, "vocab", "words of the vocabulary"),
    K_COUNT(struct model, vocab_multiple, "vocab_multiple", 0, WIDEST, 128,
            "the vocabulary is filled up to a multiple of this times TP (Megatron); 0: not at all"),
    M(seq, "seq", "tokens of one sequence"),
    M_WORD(activation, "activation", activation_words, MODEL_GELU,
           "between the linear layers (default: gelu)"),
    M_WORD(norm, "norm", norm_words, MODEL_LAYER_NORM, "normalisation (default: layer-norm)"),
    M_WORD(positions, "positions", position_words, MODEL_LEARNED, "how positions enter (default: learned)"),
    M_WORD(attention, "attention", attention_words, MODEL_FLASH,
           "unfused: scores go through memory, as in 2021 (default: flash)"),
    K_BOOL(struct model, tied, "tied", false, "true: the logits use the embedding (default: false)"),
    K_BOOL(struct model, biases, "biases", false, "true: linear layers have biases (default: false)"),
    K_BOOL(struct model, dropout, "dropout", false,
           "true: dropout after attention and linear layers (default: false)"),
    K_BOOL(struct model, causal, "causal", true,
           "false: fused attention computes the upper triangle too (default: true)"),
    K_COUNT(
        struct model, window, "window", 0, WIDEST, 0,
        "tokens that a query looks back, its own included; unfused attention computes all (default: 0, all)"),
    K_COUNT(struct model, window_every, "window_every", 0, MODEL_MAX_LAYERS, 0,
            "each such layer looks at all tokens (GPT-OSS 2, Gemma 3 6; default: 0, none does)"),
    K_BOOL(struct model, sink, "sink", false,
           "true: a learned sink per head beside the scores (default: false)"),
    K_COUNT(struct model, mtp, "mtp", 0, 16, 0,
            "layers of multi-token prediction behind the last one, each with a head; not in params_B"),
    K_ELSEWHERE("mla", "attention through low-rank projections, see model.mla", .form = "<model.mla>"),
    K_ELSEWHERE("moe", "experts, see model.moe", .form = "<model.moe>"),
    K_ELSEWHERE("dlrm", "of family dlrm, see model.dlrm", .form = "<model.dlrm>"),
    K_ELSEWHERE("cnn", "of family cnn, see model.cnn", .form = "<model.cnn>"),
};

K_SECTION(model_section, struct model, "model", model_keys, "a model to train, from its hyperparameters");

#define MLA(f, key, ...) K_COUNT_OR(struct model_mla, f, key, 1, WIDEST, -1, __VA_ARGS__, .required = true)

static const struct key mla_keys[] = {
    MLA(q_rank, "q_rank", "width that queries pass"),
    MLA(kv_rank, "kv_rank", "width that keys and values pass"),
    MLA(nope_dim, "nope_dim", "of a head's query and key: part without position"),
    MLA(rope_dim, "rope_dim", "of a head's query and key: part with position"),
    MLA(v_dim, "v_dim", "width of a head's value"),
};

K_SECTION(model_mla_section, struct model_mla, "model.mla", mla_keys,
          "attention through low-rank projections");

static const struct key moe_keys[] = {
    K_COUNT_OR(struct model_moe, experts, "experts", 2, WIDEST, -1, "routed experts of a layer",
               .required = true),
    K_COUNT_OR(struct model_moe, top_k, "top_k", 1, WIDEST, -1, "experts that each token passes",
               .required = true),
    K_COUNT_OR(struct model_moe, ffn, "ffn", 1, WIDEST, -1, "width of one expert", .required = true),
    K_COUNT(struct model_moe, shared, "shared", 0, WIDEST, 0,
            "experts that every token passes (default: none)"),
    K_COUNT(struct model_moe, dense_layers, "dense_layers", 0, WIDEST, 0,
            "first layers without experts (default: none)"),
    K_COUNT(struct model_moe, every, "every", 1, WIDEST, 1,
            "then each such layer has experts (default: 1, all)"),
    K_COUNT(struct model_moe, groups, "groups", 0, WIDEST, 0,
            "equal parts of the experts, of which a token's lie in group_limit (DeepSeek-V3: 8, of which 4)"),
    K_COUNT(struct model_moe, group_limit, "group_limit", 0, WIDEST, 0,
            "groups that hold the experts of a token (default: 0, all)"),
    K_REAL(struct model_moe, capacity, "capacity", "", 1, 1, 1000, 1,
           "room of an expert over its mean number of tokens, padded to that size (default: 1, no padding)"),
    K_BOOL(struct model_moe, router_bias, "router_bias", false,
           "true: the router has a bias per expert (default: false)"),
};

K_SECTION(model_moe_section, struct model_moe, "model.moe", moe_keys, "a mixture of experts");

static const struct key dlrm_keys[] = {
    K_COUNT_OR(struct model_dlrm, dim, "dim", 1, WIDEST, -1, "width of an embedding"),
    K_ELSEWHERE("rows", "list: rows of each table", .form = "list of numbers"),
    K_ELSEWHERE("lookups", "list: rows that one sample looks up in each table (default: 1)",
                .form = "list of numbers"),
    K_ELSEWHERE("bottom", "list: widths of the layers on dense features, the input's first",
                .form = "list of numbers"),
    K_ELSEWHERE("top", "list: widths of the layers after the interaction, without its input",
                .form = "list of numbers"),
    K_WORD(struct model_dlrm, interaction, "interaction", interaction_words, MODEL_DOT,
           "dot: products of all pairs; cross: low-rank cross layers (default: dot)"),
    K_COUNT_OR(struct model_dlrm, cross_layers, "cross_layers", 1, 1000, -1, "interaction cross: layers"),
    K_COUNT_OR(struct model_dlrm, cross_rank, "cross_rank", 1, WIDEST, -1, "interaction cross: their rank"),
};

K_SECTION(model_dlrm_section, struct model_dlrm, "model.dlrm", dlrm_keys, "a recommendation model");

#define CONV(f, key, ...) K_COUNT_OR(struct model_conv, f, key, 1, 1000000, -1, __VA_ARGS__, .required = true)

static const struct key conv_keys[] = {
    CONV(in, "in", "channels that enter"),
    CONV(out, "out", "channels that leave"),
    CONV(kernel, "kernel", "side of the kernel"),
    CONV(size, "size", "side of the image that leaves"),
    K_COUNT(struct model_conv, times, "times", 1, 1000000, 1, "how many equal ones (default: 1)"),
};

K_SECTION(model_conv_section, struct model_conv, "model.cnn.convs", conv_keys,
          "a convolution with its normalisation");

static const struct key cnn_keys[] = {
    K_LIST(struct model_cnn, convs, n_convs, "convs", 1, &model_conv_section,
           "list of convolutions in forward order, see model.cnn.convs"),
    K_COUNT_OR(struct model_cnn, features, "features", 1, WIDEST, -1,
               "width that enters the last, linear layer"),
    K_COUNT_OR(struct model_cnn, classes, "classes", 1, WIDEST, -1, "outputs of that layer"),
};

K_SECTION(model_cnn_section, struct model_cnn, "model.cnn", cnn_keys, "a convolutional model");

/* ---- reading ---- */

/* A list of whole numbers with its sum; @p out may be NULL where only the sum matters (rows of tables). */
static int read_counts(double *sum, int64_t *out, int32_t room, int32_t *n, const struct yaml_doc *doc,
                       yaml_id list, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    *n = doc->nodes[list].n;
    if (*n < 1 || (out && *n > room))
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d entries, expected 1 to %d", (int)*n, (int)room);
    *sum = 0;
    yaml_each (id, doc, list) {
        int64_t value;
        if ((rc = yaml_count(doc, id, &value, e)))
            return rc;
        if (value < 1 || value > (int64_t)1e12)
            return yaml_fail(doc, id, e, ERR_RANGE, "is %lld, expected 1 to 1e12", (long long)value);
        if (out)
            out[doc->nodes[id].index] = value;
        *sum += (double)value;
    }
    return 0;
}

static int model_need_key(const struct yaml_doc *doc, yaml_id map, const char *key, const char *for_what,
                          struct err *e)
{
    if (yaml_get(doc, map, key) >= 0)
        return 0;
    return yaml_fail(doc, map, e, ERR_PARSE, "has no %s, required for %s", key, for_what);
}

/* Keys of low-rank cross layers belong to interaction cross alone; elsewhere they would have no effect. */
static int check_cross(struct model_dlrm *d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const keys[] = { "cross_layers", "cross_rank" };
    for (int i = 0; i < 2; i++) {
        int rc =
            d->interaction == MODEL_CROSS ? model_need_key(doc, map, keys[i], "interaction cross", e) : 0;
        if (rc)
            return rc;
        if (d->interaction == MODEL_DOT && yaml_get(doc, map, keys[i]) >= 0)
            return yaml_fail_key(doc, yaml_get(doc, map, keys[i]), e, ERR_PARSE,
                                 "has no effect on interaction dot, only with interaction cross");
    }
    if (d->interaction == MODEL_DOT)
        d->cross_layers = d->cross_rank = 0;
    return 0;
}

/* The interaction multiplies vectors of one width, so the bottom layers must end with the embeddings' width.
 */
static int read_dlrm(struct model_dlrm *d, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const needed[] = { "dim", "rows", "bottom", "top" };
    yaml_id lookups = yaml_get(doc, map, "lookups"), bottom = yaml_get(doc, map, "bottom");
    double ignored;
    int32_t n_rows, n_lookups;
    int rc = schema_read(d, &model_dlrm_section, doc, map, e);
    for (size_t i = 0; i < sizeof needed / sizeof *needed && !rc; i++)
        rc = model_need_key(doc, map, needed[i], "a recommendation model", e);
    if (rc || (rc = read_counts(&d->rows, NULL, 0, &n_rows, doc, yaml_get(doc, map, "rows"), e)) ||
        (rc = read_counts(&ignored, d->bottom, MODEL_MLP, &d->n_bottom, doc, bottom, e)) ||
        (rc = read_counts(&ignored, d->top, MODEL_MLP, &d->n_top, doc, yaml_get(doc, map, "top"), e)))
        return rc;
    d->n_tables = n_rows;
    d->lookups = n_rows;
    if (lookups >= 0) {
        if ((rc = read_counts(&d->lookups, NULL, 0, &n_lookups, doc, lookups, e)))
            return rc;
        if (n_lookups != n_rows)
            return yaml_fail(doc, lookups, e, ERR_RANGE, "has %d entries, expected %d, one per table",
                             (int)n_lookups, (int)n_rows);
    }
    if ((rc = check_cross(d, doc, map, e)))
        return rc;
    if (d->bottom[d->n_bottom - 1] != d->dim)
        rc = yaml_fail(doc, bottom, e, ERR_RANGE, "ends with %lld, expected dim, %lld",
                       (long long)d->bottom[d->n_bottom - 1], (long long)d->dim);
    return rc;
}

static int read_cnn(struct model_cnn *c, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const needed[] = { "convs", "features", "classes" };
    int rc = schema_read(c, &model_cnn_section, doc, map, e);
    for (size_t i = 0; i < sizeof needed / sizeof *needed && !rc; i++)
        rc = model_need_key(doc, map, needed[i], "a convolutional model", e);
    return rc;
}

/* Which keys a family has, beside those that every one has. */
static int model_check_keys(const struct model *m, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const always[] = { "name", "source", "family", "params_B" };
    static const char *const needed[] = { "layers", "hidden", "heads", "vocab", "seq" };
    const char *family = family_words[m->family];
    if (m->family != MODEL_TRANSFORMER) {
        yaml_each (id, doc, map) {
            const char *key = doc->nodes[id].key;
            bool known = strcmp(key, family) == 0;
            for (size_t i = 0; i < sizeof always / sizeof *always; i++)
                known = known || strcmp(key, always[i]) == 0;
            if (!known)
                return yaml_fail_key(doc, id, e, ERR_PARSE,
                                     "has no effect on family %s, only with family transformer", family);
        }
        return model_need_key(doc, map, family, "that family", e);
    }
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        int rc = model_need_key(doc, map, needed[i], "a transformer", e);
        if (rc)
            return rc;
    }
    yaml_id dlrm = yaml_get(doc, map, "dlrm"), cnn = yaml_get(doc, map, "cnn");
    if (dlrm >= 0 || cnn >= 0)
        return yaml_fail_key(doc, dlrm >= 0 ? dlrm : cnn, e, ERR_PARSE,
                             "has no effect on family transformer, only with family dlrm or cnn");
    return 0;
}

/* Defaults that follow from other keys, once those are known: heads of keys and values, ffn, width of a head.
 */
static int settle_heads(struct model *m, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const instead[] = { "kv_heads", "head_dim", NULL };
    yaml_id beside = m->mla.q_rank ? yaml_get_any(doc, map, instead) : -1;
    if (beside >= 0)
        return yaml_fail_key(doc, beside, e, ERR_PARSE,
                             "has no effect beside mla, which says what heads are like");
    if (m->kv_heads < 0)
        m->kv_heads = m->heads;
    if (m->heads % m->kv_heads)
        return yaml_fail(doc, yaml_get(doc, map, "kv_heads"), e, ERR_RANGE,
                         "is %lld, expected a divisor of heads, %lld", (long long)m->kv_heads,
                         (long long)m->heads);
    if (m->ffn < 0)
        m->ffn = 4 * m->hidden;
    if (m->head_dim < 0 && m->mla.q_rank == 0 && m->hidden % m->heads)
        return yaml_fail(doc, yaml_get(doc, map, "heads"), e, ERR_RANGE,
                         "is %lld, expected a divisor of hidden, %lld, or head_dim", (long long)m->heads,
                         (long long)m->hidden);
    if (m->window_every && !m->window)
        return yaml_fail_key(doc, yaml_get(doc, map, "window_every"), e, ERR_PARSE,
                             "has no effect without window; give window, or leave it out");
    if (m->window && !m->causal)
        return yaml_fail_key(doc, yaml_get(doc, map, "window"), e, ERR_PARSE,
                             "looks back, which needs causal: true");
    if (m->head_dim < 0)
        m->head_dim = m->mla.q_rank ? m->mla.nope_dim + m->mla.rope_dim : m->hidden / m->heads;
    return 0;
}

/* Each token passes top_k of the experts; some layer must have them. */
static int read_experts(struct model *m, const struct yaml_doc *doc, yaml_id moe, struct err *e)
{
    if (moe < 0)
        return 0;
    int rc = schema_read(&m->moe, &model_moe_section, doc, moe, e);
    if (rc)
        return rc;
    if (m->moe.top_k > m->moe.experts)
        return yaml_fail(doc, yaml_get(doc, moe, "top_k"), e, ERR_RANGE,
                         "is %lld, expected at most experts, %lld", (long long)m->moe.top_k,
                         (long long)m->moe.experts);
    if ((m->moe.groups > 0) != (m->moe.group_limit > 0))
        return yaml_fail(doc, moe, e, ERR_PARSE, "has no %s, required for %s",
                         m->moe.groups ? "group_limit" : "groups", m->moe.groups ? "groups" : "group_limit");
    if (m->moe.groups && m->moe.experts % m->moe.groups)
        return yaml_fail(doc, yaml_get(doc, moe, "groups"), e, ERR_RANGE,
                         "is %lld, expected a divisor of experts, %lld", (long long)m->moe.groups,
                         (long long)m->moe.experts);
    if (m->moe.group_limit > m->moe.groups ||
        (m->moe.groups && m->moe.group_limit * (m->moe.experts / m->moe.groups) < m->moe.top_k))
        return yaml_fail(doc, yaml_get(doc, moe, "group_limit"), e, ERR_RANGE,
                         "is %lld, expected at most groups, %lld, and as many as hold top_k experts, %lld",
                         (long long)m->moe.group_limit, (long long)m->moe.groups, (long long)m->moe.top_k);
    if (m->moe.dense_layers >= m->layers)
        return yaml_fail(doc, yaml_get(doc, moe, "dense_layers"), e, ERR_RANGE,
                         "is %lld, expected less than layers, %lld", (long long)m->moe.dense_layers,
                         (long long)m->layers);
    return 0;
}

/* Papers round: 22.07 is published as 22. */
#define PUBLISHED_REL 0.005

static int check_published(const struct model *m, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    double got = model_params(m);
    if (isnan(m->params) || fabs(got / m->params - 1) <= PUBLISHED_REL)
        return 0;
    return yaml_fail(doc, yaml_get(doc, map, "params_B"), e, ERR_RANGE,
                     "is %.6g, expected %.6g, what the hyperparameters give, within 0.5 %%", m->params / 1e9,
                     got / 1e9);
}

/* Keys, then what the family needs, then the count of parameters against the published one. For other
 * families what a transformer's table filled in is cleared, so that no default of it counts. */
int model_read(struct model *m, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    yaml_id name = yaml_get(doc, map, "name"), mla = yaml_get(doc, map, "mla");
    *m = (struct model){ .family = MODEL_TRANSFORMER };
    int rc = schema_read(m, &model_section, doc, map, e);
    if (rc || (rc = model_check_keys(m, doc, map, e)))
        return rc;
    if (m->family != MODEL_TRANSFORMER)
        *m = (struct model){ .family = m->family, .params = m->params };
    snprintf(m->name, sizeof m->name, "%s", name >= 0 ? doc->nodes[name].text : "model");
    if (m->family == MODEL_DLRM)
        rc = read_dlrm(&m->dlrm, doc, yaml_get(doc, map, "dlrm"), e);
    else if (m->family == MODEL_CNN)
        rc = read_cnn(&m->cnn, doc, yaml_get(doc, map, "cnn"), e);
    else if (mla >= 0)
        rc = schema_read(&m->mla, &model_mla_section, doc, mla, e);
    if (!rc && m->family == MODEL_TRANSFORMER)
        rc = settle_heads(m, doc, map, e);
    if (!rc)
        rc = read_experts(m, doc, yaml_get(doc, map, "moe"), e);
    return rc ? rc : check_published(m, doc, map, e);
}
