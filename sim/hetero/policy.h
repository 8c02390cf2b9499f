/**
 * @file A recurrent network that gives each layer a type, one layer after the other: drawing plans from it,
 * and the gradient of their probabilities.
 *
 *     z_l      = W x_l + E[a_(l-1)] + U h_(l-1)
 *     h_l      = cell(z_l)
 *     logits_l = V h_l + v + q [t = a_(l-1)]
 *     a_l      ~ softmax(logits_l)
 *
 * x_l are features of layer l, the same in all plans, a_(l-1) is the type of the layer before. The first
 * feature should be 1: its row of W is the bias of z. q, the copy logit, is one learned number: plans that
 * are worth something have long stages.
 *
 * Plans that begin with the same types share what the network says so far. So the plans of a round are a
 * tree whose nodes are their distinct beginnings, level by level: level l has what has been decided before
 * layer l, the leaves at level n_layers are the distinct plans. Forward and backward work on nodes; the
 * derivative of a node is the sum over its children. The more the policy has made up its mind, the cheaper a
 * round is.
 *
 * Cells, for each number of h:
 *
 *     LSTM    i, f, o = sigmoid(z_i, z_f, z_o)   g = tanh(z_g)   c = f c_before + i g   h = o tanh(c)
 *     Elman   h = tanh(z)
 *
 * Beside it Adam, the steps of parameters along a noisy gradient, and the features of layers.
 */
#ifndef SIM_HETERO_POLICY_H
#define SIM_HETERO_POLICY_H

#include <stdint.h>

#include "base/err.h"
#include "base/rng.h"
#include "sim/hetero/hetero.h"

enum policy_cell { POLICY_LSTM, POLICY_ELMAN };

struct policy_shape {
    enum policy_cell cell;
    int32_t n_layers, n_types;
    int32_t n_features; /**< of a layer */
    int32_t hidden;     /**< width of h */
    int32_t n_plans;    /**< at most, of a round */
    bool copy_logit;    /**< else q is 0 and stays so */
};

struct policy_node {
    int32_t parent; /**< node one level above; -1 of the root */
    int32_t type;   /**< of the layer before; n_types at the root */
    int32_t count;  /**< plans of the round that begin like this */
};

/** Release with policy_free(). For one thread. */
struct policy {
    struct policy_shape shape;
    int32_t n_gates, n_out; /**< widths of z; of z and logits together */
    int32_t n_params;
    /** shape [n_params]: W [n_features][n_gates], E [n_types + 1][n_gates], U beside V
     * [hidden][n_out], v [n_types], q. */
    double *params;
    double *gradient;       /**< shape [n_params]: of policy_differentiate() */
    const double *features; /**< shape [n_layers][n_features], borrowed */

    struct policy_node *nodes; /**< shape [first[n_layers + 1]]; a level after the other */
    int32_t *first;            /**< shape [n_layers + 2]: first node of each level */
    int32_t *walkers;          /**< shape [n_plans]: the leaf of each plan drawn */
    int32_t *child;            /**< shape [nodes of a level][n_types]: scratch */
    /* Of each node above the leaves: */
    double *gates, *c, *tanh_c, *h; /**< shape [..][n_gates], [..][hidden] */
    double *out;                    /**< shape [..][n_out]: U h, V h, then U h and log p */
    double *prob, *entropy;         /**< shape [..][n_types], [..]: softmax; its entropy [nat] */
    /* Of each node, in the backward pass: */
    double *d_out, *d_c; /**< shape [..][n_out], [..][hidden] */
    double *d_h, *d_z;   /**< shape [a level][hidden], [n_gates]: scratch */
    double *weight;      /**< shape [..]: sum over its plans */
    double *by_layer;    /**< shape [n_layers][n_gates]: W x; backward: derivatives by it */
    double *flipped;     /**< scratch for matrices transposed */
    struct arena arena;  /**< of all arrays */
};

