/* Units of a sweep: every point in one of them, once, whatever the axes, grids and pieces are. */
#include "kinds/design/ask/load.h"
#include "kinds/design/ask/point.h"
#include "study/blocks.h"
#include "tests/support.h"

/* ---- sweeps made by hand ---- */

enum { MAX_GRIDS = 3, POINTS = 3000 };

static char *const paths[] = { "network", "total_GBps", "model", "objective", "network.dims.pod.max_GBps" };
static const bool is_quick[] = { false, true, false, true, true };

struct plant {
    struct sweep sweep;
    struct sweep_axis axes[COUNT_OF(paths) + 1];
    struct sweep_grid grids[MAX_GRIDS];
};

/* One axis a key, and a last one of a quick and a slow key together; sizes[i] values each. */
static void plant_axes(struct plant *p, const int64_t *sizes)
{
    *p = (struct plant){ .sweep = { .n_keys = COUNT_OF(paths), .n_axes = COUNT_OF(p->axes) } };
    p->sweep.axes = p->axes;
    p->sweep.grids = p->grids;
    for (int32_t k = 0; k < p->sweep.n_keys; k++) {
        p->sweep.keys[k].path = paths[k];
        p->axes[k] = (struct sweep_axis){ .keys = { k }, .n_keys = 1, .n = sizes[k] };
    }
    p->axes[COUNT_OF(paths)] =
        (struct sweep_axis){ .keys = { 1, 2 }, .n_keys = 2, .n = sizes[COUNT_OF(paths)] };
}

static void add_grid(struct plant *p, const int32_t *axes, int32_t n)
{
    struct sweep_grid *g = &p->grids[p->sweep.n_grids++];
    *g = (struct sweep_grid){ .n_axes = n, .first = p->sweep.n_points, .n_points = 1 };
    for (int32_t k = 0; k < n; k++) {
        g->axes[k] = axes[k];
        g->n_points *= p->axes[axes[k]].n;
    }
    p->sweep.n_points += g->n_points;
}

static void plant_three_grids(struct plant *p)
{
    static const int64_t sizes[] = { 3, 7, 2, 4, 5, 6 };
    plant_axes(p, sizes);
    add_grid(p, (const int32_t[]){ 0, 1, 2, 3 }, 4); /* slow and quick in turns */
    add_grid(p, (const int32_t[]){ 5, 0 }, 2);       /* none is quick */
    add_grid(p, (const int32_t[]){ 4, 3, 1 }, 3);    /* all are */
}

/* ---- properties ---- */

TEST(every_point_is_in_one_unit_once)
{
    static const int64_t most[] = { 1, 2, 3, 7, 28, 1000000 };
    for (size_t m = 0; m < COUNT_OF(most); m++) {
        int times[POINTS] = { 0 };
        struct plant p;
        KEEP(struct units, o, units_free);
        plant_three_grids(&p);
        assert_in_range(p.sweep.n_points, 1, POINTS);
        OK(units_build(&o, &p.sweep, most[m], design_is_quick, e));
        int64_t below = 0;
        assert_int_equal(units_points_below(&o, o.n_units), p.sweep.n_points);
        for (int64_t u = 0; u < o.n_units; u++) {
            struct sweep_unit unit;
            units_find(&unit, &o, u);
            assert_in_range(unit.n, 1, most[m]);
            assert_int_equal(units_points_below(&o, u), below);
            below += unit.n;
            for (int64_t i = 0; i < unit.n; i++) {
                struct sweep_point at, want;
                int64_t point = units_point(&at, &o, &unit, i);
                assert_in_range(point, 0, p.sweep.n_points - 1);
                times[point]++;
                sweep_find_point(&want, &p.sweep, point);
                assert_int_equal(at.grid, want.grid);
                assert_memory_equal(at.at, want.at, sizeof at.at);
            }
        }
        for (int64_t i = 0; i < p.sweep.n_points; i++)
            assert_int_equal(times[i], 1);
    }
}

