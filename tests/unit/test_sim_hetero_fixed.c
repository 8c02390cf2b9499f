#include "sim/hetero/search.h"
#include "tests/settings.h"
#include "tests/support.h"

/* Types in no order: two GPUs and two CPUs, one of each kind better than the other. All units divide all
 * work, and a layer on any type takes a second: what counts is the price. */
enum { GPU_DEAR, CPU_DEAR, GPU_CHEAP, CPU_CHEAP, TYPES };

struct fixture {
    struct hetero_profile profile;
    struct hetero_problem problem;
    struct hetero_search search;
};

/* @p n_types of the above; a layer for each kind. */
static void fixture_build(struct fixture *x, const int *types, int32_t n_types, int64_t budget)
{
    static const double usd_per_h[TYPES] = { 9, 3, 7, 2 };
    const struct hetero_setup setup = { .overlap = true, .examples = 3600, .epochs = 1, .server = -1 };
    MUST(hetero_profile_build(&x->profile, N_HETERO_KINDS, n_types, e));
    for (int32_t t = 0; t < n_types; t++) {
        x->profile.types[t].cpu = types[t] == CPU_DEAR || types[t] == CPU_CHEAP;
        x->profile.types[t].usd_per_h = usd_per_h[types[t]];
        x->profile.types[t].compute_par = 1;
    }
    for (int32_t l = 0; l < N_HETERO_KINDS; l++) {
        x->profile.layers[l].kind = (enum hetero_layer_kind)l;
        for (int32_t t = 0; t < n_types; t++)
            x->profile.compute_s[l * n_types + t] = 1;
    }
    MUST(hetero_profile_check(&x->profile, e));
    MUST(hetero_build(&x->problem, &x->profile, &setup, e));
    hetero_set_throughput(&x->problem, 1);
    MUST(hetero_search_build(&x->search, &x->problem, 1, 0, budget, e));
}

static void fixture_free(struct fixture *x)
{
    hetero_search_free(&x->search);
    hetero_free(&x->problem);
    hetero_profile_free(&x->profile);
}

#define FIXTURE(v, ...)                                                                                      \
    KEEP(struct fixture, v, fixture_free);                                                                   \
    fixture_build(&v, __VA_ARGS__)

static const int all[TYPES] = { GPU_DEAR, CPU_DEAR, GPU_CHEAP, CPU_CHEAP };

/* 8 layers of a second at 1 example a second: 8 units for an hour. */
TEST(one_type_is_the_cheapest_of_its_kind)
{
    static const struct {
        hetero_run *run;
        hetero_id type;
        double usd;
    } cases[] = { { hetero_cpu_only, CPU_CHEAP, 16 }, { hetero_gpu_only, GPU_CHEAP, 56 } };
    const struct hetero_settings settings = hetero_settings_default();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FIXTURE(x, all, TYPES, 100);
        OK(cases[i].run(&x.search, &settings, e));
        assert_int_equal(x.search.evaluations, 2);
        for (int32_t l = 0; l < N_HETERO_KINDS; l++)
            assert_int_equal(x.search.best[l], cases[i].type);
        assert_close(x.search.value.usd, cases[i].usd, 1e-12);
    }
}

/* 2 layers on the cheaper CPU, 6 on the cheaper GPU. */
TEST(the_heuristic_puts_embeddings_and_pooling_on_cpus)
{
    const struct hetero_settings settings = hetero_settings_default();
    FIXTURE(x, all, TYPES, 100);
    OK(hetero_heuristic(&x.search, &settings, e));
    assert_int_equal(x.search.evaluations, 4);
    for (int32_t l = 0; l < N_HETERO_KINDS; l++)
        assert_int_equal(x.search.best[l], l == HETERO_EMBEDDING || l == HETERO_POOL ? CPU_CHEAP : GPU_CHEAP);
    assert_close(x.search.value.usd, 2 * 2 + 6 * 7, 1e-12);
}

TEST(all_pairs_of_types_are_tried_whatever_the_budget)
{
    const struct hetero_settings settings = hetero_settings_default();
    FIXTURE(x, all, TYPES, 1);
    OK(hetero_heuristic(&x.search, &settings, e));
    assert_int_equal(x.search.evaluations, 4);
}

TEST(a_kind_of_type_that_is_not_there_is_told)
{
    static const int cpus[] = { CPU_DEAR, CPU_CHEAP }, gpus[] = { GPU_DEAR, GPU_CHEAP };
    static const struct {
        hetero_run *run;
        const int *types;
        const char *message;
    } cases[] = {
        { hetero_cpu_only, gpus, "cpu-only: the study has no CPU type" },
        { hetero_gpu_only, cpus, "gpu-only: the study has no GPU type" },
        { hetero_heuristic, gpus, "heuristic: the study has no CPU type" },
        { hetero_heuristic, cpus, "heuristic: the study has no GPU type" },
    };
    const struct hetero_settings settings = hetero_settings_default();
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        FIXTURE(x, cases[i].types, 2, 100);
        FAILS(cases[i].run(&x.search, &settings, e), ERR_RANGE, cases[i].message);
        assert_int_equal(x.search.evaluations, 0);
    }
}
