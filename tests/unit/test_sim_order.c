/* The orders of events.h: schedules by hand, and optima. */
#include "base/rng.h"
#include "sim/events/events.h"
#include "sim/cluster/pace.h"
#include "tests/settings.h"
#include "tests/unit/cluster_fixture.h"

static void run_on(struct events_result *r, const struct cluster *c, const struct job *jobs, int32_t n,
                   const struct events_settings *s)
{
    const struct pace_graph_settings speed = pace_graph_settings_default();
    struct pace pace;
    MUST(pace_graph_build(&pace, c, jobs, n, &speed, e));
    const struct events_problem p = { c, jobs, n, &pace };
    MUST(events_run(r, &p, s, e));
    pace.free(pace.x);
}

/* On two servers of `gpus` GPUs together. */
static void run(struct events_result *r, double gpus, const struct job *jobs, int32_t n,
                const struct events_settings *s)
{
    const double each[] = { gpus, 0 };
    KEEP(struct cluster, c, cluster_free);
    fixture_uneven(&c, "switch:2@10", each);
    run_on(r, &c, jobs, n, s);
}

/* A run that is released where the block ends. */
#define RUN(v, ...)                                                                                          \
    KEEP(struct events_result, v, events_result_free);                                                       \
    run(&v, __VA_ARGS__)

struct want {
    double start_s, end_s;
    int32_t stops;
};

static void check(const struct events_result *r, const struct want *want)
{
    for (int32_t i = 0; i < r->n_jobs; i++) {
        assert_int_equal(r->jobs[i].end, EVENTS_DONE);
        assert_near(r->jobs[i].start_s, want[i].start_s, 1e-9);
        assert_near(r->jobs[i].end_s, want[i].end_s, 1e-9);
        assert_int_equal(r->jobs[i].stops, want[i].stops);
    }
}

static struct events_settings with(enum events_order order)
{
    WITH(struct events_settings, s, events_settings_default(), s.order = order);
    return s;
}

/* Jobs on so many GPUs, each as "submit gpus seconds: start end stops". */
static void schedule(const struct events_settings *s, double gpus, const char *text)
{
    struct job jobs[4];
    struct want want[4];
    int32_t n = 0;
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        double submit_s, width, seconds;
        assert_in_range(n, 0, COUNT_OF(jobs) - 1);
        assert_int_equal(sscanf(at, "%lf %lf %lf: %lf %lf %d", &submit_s, &width, &seconds, &want[n].start_s,
                                &want[n].end_s, &want[n].stops),
                         6);
        jobs[n++] = fixture_job(submit_s, (int32_t)width, seconds, 1);
    }
    RUN(r, gpus, jobs, n, s);
    check(&r, want);
}

/* The first has 3 of 4 GPUs until 10; the next needs 4, then two need one. */
TEST(fifo_lets_all_wait_for_the_first)
{
    const struct events_settings s = with(EVENTS_FIFO);
    schedule(&s, 4, "0 3 10: 0 10 0, 1 4 5: 10 15 0, 2 1 1: 15 16 0, 3 1 20: 15 35 0");
}

TEST(backfilling_does_not_delay_the_first)
{
    WITH(struct events_settings, s, with(EVENTS_FIFO), s.backfill = true);
    /* One ends before 10, the last would not. */
    schedule(&s, 4, "0 3 10: 0 10 0, 1 4 5: 10 15 0, 2 1 1: 2 3 0, 3 1 20: 15 35 0");
    /* One GPU is spare when the first in the queue starts: one may start, two may not. */
    schedule(&s, 5, "0 3 10: 0 10 0, 1 4 5: 10 15 0, 3 1 20: 3 23 0, 4 1 20: 15 35 0");
}

TEST(sjf_starts_the_shortest_job_and_stops_nobody)
{
    const struct events_settings s = with(EVENTS_SJF);
    schedule(&s, 1, "0 1 5: 0 5 0, 1 1 3: 6 9 0, 2 1 1: 5 6 0");
    /* Two GPUs for 3 s are shorter than one for 5 s. */
    schedule(&s, 2, "0 2 1: 0 1 0, .5 2 3: 1 4 0, .6 1 5: 4 9 0");
}

TEST(sjf_gpu_starts_the_smallest_job_and_stops_nobody)
{
    const struct events_settings s = with(EVENTS_SJF_GPU);
    schedule(&s, 1, "0 1 5: 0 5 0, 1 1 3: 6 9 0, 2 1 1: 5 6 0");
    /* Size is GPUs times time: one GPU for 5 s is less than two for 3 s. */
    schedule(&s, 2, "0 2 1: 0 1 0, .5 2 3: 6 9 0, .6 1 5: 1 6 0");
}

