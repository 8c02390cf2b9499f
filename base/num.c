/*
 * Three things that must come out the same on every machine: integers that notice overflow, decimal numbers
 * in and out, and elementary functions.
 *
 * Reading is strtod(), which rounds correctly, behind a check of the grammar. Writing is the shortest of 15
 * to 17 digits that reads back (17 always do: Steele and White, "How to print floating-point numbers
 * accurately", PLDI 1990; fewer than 15 never have to be tried, as %g drops zeros at the end). Tables have
 * millions of numbers, so the usual range goes through 180-bit integers instead of printf(); both ways give
 * the same characters.
 */

#include "base/num.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool num_mul(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_mul_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

bool num_add(int64_t a, int64_t b, int64_t *out)
{
    int64_t r;
    if (__builtin_add_overflow(a, b, &r))
        return false;
    *out = r;
    return true;
}

int64_t num_common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static const double golden = 0.6180339887498949; /* (sqrt(5) - 1)/2 */

int64_t num_golden_step(int64_t n)
{
    int64_t step = (int64_t)(golden * (double)n);
    if (step < 1)
        step = 1;
    while (num_common_divisor(n, step) != 1)
        step++;
    return step;
}

double num_golden_greatest(double *at, double (*value)(const void *with, double at), const void *with,
                           double end, int n)
{
    double from = 0, width = end, place[2] = { (1 - golden) * end, golden * end }, found[2];
    for (int i = 0; i < 2; i++)
        found[i] = value(with, place[i]);
    for (int i = 0; i < n; i++) {
        int keep = found[0] < found[1]; /* the better of the two is one of the next two */
        width *= golden;
        from = keep ? place[0] : from;
        place[!keep] = place[keep];
        found[!keep] = found[keep];
        place[keep] = from + (keep ? golden : 1 - golden) * width;
        found[keep] = value(with, place[keep]);
    }
    int best = found[0] < found[1];
    *at = place[best];
    return found[best];
}

bool num_is_power_of_two(int64_t n)
{
    return (n & (n - 1)) == 0;
}

int32_t num_log2_up(int64_t n)
{
    int32_t k = 0;
    while ((INT64_C(1) << k) < n)
        k++;
    return k;
}

static const char *skip_digits(const char *s)
{
    while (isdigit((unsigned char)*s))
        s++;
    return s;
}

/* strtod() takes more than we do: hexadecimal, nan, inf, leading space. */
static bool is_decimal(const char *s)
{
    if (*s == '+' || *s == '-')
        s++;
    /* "010" is octal to some readers of YAML, ten to others. */
    if (s[0] == '0' && isdigit((unsigned char)s[1]))
        return false;
    const char *end = skip_digits(s);
    bool digits = end != s;
    if (*end == '.') {
        const char *frac = end + 1;
        end = skip_digits(frac);
        digits = digits || end != frac;
    }
    if (!digits)
        return false;
    if (*end == 'e' || *end == 'E') {
        const char *exp = end + 1;
        if (*exp == '+' || *exp == '-')
            exp++;
        end = skip_digits(exp);
        if (end == exp)
            return false;
    }
    return *end == '\0';
}

bool num_parse_real(const char *text, double *out)
{
    if (!is_decimal(text))
        return false;
    /* Underflow to 0 or to a subnormal is accepted: ERANGE is not looked at, only what came out. */
    double x = strtod(text, NULL);
    if (!isfinite(x))
        return false;
    *out = x;
    return true;
}

bool num_parse_count(const char *text, int64_t *out)
{
    if (*text == '\0' || *skip_digits(text) != '\0' || (text[0] == '0' && text[1] != '\0'))
        return false;
    errno = 0;
    long long n = strtoll(text, NULL, 10);
    if (errno)
        return false;
    *out = n;
    return true;
}

const char *num_move_point(char out[NUM_MOVED], const char *number, int places)
{
    size_t mantissa = strcspn(number, "eE");
    long exponent = number[mantissa] ? strtol(number + mantissa + 1, NULL, 10) : 0;
    snprintf(out, NUM_MOVED, "%.*se%ld", (int)mantissa, number, exponent + places);
    return out;
}

