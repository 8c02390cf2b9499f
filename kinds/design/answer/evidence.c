/*
 * Which measured steps stand behind a predicted one, and the band around it.
 *
 * Every row has the error of a weft whose constants were chosen without the row's family. Rows on NPUs of
 * like figures are near: an NPU is told by its figures, not by its name. A difference makes a row count less
 * and what it says wider. A family counts no more than two rows, however many it has, for they err together:
 *
 *   w    product of 1/(1 + (octaves between the numbers of GPUs/6)^2), e^(-d/0.3), and 0.3, 0.4, 0.6 where
 *        software, experts, precision differ;   d = sum of |ln| of the ratios of peak, ceiling, memory
 *   m_f  mean by w of sqrt(pi/2) |error| + 0.06 d + 0.0015 octaves + 0.05, 0.01, 0.0075 as above:  of one
 * family W_f  sum of w/(1 + 0.5 sum of w) s    (3 s_0 + sum W_f m_f)/(3 + sum W_f)        s_0: mean over all
 * families of sqrt(pi/2) |error| band e^(+-t s),  t the 95 % quantile of Student's t with 3 + sum W_f degrees
 * of freedom
 *
 * sqrt(pi/2) |error| is the spread of a normal whose mean |error| that is; squares would leave it to the few
 * slow runs. No row is near below a sum of weights of 0.5. Weights and widths are ours, chosen so that bands
 * hold nine of ten rows of families that were left out.
 */
#include "kinds/design/answer/evidence.h"

#include <math.h>
#include <stdio.h>

#include "base/sheet.h"
#include "base/stat.h"
#include "kinds/design/answer/evidence_table.inc"

const char *const evidence_software_words[N_EVIDENCE_SOFTWARE + 1] = { "Megatron-LM of 2021", "Megatron-Core",
                                                                       "torch.compile", "eager PyTorch" };

enum { N_KINDS = sizeof kinds / sizeof *kinds, N_FAMILIES = sizeof families / sizeof *families };
#define N_STEPS ((int32_t)(sizeof steps / sizeof *steps))

enum evidence_software evidence_software_of(const struct plan *p)
{
    static const enum evidence_software classes[N_PLAN_SOFTWARE] = {
        [PLAN_MEGATRON] = EVIDENCE_MEGATRON, [PLAN_COMPILED] = EVIDENCE_COMPILED,
        [PLAN_EAGER] = EVIDENCE_EAGER,       [PLAN_MAXTEXT] = EVIDENCE_COMPILED,
        [PLAN_PRIMUS] = EVIDENCE_MEGATRON,
    };
    return plan_is_2021(p) ? EVIDENCE_MEGATRON_2021 : classes[p->software];
}

struct evidence_kind evidence_kind_of(const struct training *x, const struct topo_npu *npu)
{
    return (struct evidence_kind){ NULL,
                                   evidence_software_of(&x->plan),
                                   x->model.moe.experts > 0,
                                   npu->peak_flops,
                                   topo_npu_ceiling(npu, TOPO_BF16) * topo_npu_step_share(npu, TOPO_BF16),
                                   npu->mem_Bps * npu->mem_efficiency };
}

/* ---- the band ---- */

#define SAME_NPU         1e-3 /* the table has six digits */
#define FARTHEST         0.7
#define FALL             0.3
#define WIDER_PER_FAR    0.06
#define OCTAVES          6.0
#define WIDER_PER_OCTAVE 0.0015
#define LEAST_WEIGHT     0.5
#define ALIKE            0.5 /* of rows of a family */
#define PRIOR            3.0
#define INSIDE           0.95 /* one side; both: nine of ten */
#define INSIDE_OF_NORMAL 1.6448536269514722

/* What counts less and says less, by what differs. */
static const struct difference {
    double weight, wider;
} by_software = { 0.3, 0.05 }, by_experts = { 0.4, 0.01 }, by_precision = { 0.6, 0.0075 };

static double npu_distance(const struct evidence_kind *a, const struct evidence_kind *b)
{
    return fabs(log(a->peak_flops / b->peak_flops)) + fabs(log(a->ceiling_flops / b->ceiling_flops)) +
           fabs(log(a->mem_Bps / b->mem_Bps));
}

/* What the kinds of rows are to a plan. */
struct kind_weight {
    double weight, wider;
    bool same;
};

