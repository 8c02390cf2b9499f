#include "sim/batch/batch.h"
#include "tests/settings.h"
#include "tests/unit/batch_fixture.h"

/* A plan and what it takes to carry it out. */
struct bed {
    struct batch_fixture f;
    struct batch_work w;
};

static void bed_build(struct bed *b, const struct batch_settings *s)
{
    MUST(batch_work_build(&b->w, &b->f.p, &b->f.pace, s, e));
}

static void bed_free(struct bed *b)
{
    batch_work_free(&b->w);
    batch_fixture_free(&b->f);
}

static void bed_run(struct bed *b)
{
    MUST(queues_run(&b->w.queues, &b->w.plan, &b->w.crew, e));
}

/* Any order, any GPUs. */
static void plan_at_random(struct bed *b, struct rng *r)
{
    for (int32_t i = 0; i < b->f.p.n_jobs; i++) {
        int32_t at = (int32_t)rng_below(r, i + 1), *gpus = b->w.plan.gpus + b->w.g.seat[i];
        int32_t left = b->f.jobs[i].gpus;
        b->w.plan.order[i] = b->w.plan.order[at];
        b->w.plan.order[at] = i;
        for (int32_t gpu = 0; left > 0; gpu++)
            if (rng_below(r, b->w.g.n_gpus - gpu) < left) {
                *gpus++ = gpu;
                left--;
            }
    }
}

/* ---- the same, slot by slot ---- */

struct slots {
    const struct bed *b;
    double slot_s;
    bool whole;
    double done[BATCH_FIXTURE_JOBS];
    int32_t start[BATCH_FIXTURE_JOBS], end[BATCH_FIXTURE_JOBS]; /* -1: not yet */
};

static bool runs(const struct slots *x, int32_t job)
{
    return x->start[job] >= 0 && x->end[job] < 0;
}

static int32_t gpus_on(const struct slots *x, int32_t job, int32_t server)
{
    int32_t n = 0;
    for (int32_t seat = x->b->w.g.seat[job]; seat < x->b->w.g.seat[job + 1]; seat++)
        n += x->b->w.g.gpu_server[x->b->w.plan.gpus[seat]] == server;
    return n;
}

static bool share_a_gpu(const struct slots *x, int32_t a, int32_t b)
{
    const struct gang *g = &x->b->w.g;
    for (int32_t i = g->seat[a]; i < g->seat[a + 1]; i++)
        for (int32_t k = g->seat[b]; k < g->seat[b + 1]; k++)
            if (x->b->w.plan.gpus[i] == x->b->w.plan.gpus[k])
                return true;
    return false;
}

/* All jobs planned before it that share a GPU with it are done. */
static bool is_first(const struct slots *x, int32_t at)
{
    const int32_t *order = x->b->w.plan.order;
    for (int32_t i = 0; i < at; i++)
        if (x->end[order[i]] < 0 && share_a_gpu(x, order[i], order[at]))
            return false;
    return true;
}

static double iterations_of_slot(const struct slots *x, int32_t job)
{
    const struct batch_fixture *f = &x->b->f;
    int32_t p = 0, n_servers = 0;
    for (int32_t s = 0; s < f->p.cluster.n_servers; s++) {
        int32_t here = 0, own = gpus_on(x, job, s);
        n_servers += own > 0;
        for (int32_t k = 0; k < f->p.n_jobs; k++) {
            int32_t y = gpus_on(x, k, s);
            here += runs(x, k) && y > 0 && y < f->jobs[k].gpus;
        }
        p = own > 0 && own < f->jobs[job].gpus && here > p ? here : p;
    }
    double n = x->slot_s / contention_iteration_s(&f->contention, &f->jobs[job], n_servers, p);
    return x->whole ? floor(n) : n;
}

static void step_through(struct slots *x)
{
    int32_t n_jobs = x->b->f.p.n_jobs, n_done = 0;
    for (int32_t i = 0; i < n_jobs; i++) {
        x->done[i] = 0;
        x->start[i] = x->end[i] = -1;
    }
    for (int32_t t = 0; n_done < n_jobs; t++) {
        assert_true(t < 1000000);
        double add[BATCH_FIXTURE_JOBS] = { 0 };
        for (int32_t at = 0; at < n_jobs; at++) {
            int32_t job = x->b->w.plan.order[at];
            if (x->start[job] < 0 && x->b->f.jobs[job].submit_s <= t * x->slot_s && is_first(x, at))
                x->start[job] = t;
        }
        for (int32_t job = 0; job < n_jobs; job++)
            if (runs(x, job))
                add[job] = iterations_of_slot(x, job);
        for (int32_t job = 0; job < n_jobs; job++) {
            x->done[job] += add[job];
            if (runs(x, job) && x->done[job] >= (double)x->b->f.jobs[job].iterations - 1e-9) {
                x->end[job] = t + 1;
                n_done++;
            }
        }
    }
}

