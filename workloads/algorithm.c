#include "workloads/algorithm.h"

#include <assert.h>

#include "base/num.h"

const char *const pass_names[N_PASSES + 1] = {
    [PASS_REDUCE_SCATTER] = "reduce-scatter", [PASS_ALL_GATHER] = "all-gather",
    [PASS_ALL_REDUCE] = "all-reduce",         [PASS_ALL_TO_ALL] = "all-to-all",
    [PASS_BROADCAST] = "broadcast",           [PASS_SEND] = "send",
};

static bool has_all_reduce(enum topo_algorithm a)
{
    return a == TOPO_ALGORITHM_TREE || a == TOPO_ALGORITHM_SWITCH;
}

static enum topo_algorithm by_shape(const struct topo_dim *dim, int32_t members)
{
    switch (dim->shape) {
    case TOPO_RING:
    case TOPO_LINE:
        return TOPO_ALGORITHM_RING;
    case TOPO_FULL:
        return TOPO_ALGORITHM_DIRECT;
    case TOPO_SWITCH:
        break;
    }
    return num_is_power_of_two(members) ? TOPO_ALGORITHM_HALVING : TOPO_ALGORITHM_BRUCK;
}

enum topo_algorithm algorithm_resolve(const struct topo_dim *dim, enum topo_algorithm a, enum pass pass,
                                      int32_t members)
{
    bool reduces = dim->in_switch != TOPO_IN_SWITCH_NONE && members >= dim->in_switch_min;
    /* Every member has something for every other: there is nothing to pass on or to reduce on the way. */
    if (pass == PASS_ALL_TO_ALL || pass == PASS_SEND)
        return TOPO_ALGORITHM_DIRECT;
    if (a == TOPO_ALGORITHM_SHAPE || (a == TOPO_ALGORITHM_SWITCH && !reduces))
        a = reduces ? TOPO_ALGORITHM_SWITCH : by_shape(dim, members);
    if (a == TOPO_ALGORITHM_TREE && pass != PASS_ALL_REDUCE && pass != PASS_BROADCAST)
        a = by_shape(dim, members);
    if (a == TOPO_ALGORITHM_HALVING && !num_is_power_of_two(members))
        a = by_shape(dim, members);
    return a;
}

bool algorithm_has_segments(enum topo_algorithm a, enum pass pass)
{
    return a == TOPO_ALGORITHM_TREE || (a == TOPO_ALGORITHM_RING && pass == PASS_BROADCAST);
}

/*
 * Everybody to everybody by the shortest way, S/n each. Ring: n^2/8 (even n) or (n^2-1)/8 of these pass each
 * link and direction, of B/2. Line: floor(n/2) ceil(n/2) pass the middle link of B/2; collective_share() has
 * the half.
 */
static double direct_load(enum topo_shape shape, double n)
{
    double whole = (int64_t)n % 2 ? n * n - 1 : n * n;
    if (n == 2 || shape == TOPO_FULL || shape == TOPO_SWITCH)
        return (n - 1) / n;
    return whole / (4 * n);
}

static double direct_hops(enum topo_shape shape, int32_t n)
{
    int32_t far = shape == TOPO_RING ? n / 2 : shape == TOPO_LINE ? n - 1 : 1;
    return far;
}

static void direct_pass(struct algorithm_cost *c, enum topo_shape shape, int32_t n)
{
    c->hops = direct_hops(shape, n);
    c->messages = n - 1;
    c->load = direct_load(shape, n);
}

/* To the neighbour n-1 times. A single ring uses one of the n-1 links that each member of a full mesh has. */
static void ring_pass(struct algorithm_cost *c, enum topo_shape shape, int32_t n)
{
    double share = (n - 1.0) / n;
    c->hops = n - 1;
    c->messages = n - 1;
    c->load = shape == TOPO_FULL ? share * (n - 1) : share;
}

/*
 * Step i = 1..log2 n exchanges S/2^i at distance 2^(i-1). On a ring or line the 2^(i-1) messages that overlap
 * on a link make up S/2 each time: S/2 over B/2. In a full mesh one link of n-1 is busy at a time.
 */
static void halving_pass(struct algorithm_cost *c, enum topo_shape shape, int32_t n)
{
    double share = (n - 1.0) / n, steps = num_log2_up(n);
    c->messages = steps;
    c->hops = steps;
    c->load = share;
    if (shape == TOPO_FULL)
        c->load = share * (n - 1);
    if (shape != TOPO_RING && shape != TOPO_LINE)
        return;
    c->hops = 0;
    for (int32_t far = 1; far < n; far *= 2)
        c->hops += shape == TOPO_RING && far > n - far ? n - far : far;
    c->load = n == 2 ? share : shape == TOPO_RING ? steps : steps / 2;
}

