/**
 * @file Servers of a cluster, what they offer, and the links between them.
 *
 * Static: who has which GPUs at a time is the scheduler's, who sends how fast is pace.h's. Models of jobs
 * (sim/batch, sim/place and others) all stand on this.
 */
#ifndef SIM_CLUSTER_CLUSTER_H
#define SIM_CLUSTER_CLUSTER_H

#include "base/arena.h"
#include "topo/route.h"

enum {
    CLUSTER_MAX_RESOURCES = 8,
    CLUSTER_MAX_TYPES = 8, /**< of NPUs */
    CLUSTER_MAX_SERVERS = 1 << 20,
    CLUSTER_KEPT_PATHS = 1024,   /**< up to so many servers every path is found once and kept .. */
    CLUSTER_KEPT_ARCS = 1 << 26, /**< .. while all of them together have at most so many arcs: 256 MB */
};

/**
 * Servers 0..n_servers-1 are the first vertices of an igraph model, which holds links of whole servers:
 *
 * - Of a described network a server is a group of NPUs that the dimensions up to a level join. Dimensions
 *   beyond are links between servers; a server has the bandwidth of all its NPUs together, and paths lead
 *   through them innermost first.
 * - Of a custom graph every NPU vertex is a server. Paths have the fewest links, of equals that to the
 *   vertex of the lowest number.
 *
 * Arc 2l and 2l+1 are the two directions of link l (topo/route.h). Nothing changes after building, so several
 * threads may read one; building and freeing use igraph, one at a time.
 */
struct cluster {
    struct arena arena; /**< of the arrays here, paths apart */
    int32_t n_servers;
    int32_t n_resources;                              /**< >= 1; the first one is GPUs */
    char resources[CLUSTER_MAX_RESOURCES][TOPO_NAME]; /**< their names */
    double *capacity;                                 /**< shape [n_servers][n_resources], >= 0 */
    int32_t n_types;                                  /**< of NPUs, >= 1; those of a server are of one type */
    int32_t *type;                                    /**< shape [n_servers]; NULL: all are of type 0 */
    int32_t n_arcs;
    const double *bw_Bps, *lat_s; /**< shape [n_arcs], borrowed from routes */
    /** Groups of near servers: level 0 each its own, the last one all of them. Of a described network level l
     * joins what the l dimensions above the server join; of a custom graph level 1 is "at the same switch".
     */
    int32_t n_levels;
    int32_t *group; /**< shape [n_levels][n_servers], number of a server's group */
    /** Shape [n_servers], the one switch that a server hangs on (a vertex), by one link; -1: it has several
     * links, or one that leads to another server. */
    int32_t *leaf;
    struct topo_graph *graph; /**< owned */
    struct topo_routes routes;
    int64_t *path_first; /**< shape [n_servers^2 + 1]: arcs from a to b are path_arcs[path_first[a * n +
                            b]..); NULL where paths are not kept */
    int32_t *path_arcs;  /**< owned */
};

/** What every server offers, where all are alike, or what each does. */
struct cluster_offer {
    int32_t n_resources;
    const char *const *names; /**< shape [n_resources]; the first one is GPUs */
    const double *per_server; /**< shape [n_resources], or [n_servers][n_resources] with `each` */
    bool each;
};

/**
 * The servers of @p net (bandwidths known) that its dimensions 0..@p level - 1 join; level 0: each NPU is
 * one.
 * @param level  0 to n_dims - 1: something must be between servers.
 * @param[out] c  uninitialised; on failure empty and safe to free.
 * @return 0; ERR_RANGE: level, a bandwidth missing, more than CLUSTER_MAX_SERVERS, an offer that is negative;
 *         ERR_NOMEM, ERR_LIB. O(links + servers^2 * path), the second only where paths are kept.
 */
int cluster_build(struct cluster *c, const struct topo_network *net, int32_t level,
                  const struct cluster_offer *offer, struct err *e);

