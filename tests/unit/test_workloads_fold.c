#include "workloads/readers/readers.h"

#include "tests/support.h"

enum { MOST = 400 };

/* Tasks and waits in plain arrays: who[k] waits for on[k]. */
struct plan {
    int32_t n, n_waits;
    int32_t who[MOST * 8], on[MOST * 8];
    signed char lane[MOST];
    double seconds[MOST]; /* 0: takes no time */
};

static void wait_for(struct plan *p, int32_t who, int32_t on)
{
    assert_true(p->n_waits < MOST * 8);
    p->who[p->n_waits] = who;
    p->on[p->n_waits++] = on;
}

static void build(struct dag *g, const struct plan *p)
{
    int32_t begin[MOST + 1] = { 0 }, waits[MOST * 8], cycle = -1, n = 0;
    for (int32_t i = 0; i < p->n; i++) {
        begin[i] = n;
        for (int32_t k = 0; k < p->n_waits; k++)
            if (p->who[k] == i)
                waits[n++] = p->on[k];
    }
    begin[p->n] = n;
    MUST(dag_build(g, p->n, begin, waits, p->lane, &cycle, e));
    assert_int_equal(g->n, p->n);
}

static void fold_plan(struct fold *f, struct dag *g, const struct plan *p)
{
    bool takes_time[MOST];
    build(g, p);
    for (int32_t i = 0; i < g->n; i++)
        takes_time[i] = p->seconds[g->task[i]] > 0;
    MUST(fold_dag(f, g, takes_time, e));
}

/* Run the expression from start_s on: when each task begins and ends; counts each one. */
static double run(const struct fold *f, fold_id id, const struct dag *g, const struct plan *p, double start_s,
                  double *begin_s, double *end_s, int *count)
{
    if (id < 0)
        return start_s;
    const struct fold_node *node = &f->nodes[id];
    if (node->kind == FOLD_TASK) {
        int32_t task = g->task[node->left];
        count[task]++;
        begin_s[task] = start_s;
        return end_s[task] = start_s + p->seconds[task];
    }
    double left_s = run(f, node->left, g, p, start_s, begin_s, end_s, count);
    double right_s =
        run(f, node->right, g, p, node->kind == FOLD_SUM ? left_s : start_s, begin_s, end_s, count);
    return fmax(left_s, right_s);
}

/* Each task begins when all it waits for, and the one before on its lane, have ended. */
static double longest(const struct plan *p, const struct dag *g)
{
    double end_s[MOST], last_s[DAG_LANES] = { 0 }, most = 0;
    for (int32_t i = 0; i < g->n; i++) {
        int32_t task = g->task[i], lane = p->lane[task];
        double begin_s = lane >= 0 ? last_s[lane] : 0;
        for (int32_t k = 0; k < p->n_waits; k++)
            if (p->who[k] == task)
                begin_s = fmax(begin_s, end_s[p->on[k]]);
        end_s[task] = begin_s + p->seconds[task];
        if (lane >= 0)
            last_s[lane] = end_s[task];
        most = fmax(most, end_s[task]);
    }
    return most;
}

/* The expression holds each task once and lets none begin before what it waits for; returns its time.
 * @p n_joins, unless NULL: what had to be joined for that. */
static double check_plan(const struct plan *p, int32_t *n_joins)
{
    KEEP(struct fold, f, fold_free);
    KEEP(struct dag, g, dag_free);
    double begin_s[MOST], end_s[MOST], exact_s;
    int count[MOST] = { 0 };
    fold_plan(&f, &g, p);
    double time_s = run(&f, f.root, &g, p, 0, begin_s, end_s, count);
    for (int32_t i = 0; i < p->n; i++)
        assert_int_equal(count[i], p->seconds[i] > 0);
    for (int32_t k = 0; k < p->n_waits; k++)
        if (count[p->who[k]] && count[p->on[k]])
            assert_true(begin_s[p->who[k]] >= end_s[p->on[k]]);
    for (int32_t i = 0; i < f.n_nodes; i++)
        assert_in_range(f.nodes[i].depth, 0, FOLD_MAX_DEPTH);
    exact_s = longest(p, &g);
    assert_true(time_s >= exact_s * (1 - 1e-12));
    if (f.n_joins == 0)
        assert_close(time_s, exact_s, 1e-12);
    if (n_joins)
        *n_joins = f.n_joins;
    return time_s;
}

