/* Bounds of a design before it is solved: no answer lies below, and what they rule out is no front's. */
#include "tests/unit/split_random.h"
#include "study/keep.h"
#include "kinds/design/explore/bound.h"

enum { D = TOPO_MAX_DIMS };

static const struct keep_column time_and_cost[] = { { "time_s", .large = false },
                                                    { "cost_usd", .large = false } };

/* A study of a random problem: `of` points into it. */
struct made {
    struct design_point study;
    struct design_workload load;
};

static void make(struct made *m, const struct random_split *of)
{
    m->load = (struct design_workload){ .weight = 1, .fn = of->fn };
    m->study = (struct design_point){ .net = of->net, .has_parts = true, .n_workloads = 1 };
    m->study.workloads = &m->load;
    m->study.objective = of->problem.objective;
    m->study.time_limit_s = of->problem.time_limit_s;
    m->study.rows.rows = (struct alloc_row *)of->problem.rows;
    m->study.rows.n = of->problem.n_rows;
    m->study.total_Bps = of->rows[0].sense == LINEXPR_EQ ? of->rows[0].rhs : NAN;
    for (int32_t d = 0; d < of->net.n_dims; d++) {
        m->study.prices[d].usd_per_Bps = of->problem.usd_per_Bps[d];
        m->study.prices[d].nic_share = d % 2;
    }
}

static double nic_of(const struct design_point *s, const double *bw_Bps)
{
    double sum = 0;
    for (int32_t d = 0; d < s->net.n_dims; d++)
        sum += s->prices[d].nic_share * bw_Bps[d];
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
    /* Of power and of owning nothing is known beforehand, as of utilization. */
    s->problem.objective =
        rng_below(r, 8) ? (enum alloc_objective)rng_below(r, ALLOC_COST + 1) : ALLOC_TCO_PER_TOKEN;
    s->problem.time_limit_s = step_time(&s->fn, s->inside_Bps) * rng_range(r, 1, 1.5);
}

TEST(no_answer_is_below_its_bounds)
{
    static const struct keep_column columns[] = { { "time_s", .large = false },
                                                  { "nic_GBps", .large = false } };
    RNG(r, 31, 0);
    KEEP(struct bound, b, bound_free);
    int n = 0;
    bound_begin(&b, columns, 2);
    for (int i = 0; i < 1500; i++) {
        KEEP(struct random_split, s, random_split_close);
        struct made m;
        KEEP(struct alloc_answer, a, alloc_answer_free);
        ask_at_random(&s, r, true);
        make(&m, &s);
        OK(alloc_solve(&a, &s.problem, e));
        OK(bound_prepare(&b, &m.study, e));
        if (a.status == ALLOC_SOLVED) {
            double time_s = step_time(&s.fn, a.bw_Bps);
            assert_true(bound_time_s(&b, &m.study) <= time_s);
            assert_true(bound_cost_usd(&b, &m.study, time_s) <= alloc_cost_usd(&s.problem, a.bw_Bps));
            assert_true(bound_nic_Bps(&b, &m.study, time_s) <= nic_of(&m.study, a.bw_Bps));
            n++;
        }
    }
    assert_true(n > 1000);
}

/* Two leaves that share nothing: K = (sqrt 4 + sqrt 9)^2 GB, T = 2 + K/total. */
TEST(without_shared_dimensions_the_time_is_exact)
{
    static const double traffic_GB[2][D] = { { 4, 0 }, { 0, 9 } };
    struct made m;
    KEEP(struct bound, b, bound_free);
    PLAIN_SPLIT(s, 2, traffic_GB, 2, 2);
    random_split_row(&s, (const double[D]){ 1, 1 }, LINEXPR_EQ, 50);
    s.problem.usd_per_Bps[0] = 1e-9;
    s.problem.usd_per_Bps[1] = 4e-9;
    make(&m, &s);
    bound_begin(&b, time_and_cost, 2);
    OK(bound_prepare(&b, &m.study, e));
    assert_close(bound_time_s(&b, &m.study), 2.5, 1e-8);
    /* Prices 1 and 4 a GB/s: (sqrt 4 + sqrt 36)^2 = 64 GB USD, over half a second; 128 USD buy 8 and 24 GB/s,
     * which is no 50: the rest goes where it is cheap. */
    m.study.total_Bps = NAN;
    assert_close(bound_cost_usd(&b, &m.study, 2.5), 128, 1e-8);
    m.study.total_Bps = 50e9;
    /* 4/B + 9/(50 - B) = 0.5 at B = 20 alone: 20 + 4*30. */
    assert_close(bound_cost_usd(&b, &m.study, 2.5), 140, 0.01);
    assert_true(bound_cost_usd(&b, &m.study, 2.5) <= 140);
}

