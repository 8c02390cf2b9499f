#include "tests/support.h"

#include "base/rng.h"
#include "sim/cluster/gadget_price.h"
#include "tests/unit/elastic_oracle.h"

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
    struct gadget_fabric f;
    struct gadget_prices prices;
    struct gadget_pricer pricer;
    struct gadget_found found;
    struct err e = { 0 };
    assert_ok(gadget_fabric_build(&f, c, racks, &e), &e);
    assert_ok(gadget_prices_build(&prices, &f, &e), &e);
    assert_ok(gadget_pricer_build(&pricer, &prices, ORACLE_WORKERS, &e), &e);
    pricer.steps = INT64_MAX;
    for (int32_t i = 0; i < x->n_jobs; i++) {
        draw_prices(worker, arc, c, rng);
        gadget_prices_set(&prices, worker, arc);
        for (int32_t k = 1; k <= ORACLE_WORKERS; k++)
            gain[k] = gain[k - 1] + 0.4 * rng_uniform(rng);
        struct gadget_offer o = {
            .job = &x->jobs[i], .gain = gain, .least = 1, .most = ORACLE_WORKERS, .search = true
        };
        gadget_price(&found, &pricer, &o);
        check_found(&found, c, &o, worker, arc);
        o.least = o.most = 1 + (int32_t)rng_below(rng, ORACLE_WORKERS);
        o.floor = 0.3;
        gadget_price(&found, &pricer, &o);
        check_found(&found, c, &o, worker, arc);
    }
    gadget_pricer_free(&pricer);
    gadget_prices_free(&prices);
    gadget_fabric_free(&f);
}

static void priced_ring_is_the_best_of_all_rings(void **state)
{
    (void)state;
    for (int32_t number = 0; number < 600; number++) {
        struct oracle_case x;
        struct rng *rng;
        struct err e = { 0 };
        oracle_case_build(&x, number);
        assert_ok(rng_build(&rng, 1, (uint64_t)number, &e), &e);
        price_case(&x, rng, true);
        price_case(&x, rng, false);
        rng_free(rng);
        oracle_case_free(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(priced_ring_is_the_best_of_all_rings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
