/** @file SimAI workloads, as AICB writes them: a header line of keys, a layer count, 12 columns per layer. */
#ifndef WORKLOADS_READERS_SIMAI_H
#define WORKLOADS_READERS_SIMAI_H

#include "workloads/step.h"

enum { SIMAI_MAX_BYTES = 64 << 20 };

/** What the bytes of an all-gather are. */
enum simai_ag_size {
    SIMAI_AG_FULL, /**< its result, n shards of n members: what AICB writes */
    SIMAI_AG_SHARD,
};

extern const char *const simai_ag_size_names[]; /**< NULL-terminated, for key tables */

/** What the file does not say; -1 leaves it open. */
struct simai_rule {
    int32_t loop;      /**< index into layers_loops; -1: no-overlap */
    int32_t recompute; /**< enum layers_recompute of every layer; -1: as the checkpoint lists say */
    int32_t ag_size;   /**< enum simai_ag_size; -1: full */
};

/**
 * Read @p text (@p n bytes) as a training step on @p net.
 *
 * Line 1: HYBRID_TRANSFORMER or HYBRID_TRANSFORMER_FWD_IN_BCKWD, then keys in any order, each with or
 * without a colon: model_parallel_NPU_group (TP), ep (or expert_parallel_npu_group), pp, vpp, ga, all_gpus,
 * checkpoints, checkpoint_initiates, pp_comm. All but the first may be missing: 1, no checkpoints, every NPU
 * of the network, 0 bytes. Line 2: the number of layers N. Then N lines of 12 columns, as astra_read().
 *
 * | group | NPUs | next to each other across |
 * |---|---|---|
 * | tp | model_parallel_NPU_group, from the innermost dimension | - |
 * | ep | ep | tp |
 * | dp_ep | the rest of dp | tp, ep |
 * | dp | all_gpus / (tp pp) | tp |
 * | pp | pp | tp, dp |
 *
 * A collective in forward or input gradient runs over tp, one of the weight gradient over dp; the suffixes
 * _EP and _DP_EP name ep and dp_ep. The update time is left out, as in astra_read().
 *
 * The pipeline. The rows are all that one stage does in a step: AICB writes the layers ga times, once per
 * microbatch, and the weights' collectives once. So nothing is repeated for ga; with pp > 1 come
 *
 * - 2 ga sends of pp_comm bytes over pp (each microbatch's activation forward, its gradient backward);
 * - the bubble: (pp - 1)/ga of all that, the weight gradient's collectives apart, which is what the pipeline
 *   takes to fill and drain, (pp - 1) microbatches. In reports it counts with the phases it is made of.
 *
 * vpp is read and does nothing: AICB writes the number of layers there, not that of virtual stages, so the
 * bubble is that of a pipeline that is not interleaved.
 * Source: SimAI@cef83f9 workload/Workload.cc, Layer.cc (bubble, 2 sends per microbatch); AICB's
 * SimAI_training_workload_generator.py; restated. Theirs divides the bubble by vpp and counts vpp sends.
 *
 * @param name  for messages, which start with `name:line:col:`.
 * @return 0; ERR_PARSE: not this grammar (unknown policy, key, collective or suffix, a key twice,
 *         another number of columns, not a number); ERR_RANGE: groups that do not divide along the dimensions
 *         or are not all NPUs together, a layer number that does not exist; ERR_UNSUP: a policy of
 *         ASTRA-sim that SimAI's groups have no part in, ALLREDUCEALLTOALL; ERR_NOMEM.
 *         On failure @p t is empty and safe to free. Time O(n).
 */
int simai_read(struct step_tree *t, const char *name, const char *text, size_t n,
               const struct topo_network *net, struct simai_rule rule, struct err *e);

#endif
