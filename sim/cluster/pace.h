/** @file How fast the jobs of a cluster run while they share its network: what a schedule is carried out
 * against. */
#ifndef SIM_CLUSTER_PACE_H
#define SIM_CLUSTER_PACE_H

#include <stdint.h>

#include "base/err.h"

/** Where one job runs. */
struct pace_place {
    int32_t n;              /**< servers, >= 1 */
    const int32_t *servers; /**< shape [n], borrowed; each once, in the order of the job's ring */
    const int32_t *gpus;    /**< shape [n], borrowed; GPUs of the job on each, >= 1 */
};

/**
 * Functions of one model of speed; @p x is its state. Jobs are numbered as in the table of jobs that the
 * model was built with, and keep their places from begin() to end(). Same calls, same answers. With no job
 * running, a model is as it was when built, so that one can serve many schedules, one after the other; a
 * thread has its own.
 *
 * The caller tells all that happens at one time by end() and begin(), then asks changed() once, then
 * iteration_s().
 */
struct pace {
    void *x; /**< owned; released by free() */
    /**
     * A job that does not run starts at @p place, whose arrays stay as they are until its end(). ERR_NOMEM,
     * and what the model says of places it cannot serve; the job then does not run.
     */
    int (*begin)(void *x, int32_t job, const struct pace_place *place, struct err *e);
    /** A running job ends. */
    void (*end)(void *x, int32_t job);
    /**
     * Running jobs whose iteration time may differ from what it was at the last changed(), in *jobs (shape
     * [*n], borrowed until the next call of any of these), each once; those that began since are among them.
     * ERR_NOMEM and what the model says.
     */
    int (*changed)(void *x, const int32_t **jobs, int32_t *n, struct err *e);
    /** Time of one iteration of a running job [s], as of the last changed(): > 0, INFINITY when it stands
     * still. */
    double (*iteration_s)(const void *x, int32_t job);
    void (*free)(void *x); /**< NULL is fine */
};

#endif
