/* Clusters of several types of NPU: who runs on which, by hand. Orders themselves: test_sim_order.c. */
#include "base/rng.h"
#include "sim/cluster/pace.h"
#include "sim/events/events.h"
#include "sim/events/gavel_lp.h"
#include "tests/settings.h"
#include "tests/unit/cluster_fixture.h"

/* Servers of a GPU each, fast[0] of type 0 and fast[1] of type 1. */
static void fixture_types(struct cluster *c, const int32_t *servers)
{
    static const double one[] = { 1, 1, 1, 1 };
    char spec[32];
    snprintf(spec, sizeof spec, "switch:%d@10", (int)(servers[0] + servers[1]));
    fixture_uneven(c, spec, one);
    MUST(cluster_set_types(c, servers, 2, e));
}

static int try_run(struct events_result *r, const struct cluster *c, const struct job *jobs, int32_t n,
                   const struct events_settings *s, struct err *why)
{
    const struct pace_graph_settings speed = pace_graph_settings_default();
    struct pace pace;
    MUST(pace_graph_build(&pace, c, jobs, n, &speed, e));
    const struct events_problem p = { c, jobs, n, &pace };
    int rc = events_run(r, &p, s, why);
    pace.free(pace.x);
    return rc;
}

/* A job "submit gpus iterations fast slow: start end stops", an iteration taking 1 s over its speed on each
 * type. */
static int32_t read_jobs(struct job *jobs, double (*want)[3], const char *text)
{
    int32_t n = 0;
    for (const char *at = text; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL, n++) {
        double submit_s, gpus, iterations, speed[2];
        assert_in_range(n, 0, 4);
        assert_int_equal(sscanf(at, "%lf %lf %lf %lf %lf: %lf %lf %lf", &submit_s, &gpus, &iterations,
                                &speed[0], &speed[1], &want[n][0], &want[n][1], &want[n][2]),
                         8);
        jobs[n] = fixture_job(submit_s, (int32_t)gpus, iterations, 1);
        memcpy(jobs[n].speed, speed, sizeof speed);
    }
    return n;
}

static void schedule(const struct events_settings *s, int32_t fast, int32_t slow, const char *text)
{
    struct job jobs[5];
    double want[5][3];
    int32_t n = read_jobs(jobs, want, text);
    KEEP(struct cluster, c, cluster_free);
    KEEP(struct events_result, r, events_result_free);
    fixture_types(&c, (int32_t[]){ fast, slow });
    MUST(try_run(&r, &c, jobs, n, s, e));
    for (int32_t i = 0; i < n; i++) {
        assert_near(r.jobs[i].start_s, want[i][0], 1e-9);
        assert_near(r.jobs[i].end_s, want[i][1], 1e-9);
        assert_int_equal(r.jobs[i].stops, (int)want[i][2]);
    }
}

static struct events_settings with(enum events_order order)
{
    WITH(struct events_settings, s, events_settings_default(), s.order = order);
    return s;
}

TEST(jobs_take_the_fastest_type_that_has_room)
{
    for (int order = EVENTS_FIFO; order <= EVENTS_DRF; order++) {
        const struct events_settings s = with((enum events_order)order);
        schedule(&s, 2, 2,
                 "0 1 8 2 1: 0 4 0, 0 1 8 2 1: 0 4 0, 0 1 8 2 1: 0 8 0, 0 1 8 2 1: 0 8 0, 0 1 8 2 1: 4 8 0");
        /* What is fast for one is slow for another. */
        schedule(&s, 1, 1, "0 1 8 1 2: 0 4 0, 0 1 8 2 1: 0 4 0");
        /* One of each is free, which is no place for two; the last one runs on type 1 alone. */
        schedule(&s, 2, 2, "0 1 8 2 1: 0 4 0, 0 1 6 0 1: 0 6 0, 1 2 12 2 1: 4 10 0");
    }
}

TEST(backfilling_keeps_the_type_that_the_first_waits_for)
{
    WITH(struct events_settings, s, with(EVENTS_FIFO), s.backfill = true);
    /* Two fast ones from 10 on are the second's: the third is done by then, the fourth takes the slow one,
     * the fifth would end at 15 and waits. */
    schedule(&s, 2, 1,
             "0 1 20 2 1: 0 10 0, 1 2 10 2 1: 10 15 0, 2 1 4 2 1: 2 4 0, 3 1 20 2 1: 3 23 0, "
             "5 1 20 2 1: 15 25 0");
    /* The slow ones are free first, at 4, where it waits for them: until then nobody gets them who does not
     * end. */
    schedule(&s, 2, 2, "0 2 40 2 1: 0 20 0, 0 1 4 0 1: 0 4 0, 1 2 8 2 1: 4 12 0, 2 1 3 2 1: 12 15 0");
}

