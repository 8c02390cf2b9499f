/* Ties: their ranges, and which of them is taken. */
#include "alloc/lp.h"
#include "tests/unit/split_fixture.h"
#include "tests/unit/split_random.h"

enum { D = TOPO_MAX_DIMS };

static const double ones[D] = { 1, 1, 1, 1, 1, 1, 1, 1 };

/* Published as (49.51, 49.96, 0.53), tied with (88.0, 11.4, 0.53): two dimensions of one price with slack. */
TEST(the_tie_of_17b_per_cost_holds_both_published_ends)
{
    const char *workload = "v1-17b";
    KEEP(struct split, s, split_free) = { 0 };
    split_open(&s, "v1-1024-3d", "libra-2022", &workload, 1);
    split_row(&s, "total == 100");
    s.problem.objective = ALLOC_PERF_PER_COST;
    SOLVED(a, &s.problem);
    assert_false(a.unique);
    const double ends_GBps[2][2] = { { 49.51, 49.96 }, { 88.0, 11.4 } };
    for (int i = 0; i < 2; i++)
        for (int d = 0; d < 2; d++)
            assert_true(a.lo_Bps[d] <= ends_GBps[i][d] * 1e9 && a.hi_Bps[d] >= ends_GBps[i][d] * 1e9);
    assert_close(a.lo_Bps[2], a.hi_Bps[2], 1e-6);
    assert_close(a.bw_Bps[2], 0.53e9, 0.01);
    assert_close(a.bw_Bps[0], a.bw_Bps[1], 1e-6); /* the most even of them */
}

/* Dimension 3 carries nothing: its bandwidth may go as far as time goes; at the least time it must. */
TEST(an_unused_dimension_gets_nothing_that_others_can_use)
{
    static const double m[1][D] = { { 3, 1 } };
    PLAIN_SPLIT(s, 3, m, 1, 0);
    random_split_row(&s, ones, LINEXPR_EQ, 100);
    SOLVED(a, &s.problem);
    assert_true(a.unique);
    assert_near(a.bw_Bps[2], 0, 1);
    assert_close(a.bw_Bps[0], 75e9, 1e-9);
}

/* B1 <= 10 is what holds T up: B2 and B3 may share what is left of 100 as they like, each at least 20. */
TEST(of_ties_the_cheapest_is_taken_then_the_most_even)
{
    static const struct {
        double usd[3], want_GBps[3];
    } cases[] = { { { 1, 1, 1 }, { 10, 45, 45 } },
                  { { 0, 0, 0 }, { 10, 45, 45 } },
                  { { 1, 2, 1 }, { 10, 20, 70 } },
                  { { 1, 1, 2 }, { 10, 70, 20 } } };
    static const double m[1][D] = { { 10, 20, 20 } };
    const double first[D] = { 1 };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        PLAIN_SPLIT(s, 3, m, 1, 0);
        random_split_row(&s, ones, LINEXPR_EQ, 100);
        random_split_row(&s, first, LINEXPR_LE, 10);
        for (int d = 0; d < 3; d++)
            s.problem.usd_per_Bps[d] = cases[i].usd[d] * 1e-9;
        SOLVED(a, &s.problem);
        assert_close(a.value, 1, 1e-11);
        assert_false(a.unique);
        for (int d = 0; d < 3; d++)
            assert_close(a.bw_Bps[d], cases[i].want_GBps[d] * 1e9, 1e-6);
        for (int d = 1; d < 3; d++) {
            assert_close(a.lo_Bps[d], 20e9, 1e-6);
            assert_close(a.hi_Bps[d], 70e9, 1e-6);
        }
    }
}

/* The same in a unit of a hundredth of a byte a second. */
TEST(ties_do_not_depend_on_the_unit)
{
    static const double m[1][D] = { { 10e-11, 20e-11, 20e-11 } }, first[D] = { 1 };
    PLAIN_SPLIT(s, 3, m, 1, 0);
    random_split_row(&s, ones, LINEXPR_EQ, 100e-11);
    random_split_row(&s, first, LINEXPR_LE, 10e-11);
    SOLVED(a, &s.problem);
    assert_close(a.value, 1, 1e-9);
    for (int d = 1; d < 3; d++) {
        assert_close(a.bw_Bps[d], 0.45, 1e-6);
        assert_close(a.lo_Bps[d], 0.2, 1e-6);
        assert_close(a.hi_Bps[d], 0.7, 1e-6);
    }
}

