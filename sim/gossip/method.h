/**
 * @file Private to sim/gossip: a run under way, what a method can ask of it, and what a method is.
 *
 * A worker computes a step, updates its model (`step`), and is asked what it does next (`after`). It begins
 * the next step at once unless something holds it: a transfer it waits for, a meeting, or the method itself.
 * All that happens at one time happens in one order: steps that end by worker, then transfers.
 */
#ifndef SIM_GOSSIP_METHOD_H
#define SIM_GOSSIP_METHOD_H

#include "base/schema.h"
#include "sim/event_heap.h"
#include "sim/gossip/gossip.h"

enum { GOSSIP_SERVER = -1, GOSSIP_ALL = -2 };

/** Streams of one seed besides those of data and shards; of each worker its own. */
enum gossip_stream { GOSSIP_DRAW_BATCHES, GOSSIP_DRAW_STEPS, GOSSIP_DRAW_PEERS, N_GOSSIP_STREAMS };

struct gossip_worker {
    int32_t id;
    float *x;     /**< shape [n_params]: its model */
    float *g;     /**< shape [n_params]: gradient of the step under way, or just done */
    float *given; /**< shape [n_params]: what it brought to the last meeting, a copy of x; NULL without
                     meetings */
    float **own;  /**< shape [n_own][n_params]: the method's, zero at first */
    void *state;  /**< the method's worker_size bytes, zero at first */
    struct gossip_memory memory;
    int64_t steps;        /**< done */
    double loss;          /**< of the batch of the step under way, or just done */
    int32_t holds;        /**< what it waits for; it computes only at 0 */
    int32_t held;         /**< of these, by the method */
    int32_t flying;       /**< transfers that it computes beside, with overlap */
    bool computes, ready; /**< ready: nothing holds it, but it has not begun yet */
    bool waits;           /**< for the meeting to be over */
    bool met;             /**< has come to the meeting that gathers, or is not over */
    enum {
        GOSSIP_NOT_EARLY,
        GOSSIP_EARLY,
        GOSSIP_EARLY_WAITS
    } early;       /**< came before the last meeting was over */
    double idle_s; /**< since when it has not computed */
    double compute_s, wait_s;
    struct rng *draws[N_GOSSIP_STREAMS];
    int64_t *order, at; /**< its examples in the order of this epoch, borrowed from the run; the next one */
};

/** An exchange under way. The caller of gossip_send() fills the first part. */
struct gossip_transfer {
    int32_t from, to; /**< workers or GOSSIP_SERVER; to GOSSIP_ALL: a collective among all workers */
    double there_B,
        back_B; /**< what `from` sends, and what `to` sends at the same time; of gossip_model_B() */
    bool holds_from, holds_to; /**< a worker that waits for its end (without overlap); never the server */
    bool always_holds;         /**< also with overlap */
    int32_t tag;               /**< the method's own */
    double number;             /**< the method's own */
    /* From its beginning to the end of the hook `end`: */
    float *there, *back; /**< shape [n_params], what is on its way; NULL for nothing */
    /* The engine's: */
    int32_t id;
    int32_t serial; /* of exchanges in the log */
    bool mixed, beside;
};

struct gossip_cluster {
    const struct gossip_setup *setup;
    const struct gossip_settings *settings;
    const struct gossip_method *method;
    const struct gossip_net *net;
    int32_t n_workers, n_params;
    int64_t n_steps; /**< of each worker */
    double now_s;
    double first_loss;             /**< mean over workers of their first batches; NaN until all have one */
    struct gossip_worker *workers; /**< shape [n_workers] */
    float **shared;                /**< shape [n_shared][n_params]: the method's, zero at first */
    void *state;                   /**< the method's run_size bytes, zero at first */
    struct gossip_wire *wire;
    int32_t n_met;                /**< workers at the meeting that gathers */
    struct gossip_engine *engine; /**< run.c's own */
};

