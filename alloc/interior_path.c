#include "alloc/interior_work.h"

#include <math.h>
#include <string.h>

#include "alloc/vector.h"

enum { D = INTERIOR_DIMS, MAX_CENTRE = 40, MAX_HALVINGS = 34 };

/* mu falls by this factor from one centre to the next. */
#define REDUCE 0.1

/* A Newton decrement below which full steps converge quadratically (Nesterov and Nemirovskii, 1994). */
#define QUADRATIC 0.25

/* Share of the complementarity at which the centre is worth a look, and where digits end. */
#define WORTH_TAKING 1e-7
#define LEAST_MU     1e-16

/* Multipliers may be this much above or below mu/s. */
#define MAX_LEAD 1e8

/* Whatever the multipliers, the step is downhill for the barrier; but only near mu/s is it Newton's. */
static void set_multipliers(struct interior *w)
{
    for (int32_t i = 0; i < w->n_pairs; i++)
        if (w->z[i] > 0) {
            double z = w->mu / w->s[i];
            w->z[i] = fmin(fmax(w->z[i], z / MAX_LEAD), z * MAX_LEAD);
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
    for (int32_t l = 0; l < w->n_leaves; l++)
        for (int32_t d = 0; d < w->n_dims; d++)
            if (w->leaves[l].traffic[d] > 0) {
                double change = w->d_bw[d] / w->bw[d];
                double used = w->leaves[l].traffic[d] / w->bw[d];
                sum += (1 + 2 * used / w->s[l * w->n_dims + d]) * change * change;
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
    const int32_t first = index * w->n_dims;
    double above[D] = { 0 };
    leaf->lift = 0;
    for (int32_t d = 0; d < w->n_dims; d++)
        if (leaf->traffic[d] > 0) {
            double change = step * w->d_bw[d] / w->bw[d];
            above[d] = leaf->traffic[d] / w->bw[d] * change * change / (1 + change);
            if (raise)
                leaf->lift = fmax(leaf->lift, above[d]);
        }
    for (int32_t d = 0; d < w->n_dims; d++)
        w->trial_s[first + d] = w->s[first + d] + step * w->ds[first + d] + leaf->lift - above[d];
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
static double find_step(struct interior *w, double lambda)
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
        double step = find_step(w, lambda);
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

/* T at the iterate, from above. */
static double value_of_term(const struct interior *w)
{
    const struct step_fn *f = w->problem->step;
    double value = w->terms[0].constant;
    for (int32_t l = f->leaf_begin[0]; l < f->leaf_begin[1]; l++)
        value += w->leaves[l].t;
    for (int32_t j = f->max_begin[0]; j < f->max_begin[1]; j++)
        value += w->maxima[j].u;
    return value;
}

/*
 * A point inside the rows may be outside the limit on T: follow the path to the least T until it is inside,
 * by more than is left to gain. False when the path ends first.
 */
static bool enter_limit(struct interior *w, struct interior_result *best)
{
    double price[D], time_weight = w->time_weight;
    bool inside = false;
    memcpy(price, w->price, sizeof price);
    memset(w->price, 0, sizeof w->price);
    w->limited = false;
    w->time_weight = 1;
    w->z[w->term_pair] = 0;
    w->s[w->term_pair] = 1;
    set_mu(w, 1);
    while (w->mu > LEAST_MU && !inside) {
        centre(w, best);
        inside = w->limit - value_of_term(w) > w->mu * w->n_real;
        set_mu(w, w->mu * REDUCE);
    }
    memcpy(w->price, price, sizeof price);
    w->time_weight = time_weight;
    w->limited = true;
    w->z[w->term_pair] = 1;
    w->s[w->term_pair] = w->limit - value_of_term(w);
    return inside;
}

void interior_follow_path(struct interior *w, struct interior_result *best)
{
    if (!w->limited || w->limit > value_of_term(w) || enter_limit(w, best)) {
        set_mu(w, 1);
        while (w->mu * w->n_real > LEAST_MU && !best->converged) {
            centre(w, best);
            if (w->mu * w->n_real < WORTH_TAKING)
                interior_take(w, best);
            w->mu *= REDUCE;
        }
    }
    w->mu = 0;
}
