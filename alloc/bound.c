/*
 * Lower bounds by weak duality: multipliers of leaves, terms and rows prove
 *    time_weight * T + cost_weight * price.B >= sum_k weight_k const_k + sum_d 2 sqrt(a_d q_d) - sum_i dual_i
 * rhs_i (see alloc_bound_split()). Multipliers are balanced first, so that any numbers prove something true.
 */
#include "alloc/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc/lp.h"

enum { D = TOPO_MAX_DIMS };

int alloc_bound_build(struct alloc_bound *b, const struct alloc_problem *p, struct err *e)
{
    const size_t leaves = (size_t)p->step->n_leaves * D, terms = (size_t)p->step->n_terms;
    *b = (struct alloc_bound){ .leaf_dual = calloc(leaves + terms + (size_t)p->n_rows + 1, sizeof(double)) };
    if (!b->leaf_dual)
        return err_nomem(e, "a lower bound");
    b->term_weight = b->leaf_dual + leaves;
    b->row_dual = b->term_weight + terms;
    return 0;
}

/* A deep copy: answers keep their bounds when the solver's memory is gone. */
int alloc_bound_copy(struct alloc_bound *out, const struct alloc_bound *b, const struct alloc_problem *p,
                     struct err *e)
{
    int rc = alloc_bound_build(out, p, e);
    if (rc)
        return rc;
    out->time_weight = b->time_weight;
    out->cost_weight = b->cost_weight;
    out->value = b->value;
    memcpy(out->leaf_dual, b->leaf_dual, (size_t)p->step->n_leaves * D * sizeof *b->leaf_dual);
    memcpy(out->term_weight, b->term_weight, (size_t)p->step->n_terms * sizeof *b->term_weight);
    memcpy(out->row_dual, b->row_dual, (size_t)p->n_rows * sizeof *b->row_dual);
    return 0;
}

void alloc_bound_scale(struct alloc_bound *b, const struct alloc_problem *p, double by)
{
    b->time_weight *= by;
    b->cost_weight *= by;
    b->value *= by;
    for (int32_t i = 0; i < p->step->n_leaves * D; i++)
        b->leaf_dual[i] *= by;
    for (int32_t k = 0; k < p->step->n_terms; k++)
        b->term_weight[k] *= by;
    for (int32_t i = 0; i < p->n_rows; i++)
        b->row_dual[i] *= by;
}

void alloc_bound_free(struct alloc_bound *b)
{
    free(b->leaf_dual);
    *b = (struct alloc_bound){ 0 };
}

/* Make v[0..n-1] sum to want; all equal if they sum to nothing. */
static void rescale(double *v, int32_t n, double sum, double want)
{
    for (int32_t i = 0; i < n; i++)
        v[i] = sum > 0 ? v[i] * (want / sum) : want / n;
}

/* Multipliers of a leaf scaled to sum to the weight above it; with none, spread evenly. */
static void balance_leaf(double *dual, const double *traffic_B, int32_t n_dims, double want)
{
    double sum = 0;
    int32_t used = 0;
    for (int32_t d = 0; d < n_dims; d++) {
        dual[d] = traffic_B[d] > 0 ? fmax(dual[d], 0) : 0;
        sum += dual[d];
        used += traffic_B[d] > 0;
    }
    for (int32_t d = 0; d < n_dims; d++)
        if (traffic_B[d] > 0)
            dual[d] = sum > 0 ? dual[d] * (want / sum) : want / used;
}

/* From the root down: duals of a leaf and weights of a maximum's terms must sum to their parent's weight.
 * After this whatever the solver produced is feasible for the dual, so its value is a true bound. */
void alloc_bound_balance(struct alloc_bound *b, const struct alloc_problem *p)
{
    const struct step_fn *f = p->step;
    b->term_weight[0] = b->time_weight;
    for (int32_t k = 0; k < f->n_terms; k++) {
        for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++)
            balance_leaf(&b->leaf_dual[(ptrdiff_t)l * D], &f->traffic_B[(ptrdiff_t)l * D], f->n_dims,
                         b->term_weight[k]);
        for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
            double *weights = &b->term_weight[f->term_begin[j]], sum = 0;
            int32_t n = f->term_begin[j + 1] - f->term_begin[j];
            for (int32_t i = 0; i < n; i++) {
                weights[i] = fmax(weights[i], 0);
                sum += weights[i];
            }
            rescale(weights, n, sum, b->term_weight[k]);
        }
    }
}

