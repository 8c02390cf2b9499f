#include "alloc/lp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/simplex.h"

/* GLPK works best near 1: bandwidths in GB/s, each row divided by its largest coefficient. */
#define UNIT_Bps 1e9

/* GLPK's own default of 1e-7 would call 50.000001 <= 50 satisfied. */
#define TOLERANCE 1e-9

/* GLPK's default, for what it cannot solve any better. */
#define LOOSE_TOLERANCE 1e-7

enum { MOST_STEPS = 300 };

void lp_init(struct lp *lp, int32_t n_dims, const struct alloc_row *rows, int32_t n_rows)
{
    *lp = (struct lp){ .n_dims = n_dims, .rows = rows, .n_rows = n_rows };
    for (int32_t d = 0; d < n_dims; d++)
        lp->hi_Bps[d] = INFINITY;
}

static double row_size(const struct alloc_row *row, int32_t n_dims)
{
    double size = 0;
    for (int32_t d = 0; d < n_dims; d++)
        size = fmax(size, fabs(row->coef[d]));
    return size > 0 ? size : 1;
}

static int load_row(struct simplex *g, const struct alloc_row *row, int32_t n_dims, struct err *e)
{
    int32_t index[TOPO_MAX_DIMS], n = 0;
    double value[TOPO_MAX_DIMS];
    double scale = row_size(row, n_dims), rhs = row->rhs / (scale * UNIT_Bps);
    for (int32_t d = 0; d < n_dims; d++)
        if (row->coef[d] != 0) {
            index[n] = d;
            value[n++] = row->coef[d] / scale;
        }
    double lo = row->sense == LINEXPR_LE ? -INFINITY : rhs, hi = row->sense == LINEXPR_GE ? INFINITY : rhs;
    return simplex_add_row(g, lo, hi, n, index, value, e);
}

/* One more column, which no levelled bandwidth may fall below, is what is made greatest. */
static int load_level(struct simplex *g, const struct lp *lp, struct err *e)
{
    int rc = simplex_add_column(g, -1, 0, INFINITY, 0, NULL, NULL, e);
    for (int32_t d = 0; d < lp->n_dims && !rc; d++) {
        simplex_set_cost(g, d, 0);
        if (!lp->level[d])
            continue;
        const int32_t index[] = { d, lp->n_dims };
        const double value[] = { 1, -1 };
        rc = simplex_add_row(g, 0, INFINITY, 2, index, value, e);
    }
    return rc;
}

static int load(struct simplex *g, const struct lp *lp, int32_t *place, struct err *e)
{
    int rc = 0;
    int32_t n = 0;
    for (int32_t d = 0; d < lp->n_dims && !rc; d++) {
        double lo = lp->lo_Bps[d] / UNIT_Bps, hi = lp->hi_Bps[d] / UNIT_Bps;
        rc = simplex_add_column(g, lp->cost[d] * UNIT_Bps, lo, hi, 0, NULL, NULL, e);
    }
    for (int32_t i = 0; i < lp->n_rows && !rc; i++) {
        bool skipped = lp->skip && lp->skip[i];
        place[i] = skipped ? -1 : n++;
        if (!skipped)
            rc = load_row(g, &lp->rows[i], lp->n_dims, e);
    }
    return !rc && lp->level ? load_level(g, lp, e) : rc;
}

static void unload(struct lp_result *out, double *row_dual, const struct lp *lp, const int32_t *place,
                   const struct simplex *g)
{
    out->value = 0;
    for (int32_t d = 0; d < lp->n_dims; d++) {
        out->bw_Bps[d] = fmax(simplex_value(g, d) * UNIT_Bps, lp->lo_Bps[d]);
        out->value += lp->cost[d] * out->bw_Bps[d];
    }
    if (lp->level)
        out->value = simplex_value(g, lp->n_dims) * UNIT_Bps;
    for (int32_t i = 0; row_dual && i < lp->n_rows; i++) {
        /* The simplex's multiplier is the rise of the value per unit of the row; ours is >= 0 where it
         * pushes. */
        double rise = place[i] >= 0 ? simplex_dual(g, place[i]) : 0;
        double scale = row_size(&lp->rows[i], lp->n_dims) * UNIT_Bps;
        row_dual[i] = (lp->rows[i].sense == LINEXPR_GE ? rise : -rise) / scale;
        if (lp->rows[i].sense != LINEXPR_EQ)
            row_dual[i] = fmax(row_dual[i], 0);
    }
}

/*
 * Try the next way where one fails: nearly parallel rows make a start basis singular, or let the
 * simplex go round in circles, which thousands of steps for so few columns would mean.
 */
static const struct simplex_way ways[] = { { SIMPLEX_FROM_ADVANCED, false, TOLERANCE, MOST_STEPS },
                                           { SIMPLEX_FROM_SLACKS, false, TOLERANCE, MOST_STEPS },
                                           { SIMPLEX_FROM_SLACKS, true, TOLERANCE, MOST_STEPS },
                                           { SIMPLEX_FROM_SLACKS, false, LOOSE_TOLERANCE, MOST_STEPS } };

int lp_solve(struct lp_result *out, double *row_dual, const struct lp *lp, struct err *e)
{
    enum simplex_status status;
    struct simplex *g = NULL;
    int32_t *place = calloc((size_t)lp->n_rows + 1, sizeof *place);
    int rc = place ? simplex_build(&g, e) : err_nomem(e, "a linear programme");
    if (!rc)
        rc = load(g, lp, place, e);
    if (!rc)
        rc = simplex_solve(&status, g, ways, sizeof ways / sizeof ways[0], e);
    if (!rc) {
        out->status = status == SIMPLEX_OPTIMAL     ? LP_OPTIMAL
                      : status == SIMPLEX_UNBOUNDED ? LP_UNBOUNDED
                                                    : LP_INFEASIBLE;
        unload(out, row_dual, lp, place, g);
    }
    simplex_free(g);
    free(place);
    return rc;
}

int lp_name_clash(char *text, size_t n, const struct lp *lp, struct err *e)
{
    bool *skip = calloc((size_t)lp->n_rows + 1, sizeof *skip);
    if (!skip)
        return err_nomem(e, "a linear programme");
    struct lp trial = *lp;
    struct lp_result r;
    int rc = 0;
    trial.skip = skip;
    memset(trial.cost, 0, sizeof trial.cost);
    /* Whatever can go without making the rest feasible is no part of the clash. */
    for (int32_t i = 0; i < lp->n_rows && !rc; i++) {
        skip[i] = true;
        rc = lp_solve(&r, NULL, &trial, e);
        skip[i] = !rc && r.status == LP_INFEASIBLE;
    }
    size_t used = 0;
    text[0] = '\0';
    for (int32_t i = 0; i < lp->n_rows && !rc; i++)
        if (!skip[i] && used < n)
            used += (size_t)snprintf(text + used, n - used, "%s%s", used ? "; " : "", lp->rows[i].name);
    free(skip);
    return rc;
}
