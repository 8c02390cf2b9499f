/**
 * @file A batch of training jobs on one cluster: which GPUs each gets and when, by SJF-BCO (arXiv 2207.07817)
 * or one of the orders it is compared with.
 *
 * A job runs on all its GPUs at once, from its start to its end: not moved, not interrupted. A GPU has one
 * job at a time. How fast jobs run while they share the network is said by a struct pace: one is here, the
 * paper's formula (contention_iteration_s()), the other is pace_graph_build(). Here too are the paper's
 * random batches (sjf_draw_build()).
 */
#ifndef SIM_BATCH_BATCH_H
#define SIM_BATCH_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/stat.h"
#include "sim/cluster/job.h"
#include "sim/cluster/pace.h"
#include "sim/event_heap.h"

enum { BATCH_MAX_JOBS = 1000000, BATCH_MAX_GPUS = 1000000, BATCH_MAX_SEATS = 1000000000 };

struct batch_cluster {
    int32_t n_servers;   /**< >= 1 */
    const int32_t *gpus; /**< shape [n_servers], borrowed; >= 1 each */
};

/** GPUs are numbered through: those of server 0 first, then those of server 1. */
struct batch_problem {
    int32_t n_jobs; /**< >= 1 */
    /** Shape [n_jobs], borrowed. Of each the GPUs (1 to those of the cluster), whole iterations (1 to 10^15),
     * submission, expected_s, compute_s, gradient_B and server_s count. */
    const struct job *jobs;
    struct batch_cluster cluster;
};

enum batch_scheduler {
    BATCH_SJF_BCO, /**< smallest job first, packed or balanced: the best of many plans */
    BATCH_FF,      /**< first fit: the GPUs with the lowest numbers that are loaded less than a limit */
    BATCH_LS,      /**< list scheduling: the GPUs that are loaded least */
    BATCH_RAND,    /**< any idle GPUs */
    N_BATCH_SCHEDULERS,
};

/** The limits of each are those of its key (kinds/place/place_batch.c). */
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
    struct arena arena;       /**< all that follows */
    enum batch_status status; /**< read this first; a status is not an error */
    int32_t n_jobs, n_gpus;
    struct batch_span *jobs; /**< shape [n_jobs] */
    int32_t *gpus;           /**< shape [sum of the jobs' GPUs]; numbers of GPUs, by job */
    int32_t *gpu_server;     /**< shape [n_gpus]; server of each GPU of the cluster */
    double makespan_s;       /**< end of the last job, from time 0 */
    double mean_jct_s;       /**< mean of end - arrival */
    double busy_frac;        /**< share of GPUs times makespan that jobs held */
    /* SJF-BCO only, else 0: */
    int64_t theta; /**< load limit [s] and */
    int32_t kappa; /**< size up to which jobs were packed, in the best plan, the first found of equals */
    int32_t n_kappas;
    double *kappa_makespan_s; /**< shape [n_kappas]; best of kappa = 1.. over the limits tried for all,
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
 * there is. Source: arXiv 2207.07817 Algorithms 1 to 3; where this departs from them stands below, with
 * SJF-BCO and struct batch_kind.
 */
int batch_run(struct batch_result *out, enum batch_scheduler scheduler, const struct batch_problem *p,
              struct pace *pace, const struct batch_settings *s, struct err *e);
void batch_result_free(struct batch_result *r);

/* ---- what a scheduler works with ---- */

/** A batch laid out in arrays: GPUs of the cluster numbered through, room for the GPUs of each job. */
struct gang {
    const struct batch_problem *p; /**< borrowed */
    struct arena arena;            /**< of all that has to do with the batch */
    int32_t n_gpus, n_seats;       /**< of the cluster; of all jobs together */
    int32_t *server_gpu;           /**< shape [n_servers + 1]: first GPU of each server, then n_gpus */
    int32_t *gpu_server;           /**< shape [n_gpus] */
    int32_t *seat;                 /**< shape [n_jobs + 1]: where a job's GPUs begin in arrays of all jobs'
                                      GPUs, then n_seats */
    int32_t most_gpus;             /**< of the largest job */
};