double num_scaled(const char *number, int places)
{
    char moved[NUM_MOVED];
    return strtod(num_move_point(moved, number, places), NULL);
}

/*
 * A double is m * 2^e with a whole m below 2^53. Times 10^p it is m * 5^p * 2^(e+p), which up to 5^54 is a
 * whole number of 180 bits shifted to the right: its first 17 decimal digits are exact, and what is left of
 * them is known well enough to round and to tell whether fewer digits read back as the same double. Where it
 * is not (one in some 10^8), and outside 1e-38 to 1e15, the C library does it, which takes ten times as long.
 */

__extension__ typedef unsigned __int128 uint128;

enum { MOST_FIVES = 54, ONE_WORD = 27 /* 5^27 < 2^64 */ };

/* x = (whole + rest) / 10^(16 - exponent), 10^16 <= whole < 10^17. */
struct decimal {
    uint64_t whole;
    double rest;   /* 0 <= rest <= 1, to 2^-52 */
    bool more;     /* rest is not 0, exactly */
    double half;   /* half the distance to the next double, in units of whole */
    bool lopsided; /* m is a power of two: downwards the next double is half as far */
    int exponent;  /* of ten, of the first digit */
};

static uint64_t fives(int n)
{
    uint64_t x = 1;
    for (uint64_t power = 5; n; n >>= 1, power *= power)
        if (n & 1)
            x *= power;
    return x;
}

/* m * 5^p * 2^-shift as whole and rest. 1 <= shift < 128. */
static void scale(struct decimal *d, uint64_t m, int p, int shift)
{
    uint128 five = p <= ONE_WORD ? fives(p) : (uint128)fives(ONE_WORD) * fives(p - ONE_WORD);
    uint128 low = (uint128)m * (uint64_t)five;
    uint128 high = (uint128)m * (uint64_t)(five >> 64) + (low >> 64);
    uint64_t last = (uint64_t)low, left;
    if (shift <= 64) {
        d->whole = (uint64_t)(high << (64 - shift)) | (shift < 64 ? last >> shift : 0);
        left = shift < 64 ? last & ((UINT64_C(1) << shift) - 1) : last;
        d->rest = ldexp((double)left, -shift);
        d->more = left != 0;
    } else {
        d->whole = (uint64_t)(high >> (shift - 64));
        left = (uint64_t)high & ((UINT64_C(1) << (shift - 64)) - 1);
        d->rest = ldexp((double)left, 64 - shift) + ldexp((double)last, -shift);
        d->more = left != 0 || last != 0;
    }
}

/* False: the range is not ours. x > 0. */
static bool to_decimal(struct decimal *d, double x)
{
    const uint64_t first = UINT64_C(10000000000000000), bit = UINT64_C(1) << 52;
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint64_t m = (bits & (bit - 1)) | bit;
    int e = (int)(bits >> 52) - 1075;
    /* Of the power of two below x; x itself may have one digit more. */
    /* log10 of the power of two below x, rounded down: the exponent of x itself or one less, which the loop
     * tries next. */
    d->exponent = (int)floor((e + 52) * 0.30102999566398120);
    for (int more = 0; more < 2; more++, d->exponent++) {
        int p = 16 - d->exponent, shift = -(e + p);
        if (p < 0 || p > MOST_FIVES || shift < 1 || shift > 127)
            return false;
        scale(d, m, p, shift);
        if (d->whole < 10 * first)
            break;
    }
    d->half = ((double)d->whole + d->rest) / (2 * (double)m);
    d->lopsided = m == bit;
    return d->whole >= first && d->whole < 10 * first;
}

/* The first 17 - cut digits, rounded to even, as an exact tie goes. */
static uint64_t rounded(const struct decimal *d, uint64_t unit)
{
    uint64_t kept = d->whole / unit, cut = d->whole % unit;
    bool up = 2 * cut > unit || (2 * cut == unit && (d->more || kept & 1));
    return kept + up;
}

