/* The interior-point solver: what it reports is sound on any problem, and proved on all but a few. */
#include "tests/unit/split_random.h"
#include "alloc/bound.h"
#include "alloc/interior.h"
#include "alloc/lp.h"

KEEPS(struct interior, interior_free)

enum { D = TOPO_MAX_DIMS };

static const struct interior_ask fastest = { .time_weight = 1, .limit_s = INFINITY };

static double violation(const struct alloc_problem *p, const double *bw_Bps)
{
    double most = 0;
    for (int32_t i = 0; i < p->n_rows; i++)
        most = fmax(most, fabs(alloc_outside(&p->rows[i], bw_Bps, p->step->n_dims)));
    for (int32_t d = 0; d < p->step->n_dims; d++)
        most = bw_Bps[d] >= 0 ? most : INFINITY;
    return most;
}

/* What any result must be, converged or not. */
static void check_sound(const struct random_split *s, const struct interior_result *r,
                        struct interior_ask ask)
{
    double known = ask.time_weight * step_time(&s->fn, s->inside_Bps) +
                   ask.cost_weight * alloc_cost_usd(&s->problem, s->inside_Bps);
    assert_false(isnan(r->value) || isnan(r->bound));
    assert_true(r->bound <= known * (1 + 1e-12));
    if (!isfinite(r->value))
        return;
    assert_true(violation(&s->problem, r->bw_Bps) <= 1e-12 && r->bound <= r->value * (1 + 1e-9));
    assert_true(step_time(&s->fn, r->bw_Bps) <= ask.limit_s * (1 + 1e-12));
}

/* Half of ALLOC_GAP: a search by many such solves adds its own. */
static int32_t count_unproved(struct random_kind kind, int32_t n, uint64_t seed, double spread)
{
    RNG(r, seed, 0);
    int32_t unproved = 0;
    for (int32_t i = 0; i < n; i++) {
        KEEP(struct random_split, s, random_split_close);
        KEEP(struct interior *, w, interior_free_at);
        struct interior_result q;
        random_split_open(&s, r, kind);
        for (int32_t d = 0; d < s.fn.n_dims; d++)
            s.problem.usd_per_Bps[d] *= rng_log_range(r, 1 / spread, spread);
        for (int32_t k = 0; k < s.fn.n_leaves * D; k++)
            s.fn.traffic_B[k] *= rng_log_range(r, 1 / spread, spread);
        struct interior_ask ask = fastest;
        if (i % 3 == 1)
            ask.cost_weight = rng_log_range(r, 1e-12, 1);
        if (i % 3 == 2)
            ask = (struct interior_ask){ .cost_weight = 1,
                                         .limit_s = step_time(&s.fn, s.inside_Bps) * rng_range(r, 1, 2) };
        MUST(interior_build(&w, &s.problem, e));
        interior_solve(w, ask, &q);
        check_sound(&s, &q, ask);
        unproved += !(q.value - q.bound <= ALLOC_GAP / 2 * q.value);
    }
    return unproved;
}

TEST(every_ordinary_problem_is_proved)
{
    const struct random_kind sums = { .n_collectives = 20, .compute = true, .total = LINEXPR_LE };
    const struct random_kind trees = {
        .n_collectives = 20, .compute = true, .overlap = true, .total = LINEXPR_EQ
    };
    assert_true(count_unproved(sums, 3000, 41, 1) == 0 && count_unproved(trees, 3000, 42, 1) == 0);
}

TEST(general_rows_are_proved_too)
{
    const struct random_kind kind = {
        .n_collectives = 10, .compute = true, .overlap = true, .n_rows = 8, .total = LINEXPR_LE
    };
    assert_int_equal(count_unproved(kind, 4000, 43, 1), 0);
}

/* Prices over six orders of magnitude, traffic over nine: a few may stay open, none may be wrong. */
TEST(badly_scaled_problems_are_sound_and_nearly_all_proved)
{
    const struct random_kind kind = {
        .n_collectives = 10, .compute = true, .overlap = true, .n_rows = 6, .total = LINEXPR_EQ
    };
    assert_true(count_unproved(kind, 3000, 44, 300) <= 15);
}

TEST(a_workspace_may_be_used_again_and_again)
{
    RNG(r, 45, 0);
    for (int i = 0; i < 60; i++) {
        KEEP(struct interior *, w, interior_free_at);
        struct interior_result first, between, again;
        RANDOM_SPLIT(s, r, .n_collectives = 10, .overlap = true, .n_rows = 4, .total = LINEXPR_LE);
        OK(interior_build(&w, &s.problem, e));
        interior_solve(w, fastest, &first);
        interior_solve(w, (struct interior_ask){ .cost_weight = 1, .limit_s = first.value * 1.5 }, &between);
        interior_solve(w, fastest, &again);
        assert_close(again.value, first.value, 1e-9);
        assert_close(again.bound, first.bound, 1e-9);
    }
}

TEST(the_bound_handed_out_proves_what_was_reported)
{
    RNG(r, 46, 0);
    for (int i = 0; i < 200; i++) {
        KEEP(struct interior *, w, interior_free_at);
        struct interior_result q;
        KEEP(struct alloc_bound, b, alloc_bound_free);
        RANDOM_SPLIT(s, r, .n_collectives = 10, .overlap = true, .n_rows = 4, .total = LINEXPR_LE);
        struct interior_ask ask = fastest;
        if (i % 2)
            ask = (struct interior_ask){ .cost_weight = 1, .limit_s = step_time(&s.fn, s.inside_Bps) };
        OK(interior_build(&w, &s.problem, e));
        interior_solve(w, ask, &q);
        OK(interior_bound(w, &b, e));
        assert_true(b.cost_weight == ask.cost_weight && b.value == alloc_bound_value(&b, &s.problem));
        assert_true(q.bound == (i % 2 ? b.value - b.time_weight * ask.limit_s : b.value));
    }
}

TEST(a_limit_out_of_reach_finds_no_split)
{
    static const double m[1][D] = { { 1, 1 } };
    const double ones[D] = { 1, 1 };
    KEEP(struct interior *, w, interior_free_at);
    struct interior_result q;
    PLAIN_SPLIT(s, 2, m, 1, 1);
    random_split_row(&s, ones, LINEXPR_LE, 2);
    s.problem.usd_per_Bps[0] = s.problem.usd_per_Bps[1] = 1e-9;
    OK(interior_build(&w, &s.problem, e));
    static const double limits_s[] = { 0.5, 1, 1.5, 1.999 }; /* the least is 2 s */
    for (size_t i = 0; i < COUNT_OF(limits_s); i++) {
        interior_solve(w, (struct interior_ask){ .cost_weight = 1, .limit_s = limits_s[i] }, &q);
        assert_true(isinf(q.value));
    }
    interior_solve(w, (struct interior_ask){ .cost_weight = 1, .limit_s = 3 }, &q);
    assert_close(q.value, 1, 1e-9); /* B = 0.5 GB/s each */
}
