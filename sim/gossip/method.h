/**
 * @file Private to sim/gossip: a run under way, what a method can ask of it, and what a method is.
 *
 * A worker computes a step, updates its model (`step`), and is asked what it does next (`after`). It begins
 * the next step at once unless something holds it: a transfer it waits for, a meeting, or the method itself.
 * All that happens at one time happens in one order: steps that end by worker, then transfers.
 */
#ifndef SIM_GOSSIP_METHOD_H
#define SIM_GOSSIP_METHOD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
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
    struct arena arena; /**< of all that lasts as long as the run, the method's too */
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
    uint32_t uses;   /**< enum gossip_use of its settings */
    int64_t period;  /**< where none is given; 0: 1. This project's choice: at 1 a method that averages or
                        adapts  a period is all-reduce in disguise */
    bool meets;      /**< gossip_meet() is called */
    bool clock_only; /**< nothing is learned: there are no models, gradients and examples */
    size_t run_size, worker_size;
    int32_t n_shared, n_own; /**< vectors of parameters for all, and for each worker */
    /** Can @p s, each within the limits of its key, be run beside each other and @p setup? ERR_RANGE: "period
     * is 9, expected at most the cap, 8". NULL: always. */
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
/** Room for one model that a transfer carries; in use by @p t through `there` or `back`. NULL: no memory. */
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

/* ---- who is whose neighbour, and messages to all neighbours ---- */

enum { GOSSIP_MAX_NEIGHBOURS = 2 };

/** Of one worker in one round: it sends to to[k] and hears from from[k], shape [n]. */
struct gossip_neighbours {
    int32_t n; /**< each has weight 1 / (n + 1), as the worker itself: rows and columns sum to 1 */
    int32_t to[GOSSIP_MAX_NEIGHBOURS], from[GOSSIP_MAX_NEIGHBOURS];
};

/**
 * Neighbours of @p worker, 0 to @p n_workers - 1, in round @p round >= 0. Ring: worker - 1 and worker + 1,
 * first the one of the pair 2k, 2k + 1; of two workers each has one, a single one has none. Exponential:
 * hears from worker + 2^k, sends to worker - 2^k, k = round mod gossip_rounds(); of 2^K workers K rounds in a
 * row make all models their mean. Source: one-peer exponential graphs, Ying et al., arXiv 2110.13363.
 */
struct gossip_neighbours gossip_neighbours(enum gossip_graph graph, int32_t n_workers, int32_t worker,
                                           int64_t round);
/** On a ring, whatever the round. */
struct gossip_neighbours gossip_ring(int32_t n_workers, int32_t worker);
/** Rounds after which neighbours are the same again: ring 1, exponential log2 of the workers rounded up, at
 * least 1. */
int32_t gossip_rounds(enum gossip_graph graph, int32_t n_workers);
/** Place of @p from in `from` of a worker's neighbours; it is one of them. */
int32_t gossip_neighbour_place(const struct gossip_neighbours *n, int32_t from);

/**
 * One worker's messages of a round, in order. All go at once, but with one port (closed form, innermost
 * dimension a switch) each when the one before has arrived: there a message that waits keeps others from
 * its receiver. That is this project's choice.
 */
struct gossip_mail {
    struct gossip_transfer what; /**< of all of them: the caller's part but `to`; it holds nobody */
    struct gossip_neighbours near;
    int32_t sent, arrived;
};
/** Begin, with `what` and `near` set. What gossip_send() returns. */
int gossip_mail_send(struct gossip_cluster *c, struct gossip_mail *m, struct err *e);
/** One has arrived; for the hook `end`. It was the last when arrived == near.n. */
int gossip_mail_arrived(struct gossip_cluster *c, struct gossip_mail *m, struct err *e);

/** Rounds of messages of a worker that does not wait to hear. Zero at first. */
struct gossip_outbox {
    struct gossip_mail mail;     /**< under way when rounds > 0 */
    struct gossip_transfer next; /**< waits for that when rounds == 2 */
    int32_t rounds;
    bool held;
};
/**
 * Send @p what (`from` and the rest of the caller's part; `to` and holds_from are set here) to the neighbours
 * on the ring. Without overlap the sender waits until all have it; with overlap while there are two such
 * rounds, of which the second one begins when the first has ended. What gossip_send() returns.
 */