/** In what order jobs take their turn, and on which GPUs. */
struct gang_plan {
    int32_t *order; /**< shape [n_jobs]; each job once */
    int32_t *gpus;  /**< shape [n_seats]; by job, ascending within one */
};

struct crew_job; /* private */

/**
 * Jobs that run on a cluster, each as fast as the others let it: started by who plans, ended when done.
 * Time runs in ticks: seconds, or slots where there are any.
 */
struct crew {
    const struct gang *g;
    struct pace *pace; /**< borrowed */
    double tick_s;
    bool slots, whole;
    double now;               /**< [ticks] */
    struct crew_job *jobs;    /**< shape [n_jobs] */
    struct batch_span *spans; /**< shape [n_jobs]; of jobs that ended */
    int32_t *servers, *gpus;  /**< shape [seats]; places of running jobs */
    struct event_heap ends;   /**< running jobs that get anywhere, by when they end */
    int32_t *ended;           /**< shape [n_ended]; at the last of these times, by number */
    int32_t n_ended, n_running;
};

/** Room to carry out one plan after the other: each GPU serves its jobs in the order of the plan. */
struct queues {
    int32_t *next;              /**< shape [seats]; by seat, the job after it on that GPU, -1 none */
    int32_t *last;              /**< shape [n_gpus]; seat of the last job of each queue */
    int32_t *waits;             /**< shape [n_jobs]; GPUs of a job on which others come before it */
    struct event_heap arrivals; /**< jobs whose GPUs wait for them */
};

/**
 * A job starts as soon as it has arrived, it is the first in the queue of each of its GPUs, and these are
 * idle. All jobs end; crew->spans says when. ERR_RANGE: a job never ends; ERR_NOMEM; what crew says. O(seats
 * + jobs log jobs), and what pace takes.
 */
int queues_run(struct queues *q, const struct gang_plan *plan, struct crew *crew, struct err *e);

/** All of it. */
struct batch_work {
    struct gang g;
    struct gang_plan plan; /**< what the scheduler is to find */
    struct crew crew;
    struct queues queues;
    const struct batch_settings *s;
    struct batch_result *out;
};

/** For a problem that batch_check() accepts; stays where it is. ERR_NOMEM. Release with batch_work_free(),
 * also after a failure. */
int batch_work_build(struct batch_work *w, const struct batch_problem *p, struct pace *pace,
                     const struct batch_settings *s, struct err *e);
void batch_work_free(struct batch_work *w);

/**
 * A scheduler. run() finds the plan and carries it out, which leaves its spans in w->crew.
 *
 * First fit and list scheduling: jobs in random order are planned on the GPUs with the lowest numbers whose
 * loads stay within ff_limit times the mean, or on those loaded least; the queues are then carried out. The
 * mean is that of all jobs on all GPUs, sum(G rho) / GPUs. Where too few GPUs stay within the limit, first
 * fit takes those loaded least: the paper gives its baselines the limit T, but first fit within one so wide
 * fills few GPUs.
 *
 * Random GPUs: jobs in random order; the first that has not started starts once it has arrived and so many
 * GPUs are idle, on any of them, all equally likely. The others wait for it. O(jobs log jobs + seats log
 * seats).
 */
struct batch_kind {
    const char *name;
    int (*run)(struct batch_work *w, struct err *e);
};
extern const struct batch_kind batch_kinds[N_BATCH_SCHEDULERS]; /**< by enum batch_scheduler */

/* ---- loads of GPUs ---- */

struct batch_load_pick; /* private */

/** Load of each GPU as a plan grows, and which GPUs a job gets by it. */
struct batch_load {
    const struct gang *g;
    bool gang; /**< a gang starts when the last of its GPUs is free; false: each GPU adds up its own jobs */
    double *gpu_s;                 /**< shape [n_gpus]; planned to be busy so long */
    double *server_s;              /**< shape [n_servers]; sum over its GPUs */
    bool *open;                    /**< shape [n_servers]; has a job already */
    struct stat_rank *ranks;       /**< shape [n_servers] */
    struct batch_load_pick *picks; /**< shape [n_gpus]; the best so far, a heap */
};

