#include "alloc/interior_work.h"

#include <math.h>
#include <string.h>

#include "alloc/basis.h"
#include "alloc/bound.h"
#include "alloc/repair.h"
#include "alloc/vector.h"

enum { D = INTERIOR_DIMS };

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
    for (int32_t l = 0; l < w->n_leaves; l++)
        for (int32_t d = 0; d < w->n_dims; d++)
            b->leaf_dual[l * D + d] = w->z[l * w->n_dims + d] * per_second;
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
    for (int32_t d = 0; d < w->n_dims; d++) {
        rest[d] = -w->price[d] * bw[d];
        for (int32_t l = 0; l < w->n_leaves; l++)
            if (w->leaves[l].traffic[d] > 0)
                rest[d] += w->z[l * w->n_dims + d] * w->leaves[l].traffic[d] / bw[d];
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
    best->time_weight = w->trial.time_weight;
    struct alloc_bound swap = w->proof;
    w->proof = w->trial;
    w->trial = swap;
}

static bool is_converged(const struct interior *w, const struct interior_result *r)
{
    return isfinite(r->value) && r->value - r->bound <= CONVERGED_REL * fmax(w->value_unit, fabs(r->value));
}

/*
 * Any B that satisfies the rows is an answer and any multipliers are a proof, whatever
 * iterate they come from: keep the best of each. Near the end rounding makes
 * iterates worse again, and the best split and the best proof may not come together.
 */
void interior_take(struct interior *w, struct interior_result *best)
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
