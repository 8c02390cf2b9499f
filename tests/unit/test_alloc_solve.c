/* Splits against scaling laws, closed forms, a dual ascent, a grid, and slopes of the optimum. */
#include <sys/wait.h>
#include <unistd.h>

#include "base/work.h"
#include "tests/unit/split_random.h"
#include "tests/unit/step_oracle.h"

enum { D = TOPO_MAX_DIMS };

static const double ones[D] = { 1, 1, 1, 1, 1, 1, 1, 1 };

static void solve(struct alloc_answer *a, const struct alloc_problem *p)
{
    MUST(alloc_solve(a, p, e));
}

static double best_value(const struct alloc_problem *p)
{
    SOLVED(a, p);
    return a.value;
}

TEST(random_problems_are_solved_and_the_second_opinion_agrees)
{
    static const struct random_kind kinds[] = {
        { .n_collectives = 20, .total = LINEXPR_EQ },
        { .n_collectives = 20, .overlap = true, .compute = true, .total = LINEXPR_LE },
        { .n_collectives = 6, .compute = true, .n_rows = 6, .total = LINEXPR_LE },
        { .n_collectives = 20, .overlap = true, .compute = true, .n_rows = 6, .total = LINEXPR_EQ },
    };
    RNG(r, 1, 0);
    for (int i = 0; i < 1600; i++) {
        KEEP(struct random_split, s, random_split_close);
        random_split_open(&s, r, kinds[(size_t)i % COUNT_OF(kinds)]);
        s.problem.objective = i % 3 ? ALLOC_TIME : ALLOC_COST;
        s.problem.time_limit_s = step_time(&s.fn, s.inside_Bps) * rng_range(r, 1, 1.5);
        SOLVED(a, &s.problem);
        assert_true(a.gap <= ALLOC_GAP);
        assert_true(a.lower_bound <= random_split_value(&s.problem, s.inside_Bps) * (1 + 1e-12));
        if (!random_split_verify(&s, &a))
            fail_msg("problem %d does not stand up", i);
    }
}

TEST(twice_the_total_halves_communication)
{
    RNG(r, 2, 0);
    for (int i = 0; i < 50; i++) {
        RANDOM_SPLIT(s, r, .n_collectives = 20);
        SOLVED(once, &s.problem);
        s.rows[0].rhs *= 2;
        SOLVED(twice, &s.problem);
        assert_close(twice.value, once.value / 2, 2e-12);
    }
}

/* One max term: the sum of m_d/t over d is the total, so B = m total / sum m. */
TEST(one_group_gets_bandwidth_in_proportion_to_its_traffic)
{
    static const double m[1][D] = { { 6, 3, 0.5, 0.5 } };
    PLAIN_SPLIT(s, 4, m, 1, 0.25);
    random_split_row(&s, ones, LINEXPR_EQ, 1000);
    SOLVED(a, &s.problem);
    for (int32_t d = 0; d < 4; d++)
        assert_close(a.bw_Bps[d], m[0][d] * 100e9, 1e-9);
    assert_close(a.value, 0.25 + 10.0 / 1000, 1e-12);
    assert_true(a.unique);
    /* One more GB/s: dT/dtotal = -sum m / total^2. */
    assert_close(a.shadow[0] * 1e9, 10.0 / 1e6, 1e-9);
}

/* Groups on disjoint dimensions: total of group g ~ sqrt(W_g), time (sum_g sqrt W_g)^2 / total. */
TEST(disjoint_groups_share_by_the_root_of_their_traffic)
{
    static const double m[3][D] = { { 3, 1 }, { 0, 0, 9 }, { 0, 0, 0, 10, 6 } };
    PLAIN_SPLIT(s, 5, m, 3, 0);
    random_split_row(&s, ones, LINEXPR_LE, 900);
    SOLVED(a, &s.problem);
    const double want_GBps[] = { 150, 50, 300, 250, 150 }; /* groups get 2, 3, 4 of 9 */
    for (int32_t d = 0; d < 5; d++)
        assert_close(a.bw_Bps[d], want_GBps[d] * 1e9, 1e-9);
    assert_close(a.value, 81.0 / 900, 1e-12);
}

