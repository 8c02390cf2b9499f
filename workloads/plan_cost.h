/** @file A planned training step taken apart: what each block computes and sends, which of it side by side.
 */
#ifndef WORKLOADS_PLAN_COST_H
#define WORKLOADS_PLAN_COST_H

#include "workloads/block.h"
#include "workloads/collective.h"
#include "workloads/step.h"

enum { PLAN_MAX_PARTS = 64, PLAN_MAX_COLLECTIVES = 72 };

struct plan_collective {
    enum plan_group group;
    enum collective_kind kind;
    enum step_phase phase;
    const char *name;
    double bytes; /**< entering per NPU */
    double times; /**< in a row */
};

/** Collectives [first, first + n). */
struct plan_list {
    int32_t first, n;
};

/** Compute, then collectives; or both side by side. */
struct plan_part {
    enum step_phase phase;
    const char *name;
    double compute_s;
    double drain_s; /**< of it, what other stages wait for while the pipeline fills and drains */
    struct plan_list sent;
    bool beside;
};

/** Parts in a row; beside all of them, collectives. */
struct plan_pass {
    int32_t first, n;
    struct plan_list beside;
    double taken;   /**< share of the processors that those take from the parts */
    double floor_s; /**< the parts take at least so long: what the host needs to start them, or to take what
                       they keep */
    double drain_floor_s; /**< the same of what fill and drain wait for */
};

struct plan_block {
    struct plan_pass forward, backward; /**< backward: recomputation first */
};

/**
 * A step is, for stages i with tau_i = forward + backward + sends of one microbatch, m microbatches, v
 * chunks:
 *
 *     (m - 1) max_i tau_i + (1 - 1/v) max_i tau'_i + 1/v sum_i tau'_i + exchange + optimizer + overhead
 *
 * where tau'_0 has gradients and parameters exchanged beside it where that overlaps, and tau'_i = tau_i
 * otherwise; sends that overlap run beside the tau of the first two terms, and are added to the sum once per
 * stage boundary. For v = 1 and equal stages
 * this is (m + p - 1) tau: arXiv 2104.04473 section 2.2; the last p - 1 are the bubble.
 *
 * Schedules that move weight gradients into the bubble have in place of the terms after the first
 *
 *     max_i tau'_i + drain sum_i rho_i
 *
 * with rho_i = F + B - 2 W and drain (p-1)/p of zb1p, rho_i = F + 2 B - 3 W and drain (p/2 - 1)/p of
 * dualpipe, (p - 1)/(2 p) of dualpipev: for equal stages the bubbles of deepseek-ai/DualPipe's README.
 */
struct plan_cost {
    struct plan_collective collectives[PLAN_MAX_COLLECTIVES];
    struct plan_part parts[PLAN_MAX_PARTS];
    struct plan_block blocks[N_BLOCKS];
    int32_t n_blocks; /**< kinds in use: up to BLOCK_HEAD, or all */
    bool open; /**< in each stage one layer is not beside its exchange (ZeRO 3: first gather, last scatter) */
    struct plan_stage stages[PLAN_MAX_STAGES];
    struct plan_list sends;         /**< of a stage and microbatch */
    struct plan_list hidden_sends;  /**< of a stage boundary and step, where the others overlap */
    struct plan_list before, after; /**< exchange beside the first forward and last backward pass */
    struct plan_list first_before, last_after; /**< the part of it that nothing hides */
    bool shared;                               /**< collectives run beside collectives */
    int32_t n_collectives, n_parts, n_stages;
    double microbatches, interleave;
    double drain; /**< 0: of a schedule without rho */
    double optimizer_s, overhead_s;
    double model_flop;    /**< of the step, all NPUs: three times forward, whatever is done again */
    double hardware_flop; /**< with what is done again */
    double done_flop; /**< of these what attention does, which leaves out what is masked, and rows that fill
                         the vocabulary up */
};

/** Fill for a legal plan; the NPU has peak_flops and mem_Bps, and what plan_read() asks for its precision and
 * offload. O(stages). @p memo may be NULL. */
