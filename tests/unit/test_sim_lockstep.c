#include "sim/flow/maxmin.h"

#include "base/rng.h"
#include "sim/flow/flow.h"
#include "tests/support.h"

enum { MAX_LINKS = 40, MAX_BUNDLES = 60, MAX_USES = 6 };

struct bundle {
    struct lockstep_use uses[MAX_USES];
    int32_t n;
    double cap_Bps;
    bool there;
};

static struct lockstep *build(const double *bw_Bps, int32_t n_links)
{
    struct lockstep *l;
    struct err e = { 0 };
    assert_ok(lockstep_build(&l, bw_Bps, n_links, MAX_BUNDLES, &e), &e);
    return l;
}

static void add(struct lockstep *l, int32_t id, const struct lockstep_use *uses, int32_t n, double cap_Bps)
{
    struct err e = { 0 };
    assert_ok(lockstep_add(l, id, uses, n, cap_Bps, &e), &e);
}

static int32_t settle(struct lockstep *l)
{
    const int32_t *changed;
    int32_t n;
    lockstep_settle(l, &changed, &n);
    return n;
}

static void a_link_is_shared_by_transfers_not_by_bundles(void **state)
{
    const double bw[] = { 12, 100 };
    const struct lockstep_use once[] = { { 0, 1 } }, twice[] = { { 0, 2 }, { 1, 1 } };
    struct lockstep *l = build(bw, 2);
    (void)state;
    add(l, 0, once, 1, INFINITY);
    assert_int_equal(settle(l), 1);
    assert_true(lockstep_rate(l, 0) == 12);
    add(l, 1, once, 1, INFINITY);
    assert_int_equal(settle(l), 2);
    assert_true(lockstep_rate(l, 0) == 6 && lockstep_rate(l, 1) == 6);
    add(l, 2, twice, 2, INFINITY); /* four transfers on link 0 */
    assert_int_equal(settle(l), 3);
    for (int32_t i = 0; i < 3; i++)
        assert_true(lockstep_rate(l, i) == 3);
    lockstep_remove(l, 0);
    lockstep_remove(l, 0);
    lockstep_remove(l, 1);
    assert_int_equal(settle(l), 1);
    assert_true(lockstep_rate(l, 2) == 6);
    lockstep_free(l);
    lockstep_free(NULL);
}

static void what_a_slow_bundle_leaves_goes_to_the_others(void **state)
{
    /* Bundle 0 is held to 4 by link 1, so bundle 1 has 8 of link 0; with a cap of 1, it has 11. */
    const double bw[] = { 12, 4 };
    const struct lockstep_use both[] = { { 0, 1 }, { 1, 1 } }, first[] = { { 0, 1 } };
    struct lockstep *l = build(bw, 2);
    (void)state;
    add(l, 0, both, 2, INFINITY);
    add(l, 1, first, 1, INFINITY);
    settle(l);
    assert_true(lockstep_rate(l, 0) == 4 && lockstep_rate(l, 1) == 8);
    lockstep_remove(l, 0);
    add(l, 0, both, 2, 1);
    settle(l);
    assert_true(lockstep_rate(l, 0) == 1 && lockstep_rate(l, 1) == 11);
    lockstep_free(l);
}

static void a_bundle_apart_from_the_change_is_not_told(void **state)
{
    const double bw[] = { 10, 20 };
    const struct lockstep_use first[] = { { 0, 1 } }, second[] = { { 1, 1 } };
    struct lockstep *l = build(bw, 2);
    const int32_t *changed;
    int32_t n;
    (void)state;
    add(l, 7, first, 1, INFINITY);
    settle(l);
    add(l, 3, second, 1, INFINITY);
    lockstep_settle(l, &changed, &n);
    assert_int_equal(n, 1);
    assert_int_equal(changed[0], 3);
    lockstep_settle(l, &changed, &n);
    assert_int_equal(n, 0);
    lockstep_free(l);
}

/* ---- random bundles ---- */

static void draw(struct bundle *b, int32_t n_links, bool caps, struct rng *rng)
{
    *b = (struct bundle){ .there = true, .cap_Bps = INFINITY };
    int32_t n = 1 + (int32_t)rng_below(rng, MAX_USES);
    for (int32_t i = 0; i < n; i++) {
        int32_t link = (int32_t)rng_below(rng, n_links), k = 0;
        while (k < b->n && b->uses[k].link != link)
            k++;
        if (k == b->n)
            b->uses[b->n++] = (struct lockstep_use){ link, 0 };
        b->uses[k].count += 1 + (int32_t)rng_below(rng, 2);
    }
    if (caps && rng_below(rng, 3) == 0)
        b->cap_Bps = rng_log_range(rng, 0.1, 10);
}

/* Bertsekas and Gallager's condition: everybody has a full link where nobody is faster, or its cap; and no
 * link carries more than it can. */
