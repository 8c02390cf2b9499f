/**
 * @file What a Gaussian process expects of plans that were not tried, from those that were.
 *
 * Targets y at plans x have covariance k(x, x') = exp(-h(x, x') / length), h the number of layers on
 * different types, and noise on the diagonal; they are scaled to mean 0 and variance 1. The posterior at x
 * has mean k' K^-1 y and variance 1 - k' K^-1 k (Rasmussen and Williams, Gaussian Processes for
 * Machine Learning, 2006, equations 2.25 and 2.26, and algorithm 2.1 with Cholesky factors).
 */
#ifndef SIM_HETERO_BAYES_H
#define SIM_HETERO_BAYES_H

#include <stdbool.h>

#include "sim/hetero/hetero.h"

enum { HETERO_GUESSES = 8 }; /**< plans that are looked at together */

/** Release with hetero_surrogate_free(). */
struct hetero_surrogate {
    struct arena arena;                   /**< of all arrays */
    int32_t n_layers, n, cap;             /**< plans it knows, and has room for */
    double length, noise;                 /**< length in layers */
    hetero_id *plans;                     /**< shape [cap][n_layers] */
    double *factor;                       /**< lower Cholesky factor of K, row i at i (i + 1) / 2 */
    double *halves;                       /**< shape [cap]: L^-1 y */
    double *room;                         /**< shape [cap][HETERO_GUESSES] */
    double kernel[HETERO_MAX_LAYERS + 1]; /**< by the number of layers that differ */
    double mean, scale;                   /**< of the targets */
};

struct hetero_guess {
    double mean, deviation; /**< of the target, in its own units */
};

/** Room for @p cap plans. @p length > 0, @p noise >= 0. 0 or ERR_NOMEM; empty after failure. */
int hetero_surrogate_build(struct hetero_surrogate *g, int32_t n_layers, int32_t cap, double length,
                           double noise, struct err *e);
void hetero_surrogate_free(struct hetero_surrogate *g);

/**
 * One more plan, n < cap: a row for the Cholesky factor, O(n^2) rather than O(n^3) anew. False: without
 * noise a plan that it knows adds nothing; it is left out.
 */
bool hetero_surrogate_add(struct hetero_surrogate *g, const hetero_id *plan);

/** Targets of all plans, shape [n], n >= 1, in the order in which they came. O(n^2). */
void hetero_surrogate_fit(struct hetero_surrogate *g, const double *targets);

/**
 * After a fit: what to expect of plans, @p plans of shape [n_plans][n_layers], into @p guesses, shape
 * [n_plans]; 1 to HETERO_GUESSES of them. O(n (n + n_layers)) each; uses g->room: one thread only.
 */
void hetero_surrogate_guess(struct hetero_guess *guesses, struct hetero_surrogate *g, const hetero_id *plans,
                            int32_t n_plans);

/** How far a target below @p best is expected to fall: the mean of max(0, best - y), y normal. */
double hetero_expected_gain(const struct hetero_guess *g, double best);

#endif
