#include "sim/batch/batch.h"
#include "tests/settings.h"
#include "tests/unit/batch_fixture.h"

static void run(struct batch_result *r, const struct batch_problem *p, struct pace *pace,
                enum batch_scheduler how, const struct batch_settings *s)
{
    MUST(batch_run(r, how, p, pace, s, e));
}

/* No schedule ends before all jobs would have, each in its best place, spread evenly over all GPUs; nor
 * before the longest of them. */
static double least_makespan_s(const struct batch_fixture *f)
{
    double work_s = 0, longest_s = 0;
    int32_t n_gpus = 0;
    for (int32_t s = 0; s < f->p.cluster.n_servers; s++)
        n_gpus += f->gpus[s];
    for (int32_t i = 0; i < f->p.n_jobs; i++) {
        double run_s =
            (double)f->jobs[i].iterations * contention_iteration_s(&f->contention, &f->jobs[i], 1, 0);
        work_s += run_s * f->jobs[i].gpus;
        longest_s = fmax(longest_s, f->jobs[i].submit_s + run_s);
    }
    return fmax(work_s / n_gpus, longest_s);
}

TEST(every_schedule_is_one_and_none_beats_the_bounds)
{
    RNG(rng, 51, 0);
    for (int i = 0; i < 300; i++) {
        struct batch_settings s = batch_settings_default();
        KEEP(struct batch_fixture, f, batch_fixture_free);
        struct batch_result r;
        bool late = i % 3 == 2;
        batch_fixture_random(&f, rng, 1 + i % 6, 14, 1 + i % 12);
        for (int32_t k = 0; late && k < f.p.n_jobs; k++)
            f.jobs[k].submit_s = rng_range(rng, 0, 60);
        s.seed = (uint64_t)i;
        s.slot_s = i % 2 ? 6 : 0;
        s.whole_iterations = i % 4 == 3;
        for (enum batch_scheduler how = 0; how < N_BATCH_SCHEDULERS; how++) {
            run(&r, &f.p, &f.pace, how, &s);
            assert_batch(&r, &f.p, s.slot_s > 0);
            assert_true(r.makespan_s >= least_makespan_s(&f) * (1 - 1e-12));
            batch_result_free(&r);
        }
    }
}

static void assert_same(const struct batch_result *a, const struct batch_result *b,
                        const struct batch_problem *p)
{
    int32_t seats = 0;
    for (int32_t i = 0; i < p->n_jobs; i++)
        seats += p->jobs[i].gpus;
    assert_memory_equal(a->jobs, b->jobs, (size_t)p->n_jobs * sizeof *a->jobs);
    assert_memory_equal(a->gpus, b->gpus, (size_t)seats * sizeof *a->gpus);
    assert_memory_equal(&a->makespan_s, &b->makespan_s, sizeof a->makespan_s);
    assert_memory_equal(&a->mean_jct_s, &b->mean_jct_s, sizeof a->mean_jct_s);
    assert_int_equal(a->n_plans, b->n_plans);
    assert_int_equal(a->kappa, b->kappa);
    assert_true(a->theta == b->theta);
}

/* Once with speeds that served the other schedulers before, once with fresh ones. */
TEST(the_same_seed_gives_the_same_bytes)
{
    struct sjf_draw_settings draw = sjf_draw_default();
    struct batch_settings s = batch_settings_default();
    struct sjf_draw a, b;
    struct pace used;
    draw.seed = s.seed = 7;
    OK(sjf_draw_build(&a, &draw, e));
    OK(sjf_draw_build(&b, &draw, e));
    OK(pace_paper_build(&used, &a.contention, &a.problem, e));
    for (enum batch_scheduler how = 0; how < N_BATCH_SCHEDULERS; how++) {
        struct batch_result x, y;
        struct pace fresh;
        OK(pace_paper_build(&fresh, &b.contention, &b.problem, e));
        run(&x, &a.problem, &used, how, &s);
        run(&y, &b.problem, &fresh, how, &s);
        assert_same(&x, &y, &a.problem);
        batch_result_free(&x);
        batch_result_free(&y);
        fresh.free(fresh.x);
    }
    used.free(used.x);
    sjf_draw_free(&a);
    sjf_draw_free(&b);
}