/* A leaf's and a maximum's multipliers, balanced and scaled so that time counts once. */
int alloc_cut_of_bound(struct alloc_cut *cut, const struct alloc_bound *given, const struct alloc_problem *p,
                       struct err *e)
{
    const struct step_fn *f = p->step;
    struct alloc_bound b;
    *cut = (struct alloc_cut){ 0 };
    int rc = alloc_bound_copy(&b, given, p, e);
    if (rc)
        return rc;
    alloc_bound_balance(&b, p);
    for (int32_t k = 0; k < f->n_terms; k++)
        cut->const_s += b.term_weight[k] * f->const_s[k] / b.time_weight;
    for (int32_t l = 0; l < f->n_leaves; l++)
        for (int32_t d = 0; d < f->n_dims; d++)
            cut->pull_B[d] +=
                b.leaf_dual[(ptrdiff_t)l * D + d] * f->traffic_B[(ptrdiff_t)l * D + d] / b.time_weight;
    alloc_bound_free(&b);
    return 0;
}

/* T is convex in 1/B, so a subgradient there is a cut. */
struct alloc_cut alloc_cut_touching(const struct step_fn *f, const double *bw_Bps)
{
    double grad[D];
    struct alloc_cut cut = { .const_s = step_time_grad(f, bw_Bps, grad) };
    for (int32_t d = 0; d < f->n_dims; d++)
        if (bw_Bps[d] > 0 && grad[d] < 0) {
            cut.pull_B[d] = -grad[d] * bw_Bps[d] * bw_Bps[d];
            cut.const_s -= cut.pull_B[d] / bw_Bps[d];
        }
    return cut;
}

double alloc_cut_at(const struct alloc_cut *cut, const double *bw_Bps, int32_t n_dims)
{
    double time_s = cut->const_s;
    for (int32_t d = 0; d < n_dims; d++)
        if (cut->pull_B[d] > 0)
            time_s += cut->pull_B[d] / bw_Bps[d];
    return time_s;
}

struct alloc_cut alloc_cut_mean(const struct alloc_cut *a, const struct alloc_cut *b, double share)
{
    struct alloc_cut t = { .const_s = (1 - share) * a->const_s + share * b->const_s };
    for (int32_t d = 0; d < D; d++)
        t.pull_B[d] = (1 - share) * a->pull_B[d] + share * b->pull_B[d];
    return t;
}

double alloc_cut_root(const struct alloc_cut *cut, const double *price, int32_t n_dims)
{
    double root = 0;
    for (int32_t d = 0; d < n_dims; d++)
        if (price[d] >= 0)
            root += sqrt(cut->pull_B[d] * price[d]);
    return root;
}

/*
 * sign * row as <=. With every other dimension where it takes least (floors of what is added, caps of what is
 * subtracted), what is left for dimension @p d is its cap, and where it is subtracted its floor. A row holds
 * to ALLOC_FEASIBLE_REL of its parts, so a difference of them is no better known.
 */
static void tighten_range(struct alloc_ranges *r, const struct alloc_row *row, int32_t n_dims, int32_t d,
                          double sign)
{
    double coef = sign * row->coef[d], left = sign * row->rhs, parts = fabs(row->rhs);
    for (int32_t k = 0; k < n_dims; k++) {
        double least = sign * row->coef[k];
        if (k == d || least == 0)
            continue;
        least *= least < 0 ? r->cap_Bps[k] : r->floor_Bps[k];
        left -= least;
        parts += fabs(least);
    }
    if (!isfinite(left))
        return;
    if (parts > fabs(left) * (1 + ALLOC_FEASIBLE_REL))
        left += ALLOC_FEASIBLE_REL * parts;
    if (coef > 0)
        r->cap_Bps[d] = fmax(fmin(r->cap_Bps[d], left / coef), 0);
    else
        r->floor_Bps[d] = fmax(r->floor_Bps[d], left / coef * (1 - ALLOC_FEASIBLE_REL));
}

static void tighten_ranges(struct alloc_ranges *r, const struct alloc_row *row, int32_t n_dims, double sign)
{
    for (int32_t d = 0; d < n_dims; d++)
        if (row->coef[d] != 0)
            tighten_range(r, row, n_dims, d, sign);
}

bool alloc_carries_traffic(const struct step_fn *f, int32_t d)
{
    for (int32_t l = 0; l < f->n_leaves; l++)
        if (f->traffic_B[(ptrdiff_t)l * D + d] > 0)
            return true;
    return false;
}

