/** @file Random knapsacks for tests, degenerate ones among them, and their optimum by enumeration. */
#ifndef TESTS_UNIT_KNAPSACK_RANDOM_H
#define TESTS_UNIT_KNAPSACK_RANDOM_H

#include "base/rng.h"
#include "sim/interval/interval.h"

enum { KNAPSACK_RANDOM_MOST = 200 };

struct knapsack_random {
    double value[KNAPSACK_RANDOM_MOST], weight[KNAPSACK_RANDOM_MOST * KNAPSACK_MAX_ROWS];
    double capacity[KNAPSACK_MAX_ROWS];
    struct knapsack k; /**< borrows the arrays above */
};

/**
 * Kinds, by chance: values all equal or from a few, weights that are 0, items that are alike, items that are
 * there twice, a row without capacity, real numbers or small whole ones.
 */
static inline void knapsack_draw(struct knapsack_random *x, struct rng *rng, int32_t n, int32_t n_rows)
{
    const bool same_value = rng_below(rng, 4) == 0, few = rng_below(rng, 3) == 0,
               alike = rng_below(rng, 5) == 0, twins = rng_below(rng, 4) == 0;
    const bool zeros = rng_below(rng, 3) == 0, barred = rng_below(rng, 8) == 0;
    x->k = (struct knapsack){ n, n_rows, x->value, x->weight, x->capacity };
    for (int32_t r = 0; r < n_rows; r++)
        x->capacity[r] = 0;
    for (int32_t j = 0; j < n; j++) {
        const bool again = twins && j % 2;
        x->value[j] = same_value ? 7 : few ? (double)rng_below(rng, 4) : rng_range(rng, 0, 100);
        if (again)
            x->value[j] = x->value[j - 1];
        for (int32_t r = 0; r < n_rows; r++) {
            double weight = few ? (double)rng_below(rng, 5) : rng_range(rng, 0, 10);
            if (zeros && rng_below(rng, 2) == 0)
                weight = 0;
            if (alike && j > 0)
                weight = x->weight[r];
            if (again)
                weight = x->weight[(j - 1) * n_rows + r];
            x->weight[j * n_rows + r] = weight;
            x->capacity[r] += weight;
        }
    }
    for (int32_t r = 0; r < n_rows; r++)
        x->capacity[r] *= rng_range(rng, 0.1, 0.9);
    if (barred)
        x->capacity[0] = 0;
}

/** Best value over all choices, and the least number of items that reach it. n at most 20. */
static inline double knapsack_enumerate(const struct knapsack *k, int32_t *n_items)
{
    double best = 0;
    *n_items = 0;
    for (uint32_t set = 0; set < 1u << k->n; set++) {
        double value = 0, used[KNAPSACK_MAX_ROWS] = { 0 };
        int32_t size = 0;
        bool fits = true;
        for (int32_t j = 0; j < k->n; j++) {
            if (!(set >> j & 1))
                continue;
            size++;
            value += k->value[j];
            for (int32_t r = 0; r < k->n_rows; r++)
                used[r] += k->weight[j * k->n_rows + r];
        }
        for (int32_t r = 0; r < k->n_rows; r++)
            fits = fits && used[r] <= k->capacity[r] * (1 + 1e-9);
        if (fits && (value > best + 1e-9 || (value > best - 1e-9 && size < *n_items))) {
            best = value > best ? value : best;
            *n_items = size;
        }
    }
    return best;
}

#endif
