#include "tests/support.h"

#include "base/num.h"
#include "workloads/algorithm.h"

enum { MAX_MEMBERS = 33, MAX_CHANNELS = 4 * MAX_MEMBERS * MAX_MEMBERS };

/* A plan carried out in rounds: whoever may send at the beginning of a round has arrived at its end. */
struct rehearsal {
    const struct message_plan *plan;
    int32_t done[MAX_CHANNELS], rounds;
    uint64_t knows[MAX_MEMBERS];                     /* whose data went into what a member has */
    double sent[MAX_MEMBERS], received[MAX_MEMBERS]; /* shares of S */
};

static bool may_send(const struct rehearsal *r, int32_t c)
{
    const struct message_channel *channel = &r->plan->channels[c];
    if (r->done[c] == channel->n)
        return false;
    for (int32_t i = channel->first_input; i < channel[1].first_input; i++) {
        int32_t input = r->plan->inputs[i], need = r->done[c] + channel->lead;
        if (r->done[input] < need && r->done[input] < r->plan->channels[input].n)
            return false;
    }
    return true;
}

static void rehearse(struct rehearsal *r, const struct message_plan *plan, int32_t n)
{
    static bool sends[MAX_CHANNELS];
    memset(r, 0, sizeof *r);
    r->plan = plan;
    assert_in_range(plan->n_channels, 1, MAX_CHANNELS);
    for (int32_t i = 0; i < n; i++)
        r->knows[i] = UINT64_C(1) << i;
    for (bool any = true; any; r->rounds += any) {
        uint64_t knew[MAX_MEMBERS];
        memcpy(knew, r->knows, sizeof knew);
        any = false;
        for (int32_t c = 0; c < plan->n_channels; c++)
            any |= sends[c] = may_send(r, c);
        for (int32_t c = 0; c < plan->n_channels; c++) {
            const struct message_channel *channel = &plan->channels[c];
            if (!sends[c])
                continue;
            r->done[c]++;
            if (channel->src >= 0)
                r->sent[channel->src] += channel->share;
            if (channel->dst >= 0)
                r->received[channel->dst] += channel->share;
            if (channel->src >= 0 && channel->dst >= 0)
                r->knows[channel->dst] |= knew[channel->src];
        }
    }
    for (int32_t c = 0; c < plan->n_channels; c++)
        assert_int_equal(r->done[c], plan->channels[c].n);
}

/* All members of a dimension that stands alone. */
static struct shape_group all_of(const struct topo_dim *dim)
{
    return (struct shape_group){ .n = dim->size, .members = { dim->size }, .stride = { 1 } };
}

static void build(struct message_plan *plan, enum pass pass, enum topo_algorithm a, enum topo_shape shape,
                  int32_t n, int32_t segments)
{
    const struct stage_choice choice = { .algorithm = a, .segments = segments };
    struct topo_dim dim = {
        .shape = shape, .size = n, .in_switch = TOPO_IN_SWITCH_SHARP, .in_switch_min = 2
    };
    struct shape_group g = all_of(&dim);
    MUST(message_plan_build(plan, pass, &choice, &dim, &g, e));
}

/* A plan that is released where the block ends. */
#define PLAN(v, ...)                                                                                         \
    KEEP(struct message_plan, v, message_plan_free);                                                         \
    build(&v, __VA_ARGS__)

TABLE_OF(ways, enum topo_algorithm algorithm; enum topo_shape shape; bool powers /* of two only */) = {
    { TOPO_ALGORITHM_RING, TOPO_RING, false },    { TOPO_ALGORITHM_RING, TOPO_FULL, false },
    { TOPO_ALGORITHM_RING, TOPO_SWITCH, false },  { TOPO_ALGORITHM_DIRECT, TOPO_FULL, false },
    { TOPO_ALGORITHM_DIRECT, TOPO_RING, false },  { TOPO_ALGORITHM_HALVING, TOPO_SWITCH, true },
    { TOPO_ALGORITHM_BRUCK, TOPO_SWITCH, false }, { TOPO_ALGORITHM_RING, TOPO_LINE, false },
};

static bool has_size(size_t way, int32_t n)
{
    return !ways[way].powers || (n & (n - 1)) == 0;
}

