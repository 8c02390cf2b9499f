/* A training step by parts: they add up to it. */
#include "kinds/design/load.h"
#include "tests/unit/folder.h"
#include "tests/unit/table_cells.h"
#include "kinds/design/training.h"

#define STUDY                                                                                                \
    "network: { npu: { peak_TFLOPS: 100, mem_GB: 4, mem_GBps: 1000 }, dims: [ "                              \
    "{ name: node, shape: ring, size: 4, bw_GBps: 20, latency_ns: 1000 }, "                                  \
    "{ name: pod, shape: switch, size: 4, bw_GBps: 5, latency_ns: 5000 } ] }\n"                              \
    "workload: { name: w, model: { layers: 8, hidden: 1024, heads: 8, vocab: 4096, seq: 512, "               \
    "attention: unfused, tied: true }, parallel: { batch: 32, "
#define END " } }\n"

static void evaluate(struct design_point *s, struct design *d, const char *plan, const char *model)
{
    const unsigned needs = STUDY_NEEDS_WORKLOAD | STUDY_NEEDS_BANDWIDTH;
    char text[2048];
    double bw_Bps[TOPO_MAX_DIMS];
    FOLDER(f);
    snprintf(text, sizeof text, STUDY "%s" END "model: %s\n", plan, model);
    MUST(study_load(s, put(&f, "study.yaml", text), NULL, 0, needs, e));
    for (int32_t i = 0; i < s->net.n_dims; i++)
        bw_Bps[i] = s->net.dims[i].bw_Bps;
    MUST(design_evaluate(d, s, bw_Bps, e));
}

static double sum_of(const struct training_report *r)
{
    double sum_s = r->compute_s + r->recompute_s + r->bubble_s + r->optimizer_s + r->overhead_s;
    for (int a = 0; a < N_REPORT_AXES; a++)
        sum_s += r->axis_s[a];
    return sum_s;
}

static const char *const plans[] = {
    "tp: 4, pp: 4, recompute: selective, seq_parallel: true, zero: 1, step_overhead_s: 0.01",
    "tp: 4, pp: 2, interleave: 2, recompute: full",
    "tp: 2, zero: 3",
    "cp: 2, pp: 2, overlap_pp: true, overlap_dp: false",
};

TEST(parts_add_up_to_the_step_in_closed_form)
{
    static const char *const models[] = { "bandwidth", "alpha-beta" };
    for (size_t i = 0; i < COUNT_OF(plans) * COUNT_OF(models); i++) {
        KEEP(struct design_point, s, study_free);
        KEEP(struct design, d, design_free);
        struct training_report r;
        evaluate(&s, &d, plans[i / 2], models[i % 2]);
        training_report(&r, &s, &s.workloads[0], &d.loads[0]);
        assert_close(sum_of(&r), r.time_s, 1e-12);
        assert_true(fabs(r.rest_s) <= 1e-12 * r.time_s);
        for (int a = 0; a < N_REPORT_AXES; a++) {
            double wait_s = 0;
            for (int32_t k = 0; k < s.net.n_dims; k++)
                wait_s += r.dim_s[a][k];
            assert_true(wait_s <= r.axis_s[a] * (1 + 1e-12));
        }
    }
}

/* Where collectives meet they slow each other down: that is the rest, and nothing else is. */
TEST(what_a_simulation_adds_is_the_rest)
{
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        KEEP(struct design_point, s, study_free);
        KEEP(struct design, d, design_free);
        struct training_report r;
        evaluate(&s, &d, plans[i], "chunk");
        training_report(&r, &s, &s.workloads[0], &d.loads[0]);
        assert_close(sum_of(&r) + r.rest_s, r.time_s, 1e-12);
        assert_true(fabs(r.rest_s) < 0.2 * r.time_s);
    }
}

TEST(a_row_has_a_cell_for_every_column)
{
    KEEP(struct design_point, s, study_free);
    KEEP(struct design, d, design_free);
    struct training_row row;
    KEEP(struct columns, columns, columns_free);
    KEEP(struct table, t, table_free) = { 0 };
    evaluate(&s, &d, plans[0], "alpha-beta");
    OK(training_row_fill(&row, &s, &d, e));
    OK(column_choose(&columns, training_columns, &(struct column_choice){ .hidden = false }, e));
    columns_put(&t, &columns);
    table_row(&t);
    row_put(&t, &columns, &row);
    assert_int_equal(t.col, t.n_cols);
    assert_row(&t, 0, "tp=4 recompute=selective fits=yes tokens_per_s=%.17g", 32 * 512 / d.time_s);
}
