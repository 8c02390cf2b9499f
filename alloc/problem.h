/** @file The split problem and its proved answer. */
#ifndef ALLOC_PROBLEM_H
#define ALLOC_PROBLEM_H

#include "alloc/objective.h"
#include "base/linexpr.h"
#include "workloads/step_fn.h"

enum { ALLOC_ROW_NAME = 128 };

/** One linear constraint: sum_d coef[d]*B_d  sense  rhs. */
struct alloc_row {
    char name[ALLOC_ROW_NAME]; /**< as the user wrote it */
    double coef[TOPO_MAX_DIMS];
    enum linexpr_sense sense;
    double rhs;
    double fixed;          /**< what no bandwidth changes, taken off the right-hand side as written */
    double unit;           /**< rhs in SI per unit as written: 1e9 for GB/s, 1 where money comes in */
    const char *unit_name; /**< what one on the right-hand side is, "GB/s" or "USD"; NULL if it is neither, as
                                in "usd/1e6 <= 20" */
    /** Of what is spent: one USD more allowed is spent_coef[ALLOC_USD] more on the right; 0 = no such row. */
    double spent_coef[N_ALLOC_SPENT];
    /** What prices per B/s put into coef. In whole parts the row is sum_d (coef - money_coef) B_d + sum_j
     * spent_coef[j] * what is spent. */
    double money_coef[TOPO_MAX_DIMS];
};

/** What to solve. Borrowed throughout; B >= 0 is understood. */
struct alloc_problem {
    const struct step_fn *step; /**< T(B); where communication counts alone without constants: T_comm */
    enum alloc_objective objective;
    double usd_per_Bps[TOPO_MAX_DIMS]; /**< price of the whole cluster per B/s of one NPU, >= 0 */
    double usd_fixed;                  /**< added to every design: NPUs, when they are counted */
    /**
     * ALLOC_COUNTED_FACTOR: what T is multiplied with is factor_fixed + factor_per_Bps . B, both >=
     * 0. In whole parts it is factor_fixed + factor_unit times what the choices spend of `factor`, at least:
     * growth() of their ALLOC_STOPS, which never falls, times that and T is a lower bound of exact(), which
     * is the objective of a design; NaN: no memory. NULL: 1, and the product.
     */
    double factor_per_Bps[TOPO_MAX_DIMS], factor_fixed, factor_unit;
    enum alloc_spent factor;
    double (*growth)(const void *about, double stops_per_s);
    double (*exact)(const void *about, const double *bw_Bps, double time_s);
    const void *about;   /**< handed to both */
    double time_limit_s; /**< ALLOC_FORM_LIMITED only */
    double most_value; /**< whole parts alone: > 0: designs that are worth more, and what ties with the best,
                          are not looked for */
    const struct alloc_row *rows; /**< shape [n_rows] */
    int32_t n_rows;
    const char *const *dim_names;  /**< shape [step->n_dims] */
    const double *tie_usd_per_Bps; /**< set by alloc_solve() alone: prices, where usd_per_Bps is a factor;
                                      NULL: none but those */
    bool sharp; /**< set by alloc_solve() alone: rows hold to ALLOC_SHARP_REL, not ALLOC_FEASIBLE_REL */
    struct alloc_kept *kept; /**< for problems that differ in one right-hand side; NULL: nothing is kept */
};

enum alloc_status {
    ALLOC_SOLVED,
    ALLOC_INFEASIBLE, /**< no bandwidths satisfy the constraints */
    ALLOC_UNBOUNDED,  /**< more bandwidth always helps and nothing limits it */
    ALLOC_ILL_POSED,  /**< the infimum is approached but never reached */
    ALLOC_STALLED,    /**< a feasible split was found, its gap is above 1e-9 */
    ALLOC_UNPROVED,   /**< of a search: the best design found; plans that were not ruled out may be better */
    N_ALLOC_STATUSES,
};
extern const char *const alloc_status_names[N_ALLOC_STATUSES + 1];

/** Gap that a solved answer has at most. */
#define ALLOC_GAP 1e-9

/**
 * One inequality that holds for every feasible B:
 *   time_weight * T(B) + cost_weight * usd_per_Bps.B >= value,
 * by weak duality from multipliers anyone can check: leaf_dual[l][d] >= 0 on
 * traffic_ld/B_d <= t_l, term_weight[k] >= 0 on terms, row_dual[i] on rows.
 */
struct alloc_bound {
    double time_weight, cost_weight, value;
    double *leaf_dual;   /**< shape [n_leaves][TOPO_MAX_DIMS], owned with the two that follow in its memory */
    double *term_weight; /**< shape [n_terms] */
    double *row_dual;    /**< shape [n_rows]; >= 0 on <= and on -(>=) rows, any sign on == */
};

