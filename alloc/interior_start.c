#include "alloc/interior_work.h"

#include <math.h>
#include <string.h>

#include "alloc/vector.h"

enum { D = INTERIOR_DIMS };

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

void interior_scale(struct interior *w)
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

double interior_scaled_coef(const struct interior *w, int32_t i, int32_t d)
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

/* Units in which the start is 1: bandwidth, seconds, objective. */
void interior_set_units(struct interior *w, const double *bw_Bps)
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
    for (int32_t l = 0; l < w->n_leaves; l++)
        for (int32_t d = 0; d < w->n_dims; d++)
            w->leaves[l].traffic[d] = p->step->traffic_B[(ptrdiff_t)l * D + d] / traffic_unit;
    for (int32_t k = 0; k < w->n_terms; k++)
        w->terms[k].constant = p->step->const_s[k] / w->time_unit_s;
    w->time_weight = w->ask.time_weight * w->time_unit_s / w->value_unit;
    w->limit = w->ask.limit_s / w->time_unit_s;
    scale_rows(w);
}

/* Shares of the leaf's weight, and slacks well inside, for the bandwidths guessed. */
static void start_leaf(struct interior *w, int32_t index, double weight)
{
    struct interior_leaf *leaf = &w->leaves[index];
    double most = 0;
    int32_t used = 0;
    for (int32_t d = 0; d < w->n_dims; d++) {
        used += leaf->traffic[d] > 0;
        most = fmax(most, leaf->traffic[d] / w->bw[d]);
    }
    leaf->t = 1.2 * most;
    for (int32_t d = 0; d < w->n_dims; d++)
        if (leaf->traffic[d] > 0) {
            w->s[index * w->n_dims + d] = leaf->t - leaf->traffic[d] / w->bw[d];
            w->z[index * w->n_dims + d] = weight / used;
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

void interior_start(struct interior *w)
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
