/** @file Which NPUs take part in a collective, and along which lines of a dimension they talk to each other.
 */
#ifndef SIM_FLOW_FLOW_COLLECTIVE_H
#define SIM_FLOW_FLOW_COLLECTIVE_H

#include "sim/flow/flow.h"
#include "topo/route.h"
#include "workloads/collective.h"

/** Boxes of addresses in a described network. Zero-initialise. */
struct flow_group_spec {
    int32_t members[TOPO_MAX_DIMS]; /**< of each dimension; 1 or 0 = only one */
    int32_t stride[TOPO_MAX_DIMS];  /**< from member to member; 0 = 1 */
    double share[TOPO_MAX_DIMS];    /**< of an all-to-all, as of collective_loads(); zero: whole */
    const int32_t
        *order;  /**< order of dimensions as of stage_list(), shape [n_dims]; NULL = innermost first */
    bool single; /**< the group that begins at NPU 0; false: the network is full of such groups, and all of
                    them work at once */
};

/** Sets of lines: one for each dimension, one for each fabric as a whole (at TOPO_MAX_DIMS + its first
 * dimension), one for a fabric of rails with a shared spine together with the dimensions before it. */
enum { FLOW_LINES_OVER_RAILS = 2 * TOPO_MAX_DIMS, FLOW_LINE_SETS };

/** The groups cut along one dimension, or along all levels of a fabric: members of a line differ there only.
 */
struct flow_lines {
    int32_t n_members, n_lines;
    int64_t *offset;  /**< shape [n_members], from the number of member 0 to theirs; owned */
    int64_t *first;   /**< shape [n_lines], NPU that is member 0, owned */
    int32_t *line_of; /**< shape [NPUs of the network], -1 = in none; NULL when n_members is 1; owned */
};

/** Zero-initialise; release with flow_group_free(). */
struct flow_group {
    struct topo_network net; /**< as stage_list() sees it */
    int32_t members[TOPO_MAX_DIMS], order[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS];
    double share[TOPO_MAX_DIMS];
    struct flow_lines lines[FLOW_LINE_SETS];
    int64_t n_groups;
};

/**
 * @return 0; ERR_NOMEM; ERR_UNSUP: a custom graph; ERR_RANGE: a dimension that the groups do not fill
 * evenly or leave, an order that is none. O(NPUs of the network * dimensions).
 */
int flow_group_build(struct flow_group *g, const struct flow_group_spec *spec,
                     const struct topo_routes *routes, struct err *e);
void flow_group_free(struct flow_group *g);

/** The set of lines that a stage is carried out on. */
int32_t flow_line_set(const struct stage *s);
/** Who takes part in a line of stage @p s, as shapes and plans see it. */
struct shape_group flow_stage_group(const struct flow_group *g, const struct stage *s);

/** NPU that is member @p i of line @p line in a set of lines of the group: of dimension @p set, or see above.
 */
int64_t flow_group_npu(const struct flow_group *g, int32_t set, int32_t line, int32_t i);

/** NPU that is number @p i, from 0, of those of dimension @p d beside line @p line that are not in it.
 */
int64_t flow_group_outside(const struct flow_group *g, const struct topo_routes *routes, int32_t d,
                           int32_t line, int32_t i);

/** Position of @p npu among the members of dimension @p d; not of a list. */
int32_t flow_group_position(const struct flow_group *g, const struct topo_routes *routes, int32_t d,
                            int64_t npu);

/*
 * Collectives as flows on a network's links: issued at any time, several at once, each tells when it
 * is done.
 */

/** How collectives become flows. */
struct flow_rules {
    struct stage_rules stage; /**< chunks, overhead per message, memory: both delay a message like latency */
    enum topo_route_kind route; /**< of a custom graph SHORTEST or ECMP */
    int32_t active;             /**< chunks that a line of a dimension works on at a time, >= 1 */
    double round;               /**< flow_sim_issue_alone() may end too late by this share of its time */
};

