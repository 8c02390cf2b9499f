/** @file Time of a training iteration on workers in a ring, and how many of them a time slot holds. */
#ifndef SIM_SLOTS_RING_TIME_H
#define SIM_SLOTS_RING_TIME_H

#include <stdint.h>

#include "base/err.h"

/**
 * A job whose workers add up their gradients round a ring, arXiv 2202.01158 eq. 1. Each worker sends and
 * receives 2 (w - 1) pieces of gradient_B / w in an iteration, and adds up half of them.
 */
struct ring_time {
    double gradient_B; /**< d, >= 0 */
    double hop_Bps;    /**< b, of each hop of the ring, > 0; INFINITY is fine */
    double reduce_Bps; /**< G, at which a worker adds up gradients, > 0; INFINITY is fine */
    double sample_s;   /**< t_f, forward time of a sample, >= 0 */
    double samples;    /**< M, of one worker in an iteration, > 0; with RING_BATCH_JOB of all together */
    double backward_s; /**< t_b, however many samples, >= 0 */
    double overhead_s; /**< gamma, >= 0 */
};

/** Whose the samples of an iteration are. */
enum ring_batch {
    RING_BATCH_WORKER, /**< each worker's: more workers do more samples in an iteration */
    RING_BATCH_JOB,    /**< the job's: more workers share them out, M = samples / w */
};

/** ERR_RANGE naming the field. */
int ring_time_check(const struct ring_time *t, struct err *e);

/**
 * Time of an iteration on @p workers >= 1 workers,
 * tau(w) = d (w - 1)/w (2/b + 1/G) + t_f M + t_b + gamma [s]; alone, nothing is sent.
 */
double ring_time_iteration_s(const struct ring_time *t, enum ring_batch batch, int32_t workers);

/**
 * Progress of a slot on 0 to @p most workers into @p gain, shape [most + 1]: whole iterations, n =
 * floor(slot_s / tau(w)). RING_BATCH_JOB: n, iterations of the job; RING_BATCH_WORKER: w n, iterations
 * of its workers together. gain[0] = 0. The paper counts zeta * w with one zeta for all w, which tau(w) is
 * not: this table is what the sum over workers becomes when it is followed.
 * @param slot_s  > 0
 * @return 0 or ERR_RANGE: of ring_time_check(), slot_s, or an iteration that takes no time. O(most).
 */
int ring_time_gains(double *gain, const struct ring_time *t, enum ring_batch batch, double slot_s,
                    int32_t most, struct err *e);

#endif