/* With an upper limit on the sum the cheap choice is to leave money in the pocket. */
TEST(what_helps_nobody_is_not_bought)
{
    static const double m[1][D] = { { 10, 20 } };
    const double first[D] = { 1 };
    struct alloc_answer a;
    PLAIN_SPLIT(s, 2, m, 1, 0);
    random_split_row(&s, ones, LINEXPR_LE, 100);
    random_split_row(&s, first, LINEXPR_LE, 10);
    s.problem.usd_per_Bps[0] = s.problem.usd_per_Bps[1] = 1e-9;
    solve_well(&a, &s.problem);
    assert_false(a.unique);
    assert_close(a.bw_Bps[1], 20e9, 1e-6);
    assert_close(a.hi_Bps[1], 90e9, 1e-6);
    alloc_answer_free(&a);
    alloc_answer_free(&a);
}

TEST(ranges_hold_the_answer_and_moving_within_them_is_no_worse_at_their_ends)
{
    RNG(r, 31, 0);
    int tied = 0;
    for (int i = 0; i < 400; i++) {
        RANDOM_SPLIT(s, r, .n_dims = 3, .n_collectives = 4, .compute = true, .overlap = true, .n_rows = 2,
                     .total = LINEXPR_LE);
        SOLVED(a, &s.problem);
        for (int32_t d = 0; d < 3; d++) {
            assert_true(a.lo_Bps[d] <= a.bw_Bps[d] * (1 + 1e-6) + 1);
            assert_true(a.hi_Bps[d] >= a.bw_Bps[d] * (1 - 1e-6) - 1);
            /* Held beyond its range, the dimension makes time worse. */
            double pin[D] = { 0 };
            if (!(a.hi_Bps[d] < 0.5 * s.rows[0].rhs))
                continue;
            pin[d] = 1;
            random_split_row(&s, pin, LINEXPR_GE, a.hi_Bps[d] * 1.01e-9 + 1e-3);
            struct alloc_answer pinned;
            OK(alloc_solve(&pinned, &s.problem, e));
            assert_true(pinned.status != ALLOC_SOLVED || pinned.value > a.value);
            alloc_answer_free(&pinned);
            s.problem.n_rows--;
        }
        tied += !a.unique;
    }
    assert_true(tied > 20);
}

/* Compute takes 0.1 s. All that hides is far below what there is, and how far must not matter. */
TEST(behind_compute_the_cheapest_split_is_taken_however_small)
{
    static const double sizes[] = { 1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 1e-3 };
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        const double m[1][D] = { { 1.5e-4 * sizes[i], 0.46875e-4 * sizes[i] } };
        KEEP(struct random_split, s, random_split_close);
        hidden_split_open(&s, 2, m, 1, 0.1);
        random_split_row(&s, ones, LINEXPR_EQ, 200);
        s.problem.usd_per_Bps[0] = 4e-9;
        s.problem.usd_per_Bps[1] = 58e-9;
        SOLVED(a, &s.problem);
        assert_false(a.unique);
        assert_near(a.bw_Bps[1], m[0][1] * 1e10, 0.1);
        assert_close(a.hi_Bps[1], 200e9 - m[0][0] * 1e10, 1e-9);
        assert_close(a.cost_usd, 4 * 200 + 54 * m[0][1] * 10, 1e-9);
    }
}

