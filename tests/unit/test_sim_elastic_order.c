#include "base/rng.h"
#include "tests/settings.h"
#include "tests/unit/slots_fixture.h"

static int run_on(struct elastic_result *r, const char *scheduler, const struct cluster *c,
                  const struct elastic_job *jobs, int32_t n, const struct elastic_settings *s, struct err *e)
{
    return elastic_run(r, scheduler_named(scheduler), c, jobs, n, s, true, e);
}

/* Workers of each job, slot by slot, are those of @p want, shape [n_slots][n]. */
static void assert_runs(const char *scheduler, const double gpus[2], const struct elastic_job *jobs,
                        int32_t n, const struct elastic_settings *s, const int32_t *want)
{
    KEEP(struct elastic_result, r, elastic_result_free);
    KEEP(struct cluster, c, cluster_free) = star_of(2, gpus, 10);
    MUST(run_on(&r, scheduler, &c, jobs, n, s, e));
    for (int32_t t = 1; t <= s->n_slots; t++)
        for (int32_t i = 0; i < n; i++)
            if (workers_of(&r, t, i) != want[(t - 1) * n + i]) {
                print_error("%s: slot %d: job %d has %d workers, want %d\n", scheduler, (int)t, (int)i,
                            (int)workers_of(&r, t, i), (int)want[(t - 1) * n + i]);
                fail();
            }
}

/* ---- first in, first out; least attained service ---- */

/* a takes 3 of 4 GPUs for two slots. Behind it b, which needs 2, waits; so does c, though it would fit. */
TEST(fifo_lets_nobody_overtake_and_las_does)
{
    const struct elastic_job jobs[] = { plain_job("a", 1, 3, 6), plain_job("b", 1, 2, 2),
                                        plain_job("c", 1, 1, 1) };
    static const int32_t fifo[] = { 3, 0, 0, 3, 0, 0, 0, 2, 1 };
    /* c slips in beside a; then b, which has had nothing, comes before a. */
    static const int32_t las[] = { 3, 0, 1, 0, 2, 0, 3, 0, 0 };
    struct elastic_settings s = slots_of(3);
    assert_runs("fifo", (const double[]){ 2, 2 }, jobs, 3, &s, fifo);
    s.las_queues = 0;
    assert_runs("las", (const double[]){ 2, 2 }, jobs, 3, &s, las);
}

/* The number of a job says nothing, its arrival does. */
TEST(fifo_goes_by_arrival)
{
    const struct elastic_job jobs[] = { plain_job("b", 2, 2, 4), plain_job("a", 1, 2, 6) };
    static const int32_t want[] = { 0, 2, 0, 2, 0, 2, 2, 0, 2, 0 };
    struct elastic_settings s = slots_of(5);
    assert_runs("fifo", (const double[]){ 1, 1 }, jobs, 2, &s, want);
}

/* Both take all of 2 GPUs for 4 slots; b comes in slot 3. With two queues and a step of 4, a falls to the
 * second one after two slots, b too after slot 4, and inside it a is first. Continuous: a is served again as
 * soon as b has had as much, and then they take turns. */
TEST(las_queues_serve_in_order_of_arrival_inside)
{
    const struct elastic_job jobs[] = { plain_job("a", 1, 2, 8), plain_job("b", 3, 2, 8) };
    static const int32_t queues[] = { 2, 0, 2, 0, 0, 2, 0, 2, 2, 0, 2, 0, 0, 2, 0, 2 };
    static const int32_t turns[] = { 2, 0, 2, 0, 0, 2, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2 };
    struct elastic_settings s = slots_of(8);
    s.las_queues = 2;
    s.las_step = 4;
    assert_runs("las", (const double[]){ 1, 1 }, jobs, 2, &s, queues);
    s.las_queues = 0;
    assert_runs("las", (const double[]){ 1, 1 }, jobs, 2, &s, turns);
    s.las_queues = 1; /* one queue is first in, first out where all jobs are alike */
    assert_runs("las", (const double[]){ 1, 1 }, jobs, 2, &s,
                (const int32_t[]){ 2, 0, 2, 0, 2, 0, 2, 0, 0, 2, 0, 2, 0, 2, 0, 2 });
}

