#include "sim/interval/interval.h"
#include "tests/settings.h"
#include "tests/support.h"
#include "tests/unit/smd_random.h"

enum { R = SMD_RANDOM_RESOURCES, MOST_JOBS = 12 };

struct pool {
    struct smd_job jobs[MOST_JOBS];
    double capacity[R];
};

/* Jobs of which about half fit at once. */
static void draw_pool(struct pool *pool, struct rng *rng, int32_t n, bool sync)
{
    for (int r = 0; r < R; r++)
        pool->capacity[r] = 1;
    for (int32_t i = 0; i < n; i++) {
        pool->jobs[i] = smd_random_job(rng, sync, 30);
        pool->jobs[i].utility.slope_per_s = rng_range(rng, 1e-5, 1e-4);
        for (int r = 0; r < R; r++)
            pool->capacity[r] += pool->jobs[i].limit[r] * rng_range(rng, 0.3, 0.7);
    }
}

/* Best over all numbers of tasks. */
static double brute_worth(const struct smd_job *job)
{
    double best = 0;
    for (int32_t w = 1; smd_fits(job, R, w, 1); w++)
        for (int32_t p = 1; smd_fits(job, R, w, p); p++)
            best = fmax(best, smd_worth(&job->utility, smd_written_jct_s(job, w, p)));
    return best;
}

/* Best over all sets of jobs and all numbers of tasks. */
static double brute_optimum(const struct pool *pool, int32_t n)
{
    double worth[MOST_JOBS], best = 0;
    for (int32_t i = 0; i < n; i++)
        worth[i] = brute_worth(&pool->jobs[i]);
    for (uint32_t set = 0; set < 1u << n; set++) {
        double value = 0;
        bool fits = true;
        for (int r = 0; r < R; r++) {
            double used = 0;
            for (int32_t i = 0; i < n; i++)
                used += set >> i & 1 ? pool->jobs[i].limit[r] : 0;
            fits = fits && used <= pool->capacity[r] * (1 + 1e-9);
        }
        for (int32_t i = 0; i < n && fits; i++)
            value += set >> i & 1 ? worth[i] : 0;
        best = fmax(best, value);
    }
    return best;
}

/* Everything the result says is added up again. */
static void assert_sound(const struct smd_result *r, const struct pool *pool)
{
    double utility = 0, used[R] = { 0 }, reserved[R] = { 0 };
    int32_t n_running = 0;
    for (int32_t i = 0; i < r->n_jobs; i++) {
        const struct smd_decision *d = &r->jobs[i];
        const struct smd_job *job = &pool->jobs[i];
        if (d->fate == SMD_TOO_SMALL)
            continue;
        assert_true(d->w >= 1 && d->p >= 1 && smd_fits(job, R, d->w, d->p));
        assert_close(d->jct_s, smd_written_jct_s(job, d->w, d->p), 1e-12);
        assert_close(d->utility, smd_worth(&job->utility, d->jct_s), 1e-12);
        if (d->fate != SMD_RUNS)
            continue;
        n_running++;
        utility += d->utility;
        for (int k = 0; k < R; k++) {
            used[k] += job->worker[k] * d->w + job->ps[k] * d->p;
            reserved[k] += job->limit[k];
        }
    }
    assert_int_equal(n_running, r->n_running);
    assert_close(r->utility, utility, 1e-12);
    for (int k = 0; k < R; k++) {
        assert_close(r->used[k], used[k], 1e-12);
        assert_close(r->reserved[k], reserved[k], 1e-12);
        assert_true(used[k] <= reserved[k] * (1 + 2e-9) && reserved[k] <= r->capacity[k] * (1 + 2e-9));
    }
}