/* What is cheaper within the same time would be found by asking for the least cost. */
TEST(no_split_of_the_least_time_is_cheaper_than_the_one_taken)
{
    RNG(r, 32, 0);
    int tied = 0;
    for (int i = 0; i < 1000; i++) {
        RANDOM_SPLIT(s, r, .n_collectives = 6, .compute = true, .overlap = true, .n_rows = 3,
                     .total = i % 2 ? LINEXPR_LE : LINEXPR_EQ);
        for (int d = 0; i % 3 == 0 && d < D; d++)
            s.problem.usd_per_Bps[d] = 1e-5;
        SOLVED(a, &s.problem);
        if (a.unique)
            continue;
        tied++;
        assert_true(random_split_verify(&s, &a));
        s.problem.objective = ALLOC_COST;
        s.problem.time_limit_s = a.time_s * (1 + 1e-12);
        KEEP(struct alloc_answer, least, alloc_answer_free);
        OK(alloc_solve(&least, &s.problem, e));
        if (least.status == ALLOC_SOLVED && !(a.cost_usd <= least.cost_usd * (1 + 1e-6)))
            fail_msg("split %d: %.9g USD, but %.9g will do", i, a.cost_usd, least.cost_usd);
    }
    assert_true(tied > 100);
}

/* Every B of one price and one sum costs the same: the limit on time says which may be taken, the rest is
 * evenness. */
TEST(of_splits_that_all_cost_the_same_the_most_even_is_taken)
{
    static const enum linexpr_sense senses[] = { LINEXPR_EQ, LINEXPR_GE };
    RNG(r, 33, 0);
    for (int i = 0; i < 200; i++) {
        RANDOM_SPLIT(s, r, .n_dims = 2 + i % 4, .n_collectives = 4, .compute = true, .overlap = true,
                     .total = senses[i % 2]);
        double equal_Bps[D] = { 0 };
        for (int32_t d = 0; d < s.net.n_dims; d++) {
            s.problem.usd_per_Bps[d] = 1e-5;
            equal_Bps[d] = s.rows[0].rhs / s.net.n_dims;
        }
        s.problem.objective = ALLOC_COST;
        s.problem.time_limit_s = step_time(&s.fn, equal_Bps) * rng_range(r, 1.001, 8);
        SOLVED(a, &s.problem);
        assert_true(random_split_verify(&s, &a));
        assert_false(a.unique);
        for (int32_t d = 0; d < s.net.n_dims; d++)
            assert_close(a.bw_Bps[d], equal_Bps[d], 1e-6);
    }
}

/* Is a split other than the answer's, by more than rounding, as good? */
static bool is_as_good(const struct random_split *s, const struct alloc_answer *a, const double *bw_Bps)
{
    const struct alloc_problem *p = &s->problem;
    double total = 0, most = 0;
    for (int32_t d = 0; d < s->net.n_dims; d++) {
        total += a->bw_Bps[d];
        most = fmax(most, fabs(bw_Bps[d] - a->bw_Bps[d]));
    }
    for (int32_t i = 0; i < p->n_rows; i++)
        if (fabs(alloc_outside(&p->rows[i], bw_Bps, s->net.n_dims)) > 1e-14)
            return false;
    if (p->objective == ALLOC_COST && step_time(p->step, bw_Bps) > p->time_limit_s)
        return false;
    return most > 1e-4 * total && random_split_value(p, bw_Bps) <= a->value * (1 + 1e-14);
}

/* On the way to a vertex of the rows, near and far. */
static bool find_other(const struct random_split *s, const struct alloc_answer *a, struct rng *r)
{
    const int32_t n = s->net.n_dims;
    bool found = false;
    for (int i = 0; i < 24; i++) {
        struct lp lp;
        struct lp_result vertex;
        double bw_Bps[D] = { 0 };
        lp_init(&lp, n, s->problem.rows, s->problem.n_rows);
        for (int32_t d = 0; d < n; d++)
            lp.cost[d] = i < 2 * n ? (d == i / 2) * (i % 2 ? 1.0 : -1.0) : rng_range(r, -1, 1);
        MUST(lp_solve(&vertex, NULL, &lp, e));
        for (double share = 1; vertex.status == LP_OPTIMAL && share > 1e-3; share *= 0.25) {
            for (int32_t d = 0; d < n; d++)
                bw_Bps[d] = a->bw_Bps[d] + share * (vertex.bw_Bps[d] - a->bw_Bps[d]);
            found = found || (alloc_repair(&s->problem, bw_Bps) && is_as_good(s, a, bw_Bps));
        }
    }
    for (double scale = 0.25; scale <= 4; scale *= 2) {
        double bw_Bps[D];
        for (int32_t d = 0; d < D; d++)
            bw_Bps[d] = a->bw_Bps[d] * scale;
        found = found || is_as_good(s, a, bw_Bps);
    }
    return found;
}

