/*
 * Row-major wrappers over CBLAS. Cholesky is our own: GSL reports a matrix that is not positive definite
 * through a handler of the whole program, and here that is an outcome the caller asks about, from several
 * threads at once. It goes by blocks of BLOCK columns (right-looking: factor the block, then subtract its
 * outer product from what is left, in tiles of TILE x TILE that stay in registers), at which some thousand
 * rows run five times as fast as by dot products of rows.
 */

#include "base/matrix.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include <gsl/gsl_blas.h>

void matrix_product(double *c, const double *a, const double *b, int32_t m, int32_t n, int32_t k, bool add)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, a, k, b, n, add, c, n);
}

void matrix_transpose(double *to, const double *from, int32_t rows, int32_t cols)
{
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < cols; c++)
            to[(size_t)c * (size_t)rows + (size_t)r] = from[(size_t)r * (size_t)cols + (size_t)c];
}

enum { BLOCK = 64, TILE = 4 };

typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

/* Rows of columns from .. to: the square on the diagonal is factored, what is below it solved for. */
static bool factor_block(double *a, int32_t n, int32_t from, int32_t to)
{
    for (int32_t i = from; i < n; i++) {
        double *row = a + (size_t)i * (size_t)n;
        for (int32_t j = from; j < to && j < i; j++) {
            const double *other = a + (size_t)j * (size_t)n;
            row[j] = (row[j] - cblas_ddot(j - from, row + from, 1, other + from, 1)) / other[j];
        }
        if (i >= to)
            continue;
        double pivot = row[i] - cblas_ddot(i - from, row + from, 1, row + from, 1);
        if (!(pivot > 0))
            return false;
        row[i] = sqrt(pivot);
    }
    return true;
}

/* Columns from .. to of the rows from first on, TILE rows beside each other; rows past the last are 0. */
static void pack_rows(double *pack, const double *a, int32_t n, int32_t first, int32_t from, int32_t to)
{
    for (int32_t i = first; i < n; i += TILE)
        for (int32_t k = from; k < to; k++)
            for (int32_t r = i; r < i + TILE; r++)
                *pack++ = r < n ? a[(size_t)r * (size_t)n + (size_t)k] : 0;
}

/* c -= p q' for TILE packed rows of each; the first @p rows and @p cols of c are there. */
static void subtract_tile(double *c, int32_t n, int32_t rows, int32_t cols, const double *p, const double *q,
                          int32_t depth)
{
    pair sum[TILE][2] = { { { 0 } } };
    for (int32_t k = 0; k < depth; k++, p += TILE, q += TILE) {
        pair low = *(const pair *)q, high = *(const pair *)(q + 2);
        for (int r = 0; r < TILE; r++) {
            sum[r][0] += p[r] * low;
            sum[r][1] += p[r] * high;
        }
    }
    for (int32_t r = 0; r < rows; r++)
        for (int32_t j = 0; j < cols; j++)
            c[(size_t)r * (size_t)n + (size_t)j] -= sum[r][j / 2][j % 2];
}

bool matrix_cholesky(double *a, int32_t n)
{
    double *pack = malloc(sizeof *pack * (size_t)BLOCK * ((size_t)n + TILE));
    bool ok = pack != NULL;
    for (int32_t from = 0; from < n && ok; from += BLOCK) {
        int32_t to = from + BLOCK < n ? from + BLOCK : n, depth = to - from;
        ok = factor_block(a, n, from, to);
        pack_rows(pack, a, n, to, from, to);
        for (int32_t i = to; i < n && ok; i += TILE)
            for (int32_t j = to; j <= i; j += TILE)
                subtract_tile(a + (size_t)i * (size_t)n + (size_t)j, n, i + TILE < n ? TILE : n - i,
                              j + TILE < n ? TILE : n - j, pack + (size_t)(i - to) * (size_t)depth,
                              pack + (size_t)(j - to) * (size_t)depth, depth);
    }
    free(pack);
    return ok;
}

void matrix_lower_solve(const double *l, double *x, int32_t n)
{
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, l, n, x, 1);
}

void matrix_cholesky_solve(const double *l, double *x, int32_t n)
{
    matrix_lower_solve(l, x, n);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, l, n, x, 1);
}
