/* Grids of bandwidths: every point of the front and of the best few comes out, whatever is skipped. */
#include "study/keep.h"
#include "kinds/design/explore/grid.h"
#include "tests/unit/split_random.h"
#include "tests/unit/step_oracle.h"

KEEPS(struct grid, grid_free)

enum { D = TOPO_MAX_DIMS, MOST_VALUES = 12 };

/* A random grid over a random step: some axes, the other dimensions fixed. */
struct plant {
    struct random_split split;
    double bw_Bps[D][MOST_VALUES], usd[D][MOST_VALUES];
    struct alloc_row row;
    struct grid_question q;
};

static void plant_open(struct plant *p, struct rng *r, bool overlap)
{
    struct random_kind kind = { .n_collectives = 8, .compute = true, .overlap = overlap };
    random_split_open(&p->split, r, kind);
    struct grid_question *q = &p->q;
    const int32_t n_dims = p->split.net.n_dims;
    int64_t count = 1;
    grid_question_init(q, &p->split.fn);
    q->usd_fixed = rng_below(r, 2) ? 1000 : 0;
    for (int32_t d = 0; d < n_dims; d++) {
        q->usd_per_Bps[d] = rng_below(r, 6) ? rng_log_range(r, 1e-10, 1e-8) : 0;
        q->nic_share[d] = rng_below(r, 3) == 0;
        q->bw_Bps[d] = rng_log_range(r, 1e9, 1e12);
    }
    int32_t first = (int32_t)rng_below(r, n_dims);
    for (int32_t k = 0; k < n_dims && count < 20000; k++) {
        struct grid_axis *axis = &q->axes[q->n_axes];
        *axis = (struct grid_axis){ .dim = (first + k) % n_dims,
                                    .n = 1 + rng_below(r, MOST_VALUES),
                                    .bw_Bps = p->bw_Bps[q->n_axes] };
        if (count * axis->n > 40000)
            continue;
        count *= axis->n;
        for (int64_t i = 0; i < axis->n; i++) /* in any order, and some twice */
            p->bw_Bps[q->n_axes][i] = 1e9 * (double)(1 + rng_below(r, 40));
        q->n_axes++;
    }
}

/* What is bought for a bandwidth in whole parts: steps. */
static double whole_usd(int32_t d, double bw_Bps)
{
    return 310.7 * (d + 1) * ceil(bw_Bps / (1.1e9 * (d + 1)));
}

/* Whole prices, and dimensions that count in no total. */
static void plant_whole(struct plant *p, struct rng *r)
{
    struct grid_question *q = &p->q;
    q->whole = true;
    for (int32_t d = 0; d < q->step->n_dims; d++) {
        q->usd[d] = whole_usd(d, q->bw_Bps[d]);
        q->inside[d] = d > 0 && rng_below(r, 5) == 0;
    }
    for (int32_t a = 0; a < q->n_axes; a++) {
        for (int64_t i = 0; i < q->axes[a].n; i++)
            p->usd[a][i] = whole_usd(q->axes[a].dim, p->bw_Bps[a][i]);
        q->axes[a].usd = p->usd[a];
    }
}

static void plant_close(struct plant *p)
{
    random_split_close(&p->split);
}

/* Bandwidths of a combination, by its number alone. */
static void oracle_bandwidths(const struct grid_question *q, int64_t at, double *bw_Bps)
{
    memcpy(bw_Bps, q->bw_Bps, D * sizeof *bw_Bps);
    for (int32_t a = q->n_axes; a-- > 0; at /= q->axes[a].n)
        bw_Bps[q->axes[a].dim] = q->axes[a].bw_Bps[at % q->axes[a].n];
}

