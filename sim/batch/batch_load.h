/** @file Load of each GPU as a plan grows, and which GPUs a job gets by it. */
#ifndef SIM_BATCH_BATCH_LOAD_H
#define SIM_BATCH_BATCH_LOAD_H

#include "sim/batch/gang.h"

struct batch_load_rank; /* private */

/** Release with batch_load_free(). */
struct batch_load {
    const struct gang *g;
    bool gang; /**< a gang starts when the last of its GPUs is free; false: each GPU adds up its own jobs */
    double *gpu_s;                 /**< shape [n_gpus], owned; planned to be busy so long */
    double *server_s;              /**< shape [n_servers], owned; sum over its GPUs */
    bool *open;                    /**< shape [n_servers], owned; has a job already */
    struct batch_load_rank *ranks; /**< shape [n_servers], owned */
};

/** What a job asks for. */
struct batch_load_ask {
    int32_t gpus;
    double add_s;   /**< what it adds to the load of each of its GPUs */
    double limit_s; /**< no GPU gets more, INFINITY: no limit */
};

/** No load. ERR_NOMEM. Release with batch_load_free(), also after a failure. */
int batch_load_build(struct batch_load *l, const struct gang *g, bool gang, struct err *e);
void batch_load_free(struct batch_load *l);
/** No load again. */
void batch_load_reset(struct batch_load *l);

/**
 * Each of these finds GPUs for a job, writes them in out (shape [ask->gpus], ascending) and adds its load;
 * false when fewer than it needs stay within the limit, and then nothing is changed. GPUs are compared by
 * load, of equals the one with the lowest number goes first.
 */

/** Among all GPUs, those loaded least. O(GPUs log ask->gpus). */
bool batch_load_take_least(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask);
/** Servers that have jobs go before those that have none, whatever their load. O(GPUs log ask->gpus). */
bool batch_load_take_packed(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask);
/** The least loaded ones on the servers that are loaded least per GPU: on so few of them as have @p lambda
 * times the GPUs, or on all. O(GPUs log ask->gpus + servers log servers). */
bool batch_load_take_balanced(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask,
                              double lambda);
/** Those with the lowest numbers. O(GPUs). */
bool batch_load_take_first(struct batch_load *l, int32_t *out, const struct batch_load_ask *ask);

#endif
