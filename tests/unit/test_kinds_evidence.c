/* What stands behind a predicted step: whose rows count for which plan, the band around its time, and draws
 * of weft's own error. */
#include "kinds/design/ask/load.h"
#include "kinds/design/explore/solve.h"
#include "tests/unit/folder.h"
#include "kinds/design/answer/evidence.h"
#include "kinds/design/answer/evidence_table.inc"
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

/* What the first workload has; false: nothing near. */
static bool find(struct evidence *v, const struct opened *o)
{
    return evidence_find(v, o->s.workloads[0].training, &o->s.net.npu);
}

TEST(a_plan_on_a_preset_is_covered_by_its_rows)
{
    KEEP(struct opened, o, close_study);
    struct evidence v;
    open_study(&o, "", NULL, NULL);
    assert_true(find(&v, &o));
    assert_string_equal(v.npu, "A100 80 GB");
    assert_true(v.software == EVIDENCE_MEGATRON_2021 && !v.experts && evidence_rows(&v) > 100);
    struct evidence_band band = evidence_band(&v, 10);
    assert_close(log(10 / band.low_s), v.reach, 1e-12);
    assert_close(log(band.high_s / 10), v.reach, 1e-12);
    assert_close(v.reach, 1.6448536269514722 * v.spread, 1e-12);
    struct evidence_band all;
    int64_t rows;
    assert_true(design_time_band(&all, &rows, &o.d) && rows == evidence_rows(&v));
    band = evidence_band(&v, o.d.time_s);
    assert_close(all.low_s, band.low_s, 1e-12);
    assert_close(all.high_s, band.high_s, 1e-12);
}

/* The further a plan is from the rows, the less they say: figures of the NPU, kind of model, precision. */
TEST(bands_widen_with_the_distance_and_end)
{
    CASES(const char *key, *value; bool near) = {
        { "network.npu.mem_GBps", "2100", true },
        { "network.npu.matrix_efficiency", "0.8", true },
        { "workload.model",
          "{ layers: 4, hidden: 1024, heads: 16, seq: 512, vocab: 32000, moe: { experts: 8, top_k: 2, ffn: "
          "512 } }",
          true },
        { "workload.parallel.software", "compiled", true },
        { "network.npu.peak_TFLOPS", "3120", false },
        { "network.npu.mem_GBps", "200", false },
        { "network.npu.matrix_efficiency", "1", false }, /* timed at its peak, which none sustains */
    };
    KEEP(struct opened, own, close_study);
    struct evidence preset;
    open_study(&own, "", NULL, NULL);
    assert_true(find(&preset, &own));
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct opened, o, close_study);
        KEEP(struct text, said, text_free) = { 0 };
        struct evidence v;
        open_study(&o, "", cases[i].key, cases[i].value);
        assert_true(find(&v, &o) == cases[i].near);
        assert_true(evidence_rows(&v) == 0 && (v.others > 0) == cases[i].near);
        assert_true(!cases[i].near || v.reach > preset.reach);
        evidence_say(&said, cases[i].near ? &v : NULL, o.s.workloads[0].training);
        assert_has(text_str(&said),
                   cases[i].near ? "no measured step of" : "no measured step covers this NPU as described");
        struct evidence_band band;
        assert_true(design_time_band(&band, NULL, &o.d) == cases[i].near);
    }
}

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
        struct evidence v;
        open_study(&o, "", "workload.parallel.software", cases[i].software);
        assert_int_equal(evidence_software_of(&o.s.workloads[0].training->plan), cases[i].of);
        assert_true(find(&v, &o) && (evidence_rows(&v) > 0) == cases[i].covers && v.software == cases[i].of);
        evidence_say(&said, &v, o.s.workloads[0].training);
        assert_has(text_str(&said), v.npu);
        assert_has(text_str(&said), evidence_software_words[cases[i].of]);
    }
}

/* The rows, one by one, without their own families: nine of ten are inside, so that a band of other families'
 * errors says what it claims. The formula once more, for one of them. */
TEST(bands_hold_rows_of_families_that_they_were_not_made_from)
{
    int32_t inside = 0, banded = 0;
    for (size_t i = 0; i < COUNT_OF(steps); i++) {
        const struct evidence_step *x = &steps[i];
        struct evidence v;
        if (!evidence_of(&v, &kinds[x->kind], (enum topo_precision)x->precision, x->gpus, x->family))
            continue;
        banded++;
        inside += fabs(x->error) <= v.reach;
    }
    assert_true(banded > 400 && inside >= 0.85 * banded && inside <= 0.95 * banded);
}

