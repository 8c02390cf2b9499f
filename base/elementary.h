/**
 * @file Elementary functions with the same last bit on every machine.
 *
 * The C library picks its code by what the processor has (fused multiply-add), and results differ in the last
 * bit. Where a random number is compared with a probability, a last bit decides which plan is drawn and so
 * all that follows. These use +, -, *, / alone, which IEEE 754 rounds in one way only; the program is
 * compiled without contraction. They also run several numbers at a time.
 */
#ifndef BASE_ELEMENTARY_H
#define BASE_ELEMENTARY_H

#include <stdint.h>

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
