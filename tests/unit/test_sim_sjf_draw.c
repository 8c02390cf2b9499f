#include "sim/batch/batch.h"
#include "tests/settings.h"
#include "tests/support.h"

static void draw(struct sjf_draw *d, const struct sjf_draw_settings *s)
{
    MUST(sjf_draw_build(d, s, e));
}

/* arXiv 2207.07817 section 7. */
TEST(a_batch_is_the_papers_mix)
{
    static const struct {
        int32_t gpus, n;
    } mix[] = { { 1, 80 }, { 2, 14 }, { 4, 26 }, { 8, 30 }, { 16, 8 }, { 32, 2 } };
    struct sjf_draw_settings s = sjf_draw_default();
    for (s.seed = 1; s.seed <= 20; s.seed++) {
        KEEP(struct sjf_draw, d, sjf_draw_free);
        draw(&d, &s);
        int32_t job = 0;
        for (size_t k = 0; k < COUNT_OF(mix); k++)
            for (int32_t i = 0; i < mix[k].n; i++)
                assert_int_equal(d.problem.jobs[job++].gpus, mix[k].gpus);
        assert_int_equal(d.problem.n_jobs, 160);
        for (job = 0; job < 160; job++) {
            const struct job *j = &d.problem.jobs[job];
            double run_s = (double)j->iterations * j->compute_s;
            assert_in_range(j->iterations, 1000, 6000);
            assert_true(j->compute_s >= 0.01 && j->compute_s <= 0.05);
            assert_true(run_s >= 50 && run_s <= 300);
            assert_close(j->expected_s, run_s, 1e-14);
            assert_true(j->submit_s == 0);
        }
        assert_int_equal(d.problem.cluster.n_servers, 20);
        for (int32_t i = 0; i < 20; i++) {
            int32_t gpus = d.problem.cluster.gpus[i];
            assert_true(gpus == 4 || gpus == 8 || gpus == 16 || gpus == 32);
        }
    }
}

/* c (1 + phi (w-1)/w f + .01 (servers - 1)), with phi = .2 and f(k = 2) = 2.5 where four jobs meet. */
TEST(an_iteration_takes_the_stated_shares_of_c)
{
    const struct sjf_draw_settings s = sjf_draw_default();
    KEEP(struct sjf_draw, d, sjf_draw_free);
    draw(&d, &s);
    for (int32_t i = 80; i < 160; i++) {
        const struct job *j = &d.problem.jobs[i];
        double c_s = j->compute_s, ring = (j->gpus - 1.0) / j->gpus;
        assert_close(contention_iteration_s(&d.contention, j, 3, 1), c_s * (1 + 0.2 * ring + 0.02), 1e-12);
        assert_close(contention_iteration_s(&d.contention, j, 2, 4), c_s * (1 + 0.5 * ring + 0.01), 1e-12);
        assert_close(contention_iteration_s(&d.contention, j, 1, 1), c_s * (1 + 0.2 / 30 * ring), 1e-12);
    }
}

TEST(fewer_servers_are_the_first_of_more_and_jobs_stay)
{
    struct sjf_draw_settings s = sjf_draw_default();
    struct sjf_draw many, few;
    draw(&many, &s);
    s.n_servers = 10;
    draw(&few, &s);
    assert_memory_equal(few.gpus, many.gpus, 10 * sizeof *few.gpus);
    assert_memory_equal(few.jobs, many.jobs, 160 * sizeof *few.jobs);
    sjf_draw_free(&few);
    s.seed = 2;
    draw(&few, &s);
    assert_memory_not_equal(few.jobs, many.jobs, 160 * sizeof *few.jobs);
    sjf_draw_free(&few);
    sjf_draw_free(&many);
}

TEST(a_batch_that_cannot_be_drawn_is_refused)
{
    const struct sjf_draw_settings good = sjf_draw_default();
    struct sjf_draw_settings none = good, long_runs = good, large = good, negative = good;
    none.n_kinds = 1;
    none.kinds[0].n_jobs = 0;
    long_runs.run_s = (struct draw_range){ 1e6, 2e6 };
    large.n_servers = large.n_server_sizes = large.n_kinds = negative.n_server_sizes = 1;
    large.server_gpus[0] = 32;
    large.kinds[0] = (struct sjf_draw_kind){ 64, 3 };
    negative.server_gpus[0] = -4;
    const struct {
        const struct sjf_draw_settings *s;
        const char *text;
    } cases[] = {
        { &none, "kinds: are 0 jobs, expected 1 to 1000000" },
        { &long_runs,
          "run_s: is 1e+06 to 2e+06, expected times that iterations times iteration_s can come to" },
        { &large, "jobs[0].gpus: is 64, expected 1 to 32" },
        { &negative, "servers[0].gpus: is -4, expected 1 or more" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct sjf_draw, d, sjf_draw_free);
        FAILS(sjf_draw_build(&d, cases[i].s, e), ERR_RANGE, cases[i].text);
    }
}
