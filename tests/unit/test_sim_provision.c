#include "sim/hetero/hetero.h"
#include "tests/unit/provision_random.h"

/* The units that are told are in the limits, and of the cost and throughput that are told. */
static void check_units(const struct provision_case *c, const struct hetero_value *v)
{
    struct provision_part parts[PROVISION_PARTS];
    int64_t units[PROVISION_PARTS], of_type[PROVISION_TYPES] = { 0 };
    const struct hetero_type *types = c->profile.types;
    const int32_t n = provision_parts(parts, c);
    for (int32_t i = 0; i < n; i++) {
        const struct hetero_type *t = &types[parts[i].type];
        /* Servers are as many as the throughput takes. */
        units[i] = parts[i].stage >= 0 ? c->work.units[parts[i].stage]
                                       : (int64_t)ceil(v->per_s * parts[i].shared_s[0] * (1 - 1e-9));
        of_type[parts[i].type] += units[i];
        if (t->host >= 0)
            of_type[t->host] += units[i] * t->host_units;
    }
    const struct provision_sum s = provision_sum(c, parts, units, n);
    assert_true(s.fits);
    assert_close(s.usd, v->usd, 1e-12);
    assert_close(s.usd_per_h, v->usd_per_h, 1e-12);
    assert_close(s.per_s, v->per_s, 1e-12);
    assert_true(v->per_s >= c->problem.per_s * (1 - 1e-8));
    for (int32_t t = 0; t < c->profile.n_types; t++)
        assert_int_equal(c->work.of_type[t], of_type[t]);
}

static void check_value(const struct provision_case *c, const struct hetero_value *v,
                        const struct provision_best *best)
{
    if (isfinite(best->usd)) {
        assert_int_equal(v->status, HETERO_OK);
        assert_close(v->usd, best->usd, 1e-11);
        assert_true(isnan(v->reach_per_s));
        check_units(c, v);
    } else {
        assert_int_not_equal(v->status, HETERO_OK);
        assert_true(isnan(v->usd) && isnan(v->per_s) && isnan(v->usd_per_h));
        assert_close(v->reach_per_s, best->reach_per_s, 1e-8);
    }
}

/* So that enumeration ends. */
static int64_t few_units(int32_t n_parts)
{
    static const int64_t most[] = { 1, 60, 40, 20, 10, 7, 5, 4, 3 };
    return most[n_parts];
}

static struct provision_kind draw_kind(struct rng *rng)
{
    struct provision_kind k = { .n_stages = 2 + (int32_t)rng_below(rng, 3),
                                .n_types = 2 + (int32_t)rng_below(rng, 3),
                                .hosts = rng_below(rng, 3) == 0,
                                .servers = rng_below(rng, 3) == 0,
                                .overlap = rng_below(rng, 2) == 0,
                                .handover = (enum hetero_handover)rng_below(rng, 3) };
    k.max_units = few_units((k.servers ? 2 : 1) * k.n_stages);
    return k;
}

TEST(exact_units_are_the_cheapest_of_all_numbers)
{
    enum { CASES = 1200 };
    int32_t n_fail = 0, n_shared = 0;
    RNG(rng, 1, 0);
    for (int i = 0; i < CASES; i++) {
        const struct provision_kind kind = draw_kind(rng);
        struct hetero_value v;
        double first_usd;
        PROVISION(c, &kind, rng);
        double reach_per_s = provision_walk(&first_usd, &c, 0).reach_per_s;
        double per_s = (reach_per_s > 0 ? reach_per_s : 1) * rng_range(rng, 0.02, 1.1);
        const struct provision_best best = provision_enumerate(&c, per_s);
        hetero_set_throughput(&c.problem, per_s);
        hetero_evaluate(&v, &c.problem, c.plan, &c.work);
        check_value(&c, &v, &best);
        n_fail += v.status != HETERO_OK;
        n_shared += v.status == HETERO_SCARCE && v.reach_per_s > 0;
    }
    assert_in_range(n_fail, CASES / 20, CASES / 2);
    assert_true(n_shared > 20); /* shared limits bind */
}