static struct kind_weight weigh_kind(const struct evidence_kind *row, const struct evidence_kind *plan)
{
    double far = npu_distance(row, plan);
    struct kind_weight x = { 0 };
    /* No NPU sustains its peak: one that is timed there says nothing of what it does. */
    if (!(far < FARTHEST) || !(plan->ceiling_flops < plan->peak_flops))
        return x;
    x.same = far < SAME_NPU && row->software == plan->software && row->experts == plan->experts;
    x.weight = exp(-far / FALL);
    x.wider = WIDER_PER_FAR * far;
    if (row->software != plan->software) {
        x.weight *= by_software.weight;
        x.wider += by_software.wider;
    }
    if (row->experts != plan->experts) {
        x.weight *= by_experts.weight;
        x.wider += by_experts.wider;
    }
    return x;
}

/* Sums over rows: all of a family; near ones of it by their weights; of the plan's kind. */
struct family_sum {
    double rows, errors, weight, spread;
};

/* sqrt(pi/2): from a mean of |x| to the spread of a normal x. */
#define SPREAD_OF_MEAN 1.2533141373155003

static double spread_of(double weight, double sums, const struct family_sum by_family[N_FAMILIES])
{
    double prior = 0, n = 0;
    for (int32_t f = 0; f < N_FAMILIES; f++)
        if (by_family[f].rows > 0) {
            prior += SPREAD_OF_MEAN * by_family[f].errors / by_family[f].rows;
            n++;
        }
    return (PRIOR * prior / n + sums) / (PRIOR + weight);
}

/* The label of the nearest NPU that has rows of weight. */
static const char *nearest_npu(const struct evidence_kind *plan)
{
    int32_t best = 0;
    for (int32_t k = 1; k < N_KINDS; k++)
        if (npu_distance(&kinds[k], plan) < npu_distance(&kinds[best], plan))
            best = k;
    return kinds[best].npu;
}

static void count_step(struct evidence *out, struct family_sum *f, const struct evidence_step *x,
                       const struct kind_weight *kind, enum topo_precision precision, double gpus)
{
    double octaves = log2(x->gpus / gpus) / OCTAVES, error = fabs(x->error), w = kind->weight,
           wider = kind->wider;
    f->rows++;
    f->errors += error;
    if (!(w > 0))
        return;
    if (kind->same)
        out->n[x->precision]++;
    else
        out->others++;
    if (x->precision != (int32_t)precision) {
        w *= by_precision.weight;
        wider += by_precision.wider;
    }
    w /= 1 + octaves * octaves;
    wider += WIDER_PER_OCTAVE * OCTAVES * fabs(octaves);
    f->weight += w;
    f->spread += w * (SPREAD_OF_MEAN * error + wider);
}

/* Of the rows of the plan's kind, or of all that are near. */
static double mean_error(const struct kind_weight by_kind[N_KINDS], bool same, int32_t without)
{
    double sum = 0, n = 0;
    for (int32_t i = 0; i < N_STEPS; i++) {
        const struct kind_weight *k = &by_kind[steps[i].kind];
        if (steps[i].family != without && (same ? k->same : k->weight > 0)) {
            sum += fabs(expm1(steps[i].error));
            n++;
        }
    }
    return n > 0 ? sum / n : NAN;
}

bool evidence_of(struct evidence *out, const struct evidence_kind *kind, enum topo_precision precision,
                 double gpus, int32_t without)
{
    struct kind_weight by_kind[N_KINDS];
    struct family_sum by_family[N_FAMILIES] = { 0 };
    double near = 0, weight = 0, sums = 0;
    *out = (struct evidence){ .software = kind->software, .experts = kind->experts };
    for (int32_t k = 0; k < N_KINDS; k++)
        by_kind[k] = weigh_kind(&kinds[k], kind);
    for (int32_t i = 0; i < N_STEPS; i++)
        if (steps[i].family != without)
            count_step(out, &by_family[steps[i].family], &steps[i], &by_kind[steps[i].kind], precision, gpus);
    for (int32_t f = 0; f < N_FAMILIES; f++)
        if (by_family[f].weight > 0) {
            double counts = by_family[f].weight / (1 + ALIKE * by_family[f].weight);
            near += by_family[f].weight;
            weight += counts;
            sums += counts * by_family[f].spread / by_family[f].weight;
        }
    if (near < LEAST_WEIGHT) {
        *out = (struct evidence){ .software = kind->software, .experts = kind->experts };
        return false;
    }
    out->npu = nearest_npu(kind);
    out->reach = stat_student(INSIDE, PRIOR + weight) * spread_of(weight, sums, by_family);
    out->spread = out->reach / INSIDE_OF_NORMAL;
    out->mean = mean_error(by_kind, evidence_rows(out) > 0, without);
    return true;
}

/* The band of the user's own steps, of plans of their precision; of others it is the least. False: nothing is
 * known of the precision. */
