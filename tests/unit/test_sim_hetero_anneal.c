#include "tests/settings.h"
#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

/* Instances of 4 to 6 layers on 3 or 4 types: 81 to 4096 plans. Where the throughput asked for is all that is
 * reached, most plans fail, and the walk has to find its way to one that does not. */
TEST(a_slow_walk_ends_at_the_cheapest_of_all_plans)
{
    for (int i = 108; i < 300; i += 2) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        if (hetero_fixture_instance(&f, i)) {
            HETERO_RUN(all, &f, "brute-force");
            HETERO_SEARCH(walk, &f, "anneal", 8000, 1);
            /* Of plans that fail alike, one may be short of units and the other too slow. */
            assert_int_equal(walk.value.status == HETERO_OK, all.value.status == HETERO_OK);
            if (all.value.status == HETERO_OK)
                assert_close(walk.value.usd, all.value.usd, 1e-12);
            else
                assert_close(walk.value.reach_per_s, all.value.reach_per_s, 1e-12);
        }
    }
}

/* At no temperature only what is not worse is taken, at a boundless one everything is, and the walk forgets
 * what it found: within 40 steps the cold one finds more. */
TEST(a_cold_walk_finds_more_than_a_hot_one)
{
    int cold_wins = 0, hot_wins = 0;
    for (int i = 204; i < 252; i++) {
        struct hetero_settings settings = hetero_settings_default();
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        struct hetero_search s[2];
        if (hetero_fixture_instance(&f, i)) {
            for (int k = 0; k < 2; k++) {
                settings.anneal.hot = settings.anneal.cold = k == 0 ? 1e-9 : 1e9;
                OK(hetero_search_build(&s[k], &f.problem, 1, 0, 40, e));
                OK(hetero_anneal(&s[k], &settings, e));
            }
            cold_wins += hetero_is_better(&s[0].value, &s[1].value);
            hot_wins += hetero_is_better(&s[1].value, &s[0].value);
            hetero_search_free(&s[0]);
            hetero_search_free(&s[1]);
        }
    }
    assert_true(cold_wins > 2 * hot_wins);
}

/* 243 plans of 5 layers on 3 types. Layers by themselves leave out a given one with probability e^-41; in
 * stages, the rarest kind, of 5 stages, has at least half of a share of 1/243 * E[(1 - s)^4] = 1/1215: e^-8.
 */
TEST(random_draws_find_the_cheapest_of_few_plans)
{
    static const char *const names[] = { "random", "random-stages" };
    for (int i = 160; i < 250; i += 9)
        for (size_t k = 0; k < COUNT_OF(names); k++) {
            KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
            if (hetero_fixture_instance(&f, i)) {
                HETERO_RUN(all, &f, "brute-force");
                HETERO_SEARCH(s, &f, names[k], 10000, 1);
                assert_false(hetero_is_better(&all.value, &s.value));
            }
        }
}
