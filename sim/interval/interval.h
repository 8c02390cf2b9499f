/**
 * @file SMD: which jobs with parameter servers to admit to one interval, with how many workers w and servers
 * p (arXiv 2105.13855), and what it is compared with.
 *
 * In this order: how much of an iteration communication and computation hide of each other, layer by layer
 * (e1, e2, e3); a job, and its completion time, a sum of ratios in w and p; the best (w, p) within a job's
 * own limits, by a grid over the terms and randomised rounding, or exactly; then a knapsack over the jobs
 * with the pool's resources as rows. Nothing here has a place or shares a link.
 */
#ifndef SIM_INTERVAL_INTERVAL_H
#define SIM_INTERVAL_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/rng.h"

/* ---- which of n items of most value together stay within a few rows of capacities ---- */

enum { KNAPSACK_MAX_ROWS = 8 };

enum knapsack_fix { KNAPSACK_OUT, KNAPSACK_IN, KNAPSACK_FREE };

/**
 * max value.x, weight.x <= capacity in each row, 0 <= x <= 1, and x as fixed. Release with
 * knapsack_lp_free(). Values are scaled to at most 1 and rows to capacities of 1 by the caller, so that
 * tolerances are absolute.
 */
struct knapsack_lp {
    struct arena arena; /**< of the arrays below */
    int32_t n, n_rows;
    double *value;  /**< shape [n], 0 to 1, owned; the caller fills it in */
    double *weight; /**< shape [n][n_rows], >= 0, owned; the caller fills it in */
    double capacity[KNAPSACK_MAX_ROWS];
    unsigned char *fix; /**< shape [n], enum knapsack_fix, owned; the caller sets it between solves */

    /* Answer of the last solve. */
    double *x;                           /**< shape [n], owned */
    double *reduced;                     /**< shape [n], owned: value - price.weight */
    double price[KNAPSACK_MAX_ROWS];     /**< y, >= 0 */
    double bound;                        /**< no x as fixed is worth more */
    int32_t fraction[KNAPSACK_MAX_ROWS]; /**< items strictly between 0 and 1 */
    int32_t n_fractions;                 /**< at most n_rows: x is a vertex */
    int64_t pivots;                      /**< of all solves */

    /* Basis: item j is variable j, the slack of row i is n + i. */
    unsigned char *at_upper; /**< shape [n + n_rows], owned */
    bool *basic;             /**< shape [n + n_rows], owned */
    double *slope;           /**< shape [n + n_rows], owned: row of the pivot */
    int32_t basis[KNAPSACK_MAX_ROWS];
    double inverse[KNAPSACK_MAX_ROWS][KNAPSACK_MAX_ROWS];
    double level[KNAPSACK_MAX_ROWS]; /**< values of the basic variables */
};

/** Items worth 0, nothing fixed, capacities 1, slacks basic. ERR_NOMEM, then empty and safe to free. */
int knapsack_lp_build(struct knapsack_lp *lp, int32_t n, int32_t n_rows, struct err *e);
void knapsack_lp_free(struct knapsack_lp *lp);

/** Weights of an item, shape [n_rows]. */
static inline const double *knapsack_lp_weight(const struct knapsack_lp *lp, int32_t item)
{
    return lp->weight + (size_t)item * (size_t)lp->n_rows;
}

/**
 * Solve for the items now fixed, from the last basis; the items that are in fit. Bounded dual simplex with
 * long steps; O(n * n_rows) a pivot.
 * @return false: the pivots went in circles (rounding); bound holds, x means nothing.
 */
bool knapsack_lp_solve(struct knapsack_lp *lp);

/* ---- which items to take: a 0/1 knapsack with several rows, solved with proof ---- */

/** Share of a capacity by which a sum of weights may exceed it: 0.1 + 0.2 fits 0.3. */
#define KNAPSACK_SLACK 1e-9

/** max sum of values with sum of weights <= capacity in each row. Borrowed. */
struct knapsack {
    int32_t n, n_rows;      /**< >= 0; 1 to KNAPSACK_MAX_ROWS */
    const double *value;    /**< shape [n], >= 0 */
    const double *weight;   /**< shape [n][n_rows], >= 0 */
    const double *capacity; /**< shape [n_rows], >= 0 */
};

