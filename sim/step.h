/** @file A training step at given bandwidths: time, what it is made of, what binds. */
#ifndef SIM_STEP_H
#define SIM_STEP_H

#include "sim/rung.h"
#include "workloads/step.h"

/** One collective of the step. */
struct sim_collective {
    step_id node;                    /**< in the tree: name, phase, kind, group */
    double times;                    /**< how often it happens in one step: all repeats multiplied */
    double bytes;                    /**< entering per NPU, once [B] */
    double traffic_B[TOPO_MAX_DIMS]; /**< sent per NPU per dimension, once [B]; 0 = dimension not used */
    double busy_s[TOPO_MAX_DIMS];    /**< traffic over effective bandwidth, once [s] */
    double time_s;                   /**< once */
    double latency_s;             /**< of it, latency and overhead; simulated: also fill, drain and queues; 0
                                       with SIM_BANDWIDTH */
    double wait_s[TOPO_MAX_DIMS]; /**< of it, bytes on this dimension; latency and waits make up time_s */
    bool binds[TOPO_MAX_DIMS];    /**< largest of wait_s; those within 1e-6 of it tie */
    int32_t n_binds;              /**< how many; 0 = sends nothing */
    double queue_s;               /**< simulated: waiting of its chunks for dimensions in use, summed */
    enum sim_order order;         /**< simulated: of the dimensions */
    struct stage_choice choice[TOPO_MAX_DIMS]; /**< of the first stage on each dimension; algorithm SHAPE: not
                                                    used, or SIM_BANDWIDTH, which knows none */
    bool critical;                             /**< on the path that decides the step's time */
};

/** Release with sim_step_free(). All times of one training step. */
struct sim_step {
    double time_s;
    double compute_s;                /**< compute on the critical path */
    double phase_s[N_STEP_PHASES];   /**< of compute_s, by phase */
    double latency_s;                /**< latency on the critical path */
    double exposed_s[TOPO_MAX_DIMS]; /**< communication on the critical path, by the dimension that binds;
                                          compute + latency + exposed = time */
    double busy_s[TOPO_MAX_DIMS]; /**< each dimension's own transfer time, on the critical path or not; more
                                       than time_s where collectives that share it overlap (no contention) */
    double traffic_B[TOPO_MAX_DIMS];    /**< sent per NPU and step */
    struct sim_collective *collectives; /**< shape [n_collectives], owned, in tree order */
    int32_t n_collectives, n_dims;
    struct rung_links links; /**< of model flow */
};

/**
 * Evaluate @p t at @p bw_Bps, shape [n_dims], each >= 0; a dimension that carries traffic and has no
 * bandwidth makes the time infinite. In closed form the time is that of step_time() on the compiled (with
 * SIM_ALPHA_BETA: lowered) step, to rounding; here the tree itself is walked, so that every leaf keeps its
 * name. Where terms of a maximum tie the first is critical. O(nodes * dims^2). ERR_NOMEM.
 */
int sim_step_build(struct sim_step *s, const struct step_tree *t, const struct topo_network *net,
                   const double *bw_Bps, enum sim_model model, const struct sim_rules *rules, struct err *e);
void sim_step_free(struct sim_step *s);

#endif