/* What a point gains over the even split is known where its time and its price are: a tie is not beaten, what
 * is better by little is. */
TEST(gains_over_the_even_split_are_bounded_closely)
{
    static const double traffic_GB[2][D] = { { 4, 0 }, { 0, 9 } };
    static const struct keep_column columns[] = { { "speedup", .large = true },
                                                  { "perf_per_cost_gain", .large = true } };
    for (int gain = 0; gain < 2; gain++) {
        struct made m;
        KEEP(struct bound, b, bound_free);
        KEEP(struct alloc_answer, a, alloc_answer_free);
        const double even_Bps[D] = { 25e9, 25e9 };
        PLAIN_SPLIT(s, 2, traffic_GB, 2, 2);
        random_split_row(&s, (const double[D]){ 1, 1 }, LINEXPR_EQ, 50);
        s.problem.usd_per_Bps[0] = 4e-9;
        s.problem.usd_per_Bps[1] = 4e-9;
        s.problem.objective = gain ? ALLOC_PERF_PER_COST : ALLOC_TIME;
        make(&m, &s);
        OK(alloc_solve(&a, &s.problem, e));
        double is = step_time(&s.fn, even_Bps) / step_time(&s.fn, a.bw_Bps); /* both cost the same */
        for (int better = 0; better < 2; better++) {
            KEEP(struct front, known, front_free) = { .n_cols = 1 };
            bool on = false;
            OK(front_offer(&known, &(double){ -is * (1 + 1e-4 * better) }, 0, &on, e));
            bound_begin(&b, &columns[gain], 1);
            OK(bound_prepare(&b, &m.study, e));
            assert_int_equal(bound_beaten(&b, &m.study, &known), better);
            bound_free(&b);
        }
    }
}

/* What the answer's row says. */
static void row_of(double x[2], const struct random_split *s, const struct alloc_answer *a)
{
    x[0] = step_time(&s->fn, a->bw_Bps);
    x[1] = alloc_cost_usd(&s->problem, a->bw_Bps);
}

static void offer(struct front *f, double x, double y, int64_t id)
{
    bool on;
    MUST(front_offer(f, (const double[]){ x, y }, id, &on, e));
}

TEST(what_is_beaten_is_dominated_and_ties_are_not_beaten)
{
    RNG(r, 32, 0);
    KEEP(struct bound, b, bound_free);
    int n = 0, near = 0, dominated = 0;
    bound_begin(&b, time_and_cost, 2);
    for (int i = 0; i < 1000; i++) {
        KEEP(struct random_split, s, random_split_close);
        struct made m;
        KEEP(struct alloc_answer, a, alloc_answer_free);
        ask_at_random(&s, r, rng_below(r, 2));
        make(&m, &s);
        OK(alloc_solve(&a, &s.problem, e));
        OK(bound_prepare(&b, &m.study, e));
        if (a.status == ALLOC_SOLVED) {
            double x[2];
            KEEP(struct front, better, front_free) = { .n_cols = 2 };
            KEEP(struct front, some, front_free) = { .n_cols = 2 };
            KEEP(struct front, tie, front_free) = { .n_cols = 2 };
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
        }
    }
    /* Most of what is dominated by a little is found, though not all: rows and maxima are told in part. */
    assert_true(near > 300 && n > dominated / 3 && n > 100);
}

/* (1 + 1/B) (F + B) is least at B = sqrt F, at 1 + 1/sqrt F of both parts: as late as the least price says.
 */
TEST(the_latest_answer_is_not_left_out)
{
    static const double traffic_GB[1][D] = { { 1 } }, fixed_usd = 1e6 / 0.81;
    struct made m;
    KEEP(struct bound, b, bound_free);
    KEEP(struct front, tie, front_free) = { .n_cols = 2 };
    PLAIN_SPLIT(s, 1, traffic_GB, 1, 1);
    s.problem.objective = ALLOC_PERF_PER_COST;
    s.problem.usd_per_Bps[0] = 1e-9;
    s.rows[0].sense = LINEXPR_LE; /* no total */
    make(&m, &s);
    m.study.count_npus = true;
    m.study.net.npu.usd = fixed_usd / (double)m.study.net.n_npus;
    bound_begin(&b, time_and_cost, 2);
    OK(bound_prepare(&b, &m.study, e));
    offer(&tie, 1 + 1 / sqrt(fixed_usd), fixed_usd + sqrt(fixed_usd), 0);
    assert_false(bound_beaten(&b, &m.study, &tie));
}

