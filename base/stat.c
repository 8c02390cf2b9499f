/*
 * Statistics over repeated runs. Intervals are Student's t with n - 1 degrees of freedom, 0.975 quantile by
 * GSL, which assumes independent runs with a mean that is about normal: that holds for runs that differ in
 * their seed and not for samples along one run, so nothing here is applied to those.
 */

#include "base/stat.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>

struct stat_mean stat_mean(const double *x, int64_t n, int64_t stride)
{
    struct stat_mean m = { .mean = NAN, .half = NAN };
    double squares = 0, mean = 0;
    /* Welford's update: no cancellation where values differ little. */
    for (int64_t i = 0; i < n; i++) {
        double value = x[i * stride];
        if (isnan(value))
            continue;
        double apart = value - mean;
        mean += apart / (double)++m.n;
        squares += apart * (value - mean);
    }
    if (m.n > 0)
        m.mean = mean;
    if (m.n > 1) {
        double count = (double)m.n;
        m.half = stat_student(0.975, count - 1) * sqrt(squares / (count - 1) / count);
    }
    return m;
}

double stat_student(double q, double dof)
{
    return gsl_cdf_tdist_Pinv(q, dof);
}

double stat_quantile(const double *x, int64_t n, double q)
{
    if (n < 1)
        return NAN;
    double at = q * (double)(n - 1);
    int64_t below = (int64_t)floor(at);
    if (below >= n - 1)
        return x[n - 1];
    return x[below] + (at - (double)below) * (x[below + 1] - x[below]);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void stat_sort(double *x, int64_t n)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
}

static int by_number(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

void stat_sort_numbers(int32_t *x, int64_t n)
{
    qsort(x, (size_t)n, sizeof *x, by_number);
}

static int by_rank(const void *a, const void *b)
{
    return stat_before(b, a) - stat_before(a, b);
}

void stat_sort_ranks(struct stat_rank *x, int64_t n)
{
    qsort(x, (size_t)n, sizeof *x, by_rank);
}