/* arXiv 2207.07817 Fig. 4: SJF-BCO 535, LS 595, FF 719, RAND 1128. Its constants are not given, so the order
 * is what can be held against it; the slots and the search for kappa and theta are the paper's here. */
TEST(the_published_order_of_schedulers_is_found)
{
    struct batch_settings s = batch_settings_default();
    struct sjf_draw_settings draw = sjf_draw_default();
    int32_t best = 0, order = 0;
    s.theta_max = 1200;
    s.literal_bisect = true;
    s.more_limits = 0;
    for (s.seed = 101; s.seed <= 120; s.seed++) {
        double makespan_s[N_BATCH_SCHEDULERS];
        KEEP(struct sjf_draw, d, sjf_draw_free);
        struct pace pace;
        draw.seed = s.seed;
        OK(sjf_draw_build(&d, &draw, e));
        OK(pace_paper_build(&pace, &d.contention, &d.problem, e));
        for (enum batch_scheduler how = 0; how < N_BATCH_SCHEDULERS; how++) {
            KEEP(struct batch_result, r, batch_result_free);
            run(&r, &d.problem, &pace, how, &s);
            assert_batch(&r, &d.problem, false);
            makespan_s[how] = r.makespan_s;
        }
        const double sjf_s = makespan_s[BATCH_SJF_BCO], ls_s = makespan_s[BATCH_LS];
        const double ff_s = makespan_s[BATCH_FF], rand_s = makespan_s[BATCH_RAND];
        best += sjf_s < ls_s && sjf_s < ff_s && sjf_s < rand_s;
        order += sjf_s < ls_s && ls_s < ff_s && ff_s < rand_s;
        pace.free(pace.x);
    }
    assert_int_equal(best, 20);
    assert_in_range(order, 18, 20);
}

/* ---- what is refused ---- */

enum fault { GPUS, ITERATIONS, ARRIVAL, EXPECTED, COMPUTE, GRADIENT, SERVER, SERVER_GPUS, SERVERS, JOBS };

static void plant(struct batch_fixture *f, enum fault fault, double x)
{
    struct job *job = &f->jobs[1];
    switch (fault) {
    case GPUS:
        job->gpus = (int32_t)x;
        break;
    case ITERATIONS:
        job->iterations = (double)(int64_t)x;
        break;
    case ARRIVAL:
        job->submit_s = x;
        break;
    case EXPECTED:
        job->expected_s = x;
        break;
    case COMPUTE:
        job->compute_s = x;
        break;
    case GRADIENT:
        job->gradient_B = x;
        break;
    case SERVER:
        job->server_s = x;
        break;
    case SERVER_GPUS:
        f->gpus[1] = (int32_t)x;
        break;
    case SERVERS:
        f->p.cluster.n_servers = (int32_t)x;
        break;
    case JOBS:
        f->p.n_jobs = (int32_t)x;
        break;
    }
}

TEST(a_job_or_a_cluster_out_of_range_is_refused)
{
    CASES(enum fault fault; double x; const char *text) = {
        { GPUS, 6, "jobs[1].gpus: is 6, expected 1 to 5, all of the cluster" },
        { GPUS, 0, "jobs[1].gpus: is 0" },
        { GPUS, -4, "jobs[1].gpus: is -4" },
        { ITERATIONS, 0, "jobs[1].iterations: is 0, expected 1 to 1e+15" },
        { ITERATIONS, 2e15, "jobs[1].iterations: is 2000000000000000" },
        { ARRIVAL, -1, "jobs[1].arrival_s: is -1, expected 0 or more" },
        { ARRIVAL, NAN, "jobs[1].arrival_s: is nan" },
        { EXPECTED, 0, "jobs[1].expected_s: is 0, expected above 0" },
        { COMPUTE, -0.5, "jobs[1].compute_s: is -0.5, expected above 0" },
        { COMPUTE, INFINITY, "jobs[1].compute_s: is inf, expected above 0, at most 1e+15" },
        { GRADIENT, NAN, "jobs[1].gradient_B: is nan, expected 0 or more" },
        { SERVER, -1, "jobs[1].server_s: is -1" },
        { SERVER_GPUS, 0, "servers[1].gpus: is 0, expected 1 or more" },
        { SERVER_GPUS, 1000000, "servers: have more than 1000000 GPUs" },
        { SERVERS, 0, "servers: are 0, expected 1 or more" },
        { JOBS, 0, "jobs: are 0, expected 1 to 1000000" },
    };
    const struct batch_settings s = batch_settings_default();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct batch_fixture f;
        KEEP(struct batch_result, r, batch_result_free);
        batch_fixture_cluster(&f, 2, (const int32_t[]){ 2, 3 });
        batch_fixture_add(&f, batch_fixture_job(5, 1));
        batch_fixture_add(&f, batch_fixture_job(1, 1));
        plant(&f, cases[i].fault, cases[i].x);
        FAILS(batch_run(&r, BATCH_LS, &f.p, &f.pace, &s, e), ERR_RANGE, cases[i].text);
    }
}

