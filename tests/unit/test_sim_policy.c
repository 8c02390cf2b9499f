/* Policies against the same network written out plan by plan, and gradients against finite differences of it.
 */
#include "sim/hetero/policy.h"
#include "tests/support.h"

enum { MOST_LAYERS = 6, MOST_TYPES = 5, MOST_FEATURES = 4, MOST_HIDDEN = 7, MOST_PLANS = 8 };

static const struct policy_shape shapes[] = {
    { POLICY_LSTM, 3, 2, 2, 3, 4, true },  { POLICY_ELMAN, 3, 2, 2, 3, 4, true },
    { POLICY_LSTM, 6, 5, 4, 7, 8, true },  { POLICY_ELMAN, 6, 5, 4, 7, 8, true },
    { POLICY_LSTM, 4, 3, 1, 2, 5, false }, { POLICY_ELMAN, 1, 3, 2, 2, 3, true },
};

/* ---- a policy with features and all parameters drawn ---- */

struct fixture {
    struct policy p;
    struct rng *rng;
    double features[MOST_LAYERS * MOST_FEATURES];
    double weights[MOST_PLANS]; /* of each plan drawn */
};

static void setup(struct fixture *f, const struct policy_shape *s, uint64_t seed)
{
    MUST(rng_build(&f->rng, seed, 0, e));
    for (int i = 0; i < s->n_layers * s->n_features; i++)
        f->features[i] = rng_range(f->rng, -1, 1);
    MUST(policy_build(&f->p, s, f->features, e));
    for (int i = 0; i < f->p.n_params; i++)
        f->p.params[i] = rng_range(f->rng, -0.8, 0.8);
    if (!s->copy_logit)
        *policy_parts(&f->p, f->p.params).copy = 0;
    for (int i = 0; i < s->n_plans; i++)
        f->weights[i] = rng_range(f->rng, -1, 1);
}

static void teardown(struct fixture *f)
{
    policy_free(&f->p);
    rng_free(f->rng);
}

#define FIXTURE(f, shape, seed)                                                                              \
    KEEP(struct fixture, f, teardown);                                                                       \
    setup(&f, shape, seed)

/* ---- the same network, plainly ---- */

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

struct plain_state {
    double c[MOST_HIDDEN], h[MOST_HIDDEN];
};

static void plain_cell(const struct policy_shape *s, const double *z, struct plain_state *x)
{
    int n = s->hidden;
    for (int j = 0; j < n; j++) {
        if (s->cell == POLICY_ELMAN) {
            x->h[j] = tanh(z[j]);
            continue;
        }
        x->c[j] = sigmoid(z[n + j]) * x->c[j] + sigmoid(z[j]) * tanh(z[3 * n + j]);
        x->h[j] = sigmoid(z[2 * n + j]) * tanh(x->c[j]);
    }
}

static double log_sum_exp(const double *x, int n)
{
    double sum = exp(x[0]);
    for (int i = 1; i < n; i++)
        sum += exp(x[i]);
    return log(sum);
}

/* weight * log P(plan) + sum over layers of bonus * entropy, over one plan's own pass. */
static double plain_plan(const struct policy *p, const hetero_id *plan, double weight, double bonus)
{
    const struct policy_shape *s = &p->shape;
    struct policy_parts w = policy_parts(p, p->params);
    struct plain_state x = { 0 };
    double sum = 0;
    for (int l = 0; l < s->n_layers; l++) {
        double z[4 * MOST_HIDDEN], logits[MOST_TYPES] = { 0 };
        int before = l ? plan[l - 1] : s->n_types;
        for (int j = 0; j < p->n_gates; j++) {
            z[j] = w.type[before * p->n_gates + j];
            for (int k = 0; k < s->n_features; k++)
                z[j] += p->features[l * s->n_features + k] * w.input[k * p->n_gates + j];
            for (int k = 0; k < s->hidden; k++)
                z[j] += x.h[k] * w.state[k * p->n_out + j];
        }
        plain_cell(s, z, &x);
        for (int t = 0; t < s->n_types; t++) {
            logits[t] = w.bias[t];
            for (int k = 0; k < s->hidden; k++)
                logits[t] += x.h[k] * w.state[k * p->n_out + p->n_gates + t];
            logits[t] += t == before ? *w.copy : 0;
        }
        double log_total = log_sum_exp(logits, s->n_types);
        sum += weight * (logits[plan[l]] - log_total);
        for (int t = 0; t < s->n_types; t++)
            sum -= bonus * exp(logits[t] - log_total) * (logits[t] - log_total);
    }
    return sum;
}

/* Over the plans drawn last. */
static double plain_objective(const struct fixture *f, double bonus)
{
    double sum = 0;
    for (int leaf = 0; leaf < policy_n_leaves(&f->p); leaf++) {
        hetero_id plan[MOST_LAYERS];
        int32_t count = policy_plan(&f->p, leaf, plan);
        sum += count * plain_plan(&f->p, plan, f->weights[leaf], bonus);
    }
    return sum;
}

/* ---- tests ---- */

/* Five points: the error of the formula is below 1e-4^4, that of rounding about 1e-12. */
static double finite_difference(struct fixture *f, int32_t param, double bonus)
{
    TABLE_OF(points, double at, factor) = {
        { -2, 1.0 / 12 },
        { -1, -8.0 / 12 },
        { 1, 8.0 / 12 },
        { 2, -1.0 / 12 },
    };
    double *x = &f->p.params[param], here = *x, step = 1e-3, sum = 0;
    for (size_t i = 0; i < COUNT_OF(points); i++) {
        *x = here + points[i].at * step;
        sum += points[i].factor * plain_objective(f, bonus) / step;
    }
    *x = here;
    return sum;
}

