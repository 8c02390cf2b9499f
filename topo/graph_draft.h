/**
 * @file A custom graph on its way from a file into a model: what graph.c makes graphs of, and the reader of
 * edge lists (graph_edges.c) fills. For these two alone.
 */
#ifndef TOPO_GRAPH_DRAFT_H
#define TOPO_GRAPH_DRAFT_H

#include <stdbool.h>
#include <stdint.h>

#include "topo/shape.h"

struct topo_graph;
struct topo_link;

/** Vertices in the order of the file. Zero-initialise; release with topo_draft_free(). */
struct topo_draft {
    struct topo_link *links; /**< shape [n_links], owned; src and dst in any order */
    int64_t n_links;
    char **names;  /**< shape [n_vertices], owned with its strings */
    bool *is_npu;  /**< shape [n_vertices], owned */
    bool *is_told; /**< shape [n_vertices], owned: does the file say so? Else the vertex counts as an NPU */
    bool no_kinds; /**< the file tells of none, see topo_draft_check_kinds() */
    int64_t n_vertices;
    bool has_dim, has_usd, has_watt;
    const char *lat_key;        /**< what the file calls the latency */
    double *usd, *watt;         /**< of vertices, shape [n_vertices], owned; NULL where the file cannot say */
    char (*classes)[TOPO_NAME]; /**< owned; by first mention */
    int32_t n_classes, cap_classes;
};

/** Room for the given numbers, all zero. ERR_NOMEM, or ERR_RANGE above TOPO_MAX_GRAPH. */
int topo_draft_reserve(struct topo_draft *draft, int64_t n_vertices, int64_t n_links, struct err *e);
void topo_draft_free(struct topo_draft *draft);

/** Number of the class called @p name ("": -1), a new one if need be, for @p link, from 0. ERR_PARSE of a
 * name too long, ERR_NOMEM. */
int topo_draft_class(int32_t *cls, struct topo_draft *draft, const char *name, int64_t link, struct err *e);

/**
 * Vertices of which the file does not say what they are count as NPUs, where all that do are called alike but
 * for their digits, and no switch is. @p how: where a file of this format says it. ERR_PARSE: two that
 * differ, named.
 */
int topo_draft_check_kinds(struct topo_draft *draft, const char *how, struct err *e);

/**
 * Check links and number of NPUs, number NPUs first, and make a graph of it; classes are taken out of the
 * draft. Errors as topo_read_graphml().
 */
int topo_build_custom(struct topo_graph **out, struct topo_draft *draft, struct err *e);

#endif
