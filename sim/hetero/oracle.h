/**
 * @file The cheapest plan, proved; the largest throughput of all plans.
 *
 * At a given throughput X the price of a stage depends on its own layers and type alone (and, with a network,
 * on the types beside it), so the cheapest plan for X is a shortest path over boundaries between layers,
 * O(L^2 T). Over all X, windows of throughput are split until the bound of each, again a shortest
 * path, is not below the cheapest plan found. All this is for any T^L plans; that the problem is
 * this easy without limits of units that stages share is this project's finding, not the paper's (arXiv
 * 2111.10635).
 *
 * Limits: a stage alone never takes more units, or hosts, than there are. That several stages together do not
 * is what the oracle leaves out and hetero_exact() keeps.
 */
#ifndef SIM_HETERO_ORACLE_H
#define SIM_HETERO_ORACLE_H

#include <stddef.h>

#include "sim/hetero/hetero.h"
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

/*
 * ---- paths ----
 *
 * Plans as paths over the boundaries between layers: a stage is an arc, and its cost is known once
 * the throughput is.
 *
 * A window is a range of throughputs, given by the time t of the slowest stage: fast_s <= t <= slow_s
 * (open: t < slow_s). A stage that keeps up with slow_s takes at least k units, and while t is in the window,
 * units times t is at least k * max(fast_s, time(k)): units only rise with throughput, and k * time(k) rises
 * with k. Times the price of a unit, that is the cost of an arc, USD/h times seconds; parameter servers cost
 * as one more stage does. The sum over a path is not above what its plan costs anywhere in the window, and is
 * that cost where the slowest stage of those units takes fast_s or less.
 */

/** A lower bound that is below a cost by less than this share of it leaves nothing to find but rounding. */
#define HETERO_COST_SLACK 1e-12

struct hetero_window {
    double fast_s, slow_s;
    bool open; /**< slow_s itself is not in it */
};

/** The types beside a stage are given by classes: types whose links to its own type are equal. */
struct hetero_arc {
    struct hetero_stage stage; /**< before and after: one type of the class */
    int16_t before, after;     /**< classes; 0 at the ends of the model */
    int32_t units, servers;    /**< least ones for the window; units 0: no number is enough */
    double time_s;             /**< the slower of stage and servers with them */
    double cost;               /**< INFINITY without units */
};

/** `= { 0 }` is empty; free(at). */
struct hetero_arcs {
    struct hetero_arc *at; /**< shape [n], by first layer */
    int32_t n, cap;
};

/**
 * Shortest paths. States are (boundary, type, class), shape [n_layers + 1][n_types][n_classes]: the type of
 * the stage on one side of the boundary, the class of that on the other side. Release with
 * hetero_paths_free().
 */
struct hetero_paths {
    struct arena arena;                   /**< of all arrays */
    const struct hetero_problem *problem; /**< borrowed */
    bool slowest;                         /**< the cost of a path is that of its dearest arc, not the sum */
    int32_t n_classes;                    /**< of one type, at most */
    int32_t *n_of;                        /**< shape [n_types]: classes of each, >= 1 */
    int16_t *class_of; /**< shape [n_types][n_types]: which class of the first type the second is in */
    int16_t *member;   /**< shape [n_types][n_classes]: a type of the class, -1: none */
    int64_t *cap;      /**< shape [n_types]: units that one stage can have, hosts included */
    double *to;        /**< least cost up to a boundary; type of the stage before it, class of that after */
    double *done;      /**< the same; type of the stage after it, class of that before */
    double *from;      /**< least cost beyond a boundary; type of the stage after it, class of that before */
    double *rest;      /**< the same; type of the stage before it, class of that after */
    int16_t *first, *before; /**< of to: the last stage's first layer and class before it */
    int16_t *via;            /**< of done: type of the stage before the boundary */
    int32_t *begin; /**< shape [n_layers + 1]: of arcs that were priced last, those of a first layer */
    struct hetero_arc *chunk; /**< shape [n_layers * n_classes]: arcs of one first layer, type and class */
};

/** Where a state's values are. */
static inline size_t hetero_paths_state(const struct hetero_paths *x, int32_t boundary, int32_t type,
                                        int32_t class)
{
    size_t row = (size_t)boundary * (size_t)x->problem->profile->n_types + (size_t)type;
    return row * (size_t)x->n_classes + (size_t) class;
}

/** 0 or ERR_NOMEM; free it also then. O(L T C) memory for C classes of links of a type. */
int hetero_paths_build(struct hetero_paths *x, const struct hetero_problem *p, struct err *e);
void hetero_paths_free(struct hetero_paths *x);

/** Units and cost of one arc in a window; with x->slowest the time with all units it can have. */
void hetero_arc_price(struct hetero_arc *a, const struct hetero_paths *x, const struct hetero_window *w);
/** Units and cost of arcs in a window; those that cannot keep up leave the list. */
void hetero_arcs_price(struct hetero_arcs *arcs, struct hetero_paths *x, const struct hetero_window *w);

/**
 * Least costs up to each boundary, and from each boundary on. @p arcs: priced for the window; NULL: all there
 * are, O(L^2 T C^2) and, where a type has several classes, O(L T^2).
 */
void hetero_paths_forward(struct hetero_paths *x, const struct hetero_arcs *arcs,
                          const struct hetero_window *w);
void hetero_paths_backward(struct hetero_paths *x, const struct hetero_arcs *arcs,
                           const struct hetero_window *w);

/** After forward: the least cost of a path, and its @p plan, shape [n_layers]; INFINITY: there is none. */
double hetero_paths_least(const struct hetero_paths *x, hetero_id *plan);

/** After both: keep only arcs on paths that cost less than @p most. */
void hetero_arcs_keep(struct hetero_arcs *arcs, const struct hetero_paths *x, double most);
/** The same from all there are, into @p arcs (empty). 0 or ERR_NOMEM. */
int hetero_arcs_collect(struct hetero_arcs *arcs, struct hetero_paths *x, const struct hetero_window *w,
                        double most, struct err *e);

/*
 * ---- windows ----
 *
 * The cheapest plan over all throughputs: windows are split until each is too dear.
 *
 * The cheapest path of a window bounds every plan in it. Its own plan, with the units that it
 * has, runs at the pace of its slowest stage. Where that is the window's fast end or faster, the bound is a
 * plan's cost. Otherwise the window is split at that pace: on the slower side the same path now bounds itself
 * by what the plan costs, on the faster side its slowest stage takes more units. Arcs on no path below the
 * cheapest plan found leave a window and all inside it.
 */

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
