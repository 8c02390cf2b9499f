#include "alloc/interior_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/basis.h"
#include "alloc/bound.h"
#include "alloc/vector.h"
#include "alloc/work.h"

enum { D = INTERIOR_DIMS };

void interior_free(struct interior *w)
{
    if (!w)
        return;
    free(w->leaves);
    free(w->terms);
    free(w->maxima);
    free(w->rows);
    free(w->through);
    free(w->schur);
    free(w->schur_rhs);
    free(w->pairs);
    free(w->trial_p);
    alloc_inside_free(&w->inside);
    alloc_bound_free(&w->proof);
    alloc_bound_free(&w->trial);
    free(w);
}

static void add_row(struct interior *w, int32_t at, int32_t source, bool equality)
{
    bool flip = source >= 0 && w->problem->rows[source].sense == LINEXPR_GE;
    w->rows[at] = (struct interior_row){ .equality = equality, .source = source, .sign = flip ? -1 : 1 };
}

static bool is_listed(const struct interior *w, int32_t source)
{
    for (int32_t i = 0; i < w->n_equalities; i++)
        if (w->rows[i].source == source)
            return true;
    return false;
}

/*
 * Equalities first: the problem's own, and inequalities that @p implied says leave no room (NULL: none).
 * Those that follow from others (or contradict them, which the caller has ruled out) come last, as
 * spares: they constrain nothing more, but their multipliers may be needed in a proof.
 */
static void list_rows(struct interior *w, const bool *implied)
{
    const struct alloc_problem *p = w->problem;
    struct basis basis = { .n_dims = w->n_dims };
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_rows; i++)
        if ((p->rows[i].sense == LINEXPR_EQ || (implied && implied[i])) && basis_add(&basis, p->rows[i].coef))
            add_row(w, n++, i, true);
    w->n_equalities = n;
    for (int32_t i = 0; i < p->n_rows; i++)
        if (p->rows[i].sense != LINEXPR_EQ && !(implied && implied[i]) &&
            vector_largest(p->rows[i].coef, w->n_dims) > 0)
            add_row(w, n++, i, false);
    for (int32_t d = 0; d < w->n_dims; d++)
        if (!(w->used[d] = alloc_carries_traffic(p->step, d)))
            add_row(w, n++, -1 - d, false);
    w->n_rows = n;
    for (int32_t i = 0; i < p->n_rows; i++)
        if ((p->rows[i].sense == LINEXPR_EQ || (implied && implied[i])) && !is_listed(w, i) &&
            vector_largest(p->rows[i].coef, w->n_dims) > 0)
            add_row(w, n++, i, true);
    w->n_listed = n;
}

static void lay_out_pairs(struct interior *w, size_t cap)
{
    w->s = w->pairs;
    w->z = w->s + cap;
    w->ds = w->z + cap;
    w->dz = w->ds + cap;
    w->kappa = w->dz + cap;
    w->trial_s = w->kappa + cap;
    w->term_pair = w->n_leaves * w->n_dims;
    w->row_pair = w->term_pair + w->n_terms;
    w->n_pairs = w->row_pair + w->n_rows;
}

bool interior_find_inside(struct interior *w)
{
    struct err e = { 0 };
    if (!w->inside_known) {
        w->inside_known = true;
        if (alloc_find_inside(&w->inside, w->problem, &e) == 0 && w->inside.found)
            list_rows(w, w->inside.implied);
        w->n_pairs = w->row_pair + w->n_rows;
    }
    return w->inside.found;
}

int interior_build(struct interior **out, const struct alloc_problem *p, struct err *e)
{
    struct interior *w = calloc(1, sizeof *w);
    *out = w;
    if (!w)
        return err_nomem(e, "the split");
    const struct step_fn *f = p->step;
    w->problem = p;
    w->n_dims = f->n_dims;
    w->n_leaves = f->n_leaves;
    w->n_terms = f->n_terms;
    w->n_maxima = f->n_maxima;
    size_t cap_rows = (size_t)p->n_rows + D;
    size_t n_pairs = (size_t)f->n_leaves * (size_t)f->n_dims + (size_t)f->n_terms + cap_rows;
    w->leaves = calloc((size_t)f->n_leaves + 1, sizeof *w->leaves);
    w->terms = calloc((size_t)f->n_terms, sizeof *w->terms);
    w->maxima = calloc((size_t)f->n_maxima + 1, sizeof *w->maxima);
    w->rows = calloc(cap_rows, sizeof *w->rows);
    w->through = calloc(cap_rows * D, sizeof *w->through);
    w->schur = calloc(cap_rows * cap_rows, sizeof *w->schur);
    w->schur_rhs = calloc(cap_rows, sizeof *w->schur_rhs);
    w->trial_p = calloc(cap_rows, sizeof *w->trial_p);
    w->pairs = calloc(6 * n_pairs, sizeof *w->pairs);
    if (w->pairs && w->trial_p && w->leaves && w->terms && w->maxima && w->rows && w->through && w->schur &&
        w->schur_rhs && alloc_bound_build(&w->proof, p, e) == 0 && alloc_bound_build(&w->trial, p, e) == 0) {
        list_rows(w, NULL);
        lay_out_pairs(w, n_pairs);
        return 0;
    }
    interior_free(w);
    *out = NULL;
    return err_nomem(e, "the split");
}
