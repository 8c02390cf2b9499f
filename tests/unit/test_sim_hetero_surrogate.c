#include "sim/hetero/bayes.h"
#include "base/rng.h"
#include "tests/support.h"

enum { LAYERS = 6, MOST = 24 };

static const double length = 1.5, noise = 1e-3;

static int32_t differ(const hetero_id *a, const hetero_id *b)
{
    int32_t n = 0;
    for (int32_t l = 0; l < LAYERS; l++)
        n += a[l] != b[l];
    return n;
}

/* x with A x = b by elimination with row exchanges: A and b are lost. */
static void solve(double a[MOST][MOST], double *b, int32_t n)
{
    for (int32_t j = 0; j < n; j++) {
        int32_t top = j;
        for (int32_t i = j + 1; i < n; i++)
            top = fabs(a[i][j]) > fabs(a[top][j]) ? i : top;
        for (int32_t k = 0; k < n; k++) {
            double x = a[j][k];
            a[j][k] = a[top][k];
            a[top][k] = x;
        }
        double x = b[j];
        b[j] = b[top];
        b[top] = x;
        for (int32_t i = 0; i < n; i++) {
            double times = i == j ? 0 : a[i][j] / a[j][j];
            for (int32_t k = j; k < n; k++)
                a[i][k] -= times * a[j][k];
            b[i] -= times * b[j];
        }
    }
    for (int32_t j = 0; j < n; j++)
        b[j] /= a[j][j];
}

/* What is known, drawn. */
struct fixture {
    struct hetero_surrogate model;
    struct rng *rng;
    hetero_id plans[MOST][LAYERS];
    double targets[MOST];
};

static void draw_plan(struct fixture *x, hetero_id *plan)
{
    for (int32_t l = 0; l < LAYERS; l++)
        plan[l] = (hetero_id)rng_below(x->rng, 3);
}

static void fixture_build(struct fixture *x, int32_t n, double its_noise)
{
    MUST(rng_build(&x->rng, 9, (uint64_t)n, e));
    MUST(hetero_surrogate_build(&x->model, LAYERS, MOST, length, its_noise, e));
    while (x->model.n < n) {
        hetero_id *plan = x->plans[x->model.n];
        draw_plan(x, plan);
        x->targets[x->model.n] = rng_range(x->rng, 3, 9);
        hetero_surrogate_add(&x->model, plan);
    }
    hetero_surrogate_fit(&x->model, x->targets);
}

static void fixture_free(struct fixture *x)
{
    hetero_surrogate_free(&x->model);
    rng_free(x->rng);
}

#define FIXTURE(v, ...)                                                                                      \
    KEEP(struct fixture, v, fixture_free);                                                                   \
    fixture_build(&v, __VA_ARGS__)

/* k' K^-1 b by the dense system. */
static double dense(const struct fixture *x, const hetero_id *plan, const double *b)
{
    double a[MOST][MOST], y[MOST], sum = 0;
    int32_t n = x->model.n;
    for (int32_t i = 0; i < n; i++) {
        y[i] = b[i];
        for (int32_t j = 0; j < n; j++)
            a[i][j] = exp(-differ(x->plans[i], x->plans[j]) / length) + (i == j ? noise : 0);
    }
    solve(a, y, n);
    for (int32_t i = 0; i < n; i++)
        sum += exp(-differ(plan, x->plans[i]) / length) * y[i];
    return sum;
}

TEST(posterior_is_that_of_the_dense_system)
{
    static const int32_t sizes[] = { 1, 2, 7, MOST };
    for (size_t s = 0; s < COUNT_OF(sizes); s++) {
        double scaled[MOST], mean = 0, square = 0;
        int32_t n = sizes[s];
        FIXTURE(x, n, noise);
        for (int32_t i = 0; i < n; i++)
            mean += x.targets[i] / n;
        for (int32_t i = 0; i < n; i++)
            square += (x.targets[i] - mean) * (x.targets[i] - mean) / n;
        double scale = n > 1 ? sqrt(square) : 1;
        for (int32_t i = 0; i < n; i++)
            scaled[i] = (x.targets[i] - mean) / scale;
        for (int i = 0; i < 20; i++) {
            hetero_id plan[LAYERS];
            double k[MOST];
            struct hetero_guess guess;
            draw_plan(&x, plan);
            for (int32_t j = 0; j < n; j++)
                k[j] = exp(-differ(plan, x.plans[j]) / length);
            hetero_surrogate_guess(&guess, &x.model, plan, 1);
            assert_near(guess.mean, mean + scale * dense(&x, plan, scaled), 1e-10);
            assert_near(guess.deviation, scale * sqrt(1 - dense(&x, plan, k)), 1e-8);
        }
    }
}

