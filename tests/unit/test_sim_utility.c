#include "base/rng.h"
#include "sim/cluster/job.h"
#include "tests/support.h"

static struct utility make(enum utility_kind kind, double scale, double slope, double middle, double most)
{
    struct utility u;
    MUST(utility_build(&u, kind, scale, slope, middle, most, e));
    return u;
}

/* ---- values ---- */

TEST(each_kind_is_its_formula)
{
    struct utility u = make(UTILITY_LINEAR, 3, NAN, NAN, NAN);
    assert_close(utility_at(&u, 7), 21, 1e-15);
    u = make(UTILITY_SQRT, 3, NAN, NAN, NAN);
    assert_close(utility_at(&u, 49), 21, 1e-15);
    u = make(UTILITY_LOG, 3, NAN, NAN, NAN);
    assert_true(utility_at(&u, 0) == 0);
    assert_close(utility_at(&u, exp(2) - 1), 6, 1e-15);
    u = make(UTILITY_SIGMOID, 8, 0.5, 10, INFINITY);
    assert_close(utility_at(&u, 10), 4, 1e-15);
    assert_close(utility_at(&u, 10 + 2 * log(3)), 6, 1e-15); /* 8 / (1 + 1/3) */
    assert_close(utility_at(&u, 10 - 2 * log(3)), 2, 1e-15);
    assert_true(utility_at(&u, 1e300) == 8);
}

TEST(words_are_in_the_order_of_kinds)
{
    assert_string_equal(utility_words[UTILITY_LINEAR], "linear");
    assert_string_equal(utility_words[UTILITY_SQRT], "sqrt");
    assert_string_equal(utility_words[UTILITY_LOG], "log");
    assert_string_equal(utility_words[UTILITY_SIGMOID], "sigmoid");
    assert_string_equal(utility_words[UTILITY_SIGMOID_ENVELOPE], "sigmoid-env");
    assert_null(utility_words[N_UTILITIES]);
}

/* ---- the envelope ---- */

enum { GRID = 4000 };

/* Upper hull of a function on an even grid by Andrew's monotone chain: the least concave function above its
 * points, at each of them. */
static void find_hull(double *hull, const double *y, int n)
{
    int *kept = malloc((size_t)n * sizeof *kept), n_kept = 0;
    assert_non_null(kept);
    for (int i = 0; i < n; i++) {
        while (n_kept > 1) {
            int a = kept[n_kept - 2], b = kept[n_kept - 1];
            if ((y[b] - y[a]) * (i - a) > (y[i] - y[a]) * (b - a))
                break;
            n_kept--;
        }
        kept[n_kept++] = i;
    }
    for (int k = 0; k + 1 < n_kept; k++)
        for (int i = kept[k]; i <= kept[k + 1]; i++)
            hull[i] = y[kept[k]] + (y[kept[k + 1]] - y[kept[k]]) * (i - kept[k]) / (kept[k + 1] - kept[k]);
    free(kept);
}

/* Concave, above the sigmoid, and as low as that can be: the hull of a fine grid touches it everywhere to
 * the grid's error, at most the sigmoid's largest curvature times the square of a step over 8. */
static void compare_with_hull(double scale, double slope, double middle, double most)
{
    const struct utility env = make(UTILITY_SIGMOID_ENVELOPE, scale, slope, middle, most),
                         sig = make(UTILITY_SIGMOID, scale, slope, middle, most);
    KEEP(double *, y, free_at) = malloc((GRID + 1) * sizeof *y);
    KEEP(double *, hull, free_at) = malloc((GRID + 1) * sizeof *hull);
    double step = most / GRID, curvature = scale * slope * slope * 0.0963; /* |s''| <= 1 / (6 sqrt 3) */
    double grid_error = curvature * step * step / 2 + 1e-12 * scale;
    assert_true(y && hull);
    for (int i = 0; i <= GRID; i++)
        y[i] = utility_at(&sig, i * step);
    find_hull(hull, y, GRID + 1);
    for (int i = 0; i <= GRID; i++) {
        double at = utility_at(&env, i * step);
        assert_true(at >= y[i] - 1e-12 * scale);
        assert_near(at, hull[i], grid_error);
        if (i > 0 && i < GRID)
            assert_true(2 * at >=
                        utility_at(&env, (i - 1) * step) + utility_at(&env, (i + 1) * step) - 1e-12 * scale);
    }
    assert_close(utility_at(&env, 0), utility_at(&sig, 0), 1e-15);
    assert_close(utility_at(&env, most), utility_at(&sig, most), 1e-12);
    if (middle > 0)
        assert_close(utility_at(&env, env.touch), utility_at(&sig, env.touch), 1e-12);
}

TEST(an_envelope_is_the_least_concave_majorant)
{
    compare_with_hull(8, 0.5, 10, 40);
    compare_with_hull(8, 0.5, 10, 11);      /* no room to touch: a chord to the end */
    compare_with_hull(8, 0.5, 10, 4);       /* all of it convex */
    compare_with_hull(100, 0.001, 3, 6000); /* nearly a straight line */
    compare_with_hull(1, 0.7, 0, 30);       /* concave as it is */
    compare_with_hull(1, 0.7, -5, 30);
    RNG(r, 5, 0);
    for (int i = 0; i < 60; i++) {
        double slope = rng_log_range(r, 1e-3, 1), middle = rng_log_range(r, 1, 3000);
        compare_with_hull(rng_range(r, 1, 100), slope, middle, middle * rng_range(r, 0.2, 4));
    }
}

