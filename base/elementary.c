#include "base/elementary.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* So many numbers go through a loop of known length, which compilers turn into vector instructions. */
enum { BLOCK = 16 };

/* ln 2 in two parts; the first has 32 bits, so that its products with whole numbers below 2^11 are exact. */
static const double ln2_high = 0x1.62e42fee00000p-1, ln2_low = 0x1.a39ef35793c76p-33;

/* Added to a number below 2^51, leaves it rounded to a whole one in the lowest bits. */
static const double rounder = 0x1.8p52;

/* Beyond it, 2^k below has no room in the exponent. */
#define MOST_EXPONENT 708.0

/* exp(x) = 2^k exp(r) with |r| <= ln 2 / 2. Taylor's series to r^13: the next term is below 5e-18. */
static inline double exp_of(double x)
{
    double shifted = x * 0x1.71547652b82fep+0 + rounder, k = shifted - rounder;
    double r = (x - k * ln2_high) - k * ln2_low;
    double sum = 1.0 / 6227020800;
    sum = sum * r + 1.0 / 479001600;
    sum = sum * r + 1.0 / 39916800;
    sum = sum * r + 1.0 / 3628800;
    sum = sum * r + 1.0 / 362880;
    sum = sum * r + 1.0 / 40320;
    sum = sum * r + 1.0 / 5040;
    sum = sum * r + 1.0 / 720;
    sum = sum * r + 1.0 / 120;
    sum = sum * r + 1.0 / 24;
    sum = sum * r + 1.0 / 6;
    sum = sum * r + 1.0 / 2;
    sum = sum * (r * r) + r;
    /* 2^k: the whole number's lowest bits, moved to where the exponent is. */
    uint64_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale + scale * sum;
}

static void exp_block(double *x)
{
    for (int i = 0; i < BLOCK; i++)
        x[i] = exp_of(x[i]);
}

static void sigmoid_block(double *x)
{
    for (int i = 0; i < BLOCK; i++)
        x[i] = 1 / (1 + exp_of(-x[i]));
}

/* tanh(x) = 2 sigmoid(2x) - 1 */
static void tanh_block(double *x)
{
    for (int i = 0; i < BLOCK; i++)
        x[i] = 2 / (1 + exp_of(-2 * x[i])) - 1;
}

/* Apart from the blocks: as a part of their loop it would keep gcc from making vector instructions of it. */
static void clamp(double *x, int32_t n, double limit)
{
    for (int32_t i = 0; i < n; i++) {
        double low = x[i] < -limit ? -limit : x[i];
        x[i] = low > limit ? limit : low;
    }
}

/* The last numbers are a block with zeros behind them. */
static void by_blocks(double *x, int32_t n, double limit, void (*block)(double *))
{
    int32_t i = 0;
    clamp(x, n, limit);
    for (; i + BLOCK <= n; i += BLOCK)
        block(x + i);
    if (i < n) {
        double rest[BLOCK] = { 0 };
        memcpy(rest, x + i, (size_t)(n - i) * sizeof *x);
        block(rest);
        memcpy(x + i, rest, (size_t)(n - i) * sizeof *x);
    }
}

void elementary_exp(double *x, int32_t n)
{
    by_blocks(x, n, MOST_EXPONENT, exp_block);
}

void elementary_sigmoid(double *x, int32_t n)
{
    by_blocks(x, n, MOST_EXPONENT, sigmoid_block);
}

void elementary_tanh(double *x, int32_t n)
{
    by_blocks(x, n, MOST_EXPONENT / 2, tanh_block);
}

/* x = 2^k m with m in [sqrt(1/2), sqrt(2)); ln m = 2 artanh((m - 1)/(m + 1)), whose series is cut where the
 * next term is below 1e-17 of the sum. */
double elementary_log(double x)
{
    int k;
    assert(isnormal(x) && x > 0);
    double m = frexp(x, &k);
    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        k--;
    }
    double s = (m - 1) / (m + 1), square = s * s, sum = 0;
    for (int i = 21; i >= 3; i -= 2)
        sum = (sum + 1.0 / i) * square;
    return k * ln2_high + (2 * s + (2 * s * sum + k * ln2_low));
}
