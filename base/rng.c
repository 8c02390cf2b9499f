/*
 * GSL's MT19937 (Matsumoto and Nishimura, ACM TOMACS 8, 1998) with memory, seeding and conversions of our
 * own. GSL's own conversions are not used: gsl_rng_uniform() gives 32 bits, and gsl_rng_alloc() calls a
 * handler of the whole program when memory is short.
 *
 * A stream is a number that names what is drawn (a job, a worker, a layer), so that drawing one more thing
 * does not shift the others and the order in which threads draw does not matter. Seed and stream are mixed so
 * that neighbours (seed 1 and 2, stream 7 and 8) start unrelated generators.
 */

#include "base/rng.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_qrng.h>
#include <gsl/gsl_rng.h>

#include "base/hash.h"

struct rng {
    gsl_rng gsl; /* its state is ours: gsl_rng_alloc() may abort the program when memory is short */
};

/* The 32-bit finaliser of MurmurHash3 (A. Appleby, public domain): a bijection. */
static uint32_t mix32(uint32_t x)
{
    x = (x ^ (x >> 16)) * 0x85ebca6bu;
    x = (x ^ (x >> 13)) * 0xc2b2ae35u;
    return x ^ (x >> 16);
}

/* MT19937 takes 32 bits. A plain hash of (seed, stream) would let two of 65,536 streams
 * meet about every other time (birthday); a bijection of the stream cannot. */
static uint32_t start_value(uint64_t seed, uint64_t stream)
{
    uint64_t key = hash_split(seed ^ hash_split(stream >> 32));
    return mix32((uint32_t)stream ^ (uint32_t)key) ^ (uint32_t)(key >> 32);
}

int rng_build(struct rng **out, uint64_t seed, uint64_t stream, struct err *e)
{
    *out = NULL;
    struct rng *r = calloc(1, sizeof *r);
    void *state = malloc(gsl_rng_mt19937->size);
    if (!r || !state) {
        free(r);
        free(state);
        return err_nomem(e, "random numbers");
    }
    r->gsl.type = gsl_rng_mt19937;
    r->gsl.state = state;
    gsl_rng_set(&r->gsl, start_value(seed, stream));
    *out = r;
    return 0;
}

void rng_free(struct rng *r)
{
    if (!r)
        return;
    free(r->gsl.state);
    free(r);
}

static uint64_t draw32(struct rng *r)
{
    return (uint64_t)gsl_rng_get(&r->gsl);
}

/* All 53 bits of a double; gsl_rng_uniform() would give 32. */
double rng_uniform(struct rng *r)
{
    uint64_t high = draw32(r) >> 5, low = draw32(r) >> 6;
    return ldexp((double)((high << 26) | low), -53);
}

/* Rounding may reach hi although the uniform number is below 1. */
double rng_range(struct rng *r, double lo, double hi)
{
    assert(lo <= hi);
    double x = lo + (hi - lo) * rng_uniform(r);
    return x < hi || lo == hi ? x : nextafter(hi, lo);
}

int64_t rng_below(struct rng *r, int64_t n)
{
    assert(n >= 1);
    /* 2^64 mod n numbers at the bottom are left out, so each remainder is met equally often. */
    uint64_t m = (uint64_t)n, skip = (0 - m) % m, x;
    do {
        uint64_t high = draw32(r);
        x = (high << 32) | draw32(r);
    } while (x < skip);
    return (int64_t)(x % m);
}

double rng_log_range(struct rng *r, double lo, double hi)
{
    assert(0 < lo && lo <= hi);
    double x = lo * exp(rng_uniform(r) * (log(hi) - log(lo)));
    return fmin(fmax(x, lo), hi);
}

/* Marsaglia's polar method; the second number of the pair is dropped so that a
 * generator has no state beside MT19937's. */
double rng_normal(struct rng *r)
{
    double x, y, square;
    do {
        x = 2 * rng_uniform(r) - 1;
        y = 2 * rng_uniform(r) - 1;
        square = x * x + y * y;
    } while (!(square > 0 && square < 1));
    return x * sqrt(-2 * log(square) / square);
}

/* ---- quasi-random points ---- */

struct rng_sobol {
    unsigned n_dims;
    void *state; /* ours, as that of gsl_rng is */
};

int rng_sobol_build(struct rng_sobol **out, int32_t n_dims, struct err *e)
{
    assert(n_dims >= 1 && n_dims <= RNG_SOBOL_DIMS);
    struct rng_sobol *s = calloc(1, sizeof *s);
    void *state = malloc(gsl_qrng_sobol->state_size((unsigned)n_dims));
    *out = s;
    if (!s || !state) {
        free(s);
        free(state);
        *out = NULL;
        return err_nomem(e, "quasi-random numbers");
    }
    s->n_dims = (unsigned)n_dims;
    s->state = state;
    gsl_qrng_sobol->init_state(state, s->n_dims);
    return 0;
}

void rng_sobol_next(struct rng_sobol *s, double *x)
{
    int rc = gsl_qrng_sobol->get(s->state, s->n_dims, x);
    assert(rc == 0);
    (void)rc;
}

void rng_sobol_free(struct rng_sobol *s)
{
    if (!s)
        return;
    free(s->state);
    free(s);
}
