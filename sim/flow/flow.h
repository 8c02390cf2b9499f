/** @file Flows that share the links of a network max-min fairly, from event to event. */
#ifndef SIM_FLOW_H
#define SIM_FLOW_H

#include "topo/route.h"

/**
 * Opaque: links with their capacities, the flows on them, and the time.
 *
 * A flow waits for its latency, then moves its bytes at its rate. Rates are max-min fair at every moment: no
 * flow can be given more without taking from one that has as much or less (D. Bertsekas, R. Gallager, Data
 * Networks, 1992, section 6.5.2; maxmin.h): each flow has a bottleneck, a full link where nobody is faster.
 * When flows begin or end, only flows whose bottleneck no longer holds get new rates, and those that these
 * meet in turn. What happens within 2^-42 of the same time (relative) happens at once: rounding does not tear
 * apart flows that are equal by symmetry.
 */
struct flow_net;

/** One transfer. */
struct flow_spec {
    const int32_t *arcs; /**< shape [n_arcs], borrowed during the call; none: it meets no link */
    int32_t n_arcs;
    double bytes;   /**< >= 0 [B] */
    double start_s; /**< what lies in the past begins now */
    double extra_s; /**< added to the latencies of the arcs [s]; the sum must be >= 0, but for rounding */
    int64_t tag;    /**< given back when it is done */
    double queue_s; /**< what its sender handles first: it ends no sooner than alone from then on, >= 0 [s] */
    const int32_t *counts; /**< of each arc, how many flows like this one pass it, of which this one stands
                              for all; NULL: it is alone, and each arc is named once */
};

/** What a net has done so far. */
struct flow_counts {
    int64_t added, done;
    int64_t events; /**< flows that began to move or ended */
};

/** Use of one arc from time 0 to now. */
struct flow_use {
    double bytes;     /**< of flows that are done [B] */
    double util_frac; /**< bytes over what the arc could have moved until now; 0 at time 0 */
};

/**
 * A net of the arcs of @p routes, with the capacity they have left; time 0, no flows. Copies what it needs.
 * @param[out] out  NULL on failure; release with flow_net_free().
 * @return 0 or ERR_NOMEM. About 120 bytes per arc.
 */
int flow_net_build(struct flow_net **out, const struct topo_routes *routes, struct err *e);
/** The same of links without latency, of @p bw_Bps, shape [n], copied. */
int flow_net_build_links(struct flow_net **out, const double *bw_Bps, int32_t n, struct err *e);
void flow_net_free(struct flow_net *net); /**< NULL is fine */

/** From now on what happens within @p share of the time that it is, >= 0, happens at once, at the last of
 * these instants: nothing is earlier than it would be, and rates are found less often. 0, as at first: exact.
 */
void flow_set_round(struct flow_net *net, double share);

/** Latency of a flow over links of @p links_s in all, with @p extra_s besides [s]. ERR_RANGE: below 0 by more
 * than rounding. */
int flow_latency(double *lat_s, double links_s, double extra_s, struct err *e);

/**
 * Add a flow. With start and latency over it moves from now on, else from then on.
 * ERR_NOMEM, or ERR_RANGE: an arc that does not exist or has failed, bytes or times out of range.
 * O(arcs of the route + log flows).
 */
int flow_add(struct flow_net *net, const struct flow_spec *spec, struct err *e);

/** Time of the next event [s]; INFINITY when there is none. Brings rates up to date. */
double flow_next_s(struct flow_net *net);

/** Go to the next event and do all that happens there. Flows added now count as added at that time. */
void flow_advance(struct flow_net *net);

/** How many flows ended in the last flow_advance(), and the tag of the i-th, by time and then as they were
 * added. */
int32_t flow_n_ended(const struct flow_net *net);
int64_t flow_ended(const struct flow_net *net, int32_t i);

double flow_now_s(const struct flow_net *net);
struct flow_counts flow_count(const struct flow_net *net);

struct flow_use flow_arc_use(const struct flow_net *net, int32_t arc);

#endif
