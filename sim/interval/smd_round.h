/** @file From real to whole numbers of workers and servers, at random. */
#ifndef SIM_INTERVAL_SMD_ROUND_H
#define SIM_INTERVAL_SMD_ROUND_H

#include "base/rng.h"
#include "sim/interval/smd_inner.h"

/** What the real point is multiplied by before it is rounded. */
enum smd_scale {
    SMD_SCALE_ONE,     /**< 1: as the paper's experiments */
    SMD_SCALE_LITERAL, /**< M_delta below 1, which bounds the chance to break a limit: as its analysis */
};

enum smd_keep { SMD_KEEP_BEST, SMD_KEEP_FIRST };

struct smd_rounding {
    enum smd_scale scale;
    enum smd_keep keep; /**< of the tries within the limit; the paper keeps the first */
    double delta;       /**< chance given to failure, above 0 and below 1 */
    int32_t tries;      /**< F, >= 1 */
};

/**
 * M_delta = 1 + A - sqrt(A^2 + 2A), A = 3 ln(2R/delta) / (2W), W the least quotient of a limit and a demand
 * above 0: arXiv 2105.13855 section V. 0 when there is no room at all.
 */
double smd_round_scale(const struct smd_job *job, int32_t n_resources, double delta);

/**
 * Round each coordinate of scale * @p x up with the chance of its fraction, else down, not below 1: Alg. 2.
 * Up to tries times; where none is within the limit, down without chance, and then (1, 1), which fits. Not as
 * printed: the chance is that of the scaled point on both sides, and one success ends it (SMD_KEEP_FIRST).
 * @param x  smd_inner_grid() of a job for which (1, 1) fits
 */
struct smd_point smd_round(const struct smd_point *x, const struct smd_job *job, int32_t n_resources,
                           const struct smd_rounding *how, struct rng *rng);

#endif
