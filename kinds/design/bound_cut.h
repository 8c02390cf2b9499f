/** @file Private to kinds/design/bound: multipliers of a step's leaves and terms, and what they prove. */
#ifndef KINDS_DESIGN_BOUND_CUT_H
#define KINDS_DESIGN_BOUND_CUT_H

#include "kinds/design/bound.h"

/** Room for the multipliers of @p s. ERR_NOMEM. */
int bound_reserve(struct bound *b, const struct design_point *s, struct err *e);

/** Multipliers to begin with: best for @p price, shape [n_dims], where every leaf is alone. */
void bound_begin_cuts(const struct bound *b, const struct design_point *s, const double *price);

/** All of @p cut but mu: move the multipliers towards the best for @p price, from where they are, in so many
 * @p rounds. Whatever the rounds, what the cut says holds. O(rounds * leaves * dims). */
void bound_find_cut(struct bound_cut *cut, const struct bound *b, const struct design_point *s,
                    const double *price, int rounds);

#endif
