/** @file Private to topo/: the keys of a dimension that say how collectives run on it. */
#ifndef TOPO_NETWORK_READ_H
#define TOPO_NETWORK_READ_H

#include "topo/network.h"

/**
 * Check algorithm and in_switch of @p dim, whose shape and size are read, and read its list @p regimes (-1:
 * none). ERR_PARSE or ERR_RANGE with the place.
 */
int topo_read_algorithm(struct topo_dim *dim, yaml_id regimes, const struct yaml_doc *doc, yaml_id map,
                        struct err *e);

#endif
