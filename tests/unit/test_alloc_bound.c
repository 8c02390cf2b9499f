/* Lower bounds of the split problem: any multipliers prove one, the right ones the closed form. */
#include "tests/unit/split_random.h"
#include "alloc/bound.h"

enum { D = TOPO_MAX_DIMS };

static const double ones[D] = { 1, 1, 1, 1, 1, 1, 1, 1 };

static void fill_at_random(struct alloc_bound *b, const struct alloc_problem *p, struct rng *r)
{
    b->time_weight = 1;
    b->cost_weight = rng_below(r, 2) ? rng_log_range(r, 1e-9, 1e-3) : 0;
    for (int32_t l = 0; l < p->step->n_leaves; l++)
        for (int32_t d = 0; d < p->step->n_dims; d++)
            b->leaf_dual[l * D + d] = rng_range(r, -0.2, 1);
    for (int32_t k = 0; k < p->step->n_terms; k++)
        b->term_weight[k] = rng_range(r, -0.2, 1);
    for (int32_t i = 0; i < p->n_rows; i++)
        b->row_dual[i] = rng_log_range(r, 1e-15, 1e-10);
}

TEST(any_multipliers_prove_less_than_any_feasible_split_is_worth)
{
    RNG(r, 21, 0);
    int useful = 0;
    for (int i = 0; i < 2000; i++) {
        KEEP(struct alloc_bound, b, alloc_bound_free);
        RANDOM_SPLIT(s, r, .n_collectives = 10, .overlap = true, .compute = true, .n_rows = 5,
                     .total = LINEXPR_LE);
        OK(alloc_bound_build(&b, &s.problem, e));
        fill_at_random(&b, &s.problem, r);
        alloc_bound_balance(&b, &s.problem);
        double worth =
            step_time(&s.fn, s.inside_Bps) + b.cost_weight * alloc_cost_usd(&s.problem, s.inside_Bps);
        double value = alloc_bound_value(&b, &s.problem);
        assert_true(value <= worth * (1 + 1e-14));
        useful += value > 0;
    }
    assert_true(useful > 100);
}

TEST(balanced_multipliers_sum_to_the_weight_above_them)
{
    RNG(r, 22, 0);
    for (int i = 0; i < 200; i++) {
        KEEP(struct alloc_bound, b, alloc_bound_free);
        RANDOM_SPLIT(s, r, .n_collectives = 20, .overlap = true, .compute = true);
        const struct step_fn *f = &s.fn;
        OK(alloc_bound_build(&b, &s.problem, e));
        if (i % 4)
            fill_at_random(&b, &s.problem, r);
        b.time_weight = 2.5;
        alloc_bound_balance(&b, &s.problem);
        for (int32_t k = 0; k < f->n_terms; k++) {
            for (int32_t l = f->leaf_begin[k]; l < f->leaf_begin[k + 1]; l++) {
                double sum = 0;
                for (int32_t d = 0; d < D; d++) {
                    assert_true(b.leaf_dual[l * D + d] >= 0);
                    assert_true(f->traffic_B[l * D + d] > 0 || b.leaf_dual[l * D + d] == 0);
                    sum += b.leaf_dual[l * D + d];
                }
                assert_near(sum, b.term_weight[k], 1e-14);
            }
            for (int32_t j = f->max_begin[k]; j < f->max_begin[k + 1]; j++) {
                double sum = 0;
                for (int32_t c = f->term_begin[j]; c < f->term_begin[j + 1]; c++)
                    sum += b.term_weight[c];
                assert_near(sum, b.term_weight[k], 1e-14);
            }
        }
        assert_true(b.term_weight[0] == 2.5);
    }
}

