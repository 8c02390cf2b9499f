#include "alloc/lp.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glpk.h>

/* GLPK works best near 1: bandwidths in GB/s, each row divided by its largest coefficient. */
#define UNIT_Bps 1e9

/* GLPK's own default of 1e-7 would call 50.000001 <= 50 satisfied. */
#define TOLERANCE 1e-9

/* GLPK's default, for what it cannot solve any better. */
#define LOOSE_TOLERANCE 1e-7

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

static void load_row(glp_prob *g, int32_t at, const struct alloc_row *row, int32_t n_dims)
{
    int index[TOPO_MAX_DIMS + 1];
    double value[TOPO_MAX_DIMS + 1];
    int32_t n = 0;
    double scale = row_size(row, n_dims), rhs = row->rhs / (scale * UNIT_Bps);
    for (int32_t d = 0; d < n_dims; d++)
        if (row->coef[d] != 0) {
            index[++n] = d + 1;
            value[n] = row->coef[d] / scale;
        }
    glp_set_mat_row(g, at, n, index, value);
    int kind = row->sense == LINEXPR_EQ ? GLP_FX : row->sense == LINEXPR_LE ? GLP_UP : GLP_LO;
    glp_set_row_bnds(g, at, kind, rhs, rhs);
}

/* One more column, which no levelled bandwidth may fall below, is what is made greatest. */
static void load_level(glp_prob *g, const struct lp *lp)
{
    int column = glp_add_cols(g, 1);
    glp_set_col_bnds(g, column, GLP_LO, 0, 0);
    glp_set_obj_coef(g, column, -1);
    for (int32_t d = 0; d < lp->n_dims; d++) {
        glp_set_obj_coef(g, d + 1, 0);
        if (!lp->level[d])
            continue;
        int row = glp_add_rows(g, 1), index[] = { 0, d + 1, column };
        const double value[] = { 0, 1, -1 };
        glp_set_mat_row(g, row, 2, index, value);
        glp_set_row_bnds(g, row, GLP_LO, 0, 0);
    }
}

static glp_prob *load(const struct lp *lp, int32_t *place)
{
    glp_prob *g = glp_create_prob();
    int32_t n = 0;
    glp_add_cols(g, lp->n_dims);
    for (int32_t d = 0; d < lp->n_dims; d++) {
        double lo = lp->lo_Bps[d] / UNIT_Bps, hi = lp->hi_Bps[d] / UNIT_Bps;
        int kind = isinf(hi) ? GLP_LO : hi > lo ? GLP_DB : GLP_FX;
        glp_set_col_bnds(g, d + 1, kind, lo, hi);
        glp_set_obj_coef(g, d + 1, lp->cost[d] * UNIT_Bps);
    }
    for (int32_t i = 0; i < lp->n_rows; i++) {
        place[i] = 0;
        if (lp->skip && lp->skip[i])
            continue;
        place[i] = ++n;
        glp_add_rows(g, 1);
        load_row(g, n, &lp->rows[i], lp->n_dims);
    }
    if (lp->level)
        load_level(g, lp);
    return g;
}

static void unload(struct lp_result *out, double *row_dual, const struct lp *lp, const int32_t *place,
                   glp_prob *g)
{
    int status = glp_get_status(g);
    out->status = status == GLP_OPT ? LP_OPTIMAL : status == GLP_UNBND ? LP_UNBOUNDED : LP_INFEASIBLE;
    out->value = 0;
    for (int32_t d = 0; d < lp->n_dims; d++) {
        out->bw_Bps[d] = fmax(glp_get_col_prim(g, d + 1) * UNIT_Bps, lp->lo_Bps[d]);
        out->value += lp->cost[d] * out->bw_Bps[d];
    }
    if (lp->level)
        out->value = glp_get_col_prim(g, lp->n_dims + 1) * UNIT_Bps;
    for (int32_t i = 0; row_dual && i < lp->n_rows; i++) {
        /* GLPK's multiplier is the rise of the value per unit of the row; ours is >= 0 where it pushes. */
        double rise = place[i] ? glp_get_row_dual(g, place[i]) : 0;
        double scale = row_size(&lp->rows[i], lp->n_dims) * UNIT_Bps;
        row_dual[i] = (lp->rows[i].sense == LINEXPR_GE ? rise : -rise) / scale;
        if (lp->rows[i].sense != LINEXPR_EQ)
            row_dual[i] = fmax(row_dual[i], 0);
    }
}

/* GLPK's answer is one of the three, or none. */
static bool is_answer(int failed, int status)
{
    return !failed && (status == GLP_OPT || status == GLP_UNBND || status == GLP_NOFEAS);
}

/*
 * Try the next way where one fails: nearly parallel rows make a start basis singular, or let the
 * simplex go round in circles, which thousands of steps for so few columns would mean.
 */
static int simplex(glp_prob *g)
{
    static const struct {
        bool slack_basis;
        int method;
        double tolerance;
    } ways[] = { { false, GLP_PRIMAL, TOLERANCE },
                 { true, GLP_PRIMAL, TOLERANCE },
                 { true, GLP_DUALP, TOLERANCE },
                 { true, GLP_PRIMAL, LOOSE_TOLERANCE } };
    int failed = -1;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        glp_smcp how;
        glp_init_smcp(&how);
        how.msg_lev = GLP_MSG_OFF;
        how.meth = ways[i].method;
        how.tol_bnd = how.tol_dj = ways[i].tolerance;
        how.it_lim = 300;
        if (ways[i].slack_basis)
            glp_std_basis(g);
        else
            glp_adv_basis(g, 0);
        failed = glp_simplex(g, &how);
        if (is_answer(failed, glp_get_status(g)))
            break;
    }
    return failed;
}

int lp_solve(struct lp_result *out, double *row_dual, const struct lp *lp, struct err *e)
{
    int32_t *place = calloc((size_t)lp->n_rows + 1, sizeof *place);
    if (!place)
        return err_nomem(e, "a linear programme");
    glp_term_out(GLP_OFF);
    glp_prob *g = load(lp, place);
    int failed = simplex(g), status = glp_get_status(g);
    if (is_answer(failed, status))
        unload(out, row_dual, lp, place, g);
    glp_delete_prob(g);
    free(place);
    glp_free_env(); /* it is per thread, and nobody else would release it */
    if (!is_answer(failed, status))
        return err_set(e, ERR_LIB, "GLPK: simplex ended with code %d, status %d", failed, status);
    return 0;
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
