/*
 * Section of docs/validation.md: single operators, against published tables of them. No step time is used.
 * The table (operators_2026.csv) is not part of this repository: it is looked for in the folder
 * WEFT_REFERENCE, else in ../shared/reference beside the repository; without it the section says so.
 *
 * Products and casts of a layer: NVIDIA/TransformerEngine; attention and grouped products in training:
 * MooreThreads/SimuMax; attention of A100 and H100: Dao-AILab/flash-attention. Rates count 2 m n k, causal
 * attention in half.
 */
#include "base/table.h"
#include "tests/support.h"
#include "tests/unit/training_fixture.h"
#include "tests/validate/cases.h"
#include "tests/validate/verdict.h"
#include "workloads/block.h"

enum { MOST_ROWS = 2048, MOST_PARTS = 8 };

struct errors {
    double sum_abs, sum, most;
    int n;
};

static void add_error(struct errors *x, double got, double want)
{
    double error = got / want - 1;
    x->sum_abs += fabs(error);
    x->sum += error;
    x->most = fmax(x->most, fabs(error));
    x->n++;
}

static bool has(const struct table *t, int64_t row, const char *column, const char *word)
{
    return strstr(case_text(t, row, column), word) != NULL;
}

/* A field that may be text or a number: the figures between semicolons. */
static int figures(double out[MOST_PARTS], const struct table *t, int64_t row, const char *column)
{
    KEEP(struct text, x, text_free) = { 0 };
    int n = 0;
    table_cell_text(&x, t, row, table_find(t, column));
    for (const char *at = text_str(&x); *at && n < MOST_PARTS;) {
        char *end;
        out[n++] = strtod(at, &end);
        at = *end == ';' ? end + 1 : end + strlen(end);
    }
    return n;
}

static double figure(const struct table *t, int64_t row, const char *column)
{
    double x[MOST_PARTS];
    return figures(x, t, row, column) ? x[0] : NAN;
}

/* ---- products of a layer at each precision ---- */

static const struct {
    const char *gpu, *npu;
    double power_W; /**< that the part of the table may draw */
} parts[] = {
    { "h200-nvl", "h200", 600 },
    { "b300-sxm", "b300", 1100 },
};

static const struct {
    const char *precision, *recipe;
    enum topo_precision q;
} recipes[] = {
    { "bf16", "", TOPO_BF16 },
    { "fp8", "current", TOPO_FP8 },
    { "fp8", "mxfp8", TOPO_MXFP8 },
    { "fp4", "nvfp4", TOPO_NVFP4 },
};

/* Sums of the four products, all three passes; FLOP of one pass over the published time is the rate. */
static void print_products(const struct table *t, int *wrong)
{
    puts(
        "\nFour products of a layer (15,872 tokens, hidden 4096, MLP 16384), forward, input and weight "
        "gradients, operands quantised before (NVIDIA/TransformerEngine@d0067d0, "
        "docs/examples/gemm_profiling). "
        "Power: H200 NVL 600 W, by the power law from the file's 700 W.\n\n| GPU | precision | measured ms | "
        "weft ms | error % | within 3 % |\n|---|---|--:|--:|--:|---|");
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        for (size_t k = 0; k < COUNT_OF(recipes); k++) {
            struct topo_npu npu = fixture_npu(parts[i].npu);
            double want_s = 0, got_s = 0;
            npu.power_share = pow((parts[i].power_W - 150) / (npu.watt - 150), 0.375);
            for (int64_t row = 0; row < t->n_rows; row++) {
                double m[MOST_PARTS], n[MOST_PARTS], in[MOST_PARTS];
                if (!has(t, row, "gpu", parts[i].gpu) || !has(t, row, "note", "SUM") ||
                    strcmp(case_text(t, row, "precision"), recipes[k].precision) != 0 ||
                    strcmp(case_text(t, row, "recipe"), recipes[k].recipe) != 0 ||
                    !has(t, row, "note", "pre-quant"))
                    continue;
                want_s += figure(t, row, "value") * 1e-6;
                int parts_n = figures(m, t, row, "m");
                figures(n, t, row, "n");
                figures(in, t, row, "k");
                for (int p = 0; p < parts_n; p++) {
                    struct roofline_product x = { m[p], n[p], in[p], 1 };
                    got_s +=
                        roofline_flop(&x) / topo_npu_peak(&npu, recipes[k].q) / roofline_efficiency(&npu, &x);
                }
            }
            if (want_s > 0)
                printf("| %s | %s | %.2f | %.2f | %+.1f | %s |\n", parts[i].gpu,
                       topo_precision_words[recipes[k].q], 1e3 * want_s, 1e3 * got_s,
                       100 * (got_s / want_s - 1), verdict(fabs(got_s / want_s - 1) <= 0.03, wrong));
        }
}

