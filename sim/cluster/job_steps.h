/** @file The step of a job that trains a model, as a function of bandwidth, for each kind of place it gets.
 */
#ifndef SIM_CLUSTER_JOB_STEPS_H
#define SIM_CLUSTER_JOB_STEPS_H

#include "workloads/plan_cost.h"
#include "workloads/step_fn.h"

/** What a job trains. Borrowed by the jobs that do. */
struct job_model {
    const char *name;
    double kept; /**< share of its time that failures and checkpoints leave, (0, 1]: a step takes T/kept */
    double exchange; /**< bytes of gradients that replicas exchange in a step, over those of each step; 1 */
    struct training *training;  /**< a model and its plan; NULL: a workload that is read for each place */
    const struct yaml_doc *doc; /**< with training NULL: where that workload stands */
    yaml_id workload;
};

/** Of a model on places of these sizes (sim/cluster/footprint.h). */
struct job_step {
    const struct job_model *model;
    int32_t size[TOPO_MAX_DIMS];
    double bw_Bps[TOPO_MAX_DIMS]; /**< of an NPU, with its share of links that groups have together */
    double load_B[TOPO_MAX_DIMS]; /**< bytes that a step puts on the links of an NPU */
    struct step_fn fn;
};

/** Opaque: the steps of models on a network, each compiled once. Not for several threads at once. */
struct job_steps;

/** On @p net, all of whose bandwidths are known, with @p level dimensions inside servers; borrowed.
 * ERR_NOMEM. */
int job_steps_build(struct job_steps **out, const struct topo_network *net, int32_t level, struct err *e);
void job_steps_free(struct job_steps *x); /**< NULL is fine */

/**
 * The step of @p model on a place of @p size, shape [n_dims]; borrowed until job_steps_free(). Where the plan
 * does not lie along that shape it is timed on a simpler one, which is no faster (footprint_simplify()).
 * @return 0; ERR_NOMEM; ERR_RANGE, ERR_PARSE: what says why the work fits no such place.
 */
int job_steps_find(const struct job_step **out, struct job_steps *x, const struct job_model *model,
                   const int32_t *size, struct err *e);

/** The step tree of @p model on @p net, a place's. Release with step_free(). Errors as above. */
int job_steps_tree(struct step_tree *t, const struct job_model *model, const struct topo_network *net,
                   struct err *e);

#endif
