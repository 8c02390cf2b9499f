#include "tests/support.h"

#include "base/rng.h"
#include "study/keep_points.h"

/* An array that says of each point whether it is there. */
TEST(a_point_is_found_until_it_is_removed)
{
    enum { POINTS = 500, STEPS = 20000 };
    static bool there[POINTS];
    KEEP(struct keep_points, s, keep_points_free) = { 0 };
    int64_t n = 0;
    assert_null(keep_points_find(&s, 3));
    RNG(r, 5, 0);
    for (int step = 0; step < STEPS; step++) {
        int64_t i = rng_below(r, POINTS), point = i * 4096; /* many of them begin at one place */
        struct keep_point *p = keep_points_find(&s, point);
        assert_int_equal(p != NULL, there[i]);
        if (p)
            assert_int_equal(p->row, i);
        if (p)
            keep_points_remove(&s, point);
        else
            OK(keep_points_add(&s, (struct keep_point){ point, i, KEEP_TOP }, e));
        there[i] = !there[i];
        n += there[i] ? 1 : -1;
        assert_int_equal(s.n, n);
    }
    for (int64_t i = 0; i < POINTS; i++)
        assert_int_equal(keep_points_find(&s, i * 4096) != NULL, there[i]);
}
