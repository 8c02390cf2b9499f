/**
 * @file Jobs that run in time slots on as many workers as the slot gives them: the model of GADGET.
 *
 * M. Yu, Y. Tian, B. Ji, C. Wu, H. Rajan, J. Liu, INFOCOM 2022, arXiv 2202.01158. In each slot a job gets
 * workers on servers; workers on several servers form one ring, which reserves the job's bandwidth on every
 * link of its hops. Nothing is shared beyond what was reserved, so there is no contention. Jobs stop and go
 * on without loss.
 */
#ifndef SIM_SLOTS_SLOTS_H
#define SIM_SLOTS_SLOTS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/job.h"

enum {
    ELASTIC_MAX_WORKERS = 256, /**< of a job in one slot */
    ELASTIC_MAX_SLOTS = 1 << 20,
    ELASTIC_MAX_JOBS = 1 << 20,
};

/** What a ring reserves of the job's hop_Bps on each of its hops; on one server it has none. */
enum elastic_rate { ELASTIC_FULL, ELASTIC_HALF, ELASTIC_QUARTER, ELASTIC_INSIDE, N_ELASTIC_RATES };

struct elastic_job {
    const char *id;        /**< borrowed */
    int32_t arrival;       /**< first slot it can run in, from 1; schedulers learn of it then */
    int32_t max_workers;   /**< N_i: most in one slot, 1 to ELASTIC_MAX_WORKERS */
    int32_t fixed_workers; /**< what schedulers that do not choose give it; may exceed max_workers */
    double demand[CLUSTER_MAX_RESOURCES]; /**< of one worker, >= 0, of GPUs > 0 */
    double budget;                        /**< worker-slots of its life, >= 0; INFINITY = no limit */
    double hop_Bps;                       /**< b_i: reserved on each hop of its ring, one direction */
    double zeta;                          /**< iterations of one worker in a slot, where `gain` is NULL */
    const double *gain; /**< shape [max(max_workers, fixed_workers) + 1], borrowed: iterations in a slot with
                           so many workers, gain[0] = 0; NULL: zeta times the workers */
    bool offers_rates;  /**< rings may reserve less, and `gain` has a row for each enum elastic_rate, that of
                           ELASTIC_INSIDE nowhere below the others */
    struct utility aim; /**< what schedulers make great */
    struct utility report; /**< what is reported; the same, or the sigmoid whose envelope `aim` is */
    double
        leave_frac; /**< leaves when report has come to this share of its scale; INFINITY: on budget only */
};

/** Iterations of a slot with @p workers on a ring at @p rate. */
double elastic_gain(const struct elastic_job *job, int32_t workers, enum elastic_rate rate);
/** The job as it is on such a ring: with what that reserves for its hop_Bps. */
struct elastic_job elastic_at_rate(const struct elastic_job *job, enum elastic_rate rate);

/** ERR_RANGE naming job and field: what no field may be, or one worker fits no server of @p c. */
int elastic_check_job(const struct elastic_job *job, const struct cluster *c, struct err *e);

/** Workers of one job on servers, in the order of its ring: n servers, each once, workers[k] >= 1 on
 * servers[k].
 */
struct elastic_ring {
    int32_t job;
    int32_t n, workers_total;
    int32_t first;          /**< of its servers in the arrays of struct elastic_choice */
    enum elastic_rate rate; /**< ELASTIC_INSIDE with one server */
};

/** What a scheduler gives in one slot: at most one ring to a job. `= { 0 }`, release with
 * elastic_choice_free(). */
struct elastic_choice {
    struct elastic_ring *rings; /**< shape [n_rings], owned */
    int32_t n_rings, cap_rings;
    int32_t *servers, *workers; /**< shape [n_servers], owned */
    int32_t n_servers, cap_servers, cap_workers;
};
void elastic_choice_clear(struct elastic_choice *x);
void elastic_choice_free(struct elastic_choice *x);
/** Append a ring, on several servers at the full rate. ERR_NOMEM. */
int elastic_choose(struct elastic_choice *x, int32_t job, const int32_t *servers, const int32_t *workers,
                   int32_t n, struct err *e);

/** What a scheduler may know at the beginning of a slot. All borrowed. */
struct elastic_slot {
    const struct cluster *cluster;
    const struct elastic_job *jobs; /**< shape [n_jobs] */
    int32_t n_jobs;
    int32_t slot;          /**< from 1 */
    const double *used;    /**< shape [n_jobs], z_i: worker-slots so far */
    const double *done;    /**< shape [n_jobs], iterations so far */
    const int32_t *active; /**< shape [n_active]: arrived, not left, with budget for one worker at least; by
                              arrival, then number */
    int32_t n_active;
    double gpu_cost; /**< of a GPU held in the slot, as elastic_settings.gpu_cost */
};

