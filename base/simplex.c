/*
 * This layer over GLPK's simplex hides what is easy to get wrong: numbers from 1, one environment per thread
 * that lives as long as any programme on it, kinds of bounds that must match the numbers, and a return code
 * apart from a status. Output is turned off: a library does not print.
 *
 * GLPK has no return code for lack of memory: it calls a hook, and aborts when that returns. Ours jumps back
 * to where GLPK was entered (glpk_enter()), which is what the hook is for; GLPK's manual then asks for its
 * environment to be freed, and with it goes every programme of the thread. Those others are told apart by
 * `epoch`: they fail as if they lacked memory themselves, and can only be freed.
 *
 * Warm starts are what it is for: columns and rows that are added keep the basis, and simplex_solve() goes on
 * from it. The caller lists ways in order of preference (warm primal, then cold, then dual, say), because
 * GLPK may cycle or lose feasibility numerically on one path and finish at once on another.
 */

#include "base/simplex.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glpk.h>

#include "base/gmp_memory.h"
#include "base/vec.h"

struct simplex {
    glp_prob *g;
    /* Entries as GLPK wants them, numbers and places from 1. */
    int *index; /* shape [room + 1], owned */
    double *value;
    int32_t room;
    int64_t epoch; /* of the thread when it was built */
};

/* GLPK keeps one environment a thread, which holds the memory of all its programmes and is not released with
 * the last of them. */
static _Thread_local struct {
    int32_t n_living;
    int64_t epoch; /* counts environments that were given up */
    jmp_buf back;
    char said[160]; /* GLPK's message, its first piece */
} glpk;

/* As GLPK's output: kept, not printed. */
static int glpk_keep_said(void *info, const char *said)
{
    (void)info;
    if (!glpk.said[0])
        snprintf(glpk.said, sizeof glpk.said, "%.*s", (int)strcspn(said, "\n"), said);
    return 1;
}

static void glpk_leave(void *info)
{
    (void)info;
    longjmp(glpk.back, 1);
}

/* Run a call of GLPK that may fail. After a failure no programme of this thread can be used any more. */
static int glpk_enter(struct simplex *x, void (*call)(struct simplex *x, void *data), void *data,
                      struct err *e)
{
    if (x->epoch != glpk.epoch)
        return err_nomem(e, "a linear programme");
    glpk.said[0] = '\0';
    bool lacks = false;
    gmp_back = &glpk.back;
    switch (setjmp(glpk.back)) {
    case 0:
        call(x, data);
        gmp_back = NULL;
        return 0;
    case GMP_LACKS:
        lacks = true;
        break;
    default:
        lacks = strstr(glpk.said, "no memory");
    }
    gmp_back = NULL;
    glp_free_env();
    glpk.n_living = 0;
    glpk.epoch++;
    return lacks ? err_nomem(e, "a linear programme") : err_set(e, ERR_LIB, "GLPK: %s", glpk.said);
}

static void glpk_create(struct simplex *x, void *data)
{
    (void)data;
    glp_term_out(GLP_OFF);
    x->g = glp_create_prob();
}

int simplex_build(struct simplex **out, struct err *e)
{
    struct simplex *x = calloc(1, sizeof *x);
    *out = NULL;
    /* Asked for by name: where GLPK makes its environment by itself, it ends the process for lack of memory.
     */
    if (!x || glp_init_env() > 1) {
        free(x);
        return err_nomem(e, "a linear programme");
    }
    gmp_memory_init();
    glp_error_hook(glpk_leave, NULL);
    glp_term_hook(glpk_keep_said, NULL);
    x->epoch = glpk.epoch;
    int rc = glpk_enter(x, glpk_create, NULL, e);
    if (rc) {
        free(x);
        return rc;
    }
    glpk.n_living++;
    *out = x;
    return 0;
}

void simplex_free(struct simplex *x)
{
    if (!x)
        return;
    if (x->epoch == glpk.epoch) {
        glp_delete_prob(x->g);
        if (--glpk.n_living == 0)
            glp_free_env();
    }
    free(x->index);
    free(x->value);
    free(x);
}

