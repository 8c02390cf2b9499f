/*
 * One accelerator as files describe it: a table of keys (base/schema.h) and what the table cannot say. How
 * much less of the peak small products reach is given in one of two ways, by a saturating law or by a list of
 * sizes; both at once are refused, since one would be without effect. Every figure is of the times of
 * operators (USE_COMPUTE) or of bills (USE_SYSTEM), by which commands tell keys that they leave alone.
 *
 * A power limit below the data sheet's scales rates by ((P - 150)/(watt - 150))^0.375: power goes as f V^2
 * and V about as f^0.8, 150 W flow at rest. Checked on one pair of its own: H200 at 600 W of 700, 0.603 of
 * the peak predicted, 0.606 measured (NVIDIA/TransformerEngine gemm_profiling).
 */

#include "topo/npu.h"

#include <math.h>
#include <stddef.h>

#include "topo/uses.h"

static const struct key size_keys[] = {
    K_REAL_OR(struct topo_npu_size, from_flop, "from_GFLOP", "GFLOP", 1e9, 0, 1e12, NAN,
              "products from this size on; the smallest also stands for what is below it", .required = true,
              .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu_size, efficiency, "efficiency", "", 1, 1e-3, 1, NAN,
              "reach this share of peak_TFLOPS", .required = true, .uses = USE_COMPUTE),
};

const char *const topo_precision_words[N_TOPO_PRECISIONS + 1] = { "bf16", "fp8", "mxfp8", "nvfp4" };
const double topo_precision_B[N_TOPO_PRECISIONS] = { 2, 1, 1 + 1 / 32.0, 0.5 + 1 / 16.0 };
const char *const topo_software_words[N_TOPO_SOFTWARE + 1] = { "megatron",      "compiled", "eager",
                                                               "megatron-2021", "maxtext",  "primus" };
const char *const topo_kernel_words[N_TOPO_KERNELS + 1] = { "fa1", "fa2", "fa3", "cudnn", "aiter", "splash" };

/* FlashAttention-1 beside 2 on the same part. */
#define FA1_OF_FA2 0.6
#define TILE_ROWS  256.0
#define IDLE_W     150.0
#define POWER_TO   0.375

K_SECTION(topo_npu_size_section, struct topo_npu_size, "npu.matrix_sizes", size_keys,
          "efficiency of matrix products of one size", STUDY_USES);

#define RATE(f, key, ...)                                                                                    \
    K_REAL_OR(struct topo_npu_attention, f, key, "TFLOP/s", 1e12, 1e-3, 1e9, NAN, __VA_ARGS__,               \
              .required = true, .uses = USE_COMPUTE)
#define HALF(f, key, ...)                                                                                    \
    K_REAL(struct topo_npu_attention, f, key, "", 1, 0, 1e6, 0, __VA_ARGS__, .always = true,                 \
           .uses = USE_COMPUTE)
#define FACTOR(f, key, ...)                                                                                  \
    K_REAL(struct topo_npu_attention, f, key, "", 1, 1e-3, 10, 1, __VA_ARGS__, .always = true,               \
           .uses = USE_COMPUTE)

