#include "sim/events/events.h"

#include "base/rng.h"
#include "sim/cluster/pace.h"
#include "tests/settings.h"
#include "tests/unit/cluster_fixture.h"

/* Runs of jobs that send nothing or little, by hand and by laws. Orders: test_sim_order.c. */

static void run(struct events_result *r, const struct cluster *c, const struct job *jobs, int32_t n,
                const struct events_settings *s, const struct pace_graph_settings *speed)
{
    const struct pace_graph_settings plain = pace_graph_settings_default();
    struct pace pace;
    MUST(pace_graph_build(&pace, c, jobs, n, speed ? speed : &plain, e));
    const struct events_problem p = { c, jobs, n, &pace };
    MUST(events_run(r, &p, s, e));
    pace.free(pace.x);
}

/* 6 GB/s a server; a ring of three servers of two GPUs at 100 GB/s: 2/3 S / 6 + S / 100 each way. */
TEST(a_lone_job_takes_its_iterations_on_its_ideal_place)
{
    struct job job = fixture_job(5, 6, 1000, 0.01);
    struct events_settings s = events_settings_default();
    struct pace_graph_settings speed = pace_graph_settings_default();
    const double S = 3e8, each_s = 0.01 + S * 0.5 * 2 / 100e9 + 2 * (2.0 / 3) * S / 6e9;
    job.gradient_B = S;
    speed.inner_Bps = 100e9;
    KEEP(struct cluster, c, cluster_free) = cluster_of("switch:4@6", 0, 0, 2);
    for (int order = 0; order < N_EVENTS_ORDERS; order++)
        for (int pack = 0; pack <= PACK_PACKED; pack++) {
            KEEP(struct events_result, r, events_result_free);
            s.order = (enum events_order)order;
            s.pack = (enum pack_kind)pack;
            run(&r, &c, &job, 1, &s, &speed);
            assert_int_equal(r.n_done, 1);
            assert_close(r.jobs[0].jct_s, 1000 * each_s, 1e-13);
            assert_close(r.jobs[0].slowdown, 1, 1e-13);
            assert_close(r.jobs[0].stretch, 1, 1e-13);
            assert_close(r.makespan_s, 1000 * each_s, 1e-13);
            assert_close(r.gpu_frac, 6.0 / 8, 1e-13);
            assert_true(r.first_s == 5 && r.jobs[0].start_s == 5 && r.jobs[0].servers == 3);
        }
}

TEST(a_job_known_by_its_run_time_takes_it_on_its_ideal_place)
{
    struct job job = fixture_job(0, 4, NAN, 0.02);
    struct events_settings s = events_settings_default();
    struct events_result r;
    job.runtime_s = 777;
    job.gradient_B = 1e9;
    KEEP(struct cluster, c, cluster_free) = cluster_of("switch:4@10", 0, 1e-5, 2);
    run(&r, &c, &job, 1, &s, NULL);
    assert_close(r.jobs[0].jct_s, 777, 1e-13);
    assert_close(r.jobs[0].ideal_s, 777, 1e-13);
    events_result_free(&r);
    /* Spread over four servers it takes longer. */
    s.pack = PACK_SPREAD;
    run(&r, &c, &job, 1, &s, NULL);
    const double two_s = 0.02 + 1e9 / 10e9 + 2 * 1e-5, four_s = 0.02 + 1.5 * 1e9 / 10e9 + 6 * 1e-5;
    assert_close(r.jobs[0].jct_s, 777 * four_s / two_s, 1e-13);
    assert_close(r.jobs[0].slowdown, four_s / two_s, 1e-13);
    events_result_free(&r);
}

/* Three servers of two GPUs; jobs of three meet on server 1. Alone an iteration takes .25 + .5 s, together
 * .25 + 1. */
