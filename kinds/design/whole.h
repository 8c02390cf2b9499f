/** @file The best whole design of a study: bandwidths that ports give, at the price of what is bought. */
#ifndef KINDS_DESIGN_WHOLE_H
#define KINDS_DESIGN_WHOLE_H

#include "alloc/whole.h"
#include "kinds/design/point.h"

/**
 * Solve @p p, which asks what @p s asks (pricing whole), over the lattice of its ports: of every entry with a
 * free bandwidth the multiples of topo_port_step_Bps() up to what the rows allow, and one beyond. Where
 * nothing limits a bandwidth the limit is what a design that is known is worth: parts that cost more on their
 * own cannot be better.
 *
 * @param relaxed  answer to @p p in fractions: with a split, or ill-posed, which whole parts need not be.
 * @param[out] relaxed_bound  no design in fractions has less; where that is ill-posed: none with a link
 * everywhere; NaN where nothing is known.
 * @return 0 (read out->status: also ALLOC_ILL_POSED where nothing limits the bandwidths; ALLOC_STALLED with a
 * value of NaN where an entry alone has more than WHOLE_MAX_CHOICES designs), ERR_NOMEM.
 */
int design_solve_whole(struct whole_answer *out, const struct design_point *s, const struct alloc_problem *p,
                       const struct alloc_answer *relaxed, double *relaxed_bound, struct err *e);

#endif
