/** @file Who takes part in communication of a Chakra trace, as groups along the network's dimensions. */
#ifndef WORKLOADS_CHAKRA_GROUP_H
#define WORKLOADS_CHAKRA_GROUP_H

#include "workloads/step.h"

/** The group of @p t with these members and strides (shapes [n_dims]), added when there is none. Group 0 when
 * it is every NPU. 0, ERR_RANGE (more than GROUP_MAX) or ERR_NOMEM. */
int chakra_take_group(int32_t *group, struct step_tree *t, const char *name, const int32_t *members,
                      const int32_t *stride, struct err *e);

/**
 * The process group @p id of @p groups, a map {"id": [ranks]}: rank = address (a_1..a_D), a_1 fastest. Its
 * ranks, in any order, must be a rectangle: m_d of each dimension, equal steps apart, such that equal groups
 * side by side fill the dimension; and hold @p rank.
 * @return 0; ERR_PARSE: no such group, not a list of ranks; ERR_RANGE: ranks twice or beyond the network,
 *         no rectangle; ERR_NOMEM. Time O(n log n) for n ranks.
 */
int chakra_process_group(int32_t *group, struct step_tree *t, const struct topo_network *net,
                         const struct yaml_doc *groups, const char *id, int32_t rank, struct err *e);

/** Sender to receiver: along each dimension in which they differ, by steps of their distance where that
 * divides the dimension, else of one. @p src and @p dst differ and are NPUs of @p net. 0, ERR_RANGE,
 * ERR_NOMEM. */
int chakra_send_group(int32_t *group, struct step_tree *t, const struct topo_network *net, int32_t src,
                      int32_t dst, struct err *e);

#endif
