/** @file How a training step is spread over NPUs: degrees of parallelism, what is recomputed, what overlaps.
 */
#ifndef WORKLOADS_PLAN_H
#define WORKLOADS_PLAN_H

#include "topo/network.h"
#include "topo/npu.h"
#include "workloads/model.h"

/** What a training step is split along. */
enum plan_axis {
    PLAN_TP, /**< tensor: every matrix */
    PLAN_CP, /**< context: the tokens of a sequence */
    PLAN_DP, /**< data: the sequences of a batch */
    PLAN_PP, /**< pipeline: the layers */
    N_PLAN_AXES,
};

/** Who talks to whom. Experts take their NPUs out of those of TP (unless they are split over it), CP and DP.
 */
enum plan_group {
    PLAN_GROUP_TP,
    PLAN_GROUP_CP,
    PLAN_GROUP_EP,      /**< tokens to their experts */
    PLAN_GROUP_DP,      /**< gradients and parameters of what is no expert: DP and CP */
    PLAN_GROUP_EXPERTS, /**< gradients and parameters of experts */
    PLAN_GROUP_PP,      /**< from a stage to the next */
    PLAN_GROUP_SHARD,   /**< of DP, those who share parameters out; all on their own without `shard` */
    PLAN_GROUP_COPIES,  /**< of DP, those who hold the same shard */
    PLAN_GROUP_MERGED,  /**< tokens to their experts, once to a node and once to an NPU inside */
    N_PLAN_GROUPS,
};

enum plan_recompute {
    PLAN_RECOMPUTE_NONE,
    PLAN_RECOMPUTE_SELECTIVE, /**< the operators of recompute_ops, or the scores that go through memory */
    PLAN_RECOMPUTE_FULL,
    PLAN_RECOMPUTE_SAC, /**< PyTorch's: every second product and all elementwise kernels, no attention */
    N_PLAN_RECOMPUTES
};

/** Operators of a layer that selective recomputation may name: Megatron-Core's modules. */
enum plan_op {
    PLAN_OP_CORE,       /**< attention of queries, keys and values */
    PLAN_OP_NORM,       /**< both norms */
    PLAN_OP_ACTIVATION, /**< between the linear layers, of experts too */
    PLAN_OP_MLP,        /**< of dense layers */
    PLAN_OP_MLA_UP,     /**< from the low ranks to the heads */
    PLAN_OP_SHARED,     /**< shared experts */
    PLAN_OP_EXPERTS,    /**< router, exchange, routed and shared experts */
    N_PLAN_OPS
};

/** What runs the attention of queries, keys and values; from PLAN_FA1 on as in enum topo_kernel. */
enum plan_kernel {
    PLAN_KERNEL_MODEL = -1, /**< as the model says: fused or not */
    PLAN_FUSED,             /**< by the first of the NPU's kernels */
    PLAN_UNFUSED,
    PLAN_FA1,
    PLAN_FA2,
    PLAN_FA3,
    PLAN_CUDNN,
    PLAN_AITER,  /**< AMD's */
    PLAN_SPLASH, /**< of TPUs */
    N_PLAN_KERNELS
};

/** What the rest of the step runs on. PLAN_SOFTWARE_NONE, where neither plan nor NPU says it, is as
 * PLAN_MEGATRON_2021: plan_is_2021(). */
enum plan_software {
    PLAN_SOFTWARE_NONE = TOPO_SOFTWARE_NONE,
    PLAN_MEGATRON = TOPO_MEGATRON,           /**< Megatron-Core with Transformer Engine */
    PLAN_COMPILED = TOPO_COMPILED,           /**< PyTorch with torch.compile */
    PLAN_EAGER = TOPO_EAGER,                 /**< PyTorch, kernel by kernel */
    PLAN_MEGATRON_2021 = TOPO_MEGATRON_2021, /**< the constants of Megatron-LM on A100, no floor */
    PLAN_MAXTEXT = TOPO_MAXTEXT,             /**< JAX on TPUs: the whole step is one program of XLA */
    PLAN_PRIMUS = TOPO_PRIMUS, /**< Megatron-Core on AMD, with ROCm's Transformer Engine and AITER */
    N_PLAN_SOFTWARE = N_TOPO_SOFTWARE
};

