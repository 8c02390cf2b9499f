/** @file Inside of the interior-point method: the scaled problem, the iterate, the Newton system. */
#ifndef ALLOC_INTERIOR_WORK_H
#define ALLOC_INTERIOR_WORK_H

#include "alloc/basis.h"
#include "alloc/inside.h"
#include "alloc/interior.h"

enum { INTERIOR_DIMS = TOPO_MAX_DIMS };

/** One leaf: constraints traffic_d/B_d <= t. Unused dimensions are zero throughout. */
struct interior_leaf {
    double traffic[INTERIOR_DIMS];
    double t, dt, lift; /* lift = rise of t above t + dt in the last trial */
    /* Newton system: x = z/s, g = traffic/B^2, r = residual, h = x*g/x_sum. */
    double x[INTERIOR_DIMS], g[INTERIOR_DIMS], r[INTERIOR_DIMS], h[INTERIOR_DIMS];
    double x_sum, e;
};

/** One term: its value v <= u of its maximum; term 0 has such a bound only with a limit on T. */
struct interior_term {
    double constant, value, r;
    /* dv = a - inv*dy - f.dB, after everything below was eliminated. */
    double a, inv, f[INTERIOR_DIMS];
    double rho, epsilon; /* dy = epsilon - rho*(du + f.dB) */
};

/** One maximum: its value u. */
struct interior_max {
    double u, du, lift;
    double p, e, f[INTERIOR_DIMS];
};

/** One row a.B <= b or a.B == b. Equalities are made orthonormal, so that near-parallel ones do no harm. */
struct interior_row {
    double a[INTERIOR_DIMS], b, r;
    bool equality;
    int32_t source;         /* row of the problem; -1-d = B_d >= 0, of a dimension without traffic */
    double sign;            /* -1 where the problem's row was >= */
    double scale;           /* this row = sign * scale * the problem's */
    double free_p, free_dp; /* multiplier of an equality; others have theirs among the pairs */
};

/**
 * The scaled problem and its iterate. Every inequality is a pair of a slack s
 * and a multiplier z with product near mu: first the leaves' (leaf l, dimension
 * d at l*n_dims + d), then the terms', then the rows'. Pairs that stand for
 * nothing (a leaf's unused dimension, term 0 without a limit, equality rows)
 * keep s = 1 and z = 0, so that loops over pairs need no exceptions.
 */
struct interior {
    const struct alloc_problem *problem;
    int32_t n_dims, n_leaves, n_terms, n_maxima, n_rows, n_equalities;
    struct interior_leaf *leaves;
    struct interior_term *terms;
    struct interior_max *maxima;
    struct interior_row *rows; /* equalities first; from n_rows to n_listed those that follow from them */
    int32_t n_listed;
    struct basis basis; /* of the equalities: the problem's, scaled, from the orthonormal ones */
    bool limited;       /* term 0 has a limit, and its multiplier is the weight of T */
    double limit;
    bool used[INTERIOR_DIMS]; /* some leaf has traffic there */
    double bw[INTERIOR_DIMS], d_bw[INTERIOR_DIMS], price[INTERIOR_DIMS];
    double bw_unit_Bps, time_unit_s, value_unit; /* scaled 1 = so much */
    struct interior_ask ask;

    double *pairs;                                /* owned: memory of the six arrays */
    double *s, *z, *ds, *dz, *kappa, *trial_s;    /* shape [n_pairs]; kappa = wanted s*dz + z*ds */
    int32_t n_pairs, n_real, term_pair, row_pair; /* n_real stand for something; first of terms, rows */

    /* Newton matrix for dB, factored; equality rows through it. */
    double k[INTERIOR_DIMS][INTERIOR_DIMS];
    double *through;   /* shape [n_equalities][INTERIOR_DIMS]: L^-1 of each equality row */
    double *schur;     /* shape [n_equalities][n_equalities], factored */
    double *schur_rhs; /* shape [n_equalities] */

    double time_weight; /* of the objective, scaled: 1 minus the share of money in it at the start */
    double mu;          /* of the barrier while its path is followed; 0 otherwise */
    bool inside_known;  /* it was looked for */
    bool from_inside;   /* the start is inside, not a guess */
    struct alloc_inside inside;
    double imbalance; /* largest |push - pull| * B over dimensions, as a share of sum pull * B */
    double *trial_p;  /* shape [n_listed]: multipliers of the rows to try in a proof */
    struct alloc_bound proof, trial; /* best of the last solve; room for the next candidate */
};

/** First pair of leaf @p index. */
static inline ptrdiff_t interior_leaf_pair(const struct interior *w, int32_t index)
{
    return (ptrdiff_t)index * w->n_dims;
}

/** Weight of term @p k: what the objective gains per second of it. */
static inline double interior_weight(const struct interior *w, int32_t k)
{
    return k || w->limited ? w->z[w->term_pair + k] : w->time_weight;
}

/** Units in which a start of the right order of magnitude is 1, and that start for the bandwidths. */
void interior_scale(struct interior *w);

/** The same with a start that is known. */
void interior_set_units(struct interior *w, const double *bw_Bps);

/** Coefficient of dimension @p d in listed row @p i, before equalities are made orthonormal. */
double interior_scaled_coef(const struct interior *w, int32_t i, int32_t d);

/** Look for a point inside the rows, once, and make equalities of those that leave none; false when there is
 * no such point. */
bool interior_find_inside(struct interior *w);

/** Primal path following from where interior_start() is: slow and sure. */
void interior_follow_path(struct interior *w, struct interior_result *best);

/** Slacks and multipliers for those bandwidths, all well inside. */
void interior_start(struct interior *w);

/** Build and factor the Newton matrix at the current iterate; also computes all residuals. */
void interior_factor(struct interior *w);

/** How far v + step*dv stays positive; shape [n]. */
double interior_step_to_zero(const double *v, const double *dv, int32_t n);

/** Leaves with traffic in dimension @p d. */
int32_t interior_count_leaves(const struct interior *w, int32_t d);

/** Solve for the direction with the kappas now set; fills d_bw, dt, du, ds, dz, dy, dp. */
void interior_direction(struct interior *w);

/** Turn the iterate into a split, feasible to rounding, and a proof; keep each where it betters @p best. */
void interior_take(struct interior *w, struct interior_result *best);

#endif
