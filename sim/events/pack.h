/** @file Which servers a job gets: what is free of each, and the ways to choose among them. */
#ifndef SIM_EVENTS_PACK_H
#define SIM_EVENTS_PACK_H

#include "base/rng.h"
#include "sim/cluster/job.h"
#include "sim/cluster/pace.h"

enum pack_kind {
    PACK_FIRST_FIT, /**< servers by their number, all that each has free */
    PACK_PACKED,    /**< fewest servers: one that it fits most tightly, else those with most free and the
                       tightest for the rest */
    PACK_SPREAD,    /**< most servers, evenly, those with most free first */
    PACK_TOPOLOGY,  /**< the smallest group of near servers that holds it, of these the tightest; packed in it
                     */
    PACK_RANDOM,    /**< any free GPUs, each with the same chance */
    N_PACK_KINDS,
};

struct pack_place;
struct pack_ask; /* private */

/** A way to choose servers. */
struct pack_way {
    const char *name, *help;
    int (*choose)(struct pack_place *out, const struct pack_ask *ask, struct err *e);
};
extern const struct pack_way pack_ways[N_PACK_KINDS];

enum { PACK_MAX_GPUS = 4096 /**< of one server */ };

/** Opaque: free resources of the servers of one type of a cluster, found by how many GPUs are free. */
struct pack;

/**
 * All servers of @p c whose NPUs are of @p type, free. It must outlive the result.
 * @param[out] out  NULL on failure; release with pack_free().
 * @return 0; ERR_NOMEM; ERR_RANGE: a server has GPUs that are no whole number, or more than PACK_MAX_GPUS.
 */
int pack_build(struct pack **out, const struct cluster *c, int32_t type, struct err *e);
void pack_free(struct pack *p); /**< NULL is fine */

/** GPUs that are free. */
int64_t pack_idle(const struct pack *p);

/** Servers and GPUs of a job, growing. `= { 0 }`; release with pack_place_free(). */
struct pack_place {
    int32_t n, cap_servers, cap_gpus;
    int32_t *servers, *gpus; /**< shape [n], owned */
};
void pack_place_free(struct pack_place *place);

/**
 * Does @p job find room now? With GPUs alone any free ones do: O(1). Else where free servers have the other
 * resources too: O(servers).
 */
bool pack_fits(const struct pack *p, const struct job *job);

/**
 * Choose servers for a job that fits. The place is in the order of a ring that keeps neighbours near: by
 * group, the widest first, then by number. Of equals everywhere the lowest number. Nothing is taken yet.
 *
 * "Near" is what struct cluster calls a group; topology never waits for a smaller one. A job that needs other
 * resources is offered of each server only as many GPUs as those are there for.
 *
 * @param rng  read by PACK_RANDOM only
 * @return 0 or ERR_NOMEM. O(servers of the place, log), and O(groups) of topology, O(servers) of random and
 * for jobs that need other resources.
 */
int pack_find(struct pack_place *out, struct pack *p, enum pack_kind kind, const struct job *job,
              struct rng *rng, struct err *e);

/** Take a place that pack_find() gave, or give it back. O(servers of the place). */
void pack_take(struct pack *p, const struct job *job, const struct pack_place *place);
void pack_give(struct pack *p, const struct job *job, const struct pack_place *place);

#endif
