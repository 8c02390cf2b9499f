/** @file Private to sim/flow*.c: what struct flow_net holds, its calendar, and the sharing of links. */
#ifndef SIM_FLOW_MODEL_H
#define SIM_FLOW_MODEL_H

#include "sim/flow/flow.h"

/** A flow's place on one of its arcs: member of the arc's doubly linked list. */
struct flow_place {
    int32_t arc, flow;
    int32_t prev, next; /**< -1 = none */
};

/** In place of an arc that bounds a flow's rate: it has none yet. */
enum { FLOW_NEW = -1 };

struct flow {
    double left_B; /**< at time since_s */
    double rate_Bps;
    double since_s; /**< when left_B was last brought up to date: when the rate changed */
    double bytes;
    int64_t tag, order; /**< order: how many were added before it */
    int32_t place;      /**< first of n_arcs places that lie together; next free flow in a free one */
    int32_t n_arcs;
    int32_t at; /**< in the calendar, -1 = not in it */
    int64_t mark;
    bool moves;      /**< latency is over */
    bool open;       /**< while sharing: has no new rate yet */
    int32_t neck;    /**< arc that bounds its rate: full, and nobody there is faster; or FLOW_NEW */
    double next_Bps; /**< while sharing: its new rate */
};

struct flow_arc {
    double bw_Bps, lat_s;
    double bytes;
    double left_Bps; /**< while sharing: not given away yet */
    int32_t head, n; /**< flows on it */
    int32_t open;    /**< while sharing: flows without a rate */
    int64_t mark;
    bool dirty;
};

/** When a flow has its next event. Ordered by time, then by who was added first. */
struct flow_date {
    double time_s;
    int64_t order;
    int32_t flow;
};

/** While sharing: what each open flow of an arc could have; too low when flows were fixed since. */
struct flow_offer {
    double Bps;
    int32_t arc;
};

struct flow_net {
    double now_s;
    struct flow_counts counts;
    int32_t n_arcs;
    struct flow_arc *arcs; /**< shape [n_arcs], owned */

    struct flow *flows; /**< shape [cap_flows], owned; n_flows of them were ever used */
    int32_t n_flows, cap_flows, free_flow;

    struct flow_place *places; /**< shape [cap_places], owned; n_places of them were ever used */
    int32_t n_places, cap_places;
    int32_t
        *free_places; /**< shape [cap_lengths], owned: by length, first place of a free block, -1 = none */
    int32_t cap_lengths;

    struct flow_date *dates; /**< shape [cap_flows], heap of 4 children, owned */
    int32_t n_dates;

    int32_t *dirty; /**< shape [n_arcs], arcs that a flow came to or left, owned */
    int32_t n_dirty;
    int64_t *ended; /**< shape [cap_flows], tags, owned */
    int32_t n_ended;

    /* One component of flows that share arcs, while it is shared out. */
    int64_t mark;              /**< what was reached in the sharing at hand bears it */
    int32_t *near_arcs;        /**< shape [n_arcs], owned */
    int32_t *near_flows;       /**< shape [cap_flows], owned */
    struct flow_offer *offers; /**< shape [n_arcs], heap, owned */
    int32_t n_near_arcs, n_near_flows, n_offers;
};

/* ---- calendar (flow_calendar.c) ---- */

/** Put flow @p f in, or move it, to time @p time_s. O(log dates). */
void flow_date_set(struct flow_net *net, int32_t f, double time_s);
/** Take the first one out; there must be one. */
void flow_date_pop(struct flow_net *net);

/* ---- sharing (flow_share.c) ---- */

/** Note that the flows of @p arc have changed. */
void flow_touch(struct flow_net *net, int32_t arc);
/** New rates where a change noted since calls for them. */
void flow_settle(struct flow_net *net);
/** Let no flow rely on the rate it has: the next flow_settle() computes all. */
void flow_forget_rates(struct flow_net *net);
/** The rate of a flow from now on, and with it the time it ends. */
void flow_set_rate(struct flow_net *net, int32_t f, double rate_Bps);

#endif
