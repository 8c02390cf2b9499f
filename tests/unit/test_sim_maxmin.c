#include "sim/flow/maxmin.h"

#include "base/rng.h"
#include "tests/support.h"

KEEPS(struct maxmin, maxmin_free)

enum { MAX_LINKS = 40, MAX_BUNDLES = 60, MAX_USES = 6 };

struct bundle {
    struct maxmin_use uses[MAX_USES];
    int32_t n;
    double cap_Bps;
    bool there;
};

static struct maxmin *build(const double *bw_Bps, int32_t n_links)
{
    struct maxmin *m;
    const struct maxmin_settings settings = {
        .same_rate = 1 + 0x1p-38, .keep_rate = 1 + 0x1p-40, .rounds = 8, .n_capped = MAX_BUNDLES
    };
    MUST(maxmin_build(&m, bw_Bps, n_links, &settings, e));
    return m;
}

static void add(struct maxmin *m, int32_t id, const struct maxmin_use *uses, int32_t n, double cap_Bps)
{
    MUST(maxmin_place(m, id, uses, n, cap_Bps, e));
    maxmin_join(m, id);
}

static int32_t settle(struct maxmin *m)
{
    const int32_t *changed;
    int32_t n;
    maxmin_settle(m, &changed, &n);
    return n;
}

TEST(a_link_is_shared_by_transfers_not_by_bundles)
{
    const double bw[] = { 12, 100 };
    const struct maxmin_use once[] = { { 0, 1 } }, twice[] = { { 0, 2 }, { 1, 1 } };
    KEEP(struct maxmin *, m, maxmin_free_at) = build(bw, 2);
    add(m, 0, once, 1, INFINITY);
    assert_true(settle(m) == 1 && maxmin_rate(m, 0) == 12);
    add(m, 1, once, 1, INFINITY);
    assert_true(settle(m) == 2 && maxmin_rate(m, 0) == 6 && maxmin_rate(m, 1) == 6);
    add(m, 2, twice, 2, INFINITY); /* four transfers on link 0 */
    assert_int_equal(settle(m), 3);
    for (int32_t i = 0; i < 3; i++)
        assert_true(maxmin_rate(m, i) == 3);
    maxmin_remove(m, 0);
    maxmin_remove(m, 0);
    maxmin_remove(m, 1);
    assert_true(settle(m) == 1 && maxmin_rate(m, 2) == 6);
    maxmin_free(NULL);
}

TEST(what_a_slow_bundle_leaves_goes_to_the_others)
{
    /* Bundle 0 is held to 4 by link 1, so bundle 1 has 8 of link 0; with a cap of 1, it has 11. */
    const double bw[] = { 12, 4 };
    const struct maxmin_use both[] = { { 0, 1 }, { 1, 1 } }, first[] = { { 0, 1 } };
    KEEP(struct maxmin *, m, maxmin_free_at) = build(bw, 2);
    add(m, 0, both, 2, INFINITY);
    add(m, 1, first, 1, INFINITY);
    settle(m);
    assert_true(maxmin_rate(m, 0) == 4 && maxmin_rate(m, 1) == 8);
    maxmin_remove(m, 0);
    add(m, 0, both, 2, 1);
    settle(m);
    assert_true(maxmin_rate(m, 0) == 1 && maxmin_rate(m, 1) == 11);
}

TEST(a_bundle_apart_from_the_change_is_not_told)
{
    const double bw[] = { 10, 20 };
    const struct maxmin_use first[] = { { 0, 1 } }, second[] = { { 1, 1 } };
    KEEP(struct maxmin *, m, maxmin_free_at) = build(bw, 2);
    const int32_t *changed;
    int32_t n;
    add(m, 7, first, 1, INFINITY);
    settle(m);
    add(m, 3, second, 1, INFINITY);
    maxmin_settle(m, &changed, &n);
    assert_true(n == 1 && changed[0] == 3);
    maxmin_settle(m, &changed, &n);
    assert_int_equal(n, 0);
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
            b->uses[b->n++] = (struct maxmin_use){ link, 0 };
        b->uses[k].count += 1 + (int32_t)rng_below(rng, 2);
    }
    if (caps && rng_below(rng, 3) == 0)
        b->cap_Bps = rng_log_range(rng, 0.1, 10);
}

/* Bertsekas and Gallager's condition: everybody has a full link where nobody is faster, or its cap; and no
 * link carries more than it can. */
static void check_optimal(const struct maxmin *m, const double *bw, int32_t n_links, const struct bundle *b)
{
    double load[MAX_LINKS] = { 0 }, fastest[MAX_LINKS] = { 0 };
    for (int32_t i = 0; i < MAX_BUNDLES; i++)
        for (int32_t k = 0; b[i].there && k < b[i].n; k++) {
            load[b[i].uses[k].link] += b[i].uses[k].count * maxmin_rate(m, i);
            fastest[b[i].uses[k].link] = fmax(fastest[b[i].uses[k].link], maxmin_rate(m, i));
        }
    for (int32_t a = 0; a < n_links; a++)
        assert_true(load[a] <= bw[a] * (1 + 1e-10));
    for (int32_t i = 0; i < MAX_BUNDLES; i++) {
        if (!b[i].there)
            continue;
        double rate = maxmin_rate(m, i);
        bool held = rate >= b[i].cap_Bps * (1 - 1e-10);
        assert_true(rate <= b[i].cap_Bps * (1 + 1e-10));
        for (int32_t k = 0; k < b[i].n; k++) {
            int32_t a = b[i].uses[k].link;
            held = held || (load[a] >= bw[a] * (1 - 1e-10) && rate >= fastest[a] * (1 - 1e-10));
        }
        assert_true(held);
    }
}

