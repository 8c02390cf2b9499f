/** @file Speed of jobs by the formula of arXiv 2207.07817: it depends on how many others spread over the same
 * servers. */
#ifndef SIM_BATCH_PACE_PAPER_H
#define SIM_BATCH_PACE_PAPER_H

#include "sim/batch/contention.h"

/**
 * Build the model for the jobs and the cluster of @p p, which stay where they are until out->free(out->x).
 * A job on several servers is slowed by those that spread over one of its servers, the most of them counting;
 * a job on one server neither slows others nor is slowed (equations of p_j, k_j and tau_j: contention.h).
 *
 * @param[out] out  uninitialised; owned by the caller; after a failure freeing it does nothing.
 * @return 0; ERR_RANGE as contention_check() and batch_check(); ERR_NOMEM. begin() and changed() do not fail.
 *
 * begin(), end() O(servers of the job); changed() O(sum over their servers of the jobs that meet there).
 */
int pace_paper_build(struct pace *out, const struct contention *c, const struct batch_problem *p,
                     struct err *e);

#endif
