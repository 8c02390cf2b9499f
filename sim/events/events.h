/** @file A queue of gang jobs on a cluster, from event to event: who waits, who runs where, and how fast. */
#ifndef SIM_EVENTS_EVENTS_H
#define SIM_EVENTS_EVENTS_H

#include "base/arena.h"
#include "base/bits.h"
#include "sim/cluster/job.h"
#include "sim/cluster/pace.h"
#include "sim/event_heap.h"
#include "sim/events/pack.h"

/**
 * Who runs next: X(NAME, name, word) for EVENTS_NAME, the rules in order_name and the word that studies use,
 * in the order in which they list them. All start whatever fits on the way through their order, but for FIFO.
 */
#define EVENTS_ORDERS(X)                                                                                     \
    X(FIFO, fifo, "fifo")          /**< as submitted; whoever does not fit makes all behind wait */          \
    X(SJF, sjf, "sjf")             /**< least ideal run time first; nobody is stopped */                     \
    X(SJF_GPU, sjf_gpu, "sjf-gpu") /**< least GPUs times ideal run time first; nobody is stopped */          \
    X(SRTF, srtf, "srtf")          /**< least ideal time left first; stops others */                         \
    X(LAS, las, "las") /**< least GPU-seconds so far first, by queues; stops others (Tiresias, NSDI 2019) */ \
    X(DRF, drf, "drf") /**< whose tenant would have the smallest dominant share with it; nobody is stopped   \
                        */                                                                                   \
    X(GAVEL, gavel, "gavel") /**< shares of time on types of NPU, max-min fair, in rounds (OSDI 2020) */     \
    X(GAVEL_MAKESPAN, gavel_makespan, "gavel-makespan") /**< the same for the least makespan */
#define EVENTS_VALUE(NAME, name, word) EVENTS_##NAME,
enum events_order { EVENTS_ORDERS(EVENTS_VALUE) N_EVENTS_ORDERS };

enum {
    EVENTS_MAX_QUEUES = 8,
    EVENTS_BINS = 200, /**< of time, for the bytes of links; from a second on as wide as it takes */
};

/** The limits of each are those of its key (kinds/place/place_events.c). */
struct events_settings {
    enum events_order order;
    enum pack_kind pack;
    uint64_t seed;    /**< of PACK_RANDOM */
    double horizon_s; /**< nothing happens after it, > 0; INFINITY: all jobs run to their end */
    double
        overhead_s; /**< that a job holds its GPUs without progress each time it goes on after a stop, >= 0 */
    /** FIFO: jobs behind one that waits may start if they do not delay it: they end, by their ideal times,
     * before the GPUs it waits for are free, by the present speeds, or need none of them (EASY backfilling:
     * D. Lifka, JSSPP 1995). Other resources than GPUs are not reserved. */
    bool backfill;
    int32_t las_queues; /**< 0: continuous; else 1 to EVENTS_MAX_QUEUES */
    /** GPU-seconds at which a job falls to the next queue, ascending, > 0; shape [las_queues - 1]. */
    double las_at[EVENTS_MAX_QUEUES - 1];
    double round_s; /**< continuous LAS and Gavel: time after which jobs are compared again, > 0 */
    bool keep_spans, keep_points;
    bool keep_bins; /**< bytes of links over time, where pace is a pace_graph */
};

/** What runs where, and by what rules. All borrowed. */
struct events_problem {
    const struct cluster *cluster;
    const struct job *jobs; /**< shape [n_jobs] */
    int32_t n_jobs;         /**< >= 1 */
    struct pace *pace; /**< built for the same jobs and cluster; no job runs. Links are reported of one that
                          pace_graph_of() knows */
};

enum events_end {
    EVENTS_DONE,   /**< ended within the horizon */
    EVENTS_RUNS,   /**< ran when it came, or stood still for good */
    EVENTS_WAITS,  /**< waited then */
    EVENTS_ABSENT, /**< was not submitted by then */
};