static const struct key attention_keys[] = {
    K_WORD_OR(struct topo_npu_attention, kernel, "kernel", topo_kernel_words, TOPO_FA2,
              "generation of fused kernels", .required = true, .uses = USE_COMPUTE),
    RATE(flops[TOPO_FORWARD], "forward_TFLOPS",
         "forward rate on long sequences and heads of 128; causal attention counts half of the FLOP"),
    RATE(flops[TOPO_BACKWARD], "backward_TFLOPS", "backward rate, which counts 2.5 times the FLOP"),
    HALF(half_tiles[TOPO_FORWARD], "half_tiles_forward",
         "tiles of 256 queries per SM at which half of the forward rate is lost: u/(u + half)"),
    HALF(half_tiles[TOPO_BACKWARD], "half_tiles_backward", "the same for the backward rate"),
    HALF(half_seq, "half_seq", "keys at which half of the rate is lost to masked halves of tiles"),
    FACTOR(low_rank[TOPO_FORWARD], "low_rank_forward",
           "factor of the forward rate where keys are wider than values (low-rank attention)"),
    FACTOR(low_rank[TOPO_BACKWARD], "low_rank_backward", "the same for the backward rate"),
    K_REAL_OR(struct topo_npu_attention, low_rank_half[TOPO_FORWARD], "low_rank_half_forward", "", 1, 0, 1e6,
              NAN, "half_tiles_forward of low-rank attention (default: the same)", .always = true,
              .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu_attention, low_rank_half[TOPO_BACKWARD], "low_rank_half_backward", "", 1, 0,
              1e6, NAN, "half_tiles_backward of low-rank attention (default: the same)", .always = true,
              .uses = USE_COMPUTE),
    FACTOR(narrow, "narrow", "factor of the rate for heads of 64 and less"),
    FACTOR(fp8_forward, "fp8_forward", "factor of the forward rate in 8 bits"),
};

/* Absent low-rank half sizes are those of other heads. */
static int settle_attention(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct topo_npu_attention *row = base;
    (void)doc, (void)map, (void)e;
    for (int pass = 0; pass < N_TOPO_PASSES; pass++)
        if (isnan(row->low_rank_half[pass]))
            row->low_rank_half[pass] = row->half_tiles[pass];
    return 0;
}

K_SECTION(topo_npu_attention_section, struct topo_npu_attention, "npu.attention_kernels", attention_keys,
          "rates of one generation of fused attention", STUDY_USES, .check = settle_attention);