/*
 * The dual of a problem with a total alone: max over l of (sum_d sqrt(sum_g l_gd m_gd))^2 / total, each
 * l_g on a simplex. l <- l m / sqrt(a), normalised, climbs it; what it reaches is a bound from below.
 */
static double dual_ascent(const struct step_fn *f, double total_Bps)
{
    double l[24][D], sum = 0;
    assert_true(f->n_leaves <= 24);
    for (int32_t g = 0; g < f->n_leaves; g++)
        for (int32_t d = 0; d < f->n_dims; d++)
            l[g][d] = 1.0 / f->n_dims;
    for (int i = 0; i < 4000; i++) {
        double a[D] = { 0 };
        sum = 0;
        for (int32_t d = 0; d < f->n_dims; d++) {
            for (int32_t g = 0; g < f->n_leaves; g++)
                a[d] += l[g][d] * f->traffic_B[g * D + d];
            sum += sqrt(a[d]);
        }
        for (int32_t g = 0; g < f->n_leaves; g++) {
            double norm = 0;
            for (int32_t d = 0; d < f->n_dims; d++) {
                l[g][d] = a[d] > 0 ? l[g][d] * f->traffic_B[g * D + d] / sqrt(a[d]) : 0;
                norm += l[g][d];
            }
            for (int32_t d = 0; d < f->n_dims; d++)
                l[g][d] /= norm;
        }
    }
    return sum * sum / total_Bps;
}

TEST(dual_ascent_finds_the_same_optimum)
{
    RNG(r, 3, 0);
    for (int i = 0; i < 60; i++) {
        RANDOM_SPLIT(s, r, .n_dims = 4, .n_collectives = 8, .total = LINEXPR_EQ);
        double value = best_value(&s.problem), dual = dual_ascent(&s.fn, s.rows[0].rhs);
        assert_true(dual <= value * (1 + 1e-12));
        assert_close(dual, value, 1e-4); /* it climbs slowly where a leaf is nearly slack */
    }
}

/* No point of a grid over two dimensions, refined around its best, is better; the best comes close. */
TEST(a_grid_over_two_dimensions_finds_nothing_better)
{
    RNG(r, 4, 0);
    for (int i = 0; i < 160; i++) {
        RANDOM_SPLIT(s, r, .n_dims = 2, .n_collectives = 5, .compute = i % 2, .overlap = i % 4 > 1,
                     .total = LINEXPR_LE);
        s.problem.objective = (enum alloc_objective)(i % N_ALLOC_OBJECTIVES);
        s.problem.usd_fixed = rng_log_range(r, 1e3, 1e9);
        s.problem.time_limit_s = step_time(&s.fn, s.inside_Bps) * 1.2;
        const double floor[D] = { 0.01, 0.02 };
        random_split_row(&s, floor, LINEXPR_GE, s.rows[0].rhs * 1e-12);
        SOLVED(a, &s.problem);
        const double total = s.rows[0].rhs;
        double best = INFINITY, at[2] = { 0.5 * total, 0.5 * total }, width = 1;
        for (int zoom = 0; zoom < 12; zoom++, width *= 0.25) {
            double centre[2] = { at[0], at[1] };
            for (int x = 0; x <= 40; x++)
                for (int y = 0; y <= 40; y++) {
                    double bw[2] = { centre[0] + (x - 20) / 40.0 * width * total,
                                     centre[1] + (y - 20) / 40.0 * width * total };
                    if (!(bw[0] > 0 && bw[1] > 0 && bw[0] + bw[1] <= total) ||
                        0.01 * bw[0] + 0.02 * bw[1] < s.rows[1].rhs ||
                        (s.problem.objective == ALLOC_COST && step_time(&s.fn, bw) > s.problem.time_limit_s))
                        continue;
                    double value = random_split_value(&s.problem, bw);
                    if (value < best) {
                        best = value;
                        at[0] = bw[0];
                        at[1] = bw[1];
                    }
                }
        }
        assert_true(best >= a.lower_bound * (1 - 1e-12) && a.value <= best * (1 + ALLOC_GAP));
        assert_close(a.value, best, 0.05); /* a grid meets a corner only so well */
    }
}