/* ---- a sweep of shapes, totals and objectives ---- */

enum { SHAPES = 80, TOTALS = 5, POINTS = SHAPES * TOTALS * 2 };

/* Shapes that are rivals: traffic and prices of one size; every second has work beside its collectives. */
static void open_shape(struct random_split *s, int32_t shape, bool overlap)
{
    double traffic_GB[3][D] = { { 0 } };
    RNG(r, 77, (uint64_t)shape);
    for (int i = 0; i < 3; i++)
        for (int d = 0; d < 4; d++)
            traffic_GB[i][d] = rng_below(r, 3) || i == d ? rng_range(r, 1, 6) : 0;
    plain_split_open(s, 4, (const double(*)[D])traffic_GB, 3, 0.05);
    for (int32_t d = 0; d < 4; d++)
        s->problem.usd_per_Bps[d] = rng_log_range(r, 1e-9, 2e-8);
    if (overlap && shape % 2) { /* leaf 1 in one branch of a maximum, leaf 2 in the other */
        static int32_t leaf_begin[] = { 0, 1, 2, 3 }, max_begin[] = { 0, 1, 1, 1 }, term_begin[] = { 1, 3 };
        static double const_s[] = { 0.05, 0.02, 0 };
        s->fn.n_terms = 3;
        s->fn.n_maxima = 1;
        s->fn.leaf_begin = leaf_begin;
        s->fn.max_begin = max_begin;
        s->fn.term_begin = term_begin;
        s->fn.const_s = const_s;
    }
    random_split_row(s, (const double[D]){ 1, 1, 1, 1 }, LINEXPR_EQ, 0);
}

static void ask_point(struct random_split *s, struct made *m, int64_t point)
{
    s->rows[0].rhs = 20e9 * (double)(1 + point / 2 % TOTALS);
    s->problem.objective = point % 2 ? ALLOC_PERF_PER_COST : ALLOC_TIME;
    m->study.total_Bps = s->rows[0].rhs;
    m->study.objective = s->problem.objective;
}

static void solve_point(double x[FRONT_MAX_COLUMNS], const struct random_split *s, const struct made *m,
                        const struct keep_column *columns, int32_t n)
{
    KEEP(struct alloc_answer, a, alloc_answer_free);
    MUST(alloc_solve(&a, &s->problem, e));
    assert_int_equal(a.status, ALLOC_SOLVED);
    for (int32_t c = 0; c < n; c++) {
        if (strcmp(columns[c].name, "time_s") == 0)
            x[c] = a.time_s;
        else if (strcmp(columns[c].name, "cost_usd") == 0)
            x[c] = a.cost_usd;
        else if (strcmp(columns[c].name, "nic_GBps") == 0)
            x[c] = nic_of(&m->study, a.bw_Bps) / 1e9;
        else
            x[c] = m->study.total_Bps / 1e9;
        x[c] = columns[c].large ? -x[c] : x[c];
    }
}

/* The front of a sweep; with pruning what a sample's front beats is not solved. Returns how many are. */
static int64_t sweep(struct front *f, const struct keep_column *columns, int32_t n, bool prune)
{
    KEEP(struct front, known, front_free) = { .n_cols = n };
    KEEP(struct bound, b, bound_free);
    int64_t solved = 0;
    bound_begin(&b, columns, n);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t shape = 0; shape < SHAPES; shape++) {
            KEEP(struct random_split, s, random_split_close);
            struct made m;
            if ((shape % 8 == 0) == (pass == 1))
                continue;
            open_shape(&s, shape, true);
            make(&m, &s);
            ask_point(&s, &m, 4);
            MUST(bound_prepare(&b, &m.study, e));
            for (int64_t i = 0; i < TOTALS * 2; i++) {
                double x[FRONT_MAX_COLUMNS];
                bool on;
                ask_point(&s, &m, i);
                if (prune && pass && bound_beaten(&b, &m.study, &known))
                    continue;
                solved++;
                solve_point(x, &s, &m, columns, n);
                MUST(front_offer(f, x, shape * TOTALS * 2 + i, &on, e));
                if (pass == 0)
                    MUST(front_offer(&known, x, i, &on, e));
            }
        }
    return solved;
}

