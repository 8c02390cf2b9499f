/* Random numbers: equal where seeds are, else apart, with the moments and counts of theory. */
#include "tests/support.h"

#include <float.h>

#include "base/rng.h"

KEEPS(struct rng_sobol, rng_sobol_free)

TEST(same_seed_and_stream_give_the_same_numbers)
{
    RNG(a, 42, 7);
    RNG(b, 42, 7);
    for (int i = 0; i < 2000; i++) {
        assert_true(rng_uniform(a) == rng_uniform(b) && rng_below(a, 1000) == rng_below(b, 1000));
        assert_true(rng_normal(a) == rng_normal(b));
    }
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void assert_all_differ(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare_reals);
    for (size_t i = 1; i < n; i++)
        assert_true(x[i - 1] < x[i]);
}

static double first_number(uint64_t seed, uint64_t stream)
{
    RNG(r, seed, stream);
    return rng_uniform(r);
}

/* Both halves of both words count. */
TEST(every_seed_and_stream_begins_elsewhere)
{
    enum { N = 2000 };
    static double first[4 * N];
    for (uint64_t k = 0; k < N; k++) {
        first[4 * k] = first_number(k + 1, 0);
        first[4 * k + 1] = first_number(0, k + 1);
        first[4 * k + 2] = first_number((k + 1) << 32, 0);
        first[4 * k + 3] = first_number(0, (k + 1) << 32);
    }
    assert_all_differ(first, COUNT_OF(first));
}

/* A hash of 32 bits would be expected to send 200,000 streams to the same place n^2/2^33 = 4.7 times. */
TEST(no_two_streams_of_a_seed_are_the_same)
{
    enum { N = 200000 };
    static double first[N];
    for (uint64_t k = 0; k < N; k++)
        first[k] = first_number(12345, k);
    assert_all_differ(first, N);
}

TEST(releasing_nothing_is_fine)
{
    rng_free(NULL);
}

/* Mean and variance of n draws lie within 5 standard errors of the exact ones. */
static void check_moments(const double *x, int n, double mean, double variance, double fourth)
{
    double sum = 0, square = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i];
        square += (x[i] - mean) * (x[i] - mean);
    }
    assert_near(sum / n, mean, 5 * sqrt(variance / n));
    assert_near(square / n, variance, 5 * sqrt((fourth - variance * variance) / n));
}

/* Central moments: uniform 1/12 and 1/80; normal 1 and 3. */
TEST(draws_have_the_moments_of_their_distribution)
{
    enum { N = 200000 };
    static double x[N];
    RNG(r, 1, 0);
    for (int i = 0; i < N; i++)
        x[i] = rng_uniform(r);
    check_moments(x, N, 0.5, 1.0 / 12, 1.0 / 80);
    for (int i = 0; i < N; i++)
        x[i] = rng_normal(r);
    check_moments(x, N, 0, 1, 3);
    for (int i = 0; i < N; i++)
        x[i] = log(rng_log_range(r, exp(-3), exp(-2)));
    check_moments(x, N, -2.5, 1.0 / 12, 1.0 / 80);
}

/* P(|X| < 1) = erf(1/sqrt(2)) = 0.682689, P(|X| < 2) = 0.954500, P(|X| < 3) = 0.997300. */
TEST(normal_numbers_fall_within_1_2_and_3_deviations_as_often_as_they_should)
{
    enum { N = 200000 };
    RNG(r, 2, 0);
    int inside[4] = { 0 };
    for (int i = 0; i < N; i++) {
        double x = fabs(rng_normal(r));
        for (int k = 1; k <= 3; k++)
            inside[k] += x < k;
    }
    for (int k = 1; k <= 3; k++) {
        double p = erf(k / sqrt(2));
        assert_near((double)inside[k] / N, p, 5 * sqrt(p * (1 - p) / N));
    }
}

TEST(uniform_numbers_use_all_53_bits_below_1)
{
    RNG(r, 3, 0);
    uint64_t seen = 0;
    for (int i = 0; i < 1000; i++) {
        double x = rng_uniform(r);
        assert_true(x >= 0 && x < 1);
        double whole = ldexp(x, 53);
        assert_true(whole == floor(whole));
        seen |= (uint64_t)whole;
    }
    assert_true(seen == (UINT64_C(1) << 53) - 1);
}

