/** @file A training job that runs on all its GPUs at once, as traces of clusters hold it. */
#ifndef SIM_EVENTS_GANG_JOB_H
#define SIM_EVENTS_GANG_JOB_H

#include "sim/cluster/cluster.h"

enum {
    GANG_MAX_JOBS = 1 << 24,
    GANG_MAX_GPUS = 1 << 20,
    GANG_MAX_STREAMS = 1 << 29, /**< from workers to parameter servers, of one job */
};

struct gang_job {
    const char *id;  /**< of the trace, for reports; borrowed; NULL: its number */
    double submit_s; /**< >= 0; schedulers learn of it then */
    int32_t gpus;    /**< one worker on each, 1 to GANG_MAX_GPUS; all of them or none */
    int32_t
        param_servers; /**< beside the workers and without GPUs, 0 (all-reduce) to GANG_MAX_STREAMS / gpus */
    int32_t tenant;    /**< who shares with whom, >= 0 (DRF); -1: the job is alone */
    double weight;     /**< of its tenant (DRF), > 0; the first job of a tenant counts */
    /** Exactly one of the two is given, the other is NaN. A trace may only tell how long a job ran: it is
     * then given as many iterations, not whole ones, as fill that time alone on its ideal place (events.h).
     */
    double iterations, runtime_s; /**< > 0 */
    double compute_s;             /**< of one iteration, what does not depend on the place, > 0 */
    double gradient_B;            /**< reduced over all workers in every iteration, >= 0 */
    double hidden_s;              /**< of its communication, hidden behind compute, 0 to compute_s */
    /** Of other resources than GPUs, per GPU, >= 0; [0] is not read. */
    double demand[CLUSTER_MAX_RESOURCES];
};

/** One GPU, submitted at 0, of weight 1 and without anything to send; iterations and times are for the
 * caller. */
struct gang_job gang_job_default(void);

/** What reports call job @p number: its id, else "job12". Returns @p buf or the id. */
enum { GANG_NAME = 24 };
const char *gang_job_name(char buf[GANG_NAME], const struct gang_job *job, int32_t number);

/**
 * Can job @p number run on the empty cluster, and is every field in its range?
 * @param total_gpus  of the cluster: cluster_total(c, 0), so that many jobs can be checked
 * @return 0 or ERR_RANGE naming the job, what is and what is needed. O(1), with other demands O(servers).
 */
int gang_job_check(const struct gang_job *job, int32_t number, const struct cluster *c, double total_gpus,
                   struct err *e);

/** Does it ask for more than GPUs? */
bool gang_job_is_mixed(const struct gang_job *job, const struct cluster *c);

/** How many of its workers find room where @p left (shape [n_resources], GPUs first) is left. */
int32_t gang_job_room(const struct gang_job *job, const double *left, int32_t n_resources);

#endif