void plan_cost_kept(struct plan_cost *c, struct plan_memo *memo, const struct model *m, const struct plan *p,
                    const struct topo_npu *npu);
/** The same without one. */
void plan_cost(struct plan_cost *c, const struct model *m, const struct plan *p, const struct topo_npu *npu);

/**
 * Compute of one microbatch in all stages of a transformer, both passes, with what is done again [s]: the sum
 * of plan_cost()'s parts with exchange free, without what the host needs to start them and before
 * plan_slowest_times(). Degrees of pp and dp, schedule, chunks, ZeRO and the layers of single stages do not
 * change it; where only some layers are done again, none is counted.
 */
double plan_work_s(const struct model *m, const struct plan *p, const struct topo_npu *npu);
/** The slowest of so many NPUs, for which the others wait, computes so many times as long as one of them. */
double plan_slowest_times(const struct model *m, const struct plan *p, double n_npus);

/** How long each class of links is busy with each collective once: links that collectives share side by side
 * carry all of them. */
struct plan_busy {
    int32_t n_dims;
    double once_s[PLAN_MAX_COLLECTIVES][TOPO_MAX_DIMS]; /**< shape [n_collectives][n_dims] */
};

/** Time of the step [s] from that of each collective once, shape [n_collectives]; NULL: exchange is free. @p
 * busy may be NULL where c->shared is false or nothing is sent. O(parts + collectives). */
double plan_cost_time(const struct plan_cost *c, const double *once_s, const struct plan_busy *busy);

/** A time and how much of it each dimension takes on the path that decides; the rest is compute and latency.
 */
struct plan_sum {
    double v[1 + TOPO_MAX_DIMS]; /**< [0]: all of it */
};

/** The same with what each dimension takes of every collective, shape [n_collectives]. Of parts that run side
 * by side the longer counts, or the class of links that is busy with both for longer; the first of equals. */
void plan_cost_sum(struct plan_sum *out, const struct plan_cost *c, const struct plan_sum *once,
                   const struct plan_busy *busy, int32_t n_dims);

/** The step as an expression for solver and simulators; its groups have the names of plan_group_words,
 * and the mark of a collective is its index here.
 * ERR_NOMEM. */
int plan_cost_tree(struct step_tree *t, const struct plan_cost *c, const struct plan_place *place,
                   const char *name, const struct topo_network *net, struct err *e);

/* ---- training ---- */

/** Plain value. */
struct training {
    char name[MODEL_NAME];
    struct model model;
    struct plan plan;
    struct plan_place place;
    struct plan_cost cost;
    struct memory memory;
    yaml_id search; /**< map of the plans to try, the plan is then only a start that need not be legal; -1 */
};

/**
 * Read `model` and `parallel` of workload map @p map for @p net, whose NPU has a peak and a memory bandwidth.
 * With `search` beside them the plan is not checked, and place, cost and memory are not derived yet.
 * ERR_PARSE or ERR_RANGE with the place. What happens if memory does not suffice is the caller's to say.
 */
int training_read(struct training *x, const struct yaml_doc *doc, yaml_id map, const struct topo_network *net,
                  struct err *e);

/** The same with the checks of a whole workload map, as step_read() does them. */
int step_read_training(struct training *x, const struct yaml_doc *doc, yaml_id map,
                       const struct topo_network *net, struct err *e);

/** Derive place, cost and memory again after x->plan was changed to another legal plan. ERR_RANGE as
 * plan_map(). */
int training_derive(struct training *x, const struct topo_network *net, struct err *e);

/** The step as an expression; @p t is uninitialised. ERR_NOMEM. */
int training_build(struct step_tree *t, const struct training *x, const struct topo_network *net,
                   struct err *e);

/** Bytes that are missing, <= 0 when it fits; NaN when the NPU's memory is not known. */
double training_missing_B(const struct training *x, const struct topo_network *net);

/** Tokens (samples, where there are no sequences) of a step. */
double training_tokens(const struct training *x);

/** Model FLOP/s utilisation of a step of @p time_s: useful matrix products over what all NPUs could do at the
 * precision of the linear layers. */
double training_mfu(const struct training *x, const struct topo_network *net, double time_s);

#endif