TEST(srtf_runs_who_has_least_left)
{
    const struct job jobs[] = { fixture_job(0, 1, 5, 1), fixture_job(1, 1, 3, 1), fixture_job(2, 1, 1, 1) };
    struct events_settings s = with(EVENTS_SRTF);
    schedule(&s, 1, "0 1 5: 0 9 1, 1 1 3: 1 5 1, 2 1 1: 2 3 0");
    RUN(r, 1, jobs, 3, &s);
    assert_int_equal(r.stops, 2);
    assert_near(r.jobs[0].run_s, 5, 1e-9);
    assert_near(r.jobs[0].wait_s, 4, 1e-9);
    /* Going on costs half a second each time. */
    s.overhead_s = 0.5;
    schedule(&s, 1, "0 1 5: 0 10 1, 1 1 3: 1 5.5 1, 2 1 1: 2 3 0");
    RUN(late, 1, jobs, 3, &s);
    assert_near(late.jobs[0].run_s, 5.5, 1e-9);
}

/* A gang of two is stopped by a shorter one of one; a third fills what is left: the first runs 1 s, then 9 s
 * from 3 on; the third 1 to 3 with 18 s left, then from 12 on. */
TEST(who_does_not_fit_leaves_room_to_those_behind)
{
    const struct events_settings s = with(EVENTS_SRTF);
    schedule(&s, 2, "0 2 10: 0 12 1, 1 1 2: 1 3 0, 1 1 20: 1 30 1");
}

TEST(las_falls_from_queue_to_queue_by_gpu_seconds)
{
    WITH(struct events_settings, s, with(EVENTS_LAS), s.las_queues = 2, s.las_at[0] = 3);
    schedule(&s, 1, "0 1 5: 0 7 1, 1 1 2: 3 5 0");
    /* Two GPUs fall after half the time; both in the second queue, the first submitted goes on. */
    schedule(&s, 2, "0 2 5: 0 6.5 1, 1 2 2: 1.5 7 1");
    /* Three queues: what was attained before counts. 0 falls at 3; 1 at 6; 0 after 2 s more, at 8; 1 at 10.
     */
    s.las_queues = 3;
    s.las_at[1] = 5;
    schedule(&s, 1, "0 1 7: 0 12 2, .5 1 6: 3 13 2");
}

TEST(continuous_las_takes_turns)
{
    WITH(struct events_settings, s, with(EVENTS_LAS), s.las_queues = 0, s.round_s = 1);
    schedule(&s, 1, "0 1 3: 0 5 2, 0 1 3: 1 6 2"); /* 0, 1, 0, 1, 0 and the rest of 1 */
}

/* At 1e18 s neighbouring times are 128 s apart; what matters is that there is an end. */
TEST(rounds_shorter_than_rounding_end)
{
    const struct job jobs[] = { fixture_job(1e18, 1, 10, 128), fixture_job(1e18, 1, 10, 128) };
    WITH(struct events_settings, s, with(EVENTS_LAS), s.las_queues = 0, s.round_s = 1);
    RUN(r, 1, jobs, 2, &s);
    assert_int_equal(r.n_done, 2);
}

/* The example of A. Ghodsi et al., NSDI 2011, section 4.1: 9 CPUs, 18 GB; tasks of <1 CPU, 4 GB> and <3, 1>:
 * three and two of them run. */
TEST(drf_gives_what_its_paper_says)
{
    static const char *const names[] = { "GPUs", "CPUs", "GB" };
    static const double per_server[] = { 100, 9, 18, 0, 0, 0 };
    const struct cluster_offer offer = { 3, names, per_server, true };
    struct job jobs[20];
    struct topo_network net;
    KEEP(struct cluster, c, cluster_free);
    struct events_settings s = with(EVENTS_DRF);
    KEEP(struct events_result, r, events_result_free);
    int32_t running[2] = { 0 };
    OK(topo_parse_spec(&net, "switch:2@10", e));
    OK(cluster_build(&c, &net, 0, &offer, e));
    for (int32_t i = 0; i < 20; i++) {
        jobs[i] = fixture_job(0, 1, 10, 1);
        jobs[i].tenant = i / 10;
        jobs[i].demand[1] = i < 10 ? 1 : 3;
        jobs[i].demand[2] = i < 10 ? 4 : 1;
    }
    s.horizon_s = 5;
    run_on(&r, &c, jobs, 20, &s);
    for (int32_t i = 0; i < 20; i++)
        running[i / 10] += r.jobs[i].end == EVENTS_RUNS;
    assert_true(running[0] == 3 && running[1] == 2);
}

