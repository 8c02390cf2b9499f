/** @file SJF-BCO: smallest job first with balanced contention and overhead (arXiv 2207.07817). */
#ifndef SIM_BATCH_SJF_BCO_H
#define SIM_BATCH_SJF_BCO_H

#include "sim/batch/queues.h"

/**
 * Find the best plan (Algorithm 1): a search over whole load limits theta [s], and for each every size kappa
 * up to which jobs are packed (Algorithm 2, FA-FFP) while larger ones are balanced (Algorithm 3, LBSGF). Jobs
 * take their turn by GPUs, of equals by number. Every plan is carried out, and the least makespan counts.
 *
 * Where this departs from the paper, and why:
 * - A plan that does not fit under theta is given up at once. The paper waits for a job to exit and
 *   tries again; but loads never fall, so that cannot help.
 * - Packing prefers servers that have jobs. As printed Algorithm 2 takes the least loaded GPUs of the
 *   cluster, which spreads jobs, against its own prose; settings->literal_pack does that.
 * - A gang waits for the last of its GPUs: all of them are then loaded until it ends. The paper adds to
 *   each GPU's own load, which makes plans look shorter than they are; settings->literal_load does
 *   that.
 * - Limits are doubled from the least that could have a plan until one has, then bisected downwards by
 *   whether there is a plan. The paper bisects 1..T and goes down only from a limit whose plan was
 *   better than all before; from a wide T, where many limits give about the same plan, that turns away
 *   from the good ones. settings->literal_bisect does that.
 * - Some limits above the least one with a plan are tried as well: the makespan is not monotone in
 *   theta. On the batches of sjf_draw.h 16 of them take off 2 % for three times the time.
 *   settings->more_limits says how many.
 * - kappa matters only by which sizes of jobs it parts, so there are only so many plans for a theta.
 *
 * @param plan  gang_plan_build(); gets the best plan.
 * @param out   what stands under "SJF-BCO only" is set, and status; jobs gets the spans of the best plan. Its
 *              arrays are there.
 * ERR_NOMEM; what queues_run() says.
 */
int sjf_bco_run(struct batch_result *out, struct gang_plan *plan, struct crew *crew, struct queues *q,
                const struct batch_settings *s, struct err *e);

/** Loads that always suffice: all jobs one after the other, rounded up [s]. */
int64_t sjf_bco_theta_max(const struct batch_problem *p, const struct batch_settings *s);

#endif
