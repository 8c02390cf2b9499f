#include "tests/support.h"

#include "base/rng.h"
#include "sim/flow/flow.h"

KEEPS(struct flow_net, flow_net_free)

enum { MAX_ARCS = 40 };

/* A net of arcs without a graph. */
static struct flow_net *net_of(const double *bw_Bps, const double *lat_s, int32_t n)
{
    double share[MAX_ARCS], bw[MAX_ARCS], lat[MAX_ARCS];
    struct topo_routes r = { .n_arcs = n, .bw_Bps = bw, .lat_s = lat, .share = share };
    struct flow_net *net;
    for (int32_t i = 0; i < n; i++) {
        share[i] = 1;
        bw[i] = bw_Bps[i];
        lat[i] = lat_s ? lat_s[i] : 0;
    }
    MUST(flow_net_build(&net, &r, e));
    return net;
}

static void add(struct flow_net *net, int64_t tag, const int32_t *arcs, int32_t n, double bytes,
                double start_s)
{
    struct flow_spec s = { arcs, n, bytes, start_s, 0, tag, 0, NULL };
    MUST(flow_add(net, &s, e));
}

/* Run to the end; when each tag ended, shape [n]. */
static void run(struct flow_net *net, double *finish_s, int n)
{
    while (flow_next_s(net) < INFINITY) {
        flow_advance(net);
        for (int32_t i = 0; i < flow_n_ended(net); i++) {
            assert_in_range(flow_ended(net, i), 0, n - 1);
            finish_s[flow_ended(net, i)] = flow_now_s(net);
        }
    }
}

static const int32_t arc0[] = { 0 }, arc1[] = { 1 }, both[] = { 0, 1 };

TEST(lone_flow_takes_latency_and_bytes_over_its_slowest_link)
{
    const double bw[] = { 10, 4 }, lat[] = { 0.5, 0.25 };
    KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, lat, 2);
    double end_s[1];
    add(net, 0, both, 2, 8, 3);
    assert_close(flow_next_s(net), 3.75, 1e-15);
    run(net, end_s, 1);
    assert_close(end_s[0], 3 + 0.75 + 2, 1e-15);
    assert_close(flow_arc_use(net, 0).util_frac, 8 / (10 * 5.75), 1e-15);
}

/* Bertsekas and Gallager's kind: the long flow gets half of the narrow link, its neighbour on the wide one
 * the rest. */
TEST(shares_are_max_min_fair)
{
    const double bw[] = { 10, 4 };
    KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, NULL, 2);
    double end_s[3];
    add(net, 0, both, 2, 20, 0); /* 2, bounded by link 1 */
    add(net, 1, arc0, 1, 80, 0); /* 8 */
    add(net, 2, arc1, 1, 10, 0); /* 2: ends at 5, then flow 0 has 4 and flow 1 has 6 */
    run(net, end_s, 3);
    assert_close(end_s[2], 5, 1e-15);
    assert_close(end_s[0], 7.5, 1e-15);                        /* 10 left at 4 */
    assert_close(end_s[1], 7.5 + (80 - 40 - 15) / 10., 1e-15); /* 6 until 7.5, then 10 */
}

TEST(oversubscribed_link_serves_all_alike)
{
    const double bw[] = { 1e9 };
    KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, NULL, 1);
    double end_s[100];
    for (int i = 0; i < 100; i++)
        add(net, i, arc0, 1, 1e7, 0);
    run(net, end_s, 100);
    for (int i = 0; i < 100; i++)
        assert_close(end_s[i], 1, 1e-14);
    assert_true(flow_count(net).done == 100 && flow_count(net).events == 200);
    assert_close(flow_arc_use(net, 0).util_frac, 1, 1e-14);
}

TEST(empty_flow_ends_after_its_latency)
{
    const double bw[] = { 10 }, lat[] = { 2 };
    KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, lat, 1);
    double end_s[3];
    add(net, 0, arc0, 1, 0, 1);
    add(net, 1, NULL, 0, 5, 4);
    add(net, 2, NULL, 0, 0, 0);
    run(net, end_s, 3);
    assert_true(end_s[0] == 3 && end_s[1] == 4 && end_s[2] == 0 && flow_arc_use(net, 0).bytes == 0);
}

