/* A training step by parts: they add up to it. */
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/solve.h"
#include "tests/unit/folder.h"
#include "tests/unit/table_cells.h"
#include "kinds/design/answer/training.h"

#define STUDY                                                                                                \
    "network: { npu: { peak_TFLOPS: 100, mem_GB: 4, mem_GBps: 1000 }, dims: [ "                              \
    "{ name: node, shape: ring, size: 4, bw_GBps: 20, latency_ns: 1000 }, "                                  \
    "{ name: pod, shape: switch, size: 4, bw_GBps: 5, latency_ns: 5000 } ] }\n"                              \
    "workload: { name: w, model: { layers: 8, hidden: 1024, heads: 8, vocab: 4096, seq: 512, "               \
    "attention: unfused, tied: true }, parallel: { batch: 32, "
#define END " } }\n"

static void evaluate(struct design_point *s, struct design *d, const char *plan, const char *model)
{
    const unsigned needs = DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH;
    char text[2048];
    FOLDER(f);
    snprintf(text, sizeof text, STUDY "%s" END "model: %s\n", plan, model);
    MUST(design_point_load(s, put(&f, "study.yaml", text), NULL, 0, needs, e));
    MUST(design_evaluate(d, s, NULL, e));
}

static double sum_of(const struct account *a)
{
    return a->compute_s + a->recompute_s + a->bubble_s + a->comm_s + a->optimizer_s + a->overhead_s;
}

static const char *const plans[] = {
    "tp: 4, pp: 4, recompute: selective, seq_parallel: true, zero: 1, step_overhead_s: 0.01",
    "tp: 4, pp: 2, interleave: 2, recompute: full",
    "tp: 2, zero: 3",
    "cp: 2, pp: 2, overlap_pp: true, overlap_dp: false",
};

/* Six parts are the time, axes are communication, and so are classes of links with latency. */
static void check_account(const struct account *a, double time_s, int32_t n_dims)
{
    double axes_s = 0, dims_s = a->latency_s;
    assert_close(sum_of(a), time_s, 1e-12);
    for (int32_t i = 0; i < a->n_axes; i++) {
        double axis_s = a->axes[i].latency_s;
        for (int32_t k = 0; k < n_dims; k++)
            axis_s += a->axes[i].dim_s[k];
        assert_near(axis_s, a->axes[i].time_s, 1e-12 * time_s);
        axes_s += axis_s;
    }
    for (int32_t k = 0; k < n_dims; k++)
        dims_s += a->dim_s[k];
    assert_near(axes_s, a->comm_s, 1e-12 * time_s);
    assert_near(dims_s, a->comm_s, 1e-12 * time_s);
}

/* Where collectives meet they slow each other down: that is communication too. */
TEST(the_account_is_the_step_in_every_model)
{
    for (size_t i = 0; i < COUNT_OF(plans) * N_SIM_MODELS; i++) {
        KEEP(struct design_point, s, design_point_free);
        KEEP(struct design, d, design_free);
        evaluate(&s, &d, plans[i / N_SIM_MODELS], sim_model_words[i % N_SIM_MODELS]);
        check_account(&d.account, d.time_s, s.net.n_dims);
        check_account(&d.loads[0].account, d.loads[0].time_s, s.net.n_dims);
        assert_close(d.account.overhead_s, i / N_SIM_MODELS == 0 ? 0.01 : 0, 1e-12);
    }
}

/* Parameters that a part of dp shares out, and the sums of its copies, are data-parallel traffic. */
TEST(hybrid_sharding_is_of_dp)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    evaluate(&s, &d, "zero: 3, shard: 4", "bandwidth");
    assert_true(d.account.comm_s > 0 && account_axis_s(&d.account, "tp") == 0);
    assert_close(account_axis_s(&d.account, "dp"), d.account.comm_s, 1e-12);
}

TEST(a_row_has_a_cell_for_every_column)
{
    KEEP(struct design_point, s, design_point_free);
    KEEP(struct design, d, design_free);
    struct training_row row;
    KEEP(struct columns, columns, columns_free);
    KEEP(struct table, t, table_free) = { 0 };
    evaluate(&s, &d, plans[0], "alpha-beta");
    OK(design_training_row_fill(&row, &d, e));
    OK(column_choose(&columns, training_columns, &(struct column_choice){ .hidden = false }, e));
    columns_put(&t, &columns);
    table_row(&t);
    row_put(&t, &columns, &row);
    assert_int_equal(t.col, t.n_cols);
    assert_row(&t, 0, "tp=4 recompute=selective fits=yes tokens_per_s=%.17g overhead_s=0.01",
               32 * 512 / d.time_s);
    assert_close(number(&t, 0, "optimizer_s"), d.account.optimizer_s, 1e-15);
}
