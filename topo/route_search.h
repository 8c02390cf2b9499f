/** @file Private to topo/route*.c: routes of fewest links. */
#ifndef TOPO_ROUTE_SEARCH_H
#define TOPO_ROUTE_SEARCH_H

#include "topo/route.h"

/** As topo_find_path(), of kind TOPO_ROUTE_SHORTEST or TOPO_ROUTE_ECMP; after failure the path may be longer.
 */
int topo_search_path(struct topo_path *path, struct topo_routes *r, const struct topo_trip *trip,
                     struct err *e);
void topo_search_free(struct topo_search *s); /**< NULL is fine */

/** Append @p arc. ERR_NOMEM. */
int topo_path_push(struct topo_path *p, int64_t arc, struct err *e);

#endif
