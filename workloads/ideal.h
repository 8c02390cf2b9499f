/**
 * @file Collectives on a custom graph whose classes of links are dimensions, under ideal routing: every
 * message over any paths. S bytes take S / Theta(B), Theta the least of cuts pi . B over the bandwidths of
 * classes (topo/theta.h).
 *
 * What a collective sends, S bytes per NPU, all groups at once: all-to-all S/n to every other member;
 * reduce-scatter and all-gather (of S in all) axis by axis, innermost first, direct along each, an all-reduce
 * both; a broadcast S along the chain of members; a send S to the next one.
 */
#ifndef WORKLOADS_IDEAL_H
#define WORKLOADS_IDEAL_H

#include "topo/wires.h"
#include "workloads/step.h"

/** Opaque: a graph, its classes, and the cuts that are known; one thread at a time, but for ideal_branch().
 */
struct ideal;

/**
 * Read the graph of @p net from @p path and make its classes the dimensions: net->wires, net->ideal and sizes
 * are set. @param[out] at  class to blame, -1 = the file. Errors of readers and topo_wires_bind().
 * Release with ideal_free(), after which @p net must not be used.
 */
int ideal_open(struct ideal **out, struct topo_network *net, const char *path, int32_t *at, struct err *e);
/** The same graph for @p net, read again with other values of its classes: the file is not read. What is
 * known of it stays unless an efficiency is another one. False where names or sizes are others. */
bool ideal_again(struct ideal *x, struct topo_network *net);
/** The graph of @p x, which must stay, without any cut that is known, for @p net, a copy of its network.
 * Several threads may have a branch each. ERR_NOMEM. */
int ideal_branch(struct ideal **out, const struct ideal *x, struct topo_network *net, struct err *e);
/** The same without the links that are @p closed, shape [n_links]. */
int ideal_without(struct ideal **out, const struct ideal *x, struct topo_network *net, const bool *closed,
                  struct err *e);
void ideal_free(struct ideal *x); /**< NULL is fine */

unsigned long long ideal_hash(const struct ideal *x); /**< of the file's content */

/** One collective at given bandwidths. */
struct ideal_time {
    double time_s;
    double cut[TOPO_MAX_DIMS];  /**< share of the cut that decides which each class has; sums to 1 */
    double busy[TOPO_MAX_DIMS]; /**< share of a class's capacity that the routing fills meanwhile */
};

/** Solved at @p bw_Bps, shape [n_dims]; INFINITY without bandwidth. The cut is kept. Errors of theta_solve().
 */
int ideal_find(struct ideal_time *out, struct ideal *x, enum collective_kind kind, double bytes,
               const struct step_group *group, const double *bw_Bps, struct err *e);

/* ---- for the split: cuts as dimensions ---- */

/** While @p rough, ideal_find() and ideal_learn() on a large graph are content with a part of ideal_gap(). */
void ideal_set_rough(struct ideal *x, bool rough);
bool ideal_is_rough(const struct ideal *x); /**< and are there such */

/** Share of its time that a split may be above its bound by: 0, but more where a question that was asked is
 * of a large graph (topo/theta.h) of several classes. */
double ideal_gap(const struct ideal *x);

/** Find the cuts of all collectives of @p t at @p bw_Bps (unknown ones: those of the file). Errors as
 * ideal_find(). */
int ideal_learn(struct ideal *x, const struct step_tree *t, const double *bw_Bps, struct err *e);

/**
 * Choose the cuts of several classes that get a column of their own behind the dimensions: those that decide
 * at the bandwidths of the last ideal_learn() unseen, then those that decided, then the nearest. @return how
 * many, at most TOPO_MAX_DIMS - n_dims.
 */
int32_t ideal_place(struct ideal *x);
int32_t ideal_columns(const struct ideal *x);

/** Bandwidth of column @p j is the sum over classes of these times theirs; shape [n_dims]. */
const double *ideal_column(const struct ideal *x, int32_t j);

/** Bandwidths of the columns from those of the classes, behind them in @p bw_Bps, shape [TOPO_MAX_DIMS]. */
void ideal_fill(const struct ideal *x, double *bw_Bps);

/** @p net with the columns as further dimensions. */
void ideal_widen(struct topo_network *wide, const struct topo_network *net);

/**
 * A collective as the transfers of which the slowest decides: bytes over the bandwidth of a class, or of a
 * column. @return how many; 0 where nothing is sent.
 */
enum { IDEAL_TRANSFERS = 2 * TOPO_MAX_DIMS };
struct ideal_transfer {
    int32_t dim;
    double bytes;
};
int32_t ideal_transfers(struct ideal_transfer out[IDEAL_TRANSFERS], const struct ideal *x,
                        enum collective_kind kind, double bytes, const struct step_group *group);

#endif
