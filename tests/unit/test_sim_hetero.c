#include "base/rng.h"
#include "sim/hetero/hetero.h"
#include "tests/support.h"

/*
 * Three layers on a CPU core and a GPU, a batch of 10:
 *
 *     layer    compute_s     sync_s     handover_s   out_B   sparse_B
 *     0        40    10      4    20    1     2      100     8000
 *     1        20    2       0    0     3     4      200     0
 *     2        80    4       6    1     5     6      0       1000
 *
 * The CPU shares 3/4 of its compute and half of its communication, the GPU all of both.
 */
struct fixture {
    struct hetero_profile profile;
    struct hetero_link links[4];
    struct hetero_setup setup;
    struct hetero_problem problem;
    struct hetero_work work;
};

enum { CPU, GPU };

static void fixture_profile(struct fixture *x)
{
    static const double compute_s[] = { 40, 10, 20, 2, 80, 4 }, sync_s[] = { 4, 20, 0, 0, 6, 1 },
                        handover_s[] = { 1, 2, 3, 4, 5, 6 }, out_B[] = { 100, 200, 0 },
                        sparse_B[] = { 8000, 0, 1000 };
    *x = (struct fixture){ .setup = { .overlap = true,
                                      .handover = HETERO_PER_STAGE,
                                      .links = x->links,
                                      .examples = 7200,
                                      .epochs = 5,
                                      .server = -1,
                                      .server_Bps = 1000 } };
    MUST(hetero_profile_build(&x->profile, 3, 2, e));
    x->profile.batch = 10;
    memcpy(x->profile.compute_s, compute_s, sizeof compute_s);
    memcpy(x->profile.sync_s, sync_s, sizeof sync_s);
    memcpy(x->profile.handover_s, handover_s, sizeof handover_s);
    for (int32_t l = 0; l < 3; l++) {
        x->profile.layers[l].out_B = out_B[l];
        x->profile.layers[l].sparse_B = sparse_B[l];
    }
    struct hetero_type *cpu = &x->profile.types[CPU], *gpu = &x->profile.types[GPU];
    snprintf(cpu->name, sizeof cpu->name, "cpu");
    snprintf(gpu->name, sizeof gpu->name, "gpu");
    cpu->cpu = true;
    cpu->usd_per_h = 0.5;
    cpu->compute_par = 0.75;
    cpu->comm_par = 0.5;
    gpu->usd_per_h = 4;
    gpu->compute_par = gpu->comm_par = 1;
    x->links[1] = x->links[2] = (struct hetero_link){ .lat_s = 2, .Bps = 500 };
}

static void fixture_build(struct fixture *x, double per_s)
{
    MUST(hetero_profile_check(&x->profile, e));
    MUST(hetero_build(&x->problem, &x->profile, &x->setup, e));
    MUST(hetero_work_build(&x->work, &x->problem, e));
    hetero_set_throughput(&x->problem, per_s);
}

static void fixture_free(struct fixture *x)
{
    hetero_work_free(&x->work);
    hetero_free(&x->problem);
    hetero_profile_free(&x->profile);
}

/* One to change and build, and one that is built as it is. */
#define PROFILE(x)                                                                                           \
    KEEP(struct fixture, x, fixture_free);                                                                   \
    fixture_profile(&x)
#define FIXTURE(x, per_s)                                                                                    \
    PROFILE(x);                                                                                              \
    fixture_build(&x, per_s)

/* Fixed and shared seconds of compute, then of communication. */
static void check_time(const struct hetero_time *t, const double want_s[4])
{
    for (int k = 0; k < 2; k++) {
        assert_near(t->fixed_s[k], want_s[2 * k], 1e-14);
        assert_near(t->shared_s[k], want_s[2 * k + 1], 1e-14);
    }
}

/* ---- stages ---- */

TEST(neighbouring_layers_of_one_type_are_one_stage)
{
    CASES(hetero_id plan[3]; int32_t n, first[3], last[3], before[3], after[3]) = {
        { { 0, 0, 0 }, 1, { 0 }, { 2 }, { -1 }, { -1 } },
        { { 0, 0, 1 }, 2, { 0, 2 }, { 1, 2 }, { -1, 0 }, { 1, -1 } },
        { { 1, 0, 0 }, 2, { 0, 1 }, { 0, 2 }, { -1, 1 }, { 0, -1 } },
        { { 0, 1, 0 }, 3, { 0, 1, 2 }, { 0, 1, 2 }, { -1, 0, 1 }, { 1, 0, -1 } },
    };
    FIXTURE(x, 1);
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct hetero_stage stages[3];
        assert_int_equal(hetero_stages(stages, &x.problem, cases[i].plan), cases[i].n);
        for (int32_t k = 0; k < cases[i].n; k++) {
            const struct hetero_span *s = &stages[k].span;
            assert_int_equal(s->first, cases[i].first[k]);
            assert_int_equal(s->last, cases[i].last[k]);
            assert_int_equal(s->type, cases[i].plan[s->first]);
            assert_int_equal(s->before, cases[i].before[k]);
            assert_int_equal(s->after, cases[i].after[k]);
        }
    }
}