TEST(jobs_that_meet_slow_each_other_down)
{
    struct job jobs[] = { fixture_job(0, 3, 8, 0.25), fixture_job(0, 3, 16, 0.25) };
    struct events_settings s = events_settings_default();
    KEEP(struct events_result, r, events_result_free);
    jobs[0].gradient_B = jobs[1].gradient_B = 5e9;
    KEEP(struct cluster, c, cluster_free) = cluster_of("switch:3@10", 0, 0, 2);
    run(&r, &c, jobs, 2, &s, NULL);
    assert_close(r.jobs[0].end_s, 8 * 1.25, 1e-13);
    assert_close(r.jobs[1].end_s, 10 + 8 * 0.75, 1e-13);
    assert_close(r.jobs[0].stretch, 10 / 6.0, 1e-13);
    assert_close(r.jobs[1].stretch, 16 / 12.0, 1e-13);
    assert_close(r.mean_stretch, (10 / 6.0 + 16 / 12.0) / 2, 1e-13);
    assert_int_equal(r.n_wide, 2);
    assert_int_equal(r.n_arcs, c.n_arcs);
    /* Arc 2 s is the way up from server s. */
    assert_close(r.arcs[2].bytes, (8 + 16) * 5e9, 1e-13);
    assert_close(r.arcs[2].mean_frac, 24 * 5e9 / (10e9 * 16), 1e-13);
    assert_close(r.arcs[2].peak_frac, 2 * 5e9 / 1.25 / 10e9, 1e-13);
    assert_close(r.arcs[0].bytes, 8 * 5e9, 1e-13);
    assert_close(r.arcs[4].peak_frac, 5e9 / 0.75 / 10e9, 1e-13);
}

TEST(figures_of_a_run_are_those_of_its_schedule)
{
    /* Four GPUs: 0 has three for 10 s, 1 then two for 5 s, 2 one at the same time for 1 s. */
    const struct job jobs[] = { fixture_job(0, 3, 10, 1), fixture_job(1, 2, 5, 1), fixture_job(2, 1, 1, 1) };
    struct events_settings s = events_settings_default();
    KEEP(struct events_result, r, events_result_free);
    s.keep_points = s.keep_spans = true;
    KEEP(struct cluster, c, cluster_free) = cluster_of("switch:2@10", 0, 0, 2);
    run(&r, &c, jobs, 3, &s, NULL);
    assert_close(r.makespan_s, 15, 1e-15);
    assert_close(r.mean_jct_s, (10 + 14 + 9) / 3.0, 1e-15);
    assert_close(r.median_jct_s, 10, 1e-15);
    assert_close(r.p95_jct_s, 10 + 0.9 * 4, 1e-13); /* at 1.9 of 0..2 */
    assert_close(r.mean_wait_s, (0 + 9 + 8) / 3.0, 1e-15);
    assert_close(r.gpu_frac, (30 + 10 + 1) / (4 * 15.0), 1e-15);
    assert_int_equal(r.n_events, 6);
    static const struct events_point points[] = { { 0, 3, 1, 0 },  { 1, 3, 1, 1 },  { 2, 3, 1, 2 },
                                                  { 10, 3, 2, 0 }, { 11, 2, 1, 0 }, { 15, 0, 0, 0 } };
    assert_int_equal(r.n_points, COUNT_OF(points));
    for (int32_t i = 0; i < r.n_points; i++) {
        assert_close(r.points[i].time_s, points[i].time_s, 1e-15);
        assert_int_equal(r.points[i].gpus, points[i].gpus);
        assert_int_equal(r.points[i].running, points[i].running);
        assert_int_equal(r.points[i].waiting, points[i].waiting);
    }
    static const struct events_span spans[] = {
        { 0, 0, 2, 0, 10 }, { 0, 1, 1, 0, 10 }, { 2, 1, 1, 10, 11 }, { 1, 0, 2, 10, 15 }
    };
    assert_int_equal(r.n_spans, COUNT_OF(spans));
    for (int32_t i = 0; i < r.n_spans; i++) {
        assert_int_equal(r.spans[i].job, spans[i].job);
        assert_int_equal(r.spans[i].server, spans[i].server);
        assert_int_equal(r.spans[i].gpus, spans[i].gpus);
        assert_close(r.spans[i].from_s, spans[i].from_s, 1e-15);
        assert_close(r.spans[i].to_s, spans[i].to_s, 1e-15);
    }
}

