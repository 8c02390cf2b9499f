/**
 * @file Profiles of four recommendation models on CPU cores, a GPU and made-up other GPUs.
 *
 * The names of the models and that they have about so many layers are recalled from the paper (arXiv
 * 2111.10635), not checked; every size, speed and price here is this project's choice, and each can be set.
 */
#ifndef SIM_HETERO_PROFILE_DRAW_H
#define SIM_HETERO_PROFILE_DRAW_H

#include "sim/hetero/profile.h"

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

struct hetero_draw {
    enum hetero_model model;
    int32_t
        n_types;   /**< 2: cpu and gpu; more: further GPUs, faster and dearer or slower and cheaper, drawn */
    uint64_t seed; /**< of those */
    double batch;  /**< examples of a profile */
    struct hetero_draw_unit cpu, gpu;
};

/** As in docs/hetero.md. */
struct hetero_draw hetero_draw_default(void);

/** @p p uninitialised; empty after failure. 0, ERR_RANGE (types: 2 to HETERO_MAX_TYPES), ERR_NOMEM. O(layers
 * * types). */
int hetero_draw_profile(struct hetero_profile *p, const struct hetero_draw *d, struct err *e);

#endif
