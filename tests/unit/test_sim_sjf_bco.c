#include "sim/batch/batch.h"
#include "tests/settings.h"
#include "tests/unit/batch_fixture.h"

static struct batch_result run(struct batch_fixture *f, const struct batch_settings *s)
{
    struct batch_result r;
    MUST(batch_run(&r, BATCH_SJF_BCO, &f->p, &f->pace, s, e));
    return r;
}

#define RUN(name, f, s) KEEP(struct batch_result, name, batch_result_free) = run(f, s)

/* Two GPUs, jobs of 4, 3, 3 and 2 s in this order, each to the GPU that is loaded less: 4 and 3, 3 + 3, 4
 * + 2. */
TEST(the_least_limit_with_a_plan_is_found)
{
    static const int64_t run_s[] = { 4, 3, 3, 2 };
    struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    s.under = 1;
    batch_fixture_cluster(&f, 1, (const int32_t[]){ 2 });
    for (size_t i = 0; i < COUNT_OF(run_s); i++)
        batch_fixture_add(&f, batch_fixture_job(1, run_s[i]));
    batch_fixture_pace(&f);
    for (s.theta_max = 6; s.theta_max < 100; s.theta_max += 31) {
        RUN(r, &f, &s);
        assert_batch(&r, &f.p, false);
        assert_close(r.makespan_s, 6, 1e-14);
        assert_close(r.busy_frac, 1, 1e-14);
    }
    s.theta_max = 5;
    RUN(r, &f, &s);
    assert_int_equal(r.status, BATCH_NO_PLAN);
    assert_int_equal(r.n_plans, 0);
    assert_null(r.gpus);
}

/* One GPU and one job of 10 s: a limit has a plan from 10 on. Doubling begins at 9 and meets 18, or the
 * largest limit; halving goes on between 9 or half of that and one less; a fiftieth of 10 apart there are 11,
 * 12, 13 and 14, five times each of the first three. As printed, 1 .. 40 is halved, upwards after any plan
 * but the first: 20, 10, 15, 17, 18, 19. */
TEST(limits_are_tried_as_the_search_says)
{
    CASES(int64_t theta_max; int32_t more_limits; bool literal; int32_t n_plans; int64_t theta) = {
        { 40, 0, false, 4 /* 18 13 11 10 */, 18 },
        { 17, 0, false, 3 /* 17 12 10 */, 17 },
        { 10, 0, false, 1, 10 },
        { 9, 16, false, 0, 0 },
        { 40, 1, false, 4 + 1, 18 },
        { 40, 5, false, 4 + 1, 18 },
        { 40, 6, false, 4 + 2, 18 },
        { 40, 16, false, 4 + 4, 18 },
        { 12, 16, false, 2 /* 12 10 */ + 2, 12 },
        { 40, 0, true, 6, 20 },
        { 40, 16, true, 6 + 4, 20 },
        { 0, 0, false, 2 /* 11: the sum, rounded up, and one more; 10 */, 11 },
    };
    struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    s.under = 1;
    batch_fixture_cluster(&f, 1, (const int32_t[]){ 1 });
    batch_fixture_add(&f, batch_fixture_job(1, 10));
    batch_fixture_pace(&f);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        s.theta_max = cases[i].theta_max;
        s.more_limits = cases[i].more_limits;
        s.literal_bisect = cases[i].literal;
        RUN(r, &f, &s);
        assert_int_equal(r.n_plans, cases[i].n_plans);
        if (r.n_plans > 0)
            assert_int_equal(r.theta, cases[i].theta);
    }
}

/* Two servers of 2 GPUs and two jobs of 2: side by side on a server each they take 10 * (1 + 1/2 * 4 * 2/10)
 * s. Spread over both each would meet the other: 10 * (1 + 4/2 * 2) s. */
TEST(jobs_that_fit_a_server_get_one)
{
    const struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    batch_fixture_cluster(&f, 2, (const int32_t[]){ 2, 2 });
    for (int i = 0; i < 2; i++) {
        batch_fixture_add(&f, batch_fixture_job(2, 10));
        f.jobs[i].gradient_B = 4;
    }
    batch_fixture_pace(&f);
    RUN(r, &f, &s);
    assert_batch(&r, &f.p, false);
    assert_int_equal(r.jobs[0].n_servers, 1);
    assert_int_equal(r.jobs[1].n_servers, 1);
    assert_close(r.makespan_s, 14, 1e-14);
}

/* A job of 1 GPU opens the first of two servers of 4. One of 2 GPUs then goes there too if it is packed, and
 * to the other server, that has no load, if it is balanced. */
TEST(jobs_up_to_kappa_are_packed_and_larger_ones_balanced)
{
    struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    batch_fixture_cluster(&f, 2, (const int32_t[]){ 4, 4 });
    batch_fixture_add(&f, batch_fixture_job(2, 10));
    batch_fixture_add(&f, batch_fixture_job(1, 10));
    batch_fixture_pace(&f);
    for (s.kappa = 1; s.kappa <= 3; s.kappa++) {
        RUN(r, &f, &s);
        assert_int_equal(r.gpus[r.jobs[1].first_gpu], 0);
        assert_int_equal(r.gpu_server[r.gpus[r.jobs[0].first_gpu]], s.kappa == 1);
    }
}

