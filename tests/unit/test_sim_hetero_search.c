#include "sim/hetero/search.h"
#include "tests/settings.h"
#include "tests/support.h"

/*
 * Two layers on a cheap and slow, a dear and fast and a hopeless type, 3600 examples, nothing shared. At 1/4
 * an example per second:
 *
 *     plan      0,0     0,1     1,0     1,1     with a 2
 *     seconds   4 + 2   4 | 1   1 | 2   1 + 1   >= 50
 *     USD       fails   4 * 6   2 * 6   2 * 5   fails
 */
struct fixture {
    struct hetero_profile profile;
    struct hetero_problem problem;
    struct hetero_search search;
};

static const hetero_id slow[] = { 0, 0 }, split[] = { 0, 1 }, turned[] = { 1, 0 }, fast[] = { 1, 1 },
                       hopeless[] = { 2, 0 };

static void fixture_problem(struct fixture *x)
{
    static const double compute_s[] = { 4, 1, 50, 2, 1, 50 }, usd_per_h[] = { 1, 5, 1 };
    const struct hetero_setup setup = { .overlap = true, .examples = 3600, .epochs = 1, .server = -1 };
    MUST(hetero_profile_build(&x->profile, 2, 3, e));
    memcpy(x->profile.compute_s, compute_s, sizeof compute_s);
    for (int32_t t = 0; t < 3; t++)
        x->profile.types[t].usd_per_h = usd_per_h[t];
    MUST(hetero_profile_check(&x->profile, e));
    MUST(hetero_build(&x->problem, &x->profile, &setup, e));
    hetero_set_throughput(&x->problem, 0.25);
}

static void fixture_build(struct fixture *x, int64_t budget)
{
    fixture_problem(x);
    MUST(hetero_search_build(&x->search, &x->problem, 1, 0, budget, e));
}

static void fixture_free(struct fixture *x)
{
    hetero_search_free(&x->search);
    hetero_free(&x->problem);
    hetero_profile_free(&x->profile);
}

#define FIXTURE(v, ...)                                                                                      \
    KEEP(struct fixture, v, fixture_free);                                                                   \
    fixture_build(&v, __VA_ARGS__)

static void check_best(const struct hetero_search *s, const hetero_id *plan)
{
    assert_int_equal(s->best[0], plan[0]);
    assert_int_equal(s->best[1], plan[1]);
}

static struct hetero_value try(struct fixture *x, const hetero_id *plan)
{
    struct hetero_value v;
    hetero_try(&x->search, plan, &v);
    return v;
}

/* ---- what is kept ---- */

TEST(the_cheapest_plan_tried_is_kept)
{
    FIXTURE(x, 100);
    assert_close(try(&x, split).usd, 24, 1e-12);
    check_best(&x.search, split);
    assert_close(try(&x, fast).usd, 10, 1e-12);
    check_best(&x.search, fast);
    assert_close(try(&x, turned).usd, 12, 1e-12);
    check_best(&x.search, fast);
    assert_int_equal(try(&x, slow).status, HETERO_TOO_SLOW);
    check_best(&x.search, fast);
    assert_close(x.search.value.usd, 10, 1e-12);
    assert_int_equal(x.search.evaluations, 4);
}

TEST(of_plans_that_all_fail_the_nearest_is_kept)
{
    FIXTURE(x, 100);
    assert_close(try(&x, hopeless).reach_per_s, 1 / 50.0, 1e-9);
    check_best(&x.search, hopeless);
    assert_close(try(&x, slow).reach_per_s, 1 / 6.0, 1e-9);
    check_best(&x.search, slow);
    try(&x, hopeless);
    check_best(&x.search, slow);
    assert_int_equal(x.search.n_curve, 0); /* nothing has a cost */
    try(&x, split);
    check_best(&x.search, split);
    assert_int_equal(x.search.n_curve, 1);
}

TEST(of_equal_plans_the_first_is_kept)
{
    KEEP(struct fixture, x, fixture_free);
    fixture_problem(&x);
    x.profile.types[2] = x.profile.types[1];
    x.profile.compute_s[2] = x.profile.compute_s[5] = 1;
    hetero_free(&x.problem);
    const struct hetero_setup setup = { .overlap = true, .examples = 3600, .epochs = 1, .server = -1 };
    static const hetero_id twin[] = { 2, 2 };
    OK(hetero_build(&x.problem, &x.profile, &setup, e));
    OK(hetero_search_build(&x.search, &x.problem, 1, 0, 100, e));
    hetero_set_throughput(&x.problem, 0.25);
    assert_true(try(&x, twin).usd == try(&x, fast).usd);
    check_best(&x.search, twin);
}

