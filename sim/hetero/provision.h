/** @file How many units each stage of a plan gets. */
#ifndef SIM_HETERO_PROVISION_H
#define SIM_HETERO_PROVISION_H

#include "sim/hetero/hetero.h"

/**
 * Units of the stages in @p w (w->stages, w->n_stages), into w->units and w->of_type, and what they cost.
 *
 * Exact: the cost changes only where a stage takes one more unit. Begin with the least units that reach the
 * throughput asked for; then, again and again, give one more to the slowest stage. Every undominated set of
 * units is passed, and the walk ends when the continuous relaxation, sum of price * shared/(1 - fixed/time),
 * which only rises with throughput, is no longer below the cheapest found, or when a limit is reached.
 * Balance: k_1 the least that reaches the throughput, the others the least that are as fast as stage 1.
 * Newton: k_1 minimises the continuous cost (central differences, at most 50 steps, clamped to what reaches
 * the throughput), its neighbours below and above are tried, the others as fast. Without rounding the
 * continuous cost never falls with throughput, so that k_1 is where the throughput is just reached: the
 * method is kept because the paper names it.
 *
 * O(stages * steps).
 */
void hetero_provision(struct hetero_value *v, const struct hetero_problem *p, struct hetero_work *w);

#endif