/* The least of the uncompiled tree along B1 + B2 = total, which is convex: thirds of what is left. */
static double least_by_thirds(const struct random_split *s)
{
    double from = 0, to = 1, total = s->rows[0].rhs;
    for (int i = 0; i < 200; i++) {
        double at[2] = { from + (to - from) / 3, to - (to - from) / 3 }, time_s[2];
        for (int k = 0; k < 2; k++) {
            const double bw_Bps[D] = { at[k] * total, (1 - at[k]) * total };
            time_s[k] = oracle_time(&s->tree, s->tree.root, bw_Bps);
        }
        if (time_s[0] < time_s[1])
            to = at[1];
        else
            from = at[0];
    }
    const double bw_Bps[D] = { from * total, (1 - from) * total };
    return oracle_time(&s->tree, s->tree.root, bw_Bps);
}

TEST(links_that_are_shared_are_split_as_well_as_can_be)
{
    int64_t n_shared = 0;
    RNG(r, 6, 0);
    for (int i = 0; i < 400; i++) {
        RANDOM_SPLIT(s, r, .n_dims = 2, .n_collectives = 8, .compute = true, .overlap = true,
                     .total = LINEXPR_EQ);
        SOLVED(a, &s.problem);
        double least_s = least_by_thirds(&s);
        assert_close(a.value, least_s, 1e-9);
        assert_true(random_split_verify(&s, &a));
        for (step_id id = 0; id < s.tree.n_nodes; id++)
            s.tree.nodes[id].apart = true;
        n_shared += least_by_thirds(&s) < least_s * (1 - 1e-6);
        assert_true(a.value >= least_by_thirds(&s) * (1 - 1e-9));
    }
    assert_true(n_shared > 40);
}

TEST(with_a_fixed_total_utilization_and_time_split_alike)
{
    RNG(r, 5, 0);
    for (int i = 0; i < 40; i++) {
        RANDOM_SPLIT(s, r, .n_collectives = 8, .total = LINEXPR_EQ);
        SOLVED(time, &s.problem);
        s.problem.objective = ALLOC_UTILIZATION;
        SOLVED(use, &s.problem);
        assert_close(use.value, time.value * s.rows[0].rhs, 2e-9);
        for (int32_t d = 0; d < s.fn.n_dims && time.unique; d++)
            assert_near(use.bw_Bps[d], time.bw_Bps[d], 2e-4 * s.rows[0].rhs); /* T is flat at its least */
    }
}

TEST(cost_at_a_time_and_time_at_a_cost_are_inverse)
{
    RNG(r, 6, 0);
    for (int i = 0; i < 60; i++) {
        RANDOM_SPLIT(s, r, .n_collectives = 10, .compute = true, .total = LINEXPR_LE);
        s.rows[0].rhs *= 1e9; /* money decides, not the total */
        struct alloc_row *usd = random_split_row(&s, s.problem.usd_per_Bps, LINEXPR_LE, 0);
        usd->rhs = alloc_cost_usd(&s.problem, s.inside_Bps);
        usd->unit = 1;
        double time_s = best_value(&s.problem), budget = usd->rhs;
        s.problem.n_rows = 1;
        s.problem.objective = ALLOC_COST;
        s.problem.time_limit_s = time_s;
        double share =
            1 - s.fn.const_s[0] / time_s; /* relative errors of time weigh this much more in cost */
        assert_close(best_value(&s.problem), budget, 4e-9 / share);
    }
}

