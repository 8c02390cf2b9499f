/* Linear programmes of a textbook, changed and solved again, also by several threads at once. */
#include "tests/support.h"
#include "base/simplex.h"

KEEPS(struct simplex, simplex_free)

static const struct simplex_way cold = { SIMPLEX_FROM_SLACKS, false, 1e-9, INT32_MAX };
static const struct simplex_way warm = { SIMPLEX_FROM_BASIS, false, 1e-9, INT32_MAX };
static const struct simplex_way dual = { SIMPLEX_FROM_BASIS, true, 1e-9, INT32_MAX };
static const struct simplex_way exact = { SIMPLEX_EXACT, false, 1e-9, INT32_MAX };

/* Maximise 3a + 5b under a <= 4, 2b <= 12, 3a + 2b <= 18: (2, 6), worth 36, prices 0, 3/2, 1 (Dantzig's
 * textbook example as Hillier and Lieberman have it). */
static struct simplex *build_example(void)
{
    static const int32_t a_rows[] = { 0, 2 }, b_rows[] = { 1, 2 };
    static const double a[] = { 1, 3 }, b[] = { 2, 2 }, most[] = { 4, 12, 18 };
    struct simplex *x;
    MUST(simplex_build(&x, e));
    for (int i = 0; i < 3; i++)
        MUST(simplex_add_row(x, -INFINITY, most[i], 0, NULL, NULL, e));
    MUST(simplex_add_column(x, -3, 0, INFINITY, 2, a_rows, a, e));
    MUST(simplex_add_column(x, -5, 0, INFINITY, 2, b_rows, b, e));
    return x;
}

static void solve(struct simplex *x, const struct simplex_way *way, enum simplex_status want)
{
    enum simplex_status status;
    MUST(simplex_solve(&status, x, way, 1, e));
    assert_int_equal(status, want);
}

TEST(corner_and_prices_are_those_of_the_textbook)
{
    const struct simplex_way *const ways[] = { &cold, &exact };
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        KEEP(struct simplex *, x, simplex_free_at) = build_example();
        solve(x, ways[i], SIMPLEX_OPTIMAL);
        assert_near(simplex_value(x, 0), 2, 1e-12);
        assert_near(simplex_value(x, 1), 6, 1e-12);
        assert_near(simplex_dual(x, 0), 0, 1e-12);
        assert_near(simplex_dual(x, 1), -1.5, 1e-12);
        assert_near(simplex_dual(x, 2), -1, 1e-12);
    }
}

/* A column of 1 of the second and third resource is priced at 2.5: worth 2 it stays out, 4 it comes in. */
TEST(columns_come_in_when_they_are_worth_more_than_their_price)
{
    static const int32_t rows[] = { 1, 2 };
    static const double one[] = { 1, 1 };
    KEEP(struct simplex *, x, simplex_free_at) = build_example();
    solve(x, &cold, SIMPLEX_OPTIMAL);
    OK(simplex_add_column(x, -2, 0, INFINITY, 2, rows, one, e));
    solve(x, &warm, SIMPLEX_OPTIMAL);
    assert_true(simplex_value(x, 2) == 0);
    assert_near(simplex_value(x, 1), 6, 1e-12);
    /* Now a + c: 3a + c = 18 with c <= 12, or less of b: c = 12, a = 2, b = 0, worth 54. */
    simplex_set_cost(x, 2, -4);
    solve(x, &warm, SIMPLEX_OPTIMAL);
    assert_near(simplex_value(x, 2), 12, 1e-12);
    assert_near(simplex_value(x, 0), 2, 1e-12);
    assert_near(simplex_value(x, 1), 0, 1e-12);
    /* Shut out again by its bounds, from a basis that it is in. */
    simplex_set_bounds(x, 2, 0, 0);
    solve(x, &dual, SIMPLEX_OPTIMAL);
    assert_near(simplex_value(x, 1), 6, 1e-12);
}

