/** @file Time of one iteration of a ring all-reduce job whose servers other jobs share: arXiv 2207.07817's
 * model. */
#ifndef SIM_BATCH_CONTENTION_H
#define SIM_BATCH_CONTENTION_H

#include "sim/batch/batch.h"

/** Constants of the model; the paper gives no values for them. */
struct contention {
    double outer_Bps;  /**< b_e, between servers [B/s], > 0, of one job alone */
    double inner_Bps;  /**< b_i, within a server [B/s], >= outer_Bps, INFINITY allowed */
    double reduce_Bps; /**< C, at which a GPU adds gradients up [B/s], > 0, INFINITY allowed */
    double share_frac; /**< xi1: of the jobs that meet on a server, those that contend; in (0, 1] */
    double alpha;      /**< loss per further contending job, >= 0 */
};

/** ERR_RANGE with what is wrong. */
int contention_check(const struct contention *c, struct err *e);

/**
 * Contending jobs k = max(1, xi1 p), where p is the largest number of jobs that spread over several servers,
 * this one included, on any server of this job. The paper has k = xi1 p, which would make a link faster than
 * it is.
 */
double contention_jobs(const struct contention *c, int32_t p);

/** How many times slower than alone: f(k) = k + alpha (k - 1), the paper's example. k >= 1. */
double contention_slowdown(const struct contention *c, double k);

/**
 * Time of one iteration of @p job on @p n_servers servers, meeting @p p jobs (see contention_jobs(); not read
 * when n_servers is 1):
 *
 *     m (w-1)/w (2/B + 1/C) + server_s (n_servers - 1) + compute_s,   B = b_e/f(k) over several servers, else
 * b_i
 *
 * The paper's overhead xi2 n_servers also counts the first server: that part is left to compute_s.
 */
double contention_iteration_s(const struct contention *c, const struct batch_job *job, int32_t n_servers,
                              int32_t p);

/**
 * Bound phi >= 1 of the guarantee: the largest ratio, over the jobs, of iteration times on the worst and the
 * best place of the cluster. Worst: on as many servers as it has GPUs or there are, on one of them with as
 * many jobs as the largest server has GPUs. Best: on as few servers as hold it, alone. The paper's bounds put
 * all jobs on one server at best; a job too large for that makes phi smaller here, which stays a bound.
 * O(jobs * servers).
 */
double contention_phi(const struct contention *c, const struct batch_problem *p);

#endif