TEST(nothing_is_better_than_exact_and_all_keep_within_the_pool)
{
    struct smd_settings how = smd_settings_default();
    RNG(rng, 1, 0);
    for (int i = 0; i < 90; i++) {
        struct pool pool;
        const int32_t n = (int32_t)rng_below(rng, 9);
        draw_pool(&pool, rng, n, i % 2 == 0);
        double best = brute_optimum(&pool, n);
        how.baselines = (enum smd_admission)(i % 3);
        how.esw = i % 4 < 2 ? SMD_ESW_LARGEST : SMD_ESW_BEST;
        how.rounding.scale = i % 5 == 0 ? SMD_SCALE_LITERAL : SMD_SCALE_ONE;
        how.knapsack.method = i % 7 == 0 ? KNAPSACK_SUBSET : KNAPSACK_EXACT;
        for (int which = 0; which < N_SMD_SCHEDULERS; which++) {
            KEEP(struct smd_result, r, smd_result_free);
            OK(smd_run(&r, (enum smd_scheduler)which, pool.jobs, n, pool.capacity, R, &how, e));
            assert_sound(&r, &pool);
            assert_true(r.utility <= best * (1 + 1e-9) && r.bound >= best * (1 - 1e-9));
            assert_true(r.choice_bound >= r.utility && r.lp_bound >= r.utility * (1 - 1e-12));
            if (which == SMD_EXACT)
                assert_close(r.utility, best, 1e-9);
        }
    }
}

/* To the last bit. */
static bool same_decisions(const struct smd_result *a, const struct smd_result *b)
{
    for (int32_t i = 0; i < a->n_jobs; i++) {
        const struct smd_decision *x = &a->jobs[i], *y = &b->jobs[i];
        if (x->fate != y->fate || x->w != y->w || x->p != y->p || x->jct_s != y->jct_s ||
            x->utility != y->utility)
            return false;
    }
    return a->n_jobs == b->n_jobs && a->utility == b->utility;
}

TEST(with_exact_parts_smd_is_exact)
{
    struct smd_settings how = smd_settings_default();
    how.inner = SMD_INNER_EXACT;
    RNG(rng, 2, 0);
    for (int i = 0; i < 20; i++) {
        struct pool pool;
        struct smd_result smd, exact;
        draw_pool(&pool, rng, MOST_JOBS, i % 2 == 0);
        OK(smd_run(&smd, SMD_SMD, pool.jobs, MOST_JOBS, pool.capacity, R, &how, e));
        OK(smd_run(&exact, SMD_EXACT, pool.jobs, MOST_JOBS, pool.capacity, R, &how, e));
        assert_true(smd.utility == exact.utility);
        assert_true(same_decisions(&smd, &exact));
        assert_true(exact.complete && exact.choice_gap_frac <= 1e-9);
        smd_result_free(&smd);
        smd_result_free(&exact);
    }
}

TEST(the_same_seed_gives_the_same_bytes)
{
    struct smd_settings how = smd_settings_default();
    int n_differ = 0;
    how.rounding.keep = SMD_KEEP_FIRST;
    RNG(rng, 3, 0);
    for (int i = 0; i < 20; i++) {
        struct pool pool;
        struct smd_result a, b, c;
        draw_pool(&pool, rng, MOST_JOBS, i % 2 == 0);
        how.seed = 5;
        OK(smd_run(&a, SMD_SMD, pool.jobs, MOST_JOBS, pool.capacity, R, &how, e));
        OK(smd_run(&b, SMD_SMD, pool.jobs, MOST_JOBS, pool.capacity, R, &how, e));
        how.seed = 6;
        OK(smd_run(&c, SMD_SMD, pool.jobs, MOST_JOBS, pool.capacity, R, &how, e));
        assert_true(same_decisions(&a, &b) && a.nodes == b.nodes && a.bound == b.bound);
        n_differ += !same_decisions(&a, &c);
        smd_result_free(&a);
        smd_result_free(&b);
        smd_result_free(&c);
    }
    assert_true(n_differ > 10);
}