static bool take_calibrated(struct evidence *out, bool near, const struct plan *p, const struct topo_npu *npu)
{
    bool same = npu->step_band_precision < 0 || npu->step_band_precision == p->precision;
    double reach = log1p(npu->step_band);
    if (isnan(reach) || (!same && !(near && reach > out->reach)))
        return near;
    out->reach = reach;
    out->spread = reach / INSIDE_OF_NORMAL;
    if (!same)
        return near;
    *out = (struct evidence){ .software = out->software,
                              .experts = out->experts,
                              .mean = NAN,
                              .reach = reach,
                              .spread = out->spread,
                              .calibrated = npu->step_band_rows > 0 ? npu->step_band_rows : 1 };
    return true;
}

bool evidence_find(struct evidence *out, const struct training *x, const struct topo_npu *npu)
{
    const struct evidence_kind kind = evidence_kind_of(x, npu);
    double gpus = 1;
    for (int a = 0; a < N_PLAN_AXES; a++)
        gpus *= (double)x->plan.degree[a];
    if (x->model.family == MODEL_TRANSFORMER)
        return take_calibrated(out, evidence_of(out, &kind, (enum topo_precision)x->plan.precision, gpus, -1),
                               &x->plan, npu);
    *out = (struct evidence){ .software = kind.software, .experts = kind.experts };
    return false;
}

int32_t evidence_rows(const struct evidence *v)
{
    int32_t n = (int32_t)v->calibrated;
    for (int q = 0; q < N_TOPO_PRECISIONS; q++)
        n += v->n[q];
    return n;
}

struct evidence_band evidence_band(const struct evidence *v, double time_s)
{
    return (struct evidence_band){ time_s / exp(v->reach), time_s * exp(v->reach) };
}

/* ---- in words ---- */

static void say_none(struct text *out, const struct training *x)
{
    text_printf(out, "no measured step covers this NPU as described, %s, %s",
                evidence_software_words[evidence_software_of(&x->plan)],
                x->model.family != MODEL_TRANSFORMER ? "this family of models"
                : x->model.moe.experts > 0           ? "experts"
                                                     : "dense");
    if (x->plan.software == PLAN_SOFTWARE_NONE)
        text_puts(out, " (parallel.software is not given)");
}

void evidence_say(struct text *out, const struct evidence *v, const struct training *x)
{
    if (!v) {
        say_none(out, x);
        return;
    }
    int32_t n = evidence_rows(v);
    char mean[SHOW], reach[SHOW];
    show_real(mean, 100 * v->mean, 2);
    const char *software = evidence_software_words[v->software], *model = v->experts ? "experts" : "dense";
    if (v->calibrated)
        text_printf(out, "this NPU is calibrated on %d measured step%s", (int)n, n > 1 ? "s" : "");
    else if (n > 0)
        text_printf(out, "%s, %s, %s: %d measured step%s, mean error %s %%", v->npu, software, model, (int)n,
                    n > 1 ? "s" : "", mean);
    else
        text_printf(out,
                    "no measured step of %s, %s on this NPU as described; %d near it (%s, or other software "
                    "or model), mean error %s %%",
                    software, model, (int)v->others, v->npu, mean);
    text_printf(out, ", 9 of 10 within %s %%", show_real(reach, 100 * expm1(v->reach), 2));
    if (n > 0 && !v->calibrated && v->n[x->plan.precision] == 0)
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
    EVIDENCE(COUNT, others, "near ones besides: other NPU, software or kind of model", .in = IN_DATA,
             .better = 1),
    EVIDENCE(REAL, mean_error, "mean of |predicted/measured - 1| over them", .in = IN_DATA, .unit = "",
             .better = -1),
    EVIDENCE(REAL, band,
             "the measured time is nine times of ten within this share above, and as many times below",
             .in = IN_DATA, .unit = "", .better = -1),
    EVIDENCE(REAL, low_s, "the measured time is expected from here", .in = IN_DATA),
    EVIDENCE(REAL, high_s, "to here", .in = IN_DATA),
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
    struct evidence v;
    bool near = evidence_find(&v, x, npu);
    struct evidence_row row;
    row_clear(&row, evidence_columns);
    row.workload = x->name;
    row.rows = evidence_rows(&v);
    if (near) {
        const struct evidence_band band = evidence_band(&v, time_s);
        row.npu = v.npu;
        row.software = evidence_software_words[v.software];
        row.experts = v.experts;
        row.rows_same_precision = v.calibrated ? (int32_t)v.calibrated : v.n[x->plan.precision];
        row.others = v.others;
        row.mean_error = v.mean;
        row.band = expm1(v.reach);
        row.low_s = band.low_s;
        row.high_s = band.high_s;
    }
    put_said(&row, near ? &v : NULL, x, time_s);
    return row;
}
