/**
 * @file Numbers as text, and integer arithmetic: overflow that is noticed, powers of two.
 *
 * Nothing here depends on the locale beyond the decimal point of strtod(): the program never calls
 * setlocale().
 */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUM_TEXT 32 /**< room for any number num_format() writes */

/** a*b into @p out; false when it does not fit (then @p out is untouched). a, b >= 0. */
bool num_mul(int64_t a, int64_t b, int64_t *out);

/** a+b into @p out; false when it does not fit. a, b >= 0. */
bool num_add(int64_t a, int64_t b, int64_t *out);

/** The greatest number that divides both; the other where one is 0. a, b >= 0. O(log b). */
int64_t num_common_divisor(int64_t a, int64_t b);

/**
 * Steps in which 0 to n - 1 are walked, modulo n, each once: about a golden section of @p n, so that any
 * first few lie far apart. n >= 1.
 */
int64_t num_golden_step(int64_t n);

/**
 * The greatest value of a concave function between 0 and @p end, by golden sections, which narrow the range
 * @p n times. Of the last two places the better one is in *at, and its value is returned.
 */
double num_golden_greatest(double *at, double (*value)(const void *with, double at), const void *with,
                           double end, int n);

/** Is @p n 1, 2, 4, ..? n >= 1. */
bool num_is_power_of_two(int64_t n);

/** The least k with 2^k >= @p n. 1 <= n <= 2^62. */
int32_t num_log2_up(int64_t n);

/**
 * Read the whole of @p text as a finite decimal number: [+-]digits[.digits][e[+-]digits],
 * where the digits on one side of the point may be missing (".5", "5.").
 * No hexadecimal, NaN, infinity, surrounding space, or leading zeros ("010" would
 * be read as 8 elsewhere). False when it is not one, or overflows a double (then @p out
 * is untouched); what is too small for a double is 0.
 */
bool num_parse_real(const char *text, double *out);

/** Read the whole of @p text as a non-negative decimal integer below 2^63; "4096", not "4.0e3". */
bool num_parse_count(const char *text, int64_t *out);

/** Room for num_move_point() of a number of less than NUM_TEXT bytes. */
enum { NUM_MOVED = 64 };

/**
 * @p number with its decimal point moved by @p places: 1.5 GB/s in B/s is the same digits with another
 * exponent. Multiplying would not do: x / 1e9 * 1e9 is not always x. Returns @p out.
 */
const char *num_move_point(char out[NUM_MOVED], const char *number, int places);

/** @p number, which num_parse_real() takes, times 10^places, rounded once. Less than NUM_TEXT bytes. */
double num_scaled(const char *number, int places);

/** Shortest of %.15g, %.16g, %.17g that reads back as @p x. Returns @p buf. NaN gives "nan". */
const char *num_format(char buf[NUM_TEXT], double x);

/*
 * Elementary functions with the same last bit on every machine.
 *
 * The C library picks its code by what the processor has (fused multiply-add), and results differ in the last
 * bit. Where a random number is compared with a probability, a last bit decides which plan is drawn and so
 * all that follows. These use +, -, *, / alone, which IEEE 754 rounds in one way only; the program is
 * compiled without contraction. They also run several numbers at a time.
 */

/** Each of @p x, shape [n], becomes exp(x), relative error below 1e-15; x is cut to [-708, 708]. NaN stays.
 */
void elementary_exp(double *x, int32_t n);

/** Each of @p x becomes 1 / (1 + exp(-x)), relative error below 2e-15 for |x| < 708. NaN stays. */
void elementary_sigmoid(double *x, int32_t n);

/** Each of @p x becomes tanh(x), absolute error below 1e-15. NaN stays. */
void elementary_tanh(double *x, int32_t n);

/** The natural logarithm, relative error below 1e-15; x positive, normal and finite. */
double elementary_log(double x);

#endif
