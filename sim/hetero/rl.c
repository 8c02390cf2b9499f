/*
 * Reinforcement learning of plans: REINFORCE on a recurrent policy.
 *
 * Of each round's plans a_1..a_N with rewards R_n parameters go uphill (Adam) along
 *
 *     sum over n of w_n grad log P(a_n) + bonus grad (mean entropy of a plan's choices)
 *
 * w_n is (R_n - b)/(N sigma), b a moving average of rewards and sigma their standard deviation in the round;
 * or, by default, max(0, R_n - q)/(K sigma') with q the reward that the best K = best_frac N plans exceed and
 * sigma' the root mean square of what they are above it (risk-seeking: B. Petersen et al., arXiv 1912.04871).
 *
 * That layers are scheduled by an LSTM is published (arXiv 2111.10635, abstract); that it compares an Elman
 * network and uses REINFORCE is recalled, not checked; the numbers and all below are this project's. A policy
 * that has made up its mind tries nothing new: after some rounds without a cheaper plan of its own another
 * one begins from nothing, as long as the budget lasts.
 */
#include "sim/hetero/policy.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/num.h"
#include "base/stat.h"
#include "sim/hetero/search.h"

/* A policy, and what is known of plans. */
struct learner {
    struct arena arena; /* of the arrays here */
    struct hetero_search *s;
    const struct hetero_rl_settings *settings;
    double *features;         /* shape [n_layers][n_features] */
    double *rewards;          /* shape [plans]: of the leaves of a round; then their weights */
    struct stat_rank *ranked; /* shape [plans]: plans of a round by reward, and how often each was drawn */
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
static double rl_collect(struct learner *x, int32_t n)
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

/* Rewards become advantages over the moving baseline, each for one of @p n plans. */
static void weigh_all(struct learner *x, int32_t n, double mean)
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

/* The reward that a share @p best of all plans exceeds at most. */
static double quantile(struct learner *x, double best)
{
    int32_t leaves = policy_n_leaves(&x->policy), at = 0;
    int64_t seen = 0;
    for (int32_t i = 0; i < leaves; i++)
        x->ranked[i] = (struct stat_rank){ -x->rewards[i], policy_count(&x->policy, i) };
    stat_sort_ranks(x->ranked, leaves);
    while (at < leaves - 1 && (double)(seen + x->ranked[at].at) <= best)
        seen += x->ranked[at++].at;
    return -x->ranked[at].key;
}

/* What counts is the cheapest plan that is found, not what plans cost on average: rewards become what they
 * are above a quantile of the round, and plans below it say nothing. */
static void weigh_best(struct learner *x, int32_t n)
{
    double best = x->settings->best_frac * n, edge = quantile(x, best), square = 0;
    int32_t leaves = policy_n_leaves(&x->policy);
    for (int32_t i = 0; i < leaves; i++) {
        x->rewards[i] = fmax(0, x->rewards[i] - edge);
        square += policy_count(&x->policy, i) * x->rewards[i] * x->rewards[i] / best;
    }
    double scale = 1 / (best * fmax(sqrt(square), LEAST_DEVIATION));
    for (int32_t i = 0; i < leaves; i++)
        x->rewards[i] *= scale;
}

static void rl_clip(double *gradient, int32_t n, double most)
{
    double square = 0;
    for (int32_t i = 0; i < n; i++)
        square += gradient[i] * gradient[i];
    if (square > most * most)
        for (int32_t i = 0; i < n; i++)
            gradient[i] *= most / sqrt(square);
}

/* One round: sample plans, turn costs into weights (best tenth, or all over a moving baseline), step along
 * the gradient. The entropy bonus falls to zero over the rounds. */
static void rl_learn(struct learner *x, int32_t n)
{
    struct policy *p = &x->policy;
    policy_sample(p, n, x->s->rng);
    double mean = rl_collect(x, n);
    if (x->settings->best_frac < 1)
        weigh_best(x, n);
    else
        weigh_all(x, n, mean);
    double left = 1 - (double)x->round / x->settings->rounds;
    policy_differentiate(p, x->rewards, x->settings->entropy * left / n);
    rl_clip(p->gradient, p->n_params, x->settings->clip);
    adam_step(&x->adam, p->params, p->gradient, x->settings->rate);
    x->round++;
}

/* ---- policies, one after the other ---- */

/* Copy logits to begin with: how much likelier staying is than leaving, as a logarithm. How long the stages
 * of good plans are is not known before, and a policy that stays too much ends with one type for all layers.
 */
static const double stay[] = { 1, -1 };
enum { N_STAY = sizeof stay / sizeof stay[0] };

static void rl_begin(struct learner *x)
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
    if (!hetero_may_try(x->s))
        return 0;
    return left < x->settings->plans ? (int32_t)left : x->settings->plans;
}

/* Starts a fresh policy whenever one has stopped gaining, as long as evaluations last; the last policy's most
 * likely plan is tried too. */
static void rl_search(struct learner *x)
{
    hetero_id plan[HETERO_MAX_LAYERS];
    struct hetero_value v;
    int32_t left;
    do {
        rl_begin(x);
        while ((left = plans_left(x)) > 0 && x->round < x->settings->rounds &&
               x->round - x->last_gain <= x->settings->patience)
            rl_learn(x, left);
    } while (left > 0);
    policy_decode(&x->policy);
    policy_plan(&x->policy, 0, plan);
    if (hetero_may_try(x->s))
        hetero_try(x->s, plan, &v);
}

/* Everything a run needs is allocated here; rounds allocate nothing. */
static int rl_build(struct learner *x, enum policy_cell cell, struct err *e)
{
    const struct hetero_profile *f = x->s->problem->profile;
    const struct policy_shape shape = { .cell = cell,
                                        .n_layers = f->n_layers,
                                        .n_types = f->n_types,
                                        .n_features = policy_n_features(f),
                                        .hidden = x->settings->hidden,
                                        .n_plans = x->settings->plans,
                                        .copy_logit = x->settings->copy_logit };
    x->features = ARENA_TAKE(&x->arena, (size_t)f->n_layers * (size_t)shape.n_features, *x->features);
    x->rewards = ARENA_TAKE(&x->arena, shape.n_plans, *x->rewards);
    x->ranked = ARENA_TAKE(&x->arena, shape.n_plans, *x->ranked);
    int rc = arena_check(&x->arena, "features of layers", e);
    if (rc)
        return rc;
    policy_features(x->features, f);
    rc = policy_build(&x->policy, &shape, x->features, e);
    return rc ? rc : adam_build(&x->adam, x->policy.n_params, e);
}

/* LSTM and Elman network differ by their cell alone. */
static int rl_run(struct hetero_search *s, const struct hetero_settings *settings, enum policy_cell cell,
                  struct err *e)
{
    struct learner x = { .s = s, .settings = &settings->rl };
    int rc = rl_build(&x, cell, e);
    if (!rc)
        rl_search(&x);
    adam_free(&x.adam);
    policy_free(&x.policy);
    arena_free(&x.arena);
    return rc;
}

int hetero_rl_lstm(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    return rl_run(s, settings, POLICY_LSTM, e);
}

int hetero_rl_rnn(struct hetero_search *s, const struct hetero_settings *settings, struct err *e)
{
    return rl_run(s, settings, POLICY_ELMAN, e);
}
