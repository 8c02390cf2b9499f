/** @file All ways to factor a number of NPUs into dimensions of a network, under limits of its tiers. */
#ifndef KINDS_FACTOR_H
#define KINDS_FACTOR_H

#include "study/axes.h"
#include "topo/network.h"

enum { FACTOR_MAX_TIERS = 16, FACTOR_MAX_SIZES = 64, FACTOR_SHAPES = N_TOPO_PLAIN };

/** A number of dimensions, or a range of them. */
struct factor_dims {
    int32_t from, to;
};

/** What dimensions may lie in one tier. */
struct factor_tier {
    enum topo_shape shapes[FACTOR_SHAPES]; /**< shape [n_shapes], each once */
    int32_t n_shapes;
    int64_t sizes[FACTOR_MAX_SIZES]; /**< shape [n_sizes]; 0 = any */
    int32_t n_sizes;
    int64_t min, max;        /**< of a size */
    int64_t radix;           /**< ports; -1 = any number */
    int64_t max_npus;        /**< product of sizes up to and including this tier */
    struct factor_dims dims; /**< that lie in it */
    char name[TOPO_NAME];
    struct text words;        /**< keys that every dimension has, "latency_ns: 25, tier: A" */
    struct text switch_words; /**< those that only a switch has */
};

/** Networks that are wanted. Zero-initialise; release with factor_free(). */
struct factor {
    int64_t npus;
    struct factor_dims dims;
    int32_t n_tiers;
    struct factor_tier tiers[FACTOR_MAX_TIERS]; /**< innermost first */
    struct text words;                          /**< keys that every network has beside dims */
};

/**
 * How many there are; 2^53 stands for more. A network is a list of dimensions of at least 2 members,
 * innermost first, whose tiers never go inwards and whose sizes multiply to npus.
 * @return 0 or ERR_NOMEM.
 */
int factor_count(int64_t *n, const struct factor *f, struct err *e);

/**
 * Append each as YAML text: by number of dimensions, then by tier, shape (in the order of the tier's) and
 * size of the innermost, of the next, and so on.
 * Time and memory O(text), besides O(tiers * dims^2 * divisors * their divisors) at most.
 * @return 0 or ERR_NOMEM.
 */
int factor_write(struct sweep_column *out, const struct factor *f, struct err *e);

void factor_free(struct factor *f);

extern const struct section sweep_factor_section, sweep_factor_tier_section, sweep_factor_dims_section;

#endif
