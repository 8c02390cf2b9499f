/** @file Where the time of a planned step goes, from the draft of its plan: a second construction of what
 * sim/step.c counts on its tree. */
#ifndef TESTS_UNIT_PLAN_SHARES_H
#define TESTS_UNIT_PLAN_SHARES_H

#include "workloads/plan_cost.h"

/** Where the time of a step goes; all but time_s add up to it. */
struct plan_shares {
    double time_s;
    double compute_s[N_STEP_PHASES];        /**< of the slowest stage, whatever runs beside it */
    double bubble_s;                        /**< that stage waits for others, whatever these do */
    double exposed_s[PLAN_MAX_COLLECTIVES]; /**< beyond what runs beside them; shape [n_collectives] */
};

/** From the time of each collective once, shape [n_collectives]; time_s is plan_cost_time(). */
void plan_cost_shares(struct plan_shares *out, const struct plan_cost *c, const double *once_s,
                      const struct plan_busy *busy);

#endif
