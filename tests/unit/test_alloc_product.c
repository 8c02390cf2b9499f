/* Performance per cost, per watt and per USD of owning, and utilization: products, whose optimum must be
 * global. */
#include "tests/unit/split_random.h"

enum { D = TOPO_MAX_DIMS };

static const double ones[D] = { 1, 1, 1, 1, 1, 1, 1, 1 };

/* T = c + (sum of one group)/s on the ray B = s m: at cost C0 + u s the best scale is sqrt(K C0/(c u)). */
TEST(with_a_fixed_cost_the_best_scale_is_in_closed_form)
{
    static const double m[1][D] = { { 6, 2, 2 } };
    PLAIN_SPLIT(s, 3, m, 1, 0.04);
    s.problem.objective = ALLOC_PERF_PER_COST;
    s.problem.usd_per_Bps[0] = 1e-9;
    s.problem.usd_per_Bps[1] = 3e-9;
    s.problem.usd_per_Bps[2] = 4e-9;
    s.problem.usd_fixed = 500;
    SOLVED(a, &s.problem);
    /* B = s m, T = 0.04 + 1/s, cost = 500 + s (6*1 + 2*3 + 2*4). */
    double scale = sqrt(500 / (0.04 * 20));
    for (int32_t d = 0; d < 3; d++)
        assert_close(a.bw_Bps[d], scale * m[0][d] * 1e9, 1e-5); /* flat: the root of the gap */
    assert_close(a.value, (0.04 + 1 / scale) * (500 + 20 * scale), 1e-9);
}

/* Over two dimensions with a fixed total the split is one number: scan it. */
static double scan(const struct random_split *s, double *at)
{
    double best = INFINITY, total = s->rows[0].rhs, lo = 0, hi = total;
    for (int zoom = 0; zoom < 8; zoom++) {
        double width = (hi - lo) / 4000;
        for (int i = 1; i < 4000; i++) {
            double bw[2] = { lo + i * width, total - (lo + i * width) };
            double value = bw[1] > 0 ? random_split_value(&s->problem, bw) : INFINITY;
            if (value < best) {
                best = value;
                *at = bw[0];
            }
        }
        lo = fmax(*at - 2 * width, 0);
        hi = fmin(*at + 2 * width, total);
    }
    return best;
}

TEST(the_global_optimum_is_found_whatever_the_shape)
{
    RNG(r, 51, 0);
    for (int i = 0; i < 300; i++) {
        double at = 0;
        RANDOM_SPLIT(s, r, .n_dims = 2, .n_collectives = 4, .compute = true, .overlap = i % 2,
                     .total = LINEXPR_EQ);
        s.problem.objective = ALLOC_PERF_PER_COST;
        s.problem.usd_fixed = i % 3 ? 0 : rng_log_range(r, 1e3, 1e9);
        SOLVED(a, &s.problem);
        double best = scan(&s, &at);
        assert_true(best >= a.lower_bound * (1 - 1e-12));
        assert_close(a.value, best, 1e-8);
        if (!random_split_verify(&s, &a))
            fail_msg("problem %d does not stand up", i);
    }
}

/* The best split for T * (F + f.B) is that for T * cost at prices f and a fixed price F, whatever is bought
 * for. */
TEST(a_factor_of_its_own_is_as_prices_are)
{
    RNG(r, 53, 0);
    for (int i = 0; i < 200; i++) {
        RANDOM_SPLIT(s, r, .n_collectives = 8, .compute = true, .overlap = i % 2,
                     .total = i % 3 ? LINEXPR_LE : LINEXPR_EQ);
        struct alloc_problem priced = s.problem;
        priced.objective = ALLOC_PERF_PER_COST;
        priced.usd_fixed = s.problem.factor_fixed;
        memcpy(priced.usd_per_Bps, s.problem.factor_per_Bps, sizeof priced.usd_per_Bps);
        s.problem.objective = i % 2 ? ALLOC_PERF_PER_WATT : ALLOC_TCO_PER_TOKEN;
        SOLVED(a, &s.problem);
        SOLVED(b, &priced);
        assert_true(a.value == b.value && a.lower_bound == b.lower_bound);
        assert_close(a.cost_usd, alloc_cost_usd(&s.problem, a.bw_Bps), 1e-15); /* in USD all the same */
        if (!random_split_verify(&s, &a))
            fail_msg("problem %d does not stand up", i);
    }
}

/* What costs nothing and has no limit is never enough. */
TEST(a_dimension_without_a_factor_needs_a_limit)
{
    static const double m[1][D] = { { 6, 2 } }, two[2][D] = { { 6, 0 }, { 0, 2 } };
    const double second[D] = { 0, 1 };
    struct alloc_answer a;
    PLAIN_SPLIT(s, 2, two, 2, 0.04);
    s.problem.objective = ALLOC_PERF_PER_WATT;
    s.problem.factor_fixed = 500;
    s.problem.factor_per_Bps[0] = 1e-9;
    OK(alloc_solve(&a, &s.problem, e));
    assert_int_equal(a.status, ALLOC_UNBOUNDED);
    assert_has(a.reason, "more bandwidth on d2 always helps");
    alloc_answer_free(&a);
    random_split_row(&s, second, LINEXPR_LE, 4);
    SOLVED(b, &s.problem);
    /* T = 0.54 + 6/B, power 500 + B: B = sqrt(500 * 6/0.54). */
    double best = sqrt(500 * 6 / 0.54);
    assert_close(b.bw_Bps[0], best * 1e9, 1e-5);
    assert_close(b.value, (0.54 + 6 / best) * (500 + best), 1e-9);
    /* Together in one collective the first one is end enough. */
    PLAIN_SPLIT(t, 2, m, 1, 0.04);
    t.problem.objective = ALLOC_PERF_PER_WATT;
    t.problem.factor_fixed = 500;
    t.problem.factor_per_Bps[0] = 1e-9;
    SOLVED(c, &t.problem);
    best = sqrt(500 * 6 / 0.04);
    assert_close(c.value, (0.04 + 6 / best) * (500 + best), 1e-9);
}

