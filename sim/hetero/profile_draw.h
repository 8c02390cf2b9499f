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
    int32_t n_types; /**< 2: "cpu" and "gpu"; more: "gpu2", .. of 2^u the speed at speed^0.8 the price, u
                        uniform in [-1, 1) */
    uint64_t seed;   /**< of those; a type is the same whatever is beside it */
    double batch;    /**< examples of a profile, > 0 */
    struct hetero_draw_unit cpu, gpu;
};

/** CTRDNN on a CPU core and a V100, both as this project assumes them; source of none: docs/hetero.md. */
struct hetero_draw hetero_draw_default(void);

/**
 * Types first to last as above; no hosts. Seconds of a batch of B on a unit, sizes in elements of 4 bytes:
 *
 *                    compute_s                     sync_s                  handover_s
 *     look-up of n   B n 4*4 / memory_Bps          B n 8 / lookup_Bps      0: looked up is handed over
 *     memory-bound   B (in + out) 2*4 / memory_Bps 0                       B out 4 / net_Bps
 *     product        6 B in out / flops            2*4 in out / net_Bps    B out 4 / net_Bps
 *
 * @param p uninitialised; empty after failure.
 * @return 0; ERR_RANGE: types not 2 to HETERO_MAX_TYPES, a rate that is not > 0, or what
 *         hetero_profile_check() refuses; ERR_NOMEM. O(layers * types).
 */
int hetero_draw_profile(struct hetero_profile *p, const struct hetero_draw *d, struct err *e);

#endif
