/** @file A training job with parameter servers: what it needs, how fast it runs, what it is worth. */
#ifndef SIM_INTERVAL_SMD_JOB_H
#define SIM_INTERVAL_SMD_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/interval/layer_overlap.h"

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

/**
 * ERR_RANGE with "FIELD: is X, need Y": a field out of its range (infinite, no number), a worker or PS that
 * demands nothing, a limit with room for more than SMD_MAX_TASKS of either. That a job fits nowhere is not an
 * error.
 */
int smd_check_job(const struct smd_job *job, int32_t n_resources, struct err *e);

/** Set forward_s, backward_s and shares. ERR_RANGE of overlap_check(), job untouched. */
int smd_set_layers(struct smd_job *job, const struct overlap_layers *layers, enum overlap_mode mode,
                   enum smd_layers how, struct err *e);

struct smd_cost smd_find_cost(const struct smd_job *job);

/** Completion time [s] by smd_find_cost(); w, p >= 1, whole or not. */
double smd_jct_s(const struct smd_cost *c, double w, double p);

/** Iterations per second, by the paper's formulas of speed. */
double smd_speed(const struct smd_job *job, double w, double p);

/** Never rises with the completion time. */
double smd_worth(const struct smd_utility *u, double jct_s);

/** Does worker*w + ps*p stay within the limit? */
bool smd_fits(const struct smd_job *job, int32_t n_resources, double w, double p);

/** Most workers beside @p p servers, not rounded; below 1 if there is no room for one. */
double smd_most_workers(const struct smd_job *job, int32_t n_resources, double p);
/** Most servers beside @p w workers. */
double smd_most_servers(const struct smd_job *job, int32_t n_resources, double w);

#endif
