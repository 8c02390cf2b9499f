/*
 * The list of schedulers, a run of one of them, and what searches share.
 */
#include "sim/hetero/search.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "base/num.h"
#include "base/text.h"

const struct hetero_scheduler hetero_schedulers[] = {
    { "oracle", "the cheapest plan, proved where limits of units do not bind", hetero_oracle_run, false,
      false },
    { "exact", "the cheapest plan, proved within the limits of units", hetero_labels_run, false, false },
    { "brute-force", "all plans, at most 2^22", hetero_brute, false, false },
    { "rl-lstm", "an LSTM that learns by REINFORCE", hetero_rl_lstm, true, false },
    { "rl-rnn", "the same with an Elman network", hetero_rl_rnn, true, false },
    { "greedy", "layer by layer, the type that makes the plan cheapest", hetero_greedy, false, false },
    { "genetic", "a genetic algorithm", hetero_genetic, true, false },
    { "bayes", "Bayesian optimisation: few evaluations", hetero_bayes, true, false },
    { "anneal", "simulated annealing", hetero_anneal, true, false },
    { "random", "the type of each layer drawn by itself", hetero_random, true, false },
    { "random-stages", "plans of longer stages drawn", hetero_random_stages, true, false },
    { "heuristic", "look-ups and pooling on CPUs, all else on GPUs", hetero_heuristic, false, false },
    { "gpu-only", "all on one type of GPU", hetero_gpu_only, false, false },
    { "cpu-only", "all on one type of CPU", hetero_cpu_only, false, false },
    { "random+local", "then one stage or layer recoloured at a time", hetero_random, true, true },
    { "rl-lstm+local", "rl-lstm, then one stage or layer recoloured at a time", hetero_rl_lstm, true, true },
};
const int32_t n_hetero_schedulers = (int32_t)(sizeof hetero_schedulers / sizeof hetero_schedulers[0]);

/* A stream of random numbers for each name, so that a new row of the list changes no other one's draws. A
 * search with a local search after it is the same search: what follows '+' does not count. */
static uint64_t stream_of(const char *name)
{
    return text_hash(TEXT_HASH_SEED, name, strcspn(name, "+")) & UINT32_MAX;
}

/* Plans that it is going to try; 0: nobody knows. */
static int64_t plans_of(const struct hetero_scheduler *x, const struct hetero_settings *settings)
{
    if (x->run == hetero_bayes)
        return settings->bayes.evaluations;
    return x->seeded ? settings->evaluations : 0;
}

/* Runs a scheduler, then local improvement where its row asks for it. Streams depend on the scheduler's name,
 * not its place in the list, so adding one changes no other's results. */
int hetero_schedule(struct hetero_search *s, const struct hetero_problem *p, int32_t which,
                    const struct hetero_settings *settings, uint64_t seed, struct err *e)
{
    const struct hetero_scheduler *x = &hetero_schedulers[which];
    struct hetero_value again;
    int rc = hetero_search_build(s, p, seed, stream_of(x->name), settings->evaluations, e);
    work_begin(&s->plans, "plans", plans_of(x, settings));
    if (!rc)
        rc = x->run(s, settings, e);
    if (!rc && x->local)
        rc = hetero_local(s, e);
    if (!rc && s->failed)
        rc = err_nomem(e, "a learning curve");
    if (!rc)
        rc = work_check(e);
    if (!rc)
        hetero_evaluate(&again, p, s->best, &s->work);
    work_end(&s->plans);
    return rc;
}

/* Starts as "too slow at any cost", so that the first plan tried is an improvement. */
int hetero_search_build(struct hetero_search *s, const struct hetero_problem *p, uint64_t seed,
                        uint64_t stream, int64_t budget, struct err *e)
{
    *s = (struct hetero_search){
        .problem = p, .budget = budget, .value = { HETERO_TOO_SLOW, NAN, NAN, NAN, 0 }, .lower_usd = NAN
    };
    int rc = hetero_work_build(&s->work, p, e);
    if (!rc)
        rc = rng_build(&s->rng, seed, stream, e);
    if (rc)
        return rc;
    s->best = calloc((size_t)p->profile->n_layers, sizeof *s->best);
    return s->best ? 0 : err_nomem(e, "a plan");
}

void hetero_search_free(struct hetero_search *s)
{
    hetero_work_free(&s->work);
    rng_free(s->rng);
    free(s->best);
    free(s->curve);
    *s = (struct hetero_search){ 0 };
}

bool hetero_is_better(const struct hetero_value *a, const struct hetero_value *b)
{
    if (a->status == HETERO_OK)
        return b->status != HETERO_OK || a->usd < b->usd;
    return b->status != HETERO_OK && a->reach_per_s > b->reach_per_s;
}