TEST(points_of_a_unit_differ_in_quick_keys_alone)
{
    struct plant p;
    KEEP(struct units, o, units_free);
    plant_three_grids(&p);
    OK(units_build(&o, &p.sweep, 10, design_is_quick, e));
    for (int64_t u = 0; u < o.n_units; u++) {
        struct sweep_unit unit;
        units_find(&unit, &o, u);
        int64_t before = -1;
        for (int64_t i = 0; i < unit.n; i++) {
            struct sweep_point at;
            int64_t point = units_point(&at, &o, &unit, i);
            assert_true(point > before);
            before = point;
            for (int32_t k = 0; k < p.grids[unit.grid].n_axes; k++) {
                int32_t axis = p.grids[unit.grid].axes[k];
                if (axis == (int32_t)COUNT_OF(paths) || !is_quick[axis])
                    assert_int_equal(at.at[k], unit.slow.at[k]);
                else
                    assert_int_equal(unit.slow.at[k], 0);
            }
        }
    }
}

/* Grid 0: 3*2 slow, 7*4 quick in 3 pieces of 10; grid 1: 6*3 slow; grid 2: 5*4*7 quick in 14 pieces. */
TEST(units_are_counted_in_pieces)
{
    struct plant p;
    struct units o;
    plant_three_grids(&p);
    OK(units_build(&o, &p.sweep, 10, design_is_quick, e));
    assert_int_equal(o.n_units, 6 * 3 + 18 + 14);
    units_free(&o);
    OK(units_build(&o, &p.sweep, 1, design_is_quick, e));
    assert_int_equal(o.n_units, p.sweep.n_points);
    units_free(&o);
}

/* Products of 2^62: no number on the way is larger than that of the points. The slow axes are the first and
 * the last one, and a unit has 1000 of the 2^22 values between them. */
TEST(very_many_points_are_numbered)
{
    static const int64_t sizes[] = { INT64_C(1) << 20, INT64_C(1) << 22, INT64_C(1) << 20, 1, 1, 1 };
    const int64_t points[] = { 0, 1, (INT64_C(1) << 42) - 1, INT64_C(1) << 61, (INT64_C(1) << 62) - 1 };
    struct plant p;
    KEEP(struct units, o, units_free);
    plant_axes(&p, sizes);
    add_grid(&p, (const int32_t[]){ 0, 1, 2 }, 3);
    assert_int_equal(p.sweep.n_points, INT64_C(1) << 62);
    OK(units_build(&o, &p.sweep, 1000, design_is_quick, e));
    for (size_t k = 0; k < COUNT_OF(points); k++) {
        struct sweep_unit unit;
        struct sweep_point at;
        int64_t slow = (points[k] >> 42 << 20) + (points[k] & ((1 << 20) - 1)), found = -1;
        int64_t quick = points[k] >> 20 & ((1 << 22) - 1), u = slow * 4195 + quick / 1000;
        assert_in_range(u, 0, o.n_units - 1);
        units_find(&unit, &o, u);
        for (int64_t i = 0; i < unit.n; i++)
            if (units_point(&at, &o, &unit, i) == points[k])
                found = i;
        assert_int_equal(found, quick % 1000);
    }
}

TEST(one_unit_in_sixteen_is_in_the_sample)
{
    int64_t n = 0;
    assert_true(units_in_sample(0));
    for (int64_t u = 0; u < 16000; u++)
        n += units_in_sample(u);
    assert_int_equal(n, 1000);
}

TEST(keys_that_need_no_reading_are_quick)
{
    static const struct {
        const char *path;
        bool quick;
    } cases[] = {
        { "total_GBps", true },
        { "objective", true },
        { "time_limit_s", true },
        { "network.dims.pod.max_GBps", true },
        { "network.dims[0].bw_GBps", true },
        { "network.dims[12].min_GBps", true },
        { "network.dims.bw_GBps", false },
        { "network.dims.pod", false },
        { "network.dims[0]", false },
        { "network.dims", false },
        { "network.dims.pod.size", false },
        { "network.dims.pod.bw_GBps.x", false },
        { "network.dimsx.pod.bw_GBps", false },
        { "network.dims[0]bw_GBps", false },
        { "network", false },
        { "count_npus", false },
        { "constraints", false },
        { "total_GBps.x", false },
        { "", false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(design_is_quick(cases[i].path), cases[i].quick);
}
