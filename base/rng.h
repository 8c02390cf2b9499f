/** @file Seeded random numbers; the only source of randomness in the program. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

#include "base/err.h"

/** Opaque: GSL's MT19937. One per thread of work; never shared. */
struct rng;

/**
 * Owned by the caller, release with rng_free(). Same seed and stream, same numbers, on any
 * machine. For one seed, streams below 2^32 all start MT19937 differently.
 * @return 0 or ERR_NOMEM, then *out is NULL.
 */
int rng_build(struct rng **out, uint64_t seed, uint64_t stream, struct err *e);
void rng_free(struct rng *r); /**< NULL is fine */

double rng_uniform(struct rng *r);                         /**< [0, 1), 53 random bits */
double rng_range(struct rng *r, double lo, double hi);     /**< [lo, hi); lo when lo == hi */
int64_t rng_below(struct rng *r, int64_t n);               /**< 0..n-1, n >= 1, without bias */
double rng_log_range(struct rng *r, double lo, double hi); /**< log-uniform on [lo, hi], 0 < lo <= hi */
double rng_normal(struct rng *r);                          /**< mean 0, variance 1 */

#endif
