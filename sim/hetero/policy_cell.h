/**
 * @file The cell of a recurrent policy, forward and backward, for one state at a time.
 *
 *     LSTM    i, f, o = sigmoid(z_i, z_f, z_o)   g = tanh(z_g)   c = f c_before + i g   h = o tanh(c)
 *     Elman   h = tanh(z)
 */
#ifndef SIM_HETERO_POLICY_CELL_H
#define SIM_HETERO_POLICY_CELL_H

#include <stdint.h>

enum policy_cell { POLICY_LSTM, POLICY_ELMAN };

/** Widths of z for each h: 4 (in the order i, f, o, g) or 1. */
int32_t policy_cell_gates(enum policy_cell cell);

/**
 * @p z, shape [gates * n]: before; becomes i, f, o, g of an LSTM, and stays as tanh(z) of an Elman cell.
 * @p c_before, @p c, @p tanh_c: shape [n], of an LSTM alone; c_before NULL: zero. @p h, shape [n]: what
 * comes out.
 */
void policy_cell_forward(enum policy_cell cell, int32_t n, double *z, const double *c_before, double *c,
                         double *tanh_c, double *h);

/** What forward left, and where derivatives of the objective go. */
struct policy_cell_back {
    const double *gates;    /**< z of forward */
    const double *c_before; /**< NULL: zero */
    const double *tanh_c;
    const double *dh;  /**< shape [n], by h */
    const double *dc;  /**< shape [n], by c through what came later */
    double *dz;        /**< out: shape [gates * n] */
    double *dc_before; /**< added to: shape [n]; NULL: nobody asks */
};
void policy_cell_backward(enum policy_cell cell, int32_t n, const struct policy_cell_back *b);

#endif
