/*
 * One accelerator as files describe it: a table of keys (base/schema.h) and what the table cannot say. How
 * much less of the peak small products reach is given in one of two ways, by a saturating law or by a list of
 * sizes; both at once are refused, since one would be without effect. Every figure is of the times of
 * operators (USE_COMPUTE) or of bills (USE_SYSTEM), by which commands tell keys that they leave alone.
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

K_SECTION(topo_npu_size_section, struct topo_npu_size, "npu.matrix_sizes", size_keys,
          "efficiency of matrix products of one size", STUDY_USES);

static const struct key npu_keys[] = {
    K_REMARK("name", "what it is called"),
    K_REMARK("source", "where the figures come from"),
    K_REAL_OR(struct topo_npu, peak_flops, "peak_TFLOPS", "TFLOP/s", 1e12, 1e-3, 1e9, NAN,
              "dense peak at the precision of training", .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, vector_flops, "vector_TFLOPS", "TFLOP/s", 1e12, 1e-3, 1e9, INFINITY,
              "peak of elementwise work (default: never what binds)", .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, mem_B, "mem_GB", "GB", 1e9, 1e-3, 1e9, NAN, "memory of one NPU",
              .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, mem_Bps, "mem_GBps", "GB/s", 1e9, 1e-3, 1e9, NAN, "bandwidth of that memory",
              .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, mem_efficiency, "mem_efficiency", "", 1, 1e-3, 1, 1,
           "share of mem_GBps that streaming reaches", .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, matrix_efficiency, "matrix_efficiency", "", 1, 1e-3, 1, 1,
           "share of peak_TFLOPS that a very large matrix product reaches", .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, half_out, "matrix_half_out", "", 1, 0, 1e6, 0,
           "rows or columns of a product at which half of that is lost: n/(n + half)", .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, half_in, "matrix_half_in", "", 1, 0, 1e6, 0, "the same of the inner size",
           .uses = USE_COMPUTE),
    K_LIST(struct topo_npu, sizes, n_sizes, "matrix_sizes", 1, &topo_npu_size_section,
           "in place of these three: list of efficiencies by size of product, see npu.matrix_sizes",
           .what = "sizes", .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, attention, "attention_efficiency", "", 1, 1e-3, 1, 1,
           "attention that is not fused: share of what a single product of its size reaches",
           .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, flash, "flash_efficiency", "", 1, 1e-3, 1, 1,
              "fused attention: share of peak_TFLOPS (default: matrix_efficiency)", .uses = USE_COMPUTE),
    K_REAL(struct topo_npu, kernel_s, "kernel_ns", "ns", 1e-9, 0, 1e9, 0, "gap before each kernel",
           .uses = USE_COMPUTE),
    K_REAL_OR(struct topo_npu, usd, "usd", "USD", 1, 0, 1e12, NAN, "price of one NPU", .uses = USE_SYSTEM),
    K_REAL_OR(struct topo_npu, watt, "watt", "W", 1, 0, 1e9, NAN, "power of one NPU", .uses = USE_SYSTEM),
};

/* Sizes ascend, so that whoever looks one up takes the last that is not larger. */
static int check_sizes(const struct topo_npu *npu, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const instead[] = { "matrix_efficiency", "matrix_half_out", "matrix_half_in" };
    for (size_t i = 0; i < sizeof instead / sizeof *instead; i++)
        if (yaml_get(doc, map, instead[i]) >= 0)
            return yaml_fail_key(doc, yaml_get(doc, map, instead[i]), e, ERR_PARSE,
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

static int check_npu(void *base, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    struct topo_npu *npu = base;
    /* A default that is another key's value, which a table of defaults cannot say. */
    if (yaml_get(doc, map, "flash_efficiency") < 0)
        npu->flash = npu->matrix_efficiency;
    return npu->n_sizes ? check_sizes(npu, doc, map, e) : 0;
}

K_SECTION(topo_npu_section, struct topo_npu, "npu", npu_keys, "one accelerator", STUDY_USES,
          .check = check_npu);

void topo_npu_defaults(struct topo_npu *npu)
{
    *npu = (struct topo_npu){ .n_sizes = 0 };
    schema_defaults(npu, &topo_npu_section);
}

int topo_read_npu(struct topo_npu *npu, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    topo_npu_defaults(npu);
    return schema_read(npu, &topo_npu_section, doc, map, e);
}
