/**
 * @file What is trained: softmax regression, or a network of fully connected layers with ReLU between them
 * and softmax at the end. All its parameters are one array of float32.
 */
#ifndef SIM_GOSSIP_LEARNER_H
#define SIM_GOSSIP_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "sim/gossip/data.h"

enum {
    GOSSIP_MAX_LAYERS = 8,
    GOSSIP_MAX_TENSORS = 2 * GOSSIP_MAX_LAYERS,
    GOSSIP_MAX_WIDTH = 1 << 14,  /**< units of a hidden layer */
    GOSSIP_MAX_PARAMS = 1 << 26, /**< of one model */
};

/** Shapes. Plain value. */
struct gossip_net {
    int32_t n_layers;                      /**< with weights; 1: softmax regression */
    int32_t width[GOSSIP_MAX_LAYERS + 1];  /**< features, hidden layers, classes */
    int32_t n_tensors;                     /**< 2 n_layers: weights of layer l are tensor 2l, biases 2l + 1 */
    int32_t first[GOSSIP_MAX_TENSORS + 1]; /**< tensor t is parameters first[t]..first[t + 1]; weights have
                                              shape [width in][width out] */
    int32_t n_params;
};

/** @p hidden: shape [n_hidden], 0 of them for softmax regression. ERR_RANGE: a width or count that is none.
 */
int gossip_net_build(struct gossip_net *net, int32_t n_features, const int32_t *hidden, int32_t n_hidden,
                     int32_t n_classes, struct err *e);

/** Parameters to begin with, @p x of shape [n_params]: weights normal with variance 2 / width in (He et al.,
 * arXiv 1502.01852), those of the last layer 1 / width in; biases 0. */
void gossip_net_draw(float *x, const struct gossip_net *net, struct rng *r);

/** Opaque: room for a batch on its way through a network. One per thread of work. */
struct gossip_pass;
/** For batches of at most @p batch examples. NULL in @p out after failure; ERR_NOMEM. */
int gossip_pass_build(struct gossip_pass **out, const struct gossip_net *net, int32_t batch, struct err *e);
void gossip_pass_free(struct gossip_pass *p); /**< NULL is fine */

/**
 * The gradient @p g, shape [n_params], of the mean cross-entropy [nats] over the @p n examples of @p data
 * numbered @p batch, at parameters @p x. Returns that mean. Where an input, a parameter or a unit is no
 * finite number, also one that a ReLU would hide, it is NaN and so is all of @p g. Same bytes on any machine.
 * O(n n_params).
 */
double gossip_gradient(float *g, const float *x, const struct gossip_net *net, const struct gossip_data *data,
                       const int64_t *batch, int32_t n, struct gossip_pass *p);

/** Share of the examples of @p data that have the largest output at their class, the first of equals; [0, 1].
 */
double gossip_accuracy(const float *x, const struct gossip_net *net, const struct gossip_data *data,
                       struct gossip_pass *p);

/* ---- optimisers ---- */

enum gossip_optimizer {
    GOSSIP_SGD,   /**< v <- momentum v - rate g; x <- x + v */
    GOSSIP_ADAMW, /**< arXiv 1711.05101, algorithm 2; beta_1 0.9, beta_2 0.999, epsilon 1e-8 */
    N_GOSSIP_OPTIMIZERS,
};
/** "sgd", "adamw"; NULL-terminated. */
extern const char *const gossip_optimizer_words[N_GOSSIP_OPTIMIZERS + 1];

/** What an optimiser remembers of one worker. */
struct gossip_memory {
    float *v; /**< shape [n_params]: velocity; of AdamW the mean of gradients */
    float *s; /**< shape [n_params]: mean of squares; NULL for SGD */
    int64_t steps;
    double v_left, s_left; /**< AdamW's beta_1 and beta_2 to the power of the steps; set by the first */
};

struct gossip_update {
    enum gossip_optimizer kind;
    double rate, momentum;
    double weight_decay; /**< AdamW's: x loses rate * weight_decay of itself; SGD adds it times x to g */
};

/** One step of @p x along @p g, all of shape [n]. O(n). */
void gossip_optimize(float *x, const float *g, struct gossip_memory *m, const struct gossip_update *u,
                     int32_t n);

/* ---- the product of float32 matrices that learning consists of ---- */

/** A matrix to be read, borrowed: number (i, j) is at[i * row + j * col]. Transposed: row and col change
 * places. */
struct kernel_matrix {
    const float *at;
    ptrdiff_t row, col;
};

/**
 * C = A B, or C += A B with @p add: A is @p m x @p k, B is @p k x @p n, C is @p m x @p n without gaps between
 * rows and apart from both; any size from 1. Terms that are no numbers, or infinite, are multiplied like all
 * others. O(m n k); fastest with m a multiple of 4 and n of 16.
 */
void kernel_product(float *c, struct kernel_matrix a, struct kernel_matrix b, int32_t m, int32_t n, int32_t k,
                    bool add);

/** Floats in the longest vector that is used here: 8 with AVX2, else 4. */
int32_t kernel_lanes(void);

/** kernel_product() by vectors of @p lanes: 4, or 8 if kernel_lanes() is. The bytes are the same. */
void kernel_product_by(int32_t lanes, float *c, struct kernel_matrix a, struct kernel_matrix b, int32_t m,
                       int32_t n, int32_t k, bool add);

#endif
