#include "topo/npu.h"

#include <math.h>

/* As written; texts are for the reader of the file. */
struct npu_conf {
    struct topo_npu npu;
    const char *name, *source;
    yaml_id sizes;
};

#define NPU_REAL(key_name, text, field, unit_text, to_SI, least, most, absent, use)                          \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_REAL, .offset = offsetof(struct npu_conf, npu.field),    \
        .unit = unit_text, .scale = to_SI, .min = least, .max = most, .dflt = absent, .uses = use            \
    }
#define NPU_TEXT(key_name, text, field)                                                                      \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_TEXT, .offset = offsetof(struct npu_conf, field),        \
        .unit = ""                                                                                           \
    }

static const struct key npu_keys[] = {
    NPU_TEXT("name", "what it is called", name),
    NPU_TEXT("source", "where the figures come from", source),
    NPU_REAL("peak_TFLOPS", "dense peak at the precision of training", peak_flops, "TFLOP/s", 1e12, 1e-3, 1e9,
             SCHEMA_NONE, USE_COMPUTE),
    NPU_REAL("vector_TFLOPS", "peak of elementwise work; absent: never what binds", vector_flops, "TFLOP/s",
             1e12, 1e-3, 1e9, SCHEMA_NONE, USE_COMPUTE),
    NPU_REAL("mem_GB", "memory of one NPU", mem_B, "GB", 1e9, 1e-3, 1e9, SCHEMA_NONE, USE_COMPUTE),
    NPU_REAL("mem_GBps", "bandwidth of that memory", mem_Bps, "GB/s", 1e9, 1e-3, 1e9, SCHEMA_NONE,
             USE_COMPUTE),
    NPU_REAL("mem_efficiency", "share of mem_GBps that streaming reaches", mem_efficiency, "", 1, 1e-3, 1, 1,
             USE_COMPUTE),
    NPU_REAL("matrix_efficiency", "share of peak_TFLOPS that a very large matrix product reaches",
             matrix_efficiency, "", 1, 1e-3, 1, 1, USE_COMPUTE),
    NPU_REAL("matrix_half_out", "rows or columns of a product at which half of that is lost: n/(n + half)",
             half_out, "", 1, 0, 1e6, 0, USE_COMPUTE),
    NPU_REAL("matrix_half_in", "the same of the inner size", half_in, "", 1, 0, 1e6, 0, USE_COMPUTE),
    { .name = "matrix_sizes",
      .help = "in place of these three: list of efficiencies by size of product, see npu.matrix_sizes",
      .kind = KEY_NODE,
      .offset = offsetof(struct npu_conf, sizes),
      .unit = "",
      .uses = USE_COMPUTE },
    NPU_REAL("attention_efficiency",
             "attention that is not fused: share of what a single product of its size reaches", attention, "",
             1, 1e-3, 1, 1, USE_COMPUTE),
    NPU_REAL("flash_efficiency", "fused attention: share of peak_TFLOPS; absent: matrix_efficiency", flash,
             "", 1, 1e-3, 1, SCHEMA_NONE, USE_COMPUTE),
    NPU_REAL("kernel_ns", "gap before each kernel", kernel_s, "ns", 1e-9, 0, 1e9, 0, USE_COMPUTE),
    NPU_REAL("usd", "price of one NPU", usd, "USD", 1, 0, 1e12, SCHEMA_NONE, USE_SYSTEM),
    NPU_REAL("watt", "power of one NPU", watt, "W", 1, 0, 1e9, SCHEMA_NONE, USE_SYSTEM),
};

#define SIZE_REAL(key_name, text, field, unit_text, to_SI, least, most)                                      \
    {                                                                                                        \
        .name = key_name, .help = text, .kind = KEY_REAL, .offset = offsetof(struct topo_npu_size, field),   \
        .unit = unit_text, .scale = to_SI, .min = least, .max = most, .required = true, .uses = USE_COMPUTE  \
    }

static const struct key size_keys[] = {
    SIZE_REAL("from_GFLOP", "products from this size on; the smallest also stands for what is below it",
              from_flop, "GFLOP", 1e9, 0, 1e12),
    SIZE_REAL("efficiency", "reach this share of peak_TFLOPS", efficiency, "", 1, 1e-3, 1),
};

const struct section topo_npu_section = { "npu", "one accelerator", npu_keys,
                                          sizeof npu_keys / sizeof npu_keys[0] };
const struct section topo_npu_size_section = { "npu.matrix_sizes",
                                               "efficiency of matrix products of one size", size_keys,
                                               sizeof size_keys / sizeof size_keys[0] };

static void settle(struct topo_npu *npu)
{
    if (isnan(npu->vector_flops))
        npu->vector_flops = INFINITY;
    if (isnan(npu->flash))
        npu->flash = npu->matrix_efficiency;
}

void topo_npu_defaults(struct topo_npu *npu)
{
    struct npu_conf conf = { 0 };
    schema_defaults(&conf, &topo_npu_section);
    *npu = conf.npu;
    settle(npu);
}

static int read_sizes(struct topo_npu *npu, const struct yaml_doc *doc, yaml_id list, struct err *e)
{
    int rc = yaml_need(doc, list, YAML_SEQ, e);
    if (rc)
        return rc;
    if (doc->nodes[list].n < 1 || doc->nodes[list].n > TOPO_MAX_SIZES)
        return yaml_fail(doc, list, e, ERR_RANGE, "has %d sizes, need 1 to %d", (int)doc->nodes[list].n,
                         TOPO_MAX_SIZES);
    yaml_each (id, doc, list) {
        struct topo_npu_size *size = &npu->sizes[npu->n_sizes];
        if ((rc = schema_read(size, &topo_npu_size_section, doc, id, e)))
            return rc;
        if (npu->n_sizes && !(size->from_flop > size[-1].from_flop))
            return yaml_fail(doc, yaml_get(doc, id, "from_GFLOP"), e, ERR_RANGE,
                             "is %g, need more than %g, the one before", size->from_flop / 1e9,
                             size[-1].from_flop / 1e9);
        npu->n_sizes++;
    }
    return 0;
}

int topo_read_npu(struct topo_npu *npu, const struct yaml_doc *doc, yaml_id map, struct err *e)
{
    static const char *const instead[] = { "matrix_efficiency", "matrix_half_out", "matrix_half_in" };
    struct npu_conf conf = { 0 };
    int rc = schema_read(&conf, &topo_npu_section, doc, map, e);
    if (rc)
        return rc;
    *npu = conf.npu;
    settle(npu);
    for (size_t i = 0; i < sizeof instead / sizeof *instead && conf.sizes >= 0; i++)
        if (yaml_get(doc, map, instead[i]) >= 0)
            return yaml_fail_key(doc, yaml_get(doc, map, instead[i]), e, ERR_PARSE,
                                 "is given beside matrix_sizes, need one of them");
    return conf.sizes >= 0 ? read_sizes(npu, doc, conf.sizes, e) : 0;
}
