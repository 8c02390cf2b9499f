/** @file Small batches of jobs for tests, and what holds of every schedule. */
#ifndef TESTS_UNIT_BATCH_FIXTURE_H
#define TESTS_UNIT_BATCH_FIXTURE_H

#include "base/rng.h"
#include "sim/batch/batch.h"
#include "tests/support.h"

enum { BATCH_FIXTURE_JOBS = 12, BATCH_FIXTURE_SERVERS = 6 };

/** A problem with its arrays; p.jobs and p.cluster.gpus point into it, so it is not to be copied. */
struct batch_fixture {
    struct job jobs[BATCH_FIXTURE_JOBS];
    int32_t gpus[BATCH_FIXTURE_SERVERS];
    struct batch_problem p;
    struct contention contention;
    struct pace pace; /**< of the paper, once batch_fixture_pace() was called */
};

/** A job of so many iterations of 1 s each, that sends nothing. */
struct job batch_fixture_job(int32_t gpus, int64_t iterations);

/** No jobs; servers of these sizes; 1 B/s between servers, 10 B/s in one, xi1 1/2, alpha 1/2. */
void batch_fixture_cluster(struct batch_fixture *f, int32_t n_servers, const int32_t *gpus);
void batch_fixture_add(struct batch_fixture *f, struct job job);
/** Build f->pace; release with batch_fixture_free(). */
void batch_fixture_pace(struct batch_fixture *f);
void batch_fixture_free(struct batch_fixture *f);

/**
 * Random servers of 1 to @p most_gpus GPUs, at most @p max_total in all, and @p n_jobs random jobs of which
 * half are of one GPU; iterations take .2 to 2 s alone and contend noticeably. Arrivals are 0. f->pace is
 * built.
 */
void batch_fixture_random(struct batch_fixture *f, struct rng *r, int32_t n_servers, int32_t max_total,
                          int32_t n_jobs);

/**
 * Each job has as many different GPUs as it asks for, starts after it has arrived, and runs once, for as long
 * as its iteration times allow (exactly so unless @p slots); no GPU has two jobs at a time; the sums of the
 * result are right.
 */
void assert_batch(const struct batch_result *r, const struct batch_problem *p, bool slots);

#endif