TEST(ranges_hold_even_where_rounding_bites)
{
    static const struct {
        double lo, hi;
    } cases[] = { { 1, 1 + DBL_EPSILON }, { -1, 1 }, { 5, 5 }, { 1e-300, 1e300 }, { 0.1, 0.3 } };
    RNG(r, 4, 0);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int k = 0; k < 1000; k++) {
            double lo = cases[i].lo, hi = cases[i].hi, x = rng_range(r, lo, hi);
            assert_true(lo == hi ? x == lo : x >= lo && x < hi);
            if (lo > 0) {
                x = rng_log_range(r, lo, hi);
                assert_true(x >= lo && x <= hi);
            }
        }
}

/* Chi-square over n cells: mean n-1, variance 2(n-1). */
TEST(whole_numbers_below_n_are_equally_frequent)
{
    enum { N = 120000 };
    static const int64_t sizes[] = { 2, 3, 7, 10, 100 };
    RNG(r, 5, 0);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        int hits[100] = { 0 };
        double n = (double)sizes[i], chi_square = 0;
        for (int k = 0; k < N; k++) {
            int64_t x = rng_below(r, sizes[i]);
            assert_in_range(x, 0, sizes[i] - 1);
            hits[x]++;
        }
        for (int64_t k = 0; k < sizes[i]; k++)
            chi_square += (hits[k] - N / n) * (hits[k] - N / n) / (N / n);
        assert_true(chi_square < n - 1 + 6 * sqrt(2 * (n - 1)));
    }
    for (int k = 0; k < 100; k++)
        assert_int_equal(rng_below(r, 1), 0);
}

/* A plain remainder of 64 bits by 3*2^61 would put 3/8 instead of 1/3 of all numbers below 2^61. */
TEST(huge_bounds_have_no_modulo_bias)
{
    enum { N = 30000 };
    const int64_t third = INT64_C(1) << 61;
    RNG(r, 6, 0);
    int low = 0;
    for (int i = 0; i < N; i++) {
        int64_t x = rng_below(r, 3 * third);
        assert_true(x >= 0 && x < 3 * third);
        low += x < third;
    }
    assert_near((double)low / N, 1.0 / 3, 5 * sqrt(2.0 / 9 / N));
    for (int i = 0; i < 1000; i++)
        assert_true(rng_below(r, INT64_MAX) >= 0);
}

TEST(streams_of_one_seed_are_not_correlated)
{
    enum { N = 100000 };
    RNG(a, 8, 0);
    RNG(b, 8, 1);
    double sum = 0;
    for (int i = 0; i < N; i++)
        sum += (rng_uniform(a) - 0.5) * (rng_uniform(b) - 0.5);
    assert_near(sum / N, 0, 5 * (1.0 / 12) / sqrt(N));
}

/* ---- quasi-random points ---- */

enum { DIMS = RNG_SOBOL_DIMS, BITS = 10 };

TEST(sobol_points_take_every_multiple_once_in_each_dimension)
{
    static bool met[DIMS][1 << BITS];
    KEEP(struct rng_sobol *, s, rng_sobol_free_at) = NULL;
    double x[DIMS];
    memset(met, 0, sizeof met);
    OK(rng_sobol_build(&s, DIMS, e));
    /* Of the first 2^k points of a (t, s)-sequence each coordinate is a permutation of i / 2^k; the origin is
     * left out. */
    for (int i = 1; i < 1 << BITS; i++) {
        rng_sobol_next(s, x);
        for (int d = 0; d < DIMS; d++) {
            double at = ldexp(x[d], BITS);
            assert_true(at > 0 && at < 1 << BITS && at == floor(at) && !met[d][(int)at]);
            met[d][(int)at] = true;
        }
    }
}

TEST(sobol_points_of_two_dimensions_fill_every_box)
{
    KEEP(struct rng_sobol *, s, rng_sobol_free_at) = NULL;
    double x[2];
    int boxes[1 << 4][1 << 6] = { { 1 } }; /* that of the origin */
    OK(rng_sobol_build(&s, 2, e));
    rng_sobol_next(s, x);
    assert_true(x[0] == 0.5 && x[1] == 0.5);
    boxes[1 << 3][1 << 5]++;
    /* A (0, 10, 2)-net: one point in every box of 2^-4 by 2^-6. */
    for (int i = 2; i < 1 << 10; i++) {
        rng_sobol_next(s, x);
        boxes[(int)(x[0] * (1 << 4))][(int)(x[1] * (1 << 6))]++;
    }
    for (int a = 0; a < 1 << 4; a++)
        for (int b = 0; b < 1 << 6; b++)
            assert_int_equal(boxes[a][b], 1);
    rng_sobol_free(NULL);
}