TEST(drf_serves_the_tenant_with_least)
{
    /* Tenant 5 has both GPUs until 4 and wants both again; tenant 2 comes at 1 and wants one. */
    struct job jobs[] = { fixture_job(0, 1, 4, 1), fixture_job(0, 1, 4, 1), fixture_job(0, 2, 4, 1),
                          fixture_job(1, 1, 1, 1) };
    const struct want want[] = { { 0, 4, 0 }, { 0, 4, 0 }, { 5, 9, 0 }, { 4, 5, 0 } };
    const struct want heavy[] = { { 0, 4, 0 }, { 0, 4, 0 }, { 4, 8, 0 }, { 8, 9, 0 } };
    const struct events_settings s = with(EVENTS_DRF);
    jobs[0].tenant = jobs[1].tenant = jobs[2].tenant = 5;
    jobs[3].tenant = 2;
    RUN(r, 2, jobs, 4, &s);
    check(&r, want);
    events_result_free(&r);
    /* With a weight of 4, two GPUs of tenant 5 are less than one of tenant 2. */
    jobs[0].weight = 4;
    run(&r, 2, jobs, 4, &s);
    check(&r, heavy);
    /* Jobs without a tenant: progressive filling reaches the smallest gang first. */
    schedule(&s, 3, "0 3 1: 1 2 0, 0 2 1: 0 1 0, 0 1 1: 0 1 0");
}

/* ---- optima ---- */

/* Least sum of completion times on one machine where jobs may stop at whole seconds: every way tried.
 * Stopping elsewhere does not help, as all times are whole. */
static int32_t least_sum(int32_t now, int32_t *left, const int32_t *submit, int32_t n)
{
    int32_t best = INT32_MAX, n_left = 0;
    for (int32_t i = 0; i < n; i++)
        n_left += left[i] > 0;
    if (n_left == 0)
        return 0;
    for (int32_t i = 0; i < n; i++)
        if (left[i] > 0 && submit[i] <= now) {
            left[i]--;
            int32_t rest = least_sum(now + 1, left, submit, n);
            rest += left[i] == 0 ? now + 1 : 0;
            best = rest < best ? rest : best;
            left[i]++;
        }
    return best < INT32_MAX ? best : least_sum(now + 1, left, submit, n);
}

TEST(srtf_is_optimal_on_one_gpu)
{
    enum { N = 4 };
    const struct events_settings s = with(EVENTS_SRTF);
    RNG(rng, 11, 0);
    for (int32_t round = 0; round < 40; round++) {
        struct job jobs[N];
        int32_t left[N], submit[N];
        double sum_s = 0;
        for (int32_t i = 0; i < N; i++) {
            left[i] = 1 + (int32_t)rng_below(rng, 3);
            submit[i] = (int32_t)rng_below(rng, 6);
            jobs[i] = fixture_job(submit[i], 1, left[i], 1);
        }
        RUN(r, 1, jobs, N, &s);
        for (int32_t i = 0; i < N; i++)
            sum_s += r.jobs[i].end_s;
        assert_close(sum_s, (double)least_sum(0, left, submit, N), 1e-12);
    }
}

TEST(srtf_waits_less_than_fifo_on_a_pool_of_gpus)
{
    enum { N = 300 };
    RNG(rng, 4, 0);
    for (int32_t round = 0; round < 5; round++) {
        const struct events_settings fifo = with(EVENTS_FIFO), srtf = with(EVENTS_SRTF);
        struct job jobs[N];
        for (int32_t i = 0; i < N; i++)
            jobs[i] = fixture_job(rng_range(rng, 0, 300), 1, rng_log_range(rng, 1, 100), 1);
        RUN(first, 20, jobs, N, &fifo);
        RUN(shortest, 20, jobs, N, &srtf);
        assert_true(shortest.mean_jct_s < first.mean_jct_s);
    }
}

/* Of 8 CPUs on two servers each job takes 3 for its GPU: sums say that 5 fit, places that 4 do. */
TEST(scattered_resources_leave_jobs_waiting)
{
    static const char *const names[] = { "GPUs", "CPUs" };
    static const double per_server[] = { 8, 8 };
    const struct cluster_offer offer = { 2, names, per_server, false };
    struct job jobs[6];
    struct topo_network net;
    KEEP(struct cluster, c, cluster_free);
    OK(topo_parse_spec(&net, "switch:2@10", e));
    OK(cluster_build(&c, &net, 0, &offer, e));
    for (int order = 0; order < N_EVENTS_ORDERS; order++) {
        const struct events_settings s = with((enum events_order)order);
        KEEP(struct events_result, r, events_result_free);
        for (int32_t i = 0; i < 6; i++) {
            jobs[i] = fixture_job(0, 1, 10 + i, 1);
            jobs[i].demand[1] = 3;
        }
        run_on(&r, &c, jobs, 6, &s);
        assert_int_equal(r.n_done, 6);
        for (int32_t i = 0; i < 4; i++)
            assert_true(r.jobs[i].start_s == 0);
        assert_close(r.jobs[4].start_s, 10, 1e-12);
        assert_close(r.jobs[5].start_s, 11, 1e-12);
    }
}

TEST(every_order_and_way_has_its_word_and_says_what_it_does)
{
    for (int i = 0; i < N_EVENTS_ORDERS; i++)
        assert_true(events_orders[i]->name && events_orders[i]->help);
    for (int i = 0; i < N_PACK_KINDS; i++)
        assert_true(pack_ways[i].name && pack_ways[i].help);
}