/* Per example: layers 0 and 1 on the CPU compute 60/10 s and send (4 + 3)/10 s; the hand-over of 1 alone,
 * or by layer of each; without overlap communication comes on top. Layer 2 has nobody to hand over to. */
TEST(a_stage_takes_the_sum_of_its_layers)
{
    CASES(bool overlap; enum hetero_handover handover; double first[4], second[4]) = {
        { true, HETERO_PER_STAGE, { 1.5, 4.5, 0.35, 0.35 }, { 0, 0.4, 0, 0.1 } },
        { false, HETERO_PER_STAGE, { 1.85, 4.85, 0, 0 }, { 0, 0.5, 0, 0 } },
        { true, HETERO_PER_LAYER, { 1.5, 4.5, 0.4, 0.4 }, { 0, 0.4, 0, 0.7 } }, /* 4 + 1 + 3 s; 1 + 6 s */
    };
    static const hetero_id plan[] = { CPU, CPU, GPU };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct hetero_stage stages[3];
        PROFILE(x);
        x.setup.overlap = cases[i].overlap;
        x.setup.handover = cases[i].handover;
        fixture_build(&x, 1);
        assert_int_equal(hetero_stages(stages, &x.problem, plan), 2);
        check_time(&stages[0].time, cases[i].first);
        check_time(&stages[1].time, cases[i].second);
    }
}

/* 2 s and 10 examples of 100 or 200 B at 500 B/s: 4 s after layer 0, 6 s after layer 1. */
TEST(both_ends_of_a_network_pay)
{
    static const hetero_id plan[] = { CPU, GPU, CPU };
    struct hetero_stage stages[3];
    PROFILE(x);
    x.setup.handover = HETERO_NETWORK;
    fixture_build(&x, 1);
    assert_int_equal(hetero_stages(stages, &x.problem, plan), 3);
    check_time(&stages[0].time, (const double[]){ 1, 3, 0.4, 0.4 }); /* 4 + 4 s */
    check_time(&stages[1].time, (const double[]){ 0, 0.2, 0, 1 });   /* 4 + 6 s */
    check_time(&stages[2].time, (const double[]){ 2, 6, 0.6, 0.6 }); /* 6 + 6 s */
    assert_int_equal(stages[1].start.units, 1);
    hetero_set_throughput(&x.problem, 2);
    assert_int_equal(hetero_stage_of(&x.problem, &stages[1].span).start.units, 2);
    fixture_free(&x);
    fixture_profile(&x);
    x.setup.handover = HETERO_NETWORK;
    x.setup.overlap = false;
    fixture_build(&x, 1);
    hetero_stages(stages, &x.problem, plan);
    check_time(&stages[1].time, (const double[]){ 0, 1.2, 0, 0 });
}

/* ---- units ---- */

TEST(time_falls_from_all_to_what_units_do_not_share)
{
    const struct hetero_time t = { .fixed_s = { 1, 2 }, .shared_s = { 6, 1 } };
    assert_close(hetero_time_s(&t, 1), 7, 1e-15);
    assert_close(hetero_time_s(&t, 3), 3, 1e-15);
    assert_close(hetero_time_s(&t, 6), 2 + 1 / 6.0, 1e-15);
    assert_close(hetero_time_s(&t, HETERO_MAX_UNITS), 2, 1e-6);
}

TEST(least_units_are_the_first_that_are_fast_enough)
{
    RNG(rng, 1, 0);
    for (int i = 0; i < 2000; i++) {
        struct hetero_time t;
        for (int k = 0; k < 2; k++) {
            t.fixed_s[k] = rng_below(rng, 3) == 0 ? 0 : rng_log_range(rng, 1e-3, 1);
            t.shared_s[k] = rng_below(rng, 3) == 0 ? 0 : rng_log_range(rng, 1e-3, 10);
        }
        double limit_s = rng_log_range(rng, 1e-2, 2);
        int64_t k = 1;
        while (k <= 100000 && !(hetero_time_s(&t, k) <= limit_s))
            k++;
        if (k <= 100000)
            assert_int_equal(hetero_least_units(&t, limit_s), k);
        else
            assert_true(hetero_least_units(&t, limit_s) == -1 || hetero_least_units(&t, limit_s) > 100000);
    }
}

