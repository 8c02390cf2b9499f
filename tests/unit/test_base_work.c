#include "tests/support.h"

#include "base/work.h"

TEST(two_loops_count_and_a_third_within_does_not)
{
    struct work points, plans, more;
    work_begin(&points, "points", 8);
    work_begin(&plans, "plans", 100);
    work_begin(&more, "more", 3);
    work_step(&points, 2);
    work_step(&plans, 40);
    work_step(&plans, 1);
    work_step(&more, 3);
    struct work_state outer = work_look(0), inner = work_look(1);
    assert_string_equal(outer.what, "points");
    assert_true(outer.done == 2 && outer.total == 8 && outer.spent_s >= 0);
    assert_string_equal(inner.what, "plans");
    assert_true(inner.done == 41 && inner.total == 100);
    work_end(&more);
    work_end(&plans);
    assert_null(work_look(1).what);
    assert_string_equal(work_look(0).what, "points");
    work_end(&points);
    assert_null(work_look(0).what);
}

TEST(a_loop_that_begins_anew_counts_from_zero)
{
    struct work w;
    work_begin(&w, "points", 8);
    work_step(&w, 8);
    work_end(&w);
    work_begin(&w, "draws", 5);
    assert_true(work_look(0).done == 0 && work_look(0).total == 5);
    work_end(&w);
}

TEST(what_never_began_may_end)
{
    struct work w = { 0 }, points;
    work_begin(&points, "points", 8);
    work_end(&w);
    assert_string_equal(work_look(0).what, "points");
    work_end(&points);
}

/* No points: nothing to say. */
TEST(a_loop_without_steps_is_not_told_of)
{
    struct work w;
    work_begin(&w, "points", 0);
    assert_null(work_look(0).what);
    work_end(&w);
}
