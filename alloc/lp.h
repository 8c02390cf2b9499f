/** @file Linear programmes over the bandwidths: feasibility, bounds, clashing constraints. */
#ifndef ALLOC_LP_H
#define ALLOC_LP_H

#include "alloc/problem.h"

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

/** A smallest set of rows that cannot hold together: names joined by "; " into @p text. Rows as a whole must
 * be infeasible. */
int lp_name_clash(char *text, size_t n, const struct lp *lp, struct err *e);

#endif
