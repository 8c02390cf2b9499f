#include "base/rng.h"
#include "sim/slots/gadget.h"
#include "tests/unit/cluster_fixture.h"
#include "tests/unit/elastic_oracle.h"

/* All that it takes to price rings on a cluster. */
struct pricing {
    struct gadget_fabric f;
    struct gadget_prices prices;
    struct gadget_pricer pricer;
    struct gadget_found found;
};

static void pricing_build(struct pricing *x, const struct cluster *c, bool racks, int32_t most_workers)
{
    MUST(gadget_fabric_build(&x->f, c, racks, e));
    MUST(gadget_prices_build(&x->prices, &x->f, e));
    MUST(gadget_pricer_build(&x->pricer, &x->prices, most_workers, e));
}

static void pricing_free(struct pricing *x)
{
    gadget_pricer_free(&x->pricer);
    gadget_prices_free(&x->prices);
    gadget_fabric_free(&x->f);
}

/* Prices of servers' units and arcs: many are 0, as in a programme; arcs of any size against each other. */
static void draw_prices(double *worker, double *arc, const struct cluster *c, struct rng *rng)
{
    for (int32_t i = 0; i < c->n_servers * c->n_resources; i++)
        worker[i] = rng_below(rng, 3) ? 0.2 * rng_uniform(rng) : 0;
    for (int32_t i = 0; i < c->n_arcs; i++)
        arc[i] = rng_below(rng, 2) ? 0.2e-9 * rng_uniform(rng) : 0;
}

static double ring_price(const struct cluster *c, const struct elastic_job *job,
                         const struct oracle_ring *ring, const double *worker, const double *arc)
{
    double load[64], price = 0;
    oracle_load(load, c, job, ring);
    for (int32_t i = 0; i < c->n_servers * c->n_resources; i++)
        price += load[i] * worker[i];
    for (int32_t i = 0; i < c->n_arcs; i++)
        price += load[c->n_servers * c->n_resources + i] * arc[i];
    return price;
}

/* Of all rings, what the best one of least..most workers is worth. */
static double best_by_trying(const struct cluster *c, const struct gadget_offer *o, const double *worker,
                             const double *arc)
{
    struct oracle_rings *all = malloc(sizeof *all);
    double best = -INFINITY;
    assert_non_null(all);
    oracle_list_rings(all, c, o->job, o->most);
    for (int32_t i = 0; i < all->n; i++)
        if (all->rings[i].workers_total >= o->least)
            best = fmax(best, o->gain[all->rings[i].workers_total] -
                                  ring_price(c, o->job, &all->rings[i], worker, arc));
    free(all);
    return best;
}

/* What was found is a ring, costs what is said, and is the best of all. */
static void check_found(const struct gadget_found *found, const struct cluster *c,
                        const struct gadget_offer *o, const double *worker, const double *arc)
{
    double best = best_by_trying(c, o, worker, arc);
    assert_true(found->exact);
    if (!(best > o->floor)) {
        assert_int_equal(found->ring.n, 0);
        assert_true(found->most <= o->floor + 1e-12);
        return;
    }
    struct oracle_ring ring = { .n = found->ring.n, .workers_total = 0 };
    assert_in_range(ring.n, 1, c->n_servers);
    for (int32_t i = 0; i < ring.n; i++) {
        ring.servers[i] = found->ring.servers[i];
        ring.workers[i] = found->ring.workers[i];
        ring.workers_total += ring.workers[i];
        for (int32_t k = 0; k < i; k++)
            assert_int_not_equal(ring.servers[i], ring.servers[k]);
    }
    assert_int_equal(ring.workers_total, found->ring.workers_total);
    assert_in_range(ring.workers_total, o->least, o->most);
    assert_near(found->worth, o->gain[ring.workers_total] - ring_price(c, o->job, &ring, worker, arc), 1e-12);
    assert_near(found->worth, best, 1e-12);
    assert_near(found->most, best, 1e-12);
}

static void price_case(const struct oracle_case *x, struct rng *rng, bool racks)
{
    const struct cluster *c = &x->cluster;
    double worker[64], arc[64], gain[ORACLE_WORKERS + 1] = { 0 };
    KEEP(struct pricing, p, pricing_free);
    pricing_build(&p, c, racks, ORACLE_WORKERS);
    p.pricer.steps = INT64_MAX;
    for (int32_t i = 0; i < x->n_jobs; i++) {
        draw_prices(worker, arc, c, rng);
        gadget_prices_set(&p.prices, worker, arc);
        for (int32_t k = 1; k <= ORACLE_WORKERS; k++)
            gain[k] = gain[k - 1] + 0.4 * rng_uniform(rng);
        struct gadget_offer o = {
            .job = &x->jobs[i], .gain = gain, .least = 1, .most = ORACLE_WORKERS, .search = true
        };
        gadget_price(&p.found, &p.pricer, &o);
        check_found(&p.found, c, &o, worker, arc);
        o.least = o.most = 1 + (int32_t)rng_below(rng, ORACLE_WORKERS);
        o.floor = 0.3;
        gadget_price(&p.found, &p.pricer, &o);
        check_found(&p.found, c, &o, worker, arc);
    }
}