/** What the host starts as one CUDA graph. */
enum plan_graph { PLAN_GRAPH_NONE, PLAN_GRAPH_ATTENTION, PLAN_GRAPH_STEP, N_PLAN_GRAPHS };
enum plan_schedule {
    PLAN_1F1B,
    PLAN_GPIPE,
    PLAN_ZB1P,      /**< zero bubble: weight gradients fill what 1F1B waits for */
    PLAN_DUALPIPE,  /**< microbatches from both ends; each NPU holds two stages */
    PLAN_DUALPIPEV, /**< the same on half of the NPUs: two neighbouring halves of a stage, in a V */
    N_PLAN_SCHEDULES
};
/** How layers are shared out over chunks of stages where no list says it. */
enum plan_ends {
    PLAN_ENDS_EQUAL, /**< all alike */
    PLAN_ENDS_SHORT, /**< embedding and loss count as a layer each, or the last chunk takes what is left */
    N_PLAN_ENDS
};
/** Copies of a token that leave for its experts: one for each expert; or one for each node and NPU that holds
 * some (DeepEP, HybridEP). */
enum plan_dispatcher { PLAN_ALL_TO_ALL, PLAN_MERGED, N_PLAN_DISPATCHERS };
/** Kernels around the products of experts: as the software has them, separate, or in the products' own. */
enum plan_ep_fused { PLAN_EP_BY_SOFTWARE, PLAN_EP_APART, PLAN_EP_FUSED };
/** How the sink of attention joins its softmax: as the software has it, in a pass over scores of its own
 * (tile by tile, over the whole sequence), or inside the kernel. */
enum plan_sink { PLAN_SINK_BY_SOFTWARE, PLAN_SINK_APART, PLAN_SINK_FUSED, N_PLAN_SINKS };
/** What the exchange of tokens runs beside. */
enum plan_ep_overlap {
    PLAN_EP_OVERLAP_NONE,
    PLAN_EP_OVERLAP_SHARED, /**< the shared experts' products of the same pass */
    PLAN_EP_OVERLAP_BATCH,  /**< a layer's compute, of another microbatch */
    N_PLAN_EP_OVERLAPS
};
enum plan_context { PLAN_CP_RING, PLAN_CP_GATHER, PLAN_CP_ULYSSES, N_PLAN_CONTEXTS };

/** How much of tensor-parallel traffic runs beside computation. */
enum plan_overlap {
    PLAN_OVERLAP_NONE,
    PLAN_OVERLAP_BACKWARD, /**< beside weight gradients (Megatron since 2021) */
    PLAN_OVERLAP_SPLIT,    /**< forward too, in four pieces of which one is exposed */
    N_PLAN_OVERLAPS,
};

/** NULL-terminated, for key tables and reports. */
extern const char *const plan_axis_words[N_PLAN_AXES + 1],
    *const plan_group_words[N_PLAN_GROUPS + 1],
        *const plan_recompute_words[N_PLAN_RECOMPUTES + 1],
            *const plan_schedule_words[N_PLAN_SCHEDULES + 1],
                *const plan_ends_words[N_PLAN_ENDS + 1],
                    *const plan_context_words[N_PLAN_CONTEXTS + 1],
                        *const plan_dispatcher_words[N_PLAN_DISPATCHERS + 1],
                            *const plan_ep_overlap_words[N_PLAN_EP_OVERLAPS + 1],
                                *const plan_overlap_words[N_PLAN_OVERLAPS + 1];

enum { PLAN_MAX_CHUNKS = 256 };

