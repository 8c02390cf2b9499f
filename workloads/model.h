/** @file A model to train, from its hyperparameters: transformer (dense or mixture of experts), DLRM, CNN. */
#ifndef WORKLOADS_MODEL_H
#define WORKLOADS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/schema.h"

enum model_family { MODEL_TRANSFORMER, MODEL_DLRM, MODEL_CNN, N_MODEL_FAMILIES };
enum model_activation { MODEL_GELU, MODEL_SWIGLU };
enum model_norm { MODEL_LAYER_NORM, MODEL_RMS_NORM };
enum model_positions { MODEL_LEARNED, MODEL_ROTARY };
enum model_attention { MODEL_UNFUSED, MODEL_FLASH };
enum model_interaction { MODEL_DOT, MODEL_CROSS };

enum { MODEL_NAME = 64, MODEL_MLP = 16, MODEL_CONVS = 128, MODEL_MAX_LAYERS = 10000 };

/** Attention through low-rank projections (DeepSeek); q_rank 0 = plain queries, keys and values. */
struct model_mla {
    int64_t q_rank, kv_rank, nope_dim, rope_dim, v_dim;
};

/** experts 0 = a dense model. */
struct model_moe {
    int64_t experts, top_k, ffn; /**< width of one expert */
    int64_t shared;              /**< experts that every token passes */
    int64_t dense_layers;        /**< the first ones, which have no experts */
    int64_t every;               /**< then each such layer has experts */
    int64_t groups,
        group_limit; /**< equal parts of the experts; a token's lie in so many of them; 0: anywhere */
    double capacity; /**< tokens that experts are given room for, over the mean; 1: as many as come */
    bool router_bias;
};

/** Recommendation: embedding tables, interaction, dense layers. */
struct model_dlrm {
    int64_t n_tables, dim;
    double rows, lookups;                      /**< of all tables: rows; lookups of one sample */
    int64_t bottom[MODEL_MLP], top[MODEL_MLP]; /**< widths, the input's first; of top without its input */
    int32_t n_bottom, n_top;
    int32_t interaction; /**< enum model_interaction */
    int64_t cross_layers, cross_rank;
};

struct model_conv {
    int64_t in, out, kernel, size, times; /**< size: of the output's side */
};

/** Convolutional: square kernels and images; a normalisation after each convolution, one linear layer last.
 */
struct model_cnn {
    struct model_conv convs[MODEL_CONVS];
    int32_t n_convs;
    int64_t features, classes;
};

/** Plain value. What does not belong to the family is 0. */
struct model {
    char name[MODEL_NAME];
    int32_t family; /**< enum model_family */
    double params;  /**< as published; NaN when not given */
    int64_t layers, hidden, heads, kv_heads, head_dim, ffn, vocab, seq;
    int64_t vocab_multiple; /**< the vocabulary is filled up to this times TP */
    int64_t window;         /**< tokens that a query looks back, its own included; 0: all */
    int64_t window_every;   /**< each such layer has no window; 0: every layer has one */
    int64_t mtp; /**< multi-token prediction: layers trained behind `layers`, each with a head of its own */
    int32_t activation, norm, positions, attention; /**< enums above */
    bool tied, biases, dropout, causal, sink;
    struct model_mla mla;
    struct model_moe moe;
    struct model_dlrm dlrm;
    struct model_cnn cnn;
};

extern const struct section model_section, model_mla_section, model_moe_section, model_dlrm_section,
    model_cnn_section, model_conv_section;

/**
 * Read map @p map. ERR_PARSE or ERR_RANGE with the place: a key of another family, a missing one, heads that
 * do not share keys and values evenly, a published count that the hyperparameters miss by more than 0.5 %.
 */
int model_read(struct model *m, const struct yaml_doc *doc, yaml_id map, struct err *e);

/** Parameters of one NPU: those that a data-parallel group shares, and experts', shared by another. */
struct model_share {
    double dense, expert;
};

/** Has layer @p layer (from 0) experts? */
bool model_has_experts(const struct model *m, int64_t layer);
/** How many of the layers before @p layer have. O(1). */
int64_t model_experts_before(const struct model *m, int64_t layer);

/**
 * Parameters of one transformer layer that an NPU holds under @p tp tensor and @p ep expert parallelism,
 * matrices of the experts split over @p etp. Norms and biases of what is summed are on every NPU.
 * Source: facts of arXiv 2104.04473 eq. 2 (GPT), 2401.04088 (experts), 2412.19437 (low-rank attention).
 */
struct model_share model_layer_params(const struct model *m, bool experts, double tp, double ep, double etp);

/** The vocabulary, filled up to a multiple of vocab_multiple * tp. */
double model_vocab(const struct model *m, double tp);

/** Share of the layers whose queries see all tokens, not a window of them: 0 to 1. */
double model_full_share(const struct model *m);

/** Parameters before the first layer: embedding, positions; after the last: norm, logits unless tied; what
 * multi-token prediction has beside its layers. */
double model_embed_params(const struct model *m, double tp);
double model_head_params(const struct model *m, double tp);

/** All parameters, as papers count them: no padding, no multi-token prediction. */
double model_params(const struct model *m);

/** DLRM: parameters of the dense layers; of the tables there are rows * dim. */
double model_dlrm_dense_params(const struct model *m);

/** DLRM: width of what enters the top layers. */
double model_dlrm_top_input(const struct model *m);

/** CNN: parameters of one convolution with its normalisation. */
double model_conv_params(const struct model_conv *c);

#endif