/* Also where rounding is large against what one unit more brings. */
TEST(the_time_of_k_units_takes_k_units)
{
    static const struct hetero_time times[] = { { { 0, 0 }, { 1, 0 } },
                                                { { 1, 0 }, { 1, 0 } },
                                                { { 0.3, 0.1 }, { 0.7, 7 } },
                                                { { 0, 0.01 }, { 1e3, 1 } } };
    static const int64_t units[] = { 1, 2, 3, 7, 10, 49, 1000, 4097, 65537, 1000003, HETERO_MAX_UNITS };
    for (size_t i = 0; i < COUNT_OF(times); i++)
        for (size_t k = 0; k < COUNT_OF(units); k++)
            assert_int_equal(hetero_least_units(&times[i], hetero_time_s(&times[i], units[k])), units[k]);
}

TEST(some_times_are_out_of_reach)
{
    const struct hetero_time t = { .fixed_s = { 1, 0 }, .shared_s = { 1, 0 } },
                             fixed = { .fixed_s = { 1, 0 } }, nothing = { .fixed_s = { 0, 0 } };
    assert_true(isinf(hetero_real_units(&t, 1)));
    assert_close(hetero_real_units(&t, 1.25), 4, 1e-15);
    assert_int_equal(hetero_least_units(&t, 1), -1);
    assert_int_equal(hetero_least_units(&t, 1 + 0.5 / HETERO_MAX_UNITS), -1);
    assert_true(hetero_least_units(&t, 0.5) == -1 && hetero_least_units(&fixed, 1 - 1e-6) == -1);
    assert_int_equal(hetero_least_units(&fixed, 1), 1);
    assert_int_equal(hetero_least_units(&fixed, 1 - 1e-12), 1); /* 1/(1/x) is not always x */
    assert_true(hetero_least_units(&nothing, 0) == 1 && hetero_least_units(&t, (double)NAN) == -1);
    assert_int_equal(hetero_least_units(&t, (double)INFINITY), 1);
}

TEST(stages_know_their_least_units_for_the_throughput)
{
    static const double per_s[] = { 0.3, 0.01, 1, 0.3 };
    FIXTURE(x, 7);
    for (size_t i = 0; i < COUNT_OF(per_s); i++) {
        hetero_set_throughput(&x.problem, per_s[i]);
        for (int32_t first = 0; first < 3; first++)
            for (int32_t last = first; last < 3; last++)
                for (int32_t type = 0; type < 2; type++) {
                    const struct hetero_span span = { first, last, type, -1, -1 };
                    const struct hetero_stage s = hetero_stage_of(&x.problem, &span);
                    const int64_t k = hetero_least_units(&s.time, 1 / per_s[i]);
                    assert_int_equal(s.start.units, k);
                    assert_true(k < 0 ? isinf(s.start.time_s) : s.start.time_s == hetero_time_s(&s.time, k));
                }
    }
}

/* ---- plans ---- */

/* 6 and 0.4 s an example: a unit each, and one more CPU at 3.75 s: 4.5 USD/h * 6 s against 5 * 3.75. */
TEST(a_plan_costs_its_units_for_as_long_as_its_slowest_stage_takes)
{
    static const hetero_id plan[] = { CPU, CPU, GPU };
    struct hetero_value v;
    PROFILE(x);
    x.profile.types[CPU].max_units = 2;
    fixture_build(&x, 1 / 6.0);
    hetero_evaluate(&v, &x.problem, plan, &x.work);
    assert_int_equal(v.status, HETERO_OK);
    assert_close(v.per_s, 1 / 3.75, 1e-14);
    assert_close(v.usd_per_h, 5, 1e-15);
    assert_close(v.usd, 5 * 7200 * 3.75 / 3600 * 5, 1e-14);
    assert_true(x.work.n_stages == 2 && x.work.units[0] == 2 && x.work.units[1] == 1);
    assert_true(x.work.of_type[CPU] == 2 && x.work.of_type[GPU] == 1);
}

