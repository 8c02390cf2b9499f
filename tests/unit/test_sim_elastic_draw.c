#include "sim/slots/slots_draw.h"
#include "tests/support.h"

/* What `jobs: {TEXT}` of a file says; "" gives the paper's. */
static int read_jobs(struct draw_elastic *d, const char *text, struct err *e)
{
    struct yaml_doc doc;
    char file[1024];
    snprintf(file, sizeof file, "jobs: {%s}\n", text);
    assert_ok(yaml_read_text(&doc, "f", file, strlen(file), e), e);
    int rc = draw_read_elastic(d, &doc, yaml_get(&doc, doc.root, "jobs"), e);
    yaml_free(&doc);
    return rc;
}

static int read_racks(struct draw_racks *d, const char *text, struct err *e)
{
    struct yaml_doc doc;
    char file[1024];
    snprintf(file, sizeof file, "racks: {%s}\n", text);
    assert_ok(yaml_read_text(&doc, "f", file, strlen(file), e), e);
    int rc = draw_read_racks(d, &doc, yaml_get(&doc, doc.root, "racks"), e);
    yaml_free(&doc);
    return rc;
}

static struct draw_jobs drawn(const char *text, int32_t n_slots, int64_t seed)
{
    struct draw_jobs x;
    struct draw_elastic d;
    MUST(read_jobs(&d, text, e));
    MUST(draw_elastic_jobs(&x, &d, n_slots, seed, e));
    return x;
}

#define DRAWN(name, ...) KEEP(struct draw_jobs, name, draw_jobs_free) = drawn(__VA_ARGS__)

/* ---- jobs ---- */

/* arXiv 2202.01158 section VI: N 1..5, zeta 50..500, F 1000..6000, b 100 Mbps..5 Gbps, L1 1..100, L2 (0, 1),
 * L3 300..3000, fixed workers 1..10; the budget is ceil(F / zeta). */
TEST(jobs_lie_in_the_papers_ranges)
{
    double seen[5] = { 0 }, sums[4] = { 0 };
    DRAWN(x, "count: 4000", 200, 7);
    for (int32_t i = 0; i < x.n; i++) {
        const struct elastic_job *j = &x.jobs[i];
        double Mbps = j->hop_Bps * 8 / 1e6;
        assert_in_range(j->max_workers, 1, 5);
        assert_in_range(j->fixed_workers, 1, 10);
        assert_in_range(j->arrival, 1, 160);
        assert_true(j->zeta >= 50 && j->zeta <= 500 && j->zeta == floor(j->zeta));
        assert_near(Mbps, round(Mbps), 1e-9);
        assert_true(round(Mbps) >= 100 && round(Mbps) <= 5000);
        assert_true(j->budget * j->zeta >= 1000 && (j->budget - 1) * j->zeta < 6000);
        assert_true(j->report.scale >= 1 && j->report.scale <= 100 &&
                    j->report.scale == floor(j->report.scale));
        assert_true(j->report.slope > 0 && j->report.slope < 1);
        assert_true(j->report.middle >= 300 && j->report.middle <= 3000);
        assert_true(j->report.kind == UTILITY_SIGMOID && j->aim.kind == UTILITY_SIGMOID_ENVELOPE);
        assert_true(j->demand[0] == 1 && isinf(j->leave_frac) && !j->gain);
        seen[j->max_workers - 1]++;
        sums[0] += j->zeta / x.n;
        sums[1] += j->report.scale / x.n;
        sums[2] += j->report.slope / x.n;
        sums[3] += j->arrival / (double)x.n;
    }
    double chi = 0; /* 4 degrees of freedom: above 23.5 once in 10000 seeds */
    for (int k = 0; k < 5; k++)
        chi += (seen[k] - 800) * (seen[k] - 800) / 800;
    assert_true(chi < 23.5);
    /* Means to four deviations of a mean of 4000: range / sqrt(12 * 4000) = range / 219. */
    assert_near(sums[0], 275, 4 * 450 / 219.);
    assert_near(sums[1], 50.5, 4 * 99 / 219.);
    assert_near(sums[2], 0.5, 4 / 219.);
    assert_near(sums[3], 80.5, 4 * 159 / 219.);
}

static void assert_same_job(const struct elastic_job *a, const struct elastic_job *b)
{
    assert_string_equal(a->id, b->id);
    assert_true(a->arrival == b->arrival && a->max_workers == b->max_workers &&
                a->fixed_workers == b->fixed_workers && a->budget == b->budget && a->hop_Bps == b->hop_Bps &&
                a->zeta == b->zeta && a->report.scale == b->report.scale &&
                a->report.slope == b->report.slope && a->report.middle == b->report.middle);
}

