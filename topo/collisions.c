/*
 * Balls in bins. M. Raab, A. Steger, RANDOM 1998, has the asymptotics of the fullest bin; here its mean is
 * the sum over c of P(some bin has more than c).
 */
#include "topo/collisions.h"

#include <math.h>
#include <string.h>

enum { EXACT_FLOWS = 32 };

/* Coefficients up to x^n of a b, all >= 0; those of a above x^*degree, of b above x^most are 0. */
static void times(double *a, int32_t *degree, const double *b, int32_t most, int32_t n)
{
    double out[EXACT_FLOWS + 1] = { 0 };
    for (int32_t i = 0; i <= *degree; i++)
        for (int32_t k = 0; k <= most && k <= n - i; k++)
            out[i + k] += a[i] * b[k];
    *degree = *degree + most < n ? *degree + most : n;
    memcpy(a, out, ((size_t)n + 1) * sizeof *a);
}

/* Poisson chances of 0 .. n. */
static void poisson(double *p, double mean, int32_t n)
{
    p[0] = exp(-mean);
    for (int32_t i = 1; i <= n; i++)
        p[i] = p[i - 1] * mean / i;
}

/* Chance that no link has more than @p most of @p n flows: of as many Poisson variables given their sum. */
static double exact_chance(int32_t n, int64_t links, int32_t most)
{
    double bin[EXACT_FLOWS + 1] = { 0 }, all[EXACT_FLOWS + 1] = { 1 }, sum[EXACT_FLOWS + 1];
    int32_t degree = 0, of_bin = most < n ? most : n;
    poisson(bin, n / (double)links, most);
    for (int64_t left = links; left > 0; left /= 2) {
        if (left % 2)
            times(all, &degree, bin, of_bin, n);
        if (left > 1)
            times(bin, &of_bin, bin, of_bin, n);
    }
    poisson(sum, n, n);
    return fmin(all[n] / sum[n], 1);
}

double topo_fullest(int64_t flows, int64_t links, double sets)
{
    double n = (double)flows, u = (double)links, even = n / u, spread = sqrt(even);
    int64_t least = (flows + links - 1) / links;
    double mean = (double)least;
    if (links < 2 || flows < 2)
        return n / fmin(u, n);
    if (even > 1e6) /* next to nothing is left of it */
        return even + spread * sqrt(2 * log(u * fmax(sets, 1)));
    if (flows <= EXACT_FLOWS) {
        for (int64_t c = least, more = 1; c < flows && more; c++) { /* from some on the rest is rounding */
            double part = 1 - pow(exact_chance((int32_t)flows, links, (int32_t)c), sets);
            mean += part;
            more = part > 1e-15;
        }
        return mean;
    }
    /* From where there is no more chance down: log P(j), then P(more than c). */
    int64_t top = least + (int64_t)(12 * spread) + 60;
    top = top < flows ? top : flows;
    double j = (double)top, more = 0;
    double p = exp(lgamma(n + 1) - lgamma(j + 1) - lgamma(n - j + 1) - j * log(u) + (n - j) * log1p(-1 / u));
    for (int64_t c = top - 1; c >= least; c--) {
        more += p;
        mean += 1 - pow(fmax(1 - more * u / (u - 1), 0), (u - 1) * sets);
        p *= (double)(c + 1) * (u - 1) / (double)(flows - c);
    }
    return mean;
}
