/* Edge connectivity: known graphs, and random ones against all divisions in two. */
#include "tests/support.h"

#include "base/rng.h"
#include "topo/cut.h"

enum { MOST_LINKS = 64 };

struct list {
    int64_t ends[2 * MOST_LINKS], n;
};

static void join(struct list *l, int64_t a, int64_t b)
{
    l->ends[2 * l->n] = a;
    l->ends[2 * l->n + 1] = b;
    l->n++;
}

static int64_t least_cut(int64_t n_vertices, const struct list *l)
{
    struct err e;
    int64_t n = -1;
    assert_int_equal(topo_least_cut(&n, n_vertices, l->ends, l->n, &e), 0);
    return n;
}

/* Every division in two, vertex 0 on the first side. */
static int64_t least_of_all(int64_t n_vertices, const struct list *l)
{
    int64_t best = l->n;
    for (uint64_t side = 1; side < 1u << (n_vertices - 1); side++) {
        int64_t cut = 0;
        for (int64_t i = 0; i < l->n; i++)
            cut += ((side << 1) >> l->ends[2 * i] & 1) != ((side << 1) >> l->ends[2 * i + 1] & 1);
        best = cut < best ? cut : best;
    }
    return best;
}

TEST(known_graphs_have_their_connectivity)
{
    struct list none = { .n = 0 }, ring = { .n = 0 }, line = { .n = 0 }, full = { .n = 0 }, pair = { .n = 0 };
    for (int64_t v = 0; v < 8; v++) {
        join(&ring, v, (v + 1) % 8);
        if (v < 7)
            join(&line, v, v + 1);
        for (int64_t w = v + 1; w < 8; w++)
            join(&full, v, w);
    }
    for (int i = 0; i < 5; i++)
        join(&pair, 1, 0);
    join(&pair, 0, 0);
    assert_int_equal(least_cut(1, &none), 0);
    assert_int_equal(least_cut(2, &none), 0);
    assert_int_equal(least_cut(8, &ring), 2);
    assert_int_equal(least_cut(9, &ring), 0); /* one vertex alone */
    assert_int_equal(least_cut(8, &line), 1);
    assert_int_equal(least_cut(8, &full), 7);
    assert_int_equal(least_cut(2, &pair), 5);
}

TEST(a_bridge_between_dense_halves_is_found)
{
    struct list l = { .n = 0 };
    for (int64_t half = 0; half < 2; half++)
        for (int64_t v = 0; v < 5; v++)
            for (int64_t w = v + 1; w < 5; w++)
                join(&l, 5 * half + v, 5 * half + w);
    join(&l, 0, 7);
    join(&l, 3, 9);
    assert_int_equal(least_cut(10, &l), 2);
}

TEST(random_graphs_have_the_least_of_all_divisions)
{
    struct rng *r = NULL;
    OK(rng_build(&r, 11, 0, e));
    for (int round = 0; round < 3000; round++) {
        struct list l = { .n = 0 };
        int64_t n = 2 + rng_below(r, 7), n_links = rng_below(r, MOST_LINKS / 2);
        while (l.n < n_links)
            join(&l, rng_below(r, n), rng_below(r, n));
        assert_int_equal(least_cut(n, &l), least_of_all(n, &l));
    }
    rng_free(r);
}
