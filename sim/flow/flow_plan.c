/*
 * The messages of one pass of a collective on one dimension, for each algorithm: who sends which share to
 * whom, and which messages it must have received before. A channel is a sequence of `n` equal messages from
 * src to dst; a list of inputs says what each waits for, `lead` how many of their messages it must be ahead
 * by. Shapes enter by how lines wrap (one way, both ways, a sweep along a line). What is sent equals, byte
 * for byte, what workloads/collective charges the dimension; tests lay every pass on links and compare.
 */
#include "sim/flow/flow_plan.h"

#include <assert.h>
#include <stdlib.h>

#include "base/vec.h"
#include "base/num.h"

/* A plan under way. Lack of memory is kept, what follows is dropped, and the end reports it. */
struct draft {
    struct flow_plan *plan;
    const struct topo_dim *dim;
    int32_t n; /* members */
    bool failed;
    struct flow_channel dropped; /* what is added after a failure goes here */
};

/* How a broadcast handed out the pieces that an all-gather then collects. */
enum scatter { SCATTER_NONE, SCATTER_DIRECT, SCATTER_BINOMIAL };

/* Inputs of a channel are those added until the next channel is: first_input of the next one ends the list.
 * When memory is short a dummy is returned, and the failure is reported once, at the end. */
static struct flow_channel *plan_add_channel(struct draft *d, int32_t src, int32_t dst, double share)
{
    struct flow_plan *plan = d->plan;
    d->failed = d->failed || !vec_reserve(plan->channels, plan->cap_channels, plan->n_channels + 1);
    if (d->failed)
        return &d->dropped;
    plan->channels[plan->n_channels] = (struct flow_channel){
        .src = src, .dst = dst, .n = 1, .lead = 1, .first_input = plan->n_inputs, .share = share
    };
    return &plan->channels[plan->n_channels++];
}

/* The channel added last waits for @p channel, which may come later. */
static void wait_for(struct draft *d, int32_t channel)
{
    struct flow_plan *plan = d->plan;
    d->failed = d->failed || !vec_reserve(plan->inputs, plan->cap_inputs, plan->n_inputs + 1);
    if (d->failed)
        return;
    plan->inputs[plan->n_inputs++] = channel;
}

/* ---- rings and lines ---- */

/* How a group of n goes round: of two members every shape has one way. */
static enum shape_lanes lanes_of(const struct topo_dim *dim, int32_t n)
{
    return n > 2 ? topo_ops(dim)->lanes : SHAPE_ONE;
}

/* Around from member to member, @p messages of @p share each; @p step is 1 or -1. */
static void add_ring(struct draft *d, int32_t step, int32_t messages, double share, double reduced)
{
    int32_t base = d->plan->n_channels, n = d->n;
    for (int32_t i = 0; i < n; i++) {
        struct flow_channel *c = plan_add_channel(d, i, (i + step + n) % n, share);
        c->n = messages;
        c->lead = 0;
        c->reduced = reduced;
        wait_for(d, base + (i - step + n) % n);
    }
}

/*
 * One way along a line of n, from its end on; a block per member ahead (reduce-scatter, the farthest first)
 * or behind (all-gather, the nearest first). Member i from that end sends n-1-i or i+1 blocks.
 */
static void add_sweep(struct draft *d, bool leftwards, enum pass pass)
{
    int32_t base = d->plan->n_channels, n = d->n;
    bool reduces = pass == PASS_REDUCE_SCATTER;
    for (int32_t i = 0; i < n - 1; i++) {
        int32_t src = leftwards ? n - 1 - i : i, dst = leftwards ? src - 1 : src + 1;
        struct flow_channel *c = plan_add_channel(d, src, dst, 1.0 / n);
        c->n = reduces ? n - 1 - i : i + 1;
        c->lead = reduces ? 1 : 0;
        c->reduced = reduces ? 1.0 / n : 0;
        if (i > 0)
            wait_for(d, base + i - 1);
    }
}

/* Both directions at once on a ring that has them, each with half of the bytes. A line cannot wrap: its two
 * sweeps carry the shares that would. */
