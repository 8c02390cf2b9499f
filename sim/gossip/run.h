/** @file Private to sim/gossip: what keeps a run going, which methods do not see. */
#ifndef SIM_GOSSIP_RUN_H
#define SIM_GOSSIP_RUN_H

#include "sim/gossip/method.h"
#include "sim/gossip/replay.h"

/* Room for one exchange, besides entries of two lists that are never longer. */
struct gossip_slot {
    struct gossip_transfer *transfer; /* of that id; NULL: there never was one */
    int32_t unused;                   /* entry of n_unused ids that name nothing */
    struct gossip_signal signal;      /* entry of what the wire told last */
};

struct gossip_engine {
    struct event_heap clock;   /* when workers end their steps, by worker */
    struct gossip_slot *slots; /* shape [cap_slots], owned */
    int32_t cap_slots, n_unused;
    float **rooms; /* shape [cap_rooms], n_rooms of them, which are free */
    int32_t n_rooms, cap_rooms;
    int64_t *order;                    /* shape [n examples]: examples of all workers */
    int32_t *ready, n_ready;           /* shape [n_workers]: workers that nothing holds any more */
    struct gossip_log *log;            /* of this run, borrowed; NULL: not kept */
    const struct gossip_log *replayed; /* that this run follows, borrowed; NULL: it is none */
    struct gossip_cause cause;         /* of what a method asks for now */
    struct gossip_pass *pass;
    int32_t batch_size;
    int64_t exchanges, steps_done, steps_all; /* of all workers */
    int64_t noted;         /* points of the curve that steps_done has passed, GOSSIP_CURVE in all */
    int64_t diverged_step; /* -1: not yet */
    double first_sum, window_sum,
        tail_sum; /* losses: of first steps, since the last point, of the last tenth */
    int64_t first_n, window_n, tail_n;
};

/** What is run: a method by its settings, or what a log says. */
struct gossip_how {
    const struct gossip_settings *settings; /**< NULL with replayed */
    struct gossip_log *log;                 /**< to be kept, NULL: not */
    const struct gossip_log *replayed;      /**< NULL: train */
};

/** Workers with equal models, their shards and draws; nothing has begun. @p c uninitialised; free it also
 * after failure. */
int gossip_cluster_build(struct gossip_cluster *c, const struct gossip_setup *setup,
                         const struct gossip_how *how, uint64_t seed, struct err *e);
/** gossip_run(), gossip_replay(). */
int gossip_run_as(struct gossip_result *out, const struct gossip_setup *setup, const struct gossip_how *how,
                  uint64_t seed, const struct gossip_wish *wish, struct err *e);
void gossip_cluster_free(struct gossip_cluster *c);

/** Put @p w on the list of those that may begin a step. */
void gossip_ready(struct gossip_cluster *c, struct gossip_worker *w);
/** Its step ends now. */
int gossip_step_done(struct gossip_cluster *c, struct gossip_worker *w, struct err *e);
/** Something begins or ends on the wire. */
int gossip_wire_turn(struct gossip_cluster *c, struct err *e);
/** Begin the steps of all that are ready. */
int gossip_go_ready(struct gossip_cluster *c, struct err *e);

#endif
