/** @file What a graph carries of a pattern of traffic when every message may take any paths (ideal routing).
 */
#ifndef TOPO_THETA_H
#define TOPO_THETA_H

#include "topo/wires.h"

/** Who sends to whom. Groups are of NPUs whose numbers are a_1 + n_1 (a_2 + n_2 (...)), as in a network. */
enum theta_kind {
    THETA_DIRECT, /**< every member to every other of its group alike, `share` in all */
    THETA_NEXT,   /**< every member `share` to the next one of its group, the last to the first */
    THETA_CHAIN,  /**< the same without the last one */
};

/** A part of the demand: along one group at a time; what an NPU sends is the sum over parts. */
struct theta_part {
    enum theta_kind kind;
    double share;                   /**< bytes that a member sends per byte of S, > 0 */
    int32_t members[TOPO_MAX_DIMS]; /**< of each axis, 1 = not used */
    int32_t stride[TOPO_MAX_DIMS];  /**< from one member to the next, of each axis */
};

/** A demand over all groups at once; `= { 0 }` then theta_add(). Plain value. */
struct theta_demand {
    int32_t n_axes, sizes[TOPO_MAX_DIMS]; /**< product: NPUs of the graph */
    int32_t n_parts;
    struct theta_part parts[TOPO_MAX_DIMS];
};

/** Groups of equal size that share all NPUs out. */
struct theta_groups {
    int32_t n;       /**< members of a group */
    int32_t *member; /**< shape [n_npus]: npu at place i of group g is member[g * n + i] */
    int32_t *place;  /**< shape [n_npus]: its inverse */
};

/**
 * What symmetry maps onto each other: NPUs, switches, and links of one @p classes and @p weight (shape
 * [n_links]), where the groups of each of @p n_groups stay together. @p orbit: the least of each one's orbit,
 * of vertices and behind them links; shape [n_vertices + n_links + n_npus * n_groups], the rest is room.
 * ERR_NOMEM, ERR_LIB.
 */
int theta_find_orbits(int32_t *orbit, const struct topo_wires *w, const int32_t *classes,
                      const double *weight, const struct theta_groups *groups, int32_t n_groups,
                      struct err *e);

/**
 * A demand on a graph, as a linear programme that remembers what it has learnt: asked again at other
 * bandwidths it goes on from there. Opaque; one thread at a time. Release with theta_free().
 */
struct theta;

/** Largest graph that is solved for; without symmetry, most links (two a link where demand differs by
 * direction) and pairs of NPUs, of those that no symmetry maps onto each other. */
enum { THETA_VERTICES = 4096, THETA_LINKS = 65536, THETA_LENGTHS = 4096, THETA_PAIRS = 1 << 19 };

/**
 * @param classes  shape [n_links]: class of each link, 0 .. n_classes-1; links of a class have bandwidth
 *                 weight[link] times that of the class. Both are copied.
 * @return 0; ERR_NOMEM, ERR_LIB; ERR_RANGE: too large, or an NPU cannot reach one that it sends to.
 */
int theta_build(struct theta **out, const struct topo_wires *w, const int32_t *classes, int32_t n_classes,
                const double *weight, const struct theta_demand *demand, struct err *e);
void theta_free(struct theta *t); /**< NULL is fine */

/** Gap between both bounds that is looked for, and that is an answer where rounding allows no less, or where
 * there are more than THETA_MANY pairs. */
#define THETA_GAP   1e-10
#define THETA_LOOSE 1e-6
enum { THETA_MANY = 1 << 18 };

enum { THETA_CLASSES = 64 };

/** An answer: S bytes take S / rate. */
struct theta_answer {
    double rate;                /**< from the cut [B/s]: no routing carries more */
    double reached;             /**< what a routing that was found carries [B/s]: within THETA_LOOSE of rate,
                                     nearly always within THETA_GAP, unless a wider gap is asked for */
    double busy[THETA_CLASSES]; /**< of a class, share of its capacity that this routing fills, 0 to 1 */
    double cut[THETA_CLASSES]; /**< shape [n_classes]: at any bandwidths rate <= cut . bandwidth of a class */
};

/**
 * The greatest rate at which all demands are carried at once, per byte of S, where links of class c have
 * @p bw_Bps[c] > 0 (or 0: nothing) times their weight in each direction.
 *
 * Maximum concurrent flow by its dual: least sum of capacity times length over lengths y >= 0 of links, for
 * which demand times shortest distance sums to one. Shortest paths at a y are a row that every y must
 * satisfy, so rows are added until none is broken: they do not depend on bandwidths and stay. Links that an
 * automorphism of graph and demand maps onto each other have one length (the programme is convex). The
 * lengths, summed by class, are the cut.
 * ERR_NOMEM, ERR_LIB; ERR_RANGE: not within THETA_LOOSE after many rounds.
 */
int theta_solve(struct theta_answer *out, struct theta *t, const double *bw_Bps, struct err *e);

/** The same to a wider @p gap between reached and rate, for who looks for cuts: they hold as ever. */
int theta_solve_within(struct theta_answer *out, struct theta *t, const double *bw_Bps, double gap,
                       struct err *e);

/** Are there so many pairs, without symmetry to speak of, that answers stay THETA_LOOSE? */
bool theta_is_large(const struct theta *t);

/** All-to-all among all NPUs at the bandwidths of the file: bytes per second that an NPU sends [B/s]. NaN
 * where the graph is too large or not connected. ERR_NOMEM, ERR_LIB. */
int theta_uniform(double *rate_Bps, const struct topo_wires *w, struct err *e);

/** Is a cut in halves of @p cut_Bps the least there is: no more than an all-to-all of @p n_npus that send
 * @p rate_Bps each has to cross any two halves? */
bool theta_proves_bisection(double rate_Bps, int64_t n_npus, double cut_Bps);

#endif