/* 1: these digits read back as x; 0: they do not; -1: too close to tell. */
static int reads_back(const struct decimal *d, uint64_t digits, uint64_t unit)
{
    double off = fabs((double)(int64_t)(digits * unit - d->whole) - d->rest);
    if (off < d->half * (d->lopsided ? 0.5 : 1) * (1 - 1e-9))
        return 1;
    return off > d->half * (1 + 1e-9) ? 0 : -1;
}

/* The fewest digits, 15 to 17, that read back; *n of them. False: too close to tell. */
static bool shortest(const struct decimal *d, uint64_t *digits, int *n)
{
    static const uint64_t units[] = { 100, 10 };
    for (int i = 0; i < 2; i++) {
        *n = 15 + i;
        *digits = rounded(d, units[i]);
        int back = reads_back(d, *digits, units[i]);
        if (back != 0)
            return back > 0;
    }
    *n = 17;
    *digits = d->whole + (d->rest > 0.5);
    return fabs(d->rest - 0.5) > 1e-9;
}

static char *num_put(char *to, const char *s, int n)
{
    memcpy(to, s, (size_t)n);
    return to + n;
}

static char *put_exponent(char *to, int exponent)
{
    to = num_put(to, exponent < 0 ? "e-" : "e+", 2);
    *to++ = (char)('0' + abs(exponent) / 10);
    *to++ = (char)('0' + abs(exponent) % 10);
    return to;
}

/* As %.{precision}g: fixed or with an exponent, without zeros at the end. */
static void put_decimal(char *to, const char *digits, int n, int exponent, int precision)
{
    static const char zeros[] = "00000000000000000";
    int before = exponent + 1 < n ? exponent + 1 : n; /* the point */
    if (exponent < -4 || exponent >= precision) {
        *to++ = digits[0];
        to = n > 1 ? num_put(num_put(to, ".", 1), digits + 1, n - 1) : to;
        to = put_exponent(to, exponent);
    } else if (exponent < 0) {
        to = num_put(num_put(num_put(to, "0.", 2), zeros, -exponent - 1), digits, n);
    } else {
        to = num_put(num_put(to, digits, before), zeros, exponent + 1 - before);
        to = n > before ? num_put(num_put(to, ".", 1), digits + before, n - before) : to;
    }
    *to = '\0';
}

/* The digits of a whole number that has n of them, without zeros at the end; returns how many. */
static int split(char digits[20], uint64_t x, int n)
{
    for (int i = n; i-- > 0; x /= 10)
        digits[i] = (char)('0' + x % 10);
    while (n > 1 && digits[n - 1] == '0')
        n--;
    return n;
}

static bool format_quickly(char *buf, double x)
{
    struct decimal d;
    uint64_t number;
    char digits[20];
    int precision;
    if (!to_decimal(&d, x) || !shortest(&d, &number, &precision))
        return false;
    uint64_t end = precision == 15   ? UINT64_C(1000000000000000)
                   : precision == 16 ? UINT64_C(10000000000000000)
                                     : UINT64_C(100000000000000000);
    if (number == end) { /* 9.99.. rounded up */
        number /= 10;
        d.exponent++;
    }
    put_decimal(buf, digits, split(digits, number, precision), d.exponent, precision);
    return true;
}

static void format_slowly(char *buf, double x)
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(buf, NUM_TEXT, "%.*g", digits, x);
        if (strtod(buf, NULL) == x)
            break;
    }
}

const char *num_format(char buf[NUM_TEXT], double x)
{
    if (isnan(x))
        return strcpy(buf, "nan");
    if (x < 0)
        buf[0] = '-';
    if (!format_quickly(buf + (x < 0), fabs(x)))
        format_slowly(buf, x);
    return buf;
}

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

/* Loops of fixed length without branches: gcc and clang both make vector instructions of them, and since each
 * lane is +, -, * and / of IEEE 754, the vector code rounds as the scalar code does. */
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