/** Layers of each chunk in the model's order, chunk i on stage i mod pp; n 0: not given. */
struct plan_layout {
    int32_t n;
    uint8_t layers[PLAN_MAX_CHUNKS];
};
extern const char *const plan_op_words[N_PLAN_OPS + 1], *const plan_kernel_words[N_PLAN_KERNELS + 1],
                                                            *const plan_graph_words[N_PLAN_GRAPHS + 1];

/** Plain value. */
struct plan {
    int64_t degree[N_PLAN_AXES];
    int64_t ep;            /**< expert parallelism */
    int32_t dispatcher;    /**< enum plan_dispatcher */
    int32_t ep_overlap;    /**< enum plan_ep_overlap */
    int32_t ep_fused;      /**< enum plan_ep_fused */
    int64_t node_limit;    /**< nodes that hold the experts of a token, at most; 0: all; of merged dispatch */
    int64_t dispatch_bits; /**< of an element on its way to the experts, 16 or 8 */
    int64_t batch;         /**< sequences (samples) of a step, over all NPUs */
    double batch_tokens;   /**< as it is read, instead; NaN afterwards */
    int64_t micro;         /**< sequences of one microbatch */
    int64_t interleave;    /**< chunks of layers per stage */
    int64_t first, last;   /**< layers of the first and last stage; 0: as many as the others */
    int32_t schedule;      /**< enum plan_schedule */
    int32_t ends;          /**< enum plan_ends; without first, last and layout */
    int32_t recompute;     /**< enum plan_recompute */
    int32_t zero;          /**< 0 to 3: what DP shares out (optimiser, gradients, parameters) */
    int32_t context;       /**< enum plan_context */
    int32_t overlap_tp;    /**< enum plan_overlap */
    bool overlap_dp, overlap_pp, seq_parallel, scatter_gather;
    bool expert_tp;     /**< matrices of experts are split over TP as well */
    bool reshard;       /**< ZeRO 3: parameters are gathered for every pass, not once a step */
    bool no_sync;       /**< gradients are summed up locally and exchanged once a step, whatever ZeRO */
    bool attention_fp8; /**< forward products of fused attention in 8 bits */
    int64_t shard;      /**< NPUs of DP (and CP) that share parameters out, the others hold copies; 0: all */
    double
        beside_share;  /**< of the time of what ZeRO 2 and 3 exchange beside a pass, what it takes from it */
    int64_t sends;     /**< exposed messages of a stage per microbatch, of 2 forward and backward */
    int64_t grad_B;    /**< bytes of a gradient: 4 (accumulated in fp32) or 2 */
    double overhead_s; /**< of a step, whatever its size */
    double traffic;    /**< what every collective sends, times this; 1 */
    int32_t precision; /**< enum topo_precision, of the linear layers */
    int32_t kernel, software, graph; /**< enum plan_kernel, plan_software, plan_graph */
    int32_t sink;                    /**< enum plan_sink */
    unsigned recompute_ops;          /**< 1 << enum plan_op, of selective recomputation; 0: the scores */
    int64_t recompute_layers;        /**< of full recomputation, the first of each chunk; 0: all */
    int64_t recompute_unit;          /**< of full recomputation, layers that are done again at once, of which
                                        the first input alone is kept */
    double offload;                  /**< share of the kept activations that go to the host meanwhile */
    int64_t gather_bits;             /**< of a parameter that is gathered over DP; 0: by precision */
    double moments_B, master_B;      /**< of Adam's two moments, of the master weight, per parameter */
    double elementwise, loss_B, loss_peak_B, launch_s, optimizer_B,
        jitter;                   /**< in place of the software's; NaN: those */
    double mem_margin, context_B; /**< reserved beyond what is allocated, a share of it (NaN: plan_reserve()),
                                     and at all times */
    enum plan_axis order[N_PLAN_AXES]; /**< over the network, innermost first */
    struct plan_layout layout;
};

