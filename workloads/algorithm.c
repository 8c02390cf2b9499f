#include "workloads/algorithm.h"

#include <assert.h>
#include <string.h>

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

enum topo_algorithm algorithm_resolve(const struct topo_dim *dim, enum topo_algorithm a, enum pass pass,
                                      int32_t members)
{
    bool reduces = dim->in_switch != TOPO_IN_SWITCH_NONE && members >= dim->in_switch_min;
    /* Every member has something for every other: there is nothing to pass on or to reduce on the way. */
    if (pass == PASS_ALL_TO_ALL || pass == PASS_SEND)
        return TOPO_ALGORITHM_DIRECT;
    if (a == TOPO_ALGORITHM_SHAPE || (a == TOPO_ALGORITHM_SWITCH && !reduces))
        a = reduces ? TOPO_ALGORITHM_SWITCH : topo_ops(dim)->usual(members);
    if (a == TOPO_ALGORITHM_TREE && pass != PASS_ALL_REDUCE && pass != PASS_BROADCAST)
        a = topo_ops(dim)->usual(members);
    if ((a == TOPO_ALGORITHM_HALVING || a == TOPO_ALGORITHM_FAR) && !num_is_power_of_two(members))
        a = topo_ops(dim)->usual(members);
    return a;
}

bool algorithm_has_segments(enum topo_algorithm a, enum pass pass)
{
    return a == TOPO_ALGORITHM_TREE || (a == TOPO_ALGORITHM_RING && pass == PASS_BROADCAST);
}

/* Steps that all members take at once; what they load the links with is the shape's to say. */
static void shaped_pass(struct algorithm_cost *c, const struct topo_dim *dim, enum shape_pattern pattern,
                        const struct shape_group *g, double messages)
{
    struct shape_load l;
    topo_ops(dim)->load(&l, pattern, dim, g);
    c->hops = l.hops;
    c->messages = messages;
    c->load = l.load[g->flat ? 0 : g->level];
    memcpy(c->loads, l.load, sizeof c->loads);
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

static void algorithm_scale_loads(struct algorithm_cost *c, double times)
{
    c->load *= times;
    for (int32_t k = 0; k < SHAPE_CLASSES; k++)
        c->loads[k] *= times;
}

/* Scatter, then all-gather of the pieces; along a ring the data itself, half of it each way round. */
static bool broadcast_pass(struct algorithm_cost *c, enum topo_algorithm a, const struct topo_dim *dim,
                           const struct shape_group *g, int32_t segments)
{
    if (a == TOPO_ALGORITHM_RING) {
        double steps = g->n - 2.0 + segments;
        shaped_pass(c, dim, SHAPE_PASS, g, steps);
        c->hops = steps;
        algorithm_scale_loads(c, steps / segments);
        return true;
    }
    if (!algorithm_group_cost(c, a, PASS_ALL_GATHER, dim, g, 1))
        return false;
    c->hops *= 2;
    c->messages *= 2;
    algorithm_scale_loads(c, 2);
    return true;
}

bool algorithm_cost(struct algorithm_cost *c, enum topo_algorithm a, enum pass pass,
                    const struct topo_dim *dim, int32_t members, int32_t segments)
{
    return algorithm_group_cost(c, a, pass, dim,
                                &(struct shape_group){ .n = members, .members = { members } }, segments);
}

bool algorithm_group_cost(struct algorithm_cost *c, enum topo_algorithm a, enum pass pass,
                          const struct topo_dim *dim, const struct shape_group *g, int32_t segments)
{
    int32_t n = g->n;
    *c = (struct algorithm_cost){ 0 };
    assert(n >= 2 && segments >= 1);
    if (pass == PASS_SEND) {
        /* One link of the dimension, whatever part of it the group is. */
        struct shape_group whole = *g;
        whole.n = topo_is_fabric(dim) ? g->n : dim->size;
        shaped_pass(c, dim, SHAPE_SEND, &whole, 1);
        return true;
    }
    if (pass == PASS_ALL_TO_ALL && a != TOPO_ALGORITHM_DIRECT)
        return false;
    if (has_all_reduce(a) ? false : pass == PASS_ALL_REDUCE)
        return false;
    if (pass == PASS_BROADCAST && !has_all_reduce(a))
        return broadcast_pass(c, a, dim, g, segments);
    switch (a) {
    case TOPO_ALGORITHM_RING:
        shaped_pass(c, dim, SHAPE_NEXT, g, n - 1);
        break;
    case TOPO_ALGORITHM_DIRECT:
        shaped_pass(c, dim, SHAPE_DIRECT, g, n - 1);
        break;
    case TOPO_ALGORITHM_HALVING:
        if (!num_is_power_of_two(n))
            return false;
        shaped_pass(c, dim, SHAPE_HALVING, g, num_log2_up(n));
        break;
    case TOPO_ALGORITHM_FAR:
        if (!num_is_power_of_two(n) || !g->flat)
            return false;
        shaped_pass(c, dim, SHAPE_FAR, g, num_log2_up(n));
        break;
    case TOPO_ALGORITHM_BRUCK:
        if (!(topo_ops(dim)->algorithms >> a & 1))
            return false;
        /* J. Bruck et al., IEEE TPDS 8(11), 1997 */
        shaped_pass(c, dim, SHAPE_BRUCK, g, num_log2_up(n));
        break;
    case TOPO_ALGORITHM_TREE:
        if (!(topo_ops(dim)->algorithms >> a & 1) || (pass != PASS_ALL_REDUCE && pass != PASS_BROADCAST))
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
