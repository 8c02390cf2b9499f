/** @file A random batch like the one of arXiv 2207.07817 section 7: 160 jobs in sizes of the Philly trace. */
#ifndef SIM_BATCH_SJF_DRAW_H
#define SIM_BATCH_SJF_DRAW_H

#include "sim/batch/contention.h"

enum { SJF_DRAW_MAX_KINDS = 16 };

struct sjf_draw_kind {
    int32_t gpus, n_jobs;
};

/** What the paper states, and (marked) what it leaves open and is set here. */
struct sjf_draw_settings {
    struct sjf_draw_kind kinds[SJF_DRAW_MAX_KINDS];
    int32_t n_kinds;
    int32_t server_gpus[SJF_DRAW_MAX_KINDS]; /**< sizes of servers, all equally likely */
    int32_t n_server_sizes;
    int32_t n_servers;
    double iterations_min, iterations_max;   /**< F, uniform */
    double iteration_min_s, iteration_max_s; /**< c, one iteration on one GPU, uniform */
    double run_min_s, run_max_s;             /**< F c lies in here: others are drawn again */
    double comm_frac;   /**< set here: communication between servers without contention, of c, as w grows */
    double server_frac; /**< set here: overhead of each further server, of c */
    double inner_ratio; /**< set here: b_i / b_e, >= 1 */
    double share_frac, alpha; /**< set here: xi1 and alpha of struct contention */
    uint64_t seed;
};

/** 160 jobs: 80 of 1 GPU, 14 of 2, 26 of 4, 30 of 8, 8 of 16, 2 of 32; 20 servers of 4, 8, 16 or 32 GPUs; F
 * in [1000, 6000], c in [.01, .05] s, F c in [50, 300] s; comm_frac .2, server_frac .01, inner_ratio 30,
 * share_frac and alpha .5; seed 1. */
struct sjf_draw_settings sjf_draw_default(void);

/** Release with sjf_draw_free(). */
struct sjf_draw {
    struct batch_problem problem; /**< its arrays are the two below */
    struct contention contention;
    struct batch_job *jobs; /**< shape [n_jobs], owned; by kind */
    int32_t *gpus;          /**< shape [n_servers], owned */
};

/**
 * Draw a batch. Fewer servers are the first of more with the same seed, and jobs do not depend on them.
 * ERR_RANGE: a setting that is out of its range, a job that no server of the cluster drawn has room for,
 * run_min_s to run_max_s that is met too rarely; ERR_NOMEM. Release with sjf_draw_free(), also after a
 * failure.
 */
int sjf_draw_build(struct sjf_draw *d, const struct sjf_draw_settings *s, struct err *e);
void sjf_draw_free(struct sjf_draw *d);

#endif
