/*
 * Products of small float matrices, C = A B, for any strides. The terms of each element are added in the
 * order of the inner index, whatever the width of the vectors, so that results agree to the bit between
 * machines and builds; blocking only changes which elements are done side by side.
 */
#include "sim/gossip/learner.h"

#include <string.h>

/* So many terms at a time: that much of B stays in the first cache, and has room on the stack. Rows beside C
 * are done so many at a time; most columns of a panel. */
enum { TERMS = 256, ROWS = 4, MOST_COLS = 16 };

/* Rows of A, and the columns of B that they meet: term t of row i is a[i * row + t * col] times what begins
 * at b[t * b_row], two vectors wide. Borrowed; k terms. */
struct kernel_panel {
    const float *a, *b;
    ptrdiff_t row, col, b_row;
    int32_t k;
};

/* `aligned` and `may_alias`: they are read from wherever a float is. */
typedef float vector_4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef float vector_8 __attribute__((vector_size(32), aligned(4), may_alias));

/* What every x86-64 and ARMv8 has. */
#define LANES    4
#define VECTOR   vector_4
#define OF(name) name##_of_4
#define TARGET   /* none */
#include "sim/gossip/kernel.inc"

/* AVX2 where it may be; elsewhere compilers make two vectors of one, and nobody asks for it. */
#define LANES    8
#define VECTOR   vector_8
#define OF(name) name##_of_8
#ifdef __x86_64__
#define TARGET __attribute__((target("avx2")))
#else
#define TARGET /* none */
#endif
#include "sim/gossip/kernel.inc"

/* How products are done: the columns of a panel, two vectors, and what does them. */
struct kernel_way {
    int32_t cols;
    void (*strip)(float *c, ptrdiff_t n, struct kernel_panel p, int32_t m, int32_t wide);
};

/* Columns of B side by side, with zeros where B has no more. */
static void kernel_gather_cols(float *to, struct kernel_matrix b, int32_t k, int32_t wide, int32_t cols)
{
    for (int32_t t = 0; t < k; t++)
        for (int32_t j = 0; j < cols; j++)
            to[t * cols + j] = j < wide ? b.at[t * b.row + j * b.col] : 0;
}

static void copy_rows(float *to, ptrdiff_t to_row, const float *c, ptrdiff_t row, int32_t m, int32_t wide)
{
    for (int32_t i = 0; i < m; i++)
        for (int32_t j = 0; j < wide; j++)
            to[i * to_row + j] = c[i * row + j];
}

/* What is narrower than a panel is done beside C. */
static void narrow_strip(float *c, ptrdiff_t n, struct kernel_panel p, int32_t m, int32_t wide,
                         struct kernel_way way)
{
    float beside[ROWS * MOST_COLS] = { 0 };
    for (int32_t i = 0; i < m; i += ROWS, p.a += ROWS * p.row) {
        int32_t rows = m - i < ROWS ? m - i : ROWS;
        copy_rows(beside, way.cols, c + i * n, n, rows, wide);
        way.strip(beside, way.cols, p, rows, wide);
        copy_rows(c + i * n, n, beside, way.cols, rows, wide);
    }
}

/* C += A B, with k at most TERMS. */
static void add_product(float *c, struct kernel_matrix a, struct kernel_matrix b, int32_t m, int32_t n,
                        int32_t k, struct kernel_way way)
{
    float gathered[TERMS * MOST_COLS];
    for (int32_t j = 0; j < n; j += way.cols) {
        int32_t wide = n - j < way.cols ? n - j : way.cols;
        struct kernel_matrix here = { b.at + j * b.col, b.row, b.col };
        struct kernel_panel p = { a.at, here.at, a.row, a.col, b.row, k };
        if (b.col != 1 || wide < way.cols) {
            kernel_gather_cols(gathered, here, k, wide, way.cols);
            p.b = gathered;
            p.b_row = way.cols;
        }
        if (wide == way.cols)
            way.strip(c + j, n, p, m, wide);
        else
            narrow_strip(c + j, n, p, m, wide, way);
    }
}

int32_t kernel_lanes(void)
{
#ifdef __x86_64__
    return __builtin_cpu_supports("avx2") ? 8 : 4;
#else
    return 4;
#endif
}

void kernel_product_by(int32_t lanes, float *c, struct kernel_matrix a, struct kernel_matrix b, int32_t m,
                       int32_t n, int32_t k, bool add)
{
    struct kernel_way way = { 2 * lanes, lanes == 8 ? strip_of_8 : strip_of_4 };
    if (!add)
        memset(c, 0, (size_t)m * (size_t)n * sizeof *c);
    for (int32_t t = 0; t < k; t += TERMS) {
        add_product(c, a, b, m, n, k - t < TERMS ? k - t : TERMS, way);
        a.at += TERMS * a.col;
        b.at += TERMS * b.row;
    }
}

void kernel_product(float *c, struct kernel_matrix a, struct kernel_matrix b, int32_t m, int32_t n, int32_t k,
                    bool add)
{
    kernel_product_by(kernel_lanes(), c, a, b, m, n, k, add);
}