/**
 * Opaque: collectives under way on one network.
 *
 * A collective passes the stages of stage_list() in C chunks. In each stage every line of the group (members
 * that differ in that dimension only) exchanges the messages of message_plan_build(), one flow each. A line
 * begins a chunk when that chunk's stage before is over at all its members and fewer than
 * `active` chunks are at work there; of those that wait, whichever collective of the same group they belong
 * to, the highest priority goes first, and of equals who came first. Different groups know of each other by
 * the links they share only, where all flows have fair shares whatever their priority.
 *
 * Bytes on the links are those of the message over the efficiency of the dimension (of the protocol that
 * stage_fill() chose): what headers and gaps take counts as sent.
 */
struct flow_sim;

/**
 * @param routes  borrowed, changed only in its caches; its failed and slow links are those of the simulation.
 * @param rules   copied.
 * @param[out] out  NULL on failure; release with flow_sim_free().
 * @return 0, ERR_NOMEM, or ERR_RANGE: chunks or active below 1.
 */
int flow_sim_build(struct flow_sim **out, struct topo_routes *routes, const struct flow_rules *rules,
                   struct err *e);
void flow_sim_free(struct flow_sim *sim); /**< NULL is fine */

/** Add groups to issue collectives on; @p group is their number. Errors as flow_group_build(). */
int flow_sim_group(struct flow_sim *sim, const struct flow_group_spec *spec, int32_t *group, struct err *e);

/**
 * Begin a collective of @p bytes per NPU at @p start_s (in the past: now) in all groups of @p group at once.
 * One that sends nothing is done when it begins. @p priority counts where collectives of this group wait for
 * a line: higher goes first, but none is interrupted. @p id counts from 0.
 * @return 0, ERR_NOMEM, or ERR_RANGE: bytes not finite or below 0.
 */
int flow_sim_issue(struct flow_sim *sim, int32_t group, enum collective_kind kind, double bytes,
                   double start_s, int32_t priority, int32_t *id, struct err *e);

/**
 * The same from time 0 on, first and last of all: it has the network to itself. Where its messages wait for
 * none of their stage and most are alike it goes by classes of them (flow_classes.h), as exact and far less
 * work; flow_sim_net() is then a net of classes. Where they are not alike, or of hundreds of classes, such a
 * collective goes in rounds (flow_set_round()), if the rules allow: of a chunk's passage each stage may begin
 * late by its part of rules.round.
 */
int flow_sim_issue_alone(struct flow_sim *sim, int32_t group, enum collective_kind kind, double bytes,
                         int32_t *id, struct err *e);

/** Flows of a net of classes until the collective is done; 0: it goes by its messages. */
int64_t flow_sim_class_flows(const struct flow_sim *sim);

/** Messages that such a collective would send in all groups of @p spec, which fill the network: one flow
 * each. Needs neither graph nor memory, to refuse what is too large before either is there. @p bytes finite,
 * >= 0. */
double flow_messages(const struct topo_network *net, const struct flow_group_spec *spec,
                     const struct flow_rules *rules, enum collective_kind kind, double bytes);

/**
 * NPU @p npu takes part in a collective from @p late_s after it began: it neither sends before nor takes in
 * what is sent to it, so that messages to it begin when it is there. It holds for what begins from now on.
 * Those that wait for it wait. ERR_NOMEM, or ERR_RANGE: no such NPU, a time below 0 or
 * not finite.
 */
int flow_sim_set_late(struct flow_sim *sim, int64_t npu, double late_s, struct err *e);

/** Time of the next event [s], INFINITY when all is done. */
double flow_sim_next_s(struct flow_sim *sim);

/**
 * Go to the next event. What is issued now begins at that time.
 * @return 0, ERR_NOMEM, or as topo_find_path(): a route over a failed link.
 */
int flow_sim_advance(struct flow_sim *sim, struct err *e);

/** Collectives that ended in the last flow_sim_advance(), shape [*n], valid until the next call. */
const int32_t *flow_sim_ended(const struct flow_sim *sim, int32_t *n);

/** flow_sim_advance() until nothing is left. */
int flow_sim_run(struct flow_sim *sim, struct err *e);

/** When collective @p id ended [s]; NaN as long as it has not. */
double flow_sim_finish_s(const struct flow_sim *sim, int32_t id);

/** Use of an arc of the routes so far. */
struct flow_use flow_sim_arc_use(const struct flow_sim *sim, int32_t arc);

/** The links under it all: time, counts, use of arcs. */
const struct flow_net *flow_sim_net(const struct flow_sim *sim);

#endif
