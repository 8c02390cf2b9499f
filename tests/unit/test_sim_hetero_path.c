#include "sim/hetero/oracle.h"

#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

/* An instance with what is looked at in it: its paths and a window around the throughput asked for. */
struct look {
    struct hetero_fixture f;
    struct hetero_paths x;
    struct hetero_window window;
    hetero_id plan[HETERO_MAX_LAYERS];
};

static bool look_at(struct look *k, int i)
{
    *k = (struct look){ 0 };
    bool can = hetero_fixture_instance(&k->f, i);
    MUST(hetero_paths_build(&k->x, &k->f.problem, e));
    const double slow_s = 1 / k->f.problem.per_s;
    k->window = (struct hetero_window){ slow_s / (1 + i % 4), slow_s, i % 5 == 0 };
    return can;
}

static void look_free(struct look *k)
{
    hetero_paths_free(&k->x);
    hetero_fixture_free(&k->f);
}

/* Units by counting up, not by the closed form; INFINITY: more than are there. */
static double counted_cost(const struct look *k, const struct hetero_time *t, int32_t type)
{
    const struct hetero_problem *p = &k->f.problem;
    for (int64_t n = 1; n <= k->x.cap[type]; n++) {
        double time_s = hetero_time_s(t, n);
        if (k->window.open ? time_s < k->window.slow_s : time_s <= k->window.slow_s * (1 + 1e-9))
            return p->unit_usd_per_h[type] * (double)n * fmax(time_s, k->window.fast_s);
    }
    return INFINITY;
}

static double counted_path(const struct look *k, const hetero_id *plan)
{
    struct hetero_stage stages[HETERO_MAX_LAYERS];
    double sum = 0;
    int32_t n = hetero_stages(stages, &k->f.problem, plan);
    for (int32_t i = 0; i < n; i++) {
        const struct hetero_time serve = { .shared_s = { stages[i].server_s, 0 } };
        sum += counted_cost(k, &stages[i].time, stages[i].span.type);
        if (stages[i].server_s > 0)
            sum += counted_cost(k, &serve, k->f.problem.setup.server);
    }
    return sum;
}

static double counted_least(const struct look *k)
{
    const struct hetero_profile *p = &k->f.profile;
    hetero_id plan[HETERO_MAX_LAYERS] = { 0 };
    double least = INFINITY;
    for (int32_t l = 0; l < p->n_layers;) {
        least = fmin(least, counted_path(k, plan));
        for (l = 0; l < p->n_layers && ++plan[l] == p->n_types; l++)
            plan[l] = 0;
    }
    return least;
}

TEST(shortest_path_is_the_cheapest_of_all_plans_in_a_window)
{
    int n_found = 0;
    for (int i = 36; i < 180; i++) {
        KEEP(struct look, k, look_free);
        if (look_at(&k, i)) {
            hetero_paths_forward(&k.x, NULL, &k.window);
            double least = hetero_paths_least(&k.x, k.plan);
            assert_close(least, counted_least(&k), 1e-12);
            if (least < INFINITY)
                assert_close(counted_path(&k, k.plan), least, 1e-12);
            n_found += least < INFINITY;
        }
    }
    assert_true(n_found > 50);
}

/* Least over the first arcs of what is beyond them: the same number from the other end. */
static double least_from_the_start(const struct hetero_paths *x)
{
    double least = INFINITY;
    for (int32_t t = 0; t < x->problem->profile->n_types; t++)
        least = fmin(least, x->from[hetero_paths_state(x, 0, t, 0)]);
    return least;
}

TEST(both_directions_agree_and_arcs_that_matter_hold_the_path)
{
    for (int i = 36; i < hetero_fixture_n; i += 3) {
        KEEP(struct look, k, look_free);
        struct hetero_arcs arcs = { 0 };
        if (look_at(&k, i)) {
            hetero_paths_forward(&k.x, NULL, &k.window);
            hetero_paths_backward(&k.x, NULL, &k.window);
            double least = hetero_paths_least(&k.x, k.plan);
            assert_close(least_from_the_start(&k.x), least, 1e-12);
            OK(hetero_arcs_collect(&arcs, &k.x, &k.window, 1.5 * least, e));
            int32_t n = arcs.n;
            hetero_arcs_price(&arcs, &k.x, &k.window);
            assert_int_equal(arcs.n, n);
            hetero_paths_forward(&k.x, &arcs, &k.window);
            hetero_paths_backward(&k.x, &arcs, &k.window);
            assert_close(hetero_paths_least(&k.x, k.plan), least, 1e-12);
            assert_close(least_from_the_start(&k.x), least, 1e-12);
            hetero_arcs_keep(&arcs, &k.x, 0.999 * least);
            assert_int_equal(arcs.n, 0);
        }
        free(arcs.at);
    }
}

TEST(types_with_equal_links_are_one_class)
{
    const struct hetero_fixture_kind kind = {
        .n_layers = 2, .n_types = 5, .most_units = 9, .handover = HETERO_NETWORK
    };
    KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
    KEEP(struct hetero_paths, x, hetero_paths_free);
    RNG(rng, 1, 0);
    hetero_fixture_draw(&f, rng, &kind);
    for (int i = 0; i < 25; i++)
        f.links[i] = (struct hetero_link){ .lat_s = 0, .Bps = i / 5 == 4 || i % 5 == 4 ? 1 : 2 };
    OK(hetero_paths_build(&x, &f.problem, e));
    assert_int_equal(x.n_classes, 2);
    for (int t = 0; t < 4; t++)
        assert_int_equal(x.n_of[t], 2); /* the slow one and the others */
    assert_int_equal(x.n_of[4], 1);
    assert_int_equal(x.class_of[0 * 5 + 1], x.class_of[0 * 5 + 3]);
    assert_int_not_equal(x.class_of[0 * 5 + 1], x.class_of[0 * 5 + 4]);
}
