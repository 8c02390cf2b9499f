/** @file What an operator and a block of a model cost one NPU: seconds, and bytes of memory. */
#ifndef WORKLOADS_BLOCK_H
#define WORKLOADS_BLOCK_H

#include "topo/npu.h"
#include "workloads/model.h"
#include "workloads/plan.h"

/** Bytes of one element of weights and activations (bf16, fp16). */
#define ROOFLINE_ELEMENT_B 2.0

/** @p batch products of an m x k by a k x n matrix; all > 0, not necessarily whole. */
struct roofline_product {
    double m, n, k, batch;
};

/** 2 m n k batch [FLOP]. */
double roofline_flop(const struct roofline_product *p);

/** Share of the peak that a product reaches: matrix_efficiency m/(m+half_out) n/(n+half_out) k/(k+half_in),
 * or the row of matrix_sizes for its FLOP. */
double roofline_efficiency(const struct topo_npu *npu, const struct roofline_product *p);

/**
 * Time of one kernel [s]: max(FLOP/(peak * efficiency), (mk + kn + mn) elements/(memory * mem_efficiency)) +
 * kernel_s. @p share: of that efficiency, for products that reach less (unfused attention).
 */
double roofline_product_s(const struct topo_npu *npu, const struct roofline_product *p, double share);

/** roofline_efficiency() of grouped products, p->batch groups: the rows of one group have group_half_out.
 * Rows are m, or with @p rows_inner (weight gradients) k. */
double roofline_group_efficiency(const struct topo_npu *npu, const struct roofline_product *p,
                                 bool rows_inner);

/** Time of one kernel of products at @p q that reach @p share of topo_npu_peak() and move @p more_B besides
 * operands and result [s]; operands have the bytes of q with its scales, the result two. */
double roofline_precise_s(const struct topo_npu *npu, const struct roofline_product *p, enum topo_precision q,
                          double share, double more_B);

/** @p kernels that read and write @p bytes altogether, with little arithmetic [s]. */
double roofline_stream_s(const struct topo_npu *npu, double bytes, double kernels);

/** Fused attention of @p flop that reads and writes @p bytes, by flash_efficiency [s]. */
double roofline_flash_s(const struct topo_npu *npu, double flop, double bytes);

/* ---- blocks ---- */

enum block_kind {
    BLOCK_DENSE,   /**< transformer layer */
    BLOCK_EXPERTS, /**< transformer layer with experts */
    BLOCK_EMBED,   /**< before the first layer; of a DLRM: tables and bottom layers */
    BLOCK_HEAD, /**< after the last layer: logits and loss; of a DLRM: interaction and top; of a CNN: all */
    BLOCK_DENSE_AGAIN, /**< where plan_is_partly_again(): layers that are done again */
    BLOCK_EXPERTS_AGAIN,
    N_BLOCKS,
};

/** Where tp turns in a layer: gathered before, summed up behind the products of attention and of the MLP (of
 * experts: the shared ones). */
enum block_turn { TURN_ATTENTION_IN, TURN_ATTENTION_OUT, TURN_MLP_IN, TURN_MLP_OUT, N_BLOCK_TURNS };

/** Compute time without communication [s]; FLOP of one NPU in one forward pass. */
struct block_cost {
    double forward_s;   /**< all but the core */
    double core_s;      /**< attention of queries, keys and values: what selective recomputation does again */
    double core_back_s; /**< its backward pass */
    double input_s;     /**< matrix products for input gradients */
    double weight_s;    /**< for weight gradients, and adding them up */
    double rest_s;      /**< the rest of the backward pass, bound by memory */
    double again_s;     /**< of forward_s, what recomputation per operator (selective, sac) does again */
    double again_flop;  /**< matrix products of that */
    double shared_forward_s, shared_input_s, shared_weight_s; /**< of them, shared experts */
    double turn_s[N_BLOCK_TURNS]; /**< of forward_s, products next to each turn of tp */
    double
        last_s; /**< of forward_s, the last product of a dense layer and its cast: nothing keeps its output */
    double last_flop;
    double flop;      /**< matrix products forward, attention in full, copies on several NPUs once: what MFU
                           counts */
    double core_flop; /**< of them, attention */
    double pad_flop;  /**< besides, forward: rows that fill the vocabulary up, which no token uses */
    /** What attention does of it: half where it is causal and fused; backward as well. */
    double core_done_flop, core_back_done_flop;
};

/** Tokens that pass an NPU per microbatch: sequences times its part of a sequence. */
double block_tokens(const struct plan *p, const struct model *m);