/* At the touching point the chord from 0 is the tangent. */
TEST(the_chord_is_a_tangent)
{
    static const double slopes[] = { 0.01, 0.1, 0.5, 1, 20 }, middles[] = { 0.5, 10, 300, 3000 };
    for (size_t i = 0; i < COUNT_OF(slopes); i++)
        for (size_t k = 0; k < COUNT_OF(middles); k++) {
            struct utility u = make(UTILITY_SIGMOID_ENVELOPE, 1, slopes[i], middles[k], INFINITY);
            double x = slopes[i] * (u.touch - middles[k]), q = 1 / (1 + exp(x)); /* 1 - s */
            double s0 = 1 / (1 + exp(slopes[i] * middles[k]));
            assert_true(u.touch > middles[k]);
            assert_close(slopes[i] * (1 - q) * q * u.touch, 1 - q - s0, 1e-6);
        }
}

TEST(only_a_sigmoid_with_its_middle_ahead_is_not_concave)
{
    for (int kind = 0; kind < N_UTILITIES; kind++) {
        struct utility u = make((enum utility_kind)kind, 1, 1, 5, INFINITY);
        assert_true(utility_is_concave(&u) == (kind != UTILITY_SIGMOID));
    }
    struct utility u = make(UTILITY_SIGMOID, 1, 1, 0, INFINITY);
    assert_true(utility_is_concave(&u));
}

/* ---- gains ---- */

/* Near a sigmoid's middle, and for the others from 0 on, differences of values keep their digits. */
TEST(a_gain_is_the_difference_of_values)
{
    RNG(r, 6, 0);
    for (int i = 0; i < 500; i++)
        for (int kind = 0; kind < N_UTILITIES; kind++) {
            struct utility u = make((enum utility_kind)kind, 10, 0.1, 20, INFINITY);
            double from = rng_range(r, 0, 60), gain = rng_range(r, 1, 30);
            assert_close(utility_gain(&u, from, gain), utility_at(&u, from + gain) - utility_at(&u, from),
                         1e-10);
        }
    for (int kind = 0; kind < N_UTILITIES; kind++) {
        struct utility u = make((enum utility_kind)kind, 10, 0.1, 20, INFINITY);
        assert_true(utility_gain(&u, 0, 0) == 0 && utility_gain(&u, 30, 0) == 0);
    }
}

/* Far below the middle s = exp(slope (k - middle)), so that a gain is e^.. (e^(slope gain) - 1); far above it
 * mirrors that. Differences of values are 0 there. */
TEST(gains_far_from_the_middle_keep_their_digits)
{
    struct utility u = make(UTILITY_SIGMOID, 10, 0.5, 1000, INFINITY);
    for (int i = 0; i <= 18; i++) {
        double k = 50.0 * i;
        double want = 10 * exp(0.5 * (k - 1000)) * expm1(0.5 * 3);
        assert_close(utility_gain(&u, k, 3), want, 1e-12);
        assert_close(utility_gain(&u, 2000 - k - 3, 3), want, 1e-12);
    }
    /* Small steps beside a large middle. */
    u = make(UTILITY_SIGMOID, 1, 1e-3, 1e6, INFINITY);
    assert_close(utility_gain(&u, 1e6 + 1, 1e-9), 0.25 * 1e-12, 1e-6);
}

TEST(gains_are_positive_monotone_and_add_up)
{
    RNG(r, 7, 0);
    for (int i = 0; i < 300; i++)
        for (int kind = 0; kind < N_UTILITIES; kind++) {
            double slope = rng_log_range(r, 1e-3, 1), middle = rng_range(r, 100, 1000);
            struct utility u = make((enum utility_kind)kind, 10, slope, middle, INFINITY);
            /* Up to 500 slopes from the middle, short of where exp() underflows. */
            double from = fmax(0, middle + rng_range(r, -500, 500)), a = rng_range(r, 0.1, 50);
            double b = rng_range(r, 0.1, 50);
            assert_true(utility_gain(&u, from, a) > 0);
            assert_true(utility_gain(&u, from, a + b) >= utility_gain(&u, from, a));
            assert_close(utility_gain(&u, from, a) + utility_gain(&u, from + a, b),
                         utility_gain(&u, from, a + b), 1e-11);
        }
}

/* ---- errors ---- */

TEST(what_is_no_utility_is_an_error)
{
    CASES(enum utility_kind kind; double scale, slope, middle, most; const char *text) = {
        { UTILITY_LINEAR, -1, 1, 1, 1, "utility: scale is -1, expected a number >= 0" },
        { UTILITY_LOG, NAN, 1, 1, 1, "utility: scale is nan, expected a number >= 0" },
        { UTILITY_SQRT, INFINITY, 1, 1, 1, "utility: scale is inf, expected a number >= 0" },
        { UTILITY_SIGMOID, 1, 0, 1, 1, "utility: slope is 0 per iteration, expected a number > 0" },
        { UTILITY_SIGMOID, 1, NAN, 1, 1, "utility: slope is nan per iteration, expected a number > 0" },
        { UTILITY_SIGMOID, 1, 1, INFINITY, 1, "utility: middle is inf iterations, expected a number" },
        { UTILITY_SIGMOID_ENVELOPE, 1, 1, 1, -1, "utility: most is -1 iterations, expected a number >= 0" },
        { UTILITY_SIGMOID_ENVELOPE, 1, 1, 1, NAN, "utility: most is nan iterations, expected a number >= 0" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct utility u;
        FAILS(utility_build(&u, cases[i].kind, cases[i].scale, cases[i].slope, cases[i].middle, cases[i].most,
                            e),
              ERR_RANGE, cases[i].text);
    }
}
