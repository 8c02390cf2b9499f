#include "alloc/repair.h"

#include <math.h>

#include "alloc/vector.h"

enum { D = TOPO_MAX_DIMS, MAX_ACTIVE = ALLOC_MAX_ACTIVE };

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

/* What alloc_repair() makes hold with equality. */
struct active {
    const struct alloc_row *rows[MAX_ACTIVE];
    int32_t n;
};

/* Add the rows B violates by more than rounding; returns whether there are any, old or new. */
static bool find_violated(const struct alloc_problem *p, const double *bw_Bps, struct active *set)
{
    bool any = false;
    for (int32_t i = 0; i < p->n_rows; i++) {
        const struct alloc_row *row = &p->rows[i];
        if (!(fabs(alloc_outside(row, bw_Bps, p->step->n_dims)) > ALLOC_FEASIBLE_REL))
            continue;
        any = true;
        bool known = false;
        for (int32_t k = 0; k < set->n; k++)
            known = known || set->rows[k] == row;
        if (!known && set->n < MAX_ACTIVE)
            set->rows[set->n++] = row;
    }
    return any;
}

void alloc_solve_gram(double a[MAX_ACTIVE][MAX_ACTIVE], double *b, int32_t n, double *x)
{
    bool done[MAX_ACTIVE] = { false };
    double first = 0;
    for (int32_t step = 0; step < n; step++) {
        int32_t pivot = -1;
        for (int32_t i = 0; i < n; i++)
            if (!done[i] && (pivot < 0 || a[i][i] > a[pivot][pivot]))
                pivot = i;
        first = step ? first : a[pivot][pivot];
        if (!(a[pivot][pivot] > 1e-13 * first))
            break;
        done[pivot] = true;
        for (int32_t i = 0; i < n; i++) {
            if (i == pivot)
                continue;
            double factor = a[i][pivot] / a[pivot][pivot];
            for (int32_t j = 0; j < n; j++)
                a[i][j] -= factor * a[pivot][j];
            b[i] -= factor * b[pivot];
        }
    }
    for (int32_t i = 0; i < n; i++)
        x[i] = done[i] ? b[i] / a[i][i] : 0;
}

/* Least change, relative to each bandwidth, that makes the rows of the set hold with equality. */
static void project(const struct active *set, int32_t n_dims, double *bw_Bps)
{
    double rest[MAX_ACTIVE], gram[MAX_ACTIVE][MAX_ACTIVE], x[MAX_ACTIVE], part[MAX_ACTIVE][D];
    for (int32_t i = 0; i < set->n; i++) {
        double norm = 0;
        rest[i] = set->rows[i]->rhs;
        for (int32_t d = 0; d < n_dims; d++) {
            part[i][d] = set->rows[i]->coef[d] * bw_Bps[d];
            rest[i] -= part[i][d];
            norm = fmax(norm, fabs(part[i][d]));
        }
        norm = norm > 0 ? norm : 1;
        rest[i] /= norm;
        for (int32_t d = 0; d < n_dims; d++)
            part[i][d] /= norm;
        for (int32_t j = 0; j <= i; j++)
            gram[i][j] = gram[j][i] = vector_dot(part[i], part[j], n_dims);
    }
    alloc_solve_gram(gram, rest, set->n, x);
    for (int32_t d = 0; d < n_dims; d++) {
        double change = 0;
        for (int32_t i = 0; i < set->n; i++)
            change += x[i] * part[i][d];
        bw_Bps[d] = fmax(bw_Bps[d] + change * bw_Bps[d], 0);
    }
}

bool alloc_repair(const struct alloc_problem *p, double *bw_Bps)
{
    struct active set = { .n = 0 };
    for (int pass = 0; pass < MAX_ACTIVE; pass++) {
        if (!find_violated(p, bw_Bps, &set))
            return true;
        project(&set, p->step->n_dims, bw_Bps);
    }
    return !find_violated(p, bw_Bps, &set);
}