TEST(the_first_jobs_of_more_are_the_same)
{
    static const char *const counts[] = { "count: 10", "count: 60" };
    DRAWN(few, counts[0], 100, 3);
    DRAWN(many, counts[1], 100, 3);
    DRAWN(other, counts[0], 100, 4);
    int same = 0;
    for (int32_t i = 0; i < few.n; i++) {
        assert_same_job(&few.jobs[i], &many.jobs[i]);
        same += few.jobs[i].zeta == other.jobs[i].zeta;
    }
    assert_true(same < 3);
}

/* What one key sets moves no other draw. */
TEST(one_setting_leaves_the_other_draws_alone)
{
    static const char *const others[] = { "zeta: 100",        "workers: 3",        "hop_GBps: 0.1",
                                          "budget: literal",  "arrivals: at-once", "utility: log",
                                          "clamp_fixed: true" };
    DRAWN(base, "count: 30", 100, 5);
    for (size_t k = 0; k < COUNT_OF(others); k++) {
        char text[64];
        snprintf(text, sizeof text, "count: 30, %s", others[k]);
        DRAWN(x, text, 100, 5);
        for (int32_t i = 0; i < x.n; i++) {
            assert_true(x.jobs[i].report.scale == base.jobs[i].report.scale);
            assert_true(k == 0 || x.jobs[i].zeta == base.jobs[i].zeta);
            assert_true(k == 1 || x.jobs[i].max_workers == base.jobs[i].max_workers);
        }
    }
}

/* The paper's (3) with iterations as worker-slots, and what it means. zeta_scale .03 of 70 is 2.1: 2100
 * iterations are 1000 worker-slots and not 1001. */
