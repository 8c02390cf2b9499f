/**
 * @file The cheapest plan, proved; the largest throughput of all plans.
 *
 * At a given throughput X the price of a stage depends on its own layers and type alone (and, with a network,
 * on the types beside it), so the cheapest plan for X is a shortest path over boundaries between layers,
 * O(L^2 T) (path.h). Over all X, windows of throughput are split until the bound of each, again a shortest
 * path, is not below the cheapest plan found (window.h). All this is for any T^L plans; that the problem is
 * this easy without limits of units that stages share is this project's finding, not the paper's (arXiv
 * 2111.10635).
 *
 * Limits: a stage alone never takes more units, or hosts, than there are. That several stages together do not
 * is what the oracle leaves out and hetero_exact() keeps.
 */
#ifndef SIM_HETERO_ORACLE_H
#define SIM_HETERO_ORACLE_H

#include "sim/hetero/search.h"

struct hetero_oracle {
    enum hetero_proof proof; /**< HETERO_OPTIMAL, HETERO_LOWER_BOUND or HETERO_NO_PLAN */
    hetero_id *plan;  /**< shape [n_layers], owned; NULL without one. Of HETERO_LOWER_BOUND: cheapest of those
                         whose stages each are within the limits */
    double usd;       /**< of it, units provisioned exactly and limits not shared; NaN without one */
    double lower_usd; /**< nothing costs less: usd, but where a proof was too long; NaN without a plan */
    int64_t paths;    /**< shortest paths that were computed */
};

/**
 * The cheapest plan where limits bind single stages only. Where its stages share what there is,
 * HETERO_OPTIMAL; where they would need more together, HETERO_LOWER_BOUND: within the limits nothing is
 * cheaper. Also HETERO_LOWER_BOUND: evaluated by another provisioning than HETERO_EXACT it costs more.
 *
 * 0 or ERR_NOMEM, then empty. Dozens to hundreds of paths: the first few O(L^2 T), with a network times
 * classes of links of a type squared, the others over what stages may still be part of the cheapest plan.
 */
int hetero_oracle(struct hetero_oracle *o, const struct hetero_problem *p, struct err *e);
void hetero_oracle_free(struct hetero_oracle *o);

/**
 * The cheapest plan with all limits: hetero_oracle(), and where that is HETERO_LOWER_BOUND the same search
 * with paths that keep the limits (labels.c). Exponential at worst: after two million labels it gives up,
 * HETERO_LOWER_BOUND, and plan is the cheapest found within the limits, the oracle's when there is none.
 */
int hetero_exact(struct hetero_oracle *o, const struct hetero_problem *p, struct err *e);

/** Evaluate o->plan: does it cost no more than o->lower_usd, to 1e-9? Then o->proof is HETERO_OPTIMAL, else
 * HETERO_LOWER_BOUND. 0 or ERR_NOMEM. */
int hetero_oracle_judge(struct hetero_oracle *o, const struct hetero_problem *p, struct err *e);

/** What @p o found as the outcome of scheduler @p s: its plan is tried, without one the fastest that there
 * is. 0 or ERR_NOMEM. */
int hetero_oracle_report(struct hetero_search *s, const struct hetero_oracle *o, struct err *e);

/**
 * The largest throughput that a plan reaches when each stage, and the parameter servers of each, have all
 * units of their type, or as many as there are hosts for: no plan reaches more, and where limits are shared
 * perhaps none reaches as much. 0: no plan has a unit for every stage. Exact bottleneck path, O(L^2 T), with
 * a network times classes of links squared.
 *
 * @param plan  NULL or shape [n_layers]: one that reaches it; untouched when that is 0.
 * @return 0 or ERR_NOMEM
 */
int hetero_reach(double *per_s, hetero_id *plan, const struct hetero_problem *p, struct err *e);

#endif
