/**
 * @file A batch of training jobs on one cluster: which GPUs each gets and when, by SJF-BCO (arXiv 2207.07817)
 * or one of the orders it is compared with.
 *
 * A job runs on all its GPUs at once, from its start to its end: not moved, not interrupted. A GPU has one
 * job at a time. How fast jobs run while they share the network is said by a struct pace.
 */
#ifndef SIM_BATCH_BATCH_H
#define SIM_BATCH_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "sim/cluster/pace.h"

enum { BATCH_MAX_JOBS = 1000000, BATCH_MAX_GPUS = 1000000, BATCH_MAX_SEATS = 1000000000 };

struct batch_job {
    int32_t gpus;       /**< G, one worker on each; 1 to those of the cluster */
    int64_t iterations; /**< F, >= 1 */
    double arrival_s;   /**< not started earlier, >= 0 */
    double expected_s;  /**< rho: how long the scheduler expects it to run, > 0 */
    double compute_s;   /**< forward and backward pass, and what else each iteration takes, > 0 */
    double gradient_B;  /**< m, all-reduced in every iteration, >= 0 */
    double server_s;    /**< added to an iteration for each server but the first (the paper's xi2), >= 0 */
};

struct batch_cluster {
    int32_t n_servers;   /**< >= 1 */
    const int32_t *gpus; /**< shape [n_servers], borrowed; >= 1 each */
};

/** GPUs are numbered through: those of server 0 first, then those of server 1. */
struct batch_problem {
    int32_t n_jobs;               /**< >= 1 */
    const struct batch_job *jobs; /**< shape [n_jobs], borrowed */
    struct batch_cluster cluster;
};

enum batch_scheduler {
    BATCH_SJF_BCO, /**< smallest job first, packed or balanced: the best of many plans */
    BATCH_FF,      /**< first fit: the GPUs with the lowest numbers that are loaded less than a limit */
    BATCH_LS,      /**< list scheduling: the GPUs that are loaded least */
    BATCH_RAND,    /**< any idle GPUs */
    N_BATCH_SCHEDULERS,
};

/** "sjf-bco", "ff", "ls", "rand"; NULL-terminated. */
extern const char *const batch_scheduler_words[N_BATCH_SCHEDULERS + 1];

struct batch_settings {
    int64_t theta_max;   /**< largest load limit tried [s], the paper's T; 0: what always suffices */
    int32_t more_limits; /**< load limits tried above the least that has a plan, >= 0; the paper: 0 */
    int32_t kappa;       /**< jobs of up to so many GPUs are packed; 0: try all, the best counts */
    double lambda;       /**< servers offered to a balanced job: room for lambda times its GPUs, >= 1 */
    double under;        /**< u: a job may take up to u times, >= 1, */
    double over;         /**< l: and as little as l times what the plan counts, in (0, 1] */
    double phi;          /**< contention_phi(), for the guarantee; 0: not known */
    double ff_limit;     /**< FF: limit of a GPU's load, in mean loads, > 0 */
    /** Time steps: 0 none; else jobs start and end at multiples of it only [s]. The paper's slots: 1. */
    double slot_s;
    bool whole_iterations; /**< in each slot only so many as it has room for, the paper's floor(1/tau) */
    bool literal_pack;     /**< pack by load alone, as Algorithm 2 is printed */
    bool literal_load;     /**< load each GPU by its own job's time, not by when all of the gang are free */
    bool literal_bisect;   /**< bisect 1..theta_max, as Algorithm 1 is printed */
    uint64_t seed;         /**< of the orders of FF, LS and RAND, and RAND's GPUs */
};

/** 16 more_limits, lambda 1, under 1.15, over 1, ff_limit 2.25, seed 1; all kappa, no slots, nothing literal.
 */
struct batch_settings batch_settings_default(void);

enum batch_status {
    BATCH_DONE,
    BATCH_NO_PLAN, /**< no plan of SJF-BCO keeps every load within theta_max; the rest is not set */
};

/** ERR_RANGE with what is wrong with a problem: a number outside what stands above, a job larger than the
 * cluster. */
int batch_check(const struct batch_problem *p, struct err *e);

/** What became of one job. */
struct batch_span {
    double start_s, end_s;
    double fastest_s, slowest_s; /**< its least and greatest iteration time while it ran */
    int32_t n_servers;
    int32_t first_gpu; /**< its GPUs are gpus[first_gpu..], as many as it asked for, ascending */
};

/** Release with batch_result_free(). */
struct batch_result {
    enum batch_status status; /**< read this first; a status is not an error */
    int32_t n_jobs, n_gpus;
    struct batch_span *jobs; /**< shape [n_jobs], owned */
    int32_t *gpus;           /**< shape [sum of the jobs' GPUs], owned; numbers of GPUs, by job */
    int32_t *gpu_server;     /**< shape [n_gpus], owned; server of each GPU of the cluster */
    double makespan_s;       /**< end of the last job, from time 0 */
    double mean_jct_s;       /**< mean of end - arrival */
    double busy_frac;        /**< share of GPUs times makespan that jobs held */
    /* SJF-BCO only, else 0: */
    int64_t theta; /**< load limit [s] and */
    int32_t kappa; /**< size up to which jobs were packed, in the best plan, the first found of equals */
    int32_t n_kappas;
    double *kappa_makespan_s; /**< shape [n_kappas], owned; best of kappa = 1.. over the limits tried for all,
                                 INFINITY where no plan was found; NULL when n_kappas is 0 */
    int32_t n_plans;          /**< carried out, to find the best */
    /** The makespan is at most so many times the least possible: n_g phi u/l of the paper's theorem, n_g
     * being the largest job's GPUs, if jobs take l to u times what was expected and all are there at 0. NAN
     * when phi is 0, and of other schedulers. */
    double guarantee;
};

/**
 * Schedule @p p and carry the schedule out against @p pace, a model built for the same jobs and cluster.
 *
 * All but RAND plan at once, with all jobs known and regardless of when they arrive, and a job waits for
 * those before it in its queues even if they have not arrived. The paper has all jobs present at 0. With
 * arrivals above 0 a plan is one of a scheduler that knows the future, loads leave out the waiting, and
 * SJF-BCO's guarantee does not hold.
 *
 * @param[out] out  uninitialised; release with batch_result_free(), also after a failure.
 * @return 0; ERR_RANGE: a number outside what stands above, a job larger than the cluster, a job that stands
 * still or does no iteration in a slot; ERR_NOMEM; what pace says.
 *
 * Time of a plan O(jobs (GPUs + servers log servers)), of carrying it out O(sum of the jobs' GPUs + jobs log
 * jobs) and what pace takes; SJF-BCO makes at most 2 log2(theta_max) + more_limits plans for each size of job
 * there is. Source: arXiv 2207.07817 Algorithms 1 to 3; where this departs from them stands in sjf_bco.h and
 * batch_order.h.
 */
int batch_run(struct batch_result *out, enum batch_scheduler scheduler, const struct batch_problem *p,
              struct pace *pace, const struct batch_settings *s, struct err *e);
void batch_result_free(struct batch_result *r);

#endif
