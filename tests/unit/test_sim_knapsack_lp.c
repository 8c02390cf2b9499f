#include "sim/interval/interval.h"
#include "tests/support.h"
#include "tests/unit/knapsack_random.h"

/* Values to at most 1 and rows to capacities of 1, as the LP asks for. */
static void scale(struct knapsack_random *x)
{
    double greatest = 1e-300;
    for (int32_t j = 0; j < x->k.n; j++)
        greatest = fmax(greatest, x->value[j]);
    for (int32_t j = 0; j < x->k.n; j++) {
        x->value[j] /= greatest;
        for (int32_t r = 0; r < x->k.n_rows; r++) {
            double *w = &x->weight[j * x->k.n_rows + r];
            *w = x->capacity[r] > 0 ? *w / x->capacity[r] : 0;
        }
    }
}

/* x is feasible, worth what multipliers y >= 0 prove to be the most: it is optimal, whatever found it. */
static void assert_optimal(const struct knapsack_lp *lp)
{
    double value = 0, bound = 0;
    for (int32_t r = 0; r < lp->n_rows; r++) {
        double used = 0;
        for (int32_t j = 0; j < lp->n; j++)
            used += lp->weight[j * lp->n_rows + r] * lp->x[j];
        assert_true(used <= lp->capacity[r] + 1e-9);
        assert_true(lp->price[r] >= 0);
        bound += lp->price[r] * lp->capacity[r];
    }
    int32_t n_fractions = 0;
    for (int32_t j = 0; j < lp->n; j++) {
        double reduced = lp->value[j], x = lp->x[j];
        for (int32_t r = 0; r < lp->n_rows; r++)
            reduced -= lp->price[r] * lp->weight[j * lp->n_rows + r];
        assert_true(x >= 0 && x <= 1);
        assert_true(lp->fix[j] == KNAPSACK_FREE || x == (lp->fix[j] == KNAPSACK_IN ? 1 : 0));
        n_fractions += x > 0 && x < 1;
        value += lp->value[j] * x;
        bound += lp->fix[j] == KNAPSACK_IN ? reduced : lp->fix[j] == KNAPSACK_OUT ? 0 : fmax(reduced, 0);
    }
    assert_int_equal(n_fractions, lp->n_fractions);
    assert_true(n_fractions <= lp->n_rows);
    assert_near(lp->bound, bound, 1e-9);
    assert_near(value, bound, 1e-7);
}

/* Fix some items in as far as they fit, and some out. */
static void fix_at_random(struct knapsack_lp *lp, struct rng *rng)
{
    double used[KNAPSACK_MAX_ROWS] = { 0 };
    for (int32_t j = 0; j < lp->n; j++) {
        lp->fix[j] = (unsigned char)rng_below(rng, 3);
        bool fits = true;
        for (int32_t r = 0; r < lp->n_rows; r++)
            fits = fits && used[r] + lp->weight[j * lp->n_rows + r] <= lp->capacity[r];
        if (lp->fix[j] != KNAPSACK_IN)
            continue;
        if (!fits)
            lp->fix[j] = KNAPSACK_FREE;
        for (int32_t r = 0; r < lp->n_rows && fits; r++)
            used[r] += lp->weight[j * lp->n_rows + r];
    }
}

TEST(every_solve_proves_itself)
{
    int64_t pivots = 0;
    RNG(rng, 1, 0);
    for (int i = 0; i < 400; i++) {
        struct knapsack_random x;
        KEEP(struct knapsack_lp, lp, knapsack_lp_free);
        knapsack_draw(&x, rng, 1 + (int32_t)rng_below(rng, 60), 1 + (int32_t)rng_below(rng, 6));
        scale(&x);
        OK(knapsack_lp_build(&lp, x.k.n, x.k.n_rows, e));
        memcpy(lp.value, x.value, (size_t)x.k.n * sizeof *x.value);
        memcpy(lp.weight, x.weight, (size_t)(x.k.n * x.k.n_rows) * sizeof *x.weight);
        for (int k = 0; k < 30; k++) {
            assert_true(knapsack_lp_solve(&lp));
            assert_optimal(&lp);
            fix_at_random(&lp, rng);
        }
        pivots += lp.pivots;
    }
    /* 15,288 of 12,000 solves: from the basis before, over the largest excess, in long steps. */
    assert_true(pivots < 16000);
}

/* One row: by falling value per weight, until it is full (Dantzig 1957). */
TEST(one_row_is_filled_by_value_per_weight)
{
    const double value[] = { 1, 0.9, 0.5, 0.2 }, weight[] = { 0.5, 0.3, 0.4, 0.9 };
    KEEP(struct knapsack_lp, lp, knapsack_lp_free);
    OK(knapsack_lp_build(&lp, 4, 1, e));
    memcpy(lp.value, value, sizeof value);
    memcpy(lp.weight, weight, sizeof weight);
    assert_true(knapsack_lp_solve(&lp));
    assert_close(lp.bound, 1.9 + 0.5 * 0.2 / 0.4, 1e-14);
    assert_close(lp.price[0], 0.5 / 0.4, 1e-14);
    assert_true(lp.x[0] == 1 && lp.x[1] == 1 && lp.x[3] == 0);
    assert_close(lp.x[2], 0.5, 1e-14);
    lp.fix[0] = KNAPSACK_OUT;
    assert_true(knapsack_lp_solve(&lp));
    assert_close(lp.bound, 1.4 + 0.2 * 0.3 / 0.9, 1e-14);
    lp.fix[3] = KNAPSACK_IN;
    assert_true(knapsack_lp_solve(&lp));
    assert_close(lp.bound, 0.2 + 0.9 / 3, 1e-14);
}

TEST(a_knapsack_without_items_is_worth_nothing)
{
    struct knapsack_lp lp;
    OK(knapsack_lp_build(&lp, 0, 2, e));
    assert_true(knapsack_lp_solve(&lp));
    assert_true(lp.bound == 0);
    knapsack_lp_free(&lp);
    knapsack_lp_free(&lp);
}