TEST(who_is_stopped_goes_on_where_there_is_room)
{
    const struct events_settings s = with(EVENTS_SRTF);
    /* At 2 the second has 2 s left and the first 8: it goes to the slow one, and stays there. */
    schedule(&s, 1, 1, "0 1 20 2 1: 0 18 1, 2 1 4 2 1: 2 4 0");
    /* It does not run there: it waits. */
    schedule(&s, 1, 1, "0 1 20 2 0: 0 12 1, 2 1 4 2 0: 2 4 0");
}

TEST(gpu_seconds_are_counted_by_type)
{
    struct job jobs[5];
    double want[5][3];
    const struct events_settings s = with(EVENTS_SRTF);
    int32_t n = read_jobs(jobs, want, "0 1 20 2 1: 0 18 1, 2 1 4 2 1: 2 4 0");
    KEEP(struct cluster, c, cluster_free);
    KEEP(struct events_result, r, events_result_free);
    fixture_types(&c, (int32_t[]){ 1, 1 });
    OK(try_run(&r, &c, jobs, n, &s, e));
    assert_near(r.gpu_s[0], 4, 1e-9);
    assert_near(r.gpu_s[1], 16, 1e-9);
    assert_near(r.gpu_frac, 20 / 36.0, 1e-9);
}

TEST(a_job_that_no_type_takes_is_named)
{
    struct job jobs[5];
    double want[5][3];
    const struct events_settings s = with(EVENTS_FIFO);
    KEEP(struct cluster, c, cluster_free);
    fixture_types(&c, (int32_t[]){ 2, 2 });
    int32_t n = read_jobs(jobs, want, "0 1 1 1 1: 0 0 0, 0 3 8 2 1: 0 0 0");
    struct events_result r;
    FAILS(try_run(&r, &c, jobs, n, &s, e), ERR_RANGE,
          "job job1: runs on no type of NPU of the cluster, expected one that it fits with 3 GPUs");
    events_result_free(&r);
    jobs[1] = jobs[0];
    jobs[1].speed[0] = jobs[1].speed[1] = 0;
    FAILS(try_run(&r, &c, jobs, n, &s, e), ERR_RANGE, "job job1: runs on no type of NPU");
    events_result_free(&r);
    jobs[1].speed[1] = -1;
    FAILS(try_run(&r, &c, jobs, n, &s, e), ERR_RANGE, "job job1: speed is -1, expected a number >= 0");
    events_result_free(&r);
    FAILS(cluster_set_types(&c, (int32_t[]){ 2, 3 }, 2, e), ERR_RANGE,
          "cluster: 2 types of NPU have 5 servers, expected 1 to 8 with 4");
}

/* ---- Gavel ---- */

/* Two kinds of jobs and two types of NPU are few enough to try the shares of the first type, a grid; those of
 * the second that reach a least gain follow. */
enum { MOST = 3, GRID = 20 };

static bool reaches(const struct gavel_lp *p, const double *first, double least)
{
    double used = 0;
    for (int32_t i = 0; i < p->n; i++) {
        double lacks = least - p->gain[2 * i] * first[i], x = lacks > 0 ? lacks / p->gain[2 * i + 1] : 0;
        if (!(x <= 1 - first[i] + 1e-12))
            return false;
        used += p->count[i] * p->gpus[i] * x;
    }
    return used <= p->room[1] + 1e-12;
}

static double best_of_grid(const struct gavel_lp *p)
{
    double best = 0;
    int32_t n = 1;
    for (int32_t i = 0; i < p->n; i++)
        n *= GRID + 1;
    for (int32_t k = 0; k < n; k++) {
        double first[MOST], used = 0, high = best;
        int32_t digits = k;
        for (int32_t i = 0; i < p->n; i++, digits /= GRID + 1) {
            first[i] = (double)(digits % (GRID + 1)) / GRID;
            used += p->count[i] * p->gpus[i] * first[i];
        }
        if (used > p->room[0] + 1e-12 || !reaches(p, first, best))
            continue;
        for (double step = 8; step > 1e-6; step /= 2)
            high += reaches(p, first, high + step) ? step : 0;
        best = high;
    }
    return best;
}

