/** @file What one block of a model (a layer, the embedding, the logits) costs an NPU per microbatch. */
#ifndef WORKLOADS_BLOCK_H
#define WORKLOADS_BLOCK_H

#include "workloads/model.h"
#include "workloads/plan.h"

enum block_kind {
    BLOCK_DENSE,   /**< transformer layer */
    BLOCK_EXPERTS, /**< transformer layer with experts */
    BLOCK_EMBED,   /**< before the first layer; of a DLRM: tables and bottom layers */
    BLOCK_HEAD, /**< after the last layer: logits and loss; of a DLRM: interaction and top; of a CNN: all */
    N_BLOCKS,
};

/** Compute time without communication [s]; FLOP of one NPU in one forward pass. */
struct block_cost {
    double forward_s;   /**< all but the core */
    double core_s;      /**< attention of queries, keys and values: what selective recomputation does again */
    double core_back_s; /**< its backward pass */
    double input_s;     /**< matrix products for input gradients */
    double weight_s;    /**< for weight gradients, and adding them up */
    double rest_s;      /**< the rest of the backward pass, bound by memory */
    double flop;        /**< matrix products forward, attention in full, copies on several NPUs once: what MFU
                             counts */
    double core_flop;   /**< of them, attention */
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

#endif