static const struct key npu_keys[] = {
    K_REMARK("name", "what it is called"),
    K_REMARK("source", "where the figures come from"),
    K_ELSEWHERE("server",
                "the product that usually holds it: `system` takes its defaults from that, see server",
                .form = "file or <server>"),
    K_REAL_OR(struct topo_npu, peak_flops, "peak_TFLOPS", "TFLOP/s", 1e12, 1e-3, 1e9, NAN,
              "dense peak at the precision of training", .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, vector_flops, "vector_TFLOPS", "TFLOP/s", 1e12, 1e-3, 1e9, INFINITY,
              "peak of elementwise work (default: never the bottleneck)", .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, mem_B, "mem_GB", "GB", 1e9, 1e-3, 1e9, NAN, "memory of one NPU",
              .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, mem_Bps, "mem_GBps", "GB/s", 1e9, 1e-3, 1e9, NAN, "bandwidth of that memory",
              .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, mem_efficiency, "mem_efficiency", "", 1, 1e-3, 1, 1,
           "share of mem_GBps that streaming reaches", .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, gather, "gather_efficiency", "", 1, 1e-3, 1, NAN,
              "share of mem_GBps that permuting tokens to experts and back reaches (default: mem_efficiency)",
              .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, matrix_efficiency, "matrix_efficiency", "", 1, 1e-3, 1, 1,
           "share of peak_TFLOPS that a very large matrix product reaches", .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, half_out, "matrix_half_out", "", 1, 0, 1e6, 0,
           "rows or columns of a product at which half of that efficiency is lost: n/(n + half)",
           .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, half_in, "matrix_half_in", "", 1, 0, 1e6, 0,
           "inner size of a product at which half of that efficiency is lost", .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, matrix_tile, "matrix_tile", "", 1, 1, 4096, 1,
           "width of the matrix units: sizes of a product are rounded up to multiples of it (default: no "
           "rounding)",
           .uses = USE_COMPUTE),
    K_LIST(struct topo_npu, sizes, n_sizes, "matrix_sizes", 1, &topo_npu_size_section,
           "in place of these three: list of efficiencies by size of product, see npu.matrix_sizes",
           .what = "sizes", .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, attention, "attention_efficiency", "", 1, 1e-3, 1, 1,
           "attention that is not fused: share of what a single product of its size reaches",
           .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, flash, "flash_efficiency", "", 1, 1e-3, 1, 1,
              "fused attention: share of peak_TFLOPS (default: matrix_efficiency)", .uses = USE_COMPUTE),
    K_LIST(struct topo_npu, kernels, n_kernels, "attention_kernels", 1, &topo_npu_attention_section,
           "in place of flash_efficiency: rates by kernel and pass, the first for plans that name none",
           .what = "kernels", .uses = USE_COMPUTE),
    K_WORD_OR(struct topo_npu, software, "software", topo_software_words, TOPO_SOFTWARE_NONE,
              "software that runs on it today, for plans that name none in parallel.software (default: "
              "megatron-2021)",
              .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, step_band, "step_band", "", 1, 1e-3, 10, NAN,
              "nine of ten measured steps of this machine differ from the model by at most this share, as "
              "weft calibrate found (default: by published steps)",
              .uses = USE_COMPUTE),
    K_COUNT_OR(struct topo_npu, step_band_rows, "step_band_rows", 1, 1e6, 0,
               "measured steps that step_band rests on", .uses = USE_COMPUTE),
    K_WORD_OR(struct topo_npu, step_band_precision, "step_band_precision", topo_precision_words, -1,
              "precision of those steps; other precisions get no narrower band than published steps give "
              "(default: any)",
              .uses = USE_COMPUTE),
    K_COUNT_OR(struct topo_npu, sms, "sms", 1, 1e6, 0,
               "streaming multiprocessors (default: attention does not depend on their number)",
               .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, peak_8bit_flops, "peak_8bit_TFLOPS", "TFLOP/s", 1e12, 1e-3, 1e9, NAN,
              "dense peak of fp8 and mxfp8 (default: the NPU has neither)", .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, peak_4bit_flops, "peak_4bit_TFLOPS", "TFLOP/s", 1e12, 1e-3, 1e9, NAN,
              "dense peak of nvfp4 (default: the NPU has no nvfp4)", .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, share[TOPO_FP8], "fp8_share", "", 1, 0, 1, 1,
           "share of matrix_efficiency that products in fp8 reach; 0: the NPU has no fp8",
           .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, share[TOPO_MXFP8], "mxfp8_share", "", 1, 0, 1, 1,
           "share of matrix_efficiency that products in mxfp8 reach; 0: the NPU has no mxfp8",
           .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, share[TOPO_NVFP4], "nvfp4_share", "", 1, 0, 1, 1,
           "share of matrix_efficiency that products in nvfp4 reach; 0: the NPU has no nvfp4",
           .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, step_share, "step_share", "", 1, 1e-3, 1, 1,
           "rate of 16-bit products in a whole training step over that of single products",
           .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, step_share_8bit, "step_share_8bit", "", 1, 1e-3, 1, NAN,
              "the same for fp8 and mxfp8 (default: step_share)", .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, group_half_out, "group_half_out", "", 1, 0, 1e6, NAN,
              "matrix_half_out of the rows of one expert in grouped products (default: the same)",
              .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, power_W, "power_W", "W", 1, 0, 1e9, NAN,
              "power that it may draw for long, where less than watt; rates and bills follow (default: watt)",
              .uses = USE_COMPUTE | USE_SYSTEM),
    K_REAL(struct topo_npu, kernel_s, "kernel_ns", "ns", 1e-9, 0, 1e9, 0, "gap before each kernel",
           .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, host_Bps, "host_GBps", "GB/s", 1e9, 1e-3, 1e9, NAN,
              "bandwidth to the memory of the host, each way; plans with offload need it",
              .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, usd, "usd", "USD", 1, 0, 1e12, NAN, "price of one NPU", .uses = USE_SYSTEM),
    K_REAL_OR(struct topo_npu, watt, "watt", "W", 1, 0, 1e9, NAN, "power of one NPU by its data sheet",
              .uses = USE_SYSTEM),
};