/** Where the groups lie. Members and strides as in struct step_group, shape [n_dims]. */
struct plan_place {
    int32_t members[N_PLAN_GROUPS][TOPO_MAX_DIMS];
    int32_t stride[N_PLAN_GROUPS][TOPO_MAX_DIMS];
    double share[N_PLAN_GROUPS][TOPO_MAX_DIMS]; /**< of all-to-alls, as of collective_loads() */
    int32_t axis[N_PLAN_AXES][TOPO_MAX_DIMS];   /**< of each dimension, what the axis takes */
    bool sharded;                               /**< PLAN_GROUP_SHARD and PLAN_GROUP_COPIES are in use */
};

extern const struct section plan_section;

/** One of everything, no recomputation, nothing shared out; batch and micro 1. */
void plan_defaults(struct plan *p);

/**
 * Read map @p map (plan_section) for @p m on @p net; DP is what is left. With @p check by
 * plan_check() and plan_map().
 * ERR_PARSE or ERR_RANGE with the place.
 */
int plan_read(struct plan *p, const struct model *m, const struct topo_network *net, bool check,
              const struct yaml_doc *doc, yaml_id map, struct err *e);

/** The key that plan_check() finds wrong. */
struct plan_fault {
    bool brief;      /**< set by the caller: `why` is not asked for */
    const char *key; /**< of plan_section */
    char why[400];   /**< "is 3, need ...", with the nearest legal values */
};

/**
 * Can @p m be trained so? Degrees that do not multiply to @p n_npus; heads, layers, experts, sequence or
 * batch that do not divide. O(1). False: @p fault says which, and the nearest legal values; it may be NULL.
 */
bool plan_check(const struct plan *p, const struct model *m, int64_t n_npus, struct plan_fault *fault);

/*
 * Its three parts, by the keys that they look at, for whoever goes through many plans: degrees, ep and batch,
 * which no other key mends; all but the next; and ZeRO and recomputation.
 */
bool plan_check_degrees(const struct plan *p, const struct model *m, int64_t n_npus,
                        struct plan_fault *fault);
bool plan_check_options(const struct plan *p, const struct model *m, struct plan_fault *fault);
bool plan_check_memory(const struct plan *p, const struct model *m, struct plan_fault *fault);

/** Of plan_check_options(): layers, stages, chunks, and the schedule that chunks need. */
bool plan_check_stages(const struct plan *p, const struct model *m, struct plan_fault *fault);

/**
 * Lay the axes over the dimensions in p->order, splitting a dimension where a degree takes a part of it.
 * ERR_RANGE ("tp: is 3, need ...") where a degree does not divide along what is left; @p e may be NULL.
 */
int plan_map(struct plan_place *place, const struct plan *p, const struct topo_network *net, struct err *e);

/** Does the place have what dispatch of a legal plan asks for: nodes, and as many as node_limit says? */
bool plan_check_place(const struct plan_place *place, const struct plan *p, const struct model *m,
                      const struct topo_network *net, struct plan_fault *fault);

/**
 * The shares of PLAN_GROUP_MERGED in a place of @p p, with the experts of @p m; without experts, or on a
 * graph of its own, all of it.
 */
void plan_merge(struct plan_place *place, const struct plan *p, const struct model *m,
                const struct topo_network *net);

/** tp * cp * pp, or something above @p most where it is that large. */
int64_t plan_inner(const struct plan *p, int64_t most);

/** Megatron-LM of 2021 to 2023 on A100: named, or nothing else is. */
bool plan_is_2021(const struct plan *p);

/** What a plan's software takes beyond the products; docs/training.md section 5 has sources. */
struct plan_class {
    double elementwise;               /**< bytes of elementwise kernels, times those of fused ones */
    double loss_B;                    /**< per logit, both passes */
    double loss_peak_B;               /**< per logit, held at once */
    double launch_s, expert_launch_s; /**< the host takes so long to start a pass of a layer, of one with
                                         experts; graphs counted */
    double local_B, shared_B; /**< optimiser, per parameter of the NPU; per parameter that it updates */
    double jitter;            /**< relative spread of the time of a step from NPU to NPU */
};

