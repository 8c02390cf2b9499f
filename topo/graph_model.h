/**
 * @file Private to topo/graph*.c: what struct topo_graph holds, and igraph's failures as ours.
 * Include <igraph.h> before it: only those source files may.
 */
#ifndef TOPO_GRAPH_MODEL_H
#define TOPO_GRAPH_MODEL_H

#include "topo/graph_draft.h"

/** Attribute names in the model and in files. */
#define ATTR_BW    "bw_GBps"
#define ATTR_LAT   "lat_ns"
#define ATTR_DIM   "dim"
#define ATTR_USD   "usd"
#define ATTR_KIND  "kind"  /**< boolean in the model: is an NPU; "npu" or "switch" in files */
#define ATTR_NAME  "name"  /**< in the model of a custom graph only; exports of others make it up */
#define ATTR_COORD "coord" /**< exports only */

struct topo_graph {
    igraph_t model;
    bool has_model;
    int64_t n_npus, n_vertices, n_links;
    struct topo_network net; /**< n_dims 0: custom */
};

/** 0, or the failure of an igraph call with igraph's reason: "DOING: REASON". */
int topo_from_igraph(igraph_error_t code, const char *doing, struct err *e);

/** Move igraph's first warning since the last call into @p buf (cut to fit); "" if there was none. */
void topo_take_warning(char *buf, size_t n);

/** Mark vertices 0..n_npus-1 of the model as NPUs. */
int topo_graph_set_kinds(struct topo_graph *g, struct err *e);

/** Nearest number of 15 significant digits: what igraph writes into files. */
double topo_fifteen_digits(double x);

#endif