TEST(products_with_general_rows_are_proved_and_verified)
{
    RNG(r, 52, 0);
    int open = 0;
    for (int i = 0; i < 300; i++) {
        KEEP(struct alloc_answer, a, alloc_answer_free);
        RANDOM_SPLIT(s, r, .n_collectives = 8, .compute = true, .overlap = i % 2, .n_rows = 5,
                     .total = LINEXPR_EQ);
        s.problem.objective = i % 3 == 0 ? ALLOC_UTILIZATION
                              : i % 2    ? ALLOC_PERF_PER_COST
                                         : ALLOC_PERF_PER_WATT;
        OK(alloc_solve(&a, &s.problem, e));
        assert_true(a.lower_bound <= random_split_value(&s.problem, s.inside_Bps) * (1 + 1e-12));
        if (a.status == ALLOC_SOLVED)
            assert_true(random_split_verify(&s, &a));
        else
            assert_int_equal(a.status, ALLOC_STALLED);
        open += a.status == ALLOC_STALLED;
    }
    assert_true(open <= 6);
}

/* Without compute and with a total, utilization can at best be 1: all dimensions busy all the time. */
TEST(utilization_is_whole_for_one_group)
{
    static const double m[1][D] = { { 5, 3, 2 } };
    PLAIN_SPLIT(s, 3, m, 1, 0);
    s.problem.objective = ALLOC_UTILIZATION;
    s.problem.usd_per_Bps[0] = 1e-9;
    random_split_row(&s, ones, LINEXPR_EQ, 100);
    SOLVED(a, &s.problem);
    assert_close(a.value, 10e9, 1e-9); /* bytes moved over utilization 1 */
    assert_close(a.cost_usd, a.bw_Bps[0] * 1e-9,
                 1e-12); /* real prices, not the ones that made it a product */
}

/*
 * Two bandwidths, B0 with traffic and B1 = B0 + k with the price u: u (B0 + k) (c + m/B0) is least at
 * B0 = sqrt(k m / c), where it is u (sqrt(m) + sqrt(k c))^2. Little compute c puts that far out, and the
 * descent to it goes by steps of k/2.
 */
TEST(a_product_that_falls_far_out_is_not_taken_for_least)
{
    static const double m[1][TOPO_MAX_DIMS] = { { 1 } }, apart[TOPO_MAX_DIMS] = { -1, 1 };
    const double u = 1e-6, k = 3;
    for (double c = 1; c > 1e-13; c /= 10) {
        PLAIN_SPLIT(s, 2, m, 1, c);
        s.problem.objective = ALLOC_PERF_PER_COST;
        s.problem.usd_per_Bps[0] = 0;
        s.problem.usd_per_Bps[1] = u;
        random_split_row(&s, apart, LINEXPR_EQ, k);
        SOLVED(a, &s.problem);
        double root = 1 + sqrt(k * c);
        assert_close(a.value, u * 1e9 * root * root, 2e-9);
    }
}

/* At the best total of all the price of a total is 0; away from it what solving again gives. */
TEST(a_price_near_zero_is_zero_and_others_are_the_slope)
{
    RNG(r, 53, 0);
    int zeros = 0;
    for (int i = 0; i < 90; i++) {
        RANDOM_SPLIT(s, r, .n_dims = 3, .n_collectives = 4, .compute = true, .total = LINEXPR_LE);
        s.problem.objective = ALLOC_PERF_PER_COST;
        s.problem.usd_fixed = rng_log_range(r, 1e5, 1e8);
        s.problem.n_rows = 0;
        KEEP(struct alloc_answer, best, alloc_answer_free);
        OK(alloc_solve(&best, &s.problem, e));
        if (best.status != ALLOC_SOLVED)
            continue; /* no compute, and more bandwidth always helps */
        double total = 0, value[3];
        for (int32_t d = 0; d < s.fn.n_dims; d++)
            total += best.bw_Bps[d];
        s.problem.n_rows = 1;
        s.rows[0].sense = LINEXPR_EQ;
        static const double off[] = { 1, 1 + 1e-7, 0.9, 1.1 };
        double at = total * off[i % 4], step = 1e-3 * at;
        for (int k = 0; k < 3; k++) {
            s.rows[0].rhs = at + (k - 1) * step;
            SOLVED(a, &s.problem);
            value[k] = a.value;
        }
        s.rows[0].rhs = at;
        SOLVED(a, &s.problem);
        double slope = (value[0] - value[2]) / (2 * step), play = a.shadow_play[0];
        assert_close(play, sqrt(5e-10) * a.value / at, 1e-9);
        /* A second-order difference of a curve that bends like V/b^2, and gaps over the step. */
        assert_near(a.shadow[0], slope, play + 2e-3 * fabs(slope) + 4e-6 * a.value / at);
        assert_true(a.shadow[0] == 0 || fabs(a.shadow[0]) > play);
        zeros += a.shadow[0] == 0;
        assert_true(i % 4 > 1 || a.shadow[0] == 0);
    }
    assert_true(zeros >= 30);
}
