#include "alloc/basis.h"

#include <math.h>

#include "alloc/vector.h"

enum { D = BASIS_DIMS };

/* What is left of v beside the vectors taken in, and its parts along them. Returns its length. */
static double split_off(const struct basis *b, const double *v, double *rest, double *r)
{
    for (int32_t d = 0; d < b->n_dims; d++)
        rest[d] = v[d];
    for (int32_t j = 0; j < b->n; j++)
        r[j] = 0;
    /* Twice: after one pass what is left of a nearly dependent vector still leans on the others. */
    for (int pass = 0; pass < 2; pass++)
        for (int32_t j = 0; j < b->n; j++) {
            double along = vector_dot(rest, b->q[j], b->n_dims);
            r[j] += along;
            for (int32_t d = 0; d < b->n_dims; d++)
                rest[d] -= along * b->q[j][d];
        }
    return sqrt(vector_dot(rest, rest, b->n_dims));
}

double basis_left(const struct basis *b, const double *v)
{
    double rest[D], r[D], whole = sqrt(vector_dot(v, v, b->n_dims));
    return whole > 0 ? split_off(b, v, rest, r) / whole : 0;
}

bool basis_add(struct basis *b, const double *v)
{
    double rest[D], r[D], whole = sqrt(vector_dot(v, v, b->n_dims));
    if (!(whole > 0) || b->n == b->n_dims)
        return false;
    double left = split_off(b, v, rest, r);
    if (!(left > BASIS_REL * whole))
        return false;
    for (int32_t j = 0; j < b->n; j++)
        b->r[b->n][j] = r[j];
    b->r[b->n][b->n] = left;
    for (int32_t d = 0; d < b->n_dims; d++)
        b->q[b->n][d] = rest[d] / left;
    b->n++;
    return true;
}

void basis_shortest(const struct basis *b, const double *rhs, double *x)
{
    double c[D];
    for (int32_t d = 0; d < b->n_dims; d++)
        x[d] = 0;
    for (int32_t k = 0; k < b->n; k++) {
        c[k] = (rhs[k] - vector_dot(b->r[k], c, k)) / b->r[k][k];
        for (int32_t d = 0; d < b->n_dims; d++)
            x[d] += c[k] * b->q[k][d];
    }
}

void basis_nearest(const struct basis *b, const double *target, double *p)
{
    for (int32_t j = b->n - 1; j >= 0; j--) {
        p[j] = vector_dot(b->q[j], target, b->n_dims);
        for (int32_t k = j + 1; k < b->n; k++)
            p[j] -= p[k] * b->r[k][j];
        p[j] /= b->r[j][j];
    }
}

/* The columns in use, in the order they came. */
struct passive {
    int32_t list[D], n;
    struct basis basis;
};

static void take_in(struct passive *in, const double (*columns)[D], int32_t i)
{
    if (basis_add(&in->basis, columns[i]))
        in->list[in->n++] = i;
}

static void drop_zeros(struct passive *in, const double (*columns)[D], const bool *is_free, const double *p)
{
    struct passive kept = { .basis = { .n_dims = in->basis.n_dims } };
    for (int32_t k = 0; k < in->n; k++)
        if (is_free[in->list[k]] || p[in->list[k]] > 0)
            take_in(&kept, columns, in->list[k]);
    *in = kept;
}

/* Move p towards the fit of the columns in use until it is reached or an entry is 0, which goes. */
static void settle(struct passive *in, const double (*columns)[D], const bool *is_free, const double *target,
                   double *p)
{
    for (int32_t most = in->n; most > 0 && in->n; most--) {
        double fit[D], step = 1;
        int32_t stop = -1;
        basis_nearest(&in->basis, target, fit);
        for (int32_t k = 0; k < in->n; k++) {
            const int32_t i = in->list[k];
            if (!is_free[i] && fit[k] <= 0 && p[i] <= step * (p[i] - fit[k])) {
                step = p[i] > fit[k] ? p[i] / (p[i] - fit[k]) : 0;
                stop = i;
            }
        }
        for (int32_t k = 0; k < in->n; k++)
            p[in->list[k]] += step * (fit[k] - p[in->list[k]]);
        if (stop < 0)
            return;
        p[stop] = 0;
        for (int32_t k = 0; k < in->n; k++)
            if (!is_free[in->list[k]])
                p[in->list[k]] = fmax(p[in->list[k]], 0);
        drop_zeros(in, columns, is_free, p);
    }
}

/* The column outside that points most along what is missing; -1 when none does. */
static int32_t find_entering(const struct passive *in, const double (*columns)[D], int32_t n,
                             const double *target, const double *p)
{
    const int32_t n_dims = in->basis.n_dims;
    double rest[D], most = 1e-15 * sqrt(vector_dot(target, target, n_dims));
    int32_t best = -1;
    for (int32_t d = 0; d < n_dims; d++) {
        rest[d] = target[d];
        for (int32_t k = 0; k < in->n; k++)
            rest[d] -= p[in->list[k]] * columns[in->list[k]][d];
    }
    for (int32_t i = 0; i < n; i++) {
        double along =
            vector_dot(columns[i], rest, n_dims) / sqrt(vector_dot(columns[i], columns[i], n_dims));
        bool inside = false;
        for (int32_t k = 0; k < in->n; k++)
            inside = inside || in->list[k] == i;
        if (!inside && along > most) {
            most = along;
            best = i;
        }
    }
    return best;
}

void basis_fit(double *p, const double (*columns)[D], const bool *is_free, int32_t n, int32_t n_dims,
               const double *target)
{
    struct passive in = { .basis = { .n_dims = n_dims } };
    for (int32_t i = 0; i < n; i++) {
        p[i] = 0;
        if (is_free[i])
            take_in(&in, columns, i);
    }
    settle(&in, columns, is_free, target, p);
    for (int32_t most = 3 * n; most > 0; most--) {
        int32_t before = in.n, i = find_entering(&in, columns, n, target, p);
        if (i < 0)
            return;
        take_in(&in, columns, i);
        if (in.n == before)
            return;
        settle(&in, columns, is_free, target, p);
    }
}
