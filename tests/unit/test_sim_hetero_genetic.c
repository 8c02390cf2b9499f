#include "tests/settings.h"
#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

TEST(many_generations_end_at_the_cheapest_of_all_plans)
{
    for (int i = 108; i < 300; i += 2) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        if (hetero_fixture_instance(&f, i)) {
            HETERO_RUN(all, &f, "brute-force");
            HETERO_SEARCH(s, &f, "genetic", 8000, 1);
            assert_int_equal(s.value.status, all.value.status);
            if (all.value.status == HETERO_OK)
                assert_close(s.value.usd, all.value.usd, 1e-12);
        }
    }
}

/* Without mutation children are made of what the first generation holds. Two layers are the fewest that have
 * a head and a tail. */
TEST(crossover_makes_better_plans_of_those_drawn)
{
    int gains = 0, of_two = 0;
    for (int i = 252; i < 444; i = i == 299 ? 420 : i + 1) {
        struct hetero_settings settings = hetero_settings_default();
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        settings.genetic.mutation = 0;
        if (hetero_fixture_instance(&f, i)) {
            SEARCH(first, &f.problem, 1, 0, 32);
            SEARCH(later, &f.problem, 1, 0, 320);
            OK(hetero_genetic(&first, &settings, e));
            OK(hetero_genetic(&later, &settings, e));
            assert_false(hetero_is_better(&first.value, &later.value));
            gains += hetero_is_better(&later.value, &first.value);
            of_two += f.profile.n_layers == 2 && hetero_is_better(&later.value, &first.value);
        }
    }
    assert_true(gains > 10 + of_two && of_two > 1);
}

/* Neither crossover nor mutation: children are copies, and the best of the first generation stays. */
TEST(without_crossover_and_mutation_nothing_new_comes)
{
    struct hetero_settings settings = hetero_settings_default();
    settings.genetic.mutation = settings.genetic.crossover = 0;
    HETERO_FIXTURE(f, 260);
    SEARCH(s, &f.problem, 1, 0, 1000);
    OK(hetero_genetic(&s, &settings, e));
    assert_int_equal(s.evaluations, 1000);
    for (int32_t i = 0; i < s.n_curve; i++)
        assert_in_range(s.curve[i].evaluations, 1, settings.genetic.population);
}
