/*
 * Interior-point method for the convex core of the split:
 *    minimise time_weight * T(B) + cost_weight * price.B   subject to rows a.B <= b (or ==) and T(B) <=
 * limit, with T written out as t_l >= traffic_ld / B_d for leaves l, v_k = const + sum of t and u, u_j >= v_k
 * for maxima. Primal-dual with predictor and corrector (Mehrotra 1992). The tree of leaves and terms is
 * eliminated from the bottom up, so a step costs O((leaves + terms) * dims^2) and one Cholesky factor of size
 * dims. Iterates may be infeasible; each is turned into a feasible split and a proved bound, and the best of
 * both is kept. Where that does not converge: a point inside the rows, and from there path following on the
 * barrier with a line search. In order: the Newton system, building, starts, answers and proofs, path
 * following, the method itself.
 */
#include "alloc/interior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/lp.h"
#include "base/work.h"

enum { INTERIOR_DIMS = TOPO_MAX_DIMS };

/** One leaf: constraints traffic_d/B_d <= t. Arrays are of the dimensions with traffic alone, shape [n]; of a
 * plan's step that is often one. */
struct interior_leaf {
    int32_t n, pair; /* its first pair */
    int32_t dim[INTERIOR_DIMS];
    double traffic[INTERIOR_DIMS];
    double t, dt, lift; /* lift = rise of t above t + dt in the last trial */
    /* Newton system: x = z/s, g = traffic/B^2, r = residual, h = x*g/x_sum. */
    double x[INTERIOR_DIMS], g[INTERIOR_DIMS], r[INTERIOR_DIMS], h[INTERIOR_DIMS];
    double x_sum, e;
};

/** One term: its value v <= u of its maximum; term 0 has such a bound only with a limit on T. */
struct interior_term {
    double constant, value, r;
    /* dv = a - inv*dy - f.dB, after everything below was eliminated. */
    double a, inv, f[INTERIOR_DIMS];
    double rho, epsilon; /* dy = epsilon - rho*(du + f.dB) */
};

/** One maximum: its value u. */
struct interior_max {
    double u, du, lift;
    double p, e, f[INTERIOR_DIMS];
};

/** One row a.B <= b or a.B == b. Equalities are made orthonormal, so that near-parallel ones do no harm. */
struct interior_row {
    double a[INTERIOR_DIMS], b, r;
    bool equality;
    int32_t source;         /* row of the problem; -1-d = B_d >= 0, of a dimension without traffic */
    double sign;            /* -1 where the problem's row was >= */
    double scale;           /* this row = sign * scale * the problem's */
    double free_p, free_dp; /* multiplier of an equality; others have theirs among the pairs */
};

/**
 * The scaled problem and its iterate. Every inequality is a pair of a slack s
 * and a multiplier z with product near mu: first the leaves' (leaf l, its
 * dimension q at l.pair + q), then the terms', then the rows'. Pairs that stand
 * for nothing (term 0 without a limit, equality rows) keep s = 1 and z = 0, so
 * that loops over pairs need no exceptions.
 */
struct interior {
    const struct alloc_problem *problem;
    int32_t n_dims, n_leaves, n_terms, n_maxima, n_rows, n_equalities;
    struct interior_leaf *leaves;
    struct interior_term *terms;
    struct interior_max *maxima;
    struct interior_row *rows; /* equalities first; from n_rows to n_listed those that follow from them */
    int32_t n_listed;
    struct basis basis; /* of the equalities: the problem's, scaled, from the orthonormal ones */
    bool limited;       /* term 0 has a limit, and its multiplier is the weight of T */
    double limit;
    bool used[INTERIOR_DIMS]; /* some leaf has traffic there */
    double bw[INTERIOR_DIMS], d_bw[INTERIOR_DIMS], price[INTERIOR_DIMS];
    double bw_unit_Bps, time_unit_s, value_unit; /* scaled 1 = so much */
    struct interior_ask ask;

    double *pairs;                                /* owned: memory of the six arrays */
    double *s, *z, *ds, *dz, *kappa, *trial_s;    /* shape [n_pairs]; kappa = wanted s*dz + z*ds */
    int32_t n_pairs, n_real, term_pair, row_pair; /* n_real stand for something; first of terms, rows */

    /* Newton matrix for dB, factored; equality rows through it. */
    double k[INTERIOR_DIMS][INTERIOR_DIMS];
    double *through;   /* shape [n_equalities][INTERIOR_DIMS]: L^-1 of each equality row */
    double *schur;     /* shape [n_equalities][n_equalities], factored */
    double *schur_rhs; /* shape [n_equalities] */

    double time_weight; /* of the objective, scaled: 1 minus the share of money in it at the start */
    double mu;          /* of the barrier while its path is followed; 0 otherwise */
    bool inside_known;  /* it was looked for */
    bool from_inside;   /* the start is inside, not a guess */
    struct alloc_inside inside;
    double imbalance; /* largest |push - pull| * B over dimensions, as a share of sum pull * B */
    double *trial_p;  /* shape [n_listed]: multipliers of the rows to try in a proof */
    struct alloc_bound proof, trial; /* best of the last solve; room for the next candidate */
};

