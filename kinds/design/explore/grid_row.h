/** @file Private to kinds/design/grid: a run of combinations that differ in the innermost axes, and what
 * passes it. */
#ifndef KINDS_DESIGN_EXPLORE_GRID_ROW_H
#define KINDS_DESIGN_EXPLORE_GRID_ROW_H

#include <stdint.h>
#include <string.h>

#include "topo/network.h"

/** Combinations that are looked at together: arrays of a row are padded to a multiple. */
enum { GRID_BLOCK = 16, GRID_LINEAR = 3 };

/** A price or a bandwidth as a sum over dimensions, in their order: of some the innermost axes choose. */
struct grid_sum {
    double start; /**< with dimensions before the first part */
    int32_t n;
    struct grid_part {
        const double *inner; /**< shape [row], borrowed; NULL = `add` for the whole row */
        double add;
    } parts[TOPO_MAX_DIMS];
};

/** Buckets of a column: floating-point numbers are in the order of their bits, so an octave is so many. */
struct grid_scale {
    int32_t shift;
    int64_t base, n;
};

/** Which bucket @p x >= 0 is in; n-1 at most. */
static inline int64_t grid_bucket(const struct grid_scale *s, double x)
{
    int64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits >> s->shift) - s->base;
    return bits < 0 ? 0 : bits < s->n ? bits : s->n - 1;
}

/** All that lies in the bucket or above is >= this. */
static inline double grid_bucket_edge(const struct grid_scale *s, int64_t bucket)
{
    double x;
    int64_t bits = (bucket + s->base) << s->shift;
    memcpy(&x, &bits, sizeof x);
    return bucket > 0 ? x : 0;
}

/** The bar: most time that a point may take whose linear columns are no less than the edges of the buckets.
 */
struct grid_bar {
    int32_t n_columns; /**< 1 to GRID_LINEAR */
    struct grid_scale scales[GRID_LINEAR];
    const double *most_s; /**< shape [scales[0].n][scales[1].n].. */
};

/** One row, ready for the loop over it. */
struct grid_row {
    int32_t n_leaves;
    int64_t stride; /**< numbers between arrays of leaves */
    double const_s;
    const double *base_s; /**< shape [n_leaves]: over dimensions outside the row */
    const double *leaf_s; /**< shape [n_leaves][stride]: over those inside */
    const double
        *inv; /**< shape [stride]; NULL, or leaves are made from it: slopes[l]*inv instead of leaf_s */
    const double *slopes;              /**< shape [n_leaves]: traffic on the only dimension inside */
    struct grid_sum sums[GRID_LINEAR]; /**< shape [bar->n_columns] */
    struct grid_bar bar;
    int32_t n_caps; /**< limits of linear columns */
    struct grid_sum caps[GRID_LINEAR];
    double most[GRID_LINEAR];
};

/** A combination that passed. */
struct grid_hit {
    int64_t k;
    double time_s;
};

/**
 * Evaluate begin..end-1 of a row and write down those that are not above the bar, in order. Whole blocks are
 * looked at: what lies beyond the ends may be among them. By vectors of 4 numbers (AVX2) and of 2.
 * @param[out] hits  shape [end - begin + 2*GRID_BLOCK].
 * @return how many.
 */
int64_t grid_sift_4(const struct grid_row *r, int64_t begin, int64_t end, struct grid_hit *hits);
int64_t grid_sift_2(const struct grid_row *r, int64_t begin, int64_t end, struct grid_hit *hits);

#endif
