#include "alloc/interior_work.h"

#include <math.h>

#include "alloc/vector.h"

enum { D = INTERIOR_DIMS };

/*
 * The Newton system of
 *   min  sum of weights * t + price.B
 *   s.t. t_l - m_ld/B_d - s_ld = 0,  u_j - v_k - s_k = 0,  b_i - a_i.B - s_i = 0
 * with s*z = kappa-relaxed complementarity. Everything but B is a tree hanging
 * from B: each leaf touches B and its term, each term its maximum, so they are
 * eliminated from the leaves up and never fill in. Differences of nearly equal
 * large numbers (a leaf whose one dimension binds has one huge x) are written as
 * sums of squares instead.
 */

/* K += sum_{d<e} x_d x_e / x_sum (g_d e_d - g_e e_e)(...)^T, the leaf after t is gone. */
static void add_leaf(struct interior *w, int32_t index)
{
    const int32_t n = w->n_dims;
    struct interior_leaf *l = &w->leaves[index];
    const double *s = &w->s[interior_leaf_pair(w, index)], *z = &w->z[interior_leaf_pair(w, index)];
    double x_sum = 0;
    for (int32_t d = 0; d < n; d++) {
        if (l->traffic[d] == 0)
            continue;
        double inv = 1 / w->bw[d];
        l->g[d] = l->traffic[d] * inv * inv;
        l->r[d] = l->t - l->traffic[d] * inv - s[d];
        l->x[d] = z[d] / s[d];
        x_sum += l->x[d];
    }
    l->x_sum = x_sum;
    double share = 1 / x_sum;
    double xg[D];
    for (int32_t d = 0; d < n; d++) {
        xg[d] = l->x[d] * l->g[d];
        l->h[d] = xg[d] * share;
    }
    for (int32_t d = 0; d < n; d++) {
        double others = 0;
        for (int32_t e = 0; e < n; e++)
            if (e != d)
                others += l->x[e];
        w->k[d][d] += l->h[d] * l->g[d] * others;
        for (int32_t e = 0; e < d; e++)
            w->k[d][e] -= l->h[d] * xg[e];
    }
}

static void add_outer(struct interior *w, double scale, const double *v)
{
    for (int32_t d = 0; d < w->n_dims; d++)
        for (int32_t e = 0; e <= d; e++)
            w->k[d][e] += scale * v[d] * v[e];
}

/* Children were done: combine them, and leave the spread around their mean in K. */
static void add_max(struct interior *w, int32_t j)
{
    const struct step_fn *f = w->problem->step;
    struct interior_max *max = &w->maxima[j];
    max->p = 0;
    for (int32_t d = 0; d < w->n_dims; d++)
        max->f[d] = 0;
    for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++) {
        max->p += w->terms[c].rho;
        for (int32_t d = 0; d < w->n_dims; d++)
            max->f[d] += w->terms[c].rho * w->terms[c].f[d];
    }
    for (int32_t d = 0; d < w->n_dims; d++)
        max->f[d] /= max->p;
    for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++) {
        double apart[D];
        for (int32_t d = 0; d < w->n_dims; d++)
            apart[d] = w->terms[c].f[d] - max->f[d];
        add_outer(w, w->terms[c].rho, apart);
    }
}

static double term_value(const struct interior *w, int32_t k)
{
    const struct step_fn *f = w->problem->step;
    double v = w->terms[k].constant;
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++)
        v += w->leaves[l].t;
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++)
        v += w->maxima[j].u;
    return v;
}

