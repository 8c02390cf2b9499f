/** @file What a job sends and where, on a given place: the terms of pace_graph.h that do not change while it
 * runs. */
#ifndef SIM_EVENTS_PACE_COMM_H
#define SIM_EVENTS_PACE_COMM_H

#include "sim/events/lockstep.h"
#include "sim/events/pace_graph.h"

/**
 * Communication of one iteration at rate r takes before_s + max(floor_s, latency_s + volume_B / r).
 * `= { 0 }`; release with pace_comm_free().
 */
struct pace_comm {
    double before_s;           /**< inside servers, and sums that are formed */
    double floor_s;            /**< what goes on inside servers at the same time */
    double latency_s;          /**< of all steps between servers */
    double volume_B;           /**< of each stream, 0: nothing between servers */
    struct lockstep_use *uses; /**< shape [n_uses], owned: arcs, and how many streams pass each at one time */
    double *sent_B;            /**< shape [n_uses], owned: on each of them in an iteration */
    int32_t n_uses;
};
void pace_comm_free(struct pace_comm *m);

/** Streams that pass an arc on their way there, and those that come back later. */
struct pace_tally {
    int32_t arc, there, back;
};

/** What all jobs have in common. `= { 0 }` before pace_site_build(); release with pace_site_free(). */
struct pace_site {
    const struct cluster *c; /**< borrowed */
    struct pace_graph_settings settings;
    struct topo_network inner; /**< dimensions inside a server */
    struct topo_network
        odd; /**< the same for groups that are no power of two: without algorithms that need one */
    double inner_Bps;
    double *reach_Bps; /**< shape [n_arcs], what an arc offers, owned */
    struct cluster_room room;
    struct pace_tally *tally; /**< shape [n_tally], owned: arcs of the job at hand */
    int32_t n_tally, cap_tally;
    int32_t *tally_of; /**< shape [n_arcs], owned: place of an arc in the tally, -1 = none */
    bool *seen;        /**< shape [n_servers], owned: all false between calls */
};

/** ERR_NOMEM, or ERR_RANGE as pace_graph_build(). */
int pace_site_build(struct pace_site *x, const struct cluster *c, const struct pace_graph_settings *settings,
                    struct err *e);
void pace_site_free(struct pace_site *x);

/** The terms of @p job at @p place. ERR_NOMEM, and as begin() of pace_graph.h; @p out is then to be freed. */
int pace_comm_find(struct pace_comm *out, struct pace_site *x, const struct gang_job *job, int32_t number,
                   const struct pace_place *place, struct err *e);

/** Iteration time at rate @p rate_Bps of each stream, not read where nothing is sent between servers. */
double pace_comm_iteration_s(const struct pace_comm *m, const struct gang_job *job, double rate_Bps);

/** Rate alone: that of the arc which has least for each stream; INFINITY without any. */
double pace_comm_alone_Bps(const struct pace_comm *m, const struct pace_site *x);

#endif
