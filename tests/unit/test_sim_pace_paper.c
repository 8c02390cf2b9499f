#include "tests/unit/batch_fixture.h"

static double told_s(const struct pace *pace, int32_t job)
{
    return pace->iteration_s(pace->x, job);
}

static int32_t changes(struct pace *pace, const int32_t **jobs)
{
    int32_t n = -1;
    MUST(pace->changed(pace->x, jobs, &n, e));
    return n;
}

/* Three jobs of 2 GPUs with m = 10 B, b_e = 1, b_i = 10, xi1 = 1, alpha = .5: all-reduce 10 s alone on two
 * servers, 25 s with one other (f = 2.5), 40 s with two (f = 4), 1 s on one server; and 1 s of compute. */
TEST(jobs_that_meet_slow_each_other)
{
    const struct pace_place first = { 2, (const int32_t[]){ 0, 1 }, (const int32_t[]){ 1, 1 } };
    const struct pace_place second = { 2, (const int32_t[]){ 1, 2 }, (const int32_t[]){ 1, 1 } };
    const struct pace_place alone = { 1, (const int32_t[]){ 1 }, (const int32_t[]){ 2 } };
    KEEP(struct batch_fixture, f, batch_fixture_free);
    const int32_t *jobs;
    batch_fixture_cluster(&f, 3, (const int32_t[]){ 4, 5, 4 });
    f.contention.share_frac = 1;
    for (int i = 0; i < 4; i++) {
        batch_fixture_add(&f, batch_fixture_job(2, 9));
        f.jobs[i].gradient_B = 10;
    }
    batch_fixture_pace(&f);
    struct pace *p = &f.pace;

    OK(p->begin(p->x, 0, &first, e));
    assert_int_equal(changes(p, &jobs), 1);
    assert_close(told_s(p, 0), 11, 1e-14);
    OK(p->begin(p->x, 1, &second, e));
    assert_int_equal(changes(p, &jobs), 2);
    assert_close(told_s(p, 0), 26, 1e-14);
    assert_close(told_s(p, 1), 26, 1e-14);
    /* Whole on one server: neither slows nor is slowed. */
    OK(p->begin(p->x, 2, &alone, e));
    assert_int_equal(changes(p, &jobs), 1);
    assert_int_equal(jobs[0], 2);
    assert_close(told_s(p, 2), 2, 1e-14);
    /* The busiest server counts: on 1 there are three. */
    OK(p->begin(p->x, 3, &first, e));
    assert_int_equal(changes(p, &jobs), 3);
    assert_close(told_s(p, 1), 41, 1e-14);
    assert_close(told_s(p, 3), 41, 1e-14);
    /* One ends and another takes its place at the same time: nothing changes for the others. */
    p->end(p->x, 3);
    p->end(p->x, 2);
    OK(p->begin(p->x, 2, &first, e));
    assert_int_equal(changes(p, &jobs), 1);
    assert_int_equal(jobs[0], 2);
    assert_close(told_s(p, 2), 41, 1e-14);
}

enum { JOBS = 8, SERVERS = 4 };

/* p_j as printed: max over s of 1{0 < y_js < G_j} times the sum over j' of 1{0 < y_j's < G_j'}. */
static int32_t count_meeting(int32_t gpus_on[JOBS][SERVERS], const struct job *jobs, int32_t j)
{
    int32_t most = 0;
    for (int s = 0; s < SERVERS; s++) {
        int32_t here = 0;
        if (!(gpus_on[j][s] > 0 && gpus_on[j][s] < jobs[j].gpus))
            continue;
        for (int k = 0; k < JOBS; k++)
            here += gpus_on[k][s] > 0 && gpus_on[k][s] < jobs[k].gpus;
        most = here > most ? here : most;
    }
    return most;
}