/** Weight of term @p k: what the objective gains per second of it. */
static inline double interior_weight(const struct interior *w, int32_t k)
{
    return k || w->limited ? w->z[w->term_pair + k] : w->time_weight;
}

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
    struct interior_leaf *l = &w->leaves[index];
    const double *s = &w->s[l->pair], *z = &w->z[l->pair];
    double x_sum = 0;
    for (int32_t q = 0; q < l->n; q++) {
        double inv = 1 / w->bw[l->dim[q]];
        l->g[q] = l->traffic[q] * inv * inv;
        l->r[q] = l->t - l->traffic[q] * inv - s[q];
        l->x[q] = z[q] / s[q];
        x_sum += l->x[q];
    }
    l->x_sum = x_sum;
    double share = 1 / x_sum;
    double xg[D];
    for (int32_t q = 0; q < l->n; q++) {
        xg[q] = l->x[q] * l->g[q];
        l->h[q] = xg[q] * share;
    }
    for (int32_t q = 0; q < l->n && l->n > 1; q++) {
        double others = 0, *row = w->k[l->dim[q]];
        for (int32_t e = 0; e < l->n; e++)
            if (e != q)
                others += l->x[e];
        row[l->dim[q]] += l->h[q] * l->g[q] * others;
        for (int32_t e = 0; e < q; e++)
            row[l->dim[e]] -= l->h[q] * xg[e];
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

/* Eliminates a term and everything below it: after this only the bandwidths are left in the system, with the
 * sum of all terms' contributions in the matrix. */
static void add_term(struct interior *w, int32_t k)
{
    const struct step_fn *f = w->problem->step;
    struct interior_term *term = &w->terms[k];
    term->inv = 0;
    for (int32_t d = 0; d < w->n_dims; d++)
        term->f[d] = 0;
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++) {
        add_leaf(w, l);
        const struct interior_leaf *leaf = &w->leaves[l];
        term->inv += 1 / leaf->x_sum;
        for (int32_t q = 0; q < leaf->n; q++)
            term->f[leaf->dim[q]] += leaf->h[q];
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

/* Leaves with traffic in dimension d. */
static int32_t interior_count_leaves(const struct interior *w, int32_t d)
{
    const double *traffic_B = w->problem->step->traffic_B;
    int32_t n = 0;
    for (int32_t l = 0; l < w->n_leaves; l++)
        n += traffic_B[(ptrdiff_t)l * D + d] > 0;
    return n;
}

/* Second derivatives of traffic / B on the diagonal: those of the barrier, or near the end those of the
 * chord, which keep steps honest where a leaf is almost inactive. Also measures how far stationarity is off.
 */
static void add_curvature(struct interior *w)
{
    double worst = 0, all = 0, pulls[D] = { 0 };
    for (int32_t l = 0; l < w->n_leaves; l++) {
        const struct interior_leaf *leaf = &w->leaves[l];
        for (int32_t q = 0; q < leaf->n; q++)
            pulls[leaf->dim[q]] += w->z[leaf->pair + q] * leaf->g[q];
    }
    for (int32_t d = 0; d < w->n_dims; d++) {
        double pull = pulls[d], push = w->price[d];
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

static void newton_add_rows(struct interior *w)
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

/* Build and factor the Newton matrix at the current iterate; also computes all residuals. */
static void interior_factor(struct interior *w)
{
    const int32_t n = w->n_dims, n_eq = w->n_equalities;
    for (int32_t d = 0; d < n; d++)
        for (int32_t e = 0; e < n; e++)
            w->k[d][e] = 0;
    for (int32_t k = w->n_terms - 1; k >= 0; k--)
        add_term(w, k);
    add_curvature(w);
    newton_add_rows(w);
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
    const double *s = &w->s[l->pair], *z = &w->z[l->pair], *kappa = &w->kappa[l->pair];
    double e = -weight;
    for (int32_t q = 0; q < l->n; q++) {
        double more = kappa[q] / s[q] - l->x[q] * l->r[q];
        e += z[q] + more;
        v[l->dim[q]] -= l->g[q] * (z[q] + more);
    }
    l->e = e;
    for (int32_t q = 0; q < l->n; q++)
        v[l->dim[q]] += l->h[q] * e;
}

/* The right-hand side of the same elimination. */
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

/* Back substitution: from the step in bandwidths to those of slacks and multipliers of a leaf. */
static void leaf_back(struct interior *w, int32_t index, double d_weight)
{
    struct interior_leaf *l = &w->leaves[index];
    double moved = 0;
    for (int32_t q = 0; q < l->n; q++)
        moved += l->h[q] * w->d_bw[l->dim[q]];
    l->dt = (l->e - d_weight) / l->x_sum - moved;
    for (int32_t q = 0; q < l->n; q++) {
        const int32_t i = l->pair + q;
        w->ds[i] = l->dt + l->g[q] * w->d_bw[l->dim[q]] + l->r[q];
        w->dz[i] = w->kappa[i] / w->s[i] - l->x[q] * w->ds[i];
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

/* Solve for the direction with the kappas now set; fills d_bw, dt, du, ds, dz, dy, dp. */
static void interior_direction(struct interior *w)
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

/* NULL is legal. */
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

static void interior_add_row(struct interior *w, int32_t at, int32_t source, bool equality)
{
    bool flip = source >= 0 && w->problem->rows[source].sense == LINEXPR_GE;
    w->rows[at] = (struct interior_row){ .equality = equality, .source = source, .sign = flip ? -1 : 1 };
}

static bool interior_is_listed(const struct interior *w, int32_t source)
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
            interior_add_row(w, n++, i, true);
    w->n_equalities = n;
    for (int32_t i = 0; i < p->n_rows; i++)
        if (p->rows[i].sense != LINEXPR_EQ && !(implied && implied[i]) &&
            vector_largest(p->rows[i].coef, w->n_dims) > 0)
            interior_add_row(w, n++, i, false);
    for (int32_t d = 0; d < w->n_dims; d++)
        if (!(w->used[d] = alloc_carries_traffic(p->step, d)))
            interior_add_row(w, n++, -1 - d, false);
    w->n_rows = n;
    for (int32_t i = 0; i < p->n_rows; i++)
        if ((p->rows[i].sense == LINEXPR_EQ || (implied && implied[i])) && !interior_is_listed(w, i) &&
            vector_largest(p->rows[i].coef, w->n_dims) > 0)
            interior_add_row(w, n++, i, true);
    w->n_listed = n;
}

/* Slacks and multipliers of leaves, terms and rows lie in one array each, in this order. */
static void lay_out_pairs(struct interior *w, size_t cap)
{
    w->s = w->pairs;
    w->z = w->s + cap;
    w->ds = w->z + cap;
    w->dz = w->ds + cap;
    w->kappa = w->dz + cap;
    w->trial_s = w->kappa + cap;
    w->term_pair = 0;
    for (int32_t l = 0; l < w->n_leaves; l++) {
        struct interior_leaf *leaf = &w->leaves[l];
        leaf->pair = w->term_pair;
        for (int32_t d = 0; d < w->n_dims; d++)
            if (w->problem->step->traffic_B[(ptrdiff_t)l * D + d] > 0)
                leaf->dim[leaf->n++] = d;
        w->term_pair += leaf->n;
    }
    w->row_pair = w->term_pair + w->n_terms;
    w->n_pairs = w->row_pair + w->n_rows;
}

/* Sizes depend on the problem alone, so one workspace serves all solves of a curve. */
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

/* Communication alone at B: the part of T that bandwidth decides, from above. */
static double comm_time(const struct step_fn *f, const double *bw_Bps)
{
    double sum = 0;
    for (int32_t l = 0; l < f->n_leaves; l++) {
        double t = 0;
        for (int32_t d = 0; d < f->n_dims; d++) {
            double traffic = f->traffic_B[(ptrdiff_t)l * D + d];
            if (traffic > 0)
                t = fmax(t, traffic / bw_Bps[d]);
        }
        sum += t;
    }
    return sum;
}

/*
 * A start of the right order of magnitude. The optimum has B_d = sqrt(a_d/q_d), with
 * a_d the traffic that binds there and q_d the price of a byte per second; take
 * every dimension as equally likely to bind, and as price the money plus each row's
 * coefficient at @p row_s seconds for using the row up.
 */
static void guess_shape(const struct interior *w, double row_s, double *bw_Bps)
{
    const struct alloc_problem *p = w->problem;
    double pull[D] = { 0 }, push[D] = { 0 }, least_push = INFINITY, least = INFINITY;
    for (int32_t l = 0; l < w->n_leaves; l++)
        for (int32_t d = 0; d < w->n_dims; d++)
            pull[d] += p->step->traffic_B[(ptrdiff_t)l * D + d];
    for (int32_t d = 0; d < w->n_dims; d++) {
        push[d] = w->ask.cost_weight * p->usd_per_Bps[d];
        for (int32_t i = 0; i < p->n_rows; i++)
            if (p->rows[i].sense != LINEXPR_GE && p->rows[i].coef[d] > 0 && p->rows[i].rhs > 0)
                push[d] += row_s * p->rows[i].coef[d] / p->rows[i].rhs;
        if (push[d] > 0)
            least_push = fmin(least_push, push[d]);
    }
    for (int32_t d = 0; d < w->n_dims; d++) {
        if (push[d] == 0)
            push[d] = isfinite(least_push) ? least_push : 1;
        bw_Bps[d] = sqrt(pull[d] / push[d]);
        if (bw_Bps[d] > 0)
            least = fmin(least, bw_Bps[d]);
    }
    for (int32_t d = 0; d < w->n_dims; d++)
        if (bw_Bps[d] == 0)
            bw_Bps[d] = isfinite(least) ? least : 1;
}

static void guess_scale(const struct interior *w, double *bw_Bps)
{
    const struct alloc_problem *p = w->problem;
    double scale = INFINITY, time_s = comm_time(p->step, bw_Bps);
    bool fixed = false;
    for (int32_t i = 0; i < p->n_rows; i++) {
        double sum = vector_dot(p->rows[i].coef, bw_Bps, w->n_dims);
        if (p->rows[i].sense != LINEXPR_GE && sum > 0 && p->rows[i].rhs > 0)
            scale = fmin(scale, 0.9 * p->rows[i].rhs / sum);
        fixed = fixed || (p->rows[i].sense == LINEXPR_EQ && isfinite(scale));
    }
    double usd = vector_dot(p->usd_per_Bps, bw_Bps, w->n_dims) * w->ask.cost_weight;
    if (w->limited && w->ask.limit_s > p->step->const_s[0])
        scale = fmin(scale, time_s / (w->ask.limit_s - p->step->const_s[0]));
    else if (!fixed && usd > 0 && w->ask.time_weight > 0 && time_s > 0)
        scale = fmin(scale, sqrt(w->ask.time_weight * time_s / usd));
    if (isfinite(scale) && scale > 0)
        for (int32_t d = 0; d < w->n_dims; d++)
            bw_Bps[d] *= scale;
}

/* Coefficient of dimension d in listed row i, before equalities are made orthonormal. */
static double interior_scaled_coef(const struct interior *w, int32_t i, int32_t d)
{
    const struct interior_row *row = &w->rows[i];
    if (row->source < 0)
        return d == -1 - row->source ? -1 : 0;
    return row->sign * row->scale * w->problem->rows[row->source].coef[d] * w->bw_unit_Bps;
}

/* Orthonormal rows that say the same. From inside, the start satisfies them to rounding, and they are its. */
static void straighten_equalities(struct interior *w)
{
    double c[D];
    w->basis = (struct basis){ .n_dims = w->n_dims };
    for (int32_t k = 0; k < w->n_equalities; k++) {
        struct interior_row *row = &w->rows[k];
        basis_add(&w->basis, row->a);
        c[k] = (row->b - vector_dot(w->basis.r[k], c, k)) / w->basis.r[k][k];
        memcpy(row->a, w->basis.q[k], sizeof row->a);
        row->b = w->from_inside ? vector_dot(row->a, w->bw, w->n_dims) : c[k];
    }
}

static void scale_rows(struct interior *w)
{
    for (int32_t i = 0; i < w->n_listed; i++) {
        struct interior_row *row = &w->rows[i];
        if (row->source >= 0) {
            const struct alloc_row *from = &w->problem->rows[row->source];
            row->scale = 1 / (vector_largest(from->coef, w->n_dims) * w->bw_unit_Bps);
            row->b = row->sign * row->scale * from->rhs;
        }
        for (int32_t d = 0; d < w->n_dims; d++)
            row->a[d] = interior_scaled_coef(w, i, d);
    }
    straighten_equalities(w);
}

/* The same with a start that is known.
 * Units in which the start is 1: bandwidth, seconds, objective. */
static void interior_set_units(struct interior *w, const double *bw_Bps)
{
    const struct alloc_problem *p = w->problem;
    w->bw_unit_Bps = vector_largest(bw_Bps, w->n_dims);
    w->time_unit_s = comm_time(p->step, bw_Bps);
    double usd = w->ask.cost_weight * vector_dot(p->usd_per_Bps, bw_Bps, w->n_dims);
    w->value_unit = w->ask.time_weight * w->time_unit_s + usd;
    for (int32_t d = 0; d < w->n_dims; d++) {
        w->bw[d] = bw_Bps[d] / w->bw_unit_Bps;
        w->price[d] = w->ask.cost_weight * p->usd_per_Bps[d] * w->bw_unit_Bps / w->value_unit;
    }
    double traffic_unit = w->bw_unit_Bps * w->time_unit_s;
    for (int32_t l = 0; l < w->n_leaves; l++) {
        struct interior_leaf *leaf = &w->leaves[l];
        for (int32_t q = 0; q < leaf->n; q++)
            leaf->traffic[q] = p->step->traffic_B[(ptrdiff_t)l * D + leaf->dim[q]] / traffic_unit;
    }
    for (int32_t k = 0; k < w->n_terms; k++)
        w->terms[k].constant = p->step->const_s[k] / w->time_unit_s;
    w->time_weight = w->ask.time_weight * w->time_unit_s / w->value_unit;
    w->limit = w->ask.limit_s / w->time_unit_s;
    scale_rows(w);
}

/* Units in which a start of the right order of magnitude is 1, and that start for the bandwidths. */
static void interior_scale(struct interior *w)
{
    const struct alloc_problem *p = w->problem;
    double bw_Bps[D] = { 0 };
    guess_shape(w, w->ask.time_weight > 0 ? w->ask.time_weight : 1, bw_Bps);
    guess_scale(w, bw_Bps);
    if (w->ask.cost_weight > 0 && w->ask.time_weight > 0) { /* now seconds and money compare */
        guess_shape(w, w->ask.time_weight * comm_time(p->step, bw_Bps), bw_Bps);
        guess_scale(w, bw_Bps);
    }
    interior_set_units(w, bw_Bps);
}

/* Shares of the leaf's weight, and slacks well inside, for the bandwidths guessed. */
static void start_leaf(struct interior *w, int32_t index, double weight)
{
    struct interior_leaf *leaf = &w->leaves[index];
    double most = 0;
    for (int32_t q = 0; q < leaf->n; q++)
        most = fmax(most, leaf->traffic[q] / w->bw[leaf->dim[q]]);
    leaf->t = 1.2 * most;
    for (int32_t q = 0; q < leaf->n; q++) {
        w->s[leaf->pair + q] = leaf->t - leaf->traffic[q] / w->bw[leaf->dim[q]];
        w->z[leaf->pair + q] = weight / leaf->n;
    }
}

/* Weights go from the root down; values, returned, from the leaves up. */
static double start_term(struct interior *w, int32_t k, double weight)
{
    const struct step_fn *f = w->problem->step;
    double value = w->terms[k].constant;
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++) {
        start_leaf(w, l, weight);
        value += w->leaves[l].t;
    }
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
        double *s = &w->s[w->term_pair], *y = &w->z[w->term_pair], most = 0;
        int32_t begin = f->term_begin[j], end = f->term_begin[j + 1];
        for (int32_t c = begin; c < end; c++) {
            y[c] = weight / (end - begin);
            s[c] = start_term(w, c, y[c]);
            most = fmax(most, s[c]);
        }
        w->maxima[j].u = 1.1 * most + 1e-3;
        for (int32_t c = begin; c < end; c++)
            s[c] = w->maxima[j].u - s[c];
        value += w->maxima[j].u;
    }
    return value;
}

/* A start inside the rows keeps its place; a guess is told it has room. */
static double least_room(const struct interior *w, double room)
{
    return w->from_inside && room > 0 ? room : fmax(room, 0.05);
}

/* Slacks and multipliers for those bandwidths, all well inside. */
static void interior_start(struct interior *w)
{
    for (int32_t i = 0; i < w->n_pairs; i++) {
        w->s[i] = 1;
        w->z[i] = w->ds[i] = w->dz[i] = 0;
    }
    w->z[w->term_pair] = w->limited;
    double value = start_term(w, 0, interior_weight(w, 0)), product = 0;
    if (w->limited)
        w->s[w->term_pair] = fmax(w->limit - value, 0.1);
    int32_t n = 0;
    for (int32_t i = 0; i < w->row_pair; i++) {
        product += w->s[i] * w->z[i];
        n += w->z[i] > 0;
    }
    for (int32_t i = 0; i < w->n_rows; i++) {
        struct interior_row *row = &w->rows[i];
        row->free_p = row->free_dp = 0;
        if (row->equality)
            continue;
        double room = row->b - vector_dot(row->a, w->bw, w->n_dims);
        w->s[w->row_pair + i] = least_room(w, room);
        w->z[w->row_pair + i] = product / (n * least_room(w, room));
        n++;
        product += product / (n - 1);
    }
    w->n_real = n;
}

/* Three digits better than ALLOC_GAP asks. */
#define CONVERGED_REL 1e-12

/* A limit on T and rows that bind together leave this much play. */
#define LIMIT_REL 1e-12

/* Not so for an inequality that is only treated as an equality, because it leaves no room. */
static bool has_free_multiplier(const struct interior *w, int32_t i)
{
    return w->rows[i].source >= 0 && w->problem->rows[w->rows[i].source].sense == LINEXPR_EQ;
}

/* Multipliers from scaled units to seconds, bytes and dollars. */
static void unscale_proof(const struct interior *w, struct alloc_bound *b)
{
    double per_second = w->value_unit / w->time_unit_s;
    b->time_weight = w->limited ? w->z[w->term_pair] * per_second : w->ask.time_weight;
    b->cost_weight = w->ask.cost_weight;
    for (int32_t l = 0; l < w->n_leaves; l++) {
        const struct interior_leaf *leaf = &w->leaves[l];
        for (int32_t d = 0; d < w->n_dims; d++)
            b->leaf_dual[l * D + d] = 0;
        for (int32_t q = 0; q < leaf->n; q++)
            b->leaf_dual[l * D + leaf->dim[q]] = w->z[leaf->pair + q] * per_second;
    }
    for (int32_t k = 0; k < w->n_terms; k++)
        b->term_weight[k] = w->z[w->term_pair + k] * per_second;
    for (int32_t i = 0; i < w->problem->n_rows; i++)
        b->row_dual[i] = 0;
    for (int32_t i = 0; i < w->n_listed; i++) {
        const struct interior_row *row = &w->rows[i];
        if (row->source >= 0)
            b->row_dual[row->source] = (has_free_multiplier(w, i) ? w->trial_p[i] : fmax(w->trial_p[i], 0)) *
                                       w->value_unit * row->scale;
    }
    alloc_bound_balance(b, w->problem);
    b->value = alloc_bound_value(b, w->problem);
}

/* Scale all bandwidths up by what T is over its limit: communication falls at least as fast. */
static void meet_limit(const struct interior *w, double *bw_Bps)
{
    const struct step_fn *f = w->problem->step;
    for (int pass = 0; pass < 3; pass++) {
        double over = step_time(f, bw_Bps) - w->ask.limit_s;
        if (!(over > 0))
            return;
        double grow = 1 + over / fmax(w->ask.limit_s - f->const_s[0], over) + 2e-16;
        for (int32_t d = 0; d < w->n_dims; d++)
            bw_Bps[d] *= grow;
    }
}

static void take_split(struct interior *w, struct interior_result *best)
{
    const struct alloc_problem *p = w->problem;
    double bw_Bps[D] = { 0 };
    for (int32_t d = 0; d < w->n_dims; d++)
        bw_Bps[d] = w->bw[d] * w->bw_unit_Bps;
    if (w->limited)
        meet_limit(w, bw_Bps);
    if (!alloc_repair(p, bw_Bps))
        return;
    double time_s = step_time(p->step, bw_Bps), cost_usd = vector_dot(p->usd_per_Bps, bw_Bps, w->n_dims);
    double value = w->ask.time_weight * time_s + w->ask.cost_weight * cost_usd;
    if (!(value < best->value) || time_s > w->ask.limit_s * (1 + LIMIT_REL))
        return;
    best->value = value;
    best->time_s = time_s;
    best->cost_usd = cost_usd;
    memcpy(best->bw_Bps, bw_Bps, sizeof bw_Bps);
}

/* Rows nearer than this to binding, or with a multiplier above their slack, may carry a proof. */
#define NEARLY_BINDING 1e-7

static bool may_bind(const struct interior *w, int32_t i)
{
    if (w->rows[i].equality)
        return true;
    double s = w->s[w->row_pair + i];
    return w->z[w->row_pair + i] > s || s < NEARLY_BINDING;
}

/*
 * Where nearly as many rows bind as there are dimensions, or one follows from others, their
 * multipliers come out of the Newton system with few digits. The leaves' and the split are sharp, so find
 * the rows' again from balance, sum_i p_i a_id B_d = a_d/B_d - price_d B_d.
 */
static void sharpen_rows(struct interior *w, const double *bw)
{
    double rest[BASIS_DIMS], columns[BASIS_MAX_COLUMNS][BASIS_DIMS], p[BASIS_MAX_COLUMNS];
    bool is_free[BASIS_MAX_COLUMNS] = { false };
    int32_t active[BASIS_MAX_COLUMNS] = { 0 }, n = 0;
    for (int32_t d = 0; d < w->n_dims; d++)
        rest[d] = -w->price[d] * bw[d];
    for (int32_t l = 0; l < w->n_leaves; l++) {
        const struct interior_leaf *leaf = &w->leaves[l];
        for (int32_t q = 0; q < leaf->n; q++)
            rest[leaf->dim[q]] += w->z[leaf->pair + q] * leaf->traffic[q] / bw[leaf->dim[q]];
    }
    for (int32_t i = 0; i < w->n_listed; i++) {
        w->trial_p[i] = 0;
        if (n == BASIS_MAX_COLUMNS || !may_bind(w, i))
            continue;
        for (int32_t d = 0; d < w->n_dims; d++)
            columns[n][d] = interior_scaled_coef(w, i, d) * bw[d];
        is_free[n] = has_free_multiplier(w, i);
        active[n++] = i;
    }
    basis_fit(p, (const double(*)[BASIS_DIMS])columns, is_free, n, w->n_dims, rest);
    for (int32_t i = 0; i < n; i++)
        w->trial_p[active[i]] = p[i];
}

/* Multipliers as the iterate has them; those of the equalities from the orthonormal rows back. */
static void set_trial_rows(struct interior *w)
{
    const struct basis *basis = &w->basis;
    for (int32_t k = w->n_equalities - 1; k >= 0; k--) {
        double p = w->rows[k].free_p;
        for (int32_t j = k + 1; j < w->n_equalities; j++)
            p -= w->trial_p[j] * basis->r[j][k];
        w->trial_p[k] = p / basis->r[k][k];
    }
    for (int32_t i = w->n_equalities; i < w->n_listed; i++)
        w->trial_p[i] = i < w->n_rows ? w->z[w->row_pair + i] : 0;
}

static void take_proof(struct interior *w, struct interior_result *best)
{
    unscale_proof(w, &w->trial);
    double bound = w->trial.value;
    if (w->limited)
        bound -= w->trial.time_weight * w->ask.limit_s;
    if (!(bound > best->bound))
        return;
    best->bound = bound;
    struct alloc_bound swap = w->proof;
    w->proof = w->trial;
    w->trial = swap;
}

static bool is_converged(const struct interior *w, const struct interior_result *r)
{
    return isfinite(r->value) && r->value - r->bound <= CONVERGED_REL * fmax(w->value_unit, fabs(r->value));
}

/* Turn the iterate into a split, feasible to rounding, and a proof; keep each where it betters best.
 * Any B that satisfies the rows is an answer and any multipliers are a proof, whatever
 * iterate they come from: keep the best of each. Near the end rounding makes
 * iterates worse again, and the best split and the best proof may not come together. */
static void interior_take(struct interior *w, struct interior_result *best)
{
    take_split(w, best);
    set_trial_rows(w);
    take_proof(w, best);
    best->converged = is_converged(w, best);
    if (!best->converged && w->n_rows) {
        double bw[D];
        for (int32_t d = 0; d < w->n_dims; d++)
            bw[d] = isfinite(best->value) ? best->bw_Bps[d] / w->bw_unit_Bps : w->bw[d];
        sharpen_rows(w, bw);
        take_proof(w, best);
        best->converged = is_converged(w, best);
    }
}

enum { MAX_CENTRE = 40, MAX_HALVINGS = 34 };

/* mu falls by this factor from one centre to the next. */
#define REDUCE 0.1

/* A Newton decrement below which full steps converge quadratically (Nesterov and Nemirovskii, 1994). */
#define QUADRATIC 0.25

/* Share of the complementarity at which the centre is worth a look, and where digits end. */
#define WORTH_TAKING 1e-7
#define LEAST_MU     1e-16

/* Multipliers may be this much above or below mu/s. */
#define INTERIOR_PATH_MAX_LEAD 1e8

/* Whatever the multipliers, the step is downhill for the barrier; but only near mu/s is it Newton's. */
static void set_multipliers(struct interior *w)
{
    for (int32_t i = 0; i < w->n_pairs; i++)
        if (w->z[i] > 0) {
            double z = w->mu / w->s[i];
            w->z[i] = fmin(fmax(w->z[i], z / INTERIOR_PATH_MAX_LEAD), z * INTERIOR_PATH_MAX_LEAD);
            w->kappa[i] = w->mu - w->s[i] * w->z[i];
        }
}

/* Length of the Newton step as the barrier measures it; below 1 it stays inside. */
static double decrement(const struct interior *w)
{
    double sum = 0;
    for (int32_t i = 0; i < w->n_pairs; i++)
        if (w->z[i] > 0)
            sum += w->ds[i] / w->s[i] * (w->ds[i] / w->s[i]);
    for (int32_t l = 0; l < w->n_leaves; l++) {
        const struct interior_leaf *leaf = &w->leaves[l];
        for (int32_t q = 0; q < leaf->n; q++) {
            const int32_t d = leaf->dim[q];
            double change = w->d_bw[d] / w->bw[d], used = leaf->traffic[q] / w->bw[d];
            sum += (1 + 2 * used / w->s[leaf->pair + q]) * change * change;
        }
    }
    return sqrt(sum);
}

/*
 * The point a step leads to, its slacks in w->trial_s. m/B lies above its tangent by
 * m/(B + dB) (dB/B)^2; times rise by that much, so that the linear prediction of slacks stays true and
 * long steps along a curved border stay open. Returns how far the term's value rises above the linear one.
 */
static double try_leaf(struct interior *w, int32_t index, double step, bool raise)
{
    struct interior_leaf *leaf = &w->leaves[index];
    double above[D];
    leaf->lift = 0;
    for (int32_t q = 0; q < leaf->n; q++) {
        const int32_t d = leaf->dim[q];
        double change = step * w->d_bw[d] / w->bw[d];
        above[q] = leaf->traffic[q] / w->bw[d] * change * change / (1 + change);
        if (raise)
            leaf->lift = fmax(leaf->lift, above[q]);
    }
    for (int32_t q = 0; q < leaf->n; q++) {
        const int32_t i = leaf->pair + q;
        w->trial_s[i] = w->s[i] + step * w->ds[i] + leaf->lift - above[q];
    }
    return leaf->lift;
}

static double try_term(struct interior *w, int32_t k, double step, bool raise)
{
    const struct step_fn *f = w->problem->step;
    double above = 0;
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++)
        above += try_leaf(w, l, step, raise);
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
        double *s = &w->trial_s[w->term_pair], lift = 0;
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++) {
            double child = try_term(w, c, step, raise);
            s[c] = w->s[w->term_pair + c] + step * w->ds[w->term_pair + c] - child;
            lift = fmax(lift, child);
        }
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++)
            s[c] += lift;
        w->maxima[j].lift = lift;
        above += lift;
    }
    return above;
}

