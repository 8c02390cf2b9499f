#include "tests/support.h"

#include "base/rng.h"
#include "sim/flow/flow.h"

enum { MAX_ARCS = 40, MAX_FLOWS = 200, MAX_HOPS = 5 };

/* A net of arcs without a graph. */
static struct flow_net *net_of(const double *bw_Bps, const double *lat_s, int32_t n)
{
    double share[MAX_ARCS], bw[MAX_ARCS], lat[MAX_ARCS];
    struct topo_routes r = { .n_arcs = n, .bw_Bps = bw, .lat_s = lat, .share = share };
    struct flow_net *net;
    struct err e = { 0 };
    for (int32_t i = 0; i < n; i++) {
        share[i] = 1;
        bw[i] = bw_Bps[i];
        lat[i] = lat_s ? lat_s[i] : 0;
    }
    assert_ok(flow_net_build(&net, &r, &e), &e);
    return net;
}

static void add(struct flow_net *net, int64_t tag, const int32_t *arcs, int32_t n, double bytes,
                double start_s)
{
    struct err e = { 0 };
    struct flow_spec s = { arcs, n, bytes, start_s, 0, tag };
    assert_ok(flow_add(net, &s, &e), &e);
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

static void lone_flow_takes_latency_and_bytes_over_its_slowest_link(void **state)
{
    const double bw[] = { 10, 4 }, lat[] = { 0.5, 0.25 };
    struct flow_net *net = net_of(bw, lat, 2);
    double end_s[1];
    (void)state;
    add(net, 0, both, 2, 8, 3);
    assert_close(flow_next_s(net), 3.75, 1e-15);
    run(net, end_s, 1);
    assert_close(end_s[0], 3 + 0.75 + 2, 1e-15);
    assert_close(flow_arc_use(net, 0).util_frac, 8 / (10 * 5.75), 1e-15);
    flow_net_free(net);
}

/* Bertsekas and Gallager's kind: the long flow gets half of the narrow link, its neighbour on the wide one
 * the rest. */
static void shares_are_max_min_fair(void **state)
{
    const double bw[] = { 10, 4 };
    struct flow_net *net = net_of(bw, NULL, 2);
    double end_s[3];
    (void)state;
    add(net, 0, both, 2, 20, 0); /* 2, bounded by link 1 */
    add(net, 1, arc0, 1, 80, 0); /* 8 */
    add(net, 2, arc1, 1, 10, 0); /* 2: ends at 5, then flow 0 has 4 and flow 1 has 6 */
    run(net, end_s, 3);
    assert_close(end_s[2], 5, 1e-15);
    assert_close(end_s[0], 7.5, 1e-15);                        /* 10 left at 4 */
    assert_close(end_s[1], 7.5 + (80 - 40 - 15) / 10., 1e-15); /* 6 until 7.5, then 10 */
    flow_net_free(net);
}

static void oversubscribed_link_serves_all_alike(void **state)
{
    const double bw[] = { 1e9 };
    struct flow_net *net = net_of(bw, NULL, 1);
    double end_s[100];
    (void)state;
    for (int i = 0; i < 100; i++)
        add(net, i, arc0, 1, 1e7, 0);
    run(net, end_s, 100);
    for (int i = 0; i < 100; i++)
        assert_close(end_s[i], 1, 1e-14);
    assert_true(flow_count(net).done == 100 && flow_count(net).events == 200);
    assert_close(flow_arc_use(net, 0).util_frac, 1, 1e-14);
    flow_net_free(net);
}

static void empty_flow_ends_after_its_latency(void **state)
{
    const double bw[] = { 10 }, lat[] = { 2 };
    struct flow_net *net = net_of(bw, lat, 1);
    double end_s[3];
    (void)state;
    add(net, 0, arc0, 1, 0, 1);
    add(net, 1, NULL, 0, 5, 4);
    add(net, 2, NULL, 0, 0, 0);
    run(net, end_s, 3);
    assert_true(end_s[0] == 3 && end_s[1] == 4 && end_s[2] == 0);
    assert_true(flow_arc_use(net, 0).bytes == 0);
    flow_net_free(net);
}

/* Less latency than that of the links, but not less than none; what rounding leaves below 0 is 0. */
static void extra_latency_may_be_negative(void **state)
{
    const double bw[] = { 10, 10 }, lat[] = { 0.1, 0.2 };
    struct flow_net *net = net_of(bw, lat, 2);
    struct err e = { 0 };
    double end_s[2];
    (void)state;
    struct flow_spec less = { both, 2, 0, 0, -0.2, 0 }, none = { both, 2, 0, 0, -0.3, 1 };
    assert_ok(flow_add(net, &less, &e), &e);
    none.extra_s = nextafter(-(0.1 + 0.2), -1);
    assert_ok(flow_add(net, &none, &e), &e);
    run(net, end_s, 2);
    assert_close(end_s[0], 0.1, 1e-12);
    assert_true(end_s[1] == 0);
    none.extra_s = -0.3001;
    assert_fails(flow_add(net, &none, &e), &e, ERR_RANGE, "-0.3001 s of latency more than the 0.3 s");
    flow_net_free(net);
}

static void flow_added_later_begins_now(void **state)
{
    const double bw[] = { 10 };
    struct flow_net *net = net_of(bw, NULL, 1);
    double end_s[2];
    (void)state;
    add(net, 0, arc0, 1, 10, 0);
    run(net, end_s, 1);
    add(net, 1, arc0, 1, 10, 0.5);
    run(net, end_s, 2);
    assert_true(end_s[0] == 1 && end_s[1] == 2);
    flow_net_free(net);
}

static void wrong_flows_are_refused(void **state)
{
    const double bw[] = { 10, 10 };
    struct flow_net *net = net_of(bw, NULL, 2);
    struct err e = { 0 };
    const int32_t far[] = { 2 };
    struct flow_spec s = { far, 1, 1, 0, 0, 0 };
    (void)state;
    assert_fails(flow_add(net, &s, &e), &e, ERR_RANGE, "flow: arc is 2, need 0 to 1");
    s = (struct flow_spec){ arc0, 1, NAN, 0, 0, 0 };
    assert_fails(flow_add(net, &s, &e), &e, ERR_RANGE, "has nan bytes, need 0 or more");
    s = (struct flow_spec){ arc0, 1, 1, INFINITY, 0, 0 };
    assert_fails(flow_add(net, &s, &e), &e, ERR_RANGE, "need finite times");
    assert_true(isinf(flow_next_s(net)));
    flow_advance(net);
    assert_true(flow_now_s(net) == 0);
    flow_net_free(net);
    flow_net_free(NULL);
}

/* ---- random flows ---- */

struct known_flow {
    int32_t arcs[MAX_HOPS], n;
    double rate_Bps;
    bool moves;
};

struct scene {
    double bw[MAX_ARCS];
    int32_t n_arcs, n_flows;
    struct known_flow flows[MAX_FLOWS];
};

static void note_rate(void *data, int64_t tag, double rate_Bps)
{
    struct known_flow *f = &((struct scene *)data)->flows[tag];
    f->rate_Bps = rate_Bps;
    f->moves = true;
}

static void same_rate(void *data, int64_t tag, double rate_Bps)
{
    const struct known_flow *f = &((struct scene *)data)->flows[tag];
    assert_true(f->moves);
    assert_close(f->rate_Bps, rate_Bps, 1e-11);
}

static void read_rates(struct scene *s, struct flow_net *net)
{
    for (int32_t i = 0; i < s->n_flows; i++)
        s->flows[i].moves = false;
    flow_each_rate(net, false, note_rate, s);
}

static double load_of(const struct scene *s, int32_t arc, double *largest)
{
    double sum = 0;
    *largest = 0;
    for (int32_t i = 0; i < s->n_flows; i++)
        for (int32_t k = 0; k < s->flows[i].n && s->flows[i].moves; k++)
            if (s->flows[i].arcs[k] == arc) {
                sum += s->flows[i].rate_Bps;
                *largest = fmax(*largest, s->flows[i].rate_Bps);
            }
    return sum;
}

/*
 * What max-min fairness means, and nothing else does: no link carries more than it can, and every flow has a
 * link that is full and on which nobody is faster.
 */
static void check_fair(const struct scene *s)
{
    bool full[MAX_ARCS] = { false };
    double largest[MAX_ARCS] = { 0 };
    for (int32_t a = 0; a < s->n_arcs; a++) {
        double load = load_of(s, a, &largest[a]);
        assert_true(load <= s->bw[a] * (1 + 1e-11));
        full[a] = load >= s->bw[a] * (1 - 1e-11);
    }
    for (int32_t i = 0; i < s->n_flows; i++) {
        const struct known_flow *f = &s->flows[i];
        bool bound = !f->moves;
        for (int32_t k = 0; k < f->n; k++)
            bound |= full[f->arcs[k]] && f->rate_Bps >= largest[f->arcs[k]] * (1 - 1e-11);
        assert_true(bound);
    }
}

static void draw_scene(struct scene *s, struct flow_net **net, struct rng *rng)
{
    struct err e = { 0 };
    s->n_arcs = 2 + (int32_t)rng_below(rng, MAX_ARCS - 1);
    s->n_flows = 1 + (int32_t)rng_below(rng, MAX_FLOWS);
    bool even = rng_below(rng, 3) == 0; /* many ties */
    for (int32_t a = 0; a < s->n_arcs; a++)
        s->bw[a] = even ? 1e9 * (double)(1 + rng_below(rng, 2)) : rng_log_range(rng, 1e8, 1e11);
    *net = net_of(s->bw, NULL, s->n_arcs);
    for (int32_t i = 0; i < s->n_flows; i++) {
        struct known_flow *f = &s->flows[i];
        *f = (struct known_flow){ .n = 0 };
        int32_t n = 1 + (int32_t)rng_below(rng, s->n_arcs < MAX_HOPS ? s->n_arcs : MAX_HOPS);
        /* A stretch of consecutive arcs with random steps: different ones. */
        int32_t arc = (int32_t)rng_below(rng, s->n_arcs);
        for (; f->n < n; f->n++, arc = (arc + 1) % s->n_arcs)
            f->arcs[f->n] = arc;
        struct flow_spec spec = { f->arcs,
                                  f->n,
                                  even ? 1e6 : rng_log_range(rng, 1e5, 1e8),
                                  rng_below(rng, 2) ? 0 : rng_range(rng, 0, 0.1),
                                  0,
                                  i };
        assert_ok(flow_add(*net, &spec, &e), &e);
    }
}

static void random_rates_meet_the_conditions_of_fairness_at_every_event(void **state)
{
    struct rng *rng;
    struct err e = { 0 };
    (void)state;
    assert_ok(rng_build(&rng, 7, 0, &e), &e);
    for (int round = 0; round < 60; round++) {
        struct scene s;
        struct flow_net *net;
        draw_scene(&s, &net, rng);
        while (flow_next_s(net) < INFINITY) {
            read_rates(&s, net);
            check_fair(&s);
            flow_advance(net);
        }
        assert_true(flow_count(net).done == s.n_flows);
        flow_net_free(net);
    }
    rng_free(rng);
}

static void rates_near_a_change_are_those_of_computing_all_afresh(void **state)
{
    struct rng *rng;
    struct err e = { 0 };
    (void)state;
    assert_ok(rng_build(&rng, 8, 0, &e), &e);
    for (int round = 0; round < 60; round++) {
        struct scene s;
        struct flow_net *net;
        draw_scene(&s, &net, rng);
        while (flow_next_s(net) < INFINITY) {
            read_rates(&s, net);
            flow_each_rate(net, true, same_rate, &s);
            flow_advance(net);
        }
        flow_net_free(net);
    }
    rng_free(rng);
}

/* Every byte that a flow has passes each of its links. */
static void bytes_are_conserved(void **state)
{
    struct rng *rng;
    struct scene s;
    struct flow_net *net;
    struct err e = { 0 };
    (void)state;
    assert_ok(rng_build(&rng, 9, 0, &e), &e);
    draw_scene(&s, &net, rng);
    double moved[MAX_ARCS] = { 0 }, before_s = 0, unused;
    for (double next_s; (next_s = flow_next_s(net)) < INFINITY; before_s = next_s) {
        read_rates(&s, net);
        for (int32_t a = 0; a < s.n_arcs; a++)
            moved[a] += load_of(&s, a, &unused) * (next_s - before_s);
        flow_advance(net);
    }
    for (int32_t a = 0; a < s.n_arcs; a++)
        assert_near(moved[a], flow_arc_use(net, a).bytes, 1e-9 * flow_arc_use(net, a).bytes);
    flow_net_free(net);
    rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lone_flow_takes_latency_and_bytes_over_its_slowest_link),
        cmocka_unit_test(shares_are_max_min_fair),
        cmocka_unit_test(oversubscribed_link_serves_all_alike),
        cmocka_unit_test(empty_flow_ends_after_its_latency),
        cmocka_unit_test(extra_latency_may_be_negative),
        cmocka_unit_test(flow_added_later_begins_now),
        cmocka_unit_test(wrong_flows_are_refused),
        cmocka_unit_test(random_rates_meet_the_conditions_of_fairness_at_every_event),
        cmocka_unit_test(rates_near_a_change_are_those_of_computing_all_afresh),
        cmocka_unit_test(bytes_are_conserved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
