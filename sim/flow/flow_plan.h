/** @file Who sends to whom in one pass of a collective over one group, and what waits for what. */
#ifndef SIM_FLOW_PLAN_H
#define SIM_FLOW_PLAN_H

#include "workloads/collective.h"

/** In place of a member: the switch of the group. */
enum { FLOW_SWITCH = -1 };

/**
 * Messages of one size from one member to another, one after the other. Message k begins when message k-1 has
 * arrived and so have k + lead messages of every channel that this one waits for (all of them, where those
 * are fewer).
 */
struct flow_channel {
    int32_t src, dst;    /**< members from 0, or FLOW_SWITCH */
    int32_t n, lead;     /**< messages, >= 1; and see above */
    int32_t first_input; /**< waits for inputs[first_input .. first_input of the next channel) */
    int32_t first_next;  /**< likewise in nexts: channels that wait for this one */
    double share;        /**< size of a message over S of algorithm_cost() */
    double reduced;      /**< bytes over S that pass the receiver's memory three times before it goes on */
    bool mirror;         /**< takes the other one of two equally short ways */
    bool late;           /**< down from the switch: what it sends had to come up first */
};

/** Zero-initialise; release with flow_plan_free(). */
struct flow_plan {
    struct flow_channel *channels; /**< shape [n_channels + 1], the last one ends the others' lists; owned */
    int32_t n_channels, cap_channels;
    int32_t *inputs; /**< shape [n_inputs], owned */
    int32_t n_inputs, cap_inputs;
    int32_t *nexts; /**< shape [n_inputs], owned */
};

/**
 * The channels of @p pass by @p choice (as stage_fill() made it) among @p n_members >= 2 of @p dim:
 *
 * - ring: each passes S/n to its neighbour n-1 times, on a ring of more than two both ways round with half of
 * it; on a line outwards and inwards from both ends, S/n at a time, n-1 messages at most on a link;
 * - direct: S/n to everybody at once, on an even ring half of it each way to the farthest;
 * - halving-doubling: S/2, S/4, ... at distances 1, 2, ...; all-gather the other way about;
 * - Bruck: min(2^i, n - 2^i) blocks of S/n at distances 2^i;
 * - double binary tree: S/2 up and down each tree in segments;
 * - in-switch: up to the switch and down from it at the same time, volumes as in algorithm_cost();
 * - broadcast, from member 0: along the ring in segments; else scattered and all-gathered; send: S to the
 * next member, and none from the last.
 *
 * A whole ring has ways of equal length between opposite members only if all of it takes part.
 * @return 0 or ERR_NOMEM; @p plan is then empty. O(channels + what they wait for).
 */
int flow_plan_build(struct flow_plan *plan, enum pass pass, const struct stage_choice *choice,
                    const struct topo_dim *dim, int32_t n_members, struct err *e);

/** How many messages that plan has, of all its channels. O(1). */
double flow_plan_messages(enum pass pass, const struct stage_choice *choice, const struct topo_dim *dim,
                          int32_t n_members);
void flow_plan_free(struct flow_plan *plan);

#endif
