/**
 * @file How much bandwidth a run needs: the smallest share of all bandwidths of its network, or of that of
 * one dimension, at which it takes little longer than with endless bandwidth there.
 */
#ifndef SIM_GOSSIP_NEED_H
#define SIM_GOSSIP_NEED_H

#include "sim/gossip/replay.h"

struct gossip_need {
    double share; /**< of the bandwidths of the network, or of one; 0: a millionth is more than enough;
                     INFINITY: a million times as much is not enough */
    double
        bw_Bps; /**< that share of what one NPU can send there, into all dimensions together or one [B/s] */
    double time_s;  /**< of the run there; at share 0 at a millionth, at INFINITY at a million */
    double free_s;  /**< with endless bandwidth: steps, latencies, waiting for others that are slower; where
                       one  dimension is asked for, also for other dimensions */
    double limit_s; /**< that time_s may be */
};

/** Share of the time that may be lost to bandwidth. This project's choice. */
#define GOSSIP_NEED_WAIT 0.05

/**
 * The smallest share of the dimensions of setup->fabric->share_dim at which the run of @p log takes at most 1
 * + @p wait_frac times what it takes with endless bandwidth, by replays (sim/gossip/replay.h says what these
 * keep). Waiting for slow or late workers, and latencies, are no matter of bandwidth: they are in both times.
 * So is what dimensions cost that are not asked for, which keep their bandwidth: a narrow one of these makes
 * the wait that is allowed longer, and may hide what another one lacks. Ask for one dimension with enough in
 * the others.
 *
 * Bisection of the logarithm between 1e-6 and 1e6, until share is less than 1 % above a share that is too
 * little. Endless is 1e12. Time falls with bandwidth but for small exceptions, since exchanges that come
 * sooner may meet in another order: where there are, share is a boundary, and need not be the lowest one.
 *
 * Where replays are not exact, train once more at the share found and ask again: neighbours that wait for
 * each other then come to within 1 % of the time that is said, from 5 % at first (tests hold the latter).
 *
 * @param setup      as of gossip_replay(); its fabric->share is not looked at, fabric->share_dim is.
 * @param wait_frac  > 0.
 * @return 0; ERR_RANGE: wait_frac; what gossip_replay() returns. About 15 replays.
 */
int gossip_need(struct gossip_need *out, const struct gossip_log *log, const struct gossip_setup *setup,
                double wait_frac, struct err *e);

#endif