TEST(a_horizon_cuts_the_run)
{
    const struct job jobs[] = { fixture_job(0, 1, 4, 1), fixture_job(1, 1, 9, 1), fixture_job(2, 1, 1, 1),
                                fixture_job(50, 1, 1, 1) };
    struct events_settings s = events_settings_default();
    struct events_result r;
    s.horizon_s = 10;
    s.keep_spans = true;
    KEEP(struct cluster, c, cluster_free) = cluster_of("switch:2@10", 0, 0, 1);
    /* On two GPUs: 0 until 4, 2 then, 1 from 1 to 10: an end at the horizon counts. */
    run(&r, &c, jobs, 4, &s, NULL);
    assert_int_equal(r.n_done, 3);
    assert_int_equal(r.jobs[3].end, EVENTS_ABSENT);
    assert_true(isnan(r.jobs[3].start_s) && isnan(r.jobs[3].jct_s));
    events_result_free(&r);
    s.horizon_s = 3;
    run(&r, &c, jobs, 4, &s, NULL);
    assert_int_equal(r.n_done, 0);
    assert_int_equal(r.jobs[0].end, EVENTS_RUNS);
    assert_int_equal(r.jobs[1].end, EVENTS_RUNS);
    assert_int_equal(r.jobs[2].end, EVENTS_WAITS);
    assert_close(r.jobs[0].iterations, 3, 1e-15);
    assert_close(r.jobs[1].iterations, 2, 1e-15);
    assert_close(r.last_s, 3, 1e-15);
    assert_close(r.gpu_frac, 5 / 6.0, 1e-15);
    assert_int_equal(r.n_spans, 2);
    assert_true(isnan(r.mean_jct_s) && isnan(r.p95_jct_s));
    events_result_free(&r);
}

/* ---- laws that hold for all ---- */

enum { N_MANY = 70, MAX_STEPS = 4000 };

/* A model that writes down what another one says, step by step. */
struct scribe {
    struct pace inner;
    int32_t calls, n_jobs;
    bool runs[N_MANY];
    double (*said)[N_MANY]; /* iteration time of each job after each changed(), 0: it does not run */
};

static int scribe_begin(void *x, int32_t job, const struct pace_place *place, struct err *e)
{
    struct scribe *s = x;
    s->runs[job] = true;
    return s->inner.begin(s->inner.x, job, place, e);
}

static void scribe_end(void *x, int32_t job)
{
    struct scribe *s = x;
    s->runs[job] = false;
    s->inner.end(s->inner.x, job);
}

static int scribe_changed(void *x, const int32_t **jobs, int32_t *n, struct err *e)
{
    struct scribe *s = x;
    int rc = s->inner.changed(s->inner.x, jobs, n, e);
    /* First come the ideal times: one call for each job, and one. */
    int32_t step = s->calls++ - (s->n_jobs + 1);
    assert_true(step < MAX_STEPS);
    for (int32_t i = 0; i < s->n_jobs && step >= 0; i++)
        s->said[step][i] = s->runs[i] ? s->inner.iteration_s(s->inner.x, i) : 0;
    return rc;
}

static double scribe_iteration_s(const void *x, int32_t job)
{
    const struct scribe *s = x;
    return s->inner.iteration_s(s->inner.x, job);
}

static void draw_jobs(struct job jobs[N_MANY], uint64_t seed)
{
    static const int32_t sizes[] = { 1, 1, 2, 3, 4, 6, 8, 13 };
    RNG(rng, seed, 9);
    for (int32_t i = 0; i < N_MANY; i++) {
        jobs[i] = fixture_job(rng_range(rng, 0, 300), sizes[rng_below(rng, COUNT_OF(sizes))],
                              1 + (double)rng_below(rng, 200), rng_range(rng, 0.05, 0.3));
        jobs[i].gradient_B = rng_log_range(rng, 1e7, 3e9);
        jobs[i].param_servers = rng_below(rng, 4) == 0 ? 2 : 0;
        jobs[i].tenant = (int32_t)rng_below(rng, 4) - 1;
    }
}

/* At every time a server's GPUs suffice, and a job has all of its own or none. */
static void check_spans(const struct events_result *r, const struct job *jobs, const struct cluster *c)
{
    for (int32_t i = 0; i < r->n_spans; i++) {
        double at_s = r->spans[i].from_s, on_server = 0;
        int32_t of_job = 0;
        for (int32_t k = 0; k < r->n_spans; k++) {
            const struct events_span *other = &r->spans[k];
            if (!(other->from_s <= at_s && at_s < other->to_s))
                continue;
            on_server += other->server == r->spans[i].server ? other->gpus : 0;
            of_job += other->job == r->spans[i].job ? other->gpus : 0;
        }
        assert_true(on_server <= cluster_capacity(c, r->spans[i].server, 0));
        assert_int_equal(of_job, jobs[r->spans[i].job].gpus);
    }
}

