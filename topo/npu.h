/** @file One accelerator: its peaks, how much of them work of a given size reaches, its price. */
#ifndef TOPO_NPU_H
#define TOPO_NPU_H

#include "base/schema.h"

enum { TOPO_MAX_SIZES = 16 };

/** Matrix products from so many FLOP on reach this share of the peak. */
struct topo_npu_size {
    double from_flop, efficiency;
};

/** NaN where not given and nothing can be assumed. Times of operators: workloads/roofline.h. */
struct topo_npu {
    double peak_flops;   /**< dense matrix products at the precision of training [FLOP/s] */
    double vector_flops; /**< elementwise work [FLOP/s]; INFINITY when not given */
    double mem_B, mem_Bps;
    double mem_efficiency;    /**< share of mem_Bps that streaming reaches, (0, 1] */
    double matrix_efficiency; /**< share of peak_flops that a very large product reaches, (0, 1] */
    double half_out;  /**< output rows or columns at which half of that is lost; 0: size does not matter */
    double half_in;   /**< the same of the inner size */
    double attention; /**< unfused attention: share of what one product of its size would reach */
    double flash;     /**< fused attention: share of peak_flops, counted with causal FLOPs */
    double kernel_s;  /**< gap before a kernel starts [s] */
    struct topo_npu_size sizes[TOPO_MAX_SIZES]; /**< ascending; in place of efficiency and half sizes */
    int32_t n_sizes;
    double usd, watt;
};

extern const struct section topo_npu_section, topo_npu_size_section;

/** Nothing known; where something is assumed, the best there could be. */
void topo_npu_defaults(struct topo_npu *npu);

/** Read map @p map (topo_npu_section). 0, ERR_PARSE or ERR_RANGE with the place. */
int topo_read_npu(struct topo_npu *npu, const struct yaml_doc *doc, yaml_id map, struct err *e);

#endif