/* One resource; a task takes 1, and what a job runs on does not matter: it is worth half of what is given
 * here. */
static struct smd_job flat_job(double limit, double worth)
{
    return (struct smd_job){ .iterations = 1,
                             .batch = 1,
                             .mini_batch = 1,
                             .ps_Bps = 1,
                             .per_worker_s = 1,
                             .sync = true,
                             .worker = { 1 },
                             .ps = { 1 },
                             .limit = { limit },
                             .utility = { worth, 0, 0 } };
}

TEST(each_job_is_told_why_it_does_not_run)
{
    const struct smd_job jobs[] = { flat_job(1, 100), flat_job(11, 100), flat_job(6, 8),
                                    flat_job(5, 6),   flat_job(5, 6),    flat_job(2, 1) };
    static const enum smd_fate knapsack[] = { SMD_TOO_SMALL, SMD_TOO_LARGE, SMD_LEFT_OUT,
                                              SMD_RUNS,      SMD_RUNS,      SMD_LEFT_OUT };
    static const enum smd_fate in_order[] = { SMD_TOO_SMALL, SMD_TOO_LARGE, SMD_RUNS,
                                              SMD_LEFT_OUT,  SMD_LEFT_OUT,  SMD_RUNS };
    const double capacity = 10;
    struct smd_settings how = smd_settings_default();
    for (int which = 0; which < N_SMD_SCHEDULERS; which++)
        for (int admit = 0; admit < 3; admit++) {
            KEEP(struct smd_result, r, smd_result_free);
            how.baselines = (enum smd_admission)admit;
            OK(smd_run(&r, (enum smd_scheduler)which, jobs, 6, &capacity, 1, &how, e));
            bool packs = which == SMD_SMD || which == SMD_EXACT || admit == SMD_ADMIT_KNAPSACK;
            for (int i = 0; i < 6; i++)
                assert_int_equal(r.jobs[i].fate, packs ? knapsack[i] : in_order[i]);
            assert_close(r.utility, packs ? 6 : 4.5, 1e-14);
            assert_true(r.jobs[0].w == 0 && isinf(r.jobs[0].jct_s) && r.jobs[0].utility == 0);
        }
}

TEST(first_come_and_best_first_differ_where_order_does)
{
    const struct smd_job jobs[] = { flat_job(6, 2), flat_job(6, 8), flat_job(4, 4) };
    const double capacity = 10;
    struct smd_settings how = smd_settings_default();
    struct smd_result r;
    how.baselines = SMD_ADMIT_FIRST_COME;
    OK(smd_run(&r, SMD_OPTIMUS, jobs, 3, &capacity, 1, &how, e));
    assert_close(r.utility, 3, 1e-14);
    assert_true(r.nodes == 0 && r.complete);
    assert_close(r.lp_bound, 6, 1e-8); /* the last two fill the pool */
    assert_close(r.choice_gap_frac, 0.5, 1e-8);
    smd_result_free(&r);
    how.baselines = SMD_ADMIT_BEST_FIRST;
    OK(smd_run(&r, SMD_ESW, jobs, 3, &capacity, 1, &how, e));
    assert_close(r.utility, 6, 1e-14);
    smd_result_free(&r);
}

/* w + p <= 9, time w + 40/w + 2 w/p. Step by step (2, 1), (3, 1), (3, 2), (4, 2), (4, 3), (4, 4), and (5, 4)
 * with 5 + 8 + 2.5; equal numbers: at most 4, with 4 + 10 + 2. */