/** What a job asks for. */
struct batch_load_ask {
    int32_t gpus;
    double add_s;   /**< what it adds to the load of each of its GPUs */
    double limit_s; /**< no GPU gets more, INFINITY: no limit */
    double lambda;  /**< of BATCH_LOAD_BALANCED, >= 1 */
};

/** No load, in the arena of @p g, whose `failed` says if there was room. */
void batch_load_build(struct batch_load *l, struct gang *g, bool gang);
/** No load again. */
void batch_load_reset(struct batch_load *l);

/** Which GPUs a job gets, of those that stay within the limit; of equals the lowest number goes first. */
enum batch_load_way {
    BATCH_LOAD_LEAST,  /**< those loaded least, of all */
    BATCH_LOAD_PACKED, /**< the same, but servers that have jobs go before those that have none */
    /** The least loaded ones on the servers that are loaded least per GPU: on so few of them as have lambda
     * times the GPUs, or on all. */
    BATCH_LOAD_BALANCED,
    BATCH_LOAD_FIRST, /**< those with the lowest numbers */
};

/**
 * Find GPUs for a job, write them in @p out (shape [ask->gpus], ascending) and add its load; false when fewer
 * than it needs stay within the limit, and then nothing is changed. O(GPUs log ask->gpus), balanced besides
 * O(servers log servers).
 */
bool batch_load_take(struct batch_load *l, int32_t *out, enum batch_load_way way,
                     const struct batch_load_ask *ask);

/* ---- the paper's model of speed: jobs that share servers ---- */

/** Constants of the model; the paper gives no values for them. */
struct contention {
    double outer_Bps;  /**< b_e, between servers [B/s], > 0, of one job alone */
    double inner_Bps;  /**< b_i, within a server [B/s], >= outer_Bps, INFINITY allowed */
    double reduce_Bps; /**< C, at which a GPU adds gradients up [B/s], > 0, INFINITY allowed */
    double share_frac; /**< xi1: of the jobs that meet on a server, those that contend; in (0, 1] */
    double alpha;      /**< loss per further contending job, >= 0 */
};

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

/**
 * Build the model for the jobs and the cluster of @p p, which stay where they are until out->free(out->x).
 * A job on several servers is slowed by those that spread over one of its servers, the most of them counting;
 * a job on one server neither slows others nor is slowed (equations of p_j, k_j and tau_j: struct
 * contention).
 *
 * @param[out] out  uninitialised; owned by the caller; after a failure freeing it does nothing.
 * @return 0; ERR_RANGE as batch_check(); ERR_NOMEM. begin() and changed() do not fail.
 *
 * begin(), end() O(servers of the job); changed() O(sum over their servers of the jobs that meet there).
 */
int pace_paper_build(struct pace *out, const struct contention *c, const struct batch_problem *p,
                     struct err *e);

/* ---- random batches like that of arXiv 2207.07817 section 7: 160 jobs in sizes of the Philly trace ---- */

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

/** Release with sjf_draw_free(). */
struct sjf_draw {
    struct batch_problem problem; /**< its arrays are the two below */
    struct contention contention;
    struct arena arena; /**< of the arrays */
    struct job *jobs;   /**< shape [n_jobs]; by kind */
    int32_t *gpus;      /**< shape [n_servers] */
};

/**
 * Draw a batch. Fewer servers are the first of more with the same seed, and jobs do not depend on them.
 * ERR_RANGE: no jobs or too many, a job that no server of the cluster drawn has room for,
 * run_min_s to run_max_s that is met too rarely; ERR_NOMEM. Release with sjf_draw_free(), also after a
 * failure.
 */
int sjf_draw_build(struct sjf_draw *d, const struct sjf_draw_settings *s, struct err *e);
void sjf_draw_free(struct sjf_draw *d);

#endif
