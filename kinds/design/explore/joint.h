/** @file What bounds the best split of any step on one network: rows, prices of the rows, and the objective.
 */
#ifndef KINDS_DESIGN_EXPLORE_JOINT_H
#define KINDS_DESIGN_EXPLORE_JOINT_H

#include "alloc/bound.h"
#include "kinds/design/answer/design.h"
#include "kinds/design/answer/plans.h"

/** A study's split problem, of whatever steps; do not copy. The step is that of the workloads with their
 * weights: what a caller hands in, as a function or as a cut, is weighted already. */
struct joint {
    const struct design_point *study;
    struct design_question question;
    struct alloc_problem counted;  /**< the same with what a product multiplies time with for prices */
    struct alloc_ranges ranges;    /**< what the rows allow each dimension */
    double ref_Bps[TOPO_MAX_DIMS]; /**< the scouts' best split; first an even one */
    double price[TOPO_MAX_DIMS];   /**< (mu A)_d; of least cost u_d + (mu A)_d */
    double rent;                   /**< mu.r */
    bool has_prices;
    double least_usd; /**< no design costs less */
    bool clash;       /**< no bandwidths satisfy the rows */
    char why[400];    /**< why a scout has no best split */
    bool floors;      /**< parts are whole: a link in every dimension that a plan uses */
    double link_Bps[TOPO_MAX_DIMS];
    struct alloc_kept *kept; /**< of a thread that solves one plan at a time, borrowed; NULL: none */
    double most_value;       /**< > 0: plans are built, and nothing worth more is looked for */
    struct incumbent last;   /**< of the best few by the scouts */
};

/** Of @p s, read with DESIGN_FOR_SPLIT. ERR_NOMEM, ERR_LIB. */
int joint_begin(struct joint *j, const struct design_point *s, struct err *e);

/** Split @p fn, or build it: value, time_s (of fn), lower_bound and bw_Bps of @p f. Value INFINITY where
 * there is no design, or none that is worth as little as is looked for; lower_bound -INFINITY where nothing
 * is proved. Free @p answer, which is of fractions. Errors of alloc_solve(). */
int joint_solve(struct search_found *f, struct alloc_answer *answer, const struct step_fn *fn,
                const struct joint *j, struct err *e);

/** Note why a scout has no best split, of the first one that constraints do not forbid. */
void joint_note_why(struct joint *j, const struct alloc_answer *a);

/** Take the split of @p a and its shadow prices for reference. */
void joint_take_prices(struct joint *j, const struct alloc_answer *a);

/** Before a split is known: of least time a price of the total alone, the same in every dimension. False:
 * that is not all that limits a split. */
bool joint_price_total(struct joint *j);

/** All bandwidths by one factor, as far as rows ask for less; other rows may be broken afterwards. */
void joint_shrink(double *bw_Bps, const struct joint *j);
/** Do all rows hold at bandwidths @p bw_Bps, shape [n_dims]? */
bool joint_allows(const struct joint *j, const double *bw_Bps);

/** No split of a step makes the objective less: a cut below the step, and a time that no split beats, are
 * known. */
double joint_bound(const struct joint *j, const struct alloc_cut *t, double time_s);
/** The same of what takes at least @p time_s, whatever it sends. */
double joint_timed(const struct joint *j, double time_s);

/** What the rows allow, and enough that collectives can be timed there. */
double joint_usable_Bps(const struct joint *j, int32_t d, double bw_Bps);

/** The cut that touches a step at @p bw_Bps, shape [n_dims]. */
typedef struct alloc_cut (*joint_touch)(const void *with, const double *bw_Bps);

/** Bandwidths at which the bound of @p t is found, shape [n_dims]. */
void joint_foot(double *bw_Bps, const struct joint *j, const struct alloc_cut *t);
/** Mix into @p t as much of @p add as raises its bound most. Returns the bound. */
double joint_mix(struct alloc_cut *t, double *share_of_add, const struct alloc_cut *add,
                 const struct joint *j);

enum {
    JOINT_FEW_CUTS = 6, /**< to rule a step out */
    JOINT_CUTS = 24,    /**< at most, to find nearly its best split */
};

/** A step that is touched where bounds are found. */
struct joint_touched {
    struct alloc_cut cut;         /**< a mean of cuts */
    double bound;                 /**< no split makes the objective less */
    double at_Bps[TOPO_MAX_DIMS]; /**< where it was touched last */
    double time_s;                /**< the least at a split that the rows allow; INFINITY: none is known */
    double bw_Bps[TOPO_MAX_DIMS]; /**< that split */
    int n;                        /**< times that it was touched */
    double share[JOINT_CUTS];     /**< of each cut in the mean of those before and it, shape [n] */
};

/** When a bound is sharp enough. */
struct joint_goal {
    double most;    /**< above it a step is of no use */
    double gap_rel; /**< of least time: a split is known that takes only so much more than the bound */
    int most_cuts;
};

/** Raise the bound of @p t by means of its cut and those that touch where bounds are found. Each takes one
 * @p touch. */
void joint_sharpen(struct joint_touched *t, const struct joint *j, struct joint_goal goal, joint_touch touch,
                   const void *with);
/** Is sharpening of use: do bandwidths have a price? */
bool joint_is_priced(const struct joint *j);

#endif