/** What became of one job. Times that did not come are NaN. */
struct events_job {
    enum events_end end;
    double start_s, end_s;
    double jct_s;      /**< end - submission */
    double run_s;      /**< with GPUs, so far */
    double wait_s;     /**< jct_s - run_s */
    double ideal_s;    /**< alone on the empty cluster, where topology would put it, on its fastest type */
    double slowdown;   /**< jct_s / ideal_s */
    double iterations; /**< done so far */
    double stretch; /**< time in which it made progress over what the same would have taken on the same places
                       without others; NaN: it made none, or pace is no pace_graph */
    int32_t servers; /**< most at one time */
    int32_t stops;   /**< times it was stopped for others */
};

/** GPUs of one server that a job held. */
struct events_span {
    int32_t job, server, gpus;
    double from_s, to_s;
};

/** What holds from one event to the next. */
struct events_point {
    double time_s;
    int64_t gpus; /**< held */
    int32_t running, waiting;
};

/** Use of an arc of the cluster from the first submission to the end. */
struct events_arc {
    double bytes;
    double mean_frac, peak_frac; /**< of what it offers; peak of loads that are means over iterations */
};

/** Release with events_result_free(). */
struct events_result {
    int32_t n_jobs, n_arcs;
    struct events_job *jobs;     /**< shape [n_jobs], owned */
    struct events_arc *arcs;     /**< shape [n_arcs], owned; NULL where pace is no pace_graph */
    struct events_span *spans;   /**< shape [n_spans], owned; by time of end; NULL unless asked for */
    struct events_point *points; /**< shape [n_points], owned; ascending times; NULL unless asked for */
    int32_t n_spans, cap_spans, n_points, cap_points;
    struct link_bins bins; /**< from first_s on; empty unless asked for */
    int32_t n_done;
    double first_s, last_s; /**< first submission; last end, or the horizon if jobs were left */
    double makespan_s;      /**< last_s - first_s */
    double mean_jct_s, median_jct_s, p95_jct_s; /**< of jobs that are done; NaN without any */
    double mean_wait_s;                         /**< likewise */
    double gpu_s[CLUSTER_MAX_TYPES];            /**< that jobs held of each type of NPU */
    double gpu_frac;                            /**< mean share of GPUs held, from first_s to last_s */
    int32_t n_wide;                             /**< jobs that ran on several servers at some time */
    double mean_stretch;                        /**< of those of them that made progress; NaN without any */
    int64_t stops;                              /**< sum over jobs */
    int64_t n_events;                           /**< times at which something happened */
};

/**
 * Run the jobs to the end or to the horizon. Events are submissions, ends, and what LAS asks for; at each one
 * the jobs that ended go, then those submitted come, then the order starts and stops jobs; jobs that go on
 * stay where they are. Ends within 2^-42 of the same time (relative) are one event, so that rounding does not
 * tear apart jobs that are equal by symmetry.
 *
 * Quantiles are interpolated linearly between the values at (i - 1) / (n - 1). A median of two is their mean.
 *
 * A job runs on NPUs of one type at a time: the fastest for it that has room. One that runs goes to another
 * type only where an order stops it.
 *
 * Where the orders differ from what their names stand for elsewhere:
 * - SRTF and LAS walk through all jobs, those that run and those that wait, in their order, and whoever finds
 *   room in what is left of the cluster runs. Room is counted in sums over servers; where other resources
 * than GPUs are scattered so that a job finds no place, it waits on, and those stopped for it may go on at
 * once.
 * - LAS does not lift jobs that starve back to the first queue. Within a queue, first submitted first.
 * - DRF (A. Ghodsi et al., NSDI 2011) fills up progressively: next is the tenant that would have the smallest
 *   dominant share over its weight after its next job is granted whole, of equals the one first submitted of.
 *   The paper looks at the share before; with gangs of many sizes the level that the filling reaches is the
 * one after. A tenant whose next job does not fit is passed over.
 *
 * @param[out] out  uninitialised; release with events_result_free(), also after a failure.
 * @return 0; ERR_RANGE: a job out of range (named), larger than the cluster, or one that runs on no type;
 * ERR_NOMEM; what pace says. O(n_jobs log + events * (jobs that wait, of SJF and backfilling; those that run
 * as well, of SRTF and LAS) + what placement and pace take).
 */
int events_run(struct events_result *out, const struct events_problem *p, const struct events_settings *s,
               struct err *e);
