/** @file A node of a Chakra trace as a leaf of the step: seconds of compute, or a collective over a group. */
#ifndef WORKLOADS_CHAKRA_LEAF_H
#define WORKLOADS_CHAKRA_LEAF_H

#include "workloads/chakra_file.h"
#include "workloads/step.h"

/** What the nodes of one trace are read with; all borrowed. */
struct chakra_context {
    struct step_tree *tree; /**< groups are added to it */
    const struct topo_network *net;
    const struct chakra_trace *trace;
    const char *name;              /**< of the trace, for messages */
    int32_t rank;                  /**< NPU the trace is of; 0 to n_npus-1 */
    const struct yaml_doc *groups; /**< {"id": [ranks]}; NULL: none given */
    struct chakra_known {
        char name[CHAKRA_NAME];
        int32_t group;
    } * known; /**< shape [n_known], owned: free(); process groups of this rank looked up so far */
    int32_t n_known, cap_known;
};

/**
 * What node @p i takes. kind STEP_SUM means: nothing, it only orders.
 *
 * COMP: duration, 1 ns where that is 0; without a duration but with num_ops and tensor_size the roofline
 * max(num_ops/peak, tensor_size/memory bandwidth) of the network's npu, nothing where tensor_size is 0.
 * MEM_LOAD, MEM_STORE: duration, else tensor_size/memory bandwidth.
 * COMM_COLL: the collective of comm_type with comm_size bytes entering per NPU over its process group, else
 * over the dimensions of involved_dim, else over all. Size 0, or a group of one: nothing.
 * COMM_SEND: to the next NPU along the dimensions in which sender and receiver differ; steps of more than one
 * where their distance divides the dimension. COMM_RECV, METADATA: nothing.
 *
 * @return 0; ERR_PARSE: an attribute is missing; ERR_RANGE: a rank, process group or dimension that does
 *         not fit the network, or the npu keys a roofline needs are missing; ERR_UNSUP: a collective
 *         that a step does not have, communication on the CPU; ERR_NOMEM.
 */
int chakra_leaf(struct step_node *out, struct chakra_context *x, int32_t i, struct err *e);

#endif