/* Facts of whole units: without them, the throughput asked for would be the cheapest. */
TEST(the_least_units_that_reach_the_throughput_are_often_not_the_cheapest)
{
    int32_t n_ok = 0, n_dearer = 0;
    RNG(rng, 2, 0);
    for (int i = 0; i < 400; i++) {
        const struct provision_kind kind = { 2 + i % 2, 3, 24, false, false, true, HETERO_PER_LAYER };
        struct hetero_value v;
        double first_usd;
        PROVISION(c, &kind, rng);
        double per_s = 0.4 * provision_walk(&first_usd, &c, 0).reach_per_s;
        if (per_s > 0) {
            provision_walk(&first_usd, &c, per_s);
            hetero_set_throughput(&c.problem, per_s);
            hetero_evaluate(&v, &c.problem, c.plan, &c.work);
            assert_true(v.status == HETERO_OK && v.usd <= first_usd * (1 + 1e-9));
            n_ok++;
            n_dearer += first_usd > v.usd * (1 + 1e-6);
        }
    }
    assert_true(n_ok > 300 && n_dearer > 40);
}

/* More units than can be enumerated: against a walk that leaves nothing out. */
TEST(passing_over_throughputs_loses_nothing)
{
    RNG(rng, 3, 0);
    for (int i = 0; i < 1000; i++) {
        const struct provision_kind kind = { 1 + (int32_t)rng_below(rng, PROVISION_LAYERS),
                                             2 + (int32_t)rng_below(rng, PROVISION_TYPES - 1),
                                             1 + rng_below(rng, 400),
                                             i % 3 == 0,
                                             i % 5 == 0,
                                             i % 2 == 0,
                                             (enum hetero_handover)(i % 3) };
        struct hetero_value v;
        double first_usd;
        PROVISION(c, &kind, rng);
        double reach_per_s = provision_walk(&first_usd, &c, 0).reach_per_s;
        double per_s = (reach_per_s > 0 ? reach_per_s : 1) * rng_log_range(rng, 0.005, 1.2);
        const struct provision_best best = provision_walk(&first_usd, &c, per_s);
        hetero_set_throughput(&c.problem, per_s);
        hetero_evaluate(&v, &c.problem, c.plan, &c.work);
        if (isfinite(best.usd)) {
            assert_int_equal(v.status, HETERO_OK);
            assert_close(v.usd, best.usd, 1e-11);
            check_units(&c, &v);
        } else {
            assert_close(v.reach_per_s, reach_per_s, 1e-8);
        }
    }
}

/* ---- by hand ---- */

/* Layers of so many seconds, one a stage, on types of their own; all work is shared, one USD/h. */
struct hand {
    struct hetero_profile profile;
    struct hetero_problem problem;
    struct hetero_work work;
    hetero_id plan[4];
};

static void hand_build(struct hand *h, const double *compute_s, int32_t n, double alpha, int64_t max_units,
                       enum hetero_provisioning provisioning)
{
    const struct hetero_setup setup = {
        .overlap = true, .provisioning = provisioning, .examples = 3600, .epochs = 1, .server = -1
    };
    MUST(hetero_profile_build(&h->profile, n, n, e));
    for (int32_t i = 0; i < n; i++) {
        h->profile.types[i].usd_per_h = 1;
        h->profile.types[i].compute_par = alpha;
        h->profile.types[i].max_units = max_units;
        h->plan[i] = (hetero_id)i;
        for (int32_t t = 0; t < n; t++)
            h->profile.compute_s[i * n + t] = compute_s[i];
    }
    MUST(hetero_build(&h->problem, &h->profile, &setup, e));
    MUST(hetero_work_build(&h->work, &h->problem, e));
}

