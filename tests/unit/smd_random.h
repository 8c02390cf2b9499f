/** @file Random jobs for tests of SMD: wider than the paper's ranges, with parts that are missing. */
#ifndef TESTS_UNIT_SMD_RANDOM_H
#define TESTS_UNIT_SMD_RANDOM_H

#include "base/rng.h"
#include "sim/interval/interval.h"

enum { SMD_RANDOM_RESOURCES = 4 };

/** A random number, or 0 with a chance of 1 in 5. */
static inline double smd_random_or_zero(struct rng *rng, double lo, double hi)
{
    return rng_below(rng, 5) == 0 ? 0 : rng_log_range(rng, lo, hi);
}

/** A job with room for at most @p room workers and servers, (1, 1) among them. */
static inline struct smd_job smd_random_job(struct rng *rng, bool sync, double room)
{
    struct smd_job job = {
        .iterations = 1 + (double)rng_below(rng, 200),
        .batch = rng_log_range(rng, 1, 1e4),
        .mini_batch = rng_log_range(rng, 1, 100),
        .model_B = smd_random_or_zero(rng, 1e6, 1e10),
        .ps_Bps = rng_log_range(rng, 1e8, 1e10),
        .forward_s = smd_random_or_zero(rng, 1e-3, 10),
        .backward_s = smd_random_or_zero(rng, 1e-3, 10),
        .shares = { rng_uniform(rng), rng_uniform(rng), rng_uniform(rng) },
        .per_worker_s = smd_random_or_zero(rng, 1e-3, 5),
        .per_ps_s = smd_random_or_zero(rng, 1e-3, 5),
        .meet_frac = rng_uniform(rng),
        .sync = sync,
        .utility = { rng_range(rng, 1, 100), rng_range(rng, 1e-4, 2e-3), rng_range(rng, 0, 2e4) },
    };
    for (int r = 0; r < SMD_RANDOM_RESOURCES; r++) {
        job.worker[r] = r == 0 ? 1 + (double)rng_below(rng, 4) : (double)rng_below(rng, 5);
        job.ps[r] = r == 0 ? 1 + (double)rng_below(rng, 4) : (double)rng_below(rng, 5);
        job.limit[r] = job.worker[r] + job.ps[r] + rng_range(rng, 0, room);
    }
    return job;
}

/** The completion time, written down from the paper's formulas of speed once more. */
static inline double smd_written_jct_s(const struct smd_job *j, double w, double p)
{
    const double e1 = j->shares.forward, e2 = j->shares.backward, e3 = j->shares.comm;
    const double beta_s = j->per_worker_s * w + j->per_ps_s * p, share_B = j->model_B / p;
    if (j->sync)
        return j->iterations * (e1 * (j->batch / w) * j->forward_s + e2 * j->backward_s +
                                2 * e3 * share_B / (j->ps_Bps / w) + beta_s);
    return j->iterations / w *
           (e1 * j->mini_batch * j->forward_s + e2 * j->backward_s +
            2 * e3 * j->meet_frac * share_B / (j->ps_Bps / w) + beta_s);
}

#endif
