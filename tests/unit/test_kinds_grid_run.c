/* Walks over grids whose answer is known without looking at every point. */
#include "kinds/design/explore/grid.h"
#include "tests/unit/split_random.h"

KEEPS(struct grid, grid_free)

enum { D = TOPO_MAX_DIMS };

/* One dimension, linear time and price: every point is on the front, however long its axis. */
TEST(an_axis_may_be_longer_than_what_is_looked_at_together)
{
    enum { N = 5000 };
    static const double traffic_GB[1][D] = { { 8 } };
    struct grid_question q;
    KEEP(struct grid_found, found, grid_found_free) = { 0 };
    KEEP(struct grid *, g, grid_free_at);
    KEEP(double *, bw_Bps, free_at) = calloc(N, sizeof *bw_Bps);
    PLAIN_SPLIT(s, 1, traffic_GB, 1, 0.5);
    for (int i = 0; i < N; i++)
        bw_Bps[i] = 1e9 * (1 + i * 0.001);
    grid_question_init(&q, &s.fn);
    q.usd_per_Bps[0] = 2e-9;
    q.axes[0] = (struct grid_axis){ .dim = 0, .n = N, .bw_Bps = bw_Bps };
    q.n_axes = 1;
    q.front[0] = GRID_COST;
    q.front[1] = GRID_TIME;
    q.n_front = 2;
    OK(grid_prepare(&g, &q, e));
    OK(grid_run(g, 0, N, NULL, &found, e));
    assert_true(found.n == N && found.evaluated == N);
    for (int i = 0; i < N; i++) {
        assert_int_equal(found.points[i].at, i);
        assert_close(found.points[i].value[GRID_TIME], 0.5 + 8e9 / bw_Bps[i], 1e-15);
        assert_close(found.points[i].value[GRID_COST], 2e-9 * bw_Bps[i], 1e-15);
    }
}

/* Of three axes two have to have as much as each other: what breaks that is left out before the third is
 * walked. */
TEST(parts_that_break_a_constraint_are_not_looked_at)
{
    enum { N = 50 };
    static const double traffic_GB[1][D] = { { 8, 8, 8 } };
    double bw_Bps[N];
    KEEP(struct grid_found, found, grid_found_free) = { 0 };
    KEEP(struct grid *, g, grid_free_at);
    PLAIN_SPLIT(s, 3, traffic_GB, 1, 0.5);
    const struct alloc_row row = { .name = "equal", .coef = { 1, -1 }, .sense = LINEXPR_EQ, .unit = 1e9 };
    struct grid_question q;
    for (int i = 0; i < N; i++)
        bw_Bps[i] = 1e9 * (i + 1);
    grid_question_init(&q, &s.fn);
    for (int32_t d = 0; d < 3; d++) {
        q.usd_per_Bps[d] = 2e-9;
        q.axes[d] = (struct grid_axis){ .dim = d, .n = N, .bw_Bps = bw_Bps };
    }
    q.n_axes = 3;
    q.rows = &row;
    q.n_rows = 1;
    q.bound = true;
    q.front[0] = GRID_COST;
    q.front[1] = GRID_TIME;
    q.n_front = 2;
    OK(grid_prepare(&g, &q, e));
    OK(grid_run(g, 0, N * N * N, NULL, &found, e));
    assert_in_range(found.n, N, 4 * N); /* and others that may be as good, but for rounding */
    assert_in_range(found.evaluated, N, N * N);
    assert_int_equal(found.evaluated + found.bounded, N * N * N);
}

/* Leaves that would fill the cache as arrays are made on the way: the bits are those of step_time(). */
TEST(long_rows_of_many_leaves_have_the_bits_of_single_points)
{
    enum { N = 700, N_OUTER = 3, N_LEAVES = 5 };
    static const double traffic_GB[N_LEAVES][D] = { { 3, 0 }, { 0, 5 }, { 2, 7 }, { 6, 1 }, { 0.1, 0.3 } };
    const double outer_Bps[N_OUTER] = { 3e9, 7e9, 1e9 };
    double inner_Bps[N];
    struct grid_question q;
    PLAIN_SPLIT(s, 2, traffic_GB, N_LEAVES, 0.1);
    for (int i = 0; i < N; i++)
        inner_Bps[i] = i == 77 ? 0 : 1e9 * (0.1 + i * 0.013);
    grid_question_init(&q, &s.fn);
    q.axes[0] = (struct grid_axis){ .dim = 0, .n = N_OUTER, .bw_Bps = outer_Bps };
    q.axes[1] = (struct grid_axis){ .dim = 1, .n = N, .bw_Bps = inner_Bps };
    q.n_axes = 2;
    for (q.lanes = 2; q.lanes <= (grid_has_avx2() ? 4 : 2); q.lanes += 2) {
        KEEP(struct grid_found, found, grid_found_free) = { 0 };
        KEEP(struct grid *, g, grid_free_at);
        OK(grid_prepare(&g, &q, e));
        OK(grid_run(g, 0, N_OUTER * N, NULL, &found, e));
        assert_int_equal(found.n, N_OUTER * N); /* nothing is asked for: all are kept */
        for (int i = 0; i < N_OUTER * N; i++) {
            const double bw_Bps[] = { outer_Bps[i / N], inner_Bps[i % N] };
            assert_true(found.points[i].value[GRID_TIME] == step_time(&s.fn, bw_Bps));
        }
    }
}

/* Where traffic meets no bandwidth the step never ends: such a point is on no front, and not among the best.
 * Where there is no traffic it does not matter. */
TEST(a_point_that_never_ends_is_not_kept)
{
    static const double traffic_GB[1][D] = { { 8, 0 } };
    const double some_Bps[] = { 0, 4e9 }, other_Bps[] = { 0, 1e9 };
    struct grid_question q;
    PLAIN_SPLIT(s, 2, traffic_GB, 1, 0.5);
    for (int way = 0; way < 3; way++) {
        KEEP(struct grid_found, found, grid_found_free) = { 0 };
        KEEP(struct grid *, g, grid_free_at);
        grid_question_init(&q, &s.fn);
        q.usd_per_Bps[0] = q.usd_per_Bps[1] = 1e-9;
        q.axes[0] = (struct grid_axis){ .dim = 1, .n = 2, .bw_Bps = other_Bps };
        q.axes[1] = (struct grid_axis){ .dim = 0, .n = 2, .bw_Bps = some_Bps };
        q.n_axes = 2;
        q.front[0] = GRID_TIME;
        q.front[1] = GRID_COST;
        q.n_front = way == 0 ? 2 : 0;
        q.top = GRID_TIME;
        q.n_top = way == 1 ? 4 : 0;
        OK(grid_prepare(&g, &q, e));
        OK(grid_run(g, 0, grid_count(g), NULL, &found, e));
        /* On the front: 4 GB/s of one, none of the other. Best: both with 4 GB/s. Neither asked for: all. */
        assert_int_equal(found.n, way == 0 ? 1 : way == 1 ? 2 : 4);
        assert_int_equal(found.points[0].at, way == 2 ? 0 : 1);
        assert_true(found.points[way == 2].value[GRID_TIME] == 2.5);
    }
}