static void check_shares(const struct gavel_lp *p, const double *x, double least)
{
    double used[2] = { 0, 0 }, found = INFINITY;
    for (int32_t i = 0; i < p->n; i++) {
        double sum = 0, gain = 0;
        for (int32_t j = 0; j < 2; j++) {
            assert_true(x[2 * i + j] >= 0 && (p->gain[2 * i + j] > 0 || x[2 * i + j] == 0));
            sum += x[2 * i + j];
            gain += p->gain[2 * i + j] * x[2 * i + j];
            used[j] += p->count[i] * p->gpus[i] * x[2 * i + j];
        }
        assert_true(sum <= 1 + 1e-7);
        found = fmin(found, gain);
    }
    assert_true(used[0] <= p->room[0] * (1 + 1e-7) && used[1] <= p->room[1] * (1 + 1e-7));
    assert_close(found, least, 1e-6);
}

TEST(shares_are_the_best_of_all)
{
    RNG(rng, 37, 11);
    for (int draw = 0; draw < (getenv("SOAK") ? 1000 : 40); draw++) {
        double gain[2 * MOST], gpus[MOST], count[MOST], room[2], x[2 * MOST], least;
        const struct gavel_lp p = { 1 + (int32_t)rng_below(rng, MOST), 2, gain, gpus, count, room };
        for (int32_t i = 0; i < p.n; i++) {
            gain[2 * i] = rng_below(rng, 5) ? rng_range(rng, 0.2, 3) : 1e-9;
            gain[2 * i + 1] = rng_range(rng, 0.2, 3);
            gpus[i] = 1 + (double)rng_below(rng, 2);
            count[i] = 1 + (double)rng_below(rng, 3);
        }
        room[0] = 2 + (double)rng_below(rng, 3);
        room[1] = 2 + (double)rng_below(rng, 3);
        OK(gavel_lp_solve(x, &least, &p, e));
        check_shares(&p, x, least);
        double want = best_of_grid(&p);
        assert_true(least >= want * (1 - 1e-6));
        assert_true(least <= want + 3.0 / GRID);
    }
}

TEST(shares_use_what_the_least_leaves)
{
    /* Two jobs on a fast and a slow GPU, fast for both: half of either. */
    const double alike[] = { 2, 1, 2, 1 }, ones[] = { 1, 1 }, one_of[] = { 1, 1 };
    struct gavel_lp p = { 2, 2, alike, ones, ones, one_of };
    double x[4], least;
    OK(gavel_lp_solve(x, &least, &p, e));
    assert_close(least, 1.5, 1e-7);
    assert_near(x[0] + x[2], 1, 1e-7);
    assert_near(x[1] + x[3], 1, 1e-7);
    /* The second cannot get beyond .1, which must not keep the first from its best. */
    const double slow[] = { 2, 1, 0, 0.1 };
    p.gain = slow;
    OK(gavel_lp_solve(x, &least, &p, e));
    assert_close(least, 0.1, 1e-7);
    assert_near(x[0], 1, 1e-7);
    assert_near(x[3], 1, 1e-7);
    const double none[] = { 2, 1, 0, 0 };
    p.gain = none;
    FAILS(gavel_lp_solve(x, &least, &p, e), ERR_RANGE, "gavel: job 1 has no type of NPU with a gain");
}

TEST(gavel_shares_types_in_rounds)
{
    WITH(struct events_settings, s, with(EVENTS_GAVEL), s.round_s = 10);
    /* Both are due half of either: they change places after ten seconds. */
    schedule(&s, 1, 1, "0 1 30 2 1: 0 20 1, 0 1 30 2 1: 0 20 1");
    /* Each is faster where the other is not: nobody moves. */
    schedule(&s, 1, 1, "0 1 30 2 1: 0 15 0, 0 1 30 1 2: 0 15 0");
    /* Two fast ones for three: rounds of 0 1, 0 2, 1 2, 0 1, 0 2, and then who is left. */
    schedule(&s, 2, 1, "0 1 40 1 0: 0 50 1, 0 1 40 1 0: 0 60 2, 0 1 40 1 0: 10 60 1");
}

TEST(who_goes_from_type_to_type_does_not_wait)
{
    struct job jobs[2];
    WITH(struct events_settings, s, with(EVENTS_GAVEL), s.round_s = 0.1);
    KEEP(struct cluster, c, cluster_free);
    KEEP(struct events_result, r, events_result_free);
    fixture_types(&c, (int32_t[]){ 1, 1 });
    for (int32_t i = 0; i < 2; i++) {
        jobs[i] = fixture_job(0.7, 1, 30, 1);
        jobs[i].speed[0] = 3;
    }
    OK(try_run(&r, &c, jobs, 2, &s, e));
    assert_true(r.stops > 100);
    assert_true(r.jobs[0].wait_s <= 0 && r.jobs[1].wait_s <= 0);
}

