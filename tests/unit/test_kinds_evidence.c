/* What stands behind a predicted step: whose rows count for which plan, the band around its time, and draws
 * of weft's own error. */
#include "tests/unit/folder.h"
#include "kinds/design/evidence.h"
#include "kinds/design/uncertain.h"

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
    double bw_Bps[TOPO_MAX_DIMS];
    o->f = (struct folder){ 0 };
    scratch_make(o->f.dir);
    o->u = (struct uncertain){ 0 };
    snprintf(text, sizeof text, "%sseed: 3\n%s%s", NETWORK, LOAD, uncertain);
    MUST(study_load(&o->s, put(&o->f, "study.yaml", text), set, key ? 3 : 2,
                    STUDY_NEEDS_WORKLOAD | STUDY_NEEDS_BANDWIDTH, e));
    for (int32_t i = 0; i < o->s.net.n_dims; i++)
        bw_Bps[i] = o->s.net.dims[i].bw_Bps;
    MUST(design_evaluate(&o->d, &o->s, bw_Bps, e));
}

static void close_study(struct opened *o)
{
    uncertain_free(&o->u);
    design_free(&o->d);
    study_free(&o->s);
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
        OK(uncertain_fill(v, &o.u, &o.s, &o.d, e));
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
    OK(uncertain_fill(v, &o.u, &o.s, &o.d, e));
    assert_true(isnan(v[0]) && isnan(v[1]) && isnan(v[2]));
    assert_close(v[4], o.d.cost_usd, 1e-12);
}
