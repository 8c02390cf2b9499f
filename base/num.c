#include "base/num.h"

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