/* What a row of a sweep would show, written as kinds/design/answer/design.c does. */
static void oracle_values(const struct grid_question *q, const double *bw_Bps, double *value)
{
    double usd = q->usd_fixed, total_Bps = 0, nic_Bps = 0;
    for (int32_t d = 0; d < q->step->n_dims; d++) {
        usd += q->whole ? whole_usd(d, bw_Bps[d]) : q->usd_per_Bps[d] * bw_Bps[d];
        total_Bps += q->inside[d] ? 0 : bw_Bps[d];
        if (q->nic_share[d] > 0)
            nic_Bps += bw_Bps[d];
    }
    value[GRID_TIME] = step_time(q->step, bw_Bps);
    value[GRID_COST] = usd;
    value[GRID_TOTAL] = total_Bps / 1e9;
    value[GRID_NIC] = nic_Bps / 1e9;
    value[GRID_PRODUCT] = value[GRID_TIME] * usd;
}

struct oracle {
    int64_t n;
    double (*value)[GRID_COLUMNS];
    bool *fits, *kept; /* shape [n] */
    bool by_tree;      /* times are those of the tree, which adds up in another order */
};

static int64_t count_of(const struct grid_question *q)
{
    int64_t n = 1;
    for (int32_t a = 0; a < q->n_axes; a++)
        n *= q->axes[a].n;
    return n;
}

static void oracle_open(struct oracle *o, const struct plant *p, bool by_tree)
{
    const struct grid_question *q = &p->q;
    *o = (struct oracle){ .n = count_of(q), .by_tree = by_tree };
    o->value = calloc((size_t)o->n, sizeof *o->value);
    o->fits = calloc((size_t)o->n, sizeof *o->fits);
    o->kept = calloc((size_t)o->n, sizeof *o->kept);
    for (int64_t i = 0; i < o->n; i++) {
        double bw_Bps[D], sum = 0;
        oracle_bandwidths(q, i, bw_Bps);
        oracle_values(q, bw_Bps, o->value[i]);
        if (by_tree) {
            o->value[i][GRID_TIME] = oracle_time(&p->split.tree, p->split.tree.root, bw_Bps);
            o->value[i][GRID_PRODUCT] = o->value[i][GRID_TIME] * o->value[i][GRID_COST];
        }
        o->fits[i] = true;
        for (int c = 0; c < GRID_COLUMNS; c++)
            o->fits[i] = o->fits[i] && o->value[i][c] <= q->most[c];
        for (int32_t d = 0; d < q->step->n_dims && q->n_rows; d++)
            sum += q->rows[0].coef[d] * bw_Bps[d];
        if (q->n_rows && (q->rows[0].sense == LINEXPR_GE ? sum < q->rows[0].rhs : sum > q->rows[0].rhs))
            o->fits[i] = false;
    }
}

static void oracle_close(struct oracle *o)
{
    free(o->value);
    free(o->fits);
    free(o->kept);
}

static bool oracle_dominates(const struct grid_question *q, const double *a, const double *b)
{
    bool less = false;
    for (int32_t k = 0; k < q->n_front; k++) {
        if (a[q->front[k]] > b[q->front[k]])
            return false;
        less = less || a[q->front[k]] < b[q->front[k]];
    }
    return less;
}

/* Every point against a list of those that nothing before them dominated; quadratic at worst. */
static void oracle_front(struct oracle *o, const struct grid_question *q)
{
    int64_t n_on = 0;
    KEEP(int64_t *, on, free_at) = calloc((size_t)o->n, sizeof *on);
    for (int64_t i = 0; i < o->n; i++) {
        bool worse = !o->fits[i];
        for (int64_t k = 0; k < n_on && !worse; k++)
            worse = oracle_dominates(q, o->value[on[k]], o->value[i]);
        if (worse)
            continue;
        int64_t n = 0;
        for (int64_t k = 0; k < n_on; k++)
            if (!oracle_dominates(q, o->value[i], o->value[on[k]]))
                on[n++] = on[k];
        on[n++] = i;
        n_on = n;
    }
    for (int64_t k = 0; k < n_on; k++)
        o->kept[on[k]] = true;
}

/* One best after the other, of equal ones the first. */
static void oracle_top(struct oracle *o, const struct grid_question *q)
{
    KEEP(bool *, taken, free_at) = calloc((size_t)o->n, sizeof *taken);
    for (int64_t k = 0; k < q->n_top; k++) {
        int64_t best = -1;
        for (int64_t i = 0; i < o->n; i++)
            if (o->fits[i] && !taken[i] && (best < 0 || o->value[i][q->top] < o->value[best][q->top]))
                best = i;
        if (best >= 0)
            taken[best] = o->kept[best] = true;
    }
}

