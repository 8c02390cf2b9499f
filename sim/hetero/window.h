/**
 * @file The cheapest plan over all throughputs: windows are split until each is too dear.
 *
 * The cheapest path of a window (path.h) bounds every plan in it. Its own plan, with the units that it has,
 * runs at the pace of its slowest stage. Where that is the window's fast end or faster, the bound is a plan's
 * cost. Otherwise the window is split at that pace: on the slower side the same path now bounds itself by
 * what the plan costs, on the faster side its slowest stage takes more units. Arcs on no path below the
 * cheapest plan found leave a window and all inside it.
 */
#ifndef SIM_HETERO_WINDOW_H
#define SIM_HETERO_WINDOW_H

#include "sim/hetero/path.h"

/** Costs are USD/h times seconds per example: times epochs * examples / 3600 they are USD. */
struct hetero_windows {
    hetero_id *plan;    /**< shape [n_layers], owned: the cheapest found */
    double cost, lower; /**< of it; of the cheapest that there may be, the same when all was searched */
    int64_t paths;      /**< shortest paths computed */
};

/**
 * The cheapest path of a window that keeps a rule which paths alone do not know.
 *
 * @param[in,out] plan  shape [n_layers]: the cheapest path without the rule; with it
 * @param[in,out] cost  likewise; INFINITY: none below @p most
 * @param arcs  priced for the window; @p x has their least costs up to each boundary
 * @param[out] complete  false: gave up; @p cost still bounds from below, @p plan keeps the rule or begins
 * with -1
 * @return 0 or ERR_NOMEM
 */
typedef int hetero_rule(double *cost, hetero_id *plan, bool *complete, void *context, struct hetero_paths *x,
                        const struct hetero_arcs *arcs, const struct hetero_window *w, double most,
                        struct err *e);

/**
 * @param rule  or NULL
 * @return 0 or ERR_NOMEM; free @p out also then. No plan: cost and lower INFINITY.
 */
int hetero_windows(struct hetero_windows *out, const struct hetero_problem *p, hetero_rule *rule,
                   void *context, struct err *e);
void hetero_windows_free(struct hetero_windows *out);

#endif
