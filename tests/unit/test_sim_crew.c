#include "sim/batch/batch.h"
#include "tests/unit/batch_fixture.h"

struct bed {
    struct batch_fixture f;
    struct batch_work w;
};

/* Two jobs of one GPU each; iterations of 1 s. */
static void bed_build(struct bed *b, double slot_s, bool whole)
{
    struct batch_settings s = batch_settings_default();
    s.slot_s = slot_s;
    s.whole_iterations = whole;
    batch_fixture_cluster(&b->f, 1, (const int32_t[]){ 2 });
    batch_fixture_add(&b->f, batch_fixture_job(1, 30));
    batch_fixture_add(&b->f, batch_fixture_job(1, 7));
    batch_fixture_pace(&b->f);
    MUST(batch_work_build(&b->w, &b->f.p, &b->f.pace, &s, e));
}

static void bed_free(struct bed *b)
{
    batch_work_free(&b->w);
    batch_fixture_free(&b->f);
}

static void start_both(struct bed *b)
{
    for (int32_t job = 0; job < 2; job++)
        MUST(crew_start(&b->w.crew, job, &job, e));
    MUST(crew_settle(&b->w.crew, e));
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
        KEEP(struct bed, b, bed_free);
        bed_build(&b, cases[i].slot_s, cases[i].whole);
        start_both(&b);
        crew_advance(&b.w.crew, crew_next(&b.w.crew));
        assert_int_equal(b.w.crew.n_ended, 1);
        assert_int_equal(b.w.crew.ended[0], 1);
        crew_advance(&b.w.crew, crew_next(&b.w.crew));
        assert_int_equal(b.w.crew.n_running, 0);
        assert_true(crew_next(&b.w.crew) == INFINITY);
        for (int k = 0; k < 2; k++)
            assert_close(b.w.crew.spans[k].end_s, cases[i].end_s[k], 1e-12);
    }
}

/* 3 iterations of .1 s fill a slot of .3 s, though 3 / (.3 / .1) is above 1 in doubles. */
TEST(rounding_does_not_take_another_slot)
{
    KEEP(struct bed, b, bed_free);
    bed_build(&b, 0.3, false);
    b.f.jobs[0].iterations = 3;
    b.f.jobs[0].compute_s = 0.1;
    assert_true(3 / (0.3 / 0.1) > 1);
    OK(crew_start(&b.w.crew, 0, (const int32_t[]){ 1 }, e));
    OK(crew_settle(&b.w.crew, e));
    assert_true(crew_next(&b.w.crew) == 1);
}

TEST(a_job_starts_with_the_first_slot_after_it_arrived)
{
    KEEP(struct bed, b, bed_free);
    bed_build(&b, 4, false);
    assert_true(crew_tick(&b.w.crew, 0) == 0);
    assert_true(crew_tick(&b.w.crew, 0.1) == 1);
    assert_true(crew_tick(&b.w.crew, 4) == 1);
    assert_true(crew_tick(&b.w.crew, 4.5) == 2);
    bed_free(&b);
    bed_build(&b, 0, false);
    assert_true(crew_tick(&b.w.crew, 4.5) == 4.5);
}

/* A time at which nothing ends only moves the clock. */
TEST(a_reset_forgets_what_runs)
{
    KEEP(struct bed, b, bed_free);
    bed_build(&b, 0, false);
    start_both(&b);
    crew_advance(&b.w.crew, 3);
    assert_int_equal(b.w.crew.n_ended, 0);
    assert_true(b.w.crew.now == 3);
    crew_reset(&b.w.crew);
    assert_int_equal(b.w.crew.n_running, 0);
    assert_true(b.w.crew.now == 0);
    assert_true(crew_next(&b.w.crew) == INFINITY);
    start_both(&b);
    assert_close(crew_next(&b.w.crew), 7, 1e-14);
}
