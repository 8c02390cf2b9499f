/** @file A training step at given bandwidths: time, what it is made of, what binds. */
#ifndef SIM_STEP_H
#define SIM_STEP_H

#include "sim/fidelity.h"
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
    double valiant[TOPO_MAX_DIMS]; /**< of its messages along each dimension, those by drawn routers */
    double exposed_s;              /**< in one step, beyond what runs beside it: its part of sim_account */
    bool
        critical; /**< on the path that decides the step's time; or of the class of links that it waits for */
};

/** What is exposed of the collectives of one group. */
struct sim_exposed {
    bool used;                   /**< some collective is of the group */
    double latency_s;            /**< latency and overhead; simulated: also fill, drain and queues */
    double dim_s[TOPO_MAX_DIMS]; /**< bytes on each dimension */
};

/**
 * Where the time of a step goes: compute and what is exposed add up to it. Of work that runs side by side,
 * that child counts whole which computes most (overhead of the host aside), the first of equals; beyond it
 * counts what the longest child sends, or what the others send over the links that all wait for. Of work on
 * different NPUs the longest counts, the first of equals.
 */
struct sim_account {
    double phase_s[N_STEP_PHASES]; /**< compute; STEP_BUBBLE: waiting for other stages, whatever these do */
    struct sim_exposed *exposed;   /**< shape [n_groups], owned; groups of the tree */
    int32_t n_groups;
};

/** What limits a step: the path that decides its time. The parts add up to it. */
struct sim_path {
    double compute_s;
    double latency_s;
    double wait_s[TOPO_MAX_DIMS]; /**< communication, by the dimension that binds */
};

/** Release with sim_step_free(). All times of one training step. */
struct sim_step {
    double time_s;
    struct sim_account account;
    struct sim_path path;
    double busy_s[TOPO_MAX_DIMS];    /**< each dimension's own transfer time, on the critical path or not; at
                                          most time_s */
    double traffic_B[TOPO_MAX_DIMS]; /**< sent per NPU and step */
    struct sim_collective *collectives; /**< shape [n_collectives], owned, in tree order */
    int32_t n_collectives, n_dims;
    struct fidelity_links links; /**< of model flow */
};

/**
 * Evaluate @p t; a dimension that carries traffic and has no bandwidth makes the time infinite. In closed
 * form the time is that of step_time() on the compiled (with SIM_ALPHA_BETA: lowered) step, to rounding; here
 * the tree itself is walked, so that every leaf keeps its name. Where terms of a maximum tie the first is
 * critical. O(nodes * dims^2). ERR_NOMEM.
 */
int sim_step_build(struct sim_step *s, const struct step_tree *t, const struct sim_way *way, struct err *e);
void sim_step_free(struct sim_step *s);

/** What a walk found of one node. */
struct sim_node {
    double time_s;      /**< once, repeats inside counted */
    double times;       /**< in one step; 0: of other NPUs than those of the slowest */
    int32_t collective; /**< index into sim_step.collectives; -1 */
    int32_t known;      /**< what was simulated for it as a whole: fidelity_events(); -1 */
};

/** What a step is drawn from. Release with sim_record_free(). */
struct sim_record {
    struct sim_node *nodes;    /**< shape [n_nodes], owned */
    struct fidelity *fidelity; /**< owned; NULL: a closed form */
};

/** sim_step_build(), and what it found as it went; with rules->keep_events what happened in simulations. */
int sim_step_record(struct sim_step *s, struct sim_record *record, const struct step_tree *t,
                    const struct sim_way *way, struct err *e);
void sim_record_free(struct sim_record *record);

#endif
