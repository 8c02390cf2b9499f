/*
 * Vectors of parameters: sums, means, distances and norms of float arrays. Element-wise loops may be
 * vectorised, as no element depends on another; sums run in a fixed number of partial sums, so that every
 * machine adds in the same order and gives the same bits.
 */
#include "sim/gossip/floats.h"

#include <string.h>

/* `omp simd` is a wish: sanitizers come in its way, and there clang warns of every loop. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif

/* `simd` lets numbers beside each other be done together, also where arrays are the same one; no sum here
 * depends on how many that are. */

void floats_add(float *y, float a, const float *x, int32_t n)
{
#pragma omp simd
    for (int32_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

void floats_add_difference(float *y, float a, const float *p, const float *q, int32_t n)
{
#pragma omp simd
    for (int32_t i = 0; i < n; i++)
        y[i] += a * (p[i] - q[i]);
}

void floats_scale(float *y, float a, int32_t n)
{
#pragma omp simd
    for (int32_t i = 0; i < n; i++)
        y[i] *= a;
}

void floats_copy(float *y, const float *x, int32_t n)
{
    memcpy(y, x, (size_t)n * sizeof *y);
}

/* So many sums at a time, which stay in the first cache while all arrays pass by. */
enum { SUMS = 512 };

static void add_up(double *sum, const float *x, int32_t n)
{
#pragma omp simd
    for (int32_t i = 0; i < n; i++)
        sum[i] += (double)x[i];
}

void floats_mean(float *y, float *const *x, int32_t count, int32_t n)
{
    for (int32_t from = 0; from < n; from += SUMS) {
        double sum[SUMS] = { 0 };
        int32_t m = n - from < SUMS ? n - from : SUMS;
        for (int32_t k = 0; k < count; k++)
            add_up(sum, x[k] + from, m);
        for (int32_t i = 0; i < m; i++)
            y[from + i] = (float)(sum[i] / count);
    }
}

/* Sums of squares: number i goes to partial sum i mod PARTS, and these are added up at the end. */
enum { PARTS = 16 };

static double floats_add_parts(const double *part)
{
    double sum = 0;
    for (int j = 0; j < PARTS; j++)
        sum += part[j];
    return sum;
}

double floats_square(const float *x, int32_t n)
{
    double part[PARTS] = { 0 };
    int32_t i = 0;
    for (; i + PARTS <= n; i += PARTS)
        for (int j = 0; j < PARTS; j++)
            part[j] += (double)x[i + j] * (double)x[i + j];
    for (int j = 0; i < n; i++, j++)
        part[j] += (double)x[i] * (double)x[i];
    return floats_add_parts(part);
}

/* Summed in PARTS partial sums, always in the same order: vector units may be used, and results stay the
 * same. */
double floats_distance2(const float *p, const float *q, int32_t n)
{
    double part[PARTS] = { 0 };
    int32_t i = 0;
    for (; i + PARTS <= n; i += PARTS)
        for (int j = 0; j < PARTS; j++) {
            double d = (double)p[i + j] - (double)q[i + j];
            part[j] += d * d;
        }
    for (int j = 0; i < n; i++, j++) {
        double d = (double)p[i] - (double)q[i];
        part[j] += d * d;
    }
    return floats_add_parts(part);
}