static void add_term(struct interior *w, int32_t k)
{
    const struct step_fn *f = w->problem->step;
    struct interior_term *term = &w->terms[k];
    term->inv = 0;
    for (int32_t d = 0; d < w->n_dims; d++)
        term->f[d] = 0;
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++) {
        add_leaf(w, l);
        term->inv += 1 / w->leaves[l].x_sum;
        for (int32_t d = 0; d < w->n_dims; d++)
            term->f[d] += w->leaves[l].h[d];
    }
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
        double upper = w->maxima[j].u;
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++)
            w->terms[c].r = upper - term_value(w, c) - w->s[w->term_pair + c];
        add_max(w, j);
        term->inv += 1 / w->maxima[j].p;
        for (int32_t d = 0; d < w->n_dims; d++)
            term->f[d] += w->maxima[j].f[d];
    }
    if (k || w->limited) {
        double ratio = w->z[w->term_pair + k] / w->s[w->term_pair + k];
        term->rho = ratio / (1 + ratio * term->inv);
    }
    if (k == 0 && w->limited) {
        term->r = w->limit - term_value(w, 0) - w->s[w->term_pair];
        add_outer(w, term->rho, term->f);
    }
}

static double row_multiplier(const struct interior *w, int32_t i)
{
    return w->rows[i].equality ? w->rows[i].free_p : w->z[w->row_pair + i];
}

/*
 * Second derivative of sum_l z_ld m_ld/B_d. Balanced, pull = push and it is 2 push/B. Away
 * from there 1/B^2 is far from its tangent; this is the slope of the chord to where
 * pull would equal push, B sqrt(pull/push), so that dimension by dimension Newton's
 * step lands there at once. Beyond a factor of three the chord says nothing.
 */
static double chord(double pull, double push, double bw)
{
    double least = (1.0 / 9 + 1.0 / 3) * pull;
    return fmax(push > 0 ? push + sqrt(pull * push) : 0, least) / bw;
}

int32_t interior_count_leaves(const struct interior *w, int32_t d)
{
    int32_t n = 0;
    for (int32_t l = 0; l < w->n_leaves; l++)
        n += w->leaves[l].traffic[d] > 0;
    return n;
}

static void add_curvature(struct interior *w)
{
    double worst = 0, all = 0;
    for (int32_t d = 0; d < w->n_dims; d++) {
        double pull = 0, push = w->price[d];
        for (int32_t l = 0; l < w->n_leaves; l++)
            pull += w->z[l * w->n_dims + d] * w->leaves[l].g[d];
        for (int32_t i = 0; i < w->n_rows; i++)
            push += w->rows[i].a[d] * row_multiplier(w, i);
        if (w->used[d])
            w->k[d][d] +=
                w->mu > 0 ? 2 * pull / w->bw[d] + w->mu * interior_count_leaves(w, d) / (w->bw[d] * w->bw[d])
                          : chord(pull, push, w->bw[d]);
        worst = fmax(worst, fabs(push - pull) * w->bw[d]);
        all += pull * w->bw[d];
    }
    w->imbalance = worst / all;
}

static void add_rows(struct interior *w)
{
    for (int32_t i = 0; i < w->n_rows; i++) {
        struct interior_row *row = &w->rows[i];
        row->r = row->b - vector_dot(row->a, w->bw, w->n_dims);
        if (row->equality)
            continue;
        row->r -= w->s[w->row_pair + i];
        add_outer(w, w->z[w->row_pair + i] / w->s[w->row_pair + i], row->a);
    }
}

/* Lower Cholesky in place; a pivot lost to rounding is replaced by a tiny one, which freezes that direction.
 */
static void cholesky(double *a, int32_t n, int32_t stride)
{
    for (int32_t i = 0; i < n; i++) {
        double *row = a + (ptrdiff_t)i * stride;
        double whole = row[i];
        for (int32_t j = 0; j < i; j++) {
            const double *other = a + (ptrdiff_t)j * stride;
            row[j] = (row[j] - vector_dot(row, other, j)) / other[j];
        }
        double pivot = whole - vector_dot(row, row, i);
        row[i] = sqrt(fmax(pivot, 1e-16 * whole) + 1e-300);
    }
}

