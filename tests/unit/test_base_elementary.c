/* Elementary functions against the C library's. */
#include "base/num.h"
#include "tests/support.h"

enum { N = 1000 };

static void draw(double *x, double most, uint64_t seed)
{
    RNG(r, seed, 0);
    for (int i = 0; i < N; i++)
        x[i] = rng_range(r, -most, most);
}

TEST(they_are_those_of_the_library_but_for_the_last_bits)
{
    static const double most[] = { 700, 30, 1, 1e-3 };
    for (size_t k = 0; k < COUNT_OF(most); k++) {
        double x[N], y[N];
        draw(x, most[k], k);
        memcpy(y, x, sizeof y);
        elementary_exp(y, N);
        for (int i = 0; i < N; i++)
            assert_close(y[i], exp(x[i]), 1e-15);
        memcpy(y, x, sizeof y);
        elementary_sigmoid(y, N);
        for (int i = 0; i < N; i++)
            assert_close(y[i], 1 / (1 + exp(-x[i])), 2e-15);
        memcpy(y, x, sizeof y);
        elementary_tanh(y, N);
        for (int i = 0; i < N; i++)
            assert_near(y[i], tanh(x[i]), 1e-15);
        for (int i = 0; i < N; i++)
            assert_close(elementary_log(exp(x[i])), log(exp(x[i])), 1e-15);
    }
}

/* The last numbers, fewer than go through at a time, are not treated otherwise. */
TEST(the_result_does_not_depend_on_the_place)
{
    double x[N], whole[N];
    draw(x, 5, 9);
    memcpy(whole, x, sizeof whole);
    elementary_exp(whole, N);
    for (int i = 0; i < N; i++) {
        elementary_exp(&x[i], 1);
        assert_true(x[i] == whole[i]);
    }
}

TEST(known_points_are_exact)
{
    double zero[] = { 0, -0.0 };
    elementary_exp(zero, 2);
    assert_true(zero[0] == 1 && zero[1] == 1);
    zero[0] = zero[1] = 0;
    elementary_sigmoid(zero, 1);
    elementary_tanh(zero + 1, 1);
    assert_true(zero[0] == 0.5 && zero[1] == 0 && elementary_log(1) == 0);
    assert_close(elementary_log(0x1p1000), 1000 * log(2), 1e-15);
    assert_close(elementary_log(0x1p-1000), -1000 * log(2), 1e-15);
}

TEST(large_arguments_saturate_and_NaN_stays)
{
    double x[] = { 1e300, -1e300, NAN }, y[] = { INFINITY, -INFINITY, NAN }, z[] = { 800, -800, NAN };
    elementary_exp(x, 3);
    assert_close(x[0], exp(708), 1e-15);
    assert_close(x[1], exp(-708), 1e-15);
    elementary_sigmoid(y, 3);
    assert_true(y[0] == 1 && y[1] > 0 && y[1] < 1e-300);
    elementary_tanh(z, 3);
    assert_true(z[0] == 1 && z[1] == -1 && isnan(x[2]) && isnan(y[2]) && isnan(z[2]));
}
