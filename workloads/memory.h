/** @file Memory that training takes of one NPU, term by term. */
#ifndef WORKLOADS_MEMORY_H
#define WORKLOADS_MEMORY_H

#include "workloads/block.h"

enum memory_term {
    MEMORY_WEIGHTS,
    MEMORY_GRADIENTS,
    MEMORY_OPTIMIZER,   /**< master weights and two moments, fp32 */
    MEMORY_ACTIVATIONS, /**< kept from forward to backward pass */
    MEMORY_BUFFERS,     /**< gathered parameters, a layer being recomputed, messages */
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
 * interleaved, the first stage's p of them times 1 + (p-1)/(p v). */
double memory_in_flight(const struct plan *p, int64_t stage);

/** Memory of a legal plan. O(1); O(layers) of a model with experts. */
void memory_plan(struct memory *out, const struct model *m, const struct plan *p);

#endif