/* What a job did at each speed adds up to its iterations. */
static void check_progress(const struct events_result *r, const struct job *jobs, const struct scribe *s)
{
    for (int32_t i = 0; i < r->n_jobs; i++) {
        double done = 0, held_s = 0;
        for (int32_t k = 0; k + 1 < r->n_points; k++)
            if (s->said[k][i] > 0) {
                double time_s = r->points[k + 1].time_s - r->points[k].time_s;
                done += time_s / s->said[k][i];
                held_s += time_s;
            }
        assert_close(done, jobs[i].iterations, 1e-9);
        assert_close(held_s, r->jobs[i].run_s, 1e-9);
    }
}

/* Links are not overloaded, and over time they carry what they carry in all. */
static void check_bytes(const struct events_result *r)
{
    const struct link_bins *b = &r->bins;
    for (int32_t a = 0; a < r->n_arcs; a++) {
        double sum_B = 0;
        assert_true(r->arcs[a].peak_frac <= 1 + 1e-9 && r->arcs[a].mean_frac <= r->arcs[a].peak_frac + 1e-9);
        for (int32_t k = 0; k < b->n_bins; k++)
            sum_B += b->bytes[(size_t)k * (size_t)b->n_arcs + (size_t)a];
        if (r->arcs[a].bytes > 0)
            assert_close(sum_B, r->arcs[a].bytes, 1e-9);
        else
            assert_true(sum_B == 0);
    }
}

TEST(capacity_gangs_and_progress_hold_in_every_schedule)
{
    double(*said)[N_MANY] = malloc(MAX_STEPS * sizeof *said);
    assert_non_null(said);
    KEEP(struct cluster, c, cluster_free) = cluster_of("switch:3@5 ring:3@10", 0, 1e-5, 4);
    for (int order = 0; order <= N_EVENTS_ORDERS; order++) /* the last: continuous LAS */
        for (int pack = 0; pack < N_PACK_KINDS; pack++) {
            struct job jobs[N_MANY];
            struct events_settings s = events_settings_default();
            struct pace_graph_settings speed = pace_graph_settings_default();
            struct scribe scribe = { .n_jobs = N_MANY, .said = said };
            struct pace pace = {
                &scribe, scribe_begin, scribe_end, scribe_changed, scribe_iteration_s, NULL
            };
            struct events_result r, plain;
            draw_jobs(jobs, (uint64_t)(order * N_PACK_KINDS + pack));
            s.order = order < N_EVENTS_ORDERS ? (enum events_order)order : EVENTS_LAS;
            s.pack = (enum pack_kind)pack;
            s.las_queues = order < N_EVENTS_ORDERS ? 3 : 0;
            s.las_at[0] = 20;
            s.las_at[1] = 100;
            s.round_s = 7;
            s.backfill = pack % 2 == 1;
            s.keep_spans = s.keep_points = s.keep_bins = true;
            speed.duty = order % 2 ? PACE_DUTY_INTERLEAVED : PACE_DUTY_ALWAYS;
            speed.inner_Bps = 50e9;
            OK(pace_graph_build(&scribe.inner, &c, jobs, N_MANY, &speed, e));
            struct events_problem p = { &c, jobs, N_MANY, &pace };
            OK(events_run(&r, &p, &s, e));
            assert_int_equal(r.n_done, N_MANY);
            assert_null(r.arcs);
            check_spans(&r, jobs, &c);
            check_progress(&r, jobs, &scribe);
            /* The same without somebody who writes it down, by a model that served before. */
            p.pace = &scribe.inner;
            OK(events_run(&plain, &p, &s, e));
            check_bytes(&plain);
            for (int32_t i = 0; i < N_MANY; i++) {
                assert_true(plain.jobs[i].start_s == r.jobs[i].start_s);
                assert_true(plain.jobs[i].end_s == r.jobs[i].end_s);
                assert_int_equal(plain.jobs[i].stops, r.jobs[i].stops);
                assert_true(plain.jobs[i].slowdown == r.jobs[i].slowdown);
            }
            scribe.inner.free(scribe.inner.x);
            events_result_free(&r);
            events_result_free(&plain);
        }
    free(said);
}