/** The same for jobs that ask for few paths, or none: each is searched when it is asked for. O(links). */
int cluster_build_bare(struct cluster *c, const struct topo_network *net, int32_t level,
                       const struct cluster_offer *offer, struct err *e);

/**
 * The servers of a custom graph file: GraphML, or an edge list if its name ends in .csv (topo/graph.h).
 * ERR_RANGE also where a server cannot be reached from the first one (named). Else as cluster_build().
 */
int cluster_read(struct cluster *c, const char *path, const struct cluster_offer *offer, struct err *e);

/** A fabric of two levels: servers at the switch of their rack, racks joined in a full mesh. */
struct cluster_racks {
    int32_t n_servers, n_racks;
    const int32_t *rack;      /**< shape [n_servers], 0..n_racks-1 */
    const double *server_Bps; /**< shape [n_servers], of a server's link, each direction, > 0 */
    const double *rack_Bps; /**< shape [n_racks * (n_racks - 1) / 2], pairs (0,1), (0,2), .. (1,2), .. > 0 */
    double lat_s;           /**< of each link, >= 0 */
};
/** The servers of racks, with the racks' switches as vertices after them. Errors as cluster_build(),
 * ERR_RANGE also for a rack that does not exist and for a link without bandwidth. */
int cluster_build_racks(struct cluster *c, const struct cluster_racks *k, const struct cluster_offer *offer,
                        struct err *e);

/** The first servers[0] servers are of type 0, the next servers[1] of type 1, and so on: @p n types of @p c.
 * ERR_RANGE: they are not as many as there are; ERR_NOMEM. */
int cluster_set_types(struct cluster *c, const int32_t *servers, int32_t n, struct err *e);

/** Uses igraph: in turn with other threads. Zero is fine. */
void cluster_free(struct cluster *c);

/** Arcs from server @p from to server @p to, none where they are the same. */
struct cluster_path {
    const int32_t *arcs; /**< shape [n], borrowed from the cluster or the room below */
    int32_t n;
};

/**
 * Room for paths that are not kept: one a thread. `= { 0 }`, release with cluster_room_free().
 *
 * The cluster itself cannot hold it, as several threads search at once.
 */
struct cluster_room {
    struct topo_path path;
    struct topo_routes routes; /**< a view of the cluster's with a search of its own */
    bool open;
};
/** Before the cluster, and by the thread that used it; zero is fine. */
void cluster_room_free(struct cluster_room *room);

/**
 * @p room may be NULL where paths are kept. 0 or ERR_NOMEM. The path lasts until the next call with @p room.
 *
 * Where paths are not kept, O(path) in a described network, else a search (topo_find_path()). @p room must be
 * of this cluster, or new, and be freed before it. After a failure the path is empty.
 */
int cluster_find_path(struct cluster_path *path, const struct cluster *c, int32_t from, int32_t to,
                      struct cluster_room *room, struct err *e);

/** The type of the NPUs of server @p s. */
static inline int32_t cluster_type(const struct cluster *c, int32_t s)
{
    return c->type ? c->type[s] : 0;
}

/** Of resource @p r at server @p s. */
static inline double cluster_capacity(const struct cluster *c, int32_t s, int32_t r)
{
    return c->capacity[(int64_t)s * c->n_resources + r];
}

/**
 * Sum of resource @p r over all servers. O(servers).
 *
 * In order of servers: the same rounding wherever it is asked.
 */
double cluster_total(const struct cluster *c, int32_t r);

/** What reports call server @p s: "npu3", "server3", or the file's own name. Returns @p buf. */
const char *cluster_server_name(char buf[TOPO_VERTEX_TEXT], const struct cluster *c, int32_t s);
/** "server3 -> switch0". Returns @p buf. */
const char *cluster_arc_name(char buf[TOPO_ARC_TEXT], const struct cluster *c, int32_t arc);

#endif
