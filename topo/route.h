/**
 * @file Ways through a graph: its links as arcs, one per direction, and routes from vertex to vertex.
 *
 * Searches write into the search of a struct topo_routes: one thread each. Threads share the arrays by copies
 * of the struct with a search of their own, as sim/cluster does.
 */
#ifndef TOPO_ROUTE_H
#define TOPO_ROUTE_H

#include "base/arena.h"
#include "topo/graph.h"

/** How a route is chosen. */
enum topo_route_kind {
    TOPO_ROUTE_DIMENSION, /**< innermost dimension first, each the shorter way; described networks only */
    TOPO_ROUTE_SHORTEST, /**< fewest links; of equals to the vertex, then by the link, of the lowest number */
    TOPO_ROUTE_ECMP,     /**< fewest links; of equals by a hash of flow, vertex and seed */
    TOPO_ROUTE_DETOUR,   /**< as DIMENSION; where that meets a failed link, as ECMP */
    N_TOPO_ROUTES,
};

/** Opaque: room to search for routes in. */
struct topo_search;

/**
 * A graph as routes see it. Arc 2l leads over link l from its lower vertex to its higher one, arc 2l+1 back:
 * a ^ 1 is the other direction of a, a / 2 its link. Fields are for reading; change links by
 * topo_routes_set_share(). Release with topo_routes_free().
 *
 * About 28 bytes per arc, 30 in a custom graph, and 4 per vertex.
 */
struct topo_routes {
    const struct topo_graph *graph; /**< borrowed: vertices' names in messages */
    struct topo_network net;        /**< addresses of the NPUs; n_dims 0: a custom graph without */
    bool described;                 /**< the graph was built from net: routes in order of dimensions exist */
    uint64_t seed;                  /**< of TOPO_ROUTE_ECMP; 0 at first, set it freely */
    int32_t n_npus, n_vertices, n_arcs;
    struct arena arena; /**< of all arrays */
    int32_t *to;        /**< shape [n_arcs], vertex an arc leads to */
    double *bw_Bps;     /**< shape [n_arcs], as built [B/s], > 0 */
    double *lat_s;      /**< shape [n_arcs] [s] */
    double *share;      /**< shape [n_arcs / 2], of a link's capacity that is left: 1 whole, 0 failed */
    int32_t n_failed;   /**< links of which nothing is left */
    int32_t *first;     /**< shape [n_vertices + 1]: arcs out of vertex v are out[first[v]..first[v+1]) */
    int32_t *out;       /**< shape [n_arcs], of a vertex by the vertex they lead to, then by number */
    int64_t first_link[TOPO_MAX_DIMS], group_links[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS];
    int64_t first_switch[TOPO_MAX_DIMS];
    int32_t *dims;              /**< shape [n_arcs / 2], of a custom graph: see topo_link_dim(); else NULL */
    struct topo_search *search; /**< from the first search on */
};

/**
 * See @p g as arcs; it must outlive @p r.
 * @param[out] r  uninitialised; on failure empty and safe to free.
 * @return 0, ERR_NOMEM, ERR_LIB, or ERR_RANGE: a link without bandwidth; a custom graph in which some NPU
 * cannot be reached from the first. O(vertices + links).
 */
int topo_routes_build(struct topo_routes *r, const struct topo_graph *g, struct err *e);
/** Not the graph. Zero is fine. */
void topo_routes_free(struct topo_routes *r);

/**
 * Give the NPUs of a custom graph addresses: number a_1 + n_1 (a_2 + n_2 (...)) is (a_1..a_D) of @p net,
 * whose wires are not looked at. ERR_RANGE: another number of NPUs.
 *
 * It stays a custom graph: `described` is false, and routes are searched.
 */
int topo_routes_lay(struct topo_routes *r, const struct topo_network *net, struct err *e);

/**
 * Leave @p share of the capacity of both directions of @p link: 1 whole, 0 failed.
 * ERR_RANGE: no such link, or a share outside 0 to 1.
 */
int topo_routes_set_share(struct topo_routes *r, int64_t link, double share, struct err *e);

/**
 * Leave at most @p share of the capacity of the links at NPU @p npu in dimension @p d, -1 = in all (of a
 * custom graph always -1): an NPU that is slow to send and receive. Errors as topo_routes_set_share().
 */
int topo_routes_slow_npu(struct topo_routes *r, int64_t npu, int32_t d, double share, struct err *e);

/** Dimension of @p link: of a custom graph what the graph says of it, -1 = unknown. */
int32_t topo_link_dim(const struct topo_routes *r, int64_t link);

/** Capacity that @p arc has left [B/s]; 0 when its link failed. */
double topo_arc_bw(const struct topo_routes *r, int32_t arc);

/** "npu3 -> switch-pod-0" into @p buf, cut to fit. Returns @p buf. */
enum { TOPO_ARC_TEXT = 2 * TOPO_VERTEX_TEXT + 8 };
const char *topo_arc_name(char buf[TOPO_ARC_TEXT], const struct topo_routes *r, int32_t arc);

/** A growing list of arcs. `struct topo_path p = { 0 };`, release with topo_path_free(). */
struct topo_path {
    int32_t *arcs; /**< shape [n], owned */
    int32_t n, cap;
};
void topo_path_free(struct topo_path *p);

/** What a route is asked for. */
struct topo_trip {
    int64_t src, dst; /**< vertices */
    enum topo_route_kind kind;
    int32_t other; /**< of ways that are equally short take that so many further on */
    uint64_t flow; /**< ECMP: trips of the same flow go the same way */
};

/**
 * Append the arcs of the route to @p path; none where src is dst.
 *
 * In order of dimensions: ring the shorter way (of equals towards higher addresses), line, full by its one
 * link, switch up and down; src and dst are NPUs; O(links of the route). Shortest and ECMP go round failed
 * links and search from both ends at once, O(links within half of the way of either) and memory for that of
 * 40 bytes per vertex and 4 per arc. Detours are for those alone whose way has failed: all others stay where
 * they were.
 *
 * @return 0; ERR_NOMEM; ERR_UNSUP: order of dimensions (and detours from it) in a custom graph; ERR_RANGE:
 * not a vertex; a failed link on the route in order of dimensions (named); no way left. After failure @p path
 * is as before.
 */
int topo_find_path(struct topo_path *path, struct topo_routes *r, const struct topo_trip *trip,
                   struct err *e);

/**
 * Way number @p k of @p n of a trip between two members of the entry at dimension @p d: in order of
 * dimensions to a router of it and on from there. Routers are drawn evenly: n ways of each member of a router
 * lead by routers as far apart as there is room for, with n as many as there are routers by each of them
 * once. Errors as topo_find_path().
 */
int topo_find_drawn_path(struct topo_path *path, struct topo_routes *r, const struct topo_trip *trip,
                         int32_t d, int32_t k, int32_t n, struct err *e);

/** Routers of a group of the fabric that begins at @p dim, and members of each: members themselves are
 * routers where they are joined without switches. */
int64_t topo_routers(const struct topo_dim *dim, int64_t *members);

/** Arc from NPU @p npu up to its switch of the entry at dimension @p d, whose switches must be able to
 * reduce; with @p tier above 0 number @p i of those up from the switches of that tier above it. ^ 1 leads
 * down. */
int32_t topo_switch_arc(const struct topo_routes *r, int32_t d, int64_t npu, int32_t tier, int64_t i);

/** Hops from every vertex to @p dst into @p hops, shape [n_vertices], -1 = no way. ERR_NOMEM. O(vertices +
 * links). */
int topo_hops_to(int32_t *hops, const struct topo_routes *r, int32_t dst, struct err *e);

#endif