TEST(baselines_choose_tasks_by_their_rules)
{
    struct smd_job job = flat_job(9, 2);
    const double capacity = 9;
    struct smd_settings how = smd_settings_default();
    struct smd_result r;
    job.batch = 40;
    job.forward_s = 1;
    job.model_B = 1;
    job.shares = (struct overlap_shares){ 1, 1, 1 };
    OK(smd_run(&r, SMD_ESW, &job, 1, &capacity, 1, &how, e));
    assert_true(r.jobs[0].w == 4 && r.jobs[0].p == 4);
    assert_close(r.jobs[0].jct_s, 16, 1e-14);
    smd_result_free(&r);
    OK(smd_run(&r, SMD_OPTIMUS, &job, 1, &capacity, 1, &how, e));
    assert_true(r.jobs[0].w == 5 && r.jobs[0].p == 4);
    assert_close(r.jobs[0].jct_s, 15.5, 1e-14);
    smd_result_free(&r);
    job.per_worker_s = 10; /* 10 k + 40 / k + 2: best at 2 */
    how.esw = SMD_ESW_BEST;
    OK(smd_run(&r, SMD_ESW, &job, 1, &capacity, 1, &how, e));
    assert_true(r.jobs[0].w == 2 && r.jobs[0].p == 2);
    smd_result_free(&r);
}

/* arXiv 2105.13855: mu' (1 - eps2) / mu* with probability (1 - (delta/2R)^F)^n. */
TEST(the_guarantee_is_that_of_the_paper)
{
    struct smd_job job = flat_job(9, 80);
    const double capacity = 9;
    struct smd_settings how = smd_settings_default();
    struct smd_result r;
    job.utility.slope_per_s = 1e-3;
    how.rounding = (struct smd_rounding){ SMD_SCALE_LITERAL, SMD_KEEP_BEST, 0.5, 2 };
    OK(smd_run(&r, SMD_SMD, &job, 1, &capacity, 1, &how, e));
    double A = 3 * log(2 / 0.5) / (2 * 9), scale = 1 + A - sqrt(A * A + 2 * A);
    double late_s = 1 * 1.05 * (24 / scale + 4) / 0.5; /* the best is one worker, 1 s */
    assert_close(r.guarantee.ratio, (80 / (1 + exp(1e-3 * late_s))) / (80 / (1 + exp(1e-3))), 1e-9);
    assert_close(r.guarantee.probability, 1 - 0.25 * 0.25, 1e-14);
    assert_true(r.utility >= r.guarantee.ratio * r.bound);
    smd_result_free(&r);
    how.rounding.scale = SMD_SCALE_ONE;
    OK(smd_run(&r, SMD_SMD, &job, 1, &capacity, 1, &how, e));
    assert_true(r.guarantee.probability == 0);
    smd_result_free(&r);
    OK(smd_run(&r, SMD_ESW, &job, 1, &capacity, 1, &how, e));
    assert_true(r.guarantee.probability == 0 && r.guarantee.ratio == 0);
    smd_result_free(&r);
}

static double brute_jct_s(const struct smd_job *job)
{
    double best = INFINITY;
    for (int32_t w = 1; smd_fits(job, R, w, 1); w++)
        for (int32_t p = 1; smd_fits(job, R, w, p); p++)
            best = fmin(best, smd_written_jct_s(job, w, p));
    return best;
}

/* M_delta as the paper writes it. */
static double written_scale(const struct smd_job *job, double delta)
{
    double room = INFINITY;
    for (int r = 0; r < R; r++) {
        room = job->worker[r] > 0 ? fmin(room, job->limit[r] / job->worker[r]) : room;
        room = job->ps[r] > 0 ? fmin(room, job->limit[r] / job->ps[r]) : room;
    }
    double A = 3 * log(2 * R / delta) / (2 * room);
    return 1 + A - sqrt(A * A + 2 * A);
}