/* 5 worker-slots on 3 workers: 3, then 2. */
TEST(a_fixed_number_shrinks_to_what_the_budget_leaves)
{
    const struct elastic_job job = plain_job("a", 1, 3, 5);
    struct elastic_settings s = slots_of(3);
    assert_runs("fifo", (const double[]){ 2, 2 }, &job, 1, &s, (const int32_t[]){ 3, 2, 0 });
    assert_runs("las", (const double[]){ 2, 2 }, &job, 1, &s, (const int32_t[]){ 3, 2, 0 });
}

/* "big" asks for 5 workers where there are 4, or for 11 B/s a hop where links have 10: it waits, is counted,
 * and nobody behind it waits for it. */
TEST(a_ring_without_a_place_waits_and_holds_nobody_up)
{
    static const char *const fixed[] = { "fifo", "las" };
    struct elastic_settings s = elastic_settings_default();
    KEEP(struct cluster, c, cluster_free) = star_of(2, (const double[]){ 2, 2 }, 10);
    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        for (int how = 0; how < 3; how++) {
            struct elastic_job jobs[] = { plain_job("big", 1, 5, how ? 4 : 50), plain_job("b", 1, 1, 1) };
            KEEP(struct elastic_result, r, elastic_result_free);
            jobs[0].hop_Bps = how == 2 ? 11 : 1;
            OK(run_on(&r, fixed[i], &c, jobs, 2, &s, e));
            assert_int_equal(r.slots[0].note.stuck, how != 1);
            assert_int_equal(r.jobs[0].first_slot, how == 1); /* with a budget of 4 it asks for 4 */
            assert_int_equal(r.jobs[1].first_slot, how == 1 ? 2 : 1);
        }
}

/* ---- dominant resource fairness ---- */

/* A. Ghodsi et al., NSDI 2011, section 4.1: 9 CPUs and 18 GB; tasks of <1, 4> and <3, 1>: 3 and 2 tasks. */
TEST(drf_solves_the_example_of_its_paper)
{
    static const char *const names[] = { "cpu", "mem" };
    static const double each[] = { 9, 18, 0, 0 }, Bps[] = { 10, 10 };
    static const int32_t rack[] = { 0, 0 };
    const struct cluster_racks racks = { 2, 1, rack, Bps, Bps, 0 };
    const struct cluster_offer offer = { 2, names, each, true };
    struct elastic_job jobs[] = { plain_job("a", 1, 20, INFINITY), plain_job("b", 1, 20, INFINITY) };
    struct elastic_settings s = slots_of(1);
    KEEP(struct elastic_result, r, elastic_result_free);
    KEEP(struct cluster, c, cluster_free);
    jobs[0].demand[1] = 4;
    jobs[1].demand[0] = 3;
    jobs[1].demand[1] = 1;
    OK(cluster_build_racks(&c, &racks, &offer, e));
    OK(run_on(&r, "drf", &c, jobs, 2, &s, e));
    assert_int_equal(workers_of(&r, 1, 0), 3);
    assert_int_equal(workers_of(&r, 1, 1), 2);
}

/* A pool of one resource: all of it is given, or everybody has what he can use; who could use more has at
 * most one worker less than anybody. */
static void check_max_min(struct rng *r)
{
    enum { JOBS = 8 };
    int32_t n = 1 + (int32_t)rng_below(r, JOBS), sum = 0, wanted = 0;
    double gpus[] = { (double)(1 + rng_below(r, 30)), 0 };
    struct elastic_job jobs[JOBS];
    struct elastic_settings s = slots_of(1);
    KEEP(struct elastic_result, x, elastic_result_free);
    for (int32_t i = 0; i < n; i++) {
        jobs[i] = plain_job("job", 1, 1 + (int32_t)rng_below(r, 12), INFINITY);
        wanted += jobs[i].max_workers;
    }
    KEEP(struct cluster, c, cluster_free) = star_of(2, gpus, 10);
    MUST(run_on(&x, "drf", &c, jobs, n, &s, e));
    for (int32_t i = 0; i < n; i++) {
        int32_t own = workers_of(&x, 1, i);
        sum += own;
        assert_true(own <= jobs[i].max_workers);
        for (int32_t k = 0; k < n && own < jobs[i].max_workers; k++)
            assert_true(own >= workers_of(&x, 1, k) - 1);
    }
    assert_int_equal(sum, wanted < gpus[0] ? wanted : (int32_t)gpus[0]);
}

