/* The second opinion: it agrees with what is right, and it can be made to fail. */
#include "tests/unit/split_random.h"
#include "alloc/verify.h"

enum { D = TOPO_MAX_DIMS };

static void verify(struct verify_report *r, const struct random_split *s, const struct alloc_answer *a)
{
    const struct step_tree *tree = &s->tree;
    const double scale = 1;
    const struct verify_steps steps = { .trees = &tree, .scale = &scale, .n = 1, .net = &s->net };
    MUST(alloc_verify(r, a, &s->problem, &steps, e));
}

/* A problem in which everything counts: a tree with maxima, prices, an active floor. */
static void open_rich(struct random_split *s, struct rng *r, int objective)
{
    random_split_open(
        s, r,
        (struct random_kind){
            .n_dims = 4, .n_collectives = 8, .compute = true, .overlap = true, .total = LINEXPR_EQ });
    double floor[D] = { 0 };
    floor[1] = 1;
    random_split_row(s, floor, LINEXPR_GE, s->rows[0].rhs * 0.4e-9);
    s->problem.objective = (enum alloc_objective)objective;
    for (int32_t d = 0; d < 4; d++)
        s->inside_Bps[d] = s->rows[0].rhs * (d == 1 ? 0.55 : 0.15);
    s->problem.time_limit_s = step_time(&s->fn, s->inside_Bps);
    s->problem.usd_fixed = 1e6;
}

TEST(it_agrees_with_the_solver_on_values_and_bounds)
{
    RNG(r, 61, 0);
    for (int i = 0; i < 200; i++) {
        KEEP(struct random_split, s, random_split_close);
        struct verify_report report;
        open_rich(&s, r, i % N_ALLOC_OBJECTIVES);
        SOLVED(a, &s.problem);
        verify(&report, &s, &a);
        assert_true(report.ok && report.violation <= 1e-12);
        assert_close(report.value, a.value, 1e-13);
        assert_close(report.lower_bound, a.lower_bound, 1e-9);
        assert_close(report.time_s, a.time_s, 1e-13);
    }
}

static void move_bandwidth(struct alloc_answer *a, struct random_split *s)
{
    double share = 1e-3 * s->rows[0].rhs;
    a->bw_Bps[1] += share;
    a->bw_Bps[a->bw_Bps[0] > a->bw_Bps[2] ? 0 : 2] -= share;
}

static void spend_more_than_the_total(struct alloc_answer *a, struct random_split *s)
{
    (void)s;
    for (int d = 0; d < D; d++)
        a->bw_Bps[d] *= 1 + 1e-9;
}

static void forget_a_dimension(struct alloc_answer *a, struct random_split *s)
{
    (void)s;
    a->bw_Bps[1] = 0;
}

static void lose_a_number(struct alloc_answer *a, struct random_split *s)
{
    (void)s;
    a->bw_Bps[1] = NAN;
}

static void inflate_the_rows(struct alloc_answer *a, struct random_split *s)
{
    for (int32_t i = 0; i < a->n_bounds; i++)
        for (int32_t k = 0; k < s->problem.n_rows; k++)
            a->bounds[i].row_dual[k] *= 1.01;
}

static void turn_a_sign(struct alloc_answer *a, struct random_split *s)
{
    (void)s;
    for (int32_t i = 0; i < a->n_bounds; i++)
        a->bounds[i].row_dual[1] = -1e-3 * fabs(a->bounds[i].row_dual[0]);
}

static void drop_the_proof(struct alloc_answer *a, struct random_split *s)
{
    (void)s;
    for (int32_t i = 0; i < a->n_bounds; i++) {
        a->bounds[i].cost_weight *= 0.5;
        a->bounds[i].time_weight *= 2;
    }
}

static void tighten_a_row(struct alloc_answer *a, struct random_split *s)
{
    (void)a;
    s->rows[0].rhs *= 1 - 1e-11;
}

