#include "tests/settings.h"
#include "tests/unit/cluster_fixture.h"

#include "sim/slots/gadget.h"

/* Four servers at one switch, by links of 10 GB/s, and two jobs. */
struct small {
    struct cluster cluster;
    struct elastic_job jobs[2];
    struct gadget_lp lp;
    struct gadget_round round;
};

static const double nothing[2];
static const double fours[] = { 4, 4, 4, 4 };
static const int32_t both[] = { 0, 1 };

static struct elastic_job job_of(int32_t workers, double gpus, double hop_Bps, double value)
{
    return (struct elastic_job){ .id = "j",
                                 .arrival = 1,
                                 .max_workers = workers,
                                 .fixed_workers = workers,
                                 .demand = { gpus },
                                 .budget = INFINITY,
                                 .hop_Bps = hop_Bps,
                                 .zeta = 1,
                                 .aim = { .kind = UTILITY_LINEAR, .scale = value },
                                 .leave_frac = INFINITY };
}

static void small_build(struct small *x, const double *gpus)
{
    const struct elastic_slot slot = { .cluster = &x->cluster,
                                       .jobs = x->jobs,
                                       .n_jobs = 2,
                                       .slot = 1,
                                       .used = nothing,
                                       .done = nothing,
                                       .active = both,
                                       .n_active = 2 };
    fixture_racks(&x->cluster, 4, NULL, gpus, 10e9, 0);
    MUST(gadget_lp_build(&x->lp, &x->cluster, x->jobs, 2, true, e));
    MUST(gadget_lp_open(&x->lp, &slot, e));
    MUST(gadget_round_build(&x->round, &x->lp, e));
}

static void small_free(struct small *x)
{
    gadget_round_free(&x->round);
    gadget_lp_free(&x->lp);
    cluster_free(&x->cluster);
}

/*
 * On a server of 4 GPUs three workers of one GPU and two of two: Delta = 3^2 + 2^2 = 13; on a server's link
 * one hop of each: Delta = 2. The largest share of a capacity is a worker's 2 of 4, before a hop's 2.5 of 10
 * GB/s.
 */
TEST(limits_are_those_done_by_hand)
{
    KEEP(struct small, x, small_free) = { .jobs = { job_of(3, 1, 1e9, 1), job_of(2, 2, 2.5e9, 1) } };
    struct gadget_limits limits;
    small_build(&x, fours);
    gadget_round_limits(&limits, &x.round);
    assert_close(limits.eps, 0.5, 1e-15);
    assert_close(limits.node_beta[0], 1 + 0.5 * sqrt(2 * 13 * log(4)), 1e-12);
    assert_close(limits.link_gamma, 1 + 0.5 * sqrt(2 * 2 * log(8)), 1e-12);
    /* A job that got no size counts for nothing. */
    x.lp.bids[1].least_size = 1;
    x.lp.bids[1].most_size = 0;
    gadget_round_limits(&limits, &x.round);
    assert_close(limits.node_beta[0], 1 + 0.25 * sqrt(2 * 9 * log(4)), 1e-12);
    assert_close(limits.link_gamma, 1 + 0.25 * sqrt(2 * 1 * log(8)), 1e-12);
}

/* The same by definition, for drawn sizes and links: of a job in no ring that is to be had nothing counts. */
TEST(limits_are_those_of_their_definition)
{
    RNG(rng, 11, 2);
    for (int k = 0; k < repeats(200); k++) {
        KEEP(struct small, x, small_free) = { .jobs = { { .id = NULL } } };
        struct gadget_limits limits;
        double gpus[4], node = 0, own = 0, eps = 0;
        for (int s = 0; s < 4; s++)
            gpus[s] = 1 + (double)rng_below(rng, 8);
        for (int i = 0; i < 2; i++) {
            x.jobs[i] = job_of(8, 1 + (double)rng_below(rng, 3), 2.5e9 * (double)rng_below(rng, 20), 1);
            x.jobs[i].offers_rates = rng_below(rng, 2);
        }
        small_build(&x, gpus);
        for (int i = 0; i < x.lp.n_bids; i++) {
            x.lp.bids[i].least_size = 1 + (int32_t)rng_below(rng, 3);
            x.lp.bids[i].most_size = (int32_t)rng_below(rng, 7);
        }
        for (int i = 0; i < x.lp.n_bids; i++) {
            const struct gadget_bid *bid = &x.lp.bids[i];
            double hop_Bps = x.jobs[bid->job].hop_Bps;
            for (int half = 0; half < 2 && x.jobs[bid->job].offers_rates; half++)
                hop_Bps /= hop_Bps > 10e9 ? 2 : 1;
            if (bid->least_size <= bid->most_size && bid->most_size > 1 && hop_Bps > 0 && hop_Bps <= 10e9) {
                own += 1;
                eps = fmax(eps, hop_Bps / 10e9);
            }
        }
        for (int s = 0; s < 4; s++) {
            double sum = 0;
            for (int i = 0; i < x.lp.n_bids; i++) {
                const struct gadget_bid *bid = &x.lp.bids[i];
                double demand = x.jobs[bid->job].demand[0],
                       load = fmin(bid->most_size, floor(gpus[s] / demand));
                if (bid->least_size <= bid->most_size && load >= 1) {
                    sum += load * load;
                    eps = fmax(eps, demand / gpus[s]);
                }
            }
            node = fmax(node, sum);
        }
        gadget_round_limits(&limits, &x.round);
        assert_close(limits.eps, eps, 1e-15);
        assert_close(limits.node_beta[0], 1 + eps * sqrt(2 * node * log(4)), 1e-12);
        assert_close(limits.link_gamma, 1 + eps * sqrt(2 * own * log(8)), 1e-12);
    }
}

