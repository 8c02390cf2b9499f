#include "alloc/interior_work.h"

#include <math.h>
#include <string.h>

#include "alloc/bound.h"
#include "alloc/repair.h"
#include "alloc/vector.h"

enum { D = INTERIOR_DIMS, MAX_ACTIVE = ALLOC_MAX_ACTIVE };

/* Three digits better than ALLOC_GAP asks. */
#define CONVERGED_REL 1e-12

/* A limit on T and rows that bind together leave this much play. */
#define LIMIT_REL 1e-12

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
    for (int32_t i = 0; i < w->n_rows; i++) {
        const struct interior_row *row = &w->rows[i];
        if (row->source >= 0)
            b->row_dual[row->source] = w->trial_p[i] * w->value_unit * row->scale;
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
    double bw_Bps[D];
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

/*
 * Where nearly as many rows bind as there are dimensions, their multipliers come out
 * of the Newton system with few digits. The leaves' and B are sharp, so find the
 * rows' again from balance, sum_i p_i a_id B_d = a_d/B_d - price_d B_d, by least squares.
 */
static void sharpen_rows(struct interior *w)
{
    double rest[D], gram[MAX_ACTIVE][MAX_ACTIVE], rhs[MAX_ACTIVE], x[MAX_ACTIVE];
    int32_t active[MAX_ACTIVE], n = 0;
    for (int32_t d = 0; d < w->n_dims; d++) {
        rest[d] = -w->price[d] * w->bw[d];
        for (int32_t l = 0; l < w->n_leaves; l++)
            rest[d] += w->z[l * w->n_dims + d] * w->leaves[l].traffic[d] / w->bw[d];
    }
    for (int32_t i = 0; i < w->n_rows && n < MAX_ACTIVE; i++)
        if (w->rows[i].equality || w->z[w->row_pair + i] > w->s[w->row_pair + i])
            active[n++] = i;
    for (int32_t i = 0; i < n; i++) {
        const double *a = w->rows[active[i]].a;
        rhs[i] = 0;
        for (int32_t d = 0; d < w->n_dims; d++)
            rhs[i] += a[d] * w->bw[d] * rest[d];
        for (int32_t j = 0; j <= i; j++) {
            const double *b = w->rows[active[j]].a;
            gram[i][j] = 0;
            for (int32_t d = 0; d < w->n_dims; d++)
                gram[i][j] += a[d] * w->bw[d] * b[d] * w->bw[d];
            gram[j][i] = gram[i][j];
        }
    }
    alloc_solve_gram(gram, rhs, n, x);
    for (int32_t i = 0; i < w->n_rows; i++)
        if (!w->rows[i].equality)
            w->trial_p[i] = 0;
    for (int32_t i = 0; i < n; i++)
        w->trial_p[active[i]] = w->rows[active[i]].equality ? x[i] : fmax(x[i], 0);
}

static void set_trial_rows(struct interior *w)
{
    for (int32_t i = 0; i < w->n_rows; i++)
        w->trial_p[i] = w->rows[i].equality ? w->rows[i].free_p : w->z[w->row_pair + i];
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
    return r->value - r->bound <= CONVERGED_REL * fmax(w->value_unit, fabs(r->value));
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
        sharpen_rows(w);
        take_proof(w, best);
        best->converged = is_converged(w, best);
    }
}
