#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

/*
 * Nothing is handed over, units divide all work, and at one example a second each layer needs a whole number
 * of units on each type: a plan costs at least the sum over its layers of units times price, at any
 * throughput, and exactly that at the one asked for. So each layer's cheapest type makes the cheapest plan,
 * whatever the others do, and greedy must find it.
 */
TEST(where_layers_do_not_meet_greedy_is_optimal)
{
    enum { LAYERS = 7, TYPES = 5 };
    const struct hetero_setup setup = { .overlap = true, .examples = 3600, .epochs = 1, .server = -1 };
    RNG(rng, 2, 0);
    for (int i = 0; i < 50; i++) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        double want_usd = 0;
        OK(hetero_profile_build(&f.profile, LAYERS, TYPES, e));
        for (int32_t t = 0; t < TYPES; t++) {
            f.profile.types[t].compute_par = 1;
            f.profile.types[t].usd_per_h = rng_log_range(rng, 0.1, 10);
        }
        for (int32_t l = 0; l < LAYERS; l++) {
            double least_usd = INFINITY;
            for (int32_t t = 0; t < TYPES; t++) {
                double units = 1 + (double)rng_below(rng, 40);
                f.profile.compute_s[l * TYPES + t] = units;
                least_usd = fmin(least_usd, units * f.profile.types[t].usd_per_h);
            }
            want_usd += least_usd;
        }
        OK(hetero_build(&f.problem, &f.profile, &setup, e));
        hetero_set_throughput(&f.problem, 1);
        HETERO_RUN(s, &f, "greedy");
        assert_close(s.value.usd, want_usd, 1e-9);
        assert_int_equal(s.evaluations, TYPES + LAYERS * (TYPES - 1));
    }
}

/* The best of the plans that are `plan` but for layers first..last, which are of one type. */
static struct hetero_value best_type(hetero_id *plan, int32_t first, int32_t last,
                                     const struct hetero_problem *p, struct hetero_work *w)
{
    struct hetero_value best, v;
    int32_t now = plan[first], type = now;
    hetero_evaluate(&best, p, plan, w);
    for (int32_t t = 0; t < p->profile->n_types; t++) {
        for (int32_t l = first; l <= last; l++)
            plan[l] = (hetero_id)t;
        hetero_evaluate(&v, p, plan, w);
        if (hetero_is_better(&v, &best)) {
            best = v;
            type = t;
        }
    }
    for (int32_t l = first; l <= last; l++)
        plan[l] = (hetero_id)type;
    return best;
}

TEST(each_layer_is_on_its_best_type_given_those_before)
{
    for (int i = 0; i < hetero_fixture_n; i += 5) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        struct hetero_value v, before;
        hetero_id plan[HETERO_MAX_LAYERS] = { 0 };
        if (hetero_fixture_instance(&f, i)) {
            int32_t n = f.profile.n_layers;
            KEEP(struct hetero_work, w, hetero_work_free);
            OK(hetero_work_build(&w, &f.problem, e));
            v = best_type(plan, 0, n - 1, &f.problem, &w);
            do {
                before = v;
                for (int32_t l = 0; l < n; l++)
                    v = best_type(plan, l, l, &f.problem, &w);
            } while (v.status != HETERO_OK && hetero_is_better(&v, &before));
            HETERO_RUN(s, &f, "greedy");
            assert_memory_equal(s.best, plan, (size_t)n * sizeof *plan);
            assert_int_equal(s.value.status, v.status);
        }
    }
}

/*
 * No work is shared, and an example in 3 seconds is asked for. All on type 0 takes 9.1 seconds, less than on
 * another type. Layer 0 leaves 5.1 for the others, be it on type 1 or 2: type 1 comes first, and its 3.5
 * seconds are in the way when layer 2 has moved as well. In the second round it finds type 2.
 */
TEST(while_plans_fail_the_layers_are_gone_through_again)
{
    static const double compute_s[] = { 4, 3.5, 1, 0.1, 9, 9, 5, 1, 1 };
    static const hetero_id want[] = { 2, 0, 1 };
    const struct hetero_setup setup = { .overlap = true, .examples = 3600, .epochs = 1, .server = -1 };
    KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
    OK(hetero_profile_build(&f.profile, 3, 3, e));
    memcpy(f.profile.compute_s, compute_s, sizeof compute_s);
    for (int32_t t = 0; t < 3; t++)
        f.profile.types[t].usd_per_h = 1;
    OK(hetero_build(&f.problem, &f.profile, &setup, e));
    hetero_set_throughput(&f.problem, 1 / 3.);
    HETERO_RUN(s, &f, "greedy");
    assert_int_equal(s.value.status, HETERO_OK);
    assert_memory_equal(s.best, want, sizeof want);
    assert_int_equal(s.evaluations, 3 + 2 * 3 * 2);
}
