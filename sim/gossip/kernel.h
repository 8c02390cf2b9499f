/**
 * @file The product of float32 matrices that learning consists of.
 *
 * Each number of the product is added up in one order, from its first term to its last, whatever the vector
 * instructions: those run over numbers beside each other, never along a sum. Same bytes on any machine.
 */
#ifndef SIM_GOSSIP_KERNEL_H
#define SIM_GOSSIP_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A matrix to be read, borrowed: number (i, j) is at[i * row + j * col]. Transposed: row and col change
 * places. */
struct kernel_matrix {
    const float *at;
    ptrdiff_t row, col;
};

/**
 * C = A B, or C += A B with @p add: A is @p m x @p k, B is @p k x @p n, C is @p m x @p n without gaps between
 * rows and apart from both; any size from 1. Terms that are no numbers, or infinite, are multiplied like all
 * others. O(m n k); fastest with m a multiple of 4 and n of 16.
 */
void kernel_product(float *c, struct kernel_matrix a, struct kernel_matrix b, int32_t m, int32_t n, int32_t k,
                    bool add);

/** Floats in the longest vector that is used here: 8 with AVX2, else 4. */
int32_t kernel_lanes(void);

/** kernel_product() by vectors of @p lanes: 4, or 8 if kernel_lanes() is. The bytes are the same. */
void kernel_product_by(int32_t lanes, float *c, struct kernel_matrix a, struct kernel_matrix b, int32_t m,
                       int32_t n, int32_t k, bool add);

#endif
