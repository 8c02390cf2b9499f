/**
 * @file One accelerator: its peaks, how much of them work of a given size reaches, its price.
 *
 * Three figures make a rate: the data sheet's peak at a precision, the share of it that a stream of large
 * products sustains (less under a power limit), and what the size of an operator leaves of that. Attention
 * has rates of its own, a row per generation of kernels. docs/training.md section 4 has the formulas and
 * where they come from.
 */
#ifndef TOPO_NPU_H
#define TOPO_NPU_H

#include <stdbool.h>

#include "base/schema.h"

enum { TOPO_MAX_SIZES = 16 };

/** What the linear layers compute in. */
enum topo_precision { TOPO_BF16, TOPO_FP8, TOPO_MXFP8, TOPO_NVFP4, N_TOPO_PRECISIONS };

/** Generations of fused attention. */
enum topo_kernel { TOPO_FA1, TOPO_FA2, TOPO_FA3, TOPO_CUDNN, TOPO_AITER, TOPO_SPLASH, N_TOPO_KERNELS };

/** What runs the training steps of a plan: workloads/plan.h says what that means. */
enum topo_software {
    TOPO_SOFTWARE_NONE = -1,
    TOPO_MEGATRON,
    TOPO_COMPILED,
    TOPO_EAGER,
    TOPO_MEGATRON_2021,
    TOPO_MAXTEXT,
    TOPO_PRIMUS,
    N_TOPO_SOFTWARE
};
extern const char *const topo_software_words[N_TOPO_SOFTWARE + 1];

extern const char *const topo_precision_words[N_TOPO_PRECISIONS + 1];
/** Bytes of one element, with its part of the scale of a block: 32 of mxfp8, 16 of nvfp4, a byte each. */
extern const double topo_precision_B[N_TOPO_PRECISIONS];
extern const char *const topo_kernel_words[N_TOPO_KERNELS + 1];

/** Either pass of a kernel: index of the pairs below. */
enum topo_pass { TOPO_FORWARD, TOPO_BACKWARD, N_TOPO_PASSES };

/** Rates of one generation of kernels, causal FLOP counted in half, heads of 128 unless said otherwise. */
struct topo_npu_attention {
    enum topo_kernel kernel;
    double flops[N_TOPO_PASSES];         /**< of long sequences and many heads [FLOP/s] */
    double half_tiles[N_TOPO_PASSES];    /**< tiles of 256 queries an SM at which half of that is lost */
    double half_seq;                     /**< keys at which half of that is lost */
    double low_rank[N_TOPO_PASSES];      /**< factor where keys are wider than values (192 and 128) */
    double low_rank_half[N_TOPO_PASSES]; /**< half_tiles of those */
    double narrow;                       /**< factor for heads of 64 and less */
    double fp8_forward;                  /**< factor of a forward pass in 8 bits */
};

/** What one fused kernel computes on one NPU. */
struct topo_npu_heads {
    double rows;           /**< queries times heads times sequences */
    double keys;           /**< of one query, as if none were masked; the window where there is one */
    double key_dim, v_dim; /**< widths */
    bool fp8;
};

/** Matrix products from so many FLOP on reach this share of the peak. */
struct topo_npu_size {
    double from_flop, efficiency;
};