/* Of few rows, and of none in the precision, less is known than of many. */
TEST(fewer_and_other_rows_make_wider_bands)
{
    int32_t h100 = -1;
    for (int32_t k = 0; k < (int32_t)COUNT_OF(kinds); k++)
        if (strcmp(kinds[k].npu, "H100") == 0 && kinds[k].software == EVIDENCE_MEGATRON && !kinds[k].experts)
            h100 = k;
    assert_true(h100 >= 0);
    struct evidence near, far, other;
    struct evidence_kind apart = kinds[h100];
    assert_true(evidence_of(&near, &kinds[h100], TOPO_BF16, 512, -1));
    assert_true(evidence_of(&far, &kinds[h100], TOPO_BF16, 1e6, -1) && far.reach > near.reach);
    assert_true(evidence_of(&other, &kinds[h100], TOPO_NVFP4, 512, -1) && other.reach > near.reach);
    apart.mem_Bps *= 1.3;
    assert_true(evidence_of(&other, &apart, TOPO_BF16, 512, -1) && other.reach > near.reach);
}

TEST(what_rows_there_are_is_told)
{
    KEEP(struct opened, o, close_study);
    open_study(&o, "", NULL, NULL);
    struct training *x = o.s.workloads[0].training;
    CASES(int32_t n16, n8, others; enum topo_precision in; const char *said) = {
        { 1, 0, 9, TOPO_BF16,
          "here, torch.compile, experts: 1 measured step, mean error 5 %, 9 of 10 within 25 %" },
        { 9, 0, 9, TOPO_FP8,
          "here, torch.compile, experts: 9 measured steps, mean error 5 %, 9 of 10 within 25 %, none in "
          "fp8" },
        { 0, 0, 7, TOPO_FP8,
          "no measured step of torch.compile, experts on this NPU as described; 7 near it (here, or other "
          "software or model), mean error 5 %, 9 of 10 within 25 %" },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        KEEP(struct text, said, text_free) = { 0 };
        struct evidence v = { .npu = "here",
                              .software = EVIDENCE_COMPILED,
                              .experts = true,
                              .others = cases[i].others,
                              .mean = 0.05,
                              .reach = log(1.25) };
        v.n[TOPO_BF16] = cases[i].n16;
        v.n[TOPO_FP8] = cases[i].n8;
        x->plan.precision = (int32_t)cases[i].in;
        evidence_say(&said, &v, x);
        assert_string_equal(text_str(&said), cases[i].said);
    }
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
        struct evidence evidence;
        assert_true(find(&evidence, &o));
        double spread = evidence.spread;
        for (int k = 0; k < 3; k++)
            assert_near(log(v[k] / o.d.time_s), (k - 1) * 1.2815515655446004 * spread, 0.03 * spread);
    }
}

TEST(model_error_is_not_known_where_no_row_covers_the_step)
{
    KEEP(struct opened, o, close_study);
    double v[6];
    open_study(&o, "uncertain: model\n", "network.npu.matrix_efficiency", "0.3");
    OK(uncertain_read(&o.u, &o.s.doc, yaml_get(&o.s.doc, o.s.doc.root, "uncertain"), 1, e));
    assert_true(!uncertain_is_empty(&o.u) && o.u.draws == 1000);
    OK(uncertain_fill(v, &o.u, &o.d, e));
    assert_true(isnan(v[0]) && isnan(v[1]) && isnan(v[2]));
    assert_close(v[4], o.d.cost_usd, 1e-12);
}

/* The user's own steps alone say the band of plans of their precision; of others they are its least. Where no
 * published step is near either, others have none. */
TEST(a_calibrated_npu_has_its_own_band)
{
    KEEP(struct opened, o, close_study);
    struct evidence published, v;
    open_study(&o, "", NULL, NULL);
    assert_true(find(&published, &o));
    o.s.net.npu.step_band = 0.08;
    o.s.net.npu.step_band_rows = 4;
    assert_true(find(&v, &o) && v.calibrated == 4 && evidence_rows(&v) == 4 && !v.npu);
    assert_close(evidence_band(&v, 10).high_s, 10.8, 1e-12);
    o.s.net.npu.step_band_precision = TOPO_FP8;
    assert_true(find(&v, &o) && !v.calibrated && evidence_rows(&v) == evidence_rows(&published));
    assert_close(v.reach, published.reach, 1e-15);
    o.s.net.npu.step_band = 1;
    assert_true(find(&v, &o) && !v.calibrated);
    assert_close(evidence_band(&v, 10).low_s, 5, 1e-12);
    o.s.net.npu.peak_flops *= 100;
    assert_false(find(&v, &o));
    o.s.net.npu.step_band_precision = TOPO_BF16;
    assert_true(find(&v, &o) && v.calibrated == 4);
}