/* Shadow price against the slope of the optimum; rows of every sense, of GB/s and of USD. */
TEST(shadow_prices_are_the_slope_of_the_optimum)
{
    RNG(r, 7, 0);
    int tested = 0;
    for (int i = 0; i < 240; i++) {
        KEEP(struct alloc_answer, a, alloc_answer_free);
        RANDOM_SPLIT(s, r, .n_dims = 3, .n_collectives = 6, .compute = true, .n_rows = 3,
                     .total = LINEXPR_LE);
        struct alloc_row *usd = random_split_row(&s, s.problem.usd_per_Bps, LINEXPR_LE, 0);
        usd->rhs = 0.9 * alloc_cost_usd(&s.problem, s.inside_Bps);
        usd->unit = 1;
        s.problem.objective = (enum alloc_objective)(i % N_ALLOC_OBJECTIVES);
        s.problem.usd_fixed = 1e6;
        s.problem.time_limit_s = step_time(&s.fn, s.inside_Bps) * 2;
        solve(&a, &s.problem);
        for (int32_t k = 0; k < s.problem.n_rows && a.status == ALLOC_SOLVED; k++) {
            double rhs = s.rows[k].rhs, step = 1e-4 * fabs(rhs), value[2];
            bool solved = true;
            for (int side = 0; side < 2; side++) {
                KEEP(struct alloc_answer, moved, alloc_answer_free);
                s.rows[k].rhs = rhs + (side ? step : -step);
                solve(&moved, &s.problem);
                solved = solved && moved.status == ALLOC_SOLVED;
                value[side] = moved.value;
            }
            s.rows[k].rhs = rhs;
            if (!solved || step == 0)
                continue;
            double below = (value[0] - a.value) / step, above = (a.value - value[1]) / step;
            /* At a kink the price lies between the slopes on both sides. */
            double noise = 4e-9 * a.value / step + 1e-3 * fmax(fabs(below), fabs(above));
            if (!(fmin(below, above) - noise <= a.shadow[k] && a.shadow[k] <= fmax(below, above) + noise))
                fail_msg("problem %d row %d: slopes %g and %g, price %g", i, (int)k, below, above,
                         a.shadow[k]);
            tested += fabs(a.shadow[k]) * fabs(rhs) > 1e-3 * a.value;
        }
    }
    assert_true(tested > 100);
}

/* Nothing limits the last two dimensions, of which one has half of the other: the first one, at 10 GB/s,
 * decides the time, and of the utilization 10 + 1.5 B the best is where all three take as long. */
TEST(bandwidths_without_end_may_be_tied)
{
    static const double traffic_GB[][D] = { { 4, 2, 0.5 } };
    PLAIN_SPLIT(s, 3, traffic_GB, 1, 0);
    const double tie[] = { 0, -0.5, 1 }, first[] = { 1, 0, 0 };
    random_split_row(&s, first, LINEXPR_EQ, 10);
    random_split_row(&s, tie, LINEXPR_EQ, 0);
    {
        SOLVED(a, &s.problem);
        assert_close(a.value, 0.4, 1e-9);
        assert_close(a.bw_Bps[2], a.bw_Bps[1] / 2, 1e-9);
        assert_false(a.unique);
    }
    s.problem.objective = ALLOC_UTILIZATION;
    SOLVED(a, &s.problem);
    assert_close(a.bw_Bps[1], 5e9, 1e-6);
    assert_close(a.value, 0.4 * 17.5e9, 1e-9);
}

