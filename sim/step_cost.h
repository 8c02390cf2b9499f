/** @file Private to sim/step*.c: what one collective of a step costs, by the model asked for. */
#ifndef SIM_STEP_COST_H
#define SIM_STEP_COST_H

#include "sim/rung.h"
#include "sim/step.h"

struct step_costing {
    const struct step_tree *tree;
    const struct topo_network *net;
    const double *bw_Bps;
    enum sim_model model;
    const struct sim_rules *rules;
    struct rung *rung; /**< of models that simulate, else NULL */
};

/**
 * Everything of the collective at @p id but what its place in the step decides. ERR_NOMEM, ERR_RANGE.
 * @param[out] known  of a simulation: rung_time.known; else -1.
 */
int step_cost_collective(const struct step_costing *x, step_id id, struct sim_collective *c, int32_t *known,
                         struct err *e);

/** The same from what a simulation found. */
void step_cost_take(const struct step_costing *x, step_id id, const struct rung_time *t,
                    struct sim_collective *c);

/** Job of the collective at @p id. */
struct sim_job step_cost_job(const struct step_tree *t, step_id id);

#endif
