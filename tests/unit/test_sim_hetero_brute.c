#include "tests/settings.h"
#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

static void draw(struct hetero_fixture *f, int32_t n_layers, int32_t n_types)
{
    const struct hetero_fixture_kind kind = { .n_layers = n_layers, .n_types = n_types, .most_units = 50 };
    RNG(rng, 3, 0);
    hetero_fixture_draw(f, rng, &kind);
}

TEST(every_plan_is_tried_once)
{
    KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
    draw(&f, 4, 3);
    hetero_set_throughput(&f.problem, 1e-6);
    HETERO_RUN(s, &f, "brute-force");
    assert_true(s.evaluations == 81 && s.proof == HETERO_OPTIMAL);
    assert_close(s.lower_usd, s.value.usd, 1e-15);
}

TEST(what_no_plan_reaches_has_no_plan)
{
    KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
    draw(&f, 3, 2);
    hetero_set_throughput(&f.problem, 1e9);
    HETERO_RUN(s, &f, "brute-force");
    assert_true(s.proof == HETERO_NO_PLAN && isnan(s.lower_usd));
}

TEST(too_many_plans_are_refused)
{
    const struct hetero_settings settings = hetero_settings_default();
    KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
    KEEP(struct hetero_search, s, hetero_search_free);
    int32_t which = 0;
    draw(&f, 16, 3);
    while (strcmp(hetero_schedulers[which].name, "brute-force") != 0)
        which++;
    hetero_set_throughput(&f.problem, 1e-6);
    FAILS(hetero_schedule(&s, &f.problem, which, &settings, 1, e), ERR_RANGE,
          "brute-force: plans are 3^16, expected at most 4194304");
}