/* Sizes ascend, so that whoever looks one up takes the last that is not larger. */
static int check_sizes(const struct topo_npu *npu, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const instead[] = { "matrix_efficiency", "matrix_half_out", "matrix_half_in", NULL };
    yaml_id other = yaml_get_any(doc, map, instead);
    if (other >= 0)
        return yaml_fail_key(doc, other, e, ERR_PARSE,
                             "is given together with matrix_sizes; give one of them");
    yaml_each (id, doc, yaml_get(doc, map, "matrix_sizes")) {
        const struct topo_npu_size *size = &npu->sizes[doc->nodes[id].index];
        if (size > npu->sizes && !(size->from_flop > size[-1].from_flop))
            return yaml_fail(doc, yaml_get(doc, id, "from_GFLOP"), e, ERR_RANGE,
                             "is %g, expected more than %g, the one before", size->from_flop / 1e9,
                             size[-1].from_flop / 1e9);
    }
    return 0;
}

/* One row a kernel, and none beside the single figure that they replace. */
static int check_kernels(const struct topo_npu *npu, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    if (yaml_get(doc, map, "flash_efficiency") >= 0)
        return yaml_fail_key(doc, yaml_get(doc, map, "flash_efficiency"), e, ERR_PARSE,
                             "is given together with attention_kernels; give one of them");
    yaml_each (id, doc, yaml_get(doc, map, "attention_kernels")) {
        const struct topo_npu_attention *row = &npu->kernels[doc->nodes[id].index];
        for (const struct topo_npu_attention *other = npu->kernels; other < row; other++)
            if (other->kernel == row->kernel)
                return yaml_fail(doc, yaml_get(doc, id, "kernel"), e, ERR_PARSE, "is %s twice, expected once",
                                 topo_kernel_words[row->kernel]);
        if (!npu->sms && (row->half_tiles[TOPO_FORWARD] > 0 || row->half_tiles[TOPO_BACKWARD] > 0 ||
                          row->low_rank_half[TOPO_FORWARD] > 0 || row->low_rank_half[TOPO_BACKWARD] > 0))
            return yaml_fail(doc, id, e, ERR_PARSE, "counts tiles by SM; give npu.sms");
    }
    return 0;
}

int topo_npu_limit(struct topo_npu *npu, double power_W, struct err *e)
{
    if (!(power_W > IDLE_W && power_W <= npu->watt))
        return err_set(e, ERR_RANGE, "is %g, expected more than %g and at most %g, npu.watt", power_W, IDLE_W,
                       npu->watt);
    npu->power_W = power_W;
    npu->power_share = pow((power_W - IDLE_W) / (npu->watt - IDLE_W), POWER_TO);
    return 0;
}

/* A limit above what the data sheet rates, or below what flows at rest, is outside of the law. */
static int settle_power(struct topo_npu *npu, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    yaml_id id = yaml_get(doc, map, "power_W");
    npu->power_share = 1;
    if (id < 0) {
        npu->power_W = npu->watt;
        return 0;
    }
    if (isnan(npu->watt))
        return yaml_fail_key(doc, id, e, ERR_PARSE, "is a limit below watt; give watt");
    struct err inner = { 0 };
    if (topo_npu_limit(npu, npu->power_W, &inner))
        return yaml_fail(doc, id, e, ERR_RANGE, "%s", inner.msg);
    return 0;
}

