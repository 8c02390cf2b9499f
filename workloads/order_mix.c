/* See workloads/order_mix.h for what is found and why it exists. */
#include "workloads/order_mix.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

enum { MOST_ORDERS = 24 /* 4! */ };

/* Rounding of a weight or a load. */
#define MIX_REL 1e-12

/* The dimensions in use, renumbered. */
struct mix_search {
    int32_t n, dim[TOPO_LEVELS];
    double members[TOPO_LEVELS], speed[TOPO_LEVELS], sent[TOPO_LEVELS];
    int32_t orders[MOST_ORDERS][TOPO_LEVELS], n_orders;
};

/* f(A) of the set with the bits @p set. */
static double mix_reach(const struct mix_search *x, unsigned set)
{
    double share = 1;
    for (int32_t d = 0; d < x->n; d++)
        share /= set >> d & 1 ? x->members[d] : 1;
    return 1 - share;
}

/* The base whose loads over speeds are most even: the set that can take least for its speed is filled first,
 * the largest of equals, and so on with what is left. */
static void mix_even_base(struct mix_search *x)
{
    unsigned all = (1u << x->n) - 1, full = 0;
    while (full != all) {
        double least = INFINITY;
        unsigned best = 0;
        for (unsigned set = 1; set <= all; set++) {
            double speed = 0;
            if (set & full)
                continue;
            for (int32_t d = 0; d < x->n; d++)
                speed += set >> d & 1 ? x->speed[d] : 0;
            double ratio = (mix_reach(x, full | set) - mix_reach(x, full)) / speed;
            /* Of ties the union ties too, and comes last. */
            if (ratio <= least * (1 + MIX_REL)) {
                least = ratio;
                best = set;
            }
        }
        for (int32_t d = 0; d < x->n; d++)
            if (best >> d & 1)
                x->sent[d] = least * x->speed[d];
        full |= best;
    }
}

/* All orders, the rotations of each behind each other: the first dimension stays in front while the others
 * are permuted, then all turn. */
static void mix_list_orders(struct mix_search *x)
{
    int32_t n = x->n, perms = n == 4 ? 6 : n == 3 ? 2 : 1;
    static const int32_t rest[6][3] = { { 1, 2, 3 }, { 2, 1, 3 }, { 1, 3, 2 },
                                        { 3, 2, 1 }, { 2, 3, 1 }, { 3, 1, 2 } };
    for (int32_t p = 0; p < perms; p++)
        for (int32_t turn = 0; turn < n; turn++, x->n_orders++)
            for (int32_t i = 0; i < n; i++) {
                int32_t at = (i + turn) % n;
                x->orders[x->n_orders][i] = at == 0 ? 0 : rest[p][at - 1];
            }
}

/* Loads of one order. */
static void mix_vertex(double *sent, const struct mix_search *x, const int32_t *order)
{
    double share = 1;
    for (int32_t i = 0; i < x->n; i++) {
        share /= x->members[order[i]];
        sent[order[i]] = share * (x->members[order[i]] - 1);
    }
}

/* Weights of the orders @p chosen (shape [n]) that make the loads wanted; false: there are none >= 0. */
static bool mix_solve(double *weight, const struct mix_search *x, const int32_t *chosen)
{
    double a[TOPO_LEVELS][TOPO_LEVELS + 1];
    int32_t n = x->n;
    for (int32_t i = 0; i < n; i++) {
        double sent[TOPO_LEVELS];
        mix_vertex(sent, x, x->orders[chosen[i]]);
        for (int32_t d = 0; d < n; d++)
            a[d][i] = sent[d];
    }
    for (int32_t d = 0; d < n; d++)
        a[d][n] = x->sent[d];
    for (int32_t c = 0; c < n; c++) {
        int32_t pivot = c;
        for (int32_t d = c; d < n; d++)
            pivot = fabs(a[d][c]) > fabs(a[pivot][c]) ? d : pivot;
        if (fabs(a[pivot][c]) < MIX_REL)
            return false;
        for (int32_t i = 0; i <= n; i++) {
            double swap = a[pivot][i];
            a[pivot][i] = a[c][i];
            a[c][i] = swap;
        }
        for (int32_t d = 0; d < n; d++) {
            double times = d == c ? 0 : a[d][c] / a[c][c];
            for (int32_t i = c; i <= n && times != 0; i++)
                a[d][i] -= times * a[c][i];
        }
    }
    for (int32_t c = 0; c < n; c++) {
        weight[c] = a[c][n] / a[c][c];
        if (!(weight[c] >= -MIX_REL))
            return false;
    }
    return true;
}

/* The next set of n numbers below @p most in rising order; false: it was the last. */
static bool next_choice(int32_t *chosen, int32_t n, int32_t most)
{
    int32_t i = n - 1;
    while (i >= 0 && chosen[i] == most - n + i)
        i--;
    if (i < 0)
        return false;
    for (chosen[i]++; i + 1 < n; i++)
        chosen[i + 1] = chosen[i] + 1;
    return true;
}

void mixed_orders_find(struct order_mix *mix, int32_t n_levels, const int32_t *members, const double *speed)
{
    struct mix_search x = { .n = 0 };
    int32_t chosen[TOPO_LEVELS];
    double weight[TOPO_LEVELS];
    *mix = (struct order_mix){ .n = 0 };
    for (int32_t d = 0; d < n_levels; d++)
        if (members[d] > 1) {
            x.dim[x.n] = d;
            x.members[x.n] = members[d];
            x.speed[x.n++] = speed[d];
        }
    assert(x.n > 0);
    mix_even_base(&x);
    mix_list_orders(&x);
    bool found = false;
    for (int32_t first = 0; first < x.n_orders && !found; first += x.n) {
        for (int32_t i = 0; i < x.n; i++)
            chosen[i] = first + i;
        found = mix_solve(weight, &x, chosen);
    }
    for (int32_t i = 0; i < x.n && !found; i++)
        chosen[i] = i;
    while (!found) { /* the loads are within the hull of the orders, so some D of them make it */
        found = mix_solve(weight, &x, chosen);
        if (!found && !next_choice(chosen, x.n, x.n_orders))
            break;
    }
    assert(found);
    mix->n_used = x.n;
    for (int32_t d = 0; d < x.n; d++)
        mix->sent[x.dim[d]] = x.sent[d];
    for (int32_t i = 0; i < x.n; i++) {
        if (!(weight[i] > MIX_REL))
            continue;
        for (int32_t k = 0; k < x.n; k++)
            mix->order[mix->n][k] = x.dim[x.orders[chosen[i]][k]];
        mix->weight[mix->n++] = weight[i];
    }
}
