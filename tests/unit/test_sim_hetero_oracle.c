/* The cheapest plan by shortest paths, beside every plan there is. */
#include "sim/hetero/oracle.h"

#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

/* ---- beside all plans ---- */

static void check_optimal(const struct hetero_search *oracle, const struct hetero_search *brute)
{
    assert_int_equal(brute->proof, HETERO_OPTIMAL);
    assert_close(oracle->value.usd, brute->value.usd, 1e-9);
    assert_close(oracle->lower_usd, brute->value.usd, 1e-9);
}

TEST(oracle_is_the_cheapest_of_all_plans_or_says_that_limits_bind)
{
    int n[4] = { 0 };
    for (int i = 0; i < hetero_fixture_n; i++) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        KEEP(struct hetero_search, brute, hetero_search_free) = { 0 };
        KEEP(struct hetero_search, oracle, hetero_search_free) = { 0 };
        if (hetero_fixture_instance(&f, i)) {
            hetero_fixture_run(&brute, &f, "brute-force");
            hetero_fixture_run(&oracle, &f, "oracle");
            n[oracle.proof]++;
            if (oracle.proof == HETERO_OPTIMAL)
                check_optimal(&oracle, &brute);
            else if (brute.proof == HETERO_OPTIMAL)
                assert_true(oracle.lower_usd <= brute.value.usd * (1 + 1e-9));
        }
    }
    assert_true(n[HETERO_OPTIMAL] >= 300 && n[HETERO_LOWER_BOUND] >= 50);
}

/* ---- beside all plans and all units, written down once more from the head of hetero.h ---- */

enum { LAYERS = 3, TYPES = 2, UNITS = 5 };

/* Seconds per example of layers first..last on a type. */
static double written_time_s(const struct hetero_fixture *f, const int *plan, int first, int last, double k)
{
    const struct hetero_profile *p = &f->profile;
    const struct hetero_type *t = &p->types[plan[first]];
    double compute_s = 0, comm_s = 0;
    for (int l = first; l <= last; l++) {
        compute_s += p->compute_s[l * TYPES + plan[first]];
        comm_s += p->sync_s[l * TYPES + plan[first]];
        if (f->problem.setup.handover == HETERO_PER_LAYER ||
            (f->problem.setup.handover == HETERO_PER_STAGE && l == last && l < LAYERS - 1))
            comm_s += p->handover_s[l * TYPES + plan[first]];
    }
    for (int end = 0; end < 2 && f->problem.setup.handover == HETERO_NETWORK; end++) {
        int from = end ? last : first - 1;
        if (from < 0 || from + 1 >= LAYERS)
            continue;
        const struct hetero_link *link = &f->links[plan[first] * TYPES + plan[end ? last + 1 : first - 1]];
        comm_s += link->lat_s + p->batch * p->layers[from].out_B / link->Bps;
    }
    compute_s *= (1 - t->compute_par + t->compute_par / k) / p->batch;
    comm_s *= (1 - t->comm_par + t->comm_par / k) / p->batch;
    return f->problem.setup.overlap ? fmax(compute_s, comm_s) : compute_s + comm_s;
}

/* What a plan costs with units[first] units for the stage that begins there; INFINITY: it may not be. */
static double written_usd(const struct hetero_fixture *f, const int *plan, const int *units)
{
    double slowest_s = 0, usd_per_h = 0;
    int used[TYPES] = { 0 };
    for (int first = 0, last; first < LAYERS; first = last + 1) {
        for (last = first; last + 1 < LAYERS && plan[last + 1] == plan[first];)
            last++;
        slowest_s = fmax(slowest_s, written_time_s(f, plan, first, last, units[first]));
        usd_per_h += units[first] * f->profile.types[plan[first]].usd_per_h;
        used[plan[first]] += units[first];
    }
    for (int t = 0; t < TYPES; t++)
        if (used[t] > f->profile.types[t].max_units)
            return INFINITY;
    if (slowest_s > (1 + 1e-9) / f->problem.per_s)
        return INFINITY;
    return f->problem.setup.epochs * f->problem.setup.examples * slowest_s / 3600 * usd_per_h;
}

static double written_least_usd(const struct hetero_fixture *f)
{
    double least = INFINITY;
    for (int code = 0; code < 1 << LAYERS; code++)
        for (int set = 0; set < UNITS * UNITS * UNITS; set++) {
            const int plan[] = { code & 1, code >> 1 & 1, code >> 2 };
            const int units[] = { 1 + set % UNITS, 1 + set / UNITS % UNITS, 1 + set / UNITS / UNITS };
            least = fmin(least, written_usd(f, plan, units));
        }
    return least;
}

