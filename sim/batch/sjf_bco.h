/**
 * @file SJF-BCO, smallest job first with balanced contention and overhead (arXiv 2207.07817): the paper's
 * formula for the speed of jobs that share servers, its scheduler, and random batches as in its experiments.
 *
 *     tau = m (w-1)/w (2/B + 1/C) + xi2 (servers - 1) + compute,   B = b_e / f(k) over several servers, else
 * b_i k = max(1, xi1 p),   f(k) = k + alpha (k - 1)
 *
 * p is the largest number of jobs that spread over several servers, this one included, on any server of the
 * job. The paper has k = xi1 p, which would make a link faster than it is; f is its example.
 */
#ifndef SIM_BATCH_SJF_BCO_H
#define SIM_BATCH_SJF_BCO_H

#include "sim/batch/batch.h"

/** Constants of the model; the paper gives no values for them. */
struct contention {
    double outer_Bps;  /**< b_e, between servers [B/s], > 0, of one job alone */
    double inner_Bps;  /**< b_i, within a server [B/s], >= outer_Bps, INFINITY allowed */
    double reduce_Bps; /**< C, at which a GPU adds gradients up [B/s], > 0, INFINITY allowed */
    double share_frac; /**< xi1: of the jobs that meet on a server, those that contend; in (0, 1] */
    double alpha;      /**< loss per further contending job, >= 0 */
};

/** ERR_RANGE with what is wrong. */
int contention_check(const struct contention *c, struct err *e);

/**
 * Time of one iteration of @p job on @p n_servers servers, meeting @p p jobs (not read when n_servers is 1):
 *
 *     m (w-1)/w (2/B + 1/C) + server_s (n_servers - 1) + compute_s,   B = b_e/f(k) over several servers, else
 * b_i
 *
 * The paper's overhead xi2 n_servers also counts the first server: that part is left to compute_s.
 */
double contention_iteration_s(const struct contention *c, const struct job *job, int32_t n_servers,
                              int32_t p);

/**
 * Bound phi >= 1 of the guarantee: the largest ratio, over the jobs, of iteration times on the worst and the
 * best place of the cluster. Worst: on as many servers as it has GPUs or there are, on one of them with as
 * many jobs as the largest server has GPUs. Best: on as few servers as hold it, alone. The paper's bounds put
 * all jobs on one server at best; a job too large for that makes phi smaller here, which stays a bound.
 * O(jobs * servers).
 */
double contention_phi(const struct contention *c, const struct batch_problem *p);

/*
 * Speed of jobs by the formula of arXiv 2207.07817: it depends on how many others spread over the same
 * servers.
 */

/**
 * Build the model for the jobs and the cluster of @p p, which stay where they are until out->free(out->x).
 * A job on several servers is slowed by those that spread over one of its servers, the most of them counting;
 * a job on one server neither slows others nor is slowed (equations of p_j, k_j and tau_j: struct
 * contention).
 *
 * @param[out] out  uninitialised; owned by the caller; after a failure freeing it does nothing.
 * @return 0; ERR_RANGE as contention_check() and batch_check(); ERR_NOMEM. begin() and changed() do not fail.
 *
 * begin(), end() O(servers of the job); changed() O(sum over their servers of the jobs that meet there).
 */
int pace_paper_build(struct pace *out, const struct contention *c, const struct batch_problem *p,
                     struct err *e);

/* ---- SJF-BCO: smallest job first with balanced contention and overhead (arXiv 2207.07817) ---- */

/**
 * Find the best plan (Algorithm 1): a search over whole load limits theta [s], and for each every size kappa
 * up to which jobs are packed (Algorithm 2, FA-FFP) while larger ones are balanced (Algorithm 3, LBSGF). Jobs
 * take their turn by GPUs, of equals by number. Every plan is carried out, and the least makespan counts.
 *
 * Where this departs from the paper, and why:
 * - A plan that does not fit under theta is given up at once. The paper waits for a job to exit and
 *   tries again; but loads never fall, so that cannot help.
 * - Packing prefers servers that have jobs. As printed Algorithm 2 takes the least loaded GPUs of the
 *   cluster, which spreads jobs, against its own prose; settings->literal_pack does that.
 * - A gang waits for the last of its GPUs: all of them are then loaded until it ends. The paper adds to
 *   each GPU's own load, which makes plans look shorter than they are; settings->literal_load does
 *   that.
 * - Limits are doubled from the least that could have a plan until one has, then bisected downwards by
 *   whether there is a plan. The paper bisects 1..T and goes down only from a limit whose plan was
 *   better than all before; from a wide T, where many limits give about the same plan, that turns away
 *   from the good ones. settings->literal_bisect does that.
 * - Some limits above the least one with a plan are tried as well: the makespan is not monotone in
 *   theta. On the batches of sjf_draw_build() 16 of them take off 2 % for three times the time.
 *   settings->more_limits says how many.
 * - kappa matters only by which sizes of jobs it parts, so there are only so many plans for a theta.
 *
 * The best plan and its spans go into w->plan and w->out, whose part under "SJF-BCO only" and status are set.
 * ERR_NOMEM; what queues_run() says.
 */
int sjf_bco_run(struct batch_work *w, struct err *e);

/*
 * A random batch like the one of arXiv 2207.07817 section 7: 160 jobs in sizes of the Philly trace.
 */

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
    struct draw_range iterations;  /**< F, uniform */
    struct draw_range iteration_s; /**< c, one iteration on one GPU, uniform */
    struct draw_range run_s;       /**< F c lies in here: others are drawn again */
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
    struct job *jobs; /**< shape [n_jobs], owned; by kind */
    int32_t *gpus;    /**< shape [n_servers], owned */
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
