/** @file Profiles of models that are given by their hyperparameters, on NPUs given by their peaks. */
#ifndef SIM_HETERO_PROFILE_MODEL_H
#define SIM_HETERO_PROFILE_MODEL_H

#include "sim/hetero/profile.h"
#include "topo/npu.h"
#include "workloads/model.h"

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
 * @param npus   shape [n_types]; of a CPU core, its share of the socket.
 * @param net_Bps  shape [n_types]; what one unit moves to others of its stage and to the next stage, > 0.
 * @param p uninitialised; empty after failure.
 * @return 0; ERR_RANGE: an NPU without peak or memory bandwidth, more than HETERO_MAX_LAYERS layers, what
 *         hetero_profile_check() refuses; ERR_NOMEM. O(layers * types).
 */
int hetero_profile_of_model(struct hetero_profile *p, const struct model *m, double batch, int32_t n_types,
                            const struct hetero_type *types, const struct topo_npu *npus,
                            const double *net_Bps, struct err *e);

#endif
