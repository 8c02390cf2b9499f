/*
 * This layer over GLPK's simplex hides what is easy to get wrong: numbers from 1, one environment per thread
 * that lives as long as any programme on it, kinds of bounds that must match the numbers, and a return code
 * apart from a status. Output is turned off: a library does not print.
 *
 * Warm starts are what it is for: columns and rows that are added keep the basis, and simplex_solve() goes on
 * from it. The caller lists ways in order of preference (warm primal, then cold, then dual, say), because
 * GLPK may cycle or lose feasibility numerically on one path and finish at once on another.
 */

#include "base/simplex.h"

#include <math.h>
#include <stdlib.h>

#include <glpk.h>

struct simplex {
    glp_prob *g;
    /* Entries as GLPK wants them, numbers and places from 1. */
    int *index; /* shape [room + 1], owned */
    double *value;
    int32_t room;
};

/* GLPK keeps one environment a thread, which holds the memory of all its programmes and is not released with
 * the last of them. */
static _Thread_local int32_t n_living;

int simplex_build(struct simplex **out, struct err *e)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return err_nomem(e, "a linear programme");
    glp_term_out(GLP_OFF);
    (*out)->g = glp_create_prob();
    n_living++;
    return 0;
}

void simplex_free(struct simplex *x)
{
    if (!x)
        return;
    glp_delete_prob(x->g);
    if (--n_living == 0)
        glp_free_env();
    free(x->index);
    free(x->value);
    free(x);
}

static int take_entries(struct simplex *x, int32_t n, const int32_t *at, const double *values, struct err *e)
{
    if (n > x->room || !x->index) {
        int32_t room = n > 2 * x->room ? n : 2 * x->room;
        int *index = realloc(x->index, ((size_t)room + 1) * sizeof *index);
        if (index)
            x->index = index;
        double *value = realloc(x->value, ((size_t)room + 1) * sizeof *value);
        if (value)
            x->value = value;
        if (!index || !value)
            return err_nomem(e, "a linear programme");
        x->room = room;
    }
    for (int32_t i = 0; i < n; i++) {
        x->index[i + 1] = at[i] + 1;
        x->value[i + 1] = values[i];
    }
    return 0;
}

static int bound_kind(double lo, double hi)
{
    if (isinf(hi))
        return isinf(lo) ? GLP_FR : GLP_LO;
    return isinf(lo) ? GLP_UP : hi > lo ? GLP_DB : GLP_FX;
}

int simplex_add_row(struct simplex *x, double lo, double hi, int32_t n, const int32_t *columns,
                    const double *values, struct err *e)
{
    int rc = take_entries(x, n, columns, values, e);
    if (rc)
        return rc;
    int row = glp_add_rows(x->g, 1);
    glp_set_mat_row(x->g, row, n, x->index, x->value);
    glp_set_row_bnds(x->g, row, bound_kind(lo, hi), lo, hi);
    return 0;
}

int simplex_add_column(struct simplex *x, double cost, double lo, double hi, int32_t n, const int32_t *rows,
                       const double *values, struct err *e)
{
    int rc = take_entries(x, n, rows, values, e);
    if (rc)
        return rc;
    int column = glp_add_cols(x->g, 1);
    glp_set_mat_col(x->g, column, n, x->index, x->value);
    glp_set_col_bnds(x->g, column, bound_kind(lo, hi), lo, hi);
    glp_set_obj_coef(x->g, column, cost);
    return 0;
}

void simplex_set_cost(struct simplex *x, int32_t column, double cost)
{
    glp_set_obj_coef(x->g, column + 1, cost);
}

void simplex_set_bounds(struct simplex *x, int32_t column, double lo, double hi)
{
    glp_set_col_bnds(x->g, column + 1, bound_kind(lo, hi), lo, hi);
}

/* GLPK's answer is one of the three, or none. */
static bool is_answer(int failed, int status)
{
    return !failed && (status == GLP_OPT || status == GLP_UNBND || status == GLP_NOFEAS);
}

int simplex_solve(enum simplex_status *status, struct simplex *x, const struct simplex_way *ways,
                  int32_t n_ways, struct err *e)
{
    int failed = -1, is = GLP_UNDEF;
    for (int32_t i = 0; i < n_ways && !is_answer(failed, is); i++) {
        glp_smcp how;
        glp_init_smcp(&how);
        how.msg_lev = GLP_MSG_OFF;
        how.meth = ways[i].dual ? GLP_DUALP : GLP_PRIMAL;
        how.tol_bnd = how.tol_dj = ways[i].tolerance;
        how.it_lim = ways[i].most_steps;
        if (ways[i].start == SIMPLEX_FROM_SCALED)
            glp_scale_prob(x->g, GLP_SF_AUTO);
        if (ways[i].start == SIMPLEX_FROM_SLACKS || ways[i].start == SIMPLEX_FROM_SCALED)
            glp_std_basis(x->g);
        else if (ways[i].start == SIMPLEX_FROM_ADVANCED)
            glp_adv_basis(x->g, 0);
        failed = glp_simplex(x->g, &how);
        is = glp_get_status(x->g);
    }
    if (!is_answer(failed, is))
        return err_set(e, ERR_LIB, "GLPK: simplex ended with code %d, status %d", failed, is);
    *status = is == GLP_OPT ? SIMPLEX_OPTIMAL : is == GLP_UNBND ? SIMPLEX_UNBOUNDED : SIMPLEX_INFEASIBLE;
    return 0;
}

double simplex_value(const struct simplex *x, int32_t column)
{
    return glp_get_col_prim(x->g, column + 1);
}

double simplex_dual(const struct simplex *x, int32_t row)
{
    return glp_get_row_dual(x->g, row + 1);
}

double simplex_reduced(const struct simplex *x, int32_t column)
{
    return glp_get_col_dual(x->g, column + 1);
}
