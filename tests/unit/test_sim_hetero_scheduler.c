/* What all schedulers that search have to keep. */
#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

static const char *const searches[] = {
    "greedy",        "genetic",   "bayes",    "anneal",   "random",
    "random-stages", "heuristic", "gpu-only", "cpu-only", "random+local"
};
static const char *const seeded[] = { "genetic", "bayes", "anneal", "random", "random-stages" };

/* Of schedulers that need a CPU and a GPU there are none on one type. */
static bool can_run(const struct hetero_fixture *f, const char *name)
{
    bool needs_gpu = strcmp(name, "heuristic") == 0 || strcmp(name, "gpu-only") == 0;
    return !needs_gpu || f->profile.n_types > 1;
}

static void check_value(const struct hetero_search *s)
{
    KEEP(struct hetero_work, w, hetero_work_free);
    struct hetero_value v;
    MUST(hetero_work_build(&w, s->problem, e));
    hetero_evaluate(&v, s->problem, s->best, &w);
    assert_int_equal(s->value.status, v.status);
    assert_true(v.status == HETERO_OK ? s->value.usd == v.usd : s->value.reach_per_s == v.reach_per_s);
}

/* Only shapes with few plans; of all 450 instances these are the first 300. */
TEST(a_plan_costs_what_it_is_said_to_and_none_less_than_the_cheapest)
{
    for (int i = 0; i < 300; i += 300 / repeats(75)) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        if (hetero_fixture_instance(&f, i)) {
            HETERO_RUN(all, &f, "brute-force");
            for (size_t k = 0; k < COUNT_OF(searches); k++) {
                if (!can_run(&f, searches[k]))
                    continue;
                HETERO_SEARCH(s, &f, searches[k], 60, 1);
                check_value(&s);
                assert_false(hetero_is_better(&s.value, &all.value));
            }
        }
    }
}

TEST(plans_that_are_not_searched_for_do_not_depend_on_the_budget)
{
    static const char *const unbound[] = { "greedy", "bayes", "heuristic", "gpu-only", "cpu-only" };
    for (int i = 40; i < hetero_fixture_n; i += 37)
        for (size_t k = 0; k < COUNT_OF(unbound); k++) {
            KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
            if (hetero_fixture_instance(&f, i) && can_run(&f, unbound[k])) {
                HETERO_SEARCH(few, &f, unbound[k], 1, 1);
                HETERO_SEARCH(many, &f, unbound[k], 1000000, 1);
                assert_int_equal(few.evaluations, many.evaluations);
                assert_memory_equal(few.best, many.best, (size_t)f.profile.n_layers * sizeof *few.best);
            }
        }
}

TEST(no_more_plans_are_tried_than_the_budget_has)
{
    /* A local search comes on top, the others are not bound by it. */
    static const char *const bound[] = { "genetic", "anneal", "random", "random-stages" };
    static const int64_t budgets[] = { 0, 1, 2, 5, 31, 33, 70 };
    for (int i = 40; i < hetero_fixture_n; i += 37)
        for (size_t b = 0; b < COUNT_OF(budgets); b++)
            for (size_t k = 0; k < COUNT_OF(bound); k++) {
                KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
                if (hetero_fixture_instance(&f, i)) {
                    HETERO_SEARCH(s, &f, bound[k], budgets[b], 1);
                    assert_in_range(s.evaluations, budgets[b] > 0, budgets[b]);
                }
            }
}

static bool same(const struct hetero_search *a, const struct hetero_search *b)
{
    size_t bytes = (size_t)a->problem->profile->n_layers * sizeof *a->best;
    return a->evaluations == b->evaluations && a->n_curve == b->n_curve &&
           memcmp(a->best, b->best, bytes) == 0;
}

TEST(the_same_seed_gives_the_same_plan)
{
    HETERO_FIXTURE(f, hetero_fixture_n - 1);
    for (size_t k = 0; k < COUNT_OF(searches); k++)
        for (uint64_t seed = 1; seed <= 3; seed++) {
            HETERO_SEARCH(a, &f, searches[k], 50, seed);
            HETERO_SEARCH(b, &f, searches[k], 50, seed);
            assert_true(same(&a, &b));
        }
}

/* 4^8 plans, of which few are tried: two seeds that try the same ones do not draw. */
TEST(seeds_matter_to_those_that_draw_and_to_no_others)
{
    HETERO_FIXTURE(f, hetero_fixture_n - 1);
    for (size_t k = 0; k < COUNT_OF(searches); k++) {
        int differ = 0, draws = strcmp(searches[k], "random+local") == 0;
        for (size_t i = 0; i < COUNT_OF(seeded); i++)
            draws |= strcmp(searches[k], seeded[i]) == 0;
        for (uint64_t seed = 1; seed <= 8; seed += 2) {
            HETERO_SEARCH(a, &f, searches[k], 20, seed);
            HETERO_SEARCH(b, &f, searches[k], 20, seed + 1);
            differ += !same(&a, &b);
        }
        assert_int_equal(differ > 0, draws);
    }
}
