/** @file Seeded random numbers; the only source of randomness in the program. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

#include "base/err.h"

/**
 * Opaque: GSL's MT19937. One per thread of work; never shared. State is 5 KB; building one takes some
 * microseconds, since MT19937 fills all of it.
 */
struct rng;

/**
 * Owned by the caller, release with rng_free(). Same seed and stream, same numbers, on any machine:
 * rng_uniform(), rng_range() and rng_below() use operations that IEEE 754 rounds in one way only.
 * (rng_log_range() and rng_normal() go through log() and exp() of the C library, whose last bit may differ.)
 * For one seed, streams below 2^32 all start MT19937 differently.
 * @return 0 or ERR_NOMEM, then *out is NULL.
 */
int rng_build(struct rng **out, uint64_t seed, uint64_t stream, struct err *e);
void rng_free(struct rng *r); /**< NULL is fine */

/** From lo to hi, both included where whole numbers are drawn. */
struct draw_range {
    double lo, hi;
};

double rng_uniform(struct rng *r);                         /**< [0, 1), 53 random bits */
double rng_range(struct rng *r, double lo, double hi);     /**< [lo, hi); lo when lo == hi */
int64_t rng_below(struct rng *r, int64_t n);               /**< 0..n-1, n >= 1, without bias */
double rng_log_range(struct rng *r, double lo, double hi); /**< log-uniform on [lo, hi], 0 < lo <= hi */
double rng_normal(struct rng *r);                          /**< mean 0, variance 1 */

/**
 * Opaque: Sobol's quasi-random points, by GSL. They fill [0, 1)^n more evenly than random ones, and every
 * beginning of the sequence does. GSL leaves out the origin: the first point has 0.5 everywhere. Bratley and
 * Fox, "Algorithm 659", ACM TOMS 14, 1988.
 */
struct rng_sobol;

enum { RNG_SOBOL_DIMS = 40, RNG_SOBOL_POINTS = (1 << 30) - 1 };

/** Of @p n_dims numbers a point, 1 to RNG_SOBOL_DIMS. Owned by the caller. ERR_NOMEM, then *out is NULL. */
int rng_sobol_build(struct rng_sobol **out, int32_t n_dims, struct err *e);
/** The next point, at most RNG_SOBOL_POINTS of them: @p x has shape [n_dims], multiples of 2^-30 in (0, 1).
 */
void rng_sobol_next(struct rng_sobol *s, double *x);
void rng_sobol_free(struct rng_sobol *s); /**< NULL is fine */

#endif
