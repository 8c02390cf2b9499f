/* Graphs of neighbours: who hears from whom, and what averages on them come to. */
#include "sim/gossip/method.h"
#include "tests/support.h"

enum { MOST_WORKERS = 33 };

/* Each worker sends to those that hear from it, none twice and not to itself: with equal weights rows and
 * columns then sum to 1. */
TEST(who_sends_is_who_is_heard)
{
    for (int32_t n = 1; n <= MOST_WORKERS; n++)
        for (int graph = 0; graph < N_GOSSIP_GRAPHS; graph++)
            for (int32_t round = 0; round < 8; round++)
                for (int32_t w = 0; w < n; w++) {
                    struct gossip_neighbours own = gossip_neighbours((enum gossip_graph)graph, n, w, round);
                    assert_int_equal(own.n, n == 1 ? 0 : graph == GOSSIP_RING && n > 2 ? 2 : 1);
                    for (int32_t k = 0; k < own.n; k++) {
                        struct gossip_neighbours other =
                            gossip_neighbours((enum gossip_graph)graph, n, own.to[k], round);
                        int32_t place = gossip_neighbour_place(&other, w);
                        assert_int_not_equal(own.to[k], w);
                        assert_int_equal(other.from[place], w);
                        assert_true(k == 0 || own.to[k] != own.to[0]);
                    }
                }
}

TEST(neighbours_on_a_ring_are_one_away)
{
    for (int32_t n = 3; n <= MOST_WORKERS; n++)
        for (int32_t w = 0; w < n; w++) {
            struct gossip_neighbours own = gossip_neighbours(GOSSIP_RING, n, w, 5);
            int32_t up = (w + 1) % n, down = (w + n - 1) % n;
            assert_int_equal(own.to[0] + own.to[1], up + down);
            assert_true(own.to[0] == up || own.to[0] == down);
        }
}

/* Powers of two in turn, as many as are below n. */
TEST(an_exponential_graph_goes_through_powers_of_two)
{
    CASES(int32_t n, rounds) = { { 2, 1 }, { 3, 2 }, { 4, 2 }, { 5, 3 }, { 8, 3 }, { 9, 4 }, { 65536, 16 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_int_equal(gossip_rounds(GOSSIP_EXPONENTIAL, cases[i].n), cases[i].rounds);
        assert_int_equal(gossip_rounds(GOSSIP_RING, cases[i].n), 1);
        for (int32_t k = 0; k < 2 * cases[i].rounds; k++) {
            int32_t hop = 1 << k % cases[i].rounds;
            assert_int_equal(gossip_neighbours(GOSSIP_EXPONENTIAL, cases[i].n, 0, k).from[0], hop);
        }
    }
}

/* Ying et al., arXiv 2110.13363: of 2^K workers K rounds in a row average exactly, from any round on.
 * Numbers are multiples of 2^K, so that halves are exact. */
TEST(log2_rounds_of_one_peer_make_the_mean)
{
    enum { N = 16, ROUNDS = 4 };
    for (int32_t from = 0; from < ROUNDS; from++) {
        float x[N], y[N], sum = 0;
        for (int32_t w = 0; w < N; w++)
            sum += x[w] = (float)(16 * (w * w % 11));
        for (int32_t round = from; round < from + ROUNDS; round++) {
            for (int32_t w = 0; w < N; w++) {
                float *other = &x[gossip_neighbours(GOSSIP_EXPONENTIAL, N, w, round).from[0]];
                y[w] = x[w];
                gossip_average(&y[w], &other, 1, 1);
            }
            memcpy(x, y, sizeof x);
        }
        for (int32_t w = 0; w < N; w++)
            assert_true(x[w] == sum / N);
    }
}

TEST(an_average_weighs_all_equally)
{
    float y[] = { 3, -1 }, a[] = { 6, 2 }, b[] = { 0, 5 };
    float *others[] = { a, b };
    gossip_average(y, others, 2, 2);
    assert_true(y[0] == 3 && y[1] == 2);
    gossip_average(y, others, 0, 2);
    assert_true(y[0] == 3 && y[1] == 2);
}