/* ---- slots ---- */

/* When jobs of one GPU each end that come at once, each to a GPU of its own. */
static void ends_in_slots(double end_s[2], struct job first, struct job second, double slot_s, bool whole)
{
    struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    KEEP(struct batch_result, r, batch_result_free);
    s.slot_s = slot_s;
    s.whole_iterations = whole;
    batch_fixture_cluster(&f, 1, (const int32_t[]){ 2 });
    batch_fixture_add(&f, first);
    batch_fixture_add(&f, second);
    batch_fixture_pace(&f);
    run(&r, &f.p, &f.pace, BATCH_LS, &s);
    for (int k = 0; k < 2; k++)
        end_s[k] = r.jobs[k].end_s;
}

/* 7 and 30 iterations of 1 s: without slots 7 and 30 s; in slots of 4 s 8 and 32 s; of 2.5 s, that have room
 * for 2 whole iterations, 4 and 15 slots; with parts of iterations 3 and 12. In slots of .1 s, 70 and 300 of
 * them. */
TEST(jobs_end_with_their_last_slot)
{
    CASES(double slot_s; bool whole; double end_s[2]) = {
        { 0, false, { 30, 7 } },     { 4, true, { 32, 8 } },        { 2.5, true, { 37.5, 10 } },
        { 2.5, false, { 30, 7.5 } }, { 0.1, false, { 30.0, 7.0 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        double end_s[2];
        ends_in_slots(end_s, batch_fixture_job(1, 30), batch_fixture_job(1, 7), cases[i].slot_s,
                      cases[i].whole);
        for (int k = 0; k < 2; k++)
            assert_close(end_s[k], cases[i].end_s[k], 1e-12);
    }
}

/* 3 iterations of .1 s fill a slot of .3 s, though 3 / (.3 / .1) is above 1 in doubles. */
TEST(rounding_does_not_take_another_slot)
{
    struct job job = batch_fixture_job(1, 3);
    double end_s[2];
    job.compute_s = 0.1;
    assert_true(3 / (0.3 / 0.1) > 1);
    ends_in_slots(end_s, job, job, 0.3, false);
    assert_true(end_s[0] == 0.3 && end_s[1] == 0.3);
}

/* One iteration of 1 s, in the first slot after it arrived. */
TEST(a_job_starts_with_the_first_slot_after_it_arrived)
{
    CASES(double slot_s, submit_s,
          end_s) = { { 4, 0, 4 }, { 4, 0.1, 8 }, { 4, 4, 8 }, { 4, 4.5, 12 }, { 0, 4.5, 5.5 } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct job job = batch_fixture_job(1, 1);
        double end_s[2];
        job.submit_s = cases[i].submit_s;
        ends_in_slots(end_s, batch_fixture_job(1, 1), job, cases[i].slot_s, false);
        assert_true(end_s[1] == cases[i].end_s);
    }
}

/* An iteration of 1 s and slots of half a second. */
TEST(what_fails_on_the_way_is_passed_on_and_free)
{
    struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    batch_fixture_cluster(&f, 1, (const int32_t[]){ 2 });
    batch_fixture_add(&f, batch_fixture_job(1, 1));
    batch_fixture_pace(&f);
    s.slot_s = 0.5;
    s.whole_iterations = true;
    for (enum batch_scheduler how = 0; how < N_BATCH_SCHEDULERS; how++) {
        KEEP(struct batch_result, r, batch_result_free);
        FAILS(batch_run(&r, how, &f.p, &f.pace, &s, e), ERR_RANGE,
              "jobs[0]: an iteration takes 1 s, expected at most a slot, 0.5 s");
    }
}
