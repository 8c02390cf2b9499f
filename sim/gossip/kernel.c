#include "sim/gossip/kernel.h"

#include <string.h>

/* A tile of C stays in registers while its terms are added: ROWS x 2 LANES of them. Vectors of 4 are what
 * every x86-64 and ARMv8 has; `aligned` and `may_alias`: they are read at any float. */
enum { LANES = 4, ROWS = 4, COLS = 2 * LANES };
typedef float lanes __attribute__((vector_size(16), aligned(4), may_alias));

/* So many terms at a time: that much of B stays in the first cache, and has room on the stack. */
enum { TERMS = 256 };

/* Rows of A, and the panel of B that they meet: term t of row i is a[i * row + t * col], of the panel
 * b[t * b_row]. */
struct panel {
    const float *a, *b;
    ptrdiff_t row, col, b_row;
    int32_t k;
};

static lanes *at(float *c)
{
    return (lanes *)(void *)c;
}

static const lanes *from(const float *b)
{
    return (const lanes *)(const void *)b;
}

static void tile_4_by_8(float *c, ptrdiff_t n, const struct panel *p)
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

static void tile_4_by_4(float *c, ptrdiff_t n, const struct panel *p)
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

static void tile_1_by_8(float *c, const struct panel *p)
{
    lanes c0 = *at(c), c1 = *at(c + LANES);
    const float *a = p->a, *b = p->b;
    for (int32_t t = 0; t < p->k; t++, a += p->col, b += p->b_row) {
        c0 += a[0] * *from(b);
        c1 += a[0] * *from(b + LANES);
    }
    *at(c) = c0, *at(c + LANES) = c1;
}

/* The rows of C, COLS or fewer wide, that meet a whole panel. */
static void strip(float *c, ptrdiff_t n, struct panel p, int32_t m, int32_t wide)
{
    int32_t i = 0;
    for (; i + ROWS <= m; i += ROWS, p.a += ROWS * p.row)
        if (wide > LANES)
            tile_4_by_8(c + i * n, n, &p);
        else
            tile_4_by_4(c + i * n, n, &p);
    for (; i < m; i++, p.a += p.row)
        tile_1_by_8(c + i * n, &p);
}

/* Columns of B side by side, with zeros where B has no more. */
static void gather(float *to, struct kernel_matrix b, int32_t k, int32_t wide)
{
    for (int32_t t = 0; t < k; t++)
        for (int32_t j = 0; j < COLS; j++)
            to[t * COLS + j] = j < wide ? b.at[t * b.row + j * b.col] : 0;
}

static void copy_rows(float *to, ptrdiff_t to_row, const float *c, ptrdiff_t row, int32_t m, int32_t wide)
{
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < wide; j++)
            to[i * to_row + j] = c[i * row + j];
}

/* What is narrower than a panel is done beside C. */
static void narrow_strip(float *c, ptrdiff_t n, struct panel p, int32_t m, int32_t wide)
{
    float beside[ROWS * COLS] = { 0 };
    for (int32_t i = 0; i < m; i += ROWS, p.a += ROWS * p.row) {
        int32_t rows = m - i < ROWS ? m - i : ROWS;
        copy_rows(beside, COLS, c + i * n, n, rows, wide);
        strip(beside, COLS, p, rows, wide);
        copy_rows(c + i * n, n, beside, COLS, rows, wide);
    }
}

/* C += A B, with k at most TERMS. */
static void add_product(float *c, struct kernel_matrix a, struct kernel_matrix b, int32_t m, int32_t n,
                        int32_t k)
{
    float gathered[TERMS * COLS];
    for (int32_t j = 0; j < n; j += COLS) {
        int32_t wide = n - j < COLS ? n - j : COLS;
        struct kernel_matrix here = { b.at + j * b.col, b.row, b.col };
        struct panel p = { a.at, here.at, a.row, a.col, b.row, k };
        if (b.col != 1 || wide < COLS) {
            gather(gathered, here, k, wide);
            p.b = gathered;
            p.b_row = COLS;
        }
        if (wide == COLS)
            strip(c + j, n, p, m, wide);
        else
            narrow_strip(c + j, n, p, m, wide);
    }
}

void kernel_product(float *c, struct kernel_matrix a, struct kernel_matrix b, int32_t m, int32_t n, int32_t k,
                    bool add)
{
    if (!add)
        memset(c, 0, (size_t)m * (size_t)n * sizeof *c);
    for (int32_t t = 0; t < k; t += TERMS) {
        add_product(c, a, b, m, n, k - t < TERMS ? k - t : TERMS);
        a.at += TERMS * a.col;
        b.at += TERMS * b.row;
    }
}