#define HAND(v, ...)                                                                                         \
    KEEP(struct hand, v, hand_free);                                                                         \
    hand_build(&v, __VA_ARGS__)

static struct hetero_value hand_evaluate(struct hand *h, double per_s)
{
    struct hetero_value v;
    hetero_set_throughput(&h->problem, per_s);
    hetero_evaluate(&v, &h->problem, h->plan, &h->work);
    return v;
}

static void hand_free(struct hand *h)
{
    hetero_work_free(&h->work);
    hetero_free(&h->problem);
    hetero_profile_free(&h->profile);
}

/* 1 and 2.5 s: (1, 3) costs 4 USD/h at 1 s, (2, 5) 7 USD/h at 0.5 s: 4 against 3.5 USD for 3600 examples. */
TEST(more_units_are_cheaper_where_they_leave_nobody_idle)
{
    const double compute_s[] = { 1, 2.5 };
    HAND(h, compute_s, 2, 1, 1000, HETERO_EXACT);
    const struct hetero_value v = hand_evaluate(&h, 1);
    assert_int_equal(v.status, HETERO_OK);
    assert_close(v.usd, 3.5, 1e-15);
    assert_close(v.per_s, 2, 1e-15);
    assert_close(v.usd_per_h, 7, 1e-15);
    assert_true(h.work.units[0] == 2 && h.work.units[1] == 5 && h.work.of_type[1] == 5);
}

/* sqrt(2) and 1 s have no common measure: the cost comes near sqrt(2) + 1 for ever. */
TEST(a_bound_that_is_never_met_is_met_within_a_ten_thousandth)
{
    const double compute_s[] = { 1, sqrt(2), sqrt(3), sqrt(5) };
    for (int32_t n = 2; n <= 4; n++) {
        double bound = 0;
        for (int32_t i = 0; i < n; i++)
            bound += compute_s[i];
        HAND(h, compute_s, n, 1, HETERO_MAX_UNITS, HETERO_EXACT);
        for (double per_s = 1; per_s < 2e5; per_s *= 7) {
            const struct hetero_value v = hand_evaluate(&h, per_s);
            assert_true(v.status == HETERO_OK && v.usd >= bound * (1 - 1e-12));
            assert_true(v.usd <= bound * (1 + 1.0001e-4));
        }
    }
}

TEST(nothing_shared_takes_one_unit_each)
{
    const double compute_s[] = { 1, 3 };
    HAND(h, compute_s, 2, 0, HETERO_MAX_UNITS, HETERO_EXACT);
    struct hetero_value v = hand_evaluate(&h, 0.1);
    assert_int_equal(v.status, HETERO_OK);
    assert_close(v.usd, 6, 1e-15);
    v = hand_evaluate(&h, 0.5);
    assert_int_equal(v.status, HETERO_TOO_SLOW);
    assert_close(v.reach_per_s, 1.0 / 3, 1e-12);
}

TEST(what_costs_nothing_is_as_fast_as_asked)
{
    const double compute_s[] = { 1, 2.5 };
    HAND(h, compute_s, 2, 1, HETERO_MAX_UNITS, HETERO_EXACT);
    h.profile.types[0].usd_per_h = h.problem.unit_usd_per_h[0] = 0;
    struct hetero_value v = hand_evaluate(&h, 1);
    /* The second alone: 2.5 s shared by k units cost the same for every k, once the first is not slower. */
    assert_close(v.usd, 2.5, 1e-11);
    h.profile.types[1].usd_per_h = h.problem.unit_usd_per_h[1] = 0;
    v = hand_evaluate(&h, 1);
    assert_true(v.status == HETERO_OK && v.usd == 0 && h.work.units[0] == 1);
    assert_int_equal(h.work.units[1], 3);
}

