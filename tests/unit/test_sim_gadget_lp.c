#include "tests/unit/cluster_fixture.h"

#include "sim/slots/gadget.h"
#include "tests/unit/elastic_oracle.h"

enum { CASES = 300 };

/* The programme over every ring, as one: what rings are worth at `done`, sizes least[i]..most[i]. */
static double full_programme(const struct oracle_case *x, const double *done, const int32_t *least,
                             const int32_t *most)
{
    static const struct simplex_way way = { SIMPLEX_FROM_SLACKS, false, 1e-10, INT32_MAX };
    const struct cluster *c = &x->cluster;
    int32_t n_rows = c->n_servers * c->n_resources + c->n_arcs, n = 0;
    struct oracle_rings *all = malloc(sizeof *all);
    enum simplex_status status;
    struct simplex *lp;
    double value = 0, gains[8 * ORACLE_RINGS];
    assert_non_null(all);
    MUST(simplex_build(&lp, e));
    for (int32_t i = 0; i < n_rows; i++)
        MUST(simplex_add_row(lp, -INFINITY,
                             i < c->n_servers * c->n_resources
                                 ? c->capacity[i]
                                 : c->bw_Bps[i - c->n_servers * c->n_resources] / 1e9,
                             0, NULL, NULL, e));
    for (int32_t i = 0; i < x->n_jobs; i++) {
        MUST(simplex_add_row(lp, -INFINITY, 1, 0, NULL, NULL, e));
        for (int rate = 0; rate < (x->jobs[i].offers_rates ? N_ELASTIC_RATES : 1); rate++) {
            const struct elastic_job at = elastic_at_rate(&x->jobs[i], (enum elastic_rate)rate);
            oracle_list_rings(all, c, &at, most[i]);
            for (int32_t k = 0; k < all->n; k++) {
                int32_t rows[65];
                double load[65];
                bool alone = all->rings[k].n == 1;
                if (all->rings[k].workers_total < least[i] ||
                    (at.offers_rates && alone != (rate == ELASTIC_INSIDE)))
                    continue;
                oracle_load(load, c, &at, &all->rings[k]);
                for (int32_t r = 0; r < n_rows; r++) {
                    rows[r] = r;
                    load[r] /= r < c->n_servers * c->n_resources ? 1 : 1e9;
                }
                rows[n_rows] = n_rows + i;
                load[n_rows] = 1;
                double gain = elastic_gain(&at, all->rings[k].workers_total, (enum elastic_rate)rate);
                gains[n] = utility_at(&at.aim, done[i] + gain) - utility_at(&at.aim, done[i]);
                MUST(simplex_add_column(lp, -gains[n++], 0, INFINITY, n_rows + 1, rows, load, e));
            }
        }
    }
    MUST(simplex_solve(&status, lp, &way, 1, e));
    assert_int_equal(status, SIMPLEX_OPTIMAL);
    for (int32_t k = 0; k < n; k++)
        value += gains[k] * simplex_value(lp, k);
    simplex_free(lp);
    free(all);
    return value;
}

enum { ROOM = 64 };
struct opened {
    struct oracle_case x;
    double gains[ORACLE_JOBS][ROOM];
    double used[ORACLE_JOBS], done[ORACLE_JOBS];
    int32_t active[ORACLE_JOBS];
    struct elastic_slot slot;
    struct gadget_lp lp;
};

/* Every other job offers rates: k workers get k, .8 k, .6 k or .5 k of zeta done, one worker all of it. */
static void offer_rates(struct opened *o)
{
    static const double shares[N_ELASTIC_RATES] = { 0.8, 0.6, 0.5, 1 };
    for (int32_t i = 0; i < o->x.n_jobs; i += 2) {
        struct elastic_job *j = &o->x.jobs[i];
        int32_t most = j->max_workers > j->fixed_workers ? j->max_workers : j->fixed_workers;
        assert_true((most + 1) * N_ELASTIC_RATES <= ROOM);
        for (int r = 0; r < N_ELASTIC_RATES; r++)
            for (int32_t k = 0; k <= most; k++)
                o->gains[i][r * (most + 1) + k] = k > 1 ? k * j->zeta * shares[r] : k * j->zeta;
        j->gain = o->gains[i];
        j->offers_rates = true;
    }
}

/* All jobs are there and have done what one worker-slot brings, or nothing. */
static void open_case(struct opened *o, int32_t number, bool racks, bool rates)
{
    oracle_case_build(&o->x, number);
    if (rates)
        offer_rates(o);
    for (int32_t i = 0; i < o->x.n_jobs; i++) {
        o->x.jobs[i].budget = 100;
        o->used[i] = number / 2 % 2;
        o->done[i] = o->used[i] * o->x.jobs[i].zeta;
        o->active[i] = i;
    }
    o->slot = (struct elastic_slot){ .cluster = &o->x.cluster,
                                     .jobs = o->x.jobs,
                                     .n_jobs = o->x.n_jobs,
                                     .slot = 3,
                                     .used = o->used,
                                     .done = o->done,
                                     .active = o->active,
                                     .n_active = o->x.n_jobs };
    MUST(gadget_lp_build(&o->lp, &o->x.cluster, o->x.jobs, o->x.n_jobs, racks, e));
    MUST(gadget_lp_open(&o->lp, &o->slot, e));
}

