/** @file A run of events.h under way, as its files and the orders see it. */
#ifndef SIM_EVENTS_EVENTS_STATE_H
#define SIM_EVENTS_EVENTS_STATE_H

#include "base/bits.h"
#include "sim/events/events.h"
#include "sim/events/pace_graph.h"
#include "sim/event_heap.h"

enum live_phase { LIVE_AHEAD, LIVE_WAITS, LIVE_RUNS, LIVE_DONE };

/** Place of a job in an order: less comes first, of equals the lower number. */
struct order_key {
    double first, second;
};

struct live_job {
    enum live_phase phase;
    struct order_key key;
    double work;        /**< iterations in all */
    double ideal_s;     /**< of one iteration */
    double done;        /**< iterations until since_s */
    double since_s;     /**< from when on it goes at the present pace; beyond now while it is set up again */
    double iteration_s; /**< present pace; NaN: it just began */
    double from_s;      /**< since when it holds its GPUs */
    double from_done;   /**< iterations until then */
    double gpu_s;       /**< attained until from_s */
    double moved_s;     /**< time with progress, */
    double alone_s;     /**< and what that would have been without others; until from_s */
    int32_t queue;      /**< of LAS */
    int32_t at;         /**< in running */
    struct pack_place place;
};

/** Jobs that wait, sorted by key. */
struct order_list {
    int32_t *jobs; /**< shape [cap], owned; the list is jobs[first..first + n) */
    int32_t first, n, cap;
};

struct events_state {
    const struct events_problem *p;
    const struct events_settings *s;
    const struct order_kind *kind;
    struct pace_graph *graph; /**< NULL: pace is another model */
    struct pack *pack;        /**< owned */
    struct rng *rng;          /**< owned; NULL unless places are random */
    double now_s;
    struct live_job *live; /**< shape [n_jobs], owned */
    int32_t *arrivals;     /**< shape [n_jobs], owned: jobs by submission, then number */
    int32_t n_arrived;
    int32_t *running; /**< shape [n_jobs], owned; in no particular order but what sorting left */
    int32_t n_running;
    struct order_list waiting;
    struct bits sizes;                   /**< GPUs that some waiting job needs */
    int32_t *size_count;                 /**< shape [largest + 1], owned: waiting jobs of each size */
    struct event_heap ends;              /**< of running jobs */
    void *own;                           /**< of the order; released by its free() */
    double total[CLUSTER_MAX_RESOURCES]; /**< of the cluster */
    int64_t gpus_held;
    double held_gpu_s; /**< integral of it */
    struct events_result *out;
};

/** A row of the table of orders. Hooks may be NULL. */
struct order_kind {
    const char *help;
    int (*build)(struct events_state *x, struct err *e); /**< sets x->own */
    void (*free)(void *own);
    /** Of a job as it begins to wait; of one that runs, now. */
    void (*find_key)(struct order_key *out, const struct events_state *x, int32_t job);
    int (*wait)(struct events_state *x, int32_t job, struct err *e);  /**< a job began to wait, */
    int (*begin)(struct events_state *x, int32_t job, struct err *e); /**< to run, */
    void (*end)(struct events_state *x, int32_t job); /**< and no longer does; attained time is up to date */
    /** Start jobs that wait, stop jobs that run. */
    int (*choose)(struct events_state *x, struct err *e);
    /** When it wants to be asked next though nothing happens; then wake() comes before choose(). */
    double (*next_s)(const struct events_state *x);
    int (*wake)(struct events_state *x, struct err *e);
};
extern const struct order_kind order_fifo, order_sjf, order_srtf, order_las, order_drf;

/* ---- lists of jobs ---- */

/** Does job @p a come before job @p b, by their keys? */
bool order_before(const struct live_job *live, int32_t a, int32_t b);
void order_list_add(struct order_list *list, const struct live_job *live, int32_t job);
void order_list_remove(struct order_list *list, const struct live_job *live, int32_t job);
static inline int32_t order_list_at(const struct order_list *list, int32_t i)
{
    return list->jobs[list->first + i];
}

/** The fewest GPUs that a waiting job needs; INT32_MAX when none waits. */
int32_t order_smallest(const struct events_state *x);

/** Walk through all jobs by their keys; whoever finds room in what is left runs, others stop. */
int order_choose_all(struct events_state *x, struct err *e);

/* ---- what happens to jobs ---- */

/** A job comes to wait. */
int events_wait(struct events_state *x, int32_t job, struct err *e);
/** Start a waiting job where the rules put it, if it fits: then *started. */
int events_start(struct events_state *x, int32_t job, bool *started, struct err *e);
/** A running job stops and waits. */
int events_stop(struct events_state *x, int32_t job, struct err *e);
/** A running job is done. */
int events_finish(struct events_state *x, int32_t job, struct err *e);
/** Learn the new speeds from the model. */
int events_pace(struct events_state *x, struct err *e);
/** At the end of the run: what running jobs did until now counts. */
int events_leave(struct events_state *x, int32_t job, struct err *e);

/** Iterations done by now; attained GPU-seconds by now. */
double events_done(const struct events_state *x, int32_t job);
double events_gpu_s(const struct events_state *x, int32_t job);

/* ---- beginning and end ---- */

int events_check(const struct events_problem *p, const struct events_settings *s, struct err *e);
int events_open(struct events_state *x, struct err *e);
void events_close(struct events_state *x);
int events_sum_up(struct events_state *x, struct err *e);

#endif
