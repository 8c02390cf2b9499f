#include "sim/gossip/vec.h"

#include <string.h>

void vec_add(float *y, float a, const float *x, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        y[i] += a * x[i];
}

void vec_add_difference(float *y, float a, const float *p, const float *q, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        y[i] += a * (p[i] - q[i]);
}

void vec_scale(float *y, float a, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        y[i] *= a;
}

void vec_copy(float *y, const float *x, int32_t n)
{
    memcpy(y, x, (size_t)n * sizeof *y);
}

void vec_mean(float *y, float *const *x, int32_t count, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        double sum = 0;
        for (int32_t k = 0; k < count; k++)
            sum += (double)x[k][i];
        y[i] = (float)(sum / count);
    }
}

double vec_square(const float *x, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++)
        sum += (double)x[i] * (double)x[i];
    return sum;
}

double vec_distance2(const float *p, const float *q, int32_t n)
{
    double sum = 0;
    for (int32_t i = 0; i < n; i++) {
        double d = (double)p[i] - (double)q[i];
        sum += d * d;
    }
    return sum;
}