static int32_t add_share(struct small *x, int32_t job, int32_t server, int32_t workers, double share)
{
    struct gadget_ring ring = { .n = 1, .workers_total = workers };
    int32_t column;
    ring.servers[0] = server;
    ring.workers[0] = workers;
    MUST(gadget_lp_add(&column, &x->lp, job, &ring, e));
    x->lp.pool.columns[column].share = share;
    return column;
}

/* 20,000 draws: four standard deviations are less than 0.015. */
TEST(rings_are_drawn_as_often_as_their_shares_say)
{
    enum { DRAWS = 20000 };
    KEEP(struct small, x, small_free) = { .jobs = { job_of(3, 1, 1e9, 1), job_of(2, 2, 1e9, 1) } };
    struct elastic_settings settings = elastic_settings_default();
    const struct gadget_limits limits = { 1, { 1 }, 1 };
    int32_t a = 0, b = 0, none = 0, other = 0, together = 0;
    small_build(&x, fours);
    int32_t of_a = add_share(&x, 0, 0, 3, 0.25), of_b = add_share(&x, 0, 1, 2, 0.5);
    int32_t of_other = add_share(&x, 1, 2, 2, 0.4);
    settings.samples = 1;
    settings.paper_rounding = true;
    for (int32_t n = 0; n < DRAWS; n++) {
        x.lp.slot = n + 1;
        OK(gadget_round_draw(&x.round, &settings, 0, &limits, e));
        a += x.round.best[0] == of_a;
        b += x.round.best[0] == of_b;
        none += x.round.best[0] == -1;
        other += x.round.best[1] == of_other;
        together += x.round.best[0] == of_a && x.round.best[1] == of_other;
    }
    assert_near((double)a / DRAWS, 0.25, 0.015);
    assert_near((double)b / DRAWS, 0.5, 0.015);
    assert_near((double)none / DRAWS, 0.25, 0.015);
    assert_near((double)other / DRAWS, 0.4, 0.015);
    assert_near((double)together / DRAWS, 0.25 * 0.4, 0.015); /* jobs do not see each other */
}

/* Step C: the size whose gain times share is largest. Gains are 1, 2, 3; of job 1 nothing has a share. */
TEST(the_size_is_that_of_gain_and_share_together)
{
    static const struct {
        double share[3]; /* of rings of 1, 2 and 3 workers */
        int32_t size;
    } cases[] = { { { 0.5, 0.2, 0.3 }, 3 }, { { 0.8, 0.05, 0.15 }, 1 }, { { 0.4, 0.35, 0.2 }, 2 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct small, x, small_free) = { .jobs = { job_of(3, 1, 1e9, 1), job_of(2, 2, 1e9, 1) } };
        small_build(&x, fours);
        for (int32_t k = 0; k < 3; k++)
            add_share(&x, 0, k, k + 1, cases[i].share[k]);
        gadget_lp_fix_sizes(&x.lp);
        assert_int_equal(x.lp.bids[0].least_size, cases[i].size);
        assert_int_equal(x.lp.bids[0].most_size, cases[i].size);
        assert_true(x.lp.bids[1].least_size > x.lp.bids[1].most_size);
    }
}

/* The paper's rounding draws again until a draw is worth a third of the programme: 9, not the 1 of every
 * fourth of five draws. Of 12 a third is 4. */
