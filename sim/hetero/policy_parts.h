/** @file Where the parameters of a policy are; for policy*.c and its tests. */
#ifndef SIM_HETERO_POLICY_PARTS_H
#define SIM_HETERO_POLICY_PARTS_H

#include "sim/hetero/policy.h"

/** Borrowed places in an array of n_params numbers: parameters, or derivatives by them. */
struct policy_parts {
    double *input; /**< W: shape [n_features][n_gates] */
    double *type;  /**< E: shape [n_types + 1][n_gates] */
    double *state; /**< U beside V: shape [hidden][n_out], z before logits */
    double *bias;  /**< v: shape [n_types] */
    double *copy;  /**< q */
};

struct policy_parts policy_parts(const struct policy *p, double *of);

/** @p x, shape [n], on top of @p to. */
static inline void policy_add(double *to, const double *x, int32_t n)
{
    for (int32_t j = 0; j < n; j++)
        to[j] += x[j];
}

#endif
