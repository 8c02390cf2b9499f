/**
 * @file Why a step takes its time: what limits it, what a small change of one dimension does, and bounds from
 * the plainest arithmetic there is.
 */
#ifndef KINDS_DESIGN_ANSWER_EXPLAIN_H
#define KINDS_DESIGN_ANSWER_EXPLAIN_H

#include "base/column.h"
#include "kinds/design/answer/design.h"

/** What a small change of one dimension does, in the study's own model, at the design as it stands;
 * explain_change_columns describes it. */
struct explain_change {
    const char *dim;
    double saves_s;              /**< by one more GB/s on it, >= 0 */
    double costs_usd;            /**< price of that GB/s; NaN without parts */
    double one_usd_less_loses_s; /**< NaN without parts or when it costs less than that */
    double endless_saves_s;      /**< if its bandwidth were without end, >= 0 */
};
extern const struct column explain_change_columns[];

/** A part of the path that decides the step; explain_limit_columns describes it. */
struct explain_limit {
    const char *what;
    double path_s;          /**< of all workloads, weighted */
    double share;           /**< of the step */
    double endless_saves_s; /**< if it took no time; NaN where that is not asked */
};
extern const struct column explain_limit_columns[];

/** What the time must not be below; explain_bound_columns describes it. */
struct explain_bound {
    char text[80];
    const char *name;     /**< = text */
    double time_s, share; /**< share: of the step */
    bool holds;           /**< else the step is shorter by more than rounding */
};
extern const struct column explain_bound_columns[];

enum {
    EXPLAIN_ALL = -1, /**< all dimensions cut in proportion */
    EXPLAIN_MAX_LIMITS = TOPO_MAX_DIMS + 2,
    EXPLAIN_MAX_BOUNDS = TOPO_MAX_DIMS + 2,
};

/** Do not copy: names point into it. */
struct explain {
    const struct design_point *study; /**< borrowed */
    const struct design *design;      /**< borrowed */
    bool solved;                      /**< it answers the split problem; else its bandwidths were given */
    struct explain_change changes[TOPO_MAX_DIMS]; /**< shape [design->n_dims] */
    int32_t cheapest;  /**< dimension where 1 USD less loses the least time, or EXPLAIN_ALL */
    double cheapest_s; /**< time lost there; NaN without parts */
    int32_t usd_row;   /**< of the study's rows: the binding one about money; -1 = none */
    double usd_row_s;  /**< its shadow price: time lost per USD less */
    struct explain_limit limits[EXPLAIN_MAX_LIMITS];
    int32_t n_limits;
    struct explain_bound bounds[EXPLAIN_MAX_BOUNDS];
    int32_t n_bounds;
};

/** Times changed designs with the study's model; @p d has bandwidths. Errors as design_time(). */
int explain_build(struct explain *out, const struct design_point *s, const struct design *d, struct err *e);

/** Bytes that an NPU sends on dimension @p k, of all workloads, weighted. */
double explain_sent_B(const struct design_point *s, const struct design *d, int32_t k);

/** Share of these bytes that goes by two ways, over a router drawn from all: `routing` valiant or adaptive.
 * NaN where all goes by minimal routes. */
double explain_valiant(const struct design_point *s, const struct design *d, int32_t k);
/** Time of the step in which it is busy, likewise. */
double explain_busy_s(const struct design_point *s, const struct design *d, int32_t k);

/** Of the bytes that each class of links has to carry, the share that hash collisions add: its fullest link
 * beyond the mean; shape [n_dims]. False: no flows are hashed. */
bool explain_collisions(double *out, const struct design_point *s, const struct design *d);

/** Collectives of one phase, kind and group that are all critical or all hidden, added up. A model has
 * thousands of collectives that are alike: a reader wants their sum. */
struct explain_bundle {
    const struct sim_collective *first;
    double times, latency_s, sent_B[TOPO_MAX_DIMS], busy_s[TOPO_MAX_DIMS];
};

/** Shape [*n], in the order of the step, to be freed; NULL after ERR_NOMEM. */
int explain_bundles(struct explain_bundle **out, int32_t *n, const struct step_tree *t,
                    const struct sim_step *step, struct err *e);

/** Does this NPU send it: not what those of other stages do, beside it or while it waits in the bubble? */
bool explain_is_here(const struct step_tree *t, const struct sim_collective *c);

#endif
