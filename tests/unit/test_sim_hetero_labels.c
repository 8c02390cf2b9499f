/* The cheapest plan within limits that stages share, beside every plan there is. */
#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

TEST(exact_is_the_cheapest_of_all_plans_or_proves_that_there_is_none)
{
    int n_bind = 0, n_none = 0;
    for (int i = 0; i < hetero_fixture_n; i++) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        KEEP(struct hetero_search, brute, hetero_search_free) = { 0 };
        KEEP(struct hetero_search, oracle, hetero_search_free) = { 0 };
        KEEP(struct hetero_search, exact, hetero_search_free) = { 0 };
        if (hetero_fixture_instance(&f, i)) {
            hetero_fixture_run(&brute, &f, "brute-force");
            hetero_fixture_run(&oracle, &f, "oracle");
            hetero_fixture_run(&exact, &f, "exact");
            assert_int_equal(exact.proof, brute.proof);
            if (brute.proof == HETERO_OPTIMAL) {
                assert_close(exact.value.usd, brute.value.usd, 1e-9);
                assert_close(exact.lower_usd, brute.value.usd, 1e-9);
                n_bind += oracle.proof == HETERO_LOWER_BOUND;
            } else {
                assert_true(isnan(exact.lower_usd));
                n_none++;
            }
        }
    }
    assert_true(n_bind >= 20 && n_none >= 20);
}

/* Two layers of one second each on a cheap type with 3 units and a dear one with 5; one second is asked for
 * each, which takes one unit a stage or two together. At twice the speed a stage of both takes 4 units: the
 * cheap type alone has not so many, and as the types are alike but for the price, 2 cheap and 2 dear ones are
 * best. */
TEST(limits_turn_one_stage_into_two)
{
    const struct hetero_setup setup = { .overlap = true, .examples = 3600, .epochs = 1, .server = -1 };
    KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
    OK(hetero_profile_build(&f.profile, 2, 2, e));
    for (int i = 0; i < 4; i++)
        f.profile.compute_s[i] = 1;
    for (int t = 0; t < 2; t++)
        f.profile.types[t].compute_par = 1;
    f.profile.types[0].usd_per_h = 1;
    f.profile.types[0].max_units = 3;
    f.profile.types[1].usd_per_h = 10;
    f.profile.types[1].max_units = 5;
    OK(hetero_build(&f.problem, &f.profile, &setup, e));
    hetero_set_throughput(&f.problem, 1);
    HETERO_RUN(s, &f, "exact");
    assert_close(s.value.usd, 2.0, 1e-12); /* 2 USD/h for 1 s an example */
    hetero_search_free(&s);
    hetero_set_throughput(&f.problem, 2);
    hetero_fixture_run(&s, &f, "exact");
    assert_int_equal(s.proof, HETERO_OPTIMAL);
    assert_close(s.value.usd, 11.0, 1e-12); /* 2 + 20 USD/h for half a second */
}

/* Two layers, each a second on its own type and four on the other, and rows that keep a server busy for less
 * than half of one. Apart they are cheapest at two examples a second, with two units and a server each, and
 * each server has a core. With one core a single server is left, and so one stage: at one example a second
 * all five units of a type. */
TEST(servers_need_hosts_that_stages_share)
{
    enum { SERVER = 2, CORE, N_TYPES };
    static const double compute_s[] = { 1, 4, 1e3, 1e3, 4, 1, 1e3, 1e3 }, usd_per_h[] = { 1, 1, 0.25, 0.5 };
    CASES(int64_t cores; double usd) = { { 2, (2 * 2 + 2 * 0.75) / 2 }, { 1, 5 + 0.75 } };
    const struct hetero_setup setup = {
        .overlap = true, .examples = 3600, .epochs = 1, .server = SERVER, .server_Bps = 1000
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        OK(hetero_profile_build(&f.profile, 2, N_TYPES, e));
        memcpy(f.profile.compute_s, compute_s, sizeof compute_s);
        f.profile.layers[0].sparse_B = f.profile.layers[1].sparse_B = 400;
        for (int t = 0; t < N_TYPES; t++) {
            f.profile.types[t].compute_par = 1;
            f.profile.types[t].usd_per_h = usd_per_h[t];
            f.profile.types[t].max_units = t == CORE ? cases[i].cores : 5;
        }
        f.profile.types[SERVER].host = CORE;
        f.profile.types[SERVER].host_units = 1;
        OK(hetero_build(&f.problem, &f.profile, &setup, e));
        hetero_set_throughput(&f.problem, 1);
        HETERO_RUN(s, &f, "exact");
        assert_int_equal(s.proof, HETERO_OPTIMAL);
        assert_close(s.value.usd, cases[i].usd, 1e-12);
    }
}