struct places {
    int32_t gpus_on[JOBS][SERVERS]; /* y_js; all 0: does not run */
    int32_t servers[JOBS][SERVERS], counts[JOBS][SERVERS];
    int32_t n[JOBS];
    double last_s[JOBS];
};

/* Start a job on GPUs that are free, here and there; false when there are too few. */
static bool start_somewhere(struct places *y, const struct batch_fixture *f, int32_t j, struct rng *r)
{
    int32_t room[SERVERS], total = 0;
    for (int s = 0; s < SERVERS; s++) {
        room[s] = f->gpus[s];
        for (int k = 0; k < JOBS; k++)
            room[s] -= y->gpus_on[k][s];
        total += room[s];
    }
    if (total < f->jobs[j].gpus)
        return false;
    for (int32_t left = f->jobs[j].gpus; left > 0;) {
        int32_t s = (int32_t)rng_below(r, SERVERS);
        if (room[s]-- <= 0)
            continue;
        y->gpus_on[j][s]++;
        left--;
    }
    y->n[j] = 0;
    for (int32_t s = SERVERS - 1; s >= 0; s--)
        if (y->gpus_on[j][s] > 0) {
            y->servers[j][y->n[j]] = s;
            y->counts[j][y->n[j]++] = y->gpus_on[j][s];
        }
    const struct pace_place place = { y->n[j], y->servers[j], y->counts[j] };
    MUST(f->pace.begin(f->pace.x, j, &place, e));
    y->last_s[j] = 0;
    return true;
}

/* Every running job's time is the formula's, and every job whose time is new is listed once. */
static void compare_all(struct places *y, struct batch_fixture *f)
{
    const int32_t *jobs;
    int32_t n = changes(&f->pace, &jobs), listed[JOBS] = { 0 };
    for (int32_t i = 0; i < n; i++)
        listed[jobs[i]]++;
    for (int32_t j = 0; j < JOBS; j++) {
        if (y->n[j] == 0) {
            assert_int_equal(listed[j], 0);
            continue;
        }
        double want_s = contention_iteration_s(&f->contention, &f->jobs[j], y->n[j],
                                               count_meeting(y->gpus_on, f->jobs, j));
        assert_true(told_s(&f->pace, j) == want_s);
        assert_in_range(listed[j], want_s != y->last_s[j], 1);
        y->last_s[j] = want_s;
    }
}

TEST(the_count_of_meeting_jobs_is_that_of_the_definition)
{
    KEEP(struct batch_fixture, f, batch_fixture_free);
    struct places y = { 0 };
    int32_t started = 0;
    RNG(r, 5, 0);
    batch_fixture_cluster(&f, SERVERS, (const int32_t[]){ 2, 3, 4, 6 });
    for (int32_t i = 0; i < JOBS; i++) {
        batch_fixture_add(&f, batch_fixture_job(1 + i % 5, 9));
        f.jobs[i].gradient_B = 1 + i;
        f.jobs[i].server_s = 0.1 * i;
    }
    batch_fixture_pace(&f);
    for (int step = 0; step < 2000; step++) {
        int32_t j = (int32_t)rng_below(r, JOBS);
        if (y.n[j] > 0) {
            f.pace.end(f.pace.x, j);
            memset(y.gpus_on[j], 0, sizeof y.gpus_on[j]);
            y.n[j] = 0;
        } else {
            started += start_somewhere(&y, &f, j, r);
        }
        if (rng_below(r, 3) > 0) /* else several things happen at once */
            compare_all(&y, &f);
    }
    assert_true(started > 500);
}

TEST(what_cannot_be_built_is_said_and_free)
{
    struct batch_fixture f;
    batch_fixture_cluster(&f, 1, (const int32_t[]){ 2 });
    batch_fixture_add(&f, batch_fixture_job(3, 1));
    FAILS(pace_paper_build(&f.pace, &f.contention, &f.p, e), ERR_RANGE,
          "jobs[0].gpus: is 3, expected 1 to 2");
    f.pace.free(f.pace.x);
}
