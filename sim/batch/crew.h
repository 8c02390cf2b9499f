/** @file Jobs that run on a cluster, each as fast as the others let it: started by who plans, ended when
 * done. */
#ifndef SIM_BATCH_CREW_H
#define SIM_BATCH_CREW_H

#include "sim/batch/gang.h"
#include "sim/event_heap.h"

struct crew_job; /* private */

/**
 * Time runs in ticks: seconds, or slots where there are any. Release with crew_free().
 * The life of a schedule: crew_reset(), then crew_start() and crew_settle(), crew_advance() and again.
 */
struct crew {
    const struct gang *g;
    struct pace *pace; /**< borrowed */
    double tick_s;
    bool slots, whole;
    double now;               /**< [ticks] */
    struct crew_job *jobs;    /**< shape [n_jobs], owned */
    struct batch_span *spans; /**< shape [n_jobs], owned; of jobs that ended */
    int32_t *servers, *gpus;  /**< shape [seats], owned; places of running jobs */
    struct event_heap ends;   /**< running jobs that get anywhere, by when they end */
    int32_t *ended;           /**< shape [n_ended], owned; in the last crew_advance(), by number */
    int32_t n_ended, n_running;
};

/** Slots as @p s says. ERR_NOMEM. Release with crew_free(), also after a failure. */
int crew_build(struct crew *c, const struct gang *g, struct pace *pace, const struct batch_settings *s,
               struct err *e);
void crew_free(struct crew *c);

/** Time 0 and nothing runs; what still ran is ended without a trace. */
void crew_reset(struct crew *c);

/** The first tick in which a job that arrives at @p time_s can start. */
double crew_tick(const struct crew *c, double time_s);

/**
 * Start a job now on idle GPUs, ascending, as many as it asks for. What pace says.
 * When all that start now have started, crew_settle().
 */
int crew_start(struct crew *c, int32_t job, const int32_t *gpus, struct err *e);
/** Find when running jobs end, now that some started or ended. ERR_RANGE: a time that is not above 0; what
 * pace says. */
int crew_settle(struct crew *c, struct err *e);

/** When the next job ends [ticks]; INFINITY when none does. */
double crew_next(const struct crew *c);
/** Go to @p tick, at or before crew_next(), and end the jobs that end then: c->ended. */
void crew_advance(struct crew *c, double tick);

/** Jobs wait and nothing ever happens: say why. Returns ERR_RANGE. */
int crew_stuck(const struct crew *c, struct err *e);

#endif