static void close_case(struct opened *o)
{
    gadget_lp_free(&o->lp);
    oracle_case_free(&o->x);
}

static double value_of_shares(const struct gadget_lp *lp)
{
    double value = 0;
    for (int32_t k = 0; k < lp->pool.n; k++)
        value += lp->pool.columns[k].share * gadget_column_gain(lp, &lp->pool.columns[k]);
    return value * lp->unit;
}

TEST(generated_columns_are_enough_for_the_optimum_over_all_rings)
{
    int64_t columns = 0;
    for (int32_t number = 0; number < CASES; number++)
        for (int way = 0; way < 4; way++) {
            KEEP(struct opened, o, close_case);
            int32_t least[ORACLE_JOBS], most[ORACLE_JOBS];
            double bound;
            open_case(&o, number, way % 2, way > 1);
            for (int32_t i = 0; i < o.x.n_jobs; i++) {
                least[i] = 1;
                most[i] = o.x.jobs[i].max_workers;
            }
            OK(gadget_lp_solve(&bound, &o.lp, e));
            double full = full_programme(&o.x, o.done, least, most);
            assert_close(bound, full, 1e-7);
            assert_close(value_of_shares(&o.lp), full, 1e-7);

            gadget_lp_fix_sizes(&o.lp);
            for (int32_t i = 0; i < o.x.n_jobs; i++) {
                least[i] = o.lp.bids[i].least_size;
                most[i] = o.lp.bids[i].most_size;
                assert_true(least[i] == most[i] || (least[i] == 1 && most[i] == 0));
            }
            OK(gadget_lp_solve(&bound, &o.lp, e));
            assert_close(bound, full_programme(&o.x, o.done, least, most), 1e-7);
            columns += way < 2 ? o.lp.pool.n : 0;
        }
    /* 3,792 of 600 cases: pricing names rings that are worth it. */
    assert_true(columns < 4200);
}

/* Racks {0, 1} and {2, 3}; one job finds what it needs on 0 and 2, the other on 1 and 3. Each has one worker
 * without a hop or two with a ring over the link between the racks, in which both share: 2 and as much of 2
 * more as the link, then the links of servers, have room for. */
TEST(rings_of_different_servers_share_the_link_between_racks)
{
    CASES(double rack_GBps, server_GBps, want; bool racks) = {
        { 1, 10, 3, true }, { 1, 10, 3, false }, { 1.5, 10, 3.5, true }, { 1.5, 10, 3.5, false },
        { 9, 10, 4, true }, { 9, 10, 4, false }, { 2, 1, 4, true },      { 2, 1, 4, false },
    };
    static const char *const names[] = { "gpus", "a", "b" };
    static const double each[] = { 1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1 }, none[2] = { 0 };
    static const int32_t rack[] = { 0, 0, 1, 1 }, active[] = { 0, 1 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const double s_Bps = cases[i].server_GBps * 1e9, server_Bps[] = { s_Bps, s_Bps, s_Bps, s_Bps },
                     rack_Bps[] = { cases[i].rack_GBps * 1e9 };
        const struct cluster_racks of = { 4, 2, rack, server_Bps, rack_Bps, 0 };
        const struct cluster_offer offer = { 3, names, each, true };
        struct elastic_job jobs[2];
        KEEP(struct cluster, c, cluster_free);
        KEEP(struct gadget_lp, lp, gadget_lp_free);
        double bound;
        OK(cluster_build_racks(&c, &of, &offer, e));
        for (int k = 0; k < 2; k++)
            jobs[k] = (struct elastic_job){ .id = "j",
                                            .arrival = 1,
                                            .max_workers = 2,
                                            .fixed_workers = 1,
                                            .demand = { 1, k == 0, k == 1 },
                                            .budget = 100,
                                            .hop_Bps = 1e9,
                                            .zeta = 1,
                                            .leave_frac = INFINITY,
                                            .aim = { .kind = UTILITY_LINEAR, .scale = 1 } };
        const struct elastic_slot slot = { .cluster = &c,
                                           .jobs = jobs,
                                           .n_jobs = 2,
                                           .slot = 1,
                                           .used = none,
                                           .done = none,
                                           .active = active,
                                           .n_active = 2 };
        OK(gadget_lp_build(&lp, &c, jobs, 2, cases[i].racks, e));
        OK(gadget_lp_open(&lp, &slot, e));
        OK(gadget_lp_solve(&bound, &lp, e));
        assert_close(bound, cases[i].want, 1e-7);
        assert_close(value_of_shares(&lp), cases[i].want, 1e-7);
    }
}

