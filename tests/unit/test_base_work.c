#include "tests/support.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/work.h"

TEST(three_loops_count_and_a_fourth_within_does_not)
{
    struct work points, plans, flows, more;
    work_begin(&points, "points", 8);
    work_begin(&plans, "plans", 100);
    work_begin(&flows, "flows", 10);
    work_begin(&more, "more", 3);
    work_step(&points, 2);
    work_step(&plans, 40);
    work_step(&plans, 1);
    work_step(&flows, 5);
    work_step(&more, 3);
    struct work_state outer = work_look(0), inner = work_look(1);
    assert_string_equal(outer.what, "points");
    assert_true(outer.done == 2 && outer.total == 8 && outer.at_once == 1 && outer.spent_s >= 0);
    assert_string_equal(inner.what, "plans");
    assert_true(inner.done == 41 && inner.total == 100 && work_look(2).done == 5);
    work_end(&more);
    work_end(&flows);
    work_end(&plans);
    assert_null(work_look(1).what);
    assert_string_equal(work_look(0).what, "points");
    work_end(&points);
    assert_null(work_look(0).what);
}

TEST(the_first_of_many_flows_says_nothing_of_the_others)
{
    struct work flows;
    work_begin(&flows, "flows", 1000);
    work_step(&flows, 9);
    assert_true(isnan(work_left_s()));
    work_step(&flows, 1);
    assert_true(work_left_s() >= 0);
    work_end(&flows);
}

/* Time passes for both alike, so that the ratio of what is left to what was spent is known. */
TEST(what_is_left_follows_from_what_is_done_and_what_is_under_way)
{
    struct work points, plans;
    assert_true(isnan(work_left_s()));
    work_begin(&points, "points", 8);
    work_begin(&plans, "plans", 100);
    assert_true(isnan(work_left_s()));
    work_step(&plans, 50);
    for (double since_s = clock_now_s(); clock_now_s() < since_s + 0.02;) {
    }
    /* Half of one of eight. */
    double before_s = work_look(0).spent_s, left_s = work_left_s(), after_s = work_look(0).spent_s;
    assert_true(left_s >= 15 * before_s && left_s <= 15 * after_s);
    /* The last point is there but for one plan of a hundred: it takes its time. */
    work_step(&points, 7);
    work_step(&plans, -49);
    before_s = work_look(1).spent_s;
    left_s = work_left_s();
    after_s = work_look(1).spent_s;
    assert_true(left_s >= 99 * before_s * (1 - 1e-9) && left_s <= 99 * after_s * (1 + 1e-9));
    work_end(&plans);
    work_end(&points);
    assert_true(isnan(work_left_s()));
}

/* A step of four parts, of which one and a half are done. */
TEST(parts_of_a_step_count_for_the_time_that_is_left)
{
    struct work units, steps;
    work_begin(&units, "units", 10);
    work_step(&units, 1);
    work_part(&units, 4, 1);
    work_begin(&steps, "steps", 100);
    work_step(&steps, 50);
    for (double since_s = clock_now_s(); clock_now_s() < since_s + 0.02;) {
    }
    double before_s = work_look(0).spent_s, left_s = work_left_s(), after_s = work_look(0).spent_s,
           done = 1.375;
    assert_true(left_s >= (10 / done - 1) * before_s * (1 - 1e-9));
    assert_true(left_s <= (10 / done - 1) * after_s * (1 + 1e-9));
    work_end(&steps);
    work_end(&units);
}

/* What runs beside a loop is taken to be as far as that one. */
TEST(loops_of_other_threads_are_beside_and_not_within)
{
    struct work points;
    double left_s = NAN, before_s = NAN, after_s = NAN;
    int64_t at_once = 0;
    const char *within = "none";
    work_begin(&points, "points", 8);
#pragma omp parallel num_threads(3)
    {
        struct work plans;
        work_begin(&plans, "plans", 100);
        work_step(&plans, 50);
#pragma omp barrier
#pragma omp single
        {
            before_s = work_look(0).spent_s;
            left_s = work_left_s();
            after_s = work_look(0).spent_s;
            at_once = work_look(1).at_once;
            within = work_look(2).what;
        }
        work_end(&plans);
    }
    assert_int_equal(at_once, 3);
    assert_null(within);
    /* Three halves of eight are done. */
    assert_true(left_s >= 6.5 / 1.5 * before_s * (1 - 1e-9) && left_s <= 6.5 / 1.5 * after_s * (1 + 1e-9));
    assert_true(work_look(1).at_once == 1);
    work_end(&points);
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

/* In a process of its own, as it is for good. */
TEST(work_that_is_stopped_stays_so_and_is_no_fault_of_the_input)
{
    assert_false(work_stopped());
    OK(work_check(e));
    pid_t child = fork();
    if (child == 0) {
        work_stop();
        _exit(work_stopped() && work_check(e) == ERR_STOPPED && e->code == ERR_STOPPED &&
                      err_is_of_machine(ERR_STOPPED)
                  ? 0
                  : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Looks at 5, 10, 20, .. s at work of 700 s whose share done is a power of time, or doubles every 20 s: what
 * is announced is right within a factor of 3, and of an even pace it is announced. */
TEST(an_end_is_announced_where_two_looks_agree)
{
    const double all_s = 700;
    for (double power = 0.1; power < 4; power += 0.05) {
        double before_s = NAN;
        int announced = 0;
        for (double now_s = 5; now_s < all_s; now_s *= 2) {
            double share = power < 0.12 ? exp2((now_s - all_s) / 20) : pow(now_s / all_s, power);
            double left_s = share >= 0.01 ? now_s / share - now_s : (double)NAN;
            if (!work_is_steady(&before_s, now_s, left_s))
                continue;
            announced++;
            assert_true(left_s <= 3 * (all_s - now_s) && left_s >= (all_s - now_s) / 3);
        }
        if (fabs(power - 1) < 0.02)
            assert_int_equal(announced, 5);
        if (power < 0.5 || power > 1.5)
            assert_int_equal(announced, 0);
    }
}