/**
 * @param features  shape [n_layers][n_features], borrowed until policy_free(). All of @p shape >= 1.
 * All parameters zero. Empty after failure; 0 or ERR_NOMEM. Memory O(n_layers n_plans (hidden + n_types)).
 */
int policy_build(struct policy *p, const struct policy_shape *shape, const double *features, struct err *e);
void policy_free(struct policy *p);

/**
 * Parameters to begin with, drawn: W, E and U uniform within 1 / sqrt(n) of zero, n inputs of z; V and v
 * zero, so that every type is as probable as any other, but for @p copy, the copy logit; forget gates are
 * open (bias 1). Source: the usual practice for LSTMs; R. Jozefowicz et al., ICML 2015, for the bias.
 */
void policy_start(struct policy *p, double copy, struct rng *rng);

/** Draw @p n plans, 1 to shape.n_plans. */
void policy_sample(struct policy *p, int32_t n, struct rng *rng);

/** The one plan of which each layer's type is the most probable after those before (of equals the first). */
void policy_decode(struct policy *p);

/** Distinct plans of the last sample or decode. */
static inline int32_t policy_n_leaves(const struct policy *p)
{
    return p->first[p->shape.n_layers + 1] - p->first[p->shape.n_layers];
}

/** How often plan @p leaf of them was drawn. */
static inline int32_t policy_count(const struct policy *p, int32_t leaf)
{
    return p->nodes[p->first[p->shape.n_layers] + leaf].count;
}

/** Plan @p leaf of them, into @p plan, shape [n_layers]; returns how often it was drawn. */
int32_t policy_plan(const struct policy *p, int32_t leaf, hetero_id *plan);

/**
 * The gradient by all parameters, plans as drawn, into p->gradient, of
 *
 *     sum over leaves of count * weights[leaf] * log P(plan)
 *         + bonus * sum over all plans drawn and all their layers of the entropy of the choice there
 *
 * @p weights: shape [policy_n_leaves()]. Backpropagation through all layers, O(nodes * hidden * (n_gates +
 * n_types)).
 */
void policy_differentiate(struct policy *p, const double *weights, double bonus);

/* Adam: steps of parameters along a noisy gradient. Source: arXiv 1412.6980, algorithm 1. */

/** Release with adam_free(). */
struct adam {
    int32_t n;
    double *mean, *square; /**< shape [n], owned: decaying means of the gradient and of its square */
    double mean_decay, square_decay; /**< beta_1, beta_2 to the power of the steps made */
};

/** No steps made. Empty after failure; 0 or ERR_NOMEM. */
int adam_build(struct adam *a, int32_t n, struct err *e);
void adam_free(struct adam *a);

/** Back to no steps made. */
void adam_restart(struct adam *a);

/** @p x, shape [n], one step uphill of about @p rate in each number: rate * mean / (sqrt(square) + 1e-8),
 * means corrected for their start at zero. beta_1 = 0.9, beta_2 = 0.999 as in the paper. O(n). */
void adam_step(struct adam *a, double *x, const double *gradient, double rate);

/* Where the parameters of a policy are. */

/** Borrowed places in an array of n_params numbers: parameters, or derivatives by them. */
struct policy_parts {
    double *input; /**< W: shape [n_features][n_gates] */
    double *type;  /**< E: shape [n_types + 1][n_gates] */
    double *state; /**< U beside V: shape [hidden][n_out], z before logits */
    double *bias;  /**< v: shape [n_types] */
    double *copy;  /**< q */
};

struct policy_parts policy_parts(const struct policy *p, double *of);

/* What a policy is told of a model's layers. */

/** Features of a layer: 1; where it stands; its kind and its number, one-hot; sizes of its input and weights;
 * seconds of computing and of communicating on each type. */
int32_t policy_n_features(const struct hetero_profile *p);

/**
 * Into @p x, shape [n_layers][policy_n_features()]. Sizes and seconds as logarithms (one byte, one
 * nanosecond more, so that nothing is a number too), each with mean 0 and variance 1 over the layers; all 0
 * where layers do not differ.
 */
void policy_features(double *x, const struct hetero_profile *p);

#endif