/* The same where nothing has to be joined. */
static double check_exact(const struct plan *p)
{
    int32_t n_joins;
    double time_s = check_plan(p, &n_joins);
    assert_int_equal(n_joins, 0);
    return time_s;
}

static uint32_t draw(uint32_t *x, uint32_t n)
{
    *x = *x * 1664525 + 1013904223;
    return (*x >> 8) % n;
}

/* A series-parallel part of tasks between from (-1: none) and to; returns the number of tasks used. */
static int32_t grow(struct plan *p, uint32_t *x, int32_t depth, int32_t *ends, const int32_t *from,
                    int32_t n_from)
{
    if (depth == 0 || p->n > MOST - 20) {
        int32_t task = p->n++;
        p->lane[task] = DAG_NO_LANE;
        p->seconds[task] = 1 + draw(x, 1000);
        for (int32_t k = 0; k < n_from; k++)
            wait_for(p, task, from[k]);
        ends[0] = task;
        return 1;
    }
    int32_t middle[MOST], n = 0;
    if (draw(x, 2)) {
        int32_t n_middle = grow(p, x, depth - 1, middle, from, n_from);
        return grow(p, x, depth - 1, ends, middle, n_middle);
    }
    for (uint32_t branch = 0; branch < 2; branch++)
        n += grow(p, x, depth - 1, ends + n, from, n_from);
    return n;
}

TEST(what_is_series_parallel_takes_exactly_its_longest_chain)
{
    uint32_t x = 7;
    for (int turn = 0; turn < 300; turn++) {
        struct plan p = { 0 };
        int32_t ends[MOST];
        grow(&p, &x, 1 + (int32_t)draw(&x, 5), ends, NULL, 0);
        check_exact(&p);
    }
}

TEST(any_plan_keeps_its_order_and_is_never_faster)
{
    uint32_t x = 1;
    for (int turn = 0; turn < 4000; turn++) {
        struct plan p = { .n = 1 + (int32_t)draw(&x, turn % 10 ? 12 : 90) };
        uint32_t lanes = draw(&x, 4), dense = 1 + draw(&x, 3);
        for (int32_t i = 0; i < p.n; i++) {
            p.lane[i] = (signed char)((int32_t)draw(&x, lanes + 1) % 3 - 1);
            p.seconds[i] = draw(&x, 5) ? 1 + draw(&x, 1000) : 0;
            for (uint32_t k = draw(&x, dense + 1); i > 0 && k > 0; k--)
                wait_for(&p, i, (int32_t)draw(&x, (uint32_t)i));
        }
        check_plan(&p, NULL);
    }
}

/* Compute c_1..c_n, a collective after each that only the end waits for: max over i of c_1 + .. + c_i + k_i.
 */
TEST(collectives_awaited_at_the_end_run_beside_all_that_follows)
{
    struct plan p = { .n = 2 * 50 };
    double want_s = 0, compute_s = 0;
    for (int32_t i = 0; i < 50; i++) {
        p.lane[i] = 0;
        p.lane[50 + i] = DAG_NO_LANE;
        p.seconds[i] = 1 + i % 7;
        p.seconds[50 + i] = 40 * (i % 5);
        wait_for(&p, 50 + i, i);
        compute_s += p.seconds[i];
        want_s = fmax(want_s, compute_s + p.seconds[50 + i]);
    }
    assert_close(check_exact(&p), want_s, 1e-12);
}

