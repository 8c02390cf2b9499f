/** @file Split problems drawn at random: collectives that cannot be merged, rows that can be met. */
#ifndef BENCH_DRAW_H
#define BENCH_DRAW_H

#include "alloc/problem.h"
#include "base/rng.h"

enum { DRAW_ROWS = 8 };

/** One problem; `problem` points into the rest. Release with draw_free(). */
struct draw {
    struct step_fn step; /**< a sum: compute and the leaves */
    struct alloc_row rows[DRAW_ROWS];
    const char *names[TOPO_MAX_DIMS];
    struct alloc_problem problem;
};

/** T(B) alone: @p n_leaves collectives, 1e6 to 1e10 bytes on each dimension; some leave a dimension out. */
void draw_step(struct step_fn *f, int32_t n_dims, int32_t n_leaves, struct rng *rng);

/**
 * 2 to 6 dimensions, 1 to 20 collectives, 1 to 7 rows. The rows all hold at one split, drawn first: a total
 * that is met or kept, then ranges, orders, sums and weighted sums.
 */
void draw_problem(struct draw *p, struct rng *rng);
void draw_free(struct draw *p);

#endif