TEST(every_kind_of_tampering_is_noticed)
{
    static const struct {
        const char *what;
        void (*tamper)(struct alloc_answer *a, struct random_split *s);
        bool seen_by_time; /* time is proved by leaves and rows alone: prices do not enter */
    } cases[] = {
        { "bandwidth moved", move_bandwidth, true },
        { "the total exceeded", spend_more_than_the_total, true },
        { "a dimension left out", forget_a_dimension, true },
        { "not a number", lose_a_number, true },
        { "row multipliers inflated", inflate_the_rows, true },
        { "a multiplier of the wrong sign", turn_a_sign, true },
        { "weights exchanged", drop_the_proof, false },
        { "a tighter row", tighten_a_row, true },
    };
    RNG(r, 62, 0);
    for (int objective = 0; objective < N_ALLOC_OBJECTIVES; objective++)
        for (size_t k = 0; k < COUNT_OF(cases); k++)
            for (int i = 0; i < 5; i++) {
                KEEP(struct random_split, s, random_split_close);
                struct verify_report report;
                open_rich(&s, r, objective);
                SOLVED(a, &s.problem);
                bool blind = (objective == ALLOC_TIME && !cases[k].seen_by_time) ||
                             /* where the limit decides, the rows' multipliers are nothing */
                             (objective == ALLOC_COST && cases[k].tamper == inflate_the_rows);
                cases[k].tamper(&a, &s);
                verify(&report, &s, &a);
                if (report.ok && !blind)
                    fail_msg("%s, %s: not noticed", alloc_objective_names[objective], cases[k].what);
            }
}

/* Compiled steps are not trusted: change the tree alone and the value follows it. */
TEST(the_value_is_that_of_the_tree)
{
    RNG(r, 67, 0);
    for (int objective = 0; objective < ALLOC_COST; objective++) {
        KEEP(struct random_split, s, random_split_close);
        struct verify_report report;
        open_rich(&s, r, objective);
        SOLVED(a, &s.problem);
        for (int32_t i = 0; i < s.tree.n_nodes; i++) {
            s.tree.nodes[i].bytes *= 2;
            s.tree.nodes[i].seconds *= 2;
        }
        verify(&report, &s, &a);
        assert_close(report.value, 2 * a.value, 1e-13);
    }
}

/* It looks at multipliers only: claims of a bound change nothing. */
TEST(a_forged_bound_is_not_read)
{
    RNG(r, 63, 0);
    for (int objective = 0; objective < N_ALLOC_OBJECTIVES; objective++) {
        KEEP(struct random_split, s, random_split_close);
        struct verify_report honest, forged;
        open_rich(&s, r, objective);
        SOLVED(a, &s.problem);
        verify(&honest, &s, &a);
        a.lower_bound = a.value = 1e99;
        for (int32_t i = 0; i < a.n_bounds; i++)
            a.bounds[i].value = 1e99;
        verify(&forged, &s, &a);
        assert_true(forged.lower_bound == honest.lower_bound && forged.value == honest.value);
    }
}

/* Multipliers of a leaf may sum to too much: then they prove as much as when scaled down, and no more. */
TEST(unbalanced_multipliers_prove_no_more)
{
    RNG(r, 64, 0);
    for (int i = 0; i < 40; i++) {
        KEEP(struct random_split, s, random_split_close);
        struct verify_report honest, forged;
        open_rich(&s, r, ALLOC_TIME);
        SOLVED(a, &s.problem);
        verify(&honest, &s, &a);
        for (int32_t k = 0; k < s.fn.n_leaves * D; k++)
            a.bounds[0].leaf_dual[k] *= 1 + (k % 5);
        verify(&forged, &s, &a);
        assert_true(forged.lower_bound <= honest.value * (1 + 1e-12));
    }
}

/* Multipliers at random, most of them near the right ones. */
static void spoil(struct alloc_answer *a, const struct random_split *s, struct rng *r)
{
    for (int32_t i = 0; i < a->n_bounds; i++) {
        struct alloc_bound *b = &a->bounds[i];
        for (int32_t k = 0; k < s->problem.n_rows; k++)
            b->row_dual[k] *= rng_below(r, 3) ? rng_range(r, 0, 2) : 1;
        for (int32_t k = 0; k < s->fn.n_leaves * D; k++)
            b->leaf_dual[k] *= rng_below(r, 3) ? rng_range(r, 0, 2) : 1;
        for (int32_t k = 0; k < s->fn.n_terms; k++)
            b->term_weight[k] *= rng_below(r, 3) ? 1 : rng_range(r, 0, 2);
    }
}