static void compare_with_slots(struct bed *b, struct rng *r, bool whole, bool late)
{
    struct batch_settings s = batch_settings_default();
    struct slots x = { .b = b, .slot_s = 6, .whole = whole };
    batch_fixture_random(&b->f, r, 1 + (int32_t)rng_below(r, 4), 9, 2 + (int32_t)rng_below(r, 9));
    for (int32_t i = 0; late && i < b->f.p.n_jobs; i++)
        b->f.jobs[i].submit_s = rng_range(r, 0, 100);
    s.slot_s = x.slot_s;
    s.whole_iterations = whole;
    bed_build(b, &s);
    for (int round = 0; round < 3; round++) { /* one crew serves plan after plan */
        plan_at_random(b, r);
        bed_run(b);
        step_through(&x);
        for (int32_t i = 0; i < b->f.p.n_jobs; i++) {
            assert_true(b->w.crew.spans[i].start_s == x.start[i] * x.slot_s);
            assert_true(b->w.crew.spans[i].end_s == x.end[i] * x.slot_s);
        }
    }
    bed_free(b);
}

TEST(events_are_what_stepping_through_the_slots_gives)
{
    struct bed b;
    RNG(r, 11, 0);
    for (int i = 0; i < 200; i++)
        compare_with_slots(&b, r, i % 2 == 0, i % 4 >= 2);
}

/* Two servers of 2; m = 1 B, b_e = 1, xi1 = 1, alpha = 0, 1 s of compute: across both servers an iteration
 * takes 2 s alone and 3 s with another. Jobs 0 and 1, of 10 and 20 iterations, start together: at 30 s the
 * first is done and the second has done 10, so it ends at 50 s. Then the third has two GPUs of one
 * server: 1.1 s each. */
TEST(speeds_follow_what_starts_and_ends)
{
    const struct batch_settings s = batch_settings_default();
    KEEP(struct bed, b, bed_free);
    batch_fixture_cluster(&b.f, 2, (const int32_t[]){ 2, 2 });
    b.f.contention.share_frac = 1;
    b.f.contention.alpha = 0;
    for (int i = 0; i < 3; i++) {
        batch_fixture_add(&b.f, batch_fixture_job(2, 10 + 10L * i));
        b.f.jobs[i].gradient_B = 1;
    }
    batch_fixture_pace(&b.f);
    bed_build(&b, &s);
    memcpy(b.w.plan.gpus, (int32_t[]){ 0, 2, 1, 3, 0, 1 }, 6 * sizeof(int32_t));
    memcpy(b.w.plan.order, (int32_t[]){ 1, 0, 2 }, 3 * sizeof(int32_t));
    bed_run(&b);
    assert_true(b.w.crew.spans[0].start_s == 0 && b.w.crew.spans[1].start_s == 0);
    assert_close(b.w.crew.spans[0].end_s, 30, 1e-14);
    assert_close(b.w.crew.spans[1].end_s, 50, 1e-14);
    assert_close(b.w.crew.spans[1].fastest_s, 2, 1e-14);
    assert_close(b.w.crew.spans[1].slowest_s, 3, 1e-14);
    assert_close(b.w.crew.spans[2].start_s, 50, 1e-14);
    assert_close(b.w.crew.spans[2].end_s, 83, 1e-14);
    assert_true(b.w.crew.spans[0].n_servers == 2 && b.w.crew.spans[2].n_servers == 1);
}

/* A gang keeps its place: who comes later on one of its GPUs waits, though that GPU is idle. */
TEST(a_gang_waits_for_its_last_gpu_and_others_wait_for_it)
{
    const struct batch_settings s = batch_settings_default();
    KEEP(struct bed, b, bed_free);
    batch_fixture_cluster(&b.f, 1, (const int32_t[]){ 3 });
    batch_fixture_add(&b.f, batch_fixture_job(1, 50)); /* GPU 0 */
    batch_fixture_add(&b.f, batch_fixture_job(2, 10)); /* GPUs 0 and 1 */
    batch_fixture_add(&b.f, batch_fixture_job(1, 5));  /* GPU 1 */
    batch_fixture_add(&b.f, batch_fixture_job(1, 7));  /* GPU 2 */
    b.f.jobs[3].submit_s = 4;
    batch_fixture_pace(&b.f);
    bed_build(&b, &s);
    memcpy(b.w.plan.gpus, (int32_t[]){ 0, 0, 1, 1, 2 }, 5 * sizeof(int32_t));
    memcpy(b.w.plan.order, (int32_t[]){ 0, 1, 2, 3 }, 4 * sizeof(int32_t));
    bed_run(&b);
    static const double want[4][2] = { { 0, 50 }, { 50, 60 }, { 60, 65 }, { 4, 11 } };
    for (int i = 0; i < 4; i++) {
        assert_close(b.w.crew.spans[i].start_s, want[i][0], 1e-14);
        assert_close(b.w.crew.spans[i].end_s, want[i][1], 1e-14);
    }
}

