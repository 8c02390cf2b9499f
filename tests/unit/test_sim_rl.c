/* Learned schedules against the proved optimum, and what a run promises whatever it finds. */
#include "sim/hetero/oracle.h"
#include "sim/hetero/policy.h"
#include "sim/hetero/search.h"
#include "tests/settings.h"
#include "tests/support.h"
#include "tests/unit/hetero_models.h"

static int32_t scheduler(const char *name)
{
    for (int32_t i = 0; i < n_hetero_schedulers; i++)
        if (strcmp(hetero_schedulers[i].name, name) == 0)
            return i;
    fail_msg("no scheduler %s", name);
    return -1;
}

static void run(struct hetero_search *s, const struct hetero_problem *p, const char *name,
                const struct hetero_settings *settings, uint64_t seed)
{
    MUST(hetero_schedule(s, p, scheduler(name), settings, seed, e));
}

/* A search that is released where the block ends. */
#define RUN(v, ...)                                                                                          \
    KEEP(struct hetero_search, v, hetero_search_free);                                                       \
    run(&v, __VA_ARGS__)

/* ---- what it finds ---- */

TEST(learned_plans_of_two_types_are_within_two_percent_of_the_optimum)
{
    CASES(const char *name;
          double best_frac /* 1: all plans of a round count, over the moving baseline */) = {
        { "rl-lstm", 0.1 }, { "rl-rnn", 0.1 }, { "rl-lstm", 1 }
    };
    WITH(struct hetero_settings, settings, hetero_settings_default(), settings.evaluations = 6400);
    for (int m = 0; m < N_HETERO_MODELS; m++)
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            KEEP(struct hetero_oracle, o, hetero_oracle_free);
            HETERO_MODELS(c, (enum hetero_model)m, HETERO_MODELS_TIGHT);
            OK(hetero_oracle(&o, &c.problem, e));
            settings.rl.best_frac = cases[i].best_frac;
            RUN(s, &c.problem, cases[i].name, &settings, 1);
            assert_true(s.value.status == HETERO_OK && s.value.usd <= 1.02 * o.usd);
        }
}

/* 10 layers on 8 types: 10^9 plans, of which a run tries one in 170,000. Without steps in the direction of
 * what was learned, a policy is chance too. */
TEST(learning_beats_chance_at_as_many_plans)
{
    struct hetero_settings settings = hetero_settings_default();
    const struct hetero_setup setup = {
        .overlap = true, .provisioning = HETERO_EXACT, .examples = 1e6, .epochs = 1, .server = -1
    };
    struct hetero_draw draw = hetero_draw_default();
    KEEP(struct hetero_profile, profile, hetero_profile_free);
    KEEP(struct hetero_problem, p, hetero_free);
    double reach_per_s;
    settings.evaluations = 6400;
    draw.model = HETERO_2EMB;
    draw.n_types = 8;
    OK(hetero_draw_profile(&profile, &draw, e));
    OK(hetero_build(&p, &profile, &setup, e));
    OK(hetero_reach(&reach_per_s, NULL, &p, e));
    hetero_set_throughput(&p, 0.5 * reach_per_s);
    RUN(learned, &p, "rl-lstm", &settings, 1);
    RUN(chance, &p, "random", &settings, 1);
    settings.rl.rate = 0;
    RUN(unlearned, &p, "rl-lstm", &settings, 1);
    assert_true(learned.evaluations <= chance.evaluations && learned.value.status == HETERO_OK);
    assert_true(chance.value.status != HETERO_OK || learned.value.usd < chance.value.usd);
    assert_true(unlearned.value.status != HETERO_OK || learned.value.usd < unlearned.value.usd);
}

/* ---- what it promises ---- */

TEST(equal_seeds_take_equal_ways)
{
    WITH(struct hetero_settings, settings, hetero_settings_default(), settings.evaluations = 2000);
    struct hetero_search s[3];
    HETERO_MODELS(c, HETERO_CTRDNN, HETERO_MODELS_TIGHT);
    for (int i = 0; i < 3; i++)
        run(&s[i], &c.problem, "rl-lstm", &settings, i < 2 ? 7 : 8);
    assert_int_equal(s[0].n_curve, s[1].n_curve);
    assert_memory_equal(s[0].curve, s[1].curve, (size_t)s[0].n_curve * sizeof *s[0].curve);
    assert_memory_equal(s[0].best, s[1].best, 16 * sizeof *s[0].best);
    assert_true(s[0].n_curve != s[2].n_curve ||
                memcmp(s[0].curve, s[2].curve, (size_t)s[0].n_curve * sizeof *s[0].curve) != 0);
    for (int i = 0; i < 3; i++)
        hetero_search_free(&s[i]);
}

TEST(a_run_uses_its_evaluations_and_no_more)
{
    static const int64_t budgets[] = { 1, 2, 64, 65, 66, 1000 };
    struct hetero_settings settings = hetero_settings_default();
    HETERO_MODELS(c, HETERO_2EMB, HETERO_MODELS_TIGHT);
    for (size_t i = 0; i < COUNT_OF(budgets); i++) {
        settings.evaluations = budgets[i];
        RUN(s, &c.problem, "rl-rnn", &settings, 1);
        assert_int_equal(s.evaluations, budgets[i]);
    }
}

