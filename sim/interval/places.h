/**
 * @file Servers for the tasks of jobs that SMD admitted, and what their places cost.
 *
 * The paper (arXiv 2105.13855) has a pool without places; all of this is this project's.
 */
#ifndef SIM_INTERVAL_PLACES_H
#define SIM_INTERVAL_PLACES_H

#include "base/arena.h"
#include "sim/cluster/cluster.h"
#include "sim/interval/interval.h"

/** Tasks of one job on one server. */
struct smd_seat {
    int32_t server, w, p; /**< w + p >= 1 */
};

struct smd_placed {
    int32_t first, n; /**< its seats; n 0: it does not run, or its tasks find no room */
    double jct_s;     /**< with what links leave it; NaN without a place */
    double utility;   /**< 0 without a place */
};

/** Release with smd_places_free(). */
struct smd_places {
    struct arena arena;      /**< of jobs */
    struct smd_placed *jobs; /**< shape [n_jobs], owned */
    struct smd_seat *seats;  /**< shape [n_seats], owned; a job's in the order in which they were filled */
    int32_t n_jobs, n_seats, cap_seats;
    int32_t n_placed;
    double utility; /**< sum over placed jobs */
    double stretch; /**< mean over placed jobs of jct_s over that of the pool; NaN without one */
};

/**
 * Place the tasks of the jobs that run, in their order, and share the links of @p c.
 *
 * A job gets one server after the other, each time the one with room for most of its tasks that are left (of
 * equals the lowest number), workers and parameter servers in step. One whose tasks do not all find room gets
 * nothing; it held its limit of the pool all the same.
 *
 * A worker exchanges g/p with each parameter server, push and pull one after the other, at one rate for all
 * pairs of a job: B/w as in the paper, or less where links give less. Rates are max-min fair with all placed
 * jobs running at once, so that a job is never faster than this when others end before it. Inside a server
 * nothing is lost.
 *
 * @param c  its resources are those of the jobs, in the order @p of (shape [n_resources]: resource of the
 *           jobs' demands that is the cluster's k-th)
 * @return 0, ERR_NOMEM, ERR_LIB. *out is then empty and safe to free. O(jobs (servers of one) (servers +
 * tasks) + paths).
 */
int smd_places_find(struct smd_places *out, const struct smd_result *r, const struct smd_job *jobs,
                    const struct cluster *c, const int32_t *of, struct err *e);
void smd_places_free(struct smd_places *x);

#endif
