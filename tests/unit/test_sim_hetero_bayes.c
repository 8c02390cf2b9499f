#include "tests/settings.h"
#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

/* 4 plans, or those of one layer on 5 types, and 80 trials: the model leaves none of them out. */
TEST(of_few_plans_the_cheapest_is_found)
{
    for (int i = 12; i < 108; i += 3) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        if (hetero_fixture_instance(&f, i)) {
            HETERO_RUN(all, &f, "brute-force");
            HETERO_RUN(s, &f, "bayes");
            assert_false(hetero_is_better(&all.value, &s.value));
        }
    }
}

/* 243 plans, 40 trials each: the model has to be worth something. */
TEST(it_finds_more_than_as_many_plans_at_random)
{
    int wins = 0, losses = 0;
    for (int i = 156; i < 252; i += 3) {
        struct hetero_settings settings = hetero_settings_default();
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        settings.bayes.evaluations = 40;
        if (hetero_fixture_instance(&f, i)) {
            SEARCH(s, &f.problem, 1, 0, 1000);
            OK(hetero_bayes(&s, &settings, e));
            HETERO_SEARCH(drawn, &f, "random-stages", 40, 1);
            assert_int_equal(s.evaluations, 40);
            wins += hetero_is_better(&s.value, &drawn.value);
            losses += hetero_is_better(&drawn.value, &s.value);
        }
    }
    assert_true(wins > 2 * losses);
}

TEST(it_has_a_budget_of_its_own)
{
    const struct hetero_settings settings = hetero_settings_default();
    HETERO_FIXTURE(f, 70);
    SEARCH(s, &f.problem, 1, 0, 1);
    OK(hetero_bayes(&s, &settings, e));
    assert_int_equal(s.evaluations, settings.bayes.evaluations);
}

/* Plans that come again add nothing to the model; the trials go on. */
TEST(without_noise_it_goes_on)
{
    WITH(struct hetero_settings, settings, hetero_settings_default(), settings.bayes.noise = 0);
    HETERO_FIXTURE(f, 70);
    SEARCH(s, &f.problem, 1, 0, 1000);
    OK(hetero_bayes(&s, &settings, e));
    assert_int_equal(s.evaluations, settings.bayes.evaluations);
}
