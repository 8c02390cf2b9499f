#include "tests/unit/trace_sample.h"

#include "base/rng.h"
#include "workloads/traces/profile.h"
#include "workloads/traces/trace.h"

TEST(draws_are_inverse_distributions)
{
    const double below_1 = 1 - 0x1p-53;
    const struct trace_draw
        whole = { .kind = TRACE_DRAW_RANGE, .whole = true, .from = 1, .to = 4 },
        real = { .kind = TRACE_DRAW_RANGE, .from = 1, .to = 4 },
        log_real = { .kind = TRACE_DRAW_RANGE, .log = true, .from = 1, .to = 16 },
        log_whole = { .kind = TRACE_DRAW_RANGE, .log = true, .whole = true, .from = 1, .to = 7 },
        list = { .kind = TRACE_DRAW_LIST, .n = 3, .values = { 5, 6, 7 }, .upto = { 0.25, 0.25, 1 } },
        none = { .kind = TRACE_DRAW_NONE };
    const struct {
        const struct trace_draw *d;
        double u, want;
    } cases[] = {
        { &whole, 0, 1 },
        { &whole, 0.2499, 1 },
        { &whole, 0.25, 2 },
        { &whole, below_1, 4 },
        { &real, 0, 1 },
        { &real, 0.5, 2.5 },
        { &log_real, 0, 1 },
        { &log_real, 0.25, 2 },
        { &log_real, 0.5, 4 },
        /* 1, 2 to 3, 4 to 7: a third of the octaves each */
        { &log_whole, 0.333, 1 },
        { &log_whole, 0.334, 2 },
        { &log_whole, 0.667, 4 },
        { &log_whole, below_1, 7 },
        { &list, 0, 5 },
        { &list, 0.2499, 5 },
        { &list, 0.25, 7 },
        { &list, below_1, 7 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_close(trace_draw_at(cases[i].d, cases[i].u), cases[i].want, 1e-14);
    assert_true(isnan(trace_draw_at(&none, 0.5)));
}

static void read_profile(struct trace_profile *p, const char *text)
{
    char path[SUPPORT_PATH];
    SCRATCH(dir);
    MUST(trace_read_profile(p, scratch_file(path, dir, "p.yaml", text, strlen(text)), e));
}

static void fill(struct trace *t, const struct trace_profile *p, uint64_t seed)
{
    struct trace_fill_counts counts;
    MUST(trace_fill(t, p, seed, &counts, e));
}

static const char fixed[] = "gpus: 12\ngpus_per_worker: 8\nps: 3\npriority: 2.5\niters: 40\n"
                            "models: [ { name: Net, grad_MB: 50, batch: 32, iter_ms: 250 } ]\n";

#define BIT(k) (1u << (k))

/* Nothing but an arrival is known: 12 GPUs are 2 workers of 8; 40 iterations of .25 s are 10 s. */
TEST(what_is_unknown_is_drawn_and_marked)
{
    static struct trace_profile p;
    read_profile(&p, fixed);
    TRACE_TEXT(t, "google", "5,,77,0,u,1,j,l\n", &strict);
    fill(&t, &p, 1);
    const struct trace_job *job = &t.jobs[0];
    assert_true(job->gpus == 12 && job->workers == 2 && job->ps == 3 && job->priority == 2.5);
    assert_string_equal(job->model, "Net");
    assert_true(job->grad_bytes == 5e7 && job->batch == 32 && job->iters == 40 && job->runtime_s == 10);
    assert_int_equal(job->status, TRACE_STATUS_UNKNOWN);
    assert_int_equal(job->synthetic, BIT(TRACE_GPUS) | BIT(TRACE_WORKERS) | BIT(TRACE_PS) |
                                         BIT(TRACE_PRIORITY) | BIT(TRACE_MODEL) | BIT(TRACE_GRAD) |
                                         BIT(TRACE_BATCH) | BIT(TRACE_ITERS) | BIT(TRACE_RUNTIME));
}

/* 3600 s of .25 s are 14,400 iterations; .1 s is one all the same; 7 iterations are 1.75 s. */
TEST(what_is_known_stays_and_says_the_rest)
{
    static const char rows[] = "job_id,submit_s,gpus,runtime_s,iters,batch,workers,model\n"
                               "a,0,4,3600,,64,1,\n"
                               "b,1,16,0.1,,,,net\n"
                               "c,2,1,,7,,,\n"
                               "d,3,1,5,9,,,\n";
    static struct trace_profile p;
    read_profile(&p, fixed);
    TRACE_TEXT(t, "csv", rows, &strict);
    fill(&t, &p, 1);
    assert_true(t.jobs[0].gpus == 4 && t.jobs[0].workers == 1 && t.jobs[0].batch == 64);
    assert_int_equal(t.jobs[0].iters, 14400);
    assert_int_equal(t.jobs[0].synthetic, BIT(TRACE_MODEL) | BIT(TRACE_ITERS) | BIT(TRACE_GRAD) |
                                              BIT(TRACE_PS) | BIT(TRACE_PRIORITY));
    assert_string_equal(t.jobs[1].model, "net");
    assert_true(t.jobs[1].iters == 1 && t.jobs[1].workers == 2);
    assert_false(t.jobs[1].synthetic & BIT(TRACE_MODEL));
    assert_true(t.jobs[2].runtime_s == 1.75);
    assert_true(t.jobs[2].synthetic & BIT(TRACE_RUNTIME) && !(t.jobs[2].synthetic & BIT(TRACE_ITERS)));
    assert_true(t.jobs[3].runtime_s == 5 && t.jobs[3].iters == 9);
}

TEST(what_a_profile_lacks_stays_unknown)
{
    static struct trace_profile p;
    read_profile(&p, "iters: 5\n");
    TRACE_TEXT(t, "google", "5,,77,0,u,1,j,l\n", &strict);
    fill(&t, &p, 1);
    assert_true(t.jobs[0].gpus == -1 && t.jobs[0].workers == -1 && t.jobs[0].ps == -1 &&
                t.jobs[0].batch == -1);
    assert_true(isnan(t.jobs[0].runtime_s) && isnan(t.jobs[0].grad_bytes) && isnan(t.jobs[0].priority));
    assert_null(t.jobs[0].model);
    assert_int_equal(t.jobs[0].synthetic, BIT(TRACE_ITERS));
}

TEST(a_model_that_the_profile_lacks_is_counted)
{
    static struct trace_profile p;
    struct trace_fill_counts counts;
    read_profile(&p, fixed);
    TRACE_SAMPLE(t, "tiresias", "tiresias.csv");
    OK(trace_fill(&t, &p, 1, &counts, e));
    assert_int_equal(counts.n_unlike, 4);
    assert_string_equal(t.jobs[0].model, "vgg19");
    assert_true(t.jobs[0].grad_bytes == 5e7);
}

static const char varied[] = "gpus: { from: 1, to: 64, log: true }\nps: { from: 0, to: 9 }\n"
                             "priority: { from: 0, to: 1 }\niters: { from: 1, to: 1000000 }\n"
                             "models:\n"
                             "  - { name: a, grad_MB: { from: 1, to: 2 }, batch: { from: 1, to: 999 } }\n"
                             "  - { name: b, grad_MB: { from: 3, to: 4 }, iter_ms: { from: 1, to: 9 } }\n";

static void assert_same_draws(const struct trace_job *a, const struct trace_job *b)
{
    assert_int_equal(a->index, b->index);
    assert_string_equal(a->model, b->model);
    assert_true(a->gpus == b->gpus && a->ps == b->ps && a->iters == b->iters && a->batch == b->batch);
    assert_true(same_real(a->grad_bytes, b->grad_bytes) && same_real(a->priority, b->priority));
    assert_true(same_real(a->runtime_s, b->runtime_s));
}

/* The same jobs after a window, in another order, and beside bad rows. */
TEST(draws_depend_on_seed_and_place_alone)
{
    enum { N = 200 };
    static struct trace_profile p;
    struct trace_window w = trace_window_default();
    read_profile(&p, varied);
    TRACE_DRAW(all, N, 1, 1);
    TRACE_DRAW(some, N, 1, 1);
    fill(&all, &p, 9);
    w.n = 50;
    w.start = 120;
    OK(trace_cut(&some, &w, e));
    for (int i = 0; i < 50; i++)
        some.jobs[i].submit_s = -some.jobs[i].submit_s;
    trace_sort(&some, false);
    fill(&some, &p, 9);
    for (int i = 0; i < 50; i++)
        assert_same_draws(&some.jobs[i], &all.jobs[169 - i]);
}

TEST(bad_rows_do_not_shift_the_draws_of_others)
{
    static const char good[] = "job_id,submit_s,gpus\na,0,\nb,1,\nc,2,\n",
                      worse[] = "job_id,submit_s,gpus\na,0,\nb,x,\nc,2,\n";
    static struct trace_profile p;
    read_profile(&p, varied);
    TRACE_TEXT(t, "csv", good, &strict);
    TRACE_TEXT(u, "csv", worse, &lenient);
    fill(&t, &p, 2);
    fill(&u, &p, 2);
    assert_same_draws(&u.jobs[0], &t.jobs[0]);
    assert_same_draws(&u.jobs[1], &t.jobs[2]);
}

/* A field that is known takes its number all the same. */
TEST(knowing_a_field_does_not_change_the_others)
{
    static struct trace_profile p;
    read_profile(&p, varied);
    TRACE_TEXT(t, "csv", "job_id,submit_s,gpus,ps\na,0,,\n", &strict);
    TRACE_TEXT(u, "csv", "job_id,submit_s,gpus,ps\na,0,7,77\n", &strict);
    fill(&t, &p, 2);
    fill(&u, &p, 2);
    assert_true(u.jobs[0].gpus == 7 && u.jobs[0].ps == 77);
    assert_string_equal(t.jobs[0].model, u.jobs[0].model);
    assert_true(t.jobs[0].iters == u.jobs[0].iters && t.jobs[0].batch == u.jobs[0].batch);
    assert_true(t.jobs[0].grad_bytes == u.jobs[0].grad_bytes && t.jobs[0].priority == u.jobs[0].priority);
}

TEST(seeds_and_jobs_differ)
{
    static struct trace_profile p;
    read_profile(&p, varied);
    TRACE_DRAW(t, 10, 1, 1);
    TRACE_DRAW(u, 10, 1, 1);
    fill(&t, &p, 1);
    fill(&u, &p, 2);
    for (int i = 0; i < 10; i++)
        assert_true(t.jobs[i].priority != u.jobs[i].priority &&
                    t.jobs[i].priority != t.jobs[(i + 1) % 10].priority);
}

/* What runs the jobs with the same seed draws from streams below 2^32: GADGET by slot, random places from the
 * first. */
TEST(jobs_have_streams_of_their_own)
{
    static struct trace_profile p;
    const struct trace_draw real = { .kind = TRACE_DRAW_RANGE, .from = 1, .to = 2 };
    read_profile(&p, "priority: { from: 1, to: 2 }\n");
    TRACE_DRAW(t, 10, 1, 1);
    fill(&t, &p, 1);
    for (uint64_t i = 0; i < 10; i++) {
        RNG(rng, 1, i);
        for (int k = 0; k < 20; k++)
            assert_true(t.jobs[i].priority != trace_draw_at(&real, rng_uniform(rng)));
    }
}

/* GADGET's ranges (arXiv 2202.01158): every value of 1 to 5 workers about as often; 4 standard deviations. */
TEST(draws_of_gadget_keep_its_ranges)
{
    enum { N = 5000 };
    static struct trace_profile p;
    int counts[6] = { 0 };
    double sum_iters = 0;
    OK(trace_read_profile(&p, "configs/clusters/profiles/google-arrivals-gadget.yaml", e));
    TRACE_DRAW(t, N, 1, 1);
    fill(&t, &p, 1);
    for (int i = 0; i < N; i++) {
        assert_in_range(t.jobs[i].gpus, 1, 5);
        assert_int_equal(t.jobs[i].workers, t.jobs[i].gpus);
        assert_in_range(t.jobs[i].iters, 1000, 6000);
        assert_true(t.jobs[i].priority >= 1 && t.jobs[i].priority < 100);
        assert_true(t.jobs[i].grad_bytes >= 30e6 && t.jobs[i].grad_bytes < 575e6);
        assert_true(isnan(t.jobs[i].runtime_s));
        counts[t.jobs[i].gpus]++;
        sum_iters += (double)t.jobs[i].iters;
    }
    for (int k = 1; k <= 5; k++)
        assert_near(counts[k], N / 5.0, 4 * sqrt(N * 0.2 * 0.8));
    assert_near(sum_iters / N, 3500, 4 * 5000 / sqrt(12.0 * N));
}