/** What a ring adds to the job's `aim` in this slot, less the cost of its GPUs. */
double elastic_worth(const struct elastic_slot *s, int32_t job, int32_t workers, enum elastic_rate rate);

/** Most workers that @p job can have in this slot by its own limits: min(N_i, what is left of its budget). */
int32_t elastic_most(const struct elastic_slot *s, int32_t job);

/** What a scheduler tells of a slot besides its choice; NaN where it says nothing. */
struct elastic_note {
    double bound;                 /**< no choice is worth more: the linear programme's value */
    double value;                 /**< elastic_worth() of the choice; elastic_run() fills it in */
    double fixed_bound;           /**< GADGET: the programme's value once ring sizes were fixed */
    int32_t gamma;                /**< GADGET: largest ceil(q_i), 0 without active jobs */
    int32_t stuck;                /**< LAS, FIFO: active jobs whose fixed ring fits nowhere, even alone */
    double node_over, link_over;  /**< load over capacity, largest; <= 1 where nothing is overloaded */
    double node_beta, link_gamma; /**< GADGET in the paper's mode: what theory allows instead of 1 */
};

/** The limits of each are those of its key (kinds/place/place_slots.c). */
struct elastic_settings {
    int32_t n_slots;
    int64_t seed;
    double gpu_cost; /**< what a GPU held in a slot must add to `aim` to be worth its energy, >= 0 */
    /* GADGET */
    double energy_weight; /**< of what `gpu_cost` was made: utility of a J */
    bool paper_rounding;  /**< overload up to beta and gamma instead of none */
    bool reoffer;         /**< offer what is left to jobs that drew nothing, not in the paper's mode */
    int32_t samples;      /**< of the rounding, >= 1 */
    bool generic_pricing; /**< do not use the structure of a two-level fabric where there is one */
    /* LAS */
    int32_t las_queues; /**< 0: continuous */
    double las_step;    /**< worker-slots at which a job falls to the next queue */
};

/** A scheduler: state of its own between slots behind `self`. */
struct elastic_scheduler {
    const char *name, *help;
    /** @param[out] self  NULL on failure. */
    int (*build)(void **self, const struct cluster *c, const struct elastic_job *jobs, int32_t n_jobs,
                 const struct elastic_settings *settings, struct err *e);
    /** Fill @p out (empty) and @p note (all NaN and 0). */
    int (*choose)(struct elastic_choice *out, struct elastic_note *note, void *self,
                  const struct elastic_slot *slot, struct err *e);
    void (*free)(void *self); /**< NULL is fine */
};

/** In the order of a study that names none. */
extern const struct elastic_scheduler *const elastic_schedulers[];
extern const int32_t elastic_n_schedulers;

/* ---- room: what is left of servers and links in a slot ---- */

/** Release with elastic_room_free(). */
struct elastic_room {
    struct arena arena;            /**< of the arrays below */
    const struct cluster *cluster; /**< borrowed */
    double *left;                  /**< shape [n_servers][n_resources], owned */
    double *left_Bps;              /**< shape [n_arcs], owned */
    struct cluster_room paths;
};
int elastic_room_build(struct elastic_room *room, const struct cluster *c, struct err *e);
void elastic_room_free(struct elastic_room *room);
/** All of it is free again. */
void elastic_room_reset(struct elastic_room *room);

/** Workers of @p job that server @p s has room for, capacity met to 1e-9 of itself. */
int32_t elastic_room_workers(const struct elastic_room *room, const struct elastic_job *job, int32_t s);

/**
 * Does the ring fit? Each server has room for its workers, each arc for hop_Bps of every hop over it;
 * capacity is met to 1e-9 of itself. ERR_NOMEM.
 */
int elastic_room_fits(bool *fits, struct elastic_room *room, const struct elastic_job *job,
                      const int32_t *servers, const int32_t *workers, int32_t n, struct err *e);
/** Take it (@p sign 1), whether it fits or not, or give it back (-1). ERR_NOMEM changes nothing. */
int elastic_room_take(struct elastic_room *room, const struct elastic_job *job, const int32_t *servers,
                      const int32_t *workers, int32_t n, int sign, struct err *e);