static void check_optimal(const struct lockstep *l, const double *bw, int32_t n_links, const struct bundle *b)
{
    double load[MAX_LINKS] = { 0 }, fastest[MAX_LINKS] = { 0 };
    for (int32_t i = 0; i < MAX_BUNDLES; i++)
        for (int32_t k = 0; b[i].there && k < b[i].n; k++) {
            load[b[i].uses[k].link] += b[i].uses[k].count * lockstep_rate(l, i);
            fastest[b[i].uses[k].link] = fmax(fastest[b[i].uses[k].link], lockstep_rate(l, i));
        }
    for (int32_t a = 0; a < n_links; a++)
        assert_true(load[a] <= bw[a] * (1 + 1e-10));
    for (int32_t i = 0; i < MAX_BUNDLES; i++) {
        double rate = lockstep_rate(l, i);
        bool held = rate >= b[i].cap_Bps * (1 - 1e-10);
        assert_true(!b[i].there || rate <= b[i].cap_Bps * (1 + 1e-10));
        for (int32_t k = 0; b[i].there && k < b[i].n; k++) {
            int32_t a = b[i].uses[k].link;
            held = held || (load[a] >= bw[a] * (1 - 1e-10) && rate >= fastest[a] * (1 - 1e-10));
        }
        assert_true(!b[i].there || held);
    }
}

static void rates_are_max_min_fair_whatever_came_and_went(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct bundle b[MAX_BUNDLES] = { 0 };
        double bw[MAX_LINKS];
        struct rng *rng;
        struct err e = { 0 };
        assert_ok(rng_build(&rng, seed, 0, &e), &e);
        int32_t n_links = 3 + (int32_t)rng_below(rng, MAX_LINKS - 3);
        for (int32_t a = 0; a < n_links; a++)
            bw[a] = seed % 2 ? 10 : rng_log_range(rng, 1, 100); /* odd seeds: many ties */
        struct lockstep *l = build(bw, n_links), *fresh = build(bw, n_links);
        for (int32_t round = 0; round < 150; round++) {
            for (int64_t k = rng_below(rng, 4); k >= 0; k--) {
                int32_t i = (int32_t)rng_below(rng, MAX_BUNDLES);
                lockstep_remove(l, i);
                b[i].there = false;
                if (rng_below(rng, 3) == 0)
                    continue;
                draw(&b[i], n_links, seed % 3 == 0, rng);
                add(l, i, b[i].uses, b[i].n, b[i].cap_Bps);
            }
            settle(l);
            check_optimal(l, bw, n_links, b);
        }
        for (int32_t i = 0; i < MAX_BUNDLES; i++)
            if (b[i].there)
                add(fresh, i, b[i].uses, b[i].n, b[i].cap_Bps);
        settle(fresh);
        for (int32_t i = 0; i < MAX_BUNDLES; i++)
            if (b[i].there)
                assert_close(lockstep_rate(l, i), lockstep_rate(fresh, i), 1e-10);
        lockstep_forget(l);
        settle(l);
        for (int32_t i = 0; i < MAX_BUNDLES; i++)
            if (b[i].there)
                assert_close(lockstep_rate(l, i), lockstep_rate(fresh, i), 1e-10);
        lockstep_free(fresh);
        lockstep_free(l);
        rng_free(rng);
    }
}

/* ---- against single flows ---- */

static void take_rate(void *data, int64_t tag, double rate_Bps)
{
    double *rates = data;
    rates[tag] = rate_Bps;
}

/* A flow over all arcs of a bundle, each as often as it is used, moves as fast as the slowest of its hops: by
 * the sharing of sim/flow, which is another program. With one hop a bundle it is a flow of its own. */
static void rates_are_those_of_flows_over_the_same_links(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double bw[MAX_LINKS], lat[MAX_LINKS] = { 0 }, share[MAX_LINKS], rates[MAX_BUNDLES] = { 0 };
        struct flow_net *net;
        struct rng *rng;
        struct err e = { 0 };
        assert_ok(rng_build(&rng, seed, 1, &e), &e);
        for (int32_t a = 0; a < MAX_LINKS; a++) {
            bw[a] = rng_log_range(rng, 1, 50);
            share[a] = 1;
        }
        struct topo_routes r = { .n_arcs = MAX_LINKS, .bw_Bps = bw, .lat_s = lat, .share = share };
        struct lockstep *l = build(bw, MAX_LINKS);
        assert_ok(flow_net_build(&net, &r, &e), &e);
        for (int32_t i = 0; i < MAX_BUNDLES; i++) {
            struct bundle b;
            int32_t arcs[2 * MAX_USES * MAX_USES], n = 0;
            draw(&b, MAX_LINKS, false, rng);
            for (int32_t k = 0; k < b.n; k++) {
                b.uses[k].count = seed % 2 ? 1 : b.uses[k].count;
                for (int32_t c = 0; c < b.uses[k].count; c++)
                    arcs[n++] = b.uses[k].link;
            }
            add(l, i, b.uses, b.n, INFINITY);
            const struct flow_spec spec = { arcs, n, 1e9, 0, 0, i };
            assert_ok(flow_add(net, &spec, &e), &e);
        }
        settle(l);
        assert_true(flow_next_s(net) > 0);
        flow_each_rate(net, false, take_rate, rates);
        for (int32_t i = 0; i < MAX_BUNDLES; i++)
            assert_close(lockstep_rate(l, i), rates[i], 1e-10);
        flow_net_free(net);
        lockstep_free(l);
        rng_free(rng);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_link_is_shared_by_transfers_not_by_bundles),
        cmocka_unit_test(what_a_slow_bundle_leaves_goes_to_the_others),
        cmocka_unit_test(a_bundle_apart_from_the_change_is_not_told),
        cmocka_unit_test(rates_are_max_min_fair_whatever_came_and_went),
        cmocka_unit_test(rates_are_those_of_flows_over_the_same_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