TEST(priced_ring_is_the_best_of_all_rings)
{
    for (int32_t number = 0; number < 600; number++) {
        KEEP(struct oracle_case, x, oracle_case_free);
        oracle_case_build(&x, number);
        RNG(rng, 1, (uint64_t)number);
        price_case(&x, rng, true);
        price_case(&x, rng, false);
    }
}

/* Nine servers of one GPU in three racks; arcs between racks cost 1 to 6, own links nothing. */
static void build_nine(struct cluster *c, double *arc)
{
    static const int32_t rack[] = { 0, 1, 2, 0, 1, 2, 0, 1, 2 };
    static const double gpus[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    fixture_racks(c, 9, rack, gpus, 1e9, 100e9);
    for (int32_t a = 0; a < c->n_arcs; a++)
        arc[a] = 0;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            static const double price[3][3] = { { 0, 1, 4 }, { 5, 0, 2 }, { 3, 6, 0 } };
            struct cluster_path path;
            MUST(cluster_find_path(&path, c, a, b, NULL, e));
            if (a != b)
                arc[path.arcs[1]] = price[a][b] * 1e-9;
        }
}

/* All nine must go around the three racks: 1 + 2 + 3, not 4 + 6 + 5; each rack is left once only. */
TEST(large_rings_go_from_rack_to_rack_the_cheapest_way_around)
{
    KEEP(struct cluster, c, cluster_free);
    double arc[64], worker[9] = { 0 }, gain[10] = { 0 };
    KEEP(struct pricing, p, pricing_free);
    const struct elastic_job job = { .demand = { 1 }, .hop_Bps = 0.5e9 };
    const struct gadget_offer offer = { .job = &job, .gain = gain, .least = 9, .most = 9 };
    build_nine(&c, arc);
    gain[9] = 100;
    pricing_build(&p, &c, true, 9);
    assert_true(p.f.racks);
    assert_int_equal(p.f.n_zones, 3);
    gadget_prices_set(&p.prices, worker, arc);
    gadget_price(&p.found, &p.pricer, &offer);
    assert_true(p.found.exact);
    assert_int_equal(p.found.ring.n, 9);
    assert_near(p.found.worth, 100 - 0.5 * (1 + 2 + 3), 1e-12);
    for (int i = 0; i < 9; i++) {
        int32_t from = p.found.ring.servers[i] % 3, to = p.found.ring.servers[(i + 1) % 9] % 3;
        assert_true(to == from || to == (from + 1) % 3);
    }
    /* The way around is closed: only the other one is left, and the relaxation alone does not see it. */
    struct cluster_path path;
    double left_Bps[64];
    OK(cluster_find_path(&path, &c, 0, 1, NULL, e));
    for (int32_t a = 0; a < c.n_arcs; a++)
        left_Bps[a] = a == path.arcs[1] ? 0.1e9 : c.bw_Bps[a];
    gadget_prices_leave(&p.prices, c.capacity, left_Bps);
    gadget_price(&p.found, &p.pricer, &offer);
    assert_false(p.found.exact);
    assert_near(p.found.worth, 100 - 0.5 * (4 + 6 + 5), 1e-12);
    assert_near(p.found.most, 100 - 0.5 * (1 + 2 + 3), 1e-12);
    /* What lacks by rounding alone is there. */
    left_Bps[path.arcs[1]] = 0.5e9 * (1 - 1e-12);
    gadget_prices_leave(&p.prices, c.capacity, left_Bps);
    gadget_price(&p.found, &p.pricer, &offer);
    assert_true(p.found.exact);
    assert_near(p.found.worth, 100 - 0.5 * (1 + 2 + 3), 1e-12);
}

/* The least that a ring of all servers costs, from order[at] on in any order; @p apart: racks may be left
 * more than once. */
