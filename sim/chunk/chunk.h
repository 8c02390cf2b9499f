/** @file Event simulation of collectives in chunks: every dimension a server that chunks pass in their order.
 */
#ifndef SIM_CHUNK_CHUNK_H
#define SIM_CHUNK_CHUNK_H

#include "sim/train.h"

/** One stage of one chunk, as it was served in one of the cells that take part. */
struct chunk_slice {
    int32_t job, chunk;
    struct stage stage;
    int32_t cell; /**< class of NPUs; 0 unless some are slow */
    double ready_s, start_s, end_s;
};

/**
 * Opaque: dimensions, queues, and what is in flight.
 *
 * Semantics (physical): a dimension works on up to rules->active chunks of any job at a time. A stage first
 * takes its const_s, which uses no bandwidth, then sends load_B; chunks in that part share the bandwidth
 * equally. Levels of a fabric are dimensions of their own, and all stages in flight share each class of links
 * max-min fair, by the loads of struct stage. A stage of a group with a slow NPU goes at that NPU's pace, and
 * begins when all its members are there and free. Completions at one instant (to 1e-12 of it) are processed
 * first, in order of job and chunk; then dimensions take new chunks.
 *
 * Without slow NPUs all are alike and one stands for all, whatever their number.
 */
struct chunk_sim;

/**
 * @param way         copied with all that it names.
 * @param split_dims  bit d: some job takes a part of dimension d (cells_build()).
 * @param keep   record so many slices; chunk_advance() fails with ERR_RANGE where there are more. 0: none.
 * @return 0, ERR_NOMEM, or ERR_RANGE: slow NPUs make more classes than can be simulated (CELLS_MAX).
 */
int chunk_open(struct chunk_sim **out, const struct sim_way *way, unsigned split_dims, int32_t keep,
               struct err *e);
void chunk_free(struct chunk_sim *x); /**< NULL is fine */

/** The simulation as an engine for sim/train.h; its functions are those below. */
struct sim_engine chunk_engine(struct chunk_sim *x);

/** Issue a job at @p now_s, not before the last chunk_advance(). Jobs are numbered from 0; those issued at
 * one instant (to 1e-12 of it) share the loads that orders go by. ERR_NOMEM, ERR_RANGE. */
int chunk_issue(struct chunk_sim *x, const struct sim_job *job, double now_s, struct err *e);

/** When something happens next; INFINITY when nothing is left. */
double chunk_next(const struct chunk_sim *x);

/** Process all that happens up to chunk_next(). The jobs that end are then listed by chunk_ended().
 * ERR_NOMEM. */
int chunk_advance(struct chunk_sim *x, struct err *e);

/** Jobs that ended in the last chunk_advance(), or of nothing to do in chunk_issue(): shape [*n], borrowed.
 */
const int32_t *chunk_ended(const struct chunk_sim *x, int32_t *n);

const struct sim_job_result *chunk_result(const struct chunk_sim *x, int32_t job);
/** Slices in the order they ended, shape [*n], borrowed; none unless kept. */
const struct chunk_slice *chunk_slices(const struct chunk_sim *x, int64_t *n);

#endif