/** Of @p p; the plan's own figures where given. O(1). */
struct plan_class plan_class(const struct plan *p, const struct model *m);

/** Does a sink take a pass over scores of its own? */
bool plan_sink_is_apart(const struct plan *p, const struct model *m);

/** Is attention fused: as the plan says, else as the model? */
bool plan_is_fused(const struct plan *p, const struct model *m);

/** Operators (1 << enum plan_op) that selective recomputation does again; 0 otherwise. */
unsigned plan_ops(const struct plan *p, const struct model *m);

/** Is full recomputation of some layers of each chunk alone? Then others keep what they have. */
bool plan_is_partly_again(const struct plan *p);

/** The same plan with nothing done again. */
struct plan plan_once(const struct plan *p);

/** Operators (1 << enum plan_op) that the model has. */
unsigned plan_model_ops(const struct model *m);

/** Share of what PyTorch allocates that its allocator holds besides: 3 to 10 % (runs of torchtitan). */
#define PLAN_RESERVED 0.05

/** Share of the memory that the plan's software needs beyond struct memory.total_B: PLAN_RESERVED where
 * mem_margin is not given, but XLA plans its memory ahead and has no such allocator. */
double plan_reserve(const struct plan *p);

/** Does PyTorch train it: FSDP2 keeps parameters in fp32 shards, rings of cp are many small kernels? */
bool plan_is_pytorch(const struct plan *p);

/** Does a layer that is done again end before its last product, whose output nothing keeps? Graphs of
 * torch.compile and XLA have no dead code; Megatron-Core does again the whole layer. */
bool plan_ends_early(const struct plan *p);

/** Data-sheet peak of the precision that linear layers compute in; utilisation is of this [FLOP/s]. */
double plan_peak(const struct plan *p, const struct topo_npu *npu);

/** Bytes of an element that enters a product of a linear layer, scales of blocks included. */
double plan_element_B(const struct plan *p);

/** Bytes of a parameter of a layer when it is gathered over DP. */
double plan_gather_B(const struct plan *p);

/** Do zero 0 to 3 come to the same, as nobody shares anything and nothing else goes by them? */
bool plan_zero_is_idle(const struct plan *p, const struct model *m);

/** Microbatches of a step. */
int64_t plan_microbatches(const struct plan *p);

/** Stages that do equal work. */
struct plan_stage {
    int64_t at, count;      /**< the first of them (from 0); how many */
    int64_t dense, experts; /**< layers */
    bool embed, head;
    int64_t mtp; /**< heads more, of multi-token prediction; its layers are among the others */
    int64_t dense_again, experts_again; /**< of them, layers done again where plan_is_partly_again() */
};

enum { PLAN_MAX_STAGES = 16 };

/** Layers of chunk @p chunk (from 0, in the model's order) of a plan; below 0 where too many are before it.
 * O(1). */
int64_t plan_chunk_layers(const struct plan *p, const struct model *m, int64_t chunk);

/**
 * The stages of a legal plan, first to last. Where more than PLAN_MAX_STAGES differ (layers with experts in
 * an odd rhythm, a list of chunks) the last of them stand for the largest. O(1); O(chunks) of a model with
 * experts or a plan that lists them.
 * @return how many.
 */
int32_t plan_stages(struct plan_stage out[PLAN_MAX_STAGES], const struct plan *p, const struct model *m);

/** One word for people, "tp8 pp16 dp4 mb2x24 zero1": degrees above 1, innermost first; microbatches of 2
 * sequences, 24 of them; what else is not the default, "key-word" or a word of its own. Appended. */
void plan_format(struct text *out, const struct plan *p, const struct model *m);

/** The mapping as a picture: a row per dimension, outermost first, and what of it each axis takes. */
void plan_draw(struct text *out, const struct plan *p, const struct plan_place *place,
               const struct topo_network *net);

#endif
