/*
 * Algorithms of collectives in one dimension: what a pass costs, and which messages it sends.
 *
 * Costs: hops and messages in sequence, bytes that the busiest link carries, bytes added up; the shape says
 * what a pattern loads its links with (topo/shape.h).
 *
 * Messages: a channel is a sequence of equal messages from one member to another; a list of inputs says what
 * each waits for, `lead` how many of their messages it must be ahead by. Shapes enter by how a group goes
 * round (one way, both ways, a sweep along a line or along part of a ring). What is sent is, byte for byte,
 * what the cost charges; tests lay every pass on links and compare.
 */
#include "workloads/algorithm.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/vec.h"
#include "workloads/order_mix.h"

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
        a = reduces ? TOPO_ALGORITHM_SWITCH : topo_usual(dim, members);
    if (a == TOPO_ALGORITHM_TREE && pass != PASS_ALL_REDUCE && pass != PASS_BROADCAST)
        a = topo_usual(dim, members);
    if ((a == TOPO_ALGORITHM_HALVING || a == TOPO_ALGORITHM_FAR) && !num_is_power_of_two(members))
        a = topo_usual(dim, members);
    return a;
}

bool algorithm_has_segments(enum topo_algorithm a, enum pass pass)
{
    return a == TOPO_ALGORITHM_TREE || (a == TOPO_ALGORITHM_RING && pass == PASS_BROADCAST);
}

