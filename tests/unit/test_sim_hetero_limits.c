#include "sim/hetero/labels.h"

#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

/* An instance with the arcs of a window of one throughput: costs are costs, units are those of all plans. */
struct look {
    struct hetero_fixture f;
    struct hetero_paths x;
    struct hetero_window window;
    struct hetero_arcs arcs;
    struct hetero_limits limits;
};

static bool look_at(struct look *k, int i)
{
    struct err e = { 0 };
    *k = (struct look){ 0 };
    if (!hetero_fixture_instance(&k->f, i))
        return false;
    const double slow_s = 1 / k->f.problem.per_s;
    k->window = (struct hetero_window){ slow_s, slow_s, false };
    assert_ok(hetero_paths_build(&k->x, &k->f.problem, &e), &e);
    hetero_paths_forward(&k->x, NULL, &k->window);
    hetero_paths_backward(&k->x, NULL, &k->window);
    assert_ok(hetero_arcs_collect(&k->arcs, &k->x, &k->window, INFINITY, &e), &e);
    hetero_arcs_price(&k->arcs, &k->x, &k->window);
    k->limits.problem = &k->f.problem;
    if (k->arcs.n > 0)
        assert_ok(hetero_limits_open(&k->limits, &k->x, &k->arcs, &k->window, &e), &e);
    return k->arcs.n > 0;
}

static void look_free(struct look *k)
{
    hetero_limits_free(&k->limits);
    free(k->arcs.at);
    hetero_paths_free(&k->x);
    hetero_fixture_free(&k->f);
}

/* Least cost over all plans that keep the limits. */
static double enumerated_least(struct look *k)
{
    const struct hetero_profile *p = &k->f.profile;
    hetero_id plan[HETERO_MAX_LAYERS] = { 0 };
    double least = INFINITY;
    for (int32_t l = 0; l < p->n_layers;) {
        double cost = hetero_limits_count(&k->limits, plan);
        if (hetero_limits_hold(&k->limits))
            least = fmin(least, cost);
        for (l = 0; l < p->n_layers && ++plan[l] == p->n_types; l++)
            plan[l] = 0;
    }
    return least;
}

static void units_of_a_plan_are_those_of_its_evaluation(void **state)
{
    int n = 0;
    (void)state;
    for (int i = 0; i < hetero_fixture_n; i++) {
        struct look k;
        struct hetero_value v;
        struct hetero_work work;
        struct err e = { 0 };
        hetero_id plan[HETERO_MAX_LAYERS];
        if (look_at(&k, i) && hetero_paths_least(&k.x, plan) < INFINITY) {
            /* A stage by itself then has the least units. */
            k.f.problem.setup.provisioning = HETERO_BALANCE;
            assert_ok(hetero_work_build(&work, &k.f.problem, &e), &e);
            hetero_evaluate(&v, &k.f.problem, plan, &work);
            double cost = hetero_limits_count(&k.limits, plan);
            assert_int_equal(hetero_limits_hold(&k.limits), v.status == HETERO_OK);
            if (v.status == HETERO_OK && work.n_stages == 1 && !(work.stages[0].server_s > 0)) {
                n++;
                assert_true(cost > 0);
                for (int32_t t = 0; t < k.f.profile.n_types; t++)
                    assert_int_equal(k.limits.use[t], work.of_type[t]);
            }
            hetero_work_free(&work);
        }
        look_free(&k);
    }
    assert_true(n >= 50);
}

static void multipliers_bound_all_plans_within_the_limits(void **state)
{
    int n_bind = 0, n_none = 0;
    (void)state;
    for (int i = 0; i < 228; i++) {
        struct look k;
        hetero_id plan[HETERO_MAX_LAYERS] = { 0 };
        if (look_at(&k, i)) {
            double least = hetero_paths_least(&k.x, plan), want = enumerated_least(&k), cost = INFINITY;
            hetero_limits_count(&k.limits, plan);
            if (!hetero_limits_hold(&k.limits)) {
                hetero_limits_add(&k.limits);
                double bound = hetero_limits_bound(&k.limits, &cost, plan, 1e3 * least);
                assert_true(bound >= least * (1 - 1e-9));
                assert_true(bound <= want * (1 + 1e-9));
                assert_true(cost >= want * (1 - 1e-9));
                n_bind++;
                n_none += want == INFINITY && bound >= 1e3 * least;
            }
        }
        look_free(&k);
    }
    assert_true(n_bind >= 20);
    assert_true(n_none >= 5); /* that there is no plan shows in the bound itself */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_a_plan_are_those_of_its_evaluation),
        cmocka_unit_test(multipliers_bound_all_plans_within_the_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
