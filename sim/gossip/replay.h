/**
 * @file What a run asked of the network, and the same again on another network: the clock alone, nothing is
 * learned.
 *
 * A log holds every send, meeting, all-reduce, hold and skip of a method with what caused it: the end of a
 * worker's step, the beginning or end of an earlier exchange, a meeting of all. A replay asks for the same
 * when the same has happened, whenever that is; what a worker asked for while its method held it, not before
 * it has done as many steps as then. Steps take the time that they took in the run; queues, stragglers and
 * waiting are worked out anew by the same engine.
 *
 * On the network of the run a replay gives its times, waiting, bytes and exchanges to the last bit. On
 * another one it is exact where what a method asks for does not depend on time: a fixed period, a random
 * peer, a meeting of all. Where it does, the replay holds to what was asked in the run:
 * - A worker that waits for several messages goes on with the one that came last in the run, and one that
 *   found them all there does not wait for them.
 * - A rule that looks at models exchanges after the steps after which it did; trained there, the models would
 *   have been others.
 * - An interval of the clock is the steps that it came to.
 * Gossip-PGA and -AGA, EventGraD and SPARQ on 8 workers, jitter 0.1 to 1: time within 5 % at three times the
 * bandwidth of the run; at a thirtieth of it up to 79 % off with overlap, which is why gossip_need() is to be
 * asked again from a run near its answer.
 */
#ifndef SIM_GOSSIP_REPLAY_H
#define SIM_GOSSIP_REPLAY_H

#include "sim/gossip/gossip.h"

enum gossip_cause_kind {
    GOSSIP_AT_START,
    GOSSIP_AT_STEP,  /**< worker `id` has done so many steps */
    GOSSIP_AT_BEGIN, /**< exchange `id` of the log begins */
    GOSSIP_AT_END,
    GOSSIP_AT_MEETING, /**< all have met for the `id`-th time */
};

struct gossip_cause {
    enum gossip_cause_kind kind;
    int32_t id;
    int64_t step;
};

enum gossip_ask_kind {
    GOSSIP_ASK_SEND,
    GOSSIP_ASK_MEET,
    GOSSIP_ASK_GATHER,
    GOSSIP_ASK_PART,
    GOSSIP_ASK_HOLD,
    GOSSIP_ASK_RELEASE,
    GOSSIP_ASK_SKIP,
};

/** One call of a method. */
struct gossip_ask {
    enum gossip_ask_kind kind;
    int32_t from, to;       /**< worker, GOSSIP_SERVER: none; of a send both */
    double there_B, back_B; /**< of a send; of a gather there_B is its parameters */
    bool holds_from, holds_to, always_holds;
    bool waits;     /**< of a meeting */
    int32_t serial; /**< of a send and a gather: which exchange of the log it is */
    int64_t done;   /**< steps that worker `from` must have done besides, or it is asked for only then */
    int64_t step;   /**< of the cause */
    int64_t cause;  /**< number of the cause */
    int64_t next;   /**< ask with the same cause, -1: none */
};

/** Zero-initialise, give it to gossip_run() by its wish; release with gossip_log_free(). A log is of one run.
 */
struct gossip_log {
    uint64_t seed;
    int32_t n_workers;
    int64_t n_steps; /**< of a worker */
    double model_B;
    bool whole;              /**< the run has come to its end and did not diverge */
    struct gossip_ask *asks; /**< shape [n], owned, in the order of the run */
    int32_t n, cap;
    int64_t *first; /**< owned, by number of cause: its first ask, -1: none */
    int32_t n_exchanges, n_meetings;
    bool no_memory;
};
void gossip_log_free(struct gossip_log *log);

/**
 * The run of @p log on the network of @p setup. Of @p setup clock, fabric and model_B may be others than in
 * the run; the rest must be the same.
 * @param out  uninitialised; accuracies and loss are NaN. Empty after failure.
 * @return 0; ERR_RANGE: the log is of another set-up, or of a run that has diverged; ERR_UNSUP: workers wait
 * for each other for ever, because holds of the run met other steps; ERR_NOMEM; what the wire says.
 * Memory and time do not depend on the model: O(asks + steps of all workers).
 */
int gossip_replay(struct gossip_result *out, const struct gossip_log *log, const struct gossip_setup *setup,
                  struct err *e);

/* ---- for the engine ---- */

/** Begin the log of a run. */
void gossip_log_begin(struct gossip_log *log, uint64_t seed, int32_t n_workers, int64_t n_steps,
                      double model_B);
/** Add what was asked because of @p why. Without memory the log is marked. Amortised O(1). */
void gossip_log_add(struct gossip_log *log, const struct gossip_cause *why, const struct gossip_ask *ask);
/** The run has ended well: put asks in order of their causes. ERR_NOMEM, also of earlier additions. */
int gossip_log_end(struct gossip_log *log, struct err *e);

/** The method that asks for what is in engine->replayed. */
extern const struct gossip_method gossip_replayer;

/*
 * ---- the need ----
 *
 * How much bandwidth a run needs: the smallest share of all bandwidths of its network, or of that of one
 * dimension, at which it takes little longer than with endless bandwidth there.
 */

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