enum knapsack_method {
    KNAPSACK_EXACT,  /**< branch and bound on the LP */
    KNAPSACK_SUBSET, /**< every small set of items, the rest by LP and rounded down (Frieze and Clarke 1984)
                      */
    N_KNAPSACK_METHODS,
};

/** "exact", "subset"; NULL-terminated. */
extern const char *const knapsack_method_names[N_KNAPSACK_METHODS + 1];

struct knapsack_settings {
    enum knapsack_method method;
    int32_t subset;    /**< k, >= 0: sets of up to k items */
    int64_t max_nodes; /**< LPs after which the best so far is given, >= 1 */
};

/** Release with knapsack_answer_free(). */
struct knapsack_answer {
    bool *chosen; /**< shape [n], owned; an item worth 0 is not chosen */
    double value;
    double bound;    /**< no choice is worth more: proof of exact, LP bound of subset */
    double lp_bound; /**< of the relaxation with nothing fixed */
    /** Of the relaxation: value of one unit more of each capacity; 0 where the capacity is 0. */
    double price[KNAPSACK_MAX_ROWS];
    int64_t nodes; /**< LPs solved */
    bool complete; /**< false: max_nodes stopped it */
};

/** Exact, subset 2, 200,000 LPs: some 10 s at worst with 200 items and 4 rows; the gap is then below an item.
 */
struct knapsack_settings knapsack_settings_default(void);

/**
 * Solve. Deterministic.
 *
 * KNAPSACK_EXACT: depth-first. On the way items are fixed that no longer fit, whose reduced cost decides, or
 * that are better or worse in everything than one that is fixed. Bounds are rounded down to what values can
 * add up to. When complete, bound is above value by rounding only (1e-11 of the greatest value).
 *
 * KNAPSACK_SUBSET (arXiv 2105.13855, Alg. 3): for each set S of at most k items that fits, S in, out whatever
 * is worth more than the least of S, the LP over the rest rounded down. With z* the optimum, value >= z* k /
 * (k + n_rows), and value = z* when an optimal choice has at most k items. Sets that do not fit are passed
 * over, where the paper's listing returns. n choose k LPs: its eps of 0.01 would ask for all subsets of 50
 * jobs.
 *
 * @return 0; ERR_RANGE: a number out of its range; ERR_NOMEM. *out is then empty and safe to free.
 */
int knapsack_solve(struct knapsack_answer *out, const struct knapsack *k, const struct knapsack_settings *how,
                   struct err *e);
void knapsack_answer_free(struct knapsack_answer *a);

/** Does @p item fit when @p used of each row is taken? */
bool knapsack_fits(const struct knapsack *k, const double *used, int32_t item);

/* ---- layers of an iteration ---- */

/**
 * How the gradients of layers travel to the parameter servers and back. Backward passes run from the last
 * layer to the first, forward passes from the first to the last. Source: arXiv 2105.13855 section III.
 */
enum overlap_mode {
    OVERLAP_SEQUENTIAL, /**< backward, then all pushes and pulls, then forward */
    OVERLAP_WAIT_FREE,  /**< a layer is pushed once its backward pass is done, in that order (Lemma 1) */
    OVERLAP_PRIORITY,   /**< sliced, the layer that the forward pass needs first goes first */
    OVERLAP_LEMMA2,     /**< priority as the paper's Lemma 2 has it, which counts backlog twice */
    N_OVERLAP_MODES,
};

/** "sequential", "wait_free", "priority", "lemma2"; NULL-terminated. */
extern const char *const overlap_mode_names[N_OVERLAP_MODES + 1];

/** Times of the layers of a network; borrowed. Index 0 is the input layer. */
struct overlap_layers {
    const double *backward_s; /**< shape [n], >= 0 */
    const double *forward_s;  /**< shape [n], >= 0 */
    const double *comm_s;     /**< shape [n], one way, >= 0 */
    int32_t n;                /**< >= 1 */
};

