/* Small linear programmes by hand: corners, multipliers, and the least set of rows that clash. */
#include "tests/support.h"
#include "alloc/lp.h"

static struct alloc_row row(const char *name, double a, double b, enum linexpr_sense sense, double rhs_GBps)
{
    struct alloc_row r = { .coef = { a, b }, .sense = sense, .rhs = rhs_GBps * 1e9, .unit = 1e9 };
    snprintf(r.name, sizeof r.name, "%s", name);
    return r;
}

TEST(corners_values_and_multipliers_are_those_done_by_hand)
{
    /* maximise x + 2y under x + y <= 4, y <= 3, x >= 0.5: (1, 3); one more of x + y is worth 1, of y 1. */
    const struct alloc_row rows[] = { row("", 1, 1, LINEXPR_LE, 4), row("", 0, 1, LINEXPR_LE, 3),
                                      row("", 1, 0, LINEXPR_GE, 0.5) };
    struct lp lp;
    struct lp_result r;
    double dual[3];
    lp_init(&lp, 2, rows, 3);
    lp.cost[0] = -1;
    lp.cost[1] = -2;
    OK(lp_solve(&r, dual, &lp, e));
    assert_int_equal(r.status, LP_OPTIMAL);
    assert_close(r.bw_Bps[0], 1e9, 1e-12);
    assert_close(r.bw_Bps[1], 3e9, 1e-12);
    assert_close(r.value, -7e9, 1e-12);
    assert_close(dual[0], 1, 1e-12);
    assert_close(dual[1], 1, 1e-12);
    assert_near(dual[2], 0, 1e-12);

    /* minimise x: the floor binds, its multiplier is the price. */
    lp_init(&lp, 2, rows, 3);
    lp.cost[0] = 1;
    OK(lp_solve(&r, dual, &lp, e));
    assert_close(r.bw_Bps[0], 0.5e9, 1e-12);
    assert_close(dual[2], 1, 1e-12);
}

TEST(bounds_of_the_programme_hold_beside_the_rows)
{
    const struct alloc_row rows[] = { row("", 1, 1, LINEXPR_EQ, 10) };
    struct lp lp;
    struct lp_result r;
    lp_init(&lp, 2, rows, 1);
    lp.lo_Bps[0] = 2e9;
    lp.hi_Bps[1] = 7e9;
    lp.cost[0] = 1;
    OK(lp_solve(&r, NULL, &lp, e));
    assert_close(r.bw_Bps[0], 3e9, 1e-12);
    lp.lo_Bps[1] = lp.hi_Bps[1] = 1e9;
    OK(lp_solve(&r, NULL, &lp, e));
    assert_close(r.bw_Bps[0], 9e9, 1e-12);
}

/* Beside (1, 0) a vector leans on it but for its second part, BASIS_REL of its length: still too little. */
TEST(a_vector_that_depends_to_within_rounding_is_refused)
{
    static const double first[2] = { 1 }, over[2] = { 1, 2 * BASIS_REL };
    static const double least[2] = { 1, BASIS_REL }, none[2] = { 0 };
    struct basis b = { .n_dims = 2 };
    assert_false(basis_add(&b, none));
    assert_true(basis_add(&b, first));
    assert_false(basis_add(&b, least));
    assert_int_equal(b.n, 1);
    assert_true(basis_add(&b, over));
    assert_near(b.q[1][0], 0, 1e-15);
    assert_close(b.q[1][1], 1, 1e-15);
    assert_false(basis_add(&b, over)); /* a plane has no third direction */
}

TEST(no_solution_and_no_end_are_told_apart)
{
    const struct alloc_row rows[] = { row("", 1, 0, LINEXPR_LE, 1), row("", 1, 0, LINEXPR_GE, 2) };
    const bool skip[] = { false, true };
    struct lp lp;
    struct lp_result r;
    lp_init(&lp, 2, rows, 2);
    OK(lp_solve(&r, NULL, &lp, e));
    assert_int_equal(r.status, LP_INFEASIBLE);
    lp.skip = skip;
    OK(lp_solve(&r, NULL, &lp, e));
    assert_int_equal(r.status, LP_OPTIMAL);
    lp.cost[1] = -1;
    OK(lp_solve(&r, NULL, &lp, e));
    assert_int_equal(r.status, LP_UNBOUNDED);
}

TEST(the_least_of_some_is_made_greatest)
{
    const struct alloc_row rows[] = { row("", 1, 2, LINEXPR_LE, 12), row("", 0, 1, LINEXPR_LE, 3) };
    const bool both[] = { true, true }, first[] = { true, false };
    struct lp lp;
    struct lp_result r;
    lp_init(&lp, 2, rows, 2);
    lp.level = both;
    OK(lp_solve(&r, NULL, &lp, e));
    assert_close(r.value, 3e9, 1e-12);
    lp.level = first;
    OK(lp_solve(&r, NULL, &lp, e));
    assert_close(r.value, 12e9, 1e-12);
    assert_close(r.bw_Bps[0], 12e9, 1e-12);
}

TEST(the_clash_named_is_minimal)
{
    static const struct {
        const char *names[4];
        double a[4], b[4], rhs[4];
        enum linexpr_sense sense[4];
        const char *want;
    } cases[] = {
        { { "p", "q", "r", "s" },
          { 1, 1, 0, 1 },
          { 0, 0, 1, 1 },
          { 5, 9, 3, 20 },
          { LINEXPR_LE, LINEXPR_GE, LINEXPR_LE, LINEXPR_LE },
          "p; q" },
        { { "p", "q", "r", "s" },
          { 1, 0, 1, 1 },
          { 0, 1, 1, -1 },
          { 5, 5, 11, 100 },
          { LINEXPR_LE, LINEXPR_LE, LINEXPR_GE, LINEXPR_LE },
          "p; q; r" },
        { { "p", "q", "r", "s" },
          { 1, 1, 0, 1 },
          { 1, 1, 1, 0 },
          { 5, 6, 1, 1 },
          { LINEXPR_EQ, LINEXPR_EQ, LINEXPR_GE, LINEXPR_GE },
          "p; q" },
        /* B >= 0 goes without saying. */
        { { "p", "q", "r", "s" },
          { 1, 1, 1, 0 },
          { 1, 0, -1, 1 },
          { -1, 5, 1, 2 },
          { LINEXPR_LE, LINEXPR_LE, LINEXPR_LE, LINEXPR_LE },
          "p" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct alloc_row rows[4];
        struct lp lp;
        char text[100];
        for (int k = 0; k < 4; k++)
            rows[k] =
                row(cases[i].names[k], cases[i].a[k], cases[i].b[k], cases[i].sense[k], cases[i].rhs[k]);
        lp_init(&lp, 2, rows, 4);
        OK(lp_name_clash(text, sizeof text, &lp, e));
        assert_string_equal(text, cases[i].want);
    }
}

TEST(a_long_clash_is_cut_behind_a_name)
{
    struct alloc_row rows[2] = { row("a rather long name", 1, 0, LINEXPR_LE, 1),
                                 row("another one", 1, 0, LINEXPR_GE, 2) };
    struct lp lp;
    char text[26];
    lp_init(&lp, 2, rows, 2);
    OK(lp_name_clash(text, sizeof text, &lp, e));
    assert_string_equal(text, "a rather long name; ...");
}