/* A pass of a chain of rows needs one for each of its links, and floors are needed for caps: twice that. */
struct alloc_ranges alloc_find_ranges(const struct alloc_problem *p)
{
    const int32_t n = p->step->n_dims;
    struct alloc_ranges r = { 0 };
    for (int32_t d = 0; d < n; d++)
        r.cap_Bps[d] = INFINITY;
    for (int32_t pass = 0; pass < 2 * n; pass++) {
        struct alloc_ranges before = r;
        for (int32_t i = 0; i < p->n_rows; i++) {
            tighten_ranges(&r, &p->rows[i], n, p->rows[i].sense == LINEXPR_GE ? -1 : 1);
            if (p->rows[i].sense == LINEXPR_EQ)
                tighten_ranges(&r, &p->rows[i], n, -1);
        }
        /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): arrays of numbers, nothing changed */
        if (memcmp(&before, &r, sizeof r) == 0)
            break;
    }
    return r;
}

void alloc_find_caps(double *cap_Bps, const struct alloc_problem *p)
{
    const struct alloc_ranges r = alloc_find_ranges(p);
    memcpy(cap_Bps, r.cap_Bps, (size_t)p->step->n_dims * sizeof *cap_Bps);
}

/*
 * Every row counts as known to alloc_row_rel() of its parts only: that is how well a
 * split can satisfy it, and it covers the rounding of these sums, which is none where they are exact. So
 * multipliers of 1e12 that cancel prove nothing they should not.
 */
struct alloc_bound_parts alloc_bound_split(const struct alloc_bound *b, const struct alloc_problem *p)
{
    const struct step_fn *f = p->step;
    const double rel = alloc_row_rel(p);
    double pull[D] = { 0 }, play[D], cap[D];
    struct exact_sum push[D], rent = { 0 };
    bool capped = false;
    struct alloc_bound_parts sum = { 0 };
    for (int32_t k = 0; k < f->n_terms; k++)
        sum.constant += b->term_weight[k] * f->const_s[k] * (1 - ALLOC_FEASIBLE_REL);
    for (int32_t l = 0; l < f->n_leaves; l++)
        for (int32_t d = 0; d < f->n_dims; d++)
            pull[d] += b->leaf_dual[(ptrdiff_t)l * D + d] * f->traffic_B[(ptrdiff_t)l * D + d];
    for (int32_t d = 0; d < f->n_dims; d++) {
        play[d] = b->cost_weight * p->usd_per_Bps[d];
        push[d] = (struct exact_sum){ .hi = play[d] };
    }
    for (int32_t i = 0; i < p->n_rows; i++) {
        const struct alloc_row *row = &p->rows[i];
        double dual = row->sense == LINEXPR_GE ? -b->row_dual[i] : b->row_dual[i];
        double part_play = rel * fabs(dual * row->rhs);
        if (p->sharp) {
            exact_add_product(&rent, dual, row->rhs);
            rent.lo += part_play;
        } else {
            rent.hi += dual * row->rhs + part_play;
        }
        for (int32_t d = 0; d < f->n_dims; d++) {
            exact_add_product(&push[d], dual, row->coef[d]);
            play[d] += fabs(dual * row->coef[d]);
        }
    }
    sum.rent = p->sharp ? rent.hi + rent.lo : rent.hi;
    for (int32_t d = 0; d < f->n_dims; d++) {
        double whole = p->sharp ? push[d].hi + push[d].lo : push[d].hi, surely = whole - rel * play[d];
        if (surely < 0 && !capped) {
            alloc_find_caps(cap, p);
            capped = true;
        }
        /* Where nothing limits B_d, multipliers that cancel to rounding are taken to cancel. */
        if (surely < 0 && whole >= -ALLOC_FEASIBLE_REL * play[d] && isinf(cap[d]))
            surely = 0;
        if (surely >= 0) {
            sum.root += 2 * sqrt(pull[d] * surely);
        } else if (cap[d] > 0) {
            sum.constant += pull[d] / cap[d];
            sum.rent -= surely * cap[d];
        }
    }
    sum.root *= 1 - ALLOC_FEASIBLE_REL;
    return sum;
}

double alloc_bound_value(const struct alloc_bound *b, const struct alloc_problem *p)
{
    struct alloc_bound_parts parts = alloc_bound_split(b, p);
    return parts.constant + parts.root - parts.rent;
}
