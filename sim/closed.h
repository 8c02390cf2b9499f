/** @file A training step at given bandwidths in closed form: time, what it is made of, what binds. */
#ifndef SIM_CLOSED_H
#define SIM_CLOSED_H

#include "workloads/step_fn.h"

/** One collective of the step. */
struct sim_collective {
    step_id node;                    /**< in the tree: name, phase, kind, group */
    double times;                    /**< how often it happens in one step: all repeats multiplied */
    double bytes;                    /**< entering per NPU, once [B] */
    double traffic_B[TOPO_MAX_DIMS]; /**< sent per NPU per dimension, once [B]; 0 = dimension not used */
    double busy_s[TOPO_MAX_DIMS];    /**< traffic over effective bandwidth, once [s] */
    double latency_s;                /**< once; 0 with STEP_BANDWIDTH */
    double transfer_s;               /**< once: the largest of busy_s */
    double time_s;                   /**< once: latency plus transfer */
    bool binds[TOPO_MAX_DIMS];       /**< dimensions of the largest busy_s; those within 1e-6 of it tie */
    int32_t n_binds;                 /**< how many; 0 = sends nothing */
    bool critical;                   /**< on the path that decides the step's time */
};

/** Release with sim_closed_free(). All times of one training step. */
struct sim_closed {
    double time_s;
    double compute_s;                /**< compute on the critical path */
    double latency_s;                /**< latency on the critical path */
    double exposed_s[TOPO_MAX_DIMS]; /**< communication on the critical path, by the dimension that binds;
                                          compute + latency + exposed = time */
    double busy_s[TOPO_MAX_DIMS]; /**< each dimension's own transfer time, on the critical path or not; more
                                       than time_s where collectives that share it overlap (no contention) */
    double traffic_B[TOPO_MAX_DIMS];    /**< sent per NPU and step */
    struct sim_collective *collectives; /**< shape [n_collectives], owned, in tree order */
    int32_t n_collectives, n_dims;
};

/**
 * Evaluate @p t at @p bw_Bps, shape [n_dims], each >= 0; a dimension that carries traffic and has no
 * bandwidth makes the time infinite. The time is that of step_time() on the compiled
 * step, to rounding; here the tree itself is walked, so that every leaf keeps its name.
 * Where terms of a maximum tie the first is critical. O(nodes * dims). ERR_NOMEM.
 */
int sim_closed_build(struct sim_closed *s, const struct step_tree *t, const struct topo_network *net,
                     const double *bw_Bps, enum step_model model, struct err *e);
void sim_closed_free(struct sim_closed *s);

#endif
