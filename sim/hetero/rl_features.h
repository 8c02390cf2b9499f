/** @file What a policy is told of a model's layers. */
#ifndef SIM_HETERO_RL_FEATURES_H
#define SIM_HETERO_RL_FEATURES_H

#include "sim/hetero/hetero.h"

/** Features of a layer: 1; where it stands; its kind and its number, one-hot; sizes of its input and weights;
 * seconds of computing and of communicating on each type. */
int32_t hetero_rl_n_features(const struct hetero_profile *p);

/**
 * Into @p x, shape [n_layers][hetero_rl_n_features()]. Sizes and seconds as logarithms (one byte, one
 * nanosecond more, so that nothing is a number too), each with mean 0 and variance 1 over the layers; all 0
 * where layers do not differ.
 */
void hetero_rl_features(double *x, const struct hetero_profile *p);

#endif
