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
 * Neighbours of @p worker, 0 to @p n_workers - 1, in round @p round >= 0. Ring: the one before, then the one
 * after; two workers are one neighbour, a single one has none. Exponential: hears from worker + 2^k, sends to
 * worker - 2^k, k = round mod gossip_rounds(); of 2^K workers K rounds in a row make all models their mean.
 * Source: one-peer exponential graphs, Ying et al., arXiv 2110.13363.
 */
struct gossip_neighbours gossip_neighbours(enum gossip_graph graph, int32_t n_workers, int32_t worker,
                                           int64_t round);
/** Rounds after which neighbours are the same again: ring 1, exponential log2 of the workers rounded up, at
 * least 1. */
int32_t gossip_rounds(enum gossip_graph graph, int32_t n_workers);
/** Place of @p from in `from` of a worker's neighbours; it is one of them. */
int32_t gossip_neighbour_place(const struct gossip_neighbours *n, int32_t from);

/** Messages of one worker that are under way. */
struct gossip_outbox {
    int32_t flying;
    bool held;
};

/**
 * Send @p what (`from` and the rest of the caller's part; `to` and holds_from are set here) to the neighbours
 * on the ring. Without overlap the sender waits until all have it; with overlap only if messages of an
 * earlier round are still under way. Nobody waits to hear. What gossip_send() returns.
 */
int gossip_send_around(struct gossip_cluster *c, struct gossip_outbox *out,
                       const struct gossip_transfer *what, struct err *e);
/** One of them has arrived. For the hook `end`. */
void gossip_sent_around(struct gossip_cluster *c, struct gossip_worker *w, struct gossip_outbox *out);

/** y <- the mean of itself and @p n others, weights 1 / (n + 1); shapes [n_params]. */
void gossip_average(float *y, float *const others[], int32_t n, int32_t n_params);

#endif
