/** @file ASTRA-sim 1.0 text workloads: parallelism policy, layer count, then 12 columns per layer. */
#ifndef WORKLOADS_ASTRA_H
#define WORKLOADS_ASTRA_H

#include "workloads/layers.h"

enum { ASTRA_MAX_BYTES = 64 << 20 };

/** What the file does not say; `= { -1, -1 }` leaves both open. */
struct astra_rule {
    int32_t loop;      /**< index into layers_loops; -1: no-overlap, as LIBRA reads these files */
    int32_t recompute; /**< enum layers_recompute of every layer; -1: as the file's policy says */
};

/**
 * Read @p text (@p n bytes) as a training step on @p net.
 *
 * Tokens are separated by blanks and newlines alike: POLICY [its arguments] N, then
 * N layers of name, reserved, 3 x (compute [ns], collective, bytes) for forward,
 * input gradient and weight gradient, and update time; 13th column under
 * HYBRID_CUSTOMIZED: the policy of that layer. An all-gather's bytes are the shard.
 *
 * | policy | forward and input gradient | weight gradient |
 * |---|---|---|
 * | DATA | no group | all |
 * | MICRO | no group, no compute | all |
 * | MODEL | all | no group |
 * | DISTRIBUTED_INFERENCE | all; no backward pass | - |
 * | HYBRID_DATA_MODEL | dimension 1 ("inner") | the others ("outer") |
 * | HYBRID_MODEL_DATA | the others | dimension 1 |
 * | HYBRID_TRANSFORMER, .._FWD_IN_BCKWD: model_parallel_NPU_group: G | G NPUs from the innermost dimension
 * ("model") | the rest ("data") | | HYBRID_DLRM, HYBRID_DLRM_ENHANCED: last bottom layer | layer 0: all; no
 * group | all |
 *
 * A collective without a group is not run. As in ASTRA-sim, the input gradient of layer
 * 0 has no collective under MODEL and HYBRID_{DATA_MODEL, MODEL_DATA, CUSTOMIZED};
 * compute counts as written everywhere (LIBRA). Update time is left out, as LIBRA does,
 * and so is the early start of HYBRID_DLRM's all-to-all.
 * .._FWD_IN_BCKWD (checkpoints: k l1..lk checkpoint_initiates: k l1..lk): before the
 * backward part of an initiating layer i the layers c..i-1 run forward again, c the
 * nearest checkpoint below i.
 * Source: astra-sim@86fec9b workload/Workload.cc, restated.
 *
 * @param name  for messages, which start with `name:line:col:`.
 * @return 0; ERR_PARSE: not this grammar (unknown policy or collective, missing or
 *         surplus tokens, not a number); ERR_RANGE: a group that does not divide along
 *         the dimensions, a layer number that does not exist, no checkpoint; ERR_UNSUP:
 *         ALLREDUCEALLTOALL (one mark for two collectives over groups the file does not
 *         name); ERR_NOMEM. On failure @p t is empty and safe to free.
 */
int astra_read(struct step_tree *t, const char *name, const char *text, size_t n,
               const struct topo_network *net, struct astra_rule rule, struct err *e);

#endif