static double cheapest_round(const struct cluster *c, const struct elastic_job *job, struct oracle_ring *ring,
                             int32_t at, const int32_t *rack, bool apart, const double *arc)
{
    static const double free_workers[64] = { 0 };
    if (at == ring->n) {
        int32_t left = 0, racks = 0;
        for (int32_t i = 0; i < ring->n; i++) {
            left += rack[ring->servers[i]] != rack[ring->servers[(i + 1) % ring->n]];
            racks |= 1 << rack[ring->servers[i]];
        }
        bool once = left <= __builtin_popcount((unsigned)racks);
        return once || apart ? ring_price(c, job, ring, free_workers, arc) : (double)INFINITY;
    }
    double least = INFINITY;
    for (int32_t i = at; i < ring->n; i++) {
        int32_t s = ring->servers[at];
        ring->servers[at] = ring->servers[i];
        ring->servers[i] = s;
        least = fmin(least, cheapest_round(c, job, ring, at + 1, rack, apart, arc));
        ring->servers[i] = ring->servers[at];
        ring->servers[at] = s;
    }
    return least;
}

/* All servers of one GPU, without a search: only their order is left to choose, of more than six by racks. */
TEST(a_ring_of_all_goes_round_the_cheapest_way)
{
    RNG(rng, 2, 7);
    for (int number = 0; number < repeats(60); number++) {
        int32_t n = 3 + (int32_t)rng_below(rng, 5), rack[8];
        double gpus[8], arc[64], worker[64] = { 0 }, gain[9] = { 0 };
        KEEP(struct cluster, c, cluster_free);
        KEEP(struct pricing, p, pricing_free);
        const struct elastic_job job = { .demand = { 1 }, .hop_Bps = 0.5e9 };
        const struct gadget_offer offer = { .job = &job, .gain = gain, .least = n, .most = n };
        for (int32_t i = 0; i < n; i++) {
            rack[i] = i < 3 ? i : (int32_t)rng_below(rng, 3);
            gpus[i] = 1;
        }
        fixture_racks(&c, n, rack, gpus, 1e9, 100e9);
        for (int32_t a = 0; a < c.n_arcs; a++)
            arc[a] = 1e-9 * rng_uniform(rng);
        gain[n] = 100;
        pricing_build(&p, &c, true, n);
        gadget_prices_set(&p.prices, worker, arc);
        gadget_price(&p.found, &p.pricer, &offer);
        struct oracle_ring ring = { .n = n, .workers_total = n };
        for (int32_t i = 0; i < n; i++) {
            ring.servers[i] = i;
            ring.workers[i] = 1;
        }
        assert_int_equal(p.found.ring.n, n);
        assert_near(p.found.worth, 100 - cheapest_round(&c, &job, &ring, 1, rack, n <= 6, arc), 1e-12);
    }
}

/* Every server on one switch, the path between two of them decided by their switches: all else is no rack. */
TEST(racks_are_seen_where_there_are_two_levels_only)
{
    CASES(const char *word; bool racks; int32_t n_nodes) = { { "switch:4@1", true, 1 },
                                                             { "ring:4@1", false, 4 },
                                                             { "ring:2@1 switch:3@1", false, 6 },
                                                             { "switch:3@1 switch:2@1", false, 6 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct gadget_fabric f;
        KEEP(struct cluster, c, cluster_free) = cluster_of(cases[i].word, 0, 0, 1);
        OK(gadget_fabric_build(&f, &c, true, e));
        assert_int_equal(f.racks, cases[i].racks);
        assert_int_equal(f.n_nodes, cases[i].n_nodes);
        gadget_fabric_free(&f);
        OK(gadget_fabric_build(&f, &c, false, e));
        assert_false(f.racks);
        gadget_fabric_free(&f);
    }
}

/* Without steps for it the search says nothing, and what is not found is still bounded. */
TEST(bound_holds_without_a_search)
{
    int32_t open = 0;
    for (int32_t number = 1; number < 400; number += 2) {
        KEEP(struct oracle_case, x, oracle_case_free);
        double worker[64], arc[64], gain[ORACLE_WORKERS + 1] = { 0, 0.3, 0.5, 0.9, 1.1, 1.2 };
        KEEP(struct pricing, p, pricing_free);
        oracle_case_build(&x, number);
        RNG(rng, 2, (uint64_t)number);
        draw_prices(worker, arc, &x.cluster, rng);
        pricing_build(&p, &x.cluster, true, ORACLE_WORKERS);
        gadget_prices_set(&p.prices, worker, arc);
        const struct gadget_offer o = {
            .job = &x.jobs[0], .gain = gain, .least = 1, .most = ORACLE_WORKERS, .search = true
        };
        gadget_price(&p.found, &p.pricer, &o); /* steps are 0 */
        double best = best_by_trying(&x.cluster, &o, worker, arc);
        assert_true(p.found.most >= best - 1e-12);
        assert_true(p.found.worth <= best + 1e-12);
        assert_true(!p.found.exact || p.found.worth >= best - 1e-12 || best <= 0);
        open += !p.found.exact;
    }
    assert_true(open > 0);
}
