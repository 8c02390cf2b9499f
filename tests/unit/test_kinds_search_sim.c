/* The best plans of a search by simulation: as the study would simulate each, and in the order of that. */
#include "kinds/design/ask/load.h"
#include "tests/unit/folder.h"

#include <omp.h>

#include "kinds/design/explore/solve.h"
#include "kinds/design/explore/search_sim.h"

/* 8 NPUs whose links are slow, so that overlapping collectives wait for each other. */
#define STUDY                                                                                                \
    "network: { npu: { peak_TFLOPS: 1, mem_GB: 1, mem_GBps: 100, matrix_half_out: 64, kernel_ns: 1000 }, "   \
    "dims: [ { name: node, shape: ring, size: 4, bw_GBps: 3, latency_ns: 500 }, "                            \
    "{ name: pod, shape: switch, size: 2, bw_GBps: 1, latency_ns: 2000 } ] }\n"                              \
    "workload: { name: w, model: { layers: 4, hidden: 128, heads: 4, kv_heads: 2, vocab: 512, seq: 64, "     \
    "activation: swiglu, norm: rms-norm, moe: { experts: 4, top_k: 2, ffn: 256, dense_layers: 1 } }, "       \
    "parallel: { batch: 8 }, search: { context: [ring], top: 30 } }\n"

static void load(struct design_point *s, const char *more)
{
    char text[4096];
    FOLDER(f);
    snprintf(text, sizeof text, STUDY "%s", more);
    MUST(design_point_load(s, put(&f, "study.yaml", text), NULL, 0,
                           DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH, e));
}

/* What the study would say of the plan under model chunk. */
static double study_time(const struct plan *plan)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    struct design_choice c;
    double bw_Bps[TOPO_MAX_DIMS];
    load(&s, "model: chunk\n");
    MUST(choice_begin(&c, &s, e));
    MUST(choice_take_plan(&c, 0, plan, e));
    topo_get_bandwidths(bw_Bps, &s.net);
    MUST(answer_at(&d, c, bw_Bps, e));
    return d.time_s;
}

TEST(the_first_plans_are_timed_as_model_chunk_times_them)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design_choice, c, choice_free);
    load(&s, "");
    OK(design_choose(&c, &s, e));
    const struct search_result *r = choice_plans(&c, 0);
    const struct plan before = c.point->workloads[0].training->plan;
    bool seen[SEARCH_SIM_PLANS] = { false }, changed = false;
    OK(search_simulate(&c, e));
    assert_true(r->n_found == 30 && r->n_simulated == SEARCH_SIM_PLANS && r->n_ordered == SEARCH_SIM_PLANS);
    for (int32_t i = 0; i < r->n_simulated; i++)
        assert_close(r->found[i].chunk_s, study_time(&r->found[i].plan), 1e-12);
    for (int32_t i = 0; i < r->n_ordered; i++) {
        assert_in_range(r->chunk_order[i], 0, SEARCH_SIM_PLANS - 1);
        assert_false(seen[r->chunk_order[i]]);
        seen[r->chunk_order[i]] = true;
        changed = changed || r->chunk_order[i] != i;
        if (i > 0)
            assert_true(r->found[r->chunk_order[i]].chunk_s >=
                        r->found[r->chunk_order[i - 1]].chunk_s * (1 - 1e-8));
    }
    assert_true(changed);
    assert_memory_equal(&before, &c.point->workloads[0].training->plan, sizeof before); /* the answer stays */
}

TEST(threads_do_not_change_a_simulated_order)
{
    KEEP(struct design_point, s, design_point_free);
    struct design_choice c[2];
    int threads = omp_get_max_threads();
    load(&s, "");
    for (int i = 0; i < 2; i++) {
        omp_set_num_threads(i ? 4 : 1);
        OK(design_choose(&c[i], &s, e));
        OK(search_simulate(&c[i], e));
    }
    omp_set_num_threads(threads);
    const struct search_result *a = choice_plans(&c[0], 0), *b = choice_plans(&c[1], 0);
    assert_memory_equal(a->chunk_order, b->chunk_order, sizeof a->chunk_order);
    for (int32_t i = 0; i < a->n_simulated; i++)
        assert_memory_equal(&a->found[i].chunk_s, &b->found[i].chunk_s, sizeof a->found[i].chunk_s);
    for (int i = 0; i < 2; i++)
        choice_free(&c[i]);
}

TEST(what_is_too_large_or_not_physical_is_not_simulated)
{
    CASES(const char *more; int32_t n_simulated, n_ordered) = {
        { "simulation: { chunks: 1000000 }\n", SEARCH_SIM_PLANS, 0 },
        { "simulation: { semantics: libra }\n", 0, 0 },
        { "model: chunk\nsimulation: { semantics: astra-sim-2 }\n", 0, 0 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design_choice, c, choice_free);
        load(&s, cases[i].more);
        OK(design_choose(&c, &s, e));
        OK(search_simulate(&c, e));
        const struct search_result *r = choice_plans(&c, 0);
        assert_int_equal(r->n_simulated, cases[i].n_simulated);
        assert_int_equal(r->n_ordered, cases[i].n_ordered);
        for (int32_t k = 0; k < r->n_simulated; k++)
            assert_true(isnan(r->found[k].chunk_s));
    }
}
