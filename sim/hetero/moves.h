/** @file What searches share: plans drawn, plans changed a little, and how far from good a plan is. */
#ifndef SIM_HETERO_MOVES_H
#define SIM_HETERO_MOVES_H

#include "base/rng.h"
#include "sim/hetero/hetero.h"

/** How many layers, on how many types: all that these need to know of a problem. */
struct hetero_size {
    int32_t n_layers, n_types;
};
struct hetero_size hetero_size_of(const struct hetero_problem *p);

/**
 * A plan at random, into @p plan, shape [n_layers]. A layer stays on the type of the one before it with a
 * probability that is drawn for the plan, uniform on [0, 1); else its type is uniform. Types that are drawn
 * for each layer by itself, which is that probability at 0, almost never make a plan of few stages.
 */
void hetero_draw_plan(hetero_id *plan, struct hetero_size size, struct rng *rng);

/** A plan at random whose layers' types are drawn each by itself, uniformly. */
void hetero_draw_layers(hetero_id *plan, struct hetero_size size, struct rng *rng);

/**
 * A neighbour of @p plan, in place: one layer or one stage gets another type, or a boundary between two
 * stages moves, as far as to swallow one of them; each kind a third of the time. With one type of resource
 * there is no neighbour and the plan stays. O(n_layers).
 */
void hetero_change_plan(hetero_id *plan, struct hetero_size size, struct rng *rng);

/**
 * ln of the cost; of a plan that fails, @p ceiling and the ln of how many times faster it would have to be,
 * so that a search finds its way to plans that do not fail. @p ceiling: ln of what a plan that does not fail
 * costs at most, as far as is known.
 */
double hetero_log_cost(const struct hetero_value *v, double per_s, double ceiling);

#endif
