/** @file What an algorithm of collectives costs in one dimension (messages in sequence, hops, bytes its links
 * must carry), and who sends what to whom. */
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
    double idle;    /**< time over what the links take for `loads`: while others send, some wait; >= 1 */
    double reduced; /**< bytes over S that one NPU adds up */
    double valiant; /**< share of the messages that go by a router drawn from all, see topo_load() */
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
 * Fewer members than @p dim has are a part of it, next to each other. O(log members).
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

/* ---- messages ---- */

/** What was chosen where there is a choice. */
struct stage_choice {
    enum topo_algorithm algorithm;
    int32_t regime;   /**< which latency and efficiency: number of topo_dim_regime() */
    int32_t segments; /**< of a pipelined algorithm, else 1 */
};

/** In place of a member: the switch of the group. */
enum { MESSAGE_SWITCH = -1 };

/**
 * Messages of one size from one member to another, one after the other. Message k begins when message k-1 has
 * arrived and so have k + lead messages of every channel that this one waits for (all of them, where those
 * are fewer).
 */
struct message_channel {
    int32_t src, dst;    /**< members from 0, or MESSAGE_SWITCH */
    int32_t via;         /**< passes this one of those who do not take part, from 0; -1: none */
    int32_t n, lead;     /**< messages, >= 1; and see above */
    int32_t first_input; /**< waits for inputs[first_input .. first_input of the next channel) */
    int32_t first_next;  /**< likewise in nexts: channels that wait for this one */
    int32_t n_whole;     /**< of the first so many inputs it waits for all messages, before any of its own */
    int32_t turn;        /**< messages of the same step that its sender handles before it */
    int32_t late;        /**< from or between switches: links that what it sends passed before */
    int32_t tier, below; /**< between switches: of this tier above this member and the next one; else 0 */
    int32_t way;         /**< number of the link between them */
    double share;        /**< size of a message over S of algorithm_cost() */
    double reduced;      /**< bytes over S that pass the receiver's memory three times before it goes on */
    bool mirror;         /**< takes the other one of two equally short ways */
    bool straight;       /**< takes the way that wraps least often, mirrored: most often */
    bool down;           /**< between switches: from the upper one */
};

/** The way that messages of a channel take of those that are as short: see `way` of struct shape_ops. */
static inline int32_t message_way(const struct message_channel *c)
{
    return !c->straight ? c->mirror : c->mirror ? SHAPE_WOUND : SHAPE_STRAIGHT;
}

/** Zero-initialise; release with message_plan_free(). */
struct message_plan {
    struct message_channel
        *channels; /**< shape [n_channels + 1], the last one ends the others' lists; owned */
    int32_t n_channels, cap_channels;
    int32_t *inputs; /**< shape [n_inputs], owned */
    int32_t n_inputs, cap_inputs;
    int32_t *nexts; /**< shape [n_inputs], owned */
};

/**
 * The channels of @p pass by @p choice (as stage_fill() made it) among the members of @p g, at least two, in
 * the fabric or dimension that begins at @p entry, along one level or flat over all:
 *
 * - ring: each passes S/n to its neighbour n-1 times, on a ring of more than two both ways round with half of
 * it; on a line, or part of a ring, outwards and inwards from both ends, S/n at a time, n-1 messages at most
 * on a link;
 * - direct: S/n to everybody at once, on an even ring half of it each way to the farthest; with detours in
 * part of a full mesh a share of it through each member outside;
 * - halving-doubling: S/2, S/4, ... at distances 1, 2, ...; all-gather the other way about;
 * - Bruck: min(2^i, n - 2^i) blocks of S/n at distances 2^i;
 * - double binary tree: S/2 up and down each tree in segments;
 * - in-switch: up to the switch and down from it at the same time, volumes as in algorithm_cost(), in a fat
 * tree also between its switches, in equal parts over all links up from a subtree;
 * - broadcast, from member 0: along the ring in segments; else scattered and all-gathered; send: S to the
 * next member, and none from the last.
 *
 * Mixed orders: shares of the buffer pass the axes at once, each in an order of its own
 * (workloads/order_mix.h), with the messages of each line of members that what suits the axis has.
 *
 * A ring has ways of equal length between opposite members only if the group goes all the way round it.
 * @return 0 or ERR_NOMEM; @p plan is then empty. O(channels + what they wait for).
 */
int message_plan_build(struct message_plan *plan, enum pass pass, const struct stage_choice *choice,
                       const struct topo_dim *entry, const struct shape_group *g, struct err *e);

/** Is @p pass one whose channels send one message each and wait for none? */
bool message_plan_is_free(enum pass pass, const struct stage_choice *choice);

/** The channels of such a plan one after the other to @p take, until that fails, without room for them. */
int message_plan_each(enum pass pass, const struct stage_choice *choice, const struct topo_dim *entry,
                      const struct shape_group *g,
                      int (*take)(void *x, const struct message_channel *c, struct err *e), void *x,
                      struct err *e);

/** How many messages that plan has, of all its channels, in closed form, to refuse runs that are too large.
 */
double message_plan_count(enum pass pass, const struct stage_choice *choice, const struct topo_dim *entry,
                          const struct shape_group *g);
void message_plan_free(struct message_plan *plan);

#endif