TEST(the_gradient_is_what_finite_differences_say)
{
    int n_shared = 0;
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        FIXTURE(f, &shapes[i], 100 + i);
        policy_sample(&f.p, shapes[i].n_plans, f.rng);
        n_shared += policy_n_leaves(&f.p) < shapes[i].n_plans;
        policy_differentiate(&f.p, f.weights, 0.3);
        int32_t n = f.p.n_params - !shapes[i].copy_logit;
        for (int32_t k = 0; k < n; k++) {
            double want = finite_difference(&f, k, 0.3);
            assert_near(f.p.gradient[k], want, 1e-8 * fabs(want) + 1e-10);
        }
        if (!shapes[i].copy_logit)
            assert_true(f.p.gradient[n] == 0);
    }
    assert_in_range(n_shared, 1, COUNT_OF(shapes)); /* plans that are one leaf */
}

/* Nothing is left of the round before: a second pass says the same. */
TEST(a_gradient_can_be_asked_for_again)
{
    double first[1024];
    FIXTURE(f, &shapes[2], 7);
    assert_in_range(f.p.n_params, 1, COUNT_OF(first));
    for (int again = 0; again < 2; again++) {
        policy_sample(&f.p, again ? 8 : 3, f.rng);
        rng_free(f.rng);
        OK(rng_build(&f.rng, 7, 1, e));
        policy_sample(&f.p, 8, f.rng);
        policy_differentiate(&f.p, f.weights, 0.3);
        if (again)
            assert_memory_equal(first, f.p.gradient, (size_t)f.p.n_params * sizeof *first);
        memcpy(first, f.p.gradient, (size_t)f.p.n_params * sizeof *first);
    }
}

/* All plans of 3 layers and 2 types have a probability, together 1. */
TEST(plans_are_drawn_as_often_as_they_are_probable)
{
    enum { PLANS = 8, ROUNDS = 5000, EACH = 4 };
    double drawn[PLANS] = { 0 }, total = 0;
    FIXTURE(f, &shapes[0], 3);
    for (int r = 0; r < ROUNDS; r++) {
        policy_sample(&f.p, EACH, f.rng);
        for (int leaf = 0; leaf < policy_n_leaves(&f.p); leaf++) {
            hetero_id plan[3];
            int32_t count = policy_plan(&f.p, leaf, plan);
            drawn[plan[0] * 4 + plan[1] * 2 + plan[2]] += count;
        }
    }
    for (int i = 0; i < PLANS; i++) {
        const hetero_id plan[] = { (hetero_id)(i / 4), (hetero_id)(i / 2 % 2), (hetero_id)(i % 2) };
        double want = exp(plain_plan(&f.p, plan, 1, 0)), n = ROUNDS * EACH;
        assert_near(drawn[i] / n, want, 5 * sqrt(want * (1 - want) / n));
        total += want;
    }
    assert_close(total, 1, 1e-12);
}

TEST(a_decode_takes_the_most_probable_type_of_each_layer)
{
    hetero_id plan[MOST_LAYERS], other[MOST_LAYERS];
    FIXTURE(f, &shapes[2], 11);
    policy_decode(&f.p);
    assert_true(policy_n_leaves(&f.p) == 1 && policy_plan(&f.p, 0, plan) == 1);
    for (int l = 0; l < 6; l++) {
        /* Plans that agree before l and end at l: P of the prefix is that of a shorter network. */
        memcpy(other, plan, sizeof plan);
        f.p.shape.n_layers = l + 1;
        for (other[l] = 0; other[l] < 5; other[l]++)
            assert_true(plain_plan(&f.p, other, 1, 0) <= plain_plan(&f.p, plan, 1, 0));
        f.p.shape.n_layers = 6;
    }
}

/* V and v begin with zero: only the copy logit prefers a type. */
TEST(a_new_policy_prefers_nothing_but_to_stay)
{
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        const struct policy_shape *s = &shapes[i];
        double copy = s->copy_logit ? 1.5 : 0, types = s->n_types;
        FIXTURE(f, s, i);
        policy_start(&f.p, 1.5, f.rng);
        policy_sample(&f.p, s->n_plans, f.rng);
        for (int leaf = 0; leaf < policy_n_leaves(&f.p); leaf++) {
            hetero_id plan[MOST_LAYERS];
            double want = -log(types), all = log(types - 1 + exp(copy));
            policy_plan(&f.p, leaf, plan);
            for (int l = 1; l < s->n_layers; l++)
                want += (plan[l] == plan[l - 1] ? copy : 0) - all;
            assert_close(plain_plan(&f.p, plan, 1, 0), want, 1e-12);
        }
    }
}

TEST(equal_seeds_draw_equal_plans)
{
    hetero_id plans[2][MOST_PLANS][MOST_LAYERS] = { 0 };
    for (int again = 0; again < 2; again++) {
        FIXTURE(f, &shapes[2], 5);
        policy_start(&f.p, 1, f.rng);
        policy_sample(&f.p, 8, f.rng);
        for (int leaf = 0; leaf < policy_n_leaves(&f.p); leaf++)
            policy_plan(&f.p, leaf, plans[again][leaf]);
    }
    assert_memory_equal(plans[0], plans[1], sizeof plans[0]);
}

/* However far apart logits are, probabilities stay numbers. */
TEST(certain_choices_are_no_accident)
{
    double weights[MOST_PLANS] = { 1, 1, 1, 1 };
    FIXTURE(f, &shapes[0], 9);
    for (int i = 0; i < f.p.n_params; i++)
        f.p.params[i] *= 1e6;
    policy_sample(&f.p, 4, f.rng);
    policy_differentiate(&f.p, weights, 0.1);
    for (int i = 0; i < f.p.n_params; i++)
        assert_true(isfinite(f.p.gradient[i]));
}
