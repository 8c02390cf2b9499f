/* Means with Student's half widths and quantiles, from tables and by hand. */
#include "base/stat.h"
#include "tests/support.h"

/* Half widths by hand: t(.975) of 1, 4, 9 and 29 degrees of freedom is 12.7062, 2.77645, 2.26216 and 2.04523
 * in every table of Student's t. */
TEST(half_widths_are_those_of_students_t)
{
    static const struct {
        int64_t n;
        double t;
    } cases[] = { { 2, 12.7062 }, { 5, 2.77645 }, { 10, 2.26216 }, { 30, 2.04523 } };
    for (size_t k = 0; k < COUNT_OF(cases); k++) {
        double x[30], n = (double)cases[k].n;
        for (int64_t i = 0; i < cases[k].n; i++)
            x[i] = (double)i;
        /* Variance of 0 .. n-1 with n-1 below the line: n (n + 1) / 12. */
        double want = cases[k].t * sqrt(n * (n + 1) / 12 / n);
        struct stat_mean m = stat_mean(x, cases[k].n, 1);
        assert_int_equal(m.n, cases[k].n);
        assert_close(m.mean, (n - 1) / 2, 1e-14);
        assert_close(m.half, want, 1e-5);
    }
}

TEST(values_that_are_nan_do_not_count)
{
    static const double x[] = { NAN, 3, NAN, 5, 7, NAN }, none[] = { NAN, NAN }, one[] = { NAN, 4 };
    struct stat_mean m = stat_mean(x, COUNT_OF(x), 1);
    assert_int_equal(m.n, 3);
    assert_close(m.mean, 5, 1e-15);
    assert_close(m.half, 4.30265 * 2 / sqrt(3), 1e-5); /* t(.975) of 2 */
    m = stat_mean(none, 2, 1);
    assert_true(m.n == 0 && isnan(m.mean) && isnan(m.half));
    m = stat_mean(one, 2, 1);
    assert_true(m.n == 1 && m.mean == 4 && isnan(m.half));
    m = stat_mean(NULL, 0, 1);
    assert_true(m.n == 0 && isnan(m.mean));
}

TEST(a_stride_takes_one_column)
{
    static const double x[] = { 1, 100, 2, 200, 3, 300 };
    assert_close(stat_mean(x, 3, 2).mean, 2, 1e-15);
    assert_close(stat_mean(x + 1, 3, 2).mean, 200, 1e-15);
    assert_close(stat_mean(x + 1, 3, 2).half, 100 * stat_mean(x, 3, 2).half, 1e-12);
}

/* The textbook's formula, sum x^2 - n mean^2, loses all digits here. */
TEST(small_differences_of_large_values_are_kept)
{
    static const double x[] = { 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 };
    struct stat_mean m = stat_mean(x, 4, 1);
    assert_close(m.mean, 1e9 + 10, 1e-15);
    assert_close(m.half, 3.18245 * sqrt(30. / 4), 1e-5); /* variance 30, t(.975) of 3 */
    static const double same[] = { 7, 7, 7 };
    assert_true(stat_mean(same, 3, 1).half == 0);
}

/* 1..5: the median is 3, quartiles 2 and 4, a tenth lies .4 of the way from 1 to 2. */
TEST(quantiles_lie_between_values)
{
    static const double x[] = { 1, 2, 3, 4, 5 }, two[] = { 10, 20 };
    assert_close(stat_quantile(x, 5, 0), 1, 1e-15);
    assert_close(stat_quantile(x, 5, 0.1), 1.4, 1e-15);
    assert_close(stat_quantile(x, 5, 0.25), 2, 1e-15);
    assert_close(stat_quantile(x, 5, 0.5), 3, 1e-15);
    assert_close(stat_quantile(x, 5, 0.75), 4, 1e-15);
    assert_close(stat_quantile(x, 5, 1), 5, 1e-15);
    assert_close(stat_quantile(two, 2, 0.95), 19.5, 1e-15);
    assert_close(stat_quantile(two, 1, 0.3), 10, 1e-15);
    assert_true(isnan(stat_quantile(x, 0, 0.5)));
}

/* By key, of equal keys the lower number first, whatever the order before. */
TEST(ranks_have_one_order)
{
    const double keys[] = { 2, -INFINITY, 0, 2, -0.0, INFINITY, 2 };
    const int64_t want[] = { 1, 2, 4, 0, 3, 6, 5 };
    enum { N = COUNT_OF(keys) };
    for (int first = 0; first < N; first++) {
        struct stat_rank x[N];
        for (int i = 0; i < N; i++)
            x[i] = (struct stat_rank){ keys[(first + i) % N], (first + i) % N };
        stat_sort_ranks(x, N);
        for (int i = 0; i < N; i++)
            assert_int_equal(x[i].at, want[i]);
    }
}