/* Change of the term 0's value, in which leaves and maxima move by @p step of their direction. */
static double value_change(const struct interior *w, double step)
{
    const struct step_fn *f = w->problem->step;
    double change = 0;
    for (int32_t l = f->leaf_begin[0]; l < f->leaf_begin[1]; l++)
        change += step * w->leaves[l].dt;
    for (int32_t j = f->max_begin[0]; j < f->max_begin[1]; j++)
        change += step * w->maxima[j].du;
    return change;
}

/* Change of the barrier, in units of mu; not finite outside. By parts: the whole is too large to subtract. */
static double barrier_change(struct interior *w, double step, bool raise)
{
    double above = try_term(w, 0, step, raise), linear = 0, logs = 0;
    w->trial_s[w->term_pair] = w->s[w->term_pair] + step * w->ds[w->term_pair] - (w->limited ? above : 0);
    if (!w->limited)
        linear = w->time_weight * (value_change(w, step) + above);
    for (int32_t i = w->row_pair; i < w->n_pairs; i++)
        w->trial_s[i] = w->s[i] + step * w->ds[i];
    for (int32_t d = 0; d < w->n_dims; d++) {
        linear += w->price[d] * step * w->d_bw[d];
        if (w->used[d])
            logs += interior_count_leaves(w, d) * log(1 + step * w->d_bw[d] / w->bw[d]);
    }
    for (int32_t i = 0; i < w->n_pairs; i++)
        if (w->z[i] > 0)
            logs += log(w->trial_s[i] / w->s[i]);
    return linear / w->mu - logs;
}

