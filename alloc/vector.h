/** @file Short vectors, one entry per dimension or pair. */
#ifndef ALLOC_VECTOR_H
#define ALLOC_VECTOR_H

#include <math.h>
#include <stdint.h>

static inline double vector_dot(const double *a, const double *b, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static inline double vector_largest(const double *a, int32_t n)
{
    double most = 0;
    for (int32_t i = 0; i < n; i++)
        most = fmax(most, fabs(a[i]));
    return most;
}

#endif
