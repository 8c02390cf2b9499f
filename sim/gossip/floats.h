/** @file Arithmetic on whole models: arrays of float32 of the same length. Same bytes on any machine. */
#ifndef SIM_GOSSIP_FLOATS_H
#define SIM_GOSSIP_FLOATS_H

#include <stdint.h>

/** y <- y + a x. Here and below arrays may be the same one, but not overlap. */
void floats_add(float *y, float a, const float *x, int32_t n);
/** y <- y + a (p - q). */
void floats_add_difference(float *y, float a, const float *p, const float *q, int32_t n);
/** y <- a y. */
void floats_scale(float *y, float a, int32_t n);
/** y <- x. */
void floats_copy(float *y, const float *x, int32_t n);
/** y <- the mean of @p count arrays, added one after the other in double. */
void floats_mean(float *y, float *const *x, int32_t count, int32_t n);
/** Sum of squares, in double: number i goes to the (i mod 16)th of 16 sums, these are added from first to
 * last.
 */
double floats_square(const float *x, int32_t n);
/** Sum of squares of p - q, likewise. */
double floats_distance2(const float *p, const float *q, int32_t n);

#endif