/*
 * Longest of 1, 1/2, 1/4, ... that lowers the barrier, with times raised or not, whichever lowers it more.
 * Near the centre the change is below rounding, and a full step that stays inside is right. 0 when
 * there is no such step: the digits are used up.
 */
static double interior_find_step(struct interior *w, double lambda)
{
    for (int32_t halvings = 0; halvings < MAX_HALVINGS; halvings++) {
        double step = ldexp(1, -halvings);
        double flat = barrier_change(w, step, false), raised = barrier_change(w, step, true);
        if (!(flat < 0 || raised < 0) && !(lambda <= QUADRATIC && (isfinite(flat) || isfinite(raised))))
            continue;
        if (flat <= raised || !isfinite(raised))
            barrier_change(w, step, false);
        return step;
    }
    return 0;
}

/* Go where the last trial was. */
static void step_primal(struct interior *w, double step)
{
    memcpy(w->s, w->trial_s, (size_t)w->n_pairs * sizeof *w->s);
    for (int32_t l = 0; l < w->n_leaves; l++)
        w->leaves[l].t += step * w->leaves[l].dt + w->leaves[l].lift;
    for (int32_t j = 0; j < w->n_maxima; j++)
        w->maxima[j].u += step * w->maxima[j].du + w->maxima[j].lift;
    for (int32_t d = 0; d < w->n_dims; d++)
        w->bw[d] += step * w->d_bw[d];
    for (int32_t i = 0; i < w->n_equalities; i++)
        w->rows[i].free_p += step * w->rows[i].free_dp;
}

