/** @file Private to sim/gossip/wire*.c: a network in use, and what is under way on it. */
#ifndef SIM_GOSSIP_WIRE_MODEL_H
#define SIM_GOSSIP_WIRE_MODEL_H

#include "sim/event_heap.h"
#include "sim/flow/flow.h"
#include "sim/gossip/wire.h"

/** What goes by one tag: an exchange or a collective. */
struct wire_parcel {
    struct topo_path there, back; /**< links that bytes cross, owned */
    double there_B, back_B;       /**< of a collective there_B alone */
    double time_s;                /**< of a collective: its seconds alone */
    double end_s;                 /**< as soon as it is known */
    int64_t order;                /**< as asked for */
    enum collective_kind kind;
    bool collective, begun;
    int32_t left; /**< flow: directions that are still moving */
    int32_t next; /**< flow: waits behind it, -1: none */
};

/** A collective and its seconds, so that it is priced once. */
struct wire_price {
    enum collective_kind kind;
    double bytes, time_s;
};

/** What happens, and where it stands among what happens at the same time. */
struct wire_event {
    int64_t order;
    struct gossip_signal signal;
};

/** The rung of flows. */
struct wire_flows {
    struct flow_net *net;
    int32_t n_moving;   /**< exchanges under way */
    bool collects;      /**< a collective is under way */
    int32_t head, tail; /**< queue of what waits, tags; -1: none */
};

struct gossip_wire {
    const struct gossip_fabric *fabric;
    struct topo_network net;  /**< of the fabric, at the share of its bandwidths */
    struct topo_graph *graph; /**< of net where the share is not 1, owned; else NULL */
    struct topo_routes routes;
    double *s_per_B;  /**< shape [n_arcs], of a message, efficiency included; owned */
    double *arc_B;    /**< shape [n_arcs], of messages, owned */
    uint8_t *dims;    /**< shape [n_arcs], owned */
    bool *is_between; /**< shape [n_arcs]: both ends are workers, or one and a switch; owned */
    int32_t n_between[TOPO_MAX_DIMS]; /**< such arcs, of a switch those up to it */
    double sent_B, dim_B[TOPO_MAX_DIMS];
    double spread_B[TOPO_MAX_DIMS]; /**< of collectives */

    struct wire_parcel *parcels; /**< shape [cap], owned; by tag */
    int32_t cap;
    int64_t n_asked;
    struct event_heap queue;       /**< by tag: when it ends, or begins if it has not; flow: not what flows */
    struct wire_event *events;     /**< shape [cap_events], owned */
    struct gossip_signal *signals; /**< shape [cap_events], owned */
    int32_t n_events, cap_events;

    double *free_s; /**< closed form: shape [n_arcs], until when an arc is held; owned */
    double all_s;   /**< all arcs are held until then */
    double last_s;  /**< all messages are there, and no arc is held after that */

    struct wire_flows flows;
    struct wire_price *prices; /**< shape [cap_prices], owned */
    int32_t n_prices, cap_prices;
};

/** Does it cross a link? What does not takes no time, and waits for nothing. */
bool wire_is_sent(const struct wire_parcel *p);
/** It begins now: counted, and dated or set off. */
int wire_begin(struct gossip_wire *w, int32_t tag, double now_s, struct err *e);
/** Note that it begins or ends now; there is room. */
void wire_note(struct gossip_wire *w, int32_t tag, bool ends);

/** Closed form: hold what @p p needs from the moment all of it is free, and return that moment. O(links). */
double wire_book(struct gossip_wire *w, struct wire_parcel *p, double now_s);

/** The net of flows at the efficiency of every dimension. ERR_NOMEM. */
int wire_flows_build(struct gossip_wire *w, struct err *e);
/** May @p p begin? Otherwise wire_flows_wait(). */
bool wire_flows_may_begin(const struct gossip_wire *w, const struct wire_parcel *p);
void wire_flows_wait(struct gossip_wire *w, int32_t tag);
/** Set an exchange off. */
int wire_flows_send(struct gossip_wire *w, int32_t tag, double now_s, struct err *e);
/** The next event of the flows; notes what ends. */
void wire_flows_advance(struct gossip_wire *w);
/** Begin, and note, what need not wait any more. */
int wire_flows_go_on(struct gossip_wire *w, double now_s, struct err *e);
/** Seconds of a collective of all workers, simulated alone. */
int wire_flows_collective_s(double *time_s, struct gossip_wire *w, enum collective_kind kind, double bytes,
                            struct err *e);

#endif