TEST(unique_is_only_said_where_no_other_split_is_as_good)
{
    RNG(r, 34, 0);
    int tied = 0, found = 0;
    for (int i = 0; i < 1500; i++) {
        RANDOM_SPLIT(s, r, .n_collectives = 5, .compute = i % 4 > 0, .overlap = i % 3 > 0, .n_rows = 3,
                     .total = (enum linexpr_sense)(i % 3));
        s.problem.objective = (enum alloc_objective)rng_below(r, N_ALLOC_OBJECTIVES);
        s.problem.time_limit_s = step_time(&s.fn, s.inside_Bps) * rng_range(r, 1, 3);
        for (int d = 0; i % 2 && d < D; d++) {
            s.problem.usd_per_Bps[d] = 1e-5;
            s.problem.factor_per_Bps[d] = 1e-8;
        }
        s.problem.factor_fixed = i % 5 ? 0 : 1e4;
        KEEP(struct alloc_answer, a, alloc_answer_free);
        OK(alloc_solve(&a, &s.problem, e));
        if (a.status != ALLOC_SOLVED)
            continue;
        bool other = find_other(&s, &a, r);
        if (other && a.unique)
            fail_msg("split %d, %s: another split is as good", i, alloc_objective_names[s.problem.objective]);
        tied += !a.unique;
        found += other;
    }
    assert_true(tied > 100 && found > 60);
}

/* Time as 1/scale, money as scale: what their product leaves open is settled by money. */
TEST(a_product_that_is_the_same_at_every_scale_takes_the_least)
{
    static const enum alloc_objective objectives[] = { ALLOC_UTILIZATION, ALLOC_PERF_PER_COST,
                                                       ALLOC_PERF_PER_WATT, ALLOC_TCO_PER_TOKEN };
    static const double m[2][D] = { { 175, 23.4375, 1 }, { 80, 0, 0.5 } };
    for (size_t i = 0; i < 3 * COUNT_OF(objectives); i++) {
        const int32_t n_dims = i % 3 == 0 ? 2 : 3;
        PLAIN_SPLIT(s, n_dims, m, i % 3 == 2 ? 2 : 1, 0);
        random_split_row(&s, ones, LINEXPR_LE, 200);
        random_split_row(&s, ones, LINEXPR_GE, 50);
        for (int d = 0; d < n_dims; d++)
            s.problem.usd_per_Bps[d] = s.problem.factor_per_Bps[d] = 2e-6;
        s.problem.objective = objectives[i / 3];
        SOLVED(a, &s.problem);
        assert_false(a.unique);
        double total = 0;
        for (int d = 0; d < n_dims; d++) {
            total += a.bw_Bps[d];
            assert_close(a.lo_Bps[d], a.bw_Bps[d], 1e-6);
            assert_close(a.hi_Bps[d], 4 * a.bw_Bps[d], 1e-6);
        }
        assert_close(total, 50e9, 1e-9);
        assert_close(random_split_value(&s.problem, a.bw_Bps), a.value, 1e-9);
        double twice[D];
        for (int d = 0; d < D; d++)
            twice[d] = 2 * a.bw_Bps[d];
        assert_close(random_split_value(&s.problem, twice), a.value, 1e-9);
        assert_close(a.shadow[0], 0, 0);
    }
}

/* A fixed cost, or compute that counts, makes one scale the best. */
TEST(a_product_with_something_fixed_has_one_best_scale)
{
    static const double m[1][D] = { { 175, 23.4375 } };
    for (int i = 0; i < 2; i++) {
        PLAIN_SPLIT(s, 2, m, 1, i ? 1.5 : 0);
        random_split_row(&s, ones, LINEXPR_LE, 200);
        random_split_row(&s, ones, LINEXPR_GE, 50);
        s.problem.usd_per_Bps[0] = s.problem.usd_per_Bps[1] = 2e-6;
        s.problem.usd_fixed = i ? 0 : 1e3;
        s.problem.objective = ALLOC_PERF_PER_COST;
        SOLVED(a, &s.problem);
        assert_true(a.unique);
        assert_close(a.bw_Bps[0] + a.bw_Bps[1], i ? 50e9 : 200e9, 1e-9);
    }
}