/* How far v + step*dv stays positive; shape [n]. */
static double interior_step_to_zero(const double *v, const double *dv, int32_t n)
{
    double fastest = 1e-300; /* largest relative fall */
    for (int32_t i = 0; i < n; i++)
        if (-dv[i] > fastest * v[i])
            fastest = -dv[i] / v[i];
    return 1 / fastest;
}

/* Newton's method on the barrier for the current mu. */
static void centre(struct interior *w, struct interior_result *best)
{
    double lambda = INFINITY;
    for (int32_t i = 0; i < MAX_CENTRE && lambda > QUADRATIC / 4; i++) {
        set_multipliers(w);
        interior_factor(w);
        interior_direction(w);
        lambda = decrement(w);
        best->iterations++;
        if (!isfinite(lambda))
            return;
        double step = interior_find_step(w, lambda);
        if (step == 0)
            return;
        step_primal(w, step);
        double dual = fmin(0.99 * interior_step_to_zero(w->z, w->dz, w->n_pairs), 1);
        for (int32_t k = 0; k < w->n_pairs; k++)
            w->z[k] += dual * w->dz[k];
    }
}

/* Multipliers of one size for all pairs: where the objective has just changed, the old ones mean nothing. */
static void set_mu(struct interior *w, double mu)
{
    w->mu = mu;
    for (int32_t i = 0; i < w->n_pairs; i++)
        if (w->z[i] > 0)
            w->z[i] = mu / w->s[i];
}

