/** @file How long an operator takes on one NPU: the longer of its arithmetic and its memory traffic. */
#ifndef WORKLOADS_ROOFLINE_H
#define WORKLOADS_ROOFLINE_H

#include "topo/npu.h"

/** Bytes of one element of weights and activations (bf16, fp16). */
#define ROOFLINE_ELEMENT_B 2.0

/** @p batch products of an m x k by a k x n matrix; all > 0, not necessarily whole. */
struct roofline_product {
    double m, n, k, batch;
};

/** 2 m n k batch [FLOP]. */
double roofline_flop(const struct roofline_product *p);

/** Share of the peak that a product reaches: matrix_efficiency m/(m+half_out) n/(n+half_out) k/(k+half_in),
 * or the row of matrix_sizes for its FLOP. */
double roofline_efficiency(const struct topo_npu *npu, const struct roofline_product *p);

/**
 * Time of one kernel [s]: max(FLOP/(peak * efficiency), (mk + kn + mn) elements/(memory * mem_efficiency)) +
 * kernel_s. @p share: of that efficiency, for products that reach less (unfused attention).
 */
double roofline_product_s(const struct topo_npu *npu, const struct roofline_product *p, double share);

/** @p kernels that read and write @p bytes altogether, with little arithmetic [s]. */
double roofline_stream_s(const struct topo_npu *npu, double bytes, double kernels);

/** Fused attention of @p flop that reads and writes @p bytes [s]. */
double roofline_flash_s(const struct topo_npu *npu, double flop, double bytes);

#endif