TEST(without_a_plan_the_one_that_reaches_most_is_told)
{
    WITH(struct hetero_settings, settings, hetero_settings_default(), settings.evaluations = 3000);
    HETERO_MODELS(c, HETERO_NCE5, HETERO_MODELS_TIGHT);
    hetero_set_throughput(&c.problem, 1.01 * c.reach_per_s);
    RUN(s, &c.problem, "rl-lstm", &settings, 1);
    assert_int_not_equal(s.value.status, HETERO_OK);
    assert_close(s.value.reach_per_s, c.reach_per_s, 1e-5);
}

/* Neither prices nor times nor types to choose from: logarithms of zero, and no choice. */
TEST(profiles_without_anything_to_learn_are_no_accident)
{
    const struct hetero_setup setup = { .overlap = true, .examples = 1, .epochs = 1, .server = -1 };
    WITH(struct hetero_settings, settings, hetero_settings_default(), settings.evaluations = 300);
    for (int32_t types = 1; types <= 2; types++) {
        KEEP(struct hetero_profile, profile, hetero_profile_free);
        KEEP(struct hetero_problem, p, hetero_free);
        OK(hetero_profile_build(&profile, 3, types, e));
        for (int32_t t = 0; t < types; t++)
            profile.compute_s[t] = 1;
        profile.layers[1].weight_B = INFINITY;
        OK(hetero_build(&p, &profile, &setup, e));
        hetero_set_throughput(&p, 1);
        RUN(s, &p, "rl-lstm", &settings, 1);
        assert_true(s.value.status == HETERO_OK && s.value.usd == 0);
    }
}

TEST(a_local_search_goes_on_from_the_same_run)
{
    WITH(struct hetero_settings, settings, hetero_settings_default(), settings.evaluations = 500);
    HETERO_MODELS(c, HETERO_MATCHNET, HETERO_MODELS_TIGHT);
    RUN(alone, &c.problem, "rl-lstm", &settings, 3);
    RUN(with, &c.problem, "rl-lstm+local", &settings, 3);
    assert_true(with.evaluations > alone.evaluations && with.n_curve >= alone.n_curve);
    assert_memory_equal(with.curve, alone.curve, (size_t)alone.n_curve * sizeof *alone.curve);
    assert_true(!hetero_is_better(&alone.value, &with.value));
}

/* ---- features ---- */

TEST(features_have_mean_0_and_variance_1_or_nothing_to_say)
{
    HETERO_MODELS(c, HETERO_2EMB, HETERO_MODELS_LOOSE);
    int32_t n = policy_n_features(&c.profile), layers = c.profile.n_layers;
    KEEP(double *, x, free_at) = calloc((size_t)(n * layers), sizeof *x);
    assert_non_null(x);
    policy_features(x, &c.profile);
    for (int32_t j = 0; j < n; j++) {
        double mean = 0, square = 0;
        for (int32_t l = 0; l < layers; l++) {
            mean += x[l * n + j] / layers;
            square += x[l * n + j] * x[l * n + j] / layers;
        }
        if (j == 0)
            assert_true(fabs(mean - 1) < 1e-12 && fabs(square - 1) < 1e-12);
        else if (j >= n - 6) /* two sizes, two times of two types each */
            assert_true(fabs(mean) < 1e-12 && (square == 0 || fabs(square - 1) < 1e-12));
    }
}

/* 1, the middle of the layer in the model less 1/2, its kind, its number, and the
 * logarithms of its measures, standardised. */
TEST(features_are_those_of_the_layers)
{
    HETERO_MODELS(c, HETERO_2EMB, HETERO_MODELS_LOOSE);
    const struct hetero_profile *p = &c.profile;
    int32_t n = policy_n_features(p), layers = p->n_layers, measures = n - 2 - 2 * p->n_types;
    assert_int_equal(measures, 2 + N_HETERO_KINDS + layers);
    KEEP(double *, x, free_at) = calloc((size_t)(n * layers), sizeof *x);
    KEEP(double *, want, free_at) = calloc((size_t)(n * layers), sizeof *want);
    assert_true(x && want);
    for (int32_t t = 0; t < p->n_types; t++)
        p->handover_s[t] = p->sync_s[t] / 3; /* of the first layer: their sum counts */
    policy_features(x, p);
    for (int32_t l = 0; l < layers; l++) {
        double *row = want + l * n, *m = row + measures;
        row[0] = 1;
        row[1] = (l + 0.5) / layers - 0.5;
        row[2 + p->layers[l].kind] = row[2 + N_HETERO_KINDS + l] = 1;
        m[0] = log(p->layers[l].in_B + 1);
        m[1] = log(p->layers[l].weight_B + 1);
        for (int32_t t = 0; t < p->n_types; t++) {
            m[2 + 2 * t] = log(p->compute_s[l * p->n_types + t] + 1e-9);
            m[3 + 2 * t] = log(p->sync_s[l * p->n_types + t] + p->handover_s[l * p->n_types + t] + 1e-9);
        }
    }
    for (int32_t j = 0; j < n; j++) {
        double mean = 0, square = 0;
        for (int32_t l = 0; l < layers; l++)
            mean += want[l * n + j] / layers;
        for (int32_t l = 0; l < layers; l++)
            square += (want[l * n + j] - mean) * (want[l * n + j] - mean) / layers;
        for (int32_t l = 0; l < layers; l++)
            assert_near(x[l * n + j],
                        j < measures    ? want[l * n + j]
                        : square > 1e-9 ? (want[l * n + j] - mean) / sqrt(square)
                                        : 0,
                        1e-9);
    }
}
