/* Small dense systems, the way back to feasibility, and points inside. */
#include "tests/unit/split_random.h"
#include "alloc/lp.h"

enum { D = TOPO_MAX_DIMS };

TEST(a_basis_solves_what_it_was_made_from)
{
    RNG(r, 11, 0);
    for (int i = 0; i < 200; i++) {
        struct basis b = { .n_dims = 6 };
        double v[4][6], p[4], back[6] = { 0 };
        const double want[4] = { 1, -2, 3, 0.5 };
        for (int k = 0; k < 4; k++) {
            for (int d = 0; d < 6; d++)
                v[k][d] = rng_normal(r);
            assert_true(basis_add(&b, v[k]));
        }
        for (int k = 0; k < 4; k++)
            for (int d = 0; d < 6; d++)
                back[d] += want[k] * v[k][d];
        basis_nearest(&b, back, p);
        for (int k = 0; k < 4; k++)
            assert_close(p[k], want[k], 1e-10);
        assert_false(basis_add(&b, back)); /* a combination of the four */
        assert_int_equal(b.n, 4);
    }
}

TEST(the_basis_tells_near_parallel_from_parallel)
{
    static const double first[3] = { 1, 1, 1 };
    for (int k = 3; k < 16; k++) {
        struct basis b = { .n_dims = 3 };
        double second[3] = { 1, 1, 1 + pow(10, -k) };
        assert_true(basis_add(&b, first) && basis_add(&b, second) == (k < 13));
    }
}

/* Least squares with p >= 0: no column points along the residual, those in use stand across it. */
TEST(a_fit_satisfies_its_own_optimality_conditions)
{
    RNG(r, 12, 0);
    for (int i = 0; i < 500; i++) {
        enum { N = 12, DIMS = 5 };
        double columns[N][BASIS_DIMS] = { { 0 } }, p[N], target[BASIS_DIMS] = { 0 }, rest[DIMS];
        bool is_free[N] = { false };
        int32_t used = 0;
        for (int k = 0; k < N; k++) {
            is_free[k] = k < i % 3;
            for (int d = 0; d < DIMS; d++)
                columns[k][d] = rng_normal(r);
        }
        for (int d = 0; d < DIMS; d++)
            rest[d] = target[d] = rng_normal(r) - 1;
        basis_fit(p, (const double(*)[BASIS_DIMS])columns, is_free, i % 2 ? 4 : N, DIMS, target);
        for (int k = 0; k < (i % 2 ? 4 : N); k++) {
            assert_true(is_free[k] || p[k] >= 0);
            used += p[k] != 0;
            for (int d = 0; d < DIMS; d++)
                rest[d] -= p[k] * columns[k][d];
        }
        assert_true(used <= DIMS);
        for (int k = 0; k < (i % 2 ? 4 : N); k++) {
            double along = 0;
            for (int d = 0; d < DIMS; d++)
                along += columns[k][d] * rest[d];
            assert_true(along < 1e-12);
            assert_true(p[k] == 0 || fabs(along) < 1e-12);
        }
    }
}

TEST(outside_is_signed_and_relative_to_the_largest_part)
{
    const struct alloc_row le = { .coef = { 2, -1 }, .sense = LINEXPR_LE, .rhs = 10 };
    const double over[] = { 8, 2 }, under[] = { 4, 2 };
    struct alloc_row row = le;
    assert_close(alloc_outside(&row, over, 2), 4.0 / 16, 1e-15);
    assert_true(alloc_outside(&row, under, 2) == 0);
    row.sense = LINEXPR_GE;
    assert_true(alloc_outside(&row, over, 2) == 0);
    assert_close(alloc_outside(&row, under, 2), -4.0 / 10, 1e-15);
    row.sense = LINEXPR_EQ;
    assert_close(alloc_outside(&row, over, 2), 4.0 / 16, 1e-15);
    assert_close(alloc_outside(&row, under, 2), -4.0 / 10, 1e-15);
}

static double violation(const struct alloc_problem *p, const double *bw_Bps)
{
    double most = 0;
    for (int32_t i = 0; i < p->n_rows; i++)
        most = fmax(most, fabs(alloc_outside(&p->rows[i], bw_Bps, p->step->n_dims)));
    return most;
}

TEST(a_point_nearby_is_brought_back_to_every_row)
{
    RNG(r, 13, 0);
    for (int i = 0; i < 2000; i++) {
        double bw_Bps[D], off = i % 2 ? 1e-9 : 1e-2;
        RANDOM_SPLIT(s, r, .n_collectives = 1, .n_rows = 8, .total = LINEXPR_EQ);
        for (int32_t d = 0; d < s.fn.n_dims; d++)
            bw_Bps[d] = s.inside_Bps[d] * (1 + off * rng_normal(r));
        assert_true(alloc_repair(&s.problem, bw_Bps) && violation(&s.problem, bw_Bps) <= 1e-13);
        for (int32_t d = 0; d < s.fn.n_dims; d++)
            assert_true(bw_Bps[d] >= 0);
    }
}

TEST(no_way_back_is_reported)
{
    static const double m[1][D] = { { 1, 1 } };
    const double first[D] = { 1 };
    double bw_Bps[D] = { 5e9, 5e9 };
    PLAIN_SPLIT(s, 2, m, 1, 0);
    random_split_row(&s, first, LINEXPR_LE, 4);
    random_split_row(&s, first, LINEXPR_GE, 6);
    assert_false(alloc_repair(&s.problem, bw_Bps));
}

TEST(an_inside_point_keeps_clear_of_every_row_that_leaves_room)
{
    RNG(r, 14, 0);
    for (int i = 0; i < 300; i++) {
        KEEP(struct alloc_inside, in, alloc_inside_free);
        RANDOM_SPLIT(s, r, .n_collectives = 1, .n_rows = 6, .total = LINEXPR_LE);
        OK(alloc_find_inside(&in, &s.problem, e));
        assert_true(in.found && violation(&s.problem, in.bw_Bps) <= 1e-13);
        for (int32_t k = 0; k < s.problem.n_rows; k++) {
            struct alloc_row turned = s.rows[k];
            double room = s.rows[k].rhs;
            if (turned.sense == LINEXPR_EQ || room == 0)
                continue;
            turned.sense = turned.sense == LINEXPR_LE ? LINEXPR_GE : LINEXPR_LE;
            if (!in.implied[k])
                assert_true(fabs(alloc_outside(&turned, in.bw_Bps, s.fn.n_dims)) > 1e-12);
        }
    }
}

TEST(rows_that_leave_no_room_are_found)
{
    static const double m[1][D] = { { 1, 1, 1 } };
    const double first[D] = { 1 }, both[D] = { 1, 1 }, all[D] = { 1, 1, 1 };
    struct alloc_inside in;
    PLAIN_SPLIT(s, 3, m, 1, 0);
    random_split_row(&s, first, LINEXPR_LE, 5);
    random_split_row(&s, first, LINEXPR_GE, 5);
    random_split_row(&s, both, LINEXPR_LE, 20);
    random_split_row(&s, all, LINEXPR_LE, 30);
    OK(alloc_find_inside(&in, &s.problem, e));
    assert_true(in.found && in.implied[0] && in.implied[1]);
    assert_false(in.implied[2] || in.implied[3]);
    assert_close(in.bw_Bps[0], 5e9, 1e-12);
    alloc_inside_free(&in);
    random_split_row(&s, first, LINEXPR_GE, 6);
    OK(alloc_find_inside(&in, &s.problem, e));
    assert_false(in.found);
    alloc_inside_free(&in);
}
