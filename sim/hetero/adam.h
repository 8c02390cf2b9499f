/** @file Adam: steps of parameters along a noisy gradient. Source: arXiv 1412.6980, algorithm 1. */
#ifndef SIM_HETERO_ADAM_H
#define SIM_HETERO_ADAM_H

#include <stdint.h>

#include "base/err.h"

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

#endif
