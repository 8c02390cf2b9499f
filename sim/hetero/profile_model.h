/** @file Profiles of models that are given by their hyperparameters, on NPUs given by their peaks. */
#ifndef SIM_HETERO_PROFILE_MODEL_H
#define SIM_HETERO_PROFILE_MODEL_H

#include "sim/hetero/profile.h"
#include "workloads/model.h"

/**
 * A layer for the embedding, each layer (or convolution, or dense layer of a DLRM) and the head of @p m;
 * seconds forward and backward by workloads/roofline.h for @p batch examples on one unit of each type.
 *
 * @param types  shape [n_types]; names, prices, shares and limits are copied.
 * @param npus   shape [n_types]; of a CPU core, its share of the socket.
 * @param net_Bps  shape [n_types]; what one unit moves to others of its stage and to the next stage.
 * @param p uninitialised; empty after failure. ERR_RANGE: an NPU without peak or memory bandwidth. ERR_NOMEM.
 */
int hetero_profile_of_model(struct hetero_profile *p, const struct model *m, double batch, int32_t n_types,
                            const struct hetero_type *types, const struct topo_npu *npus,
                            const double *net_Bps, struct err *e);

#endif
