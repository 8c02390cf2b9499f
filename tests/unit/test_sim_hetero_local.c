#include "tests/support.h"
#include "tests/unit/hetero_fixture.h"

/* Is no plan better that has layers first..last of `plan` on another type? */
static void check_no_gain(const struct hetero_search *s, int32_t first, int32_t last, struct hetero_work *w)
{
    const struct hetero_problem *p = s->problem;
    hetero_id plan[HETERO_MAX_LAYERS];
    for (int32_t t = 0; t < p->profile->n_types; t++) {
        struct hetero_value v;
        memcpy(plan, s->best, (size_t)p->profile->n_layers * sizeof *plan);
        for (int32_t l = first; l <= last; l++)
            plan[l] = (hetero_id)t;
        hetero_evaluate(&v, p, plan, w);
        assert_false(hetero_is_better(&v, &s->value));
    }
}

static void check_local_optimum(const struct hetero_search *s)
{
    int32_t n = s->problem->profile->n_layers;
    KEEP(struct hetero_work, w, hetero_work_free);
    MUST(hetero_work_build(&w, s->problem, e));
    for (int32_t l = 0; l < n; l++)
        check_no_gain(s, l, l, &w);
    for (int32_t first = 0, last; first < n; first = last + 1) {
        for (last = first; last + 1 < n && s->best[last + 1] == s->best[first];)
            last++;
        check_no_gain(s, first, last, &w);
    }
}

TEST(no_layer_or_stage_recoloured_makes_the_plan_better)
{
    for (int i = 0; i < hetero_fixture_n; i += 3) {
        KEEP(struct hetero_fixture, f, hetero_fixture_free) = { 0 };
        if (hetero_fixture_instance(&f, i)) {
            HETERO_SEARCH(start, &f, "random", 3, 7);
            HETERO_SEARCH(end, &f, "random+local", 3, 7);
            check_local_optimum(&end);
            assert_true(!hetero_is_better(&start.value, &end.value) && start.evaluations == 3);
            assert_true(f.profile.n_types == 1 ? end.evaluations == 3 : end.evaluations > 3);
        }
    }
}

/* The first improvements are those of the search before: it is the same search. */
TEST(it_goes_on_from_the_search_before)
{
    HETERO_FIXTURE(f, 200);
    HETERO_SEARCH(start, &f, "random", 20, 1);
    HETERO_SEARCH(end, &f, "random+local", 20, 1);
    assert_true(end.n_curve >= start.n_curve);
    for (int32_t i = 0; i < start.n_curve; i++) {
        assert_int_equal(end.curve[i].evaluations, start.curve[i].evaluations);
        assert_true(end.curve[i].usd == start.curve[i].usd);
    }
}
