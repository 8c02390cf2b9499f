#include "alloc/repair.h"

#include <math.h>
#include <string.h>

#include "alloc/basis.h"
#include "alloc/vector.h"

enum { D = TOPO_MAX_DIMS, MAX_PASSES = 8 };

/* More rows than dimensions may meet in one point, and agree on it only so well. */
#define ACCEPTED_REL 1e-13

double alloc_room(const struct alloc_row *row, const double *bw_Bps, int32_t n_dims)
{
    double sum = vector_dot(row->coef, bw_Bps, n_dims), size = fabs(row->rhs);
    for (int32_t d = 0; d < n_dims; d++)
        size = fmax(size, fabs(row->coef[d] * bw_Bps[d]));
    return (row->sense == LINEXPR_GE ? sum - row->rhs : row->rhs - sum) / (size > 0 ? size : 1);
}

double alloc_outside(const struct alloc_row *row, const double *bw_Bps, int32_t n_dims)
{
    double over = -row->rhs, size = fabs(row->rhs);
    for (int32_t d = 0; d < n_dims; d++) {
        over += row->coef[d] * bw_Bps[d];
        size = fmax(size, fabs(row->coef[d] * bw_Bps[d]));
    }
    if ((row->sense == LINEXPR_LE && over < 0) || (row->sense == LINEXPR_GE && over > 0))
        return 0;
    return size > 0 ? over / size : 0;
}

/* sum_d g[d] x[d] >= h, or == h: a row over relative changes x of the bandwidths, by its largest part. */
static double over_changes(double *g, const struct alloc_row *row, const double *bw_Bps, int32_t n_dims)
{
    double sign = row->sense == LINEXPR_LE ? -1 : 1, rest = row->rhs, size = fabs(row->rhs);
    for (int32_t d = 0; d < n_dims; d++) {
        g[d] = row->coef[d] * bw_Bps[d];
        rest -= g[d];
        size = fmax(size, fabs(g[d]));
    }
    size = size > 0 ? size : 1;
    for (int32_t d = 0; d < n_dims; d++)
        g[d] *= sign / size;
    return sign * rest / size;
}

/*
 * Shortest x with G x >= h, by the multipliers u >= 0 that bring G^T u nearest to 0 and h.u nearest to 1:
 * x is along what is left (least distance programming, Lawson and Hanson, 1974, chapter 23).
 */
static void shift(const struct alloc_problem *p, double *bw_Bps)
{
    const int32_t n = p->step->n_dims;
    double columns[BASIS_MAX_COLUMNS][BASIS_DIMS], u[BASIS_MAX_COLUMNS], target[BASIS_DIMS] = { 0 };
    bool is_free[BASIS_MAX_COLUMNS] = { false };
    int32_t m = 0;
    for (int32_t i = 0; i < p->n_rows && m < BASIS_MAX_COLUMNS - D; i++, m++) {
        columns[m][n] = over_changes(columns[m], &p->rows[i], bw_Bps, n);
        is_free[m] = p->rows[i].sense == LINEXPR_EQ;
    }
    for (int32_t d = 0; d < n; d++, m++) { /* x_d >= -1 */
        memset(columns[m], 0, sizeof columns[m]);
        columns[m][d] = 1;
        columns[m][n] = -1;
    }
    target[n] = 1;
    basis_fit(u, (const double(*)[BASIS_DIMS])columns, is_free, m, n + 1, target);
    for (int32_t i = 0; i < m; i++)
        for (int32_t d = 0; d <= n; d++)
            target[d] -= u[i] * columns[i][d];
    for (int32_t d = 0; d < n && target[n] > 0; d++)
        bw_Bps[d] = fmax(bw_Bps[d] * (1 - target[d] / target[n]), 0);
}

static double worst_outside(const struct alloc_problem *p, const double *bw_Bps)
{
    double worst = 0;
    for (int32_t i = 0; i < p->n_rows; i++)
        worst = fmax(worst, fabs(alloc_outside(&p->rows[i], bw_Bps, p->step->n_dims)));
    return worst;
}

bool alloc_repair(const struct alloc_problem *p, double *bw_Bps)
{
    for (int32_t d = 0; d < p->step->n_dims; d++)
        bw_Bps[d] = fmax(bw_Bps[d], 0);
    double worst = worst_outside(p, bw_Bps);
    for (int pass = 0; pass < MAX_PASSES && worst > ALLOC_FEASIBLE_REL; pass++) {
        shift(p, bw_Bps);
        worst = worst_outside(p, bw_Bps);
    }
    return worst <= ACCEPTED_REL;
}