static int take_entries(struct simplex *x, int32_t n, const int32_t *at, const double *values, struct err *e)
{
    if (n > x->room || !x->index) {
        int32_t room = n > 2 * x->room ? n : 2 * x->room;
        if (!vec_resize(x->index, room + 1) || !vec_resize(x->value, room + 1))
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

/* A row or column to be added; its entries are in the programme's arrays. */
struct simplex_line {
    double cost, lo, hi;
    int32_t n;
};

static void glpk_add_row(struct simplex *x, void *data)
{
    const struct simplex_line *l = data;
    int row = glp_add_rows(x->g, 1);
    glp_set_mat_row(x->g, row, l->n, x->index, x->value);
    glp_set_row_bnds(x->g, row, bound_kind(l->lo, l->hi), l->lo, l->hi);
}

int simplex_add_row(struct simplex *x, double lo, double hi, int32_t n, const int32_t *columns,
                    const double *values, struct err *e)
{
    struct simplex_line l = { .lo = lo, .hi = hi, .n = n };
    int rc = take_entries(x, n, columns, values, e);
    return rc ? rc : glpk_enter(x, glpk_add_row, &l, e);
}

static void glpk_add_column(struct simplex *x, void *data)
{
    const struct simplex_line *l = data;
    int column = glp_add_cols(x->g, 1);
    glp_set_mat_col(x->g, column, l->n, x->index, x->value);
    glp_set_col_bnds(x->g, column, bound_kind(l->lo, l->hi), l->lo, l->hi);
    glp_set_obj_coef(x->g, column, l->cost);
}

int simplex_add_column(struct simplex *x, double cost, double lo, double hi, int32_t n, const int32_t *rows,
                       const double *values, struct err *e)
{
    struct simplex_line l = { .cost = cost, .lo = lo, .hi = hi, .n = n };
    int rc = take_entries(x, n, rows, values, e);
    return rc ? rc : glpk_enter(x, glpk_add_column, &l, e);
}

/* Neither asks for memory; on a programme that was given up they do nothing. */
void simplex_set_cost(struct simplex *x, int32_t column, double cost)
{
    if (x->epoch == glpk.epoch)
        glp_set_obj_coef(x->g, column + 1, cost);
}

void simplex_set_bounds(struct simplex *x, int32_t column, double lo, double hi)
{
    if (x->epoch == glpk.epoch)
        glp_set_col_bnds(x->g, column + 1, bound_kind(lo, hi), lo, hi);
}

/* GLPK's answer is one of the three, or none. */
static bool is_answer(int failed, int status)
{
    return !failed && (status == GLP_OPT || status == GLP_UNBND || status == GLP_NOFEAS);
}

struct attempt {
    const struct simplex_way *way;
    int failed, status;
};

static void glpk_solve(struct simplex *x, void *data)
{
    struct attempt *a = data;
    glp_smcp how;
    glp_init_smcp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.meth = a->way->dual ? GLP_DUALP : GLP_PRIMAL;
    how.tol_bnd = how.tol_dj = a->way->tolerance;
    how.it_lim = a->way->most_steps;
    if (a->way->start == SIMPLEX_FROM_SCALED)
        glp_scale_prob(x->g, GLP_SF_AUTO);
    bool exact = a->way->start == SIMPLEX_EXACT;
    if (exact || a->way->start == SIMPLEX_FROM_SLACKS || a->way->start == SIMPLEX_FROM_SCALED)
        glp_std_basis(x->g);
    else if (a->way->start == SIMPLEX_FROM_ADVANCED)
        glp_adv_basis(x->g, 0);
    a->failed = exact ? glp_exact(x->g, &how) : glp_simplex(x->g, &how);
    a->status = glp_get_status(x->g);
}

int simplex_solve(enum simplex_status *status, struct simplex *x, const struct simplex_way *ways,
                  int32_t n_ways, struct err *e)
{
    struct attempt a = { .failed = -1, .status = GLP_UNDEF };
    for (int32_t i = 0; i < n_ways && !is_answer(a.failed, a.status); i++) {
        a.way = &ways[i];
        int rc = glpk_enter(x, glpk_solve, &a, e);
        if (rc)
            return rc;
    }
    if (!is_answer(a.failed, a.status))
        return err_set(e, ERR_LIB, "GLPK: simplex ended with code %d, status %d", a.failed, a.status);
    *status = a.status == GLP_OPT     ? SIMPLEX_OPTIMAL
              : a.status == GLP_UNBND ? SIMPLEX_UNBOUNDED
                                      : SIMPLEX_INFEASIBLE;
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