/* What the rows ask for is far above what its traffic could use. */
TEST(bandwidths_without_end_are_as_large_as_rows_ask)
{
    static const double traffic_GB[][D] = { { 4, 2, 0.5 } };
    PLAIN_SPLIT(s, 3, traffic_GB, 1, 0);
    const double first[] = { 1, 0, 0 }, apart[] = { 0, -1, 1 };
    random_split_row(&s, first, LINEXPR_EQ, 10);
    random_split_row(&s, apart, LINEXPR_EQ, 1e6);
    SOLVED(a, &s.problem);
    assert_close(a.value, 0.4, 1e-9);
    assert_close(a.bw_Bps[2] - a.bw_Bps[1], 1e15, 1e-9);
    assert_true(a.bw_Bps[1] >= 5e9 * (1 - 1e-9));
}

/* Limits in W, in MW of a site and in USD a year are rows as those in USD: the same answers from the same
 * numbers in other units, each proved. */
TEST(a_limit_of_power_is_proved_as_one_of_money)
{
    static const char *const words[] = { "usd", "watt", "site_MW", "usd_year" };
    RNG(r, 5, 0);
    for (int i = 0; i < 200; i++) {
        double value = 0, binds = 0;
        RANDOM_SPLIT(s, r, .n_dims = 2 + i % 4, .n_collectives = 8, .compute = true, .overlap = i % 2,
                     .total = LINEXPR_LE);
        const double *usd = s.problem.usd_per_Bps;
        double watt[D], fixed_usd = i % 3 ? 0 : 1e5;
        for (int32_t d = 0; d < D; d++)
            watt[d] = usd[d] / 350;
        const struct alloc_prices prices = {
            .rates = { usd, usd, watt, watt, usd },
            .fixed = { fixed_usd, 0, fixed_usd / 350, fixed_usd / 350, fixed_usd },
            .site_MW_per_W = 1.25e-6,
        };
        double limit = 0.7 * alloc_cost_usd(&s.problem, s.inside_Bps) + fixed_usd;
        const double limits[] = { limit, limit / 350, limit / 350 * 1.25e-6, limit };
        int32_t at = s.problem.n_rows;
        random_split_row(&s, ones, LINEXPR_LE, 0);
        for (int k = 0; k < 4; k++) {
            KEEP(struct alloc_rows, rows, alloc_rows_free) = { 0 };
            char text[64];
            snprintf(text, sizeof text, "%s <= %.17g", words[k], limits[k]);
            OK(alloc_add_text(&rows, &s.net, &prices, text, e));
            s.rows[at] = rows.rows[0];
            SOLVED(a, &s.problem);
            if (a.gap > ALLOC_GAP || !random_split_verify(&s, &a))
                fail_msg("problem %d, %s: gap %g", i, text, a.gap);
            value = k ? value : a.value;
            binds = k ? binds : a.shadow[at] * (limit - fixed_usd);
            assert_close(a.value, value, 1e-9);
            /* What one per cent more is worth has no unit. */
            assert_near(a.shadow[at] * (limits[k] - s.rows[at].fixed), binds,
                        1e-4 * fabs(binds) + 1e-6 * value);
        }
    }
}

TEST(without_prices_cost_is_unbounded_and_per_cost_ill_posed)
{
    static const double m[1][D] = { { 1, 1 } };
    struct alloc_answer a;
    PLAIN_SPLIT(s, 2, m, 1, 0.1);
    s.problem.objective = ALLOC_COST;
    s.problem.time_limit_s = 0.2;
    solve(&a, &s.problem);
    assert_int_equal(a.status, ALLOC_UNBOUNDED);
    assert_string_equal(a.reason, "d1 has no price and nothing limits its bandwidth");
    alloc_answer_free(&a);
    s.problem.objective = ALLOC_PERF_PER_COST;
    solve(&a, &s.problem);
    assert_int_equal(a.status, ALLOC_ILL_POSED);
    assert_has(a.reason, "give a floor");
    alloc_answer_free(&a);
}