TEST(a_stage_without_work_takes_one_unit)
{
    const double compute_s[] = { 0, 4, 0 };
    for (int i = 0; i < 3; i++) {
        HAND(h, compute_s, 3, 0.5, 100, (enum hetero_provisioning)i);
        const struct hetero_value v = hand_evaluate(&h, 0.4);
        assert_true(v.status == HETERO_OK && h.work.units[0] == 1);
        assert_int_equal(h.work.units[1], 4); /* 2 + 2/k <= 2.5 */
        assert_int_equal(h.work.units[2], 1);
    }
}

/* ---- from the first stage ---- */

/* k_1 counted up, the others counted up to its time. */
static double balanced_usd(const struct provision_case *c, double per_s)
{
    struct provision_part parts[PROVISION_PARTS];
    int64_t units[PROVISION_PARTS];
    const int32_t n = provision_parts(parts, c);
    double limit_s = (1 + 1e-9) / per_s;
    for (int32_t i = 0; i < n; i++) {
        for (units[i] = 1; provision_time_s(&parts[i], (double)units[i]) > limit_s; units[i]++)
            if (units[i] > 100000)
                return INFINITY;
        if (i == 0)
            limit_s = provision_time_s(&parts[0], (double)units[0]) * (1 + 1e-9);
    }
    const struct provision_sum s = provision_sum(c, parts, units, n);
    return s.fits ? s.usd : (double)INFINITY;
}

/* Newton's method finds nothing else: the continuous cost never falls with throughput. */
TEST(newton_and_balance_are_the_least_units_as_fast_as_stage_1)
{
    int32_t n_balanced = 0;
    RNG(rng, 4, 0);
    for (int i = 0; i < 600; i++) {
        const struct provision_kind kind = {
            2 + i % 5, 4, 60, i % 3 == 0, false, i % 2 == 0, HETERO_PER_LAYER
        };
        struct hetero_value v[3];
        double first_usd;
        PROVISION(c, &kind, rng);
        double per_s = provision_walk(&first_usd, &c, 0).reach_per_s * rng_range(rng, 0.05, 0.9);
        if (per_s > 0) {
            const double usd = balanced_usd(&c, per_s);
            provision_walk(&first_usd, &c, per_s);
            hetero_set_throughput(&c.problem, per_s);
            for (int k = 0; k < 3; k++) {
                c.problem.setup.provisioning = (enum hetero_provisioning)k;
                hetero_evaluate(&v[k], &c.problem, c.plan, &c.work);
                assert_int_equal(v[k].status, HETERO_OK);
                check_units(&c, &v[k]);
            }
            assert_close(v[HETERO_BALANCE].usd, isfinite(usd) ? usd : first_usd, 1e-11);
            assert_close(v[HETERO_NEWTON].usd, v[HETERO_BALANCE].usd, 1e-11);
            assert_true(v[HETERO_EXACT].usd <= v[HETERO_BALANCE].usd * (1 + 1e-9));
            n_balanced += isfinite(usd);
        }
    }
    assert_true(n_balanced > 300);
}

/* Stage 1 takes 1 s on a unit and 0.8 s are asked for: two units make it 0.5 s, which stage 2 with 0.6 s that
 * no unit shares cannot follow. It need not. */
TEST(others_need_not_follow_a_first_stage_that_is_too_fast)
{
    const double compute_s[] = { 1, 0.6 };
    for (int i = 1; i < 3; i++) {
        HAND(h, compute_s, 2, 1, 10, (enum hetero_provisioning)i);
        h.profile.types[1].compute_par = 0;
        hetero_free(&h.problem);
        const struct hetero_setup setup = { .overlap = true,
                                            .provisioning = (enum hetero_provisioning)i,
                                            .examples = 3600,
                                            .epochs = 1,
                                            .server = -1 };
        OK(hetero_build(&h.problem, &h.profile, &setup, e));
        const struct hetero_value v = hand_evaluate(&h, 1 / 0.8);
        assert_int_equal(v.status, HETERO_OK);
        assert_close(v.per_s, 1 / 0.6, 1e-12);
        assert_true(h.work.units[0] == 2 && h.work.units[1] == 1);
    }
}
