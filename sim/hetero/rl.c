/*
 * Reinforcement learning of plans: REINFORCE on a recurrent policy.
 *
 * Of each round's plans a_1..a_N with rewards R_n, with b a moving average of rewards and sigma their
 * standard deviation in the round, parameters go uphill (Adam) along
 *
 *     1/N sum over n of (R_n - b)/sigma grad log P(a_n) + bonus grad (mean entropy of a plan's choices)
 *
 * That layers are scheduled by an LSTM or an Elman network with REINFORCE is arXiv 2111.10635; the numbers
 * and all below are this project's. A policy that has made up its mind tries nothing new: after some rounds
 * without a cheaper plan of its own another one begins from nothing, as long as the budget lasts.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "sim/hetero/adam.h"
#include "sim/hetero/elementary.h"
#include "sim/hetero/policy.h"
#include "sim/hetero/rl_features.h"
#include "sim/hetero/search.h"

/* A policy, and what is known of plans. */
struct learner {
    struct hetero_search *s;
    const struct hetero_rl_settings *settings;
    double *features; /* shape [n_layers][n_features], owned */
    double *rewards;  /* shape [plans], owned: of the leaves of a round; then their weights */
    struct policy policy;
    struct adam adam;
    double dearest;  /* logarithm of the largest cost seen [ln USD]; 0 before there is one */
    double cheapest; /* of the least cost that this policy has seen */
    bool priced;     /* has a cost been seen? */
    double baseline;
    int32_t policies, round, last_gain; /* policies begun; rounds of this one, that of its cheapest plan */
};

/* ---- rewards ---- */

/* What a plan that does not reach the throughput is further away from it, in factors of e, counts twice;
 * beyond this all are equal. */
#define MISS_WEIGHT 2.0
#define MOST_MISS   10.0

/* Logarithm of a number that should be positive, but may be 0. */
static double safe_log(double x)
{
    return elementary_log(fmin(fmax(x, DBL_MIN), DBL_MAX));
}

/* The negative logarithm of the cost. A plan that fails is worse than the dearest seen so far. */
static double reward_of(struct learner *x, const struct hetero_value *v)
{
    if (v->status != HETERO_OK) {
        double miss = safe_log(x->s->problem->per_s) - safe_log(v->reach_per_s);
        return -x->dearest - MISS_WEIGHT * fmin(fmax(miss, 0), MOST_MISS);
    }
    double cost = safe_log(v->usd);
    x->dearest = x->priced ? fmax(x->dearest, cost) : cost;
    x->priced = true;
    if (cost < x->cheapest) {
        x->cheapest = cost;
        x->last_gain = x->round;
    }
    return -cost;
}

/* Rewards of the leaves of a round, and their mean over its @p n plans. */
static double collect(struct learner *x, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < policy_n_leaves(&x->policy); i++) {
        hetero_id plan[HETERO_MAX_LAYERS];
        struct hetero_value v;
        int32_t count = policy_plan(&x->policy, i, plan);
        hetero_try(x->s, plan, &v);
        x->rewards[i] = reward_of(x, &v);
        sum += count * x->rewards[i];
    }
    return sum / n;
}

/* ---- a round ---- */

/* Below a thousandth, differences of cost are not blown up to the size that others have. */
#define LEAST_DEVIATION 1e-3

/* Rewards become advantages, each for one of @p n plans. */
static void weigh(struct learner *x, int32_t n, double mean)
{
    double variance = 0;
    int32_t leaves = policy_n_leaves(&x->policy);
    if (x->round == 0)
        x->baseline = mean;
    for (int32_t i = 0; i < leaves; i++) {
        double off = x->rewards[i] - mean;
        variance += policy_count(&x->policy, i) * off * off / n;
    }
    double scale = 1 / (n * fmax(sqrt(variance), LEAST_DEVIATION));
    for (int32_t i = 0; i < leaves; i++)
        x->rewards[i] = (x->rewards[i] - x->baseline) * scale;
    x->baseline += x->settings->gamma * (mean - x->baseline);
}

