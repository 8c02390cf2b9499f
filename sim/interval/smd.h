/** @file Which jobs of a cluster run in the next interval, with how many workers and parameter servers. */
#ifndef SIM_INTERVAL_SMD_H
#define SIM_INTERVAL_SMD_H

#include "sim/interval/knapsack.h"
#include "sim/interval/smd_round.h"

/**
 * The problem (arXiv 2105.13855): jobs that are all there at the start of one interval, a pool of
 * resources without places, completion times by smd_job.h. Maximise the sum of utilities of the jobs that
 * run; limits, not uses, of these share the pool. It falls apart: numbers of tasks job by job, then a
 * knapsack.
 */
enum smd_scheduler {
    SMD_SMD,     /**< grid (or exact), rounding, knapsack */
    SMD_OPTIMUS, /**< from one worker and one server, add whichever gains more while there is a gain */
    SMD_ESW,     /**< as many workers as servers */
    SMD_EXACT,   /**< exact numbers of tasks, exact knapsack, nothing is better when it is complete */
    N_SMD_SCHEDULERS,
};

/** "smd", "optimus", "esw", "exact"; NULL-terminated. */
extern const char *const smd_scheduler_names[N_SMD_SCHEDULERS + 1];

enum smd_inner { SMD_INNER_GRID, SMD_INNER_EXACT };

/** How Optimus and ESW, whose admission the paper does not give, choose jobs. */
enum smd_admission {
    SMD_ADMIT_KNAPSACK,   /**< as SMD: only the numbers of tasks differ */
    SMD_ADMIT_FIRST_COME, /**< in the order given, whatever still fits */
    SMD_ADMIT_BEST_FIRST, /**< by falling utility, whatever still fits */
};

enum smd_esw { SMD_ESW_LARGEST, SMD_ESW_BEST };

struct smd_settings {
    enum smd_inner inner;
    double eps; /**< eps1, of the grid; 1e-4 to 1 */
    struct smd_rounding rounding;
    struct knapsack_settings knapsack;
    enum smd_admission baselines;
    enum smd_esw esw; /**< the most that fit, or the number that is fastest */
    uint64_t seed;    /**< of the rounding; a job's draws depend on this and its place in the list alone */
};

enum smd_fate {
    SMD_RUNS,
    SMD_LEFT_OUT,  /**< would fit alone, others are worth more or came first */
    SMD_TOO_SMALL, /**< the limit has no room for a worker and a server */
    SMD_TOO_LARGE, /**< the limit is larger than the pool */
    N_SMD_FATES,
};

/** "runs", "left out", "limit too small", "limit above pool"; NULL-terminated. */
extern const char *const smd_fate_names[N_SMD_FATES + 1];

struct smd_decision {
    enum smd_fate fate;
    int32_t w, p;   /**< 0 when the limit is too small */
    double jct_s;   /**< of the job if it runs; INFINITY when the limit is too small */
    double utility; /**< if it runs, if not: what it would be worth */
};

/** What the paper proves (its Theorem on Alg. 1 to 3), computed for these jobs. */
struct smd_guarantee {
    double ratio;       /**< utility >= ratio * optimum .. */
    double probability; /**< .. at least this often; 0: proved only for SMD_SCALE_LITERAL on the grid */
};

/** Release with smd_result_free(). */
struct smd_result {
    struct smd_decision *jobs; /**< shape [n_jobs], owned */
    int32_t n_jobs, n_running, n_resources;
    double utility;  /**< sum over jobs that run */
    double bound;    /**< no numbers of tasks and no choice of jobs are worth more */
    double gap_frac; /**< (bound - utility) / bound; 0 when both are 0 */

    /* The choice among jobs, at the completion times above. */
    double choice_bound;    /**< no other choice is worth more: proof of the exact knapsack, else of the LP */
    double choice_gap_frac; /**< likewise */
    double lp_bound;        /**< of its relaxation */
    double price[SMD_MAX_RESOURCES]; /**< of the relaxation: utility of one unit more of a resource */
    int64_t nodes;                   /**< LPs of the knapsack, 0 for other rules */
    bool complete;                   /**< false: max_nodes stopped the knapsack */

    double used[SMD_MAX_RESOURCES];     /**< by tasks of jobs that run */
    double reserved[SMD_MAX_RESOURCES]; /**< their limits */
    double capacity[SMD_MAX_RESOURCES];
    struct smd_guarantee guarantee; /**< 0, 0 for all but SMD_SMD */
};

/** Grid with eps 0.05; scale 1, the best of 100 tries; exact knapsack, for all; ESW as large as fits; seed 1.
 */
struct smd_settings smd_settings_default(void);

/**
 * Schedule @p n_jobs jobs on a pool of @p capacity (shape [n_resources], >= 0). Deterministic.
 * @return 0; ERR_RANGE: a job that fails smd_check_job() ("jobs[3]: batch: is ..."), a capacity, number of
 * resources or setting out of its range; ERR_NOMEM. *out is then empty and safe to free. A job that fits
 * nowhere is a fate, not an error.
 *
 * A job costs what smd_inner.h says, the choice among 200 jobs of smd_draw.h less than a millisecond.
 */
int smd_run(struct smd_result *out, enum smd_scheduler which, const struct smd_job *jobs, int32_t n_jobs,
            const double *capacity, int32_t n_resources, const struct smd_settings *how, struct err *e);
void smd_result_free(struct smd_result *r);

#endif