TEST(the_curve_has_every_improvement)
{
    static const struct hetero_curve_point want[] = { { 2, 24 }, { 4, 12 }, { 6, 10 } };
    FIXTURE(x, 100);
    const hetero_id *const plans[] = { slow, split, split, turned, split, fast, fast, turned };
    for (size_t i = 0; i < COUNT_OF(plans); i++)
        try(&x, plans[i]);
    assert_int_equal(x.search.n_curve, COUNT_OF(want));
    for (size_t i = 0; i < COUNT_OF(want); i++) {
        assert_int_equal(x.search.curve[i].evaluations, want[i].evaluations);
        assert_close(x.search.curve[i].usd, want[i].usd, 1e-12);
    }
    assert_int_equal(x.search.evaluations, COUNT_OF(plans));
    assert_false(x.search.failed);
}

TEST(a_search_may_go_on_until_its_budget_is_used)
{
    FIXTURE(x, 2);
    assert_true(hetero_may_try(&x.search));
    try(&x, slow);
    assert_true(hetero_may_try(&x.search));
    try(&x, slow);
    assert_false(hetero_may_try(&x.search));
}

TEST(better_is_cheaper_or_nearer_to_the_throughput)
{
    const struct hetero_value cheap = { HETERO_OK, 1, 1, 1, NAN }, dear = { HETERO_OK, 2, 9, 1, NAN },
                              near = { HETERO_SCARCE, NAN, NAN, NAN, 5 },
                              far = { HETERO_TOO_SLOW, NAN, NAN, NAN, 4 };
    const struct hetero_value *const order[] = { &cheap, &dear, &near, &far };
    for (size_t i = 0; i < COUNT_OF(order); i++)
        for (size_t k = 0; k < COUNT_OF(order); k++)
            assert_int_equal(hetero_is_better(order[i], order[k]), i < k);
}

TEST(a_search_that_tried_nothing_has_nothing)
{
    struct fixture x;
    fixture_build(&x, 0);
    assert_int_not_equal(x.search.value.status, HETERO_OK);
    assert_true(isnan(x.search.value.usd) && isnan(x.search.value.per_s) && isnan(x.search.lower_usd));
    assert_int_equal(x.search.proof, HETERO_UNPROVED);
    fixture_free(&x);
    hetero_search_free(&x.search); /* twice is fine */
}

/* ---- schedulers ---- */

static int32_t scheduler(const char *name)
{
    for (int32_t i = 0; i < n_hetero_schedulers; i++)
        if (strcmp(hetero_schedulers[i].name, name) == 0)
            return i;
    fail_msg("no scheduler '%s'", name);
    return -1;
}

TEST(names_of_schedulers_differ)
{
    for (int32_t i = 0; i < n_hetero_schedulers; i++)
        assert_int_equal(scheduler(hetero_schedulers[i].name), i);
}

TEST(a_schedule_ends_with_the_units_of_its_plan)
{
    struct hetero_settings settings = hetero_settings_default();
    KEEP(struct fixture, x, fixture_free);
    fixture_problem(&x);
    settings.evaluations = 500;
    OK(hetero_schedule(&x.search, &x.problem, scheduler("random"), &settings, 1, e));
    assert_int_equal(x.search.evaluations, 500);
    check_best(&x.search, fast);
    assert_true(x.search.work.n_stages == 1 && x.search.work.units[0] == 1);
    assert_true(x.search.work.of_type[1] == 1 && x.search.work.of_type[0] == 0);
}

/* After one draw, so that the plan is the one drawn. */
TEST(draws_depend_on_the_seed_and_on_the_name)
{
    WITH(struct hetero_settings, settings, hetero_settings_default(), settings.evaluations = 1);
    int32_t differ = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        KEEP(struct fixture, x, fixture_free);
        hetero_id plans[3][2];
        fixture_problem(&x);
        for (int i = 0; i < 3; i++) {
            OK(hetero_schedule(&x.search, &x.problem, scheduler("random"), &settings,
                               i < 2 ? seed : seed + 1000, e));
            memcpy(plans[i], x.search.best, sizeof plans[i]);
            hetero_search_free(&x.search);
        }
        assert_memory_equal(plans[0], plans[1], sizeof plans[0]);
        differ += memcmp(plans[0], plans[2], sizeof plans[0]) != 0;
    }
    assert_true(differ > 10); /* 1 in 3 draws of two layers are alike by chance at most */
}
