/** @file What an algorithm costs in one dimension: messages in sequence, hops, and bytes its links must
 * carry. */
#ifndef WORKLOADS_ALGORITHM_H
#define WORKLOADS_ALGORITHM_H

#include "topo/network.h"

/** What the members of one dimension do at a time; a collective over several dimensions is a chain of these.
 */
enum pass {
    PASS_REDUCE_SCATTER,
    PASS_ALL_GATHER,
    PASS_ALL_REDUCE, /**< in one go, where the algorithm has that (tree, in-switch); else both of the above */
    PASS_ALL_TO_ALL,
    PASS_BROADCAST,
    PASS_SEND, /**< to the next member */
    N_PASSES,
};

extern const char *const pass_names[N_PASSES + 1];

/**
 * Time = hops * latency + messages * overhead + load * S / bandwidth of the dimension, and 3 reduced * S
 * bytes through the memory of each NPU (two reads and a write). S is the full buffer: what enters a
 * reduce-scatter, all-reduce, broadcast or all-to-all, what leaves an all-gather.
 */
struct algorithm_cost {
    double hops;     /**< links of the dimension passed in sequence, in units of its latency */
    double messages; /**< sent one after the other by the busiest NPU */
    double load;     /**< bytes over S that a dimension of bandwidth B must carry: the busiest link decides */
    double loads[SHAPE_CLASSES]; /**< of a fabric: the same of each class of its links */
    double reduced;              /**< bytes over S that one NPU adds up */
};

/** Which algorithm the words stand for in a group of @p members of @p dim; AUTO stays AUTO. Trees and
 * in-switch reduction serve all-reduce and broadcast; other passes beside a tree are HALVING or BRUCK. A
 * group below in_switch_min, or where halving-doubling has no power of two, falls back to what suits the
 * shape. */
enum topo_algorithm algorithm_resolve(const struct topo_dim *dim, enum topo_algorithm a, enum pass pass,
                                      int32_t members);

/**
 * Cost of @p pass by @p a (neither SHAPE nor AUTO) among @p members >= 2 of @p dim.
 *
 * Loads on links as the shape says (struct shape_ops); what its `reach` leaves of B is in collective_share().
 * A group over part of a dimension costs what a whole dimension of that size would. O(log members).
 *
 * @param segments  of pipelined algorithms (trees; a broadcast along a ring): pieces sent one behind the
 * other, >= 1.
 * @return false when the algorithm has no such pass there.
 */
bool algorithm_cost(struct algorithm_cost *c, enum topo_algorithm a, enum pass pass,
                    const struct topo_dim *dim, int32_t members, int32_t segments);

/**
 * The same in the fabric that begins at @p dim, among the members of @p g: along one of its levels, or flat
 * over all at once. `load` is that of the class of the level, of a flat group of the injection.
 */
bool algorithm_group_cost(struct algorithm_cost *c, enum topo_algorithm a, enum pass pass,
                          const struct topo_dim *dim, const struct shape_group *g, int32_t segments);

/** Does @p a have segments in @p pass? */
bool algorithm_has_segments(enum topo_algorithm a, enum pass pass);

#endif
