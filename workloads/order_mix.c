/* See workloads/order_mix.h for what is found and why it exists. */
#include "workloads/order_mix.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Rounding of a weight or a load. */
#define MIX_REL 1e-12

/* The dimensions in use, renumbered. */
struct mix_search {
    int32_t n, dim[TOPO_LEVELS];
    double members[TOPO_LEVELS], speed[TOPO_LEVELS], sent[TOPO_LEVELS];
    int32_t orders[MIX_ORDERS][TOPO_LEVELS], n_orders;
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

static void mix_take(struct order_mix *mix, const struct mix_search *x, int32_t order, double weight)
{
    for (int32_t k = 0; k < x->n; k++)
        mix->order[mix->n][k] = x->dim[x->orders[order][k]];
    mix->weight[mix->n++] = weight;
}

/* Orders and weights that make the most even loads. */
static void mix_even(struct order_mix *mix, struct mix_search *x)
{
    int32_t chosen[TOPO_LEVELS];
    double weight[TOPO_LEVELS];
    bool found = false;
    mix_even_base(x);
    for (int32_t first = 0; first < x->n_orders && !found; first += x->n) {
        for (int32_t i = 0; i < x->n; i++)
            chosen[i] = first + i;
        found = mix_solve(weight, x, chosen);
    }
    for (int32_t i = 0; i < x->n && !found; i++)
        chosen[i] = i;
    while (!found) { /* the loads are within the hull of the orders, so some D of them make it */
        found = mix_solve(weight, x, chosen);
        if (!found && !next_choice(chosen, x->n, x->n_orders))
            break;
    }
    assert(found);
    for (int32_t i = 0; i < x->n; i++)
        if (weight[i] > MIX_REL)
            mix_take(mix, x, chosen[i], weight[i]);
}

/* ---- in step ---- */

/* Rounding of an entry after so many pivots; shorter phases are left out, over the longest of all. */
#define STEP_REL   1e-10
#define STEP_LEAST 1e-6
/* What phases may take beyond that, a different bit each, so that no two corners coincide and steps end. */
#define STEP_EXTRA 1e-9

enum { STEP_PIVOTS = 1000 /* a hundred have been seen */ };

/* Rows: phase j on dimension d at n j + d, then that of all phases; columns: weights, phases, slacks, what is
 * on the right. */
enum { STEP_ROWS = TOPO_LEVELS * TOPO_LEVELS + 1, STEP_COLUMNS = MIX_ORDERS + TOPO_LEVELS + STEP_ROWS + 1 };

struct step_programme {
    double a[STEP_ROWS + 1][STEP_COLUMNS]; /* its last row is the objective */
    int32_t basis[STEP_ROWS], n_rows, n_columns;
};

/* All weights at once, as large as phases of one second in all allow: the more, the less time a whole takes.
 */
static void step_fill(struct step_programme *p, const struct mix_search *x)
{
    int32_t n = x->n, all = n * n, right = x->n_orders + n + all + 1;
    double longest = 0;
    for (int32_t d = 0; d < n; d++)
        longest = fmax(longest, (1 - 1 / x->members[d]) / x->speed[d]);
    *p = (struct step_programme){ .n_rows = all + 1, .n_columns = right + 1 };
    for (int32_t o = 0; o < x->n_orders; o++) {
        double share = 1;
        p->a[all + 1][o] = -1;
        for (int32_t j = 0; j < n; j++) {
            int32_t d = x->orders[o][j];
            share /= x->members[d];
            double took = share * (x->members[d] - 1) / x->speed[d] / longest;
            p->a[n * j + d][o] = took > STEP_LEAST ? took : 0;
        }
    }
    for (int32_t i = 0; i <= all; i++) {
        p->basis[i] = x->n_orders + n + i;
        p->a[i][p->basis[i]] = 1;
        p->a[i][right] = i < all ? STEP_EXTRA * (i + 1) : 1;
        if (i < all)
            p->a[i][x->n_orders + i / n] = -1;
    }
    for (int32_t j = 0; j < n; j++)
        p->a[all][x->n_orders + j] = 1;
}

static void step_pivot(struct step_programme *p, int32_t row, int32_t column)
{
    double by = p->a[row][column];
    for (int32_t k = 0; k < p->n_columns; k++)
        p->a[row][k] /= by;
    for (int32_t i = 0; i <= p->n_rows; i++) {
        double times = i == row ? 0 : p->a[i][column];
        for (int32_t k = 0; k < p->n_columns && times != 0; k++)
            p->a[i][k] -= times * p->a[row][k];
    }
    p->basis[row] = column;
}

/* Simplex from all slacks. Here, since base/simplex takes longer to be built than this to be solved. */
static void step_solve(struct step_programme *p)
{
    int32_t right = p->n_columns - 1;
    for (int32_t n = 0; n < STEP_PIVOTS; n++) {
        int32_t column = 0, row = -1;
        double least = INFINITY;
        for (int32_t k = 0; k < right; k++)
            column = p->a[p->n_rows][k] < p->a[p->n_rows][column] ? k : column;
        for (int32_t i = 0; i < p->n_rows && p->a[p->n_rows][column] < -STEP_REL; i++) {
            double ratio = p->a[i][column] > STEP_REL ? p->a[i][right] / p->a[i][column] : INFINITY;
            row = ratio < least ? i : row;
            least = fmin(least, ratio);
        }
        if (row < 0)
            return;
        step_pivot(p, row, column);
    }
}

/* Time of the mix in step: the sum over phases of what the slowest dimension takes. */
static double step_time(const struct order_mix *mix, const struct mix_search *x)
{
    double took[TOPO_LEVELS][TOPO_LEVELS] = { { 0 } }, sum = 0;
    for (int32_t i = 0; i < mix->n; i++) {
        double share = mix->weight[i];
        for (int32_t j = 0; j < x->n; j++)
            for (int32_t d = 0; d < x->n; d++)
                if (x->dim[d] == mix->order[i][j]) {
                    share /= x->members[d];
                    took[j][d] += share * (x->members[d] - 1) / x->speed[d];
                }
    }
    for (int32_t j = 0; j < x->n; j++) {
        double most = 0;
        for (int32_t d = 0; d < x->n; d++)
            most = fmax(most, took[j][d]);
        sum += most;
    }
    return sum;
}

/* The most even mix, if that keeps all busy in step, or the one that takes least. */
static void mix_in_step(struct order_mix *mix, struct mix_search *x)
{
    struct step_programme p;
    double even_s = 0, sum = 0;
    for (int32_t d = 0; d < x->n; d++)
        even_s = fmax(even_s, x->sent[d] / x->speed[d]);
    if (step_time(mix, x) <= even_s * (1 + 1e-9))
        return;
    step_fill(&p, x);
    step_solve(&p);
    *mix = (struct order_mix){ .n_used = x->n };
    memset(x->sent, 0, sizeof x->sent);
    for (int32_t i = 0; i < p.n_rows; i++)
        sum += p.basis[i] < x->n_orders ? p.a[i][p.n_columns - 1] : 0;
    for (int32_t i = 0; i < p.n_rows; i++) {
        double sent[TOPO_LEVELS], weight = p.a[i][p.n_columns - 1] / sum;
        if (p.basis[i] >= x->n_orders || !(weight > MIX_REL))
            continue;
        mix_take(mix, x, p.basis[i], weight);
        mix_vertex(sent, x, x->orders[p.basis[i]]);
        for (int32_t d = 0; d < x->n; d++)
            x->sent[d] += weight * sent[d];
    }
    even_s = 0;
    for (int32_t d = 0; d < x->n; d++)
        even_s = fmax(even_s, x->sent[d] / x->speed[d]);
    mix->idle = step_time(mix, x) / even_s;
}

void mixed_orders_find(struct order_mix *mix, int32_t n_levels, const int32_t *members, const double *speed,
                       bool in_step)
{
    struct mix_search x = { .n = 0 };
    for (int32_t d = 0; d < n_levels; d++)
        if (members[d] > 1) {
            x.dim[x.n] = d;
            x.members[x.n] = members[d];
            x.speed[x.n++] = speed[d];
        }
    assert(x.n > 0);
    *mix = (struct order_mix){ .n_used = x.n, .idle = 1 };
    mix_list_orders(&x);
    mix_even(mix, &x);
    if (in_step)
        mix_in_step(mix, &x);
    for (int32_t d = 0; d < x.n; d++)
        mix->sent[x.dim[d]] = x.sent[d];
}