void events_result_free(struct events_result *r);

/* ---- what an order of jobs sees and does: order_*.c ---- */

enum live_phase { LIVE_AHEAD, LIVE_WAITS, LIVE_RUNS, LIVE_DONE };

/** Place of a job in an order: less comes first, of equals the lower number. */
struct order_key {
    double first, second;
};

struct live_job {
    enum live_phase phase;
    struct order_key key;
    double work;        /**< iterations in all */
    double ideal_s;     /**< of one iteration, on its fastest type */
    int32_t type;       /**< of the NPUs that it has, while it runs */
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
    struct arena arena; /**< of the arrays below */
    const struct events_problem *p;
    const struct events_settings *s;
    const struct order_kind *kind;
    struct pace_graph *graph;              /**< NULL: pace is another model */
    struct pack *packs[CLUSTER_MAX_TYPES]; /**< shape [n_types], owned */
    int32_t n_types;                       /**< of NPUs in the cluster */
    double
        *type_s; /**< shape [n_jobs][n_types], owned: of one iteration alone on each; INFINITY: not there */
    struct rng *rng; /**< owned; NULL unless places are random */
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
    double total[CLUSTER_MAX_RESOURCES]; /**< of the cluster, */
    double of_type[CLUSTER_MAX_TYPES][CLUSTER_MAX_RESOURCES]; /**< and of the servers of each type */
    int64_t gpus_held;
    double held_gpu_s; /**< integral of it */
    struct events_result *out;
};

/** Settings that an order looks at. */
enum {
    ORDER_BACKFILLS = 1, /**< backfill */
    ORDER_STOPS = 2,     /**< overhead_s: it stops jobs */
    ORDER_ATTAINED = 4,  /**< las_queues, las_at, round_s */
    ORDER_ROUNDS = 8,    /**< round_s */
};

/** An order of jobs: a file of its own and a line of EVENTS_ORDERS. Hooks may be NULL. */
struct order_kind {
    const char *name, *help;
    unsigned reads;                                      /**< ORDER_ bits */
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
#define EVENTS_ROW(NAME, name, word) extern const struct order_kind order_##name;
EVENTS_ORDERS(EVENTS_ROW)
extern const struct order_kind *const events_orders[N_EVENTS_ORDERS]; /**< by enum events_order */

/** @p s as the key of an order: to 32 bits (2.3e-10), so that jobs of one length are equal whichever product
 * of iterations and their time it came from. */
double order_time_key(double s);
/** Does job @p a come before job @p b, by their keys? */
bool order_before(const struct live_job *live, int32_t a, int32_t b);
static inline int32_t order_list_at(const struct order_list *list, int32_t i)
{
    return list->jobs[list->first + i];
}

/** The fewest GPUs that a waiting job needs; INT32_MAX when none waits. */
int32_t order_smallest(const struct events_state *x);

/** Walk through the jobs that wait by their keys; whoever fits starts, nobody stops. */
int order_choose_waiting(struct events_state *x, struct err *e);

/** Walk through all jobs by their keys; whoever finds room in what is left runs, others stop. */
int order_choose_all(struct events_state *x, struct err *e);

/** Time of an iteration of job @p job alone on NPUs of @p type; INFINITY: it does not run there. */
static inline double events_type_s(const struct events_state *x, int32_t job, int32_t type)
{
    return x->type_s[(int64_t)job * x->n_types + type];
}
/** GPUs that are free of one type, of the type with most: no job gets more. */
int64_t events_idle(const struct events_state *x);
/** Start a waiting job where the rules put it, if it fits: then *started. Of several types of NPU on the
 * fastest that has room for it. */
int events_start(struct events_state *x, int32_t job, bool *started, struct err *e);
/** The same on NPUs of @p type. */
int events_start_on(struct events_state *x, int32_t job, int32_t type, bool *started, struct err *e);
/** A running job stops and waits. */
int events_stop(struct events_state *x, int32_t job, struct err *e);

/** Iterations done by now; attained GPU-seconds by now. */
double events_done(const struct events_state *x, int32_t job);
double events_gpu_s(const struct events_state *x, int32_t job);

#endif