/* Steps that all members take at once; what they load the links with is the shape's to say. */
static void shaped_cost(struct algorithm_cost *c, const struct topo_dim *dim, enum shape_pattern pattern,
                        const struct shape_group *g, double messages)
{
    struct shape_load l;
    topo_load(&l, pattern, dim, g);
    c->valiant = l.valiant;
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
static void tree_cost(struct algorithm_cost *c, enum pass pass, int32_t n, int32_t segments)
{
    double steps = num_log2_up(n) + segments - 1;
    double ways = pass == PASS_ALL_REDUCE ? 2 : 1;
    c->hops = c->messages = ways * steps;
    c->load = ways * steps / segments;
    c->reduced = pass == PASS_ALL_REDUCE ? 1 : 0;
}

/* Of a subtree with @p below of n members, and of a single one, what its switches send up and get back, over
 * S. Of a reduce-scatter the parts for members elsewhere go up, summed over the members below; sums for those
 * below come back, and what they have themselves is added by the last switch, or by the member. An all-gather
 * is its mirror image. */
static void switch_volumes(double *up, double *down, enum pass pass, enum topo_in_switch how, double n,
                           double below)
{
    double own = below / n;
    *up = *down = 1;
    if (pass == PASS_ALL_REDUCE && how == TOPO_IN_SWITCH_NVLS)
        *up = *down = (n + 1) / n;
    if (pass == PASS_REDUCE_SCATTER || pass == PASS_ALL_GATHER) {
        *up = pass == PASS_REDUCE_SCATTER ? 1 - own : own;
        *down = 1 - *up;
    }
}

/* Members below the switches of tier @p k = 0.., of one subtree; of tier 0 a member itself. */
static int32_t members_below(const struct shape_group *g, int32_t k)
{
    int32_t below = 1;
    for (int32_t i = 0; i < k; i++)
        below *= g->members[i];
    return below;
}

/*
 * Aggregation trees (SHARP: R. L. Graham et al., COMHPC, 2016; ISC 2020). Every switch adds up the streams
 * from below, so that a class of links carries one stream for each subtree of a group, in equal parts over
 * the links up. A message passes 2 (k + 1) links to meet the others in tier k + 1, as other algorithms' do.
 */
static void switch_cost(struct algorithm_cost *c, enum pass pass, const struct topo_dim *dim,
                        const struct shape_group *g)
{
    double ways = pass == PASS_ALL_REDUCE ? 2 : 1;
    c->messages = ways;
    for (int32_t k = 0; k < (g->flat ? dim->n_levels : 1); k++) {
        double up, down, below = members_below(g, k);
        if (below >= g->n)
            break;
        switch_volumes(&up, &down, pass, dim->in_switch, g->n, below);
        c->loads[k] = (up > down ? up : down) / below;
        c->hops = ways * (k + 1);
    }
    c->load = c->loads[0];
}

static void algorithm_scale_loads(struct algorithm_cost *c, double times)
{
    c->load *= times;
    for (int32_t k = 0; k < SHAPE_CLASSES; k++)
        c->loads[k] *= times;
}

/* Levels of a flat group with two members or more; the last of them in @p level. */
static int32_t group_levels(const struct topo_dim *dim, const struct shape_group *g, int32_t *level)
{
    int32_t n = 0;
    for (int32_t k = 0; k < dim->n_levels; k++)
        if (g->members[k] > 1) {
            *level = k;
            n++;
        }
    return n;
}

/* The members along level @p k of a flat group. */
static struct shape_group level_group(const struct shape_group *g, int32_t k)
{
    struct shape_group line = *g;
    line.flat = line.detour = false;
    line.routing = TOPO_ROUTING_MINIMAL; /* mixes have all axes in use as it is */
    line.level = k;
    line.n = g->members[k];
    return line;
}

/*
 * Orders for the axes of a flat group: a byte that is sent along an axis costs its links so much there, of
 * what the axis has over the first one. @p cost: of each axis, shape [n_levels].
 */
static void group_mix(struct order_mix *mix, struct algorithm_cost *cost, enum pass pass,
                      const struct topo_dim *dim, const struct shape_group *g)
{
    double speed[TOPO_LEVELS] = { 0 };
    for (int32_t k = 0; k < dim->n_levels; k++) {
        double over_first = 1, time = 0;
        if (g->members[k] < 2)
            continue;
        struct shape_group line = level_group(g, k);
        algorithm_group_cost(&cost[k], topo_usual(&dim[k], line.n), pass, dim, &line, 1);
        for (int32_t cls = 0; cls < dim->n_levels; cls++) {
            over_first *= cls && dim[cls].tie > 0 ? dim[cls].tie : 1;
            time = cost[k].loads[cls] / over_first > time ? cost[k].loads[cls] / over_first : time;
        }
        speed[k] = (line.n - 1.0) / line.n / time;
    }
    mixed_orders_find(mix, dim->n_levels, g->members, speed, !g->endless);
}

/* A group as mixes see it: rows that rings pass as one are one level. */
static struct shape_group mixed_rows(const struct topo_dim *dim, const struct shape_group *g)
{
    struct shape_group rows = *g;
    int32_t n = topo_ops(dim)->row_levels;
    for (int32_t k = 0; k < n; k++) {
        rows.members[k] *= rows.members[k + n];
        rows.members[k + n] = 1;
    }
    return rows;
}

/*
 * Where all members and all links of a member are alike, and all of them take part: members by distance, 0 if
 * it is not so. Then a share of every buffer goes to all by a tree of shortest ways, the same from every
 * member, and trees that differ by the symmetries of the fabric have equal parts of it. In step h each member
 * sends what its neighbours lack from distance h: count[h]/N of the buffer, over all its links alike. All
 * links carry (N-1)/N in all.
 */
static int32_t group_spheres(double *count, const struct topo_dim *dim, const struct shape_group *g)
{
    for (int32_t k = 0; k < dim->n_levels; k++)
        if (g->members[k] != dim[k].size)
            return 0;
    return topo_ops(dim)->spheres ? topo_ops(dim)->spheres(count, dim) : 0;
}

static void mixed_cost(struct algorithm_cost *c, enum pass pass, const struct topo_dim *dim,
                       const struct shape_group *g)
{
    struct algorithm_cost cost[TOPO_LEVELS] = { { 0 } };
    struct order_mix mix;
    double count[SHAPE_SPHERES];
    int32_t steps = group_spheres(count, dim, g);
    if (steps) {
        c->hops = c->messages = steps;
        for (int32_t k = 0; k < dim->n_levels; k++)
            c->loads[k] = (g->n - 1.0) / g->n / dim->n_levels;
        c->load = c->loads[0];
        return;
    }
    struct shape_group rows = mixed_rows(dim, g);
    group_mix(&mix, cost, pass, dim, &rows);
    for (int32_t k = 0; k < dim->n_levels; k++) {
        double n = rows.members[k];
        if (n < 2)
            continue;
        for (int32_t cls = 0; cls < dim->n_levels; cls++)
            c->loads[cls] += mix.sent[k] * cost[k].loads[cls] * n / (n - 1);
        c->hops += cost[k].hops;
        c->messages += cost[k].messages;
    }
    c->idle = mix.idle;
    c->load = c->loads[0];
}

/* Scatter, then all-gather of the pieces; along a ring the data itself, half of it each way round. */
static bool broadcast_cost(struct algorithm_cost *c, enum topo_algorithm a, const struct topo_dim *dim,
                           const struct shape_group *g, int32_t segments)
{
    if (a == TOPO_ALGORITHM_RING) {
        double steps = g->n - 2.0 + segments;
        shaped_cost(c, dim, SHAPE_PASS, g, steps);
        c->hops *= steps / (g->n - 1.0); /* of n-1 steps */
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
    *c = (struct algorithm_cost){ .idle = 1 };
    assert(n >= 2 && segments >= 1);
    if (pass == PASS_SEND) {
        shaped_cost(c, dim, SHAPE_SEND, g, 1);
        return true;
    }
    if (pass == PASS_ALL_TO_ALL && a != TOPO_ALGORITHM_DIRECT)
        return false;
    if (has_all_reduce(a) ? false : pass == PASS_ALL_REDUCE)
        return false;
    /* Along a level of a fabric what suits it, if not one of those that it has. */
    bool suits =
        topo_ops(dim)->algorithms >> a & 1 || (!g->flat && a == topo_usual(&dim[g->flat ? 0 : g->level], n));
    if (topo_is_fabric(dim) && pass != PASS_ALL_TO_ALL && !suits && a != TOPO_ALGORITHM_SWITCH)
        return false;
    if (pass == PASS_BROADCAST && !has_all_reduce(a))
        return broadcast_cost(c, a, dim, g, segments);
    switch (a) {
    case TOPO_ALGORITHM_RING:
        shaped_cost(c, dim, SHAPE_NEXT, g, n - 1);
        break;
    case TOPO_ALGORITHM_DIRECT:
        shaped_cost(c, dim, SHAPE_DIRECT, g, n - 1);
        break;
    case TOPO_ALGORITHM_HALVING:
        if (!num_is_power_of_two(n))
            return false;
        shaped_cost(c, dim, SHAPE_HALVING, g, num_log2_up(n));
        break;
    case TOPO_ALGORITHM_FAR:
        if (!num_is_power_of_two(n) || !g->flat)
            return false;
        shaped_cost(c, dim, SHAPE_FAR, g, num_log2_up(n));
        break;
    case TOPO_ALGORITHM_BRUCK:
        if (!(topo_ops(dim)->algorithms >> a & 1))
            return false;
        /* J. Bruck et al., IEEE TPDS 8(11), 1997 */
        shaped_cost(c, dim, SHAPE_BRUCK, g, num_log2_up(n));
        break;
    case TOPO_ALGORITHM_TREE:
        if (!(topo_ops(dim)->algorithms >> a & 1) || (pass != PASS_ALL_REDUCE && pass != PASS_BROADCAST))
            return false;
        tree_cost(c, pass, n, segments);
        return true;
    case TOPO_ALGORITHM_SWITCH:
        if (dim->in_switch == TOPO_IN_SWITCH_NONE || n < dim->in_switch_min)
            return false;
        switch_cost(c, pass, dim, g);
        return true;
    case TOPO_ALGORITHM_MIXED:
        if (!g->flat || !(topo_ops(dim)->algorithms >> a & 1))
            return false;
        mixed_cost(c, pass, dim, g);
        break;
    case TOPO_ALGORITHM_FIXED: /* one level after the other: never of a pass */
        return false;
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

/* ---- messages ---- */

/* A plan under way. Lack of memory is kept, what follows is dropped, and the end reports it. */
struct message_draft {
    struct message_plan *plan;
    const struct topo_dim *dim; /* whose members they are; of a flat group the first of its fabric */
    const struct shape_group *group;
    int32_t n; /* members */
    enum shape_lanes lanes;
    int32_t n_outside; /* members that messages may pass through */
    bool failed;
    struct message_channel dropped; /* what is added after a failure goes here */
    /* Where channels are not kept: each goes here once the next one is added, from `dropped`. */
    int (*take)(void *x, const struct message_channel *c, struct err *e);
    void *x;
    struct err *e;
    bool has_one;
    int rc;
};

/* How a broadcast handed out the pieces that an all-gather then collects. */
enum scatter { SCATTER_NONE, SCATTER_DIRECT, SCATTER_BINOMIAL };

static void hand_on(struct message_draft *d)
{
    if (d->has_one && !d->rc)
        d->rc = d->take(d->x, &d->dropped, d->e);
    d->has_one = false;
}

/* Inputs of a channel are those added until the next channel is: first_input of the next one ends the list.
 * When memory is short a dummy is returned, and the failure is reported once, at the end. */
static struct message_channel *plan_add_channel(struct message_draft *d, int32_t src, int32_t dst,
                                                double share)
{
    struct message_plan *plan = d->plan;
    const struct message_channel channel = {
        .src = src, .dst = dst, .via = -1, .n = 1, .lead = 1, .first_input = plan->n_inputs, .share = share
    };
    if (d->take) {
        hand_on(d);
        d->has_one = true;
        d->dropped = channel;
        return &d->dropped;
    }
    d->failed = d->failed || !vec_reserve(plan->channels, plan->cap_channels, plan->n_channels + 1);
    if (d->failed)
        return &d->dropped;
    plan->channels[plan->n_channels] = channel;
    return &plan->channels[plan->n_channels++];
}

static struct message_channel *plan_last(struct message_draft *d)
{
    return d->failed || d->take ? &d->dropped : &d->plan->channels[d->plan->n_channels - 1];
}

/* The channel added last waits for @p channel, which may come later. */
static void wait_for(struct message_draft *d, int32_t channel)
{
    struct message_plan *plan = d->plan;
    d->failed = d->failed || !vec_reserve(plan->inputs, plan->cap_inputs, plan->n_inputs + 1);
    if (d->failed)
        return;
    plan->inputs[plan->n_inputs++] = channel;
}

/* ---- rings and lines ---- */

/* How a group goes round: of two members every shape has one way, unless a ring leads on from each to the
 * other; part of a ring that does not go all the way round is a line. */
static enum shape_lanes lanes_of(const struct topo_dim *dim, int32_t n, int32_t stride)
{
    if (n > dim->size) /* a ring through a row of several levels */
        return SHAPE_BOTH;
    enum shape_lanes own =
        topo_ops(dim)->lanes_along ? topo_ops(dim)->lanes_along(dim) : topo_ops(dim)->lanes;
    int64_t round = (int64_t)n * stride;
    if (own == SHAPE_PAIR)
        return own;
    if (own == SHAPE_BOTH && round >= dim->size)
        return round > 2 ? SHAPE_BOTH : SHAPE_ONE;
    return n == 2 ? SHAPE_ONE : own == SHAPE_BOTH ? SHAPE_SWEEP : own;
}

/* Around from member to member, @p messages of @p share each; @p step is 1 or -1. */
static void add_ring(struct message_draft *d, int32_t step, int32_t messages, double share, double reduced)
{
    int32_t base = d->plan->n_channels, n = d->n;
    for (int32_t i = 0; i < n; i++) {
        struct message_channel *c = plan_add_channel(d, i, (i + step + n) % n, share);
        c->n = messages;
        c->lead = 0;
        c->reduced = reduced;
        c->mirror = step < 0 && n == 2;
        wait_for(d, base + (i - step + n) % n);
    }
}

/*
 * One way along a line of n, from its end on; a block per member ahead (reduce-scatter, the farthest first)
 * or behind (all-gather, the nearest first). Member i from that end sends n-1-i or i+1 blocks.
 */
static void add_sweep(struct message_draft *d, bool leftwards, enum pass pass)
{
    int32_t base = d->plan->n_channels, n = d->n;
    bool reduces = pass == PASS_REDUCE_SCATTER;
    for (int32_t i = 0; i < n - 1; i++) {
        int32_t src = leftwards ? n - 1 - i : i, dst = leftwards ? src - 1 : src + 1;
        struct message_channel *c = plan_add_channel(d, src, dst, 1.0 / n);
        c->n = reduces ? n - 1 - i : i + 1;
        c->lead = reduces ? 1 : 0;
        c->reduced = reduces ? 1.0 / n : 0;
        if (i > 0)
            wait_for(d, base + i - 1);
    }
}

/* Both directions at once on a ring that has them, each with half of the bytes. A line cannot wrap: its two
 * sweeps carry the shares that would. */
static void plan_ring_pass(struct message_draft *d, enum pass pass)
{
    int32_t n = d->n;
    int32_t ways = d->lanes == SHAPE_BOTH ? 2 : 1;
    double share = 1.0 / n, reduced = pass == PASS_REDUCE_SCATTER ? share : 0;
    if (d->lanes == SHAPE_SWEEP) {
        add_sweep(d, false, pass);
        add_sweep(d, true, pass);
        return;
    }
    add_ring(d, 1, n - 1, share / ways, reduced);
    if (ways == 2)
        add_ring(d, -1, n - 1, share / ways, reduced);
}

/* Segments follow each other down the ring, so that all links work after n - 1 steps; both ways where there
 * are two. */
static void ring_broadcast(struct message_draft *d, int32_t segments)
{
    int32_t n = d->n, ways = d->lanes == SHAPE_BOTH ? 2 : 1;
    for (int32_t way = 0; way < ways; way++)
        for (int32_t i = 0; i < n - 1; i++) {
            int32_t src = way ? (n - i) % n : i, dst = way ? n - 1 - i : i + 1;
            struct message_channel *c = plan_add_channel(d, src, dst, 1.0 / ways / segments);
            c->n = segments;
            c->mirror = way && n == 2;
            if (i > 0)
                wait_for(d, d->plan->n_channels - 2);
        }
}

/* ---- everybody to everybody ---- */

/* With a scatter before it: member 0 has sent, the others have received their piece. */
static void wait_for_scatter(struct message_draft *d, enum scatter scatter, int32_t member)
{
    if (scatter == SCATTER_BINOMIAL && member < d->n / 2)
        wait_for(d, d->n / 2 - 1 + member);
    else if (scatter != SCATTER_NONE && member > 0)
        wait_for(d, member - 1);
    else if (scatter == SCATTER_DIRECT)
        for (int32_t c = 0; c < d->n - 1; c++)
            wait_for(d, c);
}

/* One of the ways by which member i sends to the one @p far on, which all of them together do as one message.
 */
static void add_direct(struct message_draft *d, int32_t i, int32_t far, double share, double reduced,
                       enum scatter scatter)
{
    struct message_channel *c = plan_add_channel(d, i, (i + far) % d->n, share);
    c->turn = far - 1;
    c->reduced = reduced;
    wait_for_scatter(d, scatter, i);
}

/* Everyone to everyone. On a ring with both directions the member just opposite is reached half by each way;
 * in part of a full mesh with detours all links carry the same (full_load()). */
static void plan_direct_pass(struct message_draft *d, enum pass pass, enum scatter scatter)
{
    int32_t n = d->n, outside = scatter == SCATTER_NONE ? d->n_outside : 0;
    double share = 1.0 / n, reduced = pass == PASS_REDUCE_SCATTER ? (n - 1.0) / n : 0;
    double own = outside ? 2 * (n - 1.0) / (2 * (n - 1.0) + outside) : 1;
    for (int32_t i = 0; i < n; i++)
        for (int32_t far = 1; far < n; far++) {
            bool split = d->lanes == SHAPE_PAIR || (d->lanes == SHAPE_BOTH && 2 * far == n);
            for (int32_t way = 0; way < (split ? 2 : 1); way++) {
                add_direct(d, i, far, own * (split ? share / 2 : share), reduced, scatter);
                plan_last(d)->mirror = way == 1;
            }
            for (int32_t via = 0; via < outside; via++) {
                add_direct(d, i, far, own / (2 * (n - 1.0)) * share, reduced, scatter);
                plan_last(d)->via = via;
            }
        }
}

/* ---- halving, doubling, Bruck ---- */

/* Whom member i sends to in the exchange over distance 2^s. */
static int32_t partner(const struct message_draft *d, enum topo_algorithm a, enum pass pass, int32_t i,
                       int32_t s)
{
    int32_t far = 1 << s;
    if (a == TOPO_ALGORITHM_HALVING || a == TOPO_ALGORITHM_FAR)
        return i ^ far;
    return pass == PASS_REDUCE_SCATTER ? (i + far) % d->n : (i - far + d->n) % d->n;
}

static int32_t sender(const struct message_draft *d, enum topo_algorithm a, enum pass pass, int32_t i,
                      int32_t s)
{
    return partner(d, a, pass == PASS_REDUCE_SCATTER ? PASS_ALL_GATHER : PASS_REDUCE_SCATTER, i, s);
}

/* Share of S that goes over distance 2^s. */
static double exchanged(const struct message_draft *d, enum topo_algorithm a, int32_t s)
{
    int32_t far = 1 << s;
    if (a == TOPO_ALGORITHM_HALVING)
        return 0.5 / far;
    if (a == TOPO_ALGORITHM_FAR)
        return (double)far / d->n;
    return (double)(far < d->n - far ? far : d->n - far) / d->n;
}

/*
 * Halving reduces at distance 1 first, where most is sent; doubling gathers the other way about. Bruck
 * gathers at distance 1 first, where least is sent, and reduces the other way about.
 *
 * A step is a send and a receive, as libraries do it (MPI_Sendrecv): nobody takes in the next message before
 * it has the last one, whoever is ahead. Without that a member with a slow port would share it between two
 * steps, and be later than if all ports were slow.
 */
static void plan_exchange_pass(struct message_draft *d, enum topo_algorithm a, enum pass pass,
                               enum scatter scatter)
{
    int32_t steps = num_log2_up(d->n);
    bool near_first = (a == TOPO_ALGORITHM_HALVING) == (pass == PASS_REDUCE_SCATTER);
    /* FAR is halving with the distances the other way about, as Bruck's are. */
    for (int32_t k = 0; k < steps; k++) {
        int32_t s = near_first ? k : steps - 1 - k, before = near_first ? s - 1 : s + 1;
        int32_t base = d->plan->n_channels;
        double share = exchanged(d, a, s);
        for (int32_t i = 0; i < d->n; i++) {
            struct message_channel *c = plan_add_channel(d, i, partner(d, a, pass, i, s), share);
            c->reduced = pass == PASS_REDUCE_SCATTER ? share : 0;
            if (k == 0) {
                wait_for_scatter(d, scatter, i);
                continue;
            }
            wait_for(d, base - d->n + i);
            wait_for(d, base - d->n + sender(d, a, pass, i, before));
            wait_for(d, base - d->n + sender(d, a, pass, c->dst, before));
        }
    }
}

/* Member 0 keeps 1/n and hands the rest out, channel i-1 to member i: one by one, or in the rounds of the
 * binomial tree that @p rounds has it stand for. */
static void scatter_direct(struct message_draft *d, bool rounds)
{
    for (int32_t i = 1; i < d->n; i++)
        plan_add_channel(d, 0, i, 1.0 / d->n)->turn = rounds ? num_log2_up(i + 1) - 1 : i - 1;
}

/* Who has something gives half of it away, at distances 1, 2, ...: channel i-1 arrives at member i. */
static void scatter_halving(struct message_draft *d)
{
    for (int32_t far = 1; far < d->n; far *= 2)
        for (int32_t i = 0; i < far; i++) {
            plan_add_channel(d, i, i + far, 0.5 / far);
            if (i > 0)
                wait_for(d, i - 1);
            if (i < far / 2)
                wait_for(d, far / 2 - 1 + i);
        }
}

/* ---- double binary tree ---- */

/*
 * The in-order binary tree on 1..m: x with 2^h its largest power of two is a child of whichever of x - 2^h
 * and x + 2^h has 2^(h+1), or of x - 2^h where the other one is beyond m. 0 = x is the root. Odd numbers are
 * leaves.
 */
static int32_t tree_parent(int32_t x, int32_t m)
{
    int32_t bit = x & -x, up = x & (2 * bit) ? x - bit : x + bit;
    return up > m ? x - bit : up;
}

static int32_t tree_root(int32_t m)
{
    int32_t root = 1;
    while (root <= m / 2)
        root *= 2;
    return root;
}

/* The member that is x in tree 0 or 1: who is a leaf in one is inside the other (m even), or nearly so. */
static int32_t tree_member(int32_t tree, int32_t x, int32_t m)
{
    if (tree == 0)
        return x - 1;
    return m % 2 == 0 ? m - x : x % m;
}

/* Channel from x to its parent, or back, among those that begin at base: the root has none. */
static int32_t tree_channel(int32_t base, int32_t x, int32_t m)
{
    return base + x - 1 - (x > tree_root(m));
}

static void wait_for_children(struct message_draft *d, int32_t base, int32_t x, int32_t m)
{
    int32_t half = (x & -x) / 2, right = half;
    if (half == 0)
        return;
    wait_for(d, tree_channel(base, x - half, m));
    while (right > 0 && x + right > m)
        right /= 2;
    if (right > 0)
        wait_for(d, tree_channel(base, x + right, m));
}

/* Up tree @p t of m members from @p first on (reduces), and down; a broadcast comes down only, after @p
 * source. */
static void add_tree(struct message_draft *d, int32_t t, int32_t first, int32_t m, int32_t segments,
                     bool reduces, int32_t source)
{
    int32_t root = tree_root(m), up = d->plan->n_channels, down = up + (reduces ? m - 1 : 0);
    double share = 0.5 / segments;
    for (int32_t x = 1; x <= m && reduces; x++) {
        if (x == root)
            continue;
        struct message_channel *c = plan_add_channel(d, first + tree_member(t, x, m),
                                                     first + tree_member(t, tree_parent(x, m), m), share);
        c->n = segments;
        c->reduced = 2 * share;
        wait_for_children(d, up, x, m);
    }
    for (int32_t x = 1; x <= m; x++) {
        if (x == root)
            continue;
        int32_t parent = tree_parent(x, m);
        plan_add_channel(d, first + tree_member(t, parent, m), first + tree_member(t, x, m), share)->n =
            segments;
        if (parent != root)
            wait_for(d, tree_channel(down, parent, m));
        else if (reduces)
            wait_for_children(d, up, root, m);
        else
            wait_for(d, source);
    }
}

/* A broadcast enters both trees, which the other members form, at their roots. */
static void plan_tree_pass(struct message_draft *d, enum pass pass, int32_t segments)
{
    int32_t m = d->n - 1;
    for (int32_t t = 0; t < 2; t++) {
        if (pass == PASS_ALL_REDUCE) {
            add_tree(d, t, 0, d->n, segments, true, -1);
            continue;
        }
        int32_t source = d->plan->n_channels;
        plan_add_channel(d, 0, 1 + tree_member(t, tree_root(m), m), 0.5 / segments)->n = segments;
        add_tree(d, t, 1, m, segments, false, source);
    }
}

/* ---- the switch, and what is left ---- */

/* The link up from member @p i, or number @p way of those up from the switches of tier @p k above it, and the
 * same link down: what passes it @p down is @p late links on its way. */
static void add_switch_message(struct message_draft *d, int32_t k, int32_t i, int32_t way, double share,
                               bool down, int32_t late)
{
    struct message_channel *c =
        plan_add_channel(d, k || down ? MESSAGE_SWITCH : i, k || !down ? MESSAGE_SWITCH : i, share);
    c->tier = k;
    c->below = k ? i : 0;
    c->way = way;
    c->down = k && down;
    c->late = late;
}

/* Links up from the switches of tier @p k above a member; of tier 0 its own. */
static int32_t switch_ways(const struct topo_dim *dim, int32_t k)
{
    return k ? (int32_t)topo_ops(dim)->up_links(dim, k) : 1;
}

/* Switches reduce or copy what passes, so that each subtree sends and receives once; NVLS owners load and
 * store instead. Streams do not wait for the whole of what comes up, but for its beginning (`late`). */
static void plan_switch_pass(struct message_draft *d, enum pass pass)
{
    const struct shape_group *g = d->group;
    int32_t tiers = 1;
    while (g->flat && tiers < d->dim->n_levels && members_below(g, tiers) < g->n)
        tiers++;
    for (int32_t k = 0; k < tiers; k++) {
        int32_t below = members_below(g, k), ways = switch_ways(d->dim, k);
        double up, down;
        switch_volumes(&up, &down, pass, d->dim->in_switch, g->n, below);
        for (int32_t i = 0; i < g->n; i += below)
            for (int32_t way = 0; way < ways; way++) {
                if (pass != PASS_BROADCAST || i == 0)
                    add_switch_message(d, k, i, way, up / ways, false, k);
                if (pass != PASS_BROADCAST || i > 0)
                    add_switch_message(d, k, i, way, down / ways, true, 2 * tiers - 1 - k);
            }
    }
}

/* Long broadcasts scatter, then gather: halving (binomial scatter), Bruck or direct. Only a ring sends whole
 * segments along. */
static void plan_broadcast_pass(struct message_draft *d, const struct stage_choice *choice)
{
    if (choice->algorithm == TOPO_ALGORITHM_RING) {
        ring_broadcast(d, choice->segments);
    } else if (choice->algorithm == TOPO_ALGORITHM_HALVING) {
        scatter_halving(d);
        plan_exchange_pass(d, TOPO_ALGORITHM_HALVING, PASS_ALL_GATHER, SCATTER_BINOMIAL);
    } else {
        bool bruck = choice->algorithm == TOPO_ALGORITHM_BRUCK;
        scatter_direct(d, bruck);
        if (bruck)
            plan_exchange_pass(d, TOPO_ALGORITHM_BRUCK, PASS_ALL_GATHER, SCATTER_DIRECT);
        else
            plan_direct_pass(d, PASS_ALL_GATHER, SCATTER_DIRECT);
    }
}

/* ---- mixed orders ---- */

/* The messages along one axis at a time: those of each line of members, which begin at channel `base`. */
struct mixed_phase {
    struct message_plan line;
    int32_t base, members;
    int32_t inner, span,
        span_on; /* members `span` apart, in the order of the group; `inner` of them on, span_on */
    bool sweeps; /* there is no way round it */
};

/* Member @p place of the line that begins at @p first. */
static int32_t phase_member(const struct mixed_phase *phase, int32_t first, int32_t place)
{
    return first + place % phase->inner * phase->span + place / phase->inner * phase->span_on;
}

/* The line of @p member: lines are numbered as their first members are. */
static int32_t phase_line(const struct mixed_phase *phase, int32_t member, int32_t *place)
{
    int32_t span = phase->span, k = phase->inner, on = phase->span_on, outer = phase->members / k;
    int32_t i = member / span % k, j = member / on % outer;
    *place = i + j * k;
    int32_t within = member % on, line = within / (span * k) * span + within % span;
    return member / (on * outer) * (on / k) + line;
}

/* The first member of line @p l. */
static int32_t phase_first(const struct mixed_phase *phase, int32_t l)
{
    int32_t span = phase->span, k = phase->inner, on = phase->span_on, outer = phase->members / k;
    int32_t within = l % (on / k);
    return l / (on / k) * on * outer + within / span * span * k + within % span;
}

/* A member's first message of a phase waits for all that the @p n phases before bring it; along a line, whose
 * ends are done early, for all that they bring anybody there. */
static void wait_for_phases(struct message_draft *d, const struct mixed_phase *before, int32_t n,
                            int32_t member)
{
    int32_t n_before = d->plan->n_inputs;
    for (int32_t o = 0; o < n; o++) {
        int32_t place, line = phase_line(&before[o], member, &place);
        for (int32_t c = 0; c < before[o].line.n_channels; c++)
            if (before[o].sweeps || before[o].line.channels[c].dst == place)
                wait_for(d, before[o].base + line * before[o].line.n_channels + c);
    }
    plan_last(d)->n_whole = d->plan->n_inputs - n_before;
}

/* All lines of one phase, with @p share of the buffer; @p before, the last phases of all @p n orders or NULL.
 */
static void add_mixed_phase(struct message_draft *d, const struct mixed_phase *phase,
                            const struct mixed_phase *before, int32_t n, double share)
{
    const struct message_plan *line = &phase->line;
    for (int32_t l = 0; l < d->n / phase->members; l++) {
        int32_t first = phase_first(phase, l), base = phase->base + l * line->n_channels;
        for (int32_t i = 0; i < line->n_channels; i++) {
            const struct message_channel *from = &line->channels[i];
            int32_t src = phase_member(phase, first, from->src), dst = phase_member(phase, first, from->dst);
            struct message_channel *c = plan_add_channel(d, src, dst, share * from->share);
            c->n = from->n;
            c->lead = from->lead;
            c->mirror = from->mirror;
            c->turn = from->turn;
            c->reduced = share * from->reduced;
            if (before)
                wait_for_phases(d, before, n, src);
            for (int32_t w = from->first_input; w < from[1].first_input; w++)
                wait_for(d, base + line->inputs[w]);
        }
    }
}

/* Links as they are listed: their two ends. */
struct wave {
    int32_t (*ends)[2];
    int32_t n_links, cap_links;
    bool failed;
};

static void wave_link(void *x, int64_t a, int64_t b)
{
    struct wave *w = x;
    w->failed = w->failed || !vec_reserve(w->ends, w->cap_links, w->n_links + 1);
    if (w->failed)
        return;
    w->ends[w->n_links][0] = (int32_t)a;
    w->ends[w->n_links++][1] = (int32_t)b;
}

/* Links at each member: place[i] .. place[i + 1] of `at`, both of shape [n_members + 1] and [2 n_links]. */
static void wave_sort(int32_t *place, int32_t *at, const struct wave *w, int32_t n)
{
    for (int32_t l = 0; l < 2 * w->n_links; l++)
        place[w->ends[l / 2][l % 2] + 1]++;
    for (int32_t i = 0; i < n; i++)
        place[i + 1] += place[i];
    for (int32_t l = 2 * w->n_links; l-- > 0;)
        at[--place[w->ends[l / 2][l % 2] + 1]] = l;
    /* Filled backwards, a list ends where it began: one place on. */
    for (int32_t i = 0; i < n; i++)
        place[i] = place[i + 1];
    place[n] = 2 * w->n_links;
}

/* Waves over all links (group_spheres()): an all-gather spreads outwards, a reduce-scatter comes back.
 * Channel 2 l + i of a step leads over link l from its end i; it waits for all that the step before brought
 * there. */
static void plan_wave_pass(struct message_draft *d, enum pass pass, const double *count, int32_t steps)
{
    struct wave w = { NULL, 0, 0, false };
    topo_ops(d->dim)->edges(d->dim, &w, wave_link);
    int32_t *place = calloc((size_t)d->n + 2, sizeof *place);
    int32_t *at = malloc(((size_t)w.n_links * 2 + 1) * sizeof *at);
    d->failed = d->failed || w.failed || !place || !at;
    if (!d->failed)
        wave_sort(place, at, &w, d->n);
    for (int32_t s = 0; s < steps && !d->failed; s++) {
        int32_t h = pass == PASS_ALL_GATHER ? s + 1 : steps - s, before = d->plan->n_channels - 2 * w.n_links;
        double share = count[h] / (2.0 * w.n_links);
        for (int32_t l = 0; l < 2 * w.n_links; l++) {
            int32_t src = w.ends[l / 2][l % 2];
            struct message_channel *c = plan_add_channel(d, src, w.ends[l / 2][1 - l % 2], share);
            c->reduced = pass == PASS_REDUCE_SCATTER ? share : 0;
            for (int32_t i = place[src]; i < place[src + 1] && s > 0; i++)
                wait_for(d, before + (at[i] ^ 1));
        }
    }
    free(place);
    free(at);
    free(w.ends);
}

/* The messages of one order of a mix in one phase: along axis @p level. */
static void plan_mixed_line(struct mixed_phase *phase, struct message_draft *d, enum pass pass,
                            const struct shape_group *rows, int32_t level)
{
    int32_t row_levels = topo_ops(d->dim)->row_levels;
    struct shape_group line = level_group(rows, level);
    struct stage_choice choice = { .algorithm = topo_usual(&d->dim[level], line.n), .segments = 1 };
    struct err none = { 0 };
    message_plan_free(&phase->line);
    *phase =
        (struct mixed_phase){ { 0 }, d->plan->n_channels, line.n, d->group->members[level], 1, 1, false };
    phase->sweeps = lanes_of(&d->dim[level], line.n, shape_stride(&line, level)) == SHAPE_SWEEP;
    for (int32_t k = 0; k < level + (row_levels ? row_levels : 1); k++) {
        phase->span *= k < level ? d->group->members[k] : 1;
        phase->span_on *= d->group->members[k];
    }
    d->failed = message_plan_build(&phase->line, pass, &choice, d->dim, &line, &none) != 0;
}

/* Every order at once, each with its share of the buffer, in step: a member begins a phase when it has all
 * that it gets in the one before. An all-gather passes the axes the other way about. */
static void plan_mixed_pass(struct message_draft *d, enum pass pass)
{
    struct algorithm_cost cost[TOPO_LEVELS];
    struct order_mix mix;
    struct mixed_phase phases[2][MIX_ORDERS] = { { { { 0 }, 0, 0, 0, 0, 0, false } } };
    double count[SHAPE_SPHERES];
    int32_t steps = group_spheres(count, d->dim, d->group);
    if (steps) {
        plan_wave_pass(d, pass, count, steps);
        return;
    }
    struct shape_group rows = mixed_rows(d->dim, d->group);
    group_mix(&mix, cost, pass, d->dim, &rows);
    for (int32_t p = 0; p < mix.n_used; p++)
        for (int32_t o = 0; o < mix.n && !d->failed; o++) {
            int32_t at = pass == PASS_ALL_GATHER ? mix.n_used - 1 - p : p;
            double share = mix.weight[o];
            for (int32_t i = 0; i < at; i++)
                share /= rows.members[mix.order[o][i]];
            plan_mixed_line(&phases[p % 2][o], d, pass, &rows, mix.order[o][at]);
            if (!d->failed)
                add_mixed_phase(d, &phases[p % 2][o], p ? phases[(p + 1) % 2] : NULL, mix.n, share);
        }
    for (int32_t o = 0; o < 2 * mix.n; o++)
        message_plan_free(&phases[o % 2][o / 2].line);
}

/* A message that goes alone is sent in halves where there are two ways; in a twisted torus by the straightest
 * of ways that are as short. */
static void plan_send_pass(struct message_draft *d, const struct topo_dim *entry)
{
    int32_t ways = shape_has_two_ways(entry, d->group) ? 2 : 1;
    for (int32_t i = 0; i < ways * (d->n - 1); i++) {
        struct message_channel *c = plan_add_channel(d, i / ways, i / ways + 1, 1.0 / ways);
        c->mirror = i % ways;
        c->straight = d->group->flat && entry->fabric.twist;
    }
}

/* Of a reduction, gather or exchange. */
static void plan_collective_pass(struct message_draft *d, enum pass pass, enum topo_algorithm a)
{
    switch (a) {
    case TOPO_ALGORITHM_RING:
        plan_ring_pass(d, pass);
        return;
    case TOPO_ALGORITHM_DIRECT:
        plan_direct_pass(d, pass, SCATTER_NONE);
        return;
    case TOPO_ALGORITHM_MIXED:
        plan_mixed_pass(d, pass);
        return;
    case TOPO_ALGORITHM_HALVING:
    case TOPO_ALGORITHM_BRUCK:
    case TOPO_ALGORITHM_FAR:
        plan_exchange_pass(d, a, pass, SCATTER_NONE);
        return;
    case TOPO_ALGORITHM_TREE:
    case TOPO_ALGORITHM_SWITCH:
    case TOPO_ALGORITHM_FIXED:
    case TOPO_ALGORITHM_SHAPE:
    case TOPO_ALGORITHM_AUTO:
    case N_TOPO_ALGORITHMS:
        assert(a == TOPO_ALGORITHM_RING);
    }
}

static void plan_pass(struct message_draft *d, enum pass pass, const struct stage_choice *choice,
                      const struct topo_dim *entry)
{
    if (pass == PASS_SEND)
        plan_send_pass(d, entry);
    else if (choice->algorithm == TOPO_ALGORITHM_SWITCH)
        plan_switch_pass(d, pass);
    else if (choice->algorithm == TOPO_ALGORITHM_TREE)
        plan_tree_pass(d, pass, choice->segments);
    else if (pass == PASS_BROADCAST)
        plan_broadcast_pass(d, choice);
    else
        plan_collective_pass(d, pass, choice->algorithm);
}

/* ---- the whole ---- */

/* Lists of who waits for each channel, from the lists of what each waits for: counting sort. */
static void link_back(struct message_plan *plan)
{
    int32_t n = plan->n_channels;
    for (int32_t i = 0; i < plan->n_inputs; i++)
        plan->channels[plan->inputs[i] + 1].first_next++;
    for (int32_t c = 0; c < n; c++)
        plan->channels[c + 1].first_next += plan->channels[c].first_next;
    /* Begin at the end of each list: filled backwards, it ends at its beginning. */
    for (int32_t c = 0; c < n; c++)
        plan->channels[c].first_next = plan->channels[c + 1].first_next;
    for (int32_t c = n; c-- > 0;)
        for (int32_t i = plan->channels[c].first_input; i < plan->channels[c + 1].first_input; i++)
            plan->nexts[--plan->channels[plan->inputs[i]].first_next] = c;
}

static struct message_draft plan_draft(struct message_plan *plan, const struct topo_dim *entry,
                                       const struct shape_group *g)
{
    struct message_draft d = { .plan = plan, .dim = entry, .group = g, .n = g->n, .lanes = SHAPE_ONE };
    int32_t level = g->level;
    *plan = (struct message_plan){ 0 };
    assert(g->n >= 2);
    /* Over several levels there is no way round. */
    if (!g->flat || group_levels(entry, g, &level) == 1) {
        const struct topo_dim *dim = &entry[level];
        d.lanes = lanes_of(dim, g->n, shape_stride(g, level));
        d.n_outside = g->detour && !g->flat ? dim->size - g->n : 0;
        d.dim = g->flat ? entry : dim;
    }
    return d;
}

bool message_plan_is_free(enum pass pass, const struct stage_choice *choice)
{
    bool direct = choice->algorithm == TOPO_ALGORITHM_DIRECT && pass != PASS_BROADCAST;
    return pass == PASS_SEND || direct;
}

int message_plan_each(enum pass pass, const struct stage_choice *choice, const struct topo_dim *entry,
                      const struct shape_group *g,
                      int (*take)(void *x, const struct message_channel *c, struct err *e), void *x,
                      struct err *e)
{
    struct message_plan none;
    struct message_draft d = plan_draft(&none, entry, g);
    assert(message_plan_is_free(pass, choice));
    d.take = take;
    d.x = x;
    d.e = e;
    plan_pass(&d, pass, choice, entry);
    hand_on(&d);
    return d.rc;
}

/* Inputs are collected per receiver while channels are added, then turned round: an arrival must find who
 * waits for it. */
int message_plan_build(struct message_plan *plan, enum pass pass, const struct stage_choice *choice,
                       const struct topo_dim *entry, const struct shape_group *g, struct err *e)
{
    struct message_draft d = plan_draft(plan, entry, g);
    plan_pass(&d, pass, choice, entry);
    plan_add_channel(&d, 0, 0, 0); /* ends the lists of the others */
    plan->n_channels--;
    plan->nexts = malloc(((size_t)plan->n_inputs + 1) * sizeof *plan->nexts);
    if (d.failed || !plan->nexts) {
        message_plan_free(plan);
        return err_nomem(e, "a collective's messages");
    }
    link_back(plan);
    return 0;
}

static double mixed_plan_count(enum pass pass, const struct topo_dim *entry, const struct shape_group *g)
{
    struct algorithm_cost cost[TOPO_LEVELS];
    struct order_mix mix;
    double messages = 0, count[SHAPE_SPHERES];
    int32_t steps = group_spheres(count, entry, g);
    if (steps)
        return 2.0 * steps * (double)topo_dim_links(entry);
    struct shape_group rows = mixed_rows(entry, g);
    group_mix(&mix, cost, pass, entry, &rows);
    for (int32_t k = 0; k < entry->n_levels; k++) {
        struct shape_group line = level_group(&rows, k);
        struct stage_choice choice = { .algorithm = topo_usual(&entry[k], line.n), .segments = 1 };
        int64_t lines = g->n / line.n;
        if (line.n > 1)
            messages += mix.n * (double)lines * message_plan_count(pass, &choice, entry, &line);
    }
    return messages;
}

static double switch_plan_count(enum pass pass, const struct topo_dim *entry, const struct shape_group *g)
{
    double messages = 0;
    for (int32_t k = 0; k < (g->flat ? entry->n_levels : 1) && members_below(g, k) < g->n; k++)
        messages +=
            (pass == PASS_BROADCAST ? 1 : 2) * ((double)g->n / members_below(g, k)) * switch_ways(entry, k);
    return messages;
}

double message_plan_count(enum pass pass, const struct stage_choice *choice, const struct topo_dim *entry,
                          const struct shape_group *g)
{
    int32_t level = g->level, n_members = g->n;
    bool one = !g->flat || group_levels(entry, g, &level) == 1;
    const struct topo_dim *dim = &entry[level];
    int32_t stride = shape_stride(g, level);
    if (choice->algorithm == TOPO_ALGORITHM_MIXED)
        return mixed_plan_count(pass, entry, g);
    enum shape_lanes lanes = one ? lanes_of(dim, n_members, stride) : SHAPE_ONE;
    bool ring = lanes == SHAPE_BOTH, broadcast = pass == PASS_BROADCAST;
    double n = n_members, ways = ring ? 2 : 1, scattered = broadcast ? n - 1 : 0;
    double outside = !g->flat && g->detour && !broadcast ? dim->size - n : 0;
    if (pass == PASS_SEND)
        return (n - 1) * (shape_has_two_ways(entry, g) ? 2 : 1);
    switch (choice->algorithm) {
    case TOPO_ALGORITHM_SWITCH:
        return switch_plan_count(pass, entry, g);
    case TOPO_ALGORITHM_TREE:
        return (broadcast ? 2 : 4) * (n - 1) * choice->segments;
    case TOPO_ALGORITHM_RING:
        return ways * (n - 1) * (broadcast ? choice->segments : n);
    case TOPO_ALGORITHM_DIRECT:
        return n * (n - 1) * (lanes == SHAPE_PAIR ? 2 : 1 + outside) + (ring && n_members % 2 == 0 ? n : 0) +
               scattered;
    default:
        return n * num_log2_up(n_members) + scattered;
    }
}

void message_plan_free(struct message_plan *plan)
{
    free(plan->channels);
    free(plan->inputs);
    free(plan->nexts);
    *plan = (struct message_plan){ 0 };
}