/* Primal path following from where interior_start() is: slow and sure. */
static void interior_follow_path(struct interior *w, struct interior_result *best)
{
    set_mu(w, 1);
    while (w->mu * w->n_real > LEAST_MU && !best->converged && !work_stopped()) {
        centre(w, best);
        if (w->mu * w->n_real < WORTH_TAKING)
            interior_take(w, best);
        w->mu *= REDUCE;
    }
    w->mu = 0;
}

enum { MAX_ITERATIONS = 60 };

/* Complementarity, as a share of the objective at the start: below the first the iterate
 * is looked at as an answer; below the second the digits of s and z are noise. */
#define TARGET_REL     1e-17
#define TARGET_BALANCE 1e-12
#define ACCEPTED_REL   1e-11 /* so good that nothing else is tried, whether it converged or not */

static double complementarity(const struct interior *w)
{
    return vector_dot(w->s, w->z, w->n_pairs);
}

/* Linearised, traffic/B is only good near B: no bandwidth that carries traffic changes by more than
 * this factor in one step. */
#define MAX_FACTOR 3.0

static double step_within_factor(const struct interior *w)
{
    double step = 1, most = MAX_FACTOR;
    for (int32_t d = 0; d < w->n_dims; d++) {
        double change = w->used[d] ? w->d_bw[d] / w->bw[d] : 0;
        if (step * change > most - 1)
            step = (most - 1) / change;
        else if (step * change < 1 / most - 1)
            step = (1 / most - 1) / change;
    }
    return step;
}