/**
 * Cost of one block. Matrix products by roofline_product_s() in the shapes of their passes (backward: two
 * products as large as forward); elementwise work by the bytes of Megatron-class fused kernels. O(1); of a
 * CNN O(convolutions).
 * Sources: arXiv 2104.04473, 2205.05198 (shapes); byte counts per operator in docs/training.md.
 */
void block_cost(struct block_cost *c, enum block_kind kind, const struct model *m, const struct plan *p,
                const struct topo_npu *npu);

/* ---- memory ---- */

enum memory_term {
    MEMORY_WEIGHTS,
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,   /**< master weights and two moments */
    MEMORY_ACTIVATIONS, /**< kept from forward to backward pass */
    MEMORY_BUFFERS,     /**< gathered parameters, a layer being recomputed, messages */
    MEMORY_RESERVED,    /**< the plan's mem_margin on all of these, and its context */
    N_MEMORY_TERMS,
};

extern const char *const memory_term_words[N_MEMORY_TERMS + 1];

/** Of the stage that needs most. */
struct memory {
    int64_t stage;                 /**< from 0 */
    double term_B[N_MEMORY_TERMS]; /**< [B] */
    double total_B;
};

/**
 * Bytes that one layer keeps of one microbatch until its backward pass. Source: arXiv 2205.05198 section 4
 * (GELU, unfused attention with dropout: s b h (10 + 24/t + 5 a s/(h t)) and its variants), term by term for
 * the others.
 */
double memory_layer_B(const struct model *m, const struct plan *p, bool experts);

/** Microbatches' worth of layers that @p stage (from 0) keeps at once: min(m, p - stage) in 1F1B, m in GPipe;
 * interleaved, the first stage's p of them times 1 + (p-1)/(p v). Any stage of zb1p keeps p, of dualpipe p +
 * 1, of dualpipev p + 1/2 (deepseek-ai/DualPipe README). */
double memory_in_flight(const struct plan *p, int64_t stage);

/** What layers and ends of a stage need, by layers without and with experts. */
struct memory_layers {
    double kept_B[2];                 /**< memory_layer_B() */
    double once_B[2];                 /**< the same if nothing were done again */
    struct model_share params[2];     /**< of a layer; as the rest, before DP shares them out */
    double embed_params, head_params; /**< of the first and the last stage */
    double copy_params; /**< of a last stage that is not the first: a tied embedding is held at both ends, and
                           so is that of multi-token prediction */
};

void memory_layers(struct memory_layers *out, const struct model *m, const struct plan *p);

/* ---- what is the same for many plans of one search, found once ---- */

enum { PLAN_MEMO_BLOCKS = 32, PLAN_MEMO_STAGES = 16 };

/** Of what a search varies, what blocks depend on. No padding: keys are compared as bytes. */
struct plan_memo_key {
    int64_t tp, cp, ep, micro, recompute, recompute_ops, gather_bits, context, precision, seq_parallel;
};

/** Of what it varies, what stages depend on; again: plan_is_partly_again(). */
struct plan_memo_stages {
    int64_t pp, interleave, ends, again;
    int32_t n; /**< 0: empty */
    struct plan_stage stages[PLAN_MAX_STAGES];
};

struct plan_memo_blocks {
    struct plan_memo_key key;
    bool known[BLOCK_HEAD + 1]; /**< costs */
    bool weighed;               /**< layers are known */
    struct block_cost costs[BLOCK_HEAD + 1];
    struct memory_layers layers;
};

/** Of plans of one model on one NPU that differ in keys of `search` and in degrees alone. Zero-initialise;
 * one thread at a time. An entry that is in the way is replaced: what is found does not depend on it. */
struct plan_memo {
    struct plan_memo_blocks blocks[PLAN_MEMO_BLOCKS];
    struct plan_memo_stages stages[PLAN_MEMO_STAGES];
};

/** block_cost(), memory_layers() and plan_stages(), from the memo where they are there. @p memo may be NULL.
 */
void plan_memo_cost(struct block_cost *c, struct plan_memo *memo, enum block_kind kind, const struct model *m,
                    const struct plan *p, const struct topo_npu *npu);
void plan_memo_layers(struct memory_layers *out, struct plan_memo *memo, const struct model *m,
                      const struct plan *p);
int32_t plan_memo_stages(struct plan_stage out[PLAN_MAX_STAGES], struct plan_memo *memo, const struct plan *p,
                         const struct model *m);

/** Memory of a legal plan. O(stages). @p memo may be NULL. */
void memory_plan_kept(struct memory *out, struct plan_memo *memo, const struct model *m,
                      const struct plan *p);
/** The same without one. */
void memory_plan(struct memory *out, const struct model *m, const struct plan *p);

#endif
