/** @file A batch laid out in arrays: GPUs of the cluster numbered through, room for the GPUs of each job. */
#ifndef SIM_BATCH_GANG_H
#define SIM_BATCH_GANG_H

#include "sim/batch/batch.h"

/** Release with gang_free(). */
struct gang {
    const struct batch_problem *p; /**< borrowed */
    int32_t n_gpus;                /**< of the cluster */
    int32_t *server_gpu;           /**< shape [n_servers + 1], owned; first GPU of each server, then n_gpus */
    int32_t *gpu_server;           /**< shape [n_gpus], owned */
    int32_t *seat;                 /**< shape [n_jobs + 1], owned; where a job's GPUs begin in arrays of all
                                      jobs' GPUs, then how long such an array is */
    int32_t most_gpus;             /**< of the largest job */
};

/** Lay out a problem that batch_check() accepts. ERR_NOMEM. Release with gang_free(), also after a failure.
 */
int gang_build(struct gang *g, const struct batch_problem *p, struct err *e);
void gang_free(struct gang *g);

/** In what order jobs take their turn, and on which GPUs. Release with gang_plan_free(). */
struct gang_plan {
    int32_t *order; /**< shape [n_jobs], owned; each job once */
    int32_t *gpus;  /**< shape [seat[n_jobs]], owned; by job, ascending within one */
};

/** Empty arrays of the shapes above. ERR_NOMEM. */
int gang_plan_build(struct gang_plan *plan, const struct gang *g, struct err *e);
void gang_plan_free(struct gang_plan *plan);

#endif
