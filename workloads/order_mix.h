/**
 * @file The best mix of orders in which shares of a buffer pass the dimensions of a group.
 *
 * A reduce-scatter over k_1 x ... x k_D members that passes the dimensions in one order sends S (k - 1)/k on
 * the first, 1/k of that and so on: the first one is busy while the others idle. Split the buffer, let each
 * share go in an order of its own, all at once, and the dimensions can be loaded as their speeds v_d ask for.
 *
 * What can be had: x_d S on dimension d for any x with x(A) <= f(A) = 1 - prod_{d in A} 1/k_d for every set A
 * of dimensions and x(all) = f(all). f is submodular and the orders are its greedy vertices, so this is all
 * that any mix gives (J. Edmonds, 1970). At equal speeds x_d = (1 - 1/N)/D is always among them: f(A)/|A|
 * falls as A grows. In general the least max_d x_d/v_d is that of the base x with the most even x_d/v_d (S.
 * Fujishige, Mathematics of Operations Research 5(2), 1980). D orders suffice (Caratheodory); rotations of
 * one order, which keep the shares on different dimensions, where they do.
 *
 * That is a bound: shares of unequal phases idle or meet on links. In step, all orders begin phase j together
 * when the last has ended phase j - 1, which takes sum_j max_d of what they send on d in phase j, over v_d.
 * The weights for which that is least are a linear programme, and an all-gather, which goes backwards, takes
 * as long. Where all dimensions are alike both are the same.
 */
#ifndef WORKLOADS_ORDER_MIX_H
#define WORKLOADS_ORDER_MIX_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/shape.h"

enum { MIX_ORDERS = 24 /**< 4! */ };

struct order_mix {
    double sent[TOPO_LEVELS];  /**< bytes over S on each dimension, of a reduce-scatter */
    double idle;               /**< time over what the busiest dimension takes for its bytes, >= 1 */
    int32_t n;                 /**< orders */
    double weight[MIX_ORDERS]; /**< share of the buffer that takes order i, > 0, sum 1 */
    int32_t order[MIX_ORDERS][TOPO_LEVELS]; /**< shape [n][n_used], of dimensions with two members or more */
    int32_t n_used;
};

/**
 * @param n_levels  dimensions, 1 to TOPO_LEVELS.
 * @param members   shape [n_levels], >= 1, not all 1.
 * @param speed     shape [n_levels], bytes a second that a byte sent into the dimension leaves it at, in any
 *                  unit, > 0 where there are members.
 * @param in_step   least time in step; else least bytes on the busiest dimension, and `idle` is 1.
 * O(1) in the members; at most (D! over D) systems of D equations, D <= 4.
 */
void mixed_orders_find(struct order_mix *mix, int32_t n_levels, const int32_t *members, const double *speed,
                       bool in_step);

#endif
