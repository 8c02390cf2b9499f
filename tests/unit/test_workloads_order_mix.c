/* Mixes of orders: what they send follows from their orders, and nothing sends less over the slowest
 * dimension. */
#include "tests/support.h"

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
        mixed_orders_find(&mix, n, members, speed);
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
        mixed_orders_find(&mix, 4, sizes[i], alike);
        for (int32_t d = 0; d < 4; d++)
            n *= sizes[i][d];
        for (int32_t d = 0; d < 4; d++)
            assert_close(mix.sent[d], sizes[i][d] > 1 ? (1 - 1 / n) / mix.n_used : 0, 1e-12);
    }
}

SUITE(NULL, NULL)