/* In as many steps as algorithm_cost() counts messages, everybody has something of everybody. */
TEST(everybody_hears_from_everybody_in_the_steps_that_are_priced)
{
    static struct rehearsal r;
    for (size_t w = 0; w < COUNT_OF(ways); w++)
        for (int32_t n = 2; n <= MAX_MEMBERS; n++)
            for (int pass = PASS_REDUCE_SCATTER; has_size(w, n) && pass <= PASS_ALL_GATHER; pass++) {
                struct algorithm_cost cost;
                const struct topo_dim dim = { .shape = ways[w].shape, .size = n };
                PLAN(plan, (enum pass)pass, ways[w].algorithm, ways[w].shape, n, 1);
                rehearse(&r, &plan, n);
                assert_true(algorithm_cost(&cost, ways[w].algorithm, (enum pass)pass, &dim, n, 1));
                bool direct = ways[w].algorithm == TOPO_ALGORITHM_DIRECT; /* all messages at once */
                assert_int_equal(r.rounds, direct ? 1 : (int)cost.messages);
                for (int32_t i = 0; i < n; i++)
                    assert_true(r.knows[i] == (UINT64_C(1) << n) - 1);
            }
}

/* Nothing is sent twice: (n-1)/n of S leaves and enters each member; on a line all members together do that.
 */
TEST(volumes_are_the_least_possible)
{
    static struct rehearsal r;
    for (size_t w = 0; w < COUNT_OF(ways); w++)
        for (int32_t n = 2; n <= MAX_MEMBERS; n++)
            for (int pass = PASS_REDUCE_SCATTER; has_size(w, n) && pass <= PASS_ALL_GATHER; pass++) {
                double total = 0;
                PLAN(plan, (enum pass)pass, ways[w].algorithm, ways[w].shape, n, 1);
                rehearse(&r, &plan, n);
                for (int32_t i = 0; i < n; i++) {
                    total += r.sent[i];
                    if (ways[w].shape == TOPO_LINE)
                        continue;
                    assert_close(r.sent[i], (n - 1.0) / n, 1e-12);
                    assert_close(r.received[i], (n - 1.0) / n, 1e-12);
                }
                assert_close(total, n - 1.0, 1e-12);
            }
}

TEST(broadcast_reaches_everybody)
{
    static const enum topo_algorithm how[] = { TOPO_ALGORITHM_RING, TOPO_ALGORITHM_DIRECT,
                                               TOPO_ALGORITHM_BRUCK, TOPO_ALGORITHM_HALVING,
                                               TOPO_ALGORITHM_TREE };
    static struct rehearsal r;
    for (size_t w = 0; w < COUNT_OF(how); w++)
        for (int32_t n = 2; n <= MAX_MEMBERS; n++) {
            struct message_plan plan;
            bool segments = algorithm_has_segments(how[w], PASS_BROADCAST);
            if (how[w] == TOPO_ALGORITHM_HALVING && (n & (n - 1)))
                continue;
            build(&plan, PASS_BROADCAST, how[w], TOPO_SWITCH, n, segments ? 4 : 1);
            rehearse(&r, &plan, n);
            for (int32_t i = 1; i < n; i++) {
                assert_true(r.knows[i] & 1);
                /* In pipelines exactly S; else pieces for others come by before the all-gather. */
                assert_true(segments ? fabs(r.received[i] - 1) < 1e-12 : r.received[i] <= 1.5);
            }
            message_plan_free(&plan);
        }
}

/* Both trees reduce everything and hand it out; with an even number of members nobody is inside both. */
TEST(double_binary_tree_uses_every_member_once)
{
    static struct rehearsal r;
    for (int32_t n = 2; n <= MAX_MEMBERS; n++) {
        PLAN(plan, PASS_ALL_REDUCE, TOPO_ALGORITHM_TREE, TOPO_SWITCH, n, 4);
        assert_int_equal(plan.n_channels, 4 * (n - 1));
        rehearse(&r, &plan, n);
        for (int32_t i = 0; i < n; i++) {
            assert_true(r.knows[i] == (UINT64_C(1) << n) - 1);
            /* Half of S to a parent and to two children in one tree, to a parent only in the other. */
            assert_true(r.sent[i] <= (n % 2 ? 2.5 : 2) + 1e-12);
        }
    }
}

