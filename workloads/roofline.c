#include "workloads/roofline.h"

#include <math.h>

/* Elementwise kernels (norms, activations, dropout) do a few operations on each element of two bytes or more
 * that passes: this project's choice. No NPU in configs/npus is bound by it. */
#define STREAM_FLOP_PER_B 2.0

double roofline_flop(const struct roofline_product *p)
{
    return 2 * p->m * p->n * p->k * p->batch;
}

static double size_efficiency(const struct topo_npu *npu, double flop)
{
    int32_t i = npu->n_sizes - 1;
    while (i > 0 && flop < npu->sizes[i].from_flop)
        i--;
    return npu->sizes[i].efficiency;
}

double roofline_efficiency(const struct topo_npu *npu, const struct roofline_product *p)
{
    if (npu->n_sizes)
        return size_efficiency(npu, roofline_flop(p));
    /* One division for the three factors: a search asks a million times. */
    return npu->matrix_efficiency * p->m * p->n * p->k /
           ((p->m + npu->half_out) * (p->n + npu->half_out) * (p->k + npu->half_in));
}

double roofline_product_s(const struct topo_npu *npu, const struct roofline_product *p, double share)
{
    double bytes = ROOFLINE_ELEMENT_B * p->batch * (p->m * p->k + p->k * p->n + p->m * p->n);
    double math_s = roofline_flop(p) / (npu->peak_flops * roofline_efficiency(npu, p) * share);
    return fmax(math_s, bytes / (npu->mem_Bps * npu->mem_efficiency)) + npu->kernel_s;
}

double roofline_stream_s(const struct topo_npu *npu, double bytes, double kernels)
{
    double mem_s = bytes / (npu->mem_Bps * npu->mem_efficiency);
    return fmax(mem_s, STREAM_FLOP_PER_B * bytes / npu->vector_flops) + kernels * npu->kernel_s;
}

double roofline_flash_s(const struct topo_npu *npu, double flop, double bytes)
{
    return fmax(flop / (npu->peak_flops * npu->flash), bytes / (npu->mem_Bps * npu->mem_efficiency)) +
           npu->kernel_s;
}
