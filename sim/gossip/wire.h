/**
 * @file What the network makes of exchanges: when each begins and ends, and what every link carries.
 *
 * Closed form: a message goes its way in order of dimensions and takes the latency of its links plus its
 * bytes over the least bandwidth among them (times the efficiency of that dimension). It holds its links
 * until it is over; who wants one of them waits, first come, first served: ports and links serve one exchange
 * in each direction at a time. That is this project's choice. Flow: messages share links max-min fairly
 * (sim/flow/flow.h) and begin at once. A collective among all workers is priced alone, closed form
 * (workloads/collective_time.h) or by flows, begins when no link is held, and holds all of them.
 */
#ifndef SIM_GOSSIP_WIRE_H
#define SIM_GOSSIP_WIRE_H

#include "topo/graph.h"
#include "workloads/stage.h"

enum gossip_rung { GOSSIP_CLOSED, GOSSIP_FLOW, N_GOSSIP_RUNGS };
/** "closed-form", "flow"; NULL-terminated. */
extern const char *const gossip_rung_words[N_GOSSIP_RUNGS + 1];

/** What wires of many runs share; borrowed, read-only. */
struct gossip_fabric {
    struct topo_network net;        /**< every dimension has its bandwidth */
    const struct topo_graph *graph; /**< of net at those bandwidths; described */
    int32_t n_workers;              /**< worker w is NPU w */
    int64_t server;                 /**< NPU that holds what has a centre; may be a worker's */
    int32_t members[TOPO_MAX_DIMS]; /**< of the group of all workers, shape [n_dims]; their product is
                                       n_workers */
    struct stage_rules rules;       /**< of collectives */
    enum gossip_rung rung;
    double share; /**< of all bandwidths that is there: 1; another in search of how much is needed */
};

/** Opaque: one network in use. */
struct gossip_wire;

/** NULL in @p out after failure. ERR_NOMEM, ERR_LIB. O(NPUs + links). */
int gossip_wire_build(struct gossip_wire **out, const struct gossip_fabric *f, struct err *e);
void gossip_wire_free(struct gossip_wire *w); /**< NULL is fine */

/**
 * NPU @p from sends @p there_B bytes to NPU @p to, and gets @p back_B from there at the same time; both >= 0.
 * Asked at @p now_s, not before an earlier call or event. @p tag names it in what follows: small, from 0,
 * free again when it has ended. Between an NPU and itself it takes no time and crosses no link.
 * @param[out] begins  whether it begins at once; else gossip_wire_advance() tells when.
 * @return 0, ERR_NOMEM, or what a route says. O(links of the ways).
 */
int gossip_wire_send(struct gossip_wire *w, int64_t from, int64_t to, double there_B, double back_B,
                     int32_t tag, double now_s, bool *begins, struct err *e);

/** A collective of @p bytes among all workers; as gossip_wire_send(). */
int gossip_wire_collect(struct gossip_wire *w, enum collective_kind kind, double bytes, int32_t tag,
                        double now_s, bool *begins, struct err *e);

/** Seconds of such a collective on an idle network. */
int gossip_wire_collective_s(double *time_s, struct gossip_wire *w, enum collective_kind kind, double bytes,
                             struct err *e);

/** When something next begins or ends; INFINITY: nothing is under way. */
double gossip_wire_next_s(struct gossip_wire *w);

/** What happens at a time. */
struct gossip_signal {
    int32_t tag;
    bool ends; /**< else it begins */
};
/** Go there. @p signals: shape [@p n], borrowed until the next call, in the order they were asked for, ends
 * before beginnings. */
int gossip_wire_advance(struct gossip_wire *w, const struct gossip_signal **signals, int32_t *n,
                        struct err *e);

/** Bytes so far of all that has begun: sum over NPUs of what each sends. Of an all-reduce of S bytes among N
 * 2 (N - 1) S. */
double gossip_wire_sent_B(const struct gossip_wire *w);
/** Of these, what crosses dimension @p d: a message counts once in each dimension it crosses. */
double gossip_wire_dim_B(const struct gossip_wire *w, int32_t d);
/** Bytes over directed link @p arc of topo/route; those of collectives are spread evenly over the arcs of a
 * dimension at workers. */
double gossip_wire_arc_B(const struct gossip_wire *w, int32_t arc);
int32_t gossip_wire_n_arcs(const struct gossip_wire *w);
/** "npu3 -> switch-pod-0" into @p buf. Returns @p buf. */
enum { GOSSIP_ARC_TEXT = 256 };
const char *gossip_wire_arc_name(char buf[GOSSIP_ARC_TEXT], const struct gossip_wire *w, int32_t arc);

#endif