/* Does channel c wait for all of from..to-1 that end where it begins, and for nothing else? */
static bool waits_for_arrivals(const struct message_plan *plan, int32_t c, int32_t from, int32_t to)
{
    const struct message_channel *x = &plan->channels[c];
    int32_t n = 0;
    for (int32_t k = from; k < to; k++) {
        bool waits = false;
        for (int32_t i = x->first_input; i < x[1].first_input; i++)
            waits |= plan->inputs[i] == k;
        if (waits != (plan->channels[k].dst == x->src))
            return false;
        n += waits;
    }
    return n == x[1].first_input - x->first_input;
}

/* Up each tree nobody sends before all children have; down it nobody but the root, which has heard from all,
 * before its parent. */
TEST(in_both_trees_everybody_waits_for_all_that_comes_before)
{
    for (int32_t n = 2; n <= MAX_MEMBERS; n++) {
        PLAN(plan, PASS_ALL_REDUCE, TOPO_ALGORITHM_TREE, TOPO_SWITCH, n, 4);
        for (int32_t up = 0; up < plan.n_channels; up += 2 * (n - 1)) {
            const int32_t down = up + n - 1;
            int32_t root = -1;
            for (int32_t c = up; c < down; c++) {
                bool sends = false;
                for (int32_t k = up; k < down; k++)
                    sends |= plan.channels[k].src == plan.channels[c].dst;
                root = sends ? root : plan.channels[c].dst;
                assert_true(waits_for_arrivals(&plan, c, up, down));
            }
            for (int32_t c = down; c < down + n - 1; c++)
                assert_true(plan.channels[c].src == root ? waits_for_arrivals(&plan, c, up, down)
                                                         : waits_for_arrivals(&plan, c, down, down + n - 1));
        }
    }
}

/* Through members of the mesh that are not of the group goes what the direct link would carry too: a pair's
 * ways add up to its message, and each way is added up as the message is. */
TEST(detours_share_the_message_of_each_pair)
{
    const struct stage_choice choice = { .algorithm = TOPO_ALGORITHM_DIRECT, .segments = 1 };
    const struct topo_dim dim = { .shape = TOPO_FULL, .size = 9 };
    for (int32_t n = 2; n <= 9; n++)
        for (int pass = PASS_REDUCE_SCATTER; pass <= PASS_ALL_GATHER; pass++) {
            struct shape_group g = { .n = n, .members = { n }, .stride = { 1 }, .detour = true };
            KEEP(struct message_plan, plan, message_plan_free);
            double share[9][9] = { { 0 } }, direct = 2 * (n - 1.0) / (2 * (n - 1.0) + 9 - n) / n;
            OK(message_plan_build(&plan, (enum pass)pass, &choice, &dim, &g, e));
            assert_int_equal(plan.n_channels, n * (n - 1) * (1 + 9 - n));
            for (int32_t c = 0; c < plan.n_channels; c++) {
                const struct message_channel *x = &plan.channels[c];
                share[x->src][x->dst] += x->share;
                assert_close(x->share, x->via < 0 ? direct : direct / (2 * (n - 1)), 1e-12);
                assert_true(x->reduced == (pass == PASS_REDUCE_SCATTER ? (n - 1.0) / n : 0));
                assert_int_equal(x->first_input, x[1].first_input);
            }
            for (int32_t i = 0; i < n; i++)
                for (int32_t j = 0; j < n; j++)
                    assert_close(share[i][j], i == j ? 0 : 1.0 / n, 1e-12);
        }
}

TEST(switch_moves_the_volumes_that_are_priced)
{
    TABLE_OF(passes, enum pass pass; double up, down) = {
        { PASS_ALL_REDUCE, 1, 1 },
        { PASS_REDUCE_SCATTER, 7 / 8., 1 / 8. },
        { PASS_ALL_GATHER, 1 / 8., 7 / 8. },
    };
    static struct rehearsal r;
    for (size_t i = 0; i < COUNT_OF(passes); i++) {
        PLAN(plan, passes[i].pass, TOPO_ALGORITHM_SWITCH, TOPO_SWITCH, 8, 1);
        rehearse(&r, &plan, 8);
        for (int m = 0; m < 8; m++)
            assert_true(r.sent[m] == passes[i].up && r.received[m] == passes[i].down);
    }
}