/* Rates of those who are there, if nothing had happened before. */
static void check_afresh(const struct maxmin *m, const double *bw, int32_t n_links, const struct bundle *b)
{
    KEEP(struct maxmin *, fresh, maxmin_free_at) = build(bw, n_links);
    for (int32_t i = 0; i < MAX_BUNDLES; i++)
        if (b[i].there)
            add(fresh, i, b[i].uses, b[i].n, b[i].cap_Bps);
    settle(fresh);
    for (int32_t i = 0; i < MAX_BUNDLES; i++)
        if (b[i].there)
            assert_close(maxmin_rate(m, i), maxmin_rate(fresh, i), 1e-10);
}

/* Some bundles go, some come. */
static void change(struct maxmin *m, struct bundle *b, int32_t n_links, bool caps, struct rng *rng)
{
    for (int64_t k = rng_below(rng, 4); k >= 0; k--) {
        int32_t i = (int32_t)rng_below(rng, MAX_BUNDLES);
        maxmin_remove(m, i);
        b[i].there = false;
        if (rng_below(rng, 3) == 0)
            continue;
        draw(&b[i], n_links, caps, rng);
        add(m, i, b[i].uses, b[i].n, b[i].cap_Bps);
    }
}

static void settle_in_steps(struct maxmin *m)
{
    const int32_t *changed;
    int32_t n;
    while (maxmin_settle_next(m, &changed, &n))
        continue;
}

TEST(rates_are_max_min_fair_whatever_came_and_went)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct bundle b[MAX_BUNDLES] = { 0 };
        double bw[MAX_LINKS];
        RNG(rng, seed, 0);
        int32_t n_links = 3 + (int32_t)rng_below(rng, MAX_LINKS - 3);
        for (int32_t a = 0; a < n_links; a++)
            bw[a] = seed % 2 ? 10 : rng_log_range(rng, 1, 100); /* odd seeds: many ties */
        KEEP(struct maxmin *, m, maxmin_free_at) = build(bw, n_links);
        for (int32_t round = 0; round < 150; round++) {
            change(m, b, n_links, seed % 3 == 0, rng);
            if (seed % 4 < 2)
                settle(m);
            else
                settle_in_steps(m);
            check_optimal(m, bw, n_links, b);
            if (round % 10 == 9)
                check_afresh(m, bw, n_links, b);
        }
    }
}

/* More offers than fit into one heap: they go on shelves. */
TEST(many_bundles_on_many_links_are_shared_fairly)
{
    enum { N = 400 };
    double bw[N], load[N] = { 0 };
    KEEP(struct maxmin *, m, maxmin_free_at);
    const struct maxmin_settings settings = { .same_rate = 1, .keep_rate = 1, .rounds = 8 };
    for (int32_t i = 0; i < N; i++)
        bw[i] = 1 + 1e6 * ((i * 37) % N);
    OK(maxmin_build(&m, bw, N, &settings, e));
    /* Bundle i passes links i and i + 1: the narrower decides, but for what its neighbours leave. */
    for (int32_t i = 0; i + 1 < N; i++) {
        const struct maxmin_use uses[] = { { i, 1 }, { i + 1, 1 } };
        add(m, i, uses, 2, INFINITY);
    }
    assert_int_equal(settle(m), N - 1);
    for (int32_t i = 0; i + 1 < N; i++) {
        load[i] += maxmin_rate(m, i);
        load[i + 1] += maxmin_rate(m, i);
    }
    for (int32_t i = 0; i < N; i++)
        assert_true(load[i] <= bw[i] * (1 + 1e-12));
    for (int32_t i = 0; i + 1 < N; i++) {
        bool held = false;
        for (int32_t a = i; a <= i + 1; a++) {
            double before = a > 0 ? maxmin_rate(m, a - 1) : 0, after = a + 1 < N ? maxmin_rate(m, a) : 0;
            held = held ||
                   (load[a] >= bw[a] * (1 - 1e-12) && maxmin_rate(m, i) >= fmax(before, after) * (1 - 1e-12));
        }
        assert_true(held);
    }
}

TEST(a_bundle_that_has_only_its_place_takes_no_share)
{
    const double bw[] = { 12 };
    const struct maxmin_use use = { 0, 1 };
    KEEP(struct maxmin *, m, maxmin_free_at) = build(bw, 1);
    OK(maxmin_place(m, 1, &use, 1, INFINITY, e));
    add(m, 0, &use, 1, INFINITY);
    settle_in_steps(m);
    assert_true(maxmin_rate(m, 0) == 12 && maxmin_rate(m, 1) == 0);
    maxmin_join(m, 1);
    settle_in_steps(m);
    assert_true(maxmin_rate(m, 0) == 6 && maxmin_rate(m, 1) == 6);
}