static void curve_add(struct hetero_search *s)
{
    if (!vec_reserve(s->curve, s->cap_curve, s->n_curve + 1)) {
        s->failed = true;
        return;
    }
    s->curve[s->n_curve++] = (struct hetero_curve_point){ s->evaluations, s->value.usd };
}

void hetero_try(struct hetero_search *s, const hetero_id *plan, struct hetero_value *v)
{
    hetero_evaluate(v, s->problem, plan, &s->work);
    s->evaluations++;
    work_step(&s->plans, 1);
    if (s->evaluations > 1 && !hetero_is_better(v, &s->value))
        return;
    memcpy(s->best, plan, (size_t)s->problem->profile->n_layers * sizeof *plan);
    s->value = *v;
    if (v->status == HETERO_OK)
        curve_add(s);
}

/* A plan that reaches less than this share of the throughput is as bad as one that reaches this: a single
 * hopeless plan must not drown the differences between the others. */
#define LEAST_REACH 1e-6

struct hetero_size hetero_size_of(const struct hetero_problem *p)
{
    return (struct hetero_size){ p->profile->n_layers, p->profile->n_types };
}

void hetero_draw_layers(hetero_id *plan, struct hetero_size size, struct rng *rng)
{
    for (int32_t l = 0; l < size.n_layers; l++)
        plan[l] = (hetero_id)rng_below(rng, size.n_types);
}

void hetero_draw_plan(hetero_id *plan, struct hetero_size size, struct rng *rng)
{
    double stay = rng_uniform(rng);
    for (int32_t l = 0; l < size.n_layers; l++) {
        bool same = l > 0 && rng_uniform(rng) < stay;
        plan[l] = same ? plan[l - 1] : (hetero_id)rng_below(rng, size.n_types);
    }
}

/* Layers first..last get a type that the first of them has not. */
static void recolour(hetero_id *plan, int32_t first, int32_t last, int32_t n_types, struct rng *rng)
{
    hetero_id type = (hetero_id)rng_below(rng, n_types - 1);
    if (type >= plan[first])
        type++;
    for (int32_t l = first; l <= last; l++)
        plan[l] = type;
}

/* Ends of the stage that a layer is in. */
static int32_t stage_first(const hetero_id *plan, int32_t layer)
{
    while (layer > 0 && plan[layer - 1] == plan[layer])
        layer--;
    return layer;
}

static int32_t stage_last(const hetero_id *plan, int32_t n_layers, int32_t layer)
{
    while (layer + 1 < n_layers && plan[layer + 1] == plan[layer])
        layer++;
    return layer;
}

/* First layer of a stage that is not the first, each equally likely; -1: there is one stage only. */
static int32_t draw_boundary(const hetero_id *plan, int32_t n_layers, struct rng *rng)
{
    int32_t n = 0;
    for (int32_t l = 1; l < n_layers; l++)
        n += plan[l] != plan[l - 1];
    if (n == 0)
        return -1;
    int64_t which = rng_below(rng, n);
    for (int32_t l = 1; l < n_layers; l++)
        if (plan[l] != plan[l - 1] && which-- == 0)
            return l;
    return -1;
}

/* The boundary before layer @p at goes anywhere else between the far ends of the two stages. */
static void move_boundary(hetero_id *plan, int32_t n_layers, int32_t at, struct rng *rng)
{
    int32_t first = stage_first(plan, at - 1), end = stage_last(plan, n_layers, at) + 1;
    int32_t to = first + (int32_t)rng_below(rng, end - first);
    if (to >= at)
        to++;
    hetero_id left = plan[at - 1], right = plan[at];
    for (int32_t l = at; l < to; l++)
        plan[l] = left;
    for (int32_t l = to; l < at; l++)
        plan[l] = right;
}

/* A neighbour of a plan: a boundary moved, a stage recoloured, or one layer recoloured, equally likely. */
void hetero_change_plan(hetero_id *plan, struct hetero_size size, struct rng *rng)
{
    if (size.n_types < 2)
        return;
    int64_t kind = rng_below(rng, 3);
    int32_t boundary = kind == 0 ? draw_boundary(plan, size.n_layers, rng) : -1;
    if (boundary > 0) {
        move_boundary(plan, size.n_layers, boundary, rng);
        return;
    }
    int32_t first = (int32_t)rng_below(rng, size.n_layers), last = first;
    if (kind == 1) {
        last = stage_last(plan, size.n_layers, first);
        first = stage_first(plan, first);
    }
    recolour(plan, first, last, size.n_types, rng);
}

double hetero_log_cost(const struct hetero_value *v, double per_s, double ceiling)
{
    if (v->status == HETERO_OK)
        return elementary_log(fmax(v->usd, DBL_MIN)); /* units may be free */
    return ceiling + elementary_log(fmax(1, per_s / fmax(v->reach_per_s, per_s * LEAST_REACH)));
}