TEST(messages_are_as_many_as_counted)
{
    static const enum topo_shape shapes[] = { TOPO_RING, TOPO_LINE, TOPO_FULL, TOPO_SWITCH };
    for (int pass = 0; pass < N_PASSES; pass++)
        for (int a = TOPO_ALGORITHM_RING; a <= TOPO_ALGORITHM_SWITCH; a++)
            for (int32_t n = 2; n <= MAX_MEMBERS; n++)
                for (size_t s = 0; s < COUNT_OF(shapes); s++) {
                    struct topo_dim dim;
                    struct message_plan plan;
                    const struct stage_choice choice = { .algorithm = (enum topo_algorithm)a, .segments = 3 };
                    bool whole = pass == PASS_ALL_REDUCE || pass == PASS_BROADCAST;
                    if (a == TOPO_ALGORITHM_AUTO || (a == TOPO_ALGORITHM_TREE && !whole) ||
                        (a == TOPO_ALGORITHM_HALVING && !num_is_power_of_two(n)))
                        continue;
                    topo_dim_defaults(&dim, 0);
                    dim.shape = shapes[s];
                    dim.size = n;
                    struct shape_group g = all_of(&dim);
                    OK(message_plan_build(&plan, (enum pass)pass, &choice, &dim, &g, e));
                    double messages = 0;
                    for (int32_t c = 0; c < plan.n_channels; c++)
                        messages += plan.channels[c].n;
                    assert_true(message_plan_count((enum pass)pass, &choice, &dim, &g) == messages);
                    message_plan_free(&plan);
                }
}

/* The two kinds of lists say the same. */
TEST(who_waits_is_known_from_both_sides)
{
    for (size_t w = 0; w < COUNT_OF(ways); w++) {
        int32_t n_links = 0;
        PLAN(plan, PASS_REDUCE_SCATTER, ways[w].algorithm, ways[w].shape, 16, 1);
        for (int32_t c = 0; c < plan.n_channels; c++)
            for (int32_t i = plan.channels[c].first_next; i < plan.channels[c + 1].first_next; i++) {
                const struct message_channel *next = &plan.channels[plan.nexts[i]];
                bool found = false;
                for (int32_t k = next->first_input; k < next[1].first_input; k++)
                    found |= plan.inputs[k] == c;
                assert_true(found);
                n_links++;
            }
        assert_int_equal(n_links, plan.n_inputs);
    }
}

/* Halving meets one partner at each distance 2^s, both ways; Bruck's goes around the ring, one way to reduce
 * and the other to gather. */
TEST(partners_are_powers_of_two_apart)
{
    for (int32_t n = 2; n <= 32; n++)
        for (int pass = PASS_REDUCE_SCATTER; pass <= PASS_ALL_GATHER; pass++) {
            int32_t seen = 0, steps = 0;
            while (1 << steps < n)
                steps++;
            PLAN(plan, (enum pass)pass, TOPO_ALGORITHM_BRUCK, TOPO_SWITCH, n, 1);
            for (int32_t c = 0; c < plan.n_channels; c++) {
                const struct message_channel *x = &plan.channels[c];
                int32_t ahead = pass == PASS_REDUCE_SCATTER ? x->dst - x->src : x->src - x->dst;
                ahead = (ahead + n) % n;
                assert_true(x->src >= 0 && x->dst >= 0 && ahead > 0 && (ahead & (ahead - 1)) == 0);
                seen++;
            }
            assert_int_equal(seen, n * steps);
            if (1 << steps != n)
                continue;
            PLAN(halving, (enum pass)pass, TOPO_ALGORITHM_HALVING, TOPO_SWITCH, n, 1);
            assert_int_equal(halving.n_channels, n * steps);
            for (int32_t c = 0; c < halving.n_channels; c++) {
                int32_t apart = halving.channels[c].src ^ halving.channels[c].dst;
                assert_true(apart > 0 && (apart & (apart - 1)) == 0);
            }
        }
}
