/** @file What a collective sends on each dimension, and how many steps it takes there. */
#ifndef WORKLOADS_COLLECTIVE_H
#define WORKLOADS_COLLECTIVE_H

#include "topo/network.h"

enum collective_kind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_GATHER, /**< bytes = the shard each NPU brings in */
    COLLECTIVE_ALL_TO_ALL,
    N_COLLECTIVES,
};

/** "all-reduce", ...; NULL-terminated, for key tables. */
extern const char *const collective_names[N_COLLECTIVES + 1];

/**
 * Bytes one NPU sends into each dimension during a collective over the group
 * that takes members[d] NPUs of dimension d (1 = not used), visited innermost
 * first (all-gather: outermost first), @p bytes entering per NPU.
 *
 * reduce-scatter: S (n_d - 1)/(n_1...n_d); all-gather: S (n_d - 1) n_{d+1}...n_D (S = shard);
 * all-reduce: twice the reduce-scatter; all-to-all: S (n_d - 1)/n_d.
 * Source: public LIBRA code (astra-sim/libra@0044db0), restated.
 *
 * @param[out] out  shape [n_dims], [B].
 */
void collective_traffic(double *out, enum collective_kind kind, double bytes, const int32_t *members,
                        int32_t n_dims);

/**
 * Share of a dimension's bandwidth that a collective reaches: its efficiency, and half of that on a line of
 * more than two, whose end members have one link of B/2.
 */
double collective_share(const struct topo_dim *dim);

/**
 * Seconds of latency of the whole collective, in the order of its steps: per
 * dimension steps(shape, members) * lat_s, summed; all-reduce has the steps twice.
 * ring and line n-1, full 1, switch ceil(log2 n) (halving-doubling) for reduce-scatter and
 * all-gather; all-to-all: ring floor(n/2), line n-1, full and switch 1.
 */
double collective_latency_s(enum collective_kind kind, const int32_t *members,
                            const struct topo_network *net);

#endif
