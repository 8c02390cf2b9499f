/** @file What a collective sends on each dimension, and how many steps it takes there. */
#ifndef WORKLOADS_COLLECTIVE_H
#define WORKLOADS_COLLECTIVE_H

#include "topo/network.h"

enum collective_kind {
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_GATHER, /**< bytes = the shard each NPU brings in */
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_BROADCAST, /**< from one NPU of the group to all */
    COLLECTIVE_SEND,      /**< point to point: every NPU to the next of its group */
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
 * all-reduce: twice the reduce-scatter; all-to-all: S (n_d - 1)/n_d; broadcast and send: S, of the NPU that
 * sends most (it passes the whole buffer on; the one at the end of a row sends across the outer dimension).
 * Source: public LIBRA code (astra-sim/libra@0044db0), restated.
 *
 * @param[out] out  shape [n_dims], [B].
 */
void collective_traffic(double *out, enum collective_kind kind, double bytes, const int32_t *members,
                        int32_t n_dims);

/**
 * What of a dimension's links a collective can use: half on a line of more than two, whose end members have
 * one link of B/2; else all.
 */
double collective_reach(const struct topo_dim *dim);

/** Share of a dimension's bandwidth that a collective reaches: its efficiency times collective_reach(). */
double collective_share(const struct topo_dim *dim);

/** The same in the regime that reaches most. */
double collective_best_share(const struct topo_dim *dim);

#endif
