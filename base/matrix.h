/**
 * @file Dense matrices, row by row; products and triangular systems by GSL BLAS.
 *
 * The largest products are those of a scheduler's policy network (some hundred rows), so nothing is threaded
 * here: threads are taken by whole runs.
 */
#ifndef BASE_MATRIX_H
#define BASE_MATRIX_H

#include <stdbool.h>
#include <stdint.h>

/**
 * C = A B, or C += A B with @p add: A is @p m x @p k, B @p k x @p n, C @p m x @p n, all without gaps between
 * rows. The order of additions is fixed: same input, same bytes. O(m n k). Products with a transposed matrix
 * run at half the speed; transpose what is used more than once. @p c must not overlap the others.
 */
void matrix_product(double *c, const double *a, const double *b, int32_t m, int32_t n, int32_t k, bool add);

/** @p to, shape [cols][rows], from @p from, shape [rows][cols]. */
void matrix_transpose(double *to, const double *from, int32_t rows, int32_t cols);

/**
 * The lower triangle of @p a, shape [n][n], symmetric, becomes its Cholesky factor; the rest of @p a is not
 * to be read. False: it is not positive definite, or there is no memory for n rows of 64. O(n^3). On failure
 * the columns before the bad pivot are already factored: @p a is of no more use.
 */
bool matrix_cholesky(double *a, int32_t n);

/** x with L L' x = @p x, in place; @p l of matrix_cholesky(). O(n^2). */
void matrix_cholesky_solve(const double *l, double *x, int32_t n);

/**
 * x with L x = @p x, in place: the first half of the above. O(n^2). @p x has shape [n]; L has no zero on its
 * diagonal.
 */
void matrix_lower_solve(const double *l, double *x, int32_t n);

#endif