TEST(both_budgets_are_what_they_say)
{
    CASES(const char *text; double budget) = {
        { "count: 5, iterations: 2100, zeta: 70, zeta_scale: 0.03, budget: literal", 2100 },
        { "count: 5, iterations: 2100, zeta: 70, zeta_scale: 0.03", 1000 },
        { "count: 5, iterations: 2101, zeta: 70, zeta_scale: 0.03", 1001 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        DRAWN(x, cases[i].text, 100, 1);
        assert_true(x.jobs[0].budget == cases[i].budget);
    }
}

TEST(fixed_workers_are_clamped_on_request)
{
    int above = 0;
    DRAWN(x, "count: 100", 100, 2);
    DRAWN(y, "count: 100, clamp_fixed: true", 100, 2);
    for (int32_t i = 0; i < 100; i++) {
        int32_t fixed = x.jobs[i].fixed_workers, most = x.jobs[i].max_workers;
        above += fixed > most;
        assert_int_equal(y.jobs[i].fixed_workers, fixed < most ? fixed : most);
    }
    assert_true(above > 50); /* of U{1..10} above U{1..5}: 70 % */
}

/* Uniform over 1 .. 0.8 slots; Poisson begins with slot 1 and ascends, its last jobs near there. */
TEST(arrivals_come_within_eight_tenths_of_the_slots)
{
    struct draw_jobs x;
    x = drawn("count: 50, arrivals: at-once", 100, 1);
    for (int32_t i = 0; i < 50; i++)
        assert_int_equal(x.jobs[i].arrival, 1);
    draw_jobs_free(&x);
    x = drawn("count: 50, arrivals: uniform", 1, 1);
    assert_int_equal(x.jobs[49].arrival, 1);
    draw_jobs_free(&x);
    double mean = 0;
    for (int64_t seed = 0; seed < 20; seed++) {
        x = drawn("count: 50, arrivals: poisson", 100, seed);
        assert_int_equal(x.jobs[0].arrival, 1);
        for (int32_t i = 1; i < 50; i++) {
            assert_true(x.jobs[i].arrival >= x.jobs[i - 1].arrival);
            assert_in_range(x.jobs[i].arrival, 1, 80);
        }
        mean += x.jobs[25].arrival / 20.;
        draw_jobs_free(&x);
    }
    /* After 25 gaps of mean 79 / 50 slots, cut to whole: 1 + 39.5 - 1/2; deviation 7.9 / sqrt 20 = 1.8. */
    assert_near(mean, 40, 6);
}

/* ---- progress by the time of an iteration ---- */

#define TAU_INSIDE                                                                                           \
    "gradient_MB: 100, reduce_GBps: 50, forward_ms: 1, samples: 32, backward_ms: 50, overhead_ms: 2, "       \
    "slot_s: 2.055"
#define TAU "tau: {" TAU_INSIDE

/* hop_GBps 1.25: 24 iterations on one worker, 12 on two, 10 on four: see test_sim_ring_time.c. */
TEST(tau_fills_the_table_of_gains)
{
    struct draw_jobs x;
    x = drawn("count: 3, workers: 4, fixed_workers: 2, hop_GBps: 1.25, iterations: 1205, progress: tau, " TAU
              "}",
              100, 1);
    for (int32_t i = 0; i < 3; i++) {
        const double *gain = x.jobs[i].gain;
        assert_true(gain[0] == 0 && gain[1] == 24 && gain[2] == 24 && gain[4] == 40);
        /* 10 iterations a worker-slot with four: 120.5. */
        assert_true(x.jobs[i].budget == 121);
    }
    draw_jobs_free(&x);
    x = drawn("count: 3, workers: 4, fixed_workers: 2, hop_GBps: 1.25, iterations: 1100, progress: tau, " TAU
              ", batch: job}",
              100, 1);
    assert_true(x.jobs[2].gain[1] == 24 && x.jobs[2].gain[2] == 13 && x.jobs[2].gain[4] == 11);
    assert_true(x.jobs[2].budget == 400); /* 11 / 4 a worker-slot */
    draw_jobs_free(&x);
}

/* d (w-1)/w (2/b + 1/G) = 1e8 (2/b + 2e-11)/2 on two workers, beside .084 s: b = .625, .3125, .15625 GB/s and
 * endless in 2.055 s. */
TEST(links_fill_a_table_for_each_rate)
{
    struct draw_elastic d;
    DRAWN(x, "count: 1, workers: 2, fixed_workers: 1, hop_GBps: 0.625, progress: links, " TAU "}", 100, 1);
    const struct elastic_job *j = &x.jobs[0];
    const double two_s[N_ELASTIC_RATES] = { 0.245, 0.405, 0.725, 0.085 };
    assert_true(j->offers_rates);
    for (int r = 0; r < N_ELASTIC_RATES; r++) {
        assert_true(elastic_gain(j, 1, (enum elastic_rate)r) == 24);
        assert_true(elastic_gain(j, 2, (enum elastic_rate)r) == 2 * floor(2.055 / two_s[r]));
    }
    assert_true(elastic_at_rate(j, ELASTIC_QUARTER).hop_Bps == 0.25 * j->hop_Bps);
    FAILS(read_jobs(&d, "progress: links, hop_GBps: [1, 2], tau: {inner_GBps: 1.5, " TAU_INSIDE "}", e),
          ERR_RANGE, "jobs.tau.inner_GBps is 1.5, expected at least the most of hop_GBps, 2");
    *e = (struct err){ 0 };
    FAILS(read_jobs(&d, "progress: links", e), ERR_PARSE,
          "jobs.progress is links, expected tau with the parts of an iteration besides");
}

/* The envelope reaches as far as the job could come: with the most efficient number of workers. */
TEST(the_envelope_reaches_as_far_as_a_job_can_come)
{
    DRAWN(
        x,
        "count: 1, workers: 4, fixed_workers: 2, hop_GBps: 1.25, iterations: 100, slope: 0.01, middle: 3000, "
        "progress: tau, " TAU "}",
        100, 1);
    assert_true(x.jobs[0].budget == 10);
    assert_true(x.jobs[0].aim.touch == 240); /* one worker at a time: 24 a slot; the sigmoid touches beyond */
}

TEST(tau_that_cannot_be_is_an_error)
{
    struct draw_elastic d;
    struct draw_jobs x;
    FAILS(read_jobs(&d, "progress: tau", e), ERR_PARSE,
          "jobs.progress is tau, expected tau with the parts of an iteration besides");
    *e = (struct err){ 0 };
    FAILS(read_jobs(&d, "progress: tau, tau: {gradient_MB: 1}", e), ERR_PARSE, "reduce_GBps");
    *e = (struct err){ 0 };
    OK(read_jobs(&d, "workers: 4, hop_GBps: 0.01, progress: tau, " TAU "}", e));
    /* .75 * 1e8 * (2 / 1e7 + 2e-11) + .084 */
    FAILS(draw_elastic_jobs(&x, &d, 10, 1, e), ERR_RANGE,
          "job job0: an iteration on 4 workers takes 15.0855 s, expected at most a slot, 2.055 s");
    draw_jobs_free(&x);
    *e = (struct err){ 0 };
    OK(read_jobs(&d, "hop_GBps: 0, progress: tau, " TAU "}", e));
    FAILS(draw_elastic_jobs(&x, &d, 10, 1, e), ERR_RANGE, "ring: hop_Bps is 0, expected more than 0");
    draw_jobs_free(&x);
}

TEST(keys_that_contradict_each_other_are_errors)
{
    CASES(const char *text; int code; const char *message) = {
        { "utility: log, leave_frac: 0.9", ERR_PARSE,
          "jobs.leave_frac is given with utility log, which has no most, expected a sigmoid" },
        { "workers: 0", ERR_RANGE, "jobs.workers is 0, expected 1 to 256" },
        { "count: 0", ERR_RANGE, "jobs.count" },
        { "gpus: -1", ERR_RANGE, "jobs.gpus" },
        { "zta: 3", ERR_PARSE, "zeta" },
        { "demand: 5", ERR_PARSE, "jobs.demand is 5, expected a map" },
        { "demand: {gpu: 1}", ERR_PARSE, "jobs.demand.gpu is gpu; give jobs.gpus for that" },
        { "demand: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1}", ERR_RANGE,
          "jobs.demand has 8 resources, expected at most 7" },
        { "demand: {cpu: -1}", ERR_RANGE, "jobs.demand.cpu is -1, expected 0 to" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct draw_elastic d;
        FAILS(read_jobs(&d, cases[i].text, e), cases[i].code, cases[i].message);
    }
    struct draw_elastic d;
    OK(read_jobs(&d, "utility: sigmoid-env, leave_frac: 0.9", e));
}

/* ---- racks ---- */

/* Section VI: 50 servers of 1, 2, 4 or 8 GPUs in 2 to 5 racks; 10..100 Gbps to the rack, 200..3200 between.
 */
TEST(racks_lie_in_the_papers_ranges)
{
    struct draw_racks d;
    int racks[6] = { 0 }, gpus[9] = { 0 };
    OK(read_racks(&d, "", e));
    for (int64_t seed = 0; seed < 80; seed++) {
        KEEP(struct cluster, c, cluster_free);
        OK(draw_racks(&c, &d, seed, e));
        int n = (int)c.routes.n_vertices - c.n_servers;
        assert_int_equal(c.n_servers, 50);
        assert_in_range(n, 2, 5);
        assert_int_equal(c.n_arcs, 2 * (50 + n * (n - 1) / 2));
        racks[n]++;
        for (int32_t s = 0; s < 50; s++)
            gpus[(int)cluster_capacity(&c, s, 0)]++;
        for (int32_t link = 0; link < c.n_arcs / 2; link++) {
            double Gbps = c.bw_Bps[(int64_t)2 * link] * 8e-9;
            assert_near(Gbps, round(Gbps), 1e-9);
            assert_true(link < 50 ? Gbps > 9.9 && Gbps < 100.1 : Gbps > 199.9 && Gbps < 3200.1);
        }
    }
    for (int n = 2; n <= 5; n++) /* of 80, 20 expected with a deviation of 3.9 */
        assert_in_range(racks[n], 5, 35);
    for (int g = 1; g <= 8; g *= 2) /* of 4000, 1000 with 27 */
        assert_in_range(gpus[g], 880, 1120);
    assert_int_equal(gpus[1] + gpus[2] + gpus[4] + gpus[8], 4000);
}

TEST(servers_are_scaled_to_a_total_in_proportion)
{
    static const int64_t totals[] = { 1, 70, 187, 1000 };
    for (size_t k = 0; k < COUNT_OF(totals); k++)
        for (int64_t seed = 0; seed < 10; seed++) {
            struct draw_racks d;
            struct cluster drawn, scaled;
            OK(read_racks(&d, "", e));
            OK(draw_racks(&drawn, &d, seed, e));
            d.total_gpus = totals[k];
            OK(draw_racks(&scaled, &d, seed, e));
            double times = (double)totals[k] / cluster_total(&drawn, 0);
            assert_true(cluster_total(&scaled, 0) == (double)totals[k]);
            for (int32_t s = 0; s < 50; s++) /* whole numbers, off by less than one */
                assert_true(fabs(cluster_capacity(&scaled, s, 0) - times * cluster_capacity(&drawn, s, 0)) <
                            1);
            assert_int_equal(scaled.n_arcs, drawn.n_arcs); /* all else is the same */
            assert_memory_equal(scaled.bw_Bps, drawn.bw_Bps, (size_t)drawn.n_arcs * sizeof *drawn.bw_Bps);
            cluster_free(&drawn);
            cluster_free(&scaled);
        }
}

TEST(links_are_as_wide_as_they_are_set)
{
    struct draw_racks d;
    struct cluster c;
    OK(read_racks(&d,
                  "servers: 3, racks: 2, gpus: [8], server_GBps: 1.3, rack_GBps: 40, "
                  "link_scale: 0.5, latency_ns: 250",
                  e));
    OK(draw_racks(&c, &d, 1, e));
    for (int32_t arc = 0; arc < 8; arc++) { /* 1.3 GB/s is 10.4 Gbps */
        assert_close(c.bw_Bps[arc], arc < 6 ? 0.65e9 : 20e9, 1e-12);
        assert_close(c.lat_s[arc], 250e-9, 1e-12);
    }
    assert_true(cluster_total(&c, 0) == 24);
    cluster_free(&c);
    *e = (struct err){ 0 };
    FAILS(read_racks(&d, "racks: 0", e), ERR_RANGE, "racks.racks is 0, expected 1 to 10000");
}