/* ---- a run ---- */

/** What happened in one slot. */
struct elastic_slot_result {
    int32_t active, embedded, workers;
    double gpus, gpu_frac; /**< GPUs in use, and their share of all */
    double reserved_Bps;   /**< sum over arcs */
    double link_frac;      /**< largest reserved share of an arc */
    struct elastic_note note;
};

struct elastic_job_result {
    int32_t first_slot, last_slot; /**< it ran in; 0 = never */
    int32_t left_slot;             /**< in which its budget was used up or it left; 0 = not within the run */
    int32_t slots;                 /**< that it ran in */
    double used, done;             /**< worker-slots, iterations */
    double aim, report;            /**< utilities at the end */
};

/** Release with elastic_result_free(). */
struct elastic_result {
    struct arena arena; /**< of the arrays below */
    int32_t n_jobs, n_slots, n_arcs;
    struct elastic_job_result *jobs;   /**< shape [n_jobs], owned */
    struct elastic_slot_result *slots; /**< shape [n_slots], owned */
    double *arc_frac;                  /**< shape [n_arcs], mean share reserved over the slots; owned */
    struct elastic_choice *choices;    /**< shape [n_slots], owned; NULL unless asked for */
    double utility, aim;               /**< sums over jobs */
    double embedded_frac;              /**< mean over slots with active jobs of embedded / active */
    double gpu_frac;                   /**< mean over slots */
    double bound_frac;                 /**< mean over slots of value / bound; NaN without bounds */
    int32_t gamma;                     /**< largest of the slots; guarantee 1/(3 gamma + 1) of the run */
    bool concave;                      /**< all that is aimed at and reported is: the guarantee holds */
};

/**
 * Run @p scheduler over settings->n_slots slots. What it chooses is checked: a job that is not active or
 * named twice, more workers than max_workers and fixed_workers both allow or than the budget has left, a
 * server twice in a ring, without a worker or that does not exist, and an overload (but with paper_rounding)
 * are ERR_RANGE that names the scheduler, the slot and the job.
 * @param keep_choices  keep who ran where: n_slots choices
 * @return 0, ERR_NOMEM, ERR_LIB, or ERR_RANGE: as above, of elastic_check_job(), an arrival beyond
 * the last slot. O(slots (choice + servers + arcs)) besides what the scheduler takes.
 */
int elastic_run(struct elastic_result *out, const struct elastic_scheduler *scheduler,
                const struct cluster *c, const struct elastic_job *jobs, int32_t n_jobs,
                const struct elastic_settings *settings, bool keep_choices, struct err *e);
void elastic_result_free(struct elastic_result *x);

/*
 * Rings placed greedily: what schedulers without a programme of their own do with a number of workers.
 */

/** One ring being put together, and room to do it in; one a thread. Release with embed_free(). */
struct embed {
    struct arena arena;         /**< of the arrays below */
    int32_t *order;             /**< shape [n_servers], owned */
    int32_t *room;              /**< shape [n_servers], workers that fit; owned */
    int64_t *sums;              /**< shape [n_servers], the same of a group of servers; owned */
    int32_t *servers, *workers; /**< shape [n], the ring; owned */
    int32_t n;
    enum elastic_rate rate; /**< that it was found at */
};
/** @param[out] x  uninitialised; on failure empty and safe to free. 0 or ERR_NOMEM. */
int embed_build(struct embed *x, const struct cluster *c, struct err *e);
void embed_free(struct embed *x);

/**
 * Find a ring of @p workers workers of @p job in @p room; *found false when this greedy search has none.
 *
 * On one server if one has room for all: the one with the least room, of equals the lowest number. Else in
 * a group of near servers that has room (cluster.group, innermost level first, of a level the lowest number
 * first), on the servers with the most room there; the ring visits them by group, so that near ones are
 * neighbours. A group in which that ring finds its links too full is passed over, so that one ring is tried
 * in each group: where another one fits (round a full link, on less roomy servers) it is missed. A job that
 * offers rates gets a ring at a lower one where none of the full rate fits, and progress is left.
 * O(levels * servers + servers * groups tried * servers of the ring).
 * @return 0 or ERR_NOMEM. The ring is x->servers, x->workers, x->n.
 */
int embed_find(bool *found, struct embed *x, struct elastic_room *room, const struct elastic_job *job,
               int32_t workers, struct err *e);

