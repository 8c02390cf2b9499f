/**
 * @file Private to sim/gossip: how one product is done with vectors of LANES floats. Included once for each
 * length, by a file that defines LANES; STRIP, what the function is called; TARGET, the instructions it may
 * use.
 *
 * A tile of C stays in registers while its terms are added: ROWS x 2 vectors of them. Products and sums are
 * instructions of their own, so that both lengths round alike.
 */
#include "sim/gossip/kernel_strip.h"

enum { ROWS = 4 };

/* `aligned` and `may_alias`: they are read from wherever a float is. */
typedef float lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static lanes *at(float *c)
{
    return (lanes *)(void *)c;
}

static const lanes *from(const float *b)
{
    return (const lanes *)(const void *)b;
}

TARGET static void tile_4_by_2(float *c, ptrdiff_t n, const struct kernel_panel *p)
{
    lanes c00 = *at(c), c01 = *at(c + LANES), c10 = *at(c + n), c11 = *at(c + n + LANES);
    lanes c20 = *at(c + 2 * n), c21 = *at(c + 2 * n + LANES);
    lanes c30 = *at(c + 3 * n), c31 = *at(c + 3 * n + LANES);
    const float *a = p->a, *b = p->b;
    const ptrdiff_t row = p->row;
    for (int32_t t = 0; t < p->k; t++, a += p->col, b += p->b_row) {
        lanes left = *from(b), right = *from(b + LANES);
        c00 += a[0] * left;
        c01 += a[0] * right;
        c10 += a[row] * left;
        c11 += a[row] * right;
        c20 += a[2 * row] * left;
        c21 += a[2 * row] * right;
        c30 += a[3 * row] * left;
        c31 += a[3 * row] * right;
    }
    *at(c) = c00, *at(c + LANES) = c01, *at(c + n) = c10, *at(c + n + LANES) = c11;
    *at(c + 2 * n) = c20, *at(c + 2 * n + LANES) = c21;
    *at(c + 3 * n) = c30, *at(c + 3 * n + LANES) = c31;
}

TARGET static void tile_4_by_1(float *c, ptrdiff_t n, const struct kernel_panel *p)
{
    lanes c0 = *at(c), c1 = *at(c + n), c2 = *at(c + 2 * n), c3 = *at(c + 3 * n);
    const float *a = p->a, *b = p->b;
    const ptrdiff_t row = p->row;
    for (int32_t t = 0; t < p->k; t++, a += p->col, b += p->b_row) {
        lanes left = *from(b);
        c0 += a[0] * left;
        c1 += a[row] * left;
        c2 += a[2 * row] * left;
        c3 += a[3 * row] * left;
    }
    *at(c) = c0, *at(c + n) = c1, *at(c + 2 * n) = c2, *at(c + 3 * n) = c3;
}

TARGET static void tile_1_by_2(float *c, const struct kernel_panel *p)
{
    lanes c0 = *at(c), c1 = *at(c + LANES);
    const float *a = p->a, *b = p->b;
    for (int32_t t = 0; t < p->k; t++, a += p->col, b += p->b_row) {
        c0 += a[0] * *from(b);
        c1 += a[0] * *from(b + LANES);
    }
    *at(c) = c0, *at(c + LANES) = c1;
}

TARGET void STRIP(float *c, ptrdiff_t n, struct kernel_panel p, int32_t m, int32_t wide)
{
    int32_t i = 0;
    for (; i + ROWS <= m; i += ROWS, p.a += ROWS * p.row)
        if (wide > LANES)
            tile_4_by_2(c + i * n, n, &p);
        else
            tile_4_by_1(c + i * n, n, &p);
    for (; i < m; i++, p.a += p.row)
        tile_1_by_2(c + i * n, &p);
}