/* ---- bad input ---- */

TEST(what_cannot_be_is_named)
{
    CASES(size_t field; double value; const char *text) = {
        { offsetof(struct job, submit_s), -1, "job x: submission [s] is -1, expected a number >= 0" },
        { offsetof(struct job, submit_s), NAN, "job x: submission [s] is nan" },
        { offsetof(struct job, iterations), NAN, "job x: none of iterations and runtime is given" },
        { offsetof(struct job, iterations), 0, "job x: iterations is 0, expected a number > 0" },
        { offsetof(struct job, runtime_s), 5, "job x: each of iterations and runtime is given" },
        { offsetof(struct job, compute_s), 0, "job x: compute [s] is 0, expected a number > 0" },
        { offsetof(struct job, compute_s), INFINITY, "job x: compute [s] is inf" },
        { offsetof(struct job, gradient_B), -1, "job x: gradient [B] is -1, expected a number >= 0" },
        { offsetof(struct job, weight), 0, "job x: weight is 0, expected a number > 0" },
        { offsetof(struct job, hidden_s), 2,
          "job x: hidden communication is 2 s, expected 0 to its compute, 1 s" },
    };
    KEEP(struct cluster, c, cluster_free);
    struct pace pace;
    struct job job = fixture_job(0, 1, 1, 1);
    const struct events_settings s = events_settings_default();
    const struct pace_graph_settings speed = pace_graph_settings_default();
    struct events_problem p = { &c, &job, 1, &pace };
    struct events_result r;
    fixture_cluster(&c, NULL, "switch:2@10", 0, 0, 2);
    OK(pace_graph_build(&pace, &c, &job, 1, &speed, e));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        job = fixture_job(0, 1, 1, 1);
        job.id = "x";
        memcpy((char *)&job + cases[i].field, &cases[i].value, sizeof cases[i].value);
        FAILS(events_run(&r, &p, &s, e), ERR_RANGE, cases[i].text);
        events_result_free(&r);
    }
    job = fixture_job(0, 5, 1, 1);
    FAILS(events_run(&r, &p, &s, e), ERR_RANGE, "job job0: needs 5 GPUs, the cluster has 4");
    job.gpus = 0;
    FAILS(events_run(&r, &p, &s, e), ERR_RANGE, "job job0: needs 0 GPUs, expected 1 to");
    job.gpus = 1;
    job.param_servers = -1;
    FAILS(events_run(&r, &p, &s, e), ERR_RANGE, "has -1 parameter servers, expected 0 to");
    job.param_servers = 0;
    p.n_jobs = 0;
    FAILS(events_run(&r, &p, &s, e), ERR_RANGE, "queue has 0 jobs, expected 1 to");
    events_result_free(&r);
    pace.free(pace.x);
}

TEST(a_job_that_no_servers_resources_hold_is_refused)
{
    static const char *const names[] = { "GPUs", "CPUs" };
    static const double per_server[] = { 4, 7 };
    const struct cluster_offer offer = { 2, names, per_server, false };
    const struct pace_graph_settings speed = pace_graph_settings_default();
    const struct events_settings s = events_settings_default();
    struct job job = fixture_job(0, 3, 1, 1);
    struct topo_network net;
    KEEP(struct cluster, c, cluster_free);
    struct pace pace;
    KEEP(struct events_result, r, events_result_free);
    OK(topo_parse_spec(&net, "switch:2@10", e));
    OK(cluster_build(&c, &net, 0, &offer, e));
    OK(pace_graph_build(&pace, &c, &job, 1, &speed, e));
    const struct events_problem p = { &c, &job, 1, &pace };
    job.demand[1] = 4; /* one GPU a server */
    FAILS(events_run(&r, &p, &s, e), ERR_RANGE,
          "needs 3 GPUs with their resources, the cluster has room for 2");
    job.demand[1] = -1;
    FAILS(events_run(&r, &p, &s, e), ERR_RANGE, "CPUs is -1, expected a number >= 0");
    pace.free(pace.x);
}
