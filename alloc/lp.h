/** @file Linear algebra and linear programmes over bandwidths: bases, repair, feasibility, clashing rows. */
#ifndef ALLOC_LP_H
#define ALLOC_LP_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "alloc/problem.h"
#include "topo/network.h"

static inline double vector_dot(const double *a, const double *b, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline double vector_largest(const double *a, int32_t n)
{
    double most = 0;
    for (int32_t i = 0; i < n; i++)
        most = fmax(most, fabs(a[i]));
    return most;
}

/* ---- bases ---- */

enum { BASIS_DIMS = TOPO_MAX_DIMS + 1 };

/** Vectors v_k = sum_{j<=k} r[k][j] q[j], q orthonormal; `= { .n_dims = n }` is empty. */
struct basis {
    int32_t n_dims, n;
    double q[BASIS_DIMS][BASIS_DIMS], r[BASIS_DIMS][BASIS_DIMS];
};

/** Less than this of a vector beside those before it is rounding. */
#define BASIS_REL 1e-13

/** Take @p v in; false, and nothing changes, when it depends on those before it. */
bool basis_add(struct basis *b, const double *v);

/** p that brings sum_k p_k v_k nearest to @p target. */
void basis_nearest(const struct basis *b, const double *target, double *p);

enum { BASIS_MAX_COLUMNS = 64 };

/**
 * p with p_i >= 0 unless is_free[i] that brings sum_i p_i columns[i] nearest to @p target;
 * at most n_dims of them are not zero. n <= BASIS_MAX_COLUMNS.
 * (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23.)
 */
void basis_fit(double *p, const double (*columns)[BASIS_DIMS], const bool *is_free, int32_t n, int32_t n_dims,
               const double *target);

/* ---- repair ---- */

/** Rounding of the sum of a row, relative to its largest part: nearer than this is inside. */
#define ALLOC_FEASIBLE_REL 4e-15

/** The same where sums are exact: half a unit in the last place of its largest part. */
#define ALLOC_SHARP_REL 1.2e-16

static inline double alloc_row_rel(const struct alloc_problem *p)
{
    return p->sharp ? ALLOC_SHARP_REL : ALLOC_FEASIBLE_REL;
}

/** A sum with what its rounding lost: hi + lo (Knuth's two-sum; products by fma()). `= { 0 }` is 0. */
struct exact_sum {
    double hi, lo;
};

static inline void exact_add(struct exact_sum *s, double x)
{
    double hi = s->hi + x, part = hi - s->hi;
    s->lo += (s->hi - (hi - part)) + (x - part);
    s->hi = hi;
}

static inline void exact_add_product(struct exact_sum *s, double a, double b)
{
    exact_add(s, a * b);
    s->lo += fma(a, b, -(a * b));
}

/** Signed distance outside the row, relative to its largest part; 0 inside. */
double alloc_outside(const struct alloc_row *row, const double *bw_Bps, int32_t n_dims);

/** The same of whole parts, which spend @p spent, shape [N_ALLOC_SPENT]; NULL: by the prices per B/s, as
 * above. */
double alloc_outside_spent(const struct alloc_row *row, const double *bw_Bps, const double *spent,
                           int32_t n_dims);

/**
 * Move B to a nearby point that satisfies every row to rounding: the least
 * relative change that makes the violated rows hold with equality, a few times over.
 * False when that did not do; then B is changed all the same.
 */
bool alloc_repair(const struct alloc_problem *p, double *bw_Bps);

/* ---- linear programmes ---- */

struct simplex;

enum lp_status { LP_OPTIMAL, LP_INFEASIBLE, LP_UNBOUNDED };

/** minimise cost.B, or raise the least B_d, subject to rows not skipped and lo <= B <= hi. All borrowed. */
struct lp {
    int32_t n_dims, n_rows;
    const struct alloc_row *rows; /**< shape [n_rows] */
    const bool *skip;             /**< shape [n_rows]: leave this row out; NULL = none */
    double cost[TOPO_MAX_DIMS];   /**< all 0 asks for feasibility alone */
    const bool *level; /**< shape [n_dims]: instead of cost, make the least of these greatest; NULL */
    double lo_Bps[TOPO_MAX_DIMS]; /**< >= 0 */
    double hi_Bps[TOPO_MAX_DIMS]; /**< INFINITY for none */
};

struct lp_result {
    enum lp_status status;
    double bw_Bps[TOPO_MAX_DIMS]; /**< when optimal; rows hold to about 1e-9 of their size */
    double value;                 /**< cost.B, or that least */
};

/** B >= 0 and no cost. */
void lp_init(struct lp *lp, int32_t n_dims, const struct alloc_row *rows, int32_t n_rows);

/**
 * Solve with GLPK's simplex in double precision.
 * @param[out] row_dual  shape [n_rows] or NULL: multipliers with the sign of alloc_bound.row_dual.
 * @return 0 or ERR_LIB (GLPK gave no answer).
 */
int lp_solve(struct lp_result *out, double *row_dual, const struct lp *lp, struct err *e);

/**
 * A programme that is solved again and again with another cost, other bounds or more rows, from where it
 * stands: several times faster than lp_solve(). `= { 0 }` is empty; release with lp_again_free().
 */
struct lp_again {
    struct simplex *simplex; /**< owned; NULL: not loaded so far */
    int32_t n_rows;          /**< of them loaded */
};

/** As lp_solve() without multipliers. Rows loaded before must not have changed, skip and level be NULL. */
int lp_solve_again(struct lp_again *again, struct lp_result *out, const struct lp *lp, struct err *e);
void lp_again_free(struct lp_again *again);

/** A smallest set of rows that cannot hold together: names joined by "; " into @p text. Rows as a whole must
 * be infeasible. */
int lp_name_clash(char *text, size_t n, const struct lp *lp, struct err *e);

/* ---- a point inside ---- */

struct alloc_inside {
    bool found;                   /**< false: the rows clash, or starve a dimension that carries traffic */
    double bw_Bps[TOPO_MAX_DIMS]; /**< as far from every row as half the rows' vertices allow */
    bool *implied; /**< shape [n_rows], owned: an inequality that can only hold with equality */
};

/**
 * One linear programme per row and dimension that the points found so far do not keep clear of.
 * ERR_NOMEM or ERR_LIB; release with alloc_inside_free().
 */
int alloc_find_inside(struct alloc_inside *out, const struct alloc_problem *p, struct err *e);
/** From the point inside as far towards a guess as stays clear of the rows; all of shape [n_dims]. */
void alloc_approach(double *bw_Bps, const struct alloc_inside *in, const struct alloc_problem *p,
                    const double *guess_Bps);

void alloc_inside_free(struct alloc_inside *in);

#endif
