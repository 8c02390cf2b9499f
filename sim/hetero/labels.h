/**
 * @file Limits of units that the stages of a plan share, beside the paths of a window.
 *
 * Types whose limit no path has broken yet are left out; one that is broken is scarce for good. Multipliers,
 * a price for each unit of a scarce type, bound what is within the limits from below (Lagrangian relaxation):
 * least of cost + multiplier * units over paths, less multiplier * limit.
 */
#ifndef SIM_HETERO_LABELS_H
#define SIM_HETERO_LABELS_H

#include "sim/hetero/oracle.h"

/** Begin with problem alone set; release with hetero_limits_free(). */
struct hetero_limits {
    const struct hetero_problem *problem; /**< borrowed, as are the next three: what is looked at now */
    struct hetero_paths *x;
    const struct hetero_arcs *arcs;
    const struct hetero_window *window;
    int32_t n_scarce;
    int32_t scarce[HETERO_MAX_TYPES];    /**< types */
    double multiplier[HETERO_MAX_TYPES]; /**< cost of one unit of a scarce type */
    int64_t use[HETERO_MAX_TYPES];       /**< of every type, by the plan that was counted last */
    struct hetero_arcs priced;           /**< the arcs, with costs that change; at is owned */
    hetero_id tried[HETERO_MAX_LAYERS];  /**< the plan at hand */
};

/** Look at the arcs of another window; @p arcs priced for it, at least one. 0 or ERR_NOMEM. O(arcs). */
int hetero_limits_open(struct hetero_limits *m, struct hetero_paths *x, const struct hetero_arcs *arcs,
                       const struct hetero_window *w, struct err *e);
void hetero_limits_free(struct hetero_limits *m);

/** Units of a type that there are. */
static inline int64_t hetero_limits_units(const struct hetero_limits *m, int32_t type)
{
    return m->problem->profile->types[type].max_units;
}

/** Units of a type that an arc takes: its own, its servers', and as host of both. */
int64_t hetero_limits_use_of(const struct hetero_limits *m, const struct hetero_arc *a, int32_t type);

/** Units that a plan takes with the least for the window, into m->use. Returns its cost in the window. */
double hetero_limits_count(struct hetero_limits *m, const hetero_id *plan);

/** Is what was counted there? */
bool hetero_limits_hold(const struct hetero_limits *m);

/** Types of which too much was counted are scarce from now on. */
void hetero_limits_add(struct hetero_limits *m);

/** Costs of m->priced with the multipliers. */
void hetero_limits_price(struct hetero_limits *m);

/**
 * Multipliers by Polyak's subgradient method, the best ones kept; uses the values of m->x up to boundaries.
 *
 * @param[in,out] cost, plan  replaced by the cheapest plan met that keeps the limits of all types, if any is
 *                            cheaper in the window
 * @param most  ends when the bound reaches this
 * @return no path within the limits costs less
 */
double hetero_limits_bound(struct hetero_limits *m, double *cost, hetero_id *plan, double most);

#endif
