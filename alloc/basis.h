/** @file Small dense systems over the bandwidths: rows that may depend on each other, multipliers with signs.
 */
#ifndef ALLOC_BASIS_H
#define ALLOC_BASIS_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/network.h"

enum { BASIS_DIMS = TOPO_MAX_DIMS + 1 };

/** Vectors v_k = sum_{j<=k} r[k][j] q[j], q orthonormal; `= { .n_dims = n }` is empty. */
struct basis {
    int32_t n_dims, n;
    double q[BASIS_DIMS][BASIS_DIMS], r[BASIS_DIMS][BASIS_DIMS];
};

/** Less than this of a vector beside those before it is rounding. */
#define BASIS_REL 1e-13

/** Take @p v in; false, and nothing changes, when it depends on those before it. */
bool basis_add(struct basis *b, const double *v);

/** Share of @p v that the vectors taken in cannot make up. */
double basis_left(const struct basis *b, const double *v);

/** Shortest x with v_k . x = rhs[k] for all k. */
void basis_shortest(const struct basis *b, const double *rhs, double *x);

/** p that brings sum_k p_k v_k nearest to @p target. */
void basis_nearest(const struct basis *b, const double *target, double *p);

enum { BASIS_MAX_COLUMNS = 64 };

/**
 * p with p_i >= 0 unless is_free[i] that brings sum_i p_i columns[i] nearest to @p target;
 * at most n_dims of them are not zero. n <= BASIS_MAX_COLUMNS.
 * (Lawson and Hanson, Solving Least Squares Problems, 1974, chapter 23.)
 */
void basis_fit(double *p, const double (*columns)[BASIS_DIMS], const bool *is_free, int32_t n, int32_t n_dims,
               const double *target);

#endif