/** NaN where not given and nothing can be assumed. Times of operators: workloads/block.h. */
struct topo_npu {
    double peak_flops;   /**< dense matrix products at the precision of training [FLOP/s] */
    double vector_flops; /**< elementwise work [FLOP/s]; INFINITY when not given */
    double mem_B, mem_Bps;
    double mem_efficiency; /**< share of mem_Bps that streaming reaches, (0, 1] */
    double gather;         /**< share of mem_Bps that rows of tokens reach on their way to experts and back */
    double matrix_efficiency; /**< share of peak_flops that a very large product reaches, (0, 1] */
    double half_out;    /**< output rows or columns at which half of that is lost; 0: size does not matter */
    double half_in;     /**< the same of the inner size */
    double matrix_tile; /**< sizes of a product are filled up to multiples of it; 1: of any size */
    double attention;   /**< unfused attention: share of what one product of its size would reach */
    double flash;    /**< fused attention: share of peak_flops, counted with causal FLOPs; with `kernels`, of
                        both passes of the first */
    double kernel_s; /**< gap before a kernel starts [s] */
    double peak_8bit_flops, peak_4bit_flops; /**< dense [FLOP/s] */
    double share[N_TOPO_PRECISIONS]; /**< of matrix_efficiency that products reach; bf16: 1; 0: not there */
    double step_share, step_share_8bit; /**< of all that, what products sustain through a whole step */
    double group_half_out;              /**< half_out of the rows of grouped products */
    double power_W;                     /**< that it may draw for long; watt unless given */
    double power_share;                 /**< of the rates at `watt`, reached at power_W; from those two */
    int32_t software;                   /**< enum topo_software, of plans that name none */
    double step_band;                   /**< nine of ten measured steps are within time/(1 + this) and time
                                           times that, by the user's own steps; NaN: not calibrated */
    int64_t step_band_rows;             /**< steps that it rests on */
    int32_t step_band_precision;        /**< enum topo_precision of theirs; below 0: of any */
    int32_t sms;                        /**< 0: attention does not depend on how many tiles there are */
    int32_t n_kernels;                  /**< 0: `flash` for all */
    int32_t n_sizes;
    struct topo_npu_attention kernels[N_TOPO_KERNELS]; /**< the first is what "fused" means */
    struct topo_npu_size sizes[TOPO_MAX_SIZES]; /**< ascending; in place of efficiency and half sizes */
    double host_Bps;                            /**< to the host's memory and back at once, each way */
    double usd, watt;
};

extern const struct section topo_npu_section, topo_npu_size_section, topo_npu_attention_section;

/** Nothing known; where something is assumed, the best there could be. */
void topo_npu_defaults(struct topo_npu *npu);

/** Read map @p map (topo_npu_section). 0, ERR_PARSE or ERR_RANGE with the place. */
int topo_read_npu(struct topo_npu *npu, const struct yaml_doc *doc, yaml_id map, struct err *e);

/** Set the limit; ERR_RANGE "is W, expected ..." where it is not above what flows at rest (150 W) or above
 * npu->watt, which must be known. */
int topo_npu_limit(struct topo_npu *npu, double power_W, struct err *e);

/** Peak at @p q times its share, under the power limit: what roofline efficiencies are of [FLOP/s]. NaN where
 * the NPU does not have that precision. */
double topo_npu_peak(const struct topo_npu *npu, enum topo_precision q);

/** What a stream of very large products sustains at @p q [FLOP/s]; of matrix_sizes, the largest. NaN as
 * above. */
double topo_npu_ceiling(const struct topo_npu *npu, enum topo_precision q);

/** Of the rates at @p q, what products of a training step sustain beside all else that it does. */
double topo_npu_step_share(const struct topo_npu *npu, enum topo_precision q);

/** Rates of @p kernel; FA1 without a row: 0.60 of FA2's (arXiv 2307.08691 figures, step times of MPT).
 * False, and @p out untouched, where nothing is known. */
bool topo_npu_find_kernel(struct topo_npu_attention *out, const struct topo_npu *npu,
                          enum topo_kernel kernel);

/** What a power limit leaves of the rates of attention, `flash` included: it takes half of what it takes from
 * products. */
double topo_npu_attention_power(const struct topo_npu *npu);

/** Rate of one pass of fused attention: flops u/(u + u0) / (1 + s0/keys) times the factors that apply, u =
 * rows/(256 sms), and topo_npu_attention_power() [FLOP/s]. O(1). */
double topo_npu_attention_rate(const struct topo_npu *npu, const struct topo_npu_attention *kernel,
                               enum topo_pass pass, const struct topo_npu_heads *heads);

#endif