/** One method. Hooks return 0 or an error code; those that are NULL do nothing, or what is said. */
struct gossip_method {
    const char *name, *help;
    uint64_t uses;   /**< USE_GOSSIP_ bits of its keys */
    bool meets;      /**< gossip_meet() is called */
    bool clock_only; /**< nothing is learned: there are no models, gradients and examples */
    size_t run_size, worker_size;
    int32_t n_shared, n_own; /**< vectors of parameters for all, and for each worker */
    /** Can @p s be run? ERR_RANGE: "period is 0, need ..". */
    int (*check)(const struct gossip_settings *s, const struct gossip_setup *setup, struct err *e);
    /** All models are equal, nothing has begun. */
    int (*start)(struct gossip_cluster *c, struct err *e);
    /** @p w has a gradient. NULL: gossip_update(). */
    void (*step)(struct gossip_cluster *c, struct gossip_worker *w);
    /** @p w has done a step. Also after its last. */
    int (*after)(struct gossip_cluster *c, struct gossip_worker *w, struct err *e);
    /** All workers have met: `given` is what each brought. To end by gossip_gather() or gossip_part(), now or
     * in a later hook. */
    int (*meet)(struct gossip_cluster *c, struct err *e);
    /** @p t begins to move. NULL: `there` is a copy of the model of `from` (of the server shared[0]), `back`
     * of that of `to` when back_B > 0; of a collective `there` is the mean of `given`. */
    int (*begin)(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e);
    /** Models become what @p t makes of them: as it ends, or (clock.stale off, and no collective) as it
     * begins. Not the place to send. NULL: of a collective, gossip_land(). */
    void (*mix)(struct gossip_cluster *c, struct gossip_transfer *t);
    /** @p t has arrived and is mixed; what follows may be sent. */
    int (*end)(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e);
    /** Free what `state` of the run or of workers owns, also after failure of start. */
    void (*free)(struct gossip_cluster *c);
};

/* ---- what a method can ask for ---- */

/** The optimiser's step of @p w along its gradient, at the rate of its step. */
void gossip_update(struct gossip_cluster *c, struct gossip_worker *w);
/** No step at all: a method makes something else of the gradient. */
void gossip_keep_gradient(struct gossip_cluster *c, struct gossip_worker *w);
/** Rate of learning of step @p step (from 0) of a worker. */
double gossip_rate(const struct gossip_cluster *c, int64_t step);
/** Bytes on the wire of @p n parameters. */
double gossip_model_B(const struct gossip_cluster *c, double n);

/** Start a transfer. With overlap a worker that it holds computes beside it, and is held only while there are
 * two of them. */
int gossip_send(struct gossip_cluster *c, const struct gossip_transfer *t, struct err *e);
/** Some other worker, uniformly. There must be two. */
int32_t gossip_peer(struct gossip_cluster *c, struct gossip_worker *w);
/** Room for one model that a transfer carries; owned by @p t through `there` or `back`. NULL: no memory. */
float *gossip_room(struct gossip_cluster *c);
/** @p room, `there` or `back` of a transfer, becomes a copy of @p x, shape [n_params]. ERR_NOMEM. */
int gossip_carry(struct gossip_cluster *c, float **room, const float *x, struct err *e);
/** What `begin` does when it is NULL. */
int gossip_take(struct gossip_cluster *c, struct gossip_transfer *t, struct err *e);

/** @p w comes to the meeting: its model is copied to `given`. It waits until gossip_part() if @p waits; else
 * only where what it met for before is not over yet. */
int gossip_meet(struct gossip_cluster *c, struct gossip_worker *w, bool waits, struct err *e);
/** An all-reduce of @p n parameters among all that have met; hooks begin and end follow, then gossip_part().
 */
int gossip_gather(struct gossip_cluster *c, double n, int32_t tag, struct err *e);
/** The meeting is over: nobody waits for it any more. Who came early to the next one is let in. */
int gossip_part(struct gossip_cluster *c, struct err *e);
/** Every model becomes @p mean; of a worker that has gone on, plus what it has done since it met. */
void gossip_land(struct gossip_cluster *c, const float *mean);

void gossip_hold(struct gossip_cluster *c, struct gossip_worker *w);
void gossip_release(struct gossip_cluster *c, struct gossip_worker *w);
/** @p w, which something holds, passes over its next step: that counts as done, and takes no time. */
void gossip_skip(struct gossip_cluster *c, struct gossip_worker *w);

/* ---- the methods ---- */

extern const struct gossip_method *const gossip_methods[];

#endif