int gossip_send_around(struct gossip_cluster *c, struct gossip_outbox *out,
                       const struct gossip_transfer *what, struct err *e);
/** One of them has arrived. For the hook `end`. */
int gossip_sent_around(struct gossip_cluster *c, struct gossip_outbox *out, struct err *e);

/** y <- the mean of itself and @p n others, weights 1 / (n + 1); shapes [n_params]. */
void gossip_average(float *y, float *const others[], int32_t n, int32_t n_params);

/** Of a period that adapts: period <= cap. ERR_RANGE. */
int gossip_check_cap(const struct gossip_settings *s, const struct gossip_setup *setup, struct err *e);

/* ---- rules by which methods change their period ---- */

/** @p period, a whole number, cut to 1 .. @p cap; not NaN. */
int64_t gossip_cut_period(double period, int64_t cap);
/** The step a period >= 1 after @p step >= 0; INT64_MAX, which is never reached, where it is beyond that. */
int64_t gossip_step_after(int64_t step, int64_t period);

/** What AdaComm knows when it chooses. */
struct gossip_adacomm {
    int64_t period_0, period;   /**< the first one, and that in force, >= 1 */
    double rate_0, rate_before; /**< of the first step, and when the period was chosen last */
    double rate;                /**< of the next step */
    double loss_0, loss;        /**< of the first batches, and now [nats] */
};

/**
 * Period from now on, 1 to @p cap: ceil(sqrt((rate_0 / rate) loss / loss_0) period_0); where that is not
 * below the one in force although the rate is unchanged, half of that in force, rounded up. A rate that
 * decays raises the period. Source: Wang and Joshi, arXiv 1810.08313.
 * Where the root is no number, e.g. with a first loss of 0, the period is halved too: this project's choice.
 */
int64_t gossip_adacomm_period(const struct gossip_adacomm *a, int64_t cap);

/**
 * Period from now on, 1 to @p cap: one more than @p period if @p spread < 0.7 @p target, one less if it is
 * > 1.3 @p target, else the same. @p spread: mean over workers of |x - mean|^2 before they are averaged, over
 * the rate of learning; @p target: its mean during warm-up. Source: Jiang and Agrawal, arXiv 2007.06134.
 */
int64_t gossip_variance_period(int64_t period, double spread, double target, int64_t cap);

/* ---- when lazily aggregated gradients are sent ---- */

/** The last @p depth changes of the server's model; a ring. */
struct gossip_lag_past {
    double *change2; /**< shape [depth], |change|^2 / rate^2 of each, borrowed */
    int64_t depth;   /**< >= 1 */
    int64_t n;       /**< changes so far */
};

/** One more change of the server's model, of squared length @p change2, made at @p rate. */
void gossip_lag_note(struct gossip_lag_past *p, double change2, double rate);

/**
 * The right-hand side of the condition: xi / (a M)^2 times the sum of |change|^2 over the last depth changes,
 * where a M is the rate here, as the step goes along the mean of gradients and not their sum. Each change is
 * over the rate at which it was made: the same with a constant rate, which is all that the source has.
 * Source: Chen et al., arXiv 1805.09965, equations 7 and 8.
 */
double gossip_lag_bound(const struct gossip_lag_past *p, double xi);

/** Is a gradient (or model) to be sent whose squared distance from the last one sent is @p moved2? Always
 * during the first depth iterations. A number that is none is sent. */
bool gossip_lag_is_due(const struct gossip_lag_past *p, double moved2, double xi);

/* ---- when EventGraD sends a tensor ---- */

/** What a worker remembers of one tensor; zero but for the norm at first. */
struct gossip_event {
    double norm;      /**< as last sent */
    double threshold; /**< least change of the norm that is sent */
    double slope;     /**< change per step when it was last sent */
    int64_t step;     /**< done when it was last sent */
};

/**
 * Is a tensor of norm @p norm sent after step @p step (from 1)? The threshold decays by s->horizon each step;
 * the first s->warmup steps always send. One that is sent has as its threshold the mean of the last two
 * slopes. Source: Ghosh et al., arXiv 2103.07454, and its code, github.com/soumyadipghosh/eventgrad.
 */
bool gossip_event_fires(struct gossip_event *v, double norm, int64_t step, const struct gossip_settings *s);

#endif
