/**
 * @file The cheapest plan, proved, where no limit of units binds; the largest throughput of all plans.
 *
 * At a given throughput X the price of a stage depends on its own layers and type alone (and, with a network,
 * on the types beside it), so the cheapest plan for X is a shortest path over boundaries between layers:
 * F(X), in O(L^2 T). F is a step function that never falls; the cost is F(X)/X. A plan that is cheapest for X
 * serves up to the throughput X' >= X of its slowest stage, so that no other X in between is better.
 * Intervals of X are split until the bound of each, the shortest path with stage prices
 * max(units(X_low)/X_high, shared/(1 - fixed X_low)), is not below the cheapest found.
 */
#ifndef SIM_HETERO_ORACLE_H
#define SIM_HETERO_ORACLE_H

#include "sim/hetero/search.h"

struct hetero_oracle {
    enum hetero_proof proof; /**< HETERO_OPTIMAL, HETERO_LOWER_BOUND or HETERO_NO_PLAN */
    hetero_id *plan;  /**< shape [n_layers], owned; NULL without one. Of HETERO_LOWER_BOUND: cheapest without
                         limits */
    double usd;       /**< of it, without limits; NaN without one */
    double lower_usd; /**< nothing costs less: usd, but where the search gave up; NaN without a plan */
    int64_t paths;    /**< shortest paths that were computed */
};

/** Is a plan of that value the cheapest, where nothing costs less than @p lower_usd? HETERO_OPTIMAL, else
 * HETERO_LOWER_BOUND. */
enum hetero_proof hetero_proof_of(const struct hetero_value *v, double lower_usd);

/** ERR_NOMEM. O(paths * L^2 T), with a network times classes of links squared. */
int hetero_oracle(struct hetero_oracle *o, const struct hetero_problem *p, struct err *e);
void hetero_oracle_free(struct hetero_oracle *o);

/**
 * The largest throughput that a plan reaches when each stage alone has up to the limit of its type:
 * no plan reaches more, and where limits are shared perhaps none reaches as much. Exact bottleneck path,
 * O(L^2 T). @p plan: NULL or shape [n_layers].
 */
int hetero_reach(double *per_s, hetero_id *plan, const struct hetero_problem *p, struct err *e);

#endif