/*
 * Predictor: aim straight at the optimum, see how much of the way is open. Corrector:
 * aim at as small a mu as that suggests, and make up for the predictor's curvature
 * (Mehrotra, SIAM J. Optim. 2(4), 1992).
 */
static void find_direction(struct interior *w, double product)
{
    for (int32_t i = 0; i < w->n_pairs; i++)
        w->kappa[i] = -w->s[i] * w->z[i];
    interior_direction(w);

    double primal = fmin(interior_step_to_zero(w->s, w->ds, w->n_pairs), 1);
    double dual = fmin(interior_step_to_zero(w->z, w->dz, w->n_pairs), 1);
    double reached = 0;
    for (int32_t i = 0; i < w->n_pairs; i++)
        reached += (w->s[i] + primal * w->ds[i]) * (w->z[i] + dual * w->dz[i]);
    double ratio = reached / product;
    double sigma = ratio * ratio * ratio;
    double mu = fmax(sigma * product, TARGET_REL) / w->n_real;
    /* The correction is worth what the linearisation it rests on is worth. */
    double trust = step_within_factor(w);
    for (int32_t i = 0; i < w->n_pairs; i++)
        if (w->z[i] > 0)
            w->kappa[i] = mu - w->s[i] * w->z[i] - trust * trust * w->ds[i] * w->dz[i];
    interior_direction(w);
}

/* Slack @p s of the bound used + s = t, when what is there differs by more than rounding. Where the two
 * nearly agree s is known far better than the difference t - used. */
static void set_slack(double *s, double t, double used)
{
    double room = t - used;
    if (fabs(room - *s) > 1e-6 * *s + 1e-14 * t)
        *s = room;
}

/*
 * traffic/B curves up from its tangent, so after a long step a leaf's slacks promise
 * more than is there. Raise t until they are true again.
 */
static void restore_leaf(struct interior *w, int32_t index)
{
    struct interior_leaf *leaf = &w->leaves[index];
    double *s = &w->s[leaf->pair], t = leaf->t, used[D];
    for (int32_t q = 0; q < leaf->n; q++) {
        used[q] = leaf->traffic[q] / w->bw[leaf->dim[q]];
        t = fmax(t, used[q] + s[q]);
    }
    if (t - leaf->t > 1e-14 * t)
        leaf->t = t;
    for (int32_t q = 0; q < leaf->n; q++)
        set_slack(&s[q], leaf->t, used[q]);
}