/* A cut lies below the step everywhere and touches it where it was made. */
TEST(a_cut_touches_the_step_and_lies_below_it)
{
    RNG(r, 23, 0);
    for (int i = 0; i < 200; i++) {
        double at[D], other[D];
        RANDOM_SPLIT(s, r, .n_collectives = 10, .overlap = true, .compute = true);
        for (int32_t d = 0; d < s.fn.n_dims; d++) {
            at[d] = rng_log_range(r, 1e9, 1e11);
            other[d] = rng_log_range(r, 1e9, 1e11);
        }
        const struct alloc_cut cut = alloc_cut_touching(&s.fn, at);
        assert_close(alloc_cut_at(&cut, at, s.fn.n_dims), step_time(&s.fn, at), 1e-12);
        assert_true(alloc_cut_at(&cut, other, s.fn.n_dims) <= step_time(&s.fn, other) * (1 + 1e-12));
    }
}

/* (T - const) sum p B is the square of the root where B_d ~ sqrt(pull_d/p_d), and more elsewhere. */
TEST(the_root_of_a_cut_is_the_least_of_time_times_price)
{
    const struct alloc_cut cut = { .const_s = 0.5, .pull_B = { 4e9, 0, 9e9 } };
    const double price[D] = { 1, 7, 4 }, best[D] = { 2e9, 1, 1.5e9 }, other[D] = { 2e9, 1, 2e9 };
    double root = alloc_cut_root(&cut, price, 3);
    assert_close((alloc_cut_at(&cut, best, 3) - 0.5) * (2e9 + 4 * 1.5e9), root * root, 1e-12);
    assert_true((alloc_cut_at(&cut, other, 3) - 0.5) * (2e9 + 4 * 2e9) > root * root * 1.0001);
}

/* T = m1/B1 + m2/B2 with B1 + B2 <= b: q = (sqrt m1 + sqrt m2)^2 / b^2 proves (sqrt m1 + sqrt m2)^2 / b. */
TEST(the_right_multipliers_prove_the_closed_form)
{
    static const double m[2][D] = { { 4 }, { 0, 9 } };
    KEEP(struct alloc_bound, b, alloc_bound_free);
    PLAIN_SPLIT(s, 2, m, 2, 0.125);
    random_split_row(&s, ones, LINEXPR_LE, 100);
    OK(alloc_bound_build(&b, &s.problem, e));
    b.time_weight = 1;
    alloc_bound_balance(&b, &s.problem);
    b.row_dual[0] = 25e9 / (100e9 * 100e9);
    assert_close(alloc_bound_value(&b, &s.problem), 0.125 + 0.25, 1e-13);
    struct alloc_bound_parts parts = alloc_bound_split(&b, &s.problem);
    assert_close(parts.constant, 0.125, 1e-13);
    assert_close(parts.root, 0.5, 1e-13);
    assert_close(parts.rent, 0.25, 1e-13);
}

TEST(caps_follow_from_row_to_row)
{
    static const double m[1][D] = { { 1, 1, 1, 1 } };
    const double first[D] = { 1 }, twice_less[D] = { -2, 1 }, least[D] = { 0, -1, 1 },
                 fourth[D] = { 0, 0, 0, 1 };
    double cap[D];
    PLAIN_SPLIT(s, 4, m, 1, 0);
    random_split_row(&s, least, LINEXPR_LE, 3);      /* B3 <= B2 + 3 */
    random_split_row(&s, twice_less, LINEXPR_EQ, 1); /* B2 == 2 B1 + 1 */
    random_split_row(&s, first, LINEXPR_LE, 10);
    random_split_row(&s, fourth, LINEXPR_GE, 5); /* a floor limits nothing */
    alloc_find_caps(cap, &s.problem);
    assert_close(cap[0], 10e9, 1e-15);
    assert_close(cap[1], 21e9, 1e-15);
    assert_close(cap[2], 24e9, 1e-15);
    assert_true(isinf(cap[3]));
}

/* node == 450 of node + pod == 500 leaves 50, and pod >= 2 rack then limits rack; limits that do not meet
 * stay away. */
