/** @file The best design in whole parts: bandwidths that ports give, prices of what is bought, with proof. */
#ifndef ALLOC_WHOLE_H
#define ALLOC_WHOLE_H

#include "alloc/bound.h"

/** Dimensions in a row that are bought together (one, or the levels of a fabric), and what they can be. */
struct whole_block {
    int32_t first, n_dims; /**< dimensions first .. first + n_dims - 1 of the problem; 1 to TOPO_LEVELS */
    int64_t n;             /**< choices, 1 to WHOLE_MAX_CHOICES */
    const double *bw_Bps;  /**< shape [n][n_dims], >= 0, borrowed; in ascending order where n_dims is 1 */
    const double *spent[N_ALLOC_SPENT]; /**< shape [n] each, >= 0, borrowed; need not grow with bandwidth;
                                           all but usd may be NULL where rows and objective do not ask */
    uint32_t tied; /**< bits 1 << k of those dimensions that follow others, and have no step of their own */
};

enum { WHOLE_MAX_CHOICES = 1 << 20, WHOLE_MAX_TIES = 64 };

/** All designs: one choice of every block. Blocks cover the problem's dimensions, in order. */
struct whole_lattice {
    const struct whole_block *blocks; /**< shape [n_blocks], borrowed */
    int32_t n_blocks;
    bool branch; /**< do not enumerate, however few there are */
};

/** A neighbour: one dimension at its next value, all others as they are. */
struct whole_step {
    bool there; /**< there is such a value */
    double bw_Bps, time_s, cost_usd;
    int32_t broken; /**< the first row that it breaks; -1: none */
    bool late; /**< the objective has a limit: it takes longer than time_limit_s. A design too where neither
                  is so */
};

struct whole_tie {
    double bw_Bps[TOPO_MAX_DIMS];
    double time_s, cost_usd;
};

/** The answer. Plain value. */
struct whole_answer {
    enum alloc_status
        status;        /**< solved, infeasible, or stalled: a design was found, its gap is above ALLOC_GAP */
    char reason[1024]; /**< why not solved; "" when solved */
    int64_t at[TOPO_MAX_DIMS]; /**< choice of each block */
    double bw_Bps[TOPO_MAX_DIMS];
    double time_s, cost_usd;               /**< cost with usd_fixed; utilization: T_comm */
    double value, lower_bound;             /**< of the objective: no design of the lattice has less */
    double gap;                            /**< (value - lower_bound) / value */
    double n_points;                       /**< designs of the lattice, allowed or not */
    int64_t n_evaluated;                   /**< of them timed; all others are proved to be worse */
    bool enumerated;                       /**< all allowed ones were timed */
    int64_t n_ties;                        /**< designs with the same value to 1e-12, this one included */
    bool ties_counted;                     /**< false: there are at least so many */
    struct whole_tie ties[WHOLE_MAX_TIES]; /**< the cheapest of them, this one first */
    int32_t n_listed;
    double lo_Bps[TOPO_MAX_DIMS],
        hi_Bps[TOPO_MAX_DIMS]; /**< of each dimension over the ties that were counted */
    struct whole_step up[TOPO_MAX_DIMS], down[TOPO_MAX_DIMS];
};

/**
 * Choose. Rows and objective of @p p hold for what is bought: of a row's coefficients money[] is replaced by
 * what the choices spend. Deterministic, thread-safe. Among designs of equal value the cheapest is taken,
 * then the most even (the greatest least bandwidth, and so on).
 *
 * @param relaxed  answer to @p p without whole parts, whose bounds give multipliers; NULL, or without bounds:
 * a slower search. p->usd_per_Bps, and factor_per_Bps, must come to at most what the choices do.
 * Where p->most_value > 0, infeasible says that no design is worth as little.
 * @return 0 (then read out->status), ERR_NOMEM or ERR_STOPPED. Small lattices are enumerated, others
 * branched; O(points) at worst, up to a limit of work beyond which the answer is stalled.
 */
int alloc_solve_whole(struct whole_answer *out, const struct alloc_problem *p, const struct whole_lattice *l,
                      const struct alloc_answer *relaxed, struct err *e);

/** Does a limit on time rule out a design because it takes @p time_s? False for objectives without one. */
bool alloc_is_late(const struct alloc_problem *p, double time_s);

/* ---- for whoever makes the lattice: which bandwidths no good design has ---- */

/** Bandwidths of one block, dimensions first .. first + n_dims - 1, between two limits; those of all other
 * dimensions between theirs. */
struct whole_box {
    int32_t first, n_dims;
    double lo_Bps[TOPO_MAX_DIMS], hi_Bps[TOPO_MAX_DIMS];
    double more_usd; /**< what the block costs beyond the linear price of its lo_Bps; 0: not known */
};

enum { WHOLE_CUTS = 28 };

/**
 * Lines T + mu W >= cut + sum_d q_d B_d for all that satisfies the rows, from multipliers of
 * the relaxation (alloc/whole.c), W and rows by linear prices; usd_weight times what is spent beyond those.
 * Plain value.
 */
struct whole_cuts {
    const struct alloc_problem *p; /**< borrowed */
    int32_t n;
    struct alloc_cut cut[WHOLE_CUTS]; /**< less what the rows of their multipliers allow */
    double mu[WHOLE_CUTS], usd_weight[WHOLE_CUTS];
    double q[WHOLE_CUTS][TOPO_MAX_DIMS], best_Bps[WHOLE_CUTS][TOPO_MAX_DIMS];
    double rest[WHOLE_CUTS], rest_w; /**< least of dimensions outside the box */
};

/** @param good_Bps  a design near the best, shape [n_dims]; NULL: none is known. ERR_NOMEM. */
int whole_cuts_build(struct whole_cuts *c, const struct alloc_problem *p, const struct alloc_answer *relaxed,
                     const double *good_Bps, struct err *e);

/** Take what @p blocks, shape [n_blocks], those with n = 0 and that of @p box left out, add at least; of
 * dimensions in none of them what the limits of @p box allow. O(choices * cuts). */
void whole_cuts_rest(struct whole_cuts *c, const struct whole_box *box, const struct whole_block *blocks,
                     int32_t n_blocks);

/** No whole design with bandwidths in @p box has a lower value of the objective. O(cuts * dims + leaves). */
double whole_cuts_bound(const struct whole_cuts *c, const struct whole_box *box);

#endif
