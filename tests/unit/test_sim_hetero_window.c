#include "sim/hetero/oracle.h"

#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

/* An instance whose cheapest plan is within the limits. */
enum { PLAIN = 190 };

TEST(search_ends_with_a_bound_that_is_its_cost)
{
    for (int i = 0; i < hetero_fixture_n; i++) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        if (hetero_fixture_instance(&f, i)) {
            KEEP(struct hetero_windows, found, hetero_windows_free);
            OK(hetero_windows(&found, &f.problem, NULL, NULL, e));
            assert_true(found.cost < INFINITY); /* the throughput asked for is reached by each stage alone */
            assert_close(found.lower, found.cost, 1e-12);
            assert_true(found.paths < 2000);
        }
    }
}

/* A rule that looks at nothing. */
struct answer {
    enum { ALLOW_NONE, ALLOW_ALL, GIVE_UP } what;
    int n_asked;
    double asked; /* the cost it was asked for last */
};

static int answer(double *cost, hetero_id *plan, bool *complete, void *context, struct hetero_paths *x,
                  const struct hetero_arcs *arcs, const struct hetero_window *w, double most, struct err *e)
{
    struct answer *a = context;
    (void)x, (void)arcs, (void)w, (void)most, (void)e;
    a->n_asked++;
    a->asked = *cost;
    if (a->what == ALLOW_NONE)
        *cost = INFINITY;
    if (a->what == GIVE_UP) {
        *complete = false;
        plan[0] = -1;
    }
    return 0;
}

TEST(rule_that_allows_nothing_leaves_no_plan)
{
    HETERO_FIXTURE(f, PLAIN);
    KEEP(struct hetero_windows, found, hetero_windows_free);
    struct answer none = { .what = ALLOW_NONE };
    OK(hetero_windows(&found, &f.problem, answer, &none, e));
    assert_true(found.cost == INFINITY && found.lower == INFINITY);
}

TEST(rule_that_gives_up_leaves_the_bound_of_its_window)
{
    HETERO_FIXTURE(f, PLAIN);
    KEEP(struct hetero_windows, found, hetero_windows_free);
    struct answer give_up = { .what = GIVE_UP };
    OK(hetero_windows(&found, &f.problem, answer, &give_up, e));
    assert_true(found.cost == INFINITY);
    assert_close(found.lower, give_up.asked, 1e-15);
}

TEST(rule_that_allows_all_changes_nothing)
{
    HETERO_FIXTURE(f, PLAIN);
    KEEP(struct hetero_windows, found, hetero_windows_free);
    KEEP(struct hetero_windows, ruled, hetero_windows_free);
    struct answer all = { .what = ALLOW_ALL };
    OK(hetero_windows(&found, &f.problem, NULL, NULL, e));
    OK(hetero_windows(&ruled, &f.problem, answer, &all, e));
    assert_close(ruled.cost, found.cost, 1e-12);
    assert_close(ruled.lower, found.lower, 1e-12);
    assert_true(all.n_asked > 0);
}
