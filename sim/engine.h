/** @file What runs collectives over time: a simulation in chunks, or of flows. */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "sim/rules.h"

/** A collective to run; all groups of the network that look like it run at the same time. */
struct sim_job {
    enum collective_kind kind;
    double bytes; /**< per NPU, as step_node.bytes */
    int32_t members[TOPO_MAX_DIMS];
    int32_t stride[TOPO_MAX_DIMS]; /**< distance of neighbours of a group in each dimension, >= 1 */
    int32_t priority;              /**< higher goes first */
    enum sim_order order;          /**< not GUARD */
};

/** What one job did. */
struct sim_job_result {
    double issue_s, end_s;
    double busy_s[TOPO_MAX_DIMS]; /**< bytes over bandwidth of an NPU that is not slow */
    double sent_B[TOPO_MAX_DIMS]; /**< bytes that each dimension had to carry, per NPU */
    double queue_s; /**< sum over its chunks and stages of waiting while the dimension was taken */
};

/** Functions of one engine; @p x is its state. */
struct sim_engine {
    void *x; /**< borrowed */
    /** Issue a job at @p now_s, not before the last advance(). Jobs are numbered from 0. */
    int (*issue)(void *x, const struct sim_job *job, double now_s, struct err *e);
    /** When something happens next; INFINITY when nothing is left, or what is left never ends. */
    double (*next)(const void *x);
    /** Process all that happens at next(). */
    int (*advance)(void *x, struct err *e);
    /** Jobs that ended in the last advance(), or in issue() since: shape [*n], borrowed. */
    const int32_t *(*ended)(const void *x, int32_t *n);
    const struct sim_job_result *(*result)(const void *x, int32_t job);
};

#endif
