/** @file Small clusters for unit tests. */
#ifndef TESTS_CLUSTER_FIXTURE_H
#define TESTS_CLUSTER_FIXTURE_H

#include "sim/cluster/job.h"
#include "tests/support.h"

/** A cluster of the network that a spec word says, links of @p lat_s; a server is what @p level dimensions
 * join, with @p gpus GPUs each. The network is left in @p net, unless that is NULL. */
void fixture_cluster(struct cluster *c, struct topo_network *net, const char *spec, int32_t level,
                     double lat_s, double gpus);

/** The same by its word alone: KEEP(struct cluster, c, cluster_free) = cluster_of(...). */
struct cluster cluster_of(const char *spec, int32_t level, double lat_s, double gpus);

/** The same with servers of level 0 that have @p gpus, shape [servers]. */
void fixture_uneven(struct cluster *c, const char *spec, const double *gpus);

/** @p n servers in racks (NULL: one), of gpus[s] GPUs, each by a link of @p server_Bps; racks of @p rack_Bps.
 */
void fixture_racks(struct cluster *c, int32_t n, const int32_t *rack, const double *gpus, double server_Bps,
                   double rack_Bps);

/** A job of so many GPUs at @p submit_s: iterations of @p compute_s, nothing to send. */
struct job fixture_job(double submit_s, int32_t gpus, double iterations, double compute_s);

#endif
