/**
 * @file What a model's layers cost on each type of resource: the input of the scheduler of layers.
 *
 * Sources: the form of the model (compute and communication seconds per layer and type for a small batch,
 * Amdahl scaling over units) is that of arXiv 2111.10635 as far as it is known; docs/hetero.md says what is
 * published and what is this project's choice.
 */
#ifndef SIM_HETERO_PROFILE_H
#define SIM_HETERO_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "topo/npu.h"
#include "workloads/model.h"

enum {
    HETERO_NAME = 48,
    HETERO_MAX_LAYERS = 256,
    HETERO_MAX_TYPES = 128,
    HETERO_MAX_UNITS = 1 << 20, /**< of one stage, where a type has no limit */
};

/** What a layer does; the heuristic and the policy look at it. */
enum hetero_layer_kind {
    HETERO_EMBEDDING, /**< look-up of sparse ids */
    HETERO_POOL,      /**< pooling over them */
    HETERO_CONCAT,
    HETERO_FC,
    HETERO_NCE, /**< noise-contrastive estimation */
    HETERO_SIMILARITY,
    HETERO_LOSS,
    HETERO_BLOCK, /**< anything else: a transformer layer, a convolution */
    N_HETERO_KINDS,
};

/** "embedding", "pool", "concat", "fc", "nce", "similarity", "loss", "block"; NULL-terminated. */
extern const char *const hetero_kind_words[N_HETERO_KINDS + 1];

/** Bytes are of one example, but for weights. */
struct hetero_layer {
    char name[HETERO_NAME];
    enum hetero_layer_kind kind;
    double in_B, out_B; /**< activations in and out */
    double weight_B;
    double sparse_B; /**< embedding rows pulled and pushed: load of parameter servers */
};

/** A type of resource; one unit is a CPU core or a GPU. */
struct hetero_type {
    char name[HETERO_NAME];
    bool cpu;
    double mem_B;                 /**< of one unit, 0: not known; for reports, no plan is refused for it */
    double usd_per_h;             /**< of one unit, >= 0 */
    double port_usd_per_h;        /**< beside it, of its ports and what they hang on; not of units that are
                                     hosts, which have none of their own */
    int64_t max_units;            /**< 1 to HETERO_MAX_UNITS, over all stages */
    double compute_par, comm_par; /**< share that units divide, [0, 1] (Amdahl): alpha and beta */
    int32_t host;                 /**< type of the cores that each unit needs besides itself, -1: none; it has
                                     no host itself */
    int64_t host_units;           /**< how many, >= 0; they are paid for and count as units of that type */
    double nic_Bps; /**< of one unit towards other types, one direction; INFINITY: no limit of its own */
};

/** Shapes [n_layers][n_types], the layer first. Release with hetero_profile_free(). */
struct hetero_profile {
    struct arena arena; /**< of all arrays */
    char name[HETERO_NAME];
    int32_t n_layers, n_types;
    double batch;                /**< examples that the seconds are for, > 0 */
    struct hetero_layer *layers; /**< shape [n_layers] */
    struct hetero_type *types;   /**< shape [n_types] */
    double *compute_s;           /**< one unit, that batch, >= 0 */
    double *sync_s;              /**< communication inside a stage: parameters, look-ups */
    double *handover_s;          /**< to hand the layer's output on to the next stage */
};

/** Room for @p n_layers x @p n_types, all zero but max_units and nic_Bps without limit and host -1. Empty
 * after failure. 0 or ERR_NOMEM. */
int hetero_profile_build(struct hetero_profile *p, int32_t n_layers, int32_t n_types, struct err *e);
void hetero_profile_free(struct hetero_profile *p);

/** Are times finite and >= 0, is there a layer that takes time on every type? ERR_RANGE:
 * "layers[2] 'fc1' on 'gpu': ...". */
int hetero_profile_check(const struct hetero_profile *p, struct err *e);

/** Share that units divide, from the time of one unit and of @p k >= 2 units: (1 - tk/t1) / (1 - 1/k), cut to
 * [0, 1]. */
double hetero_parallel_frac(double one_s, double k_s, int64_t k);

/* Profiles of models that are given by their hyperparameters, on NPUs given by their peaks. */