/**
 * Give @p job (elastic_at_rate() of its ring), whose ring in @p room is @p servers, @p counts, @p n (n 0:
 * none), one worker more, which moves none of the others: on a server of the ring with room, else on one that
 * is near to the first of the ring (cluster.group, innermost level first, of a level the lowest number
 * first). *found false when nothing fits. The larger ring is x->servers, x->workers, x->n; the room holds the
 * old one again.
 */
int embed_grow(bool *found, struct embed *x, struct elastic_room *room, const struct elastic_job *job,
               const int32_t *servers, const int32_t *counts, int32_t n, struct err *e);

/* ---- time of a training iteration on workers in a ring, and how many of them a time slot holds ---- */

/**
 * A job whose workers add up their gradients round a ring, arXiv 2202.01158 eq. 1. Each worker sends and
 * receives 2 (w - 1) pieces of gradient_B / w in an iteration, and adds up half of them.
 */
struct ring_time {
    double gradient_B; /**< d, >= 0 */
    double hop_Bps;    /**< b, of each hop of the ring, > 0; INFINITY is fine */
    double reduce_Bps; /**< G, at which a worker adds up gradients, > 0; INFINITY is fine */
    double sample_s;   /**< t_f, forward time of a sample, >= 0 */
    double samples;    /**< M, of one worker in an iteration, > 0; with RING_BATCH_JOB of all together */
    double backward_s; /**< t_b, however many samples, >= 0 */
    double overhead_s; /**< gamma, >= 0 */
};

/** Whose the samples of an iteration are. */
enum ring_batch {
    RING_BATCH_WORKER, /**< each worker's: more workers do more samples in an iteration */
    RING_BATCH_JOB,    /**< the job's: more workers share them out, M = samples / w */
};

/**
 * Time of an iteration on @p workers >= 1 workers,
 * tau(w) = d (w - 1)/w (2/b + 1/G) + t_f M + t_b + gamma [s]; alone, nothing is sent.
 */
double ring_time_iteration_s(const struct ring_time *t, enum ring_batch batch, int32_t workers);

/**
 * Progress of a slot on 0 to @p most workers into @p gain, shape [most + 1]: whole iterations, n =
 * floor(slot_s / tau(w)). RING_BATCH_JOB: n, iterations of the job; RING_BATCH_WORKER: w n, iterations
 * of its workers together. gain[0] = 0. The paper counts zeta * w with one zeta for all w, which tau(w) is
 * not: this table is what the sum over workers becomes when it is followed.
 * @param slot_s  > 0
 * @return 0 or ERR_RANGE: no bandwidth, or an iteration that takes no time. O(most).
 */
int ring_time_gains(double *gain, const struct ring_time *t, enum ring_batch batch, double slot_s,
                    int32_t most, struct err *e);

/**
 * Algorithms 1 and 2 of arXiv 2202.01158, slot by slot:
 *
 * 1. Every active job i is offered rings of 1 to q_i workers, pi_ik = what k more workers add to its `aim`,
 *    less the cost of their energy (gadget_lp_open); rings of pi_ik < 0 are not offered. q_i = min(N_i, what
 *    its budget has left, sum over servers of how many workers fit), where the paper solves a convex
 *    programme; gamma of the note is the largest.
 * 2. The linear programme over all rings of all sizes, by column generation (gadget_lp_solve). The paper's
 *    edge-based programme has the same optimum for rings of one size, but needs one copy of the network per
 *    ring hop and host, and leaves open how decompositions for several resources are to be combined; here
 *    a column loads every resource at once. note->bound is its dual value: no choice is worth more.
 * 3. To each job the size with the largest pi_ik chi_ik (gadget_lp_fix_sizes), and the programme again.
 * 4. Randomised rounding (gadget_round_draw), strict by default, and what is left is offered again.
 *
 * With concave aims, without that cost, and 3 as above a run comes to 1/(3 gamma + 1) of the best one at
 * least, in the paper's mode with high probability; in strict mode what a run loses is the note's value below
 * its bound.
 *
 * GLPK solves the programmes (base/simplex.h). At 50 servers and 100 jobs of up to 5 workers a warm slot is
 * two to six solves and takes 1 to 2 ms, half of that in GLPK: too little for a simplex of our own.
 *
 * build: ERR_UNSUP for servers whose paths are not kept (cluster.h), ERR_NOMEM;
 * choose: ERR_NOMEM, ERR_LIB. One thread from build to free. The draws of a slot depend on the seed and its
 * number.
 */
extern const struct elastic_scheduler elastic_gadget;

#endif
