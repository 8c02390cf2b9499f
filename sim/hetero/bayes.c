/* Bayesian optimisation: a Gaussian process of ln(cost) over plans says which plan to try next. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hetero/moves.h"
#include "sim/hetero/search.h"
#include "sim/hetero/surrogate.h"

/* Each of them is a row of a dense factor: time grows with the cube. */
enum { BAYES_MOST = 4096 };

struct bayes {
    struct hetero_search *s;
    struct hetero_size size;
    struct hetero_surrogate model;
    struct hetero_value *values; /* shape [cap], owned: of the plans in the model */
    double *targets;             /* shape [cap], owned */
};

static int check_settings(const struct hetero_bayes_settings *how, struct err *e)
{
    if (how->initial < 1)
        return err_set(e, ERR_RANGE, "bayes: initial plans are %d, need 1 or more", how->initial);
    if (how->evaluations < how->initial || how->evaluations > BAYES_MOST)
        return err_set(e, ERR_RANGE, "bayes: evaluations are %d, need %d to %d", how->evaluations,
                       how->initial, BAYES_MOST);
    if (how->candidates < 1)
        return err_set(e, ERR_RANGE, "bayes: candidates are %d, need 1 or more", how->candidates);
    if (!(how->length > 0 && isfinite(how->length)))
        return err_set(e, ERR_RANGE, "bayes: length is %g, need > 0", how->length);
    if (!(how->noise >= 0 && isfinite(how->noise)))
        return err_set(e, ERR_RANGE, "bayes: noise is %g, need >= 0", how->noise);
    return 0;
}

static void bayes_free(struct bayes *b)
{
    hetero_surrogate_free(&b->model);
    free(b->values);
    free(b->targets);
}

static int bayes_build(struct bayes *b, struct hetero_search *s, const struct hetero_bayes_settings *how,
                       struct err *e)
{
    size_t n = (size_t)how->evaluations;
    b->s = s;
    b->size = hetero_size_of(s->problem);
    b->values = calloc(n, sizeof *b->values);
    b->targets = calloc(n, sizeof *b->targets);
    if (!b->values || !b->targets)
        return err_nomem(e, "a model of plans");
    return hetero_surrogate_build(&b->model, b->size.n_layers, how->evaluations,
                                  how->length * b->size.n_layers, how->noise, e);
}

/* Evaluate a plan and remember it. */
static void learn(struct bayes *b, const hetero_id *plan)
{
    struct hetero_value v;
    hetero_try(b->s, plan, &v);
    if (hetero_surrogate_add(&b->model, plan))
        b->values[b->model.n - 1] = v;
}

/* Targets anew, since plans that fail are held against the dearest one that does not. Returns the least. */
static double fit(struct bayes *b)
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
static void choose(hetero_id *plan, struct bayes *b, int32_t candidates)
{
    hetero_id plans[HETERO_GUESSES * HETERO_MAX_LAYERS];
    struct hetero_guess guesses[HETERO_GUESSES];
    double least = fit(b), most = -1;
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

int hetero_bayes(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    const struct hetero_bayes_settings *how = &settings->bayes;
    hetero_id plan[HETERO_MAX_LAYERS];
    struct bayes b = { 0 };
    int rc = check_settings(how, e);
    if (!rc)
        rc = bayes_build(&b, s, how, e);
    for (int32_t i = 0; i < how->evaluations && !rc; i++) {
        if (i < how->initial)
            hetero_draw_plan(plan, b.size, s->rng);
        else
            choose(plan, &b, how->candidates);
        learn(&b, plan);
    }
    bayes_free(&b);
    return rc;
}
