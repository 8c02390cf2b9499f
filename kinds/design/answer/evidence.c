/*
 * Which measured steps stand behind a predicted one. A plan is of the kind of a row when NPU, class of
 * software, and having experts or not are the same. The NPU is told by its figures, not by its name: where
 * peak, sustained rate or memory bandwidth were changed, what was measured says nothing about the change.
 */
#include "kinds/design/answer/evidence.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const evidence_software_words[N_EVIDENCE_SOFTWARE + 1] = { "Megatron-LM of 2021", "Megatron-Core",
                                                                       "torch.compile", "eager PyTorch" };

static const struct evidence rows[] = {
#include "kinds/design/answer/evidence.inc"
};

enum evidence_software evidence_software_of(const struct plan *p)
{
    static const enum evidence_software classes[1 + N_PLAN_SOFTWARE] = {
        EVIDENCE_MEGATRON_2021,
        [1 + PLAN_MEGATRON] = EVIDENCE_MEGATRON,
        [1 + PLAN_COMPILED] = EVIDENCE_COMPILED,
        [1 + PLAN_EAGER] = EVIDENCE_EAGER,
        [1 + PLAN_MAXTEXT] = EVIDENCE_COMPILED,
        [1 + PLAN_PRIMUS] = EVIDENCE_MEGATRON,
    };
    return classes[1 + p->software];
}

/* The table has six digits. */
static bool evidence_is_same(double a, double b)
{
    return fabs(a / b - 1) < 1e-5;
}

const struct evidence *evidence_find(const struct training *x, const struct topo_npu *npu)
{
    enum evidence_software software = evidence_software_of(&x->plan);
    bool experts = x->model.moe.experts > 0;
    if (x->model.family != MODEL_TRANSFORMER)
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct evidence *v = &rows[i];
        if (v->software == software && v->experts == experts &&
            evidence_is_same(npu->peak_flops, v->peak_flops) &&
            evidence_is_same(topo_npu_ceiling(npu, TOPO_BF16), v->ceiling_flops) &&
            evidence_is_same(npu->mem_Bps * npu->mem_efficiency, v->mem_Bps))
            return v;
    }
    return NULL;
}

int32_t evidence_rows(const struct evidence *v)
{
    int32_t n = 0;
    for (int q = 0; q < N_TOPO_PRECISIONS; q++)
        n += v->n[q];
    return n;
}

struct evidence_band evidence_band(const struct evidence *v, double time_s)
{
    return (struct evidence_band){ time_s / (1 + v->band), v->band < 1 ? time_s / (1 - v->band) : INFINITY };
}

void evidence_say(struct text *out, const struct evidence *v, const struct training *x)
{
    if (!v) {
        text_printf(out, "no measured step covers this NPU as described, %s, %s",
                    evidence_software_words[evidence_software_of(&x->plan)],
                    x->model.family != MODEL_TRANSFORMER ? "this family of models"
                    : x->model.moe.experts > 0           ? "experts"
                                                         : "dense");
        if (x->plan.software == PLAN_SOFTWARE_NONE)
            text_puts(out, " (parallel.software is not given)");
        return;
    }
    int32_t n = evidence_rows(v);
    text_printf(out, "%s, %s, %s: %d measured step%s, mean error %.2g %%, %s within %.2g %%", v->npu,
                evidence_software_words[v->software], v->experts ? "experts" : "dense", (int)n,
                n > 1 ? "s" : "", 100 * v->mean, n < 10 ? "all" : "9 of 10", 100 * v->band);
    if (v->n[x->plan.precision] == 0)
        text_printf(out, ", none in %s", topo_precision_words[x->plan.precision]);
}

#define EVIDENCE(kind, field, ...)                                                                           \
    COLUMN_##kind(struct evidence_row, field, __VA_ARGS__, .flags = COLUMN_IF_ANY)

const struct column evidence_columns[] = {
    EVIDENCE(WORD, workload, "whose step it is", .in = IN_CSV),
    EVIDENCE(COUNT, rows, "measured steps of its kind", .in = IN_DATA, .better = 1),
    EVIDENCE(WORD, npu, "that they ran on", .in = IN_DATA),
    EVIDENCE(WORD, software, "that ran them", .in = IN_DATA),
    EVIDENCE(FLAG, experts, "yes, or no: dense", .in = IN_DATA),
    EVIDENCE(COUNT, rows_same_precision, "of them, with the plan's precision", .in = IN_DATA, .better = 1),
    EVIDENCE(REAL, mean_error, "mean of |predicted/measured - 1| over them", .in = IN_DATA, .unit = "",
             .better = -1),
    EVIDENCE(REAL, band, "what nine of ten are within; of fewer than ten, all", .in = IN_DATA, .unit = "",
             .better = -1),
    EVIDENCE(REAL, low_s, "the measured time is expected from here", .in = IN_DATA),
    EVIDENCE(REAL, high_s, "to here; blank: no end", .in = IN_DATA),
    COLUMN_WORD(struct evidence_row, said, NULL, .in = IN_TEXT, .title = "evidence: ", .flags = COLUMN_CHARS),
    COLUMNS_END,
};

/* In words, the band in the unit of the time. */
static void put_said(struct evidence_row *row, const struct evidence *v, const struct training *x,
                     double time_s)
{
    struct text said = { 0 };
    char a[SHOW], b[SHOW];
    double per_s;
    const char *unit = show_time_unit(time_s, &per_s);
    evidence_say(&said, v, x);
    if (v)
        text_printf(&said, ": %s to %s %s", show_real(a, row->low_s * per_s, 4),
                    show_real(b, row->high_s * per_s, 4), unit);
    snprintf(row->said, sizeof row->said, "%s", text_str(&said));
    text_free(&said);
}

struct evidence_row evidence_row(const struct training *x, const struct topo_npu *npu, double time_s)
{
    const struct evidence *v = evidence_find(x, npu);
    struct evidence_row row;
    row_clear(&row, evidence_columns);
    row.workload = x->name;
    row.rows = v ? evidence_rows(v) : 0;
    if (v) {
        const struct evidence_band band = evidence_band(v, time_s);
        row.npu = v->npu;
        row.software = evidence_software_words[v->software];
        row.experts = v->experts;
        row.rows_same_precision = v->n[x->plan.precision];
        row.mean_error = v->mean;
        row.band = v->band;
        row.low_s = band.low_s;
        row.high_s = band.high_s;
    }
    put_said(&row, v, x, time_s);
    return row;
}
