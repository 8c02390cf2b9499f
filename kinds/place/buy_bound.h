/** @file What jobs of a mix take at least on a network that is not chosen yet; private to kinds/place. */
#ifndef KINDS_PLACE_BUY_BOUND_H
#define KINDS_PLACE_BUY_BOUND_H

#include "kinds/place/place.h"

struct buy_step {
    const struct job_step *of; /**< borrowed from buy_point.kept */
};

/** Steps of one entry on places of an empty cluster, links that groups share being free. */
struct buy_steps {
    struct buy_step *steps; /**< shape [n], owned: the first one that of its first place */
    int32_t n;
};

/** A job of a seed. */
struct buy_job {
    double submit_s;
    int32_t entry;
};

/** A point of the study, as jobs see it and as prices do. Do not copy. */
struct buy_point {
    struct study_override axes[SWEEP_MAX_KEYS];
    struct place_study at;
    struct design_point asked;
    struct topo_network net; /**< its own, 1 GB/s where bandwidth is to choose */
    struct job_steps *kept;
    struct buy_steps *steps; /**< shape [at.trace.n_mix], owned */
    struct buy_job *jobs;    /**< shape [seeds][n_jobs], owned: in order of submission */
    int32_t n_jobs;
    double *weight; /**< shape [at.trace.n_mix], owned: share of an entry in the jobs of all seeds */
};

/** Steps, jobs and weights of a point that was read. ERR_PARSE, ERR_RANGE, ERR_NOMEM; safe to free after. */
int buy_point_build(struct buy_point *p, int64_t seed, int64_t seeds, struct err *e);
void buy_point_free(struct buy_point *p);

/** All GPUs of the cluster. */
double buy_gpus(const struct buy_point *p);

/** A step of entry @p i at bandwidths @p bw_Bps, shape [n_dims]: on its first place alone, and on whichever
 * place it is shortest. */
double buy_step_s(const struct buy_point *p, int32_t i, const double *bw_Bps);
double buy_least_step_s(const struct buy_point *p, int32_t i, const double *bw_Bps);

/** What the first place of entry @p i has of each bandwidth of the network where its own ports are no limit,
 * shape [n_dims]. */
void buy_first_ratio(double *ratio, const struct buy_point *p, int32_t i);

/** The mean completion on all seeds is not below: every job runs at once, as fast as it can. @p kept, shape
 * [n_mix]: of its time. */
double buy_least_jct_s(const struct buy_point *p, const double *kept, const double *bw_Bps);
/** Nor the mean GPU-seconds of a job. */
double buy_least_gpu_s(const struct buy_point *p, const double *kept, const double *bw_Bps);
/** Nor the mean makespan: the last job to end, and all GPU-hours on all GPUs. */
double buy_least_makespan_s(const struct buy_point *p, int64_t seeds, const double *kept,
                            const double *bw_Bps);

#endif