TEST(what_others_need_at_least_limits_a_bandwidth)
{
    static const double m[1][D] = { { 1, 1, 1 } };
    const double node[D] = { 1 }, both[D] = { 1, 1 }, tied[D] = { 0, 1, -2 };
    double cap[D];
    PLAIN_SPLIT(s, 3, m, 1, 0);
    random_split_row(&s, both, LINEXPR_EQ, 500);
    random_split_row(&s, tied, LINEXPR_GE, 0);
    random_split_row(&s, node, LINEXPR_EQ, 450);
    alloc_find_caps(cap, &s.problem);
    assert_close(cap[0], 450e9, 1e-15);
    assert_close(cap[1], 50e9, 1e-10); /* a difference of what holds to 1e-12 */
    assert_close(cap[2], 25e9, 1e-10);
    assert_true(cap[1] >= 50e9);
}

/* Caps are proofs: no point that satisfies the rows is beyond one. */
TEST(no_allowed_split_is_beyond_a_cap)
{
    static const double m[1][D] = { { 1, 1, 1, 1 } };
    struct rng *r = NULL;
    int32_t n_finite = 0;
    OK(rng_build(&r, 7, 1, e));
    for (int32_t t = 0; t < 2000; t++) {
        double point[D], cap[D];
        PLAIN_SPLIT(s, 4, m, 1, 0);
        for (int32_t d = 0; d < 4; d++)
            point[d] = 100 * rng_uniform(r);
        for (int32_t i = 0; i < 5; i++) {
            double coef[D] = { 0 }, at = 0;
            for (int32_t d = 0; d < 4; d++) {
                coef[d] = (double)rng_below(r, 5) - 2;
                at += coef[d] * point[d];
            }
            bool equal = rng_below(r, 3) == 0;
            random_split_row(&s, coef, equal ? LINEXPR_EQ : LINEXPR_LE, equal ? at : at + rng_uniform(r));
        }
        alloc_find_caps(cap, &s.problem);
        for (int32_t d = 0; d < 4; d++) {
            n_finite += isfinite(cap[d]);
            assert_true(point[d] * 1e9 <= cap[d]);
        }
    }
    assert_true(n_finite > 2000);
    rng_free(r);
}

/* Twins of one row with multipliers that cancel: exactly they add nothing, rounded they must not either. */
TEST(huge_multipliers_that_cancel_prove_nothing_more)
{
    static const double m[1][D] = { { 1, 1 } };
    KEEP(struct alloc_bound, b, alloc_bound_free);
    PLAIN_SPLIT(s, 2, m, 1, 0);
    const double odd[D] = { 1.0 / 3, 1.0 / 7 }, feasible_Bps[D] = { 15e9, 35e9 };
    random_split_row(&s, odd, LINEXPR_EQ, 10);
    random_split_row(&s, odd, LINEXPR_EQ, 10)->rhs *=
        1 + 4e-16; /* the same to rounding: a split satisfies both */
    OK(alloc_bound_build(&b, &s.problem, e));
    b.time_weight = 1;
    alloc_bound_balance(&b, &s.problem);
    for (double size = 1; size < 1e12; size *= 10) {
        b.row_dual[0] = size;
        b.row_dual[1] = -size;
        assert_true(alloc_bound_value(&b, &s.problem) <= step_time(&s.fn, feasible_Bps));
    }
}

TEST(without_a_cap_a_negative_price_proves_nothing)
{
    static const double m[1][D] = { { 1, 1 } };
    const double first[D] = { 1 };
    KEEP(struct alloc_bound, copy, alloc_bound_free);
    KEEP(struct alloc_bound, b, alloc_bound_free);
    PLAIN_SPLIT(s, 2, m, 1, 0);
    random_split_row(&s, first, LINEXPR_GE, 1);
    OK(alloc_bound_build(&b, &s.problem, e));
    b.time_weight = 1;
    alloc_bound_balance(&b, &s.problem);
    b.row_dual[0] = 1;
    assert_true(alloc_bound_value(&b, &s.problem) == -INFINITY);
    OK(alloc_bound_copy(&copy, &b, &s.problem, e));
    assert_true(copy.row_dual[0] == 1 && copy.row_dual != b.row_dual && copy.time_weight == 1);
}