TEST(a_pruned_sweep_has_the_front_of_all_points)
{
    static const struct {
        struct keep_column columns[FRONT_MAX_COLUMNS];
        int32_t n;
        int64_t most; /* solved, at most: 100 are the sample, and its front does not beat all the others */
    } cases[] = {
        { { { "time_s", .large = false }, { "cost_usd", .large = false } }, 2, 350 },
        { { { "time_s", .large = false }, { "nic_GBps", .large = false } }, 2, 360 },
        { { { "cost_usd", .large = false }, { "time_s", .large = false }, { "nic_GBps", .large = false } },
          3,
          600 },
        { { { "time_s", .large = false }, { "total_GBps", .large = false } }, 2, 260 },
        { { { "cost_usd", .large = false }, { "total_GBps", .large = true }, { "time_s", .large = false } },
          3,
          400 },
        { { { "nic_GBps", .large = true }, { "time_s", .large = false } },
          2,
          POINTS }, /* nothing is known of large NICs */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct front pruned = { .n_cols = cases[i].n };
        KEEP(struct front, all, front_free) = { .n_cols = cases[i].n };
        assert_int_equal(sweep(&all, cases[i].columns, cases[i].n, false), POINTS);
        int64_t solved = sweep(&pruned, cases[i].columns, cases[i].n, true);
        assert_true(solved <= cases[i].most);
        OK(front_sort(&all, e));
        OK(front_sort(&pruned, e));
        assert_int_equal(pruned.n, all.n);
        assert_memory_equal(pruned.id, all.id, (size_t)all.n * sizeof *all.id);
        assert_memory_equal(pruned.x, all.x, (size_t)(all.n * all.n_cols) * sizeof *all.x);
        front_free(&pruned);
    }
}

/* Two workloads of weights 2 and 3 on one network: solved as the weighted sum. */
TEST(workloads_count_by_their_weights)
{
    for (int32_t shape = 0; shape < 20; shape++) {
        KEEP(struct random_split, one, random_split_close);
        KEEP(struct random_split, two, random_split_close);
        struct made m;
        struct design_workload loads[2];
        KEEP(struct step_fn, joined, step_fn_free);
        KEEP(struct alloc_answer, a, alloc_answer_free);
        KEEP(struct bound, b, bound_free);
        KEEP(struct front, f, front_free) = { .n_cols = 2 };
        open_shape(&one, 2 * shape, false);
        open_shape(&two, 2 * shape + 1, true);
        const struct step_fn *fns[] = { &one.fn, &two.fn };
        OK(step_fn_join(&joined, fns, (const double[]){ 2, 3 }, 2, (struct step_join){ 0 }, e));
        one.problem.step = &joined;
        make(&m, &one);
        ask_point(&one, &m, 2);
        loads[0] = (struct design_workload){ .weight = 2, .fn = one.fn };
        loads[1] = (struct design_workload){ .weight = 3, .fn = two.fn };
        m.study.workloads = loads;
        m.study.n_workloads = 2;
        OK(alloc_solve(&a, &one.problem, e));
        assert_int_equal(a.status, ALLOC_SOLVED);
        bound_begin(&b, time_and_cost, 2);
        OK(bound_prepare(&b, &m.study, e));
        assert_true(bound_time_s(&b, &m.study) <= a.time_s && bound_time_s(&b, &m.study) > 0.97 * a.time_s);
        offer(&f, a.time_s, a.cost_usd, 0);
        assert_false(bound_beaten(&b, &m.study, &f));
        offer(&f, a.time_s * 0.9, a.cost_usd * 0.9, 1);
        assert_true(bound_beaten(&b, &m.study, &f));
    }
}

TEST(nothing_is_beaten_where_nothing_is_known)
{
    static const struct keep_column odd[] = { { "time_s", .large = false }, { "gap", .large = false } };
    KEEP(struct random_split, s, random_split_close);
    struct made m;
    struct bound b;
    KEEP(struct front, f, front_free) = { .n_cols = 2 };
    offer(&f, 1e-9, -1e9, 0);
    open_shape(&s, 0, false);
    make(&m, &s);
    ask_point(&s, &m, 0);
    for (int i = 0; i < 4; i++) {
        m.study.model = i == 1 ? SIM_CHUNK : i == 2 ? SIM_ALPHA_BETA : SIM_BANDWIDTH;
        m.study.net.dims[0].algorithm = TOPO_ALGORITHM_AUTO;
        bound_begin(&b, i ? time_and_cost : odd, 2);
        OK(bound_prepare(&b, &m.study, e));
        assert_int_equal(bound_beaten(&b, &m.study, &f), i == 3);
        assert_false(bound_beaten(&b, &m.study, NULL));
        assert_int_equal(isfinite(bound_time_s(&b, &m.study)), i == 0 || i == 3);
        bound_free(&b);
    }
}