/** The answer. Read status first. Release with alloc_answer_free(). */
struct alloc_answer {
    enum alloc_status status;
    char reason[1024]; /**< why not solved; "" when solved */
    double bw_Bps[TOPO_MAX_DIMS];
    double time_s, cost_usd;      /**< T and cost at bw_Bps (T_comm for utilization) */
    double value, lower_bound;    /**< of the objective: s, s*B/s, s*USD, USD, J, s*factor */
    double gap;                   /**< (value - lower_bound) / value */
    bool unique;                  /**< no other split reaches the value */
    double lo_Bps[TOPO_MAX_DIMS]; /**< least bandwidth of each dimension over the optimal face */
    double hi_Bps[TOPO_MAX_DIMS]; /**< greatest; INFINITY where the face has no end */
    double *shadow;      /**< shape [n_rows], owned: fall of the objective per SI unit added to rhs */
    double *shadow_play; /**< shape [n_rows], behind it: how well shadow is known; 0 is all that is less */
    struct alloc_bound *bounds; /**< shape [n_bounds], owned: the proof of lower_bound */
    int32_t n_bounds;
    int32_t best_bound; /**< the one that touches the answer: its row_dual are the prices */
    int32_t n_rows;
    int32_t iterations; /**< Newton steps, all solves together */
};

enum { ALLOC_KEPT_LAST = 2 };

/**
 * What alloc_solve() keeps for the next calls: the split at one right-hand side, which scales to any other,
 * and the last answers to questions that do not scale, of least time, for who asks the same again. An
 * answer is the same with and without it. Zero-initialise; release with alloc_kept_free(). For one thread.
 */
struct alloc_kept {
    struct alloc_asked {
        double *question; /**< shape [n], owned: all that the answer depends on; NULL: nothing is kept */
        size_t n;
        struct alloc_answer answer;
    } last[ALLOC_KEPT_LAST];
    int next;         /**< of these to be replaced */
    double *question; /**< shape [n], owned: all that the kept split depends on; NULL: nothing is kept */
    double *asked;    /**< shape [cap], owned: of the problem at hand */
    size_t n, cap;
    struct alloc_answer answer;
};
void alloc_kept_free(struct alloc_kept *k);

/**
 * Solve. Deterministic, no global state, thread-safe. Among equal optima the
 * cheapest split is taken, then the most even.
 * @return 0 (then read out->status), ERR_NOMEM, ERR_LIB or ERR_STOPPED.
 */
int alloc_solve(struct alloc_answer *out, const struct alloc_problem *p, struct err *e);
void alloc_answer_free(struct alloc_answer *a);

/** Is there a split that satisfies the rows: solved, unproved, or stalled with one found? */
bool alloc_has_split(const struct alloc_answer *a);

/** The split of @p out is proved to out->gap only: status and reason, which says what to change. O(rows *
 * dims). */
void alloc_say_stalled(struct alloc_answer *out, const struct alloc_problem *p);

/** usd_fixed + usd_per_Bps . bw_Bps */
double alloc_cost_usd(const struct alloc_problem *p, const double *bw_Bps);

/** The same problem with what its objective counts, W, in place of prices. */
struct alloc_problem alloc_with_factor(const struct alloc_problem *p);

/* ---- constraints as users write them, turned into rows of the split problem ---- */

/** What a constraint may speak of besides bandwidth: "usd", "nic_usd", "watt", "site_MW" and "usd_year".
 * NULL: all are refused. */
struct alloc_prices {
    const double *rates[N_ALLOC_SPENT]; /**< per B/s, shape [n_dims] each; NULL: its name is refused */
    double fixed[N_ALLOC_SPENT];        /**< part that no bandwidth changes */
    double site_MW_per_W;               /**< "site_MW" is so much of ALLOC_OWN_WATT */
};

/** Growing list; zero-initialise, release with alloc_rows_free(). */
struct alloc_rows {
    struct alloc_row *rows; /**< shape [n], owned */
    int32_t n, cap;
};

/**
 * Add one constraint in GB/s over dimension names, plus `total` (sum over
 * dimensions, of a fabric its injection), `usd` and `nic_usd` (cluster price in USD), `watt`, and of the
 * whole machine `site_MW` (power at the meter) and `usd_year`: "pod + 2*node <= 200". Factors are 1e-50 to
 * 1e50 in size, the limit at most 1e50. ERR_PARSE with "col N: ..."; ERR_NOMEM.
 */
int alloc_add_text(struct alloc_rows *r, const struct topo_network *net, const struct alloc_prices *prices,
                   const char *text, struct err *e);

/** Add what the network itself says: "pod.bw_GBps" (==), "pod.min_GBps", "pod.max_GBps"; "pod.up1.taper": of
 * a fabric's levels, what is fixed (==), or at most what the level below has (<=). */
int alloc_add_network(struct alloc_rows *r, const struct topo_network *net, struct err *e);

/** Add "pod.nics": no more than the NICs that dimension @p d is given carry. */
int alloc_add_nics(struct alloc_rows *r, const struct topo_network *net, int32_t d, double most_Bps,
                   struct err *e);

/** Add "pod.bw_GBps <= 1e+06", the largest value of that key, of every bandwidth to be chosen without a
 * max_GBps. */
int alloc_add_most(struct alloc_rows *r, const struct topo_network *net, struct err *e);

/** What the rows of a total are called. */
#define ALLOC_TOTAL_ROW "total_GBps"

/**
 * Add "total_GBps": sum of all bandwidths, of fabrics their injection, == total_Bps. With @p step_Bps > 0,
 * for whole parts, which seldom add up to it: at most total_Bps, and less by less than a step.
 */
int alloc_add_total(struct alloc_rows *r, const struct topo_network *net, double total_Bps, double step_Bps,
                    struct err *e);

void alloc_rows_free(struct alloc_rows *r);

#endif