static void forward_solve(const double *a, int32_t n, int32_t stride, double *x)
{
    for (int32_t i = 0; i < n; i++)
        x[i] = (x[i] - vector_dot(a + (ptrdiff_t)i * stride, x, i)) / a[(ptrdiff_t)i * stride + i];
}

static void backward_solve(const double *a, int32_t n, int32_t stride, double *x)
{
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t j = i + 1; j < n; j++)
            x[i] -= a[(ptrdiff_t)j * stride + i] * x[j];
        x[i] /= a[(ptrdiff_t)i * stride + i];
    }
}

void interior_factor(struct interior *w)
{
    const int32_t n = w->n_dims, n_eq = w->n_equalities;
    for (int32_t d = 0; d < n; d++)
        for (int32_t e = 0; e < n; e++)
            w->k[d][e] = 0;
    for (int32_t k = w->n_terms - 1; k >= 0; k--)
        add_term(w, k);
    add_curvature(w);
    add_rows(w);
    cholesky(&w->k[0][0], n, D);

    for (int32_t i = 0; i < n_eq; i++) {
        double *through = &w->through[(ptrdiff_t)i * D];
        for (int32_t d = 0; d < n; d++)
            through[d] = w->rows[i].a[d];
        forward_solve(&w->k[0][0], n, D, through);
        for (int32_t j = 0; j <= i; j++)
            w->schur[(ptrdiff_t)i * n_eq + j] = vector_dot(through, &w->through[(ptrdiff_t)j * D], n);
    }
    cholesky(w->schur, n_eq, n_eq);
}

/* What the leaf leaves behind for B once t is expressed through the rest. */
static void leaf_rhs(const struct interior *w, int32_t index, double weight, double *v)
{
    struct interior_leaf *l = &w->leaves[index];
    const double *s = &w->s[interior_leaf_pair(w, index)], *z = &w->z[interior_leaf_pair(w, index)];
    const double *kappa = &w->kappa[interior_leaf_pair(w, index)];
    double e = -weight;
    for (int32_t d = 0; d < w->n_dims; d++) {
        if (l->traffic[d] == 0)
            continue;
        double q = kappa[d] / s[d] - l->x[d] * l->r[d];
        e += z[d] + q;
        v[d] -= l->g[d] * (z[d] + q);
    }
    l->e = e;
    for (int32_t d = 0; d < w->n_dims; d++)
        v[d] += l->h[d] * e;
}

static void term_rhs(struct interior *w, int32_t k, double *v)
{
    const struct step_fn *f = w->problem->step;
    struct interior_term *term = &w->terms[k];
    double weight = interior_weight(w, k);
    term->a = 0;
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++) {
        leaf_rhs(w, l, weight, v);
        term->a += w->leaves[l].e / w->leaves[l].x_sum;
    }
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
        struct interior_max *max = &w->maxima[j];
        max->e = -weight;
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++) {
            max->e += w->z[w->term_pair + c] + w->terms[c].epsilon;
            for (int32_t d = 0; d < w->n_dims; d++)
                v[d] -= w->terms[c].f[d] * w->terms[c].epsilon;
        }
        for (int32_t d = 0; d < w->n_dims; d++)
            v[d] += max->f[d] * max->e;
        term->a += max->e / max->p;
    }
    if (k || w->limited) {
        double s = w->s[w->term_pair + k], ratio = w->z[w->term_pair + k] / s;
        term->epsilon =
            (w->kappa[w->term_pair + k] / s + ratio * (term->a - term->r)) / (1 + ratio * term->inv);
    }
    if (k == 0 && w->limited)
        for (int32_t d = 0; d < w->n_dims; d++)
            v[d] -= term->f[d] * term->epsilon;
}

static void row_rhs(const struct interior *w, double *v)
{
    for (int32_t i = 0; i < w->n_rows; i++) {
        const struct interior_row *row = &w->rows[i];
        double p = row_multiplier(w, i);
        if (!row->equality)
            p += (w->kappa[w->row_pair + i] - p * row->r) / w->s[w->row_pair + i];
        for (int32_t d = 0; d < w->n_dims; d++)
            v[d] += row->a[d] * p;
    }
}