/* ---- fused attention ---- */

/* Kernel of a row: SimuMax ran Transformer Engine on B200; the tables of FlashAttention name theirs. */
static bool find_kernel(struct topo_npu_attention *out, const struct table *t, int64_t row,
                        const struct topo_npu *npu)
{
    if (has(t, row, "source", "SimuMax"))
        return topo_npu_find_kernel(out, npu, npu->kernels[0].kernel);
    if (has(t, row, "source", "flash2") || has(t, row, "note", "FlashAttention-2"))
        return topo_npu_find_kernel(out, npu, TOPO_FA2);
    if (has(t, row, "note", "cuDNN"))
        return topo_npu_find_kernel(out, npu, TOPO_CUDNN);
    if (has(t, row, "note", "FlashAttention-3"))
        return topo_npu_find_kernel(out, npu, TOPO_FA3);
    return false;
}

/* Error of the rate [TFLOP/s] of one pass of row @p row; false: not one of these. */
static bool compare_attention(struct errors *x, const struct table *t, int64_t row,
                              const struct topo_npu *npu, enum topo_pass pass)
{
    struct topo_npu_attention kernel;
    double batch = figure(t, row, "batch"), heads = figure(t, row, "heads"), seq = figure(t, row, "seq");
    double dim = figure(t, row, "head_dim"), v_dim = figure(t, row, "v_head_dim");
    double rate = figure(t, row, "TFLOPs");
    if (!find_kernel(&kernel, t, row, npu) || isnan(rate) || isnan(seq))
        return false;
    const struct topo_npu_heads h = {
        .rows = batch * heads * seq, .keys = seq, .key_dim = dim, .v_dim = isnan(v_dim) ? dim : v_dim
    };
    add_error(x, topo_npu_attention_rate(npu, &kernel, pass, &h) / 1e12, rate);
    return true;
}

static void print_attention(const struct table *t, int *wrong)
{
    static const struct {
        const char *source, *gpu, *npu, *op, *what;
        enum topo_pass pass;
        double asked;
    } rows[] = {
        { "SimuMax", "b200", "b200", "attention_fwd", "forward, in training (SimuMax)", TOPO_FORWARD, 10 },
        { "SimuMax", "b200", "b200", "attention_bwd", "backward, in training (SimuMax)", TOPO_BACKWARD, 10 },
        { "flash-attention", "h100-sxm", "h100-80gb", "attention_fwd", "forward (FlashAttention's figures)",
          TOPO_FORWARD, NAN },
    };
    puts("\nRates of fused attention, shape by shape.\n\n| GPU | pass | shapes | mean error % | largest | "
         "mean of "
         "signed | asked | |\n|---|---|--:|--:|--:|--:|--:|---|");
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct topo_npu npu = fixture_npu(rows[i].npu);
        struct errors x = { .n = 0 };
        for (int64_t row = 0; row < t->n_rows; row++)
            if (has(t, row, "source", rows[i].source) && has(t, row, "gpu", rows[i].gpu) &&
                strcmp(case_text(t, row, "op"), rows[i].op) == 0)
                compare_attention(&x, t, row, &npu, rows[i].pass);
        if (!x.n)
            continue;
        double mean = 100 * x.sum_abs / x.n;
        printf("| %s | %s | %d | %.1f | %.0f | %+.1f |", rows[i].gpu, rows[i].what, x.n, mean, 100 * x.most,
               100 * x.sum / x.n);
        if (isnan(rows[i].asked))
            puts(" | |");
        else
            printf(" %g | %s |\n", rows[i].asked, verdict(mean <= rows[i].asked, wrong));
    }
}

int main(void)
{
    const char *folder = getenv("WEFT_REFERENCE");
    char path[1024];
    int wrong = 0;
    KEEP(struct table, t, table_free) = { 0 };
    snprintf(path, sizeof path, "%s/operators_2026.csv", folder && *folder ? folder : "../shared/reference");
    puts("\n## Operators of today's machines\n");
    if (access(path, R_OK)) {
        puts("The table of operators, operators_2026.csv, is not there; nothing is held against it.");
        return 0;
    }
    MUST(table_read_csv(&t, path, e));
    puts("Single operators against published tables of them: constants of NPU files without any step time.");
    print_products(&t, &wrong);
    print_attention(&t, &wrong);
    return wrong > 0;
}
