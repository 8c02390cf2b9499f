/*
 * Bayesian optimisation: a Gaussian process of ln(cost) over plans says which plan to try next.
 *
 * The next plan is the one of some candidates whose cost is expected to fall furthest below the cheapest so
 * far. A plan that fails counts as dearer than the dearest that does not.
 */
#include "sim/hetero/bayes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/work.h"
#include "sim/hetero/search.h"

/* ---- the Gaussian process ---- */

/* A Gaussian process over plans with kernel exp(-d/length), d the number of layers in which two plans differ.
 * d is an integer, so the kernel is a table. The Cholesky factor is stored row by row, which makes adding a
 * plan one more row. */
int hetero_surrogate_build(struct hetero_surrogate *g, int32_t n_layers, int32_t cap, double length,
                           double noise, struct err *e)
{
    size_t n = (size_t)cap;
    *g = (struct hetero_surrogate){
        .n_layers = n_layers, .cap = cap, .length = length, .noise = noise, .scale = 1
    };
    g->plans = ARENA_TAKE(&g->arena, n * (size_t)n_layers, *g->plans);
    g->factor = ARENA_TAKE(&g->arena, n * (n + 1) / 2, *g->factor);
    g->halves = ARENA_TAKE(&g->arena, n, *g->halves);
    g->room = ARENA_TAKE(&g->arena, n * HETERO_GUESSES, *g->room);
    for (int32_t differ = 0; differ <= n_layers; differ++)
        g->kernel[differ] = -differ / length;
    elementary_exp(g->kernel, n_layers + 1);
    int rc = arena_check(&g->arena, "a model of plans", e);
    if (rc)
        hetero_surrogate_free(g);
    return rc;
}

void hetero_surrogate_free(struct hetero_surrogate *g)
{
    arena_free(&g->arena);
    *g = (struct hetero_surrogate){ 0 };
}

static double *factor_row(const struct hetero_surrogate *g, int32_t i)
{
    return g->factor + (size_t)i * ((size_t)i + 1) / 2;
}

static const hetero_id *plan_at(const struct hetero_surrogate *g, int32_t i)
{
    return g->plans + (size_t)i * (size_t)g->n_layers;
}

/* Of each lane's plan the covariance with known plan i. */
static void covariance(double x[HETERO_GUESSES], const struct hetero_surrogate *g, int32_t i,
                       const hetero_id *plans, int32_t n_plans)
{
    const hetero_id *known = plan_at(g, i);
    for (int32_t c = 0; c < n_plans; c++) {
        const hetero_id *plan = plans + (size_t)c * (size_t)g->n_layers;
        int32_t differ = 0;
        for (int32_t l = 0; l < g->n_layers; l++)
            differ += known[l] != plan[l];
        x[c] = g->kernel[differ];
    }
}

/* x with L x = k, k the covariances of a plan with those known, into g->room; the square of x, which is
 * k' K^-1 k, into `squares`. A column for each plan: the lanes are independent, and the compiler makes
 * vectors of them, which it may not of the sum over j. */
static void project(double squares[HETERO_GUESSES], struct hetero_surrogate *g, const hetero_id *plans,
                    int32_t n_plans)
{
    memset(squares, 0, HETERO_GUESSES * sizeof *squares);
    for (int32_t i = 0; i < g->n; i++) {
        const double *row = factor_row(g, i);
        double x[HETERO_GUESSES] = { 0 };
        covariance(x, g, i, plans, n_plans);
        for (int32_t j = 0; j < i; j++) {
            const double *y = g->room + (size_t)j * HETERO_GUESSES;
            for (int32_t c = 0; c < HETERO_GUESSES; c++)
                x[c] -= row[j] * y[c];
        }
        for (int32_t c = 0; c < HETERO_GUESSES; c++) {
            x[c] /= row[i];
            squares[c] += x[c] * x[c];
        }
        memcpy(g->room + (size_t)i * HETERO_GUESSES, x, sizeof x);
    }
}

/* One row of the factor: L^-1 k and what is left of the variance. A plan so close to known ones that rounding
 * leaves no variance is not added. */
bool hetero_surrogate_add(struct hetero_surrogate *g, const hetero_id *plan)
{
    double squares[HETERO_GUESSES], *row = factor_row(g, g->n);
    project(squares, g, plan, 1);
    double pivot = 1 + g->noise - squares[0];
    if (!(pivot > 0))
        return false;
    for (int32_t i = 0; i < g->n; i++)
        row[i] = g->room[(size_t)i * HETERO_GUESSES];
    row[g->n] = sqrt(pivot);
    memcpy(g->plans + (size_t)g->n * (size_t)g->n_layers, plan, (size_t)g->n_layers * sizeof *plan);
    g->n++;
    return true;
}

/* Standardises the targets and solves L y = targets; the other half of the inverse is applied to candidates
 * in hetero_surrogate_guess(). O(n^2) each time, as targets may change. */
void hetero_surrogate_fit(struct hetero_surrogate *g, const double *targets)
{
    double *x = g->halves, sum = 0;
    g->mean = 0;
    for (int32_t i = 0; i < g->n; i++)
        g->mean += targets[i] / g->n;
    for (int32_t i = 0; i < g->n; i++)
        sum += (targets[i] - g->mean) * (targets[i] - g->mean);
    g->scale = sum > 0 ? sqrt(sum / g->n) : 1;
    for (int32_t i = 0; i < g->n; i++) {
        const double *row = factor_row(g, i);
        x[i] = (targets[i] - g->mean) / g->scale;
        for (int32_t j = 0; j < i; j++)
            x[i] -= row[j] * x[j];
        x[i] /= row[i];
    }
}

