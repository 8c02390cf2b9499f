/** @file Carry a plan out: each GPU serves its jobs in the order of the plan. */
#ifndef SIM_BATCH_QUEUES_H
#define SIM_BATCH_QUEUES_H

#include "sim/batch/crew.h"

/** Room to carry out one plan after the other. Release with queues_free(). */
struct queues {
    int32_t *next;              /**< shape [seats], owned; by seat, the job after it on that GPU, -1 none */
    int32_t *last;              /**< shape [n_gpus], owned; seat of the last job of each queue */
    int32_t *waits;             /**< shape [n_jobs], owned; GPUs of a job on which others come before it */
    struct event_heap arrivals; /**< jobs whose GPUs wait for them */
};

/** ERR_NOMEM. Release with queues_free(), also after a failure. */
int queues_build(struct queues *q, const struct gang *g, struct err *e);
void queues_free(struct queues *q);

/**
 * A job starts as soon as it has arrived, it is the first in the queue of each of its GPUs, and these are
 * idle. All jobs end; crew->spans says when. ERR_RANGE: a job never ends; ERR_NOMEM; what crew says. O(seats
 * + jobs log jobs), and what pace takes.
 */
int queues_run(struct queues *q, const struct gang_plan *plan, struct crew *crew, struct err *e);

#endif
