#include "alloc/interior.h"

#include <math.h>

#include "alloc/bound.h"
#include "alloc/interior_work.h"
#include "alloc/vector.h"

enum { D = INTERIOR_DIMS, MAX_ITERATIONS = 60 };

/* Complementarity, as a share of the objective at the start: below the first the iterate
 * is looked at as an answer; below the second the digits of s and z are noise. */
#define WORTH_TAKING   1e-7
#define TARGET_REL     1e-17
#define TARGET_BALANCE 1e-12
#define ACCEPTED_REL   1e-11

double interior_step_to_zero(const double *v, const double *dv, int32_t n)
{
    double fastest = 1e-300; /* largest relative fall */
    for (int32_t i = 0; i < n; i++)
        if (-dv[i] > fastest * v[i])
            fastest = -dv[i] / v[i];
    return 1 / fastest;
}

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
    double *s = &w->s[interior_leaf_pair(w, index)], t = leaf->t, used[D];
    for (int32_t d = 0; d < w->n_dims; d++) {
        used[d] = leaf->traffic[d] / w->bw[d];
        if (leaf->traffic[d] > 0)
            t = fmax(t, used[d] + s[d]);
    }
    if (t - leaf->t > 1e-14 * t)
        leaf->t = t;
    for (int32_t d = 0; d < w->n_dims; d++)
        if (leaf->traffic[d] > 0)
            set_slack(&s[d], leaf->t, used[d]);
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
#define MAX_LEAD 1e4

static void recenter(struct interior *w)
{
    double least = complementarity(w) / (w->n_real * MAX_LEAD);
    for (int32_t i = 0; i < w->n_pairs; i++) {
        if (w->z[i] == 0 || w->s[i] * w->z[i] >= least)
            continue;
        if (w->s[i] < w->z[i])
            w->s[i] = least / w->z[i];
        else
            w->z[i] = least / w->s[i];
    }
}

static void move(struct interior *w, double product)
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

static void iterate(struct interior *w, int32_t most, struct interior_result *best)
{
    interior_start(w);
    for (int32_t i = 0; i < most; i++) {
        double product = complementarity(w);
        if (!isfinite(product))
            return;
        if (product < WORTH_TAKING)
            interior_take(w, best);
        if (best->converged)
            return;
        interior_factor(w);
        if (product < TARGET_REL && w->imbalance < TARGET_BALANCE)
            return;
        find_direction(w, product);
        move(w, product);
        best->iterations++;
    }
}

void interior_solve(struct interior *w, struct interior_ask ask, struct interior_result *out)
{
    *out = (struct interior_result){ .value = INFINITY, .bound = -INFINITY };
    w->ask = ask;
    w->limited = isfinite(ask.limit_s);
    w->from_inside = false;
    interior_scale(w);
    iterate(w, MAX_ITERATIONS, out);
    if (out->converged)
        return;
    /* A gap a hundred times below ALLOC_GAP is good enough not to start again. */
    if (isfinite(out->value) && out->value - out->bound <= ACCEPTED_REL * fabs(out->value))
        return;
    if (!interior_find_inside(w))
        return;
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

int interior_bound(const struct interior *w, struct alloc_bound *b, struct err *e)
{
    return alloc_bound_copy(b, &w->proof, w->problem, e);
}