/* d_bw from K d_bw + E^T dp = v, E d_bw = r. */
static void solve_bandwidths(struct interior *w, double *v)
{
    const int32_t n = w->n_dims, n_eq = w->n_equalities;
    forward_solve(&w->k[0][0], n, D, v);
    for (int32_t i = 0; i < n_eq; i++)
        w->schur_rhs[i] = vector_dot(&w->through[(ptrdiff_t)i * D], v, n) - w->rows[i].r;
    forward_solve(w->schur, n_eq, n_eq, w->schur_rhs);
    backward_solve(w->schur, n_eq, n_eq, w->schur_rhs);
    for (int32_t i = 0; i < n_eq; i++) {
        w->rows[i].free_dp = w->schur_rhs[i];
        for (int32_t d = 0; d < n; d++)
            v[d] -= w->schur_rhs[i] * w->through[(ptrdiff_t)i * D + d];
    }
    backward_solve(&w->k[0][0], n, D, v);
    for (int32_t d = 0; d < n; d++)
        w->d_bw[d] = v[d];
}

static void leaf_back(struct interior *w, int32_t index, double d_weight)
{
    struct interior_leaf *l = &w->leaves[index];
    const int32_t first = index * w->n_dims;
    l->dt = (l->e - d_weight) / l->x_sum - vector_dot(l->h, w->d_bw, w->n_dims);
    for (int32_t d = 0; d < w->n_dims; d++) {
        if (l->traffic[d] == 0)
            continue;
        w->ds[first + d] = l->dt + l->g[d] * w->d_bw[d] + l->r[d];
        w->dz[first + d] = w->kappa[first + d] / w->s[first + d] - l->x[d] * w->ds[first + d];
    }
}

static void set_term_step(struct interior *w, int32_t k, double du)
{
    const struct interior_term *term = &w->terms[k];
    const int32_t i = w->term_pair + k;
    w->dz[i] = term->epsilon - term->rho * (du + vector_dot(term->f, w->d_bw, w->n_dims));
    w->ds[i] = (w->kappa[i] - w->s[i] * w->dz[i]) / w->z[i];
}

/* Parents first: the change of a term's weight moves everything below it. */
static void term_back(struct interior *w, int32_t k)
{
    const struct step_fn *f = w->problem->step;
    if (k == 0 && w->limited)
        set_term_step(w, 0, 0);
    double d_weight = k || w->limited ? w->dz[w->term_pair + k] : 0;
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++)
        leaf_back(w, l, d_weight);
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
        struct interior_max *max = &w->maxima[j];
        max->du = (max->e - d_weight) / max->p - vector_dot(max->f, w->d_bw, w->n_dims);
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++)
            set_term_step(w, c, max->du);
    }
}

void interior_direction(struct interior *w)
{
    double v[D];
    for (int32_t d = 0; d < w->n_dims; d++)
        v[d] = w->price[d] - (w->mu > 0 && w->used[d] ? w->mu * interior_count_leaves(w, d) / w->bw[d] : 0);
    for (int32_t k = w->n_terms - 1; k >= 0; k--)
        term_rhs(w, k, v);
    row_rhs(w, v);
    for (int32_t d = 0; d < w->n_dims; d++)
        v[d] = -v[d];
    solve_bandwidths(w, v);
    for (int32_t k = 0; k < w->n_terms; k++)
        term_back(w, k);
    for (int32_t i = 0; i < w->n_rows; i++) {
        const int32_t pair = w->row_pair + i;
        if (w->rows[i].equality)
            continue;
        w->ds[pair] = w->rows[i].r - vector_dot(w->rows[i].a, w->d_bw, w->n_dims);
        w->dz[pair] = (w->kappa[pair] - w->z[pair] * w->ds[pair]) / w->s[pair];
    }
}