/* All that is kept is found, its values to the bit; what is found lies in order and within the limits. */
static int64_t check_found(const struct oracle *o, const struct grid_found *f)
{
    int64_t at = 0;
    for (int64_t k = 0; k < f->n; k++) {
        const struct grid_point *p = &f->points[k];
        assert_in_range(p->at, 0, o->n - 1);
        assert_true(k == 0 || p->at > f->points[k - 1].at);
        if (!o->by_tree) {
            assert_true(o->fits[p->at]);
            assert_memory_equal(p->value, o->value[p->at], sizeof p->value);
        }
        for (; at < p->at; at++)
            assert_false(o->kept[at]);
        at = p->at + 1;
    }
    for (; at < o->n; at++)
        assert_false(o->kept[at]);
    assert_int_equal(f->bounded + f->evaluated, o->n);
    return f->n;
}

/* The whole grid, in as many parts; each knows the front of those before, as rows have it. */
static void run_parts(struct grid_found *f, const struct oracle *o, const struct grid *g,
                      const struct grid_question *q, int parts)
{
    KEEP(struct front, known, front_free) = { .n_cols = q->n_front };
    int64_t at = 0;
    for (int k = 1; k <= parts; k++) {
        int64_t to = k < parts ? o->n * k / parts : o->n, from = f->n;
        MUST(front_sort(&known, e));
        MUST(grid_run(g, at, to - at, q->n_front ? &known : NULL, f, e));
        for (; from < f->n && q->n_front; from++) {
            double x[FRONT_MAX_COLUMNS];
            bool on;
            for (int32_t c = 0; c < q->n_front; c++)
                x[c] = o->value[f->points[from].at][q->front[c]];
            if (o->fits[f->points[from].at])
                MUST(front_offer(&known, x, f->points[from].at, &on, e));
        }
        at = to;
    }
}

static void check_all_ways(struct grid_question *q, struct oracle *o, int64_t *n_found, int64_t *n_bounded)
{
    KEEP(struct grid_found, plain, grid_found_free) = { 0 };
    for (int way = 0; way < 4; way++) {
        KEEP(struct grid *, g, grid_free_at);
        struct grid_found found = { 0 };
        KEEP(struct grid_found, parts, grid_found_free) = { 0 };
        q->bound = way & 1;
        q->lanes = way & 2 ? 2 : grid_has_avx2() ? 4 : 2;
        MUST(grid_prepare(&g, q, e));
        run_parts(&found, o, g, q, 1);
        *n_found += check_found(o, &found);
        *n_bounded += found.bounded;
        assert_true(q->bound || found.bounded == 0);
        if (way == 0)
            plain = found;
        /* Neither vectors nor bounds change what comes out. */
        assert_int_equal(found.n, plain.n);
        assert_memory_equal(found.points, plain.points, (size_t)found.n * sizeof *found.points);
        run_parts(&parts, o, g, q, 7);
        check_found(o, &parts);
        if (way)
            grid_found_free(&found);
    }
}

static void plant_limits(struct plant *p, struct rng *r)
{
    double bw_Bps[D], value[GRID_COLUMNS];
    oracle_bandwidths(&p->q, 0, bw_Bps);
    oracle_values(&p->q, bw_Bps, value);
    for (int c = 0; c < GRID_COLUMNS; c++)
        if (rng_below(r, 3) == 0)
            p->q.most[c] = value[c] * rng_range(r, 1.01, 3);
}

