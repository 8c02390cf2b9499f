/**
 * @file What the network makes of exchanges: when each begins and ends, and what every link carries.
 *
 * Closed form: a message goes its way in order of dimensions and takes the latency of its links, an NPU's
 * overhead per message (rules.endpoint_s) and its bytes over the least bandwidth among the links, each times
 * the efficiency of its dimension. An exchange begins when all links of both its ways are free. It holds
 * each of them for that latency and overhead, and for its bytes in that direction over the bandwidth of that
 * link: the narrowest until they are all there, a wider one for less, since there is room for others while
 * they trickle through it. Who wants a link that is held waits, first come, first served, and keeps those who
 * come later from all his links, wide ones too, until he has begun. That is this project's choice
 * (sim/flow/flow.h is without it). So at one time, each way,
 *   on a switch       an NPU has one port: it is in one exchange;
 *   fully connected   it has a link to each other NPU: in one with each, all at once, at B/(n-1);
 *   on a ring, a line it has a link to each side: in one with each side, at B/2; a message that goes further
 *                     holds the links between other NPUs on its way;
 *   in other dimensions it has other ports.
 *
 * Flow: messages begin at once and share links max-min fairly; what a link can move is its bandwidth times
 * the efficiency of its dimension. A message that is alone takes the same time in both fidelities; an
 * exchange ends when both its ways have.
 *
 * A collective among all workers is priced alone: closed form (workloads/collective.h), or of flows
 * (sim/flow/flow_collective.h; as many as it has messages, once per run and size). It begins when all
 * messages are there, and what is asked for later waits until it ends: in both fidelities.
 *
 * What crosses no link (no bytes, or an NPU and itself; a collective of one) takes no time and waits for
 * nothing.
 */
#ifndef SIM_GOSSIP_WIRE_H
#define SIM_GOSSIP_WIRE_H

#include "topo/route.h"
#include "workloads/collective.h"

enum gossip_fidelity { GOSSIP_CLOSED, GOSSIP_FLOW, N_GOSSIP_FIDELITYS };
/** "closed-form", "flow"; NULL-terminated. */
extern const char *const gossip_fidelity_words[N_GOSSIP_FIDELITYS + 1];

/** What wires of many runs share; borrowed, read-only. */
struct gossip_fabric {
    struct topo_network net;        /**< every dimension has its bandwidth */
    const struct topo_graph *graph; /**< of net at those bandwidths; described */
    int32_t n_workers;              /**< worker w is NPU w */
    int64_t server;                 /**< NPU that holds what has a centre; may be a worker's */
    int32_t members[TOPO_MAX_DIMS]; /**< of the group of all workers, shape [n_dims]; their product is
                                       n_workers */
    struct stage_rules rules;       /**< of collectives; endpoint_s of all messages */
    enum gossip_fidelity fidelity;
    double share;      /**< of bandwidths that is there: 1; another, > 0, in search of how much is needed */
    int32_t share_dim; /**< whose share that is: 0 of all dimensions, d + 1 of dimension d alone */
};

/** Is share of the bandwidth of dimension @p d? */
bool gossip_fabric_shares(const struct gossip_fabric *f, int32_t d);

/** Opaque: one network in use. */
struct gossip_wire;

/**
 * @param f  borrowed for as long as the wire is used. Threads may share it: igraph is called in turn, and by
 * build and free alone.
 * @param[out] out  NULL after failure.
 * @return 0, ERR_NOMEM, ERR_LIB. O(NPUs + links); 26 bytes per link and direction besides those of its
 * routes, of flows 120 more.
 */
int gossip_wire_build(struct gossip_wire **out, const struct gossip_fabric *f, struct err *e);
void gossip_wire_free(struct gossip_wire *w); /**< NULL is fine */

/**
 * NPU @p from sends @p there_B bytes to NPU @p to, and gets @p back_B from there at the same time; both >= 0.
 * Asked at @p now_s, not before an earlier call or event. @p tag names it in what follows: small, from 0,
 * free again when it has ended.
 * @param[out] begins  whether it begins at once; else gossip_wire_advance() tells when.
 * @return 0, ERR_NOMEM, or ERR_RANGE: no such NPU. O(links of the ways).
 */
int gossip_wire_send(struct gossip_wire *w, int64_t from, int64_t to, double there_B, double back_B,
                     int32_t tag, double now_s, bool *begins, struct err *e);

/**
 * A collective of @p bytes among all workers; as gossip_wire_send().
 * @param kind  all-reduce, reduce-scatter, all-gather or all-to-all.
 */
int gossip_wire_collect(struct gossip_wire *w, enum collective_kind kind, double bytes, int32_t tag,
                        double now_s, bool *begins, struct err *e);

/** Seconds of such a collective on an idle network. ERR_NOMEM. */
int gossip_wire_collective_s(double *time_s, struct gossip_wire *w, enum collective_kind kind, double bytes,
                             struct err *e);

/** When something next begins or ends, of flows also: when rates may change; INFINITY: nothing is under way.
 */
double gossip_wire_next_s(struct gossip_wire *w);

/** What happens at a time. */
struct gossip_signal {
    int32_t tag;
    bool ends; /**< else it begins */
};
/** Go there. @p signals: shape [@p n], borrowed until the next gossip_wire_advance(): ends before beginnings,
 * of each those first that were asked for first. None where only rates change. ERR_NOMEM; after that
 * it can be freed only. */
int gossip_wire_advance(struct gossip_wire *w, const struct gossip_signal **signals, int32_t *n,
                        struct err *e);

/** Bytes so far of all that has begun: sum over NPUs of what each sends to others. Of an all-reduce of S
 * bytes among N 2 (N - 1) S, whatever its algorithm and whatever switches reduce. */
double gossip_wire_sent_B(const struct gossip_wire *w);
/** Of these, what crosses dimension @p d: a message counts once in each dimension it crosses. */
double gossip_wire_dim_B(const struct gossip_wire *w, int32_t d);
/** Bytes over directed link @p arc of topo/route. Those of collectives are spread evenly over the links of a
 * dimension that join workers; at a switch over the workers' links up, and over those down. */
double gossip_wire_arc_B(const struct gossip_wire *w, int32_t arc);
int32_t gossip_wire_n_arcs(const struct gossip_wire *w);

#endif
