/**
 * @file How fast the jobs of a cluster run while they share its network: what a schedule is carried out
 * against, and the model in which they share links max-min fairly. Another model is pace_paper_build() of
 * sim/batch/batch.h. Bytes that jobs send are counted by link and, in bins, over time.
 */
#ifndef SIM_CLUSTER_PACE_H
#define SIM_CLUSTER_PACE_H

#include <stdint.h>

#include "base/err.h"
#include "sim/cluster/footprint.h"
#include "sim/cluster/job.h"
#include "workloads/collective.h"

/**
 * Functions of one model of speed; @p x is its state. Jobs are numbered as in the table of jobs that the
 * model was built with, and keep their places from begin() to end(). Same calls, same answers. With no job
 * running, a model is as it was when built, so that one can serve many schedules, one after the other; a
 * thread has its own.
 *
 * The caller tells all that happens at one time by end() and begin(), then asks changed() once, then
 * iteration_s().
 */
struct pace {
    void *x; /**< owned; released by free() */
    /**
     * A job that does not run starts at @p place, whose arrays stay as they are until its end(). ERR_NOMEM,
     * and what the model says of places it cannot serve; the job then does not run.
     */
    int (*begin)(void *x, int32_t job, const struct pace_place *place, struct err *e);
    /** A running job ends. */
    void (*end)(void *x, int32_t job);
    /**
     * Running jobs whose iteration time may differ from what it was at the last changed(), in *jobs (shape
     * [*n], borrowed until the next call of any of these), each once; those that began since are among them.
     * ERR_NOMEM and what the model says.
     */
    int (*changed)(void *x, const int32_t **jobs, int32_t *n, struct err *e);
    /** Time of one iteration of a running job [s], as of the last changed(): > 0, INFINITY when it stands
     * still. */
    double (*iteration_s)(const void *x, int32_t job);
    void (*free)(void *x); /**< NULL is fine */
};

/* ---- how fast placed jobs run on the links of their cluster, which they share ---- */

/**
 * An iteration takes compute_s + max(0, communication - hidden_s). Of a job on w GPUs, g_k of them on the
 * k-th of m servers, gradients of S bytes:
 *
 * - All-reduce: inside each server over its g_k GPUs (the slowest server counts), by weft's own closed form
 * or by a ring at inner_Bps, S (g-1)/g (2/inner_Bps + 1/reduce_Bps). Over m > 1 servers that is its two
 * halves, and between them comes one ring over the servers in the order of the place: every hop carries V = 2
 * (m-1)/m S at the rate r of the ring, so V/r + S (m-1)/m /reduce_Bps + 2 (m-1) times the longest latency of
 * a hop. The two do not overlap: an upper bound of what chunks would reach. With one GPU a server this is
 * equation 1 of arXiv 2202.01158.
 * - Parameter servers: the q-th of p is on server q mod m of the place. Each worker sends S/p to each one and
 *   then fetches as much: V = 2 S/p at the rate r of every such stream, plus one latency of the longest path
 *   each way. A link gives all streams of the way that has more of them their rate. Within a server the
 *   streams meet the links of the busiest worker or parameter server, V max(g, its parameter servers) /
 *   inner_Bps; the longer of the two counts. With a worker a server, n of which are not the parameter
 *   server's own, it is 2 (S/p) / (B/n): that of arXiv 2105.13855, but for the worker at home. No sums are
 *   formed inside a server first.
 *
 * r is the max-min fair share of what runs (maxmin.h): a hop takes a share of every link of its path,
 * streams count each, so that a job with more of them gets more of a link, as with connections. Links offer
 * their bandwidth times the efficiency of their dimension, where the cluster has dimensions.
 *
 * A job that trains a model (struct job_model) takes the step T(B) of its place (sim/cluster/job_steps.h), in
 * the model of endless chunks: no latency. B is what it gets of each dimension. Inside servers and on ports
 * of its own that is the network's. Links that groups of servers share, those above the first level of a fat
 * tree, give all NPUs of a group equal rates, max-min fairly over the groups of the job, at most what a port
 * of theirs has; alone it gets what nobody else uses. Its share is never below the network's own figure, what
 * is left when all NPUs send: T is between that of free and of full links.
 *
 * A job runs on NPUs of one type, and computes at its speed on them; the first server of its place tells.
 *
 * What it cannot say: jobs do not choose other paths, and congestion costs nothing but the share.
 */

enum pace_contention {
    PACE_CONTENTION_NONE,   /**< every job as if it were alone */
    PACE_CONTENTION_SHARED, /**< jobs share links */
    N_PACE_CONTENTIONS,
};