/** Share of each part of an iteration that nothing hides, 0 to 1; all 1 is sequential. */
struct overlap_shares {
    double forward;  /**< e1, of the forward pass */
    double backward; /**< e2, of the backward pass */
    double comm;     /**< e3, of pushes and pulls */
};

/**
 * Time of one iteration [s], from the first backward pass to the end of the last forward pass. O(n). Always
 * priority <= wait-free <= sequential.
 *
 * OVERLAP_PRIORITY is not Lemma 2. With D_j = comm of layers 2..j less backward passes of layers 1..j-1, what
 * the channel still owes layers 2..j when the backward pass ends is max(0, max over k <= j of D_k) (Lindley's
 * recursion, written out), and layer j has arrived that long after layer 1. Lemma 2 adds D_j to the latest
 * arrival before j, which already holds earlier backlog: on the ranges of the paper's own experiment it
 * is slower than wait-free for most networks.
 */
double overlap_time_s(const struct overlap_layers *l, enum overlap_mode mode);

/**
 * Shares that nothing hides, for the closed form of the speed. The paper gives one example and no
 * rule. Ours: the forward pass is never hidden; of backward passes the last layer's is not (wait-free), or
 * none is (priority); the rest of the iteration is communication. Each is cut to [0, 1]; 1 where the part
 * takes no time.
 */
struct overlap_shares overlap_find_shares(const struct overlap_layers *l, enum overlap_mode mode);

/* ---- a job: what it needs, how fast it runs, what it is worth ---- */

enum {
    SMD_MAX_RESOURCES = 8,
    SMD_MAX_TASKS = 1000000, /**< workers, or parameter servers, that a job's limit may leave room for */
};

/** Share of a limit by which a sum of demands may exceed it: 0.1 + 0.2 fits 0.3. */
#define SMD_LIMIT_SLACK 1e-9

/** worth / (1 + exp(slope_per_s * (JCT - due_s))): little is lost before the due time, little is left after.
 */
struct smd_utility {
    double worth;       /**< >= 0 */
    double slope_per_s; /**< >= 0 */
    double due_s;
};

/**
 * A job with w workers and p parameter servers (PS). Source: arXiv 2105.13855 section IV; the letters are the
 * paper's. Demands are in whatever unit the pool's capacity is in.
 */
struct smd_job {
    double iterations;            /**< E, > 0 */
    double batch;                 /**< K, samples of an iteration over all workers, > 0; synchronous */
    double mini_batch;            /**< m, samples of an iteration of one worker, > 0; asynchronous */
    double model_B;               /**< g, >= 0 */
    double ps_Bps;                /**< B, bandwidth of each PS, > 0 */
    double forward_s;             /**< t_f, of one sample, >= 0 */
    double backward_s;            /**< t_b, of a batch of any size, >= 0 */
    struct overlap_shares shares; /**< e1, e2, e3, each 0 to 1; the paper's range without 0 */
    double per_worker_s;          /**< beta1, overhead of an iteration, >= 0 */
    double per_ps_s;              /**< beta2, >= 0 */
    double meet_frac; /**< alpha, of the workers, those that use a PS at once, 0 to 1; asynchronous */
    bool sync;
    double worker[SMD_MAX_RESOURCES]; /**< O, demand of a worker, >= 0, one of them > 0 */
    double ps[SMD_MAX_RESOURCES];     /**< G, demand of a PS, >= 0, one of them > 0 */
    double limit[SMD_MAX_RESOURCES];  /**< v, what the job may use and what is reserved for it, >= 0 */
    struct smd_utility utility;
};

/** How times of layers become t_f and t_b. */
enum smd_layers {
    SMD_LAYERS_MEAN, /**< mean over layers */
    SMD_LAYERS_SUM,  /**< sum over layers, as the paper says */
};

/**
 * The completion time as a sum of ratios (paper eq. 6 and its asynchronous twin):
 *   fixed + w*per_w + p*per_p + (w/p)*per_w_over_p + (p/w)*per_p_over_w + over_w/w + over_p/p
 * Either kind of job is this with some zeros. All >= 0 [s].
 */
struct smd_cost {
    double fixed_s, w_s, p_s, w_over_p_s, p_over_w_s, over_w_s, over_p_s;
};