TEST(with_nothing_to_communicate_the_cheapest_split_is_taken)
{
    const double second[D] = { 0, 1 };
    struct alloc_answer a;
    PLAIN_SPLIT(s, 2, NULL, 0, 0.5);
    s.problem.usd_per_Bps[0] = s.problem.usd_per_Bps[1] = 1e-9;
    s.problem.factor_per_Bps[0] = s.problem.factor_per_Bps[1] = 1e-9;
    random_split_row(&s, ones, LINEXPR_LE, 100);
    random_split_row(&s, second, LINEXPR_GE, 20);
    /* A limit that compute alone meets exactly is met. */
    for (int i = 0; i < 2 * N_ALLOC_OBJECTIVES; i++) {
        s.problem.objective = (enum alloc_objective)(i / 2);
        s.problem.time_limit_s = i % 2 ? 0.5 : 1;
        solve_well(&a, &s.problem);
        assert_near(a.bw_Bps[0], 0, 100); /* B/s: rounding of GB/s */
        assert_close(a.bw_Bps[1], 20e9, 1e-12);
        assert_close(a.time_s, 0.5, 1e-15);
        alloc_answer_free(&a);
    }
    s.problem.objective = ALLOC_COST;
    s.problem.time_limit_s = 0.4;
    solve(&a, &s.problem);
    assert_int_equal(a.status, ALLOC_INFEASIBLE);
    assert_string_equal(a.reason, "time_limit_s is 0.4, expected at least 0.5, which is compute alone");
    alloc_answer_free(&a);
}

static void assert_same_bytes(const struct alloc_answer *a, const struct alloc_answer *b)
{
    assert_int_equal(a->status, b->status);
    assert_memory_equal(a->bw_Bps, b->bw_Bps, sizeof a->bw_Bps);
    assert_memory_equal(a->lo_Bps, b->lo_Bps, sizeof a->lo_Bps);
    assert_memory_equal(a->hi_Bps, b->hi_Bps, sizeof a->hi_Bps);
    assert_memory_equal(a->shadow, b->shadow, (size_t)a->n_rows * sizeof *a->shadow);
    assert_memory_equal(&a->value, &b->value, sizeof a->value);
    assert_memory_equal(&a->lower_bound, &b->lower_bound, sizeof a->lower_bound);
}

/* GLPK keeps an environment per thread: this is where it would show if it did not. */
TEST(threads_and_repetition_do_not_change_a_bit)
{
    enum { N = 60, TIMES = 4 };
    KEEP(struct random_split *, s, free_at) = calloc(N, sizeof *s);
    KEEP(struct alloc_answer *, a, free_at) = calloc(N * TIMES, sizeof *a);
    RNG(r, 8, 0);
    int failed = 0;
    assert_true(s && a);
    for (int i = 0; i < N; i++) {
        random_split_open(&s[i], r,
                          (struct random_kind){ .n_collectives = 6, .n_rows = 4, .total = LINEXPR_EQ });
        s[i].problem.objective = i % 2 ? ALLOC_PERF_PER_COST : ALLOC_TIME;
    }
#pragma omp parallel for num_threads(TIMES) reduction(+ : failed) schedule(dynamic)
    for (int i = 0; i < N * TIMES; i++) {
        struct err own = { 0 };
        failed += alloc_solve(&a[i], &s[i / TIMES].problem, &own) != 0;
    }
    assert_int_equal(failed, 0);
    for (int i = 0; i < N * TIMES; i++)
        assert_same_bytes(&a[i], &a[i / TIMES * TIMES]);
    for (int i = 0; i < N * TIMES; i++)
        alloc_answer_free(&a[i]);
    for (int i = 0; i < N; i++)
        random_split_close(&s[i]);
}

