#include "alloc/interior_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/vector.h"

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
    alloc_bound_free(&w->proof);
    alloc_bound_free(&w->trial);
    free(w);
}

static bool carries_traffic(const struct step_fn *f, int32_t d)
{
    for (int32_t l = 0; l < f->n_leaves; l++)
        if (f->traffic_B[(ptrdiff_t)l * D + d] > 0)
            return true;
    return false;
}

/* Is the equality just put last a combination of those before it? Keeps an orthonormal basis. */
static bool depends(const double *coef, int32_t n_dims, double basis[D][D], int32_t *rank)
{
    double rest[D], norm = sqrt(vector_dot(coef, coef, n_dims));
    for (int32_t d = 0; d < n_dims; d++)
        rest[d] = coef[d] / norm;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < *rank; i++) {
            double along = vector_dot(rest, basis[i], n_dims);
            for (int32_t d = 0; d < n_dims; d++)
                rest[d] -= along * basis[i][d];
        }
    norm = sqrt(vector_dot(rest, rest, n_dims));
    if (norm < 1e-12 || *rank == n_dims)
        return true;
    for (int32_t d = 0; d < n_dims; d++)
        basis[*rank][d] = rest[d] / norm;
    ++*rank;
    return false;
}

/*
 * Equalities first. Rows that say nothing new about B stay out: those without a
 * coefficient, and equalities that follow from others (or contradict them, which
 * the caller has ruled out).
 */
static void list_rows(struct interior *w, const struct alloc_problem *p)
{
    double basis[D][D];
    int32_t rank = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t i = 0; i < p->n_rows; i++) {
            bool equality = p->rows[i].sense == LINEXPR_EQ;
            if (equality != (pass == 0) || vector_largest(p->rows[i].coef, w->n_dims) == 0 ||
                (equality && depends(p->rows[i].coef, w->n_dims, basis, &rank)))
                continue;
            w->rows[w->n_rows++] = (struct interior_row){ .equality = equality,
                                                          .source = i,
                                                          .sign = p->rows[i].sense == LINEXPR_GE ? -1 : 1 };
            w->n_equalities += equality;
        }
    for (int32_t d = 0; d < w->n_dims; d++)
        if (!(w->used[d] = carries_traffic(p->step, d)))
            w->rows[w->n_rows++] = (struct interior_row){ .source = -1 - d };
}

static void lay_out_pairs(struct interior *w, size_t cap)
{
    w->s = w->pairs;
    w->z = w->s + cap;
    w->ds = w->z + cap;
    w->dz = w->ds + cap;
    w->kappa = w->dz + cap;
    w->term_pair = w->n_leaves * w->n_dims;
    w->row_pair = w->term_pair + w->n_terms;
    w->n_pairs = w->row_pair + w->n_rows;
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
    w->pairs = calloc(5 * n_pairs, sizeof *w->pairs);
    if (w->pairs && w->trial_p && w->leaves && w->terms && w->maxima && w->rows && w->through && w->schur &&
        w->schur_rhs && alloc_bound_build(&w->proof, p, e) == 0 && alloc_bound_build(&w->trial, p, e) == 0) {
        list_rows(w, p);
        lay_out_pairs(w, n_pairs);
        return 0;
    }
    interior_free(w);
    *out = NULL;
    return err_nomem(e, "the split");
}