/* Less latency than that of the links, but not less than none; what rounding leaves below 0 is 0. */
TEST(extra_latency_may_be_negative)
{
    const double bw[] = { 10, 10 }, lat[] = { 0.1, 0.2 };
    KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, lat, 2);
    double end_s[2];
    struct flow_spec less = { both, 2, 0, 0, -0.2, 0, 0, NULL }, none = { both, 2, 0, 0, -0.3, 1, 0, NULL };
    OK(flow_add(net, &less, e));
    none.extra_s = nextafter(-(0.1 + 0.2), -1);
    OK(flow_add(net, &none, e));
    run(net, end_s, 2);
    assert_close(end_s[0], 0.1, 1e-12);
    assert_true(end_s[1] == 0);
    none.extra_s = -0.3001;
    FAILS(flow_add(net, &none, e), ERR_RANGE, "-0.3001 s of latency more than the 0.3 s");
}

/* Its sender handles others for a second first: it is there a second and what its slowest link takes after it
 * began, whichever link that is; on links that others hold up longer than that it does not wait besides. */
TEST(flow_that_is_handled_later_ends_no_sooner)
{
    const double bw[] = { 10, 4 }, lat[] = { 0.5, 0.25 };
    static const int32_t back[] = { 1, 0 };
    for (int k = 0; k < 2; k++) {
        KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, lat, 2);
        double end_s[1];
        struct flow_spec late = { k ? back : both, 2, 8, 3, 0, 0, 1, NULL };
        OK(flow_add(net, &late, e));
        run(net, end_s, 1);
        assert_close(end_s[0], 3 + 0.75 + 1 + 2, 1e-15);
    }
    KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, NULL, 2);
    double end_s[2];
    struct flow_spec late = { arc1, 1, 8, 0, 0, 0, 1, NULL };
    OK(flow_add(net, &late, e));
    add(net, 1, arc1, 1, 8, 0);
    run(net, end_s, 2);
    assert_close(end_s[0], 4, 1e-15);
}

TEST(flow_added_later_begins_now)
{
    const double bw[] = { 10 };
    KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, NULL, 1);
    double end_s[2];
    add(net, 0, arc0, 1, 10, 0);
    run(net, end_s, 1);
    add(net, 1, arc0, 1, 10, 0.5);
    run(net, end_s, 2);
    assert_true(end_s[0] == 1 && end_s[1] == 2);
}

/* It leaves its links when its bytes are there, and ends when its sender may have handled it. */
TEST(flow_ends_no_sooner_than_its_sender_comes_to_it)
{
    const double bw[] = { 10, 5 }, lat[] = { 1, 0 };
    KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, lat, 2);
    double end_s[3];
    const struct flow_spec first = { both, 2, 10, 0, 0, 0, 0, NULL },
                           second = { both, 2, 10, 0, 0, 1, 4, NULL },
                           third = { both, 2, 10, 0, 0, 2, 7, NULL };
    OK(flow_add(net, &first, e));
    OK(flow_add(net, &second, e));
    OK(flow_add(net, &third, e));
    run(net, end_s, 3);
    /* All three have passed at 1 + 30/5; alone from 7 on the third would take 2 more after its latency. */
    assert_close(end_s[0], 7, 1e-15);
    assert_close(end_s[1], 7, 1e-15);
    assert_close(end_s[2], 10, 1e-15);
    assert_close(flow_arc_use(net, 1).bytes, 30, 1e-15);
    assert_true(flow_count(net).done == 3 && flow_count(net).events == 6);
}

/* What ends in one instant ends by date, and of one date as it was added: few flows and many, whose dates are
 * sorted at once. */
TEST(flows_of_one_instant_end_in_the_order_of_their_dates)
{
    for (int n = 4; n <= MAX_ARCS; n += 36)
        for (int later = 0; later < 2; later++) { /* each a little sooner than the one before, or with it */
            double bw[MAX_ARCS];
            for (int i = 0; i < n; i++)
                bw[i] = 1;
            KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, NULL, n);
            for (int32_t i = 0; i < n; i++)
                add(net, i, &i, 1, 1 - later * i * 0x1p-48, 0);
            while (flow_n_ended(net) == 0)
                flow_advance(net);
            assert_int_equal(flow_n_ended(net), n);
            for (int32_t i = 0; i < n; i++)
                assert_int_equal(flow_ended(net, i), later ? n - 1 - i : i);
        }
}