TEST(the_curve_over_kappa_has_the_best_plan_as_its_least)
{
    RNG(r, 21, 0);
    for (int i = 0; i < 40; i++) {
        struct batch_settings s = batch_settings_default();
        KEEP(struct batch_fixture, f, batch_fixture_free);
        batch_fixture_random(&f, r, 4, 14, 10);
        RUN(all, &f, &s);
        double least_s = INFINITY;
        int32_t most = 0;
        for (int32_t k = 0; k < f.p.n_jobs; k++)
            most = f.jobs[k].gpus > most ? f.jobs[k].gpus : most;
        assert_int_equal(all.n_kappas, most);
        for (int32_t k = 0; k < all.n_kappas; k++)
            least_s = fmin(least_s, all.kappa_makespan_s[k]);
        assert_true(least_s == all.makespan_s);
        assert_true(all.kappa_makespan_s[all.kappa - 1] == all.makespan_s);

        s.kappa = 1 + i % 5;
        int32_t kappa = s.kappa < most ? s.kappa : most;
        RUN(one, &f, &s);
        assert_batch(&one, &f.p, false);
        assert_int_equal(one.kappa, kappa);
        for (int32_t k = 1; k <= one.n_kappas; k++)
            assert_true((one.kappa_makespan_s[k - 1] == one.makespan_s) == (k == kappa));
    }
}

/* ---- every order and every placement ---- */

enum { SMALL_JOBS = 5, SMALL_GPUS = 4 };

struct small {
    struct batch_fixture f;
    struct batch_work w;
    double best_s;
};

static void carry_out(struct small *x)
{
    double end_s = 0;
    MUST(queues_run(&x->w.queues, &x->w.plan, &x->w.crew, e));
    for (int32_t i = 0; i < x->f.p.n_jobs; i++)
        end_s = fmax(end_s, x->w.crew.spans[i].end_s);
    x->best_s = fmin(x->best_s, end_s);
}

/* Every set of GPUs for job number `job` and those after it. */
static void place_all(struct small *x, int32_t job)
{
    if (job == x->f.p.n_jobs) {
        carry_out(x);
        return;
    }
    for (uint32_t set = 1; set < 1U << x->w.g.n_gpus; set++) {
        int32_t n = 0, *gpus = x->w.plan.gpus + x->w.g.seat[job];
        for (int32_t gpu = 0; gpu < x->w.g.n_gpus; gpu++)
            if (set >> gpu & 1 && n++ < x->f.jobs[job].gpus)
                gpus[n - 1] = gpu;
        if (n == x->f.jobs[job].gpus)
            place_all(x, job + 1);
    }
}

static void order_all(struct small *x, int32_t at)
{
    int32_t *order = x->w.plan.order;
    if (at == x->f.p.n_jobs) {
        place_all(x, 0);
        return;
    }
    for (int32_t i = at; i < x->f.p.n_jobs; i++) {
        int32_t taken = order[i];
        order[i] = order[at];
        order[at] = taken;
        order_all(x, at + 1);
        order[at] = order[i];
        order[i] = taken;
    }
}

/* The best schedule in which no job waits without need. */
static double best_of_all_s(struct small *x)
{
    const struct batch_settings s = batch_settings_default();
    MUST(batch_work_build(&x->w, &x->f.p, &x->f.pace, &s, e));
    x->best_s = INFINITY;
    for (int32_t i = 0; i < x->f.p.n_jobs; i++)
        x->w.plan.order[i] = i;
    order_all(x, 0);
    batch_work_free(&x->w);
    return x->best_s;
}

TEST(small_batches_stay_within_the_guarantee)
{
    RNG(rng, 31, 0);
    for (int i = 0; i < 40; i++) {
        struct batch_settings s = batch_settings_default();
        struct small x;
        batch_fixture_random(&x.f, rng, 1 + i % 4, SMALL_GPUS, 2 + i % (SMALL_JOBS - 1));
        s.phi = contention_phi(&x.f.contention, &x.f.p);
        RUN(r, &x.f, &s);
        assert_batch(&r, &x.f.p, false);
        double best_s = best_of_all_s(&x);
        assert_true(r.makespan_s >= best_s * (1 - 1e-12));
        assert_true(r.makespan_s <= best_s * r.guarantee);
        batch_fixture_free(&x.f);
    }
}

/* 3 GPUs at most, phi 2, u 1.15, l .9. */
TEST(the_guarantee_is_the_theorems)
{
    struct batch_settings s = batch_settings_default();
    KEEP(struct batch_fixture, f, batch_fixture_free);
    struct batch_result r;
    batch_fixture_cluster(&f, 1, (const int32_t[]){ 4 });
    batch_fixture_add(&f, batch_fixture_job(3, 5));
    batch_fixture_add(&f, batch_fixture_job(1, 5));
    batch_fixture_pace(&f);
    r = run(&f, &s);
    assert_true(isnan(r.guarantee));
    batch_result_free(&r);
    s.phi = 2;
    s.over = 0.9;
    r = run(&f, &s);
    assert_close(r.guarantee, 3 * 2 * 1.15 / 0.9, 1e-14);
    batch_result_free(&r);
}

/* The paper's own rules, one by one and together: other plans, schedules all the same. */
TEST(literal_rules_give_schedules_too)
{
    RNG(rng, 41, 0);
    for (unsigned mask = 0; mask < 64; mask++) {
        struct batch_settings s = batch_settings_default();
        KEEP(struct batch_fixture, f, batch_fixture_free);
        batch_fixture_random(&f, rng, 4, 12, 10);
        s.literal_pack = mask & 1;
        s.literal_load = mask & 2;
        s.literal_bisect = mask & 4;
        s.whole_iterations = mask & 8;
        s.slot_s = mask & 8 ? 10 : 0;
        s.more_limits = mask & 16 ? 0 : 3;
        s.lambda = mask & 32 ? 4 : 1;
        RUN(r, &f, &s);
        assert_batch(&r, &f.p, mask & 8);
    }
}