/* Nothing to send: utilization is the same everywhere, and costs decide. */
TEST(without_traffic_every_split_is_as_good)
{
    static const double m[1][D] = { { 0 } };
    PLAIN_SPLIT(s, 2, m, 0, 0);
    random_split_row(&s, ones, LINEXPR_LE, 200);
    random_split_row(&s, ones, LINEXPR_GE, 50);
    s.problem.usd_per_Bps[0] = 2e-6;
    s.problem.usd_per_Bps[1] = 1e-6;
    s.problem.objective = ALLOC_UTILIZATION;
    SOLVED(a, &s.problem);
    assert_false(a.unique);
    assert_near(a.bw_Bps[0], 0, 1);
    assert_close(a.bw_Bps[1], 50e9, 1e-9);
    assert_close(a.hi_Bps[0], 200e9, 1e-9);
}

/* Is the best split with dimension @p d held by a row as good as the answer? */
static bool is_as_good_held(struct random_split *s, const struct alloc_answer *a, int32_t d,
                            enum linexpr_sense sense, double bw_Bps)
{
    KEEP(struct alloc_answer, held, alloc_answer_free);
    double only[D] = { 0 };
    only[d] = 1;
    random_split_row(s, only, sense, bw_Bps * 1e-9);
    MUST(alloc_solve(&held, &s->problem, e));
    s->problem.n_rows--;
    return held.status == ALLOC_SOLVED && held.value <= a->value * (1 + 1e-9);
}

/* Without compute and fixed cost every scale is as good, from the least total to the most. A row forces more
 * of some dimensions than their traffic needs: these share it as they like. */
TEST(ranges_along_rays_end_where_splits_become_worse)
{
    RNG(r, 35, 0);
    int n_ranges = 0, wide = 0;
    for (int i = 0; i < 120; i++) {
        RANDOM_SPLIT(s, r, .n_dims = 2 + i % 3, .n_collectives = 1 + i % 5, .overlap = true,
                     .total = LINEXPR_LE);
        const double most_Bps = s.rows[0].rhs;
        random_split_row(&s, ones, LINEXPR_GE, 0.25e-9 * most_Bps);
        double others[D] = { -rng_range(r, 2, 20), 1, 1, 1 };
        if (i % 3)
            random_split_row(&s, others, LINEXPR_GE, 0);
        s.problem.objective = i % 2 ? ALLOC_PERF_PER_COST : ALLOC_UTILIZATION;
        double usd = rng_range(r, 0.5, 2);
        for (int32_t d = 0; d < s.net.n_dims; d++)
            s.problem.usd_per_Bps[d] = 1e-6 * usd;
        SOLVED(a, &s.problem);
        assert_false(a.unique);
        for (int32_t d = 0; d < s.net.n_dims; d++) {
            const double room_Bps = 1e-3 * most_Bps;
            if (a.hi_Bps[d] < 1e-9 * most_Bps) /* traffic of a byte or two */
                continue;
            assert_true(is_as_good_held(&s, &a, d, LINEXPR_EQ, a.hi_Bps[d] * (1 - 1e-7)));
            assert_true(is_as_good_held(&s, &a, d, LINEXPR_EQ, a.lo_Bps[d] * (1 + 1e-7)));
            assert_false(is_as_good_held(&s, &a, d, LINEXPR_GE, a.hi_Bps[d] + room_Bps));
            assert_false(a.lo_Bps[d] > room_Bps &&
                         is_as_good_held(&s, &a, d, LINEXPR_LE, a.lo_Bps[d] - room_Bps));
            n_ranges++;
            wide += a.hi_Bps[d] > 4.1 * a.lo_Bps[d];
        }
    }
    assert_true(n_ranges > 200 && wide > 30);
}