/**
 * The layers of @p m in order:
 *
 *     transformer  embedding, each layer, head (logits and loss)
 *     DLRM         tables (look-ups and pooling), bottom layers, interaction, top layers
 *     CNN          each convolution with its normalisation, as often as it is counted; the linear layer
 *
 * Their kinds are HETERO_EMBEDDING (embedding, tables), HETERO_FC (head, dense layers), HETERO_BLOCK (the
 * rest). Of @p batch sequences, samples or images on one unit:
 *
 *     compute_s   forward and backward, by workloads/block.h without any parallelism
 *     sync_s      (batch * sparse_B + 2 * bytes of all other weights) / net_Bps: rows are pulled and their
 *                 gradients pushed; of other weights gradients go out and sums come in
 *     handover_s  batch * out_B / net_Bps, forward; gradients come back the other way meanwhile
 *
 * Weights and activations have ROOFLINE_ELEMENT_B bytes, tables of a DLRM and what is pooled from them 4.
 * What goes past a layer to a later one (pooled rows past the bottom layers, the dense input past the tables)
 * is in its in_B and out_B. Of a tied table the head holds a copy. Padding of the vocabulary counts. Norms,
 * losses and the like are inside the layers.
 *
 * @param batch  whole, 1 to 1e9.
 * @param types  shape [n_types]; copied.
 * @param npus   shape [n_types], with peak and memory bandwidth; of a CPU core, its share of the socket.
 * @param net_Bps  shape [n_types]; what one unit moves to others of its stage and to the next stage, > 0.
 * @param p uninitialised; empty after failure.
 * @return 0; ERR_RANGE: another batch, more than HETERO_MAX_LAYERS layers, what hetero_profile_check()
 *         refuses; ERR_NOMEM. O(layers * types).
 */
int hetero_profile_of_model(struct hetero_profile *p, const struct model *m, double batch, int32_t n_types,
                            const struct hetero_type *types, const struct topo_npu *npus,
                            const double *net_Bps, struct err *e);

/*
 * ---- drawn models ----
 *
 * Profiles of four recommendation models on CPU cores, a GPU and made-up other GPUs.
 *
 * The names of the models and that they have about so many layers are recalled from the paper (arXiv
 * 2111.10635), not checked; every size, speed and price here is this project's choice, and each can be set.
 */

enum hetero_model { HETERO_CTRDNN, HETERO_MATCHNET, HETERO_2EMB, HETERO_NCE5, N_HETERO_MODELS };

/** "ctrdnn", "matchnet", "2emb", "nce"; NULL-terminated. */
extern const char *const hetero_model_words[N_HETERO_MODELS + 1];

/** One unit of a type. */
struct hetero_draw_unit {
    double flops;      /**< of matrix products [FLOP/s] */
    double memory_Bps; /**< of looking up rows */
    double lookup_Bps; /**< of moving looked-up rows to and from where they are */
    double net_Bps;    /**< between units */
    double usd_per_h;
    double compute_par, comm_par;
    int64_t max_units;
};

/** The limits of each are those of its key (kinds/hetero/hetero.c). */
struct hetero_draw {
    enum hetero_model model;
    int32_t n_types; /**< 2: "cpu" and "gpu"; more: "gpu2", .. of 2^u the speed at speed^0.8 the price, u
                        uniform in [-1, 1) */
    int64_t seed;    /**< of those; a type is the same whatever is beside it */
    double batch;    /**< examples of a profile, > 0 */
    struct hetero_draw_unit cpu, gpu;
};

/**
 * Types first to last as above; no hosts. Seconds of a batch of B on a unit, sizes in elements of 4 bytes:
 *
 *                    compute_s                     sync_s                  handover_s
 *     look-up of n   B n 4*4 / memory_Bps          B n 8 / lookup_Bps      0: looked up is handed over
 *     memory-bound   B (in + out) 2*4 / memory_Bps 0                       B out 4 / net_Bps
 *     product        6 B in out / flops            2*4 in out / net_Bps    B out 4 / net_Bps
 *
 * @param p uninitialised; empty after failure.
 * @return 0; ERR_RANGE: what hetero_profile_check() refuses; ERR_NOMEM. O(layers * types).
 */
int hetero_draw_profile(struct hetero_profile *p, const struct hetero_draw *d, struct err *e);

#endif
