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
#include "kinds/design/ask/load.h"
#include "kinds/design/ask/point.h"
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

/* ---- grouped products of experts ---- */

/* Shapes are those of the forward product in all passes; weight gradients are added to 4-byte sums. */
static double grouped_s(const struct topo_npu *npu, const struct table *t, int64_t row)
{
    double m = figure(t, row, "m"), n = figure(t, row, "n"), k = figure(t, row, "k"),
           g = figure(t, row, "groups");
    bool weights = has(t, row, "pass", "wgrad");
    const struct roofline_product x = has(t, row, "pass", "dgrad") ? (struct roofline_product){ m, k, n, g }
                                      : weights                    ? (struct roofline_product){ k, n, m, g }
                                                                   : (struct roofline_product){ m, n, k, g };
    return roofline_precise_s(npu, &x, TOPO_BF16, roofline_group_efficiency(npu, &x, weights),
                              weights ? 6 * g * k * n : 0);
}

static void print_grouped(const struct table *t, int *wrong)
{
    static const char *const passes[] = { "fwd", "dgrad", "wgrad" };
    struct topo_npu npu = fixture_npu("b200");
    struct errors all = { .n = 0 };
    puts("\nGrouped products of experts on B200, in training (SimuMax).\n\n| pass | shapes | mean error % | "
         "largest | mean "
         "of signed | asked | |\n|---|--:|--:|--:|--:|--:|---|");
    for (int pass = 0; pass < 3; pass++) {
        struct errors x = { .n = 0 };
        for (int64_t row = 0; row < t->n_rows; row++) {
            if (!has(t, row, "gpu", "b200") || strcmp(case_text(t, row, "op"), "grouped_gemm") != 0 ||
                strcmp(case_text(t, row, "pass"), passes[pass]) != 0)
                continue;
            double flop = 2 * figure(t, row, "m") * figure(t, row, "n") * figure(t, row, "k") *
                          figure(t, row, "groups");
            double got = flop / grouped_s(&npu, t, row) / 1e12, want = figure(t, row, "TFLOPs");
            add_error(&x, got, want);
            add_error(&all, got, want);
        }
        if (x.n)
            printf("| %s | %d | %.1f | %.0f | %+.1f | | |\n", passes[pass], x.n, 100 * x.sum_abs / x.n,
                   100 * x.most, 100 * x.sum / x.n);
    }
    if (all.n)
        printf("| all | %d | %.1f | %.0f | %+.1f | 25 | %s |\n", all.n, 100 * all.sum_abs / all.n,
               100 * all.most, 100 * all.sum / all.n, verdict(all.sum_abs / all.n <= 0.25, wrong));
}

/* ---- tokens on their way to experts ---- */

/* Nodes that the experts of a token are on, of @p limit: 8 of 256 experts drawn without replacement. */
static double distinct_nodes(double nodes, double limit)
{
    double g = fmin(limit, nodes), each = 256 / nodes, none = 1;
    for (int i = 0; i < 8; i++)
        none *= 1 - each / (g * each - i);
    return g * (1 - none);
}

/* DeepEP V1 on H800: NVLink 160 GB/s, NICs 50 GB/s of which kernels reach 0.89; at most 4 nodes a token. */
static double dispatch_s(int nodes)
{
    KEEP(struct design_point, s, design_point_free) = { 0 };
    char network[512], parallel[256];
    double bw_Bps[] = { 160e9, 50e9 };
    snprintf(network, sizeof network,
             "{ npu: { peak_TFLOPS: 989, mem_GBps: 3350 }, dims: [ { name: node, shape: switch, size: 8, "
             "bw_GBps: 160 "
             "}, { name: pod, shape: switch, size: %d, bw_GBps: 50, efficiency: 0.89 } ] }",
             nodes);
    snprintf(parallel, sizeof parallel,
             "{ ep: %d, batch: %d, dispatcher: merged, dispatch_bits: 8, node_limit: %d }", 8 * nodes,
             8 * nodes, nodes < 4 ? nodes : 4);
    const struct study_override set[] = {
        { "network", network },
        { "workload.model",
          "{ layers: 1, hidden: 7168, heads: 56, seq: 4096, vocab: 1000, moe: { experts: 256, top_k: "
          "8, ffn: 2048 } }" },
        { "workload.parallel", parallel },
    };
    MUST(design_point_load(&s, "tests/validate/training.yaml", set, COUNT_OF(set),
                           DESIGN_NEEDS_WORKLOAD | DESIGN_NEEDS_BANDWIDTH, e));
    const struct training *x = s.workloads[0].training;
    const struct collective_way way = { &s.net, NULL, bw_Bps }; /* tokens are forwarded as they come */
    for (int32_t i = 0; i < x->cost.n_collectives; i++) {
        const struct plan_collective *c = &x->cost.collectives[i];
        struct collective_time t;
        if (c->group != PLAN_GROUP_MERGED || strcmp(c->name, "tokens to experts") != 0)
            continue;
        collective_time(&t, c->kind, c->bytes, x->place.members[c->group], x->place.stride[c->group],
                        x->place.share[c->group], &way);
        return t.time_s;
    }
    fail_msg("no tokens are sent on %d nodes", nodes);
    return NAN;
}

static void print_dispatch(const struct table *t, int *wrong)
{
    puts(
        "\nTokens to their experts, copies merged (DeepEP V1 on H800, 4,096 tokens of 7168 in 8 bits, 8 of "
        "256 experts "
        "on at most 4 nodes): logical bandwidth, a token counted once for each node that it reaches, its own "
        "included. NICs at 0.89 of 50 GB/s, which is from these rows: they hold the form, not the "
        "constant.\n\n| "
        "NPUs | measured GB/s | weft GB/s | error % | within 3 % |\n|--:|--:|--:|--:|---|");
    for (int64_t row = 0; row < t->n_rows; row++) {
        int nodes = (int)figure(t, row, "nodes");
        if (strcmp(case_text(t, row, "op"), "ep_dispatch") != 0 || !has(t, row, "gpu", "h800") ||
            !has(t, row, "unit", "GB/s") || !has(t, row, "note", "normal") || nodes < 4)
            continue;
        double want = figure(t, row, "value");
        double bytes = 4096 * 7168 * (1 + 4. / 128) * distinct_nodes(nodes, 4),
               got = bytes / dispatch_s(nodes) / 1e9;
        printf("| %d | %.0f | %.1f | %+.1f | %s |\n", 8 * nodes, want, got, 100 * (got / want - 1),
               verdict(fabs(got / want - 1) <= 0.03, wrong));
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
    print_grouped(&t, &wrong);
    print_dispatch(&t, &wrong);
    return wrong > 0;
}