static void clip(double *gradient, int32_t n, double most)
{
    double square = 0;
    for (int32_t i = 0; i < n; i++)
        square += gradient[i] * gradient[i];
    if (square > most * most)
        for (int32_t i = 0; i < n; i++)
            gradient[i] *= most / sqrt(square);
}

static void learn(struct learner *x, int32_t n)
{
    struct policy *p = &x->policy;
    policy_sample(p, n, x->s->rng);
    weigh(x, n, collect(x, n));
    double left = 1 - (double)x->round / x->settings->rounds;
    policy_differentiate(p, x->rewards, x->settings->entropy * left / n);
    clip(p->gradient, p->n_params, x->settings->clip);
    adam_step(&x->adam, p->params, p->gradient, x->settings->rate);
    x->round++;
}

/* ---- policies, one after the other ---- */

/* Copy logits to begin with: how much likelier staying is than leaving, as a logarithm. How long the stages
 * of good plans are is not known before, and a policy that stays too much ends with one type for all layers.
 */
static const double stay[] = { 1, -1 };
enum { N_STAY = sizeof stay / sizeof stay[0] };

static void begin(struct learner *x)
{
    int32_t others = x->policy.shape.n_types - 1;
    policy_start(&x->policy, safe_log(others) + stay[x->policies % N_STAY], x->s->rng);
    adam_restart(&x->adam);
    x->cheapest = INFINITY;
    x->round = x->last_gain = 0;
    x->policies++;
}

/* One evaluation is kept for the last policy's own choice. */
static int32_t plans_left(const struct learner *x)
{
    int64_t left = x->s->budget - x->s->evaluations - 1;
    return left < x->settings->plans ? (int32_t)left : x->settings->plans;
}

static void search(struct learner *x)
{
    hetero_id plan[HETERO_MAX_LAYERS];
    struct hetero_value v;
    do {
        begin(x);
        while (x->round < x->settings->rounds && x->round - x->last_gain <= x->settings->patience &&
               plans_left(x) > 0)
            learn(x, plans_left(x));
    } while (plans_left(x) > 0);
    policy_decode(&x->policy);
    policy_plan(&x->policy, 0, plan);
    if (hetero_may_try(x->s))
        hetero_try(x->s, plan, &v);
}

static int build(struct learner *x, enum policy_cell cell, struct err *e)
{
    const struct hetero_profile *f = x->s->problem->profile;
    const struct policy_shape shape = { .cell = cell,
                                        .n_layers = f->n_layers,
                                        .n_types = f->n_types,
                                        .n_features = hetero_rl_n_features(f),
                                        .hidden = x->settings->hidden,
                                        .n_plans = x->settings->plans,
                                        .copy_logit = x->settings->copy_logit };
    x->features = malloc((size_t)f->n_layers * (size_t)shape.n_features * sizeof *x->features);
    x->rewards = malloc((size_t)shape.n_plans * sizeof *x->rewards);
    if (!x->features || !x->rewards)
        return err_nomem(e, "features of layers");
    hetero_rl_features(x->features, f);
    int rc = policy_build(&x->policy, &shape, x->features, e);
    return rc ? rc : adam_build(&x->adam, x->policy.n_params, e);
}

static int run(struct hetero_search *s, const struct hetero_settings *settings, enum policy_cell cell,
               struct err *e)
{
    struct learner x = { .s = s, .settings = &settings->rl };
    int rc = build(&x, cell, e);
    if (!rc)
        search(&x);
    adam_free(&x.adam);
    policy_free(&x.policy);
    free(x.features);
    free(x.rewards);
    return rc;
}

int hetero_rl_lstm(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    return run(s, settings, POLICY_LSTM, e);
}

int hetero_rl_rnn(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    return run(s, settings, POLICY_ELMAN, e);
}