TEST(gavel_makespan_gives_the_fast_type_to_who_needs_it)
{
    WITH(struct events_settings, s, with(EVENTS_GAVEL_MAKESPAN), s.round_s = 10);
    /* 40 iterations at 4 a second and 10 at 1: any other way takes more than 10 s. */
    schedule(&s, 1, 1, "0 1 40 4 1: 0 10 0, 0 1 10 1.2 1: 0 10 0");
    schedule(&s, 1, 1, "0 1 10 1.2 1: 0 10 0, 0 1 40 4 1: 0 10 0");
}

enum { MANY = 100 };

/* Jobs of a GPU on a few servers, all there at 0. */
static int32_t draw_jobs(struct job *jobs, int32_t n, struct rng *rng, double iterations)
{
    for (int32_t i = 0; i < n; i++) {
        jobs[i] = fixture_job(0, 1, iterations * rng_range(rng, 0.5, 2), 1);
        jobs[i].speed[0] = rng_range(rng, 0.5, 4);
        jobs[i].speed[1] = rng_range(rng, 0.5, 4);
    }
    return n;
}

/* Gains as the order takes them. */
static double best_least(const struct job *jobs, int32_t n, const double *room, bool makespan)
{
    double gain[2 * MANY], ones[MANY], x[2 * MANY], least;
    const struct gavel_lp p = { n, 2, gain, ones, ones, room };
    for (int32_t i = 0; i < n; i++) {
        double equal = (jobs[i].speed[0] * room[0] + jobs[i].speed[1] * room[1]) / (room[0] + room[1]);
        ones[i] = 1;
        for (int32_t j = 0; j < 2; j++)
            gain[2 * i + j] = jobs[i].speed[j] / (makespan ? jobs[i].iterations : equal);
    }
    MUST(gavel_lp_solve(x, &least, &p, e));
    return least;
}

TEST(rounds_bring_about_what_the_programme_says)
{
    RNG(rng, 37, 12);
    for (int draw = 0; draw < (getenv("SOAK") ? 1000 : 30); draw++) {
        struct job jobs[5];
        const int32_t servers[] = { 1 + (int32_t)rng_below(rng, 2), 1 + (int32_t)rng_below(rng, 2) };
        const double room[] = { servers[0], servers[1] };
        struct events_settings s = with(EVENTS_GAVEL);
        KEEP(struct cluster, c, cluster_free);
        fixture_types(&c, servers);
        s.round_s = 1;
        s.horizon_s = 500;
        KEEP(struct events_result, r, events_result_free);
        int32_t n = draw_jobs(jobs, 2 + (int32_t)rng_below(rng, 4), rng, 1e9);
        OK(try_run(&r, &c, jobs, n, &s, e));
        double least = best_least(jobs, n, room, false), found = INFINITY;
        for (int32_t i = 0; i < n; i++) {
            double equal = (jobs[i].speed[0] * room[0] + jobs[i].speed[1] * room[1]) / (room[0] + room[1]);
            found = fmin(found, r.jobs[i].iterations / s.horizon_s / equal);
        }
        /* No schedule is above it. */
        assert_true(found <= least * (1 + 1e-6));
        assert_true(found >= least * 0.97);
        events_result_free(&r);
        s = with(EVENTS_GAVEL_MAKESPAN);
        s.round_s = 0.5;
        n = draw_jobs(jobs, 2 + (int32_t)rng_below(rng, 4), rng, 200);
        OK(try_run(&r, &c, jobs, n, &s, e));
        least = best_least(jobs, n, room, true);
        assert_int_equal(r.n_done, n);
        assert_true(r.makespan_s >= 1 / least * (1 - 1e-6));
        assert_true(r.makespan_s <= 1 / least * 1.05);
    }
}

/* More kinds of jobs than the programme takes as they are. */
TEST(many_jobs_of_their_own_kind_end_soon)
{
    RNG(rng, 37, 13);
    struct job jobs[MANY];
    const double room[] = { 2, 2 };
    WITH(struct events_settings, s, with(EVENTS_GAVEL_MAKESPAN), s.round_s = 5);
    KEEP(struct cluster, c, cluster_free);
    KEEP(struct events_result, r, events_result_free);
    fixture_types(&c, (int32_t[]){ 2, 2 });
    int32_t n = draw_jobs(jobs, MANY, rng, 100);
    OK(try_run(&r, &c, jobs, n, &s, e));
    double least = best_least(jobs, n, room, true);
    assert_int_equal(r.n_done, n);
    assert_true(r.makespan_s >= 1 / least * (1 - 1e-6));
    assert_true(r.makespan_s <= 1 / least * 1.05);
}
