/** @file A custom graph as plain arrays: what it costs by its own attributes, and its classes of links. */
#ifndef TOPO_WIRES_H
#define TOPO_WIRES_H

#include "base/arena.h"
#include "topo/graph.h"

/**
 * A class of links as a dimension. Its bandwidth B is that of one NPU, as with any shape: of all its links in
 * one direction over the number of NPUs. A link between vertices that are equally far from NPUs counts both
 * ways (a torus has B = 2b), another one way (a tree's up-links). Links keep their proportions in the file.
 */
struct topo_wire_class {
    int32_t n_links;
    double link_share;                     /**< bandwidth of its fastest link over B */
    double file_Bps;                       /**< B as the file has it */
    double links_per, ports_per, nics_per; /**< bandwidth of links, switch ports and NICs over N B, as rates
                                              count them */
    double usd_per_Bps, watt_per_Bps; /**< by the file's usd and watt, of all links, per B; NaN without */
    double
        npu_share; /**< bandwidth over B of all links of the NPU that has most; 0: the class joins no NPU */
    double nic_share; /**< the same of its links to switches, which rates take for NICs */
};

/**
 * Wires of a graph, without igraph: copied once, then read by any thread. A link is a wire, numbered as in
 * the graph. Release with topo_wires_free().
 */
struct topo_wires {
    int32_t n_npus, n_vertices, n_links, n_classes;
    struct arena arena;         /**< of all arrays */
    struct topo_link *links;    /**< shape [n_links] */
    char (*classes)[TOPO_NAME]; /**< shape [n_classes] */
    double *usd, *watt;         /**< of vertices, shape [n_vertices]; NaN where the file does not say */
    double link_usd, link_watt; /**< sums over links; NaN where the file gives none at all */
    double node_usd, node_watt; /**< the same over vertices */
    bool own_prices;            /**< a study takes usd of edges and nodes for its prices */
    bool unpriced_switches;     /**< links have prices, switches do not */
    bool no_kinds;              /**< topo_graph_lacks_kinds() */
    /* After topo_wires_bind(). */
    struct topo_wire_class *kinds; /**< shape [n_classes]: of dimension d of the network */
    double *weight;                /**< shape [n_links]: bandwidth over that of one NPU in its class */
};

/**
 * Copy the wires of @p g. Every link has usd or none has; the same of watt, and of the switches.
 * ERR_NOMEM, ERR_LIB; ERR_PARSE (one without, while another has it: named), ERR_RANGE: too many links.
 */
int topo_wires_build(struct topo_wires *w, const struct topo_graph *g, struct err *e);
void topo_wires_free(struct topo_wires *w); /**< of a zeroed one too */

/** Has every NPU of @p g, whose wires @p w are, a link? ERR_RANGE names one without; ERR_NOMEM. */
int topo_wires_check(const struct topo_wires *w, const struct topo_graph *g, struct err *e);

/** Does the file price anything? */
bool topo_wires_priced(const struct topo_wires *w);

/**
 * NICs of @p port_Bps each that NPUs need for their links to switches in class @p d, at @p bw_Bps of an NPU:
 * whole ones for each NPU. After topo_wires_bind(). ERR_NOMEM.
 */
int topo_wires_nics(int64_t *n, const struct topo_wires *w, int32_t d, double bw_Bps, double port_Bps,
                    struct err *e);

/** A dimension for each class of the file, of a network that lists none. Errors of topo_add_class(). */
int topo_wires_list(struct topo_network *net, const struct topo_wires *w, struct err *e);

/**
 * Make the dimensions of @p net, without any those of topo_wires_list(), the classes of @p w: links are
 * renumbered to them, sizes that are 0 become those of all NPUs (the first) or 1. ERR_NOMEM; ERR_RANGE
 * without a place: a link without a class or of one that is not listed, a class without links, sizes that do
 * not multiply to the NPUs. @param[out] at  the dimension to blame, -1 = the file. O(links times links
 * between an NPU and the farthest vertex).
 */
int topo_wires_bind(struct topo_wires *w, struct topo_network *net, int32_t *at, struct err *e);

#endif
