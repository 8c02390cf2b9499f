/* Mixes of orders: what they send follows from their orders, and nothing sends less over the slowest
 * dimension. */
#include "tests/support.h"

#include <string.h>

#include "base/rng.h"
#include "workloads/order_mix.h"

/* Loads of the orders as they are, one after the other. */
static void add_up(double *sent, const struct order_mix *mix, const int32_t *members)
{
    for (int32_t i = 0; i < mix->n; i++) {
        double share = mix->weight[i];
        for (int32_t k = 0; k < mix->n_used; k++) {
            int32_t d = mix->order[i][k];
            share /= members[d];
            sent[d] += share * (members[d] - 1);
        }
    }
}

/* No mix is faster: what the dimensions of a set must send when all others went before, over their speeds. */
static double least_time(const int32_t *members, const double *speed, int32_t n)
{
    double most = 0;
    for (unsigned set = 1; set < 1u << n; set++) {
        double inside = 1, outside = 1, speeds = 0;
        for (int32_t d = 0; d < n; d++) {
            *(set >> d & 1 ? &inside : &outside) /= members[d];
            speeds += set >> d & 1 && members[d] > 1 ? speed[d] : 0;
        }
        most = fmax(most, speeds > 0 ? outside * (1 - inside) / speeds : 0);
    }
    return most;
}

TEST(mixes_are_made_of_their_orders_and_none_is_faster)
{
    RNG(rng, 19, 0);
    for (int i = 0; i < 20000; i++) {
        int32_t n = 1 + (int32_t)rng_below(rng, TOPO_LEVELS), members[TOPO_LEVELS] = { 0 };
        double speed[TOPO_LEVELS], sent[TOPO_LEVELS] = { 0 }, weights = 0, slowest = 0;
        struct order_mix mix;
        for (int32_t d = 0; d < n; d++) {
            members[d] = 1 + (int32_t)rng_below(rng, rng_below(rng, 8) ? 9 : 2000);
            speed[d] = rng_below(rng, 2) ? 1 : rng_log_range(rng, 0.01, 100);
        }
        members[0] += members[0] == 1;
        mixed_orders_find(&mix, n, members, speed, false);
        add_up(sent, &mix, members);
        for (int32_t k = 0; k < mix.n; k++) {
            assert_true(mix.weight[k] > 0);
            weights += mix.weight[k];
        }
        assert_close(weights, 1, 1e-9);
        for (int32_t d = 0; d < n; d++) {
            assert_true(fabs(sent[d] - mix.sent[d]) <= 1e-9);
            slowest = fmax(slowest, members[d] > 1 ? sent[d] / speed[d] : 0);
        }
        assert_close(slowest, least_time(members, speed, n), 1e-9);
    }
}

TEST(dimensions_of_one_speed_share_evenly_whatever_their_sizes)
{
    static const int32_t sizes[][4] = { { 4, 4, 4, 1 }, { 4, 4, 8, 1 }, { 4, 8, 8, 1 },   { 16, 16, 16, 1 },
                                        { 2, 8, 1, 1 }, { 2, 2, 2, 2 }, { 2, 3, 1000, 5 } };
    static const double alike[] = { 1, 1, 1, 1 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        struct order_mix mix;
        double n = 1;
        mixed_orders_find(&mix, 4, sizes[i], alike, false);
        for (int32_t d = 0; d < 4; d++)
            n *= sizes[i][d];
        for (int32_t d = 0; d < 4; d++)
            assert_close(mix.sent[d], sizes[i][d] > 1 ? (1 - 1 / n) / mix.n_used : 0, 1e-12);
    }
}

/* Phase by phase, of a mix, over what its busiest dimension takes: all orders wait for the slowest. */
static double time_in_step(const struct order_mix *mix, const int32_t *members, const double *speed)
{
    double left[MIX_ORDERS], time = 0;
    for (int32_t i = 0; i < mix->n; i++)
        left[i] = mix->weight[i];
    for (int32_t j = 0; j < mix->n_used; j++) {
        double took[TOPO_LEVELS] = { 0 }, most = 0;
        for (int32_t i = 0; i < mix->n; i++) {
            int32_t d = mix->order[i][j];
            left[i] /= members[d];
            took[d] += left[i] * (members[d] - 1) / speed[d];
            most = fmax(most, took[d]);
        }
        time += most;
    }
    return time;
}

TEST(no_other_weights_are_faster_in_step)
{
    RNG(rng, 23, 0);
    for (int i = 0; i < 2000; i++) {
        int32_t n = 2 + (int32_t)rng_below(rng, TOPO_LEVELS - 1), members[TOPO_LEVELS] = { 0 };
        double speed[TOPO_LEVELS], sent[TOPO_LEVELS] = { 0 }, busiest = 0, weights = 0;
        struct order_mix mix, other;
        for (int32_t d = 0; d < n; d++) {
            /* Phases below a millionth of the longest are left out. */
            members[d] = 2 + (int32_t)rng_below(rng, rng_below(rng, 8) ? 8 : 500);
            speed[d] = rng_below(rng, 2) ? 1 : rng_log_range(rng, 0.2, 5);
        }
        mixed_orders_find(&mix, n, members, speed, true);
        add_up(sent, &mix, members);
        for (int32_t d = 0; d < n; d++) {
            assert_true(fabs(sent[d] - mix.sent[d]) <= 1e-9);
            busiest = fmax(busiest, sent[d] / speed[d]);
        }
        double time = time_in_step(&mix, members, speed);
        assert_close(time, mix.idle * busiest, 1e-9);
        assert_true(time >= least_time(members, speed, n) * (1 - 1e-9));
        /* Weights nearby, those of least bytes, and each order alone. */
        mixed_orders_find(&other, n, members, speed, false);
        assert_true(time <= time_in_step(&other, members, speed) * (1 + 1e-5));
        other = mix;
        for (int32_t k = 0; k < other.n; k++)
            weights += other.weight[k] *= rng_log_range(rng, 0.8, 1.25);
        for (int32_t k = 0; k < other.n; k++)
            other.weight[k] /= weights;
        for (int32_t k = 0; k < mix.n; k++) {
            struct order_mix alone = { .n = 1, .weight = { 1 }, .n_used = n };
            memcpy(alone.order[0], mix.order[k], sizeof alone.order[0]);
            assert_true(time <= time_in_step(&alone, members, speed) * (1 + 1e-5));
        }
    }
}

/* Two axes: one number decides, so the least over 10,000 of them is known. */
TEST(of_two_axes_the_best_weight_is_found)
{
    static const double speed[] = { 1, 1 };
    static const int32_t members[][2] = { { 2, 8 }, { 3, 2 }, { 16, 4 } };
    for (size_t i = 0; i < COUNT_OF(members); i++) {
        struct order_mix mix, two = { .n = 2, .order = { { 0, 1 }, { 1, 0 } }, .n_used = 2 };
        double least = INFINITY;
        mixed_orders_find(&mix, 2, members[i], speed, true);
        for (int k = 0; k <= 10000; k++) {
            two.weight[0] = k / 1e4;
            two.weight[1] = 1 - two.weight[0];
            least = fmin(least, time_in_step(&two, members[i], speed));
        }
        double time = time_in_step(&mix, members[i], speed);
        assert_true(time <= least * (1 + 1e-12) && time >= least * (1 - 1e-3));
    }
}

SUITE(NULL, NULL)