/* Others that were added between them go on; and what ended before is forgotten. */
TEST(flows_of_one_instant_end_as_they_were_added_among_others)
{
    double bw[MAX_ARCS];
    for (int i = 0; i < MAX_ARCS; i++)
        bw[i] = 1;
    KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, NULL, MAX_ARCS);
    for (int32_t i = 0; i < MAX_ARCS; i++) /* 8 end at 1/2, of the others every fourth at 2 */
        add(net, i, &i, 1, i < 8 ? 0.5 : i % 4 == 2 ? 2 : 1, 0);
    for (double at_s = 0.5; at_s <= 2; at_s *= 2) {
        do
            flow_advance(net);
        while (flow_n_ended(net) == 0);
        assert_close(flow_now_s(net), at_s, 1e-12);
        for (int32_t i = 0, n = 0; i < MAX_ARCS; i++)
            if (at_s == (i < 8 ? 0.5 : i % 4 == 2 ? 2 : 1))
                assert_int_equal(flow_ended(net, n++), i);
    }
    assert_true(isinf(flow_next_s(net)));
}

TEST(wrong_flows_are_refused)
{
    const double bw[] = { 10, 10 };
    KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, NULL, 2);
    const int32_t far[] = { 2 };
    struct flow_spec s = { far, 1, 1, 0, 0, 0, 0, NULL };
    FAILS(flow_add(net, &s, e), ERR_RANGE, "flow: arc is 2, expected 0 to 1");
    s = (struct flow_spec){ arc0, 1, NAN, 0, 0, 0, 0, NULL };
    FAILS(flow_add(net, &s, e), ERR_RANGE, "has nan bytes, expected 0 or more");
    s = (struct flow_spec){ arc0, 1, 1, INFINITY, 0, 0, 0, NULL };
    FAILS(flow_add(net, &s, e), ERR_RANGE, "expected finite times");
    assert_true(isinf(flow_next_s(net)));
    flow_advance(net);
    assert_true(flow_now_s(net) == 0);
    flow_net_free(NULL);
}

/* However they share: every flow ends, none sooner than alone, links count what passed and no link moves more
 * than it could. */
TEST(all_flows_end_and_their_bytes_are_counted)
{
    enum { N = 200 };
    double bw[MAX_ARCS], bytes[MAX_ARCS] = { 0 }, least_s[N], end_s[N];
    RNG(rng, 9, 0);
    for (int32_t a = 0; a < MAX_ARCS; a++)
        bw[a] = rng_log_range(rng, 1e8, 1e11);
    KEEP(struct flow_net *, net, flow_net_free_at) = net_of(bw, NULL, MAX_ARCS);
    for (int32_t i = 0; i < N; i++) {
        int32_t arcs[5], n = 1 + (int32_t)rng_below(rng, 5), first = (int32_t)rng_below(rng, MAX_ARCS);
        double flow_B = rng_log_range(rng, 1e5, 1e8),
               start_s = rng_below(rng, 2) ? 0 : rng_range(rng, 0, 0.1);
        least_s[i] = start_s;
        for (int32_t k = 0; k < n; k++) {
            arcs[k] = (first + k) % MAX_ARCS;
            bytes[arcs[k]] += flow_B;
            least_s[i] = fmax(least_s[i], start_s + flow_B / bw[arcs[k]]);
        }
        add(net, i, arcs, n, flow_B, start_s);
        end_s[i] = -1;
    }
    run(net, end_s, N);
    for (int32_t i = 0; i < N; i++)
        assert_true(end_s[i] >= least_s[i] * (1 - 1e-12));
    for (int32_t a = 0; a < MAX_ARCS; a++) {
        assert_close(flow_arc_use(net, a).bytes, bytes[a], 1e-12);
        assert_true(bytes[a] <= bw[a] * flow_now_s(net) * (1 + 1e-12));
    }
    assert_true(flow_count(net).done == N);
}
