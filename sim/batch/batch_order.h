/** @file What SJF-BCO is compared with: first fit, list scheduling and random GPUs, on jobs in random order.
 */
#ifndef SIM_BATCH_BATCH_ORDER_H
#define SIM_BATCH_BATCH_ORDER_H

#include "sim/batch/queues.h"

/**
 * First fit (@p first) or list scheduling: jobs in random order are planned on the GPUs with the lowest
 * numbers whose loads stay within ff_limit times the mean, or on those loaded least; the queues are then
 * carried out. The mean is that of all jobs on all GPUs, sum(G rho) / GPUs. Where too few GPUs stay within
 * the limit, first fit takes those loaded least: the paper gives its baselines the limit T, but first fit
 * within one so wide fills few GPUs.
 *
 * @param plan  gang_plan_build(); gets the plan.
 * ERR_NOMEM; what queues_run() says.
 */
int batch_order_plan(struct gang_plan *plan, bool first, struct crew *crew, struct queues *q,
                     const struct batch_settings *s, struct err *e);

/**
 * Random GPUs: jobs in random order; the first that has not started starts once it has arrived and so many
 * GPUs are idle, on any of them, all equally likely. The others wait for it. O(jobs log jobs + seats log
 * seats). Errors and @p plan as above.
 */
int batch_order_rand(struct gang_plan *plan, struct crew *crew, const struct batch_settings *s,
                     struct err *e);

#endif
