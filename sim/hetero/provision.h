/** @file How many units each stage of a plan gets: what hetero_evaluate() does after it has found the stages.
 */
#ifndef SIM_HETERO_PROVISION_H
#define SIM_HETERO_PROVISION_H

#include "sim/hetero/hetero.h"

/**
 * Units of the stages in @p w (w->stages, w->n_stages), into w->units and w->of_type, and what they cost.
 *
 * Exact: begins with the least units that reach the throughput asked for. Whatever is faster has at least one
 * unit more in the slowest stage and as many in the others, so more units only ever follow: sets of units
 * form a walk towards higher throughput, and one that breaks a limit ends it, whichever type is short. Sets
 * that cannot be cheaper than the cheapest found are passed over; the walk ends when units that may be broken
 * up, sum of price * shared/(1 - fixed/time), which only get dearer with throughput, cost no less. The
 * cheapest of all whole numbers, to 1e-9 of the throughput asked for. Where next to all work is shared and
 * limits are thousands of units, it is within 1e-4 of that for each 4096 sets that were looked at.
 *
 * Balance: k_1 the least that reaches the throughput, the others the least that are as fast as stage 1.
 * Newton: k_1 minimises the continuous cost (central differences, at most 50 steps, clamped to what reaches
 * the throughput), whole numbers below and above it are tried, the others as fast. Without rounding the cost
 * never falls with throughput, so that k_1 is where the throughput is just reached, and the method finds what
 * balance finds: it is kept because the paper (arXiv 2111.10635) is recalled to use it. Where the others
 * cannot be as fast as stage 1, both give the least units that reach the throughput.
 *
 * O(stages * sets).
 */
void hetero_provision(struct hetero_value *v, const struct hetero_problem *p, struct hetero_work *w);

#endif