TEST(drf_is_max_min_fair_on_one_pool)
{
    RNG(r, 3, 0);
    for (int i = 0; i < 200; i++)
        check_max_min(r);
}

/* Workers of a, b and c take 1, 2 and 1 of 6 GPUs: a b c, then a c while b has the largest share. A seventh
 * GPU goes to a: all shares are equal, and b, which takes two, has no room. */
TEST(drf_goes_by_shares_and_not_by_workers)
{
    struct elastic_job jobs[] = { plain_job("a", 1, 9, INFINITY), plain_job("b", 1, 9, INFINITY),
                                  plain_job("c", 1, 9, INFINITY) };
    struct elastic_settings s = slots_of(1);
    jobs[1].demand[0] = 2;
    assert_runs("drf", (const double[]){ 6, 0 }, jobs, 3, &s, (const int32_t[]){ 2, 1, 2 });
    assert_runs("drf", (const double[]){ 7, 0 }, jobs, 3, &s, (const int32_t[]){ 3, 1, 2 });
}

/* Two servers of 1 GPU; rings over both need 6 of the links' 10 B/s, so that only one of two jobs can grow.
 */
TEST(drf_grows_no_ring_that_links_cannot_carry)
{
    struct elastic_job jobs[] = { plain_job("a", 1, 2, INFINITY), plain_job("b", 1, 2, INFINITY) };
    struct elastic_settings s = slots_of(1);
    jobs[0].hop_Bps = jobs[1].hop_Bps = 6;
    jobs[0].demand[0] = jobs[1].demand[0] = 0.5;
    /* One worker of each on one server; then a on both, and b has no way to the other. */
    assert_runs("drf", (const double[]){ 1, 1 }, jobs, 2, &s, (const int32_t[]){ 2, 1 });
    jobs[1].hop_Bps = 4;
    assert_runs("drf", (const double[]){ 1, 1 }, jobs, 2, &s, (const int32_t[]){ 2, 2 });
}

/* What is given never exceeds what is there: the run itself watches; here with many jobs that come and go. */
TEST(random_jobs_run_within_servers_and_links)
{
    enum { JOBS = 30, SLOTS = 40 };
    struct elastic_job jobs[JOBS];
    struct elastic_settings s = slots_of(SLOTS);
    RNG(r, 4, 0);
    for (int round = 0; round < 10; round++) {
        double gpus[6];
        for (int i = 0; i < 6; i++)
            gpus[i] = (double)(1 + rng_below(r, 4));
        KEEP(struct cluster, c, cluster_free) = star_of(6, gpus, 10);
        for (int32_t i = 0; i < JOBS; i++) {
            jobs[i] = plain_job("job", 1 + (int32_t)rng_below(r, SLOTS), 1 + (int32_t)rng_below(r, 5),
                                (double)(1 + rng_below(r, 40)));
            jobs[i].hop_Bps = rng_range(r, 0, 5);
        }
        for (int32_t k = 0; k < elastic_n_schedulers; k++) {
            KEEP(struct elastic_result, x, elastic_result_free);
            double used = 0, workers = 0;
            OK(elastic_run(&x, elastic_schedulers[k], &c, jobs, JOBS, &s, false, e));
            for (int32_t i = 0; i < JOBS; i++) {
                used += x.jobs[i].used;
                assert_true(x.jobs[i].used <= jobs[i].budget);
                assert_true(!x.jobs[i].first_slot || x.jobs[i].first_slot >= jobs[i].arrival);
            }
            for (int t = 0; t < SLOTS; t++)
                workers += x.slots[t].workers;
            assert_true(used == workers && workers > 0);
        }
    }
}
