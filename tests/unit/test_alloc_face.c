/* Ties: their ranges, and which of them is taken. */
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