TEST(a_plan_that_fails_says_how_far_it_gets)
{
    static const hetero_id plan[] = { CPU, CPU, GPU };
    struct hetero_value v;
    PROFILE(x);
    x.profile.types[CPU].max_units = 3;
    fixture_build(&x, 0.5);
    hetero_evaluate(&v, &x.problem, plan, &x.work);
    assert_int_equal(v.status, HETERO_SCARCE); /* 4.5/0.5 = 9 cores */
    assert_close(v.reach_per_s, 1 / 3.0, 1e-12);
    assert_true(isnan(v.usd) && isnan(v.per_s) && isnan(v.usd_per_h));
    hetero_set_throughput(&x.problem, 1);
    hetero_evaluate(&v, &x.problem, plan, &x.work);
    assert_int_equal(v.status, HETERO_TOO_SLOW);
    assert_close(v.reach_per_s, 1 / 3.0, 1e-12);
}

/* Each GPU takes two cores: 4 + 2 * 0.5 USD/h. 21 s of communication for 10 examples in 1.05 s: 2 GPUs. */
TEST(hosts_are_paid_for_and_counted)
{
    static const hetero_id plan[] = { GPU, GPU, GPU };
    struct hetero_value v;
    PROFILE(x);
    x.profile.types[GPU].host = CPU;
    x.profile.types[GPU].host_units = 2;
    fixture_build(&x, 1 / 1.05);
    assert_close(x.problem.unit_usd_per_h[GPU], 5, 1e-15);
    assert_close(x.problem.unit_usd_per_h[CPU], 0.5, 1e-15);
    hetero_evaluate(&v, &x.problem, plan, &x.work);
    assert_int_equal(v.status, HETERO_OK);
    assert_close(v.usd_per_h, 10, 1e-15);
    assert_true(x.work.of_type[GPU] == 2 && x.work.of_type[CPU] == 4);
    fixture_free(&x);
    fixture_profile(&x);
    x.profile.types[GPU].host = CPU;
    x.profile.types[GPU].host_units = 2;
    x.profile.types[CPU].max_units = 3; /* for one GPU */
    fixture_build(&x, 1 / 1.05);
    hetero_evaluate(&v, &x.problem, plan, &x.work);
    assert_int_equal(v.status, HETERO_SCARCE);
    assert_close(v.reach_per_s, 1 / 2.1, 1e-12);
    x.profile.types[CPU].max_units = 1; /* for none */
    hetero_evaluate(&v, &x.problem, plan, &x.work);
    assert_true(v.reach_per_s == 0);
}

/* 9000 B of rows an example at 1000 B/s a core, in the 1.05 s of two GPUs: 9 cores. */
TEST(servers_are_as_many_as_the_throughput_takes)
{
    static const hetero_id gpu[] = { GPU, GPU, GPU }, cpu[] = { CPU, CPU, CPU };
    struct hetero_value v;
    PROFILE(x);
    x.setup.server = CPU;
    x.profile.types[GPU].max_units = 2;
    fixture_build(&x, 1 / 1.05);
    hetero_evaluate(&v, &x.problem, gpu, &x.work);
    assert_int_equal(v.status, HETERO_OK);
    assert_close(x.work.stages[0].server_s, 9, 1e-15);
    assert_close(v.usd_per_h, 2 * 4 + 9 * 0.5, 1e-15);
    assert_true(x.work.of_type[CPU] == 9 && x.work.of_type[GPU] == 2);
    hetero_evaluate(&v, &x.problem, cpu, &x.work);
    assert_true(x.work.stages[0].server_s == 0); /* cores hold their rows themselves */
}

TEST(one_layer_and_256_layers_are_problems)
{
    static const int32_t layers[] = { 1, HETERO_MAX_LAYERS };
    const struct hetero_setup setup = { .overlap = true, .examples = 3600, .epochs = 1, .server = -1 };
    for (size_t i = 0; i < COUNT_OF(layers); i++) {
        const int32_t n = layers[i];
        hetero_id plan[HETERO_MAX_LAYERS];
        KEEP(struct fixture, x, fixture_free) = { .setup = setup };
        struct hetero_value v;
        OK(hetero_profile_build(&x.profile, n, 2, e));
        for (int32_t l = 0; l < n; l++) {
            plan[l] = (hetero_id)(l % 2);
            x.profile.compute_s[2 * l] = x.profile.compute_s[2 * l + 1] = 1;
        }
        x.profile.types[0].usd_per_h = x.profile.types[1].usd_per_h = 1;
        fixture_build(&x, 1);
        hetero_evaluate(&v, &x.problem, plan, &x.work);
        assert_int_equal(v.status, HETERO_OK);
        assert_int_equal(x.work.n_stages, n);
        assert_close(v.usd, n, 1e-15); /* nothing is shared: a second and a unit for each layer */
    }
}
