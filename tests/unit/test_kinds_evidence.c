/* What stands behind a predicted step: whose rows count for which plan, the band around its time, and draws
 * of weft's own error. */
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/solve.h"
#include "tests/unit/folder.h"
#include "kinds/design/answer/evidence.h"
#include "kinds/design/explore/uncertain.h"

#define NETWORK "network: configs/networks/selene-a100.yaml\nmodel: alpha-beta\n"
#define LOAD                                                                                                 \
    "workload: { name: m, model: configs/models/megatron-22b.yaml, parallel: { tp: 8, batch: 512, "          \
    "seq_parallel: true } }\n"

struct opened {
    struct folder f;
    struct design_point s;
    struct uncertain u;
    struct design d;
};

/* Files count from the working directory in overrides. */
static void open_study(struct opened *o, const char *uncertain, const char *key, const char *value)
{
    const struct study_override set[] = { { "network", "configs/networks/selene-a100.yaml" },
                                          { "workload.model", "configs/models/megatron-22b.yaml" },
                                          { key, value } };
    char text[1024];
    o->f = (struct folder){ 0 };
    scratch_make(o->f.dir);
    o->u = (struct uncertain){ 0 };
    snprintf(text, sizeof text, "%sseed: 3\n%s%s", NETWORK, LOAD, uncertain);
    MUST(design_point_load(&o->s, put(&o->f, "study.yaml", text), set, key ? 3 : 2,
                           DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH, e));
    MUST(design_evaluate(&o->d, &o->s, NULL, e));
}

static void close_study(struct opened *o)
{
    uncertain_free(&o->u);
    design_free(&o->d);
    design_point_free(&o->s);
    folder_remove(&o->f);
}

static const struct evidence *evidence_of(const struct opened *o)
{
    return evidence_find(o->s.workloads[0].training, &o->s.net.npu);
}

TEST(a_plan_on_a_preset_is_covered_by_its_rows)
{
    KEEP(struct opened, o, close_study);
    open_study(&o, "", NULL, NULL);
    const struct evidence *v = evidence_of(&o);
    assert_non_null(v);
    assert_string_equal(v->npu, "A100 80 GB");
    assert_true(v->software == EVIDENCE_MEGATRON_2021 && !v->experts && evidence_rows(v) > 100);
    struct evidence_band band = evidence_band(v, 10);
    assert_close(band.low_s * (1 + v->band), 10, 1e-12);
    assert_close(band.high_s * (1 - v->band), 10, 1e-12);
}

TEST(what_no_row_ran_on_is_not_covered)
{
    CASES(const char *key, *value) = {
        { "network.npu.matrix_efficiency", "0.8" },
        { "network.npu.mem_GBps", "2100" },
        { "network.npu.peak_TFLOPS", "313" },
        { "workload.model",
          "{ layers: 4, hidden: 1024, heads: 16, seq: 512, vocab: 32000, moe: { experts: 8, "
          "top_k: 2, ffn: 512 } }" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct opened, o, close_study);
        KEEP(struct text, said, text_free) = { 0 };
        open_study(&o, "", cases[i].key, cases[i].value);
        assert_null(evidence_of(&o));
        evidence_say(&said, NULL, o.s.workloads[0].training);
        assert_has(text_str(&said), "no measured step covers this NPU as described");
    }
}

/* Rows of one software say nothing of another; what is not said ran on that of 2021. */
TEST(evidence_is_of_the_software_that_a_plan_names)
{
    CASES(const char *software; enum evidence_software of; bool covers) = {
        { "megatron", EVIDENCE_MEGATRON, false },
        { "compiled", EVIDENCE_COMPILED, false },
        { "eager", EVIDENCE_EAGER, true },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct opened, o, close_study);
        KEEP(struct text, said, text_free) = { 0 };
        open_study(&o, "", "workload.parallel.software", cases[i].software);
        assert_int_equal(evidence_software_of(&o.s.workloads[0].training->plan), cases[i].of);
        const struct evidence *v = evidence_of(&o);
        assert_true(!v == !cases[i].covers && (!v || v->software == cases[i].of));
        evidence_say(&said, v, o.s.workloads[0].training);
        assert_has(text_str(&said), v ? v->npu : "no measured step covers this NPU as described");
        assert_has(text_str(&said), evidence_software_words[cases[i].of]);
    }
}

/* Fewer than ten rows are all within their band; a precision that none ran in is told. */
TEST(what_rows_there_are_is_told)
{
    KEEP(struct opened, o, close_study);
    open_study(&o, "", NULL, NULL);
    struct training *x = o.s.workloads[0].training;
    CASES(int32_t n16, n8; enum topo_precision in; const char *said) = {
        { 1, 0, TOPO_BF16, "here, torch.compile, experts: 1 measured step, mean error 5 %, all within 25 %" },
        { 9, 0, TOPO_FP8,
          "here, torch.compile, experts: 9 measured steps, mean error 5 %, all within 25 %, none in fp8" },
        { 6, 4, TOPO_FP8,
          "here, torch.compile, experts: 10 measured steps, mean error 5 %, 9 of 10 within 25 %" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, said, text_free) = { 0 };
        struct evidence v = {
            .npu = "here", .software = EVIDENCE_COMPILED, .experts = true, .mean = 0.05, .band = 0.25
        };
        v.n[TOPO_BF16] = cases[i].n16;
        v.n[TOPO_FP8] = cases[i].n8;
        x->plan.precision = (int32_t)cases[i].in;
        evidence_say(&said, &v, x);
        assert_string_equal(text_str(&said), cases[i].said);
    }
    struct evidence wide = { .band = 1.5 };
    struct evidence_band band = evidence_band(&wide, 5);
    assert_true(band.low_s == 2 && isinf(band.high_s));
}

/* ln of the draws is normal with the rows' spread: of 20000 draws a percentile is known to 2 % of it. */
TEST(model_error_is_drawn_as_wide_as_the_rows)
{
    static const char *const texts[] = {
        "uncertain: { draws: 20000, model: true }\n",
        "uncertain: { draws: 20000, model: true, keys: { network.npu.usd: { uniform: [1, 2] } } }\n",
    };
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        KEEP(struct opened, o, close_study);
        double v[6];
        open_study(&o, texts[i], NULL, NULL);
        OK(uncertain_read(&o.u, &o.s.doc, yaml_get(&o.s.doc, o.s.doc.root, "uncertain"), 1, e));
        assert_int_equal(uncertain_n_columns(&o.u), 6);
        OK(uncertain_fill(v, &o.u, &o.d, e));
        double spread = evidence_of(&o)->spread;
        for (int k = 0; k < 3; k++)
            assert_near(log(v[k] / o.d.time_s), (k - 1) * 1.2815515655446004 * spread, 0.03 * spread);
    }
}

TEST(model_error_is_not_known_where_no_row_covers_the_step)
{
    KEEP(struct opened, o, close_study);
    double v[6];
    open_study(&o, "uncertain: model\n", "network.npu.matrix_efficiency", "0.8");
    OK(uncertain_read(&o.u, &o.s.doc, yaml_get(&o.s.doc, o.s.doc.root, "uncertain"), 1, e));
    assert_true(!uncertain_is_empty(&o.u) && o.u.draws == 1000);
    OK(uncertain_fill(v, &o.u, &o.d, e));
    assert_true(isnan(v[0]) && isnan(v[1]) && isnan(v[2]));
    assert_close(v[4], o.d.cost_usd, 1e-12);
}
