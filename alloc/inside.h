/** @file A point well inside the rows, and which of them leave no inside. */
#ifndef ALLOC_INSIDE_H
#define ALLOC_INSIDE_H

#include "alloc/problem.h"

struct alloc_inside {
    bool found;                   /**< false: the rows clash, or starve a dimension that carries traffic */
    double bw_Bps[TOPO_MAX_DIMS]; /**< as far from every row as half the rows' vertices allow */
    bool *implied; /**< shape [n_rows], owned: an inequality that can only hold with equality */
};

/**
 * One linear programme per row and dimension that the points found so far do not keep clear of.
 * ERR_NOMEM or ERR_LIB; release with alloc_inside_free().
 */
int alloc_find_inside(struct alloc_inside *out, const struct alloc_problem *p, struct err *e);
/** From the point inside as far towards a guess as stays clear of the rows; all of shape [n_dims]. */
void alloc_approach(double *bw_Bps, const struct alloc_inside *in, const struct alloc_problem *p,
                    const double *guess_Bps);

void alloc_inside_free(struct alloc_inside *in);

#endif