/* J. Bruck et al., IEEE TPDS 8(11), 1997: ceil(log2 n) steps, n-1 blocks of S/n in all. */
static void bruck_pass(struct algorithm_cost *c, enum topo_shape shape, int32_t n)
{
    double share = (n - 1.0) / n;
    c->hops = c->messages = num_log2_up(n);
    c->load = shape == TOPO_FULL ? share * (n - 1) : share;
}

/*
 * Two trees with half of the data each; who is inside one is a leaf of the other (P. Sanders, J. Speck, J. L.
 * Träff, Parallel Computing 35(12), 2009). Up and down, each NPU sends S and S; a pipeline as deep as the
 * tree.
 */
static void tree_pass(struct algorithm_cost *c, enum pass pass, int32_t n, int32_t segments)
{
    double steps = num_log2_up(n) + segments - 1;
    double ways = pass == PASS_ALL_REDUCE ? 2 : 1;
    c->hops = c->messages = ways * steps;
    c->load = ways * steps / segments;
    c->reduced = pass == PASS_ALL_REDUCE ? 1 : 0;
}

static void switch_pass(struct algorithm_cost *c, enum pass pass, const struct topo_dim *dim, int32_t n)
{
    double share = (n - 1.0) / n;
    c->hops = c->messages = pass == PASS_ALL_REDUCE ? 2 : 1;
    c->load = share;
    if (pass == PASS_ALL_REDUCE)
        c->load = dim->in_switch == TOPO_IN_SWITCH_NVLS ? (n + 1.0) / n : 1;
    if (pass == PASS_BROADCAST)
        c->load = 1;
}

/* Scatter, then all-gather of the pieces; along a ring the data itself, half of it each way round. */
static bool broadcast_pass(struct algorithm_cost *c, enum topo_algorithm a, const struct topo_dim *dim,
                           int32_t n, int32_t segments)
{
    if (a == TOPO_ALGORITHM_RING) {
        c->hops = c->messages = n - 2.0 + segments;
        c->load = c->hops / segments * (dim->shape == TOPO_FULL ? n - 1 : 1);
        return true;
    }
    if (!algorithm_cost(c, a, PASS_ALL_GATHER, dim, n, 1))
        return false;
    c->hops *= 2;
    c->messages *= 2;
    c->load *= 2;
    return true;
}

bool algorithm_cost(struct algorithm_cost *c, enum topo_algorithm a, enum pass pass,
                    const struct topo_dim *dim, int32_t members, int32_t segments)
{
    int32_t n = members;
    *c = (struct algorithm_cost){ 0 };
    assert(n >= 2 && segments >= 1);
    if (pass == PASS_SEND) {
        /* One link of the dimension; a line's bandwidth is halved by its share, as a ring's link is here. */
        c->hops = c->messages = 1;
        c->load = dim->shape == TOPO_FULL ? dim->size - 1 : dim->shape == TOPO_RING && dim->size > 2 ? 2 : 1;
        return true;
    }
    if (pass == PASS_ALL_TO_ALL && a != TOPO_ALGORITHM_DIRECT)
        return false;
    if (has_all_reduce(a) ? false : pass == PASS_ALL_REDUCE)
        return false;
    if (pass == PASS_BROADCAST && !has_all_reduce(a))
        return broadcast_pass(c, a, dim, n, segments);
    switch (a) {
    case TOPO_ALGORITHM_RING:
        ring_pass(c, dim->shape, n);
        break;
    case TOPO_ALGORITHM_DIRECT:
        direct_pass(c, dim->shape, n);
        break;
    case TOPO_ALGORITHM_HALVING:
        if (!num_is_power_of_two(n))
            return false;
        halving_pass(c, dim->shape, n);
        break;
    case TOPO_ALGORITHM_BRUCK:
        if (dim->shape != TOPO_SWITCH && dim->shape != TOPO_FULL)
            return false;
        bruck_pass(c, dim->shape, n);
        break;
    case TOPO_ALGORITHM_TREE:
        if (dim->shape != TOPO_SWITCH || (pass != PASS_ALL_REDUCE && pass != PASS_BROADCAST))
            return false;
        tree_pass(c, pass, n, segments);
        return true;
    case TOPO_ALGORITHM_SWITCH:
        if (dim->in_switch == TOPO_IN_SWITCH_NONE || n < dim->in_switch_min)
            return false;
        switch_pass(c, pass, dim, n);
        return true;
    case TOPO_ALGORITHM_SHAPE:
    case TOPO_ALGORITHM_AUTO:
    case N_TOPO_ALGORITHMS:
        assert(a == TOPO_ALGORITHM_RING);
        return false;
    }
    if (pass == PASS_REDUCE_SCATTER)
        c->reduced = (n - 1.0) / n;
    return true;
}
