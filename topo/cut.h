/** @file The fewest links whose loss takes a graph apart. */
#ifndef TOPO_CUT_H
#define TOPO_CUT_H

#include <stdint.h>

#include "base/err.h"

/**
 * Edge connectivity: the least number of links between two sides of any division of the vertices in two; 0
 * where the graph is in parts already, or of one vertex. Several links between two vertices count each; loops
 * count nothing.
 * @p ends  shape [2 * n_links], vertices 0 .. n_vertices - 1
 * @return 0 or ERR_NOMEM. At most n_vertices - 1 passes of O(n_vertices + n_links), mostly a few.
 */
int topo_least_cut(int64_t *n_cut, int64_t n_vertices, const int64_t *ends, int64_t n_links, struct err *e);

#endif