/** ERR_RANGE: the limit has room for more than SMD_MAX_TASKS workers or PS. That a job fits nowhere is not an
 * error. What else a job has to be stands at its fields. */
int smd_check_job(const struct smd_job *job, int32_t n_resources, struct err *e);

/** Set forward_s, backward_s and shares. */
void smd_set_layers(struct smd_job *job, const struct overlap_layers *layers, enum overlap_mode mode,
                    enum smd_layers how);

struct smd_cost smd_find_cost(const struct smd_job *job);

/** Completion time [s] by smd_find_cost(); w, p >= 1, whole or not. */
double smd_jct_s(const struct smd_cost *c, double w, double p);

/** Never rises with the completion time. */
double smd_worth(const struct smd_utility *u, double jct_s);

/** Does worker*w + ps*p stay within the limit? */
bool smd_fits(const struct smd_job *job, int32_t n_resources, double w, double p);

/** Most workers beside @p p servers, not rounded; below 1 if there is no room for one. */
double smd_most_workers(const struct smd_job *job, int32_t n_resources, double p);
/** Most servers beside @p w workers. */
double smd_most_servers(const struct smd_job *job, int32_t n_resources, double w);

/* ---- how many workers and parameter servers finish a job soonest within its limit ---- */

struct smd_point {
    double w, p;  /**< >= 1 */
    double jct_s; /**< smd_jct_s() there */
};

struct smd_grid {
    struct smd_point point;
    double bound_s; /**< no point of the limit, whole or not, is faster: point.jct_s / (1 + eps) or more */
    int64_t cells;  /**< linear programmes looked at */
};

/**
 * Least JCT over real w, p >= 1 within the limit, to a factor of 1 + eps: the grid over linear-fractional
 * programmes of arXiv 2105.13855, Alg. 1. Each ratio but the widest (greatest max/min) is held below a bound
 * from a geometric sequence with factor 1 + eps; under these half-planes the least of the last ratio
 * lies at a vertex, as least and greatest of any ratio of linear functions over a polygon do. So there is
 * no LP solver here: a polygon is clipped and its vertices are looked at.
 *
 * Where this is not the paper: w, p >= 1 in place of >= 0, where ratios have no bound. The sequence of a
 * ratio starts at its least value over the polygon that the bounds so far leave, and ends with its greatest:
 * fewer bounds, and no point above the last. Each bound stands for the slab between it and the one before.
 * Runs of bounds are left together when bounds and least values in their slab add up to no less than the best
 * true sum found. A grid of eps 0.3 goes first to find one. None of this gives up the factor.
 *
 * @param job  smd_check_job() found nothing, and (1, 1) fits
 * @param eps  1e-4 to 1
 *
 * Without the pruning the grid has prod log(max/min)/log(1+eps) points: some 4e7 for a synchronous job at eps
 * 0.01. With it some dozens are looked at: 0.1 ms for a job at eps 0.05, 0.4 ms at 0.01.
 */
void smd_inner_grid(struct smd_grid *out, const struct smd_job *job, int32_t n_resources, double eps);

/**
 * Least JCT over whole w, p within the limit. For given w the cost is p*(b + d/w) + (c*w + f)/p + ..., convex
 * in p: its least is next to sqrt((c*w + f)/(b + d/w)). Ties go to fewer workers, then to fewer servers.
 * (Times and limits are posynomials, so over real numbers all is convex in log w and log p: the sum of ratios
 * is not as hard as a general one, and numbers of tasks are found exactly in less time than by the grid.)
 * @param job  as above. Time O(most workers).
 */
struct smd_point smd_inner_exact(const struct smd_job *job, int32_t n_resources);

/* ---- from real to whole numbers of workers and servers, at random ---- */

/** What the real point is multiplied by before it is rounded. */
enum smd_scale {
    SMD_SCALE_ONE,     /**< 1: as the paper's experiments */
    SMD_SCALE_LITERAL, /**< M_delta below 1, which bounds the chance to break a limit: as its analysis */
};

enum smd_keep { SMD_KEEP_BEST, SMD_KEEP_FIRST };

