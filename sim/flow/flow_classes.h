/** @file Flows that are alike: classes of flows and of links that have the same rate and load at any time. */
#ifndef SIM_FLOW_FLOW_CLASSES_H
#define SIM_FLOW_FLOW_CLASSES_H

#include "sim/flow/flow.h"

/**
 * Opaque: all flows of a collective, seen again and again until links and flows fall into classes such that
 * every link of a class is passed by as many flows of each class, and every flow of a class passes as many
 * links of each class.
 *
 * Such classes are an equitable partition. Give all flows of a class the rate that they have in the small
 * network of one link and one bundle a class: no link is overfull, and each flow still has a full link where
 * nobody is faster, so these are the max-min fair rates (flow.h) of the whole. Flows of a class have the same
 * bytes, latency and start, hence end together, and what is left is again whole classes: it holds until the
 * last flow has ended. No automorphism has to be known: where one exists, its orbits are within classes.
 *
 *     flow_classes_build();
 *     do  flow_classes_begin(), flow_classes_add() of each flow in any order, flow_classes_end()
 *     while it returns FLOW_CLASSES_AGAIN
 */
struct flow_classes;

/** @p max_classes: of more than that the flows are not alike enough. Links as @p routes have them left.
 * Release with flow_classes_free(). ERR_NOMEM. About 50 bytes per arc. */
int flow_classes_build(struct flow_classes **out, const struct topo_routes *routes, int64_t max_classes,
                       struct err *e);
void flow_classes_free(struct flow_classes *x); /**< NULL is fine */

enum flow_classes_state {
    FLOW_CLASSES_AGAIN, /**< classes were split: all flows are to be seen once more */
    FLOW_CLASSES_DONE,
    FLOW_CLASSES_MANY /**< more than max_classes: nothing is known */
};

void flow_classes_begin(struct flow_classes *x);
/** A flow of @p stage >= 0 and of @p line of it, lines one after the other. Once there are too many classes
 * it does nothing. ERR_NOMEM; ERR_RANGE as flow_add(). */
int flow_classes_add(struct flow_classes *x, int32_t stage, int32_t line, const struct flow_spec *flow,
                     struct err *e);
/** ERR_NOMEM. */
int flow_classes_end(enum flow_classes_state *state, struct flow_classes *x, struct err *e);

/** Whether more than max_classes were found: what is left need not be added. */
bool flow_classes_many(const struct flow_classes *x);

/* Once it is done: */

/** Do all lines of each stage have as many flows of each class? */
bool flow_classes_same_lines(const struct flow_classes *x);

/** The small network: one link a class. ERR_NOMEM. */
int flow_classes_net(struct flow_net **out, const struct flow_classes *x, struct err *e);

/** Class of links that @p arc is in: its link in the small network. */
int32_t flow_classes_link(const struct flow_classes *x, int32_t arc);

/** Number of classes, and of flows in all of them. */
int32_t flow_classes_count(const struct flow_classes *x, int64_t *n_flows);

/** Class @p i as one flow of the small network, and its stage; arrays are borrowed. */
struct flow_spec flow_classes_flow(const struct flow_classes *x, int32_t i, int32_t *stage);

#endif
