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

#include "base/err.h"

enum {
    HETERO_NAME = 48,
    HETERO_MAX_LAYERS = 256,
    HETERO_MAX_TYPES = 128,
    HETERO_MAX_UNITS = 1 << 20, /**< of one stage, where a type has no limit */
};

/** What a layer does; the heuristic and the policy look at it. */
enum hetero_kind {
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
    enum hetero_kind kind;
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
    int64_t max_units;            /**< 1 to HETERO_MAX_UNITS, over all stages */
    double compute_par, comm_par; /**< share that units divide, [0, 1] (Amdahl): alpha and beta */
    int32_t host;                 /**< type of the cores that each unit needs besides itself, -1: none; it has
                                     no host itself */
    int64_t host_units;           /**< how many, >= 0; they are paid for and count as units of that type */
    double nic_Bps; /**< of one unit towards other types, one direction; INFINITY: no limit of its own */
};

/** Shapes [n_layers][n_types], the layer first. Release with hetero_profile_free(). */
struct hetero_profile {
    char name[HETERO_NAME];
    int32_t n_layers, n_types;
    double batch;                /**< examples that the seconds are for, > 0 */
    struct hetero_layer *layers; /**< shape [n_layers], owned */
    struct hetero_type *types;   /**< shape [n_types], owned */
    double *compute_s;           /**< one unit, that batch, >= 0 */
    double *sync_s;              /**< communication inside a stage: parameters, look-ups */
    double *handover_s;          /**< to hand the layer's output on to the next stage */
};

/** Room for @p n_layers x @p n_types, all zero but max_units and nic_Bps without limit and host -1. Empty
 * after failure. 0 or ERR_NOMEM. */
int hetero_profile_build(struct hetero_profile *p, int32_t n_layers, int32_t n_types, struct err *e);
void hetero_profile_free(struct hetero_profile *p);

/**
 * Is all in range, are times finite, is there a layer that takes time on every type? ERR_RANGE:
 * "layers[2] 'fc1' on 'gpu': ...".
 */
int hetero_profile_check(const struct hetero_profile *p, struct err *e);

/** Share that units divide, from the time of one unit and of @p k >= 2 units: (1 - tk/t1) / (1 - 1/k), cut to
 * [0, 1]. */
double hetero_parallel_frac(double one_s, double k_s, int64_t k);

#endif