TEST(the_papers_rounding_wants_a_third_of_the_programme)
{
    KEEP(struct small, x, small_free) = { .jobs = { job_of(2, 1, 1e9, 4), job_of(1, 1, 1e9, 1) } };
    struct elastic_settings settings = elastic_settings_default();
    const struct gadget_limits limits = { 1, { 1 }, 1 };
    small_build(&x, fours);
    int32_t large = add_share(&x, 0, 0, 2, 0.2), small = add_share(&x, 1, 1, 1, 1);
    settings.samples = 1000;
    settings.paper_rounding = true;
    for (int32_t n = 0; n < 50; n++) {
        x.lp.slot = n + 1;
        OK(gadget_round_draw(&x.round, &settings, 12, &limits, e));
        assert_int_equal(x.round.best[0], large);
        assert_int_equal(x.round.best[1], small);
    }
}

/* No draw is good, and all exceed the limits alike, on either of two servers: the first one stays. */
TEST(of_draws_that_are_as_bad_the_first_is_kept)
{
    KEEP(struct small, x, small_free) = { .jobs = { job_of(2, 1, 1e9, 4), job_of(1, 1, 1e9, 1) } };
    struct elastic_settings settings = elastic_settings_default();
    const struct gadget_limits limits = { 1, { 1 }, 1 };
    int seen[2] = { 0 };
    small_build(&x, fours);
    int32_t here = add_share(&x, 0, 0, 2, 0.5), there = add_share(&x, 0, 1, 2, 0.5);
    settings.paper_rounding = true;
    for (int32_t n = 0; n < 40; n++) {
        x.lp.slot = n + 1;
        settings.samples = 1;
        OK(gadget_round_draw(&x.round, &settings, 1e9, &limits, e));
        int32_t first = x.round.best[0];
        seen[first == there] += first == here || first == there;
        settings.samples = 20;
        OK(gadget_round_draw(&x.round, &settings, 1e9, &limits, e));
        assert_int_equal(x.round.best[0], first);
    }
    assert_true(seen[0] > 5 && seen[1] > 5);
}

/* Rings of 3 and 2 workers on a server of 4: both are drawn, only one is kept; the paper keeps both. */
TEST(strict_rounding_skips_what_no_longer_fits)
{
    KEEP(struct small, x, small_free) = { .jobs = { job_of(3, 1, 1e9, 2), job_of(2, 1, 1e9, 1) } };
    struct elastic_settings settings = elastic_settings_default();
    const struct gadget_limits limits = { 1, { 2 }, 2 };
    double node, link;
    small_build(&x, fours);
    add_share(&x, 0, 0, 3, 1);
    add_share(&x, 1, 0, 2, 1);
    OK(gadget_round_draw(&x.round, &settings, 8, NULL, e));
    assert_close(gadget_round_value(&x.round), 6, 1e-12); /* the better of the two, in 100 random orders */
    gadget_round_load(&node, &link, &x.round);
    assert_close(node, 0.75, 1e-12);
    settings.paper_rounding = true;
    OK(gadget_round_draw(&x.round, &settings, 8, &limits, e));
    assert_close(gadget_round_value(&x.round), 8, 1e-12);
    gadget_round_load(&node, &link, &x.round);
    assert_close(node, 1.25, 1e-12);
}

/* 6 for one GPU comes before 10 for two, then 5 for the GPU that is left: 11. */
TEST(what_is_left_goes_first_to_the_largest_gain_for_its_share)
{
    static const double gpus[] = { 0, 2, 0, 0 };
    KEEP(struct small, x, small_free) = { .jobs = { job_of(2, 1, 1e9, 5), job_of(1, 1, 1e9, 6) } };
    small_build(&x, gpus);
    x.round.best[0] = x.round.best[1] = -1;
    OK(gadget_round_reoffer(&x.round, e));
    assert_close(gadget_round_value(&x.round), 11, 1e-12);
}

/* Room for a ring of two servers on GPUs, but a ring already placed has taken their links. */
TEST(what_is_left_of_links_counts_too)
{
    static const double gpus[] = { 2, 2, 0, 0 };
    KEEP(struct small, x, small_free) = { .jobs = { job_of(2, 1, 6e9, 5), job_of(2, 1, 6e9, 5) } };
    struct gadget_ring ring = { .n = 2, .workers_total = 2, .servers = { 0, 1 }, .workers = { 1, 1 } };
    small_build(&x, gpus);
    OK(gadget_lp_add(&x.round.best[0], &x.lp, 0, &ring, e));
    x.round.best[1] = -1;
    OK(gadget_round_reoffer(&x.round, e));
    assert_int_equal(x.lp.pool.columns[x.round.best[1]].workers_total, 1);
}
