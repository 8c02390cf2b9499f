/** @file Private to sim/gossip: who is whose neighbour, and messages to all neighbours. */
#ifndef SIM_GOSSIP_NEIGHBOUR_H
#define SIM_GOSSIP_NEIGHBOUR_H

#include "sim/gossip/method.h"

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

#endif