/* The same for maxima over terms; returns the term's value. */
static double restore_term(struct interior *w, int32_t k)
{
    const struct step_fn *f = w->problem->step;
    double value = w->terms[k].constant;
    for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++) {
        restore_leaf(w, l);
        value += w->leaves[l].t;
    }
    for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
        double *s = &w->s[w->term_pair], u = w->maxima[j].u;
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++) {
            w->terms[c].value = restore_term(w, c);
            u = fmax(u, w->terms[c].value + s[c]);
        }
        if (u - w->maxima[j].u > 1e-14 * u)
            w->maxima[j].u = u;
        for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++)
            set_slack(&s[c], w->maxima[j].u, w->terms[c].value);
        value += w->maxima[j].u;
    }
    return value;
}

/* No pair may run ahead of the others by more than this factor: it would be stuck at the border. */
#define INTERIOR_MAX_LEAD 1e4

/* No pair may run far ahead of the others to zero: it would block all later steps. */
static void recenter(struct interior *w)
{
    double least = complementarity(w) / (w->n_real * INTERIOR_MAX_LEAD);
    for (int32_t i = 0; i < w->n_pairs; i++) {
        if (w->z[i] == 0 || w->s[i] * w->z[i] >= least)
            continue;
        if (w->s[i] < w->z[i])
            w->s[i] = least / w->z[i];
        else
            w->z[i] = least / w->s[i];
    }
}

/* One step, the same length for primal and dual, short of the boundary. */
static void interior_move(struct interior *w, double product)
{
    /* Stay inside, for a slack of zero would be stuck there; but closer to the border as the end nears. */
    double inside = 1 - fmin(0.005, product);
    double primal = fmin(inside * interior_step_to_zero(w->s, w->ds, w->n_pairs), step_within_factor(w));
    double dual = fmin(inside * interior_step_to_zero(w->z, w->dz, w->n_pairs), 1);
    primal = dual = fmin(primal, dual);
    for (int32_t d = 0; d < w->n_dims; d++)
        w->bw[d] += primal * w->d_bw[d];
    for (int32_t l = 0; l < w->n_leaves; l++)
        w->leaves[l].t += primal * w->leaves[l].dt;
    for (int32_t j = 0; j < w->n_maxima; j++)
        w->maxima[j].u += primal * w->maxima[j].du;
    for (int32_t i = 0; i < w->n_pairs; i++) {
        w->s[i] += primal * w->ds[i];
        w->z[i] += dual * w->dz[i];
    }
    for (int32_t i = 0; i < w->n_equalities; i++)
        w->rows[i].free_p += dual * w->rows[i].free_dp;
    restore_term(w, 0);
    recenter(w);
}

/* Look for a point inside the rows, once, and make equalities of those that leave none; false when there is
 * no such point. */
static bool interior_find_inside(struct interior *w)
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

/* Predictor-corrector steps until the complementarity is small; every good iterate is offered as a split and
 * as a proof, and the best of both kept. */
static void iterate(struct interior *w, int32_t most, struct interior_result *best)
{
    interior_start(w);
    for (int32_t i = 0; i < most; i++) {
        double product = complementarity(w);
        if (!isfinite(product) || work_stopped())
            return;
        if (product < WORTH_TAKING)
            interior_take(w, best);
        if (best->converged)
            return;
        interior_factor(w);
        if (product < TARGET_REL && w->imbalance < TARGET_BALANCE)
            return;
        find_direction(w, product);
        interior_move(w, product);
        best->iterations++;
    }
}

/* A start that is far from the scale of the answer calls a gap small that is not. */
static bool is_accepted(const struct interior_result *r)
{
    double rel = r->converged ? ALLOC_GAP / 2 : ACCEPTED_REL;
    return isfinite(r->value) && r->value - r->bound <= rel * fabs(r->value);
}

/* From a point well inside the rows along the central path. */
static void solve_from_inside(struct interior *w, struct interior_result *out)
{
    double guess_Bps[D], start_Bps[D];
    interior_scale(w);
    for (int32_t d = 0; d < w->n_dims; d++)
        guess_Bps[d] = w->bw[d] * w->bw_unit_Bps;
    alloc_approach(start_Bps, &w->inside, w->problem, guess_Bps);
    w->from_inside = true;
    interior_set_units(w, start_Bps);
    interior_start(w);
    interior_follow_path(w, out);
}

enum { MAX_AGAIN = 3 };

/* Once more in units of the best split so far: where the first guess was far off, digits were lost in it. */
static void solve_again(struct interior *w, struct interior_result *out)
{
    for (int32_t i = 0; i < MAX_AGAIN && isfinite(out->value) && !is_accepted(out); i++) {
        double start_Bps[D], least = 1e-9 * vector_largest(out->bw_Bps, w->n_dims);
        for (int32_t d = 0; d < w->n_dims; d++)
            start_Bps[d] = fmax(out->bw_Bps[d], least);
        out->converged = w->from_inside = false;
        interior_set_units(w, start_Bps);
        iterate(w, MAX_ITERATIONS, out);
    }
}

/* First from a scaled guess, which nearly always converges. */
void interior_solve(struct interior *w, struct interior_ask ask, struct interior_result *out)
{
    *out = (struct interior_result){ .value = INFINITY, .bound = -INFINITY };
    w->ask = ask;
    w->limited = isfinite(ask.limit_s);
    w->from_inside = false;
    interior_scale(w);
    iterate(w, MAX_ITERATIONS, out);
    if (is_accepted(out))
        return;
    out->converged = false;
    /* Inside the rows may be outside the limit, and from there bandwidths without a price run away. */
    if (!w->limited && interior_find_inside(w))
        solve_from_inside(w, out);
    solve_again(w, out);
}

int interior_bound(const struct interior *w, struct alloc_bound *b, struct err *e)
{
    return alloc_bound_copy(b, &w->proof, w->problem, e);
}
