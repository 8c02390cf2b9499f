/** @file Private to sim/gossip: what kernel.c leaves to the vectors that a processor has. */
#ifndef SIM_GOSSIP_KERNEL_STRIP_H
#define SIM_GOSSIP_KERNEL_STRIP_H

#include <stddef.h>
#include <stdint.h>

/** Rows of A, and the columns of B that they meet: term t of row i is a[i * row + t * col] times what begins
 * at b[t * b_row], two vectors wide. Borrowed. */
struct kernel_panel {
    const float *a, *b;
    ptrdiff_t row, col, b_row;
    int32_t k; /**< terms */
};

/** C += A B for @p m rows of C, @p n apart, each two vectors wide; of the second one only what lies in the
 * first @p wide numbers is needed. By vectors of 4 floats, and of 8. */
void kernel_strip_4(float *c, ptrdiff_t n, struct kernel_panel p, int32_t m, int32_t wide);
void kernel_strip_8(float *c, ptrdiff_t n, struct kernel_panel p, int32_t m, int32_t wide);

#endif