/* In a process of its own, as a stop is for good; what was half solved is no answer. */
TEST(a_solve_that_is_stopped_has_no_answer)
{
    static const double m[1][D] = { { 6, 3 } };
    PLAIN_SPLIT(s, 2, m, 1, 0);
    random_split_row(&s, ones, LINEXPR_EQ, 1000);
    pid_t child = fork();
    if (child == 0) {
        struct alloc_answer a;
        work_stop();
        int rc = alloc_solve(&a, &s.problem, e);
        _exit(rc == ERR_STOPPED && a.iterations == 0 && !a.shadow ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- one split for every total ---- */

/* A row that has a limit, which nothing comes near: then no split is scaled. */
static double solved_afresh(struct random_split *s)
{
    struct alloc_row *row = random_split_row(s, ones, LINEXPR_LE, 1e9);
    double value = best_value(&s->problem);
    *row = (struct alloc_row){ 0 };
    s->problem.n_rows--;
    return value;
}

TEST(a_split_that_is_scaled_is_the_one_that_is_solved)
{
    enum { TOTALS = 40 };
    RNG(r, 11, 0);
    for (int i = 0; i < 60; i++) {
        struct alloc_kept kept = { 0 };
        const double *question = NULL;
        RANDOM_SPLIT(s, r, .n_collectives = 20, .compute = i % 2, .total = LINEXPR_EQ);
        for (int k = 0; k < TOTALS; k++) {
            s.rows[0].rhs = 1e9 * exp(rng_range(r, 0, 15));
            s.problem.kept = NULL;
            SOLVED(alone, &s.problem);
            s.problem.kept = &kept;
            SOLVED(a, &s.problem);
            assert_true(random_split_verify(&s, &a));
            assert_memory_equal(a.bw_Bps, alone.bw_Bps, sizeof a.bw_Bps);
            assert_memory_equal(&a.gap, &alone.gap, sizeof a.gap);
            assert_memory_equal(a.shadow, alone.shadow, sizeof *a.shadow);
            assert_true(kept.question && (!question || question == kept.question)); /* solved once */
            question = kept.question;
            if (k < 4)
                assert_close(a.value, solved_afresh(&s), 2e-12);
        }
        alloc_kept_free(&kept);
    }
}

/* Of questions that do not scale the last few are kept, to the last bit. */
TEST(the_same_question_again_has_the_same_answer)
{
    RNG(r, 13, 0);
    for (int i = 0; i < 30; i++) {
        struct alloc_kept kept = { 0 };
        int recalled = 0;
        RANDOM_SPLIT(s, r, .n_collectives = 12, .compute = true, .overlap = true, .total = LINEXPR_EQ);
        const double rhs = s.rows[0].rhs;
        for (int k = 0; k < 9; k++) {
            s.rows[0].rhs = rhs * (1 + k % 3 * (k < 6)); /* three in turn, then one */
            s.problem.kept = NULL;
            SOLVED(alone, &s.problem);
            const int next = kept.next;
            s.problem.kept = &kept;
            SOLVED(a, &s.problem);
            recalled += kept.last[0].question && kept.next == next;
            assert_true(random_split_verify(&s, &a));
            assert_memory_equal(a.bw_Bps, alone.bw_Bps, sizeof a.bw_Bps);
            assert_memory_equal(&a.lower_bound, &alone.lower_bound, sizeof a.lower_bound);
            assert_memory_equal(a.shadow, alone.shadow, sizeof *a.shadow);
        }
        assert_true(!kept.last[0].question || recalled == 2);
        alloc_kept_free(&kept);
    }
}

/* What is kept of another question is not taken. */
TEST(a_kept_split_is_of_the_same_question)
{
    struct alloc_kept kept = { 0 };
    RNG(r, 12, 0);
    for (int i = 0; i < 200; i++) {
        RANDOM_SPLIT(s, r, .n_dims = 3, .n_collectives = 3, .total = LINEXPR_EQ);
        if (i % 4 == 1)
            s.rows[0].coef[1] = 2;
        if (i % 4 == 2)
            s.problem.usd_per_Bps[0] *= 3;
        double value = best_value(&s.problem);
        s.problem.kept = &kept;
        assert_true(best_value(&s.problem) == value);
    }
    alloc_kept_free(&kept);
}