void hetero_surrogate_guess(struct hetero_guess *guesses, struct hetero_surrogate *g, const hetero_id *plans,
                            int32_t n_plans)
{
    /* k' K^-1 y is the product of the two halves, L^-1 k and L^-1 y. */
    double squares[HETERO_GUESSES], means[HETERO_GUESSES] = { 0 };
    project(squares, g, plans, n_plans);
    for (int32_t i = 0; i < g->n; i++)
        for (int32_t c = 0; c < HETERO_GUESSES; c++)
            means[c] += g->room[(size_t)i * HETERO_GUESSES + (size_t)c] * g->halves[i];
    for (int32_t c = 0; c < n_plans; c++)
        guesses[c] =
            (struct hetero_guess){ g->mean + g->scale * means[c], g->scale * sqrt(fmax(0, 1 - squares[c])) };
}

double hetero_expected_gain(const struct hetero_guess *g, double best)
{
    double gap = best - g->mean;
    if (!(g->deviation > 0))
        return fmax(0, gap);
    double z = gap / g->deviation;
    double density = exp(-z * z / 2) / sqrt(8 * atan(1)), below = erfc(-z / sqrt(2)) / 2;
    return fmax(0, gap * below + g->deviation * density);
}

/* ---- the search ---- */

struct bayes {
    struct hetero_search *s;
    struct hetero_size size;
    struct hetero_surrogate model;
    struct hetero_value *values; /* shape [cap], in the model's arena: of the plans in the model */
    double *targets;             /* shape [cap], there too */
};

/* Memory for all evaluations at once: the model grows with them. */
static int bayes_build(struct bayes *b, struct hetero_search *s, const struct hetero_bayes_settings *how,
                       struct err *e)
{
    size_t n = (size_t)how->evaluations;
    b->s = s;
    b->size = hetero_size_of(s->problem);
    int rc = hetero_surrogate_build(&b->model, b->size.n_layers, how->evaluations,
                                    how->length * b->size.n_layers, how->noise, e);
    b->values = ARENA_TAKE(&b->model.arena, n, *b->values);
    b->targets = ARENA_TAKE(&b->model.arena, n, *b->targets);
    return rc ? rc : arena_check(&b->model.arena, "a model of plans", e);
}

/* Evaluate a plan and remember it. */
static void bayes_learn(struct bayes *b, const hetero_id *plan)
{
    struct hetero_value v;
    hetero_try(b->s, plan, &v);
    if (hetero_surrogate_add(&b->model, plan))
        b->values[b->model.n - 1] = v;
}

/* Targets anew, since plans that fail are held against the dearest one that does not. Returns the least. */
static double bayes_fit(struct bayes *b)
{
    double ceiling = -INFINITY, least = INFINITY, per_s = b->s->problem->per_s;
    for (int32_t i = 0; i < b->model.n; i++)
        if (b->values[i].status == HETERO_OK)
            ceiling = fmax(ceiling, hetero_log_cost(&b->values[i], per_s, 0));
    for (int32_t i = 0; i < b->model.n; i++) {
        b->targets[i] = hetero_log_cost(&b->values[i], per_s, isfinite(ceiling) ? ceiling : 0);
        least = fmin(least, b->targets[i]);
    }
    hetero_surrogate_fit(&b->model, b->targets);
    return least;
}

/* Plans at random and neighbours of the best one, in turn: any region may be the right one, and so may be
 * this one. */
static void draw_candidates(hetero_id *plans, struct bayes *b, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        hetero_id *plan = plans + (size_t)i * (size_t)b->size.n_layers;
        if (i % 2 == 0) {
            hetero_draw_plan(plan, b->size, b->s->rng);
        } else {
            memcpy(plan, b->s->best, (size_t)b->size.n_layers * sizeof *plan);
            hetero_change_plan(plan, b->size, b->s->rng);
        }
    }
}

/* Of the candidates the one that promises most. */
static void bayes_choose(hetero_id *plan, struct bayes *b, int32_t candidates)
{
    hetero_id plans[HETERO_GUESSES * HETERO_MAX_LAYERS];
    struct hetero_guess guesses[HETERO_GUESSES];
    double least = bayes_fit(b), most = -1;
    for (int32_t done = 0; done < candidates; done += HETERO_GUESSES) {
        int32_t n = candidates - done < HETERO_GUESSES ? candidates - done : HETERO_GUESSES;
        draw_candidates(plans, b, n);
        hetero_surrogate_guess(guesses, &b->model, plans, n);
        for (int32_t i = 0; i < n; i++) {
            double gain = hetero_expected_gain(&guesses[i], least);
            if (gain > most) {
                most = gain;
                memcpy(plan, plans + (size_t)i * (size_t)b->size.n_layers,
                       (size_t)b->size.n_layers * sizeof *plan);
            }
        }
    }
}

/* Some plans at random, then each one where the expected improvement is largest among drawn candidates. */
int hetero_bayes(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    const struct hetero_bayes_settings *how = &settings->bayes;
    hetero_id plan[HETERO_MAX_LAYERS];
    struct bayes b = { 0 };
    int rc = bayes_build(&b, s, how, e);
    for (int32_t i = 0; i < how->evaluations && !rc; i++) {
        if (i < how->initial)
            hetero_draw_plan(plan, b.size, s->rng);
        else
            bayes_choose(plan, &b, how->candidates);
        bayes_learn(&b, plan);
        rc = work_check(e);
    }
    hetero_surrogate_free(&b.model);
    return rc;
}
