#include "base/rng.h"
#include "sim/interval/interval.h"
#include "tests/support.h"

enum { MOST_LAYERS = 20 };

struct net {
    double b[MOST_LAYERS], f[MOST_LAYERS], r[MOST_LAYERS];
    struct overlap_layers layers;
};

/* The paper's ranges [ms], or short messages. */
static void draw_net(struct net *net, struct rng *rng)
{
    bool brief = rng_below(rng, 2) == 0;
    net->layers = (struct overlap_layers){ net->b, net->f, net->r, 1 + (int32_t)rng_below(rng, MOST_LAYERS) };
    for (int32_t j = 0; j < net->layers.n; j++) {
        net->b[j] = 1 + (double)rng_below(rng, 300);
        net->f[j] = 1 + (double)rng_below(rng, 500);
        net->r[j] = brief ? (double)rng_below(rng, 150) : 80 + (double)rng_below(rng, 421);
    }
}

TEST(known_networks_take_the_times_worked_out_by_hand)
{
    const double b4[] = { 3, 2, 1, 4 }, f4[] = { 2, 2, 2, 2 }, r4[] = { 2, 3, 1, 2 };
    const double b3[] = { 1, 1, 1 }, r3[] = { 2, 2, 2 };
    const struct {
        struct overlap_layers layers;
        double want_s[N_OVERLAP_MODES];
    } cases[] = {
        { { b4, f4, r4, 4 }, { 34, 23, 20, 20 } },
        { { b3, b3, r3, 3 }, { 18, 12, 8, 9 } },
        { { b3, b3, r3, 1 }, { 6, 6, 4, 4 } }, /* one layer; sliced, the pull begins with the push */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int mode = 0; mode < N_OVERLAP_MODES; mode++)
            assert_close(overlap_time_s(&cases[i].layers, (enum overlap_mode)mode), cases[i].want_s[mode],
                         1e-15);
}

TEST(priority_never_loses_to_wait_free_nor_that_to_sequential)
{
    RNG(rng, 1, 0);
    for (int i = 0; i < 5000; i++) {
        struct net net;
        draw_net(&net, rng);
        double seq_s = overlap_time_s(&net.layers, OVERLAP_SEQUENTIAL);
        double wait_s = overlap_time_s(&net.layers, OVERLAP_WAIT_FREE);
        double priority_s = overlap_time_s(&net.layers, OVERLAP_PRIORITY);
        assert_true(priority_s <= wait_s && wait_s <= seq_s);
    }
}

/* One channel serves the lowest layer that has something to send; whole milliseconds, one at a time. */
static double event_time(const struct net *net)
{
    const int32_t n = net->layers.n;
    double ready[MOST_LAYERS] = { 0 }, left[MOST_LAYERS] = { 0 }, arrived[MOST_LAYERS] = { 0 }, ready_s = 0;
    for (int32_t j = n - 1; j >= 0; j--) {
        ready_s += net->b[j];
        ready[j] = ready_s;
        left[j] = net->r[j];
        arrived[j] = ready_s;
    }
    int32_t n_left = 0;
    for (int32_t j = 0; j < n; j++)
        n_left += left[j] > 0;
    for (double t = 0; n_left > 0; t++)
        for (int32_t j = 0; j < n; j++)
            if (ready[j] <= t && left[j] > 0) {
                arrived[j] = t + 1;
                n_left -= --left[j] == 0;
                break;
            }
    double done = 0;
    for (int32_t j = 0; j < n; j++)
        done = fmax(done, arrived[j]) + net->f[j];
    return done;
}

TEST(priority_is_what_a_preemptive_channel_does)
{
    RNG(rng, 2, 0);
    for (int i = 0; i < 2000; i++) {
        struct net net;
        draw_net(&net, rng);
        assert_close(overlap_time_s(&net.layers, OVERLAP_PRIORITY), event_time(&net), 1e-12);
    }
}

/* Two machines in a row, in one order: the longest path ready(i) + pushes i..k + pulls k..1 is the time of
 * the last pull (S. Johnson, Optimal two- and three-stage production schedules, 1954). */
TEST(wait_free_is_a_flow_shop_of_two_machines)
{
    RNG(rng, 3, 0);
    for (int i = 0; i < 500; i++) {
        struct net net;
        double last = 0, forward = 0, ready = 0;
        draw_net(&net, rng);
        for (int32_t j = net.layers.n - 1; j >= 0; j--) {
            double push = 0;
            ready += net.b[j];
            forward += net.f[j];
            for (int32_t k = j; k >= 0; k--) {
                double pull = 0;
                push += net.r[k];
                for (int32_t q = k; q >= 0; q--)
                    pull += net.r[q];
                last = fmax(last, ready + push + pull);
            }
        }
        assert_close(overlap_time_s(&net.layers, OVERLAP_WAIT_FREE), last + forward, 1e-12);
    }
}

/* Long messages: Lemma 2 is then above the channel, often above wait-free. */
TEST(lemma_2_counts_backlog_twice)
{
    int n_above = 0, n_slower = 0, n = 0;
    RNG(rng, 4, 0);
    while (n < 1000) {
        struct net net;
        draw_net(&net, rng);
        if (net.layers.n < 2 || net.r[0] < 150)
            continue;
        n++;
        double lemma_s = overlap_time_s(&net.layers, OVERLAP_LEMMA2);
        double exact_s = overlap_time_s(&net.layers, OVERLAP_PRIORITY);
        assert_true(lemma_s >= exact_s);
        n_above += lemma_s > exact_s;
        n_slower += lemma_s > overlap_time_s(&net.layers, OVERLAP_WAIT_FREE);
    }
    assert_true(n_above > n / 2 && n_slower > n / 2);
}

TEST(shares_put_the_iteration_together_again)
{
    RNG(rng, 5, 0);
    for (int i = 0; i < 500; i++) {
        struct net net;
        double b = 0, f = 0, r = 0;
        draw_net(&net, rng);
        for (int32_t j = 0; j < net.layers.n; j++) {
            b += net.b[j];
            f += net.f[j];
            r += net.r[j];
        }
        for (int mode = 0; mode < N_OVERLAP_MODES; mode++) {
            struct overlap_shares s = overlap_find_shares(&net.layers, (enum overlap_mode)mode);
            assert_true(s.forward == 1 && s.backward >= 0 && s.backward <= 1 && s.comm >= 0 && s.comm <= 1);
            /* Where backward passes hide more than one push and pull, no share of communication explains it.
             */
            if (s.comm > 0 && s.comm < 1)
                assert_close(s.forward * f + s.backward * b + 2 * s.comm * r,
                             overlap_time_s(&net.layers, (enum overlap_mode)mode), 1e-12);
        }
    }
}

/* arXiv 2105.13855: wait-free, bound by communication, 4 layers: e2 = b_4 / sum b, e3 = (2 r_4 + r_3 + r_2 +
 * r_1) / (2 sum r). That takes the layer after the last pushed to be as long as the one before: r_4 the
 * longest. */
TEST(shares_of_the_papers_example)
{
    const double b[] = { 1, 2, 3, 4 }, f[] = { 1, 1, 1, 1 }, r[] = { 5, 6, 7, 8 };
    const struct overlap_layers layers = { b, f, r, 4 };
    struct overlap_shares s = overlap_find_shares(&layers, OVERLAP_WAIT_FREE);
    assert_true(s.forward == 1);
    assert_close(s.backward, 4.0 / 10, 1e-15);
    assert_close(s.comm, (2 * 8 + 7 + 6 + 5) / 52.0, 1e-15);
}