/* mu' is the least and mu* the most over the jobs that could run alone, of which there are n. */
TEST(the_guarantee_is_of_all_jobs_that_could_run)
{
    int n_too_large = 0;
    RNG(rng, 7, 0);
    for (int i = 0; i < 40; i++) {
        struct smd_settings how = smd_settings_default();
        struct pool pool;
        struct smd_result r;
        int32_t n = 2 + i % 4, n_items = 0;
        double most = 0, least = INFINITY;
        draw_pool(&pool, rng, n, i % 2 == 0);
        for (int k = 0; k < R && i % 3 == 0; k++)
            pool.capacity[k] = pool.jobs[0].limit[k]; /* no room for what asks for more */
        how.eps = rng_range(rng, 0.02, 0.5);
        how.rounding =
            (struct smd_rounding){ SMD_SCALE_LITERAL, SMD_KEEP_BEST, rng_range(rng, 0.3, 1), 1 + i % 3 };
        OK(smd_run(&r, SMD_SMD, pool.jobs, n, pool.capacity, R, &how, e));
        for (int32_t k = 0; k < n; k++) {
            const struct smd_job *job = &pool.jobs[k];
            n_too_large += r.jobs[k].fate == SMD_TOO_LARGE;
            if (r.jobs[k].fate == SMD_TOO_SMALL || r.jobs[k].fate == SMD_TOO_LARGE)
                continue;
            double best_s = brute_jct_s(job), delta = how.rounding.delta;
            double late = (1 + how.eps) * (8 * 3 / written_scale(job, delta) + 4) / delta;
            n_items++;
            most = fmax(most, smd_worth(&job->utility, best_s));
            least = fmin(least, smd_worth(&job->utility, best_s * late));
        }
        double fails = pow(how.rounding.delta / (2 * R), how.rounding.tries);
        assert_close(r.guarantee.ratio, n_items ? least * (1 - r.choice_gap_frac) / most : 0, 1e-9);
        assert_close(r.guarantee.probability, pow(1 - fails, n_items), 1e-12);
        smd_result_free(&r);
    }
    assert_true(n_too_large > 5);
}

TEST(what_cannot_be_names_job_and_field)
{
    struct smd_job jobs[] = { flat_job(5, 1), flat_job(5, 1) };
    const double capacity = 10;
    const struct smd_settings how = smd_settings_default();
    struct smd_result r;
    jobs[1].ps[0] = 1e-12;
    FAILS(smd_run(&r, SMD_SMD, jobs, 2, &capacity, 1, &how, e), ERR_RANGE,
          "jobs[1]: ps: is so small that the limit has room for");
    assert_null(r.jobs);
}

/* With smd_draw_jobs() on the same seed, job i is drawn from stream i: the number that decided its iterations
 * must not decide its rounding as well. */
TEST(rounding_has_streams_of_its_own)
{
    enum { N = 100 };
    const struct smd_job one = { .iterations = 100,
                                 .batch = 10,
                                 .mini_batch = 1,
                                 .model_B = 1e8,
                                 .ps_Bps = 1e9,
                                 .forward_s = 1,
                                 .shares = { 1, 1, 1 },
                                 .per_worker_s = 0.03,
                                 .per_ps_s = 0.015,
                                 .sync = true,
                                 .worker = { 1 },
                                 .ps = { 1 },
                                 .limit = { 40 },
                                 .utility = { 1, 1e-3, 0 } };
    const double capacity = 40 * N;
    struct smd_settings how = smd_settings_default();
    struct smd_job jobs[N];
    struct smd_grid grid;
    KEEP(struct smd_result, r, smd_result_free);
    int32_t same = 0;
    for (int i = 0; i < N; i++)
        jobs[i] = one;
    how.rounding.keep = SMD_KEEP_FIRST;
    smd_inner_grid(&grid, &one, 1, how.eps);
    double down = floor(grid.point.w), part = grid.point.w - down;
    assert_true(part > 0.05 && part < 0.95);
    OK(smd_run(&r, SMD_SMD, jobs, N, &capacity, 1, &how, e));
    for (int i = 0; i < N; i++) {
        RNG(rng, how.seed, (uint64_t)i);
        same += (r.jobs[i].w > down) == (rng_uniform(rng) < part);
    }
    assert_in_range(same, 1, N - 1);
}
