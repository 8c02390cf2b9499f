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
    double exposed_s; /**< in one step, beyond what runs beside it: its part of sim_account */
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
 * Evaluate @p t at @p bw_Bps, shape [n_dims], each >= 0; a dimension that carries traffic and has no
 * bandwidth makes the time infinite. In closed form the time is that of step_time() on the compiled (with
 * SIM_ALPHA_BETA: lowered) step, to rounding; here the tree itself is walked, so that every leaf keeps its
 * name. Where terms of a maximum tie the first is critical. O(nodes * dims^2). ERR_NOMEM.
 */
int sim_step_build(struct sim_step *s, const struct step_tree *t, const struct topo_network *net,
                   const double *bw_Bps, enum sim_model model, const struct sim_rules *rules, struct err *e);
void sim_step_free(struct sim_step *s);

/*
 * A training step over time: which chunk is on which dimension when, and compute beside it.
 */

enum { TIMELINE_MAX_BARS = 2000000, TIMELINE_MAX_RUNS = 4, TIMELINE_COMPUTE = -1 };

/** One interval: a stage of a chunk, or compute. */
struct timeline_bar {
    int32_t run;
    int32_t dim;  /**< TIMELINE_COMPUTE, or the dimension */
    int32_t cell; /**< class of NPUs, 0 unless some are slow */
    int32_t slot; /**< bars of one dimension, cell and slot do not overlap; of compute neither */
    step_id node;
    int32_t job, chunk; /**< job: number of the collective within the run; -1 for compute */
    enum pass pass;
    unsigned classes; /**< bits: dimensions whose links are loaded */
    int32_t binds;    /**< the one of them that takes longest */
    double bytes, ready_s, start_s, end_s;
};

/** The step once, from beginning to end. */
struct timeline_run {
    enum sim_order order; /**< GUARD: each collective in the order that was best for it */
    double time_s;
    double util_frac[TOPO_MAX_DIMS]; /**< share of the time that the dimension sends */
    bool chosen;                     /**< the one whose times sim_step_build() reports */
};

/** Release with timeline_free(). */
struct timeline {
    struct timeline_bar *bars; /**< shape [n_bars], owned; by run, then by start, then by row and slot */
    int32_t n_bars, cap_bars;
    struct timeline_run runs[TIMELINE_MAX_RUNS];
    int32_t n_runs;
};

/**
 * A repeat of 2.5 does half of its work the third time, where sim_step_build() counts two and a half times
 * what it does once.
 *
 * Simulate the whole step in chunks and keep what happened: under GUARD once per order it compares, and once
 * more with the orders of @p step when these differ among collectives.
 *
 * @param step  sim_step_build() of the same with SIM_CHUNK.
 * @return 0; ERR_NOMEM; ERR_RANGE: more than TIMELINE_MAX_BARS, or as train_run(); ERR_UNSUP: the step never
 * ends.
 */
int timeline_build(struct timeline *out, const struct step_tree *t, const struct topo_network *net,
                   const double *bw_Bps, const struct sim_rules *rules, const struct sim_step *step,
                   struct err *e);
void timeline_free(struct timeline *t);

#endif
