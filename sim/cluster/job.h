/**
 * @file What the jobs of all models have in common: a job that runs on all its GPUs at once, what progress is
 * worth, and ranges that jobs are drawn from.
 *
 * Nothing here depends on time or on other jobs. All of it is pure: no state, safe in threads.
 */
#ifndef SIM_CLUSTER_JOB_H
#define SIM_CLUSTER_JOB_H

#include <stdbool.h>

#include "base/err.h"
#include "base/rng.h"
#include "base/yaml.h"
#include "sim/cluster/cluster.h"

enum {
    JOB_MAX_JOBS = 1 << 24,
    JOB_MAX_GPUS = 1 << 20,
    JOB_MAX_STREAMS = 1 << 29, /**< from workers to parameter servers, of one job */
};

struct job_model;

struct job {
    const char *id;  /**< of the trace, for reports; borrowed; NULL: its number */
    double submit_s; /**< >= 0; schedulers learn of it then */
    int32_t gpus;    /**< one worker on each, 1 to JOB_MAX_GPUS; all of them or none */
    int32_t
        param_servers; /**< beside the workers and without GPUs, 0 (all-reduce) to JOB_MAX_STREAMS / gpus */
    int32_t tenant;    /**< who shares with whom, >= 0 (DRF); -1: the job is alone */
    double weight;     /**< of its tenant (DRF), > 0; the first job of a tenant counts */
    /** Exactly one of the two is given, the other is NaN. A trace may only tell how long a job ran: it is
     * then given as many iterations, not whole ones, as fill that time alone on its ideal place (events.h).
     */
    double iterations, runtime_s; /**< > 0 */
    double compute_s;             /**< of one iteration, what does not depend on the place, > 0 */
    double gradient_B;            /**< reduced over all workers in every iteration, >= 0 */
    double hidden_s;              /**< of its communication, hidden behind compute, 0 to compute_s */
    /** Of compute on each type of NPU of the cluster, over what compute_s and hidden_s say; 0: it does not
     * run there. Of a model, whose step follows from its NPUs, all that counts is whether it is 0. */
    double speed[CLUSTER_MAX_TYPES];
    double server_s; /**< added to an iteration for each server but the first, by models that count servers,
                        >= 0 */
    /** What it trains, shape [types of NPU of the cluster]: its step follows from its place, and compute_s,
     * gradient_B, hidden_s and parameter servers are not read; NULL: they say it. Borrowed. */
    const struct job_model *model;
    double expected_s; /**< how long a scheduler that plans ahead expects it to run, > 0; NaN: it does not say
                        */
    /** Of other resources than GPUs, per GPU, >= 0; [0] is not read. */
    double demand[CLUSTER_MAX_RESOURCES];
};

/** One GPU, submitted at 0, of weight 1 and without anything to send; iterations and times are for the
 * caller. */
struct job job_default(void);

/** What reports call job @p number: its id, else "job12". Returns @p buf or the id. */
enum { JOB_NAME = 24 };
const char *job_name(char buf[JOB_NAME], const struct job *job, int32_t number);

/**
 * Can job @p number run on the empty cluster, and is every field in its range?
 * @param total_gpus  of the cluster: cluster_total(c, 0), so that many jobs can be checked
 * @return 0 or ERR_RANGE naming the job, what is and what is needed. O(1), with other demands O(servers).
 */
int job_check(const struct job *job, int32_t number, const struct cluster *c, double total_gpus,
              struct err *e);

/** Does it ask for more than GPUs? */
bool job_is_mixed(const struct job *job, const struct cluster *c);

/**
 * How many of its workers find room where @p left (shape [n_resources], GPUs first) is left.
 *
 * At least 0, and up to one part in 1e9 more than there is, which is forgiven as rounding.
 */
int32_t job_room(const struct job *job, const double *left, int32_t n_resources);

/* ---- what the progress of a job is worth ---- */

enum utility_kind {
    UTILITY_LINEAR,           /**< scale * k */
    UTILITY_SQRT,             /**< scale * sqrt(k) */
    UTILITY_LOG,              /**< scale * log(1 + k): finite at 0 */
    UTILITY_SIGMOID,          /**< scale / (1 + exp(-slope (k - middle))) */
    UTILITY_SIGMOID_ENVELOPE, /**< the least concave function above that sigmoid on [0, most] */
    N_UTILITIES,
};

/** "linear", "sqrt", "log", "sigmoid", "sigmoid-env", NULL: in the order of enum utility_kind, for key
 * tables. */
extern const char *const utility_words[N_UTILITIES + 1];

/** A non-decreasing function of the iterations done, k >= 0. Plain value. */
struct utility {
    enum utility_kind kind;
    double scale;  /**< >= 0 */
    double slope;  /**< of a sigmoid [1/iteration], > 0 */
    double middle; /**< of a sigmoid, its point of inflection [iterations] */
    double touch;  /**< of an envelope: chord from 0 up to here, the sigmoid from here on [iterations] */
};

/**
 * A utility that can be evaluated.
 *
 * A sigmoid is convex below its middle, so the guarantees of GADGET (arXiv 2202.01158), which need concave
 * utilities, do not hold for it, and its marginal gain far below the middle is less than any rounding error.
 * Its envelope is concave: the chord from (0, u(0)) to where a line from there touches the sigmoid, or to
 * @p most if it would touch beyond.
 *
 * @param slope, middle  of the sigmoids only
 * @param most           of the envelope: most iterations that the job can do; INFINITY is fine
 * @return 0 or ERR_RANGE.
 */
int utility_build(struct utility *u, enum utility_kind kind, double scale, double slope, double middle,
                  double most, struct err *e);

/** Utility of @p k iterations. */
double utility_at(const struct utility *u, double k);

/** utility_at(from + gain) - utility_at(from), without cancellation far from a sigmoid's middle; >= 0. Both
 * arguments are >= 0. */
double utility_gain(const struct utility *u, double from, double gain);

/** Is it concave on what it was built for, [0, most] for an envelope? */
bool utility_is_concave(const struct utility *u);

/* ---- numbers drawn from ranges ---- */

/** Uniform; @p range.lo where both ends are the same. */
double draw_real(struct rng *r, struct draw_range range);
/** A whole number of ceil(lo) .. floor(hi), each as likely; draw_real() where there is none between. */
double draw_whole(struct rng *r, struct draw_range range);

#endif
