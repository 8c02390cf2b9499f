/* Dense matrices against sums written out. */
#include "base/matrix.h"
#include "tests/support.h"

enum { MOST = 12 };

static void draw(struct rng *r, double *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        x[i] = rng_range(r, -1, 1);
}

TEST(product_is_the_sum_over_the_inner_index)
{
    static const struct {
        int32_t m, n, k;
    } cases[] = { { 1, 1, 1 }, { 2, 3, 4 }, { 12, 5, 7 }, { 3, 12, 1 } };
    RNG(r, 1, 1);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int add = 0; add < 2; add++) {
            double a[MOST * MOST] = { 0 }, b[MOST * MOST] = { 0 }, c[MOST * MOST] = { 0 },
                            before[MOST * MOST] = { 0 };
            int32_t m = cases[i].m, n = cases[i].n, k = cases[i].k;
            draw(r, a, m * k);
            draw(r, b, k * n);
            draw(r, c, m * n);
            for (int32_t x = 0; x < m * n; x++)
                before[x] = add ? c[x] : 0;
            matrix_product(c, a, b, m, n, k, add);
            for (int32_t x = 0; x < m; x++)
                for (int32_t y = 0; y < n; y++) {
                    double want = before[x * n + y];
                    for (int32_t z = 0; z < k; z++)
                        want += a[x * k + z] * b[z * n + y];
                    assert_true(fabs(c[x * n + y] - want) < 1e-13);
                }
        }
}

TEST(transpose_swaps_the_indices)
{
    const double from[] = { 1, 2, 3, 4, 5, 6 }, want[] = { 1, 4, 2, 5, 3, 6 };
    double to[6];
    matrix_transpose(to, from, 2, 3);
    for (int i = 0; i < 6; i++)
        assert_true(to[i] == want[i]);
}

/* A = M M' + I is positive definite; x = A^-1 b is checked by A x = b. */
TEST(cholesky_solves_symmetric_systems)
{
    RNG(r, 2, 1);
    for (int32_t n = 1; n <= MOST; n++) {
        double m[MOST * MOST] = { 0 }, t[MOST * MOST] = { 0 }, a[MOST * MOST] = { 0 };
        double l[MOST * MOST] = { 0 }, b[MOST] = { 0 }, x[MOST], y[MOST];
        draw(r, m, n * n);
        draw(r, b, n);
        matrix_transpose(t, m, n, n);
        matrix_product(a, m, t, n, n, n, false);
        for (int32_t i = 0; i < n; i++)
            a[i * n + i] += 1;
        for (int32_t i = 0; i < n * n; i++)
            l[i] = a[i];
        for (int32_t i = 0; i < n; i++)
            x[i] = y[i] = b[i];
        assert_true(matrix_cholesky(l, n));
        matrix_cholesky_solve(l, x, n);
        matrix_lower_solve(l, y, n);
        for (int32_t i = 0; i < n; i++) {
            double ax = 0, ly = 0;
            for (int32_t k = 0; k < n; k++)
                ax += a[i * n + k] * x[k];
            for (int32_t k = 0; k <= i; k++)
                ly += l[i * n + k] * y[k];
            assert_true(fabs(ax - b[i]) < 1e-11 && fabs(ly - b[i]) < 1e-11);
        }
    }
}

/* More rows than a block of columns, and no multiple of a tile: L L' is the matrix. */
TEST(cholesky_goes_by_blocks)
{
    enum { N = 150 };
    static double l[N * N], a[N * N];
    RNG(r, 5, 1);
    draw(r, a, N * N);
    for (int i = 0; i < N; i++)
        a[i * N + i] = 2 * N;
    for (int i = 0; i < N * N; i++)
        l[i] = a[i];
    assert_true(matrix_cholesky(l, N));
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k <= j; k++)
                sum += l[i * N + k] * l[j * N + k];
            assert_true(fabs(sum - a[i * N + j]) < 1e-12 * N);
        }
    l[0] = 1;
    l[N] = 2;
    l[N + 1] = 1;
    assert_true(!matrix_cholesky(l, N));
}

TEST(cholesky_refuses_what_is_not_positive_definite)
{
    double negative[] = { 1, 2, 2, 1 }, zero[] = { 0 }, nan[] = { NAN };
    assert_true(!matrix_cholesky(negative, 2) && !matrix_cholesky(zero, 1) && !matrix_cholesky(nan, 1));
}
