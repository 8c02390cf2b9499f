/*
 * Gavel's policies (D. Narayanan et al., OSDI 2020, section 4), as one linear programme over the shares x and
 * the least gain t, solved twice: for the greatest t, then with t held there for the most useful GPU-time.
 * Gains of a job are over its greatest one, so that no coefficient is above 1 whatever unit gains have.
 */
#include "sim/events/gavel_lp.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/simplex.h"

#define TOLERANCE 1e-9
#define LOOSE     1e-7
#define HELD      1e-7 /* of the least gain, which the second solve may lose: more than rounding of the first */

struct gavel_work {
    const struct gavel_lp *p;
    struct simplex *lp;
    double low;      /* the least of all greatest gains: the unit of t */
    double *top;     /* shape [n]: greatest gain of each */
    int32_t *column; /* shape [n][n_types]: of x, -1 = it is 0; t is column 0 */
    int32_t *index;  /* room for a row */
    double *value;
};

static int gavel_find_tops(struct gavel_work *w, struct err *e)
{
    const struct gavel_lp *p = w->p;
    w->low = INFINITY;
    for (int32_t i = 0; i < p->n; i++) {
        w->top[i] = 0;
        for (int32_t j = 0; j < p->n_types; j++)
            w->top[i] = fmax(w->top[i], p->gain[i * p->n_types + j]);
        if (!(w->top[i] > 0 && isfinite(w->top[i])))
            return err_set(e, ERR_RANGE, "gavel: job %d has no type of NPU with a gain", (int)i);
        w->low = fmin(w->low, w->top[i]);
    }
    return 0;
}

static int gavel_add_columns(struct gavel_work *w, struct err *e)
{
    const struct gavel_lp *p = w->p;
    int32_t next = 1;
    int rc = simplex_add_column(w->lp, -1, 0, INFINITY, 0, NULL, NULL, e);
    for (int32_t k = 0; k < p->n * p->n_types && !rc; k++) {
        w->column[k] = p->gain[k] > 0 ? next++ : -1;
        if (w->column[k] >= 0)
            rc = simplex_add_column(w->lp, 0, 0, 1, 0, NULL, NULL, e);
    }
    return rc;
}

static int gavel_add_job(struct gavel_work *w, int32_t i, struct err *e)
{
    const struct gavel_lp *p = w->p;
    int32_t n = 0;
    for (int32_t j = 0; j < p->n_types; j++)
        if (w->column[i * p->n_types + j] >= 0) {
            w->index[n] = w->column[i * p->n_types + j];
            w->value[n++] = 1;
        }
    int rc = n > 1 ? simplex_add_row(w->lp, -INFINITY, 1, n, w->index, w->value, e) : 0;
    for (int32_t j = 0, k = 0; j < p->n_types; j++)
        if (w->column[i * p->n_types + j] >= 0)
            w->value[k++] = p->gain[i * p->n_types + j] / w->top[i];
    w->index[n] = 0;
    w->value[n++] = -w->low / w->top[i];
    return rc ? rc : simplex_add_row(w->lp, 0, INFINITY, n, w->index, w->value, e);
}

static int gavel_add_type(struct gavel_work *w, int32_t j, struct err *e)
{
    const struct gavel_lp *p = w->p;
    int32_t n = 0;
    for (int32_t i = 0; i < p->n; i++)
        if (w->column[i * p->n_types + j] >= 0) {
            w->index[n] = w->column[i * p->n_types + j];
            w->value[n++] = p->count[i] * p->gpus[i] / p->room[j];
        }
    return n > 0 ? simplex_add_row(w->lp, -INFINITY, 1, n, w->index, w->value, e) : 0;
}

/* Shares into @p x where an optimum is found. */
static int gavel_optimize(bool *found, double *x, struct gavel_work *w, struct err *e)
{
    const struct gavel_lp *p = w->p;
    /* Many jobs alike let the simplex go round in circles: then another start. */
    const int32_t most = 10 * (p->n * p->n_types + 50);
    const struct simplex_way ways[] = { { SIMPLEX_FROM_BASIS, false, TOLERANCE, most },
                                        { SIMPLEX_FROM_ADVANCED, false, TOLERANCE, most },
                                        { SIMPLEX_FROM_SLACKS, true, TOLERANCE, most },
                                        { SIMPLEX_FROM_SCALED, false, LOOSE, most },
                                        { SIMPLEX_EXACT, false, TOLERANCE, INT32_MAX } };
    enum simplex_status status;
    int rc = simplex_solve(&status, w->lp, ways, sizeof ways / sizeof ways[0], e);
    *found = !rc && status == SIMPLEX_OPTIMAL;
    for (int32_t k = 0; k < p->n * p->n_types && *found; k++)
        x[k] = w->column[k] < 0 ? 0 : fmin(fmax(simplex_value(w->lp, w->column[k]), 0), 1);
    return rc;
}

static int gavel_run(double *x, double *least, struct gavel_work *w, struct err *e)
{
    const struct gavel_lp *p = w->p;
    bool found;
    int rc = gavel_find_tops(w, e);
    rc = rc ? rc : gavel_add_columns(w, e);
    for (int32_t i = 0; i < p->n && !rc; i++)
        rc = gavel_add_job(w, i, e);
    for (int32_t j = 0; j < p->n_types && !rc; j++)
        rc = gavel_add_type(w, j, e);
    rc = rc ? rc : gavel_optimize(&found, x, w, e);
    /* All 0 is allowed, and nothing exceeds 1. */
    if (!rc && !found)
        rc = err_set(e, ERR_LIB, "gavel: no optimum of its programme");
    if (rc)
        return rc;
    double t = simplex_value(w->lp, 0);
    *least = t * w->low;
    simplex_set_cost(w->lp, 0, 0);
    simplex_set_bounds(w->lp, 0, t * (1 - HELD), INFINITY);
    for (int32_t k = 0; k < p->n * p->n_types; k++) {
        int32_t i = k / p->n_types;
        if (w->column[k] >= 0)
            simplex_set_cost(w->lp, w->column[k], -p->count[i] * p->gpus[i] * p->gain[k] / w->top[i]);
    }
    /* Where rounding leaves it no optimum, that of the first stands. */
    return gavel_optimize(&found, x, w, e);
}

int gavel_lp_solve(double *x, double *least, const struct gavel_lp *p, struct err *e)
{
    size_t n = (size_t)p->n, most = n + (size_t)p->n_types + 1;
    struct arena arena = { 0 };
    struct gavel_work w = { .p = p,
                            .top = ARENA_TAKE(&arena, n, *w.top),
                            .column = ARENA_TAKE(&arena, n * (size_t)p->n_types, *w.column),
                            .index = ARENA_TAKE(&arena, most, *w.index),
                            .value = ARENA_TAKE(&arena, most, *w.value) };
    int rc = arena_check(&arena, "shares of jobs", e);
    if (!rc)
        rc = simplex_build(&w.lp, e);
    if (!rc)
        rc = gavel_run(x, least, &w, e);
    simplex_free(w.lp);
    arena_free(&arena);
    return rc;
}
