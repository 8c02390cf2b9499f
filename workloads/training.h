/** @file A training step derived from a model, a plan of parallelism and an NPU. */
#ifndef WORKLOADS_TRAINING_H
#define WORKLOADS_TRAINING_H

#include "workloads/memory.h"
#include "workloads/plan_cost.h"

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

/** Model FLOP/s utilisation of a step of @p time_s: useful matrix products over what all NPUs could do. */
double training_mfu(const struct training *x, const struct topo_network *net, double time_s);

#endif
