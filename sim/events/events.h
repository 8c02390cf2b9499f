/** @file A queue of gang jobs on a cluster, from event to event: who waits, who runs where, and how fast. */
#ifndef SIM_EVENTS_EVENTS_H
#define SIM_EVENTS_EVENTS_H

#include "sim/events/gang_job.h"
#include "sim/events/link_bins.h"
#include "sim/cluster/pace.h"
#include "sim/events/pack.h"

/** Who runs next. All start whatever fits on the way through their order, but for FIFO. */
enum events_order {
    EVENTS_FIFO, /**< as submitted; whoever does not fit makes all behind wait */
    EVENTS_SJF,  /**< least GPUs times ideal run time first; nobody is stopped */
    EVENTS_SRTF, /**< least ideal time left first; stops others */
    EVENTS_LAS,  /**< least GPU-seconds so far first, by queues; stops others (Tiresias, NSDI 2019) */
    EVENTS_DRF,  /**< whose tenant would have the smallest dominant share with it; nobody is stopped */
    N_EVENTS_ORDERS,
};

/** "fifo", "sjf", "srtf", "las", "drf"; NULL-terminated, for key tables. */
extern const char *const events_order_words[N_EVENTS_ORDERS + 1];
/** What each does, in the same order, for manuals. */
const char *events_order_help(enum events_order order);

enum {
    EVENTS_MAX_QUEUES = 8,
    EVENTS_BINS = 200, /**< of time, for the bytes of links; from a second on as wide as it takes */
};

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
    double round_s; /**< continuous LAS: time after which jobs that wait are compared again, > 0 */
    bool keep_spans, keep_points;
    bool keep_bins; /**< bytes of links over time, where pace is a pace_graph */
};

/** FIFO, packed, seed 1, no horizon, no overhead, no backfilling; LAS with 3 queues, at 1 and 10 GPU-hours,
 * and rounds of 300 s. Those numbers of LAS are this project's. */
struct events_settings events_settings_default(void);

/** What runs where, and by what rules. All borrowed. */
struct events_problem {
    const struct cluster *cluster;
    const struct gang_job *jobs; /**< shape [n_jobs] */
    int32_t n_jobs;              /**< >= 1 */
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
    double ideal_s;    /**< alone on the empty cluster, where topology would put it */
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
    double mean_jct_s, median_jct_s, p95_jct_s, p99_jct_s; /**< of jobs that are done; NaN without any */
    double mean_wait_s, mean_slowdown;                     /**< likewise */
    double gpu_frac;     /**< mean share of GPUs held, from first_s to last_s */
    int32_t n_wide;      /**< jobs that ran on several servers at some time */
    double mean_stretch; /**< of those of them that made progress; NaN without any */
    int64_t stops;       /**< sum over jobs */
    int64_t n_events;    /**< times at which something happened */
};

/**
 * Run the jobs to the end or to the horizon. Events are submissions, ends, and what LAS asks for; at each one
 * the jobs that ended go, then those submitted come, then the order starts and stops jobs; jobs that go on
 * stay where they are. Ends within 2^-42 of the same time (relative) are one event, so that rounding does not
 * tear apart jobs that are equal by symmetry.
 *
 * Quantiles are interpolated linearly between the values at (i - 1) / (n - 1). A median of two is their mean.
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
 * @return 0; ERR_RANGE: a setting or job out of range (named), a job larger than the cluster; ERR_NOMEM; what
 * pace says. O(n_jobs log + events * (jobs that wait, of SJF and backfilling; those that run as well, of SRTF
 * and LAS) + what placement and pace take).
 */
int events_run(struct events_result *out, const struct events_problem *p, const struct events_settings *s,
               struct err *e);
void events_result_free(struct events_result *r);

#endif