struct smd_rounding {
    enum smd_scale scale;
    enum smd_keep keep; /**< of the tries within the limit; the paper keeps the first */
    double delta;       /**< chance given to failure, above 0 and below 1 */
    int32_t tries;      /**< F, >= 1 */
};

/**
 * M_delta = 1 + A - sqrt(A^2 + 2A), A = 3 ln(2R/delta) / (2W), W the least quotient of a limit and a demand
 * above 0: arXiv 2105.13855 section V. 0 when there is no room at all.
 */
double smd_round_scale(const struct smd_job *job, int32_t n_resources, double delta);

/**
 * Round each coordinate of scale * @p x up with the chance of its fraction, else down, not below 1: Alg. 2.
 * Up to tries times; where none is within the limit, down without chance, and then (1, 1), which fits. Not as
 * printed: the chance is that of the scaled point on both sides, and one success ends it (SMD_KEEP_FIRST).
 * @param x  smd_inner_grid() of a job for which (1, 1) fits
 */
struct smd_point smd_round(const struct smd_point *x, const struct smd_job *job, int32_t n_resources,
                           const struct smd_rounding *how, struct rng *rng);

/* ---- which jobs of a cluster run in the next interval, with how many workers and parameter servers ---- */

/**
 * The problem (arXiv 2105.13855): jobs that are all there at the start of one interval, a pool of
 * resources without places, completion times by the formula below. Maximise the sum of utilities of the jobs
 * that run; limits, not uses, of these share the pool. It falls apart: numbers of tasks job by job, then a
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

/**
 * Schedule @p n_jobs jobs on a pool of @p capacity (shape [n_resources], >= 0). Deterministic.
 * @return 0; ERR_RANGE: a job that fails smd_check_job() ("jobs[3]: worker: is ..."); ERR_NOMEM. *out is then
 * empty and safe to free. A job that fits nowhere is a fate, not an error.
 *
 * A job costs what smd_inner_grid() finds, the choice among 200 jobs less than a millisecond.
 */
int smd_run(struct smd_result *out, enum smd_scheduler which, const struct smd_job *jobs, int32_t n_jobs,
            const double *capacity, int32_t n_resources, const struct smd_settings *how, struct err *e);
void smd_result_free(struct smd_result *r);

/* ---- how each scheduler finds the numbers of tasks of one job ---- */

/*
 * Random jobs and pools as in the experiments of SMD.
 */

/** Resources of the experiments. */
enum smd_resource { SMD_VCPU, SMD_GPU, SMD_MEMORY_GB, SMD_DISK_GB, N_SMD_RESOURCES };

/** "vCPU", "GPU", "memory", "disk"; NULL-terminated. */
extern const char *const smd_resource_names[N_SMD_RESOURCES + 1];

/** What arXiv 2105.13855 section VII leaves open. */
struct smd_draw {
    bool sync;                 /**< train synchronously */
    enum smd_layers layers;    /**< the paper says sum; kinds/place/place_interval.c says what is usual */
    enum overlap_mode overlap; /**< for e1, e2, e3 */
    double instance[N_SMD_RESOURCES]; /**< a limit is this times a factor of 1 to 20, > 0 */
    bool whole_factor;                /**< is the factor a whole number? */
    uint64_t seed;
};

/**
 * Draw @p n jobs into @p jobs. Job i depends on the seed and i alone, so the first jobs of a longer list are
 * those of a shorter one. Ranges of the paper, uniform: whole numbers for iterations, batches, layers and
 * demands, real ones for the rest; overheads beta in seconds; completion times count in hours in gamma2 and
 * gamma3. A factor that leaves no room for a worker and a server is drawn again.
 * @return 0; ERR_RANGE: an instance of which 20 have no room for one worker and one server;
 * ERR_NOMEM.
 */
int smd_draw_jobs(struct smd_job *jobs, int32_t n, const struct smd_draw *how, struct err *e);

/** A pool of @p units times 3400 vCPU, 600 GPU, 1400 GB, 1200 GB of disk; @p units > 0. */
void smd_draw_pool(double capacity[N_SMD_RESOURCES], double units);

#endif