TEST(plans_looked_at_together_are_as_each_alone)
{
    hetero_id plans[HETERO_GUESSES][LAYERS];
    struct hetero_guess together[HETERO_GUESSES], alone;
    FIXTURE(x, 10, noise);
    for (int32_t n = 1; n <= HETERO_GUESSES; n++) {
        for (int32_t i = 0; i < n; i++)
            draw_plan(&x, plans[i]);
        hetero_surrogate_guess(together, &x.model, plans[0], n);
        for (int32_t i = 0; i < n; i++) {
            hetero_surrogate_guess(&alone, &x.model, plans[i], 1);
            assert_true(alone.mean == together[i].mean && alone.deviation == together[i].deviation);
        }
    }
}

/* One plan at distance h of target y, noise v: mean of the targets, variance 1 - k^2 / (1 + v). */
TEST(one_plan_leaves_what_the_closed_form_says)
{
    static const hetero_id known[LAYERS] = { 0, 1, 2, 0, 1, 2 }, near[LAYERS] = { 0, 1, 2, 0, 2, 1 };
    const double target = 4;
    struct hetero_surrogate g;
    struct hetero_guess guess;
    OK(hetero_surrogate_build(&g, LAYERS, 1, length, noise, e));
    assert_true(hetero_surrogate_add(&g, known));
    hetero_surrogate_fit(&g, &target);
    hetero_surrogate_guess(&guess, &g, near, 1);
    assert_close(guess.mean, 4, 1e-15);
    assert_close(guess.deviation, sqrt(1 - exp(-2 * 2 / length) / (1 + noise)), 1e-13);
    hetero_surrogate_free(&g);
    hetero_surrogate_free(&g); /* twice is fine */
}

TEST(without_noise_a_plan_that_is_known_is_left_out_and_met_exactly)
{
    FIXTURE(x, 12, 0);
    assert_true(!hetero_surrogate_add(&x.model, x.plans[0]) && x.model.n == 12);
    for (int32_t i = 0; i < 12; i++) {
        struct hetero_guess guess;
        hetero_surrogate_guess(&guess, &x.model, x.plans[i], 1);
        assert_near(guess.mean, x.targets[i], 1e-10);
        assert_near(guess.deviation, 0, 1e-6);
    }
}

/* gap * Phi(z) + deviation * phi(z); Phi(1) = 0.841344746, phi(1) = 0.241970725, phi(0) = 0.398942280. */
TEST(expected_gain_is_the_closed_form)
{
    CASES(struct hetero_guess guess; double best, want, off) = {
        { { 5, 2 }, 5, 2 * 0.398942280, 1e-8 },
        { { 5, 2 }, 7, 2 * 0.841344746 + 2 * 0.241970725, 1e-8 },
        { { 5, 2 }, 3, -2 * 0.158655254 + 2 * 0.241970725, 1e-8 },
        { { 5, 0 }, 7, 2, 0 },
        { { 5, 0 }, 3, 0, 0 },
        { { 5, 1 }, 25, 20, 1e-12 },
        { { 5, 1 }, -95, 0, 1e-300 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_near(hetero_expected_gain(&cases[i].guess, cases[i].best), cases[i].want, cases[i].off);
}

/* The mean of max(0, best - y) by the trapezium rule over ten deviations. */
TEST(expected_gain_is_the_mean_of_what_is_gained)
{
    for (double best = -2; best <= 6; best += 0.5) {
        const struct hetero_guess guess = { 2, 0.7 };
        const int n = 200000;
        double sum = 0;
        for (int i = 0; i <= n; i++) {
            double z = -10 + 20. * i / n, y = guess.mean + guess.deviation * z;
            sum += fmax(0, best - y) * exp(-z * z / 2) * 20 / n / sqrt(8 * atan(1));
        }
        assert_near(hetero_expected_gain(&guess, best), sum, 1e-8);
    }
}