/* Defaults that are other keys' values, which a table of defaults cannot say. */
static int check_npu(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct topo_npu *npu = base;
    npu->share[TOPO_BF16] = 1; /* no key; maps inside a network do not pass topo_npu_defaults() */
    if (npu->n_kernels)        /* the one figure that gives the first kernel's time of both passes */
        npu->flash = 3.5 /
                     (1 / npu->kernels->flops[TOPO_FORWARD] + 2.5 / npu->kernels->flops[TOPO_BACKWARD]) /
                     npu->peak_flops;
    else if (yaml_get(doc, map, "flash_efficiency") < 0)
        npu->flash = npu->matrix_efficiency;
    if (isnan(npu->group_half_out))
        npu->group_half_out = npu->half_out;
    if (isnan(npu->step_share_8bit))
        npu->step_share_8bit = npu->step_share;
    int rc = settle_power(npu, doc, map, e);
    if (!rc && npu->n_kernels)
        rc = check_kernels(npu, doc, map, e);
    return !rc && npu->n_sizes ? check_sizes(npu, doc, map, e) : rc;
}

K_SECTION(topo_npu_section, struct topo_npu, "npu", npu_keys, "one accelerator", STUDY_USES,
          .check = check_npu);

void topo_npu_defaults(struct topo_npu *npu)
{
    *npu = (struct topo_npu){ .power_share = 1, .share[TOPO_BF16] = 1 };
    schema_defaults(npu, &topo_npu_section);
    npu->step_share_8bit = npu->step_share;
}

int topo_read_npu(struct topo_npu *npu, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    topo_npu_defaults(npu);
    return schema_read(npu, &topo_npu_section, doc, map, e);
}

double topo_npu_peak(const struct topo_npu *npu, enum topo_precision q)
{
    const double peak[N_TOPO_PRECISIONS] = { npu->peak_flops, npu->peak_8bit_flops, npu->peak_8bit_flops,
                                             npu->peak_4bit_flops };
    return npu->share[q] > 0 ? peak[q] * npu->share[q] * npu->power_share : NAN;
}

double topo_npu_step_share(const struct topo_npu *npu, enum topo_precision q)
{
    const double share[N_TOPO_PRECISIONS] = { npu->step_share, npu->step_share_8bit, npu->step_share_8bit,
                                              1 };
    return share[q];
}

double topo_npu_ceiling(const struct topo_npu *npu, enum topo_precision q)
{
    double most = npu->n_sizes ? npu->sizes[npu->n_sizes - 1].efficiency : npu->matrix_efficiency;
    return topo_npu_peak(npu, q) * most;
}

bool topo_npu_find_kernel(struct topo_npu_attention *out, const struct topo_npu *npu, enum topo_kernel kernel)
{
    for (int32_t i = 0; i < npu->n_kernels; i++)
        if (npu->kernels[i].kernel == kernel) {
            *out = npu->kernels[i];
            return true;
        }
    if (kernel != TOPO_FA1 || !topo_npu_find_kernel(out, npu, TOPO_FA2))
        return false;
    out->kernel = TOPO_FA1;
    out->narrow = 1; /* it never had the wide tiles that narrow heads leave idle */
    for (int pass = 0; pass < N_TOPO_PASSES; pass++)
        out->flops[pass] *= FA1_OF_FA2;
    return true;
}

double topo_npu_attention_power(const struct topo_npu *npu)
{
    return (1 + npu->power_share) / 2;
}

double topo_npu_attention_rate(const struct topo_npu *npu, const struct topo_npu_attention *kernel,
                               enum topo_pass pass, const struct topo_npu_heads *heads)
{
    bool low_rank = heads->key_dim > heads->v_dim;
    double half = low_rank ? kernel->low_rank_half[pass] : kernel->half_tiles[pass];
    double rate = kernel->flops[pass] * topo_npu_attention_power(npu);
    if (low_rank)
        rate *= kernel->low_rank[pass];
    if (heads->key_dim <= 64)
        rate *= kernel->narrow;
    if (heads->fp8 && pass == TOPO_FORWARD)
        rate *= kernel->fp8_forward;
    if (npu->sms) {
        double tiles = heads->rows / (TILE_ROWS * npu->sms);
        rate *= tiles / (tiles + half);
    }
    return rate / (1 + kernel->half_seq / heads->keys);
}
