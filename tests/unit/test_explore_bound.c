#include "tests/unit/split_random.h"

#include "explore/bound.h"
#include "tests/support.h"

enum { D = TOPO_MAX_DIMS };

static const struct keep_column time_and_cost[] = { { "time_s", false }, { "cost_usd", false } };

/* A study of a random problem: `of` points into it. */
struct made {
    struct study study;
    struct study_workload load;
};

static void make(struct made *m, const struct random_split *of)
{
    m->load = (struct study_workload){ .weight = 1, .fn = of->fn };
    m->study = (struct study){ .net = of->net, .has_parts = true, .n_workloads = 1 };
    m->study.workloads = &m->load;
    m->study.objective = of->problem.objective;
    m->study.time_limit_s = of->problem.time_limit_s;
    m->study.rows.rows = (struct alloc_row *)of->problem.rows;
    m->study.rows.n = of->problem.n_rows;
    m->study.total_Bps = of->rows[0].sense == LINEXPR_EQ ? of->rows[0].rhs : NAN;
    for (int32_t d = 0; d < of->net.n_dims; d++) {
        m->study.prices[d].usd_per_Bps = of->problem.usd_per_Bps[d];
        m->study.prices[d].has_nic = d % 2;
    }
}

static double nic_of(const struct study *s, const double *bw_Bps)
{
    double sum = 0;
    for (int32_t d = 0; d < s->net.n_dims; d++)
        sum += s->prices[d].has_nic ? bw_Bps[d] : 0;
    return sum;
}

/* An objective and a total at random, with a limit that can be met where there is one. */
static void ask_at_random(struct random_split *s, struct rng *r, bool rows)
{
    random_split_open(s, r,
                      (struct random_kind){ .n_collectives = 8,
                                            .overlap = rng_below(r, 2),
                                            .compute = rng_below(r, 2),
                                            .n_rows = rows ? (int32_t)rng_below(r, 4) : 0,
                                            .total = rng_below(r, 4) ? LINEXPR_EQ : LINEXPR_LE });
    s->problem.objective = (enum alloc_objective)rng_below(r, N_ALLOC_OBJECTIVES);
    s->problem.time_limit_s = step_time(&s->fn, s->inside_Bps) * rng_range(r, 1, 1.5);
}

static void no_answer_is_below_its_bounds(void **state)
{
    static const struct keep_column columns[] = { { "time_s", false }, { "nic_GBps", false } };
    struct rng *r = random_open(31);
    struct bound b;
    int n = 0;
    (void)state;
    bound_begin(&b, columns, 2);
    for (int i = 0; i < 1500; i++) {
        struct random_split s;
        struct made m;
        struct alloc_answer a;
        struct err e = { 0 };
        ask_at_random(&s, r, true);
        make(&m, &s);
        assert_ok(alloc_solve(&a, &s.problem, &e), &e);
        assert_ok(bound_prepare(&b, &m.study, &e), &e);
        if (a.status == ALLOC_SOLVED) {
            double time_s = step_time(&s.fn, a.bw_Bps);
            assert_true(bound_time_s(&b, &m.study) <= time_s);
            assert_true(bound_cost_usd(&b, &m.study, time_s) <= alloc_cost_usd(&s.problem, a.bw_Bps));
            assert_true(bound_nic_Bps(&b, &m.study, time_s) <= nic_of(&m.study, a.bw_Bps));
            n++;
        }
        alloc_answer_free(&a);
        random_split_close(&s);
    }
    assert_true(n > 1000);
    bound_free(&b);
    rng_free(r);
}

/* Two leaves that share nothing: K = (sqrt 4 + sqrt 9)^2 GB, T = 2 + K/total. */
static void without_shared_dimensions_the_time_is_exact(void **state)
{
    static const double traffic_GB[2][D] = { { 4, 0 }, { 0, 9 } };
    struct random_split s;
    struct made m;
    struct bound b;
    struct err e = { 0 };
    (void)state;
    plain_split_open(&s, 2, traffic_GB, 2, 2);
    random_split_row(&s, (const double[D]){ 1, 1 }, LINEXPR_EQ, 50);
    s.problem.usd_per_Bps[0] = 1e-9;
    s.problem.usd_per_Bps[1] = 4e-9;
    make(&m, &s);
    bound_begin(&b, time_and_cost, 2);
    assert_ok(bound_prepare(&b, &m.study, &e), &e);
    assert_close(bound_time_s(&b, &m.study), 2.5, 1e-8);
    /* Prices 1 and 4 a GB/s: (sqrt 4 + sqrt 36)^2 = 64 GB USD, over half a second; 128 USD buy 8 and 24 GB/s,
     * which is no 50: the rest goes where it is cheap. */
    m.study.total_Bps = NAN;
    assert_close(bound_cost_usd(&b, &m.study, 2.5), 128, 1e-8);
    m.study.total_Bps = 50e9;
    /* 4/B + 9/(50 - B) = 0.5 at B = 20 alone: 20 + 4*30. */
    assert_close(bound_cost_usd(&b, &m.study, 2.5), 140, 0.01);
    assert_true(bound_cost_usd(&b, &m.study, 2.5) <= 140);
    bound_free(&b);
    random_split_close(&s);
}

/* What the answer's row says. */
static void row_of(double x[2], const struct random_split *s, const struct alloc_answer *a)
{
    x[0] = step_time(&s->fn, a->bw_Bps);
    x[1] = alloc_cost_usd(&s->problem, a->bw_Bps);
}

static void offer(struct front *f, double x, double y, int64_t id)
{
    struct err e = { 0 };
    bool on;
    assert_ok(front_offer(f, (const double[]){ x, y }, id, &on, &e), &e);
}

static void what_is_beaten_is_dominated_and_ties_are_not_beaten(void **state)
{
    struct rng *r = random_open(32);
    struct bound b;
    int n = 0, near = 0, dominated = 0;
    (void)state;
    bound_begin(&b, time_and_cost, 2);
    for (int i = 0; i < 1000; i++) {
        struct random_split s;
        struct made m;
        struct alloc_answer a;
        struct err e = { 0 };
        ask_at_random(&s, r, rng_below(r, 2));
        make(&m, &s);
        assert_ok(alloc_solve(&a, &s.problem, &e), &e);
        assert_ok(bound_prepare(&b, &m.study, &e), &e);
        if (a.status == ALLOC_SOLVED) {
            double x[2];
            struct front tie = { .n_cols = 2 }, better = { .n_cols = 2 }, some = { .n_cols = 2 };
            row_of(x, &s, &a);
            offer(&tie, x[0], x[1], 0);
            assert_false(bound_beaten(&b, &m.study, &tie));
            offer(&better, x[0] * 0.97, x[1] * 0.97, 0);
            near += bound_beaten(&b, &m.study, &better);
            for (int k = 0; k < 5; k++)
                offer(&some, x[0] * rng_range(r, 0.8, 1.1), x[1] * rng_range(r, 0.8, 1.1), k);
            dominated += front_dominates(&some, x);
            if (bound_beaten(&b, &m.study, &some)) {
                assert_true(front_dominates(&some, x));
                n++;
            }
            front_free(&tie);
            front_free(&better);
            front_free(&some);
        }
        alloc_answer_free(&a);
        random_split_close(&s);
    }
    print_message("beaten by 3 %%: %d; of %d dominated %d\n", near, dominated, n);
    assert_true(n > 100);
    bound_free(&b);
    rng_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_answer_is_below_its_bounds),
        cmocka_unit_test(without_shared_dimensions_the_time_is_exact),
        cmocka_unit_test(what_is_beaten_is_dominated_and_ties_are_not_beaten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