TEST(rows_with_entries_bind_columns_that_are_there)
{
    static const int32_t both[] = { 0, 1 };
    static const double ones[] = { 1, 1 };
    KEEP(struct simplex *, x, simplex_free_at) = build_example();
    solve(x, &cold, SIMPLEX_OPTIMAL);
    OK(simplex_add_row(x, 7, 7, 2, both, ones, e)); /* a + b = 7: (1, 6) */
    solve(x, &warm, SIMPLEX_OPTIMAL);
    assert_near(simplex_value(x, 0), 1, 1e-12);
    assert_near(simplex_value(x, 1), 6, 1e-12);
    assert_near(simplex_dual(x, 3), -3, 1e-12);
    OK(simplex_add_row(x, 8, INFINITY, 2, both, ones, e));
    solve(x, &warm, SIMPLEX_INFEASIBLE);
    solve(x, &exact, SIMPLEX_INFEASIBLE);
}

TEST(no_end_is_told_from_no_solution)
{
    struct simplex *x;
    enum simplex_status status;
    OK(simplex_build(&x, e));
    OK(simplex_add_column(x, -1, 0, INFINITY, 0, NULL, NULL, e));
    OK(simplex_add_row(x, 0, INFINITY, 1, &(int32_t){ 0 }, &(double){ 1 }, e));
    solve(x, &cold, SIMPLEX_UNBOUNDED);
    solve(x, &exact, SIMPLEX_UNBOUNDED);
    simplex_set_bounds(x, 0, -3, 5);
    solve(x, &cold, SIMPLEX_OPTIMAL);
    assert_true(simplex_value(x, 0) == 5);
    simplex_free(x);

    /* A way that may take no step has no answer; the next one has. */
    const struct simplex_way ways[] = { { SIMPLEX_FROM_SLACKS, false, 1e-9, 0 }, cold };
    x = build_example();
    FAILS(simplex_solve(&status, x, ways, 1, e), ERR_LIB, "GLPK: simplex ended with code");
    OK(simplex_solve(&status, x, ways, 2, e));
    assert_int_equal(status, SIMPLEX_OPTIMAL);
    simplex_free(x);
    simplex_free(NULL);
}

/* A transport problem whose best plan is known: cost 0 on the diagonal, 1 elsewhere. */
static double solve_random(int32_t n, uint64_t seed)
{
    KEEP(struct simplex *, x, simplex_free_at);
    struct err e = { 0 };
    double sum = 0;
    RNG(rng, seed, 0);
    assert_ok(simplex_build(&x, &e), &e);
    for (int32_t i = 0; i < n; i++) {
        double amount = rng_range(rng, 1, 2);
        assert_ok(simplex_add_row(x, amount, amount, 0, NULL, NULL, &e), &e);
        assert_ok(simplex_add_row(x, amount, INFINITY, 0, NULL, NULL, &e), &e);
    }
    for (int32_t i = 0; i < n * n; i++) {
        int32_t from = i / n, to = i % n;
        assert_ok(simplex_add_column(x, from != to, 0, INFINITY, 2, (int32_t[]){ 2 * from, 2 * to + 1 },
                                     (double[]){ 1, 1 }, &e),
                  &e);
    }
    solve(x, &cold, SIMPLEX_OPTIMAL);
    for (int32_t i = 0; i < n * n; i++)
        sum += i / n != i % n ? simplex_value(x, i) : 0;
    return sum;
}

TEST(programmes_of_several_threads_do_not_meet)
{
    double moved[32];
    struct simplex *held = build_example(); /* outlives others of its thread */
#pragma omp parallel for num_threads(8) schedule(dynamic)
    for (int i = 0; i < 32; i++)
        moved[i] = solve_random(4 + i % 5, (uint64_t)i);
    for (int i = 0; i < 32; i++)
        assert_near(moved[i], 0, 1e-9);
    solve(held, &cold, SIMPLEX_OPTIMAL);
    assert_near(simplex_value(held, 1), 6, 1e-12);
    simplex_free(held);
}