/* A weighted sum of some bandwidths, of either sign, in which the first point fits. */
static void plant_row(struct plant *p, struct rng *r)
{
    double bw_Bps[D], size = 0;
    const bool falls = rng_below(r, 2);
    p->row = (struct alloc_row){ .name = "row", .sense = LINEXPR_LE, .unit = 1e9 };
    oracle_bandwidths(&p->q, 0, bw_Bps);
    for (int32_t d = 0; d < p->q.step->n_dims; d++) {
        p->row.coef[d] = rng_range(r, falls ? 0 : -1, 2);
        p->row.rhs += p->row.coef[d] * bw_Bps[d];
        size += fabs(p->row.coef[d]) * bw_Bps[d];
    }
    p->row.rhs += 0.1 * size;
    for (int32_t d = 0; d < D && size > 1.5 * p->row.rhs; d++)
        p->row.coef[d] = -p->row.coef[d];
    if (size > 1.5 * p->row.rhs) { /* the same, written the other way round */
        p->row.rhs = -p->row.rhs;
        p->row.sense = LINEXPR_GE;
    }
    p->q.rows = &p->row;
    p->q.n_rows = 1;
}

/* Some columns, in some order. */
static void plant_front(struct plant *p, struct rng *r)
{
    enum grid_column columns[] = { GRID_TIME, GRID_COST, GRID_TOTAL, GRID_NIC, GRID_PRODUCT };
    p->q.n_front = 2 + (int32_t)rng_below(r, 3);
    for (int32_t k = 0; k < p->q.n_front; k++) {
        int64_t other = k + rng_below(r, GRID_COLUMNS - k);
        enum grid_column c = columns[other];
        columns[other] = columns[k];
        p->q.front[k] = columns[k] = c;
    }
}

enum { ASK_FRONT = 1, ASK_TOP = 2, ASK_LIMITS = 4, ASK_ROW = 8, BY_TREE = 16, WHOLE = 32 };

static void check_random(uint64_t seed, int n, unsigned ask)
{
    RNG(r, seed, 0);
    int64_t n_found = 0, n_kept = 0, n_bounded = 0, n_points = 0;
    for (int i = 0; i < n; i++) {
        KEEP(struct plant, p, plant_close) = { 0 };
        KEEP(struct oracle, o, oracle_close);
        plant_open(&p, r, i % 3 == 0);
        if (ask & WHOLE)
            plant_whole(&p, r);
        if (ask & ASK_FRONT)
            plant_front(&p, r);
        if (ask & ASK_TOP) {
            p.q.top = (enum grid_column)rng_below(r, GRID_COLUMNS);
            p.q.n_top = 1 + rng_below(r, 20);
            if (i == 0)
                p.q.n_top = 64; /* not a byte behind the heap is its own */
        }
        if (ask & ASK_LIMITS)
            plant_limits(&p, r);
        if (ask & ASK_ROW)
            plant_row(&p, r);
        oracle_open(&o, &p, ask & BY_TREE);
        if (ask & ASK_FRONT)
            oracle_front(&o, &p.q);
        if (ask & ASK_TOP)
            oracle_top(&o, &p.q);
        for (int64_t k = 0; k < o.n; k++)
            n_kept += o.kept[k];
        n_points += o.n;
        check_all_ways(&p.q, &o, &n_found, &n_bounded);
    }
    /* Few come out that are not kept, and there was something to find and to leave out. */
    int64_t few = n_points / (ask & WHOLE ? 8 : 20); /* steps of prices make ties */
    assert_in_range(n_kept, n, few);
    assert_in_range(n_found / 4, n_kept, few);
    assert_in_range(n_bounded / 2, n_points / 100, n_points);
}

TEST(all_of_the_front_is_found)
{
    check_random(81, 16, ASK_FRONT);
}

TEST(the_best_few_are_found)
{
    check_random(82, 16, ASK_TOP);
}

TEST(limits_and_rows_decide_what_counts)
{
    check_random(83, 12, ASK_FRONT | ASK_LIMITS);
    check_random(84, 12, ASK_TOP | ASK_LIMITS);
    check_random(85, 12, ASK_FRONT | ASK_ROW);
    check_random(86, 12, ASK_TOP | ASK_ROW);
}

TEST(front_and_best_few_come_out_together)
{
    check_random(87, 16, ASK_FRONT | ASK_TOP | ASK_LIMITS | ASK_ROW);
}

