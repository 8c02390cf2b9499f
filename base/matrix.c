/*
 * Row-major wrappers over CBLAS. Cholesky is our own (left-looking, by dot products of rows, so that all it
 * reads is contiguous in row-major order): GSL reports a matrix that is not positive definite through a
 * handler of the whole program, and here that is an outcome the caller asks about, from several threads at
 * once.
 */

#include "base/matrix.h"

#include <math.h>
#include <stddef.h>

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

bool matrix_cholesky(double *a, int32_t n)
{
    /* GSL aborts the program on a matrix that is not positive definite unless its handler is off, and the
     * handler is one for the whole program: the pivots are looked at here instead. */
    for (int32_t j = 0; j < n; j++) {
        double *row = a + (size_t)j * (size_t)n;
        double pivot = row[j] - cblas_ddot(j, row, 1, row, 1);
        if (!(pivot > 0))
            return false;
        row[j] = sqrt(pivot);
        for (int32_t i = j + 1; i < n; i++) {
            double *below = a + (size_t)i * (size_t)n;
            below[j] = (below[j] - cblas_ddot(j, below, 1, row, 1)) / row[j];
        }
    }
    return true;
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
