/** @file Private to topo/graph*.c: a custom graph between its file and its model. */
#ifndef TOPO_GRAPH_DRAFT_H
#define TOPO_GRAPH_DRAFT_H

#include "topo/graph.h"

/** Vertices in the order of the file. Zero-initialise; release with topo_draft_free(). */
struct topo_draft {
    struct topo_link *links; /**< shape [n_links], owned; src and dst in any order */
    int64_t n_links;
    char **names; /**< shape [n_vertices], owned with its strings */
    bool *is_npu; /**< shape [n_vertices], owned */
    int64_t n_vertices;
    bool has_dim, has_usd;
    const char *lat_key; /**< what the file calls the latency */
};

/** Room for the given numbers, all zero. ERR_NOMEM, or ERR_RANGE above TOPO_MAX_GRAPH. */
int topo_draft_reserve(struct topo_draft *draft, int64_t n_vertices, int64_t n_links, struct err *e);
void topo_draft_free(struct topo_draft *draft);

/** Check links and number of NPUs, number NPUs first, and make a graph of it. Errors as topo_read_graphml().
 */
int topo_build_custom(struct topo_graph **out, const struct topo_draft *draft, struct err *e);

#endif
