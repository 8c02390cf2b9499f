/** @file Groups of NPUs: how many of each dimension take part, filled from the innermost outwards. */
#ifndef WORKLOADS_GROUP_H
#define WORKLOADS_GROUP_H

#include "workloads/step.h"

enum { GROUP_MAX = 64 /**< groups of one workload, "all" included */ };

/**
 * Take @p size NPUs, innermost dimension first, of the left[d] that are there:
 * all of a dimension while the size still asked for is a multiple of it; then
 * the last piece, which must divide its dimension.
 *
 * @param[out] members  shape [n_dims].
 * @param left          shape [n_dims], each >= 1.
 * @param size          1 to the product of left.
 * @return 0 or ERR_RANGE; the message starts with "is 3, need ...", for the caller to place.
 */
int group_fill(int32_t *members, const int32_t *left, int32_t n_dims, int64_t size, struct err *e);

/** What @p members leave of @p sizes: rest[d] = sizes[d] / members[d]. Shapes [n_dims]. */
void group_rest(int32_t *rest, const int32_t *sizes, const int32_t *members, int32_t n_dims);

/** Add the groups of map @p node (step_group_section each), in the order they are written. */
int group_read(struct step_tree *t, const struct yaml_doc *doc, yaml_id node, const struct topo_network *net,
               struct err *e);

#endif