/* Rows of every kind; and a dimension that carries nothing, may have nothing, and so limits no other. */
TEST(no_multipliers_prove_more_than_the_optimum)
{
    RNG(r, 68, 0);
    static const double m[2][D] = { { 10, 3, 0 }, { 4, 0, 0 } };
    int tight = 0;
    for (int i = 0; i < 600; i++) {
        KEEP(struct random_split, s, random_split_close);
        KEEP(struct alloc_answer, a, alloc_answer_free);
        struct verify_report report;
        if (i % 4 == 0) {
            plain_split_open(&s, 3, m, 2, 0.1);
            random_split_row(&s, (double[D]){ 0, 0, 1 }, LINEXPR_LE, 0);
            random_split_row(&s, (double[D]){ 1, rng_range(r, 0.5, 2), 1 }, LINEXPR_LE,
                             rng_range(r, 10, 100));
        } else {
            random_split_open(&s, r,
                              (struct random_kind){ .n_collectives = 5,
                                                    .compute = i % 2,
                                                    .overlap = i % 3,
                                                    .n_rows = 4,
                                                    .total = (enum linexpr_sense)(i % 3) });
        }
        for (int32_t d = 0; d < s.net.n_dims; d++)
            s.problem.usd_per_Bps[d] = rng_below(r, 4) ? 1e-6 * rng_uniform(r) : 0;
        s.problem.usd_fixed = rng_below(r, 2) ? 1e4 : 0;
        s.problem.objective =
            i % 4 == 0 ? ALLOC_TIME : (enum alloc_objective)rng_below(r, ALLOC_TCO_PER_TOKEN);
        s.problem.time_limit_s = 2 * step_time(&s.fn, s.inside_Bps);
        OK(alloc_solve(&a, &s.problem, e));
        for (int k = 0; k < 8 && a.status == ALLOC_SOLVED; k++) {
            verify(&report, &s, &a);
            if (!(report.lower_bound <= a.value * (1 + 1e-9)))
                fail_msg("%s %d: %.12g is proved of %.12g", alloc_objective_names[s.problem.objective], i,
                         report.lower_bound, a.value);
            tight += k > 0 && report.lower_bound > 0.5 * a.value;
            spoil(&a, &s, r);
        }
    }
    assert_true(tight > 300);
}

/* A product is proved by many curves: without those around its optimum it is not. */
TEST(a_product_needs_the_curve_that_touches_it)
{
    RNG(r, 65, 0);
    int noticed = 0;
    for (int i = 0; i < 40; i++) {
        KEEP(struct random_split, s, random_split_close);
        struct verify_report report;
        open_rich(&s, r, ALLOC_PERF_PER_COST);
        SOLVED(a, &s.problem);
        int32_t all = a.n_bounds, last = all - 1;
        struct alloc_bound touching = a.bounds[a.best_bound];
        a.bounds[a.best_bound] = a.bounds[last];
        a.n_bounds = last;
        verify(&report, &s, &a);
        noticed += !report.ok;
        a.bounds[last] = a.bounds[a.best_bound];
        a.bounds[a.best_bound] = touching;
        a.n_bounds = all;
        verify(&report, &s, &a);
        assert_true(report.ok);
        a.n_bounds = 0;
        verify(&report, &s, &a);
        assert_false(report.ok);
        a.n_bounds = all;
    }
    assert_true(noticed > 10); /* the last solves of a search often touch the same point twice */
}

TEST(joined_workloads_are_taken_apart_again)
{
    RNG(r, 66, 0);
    for (int i = 0; i < 120; i++) {
        struct random_split s[2];
        struct step_fn joined;
        struct alloc_answer a;
        struct verify_report report;
        const struct random_kind kind = {
            .n_dims = 3, .n_collectives = 6, .compute = true, .overlap = true, .total = LINEXPR_EQ
        };
        const double scale[2] = { 1, rng_log_range(r, 0.1, 10) };
        random_split_open(&s[0], r, kind);
        random_split_open(&s[1], r, kind);
        const struct step_fn *const fns[2] = { &s[0].fn, &s[1].fn };
        const struct step_tree *const trees[2] = { &s[0].tree, &s[1].tree };
        struct verify_steps steps = { .trees = trees,
                                      .scale = scale,
                                      .n = 2,
                                      .net = &s[0].net,
                                      .take_max = i % 2,
                                      .drop_const = i % 4 > 1 };
        OK(step_fn_join(&joined, fns, scale, 2,
                        (struct step_join){ .take_max = steps.take_max, .drop_const = steps.drop_const }, e));
        s[0].problem.step = &joined;
        solve_well(&a, &s[0].problem);
        OK(alloc_verify(&report, &a, &s[0].problem, &steps, e));
        assert_true(report.ok);
        assert_close(report.value, a.value, 1e-13);
        steps.take_max = !steps.take_max; /* the other way of joining is another problem */
        OK(alloc_verify(&report, &a, &s[0].problem, &steps, e));
        assert_false(report.ok);
        alloc_answer_free(&a);
        step_fn_free(&joined);
        random_split_close(&s[0]);
        random_split_close(&s[1]);
    }
}
