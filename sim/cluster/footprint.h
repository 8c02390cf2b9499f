/** @file What of its network a job's place takes: a network of its own, and its part of the links that groups
 * of servers share. */
#ifndef SIM_CLUSTER_FOOTPRINT_H
#define SIM_CLUSTER_FOOTPRINT_H

#include "base/arena.h"
#include "sim/cluster/cluster.h"

/** Where one job runs. */
struct pace_place {
    int32_t n;              /**< servers, >= 1 */
    const int32_t *servers; /**< shape [n], borrowed; each once, in the order of the job's ring */
    const int32_t *gpus;    /**< shape [n], borrowed; GPUs of the job on each, >= 1 */
};

/**
 * The groups of a described cluster, and the links out of each. An outer dimension is one beyond the servers.
 * Links of a plain dimension, and those of the first level of a fat tree, belong to a server; those of a
 * further level to all servers that the levels below it join, since its boxes spread what they send over all
 * their links up.
 *
 * `= { 0 }` is empty; release with footprint_map_free().
 */
struct footprint_map {
    struct arena arena;             /**< of the arrays below */
    const struct cluster *c;        /**< borrowed, as the next one */
    const struct topo_network *net; /**< that the cluster was built of */
    int32_t level, n_outer;         /**< dimensions inside servers, and beyond them */
    int32_t *first[TOPO_MAX_DIMS];  /**< shape [groups + 1] of each outer dimension: arcs out of group k are
                                       arcs[first[k]..first[k+1]) */
    int32_t *arcs[TOPO_MAX_DIMS];
    int32_t *gpus;       /**< shape [n_servers]: room for a place's GPUs by group, 0 between calls */
    int32_t *touched;    /**< shape [n_servers]: groups that have some */
    int32_t *units, *id; /**< shape [n_servers]: room for footprint_sizes() */
};

/** ERR_UNSUP: a dimension whose parts are no network of the same kind (dragonfly, torus, ...); ERR_NOMEM.
 * O(links). */
int footprint_map_build(struct footprint_map *x, const struct cluster *c, const struct topo_network *net,
                        int32_t level, struct err *e);
void footprint_map_free(struct footprint_map *x);

/** Can jobs have a part of each of its dimensions? ERR_UNSUP, without a place: "dimension pod is ...". */
int footprint_check(const struct topo_network *net, struct err *e);

/** The group of outer dimension @p o that the links of server @p s belong to. */
int32_t footprint_group(const struct footprint_map *x, int32_t o, int32_t s);

/** The groups of outer dimension @p o that a place lies in, in x->touched, with its GPUs there in x->gpus;
 * give them back with footprint_forget(). Returns how many. */
int32_t footprint_touch(struct footprint_map *x, int32_t o, const struct pace_place *p);
void footprint_forget(struct footprint_map *x, int32_t n);

/**
 * Members of each dimension that a place has, shape [n_dims], the product of which is its GPUs. Where groups
 * have different numbers of GPUs, each counts as several of as many as all have in common: what is near in
 * truth may count as far, never the other way about.
 */
void footprint_sizes(int32_t *size, struct footprint_map *x, const struct pace_place *p);

/** The same of @p gpus in the first servers, of @p per_server GPUs, of an empty cluster. */
void footprint_ideal(int32_t *size, const struct topo_network *net, int32_t level, int64_t per_server,
                     int64_t gpus);

/**
 * The network of a place: @p net with these sizes. Part of a ring is a line, part of a full mesh has the
 * links between its members; else bandwidths are those of @p net, each NPU its share of links that are
 * shared.
 */
void footprint_network(struct topo_network *out, const struct topo_network *net, const int32_t *size);

/** Make @p size simpler, for a plan that does not lie along it: all beyond servers in the outermost dimension
 * that it uses, then everything. False: it is as simple as can be. */
bool footprint_simplify(int32_t *size, int32_t n_dims, int32_t level);

#endif