/* c_i before k_i before o_i, all c before all o: k_1 crosses k_2 and so on. Each is awaited one piece later.
 */
TEST(what_crosses_is_awaited_at_the_end_of_the_next_piece)
{
    enum { N = 20 };
    struct plan p = { .n = 3 * N };
    int32_t n_joins;
    for (int32_t i = 0; i < N; i++) {
        p.lane[i] = p.lane[2 * N + i] = 0;
        p.lane[N + i] = DAG_NO_LANE;
        p.seconds[i] = 10;
        p.seconds[N + i] = i % 2 ? 8 : 13;
        p.seconds[2 * N + i] = 1;
        wait_for(&p, N + i, i);
        wait_for(&p, 2 * N + i, N + i);
    }
    for (int32_t i = 0; i < N; i++)
        wait_for(&p, 2 * N, i);
    /* c_1, then max(k_i, c_i+1) in turn, then the last collective beside what does not need it. */
    double want_s = 10 + (N - 1) * (13 + 10) / 2.0 + 1.5;
    double time_s = check_plan(&p, &n_joins);
    assert_int_equal(n_joins, N - 1);
    assert_true(time_s >= 10.0 * N + N);
    assert_close(time_s, want_s + (N - 1) + 1, 1e-12);
}

TEST(a_wait_that_the_lane_implies_says_nothing)
{
    struct plan p = { .n = 30 };
    KEEP(struct dag, g, dag_free);
    for (int32_t i = 0; i < p.n; i++) {
        p.lane[i] = 0;
        p.seconds[i] = 1;
        for (int32_t k = 0; k < i; k += 7)
            wait_for(&p, i, k);
    }
    build(&g, &p);
    assert_int_equal(g.begin[g.n], p.n - 1);
    assert_close(check_exact(&p), 30, 1e-12);
}

TEST(tasks_that_wait_for_the_same_start_together)
{
    struct plan p = { .n = 6 };
    for (int32_t i = 0; i < 6; i++) {
        p.lane[i] = DAG_NO_LANE;
        p.seconds[i] = 1 << i;
        for (int32_t k = 0; i >= 3 && k < 3; k++)
            wait_for(&p, i, k);
    }
    assert_close(check_exact(&p), 4 + 32, 1e-12);
}

TEST(what_is_too_deep_is_made_shallower)
{
    struct plan p = { .n = 300 };
    int32_t n_joins;
    for (int32_t i = 0; i < 150; i++) {
        p.lane[i] = 0;
        p.lane[150 + i] = DAG_NO_LANE;
        p.seconds[i] = 2;
        p.seconds[150 + i] = 1;
        wait_for(&p, 150 + i, i);
    }
    /* The collectives are shorter than what they run beside, so waiting for them costs nothing. */
    assert_close(check_plan(&p, &n_joins), 301, 1e-12);
    assert_true(n_joins > 0);
}

TEST(the_least_number_is_issued_first)
{
    struct plan p = { .n = 5 };
    KEEP(struct dag, g, dag_free);
    static const int32_t want[] = { 1, 0, 3, 2, 4 };
    memset(p.lane, DAG_NO_LANE, sizeof p.lane);
    wait_for(&p, 0, 1);
    wait_for(&p, 2, 3);
    build(&g, &p);
    for (int i = 0; i < 5; i++)
        assert_int_equal(g.task[i], want[i]);
}

TEST(a_cycle_is_refused_with_one_of_its_tasks)
{
    /* 0 -> 1 -> 2 -> 1, and 3 behind it. */
    static const int32_t begin[] = { 0, 1, 2, 4, 4 }, waits[] = { 1, 2, 1, 3 };
    static const signed char lane[] = { -1, -1, -1, -1 };
    KEEP(struct dag, g, dag_free);
    int32_t cycle = -1;
    FAILS(dag_build(&g, 4, begin, waits, lane, &cycle, e), ERR_RANGE, "cycle");
    assert_in_range(cycle, 1, 2);
    assert_null(g.task);
}
