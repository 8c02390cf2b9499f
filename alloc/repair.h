/** @file Feasibility of a split: how far outside a row it is, and the way back. */
#ifndef ALLOC_REPAIR_H
#define ALLOC_REPAIR_H

#include "alloc/problem.h"

/** Rounding of the sum of a row, relative to its largest part: nearer than this is inside. */
#define ALLOC_FEASIBLE_REL 4e-15

/** Distance inside an inequality, relative to its largest part; negative outside. */
double alloc_room(const struct alloc_row *row, const double *bw_Bps, int32_t n_dims);

/** Signed distance outside the row, relative to its largest part; 0 inside. */
double alloc_outside(const struct alloc_row *row, const double *bw_Bps, int32_t n_dims);

/**
 * Move B to a nearby point that satisfies every row to rounding: the least
 * relative change that makes the violated rows hold with equality, a few times over.
 * False when that did not do; then B is changed all the same.
 */
bool alloc_repair(const struct alloc_problem *p, double *bw_Bps);

#endif
