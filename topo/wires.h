/** @file A custom graph as plain arrays: what it costs by its own attributes, and its classes of links. */
#ifndef TOPO_WIRES_H
#define TOPO_WIRES_H

#include "topo/bill.h"
#include "topo/graph.h"

/**
 * Wires of a graph, without igraph: copied once, then read by any thread. A link is a wire, numbered as in
 * the graph. Release with topo_wires_free().
 */
struct topo_wires {
    int32_t n_npus, n_vertices, n_links, n_classes;
    struct topo_link *links;    /**< shape [n_links], owned */
    char (*classes)[TOPO_NAME]; /**< shape [n_classes], owned */
    double *usd, *watt; /**< of vertices, shape [n_vertices], owned; NaN where the file does not say */
    double link_usd, link_watt; /**< sums over links; NaN where the file gives none at all */
    double node_usd, node_watt; /**< the same over vertices */
    bool unpriced_switches;     /**< links have prices, switches do not */
};

/**
 * Copy the wires of @p g. Every link has usd or none has; the same of watt, and of the switches.
 * ERR_NOMEM, ERR_LIB; ERR_PARSE (one without, while another has it: named), ERR_RANGE: too many links.
 */
int topo_wires_build(struct topo_wires *w, const struct topo_graph *g, struct err *e);
void topo_wires_free(struct topo_wires *w); /**< of a zeroed one too */

/** Does the file price anything? */
bool topo_wires_priced(const struct topo_wires *w);

/**
 * The bill of the graph as it stands in the file: a line per class of links, and one each for switches and
 * NPUs that have a price. @p source, where it was read from, is borrowed. ERR_NOMEM; ERR_RANGE: no prices.
 */
int topo_wires_bill(struct topo_bill *b, const struct topo_wires *w, const char *source, struct err *e);

#endif