static void ring_pass(struct draft *d, enum pass pass)
{
    int32_t n = d->n;
    int32_t ways = lanes_of(d->dim, n) == SHAPE_BOTH ? 2 : 1;
    double share = 1.0 / n, reduced = pass == PASS_REDUCE_SCATTER ? share : 0;
    if (lanes_of(d->dim, n) == SHAPE_SWEEP) {
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
static void ring_broadcast(struct draft *d, int32_t segments)
{
    int32_t n = d->n, ways = lanes_of(d->dim, n) == SHAPE_BOTH ? 2 : 1;
    for (int32_t way = 0; way < ways; way++)
        for (int32_t i = 0; i < n - 1; i++) {
            int32_t src = way ? (n - i) % n : i, dst = way ? n - 1 - i : i + 1;
            struct flow_channel *c = plan_add_channel(d, src, dst, 1.0 / ways / segments);
            c->n = segments;
            if (i > 0)
                wait_for(d, d->plan->n_channels - 2);
        }
}

/* ---- everybody to everybody ---- */

/* With a scatter before it: member 0 has sent, the others have received their piece. */
static void wait_for_scatter(struct draft *d, enum scatter scatter, int32_t member)
{
    if (scatter == SCATTER_BINOMIAL && member < d->n / 2)
        wait_for(d, d->n / 2 - 1 + member);
    else if (scatter != SCATTER_NONE && member > 0)
        wait_for(d, member - 1);
    else if (scatter == SCATTER_DIRECT)
        for (int32_t c = 0; c < d->n - 1; c++)
            wait_for(d, c);
}

/* Everyone to everyone. On a ring with both directions the member just opposite is reached half by each way.
 */
static void direct_pass(struct draft *d, enum pass pass, enum scatter scatter)
{
    int32_t n = d->n;
    double share = 1.0 / n, reduced = pass == PASS_REDUCE_SCATTER ? (n - 1.0) / n : 0;
    bool both = lanes_of(d->dim, n) == SHAPE_BOTH;
    for (int32_t i = 0; i < n; i++)
        for (int32_t far = 1; far < n; far++) {
            bool split = both && 2 * far == n;
            for (int32_t way = 0; way < (split ? 2 : 1); way++) {
                struct flow_channel *c = plan_add_channel(d, i, (i + far) % n, split ? share / 2 : share);
                c->mirror = way == 1;
                c->reduced = reduced;
                wait_for_scatter(d, scatter, i);
            }
        }
}

/* ---- halving, doubling, Bruck ---- */

/* Whom member i sends to in the exchange over distance 2^s. */
static int32_t partner(const struct draft *d, enum topo_algorithm a, enum pass pass, int32_t i, int32_t s)
{
    int32_t far = 1 << s;
    if (a == TOPO_ALGORITHM_HALVING || a == TOPO_ALGORITHM_FAR)
        return i ^ far;
    return pass == PASS_REDUCE_SCATTER ? (i + far) % d->n : (i - far + d->n) % d->n;
}

static int32_t sender(const struct draft *d, enum topo_algorithm a, enum pass pass, int32_t i, int32_t s)
{
    return partner(d, a, pass == PASS_REDUCE_SCATTER ? PASS_ALL_GATHER : PASS_REDUCE_SCATTER, i, s);
}

/* Share of S that goes over distance 2^s. */
static double exchanged(const struct draft *d, enum topo_algorithm a, int32_t s)
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
 */
static void exchange_pass(struct draft *d, enum topo_algorithm a, enum pass pass, enum scatter scatter)
{
    int32_t steps = num_log2_up(d->n);
    bool near_first = (a == TOPO_ALGORITHM_HALVING) == (pass == PASS_REDUCE_SCATTER);
    /* FAR is halving with the distances the other way about, as Bruck's are. */
    for (int32_t k = 0; k < steps; k++) {
        int32_t s = near_first ? k : steps - 1 - k, before = near_first ? s - 1 : s + 1;
        int32_t base = d->plan->n_channels;
        double share = exchanged(d, a, s);
        for (int32_t i = 0; i < d->n; i++) {
            struct flow_channel *c = plan_add_channel(d, i, partner(d, a, pass, i, s), share);
            c->reduced = pass == PASS_REDUCE_SCATTER ? share : 0;
            if (k == 0) {
                wait_for_scatter(d, scatter, i);
                continue;
            }
            wait_for(d, base - d->n + i);
            wait_for(d, base - d->n + sender(d, a, pass, i, before));
        }
    }
}

/* Member 0 keeps 1/n and hands the rest out, channel i-1 to member i. */
static void scatter_direct(struct draft *d)
{
    for (int32_t i = 1; i < d->n; i++)
        plan_add_channel(d, 0, i, 1.0 / d->n);
}

/* Who has something gives half of it away, at distances 1, 2, ...: channel i-1 arrives at member i. */
static void scatter_halving(struct draft *d)
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

static void wait_for_children(struct draft *d, int32_t base, int32_t x, int32_t m)
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
static void add_tree(struct draft *d, int32_t t, int32_t first, int32_t m, int32_t segments, bool reduces,
                     int32_t source)
{
    int32_t root = tree_root(m), up = d->plan->n_channels, down = up + (reduces ? m - 1 : 0);
    double share = 0.5 / segments;
    for (int32_t x = 1; x <= m && reduces; x++) {
        if (x == root)
            continue;
        struct flow_channel *c = plan_add_channel(d, first + tree_member(t, x, m),
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
static void tree_pass(struct draft *d, enum pass pass, int32_t segments)
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

/* The switch reduces or copies, so each NPU sends and receives once; NVLS owners load and store instead,
 * hence (n + 1)/n. Messages from the switch wait for all that go up (`late`). */
static void switch_pass(struct draft *d, enum pass pass)
{
    int32_t n = d->n;
    double up = 1, down = 1;
    if (pass == PASS_ALL_REDUCE && d->dim->in_switch == TOPO_IN_SWITCH_NVLS)
        up = down = (n + 1.0) / n;
    else if (pass == PASS_REDUCE_SCATTER || pass == PASS_ALL_GATHER) {
        bool reduces = pass == PASS_REDUCE_SCATTER;
        up = reduces ? (n - 1.0) / n : 1.0 / n;
        down = reduces ? 1.0 / n : (n - 1.0) / n;
    }
    for (int32_t i = 0; i < n; i++) {
        if (pass != PASS_BROADCAST || i == 0)
            plan_add_channel(d, i, FLOW_SWITCH, up);
        if (pass != PASS_BROADCAST || i > 0)
            plan_add_channel(d, FLOW_SWITCH, i, down)->late = true;
    }
}

/* Long broadcasts scatter, then gather: halving (binomial scatter), Bruck or direct. Only a ring sends whole
 * segments along. */
static void broadcast_pass(struct draft *d, const struct stage_choice *choice)
{
    if (choice->algorithm == TOPO_ALGORITHM_RING) {
        ring_broadcast(d, choice->segments);
    } else if (choice->algorithm == TOPO_ALGORITHM_HALVING) {
        scatter_halving(d);
        exchange_pass(d, TOPO_ALGORITHM_HALVING, PASS_ALL_GATHER, SCATTER_BINOMIAL);
    } else {
        scatter_direct(d);
        if (choice->algorithm == TOPO_ALGORITHM_BRUCK)
            exchange_pass(d, TOPO_ALGORITHM_BRUCK, PASS_ALL_GATHER, SCATTER_DIRECT);
        else
            direct_pass(d, PASS_ALL_GATHER, SCATTER_DIRECT);
    }
}

/* One entry per algorithm; whoever adds an algorithm adds its messages here and its cost in
 * workloads/algorithm.c. */
static void add_pass(struct draft *d, enum pass pass, const struct stage_choice *choice)
{
    enum topo_algorithm a = choice->algorithm;
    if (pass == PASS_SEND) {
        for (int32_t i = 0; i + 1 < d->n; i++)
            plan_add_channel(d, i, i + 1, 1);
    } else if (a == TOPO_ALGORITHM_SWITCH) {
        switch_pass(d, pass);
    } else if (a == TOPO_ALGORITHM_TREE) {
        tree_pass(d, pass, choice->segments);
    } else if (pass == PASS_BROADCAST) {
        broadcast_pass(d, choice);
    } else if (a == TOPO_ALGORITHM_RING) {
        ring_pass(d, pass);
    } else if (a == TOPO_ALGORITHM_DIRECT) {
        direct_pass(d, pass, SCATTER_NONE);
    } else {
        exchange_pass(d, a, pass, SCATTER_NONE);
    }
}

/* ---- the whole ---- */

/* Lists of who waits for each channel, from the lists of what each waits for: counting sort. */
static void link_back(struct flow_plan *plan)
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

/* Inputs are collected per receiver while channels are added, then turned round: an arrival must find who
 * waits for it. */
int flow_plan_build(struct flow_plan *plan, enum pass pass, const struct stage_choice *choice,
                    const struct topo_dim *dim, int32_t n_members, struct err *e)
{
    struct draft d = { .plan = plan, .dim = dim, .n = n_members };
    *plan = (struct flow_plan){ 0 };
    assert(n_members >= 2);
    add_pass(&d, pass, choice);
    plan_add_channel(&d, 0, 0, 0); /* ends the lists of the others */
    plan->n_channels--;
    plan->nexts = malloc(((size_t)plan->n_inputs + 1) * sizeof *plan->nexts);
    if (d.failed || !plan->nexts) {
        flow_plan_free(plan);
        return err_nomem(e, "a collective's messages");
    }
    link_back(plan);
    return 0;
}

/* How many messages flow_plan_build() would make, in closed form, to refuse runs that are too large. */
double flow_plan_messages(enum pass pass, const struct stage_choice *choice, const struct topo_dim *dim,
                          int32_t n_members)
{
    bool ring = lanes_of(dim, n_members) == SHAPE_BOTH, broadcast = pass == PASS_BROADCAST;
    double n = n_members, ways = ring ? 2 : 1, scattered = broadcast ? n - 1 : 0;
    if (pass == PASS_SEND)
        return n - 1;
    switch (choice->algorithm) {
    case TOPO_ALGORITHM_SWITCH:
        return broadcast ? n : 2 * n;
    case TOPO_ALGORITHM_TREE:
        return (broadcast ? 2 : 4) * (n - 1) * choice->segments;
    case TOPO_ALGORITHM_RING:
        return ways * (n - 1) * (broadcast ? choice->segments : n);
    case TOPO_ALGORITHM_DIRECT:
        return n * (n - 1) + (ring && n_members % 2 == 0 ? n : 0) + scattered;
    default:
        return n * num_log2_up(n_members) + scattered;
    }
}

void flow_plan_free(struct flow_plan *plan)
{
    free(plan->channels);
    free(plan->inputs);
    free(plan->nexts);
    *plan = (struct flow_plan){ 0 };
}