TEST(exact_is_the_cheapest_of_all_plans_and_units)
{
    int n_found = 0, n_bound = 0;
    RNG(rng, 5, 0);
    for (int i = 0; i < 300; i++) {
        const struct hetero_fixture_kind kind = { .n_layers = LAYERS,
                                                  .n_types = TYPES,
                                                  .most_units = UNITS,
                                                  .overlap = i % 2,
                                                  .handover = (enum hetero_handover)(i / 2 % 3),
                                                  .extreme = i / 6 % 2 };
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        KEEP(struct hetero_oracle, bound, hetero_oracle_free);
        KEEP(struct hetero_oracle, exact, hetero_oracle_free);
        double reach_per_s;
        hetero_fixture_draw(&f, rng, &kind);
        OK(hetero_reach(&reach_per_s, NULL, &f.problem, e));
        hetero_set_throughput(&f.problem, reach_per_s * rng_range(rng, 0.2, 1));
        OK(hetero_oracle(&bound, &f.problem, e));
        OK(hetero_exact(&exact, &f.problem, e));
        double usd = written_least_usd(&f);
        assert_int_equal(exact.proof, usd < INFINITY ? HETERO_OPTIMAL : HETERO_NO_PLAN);
        if (usd < INFINITY)
            assert_close(exact.usd, usd, 1e-9);
        if (bound.proof == HETERO_OPTIMAL)
            assert_close(bound.usd, usd, 1e-9);
        n_found += usd < INFINITY;
        n_bound += bound.proof == HETERO_LOWER_BOUND;
    }
    assert_true(n_found >= 200 && n_bound >= 20);
}

/* ---- reach ---- */

/* The next plan; false: that was the last. */
static bool next_plan(hetero_id *plan, const struct hetero_profile *p)
{
    for (int32_t l = 0; l < p->n_layers; l++) {
        if (++plan[l] < p->n_types)
            return true;
        plan[l] = 0;
    }
    return false;
}

/* Of a plan, each stage and its servers with all units, and no more than there are hosts for. */
static double written_reach(const struct hetero_problem *p, const hetero_id *plan)
{
    struct hetero_stage stages[HETERO_MAX_LAYERS];
    const struct hetero_type *types = p->profile->types;
    double slowest_s = 0;
    int32_t n = hetero_stages(stages, p, plan);
    for (int32_t i = 0; i < n; i++) {
        const struct hetero_type *t = &types[stages[i].span.type];
        int64_t k = t->max_units;
        while (t->host >= 0 && k * t->host_units > types[t->host].max_units)
            k--;
        slowest_s = fmax(slowest_s, k > 0 ? hetero_time_s(&stages[i].time, k) : INFINITY);
        if (stages[i].server_s > 0)
            slowest_s = fmax(slowest_s, stages[i].server_s / (double)types[p->setup.server].max_units);
    }
    return 1 / slowest_s;
}

TEST(reach_is_the_largest_throughput_of_all_plans)
{
    for (int i = 0; i < hetero_fixture_n; i++) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        hetero_id plan[HETERO_MAX_LAYERS] = { 0 }, fastest[HETERO_MAX_LAYERS] = { 0 };
        double per_s, most = 0;
        hetero_fixture_instance(&f, i);
        OK(hetero_reach(&per_s, fastest, &f.problem, e));
        do
            most = fmax(most, written_reach(&f.problem, plan));
        while (next_plan(plan, &f.profile));
        assert_close(per_s, most, 1e-12);
        assert_close(written_reach(&f.problem, fastest), most, 1e-12);
    }
}

/* ---- what cannot be, and what is large ---- */

TEST(no_plan_is_faster_than_the_largest_throughput)
{
    for (int i = 0; i < 60; i++) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        if (hetero_fixture_instance(&f, i)) {
            double reach_per_s;
            OK(hetero_reach(&reach_per_s, NULL, &f.problem, e));
            hetero_set_throughput(&f.problem, reach_per_s * 1.001);
            HETERO_RUN(oracle, &f, "oracle");
            HETERO_RUN(exact, &f, "exact");
            assert_true(oracle.proof == HETERO_NO_PLAN && exact.proof == HETERO_NO_PLAN);
            assert_true(isnan(oracle.lower_usd) && isnan(exact.lower_usd));
            assert_int_not_equal(oracle.value.status, HETERO_OK);
            assert_true(oracle.value.reach_per_s <= reach_per_s * (1 + 1e-9));
        }
    }
}

TEST(another_provisioning_makes_its_cost_a_bound)
{
    int n_dearer = 0;
    for (int i = 0; i < hetero_fixture_n; i++) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        if (hetero_fixture_instance(&f, i)) {
            f.problem.setup.provisioning = HETERO_BALANCE;
            HETERO_RUN(oracle, &f, "oracle");
            HETERO_RUN(brute, &f, "brute-force");
            if (oracle.proof == HETERO_OPTIMAL)
                check_optimal(&oracle, &brute);
            else if (brute.value.status == HETERO_OK)
                assert_true(oracle.lower_usd <= brute.value.usd * (1 + 1e-9));
            n_dearer += oracle.value.status == HETERO_OK && oracle.proof == HETERO_LOWER_BOUND;
        }
    }
    assert_true(n_dearer > 0);
}

/* 32^32 plans, several hundred units of each type. */
TEST(large_instances_are_proved_in_few_paths)
{
    for (int i = 0; i < 3; i++) {
        const struct hetero_fixture_kind kind = { .n_layers = 32,
                                                  .n_types = 32,
                                                  .most_units = 800,
                                                  .overlap = true,
                                                  .handover = (enum hetero_handover)i };
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        KEEP(struct hetero_oracle, o, hetero_oracle_free);
        double reach_per_s;
        RNG(rng, 7, (uint64_t)i);
        hetero_fixture_draw(&f, rng, &kind);
        OK(hetero_reach(&reach_per_s, NULL, &f.problem, e));
        hetero_set_throughput(&f.problem, reach_per_s / 4);
        OK(hetero_exact(&o, &f.problem, e));
        assert_true(o.proof == HETERO_OPTIMAL && o.paths < 5000);
    }
}
