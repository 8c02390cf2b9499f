/**
 * @file Plans as paths over the boundaries between layers: a stage is an arc, and its cost is known once the
 * throughput is.
 *
 * A window is a range of throughputs, given by the time t of the slowest stage: fast_s <= t <= slow_s (open:
 * t < slow_s). A stage that keeps up with slow_s takes at least k units, and while t is in the window, units
 * times t is at least k * max(fast_s, time(k)): units only rise with throughput, and k * time(k) rises with
 * k. Times the price of a unit, that is the cost of an arc, USD/h times seconds; parameter servers cost as
 * one more stage does. The sum over a path is not above what its plan costs anywhere in the window, and is
 * that cost where the slowest stage of those units takes fast_s or less.
 */
#ifndef SIM_HETERO_PATH_H
#define SIM_HETERO_PATH_H

#include <stddef.h>

#include "sim/hetero/hetero.h"

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

#endif