/** When a job holds its share of links. */
enum pace_duty {
    /** Always, also while it computes. On one link no interleaving of the jobs is slower. */
    PACE_DUTY_ALWAYS,
    /** Only as much as it sends on average: shares are of mean rates, V over iteration time, of which a job
     * needs no more than alone. A bound from the other side: jobs send while others compute, as if somebody
     * shifted them (arXiv 2308.00852 does); two that send half of the time do not meet at all. */
    PACE_DUTY_INTERLEAVED,
    N_PACE_DUTIES,
};

/** "none", "shared"; "always", "interleaved"; each NULL-terminated, for key tables. */
extern const char *const pace_contention_words[N_PACE_CONTENTIONS + 1];
extern const char *const pace_duty_words[N_PACE_DUTIES + 1];

struct pace_graph_settings {
    enum pace_contention contention;
    enum pace_duty duty;
    /** The network that the cluster was built of, its dimensions 0..level-1 being inside of servers; copied.
     * NULL: a server is GPUs joined at inner_Bps. */
    const struct topo_network *inner;
    int32_t level;
    const struct topo_network *net;   /**< likewise, with level 0 too: for jobs that are models; borrowed */
    const struct topo_network *types; /**< shape [n_types of the cluster]: `net` with the NPUs of each type,
                                         and what joins them in a server; NULL: `net` for all; borrowed */
    const struct stage_rules *rules;  /**< of collectives inside; NULL: bandwidth alone; borrowed */
    double inner_Bps;  /**< of one GPU to others of its server [B/s], > 0, INFINITY allowed; with `inner` the
                          sum  of its dimensions inside is taken instead */
    double reduce_Bps; /**< at which gradients are added up [B/s], > 0, INFINITY: for free */
};

/**
 * A model of the links of @p c for @p jobs (shape [n_jobs], checked by job_check()); both stay where
 * they are until it is freed.
 * @param[out] out  uninitialised; owned by the caller; after a failure freeing it does nothing.
 * @return 0; ERR_NOMEM; ERR_RANGE: a level the network has not.
 *
 * begin() and end() O(arcs of the job's paths), above CLUSTER_KEPT_PATHS servers and the search for them;
 * changed() O(jobs on links near a change, log). ERR_RANGE of begin(): a place that does not hold the job's
 * GPUs, each server once; ERR_LIB, ERR_RANGE: what the search for a path says.
 */
int pace_graph_build(struct pace *out, const struct cluster *c, const struct job *jobs, int32_t n_jobs,
                     const struct pace_graph_settings *settings, struct err *e);

/* ---- what more it can tell ---- */

/** Bytes on links over time, in bins that widen as time goes on: no end need be known. Release with
 * link_bins_free(). */
struct link_bins {
    int32_t n_arcs, n_bins;
    double from_s, width_s; /**< bin k is from_s + k * width_s to from_s + (k + 1) * width_s */
    double *bytes;          /**< shape [n_bins][n_arcs], owned */
};

/** Empty bins from @p from_s on, of a width that is doubled, two bins becoming one, whenever time goes beyond
 * the last. @p n_bins even, @p width_s > 0. ERR_NOMEM. */
int link_bins_build(struct link_bins *b, int32_t n_arcs, int32_t n_bins, double from_s, double width_s,
                    struct err *e);
void link_bins_free(struct link_bins *b);

/** @p bytes pass @p arc between @p from_s and @p to_s, evenly; from_s >= b->from_s. O(bins between). */
void link_bins_add(struct link_bins *b, int32_t arc, double bytes, double from_s, double to_s);

/** Opaque: the state of such a model. */
struct pace_graph;

/** The state behind @p pace, or NULL when that is another model. */
struct pace_graph *pace_graph_of(const struct pace *pace);

/**
 * Iteration time of a running job if no other one used its links [s].
 *
 * Known from begin() on, without changed().
 */
double pace_graph_alone_s(const struct pace_graph *g, int32_t job);

/**
 * The running job @p job did @p iterations on its place: counts the bytes on its links.
 *
 * Before its end(): the place is forgotten then. @p iterations need not be whole.
 */
void pace_graph_count(struct pace_graph *g, int32_t job, double iterations);

/** The same, into bins over time: it did them between @p from_s and @p to_s. */
void pace_graph_spread(const struct pace_graph *g, int32_t job, double iterations, struct link_bins *bins,
                       double from_s, double to_s);

/** Use of an arc since the model was built or last reset. */
struct pace_graph_use {
    double bytes;
    double reach_Bps; /**< what the arc offers [B/s] */
    double peak_frac; /**< largest load in use at one time over reach_Bps; a job's load is its mean over an
                         iteration */
};
/** Bytes are those that pace_graph_count() was told of; peaks are noted by changed(). */
struct pace_graph_use pace_graph_arc(const struct pace_graph *g, int32_t arc);

/** Forget what was counted; no job may run. */
void pace_graph_reset(struct pace_graph *g);

#endif