/* ---- speeds that go wrong ---- */

struct broken {
    double iteration_s;
    int fail; /* 1: begin, 2: changed */
    int32_t job, running;
};

static int broken_begin(void *x, int32_t job, const struct pace_place *place, struct err *e)
{
    struct broken *b = x;
    (void)place;
    if (b->fail == 1)
        return err_set(e, ERR_UNSUP, "no way from 0 to 1");
    b->job = job;
    b->running++;
    return 0;
}

static void broken_end(void *x, int32_t job)
{
    (void)job;
    ((struct broken *)x)->running--;
}

static int broken_changed(void *x, const int32_t **jobs, int32_t *n, struct err *e)
{
    struct broken *b = x;
    *jobs = &b->job;
    *n = 1;
    return b->fail == 2 ? err_set(e, ERR_NOMEM, "out of memory for shares") : 0;
}

static double broken_iteration(const void *x, int32_t job)
{
    (void)job;
    return ((const struct broken *)x)->iteration_s;
}

TEST(speeds_that_go_wrong_end_the_run)
{
    CASES(struct broken x; double slot_s; int code; const char *text) = {
        { { .iteration_s = 1, .fail = 1 }, 0, ERR_UNSUP, "jobs[0]: no way from 0 to 1" },
        { { .iteration_s = 1, .fail = 2 }, 0, ERR_NOMEM, "out of memory for shares" },
        { { .iteration_s = NAN }, 0, ERR_RANGE, "jobs[0]: an iteration takes nan s, expected above 0" },
        { { .iteration_s = 0 }, 0, ERR_RANGE, "jobs[0]: an iteration takes 0 s, expected above 0" },
        { { .iteration_s = INFINITY }, 0, ERR_RANGE, "jobs[0]: stands still" },
        { { .iteration_s = INFINITY }, 2, ERR_RANGE, "jobs[0]: stands still" },
        { { .iteration_s = 3 },
          2,
          ERR_RANGE,
          "jobs[0]: an iteration takes 3 s, expected at most a slot, 2 s" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct broken x = cases[i].x;
        struct batch_settings s = batch_settings_default();
        KEEP(struct bed, b, bed_free);
        s.slot_s = cases[i].slot_s;
        s.whole_iterations = true;
        batch_fixture_cluster(&b.f, 1, (const int32_t[]){ 1 });
        batch_fixture_add(&b.f, batch_fixture_job(1, 3));
        b.f.pace = (struct pace){ &x, broken_begin, broken_end, broken_changed, broken_iteration, NULL };
        bed_build(&b, &s);
        b.w.plan.gpus[0] = b.w.plan.order[0] = 0;
        FAILS(queues_run(&b.w.queues, &b.w.plan, &b.w.crew, e), cases[i].code, cases[i].text);
        /* The next run begins anew. */
        x.fail = 0;
        x.iteration_s = 1;
        bed_run(&b);
        assert_true(x.running == 0 && b.w.crew.spans[0].end_s == (s.slot_s > 0 ? 4 : 3));
    }
}

TEST(gpus_and_seats_are_numbered_through)
{
    const struct batch_settings s = batch_settings_default();
    struct batch_fixture f;
    KEEP(struct batch_work, w, batch_work_free);
    batch_fixture_cluster(&f, 3, (const int32_t[]){ 2, 3, 1 });
    batch_fixture_add(&f, batch_fixture_job(2, 1));
    batch_fixture_add(&f, batch_fixture_job(5, 1));
    batch_fixture_add(&f, batch_fixture_job(1, 1));
    OK(batch_work_build(&w, &f.p, NULL, &s, e));
    assert_true(w.g.n_gpus == 6 && w.g.most_gpus == 5);
    assert_memory_equal(w.g.server_gpu, ((int32_t[]){ 0, 2, 5, 6 }), 4 * sizeof(int32_t));
    assert_memory_equal(w.g.gpu_server, ((int32_t[]){ 0, 0, 1, 1, 1, 2 }), 6 * sizeof(int32_t));
    assert_memory_equal(w.g.seat, ((int32_t[]){ 0, 2, 7, 8 }), 4 * sizeof(int32_t));
}