/* Rows of a sweep walk the tree, so times that are equal here may differ there, and the other way round. */
TEST(what_rows_would_keep_is_found)
{
    check_random(88, 12, ASK_FRONT | BY_TREE);
    check_random(89, 12, ASK_TOP | ASK_LIMITS | BY_TREE);
}

TEST(whole_prices_are_those_of_steps)
{
    check_random(90, 12, ASK_FRONT | WHOLE);
    check_random(91, 12, ASK_TOP | ASK_LIMITS | WHOLE);
    check_random(92, 12, ASK_FRONT | ASK_ROW | BY_TREE | WHOLE);
}

TEST(no_axis_is_one_point)
{
    static const double traffic_GB[1][D] = { { 8 } };
    struct grid_question q;
    KEEP(struct grid_found, found, grid_found_free) = { 0 };
    KEEP(struct grid *, g, grid_free_at);
    PLAIN_SPLIT(s, 1, traffic_GB, 1, 0.5);
    grid_question_init(&q, &s.fn);
    q.bw_Bps[0] = 4e9;
    q.n_top = 1;
    q.top = GRID_PRODUCT;
    OK(grid_prepare(&g, &q, e));
    assert_int_equal(grid_count(g), 1);
    OK(grid_run(g, 0, 1, NULL, &found, e));
    assert_true(found.n == 1 && found.points[0].value[GRID_TIME] == 2.5);
}

TEST(a_grid_that_is_none_is_refused)
{
    static const double traffic_GB[1][D] = { { 8, 8 } };
    static const double fine[] = { 1e9, 2e9 }, wrong[] = { 1e9, -1 }, nan_Bps[] = { NAN };
    const struct {
        struct grid_axis axes[2];
        int32_t n_axes;
        const char *text;
    } cases[] = {
        { { { 2, 2, fine, NULL } }, 1, "axis 0: dimension is 2, expected 0 to 1" },
        { { { 1, 2, fine, NULL }, { 1, 2, fine, NULL } },
          2,
          "axis 1: dimension 1 has an axis; choose another one" },
        { { { 1, 0, fine, NULL } }, 1, "axis 0: has no values, expected at least 1" },
        { { { 0, 2, wrong, NULL } }, 1, "axis 0: bandwidth is -1 B/s, expected 0 or more" },
        { { { 0, 1, nan_Bps, NULL } }, 1, "axis 0: bandwidth is nan B/s, expected 0 or more" },
    };
    PLAIN_SPLIT(s, 2, traffic_GB, 1, 0.5);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct grid_question q;
        struct grid *g;
        grid_question_init(&q, &s.fn);
        memcpy(q.axes, cases[i].axes, sizeof cases[i].axes);
        q.n_axes = cases[i].n_axes;
        FAILS(grid_prepare(&g, &q, e), ERR_RANGE, cases[i].text);
        assert_null(g);
    }
}

TEST(prices_that_fall_are_left_to_rows)
{
    static const double traffic_GB[1][D] = { { 8, 8 } };
    static const double bw_Bps[] = { 2e9, 1e9 }, usd[] = { 99, 100 };
    struct grid_question q;
    struct grid *g;
    PLAIN_SPLIT(s, 2, traffic_GB, 1, 0.5);
    grid_question_init(&q, &s.fn);
    q.whole = true;
    q.axes[0] = (struct grid_axis){ 0, 2, bw_Bps, usd };
    q.n_axes = 1;
    FAILS(grid_prepare(&g, &q, e), ERR_RANGE, "axis 0: 2e+09 B/s cost less than 1e+09, expected no less");
}

TEST(columns_have_the_names_of_rows)
{
    assert_int_equal(grid_column_of("time_s"), GRID_TIME);
    assert_int_equal(grid_column_of("cost_usd"), GRID_COST);
    assert_int_equal(grid_column_of("total_GBps"), GRID_TOTAL);
    assert_int_equal(grid_column_of("nic_GBps"), GRID_NIC);
    assert_int_equal(grid_column_of("time_cost_usd_s"), GRID_PRODUCT);
    assert_int_equal(grid_column_of("speedup"), GRID_COLUMNS);
}
