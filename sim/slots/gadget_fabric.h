/** @file A cluster as GADGET prices it: what a ring pays on servers, on their own links and between them. */
#ifndef SIM_SLOTS_GADGET_FABRIC_H
#define SIM_SLOTS_GADGET_FABRIC_H

#include "sim/cluster/cluster.h"

enum { GADGET_MAX_RACKS = 8 };

/**
 * A hop from server u to v crosses u's own link, the core between the nodes that u and v hang on, and v's own
 * link.
 *
 * On a fabric of two levels a node is the switch of a rack, and servers of a rack are joined by their own
 * links alone. On any other network each server is a node, has no link of its own, and a hop is its path.
 */
struct gadget_fabric {
    const struct cluster *cluster; /**< borrowed */
    bool racks;                    /**< two levels */
    int32_t n_nodes;               /**< racks, or servers */
    int32_t *node;                 /**< shape [n_servers], owned */
    int32_t *out_arc, *in_arc;     /**< shape [n_servers], own link of a server; -1 without racks. Owned */
    int64_t *core_first;           /**< shape [n_nodes^2 + 1], arcs of the core from node a to b; owned */
    int32_t *core_arcs;
    /** Servers in the order of their zones: racks, or all of them in one. Owned. */
    int32_t n_zones;
    int32_t *zone_first; /**< shape [n_zones + 1] */
    int32_t *zone_servers;
};

/**
 * @param racks  use two levels where the cluster has them: every server hangs on one switch, on at most
 *               GADGET_MAX_RACKS of them, and the path between two servers depends on their switches only
 * @return 0, ERR_NOMEM, or ERR_UNSUP for a cluster that keeps no paths. O(servers^2 * path).
 */
int gadget_fabric_build(struct gadget_fabric *f, const struct cluster *c, bool racks, struct err *e);
void gadget_fabric_free(struct gadget_fabric *f);

/** Arcs of the core from node @p a to @p b. */
static inline struct cluster_path gadget_core(const struct gadget_fabric *f, int32_t a, int32_t b)
{
    int64_t at = (int64_t)a * f->n_nodes + b;
    return (struct cluster_path){ f->core_arcs + f->core_first[at],
                                  (int32_t)(f->core_first[at + 1] - f->core_first[at]) };
}

/** What a ring pays and what is left for it. Release with gadget_prices_free(). */
struct gadget_prices {
    const struct gadget_fabric *fabric; /**< borrowed */
    double *worker;                     /**< shape [n_servers][n_resources], of a unit of a resource, >= 0 */
    double *left;                       /**< same shape, units */
    /** Of a B/s out of a server, into one and across the core between nodes [n_nodes][n_nodes], >= 0. Without
     * racks, `out` and `in` are what every path of the server pays at least, `core` is the rest. */
    double *out, *in, *core;
    double *out_Bps, *in_Bps, *core_Bps; /**< same shapes: what the narrowest link has left */
    /** Least price in the core of a closed walk through the zones of a set, by its bits: no order of visits
     * is cheaper. */
    double tour[1 << GADGET_MAX_RACKS];
};
/** All free and all left. ERR_NOMEM. */
int gadget_prices_build(struct gadget_prices *p, const struct gadget_fabric *f, struct err *e);
void gadget_prices_free(struct gadget_prices *p);

/** Prices from those of a unit of resources (shape [n_servers][n_resources]) and a B/s of arcs ([n_arcs]). */
void gadget_prices_set(struct gadget_prices *p, const double *worker, const double *arc);
/** What is left, same shapes. */
void gadget_prices_leave(struct gadget_prices *p, const double *left, const double *left_Bps);

#endif
