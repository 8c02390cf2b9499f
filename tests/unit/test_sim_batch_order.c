#include "sim/batch/batch.h"
#include "tests/settings.h"
#include "tests/unit/batch_fixture.h"

static struct batch_result run(struct batch_fixture *f, enum batch_scheduler how,
                               const struct batch_settings *s)
{
    struct batch_result r;
    MUST(batch_run(&r, how, &f->p, &f->pace, s, e));
    assert_batch(&r, &f->p, false);
    return r;
}

#define RUN(name, ...) KEEP(struct batch_result, name, batch_result_free) = run(__VA_ARGS__)

/* Nine equal jobs of one GPU on servers of 1 and 3. */
static void nine_equal_jobs(struct batch_fixture *f)
{
    batch_fixture_cluster(f, 2, (const int32_t[]){ 1, 3 });
    for (int i = 0; i < 9; i++)
        batch_fixture_add(f, batch_fixture_job(1, 10));
    batch_fixture_pace(f);
}

TEST(list_scheduling_and_idle_gpus_spread_equal_jobs_evenly)
{
    struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    nine_equal_jobs(&f);
    for (s.seed = 1; s.seed <= 10; s.seed++) {
        RUN(ls, &f, BATCH_LS, &s);
        RUN(any, &f, BATCH_RAND, &s);
        assert_close(ls.makespan_s, 30, 1e-14);
        assert_close(any.makespan_s, 30, 1e-14);
    }
}

/* The mean is 9 * 10 / 4 = 22.5 s. Loads count 10/1.15 s a job, so that 2.25 means hold 5 jobs a GPU: 5 on
 * the first and 4 on the second. A limit of half a mean holds one a GPU, and the five left go to the least
 * loaded. */
TEST(first_fit_fills_gpu_after_gpu)
{
    CASES(double limit;
          int32_t jobs[4]) = { { 2.25, { 5, 4, 0, 0 } }, { 100, { 9, 0, 0, 0 } }, { 0.5, { 3, 2, 2, 2 } } };
    struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    nine_equal_jobs(&f);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int32_t jobs[4] = { 0 };
        s.ff_limit = cases[i].limit;
        s.seed = i;
        RUN(r, &f, BATCH_FF, &s);
        for (int k = 0; k < 9; k++)
            jobs[r.gpus[k]]++;
        assert_memory_equal(jobs, cases[i].jobs, sizeof jobs);
    }
}

/* A pair of 4 GPUs: six pairs, 100 of 600 each but for chance (9 per standard deviation). */
TEST(every_pair_of_idle_gpus_is_equally_likely)
{
    struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    int32_t met[4][4] = { 0 };
    batch_fixture_cluster(&f, 2, (const int32_t[]){ 1, 3 });
    batch_fixture_add(&f, batch_fixture_job(2, 10));
    batch_fixture_pace(&f);
    for (s.seed = 0; s.seed < 600; s.seed++) {
        RUN(r, &f, BATCH_RAND, &s);
        met[r.gpus[0]][r.gpus[1]]++;
    }
    for (int a = 0; a < 4; a++)
        for (int b = a + 1; b < 4; b++)
            assert_in_range(met[a][b], 55, 145);
}

/* Two jobs of one GPU and 10 s, one of both GPUs and 5 s: 15 s when that one is first or last, 25 s when it
 * comes between; all equally likely. */
TEST(jobs_take_their_turn_in_random_order)
{
    struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    int32_t between[N_BATCH_SCHEDULERS] = { 0 };
    batch_fixture_cluster(&f, 1, (const int32_t[]){ 2 });
    batch_fixture_add(&f, batch_fixture_job(1, 10));
    batch_fixture_add(&f, batch_fixture_job(2, 5));
    batch_fixture_add(&f, batch_fixture_job(1, 10));
    batch_fixture_pace(&f);
    for (s.seed = 0; s.seed < 300; s.seed++)
        for (enum batch_scheduler how = BATCH_LS; how <= BATCH_RAND; how++) {
            RUN(r, &f, how, &s);
            between[how] += r.makespan_s > 20;
            assert_close(r.makespan_s, r.makespan_s > 20 ? 25 : 15, 1e-14);
        }
    assert_in_range(between[BATCH_LS], 60, 140);
    assert_int_equal(between[BATCH_RAND], between[BATCH_LS]); /* the same orders */
}

/* The job of the whole cluster arrives at 7; whoever comes after it in the order waits. */
TEST(a_job_that_has_not_arrived_holds_the_line)
{
    struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    int32_t waited = 0;
    batch_fixture_cluster(&f, 1, (const int32_t[]){ 2 });
    batch_fixture_add(&f, batch_fixture_job(1, 3));
    batch_fixture_add(&f, batch_fixture_job(2, 5));
    f.jobs[1].submit_s = 7;
    batch_fixture_pace(&f);
    for (s.seed = 0; s.seed < 20; s.seed++) {
        RUN(r, &f, BATCH_RAND, &s);
        assert_close(r.jobs[1].start_s, 7, 1e-14);
        waited += r.jobs[0].start_s > 0;
        assert_true(r.jobs[0].start_s == 0 || fabs(r.jobs[0].start_s - 12) < 1e-9);
    }
    assert_in_range(waited, 1, 19);
}