TEST(bound_is_no_less_than_the_best_set_of_rings)
{
    for (int32_t number = 0; number < CASES; number++) {
        KEEP(struct opened, o, close_case);
        KEEP(struct oracle_counts, counts, oracle_counts_free);
        double bound;
        open_case(&o, number, true, false);
        OK(gadget_lp_solve(&bound, &o.lp, e));
        oracle_counts_build(&counts, &o.x);
        assert_true(bound >= oracle_slot(&counts, &o.slot) * (1 - 1e-9));
    }
}

/* Capacity of every row and one ring a job, by loads counted anew. */
TEST(shares_together_fit_the_cluster)
{
    for (int32_t number = 0; number < CASES; number++) {
        KEEP(struct opened, o, close_case);
        double bound, sum[64] = { 0 }, jobs[ORACLE_JOBS] = { 0 }, load[64];
        open_case(&o, number, true, false);
        OK(gadget_lp_solve(&bound, &o.lp, e));
        const struct cluster *c = &o.x.cluster;
        int32_t n = c->n_servers * c->n_resources;
        for (int32_t k = 0; k < o.lp.pool.n; k++) {
            const struct gadget_column *column = &o.lp.pool.columns[k];
            struct oracle_ring ring = { .n = column->n, .workers_total = column->workers_total };
            memcpy(ring.servers, o.lp.pool.servers + column->first, (size_t)ring.n * sizeof *ring.servers);
            memcpy(ring.workers, o.lp.pool.workers + column->first, (size_t)ring.n * sizeof *ring.workers);
            oracle_load(load, c, &o.x.jobs[column->job], &ring);
            for (int32_t r = 0; r < n + c->n_arcs; r++)
                sum[r] += column->share * load[r];
            jobs[column->job] += column->share;
        }
        for (int32_t r = 0; r < n + c->n_arcs; r++)
            assert_true(sum[r] <= (r < n ? c->capacity[r] : c->bw_Bps[r - n]) * (1 + 1e-8));
        for (int32_t i = 0; i < o.x.n_jobs; i++)
            assert_true(jobs[i] <= 1 + 1e-8);
    }
}

/* The programme built anew, with the columns of the last slots or without any, has the same optimum. */
TEST(clearing_the_pool_changes_no_bound)
{
    for (int32_t number = 0; number < 100; number++) {
        KEEP(struct opened, o, close_case);
        double before, with, without;
        open_case(&o, number, true, false);
        OK(gadget_lp_solve(&before, &o.lp, e));
        int32_t n = o.lp.pool.n;
        o.lp.n_kept = -2000; /* any pool has more than doubled since */
        OK(gadget_lp_open(&o.lp, &o.slot, e));
        assert_int_equal(o.lp.pool.n, n);
        OK(gadget_lp_solve(&with, &o.lp, e));
        assert_close(with, before, 1e-7);
        o.lp.n_kept = -2000;
        o.slot.slot += 100;
        OK(gadget_lp_open(&o.lp, &o.slot, e));
        assert_int_equal(o.lp.pool.n, 0);
        OK(gadget_lp_solve(&without, &o.lp, e));
        assert_close(without, before, 1e-7);
    }
}

TEST(sizes_offered_end_where_workers_budget_or_room_do)
{
    const int32_t active[] = { 0, 1, 2, 3 };
    const double each[] = { 3, 1 }, none[4] = { 0 }, used[] = { 0, 2, 0, 0 };
    struct elastic_job jobs[4];
    KEEP(struct cluster, c, cluster_free);
    KEEP(struct gadget_lp, lp, gadget_lp_free);
    fixture_racks(&c, 2, NULL, each, 1e9, 0);
    for (int i = 0; i < 4; i++)
        jobs[i] = (struct elastic_job){ .id = "j",
                                        .arrival = 1,
                                        .max_workers = 8,
                                        .fixed_workers = 1,
                                        .demand = { 1 },
                                        .budget = INFINITY,
                                        .zeta = 1,
                                        .aim = { .kind = UTILITY_LINEAR, .scale = 1 } };
    jobs[0].max_workers = 2; /* its own limit */
    jobs[1].budget = 5.5;    /* 3.5 worker-slots are left */
    jobs[3].demand[0] = 2;   /* one on the first server, none on the second */
    const struct elastic_slot slot = { .cluster = &c,
                                       .jobs = jobs,
                                       .n_jobs = 4,
                                       .slot = 1,
                                       .used = used,
                                       .done = none,
                                       .active = active,
                                       .n_active = 4 };
    OK(gadget_lp_build(&lp, &c, jobs, 4, true, e));
    OK(gadget_lp_open(&lp, &slot, e));
    assert_int_equal(lp.bids[0].most, 2);
    assert_int_equal(lp.bids[1].most, 3);
    assert_int_equal(lp.bids[2].most, 4);
    assert_int_equal(lp.bids[3].most, 1);
    assert_int_equal(lp.gamma, 4);
}
