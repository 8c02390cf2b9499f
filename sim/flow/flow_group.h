/** @file Which NPUs take part in a collective, and along which lines of a dimension they talk to each other.
 */
#ifndef SIM_FLOW_GROUP_H
#define SIM_FLOW_GROUP_H

#include "topo/route.h"

/** Either a box of addresses in a described network, or a list of NPUs in any. Zero-initialise. */
struct flow_group_spec {
    int32_t members[TOPO_MAX_DIMS]; /**< of each dimension; 1 or 0 = only one */
    int32_t stride[TOPO_MAX_DIMS];  /**< from member to member; 0 = 1 */
    const int32_t *first; /**< address of the first NPU of one group, shape [n_dims]; NULL: the network is
                               full of such groups, and all of them work at once */
    const int32_t
        *order; /**< order of dimensions as of stage_list(), shape [n_dims]; NULL = innermost first */

    const int64_t *npus;           /**< shape [n_npus], the members of one group in order; NULL = a box */
    int32_t n_npus;                /**< >= 2 */
    enum topo_algorithm algorithm; /**< of a list: SHAPE or RING (both ways round), DIRECT, HALVING */
};

/** The groups cut along one dimension: members of a line differ in that dimension only. */
struct flow_lines {
    int32_t n_members, n_lines;
    int64_t step;     /**< from a member's number to the next one's; not of a list */
    int64_t *first;   /**< shape [n_lines], NPU that is member 0, owned */
    int32_t *line_of; /**< shape [NPUs of the network], -1 = in none; NULL when n_members is 1; owned */
};

/** Zero-initialise; release with flow_group_free(). */
struct flow_group {
    struct topo_network net; /**< as stage_list() sees it: of a list one ring of its members */
    int32_t members[TOPO_MAX_DIMS], order[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS];
    int32_t
        base[TOPO_MAX_DIMS]; /**< address of the only group's first NPU; 0 where groups fill the network */
    struct flow_lines lines[TOPO_MAX_DIMS];
    int64_t *npus; /**< of a list, owned; else NULL */
    int64_t n_groups;
};

/**
 * @return 0; ERR_NOMEM; ERR_UNSUP: a box in a custom graph; ERR_RANGE: a dimension that the groups do not
 * fill evenly or leave, an order that is none, NPUs that do not exist or come twice, an algorithm that a list
 * has not. O(NPUs of the network * dimensions).
 */
int flow_group_build(struct flow_group *g, const struct flow_group_spec *spec,
                     const struct topo_routes *routes, struct err *e);
void flow_group_free(struct flow_group *g);

/** NPU that is member @p i of line @p line in dimension @p d of the group. */
int64_t flow_group_npu(const struct flow_group *g, int32_t d, int32_t line, int32_t i);

/** Position of @p npu among the members of dimension @p d; not of a list. */
int32_t flow_group_position(const struct flow_group *g, const struct topo_routes *routes, int32_t d,
                            int64_t npu);

#endif
