/** @file Calls of igraph: their failures become ours. Only topo/graph.c includes it. */
#ifndef TOPO_GRAPH_CALL_H
#define TOPO_GRAPH_CALL_H

#include <igraph.h>
#include <stddef.h>

#include "base/err.h"

/** What topo_graph_init() does. */
void topo_igraph_init(void);

/** 0, or the failure of an igraph call with igraph's reason: "DOING: REASON"; ERR_NOMEM or ERR_LIB. */
int topo_from_igraph(igraph_error_t code, const char *doing, struct err *e);

/** Move igraph's first warning since the last call into @p buf (cut to fit); "" if there was none. */
void topo_take_warning(char *buf, size_t n);

/** @p call, or IGRAPH_ENOMEM where igraph or GMP would end the process for lack of memory; what it held is
 * lost then. */
igraph_error_t topo_igraph_safely(igraph_error_t (*call)(void *data), void *data);

#endif
