/* Products of any size, against three plain loops. */
#include "sim/gossip/learner.h"
#include "base/rng.h"
#include "tests/support.h"

enum { MOST = 40 * 600, GUARD = 16 };

static void draw(float *x, int32_t n, struct rng *r)
{
    for (int32_t i = 0; i < n; i++)
        x[i] = (float)rng_normal(r);
}

/* The promised order: from the first term to the last, rounded to float32 after each step. */
static void by_loops(float *c, struct kernel_matrix a, struct kernel_matrix b, int32_t m, int32_t n,
                     int32_t k, bool add)
{
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < n; j++) {
            float sum = add ? c[i * n + j] : 0;
            for (int32_t t = 0; t < k; t++) {
                float term = a.at[i * a.row + t * a.col] * b.at[t * b.row + j * b.col];
                sum += term;
            }
            c[i * n + j] = sum;
        }
}

static struct kernel_matrix matrix(const float *at, int32_t rows, int32_t cols, bool transposed)
{
    return transposed ? (struct kernel_matrix){ at, 1, rows } : (struct kernel_matrix){ at, cols, 1 };
}

struct room {
    float a[MOST], b[MOST], c[MOST], want[MOST];
};

static void compare(struct room *x, int32_t m, int32_t n, int32_t k, int32_t lanes, struct rng *r)
{
    for (int how = 0; how < 8; how++) {
        struct kernel_matrix a = matrix(x->a, m, k, how & 1), b = matrix(x->b, k, n, how & 2);
        bool add = how & 4;
        draw(x->c, m * n + GUARD, r);
        memcpy(x->want, x->c, (size_t)(m * n + GUARD) * sizeof *x->c);
        kernel_product_by(lanes, x->c, a, b, m, n, k, add);
        by_loops(x->want, a, b, m, n, k, add);
        /* Also what lies behind C is as it was. */
        if (memcmp(x->c, x->want, (size_t)(m * n + GUARD) * sizeof *x->c) != 0)
            fail_msg("%d x %d x %d, kind %d, by %d: not what three loops give", m, n, k, how, lanes);
    }
}

TEST(a_product_has_the_bits_that_three_loops_give_by_vectors_of_any_length)
{
    static const int32_t ms[] = { 1, 3, 4, 5, 8, 33 }, ns[] = { 1, 2, 4, 5, 8, 10, 17, 40 },
                         ks[] = { 1, 7, 32, 256, 257, 600 };
    KEEP(struct room *, x, free_at) = malloc(sizeof *x);
    assert_non_null(x);
    RNG(r, 1, 0);
    draw(x->a, MOST, r);
    draw(x->b, MOST, r);
    for (size_t i = 0; i < COUNT_OF(ms); i++)
        for (size_t j = 0; j < COUNT_OF(ns); j++)
            for (size_t t = 0; t < COUNT_OF(ks); t++)
                for (int32_t lanes = 4; lanes <= kernel_lanes(); lanes *= 2)
                    compare(x, ms[i], ns[j], ks[t], lanes, r);
}

/* A row that has one, whatever it is multiplied by, is NaN throughout; no other is. */
TEST(what_is_no_number_stays_in_its_row)
{
    enum { M = 6, N = 11, K = 9 };
    static const float strange[] = { NAN, INFINITY, -INFINITY };
    float a[M * K], b[K * N], c[M * N];
    for (size_t kind = 0; kind < COUNT_OF(strange); kind++)
        for (int32_t at = 0; at < M * K; at++) {
            memset(b, 0, sizeof b);
            for (int32_t i = 0; i < M * K; i++)
                a[i] = 1;
            a[at] = strange[kind];
            kernel_product(c, (struct kernel_matrix){ a, K, 1 }, (struct kernel_matrix){ b, N, 1 }, M, N, K,
                           false);
            for (int32_t i = 0; i < M * N; i++)
                assert_int_equal(isnan(c[i]) != 0, i / N == at / K);
        }
}
